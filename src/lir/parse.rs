//! The text form of a function, read. `text` describes it.
//!
//! The reader checks only as much as it needs to build a function; the verifier checks the rest.
//! Values and blocks keep their numbers, so that messages about the function match the text. Only
//! if a number is larger than the length of the text are all renumbered, in the order in which they
//! first occur.

use super::graph::{
    Block, BlockCall, BlockData, Func, Helper, HelperId, Imm, Inst, Refs, RoutineId, RoutineRef,
    SigId, Signature, Term, Value,
};
use super::lex::{Pos, Token, lex};
use super::ops::{FloatCond, ImmKind, IntCond, Opcode};
use crate::exits::ExitId;
use crate::ll::{Ty, Width};
use cranelift_entity::{EntityRef, PrimaryMap};
use std::collections::HashMap;

/// A syntax error.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{line}:{column}: {what}")]
pub struct ParseError {
    /// The line, counted from one.
    pub line: u32,
    /// The column, counted from one in characters.
    pub column: u32,
    /// The fault.
    pub what: String,
}

/// Reads one function; only comments may follow it.
///
/// ```
/// use cladonia::lir;
///
/// let text = r#"function "half"(i64) -> i64 {
/// block0(v0: i64):
///   v1 = iconst 1
///   v2 = isshr v0, v1
///   return v2
/// }
/// "#;
/// let helpers = Default::default();
/// let func = lir::parse(text, &helpers).expect("a function");
/// lir::verify(&func, lir::Mode::Intrinsic, &helpers).expect("LIR that is well-formed");
/// assert_eq!(lir::print(&func, &helpers), text);
/// ```
///
/// # Errors
/// [`ParseError`] with the place of the first fault.
pub fn parse(text: &str, helpers: &PrimaryMap<HelperId, Helper>) -> Result<Func, ParseError> {
    parse_tokens(lex(text)?, helpers)
}

/// Reads any number of functions, one after the other.
///
/// # Errors
/// [`ParseError`] with the place of the first fault.
pub fn parse_all(
    text: &str,
    helpers: &PrimaryMap<HelperId, Helper>,
) -> Result<Vec<Func>, ParseError> {
    let mut tokens = lex(text)?;
    let end = tokens.pop();
    let functions = tokens.split_inclusive(|(token, _)| *token == Token::Punct('}'));
    functions
        .filter(|function| function.iter().any(|(token, _)| *token != Token::Newline))
        .map(|function| parse_tokens(function.iter().chain(&end).cloned().collect(), helpers))
        .collect()
}

