//! What an engine promises to whoever embeds it, shown on the tiny host of the examples.

#[path = "../examples/tiny_host/main.rs"]
#[allow(dead_code)]
mod tiny_host;

use cladonia::bytecode::{CodeBuilder, LocalKind, Op, Pc};
use cladonia::code::{CodeMemory, Config};
use cladonia::engine::{
    Account, CompileError, CompileOptions, CompileReason, Engine, Entry, Execution, Hot,
    InstallError, InstallReason, Installed, Task, UnitHandle,
};
use cladonia::exits::ExitKind;
use cladonia::facts::Assumption;
use cladonia::host::{
    AttrPlan, Callee, Counted, Global, Host, HostBuilder, HostError, HostFault, World,
};
use cladonia::lir::{Builder, Func, Signature, Term};
use cladonia::ll::{Field, Ty, Width};
use cladonia::types::{HostId, ObjectHandle, Type};
use std::sync::Arc;
use tiny_host::{Value, Vm};

const PROGRAM: &str = include_str!("../examples/tiny_host/program.tbc");

fn vm() -> Vm {
    Vm::new(PROGRAM).expect("a runtime")
}

fn call(vm: &Vm, name: &str, args: &[i64]) -> Result<i64, String> {
    let args = args.iter().copied().map(Value::int).collect();
    let result = vm.call(&vm.global(name).expect("a function"), args)?;
    Ok(result.as_int().expect("an int"))
}

/// A task for a function as it is now.
fn task(vm: &Vm, name: &str) -> Task {
    hot(&vm.global(name).expect("a function")).task(vm.parts())
}

fn hot(value: &Value) -> &Hot {
    value.hot().expect("a function")
}

/// Run a job on another thread until its unit is installed; gives how often it ran.
fn run_elsewhere(vm: &Vm, name: &str) -> Result<u32, InstallError> {
    let mut job = vm.engine.borrow_mut().job(task(vm, name), vm);
    for rounds in 1.. {
        let finished = std::thread::spawn(move || job.run())
            .join()
            .expect("no panic");
        let installed = vm.engine.borrow_mut().install(finished, vm)?;
        match installed {
            Installed::Again(again) => job = again,
            Installed::Unit(unit) => {
                hot(&vm.global(name).expect("a function")).installed(Ok(unit));
                return Ok(rounds);
            }
        }
    }
    unreachable!()
}

#[test]
fn the_example_runs() {
    tiny_host::main().unwrap();
}

#[test]
fn a_unit_compiled_on_another_thread_is_the_same() {
    let (here, there) = (vm(), vm());
    for vm in [&here, &there] {
        vm.threshold.set(u64::MAX);
        assert_eq!(call(vm, "fib", &[10]), Ok(55));
        vm.engine
            .borrow_mut()
            .set_options(CompileOptions::new().keep_dumps(true));
    }
    let unit = here
        .engine
        .borrow_mut()
        .build(task(&here, "fib"), &here)
        .unwrap();
    // What `fib` is, the bytecode shows; for its own code it is asked only where that is to stand in place of a call.
    assert_eq!(run_elsewhere(&there, "fib"), Ok(2));
    let other = hot(&there.global("fib").unwrap()).unit().unwrap();
    // Addresses apart, which are the runtimes' own.
    let text = |text: Option<&str>| {
        let text = text.expect("a dump").split_whitespace();
        text.filter(|word| !word.contains("0x"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    for stage in ["hir", "selected"] {
        assert_eq!(text(unit.dump(stage)), text(other.dump(stage)), "{stage}");
    }
    assert_eq!(call(&there, "fib", &[20]), Ok(6765));
    assert!(other.info().entered > 0);
}

/// A world that keeps one thing from those who do not ask for it themselves.
struct Shy<'a>(&'a Vm, std::cell::Cell<u32>);

impl World for Shy<'_> {
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        World::global(self.0, namespace, name)
    }

    fn callee(&self, callee: ObjectHandle) -> Callee {
        self.1.set(self.1.get() + 1);
        self.0.callee(callee)
    }

    fn load_attr(&self, receiver: Type, name: &str) -> AttrPlan {
        self.0.load_attr(receiver, name)
    }
}

