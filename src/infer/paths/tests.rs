//! Tests that executions of random functions never contradict a finding, and that some given
//! functions have the expected findings.

use super::{Fact, Subjects, find};
use crate::bytecode::{Document, GeneralOp, Pc};
use crate::facts::{Source, World};
use crate::hir::{Block, BlockData, Cmp, Edge, FrameState, Function, Inst, Op, Place, Term, Value};
use crate::types::{ConstValue, ObjectHandle, Type};
use std::collections::HashMap;
use std::sync::Arc;

const CODE: &str = r#"
class "Point": Object (object) = Point
object "None": NoneType immortal = None
object "1": int immortal = 1
object "2": int immortal = 2
object "\"a\"": str immortal = "a"
object "1.5": float = 1.5
object "True": bool immortal = True
object "False": bool immortal = False
object "p": Point = p
code "f" {
  params 0
  stack 0
  const ImmortalNoneType = None
  const ImmortalLongExact[1] = 1
  const ImmortalLongExact[2] = 2
  const ImmortalUnicodeExact["a"] = "a"
  const FloatExact[1.5] = 1.5
  const ImmortalBool[True] = True
  const ImmortalBool[False] = False
  const ObjectUser[p]
  return_const #0
}
"#;

struct Constants(HashMap<ObjectHandle, ConstValue>);

impl World for Constants {
    fn value(&self, object: ObjectHandle) -> ConstValue {
        self.0.get(&object).cloned().unwrap_or(ConstValue::Other)
    }
}

/// A source of random decisions.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005);
        self.0 = self.0.wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A function under construction. Values of other blocks are used only if they are the entry's.
struct Maker {
    f: Function,
    block: Block,
}

fn nowhere() -> FrameState {
    FrameState {
        pc: Pc(0),
        locals: Default::default(),
        stack: Vec::new(),
        inlined: Vec::new(),
    }
}

impl Maker {
    fn new(document: &Document) -> Maker {
        let mut f = Function::new(Arc::new(document.codes[0].clone()));
        let block = f.blocks.push(BlockData::new(nowhere(), Pc(0)));
        Maker { f, block }
    }

    fn block(&mut self) -> Block {
        self.f.blocks.push(BlockData::new(nowhere(), Pc(0)))
    }

    fn value(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        self.f.insts.push(Inst {
            op,
            args: args.to_vec(),
            ty,
            source: Source::Proved,
            state: None,
            pc: Pc(0),
        })
    }

    fn param(&mut self, b: Block, ty: Type) -> Value {
        let v = self.value(Op::Param, &[], ty);
        self.f.blocks[b].params.push((v, Place::Local(0)));
        v
    }

    fn emit(&mut self, op: Op, args: &[Value], ty: Type) -> Value {
        let v = self.value(op, args, ty);
        self.f.blocks[self.block].insts.push(v);
        v
    }

    fn guard(&mut self, v: Value, ty: Type) -> Value {
        let known = self.f.ty(v) & ty;
        let known = if known.is_bottom() { ty } else { known };
        self.emit(Op::GuardType(ty), &[v], known)
    }

    fn constants(&mut self) -> Vec<Value> {
        let objects: Vec<ObjectHandle> = self.f.code.consts.iter().map(|c| c.object).collect();
        let constant = |o: &ObjectHandle| self.emit(Op::Const(*o), &[], Type::from_object(*o));
        objects.iter().map(constant).collect()
    }

    fn end(&mut self, term: Term) {
        self.f.blocks[self.block].term = term;
    }

    fn finish(mut self) -> Function {
        let entry = self.f.blocks.keys().next().expect("the entry");
        self.f.compute_order(entry);
        self.f
    }
}

fn jump(block: Block, args: &[Value]) -> Edge {
    Edge {
        block,
        args: args.to_vec(),
    }
}

fn world(document: &Document) -> Constants {
    let consts = document.codes[0].consts.iter();
    Constants(consts.map(|c| (c.object, c.value.clone())).collect())
}

