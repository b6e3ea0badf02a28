//! Intrinsics, and register guards of helpers, as machine code: compiled when a unit first calls
//! one, kept as long as any unit may call it.

use crate::code::CodeMemory;
use crate::codegen::{self, Cache, Codegen, CompiledCode, Input};
use crate::host::Host;
use crate::lir::{Func, HelperId};
use crate::lower::{self, Routine};
use std::collections::HashMap;
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

/// None for a routine that is not available.
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

    /// Sets the cache that is searched before code is generated.
    pub(super) fn set_cache(&self, cache: Option<Arc<Cache>>) {
        if let Ok(mut made) = self.made.try_lock() {
            made.codegen.set_cache(cache);
        }
    }

    /// See [`Codegen::rest`].
    pub(super) fn rest(&self) {
        if let Ok(mut made) = self.made.try_lock() {
            made.codegen.rest();
        }
    }

    /// The address of a routine. None if there is none, its compile failed, or another thread
    /// (perhaps of a process from which this one was forked) is compiling one: then it is inlined.
    pub(super) fn address(&self, routine: Routine) -> Option<u64> {
        let made = &mut *self.made.try_lock().ok()?;
        let callee = routine.callee();
        let callee = callee.and_then(|callee| self.routine(made, callee, None));
        self.routine(made, routine, callee)
    }

    fn routine(&self, made: &mut Made, routine: Routine, callee: Option<u64>) -> Option<u64> {
        let Made {
            codegen,
            routines,
            guards,
        } = made;
        if let Some(known) = routines.get(&routine) {
            return address(known);
        }
        let keeps_most = routine.keeps_most(&self.host);
        let func = lower::routine(&self.host, routine, callee);
        // The callees of its cold blocks only: other calls save registers anyway.
        let mut guarded = HashMap::new();
        for func in func.iter().filter(|_| keeps_most) {
            let hot = func.hot_blocks();
            let cold = func.order.iter().copied().filter(|b| !hot.contains(*b));
            for id in func.helpers_in(cold) {
                let guard = self.guard(codegen, guards, id);
                guarded.extend(guard.map(|guard| (id, guard)));
            }
        }
        let guarded = |id| guarded.get(&id).copied();
        self.make(routines, routine, func, |func| {
            let input = Input {
                keeps_most,
                guarded: Some(&guarded),
                ..Input::new(func, &self.host.helpers)
            };
            codegen.compile(&self.memory, input).ok()
        })
    }

    /// The address of a helper's [register guard](codegen::guarded). None as for
    /// [`Routines::address`]: then the helper itself is called.
    pub(super) fn guarded(&self, id: HelperId) -> Option<u64> {
        let Made {
            codegen, guards, ..
        } = &mut *self.made.try_lock().ok()?;
        self.guard(codegen, guards, id)
    }

    fn guard(
        &self,
        codegen: &mut Codegen,
        guards: &mut Known<HelperId>,
        id: HelperId,
    ) -> Option<u64> {
        if let Some(known) = guards.get(&id) {
            return address(known);
        }
        let func = codegen::guarded(id, &self.host.helpers[id]);
        self.make(guards, id, func, |func| {
            let input = Input {
                keeps_registers: true,
                ..Input::new(func, &self.host.helpers)
            };
            codegen.compile(&self.memory, input).ok()
        })
    }

    /// Compiles a function that is not known yet.
    fn make<K: Hash + Eq>(
        &self,
        known: &mut Known<K>,
        key: K,
        func: Option<Func>,
        compile: impl FnOnce(&Func) -> Option<CompiledCode>,
    ) -> Option<u64> {
        let can_be_called = |func: &Func| func.signature.results.len() <= 2;
        let func = func.filter(|func| can_be_called(func) && self.host.missing_in(func).is_none());
        let code = func.and_then(|func| compile(&func));
        address(known.entry(key).or_insert(code))
    }
}

fn address(code: &Option<CompiledCode>) -> Option<u64> {
    Some(code.as_ref()?.entry().expose_provenance() as u64)
}

impl std::fmt::Debug for Routines {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Routines").finish_non_exhaustive()
    }
}
