//! The work on loops, in the order in which one piece finds what the others leave; control flow is looked at once for all that leave it
//! as it is.

use super::borders::separate_loops;
use super::cells::carry_cell;
use super::cfg::{Cfg, QuietLoops};
use super::counts::derive_counts;
use super::graph::{Func, Helper, HelperId};
use super::pending::ask_once;
use super::rotate::rotate_loops;
use super::sink::{sink_across_loops, sink_sums};
use super::tidy::merge_blocks;
use cranelift_entity::PrimaryMap;

/// Let loops test at the bottom, ask for pending work no more often than they need to, count their turns where they are left (turns are
/// counted at the address `counter`), hold the word at `pending` in a register, and have registers of their own.
pub fn tend_loops(
    func: &mut Func,
    helpers: &PrimaryMap<HelperId, Helper>,
    counter: u64,
    pending: u64,
) {
    let mut cfg = Cfg::new(func);
    if !cfg.has_loops() {
        return;
    }
    // The second needs loops that test at the bottom: there it sees whether one that is left has had a turn.
    if rotate_loops(func, &mut cfg) | ask_once(func, &cfg, helpers) {
        merge_blocks(func);
        cfg = Cfg::new(func);
    }
    // What follows puts blocks before and behind these, and leaves it at the blocks that are in them.
    let quiet = QuietLoops::of(func, &cfg);
    if !quiet.loops.is_empty() {
        if derive_counts(func, &cfg, &quiet, counter) {
            cfg = Cfg::new(func);
        }
        carry_cell(func, &cfg, &quiet, pending);
        if separate_loops(func, &cfg, &quiet) {
            cfg = Cfg::new(func);
        }
        sink_sums(func, &cfg, &quiet);
        sink_across_loops(func, &cfg, &quiet);
    }
    // What was put between blocks stands in blocks of its own.
    merge_blocks(func);
}
