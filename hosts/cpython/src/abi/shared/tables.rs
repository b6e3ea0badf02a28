//! The encoding of the tables of a code object: the handler that guards an instruction, and the
//! line to which it belongs.

/// An entry of an exception table, in code units.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HandlerEntry {
    /// The first unit that is guarded.
    pub start: u32,
    /// The first one that is not any more.
    pub end: u32,
    /// The first unit of the handler.
    pub target: u32,
    /// The number of entries of the operand stack that remain for it.
    pub depth: u32,
    /// True if the position of the raising instruction is pushed before the exception.
    pub lasti: bool,
}

/// The entries of an exception table, by where they begin; an entry that cannot be read is an
/// error, and the last.
///
/// An entry is four numbers (start, length, target, and twice the depth with a flag), each
/// big-endian with six bits a byte.
pub struct Handlers<'a>(std::slice::Iter<'a, u8>);

/// An exception table that cannot be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the exception table is malformed")]
pub struct MalformedTable;

/// Reads an exception table.
pub fn handlers(table: &[u8]) -> Handlers<'_> {
    Handlers(table.iter())
}

impl Handlers<'_> {
    fn number(&mut self) -> Option<u32> {
        let mut byte = *self.0.next()?;
        let mut value = u32::from(byte & 63);
        while byte & 64 != 0 {
            byte = *self.0.next()?;
            value = value.checked_mul(64)? | u32::from(byte & 63);
        }
        Some(value)
    }

    fn entry(&mut self) -> Option<HandlerEntry> {
        let start = self.number()?;
        let end = start.checked_add(self.number()?)?;
        let (target, depth) = (self.number()?, self.number()?);
        Some(HandlerEntry {
            start,
            end,
            target,
            depth: depth >> 1,
            lasti: depth & 1 != 0,
        })
    }
}

impl Iterator for Handlers<'_> {
    type Item = Result<HandlerEntry, MalformedTable>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.as_slice().is_empty() {
            return None;
        }
        let entry = self.entry().ok_or(MalformedTable);
        if entry.is_err() {
            self.0 = [].iter();
        }
        Some(entry)
    }
}

/// The handler of an exception raised at a code unit. The entries after one that cannot be read are
/// ignored.
pub fn handler_at(table: &[u8], pos: u32) -> Option<HandlerEntry> {
    handlers(table)
        .map_while(Result::ok)
        .take_while(|entry| entry.start <= pos)
        .find(|entry| pos < entry.end)
}

/// The line of each code unit, from a location table; 0 where there is none.
pub fn lines(table: &[u8], first: u32, units: usize) -> Vec<u32> {
    /// Entries without a location, with columns only at the ends of a varint, and so on: see
    /// `Objects/locations.md`.
    const NO_LOCATION: u8 = 15;
    const LONG: u8 = 14;
    const NO_COLUMNS: u8 = 13;
    const ONE_LINE_0: u8 = 10;
    let mut lines = Vec::with_capacity(units);
    let mut line = i64::from(first);
    let mut at = 0;
    while at < table.len() && lines.len() < units {
        let (kind, length) = (table[at] >> 3 & 15, usize::from(table[at] & 7) + 1);
        at += 1;
        match kind {
            LONG | NO_COLUMNS => {
                let (mut value, mut shift) = (0_u64, 0);
                while let Some(byte) = table.get(at + shift / 6) {
                    value |= u64::from(byte & 63) << shift.min(58);
                    shift += 6;
                    if byte & 64 == 0 {
                        break;
                    }
                }
                line += if value & 1 != 0 {
                    -((value >> 1) as i64)
                } else {
                    (value >> 1) as i64
                };
            }
            ONE_LINE_0..=12 => line += i64::from(kind - ONE_LINE_0),
            _ => {}
        }
        let shown = if kind == NO_LOCATION {
            0
        } else {
            u32::try_from(line).unwrap_or(0)
        };
        lines.extend(std::iter::repeat_n(shown, length.min(units - lines.len())));
        // An entry's first byte is the only one with the high bit.
        while table.get(at).is_some_and(|byte| byte & 0x80 == 0) {
            at += 1;
        }
    }
    lines.resize(units, 0);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_location_tables_give_no_line() {
        assert_eq!(lines(&[], 7, 2), [0, 0]);
        assert_eq!(lines(&[0xf9], 7, 3), [0, 0, 0]);
        assert_eq!(
            lines(
                &[
                    0x80 | 13 << 3,
                    0x7f,
                    0x7f,
                    0x7f,
                    0x7f,
                    0x7f,
                    0x7f,
                    0x7f,
                    0x7f,
                    0x7f,
                    0x7f,
                    0x7f
                ],
                7,
                1
            )
            .len(),
            1
        );
    }

    #[test]
    fn the_first_entry_that_holds_a_position_is_its_handler() {
        // 1..3 -> 9 at depth 2, 3..4 -> 70 with the position at depth 1.
        let table = [0x80 | 1, 2, 9, 4, 0x80 | 3, 1, 64 | 1, 6, 3];
        let targets = [0, 1, 2, 3, 4].map(|pos| handler_at(&table, pos).map(|found| found.target));
        assert_eq!(targets, [None, Some(9), Some(9), Some(70), None]);
        let last = handler_at(&table, 3).unwrap();
        assert_eq!((last.depth, last.lasti), (1, true));
        assert_eq!(handler_at(&table[..7], 3), None, "half an entry");
    }
}
