//! Usage: the attributes that are used on an accessor, for each route from its definition to the
//! end of the function.
//!
//! It is computed backwards over blocks, to a fixpoint. Where a value continues under another name
//! (a block's parameter), the usage of that parameter counts as its own on the same route.
//!
//! For example, in `if c: p.x` and `else: p.y`, the accessor `p` has two routes with the usages
//! `{x}` and `{y}`, and a type is a candidate on a route only if it has that route's attributes.

use super::accesses::{Access, Action};
use super::world::Name;
use crate::hir::{Block, Function, Op, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

/// The use of one attribute.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Use {
    /// The attribute.
    pub name: Name,
    /// True if the value is called.
    pub invoked: bool,
    /// True if the attribute is assigned or deleted.
    pub assigned: bool,
}

impl fmt::Display for Use {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.invoked {
            f.write_str("()")?;
        }
        if self.assigned {
            f.write_str("=")?;
        }
        Ok(())
    }
}

/// The attributes that one route uses.
pub type Usage = BTreeSet<Use>;

/// One usage for each route.
pub type Usages = BTreeSet<Usage>;

/// The most usages of one value. More are replaced by the single usage common to all routes.
const MAX_USAGES: usize = 16;

fn unused() -> Usages {
    Usages::from([Usage::new()])
}

fn few(usages: Usages) -> Usages {
    if usages.len() <= MAX_USAGES {
        return usages;
    }
    let mut all = usages.iter();
    let mut common = all.next().cloned().unwrap_or_default();
    for usage in all {
        common.retain(|u| usage.contains(u));
    }
    Usages::from([common])
}

/// The routes that combine one of each.
fn both(a: &Usages, b: &Usages) -> Usages {
    let mut product = Usages::new();
    for x in a {
        for y in b {
            product.insert(x | y);
        }
    }
    few(product)
}

/// The usages from one place on, by value. A value that is not in the map has none.
type State = BTreeMap<Value, Usages>;

/// The usages of every accessor.
pub(super) fn find(f: &Function, accesses: &[Access]) -> BTreeMap<Value, Usages> {
    let mut at: HashMap<Value, Vec<(Value, Use)>> = HashMap::new();
    for access in accesses {
        let is_last = access.attrs.len() == 1;
        let used = Use {
            name: access.attrs[0].clone(),
            invoked: is_last && access.invocation.is_some(),
            assigned: is_last && access.action != Action::Load,
        };
        if !access.is_super {
            at.entry(access.value)
                .or_default()
                .push((access.accessor, used));
        }
    }
    let mut starts: HashMap<Block, State> = HashMap::new();
    let mut found: BTreeMap<Value, Usages> = BTreeMap::new();
    // Each round follows routes through one more iteration of the loops.
    for _ in 0..3 * f.order.len().max(4) {
        let mut changed = false;
        for &block in f.order.iter().rev() {
            let mut state = end_state(f, block, &starts);
            for &v in f.blocks[block].insts.iter().rev() {
                for (accessor, used) in at.get(&v).into_iter().flatten() {
                    let usages = state.entry(*accessor).or_insert_with(unused);
                    let more = usages.iter().map(|usage| {
                        let mut usage = usage.clone();
                        usage.insert(used.clone());
                        usage
                    });
                    *usages = more.collect();
                }
                if let Some(usages) = state.remove(&v) {
                    found.insert(v, usages);
                }
            }
            if starts.get(&block) != Some(&state) {
                starts.insert(block, state);
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for (block, state) in starts {
        for (v, usages) in state {
            let is_own = f.blocks[block].params.iter().any(|(param, _)| *param == v);
            if is_own || matches!(f.op(v), Op::Arg(_)) {
                found.entry(v).or_insert(usages);
            }
        }
    }
    found
}

fn end_state(f: &Function, block: Block, starts: &HashMap<Block, State>) -> State {
    let edges = f.blocks[block].term.edges();
    let mut routes: Vec<State> = Vec::new();
    for edge in &edges {
        // A route that has not been visited yet is added in a later round.
        let Some(after) = starts.get(&edge.block) else {
            continue;
        };
        let mut route = State::new();
        let params = &f.blocks[edge.block].params;
        for (v, usages) in after {
            if !params.iter().any(|(param, _)| param == v) {
                route.insert(*v, usages.clone());
            }
        }
        for ((param, _), arg) in params.iter().zip(&edge.args) {
            if let Some(usages) = after.get(param) {
                let entry = route.entry(f.object_of(*arg)).or_insert_with(unused);
                *entry = both(entry, usages);
            }
        }
        routes.push(route);
    }
    let mut all: BTreeSet<Value> = BTreeSet::new();
    all.extend(routes.iter().flat_map(|route| route.keys().copied()));
    let mut state = State::new();
    for v in all {
        let mut usages = Usages::new();
        for route in &routes {
            match route.get(&v) {
                Some(more) => usages.extend(more.iter().cloned()),
                None => usages.extend(unused()),
            }
        }
        state.insert(v, few(usages));
    }
    state
}
