//! Calls of C functions by their flavour, as the interpreter's specialised instructions make them,
//! and known functions that need no call.

use super::{Context, Set};
use crate::abi::eval_breaker::EVENTS;
use crate::abi::{recursion, thread as t};
use cladonia::facts::Effects;
use cladonia::lir::{Builder, IntCond, Opcode, Signature, Value};
use cladonia::ll::{Ty, Width};

/// The calling convention of a C function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    /// No further argument.
    Nothing,
    /// One argument.
    One,
    /// An array and its length.
    Array,
    /// The same, and names of keywords, of which there are none here. A class's vectorcall has this
    /// convention too.
    ArrayAndNames,
}

/// The intrinsic for a flavour: of a function, whose receiver is a constant, or of a method, whose
/// receiver is the first operand. They take the thread, the address of the operands, then the
/// callable, the C function, the constant receiver, and the number of arguments without the
/// receiver.
pub const FLAVOURS: [(&str, Takes, bool); 8] = [
    ("call_without", Takes::Nothing, false),
    ("call_method_without", Takes::Nothing, true),
    ("call_with_one", Takes::One, false),
    ("call_method_with_one", Takes::One, true),
    ("call_with_array", Takes::Array, false),
    ("call_method_with_array", Takes::Array, true),
    ("call_with_names", Takes::ArrayAndNames, false),
    ("call_method_with_names", Takes::ArrayAndNames, true),
];
/// `(thread, operands, function) -> object`: calls a C function of one object.
pub const CALL_UNARY: &str = "call_unary";
/// `(thread, head, list)`: the words at both addresses are null, so there is no audit hook.
pub const CHECK_UNAUDITED: &str = "check_unaudited";
/// `(object) -> i64`: its address.
pub const ADDRESS_OF: &str = "address_of";

const PTR: Ty = Ty::Ptr;
const INT: Ty = Ty::I64;

pub(super) fn define(set: &mut Set<'_>) {
    for (name, takes, is_method) in FLAVOURS {
        let params = [PTR, PTR, PTR, PTR, PTR, INT];
        set.add(name, &params, &[PTR], Effects::ANY, |b, p, context| {
            by_flavour(b, p, takes, is_method, context);
        });
    }
    let params = [PTR, PTR, PTR];
    set.add(
        CALL_UNARY,
        &params,
        &[PTR],
        Effects::ANY,
        |b, p, context| {
            let operand = b.load(Width::Ptr, p[1], 0);
            let signature = Signature::new(&[PTR], &[PTR]);
            let result = b.call_indirect(signature, p[2], &[operand])[0];
            return_after(b, p[0], result, context);
        },
    );
    let params = [PTR, PTR, PTR];
    set.add(CHECK_UNAUDITED, &params, &[], Effects::READS, |b, p, _| {
        let fail = b.cold_block();
        let words = [p[1], p[2]].map(|address| b.load(Width::I64, address, 0));
        let either = b.op(Opcode::Ior, &words);
        let none = b.icmp_imm(IntCond::Eq, either, 0);
        b.guard(none, fail);
        b.ret(&[]);
        b.switch_to(fail);
        b.terminate(cladonia::lir::Term::Fail);
    });
    set.add(ADDRESS_OF, &[PTR], &[INT], Effects::NONE, |b, p, _| {
        let address = b.op(Opcode::P2i, &[p[0]]);
        b.ret(&[address]);
    });
}

fn by_flavour(b: &mut Builder<'_>, p: &[Value], takes: Takes, is_method: bool, context: &Context) {
    let (thread, operands) = (p[0], p[1]);
    let (callable, function) = (p[2], p[3]);
    let (receiver, rest) = if is_method {
        let eight = b.iconst(8);
        let receiver = b.load(Width::Ptr, operands, 0);
        (receiver, b.op(Opcode::Padd, &[operands, eight]))
    } else {
        (p[4], operands)
    };
    let result = match takes {
        Takes::Nothing | Takes::One => {
            // These count recursion, as the interpreter does.
            let (done, deep, go) = (b.block(), b.cold_block(), b.block());
            let result = b.param(done, PTR);
            let left = recursion::check_c(b, thread, go, deep);
            b.switch_to(deep);
            let mut given = p[5];
            if is_method {
                let one = b.iconst(1);
                given = b.op(Opcode::Iadd, &[given, one]);
            }
            let found = b.call(context.call_unknown, &[callable, operands, given], &[PTR]);
            b.jump(done, &[found[0]]);
            b.switch_to(go);
            recursion::take_c(b, thread, left);
            let argument = match takes {
                Takes::One => b.load(Width::Ptr, rest, 0),
                _ => b.pconst(0),
            };
            let signature = Signature::new(&[PTR, PTR], &[PTR]);
            let found = b.call_indirect(signature, function, &[receiver, argument]);
            recursion::give_c(b, thread, left);
            b.jump(done, &[found[0]]);
            b.switch_to(done);
            result
        }
        Takes::Array => {
            let signature = Signature::new(&[PTR, PTR, INT], &[PTR]);
            b.call_indirect(signature, function, &[receiver, rest, p[5]])[0]
        }
        Takes::ArrayAndNames => {
            let signature = Signature::new(&[PTR, PTR, INT, PTR], &[PTR]);
            let none = b.pconst(0);
            b.call_indirect(signature, function, &[receiver, rest, p[5], none])[0]
        }
    };
    // There must be a result or an exception, never both or neither.
    let exception = b.load(Width::Ptr, thread, t::CURRENT_EXCEPTION);
    let raised = b.is_null(result);
    let quiet = b.is_null(exception);
    let fits = b.op(Opcode::Bxor, &[raised, quiet]);
    let (go, unfit) = (b.block(), b.cold_block());
    b.br(fits, go, &[], unfit, &[]);
    b.switch_to(unfit);
    let none = b.call(context.unfit_result, &[thread, callable, result], &[PTR]);
    b.ret(&[none[0]]);
    b.switch_to(go);
    return_after(b, thread, result, context);
}

/// Returns the result of a call after handling the pending work.
fn return_after(b: &mut Builder<'_>, thread: Value, result: Value, context: &Context) {
    let (quiet, work) = (b.block(), b.cold_block());
    let word = b.load(Width::I64, thread, t::EVAL_BREAKER);
    let events = b.iconst(EVENTS as i64);
    let events = b.op(Opcode::Iand, &[word, events]);
    let is_quiet = b.icmp_imm(IntCond::Eq, events, 0);
    b.br(is_quiet, quiet, &[], work, &[]);
    b.switch_to(work);
    let after = b.call(context.after_call, &[thread, result], &[PTR]);
    b.ret(&[after[0]]);
    b.switch_to(quiet);
    b.ret(&[result]);
}
