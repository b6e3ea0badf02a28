//! Objects: facts after guards, identity and class tests, and unboxing of numbers.

use super::hop::HighLevelOp;
use super::routines::nothing;
use super::{Lower, Repr, Wanted};
use crate::facts::{IntrinsicCall, RawKind};
use crate::hir::Value;
use crate::host::{names, raw_type};
use crate::lir::{self, IntCond, Opcode};
use crate::ll::Ty;
use crate::types::{ObjectHandle, Type};

impl HighLevelOp<'_, '_> {
    pub(super) fn guard_type(&mut self, want: Type) {
        let ty = self.lower.f.ty(self.arg(0));
        if self.repr(0).is_raw() {
            // The class of a virtual box is known, so only a possibly unbound one is tested. A box
            // of another class always exits.
            match self.repr(0) {
                Repr::IntIf(_, bound) | Repr::DoubleIf(_, bound) if ty.could_be(want) => {
                    let ok = self.lower.raw(bound);
                    self.guard(ok);
                }
                _ if ty.could_be(want) => {}
                _ => {
                    let never = self.b().bconst(false);
                    self.guard(never);
                }
            }
            return;
        }
        let p = self.object(0);
        let exit = self.exit();
        if !(ty <= Type::OBJECT) {
            let null = self.b().is_null(p);
            let go = self.b().block();
            self.b().br(null, exit, &[], go, &[]);
            self.b().switch_to(go);
        }
        let ok = if want <= Type::NONE_TYPE {
            self.is_the(p, self.lower.host.none)
        } else {
            let class = self.lower.class_token(want);
            let found = self.intrinsic(names::CLASS_OF, &[p]);
            self.is_the(found, class)
        };
        self.b().guard(ok, exit);
    }

    pub(super) fn check_classes(&mut self, types: &[Type]) {
        let ok = self.lower.is_class(self.arg(0), types);
        self.guard(ok);
    }

    pub(super) fn guard_is(&mut self, object: ObjectHandle) {
        let p = self.object(0);
        let ok = self.is_the(p, super::address(object));
        self.drop_made();
        self.guard(ok);
    }

    pub(super) fn guard_bound(&mut self) {
        if let Repr::IntIf(_, bound) | Repr::DoubleIf(_, bound) = self.repr(0) {
            let ok = self.lower.raw(bound);
            return self.guard(ok);
        }
        if self.repr(0).is_raw() {
            return;
        }
        let p = self.object(0);
        let null = self.b().is_null(p);
        let ok = self.b().op(Opcode::Bnot, &[null]);
        self.guard(ok);
    }

    /// True if a pointer is this address.
    fn is_the(&mut self, p: lir::Value, address: u64) -> lir::Value {
        let address = self.b().pconst(address);
        self.b().icmp(IntCond::Eq, p, address)
    }

    pub(super) fn is_same(&mut self) -> lir::Value {
        let (a, b) = (self.object(0), self.object(1));
        let r = self.b().icmp(IntCond::Eq, a, b);
        self.drop_made();
        r
    }

    pub(super) fn is_null(&mut self) -> lir::Value {
        match self.repr(0) {
            Repr::Object => {
                let p = self.object(0);
                self.b().is_null(p)
            }
            Repr::IntIf(_, bound) | Repr::DoubleIf(_, bound) => {
                let bound = self.lower.raw(bound);
                self.b().op(Opcode::Bnot, &[bound])
            }
            repr => self.b().bconst(repr == Repr::Null),
        }
    }

    pub(super) fn is_none(&mut self) -> lir::Value {
        match self.repr(0) {
            Repr::Object => {
                let p = self.object(0);
                self.is_the(p, self.lower.host.none)
            }
            _ => self.b().bconst(false),
        }
    }

    pub(super) fn class_of(&mut self) -> lir::Value {
        let object = self.object(0);
        let class = self.intrinsic(names::CLASS_OF, &[object]);
        self.drop_made();
        class
    }

    pub(super) fn number_of(&mut self, call: &IntrinsicCall) -> lir::Value {
        let object = self.object(0);
        let number = self.lower.host_call(call, vec![object], None);
        self.drop_made();
        number.expect("a number")
    }

    /// A value that the host computes from the operands.
    pub(super) fn compute(&mut self, call: &IntrinsicCall) -> lir::Value {
        let count = self.args().len();
        let params = &self.lower.host.intrinsics[call.id].func.signature.params;
        let types = params[..count].to_vec();
        let inputs = self.inputs(&types);
        let exit = self.exit();
        let value = self.lower.host_call(call, inputs, Some(exit));
        self.drop_made();
        value.expect("a result")
    }

    /// The value of an int; exits if it has too many digits.
    pub(super) fn unbox_int(&mut self) -> lir::Value {
        if let Some((RawKind::Int, raw)) = self.repr(0).raw_value() {
            return self.lower.raw(raw);
        }
        let p = self.object(0);
        let exit = self.exit();
        let id = self.lower.host.intrinsic(names::INT_UNBOX);
        self.lower.perform(id, &[p], Some(exit))[0]
    }

