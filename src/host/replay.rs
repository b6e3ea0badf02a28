//! One compile as text: the host, the classes and objects with their addresses, and the whole
//! request, so that every stage can be repeated without the host (a bug report is one file).
//! `docs/text-forms.md` has the grammar.

mod read;

pub use read::{ReadUnit, read_units};

use super::{Host, Lifetimes, UnitParts, inlinee};
use crate::bytecode::{Code, Met, Numbers, Pc, Reason};
use crate::facts::{Answer, Assumption, Effects, Snapshot};
use crate::host::Entry;
use crate::lir::{self, Func};
use crate::types::{Declarations, Predefined, Quoted, Type};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// The complete input of a compile, except the host.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The code, with its hints.
    pub code: Code,
    /// The entry.
    pub entry: Entry,
    /// Types of the locals, and at a loop of the stack entries.
    pub live: Vec<Type>,
    /// Speculations that must not be repeated.
    pub avoid: HashSet<(Pc, Reason)>,
    /// The classes observed where a speculation failed.
    pub met: HashMap<Pc, Met>,
    /// The host's parts.
    pub parts: UnitParts,
    /// The queries to the `World`, with their answers.
    pub world: Snapshot,
}

impl Replay {
    /// The compile as text: a section of a document, which also needs the section of the host. It
    /// declares the classes and objects to which it refers; labels and addresses have the meaning
    /// that they had when it was written.
    pub fn print(&self, host: &Host) -> String {
        let mut unit = String::new();
        self.print_unit(host, &mut unit);
        unit
    }

    fn print_unit(&self, host: &Host, out: &mut String) {
        let _ = writeln!(out, "unit {} {{", Quoted(&self.code.name));
        let mut declarations = Declarations::with_tokens();
        self.declare(&mut declarations);
        indent(&declarations.text, out);
        let _ = match self.entry {
            Entry::Function => writeln!(out, "  entry function"),
            Entry::Loop(pc) => writeln!(out, "  entry loop {pc}"),
            Entry::Resume => writeln!(out, "  entry resume"),
        };
        if !self.live.is_empty() {
            let _ = writeln!(out, "  live {}", types(&self.live));
        }
        let mut avoid: Vec<_> = self.avoid.iter().collect();
        avoid.sort();
        for (pc, reason) in avoid {
            let _ = writeln!(out, "  avoid {pc} {reason}");
        }
        let mut met: Vec<_> = self.met.iter().collect();
        met.sort_by_key(|(pc, _)| **pc);
        for (pc, met) in met {
            let (seen, related) = (types(&met.seen), types(&met.related));
            let numbers = match met.numbers {
                None => "",
                Some(Numbers::Mixed) => " mixed",
                Some(Numbers::Any) => " any",
            };
            let _ = writeln!(out, "  met {pc} [{seen}] [{related}]{numbers}");
        }
        self.print_parts(host, out);
        for answer in self.world.answers() {
            indent(&answer.to_string(), out);
        }
        indent(&self.code.to_string(), out);
        out.push_str("}\n");
    }

    fn print_parts(&self, host: &Host, out: &mut String) {
        let parts = &self.parts;
        let _ = writeln!(out, "  token {}", parts.token);
        let _ = writeln!(out, "  cells {:#x} {:#x}", parts.cells, parts.loop_counter);
        let (base, scale) = (parts.position_base, parts.position_scale);
        let _ = writeln!(out, "  positions {base:#x} {scale}");
        if parts.objects_are_private {
            out.push_str("  private\n");
        }
        if let Some(table) = parts.force_table {
            let _ = writeln!(out, "  force {table:#x}");
        }
        if let Some(announcement) = &parts.announcement {
            let (word, hook) = (announcement.word, announcement.hook);
            let _ = writeln!(out, "  announce {word:#x} {hook:#x}");
            for name in &announcement.exempt_helpers {
                let _ = writeln!(out, "  exempt helper {}", Quoted(name));
            }
            for address in &announcement.exempt {
                let _ = writeln!(out, "  exempt {address:#x}");
            }
        }
        if let Some(namespace) = &parts.namespace {
            let (address, notes) = (namespace.address, namespace.notes);
            let _ = writeln!(out, "  namespace {address:#x} {notes}");
            for ((name, cell), live) in namespace.names.iter().zip(&namespace.live) {
                let _ = writeln!(out, "  name {name:#x} {cell:#x} {live}");
            }
        }
        let mut func = |word: &str, func: &Func| {
            let _ = writeln!(out, "  {word}");
            indent(&lir::print(func, &host.helpers), out);
        };
        func("enter", &parts.enter);
        func("leave", &parts.leave);
        if let Some(suspend) = &parts.suspend {
            func("suspend", suspend);
        }
        if let Some(closed) = &parts.closed {
            func("closed_enter", &closed.enter);
            let (boxed, raw) = (closed.boxed_cell, closed.raw_cell);
            let _ = writeln!(out, "  closed {boxed:#x} {raw:#x}");
        }
    }

