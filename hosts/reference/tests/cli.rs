//! Tests of every subcommand as a user runs it: its output, its error messages, and its exit status
//! (0 good news, 1 bad news or an error, 2 wrong usage). `type` has tests of its own.

mod tool;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use tool::run;

/// A program with a call, a loop and a nested loop.
const PROGRAM: &str = r#"
code "add" {
  params 2
  local a
  local b
  stack 2
  load_fast a
  load_fast b
  binary_op +  hint [LongExact, LongExact]
  return_value
}
code "sum" {
  params 1
  local n
  local t
  stack 4
  name range
  const 0
  load_const #0
  store_fast t
  load_global range, 1
  load_fast n
  call 1
  get_iter
again:
  for_iter out
  load_fast t
  binary_op +
  store_fast t
  jump_backward again
out:
  load_fast t
  return_value
}
;> add(1, 2)
;= 3
"#;

/// A function in HIR.
const IN_HIR: &str = r#"
code "f" {
  params 1
  local a
  stack 2
  load_fast a
  return_value
}
function "f" {
bb0 {@0 [v0] []}:
    v0: LongExact = arg 0
    v1: LongExact = guard_type LongExact v0 guarded {@0 [v0] []}
    v2: CInt64 = unbox_int v1 {@0 [v0] []}
    v3: LongExact = box_int v2
    return v3 {@1 [v0]}
}
"#;

/// A file that is removed when the test ends.
struct File(PathBuf);

impl File {
    fn new(text: &str) -> File {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("cladonia-cli-{}-{number}.tbc", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, text).expect("the file is written");
        File(path)
    }

