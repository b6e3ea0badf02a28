//! The text form of types, which [`parse`](super::parse) reads back.
//!
//! A predefined type is its name, preceded by `Mortal` or `Immortal`, preceded by `Opt`. Any other
//! set of leaves is the fewest, widest names that make it up, `{A|B}`, with a lifetime before the
//! objects' part. A specialization follows in brackets.

use std::fmt;

use super::handles::{ClassHandle, ObjectHandle};
use super::repr::{IMMORTAL, LIFE_MASK, MORTAL, Spec, Type};
use super::table::{Leaf, NAMES, OBJECT_BITS, PRIMITIVE_BITS, bit};

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // By a string, so that a caller's width and alignment apply.
        f.pad(&to_text(*self))
    }
}

impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The word for the lifetime, before the name of an object type.
fn lifetime(word: u64) -> &'static str {
    match word & LIFE_MASK {
        MORTAL => "Mortal",
        IMMORTAL => "Immortal",
        _ => "",
    }
}

fn to_text(ty: Type) -> String {
    let leaves = leaves_text(ty.unspecialized());
    match ty.spec() {
        Spec::None => leaves,
        Spec::Class(class) => format!("{leaves}[{}]", class_text(class)),
        Spec::Exact(class) => format!("{leaves}[{}:Exact]", class_text(class)),
        Spec::Object(object) => {
            let suffix = if object.denotes().is_some() {
                ":obj"
            } else {
                ""
            };
            format!("{leaves}[{}{suffix}]", object_text(object))
        }
        Spec::Int(value) => {
            if ty.leaves() == bit(Leaf::CBool) {
                format!("{leaves}[{}]", value != 0)
            } else if ty.leaves() == bit(Leaf::CPtr) {
                format!("{leaves}[{value:#x}]")
            } else if ty.leaves() & Type::CSIGNED.word() != 0 {
                format!("{leaves}[{}]", value as i64)
            } else {
                format!("{leaves}[{value}]")
            }
        }
        Spec::Double(bits) => format!("{leaves}[{}]", double_text(f64::from_bits(bits))),
    }
}

/// A stale handle has no name any more, but keeps its identity.
fn class_text(class: ClassHandle) -> String {
    class.label().map_or_else(
        || format!("<stale {}.{}>", class.slot(), class.generation()),
        |label| label.to_string(),
    )
}

fn object_text(object: ObjectHandle) -> String {
    let stale = || format!("<stale object {}.{}>", object.slot(), object.generation());
    object.label().map_or_else(stale, |label| label.to_string())
}

/// The shortest text that reads back as these bits.
fn double_text(value: f64) -> String {
    match value.to_bits() {
        _ if !value.is_nan() => format!("{value:?}"),
        bits if bits == f64::NAN.to_bits() => "nan".to_owned(),
        bits => format!("nan:{bits:#x}"),
    }
}

fn leaves_text(ty: Type) -> String {
    let word = ty.word();
    if ty.is_bottom() {
        return "Bottom".to_owned();
    }
    let objects = word & OBJECT_BITS;
    let primitives = word & PRIMITIVE_BITS;
    let life = lifetime(word);
    if (life.is_empty() || objects == 0)
        && let Some(name) = name_of(objects | primitives)
    {
        return name.to_owned();
    }
    let mut object_names = cover(objects, OBJECT_BITS);
    let nullptr = bit(Leaf::Nullptr);
    if let ([name], true) = (
        object_names.as_slice(),
        primitives == 0 || primitives == nullptr,
    ) {
        let opt = if primitives == 0 { "" } else { "Opt" };
        return format!("{opt}{life}{name}");
    }
    let mut parts: Vec<String> = match (life, object_names.as_slice()) {
        ("", _) => object_names.drain(..).map(str::to_owned).collect(),
        (_, []) => Vec::new(),
        (life, [name]) => vec![format!("{life}{name}")],
        (life, names) if primitives == 0 => return format!("{life}{{{}}}", names.join("|")),
        (life, names) => vec![format!("{life}{{{}}}", names.join("|"))],
    };
    parts.extend(
        cover(primitives, PRIMITIVE_BITS)
            .into_iter()
            .map(str::to_owned),
    );
    parts.sort_unstable();
    match parts.as_slice() {
        [only] => only.clone(),
        _ => format!("{{{}}}", parts.join("|")),
    }
}

fn name_of(leaves: u64) -> Option<&'static str> {
    NAMES
        .iter()
        .find(|(_, mask)| *mask == leaves)
        .map(|(name, _)| *name)
}

/// Names that make up `leaves`, the widest chosen first, in alphabetical order.
fn cover(mut leaves: u64, within: u64) -> Vec<&'static str> {
    let mut names = Vec::new();
    while leaves != 0 {
        let fits =
            |(_, mask): &&(&str, u64)| mask & !leaves == 0 && *mask != 0 && mask & !within == 0;
        let widest = NAMES
            .iter()
            .filter(fits)
            .max_by_key(|(name, mask)| (mask.count_ones(), std::cmp::Reverse(*name)));
        let Some((name, mask)) = widest else { break };
        names.push(*name);
        leaves &= !mask;
    }
    names.sort_unstable();
    names
}

/// Every predefined type with its name: each row of the table, plain, `Mortal` and `Immortal`, each
/// also with `Opt`. Names that would mean the same as a shorter one (`MortalCInt32`, `OptNullptr`)
/// are left out.
pub fn predefined_names() -> Vec<(String, Type)> {
    let mut names = Vec::new();
    for (name, mask) in NAMES {
        let plain = Type::plain(*mask);
        names.push(((*name).to_owned(), plain));
        if mask & OBJECT_BITS == 0 || mask & PRIMITIVE_BITS != 0 {
            continue;
        }
        for (prefix, ty) in [("Mortal", plain.mortal()), ("Immortal", plain.immortal())] {
            names.push((format!("{prefix}{name}"), ty));
        }
        for (prefix, ty) in [
            ("Opt", plain),
            ("OptMortal", plain.mortal()),
            ("OptImmortal", plain.immortal()),
        ] {
            names.push((format!("{prefix}{name}"), ty.opt()));
        }
    }
    names
}
