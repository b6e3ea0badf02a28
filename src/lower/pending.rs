//! Between instructions: pending work, and counters for the statistics.

use super::Lower;
use super::hop::HighLevelOp;
use crate::host::names;
use crate::lir::{self, IntCond};
use crate::ll::Width;

impl HighLevelOp<'_, '_> {
    /// Runs pending work if there is any; exits if the unit must stop.
    pub(super) fn check_pending(&mut self) {
        if self.lower.f.is_back_edge(self.pc()) {
            self.lower.count_iteration();
        }
        // With forced exits, tested in each iteration.
        let exit = self.pending_exit();
        let before = self.lower.published();
        let cell = self.pending_cell();
        let quiet = self.nothing_pending(cell);
        let (slow, go) = (self.b().cold_block(), self.b().block());
        self.b().br_quiet(quiet, go, slow);
        self.b().switch_to(slow);
        self.handle_pending(cell, go, exit);
        self.lower.forget_published(before);
    }

    /// True if nothing is pending; counts an iteration of a loop.
    pub(super) fn quiet(&mut self) -> lir::Value {
        if self.lower.f.is_back_edge(self.pc()) {
            self.lower.count_iteration();
        }
        let cell = self.pending_cell();
        self.nothing_pending(cell)
    }

    /// Runs the pending work; exits if the unit must stop.
    pub(super) fn do_pending(&mut self) {
        let exit = self.pending_exit();
        let cell = self.pending_cell();
        let go = self.b().cold_block();
        self.handle_pending(cell, go, exit);
    }

    /// The exit for a unit that must stop and, unless the function has a handler, for an exception
    /// of the pending work.
    fn pending_exit(&mut self) -> lir::Block {
        if self.has_implicit_exception() {
            self.exit()
        } else {
            self.leave_pending()
        }
    }

    /// Runs the pending work, and continues at `go`, or at `exit` if the unit must stop.
    fn handle_pending(&mut self, cell: lir::Value, go: lir::Block, exit: lir::Block) {
        self.publish();
        if !self.has_implicit_exception() {
            let valid = self.lower.pending_is_done();
            self.b().br_quiet(valid, go, exit);
            self.b().switch_to(go);
            self.lower.position = None;
            return;
        }
        let thread = self.lower.thread;
        let status = self.call("handle_pending", &[thread])[0];
        let failed = self.b().icmp_imm(IntCond::Slt, status, 0);
        let raise = self.exception_is_here();
        let done = self.b().cold_block();
        self.b().br(failed, raise, &[], done, &[]);
        self.b().switch_to(done);
        let quiet = self.nothing_pending(cell);
        let again = self.b().cold_block();
        self.b().br(quiet, again, &[], exit, &[]);
        self.b().switch_to(again);
        let valid = self.lower.still_valid();
        self.b().br_quiet(valid, go, exit);
        self.b().switch_to(go);
        self.lower.position = None;
    }

    /// Exits if any work is pending.
    pub(super) fn check_quiet(&mut self) {
        self.lower.count_iteration();
        let cell = self.pending_cell();
        let quiet = self.nothing_pending(cell);
        let exit = self.exit();
        let next = self.b().block();
        self.b().br_quiet(quiet, next, exit);
        self.b().switch_to(next);
    }

    fn pending_cell(&mut self) -> lir::Value {
        let cell = self.lower.parts.pending_cell();
        self.b().pconst(cell)
    }

    fn nothing_pending(&mut self, cell: lir::Value) -> lir::Value {
        let thread = self.lower.thread;
        self.intrinsic(names::NOTHING_PENDING, &[thread, cell])
    }
}

impl Lower<'_> {
    /// Counts a back edge, for the statistics.
    pub(super) fn count_iteration(&mut self) {
        self.count_at(self.parts.loop_counter);
    }

    /// Adds one to the word at an address.
    pub(super) fn count_at(&mut self, word: u64) {
        let word = self.b.pconst(word);
        self.b.add_at(Width::I64, word, 0, 1);
    }
}
