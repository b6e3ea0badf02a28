//! Keys of code: a hash of all its input, with numbers in place of addresses.
//!
//! Two functions with one key have the same code, except for the patched addresses. So the key
//! includes everything that the emitter reads: the function except its name, its calling
//! convention, the callees that are near, and the version of the generator.

use super::addresses::{Addresses, is_fixed};
use super::emit::Declared;
use super::{Codegen, Input};
use crate::lir::{BlockCall, BlockData, Func, Imm, Inst, Refs, Signature, Term, Value};
use crate::ll::Ty;
use cranelift_entity::EntityRef;
use siphasher::sip128::{Hasher128, SipHasher13};
use std::fmt;
use std::hash::Hasher;

/// The key of code. It prints as 32 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; 16]);

impl Key {
    /// The key with these bytes, for tests of stores.
    pub const fn from_bytes(bytes: [u8; 16]) -> Key {
        Key(bytes)
    }

    /// Its bytes, which are evenly distributed.
    pub const fn bytes(&self) -> [u8; 16] {
        self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({self})")
    }
}

/// A fingerprint of bytes: the same in each process and on each machine.
pub fn fingerprint(bytes: &[u8]) -> [u8; 16] {
    SipHasher13::new().hash(bytes).as_bytes()
}

/// The generator of the code, and the target machine.
pub(super) fn generator(codegen: &Codegen) -> SipHasher13 {
    let Codegen {
        isa, native_stack, ..
    } = codegen;
    let mut text = format!(
        "cladonia {} {}\ncranelift {}\n{}\n{}\n",
        env!("CARGO_PKG_VERSION"),
        env!("CLADONIA_SOURCES"),
        cranelift_codegen::VERSION,
        isa.triple(),
        isa.flags(),
    );
    for flag in isa.isa_flags() {
        text += &format!("{flag}\n");
    }
    text += &format!("{native_stack:?}\n");
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    hasher
}

/// The key of a function's code, and the numbers of its addresses.
pub(super) fn key(
    generator: &SipHasher13,
    input: &Input<'_>,
    declared: &[(Declared, bool)],
    addresses: &mut Addresses,
) -> Key {
    let mut writer = Writer {
        bytes: Vec::with_capacity(16 * input.func.values.len()),
        addresses,
    };
    writer.input(input);
    writer.declared(input, declared);
    writer.func(input.func);
    let mut hasher = *generator;
    hasher.write(&writer.bytes);
    Key(hasher.finish128().as_bytes())
}

/// Writes data so that different data give different bytes.
struct Writer<'a> {
    bytes: Vec<u8>,
    addresses: &'a mut Addresses,
}

