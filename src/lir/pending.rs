//! Questions that need not be asked: whether work is pending, where that was asked and nothing has run code of the program since.
//!
//! Each turn of a loop asks whether host code is wanted between instructions. A loop whose turns all end with those of a loop in it has
//! just asked there: what the outer one's question could find is what came up meanwhile, from another thread or a signal, and the next
//! turn finds that. So each path that comes back to where it was still asks.

use super::cfg::Cfg;
use super::graph::{Func, Helper, HelperId, Term};
use cranelift_entity::{EntitySet, PrimaryMap};

/// Ask no second time; says whether a block asks no more. Blocks that are not reached then stay.
///
/// Where a block begins, nothing is pending if that holds at the ends of all edges into it. An edge that leads back ends what is known:
/// on each way round, the first question since then stays.
pub(super) fn ask_once(func: &mut Func, cfg: &Cfg, helpers: &PrimaryMap<HelperId, Helper>) -> bool {
    // The blocks that are entered by an edge at whose end work may be pending.
    let mut unasked = EntitySet::new();
    unasked.insert(func.entry());
    let mut changed = false;
    for &block in cfg.order() {
        let data = &func.blocks[block];
        let is_quiet = !unasked.contains(block)
            && !cfg.is_led_back_to(block)
            && !data
                .insts
                .iter()
                .any(|inst| func.effects(inst, helpers).runs_host_code);
        match &data.term {
            Some(Term::Br {
                then, quiet: true, ..
            }) if is_quiet => {
                func.blocks[block].term = Some(Term::Jump(then.clone()));
                changed = true;
            }
            _ if is_quiet => {}
            Some(Term::Br {
                els, quiet: true, ..
            }) => drop(unasked.insert(els.block)),
            _ => unasked.extend(data.targets().map(|call| call.block)),
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use super::super::random;
    use super::super::tidy::merge_blocks;
    use super::*;
    use expect_test::{Expect, expect};

    fn run(func: &mut Func) {
        ask_once(func, &Cfg::new(func), &random::helpers());
        merge_blocks(func);
    }

    fn check(text: &str, expect: Expect) {
        expect.assert_eq(&random::after(run, text));
    }

    #[test]
    fn a_loop_around_one_that_has_asked_does_not_ask() {
        check(
            "(bool, bool) {\nblock0(v0: bool, v1: bool):\n  jump block1\nblock1:\n  jump block2\n\
             block2:\n  br.quiet v0, block4, block3\nblock3 cold:\n  call nothing()\n  br.quiet v0, block4, block8\n\
             block4:\n  br v1, block2, block5\nblock5:\n  br.quiet v0, block7, block6\n\
             block6 cold:\n  call nothing()\n  br.quiet v0, block7, block8\nblock7:\n  br v1, block1, block9\n\
             block8 cold:\n  return\nblock9:\n  return\n}",
            expect![[r#"
                function "test"(bool, bool) {
                block0(v0: bool, v1: bool):
                  jump block1

                block1:
                  jump block2

                block2:
                  br.quiet v0, block4, block3

                block3 cold:
                  call nothing()
                  br.quiet v0, block4, block8

                block4:
                  br v1, block2, block5

                block5:
                  br v1, block1, block9

                block8 cold:
                  return

                block9:
                  return
                }
            "#]],
        );
    }

    #[test]
    fn an_inner_loop_without_a_turn_has_not_asked() {
        check(
            "(bool, bool) {\nblock0(v0: bool, v1: bool):\n  jump block1\nblock1:\n  br v1, block2, block3\n\
             block2:\n  br.quiet v0, block1, block5\nblock3:\n  br.quiet v0, block4, block5\n\
             block4:\n  br v1, block1, block6\nblock5 cold:\n  return\nblock6:\n  return\n}",
            expect![[r#"
                function "test"(bool, bool) {
                block0(v0: bool, v1: bool):
                  jump block1

                block1:
                  br v1, block2, block3

                block2:
                  br.quiet v0, block1, block5

                block3:
                  br.quiet v0, block4, block5

                block4:
                  br v1, block1, block6

                block5 cold:
                  return

                block6:
                  return
                }
            "#]],
        );
    }

    #[test]
    fn what_was_called_since_may_have_left_work() {
        check(
            "(bool, bool) {\nblock0(v0: bool, v1: bool):\n  jump block1\nblock1:\n  jump block2\n\
             block2:\n  br.quiet v0, block3, block5\nblock3:\n  br v1, block2, block4\n\
             block4:\n  call nothing()\n  br.quiet v0, block6, block5\nblock5 cold:\n  return\n\
             block6:\n  br v1, block1, block7\nblock7:\n  return\n}",
            expect![[r#"
                function "test"(bool, bool) {
                block0(v0: bool, v1: bool):
                  jump block1

                block1:
                  jump block2

                block2:
                  br.quiet v0, block3, block5

                block3:
                  br v1, block2, block4

                block4:
                  call nothing()
                  br.quiet v0, block6, block5

                block5 cold:
                  return

                block6:
                  br v1, block1, block7

                block7:
                  return
                }
            "#]],
        );
    }

    #[test]
    fn functions_stay_well_formed() {
        random::stays_well_formed(run);
    }
}
