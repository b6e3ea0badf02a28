//! The machine that replaces machine code: the process's memory, and calls by address.

use super::{Callee, Machine, Outcome, Trap, call_address};
use crate::exits::ExitId;
use crate::lir::graph::Signature;
use crate::ll::{Memory, MemoryError, RawMemory, Shape, Width};

/// The action at an exit.
type Hook<'a> = &'a mut dyn FnMut(ExitId, Vec<u64>) -> Result<Outcome, Trap>;

/// The process as a machine.
pub struct Native<'a> {
    memory: RawMemory,
    hook: Option<Hook<'a>>,
}

impl<'a> Native<'a> {
    /// The process.
    ///
    /// # Safety
    /// The interpreted function only makes accesses and calls that are valid at that moment, with
    /// the right signatures: it could run as machine code.
    pub unsafe fn new() -> Native<'a> {
        Native {
            // SAFETY: the caller promises that all accesses are valid.
            memory: unsafe { RawMemory::new() },
            hook: None,
        }
    }

    /// Sets the action at an exit; its outcome is the function's.
    pub fn on_exit(mut self, hook: Hook<'a>) -> Native<'a> {
        self.hook = Some(hook);
        self
    }
}

impl Memory for Native<'_> {
    #[inline]
    fn load(&mut self, width: Width, address: u64) -> Result<u64, MemoryError> {
        self.memory.load(width, address)
    }

    #[inline]
    fn store(&mut self, width: Width, address: u64, bits: u64) -> Result<(), MemoryError> {
        self.memory.store(width, address, bits)
    }

    fn allocate(&mut self, name: &str, shape: &Shape, items: u64) -> Result<u64, MemoryError> {
        self.memory.allocate(name, shape, items)
    }

    fn release(&mut self, address: u64) -> Result<(), MemoryError> {
        self.memory.release(address)
    }
}

impl Machine for Native<'_> {
    fn call(
        &mut self,
        callee: Callee<'_>,
        sig: &Signature,
        args: &[u64],
    ) -> Result<[u64; 2], Trap> {
        let address = match callee {
            Callee::Helper(helper) => helper.address as u64,
            Callee::Address(address) => address,
        };
        // SAFETY: the creator of this machine promises that calls are valid.
        Ok(unsafe { call_address(address, sig, args) }?)
    }

    /// An address near it: that of a local variable of this function.
    #[inline(never)]
    fn stack_pointer(&self) -> u64 {
        let here = 0u8;
        (&raw const here).addr() as u64
    }

    fn exit(&mut self, exit: ExitId, words: Vec<u64>) -> Result<Outcome, Trap> {
        match &mut self.hook {
            Some(hook) => hook(exit, words),
            None => Ok(Outcome::Exit { exit, words }),
        }
    }
}
