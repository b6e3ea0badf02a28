//! Cladonia: a just-in-time compiler for dynamic languages with a Python-like object model.

pub mod types;