fn parse_tokens(
    tokens: Vec<(Token<'_>, Pos)>,
    helpers: &PrimaryMap<HelperId, Helper>,
) -> Result<Func, ParseError> {
    let func = Func {
        name: String::new(),
        signature: Signature::default(),
        values: PrimaryMap::new(),
        blocks: PrimaryMap::new(),
        order: Vec::new(),
        sigs: PrimaryMap::new(),
        routines: PrimaryMap::new(),
        slots: Vec::new(),
        refs: Refs::default(),
    };
    let mut parser = Parser {
        tokens,
        at: 0,
        helpers,
        func,
        values: HashMap::new(),
        blocks: HashMap::new(),
    };
    parser.reserve_numbers();
    parser.function()?;
    Ok(parser.func)
}

/// The entity of a name in the text.
#[derive(Clone, Copy)]
struct Named<E> {
    entity: E,
    defined: bool,
    first: Pos,
}

struct Parser<'a> {
    tokens: Vec<(Token<'a>, Pos)>,
    at: usize,
    helpers: &'a PrimaryMap<HelperId, Helper>,
    func: Func,
    values: HashMap<u32, Named<Value>>,
    blocks: HashMap<u32, Named<Block>>,
}

type Result<T, E = ParseError> = std::result::Result<T, E>;

/// Function, blocks, lines.
impl<'a> Parser<'a> {
    /// Creates all values and blocks up to the largest number in the text, so that each can keep
    /// its own.
    fn reserve_numbers(&mut self) {
        let count = |prefix| {
            let names = self.tokens.iter().filter_map(|(token, _)| match token {
                Token::Word(word) => numbered(word, prefix),
                _ => None,
            });
            names.max().map_or(0, |n| n as usize + 1)
        };
        let (values, blocks, most) = (count("v"), count("block"), self.tokens.len());
        if values <= most && blocks <= most {
            self.func
                .values
                .extend(std::iter::repeat_n(Ty::I64, values));
            self.func.blocks.extend(std::iter::repeat_n(EMPTY, blocks));
        }
    }

    fn function(&mut self) -> Result<()> {
        self.newlines();
        self.keyword("function")?;
        self.func.name = match self.next() {
            (Token::Text(name), _) => name,
            (Token::Word(name), _) => name.to_owned(),
            (token, pos) => return Err(expected("the function's name", &token, pos)),
        };
        self.func.signature = self.signature()?;
        self.punct('{')?;
        self.newlines();
        self.preamble()?;
        while !self.accept('}') {
            self.block()?;
        }
        self.newlines();
        match self.next() {
            (Token::End, _) => {}
            (token, pos) => return Err(expected("the end of the text", &token, pos)),
        }
        undefined(&self.values)?;
        undefined(&self.blocks)
    }

    fn preamble(&mut self) -> Result<()> {
        loop {
            let (token, pos) = self.peek().clone();
            let Token::Word(word) = token else {
                return Ok(());
            };
            if let Some(number) = numbered(word, "slot") {
                in_order(number, self.func.slots.len(), pos)?;
                self.at += 1;
                let bytes = self.number("the slot's bytes")?;
                self.func.slots.push(bytes);
            } else if let Some(number) = numbered(word, "sig") {
                in_order(number, self.func.sigs.len(), pos)?;
                self.at += 1;
                let sig = self.signature()?;
                self.func.sigs.push(sig);
            } else if let Some(number) = numbered(word, "routine") {
                in_order(number, self.func.routines.len(), pos)?;
                self.at += 1;
                let name = match self.next() {
                    (Token::Text(name), _) => name,
                    (token, pos) => return Err(expected("the routine's name", &token, pos)),
                };
                let signature = self.signature()?;
                self.func.routines.push(RoutineRef {
                    name,
                    address: 0,
                    signature,
                    keeps_most: false,
                    runs_host_code: true,
                });
            } else if word == "refs" {
                self.at += 1;
                self.refs()?;
            } else {
                return Ok(());
            }
            self.end_of_line()?;
        }
    }

    /// The references: values and stack slots.
    fn refs(&mut self) -> Result<()> {
        loop {
            let (token, pos) = self.peek().clone();
            let Token::Word(word) = token else {
                return Err(expected("a value or a stack slot", &token, pos));
            };
            if let Some(number) = numbered(word, "slot") {
                self.at += 1;
                self.func.refs.slots.insert(number);
            } else {
                let (number, pos) = self.name("v", "a value or a stack slot")?;
                let value = self.value_named(number, pos).entity;
                self.func.refs.values.insert(value);
            }
            if !self.accept(',') {
                return Ok(());
            }
        }
    }

    fn block(&mut self) -> Result<()> {
        let (number, pos) = self.name("block", "a block")?;
        let block = self.block_named(number, pos);
        let named = self.blocks.get_mut(&number).expect("just named");
        if std::mem::replace(&mut named.defined, true) {
            return Err(pos.error(format!("block{number} is defined twice")));
        }
        self.func.order.push(block);
        if self.accept('(') {
            self.list(')', |parser| {
                let (number, pos) = parser.name("v", "a parameter")?;
                parser.punct(':')?;
                let ty = parser.ty()?;
                let value = parser.define(number, pos, ty)?;
                parser.func.blocks[block].params.push(value);
                Ok(())
            })?;
        }
        if matches!(self.peek().0, Token::Word("cold")) {
            self.at += 1;
            self.func.blocks[block].cold = true;
        }
        self.punct(':')?;
        self.end_of_line()?;
        loop {
            match self.peek() {
                (Token::Punct('}'), _) => return Ok(()),
                (Token::Word(word), _) if numbered(word, "block").is_some() => return Ok(()),
                (_, pos) if self.func.blocks[block].term.is_some() => {
                    return Err(pos.error("the block has ended; expected a block or `}`"));
                }
                _ => self.line(block)?,
            }
            self.end_of_line()?;
        }
    }

    fn line(&mut self, block: Block) -> Result<()> {
        let mut results = Vec::new();
        if matches!(self.peek().0, Token::Word(word) if numbered(word, "v").is_some()) {
            results.push(self.name("v", "a value")?);
            while self.accept(',') {
                results.push(self.name("v", "a value")?);
            }
            self.punct('=')?;
        }
        let (word, pos) = self.word("an op")?;
        if results.is_empty()
            && let Some(term) = self.term(word)?
        {
            self.func.blocks[block].term = Some(term);
            return Ok(());
        }
        let (name, suffix) = match word.split_once('.') {
            Some((name, suffix)) => (name, Some(suffix)),
            None => (word, None),
        };
        let op = Opcode::ALL
            .iter()
            .copied()
            .find(|op| op.info().name == name);
        let op = op.ok_or_else(|| pos.error(format!("there is no op `{name}`")))?;
        let (imm, args, types) = self.operands(op, suffix, pos)?;
        if types.len() != results.len() {
            return Err(pos.error(format!(
                "`{name}` gives {} results, not {}",
                types.len(),
                results.len()
            )));
        }
        let results = results
            .into_iter()
            .zip(types)
            .map(|((n, pos), ty)| self.define(n, pos, ty));
        let results = results.collect::<Result<_>>()?;
        self.func.blocks[block].insts.push(Inst {
            op,
            args: args.into(),
            imm,
            results,
        });
        Ok(())
    }

    fn term(&mut self, word: &str) -> Result<Option<Term>> {
        Ok(Some(match word {
            "jump" => Term::Jump(self.block_call()?),
            "br" | "br.quiet" => {
                let cond = self.value()?;
                self.punct(',')?;
                let then = self.block_call()?;
                self.punct(',')?;
                Term::Br {
                    cond,
                    then,
                    els: self.block_call()?,
                    quiet: word == "br.quiet",
                }
            }
            "return" => Term::Return(self.values()?),
            "fail" => Term::Fail,
            "exit" => {
                let (number, _) = self.name("exit", "an exit")?;
                self.punct('(')?;
                let args = self.list(')', Parser::value)?;
                Term::Exit {
                    exit: ExitId::new(number as usize),
                    args,
                }
            }
            "unreachable" => Term::Unreachable,
            _ => return Ok(None),
        }))
    }

    /// Immediate, operands and the types of the results.
    fn operands(
        &mut self,
        op: Opcode,
        suffix: Option<&str>,
        pos: Pos,
    ) -> Result<(Imm, Vec<Value>, Vec<Ty>)> {
        let info = op.info();
        let mut types = info.results.unwrap_or_default().to_vec();
        if suffix.is_some() != (info.imm == ImmKind::Mem || op.names_type()) {
            let what = if suffix.is_some() {
                "takes no type"
            } else {
                "needs a type, as in `load.i64`"
            };
            return Err(pos.error(format!("`{}` {what}", info.name)));
        }
        let suffix = suffix.unwrap_or_default();
        let no_type = || pos.error(format!("there is no type `{suffix}`"));
        let imm = match info.imm {
            ImmKind::None => {
                if op.names_type() {
                    types.push(
                        Ty::ALL
                            .into_iter()
                            .find(|ty| ty.name() == suffix)
                            .ok_or_else(no_type)?,
                    );
                }
                Imm::None
            }
            ImmKind::Int => Imm::Int(self.number("an integer")?),
            ImmKind::Float => Imm::Float(self.float()?),
            ImmKind::Addr => Imm::Addr(self.number("an address")?),
            ImmKind::IntCond => Imm::IntCond(self.condition(IntCond::ALL, IntCond::name)?),
            ImmKind::FloatCond => Imm::FloatCond(self.condition(FloatCond::ALL, FloatCond::name)?),
            ImmKind::Mem => {
                let width = Width::ALL
                    .into_iter()
                    .find(|width| width.name() == suffix)
                    .ok_or_else(no_type)?;
                if info.results.is_none() {
                    types.push(width.ty());
                }
                let mut args = vec![self.value()?];
                let offset = match self.peek().0 {
                    Token::Number(_) => self.number("an offset")?,
                    _ => 0,
                };
                while self.accept(',') {
                    args.push(self.value()?);
                }
                return Ok((Imm::Mem { width, offset }, args, types));
            }
            ImmKind::Helper => {
                let id = self.helper()?;
                types = self.helpers[id].signature.results.clone();
                self.punct('(')?;
                return Ok((Imm::Helper(id), self.list(')', Parser::value)?, types));
            }
            ImmKind::Routine => {
                let (number, pos) = self.name("routine", "a routine")?;
                let id = RoutineId::new(number as usize);
                let routine = self
                    .func
                    .routines
                    .get(id)
                    .ok_or_else(|| pos.error(format!("there is no {id}")))?;
                types = routine.signature.results.clone();
                self.punct('(')?;
                return Ok((Imm::Routine(id), self.list(')', Parser::value)?, types));
            }
            ImmKind::Sig => {
                let (number, pos) = self.name("sig", "a signature")?;
                let id = SigId::new(number as usize);
                let sig = self
                    .func
                    .sigs
                    .get(id)
                    .ok_or_else(|| pos.error(format!("there is no {id}")))?;
                types = sig.results.clone();
                let mut args = vec![self.value()?];
                self.punct('(')?;
                args.extend(self.list(')', Parser::value)?);
                return Ok((Imm::Sig(id), args, types));
            }
        };
        if imm != Imm::None && matches!(self.peek().0, Token::Newline) {
            return Ok((imm, Vec::new(), types));
        }
        Ok((imm, self.values()?, types))
    }
}

/// Names and operands.
impl<'a> Parser<'a> {
    fn block_call(&mut self) -> Result<BlockCall> {
        let (number, pos) = self.name("block", "a block")?;
        let block = self.block_named(number, pos);
        let args = if self.accept('(') {
            self.list(')', Parser::value)?
        } else {
            Vec::new()
        };
        Ok(BlockCall { block, args })
    }

    fn block_named(&mut self, number: u32, pos: Pos) -> Block {
        let named = self.blocks.entry(number).or_insert_with(|| {
            let own = Block::new(number as usize);
            let entity = if self.func.blocks.is_valid(own) {
                own
            } else {
                self.func.blocks.push(EMPTY)
            };
            Named {
                entity,
                defined: false,
                first: pos,
            }
        });
        named.entity
    }

    /// A used value; its definition may come later, so its type may not be known yet.
    fn value(&mut self) -> Result<Value> {
        let (number, pos) = self.name("v", "a value")?;
        Ok(self.value_named(number, pos).entity)
    }

    fn value_named(&mut self, number: u32, pos: Pos) -> &mut Named<Value> {
        self.values.entry(number).or_insert_with(|| {
            let own = Value::new(number as usize);
            let entity = if self.func.values.is_valid(own) {
                own
            } else {
                self.func.values.push(Ty::I64)
            };
            Named {
                entity,
                defined: false,
                first: pos,
            }
        })
    }

    fn define(&mut self, number: u32, pos: Pos, ty: Ty) -> Result<Value> {
        let named = self.value_named(number, pos);
        if std::mem::replace(&mut named.defined, true) {
            return Err(pos.error(format!("v{number} is defined twice")));
        }
        let value = named.entity;
        self.func.values[value] = ty;
        Ok(value)
    }

    /// Values up to the end of the line.
    fn values(&mut self) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        if matches!(self.peek().0, Token::Newline) {
            return Ok(values);
        }
        values.push(self.value()?);
        while self.accept(',') {
            values.push(self.value()?);
        }
        Ok(values)
    }

    fn helper(&mut self) -> Result<HelperId> {
        let (name, pos) = match self.next() {
            (Token::Text(name), pos) => (name, pos),
            (Token::Word(name), pos) => (name.to_owned(), pos),
            (token, pos) => return Err(expected("a helper", &token, pos)),
        };
        let found = self.helpers.iter().find(|(_, helper)| helper.name == name);
        found
            .map(|(id, _)| id)
            .ok_or_else(|| pos.error(format!("there is no helper `{name}`")))
    }

    fn signature(&mut self) -> Result<Signature> {
        self.punct('(')?;
        let params = self.list(')', Parser::ty)?;
        let mut results = Vec::new();
        if self.peek().0 == Token::Arrow {
            self.at += 1;
            if self.accept('(') {
                results = self.list(')', Parser::ty)?;
            } else {
                results.push(self.ty()?);
            }
        }
        Ok(Signature { params, results })
    }

    fn ty(&mut self) -> Result<Ty> {
        let (word, pos) = self.word("a type")?;
        let ty = Ty::ALL.into_iter().find(|ty| ty.name() == word);
        ty.ok_or_else(|| pos.error(format!("there is no type `{word}`")))
    }

    fn condition<C: Copy>(&mut self, all: &[C], name: impl Fn(C) -> &'static str) -> Result<C> {
        let (word, pos) = self.word("a condition")?;
        let found = all.iter().copied().find(|&cond| name(cond) == word);
        found.ok_or_else(|| pos.error(format!("there is no condition `{word}`")))
    }

    /// An integer that fits, decimal or hexadecimal.
    fn number<N: TryFrom<i128>>(&mut self, what: &str) -> Result<N> {
        let (token, pos) = self.next();
        let Token::Number(digits) = token else {
            return Err(expected(what, &token, pos));
        };
        let number = match digits.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        let fits = number.ok().and_then(|n| N::try_from(n).ok());
        fits.ok_or_else(|| pos.error(format!("`{digits}` is not {what}, or out of range")))
    }

    fn float(&mut self) -> Result<u64> {
        match self.next() {
            (Token::Number(digits), pos) => {
                let float = digits.parse::<f64>();
                float
                    .map(f64::to_bits)
                    .map_err(|_| pos.error(format!("`{digits}` is no double")))
            }
            (Token::Word("inf"), _) => Ok(f64::INFINITY.to_bits()),
            (Token::Word("nan"), pos) => {
                self.punct(':')?;
                let bits = self.number("the bits of a nan")?;
                if f64::from_bits(bits).is_nan() {
                    Ok(bits)
                } else {
                    Err(pos.error("these are not the bits of a nan"))
                }
            }
            (token, pos) => Err(expected("a double", &token, pos)),
        }
    }
}

