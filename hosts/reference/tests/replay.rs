//! Tests of units as text: an error has its place, and no damage to a text makes the reader panic.

use cladonia::bytecode::Document;
use cladonia::hir;
use cladonia::host::{print_host, read_units, world_of};
use cladonia_reference::generate::bytes;
use cladonia_reference::runtime::{Options, Session};
use cladonia_reference::stages::{Query, show};
use std::cell::RefCell;
use std::rc::Rc;

const PROGRAM: &str = r#"
code "sum" {
  params 1
  local n
  local t
  stack 6
  name range
  name len
  const 0
  const "text"
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
  load_global len, 1
  load_const #1
  call 1
  binary_op +
  store_fast t
  jump_backward again
out:
  load_fast t
  return_value
}
"#;

/// A document with the units of a running program.
fn document() -> String {
    let options = Options {
        call_threshold: 1,
        loop_threshold: 2,
        keep_text: true,
        ..Options::default()
    };
    let session = Session::new(options).expect("a session");
    let text = Rc::new(RefCell::new(print_host(session.host())));
    let units = text.clone();
    session.on_compile(Box::new(move |_, _, unit| {
        *units.borrow_mut() += unit.replay.as_deref().expect("text was asked for");
    }));
    let program = session.load(PROGRAM).expect("a program");
    for _ in 0..6 {
        program
            .call("sum", &[cladonia::bytecode::ConstValue::Int(5)])
            .expect("a sum");
    }
    text.take()
}

fn read(text: &str) -> Result<usize, String> {
    let document = Document::parse(text).map_err(|e| e.to_string())?;
    world_of(&document).map_err(|e| e.to_string())?;
    for section in document.sections.iter().filter(|s| s.keyword == "function") {
        let _ = hir::parse_section(&document, section).map(|f| hir::verify(&f));
    }
    Ok(read_units(&document).map_err(|e| e.to_string())?.len())
}

#[test]
fn the_host_that_was_read_prints_as_the_one_that_was_written() {
    let text = document();
    let host = text.split_inclusive('\n').take_while(|line| *line != "}\n");
    let host: String = host.chain(["}\n"]).collect();
    assert!(
        host.contains("  layout \"Float\" {\n    count 0 i64\n"),
        "{host}"
    );
    let document = Document::parse(&text).expect("a document");
    let units = read_units(&document).expect("units");
    let without_classes = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with("  class "));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_eq!(
        without_classes(&print_host(&units[0].host)),
        without_classes(&host)
    );
}

