//! The passes, and the order in which they run.
//!
//! A pass is a row of the table below. Options, statistics, `docs/passes.md` and the names of the
//! text form follow from the row. [`PIPELINE`] is the order. A test walks it and checks that each
//! pass comes behind those that establish what it needs.

use super::Context;
use crate::hir::Function;
use std::fmt;
use std::time::Instant;

/// Rounds of a group of steps that runs for as long as it changes something.
const MOST_ROUNDS: usize = 8;

macro_rules! step {
    (Settle) => {
        Step::Settle
    };
    ($pass:ident) => {
        Step::Run(Pass::$pass)
    };
}

macro_rules! passes {
    ($(
        $(#[doc = $doc:literal])+
        $pass:ident = $module:ident, $optional:ident, $asks:ident, $place:ident,
            needs [$($needs:ident)*], gives [$($gives:ident)*], then [$($then:ident)*];
    )*) => {
        /// A pass over a function.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum Pass {
            $($(#[doc = $doc])+ $pass,)*
        }

        impl Pass {
            /// Every pass, in the order of the table.
            pub const ALL: &'static [Pass] = &[$(Pass::$pass),*];

            /// The row of the pass.
            pub fn info(self) -> &'static PassInfo {
                static ROWS: &[PassInfo] = &[$(PassInfo {
                    name: stringify!($module),
                    summary: &[$($doc),+],
                    is_optional: is!($optional),
                    asks_world: is!($asks),
                    is_late: is!($place),
                    needs: &[$(Property::$needs),*],
                    gives: &[$(Property::$gives),*],
                    then: &[$(step!($then)),*],
                    run: super::$module::run,
                }),*];
                &ROWS[self as usize]
            }
        }
    };
}

macro_rules! is {
    (optional) => {
        true
    };
    (required) => {
        false
    };
    (asks) => {
        true
    };
    (local) => {
        false
    };
    (late) => {
        true
    };
    (listed) => {
        false
    };
}

/// A row of the table.
pub struct PassInfo {
    /// The name in options, statistics and the text form: the module's.
    pub name: &'static str,
    /// The lines of the documentation.
    pub summary: &'static [&'static str],
    /// Whether the pass may be left out. Code is right without it, and slower.
    pub is_optional: bool,
    /// Whether the pass queries the world for much. A compile that lacks an answer continues from
    /// the state before it.
    pub asks_world: bool,
    /// True if `PIPELINE` does not list the pass: it runs at the end, in the order of the table.
    pub is_late: bool,
    /// The properties of a function that passes before this one have established.
    pub needs: &'static [Property],
    /// The properties that the pass establishes.
    pub gives: &'static [Property],
    /// The steps that follow where the pass has changed something.
    pub then: &'static [Step],
    /// Rewrites the function; returns whether it has changed it.
    run: fn(&mut Function, &Context<'_>) -> bool,
}

/// A property that passes establish for those behind them. (One that needs more than once to hold
/// is established again by the steps behind a change.)
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Property {
    /// References are those that the host counts.
    Counted,
    /// Constants are folded, and proved guards are gone.
    Folded,
    /// The type of each value is the join of what its operands give.
    Typed,
    /// Operations on operands of known types are primitive.
    Primitive,
    /// Small callees are part of the function.
    Inlined,
    /// Objects that only the function sees are virtual.
    Virtual,
    /// Blocks that only follow each other are one.
    Straight,
    /// Numbers that loops carry are raw.
    Raw,
    /// No instruction stands behind a check that always fails.
    Pruned,
    /// No reference is taken that is dropped again without need.
    Paired,
    /// What checks and loads have found out is found out once.
    Available,
    /// Equal computations are one value.
    Numbered,
    /// Loops over ranges and lists count in registers.
    Counting,
    /// Loops read before their first iteration what no iteration changes.
    Preloaded,
    /// No pass behind this uses what is known of numbers in memory.
    Reused,
}

passes! {
    /// Removes the references that a host does not count whose objects are traced.
    Lifetimes = lifetimes, required, local, listed, needs [], gives [Counted], then [];
    /// Removes guards that are proved and boxes that are unboxed at once, and folds constants.
    Simplify = simplify, required, local, listed, needs [], gives [Folded], then [];
    /// Computes the types of values to a fixpoint. Left out, nothing is known of what comes
    /// together in joins.
    Types = types, optional, local, listed, needs [], gives [Typed], then [];
    /// Refines operands by the paths that lead to them, and splits joins whose sides disagree.
    Split = split, optional, asks, listed, needs [Typed], gives [], then [Types];
    /// Replaces general operations on operands of known types by primitive ones.
    Specialise = specialise, required, local, listed, needs [Typed], gives [Primitive], then [];
    /// Replaces calls of small functions by the functions' code. There are fewer calls then, and
    /// fewer checks behind them.
    Inline = inline, optional, asks, listed, needs [Folded Primitive], gives [Inlined], then [Checks Types Simplify];
    /// Replaces tuples, instances, cells and bound methods that only this function sees by what
    /// they hold.
    Virtuals = virtuals, optional, asks, listed, needs [Folded Inlined], gives [Virtual], then [];
    /// Joins blocks that follow each other for sure.
    Merge = merge, required, local, listed, needs [Primitive], gives [Straight], then [];
    /// Moves checks of what a loop carries from each iteration to the way into the loop.
    Headers = headers, optional, local, listed, needs [Typed Straight], gives [], then [Types];
    /// Makes block parameters that carry numbers raw.
    Unbox = unbox, required, local, listed, needs [Typed Primitive], gives [Raw], then [];
    /// Drops checks of what the function's own objects hold, by the annotation engine.
    Heap = heap, optional, local, listed, needs [Typed Inlined], gives [], then [Types Simplify];
    /// Removes instructions behind checks that always fail.
    Cut = cut, required, asks, listed, needs [Typed Raw], gives [Pruned], then [];
    /// Removes pairs of a reference taken and dropped between which nothing needs it.
    Refcounts = refcounts, required, local, listed, needs [Typed Pruned], gives [Paired], then [];
    /// Marks drops of items that a tuple keeps alive. The operand stack's own references must be
    /// gone.
    Held = held, optional, local, listed, needs [Paired], gives [], then [Refcounts];
    /// Removes checks of what user code may have changed where none can have run.
    Checks = checks, optional, local, listed, needs [], gives [], then [];
    /// Finds out once what checks and loads find out for as long as nothing can have changed it.
    Memory = memory, optional, asks, listed, needs [Paired], gives [Available], then [];
    /// Numbers equal computations, and moves what does not change out of loops.
    Number = number, optional, local, listed, needs [Available], gives [Numbered], then [];
    /// Removes checks that no path fails and branches that no path takes. What a path proves holds
    /// there: nothing may move across paths behind this.
    Paths = paths, optional, local, listed, needs [Numbered], gives [], then [Types Simplify];
    /// Copies slices of lists that are assigned to slices without a list between.
    Slices = slices, optional, local, listed, needs [Paired], gives [], then [Settle];
    /// Leaves out exceptions that a handler of the function catches and drops unseen.
    Exceptions = exceptions, optional, asks, listed, needs [Paired], gives [], then [Merge Types Simplify Settle];
    /// Speculates that dropped objects live on, or that user code does not see them go.
    Ends = ends, optional, local, listed, needs [Paired], gives [], then [Settle];
    /// Joins checks of bounds at constant places of one sequence.
    Bounds = bounds, optional, local, late, needs [Available Numbered], gives [], then [];
    /// Lets loops over lists and tuples that run no user code count in a register.
    Sequences = sequences, optional, local, late, needs [Paired Available], gives [Counting], then [Checks];
    /// Lets loops over ranges count in a register. No iterator is allocated then between a range
    /// that is taken and dropped.
    Ranges = ranges, optional, local, late, needs [Paired], gives [Counting], then [Refcounts];
    /// Moves loads and checks of what no iteration changes before their loop.
    Preload = preload, optional, local, late, needs [Available Counting], gives [Preloaded], then [];
    /// Gives number objects that are about to go a new value instead of allocating another one.
    Reuse = reuse, optional, local, late, needs [Available Preloaded], gives [Reused], then [];
    /// Removes instructions whose results are not used and that have no effect.
    Dce = dce, required, local, late, needs [Reused], gives [], then [];
    /// Puts off traceback entries of exceptions that only a handler of the function sees.
    Tracebacks = tracebacks, required, local, late, needs [], gives [], then [];
}

/// A step of the pipeline.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A pass, with the steps that its row says behind a change.
    Run(Pass),
    /// A pass without those.
    Only(Pass),
    /// A pass, with these steps behind a change.
    Then(Pass, &'static [Step]),
    /// The steps, twice; the last pass that is named is left out in the first round.
    Twice(&'static [Step]),
    /// The step in the second round only.
    Second(Pass),
    /// `refcounts` and `checks` for as long as one lets the other do more: a reference that is not
    /// dropped is a check less, and a check stands between other pairs of references.
    Settle,
    /// The pass and the steps, for as long as the pass changes something and one of the steps does.
    While(Pass, &'static [Step]),
    /// The passes that are not listed, in the order of the table.
    Late,
}

/// The order of the passes.
const PIPELINE: &[Step] = {
    use Pass::*;
    use Step::*;
    &[
        Run(Lifetimes),
        Run(Simplify),
        // Types let operations become primitive, which gives better types, and so do inlined
        // callees.
        Twice(&[
            Run(Types),
            // Calls that became part of the function give its objects away no more.
            Second(Heap),
            Run(Split),
            Run(Specialise),
            Run(Lifetimes),
            Run(Simplify),
            Run(Inline),
            Run(Virtuals),
            Run(Merge),
            Run(Types),
            // What a virtual object contains has a type that a load from the object has not.
            Run(Specialise),
            Run(Headers),
            Run(Unbox),
            Run(Simplify),
        ]),
        // Guards on the paths of a speculation that failed before stay.
        Run(Cut),
        Run(Types),
        Run(Refcounts),
        Run(Held),
        Run(Checks),
        // A load that is made once has its guards once.
        Run(Memory),
        Run(Number),
        Run(Simplify),
        Run(Paths),
        // `unbox` has left boxes behind.
        Run(Lifetimes),
        // More items are raw by now, and there is less for the frame's end to drop.
        Then(
            Virtuals,
            &[
                Run(Types),
                Run(Specialise),
                Run(Simplify),
                Run(Unbox),
                Run(Simplify),
            ],
        ),
        Settle,
        Run(Slices),
        Run(Exceptions),
        // Mostly dropped references end facts about memory: there are as few as there will be.
        Run(Ends),
        // A fact about memory may prove that a drop runs no user code, which keeps other facts.
        While(
            Memory,
            &[
                Run(Types),
                Run(Simplify),
                Run(Lifetimes),
                Settle,
                Only(Ends),
            ],
        ),
        Late,
    ]
};

impl Pass {
    /// The name in options, statistics and the text form.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The pass of this name.
    pub fn named(name: &str) -> Option<Pass> {
        Pass::ALL.iter().copied().find(|pass| pass.name() == name)
    }

    /// The passes that may be left out.
    pub fn optional() -> impl Iterator<Item = Pass> {
        let all = Pass::ALL.iter().copied();
        all.filter(|pass| pass.info().is_optional)
    }
}

impl fmt::Display for Pass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name of no pass, or of one that can't be left out.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{0}` is no pass that can be left out; those are {list}", list = names(Pass::optional()))]
pub struct NotOptional(pub String);

fn names(passes: impl Iterator<Item = Pass>) -> String {
    passes.map(Pass::name).collect::<Vec<_>>().join(", ")
}

/// The passes of these names, separated by commas, which are to be left out.
///
/// # Errors
/// One of them is no pass, or one that can't be left out.
pub fn optional(names: &str) -> Result<Vec<Pass>, NotOptional> {
    let find = |name: &str| Pass::optional().find(|known| known.name() == name);
    let names = names
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    names
        .map(|name| find(name).ok_or_else(|| NotOptional(name.to_owned())))
        .collect()
}

/// Runs one pass alone; returns whether it changed the function.
pub fn run_pass(pass: Pass, f: &mut Function, cx: &Context<'_>) -> bool {
    let changed = (pass.info().run)(f, cx);
    if changed {
        f.apply_aliases();
    }
    changed
}

/// How far the passes came with a function before the world [lacked
/// answers](crate::host::World::lacks_answers).
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// The function where passes may continue, and whether each pass before has changed something.
    resume: Option<(Function, Vec<bool>)>,
}

impl Progress {
    /// The function where passes continue, if some have run already.
    pub fn function(&self) -> Option<&Function> {
        self.resume.as_ref().map(|(f, _)| f)
    }
}

/// Runs the passes in order; `after` is called after each one that changed something.
///
/// With `progress`, they stop where the world lacks answers, and return false. Called again with
/// [`Progress::function`], they continue from there.
pub fn run(
    f: &mut Function,
    cx: &Context<'_>,
    progress: Option<&mut Progress>,
    after: &mut dyn FnMut(&'static str, &Function),
) -> bool {
    let resume = progress.as_ref().and_then(|known| known.resume.as_ref());
    let found_before = resume.map_or(Vec::new(), |(_, found)| found.clone());
    let mut pipeline = Pipeline {
        cx,
        progress,
        after,
        settled: Vec::new(),
        found_before: found_before.into_iter(),
        found: Vec::new(),
        round: 0,
        has_ended: false,
    };
    pipeline.all(PIPELINE, f);
    !pipeline.has_ended
}

/// The state of a run.
struct Pipeline<'a, 'c> {
    cx: &'a Context<'c>,
    progress: Option<&'a mut Progress>,
    after: &'a mut dyn FnMut(&'static str, &Function),
    /// The passes that have found nothing to change since something was changed: they would find
    /// nothing again.
    settled: Vec<Pass>,
    found_before: std::vec::IntoIter<bool>,
    found: Vec<bool>,
    /// The round of [`Step::Twice`].
    round: usize,
    has_ended: bool,
}

impl Pipeline<'_, '_> {
    /// The steps in order; returns whether one has changed something.
    fn all(&mut self, steps: &[Step], f: &mut Function) -> bool {
        let mut changed = false;
        for &step in steps {
            changed |= self.step(step, f);
        }
        changed
    }

    fn step(&mut self, step: Step, f: &mut Function) -> bool {
        match step {
            Step::Run(pass) => self.step(Step::Then(pass, pass.info().then), f),
            Step::Only(pass) => self.pass(pass, f),
            Step::Then(pass, then) => {
                let changed = self.pass(pass, f);
                if changed {
                    self.all(then, f);
                }
                changed
            }
            Step::Twice(steps) => {
                let mut changed = false;
                for round in 0..2 {
                    self.round = round;
                    changed |= self.all(steps, f);
                }
                changed
            }
            Step::Second(pass) => self.round > 0 && self.step(Step::Run(pass), f),
            Step::Settle => {
                let mut changed = false;
                for _ in 0..MOST_ROUNDS {
                    changed |= self.pass(Pass::Refcounts, f);
                    if !self.pass(Pass::Checks, f) {
                        break;
                    }
                    changed = true;
                }
                changed
            }
            Step::While(pass, steps) => {
                let mut changed = false;
                for _ in 0..MOST_ROUNDS {
                    // Facts that become checks stay in the code, and would be found again.
                    if !self.pass(pass, f) || self.cx.check_facts {
                        break;
                    }
                    changed = true;
                    if !self.all(steps, f) {
                        break;
                    }
                }
                changed
            }
            Step::Late => {
                let all = Pass::ALL.iter().filter(|pass| pass.info().is_late);
                all.fold(false, |changed, pass| {
                    self.step(Step::Run(*pass), f) | changed
                })
            }
        }
    }

    /// A pass, unless it is left out or has nothing to do; returns whether it has changed the
    /// function.
    fn pass(&mut self, pass: Pass, f: &mut Function) -> bool {
        // `types` itself leaves out the part of it that is optional.
        let is_left_out = self.cx.without.contains(&pass) && pass != Pass::Types;
        if is_left_out || self.settled.contains(&pass) || self.has_ended {
            return false;
        }
        let known = self.found_before.next();
        if let Some(progress) = &mut self.progress
            && known.is_none()
            && (self.found.is_empty() || pass.info().asks_world)
        {
            progress.resume = Some((f.clone(), self.found.clone()));
        }
        let changed = known.unwrap_or_else(|| {
            let started = Instant::now();
            let changed = run_pass(pass, f, self.cx);
            self.cx.log.borrow_mut().add(pass, started.elapsed());
            self.has_ended = self.progress.is_some() && self.cx.world.lacks_answers();
            changed
        });
        if self.has_ended {
            return false;
        }
        self.found.push(changed);
        if changed {
            if known.is_none() {
                (self.after)(pass.name(), f);
            }
            self.settled.clear();
        } else {
            self.settled.push(pass);
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The passes that steps run, in order, as if each changed something.
    fn order(steps: &[Step], found: &mut Vec<Pass>) {
        for &step in steps {
            match step {
                Step::Run(pass) | Step::Second(pass) => {
                    found.push(pass);
                    order(pass.info().then, found);
                }
                Step::Only(pass) => found.push(pass),
                Step::Then(pass, then) | Step::While(pass, then) => {
                    found.push(pass);
                    order(then, found);
                }
                Step::Twice(steps) => (0..2).for_each(|_| order(steps, found)),
                Step::Settle => found.extend([Pass::Refcounts, Pass::Checks]),
                Step::Late => {
                    let late = Pass::ALL.iter().filter(|pass| pass.info().is_late);
                    late.for_each(|pass| order(&[Step::Run(*pass)], found));
                }
            }
        }
    }

    #[test]
    fn each_pass_runs_behind_those_that_establish_what_it_needs() {
        let mut run = Vec::new();
        order(PIPELINE, &mut run);
        let mut established: Vec<Property> = Vec::new();
        for pass in &run {
            // In the first round, the second round's pass is not run.
            for need in pass.info().needs {
                let first = established.contains(need) || *pass == Pass::Heap;
                assert!(
                    first,
                    "{pass} needs {need:?}, which no pass before it gives"
                );
            }
            established.extend(pass.info().gives);
        }
        for pass in Pass::ALL {
            assert!(run.contains(pass), "{pass} does not run");
        }
    }

    #[test]
    fn the_page_of_passes_is_that_of_the_table() {
        let mut page = String::from(concat!(
            "# Passes\n\n",
            "The passes of `src/opt/`, as their table in `src/opt/passes.rs` declares them.\n",
            "`BLESS=1 cargo test --lib passes` writes this page. An optional pass can be left out\n",
            "(`CLADONIA_WITHOUT=bounds,ends`): code is right without it, and slower.\n",
            "The order is the list `PIPELINE` in the same file; a pass needs what passes before it give.\n\n",
            "| pass | optional | needs | gives | what it does |\n",
            "| --- | --- | --- | --- | --- |\n",
        ));
        for pass in Pass::ALL {
            let info = pass.info();
            let words = |all: &[Property]| {
                let words = all.iter().map(|p| format!("{p:?}").to_lowercase());
                words.collect::<Vec<_>>().join(", ")
            };
            page += &format!(
                "| {} | {} | {} | {} | {} |\n",
                info.name,
                if info.is_optional { "yes" } else { "" },
                words(info.needs),
                words(info.gives),
                info.summary.concat().trim(),
            );
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/passes.md");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, &page).expect("the page is written");
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(written, page, "run the test with BLESS=1");
    }
}
