//! Instructions that may raise: the end of their block in the range of a handler, and the landing
//! block where the exceptional edge arrives.

use super::Op;
use super::build::Builder;
use super::function::{Block, BlockData, Edge, FrameState, StateId, Term, Value};
use crate::bytecode::{GeneralOp, Handler, Reason};
use crate::types::Type;

impl Builder<'_> {
    /// Make the entries that stay on the stack in the handler of the current instruction owned, as
    /// they must be where blocks join.
    pub(super) fn settle_for_handler(&mut self) {
        let depth = self.handler(self.pc).map_or(0, |h| h.depth as usize);
        for index in 0..depth.min(self.stack.len()) {
            self.own(index);
        }
    }

    /// Emits an operation that may raise. In the range of a handler it ends its block, and the
    /// current block is the one in which it has not raised.
    pub(super) fn emit_raising(
        &mut self,
        op: Op,
        args: Vec<Value>,
        ty: Type,
        state: StateId,
    ) -> Value {
        // Raw calls and checks for pending work check themselves that the unit is still valid.
        let looks = matches!(op, Op::CheckPending | Op::CallRaw(..));
        self.unchecked |= op.effects().runs_host_code && !looks;
        // A closed unit has no frame: it exits before anything raises.
        let raises = op.raises() && self.closed.is_none();
        let v = self.emit_with(op, args, ty, Some(state));
        if raises && let Some(handler) = self.handler(self.pc).cloned() {
            self.land(v, state, &handler);
        }
        v
    }

    /// End the current block behind `v` with an edge to a landing block for `handler`, and continue
    /// in a new block.
    fn land(&mut self, v: Value, state: StateId, handler: &Handler) {
        let (next, landing) = (self.follower(), self.follower());
        let edge = |block| Edge {
            block,
            args: Vec::new(),
        };
        self.end_block(Term::MayRaise {
            op: v,
            next: edge(next),
            raised: edge(landing),
        });
        let (stack, start_stack) = (self.stack.clone(), self.start_stack.clone());
        let (state_here, unchecked) = (self.state, self.unchecked);
        let (locals, names) = (self.locals.clone(), self.names_here());
        let names_of_call = self.names_of_call.take();
        self.cur = landing;
        self.stack = self.f.states[state].stack.clone();
        // Control takes the edge only in a unit that is still valid.
        self.unchecked = false;
        self.unwind(v, handler);
        self.jump_to(handler.target, false);
        (self.stack, self.start_stack) = (stack, start_stack);
        (self.state, self.unchecked) = (state_here, unchecked);
        self.names_of_call = names_of_call;
        // Dirty names were stored on the path to the handler, and only there.
        self.locals = locals;
        self.restore_names(&names);
        self.cur = next;
    }

    /// Emits the work of the interpreter between a raise and its handler: drop the stack entries
    /// above the handler's depth, add to the traceback, take the exception.
    fn unwind(&mut self, v: Value, handler: &Handler) {
        let instr = self.code.instr(self.pc);
        if let Op::CallRaw(_, consumed) = self.f.insts[v].op {
            let entries = self.stack.split_off(self.stack.len() - consumed as usize);
            for entry in entries {
                self.start_instr();
                self.drop_entry(entry);
            }
        }
        // The operands that the instruction itself drops, in its order.
        let dropped = match self.f.insts[v].op {
            // The operation has taken over its operands.
            Op::General(GeneralOp::ConcatStrings, _) => &[],
            _ => instr.dropped_on_error(self.code.last_first),
        };
        let top = self.stack.len();
        let operands: Vec<_> = dropped
            .iter()
            .map(|&depth| self.stack[top - 1 - depth as usize])
            .collect();
        self.stack.truncate(top - operands.len());
        for entry in operands {
            self.start_instr();
            self.drop_entry(entry);
        }
        let (traced, position) = match self.f.insts[v].op {
            Op::General(op, [n, _]) => (
                op.info().traced,
                // An exception that is raised again keeps the position where it was raised first.
                (op == GeneralOp::Reraise && n > 0).then(|| self.f.insts[v].args[0]),
            ),
            _ => (false, None),
        };
        let position = handler.lasti.then(|| match position {
            Some(position) => {
                self.emit(Op::Incref, vec![position], Type::BOTTOM);
                position
            }
            None => {
                let pos = self.emit(Op::ConstInt(instr.pos as i64), vec![], Type::CINT64);
                self.emit(Op::BoxInt, vec![pos], Type::LONG_EXACT)
            }
        });
        let catch = Op::General(GeneralOp::Catch, [!traced as i64, 0]);
        let exception = self.emit(catch, vec![], Type::OBJECT);
        while self.stack.len() > handler.depth as usize {
            let entry = self.pop();
            self.start_instr();
            self.drop_entry(entry);
        }
        if let Some(position) = position {
            self.push_owned(position);
        }
        self.push_owned(exception);
    }

    /// Ends the block with an exit at the current instruction, which is not compiled, or not before
    /// more is known of it. Returns true, as each function that ends a block does.
    pub(super) fn give_up(&mut self, reason: Reason) -> bool {
        let state = self.state();
        let never = self.emit(Op::ConstBool(false), vec![], Type::CBOOL);
        let leave = Op::GuardTrue(reason);
        self.emit_with(leave, vec![never], Type::BOTTOM, Some(state));
        self.end_block(Term::Unreachable);
        true
    }

    /// A new block whose only predecessor is the current one, with the frame as it is now.
    pub(super) fn follower(&mut self) -> Block {
        let state = FrameState {
            pc: self.pc,
            locals: self.locals.clone(),
            stack: self.stack.clone(),
            inlined: Vec::new(),
        };
        self.f.blocks.push(BlockData::new(state, self.pc))
    }
}
