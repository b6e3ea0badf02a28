//! Whether a program does the same however it runs: in the interpreter, natively, with exits forced, under chaos, and
//! with units in the LIR interpreter.

use crate::runtime::load::LoadError;
use crate::runtime::{Options, Session};
use cladonia::bytecode::{Code, ConstValue, Document};
use cladonia::engine::Execution;
use std::fmt;

/// What a program did: what it printed, what each call gave, and how many objects it left behind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// What was printed.
    pub output: String,
    /// What each call gave: the result as `repr` writes it, or the exception with its places.
    pub results: Vec<Result<String, String>>,
    /// Objects that were alive after the program's end and not before its start.
    pub leaked: i64,
}

/// Two executions that differ.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// How the other execution was run.
    pub how: String,
    /// What the interpreter did.
    pub expected: Outcome,
    /// What the other did.
    pub found: Outcome,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Disagreement {
            how,
            expected,
            found,
        } = self;
        writeln!(f, "{how} differs from the interpreter")?;
        if expected.output != found.output {
            writeln!(
                f,
                "expected output:\n{}found:\n{}",
                expected.output, found.output
            )?;
        }
        for (i, (e, o)) in expected.results.iter().zip(&found.results).enumerate() {
            if e != o {
                let text = |r: &Result<String, String>| match r {
                    Ok(text) => text.clone(),
                    Err(text) => format!("raised\n{text}"),
                };
                writeln!(f, "call {i}: expected {}, found {}", text(e), text(o))?;
            }
        }
        if expected.leaked != found.leaked {
            writeln!(
                f,
                "{} objects left, found {}",
                expected.leaked, found.leaked
            )?;
        }
        Ok(())
    }
}

/// A program with the calls that are made of it.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The document.
    pub text: String,
    /// Global functions and their arguments, each called as often as [`Plan::times`] says.
    pub calls: Vec<(String, Vec<ConstValue>)>,
}

/// How thoroughly a program is checked.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How often each call is made.
    pub times: u32,
    /// How many seeds of forced exits and chaos.
    pub seeds: u64,
    /// Instructions the interpreter may execute in one run.
    pub max_steps: u64,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            times: 4,
            seeds: 4,
            max_steps: u64::MAX,
        }
    }
}

/// The ways in which a program is run besides the interpreter.
pub fn ways(plan: &Plan) -> Vec<(String, Options)> {
    let base = Options {
        max_steps: u64::MAX,
        ..Options::default()
    };
    let eager = Options {
        call_threshold: 0,
        loop_threshold: 0,
        ..base
    };
    let mut ways = vec![
        ("machine code".to_owned(), base),
        ("eager machine code".to_owned(), eager),
        ("LIR interpreter".to_owned(), oracle(eager)),
    ];
    for seed in 1..=plan.seeds {
        let forced = Options {
            force: Some(1 + seed % 6),
            seed: seed.wrapping_mul(0x9e37_79b9),
            ..eager
        };
        ways.push((
            format!("machine code with forced exits (seed {seed})"),
            forced,
        ));
        let chaos = Options {
            chaos: true,
            // Each invalidation makes more; this is enough to meet every kind of them.
            max_units: 24,
            ..forced
        };
        ways.push((format!("machine code under chaos (seed {seed})"), chaos));
        ways.push((
            format!("LIR interpreter with forced exits (seed {seed})"),
            oracle(forced),
        ));
        ways.push((
            format!("chaos without forced exits (seed {seed})"),
            Options {
                force: None,
                ..chaos
            },
        ));
    }
    ways
}

/// The same with units in the LIR interpreter.
fn oracle(options: Options) -> Options {
    Options {
        execution: Execution::Oracle,
        ..options
    }
}

/// Run a program in the interpreter, then in every other way.
///
/// # Errors
/// The first disagreement, boxed; or that the program can't be loaded, as text.
pub fn check(program: &Program, plan: &Plan) -> Result<Outcome, Failure> {
    let document = Document::parse(&program.text).map_err(|e| Failure::Invalid(e.to_string()))?;
    check_codes(&document.codes, &program.calls, plan)
}

/// Why a check did not pass.
#[derive(Debug)]
pub enum Failure {
    /// The program is none.
    Invalid(String),
    /// Executions differ.
    Differs(Box<Disagreement>),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Invalid(what) => f.write_str(what),
            Failure::Differs(what) => write!(f, "{what}"),
        }
    }
}

/// The same for codes.
///
/// # Errors
/// See [`check`].
pub fn check_codes(
    codes: &[Code],
    calls: &[(String, Vec<ConstValue>)],
    plan: &Plan,
) -> Result<Outcome, Failure> {
    let interpret = Options {
        jit: false,
        max_steps: plan.max_steps,
        ..Options::default()
    };
    let expected = run(codes, calls, plan.times, interpret).map_err(Failure::Invalid)?;
    let given_up =
        |r: &Result<String, String>| matches!(r, Err(text) if text.ends_with("too many steps"));
    if expected.results.iter().any(given_up) {
        return Err(Failure::Invalid("too many steps".into()));
    }
    for (how, options) in ways(plan) {
        let found = run(codes, calls, plan.times, options).map_err(Failure::Invalid)?;
        if found != expected {
            return Err(Failure::Differs(Box::new(Disagreement {
                how,
                expected,
                found,
            })));
        }
    }
    Ok(expected)
}

/// Run a program once.
///
/// # Errors
/// It can't be loaded.
pub fn run(
    codes: &[Code],
    calls: &[(String, Vec<ConstValue>)],
    times: u32,
    options: Options,
) -> Result<Outcome, String> {
    let session = Session::new(options).map_err(|e| e.to_string())?;
    run_in(&session, codes, calls, times)
}

/// Run a program once in a runtime that is there.
///
/// # Errors
/// It can't be loaded.
pub fn run_in(
    session: &Session,
    codes: &[Code],
    calls: &[(String, Vec<ConstValue>)],
    times: u32,
) -> Result<Outcome, String> {
    let before = session.live_objects();
    let mut results = Vec::new();
    {
        let program = match session.load_codes(codes) {
            Ok(program) => program,
            Err(LoadError::Raised(report)) => {
                return Ok(Outcome {
                    output: session.take_output(),
                    results: vec![Err(report)],
                    leaked: session.live_objects() - before,
                });
            }
            Err(error) => return Err(error.to_string()),
        };
        for (name, args) in calls {
            for _ in 0..times {
                results.push(program.call(name, args));
            }
        }
    }
    Ok(Outcome {
        output: session.take_output(),
        results,
        leaked: session.live_objects() - before,
    })
}
