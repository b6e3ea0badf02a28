//! Names for debuggers: gdb's JIT interface, which lldb supports too.
//!
//! The debugger stops at [`__jit_debug_register_code`] and reads a list of small object files from
//! [`__jit_debug_descriptor`]. Ours hold one symbol each; with frame pointers that is enough for
//! backtraces. The interface fixes these two names. So this module, and only if the debugger option
//! is on, has process-wide state (whose lock a forked child could find locked, if another thread
//! was compiling).

use std::ptr;
use std::sync::{Mutex, PoisonError};

/// One object file, in a list that the debugger walks.
#[repr(C)]
struct Entry {
    next: *mut Entry,
    prev: *mut Entry,
    file: *const u8,
    len: u64,
}

/// The head of the list, and the last change.
#[repr(C)]
#[doc(hidden)]
pub struct Descriptor {
    version: u32,
    action: u32,
    relevant: *mut Entry,
    first: *mut Entry,
}

const REGISTER: u32 = 1;
const UNREGISTER: u32 = 2;

/// The descriptor, under the name that debuggers look for.
#[unsafe(no_mangle)]
#[doc(hidden)]
pub static mut __jit_debug_descriptor: Descriptor = Descriptor {
    version: 1,
    action: 0,
    relevant: ptr::null_mut(),
    first: ptr::null_mut(),
};

/// The function at which debuggers set a breakpoint.
#[unsafe(no_mangle)]
#[inline(never)]
#[doc(hidden)]
pub extern "C" fn __jit_debug_register_code() {
    // Keeps the optimiser from removing the function.
    std::hint::black_box(&raw const __jit_debug_descriptor);
}

/// Guards the descriptor and the list.
static LOCK: Mutex<()> = Mutex::new(());

/// A name that debuggers know until this is dropped: that of a unit, if
/// [enabled](super::Config::debugger), or one that a host registers itself.
#[derive(Debug)]
pub struct Registration {
    entry: *mut Entry,
    /// Read by the debugger through `entry`.
    _file: Vec<u8>,
}

// SAFETY: only this registration uses the entry, except for the list's links, which only change
// under `LOCK`.
unsafe impl Send for Registration {}

impl Registration {
    /// Registers the name of code with the debugger.
    pub fn new(address: usize, len: usize, name: &str) -> Registration {
        let file = object_file(address, len, name);
        let (next, prev) = (ptr::null_mut(), ptr::null_mut());
        let entry = Box::into_raw(Box::new(Entry {
            next,
            prev,
            file: file.as_ptr(),
            len: file.len() as u64,
        }));
        let _lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the descriptor and all entries in its list are used under the lock only, and each
        // entry lives until its registration takes it out of the list.
        unsafe {
            let first = __jit_debug_descriptor.first;
            (*entry).next = first;
            if !first.is_null() {
                (*first).prev = entry;
            }
            __jit_debug_descriptor.first = entry;
            notify(REGISTER, entry);
        }
        Registration { entry, _file: file }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let _lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as above; the entry came from `Box::into_raw` and is in the list until here.
        unsafe {
            let (next, prev) = ((*self.entry).next, (*self.entry).prev);
            if prev.is_null() {
                __jit_debug_descriptor.first = next;
            } else {
                (*prev).next = next;
            }
            if !next.is_null() {
                (*next).prev = prev;
            }
            notify(UNREGISTER, self.entry);
            drop(Box::from_raw(self.entry));
        }
    }
}

/// # Safety
/// The caller has locked `LOCK`.
unsafe fn notify(action: u32, entry: *mut Entry) {
    // SAFETY: the caller has the lock, so no other thread uses the descriptor.
    unsafe {
        __jit_debug_descriptor.action = action;
        __jit_debug_descriptor.relevant = entry;
    }
    __jit_debug_register_code();
}

/// The parts of an ELF section header that differ.
#[derive(Default)]
struct Section {
    name: u32,
    kind: u32,
    flags: u64,
    address: u64,
    offset: u64,
    size: u64,
    link: u32,
    info: u32,
    entry_size: u64,
}

