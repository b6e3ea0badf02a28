//! Instructions: each LIR op as Cranelift instructions.

use super::CodegenError;
use super::emit::Emitter;
use crate::lir::{FloatCond, Imm, Inst, IntCond, Opcode};
use crate::ll::Width;
use cranelift_codegen::ir::condcodes::{CondCode, FloatCC, IntCC};
use cranelift_codegen::ir::immediates::Ieee64;
use cranelift_codegen::ir::{self, InstBuilder, InstructionData, MemFlagsData, types};

impl Emitter<'_> {
    /// Translates one instruction.
    pub(super) fn inst(&mut self, inst: &Inst) -> Result<(), CodegenError> {
        let args = self.values(&inst.args)?;
        let result = match (inst.op, inst.imm, &args[..]) {
            (Opcode::Iconst, Imm::Int(n), []) => self.cursor.ins().iconst(types::I64, n),
            (Opcode::Bconst, Imm::Int(n), []) => self.cursor.ins().iconst(types::I8, n & 1),
            (Opcode::Fconst, Imm::Float(bits), []) => {
                self.cursor.ins().f64const(Ieee64::with_bits(bits))
            }
            (Opcode::Pconst, Imm::Addr(address), []) => self.address(address),
            (Opcode::Sp, _, []) => self.cursor.ins().get_stack_pointer(types::I64),
            (Opcode::StackAddr, Imm::Int(number), []) => {
                let slot = self.slot(number)?;
                self.slot_address(inst.results.first(), number);
                self.cursor.ins().stack_addr(types::I64, slot, 0)
            }
            (Opcode::Icmp, Imm::IntCond(cond), &[a, b]) => {
                self.cursor.ins().icmp(int_cc(cond), a, b)
            }
            (Opcode::Fcmp, Imm::FloatCond(cond), &[a, b]) => {
                self.cursor.ins().fcmp(float_cc(cond), a, b)
            }
            (Opcode::Load, Imm::Mem { width, offset }, &[p]) => self.load(width, p, offset),
            (Opcode::Store, Imm::Mem { width, offset }, &[p, value]) => {
                self.store(width, p, offset, value);
                return Ok(());
            }
            (Opcode::Call, Imm::Helper(id), args) => {
                if self.call_guarded(id, inst, args)? {
                    return Ok(());
                }
                let helper = self.helper(id)?;
                let may_collect = self.input.helpers[id].may_collect();
                if may_collect {
                    self.leave_mark()?;
                }
                let call = self.cursor.ins().call(helper, args);
                if may_collect {
                    self.collects(call, &inst.args);
                }
                return self.define_results(inst, call);
            }
            (Opcode::CallRoutine, Imm::Routine(id), args) => {
                let routine = self.routine(id)?;
                self.leave_mark()?;
                let call = self.cursor.ins().call(routine, args);
                self.collects(call, &inst.args);
                return self.define_results(inst, call);
            }
            (Opcode::CallIndirect, Imm::Sig(id), &[callee, ref args @ ..]) => {
                let sig = self.sig(id)?;
                self.leave_mark()?;
                let call = self.cursor.ins().call_indirect(sig, callee, args);
                self.collects(call, &inst.args);
                return self.define_results(inst, call);
            }
            (Opcode::Bnot, _, &[a]) => {
                let is_single = self.is_single(inst.args[0]);
                self.not(a, is_single)
            }
            (op, _, &[a]) => self.unary(op, a)?,
            (op @ (Opcode::IaddOvf | Opcode::IsubOvf | Opcode::ImulOvf), _, &[a, b]) => {
                let (value, overflowed) = match op {
                    Opcode::IaddOvf => self.cursor.ins().sadd_overflow(a, b),
                    Opcode::IsubOvf if self.planted => self.cursor.ins().ssub_overflow(b, a),
                    Opcode::IsubOvf => self.cursor.ins().ssub_overflow(a, b),
                    _ => self.cursor.ins().smul_overflow(a, b),
                };
                return self.define_all(inst, &[value, overflowed]);
            }
            (op, _, &[a, b]) => self.binary(op, a, b)?,
            (Opcode::Select, _, &[cond, a, b]) => self.cursor.ins().select(cond, a, b),
            (op, imm, args) => {
                let what = format!(
                    "`{}` with {} operands and immediate {imm:?}",
                    op.info().name,
                    args.len()
                );
                return Err(self.malformed(what));
            }
        };
        self.define_all(inst, &[result])
    }

    fn unary(&mut self, op: Opcode, a: ir::Value) -> Result<ir::Value, CodegenError> {
        Ok(match op {
            Opcode::Ineg => self.cursor.ins().ineg(a),
            Opcode::Inot => self.cursor.ins().bnot(a),
            Opcode::Fneg => self.cursor.ins().fneg(a),
            Opcode::Fabs => self.cursor.ins().fabs(a),
            Opcode::Fsqrt => self.cursor.ins().sqrt(a),
            Opcode::Ffloor => self.cursor.ins().floor(a),
            Opcode::Ftrunc => self.cursor.ins().trunc(a),
            Opcode::I2f => self.cursor.ins().fcvt_from_sint(types::F64, a),
            Opcode::F2i => self.cursor.ins().fcvt_to_sint_sat(types::I64, a),
            Opcode::F2bits => self
                .cursor
                .ins()
                .bitcast(types::I64, MemFlagsData::new(), a),
            Opcode::Bits2f => self
                .cursor
                .ins()
                .bitcast(types::F64, MemFlagsData::new(), a),
            Opcode::B2i => match self.constant(a) {
                Some(n) => self.cursor.ins().iconst(types::I64, n),
                None => self.cursor.ins().uextend(types::I64, a),
            },
            Opcode::Copy => self.copy(a),
            // Addresses and integers are the same to the machine.
            Opcode::P2i | Opcode::I2p => a,
            op => return Err(self.malformed(format!("`{}` with one operand", op.info().name))),
        })
    }

    /// A copy as a separate value. Instruction selection would see through the operand itself, and
    /// through a sum with zero; and the register allocator joins an instruction's result with an
    /// operand that is not used later.
    pub(super) fn copy(&mut self, a: ir::Value) -> ir::Value {
        match self.cursor.func.dfg.value_type(a) {
            types::I64 => {
                let one = self.cursor.ins().iconst(types::I64, 1);
                self.cursor.ins().imul(a, one)
            }
            _ => self.cursor.ins().bor(a, a),
        }
    }

    fn binary(
        &mut self,
        op: Opcode,
        a: ir::Value,
        b: ir::Value,
    ) -> Result<ir::Value, CodegenError> {
        let ins = self.cursor.ins();
        Ok(match op {
            Opcode::Iadd | Opcode::Padd => ins.iadd(a, b),
            Opcode::Isub => ins.isub(a, b),
            Opcode::Imul => ins.imul(a, b),
            Opcode::Umulhi => ins.umulhi(a, b),
            Opcode::Sdiv => ins.sdiv(a, b),
            Opcode::Srem => ins.srem(a, b),
            Opcode::Iand | Opcode::Band => ins.band(a, b),
            Opcode::Ior | Opcode::Bor => ins.bor(a, b),
            Opcode::Ixor | Opcode::Bxor => ins.bxor(a, b),
            Opcode::Ishl => ins.ishl(a, b),
            Opcode::Isshr => ins.sshr(a, b),
            Opcode::Iushr => ins.ushr(a, b),
            Opcode::Fadd => ins.fadd(a, b),
            Opcode::Fsub => ins.fsub(a, b),
            Opcode::Fmul => ins.fmul(a, b),
            Opcode::Fdiv => ins.fdiv(a, b),
            op => return Err(self.malformed(format!("`{}` with two operands", op.info().name))),
        })
    }

    /// The negation of a truth value. The opposite of a comparison is a comparison, which a branch
    /// can use directly. It replaces the original if that has no other use, since instruction
    /// selection would count the unused one as a use of its operands.
    fn not(&mut self, a: ir::Value, is_single: bool) -> ir::Value {
        self.compared(a, is_single).unwrap_or_else(|| {
            let one = self.cursor.ins().iconst(types::I8, 1);
            self.cursor.ins().bxor(a, one)
        })
    }

    /// The same for a branch.
    pub(super) fn opposite(&mut self, a: ir::Value, is_single: bool) -> ir::Value {
        self.compared(a, is_single).unwrap_or_else(|| {
            let zero = self.cursor.ins().iconst(types::I8, 0);
            self.cursor.ins().icmp(IntCC::Equal, a, zero)
        })
    }

    /// The opposite of a comparison.
    fn compared(&mut self, a: ir::Value, is_single: bool) -> Option<ir::Value> {
        let inst = self.cursor.func.dfg.value_def(a).inst()?;
        let mut data = self.cursor.func.dfg.insts[inst];
        match &mut data {
            InstructionData::IntCompare { cond, .. } => *cond = cond.complement(),
            InstructionData::FloatCompare { cond, .. } => *cond = cond.complement(),
            _ => return None,
        }
        if is_single {
            self.cursor.func.dfg.insts[inst] = data;
            return Some(a);
        }
        Some(match data {
            InstructionData::IntCompare {
                cond, args: [x, y], ..
            } => self.cursor.ins().icmp(cond, x, y),
            InstructionData::FloatCompare {
                cond, args: [x, y], ..
            } => self.cursor.ins().fcmp(cond, x, y),
            _ => return None,
        })
    }

    /// `x`, if `a` is the opposite of `x` made by `not`.
    pub(super) fn negated(&self, a: ir::Value) -> Option<ir::Value> {
        let InstructionData::Binary {
            opcode: ir::Opcode::Bxor,
            args: [x, y],
        } = self.definition(a)?
        else {
            return None;
        };
        (self.constant(y) == Some(1)).then_some(x)
    }

    /// The value, if it is a constant.
    fn constant(&self, value: ir::Value) -> Option<i64> {
        match self.definition(value)? {
            InstructionData::UnaryImm {
                opcode: ir::Opcode::Iconst,
                imm,
            } => Some(imm.bits()),
            _ => None,
        }
    }

    fn definition(&self, value: ir::Value) -> Option<InstructionData> {
        let inst = self.cursor.func.dfg.value_def(value).inst()?;
        Some(self.cursor.func.dfg.insts[inst])
    }

    /// The address, with an offset that Cranelift accepts. It folds the offset into that of a stack
    /// slot, and panics if the sum exceeds 32 bits.
    fn place(&mut self, p: ir::Value, offset: i32) -> (ir::Value, i32) {
        const FAR: u32 = 1 << 30;
        if offset.unsigned_abs() < FAR {
            return (p, offset);
        }
        let bytes = self.cursor.ins().iconst(types::I64, i64::from(offset));
        (self.cursor.ins().iadd(p, bytes), 0)
    }

    fn load(&mut self, width: Width, p: ir::Value, offset: i32) -> ir::Value {
        let (p, offset) = self.place(p, offset);
        let (ins, flags) = (self.cursor.ins(), MemFlagsData::trusted());
        match width {
            Width::U8 => ins.uload8(types::I64, flags, p, offset),
            Width::U16 => ins.uload16(types::I64, flags, p, offset),
            Width::U32 => ins.uload32(flags, p, offset),
            Width::I32 => ins.sload32(flags, p, offset),
            Width::I64 | Width::Ptr => ins.load(types::I64, flags, p, offset),
            Width::F64 => ins.load(types::F64, flags, p, offset),
        }
    }

    fn store(&mut self, width: Width, p: ir::Value, offset: i32, value: ir::Value) {
        let (p, offset) = self.place(p, offset);
        let (ins, flags) = (self.cursor.ins(), MemFlagsData::trusted());
        match width {
            Width::U8 => ins.istore8(flags, value, p, offset),
            Width::U16 => ins.istore16(flags, value, p, offset),
            Width::U32 | Width::I32 => ins.istore32(flags, value, p, offset),
            Width::I64 | Width::Ptr | Width::F64 => ins.store(flags, value, p, offset),
        };
    }

    fn define_results(&mut self, inst: &Inst, call: ir::Inst) -> Result<(), CodegenError> {
        let results = self.cursor.func.dfg.inst_results(call).to_vec();
        self.define_all(inst, &results)
    }

    fn define_all(&mut self, inst: &Inst, results: &[ir::Value]) -> Result<(), CodegenError> {
        if inst.results.len() != results.len() {
            let what = format!(
                "`{}` gives {}, not {}",
                inst.op.info().name,
                results.len(),
                inst.results.len()
            );
            return Err(self.malformed(what));
        }
        for (&value, &result) in inst.results.iter().zip(results) {
            self.define(value, result);
        }
        Ok(())
    }
}

fn int_cc(cond: IntCond) -> IntCC {
    match cond {
        IntCond::Eq => IntCC::Equal,
        IntCond::Ne => IntCC::NotEqual,
        IntCond::Slt => IntCC::SignedLessThan,
        IntCond::Sle => IntCC::SignedLessThanOrEqual,
        IntCond::Sgt => IntCC::SignedGreaterThan,
        IntCond::Sge => IntCC::SignedGreaterThanOrEqual,
        IntCond::Ult => IntCC::UnsignedLessThan,
        IntCond::Ule => IntCC::UnsignedLessThanOrEqual,
        IntCond::Ugt => IntCC::UnsignedGreaterThan,
        IntCond::Uge => IntCC::UnsignedGreaterThanOrEqual,
    }
}

fn float_cc(cond: FloatCond) -> FloatCC {
    match cond {
        FloatCond::Eq => FloatCC::Equal,
        FloatCond::Ne => FloatCC::NotEqual,
        FloatCond::Lt => FloatCC::LessThan,
        FloatCond::Le => FloatCC::LessThanOrEqual,
        FloatCond::Gt => FloatCC::GreaterThan,
        FloatCond::Ge => FloatCC::GreaterThanOrEqual,
    }
}