impl Writer<'_> {
    fn int(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        self.bytes.push(n as u8);
    }

    fn signed(&mut self, n: i64) {
        self.int(((n << 1) ^ (n >> 63)).cast_unsigned());
    }

    fn flag(&mut self, flag: bool) {
        self.bytes.push(flag as u8);
    }

    fn entity<E: EntityRef>(&mut self, entity: E) {
        self.int(entity.index() as u64);
    }

    fn values(&mut self, values: &[Value]) {
        self.int(values.len() as u64);
        values.iter().for_each(|v| self.entity(*v));
    }

    fn ty(&mut self, ty: Ty) {
        self.bytes.push(match ty {
            Ty::Bool => 0,
            Ty::I64 => 1,
            Ty::F64 => 2,
            Ty::Ptr => 3,
        });
    }

    fn types(&mut self, types: &[Ty]) {
        self.int(types.len() as u64);
        types.iter().for_each(|ty| self.ty(*ty));
    }

    fn signature(&mut self, Signature { params, results }: &Signature) {
        self.types(params);
        self.types(results);
    }

    fn address(&mut self, address: u64) {
        if is_fixed(address) {
            self.int(address << 1)
        } else {
            let number = self.addresses.number(address);
            self.int(u64::from(number) << 1 | 1);
        }
    }

    fn input(&mut self, input: &Input<'_>) {
        let Input {
            func: _,
            helpers: _,
            exit_hook,
            unit,
            want_text,
            guarded: _,
            keeps_registers,
            keeps_most,
            is_fresh: _,
        } = *input;
        self.int(exit_hook.map_or(0, |id| id.index() as u64 + 1));
        self.address(unit);
        self.flag(want_text);
        self.flag(keeps_registers);
        self.flag(keeps_most);
    }

    fn declared(&mut self, input: &Input<'_>, declared: &[(Declared, bool)]) {
        self.int(declared.len() as u64);
        for &(callee, is_near) in declared {
            self.flag(is_near);
            let helper = match callee {
                Declared::Helper(id) => {
                    self.bytes.push(0);
                    Some(id)
                }
                Declared::Guarded(id, _) => {
                    self.bytes.push(1);
                    Some(id)
                }
                Declared::Routine(id) => {
                    self.bytes.push(2);
                    self.entity(id);
                    None
                }
            };
            if let Some(id) = helper {
                self.entity(id);
                let helper = &input.helpers[id];
                self.signature(&helper.signature);
                self.flag(helper.may_collect());
            }
        }
    }

    fn func(&mut self, func: &Func) {
        let Func {
            name: _,
            signature,
            values,
            blocks,
            order,
            sigs,
            routines,
            slots,
            refs,
        } = func;
        self.signature(signature);
        self.int(values.len() as u64);
        values.values().for_each(|ty| self.ty(*ty));
        self.int(sigs.len() as u64);
        sigs.values().for_each(|sig| self.signature(sig));
        self.int(routines.len() as u64);
        for routine in routines.values() {
            self.signature(&routine.signature);
            self.flag(routine.keeps_most);
            self.flag(routine.runs_host_code);
        }
        self.int(slots.len() as u64);
        slots.iter().for_each(|bytes| self.int(u64::from(*bytes)));
        let Refs { values, slots } = refs;
        let values: Vec<Value> = values.iter().collect();
        self.values(&values);
        self.int(slots.len() as u64);
        slots.iter().for_each(|slot| self.int(u64::from(*slot)));
        self.int(order.len() as u64);
        for &block in order {
            self.entity(block);
            self.block(&blocks[block]);
        }
    }

    fn block(&mut self, data: &BlockData) {
        let BlockData {
            params,
            insts,
            term,
            cold,
        } = data;
        self.flag(*cold);
        self.values(params);
        self.int(insts.len() as u64);
        insts.iter().for_each(|inst| self.inst(inst));
        match term {
            None => self.bytes.push(0),
            Some(Term::Jump(call)) => {
                self.bytes.push(1);
                self.call(call);
            }
            Some(Term::Br {
                cond,
                then,
                els,
                quiet,
            }) => {
                self.bytes.push(2);
                self.entity(*cond);
                self.call(then);
                self.call(els);
                self.flag(*quiet);
            }
            Some(Term::Return(values)) => {
                self.bytes.push(3);
                self.values(values);
            }
            Some(Term::Fail) => self.bytes.push(4),
            Some(Term::Exit { exit, args }) => {
                self.bytes.push(5);
                self.entity(*exit);
                self.values(args);
            }
            Some(Term::Unreachable) => self.bytes.push(6),
        }
    }

    fn call(&mut self, BlockCall { block, args }: &BlockCall) {
        self.entity(*block);
        self.values(args);
    }

    fn inst(&mut self, inst: &Inst) {
        let Inst {
            op,
            args,
            imm,
            results,
        } = inst;
        self.bytes.push(*op as u8);
        self.values(args);
        self.values(results);
        match *imm {
            Imm::None => self.bytes.push(0),
            Imm::Int(n) => {
                self.bytes.push(1);
                self.signed(n);
            }
            Imm::Float(bits) => {
                self.bytes.push(2);
                self.bytes.extend(bits.to_le_bytes());
            }
            Imm::Addr(address) => {
                self.bytes.push(3);
                self.address(address);
            }
            Imm::IntCond(cond) => self.bytes.extend([4, cond as u8]),
            Imm::FloatCond(cond) => self.bytes.extend([5, cond as u8]),
            Imm::Mem { width, offset } => {
                self.bytes.extend([6, width as u8]);
                self.signed(i64::from(offset));
            }
            Imm::Helper(id) => {
                self.bytes.push(7);
                self.entity(id);
            }
            Imm::Sig(id) => {
                self.bytes.push(8);
                self.entity(id);
            }
            Imm::Routine(id) => {
                self.bytes.push(9);
                self.entity(id);
            }
        }
    }
}
