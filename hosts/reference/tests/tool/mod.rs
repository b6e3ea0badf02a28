//! The tool as a user runs it.

use std::io::Write;
use std::process::{Command, Stdio};

/// The result of a run.
pub struct Output {
    /// The exit status.
    pub status: i32,
    /// The text on the standard output.
    pub out: String,
    /// The text on the standard error output.
    pub err: String,
}

/// Runs the tool with a text on its standard input.
pub fn run(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_cladonia"))
        .args(arguments)
        .env_remove("BLESS")
        .env_remove("RUST_BACKTRACE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the tool starts");
    // A tool that does not read its input closes it, which is not an error.
    let _ = child
        .stdin
        .take()
        .map(|mut pipe| pipe.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("the tool ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the tool prints UTF-8");
    Output {
        status: output.status.code().expect("no signal"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}
