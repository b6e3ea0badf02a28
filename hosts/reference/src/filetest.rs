//! File tests: documents of typed bytecode with their expected results, in comments.
//!
//! ```text
//! ;! selected types LongExact      a request for every code of the file (stages: of each function)
//! code "f" {
//!   ...
//! }
//! ;> selected types LongExact      a request, and its answer
//! ;= function f {
//! ;= ...
//! ;> f(1, 2)                       a call: in the interpreter, natively, with forced exits, under
//!                                  chaos, with the same result
//! ;= 3
//! ```
//!
//! # Requests
//! - `parse`: the code's text; it must read back as the same code.
//! - `verify`: `ok`, or the verifier's errors.
//! - `hir`, `selected`, `lower`, `clif`: the text of the stage.
//! - `opt PASS`: HIR after the pass has changed it (`PASS#2`: for the second time).
//! - `exits`: the exit records.
//! - `name(literal, ...)`: the result as `repr` writes it, or `raises` and the exception with its
//!   places.
//! - `output`: the text that the calls have printed.
//! - `infer FUNCTION TYPE ...`: the annotation engine's facts about each function; with `print`,
//!   `trace`, `strict` or `families`, about the whole program.
//! - `plan FUNCTION ...`: the plans of the attribute accesses of these functions, or of all; for
//!   `facts` and `kinds` see `cladonia plan`.
//! - `error`: the error in reading or loading the document.
//!
//! In a document with functions in HIR (`function` sections) the requests of the header are for
//! those: `parse`, `verify`, `opt PASS ...` (the passes in sequence), `selected` (all passes).
//!
//! Stages take `types T ...`, the types of the arguments, and `at N`, the instruction of a loop.
//! Addresses are written `<address>`. A script of typegraphs (`.tg`) contains its questions; the
//! answer to a line is below it in lines that begin with `#=`. With `BLESS=1` in the environment
//! answers are written, not compared.

mod hir;

use crate::check::{self, Failure, Plan};
use crate::runtime::{Options, Session};
use crate::stages;
use crate::text::parse_call;
use cladonia::bytecode::{Code, Document};
use cladonia::typegraph;
use std::path::Path;

/// The result for a file.
pub enum Verdict {
    /// Everything is as expected; the number of requests.
    Passed(usize),
    /// Answers were written.
    Blessed,
}

/// A line of the document, or a request with the answer that the file expects.
enum Item {
    Line(String),
    Request { text: String, expected: Vec<String> },
}

/// Runs a file.
///
/// # Errors
/// All differences from the expected results.
pub fn run_file(path: &Path, bless: bool) -> Result<Verdict, String> {
    let text = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let (new, count, faults) = if is_script(path) {
        run_script(&text)
    } else {
        run_text(&text)
    };
    if bless {
        if new != text {
            std::fs::write(path, new).map_err(|e| e.to_string())?;
        }
        return Ok(Verdict::Blessed);
    }
    if faults.is_empty() {
        Ok(Verdict::Passed(count))
    } else {
        Err(faults.join("\n"))
    }
}

/// Returns true if a file is a file test, by its name.
pub fn is_test(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "tbc") || is_script(path)
}

fn is_script(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "tg")
}

/// Runs a script of typegraphs. Returns its text with the right answers, their number, and the
/// differences.
fn run_script(text: &str) -> (String, usize, Vec<String>) {
    let (new, count, faults) = typegraph::check(text);
    let fault = |(question, expected, answer): (String, String, String)| {
        let diff = crate::diff::diff(&expected, &answer, 2);
        format!("{question}\n{diff}")
    };
    let mut faults: Vec<String> = faults.into_iter().map(fault).collect();
    if count == 0 && faults.is_empty() {
        faults.push("the file has no requests".into());
    }
    (new, count, faults)
}

