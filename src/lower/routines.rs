//! The choice between inlining an intrinsic and calling it.
//!
//! Each inlined copy costs the code generator as much as other code. So a **routine**, the
//! intrinsic as a function that is compiled once, is called where speed does not matter (in cold
//! blocks) and where there would be too many copies: in a large function outside its loops, in a
//! very large one outside the innermost loops, and everywhere once the copies have reached
//! [`MAX_COPIED`].

use super::Lower;
use crate::hir::{Function, Op};
use crate::host::{DEALLOC, FREE_LEAF, Host, IntrinsicId, STATE_OFFSET, names};
use crate::lir::{self, Builder, End, Func, Imm, IntCond, Opcode, Signature, Term};
use crate::ll::{Ty, Width};
use rustc_hash::FxHashMap;

/// Code that may be called instead of inlined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Routine {
    /// An intrinsic.
    Intrinsic(IntrinsicId),
    /// Take a reference to each of this number of objects.
    IncrefAll(usize),
    /// Drop a reference to an object. Returns true if that is all. If false, it was the last one,
    /// and `dealloc` deallocates the object.
    Release,
    /// Drop a reference to a possibly null value, and deallocate the object if it was the last one.
    /// The frame is published.
    Drop,
    /// The same where the frame does not have the current position yet. Returns true if the unit
    /// may continue. The operands are the object, the frame, the position, and then the thread and
    /// the unit's [cells](crate::host::UnitCells).
    DropAt,
    /// The part of `DropAt` after the last reference. It is a function of its own, so that `DropAt`
    /// saves no registers for it.
    EndAt,
    /// Like `DropAt`, but returns true if no user code has run. Without the thread and the cells.
    DropUnseen,
    /// The part of `DropUnseen` after the last reference.
    EndUnseen,
    /// Store an object at an address, and do `Drop` with the old content.
    Replace,
    /// Run the pending work. Returns true if the unit may continue: nothing was raised, and nothing
    /// is pending. The operands are the thread, the frame, and the unit's
    /// [cells](crate::host::UnitCells).
    Pending,
}

impl Routine {
    /// The routine that this one calls, if it is available.
    pub fn callee(self) -> Option<Routine> {
        match self {
            Routine::DropAt => Some(Routine::EndAt),
            Routine::DropUnseen => Some(Routine::EndUnseen),
            _ => None,
        }
    }

    /// Returns true if it may run user code.
    pub fn runs_host_code(self, host: &Host) -> bool {
        match self {
            Routine::Intrinsic(id) => host.intrinsics[id].effects.runs_host_code,
            Routine::IncrefAll(_) | Routine::Release => false,
            Routine::Drop
            | Routine::DropAt
            | Routine::EndAt
            | Routine::DropUnseen
            | Routine::EndUnseen
            | Routine::Replace
            | Routine::Pending => true,
        }
    }

    /// Returns true if it [keeps most registers](lir::RoutineRef::keeps_most) of its caller: it
    /// calls only on rare paths, or functions that keep registers themselves, or takes so long that
    /// saving them does not matter. Then more values that live across a call stay in registers, and
    /// the register allocator has half the work for the call.
    pub fn keeps_most(self, host: &Host) -> bool {
        // Other machines have no such convention.
        if !cfg!(target_arch = "x86_64") {
            return false;
        }
        let Routine::Intrinsic(id) = self else {
            return true;
        };
        let callee = &host.intrinsics[id].func;
        let hot = callee.hot_blocks();
        callee.order.iter().all(|b| {
            let data = &callee.blocks[*b];
            let mut calls = data.insts.iter().filter(|inst| inst.op.is_call());
            if hot.contains(*b) {
                calls.next().is_none()
            } else {
                calls.all(|call| is_guarded(host, call))
            }
        })
    }
}

/// Returns true if the callee can be called through a register guard.
fn is_guarded(host: &Host, call: &lir::Inst) -> bool {
    matches!(call.imm, Imm::Helper(id) if host.helpers[id].can_be_guarded())
}

/// The address of a routine, if it is available.
pub type Routines<'a> = &'a dyn Fn(Routine) -> Option<u64>;

