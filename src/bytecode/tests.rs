use super::*;
use crate::types::{Hierarchy, Type};
use proptest::prelude::*;

const NORM: &str = r#"
class "Point": Object (object) = Point
class "Point": Object (Point, object) final = Point#2
object "weird name" : Point immortal = `weird name`
object "Point": type denotes Point = Point
object "a long string that is cut": str = "a long string that i"...
object "None": NoneType immortal = None
class builtin Slice = slice#2
object "slice": slice#2 = slice

code "norm" {
  file "geometry.py" 12
  params 1, kwonly 1, varkeywords
  stack 3
  generator
  local p: ObjectUser[Point:Exact]
  local "two words": {FloatExact|LongExact}
  local total cell: Object
  local p free: TypeExact[Point:obj]
  name x
  name "not plain"
  const ImmortalNoneType = None
  const UnicodeExact["a long string that i"...] = "a long string that is cut"
  const ImmortalObjectUser[`weird name`]
  const Slice[slice]
  @0  resume 0                     line 12
  @1  load_fast #0                 at 2 from 1 line 13
  @2  load_fast #1                 at 2 from 1 part
  @3  binary_op +=                 hint [ObjectUser[Point:Exact], LongExact] at 3
  @4  load_attr x, 1               hint [ObjectUser[Point#2:Exact]] at 4
  @5  pop_top                      at 14
  @6  pop_top                      at 15
  @7  load_const #1                at 16
  @8  load_const #2                at 17
  @9  compare_op <, 1              at 18
  @10 pop_jump_if_false @12        at 19
  @11 load_global "not plain", 1   at 20
  handler @1..@3 -> @5 depth 0 lasti
}
"#;

#[test]
fn a_document_reads_back_as_itself() {
    let document = Document::parse(NORM).unwrap();
    let text = Document::print(&document.codes);
    let again = Document::parse(&text).unwrap();
    assert_eq!(Document::print(&again.codes), text);
    let code = &document.codes[0];
    assert_eq!(code.instrs[3].arg, INPLACE);
    assert_eq!(
        (
            code.instrs[2].pos,
            code.instrs[2].resume,
            code.instrs[2].resumable
        ),
        (2, 1, false)
    );
    assert_eq!((code.instrs[0].line, code.instrs[5].line), (12, 13));
    assert_eq!(
        code.consts[1].value,
        ConstValue::Str("a long string that is cut".to_owned())
    );
    assert_eq!(code.local_hints[1], Type::LONG_EXACT | Type::FLOAT_EXACT);
    assert_ne!(
        code.instrs[3].hint[0], code.instrs[4].hint[0],
        "two classes of one name"
    );
    assert!(code.consts[2].object.is_immortal());
    assert!(code.handlers[0].lasti);
}

/// Parses a code around `body`, whose first line is the text's fourth.
fn parse(body: &str) -> Result<Code, TextError> {
    let hierarchy = Hierarchy::parse("").unwrap();
    let text = format!("\ncode \"f\" {{\n  stack 2\n{body}\n}}\n");
    Code::parse(&text, hierarchy.host(), &hierarchy.names())
}

#[track_caller]
fn check_error(body: &str, line: usize, column: usize, message: &str) {
    let error = parse(body).expect_err("the text is wrong");
    assert_eq!(
        (error.line, error.column, error.message.as_str()),
        (line, column, message),
        "in {body:?}"
    );
}

#[test]
fn errors_have_a_place() {
    check_error("  nonsense", 4, 3, "there is no op `nonsense`");
    check_error("  nop\n  @2 nop", 5, 3, "this is instruction @1");
    check_error("  load_fast x", 4, 13, "no local, or several, named `x`");
    check_error("  jump away\n  nop", 4, 8, "there is no label `away`");
    check_error(
        "  local x: Flaot",
        4,
        12,
        "there is no predefined type `Flaot`",
    );
    check_error(
        "  to_bool hint [LongExact, ObjectUser[C:Exact]]",
        4,
        39,
        "unknown class `C`",
    );
    check_error(
        "  const 99999999999999999999",
        4,
        9,
        "`99999999999999999999` is no number of 64 bits",
    );
    check_error("  const LongExact", 4, 9, "`LongExact` is no single object");
    check_error("  const \"open", 4, 9, "no closing quote");
    check_error("  const \"\\q\"", 4, 10, "unknown escape");
    check_error("  binary_op ?", 4, 13, "expected an operator, found `?`");
    check_error("  nop nop", 4, 7, "expected the end of the line, found `n`");
    check_error("  copy 99999999999", 4, 8, "99999999999 is too large");
    check_error(
        "  stack",
        4,
        8,
        "expected a number, found the end of the line",
    );
    check_error("a:\na:", 5, 1, "the label `a` is there twice");
    check_error(
        "  handler @x..@2 -> @3",
        4,
        12,
        "expected the number of an instruction",
    );
    let error = Document::parse("class \"A\": Object (B) = A").unwrap_err();
    assert_eq!(
        (error.line, error.column, error.message.as_str()),
        (1, 20, "unknown class `B`")
    );
    let error = Document::parse("code \"f\" {\n").unwrap_err();
    assert_eq!(
        (error.line, error.message.as_str()),
        (2, "expected `}`, found the end")
    );
}

#[test]
fn texts_by_hand_have_labels_and_literals() {
    let code = parse(
        "  const 5 ; five\n  const -0.0\n  const nan\n  const \"a;\\n\\u{1F600}\"\n  const True\n  const None
again: ; a label
  load_const #0
  pop_jump_if_none again
  jump_backward again",
    )
    .unwrap();
    assert_eq!(
        (code.instrs[1].arg, code.instrs[2].arg, code.instrs[2].pos),
        (0, 0, 2)
    );
    assert_eq!(code.consts[0].value, ConstValue::Int(5));
    assert!(matches!(code.consts[1].value, ConstValue::Float(zero) if zero.is_sign_negative()));
    assert!(matches!(code.consts[2].value, ConstValue::Float(nan) if nan.is_nan()));
    assert_eq!(
        code.consts[3].value,
        ConstValue::Str("a;\n\u{1F600}".to_owned())
    );
    code.verify().unwrap();
}

#[track_caller]
fn check_verify(body: &str, expected: &str) {
    let found = parse(body)
        .unwrap()
        .verify()
        .map_or_else(|errors| errors.to_string(), |()| "ok".to_owned());
    assert_eq!(found, expected, "of {body:?}");
}

#[test]
fn the_verifier_reports_each_fault() {
    check_verify("  const 1\n  load_const #0\n  return_value", "ok");
    check_verify("", "no instructions");
    check_verify(
        "  pop_top\n  return_const #0",
        "@1: return_const has no constant 0",
    );
    check_verify(
        "  const 1\n  pop_top\n  return_const #0",
        "@0: pop_top takes 1 entries, but there are 0",
    );
    check_verify("  push_null", "@0: control runs past the end");
    check_verify(
        "  params 1\n  local x\n  load_fast x\n  load_fast x\n  load_fast x\n  pop_top\n  pop_top\n  return_value",
        "@2: 3 entries on a stack of 2",
    );
    check_verify(
        "  local x\n  load_fast x\n  pop_jump_if_true @0\n  push_null\n  jump @0",
        "@3: reaches @0 with 1 entries, where others have 0",
    );
    check_verify(
        "  const 1\n  swap 1\n  return_const #0",
        "@0: swap takes 2 to 16777216, not 1",
    );
    check_verify("  jump @7", "@0: jump has no target 7");
    check_verify("  nop 3\n  jump @0", "@0: nop has no argument 3");
    check_verify("  nop, 3\n  jump @0", "@0: nop has no second argument 3");
    check_verify(
        "  nop at 3\n  nop at 3\n  jump @0 at 5",
        "@1: begins at 3, inside the instruction before",
    );
    check_verify(
        "  nop at 3\n  nop at 4 part\n  jump @0 at 5",
        "@1: is a later part of another instruction than the one before",
    );
    check_verify(
        "  nop hint [LongExact]\n  jump @0",
        "@0: 1 hints for 0 operands",
    );
    check_verify(
        "  local x\n  load_deref x\n  return_value",
        "@0: load_deref of a local that is no such cell",
    );
    check_verify(
        "  params 2\n  local x\n  jump @0",
        "2 parameters but 1 locals",
    );
    check_verify(
        "  push_null\n  pop_top\n  nop\n  jump @2\n  pop_top\n  jump @2\n  handler @2..@3 -> @4 depth 1",
        "@2: its handler keeps 1 entries, but there are 0\n@5: reaches @2 with 1 entries, where others have 0",
    );
    check_verify(
        "  nop\n  jump @0\n  handler @1..@1 -> @0 depth 0",
        "a handler covers @1 to @1",
    );
    check_verify(
        "  nop\n  jump @0\n  handler @0..@9 -> @9 depth 5",
        "a handler covers @0 to @9\na handler at @9, outside the code\na handler keeps 5 entries of a stack of 2",
    );
}

#[test]
fn an_exhausted_iterator_is_popped_at_the_loops_exit() {
    let mut b = CodeBuilder::new("f");
    let xs = b.param("xs");
    let (next, end) = (b.label(), b.label());
    b.emit(Op::LoadFast, xs).emit(Op::GetIter, 0).bind(next);
    b.jump(Op::ForIter, end)
        .hint(&[Type::LIST_ITER])
        .emit(Op::PopTop, 0)
        .jump(Op::JumpBackward, next);
    b.bind(end)
        .line(2)
        .emit(Op::LoadFast, xs)
        .emit(Op::ReturnValue, 0);
    let code = b.finish().unwrap();
    assert_eq!(code.stacksize, 2);
    assert_eq!(code.stack_depths(), [0, 1, 1, 2, 1, 0, 1].map(Some));
    assert_eq!(code.instrs[2].arg, 5);
    assert_eq!((code.instrs[4].line, code.instrs[5].line), (1, 2));
}

#[test]
fn the_builder_refuses_labels_without_a_place_and_code_that_is_wrong() {
    let mut b = CodeBuilder::new("f");
    let nowhere = b.label();
    b.jump(Op::Jump, nowhere);
    assert_eq!(b.finish(), Err(BuildError::Unbound(nowhere)));
    let mut b = CodeBuilder::new("f");
    b.emit(Op::PopTop, 0).emit(Op::ReturnValue, 0);
    assert!(matches!(b.finish(), Err(BuildError::Invalid(_))));
}

#[test]
fn the_innermost_handler_is_the_last() {
    let mut b = CodeBuilder::new("f");
    let start = b.here();
    b.emit(Op::Nop, 0);
    let end = b.here();
    b.jump(Op::Jump, start);
    let (outer, inner) = (b.here(), b.label());
    b.emit(Op::Reraise, 0)
        .bind(inner)
        .emit(Op::PopTop, 0)
        .emit(Op::Reraise, 0);
    b.handler(start, end, outer, 0, false)
        .handler(start, end, inner, 0, true);
    let code = b.finish().unwrap();
    assert_eq!(
        code.handler_at(Pc(0)).map(|handler| handler.target),
        Some(Pc(3))
    );
    assert_eq!(
        code.stack_depths(),
        [Some(0), Some(0), None, Some(2), Some(1)]
    );
}

#[test]
fn every_op_is_in_the_table_under_its_own_name() {
    for &op in Op::ALL {
        assert_eq!(Op::from_name(op.info().name), Some(op));
    }
}

prop_compose! {
    /// Any instruction, well-formed or not.
    fn any_instr()(
        op in 0..Op::ALL.len(),
        arg in prop_oneof![0_u32..40, any::<u32>()],
        arg2 in prop_oneof![Just(0_u32), any::<u32>()],
        pos in any::<u32>(),
        resume in prop_oneof![Just(None), any::<u32>().prop_map(Some)],
        resumable in any::<bool>(),
        hint in prop::collection::vec(prop::sample::select(vec![Type::OBJECT, Type::LONG_EXACT, Type::LONG_EXACT | Type::BOOL]), 0..3),
        items in any::<Option<u64>>(),
        line in 0_u32..3,
    ) -> Instr {
        Instr { op: Op::ALL[op], arg, arg2, pos, resume: resume.unwrap_or(pos), resumable, hint, items, line }
    }
}

prop_compose! {
    fn any_code()(
        name in any::<String>(),
        file in any::<String>(),
        numbers in any::<[u32; 4]>(),
        flags in any::<[bool; 7]>(),
        locals in prop::collection::vec(("[a-c.]{1,2}|\\PC*", prop::sample::select(vec![LocalKind::Local, LocalKind::Cell, LocalKind::Free])), 0..6),
        names in prop::collection::vec("[a-c ]{1,2}|\\PC*", 0..6),
        instrs in prop::collection::vec(any_instr(), 0..20),
        handlers in prop::collection::vec((any::<[u32; 4]>(), any::<bool>()), 0..3),
        hinted in any::<bool>(),
    ) -> Code {
        let handlers = handlers.into_iter().map(|([start, end, target, depth], lasti)| {
            Handler { start: Pc(start), end: Pc(end), target: Pc(target), depth, lasti }
        });
        Code {
            name,
            file,
            line: numbers[0],
            argcount: numbers[1],
            kwonly: numbers[2],
            varargs: flags[0],
            varkeywords: flags[1],
            is_generator: flags[2],
            is_coroutine: flags[5],
            last_first: flags[4],
            operators_last_first: flags[6],
            globals: u64::from(numbers[0]) << 7,
            optimized: flags[3],
            local_hints: if hinted { vec![Type::FLOAT_EXACT; locals.len()] } else { Vec::new() },
            locals,
            stacksize: numbers[3],
            consts: Vec::new(),
            names,
            instrs,
            handlers: handlers.collect(),
        }
    }
}

#[test]
fn the_stack_is_empty_at_a_return() {
    for (end, left) in [("return_value", 1), ("return_const #0", 2)] {
        let text = format!(
            "code \"f\" {{\n  stack 2\n  const 5\n  load_const #0\n  load_const #0\n  {end}\n}}\n"
        );
        let document = Document::parse(&text).expect("a document");
        let errors = document.codes[0].verify().expect_err(end).to_string();
        assert_eq!(
            errors,
            format!("@2: returns with {left} entries on the stack")
        );
    }
}

#[test]
fn any_instruction_may_have_the_hint_that_it_was_never_reached() {
    let text = "code \"f\" {\n  stack 1\n  const 5\n  load_const #0 hint [Bottom]\n  return_value hint [Bottom]\n}\n";
    let document = Document::parse(text).expect("a document");
    assert_eq!(document.codes[0].verify(), Ok(()));
}

proptest! {
    #[test]
    fn any_code_reads_back_as_itself(code in any_code()) {
        let text = code.to_string();
        let document = Document::parse(&text).map_err(|error| TestCaseError::fail(format!("{error} in\n{text}")))?;
        prop_assert_eq!(&document.codes[0], &code, "\n{}", text);
    }

    #[test]
    fn verifying_any_code_terminates(code in any_code()) {
        let _ = code.verify();
    }

    #[test]
    fn any_text_parses_or_gives_an_error_with_a_place(text in "(code \"f\" \\{\n)?([ -~\n]|hint \\[|\\]|local |const |nop|é|;|@[0-9]|\"){0,60}") {
        let _ = Document::parse(&text);
    }

#[test]
    fn any_change_of_one_character_parses_or_gives_an_error_with_a_place(at in 0..NORM.len(), c in "[ -~é\n]") {
        if NORM.is_char_boundary(at) && NORM.is_char_boundary(at + 1) {
            let _ = Document::parse(&format!("{}{c}{}", &NORM[..at], &NORM[at + 1..]));
        }
    }
}
