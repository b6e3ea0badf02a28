//! The text form of HIR, read. `text` shows an example, `docs/text-forms.md` has the grammar.
//!
//! The reader checks no more than it needs to build a function that can be printed; the verifier
//! checks the canonical form. Values and blocks keep their numbers, so that messages fit the text.

use super::function::{
    Block, BlockData, Edge, Entry, FrameState, Function, InlinedCode, InlinedState, Inst, Locals,
    Place, Proved, Term, Value,
};
use super::immediates::Reader;
use super::ops::Op;
use crate::bytecode::{Awaited, Code, Document, Pc, Section};
use crate::facts::{Assumption, Source};
use crate::types::{HostId, Line, Lines, Names, Parsed, Scope, TextError, Type};
use std::collections::HashMap;
use std::sync::Arc;

/// Read the printed text of a function of this code. Classes and objects are looked up in `names`,
/// the code of inlined functions in `inlined`.
///
/// # Errors
/// A [`TextError`] with the first place where the text is wrong.
pub fn parse(
    text: &str,
    code: &Arc<Code>,
    inlined: &[InlinedCode],
    host: HostId,
    names: &Names,
) -> Parsed<Function> {
    let find = |number: usize, name: &str| {
        let here = inlined.get(number).filter(|c| c.code.name == name);
        let last = || inlined.iter().rev().find(|c| c.code.name == name);
        here.or_else(last).map(|found| found.code.clone())
    };
    parse_in(text, 1, code, &find, &Scope::new(host, names.clone()))
}

/// Finds the code that was inlined as this number, by its name.
type Find<'a> = &'a dyn Fn(usize, &str) -> Option<Arc<Code>>;

/// The one function in HIR of a text.
#[cfg(test)]
pub(crate) fn parse_only(text: &str) -> Function {
    try_parse_only(text).expect("HIR")
}

/// The same, where the text may be wrong.
#[cfg(test)]
pub(crate) fn try_parse_only(text: &str) -> Parsed<Function> {
    let document = crate::bytecode::Document::parse(text)?;
    parse_section(&document, &document.sections[0])
}

/// Read a section of a document: a function in HIR. Its code is the last one of its name before the
/// section; the same holds for each code that is inlined.
///
/// # Errors
/// A [`TextError`] with the line in the document.
pub fn parse_section(document: &Document, section: &Section) -> Parsed<Function> {
    let mut lines = Lines::from(&section.text, section.line);
    let Some(mut line) = lines.next() else {
        return lines.missing("`function`");
    };
    line.expect("function")?;
    line.space();
    let at = line.at;
    let name = line.name("the function's name")?;
    let codes = &document.codes[..section.codes.min(document.codes.len())];
    match codes.iter().rev().find(|code| code.name == name) {
        Some(code) => {
            let code = Arc::new(code.clone());
            let find = |_: usize, name: &str| {
                let found = codes.iter().rev().find(|code| code.name == name);
                found.map(|code| Arc::new(code.clone()))
            };
            let scope = &document.scope;
            parse_in(&section.text, section.line, &code, &find, scope)
        }
        None => line.error_at(at, format!("there is no code {name:?} before it")),
    }
}

fn parse_in(
    text: &str,
    first: usize,
    code: &Arc<Code>,
    find: Find<'_>,
    scope: &Scope,
) -> Parsed<Function> {
    let mut parser = Parser {
        scope,
        find,
        f: Function::new(code.clone()),
        most: u32::try_from(text.len()).unwrap_or(u32::MAX - 1),
        insts: Vec::new(),
        values: Named::new("v"),
        blocks: Named::new("bb"),
        parsed: HashMap::new(),
    };
    let mut lines = Lines::from(text, first);
    let Some(mut line) = lines.next() else {
        return lines.missing("`function`");
    };
    line.expect("function")?;
    line.name("the function's name")?;
    line.expect("{")?;
    line.end()?;
    let mut line = parser.preamble(&mut lines)?;
    let start = line.clone();
    while !line.eat("}") {
        line = parser.block(line, &mut lines)?;
    }
    line.end()?;
    if let Some(mut line) = lines.next() {
        return line.expected("the end");
    }
    parser.finish(&start)
}