/// Tokens.
impl<'a> Parser<'a> {
    fn peek(&self) -> &(Token<'a>, Pos) {
        &self.tokens[self.at]
    }

    fn next(&mut self) -> (Token<'a>, Pos) {
        let token = self.peek().clone();
        if token.0 != Token::End {
            self.at += 1;
        }
        token
    }

    fn newlines(&mut self) {
        if self.peek().0 == Token::Newline {
            self.at += 1;
        }
    }

    fn end_of_line(&mut self) -> Result<()> {
        match self.next() {
            (Token::Newline, _) => Ok(()),
            (token, pos) => Err(expected("the end of the line", &token, pos)),
        }
    }

    fn accept(&mut self, c: char) -> bool {
        let accepted = self.peek().0 == Token::Punct(c);
        self.at += usize::from(accepted);
        accepted
    }

    fn punct(&mut self, c: char) -> Result<()> {
        match self.next() {
            (Token::Punct(found), _) if found == c => Ok(()),
            (token, pos) => Err(expected(&format!("`{c}`"), &token, pos)),
        }
    }

    fn word(&mut self, what: &str) -> Result<(&'a str, Pos)> {
        match self.next() {
            (Token::Word(word), pos) => Ok((word, pos)),
            (token, pos) => Err(expected(what, &token, pos)),
        }
    }