#[test]
fn a_job_asks_again_for_what_its_frozen_world_lacks() {
    let vm = vm();
    vm.threshold.set(u64::MAX);
    // `load_attr` has no hint here, but its operand is a constant: only the compiler finds out.
    let mut b = CodeBuilder::new("f");
    let (pair, x) = (b.name("pair"), b.name("x"));
    let local = b.local("p", LocalKind::Local);
    b.emit(Op::LoadGlobal, pair).emit(Op::StoreFast, local);
    b.emit(Op::LoadFast, local)
        .emit(Op::LoadAttr, x)
        .emit(Op::ReturnValue, 0);
    vm.set_global("pair", Value::pair(Value::int(1), Value::int(2)));
    let task = Task::function(Arc::new(b.finish().unwrap()), vm.parts());
    let world = Shy(&vm, Default::default());
    let job = vm.engine.borrow_mut().job(task, &world);
    let (facts, asked) = (job.frozen().len(), world.1.get());
    let finished = std::thread::spawn(move || job.run()).join().unwrap();
    let installed = vm.engine.borrow_mut().install(finished, &world).unwrap();
    let Installed::Again(job) = installed else {
        panic!("{installed:?}")
    };
    assert_eq!(job.frozen().len(), facts + 1);
    assert_eq!(world.1.get(), asked, "what is known is not asked again");
    let finished = std::thread::spawn(move || job.run()).join().unwrap();
    let installed = vm.engine.borrow_mut().install(finished, &world).unwrap();
    assert!(matches!(installed, Installed::Unit(_)), "{installed:?}");
}

#[test]
fn a_watch_fired_during_a_compile_makes_the_result_stale() {
    let vm = vm();
    vm.threshold.set(u64::MAX);
    call(&vm, "fib", &[10]).unwrap();
    let job = vm.engine.borrow_mut().job(task(&vm, "fib"), &vm);
    let finished = std::thread::spawn(move || job.run());
    vm.set_global("fib", vm.global("power").unwrap());
    let finished = finished.join().unwrap();
    let changed = Assumption::NameUnchanged {
        namespace: 0,
        name: "fib".to_owned(),
    };
    let made = vm.engine.borrow_mut().install(finished, &vm);
    let error = made.expect_err("the name has changed");
    assert!(error.is_stale());
    assert_eq!(error.assumption(), Some(&changed));
    assert!(error.to_string().starts_with("`fib` is stale"), "{error}");
    assert_eq!(vm.engine.borrow().statistics().stale, 1);
    assert_eq!(vm.engine.borrow().units().len(), 0);
}

#[test]
fn a_change_that_concerns_nobody_leaves_a_job_alone() {
    let vm = vm();
    vm.threshold.set(u64::MAX);
    call(&vm, "fib", &[10]).unwrap();
    let job = vm.engine.borrow_mut().job(task(&vm, "fib"), &vm);
    vm.set_global("unrelated", Value::int(1));
    let again = vm.engine.borrow_mut().install(job.run(), &vm);
    let Ok(Installed::Again(job)) = again else {
        panic!("{again:?}")
    };
    vm.set_global("unrelated", Value::int(2));
    let made = vm.engine.borrow_mut().install(job.run(), &vm);
    assert!(matches!(made, Ok(Installed::Unit(_))), "{made:?}");
    assert_eq!(vm.engine.borrow().statistics().jobs, 0);
}

#[test]
fn a_change_makes_units_invalid_and_frees_their_code() {
    let vm = vm();
    vm.threshold.set(0);
    assert_eq!(call(&vm, "fib", &[15]), Ok(610));
    let unit = vm.engine.borrow().units()[0].id;
    let handle = vm.engine.borrow().unit(unit).unwrap();
    let used = vm.engine.borrow().statistics().code_memory;
    let fib = vm.global("fib").unwrap();
    vm.set_global("fib", fib);
    assert!(!handle.is_valid());
    assert!(vm.engine.borrow().units().is_empty());
    // The function's cell leads to the interpreter again.
    let fib = vm.global("fib").unwrap();
    assert!(!hot(&fib).cell().unwrap().is_native());
    assert!(hot(&fib).unit().is_none());
    assert_eq!(vm.engine.borrow().statistics().freed, 0);
    drop(handle);
    assert_eq!(vm.engine.borrow().statistics().freed, 1);
    assert!(vm.engine.borrow().statistics().code_memory < used);
    assert_eq!(call(&vm, "fib", &[15]), Ok(610));
}