/// Values or blocks, named by a prefix and a number (`v12`, `bb3`): the place where each was first
/// named, and true if it was defined.
struct Named {
    prefix: &'static str,
    first: HashMap<u32, (TextError, bool)>,
    order: Vec<u32>,
}

impl Named {
    fn new(prefix: &'static str) -> Named {
        Named {
            prefix,
            first: HashMap::new(),
            order: Vec::new(),
        }
    }

    /// A name, which must not be larger than `most`.
    fn read(&mut self, line: &mut Line, most: u32, expected: &str, defines: bool) -> Parsed<u32> {
        line.space();
        let at = line.at;
        let number = line.entity(self.prefix, expected)?;
        let name = format!("{}{number}", self.prefix);
        if number > most {
            return line.error_at(
                at,
                format!("{name} is too large a number for a text of this length"),
            );
        }
        let (_, defined) = self.first.entry(number).or_insert_with(|| {
            let missing: Parsed<()> = line.error_at(at, format!("{name} is not defined"));
            (missing.expect_err("it is one"), false)
        });
        if defines {
            if std::mem::replace(defined, true) {
                return line.error_at(at, format!("{name} is defined twice"));
            }
            self.order.push(number);
        }
        Ok(number)
    }

    /// One more than the largest number; an error if one was named and not defined.
    fn finish(&self) -> Parsed<usize> {
        let missing = self.first.values().filter(|(_, defined)| !defined);
        match missing
            .map(|(error, _)| error)
            .min_by_key(|e| (e.line, e.column))
        {
            Some(error) => Err(error.clone()),
            None => Ok(self.first.keys().max().map_or(0, |n| *n as usize + 1)),
        }
    }
}

struct Parser<'a> {
    scope: &'a Scope,
    find: Find<'a>,
    f: Function,
    /// No number may be larger: a short text can't ask for a large table.
    most: u32,
    /// Instructions and parameters, each with the number that the text gives it.
    insts: Vec<(Option<u32>, Inst)>,
    values: Named,
    blocks: Named,
    /// Blocks, with the indexes of their instructions.
    parsed: HashMap<u32, (BlockData, Vec<usize>)>,
}