    fn declare(&self, to: &mut Declarations) {
        self.code.declare(to);
        self.live.iter().for_each(|ty| to.ty(*ty));
        for met in self.met.values() {
            met.seen
                .iter()
                .chain(&met.related)
                .for_each(|ty| to.ty(*ty));
        }
        if let Some(namespace) = &self.parts.namespace {
            namespace.live.iter().for_each(|ty| to.ty(*ty));
        }
        for answer in self.world.answers() {
            declare_answer(answer, to);
        }
    }
}

fn declare_answer(answer: &Answer, to: &mut Declarations) {
    answer.receivers().iter().for_each(|ty| to.ty(*ty));
    answer.objects().into_iter().for_each(|o| to.object(o));
    if let Some(code) = inlinee::inlined_code(answer) {
        code.declare(to);
    }
    for assumption in answer.assumptions() {
        match assumption {
            Assumption::ClassUnchanged(class) => to.class(*class),
            Assumption::FunctionUnchanged(object) => to.object(*object),
            Assumption::NameUnchanged { .. } | Assumption::ObjectsPrivate => {}
        }
    }
}

/// The section of a host: its builtin classes, helpers, intrinsics, and the offset of a frame's
/// slots.
pub fn print_host(host: &Host) -> String {
    let mut out = format!("host {} {{\n", Quoted(host.name));
    let mut builtins = Declarations::with_tokens();
    for row in Predefined::ALL {
        if let Some(class) = host.id.builtin_class(*row) {
            builtins.class(class);
        }
    }
    indent(&builtins.text, &mut out);
    let _ = writeln!(out, "  slots {}", host.frame_slots);
    if host.unboxed_bits != 63 {
        let _ = writeln!(out, "  ints {}", host.unboxed_bits);
    }
    if let Lifetimes::Traced { native_stack } = host.lifetimes {
        let _ = writeln!(out, "  traced {native_stack}");
    }
    let (none, true_, false_) = (host.none, host.true_, host.false_);
    let _ = writeln!(out, "  singletons {none:#x} {true_:#x} {false_:#x}");
    for layout in &host.layouts {
        let _ = writeln!(out, "  layout {} {{", Quoted(layout.name));
        for field in &layout.fields {
            let _ = writeln!(out, "    {} {} {}", field.name, field.offset, field.width);
        }
        let _ = writeln!(out, "  }}");
    }
    for helper in host.helpers.values() {
        let (name, signature) = (Quoted(helper.name), &helper.signature);
        let _ = write!(out, "  helper {name} {:#x} {signature}", helper.address);
        // A helper's effects decide which values compiled code keeps where a collector finds them.
        if let (Lifetimes::Traced { .. }, Some(effects)) = (host.lifetimes, helper.effects) {
            out.push_str(" effects");
            print_effects(effects, &mut out);
        }
        out.push('\n');
    }
    for intrinsic in host.intrinsics.values() {
        let _ = write!(out, "  intrinsic {}", Quoted(intrinsic.name));
        print_effects(intrinsic.effects, &mut out);
        out.push('\n');
        indent(&lir::print(&intrinsic.func, &host.helpers), &mut out);
    }
    out + "}\n"
}

fn print_effects(effects: Effects, out: &mut String) {
    for (word, has) in [
        ("reads", effects.reads),
        ("writes", effects.writes),
        ("runs_host_code", effects.runs_host_code),
        ("raises", effects.raises),
        ("releases", effects.releases),
    ] {
        if has {
            let _ = write!(out, " {word}");
        }
    }
}

fn types(types: &[Type]) -> String {
    let types: Vec<String> = types.iter().map(Type::to_string).collect();
    types.join(", ")
}

/// Indents lines, since a section ends at a `}` that is not indented.
fn indent(text: &str, out: &mut String) {
    for line in text.lines() {
        out.push_str(if line.is_empty() { "" } else { "  " });
        out.push_str(line);
        out.push('\n');
    }
}
