//! Text forms of generated code, with the host's names for its helpers.

use super::Input;
use crate::lir::HelperId;
use cranelift_codegen::ir;

/// Cranelift's IR. Helpers are declared in the order of `helpers`, so `fnN` is the N-th of them.
pub(super) fn clif(func: &ir::Function, input: &Input, helpers: &[HelperId]) -> String {
    let mut text = String::new();
    for line in func.display().to_string().lines() {
        text.push_str(line);
        let declared = line
            .trim_start()
            .strip_prefix("fn")
            .and_then(|rest| rest.split_once(" = "));
        if let Some(id) = declared.and_then(|(n, _)| helpers.get(n.parse::<usize>().ok()?)) {
            text.push_str(" ; ");
            text.push_str(input.helpers[*id].name);
        }
        text.push('\n');
    }
    text
}

/// Machine instructions as the register allocator left them, with helpers by name.
pub(super) fn asm(vcode: &str, input: &Input, helpers: &[HelperId]) -> String {
    const MARK: &str = "userextname";
    let mut pieces = vcode.split(MARK);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(piece.len());
        match piece[..digits]
            .parse::<usize>()
            .ok()
            .and_then(|n| helpers.get(n))
        {
            Some(&id) => text.push_str(input.helpers[id].name),
            None => {
                text.push_str(MARK);
                text.push_str(&piece[..digits]);
            }
        }
        text.push_str(&piece[digits..]);
    }
    text
}
