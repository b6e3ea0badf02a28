//! Exits: one shared cold block for each shape of values, which fills the exit buffer and calls the
//! hook.
//!
//! Nearly all exits of a function pass the same thread and the same frame. Those are not passed to
//! the shared block: it uses them directly, since they dominate it. A value that an exit only loads
//! from the frame is loaded by the shared block, and a count that an exit only adds to a word of
//! memory is added by the shared block; if many exits subtract the same value from that count, the
//! shared block subtracts it.
//!
//! For example, two guards in a loop whose exits pass two ints and a double jump to the same block,
//! each with its own exit number.

use super::CodegenError;
use super::emit::Emitter;
use crate::exits::{CONTEXT_WORDS, EXITING, ExitId};
use crate::lir::{BlockData, Imm, Inst, Opcode, Signature, Term, Value};
use crate::ll::{Ty, Width};
use cranelift_codegen::cursor::Cursor;
use cranelift_codegen::ir::{
    self, BlockArg, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, types,
};
use cranelift_entity::{EntityRef, SecondaryMap};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The most exits that share one block. With more, the register allocator's walk over the block's
/// predecessors up the dominator tree would take quadratic time.
const MAX_SHARING: usize = 32;

/// Bytes of one value in the exit buffer.
const WORD: u32 = 8;

/// The instructions at the end of an exit's block that the shared block executes instead.
#[derive(Clone, Copy, Default)]
pub(super) struct Tail<'a> {
    /// Loads of words of the thread or the frame.
    loads: &'a [Inst],
    /// The addition to a word of memory.
    sum: Option<Sum<'a>>,
}

/// The instructions of a [`Sum`].
const SUM: usize = 4;

/// An address, a load from it, an addition and a store to it, without other uses.
#[derive(Clone, Copy)]
struct Sum<'a> {
    insts: &'a [Inst],
    at: u64,
    added: Value,
    /// The value that one more instruction subtracts from the added value.
    less: Option<Value>,
}

/// The number of exits that must subtract the same value for their shared blocks to do it. Each
/// such value needs shared blocks of its own.
const MANY: u32 = 16;

/// The content of one word of the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Word {
    /// The function's thread or frame.
    Context(ir::Value),
    /// The word at an offset from the function's thread or frame.
    Held(ir::Value, i32),
    /// None: a passed value is added to the word at this address, after an optional subtraction.
    Added(u64, Option<ir::Value>, Passed),
    /// A passed value, and true if it is a reference that a collector must find.
    Own(Passed, bool),
}

/// A value that an exit passes, which may be in several words.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Passed {
    /// The next value. (Integers and addresses are the same to the machine, so they have the same
    /// shape.)
    Next(ir::Type),
    /// A value that was passed before, by its index.
    Again(usize),
}

/// The shared blocks of a function.
#[derive(Default)]
pub(super) struct ExitBlocks {
    /// The slot in which exits leave their number, created for the first.
    number: Option<StackSlot>,
    /// The thread and the frame of the first exit.
    context: Vec<ir::Value>,
    by_shape: FxHashMap<Vec<Word>, (ir::Block, usize)>,
    /// In the order of creation, so that the same input gives the same code.
    blocks: Vec<(ir::Block, Vec<Word>)>,
}

