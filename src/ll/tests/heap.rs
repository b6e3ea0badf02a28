//! The seed's tour, and tests of allocations, accesses, casts, functions and type information
//! (facts 53 to 61 of the reference), over checked memory; the tour over raw memory too.

use crate::ll::{
    CheckedMemory, Flavour, Heap, LlError, Memory, MemoryError, Pointer, Primitive, RawMemory,
    TypeId, Types, Value,
};
use std::rc::Rc;

fn heap(types: &Types) -> Heap<'_, CheckedMemory> {
    Heap::new(types, CheckedMemory::new())
}

fn pointer(value: Result<Value, LlError>) -> Pointer {
    match value.unwrap() {
        Value::Ptr(pointer) => pointer,
        other => panic!("{other:?} is no pointer"),
    }
}

/// The tour of the seed: a point, and a structure with two pointers to one.
fn tour<M: Memory>(memory: M) {
    let mut types = Types::new();
    let point = types
        .gc_struct("point", &[("x", Types::SIGNED), ("y", Types::SIGNED)])
        .unwrap();
    assert_eq!(types.name(point), "GcStruct point { x: Signed, y: Signed }");
    let ptr = types.ptr(point).unwrap();
    let bizarre = types
        .gc_struct("bizarre", &[("p1", ptr), ("p2", ptr)])
        .unwrap();
    let mut heap = Heap::new(&types, memory);
    let p = heap.malloc(point, None, Flavour::Gc).unwrap();
    assert_eq!(heap.get_field(p, "x"), Ok(Value::Signed(0)));
    assert_eq!(heap.get_field(p, "y"), Ok(Value::Signed(0)));
    heap.set_field(p, "x", Value::Signed(5)).unwrap();
    assert_eq!(heap.get_field(p, "x"), Ok(Value::Signed(5)));
    assert_eq!(
        heap.type_name(Value::Ptr(p)),
        "* GcStruct point { x: Signed, y: Signed }"
    );
    let b = heap.malloc(bizarre, None, Flavour::Gc).unwrap();
    assert!(pointer(heap.get_field(b, "p1")).is_null());
    heap.set_field(b, "p1", Value::Ptr(p)).unwrap();
    heap.set_field(b, "p2", Value::Ptr(p)).unwrap();
    let p1 = pointer(heap.get_field(b, "p1"));
    heap.set_field(p1, "y", Value::Signed(42)).unwrap();
    let p2 = pointer(heap.get_field(b, "p2"));
    assert_eq!(heap.get_field(p2, "y"), Ok(Value::Signed(42)));
    assert_eq!(heap.is_same(p1, p2), Ok(true));
}

#[test]
fn the_seeds_tour_over_both_memories() {
    tour(CheckedMemory::new());
    // SAFETY: the heap only accesses its allocations.
    tour(unsafe { RawMemory::new() });
}

#[test]
fn values_of_every_primitive_are_kept() {
    let mut types = Types::new();
    let sized = [(8, -3i64), (16, -300), (32, -70_000)];
    let mut values = vec![
        Value::Signed(i64::MIN),
        Value::Unsigned(u64::MAX),
        Value::Float(-0.5),
        Value::Char(b'x'),
        Value::Bool(true),
        Value::Void,
    ];
    for (bits, n) in sized {
        values.push(Value::Sized(Primitive::SignedBits(bits), n.cast_unsigned()));
        values.push(Value::Sized(
            Primitive::UnsignedBits(bits),
            n.cast_unsigned() & (u64::MAX >> (64 - bits)),
        ));
    }
    let ty = |types: &Types, value: &Value| match *value {
        Value::Signed(_) => Types::SIGNED,
        Value::Unsigned(_) => Types::UNSIGNED,
        Value::Float(_) => Types::FLOAT,
        Value::Char(_) => Types::CHAR,
        Value::Bool(_) => Types::BOOL,
        Value::Void | Value::Ptr(_) => Types::VOID,
        Value::Sized(primitive, _) => types.primitive(primitive),
    };
    let names: Vec<String> = (0..values.len()).map(|n| format!("f{n}")).collect();
    let fields: Vec<(&str, TypeId)> = names
        .iter()
        .zip(&values)
        .map(|(name, value)| (name.as_str(), ty(&types, value)))
        .collect();
    let all = types.gc_struct("all", &fields).unwrap();
    let mut heap = heap(&types);
    let p = heap.malloc(all, None, Flavour::Gc).unwrap();
    for (name, &value) in names.iter().zip(&values) {
        heap.set_field(p, name, value).unwrap();
    }
    for (name, &value) in names.iter().zip(&values) {
        assert_eq!(heap.get_field(p, name), Ok(value));
    }
}

