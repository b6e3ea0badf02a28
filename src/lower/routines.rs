//! Which intrinsics are copied into a unit and which are called.
//!
//! A copy costs the code generator as much as any other code, for each place. So a **routine**, the intrinsic as a function that is
//! compiled once, is called where speed does not matter (in cold blocks) and where copies would be too many: in a large function
//! outside its loops, of those in a very large one in all but the innermost, and everywhere once what was copied has come to
//! [`MOST_COPIED`].

use super::Lower;
use crate::hir::{Function, Op};
use crate::host::{DEALLOC, FREE_LEAF, Host, IntrinsicId, STATE_OFFSET, names};
use crate::lir::{self, Builder, End, Func, Imm, IntCond, Opcode, Signature, Term};
use crate::ll::{Ty, Width};
use rustc_hash::FxHashMap;

/// What may be called rather than copied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Routine {
    /// An intrinsic.
    Intrinsic(IntrinsicId),
    /// Take a reference to each of so many objects.
    IncrefAll(usize),
    /// Drop a reference to an object; says whether that is all. If not, it was the last one, and `dealloc` ends the object.
    Release,
    /// Drop a reference to what may be no object, and end the object if that was the last one. The frame is true for whoever looks.
    Drop,
    /// The same where the frame does not say yet at which instruction it is; says whether the unit may go on. The operands are the object,
    /// frame, the position, and then thread and the unit's [cells](crate::host::UnitCells).
    DropAt,
    /// What `DropAt` does with the last reference to an object. By itself, so that the other does not save registers for it.
    EndAt,
    /// What `DropAt` does, but says whether nobody has seen it: no code of the program has run. Without thread and the cells.
    DropUnseen,
    /// What `DropUnseen` does with the last reference to an object.
    EndUnseen,
    /// Store an object at an address, and do what `Drop` does with what was there.
    Replace,
    /// Do the work that is pending; says whether the unit may go on: that raised nothing, and left nothing. The operands are thread,
    /// frame, and the unit's [cells](crate::host::UnitCells).
    Pending,
}

impl Routine {
    /// The routine that this one calls, if that is to be had.
    pub fn callee(self) -> Option<Routine> {
        match self {
            Routine::DropAt => Some(Routine::EndAt),
            Routine::DropUnseen => Some(Routine::EndUnseen),
            _ => None,
        }
    }

    /// Whether it may run code of the program.
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

    /// Whether it [keeps most registers](lir::RoutineRef::keeps_most) of its caller: it calls nothing but where it seldom comes to, by ways
    /// that keep them, or takes so long that saving them does not matter. Then more of what lives across a call stays where it is, and for
    /// the register allocator a call is half as much.
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
            match hot.contains(*b) {
                true => calls.next().is_none(),
                false => calls.all(|call| is_guarded(host, call)),
            }
        })
    }
}

/// Whether what is called has a guard of registers.
fn is_guarded(host: &Host, call: &lir::Inst) -> bool {
    matches!(call.imm, Imm::Helper(id) if host.helpers[id].can_be_guarded())
}

/// Where a routine is, if it is to be had.
pub type Routines<'a> = &'a dyn Fn(Routine) -> Option<u64>;

/// Functions of fewer HIR instructions are made without regard to what copies cost, but for cold blocks.
const SMALL: usize = 300;

/// Of functions of more HIR instructions only the loops that have no other in them are given copies.
const LARGE: usize = 1000;

/// The LIR instructions that copies in the loops of a larger function may come to.
const MOST_COPIED: usize = 3000;

/// The references that one call takes at most: operands in registers.
pub(super) const MOST_TAKEN: usize = 6;

/// Intrinsics of fewer LIR instructions are always copied: a call is no less.
const WORTH_A_CALL: usize = 9;

/// What is called rather than copied.
pub(super) struct Policy<'a> {
    routines: Routines<'a>,
    /// Those that were asked for.
    known: FxHashMap<Routine, Option<lir::RoutineId>>,
    is_large: bool,
    /// The least that a block must be within to be given copies in a large function.
    least: Within,
    /// By the place in the order of blocks: what loops it is in. (A block between a loop's first and last that is not of the loop
    /// counts as if it were.)
    within: Vec<Within>,
    /// What copies may still come to.
    room: usize,
}

/// What loops a block is in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Within {
    /// None.
    Nothing,
    /// Some, but only with others in them.
    Loops,
    /// One that has no other in it.
    Innermost,
}

