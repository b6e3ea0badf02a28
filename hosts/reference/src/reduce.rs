//! Smaller programs that still show a disagreement.

use crate::check::{Failure, Plan, Program, check_codes};
use cladonia::bytecode::{Code, Document, Instr, Op};

/// The smallest program found on which the executors still disagree: fewer calls, then instructions replaced by `nop`, as
/// long as the codes verify.
pub fn reduce(program: &Program, plan: &Plan) -> Program {
    let Ok(document) = Document::parse(&program.text) else {
        return program.clone();
    };
    let mut codes = document.codes.clone();
    let mut calls = program.calls.clone();
    let differs = |codes: &[Code], calls: &[_]| {
        matches!(check_codes(codes, calls, plan), Err(Failure::Differs(_)))
    };
    let mut at = 0;
    while at < calls.len() && calls.len() > 1 {
        let mut fewer = calls.clone();
        fewer.remove(at);
        if differs(&codes, &fewer) {
            calls = fewer;
        } else {
            at += 1;
        }
    }
    // Codes that are needed for nothing.
    let mut at = 0;
    while at < codes.len() {
        let mut fewer = codes.clone();
        fewer.remove(at);
        if differs(&fewer, &calls) {
            codes = fewer;
        } else {
            at += 1;
        }
    }
    for index in 0..codes.len() {
        for size in [16, 8, 4, 2, 1] {
            let mut start = 0;
            while start < codes[index].instrs.len() {
                let mut smaller = codes.clone();
                let end = (start + size).min(smaller[index].instrs.len());
                let mut changed = false;
                for instr in &mut smaller[index].instrs[start..end] {
                    changed |= instr.op != Op::Nop;
                    *instr = nop(instr);
                }
                if changed && smaller[index].verify().is_ok() && differs(&smaller, &calls) {
                    codes = smaller;
                }
                start += size;
            }
        }
    }
    codes.iter_mut().for_each(drop_nops);
    Program {
        text: Document::print(&codes),
        calls,
    }
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
