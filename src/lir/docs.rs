//! Checks that the op table in the chapter on LIR is the table in the code. `BLESS=1` writes it.

use super::ops::{ImmKind, OpEffects, Opcode};
use crate::ll::Ty;
use std::fmt::Write;

const START: &str = "<!-- ops -->\n";
const END: &str = "<!-- end of ops -->\n";

fn effects(effects: OpEffects) -> String {
    if effects == OpEffects::ANY {
        return "its callee's".to_owned();
    }
    let words = [
        (effects.reads, "reads"),
        (effects.writes, "writes"),
        (effects.raises, "raises"),
        (effects.allocates, "allocates"),
        (effects.releases, "releases"),
        (effects.runs_host_code, "runs host code"),
    ];
    let words: Vec<&str> = words.iter().filter(|w| w.0).map(|w| w.1).collect();
    words.join(", ")
}

fn types(types: Option<&[Ty]>, op: Opcode, is_args: bool) -> String {
    let Some(types) = types else {
        return match (op, is_args) {
            (Opcode::Icmp, _) => "a, a: i64 or ptr",
            (Opcode::Select, true) => "bool, a, a",
            (Opcode::Select, false) | (Opcode::Copy, _) => "a",
            (Opcode::Load, _) => "by width",
            (Opcode::Store, _) => "ptr, by width",
            (Opcode::CallIndirect, true) => "ptr, by signature",
            _ => "by signature",
        }
        .to_owned();
    };
    let names: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
    names.join(", ")
}

fn immediate(kind: ImmKind) -> &'static str {
    match kind {
        ImmKind::None => "",
        ImmKind::Int => "integer",
        ImmKind::Float => "double",
        ImmKind::Addr => "address",
        ImmKind::IntCond | ImmKind::FloatCond => "condition",
        ImmKind::Mem => "width, offset",
        ImmKind::Helper => "helper",
        ImmKind::Sig => "signature",
        ImmKind::Routine => "routine",
    }
}

#[test]
fn the_chapters_table_of_ops_is_the_table() {
    let mut table = String::from(
        "| op | operands | results | immediate | effects | condition |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for &op in Opcode::ALL {
        let info = op.info();
        let _ = writeln!(
            table,
            "| `{}` | {} | {} | {} | {} | {} |",
            info.name,
            types(info.args, op, true),
            types(info.results, op, false),
            immediate(info.imm),
            effects(info.effects),
            info.condition.name(),
        );
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/lir.md");
    let chapter = std::fs::read_to_string(path).unwrap();
    let (head, rest) = chapter.split_once(START).expect("the table's place");
    let (found, tail) = rest.split_once(END).expect("the table's end");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(path, format!("{head}{START}{table}{END}{tail}")).unwrap();
        return;
    }
    assert_eq!(found, table, "BLESS=1 writes docs/lir.md");
}
