//! Tests that the chapter on types is right: each line of a `relations` block holds in the
//! chapter's own hierarchy.

use crate::types::{Hierarchy, evaluate, predefined_names};

const CHAPTER: &str = include_str!("../../../docs/types.md");

/// The blocks fenced with this word.
fn blocks(kind: &str) -> impl Iterator<Item = &'static str> {
    let fence = format!("```{kind}\n");
    let mut rest = CHAPTER;
    std::iter::from_fn(move || {
        let (_, after) = rest.split_once(fence.as_str())?;
        let (block, after) = after.split_once("```")?;
        rest = after;
        Some(block)
    })
}

#[test]
fn every_relation_of_the_chapter_holds() {
    let hierarchy = Hierarchy::parse(blocks("hierarchy").next().expect("the chapter has one"))
        .expect("well-formed");
    let names = hierarchy.names();
    let eval = |text: &str| {
        evaluate(text, &names)
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .to_string()
    };
    let mut checked = 0;
    for line in blocks("relations").flat_map(str::lines) {
        match line.split_once(" is ") {
            Some((left, right)) => assert_eq!(eval(left), eval(right), "{line}"),
            None => assert_eq!(eval(line), "true", "{line}"),
        }
        checked += 1;
    }
    assert!(checked >= 60, "only {checked} relations found");
}

#[test]
fn every_example_of_the_specification_is_in_the_chapter() {
    let tests = include_str!("seed.rs");
    let (_, examples) = tests
        .split_once("mod specialization")
        .expect("the examples");
    let (examples, _) = examples
        .split_once("mod pictures")
        .expect("the pictures come last");
    for example in examples
        .lines()
        .filter_map(|line| line.split_once(": \"")?.1.strip_suffix("\";"))
    {
        assert!(
            blocks("relations").any(|block| block.lines().any(|line| line == example)),
            "{example}"
        );
    }
}

#[test]
fn every_predefined_type_is_in_the_picture() {
    let picture = blocks("text")
        .find(|block| block.starts_with("Top"))
        .expect("the picture");
    let words: Vec<_> = picture
        .split(|c: char| !c.is_ascii_alphanumeric())
        .collect();
    for (name, _) in predefined_names()
        .into_iter()
        .filter(|(name, _)| !name.starts_with("Opt") && !name.contains("ortal"))
    {
        assert!(
            words.contains(&name.as_str()),
            "{name} is not in the picture"
        );
    }
}
