//! Tests of the interpreter alone; `codegen/tests/oracle.rs` compares it with machine code.

use super::*;
use crate::lir::{Mode, parse, verify};
use crate::ll::Ty;

fn run(text: &str, args: &[u64]) -> Result<Outcome, Box<Fault>> {
    run_with(text, &PrimaryMap::new(), args)
}

fn run_with(
    text: &str,
    helpers: &PrimaryMap<HelperId, Helper>,
    args: &[u64],
) -> Result<Outcome, Box<Fault>> {
    let text = format!("function test{text}");
    let func = parse(&text, helpers).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let fails = text.contains("  fail");
    let mode = if fails { Mode::Intrinsic } else { Mode::Unit };
    verify(&func, mode, helpers).unwrap();
    // SAFETY: the functions below access their own stack slots, and call the given helpers.
    let mut machine = unsafe { Native::new() };
    execute(&func, helpers, args, &mut machine)
}

fn returns(text: &str, args: &[u64], expected: &[u64]) {
    assert_eq!(
        run(text, args).unwrap(),
        Outcome::Return(expected.to_vec()),
        "{text}"
    );
}

#[test]
fn arguments_of_a_jump_are_read_before_parameters_are_written() {
    // Fibonacci's pair, and an exchange.
    let fib = "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = iconst 0\n  v2 = iconst 1\n  jump block1(v0, v1, v2)\n\
               block1(v3: i64, v4: i64, v5: i64):\n  v6 = icmp eq v3, v1\n  br v6, block3, block2\n\
               block2:\n  v7 = isub v3, v2\n  v8 = iadd v4, v5\n  jump block1(v7, v5, v8)\nblock3:\n  return v4\n}";
    returns(fib, &[30], &[832_040]);
    let swap = "(i64, i64) -> (i64, i64) {\nblock0(v0: i64, v1: i64):\n  jump block1(v0, v1, v0)\n\
                block1(v2: i64, v3: i64, v4: i64):\n  v5 = icmp eq v2, v4\n  br v5, block1(v3, v2, v4), block2\n\
                block2:\n  return v2, v3\n}";
    returns(swap, &[1, 2], &[2, 1]);
}

#[test]
fn intrinsics_fail_and_units_exit_with_their_words() {
    let fail = "(bool) -> i64 {\nblock0(v0: bool):\n  br v0, block1, block2\nblock1:\n  fail\nblock2:\n  v1 = iconst 3\n  return v1\n}";
    assert_eq!(run(fail, &[1]).unwrap(), Outcome::Fail);
    assert_eq!(run(fail, &[0]).unwrap(), Outcome::Return(vec![3]));
    let exit = "(ptr, f64, bool) -> ptr {\nblock0(v0: ptr, v1: f64, v2: bool):\n  exit exit7(v2, v0, v1)\n}";
    let bits = 2.5f64.to_bits();
    assert_eq!(
        run(exit, &[99, bits, 1]).unwrap(),
        Outcome::Exit {
            exit: ExitId::new(7),
            words: vec![1, 99, bits]
        }
    );
}

#[test]
fn undefined_results_of_machine_code_are_traps_with_a_place() {
    let says = |text: &str, args: &[u64]| run(text, args).unwrap_err().to_string();
    let binary = |op: &str| {
        format!(
            "(i64, i64) -> i64 {{\nblock0(v0: i64, v1: i64):\n  v2 = {op} v0, v1\n  return v2\n}}"
        )
    };
    let min = i64::MIN.cast_unsigned();
    assert_eq!(
        says(&binary("sdiv"), &[7, 0]),
        "`test`, block0, v2 = sdiv v0, v1: `sdiv` of 7 by 0"
    );
    assert_eq!(
        says(&binary("srem"), &[min, u64::MAX]),
        "`test`, block0, v2 = srem v0, v1: `srem` of -9223372036854775808 by -1"
    );
    assert_eq!(
        says(&binary("ishl"), &[1, 64]),
        "`test`, block0, v2 = ishl v0, v1: `ishl` by 64"
    );
    assert_eq!(
        says(
            "() {\nblock0:\n  jump block1\nblock1:\n  unreachable\n}",
            &[]
        ),
        "`test`, block1, end: control reached the end of block1, which is marked as unreachable"
    );
    assert_eq!(
        says(
            "(ptr) {\n  sig0 ()\nblock0(v0: ptr):\n  call_indirect sig0 v0()\n  return\n}",
            &[0]
        ),
        "`test`, block0, call_indirect sig0 v0(): a call through null"
    );
}

extern "C" fn mixed(
    a: i64,
    b: f64,
    c: i64,
    d: bool,
    e: i64,
    f: *const u8,
    g: i64,
    h: i64,
    i: i64,
    j: f64,
) -> f64 {
    let ints = [a, c, i64::from(d), e, f as i64, g, h, i];
    let sum: i64 = (1..).zip(ints).map(|(n, x)| n * x).sum();
    sum as f64 + b + 2.0 * j
}

