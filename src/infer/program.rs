//! The input of an analysis: the functions of a program in HIR, and the objects and names that lead
//! to them.

use crate::bytecode::{Code, Document, Pc, Reason};
use crate::facts::World;
use crate::hir::{self, Function, Start};
use crate::types::{ConstValue, ObjectHandle, Predefined};
use cranelift_entity::{EntityRef, PrimaryMap, entity_impl};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// A function of the program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FuncId(u32);
entity_impl!(FuncId, "fn");

/// The analysed program: all functions into which the analysis may follow calls.
#[derive(Default)]
pub struct Program {
    pub(super) functions: PrimaryMap<FuncId, Function>,
    pub(super) by_object: HashMap<ObjectHandle, FuncId>,
    pub(super) values: HashMap<ObjectHandle, ConstValue>,
    pub(super) globals: BTreeMap<String, FuncId>,
    pub(super) unknown_globals: BTreeSet<String>,
    pub(super) module: Option<FuncId>,
    /// Code objects without HIR, each with the reason.
    pub refused: Vec<(String, String)>,
    pub(super) codes_refused: Vec<Code>,
}

/// A `World` without answers: the analysis finds all facts in the program itself.
struct Nothing;

impl World for Nothing {}

impl Program {
    /// Adds a function.
    pub fn add(&mut self, function: Function) -> FuncId {
        for constant in &function.code.consts {
            let value = constant.value.clone();
            self.values.insert(constant.object, value);
        }
        self.functions.push(function)
    }

    /// Declares that the object (a code or a function) runs this function.
    pub fn bind(&mut self, object: ObjectHandle, function: FuncId) {
        self.by_object.insert(object, function);
    }

    /// Declares that a name of the module holds this function from the start.
    pub fn global(&mut self, name: impl Into<String>, function: FuncId) {
        self.globals.insert(name.into(), function);
    }

    /// Declares that a name of the module holds an unknown object.
    pub fn unknown_global(&mut self, name: impl Into<String>) {
        self.unknown_globals.insert(name.into());
    }

    /// Adds a code object, in HIR that is built without a `World`.
    ///
    /// # Errors
    /// The reason why no HIR can be built. The code is then outside the analysed program, except
    /// for the names that it binds.
    pub fn add_code(&mut self, code: &Code) -> Result<FuncId, String> {
        match build(&Arc::new(without_hints(code))) {
            Ok(f) => Ok(self.add(f)),
            Err(why) => {
                self.refused.push((code.name.clone(), why.clone()));
                self.codes_refused.push(code.clone());
                Err(why)
            }
        }
    }

    /// The function of this name.
    pub fn find(&self, name: &str) -> Option<FuncId> {
        let mut all = self.functions.iter();
        all.find_map(|(id, f)| (f.code.name == name).then_some(id))
    }

    /// Removes the function that was added last.
    pub(super) fn take(self, id: FuncId) -> Function {
        let function = self
            .functions
            .into_iter()
            .map(|(_, function)| function)
            .nth(id.index());
        function.expect("it was added")
    }

    /// A function.
    pub fn function(&self, id: FuncId) -> &Function {
        &self.functions[id]
    }

    /// All functions, in order.
    pub fn functions(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        self.functions.iter()
    }

    /// The function that an object (a code or a function) runs.
    pub fn of_object(&self, object: ObjectHandle) -> Option<FuncId> {
        self.by_object.get(&object).copied()
    }

    /// The names of the module that hold functions from the start.
    pub fn globals(&self) -> impl Iterator<Item = (&String, FuncId)> {
        self.globals.iter().map(|(name, func)| (name, *func))
    }

    /// The names of all functions, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.values().map(|f| f.code.name.as_str())
    }

    /// Adds all code objects of a document. If the document has the HIR of a code, that HIR is
    /// used; for others it is built without a `World`. A code for which no HIR can
    /// be built is outside the analysed program. A module's body is the code `<module>`; without
    /// one, every code that no other code holds is a global function. A constant that is a function
    /// runs the code of its name.
    ///
    /// # Errors
    /// A function in HIR that can't be read, or a code that is not well-formed.
    pub fn of_document(document: &Document) -> Result<Program, String> {
        let mut program = Program::default();
        let mut in_hir: HashMap<String, Function> = HashMap::new();
        for section in document.sections.iter().filter(|s| s.keyword == "function") {
            let f = hir::parse_section(document, section).map_err(|e| e.to_string())?;
            hir::verify(&f).map_err(|e| format!("`{}`: {e}", f.code.name))?;
            in_hir.insert(f.code.name.clone(), f);
        }
        let mut made: BTreeMap<&str, FuncId> = BTreeMap::new();
        for code in &document.codes {
            code.verify()
                .map_err(|e| format!("in `{}`: {e}", code.name))?;
            let built = match in_hir.remove(&code.name) {
                Some(f) => Ok(f),
                None => build(&Arc::new(without_hints(code))),
            };
            match built {
                Ok(f) => {
                    let id = program.add(f);
                    made.insert(&code.name, id);
                }
                Err(why) => {
                    program.refused.push((code.name.clone(), why));
                    program.codes_refused.push(code.clone());
                }
            }
        }
        let mut held: HashSet<String> = HashSet::new();
        for constant in document.codes.iter().flat_map(|code| &code.consts) {
            let class = constant.object.class();
            if class.and_then(|class| class.predefined()) == Some(Predefined::Code) {
                let name = constant.object.name().to_string();
                if let Some(&id) = made.get(name.as_str()) {
                    program.bind(constant.object, id);
                }
                held.insert(name);
            } else if class.and_then(|class| class.predefined()) == Some(Predefined::Func)
                && let Some(&id) = made.get(&*constant.object.name())
            {
                program.bind(constant.object, id);
            }
        }
        program.module = made.get("<module>").copied();
        for (name, id) in &made {
            if !name.starts_with("<module") && !held.contains(*name) {
                program.global(*name, *id);
            }
        }
        Ok(program)
    }
}

/// Removes the hints. A hint is a speculation that may fail, and the interpreter's execution after
/// that would not be followed.
fn without_hints(code: &Code) -> Code {
    let mut code = code.clone();
    code.local_hints.clear();
    for instr in &mut code.instrs {
        instr.hint.clear();
    }
    code
}

/// The HIR of a code from its start, without any answers of a `World`.
fn build(code: &Arc<Code>) -> Result<Function, String> {
    if code.is_generator {
        return Err("a generator".to_owned());
    }
    let start = if code.optimized {
        Start::Function(&[])
    } else {
        Start::Loop(Pc(0), &[])
    };
    // A failed speculation continues in the interpreter, which the analysis does not follow. So HIR
    // is built without any.
    let pcs = (0..code.instrs.len() as u32).map(Pc);
    let avoid: HashSet<(Pc, Reason)> = pcs
        .flat_map(|pc| Reason::ALL.map(|reason| (pc, reason)))
        .collect();
    let met = HashMap::new();
    hir::build(code, start, &Nothing, &avoid, &met, None)
        .map_err(|e| format!("{} at line {}", e.what, e.line))
}
