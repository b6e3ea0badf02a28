//! Tests of generated code: each builds a tiny function, compiles it and runs it.

use super::*;
use crate::lir::{Builder, Func, Opcode, Signature};
use crate::ll::Ty;

#[test]
fn first() {
    let mut f = Func::new("first", Signature::new(&[Ty::I64, Ty::I64], &[Ty::I64]));
    let p = f.params().to_vec();
    let mut b = Builder::new(&mut f);
    let s = b.op(Opcode::Iadd, &p);
    b.ret(&[s]);
    let memory = CodeMemory::new(crate::code::Config::new()).unwrap();
    let mut codegen = Codegen::new().unwrap();
    let helpers = PrimaryMap::new();
    let code = codegen
        .compile(&memory, Input { func: &f, helpers: &helpers, exit_hook: None, unit: 0, want_text: true })
        .unwrap();
    let f: extern "C" fn(i64, i64) -> i64 = unsafe { std::mem::transmute(code.entry()) };
    assert_eq!(f(2, 3), 5);
    println!("{}\n{}", code.clif().unwrap(), code.asm().unwrap());
}
