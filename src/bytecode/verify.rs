//! The verifier: the properties of a [`Code`] on which every later stage relies.
//!
//! It reports all faults, each with its place. Stack depths are followed from the entry and from
//! handlers over all reachable code; of unreachable code only the arguments are checked.

use super::{ArgKind, BinaryOp, Code, Handler, INPLACE, Instr, LocalKind, Op, Pc};
use std::fmt;

/// A fault in a code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifierError {
    /// The instruction, or none for the code as a whole.
    pub pc: Option<Pc>,
    /// The fault.
    pub message: String,
}

impl fmt::Display for VerifierError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pc {
            Some(pc) => write!(f, "{pc}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// All faults of a code; one line each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifierErrors(pub Vec<VerifierError>);

impl fmt::Display for VerifierErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            let newline = if i > 0 { "\n" } else { "" };
            write!(f, "{newline}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for VerifierErrors {}

/// The successors of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Successors {
    /// Stack depth at the next instruction, if control reaches it from here.
    pub next: Option<u32>,
    /// Target of the jump, and the stack depth there.
    pub jump: Option<(Pc, u32)>,
}

impl Instr {
    /// Returns true if control never continues with the next instruction.
    pub fn ends_block(&self) -> bool {
        self.op.ends_block()
    }

    /// The successors without an exception, for a stack of `depth` entries before. None if that is
    /// too few.
    pub fn successors(&self, depth: u32) -> Option<Successors> {
        let info = self.op.info();
        let after = depth.checked_sub((info.pops)(self.arg, self.arg2))?
            + (info.pushes)(self.arg, self.arg2);
        let jump = (info.arg == ArgKind::Target).then(|| {
            // An exhausted iterator is popped.
            let depth = if self.op == Op::ForIter {
                after - 2 - self.arg2
            } else {
                after
            };
            (Pc(self.arg), depth)
        });
        Some(Successors {
            next: (!self.ends_block()).then_some(after),
            jump,
        })
    }
}

impl Handler {
    /// Stack depth at the handler: the kept entries, the position if `lasti` is set, the exception.
    pub fn entry_depth(&self) -> u32 {
        self.depth + u32::from(self.lasti) + 1
    }
}

impl Op {
    /// Returns true if control never continues with the next instruction.
    pub fn ends_block(self) -> bool {
        matches!(
            self,
            Op::Jump
                | Op::JumpBackward
                | Op::JumpBackwardNoInterrupt
                | Op::ReturnValue
                | Op::ReturnConst
                | Op::RaiseVarargs
                | Op::Reraise
                | Op::InterpreterExit
        )
    }

    /// The op of this name.
    pub fn from_name(name: &str) -> Option<Op> {
        Op::ALL.iter().copied().find(|op| op.info().name == name)
    }

    /// The largest second argument.
    fn max_arg2(self) -> u32 {
        match self {
            Op::LoadGlobal | Op::LoadAttr | Op::CompareOp => 1,
            Op::GetIter | Op::ForIter | Op::GetYieldFromIter => 1,
            Op::Send | Op::EndSend | Op::CleanupThrow => 1,
            Op::ImportName => 2,
            Op::LoadSuperAttr => 3,
            _ => 0,
        }
    }

    /// The range of a [`ArgKind::Count`] argument.
    fn counts(self) -> (u32, u32) {
        /// No host has more operands, and sums of these do not overflow.
        const MANY: u32 = 1 << 24;
        match self {
            Op::Swap | Op::BuildSlice => (2, if self == Op::BuildSlice { 3 } else { MANY }),
            Op::RaiseVarargs => (0, 2),
            Op::CallFunctionEx => (0, 1),
            Op::BuildInterpolation => (0, 7),
            Op::Copy
            | Op::ListAppend
            | Op::ListExtend
            | Op::SetAdd
            | Op::SetUpdate
            | Op::MapAdd
            | Op::DictUpdate
            | Op::DictMerge => (1, MANY),
            _ => (0, MANY),
        }
    }

    fn is_call(self) -> bool {
        matches!(self, Op::Call | Op::CallKw | Op::CallFunctionEx)
    }
}

impl Code {
    /// Checks the code.
    ///
    /// # Errors
    /// All its faults.
    pub fn verify(&self) -> Result<(), VerifierErrors> {
        let mut verifier = Verifier {
            code: self,
            errors: Vec::new(),
        };
        verifier.header();
        for (pc, instr) in self.pcs() {
            verifier.argument(pc, instr);
            verifier.places(pc, instr);
        }
        verifier.handlers();
        // Depths need valid arguments.
        if verifier.errors.is_empty() {
            verifier.depths();
        }
        if verifier.errors.is_empty() {
            Ok(())
        } else {
            Err(VerifierErrors(verifier.errors))
        }
    }

    /// The stack depth before each instruction; none for unreachable ones. The code must be valid.
    pub fn stack_depths(&self) -> Vec<Option<u32>> {
        Verifier {
            code: self,
            errors: Vec::new(),
        }
        .depths()
    }

    /// The instructions with their indexes.
    pub fn pcs(&self) -> impl DoubleEndedIterator<Item = (Pc, &Instr)> {
        self.instrs
            .iter()
            .enumerate()
            .map(|(i, instr)| (Pc(i as u32), instr))
    }
}

struct Verifier<'a> {
    code: &'a Code,
    errors: Vec<VerifierError>,
}

impl Verifier<'_> {
    fn error(&mut self, pc: Option<Pc>, message: impl Into<String>) {
        self.errors.push(VerifierError {
            pc,
            message: message.into(),
        });
    }

