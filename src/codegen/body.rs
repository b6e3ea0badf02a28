//! The code of a function before it is placed: bytes, the places to patch, and maps of its frames.

use crate::code::FrameMap;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::ir::{ExternalName, Function, LibCall};
use cranelift_codegen::{CompiledCode, FinalizedMachReloc, FinalizedRelocTarget};
use cranelift_module::{FuncId, ModuleReloc, ModuleRelocTarget};

/// The namespace of callees, by their indexes in the list of a function's callees.
pub(super) const CALLEES: u32 = 0;
/// The namespace of addresses, by their numbers.
pub(super) const ADDRESSES: u32 = 1;

/// The code of a function, independent of its place.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Body {
    align: u64,
    pub(super) code: Vec<u8>,
    relocs: Vec<BodyReloc>,
    /// The maps of calls that may collect, by the offset of the return address in the code.
    pub(super) maps: Vec<(usize, FrameMap)>,
}

/// A place in the code that depends on an address.
#[derive(Clone, Copy, PartialEq, Debug)]
struct BodyReloc {
    offset: u32,
    kind: Reloc,
    target: Target,
    addend: i64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Target {
    /// A callee, by its index in the list.
    Callee(u32),
    /// An address, by its number.
    Address(u32),
    /// A place in the code itself.
    Own(u32),
    /// A library function that Cranelift calls on its own.
    Library(LibCall),
}

/// The kinds of relocations in stored bodies, by their numbers there.
const KINDS: [Reloc; 4] = [
    Reloc::Abs8,
    Reloc::X86PCRel4,
    Reloc::X86CallPCRel4,
    Reloc::Arm64Call,
];

impl Body {
    /// The body of a compiled function. None if the code has a relocation of an unknown kind.
    pub(super) fn new(
        func: &Function,
        compiled: &CompiledCode,
        maps: Vec<(usize, FrameMap)>,
    ) -> Option<Body> {
        let reloc = |reloc: &FinalizedMachReloc| {
            let target = match &reloc.target {
                FinalizedRelocTarget::ExternalName(ExternalName::User(name)) => {
                    let name = &func.params.user_named_funcs()[*name];
                    match name.namespace {
                        CALLEES => Target::Callee(name.index),
                        ADDRESSES => Target::Address(name.index),
                        _ => return None,
                    }
                }
                FinalizedRelocTarget::ExternalName(ExternalName::LibCall(call)) => {
                    Target::Library(*call)
                }
                FinalizedRelocTarget::ExternalName(_) => return None,
                FinalizedRelocTarget::Func(offset) => Target::Own(*offset),
            };
            Some(BodyReloc {
                offset: reloc.offset,
                kind: reloc.kind,
                target,
                addend: reloc.addend,
            })
        };
        let relocs = compiled.buffer.relocs().iter().map(reloc);
        Some(Body {
            align: compiled.buffer.alignment.into(),
            code: compiled.code_buffer().to_vec(),
            relocs: relocs.collect::<Option<_>>()?,
            maps,
        })
    }

    /// The alignment of its beginning.
    pub(super) fn align(&self) -> u64 {
        self.align
    }

    /// The code with its addresses, and the relocations that are left to the linker, which refer to
    /// callees by index. None if the body does not fit this number of callees and addresses.
    pub(super) fn link(
        &self,
        callees: usize,
        addresses: &[u64],
    ) -> Option<(Vec<u8>, Vec<ModuleReloc>)> {
        // The function itself is declared after its callees.
        let own = FuncId::from_u32(callees as u32);
        let mut code = self.code.clone();
        let mut relocs = Vec::with_capacity(self.relocs.len());
        for reloc in &self.relocs {
            let name = match reloc.target {
                Target::Callee(n) if (n as usize) < callees => ModuleRelocTarget::user(0, n),
                Target::Callee(_) => return None,
                Target::Own(offset) => ModuleRelocTarget::FunctionOffset(own, offset),
                Target::Library(call) => ModuleRelocTarget::LibCall(call),
                Target::Address(n) => {
                    // The emitter uses addresses in no other way.
                    let address = addresses.get(n as usize)?;
                    let address = address.wrapping_add_signed(reloc.addend);
                    let at = reloc.offset as usize;
                    let place = code.get_mut(at..at.checked_add(8)?)?;
                    if reloc.kind != Reloc::Abs8 {
                        return None;
                    }
                    place.copy_from_slice(&address.to_ne_bytes());
                    continue;
                }
            };
            relocs.push(ModuleReloc {
                offset: reloc.offset,
                kind: reloc.kind,
                name,
                addend: reloc.addend,
            });
        }
        Some((code, relocs))
    }

