//! Exact strings, which are all compact.

use super::Set;
use crate::abi::unicode;
use cladonia::facts::Effects;
use cladonia::host::names;
use cladonia::lir::{Builder, IntCond, Opcode, Term, Value};
use cladonia::ll::{Ty, Width};

const PTR: Ty = Ty::Ptr;

/// Number of characters in a word.
const WORD: i64 = 8;

pub(super) fn define(set: &mut Set<'_>) {
    set.add(
        names::STR_LEN,
        &[PTR],
        &[Ty::I64],
        Effects::NONE,
        |b, p, _| {
            let len = b.load(Width::I64, p[0], unicode::LENGTH);
            b.ret(&[len]);
        },
    );
    set.add(
        names::STR_EQ,
        &[PTR, PTR],
        &[Ty::Bool],
        Effects::NONE,
        |b, p, context| {
            let answer = b.block();
            let same = b.param(answer, Ty::Bool);
            let yes = b.bconst(true);
            let no = b.bconst(false);
            let [differ, alike, ascii, short, rest] = [(); 5].map(|()| b.block());
            let is_one = b.icmp(IntCond::Eq, p[0], p[1]);
            b.br(is_one, answer, &[yes], differ, &[]);
            b.switch_to(differ);
            let lens = [p[0], p[1]].map(|text| b.load(Width::I64, text, unicode::LENGTH));
            let as_long = b.icmp(IntCond::Eq, lens[0], lens[1]);
            b.br(as_long, alike, &[], answer, &[no]);
            b.switch_to(alike);
            let states = [p[0], p[1]].map(|text| b.load(Width::U32, text, unicode::STATE));
            let both = b.op(Opcode::Iand, &states);
            let both = is_set(b, both, unicode::STATE_ASCII);
            b.br(both, ascii, &[], rest, &[]);
            // The bytes of the word after the characters, of which there are at most as many as a
            // word has, are shifted out.
            b.switch_to(ascii);
            let words = [p[0], p[1]].map(|text| b.load(Width::I64, text, unicode::ASCII_DATA));
            let differs = b.op(Opcode::Ixor, &words);
            let fits = b.icmp_imm(IntCond::Slt, lens[0], WORD);
            let long = b.block();
            b.br(fits, short, &[], long, &[]);
            b.switch_to(short);
            let bits = b.iconst(8);
            let first = b.op(Opcode::Ishl, &[differs, bits]);
            let left = b.iconst(WORD - 1);
            let left = b.op(Opcode::Isub, &[left, lens[0]]);
            let left = b.op(Opcode::Imul, &[left, bits]);
            let shifted = b.op(Opcode::Ishl, &[first, left]);
            let is_same = b.icmp_imm(IntCond::Eq, shifted, 0);
            b.jump(answer, &[is_same]);
            b.switch_to(long);
            let begin_alike = b.icmp_imm(IntCond::Eq, differs, 0);
            b.br(begin_alike, rest, &[], answer, &[no]);
            b.switch_to(rest);
            let found = b.call(context.same_text, p, &[Ty::I64])[0];
            let found = b.icmp_imm(IntCond::Ne, found, 0);
            b.jump(answer, &[found]);
            b.switch_to(answer);
            b.ret(&[same]);
        },
    );
    set.add(
        names::STR_AT,
        &[PTR, Ty::I64],
        &[PTR],
        Effects::NONE,
        |b, p, context| {
            let [read, other, known] = [(); 3].map(|()| b.block());
            let fail = b.cold_block();
            let from = b.param(read, Ty::I64);
            let state = b.load(Width::U32, p[0], unicode::STATE);
            let offset = b.iconst(i64::from(unicode::ASCII_DATA));
            let is_ascii = is_set(b, state, unicode::STATE_ASCII);
            b.br(is_ascii, read, &[offset], other, &[]);
            b.switch_to(other);
            let mask = b.iconst(i64::from(unicode::STATE_KIND));
            let kind = b.op(Opcode::Iand, &[state, mask]);
            let is_byte = b.icmp_imm(IntCond::Eq, kind, i64::from(unicode::STATE_KIND_BYTE));
            let offset = b.iconst(i64::from(unicode::COMPACT_DATA));
            b.br(is_byte, read, &[offset], fail, &[]);
            b.switch_to(read);
            let at = b.op(Opcode::Iadd, &[from, p[1]]);
            let at = b.op(Opcode::Padd, &[p[0], at]);
            let code = b.load(Width::U8, at, 0);
            let table = b.pconst(context.characters);
            let three = b.iconst(3);
            let at = b.op(Opcode::Ishl, &[code, three]);
            let at = b.op(Opcode::Padd, &[table, at]);
            let text = b.load(Width::Ptr, at, 0);
            let null = b.is_null(text);
            b.br(null, fail, &[], known, &[]);
            b.switch_to(known);
            b.ret(&[text]);
            b.switch_to(fail);
            b.terminate(Term::Fail);
        },
    );
}

/// True if a bit of a word is set.
pub(super) fn is_set(b: &mut Builder<'_>, word: Value, bit: i32) -> Value {
    let bit = b.iconst(i64::from(bit));
    let found = b.op(Opcode::Iand, &[word, bit]);
    b.icmp_imm(IntCond::Ne, found, 0)
}
