//! The text form of HIR.

use super::function::{Edge, FrameState, Function, Term, Value};
use super::ops::Op;
use crate::facts::Source;
use crate::types::Type;
use std::fmt;

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "function {} {{", self.code.name)?;
        for &block in &self.order {
            let data = &self.blocks[block];
            write!(f, "{block}")?;
            if !data.params.is_empty() {
                write!(f, "(")?;
                for (i, (v, place)) in data.params.iter().enumerate() {
                    let sep = if i > 0 { ", " } else { "" };
                    let place = match place {
                        super::Place::Local(k) => &self.code.locals[*k as usize].0,
                        super::Place::Stack(k) => &format!("stack{k}"),
                        super::Place::Bound(k) => {
                            &format!("bound({})", self.code.locals[*k as usize].0)
                        }
                    };
                    write!(f, "{sep}{v}: {} {place}", self.ty(*v))?;
                }
                write!(f, ")")?;
            }
            writeln!(f, ":{}", if data.is_loop_header { " ; loop" } else { "" })?;
            for &v in &data.insts {
                writeln!(f, "    {}", PrintInst(self, v))?;
            }
            match &data.term {
                Term::Jump(e) => writeln!(f, "    jump {}", PrintEdge(self, e))?,
                Term::Branch { cond, then, els } => writeln!(
                    f,
                    "    branch {}, {}, {}",
                    self.resolve(*cond),
                    PrintEdge(self, then),
                    PrintEdge(self, els)
                )?,
                Term::MayRaise { op, next, raised } => writeln!(
                    f,
                    "    may_raise {op}, {}, {}",
                    PrintEdge(self, next),
                    PrintEdge(self, raised)
                )?,
                Term::Return(v) => writeln!(f, "    return {}", self.resolve(*v))?,
                Term::Unreachable => writeln!(f, "    unreachable")?,
            }
        }
        writeln!(f, "}}")
    }
}

struct PrintEdge<'a>(&'a Function, &'a Edge);

impl fmt::Display for PrintEdge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.1.block)?;
        if !self.1.args.is_empty() {
            let args: Vec<String> = self
                .1
                .args
                .iter()
                .map(|a| self.0.resolve(*a).to_string())
                .collect();
            write!(f, "({})", args.join(", "))?;
        }
        Ok(())
    }
}

struct PrintInst<'a>(&'a Function, Value);

impl fmt::Display for PrintInst<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PrintInst(function, v) = *self;
        let inst = &function.insts[v];
        let mut line = String::new();
        if !inst.ty.is_bottom() {
            line += &format!("{v}: {} = ", inst.ty);
        }
        line += inst.op.name();
        let immediate = match &inst.op {
            Op::Arg(k) | Op::LoadSlot(k) | Op::StoreSlot(k) | Op::Output(k) => format!(" {k}"),
            Op::Const(object) => format!(" {}", Type::from_object(*object)),
            Op::ConstInt(n) => format!(" {n}"),
            Op::ConstDouble(bits) => format!(" {:?}", f64::from_bits(*bits)),
            Op::ConstBool(b) => format!(" {b}"),
            Op::GuardType(t) | Op::Refine(t) => format!(" {t}"),
            Op::CheckClasses(types) | Op::IsClass(types) => {
                let types: Vec<String> = types.iter().map(Type::to_string).collect();
                format!(" {}", types.join(" | "))
            }
            Op::GuardIs(object) => format!(" {}", Type::from_object(*object)),
            Op::GuardTrue(reason) => format!(" {reason}"),
            Op::IntCmp(c) | Op::FloatCmp(c) => format!(" {}", c.name()),
            Op::Check(call) | Op::Load(call) | Op::Store(call) => {
                format!(" {}{:?}", call.id, call.imms)
            }
            Op::General(op, imms) if op.info().imms > 0 => {
                format!(" {:?}", &imms[..op.info().imms as usize])
            }
            _ => String::new(),
        };
        line += &immediate;
        for (i, arg) in inst.args.iter().enumerate() {
            line += if i == 0 { " " } else { ", " };
            line += &function.resolve(*arg).to_string();
        }
        match inst.source {
            Source::Proved => {}
            source => line += &format!(" ; {source}"),
        }
        if let Some(state) = inst.state {
            line += &format!("  {}", PrintState(function, &function.states[state]));
        }
        f.write_str(&line)
    }
}

struct PrintState<'a>(&'a Function, &'a FrameState);

impl fmt::Display for PrintState<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PrintState(function, state) = *self;
        let locals: Vec<String> = state
            .locals
            .iter()
            .map(|l| function.resolve(*l).to_string())
            .collect();
        let stack: Vec<String> = state
            .stack
            .iter()
            .map(|e| {
                format!(
                    "{}{}",
                    if e.owned { "" } else { "&" },
                    function.resolve(e.value)
                )
            })
            .collect();
        write!(
            f,
            "{{{} [{}] [{}]}}",
            state.pc,
            locals.join(" "),
            stack.join(" ")
        )
    }
}
