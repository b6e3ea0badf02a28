//! Plans for classes of a running interpreter, applied to their instances.

use super::Namespaces;
use super::{CPythonWorld, Known};
use crate::abi;
use crate::capi::{Obj, field};
use crate::intrinsics::tests::{Machine, shown_borrowed};
use crate::objects;
use crate::testing::{get, run, with_python};
use cladonia::facts::Assumption;
use cladonia::host::{
    Argument, AttrPlan, Binds, Builtin, Callee, GetterArg, IntrinsicCall, Operator, OperatorPlan,
    StorePlan, World,
};
use cladonia::types::Type;
use pyo3_ffi::*;

const CLASSES: &str = "
import math, sys
class Plain:
    default = 'class default'
    shadowed = 'class'
    @staticmethod
    def static(): pass
    @property
    def computed(self): return 1
    @classmethod
    def of_class(cls): pass
    def __init__(self, **kw):
        self.__dict__.update(kw) if 'via_dict' in kw else [setattr(self, k, kw[k]) for k in kw]
    def method(self): pass
class Slotted:
    __slots__ = 'x', 'y'
    def method(self): pass
class Dynamic:
    def __getattr__(self, name): return name
class Searched(Dynamic):
    def __getattribute__(self, name): return name
class Descriptor:
    def __get__(self, obj, cls): return 'descriptor'
class DataDescriptor(Descriptor):
    def __set__(self, obj, value): pass
class Described:
    first, second = DataDescriptor(), Descriptor()
Pair = __import__('collections').namedtuple('Pair', 'left right')
pair = Pair(1, 2)
searched, described = Searched(), Described()
class Guarded:
    def __setattr__(self, name, value): pass
class Number(int):
    def method(self): pass
for _ in range(40): Plain(a=1, b=2, shadowed=3)
full, bare, more = Plain(a=1, b=2, shadowed=3), Plain(), Plain()
slotted = Slotted()
slotted.x = 'sx'
dynamic, guarded, number, numbered = Dynamic(), Guarded(), Number(5), Number(6)
numbered.extra = 1
items = [1]
def plain(a, b=2): return a + b
def starred(*a): pass
def keyword(*, k): pass
def gen(): yield
";

