//! Representations: the part of a value that is in registers, and conversions between
//! representations.
//!
//! A [`Repr`] describes the place of one value: a C value in a register, a pointer, or nothing,
//! because the raw values that make up the object are used instead. Apart from the ops that create
//! boxes and virtual objects, it depends on the type alone ([`Repr::of_type`]): equal types, equal
//! representations. An operation declares the form that it [wants](Wanted) of an operand, and
//! [`Repr::convert_to`] is the only table of conversions. Conversions have no checks: unboxing a
//! number may fail, so it is an HIR op with a frame state (`unbox_int`), never a conversion. A
//! missing conversion is a bug of the compiler, which refuses the function. For example, in
//! `y = x * 2.0` the product is a C double, and `y` has the representation `Double`: a float object
//! is allocated only if `y` is passed to a call or stored into a list.

use super::Lower;
use super::fault::What;
use super::routines::nothing;
use crate::facts::RawKind;
use crate::hir::{Function, Op, Value};
use crate::host::{names, raw_type};
use crate::lir;
use crate::ll::Ty;
use crate::types::Type;
use cranelift_entity::EntityRef;

/// The representation of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repr {
    /// No object.
    Null,
    /// A pointer to an object (or null where the type allows it).
    Object,
    /// A 64-bit integer: the given value.
    Int(Value),
    /// A double.
    Double(Value),
    /// A truth value.
    Bool(Value),
    /// A 64-bit integer if the second value is true, otherwise no object.
    IntIf(Value, Value),
    /// A double if the second value is true, otherwise no object.
    DoubleIf(Value, Value),
    /// An object that only an exit materialises.
    Virtual,
    /// The object of the given value; an exit takes a reference to it.
    Borrowed(Value),
}

/// The form in which an operation wants an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// A pointer to the object (null if there is none). A virtual box is allocated for that: a new
    /// reference, which is passed on or dropped after the operation.
    Object,
    /// The raw value.
    Raw(RawKind),
}

