//! Tests of the lifetimes of handles, and of rejected registrations.

use crate::types::{
    ClassDesc, ClassHandle, HandleError, HostId, Names, ObjectDesc, Predefined, Type,
};

fn object_class(host: HostId) -> ClassHandle {
    host.register_class(ClassDesc::builtin(Predefined::Object, vec![]))
        .expect("the first")
}

fn user(host: HostId, name: &str, bases: &[ClassHandle]) -> ClassHandle {
    host.register_class(ClassDesc::new(name, bases.to_vec(), Predefined::Object))
        .expect("well-formed")
}

#[test]
fn a_hosts_builtin_class_is_the_predefined_type() {
    let host = HostId::new();
    let object = object_class(host);
    let list = host
        .register_class(ClassDesc::builtin(Predefined::List, vec![object]))
        .expect("well-formed");
    assert_eq!(Type::from_class(list), Type::LIST);
    assert_eq!(Type::from_class_exact(list), Type::LIST_EXACT);
    assert_eq!(Type::from_class(object), Type::OBJECT);
    assert_eq!(Type::from_class_exact(object), Type::OBJECT_EXACT);
    assert_eq!(Type::LIST.unique_class_in(host), Some(list));
    assert_eq!(Type::LIST_EXACT.mortal().runtime_class_in(host), Some(list));
    assert_eq!(Type::LIST.runtime_class_in(host), None);
    host.close();
}

#[test]
fn a_forgotten_class_is_stale_after_its_last_pin_is_dropped() {
    let host = HostId::new();
    let class = user(host, "Fleeting", &[]);
    let (first, second) = (class.pin(), class.pin().clone());
    class.forget();
    assert!(class.is_alive() && &*class.name() == "Fleeting");
    drop(first);
    assert!(class.is_alive());
    drop(second);
    assert!(!class.is_alive());
    assert_eq!(
        (&*class.name(), class.token(), class.host()),
        ("<stale>", 0, None)
    );
    assert!(class.try_pin().is_none() && class.pin().handle().is_none());
    assert_eq!(Type::from_class(class), Type::OBJECT);
}

#[test]
fn a_stale_class_is_related_to_itself_only() {
    let host = HostId::new();
    let base = user(host, "Base", &[]);
    let class = user(host, "Derived", &[base]);
    let (exact, open) = (Type::from_class_exact(class), Type::from_class(class));
    assert!(open <= Type::from_class(base));
    class.forget();
    assert!(
        class.is_subclass_of(class) && !class.is_subclass_of(base) && !base.is_subclass_of(class)
    );
    assert!(open == open && open <= open && exact <= open);
    assert!(!(open <= Type::from_class(base)) && !(Type::from_class(base) <= open));
    assert!(open <= Type::USER, "what the leaves say still holds");
    // The text of a stale type still reads back as itself.
    for ty in [open, exact, open.mortal()] {
        assert_eq!(
            Type::parse(&ty.to_string(), &Names::of(host)),
            Ok(ty),
            "{ty}"
        );
    }
    // All operations accept a stale type.
    let other = Type::from_class(base);
    assert!(open <= open | other && other <= open | other && open <= open.join(other));
    let _ = (
        open & other,
        open - other,
        open.could_be(other),
        exact.is_exact(),
        exact.runtime_class(),
    );
    host.close();
}

#[test]
fn a_new_class_at_the_same_address_is_another_class() {
    let host = HostId::new();
    let desc = || ClassDesc::new("Again", vec![], Predefined::Object).with_token(0x1000);
    let first = host.register_class(desc()).expect("well-formed");
    assert_eq!(
        host.register_class(desc()),
        Ok(first),
        "the same class while it lives"
    );
    let pin = first.pin();
    first.forget();
    let second = host
        .register_class(desc())
        .expect("the address is free again");
    assert_ne!(first, second);
    assert_ne!(Type::from_class(first), Type::from_class(second));
    // Both are alive: their texts must differ.
    assert_eq!(Type::from_class(first).to_string(), "User[Again]");
    assert_eq!(Type::from_class(second).to_string(), "User[Again#2]");
    assert_eq!(
        Type::parse("User[Again#2]", &Names::of(host)),
        Ok(Type::from_class(second))
    );
    drop(pin);
    let third = user(host, "Other", &[]);
    assert_eq!(first.is_alive(), third == first);
    host.close();
}

#[test]
fn slots_are_used_again_but_handles_are_not() {
    let host = HostId::new();
    let mut seen = std::collections::HashSet::new();
    for _ in 0..2000 {
        let class = user(host, "Shortlived", &[]);
        assert!(seen.insert(class), "{class:?} was given twice");
        class.forget();
    }
    host.close();
}

#[test]
fn subclasses_and_instances_keep_their_classes_alive() {
    let host = HostId::new();
    let base = user(host, "Base", &[]);
    let derived = user(host, "Derived", &[base]);
    let instance = host
        .register_object(ObjectDesc::new("it", derived))
        .expect("well-formed");
    base.forget();
    derived.forget();
    assert!(base.is_alive() && derived.is_subclass_of(base));
    instance.forget();
    assert!(!instance.is_alive() && !derived.is_alive() && !base.is_alive());
    assert_eq!(
        (instance.class(), instance.is_immortal(), &*instance.name()),
        (None, false, "<stale>")
    );
    assert_eq!(Type::from_object(instance), Type::OBJECT);
}

