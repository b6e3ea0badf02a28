//! Low-level code over checked memory: the reference's test cases of the interpreter, as far as
//! they apply to LIR.

use super::*;
use crate::lir::{Mode, OpEffects, parse, verify};
use crate::ll::{Flavour, Heap, Ty, Types, Value as LlValue};

fn func(text: &str, machine: &Simulated) -> Func {
    let text = format!("function test{text}");
    let func = parse(&text, machine.helpers()).unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify(&func, Mode::Unit, machine.helpers()).unwrap();
    func
}

/// `raise(i64)` makes the exception with a number pending and returns null.
fn machine() -> Simulated {
    let mut machine = Simulated::new();
    let sig = Signature::new(&[Ty::I64], &[Ty::Ptr]);
    machine.helper("raise", sig, OpEffects::ANY, |machine, args| {
        let names = ["IndexError", "ValueError", "TypeError"];
        machine.raise(names[args[0] as usize]);
        Ok([0, 0])
    });
    let sig = Signature::new(&[Ty::I64], &[Ty::Ptr]);
    machine.helper("new", sig, OpEffects::ANY, |machine, args| {
        let shape = Shape::untyped(args[0] as u32);
        Ok([machine.allocate("box", &shape, 0)?, 0])
    });
    let sig = Signature::new(&[Ty::Ptr], &[]);
    machine.helper("free", sig, OpEffects::ANY, |machine, args| {
        machine.release(args[0])?;
        Ok([0, 0])
    });
    machine
}

/// The seed's example: 42 raises IndexError, 43 ValueError, others are returned.
const RAISING: &str = "(i64) -> ptr {\nblock0(v0: i64):\n  v1 = iconst 42\n  v2 = icmp eq v0, v1\n  br v2, block1, block2\n\
    block1:\n  v3 = iconst 0\n  v4 = call raise(v3)\n  return v4\n\
    block2:\n  v5 = iconst 43\n  v6 = icmp eq v0, v5\n  br v6, block3, block4\n\
    block3:\n  v7 = iconst 1\n  v8 = call raise(v7)\n  exit exit0(v8)\n\
    block4:\n  v9 = i2p v0\n  return v9\n}";

#[test]
fn the_exceptions_of_the_seeds_example() {
    let mut machine = machine();
    let raising = func(RAISING, &machine);
    assert_eq!(interpret(&raising, &[41], &mut machine), Ok(vec![41]));
    interpret_raises("IndexError", &raising, &[42], &mut machine).unwrap();
    // By an exit, as compiled code raises if other code may inspect its frame.
    interpret_raises("ValueError", &raising, &[43], &mut machine).unwrap();
    let wrong = interpret_raises("IndexError", &raising, &[43], &mut machine).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "expected IndexError, found raised ValueError"
    );
    let none = interpret_raises("IndexError", &raising, &[41], &mut machine).unwrap_err();
    assert_eq!(
        none.to_string(),
        "expected IndexError, found the result [29]"
    );
}

#[test]
fn a_caller_intercepts_an_exception_and_raises_another() {
    let mut machine = machine();
    let raising = func(RAISING, &machine);
    let address = machine.function(raising).unwrap();
    let caller = func(
        "(ptr, i64) -> ptr {\n  sig0 (i64) -> ptr\nblock0(v0: ptr, v1: i64):\n  v2 = call_indirect sig0 v0(v1)\n  \
         v3 = pconst 0x0\n  v4 = icmp eq v2, v3\n  br v4, block1, block2\nblock1:\n  v5 = iconst 2\n  \
         v6 = call raise(v5)\n  return v6\nblock2:\n  return v2\n}",
        &machine,
    );
    assert_eq!(
        interpret(&caller, &[address, 41], &mut machine),
        Ok(vec![41])
    );
    interpret_raises("TypeError", &caller, &[address, 42], &mut machine).unwrap();
}

#[test]
fn recursion_does_not_overwrite_the_callers_values() {
    // fib through an address: each activation has values and slots of its own.
    let mut machine = machine();
    let text = "(ptr, i64) -> i64 {\n  slot0 8\n  sig0 (ptr, i64) -> i64\nblock0(v0: ptr, v1: i64):\n  v2 = stack_addr 0\n  \
                store.i64 v2, v1\n  v3 = iconst 2\n  v4 = icmp slt v1, v3\n  br v4, block1, block2\nblock1:\n  return v1\n\
                block2:\n  v5 = iconst 1\n  v6 = isub v1, v5\n  v7 = call_indirect sig0 v0(v0, v6)\n  v8 = load.i64 v2\n  \
                v9 = isub v8, v3\n  v10 = call_indirect sig0 v0(v0, v9)\n  v11 = iadd v7, v10\n  return v11\n}";
    let fib = func(text, &machine);
    let address = machine.function(fib.clone()).unwrap();
    assert_eq!(interpret(&fib, &[address, 15], &mut machine), Ok(vec![610]));
}