/// In functions of fewer HIR instructions the cost of copies does not matter, except in cold
/// blocks.
const SMALL: usize = 300;

/// In functions of more HIR instructions only the innermost loops get copies.
const LARGE: usize = 1000;

/// The most LIR instructions of copies in the loops of a larger function.
const MAX_COPIED: usize = 3000;

/// The most references that one call takes: operands in registers.
pub(super) const MAX_TAKEN: usize = 6;

/// Intrinsics of fewer LIR instructions are always inlined: a call is not smaller.
const WORTH_A_CALL: usize = 9;

/// The choice of intrinsics that are called.
pub(super) struct Policy<'a> {
    routines: Routines<'a>,
    /// The routines that were queried.
    known: FxHashMap<Routine, Option<lir::RoutineId>>,
    is_large: bool,
    /// The loop depth that a block needs for copies in a large function.
    least: Within,
    /// The loop depth of blocks, by their index in the order of blocks. (A block between a loop's
    /// first and last counts as part of the loop.)
    within: Vec<Within>,
    /// The LIR instructions that copies may still take.
    room: usize,
}

/// The loop depth of a block.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Within {
    /// In no loop.
    Nothing,
    /// Only in loops that contain other loops.
    Loops,
    /// In an innermost loop.
    Innermost,
}

impl Within {
    /// The loop depth of each block, by its index.
    fn of(f: &Function) -> Vec<Within> {
        let places = f.places();
        // The end of a loop, by its header's index.
        let mut ends = vec![0; f.order.len()];
        for (place, &b) in f.order.iter().enumerate() {
            for edge in f.blocks[b].term.edges() {
                let target = places[edge.block];
                if target <= place {
                    ends[target] = place + 1;
                }
            }
        }
        let mut within = vec![Within::Nothing; f.order.len()];
        // A loop's header comes after that of the loop around it.
        for (header, &end) in ends.iter().enumerate().filter(|(_, end)| **end > 0) {
            let has_other = ends[header + 1..end].iter().any(|end| *end > 0);
            within[header..end].fill(if has_other {
                Within::Loops
            } else {
                Within::Innermost
            });
        }
        within
    }
}

