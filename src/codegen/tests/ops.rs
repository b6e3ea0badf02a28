//! Every op on edge inputs, with operands in registers and with a constant second operand.

use super::*;

const INTS: [i64; 12] = [
    0,
    1,
    -1,
    2,
    -2,
    7,
    63,
    -64,
    1 << 32,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];

const FLOATS: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.5,
    0.5,
    -0.5,
    1e300,
    -1e-300,
    9.2e18,
    -9.3e18,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    f64::MIN_POSITIVE / 2.0,
];

/// `op` on two integers agrees with `expected` where that is defined.
fn check_int_binary(op: Opcode, expected: impl Fn(i64, i64) -> Option<i64>) {
    let mut jit = Jit::new();
    let name = op.info().name;
    let code = jit.compile(&format!(
        "(i64, i64) -> i64 {{\nblock0(v0: i64, v1: i64):\n  v2 = {name} v0, v1\n  return v2\n}}"
    ));
    for b in INTS {
        let constant = jit.compile(&format!(
            "(i64) -> i64 {{\nblock0(v0: i64):\n  v1 = iconst {b}\n  v2 = {name} v0, v1\n  return v2\n}}"
        ));
        for a in INTS {
            if let Some(expected) = expected(a, b) {
                assert_eq!(
                    call!(code, fn(i64, i64) -> i64, a, b),
                    expected,
                    "{name} {a}, {b}"
                );
                assert_eq!(
                    call!(constant, fn(i64) -> i64, a),
                    expected,
                    "{name} {a}, constant {b}"
                );
            }
        }
    }
}

#[test]
fn integer_ops_of_two_operands() {
    check_int_binary(Opcode::Iadd, |a, b| Some(a.wrapping_add(b)));
    check_int_binary(Opcode::Isub, |a, b| Some(a.wrapping_sub(b)));
    check_int_binary(Opcode::Imul, |a, b| Some(a.wrapping_mul(b)));
    check_int_binary(Opcode::Sdiv, i64::checked_div);
    check_int_binary(Opcode::Srem, i64::checked_rem);
    check_int_binary(Opcode::Iand, |a, b| Some(a & b));
    check_int_binary(Opcode::Ior, |a, b| Some(a | b));
    check_int_binary(Opcode::Ixor, |a, b| Some(a ^ b));
    let count = |b: i64| u32::try_from(b).ok().filter(|&n| n < 64);
    check_int_binary(Opcode::Ishl, |a, b| Some(a << count(b)?));
    check_int_binary(Opcode::Isshr, |a, b| Some(a >> count(b)?));
    check_int_binary(Opcode::Iushr, |a, b| {
        Some((a.cast_unsigned() >> count(b)?).cast_signed())
    });
}

#[test]
fn integer_ops_of_one_operand() {
    type Unary = (Opcode, fn(i64) -> i64);
    let ops: [Unary; 2] = [(Opcode::Ineg, i64::wrapping_neg), (Opcode::Inot, |a| !a)];
    for (op, expected) in ops {
        let text = format!(
            "(i64) -> i64 {{\nblock0(v0: i64):\n  v1 = {} v0\n  return v1\n}}",
            op.info().name
        );
        let code = Jit::new().compile(&text);
        for a in INTS {
            assert_eq!(
                call!(code, fn(i64) -> i64, a),
                expected(a),
                "{} {a}",
                op.info().name
            );
        }
    }
}

#[test]
fn overflow_is_both_a_value_and_a_branch() {
    type Overflowing = (Opcode, fn(i64, i64) -> (i64, bool));
    let ops: [Overflowing; 3] = [
        (Opcode::IaddOvf, i64::overflowing_add),
        (Opcode::IsubOvf, i64::overflowing_sub),
        (Opcode::ImulOvf, i64::overflowing_mul),
    ];
    #[repr(C)]
    struct Pair(i64, bool);
    for (op, expected) in ops {
        let name = op.info().name;
        let mut jit = Jit::new();
        let both = jit.compile(&format!(
            "(i64, i64) -> (i64, bool) {{\nblock0(v0: i64, v1: i64):\n  v2, v3 = {name} v0, v1\n  return v2, v3\n}}"
        ));
        let branch = jit.compile(&format!(
            "(i64, i64) -> i64 {{\nblock0(v0: i64, v1: i64):\n  v2, v3 = {name} v0, v1\n  br v3, block1, block2\n\
             block1 cold:\n  v4 = iconst 12345\n  return v4\nblock2:\n  return v2\n}}"
        ));
        for b in INTS {
            let constant = jit.compile(&format!(
                "(i64) -> (i64, bool) {{\nblock0(v0: i64):\n  v1 = iconst {b}\n  v2, v3 = {name} v0, v1\n  return v2, v3\n}}"
            ));
            for a in INTS {
                let (value, overflowed) = expected(a, b);
                let found = call!(both, fn(i64, i64) -> Pair, a, b);
                assert_eq!((found.0, found.1), (value, overflowed), "{name} {a}, {b}");
                let found = call!(constant, fn(i64) -> Pair, a);
                assert_eq!(
                    (found.0, found.1),
                    (value, overflowed),
                    "{name} {a}, constant {b}"
                );
                let found = call!(branch, fn(i64, i64) -> i64, a, b);
                assert_eq!(
                    found,
                    if overflowed { 12345 } else { value },
                    "{name} {a}, {b}"
                );
            }
        }
    }
}

