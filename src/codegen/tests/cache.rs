//! Tests of cached code with other addresses.

use super::*;
use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A store in memory, for several code generators.
#[derive(Default)]
struct Shelf {
    files: Mutex<HashMap<Key, Vec<u8>>>,
    refused: AtomicUsize,
}

struct Access(Arc<Shelf>);

impl Store for Access {
    fn find(&self, key: &Key) -> Option<Vec<u8>> {
        self.0.files.lock().unwrap().get(key).cloned()
    }

    fn keep(&self, key: &Key, bytes: Vec<u8>) {
        self.0.files.lock().unwrap().insert(*key, bytes);
    }

    fn refuse(&self, key: &Key) {
        self.0.refused.fetch_add(1, Ordering::Relaxed);
        self.0.files.lock().unwrap().remove(key);
    }

    fn settle(&self) -> bool {
        false
    }
}

/// A process: a code generator with a cache in front of a shelf.
struct Process {
    jit: Jit,
    cache: Arc<Cache>,
}

impl Process {
    fn new(shelf: &Arc<Shelf>) -> Process {
        let cache = Arc::new(Cache::new(Box::new(Access(shelf.clone()))));
        let mut jit = Jit::new();
        jit.codegen.set_cache(Some(cache.clone()));
        Process { jit, cache }
    }

