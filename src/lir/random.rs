//! Random well-formed functions for tests: every op, every terminator, values from dominating
//! blocks.

use super::interp::{Native, execute};
use super::{
    Block, BlockCall, Builder, FloatCond, Func, Helper, HelperId, Imm, ImmKind, IntCond, Mode,
    Opcode, RoutineRef, Signature, Term, Value, parse, print, verify,
};
use crate::exits::ExitId;
use crate::ll::{Ty, Width};
use cranelift_entity::{EntityRef, PrimaryMap};

/// Helpers for random functions. They are never called.
pub(crate) fn helpers() -> PrimaryMap<HelperId, Helper> {
    use Ty::{Bool, F64, I64, Ptr};
    let rows: [(&str, &[Ty], &[Ty]); 5] = [
        ("exit_hook", &[I64, I64, Ptr], &[Ptr]),
        ("nothing", &[], &[]),
        ("list.new", &[I64], &[Ptr]),
        ("odd name -> \"quoted\"", &[F64, Bool, Ptr], &[I64, Bool]),
        (
            "many",
            &[I64, F64, I64, Bool, I64, Ptr, I64, I64, I64, F64],
            &[F64],
        ),
    ];
    let helper = |(name, params, results)| Helper {
        name,
        address: 0x1000,
        signature: Signature::new(params, results),
        effects: None,
    };
    rows.into_iter().map(helper).collect()
}

/// A function that the verifier accepts, determined by `seed`.
pub(crate) fn func(seed: u64, mode: Mode, helpers: &PrimaryMap<HelperId, Helper>) -> Func {
    let mut dice = Dice(seed);
    let mut func = Func::new(
        "random.<function> \"é\"",
        Signature::new(&dice.types(5), &[Ty::Ptr]),
    );
    for _ in 0..dice.below(3) {
        func.slots.push(8 * (1 + dice.below(4) as u32));
    }
    let mut builder = Builder::new(&mut func);
    let entry = builder.current();
    let blocks: Vec<Block> = (0..dice.below(6)).map(|_| builder.block()).collect();
    for &block in &blocks {
        builder.func.blocks[block].cold = dice.below(3) == 0;
        for ty in dice.types(3) {
            builder.param(block, ty);
        }
    }
    let mut scope: Vec<Value> = Vec::new();
    for &block in std::iter::once(&entry).chain(&blocks) {
        builder.switch_to(block);
        // Values of the entry dominate all blocks; values of other blocks are used only there.
        let outer = scope.len();
        scope.extend_from_slice(&builder.func.blocks[block].params);
        let mut line = Line {
            dice: &mut dice,
            builder: &mut builder,
            scope: &mut scope,
            helpers,
            blocks: &blocks,
        };
        for _ in 0..line.dice.below(12) {
            line.inst();
        }
        line.term(mode);
        if block != entry {
            scope.truncate(outer);
        }
    }
    func
}

/// The generator called splitmix64.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub(crate) fn types(&mut self, most: usize) -> Vec<Ty> {
        (0..self.below(most + 1))
            .map(|_| self.pick(&Ty::ALL))
            .collect()
    }

    pub(crate) fn int(&mut self) -> i64 {
        match self.below(4) {
            0 => self.next().cast_signed(),
            1 => self.pick(&[i64::MIN, i64::MAX, -1, 0]),
            _ => self.below(256) as i64 - 128,
        }
    }

    pub(crate) fn float(&mut self) -> u64 {
        match self.below(4) {
            0 => self.next(),
            1 => self
                .pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324])
                .to_bits(),
            _ => (self.below(1000) as f64 / 8.0).to_bits(),
        }
    }
}

struct Line<'a, 'b> {
    dice: &'a mut Dice,
    builder: &'a mut Builder<'b>,
    scope: &'a mut Vec<Value>,
    helpers: &'a PrimaryMap<HelperId, Helper>,
    blocks: &'a [Block],
}

impl Line<'_, '_> {
    fn push(&mut self, op: Opcode, args: &[Value], imm: Imm, results: &[Ty]) {
        let results = self.builder.push(op, args, imm, results);
        self.scope.extend(results);
    }

