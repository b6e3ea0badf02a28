//! Low-level types: the possible values of a variable, and the composition of containers.
//!
//! A variable holds a **primitive** or a **pointer**. A **container** (structure, array, function,
//! opaque data) is in memory and is accessed only through pointers. Types are in a [`Types`] table
//! and are identified by [`TypeId`]; two types are the same if their structure is
//! ([`Types::same`]), so a recursive type equals its unfolding.
//!
//! The rules of composition and their errors are those of RPython's `lltype`; `tests/types.rs` has
//! them as a table.

use super::fault::TypeFault;
use cranelift_entity::{PrimaryMap, entity_impl};
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A type of a [`Types`] table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeId(u32);
entity_impl!(TypeId, "type");

/// A type without parts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Primitive {
    /// A signed integer of a machine word.
    Signed,
    /// An unsigned integer of a machine word.
    Unsigned,
    /// A double.
    Float,
    /// One byte of text.
    Char,
    /// A truth value.
    Bool,
    /// No value: a constant that compiled code does not store.
    Void,
    /// A signed integer of 8, 16 or 32 bits.
    SignedBits(u8),
    /// An unsigned integer of 8, 16 or 32 bits.
    UnsignedBits(u8),
}

impl Primitive {
    /// All primitives.
    pub const ALL: [Primitive; 12] = [
        Primitive::Signed,
        Primitive::Unsigned,
        Primitive::Float,
        Primitive::Char,
        Primitive::Bool,
        Primitive::Void,
        Primitive::SignedBits(8),
        Primitive::SignedBits(16),
        Primitive::SignedBits(32),
        Primitive::UnsignedBits(8),
        Primitive::UnsignedBits(16),
        Primitive::UnsignedBits(32),
    ];
}

/// A type, one level deep.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A primitive.
    Primitive(Primitive),
    /// A structure: named fields, one after the other.
    Struct {
        /// Its name, for messages.
        name: String,
        /// Names and types.
        fields: Vec<(String, TypeId)>,
        /// True if a collector owns it (it may be allocated alone).
        gc: bool,
        /// With run-time type information: a number that makes the type differ from all others.
        rtti: Option<u32>,
    },
    /// An array whose length is chosen when it is allocated.
    Array {
        /// The type of its items.
        item: TypeId,
        /// True if a collector owns it.
        gc: bool,
        /// True if its length is stored.
        has_length: bool,
    },
    /// An array of known length: a structure with fields `item0`, `item1`, ...
    FixedArray {
        /// The type of its items.
        item: TypeId,
        /// The number of items.
        length: u32,
    },
    /// A pointer to a container.
    Ptr(TypeId),
    /// A function.
    Func {
        /// Parameters.
        params: Vec<TypeId>,
        /// The result; `Void` if there is none.
        result: TypeId,
    },
    /// Data that only the back end knows.
    Opaque {
        /// Its name.
        name: String,
        /// True if a collector owns it.
        gc: bool,
    },
    /// A container that is defined later.
    Forward {
        /// True if a collector will own it.
        gc: bool,
        /// Its definition.
        target: Option<TypeId>,
    },
}

/// A table of types.
#[derive(Clone, Debug)]
pub struct Types {
    types: PrimaryMap<TypeId, Type>,
    next_rtti: u32,
}

impl Default for Types {
    fn default() -> Types {
        Types::new()
    }
}

/// Constructors.
impl Types {
    /// A table with the primitives and [`Types::RUNTIME_TYPE_INFO`].
    pub fn new() -> Types {
        let mut types: PrimaryMap<TypeId, Type> =
            Primitive::ALL.into_iter().map(Type::Primitive).collect();
        types.push(Type::Opaque {
            name: "RuntimeTypeInfo".to_owned(),
            gc: false,
        });
        Types {
            types,
            next_rtti: 0,
        }
    }

    /// Data that represents a type at run time.
    pub const RUNTIME_TYPE_INFO: TypeId = TypeId(Primitive::ALL.len() as u32);
    /// [`Primitive::Signed`].
    pub const SIGNED: TypeId = TypeId(0);
    /// [`Primitive::Unsigned`].
    pub const UNSIGNED: TypeId = TypeId(1);
    /// [`Primitive::Float`].
    pub const FLOAT: TypeId = TypeId(2);
    /// [`Primitive::Char`].
    pub const CHAR: TypeId = TypeId(3);
    /// [`Primitive::Bool`].
    pub const BOOL: TypeId = TypeId(4);
    /// [`Primitive::Void`].
    pub const VOID: TypeId = TypeId(5);

