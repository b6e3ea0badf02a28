//! Each intrinsic as machine code, on objects of a running interpreter.

use super::{attributes as plan, describe};
use crate::abi;
use crate::capi::{Obj, current_thread, field};
use crate::runtime::frames::{MATERIALISED, NATIVE};
use crate::testing::{get, run, with_python};
use cladonia::code::{CodeMemory, Config};
use cladonia::codegen::{Codegen, CompiledCode, Input};
use cladonia::host::{EXIT_HOOK, Host, IntrinsicId, names};
use cladonia::lir::{Builder, Func, IntCond, Opcode, Signature};
use cladonia::ll::{Ty, Width};
use pyo3_ffi::*;

extern "C" fn no_exit(_unit: i64, _exit: i64, _buffer: *mut u8) -> Obj {
    std::process::abort()
}

fn host() -> Host {
    let exit = no_exit as extern "C" fn(i64, i64, *mut u8) -> Obj;
    describe(&[(
        EXIT_HOOK,
        exit as usize,
        &[Ty::I64, Ty::I64, Ty::Ptr],
        &[Ty::Ptr],
    )])
    .expect("a complete host")
}

/// The compiled intrinsics: `(operands, results) -> did it apply?`.
pub(crate) struct Machine {
    pub(crate) host: Host,
    memory: CodeMemory,
    codegen: Codegen,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        Machine {
            host: host(),
            memory: CodeMemory::new(Config::new()).unwrap(),
            codegen: Codegen::new().unwrap(),
        }
    }

    fn compile(&mut self, id: IntrinsicId) -> CompiledCode {
        let intrinsic = &self.host.intrinsics()[id];
        let mut func = Func::new(
            intrinsic.name,
            Signature::new(&[Ty::Ptr, Ty::Ptr], &[Ty::I64]),
        );
        let (operands, results) = (func.params()[0], func.params()[1]);
        let b = &mut Builder::new(&mut func);
        let mut args = Vec::new();
        for (i, &ty) in intrinsic.func.signature.params.iter().enumerate() {
            let at = 8 * i as i32;
            args.push(match ty {
                Ty::Ptr => b.load(Width::Ptr, operands, at),
                Ty::F64 => b.load(Width::F64, operands, at),
                Ty::I64 => b.load(Width::I64, operands, at),
                Ty::Bool => {
                    let word = b.load(Width::I64, operands, at);
                    b.icmp_imm(IntCond::Ne, word, 0)
                }
            });
        }
        let failed = b.cold_block();
        let values = b.inline(&intrinsic.func, &args, Some(failed));
        for (i, (&value, &ty)) in values
            .iter()
            .zip(&intrinsic.func.signature.results)
            .enumerate()
        {
            let (width, value) = match ty {
                Ty::Ptr => (Width::Ptr, value),
                Ty::F64 => (Width::F64, value),
                Ty::I64 => (Width::I64, value),
                Ty::Bool => (Width::I64, b.op(Opcode::B2i, &[value])),
            };
            b.store(width, results, 8 * i as i32, value);
        }
        let one = b.iconst(1);
        b.ret(&[one]);
        b.switch_to(failed);
        let zero = b.iconst(0);
        b.ret(&[zero]);
        self.codegen
            .compile(&self.memory, Input::new(&func, self.host.helpers()))
            .expect(intrinsic.name)
    }

    /// Runs an intrinsic; `None` if it failed.
    fn run(&mut self, name: &str, operands: &[u64]) -> Option<[u64; 2]> {
        self.run_id(self.host.intrinsic(name), operands)
    }

    pub(crate) fn run_id(&mut self, id: IntrinsicId, operands: &[u64]) -> Option<[u64; 2]> {
        let code = self.compile(id);
        let mut results = [0u64; 2];
        // SAFETY: the code was compiled with this signature; the test passes operands of the right
        // types.
        let applied = unsafe {
            let f: extern "C" fn(*const u64, *mut u64) -> i64 = std::mem::transmute(code.entry());
            f(operands.as_ptr(), results.as_mut_ptr())
        };
        (applied != 0).then_some(results)
    }

    fn one(&mut self, name: &str, operands: &[u64]) -> u64 {
        self.run(name, operands)
            .unwrap_or_else(|| panic!("{name} failed"))[0]
    }
}

