//! The allocator for Rust code: mimalloc, by its fastest functions.
//!
//! The `mimalloc` crate passes an alignment with each allocation, which is a fifth of its cost;
//! here only layouts with an unusual alignment do.

use libmimalloc_sys::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned, mi_zalloc,
    mi_zalloc_aligned,
};
use std::alloc::{GlobalAlloc, Layout};

/// See the head of this file.
pub struct Allocator;

/// True if the alignment of every block suffices: no block is smaller than a word.
fn is_ordinary(layout: Layout) -> bool {
    layout.align() <= size_of::<usize>()
}

// SAFETY: mimalloc returns blocks of at least the size, aligned as `is_ordinary` assumes or as
// requested, and null if there is no memory; its `free` and `realloc` accept the blocks of all its
// functions.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        // SAFETY: any size is valid, and an alignment is a power of two.
        let block = unsafe {
            if is_ordinary(layout) {
                mi_malloc(size)
            } else {
                mi_malloc_aligned(size, align)
            }
        };
        block.cast()
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let (size, align) = (layout.size(), layout.align());
        // SAFETY: as above.
        let block = unsafe {
            if is_ordinary(layout) {
                mi_zalloc(size)
            } else {
                mi_zalloc_aligned(size, align)
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
            if is_ordinary(layout) {
                mi_realloc(block.cast(), size)
            } else {
                mi_realloc_aligned(block.cast(), size, align)
            }
        };
        block.cast()
    }
}

/// True if an address is in a page of blocks.
pub fn owns(address: usize) -> bool {
    unsafe extern "C" {
        fn mi_is_in_heap_region(address: *const std::ffi::c_void) -> bool;
    }
    // SAFETY: any address is valid.
    unsafe { mi_is_in_heap_region(std::ptr::without_provenance(address)) }
}

/// Returns free memory of this thread, and memory that ended threads have left, to the system.
pub fn give_back() {
    unsafe extern "C" {
        fn mi_collect(force: bool);
    }
    // SAFETY: it may be called at any time.
    unsafe { mi_collect(true) };
}
