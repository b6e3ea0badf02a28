//! Cladonia: a just-in-time compiler for dynamic languages with a Python-like object model.
//!
//! The crate knows no particular host. A host runtime describes itself with [`host`], passes a
//! function as typed [`bytecode`], and gets machine code from the [`engine`].
//!
//! The [guide] builds a host in six steps. `docs/guide.md` goes through a larger one,
//! `examples/tiny_host`; `docs/SUMMARY.md` is the index of the book. Start with
//! [`host::HostBuilder`], [`engine::Engine`] and [`engine::Hot`].
//!
//! # Example
//!
//! A host whose ints are counted objects compiles `a + b` and looks at the result. The host has no
//! interpreter yet, so the code is not run.
//!
//! ```
//! use cladonia::bytecode::Document;
//! use cladonia::code::{CodeMemory, Config};
//! use cladonia::engine::{Engine, Task};
//! use cladonia::host::{Counted, HostBuilder, World};
//! use cladonia::ll::{Field, Width};
//! use cladonia::types::{ClassDesc, HostId, Predefined};
//! use std::sync::Arc;
//!
//! // The helpers: C functions that compiled code calls.
//! extern "C" fn exit(_unit: u64, _exit: u64, _buffer: *const u64) -> *mut u8 {
//!     unimplemented!("complete the frame and continue in the interpreter")
//! }
//! extern "C" fn call_interpreted(_: *mut u8, _: *mut u8, _: *const u64, _: i64) -> *mut u8 {
//!     unimplemented!("run a call in the interpreter")
//! }
//! extern "C" fn new_frame(_thread: *mut u8, _function: *mut u8) -> *mut u8 {
//!     unimplemented!()
//! }
//! extern "C" fn drop_frame(_thread: *mut u8, _frame: *mut u8) {}
//! extern "C" fn dealloc(_object: *mut u8) {}
//! extern "C" fn box_int(_value: i64) -> *mut u8 {
//!     unimplemented!()
//! }
//!
//! // The program answers no query: nothing is known of globals, attributes and callees.
//! struct Program;
//! impl World for Program {}
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The host's classes, each known by the address of its class object (here: any number).
//! let id = HostId::new();
//! let class = |class, bases: &[_], token| {
//!     id.register_class(ClassDesc::builtin(class, bases.to_vec()).with_token(token))
//! };
//! let object = class(Predefined::Object, &[], 0x1000)?;
//! let int = class(Predefined::Long, &[object], 0x2000)?;
//! class(Predefined::Bool, &[int, object], 0x3000)?;
//! class(Predefined::NoneType, &[object], 0x4000)?;
//!
//! let mut host = HostBuilder::new("example", id);
//! host.partial().bools().uninterrupted();
//! host.define("exit", exit as extern "C" fn(_, _, _) -> _);
//! host.define("call_interpreted", call_interpreted as extern "C" fn(_, _, _, _) -> _);
//! host.define("new_frame", new_frame as extern "C" fn(_, _) -> _);
//! host.define("drop_frame", drop_frame as extern "C" fn(_, _));
//! let dealloc = host.define("dealloc", dealloc as extern "C" fn(_));
//! let box_int = host.define("box_int", box_int as extern "C" fn(_) -> _);
//! let class = Field::new("class", 0, Width::Ptr);
//! let count = Field::new("count", 8, Width::U32);
//! let int = Field::new("int", 16, Width::I64);
//! host.counted(Counted::new(class, count, dealloc).ints(int, box_int));
//! host.frame_slots(16).frame_position(8);
//! let host = Arc::new(host.finish()?);
//!
//! let program = r#"code "add" {
//!   params 2
//!   local a: LongExact
//!   local b: LongExact
//!   stack 2
//!   load_fast a
//!   load_fast b
//!   binary_op +  hint [LongExact, LongExact]
//!   return_value
//! }"#;
//! let code = Document::parse(program)?.codes.remove(0);
//! let parts = host.frames_by("new_frame", "drop_frame");
//! let mut engine = Engine::new(host, CodeMemory::new(Config::new())?)?;
//! let unit = engine.inspect(&Task::function(Arc::new(code), parts), &Program)?;
//! let (_, optimised) = unit.dumps.iter().find(|dump| dump.0 == "selected").expect("HIR");
//! assert!(optimised.contains("= int_add "));
//! # Ok(())
//! # }
//! ```

#![deny(missing_docs)]
// Types are ordered partially: "not below" is a query of its own, and a frequent one.
#![allow(clippy::neg_cmp_op_on_partial_ord)]
// Much of the compiler is for inspection and tests, which reach it through the feature.
#![cfg_attr(not(feature = "internals"), allow(dead_code, unused_imports))]

pub mod bytecode;
pub mod code;
pub mod engine;
pub mod exits;
pub mod facts;
pub mod host;
pub mod lir;
pub mod ll;
pub mod types;

// The layers of the compiler itself: public only for tools that look inside.

#[cfg(not(feature = "internals"))]
mod access;
#[cfg(feature = "internals")]
pub mod access;
#[cfg(not(feature = "internals"))]
mod codegen;
#[cfg(feature = "internals")]
pub mod codegen;
#[cfg(not(feature = "internals"))]
mod hir;
#[cfg(feature = "internals")]
pub mod hir;
#[cfg(not(feature = "internals"))]
mod infer;
#[cfg(feature = "internals")]
pub mod infer;
#[cfg(not(feature = "internals"))]
mod lower;
#[cfg(feature = "internals")]
pub mod lower;
#[cfg(not(feature = "internals"))]
mod opt;
#[cfg(feature = "internals")]
pub mod opt;
#[cfg(not(feature = "internals"))]
mod typegraph;
#[cfg(feature = "internals")]
pub mod typegraph;

/// The chapter "A host in six steps" of the book. The pages that it links to are in `docs/`.
#[cfg(doc)]
#[doc = include_str!("../docs/steps.md")]
pub mod guide {}