fn compare<T: PartialOrd>(cond: IntCond, a: T, b: T) -> bool {
    match cond {
        IntCond::Eq => a == b,
        IntCond::Ne => a != b,
        IntCond::Slt | IntCond::Ult => a < b,
        IntCond::Sle | IntCond::Ule => a <= b,
        IntCond::Sgt | IntCond::Ugt => a > b,
        IntCond::Sge | IntCond::Uge => a >= b,
    }
}

/// The possible uses of a truth value computed by `line` (which defines v2 from v0 and v1), each
/// returning it as 0 or 1.
fn uses_of_truth(ty: Ty, line: &str) -> Vec<(CompiledCode, bool)> {
    let mut jit = Jit::new();
    let head = format!("({ty}, {ty}) -> i64 {{\nblock0(v0: {ty}, v1: {ty}):\n  {line}\n");
    let branch = "block1:\n  v8 = iconst 1\n  return v8\nblock2:\n  v9 = iconst 0\n  return v9\n}";
    [
        ("v3 = b2i v2\n  return v3\n}".to_owned(), false),
        ("v3 = bnot v2\n  v4 = b2i v3\n  return v4\n}".to_owned(), true),
        (format!("br v2, block1, block2\n{branch}"), false),
        (format!("v3 = bnot v2\n  br v3, block1, block2\n{branch}"), true),
        (
            format!(
                "v3 = bnot v2\n  v4 = bnot v3\n  v5 = bor v4, v2\n  v6 = bnot v5\n  br v6, block1, block2\n{branch}"
            ),
            true,
        ),
        ("v3 = iconst 1\n  v4 = iconst 0\n  v5 = select.i64 v2, v3, v4\n  return v5\n}".to_owned(), false),
    ]
    .into_iter()
    .map(|(tail, negated)| (jit.compile(&format!("{head}  {tail}")), negated))
    .collect()
}

#[test]
fn integer_comparisons_in_every_use() {
    for &cond in IntCond::ALL {
        let name = cond.name();
        let signed = name.starts_with('s');
        for (code, negated) in uses_of_truth(Ty::I64, &format!("v2 = icmp {name} v0, v1")) {
            for (a, b) in INTS.iter().flat_map(|&a| INTS.map(|b| (a, b))) {
                let expected = if signed {
                    compare(cond, a, b)
                } else {
                    compare(cond, a.cast_unsigned(), b.cast_unsigned())
                };
                let found = call!(code, fn(i64, i64) -> i64, a, b);
                assert_eq!(
                    found,
                    i64::from(expected != negated),
                    "{name} {a}, {b}\n{}",
                    code.clif().unwrap()
                );
            }
        }
    }
}

#[test]
fn float_comparisons_in_every_use() {
    for &cond in FloatCond::ALL {
        let name = cond.name();
        for (code, negated) in uses_of_truth(Ty::F64, &format!("v2 = fcmp {name} v0, v1")) {
            for (a, b) in FLOATS.iter().flat_map(|&a| FLOATS.map(|b| (a, b))) {
                let expected = match cond {
                    FloatCond::Eq => a == b,
                    FloatCond::Ne => a != b,
                    FloatCond::Lt => a < b,
                    FloatCond::Le => a <= b,
                    FloatCond::Gt => a > b,
                    FloatCond::Ge => a >= b,
                };
                let found = call!(code, fn(f64, f64) -> i64, a, b);
                assert_eq!(
                    found,
                    i64::from(expected != negated),
                    "{name} {a}, {b}\n{}",
                    code.clif().unwrap()
                );
            }
        }
    }
}

