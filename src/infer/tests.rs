//! Tests of the annotation set (the rules in `docs/infer.md` that need no program), and of the cost
//! of an analysis. Programs are in `jit-tests/files/infer`.

use super::*;
use crate::bytecode::Document;
use crate::facts::Source;
use crate::types::{ConstValue, Type};
use std::fmt::Write;

fn int(value: i64) -> Facts {
    Facts::constant(Type::LONG_EXACT, ConstValue::Int(value))
}

fn some_int() -> Facts {
    Facts::of_type(Type::LONG_EXACT)
}

/// A list of the program with these items.
fn list(set: &mut AnnotationSet, items: Facts) -> (Identity, Sv) {
    let id = set.identity(Kind::List, "");
    set.slot(id, Slot::Items);
    if !items.is_impossible() {
        set.store_facts(id, Slot::Items, items);
    }
    let sv = set.fresh(Facts::object(Type::LIST_EXACT, id));
    (id, sv)
}

fn items(set: &AnnotationSet, id: Identity) -> Facts {
    set.slot_facts(id, &Slot::Items).expect("a list has items")
}

#[test]
fn fact_5_an_absent_fact_is_most_general_killing_twice_is_harmless_setting_twice_is_an_error() {
    let mut set = AnnotationSet::new();
    let sv = set.blank();
    assert!(set.get(sv).is_most_general());
    set.set(sv, Fact::Type(Type::LONG_EXACT)).unwrap();
    set.set(sv, Fact::Constant(ConstValue::Int(5))).unwrap();
    assert_eq!(
        set.set(sv, Fact::Type(Type::LONG_EXACT)),
        Err(FactError::AlreadySet(FactName::Type))
    );
    let reader = Reader(7);
    set.read(sv, reader);
    set.kill(sv, FactName::Constant);
    assert!(set.take_changed().contains(&reader), "a reader is told");
    let once = set.get(sv);
    assert_eq!((once.ty, once.constant.clone()), (Type::LONG_EXACT, None));
    set.kill(sv, FactName::Constant);
    assert_eq!(set.get(sv), once);
    assert!(set.take_changed().is_empty(), "nothing was less");
    assert_eq!(
        set.set(sv, Fact::Constant(ConstValue::Int(5))),
        Err(FactError::AlreadySet(FactName::Constant)),
        "facts only decrease"
    );
}

#[test]
fn the_extreme_values_take_no_facts_and_are_not_each_other() {
    let mut set = AnnotationSet::new();
    let fact = Fact::Type(Type::LONG_EXACT);
    assert_eq!(
        set.set(Sv::MOST_GENERAL, fact.clone()),
        Err(FactError::MostGeneral)
    );
    assert_eq!(set.set(Sv::IMPOSSIBLE, fact), Err(FactError::Impossible));
    assert!(set.get(Sv::IMPOSSIBLE).is_impossible() && !set.get(Sv::IMPOSSIBLE).is_most_general());
    assert!(
        set.get(Sv::MOST_GENERAL).is_most_general() && !set.get(Sv::MOST_GENERAL).is_impossible()
    );
    let five = set.fresh(int(5));
    assert_eq!(set.merge(Sv::IMPOSSIBLE, five), five);
    assert_eq!(set.merge(five, Sv::MOST_GENERAL), Sv::MOST_GENERAL);
}

#[test]
fn fact_7_two_joined_mutable_values_are_shared_and_keep_only_common_facts() {
    let mut set = AnnotationSet::new();
    let (a, one) = list(&mut set, int(1));
    let (b, other) = list(&mut set, int(2));
    set.store_facts(a, Slot::Len, int(1));
    set.store_facts(b, Slot::Len, int(2));
    assert!(!set.is_shared(one, other));
    let reader = Reader(3);
    let slot = set.slot(b, Slot::Items);
    set.read(slot, reader);
    set.take_changed();
    set.merge(one, other);
    assert!(set.is_shared(one, other));
    assert_eq!(items(&set, a).constant, None);
    assert_eq!(items(&set, b), items(&set, a));
    assert_eq!(set.slot_facts(a, &Slot::Len).unwrap().constant, None);
    assert!(
        set.take_changed().contains(&reader),
        "who read either is told"
    );
}

