//! Builtins that consume a generator which the code itself creates: `any(x > 3 for x in xs)`.
//!
//! The call becomes a loop over the generator, so that the generator can be inlined
//! (`opt/inline/generators.rs`). The loop has the frame state of the call. An exit executes the
//! call again with what is left of the generator: `any` and `all` have seen no item yet that
//! decides. So nothing may exit between an item and its test.
//!
//! Other builtins, such as `list` and `max`, get a list of the items in place of the generator. An
//! exit executes the call again with a [chain](Op::VirtualChain) of this list and the remainder of
//! the generator.

use crate::bytecode::{GeneralOp as G, Reason};
use crate::facts::Builtin;
use crate::hir::build::Builder;
use crate::hir::function::{Edge, Term};
use crate::hir::translate::dispatch::plain_edge;
use crate::hir::{Block, Op, Value};
use crate::types::Type;

/// Numbers can be compared with each other, and added but for large ints to floats.
const NUMBERS: [Type; 3] = [Type::LONG_EXACT, Type::FLOAT_EXACT, Type::BOOL];
/// Classes whose objects all have a hash. (A comparison of a string with bytes may be an error, by
/// an option of the interpreter.)
const HASHED: [Type; 4] = [
    Type::LONG_EXACT,
    Type::FLOAT_EXACT,
    Type::BOOL,
    Type::UNICODE_EXACT,
];

impl Builder<'_> {
    /// The call of a builtin that consumes the generator which is its only argument; false if it is
    /// another call. `is_bound` tells if it is a method, whose object is on the stack.
    pub(super) fn consume(&mut self, builtin: Builtin, base: usize, is_bound: bool) -> bool {
        let generator = self.stack[self.stack.len() - 1].value;
        let ty = self.ty(generator);
        let is_generator = ty <= Type::GEN && !ty.is_bottom();
        if self.stack.len() - base != 3
            || !is_generator
            || self.names.is_some()
            || is_bound != (builtin == Builtin::StrJoin)
        {
            return false;
        }
        match builtin {
            Builtin::Any => self.search(true, base),
            Builtin::All => self.search(false, base),
            // These make a list of the items first.
            Builtin::List | Builtin::Tuple | Builtin::Sorted | Builtin::StrJoin => {
                self.gather(builtin, base, &[])
            }
            Builtin::Sum | Builtin::Min | Builtin::Max => self.gather(builtin, base, &NUMBERS),
            Builtin::Set | Builtin::FrozenSet => self.gather(builtin, base, &HASHED),
            _ => false,
        }
    }

    /// The call of a builtin for which a list of the items does as well as the generator. If it
    /// adds, compares or hashes each item before it takes the next one, the items must be of
    /// `classes` for which this runs no user code and raises nothing.
    fn gather(&mut self, builtin: Builtin, base: usize, classes: &[Type]) -> bool {
        let has_failed = !classes.is_empty() && self.avoids(Reason::Type)
            || builtin == Builtin::Sum && self.avoids(Reason::IntTooLarge);
        if has_failed || self.handler(self.pc).is_some() {
            return false;
        }
        for i in base..self.stack.len() {
            self.own(i);
        }
        self.start_instr();
        let top = self.stack.len() - 1;
        let generator = self.stack[top].value;
        let list = self.general(G::BuildList, [0, 0], vec![], Type::LIST_EXACT);
        let before = self.before_arms();
        let header = self.begin_loop();
        let chain = self.emit(Op::VirtualChain, vec![list, generator], Type::OBJECT);
        self.stack[top].value = chain;
        self.start_instr();
        let (item, ended) = self.request(generator);
        self.general(G::ListAppend, [0, 0], vec![list, item], Type::BOTTOM);
        let entry = self.pop();
        self.start_instr();
        self.drop_entry(entry);
        if !classes.is_empty() {
            let state = self.state();
            let op = Op::CheckClasses(classes.to_vec());
            self.emit_with(op, vec![item], Type::BOTTOM, Some(state));
        }
        if builtin == Builtin::Sum {
            self.check_small(item, header);
        }
        let state = self.state();
        self.emit_raising(Op::CheckPending, vec![], Type::BOTTOM, state);
        self.end_block(Term::Jump(plain_edge(header)));

        self.next_arm(ended, &before);
        self.f.blocks[ended].entry_state = self.frame_state(self.pc);
        let entry = self.pop();
        self.push_owned(list);
        self.start_instr();
        self.drop_entry(entry);
        self.unchecked = true;
        if builtin == Builtin::List {
            let items = self.pop();
            for entry in self.stack.split_off(base).into_iter().rev() {
                self.drop_entry(entry);
            }
            self.push_owned(items.value);
        } else {
            self.call_generally(base, 1, None);
        }
        true
    }

    /// Continue in a new block, the header of a loop.
    fn begin_loop(&mut self) -> Block {
        let header = self.inner_block();
        self.f.blocks[header].is_loop_header = true;
        self.end_block(Term::Jump(plain_edge(header)));
        self.cur = header;
        header
    }

    /// Request the generator's next item and push it: if its use raises, it is dropped with the
    /// operands of the call. Returns the item, and the block in which there is none.
    fn request(&mut self, generator: Value) -> (Value, Block) {
        let state = self.state();
        let args = vec![generator];
        let more = self.general_at(G::IterNext, [0, 0], args, Type::CBOOL, state);
        let item = self.emit(Op::Output(0), vec![more], Type::OBJECT.opt());
        let ended = self.fork(more);
        let item = self.emit(Op::Refine(Type::OBJECT), vec![item], Type::OBJECT);
        self.push_owned(item);
        self.start_instr();
        (item, ended)
    }

    /// Exit at an int of more than a machine word: adding it to a float may raise an OverflowError.
    /// Other items continue at the loop's header.
    fn check_small(&mut self, item: Value, header: Block) {
        let test = Op::IsClass(vec![Type::LONG_EXACT]);
        let is_int = self.emit(test, vec![item], Type::CBOOL);
        let before = self.before_arms();
        let other = self.fork(is_int);
        let int = self.cur;
        self.next_arm(other, &before);
        let state = self.state();
        self.emit_raising(Op::CheckPending, vec![], Type::BOTTOM, state);
        self.end_block(Term::Jump(plain_edge(header)));
        self.next_arm(int, &before);
        let state = self.state();
        let int = self.emit(Op::Refine(Type::LONG_EXACT), vec![item], Type::LONG_EXACT);
        let small = self.emit_with(Op::UnboxInt, vec![int], Type::CINT64, Some(state));
        // The value itself is not used.
        self.f.rely_on(small);
    }

    /// The call of `any` or `all`; `decisive` is the truth of the item that decides.
    fn search(&mut self, decisive: bool, base: usize) -> bool {
        let generator = self.stack[self.stack.len() - 1].value;
        for i in base..self.stack.len() {
            self.own(i);
        }
        self.start_instr();
        let before = self.before_arms();
        let join = self.inner_block();
        let header = self.begin_loop();
        let (item, ended) = self.request(generator);
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
