//! The load and the call of a method (`obj.f(x)`) whose receiver is of one of several classes. Each
//! class's arm repeats the call, so that it uses the facts about the receiver. Behind a join of the
//! loads, only a test of the callable's identity would tell the classes apart.

use crate::bytecode::{Instr, Op as B, Pc};
use crate::facts::AttrPlan;
use crate::hir::build::{Builder, Unsupported};
use crate::hir::function::Term;
use crate::hir::{Edge, Op, Value};
use crate::types::Type;

/// The most instructions that are repeated in each arm, including the call.
const MOST_AHEAD: u32 = 4;

impl Builder<'_> {
    /// The instruction that calls the method that the current one loads, if only a few instructions
    /// are between them, and each loads an argument in a simple way.
    pub(super) fn call_ahead(&self) -> Option<Pc> {
        // Names that are kept in registers have their states by instruction, so the instructions
        // are translated one by one.
        if self.names.is_some() {
            return None;
        }
        let mut arguments = 0;
        for pc in (self.pc.0 + 1..=self.pc.0 + MOST_AHEAD).map(Pc) {
            let instr = self.code.instrs.get(pc.0 as usize)?;
            let is_straight = !self.is_leader(pc)
                && !instr.is_unreached()
                && (self.handler(pc)).is_none_or(|h| self.handler(self.pc) == Some(h));
            match instr.op {
                _ if !is_straight => return None,
                B::LoadFast | B::LoadFastBorrow | B::LoadConst => arguments += 1,
                B::LoadAttr if instr.arg2 == 0 && arguments > 0 => {}
                B::Call if instr.arg == arguments => return Some(pc),
                _ => return None,
            }
        }
        None
    }

    /// Load a method by the plan for each group of classes, and call it: each arm, and the general
    /// one, has all instructions up to the `call`. The result is on the stack.
    pub(super) fn load_and_call(
        &mut self,
        instr: &Instr,
        receiver: Value,
        arms: Vec<(Vec<Type>, AttrPlan)>,
        call: Pc,
    ) -> Result<(), Unsupported> {
        let load = std::mem::replace(&mut self.pc, call);
        let join = self.inner_block();
        self.pc = load;
        let before = self.before_arms();
        let mut may_have_run = self.unchecked;
        let arms = arms.into_iter().map(Some).chain([None]);
        for arm in arms {
            let next = match arm {
                Some((types, plan)) => {
                    let is = self.emit(Op::IsClass(types), vec![receiver], Type::CBOOL);
                    let next = self.fork(is);
                    self.load_polymorphic(receiver, plan, true);
                    Some(next)
                }
                None => {
                    self.load_generally(instr, receiver);
                    None
                }
            };
            if self.run_to(call)? {
                self.own(self.stack.len() - 1);
                let args = self.top_values(1);
                self.end_block(Term::Jump(Edge { block: join, args }));
            }
            may_have_run |= self.unchecked;
            let Some(next) = next else { break };
            self.pc = load;
            self.next_arm(next, &before);
        }
        self.pc = call;
        self.stack.truncate(before.stack.len());
        self.enter_join(join, &[Type::OBJECT], before);
        self.unchecked = may_have_run;
        Ok(())
    }

    /// Translate the instructions after the current one, up to this one; returns true if control
    /// reaches its end.
    fn run_to(&mut self, last: Pc) -> Result<bool, Unsupported> {
        for pc in (self.pc.0 + 1..=last.0).map(Pc) {
            self.pc = pc;
            let instr = self.code.instr(pc);
            self.look_at_validity(instr);
            self.start_instr();
            if self.translate(instr)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
