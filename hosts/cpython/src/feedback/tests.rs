//! Hints of functions that have been run.

use super::*;
use crate::decode::decode;
use crate::testing::{Method, get, run, with_python};
use pyo3_ffi::Py_ssize_t;

/// The hints of a code object, a line each: op, source line, types.
unsafe extern "C" fn hinted(_: *mut PyObject, code: *mut PyObject) -> *mut PyObject {
    // SAFETY: called by Python code.
    unsafe {
        let code = decode(code).expect("a compiler's code");
        let mut text = String::new();
        for instr in code.instrs.iter().filter(|instr| !instr.hint.is_empty()) {
            let hints: Vec<String> = instr.hint.iter().map(Type::to_string).collect();
            text += &format!("{} {}\n", instr.op.info().name, hints.join(", "));
        }
        ffi::PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len() as Py_ssize_t)
    }
}

static HINTED: Method = Method::new(c"hinted", hinted, ffi::METH_O);

/// Runs `body` (the body of a function `f` with `setup` before it) until it is specialised, and
/// compares its hints.
#[track_caller]
fn check(setup: &str, body: &str, expected: &[&str]) {
    let script = format!(
        "{setup}\ndef f():\n    {}\nfor _ in range(100): f()\nfound = hinted(f.__code__)\n",
        body.replace('\n', "\n    ")
    );
    let found = with_python(|| {
        let scope = run(&script, &[("hinted", HINTED.object())]);
        // SAFETY: a string of the script.
        unsafe { objects::text(get(scope, "found")) }
    });
    let found = found.expect("plain text");
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines, expected, "of\n{body}");
}

#[test]
fn operators_name_their_operands() {
    check(
        "a, b, c, s = 1, 2, 1.5, 'x'",
        "a + b",
        &["binary_op LongExact, LongExact"],
    );
    check(
        "a, b, c, s = 1, 2, 1.5, 'x'",
        "c * c",
        &["binary_op FloatExact, FloatExact"],
    );
    check(
        "a, b, c, s = 1, 2, 1.5, 'x'",
        "s + s",
        &["binary_op UnicodeExact, UnicodeExact"],
    );
    check(
        "a, b, c, s = 1, 2, 1.5, 'x'",
        "a < b",
        &["compare_op LongExact, LongExact"],
    );
    check("a, b, c, s = 1, 2, 1.5, 'x'", "a / b", &[]);
}

#[test]
fn containers_name_their_class() {
    let setup = "l, t, d, s, i = [1], (1,), {1: 2}, {1}, 0";
    check(setup, "l[i]", &["binary_subscr ListExact, LongExact"]);
    check(setup, "t[i]", &["binary_subscr TupleExact, LongExact"]);
    check(setup, "d[1]", &["binary_subscr DictExact, Object"]);
    check(
        setup,
        "l[i] = 3",
        &["store_subscr Object, ListExact, LongExact"],
    );
    check(setup, "i in d", &["contains_op Object, DictExact"]);
    check(
        setup,
        "i in s",
        &["contains_op Object, {FrozenSetExact|SetExact}"],
    );
    check(setup, "if l: pass", &["to_bool ListExact"]);
    check(setup, "for x in l: pass", &["for_iter ListIter"]);
    check(setup, "for x in range(2): pass", &["for_iter RangeIter"]);
}

#[test]
fn attributes_and_calls_name_classes_and_functions() {
    let setup = "
class FeedbackPoint:
    def __init__(self): self.x = 1
    def method(self): return 1
    kind = 7
def feedback_callee(x): return x
p = FeedbackPoint()";
    check(setup, "p.x", &["load_attr ObjectUser[FeedbackPoint:Exact]"]);
    // Other classes of the same name follow, each with its own number.
    check(
        setup,
        "p.x = 2",
        &["store_attr Object, ObjectUser[FeedbackPoint#2:Exact]"],
    );
    check(
        setup,
        "p.method()",
        &[
            "load_attr ObjectUser[FeedbackPoint#3:Exact]",
            "call Func[FeedbackPoint.method]",
        ],
    );
    check(
        setup,
        "FeedbackPoint.kind",
        &["load_attr TypeExact[FeedbackPoint#4:obj]"],
    );
    check(setup, "feedback_callee(1)", &["call Func[feedback_callee]"]);
    check(
        setup,
        "FeedbackPoint()",
        &["call TypeExact[FeedbackPoint#5:obj]"],
    );
    check(setup, "str(1)", &["call ImmortalTypeExact[str:obj]"]);
}

#[test]
fn an_unknown_version_has_no_class_and_no_function() {
    with_python(|| {
        // SAFETY: this thread has the lock.
        unsafe {
            assert!(class_of_version(0).is_none());
            assert!(class_of_version(u32::MAX).is_none());
            assert!(class_of_version(u32::MAX).is_none());
            assert!(function_of_version(0).is_none());
            let scope = run("class Gone: pass\nGone().x = 1\ngone = Gone", &[]);
            let class = get(scope, "gone").cast::<PyTypeObject>();
            let version = abi::read::<u32, _>(class, type_::VERSION_TAG);
            assert_eq!(
                class_of_version(version).map(|found| found.as_type()),
                Some(class)
            );
            assert_eq!(
                ffi::PyObject_SetAttrString(class.cast(), c"y".as_ptr(), scope),
                0
            );
            assert!(class_of_version(version).is_none(), "the class has changed");
        }
    });
}