#[test]
fn memory_that_is_not_freed_is_reported_and_frees_are_checked() {
    let mut machine = machine();
    let keeps = func(
        "() {\nblock0:\n  v0 = iconst 16\n  v1 = call new(v0)\n  return\n}",
        &machine,
    );
    let error = interpret(&keeps, &[], &mut machine).unwrap_err();
    assert_eq!(error.to_string(), "not freed: box #0");
    let gives_back = func(
        "() {\nblock0:\n  v0 = iconst 16\n  v1 = call new(v0)\n  call free(v1)\n  return\n}",
        &machine,
    );
    assert_eq!(interpret(&gives_back, &[], &mut machine), Ok(vec![]));
    let twice = func(
        "() {\nblock0:\n  v0 = iconst 16\n  v1 = call new(v0)\n  call free(v1)\n  call free(v1)\n  return\n}",
        &machine,
    );
    let error = interpret(&twice, &[], &mut machine).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`test`, block0, call free(v1): box #2 is freed twice"
    );
}

#[test]
fn stack_slots_are_uninitialised_and_die_with_their_activation() {
    let mut machine = machine();
    let says = |text: &str, machine: &mut Simulated| {
        interpret(&func(text, machine), &[], machine)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        says(
            "() -> i64 {\n  slot0 8\nblock0:\n  v0 = stack_addr 0\n  v1 = load.i64 v0\n  return v1\n}",
            &mut machine
        ),
        "`test`, block0, v1 = load.i64 v0: `byte 0` of slot0 of test #0 is read before it is written"
    );
    let gives = func(
        "() -> ptr {\n  slot0 8\nblock0:\n  v0 = stack_addr 0\n  return v0\n}",
        &machine,
    );
    let address = machine.function(gives).unwrap();
    let uses = func(
        "(ptr) -> i64 {\n  sig0 () -> ptr\nblock0(v0: ptr):\n  v1 = call_indirect sig0 v0()\n  v2 = load.i64 v1\n  return v2\n}",
        &machine,
    );
    assert_eq!(
        interpret(&uses, &[address], &mut machine)
            .unwrap_err()
            .to_string(),
        "`test`, block0, v2 = load.i64 v1: use of slot0 of test #2 after it was freed"
    );
}

#[test]
fn lir_works_on_typed_objects_of_a_heap() {
    let mut types = Types::new();
    let point = types
        .gc_struct("point", &[("x", Types::SIGNED), ("f", Types::FLOAT)])
        .unwrap();
    let array = types.gc_array(Types::SIGNED).unwrap();
    let mut heap = Heap::new(&types, machine());
    let p = heap.malloc(point, None, Flavour::Gc).unwrap();
    heap.set_field(p, "x", LlValue::Signed(40)).unwrap();
    let bump = func(
        "(ptr) -> i64 {\nblock0(v0: ptr):\n  v1 = load.i64 v0\n  v2 = iconst 2\n  v3 = iadd v1, v2\n  store.i64 v0, v3\n  return v3\n}",
        &heap.memory,
    );
    assert_eq!(
        interpret(&bump, &[p.address], &mut heap.memory),
        Ok(vec![42])
    );
    assert_eq!(heap.get_field(p, "x"), Ok(LlValue::Signed(42)));
    let wrong = func(
        "(ptr) -> i64 {\nblock0(v0: ptr):\n  v1 = load.i64 v0+8\n  return v1\n}",
        &heap.memory,
    );
    assert_eq!(
        interpret(&wrong, &[p.address], &mut heap.memory)
            .unwrap_err()
            .to_string(),
        "`test`, block0, v1 = load.i64 v0+8: i64 at +8 of GcStruct point #0, where `f` is"
    );
    // One past the last item of an array of three.
    let a = heap.malloc(array, Some(3), Flavour::Gc).unwrap();
    let past = func(
        "(ptr) -> i64 {\nblock0(v0: ptr):\n  v1 = load.i64 v0+32\n  return v1\n}",
        &heap.memory,
    );
    assert_eq!(
        interpret(&past, &[a.address], &mut heap.memory)
            .unwrap_err()
            .to_string(),
        "`test`, block0, v1 = load.i64 v0+32: i64 at +32 of GcArray of Signed #1, which has 32 bytes"
    );
}

#[test]
fn an_endless_loop_is_given_up() {
    let mut machine = machine();
    let endless = func(
        "() {\nblock0:\n  jump block1\nblock1:\n  jump block1\n}",
        &machine,
    );
    let error = interpret(&endless, &[], &mut machine).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("more than 10000000 blocks were executed"),
        "{error}"
    );
}

#[test]
fn a_helper_has_no_effects_that_it_does_not_declare() {
    let mut machine = Simulated::new();
    let sig = || Signature::new(&[], &[]);
    machine.helper("raises", sig(), OpEffects::PURE, |machine, _| {
        machine.raise("ValueError");
        Ok([0, 0])
    });
    let reads = OpEffects::READS;
    machine.helper("allocates", sig(), reads, |machine, _| {
        Ok([machine.allocate("box", &Shape::untyped(8), 0)?, 0])
    });
    for name in ["raises", "allocates"] {
        let calls = func(
            &format!("() {{\nblock0:\n  call {name}()\n  return\n}}"),
            &machine,
        );
        let error = interpret(&calls, &[], &mut machine).unwrap_err();
        let expected = format!(
            "`test`, block0, call {name}(): `{name}` {name}, which its effects do not declare"
        );
        assert_eq!(error.to_string(), expected);
        machine.take_raised();
    }
}
