//! Hosts and units, read back.

use super::Replay;
use crate::bytecode::{Document, Met, Numbers, Pc, Reason, Section, parse_code};
use crate::facts::{Effects, Snapshot};
use crate::host::inlinee::read_answer;
use crate::host::{ClosedParts, Entry, Host, HostBuilder, Namespace, UnitParts};
use crate::lir::{self, Announcement, Func, Helper, HelperId, Mode, Signature};
use crate::ll::{Field, Ty, Width};
use crate::types::{Hierarchy, Line, Lines, Parsed, Scope, TextError, Type};
use cranelift_entity::PrimaryMap;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock, Mutex};

/// A unit of a document, with its host. Dropping it drops its classes and objects.
#[derive(Debug)]
pub struct ReadUnit {
    /// The input of the unit's compile.
    pub replay: Replay,
    /// The host; nothing of it can be called.
    pub host: Arc<Host>,
    _hierarchy: Hierarchy,
}

/// The units of a document, each with its own classes and objects.
///
/// # Errors
/// A [`TextError`] with the line in the document; for a missing item, the section's end.
pub fn read_units(document: &Document) -> Parsed<Vec<ReadUnit>> {
    let of = |keyword: &'static str| {
        document
            .sections
            .iter()
            .filter(move |s| s.keyword == keyword)
    };
    let Some(host) = of("host").next() else {
        return match of("unit").next() {
            Some(unit) => Err(TextError {
                line: unit.line,
                column: 1,
                message: "a unit needs its host: the document has no `host` section".into(),
            }),
            None => Ok(Vec::new()),
        };
    };
    let mut units = Vec::new();
    for section in of("unit") {
        let hierarchy = Hierarchy::parse("").map_err(|fault| TextError {
            line: section.line,
            column: 1,
            message: format!("no host on paper: {fault}"),
        })?;
        let mut scope = Scope::new(hierarchy.host(), hierarchy.names());
        let host = read_host(host, &mut scope)?;
        units.push(ReadUnit {
            replay: unit(section, &host, scope)?,
            host: Arc::new(host),
            _hierarchy: hierarchy,
        });
    }
    if units.is_empty() {
        let hierarchy = Hierarchy::parse("").ok();
        if let Some(hierarchy) = hierarchy {
            read_host(host, &mut Scope::new(hierarchy.host(), hierarchy.names()))?;
        }
    }
    Ok(units)
}

fn read_host(section: &Section, scope: &mut Scope) -> Parsed<Host> {
    let mut lines = Lines::from(&section.text, section.line);
    let mut line = first(&mut lines, "host")?;
    let name = interned(line.quoted("the host's name")?);
    line.expect("{")?;
    line.end()?;
    let mut builder = HostBuilder::new(name, scope.host);
    loop {
        let mut line = next(&mut lines)?;
        if line.eat("}") {
            line.end()?;
            return match builder.finish() {
                Ok(host) => Ok(host),
                Err(error) => line.error_at(0, error.to_string()),
            };
        } else if line.eat_word("class") {
            scope.class(&mut line)?
        } else if line.eat_word("slots") {
            builder.frame_slots(small(&mut line)?);
        } else if line.eat_word("ints") {
            let bits = u32::try_from(small(&mut line)?).ok();
            match bits.filter(|bits| *bits <= 63) {
                Some(bits) => builder.unboxed_bits(bits),
                None => return line.error_at(0, "an unboxed int has 64 bits".to_owned()),
            };
        } else if line.eat_word("traced") {
            builder.traced(small(&mut line)?);
        } else if line.eat_word("singletons") {
            let (none, true_) = (line.hexadecimal()?, line.hexadecimal()?);
            builder.singletons(none, true_, line.hexadecimal()?);
        } else if line.eat_word("layout") {
            let name = interned(line.quoted("the structure's name")?);
            line.expect("{")?;
            line.end()?;
            let fields = fields(&mut lines)?;
            builder.layout(name, None, &fields);
            continue;
        } else if line.eat_word("helper") {
            let name = interned(line.quoted("the helper's name")?);
            let address = line.hexadecimal()? as usize;
            let signature = signature(&mut line)?;
            let helper = builder.helper(name, address, &signature.params, &signature.results);
            if line.eat_word("effects") {
                builder.effects(helper, effects(&mut line));
            }
        } else if line.eat_word("intrinsic") {
            let name = interned(line.quoted("the intrinsic's name")?);
            let effects = effects(&mut line);
            line.end()?;
            let func = function(&mut lines, builder.helpers(), Mode::Intrinsic)?;
            builder.intrinsic(name, effects, func);
            continue;
        } else {
            return line.expected("a line of a host, or `}`");
        }
        line.end()?;
    }
}