impl<'a> Tail<'a> {
    /// The tail of a block. `subtracted` has the number of exits that subtract each value.
    pub(super) fn of(data: &'a BlockData, subtracted: &SecondaryMap<Value, u32>) -> Tail<'a> {
        let Some(Term::Exit { args, .. }) = &data.term else {
            return Tail::default();
        };
        let loads = loads_for_exit(data, args);
        let rest = &data.insts[..data.insts.len() - loads.len()];
        let sum = rest
            .last_chunk()
            .and_then(|insts| Sum::of(insts, args, loads));
        let sum = sum.map(|sum| match difference(data, args, loads, sum.added) {
            Some([added, less]) if subtracted[less] >= MANY => Sum {
                insts: &rest[rest.len() - sum.insts.len() - 1..],
                added,
                less: Some(less),
                ..sum
            },
            _ => sum,
        });
        Tail { loads, sum }
    }

    /// Counts the value that an exit subtracts from its added value.
    pub(super) fn count(data: &BlockData, subtracted: &mut SecondaryMap<Value, u32>) {
        let Some(Term::Exit { args, .. }) = &data.term else {
            return;
        };
        let Tail { loads, sum } = Tail::of(data, &SecondaryMap::new());
        let difference = sum.and_then(|sum| difference(data, args, loads, sum.added));
        if let Some([_, less]) = difference {
            subtracted[less] += 1;
        }
    }

    /// The number of instructions.
    pub(super) fn len(&self) -> usize {
        self.loads.len() + self.sum.map_or(0, |sum| sum.insts.len())
    }
}

impl Sum<'_> {
    fn of<'a>(insts: &'a [Inst; SUM], args: &[Value], loads: &[Inst]) -> Option<Sum<'a>> {
        let [place, load, sum, store] = insts;
        let word = Imm::Mem {
            width: Width::I64,
            offset: 0,
        };
        let Imm::Addr(at) = place.imm else {
            return None;
        };
        let is_sum = load.op == Opcode::Load
            && load.imm == word
            && load.args == place.results
            && sum.op == Opcode::Iadd
            && sum.args[0] == load.results[0]
            && store.op == Opcode::Store
            && store.imm == word
            && store.args[0] == place.results[0]
            && store.args[1] == sum.results[0];
        // No instruction after it may use its intermediate values.
        let mut behind = args.iter().chain(loads.iter().flat_map(|load| &load.args));
        let is_made = |v: &Value| insts.iter().any(|inst| inst.results.contains(v));
        let added = *sum.args.get(1)?;
        (is_sum && !behind.any(is_made) && !is_made(&added)).then_some(Sum {
            insts,
            at,
            added,
            less: None,
        })
    }
}

/// The operands, if the value that an exit adds to a word is a difference that is computed right
/// before, and not used elsewhere.
fn difference(
    data: &BlockData,
    args: &[Value],
    loads: &[Inst],
    added: Value,
) -> Option<[Value; 2]> {
    let before = data.insts.len().checked_sub(loads.len() + SUM + 1)?;
    let inst = &data.insts[before];
    let is_difference = inst.op == Opcode::Isub && inst.results[..] == [added];
    let is_used = args.contains(&added) || loads.iter().any(|load| load.args.contains(&added));
    let &[of, less] = &inst.args[..] else {
        return None;
    };
    (is_difference && !is_used).then_some([of, less])
}

/// The instructions at the end of a block that only load words of the thread or the frame for its
/// exit.
fn loads_for_exit<'a>(data: &'a BlockData, args: &[Value]) -> &'a [Inst] {
    let context = &args[..args.len().min(CONTEXT_WORDS as usize)];
    let is_load = |inst: &&Inst| {
        let is_word = matches!(
            inst.imm,
            Imm::Mem {
                width: Width::Ptr | Width::I64,
                ..
            }
        );
        let is_load = inst.op == Opcode::Load && is_word;
        is_load && context.contains(&inst.args[0]) && !context.contains(&inst.results[0])
    };
    let count = data.insts.iter().rev().take_while(is_load).count();
    &data.insts[data.insts.len() - count..]
}

