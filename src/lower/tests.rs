//! Tests of exception marks and of conversions: faults are found, and every op's lowering agrees
//! with the op tables.

use super::fault::What;
use super::hop::HighLevelOp;
use super::repr::{Repr, Wanted};
use super::{Faults, Lower, Lowered, lower};
use crate::exits::ExitKind;
use crate::facts::{Effects, RawKind};
use crate::hir::{Function, GeneralOp, Op, Term, Value, try_parse_only};
use crate::host::tests::{ADDRESS, constant, host};
use crate::host::{Entry, Host, Namespace, UnitParts, closed_helpers, names};
use crate::ll::Ty;
use crate::types::{ClassDesc, Predefined};
use std::collections::BTreeSet;

/// A host with all optional helpers and intrinsics, and one intrinsic of its own, `own`.
fn everything() -> Host {
    let own = |name| constant(name, &[Ty::Ptr; 2], &[Ty::Ptr]);
    let made = host(
        |_, _| true,
        |host| {
            host.intrinsic("own", Effects::ANY, own("own"));
            for row in closed_helpers() {
                host.helper(row.name, ADDRESS(), &row.params, &row.results);
            }
            let rows = names::NAMESPACE.iter().chain(names::ITEMS);
            let rows = rows.chain(names::STRINGS);
            for &(name, params, results) in rows.chain(names::CLOSED) {
                host.intrinsic(name, Effects::ANY, constant(name, params, results));
            }
        },
    );
    let host = made.expect("a host");
    // The class of a raw call's result.
    let int = ClassDesc::builtin(Predefined::Long, Vec::new());
    host.id.register_class(int).expect("a class");
    host
}

fn parts() -> UnitParts {
    let enter = constant("enter", &[Ty::Ptr; 2], &[Ty::Ptr]);
    UnitParts {
        namespace: Some(Namespace {
            address: 16,
            names: vec![(24, 32)],
            notes: 0,
            live: Vec::new(),
        }),
        ..UnitParts::new(enter, constant("leave", &[Ty::Ptr; 2], &[]))
    }
}

/// A function of two objects whose first instruction is `inst`, followed by `end`.
fn read(inst: &str, end: &str) -> Option<Function> {
    let text = format!(
        r#"
object "len": object immortal = len
code "f" {{
  params 2
  stack 4
  local x
  local y
  name n
  resume 0
  load_fast x
  load_fast y
  binary_op + line 7
  return_value
}}
function "f" {{
bb0 {{@0 [v0 v1] []}}:
    v0: Object = arg 0
    v1: Object = arg 1
    {inst} {{@3 [v0 v1] [v0 v1]}} at @3
    {end}
}}
"#
    );
    try_parse_only(&text).ok()
}

const UNCAUGHT: &str = "jump bb1 {@3 [v0 v1]}
bb1 {@4 [v0 v1] []}:
    return v0 {@4 [v0 v1]}";

const CAUGHT: &str = "may_raise v2, bb1, bb2 {@3 [v0 v1]}
bb1 {@4 [v0 v1] []}:
    return v0 {@4 [v0 v1]}
bb2 {@4 [v0 v1] []}:
    return v1 {@4 [v0 v1]}";

/// `x + y` with a handler, and the instruction that may raise.
fn sum() -> (Function, Value) {
    let f = read("v2: Object = binary_op [0] v0, v1", CAUGHT).expect("HIR");
    let (v, _) = f.landing(f.entry()).expect("a landing block");
    (f, v)
}

fn lowered(f: &Function, host: &Host) -> Result<Lowered, Faults> {
    lower(f, host, &parts(), Entry::Function, false, &|_| None)
}

