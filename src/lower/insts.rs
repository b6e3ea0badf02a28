//! Instructions: primitive ops as LIR, accesses through the host's intrinsics.

use super::intervals::Overflow;
use super::{Lower, Repr};
use crate::hir::{Cmp, Op, Value};
use crate::host::{IntrinsicCall, names};
use crate::lir::{self, FloatCond, IntCond, Opcode};
use crate::ll::{Ty, Width};
use crate::types::Type;

/// Integers up to this size are doubles without loss.
const EXACT_DOUBLE: i64 = 1 << 53;

impl Lower<'_> {
    pub(super) fn inst(&mut self, v: Value) {
        let inst = self.f.inst(v);
        let args = inst.args.clone();
        let arg = |i: usize| args[i];
        let result = match inst.op.clone() {
            Op::Param | Op::Arg(_) | Op::Const(_) | Op::Null => return,
            // With the end of its block.
            Op::Yield(_) => return,
            Op::ResumePoint => self.resumed().point,
            Op::Sent => self.resumed().sent,
            Op::ConstInt(_) | Op::ConstDouble(_) | Op::ConstBool(_) => return,
            Op::BoxInt
            | Op::BoxFloat
            | Op::BoxBool
            | Op::BoxIntIf
            | Op::BoxFloatIf
            | Op::VirtualTuple
            | Op::VirtualRangeIter
            | Op::VirtualSeqIter
            | Op::Borrowed
            | Op::RangeAt(_)
            | Op::Refine(_) => return,
            Op::LoadSlot(k) => {
                if (k as usize) < self.locals.len() {
                    self.locals[k as usize] = v;
                }
                self.b.load(Width::Ptr, self.frame, self.slot_offset(k))
            }
            Op::StoreSlot(_) | Op::Incref | Op::Decref if self.closed.is_some() => return,
            Op::StoreSlot(k) => return self.store_slot(k, arg(0)),
            Op::Incref => return self.incref(arg(0)),
            Op::Decref => return self.decref(v, arg(0)),
            Op::DropShared => return self.drop_shared(v, arg(0)),

            Op::GuardType(ty) => return self.guard_type(v, arg(0), ty),
            Op::CheckClasses(types) => {
                let ok = self.is_class(arg(0), &types);
                return self.guard(v, ok);
            }
            Op::IsClass(types) => self.is_class(arg(0), &types),
            Op::GuardIs(object) => {
                let (p, _) = self.object(arg(0));
                let want = self.b.pconst(object.token());
                let ok = self.b.icmp(IntCond::Eq, p, want);
                return self.guard(v, ok);
            }
            Op::GuardBound => {
                if let Repr::IntIf(_, bound) | Repr::DoubleIf(_, bound) = self.repr(arg(0)) {
                    let ok = self.raw(bound);
                    return self.guard(v, ok);
                }
                if self.repr(arg(0)).is_raw() {
                    return;
                }
                let (p, _) = self.object(arg(0));
                let null = self.b.is_null(p);
                let ok = self.b.op(Opcode::Bnot, &[null]);
                return self.guard(v, ok);
            }
            Op::GuardTrue(_) => {
                let ok = self.raw(arg(0));
                return self.guard(v, ok);
            }
            Op::CheckValid => {
                let ok = self.still_valid();
                return self.guard(v, ok);
            }
            Op::CheckPending => {
                let pc = inst.pc;
                if self.f.is_back_edge(pc) {
                    self.count_iteration();
                }
                let exit = self.guard_exit(v);
                return self.check_pending(v, exit);
            }

            Op::CheckQuiet => {
                self.count_iteration();
                let cell = self.b.pconst(self.parts.pending_cell);
                let quiet = self.intrinsic(names::NOTHING_PENDING, &[self.thread, cell])[0];
                return self.guard(v, quiet);
            }
            Op::Count(word) => return self.count_at(word),
            Op::NameGet(name) => self.name_get(v, name),
            Op::NameGetRaw(name, class) => self.name_get_raw(v, name, class),
            Op::NameSet(name) => self.name_set(v, name, arg(0)),

            Op::UnboxInt => self.fallible(v, names::INT_UNBOX, arg(0)),
            Op::UnboxFloat => self.unbox(names::FLOAT_UNBOX, arg(0)),
            Op::UnboxBool => self.unbox(names::BOOL_UNBOX, arg(0)),
            Op::UnboxNumber => self.unbox_number(v, arg(0), arg(1)),

            Op::IntAdd => self.overflowing(v, Opcode::IaddOvf),
            Op::IntStep => self.plain(v, Opcode::Iadd),
            Op::IntSub => self.overflowing(v, Opcode::IsubOvf),
            Op::IntMul => self.overflowing(v, Opcode::ImulOvf),
            Op::IntNeg if self.intervals.at(self.f, arg(0)).low > i64::MIN => {
                self.plain(v, Opcode::Ineg)
            }
            Op::IntNeg => {
                let (zero, a) = (self.b.iconst(0), self.raw(arg(0)));
                let (r, o) = self.b.op2(Opcode::IsubOvf, zero, a);
                let ok = self.b.op(Opcode::Bnot, &[o]);
                self.guard(v, ok);
                r
            }
            Op::IntFloorDiv => self.divide(v, true),
            Op::IntMod => self.divide(v, false),
            Op::IntTrueDiv => {
                let (a, b) = (self.raw(arg(0)), self.raw(arg(1)));
                let ok = self.b.icmp_imm(IntCond::Ne, b, 0);
                let (x, y) = (self.fits_double(a), self.fits_double(b));
                let both = self.b.op(Opcode::Band, &[x, y]);
                let ok = self.b.op(Opcode::Band, &[ok, both]);
                self.guard(v, ok);
                let (a, b) = (self.b.op(Opcode::I2f, &[a]), self.b.op(Opcode::I2f, &[b]));
                self.b.op(Opcode::Fdiv, &[a, b])
            }
            Op::IntAnd => self.plain(v, Opcode::Iand),
            Op::IntOr => self.plain(v, Opcode::Ior),
            Op::IntXor => self.plain(v, Opcode::Ixor),
            Op::IntShl => {
                let (a, n) = (self.raw(arg(0)), self.raw(arg(1)));
                let small = self.b.icmp_imm(IntCond::Ult, n, 63);
                let exit = self.guard_exit(v);
                self.b.guard(small, exit);
                let r = self.b.op(Opcode::Ishl, &[a, n]);
                let back = self.b.op(Opcode::Isshr, &[r, n]);
                let ok = self.b.icmp(IntCond::Eq, back, a);
                self.b.guard(ok, exit);
                r
            }
            Op::IntShr => {
                let (a, n) = (self.raw(arg(0)), self.raw(arg(1)));
                let ok = self.b.icmp_imm(IntCond::Sge, n, 0);
                self.guard(v, ok);
                let most = self.b.iconst(63);
                let small = self.b.icmp(IntCond::Slt, n, most);
                let n = self.b.select(small, n, most);
                self.b.op(Opcode::Isshr, &[a, n])
            }
            Op::IntInvert => self.plain(v, Opcode::Inot),
            Op::IntCmp(c) => {
                let (a, b) = (self.raw(arg(0)), self.raw(arg(1)));
                self.b.icmp(int_cond(c), a, b)
            }
            Op::IntToDouble => self.plain(v, Opcode::I2f),
            Op::IntToDoubleExact => {
                let a = self.raw(arg(0));
                let ok = self.fits_double(a);
                self.guard(v, ok);
                self.b.op(Opcode::I2f, &[a])
            }
            Op::BoolToInt => self.plain(v, Opcode::B2i),

            Op::FloatAdd => self.plain(v, Opcode::Fadd),
            Op::FloatSub => self.plain(v, Opcode::Fsub),
            Op::FloatMul => self.plain(v, Opcode::Fmul),
            Op::FloatNeg => self.plain(v, Opcode::Fneg),
            Op::FloatAbs => self.plain(v, Opcode::Fabs),
            Op::FloatDiv => {
                self.nonzero(v, arg(1));
                self.plain(v, Opcode::Fdiv)
            }
            Op::FloatFloorDiv => {
                self.nonzero(v, arg(1));
                self.math(v, "float_floordiv")
            }
            Op::FloatMod => {
                self.nonzero(v, arg(1));
                self.math(v, "float_mod")
            }
            Op::FloatPow => {
                let a = self.raw(arg(0));
                let zero = self.b.fconst(0.0);
                let ok = self.b.fcmp(FloatCond::Gt, a, zero);
                let exit = self.guard_exit(v);
                self.b.guard(ok, exit);
                let r = self.math(v, "float_pow");
                // A finite result minus itself is zero; nothing else is.
                let d = self.b.op(Opcode::Fsub, &[r, r]);
                let ok = self.b.fcmp(FloatCond::Eq, d, zero);
                self.b.guard(ok, exit);
                r
            }
            Op::FloatSqrt => {
                let a = self.raw(arg(0));
                let zero = self.b.fconst(0.0);
                let ok = self.b.fcmp(FloatCond::Ge, a, zero);
                self.guard(v, ok);
                self.b.op(Opcode::Fsqrt, &[a])
            }
            Op::FloatToInt => {
                let a = self.raw(arg(0));
                let limit = self.b.fconst(4.0e18);
                let size = self.b.op(Opcode::Fabs, &[a]);
                let ok = self.b.fcmp(FloatCond::Lt, size, limit);
                self.guard(v, ok);
                self.b.op(Opcode::F2i, &[a])
            }
            Op::FloatCmp(c) => {
                let (a, b) = (self.raw(arg(0)), self.raw(arg(1)));
                self.b.fcmp(float_cond(c), a, b)
            }
            Op::BoolNot => self.plain(v, Opcode::Bnot),

            Op::Is => {
                let ((a, fresh_a), (b, fresh_b)) = (self.object(arg(0)), self.object(arg(1)));
                let r = self.b.icmp(IntCond::Eq, a, b);
                if fresh_a {
                    self.drop_fresh(arg(0), a);
                }
                if fresh_b {
                    self.drop_fresh(arg(1), b);
                }
                r
            }
            Op::IsNull => match self.repr(arg(0)) {
                Repr::Object => {
                    let (p, _) = self.object(arg(0));
                    self.b.is_null(p)
                }
                Repr::IntIf(_, bound) | Repr::DoubleIf(_, bound) => {
                    let bound = self.raw(bound);
                    self.b.op(Opcode::Bnot, &[bound])
                }
                r => self.b.bconst(r == Repr::Null),
            },
            Op::IsNone => match self.repr(arg(0)) {
                Repr::Object => {
                    let (p, _) = self.object(arg(0));
                    let none = self.b.pconst(self.host.none);
                    self.b.icmp(IntCond::Eq, p, none)
                }
                _ => self.b.bconst(false),
            },

            Op::ListLen => self.access(names::LIST_LEN, &[arg(0)]),
            Op::TupleLen => self.access(names::TUPLE_LEN, &[arg(0)]),
            Op::Index => self.index(v, arg(0), arg(1)),
            Op::ListGet => self.access(names::LIST_GET, &[arg(0), arg(1)]),
            Op::TupleGet => self.access(names::TUPLE_GET, &[arg(0), arg(1)]),
            Op::ListSet => self.access(names::LIST_SET, &[arg(0), arg(1), arg(2)]),
            Op::ListAppend => {
                let exit = self.guard_exit(v);
                let (list, item) = (self.object(arg(0)).0, self.moved(arg(1)));
                let id = self.host.intrinsic(names::LIST_APPEND);
                self.perform(id, &[list, item], Some(exit));
                return;
            }
            Op::RawLen(call) | Op::RawGet(call) => {
                let args: Vec<_> = (0..inst.args.len()).map(|i| self.operand(arg(i))).collect();
                self.host_call(&call, args, None).expect("a number")
            }
            Op::RawSet(call) => {
                let args = (0..3).map(|i| self.operand(arg(i))).collect();
                let exit = self.guard_exit(v);
                self.host_call(&call, args, Some(exit));
                return;
            }
            Op::CellGet => self.access(names::CELL_GET, &[arg(0)]),
            Op::CellSet => self.access(names::CELL_SET, &[arg(0), arg(1)]),
            Op::RangeNext => {
                let (iter, _) = self.object(arg(0));
                let r = self.intrinsic(names::RANGE_NEXT, &[iter]);
                self.outputs.insert(v, vec![r[0]]);
                r[1]
            }
            Op::RangeStart => self.access(names::RANGE_START, &[arg(0)]),
            Op::RangeStep => self.access(names::RANGE_STEP, &[arg(0)]),
            Op::RangeLeft => self.access(names::RANGE_LEFT, &[arg(0)]),
            Op::IterMore if self.f.ty(arg(0)) <= Type::LIST_ITER => {
                self.access(names::LIST_ITER_MORE, &[arg(0)])
            }
            Op::IterMore => self.access(names::TUPLE_ITER_MORE, &[arg(0)]),
            Op::ListIterNext => self.access(names::LIST_ITER_NEXT, &[arg(0)]),
            Op::TupleIterNext => self.access(names::TUPLE_ITER_NEXT, &[arg(0)]),
            Op::Output(n) => {
                let of = self.f.resolve(arg(0));
                self.outputs[&of][n as usize]
            }
            Op::Check(call) => {
                self.host_access(v, &call, &[arg(0)]);
                return;
            }
            Op::CheckThread(call) => {
                let thread = self.thread;
                let exit = self.guard_exit(v);
                self.host_call(&call, vec![thread], Some(exit));
                return;
            }
            Op::New(call) => {
                let exit = self.guard_exit(v);
                let made = self.host_call(&call, Vec::new(), Some(exit));
                let made = made.expect("an instance is made");
                self.reference(made)
            }
            Op::Load(call) => self
                .host_access(v, &call, &[arg(0)])
                .expect("a load gives a value"),
            Op::Store(call) | Op::StoreQuiet(call) => self
                .host_access(v, &call, &[arg(0), arg(1)])
                .expect("a store gives the old value"),

            Op::ClassOf => {
                let (object, made) = self.object(arg(0));
                let class = self.intrinsic(names::CLASS_OF, &[object])[0];
                if made {
                    self.drop_fresh(arg(0), object);
                }
                class
            }
            Op::NumberOf(call) => {
                let (object, made) = self.object(arg(0));
                let number = self.host_call(&call, vec![object], None);
                if made {
                    self.drop_fresh(arg(0), object);
                }
                number.expect("a number")
            }

            Op::General(op, imms) => return self.general(v, op, imms),
            Op::CallNative(call) => return self.call_native(v, &call),
            Op::CallDirect(cell) => return self.call_direct(v, cell),
            Op::CallRaw(entry, consumed) => self.call_raw(v, &entry, consumed),
        };
        if self.b.func.values[result] == Ty::Ptr {
            self.reference(result);
        }
        self.values.insert(v, result);
    }

    fn store_slot(&mut self, k: u32, new: Value) {
        let old = std::mem::replace(&mut self.locals[k as usize], new);
        let offset = self.slot_offset(k);
        match self.repr(new) {
            Repr::Object => {
                let p = self.object(new).0;
                self.b.store(Width::Ptr, self.frame, offset, p);
            }
            _ if self.repr(old) == Repr::Object => {
                let null = self.b.pconst(0);
                self.b.store(Width::Ptr, self.frame, offset, null);
            }
            _ => {}
        }
    }

    fn guard_type(&mut self, v: Value, a: Value, want: Type) {
        if let Repr::IntIf(_, bound) | Repr::DoubleIf(_, bound) = self.repr(a) {
            let ok = self.raw(bound);
            return self.guard(v, ok);
        }
        if self.repr(a).is_raw() {
            // A box of the class is what it says; one of another class always leaves.
            if !self.f.ty(a).could_be(want) {
                let never = self.b.bconst(false);
                self.guard(v, never);
            }
            return;
        }
        let (p, _) = self.object(a);
        let exit = self.guard_exit(v);
        if !(self.f.ty(a) <= Type::OBJECT) {
            let null = self.b.is_null(p);
            let go = self.b.block();
            self.b.br(null, exit, &[], go, &[]);
            self.b.switch_to(go);
        }
        let ok = if want <= Type::NONE_TYPE {
            let none = self.b.pconst(self.host.none);
            self.b.icmp(IntCond::Eq, p, none)
        } else {
            let class = self.class_token(want);
            let found = self.intrinsic(names::CLASS_OF, &[p])[0];
            let class = self.b.pconst(class);
            self.b.icmp(IntCond::Eq, found, class)
        };
        self.b.guard(ok, exit);
    }

    /// The address of the one class of a type.
    pub(super) fn class_token(&self, ty: Type) -> u64 {
        ty.runtime_class()
            .or_else(|| ty.unique_class_in(self.host.id))
            .unwrap_or_else(|| panic!("a guard on {ty}, which is not one class"))
            .token()
    }

    /// Whether the class of `a` (an object that is there) is one of these.
    pub(super) fn is_class(&mut self, a: Value, types: &[Type]) -> lir::Value {
        if self.repr(a).is_raw() {
            return self.b.bconst(false);
        }
        let (p, _) = self.object(a);
        if types == [Type::NONE_TYPE] {
            let none = self.b.pconst(self.host.none);
            return self.b.icmp(IntCond::Eq, p, none);
        }
        let found = self.intrinsic(names::CLASS_OF, &[p])[0];
        let tests: Vec<lir::Value> = types
            .iter()
            .map(|ty| {
                let class = ty
                    .runtime_class()
                    .or_else(|| ty.unique_class_in(self.host.id))
                    .unwrap_or_else(|| panic!("a test for {ty}, which is not one class"));
                let class = self.b.pconst(class.token());
                self.b.icmp(IntCond::Eq, found, class)
            })
            .collect();
        tests
            .into_iter()
            .reduce(|a, b| self.b.op(Opcode::Bor, &[a, b]))
            .expect("a test for some class")
    }

    fn fits_double(&mut self, a: lir::Value) -> lir::Value {
        let limit = self.b.iconst(EXACT_DOUBLE);
        let up = self.b.op(Opcode::Iadd, &[a, limit]);
        self.b.icmp_imm(IntCond::Ule, up, 2 * EXACT_DOUBLE)
    }

    fn nonzero(&mut self, v: Value, b: Value) {
        if let Op::ConstDouble(bits) = self.f.op(b)
            && f64::from_bits(*bits) != 0.0
        {
            return;
        }
        let b = self.raw(b);
        let zero = self.b.fconst(0.0);
        let ok = self.b.fcmp(FloatCond::Ne, b, zero);
        self.guard(v, ok);
    }

    fn raw_operands(&mut self, v: Value) -> Vec<lir::Value> {
        let args = self.f.inst(v).args.clone();
        args.into_iter().map(|a| self.raw(a)).collect()
    }

    fn plain(&mut self, v: Value, op: Opcode) -> lir::Value {
        let args = self.raw_operands(v);
        self.b.op(op, &args)
    }

    fn math(&mut self, v: Value, helper: &'static str) -> lir::Value {
        let args = self.raw_operands(v);
        let helper = self.host.helper(helper);
        self.b.call(helper, &args, &[Ty::F64])[0]
    }

    /// An operation that leaves if it overflows. A comparison that tells as much needs no flag in a register.
    fn overflowing(&mut self, v: Value, op: Opcode) -> lir::Value {
        let [at_a, at_b] = [0, 1].map(|i| self.intervals.at(self.f, self.f.arg(v, i)));
        let (plain, overflow) = match op {
            Opcode::IaddOvf => (Opcode::Iadd, Overflow::of_sum(at_a, at_b)),
            Opcode::IsubOvf => (Opcode::Isub, Overflow::of_difference(at_a, at_b)),
            _ => (Opcode::Imul, Overflow::of_product(at_a, at_b)),
        };
        let (mut a, mut b) = (self.raw(self.f.arg(v, 0)), self.raw(self.f.arg(v, 1)));
        if self.planted && op == Opcode::IsubOvf {
            std::mem::swap(&mut a, &mut b);
        }
        let (r, o) = match overflow {
            Overflow::Flag => self.b.op2(op, a, b),
            Overflow::Never => return self.b.op(plain, &[a, b]),
            Overflow::Negative => {
                let r = self.b.op(plain, &[a, b]);
                (r, self.b.icmp_imm(IntCond::Slt, r, 0))
            }
            Overflow::Less => {
                let r = self.b.op(plain, &[a, b]);
                (r, self.b.icmp(IntCond::Slt, r, a))
            }
            Overflow::Greater => {
                let r = self.b.op(plain, &[a, b]);
                (r, self.b.icmp(IntCond::Sgt, r, a))
            }
        };
        let exit = self.guard_exit(v);
        let go = self.b.block();
        self.b.br(o, exit, &[], go, &[]);
        self.b.switch_to(go);
        r
    }

    /// The offset of a Python index. Most count from the front; an unsigned comparison with the length tells which of them are in
    /// range, and those from the end are looked at where it fails.
    fn index(&mut self, v: Value, index: Value, len: Value) -> lir::Value {
        let from_end = matches!(self.f.op(index), Op::ConstInt(n) if *n < 0);
        let (i, len) = (self.raw(index), self.raw(len));
        let exit = self.guard_exit(v);
        if from_end || self.is_natural(index) {
            let offset = match from_end {
                true => self.b.op(Opcode::Iadd, &[i, len]),
                false => i,
            };
            let ok = self.b.icmp(IntCond::Ult, offset, len);
            self.b.guard(ok, exit);
            return offset;
        }
        let (from_end, go) = (self.b.cold_block(), self.b.block());
        let offset = self.b.param(go, Ty::I64);
        let ok = self.b.icmp(IntCond::Ult, i, len);
        self.b.br(ok, go, &[i], from_end, &[]);
        self.b.switch_to(from_end);
        // What is not below zero becomes no smaller than the length.
        let wrapped = self.b.op(Opcode::Iadd, &[i, len]);
        let ok = self.b.icmp(IntCond::Ult, wrapped, len);
        self.b.br(ok, go, &[wrapped], exit, &[]);
        self.b.switch_to(go);
        offset
    }

    /// Whether an integer is surely not negative.
    fn is_natural(&self, v: Value) -> bool {
        self.intervals.at(self.f, v).is_natural()
    }

    /// Python's floor division or remainder: rounded down, the remainder with the divisor's sign.
    fn divide(&mut self, v: Value, quotient: bool) -> lir::Value {
        let (a, b) = (self.f.arg(v, 0), self.f.arg(v, 1));
        let constant = match self.f.op(b) {
            Op::ConstInt(n) if *n > 0 => Some(*n),
            _ => None,
        };
        let (a, b) = (self.raw(a), self.raw(b));
        if constant.is_none() {
            // Zero raises; with -1 the smallest integer overflows (and -1 is rare).
            let exit = self.guard_exit(v);
            let zero = self.b.icmp_imm(IntCond::Ne, b, 0);
            self.b.guard(zero, exit);
            let minus = self.b.icmp_imm(IntCond::Ne, b, -1);
            self.b.guard(minus, exit);
        }
        if let Some(n) = constant
            && n & (n - 1) == 0
        {
            return if quotient {
                let shift = self.b.iconst(n.trailing_zeros() as i64);
                self.b.op(Opcode::Isshr, &[a, shift])
            } else {
                let mask = self.b.iconst(n - 1);
                self.b.op(Opcode::Iand, &[a, mask])
            };
        }
        if let Some(n) = constant {
            let is_natural = self.is_natural(self.f.arg(v, 0));
            return self.divide_by_constant(a, n, quotient, is_natural);
        }
        let q = self.b.op(Opcode::Sdiv, &[a, b]);
        let product = self.b.op(Opcode::Imul, &[q, b]);
        let r = self.b.op(Opcode::Isub, &[a, product]);
        let inexact = self.b.icmp_imm(IntCond::Ne, r, 0);
        let signs = self.b.op(Opcode::Ixor, &[r, b]);
        let differ = self.b.icmp_imm(IntCond::Slt, signs, 0);
        let adjust = self.b.op(Opcode::Band, &[inexact, differ]);
        if quotient {
            let one = self.b.op(Opcode::B2i, &[adjust]);
            self.b.op(Opcode::Isub, &[q, one])
        } else {
            let moved = self.b.op(Opcode::Iadd, &[r, b]);
            self.b.select(adjust, moved, r)
        }
    }

    /// Floor division or remainder by a number above 1 that is no power of two, with a multiplication (Granlund and Montgomery 1994).
    ///
    /// A negative dividend is complemented, which gives the numerator of the complemented quotient: of 63 bits, unsigned.
    fn divide_by_constant(
        &mut self,
        a: lir::Value,
        n: i64,
        quotient: bool,
        is_natural: bool,
    ) -> lir::Value {
        let (factor, shift) = reciprocal(n);
        let factor = self.b.iconst(factor.cast_signed());
        let shift = self.b.iconst(i64::from(shift));
        let q = if is_natural {
            let high = self.b.op(Opcode::Umulhi, &[a, factor]);
            self.b.op(Opcode::Iushr, &[high, shift])
        } else {
            let most = self.b.iconst(63);
            let sign = self.b.op(Opcode::Isshr, &[a, most]);
            let numerator = self.b.op(Opcode::Ixor, &[a, sign]);
            let high = self.b.op(Opcode::Umulhi, &[numerator, factor]);
            let q = self.b.op(Opcode::Iushr, &[high, shift]);
            self.b.op(Opcode::Ixor, &[q, sign])
        };
        if quotient {
            return q;
        }
        let n = self.b.iconst(n);
        let product = self.b.op(Opcode::Imul, &[q, n]);
        self.b.op(Opcode::Isub, &[a, product])
    }

    fn unbox(&mut self, name: &str, a: Value) -> lir::Value {
        let float = name == names::FLOAT_UNBOX;
        match self.repr(a) {
            Repr::Double(raw) | Repr::DoubleIf(raw, _) if float => self.raw(raw),
            Repr::Bool(raw) if !float => self.raw(raw),
            // A raw value of another class: a guard before this has left for sure.
            other if other.is_raw() && float => self.b.fconst(0.0),
            other if other.is_raw() => self.b.bconst(false),
            _ => {
                let (p, _) = self.object(a);
                self.intrinsic(name, &[p])[0]
            }
        }
    }

    /// A float's value, or an int's where `other` is a float or the int itself.
    fn unbox_number(&mut self, v: Value, a: Value, other: Value) -> lir::Value {
        if self.f.ty(a) <= Type::FLOAT_EXACT {
            return self.unbox(names::FLOAT_UNBOX, a);
        }
        let exit = self.guard_exit(v);
        let (done, int) = (self.b.block(), self.b.block());
        let result = self.b.param(done, Ty::F64);
        let is_raw_int = matches!(self.repr(a), Repr::Int(_) | Repr::IntIf(..));
        if self.repr(a).is_raw() {
            let ok = self.b.bconst(is_raw_int);
            self.b.br(ok, int, &[], exit, &[]);
        } else {
            let is_float = self.is_class(a, &[Type::FLOAT_EXACT]);
            let float = self.b.block();
            self.b.br(is_float, float, &[], int, &[]);
            self.b.switch_to(float);
            let x = self.unbox(names::FLOAT_UNBOX, a);
            self.b.jump(done, &[x]);
        }
        self.b.switch_to(int);
        if !is_raw_int {
            let is_int = self.is_class(a, &[Type::LONG_EXACT]);
            self.b.guard(is_int, exit);
        }
        if other != a && !(self.f.ty(other) <= Type::FLOAT_EXACT) {
            let is_float = self.is_class(other, &[Type::FLOAT_EXACT]);
            self.b.guard(is_float, exit);
        }
        let n = self.fallible(v, names::INT_UNBOX, a);
        let fits = self.fits_double(n);
        self.b.guard(fits, exit);
        let x = self.b.op(Opcode::I2f, &[n]);
        self.b.jump(done, &[x]);
        self.b.switch_to(done);
        result
    }

    fn fallible(&mut self, v: Value, name: &str, a: Value) -> lir::Value {
        if let Repr::Int(raw) | Repr::IntIf(raw, _) = self.repr(a) {
            return self.raw(raw);
        }
        let (p, _) = self.object(a);
        let exit = self.guard_exit(v);
        let id = self.host.intrinsic(name);
        self.perform(id, &[p], Some(exit))[0]
    }

    /// A standard access: objects as pointers (a stored object is passed on), C values raw.
    fn access(&mut self, name: &str, args: &[Value]) -> lir::Value {
        let args: Vec<lir::Value> = args.iter().map(|&a| self.operand(a)).collect();
        self.intrinsic(name, &args)[0]
    }

    /// An operand as an intrinsic takes it: raw if it is a raw value.
    fn operand(&mut self, a: Value) -> lir::Value {
        if self.f.ty(a) <= Type::PRIMITIVE && !(self.f.ty(a) <= Type::NULLPTR) {
            self.raw(a)
        } else {
            self.moved(a)
        }
    }

    fn host_access(
        &mut self,
        v: Value,
        call: &IntrinsicCall,
        objects: &[Value],
    ) -> Option<lir::Value> {
        let mut exit = self.guard_exit(v);
        let args: Vec<lir::Value> = objects.iter().map(|&a| self.moved(a)).collect();
        if objects.iter().any(|&a| self.repr(a) != Repr::Object) {
            // The frame state has the number itself: nobody else knows of the box.
            let (here, failed) = (self.b.current(), self.b.cold_block());
            self.b.switch_to(failed);
            for (&object, &p) in objects.iter().zip(&args) {
                self.drop_fresh(object, p);
            }
            self.b.jump(exit, &[]);
            self.b.switch_to(here);
            exit = failed;
        }
        self.host_call(call, args, Some(exit))
    }

    /// Inline an intrinsic of the host's plans, its immediates behind the operands.
    pub(super) fn host_call(
        &mut self,
        call: &IntrinsicCall,
        mut args: Vec<lir::Value>,
        exit: Option<lir::Block>,
    ) -> Option<lir::Value> {
        args.extend(call.imms.iter().map(|&n| self.b.iconst(n)));
        self.perform(call.id, &args, exit).first().copied()
    }
}

