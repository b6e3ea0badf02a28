//! Tests that each fault of a host is reported at its start, by its own error.

use super::*;
use crate::lir::{Builder, HelperId, Opcode, Signature};
use crate::ll::{Field, LayoutError, Ty, Width};

extern "C" fn nothing() {}

pub(crate) const ADDRESS: fn() -> usize = || nothing as extern "C" fn() as usize;

/// A host with every helper and intrinsic, except those that `edit` removes or changes: rows of
/// (name, parameters, results), helpers first.
pub(crate) fn host(
    edit: impl Fn(&'static str, &mut Vec<Ty>) -> bool,
    more: impl FnOnce(&mut HostBuilder),
) -> Result<Host, HostError> {
    let mut host = HostBuilder::new("test", HostId::new());
    for row in helpers() {
        let mut params = row.params;
        if edit(row.name, &mut params) {
            host.helper(row.name, ADDRESS(), &params, &row.results);
        }
    }
    for &(name, params, results) in names::STANDARD {
        let mut params = params.to_vec();
        if edit(name, &mut params) {
            host.intrinsic(name, Effects::NONE, constant(name, &params, results));
        }
    }
    more(&mut host);
    host.finish()
}

/// A function that returns zeros.
pub(crate) fn constant(name: &'static str, params: &[Ty], results: &[Ty]) -> Func {
    let mut func = Func::new(name, Signature::new(params, results));
    let mut b = Builder::new(&mut func);
    let values: Vec<_> = results
        .iter()
        .map(|ty| match ty {
            Ty::Bool => b.bconst(false),
            Ty::I64 => b.iconst(0),
            Ty::F64 => b.fconst(0.0),
            Ty::Ptr => b.pconst(0),
        })
        .collect();
    b.ret(&values);
    func
}

/// A function of an object that calls a helper with it.
fn calling(helper: HelperId) -> Func {
    let mut func = Func::new("calling", Signature::new(&[Ty::Ptr], &[]));
    let p = func.params()[0];
    let mut b = Builder::new(&mut func);
    b.call(helper, &[p], &[]);
    b.ret(&[]);
    func
}

#[track_caller]
fn error(
    edit: impl Fn(&'static str, &mut Vec<Ty>) -> bool,
    more: impl FnOnce(&mut HostBuilder),
) -> HostError {
    host(edit, more).expect_err("a fault")
}

/// The kind of an error, and the name of the helper or intrinsic.
fn fault(error: &HostError) -> (HostFault, &'static str) {
    (error.fault(), error.name().expect("a name"))
}

fn all(_: &'static str, _: &mut Vec<Ty>) -> bool {
    true
}

#[test]
fn a_complete_host_is_accepted() {
    host(all, |_| ()).unwrap();
}

#[test]
fn a_missing_helper_is_named() {
    let made = error(|n, _| n != "get_item", |_| ());
    assert_eq!(fault(&made), (HostFault::MissingHelper, "get_item"));
    assert_eq!(
        made.to_string(),
        "the host `test` has no helper `get_item`; define it with HostBuilder::helper"
    );
}

#[test]
fn a_missing_intrinsic_is_named() {
    let made = error(|n, _| n != names::LIST_LEN, |_| ());
    let expected = (HostFault::MissingIntrinsic, names::LIST_LEN);
    assert_eq!(fault(&made), expected);
    assert!(made.is_missing());
}

#[test]
fn the_error_of_a_wrong_signature_has_the_right_one_too() {
    for wrong in ["get_item", names::LIST_LEN] {
        let edit = |name: &str, params: &mut Vec<Ty>| {
            if name == wrong {
                params[0] = Ty::F64;
            }
            true
        };
        let made = error(edit, |_| ());
        assert_eq!(made.name(), Some(wrong));
        let (found, expected) = made.signatures().expect("a wrong signature");
        assert!(found.starts_with("[F64"), "{found}");
        assert!(expected.starts_with("[Ptr"), "{expected}");
    }
}

#[test]
fn a_helper_at_no_address_is_refused() {
    let made = error(all, |host| {
        host.helper("mine", 0, &[], &[]);
    });
    assert_eq!(fault(&made), (HostFault::NullHelper, "mine"));
}

#[test]
fn a_name_is_defined_once() {
    let made = error(all, |host| {
        host.helper("mine", ADDRESS(), &[], &[]);
        host.helper("mine", ADDRESS(), &[], &[]);
    });
    assert_eq!(fault(&made), (HostFault::Duplicate, "mine"));
}

#[test]
fn an_intrinsic_that_is_not_well_formed_is_refused() {
    let made = error(all, |host| {
        let mut func = Func::new("odd", Signature::new(&[Ty::F64], &[Ty::I64]));
        let p = func.params()[0];
        let mut b = Builder::new(&mut func);
        let sum = b.op(Opcode::Iadd, &[p, p]);
        b.ret(&[sum]);
        host.intrinsic("odd", Effects::NONE, func);
    });
    assert_eq!(fault(&made), (HostFault::BadIntrinsic, "odd"));
    let errors = made.verifier_errors().expect("faults");
    assert!(!errors.faults.is_empty());
}

#[test]
fn an_intrinsic_has_no_effects_that_it_does_not_declare() {
    for (said, is_enough) in [(Effects::READS, false), (Effects::WRITES, true)] {
        let made = host(all, |host| {
            let writes = host.helper("note", ADDRESS(), &[Ty::Ptr], &[]);
            host.effects(writes, Effects::WRITES);
            host.intrinsic("calling", said, calling(writes));
        });
        let effect = made.err().and_then(|error| {
            assert_eq!(error.name(), Some("calling"));
            error.undeclared_effect()
        });
        assert_eq!(effect, (!is_enough).then_some(("note", "write memory")));
    }
}

#[test]
fn overlapping_fields_are_named() {
    let made = error(all, |host| {
        let head = host.layout("Head", None, &[Field::new("class", 0, Width::Ptr)]);
        host.layout("Int", Some(&head), &[Field::new("value", 4, Width::I64)]);
    });
    let error = LayoutError::Overlap {
        structure: "Int",
        first: "class",
        second: "value",
    };
    assert_eq!(made.layout(), Some(&error));
}

#[test]
fn layouts_are_kept_with_the_layouts_that_they_extend() {
    let host = host(all, |host| {
        let head = host.layout("Head", None, &[Field::new("class", 0, Width::Ptr)]);
        host.layout("Int", Some(&head), &[Field::new("value", 8, Width::I64)]);
    })
    .unwrap();
    let int = host.layout("Int").unwrap();
    assert_eq!(
        (int.field("class").offset, int.field("value").offset),
        (0, 8)
    );
    assert_eq!(host.layout("Float"), None);
}

#[test]
fn the_error_of_a_partial_host_lists_the_missing_routines() {
    let host = host(
        |name, _| name != "get_item" && name != names::LIST_LEN,
        |host| {
            host.partial();
        },
    )
    .unwrap();
    let missing = |callee: HelperId| host.missing_in(&calling(callee));
    assert_eq!(
        missing(host.helper("get_item")),
        Some(("helper", "get_item"))
    );
    assert_eq!(missing(host.helper("set_item")), None);
    let len = &host.intrinsics[host.intrinsic(names::LIST_LEN)];
    assert_eq!(
        host.missing_in(&len.func),
        Some(("intrinsic", names::LIST_LEN))
    );
}

#[test]
fn the_exit_hook_can_not_be_missing() {
    let made = error(
        |name, _| name != EXIT_HOOK,
        |host| {
            host.partial();
        },
    );
    assert_eq!(fault(&made), (HostFault::MissingHelper, EXIT_HOOK));
}

#[test]
fn intrinsics_may_be_text() {
    let text = "function \"value\"(ptr) -> i64 {
block0(v0: ptr):
  call note(v0)
  v1 = load.i64 v0+8
  return v1
}

; and another
function \"nothing\"() {
block0():
  return
}
";
    let made = host(all, |host| {
        host.helper("note", ADDRESS(), &[Ty::Ptr], &[]);
        host.intrinsics(Effects::ANY, text);
    })
    .unwrap();
    let found = |name| &made.intrinsics[made.intrinsic(name)].func.signature;
    assert_eq!(*found("value"), Signature::new(&[Ty::Ptr], &[Ty::I64]));
    assert_eq!(*found("nothing"), Signature::new(&[], &[]));
    let wrong = error(all, |host| {
        host.intrinsics(Effects::ANY, text);
    });
    assert_eq!(wrong.line(), Some(3), "{wrong}");
}