    /// True if a number's object can be overwritten with another value.
    pub(super) fn reuse(&mut self) -> lir::Value {
        let (kind, name) = if self.lower.f.ty(self.arg(1)) <= Type::CDOUBLE {
            (RawKind::Float, names::FLOAT_REUSE)
        } else {
            (RawKind::Int, names::INT_REUSE)
        };
        let p = self.object(0);
        let raw = self.input(1, Wanted::Raw(kind));
        self.intrinsic(name, &[p, raw])
    }

    /// A field of a range; exits if it has too many digits.
    pub(super) fn range_field(&mut self, field: i64) -> lir::Value {
        let name = match field {
            0 => names::RANGE_FIRST,
            1 => names::RANGE_END,
            2 => names::RANGE_BY,
            _ => panic!("a range has no field {field}"),
        };
        let p = self.object(0);
        let exit = self.exit();
        let id = self.lower.host.intrinsic(name);
        self.lower.perform(id, &[p], Some(exit))[0]
    }

    /// The value of a float or a bool.
    pub(super) fn unbox(&mut self, kind: RawKind) -> lir::Value {
        match self.repr(0).raw_value() {
            Some((found, _)) if found == kind => self.input(0, Wanted::Raw(kind)),
            // A raw value of another class: a guard before this always exits.
            Some(_) => nothing(self.b(), raw_type(kind)),
            None => {
                let p = self.object(0);
                self.intrinsic(unboxing(kind), &[p])
            }
        }
    }

    /// A float's value, or an int's if the other operand, if there is one, is a float.
    pub(super) fn unbox_number(&mut self) -> lir::Value {
        let (a, other) = (self.arg(0), self.lower.f.inst(self.v).args.get(1).copied());
        let is_float = |s: &Self, v| s.lower.f.ty(v) <= Type::FLOAT_EXACT;
        if is_float(self, a) {
            return self.unbox(RawKind::Float);
        }
        let exit = self.exit();
        let (done, int) = (self.b().block(), self.b().block());
        let result = self.b().param(done, Ty::F64);
        let raw = self.repr(0).raw_value();
        let is_raw_int = matches!(raw, Some((RawKind::Int, _)));
        if raw.is_some() {
            let ok = self.b().bconst(is_raw_int);
            self.b().br(ok, int, &[], exit, &[]);
        } else {
            let is_float = self.lower.is_class(a, &[Type::FLOAT_EXACT]);
            let float = self.b().block();
            self.b().br(is_float, float, &[], int, &[]);
            self.b().switch_to(float);
            let x = self.unbox(RawKind::Float);
            self.b().jump(done, &[x]);
        }
        self.b().switch_to(int);
        if !is_raw_int {
            let is_int = self.lower.is_class(a, &[Type::LONG_EXACT]);
            self.b().guard(is_int, exit);
        }
        if let Some(other) = other
            && !is_float(self, other)
        {
            let is_float = self.lower.is_class(other, &[Type::FLOAT_EXACT]);
            self.b().guard(is_float, exit);
        }
        let n = self.unbox_int();
        let fits = self.fits_double(n);
        self.b().guard(fits, exit);
        let x = self.b().op(Opcode::I2f, &[n]);
        self.b().jump(done, &[x]);
        self.b().switch_to(done);
        result
    }
}

/// The intrinsic that boxes a raw value.
pub(super) fn boxing(kind: RawKind) -> &'static str {
    match kind {
        RawKind::Int => names::INT_BOX,
        RawKind::Float => names::FLOAT_BOX,
        RawKind::Bool => names::BOOL_BOX,
    }
}

/// The intrinsic that unboxes an object.
pub(super) fn unboxing(kind: RawKind) -> &'static str {
    match kind {
        RawKind::Int => names::INT_UNBOX,
        RawKind::Float => names::FLOAT_UNBOX,
        RawKind::Bool => names::BOOL_UNBOX,
    }
}

impl Lower<'_> {
    /// The address of the one class of a type.
    pub(super) fn class_token(&self, ty: Type) -> u64 {
        let class = ty
            .runtime_class()
            .or_else(|| ty.unique_class_in(self.host.id));
        match class {
            Some(class) if class.host().is_some() => class.token(),
            _ => super::gone(),
        }
    }

    /// True if the class of `a` (an object, not null) is one of these.
    pub(super) fn is_class(&mut self, a: Value, types: &[Type]) -> lir::Value {
        if self.repr(a).is_raw() {
            let ty = self.f.ty(a);
            return self.b.bconst(types.iter().any(|of| ty <= *of));
        }
        let (p, _) = self.object(a);
        if types == [Type::NONE_TYPE] {
            let none = self.b.pconst(self.host.none);
            return self.b.icmp(IntCond::Eq, p, none);
        }
        let found = self.intrinsic(names::CLASS_OF, &[p])[0];
        let tests: Vec<lir::Value> = types
            .iter()
            .map(|&ty| {
                let class = self.class_token(ty);
                let class = self.b.pconst(class);
                self.b.icmp(IntCond::Eq, found, class)
            })
            .collect();
        tests
            .into_iter()
            .reduce(|a, b| self.b.op(Opcode::Bor, &[a, b]))
            .expect("a test for some class")
    }
}
