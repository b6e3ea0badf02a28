//! Tests that the text of each stage reads back as the same, and that a unit compiled again from
//! its input has the same stages: for the units of the file tests' programs and of random ones.

use cladonia::bytecode::{Code, ConstValue, Document};
use cladonia::engine::Unit;
use cladonia::exits::ExitRecord;
use cladonia::hir;
use cladonia::host::{Host, print_host};
use cladonia::lir;
use cladonia::types::Names;
use cladonia_reference::generate::{bytes, generate};
use cladonia_reference::runtime::{Options, Session};
use cladonia_reference::stages::{Query, show};
use cladonia_reference::text::parse_call;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// The texts that were read back, and those that failed.
#[derive(Default)]
struct Seen {
    hir: usize,
    lir: usize,
    exits: usize,
    again: usize,
    faults: Vec<String>,
    /// Documents of single units, with the texts of their stages.
    units: Vec<(String, Vec<(&'static str, String)>)>,
}

/// One unit of this number is compiled again.
const ONE_IN: usize = 8;

impl Seen {
    fn unit(&mut self, unit: &Unit, host: &Host) {
        if !self.lir.is_multiple_of(ONE_IN) {
            return;
        }
        let replay = unit.replay.as_ref().expect("text was asked for");
        let document = format!("{}{replay}", print_host(host));
        self.units.push((document, unit.dumps.clone()));
    }

    /// Compiles the units again, after their runtimes are gone.
    fn replay(&mut self) {
        for (document, dumps) in std::mem::take(&mut self.units) {
            for (stage, text) in dumps {
                let query = Query {
                    stage: stage.to_owned(),
                    ..Query::default()
                };
                match show(&document, &query) {
                    Ok(again) if again == text => self.again += 1,
                    Ok(again) => {
                        let diff = cladonia_reference::diff::diff(&text, &again, 1);
                        self.faults
                            .push(format!("{stage} again:\n{diff}\n{document}"));
                    }
                    Err(error) => self
                        .faults
                        .push(format!("{stage} again: {error}\n{document}")),
                }
            }
        }
    }

    fn hir(&mut self, stage: &str, text: &str, code: &Arc<Code>, unit: &Unit, host: &Host) {
        self.hir += 1;
        match hir::parse(text, code, &unit.inlined, host.id(), &Names::of(host.id())) {
            Err(error) => self.faults.push(format!("{stage}: {error}\n{text}")),
            Ok(f) => {
                let again = f.to_string();
                if again != text {
                    let diff = cladonia_reference::diff::diff(text, &again, 1);
                    self.faults
                        .push(format!("{stage} of {}:\n{diff}", code.name));
                }
                if let Err(errors) = hir::verify(&f) {
                    self.faults.push(format!("{stage}: {errors}\n{text}"));
                }
            }
        }
    }

    /// LIR with its exit records.
    fn lir(&mut self, text: &str, host: &Host) {
        let end = text.find("\n}\n").map_or(text.len(), |at| at + 3);
        let (function, exits) = text.split_at(end);
        self.lir += 1;
        match lir::parse(function, host.helpers()) {
            Err(error) => self.faults.push(format!("lir: {error}\n{function}")),
            Ok(func) => {
                if lir::print(&func, host.helpers()) != function {
                    self.faults.push(format!("lir differs:\n{function}"));
                }
            }
        }
        for (number, line) in exits.lines().enumerate() {
            self.exits += 1;
            let record = line
                .strip_prefix(&format!("exit{number}: "))
                .unwrap_or(line);
            match ExitRecord::parse(record) {
                Ok(read) if read.to_string() == record => {}
                Ok(read) => self.faults.push(format!("`{line}` reads as `{read}`")),
                Err(error) => self.faults.push(format!("`{line}`: {error}")),
            }
        }
    }
}

/// Runs the calls, and reads back all texts of each unit.
fn read_back(
    document: &Document,
    calls: &[(String, Vec<ConstValue>)],
    chaos: bool,
    seen: &Rc<RefCell<Seen>>,
) {
    let options = Options {
        call_threshold: 1,
        loop_threshold: 2,
        keep_text: true,
        chaos,
        max_units: 24,
        max_steps: 200_000,
        ..Options::default()
    };
    let session = Session::new(options).expect("a session");
    let codes: HashMap<String, Arc<Code>> = document
        .codes
        .iter()
        .map(|code| (code.name.clone(), Arc::new(code.clone())))
        .collect();
    let (host, seen) = (session.host().clone(), seen.clone());
    session.on_compile(Box::new(move |name, _, unit| {
        let code = &codes[name];
        let mut seen = seen.borrow_mut();
        for (stage, text) in unit.dumps.iter().chain(&unit.passes) {
            match *stage {
                "lir" => seen.lir(text, &host),
                "clif" | "asm" => {}
                stage => seen.hir(stage, text, code, unit, &host),
            }
        }
        seen.unit(unit, &host);
    }));
    let Ok(program) = session.load_codes(&document.codes) else {
        return;
    };
    for (name, args) in calls {
        for _ in 0..4 {
            let _ = program.call(name, args);
        }
    }
}

fn on_big_stack(run: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(run);
    if let Err(panic) = thread.expect("a thread").join() {
        std::panic::resume_unwind(panic);
    }
}

fn report(seen: &Rc<RefCell<Seen>>, least: usize) {
    seen.borrow_mut().replay();
    let seen = seen.borrow();
    let shown: Vec<&str> = seen.faults.iter().take(5).map(String::as_str).collect();
    assert!(
        seen.faults.is_empty(),
        "{} faults\n{}",
        seen.faults.len(),
        shown.join("\n")
    );
    assert!(
        seen.hir >= least
            && seen.lir >= least / 10
            && seen.exits >= least
            && seen.again >= least / 20,
        "only {} functions in HIR, {} in LIR, {} exits, {} stages again",
        seen.hir,
        seen.lir,
        seen.exits,
        seen.again
    );
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files)
        } else {
            files.extend(path.extension().is_some_and(|e| e == "tbc").then_some(path))
        }
    }
}

