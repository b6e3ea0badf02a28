//! Tests of queries about a type.

use super::{WORLD, check, ty};
use crate::types::{Hierarchy, LiteralError, Predefined, Type, predefined_names};

fn world() -> Hierarchy {
    Hierarchy::parse(WORLD).expect("well-formed")
}

#[test]
fn classes_and_objects_give_the_types_of_the_specification() {
    let world = world();
    for (class, open, exact) in [
        ("MyClass", "User[MyClass]", "ObjectUser[MyClass:Exact]"),
        ("MyInt", "LongUser[MyInt]", "LongUser[MyInt:Exact]"),
        (
            "MyClassInt",
            "LongUser[MyClassInt]",
            "LongUser[MyClassInt:Exact]",
        ),
        ("MyBytes", "BytesUser[MyBytes]", "BytesUser[MyBytes:Exact]"),
        (
            "Metaclass",
            "TypeUser[Metaclass]",
            "TypeUser[Metaclass:Exact]",
        ),
    ] {
        let class = *world
            .classes()
            .iter()
            .find(|known| &*known.name() == class)
            .expect("in the world");
        assert_eq!(Type::from_class(class).to_string(), open);
        assert_eq!(Type::from_class_exact(class).to_string(), exact);
        assert_eq!(Type::from_class(class).unique_class(), Some(class));
        assert_eq!(Type::from_class(class).runtime_class(), None);
        assert_eq!(Type::from_class_exact(class).runtime_class(), Some(class));
        assert!(Type::from_class_exact(class).is_exact() && !Type::from_class(class).is_exact());
    }
    let objects: Vec<_> = world
        .objects()
        .iter()
        .map(|object| Type::from_object(*object).to_string())
        .collect();
    assert_eq!(
        objects,
        [
            "ObjectUser[my_obj]",
            "ObjectUser[my_obj2]",
            "ObjectUser[my_subobj]",
            "LongExact[5]",
            "LongUser[my_int]",
            "LongUser[my_class_int]",
            "BytesExact[b'hello']",
            "BytesUser[my_bytes]",
            "ObjectUser[meta_obj]",
            "ImmortalObjectUser[forever]",
            "ImmortalObjectUser[always]",
            "ImmortalNoneType",
            "ListExact[some_list]",
        ]
    );
}

#[test]
fn an_object_known_to_be_immortal_stays_so_and_another_may_become_it() {
    for relation in [
        "ObjectUser[forever] == ImmortalObjectUser[forever]",
        "ObjectUser[forever] & MortalObject == Bottom",
        "ObjectUser[my_obj] & MortalObject == MortalObjectUser[my_obj]",
        "!(ObjectUser[my_obj] <= MortalObject)",
        "ObjectUser[forever] | ObjectUser[always] == ImmortalObjectUser[MyClass]",
        "MortalObjectUser[my_obj] | ImmortalObjectUser[my_obj] == ObjectUser[my_obj]",
        "MortalUser[MyClass:Exact] | ObjectUser[forever] == User[MyClass:Exact]",
    ] {
        check(relation);
    }
    let world = world();
    let forever = ty(&world, "ObjectUser[forever]");
    assert_eq!(forever.drop_mortality(), forever);
    assert_eq!(
        ty(&world, "MortalObjectUser[my_obj]").drop_mortality(),
        ty(&world, "ObjectUser[my_obj]")
    );
    assert_eq!(Type::CINT32.drop_mortality(), Type::CINT32);
}

#[test]
fn single_values_are_those_with_one_value() {
    let world = world();
    for text in [
        "ObjectUser[my_obj]",
        "LongExact[5]",
        "NoneType",
        "Nullptr",
        "CInt32[3]",
        "CBool[true]",
        "CDouble[1.5]",
    ] {
        assert!(ty(&world, text).is_single_value(), "{text}");
    }
    for text in [
        "User[MyClass:Exact]",
        "CBool",
        "OptNoneType",
        "Bool",
        "Bottom",
        "Long",
    ] {
        assert!(!ty(&world, text).is_single_value(), "{text}");
    }
    let none = world.host().none_object();
    assert!(none.is_some() && Type::NONE_TYPE.as_object_in(world.host()) == none);
    assert_eq!(
        ty(&world, "LongExact[5]")
            .as_object()
            .map(|object| object.name().to_string()),
        Some("5".to_owned())
    );
    assert!(!Type::NONE_TYPE.has_value_spec() && ty(&world, "CInt32[3]").has_value_spec());
}

#[test]
fn exact_types_are_those_whose_classes_have_no_subclasses_in_them() {
    assert!(
        (Type::UNICODE_EXACT | Type::LIST_EXACT).is_exact()
            && Type::BOOL.is_exact()
            && Type::FUNC.is_exact()
    );
    for ty in [
        Type::UNICODE_EXACT | Type::LIST,
        Type::LONG,
        Type::CINT32,
        Type::NULLPTR,
        Type::BOTTOM,
        Type::OBJECT,
    ] {
        assert!(!ty.is_exact(), "{ty}");
    }
    let world = world();
    let host = world.host();
    assert_eq!(
        Type::BOOL.runtime_class_in(host),
        host.builtin_class(Predefined::Bool)
    );
    assert_eq!(Type::LONG.runtime_class_in(host), None);
    for ty in [
        Type::BUILTIN_EXACT,
        Type::OBJECT - Type::LONG,
        Type::NULLPTR,
        Type::CINT32,
        ty(&world, "LongExact[5]"),
    ] {
        assert_eq!(ty.unique_class_in(host), None, "{ty}");
    }
    assert_eq!(Type::OBJECT.unique_predefined(), Some(Predefined::Object));
}

