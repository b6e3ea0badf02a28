//! Casts and comparisons of pointers, and run-time type information.
//!
//! A structure whose first field is a structure with the same owner is one allocation with it, so a
//! pointer to either may be cast to the other: inwards always, outwards if the object really is the
//! first field of such a structure.

use super::fault::LlError;
use super::heap::{Flavour, Heap};
use super::memory::Memory;
use super::shape::Shape;
use super::types::{Primitive, Type, TypeId, Types};
use super::values::{Pointer, Value, convert};

impl<M: Memory> Heap<'_, M> {
    /// Returns true if two pointers are to one container.
    ///
    /// # Errors
    /// [`LlError::Compared`] if their types differ.
    pub fn is_same(&self, a: Pointer, b: Pointer) -> Result<bool, LlError> {
        if !self.types.same(a.target, b.target) {
            let names = [a, b].map(|p| self.types.name(p.target));
            let [a, b] = names;
            return Err(LlError::Compared(a, b));
        }
        Ok(a.address == b.address)
    }

    /// A number that identifies a container, and stays the same through casts.
    ///
    /// # Errors
    /// [`LlError::Null`] for null.
    pub fn identity_hash(&self, pointer: Pointer) -> Result<u64, LlError> {
        if pointer.is_null() {
            return Err(LlError::Null("an identity hash".to_owned()));
        }
        Ok(pointer.address)
    }

    /// Converts a primitive to another type.
    ///
    /// # Errors
    /// If the value is a pointer.
    pub fn cast_primitive(&self, to: Primitive, value: Value) -> Result<Value, LlError> {
        convert(to, value)
    }

    /// Casts a pointer to a container's first field, or to the structure whose first field it is.
    ///
    /// # Errors
    /// If the types are not related in that way, or the container is not of the target type.
    pub fn cast_pointer(&self, to: TypeId, pointer: Pointer) -> Result<Pointer, LlError> {
        let types = self.types;
        let cast = Pointer {
            target: to,
            address: pointer.address,
        };
        if types.same(to, pointer.target) {
            return Ok(cast);
        }
        let (from_name, to_name) = (types.name(pointer.target), types.name(to));
        if types.is_gc(to) != types.is_gc(pointer.target) {
            return Err(LlError::CastChangesOwner {
                from: from_name,
                to: to_name,
            });
        }
        if self.is_first_of(to, pointer.target) {
            return Ok(cast);
        }
        let invalid = LlError::InvalidCast {
            from: from_name,
            to: to_name.clone(),
        };
        if !self.is_first_of(pointer.target, to) {
            return Err(invalid);
        }
        if pointer.is_null() {
            return Ok(cast);
        }
        let around = self.containers_at(pointer.address);
        if around.iter().any(|&ty| types.same(ty, to)) {
            return Ok(cast);
        }
        let is_whole = self.allocations.contains_key(&pointer.address);
        if !is_whole && self.container_of(pointer.address).is_some() {
            // A part other than the first.
            return Err(invalid);
        }
        Err(LlError::WideningToTrash {
            object: types.name(pointer.target),
            to: to_name,
        })
    }

    /// Returns true if `inner` is the first field of `outer`, or of its first field, and so on.
    fn is_first_of(&self, inner: TypeId, outer: TypeId) -> bool {
        let mut next = self.types.first_struct(outer);
        while let Some(first) = next {
            if self.types.same(first, inner) {
                return true;
            }
            next = self.types.first_struct(first);
        }
        false
    }

    /// The types of all containers that begin at an address, the largest first.
    fn containers_at(&self, address: u64) -> Vec<TypeId> {
        let Some((start, allocation)) = self.container_of(address) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        self.collect(allocation.ty, start, address, &mut found);
        found
    }

    fn collect(&self, ty: TypeId, start: u64, address: u64, found: &mut Vec<TypeId>) {
        if start == address {
            found.push(ty);
        }
        for (name, field) in self.types.fields(ty) {
            let offset = self.types.offset(ty, &name).unwrap_or(0);
            let at = start + u64::from(offset);
            let bytes = u64::from(self.types.shape(field).bytes);
            let is_last_array = matches!(self.types.get(field), Type::Array { .. });
            if self.types.is_container(field)
                && address >= at
                && (is_last_array || address < at + bytes)
            {
                self.collect(field, at, address, found);
            }
        }
        if let Type::Array { item, .. } = *self.types.get(ty)
            && let Some(items) = self.types.items(ty)
            && self.types.is_container(item)
            && let Some(rest) = address.checked_sub(start + u64::from(items.start))
        {
            let stride = u64::from(items.stride.max(1));
            self.collect(item, address - rest % stride, address, found);
        }
    }

    /// Casts a pointer to or from opaque data.
    ///
    /// # Errors
    /// If the cast changes the owner of the target, or the target is not of the wanted type.
    pub fn cast_opaque(&self, to: TypeId, pointer: Pointer) -> Result<Pointer, LlError> {
        let types = self.types;
        let names = || (types.name(pointer.target), types.name(to));
        if types.is_gc(to) != types.is_gc(pointer.target) {
            let (from, to) = names();
            return Err(LlError::CastChangesOwner { from, to });
        }
        let hides = matches!(types.get(to), Type::Opaque { .. });
        let is_there = || {
            let there = self.containers_at(pointer.address);
            there.iter().any(|&ty| types.same(ty, to))
        };
        if hides || pointer.is_null() || is_there() {
            return Ok(Pointer {
                target: to,
                address: pointer.address,
            });
        }
        let (from, to) = names();
        Err(LlError::InvalidCast { from, to })
    }

    /// Casts an integer to a pointer: 0 is null, and an odd integer stays an integer.
    ///
    /// # Errors
    /// For another even integer, which could be an address by accident.
    pub fn cast_int_to_pointer(&self, to: TypeId, value: i64) -> Result<Pointer, LlError> {
        if value != 0 && value % 2 == 0 {
            return Err(LlError::WrongType {
                place: "a cast to a pointer".to_owned(),
                expected: "0 or an odd integer".to_owned(),
                found: value.to_string(),
            });
        }
        Ok(Pointer {
            target: to,
            address: value.cast_unsigned(),
        })
    }

    fn rtti(&self, ty: TypeId) -> Result<u32, LlError> {
        match self.types.get(ty) {
            Type::Struct {
                gc: true,
                rtti: Some(number),
                ..
            } => Ok(*number),
            _ => Err(LlError::NoTypeInfo(self.types.name(ty))),
        }
    }

    /// Gives a structure run-time type information, with a function that finds it from an object,
    /// if there is one. Returns the information: a pointer to opaque data.
    ///
    /// # Errors
    /// If the type was not declared with type information, or the function has a wrong type.
    pub fn attach_type_info(
        &mut self,
        ty: TypeId,
        query: Option<Pointer>,
    ) -> Result<Pointer, LlError> {
        let number = self.rtti(ty)?;
        if let Some(query) = query {
            self.check_query(ty, query)?;
        }
        if let Some(entry) = self.infos.get_mut(&number) {
            entry.1 = query.or(entry.1);
            return Ok(entry.0);
        }
        // The data itself belongs to the back end.
        let shape = Shape {
            bytes: 8,
            ..Shape::default()
        };
        let address = self.memory.allocate("RuntimeTypeInfo", &shape, 0)?;
        let info = Pointer {
            target: Types::RUNTIME_TYPE_INFO,
            address,
        };
        self.infos.insert(number, (info, query));
        Ok(info)
    }

    fn check_query(&self, ty: TypeId, query: Pointer) -> Result<(), LlError> {
        let types = self.types;
        let takes = |param: TypeId| match *types.get(param) {
            Type::Ptr(target) => types.same(target, ty) || self.is_first_of(target, ty),
            _ => false,
        };
        let gives = |result: TypeId| match *types.get(result) {
            Type::Ptr(target) => types.same(target, Types::RUNTIME_TYPE_INFO),
            _ => false,
        };
        match types.get(query.target) {
            Type::Func { params, result }
                if params.len() == 1 && takes(params[0]) && gives(*result) =>
            {
                Ok(())
            }
            _ => Err(LlError::QueryFunction {
                structure: types.name(ty),
                found: types.name(query.target),
            }),
        }
    }

    /// The information of a type.
    ///
    /// # Errors
    /// If none was attached.
    pub fn type_info(&self, ty: TypeId) -> Result<Pointer, LlError> {
        let number = self.rtti(ty)?;
        let info = self.infos.get(&number);
        let info = info.ok_or_else(|| LlError::NoTypeInfo(self.types.name(ty)))?;
        Ok(info.0)
    }

    /// The type information of the largest structure that starts at an object. The result of the
    /// query function of the pointer's type is compared with it.
    ///
    /// # Errors
    /// If there is none, or the query function returns other information.
    pub fn runtime_type_info(&mut self, pointer: Pointer) -> Result<Pointer, LlError> {
        if pointer.is_null() {
            return Err(LlError::Null("type information".to_owned()));
        }
        let allocation = self.allocations.get(&pointer.address);
        let top = allocation.map_or(pointer.target, |allocation| allocation.ty);
        let info = self.type_info(top)?;
        let number = self.rtti(pointer.target)?;
        if let Some(&(_, Some(query))) = self.infos.get(&number) {
            let Type::Func { params, .. } = self.types.get(query.target) else {
                unreachable!("checked when it was attached");
            };
            let Type::Ptr(target) = *self.types.get(params[0]) else {
                unreachable!("checked when it was attached");
            };
            let argument = self.cast_pointer(target, pointer)?;
            let told = self.call(query, &[Value::Ptr(argument)])?;
            if told != Value::Ptr(info) {
                return Err(LlError::WrongTypeInfo {
                    object: self.types.name(pointer.target),
                    told: self.described_type(told),
                    found: self.types.name(top),
                });
            }
        }
        Ok(info)
    }

    /// The name of the type whose information a value is.
    fn described_type(&self, told: Value) -> String {
        let number = self
            .infos
            .iter()
            .find(|(_, entry)| Value::Ptr(entry.0) == told);
        let of = |number: u32| {
            let mut allocated = self.allocations.values().map(|a| a.ty);
            allocated.find(|&ty| self.rtti(ty) == Ok(number))
        };
        number
            .and_then(|(&number, _)| of(number))
            .map_or_else(|| "another type".to_owned(), |ty| self.types.name(ty))
    }

    /// Allocates a structure that a collector owns.
    ///
    /// # Errors
    /// As for [`Heap::malloc`].
    pub fn new_gc(&mut self, ty: TypeId) -> Result<Pointer, LlError> {
        self.malloc(ty, None, Flavour::Gc)
    }
}
