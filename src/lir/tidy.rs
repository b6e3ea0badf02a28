//! Reduces the number of blocks: jumps to blocks that only jump are forwarded, and a block with a
//! single predecessor that jumps to it is merged into that. Lowering inlines intrinsics, each with
//! its own blocks, and the time of code generation grows with the number of blocks.
//!
//! Both walks are linear in the size of the function.

use super::graph::{Block, BlockCall, Func, Term, Value};
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, SecondaryMap};

/// Tidies a function without changing its behaviour. Unreachable blocks leave the layout.
pub fn tidy(func: &mut Func) {
    forward_jumps(func);
    merge_blocks(func);
}

/// Forwards each edge to a block that only jumps to that jump's target.
fn forward_jumps(func: &mut Func) {
    let mut targets = SecondaryMap::<Block, Option<BlockCall>>::new();
    let entry = func.entry();
    for &block in &func.order {
        let data = &func.blocks[block];
        if let Some(Term::Jump(call)) = &data.term
            && data.insts.is_empty()
            && data.params.is_empty()
            && block != entry
            && call.block != block
        {
            targets[block] = Some(call.clone());
        }
    }
    let mut path = Vec::new();
    for &block in &func.order {
        if targets[block].is_none() {
            continue;
        }
        path.clear();
        let mut at = block;
        // A walk round a cycle of such blocks ends where it began.
        while let Some(next) = &targets[at]
            && !path.contains(&at)
            && path.len() < MAX_FORWARDED
        {
            path.push(at);
            at = next.block;
        }
        let last = path.last().and_then(|&last| targets[last].clone());
        for &passed in &path {
            targets[passed] = last.clone();
        }
    }
    for &block in &func.order {
        let term = func.blocks[block].term.iter_mut();
        for call in term.flat_map(Term::targets_mut) {
            if let Some(target) = &targets[call.block] {
                *call = target.clone();
            }
        }
    }
}

/// The most blocks through which a jump is forwarded.
const MAX_FORWARDED: usize = 16;

/// Appends each block that only one jump reaches to its predecessor.
pub(super) fn merge_blocks(func: &mut Func) {
    let mut predecessors = SecondaryMap::<Block, u32>::new();
    let mut reached = EntitySet::<Block>::new();
    let mut stack = vec![func.entry()];
    while let Some(block) = stack.pop() {
        if !reached.insert(block) {
            continue;
        }
        for call in func.blocks[block].targets() {
            predecessors[call.block] += 1;
            stack.push(call.block);
        }
    }
    let entry = func.entry();
    predecessors[entry] += 1;
    let mut aliases = SecondaryMap::<Value, PackedOption<Value>>::new();
    let mut merged = EntitySet::<Block>::new();
    for i in 0..func.order.len() {
        let block = func.order[i];
        if !reached.contains(block) || merged.contains(block) {
            continue;
        }
        while let Some(Term::Jump(call)) = &func.blocks[block].term
            && predecessors[call.block] == 1
            && call.block != block
        {
            let BlockCall { block: next, args } = call.clone();
            let data = &mut func.blocks[next];
            let params = std::mem::take(&mut data.params);
            let insts = std::mem::take(&mut data.insts);
            let term = data.term.take();
            for (&param, &arg) in params.iter().zip(&args) {
                aliases[param] = arg.into();
                if func.refs.values.contains(param) {
                    func.refs.values.insert(arg);
                }
            }
            let data = &mut func.blocks[block];
            data.insts.extend(insts);
            data.term = term;
            merged.insert(next);
        }
    }
    func.order
        .retain(|&block| reached.contains(block) && !merged.contains(block));
    let mut resolve = |v: &mut Value| {
        let mut root = *v;
        while let Some(alias) = aliases[root].expand() {
            root = alias;
        }
        // Shortened, so that a chain is walked once.
        while let Some(alias) = aliases[*v].expand() {
            aliases[*v] = root.into();
            *v = alias;
        }
    };
    for &block in &func.order {
        func.blocks[block].map_uses(&mut resolve);
    }
}

#[cfg(test)]
mod tests {
    use super::super::random;
    use super::*;
    use expect_test::{Expect, expect};

    fn check(text: &str, expect: Expect) {
        expect.assert_eq(&random::after(tidy, text));
    }

    #[test]
    fn a_jump_to_a_block_that_only_jumps_is_forwarded() {
        check(
            "(bool) -> i64 {\nblock0(v0: bool):\n  v1 = iconst 1\n  br v0, block1, block2\n\
             block1:\n  jump block3\nblock2:\n  jump block1\nblock3:\n  jump block4(v1)\n\
             block4(v2: i64):\n  return v2\n}",
            expect![[r#"
                function "test"(bool) -> i64 {
                block0(v0: bool):
                  v1 = iconst 1
                  br v0, block4(v1), block4(v1)

                block4(v2: i64):
                  return v2
                }
            "#]],
        );
    }

    #[test]
    fn blocks_in_a_row_are_merged_and_their_parameters_replaced_by_the_arguments() {
        check(
            "(i64) -> i64 {\nblock0(v0: i64):\n  jump block1(v0)\nblock1(v1: i64):\n  v2 = iadd v1, v1\n  jump block2(v2, v1)\n\
             block2(v3: i64, v4: i64):\n  v5 = isub v3, v4\n  return v5\n}",
            expect![[r#"
                function "test"(i64) -> i64 {
                block0(v0: i64):
                  v2 = iadd v0, v0
                  v5 = isub v2, v0
                  return v5
                }
            "#]],
        );
    }

    #[test]
    fn empty_loops_and_unreachable_blocks_are_unchanged() {
        check(
            "(bool) {\nblock0(v0: bool):\n  br v0, block1, block3\nblock1:\n  jump block2\nblock2:\n  jump block1\n\
             block3:\n  return\nblock4:\n  return\n}",
            expect![[r#"
                function "test"(bool) {
                block0(v0: bool):
                  br v0, block1, block3

                block1:
                  jump block1

                block3:
                  return
                }
            "#]],
        );
    }

    #[test]
    fn random_functions_stay_well_formed() {
        random::stays_well_formed(tidy);
    }
}
