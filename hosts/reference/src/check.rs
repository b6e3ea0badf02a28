//! Checks that a program has the same results in every form of execution: in the interpreter,
//! natively, with exits forced, under chaos, and with units in the LIR interpreter.

use crate::isolate::in_child;
use crate::runtime::load::LoadError;
use crate::runtime::{Force, Options, Session};
use cladonia::bytecode::{Code, ConstValue, Document};
use cladonia::engine::Execution;
use std::fmt;

/// The outcome of a program: its output, the result of each call, and the number of leaked objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The printed text.
    pub output: String,
    /// The result of each call: the value as `repr` writes it, or the exception with its places.
    pub results: Vec<Result<String, String>>,
    /// Objects that are alive after the program's end and were not before its start.
    pub leaked: i64,
    /// Faults of the compiler: functions that it could not compile because of a bug of its own.
    pub faults: Vec<String>,
}

/// Two executions that differ.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The form of the other execution.
    pub how: String,
    /// The outcome in the interpreter.
    pub expected: Outcome,
    /// The outcome of the other execution.
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
        for fault in &found.faults {
            writeln!(f, "{fault}")?;
        }
        Ok(())
    }
}

/// The kind of difference between executions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Difference {
    /// One of them crashes, or panics.
    Death,
    /// The results or exceptions of calls.
    Results,
    /// The printed text.
    Output,
    /// The number of leaked objects, or faults of the runtime itself.
    Leaks,
}

impl Difference {
    const BY_NAME: [(&str, Difference); 4] = [
        ("death", Difference::Death),
        ("results", Difference::Results),
        ("output", Difference::Output),
        ("leaks", Difference::Leaks),
    ];

    fn name(self) -> &'static str {
        let found = Difference::BY_NAME.iter().find(|(_, kind)| *kind == self);
        found.expect("all are there").0
    }

    fn of_name(name: &str) -> Option<Difference> {
        let found = Difference::BY_NAME.iter().find(|(n, _)| *n == name);
        found.map(|(_, kind)| *kind)
    }
}

impl Disagreement {
    /// The kind of difference, the first of several.
    pub fn kind(&self) -> Difference {
        if self.expected.results != self.found.results {
            Difference::Results
        } else if self.expected.output != self.found.output {
            Difference::Output
        } else {
            Difference::Leaks
        }
    }
}

/// A program with its calls.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The document.
    pub text: String,
    /// Global functions and their arguments, each called [`Plan::times`] times.
    pub calls: Vec<(String, Vec<ConstValue>)>,
}

/// The thoroughness of a check.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The number of times that each call is made.
    pub times: u32,
    /// The number of seeds of forced exits and chaos.
    pub seeds: u64,
    /// The seed before the first one.
    pub seed: u64,
    /// True if each seed selects one random form of execution, instead of all.
    pub is_sampled: bool,
    /// The most steps of one run.
    pub max_steps: u64,
    /// The most items of a sequence, or bits of an int, that an operator creates.
    pub max_size: usize,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            times: 4,
            seeds: 4,
            seed: 0,
            is_sampled: false,
            max_steps: u64::MAX,
            max_size: Options::default().max_size,
        }
    }
}

