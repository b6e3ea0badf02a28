//! Samples added up: the time spent in each stack of frames, by activity.

use super::super::capi::Object;
use super::super::units::UnitState;
use super::sampler::Sample;
use super::{CodeId, Codes};
use pyo3_ffi::PyCode_Addr2Line;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, c_int, c_void};

/// The activity of a thread, in the order in which the report shows them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doing {
    /// Running machine code of a unit.
    Machine,
    /// In the JIT's own helpers: operations that machine code calls, exits, counting.
    Helpers,
    /// In C code called by machine code, the interpreter's objects and builtins included.
    NativeC,
    /// In the interpreter's loop; in any code of the interpreter if [the loop's address is
    /// unknown](Profile::is_loop_known).
    Interpreter,
    /// In C code called by the interpreter.
    InterpretedC,
    /// In C code that has released the GIL.
    Unlocked,
    /// Compiling, on a thread of the program.
    Compiler,
    /// In the collector.
    Collector,
}

impl Doing {
    /// All, with their names in Python.
    pub const ALL: [(Doing, &str); 8] = [
        (Doing::Machine, "machine"),
        (Doing::Helpers, "helpers"),
        (Doing::NativeC, "c_native"),
        (Doing::Interpreter, "interpreter"),
        (Doing::InterpretedC, "c_interpreted"),
        (Doing::Unlocked, "unlocked"),
        (Doing::Compiler, "compiler"),
        (Doing::Collector, "collector"),
    ];
}

/// Periods by activity.
pub type Counts = [u64; Doing::ALL.len()];

/// Maximum nodes of the tree; a deeper frame counts for the node above.
const MAX_NODES: usize = 100_000;
/// Maximum ticks of the timeline; beyond it, two ticks are merged into one.
const MAX_TICKS: usize = 2_000;

/// A frame below another one, and its kind.
pub struct Node {
    /// Index of its parent; the root is its own.
    pub parent: u32,
    /// The code.
    pub code: CodeId,
    /// True if a unit ran in it; `None` for a node that is no Python code.
    pub is_native: Option<bool>,
    /// Time in the frame itself.
    pub own: Counts,
}

type Edge = (u32, CodeId, Option<bool>);

/// The samples so far.
#[derive(Default)]
pub struct Profile {
    /// The tree, children after their parents. The first is the root.
    pub nodes: Vec<Node>,
    edges: HashMap<Edge, u32>,
    /// Time by line: of the innermost Python frame, interpreted or native.
    pub lines: HashMap<(CodeId, c_int, bool), u64>,
    /// Time by tick.
    pub ticks: Vec<Counts>,
    /// Exits by tick.
    pub exits: Vec<u64>,
    /// The number of the sampler's ticks in one tick here, as a power of two.
    pub shift: u32,
    /// Number of samples, and of the periods that they represent.
    pub samples: u64,
    /// See `samples`.
    pub periods: u64,
    /// Samples with more frames than can be recorded.
    pub cut: u64,
    /// Machine code by address: its size and code object.
    units: BTreeMap<usize, (usize, usize)>,
    libraries: Libraries,
}

impl Profile {
    /// Adds the machine code of a new unit.
    pub fn name_unit(&mut self, unit: &UnitState) {
        for (entry, size) in spans(unit) {
            self.units.insert(entry, (size, unit.shape.code as usize));
        }
    }

    /// Removes the machine code of a unit that is being freed.
    pub fn forget_unit(&mut self, unit: &UnitState) {
        for (entry, _) in spans(unit) {
            self.units.remove(&entry);
        }
    }

    /// Counts an exit.
    pub fn count_exit(&mut self, tick: u32) {
        let tick = self.tick(tick);
        if self.exits.len() <= tick {
            self.exits.resize(tick + 1, 0);
        }
        self.exits[tick] += 1;
    }

    /// The index of a tick of the sampler among ours.
    fn tick(&mut self, tick: u32) -> usize {
        while tick as usize >> self.shift >= MAX_TICKS {
            self.halve();
        }
        tick as usize >> self.shift
    }

    /// The code object of the machine code at an address.
    fn unit_at(&self, address: usize) -> Option<Object> {
        let (&start, &(size, code)) = self.units.range(..=address).next_back()?;
        (address - start < size).then_some(code as Object)
    }

