//! The allocator of what Rust code allocates: mimalloc, by its shortest way.
//!
//! The `mimalloc` crate asks for an alignment with each allocation, which is a fifth of what one costs; here only what needs more than
//! every block has does.

use libmimalloc_sys::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned, mi_zalloc,
    mi_zalloc_aligned,
};
use std::alloc::{GlobalAlloc, Layout};

/// See the head of this file.
pub struct Allocator;

/// Whether every block lies as it must: there is none of less than a word.
fn is_ordinary(layout: Layout) -> bool {
    layout.align() <= size_of::<usize>()
}

// SAFETY: mimalloc gives blocks of at least the size, aligned as `is_ordinary` says or as it is asked, and null where there is no memory; its
// `free` and `realloc` take what any of its functions gave.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        // SAFETY: any size will do, and an alignment is a power of two.
        let block = unsafe {
            match is_ordinary(layout) {
                true => mi_malloc(size),
                false => mi_malloc_aligned(size, align),
            }
        };
        block.cast()
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        // SAFETY: as above.
        let block = unsafe {
            match is_ordinary(layout) {
                true => mi_zalloc(size),
                false => mi_zalloc_aligned(size, align),
            }
        };
        block.cast()
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller's promise: one of our blocks.
        unsafe { mi_free(block.cast()) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let align = layout.align();
        // SAFETY: the caller's promise: one of our blocks.
        let block = unsafe {
            match is_ordinary(layout) {
                true => mi_realloc(block.cast(), size),
                false => mi_realloc_aligned(block.cast(), size, align),
            }
        };
        block.cast()
    }
}

/// Whether an address is in a page of blocks.
pub fn owns(address: usize) -> bool {
    unsafe extern "C" {
        fn mi_is_in_heap_region(address: *const std::ffi::c_void) -> bool;
    }
    // SAFETY: any address will do.
    unsafe { mi_is_in_heap_region(std::ptr::without_provenance(address)) }
}

/// Give free memory of this thread, and what threads have left that are gone, back to the system.
pub fn give_back() {
    unsafe extern "C" {
        fn mi_collect(force: bool);
    }
    // SAFETY: it may be called at any time.
    unsafe { mi_collect(true) };
}