impl Emitter<'_> {
    /// Takes an exit: jumps to the block for the values' shape. The instructions of `tail` are not
    /// emitted here: the shared block emits them.
    pub(super) fn exit(
        &mut self,
        exit: ExitId,
        args: &[Value],
        tail: Tail<'_>,
    ) -> Result<(), CodegenError> {
        if self.exits.context.is_empty() {
            let context = args.iter().take(CONTEXT_WORDS as usize);
            self.exits.context = context.map(|v| self.value(*v)).collect::<Result<_, _>>()?;
        }
        let number = self.cursor.ins().iconst(types::I64, exit.index() as i64);
        let mut call: Vec<BlockArg> = Vec::with_capacity(args.len());
        match self.place_of_number() {
            Some(place) => {
                let place = self.cursor.ins().stack_addr(types::I64, place, 0);
                let flags = MemFlagsData::trusted();
                self.cursor.ins().store(flags, number, place, 0);
            }
            None => call.push(number.into()),
        }
        let pass = |call: &mut Vec<BlockArg>, value: ir::Value, ty: ir::Type| {
            let known = call.iter().position(|arg| *arg == value.into());
            known.map(Passed::Again).unwrap_or_else(|| {
                call.push(value.into());
                Passed::Next(ty)
            })
        };
        let mut shape = Vec::with_capacity(args.len());
        for (place, &arg) in args.iter().enumerate() {
            let load = tail.loads.iter().find(|load| load.results[0] == arg);
            if let Some(&Inst {
                imm: Imm::Mem { offset, .. },
                args: ref from,
                ..
            }) = load
            {
                shape.push(Word::Held(self.value(from[0])?, offset));
                continue;
            }
            let value = self.value(arg)?;
            let is_ref = self.native_stack.is_some() && self.input.func.refs.values.contains(arg);
            if !is_ref && self.exits.context.get(place) == Some(&value) {
                shape.push(Word::Context(value));
                continue;
            }
            let ty = self.cursor.func.dfg.value_type(value);
            shape.push(Word::Own(pass(&mut call, value, ty), is_ref));
        }
        if let Some(Sum {
            at, added, less, ..
        }) = tail.sum
        {
            let less = less.map(|less| self.value(less)).transpose()?;
            let added = pass(&mut call, self.value(added)?, types::I64);
            shape.push(Word::Added(at, less, added));
        }
        let func = &mut *self.cursor.func;
        let ExitBlocks {
            number,
            by_shape,
            blocks,
            ..
        } = &mut self.exits;
        let mut make = |shape: &[Word]| {
            let block = func.dfg.make_block();
            if number.is_none() {
                func.dfg.append_block_param(block, types::I64);
            }
            for word in shape {
                if let Word::Own(Passed::Next(ty), _) | Word::Added(_, _, Passed::Next(ty)) = *word
                {
                    func.dfg.append_block_param(block, ty);
                }
            }
            blocks.push((block, shape.to_vec()));
            block
        };
        let shared = match by_shape.entry(shape) {
            Entry::Occupied(entry) if entry.get().1 < MAX_SHARING => entry.into_mut(),
            Entry::Occupied(mut entry) => {
                entry.insert((make(entry.key()), 0));
                entry.into_mut()
            }
            Entry::Vacant(entry) => {
                let block = make(entry.key());
                entry.insert((block, 0))
            }
        };
        shared.1 += 1;
        let block = shared.0;
        self.cursor.ins().jump(block, &call);
        Ok(())
    }

    /// Fills the shared blocks, after all others.
    pub(super) fn emit_exit_blocks(mut self) -> Result<(), CodegenError> {
        if self.exits.blocks.is_empty() {
            return Ok(());
        }
        let hook = self.exit_hook()?;
        let place_of_number = self.place_of_number();
        let words = self.exits.by_shape.keys().map(Vec::len).max().unwrap_or(0) as u32;
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, words.max(1) * WORD, 3);
        let buffer = self.cursor.func.create_sized_stack_slot(data);
        for (block, shape) in std::mem::take(&mut self.exits.blocks) {
            self.cursor.func.layout.append_block(block);
            self.cursor.func.layout.set_cold(block);
            self.cursor.goto_bottom(block);
            let params = self.cursor.func.dfg.block_params(block).to_vec();
            let address = self.cursor.ins().stack_addr(types::I64, buffer, 0);
            let mut next = params.iter().copied();
            let number = match place_of_number {
                Some(_) => None,
                None => next.next(),
            };
            let mut passed = |passed: Passed| match passed {
                Passed::Next(_) => next.next().expect("a parameter for each value"),
                Passed::Again(n) => params[n],
            };
            let mut refs = Vec::new();
            for (place, word) in (0..).zip(&shape) {
                let value = match *word {
                    Word::Context(value) => value,
                    Word::Held(at, offset) => {
                        let flags = MemFlagsData::trusted();
                        self.cursor.ins().load(types::I64, flags, at, offset)
                    }
                    Word::Own(value, is_ref) => {
                        refs.extend(is_ref.then_some(place));
                        passed(value)
                    }
                    Word::Added(at, less, added) => {
                        let flags = MemFlagsData::trusted();
                        let at = self.address(at);
                        let old = self.cursor.ins().load(types::I64, flags, at, 0);
                        let mut added = passed(added);
                        if let Some(less) = less {
                            added = self.cursor.ins().isub(added, less);
                        }
                        let sum = self.cursor.ins().iadd(old, added);
                        self.cursor.ins().store(flags, sum, at, 0);
                        continue;
                    }
                };
                let word = match self.cursor.func.dfg.value_type(value) {
                    types::I8 => self.cursor.ins().uextend(types::I64, value),
                    _ => value,
                };
                self.cursor.ins().store(
                    MemFlagsData::trusted(),
                    word,
                    address,
                    (place * WORD) as i32,
                );
            }
            let unit = self.address(self.input.unit);
            let number = number.unwrap_or_else(|| {
                let place = place_of_number.expect("it is passed else");
                let place = self.cursor.ins().stack_addr(types::I64, place, 0);
                let flags = MemFlagsData::trusted();
                self.cursor.ins().load(types::I64, flags, place, 0)
            });
            self.leave_mark()?;
            let call = self.cursor.ins().call(hook, &[unit, number, address]);
            self.collects(call, &[]);
            for place in refs {
                // The hook finds the updated references after a collection.
                let (ty, slot, offset) = (types::I64, buffer, place * WORD);
                let entry = ir::UserStackMapEntry { ty, slot, offset };
                self.cursor
                    .func
                    .dfg
                    .append_user_stack_map_entry(call, entry);
            }
            let mut results = vec![self.cursor.func.dfg.first_result(call)];
            if let [_, raw] = self.input.func.signature.results[..] {
                // A raw call: the hook has only recorded the exit.
                let nothing = match raw {
                    Ty::F64 => self.cursor.ins().f64const(0.0),
                    Ty::Bool => self.cursor.ins().iconst(types::I8, 0),
                    _ => self.cursor.ins().iconst(types::I64, 0),
                };
                results = vec![self.cursor.ins().iconst(types::I64, EXITING), nothing];
            }
            self.cursor.ins().return_(&results);
        }
        Ok(())
    }

    /// The slot in which an exit leaves its number: memory takes one instruction, and no register.
    /// None if a collector walks the native stack, whose frames must stay as they are: there the
    /// number is passed.
    fn place_of_number(&mut self) -> Option<StackSlot> {
        if self.native_stack.is_some() {
            return None;
        }
        let func = &mut *self.cursor.func;
        Some(*self.exits.number.get_or_insert_with(|| {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, WORD, 3);
            func.create_sized_stack_slot(data)
        }))
    }

    fn exit_hook(&self) -> Result<ir::FuncRef, CodegenError> {
        let func = self.input.func;
        let id = self
            .input
            .exit_hook
            .ok_or_else(|| CodegenError::NoExitHook {
                func: func.name.clone(),
            })?;
        let helper = &self.input.helpers[id];
        if helper.signature != Signature::new(&[Ty::I64, Ty::I64, Ty::Ptr], &[Ty::Ptr]) {
            return Err(CodegenError::ExitSignature {
                what: format!("the exit hook `{}`", helper.name),
                expected: "(i64, i64, ptr) -> ptr",
            });
        }
        if !matches!(func.signature.results[..], [Ty::Ptr] | [Ty::I64, _]) {
            return Err(CodegenError::ExitSignature {
                what: format!("the result of `{}`, which has exits,", func.name),
                expected: "one ptr, or a status and a value",
            });
        }
        self.helper(id)
    }
}
