//! Names of a namespace through the builder and all passes: the values that stay in registers, and
//! the places where values are stored.

use super::{Context, Progress, run};
use crate::bytecode::{Document, Pc, Reason};
use crate::hir::tests::Nothing;
use crate::hir::{self, Block, Function, NamePlan, Op, Start};
use crate::host::{Lifetimes, World};
use crate::types::Type;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The context of passes for code of a host that counts references and offers everything.
fn context<'a>(world: &'a dyn World, avoid: &'a HashSet<(Pc, Reason)>) -> Context<'a> {
    Context {
        world,
        avoid,
        lifetimes: Lifetimes::Counted,
        inlines: true,
        item_arrays: true,
        strings: true,
        reuses: true,
        objects_are_private: true,
        check_facts: false,
        without: &[],
        log: RefCell::default(),
    }
}

/// A loop at the top of a module, entered at its head, with the names `i`, `total` and `f` (two
/// ints and a function).
fn compiled(body: &str) -> Function {
    let text = format!(
        r#"
code "<module>" {{
  params 0
  stack 4
  namespace
  name i
  name total
  name f
  const ImmortalLongExact[1] = 1
head:
{body}
again:
  load_name i
  load_const #0
  binary_op +=
  store_name i
  load_name i
  load_name total
  compare_op <, 1
  pop_jump_if_false out
  jump_backward head
out:
  load_const #0
  return_value
}}
"#
    );
    let document = Document::parse(&text).expect("a document");
    let code = Arc::new(document.codes[0].clone());
    let (avoid, met) = (HashSet::new(), HashMap::new());
    let mut plan = NamePlan::new(&[Type::LONG_EXACT, Type::LONG_EXACT, Type::OBJECT]);
    for _ in 0..8 {
        let start = Start::Loop(Pc(0), &[]);
        let mut f = hir::build(&code, start, &Nothing, &avoid, &met, Some(&plan)).expect("HIR");
        let cx = context(&Nothing, &avoid);
        run(&mut f, &cx, None, &mut |pass, f| {
            hir::verify(f).unwrap_or_else(|faults| panic!("after {pass}: {faults}\n{f}"));
        });
        if !plan.learn(&f) {
            return f;
        }
    }
    panic!("no attempt is right")
}

const ADD: &str = "load_name total\nload_name i\nbinary_op +=\nstore_name total";
const CALL: &str = "load_name f\npush_null\ncall 0\npop_top";

fn count(f: &Function, name: &str) -> usize {
    let insts = f.order.iter().flat_map(|&b| &f.blocks[b].insts);
    insts.filter(|v| f.op(**v).name() == name).count()
}

fn names_of(f: &Function, b: Block) -> Vec<&'static str> {
    let insts = f.blocks[b].insts.iter();
    let ops = insts.map(|v| f.op(*v).name());
    ops.filter(|op| op.starts_with("name_") || *op == "call" || op.starts_with("check_"))
        .collect()
}

#[test]
fn a_loop_without_barriers_runs_in_registers() {
    let f = compiled(ADD);
    assert_eq!(
        names_of(&f, f.entry()),
        ["name_get_raw", "name_get_raw"],
        "{f}"
    );
    assert_eq!(count(&f, "name_get_raw"), 2, "{f}");
    assert_eq!(count(&f, "name_set") + count(&f, "name_get"), 0, "{f}");
    assert_eq!(
        (count(&f, "check_quiet"), count(&f, "check_pending")),
        (1, 0)
    );
    // At the exit, both locals are to be written.
    let exits = f.order.iter().flat_map(|&b| &f.blocks[b].insts);
    let quiet = exits.copied().find(|v| *f.op(*v) == Op::CheckQuiet);
    let state = f.inst(quiet.expect("a check")).state.expect("a state");
    let dirty = f.states[state].locals.iter();
    assert!(dirty.clone().all(|v| f.ty(*v) <= Type::CINT64), "{f}");
    assert_eq!((f.names.as_slice(), dirty.count()), (&[0, 1][..], 2));
}

