//! A host with a tracing collector that moves objects: what its interpreter gives, machine code gives too, though all
//! objects move at every allocation, every call and every store into a list; and a reference that the collector is not
//! shown would be noticed.

mod heap;
mod vm;

use cladonia::bytecode::Document;
use cladonia::code::{CodeMemory, Config, NativeStack, VisitError};
use cladonia::engine::{CompileOptions, CompileReason, Engine, Entry, Execution, InstallReason, Replay, Request};
use cladonia::host::{Lifetimes, Snapshot, print_host, read_units};
use vm::Vm;

const PROGRAM: &str = include_str!("program.tbc");

/// Calls until a function is compiled, with what it calls.
const WARM: u64 = 3;

/// What the interpreter gives.
fn interpreted(name: &str, args: &[i64]) -> Result<String, String> {
    Vm::new(PROGRAM).run(name, args)
}

/// A runtime in which these calls have been compiled.
fn warm(name: &str, args: &[i64]) -> Vm {
    let vm = Vm::new(PROGRAM);
    vm.threshold.set(WARM);
    for _ in 0..2 * WARM {
        let _ = vm.run(name, args);
    }
    assert!(vm.function(name).unit().is_some(), "{name}: {:?}", vm.function(name).refusal());
    vm
}

/// Native code agrees with the interpreter, and the collector has moved what it held.
fn check(name: &str, args: &[i64], last: &[i64]) -> Vm {
    let vm = warm(name, args);
    for args in [args, last] {
        let (before, collections) =
            (vm.function(name).unit().expect("a unit").info().entered, vm.heap.collections.get());
        vm.shown.set(0);
        assert_eq!(vm.run(name, args), interpreted(name, args), "{name}{args:?}");
        assert!(vm.heap.collections.get() > collections);
        assert!(vm.shown.get() > 0, "{name}: nothing in native frames has moved");
        if let Some(unit) = vm.function(name).unit() {
            assert!(unit.info().entered > before);
        }
    }
    assert_eq!(vm.fault.take(), None);
    vm
}

#[test]
fn floats_and_tuples_live_across_allocations() {
    check("floats", &[5], &[9]);
}

#[test]
fn results_of_native_calls_live_across_native_calls() {
    check("tree", &[4], &[6]);
}

#[test]
fn an_intrinsic_may_collect() {
    check("lists", &[4], &[6]);
}

#[test]
fn outputs_of_helpers_are_references() {
    check("swap", &[4], &[7]);
}

#[test]
fn arguments_of_calls_are_references() {
    check("apply", &[4], &[6]);
}

#[test]
fn exits_hand_over_what_the_collector_has_made_of_their_values() {
    let vm = check("exits", &[6, 0], &[6, 4]);
    let units = vm.engine.borrow().units();
    let exits: u64 = units.iter().flat_map(|unit| &unit.exits).map(|exit| exit.taken).sum();
    assert!(exits > 0, "no exit was taken");
}

#[test]
fn what_raises_leaves_no_frame_behind() {
    let vm = check("item", &[4, 1], &[4, -1]);
    assert_eq!(vm.run("item", &[4, 2]), Err("index out of range".to_owned()));
    assert_eq!(vm.run("item", &[4, 0]), interpreted("item", &[4, 0]));
}

#[test]
fn native_and_interpreted_frames_take_turns() {
    check("guarded", &[5, 0], &[5, 1]);
    let vm = warm("guarded", &[5, 0]);
    // Each call in the interpreter from native code is a walk that ends and begins again.
    for k in [1, -1, 0, -2] {
        assert_eq!(vm.run("guarded", &[6, k]), interpreted("guarded", &[6, k]), "{k}");
    }
}

/// Run with one reference after the other kept from the collector; gives how many there were, and of those the ones that
/// made no difference.
fn forgetting(name: &str, args: &[i64], last: &[i64]) -> (u64, Vec<u64>) {
    let expected = interpreted(name, last);
    let run = |forget: Box<dyn Fn(u64) -> bool>| {
        let vm = warm(name, args);
        vm.shown.set(0);
        *vm.forget.borrow_mut() = forget;
        (vm.run(name, last), vm.shown.get())
    };
    let (result, shown) = run(Box::new(|_| false));
    assert_eq!(result, expected);
    assert_ne!(run(Box::new(|_| true)).0, expected, "{name} does not need what native frames hold");
    let unnoticed = (0..shown).filter(|&n| run(Box::new(move |number| number == n)).0 == expected);
    (shown, unnoticed.collect())
}

