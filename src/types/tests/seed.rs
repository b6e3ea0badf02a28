//! Every relation and equation of the specification, one by one, under its own name, section by
//! section.
//!
//! # Contradictions between the specification's examples and its rules
//!
//! The examples hold; these are the places:
//!
//! - `ObjectUser[my_obj] | ObjectUser[my_obj2] == ObjectUser[MyClass]`: the smallest type above
//!   both would be `ObjectUser[MyClass:Exact]`. Two objects of one class therefore give the class,
//!   not `:Exact`.
//! - `User[Car] | User[Motorcycle] == User`: the smallest would be `User[Vehicle]`. The
//!   specification itself states that a union does not look for a common ancestor.
//! - `LongUser[MyIntClass] < LongUser[MyClass]`: there is no `MyIntClass`; `MyClassInt` is meant.
//! - `UserInt[MyInt] | Unicode`: there is no `UserInt`; `LongUser` is meant.
//! - `User[MyClass] & ObjectUser = ObjectUser[MyClass]`: `=` is `==`.
//! - "`OptT` for every `Object` subtype": a specialized type loses its specialization, as in any
//!   union.
//! - `TypeExact[Metaclass:obj]`, "its only subtypes are itself and `Bottom`": and its mortal and
//!   immortal parts.

use super::{WORLD, check, ty};
use crate::types::{Hierarchy, Names, Predefined, Type, predefined_names, universe};

