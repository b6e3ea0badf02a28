//! Members: the parts of a value's type that the graph keeps apart.
//!
//! For example, a value of type `{Long|NoneType}` that is tested by `is None` has the members
//! `Long` and `NoneType`; without the test it has one member.

use crate::hir::is_builtin_exact;
use crate::types::Type;

/// The most members of a value. A value with more is not split at all.
const MAX_MEMBERS: usize = 12;

/// The most tests that split a value's type.
pub(super) const MAX_TESTS: usize = 6;

/// Returns true if an object of the type stays of it for life. An instance of a user class may
/// change: `x.__class__ = C`.
pub(super) fn is_stable(ty: Type) -> bool {
    is_builtin_exact(ty) || ty <= Type::NONE_TYPE || ty == Type::OBJECT || ty.as_object().is_some()
}

/// Returns true if a value of the member can be of the type.
pub(super) fn may_pass(member: Type, ty: Type) -> bool {
    member.could_be(ty)
}

/// Returns true if a value of the member can be of another type.
pub(super) fn may_fail(member: Type, ty: Type) -> bool {
    !(member <= ty)
}

/// Splits a type by tests: every value of it is of one of the members.
pub(super) fn split(ty: Type, tests: &[Type]) -> Vec<Type> {
    if ty <= Type::CBOOL && !ty.is_specialized() {
        return vec![Type::from_cbool(true), Type::from_cbool(false)];
    }
    let mut members = vec![ty];
    for &test in tests {
        let mut next = Vec::new();
        for member in members {
            let (inside, outside) = (member & test, member - test);
            if may_pass(member, test) && may_fail(member, test) && !inside.is_bottom() {
                add(&mut next, inside);
                add(&mut next, outside);
            } else {
                add(&mut next, member);
            }
        }
        members = next;
    }
    if members.len() > MAX_MEMBERS {
        return vec![ty];
    }
    members
}

/// Adds a member if there is none like it. Returns true if it was added.
pub(super) fn add(members: &mut Vec<Type>, member: Type) -> bool {
    let is_new = !members.contains(&member) && !member.is_bottom();
    if is_new {
        members.push(member);
    }
    is_new
}

/// Returns true if there are more members than [`MAX_MEMBERS`].
pub(super) fn are_too_many(members: &[Type]) -> bool {
    members.len() > MAX_MEMBERS
}