    fn keyword(&mut self, keyword: &str) -> Result<()> {
        match self.next() {
            (Token::Word(word), _) if word == keyword => Ok(()),
            (token, pos) => Err(expected(&format!("`{keyword}`"), &token, pos)),
        }
    }

    /// A name such as `v3`.
    fn name(&mut self, prefix: &str, what: &str) -> Result<(u32, Pos)> {
        let (token, pos) = self.next();
        let number = if let Token::Word(word) = token {
            numbered(word, prefix)
        } else {
            None
        };
        number
            .map(|n| (n, pos))
            .ok_or_else(|| expected(what, &token, pos))
    }

    /// Items separated by commas, up to `close`.
    fn list<T>(
        &mut self,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.accept(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.accept(close) {
                return Ok(items);
            }
            self.punct(',')?;
        }
    }
}

/// A block before its definition is read.
const EMPTY: BlockData = BlockData {
    params: Vec::new(),
    insts: Vec::new(),
    term: None,
    cold: false,
};

fn expected(what: &str, found: &Token, pos: Pos) -> ParseError {
    pos.error(format!("expected {what}, found {}", found.describe()))
}

/// The number of a name with this prefix.
fn numbered(word: &str, prefix: &str) -> Option<u32> {
    let digits = word.strip_prefix(prefix)?;
    // The largest number is no valid entity.
    digits
        .parse()
        .ok()
        .filter(|&n| n != u32::MAX && digits.bytes().all(|b| b.is_ascii_digit()))
}

fn in_order(number: u32, next: usize, pos: Pos) -> Result<()> {
    if number as usize == next {
        Ok(())
    } else {
        Err(pos.error(format!("the next number here is {next}")))
    }
}

fn undefined<E: std::fmt::Debug>(names: &HashMap<u32, Named<E>>) -> Result<()> {
    let first = names
        .iter()
        .filter(|(_, named)| !named.defined)
        .min_by_key(|(_, named)| (named.first.line, named.first.column));
    match first {
        Some((number, named)) => {
            let kind: String = format!("{:?}", named.entity)
                .chars()
                .take_while(|c| !c.is_ascii_digit())
                .collect();
            Err(named.first.error(format!("{kind}{number} is not defined")))
        }
        None => Ok(()),
    }
}
