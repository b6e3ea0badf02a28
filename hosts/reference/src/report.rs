//! What a subcommand says when it is done, and how that becomes output and an exit status: 0 for an answer, 1 for an answer
//! that is bad news or for an error. (Wrong usage exits with 2, from the argument parser.)

use std::error::Error;
use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::process::ExitCode;

/// What a subcommand prints.
pub struct Report {
    /// The text for the standard output.
    pub text: String,
    /// Whether it is good news.
    pub is_good: bool,
}

impl Report {
    /// Good news.
    pub fn good(text: String) -> Report {
        let is_good = true;
        Report { text, is_good }
    }
}

/// Why a subcommand has nothing to print.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// Something is wrong, and this says what.
    pub fn new(message: impl fmt::Display) -> Failure {
        Failure(message.to_string())
    }

    /// Something is wrong at one place of a line of text; `column` counts characters from 1.
    pub fn at_column(text: &str, column: usize, error: impl fmt::Display) -> Failure {
        // One line, one place a character: the caret must stand under what it points at.
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

/// What a file is called in messages.
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

/// Prints a result and says how the process ends. Nothing that goes wrong with printing is a panic: a reader that went
/// away had enough.
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
