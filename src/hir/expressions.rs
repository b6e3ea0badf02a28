//! Value numbering: numbers for computations; equal computations have the same number.

use super::function::Value;
use super::ops::Op;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// The operands of a computation.
pub type Operands = SmallVec<[Value; 2]>;

/// Computations, each an op and its operands, in the order of their first occurrence.
#[derive(Default)]
pub struct Expressions {
    all: Vec<(Op, Operands)>,
    numbers: HashTable<u32>,
}

impl Expressions {
    /// The number of a computation, if it occurred.
    pub fn find(&self, op: &Op, args: &[Value]) -> Option<u32> {
        let is_it = |number: &u32| self.is(*number, op, args);
        self.numbers.find(hash(op, args), is_it).copied()
    }

    /// The number of a computation: the next free one, if the computation has not occurred before.
    ///
    /// # Panics
    /// If there are more than `u32::MAX`.
    pub fn number(&mut self, op: &Op, args: &[Value]) -> u32 {
        if let Some(number) = self.find(op, args) {
            return number;
        }
        let number = u32::try_from(self.all.len()).expect("fewer computations than instructions");
        self.all.push((op.clone(), SmallVec::from_slice(args)));
        let all = &self.all;
        let of_number = |number: &u32| {
            let (op, args) = &all[*number as usize];
            hash(op, args)
        };
        self.numbers
            .insert_unique(hash(op, args), number, of_number);
        number
    }

    /// The number of computations, which is the number of the next one.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// A computation.
    ///
    /// # Panics
    /// If no computation has the number.
    pub fn get(&self, number: u32) -> (&Op, &[Value]) {
        let (op, args) = &self.all[number as usize];
        (op, args)
    }

    fn is(&self, number: u32, op: &Op, args: &[Value]) -> bool {
        self.get(number) == (op, args)
    }
}

fn hash(op: &Op, args: &[Value]) -> u64 {
    let mut hasher = FxHasher::default();
    op.hash(&mut hasher);
    args.hash(&mut hasher);
    hasher.finish()
}