/// The function.
impl Parser<'_> {
    /// Reads the lines that belong to the function as a whole; returns the first line after them.
    fn preamble<'t>(&mut self, lines: &mut Lines<'t>) -> Parsed<Line<'t>> {
        loop {
            let Some(mut line) = lines.next() else {
                return lines.missing("`}`");
            };
            let line = &mut line;
            match () {
                () if line.eat_word("names") => self.f.names = self.names(line)?,
                () if line.eat_word("unsteady") => self.f.unsteady_names = self.names(line)?,
                () if line.eat_word("assume") => {
                    let assumption = Assumption::read(line, self.scope)?;
                    self.f.assumptions.push(assumption);
                }
                () if line.eat_word("relied_on") => self.f.relied_on = self.value_list(line)?,
                () if line.eat_word("settled") => {
                    self.f.settled = self.value_list(line)?.into_iter().collect();
                }
                () if line.eat_word("asserted") => {
                    self.f.asserted = self.value_list(line)?.into_iter().collect();
                }
                () if line.eat_word("proved") => {
                    let pc = self.pc(line)?;
                    let what = line.quoted("what was removed")?;
                    let why = line.quoted("the questions")?;
                    self.f.proved.push(Proved { pc, what, why });
                }
                () if line.eat_word("fused") => {
                    let pair = (self.pc(line)?, self.pc(line)?);
                    self.f.fused.push(pair);
                }
                () if line.eat_word("inlined") => {
                    let function = self.scope.single_object(line)?;
                    line.space();
                    let at = line.at;
                    let name = line.quoted("the code's name")?;
                    let Some(code) = (self.find)(self.f.inlined.len(), &name) else {
                        return line.error_at(at, format!("there is no code {name:?} before it"));
                    };
                    self.f.inlined.push(InlinedCode { function, code });
                }
                () => return Ok(line.clone()),
            }
            line.end()?;
        }
    }

    /// A block, of which the first line has been read; returns the line after it.
    fn block<'t>(&mut self, mut line: Line<'t>, lines: &mut Lines<'t>) -> Parsed<Line<'t>> {
        let number = self
            .blocks
            .read(&mut line, self.most, "a block or `}`", true)?;
        let mut params = Vec::new();
        if line.eat("(") {
            loop {
                params.push(self.param(&mut line)?);
                if line.eat(")") {
                    break;
                }
                line.expect(",")?;
            }
        }
        let is_loop_header = line.eat_word("loop");
        let entry_state = self.state(&mut line)?;
        line.expect(":")?;
        line.end()?;
        for (value, _, here) in &mut params {
            let inst = &mut self.insts[*value].1;
            inst.pc = here.unwrap_or(entry_state.pc);
        }
        let numbers = params.iter().map(|(index, place, _)| {
            let number = self.insts[*index].0.expect("parameters have numbers");
            (Value::from_u32(number), *place)
        });
        let mut data = BlockData {
            params: numbers.collect(),
            is_loop_header,
            ..BlockData::new(entry_state, Pc(0))
        };
        let mut pc = data.entry_state.pc;
        let mut insts = Vec::new();
        loop {
            let Some(mut line) = lines.next() else {
                return lines.missing("a terminator");
            };
            if let Some(term) = self.term(&mut line)? {
                data.term = term;
                line.expect("{")?;
                data.end = self.pc(&mut line)?;
                data.out_locals = self.value_list(&mut line)?.into();
                line.expect("}")?;
                line.end()?;
                break;
            }
            pc = self.inst(&mut line, pc)?;
            insts.push(self.insts.len() - 1);
            line.end()?;
        }
        self.parsed.insert(number, (data, insts));
        match lines.next() {
            Some(line) => Ok(line),
            None => lines.missing("a block or `}`"),
        }
    }

    /// Everything has been read; `start` is where the blocks begin.
    fn finish(mut self, start: &Line) -> Parsed<Function> {
        let (values, blocks) = (self.values.finish()?, self.blocks.finish()?);
        let mut f = self.f;
        let filler = Inst::proved(Op::Null, Vec::new(), Type::NULLPTR, Pc(0));
        f.insts.extend(std::iter::repeat_n(filler, values));
        let mut placed = Vec::with_capacity(self.insts.len());
        for (number, inst) in self.insts {
            placed.push(match number {
                Some(number) => {
                    f.insts[Value::from_u32(number)] = inst;
                    Value::from_u32(number)
                }
                None => f.insts.push(inst),
            });
        }
        let nowhere = FrameState {
            pc: Pc(0),
            locals: Locals::default(),
            stack: Vec::new(),
            inlined: Vec::new(),
        };
        for number in 0..blocks as u32 {
            f.blocks.push(match self.parsed.remove(&number) {
                Some((mut data, insts)) => {
                    data.insts = insts.into_iter().map(|index| placed[index]).collect();
                    data
                }
                None => BlockData::new(nowhere.clone(), Pc(0)),
            });
        }
        let Some(&entry) = self.blocks.order.first() else {
            return start.error_at(0, "a function has at least one block");
        };
        f.compute_order(Block::from_u32(entry));
        let lost = |n: &&u32| !f.order.contains(&Block::from_u32(**n));
        if let Some(lost) = self.blocks.order.iter().find(lost) {
            return start.error_at(0, format!("nothing leads to bb{lost}"));
        }
        Ok(f)
    }
}

