use super::*;
use crate::hir::verify;
use proptest::prelude::*;

const CODE: &str = r#"
class "Point": Object (object) = Point
object "len": object immortal = len
code "f" {
  params 2
  stack 3
  local n
  local "odd name"
  name x
  name "y z"
  resume 0
  load_fast n
  load_const #0
  binary_op +
  return_value
  const 5
}
"#;

const FUNCTION: &str = r#"function "f" {
  names x, #1
  unsteady x
  assume name_unchanged 7 "le\"n"
  assume class_unchanged ObjectUser[Point:Exact]
  assume function_unchanged ImmortalObjectExact[len]
  relied_on [v2]
  settled [v13]
  fused @2 @1
bb4 {@0 [v0 v0 v0 v0] []}:
    v0: Nullptr = null
    v1: Object = arg 0
    v2: LongExact = guard_type LongExact v1 guarded {@1 [v1 v0 v0 v0] [&v1 v1]} at @2
    v3: CInt64 = unbox_int v2 {@1 [v2 v0 v0 v0] []}
    v4: CDouble = const_double nan:0x7ff8000000000001
    v5: CBool = is_class LongExact | ObjectUser[Point:Exact] v1
    v6: LongExact = name_get #1 {@1 [v2 v0 v0 v0] []}
    check intrinsic3[8, -1] v1 {@1 [v2 v0 v0 v0] []}
    jump bb2(v3, v5, v2, v4) {@2 [v1 v2]}
bb2(v7: CInt64 n, v8: CBool bound(#1), v9: LongExact stack(0) guarded, v10: CDouble name(x) at @3) loop {@2 [v2 v0 v0 v0] []}:
    v11: CBool = int_cmp lt v7, v3
    v12: LongExact = binary_op [0] v9, v2 assumed {@3 [v2 v0 v0 v0] [v9 v2]}
    v13 = check_valid {@3 [v2 v0 v0 v0] []}
    v14: CInt64 = call_raw (int, float) -> bool cell 0x10 boxed 0x18 2 v2, v7, v10 {@3 [v2 v0 v0 v0] []}
    branch v11, bb2(v14, v8, v12, v10), bb0 {@3 [v2 v0]}
bb0 {@4 [v2 v0 v0 v0] []}:
    return v12 {@4 [v2 v0]}
}
"#;

/// The function, and the document that keeps its classes and objects alive.
fn read(text: &str) -> Parsed<(Function, Document)> {
    let document = Document::parse(&format!("{CODE}{text}"))?;
    let Some(section) = document.sections.first() else {
        return Lines::new("").missing("a function");
    };
    let f = parse_section(&document, section)?;
    Ok((f, document))
}

#[test]
fn every_part_of_the_text_reads_back() {
    let (f, _document) = read(FUNCTION).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(f.to_string(), FUNCTION);
    verify(&f).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        (f.names.len(), f.assumptions.len(), f.fused.len()),
        (2, 3, 1)
    );
    let header = &f.blocks[Block::from_u32(2)];
    assert!(header.is_loop_header);
    assert_eq!(header.params[1].1, Place::Bound(1));
    assert_eq!(f.insts[header.params[3].0].pc, Pc(3));
    assert_eq!(f.insts[header.params[2].0].pc, Pc(2));
}

#[test]
fn values_of_which_nothing_says_the_number_get_new_ones() {
    let text = FUNCTION
        .replace("v13 = check_valid", "check_valid")
        .replace("  settled [v13]\n", "");
    let (f, _document) = read(&text).expect("a function");
    assert_eq!(f.to_string(), text);
    assert_eq!(f.insts.len(), 17);
}

#[test]
fn the_code_is_the_last_of_its_name_before_the_function() {
    let document = Document::parse(&format!(
        "{CODE}{FUNCTION}{}",
        CODE.replace("params 2", "params 1")
    ))
    .expect("a document");
    assert_eq!(
        parse_section(&document, &document.sections[0])
            .expect("a function")
            .code
            .argcount,
        2
    );
}

