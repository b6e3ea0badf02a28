//! Times of functions in the host's interpreter, as machine code, and as the same functions in
//! optimised Rust, which is the limit; and the time of each stage of a compile, by the size of the
//! function.
//!
//! `cargo bench -p cladonia-reference --bench functions`; with `-- --quick` there are few rounds
//! and rough figures. Every answer is compared with Rust's. The functions are in `functions.py`;
//! `functions.tbc` was exported from it.

use cladonia::bytecode::ConstValue;
use cladonia_reference::runtime::{Options, Session};
use std::cell::RefCell;
use std::fmt::Write;
use std::hint::black_box;
use std::rc::Rc;
use std::time::{Duration, Instant};

struct Case {
    name: &'static str,
    argument: i64,
    what: &'static str,
    /// The answer as the host prints it.
    rust: fn(i64) -> String,
}

const CASES: &[Case] = &[
    Case {
        name: "ints",
        argument: 200_000,
        what: "int loop",
        rust: |n| {
            let (mut total, mut i) = (0i64, 0i64);
            while i < n {
                total += i * i % 7;
                i += 1;
            }
            total.to_string()
        },
    },
    Case {
        name: "floats",
        argument: 200_000,
        what: "float loop",
        rust: |n| {
            let (mut x, mut i) = (0.5f64, 0);
            while i < n {
                x = x * x - 0.75 + 0.001;
                i += 1;
            }
            format!("{x:?}")
        },
    },
    Case {
        name: "lists",
        argument: 2_000,
        what: "sums of a list",
        rust: |n| {
            let items: Vec<i64> = black_box((0..100).collect());
            let mut total = 0;
            for _ in 0..n {
                for item in black_box(&items) {
                    total += item;
                }
            }
            total.to_string()
        },
    },
    Case {
        name: "attributes",
        argument: 100_000,
        what: "attributes read and written",
        rust: |n| {
            struct Point {
                x: i64,
                y: i64,
            }
            let mut p = Box::new(Point { x: 1, y: 2 });
            for i in 0..n {
                let p = black_box(&mut *p);
                p.x += p.y;
                p.y += i % 3;
            }
            p.x.to_string()
        },
    },
    Case {
        name: "calls",
        argument: 22,
        what: "recursive calls",
        rust: |n| {
            fn calls(n: i64) -> i64 {
                if n < 2 {
                    n
                } else {
                    black_box(calls as fn(i64) -> i64)(n - 1) + calls(n - 2)
                }
            }
            calls(n).to_string()
        },
    },
    Case {
        name: "small",
        argument: 100_000,
        what: "calls of small functions",
        rust: |n| {
            #[inline(never)]
            fn step(total: i64, i: i64) -> i64 {
                i64::max(total - i, i) + 1
            }
            let step = black_box(step as fn(i64, i64) -> i64);
            (0..n).fold(0, step).to_string()
        },
    },
    Case {
        name: "exceptions",
        argument: 50_000,
        what: "exceptions raised and caught (Rust: Result)",
        rust: |n| {
            fn step(i: i64) -> Result<i64, Box<str>> {
                if i % 2 == 0 {
                    Err("ValueError".into())
                } else {
                    Ok(2)
                }
            }
            let step = black_box(step as fn(i64) -> Result<i64, Box<str>>);
            let caught: i64 = (0..n).map(|i| step(i).unwrap_or(1)).sum();
            caught.to_string()
        },
    },
];

/// The shortest time of some runs, and the answer.
fn best(rounds: u32, mut run: impl FnMut() -> String) -> (Duration, String) {
    let mut shortest = Duration::MAX;
    let mut answer = String::new();
    for _ in 0..rounds {
        let started = Instant::now();
        answer = black_box(run());
        shortest = shortest.min(started.elapsed());
    }
    (shortest, answer)
}

/// Runs one case in a session of its own.
fn in_host(
    case: &Case,
    argument: i64,
    (jit, inline): (bool, bool),
    rounds: u32,
) -> (Duration, String) {
    let options = Options {
        jit,
        inline,
        ..Options::default()
    };
    let session = Session::new(options).expect("a runtime");
    let program = session
        .load(include_str!("functions.tbc"))
        .unwrap_or_else(|e| panic!("{e}"));
    let args = [ConstValue::Int(argument)];
    let run = || {
        program
            .call(case.name, &args)
            .unwrap_or_else(|e| panic!("{e}"))
    };
    // All compiles happen before the measurement.
    if jit {
        (0..3).for_each(|_| drop(run()));
        let made = session.statistics().units;
        assert!(
            made > 0,
            "`{}` was not compiled: {:?}",
            case.name,
            session.statistics().refused
        );
    }
    best(rounds, run)
}

