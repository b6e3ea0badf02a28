//! Tests of `cladonia typegraph` as a user runs it.

use std::process::{Command, Output};

/// A folder of this process's own.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("cladonia-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder is made");
    folder
}

/// Runs the tool on a script.
fn run(name: &str, script: &str, arguments: &[&str]) -> Output {
    let folder = folder(name);
    std::fs::write(folder.join("script.tg"), script).expect("the file is written");
    let output = Command::new(env!("CARGO_BIN_EXE_cladonia"))
        .args(["typegraph", "script.tg"])
        .args(arguments)
        .current_dir(&folder)
        .output()
        .expect("the tool ends");
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
    output
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the tool prints UTF-8")
}

const CHAPTER: &str = include_str!("../../../docs/typegraph.md");

/// The blocks of the chapter that are fenced with this word.
fn blocks(fence: &str) -> String {
    let fence = format!("```{fence}\n");
    let after = CHAPTER.split(fence.as_str()).skip(1);
    let blocks = after.filter_map(|rest| Some(rest.split_once("```")?.0));
    blocks.collect()
}

/// Every command in a `console` block of the chapter prints the text below it, up to a line `...`.
#[test]
fn the_chapter_has_the_output_of_the_tool() {
    let folder = folder("chapter-typegraph");
    std::fs::write(folder.join("example.tg"), blocks("example")).expect("the file is written");
    std::fs::write(folder.join("wrong.tg"), "node n1\nx = 1 @ n3\n").expect("the file is written");
    let mut commands = 0;
    for example in blocks("console").split("$ cladonia ").skip(1) {
        let (command, expected) = example.split_once('\n').expect("a command is a line");
        let output = Command::new(env!("CARGO_BIN_EXE_cladonia"))
            .args(command.split(' '))
            .current_dir(&folder)
            .output()
            .expect("the tool ends");
        let printed = format!("{}{}", text(&output.stdout), text(&output.stderr));
        let is_error = expected.starts_with("error: ");
        assert_eq!(output.status.code(), Some(i32::from(is_error)), "{printed}");
        match expected.split_once("...\n") {
            Some((start, _)) => assert!(printed.starts_with(start), "{command}: {printed}"),
            None => assert_eq!(printed, expected, "{command}"),
        }
        commands += 1;
    }
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
    assert!(commands >= 5, "only {commands} commands");
}

#[test]
fn an_answer_is_printed_after_its_query_and_a_list_below_it() {
    let script = "node n1 -> n2\nx = 1 @ n1 # a comment\n  n2? {x=1} # and another\nshow x\nprune x @ n2\nnode n3\nviews x @ n3\nshow\n";
    let output = run("lists", script, &[]);
    assert_eq!(
        text(&output.stdout),
        "n2? {x=1}: feasible
show x: x = 1 @ n1
prune x @ n2: {x=1}
views x @ n3: nothing
show:
  default any
  node n1 -> n2
  node n2
  node n3
  x = 1 @ n1
"
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_picture_is_all_that_is_printed() {
    let output = run("picture", "node n1 -> n2\nn2? {}\n", &["--dot"]);
    let graph = text(&output.stdout);
    assert!(graph.starts_with("digraph typegraph {") && graph.contains("    n0 -> n1;\n"));
    assert!(!graph.contains("feasible"));
}

#[test]
fn wrong_usage_exits_with_two() {
    for arguments in [&["--dot", "--why"][..], &["--wy"], &["another.tg"]] {
        let output = run("usage", "", arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_script_that_cannot_be_read_is_an_error() {
    let output = Command::new(env!("CARGO_BIN_EXE_cladonia"))
        .args(["typegraph", "no/such/script.tg"])
        .output()
        .expect("the tool ends");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: no/such/script.tg: "));
}
