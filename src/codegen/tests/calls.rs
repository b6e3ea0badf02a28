//! Calls of helpers, directly and through an address.

use super::*;

extern "C" fn weigh(
    a: i64,
    b: i64,
    c: i64,
    d: i64,
    e: i64,
    f: i64,
    g: i64,
    h: f64,
    i: bool,
) -> i64 {
    [a, b, c, d, e, f, g, h as i64, i64::from(i)]
        .iter()
        .zip(1..)
        .map(|(value, weight)| value * weight)
        .sum()
}

#[repr(C)]
struct IntAndBool(i64, bool);

#[repr(C)]
struct PtrAndFloat(u64, f64);

extern "C" fn checked_half(a: i64) -> IntAndBool {
    IntAndBool(a / 2, a % 2 == 0)
}

extern "C" fn pair(a: f64) -> PtrAndFloat {
    PtrAndFloat(64, a * 2.0)
}

extern "C" fn count(cell: *mut i64) {
    // SAFETY: the test passes a cell.
    unsafe { *cell += 1 };
}

/// A truth value as a C compiler may use it: it relies on the upper bits.
extern "C" fn truth_as_word(value: u32) -> i64 {
    i64::from(value)
}

fn jit() -> Jit {
    let mut jit = Jit::new();
    use Ty::{Bool, F64, I64, Ptr};
    jit.helper(
        "weigh",
        weigh as *const (),
        &[I64, I64, I64, I64, I64, I64, I64, F64, Bool],
        &[I64],
    );
    jit.helper(
        "checked_half",
        checked_half as *const (),
        &[I64],
        &[I64, Bool],
    );
    jit.helper("pair", pair as *const (), &[F64], &[Ptr, F64]);
    jit.helper("count", count as *const (), &[Ptr], &[]);
    // The name of a library function is not confused with it.
    jit.helper("floor", truth_as_word as *const (), &[Bool], &[I64]);
    jit
}

#[test]
fn arguments_beyond_the_registers() {
    let code = jit().compile(
        "(i64, f64) -> i64 {\nblock0(v0: i64, v1: f64):\n  v2 = iconst 2\n  v3 = iconst 3\n  v4 = iconst 4\n  \
         v5 = iconst 5\n  v6 = iconst 6\n  v7 = iconst 7\n  v8 = bconst 1\n  \
         v9 = call weigh(v0, v2, v3, v4, v5, v6, v7, v1, v8)\n  return v9\n}",
    );
    assert_eq!(
        call!(code, fn(i64, f64) -> i64, 1, 8.0),
        weigh(1, 2, 3, 4, 5, 6, 7, 8.0, true)
    );
    assert!(
        code.asm().unwrap().contains("weigh"),
        "{}",
        code.asm().unwrap()
    );
    assert!(
        code.clif().unwrap().contains("; weigh"),
        "{}",
        code.clif().unwrap()
    );
}

#[test]
fn parameters_beyond_the_registers() {
    let code = jit().compile(
        "(i64, i64, i64, i64, i64, i64, i64, f64, bool) -> i64 {\n\
         block0(v0: i64, v1: i64, v2: i64, v3: i64, v4: i64, v5: i64, v6: i64, v7: f64, v8: bool):\n  \
         v9 = call weigh(v0, v1, v2, v3, v4, v5, v6, v7, v8)\n  return v9\n}",
    );
    type Weigh = extern "C" fn(i64, i64, i64, i64, i64, i64, i64, f64, bool) -> i64;
    // SAFETY: the signature is the one compiled.
    let function: Weigh = unsafe { std::mem::transmute(code.entry()) };
    assert_eq!(
        function(9, 8, 7, 6, 5, 4, 3, 2.0, true),
        weigh(9, 8, 7, 6, 5, 4, 3, 2.0, true)
    );
}

#[test]
fn two_results() {
    let mut jit = jit();
    let code = jit.compile(
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1, v2 = call checked_half(v0)\n  br v2, block1, block2\n\
         block1:\n  return v1\nblock2:\n  return v0\n}",
    );
    assert_eq!(call!(code, fn(i64) -> i64, 10), 5);
    assert_eq!(call!(code, fn(i64) -> i64, 11), 11);
    let code = jit.compile(
        "(f64) -> (ptr, f64) {\nblock0(v0: f64):\n  v1, v2 = call pair(v0)\n  v3 = fneg v2\n  return v1, v3\n}",
    );
    let found = call!(code, fn(f64) -> PtrAndFloat, 1.5);
    assert_eq!((found.0, found.1), (64, -3.0));
}

#[test]
fn a_helper_without_result() {
    let code =
        jit().compile("(ptr) {\nblock0(v0: ptr):\n  call count(v0)\n  call count(v0)\n  return\n}");
    let mut cell = 40i64;
    call!(code, fn(*mut i64) -> (), &raw mut cell);
    assert_eq!(cell, 42);
}

#[test]
fn truth_values_are_passed_as_whole_words() {
    let code = jit().compile(
        "(i64, i64) -> i64 {\nblock0(v0: i64, v1: i64):\n  v2 = icmp sgt v0, v1\n  v3 = call floor(v2)\n  return v3\n}",
    );
    assert_eq!(call!(code, fn(i64, i64) -> i64, 1 << 40, 0), 1);
    assert_eq!(call!(code, fn(i64, i64) -> i64, -(1 << 40), 0), 0);
}