#[test]
fn an_invalid_unit_is_not_entered() {
    let vm = vm();
    vm.threshold.set(0);
    call(&vm, "fib", &[15]).unwrap();
    let unit = vm.engine.borrow().units()[0].id;
    let unit = vm.engine.borrow().unit(unit).unwrap();
    let null = std::ptr::null_mut();
    // SAFETY: nothing is entered.
    let made = unsafe { unit.call(null, null, &[]) };
    assert_eq!(made.expect_err("no argument").arity(), Some((1, 0)));
    assert!(vm.engine.borrow().invalidate(&unit));
    assert!(!vm.engine.borrow().invalidate(&unit));
    // SAFETY: as above.
    let made = unsafe { unit.call(null, null, &[null]) };
    assert!(made.is_err_and(|error| error.is_invalid()));
}

#[test]
fn a_forgotten_unit_lives_as_long_as_its_handles() {
    let vm = vm();
    vm.threshold.set(0);
    call(&vm, "power", &[2, 3]).unwrap();
    let unit = vm.engine.borrow().units()[0].id;
    let handle = vm.engine.borrow().unit(unit).unwrap();
    assert!(vm.engine.borrow().forget(unit));
    assert!(!vm.engine.borrow().forget(unit));
    assert!(handle.is_valid());
    assert_eq!(call(&vm, "power", &[2, 10]), Ok(1024));
    assert!(handle.info().entered > 0);
}

/// A program in which native code calls native code.
const CALLER: &str = "
code \"callee\" {
  params 1
  local x
  stack 2
  const 1
  load_fast x
  load_const #0
  binary_op +  hint [LongExact, LongExact]
  return_value
}
code \"caller\" {
  params 1
  local x
  stack 3
  name callee
  const 10
  load_global callee, 1
  load_fast x
  call 1
  load_const #0
  binary_op *  hint [LongExact, LongExact]
  return_value
}
";

/// Replace the engine by another one, and give up what the callee holds of the old one.
fn drop_engine(vm: &Vm) {
    let host = vm.engine.borrow().host().clone();
    let other = Engine::new(host, CodeMemory::new(Config::new()).unwrap()).unwrap();
    drop(vm.engine.replace(other));
    assert!(hot(&vm.global("callee").unwrap()).unit().is_none());
}

/// What the callee's unit calls when it is entered.
extern "C" fn drop_engine_inside(vm: &Vm) {
    let memory = vm.engine.borrow().memory().clone();
    let used = memory.used();
    drop_engine(vm);
    assert_eq!(memory.used(), used, "freed while native code runs in it");
}