    /// The body as bytes. None if only this process could use it.
    pub(super) fn encode(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(self.code.len() + 16 * self.relocs.len() + 64);
        let mut word = |n: u32| bytes.extend(n.to_le_bytes());
        word(u32::try_from(self.align).ok()?);
        word(u32::try_from(self.code.len()).ok()?);
        word(u32::try_from(self.relocs.len()).ok()?);
        word(u32::try_from(self.maps.len()).ok()?);
        for reloc in &self.relocs {
            let kind = KINDS.iter().position(|kind| *kind == reloc.kind)? as u32;
            let (target, n) = match reloc.target {
                Target::Callee(n) => (0, n),
                Target::Address(n) => (1, n),
                Target::Own(n) => (2, n),
                Target::Library(_) => return None,
            };
            word(reloc.offset);
            word(kind << 2 | target);
            word(n);
            word(i32::try_from(reloc.addend).ok()?.cast_unsigned());
        }
        for (offset, map) in &self.maps {
            word(u32::try_from(*offset).ok()?);
            word(map.size);
            word(u32::try_from(map.words.len()).ok()?);
            map.words.iter().for_each(|n| word(*n));
        }
        bytes.extend(&self.code);
        Some(bytes)
    }

    /// Reads a body back. None for invalid bytes.
    pub(super) fn decode(bytes: &[u8]) -> Option<Body> {
        let mut rest = bytes;
        let mut word = || {
            let (word, more) = rest.split_first_chunk()?;
            rest = more;
            Some(u32::from_le_bytes(*word))
        };
        let align = word().filter(|n| n.is_power_of_two() && *n <= 4096)?;
        let (len, relocs, maps) = (word()? as usize, word()?, word()?);
        let reloc = |word: &mut dyn FnMut() -> Option<u32>| {
            let (offset, what, n) = (word()?, word()?, word()?);
            let addend = i64::from(word()?.cast_signed());
            let kind = *KINDS.get(what as usize >> 2)?;
            let target = match what & 3 {
                0 => Target::Callee(n),
                1 => Target::Address(n),
                2 if (n as usize) < len => Target::Own(n),
                _ => return None,
            };
            let room = match kind {
                Reloc::Abs8 => 8,
                _ => 4,
            };
            (offset as usize <= len.checked_sub(room)?).then_some(BodyReloc {
                offset,
                kind,
                target,
                addend,
            })
        };
        let relocs = (0..relocs).map(|_| reloc(&mut word));
        let relocs = relocs.collect::<Option<_>>()?;
        let map = |word: &mut dyn FnMut() -> Option<u32>| {
            let (offset, size) = (word()? as usize, word()?);
            let words = (0..word()?).map(|_| word()).collect::<Option<_>>()?;
            (offset <= len).then_some((offset, FrameMap { size, words }))
        };
        let maps = (0..maps).map(|_| map(&mut word));
        let maps = maps.collect::<Option<_>>()?;
        (rest.len() == len && len != 0).then(|| Body {
            align: align.into(),
            code: rest.to_vec(),
            relocs,
            maps,
        })
    }

    /// The number of bytes in memory.
    pub(super) fn size(&self) -> usize {
        self.code.len() + size_of_val(&self.relocs[..]) + size_of_val(&self.maps[..])
    }
}