/// Lines.
impl Parser<'_> {
    /// `v1: LongExact n`; returns the index among the instructions, the place, and the instruction
    /// in the bytecode if the text has one.
    fn param(&mut self, line: &mut Line) -> Parsed<(usize, Place, Option<Pc>)> {
        let number = self.values.read(line, self.most, "a parameter", true)?;
        line.expect(":")?;
        let ty = self.scope.ty(line)?;
        let place = self.place(line)?;
        let source = read_source(line);
        let here = if line.eat_word("at") {
            Some(self.pc(line)?)
        } else {
            None
        };
        let inst = Inst {
            op: Op::Param,
            args: Vec::new(),
            ty,
            source,
            state: None,
            pc: Pc(0),
        };
        self.insts.push((Some(number), inst));
        Ok((self.insts.len() - 1, place, here))
    }

    fn place(&mut self, line: &mut Line) -> Parsed<Place> {
        for word in ["stack", "name", "bound", "inlined", "carried", "field"] {
            let mut ahead = line.clone();
            if !ahead.eat_word(word) || !ahead.eat_here("(") {
                continue;
            }
            *line = ahead;
            let place = match word {
                "stack" => Place::Stack(line.number()?),
                "name" => Place::Name(self.name(line)?),
                "inlined" => Place::Inlined,
                "carried" => Place::Carried,
                "field" => Place::Field,
                _ => Place::Bound(self.local(line)?),
            };
            line.expect(")")?;
            return Ok(place);
        }
        Ok(Place::Local(self.local(line)?))
    }

    /// The terminator, if there is one here.
    fn term(&mut self, line: &mut Line) -> Parsed<Option<Term>> {
        let most = self.most;
        Ok(Some(match () {
            () if line.eat_word("jump") => Term::Jump(self.edge(line)?),
            () if line.eat_word("branch") => {
                let cond = self.value(line)?;
                line.expect(",")?;
                let then = self.edge(line)?;
                line.expect(",")?;
                let els = self.edge(line)?;
                Term::Branch { cond, then, els }
            }
            () if line.eat_word("may_raise") => {
                let op = self.values.read(line, most, "an instruction", false)?;
                let op = Value::from_u32(op);
                line.expect(",")?;
                let next = self.edge(line)?;
                line.expect(",")?;
                let raised = self.edge(line)?;
                Term::MayRaise { op, next, raised }
            }
            () if line.eat_word("return") => Term::Return(self.value(line)?),
            () if line.eat_word("unreachable") => Term::Unreachable,
            () => return Ok(None),
        }))
    }

    fn edge(&mut self, line: &mut Line) -> Parsed<Edge> {
        let block = self.blocks.read(line, self.most, "a block", false)?;
        let mut args = Vec::new();
        if line.eat("(") {
            loop {
                args.push(self.value(line)?);
                if line.eat(")") {
                    break;
                }
                line.expect(",")?;
            }
        }
        Ok(Edge {
            block: Block::from_u32(block),
            args,
        })
    }

    /// An instruction; returns its place in the bytecode.
    fn inst(&mut self, line: &mut Line, before: Pc) -> Parsed<Pc> {
        let (mut number, mut ty) = (None, Type::BOTTOM);
        if line.clone().entity("v", "").is_ok() {
            number = Some(self.values.read(line, self.most, "a value", true)?);
            if line.eat(":") {
                ty = self.scope.ty(line)?;
            }
            line.expect("=")?;
        }
        line.space();
        let at = line.at;
        let name = line.word("an op or a terminator")?;
        let mut reader = Reader {
            line,
            scope: self.scope,
            code: &self.f.code,
        };
        let Some(op) = Op::read(name, &mut reader)? else {
            return line.error_at(at, format!("there is no op `{name}`"));
        };
        if op == Op::Param {
            return line.error_at(at, "parameters stand before their block's colon");
        }
        let mut args = Vec::new();
        if line.rest().starts_with('v') {
            args.push(self.value(line)?);
            while line.eat(",") {
                args.push(self.value(line)?);
            }
        }
        if !op.takes(args.len()) {
            return line.error_at(
                at,
                format!("`{name}` does not take {} operands", args.len()),
            );
        }
        let source = read_source(line);
        let (mut state, mut pc) = (None, before);
        if line.rest().starts_with('{') {
            let found = self.state(line)?;
            pc = found.pc;
            // A state of its own: a pass that changes it changes it for this instruction only.
            state = Some(self.f.states.push(found));
        }
        if line.eat_word("at") {
            pc = self.pc(line)?;
        }
        let inst = Inst {
            op,
            args,
            ty,
            source,
            state,
            pc,
        };
        self.insts.push((number, inst));
        Ok(pc)
    }

    /// `{@3 [v0 v1] [v2 &v3]}`
    fn state(&mut self, line: &mut Line) -> Parsed<FrameState> {
        line.expect("{")?;
        let pc = self.pc(line)?;
        let locals = self.value_list(line)?;
        let stack = self.entries(line)?;
        let mut inlined = Vec::new();
        while line.eat_word("in") {
            line.space();
            let at = line.at;
            let code: u32 = line.number()?;
            let Some(known) = self.f.inlined.get(code as usize) else {
                return line.error_at(at, format!("there is no inlined code {code}"));
            };
            line.space();
            let (at, count) = (line.at, known.code.instrs.len());
            let pc = line.pc()?;
            if pc.0 as usize >= count {
                return line.error_at(at, format!("there is no instruction {pc}"));
            }
            inlined.push(InlinedState {
                code,
                pc,
                awaited: Awaited::read(line, |l, w| l.eat_word(w), |l| l.number())?,
                locals: self.entries(line)?,
                stack: self.entries(line)?,
            });
        }
        line.expect("}")?;
        Ok(FrameState {
            pc,
            locals: locals.into(),
            stack,
            inlined,
        })
    }

    /// `[v2 &v3]`
    fn entries(&mut self, line: &mut Line) -> Parsed<Vec<Entry>> {
        line.expect("[")?;
        let mut entries = Vec::new();
        while !line.eat("]") {
            let owned = !line.eat("&");
            let value = self.value(line)?;
            entries.push(Entry { value, owned });
        }
        Ok(entries)
    }
}

