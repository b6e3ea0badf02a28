//! Tests of edits, of the results that they invalidate, of ownership, and of questions from several
//! threads.

use super::{bind, chain};
use crate::typegraph::{Answer, Binding, Limits, Node, Program};
use std::cell::Cell;
use std::rc::Rc;

/// T01: numbers are dense, by kind, and lists are in order of creation.
#[test]
fn numbers_and_lists_follow_the_order_of_creation() {
    let mut p = Program::new(0);
    let n1 = p.node("foo");
    let (n2, n3) = (p.node_after(n1, "n2"), p.node_after(n1, "n3"));
    let n4 = p.node_after(n3, "n4");
    assert_eq!([n1, n2, n3, n4].map(|n| n.as_u32()), [0, 1, 2, 3]);
    assert_eq!(p.node_name(n1), "foo");
    assert_eq!(
        (p.successors(n1), p.predecessors(n4)),
        (&[n2, n3][..], &[n3][..])
    );
    let (x, y) = (p.variable("x"), p.variable("y"));
    let bindings = [p.bind(x, 1), p.bind(y, 1), p.bind(x, 2)];
    assert_eq!(bindings.map(|b| b.as_u32()), [0, 1, 2]);
    assert_eq!((x.as_u32(), y.as_u32()), (0, 1));
    assert_eq!(p.bind(x, 2), bindings[2]);
    assert_eq!((p.variable_of(bindings[2]), *p.data(bindings[2])), (x, 2));
    // A node lists a binding once, when it gets its first origin there.
    p.add_origin(bindings[2], n1, &[]);
    p.add_origin(bindings[0], n1, &[]);
    p.add_origin(bindings[2], n1, &[bindings[1]]);
    assert_eq!(p.bindings_at(n1), [bindings[2], bindings[0]]);
    assert_eq!(p.nodes_of(x), [n1]);
    assert_eq!(format!("{n1} {x} {}", bindings[2]), "n0 v0 b2");
}

/// T04 and T35: source sets are sets, ordered by number; the same origin grows.
#[test]
fn an_origin_holds_each_source_set_once_and_in_order() {
    let mut p = Program::new(0);
    let n = p.node("");
    let (a, b) = (bind(&mut p, 1, n, &[]), bind(&mut p, 1, n, &[]));
    let c = bind(&mut p, 1, n, &[b, a, b]);
    p.add_origin(c, n, &[b]);
    p.add_origin(c, n, &[a, b]);
    p.add_origin(c, n, &[]);
    let [origin] = p.origins(c) else {
        panic!("one origin a node");
    };
    let sets: Vec<Vec<_>> = origin.sources.iter().map(|set| set.to_vec()).collect();
    assert_eq!(sets, [vec![], vec![a, b], vec![b]]);
}

/// The original's limit: 63 values, and the default.
#[test]
fn the_64th_binding_is_the_default() {
    let mut p = Program::new(1000);
    let x = p.variable("x");
    let bindings: Vec<_> = (0..64).map(|data| p.bind(x, data)).collect();
    assert_eq!(p.bindings_of(x).len(), 64);
    assert_eq!(p.bind(x, 1), bindings[1]);
    assert_eq!(p.bind(x, 1000), bindings[63]);
    assert_eq!(p.bind(x, 77), bindings[63]);
    assert_eq!(*p.data(bindings[63]), 1000);
    assert_eq!(p.bindings_of(x).len(), 64);
    // Pasting more into it does not exceed the limit either.
    let node = p.node("");
    let y = p.variable_with("y", 100..120, node, &[]);
    p.paste_variable(x, y, None, &[]);
    assert_eq!(p.bindings_of(x).len(), 64);
}