#[test]
fn calls_through_an_address() {
    let mut jit = jit();
    let callee = jit
        .compile("(i64, f64) -> i64 {\nblock0(v0: i64, v1: f64):\n  v2 = f2i v1\n  v3 = iadd v0, v2\n  return v3\n}");
    let code = jit.compile(
        "(ptr, i64) -> i64 {\n  sig0 (i64, f64) -> i64\nblock0(v0: ptr, v1: i64):\n  v2 = fconst 2.0\n  \
         v3 = load.ptr v0\n  v4 = call_indirect sig0 v3(v1, v2)\n  v5 = call_indirect sig0 v3(v4, v2)\n  return v5\n}",
    );
    let cell = callee.entry();
    assert_eq!(
        call!(code, fn(*const *const u8, i64) -> i64, &raw const cell, 38),
        42
    );
}

#[test]
fn a_loop_carries_values() {
    let code = Jit::new().compile(
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = iconst 0\n  jump block1(v1, v1)\n\
         block1(v2: i64, v3: i64):\n  v4 = icmp slt v2, v0\n  br v4, block2, block3\n\
         block2:\n  v5 = iadd v3, v2\n  v6 = iconst 1\n  v7 = iadd v2, v6\n  jump block1(v7, v5)\n\
         block3:\n  return v3\n}",
    );
    assert_eq!(call!(code, fn(i64) -> i64, 101), 5050);
}

#[test]
fn blocks_may_be_in_any_order_and_some_may_be_unreachable() {
    let code = Jit::new().compile(
        "(i64) -> i64 {\nblock0(v0: i64):\n  jump block2\n\
         block1:\n  v2 = iadd v1, v0\n  return v2\n\
         block2:\n  v1 = iconst 2\n  jump block1\n\
         block3:\n  v3 = iadd v1, v0\n  jump block3\n}",
    );
    assert_eq!(call!(code, fn(i64) -> i64, 40), 42);
}

#[test]
fn routines_are_called_by_name_and_where_they_are() {
    let mut jit = Jit::new();
    let double =
        jit.compile("(f64) -> f64 {\nblock0(v0: f64):\n  v1 = fadd v0, v0\n  return v1\n}");
    let text = "function test(f64) -> f64 {\n  routine0 \"double\" (f64) -> f64\nblock0(v0: f64):\n  \
                v1 = call_routine routine0(v0)\n  v2 = call_routine routine0(v1)\n  return v2\n}";
    let mut func = parse(text, &jit.helpers).unwrap();
    let error = jit.compile_func(&func).unwrap_err();
    assert_eq!(
        error.to_string(),
        "malformed LIR function `test`: routine0 was read from text and has no address"
    );
    func.routines
        .values_mut()
        .for_each(|routine| routine.address = double.entry() as u64);
    let code = jit.compile_func(&func).unwrap();
    assert_eq!(call!(code, fn(f64) -> f64, 2.5), 10.0);
    assert!(code.clif.as_ref().unwrap().contains("; double"));
    assert!(code.asm.as_ref().unwrap().contains("double"));
}

/// Uses more registers than a call may change.
extern "C" fn spoil(n: i64) -> i64 {
    let mut x: [f64; 24] = std::array::from_fn(|i| (n + i as i64) as f64);
    let mut y: [i64; 24] = std::array::from_fn(|i| n * i as i64);
    for _ in 0..3 {
        for i in 0..24 {
            x[i] += x[(i + 5) % 24] * 1.5;
            y[i] ^= y[(i + 7) % 24] << 1;
        }
    }
    std::hint::black_box((x, y));
    n + 1
}

#[test]
fn a_cold_call_in_a_loop_keeps_all_registers() {
    // Sums floats and ints. A helper counts in the odd iterations, in a block marked as cold.
    let text = "(i64) -> f64 {\nblock0(v0: i64):\n  v1 = iconst 0\n  v2 = fconst 0.5\n  v3 = fconst 0.25\n  v19 = fconst 3.0\n\
         \x20 jump block1(v1, v1, v2, v3, v19)\n\
         block1(v4: i64, v5: i64, v6: f64, v7: f64, v8: f64):\n  v9 = icmp slt v4, v0\n  br v9, block2, block5\n\
         block2:\n  v10 = fadd v6, v7\n  v11 = fsub v8, v6\n  v12 = iadd v5, v4\n  v13 = iconst 1\n  v14 = iand v4, v13\n\
         \x20 v15 = icmp eq v14, v13\n  br v15, block3, block4(v12)\n\
         block3 cold:\n  v16 = call spoil(v12)\n  jump block4(v16)\n\
         block4(v17: i64):\n  v18 = iadd v4, v13\n  jump block1(v18, v17, v10, v11, v7)\n\
         block5:\n  v20 = i2f v5\n  v21 = fadd v6, v20\n  v22 = fmul v7, v8\n  v23 = fadd v21, v22\n  return v23\n}";
    let mut jit = Jit::new();
    let spoil = jit.helper("spoil", spoil as *const (), &[Ty::I64], &[Ty::I64]);
    let usual = jit.compile(text);
    assert!(!usual.clif().unwrap().contains("preserve_all"));

    let guarded = guarded(spoil, &jit.helpers[spoil]).unwrap();
    let input = Input {
        keeps_registers: true,
        ..Input::new(&guarded, &jit.helpers)
    };
    let guard = jit.codegen.compile(&jit.memory, input).unwrap();
    let find = |_| Some(guard.entry().expose_provenance() as u64);
    let func = parse(&format!("function test{text}"), &jit.helpers).unwrap();
    let input = Input {
        want_text: true,
        guarded: Some(&find),
        ..Input::new(&func, &jit.helpers)
    };
    let kept = jit.codegen.compile(&jit.memory, input).unwrap();
    assert!(kept.clif().unwrap().contains("preserve_all"));
    for n in 0..40 {
        let (usual, kept) = (
            call!(usual, fn(i64) -> f64, n),
            call!(kept, fn(i64) -> f64, n),
        );
        assert_eq!(usual.to_bits(), kept.to_bits(), "{n}");
    }
}
