//! The composition rules, as a table, and equality of types (facts 52 and 55 of the reference).

use crate::ll::{Primitive, TypeFault, TypeId, Types};

/// The parts that the table's rows are made of.
struct Parts {
    types: Types,
    /// `Struct s { a: Signed }`.
    raw: TypeId,
    /// `GcStruct g { a: Signed }`.
    gc: TypeId,
    array: TypeId,
    gc_array: TypeId,
    without_length: TypeId,
    /// `Struct v { n: Signed, items: Array of Signed }`.
    varsized: TypeId,
    func: TypeId,
    opaque: TypeId,
    gc_opaque: TypeId,
}

fn parts() -> Parts {
    let mut types = Types::new();
    let a = [("a", Types::SIGNED)];
    let raw = types.structure("s", &a).unwrap();
    let gc = types.gc_struct("g", &a).unwrap();
    let array = types.array(Types::SIGNED).unwrap();
    let gc_array = types.gc_array(Types::SIGNED).unwrap();
    let without_length = types.array_without_length(Types::SIGNED).unwrap();
    let varsized = types
        .structure("v", &[("n", Types::SIGNED), ("items", array)])
        .unwrap();
    let func = types.func(&[Types::SIGNED], Types::SIGNED).unwrap();
    let opaque = types.opaque("o", false);
    let gc_opaque = types.opaque("go", true);
    Parts {
        types,
        raw,
        gc,
        array,
        gc_array,
        without_length,
        varsized,
        func,
        opaque,
        gc_opaque,
    }
}

type Row = (
    &'static str,
    fn(&mut Parts) -> Result<TypeId, TypeFault>,
    Option<fn(&TypeFault) -> bool>,
);

/// A rule, a composition that breaks it, and the error.
macro_rules! rule {
    ($rule:literal, $make:expr, $($error:pat_param)|+) => {
        ($rule, $make, Some(|fault| matches!(fault, $($error)|+)))
    };
    ($rule:literal, $make:expr) => {
        ($rule, $make, None)
    };
}

