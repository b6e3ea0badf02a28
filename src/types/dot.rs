//! The predefined types as a picture, in the language of Graphviz.

use std::fmt::Write;

use super::table::NAMES;

/// The predefined types, with an edge to each type from every type just above it. Lifetimes and
/// `Opt` apply to each object type alike and are left out.
pub fn dot() -> String {
    let mut text = String::from(
        "digraph types {\n    rankdir=TB;\n    node [shape=box, fontname=\"sans-serif\"];\n",
    );
    for (name, mask) in NAMES {
        let shape = if mask.count_ones() == 1 {
            ""
        } else {
            " [style=rounded]"
        };
        let _ = writeln!(text, "    {name}{shape};");
    }
    let strictly = |low: u64, high: u64| low & !high == 0 && low != high;
    for (upper, high) in NAMES {
        for (lower, low) in NAMES {
            let between = NAMES
                .iter()
                .any(|(_, mask)| strictly(*low, *mask) && strictly(*mask, *high));
            if strictly(*low, *high) && !between {
                let _ = writeln!(text, "    {upper} -> {lower};");
            }
        }
    }
    text.push_str("}\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_hangs_from_top_and_holds_bottom() {
        let text = dot();
        for (name, mask) in NAMES {
            assert_eq!(
                text.contains(&format!("-> {name};")),
                *name != "Top",
                "{name} has somebody above"
            );
            assert_eq!(
                text.contains(&format!("    {name} -> ")),
                *mask != 0,
                "{name} has somebody below"
            );
        }
        assert!(
            text.contains("    Long -> Bool;") && !text.contains("Object -> Bool;"),
            "only direct edges are drawn"
        );
        assert!(text.contains("    LongUser -> Bottom;"));
    }
}