/// Runs the text of a file. Returns the text with the right answers, the number of requests, and
/// the differences.
pub fn run_text(text: &str) -> (String, usize, Vec<String>) {
    let items = read(text);
    let items = add_headers(items);
    let mut runner = Runner::new(&items);
    let (mut new, mut count, mut faults) = (String::new(), 0, Vec::new());
    let mut before = Before::default();
    for item in &items {
        match item {
            Item::Line(line) => {
                before.line(line);
                new += line;
                new.push('\n');
            }
            Item::Request { text, expected } => {
                count += 1;
                let answer = runner.answer(text, &before);
                let answer: Vec<String> = answer
                    .lines()
                    .map(|line| line.trim_end().to_owned())
                    .collect();
                if answer != *expected {
                    let texts = [expected, &answer].map(|lines| lines.join("\n"));
                    faults.push(format!(
                        "{text}\n{}",
                        crate::diff::diff(&texts[0], &texts[1], 2)
                    ));
                }
                new += &format!(";> {text}\n");
                answer.iter().for_each(|line| {
                    new += format!(";= {line}").trim_end();
                    new.push('\n');
                });
            }
        }
    }
    if count == 0 {
        faults.push("the file requests nothing".into());
    }
    (new, count, faults)
}

/// The document before a request.
#[derive(Default)]
struct Before {
    codes: usize,
    functions: usize,
    /// True if a function in HIR is the last section.
    is_function: bool,
}

impl Before {
    fn line(&mut self, line: &str) {
        if line.starts_with("code ") {
            self.codes += 1;
            self.is_function = false;
        } else if line.starts_with("function ") {
            self.functions += 1;
            self.is_function = true;
        }
    }
}

fn read(text: &str) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for line in text.lines() {
        if let Some(request) = line.strip_prefix(";> ") {
            items.push(Item::Request {
                text: request.trim().to_owned(),
                expected: Vec::new(),
            });
        } else if let Some(answer) = line.strip_prefix(";=")
            && let Some(Item::Request { expected, .. }) = items.last_mut()
        {
            expected.push(answer.strip_prefix(' ').unwrap_or(answer).to_owned());
        } else {
            items.push(Item::Line(line.to_owned()));
        }
    }
    items
}

/// Adds every request of the header after every code, where it is missing.
fn add_headers(items: Vec<Item>) -> Vec<Item> {
    let headers: Vec<String> = items
        .iter()
        .filter_map(|item| match item {
            Item::Line(line) => Some(line.strip_prefix(";! ")?.trim().to_owned()),
            Item::Request { .. } => None,
        })
        .collect();
    let begins =
        |item: &Item, word: &str| matches!(item, Item::Line(line) if line.starts_with(word));
    let wanted = if items.iter().any(|item| begins(item, "function ")) {
        "function "
    } else {
        "code "
    };
    let mut all = Vec::new();
    let mut rest = items.into_iter().peekable();
    let (mut is_module, mut is_wanted) = (false, false);
    while let Some(item) = rest.next() {
        if let Item::Line(line) = &item {
            is_module = line == "  namespace" || is_module && !line.starts_with("code ");
            if !line.starts_with([' ', '}', ';']) {
                is_wanted = begins(&item, wanted) || is_wanted && !line.ends_with('{');
            }
        }
        let ends = matches!(&item, Item::Line(line) if line == "}");
        all.push(item);
        if !ends {
            continue;
        }
        let mut requests = Vec::new();
        while let Some(Item::Request { .. }) = rest.peek() {
            requests.extend(rest.next());
        }
        for header in &headers {
            // Stages begin with a function.
            if !is_wanted || is_module && !matches!(header.as_str(), "parse" | "verify") {
                continue;
            }
            let known = |item: &Item| matches!(item, Item::Request { text, .. } if text == header);
            match requests.iter().position(known) {
                Some(at) => all.push(requests.remove(at)),
                None => all.push(Item::Request {
                    text: header.clone(),
                    expected: Vec::new(),
                }),
            }
        }
        all.extend(requests);
    }
    all
}

/// The number of times that each call is made: often enough to be compiled.
const TIMES: u32 = 6;

struct Runner {
    document: Result<Document, String>,
    /// The results of all calls, and the output, computed at the first use.
    outcome: Option<Result<check::Outcome, String>>,
    calls: Vec<String>,
    next_call: usize,
}

