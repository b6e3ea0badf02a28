//! Requests for functions in HIR.

use crate::stages::{FunctionInHir, catch};
use cladonia::bytecode::Document;
use cladonia::hir;

/// The answer to a request for the function with this number.
pub(super) fn answer(document: &Document, number: usize, request: &str) -> Result<String, String> {
    let mut function = FunctionInHir::read(document, number)?;
    let mut words = request.split_whitespace();
    match words.next().unwrap_or_default() {
        "parse" => function.text(document),
        "verify" => Ok(match hir::verify(&function.f) {
            Ok(()) => "ok".into(),
            Err(errors) => errors.to_string(),
        }),
        "opt" => {
            let mut changed = false;
            let mut passes = 0;
            for pass in words {
                passes += 1;
                changed |= function.run_pass(pass)?;
            }
            match (passes, changed) {
                (0, _) => Err("`opt` needs the names of passes".into()),
                (_, false) => Ok("unchanged".into()),
                (_, true) => function.text(document),
            }
        }
        "selected" => {
            function.run_all(&mut |_, _| {})?;
            function.text(document)
        }
        other => Err(format!(
            "`{other}` is no request for a function in HIR: parse, verify, opt PASS, selected"
        )),
    }
}

/// The error in the first function that can't be read.
pub(super) fn first_error(document: &Document) -> Option<String> {
    if let Err(error) = cladonia::host::world_of(document) {
        return Some(error.to_string());
    }
    let functions = document.sections.iter().filter(|s| s.keyword == "function");
    functions
        .map(|section| catch(|| hir::parse_section(document, section)))
        .find_map(|read| match read {
            Ok(Ok(_)) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(fault) => Some(fault),
        })
}