/// The value of a Python expression, a new reference.
fn eval(source: &str) -> Obj {
    let scope = run(&format!("value = {source}"), &[]);
    // SAFETY: inside the interpreter.
    unsafe {
        let value = Py_NewRef(get(scope, "value"));
        Py_DECREF(scope);
        value
    }
}

fn refs(object: Obj) -> u32 {
    // SAFETY: a live object.
    unsafe { field(object, 0) }
}

/// `__repr__` of an object, which is dropped.
fn shown(object: u64) -> String {
    // SAFETY: a reference to a live object.
    unsafe {
        let object = object as Obj;
        let text = PyObject_Repr(object);
        let shown = std::ffi::CStr::from_ptr(PyUnicode_AsUTF8(text))
            .to_str()
            .unwrap()
            .to_owned();
        Py_DECREF(text);
        Py_DECREF(object);
        shown
    }
}

#[test]
fn the_fast_paths_are_taken_on_this_interpreter() {
    with_python(|| {
        // SAFETY: inside the interpreter.
        unsafe {
            assert!(abi::free_floats::find().is_some());
            assert!(super::small_ints().is_some());
        }
    });
}

#[test]
fn references_are_counted_as_cpython_counts_them() {
    with_python(|| {
        let mut m = Machine::new();
        let list = eval("[]");
        m.run(names::INCREF, &[list as u64]);
        assert_eq!(refs(list), 2);
        m.run(names::DROP, &[list as u64]);
        assert_eq!(refs(list), 1);
        // SAFETY: inside the interpreter.
        let none = unsafe { Py_None() };
        let before = refs(none);
        m.run(names::INCREF, &[none as u64]);
        m.run(names::DROP, &[none as u64]);
        m.run(names::DECREF_LEAF, &[none as u64]);
        assert_eq!(refs(none), before);
        assert_eq!(
            m.one(names::CLASS_OF, &[list as u64]),
            (&raw const PyList_Type) as u64
        );
        let scope = run(
            "log = []\nclass D:\n  def __del__(self): log.append(1)\nd = [D()]",
            &[],
        );
        let d = get(scope, "d");
        // SAFETY: the list has the only reference, which is removed from it.
        unsafe {
            let object = PyList_GetItem(d, 0);
            Py_INCREF(object);
            PySequence_DelItem(d, 0);
            // The last reference: the caller must deallocate the object.
            assert_eq!(m.run(names::DROP, &[object as u64]), None);
            assert_eq!(PyList_Size(get(scope, "log")), 0);
            crate::capi::_Py_Dealloc(object);
            assert_eq!(PyList_Size(get(scope, "log")), 1);
        }
    });
}

#[test]
fn ints_go_to_raw_values_and_back() {
    with_python(|| {
        let mut m = Machine::new();
        for value in [
            0,
            1,
            -1,
            5,
            -5,
            -6,
            256,
            257,
            (1 << 30) - 1,
            1 << 30,
            -(1 << 30),
            (1 << 60) - 1,
            1 - (1 << 60),
        ] {
            let boxed = m.one(names::INT_BOX, &[value as u64]);
            // SAFETY: a live int.
            assert_eq!(unsafe { PyLong_AsLongLong(boxed as Obj) }, value);
            assert_eq!(m.one(names::INT_UNBOX, &[boxed]) as i64, value);
            assert_eq!(shown(boxed), value.to_string());
        }
        for value in [i64::MAX, i64::MIN, 1 << 60, -(1 << 60)] {
            let boxed = m.one(names::INT_BOX, &[value as u64]);
            assert_eq!(m.run(names::INT_UNBOX, &[boxed]), None);
            assert_eq!(shown(boxed), value.to_string());
        }
        for (text, value) in [("True", 1), ("False", 0)] {
            let object = eval(text) as u64;
            assert_eq!(m.one(names::BOOL_UNBOX, &[object]), value);
            assert_eq!(m.one(names::BOOL_BOX, &[value]), object);
        }
    });
}

