//! What is told apart of a value: the members of its type.

use crate::hir::is_builtin_exact;
use crate::types::Type;

/// The most members of a value; one with more is not told apart at all.
const MAX_MEMBERS: usize = 12;

/// The most tests that split a value's type.
pub(super) const MAX_TESTS: usize = 6;

/// Whether an object that is of the type once is so for ever. Objects of classes that users make may get others.
pub(super) fn is_stable(ty: Type) -> bool {
    is_builtin_exact(ty) || ty <= Type::NONE_TYPE || ty == Type::OBJECT || ty.as_object().is_some()
}

/// Whether a value of the member can be of the type.
pub(super) fn may_pass(member: Type, ty: Type) -> bool {
    member.could_be(ty)
}

/// Whether a value of the member can be of another type.
pub(super) fn may_fail(member: Type, ty: Type) -> bool {
    !(member <= ty)
}

/// Split a type by tests: every value of it is of one of the members.
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

/// Add a member if there is none like it; says whether it was added.
pub(super) fn add(members: &mut Vec<Type>, member: Type) -> bool {
    let is_new = !members.contains(&member) && !member.is_bottom();
    if is_new {
        members.push(member);
    }
    is_new
}

/// Whether there are more members than are worth telling apart.
pub(super) fn are_too_many(members: &[Type]) -> bool {
    members.len() > MAX_MEMBERS
}