fn run_times(rounds: u32, scale: i64) {
    println!(
        "{:<12}{:>9}  {:>12}  {:>12}  {:>12}  {:>12}  {:>8}  {:>8}",
        "function",
        "argument",
        "interpreter",
        "machine",
        "not inlined",
        "Rust",
        "gain",
        "over Rust"
    );
    for case in CASES {
        let argument = match case.name {
            "calls" => case.argument - 8 * (scale - 1).min(1),
            _ => case.argument / scale,
        };
        let (rust, answer) = best(rounds, || (case.rust)(black_box(argument)));
        let (interpreter, slow) = in_host(case, argument, (false, false), rounds);
        let (machine, fast) = in_host(case, argument, (true, true), rounds);
        let (called, also) = in_host(case, argument, (true, false), rounds);
        assert_eq!(slow, answer, "the interpreter's answer to `{}`", case.name);
        assert_eq!(fast, answer, "machine code's answer to `{}`", case.name);
        assert_eq!(also, answer, "the answer to `{}` with all calls", case.name);
        println!(
            "{:<12}{argument:>9}  {interpreter:>12.1?}  {machine:>12.1?}  {called:>12.1?}  {rust:>12.1?}  {:>7.1}x  {:>7.1}x  {} = {answer}",
            case.name,
            interpreter.as_secs_f64() / machine.as_secs_f64(),
            machine.as_secs_f64() / rust.as_secs_f64(),
            case.what,
        );
    }
}

/// A function of `count` statements `x = x * 3 - y`.
fn statements(count: usize) -> String {
    let mut text =
        "code \"f\" {\n  params 2\n  local x\n  local y\n  stack 2\n  const 3\n".to_owned();
    for _ in 0..count {
        text += "  load_fast x\n  load_const #0\n  binary_op *  hint [FloatExact, LongExact]\n";
        text += "  load_fast y\n  binary_op -  hint [FloatExact, FloatExact]\n  store_fast x\n";
    }
    text += "  load_fast x\n  return_value\n}\n";
    text
}

fn compile_times(sizes: &[usize], rounds: u32) {
    println!(
        "\n{:<12}{:>12}  time of each stage",
        "statements", "code bytes"
    );
    for &size in sizes {
        let text = statements(size);
        let mut shortest: Vec<(&str, Duration)> = Vec::new();
        let mut bytes = 0;
        for _ in 0..rounds {
            let session = Session::new(Options::default()).expect("a runtime");
            let seen = Rc::new(RefCell::new((0, Vec::new())));
            let note = seen.clone();
            session.on_compile(Box::new(move |_, _, unit| {
                *note.borrow_mut() = (unit.code.size(), unit.timings.clone());
            }));
            let program = session.load(&text).unwrap_or_else(|e| panic!("{e}"));
            let args = [ConstValue::Float(1.0), ConstValue::Float(2.0)];
            let expected = (0..size).fold(1.0f64, |x, _| x * 3.0 - 2.0);
            for _ in 0..4 {
                let answer = program.call("f", &args).unwrap_or_else(|e| panic!("{e}"));
                assert_eq!(answer, format!("{expected:?}"));
            }
            let (size, timings) = seen.take();
            assert!(size > 0, "not compiled: {:?}", session.statistics().refused);
            bytes = size;
            for (k, &(stage, took)) in timings.iter().enumerate() {
                match shortest.get_mut(k) {
                    Some(known) => known.1 = known.1.min(took),
                    None => shortest.push((stage, took)),
                }
            }
        }
        let mut line = format!("{size:<12}{bytes:>12}");
        for (stage, took) in &shortest {
            let _ = write!(line, "  {stage} {took:.1?}");
        }
        let total: Duration = shortest.iter().map(|stage| stage.1).sum();
        println!(
            "{line}  = {total:.1?}, {:.1?} a statement",
            total / size as u32
        );
    }
}

fn main() {
    let quick = std::env::args().any(|arg| arg == "--quick");
    let (rounds, scale) = if quick { (2, 20) } else { (9, 1) };
    run_times(rounds, scale);
    let sizes: &[usize] = if quick {
        &[1, 16]
    } else {
        &[1, 4, 16, 64, 256, 1024]
    };
    compile_times(sizes, rounds);
}