/// The fields of a structure, to its closing brace.
fn fields(lines: &mut Lines<'_>) -> Parsed<Vec<Field>> {
    let mut fields = Vec::new();
    loop {
        let mut line = next(lines)?;
        if line.eat("}") {
            line.end()?;
            return Ok(fields);
        }
        let name = interned(line.word("a field's name")?.to_owned());
        let offset = small(&mut line)?;
        let Some(width) = Width::ALL.into_iter().find(|w| line.eat_word(w.name())) else {
            return line.expected("how the field lies in memory");
        };
        line.end()?;
        fields.push(Field {
            name,
            offset,
            width,
        });
    }
}

/// A unit that is being read.
#[derive(Default)]
struct Builder {
    entry: Option<Entry>,
    live: Vec<Type>,
    avoid: HashSet<(Pc, Reason)>,
    met: HashMap<Pc, Met>,
    world: Snapshot,
    token: u64,
    cells: [u64; 2],
    positions: (u64, u32),
    force: Option<u64>,
    private: bool,
    announcement: Option<Announcement>,
    namespace: Option<Namespace>,
    funcs: HashMap<&'static str, Func>,
    closed: Option<(u64, u64)>,
}

const FUNCS: [&str; 5] = ["enter", "leave", "suspend", "closed_enter", "closed_leave"];

fn unit(section: &Section, host: &Host, mut scope: Scope) -> Parsed<Replay> {
    let mut lines = Lines::from(&section.text, section.line);
    let mut line = first(&mut lines, "unit")?;
    line.quoted("the code's name")?;
    line.expect("{")?;
    line.end()?;
    let (mut b, mut code) = (Builder::default(), None);
    loop {
        let mut line = next(&mut lines)?;
        if line.eat("}") {
            line.end()?;
            let Some(code) = code else {
                return line.error_at(0, "the unit has no `code`");
            };
            return b.finish(code, &line);
        }
        if let Some(word) = FUNCS.into_iter().find(|word| line.eat_word(word)) {
            line.end()?;
            let func = function(&mut lines, &host.helpers, Mode::Intrinsic)?;
            b.funcs.insert(word, func);
            continue;
        }
        if line.eat_word("class") {
            scope.class(&mut line)?;
            continue;
        }
        if line.eat_word("object") {
            scope.object(&mut line)?;
            continue;
        }
        let scope = &scope;
        if line.eat_word("code") {
            let at = line.at;
            let read = parse_code(&mut line, &mut lines, scope)?;
            if let Err(errors) = read.verify() {
                return line.error_at(at, errors.to_string());
            }
            code = Some(read);
            continue;
        }
        if read_answer(&mut b.world, &mut line, &mut lines, scope)? {
            continue;
        }
        b.line(&mut line, scope)?;
        line.end()?;
    }
}

