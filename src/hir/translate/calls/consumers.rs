//! Builtins that consume a generator which the code itself creates: `any(x > 3 for x in xs)`.
//!
//! The call becomes a loop over the generator, so that the generator can be inlined
//! (`opt/inline/generators.rs`). The loop has the frame state of the call. An exit executes the
//! call again with what is left of the generator: `any` and `all` have seen no item yet that
//! decides. So nothing may exit between an item and its test.

use crate::bytecode::GeneralOp as G;
use crate::facts::Builtin;
use crate::hir::build::Builder;
use crate::hir::function::{Edge, Term};
use crate::hir::translate::dispatch::plain_edge;
use crate::hir::{Block, Op};
use crate::types::Type;

impl Builder<'_> {
    /// The call of `any` or `all` with a generator as its argument; false if it is another call.
    pub(super) fn consume(&mut self, builtin: Builtin, base: usize) -> bool {
        let decisive = match builtin {
            Builtin::Any => true,
            Builtin::All => false,
            _ => return false,
        };
        let generator = self.stack[self.stack.len() - 1].value;
        let ty = self.ty(generator);
        let is_generator = ty <= Type::GEN && !ty.is_bottom();
        if self.stack.len() - base != 3 || !is_generator || self.names.is_some() {
            return false;
        }
        for i in base..self.stack.len() {
            self.own(i);
        }
        self.start_instr();
        let before = self.before_arms();
        let join = self.inner_block();
        let header = self.inner_block();
        self.f.blocks[header].is_loop_header = true;
        self.end_block(Term::Jump(plain_edge(header)));
        self.cur = header;
        let state = self.state();
        let args = vec![generator];
        let more = self.general_at(G::IterNext, [0, 0], args, Type::CBOOL, state);
        let item = self.emit(Op::Output(0), vec![more], Type::OBJECT.opt());
        let ended = self.fork(more);
        let item = self.emit(Op::Refine(Type::OBJECT), vec![item], Type::OBJECT);
        // If the test raises, the item is dropped with the operands of the call.
        self.push_owned(item);
        self.start_instr();
        let holds = self.general(G::Truth, [0, 0], vec![item], Type::CBOOL);
        let item = self.pop();
        self.start_instr();
        self.drop_entry(item);
        let decides = match decisive {
            true => holds,
            false => self.emit(Op::BoolNot, vec![holds], Type::CBOOL),
        };
        let undecided = self.fork(decides);
        self.finish(decisive, base, join);

        self.next_arm(undecided, &before);
        let state = self.state();
        self.emit_raising(Op::CheckPending, vec![], Type::BOTTOM, state);
        self.end_block(Term::Jump(plain_edge(header)));

        self.next_arm(ended, &before);
        self.finish(!decisive, base, join);

        self.enter_join(join, &[Type::BOOL], before);
        self.unchecked = true;
        true
    }

    /// End an arm in which the result is known: drop the operands of the call.
    fn finish(&mut self, result: bool, base: usize, join: Block) {
        let operands = self.stack.split_off(base);
        self.start_instr();
        for operand in operands.into_iter().rev() {
            self.drop_entry(operand);
        }
        let result = self.emit(Op::ConstBool(result), vec![], Type::CBOOL);
        let result = self.emit(Op::BoxBool, vec![result], Type::BOOL);
        self.push_owned(result);
        let args = self.top_values(1);
        self.end_block(Term::Jump(Edge { block: join, args }));
    }
}