#[test]
fn conversions_are_explicit() {
    let mut types = Types::new();
    let s = types
        .gc_struct("s", &[("x", Types::SIGNED), ("b", Types::BOOL)])
        .unwrap();
    let mut heap = heap(&types);
    let p = heap.malloc(s, None, Flavour::Gc).unwrap();
    let error = heap.set_field(p, "x", Value::Bool(true)).unwrap_err();
    assert_eq!(error.to_string(), "`x` takes Signed, not Bool");
    for value in [Value::Unsigned(1), Value::Float(1.0), Value::Ptr(p)] {
        let error = heap.set_field(p, "x", value).unwrap_err();
        assert!(matches!(error, LlError::WrongType { .. }), "{error}");
    }
    let cast = |to, value| heap.cast_primitive(to, value).unwrap();
    assert_eq!(
        cast(Primitive::Unsigned, Value::Signed(-1)),
        Value::Unsigned(u64::MAX)
    );
    assert_eq!(
        cast(Primitive::Signed, Value::Float(-2.7)),
        Value::Signed(-2)
    );
    assert_eq!(cast(Primitive::Char, Value::Signed(97)), Value::Char(b'a'));
    assert_eq!(cast(Primitive::Bool, Value::Float(0.5)), Value::Bool(true));
    assert_eq!(
        cast(Primitive::Float, Value::Unsigned(1 << 63)),
        Value::Float(2f64.powi(63))
    );
    assert_eq!(
        cast(Primitive::SignedBits(8), Value::Signed(200)),
        Value::Sized(Primitive::SignedBits(8), (-56i64).cast_unsigned())
    );
    assert_eq!(
        cast(
            Primitive::Signed,
            Value::Sized(Primitive::SignedBits(8), (-56i64).cast_unsigned())
        ),
        Value::Signed(-56)
    );
}

#[test]
fn allocations_are_refused_with_a_reason() {
    let mut types = Types::new();
    let raw = types.structure("s", &[("x", Types::SIGNED)]).unwrap();
    let gc = types.gc_struct("g", &[("x", Types::SIGNED)]).unwrap();
    let array = types.gc_array(Types::SIGNED).unwrap();
    let func = types.func(&[], Types::VOID).unwrap();
    let mut heap = heap(&types);
    use Flavour::{Gc, Immortal, Raw};
    let mut refused = |ty, items, flavour| heap.malloc(ty, items, flavour).unwrap_err();
    assert!(matches!(refused(raw, None, Gc), LlError::NotOwned(_)));
    assert!(matches!(
        refused(array, None, Gc),
        LlError::Length { needed: true, .. }
    ));
    assert!(matches!(
        refused(gc, Some(1), Gc),
        LlError::Length { needed: false, .. }
    ));
    assert_eq!(refused(array, Some(-1), Gc), LlError::NegativeLength(-1));
    assert_eq!(
        refused(array, Some(1 << 40), Gc),
        LlError::TooLarge(1 << 40)
    );
    assert!(matches!(refused(func, None, Gc), LlError::Unmallocable(_)));
    assert!(matches!(
        refused(Types::SIGNED, None, Raw),
        LlError::Unmallocable(_)
    ));
    heap.malloc(raw, None, Immortal).unwrap();
    heap.malloc(raw, None, Raw).unwrap();
}