#[test]
fn ints_with_a_single_reference_are_reused_in_place() {
    with_python(|| {
        let mut m = Machine::new();
        let int = m.one(names::INT_BOX, &[1000]);
        let last = (1i64 << 30) - 1;
        for value in [257, -257, 70000, last, -last, 300] {
            assert_eq!(m.one(names::INT_REUSE, &[int, value as u64]), 1);
            assert_eq!(shown_borrowed(int), value.to_string());
        }
        // Small ints have one object each, and longer ints do not fit.
        for value in [0, 5, -5, 256, -256, last + 1, -last - 1, i64::MAX, i64::MIN] {
            assert_eq!(m.one(names::INT_REUSE, &[int, value as u64]), 0);
            assert_eq!(shown_borrowed(int), "300");
        }
        let long = eval("10 ** 30") as u64;
        assert_eq!(m.one(names::INT_REUSE, &[long, 400]), 1);
        assert_eq!(shown(long), "400");
        let float = m.one(names::FLOAT_BOX, &[1.5f64.to_bits()]);
        assert_eq!(m.one(names::FLOAT_REUSE, &[float, 2.5f64.to_bits()]), 1);
        assert_eq!(shown_borrowed(float), "2.5");
        for (name, object, value) in [
            (names::INT_REUSE, int, 400),
            (names::FLOAT_REUSE, float, 3.5f64.to_bits()),
        ] {
            m.run(names::INCREF, &[object]);
            assert_eq!(m.one(name, &[object, value]), 0);
            m.run(names::DROP, &[object]);
        }
        assert_eq!((shown(int), shown(float)), ("300".into(), "2.5".into()));
    });
}

#[test]
fn freed_ints_are_reused() {
    with_python(|| {
        let mut m = Machine::new();
        // SAFETY: under the lock.
        let free = || unsafe { *super::FREE_INTS.count.get() };
        while free() > 0 {
            shown(m.one(names::INT_BOX, &[777]));
        }
        let first = m.one(names::INT_BOX, &[257]);
        for value in [257i64, -6, 1 << 29, (1 << 30) - 1, -(1 << 30) + 1] {
            m.run(names::DECREF_INT, &[first]);
            assert_eq!(free(), 1);
            let again = m.one(names::INT_BOX, &[value as u64]);
            assert_eq!((again, refs(again as Obj), free()), (first, 1, 0));
            assert_eq!(shown_borrowed(again), value.to_string());
        }
        shown(first);
        // Ints of two digits are kept apart.
        // SAFETY: under the lock.
        let free_long = || unsafe { *super::FREE_INTS.long_count.get() };
        while free_long() > 0 {
            shown(m.one(names::INT_BOX, &[1 << 30]));
        }
        let first = m.one(names::INT_BOX, &[1 << 30]);
        for value in [
            1i64 << 30,
            -(1 << 30),
            (1 << 60) - 1,
            -(1 << 60) + 1,
            3 << 29,
        ] {
            m.run(names::DECREF_INT, &[first]);
            assert_eq!((free(), free_long()), (0, 1));
            let again = m.one(names::INT_BOX, &[value as u64]);
            assert_eq!((again, refs(again as Obj), free_long()), (first, 1, 0));
            assert_eq!(shown_borrowed(again), value.to_string());
        }
        shown(first);
        // More than the list keeps; and ints of two digits and more, and small ones.
        let many: Vec<u64> = (0..2 * super::FreeInts::MOST as u64)
            .map(|i| m.one(names::INT_BOX, &[1000 + i]))
            .collect();
        for (i, &boxed) in many.iter().enumerate() {
            assert_eq!(m.one(names::INT_UNBOX, &[boxed]), 1000 + i as u64);
            m.run(names::DECREF_INT, &[boxed]);
        }
        assert_eq!(free(), super::FreeInts::MOST);
        for value in [
            1i64 << 30,
            -(1 << 40),
            1 << 59,
            i64::MIN,
            i64::MAX,
            0,
            -5,
            256,
        ] {
            let boxed = m.one(names::INT_BOX, &[value as u64]);
            assert_eq!(shown_borrowed(boxed), value.to_string());
            m.run(names::DECREF_INT, &[boxed]);
        }
        run(
            "x = sum([i * 1001 for i in range(1000)])\nassert x == 499999500",
            &[],
        );
    });
}