    /// A value in scope, or a new constant.
    fn value(&mut self, ty: Ty) -> Value {
        let fit: Vec<Value> = self
            .scope
            .iter()
            .copied()
            .filter(|&v| self.builder.func.values[v] == ty)
            .collect();
        if !fit.is_empty() && self.dice.below(4) != 0 {
            return self.dice.pick(&fit);
        }
        let (op, imm) = match ty {
            Ty::Bool => (Opcode::Bconst, Imm::Int(self.dice.below(2) as i64)),
            Ty::I64 => (Opcode::Iconst, Imm::Int(self.dice.int())),
            Ty::F64 => (Opcode::Fconst, Imm::Float(self.dice.float())),
            Ty::Ptr => (Opcode::Pconst, Imm::Addr(self.dice.next())),
        };
        self.push(op, &[], imm, &[ty]);
        *self.scope.last().expect("just pushed")
    }

    fn values(&mut self, types: &[Ty]) -> Vec<Value> {
        types.iter().map(|&ty| self.value(ty)).collect()
    }

    fn inst(&mut self) {
        let op = self.dice.pick(Opcode::ALL);
        let info = op.info();
        let imm = match info.imm {
            ImmKind::None => Imm::None,
            ImmKind::Int if op == Opcode::StackAddr && self.builder.func.slots.is_empty() => return,
            ImmKind::Int if op == Opcode::StackAddr => {
                Imm::Int(self.dice.below(self.builder.func.slots.len()) as i64)
            }
            ImmKind::Int if op == Opcode::Bconst => Imm::Int(self.dice.below(2) as i64),
            ImmKind::Int => Imm::Int(self.dice.int()),
            ImmKind::Float => Imm::Float(self.dice.float()),
            ImmKind::Addr => Imm::Addr(self.dice.next()),
            ImmKind::IntCond => Imm::IntCond(self.dice.pick(IntCond::ALL)),
            ImmKind::FloatCond => Imm::FloatCond(self.dice.pick(FloatCond::ALL)),
            ImmKind::Mem => Imm::Mem {
                width: self.dice.pick(&Width::ALL),
                offset: self.dice.pick(&[0, 8, -8, i32::MAX, i32::MIN]),
            },
            ImmKind::Helper => Imm::Helper(HelperId::new(self.dice.below(self.helpers.len()))),
            ImmKind::Sig => return self.call_indirect(),
            ImmKind::Routine => return self.call_routine(),
        };
        let (args, results) = match (op, imm) {
            (Opcode::Icmp, _) if self.dice.below(2) == 0 => {
                let cond = self
                    .dice
                    .pick(&[IntCond::Eq, IntCond::Ne, IntCond::Ult, IntCond::Uge]);
                let args = self.values(&[Ty::Ptr, Ty::Ptr]);
                return self.push(op, &args, Imm::IntCond(cond), &[Ty::Bool]);
            }
            (Opcode::Icmp, _) => (vec![Ty::I64, Ty::I64], vec![Ty::Bool]),
            (Opcode::Select, _) => {
                let ty = self.dice.pick(&Ty::ALL);
                (vec![Ty::Bool, ty, ty], vec![ty])
            }
            (Opcode::Copy, _) => {
                let ty = self.dice.pick(&Ty::ALL);
                (vec![ty], vec![ty])
            }
            (Opcode::Load, Imm::Mem { width, .. }) => (vec![Ty::Ptr], vec![width.ty()]),
            (Opcode::Store, Imm::Mem { width, .. }) => (vec![Ty::Ptr, width.ty()], vec![]),
            (Opcode::Call, Imm::Helper(id)) => {
                let signature = &self.helpers[id].signature;
                (signature.params.clone(), signature.results.clone())
            }
            _ => (
                info.args.expect("fixed").to_vec(),
                info.results.expect("fixed").to_vec(),
            ),
        };
        let args = self.values(&args);
        self.push(op, &args, imm, &results);
    }

    fn call_indirect(&mut self) {
        let results = self.dice.types(2);
        let sig = Signature::new(&self.dice.types(8), &results);
        let callee = self.value(Ty::Ptr);
        let args = self.values(&sig.params);
        let results = self.builder.call_indirect(sig, callee, &args);
        self.scope.extend(results);
    }

