//! Tests of printing and reading.

use super::super::{Mode, parse, random, verify};
use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn check(text: &str) {
    let helpers = random::helpers();
    let func = parse(text, &helpers).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(print(&func, &helpers), text);
}

fn check_error(text: &str, expect: Expect) {
    let error = parse(text, &random::helpers()).unwrap_err();
    expect.assert_eq(&error.to_string());
}

#[test]
fn every_form_of_line_reads_back() {
    check(
        "function \"a.<locals>.b \\\"c\\\"\"(ptr, i64, f64, bool) -> ptr {
  slot0 16
  slot1 8
  sig0 (ptr, i64) -> (i64, bool)
  sig1 ()

block0(v0: ptr, v1: i64, v2: f64, v3: bool):
  v4 = iconst -9223372036854775808
  v5 = bconst 1
  v6 = fconst -1e-300
  v7 = fconst nan:0x7ff8000000000001
  v8 = fconst -inf
  v9 = pconst 0x7fff00
  v10 = iadd v1, v4
  v11, v12 = iadd_ovf v10, v1
  v13 = icmp ult v0, v9
  v14 = fcmp le v6, v2
  v15 = select.f64 v3, v7, v8
  v16 = load.i32 v0+16
  v17 = load.f64 v0-8
  v18 = load.ptr v0
  store.u8 v18-2147483648, v16
  v19 = stack_addr 1
  call nothing()
  v20 = call list.new(v16)
  v21, v22 = call \"odd name -> \\\"quoted\\\"\"(v17, v3, v19)
  v23, v24 = call_indirect sig0 v18(v20, v21)
  call_indirect sig1 v18()
  br v24, block1(v23, v20), block2

block1(v25: i64, v26: ptr):
  return v26

block2 cold:
  br v3, block3, block4

block3 cold:
  exit exit12(v0, v15)

block4:
  unreachable
}
",
    );
    check(
        "function \"f\"() {\n\nblock0:\n  jump block1\n\nblock1:\n  return\n}\n"
            .replace("{\n\n", "{\n")
            .as_str(),
    );
    check("function \"f\"() -> (i64, f64) {\nblock0:\n  fail\n}\n");
}

#[test]
fn references_read_back() {
    let text = "function \"f\"(ptr) -> ptr {
  slot0 16
  slot1 8
  refs v0, v2, slot0, slot1

block0(v0: ptr):
  v1 = stack_addr 0
  v2 = load.ptr v1
  return v2
}
";
    let func = parse(text, &random::helpers()).unwrap();
    assert_eq!(func.refs.values.iter().count(), 2);
    assert_eq!(print(&func, &random::helpers()), text);
    let error = |refs: &str| parse(&text.replace("v0, v2, slot0", refs), &random::helpers());
    let what = |refs| error(refs).unwrap_err().to_string();
    assert_eq!(
        what("v0, block1"),
        "4:12: expected a value or a stack slot, found `block1`"
    );
    assert!(what("v0, v9").contains("v9"), "{}", what("v0, v9"));
}

