//! Tests of the text form, and of the errors of all readers of text.

use super::{WORLD, eval, ty};
use crate::types::{ClassDesc, Hierarchy, HostId, Names, ObjectDesc, Predefined, Type, evaluate};

/// `text` read and printed is `printed`.
#[track_caller]
fn check_print(text: &str, printed: &str) {
    let world = Hierarchy::parse(WORLD).expect("well-formed");
    let read = ty(&world, text);
    assert_eq!(read.to_string(), printed);
    assert_eq!(ty(&world, printed), read);
}

#[test]
fn types_print_in_one_form() {
    for (text, printed) in [
        ("{LongUser|Bool|LongExact}", "Long"),
        ("{Tuple|List}", "{List|Tuple}"),
        ("Mortal{Tuple|List}", "Mortal{List|Tuple}"),
        ("{MortalTuple|MortalList}", "Mortal{List|Tuple}"),
        ("{CInt64|Immortal{Set|Dict}}", "{CInt64|Immortal{Dict|Set}}"),
        ("{List|Nullptr}", "OptList"),
        ("{MortalList|Nullptr}", "OptMortalList"),
        ("Opt{List|Tuple}", "{List|Nullptr|Tuple}"),
        ("{MortalList|CInt64}", "{CInt64|MortalList}"),
        ("{CInt8|CInt16|CInt32|CInt64}", "CSigned"),
        ("{Object|Primitive}", "Top"),
        ("User [ MyClass ]", "User[MyClass]"),
        ("MortalUser[MyClass]", "MortalUser[MyClass]"),
        (
            "{LongUser|BytesUser}[MyClass]",
            "{BytesUser|LongUser}[MyClass]",
        ),
        (
            "Mortal{LongUser|BytesUser}[MyClass]",
            "Mortal{BytesUser|LongUser}[MyClass]",
        ),
        ("Long[5]", "LongExact[5]"),
        ("LongExact[an_int]", "LongExact[5]"),
        ("Long[True]", "ImmortalBool[True]"),
        ("Type[int:obj]", "ImmortalTypeExact[int:obj]"),
        ("Type[Metaclass:obj]", "TypeExact[Metaclass:obj]"),
        ("List[list:Exact]", "ListExact"),
        (
            "UnicodeExact[\"a text that is far too long\"]",
            "UnicodeExact[\"a text that is far t\"...]",
        ),
        ("UnicodeExact[\"] & :obj\"]", "UnicodeExact[\"] & :obj\"]"),
        (
            "Long[123456789012345678901234567890]",
            "LongExact[12345678901234567890...]",
        ),
        ("CInt32[-5]", "CInt32[-5]"),
        ("CUInt8[0xff]", "CUInt8[255]"),
        ("CPtr[16]", "CPtr[0x10]"),
        (
            "CUInt64[18446744073709551615]",
            "CUInt64[18446744073709551615]",
        ),
        ("CDouble[1]", "CDouble[1.0]"),
        ("CDouble[-0.0]", "CDouble[-0.0]"),
        ("CDouble[1e300]", "CDouble[1e300]"),
        ("CDouble[-inf]", "CDouble[-inf]"),
        ("CDouble[nan]", "CDouble[nan]"),
        (
            "CDouble[nan:0x7ff8000000000001]",
            "CDouble[nan:0x7ff8000000000001]",
        ),
        ("CBool[true]", "CBool[true]"),
    ] {
        check_print(text, printed);
    }
}

