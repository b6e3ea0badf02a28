//! Intrinsics as functions of machine code: made when a unit first calls one, kept as long as any unit may.

use crate::code::CodeMemory;
use crate::codegen::{self, Codegen, CompiledCode, Input};
use crate::host::Host;
use crate::lower::{self, Routine};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

/// The routines of an engine.
pub(super) struct Routines {
    host: Arc<Host>,
    memory: CodeMemory,
    made: Mutex<Made>,
}

struct Made {
    codegen: Codegen,
    /// None for what has to be copied.
    routines: HashMap<Routine, Option<CompiledCode>>,
}

impl Routines {
    pub(super) fn new(host: Arc<Host>, memory: CodeMemory, codegen: Codegen) -> Arc<Routines> {
        let routines = HashMap::new();
        let made = Mutex::new(Made { codegen, routines });
        Arc::new(Routines { host, memory, made })
    }

    /// Where a routine is. None if there is none, it could not be made, or somebody else (a thread of a process
    /// that this one was forked from, perhaps) is making one: it is copied then.
    pub(super) fn address(&self, routine: Routine) -> Option<u64> {
        let mut made = self.made.try_lock().ok()?;
        let Made { codegen, routines } = &mut *made;
        let made = routines.entry(routine).or_insert_with(|| {
            let func = match routine {
                Routine::Guarded(id) => codegen::guarded(id, &self.host.helpers[id])?,
                routine => lower::routine(&self.host, routine)?,
            };
            if self.host.missing_in(&func).is_some() {
                return None;
            }
            let input = Input {
                func: &func,
                helpers: &self.host.helpers,
                exit_hook: None,
                unit: 0,
                want_text: false,
                guarded: None,
                keeps_registers: matches!(routine, Routine::Guarded(_)),
            };
            codegen.compile(&self.memory, input).ok()
        });
        Some(made.as_ref()?.entry().expose_provenance() as u64)
    }
}

impl std::fmt::Debug for Routines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Routines").finish_non_exhaustive()
    }
}