    /// Adds a sample. The code objects in it are alive.
    pub fn add(&mut self, sample: &Sample, codes: &mut Codes) {
        if self.nodes.is_empty() {
            self.nodes.push(Node {
                parent: 0,
                code: codes.named("all threads"),
                is_native: None,
                own: Counts::default(),
            });
        }
        let weight = u64::from(sample.weight);
        self.samples += 1;
        self.periods += weight;
        self.cut += u64::from(sample.is_cut);
        let running = self.unit_at(sample.pc);
        let innermost = sample.frames().next();
        let in_unit = innermost.is_some_and(|frame| frame.is_native) || running.is_some();
        self.libraries.look_for(sample.pc);
        let place = self.libraries.place(sample.pc);
        let doing = match place {
            _ if sample.collects => Doing::Collector,
            _ if sample.compiles => Doing::Compiler,
            _ if !sample.has_gil => Doing::Unlocked,
            _ if running.is_some() => Doing::Machine,
            // Code that is in no file: entries of units, and freed units.
            Place::Nowhere => Doing::Machine,
            Place::Own => Doing::Helpers,
            Place::Loop if !in_unit => Doing::Interpreter,
            Place::Interpreter if !in_unit && !self.libraries.is_loop_known() => Doing::Interpreter,
            Place::Loop | Place::Interpreter | Place::Library(_) if in_unit => Doing::NativeC,
            _ => Doing::InterpretedC,
        };
        let library = match (place, doing) {
            (Place::Library(name), Doing::NativeC | Doing::InterpretedC | Doing::Unlocked) => {
                Some(name.to_owned())
            }
            _ => None,
        };
        let mut node = 0;
        for frame in sample.frames().rev() {
            // SAFETY: the caller's promise.
            let code = unsafe { codes.id(frame.code) };
            node = self.child(node, code, Some(frame.is_native));
        }
        if let Some(code) = running
            && doing == Doing::Machine
            && innermost.is_none_or(|frame| frame.code != code)
        {
            // A closed unit has no frame of its own.
            // SAFETY: a unit's code object is alive, and units that are freed are forgotten here.
            let code = unsafe { codes.id(code) };
            node = self.child(node, code, Some(true));
        } else if let Some(frame) = innermost {
            // SAFETY: the caller's promise; an instruction of the code object.
            let (code, line) = unsafe { (codes.id(frame.code), line_of(frame.code, frame.at)) };
            *self.lines.entry((code, line, frame.is_native)).or_default() += weight;
        }
        if let Some(name) = library {
            let code = codes.named(&name);
            node = self.child(node, code, None);
        }
        self.nodes[node as usize].own[doing as usize] += weight;
        let tick = self.tick(sample.tick);
        if self.ticks.len() <= tick {
            self.ticks.resize(tick + 1, Counts::default());
        }
        self.ticks[tick][doing as usize] += weight;
    }

    /// True if the address range of the interpreter's loop is known. It is not if the symbol's size
    /// covers only a part of it, because the compiler has split the function and the names of the
    /// parts were stripped.
    pub fn is_loop_known(&self) -> bool {
        self.libraries.is_loop_known()
    }

    fn child(&mut self, parent: u32, code: CodeId, is_native: Option<bool>) -> u32 {
        let edge = (parent, code, is_native);
        if let Some(&node) = self.edges.get(&edge) {
            return node;
        }
        if self.nodes.len() >= MAX_NODES {
            return parent;
        }
        let node = self.nodes.len() as u32;
        self.nodes.push(Node {
            parent,
            code,
            is_native,
            own: Counts::default(),
        });
        self.edges.insert(edge, node);
        node
    }

    /// Merges each two ticks into one.
    fn halve(&mut self) {
        self.shift += 1;
        let halves = self.ticks.chunks(2).map(|pair| {
            let mut sum = pair[0];
            for other in &pair[1..] {
                sum.iter_mut()
                    .zip(other)
                    .for_each(|(sum, more)| *sum += more);
            }
            sum
        });
        self.ticks = halves.collect();
        self.exits = self.exits.chunks(2).map(|pair| pair.iter().sum()).collect();
    }
}

/// The address ranges of a unit's machine code.
fn spans(unit: &UnitState) -> impl Iterator<Item = (usize, usize)> {
    let made = unit.unit.as_ref();
    let whole = made.map(|made| &made.code);
    let raw = made
        .and_then(|made| made.raw.as_ref())
        .map(|(code, _)| code);
    let codes = whole.into_iter().chain(raw);
    codes
        .map(|code| (code.entry() as usize, code.size()))
        .collect::<Vec<_>>()
        .into_iter()
}

/// The line of an instruction.
///
/// # Safety
/// The code object is alive.
unsafe fn line_of(code: Object, at: *const u8) -> c_int {
    // SAFETY: the caller's promise; any offset is allowed.
    unsafe {
        let first = code
            .cast::<u8>()
            .add(super::super::abi::code::ADAPTIVE as usize);
        PyCode_Addr2Line(code.cast(), (at as isize - first as isize) as c_int)
    }
}

