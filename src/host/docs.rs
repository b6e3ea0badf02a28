//! The tables of `docs/helpers.md` follow from the tables of the code. `BLESS=1` writes them.

use super::{DEALLOC, EXIT_HOOK, FREE_LEAF, MATH, closed_helpers, helpers, names};
use crate::bytecode::{GeneralOp, Gives};
use crate::facts::Effects;
use crate::ll::Ty;
use std::collections::BTreeMap;
use std::fmt::Write;

const GENERAL: &str = include_str!("../bytecode/general.rs");
const NAMES: &str = include_str!("mod.rs");
const OTHERS: &str = include_str!("helpers.rs");
const SIMPLE: &str = include_str!("simple.rs");
const TINY: &str = include_str!("../../examples/tiny_host/main.rs");

/// The doc comment above the line that contains `line`, without links, for a cell of a table.
fn doc(source: &str, line: &str) -> String {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let at = lines
        .iter()
        .position(|found| !found.starts_with("//") && found.contains(line))
        .unwrap_or_else(|| panic!("`{line}` is not in the source"));
    let begin = lines[..at]
        .iter()
        .rposition(|line| !line.starts_with("///"))
        .map_or(0, |k| k + 1);
    let text: Vec<&str> = lines[begin..at]
        .iter()
        .map(|line| line.trim_start_matches("///").trim())
        .collect();
    assert!(!text.is_empty(), "`{line}` has no comment");
    unlinked(&text.join(" ")).replace('|', "\\|")
}

/// A comment with `[text](target)` and `[text]` replaced by the text.
fn unlinked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((name, after)) = after.split_once("`]") else {
            break;
        };
        let _ = write!(out, "{before}`{name}`");
        rest = match after.strip_prefix('(') {
            Some(target) => target.split_once(')').map_or("", |(_, after)| after),
            None => after,
        };
    }
    out + rest
}

fn types(types: &[Ty]) -> String {
    let names: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
    names.join(", ")
}

fn signature(params: &[Ty], results: &[Ty]) -> String {
    match results {
        [] => format!("({})", types(params)),
        [one] => format!("({}) -> {}", types(params), one.name()),
        several => format!("({}) -> ({})", types(params), types(several)),
    }
}

/// The arguments of a general operation's helper, by their roles.
fn roles(op: GeneralOp) -> String {
    let info = op.info();
    let mut words = Vec::new();
    words.extend(info.thread.then_some("thread"));
    words.extend(info.frame.then_some("frame"));
    words.extend((0..info.imms).map(|_| "immediate"));
    words.extend((0..info.operands).map(|_| "object"));
    if info.variadic {
        words.extend(["*array*", "count"]);
    }
    words.extend(info.outputs.then_some("*outputs*"));
    words.join(", ")
}

fn gives(gives: Gives) -> &'static str {
    match gives {
        Gives::Object => "object, or null",
        Gives::Nothing => "status",
        Gives::Bool => "0, 1, or negative",
        Gives::Next => "1, 0 at the end, or negative",
    }
}

/// "yes" if the tiny host defines the helper.
fn in_tiny(name: &str) -> &'static str {
    let defined = format!("define(\"{name}\"");
    if TINY.contains(&defined) { "yes" } else { "" }
}

fn effects(effects: Effects) -> String {
    let words = [
        (effects.reads, "reads"),
        (effects.writes, "writes"),
        (effects.raises, "raises"),
        (effects.releases, "releases"),
        (effects.runs_host_code, "runs user code"),
    ];
    let words: Vec<&str> = words.iter().filter(|w| w.0).map(|w| w.1).collect();
    words.join(", ")
}

fn general() -> String {
    let mut table = String::from(
        "| helper | arguments | result | may raise | user code | tiny host | operation |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for &op in GeneralOp::ALL {
        let info = op.info();
        let _ = writeln!(
            table,
            "| `{}` | {} | {} | {} | {} | {} | {} |",
            info.name,
            roles(op),
            gives(info.gives),
            if info.raises { "yes" } else { "" },
            if info.quiet { "" } else { "yes" },
            in_tiny(info.name),
            doc(GENERAL, &format!(" \"{}\" (", info.name)),
        );
    }
    table
}

