//! Calls of small functions are inlined, and exits in such code create the missing frames: tests of
//! their number, and that results are the same as with a frame for each call.

use cladonia::bytecode::{ConstValue, Document};
use cladonia::engine::Execution;
use cladonia_reference::generate::{bytes, generate};
use cladonia_reference::runtime::units::Statistics;
use cladonia_reference::runtime::{Force, Options, Session};
use cladonia_reference::text::parse_call;

const PROGRAM: &str = include_str!("../../../jit-tests/files/run/inlined_calls.tbc");

/// Calls of functions that inline others, with some that exit in the inlined code.
const CALLS: &[(&str, i64)] = &[
    ("helpers", 50),
    ("getters", 50),
    ("floats_late", 50),
    ("caught", 50),
    ("uncaught_two_deep", 50),
    ("large", 80),
    ("tuples", 40),
    ("on_the_stack", 40),
    ("replaced", 50),
    ("loud", 15),
    ("deep", 150),
];

/// The results of the calls, each made this number of times, and the runtime's counts.
fn answers(options: Options) -> (Vec<Result<String, String>>, Statistics) {
    let session = Session::new(options).expect("a runtime");
    let program = session.load(PROGRAM).expect("a program");
    let call = |(name, argument): &(&str, i64)| {
        let args = [ConstValue::Int(*argument)];
        (0..6)
            .map(|_| program.call(name, &args))
            .collect::<Vec<_>>()
    };
    let mut answers: Vec<_> = CALLS.iter().flat_map(call).collect();
    answers.push(Ok(session.take_output()));
    (answers, session.statistics())
}

#[test]
fn a_side_exit_of_inlined_code_builds_its_frames() {
    let (expected, counted) = answers(Options {
        jit: false,
        ..Options::default()
    });
    assert_eq!(counted.inlined, 0);
    let (without, counted) = answers(Options {
        inline: false,
        ..Options::default()
    });
    assert_eq!(without, expected);
    assert_eq!((counted.inlined, counted.inlined_exits), (0, 0));
    let (with, counted) = answers(Options::default());
    assert_eq!(with, expected);
    assert!(counted.inlined > 20, "{counted:?}");
    assert!(counted.inlined_exits > 5, "{counted:?}");
    for (force, execution) in [
        (Force::First, Execution::Machine),
        (Force::Random(3), Execution::Machine),
        (Force::Random(20), Execution::Oracle),
    ] {
        let (forced, counted) = answers(Options {
            force: Some(force),
            execution,
            ..Options::default()
        });
        assert_eq!(forced, expected, "{force:?}");
        assert!(counted.inlined_exits > 40, "{force:?}: {counted:?}");
    }
}

#[test]
fn a_call_whose_inlined_code_keeps_deoptimising_is_not_inlined_again() {
    let session = Session::new(Options::default()).expect("a runtime");
    let program = session.load(PROGRAM).expect("a program");
    // A division by zero is no speculation that could be given up; an argument of another class is.
    let call = |name: &str, argument| {
        for _ in 0..20 {
            program
                .call(name, &[ConstValue::Int(argument)])
                .expect("a result");
        }
        session.statistics()
    };
    let before = call("floats_late", 50);
    let after = call("floats_late", 50);
    assert_eq!(before.inlined_exits, after.inlined_exits);
    assert!(after.native_calls > before.native_calls);
}

#[test]
fn random_programs_inline() {
    let (mut inlined, mut exits) = (0, 0);
    for (seed, force) in (0..12).flat_map(|seed| [(seed, None), (seed, Some(Force::Random(6)))]) {
        let (text, calls) = generate(&bytes(seed, 400));
        let document = Document::parse(&text).expect("a document");
        let session = Session::new(Options {
            force,
            max_steps: 200_000,
            ..Options::default()
        });
        let session = session.expect("a runtime");
        {
            let program = session.load_codes(&document.codes).expect("a program");
            for call in calls.iter().filter_map(|call| parse_call(call)) {
                (0..6).for_each(|_| drop(program.call(&call.0, &call.1)));
            }
        }
        let counted = session.statistics();
        inlined += counted.inlined;
        exits += counted.inlined_exits;
    }
    assert!(inlined >= 12, "{inlined} functions inlined");
    assert!(exits > 0, "no exit was taken in them");
}