#[test]
fn errors_in_a_unit_are_reported_with_their_place() {
    let text = document();
    assert!(read(&text).expect("units") >= 2);
    let line_of = |part: &str| text.lines().take_while(|line| !line.contains(part)).count() + 1;
    let at = |part: &str, column: usize, what: &str| {
        format!("line {}, column {column}: {what}", line_of(part))
    };
    let end_of_host = text.lines().take_while(|line| *line != "}").count() + 1;
    let in_host = |what: &str| format!("line {end_of_host}, column 1: {what}");
    for (old, new, error) in [
        (
            "  helper \"compare\"",
            "  helper \"compares\"",
            in_host(
                "the host `reference` has no helper `compare`; define it with HostBuilder::helper",
            ),
        ),
        (
            "  intrinsic \"drop\"",
            "  intrinsic \"dropped\"",
            in_host(
                "the host `reference` has no intrinsic `drop`; define it with HostBuilder::intrinsic",
            ),
        ),
        (
            "  slots ",
            "  slots 9999999999",
            at("  slots ", 9, "9999999999"),
        ),
        (
            "    value 16 f64",
            "    value 8 f64",
            in_host(
                "the host `reference`: in structure `Float` the fields `class` and `value` overlap; give each its own bytes",
            ),
        ),
        (
            "    value 16 f64",
            "    value 16 f63",
            at(
                "    value 16 f64",
                14,
                "expected how the field lies in memory, found `f`",
            ),
        ),
        (
            "  helper \"compare\" 0x",
            "  helper \"compare\" ",
            at(
                "  helper \"compare\" ",
                20,
                "expected `0x` and a number of 64 bits",
            ),
        ),
        (
            "  entry function",
            "  entry door",
            at(
                "  entry function",
                9,
                "expected `function`, `loop` or `resume`, found `d`",
            ),
        ),
        ("  entry function\n", "", "the unit has no `entry`".into()),
        (
            "  enter\n",
            "  entrance\n",
            at("  enter", 3, "expected a line of a unit, or `}`, found `e`"),
        ),
        (
            "  code \"sum\"",
            "  core \"sum\"",
            at("  code \"sum\"", 3, "expected a line of a unit"),
        ),
        (
            "load_fast t",
            "load_fast u",
            at("load_fast t", 0, "no local, or several, named `u`"),
        ),
        (
            "callee ",
            "caller ",
            at("callee ", 3, "expected a line of a unit"),
        ),
        (
            "builtin len",
            "builtin lens",
            at("builtin len", 0, "there is no builtin `lens`"),
        ),
    ] {
        assert!(text.contains(old), "{old}\n{text}");
        let found = read(&text.replacen(old, new, 1)).expect_err(old);
        // Column 0 means any column.
        let parts: Vec<&str> = error.split("column 0: ").collect();
        assert!(
            parts.iter().all(|part| found.contains(part.trim_end())),
            "{old}: {found}, not {error}"
        );
    }
    let host_less = &text[text.find("unit ").expect("a unit")..];
    assert_eq!(
        read(host_less),
        Err("line 1, column 1: a unit needs its host: the document has no `host` section".into())
    );
}

#[test]
fn wrong_signatures_and_bad_lir_are_errors() {
    let text = document();
    let host = "the host `reference`";
    for (from, old, new, error) in [
        (
            "helper \"truth\"",
            "(ptr) -> i64",
            "(ptr, ptr) -> i64",
            format!("{host}: `truth` has the signature"),
        ),
        (
            "intrinsic \"drop\"",
            "function \"drop\"(ptr)",
            "function \"drop\"(i64)",
            "block".into(),
        ),
        (
            "intrinsic \"drop\"",
            "return",
            "retort",
            "there is no op `retort`".into(),
        ),
        (
            "unit \"sum\"",
            "function \"enter\"(ptr, ptr) -> ptr",
            "function \"enter\"(ptr) -> ptr",
            "".into(),
        ),
    ] {
        let start = text.find(from).expect(from);
        let (before, after) = text.split_at(start);
        let found =
            read(&format!("{before}{}", after.replacen(old, new, 1))).map_err(|e| e.to_string());
        let found = found.expect_err(from);
        assert!(
            found.contains(&error) && found.starts_with("line "),
            "{from}: {found}"
        );
    }
}

#[test]
fn no_damage_makes_the_reader_panic() {
    let text = document();
    let bytes_of = text.as_bytes();
    let noise = bytes(7, 4000);
    let mut read_again = 0;
    for (round, random) in noise.chunks(8).enumerate() {
        let number = |i: usize| {
            u32::from_le_bytes([random[i], random[i + 1], random[i + 2], random[i + 3]]) as usize
        };
        let at = number(0) % bytes_of.len();
        let mut damaged = bytes_of.to_vec();
        match round % 3 {
            0 => damaged.truncate(at),
            1 => damaged[at] ^= 1 << (number(4) % 8),
            _ => drop(damaged.splice(at..(at + number(4) % 40).min(bytes_of.len()), [])),
        }
        let damaged = String::from_utf8_lossy(&damaged);
        read_again += usize::from(read(&damaged).is_ok());
    }
    // Most damage is found; some changes affect only a number.
    assert!(read_again < 300, "{read_again}");
    let query = Query {
        stage: "lir".into(),
        ..Query::default()
    };
    assert!(
        show(&text, &query)
            .expect("units")
            .contains("function \"sum\"")
    );
}
