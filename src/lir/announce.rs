//! Announcements: a unit notifies the host before a call that may inspect other frames.
//!
//! A host may defer work whose result is visible only outside the unit's own frame. For example, it
//! may keep the frames of generators that wait for the unit incomplete, until code that may
//! inspect them is called. Most units make no such call: they run from one suspension to the next
//! without a call. So the announcement is before the first call on each path, and tests a word of
//! memory that says if there is deferred work; later calls need no announcement.

use super::cfg::Cfg;
use super::graph::{Block, Builder, Func, Helper, HelperId, Imm, Inst, Signature, Value};
use crate::ll::{Ty, Width};
use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap};
use std::collections::HashSet;

/// The action of a unit before a call that may inspect other frames.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Announcement {
    pub(crate) word: u64,
    pub(crate) hook: u64,
    pub(crate) exempt_helpers: Vec<String>,
    pub(crate) exempt: Vec<u64>,
}

impl Announcement {
    /// Before such a call the unit calls a hook, unless a word of memory is 0: it is 0 while there
    /// is no deferred work. `word` is its address, `hook` the address of a function
    /// `(callee) -> ()`, whose operand is null, or the address of a function that is not known at
    /// compile time: the host knows some that need no announcement. The hook may be called while
    /// there is no deferred work.
    pub fn new(word: u64, hook: u64) -> Announcement {
        Announcement {
            word,
            hook,
            exempt_helpers: Vec::new(),
            exempt: Vec::new(),
        }
    }

    /// Adds the names of helpers that need no announcement.
    pub fn exempt_helpers<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.exempt_helpers.extend(names.into_iter().map(N::into));
        self
    }

    /// Adds the addresses of other functions that need none.
    pub fn exempt(mut self, addresses: impl IntoIterator<Item = u64>) -> Self {
        self.exempt.extend(addresses);
        self
    }
}

/// A call to announce: its place in its block, and its callee if only the host can decide if that
/// needs an announcement.
type Place = (usize, Option<Value>);

impl Func {
    /// Announces the calls of a function. At its entry nothing has been announced.
    pub fn announce_calls(
        &mut self,
        announcement: &Announcement,
        helpers: &PrimaryMap<HelperId, Helper>,
    ) {
        let cfg = Cfg::new(self);
        let (mut constants, mut exempt) = (HashSet::new(), HashSet::new());
        for inst in cfg.order().iter().flat_map(|b| &self.blocks[*b].insts) {
            if let Imm::Addr(address) = inst.imm {
                constants.extend(inst.results.iter().copied());
                if announcement.exempt.contains(&address) {
                    exempt.extend(inst.results.iter().copied());
                }
            }
        }
        // The callee of a call that needs an announcement; `None` for other instructions.
        let called = |inst: &Inst| -> Option<Option<Value>> {
            match inst.imm {
                Imm::Helper(id) => {
                    let mut names = announcement.exempt_helpers.iter();
                    let helper = helpers.get(id);
                    helper
                        .is_none_or(|helper| names.all(|name| name != helper.name))
                        .then_some(None)
                }
                Imm::Sig(_) => {
                    let callee = inst.args[0];
                    let unknown = Some(callee).filter(|v| !constants.contains(v));
                    (!exempt.contains(&callee)).then_some(unknown)
                }
                _ => inst.op.is_call().then_some(None),
            }
        };
        let mut places = SecondaryMap::<Block, Vec<Place>>::new();
        let mut announces = EntitySet::new();
        for &b in cfg.order() {
            for (i, inst) in self.blocks[b].insts.iter().enumerate() {
                if let Some(callee) = called(inst) {
                    places[b].push((i, callee));
                    if callee.is_none() {
                        announces.insert(b);
                        break;
                    }
                }
            }
        }
        for b in unannounced(&cfg, &announces) {
            // From the last to the first, since the instructions after one move to another block.
            for &place in places[b].iter().rev() {
                self.announce_at(b, place, announcement);
            }
        }
    }

