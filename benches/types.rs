//! What the operations of the type lattice cost: instructions per operation, beside a plain `u64` and/or.
//!
//! Instructions are counted by running this program again under `valgrind --tool=callgrind`, once for each operation and
//! once for the empty loop: counts are exact and the same on every run, where a clock is neither. Without
//! valgrind, nanoseconds are all there is.
//!
//! `cargo bench --bench types`; with `-- --check` it fails if a figure is over its limit.

use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::time::Instant;

use cladonia::types::{Hierarchy, Type};

/// How often the operation runs under the counter.
const ROUNDS: u64 = 100_000;

/// What the operations are applied to: words, unspecialized types, and classes of which one derives from the other.
struct Operands {
    words: (u64, u64),
    pairs: ((u64, u64), (u64, u64)),
    plain: (Type, Type),
    mortal: (Type, Type),
    up: (Type, Type),
    unrelated: (Type, Type),
    _world: Hierarchy,
}

/// Something to measure, with the instructions it may take over the plain `u64` operation (or, with no such
/// operation, over nothing).
struct Case {
    name: &'static str,
    limit: Option<u64>,
    over: &'static str,
    run: fn(&Operands),
}

/// One case: the operation is a function of its own, called with its operands in registers, as the plain `u64` ones are.
macro_rules! case {
    ($name:literal, $limit:expr, $over:literal, $from:ident, |$a:ident: $ty:ty, $b:ident| -> $out:ty { $body:expr }) => {
        Case {
            name: $name,
            limit: $limit,
            over: $over,
            run: |operands| {
                #[inline(never)]
                fn operation($a: $ty, $b: $ty) -> $out {
                    $body
                }
                let (a, b) = operands.$from;
                for _ in 0..ROUNDS {
                    black_box(operation(black_box(a), b));
                }
            },
        }
    };
}

/// The word operations on the same sixteen bytes: what is more than these is the price of being a `Type`.
type Pair = (u64, u64);

const CASES: &[Case] = &[
    case!("u64 and", None, "", words, |a: u64, b| -> u64 { a & b }),
    case!("u64 or", None, "", words, |a: u64, b| -> u64 { a | b }),
    case!("16 bytes, nothing done", None, "", pairs, |a: Pair,
                                                      _b|
     -> Pair {
        a
    }),
    case!("16 bytes, and", None, "", pairs, |a: Pair, b| -> Pair {
        (a.0 & b.0, 0)
    }),
    case!("16 bytes, or", None, "", pairs, |a: Pair, b| -> Pair {
        (a.0 | b.0, 0)
    }),
    case!("16 bytes, and-not", None, "", pairs, |a: Pair, b| -> Pair {
        (a.0 & !b.0, 0)
    }),
    case!("16 bytes, and-not is zero", None, "", pairs, |a: Pair,
                                                         b|
     -> bool {
        a.0 & !b.0 == 0
    }),
    case!(
        "a <= b",
        Some(8),
        "16 bytes, and-not is zero",
        plain,
        |a: Type, b| -> bool { a <= b }
    ),
    case!("a | b", Some(8), "16 bytes, or", plain, |a: Type,
                                                    b|
     -> Type {
        a | b
    }),
    case!("a & b", Some(8), "16 bytes, and", plain, |a: Type,
                                                     b|
     -> Type {
        a & b
    }),
    case!("a - b", Some(8), "16 bytes, and-not", plain, |a: Type,
                                                         b|
     -> Type {
        a - b
    }),
    case!(
        "a could_be b",
        Some(8),
        "16 bytes, and-not is zero",
        plain,
        |a: Type, b| -> bool { a.could_be(b) }
    ),
    case!("a join b", Some(8), "16 bytes, or", plain, |a: Type,
                                                       b|
     -> Type {
        a.join(b)
    }),
    case!(
        "mortal a <= b",
        None,
        "16 bytes, and-not is zero",
        mortal,
        |a: Type, b| -> bool { a <= b }
    ),
    case!("mortal a | b", None, "16 bytes, or", mortal, |a: Type,
                                                         b|
     -> Type {
        a | b
    }),
    case!("mortal a & b", None, "16 bytes, and", mortal, |a: Type,
                                                          b|
     -> Type {
        a & b
    }),
    case!(
        "mortal a - b",
        None,
        "16 bytes, and-not",
        mortal,
        |a: Type, b| -> Type { a - b }
    ),
    case!(
        "User[B] <= User[A], true",
        Some(60),
        "16 bytes, nothing done",
        up,
        |a: Type, b| -> bool { a <= b }
    ),
    case!(
        "User[A] <= User[C], false",
        Some(60),
        "16 bytes, nothing done",
        unrelated,
        |a: Type, b| -> bool { a <= b }
    ),
    case!("User[B] | User[A]", None, "", up, |a: Type, b| -> Type {
        a | b
    }),
    case!("User[B] & User[A]", None, "", up, |a: Type, b| -> Type {
        a & b
    }),
    case!("User[B] join User[A]", None, "", up, |a: Type, b| -> Type {
        a.join(b)
    }),
];

