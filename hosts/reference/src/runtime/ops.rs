//! Operations on objects: the semantics of operators, comparisons and subscripts.

use super::class::{self, Class};
use super::dict::Dict;
use super::error::{self, raise};
use super::heap::{
    Bool, Float, Function, Instance, Int, Kind, List, Method, Native, Range, Ref, Set, Slice, alloc,
};
use super::number::{self, Number};
use super::{Result, call, iter, rt};
use cladonia::bytecode::{BinaryOp, CompareOp, INPLACE};
use std::hash::{DefaultHasher, Hash, Hasher};

fn name(object: &Ref) -> &str {
    &object.class().name
}

/// The special methods of the binary operators: forward and reflected.
fn special_names(op: BinaryOp) -> (&'static str, &'static str) {
    match op {
        BinaryOp::Add => ("__add__", "__radd__"),
        BinaryOp::And => ("__and__", "__rand__"),
        BinaryOp::FloorDivide => ("__floordiv__", "__rfloordiv__"),
        BinaryOp::LeftShift => ("__lshift__", "__rlshift__"),
        BinaryOp::MatrixMultiply => ("__matmul__", "__rmatmul__"),
        BinaryOp::Multiply => ("__mul__", "__rmul__"),
        BinaryOp::Remainder => ("__mod__", "__rmod__"),
        BinaryOp::Or => ("__or__", "__ror__"),
        BinaryOp::Power => ("__pow__", "__rpow__"),
        BinaryOp::RightShift => ("__rshift__", "__rrshift__"),
        BinaryOp::Subtract => ("__sub__", "__rsub__"),
        BinaryOp::TrueDivide => ("__truediv__", "__rtruediv__"),
        BinaryOp::Xor => ("__xor__", "__rxor__"),
    }
}

/// A binary operator by its bytecode number, in-place forms included.
pub fn binary(number: u32, a: &Ref, b: &Ref) -> Result<Ref> {
    let (in_place, number) = (number >= INPLACE, number % INPLACE);
    let Some(op) = BinaryOp::from_arg(number) else {
        return raise(error::SYSTEM, "an unknown operator");
    };
    if let (Some(x), Some(y)) = (a.get::<Bool>(), b.get::<Bool>()) {
        match op {
            BinaryOp::And => return Ok(rt().bool(x.value & y.value != 0)),
            BinaryOp::Or => return Ok(rt().bool(x.value | y.value != 0)),
            BinaryOp::Xor => return Ok(rt().bool(x.value ^ y.value != 0)),
            _ => {}
        }
    }
    if let (Some(x), Some(y)) = (Number::of(a), Number::of(b)) {
        return match number::binary(op, &x, &y)? {
            Some(result) => Ok(result),
            None => unsupported(op, a, b),
        };
    }
    let not_implemented = &rt().not_implemented;
    let (forward, reflected) = special_names(op);
    if let Some(result) = class::special(a, forward, std::slice::from_ref(b)) {
        let result = result?;
        if !result.is(not_implemented) {
            return Ok(result);
        }
    }
    if let Some(result) = class::special(b, reflected, std::slice::from_ref(a)) {
        let result = result?;
        if !result.is(not_implemented) {
            return Ok(result);
        }
    }
    sequences(op, in_place, a, b)
}

fn sequences(op: BinaryOp, in_place: bool, a: &Ref, b: &Ref) -> Result<Ref> {
    match op {
        BinaryOp::Add => {
            if let (Some(x), Some(y)) = (a.as_str(), b.as_str()) {
                may_join(x.len(), y.len())?;
                return Ok(alloc::str(format!("{x}{y}")));
            }
            if let (Some(x), Some(y)) = (a.as_tuple(), b.as_tuple()) {
                may_join(x.len(), y.len())?;
                return Ok(alloc::tuple([x, y].concat()));
            }
            if let Some(x) = a.get::<List>() {
                if in_place {
                    extend(a, b)?;
                    return Ok(a.clone());
                }
                if let Some(y) = b.get::<List>() {
                    may_join(x.len(), y.len())?;
                    let mut items = x.to_vec();
                    items.extend(y.to_vec());
                    return Ok(alloc::list(items));
                }
            }
        }
        BinaryOp::Multiply => {
            for (sequence, times) in [(a, b), (b, a)] {
                if let Some(times) = index_of(times) {
                    let times = times.max(0) as usize;
                    if let Some(result) = repeat(sequence, times)? {
                        return Ok(result);
                    }
                }
            }
        }
        BinaryOp::Remainder if a.as_str().is_some() => {
            return raise(error::NOT_IMPLEMENTED, "formatting with %");
        }
        _ => {}
    }
    unsupported(op, a, b)
}

