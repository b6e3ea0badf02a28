//! Checked memory: a simulated memory in which each access is checked first, and errors name the
//! object.
//!
//! An address has an object's number in the upper half and an offset in the lower one. So
//! arithmetic stays inside its object unless it goes far out of bounds, and the addresses of a
//! freed object are never reused.

use super::memory::Memory;
use super::shape::Shape;
use super::{Ty, Width};

/// A fault in a memory access.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MemoryError {
    /// At null, or near it.
    #[error("{width} at null{offset:+}")]
    Null {
        /// The access.
        width: Width,
        /// Bytes from null.
        offset: i64,
    },
    /// No object was ever there.
    #[error("{width} at {address:#x}, where no object is")]
    Wild {
        /// The access.
        width: Width,
        /// The address.
        address: u64,
    },
    /// The object was freed.
    #[error("use of {object} after it was freed")]
    UseAfterFree {
        /// The object.
        object: String,
    },
    /// The object that contains the accessed part was freed.
    #[error("use of `{part}` of {object} after that was freed")]
    DeadParent {
        /// The containing object.
        object: String,
        /// The part.
        part: String,
    },
    /// The object was freed twice.
    #[error("{object} is freed twice")]
    DoubleFree {
        /// The object.
        object: String,
    },
    /// A free of an address that is not the start of an object.
    #[error("{address:#x} is freed, where no object begins")]
    FreesNothing {
        /// The address.
        address: u64,
    },
    /// An access before the object, or after it.
    #[error("{width} at {offset:+} of {object}, which has {bytes} bytes")]
    OutOfBounds {
        /// The access.
        width: Width,
        /// The object.
        object: String,
        /// Bytes from its start.
        offset: i64,
        /// Its size.
        bytes: u64,
    },
    /// The value there is of another type, the access covers only part of it, or there is no value.
    #[error("{width} at {offset:+} of {object}, where {there} is")]
    WrongType {
        /// The access.
        width: Width,
        /// The object.
        object: String,
        /// Bytes from its start.
        offset: i64,
        /// The value there.
        there: String,
    },
    /// Nothing was stored there yet.
    #[error("`{part}` of {object} is read before it is written")]
    Uninitialised {
        /// The object.
        object: String,
        /// The part.
        part: String,
    },
    /// There is not enough memory.
    #[error("no room for {bytes} bytes of {object}")]
    NoRoom {
        /// The object's name.
        object: String,
        /// Its size.
        bytes: u64,
    },
}

/// The state of a byte, with its kind where the object's shape does not determine it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Byte {
    Empty,
    Full(Ty),
}

#[derive(Clone, Debug)]
struct Object {
    name: String,
    shape: Shape,
    bytes: Vec<u8>,
    state: Vec<Byte>,
    is_freed: bool,
}

/// Simulated memory that checks every access.
#[derive(Clone, Debug, Default)]
pub struct CheckedMemory {
    objects: Vec<Object>,
}

/// The offset of an object's start in the lower half of an address, so that addresses before the
/// object are recognised.
const START: u64 = 1 << 31;
/// The most bytes of an object.
const LARGEST: u64 = 1 << 30;

impl CheckedMemory {
    /// An empty memory.
    pub fn new() -> CheckedMemory {
        CheckedMemory::default()
    }

    /// The names of the objects that are not freed.
    pub fn alive(&self) -> Vec<String> {
        let alive = self.objects.iter().filter(|object| !object.is_freed);
        alive.map(|object| object.name.clone()).collect()
    }

    /// The number of objects ever allocated, and the number that were freed.
    pub fn counts(&self) -> (usize, usize) {
        let freed = self.objects.iter().filter(|object| object.is_freed);
        (self.objects.len(), freed.count())
    }

    /// The name of the object that contains an address.
    pub fn name_of(&self, address: u64) -> Option<&str> {
        let (index, _) = CheckedMemory::split(address)?;
        Some(&self.objects.get(index)?.name)
    }

    /// The number of an object, and the distance from its start.
    fn split(address: u64) -> Option<(usize, i64)> {
        let index = (address >> 32).checked_sub(1)?;
        let offset = (address & 0xffff_ffff) as i64 - START as i64;
        Some((index as usize, offset))
    }