impl Runner {
    fn new(items: &[Item]) -> Runner {
        let text: String = items
            .iter()
            .map(|item| match item {
                Item::Line(line) => format!("{line}\n"),
                // Places in errors are those of the document without answers.
                Item::Request { .. } => String::new(),
            })
            .collect();
        let calls = items.iter().filter_map(|item| match item {
            Item::Request { text, .. } if parse_call(text).is_some() => Some(text.clone()),
            _ => None,
        });
        Runner {
            document: Document::parse(&text).map_err(|e| e.to_string()),
            outcome: None,
            calls: calls.collect(),
            next_call: 0,
        }
    }

    fn answer(&mut self, request: &str, before: &Before) -> String {
        let answer = self.try_answer(request, before);
        hide_addresses(&answer.unwrap_or_else(|error| format!("error: {error}")))
    }

    fn try_answer(&mut self, request: &str, before: &Before) -> Result<String, String> {
        if request == "error" {
            return Ok(match &self.document {
                Err(error) => error.clone(),
                Ok(document) => match session()?.load_codes(&document.codes) {
                    Err(error) => error.to_string(),
                    Ok(_) => hir::first_error(document).unwrap_or_else(|| "none".into()),
                },
            });
        }
        if let Some(rest) = request.strip_prefix("infer") {
            let document = self.document.as_ref().map_err(Clone::clone)?;
            return crate::infer::answer(document, rest);
        }
        if request == "plan" || request.starts_with("plan ") {
            let document = self.document.as_ref().map_err(Clone::clone)?;
            return crate::plan::answer(document, &request["plan".len()..]);
        }
        if parse_call(request).is_some() {
            return self.call();
        }
        if request == "output" {
            return Ok(self.outcome()?.output.clone());
        }
        let document = self.document.as_ref().map_err(Clone::clone)?;
        if before.is_function {
            return hir::answer(document, before.functions - 1, request);
        }
        let code = before.codes.checked_sub(1);
        let code = code
            .and_then(|index| document.codes.get(index))
            .ok_or("there is no code before")?;
        stage(document, code, request)
    }

    fn outcome(&mut self) -> Result<&check::Outcome, String> {
        if self.outcome.is_none() {
            self.outcome = Some(self.run());
        }
        let outcome = self.outcome.as_ref().expect("made above");
        outcome.as_ref().map_err(Clone::clone)
    }

    fn run(&self) -> Result<check::Outcome, String> {
        let document = self.document.as_ref().map_err(Clone::clone)?;
        let calls: Vec<_> = self
            .calls
            .iter()
            .filter_map(|call| parse_call(call))
            .collect();
        let plan = Plan {
            times: TIMES,
            seeds: 2,
            ..Plan::default()
        };
        match check::check_codes(&document.codes, &calls, &plan) {
            Ok(outcome) => Ok(outcome),
            Err(Failure::Invalid(what)) => Err(what),
            Err(differs) => Err(differs.to_string()),
        }
    }

    /// The answer of the next call: its result the first time.
    fn call(&mut self) -> Result<String, String> {
        let at = self.next_call * TIMES as usize;
        self.next_call += 1;
        let outcome = self.outcome()?;
        Ok(match outcome.results.get(at) {
            Some(Ok(text)) => text.clone(),
            Some(Err(report)) => format!("raises\n{report}"),
            None => "the program ended before".into(),
        })
    }
}

fn session() -> Result<Session, String> {
    let options = Options {
        jit: false,
        keep_text: true,
        ..Options::default()
    };
    Session::new(options).map_err(|e| e.to_string())
}

