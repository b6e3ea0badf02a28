//! The values that edges pass to block parameters.

use super::function::{Function, Value};
use super::ops::Op;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// For each block parameter, the values that edges pass to it, one an edge.
#[derive(Clone, Default, Debug)]
pub struct Passed(FxHashMap<Value, Vec<Value>>);

impl Passed {
    /// Analyse a function.
    pub fn of(f: &Function) -> Passed {
        let mut passed: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
        for &b in &f.order {
            for edge in f.blocks[b].term.edges() {
                let params = &f.blocks[edge.block].params;
                for (&(param, _), &arg) in params.iter().zip(&edge.args) {
                    passed.entry(param).or_default().push(f.resolve(arg));
                }
            }
        }
        Passed(passed)
    }

    /// The values for a parameter; none for any other value.
    pub fn values(&self, param: Value) -> &[Value] {
        self.0.get(&param).map_or(&[], Vec::as_slice)
    }

    /// The definitions that a value may come from, through the places where paths join.
    pub fn roots(&self, f: &Function, v: Value) -> BTreeSet<Value> {
        let mut found = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut work = vec![f.object_of(v)];
        while let Some(v) = work.pop() {
            if !seen.insert(v) {
                continue;
            }
            match self.values(v) {
                values if *f.op(v) == Op::Param && !values.is_empty() => {
                    work.extend(values.iter().map(|v| f.object_of(*v)));
                }
                _ => drop(found.insert(v)),
            }
        }
        found
    }
}
