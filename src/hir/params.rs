//! Removal of block parameters that carry one value only.

use super::function::{Block, Function, Value};
use cranelift_entity::SecondaryMap;

/// Remove block parameters that always get one value (guards and refinements of it, and the
/// parameter itself, count as that value: they are the same object).
pub fn remove_trivial_params(f: &mut Function) {
    // Each edge as its source block and its index there. The edges stay: only their arguments
    // change.
    let mut into: SecondaryMap<Block, Vec<(Block, usize)>> = SecondaryMap::new();
    for &from in &f.order {
        for (place, edge) in f.blocks[from].term.edges().into_iter().enumerate() {
            into[edge.block].push((from, place));
        }
    }
    let order = f.order.clone();
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &order {
            let mut index = 0;
            while index < f.blocks[block].params.len() {
                let Some(value) = only_value(f, block, index, &into[block]) else {
                    index += 1;
                    continue;
                };
                let (param, ..) = f.blocks[block].params.remove(index);
                f.replace(param, value);
                for &(from, place) in &into[block] {
                    f.blocks[from].term.edges_mut()[place].args.remove(index);
                }
                changed = true;
            }
        }
    }
}

/// The one value that the edges into a block pass to a parameter, if it is one. The result includes
/// the checks of the value that all edges have passed. None if the value's type is wider than the
/// parameter's: then the edges prove more than the value does.
fn only_value(f: &Function, block: Block, index: usize, into: &[(Block, usize)]) -> Option<Value> {
    let param = f.blocks[block].params[index].0;
    let mut same: Option<Value> = None;
    for &(from, place) in into {
        let arg = f.resolve(f.blocks[from].term.edges()[place].args[index]);
        if f.object_of(arg) == param {
            continue;
        }
        same = match same {
            None => Some(arg),
            Some(known) => Some(
                f.checks_of(known)
                    .find(|v| f.checks_of(arg).any(|a| a == *v))?,
            ),
        };
    }
    let ty = f.ty(param);
    same.filter(|v| ty.is_bottom() || f.ty(*v) <= ty)
}