#[test]
fn literals_have_only_values_in_range() {
    let out_of_range = |value, base| Err(LiteralError::OutOfRange { value, base });
    assert_eq!(
        Type::from_cint(Type::CINT8, 127).map(Type::as_cint),
        Ok(Some(127))
    );
    assert_eq!(
        Type::from_cint(Type::CINT8, 128),
        out_of_range(128, Type::CINT8)
    );
    assert_eq!(
        Type::from_cint(Type::CINT8, -128).map(|ty| ty.to_string()),
        Ok("CInt8[-128]".to_owned())
    );
    assert_eq!(
        Type::from_cint(Type::CINT8, -129),
        out_of_range(-129, Type::CINT8)
    );
    assert_eq!(
        Type::from_cint(Type::CUINT8, -1),
        out_of_range(-1, Type::CUINT8)
    );
    assert_eq!(
        Type::from_cuint(Type::CUINT8, 256),
        out_of_range(256, Type::CUINT8)
    );
    assert_eq!(
        Type::from_cuint(Type::CINT64, u64::MAX),
        out_of_range(i128::from(u64::MAX), Type::CINT64)
    );
    let largest = Type::from_cuint(Type::CUINT64, u64::MAX).expect("fits");
    assert_eq!(
        (largest.as_cuint(), largest.as_cint()),
        (Some(u64::MAX), None)
    );
    assert_eq!(
        Type::from_cint(Type::CINT64, i64::MIN).map(|ty| (ty.as_cint(), ty.as_cuint())),
        Ok((Some(i64::MIN), None))
    );
    for base in [
        Type::CINT,
        Type::LONG,
        Type::CBOOL,
        Type::CDOUBLE,
        Type::BOTTOM,
        Type::CINT32 | Type::NULLPTR,
    ] {
        assert_eq!(
            Type::from_cint(base, 1),
            Err(LiteralError::NotAnInteger { base })
        );
    }
    assert_eq!(Type::from_cbool(true).as_cbool(), Some(true));
    assert_eq!(Type::from_cbool(true).as_cint(), None);
    assert_eq!(
        Type::from_cdouble(-0.0).as_cdouble().map(f64::to_bits),
        Some((-0.0_f64).to_bits())
    );
    assert_ne!(Type::from_cdouble(0.0), Type::from_cdouble(-0.0));
    assert_eq!(Type::from_cdouble(f64::NAN), Type::from_cdouble(f64::NAN));
    assert_eq!(Type::from_cptr(64).as_cptr(), Some(64));
    assert_eq!(
        Type::CBOOL - Type::from_cbool(true),
        Type::from_cbool(false)
    );
    assert_eq!(
        Type::from_cbool(true) | Type::from_cbool(false),
        Type::CBOOL
    );
    assert_eq!(
        Type::from_cint(Type::CINT32, 5)
            .map(|five| five | Type::from_cint(Type::CINT64, 5).expect("fits")),
        Ok(Type::CINT32 | Type::CINT64)
    );
}

#[test]
fn boxes_sizes_and_scalars() {
    assert_eq!(Type::CBOOL.as_boxed(), Some(Type::BOOL));
    assert_eq!(Type::CUINT16.as_boxed(), Some(Type::LONG_EXACT));
    assert_eq!(
        (Type::CDOUBLE | Type::CBOOL).as_boxed(),
        Some(Type::FLOAT_EXACT | Type::BOOL)
    );
    assert_eq!(Type::CPTR.as_boxed(), None);
    assert_eq!((Type::LONG | Type::CINT8).as_boxed(), None);
    let sizes = [
        Type::CINT8,
        Type::CUINT16,
        Type::CINT32,
        Type::CUINT64,
        Type::CDOUBLE,
        Type::CBOOL,
        Type::OBJECT.opt(),
    ];
    assert_eq!(
        sizes.map(Type::size_in_bytes),
        [1, 2, 4, 8, 8, 1, 8].map(Some)
    );
    assert_eq!((Type::CINT8 | Type::CINT16).size_in_bytes(), None);
    assert_eq!(Type::BOTTOM.size_in_bytes(), None);
    assert!(
        (Type::LONG_EXACT | Type::FLOAT_EXACT | Type::NONE_TYPE | Type::CINT64).is_leaf_scalar()
    );
    assert!(!Type::LONG.is_leaf_scalar() && !Type::TUPLE_EXACT.is_leaf_scalar());
}

#[test]
fn the_variants_agree_with_their_names() {
    for (name, ty) in predefined_names() {
        assert_eq!(ty.to_string(), name);
        assert_eq!(ty.opt() == ty, ty.could_be(Type::NULLPTR), "{name}");
        assert_eq!(ty.mortal() | ty.immortal(), ty, "{name}");
        assert!(
            !(ty.mortal() & Type::OBJECT).could_be(ty.immortal()),
            "{name}"
        );
        assert_eq!(ty.opt() - Type::NULLPTR, ty - Type::NULLPTR, "{name}");
    }
    let mut texts: Vec<_> = predefined_names()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    let count = texts.len();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), count, "no two types of one name");
}
