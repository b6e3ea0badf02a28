//! Iteration.

use super::builtins;
use super::class;
use super::dict::Dict;
use super::error::{self, Raised, raise};
use super::heap::{Kind, Range, RangeIter, Ref, SeqIter, Set, alloc};
use super::ops;
use super::{Result, rt};

/// The number of values of a range.
pub fn range_length(range: &Range) -> i64 {
    let (start, stop, step) = (
        i128::from(range.start),
        i128::from(range.stop),
        i128::from(range.step),
    );
    let span = if step > 0 { stop - start } else { start - stop };
    let length = if span <= 0 {
        0
    } else {
        (span - 1) / step.abs() + 1
    };
    length.min(i128::from(i64::MAX)) as i64
}

/// `iter(range(*bounds))` of ints.
pub fn range_iter(bounds: [Ref; 3]) -> Result<Ref> {
    iter(&builtins::range(&bounds)?)
}

/// `iter(seq)` of a list or tuple, before the item at this offset.
pub fn seq_iter_at(seq: &Ref, next: &Ref) -> Result<Ref> {
    let made = iter(seq)?;
    if let (Some(state), Some(next)) = (made.get::<SeqIter>(), ops::index_of(next)) {
        state.index.set(next);
    }
    Ok(made)
}

/// `iter(a)`. Iteration over dicts, sets and strings uses a copy of the current items.
pub fn iter(a: &Ref) -> Result<Ref> {
    Ok(match a.kind() {
        Kind::List | Kind::Tuple => alloc::seq_iter(a.clone()),
        Kind::Range => {
            let range = a.get::<Range>().expect("a range");
            alloc::range_iter(range.start, range.step, range_length(range))
        }
        Kind::RangeIter | Kind::ListIter | Kind::TupleIter => a.clone(),
        Kind::Dict => {
            let items = a.get::<Dict>().map_or(Vec::new(), Dict::items);
            alloc::seq_iter(alloc::tuple(
                items.into_iter().map(|(key, _)| key).collect(),
            ))
        }
        Kind::Set => return iter(&a.get::<Set>().expect("a set").items),
        Kind::Str => {
            let chars = a.as_str().unwrap_or_default().chars();
            alloc::seq_iter(alloc::tuple(
                chars.map(|c| alloc::str(c.to_string())).collect(),
            ))
        }
        _ => {
            return match class::special(a, "__iter__", &[]) {
                Some(result) => result,
                None => raise(
                    error::TYPE,
                    format!("'{}' object is not iterable", a.class().name),
                ),
            };
        }
    })
}

/// The next item; none at the end.
pub fn next(iterator: &Ref) -> Result<Option<Ref>> {
    if let Some(range) = iterator.get::<RangeIter>() {
        return Ok(range.advance().map(alloc::int));
    }
    if let Some(sequence) = iterator.get::<SeqIter>() {
        return Ok(sequence.advance());
    }
    match class::special(iterator, "__next__", &[]) {
        Some(Ok(item)) => Ok(Some(item)),
        Some(Err(Raised(exception))) if error::is_a(&exception, error::STOP_ITERATION) => Ok(None),
        Some(Err(raised)) => Err(raised),
        None => raise(
            error::TYPE,
            format!("'{}' object is not an iterator", iterator.class().name),
        ),
    }
}

/// All items of an iterable.
pub fn collect(iterable: &Ref) -> Result<Vec<Ref>> {
    let iterator = iter(iterable)?;
    let mut items = Vec::new();
    while let Some(item) = next(&iterator)? {
        items.push(item);
        if items.len() > 1 << 24 {
            return raise(error::OVERFLOW, "too many items");
        }
    }
    Ok(items)
}

/// Exactly `count` items.
pub fn unpack(sequence: &Ref, count: usize) -> Result<Vec<Ref>> {
    let iterator = match iter(sequence) {
        Ok(iterator) => iterator,
        Err(_) if sequence.kind() != Kind::Instance => {
            return raise(
                error::TYPE,
                format!(
                    "cannot unpack non-iterable {} object",
                    sequence.class().name
                ),
            );
        }
        Err(raised) => return Err(raised),
    };
    let mut items = Vec::with_capacity(count.min(1 << 10));
    while let Some(item) = next(&iterator)? {
        if items.len() == count {
            return raise(
                error::VALUE,
                format!("too many values to unpack (expected {count})"),
            );
        }
        items.push(item);
    }
    if items.len() < count {
        return raise(
            error::VALUE,
            format!(
                "not enough values to unpack (expected {count}, got {})",
                items.len()
            ),
        );
    }
    Ok(items)
}

/// Items before a starred one, the list of the starred ones, and those after.
pub fn unpack_ex(sequence: &Ref, before: usize, after: usize) -> Result<Vec<Ref>> {
    let mut items = collect(sequence)?;
    if items.len() < before + after {
        return raise(
            error::VALUE,
            format!(
                "not enough values to unpack (expected at least {}, got {})",
                before + after,
                items.len()
            ),
        );
    }
    let tail = items.split_off(items.len() - after);
    let middle = items.split_off(before);
    items.push(alloc::list(middle));
    items.extend(tail);
    Ok(items)
}

/// `next(a)`
pub fn next_or_stop(iterator: &Ref) -> Result<Ref> {
    match next(iterator)? {
        Some(item) => Ok(item),
        None => Err(error::new(error::STOP_ITERATION, rt().none.clone())),
    }
}