    /// Inserts an announcement before an instruction.
    fn announce_at(&mut self, block: Block, (at, callee): Place, announcement: &Announcement) {
        let data = &mut self.blocks[block];
        let (is_cold, rest, term) = (data.cold, data.insts.split_off(at), data.term.take());
        let mut b = Builder::new(self);
        let call = |b: &mut Builder<'_>| {
            let callee = callee.unwrap_or_else(|| b.pconst(0));
            let hook = b.pconst(announcement.hook);
            b.call_indirect(Signature::new(&[Ty::Ptr], &[]), hook, &[callee]);
        };
        if is_cold {
            b.switch_to(block);
            call(&mut b);
            let data = &mut self.blocks[block];
            data.insts.extend(rest);
            data.term = term;
            return;
        }
        let (loud, next) = (b.cold_block(), b.block());
        b.switch_to(loud);
        call(&mut b);
        b.jump(next, &[]);
        b.switch_to(block);
        let word = b.pconst(announcement.word);
        let found = b.load(Width::Ptr, word, 0);
        let nothing = b.is_null(found);
        b.br(nothing, next, &[], loud, &[]);
        let data = &mut self.blocks[next];
        (data.insts, data.term) = (rest, term);
        let place = self.order.iter().position(|b| *b == block);
        let place = place.expect("a block of the layout") + 1;
        self.order.insert(place, next);
    }
}