#[test]
fn memory_that_is_not_zeroed_may_not_be_read() {
    let mut types = Types::new();
    let inner = types.structure("inner", &[("x", Types::SIGNED)]).unwrap();
    let gc = types.gc_struct("other", &[]).unwrap();
    let (to_gc, to_raw) = (types.ptr(gc).unwrap(), types.ptr(inner).unwrap());
    let fields = [
        ("n", Types::SIGNED),
        ("p", to_gc),
        ("q", to_raw),
        ("in", inner),
    ];
    let s = types.gc_struct("s", &fields).unwrap();
    let r = types.structure("r", &fields).unwrap();
    let mut heap = heap(&types);
    let p = heap.malloc_uninitialised(s, None, Flavour::Gc).unwrap();
    // A collector may run at once, so pointers that it follows are null.
    assert!(pointer(heap.get_field(p, "p")).is_null());
    let error = heap.get_field(p, "n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`n` of GcStruct s #0 is read before it is written"
    );
    assert!(heap.get_field(p, "q").is_err());
    let part = pointer(heap.get_field(p, "in"));
    let error = heap.get_field(part, "x").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`in.x` of GcStruct s #0 is read before it is written"
    );
    heap.set_field(part, "x", Value::Signed(1)).unwrap();
    assert_eq!(heap.get_field(part, "x"), Ok(Value::Signed(1)));
    // Raw allocations are never zeroed.
    let q = heap.malloc(r, None, Flavour::Raw).unwrap();
    assert!(heap.get_field(q, "p").is_err() && heap.get_field(q, "n").is_err());
    heap.free(q).unwrap();
    let z = heap.malloc(r, None, Flavour::Immortal).unwrap();
    assert_eq!(heap.get_field(z, "n"), Ok(Value::Signed(0)));
}

#[test]
fn raw_allocations_are_freed_once_and_by_hand() {
    let mut types = Types::new();
    let inner = types.structure("inner", &[("x", Types::SIGNED)]).unwrap();
    let s = types
        .structure("s", &[("n", Types::SIGNED), ("in", inner)])
        .unwrap();
    let gc = types.gc_struct("g", &[]).unwrap();
    let mut heap = heap(&types);
    let p = heap.malloc(s, None, Flavour::Raw).unwrap();
    assert_eq!(
        heap.check_leaks().unwrap_err().to_string(),
        "not freed: Struct s"
    );
    let part = pointer(heap.get_field(p, "in"));
    assert!(matches!(heap.free(part), Err(LlError::NotAnAllocation(_))));
    heap.free(p).unwrap();
    heap.check_leaks().unwrap();
    assert_eq!(
        heap.get_field(p, "n").unwrap_err().to_string(),
        "use of Struct s #0 after it was freed"
    );
    // The pointer to a part is still there after the whole was freed.
    assert_eq!(
        heap.get_field(part, "x").unwrap_err().to_string(),
        "use of `in.x` of Struct s #0 after that was freed"
    );
    assert_eq!(
        heap.free(p).unwrap_err(),
        LlError::Memory(MemoryError::DoubleFree {
            object: "Struct s #0".into()
        })
    );
    let g = heap.malloc(gc, None, Flavour::Gc).unwrap();
    assert!(matches!(heap.free(g), Err(LlError::FreesOwned(_))));
    let i = heap.malloc(s, None, Flavour::Immortal).unwrap();
    assert!(matches!(heap.free(i), Err(LlError::FreesOwned(_))));
    heap.check_leaks().unwrap();
}