#[test]
fn fact_8_joined_immutable_values_stay_unshared() {
    let mut set = AnnotationSet::new();
    let (five, any) = (set.fresh(int(5)), set.fresh(some_int()));
    assert_eq!(set.merge(five, any), any, "the one of which less is known");
    assert_eq!(set.get(five), int(5));
    let six = set.fresh(int(6));
    let third = set.merge(five, six);
    assert!(third != five && third != six);
    assert_eq!(set.get(third).constant, None);
    assert!(set.get(third).nonneg);
    assert_eq!((set.get(five), set.get(six)), (int(5), int(6)));
}

#[test]
fn fact_10_an_empty_list_joined_with_a_list_of_ints_is_a_shared_list_of_ints() {
    let mut set = AnnotationSet::new();
    let (a, one) = list(&mut set, Facts::IMPOSSIBLE);
    let (_, other) = list(&mut set, some_int());
    set.merge(one, other);
    assert_eq!(items(&set, a), some_int());
    assert!(set.is_shared(one, other));
}

#[test]
fn fact_11_joins_are_a_semilattice_and_a_constant_contains_only_itself_and_nothing() {
    let samples = [
        Facts::IMPOSSIBLE,
        Facts::MOST_GENERAL,
        Facts::any_object(),
        int(5),
        int(-5),
        some_int(),
        some_int().not_negative(),
        Facts::of_type(Type::BOOL),
        Facts::of_type(Type::FLOAT_EXACT),
        Facts::constant(Type::NONE_TYPE, ConstValue::None),
        Facts::of_type(Type::UNICODE_EXACT),
        Facts::constant(Type::FLOAT_EXACT, ConstValue::Float(f64::NAN)),
        Facts::constant(Type::FLOAT_EXACT, ConstValue::Float(0.0)),
        Facts::constant(Type::FLOAT_EXACT, ConstValue::Float(-0.0)),
        some_int().because(Source::Assumed),
    ];
    for a in &samples {
        assert_eq!(a.join(a), *a);
        assert_eq!(Facts::IMPOSSIBLE.join(a), *a);
        for b in &samples {
            assert_eq!(a.join(b), b.join(a));
            let joined = a.join(b);
            assert_eq!(joined.join(a), joined, "an upper bound of both");
            if a.constant.is_some() && joined == *a && a.source == Source::Proved {
                assert!(b.is_impossible() || b == a, "{b:?} is within {a:?}");
            }
            for c in &samples {
                assert_eq!(a.join(b).join(c), a.join(&b.join(c)));
            }
        }
    }
}

#[test]
fn fact_13_zeros_differ_and_a_nan_is_itself() {
    let float = |value| Facts::constant(Type::FLOAT_EXACT, ConstValue::Float(value));
    assert_ne!(float(0.0), float(-0.0));
    assert_eq!(float(0.0).join(&float(-0.0)).constant, None);
    assert_eq!(float(f64::NAN), float(f64::NAN));
    assert!(float(f64::NAN).join(&float(f64::NAN)).constant.is_some());
}

#[test]
fn two_lists_that_hold_themselves_become_one() {
    let mut set = AnnotationSet::new();
    let mut all = Vec::new();
    for _ in 0..3 {
        let (id, sv) = list(&mut set, Facts::IMPOSSIBLE);
        set.store(id, Slot::Items, sv);
        all.push((id, sv));
    }
    set.merge(all[0].1, all[1].1);
    set.merge(all[1].1, all[2].1);
    assert_eq!(set.same(all[0].0), set.same(all[2].0));
    assert_eq!(items(&set, all[2].0), set.get(all[0].1));
}