    /// The type of a primitive.
    pub fn primitive(&self, primitive: Primitive) -> TypeId {
        let place = Primitive::ALL.iter().position(|&p| p == primitive);
        TypeId(place.expect("integers have 8, 16 or 32 bits") as u32)
    }

    /// A structure. It may be put into others, and allocated if it is immortal or raw.
    ///
    /// # Errors
    /// A [`TypeFault`] for the first field that breaks a rule.
    pub fn structure(
        &mut self,
        name: &str,
        fields: &[(&str, TypeId)],
    ) -> Result<TypeId, TypeFault> {
        self.make_struct(name, fields, false)
    }

    /// A structure that a collector owns.
    ///
    /// # Errors
    /// As for [`Types::structure`].
    pub fn gc_struct(
        &mut self,
        name: &str,
        fields: &[(&str, TypeId)],
    ) -> Result<TypeId, TypeFault> {
        self.make_struct(name, fields, true)
    }

    /// A structure with run-time type information, to which a query function may be attached: it
    /// equals no other type.
    ///
    /// # Errors
    /// As for [`Types::structure`].
    pub fn gc_struct_with_rtti(
        &mut self,
        name: &str,
        fields: &[(&str, TypeId)],
    ) -> Result<TypeId, TypeFault> {
        let id = self.make_struct(name, fields, true)?;
        self.next_rtti += 1;
        if let Type::Struct { rtti, .. } = &mut self.types[id] {
            *rtti = Some(self.next_rtti);
        }
        Ok(id)
    }

    fn make_struct(
        &mut self,
        name: &str,
        fields: &[(&str, TypeId)],
        gc: bool,
    ) -> Result<TypeId, TypeFault> {
        let mut seen = HashSet::new();
        for (place, &(field, ty)) in fields.iter().enumerate() {
            let fault = |make: fn(String, String) -> TypeFault| {
                Err(make(name.to_owned(), field.to_owned()))
            };
            if field.starts_with('_') {
                return fault(|structure, field| TypeFault::FieldName { structure, field });
            }
            if !seen.insert(field) {
                return fault(|structure, field| TypeFault::RepeatedField { structure, field });
            }
            let is_first_of_gc = gc && place == 0;
            self.check_inlined(ty, is_first_of_gc)?;
            if self.is_varsized(ty) {
                match self.get(ty) {
                    Type::Array { .. } if place + 1 < fields.len() => {
                        return fault(|structure, field| TypeFault::ArrayNotLast {
                            structure,
                            field,
                        });
                    }
                    Type::Array { has_length, .. } if gc && !has_length => {
                        return fault(|structure, field| TypeFault::NoLengthInGcStruct {
                            structure,
                            field,
                        });
                    }
                    Type::Array { .. } => {}
                    _ => return Err(TypeFault::VarsizedInlined(self.name(ty))),
                }
            }
        }
        let fields = fields.iter().map(|&(n, t)| (n.to_owned(), t)).collect();
        Ok(self.types.push(Type::Struct {
            name: name.to_owned(),
            fields,
            gc,
            rtti: None,
        }))
    }

    /// Checks that a type may be part of another, as far as that depends on it alone. The caller
    /// checks arrays.
    fn check_inlined(&self, ty: TypeId, is_first_of_gc: bool) -> Result<(), TypeFault> {
        match self.get(ty) {
            Type::Struct { gc: true, .. } if !is_first_of_gc => {
                Err(TypeFault::GcStructInlined(self.name(ty)))
            }
            Type::Array { gc: true, .. } => Err(TypeFault::GcArrayInlined(self.name(ty))),
            Type::Opaque { gc: true, .. } => Err(TypeFault::GcOpaqueInlined(self.name(ty))),
            Type::Func { .. } => Err(TypeFault::FunctionInlined(self.name(ty))),
            Type::Forward { .. } => Err(TypeFault::Unresolved),
            _ => Ok(()),
        }
    }

    /// An array. It may be the last field of a structure, and allocated if it is immortal or raw.
    ///
    /// # Errors
    /// A [`TypeFault`] for an item that can't be in an array.
    pub fn array(&mut self, item: TypeId) -> Result<TypeId, TypeFault> {
        self.make_array(item, false, true)
    }

    /// An array that a collector owns.
    ///
    /// # Errors
    /// As for [`Types::array`].
    pub fn gc_array(&mut self, item: TypeId) -> Result<TypeId, TypeFault> {
        self.make_array(item, true, true)
    }

    /// An array whose length is not stored.
    ///
    /// # Errors
    /// As for [`Types::array`].
    pub fn array_without_length(&mut self, item: TypeId) -> Result<TypeId, TypeFault> {
        self.make_array(item, false, false)
    }

