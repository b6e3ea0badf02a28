//! Runs work in a child process: a crash of the process is a finding, and does not end the search.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::FromRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Seconds after which a child is killed.
const PATIENCE: u32 = 60;

/// Runs `work` in a child process. Returns the text that it has written. The child has the calling
/// thread only: a lock that another thread has at this moment, such as that of the registry of
/// types, is never released there. So the caller must ensure that no other thread compiles or runs
/// anything.
///
/// # Errors
/// The text written before it died, and the cause.
///
/// # Panics
/// If the system has no processes or pipes left.
pub fn in_child(work: impl FnOnce(&mut dyn Write)) -> Result<String, (String, String)> {
    let mut ends = [0; 2];
    // SAFETY: an array of two.
    assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0, "a pipe");
    // SAFETY: the child has this thread only; it runs no code of another and never returns from
    // here.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "a process");
    // SAFETY: both ends were just opened, and each process closes the one it does not use.
    let (mut read, mut write) = unsafe { (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])) };
    if child == 0 {
        drop(read);
        // SAFETY: an alarm, and the end of the process; the system closes open files.
        unsafe {
            libc::alarm(PATIENCE);
            // The caller reports panics.
            std::panic::set_hook(Box::new(|_| {}));
            let done = catch_unwind(AssertUnwindSafe(|| work(&mut write)));
            libc::_exit(if done.is_ok() { 0 } else { 101 });
        }
    }
    drop(write);
    let mut written = Vec::new();
    let _ = read.read_to_end(&mut written);
    let written = String::from_utf8_lossy(&written).into_owned();
    let mut status = 0;
    // SAFETY: our child, waited for once.
    unsafe { libc::waitpid(child, &mut status, 0) };
    if libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGALRM {
        Err((written, format!("took more than {PATIENCE} s")))
    } else if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        Err((written, format!("was killed by signal {signal}")))
    } else if libc::WEXITSTATUS(status) != 0 {
        Err((written, "panicked".into()))
    } else {
        Ok(written)
    }
}

/// Processor seconds used by all children so far.
pub fn seconds_used() -> u64 {
    // SAFETY: plain numbers, for which all zeros are a valid value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a local variable.
    unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) };
    (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signal_that_kills_a_child_is_reported() {
        let fine = in_child(|out| out.write_all(b"fine").unwrap());
        assert_eq!(fine, Ok("fine".into()));
        let (written, why) = in_child(|out| {
            out.write_all(b"until here").unwrap();
            std::process::abort();
        })
        .unwrap_err();
        assert_eq!(written, "until here");
        assert_eq!(why, format!("was killed by signal {}", libc::SIGABRT));
    }
}