impl Within {
    /// Of each block, by its place in the order.
    fn of(f: &Function) -> Vec<Within> {
        let places = f.places();
        // By the place of its header: where a loop ends.
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
        // A loop's header comes behind that of one around it.
        for (header, &end) in ends.iter().enumerate().filter(|(_, end)| **end > 0) {
            let has_other = ends[header + 1..end].iter().any(|end| *end > 0);
            within[header..end].fill(match has_other {
                true => Within::Loops,
                false => Within::Innermost,
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
            least: match count > LARGE {
                true => Within::Innermost,
                false => Within::Loops,
            },
            within: Within::of(f),
            room: MOST_COPIED,
        }
    }

    /// Whether what a block does once a call is better done once than in many cold places: in a large function, outside loops.
    pub(super) fn prefers_few(&self, place: usize) -> bool {
        self.is_large && self.within[place] == Within::Nothing
    }

    /// Whether what a block does before a loop is better done there than in many cold places of the loop.
    pub(super) fn prefers_few_behind(&self, place: usize) -> bool {
        self.is_large && self.within[place] != Within::Innermost
    }
}

/// How many instructions a function has, terminators included.
pub(super) fn size(func: &Func) -> usize {
    let blocks = func.order.iter();
    blocks.map(|&b| func.blocks[b].insts.len() + 1).sum()
}

/// A routine as a function; none for what must be copied. It is told where [its callee](Routine::callee) is.
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
        Routine::EndAt | Routine::EndUnseen => end_object_at(host, routine),
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

/// What stands for a routine in LIR.
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
        _ => end_at_position(&mut b, host, &params),
    }
    func
}

fn end_object_at(host: &Host, routine: Routine) -> Func {
    let mut func = Func::new(name(host, routine), drop_at_signature(routine));
    let params = func.params().to_vec();
    let mut b = Builder::new(&mut func);
    end_at_position(&mut b, host, &params);
    func
}

/// End an object, and return whether the unit may go on: without its cells, if nobody has seen that.
fn end_at_position(b: &mut Builder<'_>, host: &Host, params: &[lir::Value]) {
    let &[p, frame, position, ref rest @ ..] = params else {
        unreachable!("the signature has three parameters or more")
    };
    let (done, seen) = (b.block(), b.block());
    // What dies unseen needs no frame.
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

/// Whether a unit that has these [cells](crate::host::UnitCells) may go on.
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

/// Drop a reference to what may be no object: on at `last` if it is to be ended, else at `done`.
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

/// Drop a reference to an object; gives whether that is all.
fn drop_reference(b: &mut Builder<'_>, host: &Host, p: lir::Value) -> lir::Value {
    let (done, last) = (b.block(), b.cold_block());
    let is_all = b.param(done, Ty::Bool);
    let drop = &host.intrinsics[host.intrinsic(names::DROP)].func;
    b.inline(drop, &[p], Some(last));
    let yes = b.bconst(true);
    b.jump(done, &[yes]);
    b.switch_to(last);
    // What dies unseen needs no frame.
    let freed = b.call(host.helper(FREE_LEAF), &[p], &[Ty::I64])[0];
    let freed = b.icmp_imm(IntCond::Ne, freed, 0);
    b.jump(done, &[freed]);
    b.switch_to(done);
    is_all
}

/// The intrinsic as a function: if it can fail, the first of what it returns says whether it did not. None for what must be copied:
/// what asks for the caller's own frame, or has too many results.
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

/// A value that stands where there is none.
pub(super) fn nothing(b: &mut Builder<'_>, ty: Ty) -> lir::Value {
    match ty {
        Ty::I64 => b.iconst(0),
        Ty::F64 => b.fconst(0.0),
        Ty::Bool => b.bconst(false),
        Ty::Ptr => b.pconst(0),
    }
}

/// What the routine of an intrinsic takes and gives.
fn signature(intrinsic: &crate::host::Intrinsic) -> Option<Signature> {
    let mut signature = intrinsic.func.signature.clone();
    if intrinsic.can_fail() {
        signature.results.insert(0, Ty::Bool);
    }
    (signature.results.len() <= 2 && signature.params.len() <= 6).then_some(signature)
}

impl Lower<'_> {
    /// Do what an intrinsic does, copied or called; where it fails, `on_fail` goes on.
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

    /// The routine, if it is to be called here rather than copied, which would be so many instructions.
    pub(super) fn called(&mut self, routine: Routine, size: usize) -> Option<lir::RoutineId> {
        let is_cold = self.is_cold();
        let policy = &self.policy;
        let within = policy.within[self.place];
        let is_affordable = within >= policy.least && policy.room >= size.min(MOST_COPIED / 8);
        let is_copied = size < WORTH_A_CALL
            || match (policy.is_large, is_cold) {
                (true, true) => false,
                (true, false) => is_affordable,
                // A call takes registers from the loop; copies of what is cold do so only where they call.
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

    /// What stands for a routine in LIR, if it is to be had.
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

    /// Do the work that is pending; gives whether the unit may go on.
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

    /// Two loops in one, a block behind each, and a loop by itself.
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
