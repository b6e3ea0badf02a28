//! What is peculiar to a version of CPython stays below `hosts/cpython/src/abi/`.
//!
//! The other files of the host are read, tests included, for what a version would be known by: the name of its module, its number in a
//! text, opcodes, offsets and masks written as numbers, and fields that only the version's module knows how to read. Comments may say what
//! they like. A number that is none of this, but looks like it, is listed in [`OWN`] with its reason.

mod tokens;

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::Path;
use tokens::{is_text, sources, tokens_and_texts};

/// Numbers that are ours or are public interface: file, name of the constant or the number itself, reason.
const OWN: &[(&str, &str, &str)] = &[
    (
        "runtime/capi.rs",
        "DESTROY",
        "an event of `PyFunction_WatchEvent`, which is public",
    ),
    ("runtime/capi.rs", "MODIFY_CODE", "the same"),
    ("runtime/capi.rs", "MODIFY_DEFAULTS", "the same"),
    ("runtime/capi.rs", "MODIFY_KWDEFAULTS", "the same"),
    (
        "runtime/capi.rs",
        "ADDED",
        "an event of `PyDict_WatchEvent`, which is public",
    ),
    ("runtime/capi.rs", "MODIFIED", "the same"),
    ("runtime/capi.rs", "DELETED", "the same"),
    (
        "runtime/capi.rs",
        "CODE_DESTROY",
        "an event of `PyCodeEvent`, which is public",
    ),
    (
        "runtime/capi.rs",
        "CO_OPTIMIZED",
        "a flag of code, which is public",
    ),
    ("runtime/capi.rs", "CO_VARARGS", "the same"),
    ("runtime/capi.rs", "CO_VARKEYWORDS", "the same"),
    (
        "runtime/capi.rs",
        "0x0100",
        "a flag of `Py_CompileStringObject`, which is public",
    ),
    ("runtime/capi.rs", "0x0800", "the same"),
    ("runtime/frames.rs", "0xC1AD", "a mark of ours"),
    ("runtime/frames.rs", "0xC1AE", "a mark of ours"),
    ("runtime/frames.rs", "UNROLLED", "a limit of ours"),
    (
        "runtime/healing.rs",
        "0x9E37_79B9_7F4A_7C15",
        "a random generator's",
    ),
    (
        "runtime/healing.rs",
        "0xBF58_476D_1CE4_E5B9",
        "a random generator's",
    ),
    (
        "runtime/healing.rs",
        "0x94D0_49BB_1331_11EB",
        "a random generator's",
    ),
    (
        "helpers/unpack.rs",
        "0xff",
        "how the core packs two numbers of items",
    ),
    ("objects/tests.rs", "0x1000", "a token of a test's"),
    ("namespace.rs", "SHAPE", "a field of our own struct"),
    ("namespace.rs", "INDEX", "the same"),
    ("namespace.rs", "OFFSET", "the same"),
];

/// Functions and methods that take an offset: name, and which argument it is. `b` of the methods is not counted.
const ACCESSES: &[(&str, usize)] = &[
    ("get", 1),
    ("put", 1),
    ("field", 1),
    ("set_field", 1),
    ("read", 1),
    ("write", 1),
    ("load", 2),
    ("store", 2),
    ("add_at", 2),
    ("byte_offset", 0),
];

/// Fields that other files name at most where they pass them to an intrinsic's load or store; how they are to be read is the version's.
const KNOWN_BY_THE_VERSION: &[&str] = &[
    "REFCNT",
    "STACKTOP",
    "STACKPOINTER",
    "RETURN_OFFSET",
    "C_RECURSION_REMAINING",
    "FLOAT_NUMFREE",
    "FLOAT_ITEMS",
    "FUNC_VERSION_CACHE",
    "MONITORS",
    "MONITORING",
    "OWNED_BY_CSTACK",
    "OWNED_BY_INTERPRETER",
];