/// Defines a test for each relation.
macro_rules! relations {
    ($( $name:ident: $text:literal; )*) => { $( #[test] fn $name() { check($text); } )* };
}

mod specialization {
    use super::check;
    relations! {
        user_my_class_lt_user: "User[MyClass] < User";
        user_my_class_exact_lt_user_my_class: "User[MyClass:Exact] < User[MyClass]";
        user_my_subclass_lt_user_my_class: "User[MySubclass] < User[MyClass]";
        not_user_my_subclass_lt_user_my_class_exact: "!(User[MySubclass] < User[MyClass:Exact])";
        long_user_my_int_lt_long_user: "LongUser[MyInt] < LongUser";
        long_user_my_class_int_lt_user_my_class: "LongUser[MyClassInt] < User[MyClass]";
        long_user_my_class_int_lt_long_user_my_int: "LongUser[MyClassInt] < LongUser[MyInt]";
        bytes_user_my_bytes_lt_bytes_user: "BytesUser[MyBytes] < BytesUser";
        object_user_my_obj_lt_user_my_class: "ObjectUser[my_obj] < User[MyClass]";
        object_user_my_obj_lt_user_my_class_exact: "ObjectUser[my_obj] < User[MyClass:Exact]";
        object_user_my_subobj_lt_user_my_class: "ObjectUser[my_subobj] < User[MyClass]";
        not_object_user_my_subobj_lt_user_my_class_exact: "!(ObjectUser[my_subobj] < User[MyClass:Exact])";
        object_user_my_subobj_lt_user_my_subclass: "ObjectUser[my_subobj] < User[MySubclass]";
        object_user_my_subobj_lt_user_my_subclass_exact: "ObjectUser[my_subobj] < User[MySubclass:Exact]";
        long_exact_an_int_lt_long_exact: "LongExact[an_int] < LongExact";
        the_object_long_user_my_int_lt_long_user: "LongUser[my_int] < LongUser";
        long_user_my_int_lt_long_user_my_int: "LongUser[my_int] < LongUser[MyInt]";
        long_user_my_class_int_lt_long_user_my_class_int: "LongUser[my_class_int] < LongUser[MyClassInt]";
        the_object_long_user_my_class_int_lt_long_user_my_int: "LongUser[my_class_int] < LongUser[MyInt]";
        the_object_long_user_my_class_int_lt_user_my_class: "LongUser[my_class_int] < User[MyClass]";
        bytes_exact_a_bytes_lt_bytes_exact: "BytesExact[a_bytes] < BytesExact";
        bytes_user_my_bytes_lt_bytes_user_my_bytes: "BytesUser[my_bytes] < BytesUser[MyBytes]";
        user_my_class_and_long_eq_long_user_my_class: "User[MyClass] & Long == LongUser[MyClass]";
        object_user_my_obj_and_user_my_class_eq_object_user_my_obj: "ObjectUser[my_obj] & User[MyClass] == ObjectUser[my_obj]";
        object_user_my_obj_and_object_user_my_obj2_eq_bottom: "ObjectUser[my_obj] & ObjectUser[my_obj2] == Bottom";
        object_user_my_subobj_and_object_user_my_obj_eq_bottom: "ObjectUser[my_subobj] & ObjectUser[my_obj] == Bottom";
        object_user_my_obj_and_long_user_my_int_eq_bottom: "ObjectUser[my_obj] & LongUser[my_int] == Bottom";
    }
}

mod representation_limitations {
    use super::check;
    relations! {
        user_my_class_or_user_my_subclass_eq_user_my_class: "User[MyClass] | User[MySubclass] == User[MyClass]";
        user_my_class_or_long_user_my_int_eq_user: "User[MyClass] | LongUser[MyInt] == User";
        object_user_my_obj_or_user_my_class_eq_user_my_class: "ObjectUser[my_obj] | User[MyClass] == User[MyClass]";
        object_user_my_subobj_or_user_my_class_eq_user_my_class: "ObjectUser[my_subobj] | User[MyClass] == User[MyClass]";
        object_user_my_subobj_or_user_my_subclass_eq_user_my_subclass: "ObjectUser[my_subobj] | User[MySubclass] == User[MySubclass]";
        object_user_my_obj_or_object_user_my_obj_eq_object_user_my_obj: "ObjectUser[my_obj] | ObjectUser[my_obj] == ObjectUser[my_obj]";
        object_user_my_obj_or_object_user_my_obj2_eq_object_user_my_class: "ObjectUser[my_obj] | ObjectUser[my_obj2] == ObjectUser[MyClass]";
        object_user_my_subobj_or_object_user_my_obj_eq_object_user_my_class: "ObjectUser[my_subobj] | ObjectUser[my_obj] == ObjectUser[MyClass]";
        long_user_my_class_int_or_long_user_my_int_eq_long_user_my_int: "LongUser[my_class_int] | LongUser[MyInt] == LongUser[MyInt]";
        object_user_my_obj_or_long_user_my_int_eq_object_user_long_user: "ObjectUser[my_obj] | LongUser[my_int] == {ObjectUser|LongUser}";
        user_my_class_and_user_my_subclass_eq_user_my_subclass: "User[MyClass] & User[MySubclass] == User[MySubclass]";
        long_user_my_int_and_bytes_user_my_bytes_eq_bottom: "LongUser[MyInt] & BytesUser[MyBytes] == Bottom";
        mortal_dict_or_immortal_long_eq_dict_or_long: "MortalDict | ImmortalLong == Dict | Long";
        dict_long_minus_mortal_dict_eq_immortal_dict_or_long: "{Dict|Long} - MortalDict == ImmortalDict | Long";
        dict_long_minus_mortal_dict_eq_dict_long: "{Dict|Long} - MortalDict == {Dict|Long}";
        immortal_dict_or_long_eq_dict_long: "ImmortalDict | Long == {Dict|Long}";
    }
}

mod metaclasses {
    use super::check;
    relations! {
        type_user_my_class_with_meta_obj_lt_type_user_metaclass: "TypeUser[MyClassWithMeta:obj] < TypeUser[Metaclass]";
        not_object_user_meta_obj_le_type_user_metaclass: "!(ObjectUser[meta_obj] <= TypeUser[Metaclass])";
        object_user_meta_obj_lt_user_my_class_with_meta: "ObjectUser[meta_obj] < User[MyClassWithMeta]";
    }
}

mod intersections_and_multiple_inheritance {
    use super::check;
    relations! {
        user_my_class_and_long_user_my_int_eq_long_user_my_class: "User[MyClass] & LongUser[MyInt] == LongUser[MyClass]";
        long_user_my_int_and_user_my_class_eq_long_user_my_class: "LongUser[MyInt] & User[MyClass] == LongUser[MyClass]";
        long_user_my_class_int_lt_long_user_my_class: "LongUser[MyClassInt] < LongUser[MyClass]";
        user_my_class_and_bytes_user_my_bytes_eq_bytes_user_my_bytes: "User[MyClass] & BytesUser[MyBytes] == BytesUser[MyBytes]";
        user_my_class_and_object_user_eq_object_user_my_class: "User[MyClass] & ObjectUser == ObjectUser[MyClass]";
        object_user_my_class_and_long_user_my_int_eq_bottom: "ObjectUser[MyClass] & LongUser[MyInt] == Bottom";
        long_user_my_int_and_bytes_user_my_bytes_eq_bottom: "LongUser[MyInt] & BytesUser[MyBytes] == Bottom";
    }
}

mod primitive_types {
    use super::check;
    relations! {
        cint32_123_lt_cint: "CInt32[123] < CInt";
        not_cint32_123_lt_long: "!(CInt32[123] < Long)";
        not_cint32_123_lt_long_123: "!(CInt32[123] < Long[123])";
        not_cint32_123_lt_cint64: "!(CInt32[123] < CInt64)";
        not_cint32_lt_cint64: "!(CInt32 < CInt64)";
        cbool_true_lt_cbool: "CBool[true] < CBool";
        cbool_false_lt_primitive: "CBool[false] < Primitive";
    }
}

mod non_features {
    use super::check;
    relations! {
        long_user_my_int_or_unicode_eq_long_user_unicode: "LongUser[MyInt] | Unicode == {LongUser|Unicode}";
        user_car_or_user_vehicle_eq_user_vehicle: "User[Car] | User[Vehicle] == User[Vehicle]";
        user_motorcycle_or_user_vehicle_eq_user_vehicle: "User[Motorcycle] | User[Vehicle] == User[Vehicle]";
        user_car_or_user_motorcycle_eq_user: "User[Car] | User[Motorcycle] == User";
    }
}

/// The edges of the specification's pictures: each lower type is strictly below the upper one, and
/// not the reverse.
mod pictures {
    use super::check;
    relations! {
        object_lt_top: "Object < Top";
        object_exact_lt_object: "ObjectExact < Object";
        object_user_lt_object: "ObjectUser < Object";
        base_exception_lt_object: "BaseException < Object";
        base_exception_exact_lt_base_exception: "BaseExceptionExact < BaseException";
        base_exception_user_lt_base_exception: "BaseExceptionUser < BaseException";
        bytes_lt_object: "Bytes < Object";
        bytes_exact_lt_bytes: "BytesExact < Bytes";
        bytes_user_lt_bytes: "BytesUser < Bytes";
        dict_lt_object: "Dict < Object";
        dict_exact_lt_dict: "DictExact < Dict";
        dict_user_lt_dict: "DictUser < Dict";
        float_lt_object: "Float < Object";
        float_exact_lt_float: "FloatExact < Float";
        float_user_lt_float: "FloatUser < Float";
        list_lt_object: "List < Object";
        list_exact_lt_list: "ListExact < List";
        list_user_lt_list: "ListUser < List";
        long_lt_object: "Long < Object";
        long_exact_lt_long: "LongExact < Long";
        long_user_lt_long: "LongUser < Long";
        bool_lt_long: "Bool < Long";
        tuple_lt_object: "Tuple < Object";
        tuple_exact_lt_tuple: "TupleExact < Tuple";
        tuple_user_lt_tuple: "TupleUser < Tuple";
        type_lt_object: "Type < Object";
        type_exact_lt_type: "TypeExact < Type";
        type_user_lt_type: "TypeUser < Type";
        unicode_lt_object: "Unicode < Object";
        unicode_exact_lt_unicode: "UnicodeExact < Unicode";
        unicode_user_lt_unicode: "UnicodeUser < Unicode";
        code_lt_object: "Code < Object";
        frame_lt_object: "Frame < Object";
        func_lt_object: "Func < Object";
        none_type_lt_object: "NoneType < Object";
        slice_lt_object: "Slice < Object";
        primitive_lt_top: "Primitive < Top";
        nullptr_lt_primitive: "Nullptr < Primitive";
        cbool_lt_primitive: "CBool < Primitive";
        cdouble_lt_primitive: "CDouble < Primitive";
        cint8_lt_primitive: "CInt8 < Primitive";
        cint16_lt_primitive: "CInt16 < Primitive";
        cint32_lt_primitive: "CInt32 < Primitive";
        cint64_lt_primitive: "CInt64 < Primitive";
        cuint8_lt_primitive: "CUInt8 < Primitive";
        cuint16_lt_primitive: "CUInt16 < Primitive";
        cuint32_lt_primitive: "CUInt32 < Primitive";
        cuint64_lt_primitive: "CUInt64 < Primitive";
        object_user_lt_user: "ObjectUser < User";
        base_exception_user_lt_user: "BaseExceptionUser < User";
        bytes_user_lt_user: "BytesUser < User";
        dict_user_lt_user: "DictUser < User";
        float_user_lt_user: "FloatUser < User";
        list_user_lt_user: "ListUser < User";
        long_user_lt_user: "LongUser < User";
        tuple_user_lt_user: "TupleUser < User";
        type_user_lt_user: "TypeUser < User";
        unicode_user_lt_user: "UnicodeUser < User";
        mortal_dict_lt_dict: "MortalDict < Dict";
        mortal_dict_exact_lt_mortal_dict: "MortalDictExact < MortalDict";
        mortal_dict_exact_lt_dict_exact: "MortalDictExact < DictExact";
        mortal_dict_user_lt_mortal_dict: "MortalDictUser < MortalDict";
        mortal_dict_user_lt_dict_user: "MortalDictUser < DictUser";
        immortal_dict_lt_dict: "ImmortalDict < Dict";
        immortal_dict_exact_lt_immortal_dict: "ImmortalDictExact < ImmortalDict";
        immortal_dict_exact_lt_dict_exact: "ImmortalDictExact < DictExact";
        immortal_dict_user_lt_immortal_dict: "ImmortalDictUser < ImmortalDict";
        immortal_dict_user_lt_dict_user: "ImmortalDictUser < DictUser";
        bottom_lt_top: "Bottom < Top";
    }
}

#[test]
fn inner_types_are_the_union_of_the_types_below_them() {
    for equation in [
        "Dict == MortalDict | ImmortalDict",
        "Dict == DictExact | DictUser",
        "Long == LongExact | LongUser | Bool",
        "Object == MortalObject | ImmortalObject",
        "Top == Object | Primitive",
        "OptDict == Dict | Nullptr",
        "OptObject == {Object|Nullptr}",
        "OptMortalUser == MortalUser | Nullptr",
        "User == Object - BuiltinExact",
        "CInt == CSigned | CUnsigned",
        "Primitive == CInt | CBool | CDouble | CPtr | Nullptr",
    ] {
        check(equation);
    }
}

#[test]
fn bottom_is_a_strict_subtype_of_every_other_type() {
    for (name, ty) in predefined_names() {
        assert_eq!(Type::BOTTOM < ty, name != "Bottom", "{name}");
    }
}

#[test]
fn exact_and_user_exist_only_for_classes_that_can_have_subclasses() {
    for row in Predefined::ALL {
        for suffix in ["Exact", "User"] {
            let name = format!("{}{suffix}", row.name());
            let read = Type::parse(&name, &Names::none());
            assert_eq!(read.is_err(), row.is_closed(), "{name}");
        }
    }
}

#[test]
fn opt_t_is_t_or_a_null_pointer_for_every_object_type() {
    let mut count = 0;
    for (name, ty) in predefined_names() {
        let is_object = ty <= Type::OBJECT && !ty.is_bottom();
        if let Ok(opt) = Type::parse(&format!("Opt{name}"), &Names::none()) {
            assert!(is_object, "{name}");
            assert_eq!(opt, ty | Type::NULLPTR, "{name}");
            count += 1;
        } else {
            assert!(!is_object, "{name}");
        }
    }
    assert!(count > 180, "only {count} object types");
}

#[test]
fn a_specialization_constrains_only_its_own_kind_of_leaves() {
    // "`(BytesUser, _, kSpecInt, _)` is invalid", and "`(CInt32, _, kSpecObject, _)` is also
    // invalid".
    for text in [
        "BytesUser[5]",
        "CInt32[MyClass]",
        "CInt32[my_obj]",
        "CInt32[MyInt:Exact]",
        "Primitive[5]",
    ] {
        let world = Hierarchy::parse(WORLD).expect("well-formed");
        assert!(Type::parse(text, &world.names()).is_err(), "{text}");
    }
}

#[test]
fn a_class_as_an_object_has_no_subtypes_but_its_own_lifetimes() {
    let world = Hierarchy::parse(WORLD).expect("well-formed");
    let object = ty(&world, "TypeExact[Metaclass:obj]");
    for low in universe(&world) {
        let is_below = low <= object;
        assert_eq!(
            is_below,
            low.is_bottom() || low.drop_mortality() == object,
            "{low}"
        );
    }
}

#[test]
fn the_effect_of_metaclasses_on_classes_and_their_objects() {
    // `TypeExact[Metaclass:obj]`: its only subtypes are itself and `Bottom`.
    check("TypeExact[Metaclass:obj] < TypeExact");
    check("!(TypeExact[Metaclass:obj] could_be TypeUser[Metaclass])");
    check("TypeUser[MyClassWithMeta:obj] < TypeUser");
    check("!(TypeUser[MyClassWithMeta:obj] could_be User[MyClassWithMeta])");
}

#[test]
fn the_internal_representation_is_that_of_the_specification() {
    let world = Hierarchy::parse(WORLD).expect("well-formed");
    // A class with a predefined base cannot have another.
    assert_eq!(ty(&world, "User[MyInt]"), ty(&world, "LongUser[MyInt]"));
    // Exactly `MyClass` has no other predefined base.
    assert_eq!(
        ty(&world, "User[MyClass:Exact]"),
        ty(&world, "ObjectUser[MyClass:Exact]")
    );
    assert_eq!(ty(&world, "MortalBytes"), Type::BYTES.mortal());
    assert_eq!(
        ty(&world, "CInt32[5]"),
        Type::from_cint(Type::CINT32, 5).expect("in range")
    );
}
