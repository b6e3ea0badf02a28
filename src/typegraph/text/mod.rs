//! The text form (`.tg`): graphs, edits and questions, line by line. `docs/typegraph.md` has the
//! grammar.
//!
//! `lex` splits a line into tokens, `cursor` reads them, `script` runs the lines and answers the
//! questions among them, `label` gives names, `print` writes a program as a script that builds it,
//! `explain` puts reasons into words, `dot` draws.

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