/// An ELF object file whose text section lies at `address`, with one function symbol.
fn object_file(address: usize, len: usize, name: &str) -> Vec<u8> {
    const HEADER: u64 = 64;
    const SECTION: u64 = 64;
    const SYMBOL: u64 = 24;
    const COUNT: u64 = 4;
    const NAMES: &[u8] = b"\0.text\0.symtab\0.strtab\0";
    let machine: u16 = if cfg!(target_arch = "aarch64") {
        183
    } else {
        62
    };
    let mut strings = NAMES.to_vec();
    let symbol_name = strings.len() as u32;
    strings.extend(name.bytes().filter(|&b| b != 0));
    strings.push(0);
    let symbols = HEADER + COUNT * SECTION;
    let text = symbols + 2 * SYMBOL;

    let mut file = Vec::new();
    // ELF, 64 bits, little endian, version 1; relocatable, so that addresses are those of the
    // sections.
    file.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    file.extend([1u16, machine].iter().flat_map(|n| n.to_le_bytes()));
    file.extend(1u32.to_le_bytes());
    file.extend([0u64, 0, HEADER].iter().flat_map(|n| n.to_le_bytes()));
    file.extend(0u32.to_le_bytes());
    file.extend(
        [HEADER as u16, 0, 0, SECTION as u16, COUNT as u16, 3]
            .iter()
            .flat_map(|n| n.to_le_bytes()),
    );

    let sections = [
        Section::default(),
        // Allocated, executable, without bytes in the file.
        Section {
            name: 1,
            kind: 8,
            flags: 6,
            address: address as u64,
            size: len as u64,
            ..Section::default()
        },
        Section {
            name: 7,
            kind: 2,
            offset: symbols,
            size: 2 * SYMBOL,
            link: 3,
            info: 1,
            entry_size: SYMBOL,
            ..Section::default()
        },
        Section {
            name: 15,
            kind: 3,
            offset: text,
            size: strings.len() as u64,
            ..Section::default()
        },
    ];
    for s in sections {
        file.extend([s.name, s.kind].iter().flat_map(|n| n.to_le_bytes()));
        file.extend(
            [s.flags, s.address, s.offset, s.size]
                .iter()
                .flat_map(|n| n.to_le_bytes()),
        );
        file.extend([s.link, s.info].iter().flat_map(|n| n.to_le_bytes()));
        file.extend([16, s.entry_size].iter().flat_map(|n| n.to_le_bytes()));
    }
    file.extend([0; SYMBOL as usize]);
    file.extend(symbol_name.to_le_bytes());
    // A global function in section 1, at its start.
    file.extend([0x12, 0, 1, 0]);
    file.extend([0u64, len as u64].iter().flat_map(|n| n.to_le_bytes()));
    file.extend(strings);
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names in the debugger's list.
    fn listed() -> Vec<String> {
        let _lock = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        let mut names = Vec::new();
        // SAFETY: the list is used under the lock, and its entries live.
        unsafe {
            let mut entry = __jit_debug_descriptor.first;
            while !entry.is_null() {
                let file = std::slice::from_raw_parts((*entry).file, (*entry).len as usize);
                let end = file.len() - 1;
                let start = file[..end].iter().rposition(|&b| b == 0).unwrap() + 1;
                names.push(String::from_utf8_lossy(&file[start..end]).into_owned());
                entry = (*entry).next;
            }
        }
        names
    }

    #[test]
    fn names_are_listed_while_registered() {
        let first = Registration::new(0x1000, 16, "gdb one");
        let second = Registration::new(0x2000, 16, "gdb two");
        let third = Registration::new(0x3000, 16, "gdb three");
        let ours = || {
            listed()
                .into_iter()
                .filter(|name| name.starts_with("gdb "))
                .collect::<Vec<_>>()
        };
        assert_eq!(ours(), ["gdb three", "gdb two", "gdb one"]);
        drop(second);
        assert_eq!(ours(), ["gdb three", "gdb one"]);
        drop((first, third));
        assert!(ours().is_empty());
    }
}
