//! The tables of `docs/helpers.md` follow from the tables of the code. `BLESS=1` writes them.

use super::{DEALLOC, EXIT_HOOK, FREE_LEAF, MATH, closed_helpers, helpers, names};
use crate::bytecode::{GeneralOp, Gives, Op};
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
fn written() -> BTreeMap<&'static str, Vec<&'static str>> {
    let mut found = BTreeMap::<_, Vec<&str>>::new();
    let mut method = "";
    for line in SIMPLE.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("pub fn ") {
            method = rest.split('(').next().unwrap_or_default();
        }
        for part in line.split("names::").skip(1) {
            let name = part.split(|c: char| c != '_' && !c.is_ascii_uppercase());
            let name = name.into_iter().next().unwrap_or_default();
            let methods = found.entry(name).or_default();
            if !method.is_empty() && !methods.contains(&method) {
                methods.push(method);
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
        let methods = written.get(constant).map(|methods| {
            let methods: Vec<String> = methods.iter().map(|m| format!("`{m}`")).collect();
            methods.join(", ")
        });
        let _ = writeln!(
            table,
            "| `{name}` | `{}` | {} | {} |",
            signature(params, results),
            methods.unwrap_or_default(),
            doc(NAMES, &line),
        );
    }
    table
}

/// The files of `examples/first_host` by step.
const STEPS: &[(&str, &[&str])] = &[
    (
        "1: ints",
        &[
            include_str!("../../examples/first_host/host.rs"),
            include_str!("../../examples/first_host/ints.rs"),
        ],
    ),
    (
        "2: floats",
        &[include_str!("../../examples/first_host/floats.rs")],
    ),
    (
        "3: lists",
        &[include_str!("../../examples/first_host/lists.rs")],
    ),
    (
        "4: iterators",
        &[include_str!("../../examples/first_host/iterators.rs")],
    ),
    (
        "5: exceptions",
        &[include_str!("../../examples/first_host/exceptions.rs")],
    ),
    (
        "6: loops",
        &[include_str!("../../examples/first_host/loops.rs")],
    ),
];

/// The words of a text that follow a prefix, up to a character that no name has, without
/// repetitions.
fn words_after<'t>(text: &'t str, prefix: &str) -> Vec<&'t str> {
    let mut found = Vec::new();
    for part in text.split(prefix).skip(1) {
        let end = part.find(|c: char| c != '_' && !c.is_alphanumeric());
        let word = &part[..end.unwrap_or(part.len())];
        if !word.is_empty() && !found.contains(&word) {
            found.push(word);
        }
    }
    found
}

/// The instructions, helpers and intrinsics of each step of `docs/steps.md`.
fn steps() -> String {
    let written = written();
    let helpers: Vec<&str> = helpers().iter().map(|row| row.name).collect();
    let tables = [names::STANDARD, names::ITEMS].concat();
    let mut table = String::from(
        "| step | bytecode instructions | helpers of the core's table | own helpers | intrinsics, written by |\n\
         | --- | --- | --- | --- | --- |\n",
    );
    let quoted = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    let (mut ops_of_all, mut helpers_of_all) = (0, 0);
    for (step, files) in STEPS {
        let text = files.concat();
        let variants = words_after(&text, "Op::");
        let ops = Op::ALL
            .iter()
            .filter(|op| variants.contains(&&*format!("{op:?}")));
        let ops: Vec<&str> = ops.map(|op| op.info().name).collect();
        let defined = words_after(&text, "define(\"");
        let (core, own): (Vec<&str>, Vec<&str>) =
            defined.into_iter().partition(|name| helpers.contains(name));
        (ops_of_all, helpers_of_all) = (ops_of_all + ops.len(), helpers_of_all + core.len());
        let mut methods = Vec::new();
        for method in words_after(&text, ".") {
            if !text.contains(&format!(".{method}(")) {
                continue;
            }
            let constants = written.iter().filter(|(_, by)| by.contains(&method));
            let constants: Vec<&str> = constants.map(|(constant, _)| *constant).collect();
            let of_method = tables.iter().filter(|row| {
                let line = format!(" = \"{}\" (", row.0);
                let constant = NAMES.lines().find(|found| found.contains(&line));
                let constant = constant.and_then(|line| line.trim().split(' ').next());
                constant.is_some_and(|constant| constants.contains(&constant))
            });
            let of_method: Vec<&str> = of_method.map(|row| row.0).collect();
            if !of_method.is_empty() {
                methods.push(format!("`{method}`: {}", quoted(&of_method)));
            }
        }
        let _ = writeln!(
            table,
            "| {step} | {} | {} | {} | {} |",
            quoted(&ops),
            quoted(&core),
            quoted(&own),
            methods.join("; "),
        );
    }
    let _ = writeln!(
        table,
        "\nSo this host has {ops_of_all} of the {} instructions and {helpers_of_all} of the {} helpers.",
        Op::ALL.len(),
        helpers.len(),
    );
    table
}

/// Compares the tables of a page with these, or writes them.
fn check(file: &str, tables: &[(&str, String)]) {
    let path = format!("{}/docs/{file}", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(&path).unwrap();
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
    assert!(page == written, "BLESS=1 writes docs/{file}");
}

#[test]
fn the_tables_of_the_book_are_the_tables() {
    let tables = [
        ("general", general()),
        ("others", others()),
        ("standard", intrinsics(names::STANDARD)),
        ("namespace", intrinsics(names::NAMESPACE)),
        ("items", intrinsics(names::ITEMS)),
        ("strings", intrinsics(names::STRINGS)),
        ("closed", intrinsics(names::CLOSED)),
    ];
    check("helpers.md", &tables);
    check("steps.md", &[("steps", steps())]);
}

#[test]
fn links_of_comments_become_text() {
    assert_eq!(
        unlinked("a [`b`](super::c) of [`d`], e[f]"),
        "a `b` of `d`, e[f]"
    );
}
