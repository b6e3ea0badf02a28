//! The rooms of `src/` import each other only as the table in `docs/architecture.md` says.
//!
//! Everything is looked at, tests and macros too: paths that begin with `crate::` (groups included), and `super::` where it
//! climbs out of a room. Comments and texts are not code.

mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use tokens::{sources, tokens};

/// Which rooms a room may import.
type Table = BTreeMap<String, BTreeSet<String>>;

/// An import: the line, and the room.
type Import = (usize, String);

#[test]
fn rooms_import_what_the_table_allows() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = table(&fs::read_to_string(root.join("docs/architecture.md")).unwrap()).unwrap();
    let mut faults = Vec::new();
    let mut files = 0;
    for path in sources(&root.join("src")) {
        let name = path.strip_prefix(root.join("src")).unwrap();
        if name == Path::new("lib.rs") {
            continue;
        }
        files += 1;
        let text = fs::read_to_string(&path).unwrap();
        faults.extend(check(&table, name, &text));
    }
    assert!(files > 50, "only {files} files were found");
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_arrow_of_the_table_names_a_room_of_the_table() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture.md");
    let table = table(&fs::read_to_string(docs).unwrap()).unwrap();
    assert!(table.len() >= 13, "{table:?}");
    for (room, allowed) in &table {
        for other in allowed {
            assert!(
                table.contains_key(other),
                "`{room}` may import `{other}`, which is no room"
            );
            assert!(
                !table[other].contains(room),
                "`{room}` and `{other}` import each other"
            );
        }
    }
}

#[test]
fn every_arrow_of_the_table_is_used() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let mut used = Table::new();
    for path in sources(&root.join("src")) {
        let name = path.strip_prefix(root.join("src")).unwrap();
        add_used(&mut used, name, &fs::read_to_string(&path).unwrap());
    }
    let unused = unused(&page, &used);
    assert!(unused.is_empty(), "\n{}", unused.join("\n"));
}

#[test]
fn an_arrow_that_no_code_uses_is_found() {
    let mut used = Table::new();
    add_used(&mut used, Path::new("engine/mod.rs"), "use crate::hir::Op;");
    assert_eq!(
        unused(HOUSE, &used),
        ["`hir` may import `types`, and does not: remove it from the table"]
    );
    add_used(
        &mut used,
        Path::new("hir/ops.rs"),
        "use crate::types::Type;",
    );
    assert_eq!(unused(HOUSE, &used), [] as [&str; 0]);
}

/// A small house for the tests of the checker itself.
const HOUSE: &str = "
| room | owns | may import |
| --- | --- | --- |
| `src/types/` | types | - |
| `src/ll/` | layouts | - |
| `src/hir/` | values; `paths/`: more | types |
| `src/engine/` | the driver | all of the above |
| `hosts/cpython/` | a host | the public API only |
";

fn faults(file: &str, text: &str) -> Vec<String> {
    check(&table(HOUSE).unwrap(), Path::new(file), text)
}

#[test]
fn a_planted_wrong_arrow_is_found_however_it_is_written() {
    for wrong in [
        "use crate::ll::Ty;",
        "use crate::{types::Type, ll::{Ty, Width}};",
        "use crate::{\n    types::Type,\n    ll,\n};",
        "fn f() -> crate::ll::Ty { todo!() }",
        "macro_rules! m { () => { $crate::ll::Ty }; }",
        "use super::super::ll::Ty;",
        "mod tests { use super::super::super::ll; }",
        "#[cfg(test)] mod tests { use crate::ll::Ty; }",
        "pub use crate :: ll :: Ty;",
        "pub(in crate::ll) fn f() {}",
        "const Q: char = '\"'; use crate::ll::Ty; const R: char = '\"';",
        "fn f<'a>(x: &'a str) -> crate::ll::Ty { 'a: loop { break 'a; } }",
    ] {
        let found = faults("hir/ops.rs", wrong);
        assert_eq!(found.len(), 1, "{wrong}: {found:?}");
        assert!(found[0].contains("`hir` may not import `ll`"), "{found:?}");
    }
    assert_eq!(
        faults(
            "hir/ops.rs",
            "use crate::types::Type;\n\nuse crate::ll::Ty;"
        ),
        ["src/hir/ops.rs:3: `hir` may not import `ll`"]
    );
}

#[test]
fn right_arrows_comments_and_texts_are_no_faults() {
    for right in [
        "use crate::types::Type;",
        "use crate::{types::{Type, ll}, hir::Op};",
        "// use crate::ll::Ty;\n/* crate::ll /* crate::ll */ crate::ll */",
        "/// See [`crate::ll::Ty`].\nfn f() {}",
        "const S: &str = \"crate::ll \\\" crate::ll\";",
        "const S: &str = r#\"crate::ll \" crate::ll\"#;",
        "pub(crate) fn f() {}",
        "use super::build::Start;",
        "mod tests { use super::super::ll; }",
    ] {
        assert_eq!(faults("hir/ops.rs", right), [] as [&str; 0], "{right}");
    }
    assert!(faults("engine/mod.rs", "use crate::{ll, hir, types};").is_empty());
}