/// The conversion of a value to the wanted form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Conversion {
    /// None needed.
    Nothing,
    /// The raw value exists.
    Raw(Value),
    /// The object is another value's.
    Of(Value),
    /// A null pointer.
    Null,
    /// An intrinsic boxes a raw value.
    Box(&'static str, Value),
    /// The same if the second value is true, otherwise a null pointer.
    BoxIf(&'static str, Value, Value),
}

impl Repr {
    /// The representation of `v`.
    pub fn of(f: &Function, v: Value) -> Repr {
        let v = f.resolve(v);
        match f.op(v) {
            Op::Null => Repr::Null,
            Op::BoxInt => Repr::Int(f.arg(v, 0)),
            Op::BoxFloat => Repr::Double(f.arg(v, 0)),
            Op::BoxBool => Repr::Bool(f.arg(v, 0)),
            Op::BoxIntIf => Repr::IntIf(f.arg(v, 0), f.arg(v, 1)),
            Op::BoxFloatIf => Repr::DoubleIf(f.arg(v, 0), f.arg(v, 1)),
            op if op.is_virtual() => Repr::Virtual,
            Op::Borrowed => Repr::Borrowed(f.arg(v, 0)),
            // The same object, or truth value, as its operand.
            op if op.gives_operand() || matches!(op, Op::GuardTrue(_)) => Repr::of(f, f.arg(v, 0)),
            _ => Repr::of_type(v, f.ty(v)),
        }
    }

    /// The representation of `v` by its type.
    fn of_type(v: Value, ty: Type) -> Repr {
        match ty {
            t if t.is_bottom() => Repr::Object,
            t if t <= Type::CINT64 => Repr::Int(v),
            t if t <= Type::CDOUBLE => Repr::Double(v),
            t if t <= Type::CBOOL => Repr::Bool(v),
            _ => Repr::Object,
        }
    }

    /// The low-level type of a value that is defined in this representation, and of the parameter
    /// of a block.
    pub fn low_level(self) -> Ty {
        match self {
            Repr::Int(_) => Ty::I64,
            Repr::Double(_) => Ty::F64,
            Repr::Bool(_) => Ty::Bool,
            _ => Ty::Ptr,
        }
    }

    /// Returns true if the value is raw.
    pub fn is_raw(self) -> bool {
        !matches!(
            self,
            Repr::Null | Repr::Object | Repr::Virtual | Repr::Borrowed(_)
        )
    }

    /// Returns true if the value exists but is in no local's slot: it has no object, or the local
    /// owns no reference.
    pub fn is_unmade(self) -> bool {
        !matches!(self, Repr::Null | Repr::Object)
    }

    /// The kind of the raw value and the value itself, if there is one.
    pub(super) fn raw_value(self) -> Option<(RawKind, Value)> {
        match self {
            Repr::Int(raw) | Repr::IntIf(raw, _) => Some((RawKind::Int, raw)),
            Repr::Double(raw) | Repr::DoubleIf(raw, _) => Some((RawKind::Float, raw)),
            Repr::Bool(raw) => Some((RawKind::Bool, raw)),
            Repr::Null | Repr::Object | Repr::Virtual | Repr::Borrowed(_) => None,
        }
    }

    /// The conversion from this representation to the wanted form. None if there is none without a
    /// check.
    fn convert_to(self, wanted: Wanted) -> Option<Conversion> {
        Some(match (wanted, self) {
            (Wanted::Raw(kind), repr) => {
                let (found, raw) = repr.raw_value()?;
                return (found == kind).then_some(Conversion::Raw(raw));
            }
            (Wanted::Object, Repr::Object) => Conversion::Nothing,
            (Wanted::Object, Repr::Null) => Conversion::Null,
            (Wanted::Object, Repr::Int(raw)) => Conversion::Box(names::INT_BOX, raw),
            (Wanted::Object, Repr::Double(raw)) => Conversion::Box(names::FLOAT_BOX, raw),
            (Wanted::Object, Repr::Bool(raw)) => Conversion::Box(names::BOOL_BOX, raw),
            (Wanted::Object, Repr::IntIf(raw, is)) => Conversion::BoxIf(names::INT_BOX, raw, is),
            (Wanted::Object, Repr::DoubleIf(raw, is)) => {
                Conversion::BoxIf(names::FLOAT_BOX, raw, is)
            }
            (Wanted::Object, Repr::Borrowed(object)) => Conversion::Of(object),
            // Passes must remove such uses of virtual objects.
            (Wanted::Object, Repr::Virtual) => return None,
        })
    }
}

impl Wanted {
    /// The form that an operation wants of an operand with this low-level type.
    pub fn of(ty: Ty) -> Wanted {
        match ty {
            Ty::I64 => Wanted::Raw(RawKind::Int),
            Ty::F64 => Wanted::Raw(RawKind::Float),
            Ty::Bool => Wanted::Raw(RawKind::Bool),
            Ty::Ptr => Wanted::Object,
        }
    }

    /// The low-level type of the wanted form.
    fn low_level(self) -> Ty {
        match self {
            Wanted::Object => Ty::Ptr,
            Wanted::Raw(kind) => raw_type(kind),
        }
    }
}

impl Lower<'_> {
    /// The representation of `v`, cached: each frame state queries all its values.
    pub(super) fn repr(&self, v: Value) -> Repr {
        let known = &self.reprs[v.index()];
        known.get().unwrap_or_else(|| {
            let repr = Repr::of(self.f, v);
            known.set(Some(repr));
            repr
        })
    }

    /// `v` in the wanted form, and true if a box was allocated for it, which is a new reference.
    pub(super) fn convert(&mut self, v: Value, wanted: Wanted) -> (lir::Value, bool) {
        let repr = self.repr(v);
        let Some(conversion) = repr.convert_to(wanted) else {
            return (self.no_conversion(v, repr, wanted), false);
        };
        match conversion {
            Conversion::Nothing => (self.pointer(v), false),
            Conversion::Raw(raw) => (self.raw(raw), false),
            Conversion::Of(object) => self.convert(object, wanted),
            Conversion::Null => (self.b.pconst(0), false),
            // The two bools are immortal.
            Conversion::Box(boxing, raw) => {
                let raw = self.raw(raw);
                (self.boxed(boxing, raw), boxing != names::BOOL_BOX)
            }
            Conversion::BoxIf(boxing, raw, bound) => (self.box_if(boxing, raw, bound), true),
        }
    }

    /// A placeholder for an operand without conversion. On an unreachable path that is fine;
    /// anywhere else it is a fault.
    fn no_conversion(&mut self, v: Value, repr: Repr, wanted: Wanted) -> lir::Value {
        if !self.f.ty(v).is_bottom() {
            let what = What::NoConversion {
                value: self.f.resolve(v),
                repr,
                wanted,
            };
            self.fault(what);
        }
        nothing(&mut self.b, wanted.low_level())
    }

    /// The pointer to an object, and true if a box was allocated for it (a new reference).
    pub(super) fn object(&mut self, v: Value) -> (lir::Value, bool) {
        self.convert(v, Wanted::Object)
    }

    /// The pointer to an object whose reference is passed on: a box is allocated, any other object
    /// is already owned.
    pub(super) fn moved(&mut self, v: Value) -> lir::Value {
        self.object(v).0
    }

    /// The raw value of a C value.
    pub(super) fn raw(&mut self, v: Value) -> lir::Value {
        let v = self.f.resolve(v);
        match self.f.op(v) {
            Op::ConstInt(n) => self.b.iconst(*n),
            Op::ConstDouble(bits) => self.b.fconst(f64::from_bits(*bits)),
            Op::ConstBool(c) => self.b.bconst(*c),
            Op::Refine(_) | Op::GuardTrue(_) => {
                let inner = self.f.arg(v, 0);
                self.raw(inner)
            }
            _ => self.defined(v),
        }
    }

    /// The pointer to an object that is not virtual.
    fn pointer(&mut self, v: Value) -> lir::Value {
        let v = self.f.object_of(v);
        match self.f.op(v) {
            Op::Const(object) => self.b.pconst(super::address(*object)),
            _ => self.defined(v),
        }
    }

    /// The LIR value of the instruction `v`.
    fn defined(&self, v: Value) -> lir::Value {
        let found = self.values[v].expand();
        found.unwrap_or_else(|| panic!("{v} = {:?} has no value yet", self.f.op(v)))
    }

    /// A new object.
    fn boxed(&mut self, name: &str, raw: lir::Value) -> lir::Value {
        let p = self.intrinsic(name, &[raw])[0];
        self.reference(p)
    }

    fn box_if(&mut self, boxing: &str, raw: Value, bound: Value) -> lir::Value {
        let (raw, bound) = (self.raw(raw), self.raw(bound));
        let (some, done) = (self.b.block(), self.b.block());
        let result = self.b.param(done, Ty::Ptr);
        self.reference(result);
        let null = self.b.pconst(0);
        self.b.br(bound, some, &[], done, &[null]);
        self.b.switch_to(some);
        let p = self.boxed(boxing, raw);
        self.b.jump(done, &[p]);
        self.b.switch_to(done);
        result
    }
}
