//! The steps of an analysis, written as the seed writes them.

use crate::hir::Value;
use std::fmt::Write;

/// The steps, if they are kept.
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

    /// A block is looked at.
    pub fn analyse(&mut self, place: &str) {
        if self.on {
            self.line(&format!("Analyse({place}):"));
        }
    }

    /// An operation gave a value.
    pub fn bound(&mut self, v: Value, text: &str) {
        self.line(&format!("    {v:?} ---> {text}"));
    }

    /// The block stops at an operation.
    pub fn blocked(&mut self, op: &str) {
        if self.on {
            self.line(&format!("    impossiblevalue: blocked at `{op}`"));
        }
    }

    /// A block is to be looked at again.
    pub fn queued(&mut self, place: &str, was_blocked: bool) {
        if self.on {
            let word = match was_blocked {
                true => "Revive",
                false => "Redo",
            };
            self.line(&format!("{word}({place})"));
        }
    }

    /// Two ways meet: what was known, what arrives, what both have.
    pub fn merged(&mut self, place: &str, [before, new, both]: &[String; 3]) {
        let mut text = format!("Intersection({place}):\n");
        let _ = writeln!(text, "    previous annotations -----> {before}");
        let _ = writeln!(text, "    new annotations ----------> {new}");
        let _ = write!(text, "    intersection of both is --> {both}");
        self.line(&text);
    }
}