/// The faults found if `lowering` is the lowering of `v`.
fn faults(f: &Function, v: Value, lowering: impl FnOnce(HighLevelOp<'_, '_>)) -> Vec<What> {
    let (host, parts, copied) = (everything(), parts(), BTreeSet::new());
    let mut func =
        crate::lir::Func::new("f", crate::lir::Signature::new(&[Ty::Ptr; 4], &[Ty::Ptr]));
    let entry = Entry::Function;
    let mut lower = Lower::new(
        &mut func,
        f,
        &host,
        &parts,
        entry,
        None,
        false,
        &|_| None,
        &copied,
    );
    lower.run();
    assert_eq!(lower.faults, []);
    let open = lower.b.block();
    lower.b.switch_to(open);
    lower.landing = f.landing(f.entry());
    lowering(HighLevelOp::new(&mut lower, v));
    lower.faults.iter().map(|fault| fault.what).collect()
}

#[test]
fn a_missing_mark_is_found() {
    let (f, v) = sum();
    assert_eq!(faults(&f, v, |hop| hop.finish(None)), [What::NoMark]);
}

#[test]
fn a_missing_mark_is_found_without_a_handler() {
    let f = read("v2: Object = binary_op [0] v0, v1", UNCAUGHT).expect("HIR");
    let v = f.blocks[f.entry()].insts[2];
    assert_eq!(faults(&f, v, |hop| hop.finish(None)), [What::NoMark]);
}

#[test]
fn a_second_mark_is_found() {
    let (f, v) = sum();
    let twice = |mut hop: HighLevelOp<'_, '_>| {
        hop.exception_is_here();
        hop.exception_is_here();
        hop.finish(None);
    };
    assert_eq!(faults(&f, v, twice), [What::SecondMark]);
    let both = |mut hop: HighLevelOp<'_, '_>| {
        hop.exception_cannot_occur();
        hop.exception_is_here();
        hop.finish(None);
    };
    assert_eq!(faults(&f, v, both), [What::SecondMark]);
}

#[test]
fn a_mark_on_an_instruction_that_does_not_raise_is_found() {
    let (f, _) = sum();
    let idle = |mut hop: HighLevelOp<'_, '_>| {
        assert!(!hop.has_implicit_exception());
        hop.exception_cannot_occur();
        hop.finish(None);
    };
    assert_eq!(
        faults(&f, f.blocks[f.entry()].insts[0], idle),
        [What::IdleMark]
    );
}

#[test]
fn one_mark_is_right_and_leads_to_the_landing_block() {
    let (f, v) = sum();
    let here = |mut hop: HighLevelOp<'_, '_>| {
        assert!(hop.has_implicit_exception());
        let raise = hop.exception_is_here();
        let Term::MayRaise { raised, .. } = &hop.lower.f.blocks[hop.lower.f.entry()].term else {
            panic!("nobody catches")
        };
        let landing = hop.lower.blocks[&raised.block];
        let block = &hop.lower.b.func.blocks[raise];
        assert!(block.cold && block.targets().any(|call| call.block == landing));
        hop.finish(None);
    };
    assert_eq!(faults(&f, v, here), []);
    let never = |mut hop: HighLevelOp<'_, '_>| {
        hop.exception_cannot_occur();
        hop.finish(None);
    };
    assert_eq!(faults(&f, v, never), []);
}

#[test]
fn a_conversion_that_there_is_not_is_found_and_refuses_the_function() {
    let (f, v) = sum();
    let wanted = Wanted::Raw(RawKind::Int);
    let (value, repr) = (f.arg(v, 0), Repr::Object);
    let what = What::NoConversion {
        value,
        repr,
        wanted,
    };
    let int_of_an_object = |mut hop: HighLevelOp<'_, '_>| {
        hop.input(0, wanted);
        hop.exception_cannot_occur();
        hop.finish(None);
    };
    assert_eq!(faults(&f, v, int_of_an_object), [what]);

    let f = read("v2: CInt64 = int_add v0, v1", UNCAUGHT).expect("HIR");
    let found = lowered(&f, &everything()).expect_err("ints of objects");
    assert_eq!(
        found.to_string(),
        "`f`, line 7, v2 = int_add: wants Raw(Int) from v0, which is Object: there is no such conversion\n\
         `f`, line 7, v2 = int_add: wants Raw(Int) from v1, which is Object: there is no such conversion"
    );
}