#[test]
fn an_engine_may_be_dropped_while_its_code_runs() {
    let vm = Vm::new(CALLER).unwrap();
    vm.threshold.set(u64::MAX);
    // The callee's way in: drop the engine, then make the frame.
    let parts = vm.parts();
    let mut enter = Func::new("enter", parts.get_enter().signature.clone());
    let params = enter.params().to_vec();
    let mut b = Builder::new(&mut enter);
    let helper = b.pconst(drop_engine_inside as extern "C" fn(&'static Vm) as usize as u64);
    b.call_indirect(Signature::new(&[Ty::Ptr], &[]), helper, &params[..1]);
    let fail = b.cold_block();
    let frame = b.inline(parts.get_enter(), &params, Some(fail));
    b.ret(&frame);
    b.switch_to(fail);
    b.terminate(Term::Fail);
    for (name, parts) in [("callee", parts.clone().enter(enter)), ("caller", parts)] {
        let function = vm.global(name).unwrap();
        let made = vm
            .engine
            .borrow_mut()
            .build(hot(&function).task(parts), &vm);
        hot(&function).installed(Ok(made.unwrap()));
    }
    let memory = vm.engine.borrow().memory().clone();
    let caller = hot(&vm.global("caller").unwrap()).unit().unwrap();
    let used = memory.used();

    assert_eq!(call(&vm, "caller", &[4]), Ok(50));

    // The callee's code is gone, the caller's is not: there is a handle.
    assert!(memory.used() < used);
    assert!(!caller.is_valid());
    assert!(
        caller.info().exits.len() == 1,
        "it left behind the call: {:?}",
        caller.info()
    );
    drop(caller);
    let before = memory.used();
    assert!(hot(&vm.global("caller").unwrap()).unit().is_none());
    assert!(memory.used() < before);
    assert_eq!(call(&vm, "caller", &[4]), Ok(50));
}

#[test]
fn a_job_of_an_engine_that_is_gone_ends() {
    let vm = vm();
    let job = vm.engine.borrow_mut().job(task(&vm, "fib"), &vm);
    let host = vm.engine.borrow().host().clone();
    let other = Engine::new(host, CodeMemory::new(Config::new()).unwrap()).unwrap();
    drop(vm.engine.replace(other));
    let finished = job.run();
    let made = vm.engine.borrow_mut().install(finished, &vm);
    let error = made.expect_err("the job belongs to the other engine");
    assert_eq!(error.reason(), InstallReason::OtherEngine);
}

#[test]
fn a_job_that_is_run_without_its_engine_says_so() {
    let vm = vm();
    let job = vm.engine.borrow_mut().job(task(&vm, "fib"), &vm);
    drop(vm);
    let finished = job.run();
    let error = finished.error().expect("no engine");
    assert_eq!(error.reason(), CompileReason::EngineDropped);
}

/// A world in which a question has an effect.
struct Restless<'a>(&'a Vm, Account);

impl World for Restless<'_> {
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        World::global(self.0, namespace, name)
    }

    fn callee(&self, callee: ObjectHandle) -> Callee {
        // The engine is borrowed here.
        self.1.changed(&Assumption::NameUnchanged {
            namespace: 0,
            name: "fib".to_owned(),
        });
        self.0.callee(callee)
    }
}

#[test]
fn what_changes_while_it_is_asked_about_makes_a_build_stale() {
    let vm = vm();
    vm.threshold.set(u64::MAX);
    call(&vm, "fib", &[10]).unwrap();
    let world = Restless(&vm, vm.engine.borrow().account());
    let made = vm.engine.borrow_mut().build(task(&vm, "fib"), &world);
    let error = made.expect_err("the world has changed");
    assert!(error.is_stale(), "{error}");
    let statistics = world.1.statistics();
    assert_eq!((statistics.stale, statistics.jobs), (1, 0));
    assert!(vm.engine.borrow_mut().build(task(&vm, "fib"), &vm).is_ok());
}

#[test]
fn an_account_outlives_the_engine_and_keeps_nothing_alive() {
    let vm = vm();
    vm.threshold.set(0);
    call(&vm, "fib", &[15]).unwrap();
    call(&vm, "power", &[2, 3]).unwrap();
    let (account, memory) = {
        let engine = vm.engine.borrow();
        (engine.account(), engine.memory().clone())
    };
    assert_eq!(account.units().len(), 2);
    assert_eq!(account.invalidate_all(), 2);
    assert_eq!((account.units().len(), account.invalidate_all()), (0, 0));
    assert_eq!(call(&vm, "fib", &[15]), Ok(610));
    assert!(account.statistics().calls > 2);
    drop(vm);
    assert_eq!(account.units().len(), 0);
    assert_eq!(memory.used(), 0, "all its code is gone");
}

/// A unit of `power` whose exits may be forced; the runtime calls it.
fn forcible(vm: &Vm) -> UnitHandle {
    vm.threshold.set(u64::MAX);
    call(vm, "power", &[2, 3]).unwrap();
    let task = task(vm, "power").forcible(true);
    let unit = vm.engine.borrow_mut().build(task, vm).unwrap();
    hot(&vm.global("power").unwrap()).installed(Ok(unit.clone()));
    unit
}

