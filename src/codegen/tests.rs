//! Tests of generated code: each writes a tiny function, compiles it and runs it.

use super::*;
use crate::code::Config;
use crate::lir::{FloatCond, IntCond, Opcode, Signature, parse};
use crate::ll::{Ty, Width};
use expect_test::expect;

mod cache;
mod calls;
mod exits;
mod ops;
mod oracle;
mod process;

/// A code generator with memory and helpers.
struct Jit {
    codegen: Codegen,
    memory: CodeMemory,
    helpers: PrimaryMap<HelperId, Helper>,
    hook: Option<HelperId>,
}

impl Jit {
    fn new() -> Jit {
        Jit {
            codegen: Codegen::new().unwrap(),
            memory: CodeMemory::new(Config::new()).unwrap(),
            helpers: PrimaryMap::new(),
            hook: None,
        }
    }

    fn helper(
        &mut self,
        name: &'static str,
        address: *const (),
        params: &[Ty],
        results: &[Ty],
    ) -> HelperId {
        let signature = Signature::new(params, results);
        self.helpers.push(Helper {
            name,
            address: address.expose_provenance(),
            signature,
            effects: None,
        })
    }

    /// Compiles a function given as `(params) -> results { ... }`.
    fn try_compile(&mut self, text: &str) -> Result<CompiledCode, CodegenError> {
        let func = parse(&format!("function test{text}"), &self.helpers)
            .unwrap_or_else(|e| panic!("{e}\n{text}"));
        self.compile_func(&func)
    }

    fn compile_func(&mut self, func: &lir::Func) -> Result<CompiledCode, CodegenError> {
        let input = Input {
            exit_hook: self.hook,
            unit: 77,
            want_text: true,
            ..Input::new(func, &self.helpers)
        };
        self.codegen.compile(&self.memory, input)
    }

    fn compile(&mut self, text: &str) -> CompiledCode {
        self.try_compile(text)
            .unwrap_or_else(|e| panic!("{e}\n{text}"))
    }
}

/// Calls compiled code as a function of the given type.
macro_rules! call {
    ($code:expr, fn($($ty:ty),*) -> $ret:ty, $($arg:expr),*) => {{
        // SAFETY: the test compiled the code with this signature, and keeps it.
        let function: extern "C" fn($($ty),*) -> $ret = unsafe { std::mem::transmute($code.entry()) };
        function($($arg),*)
    }};
}
use call;

#[test]
fn the_exit_of_a_loop_is_the_first_target_of_its_branch() {
    let code = Jit::new().compile(
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = iconst 0\n  jump block1(v1)\n\
         block1(v2: i64):\n  v3 = icmp slt v2, v0\n  br v3, block2, block3\n\
         block2:\n  v4 = iconst 7\n  v5 = icmp ne v2, v4\n  br v5, block4, block5\n\
         block3:\n  return v2\n\
         block4:\n  v6 = iconst 1\n  v7 = iadd v2, v6\n  jump block1(v7)\n\
         block5 cold:\n  v8 = iadd v4, v4\n  return v8\n}",
    );
    let clif = code.clif().unwrap();
    for part in [
        "icmp sge",
        ", block3, block2",
        "icmp.i64 eq",
        ", block5, block4",
    ] {
        assert!(clif.contains(part), "no `{part}`:\n{clif}");
    }
    assert_eq!(call!(code, fn(i64) -> i64, 5), 5);
    assert_eq!(call!(code, fn(i64) -> i64, 20), 14);
}

#[test]
fn instructions_with_unused_results_are_not_emitted() {
    let mut jit = Jit::new();
    let code = jit.compile(
        "(ptr, i64) -> i64 {\nblock0(v0: ptr, v1: i64):\n  v2 = load.i64 v0\n  v3 = icmp eq v2, v1\n  v4 = iadd v1, v1\n\
         \x20 return v4\n}",
    );
    let clif = code.clif().expect("it was asked for");
    assert!(!clif.contains("load") && !clif.contains("icmp"), "{clif}");
    assert_eq!(call!(code, fn(u64, i64) -> i64, 0, 21), 42);
}