    /// An array of structures with these fields.
    ///
    /// # Errors
    /// As for [`Types::structure`].
    pub fn array_of(&mut self, fields: &[(&str, TypeId)]) -> Result<TypeId, TypeFault> {
        let item = self.structure("item", fields)?;
        self.array(item)
    }

    fn make_array(
        &mut self,
        item: TypeId,
        gc: bool,
        has_length: bool,
    ) -> Result<TypeId, TypeFault> {
        self.check_item(item)?;
        Ok(self.types.push(Type::Array {
            item,
            gc,
            has_length,
        }))
    }

    fn check_item(&self, item: TypeId) -> Result<(), TypeFault> {
        match self.get(item) {
            Type::Forward { .. } => Err(TypeFault::Unresolved),
            Type::Struct { gc: true, .. }
            | Type::Opaque { gc: true, .. }
            | Type::Array { .. }
            | Type::Func { .. } => Err(TypeFault::Item(self.name(item))),
            _ if self.is_varsized(item) => Err(TypeFault::Item(self.name(item))),
            _ => Ok(()),
        }
    }

    /// An array of known length, which behaves as a structure.
    ///
    /// # Errors
    /// A [`TypeFault`] for an item that can't be in a structure.
    pub fn fixed_array(&mut self, item: TypeId, length: u32) -> Result<TypeId, TypeFault> {
        self.check_inlined(item, false)?;
        if self.is_varsized(item) {
            return Err(TypeFault::Item(self.name(item)));
        }
        Ok(self.types.push(Type::FixedArray { item, length }))
    }

    /// A pointer to a container.
    ///
    /// # Errors
    /// [`TypeFault::PointerTo`] for a primitive or another pointer.
    pub fn ptr(&mut self, target: TypeId) -> Result<TypeId, TypeFault> {
        match self.get(target) {
            Type::Primitive(_) | Type::Ptr(_) => Err(TypeFault::PointerTo(self.name(target))),
            _ => Ok(self.types.push(Type::Ptr(target))),
        }
    }

    /// A function.
    ///
    /// # Errors
    /// [`TypeFault::Passed`] where a parameter or the result is a container.
    pub fn func(&mut self, params: &[TypeId], result: TypeId) -> Result<TypeId, TypeFault> {
        for &ty in params.iter().chain([&result]) {
            if self.is_container(ty) {
                return Err(TypeFault::Passed(self.name(ty)));
            }
        }
        Ok(self.types.push(Type::Func {
            params: params.to_vec(),
            result,
        }))
    }

    /// Data that only the back end knows.
    pub fn opaque(&mut self, name: &str, gc: bool) -> TypeId {
        self.types.push(Type::Opaque {
            name: name.to_owned(),
            gc,
        })
    }

    /// A container that is defined later, by [`Types::define`].
    pub fn forward(&mut self, gc: bool) -> TypeId {
        self.types.push(Type::Forward { gc, target: None })
    }

    /// Defines a forward reference.
    ///
    /// # Errors
    /// If it is already defined, or `target` is no container, or does not have the declared owner.
    pub fn define(&mut self, forward: TypeId, target: TypeId) -> Result<(), TypeFault> {
        let Type::Forward { gc, target: None } = self.types[forward] else {
            return Err(TypeFault::NotForward(self.name(forward)));
        };
        if !self.is_container(target) || matches!(self.get(target), Type::Forward { .. }) {
            return Err(TypeFault::BecomesValue(self.name(target)));
        }
        if self.is_gc(target) != gc {
            return Err(TypeFault::BecomesOtherKind(self.name(target)));
        }
        self.types[forward] = Type::Forward {
            gc,
            target: Some(target),
        };
        Ok(())
    }
}

/// Queries.
impl Types {
    /// A type, through forward references that are defined.
    pub fn get(&self, id: TypeId) -> &Type {
        match &self.types[id] {
            Type::Forward {
                target: Some(target),
                ..
            } => self.get(*target),
            ty => ty,
        }
    }

    /// Returns true if its values are only in memory.
    pub fn is_container(&self, id: TypeId) -> bool {
        !matches!(self.get(id), Type::Primitive(_) | Type::Ptr(_))
    }

    /// Returns true if a collector owns it.
    pub fn is_gc(&self, id: TypeId) -> bool {
        match *self.get(id) {
            Type::Struct { gc, .. }
            | Type::Array { gc, .. }
            | Type::Opaque { gc, .. }
            | Type::Forward { gc, .. } => gc,
            _ => false,
        }
    }