/// Types that differ never print alike, and read back as themselves: with names that are cut to the
/// same text, that repeat, or that look like other text.
#[test]
fn awkward_names_read_back() {
    let host = HostId::new();
    let object = host
        .register_class(ClassDesc::builtin(Predefined::Object, vec![]))
        .expect("well-formed");
    let str_ = host
        .register_class(ClassDesc::builtin(Predefined::Unicode, vec![object]))
        .expect("well-formed");
    let names = [
        "x",
        "x",
        "x#2",
        "x:Exact",
        "x:obj",
        "a]b",
        "`",
        "",
        " ",
        "\"",
        "\"a",
        "\"a\"",
        "'a\\'",
        "\u{1F980}",
        "new\nline",
        "<stale 0.1>",
        "nan:1",
        "b'x",
        "12345678901234567890123",
        "12345678901234567890124",
        "x...",
        "\"the same twenty letters, then 1\"",
        "\"the same twenty letters, then 2\"",
        "a very long name with spaces that go on and on and on and on",
    ];
    let mut seen = std::collections::HashMap::new();
    for name in names {
        let class = host
            .register_class(ClassDesc::new(name, vec![object], Predefined::Object))
            .expect("well-formed");
        let text = host
            .register_object(ObjectDesc::new(name, str_))
            .expect("well-formed");
        let denoting = ObjectDesc {
            denotes: Some(class),
            ..ObjectDesc::new(name, object)
        };
        let denoting = host.register_object(denoting).expect("well-formed");
        let types = [
            Type::from_class(class),
            Type::from_class_exact(class),
            Type::from_object(text),
            Type::from_object(denoting),
        ];
        for ty in types {
            let printed = ty.to_string();
            assert_eq!(Type::parse(&printed, &Names::of(host)), Ok(ty), "{printed}");
            assert_eq!(seen.insert(printed.clone(), ty), None, "{printed}");
        }
    }
    host.close();
}

#[test]
fn expressions_give_types_and_truths() {
    for (text, answer) in [
        ("User[MyClass] & LongUser[MyInt]", "LongUser[MyClass]"),
        ("Long | Dict - MortalDict", "{Dict|Long}"),
        ("(Long | Dict) & Dict", "Dict"),
        ("List - MortalList & Object", "ImmortalList"),
        ("User[Car] join User[Motorcycle]", "User[Vehicle]"),
    ] {
        assert_eq!(eval(text), answer, "{text}");
    }
    assert_eq!(eval("Long could_be Bool"), "true");
    assert_eq!(eval("!(Long > Bool)"), "false");
    assert_eq!(eval("Long >= Bool"), "true");
    assert_eq!(eval("Long != Bool"), "true");
}

#[test]
fn bad_text_is_an_error_at_its_column() {
    let world = Hierarchy::parse(WORLD).expect("well-formed");
    for (text, error) in [
        ("", "column 1: expected a type, found the end"),
        ("Lung", "column 1: there is no predefined type `Lung`"),
        (
            "List | Lung",
            "column 8: there is no predefined type `Lung`",
        ),
        (
            "MortalCInt32",
            "column 1: there is no predefined type `MortalCInt32`",
        ),
        (
            "Mortal{CInt32}",
            "column 1: only objects have a lifetime, and only objects can be missing",
        ),
        ("Fresh{List}", "column 1: `Fresh` is no lifetime"),
        ("{List|}", "column 7: expected a type, found `}`"),
        ("{List", "column 6: expected `}`, found the end"),
        ("List Tuple", "column 6: expected the end, found `T`"),
        (
            "User[]",
            "column 6: expected a name or a literal, found `]`",
        ),
        ("User[MyClass", "column 13: expected `]`, found the end"),
        ("User[Nobody]", "column 6: unknown class or object `Nobody`"),
        ("User[Nobody:Exact]", "column 6: unknown class `Nobody`"),
        (
            "User[my_obj:Exact]",
            "column 6: `my_obj` is an object, not a class",
        ),
        ("User[MyClass:exact]", "column 13: expected `]`, found `:`"),
        (
            "LongUser[MyBytes]",
            "column 10: nothing in `LongUser` is in `BytesUser[MyBytes]`",
        ),
        (
            "{List|CInt32}[MyClass]",
            "column 1: one specialization can't speak of objects and primitives",
        ),
        ("UnicodeExact[\"open]", "column 14: no closing `\"`"),
        ("CInt8[128]", "column 7: 128 does not fit `CInt8`"),
        ("CUInt8[-1]", "column 8: -1 does not fit `CUInt8`"),
        (
            "CInt64[99999999999999999999999999999999999999999999]",
            "column 8: 99999999999999999999999999999999999999999999 does not fit `CInt64`",
        ),
        (
            "CInt[5]",
            "column 6: `CInt` is not one primitive integer type",
        ),
        ("CInt32[five]", "column 8: `five` is no integer"),
        ("CBool[1]", "column 7: `1` is neither `true` nor `false`"),
        ("CDouble[x]", "column 9: `x` is no double"),
        (
            "Nullptr[0]",
            "column 9: `Nullptr` is not one primitive integer type",
        ),
        (
            "User[<stale 1.4294967295>]",
            "column 6: `<stale 1.4294967295>` is no stale class or object",
        ),
        ("List <", "column 7: expected a type, found the end"),
        ("!List", "column 2: expected `(`, found `L`"),
        ("!(List)", "column 3: `!` needs a comparison"),
        ("\u{e9}", "column 1: expected a type, found `\u{e9}`"),
        ("List \u{e9}", "column 6: expected the end, found `\u{e9}`"),
    ] {
        let answer = evaluate(text, &world.names());
        assert_eq!(answer.expect_err(text).to_string(), error, "{text}");
    }
    let deep = "(".repeat(100_000);
    assert_eq!(
        evaluate(&deep, &Names::none()).expect_err("deep").message,
        "nested too deeply"
    );
}