#[test]
fn deep_lists_are_joined_without_recursion() {
    let mut set = AnnotationSet::new();
    let mut ends = Vec::new();
    for _ in 0..2 {
        let (_, mut sv) = list(&mut set, int(1));
        for _ in 0..50_000 {
            let (id, outer) = list(&mut set, Facts::IMPOSSIBLE);
            set.store(id, Slot::Items, sv);
            sv = outer;
        }
        ends.push(sv);
    }
    set.merge(ends[0], ends[1]);
    let escaping = set.get(ends[0]);
    set.escape(&escaping);
    let id = escaping.objects.ids[0];
    assert!(items(&set, id).is_most_general());
}

#[test]
fn escaped_values_their_contents_and_values_stored_in_them_lose_heap_facts() {
    let mut set = AnnotationSet::new();
    let (inner, inner_sv) = list(&mut set, int(1));
    let (outer, outer_sv) = list(&mut set, Facts::IMPOSSIBLE);
    set.store(outer, Slot::Items, inner_sv);
    let (later, later_sv) = list(&mut set, int(2));
    let facts = set.get(outer_sv);
    set.escape(&facts);
    assert!(items(&set, outer).is_most_general() && items(&set, inner).is_most_general());
    assert_eq!(items(&set, later), int(2));
    set.store(outer, Slot::Items, later_sv);
    assert!(items(&set, later).is_most_general());
}

/// Random numbers that are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

#[test]
fn facts_only_decrease_under_any_steps() {
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut set = AnnotationSet::new();
        let mut svs = vec![
            set.fresh(int(1)),
            set.fresh(Facts::of_type(Type::FLOAT_EXACT)),
        ];
        let mut ids = Vec::new();
        for _ in 0..120 {
            let before: Vec<Facts> = svs.iter().map(|sv| set.get(*sv)).collect();
            let (a, b) = (svs[random.below(svs.len())], svs[random.below(svs.len())]);
            let id = ids.get(random.below(ids.len().max(1))).copied();
            match (random.below(9), id) {
                (0, _) => svs.push(set.fresh(int(random.below(3) as i64 - 1))),
                (1, _) => {
                    let kind = [Kind::List, Kind::Dict, Kind::Tuple][random.below(3)];
                    let id = set.identity(kind, "");
                    ids.push(id);
                    svs.push(set.fresh(Facts::object(kind.ty(), id)));
                }
                (2 | 3, Some(id)) => set.store(id, Slot::Items, a),
                (4, Some(id)) => svs.push(set.slot(id, Slot::Items)),
                (5, _) => svs.push(set.merge(a, b)),
                (6, _) => set.flow(a, b),
                (7, _) if random.below(4) == 0 => {
                    let facts = set.get(a);
                    set.escape(&facts);
                }
                (8, _) => set.kill(a, FactName::Constant),
                _ => {}
            }
            for (sv, old) in svs.iter().zip(&before) {
                let new = set.get(*sv);
                assert_eq!(
                    old.join(&new).ty,
                    new.ty,
                    "seed {seed}: {old:?} became {new:?}"
                );
                assert!(new.constant.is_none() || old.is_impossible() || old.constant.is_some());
                assert!(old.nonneg || !new.nonneg);
                assert!(old.source <= new.source);
            }
        }
    }
}

/// Analyses the program from `f`, with these argument types.
fn run(text: &str, types: &[Type], options: &Options) -> (usize, Analysis) {
    let document = Document::parse(text).unwrap();
    let program = Program::of_document(&document).unwrap();
    let ops = program.functions.values().map(|f| f.insts.len()).sum();
    let start = program.find("f").map(|function| Start { function, types });
    (ops, analyse(&program, start.as_slice(), options))
}

