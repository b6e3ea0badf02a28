//! The sections of a document that describe a `World`: all that are not code.

use super::inlinee::read_answer;
use crate::bytecode::Document;
use crate::facts::{Answer, Snapshot};
use crate::types::{Lines, Parsed};

/// The answers of a document's `world` sections, and the values of its codes' constants.
///
/// # Errors
/// A [`TextError`](crate::bytecode::TextError) with the line in the document.
pub fn world_of(document: &Document) -> Parsed<Snapshot> {
    let mut world = Snapshot::default();
    for constant in document.codes.iter().flat_map(|code| &code.consts) {
        world.add(Answer::Value(constant.object, constant.value.clone()));
    }
    for section in document.sections.iter().filter(|s| s.keyword == "world") {
        let mut lines = Lines::from(&section.text, section.line);
        let Some(mut line) = lines.next() else {
            continue;
        };
        line.expect("world")?;
        line.expect("{")?;
        line.end()?;
        loop {
            let Some(mut line) = lines.next() else {
                return lines.missing("`}`");
            };
            if line.eat("}") {
                line.end()?;
                break;
            }
            if !read_answer(&mut world, &mut line, &mut lines, &document.scope)? {
                return line.expected("an answer or `}`");
            }
        }
    }
    Ok(world)
}