unsafe extern "C" {
    fn PyFunction_SetVectorcall(function: *mut PyObject, call: *const std::ffi::c_void);
}

/// The interpreter's vectorcall of functions.
static ORIGINAL: std::sync::OnceLock<ffi::vectorcallfunc> = std::sync::OnceLock::new();

unsafe extern "C" fn passes_on(
    function: *mut PyObject,
    args: *const *mut PyObject,
    count: usize,
    names: *mut PyObject,
) -> *mut PyObject {
    let original = ORIGINAL.get().expect("it was read before");
    // SAFETY: the interpreter's arguments.
    unsafe { original(function, args, count, names) }
}

/// Replaces a function's vectorcall, as compiling it does.
unsafe extern "C" fn replace_call(_: *mut PyObject, f: *mut PyObject) -> *mut PyObject {
    // SAFETY: called by Python code, with a function.
    unsafe {
        ORIGINAL.get_or_init(|| abi::read(f, abi::function::VECTORCALL));
        PyFunction_SetVectorcall(f, passes_on as *const std::ffi::c_void);
        ffi::Py_NewRef(ffi::Py_None())
    }
}

static REPLACE_CALL: Method = Method::new(c"replace_call", replace_call, ffi::METH_O);

#[test]
fn a_property_that_is_no_longer_specialised_is_still_known() {
    let script = "
class Asked:
    def __init__(self): self.y = 2
    @property
    def x(self): return 1
    @property
    def never(self): return 3
p = Asked()
def f(p): return p.x, p.y
def g(p): return p.never
for _ in range(100): f(p)
replace_call(Asked.x.fget)
replace_call(Asked.never.fget)
for _ in range(1000): f(p), g(p)
found = hinted(f.__code__), hinted(g.__code__)
Asked.x = 5
Asked.z = 6
for _ in range(1000): f(p)
changed = hinted(f.__code__)
";
    let found = with_python(|| {
        let scope = run(
            script,
            &[
                ("hinted", HINTED.object()),
                ("replace_call", REPLACE_CALL.object()),
            ],
        );
        let text = |name| get(scope, name);
        // SAFETY: a tuple of strings, and a string, of the script.
        unsafe {
            let pair = text("found");
            [
                objects::text(ffi::PyTuple_GET_ITEM(pair, 0)),
                objects::text(ffi::PyTuple_GET_ITEM(pair, 1)),
                objects::text(text("changed")),
            ]
        }
    });
    let class = "load_attr ObjectUser[Asked:Exact]\n";
    let [found, never, changed] = found.map(|text| text.expect("plain text"));
    assert_eq!([found, changed], [class.repeat(2), class.repeat(2)]);
    // Some versions record the class even if they do not specialise the instruction.
    assert!(["", class].contains(&never.as_str()), "{never}");
}

#[test]
fn live_values_give_their_exact_class() {
    with_python(|| {
        let scope = run("a, b, c, d = 1, True, [], 2.5", &[]);
        let mut values = ["a", "b", "c", "d"].map(|name| get(scope, name)).to_vec();
        values.push(std::ptr::null_mut());
        // SAFETY: objects of the script, and null.
        let types = unsafe { live_types(&values) };
        assert_eq!(
            types,
            [
                Type::LONG_EXACT,
                Type::BOOL,
                Type::LIST_EXACT,
                Type::FLOAT_EXACT,
                Type::OBJECT
            ]
        );
    });
}

/// First executions of each adaptive instruction that has not been specialised, a line each: op,
/// count.
unsafe extern "C" fn executed(_: *mut PyObject, code: *mut PyObject) -> *mut PyObject {
    // SAFETY: called by Python code; the adaptive code is that of the code object, positions are
    // those of opcodes.
    unsafe {
        let decoded = decode(code).expect("a compiler's code");
        let units = code
            .byte_offset(abi::code::ADAPTIVE as isize)
            .cast::<u16>()
            .cast_const();
        let mut text = String::new();
        for instr in &decoded.instrs {
            if let Some(count) = noted::first_executions(units.add(instr.pos as usize)) {
                text += &format!("{} {count}\n", instr.op.info().name);
            }
        }
        ffi::PyUnicode_FromStringAndSize(text.as_ptr().cast(), text.len() as Py_ssize_t)
    }
}

static EXECUTED: Method = Method::new(c"executed", executed, ffi::METH_O);

#[test]
fn rarely_executed_instructions_are_distinguished_from_specialised_and_unspecialisable_ones() {
    let script = "
def f(n, x):
    x.a = n
    if n > 1: n[0]
    if n > 2: n * 2
    if n > 3: n - 2
class X: pass
class Odd:
    def __setattr__(self, name, value): pass
for n in [0] * 50 + [3]:
    try: f(n, Odd())
    except TypeError: pass
found = executed(f.__code__)
";
    let found = with_python(|| {
        let scope = run(script, &[("executed", EXECUTED.object())]);
        // SAFETY: a string of the script.
        unsafe { objects::text(get(scope, "found")) }
    });
    let found = found.expect("plain text");
    let lines: Vec<&str> = found.lines().collect();
    // The comparisons were specialised, the store of an attribute cannot be; the subscript has
    // raised the only time.
    assert_eq!(lines, ["binary_subscr 1", "binary_op 0", "binary_op 0"]);
}