#[test]
fn floats_come_from_the_free_list_and_go_back() {
    with_python(|| {
        let mut m = Machine::new();
        // SAFETY: inside the interpreter; reads of the free list where the layout says it is.
        let numfree =
            || unsafe { abi::free_floats::count(field(current_thread(), abi::thread::INTERP)) };
        for value in [0.0f64, -0.0, 1.5, f64::NAN, f64::INFINITY] {
            let boxed = m.one(names::FLOAT_BOX, &[value.to_bits()]);
            assert_eq!(refs(boxed as Obj), 1);
            assert_eq!(m.one(names::FLOAT_UNBOX, &[boxed]), value.to_bits());
            let before = numfree();
            m.run(names::DECREF_FLOAT, &[boxed]);
            assert!(numfree() == before + 1 || before == abi::free_floats::MOST);
        }
        // More than the list holds, in both directions.
        let many: Vec<u64> = (0..300)
            .map(|i| m.one(names::FLOAT_BOX, &[f64::from(i).to_bits()]))
            .collect();
        assert_eq!(numfree(), 0);
        for (i, &boxed) in many.iter().enumerate() {
            assert_eq!(m.one(names::FLOAT_UNBOX, &[boxed]), (i as f64).to_bits());
            m.run(names::DECREF_FLOAT, &[boxed]);
        }
        assert_eq!(numfree(), abi::free_floats::MOST);
        run(
            "x = sum([i * 0.5 for i in range(1000)])\nassert x == 249750.0",
            &[],
        );
    });
}

#[test]
fn lists_tuples_and_cells_are_read_and_written() {
    with_python(|| {
        let mut m = Machine::new();
        let (list, tuple) = (eval("[None] * 3"), eval("(7, 8)"));
        let item = eval("99");
        assert_eq!(m.one(names::LIST_LEN, &[list as u64]), 3);
        assert_eq!(m.one(names::TUPLE_LEN, &[tuple as u64]), 2);
        // SAFETY: live containers.
        unsafe {
            assert_eq!(
                m.one(names::LIST_GET, &[list as u64, 1]),
                PyList_GetItem(list, 1) as u64
            );
            assert_eq!(
                m.one(names::TUPLE_GET, &[tuple as u64, 1]),
                PyTuple_GetItem(tuple, 1) as u64
            );
            let old = PyList_GetItem(list, 2) as u64;
            assert_eq!(m.one(names::LIST_SET, &[list as u64, 2, item as u64]), old);
            assert_eq!(PyList_GetItem(list, 2), item);
            // A repeated list has no room to grow; one that has grown has.
            assert_eq!(m.run(names::LIST_APPEND, &[list as u64, item as u64]), None);
            PyList_Append(list, item);
            assert!(
                m.run(names::LIST_APPEND, &[list as u64, item as u64])
                    .is_some()
            );
            assert_eq!(shown(list as u64), "[None, None, 99, 99, 99]");
            let cell = PyCell_New(std::ptr::null_mut());
            assert_eq!(m.one(names::CELL_GET, &[cell as u64]), 0);
            assert_eq!(
                m.one(names::CELL_SET, &[cell as u64, Py_NewRef(item) as u64]),
                0
            );
            assert_eq!(m.one(names::CELL_GET, &[cell as u64]), item as u64);
            Py_DECREF(cell);
        }
    });
}