#[test]
fn items_are_in_bounds_and_lengths_are_where_they_are_stored() {
    let mut types = Types::new();
    let item = types
        .structure("item", &[("k", Types::CHAR), ("v", Types::FLOAT)])
        .unwrap();
    let array = types.gc_array(item).unwrap();
    let chars = types.array(Types::CHAR).unwrap();
    let text = types
        .gc_struct("text", &[("hash", Types::SIGNED), ("chars", chars)])
        .unwrap();
    let open = types.array_without_length(Types::SIGNED).unwrap();
    let fixed = types.fixed_array(Types::UNSIGNED, 3).unwrap();
    let mut heap = heap(&types);
    let a = heap.malloc(array, Some(3), Flavour::Gc).unwrap();
    assert_eq!(heap.len(a), Ok(3));
    for n in 0..3 {
        let item = pointer(heap.get_item(a, n));
        heap.set_field(item, "v", Value::Float(n as f64)).unwrap();
    }
    let item = pointer(heap.get_item(a, 1));
    assert_eq!(heap.get_field(item, "v"), Ok(Value::Float(1.0)));
    for index in [-1, 3] {
        let error = heap.get_item(a, index).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("index {index} of GcArray of Struct item, which has 3 items")
        );
    }
    assert!(matches!(
        heap.set_item(a, 0, Value::Signed(0)),
        Err(LlError::AssignsContainer(_))
    ));
    let t = heap.malloc(text, Some(5), Flavour::Gc).unwrap();
    let inlined = pointer(heap.get_field(t, "chars"));
    assert_eq!(heap.len(inlined), Ok(5));
    heap.set_item(inlined, 4, Value::Char(b'!')).unwrap();
    assert_eq!(heap.get_item(inlined, 4), Ok(Value::Char(b'!')));
    assert!(heap.get_item(inlined, 5).is_err());
    let o = heap.malloc(open, Some(2), Flavour::Raw).unwrap();
    assert!(matches!(heap.len(o), Err(LlError::NoArray(_))));
    heap.set_item(o, 1, Value::Signed(7)).unwrap();
    // The length is not stored, but the memory knows the size.
    let error = heap.set_item(o, 2, Value::Signed(7)).unwrap_err();
    assert!(matches!(
        error,
        LlError::Memory(MemoryError::OutOfBounds { .. })
    ));
    let f = heap.malloc(fixed, None, Flavour::Raw).unwrap();
    heap.set_item(f, 2, Value::Unsigned(9)).unwrap();
    assert_eq!(heap.get_field(f, "item2"), Ok(Value::Unsigned(9)));
    assert_eq!(heap.len(f), Ok(3));
    assert!(matches!(heap.get_item(f, 3), Err(LlError::Index { .. })));
    assert!(matches!(
        heap.get_field(f, "item3"),
        Err(LlError::NoField { .. })
    ));
}

#[test]
fn null_has_an_error_of_its_own() {
    let mut types = Types::new();
    let s = types.gc_struct("s", &[("x", Types::SIGNED)]).unwrap();
    let array = types.gc_array(Types::SIGNED).unwrap();
    let mut heap = heap(&types);
    assert_eq!(
        heap.get_field(Pointer::null(s), "x"),
        Err(LlError::Null("`x` of GcStruct s".into()))
    );
    assert!(matches!(
        heap.get_item(Pointer::null(array), 0),
        Err(LlError::Null(_))
    ));
    assert!(matches!(
        heap.len(Pointer::null(array)),
        Err(LlError::Null(_))
    ));
    assert!(heap.identity_hash(Pointer::null(s)).is_err());
}

/// `GcStruct base { x }`, `GcStruct middle { super: base, y }`,
/// `GcStruct leaf { super: middle, z }`.
fn hierarchy(types: &mut Types) -> [TypeId; 3] {
    let base = types.gc_struct("base", &[("x", Types::SIGNED)]).unwrap();
    let middle = types
        .gc_struct("middle", &[("super", base), ("y", Types::SIGNED)])
        .unwrap();
    let leaf = types
        .gc_struct("leaf", &[("super", middle), ("z", Types::SIGNED)])
        .unwrap();
    [base, middle, leaf]
}

#[test]
fn pointers_are_cast_along_first_fields() {
    let mut types = Types::new();
    let [base, middle, leaf] = hierarchy(&mut types);
    let other = types.gc_struct("other", &[("super", base)]).unwrap();
    let mut heap = heap(&types);
    let l = heap.malloc(leaf, None, Flavour::Gc).unwrap();
    let b = heap.cast_pointer(base, l).unwrap();
    heap.set_field(b, "x", Value::Signed(3)).unwrap();
    let m = heap.cast_pointer(middle, b).unwrap();
    assert_eq!(heap.cast_pointer(leaf, m), Ok(l));
    assert_eq!(heap.identity_hash(b), heap.identity_hash(l));
    let field = pointer(heap.get_field(m, "super"));
    assert_eq!(heap.is_same(field, b), Ok(true));
    assert!(matches!(heap.is_same(l, b), Err(LlError::Compared(..))));
    // A cast to a type that the container does not have.
    let error = heap.cast_pointer(other, b).unwrap_err();
    assert!(matches!(error, LlError::WideningToTrash { .. }), "{error}");
    let alone = heap.malloc(base, None, Flavour::Gc).unwrap();
    let error = heap.cast_pointer(middle, alone).unwrap_err();
    assert_eq!(
        error.to_string(),
        "widening to trash: GcStruct base { x: Signed } is not the first field of a \
         GcStruct middle { super: GcStruct base { x: Signed }, y: Signed }"
    );
    // Null is cast too, but its types are checked.
    let null = Pointer::null(base);
    assert_eq!(heap.cast_pointer(leaf, null), Ok(Pointer::null(leaf)));
    let error = heap.cast_pointer(other, Pointer::null(leaf)).unwrap_err();
    assert!(matches!(error, LlError::InvalidCast { .. }));
}

