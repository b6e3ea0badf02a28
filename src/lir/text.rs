//! The text form of a function, printed. `parse` reads it back.
//!
//! ```text
//! function "item"(ptr, i64) -> ptr {
//!   slot0 16
//!   sig0 (ptr, i64) -> (i64, bool)
//!   refs v0, v4
//!
//! block0(v0: ptr, v1: i64):
//!   v2 = load.i64 v0+16
//!   v3 = icmp ult v1, v2
//!   br v3, block1, block2
//!
//! block1:
//!   v4 = call list_get(v0, v1)
//!   return v4
//!
//! block2 cold:
//!   exit exit0(v0, v1)
//! }
//! ```
//! Each result's type follows from its line, so a line can be read alone. `;` begins a comment.

use super::graph::{
    Block, BlockCall, BlockData, Func, Helper, HelperId, Imm, Inst, Signature, Term, Value,
};
use cranelift_entity::PrimaryMap;
use std::fmt::{self, Write};

/// The text form of a function.
pub fn print(func: &Func, helpers: &PrimaryMap<HelperId, Helper>) -> String {
    let mut printer = Printer {
        func,
        helpers,
        out: String::new(),
    };
    printer.function().expect("writing to a string");
    printer.out
}

/// The text of one instruction of a function.
pub(super) fn instruction(
    func: &Func,
    helpers: &PrimaryMap<HelperId, Helper>,
    block: Block,
    index: usize,
) -> String {
    let mut printer = Printer {
        func,
        helpers,
        out: String::new(),
    };
    let inst = &func.blocks[block].insts[index];
    printer.inst(inst).expect("writing to a string");
    printer.out
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = |types: &[crate::ll::Ty]| {
            types
                .iter()
                .map(|ty| ty.name())
                .collect::<Vec<_>>()
                .join(", ")
        };
        write!(f, "({})", types(&self.params))?;
        match &self.results[..] {
            [] => Ok(()),
            [ty] => write!(f, " -> {ty}"),
            results => write!(f, " -> ({})", types(results)),
        }
    }
}

/// Returns true if a name needs no quotes: it can't be confused with another token.
pub(super) fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
}

struct Printer<'a> {
    func: &'a Func,
    helpers: &'a PrimaryMap<HelperId, Helper>,
    out: String,
}

