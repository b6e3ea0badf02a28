//! The host that `docs/steps.md` builds runs, and the page shows what is in its files.

#[path = "../examples/first_host/main.rs"]
#[allow(dead_code)]
mod first_host;

use std::fs;
use std::path::Path;

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn the_example_runs() {
    first_host::main().unwrap();
}

/// The item of a file whose first line without comments begins with this, with its comments.
fn item(file: &str, start: &str) -> String {
    let lines: Vec<&str> = file.lines().collect();
    let first = lines
        .iter()
        .position(|line| line.trim_start().starts_with(start));
    let first = first.unwrap_or_else(|| panic!("no item begins with `{start}`"));
    let is_head = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("///") || line.starts_with("#[")
    };
    let head = lines[..first]
        .iter()
        .rev()
        .take_while(|line| is_head(line))
        .count();
    let indent = lines[first].len() - lines[first].trim_start().len();
    let is_end = |line: &&str| {
        let margin = line.len() - line.trim_start().len();
        margin == indent && line.trim_start().starts_with('}')
    };
    let body = &lines[first..];
    let is_line = body[0].ends_with(';') || body[0].ends_with("{}");
    let end = body.iter().position(is_end).expect("an end");
    let len = if is_line { 1 } else { end + 1 };
    lines[first - head..first + len].join("\n") + "\n"
}

/// The page with the code behind each mark `<!-- file -->` or `<!-- file: items -->`.
fn filled(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("<!-- examples/first_host/") {
        let (mark, after) = after.split_once(" -->\n").expect("the end of a mark");
        let (name, items) = mark.split_once(": ").unwrap_or((mark, ""));
        let file = read(&format!("examples/first_host/{name}"));
        let code = if items.is_empty() {
            file
        } else {
            let items: Vec<String> = items.split("; ").map(|start| item(&file, start)).collect();
            let is_use = |k: usize| items.get(k).is_some_and(|item| item.starts_with("use "));
            // A blank line between items, except between imports.
            let gap = |k: usize| match is_use(k) && is_use(k + 1) || k + 1 == items.len() {
                true => "",
                false => "\n",
            };
            let with_gap = |(k, item)| format!("{item}{}", gap(k));
            items.iter().enumerate().map(with_gap).collect()
        };
        let language = if name.ends_with(".rs") {
            "rust,ignore"
        } else {
            "text"
        };
        out += before;
        out += &format!("<!-- examples/first_host/{mark} -->\n\n```{language}\n{code}```\n");
        let old = after.trim_start().strip_prefix("```");
        let old = old.and_then(|old| old.split_once("\n```\n"));
        rest = old.map_or(after, |(_, after)| after);
    }
    out + rest
}

#[test]
fn the_page_shows_the_files() {
    let page = read("docs/steps.md");
    let filled = filled(&page);
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/steps.md");
        fs::write(path, filled).unwrap();
        return;
    }
    assert!(
        page == filled,
        "BLESS=1 cargo test --test steps writes docs/steps.md"
    );
}

#[test]
fn the_sizes_that_the_page_names_are_those_of_the_files() {
    let page = read("docs/steps.md");
    let mut found = 0;
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let (name, lines) = (cells.next().unwrap(), cells.next().unwrap());
        let file = read(&format!("examples/first_host/{}", name.trim_matches('`')));
        assert_eq!(lines.parse(), Ok(file.lines().count()), "{name}");
        found += 1;
    }
    assert_eq!(found, 8);
}
