//! The coverage of random programs: the ops of the bytecode and the HIR that are compiled, and the
//! exits that are taken.

use crate::check::{Plan, Program, ways};
use crate::runtime::Session;
use cladonia::bytecode::{Document, GeneralOp, Op, Reason};
use cladonia::engine::Entry;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::rc::Rc;

/// Ops of the bytecode that no program of this host uses: it has no generators, modules or groups
/// of exceptions.
const ABSENT: &[Op] = &[
    Op::GetYieldFromIter,
    Op::Send,
    Op::EndSend,
    Op::YieldValue,
    Op::ReturnGenerator,
    Op::CallIntrinsic2,
    Op::BuildInterpolation,
    // Programs have one op for the beginning of a `with` statement.
    Op::LoadSpecial,
    Op::CheckEgMatch,
    Op::BeforeAsyncWith,
    Op::GetAwaitable,
    Op::GetAiter,
    Op::GetAnext,
    Op::EndAsyncFor,
    Op::CleanupThrow,
    Op::ImportName,
    Op::ImportFrom,
    Op::ExitInitCheck,
    Op::InterpreterExit,
];

/// Primitive ops of the HIR, except for features that this host lacks: closed units, and names of a
/// namespace in registers.
const PRIMITIVE: &[&str] = &[
    "param",
    "arg",
    "load_slot",
    "const",
    "const_int",
    "const_double",
    "const_bool",
    "null",
    "store_slot",
    "incref",
    "decref",
    "guard_type",
    "check_classes",
    "is_class",
    "guard_is",
    "guard_bound",
    "guard_true",
    "refine",
    "check_valid",
    "check_pending",
    "box_int",
    "box_float",
    "box_bool",
    "box_int_if",
    "box_float_if",
    "unbox_int",
    "unbox_float",
    "unbox_bool",
    "int_add",
    "int_sub",
    "int_mul",
    "int_floordiv",
    "int_mod",
    "int_truediv",
    "int_and",
    "int_or",
    "int_xor",
    "int_shl",
    "int_shr",
    "int_neg",
    "int_invert",
    "int_cmp",
    "int_to_double",
    "int_to_double_exact",
    "bool_to_int",
    "float_add",
    "float_sub",
    "float_mul",
    "float_div",
    "float_floordiv",
    "float_mod",
    "float_pow",
    "float_neg",
    "float_abs",
    "float_sqrt",
    "float_to_int",
    "float_cmp",
    "select",
    "bool_not",
    "is",
    "is_null",
    "is_none",
    "list_len",
    "tuple_len",
    "str_len",
    "str_eq",
    "str_at",
    "index",
    "list_get",
    "list_set",
    "tuple_get",
    "list_append",
    "list_slice",
    "list_copy_slice",
    "new_cell",
    "cell_get",
    "cell_set",
    "range_next",
    "iter_more",
    "list_iter_next",
    "tuple_iter_next",
    "iter_end",
    "output",
    "check",
    "load",
    "store",
    "call_direct",
];

/// Counters by name.
type Counts = BTreeMap<String, u64>;

/// The coverage so far.
#[derive(Default)]
pub struct Coverage {
    programs: u64,
    calls: u64,
    raised: u64,
    units: u64,
    loop_units: u64,
    invalidated: u64,
    native_calls: u64,
    /// Functions inlined, once for each unit, and exits taken in them.
    inlined: (u64, u64),
    /// Instructions of functions that were compiled.
    bytecode: Counts,
    /// Instructions of the optimised HIR.
    hir: Counts,
    /// Exits that compiled code has.
    exits_made: Counts,
    /// Exits that were taken.
    exits_taken: Counts,
    refused: Counts,
}

/// The kept part of a unit.
struct Seen {
    name: String,
    is_loop: bool,
    /// The optimised HIR.
    selected: String,
    exits: Vec<String>,
}