/// Checks that two sequences may be joined.
fn may_join(a: usize, b: usize) -> Result<()> {
    if rt().may_make(a + b) {
        Ok(())
    } else {
        raise(error::OVERFLOW, "joined sequence is too long")
    }
}

fn repeat(sequence: &Ref, times: usize) -> Result<Option<Ref>> {
    let length = match sequence.kind() {
        Kind::Str => sequence.as_str().map_or(0, str::len),
        Kind::List => sequence.get::<List>().map_or(0, List::len),
        Kind::Tuple => sequence.as_tuple().map_or(0, <[Ref]>::len),
        _ => return Ok(None),
    };
    if !rt().may_make(length.saturating_mul(times)) {
        return raise(error::OVERFLOW, "repeated sequence is too long");
    }
    let repeated = |items: &[Ref]| {
        let mut all = Vec::with_capacity(items.len() * times);
        (0..times).for_each(|_| all.extend_from_slice(items));
        all
    };
    Ok(Some(match (sequence.as_str(), sequence.get::<List>()) {
        (Some(text), _) => alloc::str(text.repeat(times)),
        (_, Some(list)) => alloc::list(repeated(&list.to_vec())),
        _ => alloc::tuple(repeated(sequence.as_tuple().unwrap_or_default())),
    }))
}

fn unsupported<T>(op: BinaryOp, a: &Ref, b: &Ref) -> Result<T> {
    raise(
        error::TYPE,
        format!(
            "unsupported operand type(s) for {}: '{}' and '{}'",
            op.symbol(),
            name(a),
            name(b)
        ),
    )
}

/// `-a`
pub fn negative(a: &Ref) -> Result<Ref> {
    match Number::of(a) {
        Some(number) => Ok(number::negative(&number)),
        None => unary("__neg__", "-", a),
    }
}

/// `~a`
pub fn invert(a: &Ref) -> Result<Ref> {
    match Number::of(a).as_ref().and_then(number::invert) {
        Some(result) => Ok(result),
        None => unary("__invert__", "~", a),
    }
}

/// `+a`
pub fn positive(a: &Ref) -> Result<Ref> {
    match Number::of(a) {
        Some(number) => Ok(number.into_object()),
        None => unary("__pos__", "+", a),
    }
}

fn unary(special: &str, symbol: &str, a: &Ref) -> Result<Ref> {
    class::special(a, special, &[]).unwrap_or_else(|| {
        raise(
            error::TYPE,
            format!("bad operand type for unary {symbol}: '{}'", name(a)),
        )
    })
}

/// `not not a`
pub fn truth(a: &Ref) -> Result<bool> {
    if let Some(number) = Number::of(a) {
        return Ok(number.is_true());
    }
    Ok(match a.kind() {
        Kind::Plain => !a.is(&rt().none),
        Kind::Instance => match class::special(a, "__bool__", &[]) {
            Some(result) => {
                let result = result?;
                match result.get::<Bool>() {
                    Some(truth) => truth.value != 0,
                    None => {
                        return raise(
                            error::TYPE,
                            format!("__bool__ should return bool, returned {}", name(&result)),
                        );
                    }
                }
            }
            None if a.class().find("__len__").is_some() => length(a)? != 0,
            None => true,
        },
        Kind::Str | Kind::List | Kind::Tuple | Kind::Dict | Kind::Set | Kind::Range => {
            length(a)? != 0
        }
        _ => true,
    })
}

