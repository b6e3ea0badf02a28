//! Removal of block parameters that carry one value only.

use super::function::{Function, Value};

/// Remove block parameters that always get one value (guards and refinements of it, and the parameter itself, count
/// as that value: they are the same object).
pub fn remove_trivial_params(f: &mut Function) {
    let mut changed = true;
    while changed {
        changed = false;
        for b in f.order.clone() {
            let mut index = 0;
            while index < f.blocks[b].params.len() {
                let param = f.blocks[b].params[index].0;
                let mut same: Option<Value> = None;
                let mut exact: Option<Value> = None;
                let mut trivial = true;
                for &p in &f.order {
                    for edge in f.blocks[p].term.edges() {
                        if edge.block != b {
                            continue;
                        }
                        let arg = f.resolve(edge.args[index]);
                        let r = f.object_of(arg);
                        if r == param {
                            continue;
                        }
                        match same {
                            None => {
                                same = Some(r);
                                exact = Some(arg);
                            }
                            Some(s) if s == r => {
                                if exact != Some(arg) {
                                    exact = Some(r);
                                }
                            }
                            Some(_) => trivial = false,
                        }
                    }
                }
                if let (true, Some(value)) = (trivial, exact) {
                    f.replace(param, value);
                    f.blocks[b].params.remove(index);
                    for p in f.order.clone() {
                        for edge in f.blocks[p].term.edges_mut() {
                            if edge.block == b {
                                edge.args.remove(index);
                            }
                        }
                    }
                    changed = true;
                } else {
                    index += 1;
                }
            }
        }
    }
}
