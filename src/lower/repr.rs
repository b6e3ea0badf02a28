//! Representations: what of a value is in registers, and how one representation becomes another.
//!
//! A [`Repr`] says of one value where it is: in a register as a C value, behind a pointer, or nowhere, because the raw values that an
//! object is made of travel in its place. What a value is without regard to the op that gives it depends on its type alone
//! ([`Repr::of_type`]): equal types, equal representations. An operation says what it [wants](Wanted) of an operand, and
//! [`Repr::convert_to`] is the one table that says how it gets that. It has no checks: taking a number out of an object may fail, so it
//! is an op of HIR that has a frame state (`unbox_int`), never a conversion. What the table does not have is a fault of the compiler's,
//! which refuses the function.

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

/// How a value is represented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repr {
    /// No object.
    Null,
    /// A pointer to an object (or null where the type allows it).
    Object,
    /// A 64-bit integer: the value named.
    Int(Value),
    /// A double.
    Double(Value),
    /// A truth value.
    Bool(Value),
    /// A 64-bit integer if the second value holds, else no object.
    IntIf(Value, Value),
    /// A double if the second value holds, else no object.
    DoubleIf(Value, Value),
    /// An object that only an exit makes.
    Virtual,
    /// The object of the value named, of which an exit takes a reference.
    Borrowed(Value),
}

/// What an operation wants of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// A pointer to the object (null if there is none). A box is made for that: a new reference, which is passed on or dropped after
    /// the operation.
    Object,
    /// The raw value.
    Raw(RawKind),
}

/// How a value becomes what is wanted of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Conversion {
    /// It is that.
    Nothing,
    /// The raw value is at hand.
    Raw(Value),
    /// The object is another value's.
    Of(Value),
    /// A null pointer.
    Null,
    /// An object is made of a raw value by this intrinsic.
    Box(&'static str, Value),
    /// The same if the second value holds, else a null pointer.
    BoxIf(&'static str, Value, Value),
}

impl Repr {
    /// How `v` is represented.
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

    /// How `v` is represented if nothing but its type says so.
    fn of_type(v: Value, ty: Type) -> Repr {
        match ty {
            t if t.is_bottom() => Repr::Object,
            t if t <= Type::CINT64 => Repr::Int(v),
            t if t <= Type::CDOUBLE => Repr::Double(v),
            t if t <= Type::CBOOL => Repr::Bool(v),
            _ => Repr::Object,
        }
    }

    /// The low-level type of a value that is defined in this representation, and of the parameter of a block.
    pub fn low_level(self) -> Ty {
        match self {
            Repr::Int(_) => Ty::I64,
            Repr::Double(_) => Ty::F64,
            Repr::Bool(_) => Ty::Bool,
            _ => Ty::Ptr,
        }
    }

    /// Whether the value is raw.
    pub fn is_raw(self) -> bool {
        !matches!(
            self,
            Repr::Null | Repr::Object | Repr::Virtual | Repr::Borrowed(_)
        )
    }

    /// Whether there is a value that is in no local's slot: there is no object, or the local has no reference.
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

    /// How a value that is represented so becomes what is wanted; none if it can't, or not without a check.
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
            // No pass may have left a use of its object.
            (Wanted::Object, Repr::Virtual) => return None,
        })
    }
}

impl Wanted {
    /// What an operation wants whose operand has this low-level type.
    pub fn of(ty: Ty) -> Wanted {
        match ty {
            Ty::I64 => Wanted::Raw(RawKind::Int),
            Ty::F64 => Wanted::Raw(RawKind::Float),
            Ty::Bool => Wanted::Raw(RawKind::Bool),
            Ty::Ptr => Wanted::Object,
        }
    }

    /// The low-level type of what is wanted.
    fn low_level(self) -> Ty {
        match self {
            Wanted::Object => Ty::Ptr,
            Wanted::Raw(kind) => raw_type(kind),
        }
    }
}

impl Lower<'_> {
    /// How `v` is represented. Each frame state asks it of all that it names.
    pub(super) fn repr(&self, v: Value) -> Repr {
        let known = &self.reprs[v.index()];
        known.get().unwrap_or_else(|| {
            let repr = Repr::of(self.f, v);
            known.set(Some(repr));
            repr
        })
    }

    /// `v` as it is wanted; the second part says whether an object was made of it, which is a new reference.
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

    /// What stands for a value that can't be what is wanted of it. Nothing is known of what no path gives; of anything else it is a
    /// fault that nobody has looked.
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

    /// The pointer of an object; the second part says whether it was made here (a new reference).
    pub(super) fn object(&mut self, v: Value) -> (lir::Value, bool) {
        self.convert(v, Wanted::Object)
    }

    /// The pointer of an object whose reference is passed on: a box is made, anything else is owned already.
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

    /// The pointer of an object that is there.
    fn pointer(&mut self, v: Value) -> lir::Value {
        let v = self.f.object_of(v);
        match self.f.op(v) {
            Op::Const(object) => self.b.pconst(super::address(*object)),
            _ => self.defined(v),
        }
    }

    /// What the instruction `v` has given.
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
