//! Removes tests for pending work where no user code can have run since another test.
//!
//! Each iteration of a loop tests for pending work. If all iterations of a loop end with those of
//! an inner loop, the inner loop has just made the test. A test of the outer loop could only find
//! work that another thread or a signal has added since, and the next iteration finds that. So
//! every cycle keeps a test. For example, in `for i in a: for j in b: ...` the outer loop's own
//! test is removed if its body ends with the inner loop.

use super::cfg::Cfg;
use super::graph::{Func, Helper, HelperId, Term};
use cranelift_entity::{EntitySet, PrimaryMap};

/// Removes redundant tests. Returns true if a block lost its test. Blocks that became unreachable
/// remain.
///
/// Nothing is pending at the start of a block if that holds at the ends of all edges into it. A
/// back edge ends this knowledge: in each cycle, the first test since then stays.
pub(super) fn ask_once(func: &mut Func, cfg: &Cfg, helpers: &PrimaryMap<HelperId, Helper>) -> bool {
    // The blocks with an edge at whose end work may be pending.
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
    fn a_loop_around_one_with_a_test_has_no_test() {
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
    fn an_inner_loop_without_iterations_has_made_no_test() {
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
    fn calls_since_the_test_may_have_deferred_work() {
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
