//! The host's classes that programs get attributes from, with the names that instances have from
//! their class.

use super::world::{Attribute, Class, Name, Reference};
use std::collections::BTreeMap;

/// Each class with its base and the names of its methods.
const CLASSES: &[(&str, &str, &[&str])] = &[
    ("object", "", &["__init__", "__class__", "__doc__"]),
    ("NoneType", "object", &[]),
    ("int", "object", &["bit_length", "to_bytes", "conjugate"]),
    ("bool", "int", &[]),
    ("float", "object", &["is_integer", "hex", "conjugate"]),
    (
        "str",
        "object",
        &[
            "__len__",
            "join",
            "upper",
            "lower",
            "strip",
            "replace",
            "startswith",
            "endswith",
            "split",
            "find",
            "format",
            "encode",
            "rstrip",
            "lstrip",
            "splitlines",
        ],
    ),
    ("bytes", "object", &["__len__", "decode", "hex"]),
    (
        "list",
        "object",
        &[
            "__len__", "__iter__", "append", "pop", "extend", "insert", "index", "count",
            "reverse", "sort", "clear", "copy", "remove",
        ],
    ),
    (
        "tuple",
        "object",
        &["__len__", "__iter__", "index", "count"],
    ),
    (
        "dict",
        "object",
        &[
            "__len__",
            "__iter__",
            "get",
            "keys",
            "values",
            "items",
            "pop",
            "setdefault",
            "update",
            "clear",
            "copy",
        ],
    ),
    (
        "set",
        "object",
        &[
            "__len__", "__iter__", "add", "discard", "remove", "pop", "clear", "copy", "union",
        ],
    ),
    ("BaseException", "object", &["with_traceback", "add_note"]),
    ("Exception", "BaseException", &[]),
];

/// Adds the host's classes.
pub(super) fn add(classes: &mut BTreeMap<Name, Class>) {
    for (name, base, methods) in CLASSES {
        let bases = if base.is_empty() {
            Vec::new()
        } else {
            vec![Name::from(*base)]
        };
        let method = |attr: &&str| {
            let given = Some(Reference::Function(format!("{name}.{attr}").into()));
            let attribute = Attribute {
                given,
                ..Attribute::default()
            };
            (Name::from(*attr), attribute)
        };
        let class = Class {
            bases: Some(bases),
            attributes: methods.iter().map(method).collect(),
            is_builtin: true,
            ..Class::default()
        };
        classes.insert((*name).into(), class);
    }
}

/// The builtin class of this name, as a reference.
pub(super) fn class(name: &str) -> Option<Reference> {
    let is_class = CLASSES.iter().any(|row| row.0 == name);
    is_class.then(|| Reference::Class(name.into()))
}

/// Returns true if the function of this name is a method of a builtin class.
pub(super) fn is_method(name: &str) -> bool {
    let parts = name.split_once('.');
    parts.is_some_and(|(class, attr)| {
        let mut rows = CLASSES.iter();
        rows.any(|row| row.0 == class && row.2.contains(&attr))
    })
}