fn others() -> String {
    let mut table = String::from(
        "| helper | signature | effects | tiny host | purpose |\n| --- | --- | --- | --- | --- |\n",
    );
    let general: Vec<&str> = GeneralOp::ALL.iter().map(|op| op.info().name).collect();
    let rows = helpers().into_iter().chain(closed_helpers());
    for row in rows.filter(|row| !general.contains(&row.name)) {
        let purpose = match row.name {
            EXIT_HOOK => doc(OTHERS, "const EXIT_HOOK"),
            FREE_LEAF => doc(OTHERS, "const FREE_LEAF"),
            DEALLOC => doc(OTHERS, "const DEALLOC"),
            name if MATH.iter().any(|math| math.0 == name) => "An operation on doubles.".to_owned(),
            _ => "For hosts with closed units: all of them, or none.".to_owned(),
        };
        let _ = writeln!(
            table,
            "| `{}` | `{}` | {} | {} | {purpose} |",
            row.name,
            signature(&row.params, &row.results),
            effects(row.effects),
            in_tiny(row.name),
        );
    }
    table
}

/// The methods of the builder that write intrinsics for simple hosts, by the intrinsic's constant.
fn written() -> BTreeMap<&'static str, &'static str> {
    let mut found = BTreeMap::new();
    let mut method = "";
    for line in SIMPLE.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("pub fn ") {
            method = rest.split('(').next().unwrap_or_default();
        }
        for part in line.split("names::").skip(1) {
            let name = part.split(|c: char| c != '_' && !c.is_ascii_uppercase());
            let name = name.into_iter().next().unwrap_or_default();
            if !name.is_empty() && !method.is_empty() && name != "STANDARD" {
                found.insert(name, method);
            }
        }
    }
    found
}

fn intrinsics(group: &[names::Row]) -> String {
    let written = written();
    let mut table = String::from(
        "| intrinsic | signature | written by | operation |\n| --- | --- | --- | --- |\n",
    );
    for (name, params, results) in group {
        let line = format!(" = \"{name}\" (");
        let constant = NAMES
            .lines()
            .find(|found| found.contains(&line))
            .and_then(|found| found.trim().split(' ').next())
            .expect("a constant");
        let method = written.get(constant).map(|method| format!("`{method}`"));
        let _ = writeln!(
            table,
            "| `{name}` | `{}` | {} | {} |",
            signature(params, results),
            method.unwrap_or_default(),
            doc(NAMES, &line),
        );
    }
    table
}

#[test]
fn the_tables_of_the_book_are_the_tables() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/helpers.md");
    let page = std::fs::read_to_string(path).unwrap();
    let tables = [
        ("general", general()),
        ("others", others()),
        ("standard", intrinsics(names::STANDARD)),
        ("namespace", intrinsics(names::NAMESPACE)),
        ("items", intrinsics(names::ITEMS)),
        ("strings", intrinsics(names::STRINGS)),
        ("closed", intrinsics(names::CLOSED)),
    ];
    let mut written = page.clone();
    for (name, table) in tables {
        let (start, end) = (
            format!("<!-- {name} -->\n"),
            format!("<!-- end of {name} -->"),
        );
        let (head, rest) = written.split_once(&start).expect("the table's place");
        let (_, tail) = rest.split_once(&end).expect("the table's end");
        written = format!("{head}{start}\n{table}\n{end}{tail}");
    }
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(path, written).unwrap();
        return;
    }
    assert!(page == written, "BLESS=1 writes docs/helpers.md");
}

#[test]
fn links_of_comments_become_text() {
    assert_eq!(
        unlinked("a [`b`](super::c) of [`d`], e[f]"),
        "a `b` of `d`, e[f]"
    );
}