    fn call_routine(&mut self) {
        let results = self.dice.types(2);
        let routine = RoutineRef {
            name: format!("routine {}", self.dice.below(4)),
            // Never called.
            address: 16,
            signature: Signature::new(&self.dice.types(8), &results),
            keeps_most: false,
            runs_host_code: true,
        };
        let args = self.values(&routine.signature.params);
        let routine = self.builder.routine(routine);
        let results = self.builder.call_routine(routine, &args);
        self.scope.extend(results);
    }

    fn block_call(&mut self) -> Option<BlockCall> {
        let block = *self.blocks.get(self.dice.below(self.blocks.len().max(1)))?;
        let params = self.builder.func.blocks[block].params.clone();
        let types: Vec<Ty> = params
            .iter()
            .map(|&v| self.builder.func.values[v])
            .collect();
        Some(BlockCall::new(block, self.values(&types)))
    }

    fn term(&mut self, mode: Mode) {
        let jump = |call: Option<BlockCall>| call.map_or(Term::Unreachable, Term::Jump);
        let term = match self.dice.below(6) {
            0 | 1 => match (self.block_call(), self.block_call()) {
                (Some(then), Some(els)) => Term::Br {
                    cond: self.value(Ty::Bool),
                    then,
                    els,
                    quiet: self.dice.below(3) == 0,
                },
                _ => Term::Unreachable,
            },
            2 => jump(self.block_call()),
            3 => Term::Return(self.values(&[Ty::Ptr])),
            4 if mode == Mode::Intrinsic => Term::Fail,
            4 => {
                let types = self.dice.types(4);
                Term::Exit {
                    exit: ExitId::new(self.dice.below(9)),
                    args: self.values(&types),
                }
            }
            _ => Term::Unreachable,
        };
        self.builder.terminate(term);
    }
}

/// A function given as `(params) -> results { ... }` after a pass.
pub(crate) fn after(pass: impl Fn(&mut Func), text: &str) -> String {
    let helpers = helpers();
    let mut func = parse(&format!("function test{text}"), &helpers).unwrap();
    pass(&mut func);
    verify(&func, Mode::Unit, &helpers).unwrap();
    print(&func, &helpers)
}

/// Checks that a pass leaves functions well-formed.
pub(crate) fn stays_well_formed(pass: impl Fn(&mut Func)) {
    let helpers = helpers();
    for seed in 0..1000 {
        let mut func = func(seed, Mode::Unit, &helpers);
        pass(&mut func);
        verify(&func, Mode::Unit, &helpers).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    }
}

/// Checks that a pass does not change the behaviour of functions with loops, on any path.
pub(crate) fn keeps_meaning(pass: impl Fn(&mut Func)) {
    keeps_memory(|_, _| {}, |func, _| pass(func));
}

/// The same for functions that `using` lets access the word at an address: its final content must
/// be the same, too.
pub(crate) fn keeps_memory(using: impl Fn(&mut Func, u64), pass: impl Fn(&mut Func, u64)) {
    let helpers = PrimaryMap::new();
    let cell = std::cell::Cell::new(0u64);
    let address = cell.as_ptr() as u64;
    for seed in 0..2000 {
        let mut func = looping(seed);
        using(&mut func, address);
        let mut changed = func.clone();
        pass(&mut changed, address);
        verify(&changed, Mode::Unit, &helpers).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        let mut dice = Dice(seed);
        for _ in 0..4 {
            let args = [dice.int().cast_unsigned(), dice.below(20) as u64];
            let run = |func| {
                cell.set(0);
                // SAFETY: these functions make no calls, and access no memory but the cell.
                let mut machine = unsafe { Native::new() };
                let end = execute(func, &helpers, &args, &mut machine).unwrap();
                (end, cell.get())
            };
            assert_eq!(run(&func), run(&changed), "seed {seed}, {args:?}");
        }
    }
}