#[test]
fn slices_of_lists_are_made_and_copied() {
    with_python(|| {
        let mut m = Machine::new();
        // SAFETY: live lists.
        unsafe {
            let (list, step) = (eval("[None, None, 99, 99, 99]"), (-1i64) as u64);
            let cut = m.one(names::LIST_SLICE, &[list as u64, 3, 1, step]);
            assert_eq!(shown_borrowed(cut), "[99, 99]");
            let copy = |m: &mut Machine, into: Obj, low, high, from, ends: [i64; 3]| {
                let [start, stop, step] = ends.map(|n| n as u64);
                let args = [into as u64, low, high, from, start, stop, step];
                m.run(names::LIST_COPY_SLICE, &args).is_some()
            };
            assert!(copy(&mut m, list, 0, 2, cut, [0, i64::MAX, 1]));
            assert_eq!(shown_borrowed(list as u64), "[99, 99, 99, 99, 99]");
            assert!(copy(&mut m, list, 1, 4, cut, [i64::MAX, i64::MIN, -1]));
            assert_eq!(shown_borrowed(list as u64), "[99, 99, 99, 99]");
            // If deallocating one of the old objects is observable, nothing is changed.
            let noticed = eval("[10**40, object(), 10**50]");
            assert!(!copy(&mut m, noticed, 0, 2, cut, [0, 2, 1]));
            assert!(!copy(&mut m, noticed, 0, 3, cut, [0, 2, 1]));
            assert!(copy(
                &mut m,
                noticed,
                0,
                3,
                noticed as u64,
                [2, i64::MIN, -1]
            ));
            assert_eq!(Py_REFCNT(PyList_GetItem(noticed, 0)), 1);
            assert_eq!(Py_REFCNT(PyList_GetItem(noticed, 1)), 1);
        }
    });
}

#[test]
fn iterators_advance_and_end_as_their_own_next_does() {
    with_python(|| {
        let mut m = Machine::new();
        let fields = [names::RANGE_FIRST, names::RANGE_END, names::RANGE_BY];
        let range = eval("range(5, -4, -3)") as u64;
        assert_eq!(fields.map(|name| m.one(name, &[range]) as i64), [5, -4, -3]);
        let long = eval("range(10 ** 30, 10 ** 31, 10 ** 32)") as u64;
        assert!(
            fields
                .into_iter()
                .all(|name| m.run(name, &[long]).is_none())
        );
        let range = eval("iter(range(5, -4, -3))") as u64;
        let values: Vec<_> = (0..5)
            .map(|_| m.run(names::RANGE_NEXT, &[range]).unwrap())
            .collect();
        assert_eq!(
            values,
            [[5, 1], [2, 1], [(-1i64) as u64, 1], [0, 0], [0, 0]]
        );
        let range = eval("iter(range(5, -4, -3))") as u64;
        assert_eq!(m.one(names::RANGE_START, &[range]), 5);
        assert_eq!(m.one(names::RANGE_STEP, &[range]), (-3i64) as u64);
        assert_eq!(m.one(names::RANGE_LEFT, &[range]), 3);
        m.run(names::RANGE_PUT, &[range, 2, 1]);
        assert_eq!(
            [(); 2].map(|()| m.run(names::RANGE_NEXT, &[range]).unwrap()),
            [[2, 1], [0, 0]]
        );
        let of_lists = [
            names::LIST_ITER_MORE,
            names::LIST_ITER_NEXT,
            names::LIST_ITER_END,
        ];
        let of_tuples = [
            names::TUPLE_ITER_MORE,
            names::TUPLE_ITER_NEXT,
            names::TUPLE_ITER_END,
        ];
        for ([more, next, end], sequence) in [(of_lists, "[1, 2]"), (of_tuples, "(*[1, 2],)")] {
            let scope = run(
                &format!(
                    "s = {sequence}\ni, j, k = iter(s), iter(s), iter(s)\nlast = iter({sequence})\nfor _ in range(2): next(last), next(k)"
                ),
                &[],
            );
            let (s, i) = (get(scope, "s"), get(scope, "i"));
            let before = refs(s);
            for item in ["1", "2"] {
                assert_eq!(m.one(more, &[i as u64]), 1);
                assert_eq!(shown_borrowed(m.one(next, &[i as u64])), item);
            }
            assert_eq!(refs(s), before);
            assert_eq!(m.one(more, &[i as u64]), 0);
            // The interpreter's own path at the end.
            run("assert next(i, None) is None", &[("i", i)]);
            assert_eq!(refs(s), before - 1);
            assert_eq!(m.one(more, &[i as u64]), 0);
            // The end of an iterator that has dropped its list, of one that has not, and of one
            // that has the only reference.
            let [k, last] = ["k", "last"].map(|name| get(scope, name));
            for (iter, ends) in [(i, true), (k, true), (last, false)] {
                assert_eq!(m.run(end, &[iter as u64]).is_some(), ends);
            }
            assert_eq!(refs(s), before - 2);
            run(
                "assert k.__reduce__() == i.__reduce__() != last.__reduce__()",
                &[("i", i), ("k", k), ("last", last)],
            );
            run(
                "list(j)\nassert i.__reduce__() == j.__reduce__()",
                &[("i", i), ("j", get(scope, "j"))],
            );
        }
    });
}

