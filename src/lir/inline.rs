//! Copies a LIR function into another: inlining of a host's intrinsics into compiled code.

use super::Imm;
use super::graph::{Block, BlockCall, Builder, Func, Inst, Results, Term, Value};
use super::ops::Opcode;
use crate::exits::ExitId;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

/// An end of a copied function, with the values of the function into which it was copied.
#[derive(Debug)]
pub enum End {
    /// It returns these.
    Return(Vec<Value>),
    /// It fails.
    Fail,
    /// It exits by this record with these values.
    Exit(ExitId, Vec<Value>),
}

impl Builder<'_> {
    /// Copies the body of `callee` here, with `args` for its parameters, and continues after its
    /// return.
    ///
    /// A [`Term::Fail`] in the callee jumps to `on_fail`, which takes no parameters. Returns the
    /// results.
    ///
    /// # Panics
    /// If the argument count differs, or the callee can fail and `on_fail` is `None`: the caller's
    /// op table promised an exit.
    pub fn inline(&mut self, callee: &Func, args: &[Value], on_fail: Option<Block>) -> Results {
        let slot_base = self.func.slots.len() as i64;
        self.func.slots.extend_from_slice(&callee.slots);
        let slots = callee.refs.slots.iter();
        let slots = slots.map(|slot| slot + slot_base as u32);
        self.func.refs.slots.extend(slots);
        // The common case is one straight block: no new block, no jump.
        if callee.order.len() == 1 {
            let data = &callee.blocks[callee.entry()];
            if let Some(Term::Return(results)) = &data.term {
                let mut values = arguments(callee, args);
                self.copy_insts(callee, callee.entry(), &mut values, slot_base);
                self.copy_refs(callee, &values);
                return results.iter().map(|v| values.of(*v)).collect();
            }
        }
        let done = self.block();
        self.func.blocks[done].cold = self.func.blocks[self.current()].cold;
        let results: Results = callee
            .signature
            .results
            .iter()
            .map(|&ty| self.param(done, ty))
            .collect();
        self.copy_body(callee, args, slot_base, &mut |_, end| {
            Term::Jump(match end {
                End::Return(values) => BlockCall::new(done, values),
                End::Fail => BlockCall::new(
                    on_fail.unwrap_or_else(|| {
                        panic!("{} may fail but its op has no exit", callee.name)
                    }),
                    Vec::new(),
                ),
                End::Exit(..) => panic!("intrinsic {} holds an exit", callee.name),
            })
        });
        self.switch_to(done);
        results
    }

    /// Copies the body of `callee` here, with `args` for its parameters. Its stack slots become
    /// this function's from number `slot_base` on, which the caller must reserve. At each end of
    /// the callee, `end` emits the continuation, with the builder at that place. Afterwards, the
    /// builder's current block is terminated.
    ///
    /// # Panics
    /// If the argument count differs.
    pub fn copy_body(
        &mut self,
        callee: &Func,
        args: &[Value],
        slot_base: i64,
        end: &mut dyn FnMut(&mut Self, End) -> Term,
    ) {
        let mut values = arguments(callee, args);
        let mut blocks =
            SecondaryMap::<Block, PackedOption<Block>>::with_capacity(callee.blocks.len());
        for &block in &callee.order[1..] {
            let data = &callee.blocks[block];
            let copy = self.block();
            self.func.blocks[copy].cold = data.cold;
            for &param in &data.params {
                let new = self.param(copy, callee.values[param]);
                values.set(param, new);
            }
            blocks[block] = copy.into();
        }
        for (index, &block) in callee.order.iter().enumerate() {
            if index > 0 {
                self.switch_to(blocks[block].expect("a block of the callee"));
            }
            self.copy_insts(callee, block, &mut values, slot_base);
            let all = |list: &[Value]| list.iter().map(|v| values.of(*v)).collect::<Vec<_>>();
            let call = |c: &BlockCall| {
                let target = blocks[c.block].expect("a block of the callee");
                BlockCall::new(target, all(&c.args))
            };
            let term = callee.blocks[block].term.as_ref();
            let term = match term.expect("a finished function") {
                Term::Jump(target) => Term::Jump(call(target)),
                Term::Br {
                    cond,
                    then,
                    els,
                    quiet,
                } => Term::Br {
                    cond: values.of(*cond),
                    then: call(then),
                    els: call(els),
                    quiet: *quiet,
                },
                Term::Return(results) => end(self, End::Return(all(results))),
                Term::Fail => end(self, End::Fail),
                Term::Exit { exit, args } => end(self, End::Exit(*exit, all(args))),
                Term::Unreachable => Term::Unreachable,
            };
            self.terminate(term);
        }
        self.copy_refs(callee, &values);
    }

    /// Marks the copies of references as references.
    fn copy_refs(&mut self, callee: &Func, values: &Copied) {
        let refs = callee.refs.values.iter();
        let refs = refs.filter_map(|value| values.0[value].expand());
        self.func.refs.values.extend(refs);
    }

    fn copy_insts(&mut self, callee: &Func, block: Block, values: &mut Copied, slot_base: i64) {
        for inst in &callee.blocks[block].insts {
            let imm = match (inst.op, inst.imm) {
                (Opcode::StackAddr, Imm::Int(n)) => Imm::Int(n + slot_base),
                (Opcode::CallIndirect, Imm::Sig(id)) => {
                    Imm::Sig(self.func.sig(callee.sigs[id].clone()))
                }
                (Opcode::CallRoutine, Imm::Routine(id)) => {
                    Imm::Routine(self.func.routine(callee.routines[id].clone()))
                }
                (_, imm) => imm,
            };
            let args = inst.args.iter().map(|v| values.of(*v)).collect();
            let results = inst.results.iter().map(|&v| {
                let copy = self.func.values.push(callee.values[v]);
                values.set(v, copy);
                copy
            });
            let results = results.collect();
            self.push_inst(Inst {
                op: inst.op,
                args,
                imm,
                results,
            });
        }
    }
}

/// The values of a function's parameters.
fn arguments(callee: &Func, args: &[Value]) -> Copied {
    let (params, name) = (callee.params(), &callee.name);
    assert_eq!(params.len(), args.len(), "arguments of {name}");
    let mut values = Copied(SecondaryMap::with_capacity(callee.values.len()));
    for (&param, &arg) in params.iter().zip(args) {
        values.set(param, arg);
    }
    values
}

/// The copy of each value of the callee.
struct Copied(SecondaryMap<Value, PackedOption<Value>>);

impl Copied {
    fn of(&self, v: Value) -> Value {
        self.0[v].expect("a value defined before its use")
    }

    fn set(&mut self, v: Value, copy: Value) {
        self.0[v] = copy.into();
    }
}
