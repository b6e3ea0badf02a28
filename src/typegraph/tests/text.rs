//! Tests that the text form reads back, and that drawings and documentation are right.

use crate::typegraph::{ScriptOptions, check, dot, print, run};

const CHAPTER: &str = include_str!("../../../docs/typegraph.md");

fn printed(script: &str) -> String {
    let outcome = run(script, ScriptOptions::default());
    print(&outcome.unwrap_or_else(|error| panic!("{error}")).program)
}

#[test]
fn printed_text_reads_back_as_the_same() {
    for script in [
        "",
        "node a -> b, a\nnode c -> a",
        "node n1\nnode n0 -> n1\nnode n1 -> n2\nx = a @ n1",
        "node \"\" -> \"a b\"\n\"x=\" = \"\\\"\\\\\" @ \"a b\"\nvariable \"#\"\ny = \"a->b\"",
        "variable u\nvariable v\nb = 1\na = 1\nv = 1",
        "node n\na = 1\nb = 1 @ n {a=1} | {}",
        "node n\na = 1\na = 1 @ n {a=1}\na = 2 @ n never\ncondition n: a=2\nentry n",
        "default D\nlimit bindings 2\nnode n\nx = 1 @ n\nx = 2 @ n\nlimit combinations 5",
        "limit bindings 100\nx = 1\nlimit bindings 1\nx = 2",
    ] {
        let once = printed(script);
        assert_eq!(printed(&once), once, "of {script}");
    }
}

#[test]
fn a_program_with_more_bindings_than_the_usual_limit_reads_back() {
    let lines: String = (0..100).map(|i| format!("x = {i}\n")).collect();
    let script = format!("limit bindings 200\n{lines}");
    let once = printed(&script);
    assert_eq!(printed(&once), once);
    assert_eq!(once.matches("x = ").count(), 100);
}

#[test]
fn a_picture_shows_nodes_conditions_bindings_and_edges() {
    let script = "node a -> b, a\nx = \"1 2\" @ a\ny = 1 @ b {x=\"1 2\"} | {}\ncondition b: x=\"1 2\"\nz = 1 @ b never";
    let outcome = run(script, ScriptOptions::default()).expect("it is right");
    assert_eq!(
        dot(&outcome.program),
        "digraph typegraph {
    rankdir=TB;
    node [shape=box, fontname=\"monospace\"];
    n0 [label=\"a\\lx=\\\"1 2\\\"\\l\"];
    n1 [label=\"b\\lif x=\\\"1 2\\\"\\ly=1 from {} or {x=\\\"1 2\\\"}\\lz=1 never\\l\", style=dashed];
    n0 -> n1;
    n0 -> n0;
}
"
    );
}

#[test]
fn a_wrong_expectation_is_found_and_put_right() {
    let right = "node n\nx = 1 @ n\nn? {x=1}\n#= feasible\n";
    assert_eq!(check(right), (right.to_owned(), 1, vec![]));
    for wrong in [
        right.replace("#= feasible", "#= infeasible"),
        right.replace("#= feasible\n", ""),
        format!("{right}#= more\n"),
    ] {
        let (new, _, faults) = check(&wrong);
        assert_eq!((new.as_str(), faults.len()), (right, 1), "{wrong}");
    }
    let unasked = right.replace("x = 1 @ n\n", "x = 1 @ n\n#= what?\n");
    assert_eq!(check(&unasked).2.len(), 1);
    // A script that can't be run must not lose its answers.
    let broken = right.replace("x = 1 @ n", "x = 1 @ m");
    let (new, _, faults) = check(&broken);
    assert_eq!((new, faults.len()), (broken, 1));
}

#[test]
fn strange_text_gives_errors_with_places() {
    for text in [
        "\u{0}",
        "x = ",
        "n? {",
        "\"",
        "\\",
        "?",
        "= 1",
        "node",
        "x @ n",
        "\u{a0}\u{1f98e} =",
    ] {
        let error = run(text, ScriptOptions::default()).err();
        let error = error.unwrap_or_else(|| panic!("{text:?} was read"));
        assert_eq!(error.line, 1);
        assert!(
            error.column >= 1 && error.column <= text.chars().count() + 1,
            "{error}"
        );
    }
}

/// Every `tg` block of the chapter, alone and all in sequence, is a script with right answers.
#[test]
fn every_example_of_the_chapter_is_so() {
    let blocks = CHAPTER.split("```tg\n").skip(1);
    let blocks: Vec<&str> = blocks
        .filter_map(|b| Some(b.split_once("```")?.0))
        .collect();
    assert!(blocks.len() >= 6, "only {} examples", blocks.len());
    let mut answers = 0;
    for block in blocks {
        let (_, count, faults) = check(block);
        assert_eq!(faults, [], "{block}");
        answers += count;
    }
    assert!(answers >= 13, "only {answers} answers");
}

/// Every keyword of the grammar is known, and every known keyword is in the grammar.
#[test]
fn the_grammar_of_the_chapter_has_every_statement() {
    let (_, grammar) = CHAPTER.split_once("```ebnf\n").expect("the grammar");
    let (grammar, _) = grammar.split_once("```").expect("its end");
    for word in [
        "program",
        "node",
        "variable",
        "condition",
        "entry",
        "default",
        "limit",
        "budget",
        "paste",
        "assign",
        "why",
        "can",
        "reach",
        "source",
        "path",
        "filter",
        "prune",
        "views",
        "show",
        "metrics",
        "dot",
    ] {
        assert!(grammar.contains(&format!("\"{word}\"")), "{word}");
        let error = run(&format!("{word} @@"), ScriptOptions::default()).err();
        let said = error.map(|e| e.to_string()).unwrap_or_default();
        assert!(
            !said.contains("a statement or a question"),
            "{word}: {said}"
        );
    }
}