/// A function of integers with loops that end, with paths out of them and back to their tests.
fn looping(seed: u64) -> Func {
    let mut dice = Dice(seed);
    let mut func = Func::new("looping", Signature::new(&[Ty::I64; 2], &[Ty::Ptr]));
    let scope = func.params().to_vec();
    let mut builder = Builder::new(&mut func);
    let mut maker = Looping {
        dice: &mut dice,
        b: &mut builder,
        scope,
        exits: 0,
    };
    maker.statements(0);
    let result = maker.value();
    let result = builder.op(Opcode::I2p, &[result]);
    builder.ret(&[result]);
    func
}

struct Looping<'a, 'b> {
    dice: &'a mut Dice,
    b: &'a mut Builder<'b>,
    /// Values that are defined at every place.
    scope: Vec<Value>,
    exits: u32,
}

impl Looping<'_, '_> {
    fn value(&mut self) -> Value {
        match self.dice.below(4) {
            0 => {
                let n = self.dice.int();
                self.b.iconst(n)
            }
            _ => self.dice.pick(&self.scope),
        }
    }

    fn condition(&mut self) -> Value {
        let (a, b) = (self.value(), self.value());
        let cond = self.dice.pick(IntCond::ALL);
        self.b.icmp(cond, a, b)
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..1 + self.dice.below(4) {
            match self.dice.below(8) {
                0..4 => {
                    let ops = [Opcode::Iadd, Opcode::Iadd, Opcode::Isub, Opcode::Ixor];
                    let (op, a, b) = (self.dice.pick(&ops), self.value(), self.value());
                    let result = self.b.op(op, &[a, b]);
                    self.scope.push(result);
                }
                4 => self.exit(),
                5 => self.choice(depth),
                _ if depth < 3 => self.repeat(depth),
                _ => {}
            }
        }
    }

    fn exit(&mut self) {
        let (go, exit) = (self.b.block(), self.b.cold_block());
        let cond = self.condition();
        self.b.br(cond, go, &[], exit, &[]);
        self.b.switch_to(exit);
        let args = (0..3).map(|_| self.value()).collect();
        self.b.terminate(Term::Exit {
            exit: ExitId::from_u32(self.exits),
            args,
        });
        self.exits += 1;
        self.b.switch_to(go);
    }

    fn choice(&mut self, depth: u32) {
        let (then, els, end) = (self.b.block(), self.b.block(), self.b.block());
        self.b.func.blocks[els].cold = self.dice.below(2) == 0;
        let joined = self.b.param(end, Ty::I64);
        let cond = self.condition();
        self.b.br(cond, then, &[], els, &[]);
        for arm in [then, els] {
            self.b.switch_to(arm);
            let outer = self.scope.len();
            self.statements(depth + 1);
            let value = self.value();
            self.b.jump(end, &[value]);
            self.scope.truncate(outer);
        }
        self.b.switch_to(end);
        self.scope.push(joined);
    }

    /// A loop of a few iterations, with an exit and a `continue` in its middle.
    fn repeat(&mut self, depth: u32) {
        let [header, turn, rest, behind, end] = [(); 5].map(|()| self.b.block());
        let [count, carried] = [Ty::I64; 2].map(|ty| self.b.param(header, ty));
        let (zero, value) = (self.b.iconst(0), self.value());
        self.b.jump(header, &[zero, value]);
        self.b.switch_to(header);
        self.scope.extend([count, carried]);
        let more = self
            .b
            .icmp_imm(IntCond::Slt, count, self.dice.below(6) as i64);
        self.b.br(more, turn, &[], behind, &[]);
        let outer = self.scope.len();
        self.b.switch_to(turn);
        self.statements(depth + 1);
        let one = self.b.iconst(1);
        let next = self.b.op(Opcode::Iadd, &[count, one]);
        let (cond, value) = (self.condition(), self.value());
        match self.dice.below(3) {
            0 => self.b.br(cond, rest, &[], end, &[]),
            1 => self.b.br(cond, rest, &[], header, &[next, value]),
            _ => self.b.jump(rest, &[]),
        }
        self.b.switch_to(rest);
        self.statements(depth + 1);
        let value = self.value();
        self.b.jump(header, &[next, value]);
        self.scope.truncate(outer);
        self.b.switch_to(behind);
        self.statements(depth + 1);
        self.scope.truncate(outer);
        self.b.jump(end, &[]);
        self.b.switch_to(end);
    }
}
