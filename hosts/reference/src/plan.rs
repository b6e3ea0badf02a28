//! `cladonia plan` and the request `plan` of file tests: how a program's attribute accesses are made.

use cladonia::access::{PlanReport, plan};
use cladonia::bytecode::Document;
use cladonia::infer::{Options, Program, analyse};

/// Plan the accesses of a document's program; with `facts`, the annotation engine says first what it finds of values.
///
/// # Errors
/// The document is no program.
pub fn planned(document: &Document, facts: bool) -> Result<PlanReport, String> {
    let program = Program::of_document(document)?;
    let analysis = facts.then(|| analyse(&program, &[], &Options::default()));
    Ok(plan(&program, analysis.as_ref()))
}

/// The answer to the request `plan FUNCTION ...` of a file test: the paragraphs of these functions, or of all; with the word
/// `facts`, what the annotation engine finds counts, with `kinds` only how many accesses are made in which way.
///
/// # Errors
/// As [`planned`].
pub fn answer(document: &Document, request: &str) -> Result<String, String> {
    let words: Vec<&str> = request.split_whitespace().collect();
    let report = planned(document, words.contains(&"facts"))?;
    if words.contains(&"kinds") {
        return Ok(report.kinds());
    }
    let functions: Vec<&str> = words.into_iter().filter(|word| *word != "facts").collect();
    Ok(match functions.is_empty() {
        true => report.text(None),
        false => functions
            .iter()
            .map(|name| report.text(Some(name)))
            .collect(),
    })
}