fn with_world(test: impl FnOnce(&CPythonWorld<'_>, &mut Machine, Obj)) {
    with_python(|| {
        let mut machine = Machine::new();
        let scope = run(CLASSES, &[]);
        let cell = |[code, ..]: [Obj; 3]| code as u64 + 1;
        let unstable = |_, name: &str| name == "unstable";
        let others = Namespaces::default();
        // SAFETY: inside the interpreter.
        let world = unsafe {
            CPythonWorld::new(
                &machine.host,
                field(get(scope, "plain"), abi::function::CODE),
                scope,
                PyEval_GetBuiltins(),
                Known {
                    entry_cell: &cell,
                    raw_entry: &|_| None,
                    inlinee: &|_, _| None,
                    is_unstable: &unstable,
                    others: &others,
                },
            )
        };
        test(&world, &mut machine, scope);
    });
}

/// The exact class of a name's value.
fn class_type(scope: Obj, name: &str) -> Type {
    // SAFETY: a live object.
    unsafe { Type::from_class_exact(objects::class_handle(Py_TYPE(get(scope, name)))) }
}

/// Just this object.
fn object_type(object: Obj) -> Type {
    // SAFETY: a live object.
    unsafe { Type::from_object(objects::object_handle(object)) }
}

fn applies(machine: &mut Machine, call: &IntrinsicCall, operands: &[u64]) -> Option<u64> {
    let imms = call.imms.iter().map(|&imm| imm as u64);
    let operands: Vec<u64> = operands.iter().copied().chain(imms).collect();
    machine.run_id(call.id, &operands).map(|results| results[0])
}

/// Applies a plan: returns the value that it loads, or the reason why there is none.
fn load(
    world: &CPythonWorld<'_>,
    machine: &mut Machine,
    scope: Obj,
    object: &str,
    name: &str,
) -> String {
    let at = get(scope, object) as u64;
    let (guards, value) = match world.load_attr(class_type(scope, object), name) {
        AttrPlan::General => return "general".to_owned(),
        AttrPlan::Field { guards, load, .. } => (guards, Err(load)),
        AttrPlan::Constant {
            guards,
            value,
            binds,
            ..
        } => (guards, Ok((value, binds))),
        AttrPlan::Getter { function, .. } => {
            return format!("getter {}", shown_borrowed(function.token()));
        }
        AttrPlan::Absent { guards, .. } => {
            let mut guards = guards.iter();
            let lacks = guards.all(|guard| applies(machine, guard, &[at]).is_some());
            return if lacks { "absent" } else { "guard" }.to_owned();
        }
        AttrPlan::Computed {
            guards,
            function,
            args,
            ..
        } => {
            let lacks = guards
                .iter()
                .all(|guard| applies(machine, guard, &[at]).is_some());
            let args = args.iter().map(|arg| match arg {
                GetterArg::Receiver => "receiver".to_owned(),
                GetterArg::Constant(object) => shown_borrowed(object.token()),
            });
            let args: Vec<String> = args.collect();
            let function = shown_borrowed(function.token());
            return match lacks {
                true => format!("computed {function}({})", args.join(", ")),
                false => "guard".to_owned(),
            };
        }
    };
    if guards
        .iter()
        .any(|guard| applies(machine, guard, &[at]).is_none())
    {
        return "guard".to_owned();
    }
    match value {
        Ok((_, Binds::Receiver)) => "method".to_owned(),
        Ok((_, Binds::Object(object))) => format!("method of {}", shown_borrowed(object.token())),
        Ok((value, _)) => shown_borrowed(value.token()),
        Err(load) => applies(machine, &load, &[at]).map_or("unset".to_owned(), shown_borrowed),
    }
}

#[test]
fn loads_agree_with_the_interpreter_or_have_no_plan() {
    with_world(|world, m, scope| {
        let cases = [
            ("full", "a", "1"),
            ("full", "b", "2"),
            ("bare", "a", "unset"),
            ("full", "method", "method"),
            ("full", "default", "'class default'"),
            ("full", "shadowed", "3"),
            ("bare", "shadowed", "unset"),
            ("full", "absent", "absent"),
            ("numbered", "absent", "unset"),
            ("number", "anything", "unset"),
            ("items", "absent", "absent"),
            ("searched", "anything", "general"),
            ("pair", "left", "1"),
            ("slotted", "x", "'sx'"),
            ("slotted", "y", "unset"),
            ("slotted", "method", "method"),
            ("number", "method", "method"),
            ("numbered", "method", "guard"),
            ("items", "append", "method"),
            ("items", "__class__", "<class 'list'>"),
            ("full", "__class__", "<class 'Plain'>"),
            ("full", "of_class", "method of <class 'Plain'>"),
            ("full", "__dict__", "general"),
        ];
        for (object, name, expected) in cases {
            assert_eq!(
                load(world, m, scope, object, name),
                expected,
                "{object}.{name}"
            );
        }
        assert!(load(world, m, scope, "full", "static").contains("Plain.static"));
        assert!(load(world, m, scope, "full", "computed").starts_with("getter <function"));
        let fallback = load(world, m, scope, "dynamic", "anything");
        assert!(fallback.starts_with("computed <function Dynamic.__getattr__"));
        assert!(fallback.ends_with("(receiver, 'anything')"), "{fallback}");
        for name in ["first", "second"] {
            let described = load(world, m, scope, "described", name);
            assert!(described.starts_with("computed <function Descriptor.__get__"));
            assert!(
                described.ends_with("receiver, <class 'Described'>)"),
                "{described}"
            );
        }
        // An attribute of its own hides `second` only.
        run(
            "described.first = described.__dict__['first'] = described.second = 5",
            &[("described", get(scope, "described"))],
        );
        assert!(load(world, m, scope, "described", "first").starts_with("computed"));
        assert_eq!(load(world, m, scope, "described", "second"), "5");
        // An instance that overrides the class's method, and one with a dictionary of its own.
        let AttrPlan::Constant {
            guards,
            assumptions,
            ..
        } = world.load_attr(class_type(scope, "full"), "method")
        else {
            panic!("no plan");
        };
        assert!(matches!(assumptions[..], [Assumption::ClassUnchanged(_)]));
        let mut holds = |name| {
            guards
                .iter()
                .all(|guard| applies(m, guard, &[get(scope, name) as u64]).is_some())
        };
        assert!(holds("bare") && holds("more"));
        run("more.method = 5", &[("more", get(scope, "more"))]);
        assert!(!holds("more"));
        run(
            "bare.__dict__ = {'method': 6}",
            &[("bare", get(scope, "bare"))],
        );
        assert!(!holds("bare"));
    });
}

#[test]
fn stores_put_the_value_where_the_interpreter_finds_it() {
    with_world(|world, m, scope| {
        for (object, name, expected) in [
            ("full", "a", true),
            ("bare", "b", true),
            ("slotted", "y", true),
            ("full", "computed", false),
            ("full", "absent", false),
            ("guarded", "a", false),
            ("items", "a", false),
            ("numbered", "extra", true),
        ] {
            let plan = world.store_attr(class_type(scope, object), name);
            let StorePlan::Field { guards, store, .. } = plan else {
                assert!(!expected, "{object}.{name}");
                continue;
            };
            assert!(expected && guards.is_empty(), "{object}.{name}");
            let object = get(scope, object);
            // SAFETY: this thread has the interpreter's lock; the store takes the reference.
            let value = unsafe { PyUnicode_FromString(c"stored".as_ptr()) };
            applies(m, &store, &[object as u64, value as u64]).expect("the store applies");
            run(&format!("assert o.{name} == 'stored'"), &[("o", object)]);
        }
    });
}

#[test]
fn known_objects_have_constant_attributes() {
    with_world(|world, _, scope| {
        let value = |object: &str, name: &str| match world
            .load_attr(object_type(get(scope, object)), name)
        {
            AttrPlan::Constant {
                guards,
                value,
                binds: Binds::Nothing,
                assumptions,
            } if guards.len() == usize::from(object == "math") => {
                Some((shown_borrowed(value.token()), assumptions.len()))
            }
            AttrPlan::General => None,
            // An instance has a class that may be assigned to: that is checked first.
            AttrPlan::Field { guards, .. } => Some((format!("{} checks", guards.len()), 0)),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            value("math", "pi"),
            Some(("3.141592653589793".to_owned(), 1))
        );
        assert_eq!(value("math", "__dict__"), None);
        assert_eq!(value("math", "unstable"), None);
        assert_eq!(
            value("Plain", "default"),
            Some(("'class default'".to_owned(), 1))
        );
        assert!(
            value("Plain", "method")
                .unwrap()
                .0
                .contains("function Plain.method")
        );
        assert!(
            value("Plain", "static")
                .unwrap()
                .0
                .contains("function Plain.static")
        );
        assert_eq!(value("Plain", "computed"), None);
        assert_eq!(value("Plain", "__name__"), None);
        assert_eq!(value("Plain", "mro"), None);
        assert_eq!(value("full", "a"), Some(("2 checks".to_owned(), 0)));
    });
}

#[test]
fn callees_are_classified_by_their_kind() {
    with_world(|world, _, scope| {
        let callee = |object: Obj| {
            // SAFETY: a live object.
            world.callee(unsafe { objects::object_handle(object) })
        };
        let Callee::Function {
            params,
            entry_cell,
            kin,
            assumptions,
            ..
        } = callee(get(scope, "plain"))
        else {
            panic!("no function");
        };
        // The world belongs to this function's code, which keeps no other code alive.
        assert!(kin.is_some());
        assert!(matches!(
            callee(get(scope, "gen")),
            Callee::Function { kin: None, .. }
        ));
        assert_eq!(
            (params.positional, params.names),
            (2, vec!["a".to_owned(), "b".to_owned()])
        );
        assert_eq!(
            params
                .defaults
                .iter()
                .map(|d| shown_borrowed(d.token()))
                .collect::<Vec<_>>(),
            ["2"]
        );
        // SAFETY: a live function.
        let code: Obj = unsafe { field(get(scope, "plain"), abi::function::CODE) };
        assert_eq!((entry_cell, assumptions.len()), (code as u64 + 1, 1));
        let generator = callee(get(scope, "gen"));
        assert!(
            matches!(&generator, Callee::Function { params, .. } if params.takes_just(0)),
            "{generator:?}"
        );
        let params = |name| match callee(get(scope, name)) {
            Callee::Function { params, .. } => params,
            other => panic!("{name} is {other:?}"),
        };
        let starred = params("starred");
        assert!(starred.rest.is_some() && !starred.are_plain());
        assert_eq!(starred.bind(2, &[]), Some(vec![Argument::Rest(0..2)]));
        let keyword = params("keyword");
        assert_eq!(keyword.keywords, [("k".to_owned(), None)]);
        assert_eq!(keyword.bind(1, &["k"]), Some(vec![Argument::Given(0)]));
        assert_eq!(keyword.bind(0, &[]), None);
        let known = run(
            "import math\nfrom builtins import *\nappend = list.append\nsqrt = math.sqrt\nvalues = len, range, \
                         abs, min, max, int, float, bool, isinstance, sqrt, append, chr, ord",
            &[],
        );
        use Builtin as B;
        let expected = [
            B::Len,
            B::Range,
            B::Abs,
            B::Min,
            B::Max,
            B::Int,
            B::Float,
            B::Bool,
            B::IsInstance,
            B::Sqrt,
            B::ListAppend,
            B::Chr,
            B::Ord,
        ];
        for (i, builtin) in expected.into_iter().enumerate() {
            // SAFETY: a live tuple.
            let object = unsafe { PyTuple_GetItem(get(known, "values"), i as Py_ssize_t) };
            assert_eq!(callee(object), Callee::Builtin(builtin));
        }
    });
}

#[test]
fn a_namedtuple_is_unpacked_if_it_has_as_many_items() {
    with_world(|world, m, scope| {
        let items = |count| world.operator(Operator::Unpack(count), &[class_type(scope, "pair")]);
        let at = get(scope, "pair") as u64;
        for count in 1..4 {
            let OperatorPlan::Items { guards, items, .. } = items(count) else {
                panic!("no plan");
            };
            let fits = guards
                .iter()
                .all(|guard| applies(m, guard, &[at]).is_some());
            assert_eq!(fits, count == 2);
            if fits {
                let loaded = items.iter().map(|item| applies(m, item, &[at]));
                let loaded: Vec<String> = loaded.map(|v| shown_borrowed(v.unwrap())).collect();
                assert_eq!(loaded, ["1", "2"]);
            }
        }
        // A `zip` has the number of its iterators where a tuple has that of its items.
        let scope = run("z = zip('ab', 'cd', 'ef')\nd = iter({1: 2}.items())", &[]);
        let next = |object, count| {
            let class = class_type(scope, object);
            world.operator(Operator::UnpackNext(count), &[class])
        };
        for count in 2..4 {
            let OperatorPlan::NextItems { guards, .. } = next("z", count) else {
                panic!("no plan");
            };
            let at = get(scope, "z") as u64;
            let fits = guards
                .iter()
                .all(|guard| applies(m, guard, &[at]).is_some());
            assert_eq!(fits, count == 3);
        }
        assert!(matches!(next("d", 3), OperatorPlan::General));
        let OperatorPlan::NextItems {
            fast: Some(fast), ..
        } = next("d", 2)
        else {
            panic!("no plan");
        };
        let at = get(scope, "d") as u64;
        assert_eq!(
            applies(m, &fast, &[at]).map(shown_borrowed),
            Some("1".to_owned())
        );
        assert_eq!(applies(m, &fast, &[at]), None);
    });
}
