//! Finds loops that are always entered, because a loop around them has made the same test.
//!
//! If a loop counts up from `a`, and runs an iteration while its variable is below `n`, then `a` is
//! below `n` in each iteration. So an inner loop that also begins with `a` and runs while its
//! variable is below `n` has a first iteration. For example, the inner loop of
//! `for i in range(n): for j in range(n): ...`.

use super::cfg::{Cfg, NaturalLoop};
use super::graph::{Block, BlockCall, Func, Imm, Term, Value};
use super::ops::{IntCond, Opcode};
use cranelift_entity::{EntitySet, SecondaryMap};

/// The test of a loop that continues while a parameter of its header is below a limit.
struct Test {
    /// The index of the parameter.
    param: usize,
    limit: Value,
    /// The block with which the loop continues.
    turn: Block,
    /// The parameter's first value.
    start: Value,
}

/// An outer loop and its test, if that holds in the blocks with which the loop continues.
struct Around<'a> {
    found: &'a NaturalLoop,
    test: Option<Test>,
}

/// The headers of loops whose first test always holds, among all loops of a function, outer ones
/// first.
pub(super) fn entered_loops(func: &Func, cfg: &Cfg, loops: &[NaturalLoop]) -> EntitySet<Block> {
    let mut entered = EntitySet::new();
    let numbers = Numbers::of(func);
    let mut around: Vec<Around<'_>> = Vec::new();
    for found in loops {
        while let Some(last) = around.last()
            && !last.found.body.contains(found.header)
        {
            around.pop();
        }
        let test = numbers.test(func, cfg, found);
        if let Some(test) = &test {
            let mut outer = around.iter().filter_map(|around| around.test.as_ref());
            let is_same = |outer: &Test| {
                numbers.are_same(outer.start, test.start)
                    && numbers.are_same(outer.limit, test.limit)
                    && cfg.dominates(outer.turn, found.header)
            };
            if outer.any(is_same) {
                entered.insert(found.header);
            }
        }
        let test = test.filter(|test| numbers.counts_up(func, cfg, found, test));
        around.push(Around { found, test });
    }
    entered
}

/// Definitions of values.
struct Numbers {
    constants: SecondaryMap<Value, Option<i64>>,
    /// Sums of two values.
    sums: SecondaryMap<Value, Option<[Value; 2]>>,
}

impl Numbers {
    fn of(func: &Func) -> Numbers {
        let mut numbers = Numbers {
            constants: SecondaryMap::with_capacity(func.values.len()),
            sums: SecondaryMap::with_capacity(func.values.len()),
        };
        for inst in func.order.iter().flat_map(|b| &func.blocks[*b].insts) {
            match (inst.op, &inst.imm, &inst.args[..]) {
                (Opcode::Iconst, Imm::Int(n), _) => numbers.constants[inst.results[0]] = Some(*n),
                (Opcode::Iadd, _, &[a, b]) => numbers.sums[inst.results[0]] = Some([a, b]),
                _ => {}
            }
        }
        numbers
    }

    fn are_same(&self, a: Value, b: Value) -> bool {
        a == b || (self.constants[a].is_some() && self.constants[a] == self.constants[b])
    }

    fn test(&self, func: &Func, cfg: &Cfg, found: &NaturalLoop) -> Option<Test> {
        let data = &func.blocks[found.header];
        let Some(Term::Br { cond, then, .. }) = &data.term else {
            return None;
        };
        let compared = data.insts.iter().find(|inst| inst.results[..] == [*cond])?;
        let (Opcode::Icmp, Imm::IntCond(IntCond::Slt), &[variable, limit]) =
            (compared.op, &compared.imm, &compared.args[..])
        else {
            return None;
        };
        let param = data.params.iter().position(|p| *p == variable)?;
        let mut starts = arguments(func, cfg, found, param, false);
        let start = starts.next()?;
        let is_one = starts.all(|other| self.are_same(start, other));
        let is_inside = then.block != found.header && found.body.contains(then.block);
        (is_one && is_inside).then_some(Test {
            param,
            limit,
            turn: then.block,
            start,
        })
    }

    /// Returns true if the parameter rises by one in each iteration, and all iterations begin at
    /// the header: since it is below the limit, it does not wrap around.
    fn counts_up(&self, func: &Func, cfg: &Cfg, found: &NaturalLoop, test: &Test) -> bool {
        let variable = func.blocks[found.header].params[test.param];
        let is_next = |v: Value| match self.sums[v] {
            Some([a, b]) if a == variable => self.constants[b] == Some(1),
            Some([a, b]) if b == variable => self.constants[a] == Some(1),
            _ => false,
        };
        cfg.predecessors(test.turn) == [found.header]
            && arguments(func, cfg, found, test.param, true).all(is_next)
    }
}

/// The values that edges to a loop's header pass for a parameter: those from within the loop, or
/// those from outside.
fn arguments<'a>(
    func: &'a Func,
    cfg: &'a Cfg,
    found: &'a NaturalLoop,
    param: usize,
    within: bool,
) -> impl Iterator<Item = Value> + 'a {
    let from = cfg.predecessors(found.header).iter();
    let from = from.filter(move |b| found.body.contains(**b) == within);
    let calls = from.flat_map(|b| func.blocks[*b].targets());
    let calls = calls.filter(|call: &&BlockCall| call.block == found.header);
    calls.map(move |call| call.args[param])
}

#[cfg(test)]
mod tests {
    use super::super::{parse, random};
    use super::*;

    /// The headers of entered loops, in a function whose outer loop begins at `start`, adds `step`
    /// and ends at `limit`, with an inner one from v0 to v1.
    fn entered(start: &str, step: i64, limit: &str, cond: &str) -> Vec<String> {
        let text = format!(
            "function \"test\"(i64, i64, i64) {{\nblock0(v0: i64, v1: i64, v2: i64):\n  jump block1({start})\n\
             block1(v3: i64):\n  v4 = icmp {cond} v3, {limit}\n  br v4, block2, block5\n\
             block2:\n  v5 = iconst {step}\n  v6 = iadd v3, v5\n  jump block3(v0)\n\
             block3(v7: i64):\n  v8 = icmp slt v7, v1\n  br v8, block4, block1(v6)\n\
             block4:\n  v9 = iconst 1\n  v10 = iadd v7, v9\n  jump block3(v10)\n\
             block5:\n  return\n}}\n"
        );
        let func = parse(&text, &random::helpers()).expect("it is well formed");
        let cfg = Cfg::new(&func);
        let found = entered_loops(&func, &cfg, &cfg.loops());
        found.iter().map(|b| b.to_string()).collect()
    }

    #[test]
    fn a_loop_over_the_range_of_the_outer_loop_is_entered() {
        assert_eq!(entered("v0", 1, "v1", "slt"), ["block3"]);
    }

    #[test]
    fn other_starts_limits_steps_and_conditions_prove_nothing() {
        assert!(entered("v2", 1, "v1", "slt").is_empty());
        assert!(entered("v0", 1, "v2", "slt").is_empty());
        assert!(entered("v0", 2, "v1", "slt").is_empty());
        assert!(entered("v0", -1, "v1", "slt").is_empty());
        assert!(entered("v0", 1, "v1", "sle").is_empty());
    }
}
