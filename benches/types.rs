//! The cost of the type lattice's operations: instructions per operation, compared with a plain
//! `u64` and/or.
//!
//! Instructions are counted by running this program again under `valgrind --tool=callgrind`, once
//! for each operation and once for the empty loop: counts are exact and the same in every run,
//! unlike times. Without valgrind, only nanoseconds are shown.
//!
//! `cargo bench --bench types`; with `-- --check` it fails if a figure exceeds its limit.

use std::hint::black_box;
use std::process::{Command, ExitCode};
use std::time::Instant;

use cladonia::types::{Hierarchy, Type};

/// The number of times that the operation runs under the counter.
const ROUNDS: u64 = 100_000;

/// The operands: words, unspecialized types of every kind, and classes of which one derives from
/// the other.
struct Operands {
    words: (u64, u64),
    pairs: (Pair, Pair),
    plain: (Type, Type),
    plain_rest: (Type, Type),
    mortal: (Type, Type),
    mortal_rest: (Type, Type),
    lifetimes: (Type, Type),
    lifetimes_rest: (Type, Type),
    either: (Type, Type),
    apart: (Type, Type),
    primitives: (Type, Type),
    up: (Type, Type),
    unrelated: (Type, Type),
    joint: (Type, Type),
    _world: Hierarchy,
}

/// A `u64` in sixteen bytes: the plain operation with its operands passed like types, so that
/// additional instructions of an operation on types are the operation's own.
type Pair = (u64, u64);

/// A measured case.
struct Case {
    name: &'static str,
    /// The instructions that it may take in addition to the case named by `over` (or, without such
    /// a case, in all).
    limit: Option<u64>,
    over: &'static str,
    /// The expected result.
    answer: &'static str,
    run: fn(&Operands) -> String,
}

/// One case: the operation is a function of its own, called with its operands in registers, like
/// the plain `u64` ones.
macro_rules! case {
    ($name:literal, $limit:expr, $over:literal, $from:ident, $ty:ty => $out:ty, |$a:ident, $b:ident| $body:expr, $answer:literal) => {
        Case {
            name: $name,
            limit: $limit,
            over: $over,
            answer: $answer,
            run: |operands| {
                fn body($a: $ty, $b: $ty) -> $out {
                    $body
                }
                // An opaque pointer, so that all of them pass their operands alike.
                let operation: fn($ty, $ty) -> $out = black_box(body);
                let (a, b) = operands.$from;
                for _ in 0..ROUNDS {
                    black_box(operation(black_box(a), b));
                }
                format!("{:?}", operation(a, b))
            },
        }
    };
}

/// The limit of an operation on unspecialized types, in addition to the same on one `u64`.
const PLAIN: Option<u64> = Some(8);
/// The limit of a query about two classes in all, without the call with its operands.
const CLASSES: Option<u64> = Some(60);