impl<'a> Policy<'a> {
    pub(super) fn new(f: &Function, routines: Routines<'a>) -> Policy<'a> {
        let insts = f.order.iter().flat_map(|&b| &f.blocks[b].insts);
        let is_code = |op: &Op| !matches!(op, Op::Const(_) | Op::ConstInt(_) | Op::Arg(_));
        let count = insts.filter(|v| is_code(f.op(**v))).count();
        Policy {
            routines,
            known: FxHashMap::default(),
            is_large: count > SMALL,
            least: if count > LARGE {
                Within::Innermost
            } else {
                Within::Loops
            },
            within: Within::of(f),
            room: MAX_COPIED,
        }
    }

    /// Returns true if a store that runs once per call is better than stores in many cold blocks:
    /// in a large function, outside loops.
    pub(super) fn prefers_few(&self, place: usize) -> bool {
        self.is_large && self.within[place] == Within::Nothing
    }

    /// Returns true if a store before a loop is better than stores in many cold blocks of the loop.
    pub(super) fn prefers_few_behind(&self, place: usize) -> bool {
        self.is_large && self.within[place] != Within::Innermost
    }
}

/// The number of instructions of a function, terminators included.
pub(super) fn size(func: &Func) -> usize {
    let blocks = func.order.iter();
    blocks.map(|&b| func.blocks[b].insts.len() + 1).sum()
}

/// A routine as a function. None for intrinsics that must be inlined. `callee` is the address of
/// [its callee](Routine::callee).
pub fn routine(host: &Host, routine: Routine, callee: Option<u64>) -> Option<Func> {
    if let Routine::Intrinsic(id) = routine {
        return intrinsic(host, id);
    }
    host.lifetimes.are_counted().then(|| match routine {
        Routine::Intrinsic(_) => unreachable!("it is made above"),
        Routine::IncrefAll(count) => incref_all(host, count),
        Routine::Release => release(host),
        Routine::Drop => drop_object(host),
        Routine::DropAt | Routine::DropUnseen => drop_object_at(host, routine, callee),
        Routine::EndAt | Routine::EndUnseen => dealloc_object_at(host, routine),
        Routine::Replace => replace(host),
        Routine::Pending => pending(host),
    })
}

fn name(host: &Host, routine: Routine) -> String {
    match routine {
        Routine::Intrinsic(id) => format!("intrinsic {}", host.intrinsics[id].name),
        Routine::IncrefAll(count) => format!("incref {count}"),
        Routine::Release => "release".to_owned(),
        Routine::Drop => "drop".to_owned(),
        Routine::DropAt => "drop at".to_owned(),
        Routine::EndAt => "end at".to_owned(),
        Routine::DropUnseen => "drop unseen".to_owned(),
        Routine::EndUnseen => "end unseen".to_owned(),
        Routine::Replace => "replace".to_owned(),
        Routine::Pending => "pending".to_owned(),
    }
}

/// The reference to a routine in LIR.
fn reference(host: &Host, routine: Routine, address: u64, signature: Signature) -> lir::RoutineRef {
    lir::RoutineRef {
        name: name(host, routine),
        address,
        signature,
        keeps_most: routine.keeps_most(host),
        runs_host_code: routine.runs_host_code(host),
    }
}

fn incref_all(host: &Host, count: usize) -> Func {
    let routine = Routine::IncrefAll(count);
    let mut func = Func::new(name(host, routine), incref_all_signature(count));
    let params = func.params().to_vec();
    let mut b = Builder::new(&mut func);
    let incref = &host.intrinsics[host.intrinsic(names::INCREF)].func;
    for p in params {
        b.inline(incref, &[p], None);
    }
    b.ret(&[]);
    func
}

fn incref_all_signature(count: usize) -> Signature {
    Signature::new(&vec![Ty::Ptr; count], &[])
}

fn release(host: &Host) -> Func {
    let mut func = Func::new(name(host, Routine::Release), release_signature());
    let p = func.params()[0];
    let mut b = Builder::new(&mut func);
    let is_all = drop_reference(&mut b, host, p);
    b.ret(&[is_all]);
    func
}

fn release_signature() -> Signature {
    Signature::new(&[Ty::Ptr], &[Ty::Bool])
}

fn drop_object(host: &Host) -> Func {
    let mut func = Func::new(name(host, Routine::Drop), drop_signature());
    let p = func.params()[0];
    drop_and_return(Builder::new(&mut func), host, p);
    func
}

fn replace(host: &Host) -> Func {
    let mut func = Func::new(name(host, Routine::Replace), replace_signature());
    let params = func.params().to_vec();
    let mut b = Builder::new(&mut func);
    let old = b.load(Width::Ptr, params[0], 0);
    b.store(Width::Ptr, params[0], 0, params[1]);
    drop_and_return(b, host, old);
    func
}

fn replace_signature() -> Signature {
    Signature::new(&[Ty::Ptr; 2], &[])
}

fn drop_and_return(mut b: Builder<'_>, host: &Host, p: lir::Value) {
    let (done, last) = (b.block(), b.cold_block());
    drop_if_there(&mut b, host, p, done, last);
    b.switch_to(done);
    b.ret(&[]);
    b.switch_to(last);
    b.call(host.helper(DEALLOC), &[p], &[]);
    b.ret(&[]);
}

fn drop_signature() -> Signature {
    Signature::new(&[Ty::Ptr], &[])
}

fn drop_object_at(host: &Host, routine: Routine, end: Option<u64>) -> Func {
    let mut func = Func::new(name(host, routine), drop_at_signature(routine));
    let params = func.params().to_vec();
    let p = params[0];
    let mut b = Builder::new(&mut func);
    let (done, some, last) = (b.block(), b.block(), b.cold_block());
    let null = b.is_null(p);
    b.br(null, done, &[], some, &[]);
    b.switch_to(some);
    let drop = &host.intrinsics[host.intrinsic(names::DROP)].func;
    b.inline(drop, &[p], Some(last));
    b.jump(done, &[]);
    b.switch_to(done);
    let valid = b.bconst(true);
    b.ret(&[valid]);
    b.switch_to(last);
    match (end, routine.callee()) {
        (Some(address), Some(callee)) => {
            let end = reference(host, callee, address, drop_at_signature(callee));
            let end = b.routine(end);
            let valid = b.call_routine(end, &params);
            b.ret(&valid);
        }
        _ => dealloc_at_position(&mut b, host, &params),
    }
    func
}

fn dealloc_object_at(host: &Host, routine: Routine) -> Func {
    let mut func = Func::new(name(host, routine), drop_at_signature(routine));
    let params = func.params().to_vec();
    let mut b = Builder::new(&mut func);
    dealloc_at_position(&mut b, host, &params);
    func
}

/// Deallocates an object, and returns true if the unit may continue or, without its cells, if no
/// user code ran.
fn dealloc_at_position(b: &mut Builder<'_>, host: &Host, params: &[lir::Value]) {
    let &[p, frame, position, ref rest @ ..] = params else {
        unreachable!("the signature has three parameters or more")
    };
    let (done, seen) = (b.block(), b.block());
    // A deallocation without side effects needs no frame.
    let freed = b.call(host.helper(FREE_LEAF), &[p], &[Ty::I64])[0];
    let freed = b.icmp_imm(IntCond::Ne, freed, 0);
    b.br(freed, done, &[], seen, &[]);
    b.switch_to(done);
    let valid = b.bconst(true);
    b.ret(&[valid]);
    b.switch_to(seen);
    let intrinsic = |name| &host.intrinsics[host.intrinsic(name)].func;
    b.inline(intrinsic(names::SET_POSITION), &[frame, position], None);
    b.call(host.helper(DEALLOC), &[p], &[]);
    let valid = match *rest {
        [thread, cells] => still_valid(b, host, thread, frame, cells),
        _ => lir::Results::from_slice(&[b.bconst(false)]),
    };
    b.ret(&valid);
}

fn drop_at_signature(routine: Routine) -> Signature {
    let params = match routine {
        Routine::DropUnseen | Routine::EndUnseen => 3,
        _ => 5,
    };
    Signature::new(&[Ty::Ptr; 5][..params], &[Ty::Bool])
}

fn pending(host: &Host) -> Func {
    let mut func = Func::new(name(host, Routine::Pending), pending_signature());
    let params = func.params().to_vec();
    let &[thread, frame, cells] = &params[..] else {
        unreachable!("the signature has three parameters")
    };
    let mut b = Builder::new(&mut func);
    let (done, quiet, leave) = (b.block(), b.block(), b.block());
    let intrinsic = |name| &host.intrinsics[host.intrinsic(name)].func;
    let status = b.call(host.helper("handle_pending"), &[thread], &[Ty::I64])[0];
    let failed = b.icmp_imm(IntCond::Slt, status, 0);
    b.br(failed, leave, &[], done, &[]);
    b.switch_to(done);
    let nothing = b.inline(intrinsic(names::NOTHING_PENDING), &[thread, cells], None)[0];
    b.br(nothing, quiet, &[], leave, &[]);
    b.switch_to(quiet);
    let valid = still_valid(&mut b, host, thread, frame, cells);
    b.ret(&valid);
    b.switch_to(leave);
    let no = b.bconst(false);
    b.ret(&[no]);
    func
}

fn pending_signature() -> Signature {
    Signature::new(&[Ty::Ptr; 3], &[Ty::Bool])
}

/// True if a unit that has these [cells](crate::host::UnitCells) may continue.
fn still_valid(
    b: &mut Builder<'_>,
    host: &Host,
    thread: lir::Value,
    frame: lir::Value,
    cells: lir::Value,
) -> lir::Results {
    let state = b.padd_imm(cells, STATE_OFFSET as i64);
    let intrinsic = &host.intrinsics[host.intrinsic(names::STILL_VALID)].func;
    b.inline(intrinsic, &[thread, frame, state, cells], None)
}

/// Drops a reference to a possibly null value. Continues at `last` if it was the last one,
/// otherwise at `done`.
fn drop_if_there(
    b: &mut Builder<'_>,
    host: &Host,
    p: lir::Value,
    done: lir::Block,
    last: lir::Block,
) {
    let some = b.block();
    let null = b.is_null(p);
    b.br(null, done, &[], some, &[]);
    b.switch_to(some);
    let is_all = drop_reference(b, host, p);
    b.br(is_all, done, &[], last, &[]);
}

/// Drops a reference to an object. Returns true if that is all.
fn drop_reference(b: &mut Builder<'_>, host: &Host, p: lir::Value) -> lir::Value {
    let (done, last) = (b.block(), b.cold_block());
    let is_all = b.param(done, Ty::Bool);
    let drop = &host.intrinsics[host.intrinsic(names::DROP)].func;
    b.inline(drop, &[p], Some(last));
    let yes = b.bconst(true);
    b.jump(done, &[yes]);
    b.switch_to(last);
    // A deallocation without side effects needs no frame.
    let freed = b.call(host.helper(FREE_LEAF), &[p], &[Ty::I64])[0];
    let freed = b.icmp_imm(IntCond::Ne, freed, 0);
    b.jump(done, &[freed]);
    b.switch_to(done);
    is_all
}

/// The intrinsic as a function. If it can fail, its first result is true if it did not. None for
/// intrinsics that must be inlined: those that use the caller's own frame, or have too many
/// results.
fn intrinsic(host: &Host, id: IntrinsicId) -> Option<Func> {
    let intrinsic = &host.intrinsics[id];
    let callee = &intrinsic.func;
    let mut insts = callee.order.iter().flat_map(|&b| &callee.blocks[b].insts);
    let signature = signature(intrinsic)?;
    if insts.any(|inst| inst.op == Opcode::Sp) || !host.lifetimes.are_counted() {
        return None;
    }
    let can_fail = intrinsic.can_fail();
    let mut func = Func::new(name(host, Routine::Intrinsic(id)), signature);
    let params = func.params().to_vec();
    let mut b = Builder::new(&mut func);
    b.func.slots.extend_from_slice(&callee.slots);
    b.copy_body(callee, &params, 0, &mut |b, end| {
        let is_done = matches!(end, End::Return(_));
        let mut results = match end {
            End::Return(values) => values,
            End::Fail => callee
                .signature
                .results
                .iter()
                .map(|ty| nothing(b, *ty))
                .collect(),
            End::Exit(..) => panic!("intrinsic {} holds an exit", callee.name),
        };
        if can_fail {
            results.insert(0, b.bconst(is_done));
        }
        Term::Return(results)
    });
    Some(func)
}

/// A placeholder value.
pub(super) fn nothing(b: &mut Builder<'_>, ty: Ty) -> lir::Value {
    match ty {
        Ty::I64 => b.iconst(0),
        Ty::F64 => b.fconst(0.0),
        Ty::Bool => b.bconst(false),
        Ty::Ptr => b.pconst(0),
    }
}

/// The signature of an intrinsic's routine.
fn signature(intrinsic: &crate::host::Intrinsic) -> Option<Signature> {
    let mut signature = intrinsic.func.signature.clone();
    if intrinsic.can_fail() {
        signature.results.insert(0, Ty::Bool);
    }
    (signature.results.len() <= 2 && signature.params.len() <= 6).then_some(signature)
}

impl Lower<'_> {
    /// Performs an intrinsic, inlined or called; if it fails, continues at `on_fail`.
    pub(super) fn perform(
        &mut self,
        id: IntrinsicId,
        args: &[lir::Value],
        on_fail: Option<lir::Block>,
    ) -> lir::Results {
        let host = self.host;
        let intrinsic = &host.intrinsics[id];
        let size = size(&intrinsic.func);
        let is_cold = self.is_cold();
        let Some(routine) = self.called(Routine::Intrinsic(id), size) else {
            if self.policy.is_large && size >= WORTH_A_CALL {
                self.policy.room = self.policy.room.saturating_sub(size);
            }
            return self.b.inline(&intrinsic.func, args, on_fail);
        };
        let mut results = self.b.call_routine(routine, args);
        if intrinsic.can_fail() {
            let on_fail = on_fail
                .unwrap_or_else(|| panic!("{} may fail but its op has no exit", intrinsic.name));
            let is_done = results.remove(0);
            let go = self.b.block();
            self.b.func.blocks[go].cold = is_cold;
            self.b.br(is_done, go, &[], on_fail, &[]);
            self.b.switch_to(go);
        }
        results
    }

