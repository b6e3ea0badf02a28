//! The laws of the join.

use std::collections::HashMap;

use super::checker::Checker;
use super::{Claim, LawResult};
use crate::types::repr::Type;

impl Checker<'_> {
    pub(super) fn join_laws(&mut self) {
        self.each("join(a, a) == a", |a| {
            a.join(a) == a && a.join(Type::BOTTOM) == a
        });
        self.pairs("join(a, b) == join(b, a)", Claim::Promised, |a, b| {
            a.join(b) == b.join(a)
        });
        self.pairs("a <= join(a, b)", Claim::Promised, |a, b| {
            a <= a.join(b) && b <= a.join(b)
        });
        self.pairs(
            "join(a, b) != a has less height than a",
            Claim::Promised,
            |a, b| {
                let joined = a.join(b);
                joined == a || joined.join_height() < a.join_height()
            },
        );
        self.join_is_associative();
    }

    /// On all triples. The joins of pairs are numbered once, so that a triple is three look-ups.
    fn join_is_associative(&mut self) {
        let count = self.types.len();
        let mut numbers: HashMap<Type, usize> = self.by_type.clone();
        let mut joined = self.types.clone();
        let mut number = |ty: Type, joined: &mut Vec<Type>| {
            *numbers.entry(ty).or_insert_with(|| {
                joined.push(ty);
                joined.len() - 1
            })
        };
        let mut table: Vec<usize> = Vec::new();
        let mut row = 0;
        // Rows for the types, and for the joins of two of them.
        while row < joined.len() && row < count * count {
            let low = joined[row];
            for high in &self.types {
                let place = number(low.join(*high), &mut joined);
                table.push(place);
            }
            row += 1;
        }
        let at = |row: usize, column: usize| table[row * count + column];
        let (mut failures, mut first_failure) = (0, None);
        for a in 0..count {
            for b in 0..count {
                let ab = at(a, b);
                for c in 0..count {
                    if at(ab, c) != at(at(b, c), a) {
                        failures += 1;
                        first_failure.get_or_insert((a, b, c));
                    }
                }
            }
        }
        let first_failure = first_failure
            .map(|(a, b, c)| format!("{}, {}, {}", self.types[a], self.types[b], self.types[c]));
        let law = "join(join(a, b), c) == join(a, join(b, c))";
        let cases = (count * count * count) as u64;
        let claim = Claim::Promised;
        self.results.push(LawResult {
            law,
            claim,
            cases,
            failures,
            first_failure,
            exceptions: Vec::new(),
        });
    }
}