extern "C" fn ten_floats(
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    e: f64,
    f: f64,
    g: f64,
    h: f64,
    i: f64,
    j: f64,
) -> f64 {
    let all = [a, b, c, d, e, f, g, h, i, j];
    (1..).zip(all).map(|(n, x)| f64::from(n) * x).sum()
}

#[repr(C)]
struct Pair<A, B>(A, B);
extern "C" fn int_bool(a: i64) -> Pair<i64, bool> {
    Pair(a + 1, a > 3)
}
extern "C" fn float_float(a: f64) -> Pair<f64, f64> {
    Pair(a + 1.0, a - 1.0)
}
extern "C" fn int_float(a: i64, b: f64) -> Pair<i64, f64> {
    Pair(a + 1, b + 0.5)
}
extern "C" fn nothing() {}

#[test]
fn calls_pass_and_take_every_kind_of_argument_and_result() {
    use Ty::{Bool, F64, I64, Ptr};
    let call = |address: *const (), params: &[Ty], results: &[Ty], args: &[u64]| {
        let signature = Signature::new(params, results);
        // SAFETY: the signatures are those of the functions above.
        unsafe { call_address(address as u64, &signature, args) }.unwrap()
    };
    let float = f64::to_bits;
    let args = [1, float(0.25), 2, 1, 3, 4, 5, 6, 7, float(1.5)];
    let params = [I64, F64, I64, Bool, I64, Ptr, I64, I64, I64, F64];
    let expected = 1 + 4 + 3 + 12 + 20 + 30 + 42 + 56;
    assert_eq!(
        f64::from_bits(call(mixed as *const (), &params, &[F64], &args)[0]),
        f64::from(expected) + 3.25
    );
    let floats: Vec<u64> = (1..=10).map(|n| float(f64::from(n))).collect();
    let found = call(ten_floats as *const (), &[F64; 10], &[F64], &floats);
    assert_eq!(f64::from_bits(found[0]), 385.0);
    assert_eq!(
        call(int_bool as *const (), &[I64], &[I64, Bool], &[4])[0],
        5
    );
    let found = call(float_float as *const (), &[F64], &[F64, F64], &[float(2.0)]);
    assert_eq!(found.map(f64::from_bits), [3.0, 1.0]);
    if cfg!(target_arch = "x86_64") {
        let found = call(
            int_float as *const (),
            &[I64, F64],
            &[I64, F64],
            &[1, float(2.0)],
        );
        assert_eq!((found[0], f64::from_bits(found[1])), (2, 2.5));
    }
    assert_eq!(call(nothing as *const (), &[], &[], &[]), [0, 0]);
    let signature = Signature::new(&[I64; 300], &[]);
    // SAFETY: nothing is called.
    let error = unsafe { call_address(1, &signature, &[0; 300]) }.unwrap_err();
    assert!(
        matches!(error, CallError::TooManyArguments { .. }),
        "{error}"
    );
}

macro_rules! many {
    ($($name:ident)*) => {
        extern "C" fn many($($name: u64),*) -> u64 {
            [$($name),*].into_iter().zip(1..).map(|(x, n)| x * n).sum()
        }
    };
}
many!(a b c d e f g h i j k l m n o p q r s t u v w x y z);

#[test]
#[cfg(target_arch = "x86_64")]
fn more_arguments_than_the_usual_room_on_the_stack_are_passed() {
    let signature = Signature::new(&[Ty::Ptr; 26], &[Ty::I64]);
    let args: Vec<u64> = (100..126).collect();
    // SAFETY: it is the signature of the function above.
    let found = unsafe { call_address(many as *const () as u64, &signature, &args) };
    assert_eq!(
        found.unwrap()[0],
        args.iter().zip(1..).map(|(x, n)| x * n).sum()
    );
}

#[test]
fn helpers_are_called_by_address_and_their_truth_values_are_one_bit() {
    let helper = Helper {
        name: "int_bool",
        address: int_bool as *const () as usize,
        signature: Signature::new(&[Ty::I64], &[Ty::I64, Ty::Bool]),
        effects: None,
    };
    let helpers: PrimaryMap<HelperId, Helper> = [helper].into_iter().collect();
    let text = "(i64) -> (i64, bool) {\nblock0(v0: i64):\n  v1, v2 = call int_bool(v0)\n  return v1, v2\n}";
    for (arg, expected) in [(3, [4, 0]), (4, [5, 1])] {
        assert_eq!(
            run_with(text, &helpers, &[arg]).unwrap(),
            Outcome::Return(expected.to_vec())
        );
    }
}

#[test]
fn each_activation_has_stack_slots_of_its_own() {
    let text = "(i64) -> i64 {\n  slot0 8\n  slot1 24\nblock0(v0: i64):\n  v1 = stack_addr 0\n  v2 = stack_addr 1\n  \
                store.i64 v1, v0\n  store.i64 v2+16, v0\n  v3 = load.i64 v1\n  v4 = load.i64 v2+16\n  \
                v5 = iadd v3, v4\n  return v5\n}";
    returns(text, &[21], &[42]);
}
