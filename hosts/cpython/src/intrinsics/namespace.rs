//! Names of a namespace, found through their cells: the fast path of `STORE_NAME` and `LOAD_NAME`
//! for a dict whose keys did not change.

use super::{Context, Set};
use crate::abi::{changed, dict, dict_keys as keys, dict_versions, gc_head, object};
use crate::namespace::{FAILED, cell};
use cladonia::facts::Effects;
use cladonia::host::names;
use cladonia::lir::{Block, Builder, IntCond, Opcode, Term, Value};
use cladonia::ll::{Ty, Width};

pub(super) fn define(set: &mut Set<'_>) {
    set.add(
        names::NAME_GET,
        &[Ty::Ptr; 3],
        &[Ty::Ptr],
        Effects::READS,
        |b, p, context| {
            let slow = b.cold_block();
            let (_, value) = find(b, p, slow);
            b.ret(&[value]);
            b.switch_to(slow);
            let value = b.call(context.find_name, &p[..3], &[Ty::Ptr]);
            b.ret(&value);
        },
    );
    set.add(
        names::NAME_SET,
        &[Ty::Ptr, Ty::Ptr, Ty::Ptr, Ty::Ptr, Ty::I64],
        &[Ty::Ptr],
        Effects::WRITES,
        store,
    );
}

/// The entry of a name and the value there, which is not null; jumps to `slow` if the cell does not
/// match.
pub(super) fn find(b: &mut Builder<'_>, p: &[Value], slow: Block) -> (Value, Value) {
    let (namespace, name, place) = (p[0], p[1], p[2]);
    let table = b.load(Width::Ptr, namespace, dict::KEYS);
    let shape = b.load(Width::U32, table, keys::LOG2_SIZE);
    let mask = b.iconst(keys::SHAPE_MASK.into());
    let shape = b.op(Opcode::Iand, &[shape, mask]);
    let known = b.load(Width::I64, place, cell::SHAPE);
    let same = b.icmp(IntCond::Eq, shape, known);
    b.guard(same, slow);
    let used = b.load(Width::I64, table, keys::NENTRIES);
    let index = b.load(Width::I64, place, cell::INDEX);
    let inside = b.icmp(IntCond::Ult, index, used);
    b.guard(inside, slow);
    let offset = b.load(Width::I64, place, cell::OFFSET);
    let entry = b.op(Opcode::Padd, &[table, offset]);
    let key = b.load(Width::Ptr, entry, 0);
    let same = b.icmp(IntCond::Eq, key, name);
    b.guard(same, slow);
    let value = b.load(Width::Ptr, entry, keys::UNICODE_ENTRY_VALUE);
    let null = b.is_null(value);
    let some = b.op(Opcode::Bnot, &[null]);
    b.guard(some, slow);
    changed::check_found(b, value, slow);
    (entry, value)
}

fn store(b: &mut Builder<'_>, p: &[Value], context: &Context) {
    let slow = b.cold_block();
    replace(b, &p[..4], Some(p[4]), context, slow);
    b.switch_to(slow);
    let old = b.call(context.replace_name, &p[..4], &[Ty::Ptr])[0];
    let failed = b.pconst(FAILED as u64);
    let failed = b.icmp(IntCond::Eq, old, failed);
    let (fail, done) = (b.cold_block(), b.block());
    b.br(failed, fail, &[], done, &[]);
    b.switch_to(fail);
    b.terminate(Term::Fail);
    b.switch_to(done);
    b.ret(&[old]);
}

/// Replaces the value of a name, and returns the old one: `p` has the dict, the name, its cell and
/// the value, `notes` the watchers that need no report of it. Jumps to `slow`, before any side
/// effect, if the dict's own function is needed.
pub(super) fn replace(
    b: &mut Builder<'_>,
    p: &[Value],
    notes: Option<Value>,
    context: &Context,
    slow: Block,
) {
    let (namespace, value) = (p[0], p[3]);
    let Some(counter) = context.dict_version else {
        b.jump(slow, &[]);
        return;
    };
    let (entry, old) = find(b, p, slow);
    // The watchers of the dict must be called, except those that need no report of this name.
    let tag = b.load(Width::I64, namespace, dict_versions::WATCHERS_AT);
    let mask = b.iconst(dict_versions::WATCHERS.into());
    let watchers = b.op(Opcode::Iand, &[tag, mask]);
    let untold = match notes {
        Some(notes) => {
            let all = b.op(Opcode::Ior, &[watchers, notes]);
            b.icmp(IntCond::Eq, all, notes)
        }
        None => b.icmp_imm(IntCond::Eq, watchers, 0),
    };
    b.guard(untold, slow);
    // The collector must track a dict that has values other than atoms.
    let next = b.load(Width::I64, namespace, GC_NEXT);
    let tracked = b.icmp_imm(IntCond::Ne, next, 0);
    b.guard(tracked, slow);
    dict_versions::bump(b, namespace, tag, counter);
    b.store(Width::Ptr, entry, keys::UNICODE_ENTRY_VALUE, value);
    b.ret(&[old]);
}

