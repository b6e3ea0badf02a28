//! The listings of `docs/life.md` are the compiler's current output. `BLESS=1` writes them.

use cladonia_reference::filetest::hide_addresses;
use cladonia_reference::stages::{Query, show};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/life.md");

/// The value of `key` in a fence's words, such as `to="bb2"`.
fn option<'a>(words: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = words.split_once(&format!(" {key}="))?;
    match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next(),
        None => rest.split(' ').next(),
    }
}

/// The lines from the first one that contains `from` up to the next one that contains `to`; after
/// `^`, that begins with it.
fn excerpt(text: &str, from: Option<&str>, to: Option<&str>) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let find = |start: usize, word: &str| {
        let is_it = |line: &&str| match word.strip_prefix('^') {
            Some(word) => line.starts_with(word),
            None => line.contains(word),
        };
        let found = lines[start..].iter().position(is_it);
        start + found.unwrap_or_else(|| panic!("no line has `{word}`:\n{text}"))
    };
    let start = from.map_or(0, |word| find(0, word));
    let end = to.map_or(lines.len(), |word| find(start + 1, word));
    let found = lines[start..end].join("\n");
    found.trim_end().to_owned() + "\n"
}

/// The listing that a fence asks for: `dump STAGE [after=PASS] [from="TEXT"] [to="TEXT"]`.
fn listing(program: &str, words: &str) -> String {
    let stage = words.split(' ').nth(1).expect("a stage");
    let after = option(words, "after");
    let query = Query {
        function: Some("squares".to_owned()),
        stage: stage.to_owned(),
        types: vec!["LongExact".to_owned()],
        after: after.map(str::to_owned),
        diff: after.is_some(),
        ..Query::default()
    };
    let text = show(program, &query).unwrap_or_else(|e| panic!("{words}: {e}"));
    excerpt(
        &hide_addresses(&text),
        option(words, "from"),
        option(words, "to"),
    )
}

#[test]
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
fn the_listings_of_the_page_are_what_is_printed() {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let (_, program) = page.split_once("```tbc\n").expect("the program");
    let (program, _) = program.split_once("```").expect("a closed fence");
    let mut written = String::new();
    let mut rest = page.as_str();
    let mut listings = 0;
    while let Some((before, after)) = rest.split_once("```dump ") {
        let (words, after) = after.split_once('\n').expect("a fence ends its line");
        let (_, after) = after.split_once("```").expect("a closed fence");
        let words = format!("dump {words}");
        written += &format!("{before}```{words}\n{}```", listing(program, &words));
        listings += 1;
        rest = after;
    }
    written += rest;
    assert!(listings >= 10, "only {listings} listings");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(PAGE, written).unwrap();
        return;
    }
    let diff = cladonia_reference::diff::diff(&page, &written, 2);
    assert!(page == written, "BLESS=1 writes docs/life.md:\n{diff}");
}
