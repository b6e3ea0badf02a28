//! The faults that checked memory finds, each with an error that names the object.

use crate::ll::{CheckedMemory, Memory, Shape, Types, Width};

fn point(memory: &mut CheckedMemory) -> u64 {
    let mut types = Types::new();
    let bytes = types.array(Types::CHAR).unwrap();
    let s = types
        .gc_struct(
            "s",
            &[
                ("c", Types::CHAR),
                ("x", Types::SIGNED),
                ("f", Types::FLOAT),
                ("text", bytes),
            ],
        )
        .unwrap();
    memory.allocate("s", &types.shape(s), 3).unwrap()
}

#[test]
fn every_wrong_access_is_named() {
    let mut memory = CheckedMemory::new();
    let p = point(&mut memory);
    let mut says = |width, address: u64| memory.load(width, address).unwrap_err().to_string();
    assert_eq!(says(Width::I64, 16), "i64 at null+16");
    assert_eq!(says(Width::U8, 0u64.wrapping_sub(1)), "u8 at null-1");
    assert_eq!(
        says(Width::Ptr, 0x7777_0000_0000),
        "ptr at 0x777700000000, where no object is"
    );
    assert_eq!(
        says(Width::I64, p.wrapping_sub(8)),
        "i64 at -8 of s #0, which has 35 bytes"
    );
    assert_eq!(
        says(Width::U8, p + 35),
        "u8 at +35 of s #0, which has 35 bytes"
    );
    assert_eq!(says(Width::I64, p + 16), "i64 at +16 of s #0, where `f` is");
    assert_eq!(says(Width::U32, p + 8), "u32 at +8 of s #0, where `x` is");
    assert_eq!(
        says(Width::I64, p + 4),
        "i64 at +4 of s #0, where nothing is"
    );
    assert_eq!(
        says(Width::U8, p + 34),
        "`text[2]` of s #0 is read before it is written"
    );
    memory.store(Width::U8, p + 34, 0x1ff).unwrap();
    assert_eq!(memory.load(Width::U8, p + 34), Ok(0xff));
}

#[test]
fn an_object_is_dead_once_and_for_all() {
    let mut memory = CheckedMemory::new();
    let p = point(&mut memory);
    memory.store(Width::I64, p + 8, 5).unwrap();
    memory.release(p).unwrap();
    let q = point(&mut memory);
    assert_ne!(p, q);
    assert_eq!(memory.alive(), ["s #1"]);
    let error = memory.load(Width::I64, p + 8).unwrap_err();
    assert_eq!(error.to_string(), "use of `x` of s #0 after that was freed");
    let error = memory.store(Width::U8, p, 1).unwrap_err();
    assert_eq!(error.to_string(), "use of s #0 after it was freed");
    assert_eq!(
        memory.release(p).unwrap_err().to_string(),
        "s #0 is freed twice"
    );
    assert_eq!(
        memory.release(q + 8).unwrap_err().to_string(),
        format!("{:#x} is freed, where no object begins", q + 8)
    );
    assert_eq!(memory.name_of(q + 9), Some("s #1"));
}

#[test]
fn untyped_memory_has_the_value_stored_last() {
    let mut memory = CheckedMemory::new();
    let room = memory.allocate("room", &Shape::untyped(16), 0).unwrap();
    memory
        .store(Width::F64, room + 4, 1.5f64.to_bits())
        .unwrap();
    assert_eq!(memory.load(Width::F64, room + 4), Ok(1.5f64.to_bits()));
    let error = memory.load(Width::I64, room + 4).unwrap_err();
    assert_eq!(
        error.to_string(),
        "i64 at +4 of room #0, where a value of another type is"
    );
    assert!(memory.load(Width::U8, room).is_err());
    memory.store(Width::I32, room + 4, 0xffff_fffe).unwrap();
    assert_eq!(
        memory.load(Width::I32, room + 4),
        Ok((-2i64).cast_unsigned())
    );
    assert_eq!(memory.load(Width::U16, room + 6), Ok(0xffff));
}