#[test]
fn only_first_fields_of_the_same_kind_are_cast() {
    let mut types = Types::new();
    let inner = types.structure("inner", &[("x", Types::SIGNED)]).unwrap();
    let outer = types
        .structure("outer", &[("first", inner), ("second", inner)])
        .unwrap();
    let owned = types.gc_struct("owned", &[("first", inner)]).unwrap();
    let mut heap = heap(&types);
    let o = heap.malloc(outer, None, Flavour::Immortal).unwrap();
    let first = pointer(heap.get_field(o, "first"));
    let second = pointer(heap.get_field(o, "second"));
    assert_eq!(heap.cast_pointer(outer, first), Ok(o));
    let error = heap.cast_pointer(outer, second).unwrap_err();
    assert!(matches!(error, LlError::InvalidCast { .. }), "{error}");
    let error = heap.cast_pointer(owned, first).unwrap_err();
    assert!(matches!(error, LlError::CastChangesOwner { .. }), "{error}");
}

#[test]
fn odd_integers_go_through_casts() {
    let mut types = Types::new();
    let [base, _, leaf] = hierarchy(&mut types);
    let heap = heap(&types);
    let odd = heap.cast_int_to_pointer(leaf, 51).unwrap();
    assert_eq!(heap.cast_pointer(base, odd).unwrap().address, 51);
    assert!(heap.cast_int_to_pointer(leaf, 0).unwrap().is_null());
    assert!(heap.cast_int_to_pointer(leaf, 50).is_err());
}

#[test]
fn opaque_pointers_hide_a_type_and_give_it_back() {
    let mut types = Types::new();
    let [base, middle, _] = hierarchy(&mut types);
    let stranger = types.gc_struct("stranger", &[]).unwrap();
    let (hidden, deeper) = (types.opaque("hidden", true), types.opaque("deeper", true));
    let raw = types.opaque("raw", false);
    let mut heap = heap(&types);
    let m = heap.malloc(middle, None, Flavour::Gc).unwrap();
    let h = heap.cast_opaque(hidden, m).unwrap();
    let d = heap.cast_opaque(deeper, h).unwrap();
    assert_eq!(heap.cast_opaque(middle, d), Ok(m));
    // Its first field, too; two opaque pointers to one allocation are the same.
    let b = heap.cast_opaque(base, d).unwrap();
    let from_base = heap.cast_opaque(hidden, b).unwrap();
    assert_eq!(heap.is_same(h, from_base), Ok(true));
    assert!(matches!(
        heap.cast_opaque(stranger, h),
        Err(LlError::InvalidCast { .. })
    ));
    assert!(matches!(
        heap.cast_opaque(raw, m),
        Err(LlError::CastChangesOwner { .. })
    ));
    assert!(
        heap.cast_opaque(hidden, Pointer::null(base))
            .unwrap()
            .is_null()
    );
    assert!(matches!(
        heap.malloc(hidden, None, Flavour::Gc),
        Err(LlError::Unmallocable(_))
    ));
}