/// Programs of about `n` operations, in several shapes.
fn shapes(n: usize) -> Vec<(&'static str, String)> {
    let head = "code \"f\" {\n  params 1\n  local n\n  local x\n  stack 4\n  const 1\n  const 2.5\n  resume 0\n  load_fast n\n  store_fast x\n";
    let mut straight = head.to_owned();
    for _ in 0..n / 7 {
        straight += "  load_fast x\n  load_const #0\n  binary_op +\n  store_fast x\n";
    }
    straight += "  load_fast x\n  return_value\n}\n";
    let mut diamonds = head.to_owned();
    for i in 0..n / 12 {
        let _ = write!(
            diamonds,
            "  load_fast x\n  load_const #0\n  compare_op <\n  to_bool\n  pop_jump_if_false l{i}\n  load_const #1\n  store_fast x\nl{i}:\n"
        );
    }
    diamonds += "  load_fast x\n  return_value\n}\n";
    let mut loops = head.to_owned();
    for i in 0..n / 16 {
        let _ = write!(
            loops,
            "h{i}:\n  load_fast x\n  load_const #0\n  compare_op <\n  to_bool\n  pop_jump_if_false l{i}\n  load_fast x\n  load_const #1\n  binary_op +\n  store_fast x\n  jump_backward h{i}\nl{i}:\n"
        );
    }
    loops += "  load_fast x\n  return_value\n}\n";
    let mut lists = head.replace("stack 4", "stack 4\n  name append");
    lists += "  build_list 0\n  store_fast x\n";
    for _ in 0..n / 9 {
        lists += "  load_fast x\n  load_attr append, 1\n  load_fast n\n  call 1\n  pop_top\n";
    }
    lists += "  load_fast x\n  return_value\n}\n";
    vec![
        ("straight", straight),
        ("diamonds", diamonds),
        ("loops", loops),
        ("lists", lists),
    ]
}

/// The most times that each operation is evaluated on the average, as `docs/infer.md` states.
const MAX_VISITS: u64 = 8;

#[test]
fn the_cost_is_near_linear_to_5000_operations() {
    let small = shapes(600);
    let large = shapes(5000);
    for ((shape, small), (_, large)) in small.iter().zip(&large) {
        let cost = |text: &str| {
            let (ops, analysis) = run(text, &[Type::LONG_EXACT], &Options::default());
            assert!(
                analysis.steps <= MAX_VISITS * ops as u64,
                "{shape}: {} for {ops}",
                analysis.steps
            );
            (ops, analysis.steps as f64 / ops as f64)
        };
        let ((_, few), (ops, many)) = (cost(small), cost(large));
        assert!(ops >= 4000, "{shape} has only {ops} operations");
        assert!(
            many <= 1.3 * few,
            "{shape}: {few} steps an operation, then {many}"
        );
    }
}

#[test]
fn a_program_of_every_shape_gives_the_same_in_any_order() {
    for (shape, text) in shapes(300) {
        let (_, first) = run(&text, &[Type::LONG_EXACT], &Options::default());
        for seed in 0..20 {
            let options = Options {
                shuffle: Some(seed),
                ..Options::default()
            };
            let (_, other) = run(&text, &[Type::LONG_EXACT], &options);
            assert_eq!(first.canonical, other.canonical, "{shape}, seed {seed}");
        }
    }
}

#[test]
fn more_groups_than_the_budget_allows_leave_one_version() {
    let mut text = String::from("object \"g\": function = g\n");
    text += "code \"g\" {\n  params 1\n  local x\n  stack 1\n  load_fast x\n  return_value\n}\n";
    text += "code \"f\" {\n  params 0\n  stack 4\n  const 1\n  const 2.5\n  const \"s\"\n  const None\n  const True\n  const Func[g]\n";
    for constant in 0..5 {
        let _ = write!(
            text,
            "  load_const #5\n  push_null\n  load_const #{constant}\n  call 1\n  pop_top\n"
        );
    }
    text += "  return_const #3\n}\n";
    let text = format!("object \"None\": NoneType immortal = None\n{text}");
    let versions = |max_versions| {
        let options = Options {
            max_versions,
            ..Options::default()
        };
        let (_, analysis) = run(&text, &[], &options);
        analysis
            .versions
            .iter()
            .filter(|found| found.name.starts_with('g'))
            .count()
    };
    assert_eq!((versions(4), versions(5)), (1, 5));
}
