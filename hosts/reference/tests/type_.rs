//! Tests of `cladonia type` as a user runs it.

mod tool;

use std::io::Write;
use std::process::{Command, Stdio};
use tool::Output;

const CLASSES: &str = "\
class MyClass
class MySubclass(MyClass)
class MyInt(int)
class MyClassInt(MyInt, MyClass)
class Metaclass(type)
class MyClassWithMeta(metaclass=Metaclass)
object my_obj: MyClass
object forever: MyClass immortal
object an_int: int = 5
";

fn start(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cladonia"));
    command.arg("type").args(arguments);
    command
}

/// Runs it with this text on its standard input.
fn run(arguments: &[&str], input: &str) -> Output {
    tool::run(&[&["type"], arguments].concat(), input)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("the tool prints UTF-8")
}

/// The tool's output for these expressions over [`CLASSES`].
fn answers(expressions: &[&str]) -> String {
    let output = run(&[&["--classes", "-"], expressions].concat(), CLASSES);
    assert_eq!(output.err, "");
    assert_eq!(output.status, 0);
    output.out
}

/// The tool's error message; the status must be 1, without other output.
fn complaint(arguments: &[&str], input: &str) -> String {
    let output = run(arguments, input);
    assert_eq!(output.out, "");
    assert_eq!(output.status, 1, "{}", output.err);
    output.err
}

#[test]
fn the_example_of_the_documentation_is_answered() {
    assert_eq!(
        answers(&["User[MyClass] & LongUser[MyInt]"]),
        "LongUser[MyClass]\n"
    );
}

#[test]
fn each_expression_gets_a_line() {
    let expressions = [
        "ObjectUser[my_obj] < User[MyClass:Exact]",
        "!(User[MySubclass] < User[MyClass:Exact])",
        "TypeUser[MyClassWithMeta:obj] < TypeUser[Metaclass]",
        "LongExact[an_int]",
        "ObjectUser[forever]",
        "MortalDict | ImmortalLong",
        "User[MyClass] join User[MySubclass]",
        "Long could_be Bytes",
    ];
    assert_eq!(
        answers(&expressions),
        "true\ntrue\ntrue\nLongExact[5]\nImmortalObjectUser[forever]\n{Dict|Long}\nUser[MyClass]\nfalse\n"
    );
}

#[test]
fn predefined_types_need_no_file() {
    let output = run(&["{Long|Nullptr}", "CUInt8[255] <= CUnsigned"], "");
    assert_eq!(output.out, "OptLong\ntrue\n");
}

#[test]
fn a_file_is_read() {
    let file = std::env::temp_dir().join(format!("cladonia-classes-{}.txt", std::process::id()));
    std::fs::write(&file, CLASSES).expect("the file is written");
    let output = start(&["User[MySubclass] <= User[MyClass]", "--classes"])
        .arg(&file)
        .output();
    let output = output.expect("the tool ends");
    std::fs::remove_file(&file).expect("the file is removed");
    assert_eq!(text(&output.stdout), "true\n");
}

#[test]
fn errors_in_an_expression_show_the_column() {
    for (expression, wanted) in [
        (
            "User[MyClass] & LongUsr",
            "error: column 17: there is no predefined type `LongUsr`\n  User[MyClass] & LongUsr\n                  ^\n",
        ),
        (
            "User[Nobody]",
            "error: column 6: unknown class or object `Nobody`\n  User[Nobody]\n       ^\n",
        ),
        (
            "Long |\nBytes)",
            "error: column 13: expected the end, found `)`\n  Long | Bytes)\n              ^\n",
        ),
        (
            "",
            "error: column 1: expected a type, found the end\n  \n  ^\n",
        ),
    ] {
        assert_eq!(complaint(&[expression, "--classes", "-"], CLASSES), wanted);
    }
}

#[test]
fn a_literal_out_of_range_is_an_error() {
    for (expression, column) in [
        ("CUInt8[256]", 8),
        ("CInt8 | CInt8[-129]", 15),
        ("CBool[2]", 7),
    ] {
        let complaint = complaint(&[expression], "");
        assert!(
            complaint.starts_with(&format!("error: column {column}: ")),
            "{complaint}"
        );
    }
}