impl Plan {
    /// For a program from a fuzzer's bytes, which also determine the forms of execution.
    pub fn of_bytes(bytes: &[u8]) -> Plan {
        Plan::sample(bytes.iter().fold(7, |seed: u64, byte| {
            (seed ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
        }))
    }

    /// For random programs, which are many: each runs in a few forms of execution.
    pub fn sample(seed: u64) -> Plan {
        Plan {
            times: 3,
            seeds: 2,
            seed,
            is_sampled: true,
            max_steps: 100_000,
            max_size: 1 << 10,
        }
    }
}

/// The forms of execution besides the interpreter.
pub fn ways(plan: &Plan) -> Vec<(String, Options)> {
    let base = Options {
        max_size: plan.max_size,
        ..Options::default()
    };
    let eager = Options {
        call_threshold: 0,
        loop_threshold: 0,
        ..base
    };
    let seeds = (1..=plan.seeds).map(|n| plan.seed.wrapping_add(n));
    if plan.is_sampled {
        return seeds.map(|seed| sample(base, seed)).collect();
    }
    let mut ways = vec![
        ("machine code".to_owned(), base),
        ("eager machine code".to_owned(), eager),
        ("LIR interpreter".to_owned(), oracle(eager)),
        (
            "machine code with each exit forced once".to_owned(),
            Options {
                force: Some(Force::First),
                ..eager
            },
        ),
    ];
    for seed in seeds {
        let forced = Options {
            force: Some(Force::Random(1 + seed % 6)),
            seed: mix(seed),
            ..eager
        };
        ways.push((
            format!("machine code with forced exits (seed {seed})"),
            forced,
        ));
        let chaos = Options {
            chaos: true,
            max_units: MAX_UNITS,
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

/// The most units under chaos. Each invalidation causes more; this is enough to see every kind of
/// them.
const MAX_UNITS: u64 = 24;

/// Maps numbers that differ in one bit to numbers that differ in many.
fn mix(seed: u64) -> u64 {
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

/// A random form of execution.
fn sample(base: Options, seed: u64) -> (String, Options) {
    let random = mix(seed);
    let mut bits = random >> 8;
    let mut pick = |n: u64| {
        let picked = bits % n;
        bits /= n;
        picked
    };
    let chaos = pick(2) == 0;
    let options = Options {
        call_threshold: [0, 0, 1, 2][pick(4) as usize],
        loop_threshold: [0, 0, 3, 10][pick(4) as usize],
        patience: [1, 2, 4][pick(3) as usize],
        force: match pick(5) {
            0 => Some(Force::First),
            n @ (1 | 2) => Some(Force::Random(n * n * 3)),
            _ => None,
        },
        chaos,
        max_units: if chaos { MAX_UNITS } else { u64::MAX },
        seed: random,
        ..base
    };
    let forced = match options.force {
        None => "no exit forced".to_owned(),
        Some(Force::First) => "each exit forced once".to_owned(),
        Some(Force::Random(n)) => format!("exits forced once in {n} times"),
    };
    let text = format!(
        "machine code (compiled after {} calls or {} rounds, {forced}{}, patience {}, seed {seed})",
        options.call_threshold,
        options.loop_threshold,
        if chaos { ", chaos" } else { "" },
        options.patience,
    );
    (text, options)
}

/// Runs a program in the interpreter, then in every other form of execution.
///
/// # Errors
/// The first disagreement, boxed; or a text, if the program can't be loaded.
pub fn check(program: &Program, plan: &Plan) -> Result<Outcome, Failure> {
    let document = Document::parse(&program.text).map_err(|e| Failure::Invalid(e.to_string()))?;
    check_codes(&document.codes, &program.calls, plan)
}

/// The reason for not checking a program that takes too many steps.
pub const TOO_LONG: &str = "too many steps";

/// The reason why a check did not pass.
#[derive(Debug)]
pub enum Failure {
    /// The program is invalid.
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
    check_each(codes, calls, plan, &mut |_| {})
}

/// The result of a check in a process of its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// All agree.
    Agree,
    /// The program is invalid, or takes too long.
    Invalid(String),
    /// The kind of difference, and its description, or the cause of the process's death.
    Differs(Difference, String),
}

/// The same in a process of its own.
pub fn check_isolated(codes: &[Code], calls: &[(String, Vec<ConstValue>)], plan: &Plan) -> Verdict {
    const DIFFERS: &str = "\u{1}differs";
    const INVALID: &str = "\u{1}invalid";
    let done = in_child(|out| {
        let mut say = |text: &str| out.write_all(text.as_bytes()).expect("the parent reads");
        match check_each(codes, calls, plan, &mut |how| say(&format!("{how}\n"))) {
            Ok(_) => {}
            Err(Failure::Differs(what)) => say(&format!("{DIFFERS}{}\n{what}", what.kind().name())),
            Err(Failure::Invalid(why)) => say(&format!("{INVALID}{why}")),
        }
    });
    match done {
        Err((ways, why)) => {
            let how = ways.lines().last().unwrap_or("the interpreter");
            Verdict::Differs(Difference::Death, format!("{how} {why}"))
        }
        Ok(text) => match (text.split_once(DIFFERS), text.split_once(INVALID)) {
            (Some((_, text)), _) => {
                let (kind, what) = text.split_once('\n').unwrap_or((text, ""));
                let kind = Difference::of_name(kind).unwrap_or(Difference::Death);
                Verdict::Differs(kind, what.to_owned())
            }
            (_, Some((_, why))) => Verdict::Invalid(why.to_owned()),
            _ => Verdict::Agree,
        },
    }
}

/// Checks codes; `before` receives the name of each form of execution before it starts.
fn check_each(
    codes: &[Code],
    calls: &[(String, Vec<ConstValue>)],
    plan: &Plan,
    before: &mut dyn FnMut(&str),
) -> Result<Outcome, Failure> {
    let interpret = Options {
        jit: false,
        max_steps: plan.max_steps,
        max_size: plan.max_size,
        ..Options::default()
    };
    let (expected, void) = {
        let session = Session::new(interpret).map_err(|e| Failure::Invalid(e.to_string()))?;
        let outcome = run_in(&session, codes, calls, plan.times).map_err(Failure::Invalid)?;
        let void = if session.gave_up() {
            Some(TOO_LONG)
        } else if session.is_broken() {
            Some("the bytecode breaks its own rules")
        } else {
            None
        };
        (outcome, void)
    };
    if let Some(why) = void {
        return Err(Failure::Invalid(why.into()));
    }
    for (how, options) in ways(plan) {
        before(&how);
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

/// Runs a program once.
///
/// # Errors
/// If it can't be loaded.
pub fn run(
    codes: &[Code],
    calls: &[(String, Vec<ConstValue>)],
    times: u32,
    options: Options,
) -> Result<Outcome, String> {
    let session = Session::new(options).map_err(|e| e.to_string())?;
    run_in(&session, codes, calls, times)
}

/// Runs a program once in an existing runtime.
///
/// # Errors
/// If it can't be loaded.
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
                    faults: faults(session),
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
        faults: faults(session),
    })
}

/// The functions that the compiler refused because of a bug of its own.
fn faults(session: &Session) -> Vec<String> {
    let refused = session.statistics().refused;
    let faults = refused
        .iter()
        .filter(|(_, why)| why.starts_with("internal") || why.contains("request is wrong"));
    faults
        .map(|(name, why)| format!("`{name}`: {why}"))
        .collect()
}