    /// The routine, if it is to be called here instead of inlining `size` instructions.
    pub(super) fn called(&mut self, routine: Routine, size: usize) -> Option<lir::RoutineId> {
        let is_cold = self.is_cold();
        let policy = &self.policy;
        let within = policy.within[self.place];
        let is_affordable = within >= policy.least && policy.room >= size.min(MAX_COPIED / 8);
        let is_copied = size < WORTH_A_CALL
            || match (policy.is_large, is_cold) {
                (true, true) => false,
                (true, false) => is_affordable,
                // A call takes registers from the loop; copies in cold blocks do so only where they
                // call.
                (false, is_cold) => !is_cold || within != Within::Nothing,
            };
        if is_copied {
            return None;
        }
        if let Some(known) = policy.known.get(&routine) {
            return *known;
        }
        let made = self.reference_to(routine);
        let id = made.map(|made| self.b.routine(made));
        self.policy.known.insert(routine, id);
        id
    }

    /// The reference to a routine in LIR, if it is available.
    fn reference_to(&self, routine: Routine) -> Option<lir::RoutineRef> {
        let address = (self.policy.routines)(routine)?;
        let signature = match routine {
            Routine::Intrinsic(id) => signature(&self.host.intrinsics[id])?,
            Routine::IncrefAll(count) => incref_all_signature(count),
            Routine::Release => release_signature(),
            Routine::Drop => drop_signature(),
            Routine::DropAt | Routine::EndAt | Routine::DropUnseen | Routine::EndUnseen => {
                drop_at_signature(routine)
            }
            Routine::Replace => replace_signature(),
            Routine::Pending => pending_signature(),
        };
        Some(reference(self.host, routine, address, signature))
    }

