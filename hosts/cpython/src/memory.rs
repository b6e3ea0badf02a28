//! The memory of the JIT in this process: its resident size, and returning memory that is not
//! needed for now.

use crate::allocator;
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::OnceLock;

/// Returns resident memory to the system that is not needed until the next compile: free memory of
/// the allocator, and this library's read-only pages, which stay in the page cache.
///
/// The library has 8 megabytes of machine code, most of it the compiler's. Compiled code calls only
/// the helpers in it; a page that is accessed again is mapped again by a minor page fault.
pub fn give_back() {
    allocator::give_back();
    // A debugger's breakpoints are in this process's copies of the pages, not in the file.
    if is_traced() {
        return;
    }
    for segment in unwritten_segments() {
        let size = segment.end - segment.start;
        // SAFETY: these pages are mapped from the library's file and unmodified: their contents are
        // read from there again.
        unsafe { libc::madvise(segment.start as *mut c_void, size, libc::MADV_DONTNEED) };
    }
}

/// Bytes that are resident now.
#[derive(Clone, Copy, Default, Debug)]
pub struct Resident {
    /// Of this library's code and data.
    pub library: u64,
    /// Memory that it has allocated, or keeps for allocation.
    pub heap: u64,
}

/// The resident sizes, as the system counts them; zero if it does not report them.
pub fn resident() -> Resident {
    let mut resident = Resident::default();
    let Ok(text) = std::fs::read_to_string("/proc/self/smaps") else {
        return resident;
    };
    let own = own_mappings(&text);
    let mut counted = None;
    for line in text.lines() {
        if let Some((place, path)) = mapping(line) {
            counted = match path {
                Some(path) if Some(path) == own => Some(&mut resident.library),
                None if has_blocks(place) => Some(&mut resident.heap),
                _ => None,
            };
        } else if let Some(size) = line.strip_prefix("Rss:")
            && let Some(sum) = &mut counted
        {
            let kilobytes = size.trim().trim_end_matches(" kB").parse::<u64>();
            **sum += kilobytes.unwrap_or(0) * 1024;
        }
    }
    resident
}

/// The file from which this library was loaded.
fn own_mappings(text: &str) -> Option<&str> {
    let own = own_mappings as *const () as usize;
    let mappings = text.lines().filter_map(mapping);
    let mut around = mappings.filter(|(place, _)| place.contains(&own));
    around.next()?.1
}

/// The address range of a mapping, and its file, if this line describes one.
fn mapping(line: &str) -> Option<(Range<usize>, Option<&str>)> {
    let (start, rest) = line.split_once('-')?;
    let (end, _) = rest.split_once(' ')?;
    let [start, end] = [start, end].map(|address| usize::from_str_radix(address, 16));
    let place = start.ok()?..end.ok()?;
    // Addresses, permissions, offset, device, inode.
    let mut path = rest;
    for _ in 0..5 {
        path = path
            .split_once(' ')
            .map_or("", |(_, rest)| rest.trim_start());
    }
    Some((place, (!path.is_empty()).then_some(path)))
}

/// True if the allocator has blocks in a mapping.
fn has_blocks(place: Range<usize>) -> bool {
    /// Minimum size of the allocator's requests to the system.
    const SLICE: usize = 64 << 10;
    place.step_by(SLICE).any(allocator::owns)
}

/// True if a debugger, or another tracer, is attached, or if that is unknown.
fn is_traced() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else {
        return true;
    };
    !status.lines().any(|line| {
        let pid = line.strip_prefix("TracerPid:");
        pid.is_some_and(|pid| pid.trim() == "0")
    })
}

/// The whole pages of this library that are never written to, not even by relocation.
fn unwritten_segments() -> &'static [Range<usize>] {
    static SEGMENTS: OnceLock<Vec<Range<usize>>> = OnceLock::new();
    SEGMENTS.get_or_init(|| {
        let mut segments = Vec::new();
        // SAFETY: the function is called before this returns, with this argument.
        unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut segments).cast()) };
        segments
    })
}

/// Called for each library of the process, until it reaches this one.
unsafe extern "C" fn visit(
    library: *mut libc::dl_phdr_info,
    _: libc::size_t,
    found: *mut c_void,
) -> c_int {
    let page = page_size();
    let own = visit as *const () as usize;
    // SAFETY: the loader's description of a library, with its program headers; `found` is
    // `unwritten_segments`'.
    unsafe {
        let (library, found) = (&*library, &mut *found.cast::<Vec<Range<usize>>>());
        let headers = std::slice::from_raw_parts(library.dlpi_phdr, library.dlpi_phnum.into());
        let place = |header: &libc::Elf64_Phdr| {
            let start = (library.dlpi_addr + header.p_vaddr) as usize;
            start..start + header.p_memsz as usize
        };
        let loaded = || headers.iter().filter(|h| h.p_type == libc::PT_LOAD);
        if !loaded().any(|header| place(header).contains(&own)) {
            return 0;
        }
        let unwritten = loaded().filter(|header| header.p_flags & libc::PF_W == 0);
        found.extend(unwritten.map(|header| {
            let place = place(header);
            place.start.next_multiple_of(page)..place.end / page * page
        }));
        found.retain(|segment| segment.start < segment.end);
        1
    }
}

fn page_size() -> usize {
    // SAFETY: it only reads a value.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minor page faults of reading a byte of each page of the library.
    fn faults() -> i64 {
        let so_far = || {
            // SAFETY: all zeroes is a value of this structure, and the call fills it in.
            unsafe {
                let mut usage: libc::rusage = std::mem::zeroed();
                libc::getrusage(libc::RUSAGE_THREAD, &mut usage);
                usage.ru_minflt
            }
        };
        let before = so_far();
        for segment in unwritten_segments() {
            for page in segment.clone().step_by(page_size()) {
                // SAFETY: the page is mapped, and can be read.
                unsafe { (page as *const u8).read_volatile() };
            }
        }
        so_far() - before
    }

    /// The number of resident pages afterwards proves little: the kernel chooses how many pages a
    /// fault maps, on Linux 6.18 up to 2 MB.
    #[test]
    fn pages_of_the_library_that_are_given_back_are_mapped_again() {
        faults();
        let resident_before = faults();
        give_back();
        let given_back = faults();
        assert!(
            is_traced() || given_back > resident_before,
            "{resident_before} faults before, {given_back} after"
        );
    }
}
