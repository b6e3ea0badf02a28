//! The result of a subcommand, and its output and exit status: 0 for a good answer, 1 for a bad one
//! or an error. (Wrong usage exits with 2, from the argument parser.)

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::process::ExitCode;

/// The output of a subcommand.
pub struct Report {
    /// The text for the standard output.
    pub text: String,
    /// True for good news.
    pub is_good: bool,
}

impl Report {
    /// Good news.
    pub fn good(text: String) -> Report {
        let is_good = true;
        Report { text, is_good }
    }
}

/// The reason why a subcommand has no output.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// An error with a message.
    pub fn new(message: impl fmt::Display) -> Failure {
        Failure(message.to_string())
    }

    /// An error at one place of a line of text; `column` counts characters from 1.
    pub fn at_column(text: &str, column: usize, error: impl fmt::Display) -> Failure {
        // One column per character: the caret must be under the fault.
        let shown: String = text
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let indent = " ".repeat(column.saturating_sub(1));
        Failure(format!("{error}\n  {shown}\n  {indent}^"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Failure {}

/// The name of a file in messages.
pub fn file_name(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

/// The text of a file; of the standard input for `-`.
pub fn read(file: &str) -> Result<String, Failure> {
    let text = if file == "-" {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(file)
    };
    text.map_err(|error| Failure::new(format_args!("{}: {error}", file_name(file))))
}

/// Prints a result and returns the exit status. An error in printing is no panic: the reader may
/// have closed the pipe.
pub fn finish(result: Result<Report, Failure>) -> ExitCode {
    let (is_good, written) = match result {
        Ok(report) => (report.is_good, write(io::stdout(), &report.text)),
        Err(failure) => (false, write(io::stderr(), &format!("error: {failure}\n"))),
    };
    match written {
        Ok(()) if is_good => ExitCode::SUCCESS,
        Err(error) if is_good && error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn write(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}