/// Minimum bytes of the interpreter's loop: it has a case for some 200 instructions.
const LEAST_LOOP: usize = 16 << 10;

/// The owner of the code at an address.
#[derive(Clone, Copy)]
enum Place<'a> {
    /// The loop of the interpreter.
    Loop,
    /// Other code of the interpreter.
    Interpreter,
    /// This library.
    Own,
    /// Another one, or the program's own executable.
    Library(&'a str),
    /// No file.
    Nowhere,
}

/// The code loaded from files.
#[derive(Default)]
struct Libraries {
    /// Executable segments by address: their end, and the index of their library.
    segments: BTreeMap<usize, (usize, usize)>,
    names: Vec<String>,
    interpreter: usize,
    own: usize,
    /// The address range of the interpreter's loop.
    looped: (usize, usize),
    /// Number of addresses that were in no segment when these were last read.
    missed: u32,
}

impl Libraries {
    /// Reads the loaded libraries again if an address is in none of them: libraries are loaded
    /// while the program runs. Most such addresses are machine code, so the interval between two
    /// reads grows.
    fn look_for(&mut self, address: usize) {
        if self.find(address).is_some() {
            return;
        }
        if self.segments.is_empty() || self.missed.is_power_of_two() {
            self.read();
        }
        self.missed += 1;
    }

    fn is_loop_known(&self) -> bool {
        self.looped.1 - self.looped.0 >= LEAST_LOOP
    }

    fn place(&self, address: usize) -> Place<'_> {
        match self.find(address) {
            None => Place::Nowhere,
            Some(_) if (self.looped.0..self.looped.1).contains(&address) => Place::Loop,
            Some(library) if library == self.interpreter => Place::Interpreter,
            Some(library) if library == self.own => Place::Own,
            Some(library) => Place::Library(&self.names[library]),
        }
    }

    fn find(&self, address: usize) -> Option<usize> {
        let (_, &(end, library)) = self.segments.range(..=address).next_back()?;
        (address < end).then_some(library)
    }

    /// Reads the libraries that are loaded now.
    fn read(&mut self) {
        self.segments.clear();
        self.names.clear();
        // SAFETY: the function is called with the argument given here, and only during this call.
        unsafe { libc::dl_iterate_phdr(Some(add_library), (&raw mut *self).cast()) };
        let looped = super::super::capi::_PyEval_EvalFrameDefault as *const () as usize;
        self.looped = (looped, looped + size_of_function(looped));
        self.interpreter = self.find(looped).unwrap_or(usize::MAX);
        let own = Libraries::read as *const () as usize;
        self.own = self.find(own).unwrap_or(usize::MAX);
    }
}

unsafe extern "C" fn add_library(
    info: *mut libc::dl_phdr_info,
    _: libc::size_t,
    libraries: *mut c_void,
) -> c_int {
    // SAFETY: the loader's own tables, while it walks them; `read` passes its own borrow.
    unsafe {
        let (info, libraries) = (&*info, &mut *libraries.cast::<Libraries>());
        let name = if info.dlpi_name.is_null() {
            String::new()
        } else {
            CStr::from_ptr(info.dlpi_name)
                .to_string_lossy()
                .into_owned()
        };
        let name = name.rsplit('/').next().unwrap_or_default();
        let name = if name.is_empty() {
            "the executable"
        } else {
            name
        };
        let library = libraries.names.len();
        libraries.names.push(name.to_owned());
        for index in 0..usize::from(info.dlpi_phnum) {
            let header = &*info.dlpi_phdr.add(index);
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
                let start = (info.dlpi_addr + header.p_vaddr) as usize;
                let end = start + header.p_memsz as usize;
                libraries.segments.insert(start, (end, library));
            }
        }
    }
    0
}

/// The size of an exported function.
fn size_of_function(address: usize) -> usize {
    /// `RTLD_DL_SYMENT`.
    const SYMBOL: c_int = 1;
    unsafe extern "C" {
        fn dladdr1(
            address: *const c_void,
            info: *mut libc::Dl_info,
            extra: *mut *mut c_void,
            flags: c_int,
        ) -> c_int;
    }
    // SAFETY: the loader fills the structures; the symbol that it returns is in a table that stays.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let mut symbol: *mut c_void = std::ptr::null_mut();
        if dladdr1(address as *const c_void, &mut info, &mut symbol, SYMBOL) == 0
            || symbol.is_null()
        {
            return 0;
        }
        (*symbol.cast::<libc::Elf64_Sym>()).st_size as usize
    }
}