#[test]
fn bad_hierarchies_are_errors_at_their_place() {
    for (text, error) in [
        (
            "klass A",
            "line 1, column 1: expected `class` or `object`, found `k`",
        ),
        (
            "class",
            "line 1, column 6: expected the name of a class, found the end of the line",
        ),
        (
            "class A(B",
            "line 1, column 10: expected `,` or `)`, found the end of the line",
        ),
        (
            "class A(Nobody)",
            "line 1, column 9: unknown class `Nobody`",
        ),
        (
            "class A(metaclass=Nobody)",
            "line 1, column 19: unknown class `Nobody`",
        ),
        (
            "class A(metaclass=int)",
            "line 1, column 19: the metaclass `int` does not derive from `type`",
        ),
        (
            "class A\nclass A",
            "line 2, column 7: `A` is defined already",
        ),
        ("class int", "line 1, column 7: `int` is defined already"),
        (
            "class A(B)\nclass B(A)",
            "line 2, column 9: `A` derives from itself",
        ),
        ("class A(A)", "line 1, column 9: `A` derives from itself"),
        (
            "class A(bool)",
            "line 1, column 7: `A` can't inherit from `bool`: it is closed",
        ),
        (
            "class A(int, bytes)",
            "line 1, column 7: the layouts of `int` and `bytes` conflict, so `A` can't inherit from both",
        ),
        (
            "class A\nclass B(A)\nclass C(A, B)",
            "line 3, column 7: the bases of `C` have no consistent resolution order",
        ),
        (
            "class A(object, object)",
            "line 1, column 7: the bases of `A` have no consistent resolution order",
        ),
        (
            "class M(type)\nclass N(type)\nclass A(metaclass=M)\nclass B(A, metaclass=N)",
            "line 4, column 7: the metaclasses of the bases of `B` conflict",
        ),
        (
            "class A(layout=none)",
            "line 1, column 16: expected `own`, found `n`",
        ),
        (
            "class A(shape=own)",
            "line 1, column 15: expected `metaclass=`, `layout=` or `final=`, found `o`",
        ),
        (
            "class A(final=yes)\nclass B(A)",
            "line 2, column 7: `B` can't inherit from `A`: it is closed",
        ),
        (
            "object x",
            "line 1, column 9: expected `:` and the object's class, found the end of the line",
        ),
        (
            "object x: Nobody",
            "line 1, column 11: unknown class `Nobody`",
        ),
        (
            "object x: int forever",
            "line 1, column 15: expected the end of the line, found `f`",
        ),
        (
            "object x: int\nobject x: int",
            "line 2, column 8: `x` is defined already",
        ),
        (
            "object x: str = \"open",
            "line 1, column 17: expected a literal, found `\"`",
        ),
        (
            "object x: NoneType\nobject y: NoneType",
            "line 2, column 8: `y` is registered already, as `x`",
        ),
    ] {
        assert_eq!(
            Hierarchy::parse(text).expect_err(text).to_string(),
            error,
            "{text}"
        );
    }
    let chain: String = (0..5000)
        .map(|i| format!("class C{i}(C{})\n", i + 1))
        .collect();
    assert!(
        Hierarchy::parse(&chain)
            .expect_err("too deep")
            .to_string()
            .contains("more than 256 classes")
    );
}
