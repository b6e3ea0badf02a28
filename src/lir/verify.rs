//! The verifier: reports all faults of a function, with their places.
//!
//! An unreachable block in `order` is allowed (inlining an intrinsic can cause one): its types and
//! counts are checked like any other's, but since no path leads there, nothing has to dominate its
//! uses.

use super::cfg::Cfg;
use super::graph::{Block, BlockCall, Func, Helper, HelperId, Imm, Inst, Signature, Term, Value};
use super::ops::{ImmKind, IntCond, Opcode};
use crate::ll::Ty;
use cranelift_entity::packed_option::PackedOption;
use cranelift_entity::{EntitySet, PrimaryMap, SecondaryMap};
use std::fmt;

/// The use of a function, which decides the allowed terminators.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Compiled code: may exit, may not fail.
    Unit,
    /// An operation of the host: may fail, may not exit. It is inlined, so it may have any number
    /// of results, while a function that is called has two at most.
    Intrinsic,
}

/// The place of a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// The function as a whole.
    Function,
    /// The start of a block.
    Head(Block),
    /// An instruction, by its index in the block.
    Inst(Block, usize),
    /// The end of a block.
    End(Block),
}

/// A fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The place.
    pub place: Place,
    /// The fault, in words.
    pub what: String,
}

/// All faults of a function.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct VerifierErrors {
    /// The function's name.
    pub func: String,
    /// At least one fault, in the order of the text form.
    pub faults: Vec<Fault>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Function => f.write_str("function"),
            Place::Head(block) => write!(f, "{block}"),
            Place::Inst(block, index) => write!(f, "{block}, instruction {index}"),
            Place::End(block) => write!(f, "{block}, end"),
        }
    }
}

impl fmt::Display for VerifierErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LIR function `{}` is not well formed:", self.func)?;
        for fault in &self.faults {
            write!(f, "\n  {}: {}", fault.place, fault.what)?;
        }
        Ok(())
    }
}

/// Checks a function.
///
/// # Errors
/// [`VerifierErrors`] with all faults that were found.
pub fn verify(
    func: &Func,
    mode: Mode,
    helpers: &PrimaryMap<HelperId, Helper>,
) -> Result<(), VerifierErrors> {
    let mut verifier = Verifier {
        func,
        mode,
        helpers,
        cfg: Cfg::new(func),
        defs: SecondaryMap::new(),
        listed: EntitySet::new(),
        place: Place::Function,
        faults: Vec::new(),
    };
    verifier.function();
    match verifier.faults {
        faults if faults.is_empty() => Ok(()),
        faults => Err(VerifierErrors {
            func: func.name.clone(),
            faults,
        }),
    }
}

/// The definition of a value: its block, and the number of instructions before it (zero for
/// parameters).
#[derive(Clone, Copy, Default)]
struct Def {
    block: PackedOption<Block>,
    after: usize,
}

struct Verifier<'a> {
    func: &'a Func,
    mode: Mode,
    helpers: &'a PrimaryMap<HelperId, Helper>,
    cfg: Cfg,
    defs: SecondaryMap<Value, Def>,
    /// The blocks of `order`.
    listed: EntitySet<Block>,
    place: Place,
    faults: Vec<Fault>,
}

