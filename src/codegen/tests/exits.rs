//! Tests of exits: the hook's view, and the sharing of blocks.

use super::*;
use std::cell::RefCell;

thread_local! {
    static SEEN: RefCell<(u64, i64, Vec<u64>)> = const { RefCell::new((0, 0, Vec::new())) };
}

/// Reads four words of the buffer.
extern "C" fn hook(unit: u64, exit: i64, buffer: *const u64) -> *const u8 {
    // SAFETY: every function here has an exit of four values, so the buffer has four words.
    let words = unsafe { std::slice::from_raw_parts(buffer, 4) }.to_vec();
    SEEN.set((unit, exit, words));
    std::ptr::without_provenance(0x99)
}

fn jit() -> Jit {
    let mut jit = Jit::new();
    jit.hook = Some(jit.helper(
        "exit_hook",
        hook as *const (),
        &[Ty::I64, Ty::I64, Ty::Ptr],
        &[Ty::Ptr],
    ));
    jit
}

#[test]
fn the_hook_gets_unit_number_and_one_word_for_each_value() {
    let code = jit().compile(
        "(ptr, i64, f64, bool) -> ptr {\nblock0(v0: ptr, v1: i64, v2: f64, v3: bool):\n  exit exit5(v0, v1, v2, v3)\n}",
    );
    let result = call!(code, fn(u64, i64, f64, bool) -> u64, 7, -1, 2.5, true);
    assert_eq!(result, 0x99);
    assert_eq!(SEEN.take(), (77, 5, vec![7, u64::MAX, 2.5f64.to_bits(), 1]));
}

#[repr(C)]
struct Raw<T> {
    status: i64,
    value: T,
}

#[test]
fn a_raw_call_that_exits_returns_the_status_exiting() {
    let text = |ty: &str, value: &str| {
        format!(
            "(ptr, bool, i64, {ty}) -> (i64, {ty}) {{\n\
             block0(v0: ptr, v1: bool, v2: i64, v3: {ty}):\n  br v1, block1, block2\n\
             block1 cold:\n  exit exit3(v0, v2, v2, {value})\n\
             block2:\n  v4 = iconst 0\n  return v4, v3\n}}"
        )
    };
    let floats = jit().compile(&text("f64", "v3"));
    let raw = call!(
        floats,
        fn(u64, bool, i64, f64) -> Raw<f64>,
        7,
        false,
        5,
        2.5
    );
    assert_eq!((raw.status, raw.value), (crate::exits::VALUE, 2.5));
    let raw = call!(floats, fn(u64, bool, i64, f64) -> Raw<f64>, 7, true, 5, 2.5);
    assert_eq!(raw.status, crate::exits::EXITING);
    assert_eq!(SEEN.take(), (77, 3, vec![7, 5, 5, 2.5f64.to_bits()]));
    let ints = jit().compile(&text("i64", "v2"));
    let raw = call!(ints, fn(u64, bool, i64, i64) -> Raw<i64>, 7, false, 5, -9);
    assert_eq!((raw.status, raw.value), (crate::exits::VALUE, -9));
    let raw = call!(ints, fn(u64, bool, i64, i64) -> Raw<i64>, 7, true, 5, -9);
    assert_eq!(raw.status, crate::exits::EXITING);
}

