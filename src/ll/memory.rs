//! The interface of a memory: addresses, widths, bits. The raw memory is the host's own.

use super::Width;
use super::checked::MemoryError;
use super::shape::Shape;
use std::collections::HashMap;

/// Memory that can be read and written at addresses.
///
/// Bits are those of a register: a load widens, a store keeps the low bytes.
pub trait Memory {
    /// The bits at an address.
    ///
    /// # Errors
    /// A checking memory reports the fault of the access.
    fn load(&mut self, width: Width, address: u64) -> Result<u64, MemoryError>;

    /// Replaces the bits at an address.
    ///
    /// # Errors
    /// As for [`Memory::load`].
    fn store(&mut self, width: Width, address: u64, bits: u64) -> Result<(), MemoryError>;

    /// Allocates memory for a container of this shape with this number of items. Its content is
    /// undefined; `name` is for errors.
    ///
    /// # Errors
    /// If there is not enough memory.
    fn allocate(&mut self, name: &str, shape: &Shape, items: u64) -> Result<u64, MemoryError>;

    /// Frees an allocation.
    ///
    /// # Errors
    /// If a checked memory has no such allocation, or it was freed before.
    fn release(&mut self, address: u64) -> Result<(), MemoryError>;
}

/// The process's own memory. It checks nothing.
#[derive(Debug)]
pub struct RawMemory {
    rooms: HashMap<u64, Box<[u64]>>,
}

impl RawMemory {
    /// The process's memory.
    ///
    /// # Safety
    /// Every address that is loaded from or stored to is valid for that access when it is made.
    pub unsafe fn new() -> RawMemory {
        RawMemory {
            rooms: HashMap::new(),
        }
    }
}

impl Memory for RawMemory {
    #[inline]
    fn load(&mut self, width: Width, address: u64) -> Result<u64, MemoryError> {
        let p = std::ptr::with_exposed_provenance::<u8>(address as usize);
        // SAFETY: the creator of this memory promises that accesses are valid. They need not be
        // aligned.
        Ok(unsafe {
            match width {
                Width::U8 => u64::from(p.read()),
                Width::U16 => u64::from(p.cast::<u16>().read_unaligned()),
                Width::U32 => u64::from(p.cast::<u32>().read_unaligned()),
                Width::I32 => i64::from(p.cast::<i32>().read_unaligned()).cast_unsigned(),
                Width::I64 | Width::F64 | Width::Ptr => p.cast::<u64>().read_unaligned(),
            }
        })
    }

    #[inline]
    fn store(&mut self, width: Width, address: u64, bits: u64) -> Result<(), MemoryError> {
        let p = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: as above.
        unsafe {
            match width {
                Width::U8 => p.write(bits as u8),
                Width::U16 => p.cast::<u16>().write_unaligned(bits as u16),
                Width::U32 | Width::I32 => p.cast::<u32>().write_unaligned(bits as u32),
                Width::I64 | Width::F64 | Width::Ptr => p.cast::<u64>().write_unaligned(bits),
            }
        }
        Ok(())
    }

    fn allocate(&mut self, _name: &str, shape: &Shape, items: u64) -> Result<u64, MemoryError> {
        let words = shape.size(items).div_ceil(8).max(1);
        let mut room = vec![0u64; words as usize].into_boxed_slice();
        let address = room.as_mut_ptr().expose_provenance() as u64;
        self.rooms.insert(address, room);
        Ok(address)
    }

    fn release(&mut self, address: u64) -> Result<(), MemoryError> {
        self.rooms.remove(&address);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_memory_widens_loads_and_narrows_stores() {
        // SAFETY: the test accesses only the allocation below.
        let mut memory = unsafe { RawMemory::new() };
        let room = memory.allocate("room", &Shape::untyped(16), 0).unwrap();
        memory
            .store(Width::I64, room, 0xfedc_ba98_f6f5_f4f3)
            .unwrap();
        let mut load = |width| memory.load(width, room).unwrap();
        assert_eq!(load(Width::U8), 0xf3);
        assert_eq!(load(Width::U16), 0xf4f3);
        assert_eq!(load(Width::U32), 0xf6f5_f4f3);
        assert_eq!(load(Width::I32), 0xffff_ffff_f6f5_f4f3);
        assert_eq!(load(Width::F64), 0xfedc_ba98_f6f5_f4f3);
        // An access across a word boundary, not aligned.
        memory.store(Width::U16, room + 7, 0x1_2345).unwrap();
        assert_eq!(memory.load(Width::U16, room + 7).unwrap(), 0x2345);
        assert_eq!(memory.load(Width::U8, room + 7).unwrap(), 0x45);
        memory.release(room).unwrap();
    }
}
