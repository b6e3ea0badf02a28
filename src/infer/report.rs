//! Text of the results: bindings and annotations in the layout of the seed, and summaries.

use super::analysis::{Analysis, Blocked, Found, Object};
use super::engine::{Engine, Status, VersionId};
use super::identity::{Identity, Kind, Slot};
use super::value::{Facts, Named, Sv};
use crate::bytecode::GeneralOp as G;
use crate::facts::Source;
use crate::hir::{Block, Op, Value};
use crate::types::{ConstValue, Type};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

impl Engine<'_> {
    pub(super) fn version_name(&self, version: VersionId) -> String {
        let key = &self.versions[version].key;
        let f = &self.program.functions[key.func];
        let mut name = f.code.name.clone();
        if let Some(group) = &key.group {
            let _ = write!(name, "({})", group.join(", "));
        }
        if key.extra > 0 {
            let _ = write!(name, " star {}", key.extra);
        }
        name
    }

    pub(super) fn place_name(&self, version: VersionId, block: Block) -> String {
        if self.trace.on {
            format!("{} {block:?}", self.version_name(version))
        } else {
            String::new()
        }
    }

    pub(super) fn op_text(&self, v: Value) -> String {
        if !self.trace.on {
            return String::new();
        }
        self.op_of(self.here.version, v)
    }

    fn op_of(&self, version: VersionId, v: Value) -> String {
        let f = self.function(version);
        let inst = &f.insts[v];
        let args: Vec<String> = inst.args.iter().map(|arg| format!("{arg:?}")).collect();
        let mut text = format!("{v:?} = {} {}", inst.op.name(), args.join(", "));
        if let Op::General(op, imms) = &inst.op
            && matches!(
                op,
                G::LoadAttr | G::LoadMethod | G::StoreAttr | G::LoadGlobal | G::LoadName
            )
            && let Some(name) = f.code.names.get(imms[0] as usize)
        {
            let _ = write!(text, " '{name}'");
        }
        text
    }

    /// The value with all its facts, on one line.
    pub(super) fn describe(&self, sv: Sv) -> String {
        let facts = self.set.get(sv);
        if sv == Sv::IMPOSSIBLE || facts.is_impossible() {
            "impossiblevalue".into()
        } else {
            format!("{} {}", Named(self.set.find(sv)), self.facts_text(&facts))
        }
    }

    pub(super) fn facts_text(&self, facts: &Facts) -> String {
        if facts.is_impossible() {
            return "impossiblevalue".into();
        }
        if facts.is_most_general() {
            return "mostgeneralvalue".into();
        }
        let mut text = String::new();
        if let Some(constant) = &facts.constant {
            let _ = write!(text, "const={constant} ");
        }
        let _ = write!(text, "type={}", plain_type(facts));
        if shows_nonneg(facts) {
            text.push_str(" nonneg");
        }
        for name in self.object_names(facts) {
            let _ = write!(text, " {name}");
        }
        text
    }

    /// The functions, classes and instances that a value may be, by name.
    fn object_names(&self, facts: &Facts) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        for id in &facts.objects.ids {
            let heap = self.set.own_heap(*id);
            let word = match heap.kind {
                Kind::Function | Kind::Builtin => "func",
                Kind::Class => "denotes",
                Kind::Instance | Kind::Exception => "class",
                _ => continue,
            };
            names.insert(format!("{word}={}", heap.name));
        }
        names
    }

    /// The results, from the engine's state.
    pub(super) fn report(mut self) -> Analysis {
        let mut analysis = Analysis {
            steps: self.steps,
            changes: self.set.changes,
            trace: std::mem::take(&mut self.trace.text),
            ..Analysis::default()
        };
        let mut order: Vec<VersionId> = self.versions.keys().collect();
        let name = |engine: &Engine<'_>, id: VersionId| {
            let key = &engine.versions[id].key;
            (key.func, key.group.clone(), key.extra)
        };
        order.sort_by_key(|id| name(&self, *id));
        let mut print = Printer::default();
        let mut canonical: Vec<String> = Vec::new();
        for &id in &order {
            self.here.version = id;
            self.print_version(id, &mut print);
            canonical.push(std::mem::take(&mut print.canonical));
            let found = self.found(id);
            analysis.versions.push(found);
        }
        // Versions that differ only in their namespace have the same name.
        canonical.sort();
        let mut canonical = canonical.concat();
        print.text.push_str("Annotations:\n");
        let mut index = 0;
        while index < print.values.len() {
            let sv = print.values[index];
            self.print_value(sv, &mut print);
            index += 1;
        }
        analysis.text = print.text;
        let mut blocked = Vec::new();
        for (version, _, v) in self.blocked() {
            blocked.push(self.blocked_at(version, v));
        }
        blocked.sort_by(|a: &Blocked, b| {
            (&a.function, a.line, &a.op).cmp(&(&b.function, b.line, &b.op))
        });
        for one in &blocked {
            let _ = writeln!(canonical, "blocked {}: {}", one.function, one.op);
        }
        analysis.canonical = canonical;
        for &id in &order {
            let text = self.summary(id);
            analysis.summary += &text;
        }
        analysis.blocked = blocked;
        analysis.objects = self.objects();
        analysis.families = self.families();
        analysis
    }

    fn objects(&self) -> BTreeMap<Identity, Object> {
        let object = |id: Identity| {
            let (own, heap) = (self.set.own_heap(id), self.set.heap(id));
            let slots = heap.slots.iter();
            Object {
                kind: own.kind,
                name: own.name.to_string(),
                slots: slots
                    .map(|(slot, value)| (slot.clone(), self.set.get(value.sv)))
                    .collect(),
                escaped: heap.escaped,
            }
        };
        self.set.identities().map(|id| (id, object(id))).collect()
    }

    fn found(&self, id: VersionId) -> Found {
        let version = &self.versions[id];
        let mut values = BTreeMap::new();
        for (v, sv) in version.bindings.iter() {
            if let Some(sv) = sv.expand() {
                let facts = self.set.get(sv);
                if !facts.is_impossible() {
                    values.insert(v, facts);
                }
            }
        }
        let blocks = version.blocks.iter();
        let reached = blocks.filter(|(_, state)| state.as_ref().is_some_and(|s| s.reached));
        let blocks = version.blocks.iter();
        let stops = blocks.filter_map(|(block, state)| Some((block, state.as_ref()?.stops?)));
        Found {
            func: version.key.func,
            name: self.version_name(id),
            values,
            result: self.set.get(version.ret),
            raised: self.set.get(version.raised),
            reached: reached.map(|(block, _)| block).collect(),
            stops: stops.collect(),
        }
    }

    fn print_version(&self, id: VersionId, print: &mut Printer) {
        let f = self.function(id);
        let version = &self.versions[id];
        let _ = writeln!(print.text, "{}:", self.version_name(id));
        print.text.push_str("  Bindings:\n");
        let mut rows: Vec<(String, Sv)> = Vec::new();
        for &block in &f.order {
            let Some(state) = &version.blocks[block] else {
                continue;
            };
            if !state.reached {
                continue;
            }
            let data = &f.blocks[block];
            for v in data.params.iter().map(|p| &p.0).chain(&data.insts) {
                if let Some(sv) = version.bindings[*v].expand()
                    && !matches!(f.insts[*v].op, Op::Null)
                {
                    rows.push((format!("{v:?}"), self.set.find(sv)));
                }
            }
        }
        rows.push(("retval".into(), self.set.find(version.ret)));
        if !self.set.get(version.raised).is_impossible() {
            rows.push(("raised".into(), self.set.find(version.raised)));
        }
        let width = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
        let _ = writeln!(print.canonical, "{}", self.version_name(id));
        for (name, sv) in rows {
            let facts = self.set.get(sv);
            let target = if facts.is_impossible() {
                Named(Sv::IMPOSSIBLE).to_string()
            } else if facts.is_most_general() {
                Named(Sv::MOST_GENERAL).to_string()
            } else {
                print.note(sv);
                Named(sv).to_string()
            };
            let dashes = "-".repeat(width - name.len() + 2);
            let _ = writeln!(print.text, "    {name} {dashes}> {target}");
            let deep = self.deep_text(&facts, 4);
            let source = if facts.is_most_general() {
                String::new()
            } else {
                facts.source.to_string()
            };
            let _ = writeln!(print.canonical, "  {name} {deep} {source}");
        }
        for &block in &f.order {
            if let Some(state) = &version.blocks[block]
                && let Status::Blocked(v) = state.status
            {
                let op = self.op_of(id, v);
                let _ = writeln!(print.text, "  Blocked: {block:?} at `{op}`");
            }
        }
        let unreached = f.order.iter().filter(|b| {
            version.blocks[**b]
                .as_ref()
                .is_none_or(|state| !state.reached)
        });
        let unreached: Vec<String> = unreached.map(|b| format!("{b:?}")).collect();
        if !unreached.is_empty() {
            let _ = writeln!(print.text, "  Never reached: {}", unreached.join(" "));
        }
    }

    /// Facts with the insides of objects, without names that depend on the order of steps.
    fn deep_text(&self, facts: &Facts, depth: u32) -> String {
        let mut text = self.facts_text(facts);
        if facts.objects.open {
            text.push_str(" open");
        }
        if depth == 0 {
            return text;
        }
        let mut parts = BTreeSet::new();
        for id in &facts.objects.ids {
            let heap = self.set.heap(*id);
            let mut part = format!("{:?}", heap.kind);
            if heap.escaped && heap.kind != Kind::Exception {
                part.push_str(" escaped");
            }
            for slot in heap.slots.keys() {
                let inside = self.set.slot_facts(*id, slot).unwrap_or(Facts::IMPOSSIBLE);
                // The slots of objects that outside code can reach are unknown, also if something
                // was read from them.
                if !(inside.is_impossible() || heap.escaped && inside.is_most_general()) {
                    let _ = write!(part, " {slot}={{{}}}", self.deep_text(&inside, depth - 1));
                }
            }
            parts.insert(part);
        }
        for part in parts {
            let _ = write!(text, " [{part}]");
        }
        text
    }

    /// One paragraph of a version.
    fn summary(&self, id: VersionId) -> String {
        let version = &self.versions[id];
        let f = self.function(id);
        let told = |sv: Sv| {
            let facts = self.set.get(sv);
            format!("{} ({})", self.deep_text(&facts, 3), facts.source)
        };
        let mut text = format!("{}\n", self.version_name(id));
        for (index, &param) in version.params.iter().enumerate() {
            let name = f.code.locals.get(index).map_or("?", |local| &local.0);
            let _ = writeln!(text, "  {name}: {}", told(param));
        }
        let _ = writeln!(text, "  returns {}", told(version.ret));
        if !self.set.get(version.raised).is_impossible() {
            let _ = writeln!(text, "  raises {}", told(version.raised));
        }
        for (found, block, v) in self.blocked() {
            if found == id {
                let (op, line) = (self.op_of(id, v), self.line_of(id, v));
                let _ = block;
                let _ = writeln!(text, "  blocked at line {line}: {op}");
            }
        }
        let lines = |reached: bool| -> BTreeSet<u32> {
            let blocks = f.order.iter().filter(|block| {
                let state = version.blocks[**block].as_ref();
                state.is_some_and(|state| state.reached) == reached
            });
            let insts = blocks.flat_map(|block| &f.blocks[*block].insts);
            let lines = insts.map(|v| self.line_of(id, *v));
            lines.filter(|line| *line != 0).collect()
        };
        let never: Vec<String> = lines(false)
            .difference(&lines(true))
            .map(u32::to_string)
            .collect();
        if !never.is_empty() {
            let _ = writeln!(text, "  never at line {}", never.join(", "));
        }
        text
    }

    fn line_of(&self, version: VersionId, v: Value) -> u32 {
        let f = self.function(version);
        let pc = f.insts[v].pc.0 as usize;
        f.code.instrs.get(pc).map_or(0, |instr| instr.line)
    }

    fn print_value(&self, sv: Sv, print: &mut Printer) {
        let facts = self.set.get(sv);
        let name = Named(sv);
        let mut rows: Vec<String> = Vec::new();
        if let Some(constant) = &facts.constant {
            rows.push(format!("const({name})={constant}"));
        }
        rows.push(format!("type({name})={}", plain_type(&facts)));
        if shows_nonneg(&facts) {
            rows.push(format!("nonneg({name})=True"));
        }
        for object in self.object_names(&facts) {
            let (word, value) = object.split_once('=').unwrap_or((&object, ""));
            rows.push(format!("{word}({name})={value}"));
        }
        if facts.objects.open && !facts.is_most_general() && facts.ty != Type::NULLPTR {
            rows.push(format!("beyond({name})=True"));
        }
        for id in &facts.objects.ids {
            let id = self.set.same(*id);
            let heap = self.set.heap(id);
            if heap.slots.is_empty() || matches!(heap.kind, Kind::Class | Kind::Exception) {
                continue;
            }
            if let Some(first) = print.identities.get(&id) {
                if !matches!(heap.kind, Kind::Function) {
                    rows.push(format!("same({name})={}", Named(*first)));
                }
                continue;
            }
            print.identities.insert(id, sv);
            let slots: Vec<Slot> = heap.slots.keys().cloned().collect();
            for slot in slots {
                let Some(value) = heap.slots.get(&slot) else {
                    continue;
                };
                let value = self.set.find(value.sv);
                // A name that was only queried, and never bound, is not printed.
                let is_asked = matches!(slot, Slot::Attr(_) | Slot::Defaults | Slot::Closure);
                if is_asked && self.set.get(value).is_impossible() {
                    continue;
                }
                rows.push(format!(
                    "{slot}({name})={}",
                    self.slot_text(&slot, value, print)
                ));
            }
            for (flag, word) in [
                (heap.mutated, "mutated"),
                (heap.resized, "resized"),
                (heap.escaped, "escaped"),
            ] {
                if flag {
                    rows.push(format!("{word}({name})=True"));
                }
            }
        }
        let source = match facts.source {
            Source::Proved => "proved",
            Source::Guarded => "guarded",
            Source::Assumed => "assumed",
        };
        for row in rows {
            let _ = writeln!(print.text, "    {row}\t{source}");
        }
    }

    fn slot_text(&self, slot: &Slot, sv: Sv, print: &mut Printer) -> String {
        let facts = self.set.get(sv);
        if facts.is_impossible() {
            return Named(Sv::IMPOSSIBLE).to_string();
        }
        if facts.is_most_general() {
            return Named(Sv::MOST_GENERAL).to_string();
        }
        match (slot, &facts.constant) {
            (Slot::Len | Slot::RangeStep, Some(ConstValue::Int(value))) => value.to_string(),
            (Slot::Len, None) => "unknown".into(),
            (Slot::ImFunc, _) => {
                let names = facts.objects.ids.iter();
                let names: BTreeSet<String> = names
                    .map(|id| self.set.own_heap(*id).name.to_string())
                    .collect();
                names.into_iter().collect::<Vec<_>>().join(" or ")
            }
            _ => {
                print.note(sv);
                Named(sv).to_string()
            }
        }
    }

    fn blocked_at(&self, version: VersionId, v: Value) -> Blocked {
        let f = self.function(version);
        let inst = &f.insts[v];
        let bound = &self.versions[version].bindings;
        let facts_of = |arg: &Value| bound[*arg].expand().map(|sv| self.set.get(sv));
        let variables = inst.args.iter().map(|arg| {
            let text =
                facts_of(arg).map_or("impossiblevalue".into(), |facts| self.facts_text(&facts));
            format!("{arg:?} = {text}")
        });
        let callee = match inst.op {
            Op::General(G::Call | G::CallLent, _) => inst.args.get(1),
            Op::CallDirect(_) | Op::CallGetter(..) => inst.args.first(),
            _ => None,
        };
        let callee = callee.and_then(facts_of).unwrap_or(Facts::IMPOSSIBLE);
        let callable = |id: &Identity| {
            let kind = self.set.own_heap(*id).kind;
            matches!(kind, Kind::Function | Kind::Class | Kind::Bound)
        };
        let callees: Vec<String> = callee
            .objects
            .ids
            .iter()
            .filter(|id| callable(id))
            .map(|id| self.set.own_heap(*id).name.to_string())
            .collect();
        let line = self.line_of(version, v);
        Blocked {
            function: self.version_name(version),
            file: f.code.file.clone(),
            line,
            op: self.op_of(version, v),
            variables: variables.collect(),
            is_call: !callees.is_empty(),
            callees,
        }
    }

    /// Sets of functions that meet at some call.
    fn families(&self) -> Vec<BTreeSet<String>> {
        let mut families: Vec<BTreeSet<String>> = Vec::new();
        for callees in self.calls.values() {
            let names = callees
                .keys()
                .map(|id| self.program.functions[*id].code.name.clone());
            let mut one: BTreeSet<String> = names.collect();
            families.retain(|other| {
                let meets = !other.is_disjoint(&one);
                if meets {
                    one.extend(other.iter().cloned());
                }
                !meets
            });
            families.push(one);
        }
        families.sort();
        families
    }
}

/// The type that is printed beside the constant.
fn plain_type(facts: &Facts) -> Type {
    match facts.constant {
        Some(_) => facts.ty.unspecialized().drop_mortality(),
        None => facts.ty.drop_mortality(),
    }
}

/// Returns true if the constant does not already show that the value is not negative.
fn shows_nonneg(facts: &Facts) -> bool {
    let ints = Type::LONG_EXACT | Type::CINT;
    facts.nonneg && facts.constant.is_none() && facts.ty.could_be(ints)
}

/// The text so far, and the values still to print.
#[derive(Default)]
struct Printer {
    text: String,
    canonical: String,
    values: Vec<Sv>,
    seen: BTreeSet<Sv>,
    identities: BTreeMap<Identity, Sv>,
}

impl Printer {
    fn note(&mut self, sv: Sv) {
        if self.seen.insert(sv) {
            self.values.push(sv);
        }
    }
}
