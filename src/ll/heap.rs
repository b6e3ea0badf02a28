//! A heap of typed containers over a memory: allocation, fields and items, functions.
//!
//! RPython calls this the testing implementation of its types: low-level code can be written in
//! Rust and run against it, and LIR runs over the same memory. Values are typed, and never
//! converted implicitly.
//!
//! # Deliberately absent
//! There is no collector: containers that a collector owns live as long as the heap. Pointers to
//! parts of containers are not tracked: over a [`CheckedMemory`](super::CheckedMemory) the use of a
//! part of a freed container is an error there.

use super::fault::LlError;
use super::memory::Memory;
use super::shape::{CellKind, Shape};
use super::types::{Type, TypeId, Types};
use super::values::{Pointer, Value, bits, value_of};
use super::{MemoryError, Width};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The owner of an allocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flavour {
    /// The collector.
    Gc,
    /// The code that allocated it.
    Raw,
    /// None: it is prebuilt data, never freed.
    Immortal,
}

/// The body of a function.
pub type Body<M> = Rc<dyn Fn(&mut Heap<'_, M>, &[Value]) -> Result<Value, LlError>>;

pub(super) struct Allocation {
    pub(super) ty: TypeId,
    items: u64,
    bytes: u64,
    flavour: Flavour,
    name: String,
}

pub(super) struct Function<M> {
    name: String,
    body: Option<Body<M>>,
}

/// Containers in a memory.
pub struct Heap<'t, M> {
    /// The types.
    pub types: &'t Types,
    /// The memory.
    pub memory: M,
    /// The allocations, by address.
    pub(super) allocations: BTreeMap<u64, Allocation>,
    functions: HashMap<u64, Function<M>>,
    /// Run-time type information by the number in the type: the opaque object, and the query
    /// function.
    pub(super) infos: HashMap<u32, (Pointer, Option<Pointer>)>,
}