fn operands() -> Operands {
    let world = Hierarchy::parse("class A\nclass C\nclass B(A, C)").expect("well-formed");
    let classes: Vec<_> = world
        .classes()
        .iter()
        .map(|class| Type::from_class(*class))
        .collect();
    let (words, pairs) = ((5, 7), ((5, 1), (7, 1)));
    let (plain, mortal) = (
        (Type::LONG_EXACT, Type::LONG),
        (Type::LONG_EXACT.mortal(), Type::LONG.mortal()),
    );
    let (up, unrelated) = ((classes[2], classes[0]), (classes[0], classes[1]));
    Operands {
        words,
        pairs,
        plain,
        mortal,
        up,
        unrelated,
        _world: world,
    }
}

/// Instructions this program executes when it runs the case with this number, if there is a counter.
fn instructions(case: &str) -> Option<u64> {
    let program = std::env::current_exe().ok()?;
    let counter = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let output = Command::new("valgrind")
        .args(counter)
        .arg(program)
        .env("CLADONIA_CASE", case)
        .output()
        .ok()?;
    let report = String::from_utf8_lossy(&output.stderr).into_owned();
    let (_, count) = report.split_once("Collected :")?;
    count.split_whitespace().next()?.parse().ok()
}

fn main() -> ExitCode {
    if let Ok(case) = std::env::var("CLADONIA_CASE") {
        let operands = operands();
        if let Some(case) = case.parse().ok().and_then(|index: usize| CASES.get(index)) {
            (case.run)(&operands);
        }
        return ExitCode::SUCCESS;
    }
    let check = std::env::args().any(|argument| argument == "--check");
    let operands = operands();
    let empty = instructions("none");
    let mut counts: Vec<(&str, f64)> = Vec::new();
    let mut within = true;
    println!(
        "{:<28} {:>9} {:>14} {:>7} {:>6}",
        "operation", "ns", "instructions", "extra", "limit"
    );
    for (index, case) in CASES.iter().enumerate() {
        let start = Instant::now();
        (case.run)(&operands);
        let nanoseconds = start.elapsed().as_nanos() as f64 / ROUNDS as f64;
        let count =
            empty.and_then(|empty| Some(instructions(&index.to_string())?.saturating_sub(empty)));
        let Some(count) = count.map(|count| count as f64 / ROUNDS as f64) else {
            println!("{:<28} {nanoseconds:>9.2} {:>14}", case.name, "no valgrind");
            continue;
        };
        let plain = counts
            .iter()
            .find(|(name, _)| *name == case.over)
            .map_or(0.0, |(_, count)| *count);
        let extra = count - plain;
        let limit = case
            .limit
            .map_or_else(String::new, |limit| limit.to_string());
        println!(
            "{:<28} {nanoseconds:>9.2} {count:>14.1} {extra:>7.1} {limit:>6}",
            case.name
        );
        within &= case.limit.is_none_or(|limit| extra <= limit as f64 + 0.5);
        counts.push((case.name, count));
    }
    if check && (!within || counts.len() < CASES.len()) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