    /// Returns true if its size is chosen when it is allocated.
    pub fn is_varsized(&self, id: TypeId) -> bool {
        match self.get(id) {
            Type::Array { .. } => true,
            Type::Struct { fields, .. } => {
                fields.last().is_some_and(|&(_, ty)| self.is_varsized(ty))
            }
            _ => false,
        }
    }

    /// Fields of a structure, or items of an array of known length.
    pub fn fields(&self, id: TypeId) -> Vec<(String, TypeId)> {
        match self.get(id) {
            Type::Struct { fields, .. } => fields.clone(),
            Type::FixedArray { item, length } => {
                (0..*length).map(|n| (format!("item{n}"), *item)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The structure that is the first field, if it has the same owner as the whole. The two are
    /// one allocation, and a pointer to either may be cast to the other.
    pub fn first_struct(&self, id: TypeId) -> Option<TypeId> {
        let Type::Struct { fields, gc, .. } = self.get(id) else {
            return None;
        };
        let &(_, first) = fields.first()?;
        match self.get(first) {
            Type::Struct { gc: inner, .. } if inner == gc => Some(first),
            _ => None,
        }
    }

    /// Returns true if two types have the same structure. A pair of recursive types that is already
    /// being compared counts as the same.
    pub fn same(&self, a: TypeId, b: TypeId) -> bool {
        self.same_under(a, b, &mut HashSet::new())
    }

    fn same_under(&self, a: TypeId, b: TypeId, assumed: &mut HashSet<(TypeId, TypeId)>) -> bool {
        if a == b || !assumed.insert((a, b)) {
            return true;
        }
        let mut same = |a, b| self.same_under(a, b, assumed);
        match (self.get(a), self.get(b)) {
            (
                Type::Struct {
                    name: n1,
                    fields: f1,
                    gc: g1,
                    rtti: r1,
                },
                Type::Struct {
                    name: n2,
                    fields: f2,
                    gc: g2,
                    rtti: r2,
                },
            ) => {
                n1 == n2
                    && g1 == g2
                    && r1 == r2
                    && f1.len() == f2.len()
                    && f1.iter().zip(f2).all(|(x, y)| x.0 == y.0 && same(x.1, y.1))
            }
            (
                Type::Array {
                    item: i1,
                    gc: g1,
                    has_length: l1,
                },
                Type::Array {
                    item: i2,
                    gc: g2,
                    has_length: l2,
                },
            ) => g1 == g2 && l1 == l2 && same(*i1, *i2),
            (
                Type::FixedArray {
                    item: i1,
                    length: l1,
                },
                Type::FixedArray {
                    item: i2,
                    length: l2,
                },
            ) => l1 == l2 && same(*i1, *i2),
            (Type::Ptr(t1), Type::Ptr(t2)) => same(*t1, *t2),
            (
                Type::Func {
                    params: p1,
                    result: r1,
                },
                Type::Func {
                    params: p2,
                    result: r2,
                },
            ) => {
                p1.len() == p2.len()
                    && same(*r1, *r2)
                    && p1.iter().zip(p2).all(|(&x, &y)| same(x, y))
            }
            // Not yet defined: equal only to itself.
            (Type::Forward { .. }, _) | (_, Type::Forward { .. }) => false,
            (x, y) => x == y,
        }
    }

    /// A hash that is equal for types of the same structure. It looks only a few levels deep, so
    /// recursive types have one too.
    ///
    /// # Errors
    /// [`TypeFault::Unresolved`] for an undefined forward reference.
    pub fn hash(&self, id: TypeId) -> Result<u64, TypeFault> {
        let mut hasher = DefaultHasher::new();
        self.hash_into(id, 3, &mut hasher)?;
        Ok(hasher.finish())
    }

    fn hash_into(
        &self,
        id: TypeId,
        depth: u32,
        hasher: &mut DefaultHasher,
    ) -> Result<(), TypeFault> {
        let ty = self.get(id);
        std::mem::discriminant(ty).hash(hasher);
        if depth == 0 {
            return Ok(());
        }
        let mut part = |id| self.hash_into(id, depth - 1, hasher);
        match ty {
            Type::Primitive(primitive) => primitive.hash(hasher),
            Type::Opaque { name, gc } => (name, gc).hash(hasher),
            Type::Struct { name, fields, .. } => {
                for &(_, ty) in fields {
                    part(ty)?;
                }
                name.hash(hasher);
                fields.len().hash(hasher);
            }
            Type::Array { item, .. } | Type::FixedArray { item, .. } => part(*item)?,
            Type::Ptr(target) => part(*target)?,
            Type::Func { params, result } => {
                for &ty in params.iter().chain([result]) {
                    part(ty)?;
                }
            }
            Type::Forward { .. } => return Err(TypeFault::Unresolved),
        }
        Ok(())
    }
}
