//! Code objects: typed bytecode with its constants as objects, and the runtime's profile of it.

use super::heap::Ref;
use cladonia::bytecode::{Code, Met, Pc, Reason};
use cladonia::engine::{EntryCell, UnitHandle};
use cladonia::types::Type;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The most classes for which one attribute load is compiled.
const MAX_CLASSES: usize = 4;

/// A code.
pub struct CodeData {
    /// The bytecode; its constants are handles of `consts`.
    pub code: Code,
    /// The constants.
    pub consts: Vec<Ref>,
    /// The names.
    pub names: Vec<Rc<str>>,
    /// The names as strings.
    pub name_objects: Vec<Ref>,
    /// For each instruction, the types of its operands so far.
    pub profile: RefCell<Vec<Vec<Type>>>,
    /// The number of calls.
    pub calls: Cell<u64>,
    /// The profile of each loop.
    pub loops: RefCell<HashMap<Pc, Loop>>,
    /// The cell through which native code calls its functions.
    pub cell: RefCell<Option<EntryCell>>,
    /// The latest unit of whole calls.
    pub unit: RefCell<Option<UnitHandle>>,
    /// Speculations that must not be repeated.
    pub avoid: RefCell<HashSet<(Pc, Reason)>>,
    /// Observed classes of the receivers of attribute loads, a few at most.
    pub met: RefCell<HashMap<Pc, Met>>,
    /// The number of function units compiled.
    pub versions: Cell<u32>,
    /// The reason why it stays in the interpreter.
    pub refused: RefCell<Option<String>>,
}

/// The profile of a loop.
#[derive(Debug, Default)]
pub struct Loop {
    /// The number of iterations in the interpreter.
    pub count: u64,
    /// The latest unit.
    pub unit: Option<UnitHandle>,
    /// The number of units compiled.
    pub versions: u32,
    /// True if no more are compiled.
    pub is_closed: bool,
}

impl Loop {
    /// Its unit, if that is valid. An invalid one is dropped.
    pub fn unit(&mut self) -> Option<UnitHandle> {
        self.unit.take_if(|unit| !unit.is_valid());
        self.unit.clone()
    }
}

impl CodeData {
    /// A code that has not run.
    pub fn new(code: Code, consts: Vec<Ref>, name_objects: Vec<Ref>) -> CodeData {
        CodeData {
            names: code.names.iter().map(|name| name.as_str().into()).collect(),
            profile: RefCell::new(code.instrs.iter().map(|i| i.hint.clone()).collect()),
            code,
            consts,
            name_objects,
            calls: Cell::new(0),
            loops: RefCell::default(),
            cell: RefCell::default(),
            unit: RefCell::default(),
            avoid: RefCell::default(),
            met: RefCell::default(),
            versions: Cell::new(0),
            refused: RefCell::default(),
        }
    }

    /// Returns true if calls with only positional arguments can go to compiled code.
    pub fn is_plain(&self) -> bool {
        let c = &self.code;
        c.optimized && !c.varargs && !c.varkeywords && c.kwonly == 0 && !c.is_generator
    }

    /// The unit of whole calls, if there is a valid one. An invalid one is dropped.
    pub fn unit(&self) -> Option<UnitHandle> {
        let mut unit = self.unit.borrow_mut();
        unit.take_if(|unit| !unit.is_valid());
        unit.clone()
    }

    /// Notes the types of an instruction's operands. Two observations that differ leave no hint.
    pub fn observe(&self, pc: Pc, types: &[Type]) {
        let mut profile = self.profile.borrow_mut();
        let known = &mut profile[pc.0 as usize];
        if known.len() != types.len() {
            known.clear();
            known.extend_from_slice(types);
            return;
        }
        for (known, seen) in known.iter_mut().zip(types) {
            if known != seen {
                *known = Type::OBJECT;
            }
        }
    }

    /// Notes the class of an attribute load's receiver.
    pub fn meet(&self, pc: Pc, class: Type) {
        let mut met = self.met.borrow_mut();
        let seen = &mut met.entry(pc).or_default().seen;
        if seen.len() < MAX_CLASSES && !seen.contains(&class) {
            seen.push(class);
        }
    }

    /// The attribute loads that have observed several classes, with those.
    pub fn several(&self) -> HashMap<Pc, Met> {
        let met = self.met.borrow();
        let several = met.iter().filter(|(_, met)| met.seen.len() > 1);
        several.map(|(pc, met)| (*pc, met.clone())).collect()
    }

    /// The bytecode with the observations as hints.
    pub fn with_hints(&self) -> Code {
        let mut code = self.code.clone();
        for (instr, seen) in code.instrs.iter_mut().zip(self.profile.borrow().iter()) {
            instr.hint = if seen.iter().all(|ty| *ty == Type::OBJECT) {
                Vec::new()
            } else {
                seen.clone()
            };
        }
        code
    }
}