#[test]
fn errors_say_where_and_what() {
    let first = CODE.lines().count() + 1;
    let mut wrong = Vec::new();
    for (old, new, line, column, what) in [
        (
            "\"f\" {",
            "\"g\" {",
            1,
            10,
            "there is no code \"g\" before it",
        ),
        ("names x, #1", "names x, #9", 2, 12, "there is no name #9"),
        ("names x", "names q", 2, 9, "no name, or several, `q`"),
        (
            "assume name",
            "assume game",
            4,
            10,
            "expected an assumption, found `g`",
        ),
        (
            "ObjectUser[Point:Exact]\n",
            "LongExact[5]\n",
            5,
            26,
            "`LongExact[5]` is no single class",
        ),
        (
            "relied_on [v2]",
            "relied_on [v99]",
            7,
            14,
            "v99 is not defined",
        ),
        (
            "fused @2 @1",
            "fused @2 @8",
            9,
            12,
            "there is no instruction @8",
        ),
        (
            "bb4 {",
            "bb9999999 {",
            10,
            1,
            "bb9999999 is too large a number for a text of this length",
        ),
        ("v0: Nullptr", "v1: Nullptr", 12, 5, "v1 is defined twice"),
        ("= arg 0", "= argh 0", 12, 18, "there is no op `argh`"),
        (
            "= arg 0",
            "= arg 0 v0",
            12,
            18,
            "`arg` does not take 1 operands",
        ),
        (
            "= arg 0",
            "= param",
            12,
            18,
            "parameters stand before their block's colon",
        ),
        (
            "guard_type LongExact v1",
            "guard_type Longer v1",
            13,
            32,
            "there is no predefined type `Longer`",
        ),
        (
            "[&v1 v1]}",
            "[&v1 v1}",
            13,
            78,
            "expected a value, found `}`",
        ),
        (
            "nan:0x7ff8000000000001",
            "1x",
            15,
            32,
            "`1x` is no number of 64 bits",
        ),
        (
            "intrinsic3[8",
            "intrinsic3[x",
            18,
            22,
            "expected an integer of 64 bits, found `x`",
        ),
        (
            "(v3, v5, v2, v4)",
            "(v3 v5)",
            19,
            17,
            "expected `,`, found `v`",
        ),
        ("bound(#1)", "bound(#7)", 20, 35, "there is no local #7"),
        (
            "int_cmp lt",
            "int_cmp less",
            21,
            26,
            "there is no comparison `less`",
        ),
        (
            "boxed 0x18",
            "boxed 18",
            24,
            65,
            "expected `0x` and a number of 64 bits, found `1`",
        ),
        ("bb2(v14", "bb7(v14", 25, 17, "bb7 is not defined"),
        (
            "branch v11,",
            "branch v11",
            25,
            16,
            "expected `,`, found `b`",
        ),
        (
            "    return v12 {@4 [v2 v0]}\n",
            "",
            27,
            1,
            "expected an op or a terminator, found `}`",
        ),
        ("bb2(v3, v5, v2, v4)", "bb0", 10, 1, "nothing leads to bb2"),
    ] {
        assert!(FUNCTION.contains(old), "{old}");
        let error = read(&FUNCTION.replacen(old, new, 1))
            .map(|_| ())
            .expect_err(new);
        let found = (error.line + 1 - first, error.column, error.message.as_str());
        if found != (line, column, what) {
            wrong.push(format!("{new}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let error = read("function \"f\" {\n").map(|_| ()).expect_err("no end");
    assert_eq!(
        error.message,
        "expected `}` at the start of a line, found the end"
    );
    let error = read("function \"f\" {\n}\n").expect_err("no block");
    assert_eq!(error.message, "a function has at least one block");
}

#[test]
fn what_only_the_verifier_minds_is_read_and_verified() {
    for (old, new, fault) in [
        ("= arg 0", "= arg 9", "bb4: arg of slot 9 of 2"),
        (
            "{@1 [v1 v0 v0 v0] [&v1 v1]}",
            "{@1 [v1] []}",
            "bb4: a state at @1 has 1 locals instead of 4",
        ),
        (
            "bb2(v3, v5, v2, v4)",
            "bb2(v3)",
            "bb4: 1 values for the 4 parameters of bb2",
        ),
        ("branch v11", "branch v7", "bb2: branch on v7, a CInt64"),
    ] {
        let (f, _document) = read(&FUNCTION.replacen(old, new, 1)).expect("a function");
        let faults = verify(&f).expect_err(new).0;
        assert!(faults.iter().any(|found| found == fault), "{faults:?}");
    }
}

#[test]
fn no_op_is_called_as_a_terminator_or_as_another() {
    let mut names: Vec<&str> = Op::NAMES.to_vec();
    names.extend(
        crate::bytecode::GeneralOp::ALL
            .iter()
            .map(|op| op.info().name),
    );
    names.extend(["jump", "branch", "may_raise", "return", "unreachable"]);
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_damaged_text_makes_the_reader_or_the_verifier_panic(
        at in 0..FUNCTION.len(), remove in 0..12usize, insert in "[v0-9@{}\\[\\](),:= a-z#\"\n]{0,6}", cut in any::<bool>()
    ) {
        let (mut start, mut end) = (at, if cut { FUNCTION.len() } else { (at + remove).min(FUNCTION.len()) });
        while !FUNCTION.is_char_boundary(start) { start -= 1; }
        while !FUNCTION.is_char_boundary(end) { end += 1; }
        let text = format!("{}{insert}{}", &FUNCTION[..start], &FUNCTION[end..]);
        if let Ok((f, _document)) = read(&text) {
            let printed = f.to_string();
            let (again, _document) = read(&printed).expect("what is printed");
            prop_assert_eq!(again.to_string(), printed);
            let _ = verify(&f);
        }
    }
}
