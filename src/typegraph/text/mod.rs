//! The text form (`.tg`): graphs, edits and questions, line by line. `docs/typegraph.md` has the grammar.
//!
//! `lex` makes tokens of a line, `cursor` reads them, `script` does what the lines say and answers the questions among them, `label` names
//! things, `print` writes a program as a script that builds it, `explain` puts reasons into words, `dot` draws.

mod cursor;
mod dot;
mod explain;
mod label;
mod lex;
mod print;
mod script;

pub use dot::dot;
pub use label::Labels;
pub use lex::{ScriptError, ScriptFault};
pub use print::print;
pub use script::{Outcome, Reply, ScriptOptions, check, run};
