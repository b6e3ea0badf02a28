//! Calls of user classes: a new object, and a call of its `__init__`.

use super::{Named, begins_with_given};
use crate::bytecode::GeneralOp as G;
use crate::facts::{Argument, Assumption, Callee, IntrinsicCall};
use crate::hir::Op;
use crate::hir::build::Builder;
use crate::hir::function::{Entry, Value};
use crate::types::{ClassHandle, ObjectHandle, Type};

/// The entry of a class's `__init__`, with the arguments.
pub(super) struct Initialiser {
    function: ObjectHandle,
    entry_cell: u64,
    /// The arguments that its parameters get, the object first.
    bound: Vec<Argument>,
    assumptions: Vec<Assumption>,
}

impl Builder<'_> {
    /// The entry of an `__init__` for an object and `n` arguments, if it takes them; `Some(None)`
    /// if the class has none and there are no arguments.
    pub(super) fn initialiser(
        &self,
        init: Option<ObjectHandle>,
        n: usize,
        named: &Named,
    ) -> Option<Option<Initialiser>> {
        let Some(function) = init else {
            return (n == 0).then_some(None);
        };
        match self.world.callee(function) {
            Callee::Function {
                params,
                entry_cell,
                assumptions,
                ..
            } => {
                let bound = named.bind(&params, n + 1)?;
                begins_with_given(&bound).then_some(Some(Initialiser {
                    function,
                    entry_cell,
                    bound,
                    assumptions,
                }))
            }
            _ => None,
        }
    }

    /// A new object of a class that is called. It takes the place of the class on the stack, and
    /// the arguments become owned.
    fn allocate(&mut self, ty: Type, make: IntrinsicCall, base: usize) -> Value {
        for i in base + 1..self.stack.len() {
            self.own(i);
        }
        self.start_instr();
        let state = self.state();
        let new = Op::New(ty, make);
        let object = self.emit_with(new, Vec::new(), ty.unspecialized(), Some(state));
        // The object keeps its class alive from here on, and is at the place of the call's result.
        let entry = Entry {
            value: object,
            owned: true,
        };
        let callable = std::mem::replace(&mut self.stack[base], entry);
        self.drop_entry(callable);
        object
    }

    /// The call of a class: a new object, which its `__init__` is called with.
    pub(super) fn call_class(
        &mut self,
        class: ClassHandle,
        make: IntrinsicCall,
        init: Option<Initialiser>,
        base: usize,
        named: &Named,
    ) {
        let ty = Type::from_class_exact(class);
        let object = self.allocate(ty, make, base);
        let n = self.stack.len() - base - 1;
        let Some(init) = init else {
            return self.forget_call(n);
        };
        self.assume(init.assumptions);
        let function = self.assumed(init.function);
        let operands = self.collect(init.bound, named, Vec::new());
        self.emit(Op::Incref, vec![object], Type::BOTTOM);
        // The object is new, so its class cannot have changed.
        let this = self.emit(Op::Refine(ty), vec![object], ty);
        let args = self.arguments(function, Some(this), operands);
        self.start_instr();
        let state = self.state_without(n);
        let call = Op::CallDirect(init.entry_cell);
        let result = self.emit_raising(call, args, Type::OBJECT, state);
        self.forget_call(n);
        self.push_owned(result);
        self.start_instr();
        self.general(G::InitResult, [0, 0], vec![result], Type::BOTTOM);
        self.drop_top(1);
    }

    /// The call of a class derived from `tuple`: a new instance with these items.
    pub(super) fn make_tuple(
        &mut self,
        class: ClassHandle,
        make: IntrinsicCall,
        stores: Vec<IntrinsicCall>,
        base: usize,
        bound: Vec<Argument>,
    ) {
        let ty = Type::from_class_exact(class);
        let object = self.allocate(ty, make, base);
        let this = self.emit(Op::Refine(ty), vec![object], ty);
        for (store, argument) in stores.into_iter().zip(bound) {
            // The instance takes over the stack's reference.
            let item = match argument {
                Argument::Given(k) => self.stack[base + 2 + k].value,
                Argument::Default(value) => self.kept(value),
                Argument::Loaded(_) | Argument::Rest(_) | Argument::NamedRest(_) => {
                    unreachable!("each parameter has one argument")
                }
            };
            self.emit(Op::InitField(store), vec![this, item], Type::BOTTOM);
        }
        self.forget_call(self.stack.len() - base - 1);
    }
}