#[test]
fn after_an_error_the_generator_is_usable() {
    let mut jit = Jit::new();
    let error = jit
        .try_compile("() -> i64 {\nblock0:\n  fail\n}")
        .unwrap_err();
    expect![[r#"
        LIR function `test` is not well formed:
          block0, end: only an intrinsic may fail"#]]
    .assert_eq(&error.to_string());

    let error = jit
        .try_compile("() -> ptr {\nblock0:\n  exit exit0()\n}")
        .unwrap_err();
    assert_eq!(
        error,
        CodegenError::NoExitHook {
            func: "test".to_owned()
        }
    );
    assert_eq!(jit.memory.used(), 0);

    let code = jit.compile("() -> i64 {\nblock0:\n  v0 = iconst 5\n  return v0\n}");
    assert_eq!(call!(code, fn() -> i64,), 5);
}

#[test]
fn faults_that_the_verifier_finds_cause_no_panic_without_it() {
    // Release builds do not verify, so call the emitter directly.
    let helpers = PrimaryMap::new();
    for (text, what) in [
        (
            "(i64) -> i64 {\nblock0(v0: i64):\n  fail\n}",
            "ends in `fail`",
        ),
        (
            "() -> ptr {\nblock0:\n  v0 = stack_addr 3\n  return v0\n}",
            "no stack slot 3",
        ),
        ("() -> ptr {\nblock0:\n}", "no terminator"),
        (
            "(bool) -> i64 {\nblock0(v0: bool):\n  br v0, block1, block2\nblock1:\n  v1 = iconst 1\n  jump block2\n\
             block2:\n  return v2\nblock3:\n  v2 = iconst 0\n  return v2\n}",
            "v2 is used where it is not defined",
        ),
    ] {
        let func = parse(&format!("function test{text}"), &helpers).unwrap();
        let mut codegen = Codegen::new().unwrap();
        let input = Input::new(&func, &helpers);
        let result = codegen.scratch.walk(&func, None).and_then(|called| {
            let call_conv = codegen.isa.default_call_conv();
            let called: Vec<_> = called.into_iter().map(|callee| (callee, false)).collect();
            Emitter::new(
                &input,
                call_conv,
                &mut codegen.context.func,
                &mut codegen.scratch,
                &mut codegen.addresses,
            )
            .emit(&called)
        });
        let error = result.unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn a_full_arena_is_an_error_and_dropping_a_unit_frees_pages() {
    let mut jit = Jit::new();
    jit.memory = CodeMemory::new(Config::new().limit(1)).unwrap();
    let text = "() -> i64 {\nblock0:\n  v0 = iconst 5\n  return v0\n}";
    let first = jit.compile(text);
    assert_eq!(jit.memory.used(), jit.memory.limit());
    let error = jit.try_compile(text).unwrap_err();
    assert!(
        matches!(error, CodegenError::Memory(CodeMemoryError::Full { .. })),
        "{error}"
    );
    let entry = first.entry();
    drop(first);
    assert_eq!(jit.memory.used(), 0);
    let second = jit.compile(text);
    assert_eq!(second.entry(), entry);
    assert_eq!(call!(second, fn() -> i64,), 5);
}

#[test]
fn a_function_too_large_is_an_error() {
    // A frame of more than 4 GiB.
    let text = "() -> ptr {\n  slot0 2147483648\n  slot1 2147483648\nblock0:\n  v0 = stack_addr 1\n  return v0\n}";
    let mut jit = Jit::new();
    assert_eq!(
        jit.try_compile(text).unwrap_err(),
        CodegenError::TooLarge {
            func: "test".to_owned()
        }
    );
    assert_eq!(jit.memory.used(), 0);
}
