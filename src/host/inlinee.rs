//! Code that a host offers for inlining. `facts` only knows it as a value with a text form; here it
//! is bytecode.

use crate::bytecode::{Code, parse_code};
use crate::facts::{Answer, Inlinee, IntrinsicCall, Snapshot};
use crate::types::{Line, Lines, Parsed, Scope};
use std::sync::Arc;

/// The bytecode of an inlinee.
pub fn code_of(inlinee: &Inlinee) -> Option<Arc<Code>> {
    inlinee.code_as()
}

/// The code in an answer, if there is one.
pub(super) fn inlined_code(answer: &Answer) -> Option<Arc<Code>> {
    match answer {
        Answer::Inlinee(_, inlinee) => code_of(inlinee),
        _ => None,
    }
}

/// Reads an answer, if there is one on the line (and, if it contains code, on the following lines).
pub(super) fn read_answer(
    world: &mut Snapshot,
    line: &mut Line,
    lines: &mut Lines,
    scope: &Scope,
) -> Parsed<bool> {
    if !line.eat_word("inlinee") {
        return world.read(line, scope);
    }
    let function = scope.single_object(line)?;
    line.expect("=")?;
    let checks = IntrinsicCall::read_checks(line)?;
    let cells = IntrinsicCall::read_cells(line, scope)?;
    let closure = IntrinsicCall::read_closure(line)?;
    line.end()?;
    let Some(mut line) = lines.next() else {
        return lines.missing("`code`");
    };
    line.expect("code")?;
    let at = line.at;
    let code = parse_code(&mut line, lines, scope)?;
    if let Err(errors) = code.verify() {
        return line.error_at(at, errors.to_string());
    }
    let code = Arc::new(code);
    let inlinee = Inlinee {
        code,
        checks,
        cells,
        closure,
    };
    world.add(Answer::Inlinee(function, inlinee));
    Ok(true)
}
