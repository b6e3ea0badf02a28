//! Intrinsics, and guards of helpers, as functions of machine code: made when a unit first calls one, kept as long as any unit may.

use crate::code::CodeMemory;
use crate::codegen::{self, Codegen, CompiledCode, Input};
use crate::host::Host;
use crate::lir::{Func, HelperId};
use crate::lower::{self, Routine};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::{Arc, Mutex};

/// The routines of an engine.
pub(super) struct Routines {
    host: Arc<Host>,
    memory: CodeMemory,
    made: Mutex<Made>,
}

struct Made {
    codegen: Codegen,
    routines: Known<Routine>,
    guards: Known<HelperId>,
}

/// None for what can't be had.
type Known<K> = HashMap<K, Option<CompiledCode>>;

impl Routines {
    pub(super) fn new(host: Arc<Host>, memory: CodeMemory, codegen: Codegen) -> Arc<Routines> {
        let made = Mutex::new(Made {
            codegen,
            routines: HashMap::new(),
            guards: HashMap::new(),
        });
        Arc::new(Routines { host, memory, made })
    }

    /// Where a routine is. None if there is none, it could not be made, or somebody else (a thread of a process
    /// that this one was forked from, perhaps) is making one: it is copied then.
    pub(super) fn address(&self, routine: Routine) -> Option<u64> {
        let Made {
            codegen, routines, ..
        } = &mut *self.made.try_lock().ok()?;
        let callee = routine.callee().and_then(|callee| {
            let func = || lower::routine(&self.host, callee, None);
            self.find(codegen, routines, callee, func, false)
        });
        let func = || lower::routine(&self.host, routine, callee);
        self.find(codegen, routines, routine, func, false)
    }

    /// Where the [guard of registers](codegen::guarded) of a helper is. None as for [`Routines::address`]: the helper itself is
    /// called then.
    pub(super) fn guarded(&self, id: HelperId) -> Option<u64> {
        let Made {
            codegen, guards, ..
        } = &mut *self.made.try_lock().ok()?;
        let func = || codegen::guarded(id, &self.host.helpers[id]);
        self.find(codegen, guards, id, func, true)
    }

    fn find<K: Hash + Eq>(
        &self,
        codegen: &mut Codegen,
        known: &mut Known<K>,
        key: K,
        func: impl FnOnce() -> Option<Func>,
        keeps_registers: bool,
    ) -> Option<u64> {
        let code = match known.entry(key) {
            Entry::Occupied(code) => code.into_mut(),
            Entry::Vacant(place) => {
                let func = func().filter(|func| self.host.missing_in(func).is_none());
                place.insert(func.and_then(|func| {
                    let input = Input {
                        keeps_registers,
                        ..Input::new(&func, &self.host.helpers)
                    };
                    codegen.compile(&self.memory, input).ok()
                }))
            }
        };
        Some(code.as_ref()?.entry().expose_provenance() as u64)
    }
}

impl std::fmt::Debug for Routines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Routines").finish_non_exhaustive()
    }
}
