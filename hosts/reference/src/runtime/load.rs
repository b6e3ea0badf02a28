//! Programs: documents of typed bytecode, loaded into the runtime.
//!
//! A document's constants are objects of a simulated host; here they become objects of the runtime.
//! A constant whose class is `Code` is the document's code of its name, one whose class is a tuple
//! is parsed from its name, other constants are their literals. Every code with a plain name that
//! no other code holds is a global function; `<module>` runs first.

use super::code::CodeData;
use super::dict::Dict;
use super::error::Raised;
use super::heap::{Ref, alloc};
use super::{Result, Session, call, new_namespace, rt, units};
use cladonia::bytecode::{Code, Const, ConstValue, Document, TextError, VerifierErrors};
use cladonia::types::{Predefined, Type};
use num_bigint::BigInt;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The reason why a document is no program.
#[derive(Debug)]
pub enum LoadError {
    /// The text has a syntax error.
    Text(TextError),
    /// A code is malformed.
    Invalid(String, VerifierErrors),
    /// A constant can't be created.
    Constant(String, String),
    /// The module's body raised.
    Raised(String),
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::Text(error) => write!(f, "{error}"),
            LoadError::Invalid(code, errors) => write!(f, "in `{code}`: {errors}"),
            LoadError::Constant(code, what) => write!(f, "in `{code}`: {what}"),
            LoadError::Raised(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// A loaded program. Dropping it removes its names and their values.
pub struct Program<'a> {
    session: &'a Session,
    namespace: Ref,
    /// The codes by name.
    codes: HashMap<String, Rc<CodeData>>,
}

impl Session {
    /// Loads a document and runs its module body, if it has one.
    ///
    /// # Errors
    /// A [`LoadError`].
    pub fn load(&self, text: &str) -> std::result::Result<Program<'_>, LoadError> {
        let document = Document::parse(text).map_err(LoadError::Text)?;
        self.load_codes(&document.codes)
    }

    /// Loads codes of a simulated host.
    ///
    /// # Errors
    /// A [`LoadError`].
    pub fn load_codes(&self, codes: &[Code]) -> std::result::Result<Program<'_>, LoadError> {
        for code in codes {
            if let Err(errors) = code.verify() {
                return Err(LoadError::Invalid(code.name.clone(), errors));
            }
        }
        let namespace = new_namespace();
        let mut loader = Loader {
            codes,
            namespace: namespace.as_ptr() as u64,
            made: HashMap::new(),
            open: HashSet::new(),
        };
        for code in codes {
            loader.code(&code.name)?;
        }
        let held: HashSet<String> = codes
            .iter()
            .flat_map(|code| code.consts.iter().filter_map(code_name))
            .collect();
        let dict = namespace.get::<Dict>().expect("a dict");
        let _ = dict.set(alloc::str("__name__"), alloc::str("__main__"));
        let mut module = None;
        for code in codes {
            let data = &loader.made[&code.name];
            let function = alloc::function(alloc::code(data.clone()), namespace.clone());
            if code.name == "<module>" {
                module = Some(function);
            } else if !held.contains(&code.name) {
                let _ = dict.set(alloc::str(code.name.as_str()), function);
            }
        }
        let program = Program {
            session: self,
            codes: loader.made,
            namespace: namespace.clone(),
        };
        if let Some(module) = module
            && let Err(raised) = call::run_body(&module, namespace)
        {
            let report = self.report(&raised);
            return Err(LoadError::Raised(report));
        }
        Ok(program)
    }
}

impl Program<'_> {
    /// Calls a global function.
    ///
    /// # Errors
    /// The report of an exception.
    pub fn call(&self, name: &str, args: &[ConstValue]) -> std::result::Result<String, String> {
        let result = self.call_object(name, args);
        let text = result.and_then(|object| super::ops::repr(&object));
        text.map_err(|raised| self.session.report(&raised))
    }

    /// Calls a global function. Returns its result as an object.
    ///
    /// # Errors
    /// The exception.
    pub fn call_object(&self, name: &str, args: &[ConstValue]) -> Result<Ref> {
        let dict = self.namespace.get::<Dict>().expect("a dict");
        let Some(function) = dict.name(name) else {
            return super::error::raise(
                super::error::NAME,
                format!("name '{name}' is not defined"),
            );
        };
        let args = args.iter().filter_map(literal).collect();
        call::call(&function, args)
    }

    /// The code of a name as it would be compiled now, with its observations as hints.
    pub fn observed(&self, name: &str) -> Option<Code> {
        self.codes.get(name).map(|data| data.with_hints())
    }

    /// Returns true if calls of a code's functions run natively now.
    pub fn is_native(&self, name: &str) -> bool {
        self.codes
            .get(name)
            .is_some_and(|data| data.unit().is_some())
    }

    /// The reason why a code stays in the interpreter, if it does.
    pub fn refused(&self, name: &str) -> Option<String> {
        self.codes.get(name)?.refused.borrow().clone()
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        if let Some(dict) = self.namespace.get::<Dict>() {
            dict.clear();
        }
    }
}