#[track_caller]
fn assert_same_float(found: f64, expected: f64, what: &str) {
    let same = found.to_bits() == expected.to_bits() || (found.is_nan() && expected.is_nan());
    assert!(same, "{what}: {found:?}, not {expected:?}");
}

#[test]
fn float_ops() {
    type Binary = (Opcode, fn(f64, f64) -> f64);
    let ops: [Binary; 4] = [
        (Opcode::Fadd, |a, b| a + b),
        (Opcode::Fsub, |a, b| a - b),
        (Opcode::Fmul, |a, b| a * b),
        (Opcode::Fdiv, |a, b| a / b),
    ];
    for (op, expected) in ops {
        let name = op.info().name;
        let text = format!(
            "(f64, f64) -> f64 {{\nblock0(v0: f64, v1: f64):\n  v2 = {name} v0, v1\n  return v2\n}}"
        );
        let code = Jit::new().compile(&text);
        for (a, b) in FLOATS.iter().flat_map(|&a| FLOATS.map(|b| (a, b))) {
            assert_same_float(
                call!(code, fn(f64, f64) -> f64, a, b),
                expected(a, b),
                &format!("{name} {a}, {b}"),
            );
        }
    }
    type Unary = (Opcode, fn(f64) -> f64);
    let ops: [Unary; 5] = [
        (Opcode::Fneg, |a| -a),
        (Opcode::Fabs, f64::abs),
        (Opcode::Fsqrt, f64::sqrt),
        (Opcode::Ffloor, f64::floor),
        (Opcode::Ftrunc, f64::trunc),
    ];
    for (op, expected) in ops {
        let name = op.info().name;
        let code = Jit::new().compile(&format!(
            "(f64) -> f64 {{\nblock0(v0: f64):\n  v1 = {name} v0\n  return v1\n}}"
        ));
        for a in FLOATS {
            assert_same_float(
                call!(code, fn(f64) -> f64, a),
                expected(a),
                &format!("{name} {a}"),
            );
        }
    }
}

#[test]
fn conversions() {
    let mut jit = Jit::new();
    let mut convert = |op: Opcode, from: Ty, to: Ty| {
        jit.compile(&format!(
            "({from}) -> {to} {{\nblock0(v0: {from}):\n  v1 = {} v0\n  return v1\n}}",
            op.info().name
        ))
    };
    let i2f = convert(Opcode::I2f, Ty::I64, Ty::F64);
    let bits2f = convert(Opcode::Bits2f, Ty::I64, Ty::F64);
    let i2p = convert(Opcode::I2p, Ty::I64, Ty::Ptr);
    let p2i = convert(Opcode::P2i, Ty::Ptr, Ty::I64);
    for a in INTS {
        assert_eq!(call!(i2f, fn(i64) -> f64, a), a as f64);
        assert_eq!(
            call!(bits2f, fn(i64) -> f64, a).to_bits(),
            a.cast_unsigned()
        );
        assert_eq!(call!(i2p, fn(i64) -> u64, a), a.cast_unsigned());
        assert_eq!(call!(p2i, fn(u64) -> i64, a.cast_unsigned()), a);
    }
    let f2i = convert(Opcode::F2i, Ty::F64, Ty::I64);
    let f2bits = convert(Opcode::F2bits, Ty::F64, Ty::I64);
    for a in FLOATS {
        // `as` saturates too, and gives 0 for nan.
        assert_eq!(call!(f2i, fn(f64) -> i64, a), a as i64, "{a}");
        assert_eq!(call!(f2bits, fn(f64) -> u64, a), a.to_bits());
    }
}

#[test]
fn truth_values() {
    type Logic = (Opcode, fn(bool, bool) -> bool);
    let ops: [Logic; 3] = [
        (Opcode::Band, |a, b| a & b),
        (Opcode::Bor, |a, b| a | b),
        (Opcode::Bxor, |a, b| a ^ b),
    ];
    let cases = [(false, false), (false, true), (true, false), (true, true)];
    for (op, expected) in ops {
        let name = op.info().name;
        for (code, negated) in uses_of_truth(Ty::Bool, &format!("v2 = {name} v0, v1")) {
            for (a, b) in cases {
                assert_eq!(
                    call!(code, fn(bool, bool) -> i64, a, b),
                    i64::from(expected(a, b) != negated),
                    "{name}"
                );
            }
        }
    }
    let mut jit = Jit::new();
    for value in [false, true] {
        let n = i64::from(value);
        let code = jit.compile(&format!(
            "() -> bool {{\nblock0:\n  v0 = bconst {n}\n  return v0\n}}"
        ));
        assert_eq!(call!(code, fn() -> bool,), value);
        let code = jit.compile(&format!(
            "() -> bool {{\nblock0:\n  v0 = bconst {n}\n  v1 = bnot v0\n  return v1\n}}"
        ));
        assert_eq!(call!(code, fn() -> bool,), !value);
    }
}