#[test]
fn errors_in_the_classes_show_line_and_column() {
    for (classes, wanted) in [
        (
            "class A(B)\nclass B(A)",
            "error: standard input: line 2, column 9: `A` derives from itself\n  class B(A)\n          ^\n",
        ),
        (
            "class A\nclass B(A)\nclass C(A, B)",
            "error: standard input: line 3, column 7: the bases of `C` have no consistent resolution order\n",
        ),
        (
            "class A(int, bytes)",
            "error: standard input: line 1, column 7: ",
        ),
        (
            "class A(Missing)",
            "error: standard input: line 1, column 9: unknown class `Missing`\n  class A(Missing)\n          ^\n",
        ),
        (
            "class A\nobject a: A immortl",
            "error: standard input: line 2, column 13: expected the end of the line, found `i`\n",
        ),
        (
            "klass A",
            "error: standard input: line 1, column 1: expected `class` or `object`, found `k`\n",
        ),
    ] {
        let complaint = complaint(&["Long", "--classes", "-"], classes);
        assert!(complaint.starts_with(wanted), "{complaint}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let complaint = complaint(&["Long", "--classes", "no/such/file"], "");
    assert!(
        complaint.starts_with("error: no/such/file: "),
        "{complaint}"
    );
    let output = run(&["Long", "--classes", "."], "");
    assert_eq!(output.status, 1);
}

#[test]
fn input_that_is_no_text_is_an_error() {
    let mut child = start(&["Long", "--classes", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    let _ = child
        .stdin
        .take()
        .map(|mut pipe| pipe.write_all(b"class \xff"));
    let output = child.wait_with_output().expect("the tool ends");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: standard input: "));
}

#[test]
fn the_predefined_types_are_drawn() {
    let output = run(&["--dot"], "");
    let graph = &output.out;
    assert!(graph.starts_with("digraph") && graph.contains("    Long -> Bool;\n"));
    assert_eq!(output.status, 0);
}

#[test]
fn wrong_usage_exits_with_two() {
    for arguments in [
        &[][..],
        &["--laws", "Long"],
        &["--dot", "--classes", "-"],
        &["--lows"],
    ] {
        let output = run(arguments, "");
        assert_eq!(output.status, 2, "{arguments:?}");
        assert!(output.err.contains("Usage: cladonia type"));
    }
}

#[test]
fn deep_and_strange_text_is_answered_without_a_panic() {
    let deep = format!("{}Long{}", "(".repeat(5000), ")".repeat(5000));
    for expression in [
        &deep,
        "User[`",
        "CInt32[0x]",
        "Long[\u{1f98e}",
        "[[[",
        "{{{",
        "-",
        "!",
        "CDouble[nan:zz]",
    ] {
        let complaint = complaint(&["--", expression], "");
        assert!(
            complaint.starts_with("error: column "),
            "{expression}: {complaint}"
        );
    }
    let classes = (0..5000)
        .map(|n| format!("class C{n}(C{})\n", n + 1))
        .collect::<String>();
    assert!(
        complaint(&["Long", "--classes", "-"], &classes)
            .starts_with("error: standard input: line ")
    );
}

/// The words of a command line, with `"` quoting some together.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            c => words.last_mut().expect("never empty").push(c),
        }
    }
    words
}

/// Every command in a `console` block of the chapter on types prints the text below it, up to a
/// line `...`; among them the check of the laws, which must hold.
#[test]
fn the_chapter_on_types_has_the_output_of_the_tool() {
    let chapter = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/types.md");
    let chapter = std::fs::read_to_string(chapter).expect("the chapter is there");
    let blocks = |fence: &str| -> Vec<String> {
        let fence = format!("```{fence}\n");
        let after = chapter.split(fence.as_str()).skip(1);
        after
            .filter_map(|rest| Some(rest.split_once("```")?.0.to_owned()))
            .collect()
    };
    let folder = std::env::temp_dir().join(format!("cladonia-chapter-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder is made");
    std::fs::write(folder.join("classes.txt"), blocks("hierarchy").concat())
        .expect("the file is written");
    let mut commands = 0;
    for example in blocks("console").concat().split("$ cladonia type ").skip(1) {
        let (command, expected) = example.split_once('\n').expect("a command is a line");
        let output = start(&[])
            .args(words(command))
            .current_dir(&folder)
            .output()
            .expect("the tool ends");
        let printed = format!("{}{}", text(&output.stdout), text(&output.stderr));
        let is_error = expected.starts_with("error: ");
        assert_eq!(
            output.status.code(),
            Some(i32::from(is_error)),
            "{command}: {printed}"
        );
        match expected.split_once("...\n") {
            Some((expected, "")) => assert!(printed.starts_with(expected), "{command}: {printed}"),
            _ => assert_eq!(printed, expected, "{command}"),
        }
        commands += 1;
    }
    std::fs::remove_dir_all(&folder).expect("the folder is removed");
    assert!(commands >= 6, "only {commands} commands found");
}