/// The object of a literal.
pub fn literal(value: &ConstValue) -> Option<Ref> {
    Some(match value {
        ConstValue::None => rt().none.clone(),
        ConstValue::Bool(value) => rt().bool(*value),
        ConstValue::Int(value) => alloc::int(*value),
        ConstValue::Float(value) => alloc::float(*value),
        ConstValue::Str(value) => alloc::str(value.as_str()),
        ConstValue::Other => return None,
    })
}

/// The name of a constant that is a code.
fn code_name(constant: &Const) -> Option<String> {
    let is_code = constant.object.class()?.predefined() == Some(Predefined::Code);
    is_code.then(|| constant.object.name().to_string())
}

struct Loader<'a> {
    codes: &'a [Code],
    namespace: u64,
    made: HashMap<String, Rc<CodeData>>,
    open: HashSet<String>,
}

impl Loader<'_> {
    fn code(&mut self, name: &str) -> std::result::Result<Rc<CodeData>, LoadError> {
        if let Some(known) = self.made.get(name) {
            return Ok(known.clone());
        }
        let codes = self.codes;
        let Some(code) = codes.iter().find(|code| code.name == name) else {
            return Err(LoadError::Constant(
                name.to_owned(),
                "there is no such code".into(),
            ));
        };
        if !self.open.insert(name.to_owned()) {
            return Err(LoadError::Constant(
                name.to_owned(),
                "the code holds itself".into(),
            ));
        }
        let mut consts = Vec::new();
        for constant in &code.consts {
            consts.push(self.constant(&code.name, constant)?);
        }
        let mut code = code.clone();
        code.globals = self.namespace;
        code.consts = consts
            .iter()
            .map(|object| Const {
                object: rt().handle_of(object),
                value: super::world::const_value(object),
            })
            .collect();
        for instr in &mut code.instrs {
            // Hints with classes of the simulated host are useless here; those with builtin classes
            // are kept.
            let known = |ty: &Type| ty.unique_class().is_none() && ty.as_object().is_none();
            if !instr.hint.iter().all(known) {
                instr.hint.clear();
            }
        }
        code.local_hints.clear();
        let names = code.names.iter().map(|name| alloc::str(name.as_str()));
        let names = names.collect();
        let data = Rc::new(CodeData::new(code, consts, names));
        units::prepare(&data);
        self.made.insert(name.to_owned(), data.clone());
        Ok(data)
    }

    fn constant(&mut self, code: &str, constant: &Const) -> std::result::Result<Ref, LoadError> {
        if let Some(object) = literal(&constant.value) {
            return Ok(object);
        }
        if let Some(name) = code_name(constant) {
            return Ok(alloc::code(self.code(&name)?));
        }
        let name = constant.object.name();
        match parse_literal(&name) {
            Some(object) => Ok(object),
            None => Err(LoadError::Constant(
                code.to_owned(),
                format!("the constant `{name}` can't be made"),
            )),
        }
    }
}

/// An int of any size, a tuple of literals, or a literal.
fn parse_literal(text: &str) -> Option<Ref> {
    let (value, rest) = one_literal(text.trim())?;
    rest.trim().is_empty().then_some(value)
}

fn one_literal(text: &str) -> Option<(Ref, &str)> {
    for (word, value) in [
        ("None", &rt().none),
        ("True", &rt().true_),
        ("False", &rt().false_),
    ] {
        if let Some(rest) = text.strip_prefix(word) {
            return Some((value.clone(), rest));
        }
    }
    if text == "NotImplemented" {
        return Some((rt().not_implemented.clone(), ""));
    }
    if let Some(mut rest) = text.strip_prefix('(') {
        let mut items = Vec::new();
        loop {
            rest = rest.trim_start();
            if let Some(rest) = rest.strip_prefix(')') {
                return Some((alloc::tuple(items), rest));
            }
            let (item, after) = one_literal(rest)?;
            items.push(item);
            rest = after.trim_start();
            match rest.strip_prefix(',') {
                Some(after) => rest = after,
                None if rest.starts_with(')') => {}
                None => return None,
            }
        }
    }
    for quote in ['\'', '"'] {
        if let Some(body) = text.strip_prefix(quote) {
            let end = body.find(quote)?;
            return Some((alloc::str(&body[..end]), &body[end + 1..]));
        }
    }
    let length = text.find([',', ')', ' ']).unwrap_or(text.len());
    let (token, rest) = text.split_at(length);
    if let Ok(int) = token.parse::<BigInt>() {
        return Some((alloc::big(int), rest));
    }
    Some((alloc::float(token.parse().ok()?), rest))
}

impl From<Raised> for LoadError {
    fn from(raised: Raised) -> LoadError {
        LoadError::Raised(super::error::describe(&raised.0))
    }
}