/// The field of the header, relative to the object: 0 while the collector does not track it.
const GC_NEXT: i32 = gc_head::NEXT - object::GC_HEAD;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capi::{Obj, field};
    use crate::intrinsics::tests::Machine;
    use crate::namespace::NameCell;
    use crate::runtime::capi::PyDict_AddWatcher;
    use crate::testing::{get, run, with_python};
    use pyo3_ffi::*;
    use std::ffi::{CStr, CString, c_int};
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Fixture {
        machine: Machine,
        scope: Obj,
        name: Obj,
        cell: NameCell,
    }

    impl Fixture {
        fn new(source: &str, name: &CStr) -> Fixture {
            Fixture {
                machine: Machine::new(),
                scope: run(source, &[]),
                // SAFETY: inside the interpreter.
                name: unsafe { PyUnicode_InternFromString(name.as_ptr()) },
                cell: NameCell::EMPTY,
            }
        }

        fn operands(&self) -> [u64; 3] {
            let cell = (&raw const self.cell) as u64;
            [self.scope as u64, self.name as u64, cell]
        }

        fn get(&mut self) -> Obj {
            let id = self.machine.host.intrinsic(names::NAME_GET);
            let operands = self.operands();
            let found = self.machine.run_id(id, &operands);
            found.expect("it never fails")[0] as Obj
        }

        fn set(&mut self, value: Obj, notes: i64) -> Obj {
            let id = self.machine.host.intrinsic(names::NAME_SET);
            let mut operands = self.operands().to_vec();
            operands.extend([value as u64, notes as u64]);
            self.machine.run_id(id, &operands).expect("it succeeds")[0] as Obj
        }

        fn exec(&self, source: &str) {
            let source = CString::new(source).unwrap();
            // SAFETY: inside the interpreter.
            unsafe {
                let done = PyRun_String(source.as_ptr(), Py_file_input, self.scope, self.scope);
                assert!(!done.is_null());
                Py_DECREF(done);
            }
        }

        fn held(&self, name: &str) -> Obj {
            get(self.scope, name)
        }
    }

    #[test]
    fn a_name_is_found_wherever_it_moves() {
        with_python(|| {
            let mut f = Fixture::new("a = 1\nb = 'x'", c"b");
            for change in [
                "pass",
                "b = 'y'",
                "globals().update({f'n{i}': i for i in range(100)})",
                "del a",
                "del b\nb = [1]",
                "for i in range(100): del globals()[f'n{i}']",
                "globals().update({f'm{i}': i for i in range(1000)})",
            ] {
                f.exec(change);
                for _ in 0..2 {
                    let found = f.get();
                    assert_eq!(found, f.held("b"), "after {change}");
                }
                assert_ne!(f.cell.shape, NameCell::EMPTY.shape);
            }
            f.exec("kept = b\ndel b");
            assert!(f.get().is_null());
            f.exec("b = kept\nglobals()[5] = 'no string'");
            assert!(f.get().is_null(), "a look-up might run code");
        });
    }

    #[test]
    fn a_store_has_the_effects_of_the_interpreter() {
        with_python(|| {
            let mut f = Fixture::new("a = 1\nb = object()\nc = [2]\nlist_ = []", c"b");
            // SAFETY: live objects of the scope; each store takes a reference and gives one.
            unsafe {
                for value in ["c", "list_", "a", "c"] {
                    let (old, value) = (f.held("b"), f.held(value));
                    let before: u64 = field(f.scope, dict_versions::WATCHERS_AT);
                    let references = Py_REFCNT(value);
                    let gave = f.set(Py_NewRef(value), 0);
                    assert_eq!((gave, f.held("b")), (old, value));
                    let mortal = references < u32::MAX as Py_ssize_t;
                    assert_eq!(Py_REFCNT(value), references + mortal as Py_ssize_t);
                    Py_DECREF(gave);
                    let after: u64 = field(f.scope, dict_versions::WATCHERS_AT);
                    assert!(
                        dict_versions::is_later(before, after),
                        "{before:x} {after:x}"
                    );
                }
                f.exec("assert list(globals())[-4:] == ['a', 'b', 'c', 'list_']");
                f.exec("del b");
                assert!(f.set(Py_NewRef(f.held("a")), 0).is_null());
                f.exec("assert list(globals())[-1] == 'b' and b is a");
            }
        });
    }

    #[test]
    fn the_collector_tracks_a_dict_that_gets_a_container() {
        with_python(|| {
            let mut f = Fixture::new("a = [1]", c"b");
            // SAFETY: live objects. Where not all dicts are tracked, one is not while it holds only
            // numbers.
            unsafe {
                let list = Py_NewRef(f.held("a"));
                f.scope = PyDict_New();
                PyDict_SetItem(f.scope, f.name, Py_True());
                f.get();
                let from_the_start = PyObject_GC_IsTracked(PyDict_New());
                assert_eq!(PyObject_GC_IsTracked(f.scope), from_the_start);
                f.set(list, 0);
                assert_eq!(PyObject_GC_IsTracked(f.scope), 1);
            }
        });
    }

    static TOLD: AtomicUsize = AtomicUsize::new(0);

    unsafe extern "C" fn count(_: c_int, _: Obj, _: Obj, _: Obj) -> c_int {
        TOLD.fetch_add(1, Ordering::Relaxed);
        0
    }

    #[test]
    fn only_exempt_watchers_are_skipped() {
        with_python(|| {
            let mut f = Fixture::new("b = 1", c"b");
            f.get();
            // SAFETY: the callbacks live for ever; the references are given away.
            unsafe {
                let (one, other) = (PyDict_AddWatcher(count), PyDict_AddWatcher(count));
                let told = |f: &mut Fixture, value: Obj, notes: i64| {
                    TOLD.store(0, Ordering::Relaxed);
                    Py_XDECREF(f.set(Py_NewRef(value), notes));
                    TOLD.load(Ordering::Relaxed)
                };
                assert_eq!(told(&mut f, Py_True(), 0), 0);
                PyDict_Watch(one, f.scope);
                assert_eq!(told(&mut f, Py_False(), 0), 1);
                assert_eq!(told(&mut f, Py_True(), 1 << one), 0);
                PyDict_Watch(other, f.scope);
                assert_eq!(told(&mut f, Py_False(), 1 << one), 2);
                PyDict_ClearWatcher(one);
                PyDict_ClearWatcher(other);
            }
        });
    }
}