impl Builder {
    fn line(&mut self, line: &mut Line, scope: &Scope) -> Parsed<()> {
        if line.eat_word("entry") {
            self.entry = Some(if line.eat_word("function") {
                Entry::Function
            } else if line.eat_word("loop") {
                Entry::Loop(line.pc()?)
            } else if line.eat_word("resume") {
                Entry::Resume
            } else {
                return line.expected("`function`, `loop` or `resume`");
            });
        } else if line.eat_word("live") {
            self.live.push(scope.ty(line)?);
            while line.eat(",") {
                self.live.push(scope.ty(line)?);
            }
        } else if line.eat_word("avoid") {
            let pc = line.pc()?;
            line.space();
            let at = line.at;
            let word = line.word("a reason")?;
            let found = Reason::ALL.into_iter().find(|reason| reason.name() == word);
            let Some(reason) = found else {
                return line.error_at(at, format!("there is no reason `{word}`"));
            };
            self.avoid.insert((pc, reason));
        } else if line.eat_word("met") {
            let pc = line.pc()?;
            line.expect("[")?;
            let seen = line.list("]", |line| scope.ty(line))?;
            line.expect("[")?;
            let related = line.list("]", |line| scope.ty(line))?;
            let mixed = line.eat_word("mixed").then_some(Numbers::Mixed);
            let numbers = mixed.or_else(|| line.eat_word("any").then_some(Numbers::Any));
            let met = Met {
                seen,
                related,
                numbers,
            };
            self.met.insert(pc, met);
        } else if line.eat_word("token") {
            self.token = line.number()?;
        } else if line.eat_word("cells") {
            for cell in &mut self.cells {
                *cell = line.hexadecimal()?;
            }
        } else if line.eat_word("positions") {
            self.positions = (line.hexadecimal()?, line.number()?);
        } else if line.eat_word("private") {
            self.private = true;
        } else if line.eat_word("force") {
            self.force = Some(line.hexadecimal()?);
        } else if line.eat_word("announce") {
            self.announcement = Some(Announcement {
                word: line.hexadecimal()?,
                hook: line.hexadecimal()?,
                exempt_helpers: Vec::new(),
                exempt: Vec::new(),
            });
        } else if self.announcement.is_some() && line.eat_word("exempt") {
            let (mut helper, mut address) = (None, None);
            if line.eat_word("helper") {
                helper = Some(line.quoted("the name of a helper")?);
            } else {
                address = Some(line.hexadecimal()?);
            }
            if let Some(announcement) = &mut self.announcement {
                announcement.exempt_helpers.extend(helper);
                announcement.exempt.extend(address);
            }
        } else if line.eat_word("namespace") {
            self.namespace = Some(Namespace {
                address: line.hexadecimal()?,
                notes: line.integer()?,
                names: Vec::new(),
                live: Vec::new(),
            });
        } else if self.namespace.is_some() && line.eat_word("name") {
            let name = (line.hexadecimal()?, line.hexadecimal()?);
            let live = scope.ty(line)?;
            if let Some(namespace) = &mut self.namespace {
                namespace.names.push(name);
                namespace.live.push(live);
            }
        } else if line.eat_word("closed") {
            self.closed = Some((line.hexadecimal()?, line.hexadecimal()?));
        } else {
            return line.expected("a line of a unit, or `}`");
        }
        Ok(())
    }

    fn finish(mut self, code: crate::bytecode::Code, end: &Line) -> Parsed<Replay> {
        let Some(entry) = self.entry else {
            return end.error_at(0, "the unit has no `entry`");
        };
        let mut func = |name: &str, params: &[Ty], results: &[Ty]| match self.funcs.remove(name) {
            Some(func) if func.signature == Signature::new(params, results) => Ok(func),
            Some(func) => {
                let wanted = Signature::new(params, results);
                let found = func.signature;
                end.error_at(0, format!("`{name}` is {found} and not {wanted}"))
            }
            None => end.error_at(0, format!("the unit has no `{name}`")),
        };
        let two = [Ty::Ptr; 2];
        let (enter, suspend) = match entry {
            Entry::Resume => {
                let five = [Ty::Ptr, Ty::Ptr, Ty::Ptr, Ty::I64, Ty::I64];
                let enter = func("enter", &two, &[Ty::Ptr, Ty::I64, Ty::Ptr])?;
                (enter, Some(func("suspend", &five, &[])?))
            }
            _ => (func("enter", &two, &[Ty::Ptr])?, None),
        };
        let leave = func("leave", &two, &[])?;
        let closed = match self.closed {
            Some((boxed_cell, raw_cell)) => Some(ClosedParts {
                boxed_cell,
                raw_cell,
                enter: func("closed_enter", &two[..1], &[])?,
            }),
            None => None,
        };
        let names = self.namespace.as_ref().map(|n| n.names.len());
        if names.is_some_and(|count| count != code.names.len()) {
            return end.error_at(
                0,
                "the namespace and the code have different numbers of names",
            );
        }
        let in_code = |pc: &Pc| (pc.0 as usize) < code.instrs.len();
        let places = self.avoid.iter().map(|(pc, _)| pc).chain(self.met.keys());
        if let Some(pc) = places.into_iter().find(|pc| !in_code(pc)) {
            return end.error_at(0, format!("there is no instruction {pc}"));
        }
        let [cells, loop_counter] = self.cells;
        Ok(Replay {
            entry,
            live: self.live,
            avoid: self.avoid,
            met: self.met,
            world: self.world,
            parts: UnitParts {
                token: self.token,
                cells,
                loop_counter,
                enter,
                leave,
                suspend,
                announcement: self.announcement,
                position_base: self.positions.0,
                position_scale: self.positions.1,
                closed,
                namespace: self.namespace,
                objects_are_private: self.private,
                force_table: self.force,
            },
            code,
        })
    }
}