/// A function of a few blocks, with two objects, a truth value and an int carried from each to
/// each.
fn random_function(document: &Document, random: &mut Random) -> Function {
    let mut m = Maker::new(document);
    let entry = m.block;
    let blocks: Vec<Block> = (0..2 + random.below(5)).map(|_| m.block()).collect();
    let object = Type::OBJECT.opt();
    let params: Vec<[Value; 4]> = blocks
        .iter()
        .map(|&b| [object, object, Type::CBOOL, Type::CINT64].map(|ty| m.param(b, ty)))
        .collect();
    let mut constants = m.constants();
    let null = m.emit(Op::Null, &[], Type::NULLPTR);
    let args: Vec<Value> = (0..2)
        .map(|k| m.emit(Op::Arg(k), &[], Type::OBJECT))
        .collect();
    constants.truncate(2 + random.below(6));
    let ints: Vec<Value> = (0..3)
        .map(|n| m.emit(Op::ConstInt(n), &[], Type::CINT64))
        .collect();
    let truths: Vec<Value> = [true, false]
        .map(|b| m.emit(Op::ConstBool(b), &[], Type::CBOOL))
        .to_vec();
    for index in 0..=blocks.len() {
        m.block = if index == 0 { entry } else { blocks[index - 1] };
        let mut objects = [&constants[..], &args, &[null]].concat();
        let (mut numbers, mut bools) = (ints.clone(), truths.clone());
        if index > 0 {
            let [a, b, c, d] = params[index - 1];
            // Use incoming values more often than new ones.
            for _ in 0..4 {
                objects.extend([a, b]);
                bools.push(c);
                numbers.push(d);
            }
        }
        for _ in 0..random.below(5) {
            let (v, n, c) = (
                random.pick(&objects),
                random.pick(&numbers),
                random.pick(&bools),
            );
            match random.below(9) {
                8 => {
                    m.emit(Op::General(GeneralOp::Negative, [0; 2]), &[v], Type::OBJECT);
                }
                0 | 1 => bools.push(m.emit(Op::IsNone, &[v], Type::CBOOL)),
                2 => bools.push(m.emit(Op::BoolNot, &[c], Type::CBOOL)),
                3 => {
                    let cmp = random.pick(&[Cmp::Eq, Cmp::Lt, Cmp::Ge]);
                    let to = random.pick(&ints);
                    bools.push(m.emit(Op::IntCmp(cmp), &[n, to], Type::CBOOL));
                }
                4 if m.f.ty(v).could_be(Type::BOOL) => {
                    let guarded = m.guard(v, Type::BOOL);
                    bools.push(m.emit(Op::UnboxBool, &[guarded], Type::CBOOL));
                }
                5 => {
                    let known = m.f.ty(v) - Type::NULLPTR;
                    if !known.is_bottom() {
                        objects.push(m.emit(Op::GuardBound, &[v], known));
                    }
                }
                6 => bools.push(m.emit(Op::IsNull, &[v], Type::CBOOL)),
                _ => {
                    let ty = random.pick(&[
                        Type::LONG_EXACT,
                        Type::UNICODE_EXACT,
                        Type::FLOAT_EXACT,
                        Type::NONE_TYPE,
                    ]);
                    if m.f.ty(v).could_be(ty) {
                        objects.push(m.guard(v, ty));
                    }
                }
            }
        }
        let edge = |random: &mut Random| {
            let args = [
                random.pick(&objects),
                random.pick(&objects),
                random.pick(&bools),
                random.pick(&numbers),
            ];
            jump(random.pick(&blocks), &args)
        };
        let term = match random.below(8) {
            0 if index > 0 => Term::Return(null),
            1 | 2 => Term::Jump(edge(random)),
            _ => Term::Branch {
                cond: random.pick(&bools),
                then: edge(random),
                els: edge(random),
            },
        };
        m.end(term);
    }
    m.finish()
}

/// A value in an execution.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Held {
    Object(Type),
    Truth(bool),
    Int(i64),
}