#[test]
fn a_forced_exit_is_taken_when_its_time_comes_and_changes_nothing() {
    let unit_exits = forcible(&vm()).unit().exits.len();
    let mut late = 0;
    for exit in 0..unit_exits {
        for rounds in 1..=3 {
            let vm = vm();
            let unit = forcible(&vm);
            let is_bet = unit.unit().exits[exit].kind != ExitKind::Raise;
            assert!(unit.force(exit, rounds));
            assert_eq!(call(&vm, "power", &[3, 5]), Ok(243));
            let exits = unit.info().exits;
            assert!(exits.len() < 2 && exits.iter().all(|known| known.number == exit));
            // Control comes to every guard once, and to those of the loop five times.
            match rounds {
                1 => assert_eq!(exits.len() == 1, is_bet, "{exit}"),
                _ => assert!(is_bet || exits.is_empty(), "{exit}"),
            }
            late += u64::from(rounds == 3) * exits.len() as u64;
            let counted = vm.engine.borrow().statistics().exits;
            assert_eq!(counted.values().sum::<u64>(), exits.len() as u64);
            // Once only; and not at all where it is called off.
            assert!(unit.force(exit, rounds) && unit.force(exit, 0));
            assert_eq!(call(&vm, "power", &[3, 5]), Ok(243));
            assert_eq!(unit.info().exits.len(), exits.len());
        }
    }
    assert!(late > 0);
}

#[test]
fn only_what_is_made_for_it_can_be_forced() {
    let vm = vm();
    assert!(!forcible(&vm).force(1000, 1));
    let unit = vm.engine.borrow_mut().build(task(&vm, "power"), &vm);
    assert!(!unit.unwrap().force(0, 1));
}

#[test]
fn a_job_makes_units_for_the_oracle() {
    let vm = vm();
    vm.threshold.set(u64::MAX);
    call(&vm, "fib", &[10]).unwrap();
    let oracle = CompileOptions::new().execution(Execution::Oracle);
    vm.engine.borrow_mut().set_options(oracle);
    run_elsewhere(&vm, "fib").unwrap();
    // Whoever runs the job decides: what is changed later concerns later jobs.
    vm.engine.borrow_mut().set_options(CompileOptions::new());
    assert_eq!(call(&vm, "fib", &[12]), Ok(144));
    let counts = vm.engine.borrow().oracle_counts();
    assert_eq!(counts.units, 1);
    // Native code calls native code: each of the calls is one of the interpreter's.
    let calls = (0..12).fold((1, 1), |(a, b), _| (b, a + b + 1)).0;
    assert_eq!(counts.entries, calls);
    let unit = hot(&vm.global("fib").unwrap()).unit().unwrap();
    assert_eq!(unit.unit().interpreted.len(), 1);
}

#[test]
fn what_is_inspected_is_not_installed() {
    let vm = vm();
    vm.threshold.set(u64::MAX);
    call(&vm, "fib", &[10]).unwrap();
    let task = task(&vm, "fib");
    let text = |vm: &Vm| {
        let mut engine = vm.engine.borrow_mut();
        assert!(!engine.options().keeps_dumps());
        let unit = engine.inspect(&task, vm).unwrap();
        unit.dumps
    };
    let (first, second) = (text(&vm), text(&vm));
    let stages: Vec<&str> = first.iter().map(|(stage, _)| *stage).collect();
    assert_eq!(stages, ["hir", "selected", "lir", "clif", "asm"]);
    assert_eq!(first[..3], second[..3]);
    let statistics = vm.engine.borrow().statistics();
    assert_eq!(
        (statistics.installed, vm.engine.borrow().units().len()),
        (0, 0)
    );
}

extern "C" fn free(_: *mut u8) {}

extern "C" fn box_int(_: i64) -> *mut u8 {
    std::ptr::null_mut()
}

/// A host of nothing but what the builder makes for simple hosts.
fn simple(class: usize, tagged_int: Option<u64>) -> Result<Host, HostError> {
    let mut host = HostBuilder::new("simple", HostId::new());
    host.partial().singletons(16, 32, 48).bools();
    let dealloc = host.define("dealloc", free as extern "C" fn(_));
    let box_int = host.define("box_int", box_int as extern "C" fn(_) -> _);
    host.define("exit", tiny_host_exit as extern "C" fn(_, _, _) -> _);
    let class = Field::new("class", class, Width::Ptr);
    let count = Field::new("count", 8, Width::I64);
    let int = Field::new("int", 16, Width::I64);
    let mut objects = Counted::new(class, count, dealloc).ints(int, box_int);
    if let Some(class) = tagged_int {
        objects = objects.tagged_ints(class);
    }
    host.counted(objects);
    host.frame_position(8).uninterrupted();
    host.finish()
}

