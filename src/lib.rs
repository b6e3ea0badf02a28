//! Cladonia: a just-in-time compiler for dynamic languages with a Python-like object model.
//!
//! The crate knows no particular host. A host runtime describes itself with [`host`], passes a
//! function as typed [`bytecode`], and gets machine code from the [`engine`].

#![deny(missing_docs)]
// Types are ordered partially: "not below" is a query of its own, and a frequent one.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

pub mod access;
pub mod bytecode;
pub mod code;
pub mod codegen;
pub mod engine;
pub mod exits;
pub mod facts;
pub mod hir;
pub mod host;
pub mod infer;
pub mod lir;
pub mod ll;
pub mod lower;
pub mod opt;
pub mod typegraph;
pub mod types;
