//! Builds a [`Code`] instruction by instruction, with labels for targets: for tests, and for hosts
//! with a different bytecode.

use super::{Code, Const, Handler, Instr, LocalKind, Op, Pc, VerifierErrors};
use crate::types::Type;

/// A place in the code that jumps and handlers can refer to before it is known.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Label(u32);

/// The reason why a code could not be finished.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BuildError {
    /// A used label was never bound to a place.
    #[error("label {0:?} is used but bound to no place")]
    Unbound(Label),
    /// The code is not well-formed.
    #[error(transparent)]
    Invalid(#[from] VerifierErrors),
}

/// A [`Code`] under construction.
///
/// ```
/// use cladonia::bytecode::{CodeBuilder, Op, BinaryOp};
/// let mut b = CodeBuilder::new("twice");
/// let x = b.param("x");
/// b.emit(Op::LoadFast, x).emit(Op::LoadFast, x);
/// b.emit(Op::BinaryOp, BinaryOp::Add as u32).emit(Op::ReturnValue, 0);
/// let code = b.finish().unwrap();
/// assert_eq!(code.stacksize, 2);
/// ```
#[derive(Debug)]
pub struct CodeBuilder {
    code: Code,
    labels: Vec<Option<Pc>>,
    jumps: Vec<(usize, Label)>,
    handlers: Vec<(Label, Label, Label, u32, bool)>,
    line: u32,
}

impl CodeBuilder {
    /// An empty function.
    pub fn new(name: impl Into<String>) -> CodeBuilder {
        let code = Code {
            name: name.into(),
            file: String::new(),
            line: 1,
            argcount: 0,
            kwonly: 0,
            varargs: false,
            varkeywords: false,
            is_generator: false,
            is_coroutine: false,
            last_first: false,
            operators_last_first: false,
            globals: 0,
            optimized: true,
            locals: Vec::new(),
            stacksize: 0,
            consts: Vec::new(),
            names: Vec::new(),
            instrs: Vec::new(),
            handlers: Vec::new(),
            local_hints: Vec::new(),
        };
        CodeBuilder {
            code,
            labels: Vec::new(),
            jumps: Vec::new(),
            handlers: Vec::new(),
            line: 1,
        }
    }

    /// The code so far, for fields that have no method here.
    pub fn code_mut(&mut self) -> &mut Code {
        &mut self.code
    }

    /// Adds a positional parameter. Parameters come before other locals.
    pub fn param(&mut self, name: &str) -> u32 {
        self.code.argcount += 1;
        self.local(name, LocalKind::Local)
    }

    /// Adds a local.
    pub fn local(&mut self, name: &str, kind: LocalKind) -> u32 {
        self.code.locals.push((name.to_owned(), kind));
        self.code.locals.len() as u32 - 1
    }

    /// The index of a global's or attribute's name, which is added if it is new.
    pub fn name(&mut self, name: &str) -> u32 {
        let names = &mut self.code.names;
        let known = names.iter().position(|known| known == name);
        known.unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        }) as u32
    }

    /// Adds a constant.
    pub fn constant(&mut self, constant: Const) -> u32 {
        self.code.consts.push(constant);
        self.code.consts.len() as u32 - 1
    }

    /// Sets the source line of the following instructions.
    pub fn line(&mut self, line: u32) -> &mut Self {
        self.line = line;
        self
    }

    /// Adds an instruction.
    pub fn emit(&mut self, op: Op, arg: u32) -> &mut Self {
        self.emit2(op, arg, 0)
    }

    /// Adds an instruction with a second argument.
    pub fn emit2(&mut self, op: Op, arg: u32, arg2: u32) -> &mut Self {
        let pos = self.code.instrs.len() as u32;
        let line = self.line;
        self.code.instrs.push(Instr {
            op,
            arg,
            arg2,
            pos,
            resume: pos,
            resumable: true,
            hint: Vec::new(),
            items: None,
            line,
        });
        self
    }

    /// Adds a jump.
    pub fn jump(&mut self, op: Op, target: Label) -> &mut Self {
        self.jumps.push((self.code.instrs.len(), target));
        self.emit(op, 0)
    }

    /// Sets the observed types of the last instruction.
    pub fn hint(&mut self, types: &[Type]) -> &mut Self {
        if let Some(last) = self.code.instrs.last_mut() {
            last.hint = types.to_vec();
        }
        self
    }

    /// A new label, not bound yet.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() as u32 - 1)
    }

    /// Binds a label to the next instruction.
    pub fn bind(&mut self, label: Label) -> &mut Self {
        self.labels[label.0 as usize] = Some(Pc(self.code.instrs.len() as u32));
        self
    }

    /// A new label, bound to the next instruction.
    pub fn here(&mut self) -> Label {
        let label = self.label();
        self.bind(label);
        label
    }

    /// Adds a handler for the instructions from `start` to before `end`, which unwinds the stack to
    /// `depth`.
    pub fn handler(
        &mut self,
        start: Label,
        end: Label,
        target: Label,
        depth: u32,
        lasti: bool,
    ) -> &mut Self {
        self.handlers.push((start, end, target, depth, lasti));
        self
    }

    /// The finished code, verified, with the stack size that it needs.
    ///
    /// # Errors
    /// See [`BuildError`].
    pub fn finish(self) -> Result<Code, BuildError> {
        let CodeBuilder {
            mut code,
            labels,
            jumps,
            handlers,
            ..
        } = self;
        let place = |label: Label| labels[label.0 as usize].ok_or(BuildError::Unbound(label));
        for (at, label) in jumps {
            code.instrs[at].arg = place(label)?.0;
        }
        for (start, end, target, depth, lasti) in handlers {
            let (start, end, target) = (place(start)?, place(end)?, place(target)?);
            code.handlers.push(Handler {
                start,
                end,
                target,
                depth,
                lasti,
            });
        }
        code.stacksize = u32::MAX;
        code.verify()?;
        let depths = code.stack_depths();
        let after = code.pcs().filter_map(|(pc, instr)| {
            let successors = instr.successors(depths[pc.0 as usize]?)?;
            successors.next.max(successors.jump.map(|(_, depth)| depth))
        });
        code.stacksize = after
            .chain(depths.iter().copied().flatten())
            .max()
            .unwrap_or(0);
        Ok(code)
    }
}
