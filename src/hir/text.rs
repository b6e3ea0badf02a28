//! The text form of HIR, printed. [`parse`](super::parse) reads it back.
//!
//! ```text
//! function "f" {
//!   assume name_unchanged 7 "len"
//! bb0 {@0 [v0] []}:
//!     v0: Nullptr = null
//!     v1: Object = arg 0
//!     v2: LongExact = guard_type LongExact v1 guarded {@0 [v1] []}
//!     jump bb1(v2) {@2 [v2]}
//! bb1(v3: LongExact n) loop {@2 [v3] []}:
//!     ...
//! }
//! ```
//! The state at a block's start is printed before its colon. After a terminator come the block's
//! last bytecode instruction and the locals there. A state is the instruction, the locals, and the
//! stack from the bottom, with `&` before borrowed entries; then the frames of inlined calls, each
//! as `in`, the number of its code, its instruction, locals and stack. `at` gives an instruction's
//! place in the bytecode where that is not the one of its state (without one: of the instruction
//! before it). A value without a type is there for a terminator or a list that names it.

use super::Place;
use super::function::{Edge, Entry, FrameState, Function, Inst, Term, Value};
use crate::bytecode::{Pc, Words};
use crate::facts::Source;
use crate::types::{Quoted, Type};
use cranelift_entity::{EntityRef, EntitySet};
use rustc_hash::FxHashSet;
use std::fmt::{self, Display, Write};

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer {
            f: self,
            words: Words::of(&self.code),
            named: named(self),
            out: String::new(),
        };
        printer.function()?;
        f.write_str(&printer.out)
    }
}

/// Values that are named in the text.
fn named(f: &Function) -> EntitySet<Value> {
    let mut named = EntitySet::with_capacity(f.insts.len());
    let mut add = |v: Value| {
        named.insert(f.resolve(v));
    };
    let state = |state: &FrameState, add: &mut dyn FnMut(Value)| {
        state.values().for_each(add);
    };
    for &b in &f.order {
        let block = &f.blocks[b];
        state(&block.entry_state, &mut add);
        for &v in &block.insts {
            f.insts[v].args.iter().for_each(|a| add(*a));
            if let Some(id) = f.insts[v].state {
                state(&f.states[id], &mut add);
            }
        }
        match &block.term {
            Term::Branch { cond: v, .. } | Term::MayRaise { op: v, .. } | Term::Return(v) => {
                add(*v)
            }
            Term::Jump(_) | Term::Unreachable => {}
        }
        let edges = block.term.edges();
        edges.iter().flat_map(|e| &e.args).for_each(|a| add(*a));
        block.out_locals.iter().for_each(|v| add(*v));
    }
    let listed = f.relied_on.iter().chain(&f.settled).chain(&f.asserted);
    listed.for_each(|v| add(*v));
    named
}

struct Printer<'a> {
    f: &'a Function,
    words: Words<'a>,
    named: EntitySet<Value>,
    out: String,
}

