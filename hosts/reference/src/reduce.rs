//! Smaller programs with the same finding: a disagreement of the executors, or a predicate that
//! holds.
//!
//! First the structure is reduced (calls, codes, runs of instructions, unused constants and names),
//! then, for predicates on the text, lines. Everything is tried again until the program stays the
//! same.

use crate::check::{Difference, Plan, Program, Verdict, check_isolated};
use crate::generate::call_text;
use cladonia::bytecode::{ArgKind, Code, ConstValue, Document, Instr, Op, Pc};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// The test that a smaller program still has the finding, and the number of tests left.
pub struct Predicate<'a> {
    holds: &'a mut dyn FnMut(&Program) -> bool,
    left: u64,
}

impl<'a> Predicate<'a> {
    /// A predicate that is tested at most `most` times.
    pub fn new(most: u64, holds: &'a mut dyn FnMut(&Program) -> bool) -> Predicate<'a> {
        Predicate { holds, left: most }
    }

    fn holds(&mut self, program: &Program) -> bool {
        self.left = match self.left.checked_sub(1) {
            Some(left) => left,
            None => return false,
        };
        (self.holds)(program)
    }

    fn holds_for(&mut self, codes: &[Code], calls: &[Call]) -> bool {
        self.left > 0
            && codes.iter().all(|code| code.verify().is_ok())
            && self.holds(&Program {
                text: Document::print(codes),
                calls: calls.to_vec(),
            })
    }
}

type Call = (String, Vec<ConstValue>);

/// The most runs of the executors for one reduction.
const MOST: u64 = 20_000;
/// The longest time for one reduction.
const PATIENCE: Duration = Duration::from_secs(90);

/// The smallest program found on which the executors still disagree in the same kind.
pub fn reduce(program: &Program, plan: &Plan) -> Program {
    let Some((wanted, _)) = difference(program, plan) else {
        return program.clone();
    };
    let start = Instant::now();
    let mut holds = |program: &Program| {
        start.elapsed() < PATIENCE
            && difference(program, plan).is_some_and(|(found, _)| found == wanted)
    };
    shrink(program, &mut Predicate::new(MOST, &mut holds))
}

/// The printed form of a disagreement: its description, and a file test of the reduced program,
/// without answers.
pub fn finding(program: &Program, plan: &Plan, what: &str) -> String {
    let small = reduce(program, plan);
    let mut text = String::new();
    let mut comment = |what: &str| {
        for line in what.lines() {
            let _ = writeln!(text, "; {line}");
        }
    };
    comment(what);
    if let Some((_, what)) = difference(&small, plan) {
        comment("reduced:");
        comment(&what);
    }
    text + &file_of(&small)
}

/// The kind of difference between the executors of a program, if there is one, and its description.
/// A smaller program with a difference of another kind has another fault.
pub fn difference(program: &Program, plan: &Plan) -> Option<(Difference, String)> {
    let document = Document::parse(&program.text).ok()?;
    match check_isolated(&document.codes, &program.calls, plan) {
        Verdict::Differs(kind, what) => Some((kind, what)),
        Verdict::Agree | Verdict::Invalid(_) => None,
    }
}

/// A smaller program for which the predicate holds: fewer calls, codes, instructions, constants and
/// names.
pub fn shrink(program: &Program, predicate: &mut Predicate<'_>) -> Program {
    let Ok(document) = Document::parse(&program.text) else {
        return program.clone();
    };
    if !document.sections.is_empty() {
        return program.clone();
    }
    let mut codes = document.codes.clone();
    let mut calls = program.calls.clone();
    if !predicate.holds_for(&codes, &calls) {
        return program.clone();
    }
    loop {
        let before = size(&codes, &calls);
        fewer_calls(&codes, &mut calls, predicate);
        fewer_codes(&mut codes, &calls, predicate);
        for index in 0..codes.len() {
            fewer_handlers(&mut codes, index, &calls, predicate);
            fewer_instructions(&mut codes, index, &calls, predicate);
            fewer_pairs(&mut codes, index, &calls, predicate);
            tidy(&mut codes, index, &calls, predicate);
        }
        if size(&codes, &calls) >= before {
            break;
        }
    }
    Program {
        text: Document::print(&codes),
        calls,
    }
}

/// A shorter text for which the predicate holds, by lines; the predicate decides if the text is
/// still valid.
pub fn shrink_lines(program: &Program, predicate: &mut Predicate<'_>) -> Program {
    let mut lines: Vec<&str> = program.text.lines().collect();
    let join = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let mut size = lines.len() / 2;
    while size > 0 {
        let mut start = 0;
        while start < lines.len() {
            let end = (start + size).min(lines.len());
            let fewer = [&lines[..start], &lines[end..]].concat();
            let smaller = Program {
                text: join(&fewer),
                calls: program.calls.clone(),
            };
            if predicate.holds(&smaller) {
                lines = fewer;
            } else {
                start += size;
            }
        }
        size /= 2;
    }
    Program {
        text: join(&lines),
        calls: program.calls.clone(),
    }
}

/// A measure that each step reduces.
fn size(codes: &[Code], calls: &[Call]) -> usize {
    let parts = |code: &Code| {
        let hints = code
            .instrs
            .iter()
            .map(|instr| instr.hint.len())
            .sum::<usize>();
        code.instrs.len() + code.consts.len() + code.names.len() + code.handlers.len() + hints
    };
    calls.len() + codes.iter().map(|code| 1 + parts(code)).sum::<usize>()
}

fn fewer_calls(codes: &[Code], calls: &mut Vec<Call>, predicate: &mut Predicate<'_>) {
    let mut at = 0;
    while at < calls.len() {
        let mut fewer = calls.clone();
        fewer.remove(at);
        if predicate.holds_for(codes, &fewer) {
            *calls = fewer;
        } else {
            at += 1;
        }
    }
}

fn fewer_codes(codes: &mut Vec<Code>, calls: &[Call], predicate: &mut Predicate<'_>) {
    let mut at = 0;
    while at < codes.len() {
        let mut fewer = codes.clone();
        fewer.remove(at);
        if predicate.holds_for(&fewer, calls) {
            *codes = fewer;
        } else {
            at += 1;
        }
    }
}

/// Keeps a change of one code if the predicate still holds.
fn attempt(
    codes: &mut [Code],
    index: usize,
    calls: &[Call],
    predicate: &mut Predicate<'_>,
    change: impl FnOnce(&mut Code),
) -> bool {
    let mut smaller = codes.to_vec();
    change(&mut smaller[index]);
    let keeps = smaller[index] != codes[index] && predicate.holds_for(&smaller, calls);
    if keeps {
        codes[index] = smaller.swap_remove(index);
    }
    keeps
}

fn fewer_handlers(codes: &mut [Code], index: usize, calls: &[Call], predicate: &mut Predicate<'_>) {
    let mut at = 0;
    while at < codes[index].handlers.len() {
        if !attempt(codes, index, calls, predicate, |code| {
            code.handlers.remove(at);
        }) {
            at += 1;
        }
    }
}

/// The most entries of the stack that are dropped in place of a run of instructions that used them.
const MAX_POPS: usize = 4;

/// Replaces the end of a code by a return; removes runs of instructions, or replaces them by one
/// constant, or by instructions that drop entries.
fn fewer_instructions(
    codes: &mut [Code],
    index: usize,
    calls: &[Call],
    predicate: &mut Predicate<'_>,
) {
    for start in 0..codes[index].instrs.len() {
        let ends = attempt(codes, index, calls, predicate, |code| {
            code.instrs.truncate(start + 1);
            if let Some(last) = code.instrs.last_mut() {
                become_nop(last);
                last.op = Op::ReturnConst;
            }
        });
        if ends {
            break;
        }
    }
    for size in [64, 32, 16, 12, 8, 6, 5, 4, 3, 2, 1] {
        let mut start = 0;
        while start < codes[index].instrs.len() {
            let end = (start + size).min(codes[index].instrs.len());
            let removed = attempt(codes, index, calls, predicate, |code| {
                code.instrs[start..end].iter_mut().for_each(become_nop);
                drop_nops(code);
            });
            // In place of an instruction that created a value, or took one; replacing one
            // instruction by an equally simple one is useless.
            let simple = [Op::LoadConst, Op::PopTop];
            let is_simple =
                !removed && end - start == 1 && simple.contains(&codes[index].instrs[start].op);
            let replaced = !removed
                && !is_simple
                && simple.into_iter().any(|op| {
                    let possible = op != Op::LoadConst || !codes[index].consts.is_empty();
                    possible
                        && attempt(codes, index, calls, predicate, |code| {
                            code.instrs[start..end].iter_mut().for_each(become_nop);
                            code.instrs[start].op = op;
                            drop_nops(code);
                        })
                });
            let popped = !removed
                && !replaced
                && (1..(end - start).min(MAX_POPS + 1)).any(|pops| {
                    attempt(codes, index, calls, predicate, |code| {
                        let range = &mut code.instrs[start..end];
                        range.iter_mut().for_each(become_nop);
                        range
                            .iter_mut()
                            .take(pops)
                            .for_each(|instr| instr.op = Op::PopTop);
                        drop_nops(code);
                    })
                });
            if !removed && !replaced && !popped {
                start += 1;
            }
        }
    }
}

/// Removes an instruction that pushes an entry together with one that pops it, if they are not far
/// apart.
fn fewer_pairs(codes: &mut [Code], index: usize, calls: &[Call], predicate: &mut Predicate<'_>) {
    const FAR: usize = 24;
    let mut start = 0;
    while start < codes[index].instrs.len() {
        let end = (start + FAR).min(codes[index].instrs.len());
        let removed = (start + 1..end).any(|other| {
            attempt(codes, index, calls, predicate, |code| {
                become_nop(&mut code.instrs[start]);
                become_nop(&mut code.instrs[other]);
                drop_nops(code);
            })
        });
        start += usize::from(!removed);
    }
}

/// Removes hints, constants and names that make no difference.
fn tidy(codes: &mut [Code], index: usize, calls: &[Call], predicate: &mut Predicate<'_>) {
    attempt(codes, index, calls, predicate, |code| {
        code.instrs.iter_mut().for_each(|instr| instr.hint.clear());
        code.local_hints.clear();
    });
    for at in 0..codes[index].instrs.len() {
        attempt(codes, index, calls, predicate, |code| {
            code.instrs[at].hint.clear()
        });
    }
    for kind in [ArgKind::Const, ArgKind::Name] {
        attempt(codes, index, calls, predicate, |code| {
            drop_unused(code, kind)
        });
    }
}

fn become_nop(instr: &mut Instr) {
    *instr = Instr {
        op: Op::Nop,
        arg: 0,
        arg2: 0,
        hint: Vec::new(),
        items: None,
        ..instr.clone()
    };
}

/// Removes the `nop`s, and adjusts jumps and handlers.
fn drop_nops(code: &mut Code) {
    let mut moved = Vec::with_capacity(code.instrs.len() + 1);
    let mut kept = 0;
    for instr in &code.instrs {
        moved.push(kept);
        kept += u32::from(instr.op != Op::Nop);
    }
    moved.push(kept);
    let to = |pc: u32| moved.get(pc as usize).copied().unwrap_or(kept);
    code.instrs.retain(|instr| instr.op != Op::Nop);
    for (i, instr) in code.instrs.iter_mut().enumerate() {
        if instr.op.info().arg == ArgKind::Target {
            instr.arg = to(instr.arg);
        }
        (instr.pos, instr.resume) = (i as u32, i as u32);
    }
    for handler in &mut code.handlers {
        for pc in [&mut handler.start, &mut handler.end, &mut handler.target] {
            *pc = Pc(to(pc.0));
        }
    }
    code.handlers.retain(|handler| handler.start < handler.end);
}

/// Removes the constants, or the names, that no instruction uses.
fn drop_unused(code: &mut Code, kind: ArgKind) {
    let count = match kind {
        ArgKind::Const => code.consts.len(),
        _ => code.names.len(),
    };
    let mut used = vec![false; count];
    for instr in code
        .instrs
        .iter()
        .filter(|instr| instr.op.info().arg == kind)
    {
        if let Some(used) = used.get_mut(instr.arg as usize) {
            *used = true;
        }
    }
    let mut moved = Vec::with_capacity(count);
    let mut kept = 0;
    for used in &used {
        moved.push(kept);
        kept += u32::from(*used);
    }
    for instr in code
        .instrs
        .iter_mut()
        .filter(|instr| instr.op.info().arg == kind)
    {
        instr.arg = moved.get(instr.arg as usize).copied().unwrap_or(instr.arg);
    }
    let mut keep = used.into_iter();
    let mut keeps = || keep.next() == Some(true);
    match kind {
        ArgKind::Const => code.consts.retain(|_| keeps()),
        _ => code.names.retain(|_| keeps()),
    }
}

/// The calls that a file test makes of its program: lines such as `;> f(1)`.
pub fn calls_of(text: &str) -> Vec<Call> {
    let calls = text.lines().filter_map(|line| line.strip_prefix(";> "));
    calls.filter_map(crate::text::parse_call).collect()
}

/// A program as a file: the document, and its calls as comments.
pub fn file_of(program: &Program) -> String {
    let mut text = program.text.clone();
    for (name, values) in &program.calls {
        let _ = writeln!(text, ";> {}", call_text(name, values));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{bytes, generate};
    use crate::text::parse_call;

    /// Random programs that multiply, for a predicate that requires it.
    fn multiplies(program: &Program) -> bool {
        let document = Document::parse(&program.text).expect("what is tried is a document");
        let times = |instr: &Instr| instr.op == Op::BinaryOp && instr.arg % 13 == 5;
        !program.calls.is_empty()
            && document
                .codes
                .iter()
                .any(|code| code.instrs.iter().any(times))
    }

    #[test]
    fn the_result_has_the_parts_that_the_predicate_needs_and_few_others() {
        let mut shrunk = 0;
        for seed in 1..40 {
            let (text, calls) = generate(&bytes(seed, 400));
            let calls = calls.iter().filter_map(|call| parse_call(call)).collect();
            let program = Program { text, calls };
            if !multiplies(&program) {
                continue;
            }
            let mut holds = |program: &Program| multiplies(program);
            let small = shrink(&program, &mut Predicate::new(MOST, &mut holds));
            let document = Document::parse(&small.text).expect("a document");
            let instrs: usize = document.codes.iter().map(|code| code.instrs.len()).sum();
            assert!(multiplies(&small));
            assert_eq!(
                (document.codes.len(), small.calls.len()),
                (1, 1),
                "{}",
                small.text
            );
            assert!(instrs <= 10, "{}", small.text);
            shrunk += 1;
        }
        assert!(shrunk > 5, "only {shrunk} programs multiply");
    }

    #[test]
    fn lines_go_that_the_predicate_does_not_need() {
        let program = Program {
            text: (0..100).map(|n| format!("line {n}\n")).collect(),
            calls: Vec::new(),
        };
        let mut holds = |p: &Program| p.text.contains("line 7\n") && p.text.contains("line 93\n");
        let small = shrink_lines(&program, &mut Predicate::new(MOST, &mut holds));
        assert_eq!(small.text, "line 7\nline 93\n");
    }

    #[test]
    fn the_predicate_is_called_at_most_as_often_as_the_limit_says() {
        let (text, calls) = generate(&bytes(1, 400));
        let calls = calls.iter().filter_map(|call| parse_call(call)).collect();
        let mut asked = 0;
        let mut holds = |_: &Program| {
            asked += 1;
            true
        };
        shrink(&Program { text, calls }, &mut Predicate::new(7, &mut holds));
        assert_eq!(asked, 7);
    }

    #[test]
    fn a_file_has_its_calls_as_comments() {
        let program = Program {
            text: "code\n".into(),
            calls: vec![("f".into(), vec![ConstValue::Int(1), ConstValue::Float(0.5)])],
        };
        assert_eq!(file_of(&program), "code\n;> f(1, 0.5)\n");
        assert_eq!(calls_of(&file_of(&program)), program.calls);
    }
}