    fn header(&mut self) {
        let code = self.code;
        let flags = u64::from(code.varargs) + u64::from(code.varkeywords);
        let params = u64::from(code.argcount) + u64::from(code.kwonly) + flags;
        if params > code.locals.len() as u64 {
            self.error(
                None,
                format!("{params} parameters but {} locals", code.locals.len()),
            );
        }
        if !code.local_hints.is_empty() && code.local_hints.len() != code.locals.len() {
            self.error(
                None,
                format!(
                    "{} hints for {} locals",
                    code.local_hints.len(),
                    code.locals.len()
                ),
            );
        }
        let is_free = |local: &(String, LocalKind)| local.1 == LocalKind::Free;
        if let Some(first) = code.locals.iter().position(is_free)
            && !code.locals[first..].iter().all(is_free)
        {
            self.error(
                None,
                "the cells of enclosing functions are not the last locals",
            );
        }
        if code.instrs.is_empty() {
            self.error(None, "no instructions");
        }
    }

    fn argument(&mut self, pc: Pc, instr: &Instr) {
        let (code, op, arg) = (self.code, instr.op, instr.arg);
        let name = op.info().name;
        let (what, limit) = match op.info().arg {
            ArgKind::None => ("argument", 1),
            ArgKind::Flag => ("flag", 2),
            ArgKind::Local => ("local", code.locals.len()),
            ArgKind::Const => ("constant", code.consts.len()),
            ArgKind::Name => ("name", code.names.len()),
            ArgKind::Target => ("target", code.instrs.len()),
            ArgKind::Binary => ("operator", BinaryOp::ALL.len() + INPLACE as usize),
            kind @ (ArgKind::Compare
            | ArgKind::UnaryIntrinsic
            | ArgKind::BinaryIntrinsic
            | ArgKind::Conversion
            | ArgKind::FunctionAttribute
            | ArgKind::SpecialMethod) => {
                let (what, names) = kind.variants().unwrap_or_default();
                (what, names.len())
            }
            ArgKind::Count => {
                let (low, high) = op.counts();
                if arg < low || arg > high {
                    self.error(Some(pc), format!("{name} takes {low} to {high}, not {arg}"));
                }
                ("", usize::MAX)
            }
        };
        if arg as usize >= limit {
            self.error(Some(pc), format!("{name} has no {what} {arg}"));
            return;
        }
        if instr.arg2 > op.max_arg2() {
            self.error(
                Some(pc),
                format!("{name} has no second argument {}", instr.arg2),
            );
        }
        if op == Op::CopyFreeVars {
            let free = code
                .locals
                .iter()
                .filter(|local| local.1 == LocalKind::Free)
                .count();
            if arg as usize != free {
                self.error(
                    Some(pc),
                    format!("{name} copies {arg} cells, but there are {free}"),
                );
            }
        }
        let wants_cell = matches!(
            op,
            Op::LoadDeref | Op::StoreDeref | Op::DeleteDeref | Op::LoadFromDictOrDeref
        );
        // A comprehension that was inlined may have a cell of its own in a slot that the function
        // uses for a cell of an enclosing function.
        let wants_cell = wants_cell || op == Op::MakeCell;
        let kind = code.locals.get(arg as usize).map(|local| local.1);
        if wants_cell && kind == Some(LocalKind::Local) {
            self.error(Some(pc), format!("{name} of a local that is no such cell"));
        }
    }

