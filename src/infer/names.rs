//! Facts about names that follow from the program's text alone: names that are bound on every path
//! through a body, and names that are bound or deleted anywhere.
//!
//! A name that may be unbound is looked up in an outer scope, or raises. The answer must not depend
//! on the progress of the analysis, so it follows from the text alone. For example,
//! after `if c: x = 1` the name `x` may be unbound, even if the analysis has not yet reached the
//! path on which `c` is false.

use super::program::{FuncId, Program};
use crate::bytecode::{Code, GeneralOp as G, Op as B};
use crate::hir::{Block, Function, Op, Term, Value};
use cranelift_entity::{SecondaryMap, packed_option::PackedOption};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The names that a body stores, and where.
struct Body {
    dominators: SecondaryMap<Block, PackedOption<Block>>,
    /// Each store that has run when its block is left without an exception.
    stores: HashMap<String, Vec<(Block, usize)>>,
    /// The place of each operation.
    places: HashMap<Value, (Block, usize)>,
    /// Names that are bound whenever the body returns.
    surely: BTreeSet<String>,
}

impl Body {
    fn new(f: &Function) -> Body {
        let mut body = Body {
            dominators: f.dominators(),
            stores: HashMap::new(),
            places: HashMap::new(),
            surely: BTreeSet::new(),
        };
        let mut deleted: HashSet<String> = HashSet::new();
        for &block in &f.order {
            let data = &f.blocks[block];
            for (index, &v) in data.insts.iter().enumerate() {
                body.places.insert(v, (block, index));
                let Op::General(op, imms) = &f.insts[v].op else {
                    continue;
                };
                let name = f.code.names.get(imms[0] as usize);
                let raises = matches!(data.term, Term::MayRaise { op, .. } if op == v);
                match (op, name) {
                    (G::StoreName, Some(name)) if !raises => {
                        let stores = body.stores.entry(name.clone()).or_default();
                        stores.push((block, index));
                    }
                    (G::DeleteName, Some(name)) => {
                        deleted.insert(name.clone());
                    }
                    _ => {}
                }
            }
        }
        body.stores.retain(|name, _| !deleted.contains(name));
        let returns: Vec<Block> = f
            .order
            .iter()
            .copied()
            .filter(|block| matches!(f.blocks[*block].term, Term::Return(_)))
            .collect();
        let is_sure = |stores: &Vec<(Block, usize)>| {
            !returns.is_empty()
                && returns.iter().all(|to| {
                    let mut stores = stores.iter();
                    stores.any(|(from, _)| body.dominates(*from, *to))
                })
        };
        let names = body.stores.iter().filter(|(_, stores)| is_sure(stores));
        body.surely = names.map(|(name, _)| name.clone()).collect();
        body
    }

    fn dominates(&self, a: Block, mut b: Block) -> bool {
        loop {
            if a == b {
                return true;
            }
            match self.dominators[b].expand() {
                Some(above) if above != b => b = above,
                _ => return false,
            }
        }
    }
}

/// The facts about the program's names before the analysis begins.
pub(super) struct Names {
    bodies: HashMap<FuncId, Body>,
    /// Names of the module that some code binds.
    bound: HashSet<String>,
    /// Names of the module that some code deletes.
    deleted: HashSet<String>,
    /// Attributes that some code deletes.
    deleted_attributes: HashSet<String>,
}

impl Names {
    pub fn new(program: &Program) -> Names {
        let mut names = Names {
            bodies: HashMap::new(),
            bound: HashSet::new(),
            deleted: HashSet::new(),
            deleted_attributes: HashSet::new(),
        };
        for (id, f) in program.functions.iter() {
            if !f.code.optimized {
                names.bodies.insert(id, Body::new(f));
            }
            names.note(&f.code);
        }
        for code in &program.codes_refused {
            names.note(code);
        }
        names
    }

    fn note(&mut self, code: &Code) {
        for instr in &code.instrs {
            let Some(name) = code.names.get(instr.arg as usize) else {
                continue;
            };
            let is_module = code.name == "<module>";
            match instr.op {
                B::StoreName if is_module => drop(self.bound.insert(name.clone())),
                B::StoreGlobal => drop(self.bound.insert(name.clone())),
                B::DeleteName if is_module => drop(self.deleted.insert(name.clone())),
                B::DeleteGlobal => drop(self.deleted.insert(name.clone())),
                B::DeleteAttr => drop(self.deleted_attributes.insert(name.clone())),
                _ => {}
            }
        }
    }

    /// Returns true if some code in the program binds the name in the module.
    pub fn is_bound(&self, name: &str) -> bool {
        self.bound.contains(name)
    }

    /// Returns true if some code in the program deletes the name from the module.
    pub fn is_deleted(&self, name: &str) -> bool {
        self.deleted.contains(name)
    }

    /// Returns true if the name is bound whenever this body returns, and no code deletes it
    /// afterwards.
    pub fn surely_binds(&self, body: FuncId, name: &str) -> bool {
        let body = self.bodies.get(&body);
        body.is_some_and(|body| body.surely.contains(name))
            && !self.deleted_attributes.contains(name)
    }

    /// Returns true if the body has bound the name on every path to this operation.
    pub fn is_bound_at(&self, body: FuncId, name: &str, v: Value) -> bool {
        let Some(body) = self.bodies.get(&body) else {
            return false;
        };
        let (Some(stores), Some(&(block, index))) = (body.stores.get(name), body.places.get(&v))
        else {
            return false;
        };
        stores.iter().any(|&(from, at)| {
            if from == block {
                at < index
            } else {
                body.dominates(from, block)
            }
        })
    }
}
