//! Collects a host's description and checks it, so that an error of a host is reported at its
//! start.

use super::error::{Fault, HostError};
use super::{
    EXIT_HOOK, HelperFn, HelperRow, Host, Intrinsic, IntrinsicId, Lifetimes, RECORD_EXIT,
    closed_helpers, helpers, names,
};
use crate::facts::Effects;
use crate::lir::{self, Builder, Func, Helper, HelperId, Imm, Signature};
use crate::ll::{Field, LayoutError, Struct, Ty};
use crate::types::HostId;
use cranelift_entity::PrimaryMap;
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// Collects a host's description and checks it.
///
/// ```
/// use cladonia::facts::Effects;
/// use cladonia::host::HostBuilder;
/// use cladonia::types::HostId;
///
/// extern "C" fn exit(_unit: u64, _exit: u64, _buffer: *const u64) -> *mut u8 {
///     unimplemented!("complete the frame and continue in the interpreter")
/// }
///
/// # fn main() -> Result<(), cladonia::host::HostError> {
/// let mut host = HostBuilder::new("example", HostId::new());
/// host.partial().frame_slots(16).uninterrupted();
/// host.define("exit", exit as extern "C" fn(_, _, _) -> _);
/// // An intrinsic of the host's own: the attribute of an object at an offset.
/// let attribute = r#"function "attribute"(ptr, i64) -> ptr {
/// block0(v0: ptr, v1: i64):
///   v2 = padd v0, v1
///   v3 = load.ptr v2
///   return v3
/// }"#;
/// host.intrinsics(Effects::READS, attribute);
/// let host = host.finish()?;
/// assert!(!host.intrinsic_func("attribute").blocks.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct HostBuilder {
    pub(super) host: Host,
    partial: bool,
    duplicate: Option<&'static str>,
    layout_error: Option<LayoutError>,
    text_error: Option<lir::ParseError>,
}

impl HostBuilder {
    /// The helpers so far.
    pub(super) fn helpers(&self) -> &PrimaryMap<HelperId, Helper> {
        &self.host.helpers
    }

    /// A description without helpers and intrinsics.
    pub fn new(name: &'static str, id: HostId) -> HostBuilder {
        HostBuilder {
            host: Host {
                name,
                id,
                helpers: PrimaryMap::new(),
                intrinsics: PrimaryMap::new(),
                frame_slots: 0,
                unboxed_bits: 63,
                none: 0,
                true_: 0,
                false_: 0,
                lifetimes: Lifetimes::Counted,
                layouts: Vec::new(),
                helper_names: FxHashMap::default(),
                intrinsic_names: FxHashMap::default(),
                missing: HashMap::new(),
            },
            partial: false,
            duplicate: None,
            layout_error: None,
            text_error: None,
        }
    }

    /// Declares that the host lacks some of the core's helpers or intrinsics. A missing one is no
    /// error here; a function that needs it is refused with
    /// [`CompileReason::Missing`](crate::engine::CompileReason::Missing). The exit hook is always
    /// required.
    pub fn partial(&mut self) -> &mut Self {
        self.partial = true;
        self
    }

    /// Declares that the host's objects are traced, and may move; [`Lifetimes::Traced`] lists the
    /// requirements. `native_stack` is the byte offset of a
    /// [`NativeStack`](crate::code::NativeStack) in the thread that compiled code receives.
    /// Intrinsics and helpers that count references are not needed.
    pub fn traced(&mut self, native_stack: i32) -> &mut Self {
        self.host.lifetimes = Lifetimes::Traced { native_stack };
        self
    }

    /// Sets the addresses of the singletons.
    pub fn singletons(&mut self, none: u64, true_: u64, false_: u64) -> &mut Self {
        (self.host.none, self.host.true_, self.host.false_) = (none, true_, false_);
        self
    }

    /// Sets the offset in a frame at which local slots begin.
    pub fn frame_slots(&mut self, offset: i32) -> &mut Self {
        self.host.frame_slots = offset;
        self
    }

    /// Sets the range of the ints that `int_unbox` returns: from -2^`bits` to 2^`bits`. Below 63,
    /// which is the default, the sum of two such ints needs no overflow check.
    ///
    /// # Panics
    /// Above 63.
    pub fn unboxed_bits(&mut self, bits: u32) -> &mut Self {
        assert!(bits <= 63, "an unboxed int has 64 bits");
        self.host.unboxed_bits = bits;
        self
    }

