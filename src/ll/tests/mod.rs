//! Tests of low-level types and memories. `types` has the composition rules as a table, `heap` the
//! operations on containers, `memory` the faults that checked memory finds.

mod heap;
mod memory;
mod types;

use super::*;

#[test]
fn overlapping_fields_are_named() {
    let field = |name, offset, width| Field {
        name,
        offset,
        width,
    };
    let (a, b) = (field("a", 0, Width::I64), field("b", 4, Width::U8));
    let error = Struct::new("S", vec![b, a]).unwrap_err();
    assert_eq!(
        error,
        LayoutError::Overlap {
            structure: "S",
            first: "a",
            second: "b"
        }
    );
}
