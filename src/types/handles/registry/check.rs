//! Checks of a host's description of a class.

use super::super::{ClassDesc, ClassHandle, HandleError};
use super::Registry;

impl Registry {
    /// Checks that the description is possible: the operations on types rely only on properties
    /// that are checked here.
    pub(super) fn check_class(&self, host: u32, desc: &ClassDesc) -> Result<(), HandleError> {
        let name = || desc.name.clone();
        for (position, &base) in desc.bases_mro.iter().enumerate() {
            let record = self
                .class(base)
                .ok_or_else(|| HandleError::Stale { name: name() })?;
            if record.host != host {
                return Err(HandleError::ForeignClass {
                    name: name(),
                    class: record.name.to_string(),
                });
            }
            let after = &desc.bases_mro[position + 1..];
            if after.contains(&base) {
                return Err(HandleError::RepeatedInMro {
                    name: name(),
                    class: record.name.to_string(),
                });
            }
            if let Some(missing) = record.mro.iter().find(|grand| !after.contains(grand)) {
                let base = self.name(*missing);
                return Err(HandleError::MroNotClosed {
                    name: name(),
                    class: record.name.to_string(),
                    base,
                });
            }
            if record.meta.is_final() {
                return Err(HandleError::ClosedBase {
                    name: name(),
                    base: record.name.to_string(),
                });
            }
            let found = record.meta.predefined();
            if !desc.predefined.derives_from(found) {
                let (declared, base) = (desc.predefined, record.name.to_string());
                return Err(HandleError::InconsistentBase {
                    name: name(),
                    declared,
                    base,
                    found,
                });
            }
            if let Some(other) = after
                .iter()
                .find(|other| !self.could_share_a_subclass(base, **other))
            {
                let (first, second) = (record.name.to_string(), self.name(*other));
                return Err(HandleError::LayoutConflict {
                    name: name(),
                    first,
                    second,
                });
            }
        }
        if !desc.is_builtin_itself && desc.predefined.is_closed() {
            return Err(HandleError::ClosedBase {
                name: name(),
                base: desc.predefined.spelled().to_owned(),
            });
        }
        Ok(())
    }

    /// The direct base with the longest path to the root, the first of several: the join climbs the
    /// tree of these. Predefined classes are not part of it; a type's leaves represent them.
    pub(super) fn join_parent(&self, desc: &ClassDesc) -> (Option<ClassHandle>, u32) {
        let mut best: Option<(ClassHandle, u32)> = None;
        for &base in &desc.bases_mro {
            let Some(record) = self.class(base) else {
                continue;
            };
            let is_direct = !desc
                .bases_mro
                .iter()
                .any(|other| *other != base && self.derives(*other, base));
            if is_direct
                && !record.meta.is_builtin_itself()
                && best.is_none_or(|(_, depth)| record.join_depth > depth)
            {
                best = Some((base, record.join_depth));
            }
        }
        best.map_or((None, 0), |(base, depth)| (Some(base), depth + 1))
    }

    pub(in crate::types::handles) fn could_share_a_subclass(
        &self,
        a: ClassHandle,
        b: ClassHandle,
    ) -> bool {
        if self.derives(a, b) || self.derives(b, a) {
            return true;
        }
        let (Some(first), Some(second)) = (self.class(a), self.class(b)) else {
            return false;
        };
        if first.host != second.host || first.meta.is_final() || second.meta.is_final() {
            return false;
        }
        let (rows, layouts) = (
            (first.meta.predefined(), second.meta.predefined()),
            (first.layout, second.layout),
        );
        let rows_agree = rows.0.derives_from(rows.1) || rows.1.derives_from(rows.0);
        rows_agree
            && layouts
                .0
                .zip(layouts.1)
                .is_none_or(|(a, b)| self.derives(a, b) || self.derives(b, a))
    }
}
