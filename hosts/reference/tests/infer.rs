//! Tests of `cladonia infer`, and that its facts do not depend on the order of steps.

mod tool;

use cladonia::bytecode::Document;
use cladonia::infer::Options;
use cladonia_reference::check_facts::{Report, check_facts, check_facts_of};
use cladonia_reference::generate::{bytes, generate};
use cladonia_reference::infer::{Query, infer};
use cladonia_reference::text::parse_call;
use std::path::Path;

/// Every program of the file tests, with its requests: the function, and the types of its
/// arguments.
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
fn the_analysis_of_every_program_terminates_within_the_stated_bound() {
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
fn errors_are_one_line() {
    for (arguments, said) in [
        (
            &["infer", "-", "g"][..],
            "there is no code `g`; there are f",
        ),
        (&["infer", "-", "f", "--types", "Lung"][..], "`Lung`"),
    ] {
        let output = tool::run(arguments, BLOCKED);
        assert_eq!(output.status, 1, "{}", output.out);
        assert!(output.err.contains(said), "{}", output.err);
    }
    let output = tool::run(&["infer", "-"], "nonsense");
    assert!(
        output.status == 1 && output.err.contains("standard input"),
        "{}",
        output.err
    );
}

/// Runs it on a stack that is deep enough for the interpreter.
fn on_big_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    thread.spawn(run).unwrap().join().unwrap()
}

/// The most interpreter steps of one program.
const STEPS: u64 = 1_000_000;

#[test]
fn inferred_facts_hold_whenever_the_test_programs_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../jit-tests/files/run");
    let all: Vec<(String, Report)> = on_big_stack(move || {
        let paths = std::fs::read_dir(folder).unwrap();
        let check = |path: std::path::PathBuf| {
            let text = std::fs::read_to_string(&path).unwrap();
            let requests = text.lines().filter_map(|line| line.strip_prefix(";> "));
            let calls: Vec<_> = requests.filter_map(parse_call).collect();
            let document = Document::parse(&text).unwrap();
            let report = check_facts(&document, &calls, 2, STEPS).unwrap();
            (path.display().to_string(), report)
        };
        paths.map(|entry| check(entry.unwrap().path())).collect()
    });
    assert!(all.len() > 80, "only {} programs", all.len());
    for (path, report) in &all {
        assert!(report.wrong.is_empty(), "{path}: {:#?}", report.wrong);
    }
    let told: u64 = all.iter().map(|(_, report)| report.told).sum();
    let values: u64 = all.iter().map(|(_, report)| report.values).sum();
    assert!(values > 100_000, "only {values} values were looked at");
    assert!(10 * told > 9 * values, "{told} of {values} told");
}

#[test]
fn inferred_facts_hold_whenever_random_programs_run() {
    // The first seeds, and those that have found bugs.
    let seeds = (1..=40).chain([
        45, 52, 53, 75, 85, 130, 261, 264, 895, 991, 1339, 1453, 2298, 2822, 2947, 3661, 5654, 5699,
    ]);
    for seed in seeds {
        let wrong = on_big_stack(move || {
            let (text, calls) = generate(&bytes(seed, 700));
            let calls: Vec<_> = calls.iter().filter_map(|call| parse_call(call)).collect();
            let document = Document::parse(&text).unwrap();
            check_facts(&document, &calls, 2, 100_000).unwrap().wrong
        });
        assert!(wrong.is_empty(), "seed {seed}: {wrong:#?}");
    }
}

#[test]
fn a_fact_that_does_not_hold_is_found() {
    let text = r#"
code "f" {
  params 1
  local a
  stack 2
  const 1
  load_fast a
  load_const #0
  binary_op +
  return_value
}
"#;
    let wrong = |told: &'static str, called: &'static str| {
        on_big_stack(move || {
            let document = Document::parse(text).unwrap();
            let call = |text| [parse_call(text).unwrap()];
            let report = check_facts_of(&document, &call(told), &call(called), 1, STEPS);
            report.unwrap().wrong
        })
    };
    assert_eq!(wrong("f(1)", "f(2)"), [""; 0]);
    let found = wrong("f(1)", "f(2.5)").join("\n");
    for part in [
        "2.5 is no LongExact",
        "the result of `f`: 3.5 is no LongExact",
    ] {
        assert!(found.contains(part), "no `{part}` in\n{found}");
    }
}

#[test]
fn the_check_is_a_subcommand() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../jit-tests/files/run/dicts.tbc");
    let text = std::fs::read_to_string(path).unwrap();
    let output = tool::run(&["infer", "-", "--check"], &text);
    assert_eq!(output.status, 0, "{}{}", output.out, output.err);
    assert!(
        output.out.contains("; 0 facts do not hold"),
        "{}",
        output.out
    );
    let output = tool::run(&["fuzz", "--facts", "--count", "3"], "");
    assert_eq!(output.status, 0, "{}{}", output.out, output.err);
    assert!(output.out.contains("all facts hold"), "{}", output.out);
}