    fn places(&mut self, pc: Pc, instr: &Instr) {
        if instr.resume > instr.pos {
            self.error(
                Some(pc),
                format!(
                    "resumes at {} behind its position {}",
                    instr.resume, instr.pos
                ),
            );
        }
        let before = pc.0.checked_sub(1).map(|i| &self.code.instrs[i as usize]);
        match before {
            Some(before) if instr.resumable && before.pos >= instr.resume => {
                self.error(
                    Some(pc),
                    format!("begins at {}, inside the instruction before", instr.resume),
                );
            }
            Some(before)
                if !instr.resumable && (before.pos, before.resume) != (instr.pos, instr.resume) =>
            {
                self.error(
                    Some(pc),
                    "is a later part of another instruction than the one before",
                );
            }
            None if !instr.resumable => self.error(Some(pc), "is the later part of no instruction"),
            _ => {}
        }
        let hints = instr.hint.len();
        // The null beside an iterator has no type to observe.
        let pair = match instr.op {
            Op::ForIter | Op::Send | Op::EndSend | Op::CleanupThrow => 0,
            _ => instr.arg2.min(3),
        };
        let operands = (instr.op.info().pops)(instr.arg.min(1 << 24), pair) as usize;
        let fits = hints == 0
            || instr.is_unreached()
            || if instr.op.is_call() {
                // The callee, and perhaps its only argument.
                hints == 1 || (hints, instr.op, instr.arg) == (2, Op::Call, 1)
            } else {
                hints == operands
            };
        if !fits {
            self.error(Some(pc), format!("{hints} hints for {operands} operands"));
        }
    }

    fn handlers(&mut self) {
        let end = self.code.instrs.len() as u32;
        for handler in &self.code.handlers {
            let Handler {
                start,
                end: stop,
                target,
                ..
            } = *handler;
            if start >= stop || stop.0 > end {
                self.error(None, format!("a handler covers {start} to {stop}"));
            }
            if target.0 >= end {
                self.error(None, format!("a handler at {target}, outside the code"));
            }
            if handler.depth > self.code.stacksize {
                self.error(
                    None,
                    format!(
                        "a handler keeps {} entries of a stack of {}",
                        handler.depth, self.code.stacksize
                    ),
                );
            }
        }
    }

    /// Follows the depths from the entry; the arguments have been checked.
    fn depths(&mut self) -> Vec<Option<u32>> {
        let code = self.code;
        let mut depths: Vec<Option<u32>> = vec![None; code.instrs.len()];
        let mut covering: Vec<Vec<&Handler>> = vec![Vec::new(); code.instrs.len()];
        for handler in &code.handlers {
            for covering in covering
                .iter_mut()
                .take(handler.end.0 as usize)
                .skip(handler.start.0 as usize)
            {
                covering.push(handler);
            }
        }
        let mut todo = Vec::new();
        self.reach(Pc(0), 0, None, &mut depths, &mut todo);
        while let Some(pc) = todo.pop() {
            let (instr, depth) = (code.instr(pc), depths[pc.0 as usize].unwrap_or(0));
            // The innermost handler is the last.
            if let Some(handler) = covering[pc.0 as usize].last() {
                if depth < handler.depth {
                    self.error(
                        Some(pc),
                        format!(
                            "its handler keeps {} entries, but there are {depth}",
                            handler.depth
                        ),
                    );
                }
                self.reach(
                    handler.target,
                    handler.entry_depth(),
                    Some(pc),
                    &mut depths,
                    &mut todo,
                );
            }
            let Some(successors) = instr.successors(depth) else {
                let pops = (instr.op.info().pops)(instr.arg, instr.arg2);
                self.error(
                    Some(pc),
                    format!(
                        "{} takes {pops} entries, but there are {depth}",
                        instr.op.info().name
                    ),
                );
                continue;
            };
            // Entries left on the stack would never be dropped.
            let left = match instr.op {
                Op::ReturnValue => depth - 1,
                Op::ReturnConst => depth,
                _ => 0,
            };
            if left > 0 {
                self.error(
                    Some(pc),
                    format!("returns with {left} entries on the stack"),
                );
            }
            if let Some((target, depth)) = successors.jump {
                self.reach(target, depth, Some(pc), &mut depths, &mut todo);
            }
            if let Some(depth) = successors.next {
                self.reach(Pc(pc.0 + 1), depth, Some(pc), &mut depths, &mut todo);
            }
        }
        depths
    }

    fn reach(
        &mut self,
        to: Pc,
        depth: u32,
        from: Option<Pc>,
        depths: &mut [Option<u32>],
        todo: &mut Vec<Pc>,
    ) {
        let Some(known) = depths.get_mut(to.0 as usize) else {
            self.error(from, "control runs past the end");
            return;
        };
        match *known {
            None => {
                *known = Some(depth);
                todo.push(to);
                if depth > self.code.stacksize {
                    self.error(
                        from,
                        format!("{depth} entries on a stack of {}", self.code.stacksize),
                    );
                }
            }
            Some(known) if known != depth => {
                self.error(
                    from,
                    format!("reaches {to} with {depth} entries, where others have {known}"),
                );
            }
            Some(_) => {}
        }
    }
}