#[test]
fn every_stage_of_the_file_tests_reads_back() {
    on_big_stack(|| {
        let mut files = Vec::new();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../jit-tests/files");
        collect(&folder, &mut files);
        files.sort();
        let seen = Rc::new(RefCell::default());
        for file in files {
            let text = std::fs::read_to_string(file).expect("a file");
            let Ok(document) = Document::parse(&text) else {
                continue;
            };
            let calls = text
                .lines()
                .filter_map(|line| parse_call(line.strip_prefix(";> ")?));
            read_back(&document, &calls.collect::<Vec<_>>(), false, &seen);
        }
        report(&seen, 1000);
    });
}

#[test]
fn every_stage_of_random_programs_reads_back() {
    on_big_stack(|| {
        let seen = Rc::new(RefCell::default());
        for seed in 1..=15 {
            let (text, calls) = generate(&bytes(seed, 400));
            let document = Document::parse(&text).expect("a program");
            let calls = calls.iter().filter_map(|call| parse_call(call));
            read_back(&document, &calls.collect::<Vec<_>>(), seed % 2 == 0, &seen);
        }
        report(&seen, 1000);
    });
}

/// The blocks of a page that are marked with a word.
fn blocks<'a>(page: &'a str, mark: &str) -> Vec<&'a str> {
    let open = format!("\n```{mark}\n");
    let begun = page.split(open.as_str()).skip(1);
    begun
        .map(|rest| rest.split("\n```").next().unwrap_or_default())
        .collect()
}

#[test]
fn the_examples_of_the_page_are_read() {
    let page = include_str!("../../../docs/text-forms.md");
    let documents = blocks(page, "tbc");
    assert_eq!(documents.len(), 3);
    for text in documents {
        let document = Document::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        for code in &document.codes {
            assert_eq!(code.verify(), Ok(()), "{text}");
        }
        assert!(cladonia::host::world_of(&document).is_ok(), "{text}");
        for section in document.sections.iter().filter(|s| s.keyword == "function") {
            let f =
                hir::parse_section(&document, section).unwrap_or_else(|e| panic!("{e}\n{text}"));
            hir::verify(&f).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(f.to_string(), section.text);
        }
    }
    let helpers = Default::default();
    for text in blocks(page, "lir") {
        let func = lir::parse(text, &helpers).unwrap_or_else(|e| panic!("{e}\n{text}"));
        lir::verify(&func, lir::Mode::Unit, &helpers).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(lir::print(&func, &helpers).trim_end(), text);
    }
    for line in blocks(page, "exits").iter().flat_map(|text| text.lines()) {
        let record = ExitRecord::parse(line).unwrap_or_else(|e| panic!("{e}\n{line}"));
        assert_eq!(record.to_string(), line);
    }
}

#[test]
fn the_page_has_every_name_of_the_tables() {
    let page = include_str!("../../../docs/text-forms.md");
    let words: std::collections::HashSet<&str> = page
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .collect();
    let reasons = cladonia::bytecode::Reason::ALL
        .iter()
        .map(|reason| reason.name());
    let builtins = cladonia::host::Builtin::ALL
        .iter()
        .map(|builtin| builtin.name());
    let types = cladonia::ll::Ty::ALL.iter().map(|ty| ty.name());
    let widths = cladonia::ll::Width::ALL.iter().map(|width| width.name());
    let names = hir::Op::NAMES.iter().copied();
    for name in names
        .chain(reasons)
        .chain(builtins)
        .chain(types)
        .chain(widths)
    {
        assert!(words.contains(name), "`{name}` is not on the page");
    }
}