    /// Runs the pending work. Returns true if the unit may continue.
    pub(super) fn pending_is_done(&mut self) -> lir::Value {
        let operands = [self.thread, self.frame, self.b.pconst(self.parts.cells)];
        let results = match self.called(Routine::Pending, usize::MAX) {
            Some(routine) => self.b.call_routine(routine, &operands),
            None => {
                let mut func = pending(self.host);
                for block in func.blocks.values_mut() {
                    block.cold = true;
                }
                let results = self.b.inline(&func, &operands, None);
                let behind = self.b.current();
                self.b.func.blocks[behind].cold = true;
                results
            }
        };
        results[0]
    }

    pub(super) fn is_cold(&self) -> bool {
        self.b.func.blocks[self.b.current()].cold
    }
}

#[cfg(test)]
mod tests {
    use super::Within::{self, Innermost, Loops, Nothing};

    /// A loop with two loops inside, a block behind each, and a separate loop.
    #[test]
    fn a_loop_is_innermost_if_no_other_is_in_it() {
        let f = crate::hir::parse_only(
            r#"code "f" {
  params 1
  stack 1
  local a
  load_fast a
  return_value
}

function "f" {
bb0 {@0 [v1] []}:
    v0: CBool = const_bool true
    v1: Object = arg 0
    jump bb1 {@0 [v1]}
bb1 loop {@0 [v1] []}:
    jump bb2 {@0 [v1]}
bb2 loop {@0 [v1] []}:
    branch v0, bb2, bb3 {@0 [v1]}
bb3 {@0 [v1] []}:
    jump bb4 {@0 [v1]}
bb4 loop {@0 [v1] []}:
    branch v0, bb4, bb5 {@0 [v1]}
bb5 {@0 [v1] []}:
    branch v0, bb1, bb6 {@0 [v1]}
bb6 loop {@0 [v1] []}:
    branch v0, bb6, bb7 {@0 [v1]}
bb7 {@0 [v1] []}:
    return v1 {@1 [v1]}
}
"#,
        );
        let expected = [
            Nothing, Loops, Innermost, Loops, Innermost, Loops, Innermost, Nothing,
        ];
        let found: Vec<Within> = Within::of(&f);
        assert!(found == expected);
    }
}
