//! A request as a value, which another thread can compile, and which the engine's jobs contain.

use super::compiler::{Compiler, Memo, Request, Stop, Unit};
use super::options::CompileOptions;
use super::{Entry, UnitParts};
use crate::bytecode::{Code, Met, Pc, Reason};
use crate::host::{FrozenWorld, World};
use crate::types::Type;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// A [`Request`] with a [`FrozenWorld`] in place of its `World`, which can be sent. A
/// [`Generator`](super::Generator) compiles it; if a query has no answer yet, the host
/// [answers](FrozenRequest::answer) on its own thread, and the compile continues from there.
pub struct FrozenRequest {
    code: Arc<Code>,
    entry: Entry,
    live: Vec<Type>,
    pub(super) parts: UnitParts,
    avoid: HashSet<(Pc, Reason)>,
    met: HashMap<Pc, Met>,
    options: CompileOptions,
    world: FrozenWorld,
    memo: Memo,
}

impl FrozenRequest {
    pub(super) fn new(
        options: CompileOptions,
        request: Request<'_>,
        anywhere: Option<Arc<dyn World + Send + Sync>>,
    ) -> FrozenRequest {
        let code = Arc::new(request.code.clone());
        let mut world = FrozenWorld::of(&code, request.world, anywhere);
        let met = request.met.values();
        let types = met.flat_map(|met| met.seen.iter().chain(&met.related));
        types.chain(request.live).for_each(|ty| world.pin(*ty));
        FrozenRequest {
            code,
            entry: request.entry,
            live: request.live.to_vec(),
            parts: request.parts,
            avoid: request.avoid.clone(),
            met: request.met.clone(),
            options,
            world,
            memo: Memo::default(),
        }
    }

    /// Its answers.
    pub fn world(&self) -> &FrozenWorld {
        &self.world
    }

    /// Answers the open queries. Returns their number.
    pub fn answer(&mut self, world: &dyn World) -> usize {
        self.world.answer(world)
    }

    pub(super) fn compile(&mut self, compiler: &mut Compiler) -> Result<Unit, Stop> {
        compiler.options.clone_from(&self.options);
        let request = Request::new(&self.code, self.entry, self.parts.clone(), &self.world)
            .live(&self.live)
            .avoid(&self.avoid)
            .met(&self.met);
        compiler.compile(&request, Some(&mut self.memo))
    }
}

impl fmt::Debug for FrozenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrozenRequest")
            .field("function", &self.code.name)
            .field("world", &self.world)
            .finish_non_exhaustive()
    }
}

const _: () = {
    const fn sent<T: Send>() {}
    sent::<FrozenRequest>();
};