    fn parse(&self, text: &str) -> lir::Func {
        let text = format!("function test{text}");
        parse(&text, &self.jit.helpers).unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    fn compile_as(&mut self, func: &lir::Func, unit: u64) -> CompiledCode {
        let input = Input {
            exit_hook: self.jit.hook,
            unit,
            ..Input::new(func, &self.jit.helpers)
        };
        let compiled = self.jit.codegen.compile(&self.jit.memory, input);
        compiled.unwrap_or_else(|e| panic!("{e}"))
    }

    fn compile(&mut self, text: &str) -> CompiledCode {
        let func = self.parse(text);
        self.compile_as(&func, 0)
    }
}

/// An address outside 32 bits.
const FAR: u64 = 0x7fff_1234_5678;

/// `word[0] + 3 * word[1] + (1 if both are the same word)`.
fn words(words: [&i64; 2]) -> String {
    let [a, b] = words.map(|word| std::ptr::from_ref(word).expose_provenance());
    format!(
        "() -> i64 {{\nblock0:\n  v0 = pconst {a:#x}\n  v1 = pconst {b:#x}\n  v2 = load.i64 v0\n  v3 = load.i64 v1\n  v4 = iconst 3\n\
         \x20 v5 = imul v3, v4\n  v6 = iadd v2, v5\n  v7 = icmp eq v0, v1\n  v8 = b2i v7\n  v9 = iadd v6, v8\n  return v9\n}}"
    )
}

#[test]
fn cached_code_of_another_process_gets_the_addresses_of_this_one() {
    let shelf = Arc::<Shelf>::default();
    let boxes = [1, 10, 100, 1000].map(Box::new);
    let [a, b, c, d] = boxes.each_ref().map(|word| &**word);
    let mut first = Process::new(&shelf);
    let code = first.compile(&words([a, b]));
    assert!(!code.is_cached());
    assert_eq!(call!(code, fn() -> i64,), 31);
    let mut second = Process::new(&shelf);
    let code = second.compile(&words([c, d]));
    assert!(code.is_cached());
    assert_eq!(call!(code, fn() -> i64,), 3100);
    let counts = second.cache.counts();
    assert_eq!((counts.found, counts.shared, counts.missed), (1, 0, 0));
    // In one process, from memory.
    let code = second.compile(&words([d, a]));
    assert_eq!(call!(code, fn() -> i64,), 1003);
    assert_eq!(second.cache.counts().shared, 1);
}

#[test]
fn equal_addresses_and_different_ones_are_not_one() {
    let shelf = Arc::<Shelf>::default();
    let boxes = [1, 10].map(Box::new);
    let [a, b] = boxes.each_ref().map(|word| &**word);
    let mut process = Process::new(&shelf);
    let code = process.compile(&words([a, b]));
    assert_eq!(call!(code, fn() -> i64,), 31);
    let code = process.compile(&words([a, a]));
    assert!(!code.is_cached());
    assert_eq!(call!(code, fn() -> i64,), 5);
    let code = process.compile(&words([b, b]));
    assert!(code.is_cached());
    assert_eq!(call!(code, fn() -> i64,), 41);
}

#[test]
fn addresses_by_name_make_no_larger_code_than_as_numbers() {
    let boxes = [1, 10].map(Box::new);
    let text = words(boxes.each_ref().map(|word| &**word));
    let shown = Jit::new().compile(&text);
    let kept = Process::new(&Arc::default()).compile(&text);
    assert!(kept.size() <= shown.size());
}

#[test]
fn everything_that_code_depends_on_is_in_its_key() {
    let shelf = Arc::<Shelf>::default();
    let mut process = Process::new(&shelf);
    process
        .jit
        .helper("h", FAR as *const (), &[Ty::I64], &[Ty::I64]);
    process
        .jit
        .helper("g", FAR as *const (), &[Ty::I64], &[Ty::I64]);
    let texts = [
        "(i64) -> i64 {\nblock0(v0: i64):\n  return v0\n}",
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = iconst 3\n  return v1\n}",
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = iconst 4\n  return v1\n}",
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = iconst 4\n  return v0\n}",
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = iconst -4\n  return v1\n}",
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = iadd v0, v0\n  return v1\n}",
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = isub v0, v0\n  return v1\n}",
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = call h(v0)\n  return v1\n}",
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = call g(v0)\n  return v1\n}",
        "(i64) -> ptr {\nblock0(v0: i64):\n  v1 = pconst 0\n  return v1\n}",
        "(i64) -> ptr {\nblock0(v0: i64):\n  v1 = pconst 0x1000\n  return v1\n}",
        "(i64) -> ptr {\nblock0(v0: i64):\n  v1 = pconst 0x2000\n  return v1\n}",
        "(i64) -> ptr {\nblock0(v0: i64):\n  v1 = pconst 0x7fff12345678\n  return v1\n}",
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = pconst 0x7fff12345678\n  v2 = p2i v1\n  return v2\n}",
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = iconst 140733498676856\n  return v1\n}",
        "(i64) -> f64 {\nblock0(v0: i64):\n  v1 = fconst 1.5\n  return v1\n}",
        "(i64) -> f64 {\nblock0(v0: i64):\n  v1 = fconst 2.5\n  return v1\n}",
        "(ptr) -> i64 {\nblock0(v0: ptr):\n  v1 = load.i64 v0\n  return v1\n}",
        "(ptr) -> i64 {\nblock0(v0: ptr):\n  v1 = load.i64 v0+8\n  return v1\n}",
        "(ptr) -> i64 {\nblock0(v0: ptr):\n  v1 = load.u8 v0\n  return v1\n}",
        "(ptr, i64) -> i64 {\nblock0(v0: ptr, v1: i64):\n  v2 = iconst 1\n  return v2\n}",
        "(ptr) -> i64 {\n  slot0 8\nblock0(v0: ptr):\n  v2 = iconst 1\n  return v2\n}",
        "(ptr) -> i64 {\n  slot0 16\nblock0(v0: ptr):\n  v2 = iconst 1\n  return v2\n}",
        "(i64, i64) -> i64 {\nblock0(v0: i64, v1: i64):\n  v2 = icmp slt v0, v1\n  br v2, block1, block2\nblock1:\n  return v0\nblock2:\n  return v1\n}",
        "(i64, i64) -> i64 {\nblock0(v0: i64, v1: i64):\n  v2 = icmp slt v0, v1\n  br v2, block1, block2\nblock1:\n  return v0\nblock2 cold:\n  return v1\n}",
        "(i64, i64) -> i64 {\nblock0(v0: i64, v1: i64):\n  v2 = icmp sle v0, v1\n  br v2, block1, block2\nblock1:\n  return v0\nblock2 cold:\n  return v1\n}",
    ];
    for text in texts {
        assert!(!process.compile(text).is_cached(), "{text}");
    }
    let count = texts.len();
    assert_eq!(shelf.files.lock().unwrap().len(), count);
    for text in texts {
        assert!(process.compile(text).is_cached(), "{text}");
    }
    // The calling convention is part of the key.
    let func = process.parse("(i64) -> i64 {\nblock0(v0: i64):\n  return v0\n}");
    let input = Input {
        keeps_most: true,
        ..Input::new(&func, &process.jit.helpers)
    };
    let code = process.jit.codegen.compile(&process.jit.memory, input);
    assert!(!code.unwrap().is_cached());
}

