//! A copying collector. Each collection moves every object into a new space and fills the one that it leaves, which is
//! never used again, with [`STALE`]: whoever still has an old address reads what no program can make.

use cladonia::types::Predefined as Class;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The classes, which objects point to.
pub static CLASSES: [Class; 8] =
    [Class::Object, Class::Long, Class::Bool, Class::NoneType, Class::Func, Class::Float, Class::Tuple, Class::List];

/// What a left space is filled with: odd, so that compiled code takes it for an int.
pub const STALE: u64 = 0xdead_beef_dead_beef;

/// Words of a space.
const SPACE: usize = 1 << 11;

/// An object: its class, its number of further words `n` as `2n + 1` (or, while objects are moved, where it is now), and
/// those words: values, but the bits of a float, or a function's number.
pub struct Heap {
    space: RefCell<Rc<[Cell<u64>]>>,
    /// The spaces that were left.
    left: RefCell<Vec<Rc<[Cell<u64>]>>>,
    top: Cell<usize>,
    /// Objects that do not move.
    pinned: RefCell<Vec<Box<[Cell<u64>]>>>,
    pub collections: Cell<u64>,
}

/// The word of a class.
pub fn class_word(class: Class) -> u64 {
    CLASSES.iter().find(|known| **known == class).map_or(0, |class| std::ptr::from_ref(class) as u64)
}

fn new_space() -> Rc<[Cell<u64>]> {
    (0..SPACE).map(|_| Cell::new(STALE)).collect()
}

fn address(words: &[Cell<u64>]) -> u64 {
    words.as_ptr() as u64
}

/// Whether the words of an object of this class are values.
fn holds_values(class: Class) -> bool {
    matches!(class, Class::Tuple | Class::List)
}

impl Heap {
    pub fn new() -> Heap {
        Heap {
            space: RefCell::new(new_space()),
            left: RefCell::default(),
            top: Cell::new(0),
            pinned: RefCell::default(),
            collections: Cell::new(0),
        }
    }

    fn fill(words: &[Cell<u64>], class: Class, payload: &[u64]) {
        words[0].set(class_word(class));
        words[1].set(2 * payload.len() as u64 + 1);
        for (word, value) in words[2..].iter().zip(payload) {
            word.set(*value);
        }
    }

    /// A new object in the space. The values are not collected before it is made: the caller has done that.
    pub fn allocate(&self, class: Class, payload: &[u64]) -> Result<u64, String> {
        let (start, len) = (self.top.get(), payload.len() + 2);
        let space = self.space.borrow();
        let words = space.get(start..start + len).ok_or("out of memory")?;
        self.top.set(start + len);
        Heap::fill(words, class, payload);
        Ok(address(words))
    }

    /// A new object that does not move.
    pub fn pin(&self, class: Class, payload: &[u64]) -> u64 {
        let words: Box<[Cell<u64>]> = (0..payload.len() + 2).map(|_| Cell::new(0)).collect();
        Heap::fill(&words, class, payload);
        let address = address(&words);
        self.pinned.borrow_mut().push(words);
        address
    }

    /// Whether a word is the address of an object that may move.
    pub fn moves(&self, word: u64) -> bool {
        let start = address(&self.space.borrow());
        let end = start + 8 * self.top.get() as u64;
        word & 7 == 0 && (start..end).contains(&word)
    }

    /// The class of a value and the words of the object, if it is one.
    pub fn look(&self, value: u64) -> Result<(Class, &[Cell<u64>]), String> {
        if value == STALE {
            return Err("a word of a space that was left".to_owned());
        }
        if value & 1 == 1 {
            return Ok((Class::Long, &[]));
        }
        let pinned = self.pinned.borrow();
        if !self.moves(value) && !pinned.iter().any(|object| address(object) == value) {
            return Err(format!("{value:#x} is a stale reference"));
        }
        // SAFETY: an object is there (or something in the middle of one, if a reference was not updated; then too the
        // words are the heap's).
        let words = unsafe { &*(value as *const [Cell<u64>; 2]) };
        let class = CLASSES.into_iter().find(|c| class_word(*c) == words[0].get());
        let class = class.ok_or_else(|| format!("no object at {value:#x}"))?;
        let len = (words[1].get() >> 1) as usize;
        // SAFETY: as long as the object says.
        Ok((class, unsafe { std::slice::from_raw_parts((value as *const Cell<u64>).add(2), len) }))
    }

    /// Move all that can be reached; `roots` shows each root to what it is given.
    pub fn collect(&self, roots: impl FnOnce(&mut dyn FnMut(&mut u64))) {
        self.collections.set(self.collections.get() + 1);
        let (from, to) = (self.space.borrow().clone(), new_space());
        let range = address(&from)..address(&from) + 8 * self.top.get() as u64;
        let top = Cell::new(0);
        let mut forward = |word: &mut u64| {
            if *word & 7 != 0 || !range.contains(word) {
                return;
            }
            let object = &from[((*word - range.start) / 8) as usize..];
            if object[1].get() & 1 == 1 {
                let len = (object[1].get() >> 1) as usize + 2;
                let copy = &to[top.get()..top.get() + len];
                copy.iter().zip(object).for_each(|(to, from)| to.set(from.get()));
                top.set(top.get() + len);
                object[1].set(address(copy));
            }
            *word = object[1].get();
        };
        roots(&mut forward);
        for object in self.pinned.borrow().iter() {
            visit_words(object, &mut forward);
        }
        let mut scanned = 0;
        while scanned < top.get() {
            let object = &to[scanned..];
            let len = (object[1].get() >> 1) as usize + 2;
            visit_words(&object[..len], &mut forward);
            scanned += len;
        }
        from.iter().for_each(|word| word.set(STALE));
        self.left.borrow_mut().push(from);
        self.space.replace(to);
        self.top.set(top.get());
    }
}

fn visit_words(object: &[Cell<u64>], visit: &mut dyn FnMut(&mut u64)) {
    let class = CLASSES.into_iter().find(|c| class_word(*c) == object[0].get());
    if class.is_some_and(holds_values) {
        for word in &object[2..] {
            let mut value = word.get();
            visit(&mut value);
            word.set(value);
        }
    }
}