#[test]
fn classes_of_two_hosts_are_never_related() {
    let (here, there) = (HostId::new(), HostId::new());
    let (a, b) = (user(here, "Same", &[]), user(there, "Same", &[]));
    let (ours, theirs) = (Type::from_class(a), Type::from_class(b));
    assert!(ours != theirs && !(ours <= theirs) && !(theirs <= ours));
    assert!(!ours.could_be(theirs) && (ours & theirs).is_bottom());
    assert_eq!(ours | theirs, Type::USER);
    assert_eq!(ours.join(theirs), Type::USER);
    let foreign = there.register_class(ClassDesc::new("Mixed", vec![a], Predefined::Object));
    assert!(matches!(foreign, Err(HandleError::ForeignClass { .. })));
    assert!(matches!(
        there.register_object(ObjectDesc::new("x", a)),
        Err(HandleError::ForeignClass { .. })
    ));
    assert!(
        Type::parse("User[Same]", &Names::of(here)) == Ok(ours)
            && Type::parse("User[Same]", &Names::of(there)) == Ok(theirs)
    );
    here.close();
    there.close();
}

#[test]
fn impossible_descriptions_are_refused_by_name() {
    let host = HostId::new();
    let object = object_class(host);
    let int = host
        .register_class(ClassDesc::builtin(Predefined::Long, vec![object]))
        .expect("well-formed");
    let bytes = host
        .register_class(ClassDesc::builtin(Predefined::Bytes, vec![object]))
        .expect("well-formed");
    let bool_ = host
        .register_class(ClassDesc::builtin(Predefined::Bool, vec![int, object]))
        .expect("well-formed");
    let base = user(host, "Base", &[object]);
    let refused = |desc: ClassDesc| {
        host.register_class(desc)
            .expect_err("impossible")
            .to_string()
    };
    let new = |bases: &[ClassHandle], row| ClassDesc::new("New", bases.to_vec(), row);
    assert_eq!(
        refused(new(&[base, base, object], Predefined::Object)),
        "the resolution order of `New` holds `Base` twice"
    );
    assert_eq!(
        refused(new(&[base], Predefined::Object)),
        "the resolution order of `New` does not hold `object` after `Base`, which derives from it"
    );
    assert_eq!(
        refused(new(&[int, object], Predefined::Object)),
        "`New` is declared a `Object` but inherits from `int`, a `Long`"
    );
    assert_eq!(
        refused(new(&[int, bytes, object], Predefined::Long)),
        "the layouts of `int` and `bytes` conflict, so `New` can't inherit from both"
    );
    assert_eq!(
        refused(new(&[bool_, int, object], Predefined::Long)),
        "`New` can't inherit from `bool`: it is closed"
    );
    assert_eq!(
        refused(new(&[object], Predefined::Bool)),
        "`New` can't inherit from `bool`: it is closed"
    );
    assert_eq!(
        refused(ClassDesc::builtin(Predefined::Long, vec![object])),
        "`int` is registered already, as `int`"
    );
    let own = |name: &str| ClassDesc {
        owns_layout: true,
        ..ClassDesc::new(name, vec![object], Predefined::Object)
    };
    let (one, two) = (
        host.register_class(own("One")).expect("well-formed"),
        host.register_class(own("Two")).expect("well-formed"),
    );
    assert!(matches!(
        host.register_class(new(&[one, two, object], Predefined::Object)),
        Err(HandleError::LayoutConflict { .. })
    ));
    let taken = host
        .register_class(ClassDesc::new("T", vec![], Predefined::Object).with_token(7))
        .expect("well-formed");
    assert!(matches!(
        host.register_class(new(&[], Predefined::Object).with_token(7)),
        Err(HandleError::TokenInUse { .. })
    ));
    taken.forget();
    assert!(matches!(
        host.register_class(new(&[taken], Predefined::Object)),
        Err(HandleError::Stale { .. })
    ));
    host.close();
    assert_eq!(
        host.register_class(new(&[], Predefined::Object)),
        Err(HandleError::HostClosed)
    );
}

#[test]
fn classes_with_more_ancestors_than_a_slot_holds_answer_the_same() {
    let host = HostId::new();
    let mut mro: Vec<ClassHandle> = Vec::new();
    for level in 0..60 {
        let class = user(host, &format!("Level{level}"), &mro);
        assert!(
            mro.iter()
                .all(|base| class.is_subclass_of(*base) && !base.is_subclass_of(class))
        );
        mro.insert(0, class);
    }
    let stranger = user(host, "Stranger", &[]);
    assert!(
        mro.iter()
            .all(|class| !class.is_subclass_of(stranger) && !stranger.is_subclass_of(*class))
    );
    host.close();
}

/// Readers without a lock while slots are reused: an answer is always about the class of the query.
#[test]
fn readers_never_see_half_a_class() {
    let host = HostId::new();
    let (even, odd) = (user(host, "Even", &[]), user(host, "Odd", &[]));
    let current = std::sync::Mutex::new((even, even));
    let stop = std::sync::atomic::AtomicBool::new(false);
    let stop_reading = || stop.load(std::sync::atomic::Ordering::Relaxed);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop_reading() {
                    let (class, base) = *current.lock().expect("no panic");
                    let other = if base == even { odd } else { even };
                    assert!(
                        !class.is_subclass_of(other),
                        "of the class that has the slot now"
                    );
                    assert!(class.is_subclass_of(base) || !class.is_alive());
                }
            });
        }
        for round in 0..5000 {
            let base = if round % 2 == 0 { even } else { odd };
            let class = user(host, "Changing", &[base]);
            *current.lock().expect("no panic") = (class, base);
            class.forget();
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    host.close();
}