impl Verifier<'_> {
    fn fault(&mut self, what: impl Into<String>) {
        self.faults.push(Fault {
            place: self.place,
            what: what.into(),
        });
    }

    fn function(&mut self) {
        let func = self.func;
        if func.order.is_empty() {
            return self.fault("there is no entry block");
        }
        // An inlined function needs no registers for its results.
        if self.mode == Mode::Unit && func.signature.results.len() > 2 {
            self.fault("more than two results");
        }
        for value in func.refs.values.iter() {
            if func.values.get(value) != Some(&Ty::Ptr) {
                self.fault(format!("{value} holds a reference, but is no ptr"));
            }
        }
        for &number in &func.refs.slots {
            match func.slots.get(number as usize) {
                None => self.fault(format!("there is no stack slot {number}")),
                Some(bytes) if bytes % 8 != 0 => {
                    self.fault(format!("slot{number} holds references, but no whole words"));
                }
                Some(_) => {}
            }
        }
        for (id, sig) in &func.sigs {
            if sig.results.len() > 2 {
                self.fault(format!("{id} has more than two results"));
            }
        }
        self.list_blocks();
        if !self.faults.is_empty() {
            return;
        }
        let entry: Vec<Ty> = func
            .params()
            .iter()
            .filter_map(|&v| func.values.get(v).copied())
            .collect();
        if entry != func.signature.params {
            self.place = Place::Head(func.entry());
            self.fault(format!(
                "parameters {} are not the signature's {}",
                list(&entry),
                list(&func.signature.params)
            ));
        }
        for &block in &func.order {
            self.define(block);
        }
        for &block in &func.order {
            self.block(block);
        }
        // Definitions are checked before uses; messages are in the order of the text.
        let mut places = SecondaryMap::<Block, usize>::new();
        for (place, &block) in func.order.iter().enumerate() {
            places[block] = place + 1;
        }
        self.faults.sort_by_key(|fault| match fault.place {
            Place::Function => (0, 0, 0),
            Place::Head(block) => (places[block], 0, 0),
            Place::Inst(block, index) => (places[block], 1, index),
            Place::End(block) => (places[block], 2, 0),
        });
    }

    fn list_blocks(&mut self) {
        for &block in &self.func.order {
            if !self.func.blocks.is_valid(block) {
                self.fault(format!("{block} is in the layout but does not exist"));
            } else if !self.listed.insert(block) {
                self.fault(format!("{block} is twice in the layout"));
            }
        }
    }

    /// Notes the values that a block defines.
    fn define(&mut self, block: Block) {
        let data = &self.func.blocks[block];
        self.place = Place::Head(block);
        for &param in &data.params {
            self.define_value(param, block, 0);
        }
        for (index, inst) in data.insts.iter().enumerate() {
            self.place = Place::Inst(block, index);
            for &result in &inst.results {
                self.define_value(result, block, index + 1);
            }
        }
    }

    fn define_value(&mut self, value: Value, block: Block, after: usize) {
        if !self.func.values.is_valid(value) {
            self.fault(format!("{value} does not exist"));
        } else if self.defs[value].block.is_some() {
            self.fault(format!("{value} is defined twice"));
        } else {
            self.defs[value] = Def {
                block: block.into(),
                after,
            };
        }
    }

    fn block(&mut self, block: Block) {
        let data = &self.func.blocks[block];
        for (index, inst) in data.insts.iter().enumerate() {
            self.place = Place::Inst(block, index);
            for &arg in &inst.args {
                self.check_use(arg, block, index);
            }
            self.inst(inst);
        }
        self.place = Place::End(block);
        match &data.term {
            Some(term) => self.term(term, block, data.insts.len()),
            None => self.fault("there is no terminator"),
        }
    }

    /// Checks a use by the instruction with `index` others before it in its block.
    fn check_use(&mut self, value: Value, block: Block, index: usize) {
        let Some(def) = self
            .defs
            .get(value)
            .copied()
            .filter(|def| def.block.is_some())
        else {
            return self.fault(format!("{value} is not defined"));
        };
        let home = def.block.expect("just tested");
        if home == block {
            if def.after > index {
                self.fault(format!("{value} is used before its definition"));
            }
        } else if self.cfg.is_reachable(block)
            && !(self.cfg.is_reachable(home) && self.cfg.dominates(home, block))
        {
            self.fault(format!(
                "the definition of {value} in {home} does not dominate this use"
            ));
        }
    }

    /// The types of values; those that do not exist have been reported.
    fn types(&self, values: &[Value]) -> Vec<Ty> {
        values
            .iter()
            .filter_map(|&v| self.func.values.get(v).copied())
            .collect()
    }

    fn expect(&mut self, what: &str, found: &[Ty], expected: &[Ty]) {
        if found.len() != expected.len() {
            let s = if found.len() == 1 { "" } else { "s" };
            self.fault(format!(
                "{} {what}{s}, expected {}",
                found.len(),
                expected.len()
            ));
        } else if found != expected {
            self.fault(format!(
                "{what}s are {}, not {}",
                list(found),
                list(expected)
            ));
        }
    }

    fn inst(&mut self, inst: &Inst) {
        let info = inst.op.info();
        if imm_kind(inst.imm) != info.imm {
            return self.fault(format!("`{}` with immediate {:?}", info.name, inst.imm));
        }
        let args = self.types(&inst.args);
        let results = self.types(&inst.results);
        if let Some(expected) = info.args {
            self.expect("operand", &args, expected);
        }
        if let Some(expected) = info.results {
            self.expect("result", &results, expected);
        }
        match (inst.op, inst.imm) {
            (Opcode::Bconst, Imm::Int(n)) if n != 0 && n != 1 => {
                self.fault(format!("{n} is no truth value"))
            }
            (Opcode::Icmp, Imm::IntCond(cond)) => self.icmp(cond, &args),
            (Opcode::Select, _) => match args[..] {
                [Ty::Bool, a, b] if a == b => self.expect("result", &results, &[a]),
                _ => self.fault(format!("operands are {}, not (bool, a, a)", list(&args))),
            },
            (Opcode::Copy, _) => match args[..] {
                [a] => self.expect("result", &results, &[a]),
                _ => self.fault(format!("operands are {}, not one", list(&args))),
            },
            (Opcode::StackAddr, Imm::Int(number)) => {
                if usize::try_from(number).is_ok_and(|n| n < self.func.slots.len()) {
                    return;
                }
                self.fault(format!("there is no stack slot {number}"));
            }
            (Opcode::Load, Imm::Mem { width, .. }) => {
                self.expect("result", &results, &[width.ty()])
            }
            (Opcode::Store, Imm::Mem { width, .. }) => {
                self.expect("operand", &args, &[Ty::Ptr, width.ty()])
            }
            (Opcode::Call, Imm::Helper(id)) => match self.helpers.get(id) {
                Some(helper) => self.call(helper.name, &helper.signature, &args, &results),
                None => self.fault(format!("there is no {id}")),
            },
            (Opcode::CallRoutine, Imm::Routine(id)) => match self.func.routines.get(id) {
                Some(routine) => self.call(&routine.name, &routine.signature, &args, &results),
                None => self.fault(format!("there is no {id}")),
            },
            (Opcode::CallIndirect, Imm::Sig(id)) => {
                match (self.func.sigs.get(id), args.split_first()) {
                    (None, _) => self.fault(format!("there is no {id}")),
                    (Some(sig), Some((Ty::Ptr, args))) => {
                        self.call(&id.to_string(), sig, args, &results)
                    }
                    (Some(_), _) => self.fault("the callee is no address"),
                }
            }
            _ => {}
        }
    }

    fn icmp(&mut self, cond: IntCond, args: &[Ty]) {
        use IntCond::{Eq, Ne, Uge, Ugt, Ule, Ult};
        match args {
            [Ty::I64, Ty::I64] => {}
            [Ty::Ptr, Ty::Ptr] if matches!(cond, Eq | Ne | Ult | Ule | Ugt | Uge) => {}
            [Ty::Ptr, Ty::Ptr] => self.fault(format!("addresses have no order `{}`", cond.name())),
            _ => self.fault(format!(
                "operands are {}, not two integers or two addresses",
                list(args)
            )),
        }
    }

    fn call(&mut self, callee: &str, sig: &Signature, args: &[Ty], results: &[Ty]) {
        if args != sig.params || results != sig.results {
            let (found, expected) = (Signature::new(args, results), sig);
            self.fault(format!("`{callee}` is {expected} but is called as {found}"));
        }
        if sig.results.len() > 2 {
            self.fault(format!("`{callee}` has more than two results"));
        }
    }

    fn term(&mut self, term: &Term, block: Block, index: usize) {
        for &value in term.args() {
            self.check_use(value, block, index);
        }
        if let Term::Br { cond, .. } = term
            && let Some(&ty) = self.func.values.get(*cond)
            && ty != Ty::Bool
        {
            self.fault(format!("the condition {cond} is no bool"));
        }
        for call in term.targets() {
            self.block_call(call, block, index);
        }
        match (term, self.mode) {
            (Term::Return(values), _) => {
                let types = self.types(values);
                self.expect("result", &types, &self.func.signature.results);
            }
            (Term::Fail, Mode::Unit) => self.fault("only an intrinsic may fail"),
            (Term::Exit { .. }, Mode::Intrinsic) => self.fault("an intrinsic may not exit"),
            (Term::Exit { .. }, Mode::Unit)
                if !matches!(self.func.signature.results[..], [Ty::Ptr] | [Ty::I64, _]) =>
            {
                self.fault("a unit that exits must give one ptr, or a status and a value");
            }
            _ => {}
        }
    }

    fn block_call(&mut self, call: &BlockCall, block: Block, index: usize) {
        for &arg in &call.args {
            self.check_use(arg, block, index);
        }
        if !self.listed.contains(call.block) {
            return self.fault(format!("{} is not in the layout", call.block));
        }
        if call.block == self.func.entry() {
            self.fault("the entry block may not be jumped to");
        }
        let found = self.types(&call.args);
        let expected = self.types(&self.func.blocks[call.block].params);
        if found != expected {
            self.fault(format!(
                "{} takes {} but is given {}",
                call.block,
                list(&expected),
                list(&found)
            ));
        }
    }
}

fn imm_kind(imm: Imm) -> ImmKind {
    match imm {
        Imm::None => ImmKind::None,
        Imm::Int(_) => ImmKind::Int,
        Imm::Float(_) => ImmKind::Float,
        Imm::Addr(_) => ImmKind::Addr,
        Imm::IntCond(_) => ImmKind::IntCond,
        Imm::FloatCond(_) => ImmKind::FloatCond,
        Imm::Mem { .. } => ImmKind::Mem,
        Imm::Helper(_) => ImmKind::Helper,
        Imm::Sig(_) => ImmKind::Sig,
        Imm::Routine(_) => ImmKind::Routine,
    }
}

fn list(types: &[Ty]) -> String {
    let names: Vec<&str> = types.iter().map(|ty| ty.name()).collect();
    format!("({})", names.join(", "))
}

#[cfg(test)]
mod tests;