/// The blocks that some path reaches without an announcement; `announces` are those that make one.
/// (A forward analysis: a block is announced at its start if all edges into it are.)
fn unannounced(cfg: &Cfg, announces: &EntitySet<Block>) -> Vec<Block> {
    let mut found = EntitySet::new();
    let entry = cfg.order()[0];
    found.insert(entry);
    let mut changed = true;
    while changed {
        changed = false;
        for &b in &cfg.order()[1..] {
            let is_quiet = |p: &Block| found.contains(*p) && !announces.contains(*p);
            if !found.contains(b) && cfg.predecessors(b).iter().any(is_quiet) {
                found.insert(b);
                changed = true;
            }
        }
    }
    let order = cfg.order().iter().copied();
    order.filter(|b| found.contains(*b)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::random;
    use super::*;
    use expect_test::{Expect, expect};

    fn announced(func: &mut Func) {
        let announcement = Announcement {
            word: 0x10,
            hook: 0x20,
            exempt_helpers: vec!["list.new".to_owned()],
            exempt: vec![0x30],
        };
        func.announce_calls(&announcement, &random::helpers());
    }

    fn check(text: &str, expect: Expect) {
        expect.assert_eq(&random::after(announced, text));
    }

    #[test]
    fn the_first_call_on_each_path_is_announced() {
        check(
            "(bool) {\n  sig0 ()\nblock0(v0: bool):\n  br v0, block1, block2\nblock1:\n  call nothing()\n  call nothing()\n  jump block3\n\
             block2:\n  jump block3\nblock3:\n  v1 = pconst 0x40\n  call_indirect sig0 v1()\n  call nothing()\n  br v0, block4, block5\n\
             block4:\n  call nothing()\n  jump block5\nblock5:\n  return\n}",
            expect![[r#"
                function "test"(bool) {
                  sig0 ()
                  sig1 (ptr)

                block0(v0: bool):
                  br v0, block1, block2

                block1:
                  v4 = pconst 0x10
                  v5 = load.ptr v4
                  v6 = pconst 0x0
                  v7 = icmp eq v5, v6
                  br v7, block7, block6

                block7:
                  call nothing()
                  call nothing()
                  jump block3

                block2:
                  jump block3

                block3:
                  v1 = pconst 0x40
                  v10 = pconst 0x10
                  v11 = load.ptr v10
                  v12 = pconst 0x0
                  v13 = icmp eq v11, v12
                  br v13, block9, block8

                block9:
                  call_indirect sig0 v1()
                  call nothing()
                  br v0, block4, block5

                block4:
                  call nothing()
                  jump block5

                block5:
                  return

                block6 cold:
                  v2 = pconst 0x0
                  v3 = pconst 0x20
                  call_indirect sig1 v3(v2)
                  jump block7

                block8 cold:
                  v8 = pconst 0x0
                  v9 = pconst 0x20
                  call_indirect sig1 v9(v8)
                  jump block9
                }
            "#]],
        );
    }

    #[test]
    fn exempt_calls_are_not_announced() {
        check(
            "(i64) {\n  sig0 ()\nblock0(v0: i64):\n  v1 = pconst 0x30\n  call_indirect sig0 v1()\n  v2 = call list.new(v0)\n  return\n}",
            expect![[r#"
                function "test"(i64) {
                  sig0 ()

                block0(v0: i64):
                  v1 = pconst 0x30
                  call_indirect sig0 v1()
                  v2 = call list.new(v0)
                  return
                }
            "#]],
        );
    }

    #[test]
    fn indirect_calls_of_values_announce_the_callee() {
        check(
            "(ptr) {\n  sig0 ()\nblock0(v0: ptr):\n  call_indirect sig0 v0()\n  call_indirect sig0 v0()\n  call nothing()\n  \
             call_indirect sig0 v0()\n  return\n}",
            expect![[r#"
                function "test"(ptr) {
                  sig0 ()
                  sig1 (ptr)

                block0(v0: ptr):
                  v13 = pconst 0x10
                  v14 = load.ptr v13
                  v15 = pconst 0x0
                  v16 = icmp eq v14, v15
                  br v16, block6, block5

                block6:
                  call_indirect sig0 v0()
                  v8 = pconst 0x10
                  v9 = load.ptr v8
                  v10 = pconst 0x0
                  v11 = icmp eq v9, v10
                  br v11, block4, block3

                block4:
                  call_indirect sig0 v0()
                  v3 = pconst 0x10
                  v4 = load.ptr v3
                  v5 = pconst 0x0
                  v6 = icmp eq v4, v5
                  br v6, block2, block1

                block2:
                  call nothing()
                  call_indirect sig0 v0()
                  return

                block1 cold:
                  v1 = pconst 0x0
                  v2 = pconst 0x20
                  call_indirect sig1 v2(v1)
                  jump block2

                block3 cold:
                  v7 = pconst 0x20
                  call_indirect sig1 v7(v0)
                  jump block4

                block5 cold:
                  v12 = pconst 0x20
                  call_indirect sig1 v12(v0)
                  jump block6
                }
            "#]],
        );
    }

    #[test]
    fn a_loop_announces_in_each_iteration_unless_code_before_it_did() {
        check(
            "(bool) {\nblock0(v0: bool):\n  jump block1\nblock1:\n  call nothing()\n  br v0, block1, block2\nblock2:\n  jump block3\n\
             block3:\n  call nothing()\n  br v0, block3, block4\nblock4:\n  return\n}",
            expect![[r#"
                function "test"(bool) {
                  sig0 (ptr)

                block0(v0: bool):
                  jump block1

                block1:
                  v3 = pconst 0x10
                  v4 = load.ptr v3
                  v5 = pconst 0x0
                  v6 = icmp eq v4, v5
                  br v6, block6, block5

                block6:
                  call nothing()
                  br v0, block1, block2

                block2:
                  jump block3

                block3:
                  call nothing()
                  br v0, block3, block4

                block4:
                  return

                block5 cold:
                  v1 = pconst 0x0
                  v2 = pconst 0x20
                  call_indirect sig0 v2(v1)
                  jump block6
                }
            "#]],
        );
    }

    #[test]
    fn cold_code_announces_without_a_test() {
        check(
            "(bool) {\nblock0(v0: bool):\n  br v0, block1, block2\nblock1 cold:\n  call nothing()\n  jump block2\nblock2:\n  return\n}",
            expect![[r#"
                function "test"(bool) {
                  sig0 (ptr)

                block0(v0: bool):
                  br v0, block1, block2

                block1 cold:
                  v1 = pconst 0x0
                  v2 = pconst 0x20
                  call_indirect sig0 v2(v1)
                  call nothing()
                  jump block2

                block2:
                  return
                }
            "#]],
        );
    }

    #[test]
    fn every_function_stays_well_formed() {
        random::stays_well_formed(announced);
    }
}
