//! Every file test below `jit-tests/files`: see `cladonia_reference::filetest`.

use cladonia_reference::filetest::{Verdict, is_test, run_file};
use std::path::{Path, PathBuf};

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if is_test(&path) {
            files.push(path);
        }
    }
}

#[test]
fn every_file_test_passes() {
    let mut files = Vec::new();
    collect(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../jit-tests/files"),
        &mut files,
    );
    files.sort();
    assert!(files.len() >= 140, "only {} files were found", files.len());
    let bless = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    // Programs recurse deeper than a test's own stack allows.
    let run = move || {
        let mut faults = Vec::new();
        for file in &files {
            match run_file(file, bless) {
                Ok(Verdict::Passed(_) | Verdict::Blessed) => {}
                Err(fault) => faults.push(format!("{}:\n{fault}", file.display())),
            }
        }
        faults
    };
    let faults = std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap();
    assert!(
        faults.is_empty(),
        "{}\nBLESS=1 writes what is found",
        faults.join("\n")
    );
}