/// Words.
impl Parser<'_> {
    fn value(&mut self, line: &mut Line) -> Parsed<Value> {
        let number = self.values.read(line, self.most, "a value", false)?;
        Ok(Value::from_u32(number))
    }

    /// `[v1 v2]`
    fn value_list(&mut self, line: &mut Line) -> Parsed<Vec<Value>> {
        line.expect("[")?;
        let mut values = Vec::new();
        while !line.eat("]") {
            values.push(self.value(line)?);
        }
        Ok(values)
    }

    /// An instruction of the code.
    fn pc(&mut self, line: &mut Line) -> Parsed<Pc> {
        line.space();
        let at = line.at;
        let pc = line.pc()?;
        if pc.0 as usize >= self.f.code.instrs.len() {
            return line.error_at(at, format!("there is no instruction {pc}"));
        }
        Ok(pc)
    }

    fn names(&mut self, line: &mut Line) -> Parsed<Vec<u32>> {
        let mut names = vec![self.name(line)?];
        while line.eat(",") {
            names.push(self.name(line)?);
        }
        Ok(names)
    }

    fn name(&mut self, line: &mut Line) -> Parsed<u32> {
        line.space();
        let at = line.at;
        let index = self.f.code.read_name(line)?;
        if index as usize >= self.f.code.names.len() {
            return line.error_at(at, format!("there is no name #{index}"));
        }
        Ok(index)
    }

    fn local(&mut self, line: &mut Line) -> Parsed<u32> {
        line.space();
        let at = line.at;
        let slot = self.f.code.read_local(line)?;
        if slot as usize >= self.f.code.locals.len() {
            return line.error_at(at, format!("there is no local #{slot}"));
        }
        Ok(slot)
    }
}

fn read_source(line: &mut Line) -> Source {
    match () {
        () if line.eat_word("guarded") => Source::Guarded,
        () if line.eat_word("assumed") => Source::Assumed,
        () => Source::Proved,
    }
}

#[cfg(test)]
mod tests;