    /// Checks an access. Returns the object's number and the offset of the first byte.
    fn check(&self, width: Width, address: u64) -> Result<(usize, usize), MemoryError> {
        if address.cast_signed().unsigned_abs() < START {
            let offset = address.cast_signed();
            return Err(MemoryError::Null { width, offset });
        }
        let found = CheckedMemory::split(address)
            .and_then(|(index, offset)| Some((index, offset, self.objects.get(index)?)));
        let Some((index, offset, object)) = found else {
            return Err(MemoryError::Wild { width, address });
        };
        let name = || object.name.clone();
        let part = || u64::try_from(offset).ok().and_then(|at| object.part(at));
        if object.is_freed {
            return Err(match part() {
                Some(part) if offset > 0 => MemoryError::DeadParent {
                    object: name(),
                    part,
                },
                _ => MemoryError::UseAfterFree { object: name() },
            });
        }
        let bytes = object.bytes.len() as u64;
        let end = offset + i64::from(width.bytes());
        if offset < 0 || end as u64 > bytes {
            return Err(MemoryError::OutOfBounds {
                width,
                object: name(),
                offset,
                bytes,
            });
        }
        if !object.shape.is_untyped {
            let fits = object
                .shape
                .cell(offset as u64)
                .is_some_and(|(_, start, cell)| {
                    start == offset as u64 && cell.bytes == width.bytes() && cell.kind.takes(width)
                });
            if !fits {
                let there = match part() {
                    Some(part) => format!("`{part}`"),
                    None => "nothing".to_owned(),
                };
                return Err(MemoryError::WrongType {
                    width,
                    object: name(),
                    offset,
                    there,
                });
            }
        }
        Ok((index, offset as usize))
    }
}

impl Object {
    /// The name of the value at an offset.
    fn part(&self, offset: u64) -> Option<String> {
        if self.shape.is_untyped {
            return Some(format!("byte {offset}"));
        }
        self.shape.cell(offset).map(|(name, _, _)| name)
    }
}

impl Memory for CheckedMemory {
    fn load(&mut self, width: Width, address: u64) -> Result<u64, MemoryError> {
        let (index, at) = self.check(width, address)?;
        let object = &self.objects[index];
        let range = at..at + width.bytes() as usize;
        let states = &object.state[range.clone()];
        let part = || object.part(at as u64).unwrap_or_default();
        if states.contains(&Byte::Empty) {
            return Err(MemoryError::Uninitialised {
                object: object.name.clone(),
                part: part(),
            });
        }
        // Integers may be read in other sizes than they were written; a double and an address may
        // not be confused.
        if states.iter().any(|&state| state != Byte::Full(width.ty())) {
            return Err(MemoryError::WrongType {
                width,
                object: object.name.clone(),
                offset: at as i64,
                there: "a value of another type".to_owned(),
            });
        }
        let mut word = [0; 8];
        word[..range.len()].copy_from_slice(&object.bytes[range]);
        let bits = u64::from_le_bytes(word);
        Ok(match width {
            Width::I32 => i64::from(bits as i32).cast_unsigned(),
            _ => bits,
        })
    }

    fn store(&mut self, width: Width, address: u64, bits: u64) -> Result<(), MemoryError> {
        let (index, at) = self.check(width, address)?;
        let object = &mut self.objects[index];
        let range = at..at + width.bytes() as usize;
        object.bytes[range.clone()].copy_from_slice(&bits.to_le_bytes()[..range.len()]);
        object.state[range].fill(Byte::Full(width.ty()));
        Ok(())
    }

    fn allocate(&mut self, name: &str, shape: &Shape, items: u64) -> Result<u64, MemoryError> {
        let bytes = shape.size(items);
        let name = format!("{name} #{}", self.objects.len());
        if bytes > LARGEST {
            return Err(MemoryError::NoRoom {
                object: name,
                bytes,
            });
        }
        self.objects.push(Object {
            name,
            shape: shape.clone(),
            bytes: vec![0; bytes as usize],
            state: vec![Byte::Empty; bytes as usize],
            is_freed: false,
        });
        Ok(((self.objects.len() as u64) << 32) + START)
    }

    fn release(&mut self, address: u64) -> Result<(), MemoryError> {
        let found = CheckedMemory::split(address).filter(|&(_, offset)| offset == 0);
        let object = found.and_then(|(index, _)| self.objects.get_mut(index));
        let Some(object) = object else {
            return Err(MemoryError::FreesNothing { address });
        };
        if std::mem::replace(&mut object.is_freed, true) {
            return Err(MemoryError::DoubleFree {
                object: object.name.clone(),
            });
        }
        Ok(())
    }
}