#[test]
fn a_room_that_the_table_does_not_have_is_a_fault() {
    assert_eq!(
        faults("attic/mod.rs", ""),
        ["src/attic/mod.rs: the room `attic` is not in the table"]
    );
    assert_eq!(
        faults("engine/mod.rs", "use crate::attic;"),
        ["src/engine/mod.rs:1: `engine` may not import `attic`"]
    );
}

/// The table of rooms in a page: rows whose first cell is `src/room/`.
fn table(page: &str) -> Result<Table, String> {
    let mut table = Table::new();
    for line in page.lines() {
        let Some(row) = line.strip_prefix("| `src/") else {
            continue;
        };
        let cells: Vec<&str> = row.trim_end_matches([' ', '|']).split(" | ").collect();
        let [room, .., allowed] = cells[..] else {
            return Err(format!("a row without cells: {line}"));
        };
        let room = room.trim_end_matches(['/', '`']);
        let allowed: BTreeSet<String> = match allowed.trim() {
            "-" => BTreeSet::new(),
            "all of the above" => table.keys().cloned().collect(),
            names => names.split(", ").map(str::to_owned).collect(),
        };
        if table.insert(room.to_owned(), allowed).is_some() {
            return Err(format!("the room `{room}` is there twice"));
        }
    }
    Ok(table)
}

/// The arrows of a page's table, but for those of a room that may import all above it, which `used` does not have.
fn unused(page: &str, used: &Table) -> Vec<String> {
    let all_above = |room: &str| {
        let row = format!("| `src/{room}/`");
        let mut rows = page.lines().filter(|line| line.starts_with(&row));
        rows.any(|row| row.contains("| all of the above |"))
    };
    let mut faults = Vec::new();
    for (room, allowed) in table(page).unwrap() {
        if all_above(&room) {
            continue;
        }
        let none = BTreeSet::new();
        for other in allowed.difference(used.get(&room).unwrap_or(&none)) {
            faults.push(format!(
                "`{room}` may import `{other}`, and does not: remove it from the table"
            ));
        }
    }
    faults
}

/// Adds the rooms that a file imports (its path is within `src/`).
fn add_used(used: &mut Table, file: &Path, text: &str) {
    let (room, depth) = place(file);
    let imported = imports(text, depth).into_iter().map(|import| import.1);
    used.entry(room).or_default().extend(imported);
}

/// The room of a file, and the number of modules that it is in.
fn place(file: &Path) -> (String, usize) {
    let parts: Vec<String> = file
        .iter()
        .map(|p| p.to_string_lossy().into_owned())
        .collect();
    let room = parts[0].trim_end_matches(".rs").to_owned();
    let is_root = parts.last().is_some_and(|last| last == "mod.rs");
    (room, parts.len() - usize::from(is_root))
}

/// What is wrong with one file (its path is within `src/`).
fn check(table: &Table, file: &Path, text: &str) -> Vec<String> {
    let name = file.to_string_lossy();
    let (room, depth) = place(file);
    let Some(allowed) = table.get(&room) else {
        return vec![format!("src/{name}: the room `{room}` is not in the table")];
    };
    imports(text, depth)
        .into_iter()
        .filter(|(_, other)| *other != room && !allowed.contains(other))
        .map(|(line, other)| format!("src/{name}:{line}: `{room}` may not import `{other}`"))
        .collect()
}

/// The rooms that a text names, where `depth` is the number of modules that the file is in.
fn imports(text: &str, depth: usize) -> Vec<Import> {
    let tokens = tokens(text);
    let word = |i: usize| tokens.get(i).map_or("", |t: &(usize, &str)| t.1);
    let mut found = Vec::new();
    // For each open brace: whether it opened a module.
    let mut braces: Vec<bool> = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        match word(i) {
            "{" => braces.push(i >= 2 && word(i - 2) == "mod"),
            "}" => {
                braces.pop();
            }
            "crate" if word(i + 1) == "::" => found.extend(targets(&tokens, i + 2)),
            "super" => {
                let mut climbed = 1;
                while word(i + 1) == "::" && word(i + 2) == "super" {
                    climbed += 1;
                    i += 2;
                }
                let inner = braces.iter().filter(|module| **module).count();
                if climbed >= depth + inner && word(i + 1) == "::" {
                    found.extend(targets(&tokens, i + 2));
                }
            }
            _ => {}
        }
        i += 1;
    }
    found
}

/// The first names of the path, or group of paths, at token `i`.
fn targets(tokens: &[(usize, &str)], mut i: usize) -> Vec<Import> {
    let Some(&(line, first)) = tokens.get(i) else {
        return Vec::new();
    };
    if first != "{" {
        return vec![(line, first.to_owned())];
    }
    let (mut found, mut depth, mut starts) = (Vec::new(), 0, false);
    while let Some(&(line, token)) = tokens.get(i) {
        match token {
            "{" => (depth, starts) = (depth + 1, depth == 0),
            "}" if depth == 1 => break,
            "}" => depth -= 1,
            "," => starts = depth == 1,
            _ if starts => {
                found.push((line, token.to_owned()));
                starts = false;
            }
            _ => {}
        }
        i += 1;
    }
    found
}