impl Printer<'_> {
    fn function(&mut self) -> fmt::Result {
        let f = self.f;
        writeln!(self.out, "function {} {{", Quoted(&f.code.name))?;
        self.preamble()?;
        for &b in &f.order {
            let block = &f.blocks[b];
            write!(self.out, "{b}")?;
            for (i, &(v, place)) in block.params.iter().enumerate() {
                self.out.push_str(if i == 0 { "(" } else { ", " });
                self.param(v, place, block.entry_state.pc)?;
            }
            self.out
                .push_str(if block.params.is_empty() { "" } else { ")" });
            self.out
                .push_str(if block.is_loop_header { " loop " } else { " " });
            self.state(&block.entry_state)?;
            self.out.push_str(":\n");
            let mut pc = block.entry_state.pc;
            for &v in &block.insts {
                self.out.push_str("    ");
                self.inst(v, pc)?;
                self.out.push('\n');
                pc = f.insts[v].pc;
            }
            self.out.push_str("    ");
            self.term(&block.term)?;
            write!(self.out, " {{{} ", block.end)?;
            self.values(&block.out_locals)?;
            self.out.push_str("}\n");
        }
        self.out.push_str("}\n");
        Ok(())
    }

    /// The lines that belong to the function as a whole.
    fn preamble(&mut self) -> fmt::Result {
        let f = self.f;
        for (word, names) in [("names", &f.names), ("unsteady", &f.unsteady_names)] {
            if !names.is_empty() {
                let names: Vec<String> = names.iter().map(|k| self.words.names.word(*k)).collect();
                writeln!(self.out, "  {word} {}", names.join(", "))?;
            }
        }
        for assumption in &f.assumptions {
            writeln!(self.out, "  assume {}", assumption)?;
        }
        let listed = |set: &FxHashSet<Value>| {
            let mut list: Vec<Value> = set.iter().copied().filter(|v| self.stands(*v)).collect();
            list.sort_by_key(|v| v.index());
            list
        };
        let (settled, asserted) = (listed(&f.settled), listed(&f.asserted));
        for (word, values) in [
            ("relied_on", &f.relied_on),
            ("settled", &settled),
            ("asserted", &asserted),
        ] {
            if !values.is_empty() {
                write!(self.out, "  {word} ")?;
                self.values(values)?;
                self.out.push('\n');
            }
        }
        for proved in &f.proved {
            let (what, why) = (Quoted(&proved.what), Quoted(&proved.why));
            writeln!(self.out, "  proved {} {what} {why}", proved.pc)?;
        }
        for (second, first) in &f.fused {
            writeln!(self.out, "  fused {second} {first}")?;
        }
        for inlined in &f.inlined {
            let (function, name) = (Type::from_object(inlined.function), &inlined.code.name);
            writeln!(self.out, "  inlined {function} {}", Quoted(name))?;
        }
        Ok(())
    }

    /// Returns true if the instruction is in a block.
    fn stands(&self, v: Value) -> bool {
        let blocks = self.f.order.iter().map(|b| &self.f.blocks[*b]);
        blocks.into_iter().any(|block| block.insts.contains(&v))
    }

    fn param(&mut self, v: Value, place: Place, pc: Pc) -> fmt::Result {
        let locals = &self.words.locals;
        let place = match place {
            Place::Local(k) => locals.word(k),
            Place::Stack(k) => format!("stack({k})"),
            Place::Name(k) => format!("name({})", self.words.names.word(k)),
            Place::Bound(k) => format!("bound({})", locals.word(k)),
            Place::Inlined => "inlined()".to_owned(),
            Place::Carried => "carried()".to_owned(),
            Place::Field => "field()".to_owned(),
        };
        let inst = &self.f.insts[v];
        write!(self.out, "{v}: {} {place}", inst.ty)?;
        self.source(inst.source)?;
        self.place(inst.pc, pc)
    }

    /// An instruction; `before` is the place of the one before it.
    fn inst(&mut self, v: Value, before: Pc) -> fmt::Result {
        let inst: &Inst = &self.f.insts[v];
        if !inst.ty.is_bottom() {
            write!(self.out, "{v}: {} = ", inst.ty)?;
        } else if self.named.contains(v) {
            write!(self.out, "{v} = ")?;
        }
        self.out.push_str(inst.op.name());
        inst.op.print_immediates(&self.words, &mut self.out);
        for (i, arg) in inst.args.iter().enumerate() {
            let sep = if i == 0 { " " } else { ", " };
            write!(self.out, "{sep}{}", self.f.resolve(*arg))?;
        }
        self.source(inst.source)?;
        let mut here = before;
        if let Some(state) = inst.state {
            let state = &self.f.states[state];
            self.out.push(' ');
            self.state(state)?;
            here = state.pc;
        }
        self.place(inst.pc, here)
    }

    fn source(&mut self, source: Source) -> fmt::Result {
        match source {
            Source::Proved => Ok(()),
            source => write!(self.out, " {source}"),
        }
    }

    fn place(&mut self, pc: Pc, expected: Pc) -> fmt::Result {
        if pc == expected {
            return Ok(());
        }
        write!(self.out, " at {pc}")
    }

    fn state(&mut self, state: &FrameState) -> fmt::Result {
        write!(self.out, "{{{} ", state.pc)?;
        self.values(&state.locals)?;
        self.entries(&state.stack)?;
        for frame in &state.inlined {
            let awaited = frame.awaited.to_string();
            write!(self.out, " in {} {} {awaited}", frame.code, frame.pc)?;
            self.out.truncate(self.out.trim_end().len());
            self.entries(&frame.locals)?;
            self.entries(&frame.stack)?;
        }
        self.out.push('}');
        Ok(())
    }

    /// ` [v1 &v2]`
    fn entries(&mut self, entries: &[Entry]) -> fmt::Result {
        self.out.push_str(" [");
        for (i, entry) in entries.iter().enumerate() {
            let sep = if i == 0 { "" } else { " " };
            let borrowed = if entry.owned { "" } else { "&" };
            write!(self.out, "{sep}{borrowed}{}", self.f.resolve(entry.value))?;
        }
        self.out.push(']');
        Ok(())
    }

    /// `[v1 v2]`
    fn values(&mut self, values: &[Value]) -> fmt::Result {
        let f = self.f;
        let values: Vec<String> = values.iter().map(|v| f.resolve(*v).to_string()).collect();
        write!(self.out, "[{}]", values.join(" "))
    }

    fn term(&mut self, term: &Term) -> fmt::Result {
        let f = self.f;
        match term {
            Term::Jump(e) => write!(self.out, "jump {}", PrintEdge(f, e)),
            Term::Branch { cond, then, els } => {
                let (then, els) = (PrintEdge(f, then), PrintEdge(f, els));
                write!(self.out, "branch {}, {then}, {els}", f.resolve(*cond))
            }
            Term::MayRaise { op, next, raised } => {
                let (next, raised) = (PrintEdge(f, next), PrintEdge(f, raised));
                write!(self.out, "may_raise {op}, {next}, {raised}")
            }
            Term::Return(v) => write!(self.out, "return {}", f.resolve(*v)),
            Term::Unreachable => write!(self.out, "unreachable"),
        }
    }
}

struct PrintEdge<'a>(&'a Function, &'a Edge);

impl Display for PrintEdge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PrintEdge(function, edge) = self;
        write!(f, "{}", edge.block)?;
        if !edge.args.is_empty() {
            let args = edge.args.iter();
            let args: Vec<String> = args.map(|a| function.resolve(*a).to_string()).collect();
            write!(f, "({})", args.join(", "))?;
        }
        Ok(())
    }
}