#[test]
fn a_reference_that_is_not_shown_is_noticed() {
    for (name, args, last) in [
        ("floats", &[2][..], &[2][..]),
        ("tree", &[2], &[2]),
        ("lists", &[2], &[2]),
        ("swap", &[2], &[2]),
        ("apply", &[2], &[2]),
        ("exits", &[3, 0], &[3, 3]),
        ("item", &[2, 1], &[2, 0]),
    ] {
        let (shown, unnoticed) = forgetting(name, args, last);
        // The rest is needed by exits that were not taken.
        assert!(unnoticed.len() as u64 * 2 < shown, "{name}: {unnoticed:?} of {shown}");
    }
}

#[test]
fn nothing_is_counted() {
    let vm = Vm::new(PROGRAM);
    vm.engine.borrow_mut().set_options(CompileOptions::new().keep_dumps(true));
    vm.threshold.set(WARM);
    for name in ["floats", "tree", "lists", "swap", "apply"] {
        (0..2 * WARM).for_each(|_| drop(vm.run(name, &[3])));
        let unit = vm.function(name).unit().expect("a unit");
        let selected = unit.dump("selected").expect("a dump");
        assert!(!selected.contains("incref") && !selected.contains("decref"), "{selected}");
        assert!(unit.dump("lir").expect("a dump").contains("\n  refs v"));
        assert!(unit.dump("clif").expect("a dump").contains("stack_map=["));
    }
}

#[test]
fn nothing_native_means_nothing_to_visit() {
    let vm = Vm::new(PROGRAM);
    let stack = NativeStack::new();
    let memory = vm.engine.borrow().memory().clone();
    assert_eq!(stack.visit(&memory, |_| panic!("a reference")), Ok(()));
    let below = stack.enter(|| stack.visit(&memory, |_| panic!("a reference")));
    assert_eq!(below, Err(VisitError::NoCall));
    assert!(stack.is_empty());
}

#[test]
fn a_collection_where_none_was_to_be_is_an_error() {
    let vm = Vm::described(PROGRAM, false);
    vm.threshold.set(WARM);
    (0..2 * WARM).for_each(|_| drop(vm.run("lists", &[2])));
    vm.fault.take();
    let _ = vm.run("lists", &[2]);
    let function = "lists".to_owned();
    assert_eq!(vm.fault.take(), Some(VisitError::NotCollecting { function }));
}

#[test]
fn the_lir_interpreter_is_not_for_objects_that_move() {
    let vm = Vm::new(PROGRAM);
    let oracle = CompileOptions::new().execution(Execution::Oracle);
    vm.engine.borrow_mut().set_options(oracle);
    let task = vm.function("tree").task(vm.parts());
    match vm.engine.borrow_mut().build(task, &vm) {
        Err(error) => {
            let reason = InstallReason::NotCompiled(CompileReason::InvalidRequest);
            assert_eq!(error.reason(), reason);
            assert!(error.to_string().contains("collector"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_replay_is_traced_too() {
    let vm = Vm::new(PROGRAM);
    let replay = Replay {
        code: (**vm.function("leaf").code()).clone(),
        entry: Entry::Function,
        live: Vec::new(),
        avoid: Default::default(),
        met: Default::default(),
        parts: vm.parts(),
        world: Snapshot::default(),
    };
    let host = vm.engine.borrow().host().clone();
    let compile = |engine: &mut Engine, replay: &Replay| {
        engine.set_options(CompileOptions::new().keep_dumps(true));
        let unit = engine.compile(Request::from(replay)).expect("a unit");
        let (_, lir) = unit.dumps.iter().find(|(stage, _)| *stage == "lir").expect("a dump");
        lir.clone()
    };
    let lir = compile(&mut vm.engine.borrow_mut(), &replay);
    let text = format!("{}{}", print_host(&host), replay.print(&host));
    // What a partial host lacks has no address.
    let text = text.replace(" 0x0 (", " 0x1 (");
    let units = read_units(&Document::parse(&text).expect("a document")).expect("a unit");
    let read = &units[0];
    assert_eq!(read.host.lifetimes(), host.lifetimes());
    assert!(matches!(read.host.lifetimes(), Lifetimes::Traced { .. }));
    let mut engine =
        Engine::new(read.host.clone(), CodeMemory::new(Config::new()).expect("memory")).expect("an engine");
    assert_eq!(compile(&mut engine, &read.replay), lir);
}