#[test]
fn a_call_finds_all_names_stored() {
    let f = compiled(&format!("{ADD}\n{CALL}"));
    assert_eq!(
        (count(&f, "check_quiet"), count(&f, "check_pending")),
        (0, 1)
    );
    let with_call = |b: &&Block| names_of(&f, **b).contains(&"call");
    let block = *f.order.iter().find(with_call).expect("a call");
    let ops = names_of(&f, block);
    let at = ops.iter().position(|op| *op == "call").expect("a call");
    assert!(ops[..at].contains(&"name_set"), "{f}");
    // It may have changed them: they are looked at again.
    assert!(ops[at..].iter().any(|op| op.starts_with("name_get")), "{f}");
    let call = f.blocks[block].insts.iter();
    let call = call.copied().find(|v| f.op(*v).name() == "call");
    let state = f.inst(call.expect("a call")).state.expect("a state");
    let names = f.states[state].locals.iter();
    assert!(names.into_iter().all(|v| *f.op(*v) == Op::Null), "{f}");
}

#[test]
fn a_call_now_and_then_stores_only_on_its_way() {
    let f = compiled(&format!(
        "{ADD}\nload_name total\nload_name i\ncompare_op <, 1\npop_jump_if_false again\n{CALL}"
    ));
    assert_eq!(
        (count(&f, "check_quiet"), count(&f, "check_pending")),
        (1, 0)
    );
    for &b in &f.order[1..] {
        let ops = names_of(&f, b);
        let touches = ops.iter().any(|op| op.starts_with("name_"));
        assert!(
            !touches || ops.contains(&"call") || ops.contains(&"check_valid"),
            "{f}"
        );
    }
}

#[test]
fn a_name_that_changes_its_kind_is_stored_at_once() {
    let f = compiled("load_name total\nload_name i\nbinary_op /=\nstore_name total");
    let sets = f.order.iter().flat_map(|&b| &f.blocks[b].insts);
    let sets: Vec<&Op> = sets
        .map(|v| f.op(*v))
        .filter(|op| op.name() == "name_set")
        .collect();
    assert!(sets.contains(&&Op::NameSet(1)), "{f}");
    assert!(!sets.contains(&&Op::NameSet(0)), "{f}");
}

#[test]
fn where_objects_are_traced_every_tuple_is_made() {
    let text = r#"
code "f" {
  params 2
  stack 3
  local a
  local b
  load_fast a
  load_fast b
  build_tuple 2
  unpack_sequence 2 hint [TupleExact]
  store_fast a
  store_fast b
  load_fast a
  return_value
}
"#;
    let document = Document::parse(text).expect("a document");
    let code = Arc::new(document.codes[0].clone());
    let (avoid, met) = (HashSet::new(), HashMap::new());
    for (lifetimes, made) in [
        (Lifetimes::Counted, 0),
        (Lifetimes::Traced { native_stack: 0 }, 1),
    ] {
        let start = Start::Function(&[Type::LONG_EXACT, Type::LONG_EXACT]);
        let mut f = hir::build(&code, start, &Nothing, &avoid, &met, None).expect("HIR");
        let cx = Context {
            lifetimes,
            inlines: false,
            ..context(&Nothing, &avoid)
        };
        run(&mut f, &cx, None, &mut |_, _| {});
        assert_eq!(count(&f, "build_tuple"), made, "{f}");
    }
}