#[test]
fn select_on_every_type() {
    let mut jit = Jit::new();
    let mut select = |ty: Ty| {
        jit.compile(&format!(
            "(bool, {ty}, {ty}) -> {ty} {{\nblock0(v0: bool, v1: {ty}, v2: {ty}):\n  v3 = select.{ty} v0, v1, v2\n  return v3\n}}"
        ))
    };
    let code = select(Ty::Bool);
    assert!(call!(code, fn(bool, bool, bool) -> bool, true, true, false));
    assert!(!call!(
        code,
        fn(bool, bool, bool) -> bool,
        false,
        true,
        false
    ));
    for ty in [Ty::I64, Ty::Ptr] {
        let code = select(ty);
        assert_eq!(
            call!(code, fn(bool, i64, i64) -> i64, true, i64::MIN, 4),
            i64::MIN
        );
        assert_eq!(
            call!(code, fn(bool, i64, i64) -> i64, false, i64::MIN, 4),
            4
        );
    }
    let code = select(Ty::F64);
    assert_eq!(call!(code, fn(bool, f64, f64) -> f64, true, 1.5, 2.5), 1.5);
    assert_eq!(call!(code, fn(bool, f64, f64) -> f64, false, 1.5, 2.5), 2.5);
}

#[test]
fn constants_keep_all_bits() {
    let mut jit = Jit::new();
    for n in INTS {
        let code = jit.compile(&format!(
            "() -> i64 {{\nblock0:\n  v0 = iconst {n}\n  return v0\n}}"
        ));
        assert_eq!(call!(code, fn() -> i64,), n);
        let address = n.cast_unsigned();
        let code = jit.compile(&format!(
            "() -> ptr {{\nblock0:\n  v0 = pconst {address:#x}\n  return v0\n}}"
        ));
        assert_eq!(call!(code, fn() -> u64,), address);
    }
    for x in FLOATS.into_iter().filter(|x| !x.is_nan()) {
        let code = jit.compile(&format!(
            "() -> f64 {{\nblock0:\n  v0 = fconst {x:?}\n  return v0\n}}"
        ));
        assert_eq!(call!(code, fn() -> f64,).to_bits(), x.to_bits());
    }
    let code =
        jit.compile("() -> f64 {\nblock0:\n  v0 = fconst nan:0xfff8000000000123\n  return v0\n}");
    assert_eq!(call!(code, fn() -> f64,).to_bits(), 0xfff8_0000_0000_0123);
}

#[test]
fn loads_widen_and_stores_narrow() {
    let mut jit = Jit::new();
    for width in Width::ALL {
        let ty = width.ty();
        let load = jit.compile(&format!(
            "(ptr) -> {ty} {{\nblock0(v0: ptr):\n  v1 = load.{width} v0+8\n  return v1\n}}"
        ));
        let store = jit.compile(&format!(
            "(ptr, {ty}) {{\nblock0(v0: ptr, v1: {ty}):\n  store.{width} v0-8, v1\n  return\n}}"
        ));
        let memory = [0u64, 0xfedc_ba98_f6f5_f4f3, 0];
        let bits = match width {
            Width::U8 => 0xf3,
            Width::U16 => 0xf4f3,
            Width::U32 => 0xf6f5_f4f3,
            Width::I32 => 0xffff_ffff_f6f5_f4f3,
            Width::I64 | Width::F64 | Width::Ptr => memory[1],
        };
        let mut written = [u64::MAX; 3];
        let value = 0x1122_3344_5566_7788u64;
        if ty == Ty::F64 {
            assert_eq!(
                call!(load, fn(*const u64) -> f64, memory.as_ptr()).to_bits(),
                bits
            );
            call!(
                store,
                fn(*mut u64, f64) -> (),
                written.as_mut_ptr().wrapping_add(2),
                f64::from_bits(value)
            );
        } else {
            assert_eq!(
                call!(load, fn(*const u64) -> u64, memory.as_ptr()),
                bits,
                "{width}"
            );
            call!(
                store,
                fn(*mut u64, u64) -> (),
                written.as_mut_ptr().wrapping_add(2),
                value
            );
        }
        let mask = u64::MAX >> (64 - 8 * width.bytes());
        assert_eq!(
            written,
            [u64::MAX, (value & mask) | !mask, u64::MAX],
            "{width}"
        );
    }
}

