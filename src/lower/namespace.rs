//! Names of the namespace: loads and stores through the host's intrinsics.

use super::Lower;
use super::hop::HighLevelOp;
use super::objects::unboxing;
use crate::facts::RawKind;
use crate::host::names;
use crate::lir::{self, IntCond, Opcode};
use crate::types::Type;

impl HighLevelOp<'_, '_> {
    fn find_name(&mut self, name: u32, exit: lir::Block) -> lir::Value {
        let operands = self.lower.name(name);
        let p = self.intrinsic(names::NAME_GET, &operands);
        let null = self.b().is_null(p);
        let some = self.b().op(Opcode::Bnot, &[null]);
        self.b().guard(some, exit);
        p
    }

    pub(super) fn name_get(&mut self, name: u32) -> lir::Value {
        let exit = self.exit();
        self.find_name(name, exit)
    }

    pub(super) fn name_get_raw(&mut self, name: u32, class: Type) -> lir::Value {
        let exit = self.exit();
        let p = self.find_name(name, exit);
        let token = self.lower.class_token(class);
        let found = self.intrinsic(names::CLASS_OF, &[p]);
        let token = self.b().pconst(token);
        let ok = self.b().icmp(IntCond::Eq, found, token);
        self.b().guard(ok, exit);
        let kind = RawKind::of(class).expect("a number's class");
        let host = self.lower.host;
        let func = &host.intrinsics[host.intrinsic(unboxing(kind))].func;
        self.b().inline(func, &[p], Some(exit))[0]
    }

    pub(super) fn name_set(&mut self, name: u32) -> lir::Value {
        let [namespace, key, cell] = self.lower.name(name);
        let often = self.lower.f.names.contains(&name);
        let notes = self.lower.parts.namespace.as_ref().filter(|_| often);
        let notes = self.b().iconst(notes.map_or(0, |n| n.notes));
        let value = self.passed_on(0);
        let raise = self.exception_is_here();
        let host = self.lower.host;
        let func = &host.intrinsics[host.intrinsic(names::NAME_SET)].func;
        let operands = [namespace, key, cell, value, notes];
        self.b().inline(func, &operands, Some(raise))[0]
    }
}

impl Lower<'_> {
    /// The operands that identify the namespace and the name.
    fn name(&mut self, name: u32) -> [lir::Value; 3] {
        let namespace = self.parts.namespace.as_ref();
        let namespace = namespace.expect("names are kept in registers for a namespace");
        let (key, cell) = namespace.names[name as usize];
        [namespace.address, key, cell].map(|address| self.b.pconst(address))
    }
}