extern "C" fn tiny_host_exit(_: u64, _: u64, _: *const u64) -> *mut u8 {
    std::ptr::null_mut()
}

#[test]
fn what_simple_hosts_have_alike_follows_from_their_layout() {
    for tag in [None, Some(4096)] {
        let host = simple(0, tag).unwrap();
        let blocks = |name: &str| host.intrinsic_func(name).order.len();
        // An int in the word takes a block for the test, and two for the answers.
        let more = if tag.is_some() { 2 } else { 0 };
        assert_eq!(blocks("class_of"), 1 + more);
        assert_eq!(blocks("int_unbox"), 1 + more);
        assert_eq!(blocks("int_box"), 1 + more);
        assert_eq!(blocks("incref"), 1 + more);
        assert_eq!(blocks("drop"), 3 + more);
    }
    let error = simple(12, None).expect_err("fields that overlap");
    assert_eq!(error.fault(), HostFault::Layout);
    assert!(error.layout().is_some());
}

/// Compile a function of one instruction sequence.
fn refusal(vm: &Vm, edit: impl FnOnce(&mut CodeBuilder)) -> CompileError {
    let mut b = CodeBuilder::new("f");
    edit(&mut b);
    let code = match b.finish() {
        Ok(code) => code,
        Err(error) => panic!("{error}"),
    };
    refused(vm, code)
}

fn refused(vm: &Vm, code: cladonia::bytecode::Code) -> CompileError {
    let task = Task::function(Arc::new(code), vm.parts());
    let error = vm.engine.borrow_mut().build(task, vm);
    let error = error.expect_err("a refusal");
    error.compile_error().expect("no compile").clone()
}

#[test]
fn what_a_partial_host_lacks_is_named() {
    let vm = vm();
    let error = refusal(&vm, |b| {
        let x = b.param("x");
        b.emit(Op::LoadFast, x)
            .emit(Op::BuildList, 1)
            .emit(Op::ReturnValue, 0);
    });
    assert_eq!(error.missing(), Some(("helper", "build_list")));
    let text = "`f` needs the helper `build_list`, which the host `tiny` lacks";
    assert_eq!(error.to_string(), text);
}

#[test]
fn bad_bytecode_is_refused_with_all_that_is_wrong() {
    let vm = vm();
    let mut b = CodeBuilder::new("f");
    let x = b.param("x");
    b.emit(Op::LoadFast, x).emit(Op::ReturnValue, 0);
    let mut code = b.finish().unwrap();
    code.instrs[0].arg = 7;
    let error = refused(&vm, code);
    assert!(error.is_host_bug());
    assert_eq!(
        error.verifier_errors().map(|errors| errors.0.len()),
        Some(1)
    );
}

#[test]
fn an_unsupported_instruction_is_refused() {
    let vm = vm();
    let error = refusal(&vm, |b| {
        let x = b.param("x");
        b.emit(Op::LoadFast, x)
            .emit(Op::ExitInitCheck, 0)
            .emit(Op::LoadFast, x)
            .emit(Op::ReturnValue, 0);
    });
    assert!(error.is_unsupported(), "{error}");
    assert_eq!(error.line(), Some(1));
}

/// A world that can't watch names.
struct Blind<'a>(&'a Vm);

impl World for Blind<'_> {
    fn global(&self, namespace: u64, name: &str) -> Option<Global> {
        World::global(self.0, namespace, name)
    }

    fn callee(&self, callee: ObjectHandle) -> Callee {
        self.0.callee(callee)
    }

    fn watch(&self, _: &Assumption) -> bool {
        false
    }
}

#[test]
fn what_can_not_be_watched_is_not_relied_on() {
    let vm = vm();
    vm.threshold.set(u64::MAX);
    call(&vm, "fib", &[10]).unwrap();
    let made = vm.engine.borrow_mut().build(task(&vm, "fib"), &Blind(&vm));
    let error = made.expect_err("a name that can't be watched");
    assert!(error.is_unwatched(), "{error}");
}