pub(crate) fn shown_borrowed(object: u64) -> String {
    // SAFETY: a live object.
    unsafe { Py_INCREF(object as Obj) };
    shown(object)
}

#[test]
fn attributes_are_reached_by_their_places() {
    with_python(|| {
        let mut m = Machine::new();
        let scope = run(
            "class C:\n  def __init__(self, *names):\n    for n in names: setattr(self, n, n * 2)\n\
             for _ in range(50): C('a', 'b', 'c')\n\
             full, part, bare, dicted = C('a', 'b', 'c'), C('b'), C(), C('a')\n\
             dicted.__dict__ = {'a': 1}\nshared = C('a')\nshared.__dict__\n\
             class S:\n  __slots__ = 'x', 'y'\ns = S()\ns.x = 'sx'",
            &[],
        );
        let at = |name| get(scope, name) as u64;
        let class = get(scope, "C");
        // SAFETY: a live class with inline values.
        let (size, keys) = unsafe {
            (
                field::<i64>(class, abi::type_::BASICSIZE),
                field::<u64>(class, abi::type_::CACHED_KEYS),
            )
        };
        let (valid, place) = ((size + 3) as u64, |i: i64| (size + 8 + 8 * i) as u64);
        for (name, in_use) in [
            ("full", true),
            ("part", true),
            ("bare", true),
            ("dicted", false),
            ("shared", true),
        ] {
            assert_eq!(
                m.run(plan::CHECK_INLINE_VALUES, &[at(name), valid])
                    .is_some(),
                in_use,
                "{name}"
            );
        }
        assert_eq!(
            shown_borrowed(m.one(plan::LOAD_FIELD, &[at("full"), place(1)])),
            "'bb'"
        );
        assert_eq!(m.run(plan::LOAD_FIELD, &[at("bare"), place(1)]), None);
        assert!(m.run(plan::CHECK_NULL, &[at("bare"), place(1)]).is_some());
        assert!(m.run(plan::CHECK_NULL, &[at("full"), place(1)]).is_none());
        assert!(
            m.run(plan::CHECK_SHARED_KEYS[0], &[at("full"), keys, 3])
                .is_some()
        );
        assert!(
            m.run(plan::CHECK_SHARED_KEYS[0], &[at("full"), keys, 2])
                .is_none()
        );
        let value = eval("'new'");
        for (name, index, order) in [
            ("bare", 2, "['c']"),
            ("part", 0, "['b', 'a']"),
            ("full", 1, "['a', 'b', 'c']"),
        ] {
            // SAFETY: a live object.
            unsafe { Py_INCREF(value) };
            let old = m.one(
                plan::STORE_INLINE_VALUE,
                &[at(name), value as u64, size as u64, index],
            );
            assert_eq!(old != 0, name == "full");
            run(
                &format!("assert list(o.__dict__) == {order}, o.__dict__"),
                &[("o", get(scope, name))],
            );
        }
        for name in ["dicted", "shared"] {
            assert_eq!(
                m.run(
                    plan::STORE_INLINE_VALUE,
                    &[at(name), value as u64, size as u64, 0]
                ),
                None,
                "{name}"
            );
        }
        // SAFETY: a live slot descriptor.
        let offsets = ["x", "y"].map(|name| unsafe {
            let descriptor = PyObject_GetAttrString(
                get(scope, "S"),
                std::ffi::CString::new(name).unwrap().as_ptr(),
            );
            let def: *const PyMemberDef = field(descriptor, abi::descr::MEMBER);
            (*def).offset as u64
        });
        assert_eq!(
            shown_borrowed(m.one(plan::LOAD_FIELD, &[at("s"), offsets[0]])),
            "'sx'"
        );
        assert_eq!(m.run(plan::LOAD_FIELD, &[at("s"), offsets[1]]), None);
        assert_eq!(
            m.one(plan::STORE_SLOT, &[at("s"), value as u64, offsets[1]]),
            0
        );
        run("assert s.y == 'new'", &[("s", get(scope, "s"))]);
    });
}