impl<'t, M: Memory> Heap<'t, M> {
    /// An empty heap.
    pub fn new(types: &'t Types, memory: M) -> Heap<'t, M> {
        Heap {
            types,
            memory,
            allocations: BTreeMap::new(),
            functions: HashMap::new(),
            infos: HashMap::new(),
        }
    }

    /// Allocates a container. `items` is the length of a container of open size. All fields are
    /// zero, null or false, except in a raw allocation, which is uninitialised.
    ///
    /// # Errors
    /// If the type can't be allocated, or not with this owner, or does not take such a length.
    pub fn malloc(
        &mut self,
        ty: TypeId,
        items: Option<i64>,
        flavour: Flavour,
    ) -> Result<Pointer, LlError> {
        let pointer = self.allocate(ty, items, flavour)?;
        if flavour != Flavour::Raw {
            self.fill(pointer, |_| true)?;
        }
        Ok(pointer)
    }

    /// Allocates without zeroing. Only pointers to containers that a collector owns are null, so
    /// that the collector may run; in a raw allocation not even those.
    ///
    /// # Errors
    /// As for [`Heap::malloc`].
    pub fn malloc_uninitialised(
        &mut self,
        ty: TypeId,
        items: Option<i64>,
        flavour: Flavour,
    ) -> Result<Pointer, LlError> {
        let pointer = self.allocate(ty, items, flavour)?;
        if flavour != Flavour::Raw {
            self.fill(pointer, |kind| kind == CellKind::Pointer { gc: true })?;
        }
        Ok(pointer)
    }

    fn allocate(
        &mut self,
        ty: TypeId,
        items: Option<i64>,
        flavour: Flavour,
    ) -> Result<Pointer, LlError> {
        let name = self.types.name(ty);
        if !matches!(
            self.types.get(ty),
            Type::Struct { .. } | Type::Array { .. } | Type::FixedArray { .. }
        ) {
            return Err(LlError::Unmallocable(name));
        }
        if flavour == Flavour::Gc && !self.types.is_gc(ty) {
            return Err(LlError::NotOwned(name));
        }
        let needed = self.types.is_varsized(ty);
        if needed != items.is_some() {
            return Err(LlError::Length {
                container: name,
                needed,
            });
        }
        let items = items.unwrap_or(0);
        let count = u64::try_from(items).map_err(|_| LlError::NegativeLength(items))?;
        let shape = self.types.shape(ty);
        let stride = shape
            .items
            .as_ref()
            .map_or(0, |items| u64::from(items.stride));
        if count > MAX_ITEMS || count.saturating_mul(stride) > MAX_BYTES {
            return Err(LlError::TooLarge(items));
        }
        let address = self
            .memory
            .allocate(&self.short_name(ty), &shape, count)
            .map_err(|error| match error {
                MemoryError::NoRoom { .. } => LlError::TooLarge(items),
                other => other.into(),
            })?;
        if let Some(length) = shape.items.as_ref().and_then(|items| items.length) {
            self.memory
                .store(Width::I64, address + u64::from(length), count)?;
        }
        let allocation = Allocation {
            ty,
            items: count,
            bytes: shape.size(count),
            flavour,
            name: self.short_name(ty),
        };
        self.allocations.insert(address, allocation);
        Ok(Pointer {
            target: ty,
            address,
        })
    }

    /// Stores zeros to the cells of these kinds, except lengths.
    fn fill(&mut self, pointer: Pointer, which: fn(CellKind) -> bool) -> Result<(), LlError> {
        let shape = self.types.shape(pointer.target);
        let count = self.allocations[&pointer.address].items;
        let length = shape.items.as_ref().and_then(|items| items.length);
        let fixed = shape
            .cells
            .iter()
            .map(|cell| (u64::from(cell.offset), cell));
        let items = shape.items.iter().flat_map(|items| {
            let start = move |n| u64::from(items.start) + n * u64::from(items.stride);
            (0..count).flat_map(move |n| {
                items
                    .cells
                    .iter()
                    .map(move |cell| (start(n) + u64::from(cell.offset), cell))
            })
        });
        for (offset, cell) in fixed.chain(items) {
            if which(cell.kind) && length.is_none_or(|length| u64::from(length) != offset) {
                let width = width(cell.bytes, cell.kind);
                self.memory.store(width, pointer.address + offset, 0)?;
            }
        }
        Ok(())
    }

    /// A name without the fields.
    fn short_name(&self, ty: TypeId) -> String {
        let name = self.types.name(ty);
        name.split(" {").next().unwrap_or_default().to_owned()
    }

    /// Frees a raw allocation.
    ///
    /// # Errors
    /// If a collector owns it, it is immortal or already freed, or the pointer is to a part of it.
    pub fn free(&mut self, pointer: Pointer) -> Result<(), LlError> {
        if self.types.is_gc(pointer.target) {
            return Err(LlError::FreesOwned(self.types.name(pointer.target)));
        }
        match self.allocations.get(&pointer.address) {
            Some(allocation) if allocation.flavour == Flavour::Raw => {
                self.memory.release(pointer.address)?;
                self.allocations.remove(&pointer.address);
                Ok(())
            }
            Some(allocation) => Err(LlError::FreesOwned(allocation.name.clone())),
            None if self.container_of(pointer.address).is_some() => {
                Err(LlError::NotAnAllocation(self.types.name(pointer.target)))
            }
            None => Ok(self.memory.release(pointer.address)?),
        }
    }

    /// Looks for raw allocations that were not freed, as at the end of a program.
    ///
    /// # Errors
    /// [`LlError::Leaks`] names them.
    pub fn check_leaks(&self) -> Result<(), LlError> {
        let raw = self
            .allocations
            .values()
            .filter(|a| a.flavour == Flavour::Raw);
        let leaks: Vec<String> = raw.map(|a| a.name.clone()).collect();
        if leaks.is_empty() {
            Ok(())
        } else {
            Err(LlError::Leaks(leaks))
        }
    }

    /// The allocation that contains an address, and its start.
    pub(super) fn container_of(&self, address: u64) -> Option<(u64, &Allocation)> {
        let (&start, allocation) = self.allocations.range(..=address).next_back()?;
        (address - start < allocation.bytes.max(1)).then_some((start, allocation))
    }

    /// The type of a value. For a pointer, that of its target.
    pub fn type_name(&self, value: Value) -> String {
        match value {
            Value::Ptr(pointer) => format!("* {}", self.types.name(pointer.target)),
            value => self.types.name(self.primitive_of(value)),
        }
    }

    fn primitive_of(&self, value: Value) -> TypeId {
        match value {
            Value::Signed(_) => Types::SIGNED,
            Value::Unsigned(_) => Types::UNSIGNED,
            Value::Float(_) => Types::FLOAT,
            Value::Char(_) => Types::CHAR,
            Value::Bool(_) => Types::BOOL,
            Value::Void | Value::Ptr(_) => Types::VOID,
            Value::Sized(primitive, _) => self.types.primitive(primitive),
        }
    }

    /// Checks that a value is of a type. There are no conversions.
    pub(super) fn check_type(&self, value: Value, ty: TypeId, place: &str) -> Result<(), LlError> {
        let fits = match (value, self.types.get(ty)) {
            (Value::Ptr(pointer), Type::Ptr(target)) => self.types.same(pointer.target, *target),
            (Value::Ptr(_), _) => false,
            (value, _) => self.types.same(self.primitive_of(value), ty),
        };
        if fits {
            return Ok(());
        }
        Err(LlError::WrongType {
            place: place.to_owned(),
            expected: self.types.name(ty),
            found: self.type_name(value),
        })
    }

    fn part(&self, pointer: Pointer, field: &str) -> Result<(TypeId, u64), LlError> {
        let container = || self.short_name(pointer.target);
        let fields = self.types.fields(pointer.target);
        let found = fields.iter().find(|(name, _)| name == field);
        let Some(&(_, ty)) = found else {
            return Err(LlError::NoField {
                container: container(),
                field: field.to_owned(),
            });
        };
        if pointer.is_null() {
            return Err(LlError::Null(format!("`{field}` of {}", container())));
        }
        let offset = self.types.offset(pointer.target, field).unwrap_or(0);
        Ok((ty, pointer.address + u64::from(offset)))
    }

    /// Reads a field. For a field that is a container, returns a pointer to it.
    ///
    /// # Errors
    /// If there is no such field, or the memory reports an error.
    pub fn get_field(&mut self, pointer: Pointer, field: &str) -> Result<Value, LlError> {
        let (ty, address) = self.part(pointer, field)?;
        self.read(ty, address)
    }

    /// Writes a field.
    ///
    /// # Errors
    /// If there is no such field, it is a container, the value is of another type, or the memory
    /// reports an error.
    pub fn set_field(
        &mut self,
        pointer: Pointer,
        field: &str,
        value: Value,
    ) -> Result<(), LlError> {
        let (ty, address) = self.part(pointer, field)?;
        self.write(ty, address, value, &format!("`{field}`"))
    }

    /// The length of an array.
    ///
    /// # Errors
    /// If the target is no array, or its length is not stored.
    pub fn len(&mut self, pointer: Pointer) -> Result<u64, LlError> {
        match *self.types.get(pointer.target) {
            Type::FixedArray { length, .. } => Ok(u64::from(length)),
            Type::Array {
                has_length: true, ..
            } => {
                if pointer.is_null() {
                    return Err(LlError::Null("length".to_owned()));
                }
                Ok(self.memory.load(Width::I64, pointer.address)?)
            }
            _ => Err(LlError::NoArray(self.types.name(pointer.target))),
        }
    }

    fn item(&mut self, pointer: Pointer, index: i64) -> Result<(TypeId, u64), LlError> {
        let (item, has_length) = match *self.types.get(pointer.target) {
            Type::Array {
                item, has_length, ..
            } => (item, has_length),
            Type::FixedArray { item, .. } => (item, true),
            _ => return Err(LlError::NoArray(self.types.name(pointer.target))),
        };
        if pointer.is_null() {
            return Err(LlError::Null(format!("item {index}")));
        }
        if has_length {
            let length = self.len(pointer)?;
            if !u64::try_from(index).is_ok_and(|n| n < length) {
                return Err(LlError::Index {
                    index,
                    object: self.short_name(pointer.target),
                    length,
                });
            }
        }
        let (start, stride) = match self.types.items(pointer.target) {
            Some(items) => (items.start, items.stride),
            // An array of fixed length: the items are fields.
            None => (0, self.types.offset(pointer.target, "item1").unwrap_or(0)),
        };
        let offset = i64::from(start) + index.wrapping_mul(i64::from(stride));
        Ok((item, pointer.address.wrapping_add_signed(offset)))
    }

    /// Reads an item. For an item that is a container, returns a pointer to it.
    ///
    /// # Errors
    /// If there is no such item, or the memory reports an error.
    pub fn get_item(&mut self, pointer: Pointer, index: i64) -> Result<Value, LlError> {
        let (ty, address) = self.item(pointer, index)?;
        self.read(ty, address)
    }

    /// Writes an item.
    ///
    /// # Errors
    /// As for [`Heap::set_field`].
    pub fn set_item(&mut self, pointer: Pointer, index: i64, value: Value) -> Result<(), LlError> {
        let (ty, address) = self.item(pointer, index)?;
        self.write(ty, address, value, &format!("item {index}"))
    }

    fn read(&mut self, ty: TypeId, address: u64) -> Result<Value, LlError> {
        let Some((bytes, kind)) = self.types.cell_of(ty) else {
            return Ok(if self.types.is_container(ty) {
                Value::Ptr(Pointer {
                    target: ty,
                    address,
                })
            } else {
                Value::Void
            });
        };
        let bits = self.memory.load(width(bytes, kind), address)?;
        Ok(match *self.types.get(ty) {
            Type::Ptr(target) => Value::Ptr(Pointer {
                target,
                address: bits,
            }),
            Type::Primitive(primitive) => value_of(primitive, bits),
            _ => Value::Void,
        })
    }

    fn write(
        &mut self,
        ty: TypeId,
        address: u64,
        value: Value,
        place: &str,
    ) -> Result<(), LlError> {
        if self.types.is_container(ty) {
            return Err(LlError::AssignsContainer(self.types.name(ty)));
        }
        self.check_type(value, ty, place)?;
        match self.types.cell_of(ty) {
            Some((bytes, kind)) => {
                Ok(self
                    .memory
                    .store(width(bytes, kind), address, bits(value))?)
            }
            None => Ok(()),
        }
    }

    /// Adds a function of a function type, with a body, or only declared.
    ///
    /// # Errors
    /// If the type is not a function type.
    pub fn function(
        &mut self,
        ty: TypeId,
        name: &str,
        body: Option<Body<M>>,
    ) -> Result<Pointer, LlError> {
        if !matches!(self.types.get(ty), Type::Func { .. }) {
            return Err(LlError::Unmallocable(self.types.name(ty)));
        }
        // It has an address but no cells: no data may be read there.
        let shape = Shape {
            bytes: 8,
            ..Shape::default()
        };
        let address = self.memory.allocate(name, &shape, 0)?;
        let function = Function {
            name: name.to_owned(),
            body,
        };
        self.functions.insert(address, function);
        Ok(Pointer {
            target: ty,
            address,
        })
    }

    /// Calls a function.
    ///
    /// # Errors
    /// If the pointer is not to a function, the arguments do not fit, or the body raises.
    pub fn call(&mut self, callee: Pointer, args: &[Value]) -> Result<Value, LlError> {
        let Type::Func { params, result } = self.types.get(callee.target) else {
            return Err(LlError::Undefined(self.types.name(callee.target)));
        };
        if callee.is_null() {
            return Err(LlError::Null("a call".to_owned()));
        }
        let known = self.functions.get(&callee.address);
        let name = known.map_or_else(|| "?".to_owned(), |function| function.name.clone());
        // A `Void` parameter has no argument.
        let passed: Vec<TypeId> = params
            .iter()
            .copied()
            .filter(|&ty| !self.types.same(ty, Types::VOID))
            .collect();
        let given: Vec<Value> = args
            .iter()
            .copied()
            .filter(|value| *value != Value::Void)
            .collect();
        if passed.len() != given.len() {
            return Err(LlError::Arity {
                function: name,
                expected: passed.len(),
                found: given.len(),
            });
        }
        for (place, (&value, &ty)) in given.iter().zip(&passed).enumerate() {
            self.check_type(value, ty, &format!("argument {place} of `{name}`"))?;
        }
        let body = known.and_then(|function| function.body.clone());
        let body = body.ok_or_else(|| LlError::Undefined(format!("`{name}`")))?;
        let value = body(self, &given)?;
        self.check_type(value, *result, &format!("the result of `{name}`"))?;
        Ok(value)
    }
}

/// A bound on the number of items of an allocation.
const MAX_ITEMS: u64 = 1 << 30;
/// A bound on the bytes of an allocation.
const MAX_BYTES: u64 = 1 << 40;

fn width(bytes: u32, kind: CellKind) -> Width {
    match (kind, bytes) {
        (CellKind::Float, _) => Width::F64,
        (CellKind::Pointer { .. }, _) => Width::Ptr,
        (CellKind::Int, 1) => Width::U8,
        (CellKind::Int, 2) => Width::U16,
        (CellKind::Int, 4) => Width::U32,
        (CellKind::Int, _) => Width::I64,
    }
}