const RULES: &[Row] = &[
    rule!(
        "a field name begins with an underscore",
        |p| p.types.structure("s", &[("_a", Types::SIGNED)]),
        TypeFault::FieldName { .. }
    ),
    rule!(
        "a field is repeated",
        |p| p
            .types
            .gc_struct("s", &[("a", Types::SIGNED), ("a", Types::FLOAT)]),
        TypeFault::RepeatedField { .. }
    ),
    rule!(
        "an array is not the last field",
        |p| p
            .types
            .structure("s", &[("a", p.array), ("b", Types::SIGNED)]),
        TypeFault::ArrayNotLast { .. }
    ),
    rule!("an array is the last field", |p| p
        .types
        .structure("s", &[("b", Types::SIGNED), ("a", p.array)])),
    rule!("an array is the last field of a GcStruct", |p| p
        .types
        .gc_struct("s", &[("a", p.array)])),
    rule!(
        "an array is an item",
        |p| p.types.array(p.array),
        TypeFault::Item(_)
    ),
    rule!(
        "an array is an item of an array of known length",
        |p| p.types.fixed_array(p.array, 3),
        TypeFault::Item(_)
    ),
    rule!(
        "a GcArray is the last field",
        |p| p.types.gc_struct("s", &[("a", p.gc_array)]),
        TypeFault::GcArrayInlined(_)
    ),
    rule!(
        "a GcArray is an item",
        |p| p.types.gc_array(p.gc_array),
        TypeFault::Item(_)
    ),
    rule!(
        "a structure of open size is a field",
        |p| p.types.structure("s", &[("a", p.varsized)]),
        TypeFault::VarsizedInlined(_)
    ),
    rule!(
        "a structure of open size is the first field of a GcStruct",
        |p| p
            .types
            .gc_struct("s", &[("a", p.varsized), ("b", Types::SIGNED)]),
        TypeFault::VarsizedInlined(_)
    ),
    rule!("a GcStruct is the first field of a GcStruct", |p| p
        .types
        .gc_struct("s", &[("super", p.gc), ("b", Types::SIGNED)])),
    rule!(
        "a GcStruct is the second field of a GcStruct",
        |p| p.types.gc_struct("s", &[("b", Types::SIGNED), ("a", p.gc)]),
        TypeFault::GcStructInlined(_)
    ),
    rule!(
        "a GcStruct is the first field of a raw structure",
        |p| p.types.structure("s", &[("a", p.gc)]),
        TypeFault::GcStructInlined(_)
    ),
    rule!(
        "a GcStruct is an item of an array of known length",
        |p| p.types.fixed_array(p.gc, 2),
        TypeFault::GcStructInlined(_)
    ),
    rule!("a raw structure is the first field of a GcStruct", |p| {
        p.types
            .gc_struct("s", &[("a", p.raw), ("b", Types::SIGNED)])
    }),
    rule!("a raw structure is the second field of a GcStruct", |p| {
        p.types
            .gc_struct("s", &[("b", Types::SIGNED), ("a", p.raw)])
    }),
    rule!("a raw structure is an item", |p| p.types.gc_array(p.raw)),
    rule!("structures are items, by their fields", |p| p
        .types
        .array_of(&[("a", Types::SIGNED)])),
    rule!("a pointer to a GcStruct is an item", |p| {
        let ptr = p.types.ptr(p.gc)?;
        p.types.array(ptr)
    }),
    rule!(
        "a GcStruct is an item",
        |p| p.types.array(p.gc),
        TypeFault::Item(_)
    ),
    rule!(
        "a structure of open size is an item",
        |p| p.types.gc_array(p.varsized),
        TypeFault::Item(_)
    ),
    rule!(
        "a function is an item",
        |p| p.types.array(p.func),
        TypeFault::Item(_)
    ),
    rule!(
        "a function is a field",
        |p| p.types.structure("s", &[("f", p.func)]),
        TypeFault::FunctionInlined(_)
    ),
    rule!("a pointer to a function is a field", |p| {
        let ptr = p.types.ptr(p.func)?;
        p.types.structure("s", &[("f", ptr)])
    }),
    rule!(
        "a pointer to a primitive",
        |p| p.types.ptr(Types::SIGNED),
        TypeFault::PointerTo(_)
    ),
    rule!(
        "a pointer to a pointer",
        |p| {
            let ptr = p.types.ptr(p.gc)?;
            p.types.ptr(ptr)
        },
        TypeFault::PointerTo(_)
    ),
    rule!(
        "a function gives a container",
        |p| p.types.func(&[], p.raw),
        TypeFault::Passed(_)
    ),
    // RPython's code accepts this, against its own documentation; ours follows the documentation.
    rule!(
        "a function takes a container",
        |p| p.types.func(&[p.raw], Types::VOID),
        TypeFault::Passed(_)
    ),
    rule!("opaque data is a field", |p| p
        .types
        .structure("s", &[("o", p.opaque)])),
    rule!(
        "a collector's opaque data is a field",
        |p| p.types.gc_struct("s", &[("o", p.gc_opaque)]),
        TypeFault::GcOpaqueInlined(_)
    ),
    rule!(
        "an array without length is the last field of a GcStruct",
        |p| p.types.gc_struct("s", &[("a", p.without_length)]),
        TypeFault::NoLengthInGcStruct { .. }
    ),
    rule!(
        "an array without length is the last field of a raw structure",
        |p| p
            .types
            .structure("s", &[("b", Types::SIGNED), ("a", p.without_length)])
    ),
    rule!("an array of known length is a field before others", |p| {
        let fixed = p.types.fixed_array(Types::SIGNED, 3)?;
        p.types
            .structure("s", &[("a", fixed), ("b", Types::SIGNED)])
    }),
    rule!(
        "an open forward reference is a field",
        |p| {
            let forward = p.types.forward(false);
            p.types.structure("s", &[("a", forward)])
        },
        TypeFault::Unresolved
    ),
    rule!(
        "a forward reference becomes a primitive",
        |p| {
            let forward = p.types.forward(false);
            p.types.define(forward, Types::SIGNED)?;
            Ok(forward)
        },
        TypeFault::BecomesValue(_)
    ),
    rule!(
        "a forward reference becomes another kind",
        |p| {
            let forward = p.types.forward(false);
            p.types.define(forward, p.gc)?;
            Ok(forward)
        },
        TypeFault::BecomesOtherKind(_)
    ),
    rule!(
        "a forward reference is defined twice",
        |p| {
            let forward = p.types.forward(true);
            p.types.define(forward, p.gc)?;
            p.types.define(forward, p.gc)?;
            Ok(forward)
        },
        TypeFault::NotForward(_)
    ),
];

#[test]
fn every_rule_of_composition_gives_its_error_and_no_other() {
    for (rule, make, error) in RULES {
        let mut parts = parts();
        match (make(&mut parts), error) {
            (Ok(_), None) => {}
            (Err(fault), Some(is_expected)) => assert!(is_expected(&fault), "{rule}: {fault}"),
            (Ok(made), Some(_)) => panic!("{rule}: {} was made", parts.types.name(made)),
            (Err(fault), None) => panic!("{rule}: {fault}"),
        }
    }
}