fn stage(document: &Document, code: &Code, request: &str) -> Result<String, String> {
    let mut words = request.split_whitespace();
    let command = words.next().unwrap_or_default();
    let pass = match command {
        "opt" => Some(
            words
                .next()
                .ok_or("`opt` needs the name of a pass")?
                .to_owned(),
        ),
        _ => None,
    };
    let (mut types, mut header) = (Vec::new(), None);
    while let Some(word) = words.next() {
        match word {
            "at" => {
                let number = words.next().and_then(|n| n.parse().ok());
                header = Some(number.ok_or("`at` needs the number of an instruction")?);
            }
            "types" => {}
            ty => types.push(ty.to_owned()),
        }
    }
    match command {
        "parse" => {
            let text = code.to_string();
            let all = Document::print(&document.codes);
            let again =
                Document::parse(&all).map_err(|e| format!("the text does not read back: {e}"))?;
            if Document::print(&again.codes) != all {
                return Err("the text reads back as something else".into());
            }
            return Ok(text);
        }
        "verify" => {
            return Ok(match code.verify() {
                Ok(()) => "ok".into(),
                Err(errors) => errors.to_string(),
            });
        }
        _ => {}
    }
    let session = session()?;
    let program = session
        .load_codes(&document.codes)
        .map_err(|e| e.to_string())?;
    let code = program
        .observed(&code.name)
        .ok_or("the code is not loaded")?;
    let unit = stages::compile(&session, &code, header, &types)?;
    let dump = |name: &str| {
        let found = unit.dumps.iter().find(|(stage, _)| *stage == name);
        found
            .map(|(_, text)| text.clone())
            .ok_or_else(|| format!("there is no stage `{name}`"))
    };
    match (command, pass) {
        (_, Some(pass)) => {
            let mut times = std::collections::HashMap::new();
            for (name, text) in &unit.passes {
                let time = times.entry(*name).and_modify(|n| *n += 1).or_insert(1u32);
                if pass == *name && *time == 1 || pass == format!("{name}#{time}") {
                    return Ok(text.clone());
                }
            }
            Err(format!("`{pass}` changed nothing"))
        }
        ("lower", _) => dump("lir"),
        ("exits", _) => {
            let lines = unit
                .exits
                .records()
                .enumerate()
                .map(|(i, exit)| format!("exit{i}: {exit}\n"));
            Ok(lines.collect())
        }
        (stage, _) => dump(stage),
    }
}

/// Replaces addresses, which differ between runs.
pub fn hide_addresses(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let before = rest[..start].chars().next_back();
        let digits = &rest[start..];
        let hex = digits.starts_with("0x");
        let body = if hex { &digits[2..] } else { digits };
        let length = body
            .find(|c: char| {
                if hex {
                    !c.is_ascii_hexdigit()
                } else {
                    !c.is_ascii_digit()
                }
            })
            .unwrap_or(body.len());
        let value = u64::from_str_radix(&body[..length], if hex { 16 } else { 10 }).unwrap_or(0);
        let whole = length + if hex { 2 } else { 0 };
        out += &rest[..start];
        let is_part = before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '.');
        if !is_part && (1 << 44..1 << 47).contains(&value) {
            out += "<address>";
        } else {
            out += &digits[..whole];
        }
        rest = &digits[whole..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
;! verify
code \"f\" {
  params 1
  local x
  stack 2
  load_fast x
  load_fast x
  binary_op +
  return_value
}
;> verify
;= ok
;> f(2)
;= 4
;> f(\"a\")
;= 'aa'
;> f(None)
;= raises
;=   in f, line 1
;= TypeError: unsupported operand type(s) for +: 'NoneType' and 'NoneType'
";

    #[test]
    fn answers_are_compared() {
        let (new, count, faults) = run_text(FILE);
        assert_eq!(faults, [] as [&str; 0]);
        assert_eq!((new.as_str(), count), (FILE, 4));
    }

    #[test]
    fn a_wrong_answer_is_reported_and_blessing_corrects_it() {
        let (new, _, faults) = run_text(&FILE.replace(";= 4", ";= 5"));
        assert_eq!(faults, ["f(2)\n-5\n+4\n"]);
        assert_eq!(new, FILE);
        let bare = FILE.replace(";> verify\n;= ok\n", "");
        assert_eq!(run_text(&bare).0, FILE);
    }

    #[test]
    fn addresses_are_hidden_and_other_numbers_are_not() {
        let text =
            "v1 = iconst 9007199254740992, 0x7f12_0 140737000000000 0x7f1234567890 x0x7f1234567890";
        assert_eq!(
            hide_addresses(text),
            "v1 = iconst 9007199254740992, 0x7f12_0 <address> <address> x0x7f1234567890"
        );
    }
}