impl Coverage {
    /// Runs a program in the forms of execution of a plan, and notes its coverage.
    ///
    /// # Errors
    /// If the program is invalid.
    pub fn add(&mut self, program: &Program, plan: &Plan) -> Result<(), String> {
        let document = Document::parse(&program.text).map_err(|e| e.to_string())?;
        self.programs += 1;
        let by_name: BTreeMap<&str, _> = document
            .codes
            .iter()
            .map(|code| (code.name.as_str(), code))
            .collect();
        for (_, mut options) in ways(plan) {
            options.keep_text = true;
            options.max_steps = plan.max_steps;
            let session = Session::new(options).map_err(|e| e.to_string())?;
            let seen: Rc<RefCell<Vec<Seen>>> = Rc::default();
            let notes = seen.clone();
            session.on_compile(Box::new(move |name, entry, unit| {
                let selected = unit.dumps.iter().find(|(stage, _)| *stage == "selected");
                let exits = unit.exits.heads().iter();
                notes.borrow_mut().push(Seen {
                    name: name.to_owned(),
                    is_loop: matches!(entry, Entry::Loop(_)),
                    selected: selected.map_or(String::new(), |(_, text)| text.clone()),
                    exits: exits
                        .map(|exit| exit_name(exit.kind.raises(), exit.reason))
                        .collect(),
                });
            }));
            {
                let loaded = session.load_codes(&document.codes);
                let loaded = loaded.map_err(|e| e.to_string())?;
                for (name, args) in &program.calls {
                    for _ in 0..plan.times {
                        self.calls += 1;
                        self.raised += u64::from(loaded.call(name, args).is_err());
                    }
                }
            }
            for unit in seen.borrow().iter() {
                self.units += 1;
                self.loop_units += u64::from(unit.is_loop);
                let code = by_name.get(unit.name.as_str());
                for instr in code.map_or(&[][..], |code| &code.instrs) {
                    count(&mut self.bytecode, instr.op.info().name);
                }
                ops_of(&unit.selected).for_each(|op| count(&mut self.hir, op));
                let exits = unit.exits.iter();
                exits.for_each(|exit| count(&mut self.exits_made, exit));
            }
            let statistics = session.statistics();
            self.invalidated += statistics.invalidated;
            self.native_calls += statistics.native_calls;
            self.inlined.0 += statistics.inlined;
            self.inlined.1 += statistics.inlined_exits;
            for (&(kind, reason), times) in &statistics.exits_by_reason {
                *self
                    .exits_taken
                    .entry(exit_name(kind.raises(), reason))
                    .or_default() += times;
            }
            for (_, why) in &statistics.refused {
                count(&mut self.refused, why);
            }
        }
        Ok(())
    }

    /// The coverage as a table.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{} programs, {} calls ({} raised), {} native calls, {} units ({} of loops), {} invalidated, {} functions inlined, {} exits in them\n",
            self.programs,
            self.calls,
            self.raised,
            self.native_calls,
            self.units,
            self.loop_units,
            self.invalidated,
            self.inlined.0,
            self.inlined.1,
        );
        let ops = Op::ALL.iter().filter(|op| !ABSENT.contains(op));
        let ops = ops.map(|op| op.info().name.to_owned()).collect();
        section(
            &mut text,
            "bytecode ops in compiled functions",
            &ops,
            &self.bytecode,
        );
        let general: BTreeSet<String> = GeneralOp::ALL
            .iter()
            .map(|op| op.info().name.to_owned())
            .collect();
        let mut primitive: BTreeSet<String> = PRIMITIVE.iter().map(|op| (*op).to_owned()).collect();
        primitive.extend(self.hir.keys().filter(|op| !general.contains(*op)).cloned());
        section(
            &mut text,
            "primitive ops in optimised HIR",
            &primitive,
            &self.hir,
        );
        section(
            &mut text,
            "general ops in optimised HIR",
            &general,
            &self.hir,
        );
        let made = self.exits_made.keys().cloned().collect();
        section(
            &mut text,
            "exits taken, of the kinds compiled code has",
            &made,
            &self.exits_taken,
        );
        if !self.refused.is_empty() {
            let _ = writeln!(text, "\nnot compiled:");
            for (why, times) in &self.refused {
                let _ = writeln!(
                    text,
                    "  {times:8}  {}",
                    why.lines().next().unwrap_or_default()
                );
            }
        }
        text
    }
}

fn count(counts: &mut Counts, name: &str) {
    *counts.entry(name.to_owned()).or_default() += 1;
}

fn exit_name(raises: bool, reason: Reason) -> String {
    let how = if raises { "raise" } else { "resume" };
    format!("{how}:{reason}")
}

/// The ops in the text of a function: `v1: Type = op operands`, or `op operands` alone.
fn ops_of(text: &str) -> impl Iterator<Item = &str> {
    let lines = text
        .lines()
        .filter(|line| line.starts_with("    ") || line.contains(" = "));
    lines.filter_map(|line| {
        let rest = line.split_once(" = ").map_or(line, |(_, rest)| rest);
        let word = rest.split_whitespace().next()?;
        let name = word.split(['<', '[', '(', '#']).next()?;
        (!name.is_empty()).then_some(name)
    })
}

/// The reached ones of `all`, with their counts; then the others.
fn section(text: &mut String, title: &str, all: &BTreeSet<String>, counts: &Counts) {
    let reached: Vec<&String> = all
        .iter()
        .filter(|name| counts.contains_key(*name))
        .collect();
    let missing: Vec<&str> = all
        .iter()
        .filter(|name| !counts.contains_key(*name))
        .map(String::as_str)
        .collect();
    let share = 100.0 * reached.len() as f64 / all.len().max(1) as f64;
    let _ = writeln!(
        text,
        "\n{title}: {} of {} ({share:.0} %)",
        reached.len(),
        all.len()
    );
    for row in reached.chunks(4) {
        for name in row {
            let _ = write!(text, "  {name:26}{:8}", counts[*name]);
        }
        text.push('\n');
    }
    if !missing.is_empty() {
        let _ = writeln!(text, "  missing: {}", missing.join(", "));
    }
}