#[test]
fn state_is_compared_word_by_word() {
    const FRAME_WORDS: usize = abi::frame::SIZE as usize / 8;
    with_python(|| {
        let mut m = Machine::new();
        let thread = current_thread();
        // SAFETY: the current thread's state.
        let word = unsafe { abi::eval_breaker::word(thread) };
        let (same, other) = (word, word + abi::eval_breaker::EVENTS + 1);
        assert_eq!(
            m.one(
                names::NOTHING_PENDING,
                &[thread as u64, &raw const same as u64]
            ),
            1
        );
        assert_eq!(
            m.one(
                names::NOTHING_PENDING,
                &[thread as u64, &raw const other as u64]
            ),
            0
        );
        let (valid, gone) = (0u64, 1u64);
        let mut frame = [0u64; FRAME_WORDS];
        let at = frame.as_mut_ptr().cast::<u8>();
        let mut opened = frame;
        // SAFETY: both have room for a frame's fields. A frame object alone (a traceback makes one)
        // does not matter.
        unsafe {
            abi::frames::set_mark(at, NATIVE);
            abi::write(at, abi::frame::FRAME_OBJ, 1u64);
            abi::frames::set_mark(opened.as_mut_ptr().cast(), MATERIALISED);
        }
        let mut still = |frame: &[u64; FRAME_WORDS], state: &u64, pending: &u64| {
            let operands = [
                thread as u64,
                frame.as_ptr() as u64,
                &raw const *state as u64,
                &raw const *pending as u64,
            ];
            m.one(names::STILL_VALID, &operands)
        };
        assert_eq!(still(&frame, &valid, &same), 1);
        assert_eq!(still(&frame, &gone, &same), 0);
        assert_eq!(still(&frame, &valid, &other), 0);
        assert_eq!(still(&opened, &valid, &same), 0);
        m.run(names::SET_POSITION, &[&raw mut frame as u64, 4711]);
        // SAFETY: the same.
        let position: u64 = unsafe { abi::read(frame.as_ptr(), abi::frame::INSTR_PTR) };
        assert_eq!(position, 4711);
    });
}

#[test]
fn strings_are_read() {
    with_python(|| {
        let mut m = Machine::new();
        let texts = [
            "''",
            "'a'",
            "'b'",
            "'abcdefg'",
            "'abcdefh'",
            "'abcdefgh'",
            "'abcdefgx'",
            "'abcdefghi'",
            "'abcdefghj'",
            "'xbcdefghi'",
            "'\\xe9'",
            "'\\xe8'",
            "'a\\xe9'",
            "'\\u20ac'",
            "'\\u20ad'",
            "'a\\u20ac'",
            "'\\U0001f600'",
            "'a' * 40",
            "'a' * 39 + 'b'",
        ];
        for (i, text) in texts.iter().enumerate() {
            let whole = eval(text);
            for (k, other) in texts.iter().enumerate() {
                // The same characters in another object, where there may be two.
                let copy = eval(&format!("''.join(list({other}))"));
                let same = m.one(names::STR_EQ, &[whole as u64, copy as u64]);
                assert_eq!(same, u64::from(i == k), "{text} == {other}");
            }
            // SAFETY: a live string.
            let len = unsafe { PyUnicode_GetLength(whole) };
            assert_eq!(m.one(names::STR_LEN, &[whole as u64]), len as u64);
            for at in 0..len {
                // SAFETY: an index in range.
                let code = unsafe { PyUnicode_ReadChar(whole, at) };
                let found = m.run(names::STR_AT, &[whole as u64, at as u64]);
                // Single characters are found by the string's width, not by their own.
                let is_narrow = !text.contains("\\u") && !text.contains("\\U");
                // SAFETY: a new reference to an immortal object.
                let known = unsafe { PyUnicode_FromOrdinal(code as i32) } as u64;
                assert_eq!(
                    found.map(|found| found[0]),
                    is_narrow.then_some(known),
                    "{text}[{at}]"
                );
            }
        }
    });
}