#[test]
fn a_version_is_known_in_its_module_only() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts/cpython/src");
    let opcodes = opcodes(&host.join("abi"));
    let mut faults = Vec::new();
    let mut files = 0;
    for path in sources(&host) {
        let name = path.strip_prefix(&host).unwrap();
        if name.starts_with("abi") {
            continue;
        }
        files += 1;
        let text = fs::read_to_string(&path).unwrap();
        faults.extend(check(&name.to_string_lossy(), &text, &opcodes));
    }
    assert!(files > 80, "only {files} files were found");
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn the_core_knows_no_version() {
    let core = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut faults = Vec::new();
    for path in sources(&core) {
        let text = fs::read_to_string(&path).unwrap();
        for (line, token) in tokens_and_texts(&text) {
            if is_version(token) {
                faults.push(format!("{}:{line}: {token}", path.display()));
            }
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_exception_is_needed() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("hosts/cpython/src");
    for (file, what, _) in OWN {
        let text = fs::read_to_string(host.join(file)).unwrap();
        let found = tokens_and_texts(&text)
            .iter()
            .any(|(_, token)| token == what);
        assert!(found, "{file} has no `{what}` any more");
    }
}

fn faults(text: &str) -> Vec<String> {
    let opcodes = ["RESUME", "LOAD_FAST"].map(str::to_owned).into();
    check("runtime/frames.rs", text, &opcodes)
}

#[test]
fn planted_numbers_of_a_version_are_found() {
    for wrong in [
        "use crate::abi::v3_13::layouts;",
        "use abi::v3_14;",
        "fn f() -> &'static str { \"needs CPython 3.13\" }",
        "const C: &CStr = c\"3.14\";",
        "use abi::opcodes;",
        "if opcode == RESUME {}",
        "if opcode == oc::LOAD_FAST {}",
        "let f: u64 = get(ts, 72);",
        "let f = get::<*mut u8>(ts, 72);",
        "put(frame, f::OWNER + 1, 7);",
        "put(frame, 64 + 8 * slot, 7);",
        "set_field::<u64>(thread, 24, 0);",
        "let x: u64 = field(thread, -24);",
        "b.load(Width::Ptr, ts, 72)",
        "b.store(Width::I64, ts, t::SPARE + 8, word)",
        "b.add_at(Width::I64, ts, 44, 1)",
        "p.byte_offset(200)",
        "const STACK_WORD: i32 = 272;",
        "pub const FRAME_OBJECT_FRAME: i32 = 24;",
        "const WHAT_EVENT: i32 = t::TRACING + 4;",
        "if breaker & 0xff == 0 {}",
        "let quiet = word & !0xFF;",
        "let count: i32 = field(object, object::REFCNT);",
        "let top = b.load(Width::I32, frame, f::STACKTOP);",
        "let word: u64 = get(ts, t::EVAL_BREAKER);",
        "let word: u64 = field(thread, abi::thread::EVAL_BREAKER);",
        "m!(get(ts, 72));",
    ] {
        assert_eq!(faults(wrong).len(), 1, "{wrong}: {:?}", faults(wrong));
    }
    assert_eq!(
        faults("\n\nlet x: u64 = get(ts, 72);"),
        ["hosts/cpython/src/runtime/frames.rs:3: an offset is written as a number: `72`"]
    );
}

#[test]
fn fields_by_name_and_words_of_an_array_are_no_faults() {
    for right in [
        "// 3.13 has RESUME at 149, and get(ts, 72) is current_frame.",
        "let f: u64 = get(ts, t::CURRENT_FRAME);",
        "put(frame, f::LOCALSPLUS + 8 * slot, value);",
        "put(frame, base + 8 * (slot - 1), value);",
        "let first: u64 = get(words, 0);",
        "let next: u64 = get(words, 8 * n as i32);",
        "b.load(Width::Ptr, place, 0)",
        "b.load(Width::I64, ts, t::EVAL_BREAKER)",
        "state.loops.get(2)",
        "let x = map.get(&72);",
        "cell.get()",
        "let place = table.get_mut(7);",
        "const NATIVE: u16 = 0xC1AD;",
        "const MOST: usize = 64;",
        "set.add(names::LOAD_FAST, &[], &[], Effects::READS, f);",
        "let x = \"a text with 3 and 13, and 13.3, and 3.14159\";",
    ] {
        assert_eq!(faults(right), [] as [&str; 0], "{right}");
    }
}

/// The names of opcodes in the modules of the versions.
fn opcodes(abi: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in sources(abi) {
        if !path.ends_with("opcodes.rs") {
            continue;
        }
        for line in fs::read_to_string(&path).unwrap().lines() {
            if let Some((name, number)) = line.trim().split_once(" = ")
                && number.starts_with(|c: char| c.is_ascii_digit())
                && name
                    .chars()
                    .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
            {
                found.insert(name.to_owned());
            }
        }
    }
    assert!(found.len() > 200, "only {} opcodes", found.len());
    found
}

/// Whether a token names a version: `v3_13` as a word, or 3.13 in a text.
fn is_version(token: &str) -> bool {
    let is_number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if !is_text(token) {
        return token.strip_prefix("v3_").is_some_and(is_number);
    }
    token.match_indices("3.").any(|(at, _)| {
        let before = token[..at].chars().next_back();
        let alone = before.is_none_or(|c| !c.is_ascii_digit() && c != '.');
        // Two digits: 3.5 may be any number.
        let minor = &token[at + 2..];
        let digits = minor.chars().take_while(char::is_ascii_digit).count();
        alone && digits == 2
    })
}

/// What is wrong with one file of the host.
fn check(file: &str, text: &str, opcodes: &BTreeSet<String>) -> Vec<String> {
    let tokens = tokens_and_texts(text);
    let word = |i: usize| tokens.get(i).map_or("", |token| token.1);
    let before = |i: usize, n: usize| i.checked_sub(n).map_or("", |i| tokens[i].1);
    let own = |what: &str| OWN.iter().any(|row| row.0 == file && row.1 == what);
    // The last word of the offset of each load of LIR.
    let loaded: BTreeSet<usize> = (0..tokens.len())
        .filter(|&i| word(i) == "load" && before(i, 1) == ".")
        .filter_map(|i| argument(&tokens, i + 1, 2).map(|offset| offset.end - 1))
        .collect();
    let mut found = Vec::new();
    for (i, &(line, token)) in tokens.iter().enumerate() {
        let mut fault = |what: &str, token: &str| {
            found.push(format!(
                "hosts/cpython/src/{file}:{line}: {what}: `{token}`"
            ));
        };
        if is_version(token) {
            fault("a version is named", token);
        }
        if token == "opcodes" && before(i, 1) == "::" {
            fault("opcodes are the version's", token);
        }
        let is_qualified = before(i, 1) == "::" && !matches!(before(i, 2), "oc" | "opcodes");
        if opcodes.contains(token) && !is_qualified {
            fault("an opcode is named", token);
        }
        if token.starts_with("0x") && !own(token) {
            fault("a mask or an address is written as a number", token);
        }
        if KNOWN_BY_THE_VERSION.contains(&token) {
            fault("only the version knows how to read this", token);
        }
        if token == "EVAL_BREAKER" && !loaded.contains(&i) {
            fault("only the version knows how to read this", token);
        }
        // `const NAME: i32 = ...;` is an offset or a value beside one, unless it is made of other constants alone.
        if token == "const" && word(i + 2) == ":" && word(i + 3) == "i32" && word(i + 4) == "=" {
            let end = (i..tokens.len()).find(|&k| word(k) == ";");
            let value = &tokens[i + 5..end.unwrap_or(tokens.len())];
            if let Some(number) = literal(value)
                && !own(word(i + 1))
            {
                fault("an offset is written as a number", number);
            }
        }
        let is_method = before(i, 1) == ".";
        let access = ACCESSES.iter().find(|(name, _)| {
            *name == token
                && is_method == matches!(*name, "load" | "store" | "add_at" | "byte_offset")
        });
        if let Some((_, place)) = access
            && let Some(argument) = argument(&tokens, i + 1, *place)
            && let Some(number) = literal(&tokens[argument])
        {
            fault("an offset is written as a number", number);
        }
    }
    found
}

/// An argument of the call whose function's name stands before token `i`, types included.
fn argument(tokens: &[(usize, &str)], mut i: usize, place: usize) -> Option<Range<usize>> {
    let word = |i: usize| tokens.get(i).map_or("", |token| token.1);
    if word(i) == "::" && word(i + 1) == "<" {
        let mut depth = 0;
        i += 1;
        loop {
            match word(i) {
                "<" => depth += 1,
                ">" => depth -= 1,
                "" => return None,
                _ => {}
            }
            i += 1;
            if depth == 0 {
                break;
            }
        }
    }
    if word(i) != "(" {
        return None;
    }
    let (mut depth, mut n, mut start) = (0, 0, i + 1);
    loop {
        match word(i) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "" => return None,
            _ => {}
        }
        if depth == 0 || depth == 1 && word(i) == "," {
            if n == place {
                return Some(start..i);
            }
            if depth == 0 {
                return None;
            }
            (n, start) = (n + 1, i + 1);
        }
        i += 1;
    }
}

/// A number in an offset that is added to something, or stands alone: not 0, and not the size of what is counted (`8 * slot`). What is
/// in parentheses is a count.
fn literal<'a>(offset: &[(usize, &'a str)]) -> Option<&'a str> {
    let word = |i: usize| offset.get(i).map_or("", |token| token.1);
    let mut depth = 0;
    for (i, &(_, token)) in offset.iter().enumerate() {
        match token {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        let is_number = token.starts_with(|c: char| c.is_ascii_digit());
        let is_factor = word(i + 1) == "*" || i > 0 && matches!(word(i - 1), "*" | "<" | "&");
        if depth == 0 && is_number && token != "0" && !is_factor {
            return Some(token);
        }
    }
    None
}