#[rustfmt::skip]
const CASES: &[Case] = &[
    case!("u64 and", None, "", words, u64 => u64, |a, b| a & b, "5"),
    case!("u64 or", None, "", words, u64 => u64, |a, b| a | b, "7"),
    case!("u64 and-not", None, "", words, u64 => u64, |a, b| a & !b, "0"),
    case!("u64 and-not is 0", None, "", words, u64 => bool, |a, b| a & !b == 0, "true"),

    case!("16 bytes, nothing", None, "", pairs, Pair => Pair, |a, _b| a, "(5, 1)"),
    case!("16 bytes, and", None, "", pairs, Pair => Pair, |a, b| (a.0 & b.0, 0), "(5, 0)"),
    case!("16 bytes, or", None, "", pairs, Pair => Pair, |a, b| (a.0 | b.0, 0), "(7, 0)"),
    case!("16 bytes, and-not", None, "", pairs, Pair => Pair, |a, b| (a.0 & !b.0, 0), "(0, 0)"),
    case!("16 bytes, and-not is 0", None, "", pairs, Pair => bool, |a, b| a.0 & !b.0 == 0, "true"),

    case!("Long - Bool <= Long", PLAIN, "16 bytes, and-not is 0", plain, Type => bool, |a, b| a <= b, "true"),
    case!("Long - Bool | Long", PLAIN, "16 bytes, or", plain, Type => Type, |a, b| a | b, "Long"),
    case!("Long - Bool & Long", PLAIN, "16 bytes, and", plain, Type => Type, |a, b| a & b, "{LongExact|LongUser}"),
    case!("Long - (Long - Bool)", PLAIN, "16 bytes, and-not", plain_rest, Type => Type, |a, b| a - b, "Bool"),
    case!("Long - Bool could_be Long", PLAIN, "16 bytes, and-not is 0", plain, Type => bool, |a, b| a.could_be(b), "true"),
    case!("Long - Bool join Long", PLAIN, "16 bytes, or", plain, Type => Type, |a, b| a.join(b), "Long"),

    case!("MortalBool <= MortalLong", PLAIN, "16 bytes, and-not is 0", mortal, Type => bool, |a, b| a <= b, "true"),
    case!("MortalBool | MortalLong", PLAIN, "16 bytes, or", mortal, Type => Type, |a, b| a | b, "MortalLong"),
    case!("MortalBool & MortalLong", PLAIN, "16 bytes, and", mortal, Type => Type, |a, b| a & b, "MortalBool"),
    case!("MortalLong - MortalBool", PLAIN, "16 bytes, and-not", mortal_rest, Type => Type, |a, b| a - b, "Mortal{LongExact|LongUser}"),
    case!("MortalBool could_be MortalLong", PLAIN, "16 bytes, and-not is 0", mortal, Type => bool, |a, b| a.could_be(b), "true"),
    case!("MortalBool join MortalLong", PLAIN, "16 bytes, or", mortal, Type => Type, |a, b| a.join(b), "MortalLong"),

    case!("MortalDict <= Long", PLAIN, "16 bytes, and-not is 0", lifetimes, Type => bool, |a, b| a <= b, "false"),
    case!("MortalDict | Long", PLAIN, "16 bytes, or", lifetimes, Type => Type, |a, b| a | b, "{Dict|Long}"),
    case!("MortalDict & Long", PLAIN, "16 bytes, and", lifetimes, Type => Type, |a, b| a & b, "Bottom"),
    case!("Long - MortalDict", PLAIN, "16 bytes, and-not", lifetimes_rest, Type => Type, |a, b| a - b, "Long"),
    case!("MortalDict could_be Long", PLAIN, "16 bytes, and-not is 0", lifetimes, Type => bool, |a, b| a.could_be(b), "false"),
    case!("Dict & MortalDict", PLAIN, "16 bytes, and", either, Type => Type, |a, b| a & b, "MortalDict"),
    case!("Dict - MortalDict", PLAIN, "16 bytes, and-not", either, Type => Type, |a, b| a - b, "ImmortalDict"),
    case!("MortalDict & ImmortalDict", PLAIN, "16 bytes, and", apart, Type => Type, |a, b| a & b, "Bottom"),
    case!("MortalDict - ImmortalDict", PLAIN, "16 bytes, and-not", apart, Type => Type, |a, b| a - b, "MortalDict"),
    case!("MortalDict could_be Immortal...", PLAIN, "16 bytes, and-not is 0", apart, Type => bool, |a, b| a.could_be(b), "false"),

    case!("CInt32 <= CInt", PLAIN, "16 bytes, and-not is 0", primitives, Type => bool, |a, b| a <= b, "true"),
    case!("CInt32 | CInt", PLAIN, "16 bytes, or", primitives, Type => Type, |a, b| a | b, "CInt"),
    case!("CInt32 & CInt", PLAIN, "16 bytes, and", primitives, Type => Type, |a, b| a & b, "CInt32"),
    case!("CInt32 - CInt", PLAIN, "16 bytes, and-not", primitives, Type => Type, |a, b| a - b, "Bottom"),
    case!("CInt32 could_be CInt", PLAIN, "16 bytes, and-not is 0", primitives, Type => bool, |a, b| a.could_be(b), "true"),

    case!("User[B] <= User[A]", CLASSES, "16 bytes, nothing", up, Type => bool, |a, b| a <= b, "true"),
    case!("User[A] <= User[C]", CLASSES, "16 bytes, nothing", unrelated, Type => bool, |a, b| a <= b, "false"),
    case!("User[B] <= User", PLAIN, "16 bytes, and-not is 0", joint, Type => bool, |a, b| a <= b, "true"),
    case!("User[B] | User[A]", None, "", up, Type => Type, |a, b| a | b, "User[A]"),
    case!("User[B] & User[A]", None, "", up, Type => Type, |a, b| a & b, "User[B]"),
    case!("User[B] & User", None, "", joint, Type => Type, |a, b| a & b, "User[B]"),
    case!("User[A] & User[C]", None, "", unrelated, Type => Type, |a, b| a & b, "User[A]"),
    case!("User[B] join User[A]", None, "", up, Type => Type, |a, b| a.join(b), "User[A]"),
];

fn operands() -> Operands {
    let world = Hierarchy::parse("class A\nclass C\nclass B(A, C)").expect("well-formed");
    let classes: Vec<_> = world
        .classes()
        .iter()
        .map(|class| Type::from_class(*class))
        .collect();
    let (long, bool, dict) = (Type::LONG, Type::BOOL, Type::DICT);
    Operands {
        words: (5, 7),
        pairs: ((5, 1), (7, 1)),
        plain: (long - bool, long),
        plain_rest: (long, long - bool),
        mortal: (bool.mortal(), long.mortal()),
        mortal_rest: (long.mortal(), bool.mortal()),
        lifetimes: (dict.mortal(), long),
        lifetimes_rest: (long, dict.mortal()),
        either: (dict, dict.mortal()),
        apart: (dict.mortal(), dict.immortal()),
        primitives: (Type::CINT32, Type::CINT),
        up: (classes[2], classes[0]),
        unrelated: (classes[0], classes[1]),
        joint: (classes[2], Type::USER),
        _world: world,
    }
}

/// The number of instructions that this program executes when it runs the case with this number, if
/// there is a counter.
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
        "{:<32} {:>7} {:>13} {:>6} {:>6}  {:<22} answer",
        "operation", "ns", "instructions", "extra", "limit", "over"
    );
    for (index, case) in CASES.iter().enumerate() {
        let start = Instant::now();
        let answer = (case.run)(&operands);
        let nanoseconds = start.elapsed().as_nanos() as f64 / ROUNDS as f64;
        if answer != case.answer {
            println!("{}: the answer is {answer}, not {}", case.name, case.answer);
            return ExitCode::FAILURE;
        }
        let count =
            empty.and_then(|empty| Some(instructions(&index.to_string())?.saturating_sub(empty)));
        let Some(count) = count.map(|count| count as f64 / ROUNDS as f64) else {
            println!("{:<32} {nanoseconds:>7.2} {:>13}", case.name, "no valgrind");
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
            "{:<32} {nanoseconds:>7.2} {count:>13.1} {extra:>6.1} {limit:>6}  {:<22} {answer}",
            case.name, case.over
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