#[test]
fn calls_check_arguments_and_results_and_pass_nothing_for_nothing() {
    let mut types = Types::new();
    let int = Types::SIGNED;
    let binary = types.func(&[int, Types::VOID, int], int).unwrap();
    let holder = {
        let ptr = types.ptr(binary).unwrap();
        types.gc_struct("holder", &[("f", ptr)]).unwrap()
    };
    let mut heap = heap(&types);
    let add = heap
        .function(
            binary,
            "add",
            Some(Rc::new(|_, args| match args {
                [Value::Signed(a), Value::Signed(b)] => Ok(Value::Signed(a + b)),
                _ => Err(LlError::Raised("TypeError".into())),
            })),
        )
        .unwrap();
    let h = heap.malloc(holder, None, Flavour::Gc).unwrap();
    heap.set_field(h, "f", Value::Ptr(add)).unwrap();
    let f = pointer(heap.get_field(h, "f"));
    let args = [Value::Signed(2), Value::Void, Value::Signed(3)];
    assert_eq!(heap.call(f, &args), Ok(Value::Signed(5)));
    let error = heap.call(f, &args[..1]).unwrap_err();
    assert_eq!(error.to_string(), "`add` takes 2 arguments, not 1");
    let error = heap
        .call(f, &[Value::Signed(2), Value::Unsigned(3)])
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "argument 1 of `add` takes Signed, not Unsigned"
    );
    let declared = heap.function(binary, "elsewhere", None).unwrap();
    let error = heap.call(declared, &args).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a call of the undefined function `elsewhere`"
    );
    assert!(matches!(
        heap.call(Pointer::null(binary), &args),
        Err(LlError::Null(_))
    ));
    assert!(matches!(
        heap.function(holder, "no", None),
        Err(LlError::Unmallocable(_))
    ));
    let liar: crate::ll::Body<CheckedMemory> = Rc::new(|_, _| Ok(Value::Float(1.0)));
    let liar = heap.function(binary, "liar", Some(liar)).unwrap();
    assert!(matches!(
        heap.call(liar, &args),
        Err(LlError::WrongType { .. })
    ));
}

#[test]
fn type_information_is_that_of_the_largest_structure() {
    let mut types = Types::new();
    let base = types
        .gc_struct_with_rtti("base", &[("x", Types::SIGNED)])
        .unwrap();
    let derived = types
        .gc_struct_with_rtti("derived", &[("super", base), ("y", Types::SIGNED)])
        .unwrap();
    let plain = types.gc_struct("plain", &[]).unwrap();
    let to_base = types.ptr(base).unwrap();
    let to_info = types.ptr(Types::RUNTIME_TYPE_INFO).unwrap();
    let query = types.func(&[to_base], to_info).unwrap();
    let wrong = types.func(&[Types::SIGNED], to_info).unwrap();
    let mut heap = heap(&types);
    assert!(matches!(heap.type_info(base), Err(LlError::NoTypeInfo(_))));
    assert!(matches!(
        heap.attach_type_info(plain, None),
        Err(LlError::NoTypeInfo(_))
    ));
    let base_info = heap.attach_type_info(base, None).unwrap();
    let derived_info = heap.attach_type_info(derived, None).unwrap();
    assert_eq!(heap.is_same(base_info, derived_info), Ok(false));
    assert_eq!(heap.type_info(base), Ok(base_info));
    // As a vtable would: an object with x = 1 is a `derived`.
    let body = move |heap: &mut Heap<'_, CheckedMemory>, args: &[Value]| {
        let Value::Ptr(p) = args[0] else {
            return Err(LlError::Raised("TypeError".into()));
        };
        let is_derived = heap.get_field(p, "x")? == Value::Signed(1);
        Ok(Value::Ptr(if is_derived {
            derived_info
        } else {
            base_info
        }))
    };
    let query = heap.function(query, "query", Some(Rc::new(body))).unwrap();
    assert_eq!(heap.attach_type_info(base, Some(query)), Ok(base_info));
    let wrong = heap.function(wrong, "wrong", None).unwrap();
    assert!(matches!(
        heap.attach_type_info(base, Some(wrong)),
        Err(LlError::QueryFunction { .. })
    ));

    let d = heap.malloc(derived, None, Flavour::Gc).unwrap();
    let as_base = heap.cast_pointer(base, d).unwrap();
    heap.set_field(as_base, "x", Value::Signed(1)).unwrap();
    assert_eq!(heap.runtime_type_info(as_base), Ok(derived_info));
    assert_eq!(heap.runtime_type_info(d), Ok(derived_info));
    let b = heap.malloc(base, None, Flavour::Gc).unwrap();
    assert_eq!(heap.runtime_type_info(b), Ok(base_info));
    // The query function returns wrong information.
    heap.set_field(b, "x", Value::Signed(1)).unwrap();
    let error = heap.runtime_type_info(b).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("the query function says GcStruct derived"),
        "{error}"
    );
    // Its content belongs to the back end.
    assert!(
        heap.memory
            .load(crate::ll::Width::I64, base_info.address)
            .is_err()
    );
}