#[test]
fn the_key_does_not_depend_on_names() {
    let mut process = Process::new(&Arc::default());
    let mut func = process.parse("(i64) -> i64 {\nblock0(v0: i64):\n  return v0\n}");
    process.compile_as(&func, 0);
    func.name = "other".to_owned();
    let code = process.compile_as(&func, 0);
    assert!(code.is_cached());
    let entry = code.entry().addr();
    assert_eq!(process.jit.memory.lookup(entry).unwrap(), "other");
}

extern "C" fn double(n: i64) -> i64 {
    2 * n
}

extern "C" fn triple(n: i64) -> i64 {
    3 * n
}

#[test]
fn cached_code_calls_the_helpers_of_this_process() {
    let shelf = Arc::<Shelf>::default();
    let text =
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = call h(v0)\n  v2 = call h(v1)\n  return v2\n}";
    for (helper, expected) in [(double as *const (), 20), (triple as *const (), 45)] {
        let mut process = Process::new(&shelf);
        process.jit.helper("h", helper, &[Ty::I64], &[Ty::I64]);
        let code = process.compile(text);
        assert_eq!(code.is_cached(), expected == 45);
        assert_eq!(call!(code, fn(i64) -> i64, 5), expected);
    }
}

extern "C" fn hook(unit: u64, exit: i64, buffer: *const i64) -> *const u8 {
    // SAFETY: the exit passes three words.
    let [_, _, value] = unsafe { buffer.cast::<[i64; 3]>().read() };
    std::ptr::without_provenance((unit as i64 + 10 * exit + value) as usize)
}

#[test]
fn an_exit_passes_the_unit_of_this_process() {
    let shelf = Arc::<Shelf>::default();
    let text =
        "(ptr, ptr, i64) -> ptr {\nblock0(v0: ptr, v1: ptr, v2: i64):\n  exit exit2(v0, v1, v2)\n}";
    for unit in [FAR, FAR + 4096, 77] {
        let mut process = Process::new(&shelf);
        let params = [Ty::I64, Ty::I64, Ty::Ptr];
        let id = process
            .jit
            .helper("hook", hook as *const (), &params, &[Ty::Ptr]);
        process.jit.hook = Some(id);
        let func = process.parse(text);
        let code = process.compile_as(&func, unit);
        // An address within 32 bits is a number like any other.
        assert_eq!(code.is_cached(), unit == FAR + 4096);
        assert_eq!(call!(code, fn(u64, u64, i64) -> u64, 0, 0, 3), unit + 23);
    }
}

#[test]
fn damaged_entries_are_compiled_again() {
    let boxes = [1, 2].map(Box::new);
    let text = words(boxes.each_ref().map(|word| &**word));
    let shelf = Arc::<Shelf>::default();
    Process::new(&shelf).compile(&text);
    let (key, sound) = {
        let files = shelf.files.lock().unwrap();
        let (key, bytes) = files.iter().next().unwrap();
        (*key, bytes.clone())
    };
    // Complete bytes of a store are executed; invalid ones are refused.
    for len in [0, 1, 15, 16, 40, sound.len() - 1] {
        shelf
            .files
            .lock()
            .unwrap()
            .insert(key, sound[..len].to_vec());
        let code = Process::new(&shelf).compile(&text);
        assert!(!code.is_cached(), "{len}");
        assert_eq!(call!(code, fn() -> i64,), 7);
    }
    assert_eq!(shelf.refused.load(Ordering::Relaxed), 6);
    let number_of_an_address = 16 + 8;
    for (at, byte) in [
        (0, 3),
        (0, 0),
        (4, 0xff),
        (8, 0xff),
        (12, 9),
        (number_of_an_address, 9),
    ] {
        let mut bytes = sound.clone();
        bytes[at] = byte;
        shelf.files.lock().unwrap().insert(key, bytes);
        let code = Process::new(&shelf).compile(&text);
        assert!(!code.is_cached(), "byte {at}");
        assert_eq!(call!(code, fn() -> i64,), 7);
    }
    assert_eq!(shelf.files.lock().unwrap()[&key], sound);
}