    fn name(&self) -> &str {
        self.0.to_str().expect("a plain path")
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The output for a program on the standard input; there must be no error.
fn good(arguments: &[&str], program: &str) -> String {
    let output = run(arguments, program);
    assert_eq!(
        (output.err.as_str(), output.status),
        ("", 0),
        "{arguments:?}"
    );
    output.out
}

/// The error message; there must be no other output.
fn complaint(arguments: &[&str], program: &str) -> String {
    let output = run(arguments, program);
    assert_eq!(
        (output.out.as_str(), output.status),
        ("", 1),
        "{arguments:?} {}",
        output.err
    );
    output.err
}

/// Wrong usage: the first line of the message.
fn misuse(arguments: &[&str]) -> String {
    let output = run(arguments, "");
    assert_eq!(
        (output.out.as_str(), output.status),
        ("", 2),
        "{arguments:?}"
    );
    output.err.lines().next().unwrap_or_default().to_owned()
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn run_prints_the_output_and_the_results_of_calls() {
    let calls = ["--call", "sum(10)", "--call", "add(\"a\", \"b\")"];
    assert_eq!(
        good(&[&["run", "-"][..], &calls].concat(), PROGRAM),
        "45\n'ab'\n"
    );
    let text = good(
        &["run", "-", "--call", "sum(100)", "--times", "5", "--stats"],
        PROGRAM,
    );
    has(&text, &["4950\n", "loops entered "]);
    let text = good(
        &["run", "-", "--call", "sum(100)", "--interpret", "--stats"],
        PROGRAM,
    );
    has(&text, &["4950\nunits 0"]);
}

#[test]
fn run_reports_exceptions_and_texts_that_are_no_calls() {
    let output = run(&["run", "-", "--call", "add(1, None)"], PROGRAM);
    assert_eq!(output.status, 1);
    has(
        &output.out,
        &[
            "in add, line 1",
            "TypeError: unsupported operand type(s) for +",
        ],
    );
    assert_eq!(
        complaint(&["run", "-", "--call", "add(x)"], PROGRAM),
        "error: `add(x)` is no call with literals, such as `f(1, 2.5)`\n"
    );
    assert_eq!(
        complaint(&["run", "-"], "code \"f\" {\n  fly\n}\n"),
        "error: standard input: line 2, column 3: there is no op `fly`\n"
    );
    has(
        &complaint(&["run", "no-such-file.tbc"], ""),
        &["error: no-such-file.tbc: "],
    );
    has(&misuse(&["run"]), &["required arguments"]);
    has(
        &misuse(&["run", "-", "--times", "often"]),
        &["invalid value 'often' for '--times <N>'"],
    );
}

#[test]
fn every_stage_prints_all_functions_or_one() {
    for (stage, part) in [
        ("bytecode", "binary_op +"),
        ("hir", "binary_op [0]"),
        ("selected", "int_add"),
        ("lir", "function \"add\"(ptr, ptr, ptr, ptr) -> ptr {"),
        ("clif", "function %add"),
        ("asm", "ret"),
    ] {
        let one = good(
            &[stage, "-", "add", "--types", "LongExact,LongExact"],
            PROGRAM,
        );
        assert!(one.contains(part), "{stage}: {one}");
        let all = good(&[stage, "-"], PROGRAM);
        assert!(all.len() > one.len() / 2, "{stage}");
        assert_eq!(
            complaint(&[stage, "-", "subtract"], PROGRAM),
            "error: standard input: there is no code `subtract`; there are `add`, `sum`\n"
        );
    }
    let observed = good(&["bytecode", "-", "sum", "--call", "sum(3)"], PROGRAM);
    has(&observed, &["hint [LongExact, LongExact]"]);
}

#[test]
fn a_stage_can_begin_at_a_loop() {
    let text = good(
        &[
            "hir",
            "-",
            "sum",
            "--at",
            "6",
            "--types",
            "LongExact,LongExact,RangeIter",
        ],
        PROGRAM,
    );
    has(&text, &["load_slot 2", "RangeIter"]);
    assert_eq!(
        complaint(&["hir", "-", "sum", "--at", "60"], PROGRAM),
        "error: standard input: `sum`: there is no instruction @60\n"
    );
    has(
        &complaint(
            &["hir", "-", "sum", "--at", "6", "--types", "LongExact"],
            PROGRAM,
        ),
        &["1 types for 2 locals and 1 stack entries at @6"],
    );
    assert_eq!(
        complaint(&["hir", "-", "--types", "Longer"], PROGRAM),
        "error: standard input: `Longer`: column 1: there is no predefined type `Longer`\n"
    );
}

#[test]
fn after_and_diff_show_the_changes_of_a_pass() {
    let types = ["--types", "LongExact,LongExact"];
    let ask = |more: &[&'static str]| [&["hir", "-", "add"][..], &types, more].concat();
    let after = good(&ask(&["--after", "specialise"]), PROGRAM);
    has(&after, &["int_add", "box_int"]);
    let diff = good(&ask(&["--after", "specialise", "--diff"]), PROGRAM);
    has(
        &diff,
        &[
            "; specialise#1\n",
            "\n-    ",
            "binary_op [0]",
            "\n+    ",
            "int_add",
        ],
    );
    let all = good(&ask(&["--diff"]), PROGRAM);
    has(
        &all,
        &[
            "; specialise#1\n",
            "; dce#1\n",
            &diff[diff.find('\n').expect("lines")..],
        ],
    );
    // The difference between the first HIR and the last.
    let whole = good(
        &[&["selected", "-", "add"][..], &types, &["--diff"]].concat(),
        PROGRAM,
    );
    has(&whole, &["-", "binary_op [0]", "+", "int_add"]);
    assert!(!whole.contains("; specialise"), "{whole}");
}

#[test]
fn an_unknown_pass_and_an_idle_one_have_different_errors() {
    let passes = "`lifetimes`, `simplify`, `types`, `split`, `specialise`, `inline`, `virtuals`, `merge`, `headers`, `unbox`, `heap`, \
                  `cut`, `refcounts`, `held`, `checks`, `memory`, `number`, `paths`, `slices`, `exceptions`, `ends`, `bounds`, \
                  `sequences`, `ranges`, `preload`, `reuse`, `dce`, `tracebacks`";
    assert_eq!(
        complaint(&["hir", "-", "--after", "unroll"], PROGRAM),
        format!("error: standard input: there is no pass `unroll`; there are {passes}\n")
    );
    has(
        &complaint(&["hir", "-", "add", "--after", "unbox"], PROGRAM),
        &["`add`: `unbox` changed nothing in it; these did: `"],
    );
    has(
        &complaint(&["hir", "-", "add", "--after", "types#0"], PROGRAM),
        &["which time a pass ran is a number from 1, as in `types#2`"],
    );
    for stage in ["bytecode", "lir", "clif", "asm"] {
        for option in [&["--diff"][..], &["--after", "dce"]] {
            assert_eq!(
                complaint(&[&[stage, "-"][..], option].concat(), PROGRAM),
                format!(
                    "error: standard input: --after and --diff show what passes do to HIR, not the stage `{stage}`; \
                     ask `cladonia hir`\n"
                )
            );
        }
    }
}

#[test]
fn functions_in_hir_are_printed_and_rewritten() {
    let text = good(&["hir", "-"], IN_HIR);
    assert_eq!(text, IN_HIR[IN_HIR.find("function").expect("one")..]);
    let selected = good(&["selected", "-", "f"], IN_HIR);
    has(&selected, &["return v3"]);
    assert!(!selected.contains("guard_type"), "{selected}");
    let diff = good(&["hir", "-", "f", "--after", "simplify", "--diff"], IN_HIR);
    has(
        &diff,
        &["; simplify#1\n", "-    v1: LongExact = guard_type"],
    );
    let bad = IN_HIR.replace("unbox_int", "unbox_it");
    assert_eq!(
        complaint(&["hir", "-"], &bad),
        "error: standard input: line 13, column 18: there is no op `unbox_it`\n"
    );
}

#[test]
fn verify_reports_the_error_and_its_place() {
    assert_eq!(
        good(&["verify", "-"], PROGRAM),
        "standard input: 2 codes: well-formed\n"
    );
    assert_eq!(
        good(&["verify", "-"], IN_HIR),
        "standard input: 1 codes, 1 functions in HIR: well-formed\n"
    );
    for (bad, what) in [
        (PROGRAM.replacen("load_fast b\n", "", 1), "in `add`: "),
        (
            IN_HIR.replace("box_int v2", "box_int v0"),
            "v3 = box_int of v0, a LongExact",
        ),
        (
            format!("{IN_HIR}world {{\n  glob\n}}\n"),
            "line 18, column 3: expected an answer or `}`, found `g`",
        ),
        (
            format!("{PROGRAM}}}"),
            "expected `class`, `object`, `code` or a section, found `}`",
        ),
    ] {
        let output = run(&["verify", "-"], &bad);
        assert_eq!((output.status, output.err.as_str()), (1, ""));
        has(&output.out, &["standard input: ", what]);
    }
    has(&misuse(&["verify"]), &["required arguments"]);
}

#[test]
fn test_compares_answers_and_blessing_writes_them() {
    let right = File::new(PROGRAM);
    assert_eq!(
        good(&["test", right.name()], ""),
        "1 files, 1 requests, 0 files failed\n"
    );
    let wrong = File::new(&PROGRAM.replace(";= 3", ";= 4"));
    let output = run(&["test", right.name(), wrong.name()], "");
    assert_eq!(output.status, 1);
    has(
        &output.out,
        &[
            wrong.name(),
            "-4\n+3\n",
            "2 files, 1 requests, 1 files failed\n",
        ],
    );
    assert_eq!(
        good(&["test", "--bless", wrong.name()], ""),
        "1 files blessed, 0 failed\n"
    );
    assert_eq!(std::fs::read_to_string(&wrong.0).expect("a file"), PROGRAM);
    let output = run(&["test", "no-such-file.tbc"], "");
    assert_eq!(output.status, 1);
    has(&output.out, &["no-such-file.tbc:\n"]);
}

#[test]
fn reduce_keeps_the_parts_that_the_command_needs() {
    let file = File::new(PROGRAM);
    let check = "grep -q 'binary_op +' {}";
    let text = good(&["reduce", file.name(), "--check", check], "");
    assert!(
        text.lines().count() <= 2 && text.contains("binary_op +"),
        "{text}"
    );
    // The command decides if the text is still a program.
    let tool = env!("CARGO_BIN_EXE_cladonia");
    let check = format!("{tool} verify {{}} && grep -q get_iter {{}}");
    let output = File::new("");
    let said = good(
        &[
            "reduce",
            file.name(),
            "--check",
            &check,
            "-o",
            output.name(),
        ],
        "",
    );
    has(&said, &[output.name(), " lines\n"]);
    let small = std::fs::read_to_string(&output.0).expect("a file");
    assert!(
        small.lines().count() < PROGRAM.lines().count() / 2,
        "{small}"
    );
    assert_eq!(
        good(&["verify", "-"], &small),
        "standard input: 1 codes: well-formed\n"
    );
}

/// The result of `f` differs from runtime to runtime, as with a bug of an executor; that of `g`
/// does not.
const DIFFERS: &str = concat!(include_str!("tool/differs.tbc"), ";> g(3)\n;> f(3)\n");

#[test]
fn reduce_keeps_the_disagreement_of_the_executors() {
    let small = good(&["reduce", "-", "--differs"], DIFFERS);
    // Of `f` only the hash of an object is left; the rest of the code and the call of `g` do not
    // matter.
    has(&small, &["code \"f\"", "call", ";> f(3)"]);
    assert!(
        !small.contains("\"g\"") && !small.contains("binary_op"),
        "{small}"
    );
    assert!(
        small.lines().count() < DIFFERS.lines().count() / 2,
        "{small}"
    );
    // It still differs, as a bug report needs, and can't be reduced further.
    assert_eq!(good(&["reduce", "-", "--differs"], &small), small);
    let output = File::new("");
    let arguments = ["reduce", "-", "--differs", "-o", output.name()];
    let said = good(&arguments, &small);
    has(&said, &[output.name(), " lines\n"]);
    assert_eq!(std::fs::read_to_string(&output.0).expect("a file"), small);
    // Without the differing call there is nothing to reduce.
    let agreeing = DIFFERS.replace(";> f(3)\n", "");
    has(
        &complaint(&["reduce", "-", "--differs"], &agreeing),
        &["the executors agree on its 1 calls"],
    );
    // A call may be given as an option instead.
    let named = good(&["reduce", "-", "--differs", "--call", "f(3)"], &agreeing);
    assert_eq!(named, small);
}

#[test]
fn reduce_reports_the_reason_if_it_cannot_reduce() {
    has(
        &complaint(&["reduce", "-", "--check", "false"], PROGRAM),
        &[
            "standard input: the command does not succeed on the whole file",
            "`! COMMAND`",
        ],
    );
    has(
        &complaint(&["reduce", "-", "--differs"], PROGRAM),
        &["the executors agree on its 1 calls; name others with --call, or use --check"],
    );
    has(
        &complaint(&["reduce", "-", "--differs"], "cod"),
        &["line 1, column 1: expected `class`"],
    );
    has(&misuse(&["reduce", "-"]), &["required arguments"]);
    has(
        &misuse(&["reduce", "-", "--differs", "--check", "x"]),
        &["cannot be used with"],
    );
}

#[test]
fn fuzz_finds_agreement_and_prints_programs() {
    let text = good(&["fuzz", "--seed", "3", "--count", "2"], "");
    has(&text, &["2 programs agree"]);
    let program = good(&["fuzz", "--seed", "3", "--print"], "");
    has(&good(&["verify", "-"], &program), &["well-formed"]);
    has(
        &misuse(&["fuzz", "--seed", "x"]),
        &["invalid value 'x' for '--seed <SEED>'"],
    );
}

#[test]
fn type_answers_and_an_unknown_subcommand_is_named() {
    assert_eq!(good(&["type", "LongExact <= Long"], ""), "true\n");
    has(
        &complaint(&["type", "Lon"], ""),
        &["error: column 1: ", "Lon\n"],
    );
    has(&misuse(&["types"]), &["unrecognized subcommand 'types'"]);
    has(&misuse(&[]), &[""]);
}

#[test]
fn each_subcommand_has_help() {
    for name in [
        "run", "bytecode", "hir", "selected", "lir", "clif", "asm", "type", "verify", "test",
        "reduce", "fuzz",
    ] {
        let text = good(&[name, "--help"], "");
        has(&text, &["Usage: cladonia", name]);
        has(&good(&["--help"], ""), &[&format!("  {name}")]);
    }
}
