//! Smaller programs that still show a disagreement.

use crate::check::{Plan, Program, Verdict, check_isolated};
use crate::generate::call_text;
use cladonia::bytecode::{Code, Document, Instr, Op};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// What is printed of a disagreement: what it is, and a file test of the reduced program, its answers yet to be written.
pub fn finding(program: &Program, plan: &Plan, what: &str) -> String {
    let small = reduce(program, plan);
    let mut text = String::new();
    let mut comment = |what: &str| {
        for line in what.lines() {
            let _ = writeln!(text, "; {line}");
        }
    };
    comment(what);
    if let Ok(document) = Document::parse(&small.text)
        && let Verdict::Differs(what) = check_isolated(&document.codes, &small.calls, plan)
    {
        comment("reduced:");
        comment(&what);
    }
    text += &small.text;
    for (name, values) in &small.calls {
        let _ = writeln!(text, ";> {}", call_text(name, values));
    }
    text
}

/// Lengths of what is tried to be taken out of a code, and by how much the place moves on.
const WINDOWS: &[(usize, usize)] = &[
    (64, 32),
    (32, 16),
    (16, 8),
    (8, 4),
    (5, 1),
    (4, 1),
    (3, 1),
    (2, 1),
    (1, 1),
];
/// How long smaller programs are looked for.
const PATIENCE: Duration = Duration::from_secs(90);
/// How often all is tried again.
const ROUNDS: usize = 3;

/// The smallest program found on which the executors still disagree (or one of them dies): fewer calls and codes, then
/// instructions replaced by `nop`, by a constant where they made a value, or by `pop_top` where they took one.
pub fn reduce(program: &Program, plan: &Plan) -> Program {
    let Ok(document) = Document::parse(&program.text) else {
        return program.clone();
    };
    let mut codes = document.codes.clone();
    let mut calls = program.calls.clone();
    let start = Instant::now();
    let differs = |codes: &[Code], calls: &[_]| {
        start.elapsed() < PATIENCE
            && matches!(check_isolated(codes, calls, plan), Verdict::Differs(_))
    };
    fewer(&mut calls, 1, |calls| differs(&codes, calls));
    for _ in 0..ROUNDS {
        let before = size(&codes);
        fewer(&mut codes, 1, |codes| differs(codes, &calls));
        for index in 0..codes.len() {
            for &(length, step) in WINDOWS {
                let mut start = 0;
                while start < codes[index].instrs.len() {
                    for with in [None, Some(Op::LoadConst), Some(Op::PopTop)] {
                        if let Some(smaller) = without(&codes, index, start, length, with)
                            && differs(&smaller, &calls)
                        {
                            codes = smaller;
                            break;
                        }
                    }
                    start += step;
                }
            }
            drop_nops(&mut codes[index]);
        }
        fewer(&mut calls, 1, |calls| differs(&codes, calls));
        if size(&codes) == before {
            break;
        }
    }
    Program {
        text: Document::print(&codes),
        calls,
    }
}

fn size(codes: &[Code]) -> usize {
    codes.iter().map(|code| code.instrs.len()).sum()
}

/// Take out of a list what is not needed; `least` stay.
fn fewer<T: Clone>(list: &mut Vec<T>, least: usize, differs: impl Fn(&[T]) -> bool) {
    let mut at = 0;
    while at < list.len() && list.len() > least {
        let mut fewer = list.clone();
        fewer.remove(at);
        if differs(&fewer) {
            *list = fewer;
        } else {
            at += 1;
        }
    }
}

/// The codes with instructions of one taken out and perhaps one put in their place, if that changes it and verifies.
fn without(
    codes: &[Code],
    index: usize,
    start: usize,
    length: usize,
    with: Option<Op>,
) -> Option<Vec<Code>> {
    let mut codes = codes.to_vec();
    let code = &mut codes[index];
    let end = (start + length).min(code.instrs.len());
    let useful = |instr: &&Instr| instr.op != Op::Nop;
    let before = code.instrs[start..end].iter().filter(useful).count();
    // Replacing one instruction by one that means as little leads nowhere.
    if before == 0 || with.is_some_and(|op| before == 1 && code.instrs[start].op == op) {
        return None;
    }
    for instr in &mut code.instrs[start..end] {
        *instr = nop(instr);
    }
    if let Some(op) = with {
        code.instrs[start].op = op;
        if op == Op::LoadConst && code.consts.is_empty() {
            return None;
        }
    }
    code.verify().is_ok().then_some(codes)
}

fn nop(instr: &Instr) -> Instr {
    Instr {
        op: Op::Nop,
        arg: 0,
        arg2: 0,
        hint: Vec::new(),
        ..instr.clone()
    }
}

/// Take the `nop`s out, and let jumps and handlers follow.
fn drop_nops(code: &mut Code) {
    use cladonia::bytecode::{ArgKind, Pc};
    let mut moved = Vec::with_capacity(code.instrs.len() + 1);
    let mut kept = 0;
    for instr in &code.instrs {
        moved.push(kept);
        kept += u32::from(instr.op != Op::Nop);
    }
    moved.push(kept);
    let before = code.clone();
    code.instrs.retain(|instr| instr.op != Op::Nop);
    for (i, instr) in code.instrs.iter_mut().enumerate() {
        if instr.op.info().arg == ArgKind::Target {
            instr.arg = moved[instr.arg as usize];
        }
        (instr.pos, instr.resume) = (i as u32, i as u32);
    }
    for handler in &mut code.handlers {
        for pc in [&mut handler.start, &mut handler.end, &mut handler.target] {
            *pc = Pc(moved[pc.0 as usize]);
        }
    }
    code.handlers.retain(|handler| handler.start < handler.end);
    if code.verify().is_err() {
        *code = before;
    }
}
