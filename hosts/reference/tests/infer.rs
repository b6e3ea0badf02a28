//! `cladonia infer`, and that what it finds does not depend on the order of steps.

mod tool;

use cladonia::bytecode::Document;
use cladonia::infer::Options;
use cladonia_reference::infer::{Query, infer};
use std::path::Path;

/// Every program of the file tests, with its requests: the function, and the types of its arguments.
fn programs() -> Vec<(String, Document, Vec<Query>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../jit-tests/files/infer");
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let requests = text
            .lines()
            .filter_map(|line| line.strip_prefix(";> infer "));
        let queries: Vec<Query> = requests
            .map(|request| {
                let mut words = request.split_whitespace();
                let function = words.next().map(str::to_owned);
                let types = words.filter(|word| word.starts_with(|c: char| c.is_uppercase()));
                Query {
                    function,
                    types: types.map(str::to_owned).collect(),
                    options: Options::default(),
                }
            })
            .collect();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        all.push((name, Document::parse(&text).unwrap(), queries));
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

#[test]
fn a_hundred_orders_of_steps_give_the_same_facts_of_every_program() {
    let programs = programs();
    assert!(programs.len() >= 20, "only {} programs", programs.len());
    for (name, document, queries) in &programs {
        for query in queries {
            let first = infer(document, query).unwrap();
            for seed in 0..100 {
                let mut shuffled = query.clone();
                shuffled.options.shuffle = Some(seed);
                let other = infer(document, &shuffled).unwrap();
                assert_eq!(
                    first.canonical, other.canonical,
                    "{name}, {query:?}, seed {seed}"
                );
            }
        }
    }
}

#[test]
fn the_analysis_of_every_program_ends_within_the_stated_bound() {
    for (name, document, queries) in &programs() {
        for query in queries {
            for shuffle in [None, Some(1), Some(2)] {
                let mut query = query.clone();
                query.options.shuffle = shuffle;
                let analysis = infer(document, &query).unwrap();
                let ops: usize = document
                    .codes
                    .iter()
                    .map(|code| 4 * code.instrs.len())
                    .sum();
                let versions = analysis.versions.len().max(1);
                let bound = analysis.rounds * versions * ops * (1 + analysis.changes as usize);
                assert!(
                    (analysis.steps as usize) < bound,
                    "{name}: {} steps",
                    analysis.steps
                );
                assert!(
                    analysis.steps < 40 * (ops * versions) as u64,
                    "{name}: {} steps",
                    analysis.steps
                );
            }
        }
    }
}

const BLOCKED: &str = r#"
object "None": NoneType immortal = None
code "f" {
  file "x.py" 1
  params 0
  stack 2
  local a
  const None
  load_const #0   line 2
  unpack_sequence 1
  store_fast a
  load_fast a
  return_value
}
"#;

#[test]
fn strict_mode_names_the_operation_the_line_and_the_variables_and_fails() {
    let output = tool::run(&["infer", "-", "f", "--strict"], BLOCKED);
    assert_eq!(output.status, 1, "{}{}", output.out, output.err);
    for part in [
        "Blocked block -- operation cannot succeed",
        "unpack_sequence",
        "Happened at file x.py line 2",
        "type=NoneType",
    ] {
        assert!(output.out.contains(part), "no `{part}` in\n{}", output.out);
    }
    let output = tool::run(&["infer", "-", "f"], BLOCKED);
    assert_eq!(output.status, 0, "{}", output.err);
    assert!(output.out.contains("Blocked: "), "{}", output.out);
}

#[test]
fn the_trace_has_the_steps_in_the_order_of_the_seed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../jit-tests/files/infer/seed_factorial.tbc");
    let text = std::fs::read_to_string(path).unwrap();
    let output = tool::run(
        &["infer", "-", "fact", "--types", "LongExact", "--trace"],
        &text,
    );
    assert_eq!(output.status, 0, "{}", output.err);
    let steps: Vec<&str> = output
        .out
        .lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| {
            !line.contains("--->") && !line.contains(" annotations ") && !line.contains("-->")
        })
        .map(|line| line.split(" `").next().unwrap_or(line))
        .collect();
    assert_eq!(
        steps,
        [
            "Analyse(fact bb3):",
            "Analyse(fact bb0):",
            "Analyse(fact bb1):",
            "    impossiblevalue: blocked at",
            "Analyse(fact bb2):",
            "Revive(fact bb1)",
            "Analyse(fact bb1):",
            "Intersection(retval):",
            "Redo(fact bb1)",
            "Analyse(fact bb1):",
        ]
    );
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    for (arguments, said) in [
        (
            &["infer", "-", "g"][..],
            "there is no code `g`; there are f",
        ),
        (&["infer", "-", "f", "--types", "Lung"][..], "`Lung`"),
    ] {
        let output = tool::run(arguments, BLOCKED);
        assert_eq!(output.status, 2, "{}", output.out);
        assert!(output.err.contains(said), "{}", output.err);
    }
    let output = tool::run(&["infer", "-"], "nonsense");
    assert!(
        output.status != 0 && output.err.contains("expected `class`"),
        "{}",
        output.err
    );
}