/// `len(a)`
pub fn length(a: &Ref) -> Result<i64> {
    Ok(match a.kind() {
        Kind::Str => a.as_str().map_or(0, |text| text.chars().count()) as i64,
        Kind::List => a.get::<List>().map_or(0, List::len) as i64,
        Kind::Tuple => a.as_tuple().map_or(0, <[Ref]>::len) as i64,
        Kind::Dict => a.get::<Dict>().map_or(0, Dict::len) as i64,
        Kind::Set => return a.get::<Set>().map_or(Ok(0), |set| length(&set.items)),
        Kind::Range => a.get::<Range>().map_or(0, iter::range_length),
        _ => {
            return match class::special(a, "__len__", &[]) {
                Some(result) => match index_of(&result?) {
                    Some(length) if length >= 0 => Ok(length),
                    _ => raise(error::VALUE, "__len__() should return an int >= 0"),
                },
                None => raise(
                    error::TYPE,
                    format!("object of type '{}' has no len()", name(a)),
                ),
            };
        }
    })
}

/// The value of an int or bool, if it fits 64 bits.
pub fn index_of(a: &Ref) -> Option<i64> {
    match Number::of(a)? {
        Number::Int(value) => Some(value),
        _ => None,
    }
}

/// A comparison.
pub fn compare(op: CompareOp, a: &Ref, b: &Ref) -> Result<Ref> {
    rt().step()?;
    if let (Some(x), Some(y)) = (Number::of(a), Number::of(b)) {
        return Ok(rt().bool(number::compare(op, &x, &y)));
    }
    let (forward, reflected) = match op {
        CompareOp::Lt => ("__lt__", "__gt__"),
        CompareOp::Le => ("__le__", "__ge__"),
        CompareOp::Eq => ("__eq__", "__eq__"),
        CompareOp::Ne => ("__ne__", "__ne__"),
        CompareOp::Gt => ("__gt__", "__lt__"),
        CompareOp::Ge => ("__ge__", "__le__"),
    };
    for (this, other, name) in [(a, b, forward), (b, a, reflected)] {
        if let Some(result) = class::special(this, name, std::slice::from_ref(other)) {
            let result = result?;
            if !result.is(&rt().not_implemented) {
                return Ok(result);
            }
        } else if op == CompareOp::Ne
            && let Some(result) = class::special(this, "__eq__", std::slice::from_ref(other))
        {
            let result = result?;
            if !result.is(&rt().not_implemented) {
                return Ok(rt().bool(!truth(&result)?));
            }
        }
    }
    if let Some(ordering) = order(op, a, b)? {
        return Ok(rt().bool(ordering));
    }
    match op {
        CompareOp::Eq => Ok(rt().bool(a.is(b))),
        CompareOp::Ne => Ok(rt().bool(!a.is(b))),
        _ => raise(
            error::TYPE,
            format!(
                "'{}' not supported between instances of '{}' and '{}'",
                op.symbol(),
                name(a),
                name(b)
            ),
        ),
    }
}

/// Comparisons of strings, sequences and dicts.
fn order(op: CompareOp, a: &Ref, b: &Ref) -> Result<Option<bool>> {
    if let (Some(x), Some(y)) = (a.as_str(), b.as_str()) {
        return Ok(Some(op.holds(x.cmp(y))));
    }
    let items = |object: &Ref| match object.get::<List>() {
        Some(list) => Some(list.to_vec()),
        None => object.as_tuple().map(<[Ref]>::to_vec),
    };
    if a.kind() == b.kind()
        && let (Some(x), Some(y)) = (items(a), items(b))
    {
        if matches!(op, CompareOp::Eq | CompareOp::Ne) && x.len() != y.len() {
            return Ok(Some(op == CompareOp::Ne));
        }
        for (p, q) in x.iter().zip(&y) {
            if !p.is(q) && !equal(p, q)? {
                return Ok(Some(match op {
                    CompareOp::Eq => false,
                    CompareOp::Ne => true,
                    _ => truth(&compare(op, p, q)?)?,
                }));
            }
        }
        return Ok(Some(op.holds(x.len().cmp(&y.len()))));
    }
    if let (CompareOp::Eq | CompareOp::Ne, Some(x), Some(y)) =
        (op, a.get::<Dict>(), b.get::<Dict>())
    {
        let mut same = x.len() == y.len();
        for (key, value) in x.items() {
            if !same {
                break;
            }
            same = match y.get(&key)? {
                Some(other) => value.is(&other) || equal(&value, &other)?,
                None => false,
            };
        }
        return Ok(Some(same == (op == CompareOp::Eq)));
    }
    if let (CompareOp::Eq | CompareOp::Ne, Some(x), Some(y)) =
        (op, a.get::<Range>(), b.get::<Range>())
    {
        let same = (x.start, x.stop, x.step) == (y.start, y.stop, y.step);
        return Ok(Some(same == (op == CompareOp::Eq)));
    }
    Ok(None)
}

