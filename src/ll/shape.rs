//! The layout of a container in memory: cells at offsets, computed from its type.

use super::types::{Primitive, Type, TypeId, Types};
use super::{Ty, Width};

/// The kind of a cell, as far as accesses depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CellKind {
    /// An integer, a character or a truth value.
    Int,
    /// A double.
    Float,
    /// A pointer, with its target's owner.
    Pointer {
        /// True if a collector owns the target.
        gc: bool,
    },
}

impl CellKind {
    /// Returns true if an access of this width, whose size fits, may touch such a cell.
    pub fn takes(self, width: Width) -> bool {
        matches!(
            (self, width.ty()),
            (CellKind::Int, Ty::I64)
                | (CellKind::Float, Ty::F64)
                | (CellKind::Pointer { .. }, Ty::Ptr)
        )
    }
}

/// A place in a container that holds one value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Its name, with the fields it lies in: `p.x`.
    pub name: String,
    /// Bytes from the start.
    pub offset: u32,
    /// Bytes.
    pub bytes: u32,
    /// Its kind.
    pub kind: CellKind,
}

/// Cells that repeat to the end of the container.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Items {
    /// The array's name; empty if the container is one.
    pub name: String,
    /// The offset of the first item.
    pub start: u32,
    /// The distance of two items in bytes.
    pub stride: u32,
    /// The offset of the stored length.
    pub length: Option<u32>,
    /// The cells of one item.
    pub cells: Vec<Cell>,
}

/// The layout of a container in memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// Its cells.
    pub cells: Vec<Cell>,
    /// Items after them.
    pub items: Option<Items>,
    /// Bytes without the items.
    pub bytes: u32,
    /// True if the bytes may be used for any types, as in a stack slot.
    pub is_untyped: bool,
}

impl Shape {
    /// Bytes of no particular type.
    pub fn untyped(bytes: u32) -> Shape {
        Shape {
            bytes,
            is_untyped: true,
            ..Shape::default()
        }
    }

    /// The number of bytes with this number of items.
    pub fn size(&self, items: u64) -> u64 {
        let each = self
            .items
            .as_ref()
            .map_or(0, |items| u64::from(items.stride));
        u64::from(self.bytes) + items * each
    }

    /// The cell at an offset, with the index of its item in the name, and its own offset.
    pub fn cell(&self, offset: u64) -> Option<(String, u64, &Cell)> {
        let inside = |cell: &Cell, at: u64| {
            (u64::from(cell.offset)..u64::from(cell.offset + cell.bytes)).contains(&at)
        };
        if let Some(cell) = self.cells.iter().find(|cell| inside(cell, offset)) {
            return Some((cell.name.clone(), u64::from(cell.offset), cell));
        }
        let items = self.items.as_ref()?;
        let rest = offset.checked_sub(u64::from(items.start))?;
        let stride = u64::from(items.stride.max(1));
        let (index, at) = (rest / stride, rest % stride);
        let cell = items.cells.iter().find(|cell| inside(cell, at))?;
        let dot = if cell.name.is_empty() { "" } else { "." };
        let name = format!("{}[{index}]{dot}{}", items.name, cell.name);
        let start = u64::from(items.start) + index * stride + u64::from(cell.offset);
        Some((name, start, cell))
    }
}

impl Types {
    /// The form of a primitive or a pointer in memory. None for `Void`, which takes no memory.
    pub fn cell_of(&self, ty: TypeId) -> Option<(u32, CellKind)> {
        Some(match *self.get(ty) {
            Type::Primitive(primitive) => match primitive {
                Primitive::Signed | Primitive::Unsigned => (8, CellKind::Int),
                Primitive::Float => (8, CellKind::Float),
                Primitive::Char | Primitive::Bool => (1, CellKind::Int),
                Primitive::SignedBits(bits) | Primitive::UnsignedBits(bits) => {
                    (u32::from(bits) / 8, CellKind::Int)
                }
                Primitive::Void => return None,
            },
            Type::Ptr(target) => (
                8,
                CellKind::Pointer {
                    gc: self.is_gc(target),
                },
            ),
            _ => return None,
        })
    }

    /// The layout of a container in memory.
    pub fn shape(&self, ty: TypeId) -> Shape {
        let mut shape = Shape::default();
        self.lay_out(ty, "", &mut shape);
        shape.bytes = shape.bytes.next_multiple_of(8);
        shape
    }

    /// The offset of a field.
    pub fn offset(&self, container: TypeId, field: &str) -> Option<u32> {
        let mut offset = 0;
        for (name, ty) in self.fields(container) {
            offset = self.place(ty, offset);
            if name == field {
                return Some(offset);
            }
            offset += self.bytes(ty);
        }
        None
    }

    /// The items of a container's array. None if it has no array.
    pub fn items(&self, container: TypeId) -> Option<Items> {
        self.shape(container).items
    }

    fn place(&self, ty: TypeId, offset: u32) -> u32 {
        let align = match self.cell_of(ty) {
            Some((bytes, _)) => bytes,
            None if self.is_container(ty) => 8,
            None => 1,
        };
        offset.next_multiple_of(align)
    }

    /// Bytes of a value or of a container of known size.
    fn bytes(&self, ty: TypeId) -> u32 {
        match (self.cell_of(ty), self.is_container(ty)) {
            (Some((bytes, _)), _) => bytes,
            (None, true) => self.shape(ty).bytes,
            (None, false) => 0,
        }
    }

    fn lay_out(&self, ty: TypeId, path: &str, shape: &mut Shape) {
        let join = |name: &str| {
            if path.is_empty() {
                name.to_owned()
            } else {
                format!("{path}.{name}")
            }
        };
        match self.get(ty) {
            Type::Array {
                item, has_length, ..
            } => {
                shape.bytes = shape.bytes.next_multiple_of(8);
                let length = has_length.then_some(shape.bytes);
                if let Some(offset) = length {
                    shape.cells.push(Cell {
                        name: join("length"),
                        offset,
                        bytes: 8,
                        kind: CellKind::Int,
                    });
                    shape.bytes += 8;
                }
                let mut one = Shape::default();
                self.add(*item, "", &mut one);
                let align = one.cells.iter().map(|cell| cell.bytes).max().unwrap_or(1);
                shape.items = Some(Items {
                    name: path.to_owned(),
                    start: shape.bytes,
                    stride: one.bytes.next_multiple_of(align),
                    length,
                    cells: one.cells,
                });
            }
            _ => {
                for (name, field) in self.fields(ty) {
                    self.add(field, &join(&name), shape);
                }
            }
        }
    }

    /// Adds a value or a container at the end of a shape.
    fn add(&self, ty: TypeId, name: &str, shape: &mut Shape) {
        shape.bytes = self.place(ty, shape.bytes);
        if let Some((bytes, kind)) = self.cell_of(ty) {
            shape.cells.push(Cell {
                name: name.to_owned(),
                offset: shape.bytes,
                bytes,
                kind,
            });
            shape.bytes += bytes;
        } else if self.is_container(ty) {
            self.lay_out(ty, name, shape);
            shape.bytes = shape.bytes.next_multiple_of(8);
        }
    }
}