    /// Declares the layout of a structure: its fields, after those of the structure that it
    /// extends. Faults are reported by [`finish`](Self::finish); the result is used to define
    /// intrinsics.
    pub fn layout(
        &mut self,
        name: &'static str,
        extends: Option<&Struct>,
        fields: &[Field],
    ) -> Struct {
        let inherited = extends.map_or(&[][..], |base| &base.fields);
        let all: Vec<Field> = inherited.iter().chain(fields).copied().collect();
        let layout = Struct::new(name, all.clone()).unwrap_or_else(|error| {
            self.layout_error.get_or_insert(error);
            Struct { name, fields: all }
        });
        if self.host.layout(name).is_some() {
            self.duplicate = Some(name);
        }
        self.host.layouts.push(layout.clone());
        layout
    }

    /// Adds a helper with the C calling convention. The effects of a standard helper follow from
    /// its row; another helper may have any effects, unless [`effects`](Self::effects) declares
    /// them.
    pub fn helper(
        &mut self,
        name: &'static str,
        address: usize,
        params: &[Ty],
        results: &[Ty],
    ) -> HelperId {
        let id = self.host.helpers.push(Helper {
            name,
            address,
            signature: Signature::new(params, results),
            effects: None,
        });
        if self.host.helper_names.insert(name, id).is_some() {
            self.duplicate = Some(name);
        }
        id
    }

    /// Adds a helper that is a Rust function:
    /// `host.define("name", name as extern "C" fn(_, _) -> _)`.
    pub fn define<F: HelperFn>(&mut self, name: &'static str, function: F) -> HelperId {
        let signature = F::signature();
        self.helper(
            name,
            function.address(),
            &signature.params,
            &signature.results,
        )
    }

    /// Declares the effects of a helper of the host's own. An intrinsic that calls it must declare
    /// at least these.
    pub fn effects(&mut self, helper: HelperId, effects: Effects) -> &mut Self {
        self.host.helpers[helper].effects = Some(effects);
        self
    }

    /// Adds an intrinsic.
    pub fn intrinsic(&mut self, name: &'static str, effects: Effects, func: Func) -> IntrinsicId {
        let id = self.host.intrinsics.push(Intrinsic {
            name,
            func,
            effects,
        });
        if self.host.intrinsic_names.insert(name, id).is_some() {
            self.duplicate = Some(name);
        }
        id
    }

    /// Adds intrinsics written in the [text form](crate::lir::parse) of LIR, one after the other,
    /// each with the name of its function. They may call the helpers added so far, and have at most
    /// the given effects.
    pub fn intrinsics(&mut self, effects: Effects, text: &str) -> &mut Self {
        match lir::parse_all(text, &self.host.helpers) {
            Ok(funcs) => {
                for func in funcs {
                    let name = self.host_name(&func.name);
                    self.intrinsic(name, effects, func);
                }
            }
            Err(error) => {
                self.text_error.get_or_insert(error);
            }
        }
        self
    }

