//! The text of an analysis's steps, in the format of the seed.

use crate::hir::Value;
use std::fmt::Write;

/// The text of the steps, if it is kept.
#[derive(Default)]
pub(super) struct Trace {
    pub on: bool,
    pub text: String,
}

impl Trace {
    pub fn new(on: bool) -> Trace {
        let text = String::new();
        Trace { on, text }
    }

    fn line(&mut self, text: &str) {
        if self.on {
            self.text.push_str(text);
            self.text.push('\n');
        }
    }

    /// Notes that a block is analysed.
    pub fn analyse(&mut self, place: &str) {
        if self.on {
            self.line(&format!("Analyse({place}):"));
        }
    }

    /// Notes that an operation gave a value.
    pub fn bound(&mut self, v: Value, text: &str) {
        self.line(&format!("    {v:?} ---> {text}"));
    }

    /// Notes that the block stops at an operation.
    pub fn blocked(&mut self, op: &str) {
        if self.on {
            self.line(&format!("    impossiblevalue: blocked at `{op}`"));
        }
    }

    /// Notes that a block is queued again.
    pub fn queued(&mut self, place: &str, was_blocked: bool) {
        if self.on {
            let word = if was_blocked { "Revive" } else { "Redo" };
            self.line(&format!("{word}({place})"));
        }
    }

    /// Notes that two paths join: the old facts, those that arrive, and the result.
    pub fn merged(&mut self, place: &str, [before, new, both]: &[String; 3]) {
        let mut text = format!("Intersection({place}):\n");
        let _ = writeln!(text, "    previous annotations -----> {before}");
        let _ = writeln!(text, "    new annotations ----------> {new}");
        let _ = write!(text, "    intersection of both is --> {both}");
        self.line(&text);
    }
}
