//! `cladonia plan` and the request `plan` of file tests: the plans of a program's attribute
//! accesses.

use cladonia::access::{PlanReport, plan};
use cladonia::bytecode::Document;
use cladonia::infer::{Options, Program, analyse};

/// Plans the accesses of a document's program; with `facts`, using the facts of the annotation
/// engine.
///
/// # Errors
/// If the document is no program.
pub fn planned(document: &Document, facts: bool) -> Result<PlanReport, String> {
    let program = Program::of_document(document)?;
    let analysis = facts.then(|| analyse(&program, &[], &Options::default()));
    Ok(plan(&program, analysis.as_ref()))
}

/// The answer to the request `plan FUNCTION ...` of a file test: the paragraphs of these functions,
/// or of all; with the word `facts`, using the facts of the annotation engine; with `kinds`, only
/// the number of accesses for each final method.
///
/// # Errors
/// As for [`planned`].
pub fn answer(document: &Document, request: &str) -> Result<String, String> {
    let words: Vec<&str> = request.split_whitespace().collect();
    let report = planned(document, words.contains(&"facts"))?;
    if words.contains(&"kinds") {
        return Ok(report.kinds());
    }
    let functions: Vec<&str> = words.into_iter().filter(|word| *word != "facts").collect();
    Ok(if functions.is_empty() {
        report.text(None)
    } else {
        functions
            .iter()
            .map(|name| report.text(Some(name)))
            .collect()
    })
}
