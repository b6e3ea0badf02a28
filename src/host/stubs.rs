//! LIR that any host needs to convert between calls with arguments in registers and calls with an
//! array of them.

use crate::lir::{Builder, Func, Signature, Value};
use crate::ll::{Ty, Width};

/// `(thread, function, args...) -> object`, for a function that is not compiled. `call` emits the
/// call that runs it in the interpreter,
/// `(thread, function, array of args, their count) -> object`, and returns its result.
pub fn interpreted_call(
    arity: usize,
    call: impl FnOnce(&mut Builder<'_>, &[Value; 4]) -> Value,
) -> Func {
    let mut func = Func::new(
        format!("interpreted call of {arity}"),
        Signature::new(&vec![Ty::Ptr; arity + 2], &[Ty::Ptr]),
    );
    let params = func.params().to_vec();
    let mut b = Builder::new(&mut func);
    let slot = b.slot(8 * arity.max(1) as u32);
    if arity > 0 {
        b.mark_ref_slot(slot);
    }
    let array = b.stack_addr(slot);
    for (i, &param) in params[2..].iter().enumerate() {
        b.store(Width::Ptr, array, 8 * i as i32, param);
    }
    let count = b.iconst(arity as i64);
    let result = call(&mut b, &[params[0], params[1], array, count]);
    b.ret(&[result]);
    func
}

/// The same, for an interpreter's function at an address.
pub fn interpreted_call_at(arity: usize, address: usize) -> Func {
    interpreted_call(arity, |b, args| {
        let address = b.pconst(address as u64);
        let signature = Signature::new(&[Ty::Ptr, Ty::Ptr, Ty::Ptr, Ty::I64], &[Ty::Ptr]);
        b.call_indirect(signature, address, args)[0]
    })
}

/// `(thread, function, entry, args) -> object`: calls a native entry of an arity with arguments
/// from an array.
pub fn adapter(arity: usize) -> Func {
    let mut func = Func::new(
        format!("call of {arity}"),
        Signature::new(&[Ty::Ptr; 4], &[Ty::Ptr]),
    );
    let params = func.params().to_vec();
    let mut b = Builder::new(&mut func);
    let mut args = vec![params[0], params[1]];
    for i in 0..arity {
        args.push(b.load(Width::Ptr, params[3], 8 * i as i32));
    }
    let signature = Signature::new(&vec![Ty::Ptr; arity + 2], &[Ty::Ptr]);
    let result = b.call_indirect(signature, params[2], &args);
    b.ret(&result);
    func
}
