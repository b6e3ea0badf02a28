//! Compares the interpreter with machine code: each op of the table on random operands, then random
//! functions.
//!
//! These tests do not define any op, so a new row of the table is compared as soon as both sides
//! implement it, and a row that one side lacks fails.

use super::*;
use crate::exits::ExitId;
use crate::lir::interp::{Native, Outcome, call_address, execute};
use crate::lir::random::Dice;
use crate::lir::{Builder, Condition, Func, Imm, ImmKind, Results, Term, Value};
use crate::ll::Field;
use std::cell::RefCell;

thread_local! {
    /// The last exit taken, and its words.
    static LEFT: RefCell<(i64, Vec<u64>)> = const { RefCell::new((-1, Vec::new())) };
    /// The number of words of each exit of the function under test.
    static WORDS: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

extern "C" fn hook(unit: i64, exit: i64, buffer: *const u64) -> u64 {
    assert_eq!(unit, 77);
    let words = WORDS.with_borrow(|words| words[exit as usize]);
    // SAFETY: the record has this number of words.
    let words = unsafe { std::slice::from_raw_parts(buffer, words) }.to_vec();
    LEFT.set((exit, words));
    0x1234
}

extern "C" fn mix(a: i64, b: f64, c: bool, d: *const u8) -> i64 {
    a.rotate_left(7) ^ b.to_bits().cast_signed().wrapping_mul(3) ^ i64::from(c) ^ (d as i64) << 1
}

#[repr(C)]
struct Halves(i64, bool);
extern "C" fn halves(a: i64) -> Halves {
    Halves(a >> 1, a & 1 != 0)
}

extern "C" fn scale(a: f64, b: i64) -> f64 {
    a * 0.5 + b as f64
}

fn jit() -> Jit {
    use Ty::{Bool, F64, I64, Ptr};
    let mut jit = Jit::new();
    let hook = jit.helper("hook", hook as *const (), &[I64, I64, Ptr], &[Ptr]);
    jit.hook = Some(hook);
    jit.helper("mix", mix as *const (), &[I64, F64, Bool, Ptr], &[I64]);
    jit.helper("halves", halves as *const (), &[I64], &[I64, Bool]);
    jit.helper("scale", scale as *const (), &[F64, I64], &[F64]);
    jit
}

/// Runs a function in both ways, and compares the results and the effects on `memory`.
fn compare(jit: &mut Jit, func: &Func, args: &[u64], memory: &mut [u64]) {
    lir::verify(func, lir::Mode::Unit, &jit.helpers)
        .unwrap_or_else(|e| panic!("{e}\n{}", lir::print(func, &jit.helpers)));
    let exits = func.blocks.values().filter_map(|data| match &data.term {
        Some(Term::Exit { exit, args }) => Some((exit.as_u32() as usize, args.len())),
        _ => None,
    });
    let mut words = vec![0; 16];
    exits.for_each(|(exit, count)| words[exit] = count);
    WORDS.set(words);
    let before = memory.to_vec();
    // SAFETY: the functions below access only their slots and `memory`, and call the helpers above.
    let mut machine = unsafe { Native::new() };
    let outcome = execute(func, &jit.helpers, args, &mut machine)
        .unwrap_or_else(|e| panic!("{e}\n{}", lir::print(func, &jit.helpers)));
    let interpreted = memory.to_vec();
    memory.copy_from_slice(&before);
    let code = jit.compile_func(func).unwrap();
    LEFT.set((-1, Vec::new()));
    // SAFETY: just compiled with this signature.
    let found = unsafe { call_address(code.entry().addr() as u64, &func.signature, args) }.unwrap();
    let text = || {
        format!(
            "{}args {args:x?}\ninterpreted {outcome:x?}, machine {found:x?}\n{}",
            lir::print(func, &jit.helpers),
            code.clif().unwrap_or_default()
        )
    };
    match &outcome {
        Outcome::Return(words) => {
            assert_eq!(LEFT.with_borrow(|left| left.0), -1, "{}", text());
            for (n, (&word, &ty)) in words.iter().zip(&func.signature.results).enumerate() {
                assert!(same(ty, word, found[n]), "{}", text());
            }
        }
        Outcome::Exit { exit, words } => {
            let (taken, left) = LEFT.take();
            assert_eq!(taken, i64::from(exit.as_u32()), "{}", text());
            assert_eq!(found[0], 0x1234);
            let types = func.blocks.values().find_map(|data| match &data.term {
                Some(Term::Exit { exit: e, args }) if e == exit => {
                    Some(args.iter().map(|&v| func.values[v]).collect::<Vec<_>>())
                }
                _ => None,
            });
            for ((&a, &b), ty) in words.iter().zip(&left).zip(types.unwrap()) {
                assert!(same(ty, a, b), "{}", text());
            }
        }
        Outcome::Fail => panic!("{}", text()),
    }
    assert_eq!(interpreted, memory, "{}", text());
}

/// Returns true if two words of a type are the same value. An operation may give any nan, and in C
/// the upper bits of a truth value are undefined.
fn same(ty: Ty, a: u64, b: u64) -> bool {
    match ty {
        Ty::F64 => a == b || f64::from_bits(a).is_nan() && f64::from_bits(b).is_nan(),
        Ty::Bool => a & 0xff == b & 0xff,
        Ty::I64 | Ty::Ptr => a == b,
    }
}

fn word(dice: &mut Dice, ty: Ty) -> u64 {
    match ty {
        Ty::Bool => dice.below(2) as u64,
        Ty::I64 | Ty::Ptr => dice.int().cast_unsigned(),
        Ty::F64 => dice.float(),
    }
}

/// All immediates of an op, or a sample if there are too many.
fn immediates(op: Opcode, dice: &mut Dice) -> Vec<Imm> {
    match op.info().imm {
        ImmKind::None => vec![Imm::None],
        ImmKind::Int if op == Opcode::Bconst => vec![Imm::Int(0), Imm::Int(1)],
        ImmKind::Int if op == Opcode::StackAddr => vec![Imm::Int(0)],
        ImmKind::Int => (0..20).map(|_| Imm::Int(dice.int())).collect(),
        ImmKind::Float => (0..20).map(|_| Imm::Float(dice.float())).collect(),
        ImmKind::Addr => (0..20)
            .map(|_| Imm::Addr(dice.int().cast_unsigned()))
            .collect(),
        ImmKind::IntCond => IntCond::ALL.iter().map(|&c| Imm::IntCond(c)).collect(),
        ImmKind::FloatCond => FloatCond::ALL.iter().map(|&c| Imm::FloatCond(c)).collect(),
        ImmKind::Mem => Width::ALL
            .iter()
            .flat_map(|&width| [0, 8, -8].map(|offset| Imm::Mem { width, offset }))
            .collect(),
        // Tested below: their operands follow from a signature.
        ImmKind::Helper | ImmKind::Sig | ImmKind::Routine => Vec::new(),
    }
}

/// Operand and result types of an op with an immediate; several where the op takes several.
fn types(op: Opcode, imm: Imm) -> Vec<(Vec<Ty>, Vec<Ty>)> {
    let info = op.info();
    match (op, imm) {
        (Opcode::Icmp, Imm::IntCond(cond)) => {
            let signed = matches!(
                cond,
                IntCond::Slt | IntCond::Sle | IntCond::Sgt | IntCond::Sge
            );
            let ptr = (!signed).then(|| (vec![Ty::Ptr; 2], vec![Ty::Bool]));
            std::iter::once((vec![Ty::I64; 2], vec![Ty::Bool]))
                .chain(ptr)
                .collect()
        }
        (Opcode::Select, _) => Ty::ALL
            .map(|ty| (vec![Ty::Bool, ty, ty], vec![ty]))
            .to_vec(),
        (Opcode::Copy, _) => Ty::ALL.map(|ty| (vec![ty], vec![ty])).to_vec(),
        (Opcode::Load, Imm::Mem { width, .. }) => vec![(vec![Ty::Ptr], vec![width.ty()])],
        (Opcode::Store, Imm::Mem { width, .. }) => vec![(vec![Ty::Ptr, width.ty()], vec![])],
        _ => vec![(info.args.unwrap().to_vec(), info.results.unwrap().to_vec())],
    }
}

/// Returns true if the row's condition on operands holds.
fn is_defined(op: Opcode, args: &[u64]) -> bool {
    match op.info().condition {
        Condition::Division => args[0]
            .cast_signed()
            .checked_div(args[1].cast_signed())
            .is_some(),
        Condition::Shift => args[1] < 64,
        // The tests ensure those with addresses.
        Condition::Total | Condition::Address | Condition::Callee => true,
    }
}

#[test]
fn every_op_of_the_table_means_the_same_in_the_interpreter_and_as_machine_code() {
    let mut jit = jit();
    let mut dice = Dice(6);
    let mut memory = [0u64; 4];
    for &op in Opcode::ALL {
        let mut runs = 0;
        for imm in immediates(op, &mut dice) {
            for (params, results) in types(op, imm) {
                let mut func = Func::new(op.info().name, Signature::new(&params, &results));
                func.slots.push(8);
                let args: Vec<Value> = func.params().to_vec();
                let mut b = Builder::new(&mut func);
                let values = b.push(op, &args, imm, &results);
                b.ret(&values);
                if matches!(op, Opcode::Sp | Opcode::StackAddr) {
                    // The stack is in different places; both ops are tested elsewhere.
                    runs += 1;
                    continue;
                }
                for _ in 0..24 {
                    memory = memory.map(|_| word(&mut dice, Ty::I64));
                    let mut args: Vec<u64> = params.iter().map(|&ty| word(&mut dice, ty)).collect();
                    if op.info().condition == Condition::Address {
                        args[0] = memory[1..].as_ptr().expose_provenance() as u64;
                    }
                    if op.info().condition == Condition::Shift {
                        args[1] &= 63;
                    }
                    if is_defined(op, &args) {
                        compare(&mut jit, &func, &args, &mut memory);
                        runs += 1;
                    }
                }
            }
        }
        assert_eq!(
            runs == 0,
            op.is_call(),
            "`{}` was not compared",
            op.info().name
        );
    }
}

#[test]
fn the_interpreter_traps_exactly_where_a_rows_condition_fails() {
    let jit = jit();
    let mut dice = Dice(8);
    let rows = Opcode::ALL.iter().filter(|op| {
        let condition = op.info().condition;
        condition == Condition::Division || condition == Condition::Shift
    });
    let mut traps = 0;
    for &op in rows {
        let mut func = Func::new(op.info().name, Signature::new(&[Ty::I64; 2], &[Ty::I64]));
        let args: Vec<Value> = func.params().to_vec();
        let mut b = Builder::new(&mut func);
        let result = b.op(op, &args);
        b.ret(&[result]);
        let edges = [[5, 0], [i64::MIN, -1], [7, 64], [7, 63], [7, -1]];
        let random = (0..50).map(|_| [dice.int(), dice.int()]);
        for args in random.chain(edges) {
            let args = args.map(i64::cast_unsigned);
            // SAFETY: the op touches registers only.
            let mut machine = unsafe { Native::new() };
            let outcome = execute(&func, &jit.helpers, &args, &mut machine);
            assert_eq!(
                outcome.is_ok(),
                is_defined(op, &args),
                "{} {args:x?}",
                op.info().name
            );
            traps += u32::from(outcome.is_err());
        }
    }
    assert!(traps > 10, "{traps}");
}

#[test]
fn calls_by_helper_and_by_address_give_the_same_in_both() {
    let mut jit = jit();
    let mut dice = Dice(7);
    for id in jit.helpers.keys().skip(1).collect::<Vec<_>>() {
        let helper = jit.helpers[id].clone();
        for indirect in [false, true] {
            let mut func = Func::new(helper.name, helper.signature.clone());
            let args: Vec<Value> = func.params().to_vec();
            let mut b = Builder::new(&mut func);
            let results = if indirect {
                let callee = b.pconst(helper.address as u64);
                b.call_indirect(helper.signature.clone(), callee, &args)
            } else {
                b.call(id, &args, &helper.signature.results)
            };
            b.ret(&results);
            for _ in 0..20 {
                let params = &helper.signature.params;
                let args: Vec<u64> = params.iter().map(|&ty| word(&mut dice, ty)).collect();
                compare(&mut jit, &func, &args, &mut []);
            }
        }
    }
}

/// Creates functions that terminate and are defined: divisors and counts are constants, addresses
/// are those of slots that were written before, jumps go forward.
struct Runnable<'a, 'b> {
    dice: &'a mut Dice,
    b: &'a mut Builder<'b>,
    scope: Vec<Value>,
    helpers: &'a PrimaryMap<HelperId, Helper>,
}

/// One slot for integers, one for doubles: bits of a nan must not become an integer.
const SLOT_WORDS: i32 = 3;

impl Runnable<'_, '_> {
    fn value(&mut self, ty: Ty) -> Value {
        let fit: Vec<Value> = self
            .scope
            .iter()
            .copied()
            .filter(|&v| self.b.func.values[v] == ty)
            .collect();
        if !fit.is_empty() && self.dice.below(5) != 0 {
            return self.dice.pick(&fit);
        }
        let value = match ty {
            Ty::Bool => {
                let value = self.dice.below(2) == 1;
                self.b.bconst(value)
            }
            Ty::I64 => {
                let n = self.dice.int();
                self.b.iconst(n)
            }
            Ty::F64 => {
                let bits = self.dice.float();
                self.b.fconst(f64::from_bits(bits))
            }
            Ty::Ptr => {
                let n = self.dice.int().cast_unsigned();
                self.b.pconst(n)
            }
        };
        self.scope.push(value);
        value
    }

    fn values(&mut self, types: &[Ty]) -> Vec<Value> {
        types.iter().map(|&ty| self.value(ty)).collect()
    }

    fn slot(&mut self, width: Width) -> (Value, Field) {
        let number = i64::from(width == Width::F64);
        let address = self.b.stack_addr(number);
        let offset = 8 * self.dice.below(SLOT_WORDS as usize) as i32;
        let field = Field {
            name: "word",
            offset,
            width,
        };
        (address, field)
    }

    fn inst(&mut self) {
        let op = self.dice.pick(Opcode::ALL);
        let results = match op {
            Opcode::Sp
            | Opcode::StackAddr
            | Opcode::CallIndirect
            | Opcode::CallRoutine
            | Opcode::F2bits => return,
            Opcode::Load => {
                let width = self.dice.pick(&Width::ALL);
                let (address, field) = self.slot(width);
                Results::from_slice(&[self.b.load_field(address, field)])
            }
            Opcode::Store => {
                let width = self.dice.pick(&Width::ALL);
                let value = self.value(width.ty());
                let (address, field) = self.slot(width);
                return self.b.store_field(address, field, value);
            }
            Opcode::Call => {
                // Not `mix`, which looks at a double's bits.
                let id = self
                    .helpers
                    .keys()
                    .nth(2 + self.dice.below(2))
                    .expect("there are four");
                let signature = self.helpers[id].signature.clone();
                let args = self.values(&signature.params);
                self.b.call(id, &args, &signature.results)
            }
            Opcode::Sdiv | Opcode::Srem | Opcode::Ishl | Opcode::Isshr | Opcode::Iushr => {
                let is_shift = !matches!(op, Opcode::Sdiv | Opcode::Srem);
                let n = if is_shift {
                    self.dice.below(64) as i64
                } else {
                    self.dice.pick(&[1, 2, -2, 7, -13, i64::MAX, i64::MIN])
                };
                let (a, n) = (self.value(Ty::I64), self.b.iconst(n));
                Results::from_slice(&[self.b.op(op, &[a, n])])
            }
            op => {
                let imms = immediates(op, self.dice);
                let imm = self.dice.pick(&imms);
                let all = types(op, imm);
                let (params, results) = &all[self.dice.below(all.len())];
                let args = self.values(params);
                self.b.push(op, &args, imm, results)
            }
        };
        self.scope.extend(results);
    }
}

fn random(seed: u64, helpers: &PrimaryMap<HelperId, Helper>) -> (Func, Vec<u64>) {
    let mut dice = Dice(seed);
    let params = dice.types(9);
    let args = params.iter().map(|&ty| word(&mut dice, ty)).collect();
    let mut func = Func::new("random", Signature::new(&params, &[Ty::Ptr]));
    func.slots = vec![8 * SLOT_WORDS as u32; 2];
    let scope = func.params().to_vec();
    let mut b = Builder::new(&mut func);
    let entry = b.current();
    let mut blocks = vec![entry];
    for _ in 0..dice.below(7) {
        let block = if dice.below(3) == 0 {
            b.cold_block()
        } else {
            b.block()
        };
        for ty in dice.types(4) {
            b.param(block, ty);
        }
        blocks.push(block);
    }
    let mut maker = Runnable {
        dice: &mut dice,
        b: &mut b,
        scope,
        helpers,
    };
    for (slot, ty) in [(0, Ty::I64), (1, Ty::F64)] {
        let address = maker.b.stack_addr(slot);
        for n in 0..SLOT_WORDS {
            let width = if slot == 0 { Width::I64 } else { Width::F64 };
            let value = maker.value(ty);
            maker.b.store(width, address, 8 * n, value);
        }
    }
    for (place, &block) in blocks.iter().enumerate() {
        maker.b.switch_to(block);
        let outer = maker.scope.len();
        let own = maker.b.func.blocks[block].params.clone();
        maker.scope.extend(own);
        for _ in 0..maker.dice.below(14) {
            maker.inst();
        }
        let later = &blocks[place + 1..];
        let mut targets = Vec::new();
        for _ in 0..2 {
            if !later.is_empty() {
                let target = maker.dice.pick(later);
                let params = maker.b.func.blocks[target].params.clone();
                let types: Vec<Ty> = params.iter().map(|&v| maker.b.func.values[v]).collect();
                targets.push((target, maker.values(&types)));
            }
        }
        match (&targets[..], maker.dice.below(6)) {
            ([(then, then_args), (els, els_args)], 1..=4) => {
                let cond = maker.value(Ty::Bool);
                maker.b.br(cond, *then, then_args, *els, els_args);
            }
            ([(target, args), ..], 5) => maker.b.jump(*target, args),
            (_, 0) => {
                let value = maker.value(Ty::Ptr);
                maker.b.ret(&[value]);
            }
            _ => {
                let types = maker.dice.types(10);
                let args = maker.values(&types);
                let exit = ExitId::from_u32(place as u32);
                maker.b.terminate(Term::Exit { exit, args });
            }
        }
        // Values of the entry dominate all blocks; values of other blocks are used only there.
        if place > 0 {
            maker.scope.truncate(outer);
        }
    }
    (func, args)
}

#[test]
fn random_functions_do_the_same_in_the_interpreter_and_as_machine_code() {
    let mut jit = jit();
    for seed in 0..1000 {
        let (func, args) = random(seed, &jit.helpers);
        compare(&mut jit, &func, &args, &mut []);
    }
}

#[test]
fn a_fault_in_code_generation_is_found() {
    let text = "(i64, i64) -> i64 {\nblock0(v0: i64, v1: i64):\n  v2, v3 = isub_ovf v0, v1\n  return v2\n}";
    let mut jit = jit();
    jit.codegen.plant(true);
    let func = parse(&format!("function test{text}"), &jit.helpers).unwrap();
    let differs = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        compare(&mut jit, &func, &[5, 3], &mut []);
    }));
    assert!(differs.is_err());
}