/// A list of which an item is loaded, replaced and loaded again: the known facts become checks.
#[test]
fn facts_may_become_checks_that_the_process_ends_at() {
    let text = r#"
code "f" {
  params 2
  stack 3
  local a
  local b
  load_fast a
  load_fast b
  binary_op +
  store_fast a
  load_fast a
  return_value
}

function "f" {
bb0 {@0 [v0 v1] []}:
    v0: ListExact = arg 0
    v1: Object = arg 1
    v2: CInt64 = const_int 0
    v3: CInt64 = list_len v0
    v4: CInt64 = index v2, v3 {@0 [v0 v1] []}
    v5: Object = list_get v0, v4
    v6: FloatExact = guard_type FloatExact v5 guarded {@0 [v0 v1] []}
    v7: Object = list_set v0, v4, v1
    decref v7 {@1 [v0 v1] []}
    v8: CInt64 = list_len v0
    v9: CInt64 = index v2, v8 {@2 [v0 v1] []}
    v10: Object = list_get v0, v9
    return v10 {@5 [v0 v1]}
}
"#;
    let document = Document::parse(text).expect("a document");
    let section = &document.sections[0];
    let optimised = |check_facts: bool| {
        let mut f = hir::parse_section(&document, section).expect("HIR");
        let avoid = HashSet::new();
        let cx = Context {
            inlines: false,
            check_facts,
            ..context(&Nothing, &avoid)
        };
        assert!(super::run_pass(super::Pass::Memory, &mut f, &cx));
        hir::verify(&f).unwrap_or_else(|faults| panic!("{faults}\n{f}"));
        f
    };
    let relied_on = optimised(false);
    assert!(relied_on.asserted.is_empty(), "{relied_on}");
    assert_eq!(count(&relied_on, "list_len"), 1, "{relied_on}");
    assert_eq!(count(&relied_on, "list_get"), 1, "{relied_on}");
    let checked = optimised(true);
    assert_eq!(count(&checked, "list_len"), 2, "{checked}");
    // The length is the same, and the overwritten item is a float.
    let ops = checked
        .asserted
        .iter()
        .map(|v| checked.op(*v).name())
        .collect::<HashSet<_>>();
    assert_eq!(
        ops,
        HashSet::from(["guard_true", "guard_type"]),
        "{checked}"
    );
    assert!(checked.to_string().contains("\n  asserted ["), "{checked}");
}

/// A world that lacks answers at the queries with these numbers, and has them by the next query.
struct Forgetful {
    asked: Cell<u32>,
    lacking: &'static [u32],
}

impl World for Forgetful {
    fn lacks_answers(&self) -> bool {
        self.asked.update(|asked| asked + 1);
        self.lacking.contains(&self.asked.get())
    }
}

#[test]
fn passes_go_on_where_the_world_lacked_answers() {
    let text = r#"
code "f" {
  params 2
  stack 3
  local a
  local b
top:
  load_fast a
  load_fast b
  binary_op +
  store_fast a
  load_fast a
  load_fast b
  compare_op <, 1
  pop_jump_if_false out
  jump_backward top
out:
  load_fast a
  return_value
}
"#;
    let code = Arc::new(Document::parse(text).unwrap().codes[0].clone());
    let (avoid, met) = (HashSet::new(), HashMap::new());
    let ints = [Type::LONG_EXACT; 2];
    let built = hir::build(&code, Start::Function(&ints), &Nothing, &avoid, &met, None).unwrap();
    let optimised = |lacking: &'static [u32]| {
        let world = Forgetful {
            asked: Cell::new(0),
            lacking,
        };
        let cx = context(&world, &avoid);
        let (mut progress, mut f, mut stops) = (Progress::default(), built.clone(), 0);
        loop {
            let known = (!lacking.is_empty()).then_some(&mut progress);
            if run(&mut f, &cx, known, &mut |_, _| {}) {
                return (f.to_string(), stops);
            }
            stops += 1;
            f = progress.function().expect("some passes ran").clone();
        }
    };
    let (expected, _) = optimised(&[]);
    let all: [&[u32]; 4] = [&[1], &[2, 3, 9], &[12, 25, 40], &[5, 6, 7, 30]];
    for lacking in all {
        let (text, stops) = optimised(lacking);
        assert_eq!(stops, lacking.len(), "{lacking:?}");
        assert_eq!(text, expected, "{lacking:?}");
    }
}
