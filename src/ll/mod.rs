//! Low-level types: the contents of machine registers and words of memory, and the layouts of a
//! host's objects.
//!
//! A LIR value has a [`Ty`]. A memory access has a [`Width`], which gives the number of bytes and
//! the way they widen into a register. A host describes its objects as [`Struct`]s, so that no
//! offset is written outside `hosts/`.

mod checked;
mod fault;
mod heap;
mod memory;
mod names;
mod pointers;
mod shape;
#[cfg(test)]
mod tests;
mod types;
mod values;

// The memory of the LIR interpreter.
#[cfg(not(feature = "internals"))]
pub(crate) use self::{
    checked::{CheckedMemory, MemoryError},
    fault::{LlError, TypeFault},
    heap::{Body, Flavour, Heap},
    memory::{Memory, RawMemory},
    shape::{Cell, CellKind, Items, Shape},
    types::{Primitive, Type, TypeId, Types},
    values::{Pointer, Value},
};
#[cfg(feature = "internals")]
pub use self::{
    checked::{CheckedMemory, MemoryError},
    fault::{LlError, TypeFault},
    heap::{Body, Flavour, Heap},
    memory::{Memory, RawMemory},
    shape::{Cell, CellKind, Items, Shape},
    types::{Primitive, Type, TypeId, Types},
    values::{Pointer, Value},
};

use std::fmt;

/// The type of a LIR value, which is in one machine register.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ty {
    /// A truth value, 0 or 1.
    Bool,
    /// A signed 64-bit integer.
    I64,
    /// An IEEE double.
    F64,
    /// An address of an object of the host, or of a place inside one.
    Ptr,
}

impl Ty {
    /// All types, in the order of the text form's documentation.
    pub const ALL: [Ty; 4] = [Ty::Bool, Ty::I64, Ty::F64, Ty::Ptr];

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Ty::Bool => "bool",
            Ty::I64 => "i64",
            Ty::F64 => "f64",
            Ty::Ptr => "ptr",
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The form of a field in memory. A load widens it, a store narrows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    /// One byte, zero-extended.
    U8,
    /// Two bytes, zero-extended.
    U16,
    /// Four bytes, zero-extended.
    U32,
    /// Four bytes, sign-extended.
    I32,
    /// Eight bytes.
    I64,
    /// An IEEE double.
    F64,
    /// An address.
    Ptr,
}

impl Width {
    /// All widths.
    pub const ALL: [Width; 7] = [
        Width::U8,
        Width::U16,
        Width::U32,
        Width::I32,
        Width::I64,
        Width::F64,
        Width::Ptr,
    ];

    /// The register type that a load of this width gives, and that a store takes.
    pub fn ty(self) -> Ty {
        match self {
            Width::U8 | Width::U16 | Width::U32 | Width::I32 | Width::I64 => Ty::I64,
            Width::F64 => Ty::F64,
            Width::Ptr => Ty::Ptr,
        }
    }

    /// The number of bytes accessed.
    pub fn bytes(self) -> u32 {
        match self {
            Width::U8 => 1,
            Width::U16 => 2,
            Width::U32 | Width::I32 => 4,
            Width::I64 | Width::F64 | Width::Ptr => 8,
        }
    }

    /// The name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Width::U8 => "u8",
            Width::U16 => "u16",
            Width::U32 => "u32",
            Width::I32 => "i32",
            Width::I64 => "i64",
            Width::F64 => "f64",
            Width::Ptr => "ptr",
        }
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One field of a host structure.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Field {
    /// The name, for text forms and errors.
    pub name: &'static str,
    /// Bytes from the start of the structure.
    pub offset: i32,
    /// Its form in memory.
    pub width: Width,
}

impl Field {
    /// A field.
    pub const fn new(name: &'static str, offset: usize, width: Width) -> Field {
        Field {
            name,
            offset: offset as i32,
            width,
        }
    }
}

/// A structure of the host: a name and its fields.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Struct {
    /// The name, for text forms and errors.
    pub name: &'static str,
    /// Its fields, by rising offset.
    pub fields: Vec<Field>,
}

/// A fault in a structure.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LayoutError {
    /// Two fields share a byte.
    #[error(
        "in structure `{structure}` the fields `{first}` and `{second}` overlap; give each its own bytes"
    )]
    Overlap {
        /// The structure.
        structure: &'static str,
        /// The field that comes first.
        first: &'static str,
        /// The field that starts inside it.
        second: &'static str,
    },
}

impl Struct {
    /// A structure whose fields do not overlap.
    ///
    /// # Errors
    /// [`LayoutError::Overlap`] names the first two fields that share a byte.
    pub fn new(name: &'static str, mut fields: Vec<Field>) -> Result<Struct, LayoutError> {
        fields.sort_by_key(|f| f.offset);
        for pair in fields.windows(2) {
            if pair[0].offset + pair[0].width.bytes() as i32 > pair[1].offset {
                return Err(LayoutError::Overlap {
                    structure: name,
                    first: pair[0].name,
                    second: pair[1].name,
                });
            }
        }
        Ok(Struct { name, fields })
    }

    /// The field of this name.
    ///
    /// # Panics
    /// If there is none: names are the host's own, so that is a bug in its source.
    pub fn field(&self, name: &str) -> Field {
        let found = self.fields.iter().find(|field| field.name == name);
        *found.unwrap_or_else(|| panic!("`{}` has no field `{name}`", self.name))
    }
}
