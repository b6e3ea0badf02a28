//! The results of an analysis, as data.

use super::identity::{Identity, Kind, Slot};
use super::program::FuncId;
use super::value::Facts;
use crate::hir::{Block, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

/// A block that stays blocked: its operation cannot run with any of the operands that reach it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Blocked {
    /// The function, with the types that it was analysed for.
    pub function: String,
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The operation.
    pub op: String,
    /// Each variable of the operation, with the facts about it.
    pub variables: Vec<String>,
    /// The possible callees.
    pub callees: Vec<String>,
    /// True for a call that never returns.
    pub is_call: bool,
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Blocked block -- operation cannot succeed")?;
        writeln!(f, "    {}", self.op)?;
        writeln!(f, "In {}:", self.function)?;
        writeln!(f, "Happened at file {} line {}", self.file, self.line)?;
        if !self.callees.is_empty() {
            writeln!(f, "Possible callees: {}", self.callees.join(", "))?;
        }
        writeln!(f, "Known variable annotations:")?;
        for variable in &self.variables {
            writeln!(f, "    {variable}")?;
        }
        Ok(())
    }
}

/// The results for one function and one group of its call sites.
#[derive(Clone, Debug)]
pub struct Found {
    /// The function.
    pub func: FuncId,
    /// Its name, with the types of the group.
    pub name: String,
    /// The facts about each value, joined over all versions found.
    pub values: BTreeMap<Value, Facts>,
    /// The facts about its result.
    pub result: Facts,
    /// The facts about its exceptions.
    pub raised: Facts,
    /// The blocks that are reachable.
    pub reached: BTreeSet<Block>,
    /// The reached blocks that do not run to their end, each with the operation that is blocked or
    /// never returns.
    pub stops: BTreeMap<Block, Value>,
}

/// The facts about the insides of the objects that one place allocates.
#[derive(Clone, Debug)]
pub struct Object {
    /// The kind of the objects.
    pub kind: Kind,
    /// The name of a function or class; for an instance, the name of its class.
    pub name: String,
    /// The facts about each slot that is stored to or read.
    pub slots: BTreeMap<Slot, Facts>,
    /// True if one of the objects is reachable from outside the analysed program.
    pub escaped: bool,
}

/// The results of an analysis.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The versions of functions that were reached, in program order.
    pub versions: Vec<Found>,
    /// The objects of the analysed program.
    pub objects: BTreeMap<Identity, Object>,
    /// Blocks that stay blocked.
    pub blocked: Vec<Blocked>,
    /// The sets of functions that share a call site.
    pub families: Vec<BTreeSet<String>>,
    /// The number of operations evaluated, over all rounds.
    pub steps: u64,
    /// The number of times a fact was widened, over all rounds.
    pub changes: u64,
    /// The number of rounds.
    pub rounds: usize,
    /// The bindings and annotations, as text.
    pub text: String,
    /// For each function, its arguments, result, exceptions and unreached blocks, as text.
    pub summary: String,
    /// The same text without names that depend on the order of steps.
    pub canonical: String,
    /// The steps, if [`Options`](super::Options) asked to keep them.
    pub trace: String,
}

impl Analysis {
    /// The blocked blocks that are an error in strict mode.
    pub fn errors(&self) -> impl Iterator<Item = &Blocked> {
        self.blocked.iter().filter(|blocked| !blocked.is_call)
    }

    /// The printed report: the steps if they were kept, the bindings and annotations, the call
    /// families and, in strict mode, each block that stays blocked. Values are numbered in the
    /// order in which they are named.
    pub fn print(&self, strict: bool) -> String {
        let mut text = self.trace.clone();
        if !text.is_empty() {
            text.push('\n');
        }
        text += &self.text;
        let families = self.families.iter().filter(|family| family.len() > 1);
        for (index, family) in families.enumerate() {
            if index == 0 {
                text += "Call families:\n";
            }
            let names: Vec<&str> = family.iter().map(String::as_str).collect();
            let _ = writeln!(text, "    {}", names.join(", "));
        }
        for error in self.errors().filter(|_| strict) {
            let _ = write!(text, "\n{error}");
        }
        renumbered(&text)
    }

    /// The versions of a function.
    pub fn of(&self, func: FuncId) -> impl Iterator<Item = &Found> {
        self.versions.iter().filter(move |found| found.func == func)
    }
}

/// The text with its values numbered in the order in which they are named, and its columns aligned.
fn renumbered(text: &str) -> String {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut parts = text.split("SV");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let length = part.bytes().take_while(u8::is_ascii_digit).count();
        let (old, rest) = part.split_at(length);
        let next = numbers.len() + 1;
        let _ = write!(out, "SV{}{rest}", numbers.entry(old).or_insert(next));
    }
    let aligned = out.lines().map(|line| match line.split_once('\t') {
        Some((row, source)) => format!("{row:<44} {source}\n"),
        None => format!("{line}\n"),
    });
    aligned.collect()
}