#[test]
fn types_are_the_same_by_structure() {
    let mut types = Types::new();
    let make = |types: &mut Types, name: &str, field: &str, ty| {
        let id = types.gc_struct(name, &[(field, ty)]).unwrap();
        types.ptr(id).unwrap()
    };
    let a = make(&mut types, "s", "x", Types::SIGNED);
    let again = make(&mut types, "s", "x", Types::SIGNED);
    assert!(a != again && types.same(a, again));
    assert_eq!(types.hash(a), types.hash(again));
    for (name, field, ty) in [
        ("t", "x", Types::SIGNED),
        ("s", "y", Types::SIGNED),
        ("s", "x", Types::UNSIGNED),
    ] {
        let other = make(&mut types, name, field, ty);
        assert!(!types.same(a, other), "{}", types.name(other));
    }
    let raw = types.structure("s", &[("x", Types::SIGNED)]).unwrap();
    let gc = types.gc_struct("s", &[("x", Types::SIGNED)]).unwrap();
    assert!(!types.same(raw, gc));
    let (f1, f2) = (
        types.func(&[a, Types::FLOAT], Types::VOID).unwrap(),
        types.func(&[again, Types::FLOAT], Types::VOID).unwrap(),
    );
    assert!(types.same(f1, f2));
    let f3 = types.func(&[a], Types::VOID).unwrap();
    assert!(!types.same(f1, f3));
    let (x, y) = (
        types.fixed_array(Types::CHAR, 3).unwrap(),
        types.fixed_array(Types::CHAR, 4).unwrap(),
    );
    assert!(!types.same(x, y));
}

#[test]
fn types_with_type_information_are_the_same_as_no_others() {
    let mut types = Types::new();
    let fields = [("x", Types::SIGNED)];
    let plain = types.gc_struct("s", &fields).unwrap();
    let first = types.gc_struct_with_rtti("s", &fields).unwrap();
    let second = types.gc_struct_with_rtti("s", &fields).unwrap();
    assert!(!types.same(plain, first) && !types.same(first, second));
    assert!(types.same(first, first));
}

/// `GcStruct node { value: Signed, next: * node }`.
fn list(types: &mut Types) -> TypeId {
    let forward = types.forward(true);
    let next = types.ptr(forward).unwrap();
    let node = types
        .gc_struct("node", &[("value", Types::SIGNED), ("next", next)])
        .unwrap();
    types.define(forward, node).unwrap();
    node
}

#[test]
fn a_recursive_type_is_the_same_as_its_unfolding_and_hashes_alike() {
    let mut types = Types::new();
    let node = list(&mut types);
    let inner = list(&mut types);
    let ptr = types.ptr(inner).unwrap();
    let unfolded = types
        .gc_struct("node", &[("value", Types::SIGNED), ("next", ptr)])
        .unwrap();
    assert!(types.same(node, unfolded));
    assert_eq!(types.hash(node), types.hash(unfolded));
    let other = types
        .gc_struct("node", &[("value", Types::FLOAT), ("next", ptr)])
        .unwrap();
    assert!(!types.same(node, other));
    assert_eq!(
        types.name(node),
        "GcStruct node { value: Signed, next: * GcStruct node }"
    );
}

#[test]
fn a_type_that_is_not_defined_yet_has_no_hash_and_equals_only_itself() {
    let mut types = Types::new();
    let (a, b) = (types.forward(true), types.forward(true));
    let ptr = types.ptr(a).unwrap();
    assert_eq!(types.hash(ptr), Err(TypeFault::Unresolved));
    assert!(types.same(a, a) && !types.same(a, b));
}

#[test]
fn errors_name_the_alternative() {
    let mut p = parts();
    let error = p
        .types
        .structure("s", &[("a", p.array), ("b", Types::SIGNED)])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the array `a` can't lie in `s` unless as the last field of a structure"
    );
    let error = p.types.structure("s", &[("a", p.gc)]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a GcStruct g { a: Signed } can only lie in a GcStruct, as its first field; use a pointer to it"
    );
}

#[test]
fn sized_integers_are_types_of_their_own() {
    let types = Types::new();
    for (n, primitive) in Primitive::ALL.into_iter().enumerate() {
        for (m, other) in Primitive::ALL.into_iter().enumerate() {
            let (a, b) = (types.primitive(primitive), types.primitive(other));
            assert_eq!(types.same(a, b), n == m, "{primitive:?} {other:?}");
        }
    }
    assert_eq!(
        types.name(types.primitive(Primitive::SignedBits(16))),
        "Signed16"
    );
}