/// Executes with these objects as arguments. Returns the number of times that a finding was tested.
fn execute(f: &Function, world: &Constants, args: &[Type], found: &[Fact]) -> usize {
    let mut held: HashMap<Value, Held> = HashMap::new();
    let (mut block, mut tested) = (f.entry(), 0);
    for _ in 0..40 {
        let data = &f.blocks[block];
        for &v in &data.insts {
            let inst = &f.insts[v];
            let object = |k: usize| match held[&inst.args[k]] {
                Held::Object(ty) => ty,
                other => panic!("{other:?}"),
            };
            let truth = |k: usize| held[&inst.args[k]] == Held::Truth(true);
            let int = |k: usize| match held[&inst.args[k]] {
                Held::Int(n) => n,
                other => panic!("{other:?}"),
            };
            let mut pass = |ty: Type, holds: bool| {
                let is_found = found.contains(&Fact::Holds(v));
                tested += is_found as usize;
                assert!(holds || !is_found, "{v} fails for {ty} in\n{f}");
                holds.then_some(Held::Object(ty))
            };
            let result = match &inst.op {
                Op::Const(o) => Held::Object(Type::from_object(*o)),
                Op::Null => Held::Object(Type::NULLPTR),
                Op::Arg(k) => Held::Object(args[*k as usize]),
                Op::ConstInt(n) => Held::Int(*n),
                Op::ConstBool(b) => Held::Truth(*b),
                Op::IsNone => Held::Truth(object(0) <= Type::NONE_TYPE),
                Op::IsNull => Held::Truth(object(0) <= Type::NULLPTR),
                Op::BoolNot => Held::Truth(!truth(0)),
                Op::IntCmp(cmp) => Held::Truth(cmp.of(int(0), int(1))),
                Op::UnboxBool => match world.value(object(0).as_object().expect("a constant")) {
                    ConstValue::Bool(value) => Held::Truth(value),
                    other => panic!("{other}"),
                },
                Op::General(..) => {
                    for fact in found {
                        if let Fact::Narrowed(op, 0, ty) = fact
                            && *op == v
                        {
                            tested += 1;
                            assert!(object(0) <= *ty, "{v} gets no {ty} in\n{f}");
                        }
                    }
                    Held::Object(Type::OBJECT)
                }
                Op::GuardType(ty) => match pass(object(0), object(0) <= *ty) {
                    Some(object) => object,
                    None => return tested,
                },
                Op::GuardBound => match pass(object(0), !(object(0) <= Type::NULLPTR)) {
                    Some(object) => object,
                    None => return tested,
                },
                other => panic!("{other:?}"),
            };
            held.insert(v, result);
        }
        let edge = match &data.term {
            Term::Jump(edge) => edge,
            Term::Branch { cond, then, els } => {
                let holds = held[cond] == Held::Truth(true);
                for fact in found {
                    if let Fact::Taken(b, side) = *fact
                        && b == block
                    {
                        tested += 1;
                        assert!(side == holds, "{b} is left to the other side in\n{f}");
                    }
                }
                if holds { then } else { els }
            }
            _ => return tested,
        };
        let values: Vec<Held> = edge.args.iter().map(|a| held[a]).collect();
        block = edge.block;
        let params = f.blocks[block].params.iter();
        held.extend(params.map(|p| p.0).zip(values));
    }
    tested
}

#[test]
fn executions_do_not_contradict_the_results() {
    let document = Document::parse(CODE).expect("a document");
    let world = world(&document);
    let objects: Vec<Type> = document.codes[0]
        .consts
        .iter()
        .map(|c| Type::from_object(c.object))
        .collect();
    let (mut checks, mut branches, mut operands, mut tested) = (0, 0, 0, 0);
    for seed in 0..4000 {
        let mut random = Random(seed * 7919 + 1);
        let f = random_function(&document, &mut random);
        let (mut found, _) = find(&f, &world, Subjects::Checks);
        found.extend(find(&f, &world, Subjects::Operands).0);
        let found: Vec<Fact> = found.into_iter().map(|finding| finding.fact).collect();
        for fact in &found {
            *match fact {
                Fact::Holds(_) => &mut checks,
                Fact::Taken(..) => &mut branches,
                Fact::Narrowed(..) => &mut operands,
                Fact::Disagrees(_) => continue,
            } += 1;
        }
        for _ in 0..if found.is_empty() { 0 } else { 12 } {
            let args = [random.pick(&objects), random.pick(&objects)];
            tested += execute(&f, &world, &args, &found);
        }
    }
    // Assert that the test had enough cases.
    println!(
        "{checks} checks, {branches} branches, {operands} operands, {tested} times put to the test"
    );
    assert!(
        checks > 200 && branches > 200 && operands > 200 && tested > 2000,
        "{checks} {branches} {operands} {tested}"
    );
}