/// T59, and more: the edits that keep the solver, and those that drop it.
#[test]
fn every_edit_that_can_change_an_answer_drops_the_solver() {
    let mut p = Program::new(0);
    let n1 = p.node("");
    p.variable("");
    assert!(!p.has_solver());
    assert_eq!(p.ask(n1, &[]), Answer::Feasible);
    assert!(p.has_solver());
    let x = p.variable("");
    assert!(p.has_solver(), "a new variable changes nothing");
    p.set_entry(n1);
    p.set_default_data(7);
    p.set_limits(Limits::default());
    p.set_budget(p.budget());
    assert!(p.has_solver(), "nor does what is not asked");
    let n2 = p.node("");
    let a = p.bind(x, 1);
    type Edit<'a> = &'a dyn Fn(&mut Program<u32>);
    let edits: [(&str, Edit<'_>); 10] = [
        ("node", &|p| {
            p.node("");
        }),
        ("edge", &|p| p.connect(n1, n2)),
        ("condition", &|p| p.set_condition(n1, Some(a))),
        ("binding", &|p| {
            p.bind(x, 2);
        }),
        ("origin", &|p| p.add_origin(a, n1, &[])),
        ("empty origin", &|p| p.add_empty_origin(a, n2)),
        ("copy", &|p| p.copy_origins(a, a, None, &[])),
        ("paste", &|p| {
            p.paste_binding(x, a, Some(n2), &[]);
        }),
        ("other data", &|p| {
            p.paste_with_data(x, a, 9);
        }),
        ("assign", &|p| {
            p.assign("", &[a], None);
        }),
    ];
    for (what, edit) in edits {
        p.ask(n1, &[]);
        assert!(p.has_solver());
        edit(&mut p);
        assert!(!p.has_solver(), "{what}");
    }
    assert!(p.metrics().solvers.len() >= edits.len());
}

/// Reachability is updated, too.
#[test]
fn edits_between_questions_take_effect() {
    let mut p = Program::new(0);
    let nodes = chain(&mut p, 70);
    let x = bind(&mut p, 1, nodes[69], &[]);
    assert!(!p.is_visible(x, nodes[0]) && !p.is_reachable(nodes[69], nodes[0]));
    p.connect(nodes[69], nodes[0]);
    assert!(p.is_visible(x, nodes[0]) && p.is_reachable(nodes[69], nodes[0]));
    let new = p.node("");
    assert!(!p.is_visible(x, new));
    p.connect(nodes[30], new);
    assert!(p.is_visible(x, new));
}

#[test]
fn data_are_dropped_with_the_graph_and_not_before() {
    struct Counted(u32, Rc<Cell<u32>>);
    impl PartialEq for Counted {
        fn eq(&self, other: &Counted) -> bool {
            self.0 == other.0
        }
    }
    impl Drop for Counted {
        fn drop(&mut self) {
            self.1.set(self.1.get() + 1);
        }
    }
    let dropped = Rc::new(Cell::new(0));
    let data = |n| Counted(n, dropped.clone());
    let mut p = Program::new(data(0));
    let node = p.node("");
    let (x, y) = (p.variable(""), p.variable(""));
    p.bind_at(x, data(1), node, &[]);
    p.bind_at(x, data(2), node, &[]);
    p.set_default_data(data(3));
    p.paste_variable(y, x, None, &[]);
    assert_eq!(dropped.get(), 0, "pasted data are shared");
    p.bind(x, data(2));
    assert_eq!(
        dropped.get(),
        1,
        "data that are there already are not kept twice"
    );
    drop(p.freeze());
    assert_eq!(dropped.get(), 5);
}

#[test]
fn a_frozen_graph_is_queried_from_several_threads() {
    let mut p = Program::new(0);
    let nodes = chain(&mut p, 50);
    p.connect(nodes[49], nodes[10]);
    let x = p.variable("x");
    let bindings: Vec<_> = (0..50u32)
        .map(|i| p.bind_at(x, i % 7, nodes[i as usize], &[]))
        .collect();
    let flag = p.variable("flag");
    let flags = [1, 2].map(|data| p.bind_at(flag, data, nodes[0], &[]));
    p.set_condition(nodes[20], Some(flags[0]));
    let expected: Vec<Answer> = questions(&nodes, &bindings, flags[1])
        .map(|(node, goals)| p.ask(node, &goals))
        .collect();
    assert!(expected.contains(&Answer::Feasible) && expected.contains(&Answer::Infeasible));
    let frozen = p.freeze();
    fn is_sync<T: Sync>(_: &T) {}
    is_sync(&frozen);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut solver = frozen.solver();
                let asked = questions(&nodes, &bindings, flags[1]);
                let answers: Vec<Answer> = asked.map(|(n, goals)| solver.ask(n, &goals)).collect();
                assert_eq!(answers, expected);
            });
        }
    });
    // A frozen graph can be thawed and changed.
    let mut p = frozen.thaw();
    assert_eq!(p.ask(nodes[20], &[flags[1]]), Answer::Infeasible);
    p.set_condition(nodes[20], None);
    assert_eq!(p.ask(nodes[20], &[flags[1]]), Answer::Feasible);
}

fn questions<'a>(
    nodes: &'a [Node],
    bindings: &'a [Binding],
    flag: Binding,
) -> impl Iterator<Item = (Node, Vec<Binding>)> + 'a {
    nodes.iter().flat_map(move |&node| {
        let all = bindings.iter().step_by(3);
        all.map(move |&binding| (node, vec![binding, flag]))
    })
}

#[test]
fn a_graph_that_is_too_large_is_not_searched() {
    let mut p = Program::new(0);
    let nodes = chain(&mut p, 10);
    let x = bind(&mut p, 1, nodes[0], &[]);
    let mut budget = p.budget();
    budget.nodes = 9;
    p.set_budget(budget);
    assert!(matches!(p.ask(nodes[9], &[x]), Answer::Unknown(_)));
    assert!(p.is_visible(x, nodes[9]), "nothing is disproved");
    assert!(p.is_reachable(nodes[0], nodes[9]) && !p.is_reachable(nodes[9], nodes[0]));
    assert!(p.can_have_combination(nodes[9], &[x]));
    let frozen = p.freeze();
    assert!(matches!(
        frozen.solver().ask(nodes[9], &[x]),
        Answer::Unknown(_)
    ));
}

#[test]
fn combinations_beyond_the_limit_are_one_of_default_data() {
    let mut p = Program::new(99);
    let node = p.node("");
    let variables: Vec<_> = (0..11)
        .map(|_| p.variable_with("", 0..2, node, &[]))
        .collect();
    assert_eq!(p.views(&variables[..10], node).len(), 1024);
    let [only] = &p.views(&variables, node)[..] else {
        panic!("one combination");
    };
    assert!(only.iter().all(|&b| *p.data(b) == 99));
    assert_eq!(p.ask(node, only), Answer::Feasible);
    assert_eq!(p.views(&[], node), [vec![]]);
}
