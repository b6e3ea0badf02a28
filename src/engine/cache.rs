//! A cache of generated code, over a store of the host: for example files. The key is the LIR
//! without its addresses, so a second run of a program pays for optimising only.
//!
//! [`Engine::set_cache`](super::Engine::set_cache) sets the cache of an engine.

pub use crate::codegen::{Cache, CacheCounts, Key, Store, fingerprint};