#[test]
fn a_virtual_object_is_no_operand() {
    let inst = "v2: TupleExact = virtual_tuple v0 at @3\n    v3: Object = binary_op [0] v2, v1";
    let f = read(inst, UNCAUGHT).expect("HIR");
    let found = lowered(&f, &everything()).expect_err("a tuple that nobody makes");
    let virtual_ = |what: &What| {
        matches!(
            what,
            What::NoConversion {
                repr: Repr::Virtual,
                ..
            }
        )
    };
    assert!(found.0.iter().any(|fault| virtual_(&fault.what)), "{found}");
}

#[test]
fn a_result_in_the_wrong_kind_of_register_is_found() {
    let (f, v) = sum();
    let wrong = |mut hop: HighLevelOp<'_, '_>| {
        hop.exception_cannot_occur();
        let n = hop.b().iconst(1);
        hop.finish(Some(n));
    };
    let (repr, given) = (Repr::Object, Ty::I64);
    assert_eq!(faults(&f, v, wrong), [What::WrongResult { repr, given }]);
}

/// Immediates of every kind, as text; one of them fits each op.
fn immediates(host: &Host) -> Vec<String> {
    let own = u32::try_from(names::STANDARD.len()).expect("few");
    assert_eq!(host.intrinsic("own").as_u32(), own);
    let own = format!("intrinsic{own}[]");
    let typed = format!("LongExact {own}");
    let numbered = format!("{own} 1");
    let kinds = [
        "",
        "0",
        "0 1",
        "true",
        "1.5",
        "lt",
        "n",
        "n LongExact",
        "LongExact",
        "overflow",
        "0x10",
        "0x10 0 1",
        "0x10 [8]",
        "[0]",
        "[0, 0]",
        "(int) -> int cell 0x10 boxed 0x18 2",
        "ImmortalObjectExact[len]",
        &own,
        &typed,
        &numbered,
    ];
    kinds.map(str::to_owned).to_vec()
}

/// An instruction with this op, followed by `end`.
fn example(name: &str, immediates: &[String], end: &str) -> Function {
    let found = immediates.iter().find_map(|immediates| {
        (0..=6).rev().find_map(|count| {
            let operands = ["v0", "v1", "v0", "v1", "v0", "v1"][..count].join(", ");
            let f = read(&format!("v2 = {name} {immediates} {operands}"), end)?;
            let v = f.blocks[f.entry()].insts[2];
            f.op(v).takes(count).then_some(f)
        })
    });
    found.unwrap_or_else(|| panic!("no immediates here suit `{name}`"))
}

#[test]
fn every_op_that_may_raise_is_marked_once_and_no_other() {
    let host = everything();
    let immediates = immediates(&host);
    let general = GeneralOp::ALL.iter().map(|op| op.info().name);
    // A parameter is part of its block.
    let others = Op::NAMES.iter().copied().filter(|name| *name != "param");
    let mut raising = Vec::new();
    for name in others.chain(general) {
        for end in [UNCAUGHT, CAUGHT] {
            let f = example(name, &immediates, end);
            let v = f.blocks[f.entry()].insts[2];
            if !f.op(v).raises() {
                continue;
            }
            raising.push(name);
            let is_mark =
                |what: &What| matches!(what, What::NoMark | What::SecondMark | What::IdleMark);
            match lowered(&f, &host) {
                Ok(lowered) => {
                    let raises = |kind| !matches!(kind, ExitKind::Resume);
                    let exits = lowered.exits.iter().filter(|exit| raises(exit.kind));
                    assert_eq!(exits.count(), 1, "{name}");
                }
                Err(found) => {
                    let marks = found.0.iter().filter(|fault| is_mark(&fault.what));
                    assert_eq!(marks.count(), 0, "{found}");
                }
            }
        }
    }
    assert!(raising.len() > 100, "{raising:?}");
}