/// `a == b`, as a truth value.
pub fn equal(a: &Ref, b: &Ref) -> Result<bool> {
    let result = compare(CompareOp::Eq, a, b)?;
    truth(&result)
}

/// `b in a`
pub fn contains(needle: &Ref, container: &Ref) -> Result<bool> {
    if let Some(dict) = container.get::<Dict>() {
        return Ok(dict.get(needle)?.is_some());
    }
    if let Some(set) = container.get::<Set>() {
        return contains(needle, &set.items);
    }
    if let Some(text) = container.as_str() {
        return match needle.as_str() {
            Some(part) => Ok(text.contains(part)),
            None => raise(
                error::TYPE,
                format!(
                    "'in <string>' requires string as left operand, not {}",
                    name(needle)
                ),
            ),
        };
    }
    if let Some(result) = class::special(container, "__contains__", std::slice::from_ref(needle)) {
        return truth(&result?);
    }
    let items = iter::iter(container)?;
    while let Some(item) = iter::next(&items)? {
        if item.is(needle) || equal(&item, needle)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// An offset from an index that may be negative.
fn offset(index: i64, len: usize) -> Option<usize> {
    let at = if index < 0 { index + len as i64 } else { index };
    (0..len as i64).contains(&at).then_some(at as usize)
}

/// `a[b]`
pub fn get_item(a: &Ref, b: &Ref) -> Result<Ref> {
    if let Some(result) = class::special(a, "__getitem__", std::slice::from_ref(b)) {
        return result;
    }
    if let Some(dict) = a.get::<Dict>() {
        return match dict.get(b)? {
            Some(value) => Ok(value),
            None => Err(error::new(error::KEY, b.clone())),
        };
    }
    if let Some(slice) = b.get::<Slice>() {
        return get_slice(a, &slice.parts);
    }
    if !matches!(a.kind(), Kind::List | Kind::Tuple | Kind::Str | Kind::Range) {
        return raise(
            error::TYPE,
            format!("'{}' object is not subscriptable", name(a)),
        );
    }
    let Some(index) = index_of(b) else {
        return raise(
            error::TYPE,
            format!(
                "{} indices must be integers or slices, not {}",
                name(a),
                name(b)
            ),
        );
    };
    let found = offset(index, length(a)? as usize).and_then(|at| {
        if let Some(list) = a.get::<List>() {
            return list.item(at);
        }
        if let Some(range) = a.get::<Range>() {
            return Some(alloc::int(range.start + at as i64 * range.step));
        }
        if let Some(text) = a.as_str() {
            let found = text.chars().nth(at);
            return found.map(|c| {
                rt().character(c)
                    .unwrap_or_else(|| alloc::str(c.to_string()))
            });
        }
        a.as_tuple().and_then(|items| items.get(at).cloned())
    });
    found.map_or_else(
        || raise(error::INDEX, format!("{} index out of range", name(a))),
        Ok,
    )
}

/// `a[b] = c`
pub fn set_item(a: &Ref, b: &Ref, c: &Ref) -> Result<()> {
    if let Some(result) = class::special(a, "__setitem__", &[b.clone(), c.clone()]) {
        return result.map(drop);
    }
    if let Some(dict) = a.get::<Dict>() {
        return dict.set(b.clone(), c.clone());
    }
    if let Some(list) = a.get::<List>() {
        let Some(index) = index_of(b) else {
            return raise(
                error::TYPE,
                format!("list indices must be integers or slices, not {}", name(b)),
            );
        };
        let Some(at) = offset(index, list.len()) else {
            return raise(error::INDEX, "list assignment index out of range");
        };
        drop(list.with(|items| std::mem::replace(&mut items[at], c.clone())));
        return Ok(());
    }
    raise(
        error::TYPE,
        format!("'{}' object does not support item assignment", name(a)),
    )
}

/// `del a[b]`
pub fn del_item(a: &Ref, b: &Ref) -> Result<()> {
    if let Some(result) = class::special(a, "__delitem__", std::slice::from_ref(b)) {
        return result.map(drop);
    }
    if let Some(dict) = a.get::<Dict>() {
        return match dict.remove(b)? {
            Some(old) => {
                drop(old);
                Ok(())
            }
            None => Err(error::new(error::KEY, b.clone())),
        };
    }
    if let (Some(list), Some(index)) = (a.get::<List>(), index_of(b)) {
        let Some(at) = offset(index, list.len()) else {
            return raise(error::INDEX, "list assignment index out of range");
        };
        drop(list.with(|items| items.remove(at)));
        return Ok(());
    }
    raise(
        error::TYPE,
        format!("'{}' object doesn't support item deletion", name(a)),
    )
}

/// The indexes that a slice selects in a sequence of a length.
fn slice_indexes(parts: &[Ref; 3], len: usize) -> Result<Vec<usize>> {
    let part = |part: &Ref| match index_of(part) {
        Some(value) => Ok(Some(value)),
        None if part.is(&rt().none) => Ok(None),
        None => raise(error::TYPE, "slice indices must be integers or None"),
    };
    let (start, stop, step) = (
        part(&parts[0])?,
        part(&parts[1])?,
        part(&parts[2])?.unwrap_or(1),
    );
    if step == 0 {
        return raise(error::VALUE, "slice step cannot be zero");
    }
    let (first, end) = open_ends(step);
    Ok(indexes_between(
        start.unwrap_or(first),
        stop.unwrap_or(end),
        step,
        len,
    ))
}

/// The values of a slice's missing bounds.
fn open_ends(step: i64) -> (i64, i64) {
    if step < 0 {
        (i64::MAX, i64::MIN)
    } else {
        (i64::MIN, i64::MAX)
    }
}

/// The indexes that bounds and a step, which is not 0, select in a sequence of a length.
fn indexes_between(start: i64, stop: i64, step: i64, len: usize) -> Vec<usize> {
    let len = len as i64;
    let (low, high) = if step < 0 { (-1, len - 1) } else { (0, len) };
    let clamp = |value: i64| {
        (if value < 0 {
            value.saturating_add(len)
        } else {
            value
        })
        .clamp(low, high)
    };
    let (mut at, stop) = (clamp(start), clamp(stop));
    let mut indexes = Vec::new();
    while if step < 0 { at > stop } else { at < stop } {
        indexes.push(at as usize);
        at = at.saturating_add(step);
    }
    indexes
}

/// The items of a list between bounds; a missing bound is the least or the greatest integer.
pub fn list_items(list: &List, start: i64, stop: i64, step: i64) -> Vec<Ref> {
    let indexes = indexes_between(start, stop, step, list.len());
    indexes.into_iter().filter_map(|i| list.item(i)).collect()
}

/// Replaces a list's items by those of a list, unless a deallocation could be observed. Returns
/// true if it was done.
pub fn copy_list_slice(list: &List, [low, high]: [i64; 2], new: Vec<Ref>) -> bool {
    let indexes = indexes_between(low, high, 1, list.len());
    let from = match indexes.first() {
        Some(first) => *first,
        None => indexes_between(i64::MIN, low, 1, list.len()).len(),
    };
    let old: Vec<Ref> = indexes.iter().filter_map(|&i| list.item(i)).collect();
    let ends = |item: &Ref| {
        let replaced = old.iter().filter(|other| other.is(item)).count() as i64;
        // The items in `old` are additional references.
        item.head().count.get() == 2 * replaced
    };
    let is_quiet = |item: &Ref| matches!(item.kind(), Kind::Int | Kind::Float | Kind::Str);
    if old.iter().any(|item| ends(item) && !is_quiet(item)) {
        return false;
    }
    list.with(|items| drop(items.splice(from..from + indexes.len(), new)));
    true
}

/// `a[b:c:d]`
pub fn get_slice(a: &Ref, parts: &[Ref; 3]) -> Result<Ref> {
    if let Some(result) = class::special(a, "__getitem__", &[alloc::slice(parts.clone())]) {
        return result;
    }
    if let Some(text) = a.as_str() {
        let chars: Vec<char> = text.chars().collect();
        let indexes = slice_indexes(parts, chars.len())?;
        return Ok(alloc::str(
            indexes.into_iter().map(|i| chars[i]).collect::<String>(),
        ));
    }
    if let Some(list) = a.get::<List>() {
        let indexes = slice_indexes(parts, list.len())?;
        return Ok(alloc::list(
            indexes.into_iter().filter_map(|i| list.item(i)).collect(),
        ));
    }
    if let Some(items) = a.as_tuple() {
        let indexes = slice_indexes(parts, items.len())?;
        return Ok(alloc::tuple(
            indexes.into_iter().map(|i| items[i].clone()).collect(),
        ));
    }
    raise(
        error::TYPE,
        format!("'{}' object is not subscriptable", name(a)),
    )
}

/// `a[b:c] = d`
pub fn set_slice(a: &Ref, b: &Ref, c: &Ref, d: &Ref) -> Result<()> {
    let Some(list) = a.get::<List>() else {
        return raise(
            error::TYPE,
            format!("'{}' object does not support slice assignment", name(a)),
        );
    };
    let new = iter::collect(d)?;
    let len = list.len();
    let indexes = slice_indexes(&[b.clone(), c.clone(), rt().none.clone()], len)?;
    let from = match indexes.first() {
        Some(first) => *first,
        None => match index_of(b) {
            Some(start) if start < 0 => (start + len as i64).max(0) as usize,
            Some(start) => (start as usize).min(len),
            None => 0,
        },
    };
    let old: Vec<Ref> = list.with(|items| items.splice(from..from + indexes.len(), new).collect());
    drop(old);
    Ok(())
}

/// Extends a list by the items of an iterable.
pub fn extend(list: &Ref, by: &Ref) -> Result<()> {
    let items = iter::collect(by)?;
    match list.get::<List>() {
        Some(list) => {
            may_join(list.len(), items.len())?;
            list.with(|all| all.extend(items));
        }
        None => return raise(error::TYPE, "extend of something that is no list"),
    }
    Ok(())
}

/// The hash of a string.
pub fn hash_str(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// `hash(a)`
pub fn hash(a: &Ref) -> Result<u64> {
    rt().step()?;
    if let Some(number) = Number::of(a) {
        return Ok(number.hash());
    }
    Ok(match a.kind() {
        Kind::Str => hash_str(a.as_str().unwrap_or_default()),
        Kind::Tuple => {
            let mut hasher = DefaultHasher::new();
            for item in a.as_tuple().unwrap_or_default() {
                hash(item)?.hash(&mut hasher);
            }
            hasher.finish()
        }
        Kind::List | Kind::Dict | Kind::Set => {
            return raise(error::TYPE, format!("unhashable type: '{}'", name(a)));
        }
        Kind::Instance => match class::special(a, "__hash__", &[]) {
            Some(result) => match index_of(&result?) {
                Some(hash) => hash as u64,
                None => return raise(error::TYPE, "__hash__ method should return an integer"),
            },
            None if a.class().find("__eq__").is_some() => {
                return raise(error::TYPE, format!("unhashable type: '{}'", name(a)));
            }
            None => a.as_ptr() as u64,
        },
        _ => a.as_ptr() as u64,
    })
}

/// `repr(a)`
pub fn repr(a: &Ref) -> Result<String> {
    rt().step()?;
    if let Some(number) = Number::of(a) {
        return Ok(match a.get::<Bool>() {
            Some(truth) => if truth.value != 0 { "True" } else { "False" }.to_owned(),
            None => number.to_string(),
        });
    }
    let join = |items: Vec<Ref>| -> Result<String> {
        let texts = items.iter().map(repr).collect::<Result<Vec<_>>>()?;
        Ok(texts.join(", "))
    };
    rt().thread.nested(|| {
        Ok(match a.kind() {
            Kind::Str => repr_str(a.as_str().unwrap_or_default()),
            Kind::List => format!(
                "[{}]",
                join(a.get::<List>().map_or(Vec::new(), List::to_vec))?
            ),
            Kind::Tuple => match a.as_tuple().unwrap_or_default() {
                [only] => format!("({},)", repr(only)?),
                items => format!("({})", join(items.to_vec())?),
            },
            Kind::Dict => {
                let mut parts = Vec::new();
                for (key, value) in a.get::<Dict>().map_or(Vec::new(), Dict::items) {
                    parts.push(format!("{}: {}", repr(&key)?, repr(&value)?));
                }
                format!("{{{}}}", parts.join(", "))
            }
            Kind::Set => match iter::collect(a)? {
                items if items.is_empty() => "set()".to_owned(),
                items => format!("{{{}}}", join(items)?),
            },
            Kind::Range => a.get::<Range>().map_or(String::new(), |r| match r.step {
                1 => format!("range({}, {})", r.start, r.stop),
                step => format!("range({}, {}, {step})", r.start, r.stop),
            }),
            Kind::Plain if a.is(&rt().none) => "None".to_owned(),
            Kind::Plain if a.is(&rt().not_implemented) => "NotImplemented".to_owned(),
            Kind::Class => format!("<class '{}'>", a.get::<Class>().map_or("?", |c| &*c.name)),
            Kind::Function => {
                let function = a
                    .get::<Function>()
                    .map(|f| call::code_of(f).code.name.clone());
                format!("<function {}>", function.unwrap_or_default())
            }
            Kind::Native => format!(
                "<built-in function {}>",
                a.get::<Native>().map_or("?", |n| n.name)
            ),
            Kind::Method => format!(
                "<bound method {}>",
                match a.get::<Method>() {
                    Some(method) => repr(&method.function)?,
                    None => String::new(),
                }
            ),
            Kind::Instance => match class::special(a, "__repr__", &[]) {
                Some(result) => text_of(&result?, "__repr__")?,
                None if error::is_a(a, "BaseException") => {
                    let args = error::arguments(a);
                    format!("{}({})", name(a), join(args)?)
                }
                None => format!("<{} object>", name(a)),
            },
            _ => format!("<{} object>", name(a)),
        })
    })
}

fn text_of(result: &Ref, method: &str) -> Result<String> {
    match result.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => raise(
            error::TYPE,
            format!("{method} returned non-string (type {})", name(result)),
        ),
    }
}

fn repr_str(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::from(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push_str(&format!("\\x{:02x}", c as u32)),
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// `str(a)`
pub fn str(a: &Ref) -> Result<String> {
    if let Some(text) = a.as_str() {
        return Ok(text.to_owned());
    }
    if let Some(result) = class::special(a, "__str__", &[]) {
        return text_of(&result?, "__str__");
    }
    if a.get::<Instance>().is_some()
        && error::is_a(a, "BaseException")
        && a.class().find("__repr__").is_none()
    {
        return match &error::arguments(a)[..] {
            [] => Ok(String::new()),
            [only] if &*a.class().name == error::KEY => repr(only),
            [only] => str(only),
            args => repr(&alloc::tuple(args.to_vec())),
        };
    }
    repr(a)
}

/// `format(a, spec)`: with an empty spec, or digits after the point.
pub fn format(a: &Ref, spec: &str) -> Result<String> {
    if spec.is_empty() {
        return str(a);
    }
    let digits = spec
        .strip_prefix('.')
        .and_then(|rest| rest.strip_suffix('f'))
        .and_then(|digits| digits.parse::<usize>().ok());
    match (digits, Number::of(a).and_then(|n| n.to_f64())) {
        (Some(digits), Some(value)) if digits < 100 => Ok(format!("{value:.digits$}")),
        _ => raise(error::VALUE, format!("format specifier '{spec}'")),
    }
}

/// The value of an exact int object.
pub fn as_i64(a: &Ref) -> Option<i64> {
    a.get::<Int>().and_then(Int::to_i64)
}

/// The value of a float object.
pub fn as_f64(a: &Ref) -> Option<f64> {
    a.get::<Float>().map(|f| f.value)
}
