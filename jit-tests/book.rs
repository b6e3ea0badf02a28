//! The book in `docs/`: its index has every page, its links lead somewhere, and its glossary stays short.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages of the book, without the index.
fn pages() -> BTreeSet<String> {
    let entries = fs::read_dir(root().join("docs")).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".md") && name != "SUMMARY.md")
        .collect()
}

/// A page without its code blocks and code spans, whose brackets are not links.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut out = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            for (k, part) in line.split('`').enumerate() {
                out += if k % 2 == 0 { part } else { "code" };
            }
        }
        out.push('\n');
    }
    out
}

/// The targets of a page's links, with their lines.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (k, line) in prose(text).lines().enumerate() {
        let mut rest = line;
        while let Some((_, after)) = rest.split_once("](") {
            let (target, after) = after.split_once(')').unwrap_or((after, ""));
            found.push((k + 1, target.to_owned()));
            rest = after;
        }
    }
    found
}

/// The anchors of a page: its headings as GitHub and mdBook name them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut found = BTreeSet::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code || !line.starts_with('#') {
            continue;
        }
        let title = line.trim_start_matches('#').trim().to_lowercase();
        found.insert(
            title
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .map(|c| if c == ' ' { '-' } else { c })
                .collect(),
        );
    }
    found
}

/// A path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// The links of a file that lead nowhere.
fn broken(file: &Path, cache: &mut BTreeMap<PathBuf, BTreeSet<String>>) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let name = file.strip_prefix(root()).unwrap().display();
    let mut faults = Vec::new();
    for (line, target) in links(&text) {
        if target.contains("://") {
            continue;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let there = match path {
            "" => file.to_owned(),
            _ => normal(&file.parent().unwrap().join(path)),
        };
        if !there.exists() {
            faults.push(format!("{name}:{line}: there is no file `{path}`"));
        } else if !anchor.is_empty() {
            let known = cache
                .entry(there.clone())
                .or_insert_with(|| anchors(&fs::read_to_string(&there).unwrap()));
            if !known.contains(anchor) {
                faults.push(format!(
                    "{name}:{line}: `{path}` has no heading `#{anchor}`"
                ));
            }
        }
    }
    faults
}

#[test]
fn the_index_has_every_page_once() {
    let summary = fs::read_to_string(root().join("docs/SUMMARY.md")).unwrap();
    let listed: Vec<String> = links(&summary).into_iter().map(|(_, to)| to).collect();
    let unique: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(unique.len(), listed.len(), "a page is listed twice");
    assert_eq!(unique, pages());
}

#[test]
fn every_link_of_the_book_leads_somewhere() {
    let mut cache = BTreeMap::new();
    let docs = root().join("docs");
    let mut faults = broken(&root().join("README.md"), &mut cache);
    faults.extend(broken(&docs.join("SUMMARY.md"), &mut cache));
    for page in pages() {
        faults.extend(broken(&docs.join(page), &mut cache));
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_glossary_has_at_most_forty_terms_each_once() {
    let glossary = fs::read_to_string(root().join("docs/glossary.md")).unwrap();
    let (terms, _) = glossary.split_once("## Words not to use").unwrap();
    let rows = terms.lines().filter_map(|line| line.strip_prefix("| "));
    let names: Vec<&str> = rows
        .filter_map(|row| row.split(" | ").next())
        .filter(|name| *name != "term" && !name.starts_with("---"))
        .collect();
    assert!((20..=40).contains(&names.len()), "{} terms", names.len());
    let unique: BTreeSet<&str> = names.iter().copied().collect();
    assert_eq!(unique.len(), names.len());
}

#[test]
fn links_and_anchors_are_found_and_code_is_not() {
    let page =
        "# A `b` c-d\n[x](a.md#b) and `[y](c.md)`\n```\n# no\n[z](d.md)\n```\n[w](https://e)";
    let found: Vec<String> = links(page).into_iter().map(|(_, to)| to).collect();
    assert_eq!(found, ["a.md#b", "https://e"]);
    assert_eq!(anchors(page), BTreeSet::from(["a-b-c-d".to_owned()]));
}
