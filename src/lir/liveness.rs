//! The values that are needed after a call during which a collector may run.

use super::graph::{Block, Func, Helper, HelperId, Imm, Term, Value};
use super::ops::Opcode;
use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap};

impl Func {
    /// The values that are defined before a call that [may collect](Helper::may_collect) and used
    /// after it.
    pub fn live_across_collections(
        &self,
        helpers: &PrimaryMap<HelperId, Helper>,
    ) -> EntitySet<Value> {
        let mut live_in: SecondaryMap<Block, EntitySet<Value>> = SecondaryMap::new();
        let mut held = EntitySet::new();
        let mut changed = true;
        // Sets only grow, so `held` is complete after the last round.
        while changed {
            changed = false;
            for &block in self.order.iter().rev() {
                let live = self.live_into(block, &live_in, helpers, &mut held);
                let known = &mut live_in[block];
                for value in live.iter() {
                    changed |= known.insert(value);
                }
            }
        }
        held
    }

    /// The live values at the start of a block; `held` receives those that live across its calls.
    fn live_into(
        &self,
        block: Block,
        live_in: &SecondaryMap<Block, EntitySet<Value>>,
        helpers: &PrimaryMap<HelperId, Helper>,
        held: &mut EntitySet<Value>,
    ) -> EntitySet<Value> {
        let data = &self.blocks[block];
        let mut live = EntitySet::new();
        for target in data.targets() {
            live.extend(live_in[target.block].iter());
            live.extend(target.args.iter().copied());
        }
        live.extend(data.term.iter().flat_map(Term::args).copied());
        for inst in data.insts.iter().rev() {
            for &result in &inst.results {
                live.remove(result);
            }
            let may_collect = match (inst.op, inst.imm) {
                (Opcode::Call, Imm::Helper(id)) => helpers.get(id).is_none_or(Helper::may_collect),
                (op, _) => matches!(op, Opcode::CallIndirect | Opcode::CallRoutine),
            };
            if may_collect {
                held.extend(live.iter());
            }
            live.extend(inst.args.iter().copied());
        }
        for &param in &data.params {
            live.remove(param);
        }
        live
    }

    /// The first value of an intrinsic that a collector should know but does not: an address,
    /// computed here and needed after a call that may collect, that is no constant and not
    /// [listed](super::Refs) as a reference, or that is computed from another one (a part of an
    /// object can't be listed). Parameters are the caller's responsibility.
    pub fn first_unlisted(&self, helpers: &PrimaryMap<HelperId, Helper>) -> Option<Value> {
        let held = self.live_across_collections(helpers);
        let insts = self
            .order
            .iter()
            .flat_map(|&block| &self.blocks[block].insts);
        let params = self
            .order
            .iter()
            .skip(1)
            .flat_map(|&block| &self.blocks[block].params);
        let results =
            insts.flat_map(|inst| inst.results.iter().map(|&value| (value, Some(inst.op))));
        let mut values = params.map(|&value| (value, None)).chain(results);
        let unlisted = values.find(|&(value, op)| {
            let is_fine = match op {
                Some(Opcode::Pconst | Opcode::StackAddr) => true,
                Some(Opcode::Padd) => false,
                _ => self.refs.values.contains(value),
            };
            self.values[value] == crate::ll::Ty::Ptr && held.contains(value) && !is_fine
        });
        unlisted.map(|(value, _)| value)
    }
}

#[cfg(test)]
mod tests {
    use crate::facts::Effects;
    use crate::lir::{Helper, Signature, parse};
    use cranelift_entity::PrimaryMap;

    /// The first unlisted value of a function of an object.
    fn first_unlisted(body: &str) -> Option<String> {
        let helper = |name, effects| Helper {
            name,
            address: 1,
            signature: Signature::default(),
            effects,
        };
        let mut helpers = PrimaryMap::new();
        helpers.push(helper("collect", None));
        helpers.push(helper("quiet", Some(Effects::WRITES)));
        let text = format!("function f(ptr, bool) -> ptr {{\n{body}\n}}");
        let func = parse(&text, &helpers).unwrap_or_else(|error| panic!("{error}"));
        func.first_unlisted(&helpers).map(|value| value.to_string())
    }

    #[test]
    fn an_address_needed_after_a_collection_must_be_listed() {
        let body = "block0(v0: ptr, v1: bool):\n v2 = load.ptr v0+8\n call collect()\n return v2";
        assert_eq!(first_unlisted(body).as_deref(), Some("v2"));
        assert_eq!(first_unlisted(&format!("refs v2\n{body}")), None);
        assert_eq!(first_unlisted(&body.replace("collect", "quiet")), None);
        assert_eq!(
            first_unlisted(&body.replace("return v2", "return v0")),
            None
        );
    }

    #[test]
    fn a_part_of_an_object_is_never_kept() {
        let body = "refs v3\nblock0(v0: ptr, v1: bool):\n v2 = iconst 8\n v3 = padd v0, v2\n call collect()\n \
                    return v3";
        assert_eq!(first_unlisted(body).as_deref(), Some("v3"));
    }

    #[test]
    fn an_address_is_kept_around_a_loop_too() {
        let body = "block0(v0: ptr, v1: bool):\n v2 = load.ptr v0\n jump block1(v2)\nblock1(v3: ptr):\n v4 = load.ptr v3\n \
                    br v1, block2, block3\nblock2:\n call collect()\n jump block1(v3)\nblock3:\n return v3";
        assert_eq!(first_unlisted(body).as_deref(), Some("v3"));
        let constant = "block0(v0: ptr, v1: bool):\n v2 = pconst 0x10\n call collect()\n return v2";
        assert_eq!(first_unlisted(constant), None);
    }
}