#[test]
fn two_engines_with_two_hosts_work_side_by_side() {
    let (a, b) = (vm(), vm());
    for n in 0..20 {
        assert_eq!(call(&a, "fib", &[n]), call(&b, "fib", &[n]));
        assert_eq!(call(&a, "power", &[n, 3]), Ok(n * n * n));
        assert_eq!(call(&b, "power", &[n, 2]), Ok(n * n));
    }
    // What changes in one does not concern the other.
    a.set_global("fib", b.global("power").unwrap());
    assert!(
        a.engine
            .borrow()
            .units()
            .iter()
            .all(|unit| unit.name != "fib")
    );
    assert!(
        b.engine
            .borrow()
            .units()
            .iter()
            .any(|unit| unit.name == "fib")
    );
    drop(a);
    assert_eq!(call(&b, "fib", &[20]), Ok(6765));
}

#[test]
fn engines_on_several_threads_do_not_meet() {
    let threads = (0..4).map(|k| {
        std::thread::spawn(move || {
            let vm = vm();
            (0..25)
                .map(|n| call(&vm, "fib", &[n % 12 + k]).unwrap())
                .sum::<i64>()
        })
    });
    let sums: Vec<i64> = threads
        .collect::<Vec<_>>()
        .into_iter()
        .map(|t| t.join().unwrap())
        .collect();
    let fib = |n: i64| (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
    for (k, sum) in (0..).zip(sums) {
        assert_eq!(sum, (0..25).map(|n| fib(n % 12 + k)).sum::<i64>());
    }
}

#[test]
fn back_edges_of_a_loop_are_counted_apart_from_calls() {
    let vm = vm();
    let function = vm.global("power").unwrap();
    let power = hot(&function);
    let back = power.code().instrs.iter();
    let header = Pc(back.clone().find(|i| i.op == Op::JumpBackward).unwrap().arg);
    assert!(!power.count_back_edge(header, 2) && !power.count_back_edge(header, 2));
    assert!(
        power.count_back_edge(header, 2),
        "the third jump is above two"
    );
    assert!(power.loop_unit(header).is_none());
    let live = vec![Type::LONG_EXACT; power.code().locals.len()];
    let task = power.loop_task(header, live, vm.parts());
    assert!(!power.count_back_edge(header, 2), "a task is open");
    power.loop_installed(header, vm.engine.borrow_mut().build(task, &vm));
    let unit = power.loop_unit(header).expect("a unit");
    assert_eq!(unit.info().entry, Entry::Loop(header));
    assert!(!power.count_back_edge(header, 2), "it has a unit");
    assert!(power.unit().is_none(), "the function has none");
    vm.engine.borrow().invalidate(&unit);
    assert!(power.loop_unit(header).is_none());
    assert!(power.count_back_edge(header, 2));
    assert!(power.loop_refusal(header).is_none() && power.refusal().is_none());
}

#[test]
fn a_loop_is_entered_from_a_frame_of_the_interpreter() {
    let vm = vm();
    let function = vm.global("power").unwrap();
    let code = hot(&function).code().clone();
    let (_, back) = code
        .pcs()
        .find(|(_, instr)| instr.op == Op::JumpBackward)
        .unwrap();
    let types = vec![Type::LONG_EXACT; code.locals.len()];
    let task = Task::on_stack(code.clone(), Pc(back.arg), types, vm.parts());
    let unit = vm.engine.borrow_mut().build(task, &vm).unwrap();
    assert_eq!(unit.info().entry, Entry::Loop(Pc(back.arg)));
    // A frame of `power(3, 4)` where the loop begins: function, position, depth, locals, and room for the rest.
    let int = |n: u64| 2 * n + 1;
    // SAFETY: a value is a word.
    let function = unsafe { std::mem::transmute_copy::<Value, u64>(&function) };
    let mut frame = vec![function, 0, 0, int(3), int(4), int(1)];
    frame.resize(64, 0);
    let this = std::ptr::from_ref(&vm).cast_mut().cast();
    // SAFETY: a loop unit is called with a frame of its function; the loop ends without an exit.
    let result = unsafe { unit.call(this, frame.as_mut_ptr().cast(), &[]) };
    assert_eq!(result.map(|word| word as u64), Ok(int(81)));
    let info = unit.info();
    assert_eq!((info.entered, info.exits.len()), (1, 0));
    assert_eq!(info.iterations, 4);
}