#[test]
fn comments_blank_lines_and_hexadecimal_are_read() {
    let text = "; head\n\n function f ( i64 ) -> ( i64 ) { ; comment\n\n\nblock7( v9 : i64 ) :  ; entry\n\n  \
                v2 = iconst 0x10\n  v3 = iadd v9 , v2 ; sum\n return v3\n}\n; end";
    let helpers = random::helpers();
    expect![[r#"
        function "f"(i64) -> i64 {
        block7(v9: i64):
          v2 = iconst 16
          v3 = iadd v9, v2
          return v3
        }
    "#]]
    .assert_eq(&print(&parse(text, &helpers).unwrap(), &helpers));
}

#[test]
fn errors_have_a_place_and_a_reason() {
    let body = |lines: &str| {
        format!(
            "function f(i64, bool) -> i64 {{\n  slot0 8\nblock0(v0: i64, v1: bool):\n{lines}\n}}\n"
        )
    };
    check_error(
        "fun f() {\n",
        expect!["1:1: expected `function`, found `fun`"],
    );
    check_error(
        "function \"f() {\n",
        expect!["1:10: the text has no closing quote"],
    );
    check_error("function \"\\q\"", expect!["1:11: unknown escape"]);
    check_error(
        "function f(int) {\n",
        expect!["1:12: there is no type `int`"],
    );
    check_error(
        &body("  v2 = iadd v0,"),
        expect!["4:16: expected a value, found the end of the line"],
    );
    check_error(
        &body("  v2 = idd v0, v0"),
        expect!["4:8: there is no op `idd`"],
    );
    check_error(
        &body("  v2 = iadd v0, v9\n  return v2"),
        expect!["4:17: v9 is not defined"],
    );
    check_error(
        &body("  v2 = iadd v0, é"),
        expect!["4:17: 'é' means nothing here"],
    );
    check_error(
        &body("  v2, v3 = iadd v0, v0"),
        expect!["4:12: `iadd` gives 1 results, not 2"],
    );
    check_error(
        &body("  v0 = iadd v0, v0"),
        expect!["4:3: v0 is defined twice"],
    );
    check_error(
        &body("  v2 = load v0"),
        expect!["4:8: `load` needs a type, as in `load.i64`"],
    );
    check_error(
        &body("  v2 = load.i65 v0"),
        expect!["4:8: there is no type `i65`"],
    );
    check_error(
        &body("  v2 = iadd.i64 v0, v0"),
        expect!["4:8: `iadd` takes no type"],
    );
    check_error(
        &body("  v2 = load.i64 v0+3000000000"),
        expect!["4:19: `+3000000000` is not an offset, or out of range"],
    );
    check_error(
        &body("  v2 = iconst 9223372036854775808"),
        expect!["4:15: `9223372036854775808` is not an integer, or out of range"],
    );
    check_error(
        &body("  v2 = icmp lt v0, v0"),
        expect!["4:13: there is no condition `lt`"],
    );
    check_error(
        &body("  v2 = fconst nan:0x1"),
        expect!["4:15: these are not the bits of a nan"],
    );
    check_error(
        &body("  v2 = call missing(v0)"),
        expect!["4:13: there is no helper `missing`"],
    );
    check_error(
        &body("  call_indirect sig0 v0()"),
        expect!["4:17: there is no sig0"],
    );
    check_error(
        &body("  call_routine routine0(v0)"),
        expect!["4:16: there is no routine0"],
    );
    check_error(
        &body("  return v0\n  return v0"),
        expect!["5:3: the block has ended; expected a block or `}`"],
    );
    check_error(
        &body("  br v1, block1, block0"),
        expect!["4:10: block1 is not defined"],
    );
    check_error(
        &body("  return v0\nblock0:\n  return v0"),
        expect!["5:1: block0 is defined twice"],
    );
    check_error(
        &body("  return v0 v0"),
        expect!["4:13: expected the end of the line, found `v0`"],
    );
    check_error(
        &body("  v4294967295 = iconst 1"),
        expect!["4:3: there is no op `v4294967295`"],
    );
    check_error(
        &format!("{}x", body("  return v0")),
        expect!["6:1: expected the end of the text, found `x`"],
    );
    check_error(
        "function f() {\n  slot1 8\n",
        expect!["2:3: the next number here is 0"],
    );
    check_error(
        "function f() {\nblock0:\n",
        expect!["3:1: expected an op, found the end of the text"],
    );
}

#[test]
fn numbers_are_kept_unless_absurd() {
    let text = |value: u32| {
        format!(
            "function \"f\"() -> i64 {{\nblock3:\n  v{value} = iconst 1\n  return v{value}\n}}\n"
        )
    };
    check(&text(7));
    let helpers = random::helpers();
    let read = print(&parse(&text(4_000_000_000), &helpers).unwrap(), &helpers);
    assert_eq!(read, text(0).replace("block3", "block0"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_functions_read_back(seed: u64, intrinsic: bool) {
        let helpers = random::helpers();
        let mode = if intrinsic { Mode::Intrinsic } else { Mode::Unit };
        let func = random::func(seed, mode, &helpers);
        verify(&func, mode, &helpers).map_err(|e| TestCaseError::fail(format!("{e}\n{}", print(&func, &helpers))))?;
        let text = print(&func, &helpers);
        let read = parse(&text, &helpers).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        // The text has no types of results; the verifier checks them.
        verify(&read, mode, &helpers).map_err(|e| TestCaseError::fail(format!("{e}\n{text}")))?;
        prop_assert_eq!(&read.signature, &func.signature);
        prop_assert_eq!(print(&read, &helpers), text);
    }

    #[test]
    fn no_text_makes_the_reader_panic(seed: u64, cut: prop::sample::Index, junk in "[-a-z0-9.(){}:=,\"\\\\ \n]{0,6}") {
        let helpers = random::helpers();
        let mut text = print(&random::func(seed, Mode::Unit, &helpers), &helpers);
        let mut at = cut.index(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        text.insert_str(at, &junk);
        let _ = parse(&text, &helpers);
        text.truncate(at + junk.len());
        let _ = parse(&text, &helpers);
    }
}
