//! `cladonia infer` and the request `infer` of file tests: the facts of a program.

use cladonia::bytecode::Document;
use cladonia::infer::{Analysis, Options, Program, Start, analyse};
use cladonia::types::{Names, Type};
use std::collections::BTreeSet;

/// A query for the annotation engine.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// The entry function, after the module's body.
    pub function: Option<String>,
    /// Types of its arguments.
    pub types: Vec<String>,
    /// The options.
    pub options: Options,
}

/// Analyses the program of a document.
///
/// # Errors
/// If the document is no program, has no such function, or a type can't be read.
pub fn infer(document: &Document, query: &Query) -> Result<Analysis, String> {
    let program = Program::of_document(document)?;
    let function = match &query.function {
        None => None,
        Some(name) => Some(program.find(name).ok_or_else(|| {
            let refused = program.refused.iter().find(|refused| refused.0 == *name);
            match refused {
                Some((_, why)) => format!("`{name}`: {why}"),
                None => {
                    let names: Vec<&str> = program.names().collect();
                    format!("there is no code `{name}`; there are {}", names.join(", "))
                }
            }
        })?),
    };
    let names = Names::of(document.host());
    let read = |text: &String| Type::parse(text, &names).map_err(|e| format!("`{text}`: {e}"));
    let types: Vec<Type> = query.types.iter().map(read).collect::<Result<_, _>>()?;
    let start = function.map(|function| Start {
        function,
        types: &types,
    });
    Ok(analyse(&program, start.as_slice(), &query.options))
}

/// The answer to the request `infer FUNCTION TYPE ...` of a file test: a summary; with the word
/// `print` or `trace` the output of the subcommand, with `strict` the errors, with `families` the
/// call families.
///
/// # Errors
/// As for [`infer`].
pub fn answer(document: &Document, request: &str) -> Result<String, String> {
    let words: Vec<&str> = request.split_whitespace().collect();
    let asks = |word: &str| words.contains(&word);
    let mut names = words
        .iter()
        .filter(|word| !["print", "trace", "strict", "families"].contains(word));
    let query = Query {
        function: names.next().map(|name| (*name).to_owned()),
        types: names.map(|name| (*name).to_owned()).collect(),
        options: Options {
            trace: asks("trace"),
            ..Options::default()
        },
    };
    let analysis = infer(document, &query)?;
    if asks("strict") {
        let errors: Vec<String> = analysis.errors().map(ToString::to_string).collect();
        return Ok(errors.join("\n"));
    }
    if asks("families") {
        let families = analysis.families.iter();
        let family =
            |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
        return Ok(families.map(family).collect::<Vec<_>>().join("\n"));
    }
    Ok(if asks("print") || asks("trace") {
        analysis.print(false)
    } else {
        // The facts about modules and classes are the same in every test.
        functions(&analysis.summary)
    })
}

/// The paragraphs of functions that have arguments or a result.
fn functions(summary: &str) -> String {
    let mut text = String::new();
    let mut kept = false;
    let mut head = "";
    for line in summary.lines() {
        if !line.starts_with(' ') {
            (head, kept) = (line, false);
        } else if !kept && !line.starts_with("  returns const=None type=NoneType") {
            text += &format!("{head}\n{line}\n");
            kept = true;
        } else if kept {
            text += &format!("{line}\n");
        }
    }
    text
}