    /// The intrinsic's name with the lifetime of the process; the core's string for a standard one.
    fn host_name(&self, name: &str) -> &'static str {
        let mut standard = names::STANDARD
            .iter()
            .chain(names::NAMESPACE)
            .chain(names::ITEMS)
            .chain(names::STRINGS)
            .chain(names::CLOSED);
        match standard.find(|row| row.0 == name) {
            Some(row) => row.0,
            // Hosts are few, and created once.
            None => Box::leak(name.to_owned().into_boxed_str()),
        }
    }

    /// The finished description.
    ///
    /// # Errors
    /// A [`HostError`] that names the missing, duplicate or wrong item.
    pub fn finish(mut self) -> Result<Host, HostError> {
        let host = self.host.name;
        if let Some(name) = self.duplicate {
            return Err(Fault::Duplicate { name }.of(host));
        }
        if let Some(error) = self.layout_error.take() {
            return Err(Fault::Layout { error }.of(host));
        }
        if let Some(error) = self.text_error.take() {
            return Err(Fault::Text { error }.of(host));
        }
        if let Some(helper) = self.host.helpers.values().find(|h| h.address == 0) {
            let name = helper.name;
            return Err(Fault::NullHelper { name }.of(host));
        }
        self.check_helpers()?;
        self.check_intrinsics()?;
        for intrinsic in self.host.intrinsics.values() {
            lir::verify(&intrinsic.func, lir::Mode::Intrinsic, &self.host.helpers).map_err(
                |errors| {
                    let name = intrinsic.name;
                    Fault::BadIntrinsic { name, errors }.of(host)
                },
            )?;
            check_effects(&self.host, intrinsic)?;
            check_references(&self.host, intrinsic)?;
        }
        Ok(self.host)
    }

    /// Checks that the core's helpers exist, with their signatures.
    fn check_helpers(&mut self) -> Result<(), HostError> {
        let closed = closed_helpers();
        let has = |row: &HelperRow| self.host.helper_names.contains_key(row.name);
        let closed = if closed.iter().any(has) {
            closed
        } else {
            Vec::new()
        };
        let lifetimes = self.host.lifetimes;
        let rows = helpers().into_iter().chain(closed);
        for row in rows.filter(|row| lifetimes.needs(row.name)) {
            let HelperRow {
                name,
                params,
                results,
                effects,
            } = row;
            let Some(&id) = self.host.helper_names.get(name) else {
                if !self.partial || name == EXIT_HOOK {
                    let host = self.host.name;
                    return Err(Fault::MissingHelper { name }.of(host));
                }
                let id = self.host.helpers.push(stand_in(name, &params, &results));
                self.host.helper_names.insert(name, id);
                self.host.missing.insert(id, ("helper", name));
                continue;
            };
            let helper = &mut self.host.helpers[id];
            helper.effects = Some(effects);
            let found = helper.signature.clone();
            check_signature(&self.host, name, &found, &params, &results)?;
        }
        Ok(())
    }

    /// Checks that the core's intrinsics exist, with their signatures.
    fn check_intrinsics(&mut self) -> Result<(), HostError> {
        let has = |row: &&(&str, _, _)| self.host.intrinsic_names.contains_key(row.0);
        let group = |names: &'static [names::Row]| match names.iter().find(has) {
            Some(_) => names,
            None => &[],
        };
        let (namespace, items) = (group(names::NAMESPACE), group(names::ITEMS));
        let strings = group(names::STRINGS);
        let lifetimes = self.host.lifetimes;
        let closed = if self.host.helper_names.contains_key(RECORD_EXIT) {
            names::CLOSED
        } else {
            &[]
        };
        let rows = names::STANDARD.iter().chain(namespace);
        let rows = rows.chain(items).chain(strings).chain(closed);
        for &(name, params, results) in rows.filter(|row| lifetimes.needs(row.0)) {
            if let Some(id) = self.host.intrinsic_names.get(name) {
                let found = &self.host.intrinsics[*id].func.signature;
                check_signature(&self.host, name, found, params, results)?;
                continue;
            }
            if !self.partial {
                let host = self.host.name;
                return Err(Fault::MissingIntrinsic { name }.of(host));
            }
            // The body is one call of a missing helper, by which its users are found.
            let helper = self.host.helpers.push(stand_in(name, params, results));
            self.host.missing.insert(helper, ("intrinsic", name));
            let mut func = Func::new(name, Signature::new(params, results));
            let args = func.params().to_vec();
            let mut b = Builder::new(&mut func);
            let values = b.call(helper, &args, results);
            b.ret(&values);
            self.intrinsic(name, Effects::ANY, func);
        }
        Ok(())
    }
}

/// The stand-in for a missing helper; code that calls it is never finished.
fn stand_in(name: &'static str, params: &[Ty], results: &[Ty]) -> Helper {
    Helper {
        name,
        address: 0,
        signature: Signature::new(params, results),
        effects: None,
    }
}

fn check_signature(
    host: &Host,
    name: &'static str,
    found: &Signature,
    params: &[Ty],
    results: &[Ty],
) -> Result<(), HostError> {
    if found.params == params && found.results == results {
        return Ok(());
    }
    let fault = Fault::WrongSignature {
        name,
        found: format!("{:?} -> {:?}", found.params, found.results),
        expected: format!("{params:?} -> {results:?}"),
    };
    Err(fault.of(host.name))
}

/// Checks that an intrinsic of a tracing host keeps no address that the collector does not know.
fn check_references(host: &Host, intrinsic: &Intrinsic) -> Result<(), HostError> {
    if host.lifetimes.are_counted() {
        return Ok(());
    }
    let Some(value) = intrinsic.func.first_unlisted(&host.helpers) else {
        return Ok(());
    };
    let (name, value) = (intrinsic.name, value.to_string());
    Err(Fault::UnlistedReference { name, value }.of(host.name))
}

/// Checks that an intrinsic declares the effects of the helpers that it calls.
fn check_effects(host: &Host, intrinsic: &Intrinsic) -> Result<(), HostError> {
    let func = &intrinsic.func;
    for inst in func.order.iter().flat_map(|&b| &func.blocks[b].insts) {
        let Imm::Helper(id) = inst.imm else { continue };
        let helper = &host.helpers[id];
        let Some(effects) = helper.effects else {
            continue;
        };
        if let Some(what) = effects.first_beyond(intrinsic.effects) {
            let (name, helper) = (intrinsic.name, helper.name);
            return Err(Fault::UndeclaredEffect { name, helper, what }.of(host.name));
        }
    }
    Ok(())
}
