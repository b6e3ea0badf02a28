//! Text forms of generated code, with the names of its callees.

use cranelift_codegen::ir;

/// Cranelift's IR. Callees are declared in the order of `names`, so `fnN` is the N-th of them.
pub(super) fn clif(func: &ir::Function, names: &[&str]) -> String {
    let mut text = String::new();
    for line in func.display().to_string().lines() {
        text.push_str(line);
        let declared = line
            .trim_start()
            .strip_prefix("fn")
            .and_then(|rest| rest.split_once(" = "));
        if let Some(name) = declared.and_then(|(n, _)| names.get(n.parse::<usize>().ok()?)) {
            text.push_str(" ; ");
            text.push_str(name);
        }
        text.push('\n');
    }
    text
}

/// The machine instructions after register allocation, with callees by name.
pub(super) fn asm(vcode: &str, names: &[&str]) -> String {
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
            .and_then(|n| names.get(n))
        {
            Some(name) => text.push_str(name),
            None => {
                text.push_str(MARK);
                text.push_str(&piece[..digits]);
            }
        }
        text.push_str(&piece[digits..]);
    }
    text
}