/// `a, b = None, 1`, then a loop that tests `a is None` and, if `swaps`, exchanges `a` and `b`.
fn exchange(document: &Document, swaps: bool) -> Vec<Fact> {
    let mut m = Maker::new(document);
    let object = Type::OBJECT.opt();
    let (header, odd, back) = (m.block(), m.block(), m.block());
    let (a, b) = (m.param(header, object), m.param(header, object));
    let consts = m.constants();
    m.end(Term::Jump(jump(header, &[consts[0], consts[1]])));
    m.block = header;
    let is_none = m.emit(Op::IsNone, &[a], Type::CBOOL);
    m.end(Term::Branch {
        cond: is_none,
        then: jump(odd, &[]),
        els: jump(back, &[]),
    });
    m.block = odd;
    m.guard(b, Type::LONG_EXACT);
    m.end(Term::Jump(jump(back, &[])));
    m.block = back;
    let next = if swaps { [b, a] } else { [b, b] };
    m.end(Term::Jump(jump(header, &next)));
    let f = m.finish();
    let (found, _) = find(&f, &world(document), Subjects::Checks);
    found.into_iter().map(|finding| finding.fact).collect()
}

#[test]
fn parameters_change_all_at_once() {
    let document = Document::parse(CODE).expect("a document");
    assert!(matches!(exchange(&document, true)[..], [Fact::Holds(_)]));
    // Here `b` is always 1. Types prove that, so no question is needed.
    assert!(exchange(&document, false).is_empty());
}

#[test]
fn classes_that_may_be_assigned_are_not_followed() {
    let document = Document::parse(CODE).expect("a document");
    let point = Type::from_object(document.codes[0].consts[7].object);
    let point = Type::from_class_exact(point.runtime_class().expect("a class"));
    for (ty, proofs) in [(Type::LONG_EXACT, 1), (point, 0)] {
        let mut m = Maker::new(&document);
        let (join, then, end) = (m.block(), m.block(), m.block());
        let (x, flag) = (m.param(join, Type::OBJECT), m.param(join, Type::CBOOL));
        let consts = m.constants();
        let arg = m.emit(Op::Arg(0), &[], Type::OBJECT);
        let is_one = m.emit(Op::IsNone, &[arg], Type::CBOOL);
        let guarded = m.guard(arg, ty);
        let truths = [true, false].map(|b| m.emit(Op::ConstBool(b), &[], Type::CBOOL));
        m.end(Term::Branch {
            cond: is_one,
            then: jump(join, &[guarded, truths[0]]),
            els: jump(join, &[consts[3], truths[1]]),
        });
        m.block = join;
        m.end(Term::Branch {
            cond: flag,
            then: jump(then, &[]),
            els: jump(end, &[]),
        });
        m.block = then;
        m.guard(x, ty);
        m.end(Term::Jump(jump(end, &[])));
        m.block = end;
        m.end(Term::Return(consts[0]));
        let f = m.finish();
        let (found, _) = find(&f, &world(&document), Subjects::Checks);
        let holds = |f: &super::Finding| matches!(f.fact, Fact::Holds(_));
        assert_eq!(found.iter().filter(|f| holds(f)).count(), proofs, "{ty}");
    }
}

#[test]
fn nothing_is_built_where_edges_agree() {
    let document = Document::parse(CODE).expect("a document");
    let mut m = Maker::new(&document);
    let join = m.block();
    let x = m.param(join, Type::OBJECT);
    let consts = m.constants();
    let arg = m.emit(Op::Arg(0), &[], Type::OBJECT);
    let cond = m.emit(Op::IsNone, &[arg], Type::CBOOL);
    m.end(Term::Branch {
        cond,
        then: jump(join, &[consts[1]]),
        els: jump(join, &[consts[2]]),
    });
    m.block = join;
    m.guard(x, Type::LONG_EXACT);
    m.end(Term::Return(consts[0]));
    let (found, cost) = find(&m.finish(), &world(&document), Subjects::Checks);
    assert!(
        found.is_empty() && cost == super::Cost::default(),
        "{cost:?}"
    );
}