impl Printer<'_> {
    fn function(&mut self) -> fmt::Result {
        let func = self.func;
        writeln!(self.out, "function {:?}{} {{", func.name, func.signature)?;
        for (number, bytes) in func.slots.iter().enumerate() {
            writeln!(self.out, "  slot{number} {bytes}")?;
        }
        for (id, sig) in &func.sigs {
            writeln!(self.out, "  {id} {sig}")?;
        }
        for (id, routine) in &func.routines {
            writeln!(self.out, "  {id} {:?} {}", routine.name, routine.signature)?;
        }
        self.refs()?;
        for &block in &func.order {
            if !self.out.ends_with("{\n") {
                self.out.push('\n');
            }
            write!(self.out, "{block}")?;
            match func.blocks.get(block) {
                Some(data) => self.block(data)?,
                None => writeln!(self.out, ": ; does not exist")?,
            }
        }
        self.out.push_str("}\n");
        Ok(())
    }

    fn refs(&mut self) -> fmt::Result {
        let refs = &self.func.refs;
        if refs.is_empty() {
            return Ok(());
        }
        let values = refs.values.iter().map(|value| value.to_string());
        let slots = refs.slots.iter().map(|number| format!("slot{number}"));
        let names: Vec<String> = values.chain(slots).collect();
        writeln!(self.out, "  refs {}", names.join(", "))
    }

    /// A malformed function is printed too, to help with finding the fault.
    fn ty(&self, value: Value) -> &'static str {
        self.func.values.get(value).map_or("?", |ty| ty.name())
    }

    fn block(&mut self, data: &BlockData) -> fmt::Result {
        for (index, &param) in data.params.iter().enumerate() {
            let open = if index == 0 { "(" } else { ", " };
            write!(self.out, "{open}{param}: {}", self.ty(param))?;
        }
        let close = if data.params.is_empty() { "" } else { ")" };
        let cold = if data.cold { " cold" } else { "" };
        writeln!(self.out, "{close}{cold}:")?;
        for inst in &data.insts {
            self.out.push_str("  ");
            self.inst(inst)?;
            self.out.push('\n');
        }
        if let Some(term) = &data.term {
            self.out.push_str("  ");
            self.term(term)?;
            self.out.push('\n');
        }
        Ok(())
    }

    fn inst(&mut self, inst: &Inst) -> fmt::Result {
        if !inst.results.is_empty() {
            self.values(&inst.results)?;
            self.out.push_str(" = ");
        }
        self.out.push_str(inst.op.info().name);
        match inst.imm {
            Imm::None => {
                if let (true, [result, ..]) = (inst.op.names_type(), &inst.results[..]) {
                    write!(self.out, ".{}", self.ty(*result))?;
                }
            }
            Imm::Int(n) => write!(self.out, " {n}")?,
            Imm::Float(bits) => self.float(bits)?,
            Imm::Addr(address) => write!(self.out, " {address:#x}")?,
            Imm::IntCond(cond) => write!(self.out, " {}", cond.name())?,
            Imm::FloatCond(cond) => write!(self.out, " {}", cond.name())?,
            Imm::Mem { width, offset } => return self.memory(width.name(), offset, &inst.args),
            Imm::Helper(id) => {
                match self.helpers.get(id) {
                    Some(helper) if is_plain(helper.name) => write!(self.out, " {}", helper.name)?,
                    Some(helper) => write!(self.out, " {:?}", helper.name)?,
                    None => write!(self.out, " {id}")?,
                }
                return self.list(&inst.args);
            }
            Imm::Routine(id) => {
                write!(self.out, " {id}")?;
                return self.list(&inst.args);
            }
            Imm::Sig(id) => {
                write!(self.out, " {id}")?;
                if let Some((callee, args)) = inst.args.split_first() {
                    write!(self.out, " {callee}")?;
                    self.list(args)?;
                }
                return Ok(());
            }
        }
        if !inst.args.is_empty() {
            self.out.push(' ');
            self.values(&inst.args)?;
        }
        Ok(())
    }

    /// Shortest decimal form that gives the same bits; nan by its bits.
    fn float(&mut self, bits: u64) -> fmt::Result {
        match f64::from_bits(bits) {
            x if x.is_nan() => write!(self.out, " nan:{bits:#x}"),
            x => write!(self.out, " {x:?}"),
        }
    }

    fn memory(&mut self, width: &str, offset: i32, args: &[Value]) -> fmt::Result {
        write!(self.out, ".{width}")?;
        for (index, arg) in args.iter().enumerate() {
            let comma = if index == 0 { " " } else { ", " };
            write!(self.out, "{comma}{arg}")?;
            if index == 0 && offset != 0 {
                write!(self.out, "{offset:+}")?;
            }
        }
        Ok(())
    }

    fn term(&mut self, term: &Term) -> fmt::Result {
        match term {
            Term::Jump(call) => {
                self.out.push_str("jump ");
                self.call(call)
            }
            Term::Br {
                cond,
                then,
                els,
                quiet,
            } => {
                let op = if *quiet { "br.quiet" } else { "br" };
                write!(self.out, "{op} {cond}, ")?;
                self.call(then)?;
                self.out.push_str(", ");
                self.call(els)
            }
            Term::Return(values) if values.is_empty() => self.out.write_str("return"),
            Term::Return(values) => {
                self.out.push_str("return ");
                self.values(values)
            }
            Term::Fail => self.out.write_str("fail"),
            Term::Exit { exit, args } => {
                write!(self.out, "exit {exit}")?;
                self.list(args)
            }
            Term::Unreachable => self.out.write_str("unreachable"),
        }
    }

    fn call(&mut self, call: &BlockCall) -> fmt::Result {
        write!(self.out, "{}", call.block)?;
        if call.args.is_empty() {
            Ok(())
        } else {
            self.list(&call.args)
        }
    }

    fn list(&mut self, values: &[Value]) -> fmt::Result {
        self.out.push('(');
        self.values(values)?;
        self.out.push(')');
        Ok(())
    }

    fn values(&mut self, values: &[Value]) -> fmt::Result {
        for (index, value) in values.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            write!(self.out, "{comma}{value}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