/// The first line of a section, of which the keyword has been read.
fn first<'t>(lines: &mut Lines<'t>, keyword: &str) -> Parsed<Line<'t>> {
    let Some(mut line) = lines.next() else {
        return lines.missing(&format!("`{keyword}`"));
    };
    line.expect(keyword)?;
    Ok(line)
}

fn next<'t>(lines: &mut Lines<'t>) -> Parsed<Line<'t>> {
    match lines.next() {
        Some(line) => Ok(line),
        None => lines.missing("`}`"),
    }
}

/// A function in LIR on the following lines, well-formed.
fn function(
    lines: &mut Lines<'_>,
    helpers: &PrimaryMap<HelperId, Helper>,
    mode: Mode,
) -> Parsed<Func> {
    let start = lines.number;
    let text = lines.nested()?;
    let func = lir::parse(&text, helpers).map_err(|error| TextError {
        line: start + error.line as usize,
        column: error.column as usize,
        message: error.what,
    })?;
    match lir::verify(&func, mode, helpers) {
        Ok(()) => Ok(func),
        Err(errors) => Err(TextError {
            line: start + 1,
            column: 1,
            message: errors.to_string(),
        }),
    }
}

/// `(ptr, i64) -> (i64, bool)`
fn signature(line: &mut Line) -> Parsed<Signature> {
    line.expect("(")?;
    let params = line.list(")", ty)?;
    let results = if !line.eat("->") {
        Vec::new()
    } else if line.eat("(") {
        line.list(")", ty)?
    } else {
        vec![ty(line)?]
    };
    Ok(Signature { params, results })
}

fn ty(line: &mut Line) -> Parsed<Ty> {
    line.space();
    let at = line.at;
    let word = line.word("a type")?;
    let found = Ty::ALL.into_iter().find(|ty| ty.name() == word);
    found.map_or_else(
        || line.error_at(at, format!("there is no type `{word}`")),
        Ok,
    )
}

fn effects(line: &mut Line) -> Effects {
    Effects {
        reads: line.eat_word("reads"),
        writes: line.eat_word("writes"),
        runs_host_code: line.eat_word("runs_host_code"),
        raises: line.eat_word("raises"),
        releases: line.eat_word("releases"),
    }
}

fn small(line: &mut Line) -> Parsed<i32> {
    line.space();
    let at = line.at;
    let number = line.integer()?;
    i32::try_from(number).map_or_else(|_| line.error_at(at, format!("{number} is too large")), Ok)
}

/// Names of hosts live as long as the process; each is stored once.
fn interned(name: String) -> &'static str {
    static NAMES: LazyLock<Mutex<HashSet<&'static str>>> = LazyLock::new(Mutex::default);
    let mut names = NAMES
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    match names.get(name.as_str()) {
        Some(known) => known,
        None => {
            let name: &'static str = Box::leak(name.into_boxed_str());
            names.insert(name);
            name
        }
    }
}