#[test]
fn addresses_and_stack_slots() {
    let mut jit = Jit::new();
    // v0 is written to both ends of one slot and beside it, and read back.
    let code = jit.compile(
        "(i64) -> i64 {\n  slot0 24\n  slot1 8\nblock0(v0: i64):\n  v1 = stack_addr 0\n  v2 = stack_addr 1\n  \
         v3 = iconst 16\n  v4 = padd v1, v3\n  store.i64 v4, v0\n  v5 = ineg v0\n  store.i64 v2, v5\n  \
         v6 = load.i64 v1+16\n  v7 = load.i64 v2\n  v8 = isub v6, v7\n  return v8\n}",
    );
    assert_eq!(call!(code, fn(i64) -> i64, 21), 42);

    let code = jit.compile("() -> i64 {\nblock0:\n  v0 = sp\n  return v0\n}");
    let here = 0u8;
    let distance = (&raw const here).addr().cast_signed() - call!(code, fn() -> isize,);
    assert!((0..65536).contains(&distance), "{distance}");
}

#[test]
fn offsets_of_any_size_from_a_register_and_from_a_stack_slot() {
    let mut jit = Jit::new();
    for offset in [i32::MAX, i32::MIN, 1 << 30, -(1 << 30), (1 << 30) - 1] {
        let code = jit.compile(&format!(
            "(ptr) -> i64 {{\nblock0(v0: ptr):\n  v1 = load.i64 v0{offset:+}\n  return v1\n}}"
        ));
        let cell = 42i64;
        let base = (&raw const cell).wrapping_byte_sub(offset as usize);
        assert_eq!(call!(code, fn(*const i64) -> i64, base), 42, "{offset}");
        // An address outside the slot, which an operand brings back into it.
        let code = jit.compile(&format!(
            "(i64, i64) -> i64 {{\n  slot0 8\nblock0(v0: i64, v1: i64):\n  v2 = stack_addr 0\n  store.i64 v2, v0\n  \
             v3 = padd v2, v1\n  v4 = load.i64 v3{offset:+}\n  return v4\n}}"
        ));
        assert_eq!(
            call!(code, fn(i64, i64) -> i64, 42, -i64::from(offset)),
            42,
            "{offset}"
        );
        // Never executed.
        jit.compile(&format!(
            "(i64) -> i64 {{\n  slot0 8\n  slot1 8\nblock0(v0: i64):\n  v1 = stack_addr 1\n  \
             store.i64 v1{offset:+}, v0\n  v3 = load.i64 v1{offset:+}\n  return v3\n}}"
        ));
    }
}

#[test]
fn a_frame_larger_than_a_page_is_probed() {
    let code = Jit::new().compile(
        "(i64) -> i64 {\n  slot0 40000\nblock0(v0: i64):\n  v1 = stack_addr 0\n  store.i64 v1, v0\n  v2 = load.i64 v1\n  return v2\n}",
    );
    assert_eq!(call!(code, fn(i64) -> i64, 21), 21);
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_condition_is_one_compare_and_one_jump() {
    let tail = "block1:\n  return v0\nblock2 cold:\n  return v1\n}";
    let mut jit = Jit::new();
    for line in [
        "v2 = icmp slt v0, v1",
        "v8 = iconst 100\n  v2 = icmp ult v0, v8",
        "v9 = icmp slt v0, v1\n  v2 = bnot v9",
        "v8 = iconst 3\n  v7 = iand v0, v8\n  v9 = iconst 0\n  v2 = icmp eq v7, v9",
    ] {
        let code = jit.compile(&format!(
            "(i64, i64) -> i64 {{\nblock0(v0: i64, v1: i64):\n  {line}\n  br v2, block1, block2\n{tail}"
        ));
        let asm = code.asm().unwrap();
        // The text shows a branch with both targets; the second jump falls through in the bytes.
        let compares = asm
            .lines()
            .filter(|l| l.contains("cmp") || l.contains("test"))
            .count();
        assert_eq!(compares, 1, "{line}\n{asm}");
        assert!(!asm.contains("set"), "{line}\n{asm}");
    }
}