#[test]
fn a_host_that_traces_needs_no_routines_for_counts() {
    let counts = |name: &str| {
        name == FREE_LEAF || name == DEALLOC || name == names::DROP || name.contains("cref")
    };
    let made = host(
        |name, _| !counts(name),
        |host| {
            host.traced(16);
        },
    );
    let made = made.expect("a host");
    assert_eq!(made.lifetimes, Lifetimes::Traced { native_stack: 16 });
    let made = host(|name, _| !counts(name), |_| ());
    let made = made.expect_err("counts are missing");
    assert_eq!(made.fault(), HostFault::MissingHelper, "{made}");
}

#[test]
fn if_objects_are_traced_intrinsics_keep_no_address_across_a_collection() {
    let holding = |host: &mut HostBuilder| {
        let helper = host.helper("collect", ADDRESS(), &[], &[]);
        let mut func = Func::new("holding", Signature::new(&[Ty::Ptr], &[Ty::Ptr]));
        let p = func.params()[0];
        let mut b = Builder::new(&mut func);
        let part = b.load(Width::Ptr, p, 8);
        b.call(helper, &[], &[]);
        b.ret(&[part]);
        host.intrinsic("holding", Effects::ANY, func);
    };
    assert!(host(|_, _| true, holding).is_ok());
    let made = host(
        |_, _| true,
        |host| {
            host.traced(0);
            holding(host);
        },
    );
    let made = made.expect_err("an address that no collector finds");
    assert_eq!(fault(&made), (HostFault::UnlistedReference, "holding"));
    assert!(made.to_string().contains("needs v1 after"), "{made}");
}