/// A factor and a shift: for every `x` below 2^63, `x / n` is the upper half of `x * factor`, shifted right. `n` is above 1.
fn reciprocal(n: i64) -> (u64, u32) {
    // 2^(63 + bits) lies above the factor times n by no more than 2^bits, which is at least n; so the error stays below 1 / n.
    let bits = 64 - (n - 1).leading_zeros();
    let power = 1u128 << (63 + bits);
    let factor = power / n as u128 + 1;
    (factor as u64, bits - 1)
}

fn int_cond(c: Cmp) -> IntCond {
    match c {
        Cmp::Lt => IntCond::Slt,
        Cmp::Le => IntCond::Sle,
        Cmp::Eq => IntCond::Eq,
        Cmp::Ne => IntCond::Ne,
        Cmp::Gt => IntCond::Sgt,
        Cmp::Ge => IntCond::Sge,
    }
}

fn float_cond(c: Cmp) -> FloatCond {
    match c {
        Cmp::Lt => FloatCond::Lt,
        Cmp::Le => FloatCond::Le,
        Cmp::Eq => FloatCond::Eq,
        Cmp::Ne => FloatCond::Ne,
        Cmp::Gt => FloatCond::Gt,
        Cmp::Ge => FloatCond::Ge,
    }
}

#[cfg(test)]
mod tests {
    use super::reciprocal;

    #[test]
    fn multiplying_by_a_reciprocal_divides_all_that_it_is_for() {
        let edges = |n: u64| {
            let near = |m: u64| [m.wrapping_sub(1), m, m + 1];
            let most = i64::MAX as u64;
            let multiples = [0, n, 2 * n.min(most / 2), most / n * n, most - n];
            multiples
                .into_iter()
                .flat_map(near)
                .chain([most, 1 << 62, (1 << 62) - 1])
        };
        let divisors = (3..2000).chain((2..62).flat_map(|k| [(1i64 << k) - 1, (1 << k) + 1]));
        for n in divisors.chain([i64::MAX, i64::MAX - 1, 10_i64.pow(9) + 7]) {
            let (factor, shift) = reciprocal(n);
            for x in edges(n as u64).filter(|x| *x <= i64::MAX as u64) {
                let high = (u128::from(x) * u128::from(factor)) >> 64;
                assert_eq!(high as u64 >> shift, x / n as u64, "{x} / {n}");
            }
        }
    }
}
