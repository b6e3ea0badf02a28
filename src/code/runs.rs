//! Free runs of pages: first fit by address, neighbours merged. It is a module of its own because
//! it is pure bookkeeping.

use std::collections::BTreeMap;

/// Adjacent pages of an arena.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    /// The first page.
    pub(super) start: usize,
    /// The number of pages.
    pub(super) pages: usize,
}

/// The free pages of an arena, as maximal runs.
#[derive(Debug)]
pub(super) struct FreeRuns {
    by_start: BTreeMap<usize, usize>,
}

impl FreeRuns {
    /// `pages` free pages.
    pub(super) fn all(pages: usize) -> FreeRuns {
        FreeRuns {
            by_start: BTreeMap::from([(0, pages)]),
        }
    }

    /// Takes the first run that fits, so that the arena stays dense at its start.
    pub(super) fn take(&mut self, pages: usize) -> Option<Run> {
        let (&start, &free) = self.by_start.iter().find(|&(_, &free)| free >= pages)?;
        self.by_start.remove(&start);
        if free > pages {
            self.by_start.insert(start + pages, free - pages);
        }
        Some(Run { start, pages })
    }

    /// Frees a run, and merges it with its free neighbours.
    pub(super) fn give(&mut self, run: Run) {
        let Run {
            mut start,
            mut pages,
        } = run;
        if let Some((&before, &free)) = self.by_start.range(..start).next_back()
            && before + free == start
        {
            self.by_start.remove(&before);
            start = before;
            pages += free;
        }
        if let Some(free) = self.by_start.remove(&(start + pages)) {
            pages += free;
        }
        self.by_start.insert(start, pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_run_is_joined_with_both_neighbours() {
        let mut free = FreeRuns::all(10);
        let runs: Vec<Run> = (0..3).map(|_| free.take(3).unwrap()).collect();
        assert_eq!(free.take(2), None);
        free.give(runs[0]);
        free.give(runs[2]);
        assert_eq!(free.take(5), None);
        free.give(runs[1]);
        assert_eq!(
            free.take(10),
            Some(Run {
                start: 0,
                pages: 10
            })
        );
    }

    #[test]
    fn the_first_hole_that_fits_is_allocated() {
        let mut free = FreeRuns::all(10);
        let first = free.take(2).unwrap();
        free.take(1).unwrap();
        free.give(first);
        assert_eq!(free.take(3), Some(Run { start: 3, pages: 3 }));
        assert_eq!(free.take(1), Some(Run { start: 0, pages: 1 }));
    }
}