#[test]
fn no_bytes_make_decoding_panic() {
    let mut body = sample();
    let bytes = body.encode().unwrap();
    assert_eq!(Body::decode(&bytes).as_ref(), Some(&body));
    for at in 0..bytes.len() {
        for byte in [0, 1, 0x7f, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] = byte;
            if let Some(body) = Body::decode(&bytes) {
                let _ = body.link(1, &[FAR]);
            }
        }
        assert_eq!(Body::decode(&bytes[..at]), None);
    }
    body.maps.clear();
    assert_eq!(Body::decode(&body.encode().unwrap()), Some(body));
}

/// A body with every part that a body may have.
fn sample() -> Body {
    let mut process = Process::new(&Arc::default());
    process
        .jit
        .helper("h", FAR as *const (), &[Ty::I64], &[Ty::I64]);
    let shelf = Arc::<Shelf>::default();
    process
        .jit
        .codegen
        .set_cache(Some(Arc::new(Cache::new(Box::new(Access(shelf.clone()))))));
    process.compile(
        "(i64) -> i64 {\nblock0(v0: i64):\n  v1 = call h(v0)\n  v2 = pconst 0x7fff12345678\n  v3 = p2i v2\n  v4 = iadd v1, v3\n  return v4\n}",
    );
    let files = shelf.files.lock().unwrap();
    let mut body = Body::decode(files.values().next().unwrap()).unwrap();
    let map = FrameMap {
        size: 32,
        words: vec![8, 16],
    };
    body.maps.push((5, map));
    body
}

#[test]
fn compilations_with_texts_or_faults_are_not_cached() {
    let shelf = Arc::<Shelf>::default();
    let mut process = Process::new(&shelf);
    let func = process.parse("(i64) -> i64 {\nblock0(v0: i64):\n  return v0\n}");
    let helpers = process.jit.helpers.clone();
    for input in [
        Input {
            want_text: true,
            ..Input::new(&func, &helpers)
        },
        Input {
            is_fresh: true,
            ..Input::new(&func, &helpers)
        },
    ] {
        for _ in 0..2 {
            let code = process.jit.codegen.compile(&process.jit.memory, input);
            assert!(!code.unwrap().is_cached());
        }
    }
    process.jit.codegen.plant(true);
    process.compile_as(&func, 0);
    assert_eq!(shelf.files.lock().unwrap().len(), 0);
    assert_eq!(process.cache.counts(), CacheCounts::default());
}

#[test]
fn memory_keeps_the_latest_and_no_more_than_its_share() {
    let shelf = Arc::<Shelf>::default();
    let mut process = Process::new(&shelf);
    let text = |n: i64| {
        let adds = (1..300).map(|i| format!("  v{} = iadd v{i}, v0\n", i + 1));
        let adds: String = adds.collect();
        format!("(i64) -> i64 {{\nblock0(v0: i64):\n  v1 = iconst {n}\n{adds}  return v300\n}}")
    };
    for n in 0..700 {
        process.compile(&text(n));
    }
    let size = process.cache.kept();
    assert!((256 << 10..=512 << 10).contains(&size), "{size}");
    shelf.files.lock().unwrap().clear();
    assert!(process.compile(&text(699)).is_cached());
    assert!(!process.compile(&text(0)).is_cached());
}
