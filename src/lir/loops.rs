//! The loop passes, in the order in which each finds the results of the others. The control-flow
//! graph is computed once for all passes that do not change it.

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

/// Makes loops test at the bottom, removes redundant tests for pending work, counts iterations
/// where loops are left (the counter is at the address `counter`), keeps the word at `pending` in a
/// register, and gives loops their own live ranges.
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
    // The second pass needs loops that test at the bottom: then it sees that a loop that is left
    // has had an iteration.
    if rotate_loops(func, &mut cfg) | ask_once(func, &cfg, helpers) {
        merge_blocks(func);
        cfg = Cfg::new(func);
    }
    // The following passes insert blocks before and after these loops, but none into them.
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
    // Inserted code is in blocks of its own.
    merge_blocks(func);
}
