//! What an analysis has found, as data.

use super::identity::{Identity, Kind, Slot};
use super::program::FuncId;
use super::value::Facts;
use crate::hir::{Block, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Write};

/// A block that stays blocked: its operation can't be carried out on what is known to come.
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
    /// Each variable of it, and what is known of it.
    pub variables: Vec<String>,
    /// What may be called there.
    pub callees: Vec<String>,
    /// Whether it is a call that merely never comes back.
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

/// A function for one group of its call sites.
#[derive(Clone, Debug)]
pub struct Found {
    /// The function.
    pub func: FuncId,
    /// Its name, with the types of the group.
    pub name: String,
    /// What each value may be, joined over all that was found.
    pub values: BTreeMap<Value, Facts>,
    /// What it returns.
    pub result: Facts,
    /// What it raises.
    pub raised: Facts,
    /// The blocks that something leads to.
    pub reached: BTreeSet<Block>,
    /// Of these the ones that do not come to their end: the operation that is blocked, or never comes back.
    pub stops: BTreeMap<Block, Value>,
}

/// What was found of the inside of the objects that one place makes.
#[derive(Clone, Debug)]
pub struct Object {
    /// What kind of objects they are.
    pub kind: Kind,
    /// The name of a function or class; of an instance its class's.
    pub name: String,
    /// What is in each slot that something was stored in or read from.
    pub slots: BTreeMap<Slot, Facts>,
    /// Whether one has reached what is beyond the known world.
    pub escaped: bool,
}

/// What an analysis has found.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// The versions of functions that were reached, in the order of the program.
    pub versions: Vec<Found>,
    /// The objects of the known world.
    pub objects: BTreeMap<Identity, Object>,
    /// Blocks that stay blocked.
    pub blocked: Vec<Blocked>,
    /// Sets of functions that meet at some call.
    pub families: Vec<BTreeSet<String>>,
    /// How many operations were evaluated, over all rounds.
    pub steps: u64,
    /// How often some fact became less, over all rounds.
    pub changes: u64,
    /// How many rounds there were.
    pub rounds: usize,
    /// Bindings and annotations.
    pub text: String,
    /// What each function takes, gives and raises, and what of it is not reached.
    pub summary: String,
    /// The same without names that depend on the order of steps.
    pub canonical: String,
    /// The steps, if they were kept.
    pub trace: String,
}

impl Analysis {
    /// The blocks that are an error in strict mode.
    pub fn errors(&self) -> impl Iterator<Item = &Blocked> {
        self.blocked.iter().filter(|blocked| !blocked.is_call)
    }

    /// What is printed of it: the steps if they were kept, bindings and annotations, call families, and in strict mode each
    /// block that stays blocked. Values are numbered in the order in which they are named.
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