#[test]
fn exits_of_one_shape_share_a_cold_block() {
    let mut jit = jit();
    let code = jit.compile(
        "(ptr, i64, f64) -> ptr {\n\
         block0(v0: ptr, v1: i64, v2: f64):\n  v3 = iconst 10\n  v4 = icmp slt v1, v3\n  br v4, block1, block3\n\
         block1:\n  v5, v6 = iadd_ovf v1, v1\n  br v6, block4, block2\n\
         block2:\n  v7 = icmp eq v5, v3\n  br v7, block5, block6\n\
         block3 cold:\n  exit exit0(v0, v1, v1, v2)\n\
         block4 cold:\n  v8 = p2i v0\n  exit exit1(v1, v0, v8, v2)\n\
         block5 cold:\n  exit exit2(v2)\n\
         block6:\n  return v0\n}",
    );
    let run = |a: i64| {
        SEEN.take();
        let result = call!(code, fn(u64, i64, f64) -> u64, 3, a, 0.5);
        (
            result,
            SEEN.with_borrow(|seen| seen.1),
            SEEN.with_borrow(|seen| seen.2.clone()),
        )
    };
    assert_eq!(run(4), (3, 0, vec![]));
    assert_eq!(run(10), (0x99, 0, vec![3, 10, 10, 0.5f64.to_bits()]));
    let (result, exit, words) = run(i64::MIN);
    assert_eq!(
        (result, exit, &words[..3]),
        (0x99, 1, &[i64::MIN.cast_unsigned(), 3, 3][..])
    );
    let (result, exit, words) = run(5);
    assert_eq!((result, exit, words[0]), (0x99, 2, 0.5f64.to_bits()));
    expect![[r#"
        function %test(i64, i64, f64) -> i64 system_v {
            ss0 = explicit_slot 8, align = 8
            ss1 = explicit_slot 32, align = 8
            sig0 = (i64, i64, i64) -> i64 system_v
            fn0 = u0:0 sig0 ; exit_hook

        block0(v0: i64, v1: i64, v2: f64):
            v3 = iconst.i64 10
            v4 = icmp slt v1, v3  ; v3 = 10
            brif v4, block1, block3

        block1:
            v5, v6 = sadd_overflow.i64 v1, v1
            brif v6, block4, block2

        block2:
            v11 = icmp.i64 eq v5, v3  ; v3 = 10
            brif v11, block5, block6

        block3 cold:
            v15 = iconst.i64 0
            v16 = stack_addr.i64 ss0
            store notrap aligned v15, v16  ; v15 = 0
            jump block9(v0, v1, v2)

        block4 cold:
            v7 = iconst.i64 1
            v8 = stack_addr.i64 ss0
            store notrap aligned v7, v8  ; v7 = 1
            jump block7(v0, v2)

        block5 cold:
            v12 = iconst.i64 2
            v13 = stack_addr.i64 ss0
            store notrap aligned v12, v13  ; v12 = 2
            jump block8(v2)

        block6:
            return v0

        block7(v9: i64, v10: f64) cold:
            v20 = stack_addr.i64 ss1
            store.i64 notrap aligned v1, v20
            store.i64 notrap aligned v0, v20+8
            store notrap aligned v9, v20+16
            store notrap aligned v10, v20+24
            v21 = iconst.i64 77
            v22 = stack_addr.i64 ss0
            v23 = load.i64 notrap aligned v22
            v24 = call fn0(v21, v23, v20)  ; v21 = 77
            return v24

        block8(v14: f64) cold:
            v25 = stack_addr.i64 ss1
            store notrap aligned v14, v25
            v26 = iconst.i64 77
            v27 = stack_addr.i64 ss0
            v28 = load.i64 notrap aligned v27
            v29 = call fn0(v26, v28, v25)  ; v26 = 77
            return v29

        block9(v17: i64, v18: i64, v19: f64) cold:
            v30 = stack_addr.i64 ss1
            store notrap aligned v17, v30
            store notrap aligned v18, v30+8
            store notrap aligned v18, v30+16
            store notrap aligned v19, v30+24
            v31 = iconst.i64 77
            v32 = stack_addr.i64 ss0
            v33 = load.i64 notrap aligned v32
            v34 = call fn0(v31, v33, v30)  ; v31 = 77
            return v34
        }
    "#]]
    .assert_eq(code.clif().unwrap());
}

#[test]
fn blocks_that_only_cold_blocks_reach_are_cold() {
    let code = jit().compile(
        "(bool) -> ptr {\nblock0(v0: bool):\n  br v0, block1, block2\n\
         block1:\n  v1 = pconst 1\n  return v1\n\
         block2 cold:\n  br v0, block3, block4\n\
         block3:\n  jump block4\n\
         block4:\n  br v0, block1, block5\n\
         block5:\n  v2 = iconst 1\n  v3 = fconst 1.0\n  exit exit0(v2, v2, v2, v3)\n}",
    );
    let heads: Vec<&str> = code
        .clif()
        .unwrap()
        .lines()
        .filter(|line| line.starts_with("block"))
        .collect();
    let cold = heads.iter().filter(|head| head.ends_with("cold:")).count();
    assert_eq!((heads.len(), cold), (7, 5), "{heads:?}");
}

#[test]
fn a_hook_of_another_signature_is_refused() {
    let mut jit = Jit::new();
    jit.hook = Some(jit.helper("odd_hook", hook as *const (), &[Ty::I64], &[Ty::Ptr]));
    let error = jit
        .try_compile("() -> ptr {\nblock0:\n  exit exit0()\n}")
        .unwrap_err();
    expect!["the exit hook `odd_hook` must be (i64, i64, ptr) -> ptr"]
        .assert_eq(&error.to_string());
}

#[test]
fn additions_to_a_word_in_exits_are_in_their_shared_block() {
    let mut jit = jit();
    let word: &'static std::cell::Cell<i64> = Box::leak(Box::new(std::cell::Cell::new(100)));
    let at = word.as_ptr().expose_provenance();
    let add = |p: u32, v: &str| {
        let (l, s) = (p + 1, p + 2);
        format!(
            "  v{p} = pconst {at}\n  v{l} = load.i64 v{p}\n  v{s} = iadd v{l}, {v}\n  store.i64 v{p}, v{s}\n"
        )
    };
    let code = jit.compile(&format!(
        "(ptr, i64, i64) -> ptr {{\n\
         block0(v0: ptr, v1: i64, v2: i64):\n  v3 = iconst 10\n  v4 = icmp slt v1, v3\n  br v4, block1, block2\n\
         block1:\n  v5 = icmp slt v2, v3\n  br v5, block4, block3\n\
         block2 cold:\n  v6 = isub v1, v3\n{}  exit exit0(v0, v1, v1, v2)\n\
         block3 cold:\n{}  exit exit1(v0, v1, v1, v3)\n\
         block4:\n  return v0\n}}",
        add(7, "v6"),
        add(10, "v2"),
    ));
    let run = |a: i64, b: i64| {
        SEEN.take();
        call!(code, fn(u64, i64, i64) -> u64, 3, a, b);
        let (_, exit, words) = SEEN.take();
        (word.get(), exit, words.get(1..).map(<[u64]>::to_vec))
    };
    assert_eq!(run(1, 2), (100, 0, None));
    assert_eq!(run(17, 2), (107, 0, Some(vec![17, 17, 2])));
    assert_eq!(run(4, 30), (137, 1, Some(vec![4, 4, 10])));
    let clif = code.clif().expect("it was asked for");
    let sums = clif.lines().filter(|line| line.contains("iadd"));
    assert_eq!(sums.count(), 1, "{clif}");
}

#[test]
fn subtractions_of_many_exits_are_in_their_shared_block() {
    let mut jit = jit();
    let word: &'static std::cell::Cell<i64> = Box::leak(Box::new(std::cell::Cell::new(100)));
    let at = word.as_ptr().expose_provenance();
    // One exit for each of this number of values of the second operand, and another with its own
    // subtraction.
    let count = 20;
    let mut text =
        "(ptr, i64, i64) -> ptr {\nblock0(v0: ptr, v1: i64, v2: i64):\n  jump block1\n".to_owned();
    for n in 0..=count {
        let (test, leave, next) = (2 * n + 1, 2 * n + 2, 2 * n + 3);
        let v = 100 + 10 * n;
        let (k, is, less, place, old, sum) = (v, v + 1, v + 2, v + 3, v + 4, v + 5);
        let subtracted = if n == count { k } else { 2 };
        text += &format!(
            "block{test}:\n  v{k} = iconst {n}\n  v{is} = icmp eq v1, v{k}\n  br v{is}, block{leave}, block{next}\n\
             block{leave} cold:\n  v{less} = isub v1, v{subtracted}\n  v{place} = pconst {at}\n  v{old} = load.i64 v{place}\n  \
             v{sum} = iadd v{old}, v{less}\n  store.i64 v{place}, v{sum}\n  exit exit{n}(v0, v1, v1, v2)\n"
        );
    }
    text += &format!("block{}:\n  return v0\n}}", 2 * count + 3);
    let code = jit.compile(&text);
    for n in 0..=count {
        word.set(100);
        SEEN.take();
        call!(code, fn(u64, i64, i64) -> u64, 3, n, 7);
        let subtracted = if n == count { n } else { 7 };
        assert_eq!(word.get(), 100 + n - subtracted);
        let word = n.cast_unsigned();
        assert_eq!(SEEN.take(), (77, n, vec![3, word, word, 7]));
    }
    let clif = code.clif().expect("it was asked for");
    let differences = clif.lines().filter(|line| line.contains("isub"));
    assert_eq!(differences.count(), 2, "{clif}");
}

#[test]
fn an_exit_without_values_has_a_buffer_too() {
    extern "C" fn hook(unit: u64, exit: u64, buffer: u64) -> u64 {
        assert_ne!(buffer, 0);
        unit * 1000 + exit
    }
    let mut jit = Jit::new();
    jit.hook = Some(jit.helper(
        "exit_hook",
        hook as *const (),
        &[Ty::I64, Ty::I64, Ty::Ptr],
        &[Ty::Ptr],
    ));
    let code = jit.compile("() -> ptr {\nblock0:\n  exit exit3()\n}");
    assert_eq!(call!(code, fn() -> u64,), 77003);
}
