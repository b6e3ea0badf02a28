//! Parts that simple hosts have in common, so that each need not write them: counted objects,
//! tagged ints, two bool objects, floats, lists, frames created by helpers, and no interruptions. A
//! host uses the parts that fit and writes the rest; no other file of the core depends on this one.

use super::{FREE_LEAF, Host, HostBuilder, IntrinsicCall, UnitParts, names};
use crate::facts::Effects;
use crate::lir::{Builder, Func, HelperId, IntCond, Opcode, Signature, Term, Value};
use crate::ll::{Field, Ty, Width};

/// The layout of counted objects: see [`HostBuilder::counted`].
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    class: Field,
    count: Field,
    dealloc: HelperId,
    ints: Option<(Field, HelperId)>,
    tagged_int: Option<u64>,
}

impl Counted {
    /// Objects with a field that has the token of the object's class, an address, and a field that
    /// has the number of references. No object is immortal. `dealloc`, `(object)`, deallocates an
    /// object whose count is still 1.
    pub fn new(class: Field, count: Field, dealloc: HelperId) -> Counted {
        Counted {
            class,
            count,
            dealloc,
            ints: None,
            tagged_int: None,
        }
    }

    /// Declares that an int object has its value, of 64 bits, in this field. `new_int`,
    /// `(i64) -> object`, makes one.
    pub fn ints(mut self, value: Field, new_int: HelperId) -> Counted {
        self.ints = Some((value, new_int));
        self
    }

    /// Declares that a word `2n + 1` is the int `n` of 63 bits, and not an object. Its class has
    /// this token.
    pub fn tagged_ints(mut self, class: u64) -> Counted {
        self.tagged_int = Some(class);
        self
    }

    /// Continues for words that are objects; `tagged` ends the block for a tagged int.
    fn split(&self, b: &mut Builder<'_>, word: Value, tagged: impl FnOnce(&mut Builder<'_>)) {
        if self.tagged_int.is_none() {
            return;
        }
        let (bits, one) = (b.op(Opcode::P2i, &[word]), b.iconst(1));
        let bit = b.op(Opcode::Iand, &[bits, one]);
        let is_int = b.icmp(IntCond::Eq, bit, one);
        let (int, object) = (b.block(), b.block());
        b.br(is_int, int, &[], object, &[]);
        b.switch_to(int);
        tagged(b);
        b.switch_to(object);
    }

    fn incref(&self, b: &mut Builder<'_>, object: Value) {
        self.split(b, object, |b| b.ret(&[]));
        let (count, one) = (
            b.load(self.count.width, object, self.count.offset),
            b.iconst(1),
        );
        let more = b.op(Opcode::Iadd, &[count, one]);
        b.store(self.count.width, object, self.count.offset, more);
        b.ret(&[]);
    }

    /// Drops a reference; `last` ends the block for the last one.
    fn decref(&self, b: &mut Builder<'_>, object: Value, last: impl FnOnce(&mut Builder<'_>)) {
        self.split(b, object, |b| b.ret(&[]));
        let count = b.load(self.count.width, object, self.count.offset);
        let is_last = b.icmp_imm(IntCond::Eq, count, 1);
        let (die, live) = (b.cold_block(), b.block());
        b.br(is_last, die, &[], live, &[]);
        b.switch_to(live);
        let one = b.iconst(1);
        let less = b.op(Opcode::Isub, &[count, one]);
        b.store(self.count.width, object, self.count.offset, less);
        b.ret(&[]);
        b.switch_to(die);
        last(b);
    }

    fn class_of(&self, b: &mut Builder<'_>, object: Value) {
        self.split(b, object, |b| {
            let class = b.pconst(self.tagged_int.unwrap_or_default());
            b.ret(&[class]);
        });
        let class = b.load(Width::Ptr, object, self.class.offset);
        b.ret(&[class]);
    }

    fn int_unbox(&self, b: &mut Builder<'_>, object: Value, field: Field) {
        self.split(b, object, |b| {
            let (bits, one) = (b.op(Opcode::P2i, &[object]), b.iconst(1));
            let value = b.op(Opcode::Isshr, &[bits, one]);
            b.ret(&[value]);
        });
        let value = b.load(Width::I64, object, field.offset);
        b.ret(&[value]);
    }

    fn int_box(&self, b: &mut Builder<'_>, value: Value, new_int: HelperId) {
        if self.tagged_int.is_some() {
            let one = b.iconst(1);
            let bits = b.op(Opcode::Ishl, &[value, one]);
            let back = b.op(Opcode::Isshr, &[bits, one]);
            let fits = b.icmp(IntCond::Eq, back, value);
            let (tag, large) = (b.block(), b.cold_block());
            b.br(fits, tag, &[], large, &[]);
            b.switch_to(tag);
            let word = b.op(Opcode::Ior, &[bits, one]);
            let word = b.op(Opcode::I2p, &[word]);
            b.ret(&[word]);
            b.switch_to(large);
        }
        let object = b.call(new_int, &[value], &[Ty::Ptr]);
        b.ret(&object);
    }
}

/// The layout of lists: see [`HostBuilder::lists`].
#[derive(Clone, Copy, Debug)]
pub struct Lists {
    len: Field,
    items: Field,
}

impl Lists {
    /// Lists with their length in a field, and in another the address of their items, which are
    /// words next to each other.
    pub fn new(len: Field, items: Field) -> Lists {
        Lists { len, items }
    }

    fn len(&self, b: &mut Builder<'_>, list: Value) -> Value {
        b.load(self.len.width, list, self.len.offset)
    }

    /// The address of an item of a list.
    fn item(&self, b: &mut Builder<'_>, list: Value, index: Value) -> Value {
        let items = b.load(Width::Ptr, list, self.items.offset);
        place(b, items, index)
    }
}

/// The address of a word of an array.
fn place(b: &mut Builder<'_>, array: Value, index: Value) -> Value {
    let three = b.iconst(3);
    let offset = b.op(Opcode::Ishl, &[index, three]);
    b.op(Opcode::Padd, &[array, offset])
}

/// Replaces the content of a place. Returns the old one.
fn replace(b: &mut Builder<'_>, place: Value, item: Value) {
    let old = b.load(Width::Ptr, place, 0);
    b.store(Width::Ptr, place, 0, item);
    b.ret(&[old]);
}

/// Every deallocation may run user code.
extern "C" fn may_be_seen(_: *mut u8) -> i64 {
    0
}

/// Nothing was pending, and nothing raised.
extern "C" fn nothing_was_pending(_: *mut u8) -> i64 {
    0
}

impl HostBuilder {
    fn write(
        &mut self,
        name: &'static str,
        effects: Effects,
        body: impl FnOnce(&mut Builder<'_>, &[Value]),
    ) {
        let mut rows = names::STANDARD.iter().chain(names::ITEMS);
        let row = rows.find(|row| row.0 == name);
        let (_, params, results) = row.expect("a standard intrinsic");
        let mut func = Func::new(name, Signature::new(params, results));
        let args = func.params().to_vec();
        body(&mut Builder::new(&mut func), &args);
        self.intrinsic(name, effects, func);
    }

    /// Declares that objects are counted. Defines the operations on counts, classes and ints:
    /// `incref`, `drop`, `decref_leaf`, `decref_int`, `decref_float`, `class_of`, `int_unbox` and
    /// `int_box` (if [`Counted::ints`] was called), and the helper `free_leaf`, which treats every
    /// deallocation as one that may run user code. The fields become the layout `Object`.
    pub fn counted(&mut self, objects: Counted) -> &mut Self {
        let dealloc = objects.dealloc;
        let int = objects.ints.map(|(field, _)| field);
        let fields: Vec<Field> = [objects.class, objects.count]
            .into_iter()
            .chain(int)
            .collect();
        self.layout("Object", None, &fields);
        self.define(FREE_LEAF, may_be_seen as extern "C" fn(_) -> _);
        let changes = Effects::WRITES;
        self.write(names::INCREF, changes, |b, p| objects.incref(b, p[0]));
        self.write(names::DROP, changes, |b, p| {
            objects.decref(b, p[0], |b| b.terminate(Term::Fail));
        });
        for name in [names::DECREF_LEAF, names::DECREF_INT, names::DECREF_FLOAT] {
            self.write(name, changes, |b, p| {
                objects.decref(b, p[0], |b| {
                    b.call(dealloc, &[p[0]], &[]);
                    b.ret(&[]);
                });
            });
        }
        self.write(names::CLASS_OF, Effects::READS, |b, p| {
            objects.class_of(b, p[0]);
        });
        if let Some((field, new_int)) = objects.ints {
            self.write(names::INT_UNBOX, Effects::READS, |b, p| {
                objects.int_unbox(b, p[0], field);
            });
            self.write(names::INT_BOX, changes, |b, p| {
                objects.int_box(b, p[0], new_int);
            });
        }
        self
    }

    /// Declares that the two truth values are recognised by their addresses
    /// ([`singletons`](Self::singletons), to be called before). Defines `bool_unbox` and
    /// `bool_box`.
    pub fn bools(&mut self) -> &mut Self {
        let (yes, no) = (self.host.true_, self.host.false_);
        self.write(names::BOOL_UNBOX, Effects::NONE, |b, p| {
            let yes = b.pconst(yes);
            let truth = b.icmp(IntCond::Eq, p[0], yes);
            b.ret(&[truth]);
        });
        self.write(names::BOOL_BOX, Effects::NONE, |b, p| {
            let (yes, no) = (b.pconst(yes), b.pconst(no));
            let object = b.select(p[0], yes, no);
            b.ret(&[object]);
        });
        self
    }

    /// Declares that an object has the token of its class, an address, in this field. Defines
    /// `class_of`. For hosts that do not count references ([`traced`](Self::traced));
    /// [`counted`](Self::counted) does this too.
    pub fn class(&mut self, class: Field) -> &mut Self {
        self.write(names::CLASS_OF, Effects::READS, |b, p| {
            let class = b.load(Width::Ptr, p[0], class.offset);
            b.ret(&[class]);
        });
        self
    }

    /// Declares that an int object has its value, of 64 bits, in this field, and that `new_int`,
    /// `(i64) -> object`, makes one. Defines `int_unbox` and `int_box`. For hosts that do not count
    /// references; [`Counted::ints`] does this too.
    pub fn ints(&mut self, value: Field, new_int: HelperId) -> &mut Self {
        self.write(names::INT_UNBOX, Effects::READS, |b, p| {
            let value = b.load(Width::I64, p[0], value.offset);
            b.ret(&[value]);
        });
        self.write(names::INT_BOX, Effects::WRITES, |b, p| {
            let object = b.call(new_int, &[p[0]], &[Ty::Ptr]);
            b.ret(&object);
        });
        self
    }

    /// Declares that a float object has its value, a double, in this field, and that `new_float`,
    /// `(f64) -> object`, makes one. Defines `float_unbox` and `float_box`.
    pub fn floats(&mut self, value: Field, new_float: HelperId) -> &mut Self {
        self.write(names::FLOAT_UNBOX, Effects::READS, |b, p| {
            let value = b.load(Width::F64, p[0], value.offset);
            b.ret(&[value]);
        });
        self.write(names::FLOAT_BOX, Effects::WRITES, |b, p| {
            let object = b.call(new_float, &[p[0]], &[Ty::Ptr]);
            b.ret(&object);
        });
        self
    }

    /// Declares the layout of lists. Defines `list_len`, `list_get`, `list_set`, `list_items`,
    /// `item_get` and `item_set`.
    pub fn lists(&mut self, lists: Lists) -> &mut Self {
        let (reads, writes) = (Effects::READS, Effects::WRITES);
        self.write(names::LIST_LEN, reads, |b, p| {
            let len = lists.len(b, p[0]);
            b.ret(&[len]);
        });
        self.write(names::LIST_GET, reads, |b, p| {
            let place = lists.item(b, p[0], p[1]);
            let item = b.load(Width::Ptr, place, 0);
            b.ret(&[item]);
        });
        self.write(names::LIST_SET, writes, |b, p| {
            let place = lists.item(b, p[0], p[1]);
            replace(b, place, p[2]);
        });
        self.write(names::LIST_ITEMS, reads, |b, p| {
            let items = b.load(Width::I64, p[0], lists.items.offset);
            b.ret(&[items]);
        });
        self.write(names::ITEM_GET, reads, |b, p| {
            let items = b.op(Opcode::I2p, &[p[0]]);
            let place = place(b, items, p[1]);
            let item = b.load(Width::Ptr, place, 0);
            b.ret(&[item]);
        });
        self.write(names::ITEM_SET, writes, |b, p| {
            let items = b.op(Opcode::I2p, &[p[0]]);
            let place = place(b, items, p[1]);
            replace(b, place, p[2]);
        });
        self
    }

    /// Declares that an iterator of such a list has the list in a field, and the index of the next
    /// item, an integer of 64 bits, in another. It is at its end if the index is not below the
    /// length. Defines `list_iter_more` and `list_iter_next`.
    pub fn list_iterators(&mut self, lists: Lists, list: Field, index: Field) -> &mut Self {
        let (reads, writes) = (Effects::READS, Effects::WRITES);
        self.write(names::LIST_ITER_MORE, reads, |b, p| {
            let of = b.load(Width::Ptr, p[0], list.offset);
            let at = b.load(Width::I64, p[0], index.offset);
            let len = lists.len(b, of);
            let more = b.icmp(IntCond::Ult, at, len);
            b.ret(&[more]);
        });
        self.write(names::LIST_ITER_NEXT, writes, |b, p| {
            let of = b.load(Width::Ptr, p[0], list.offset);
            let at = b.load(Width::I64, p[0], index.offset);
            let place = lists.item(b, of, at);
            let item = b.load(Width::Ptr, place, 0);
            let one = b.iconst(1);
            let next = b.op(Opcode::Iadd, &[at, one]);
            b.store(Width::I64, p[0], index.offset, next);
            b.ret(&[item]);
        });
        self
    }

    /// Declares that nothing interrupts the host: no signals, no tracing, no other thread that
    /// waits for a lock. Defines `nothing_pending`, `still_valid`, and the helper `handle_pending`.
    pub fn uninterrupted(&mut self) -> &mut Self {
        let helper = nothing_was_pending as extern "C" fn(_) -> _;
        self.define("handle_pending", helper);
        self.write(names::NOTHING_PENDING, Effects::NONE, |b, _| {
            let yes = b.bconst(true);
            b.ret(&[yes]);
        });
        self.write(names::STILL_VALID, Effects::READS, |b, p| {
            let state = b.load(Width::I64, p[2], 0);
            let is_valid = b.icmp_imm(IntCond::Eq, state, 0);
            b.ret(&[is_valid]);
        });
        self
    }

    /// Declares that a frame has a word at this offset for the position of the running instruction.
    /// Defines `set_position`.
    pub fn frame_position(&mut self, offset: usize) -> &mut Self {
        self.write(names::SET_POSITION, Effects::WRITES, |b, p| {
            b.store(Width::Ptr, p[0], offset as i32, p[1]);
            b.ret(&[]);
        });
        self
    }
}

impl Host {
    /// An intrinsic of the host's own with constants, for plans.
    ///
    /// # Panics
    /// If there is none of this name.
    pub fn plan(&self, name: &str, constants: &[i64]) -> IntrinsicCall {
        IntrinsicCall {
            id: self.intrinsic(name),
            imms: constants.to_vec(),
        }
    }

    /// The parts of every unit, for a host in which two helpers create and free frames: `enter`,
    /// `(thread, function) -> frame`, which returns null if there is no room, and `leave`,
    /// `(thread, frame)`.
    ///
    /// # Panics
    /// If there are no helpers of these names.
    pub fn frames_by(&self, enter: &str, leave: &str) -> UnitParts {
        let (made, dropped) = (self.helper(enter), self.helper(leave));
        let mut enter = Func::new("enter", Signature::new(&[Ty::Ptr; 2], &[Ty::Ptr]));
        let args = enter.params().to_vec();
        let mut b = Builder::new(&mut enter);
        let frame = b.call(made, &args, &[Ty::Ptr])[0];
        let none = b.is_null(frame);
        let (full, done) = (b.cold_block(), b.block());
        b.br(none, full, &[], done, &[]);
        b.switch_to(done);
        b.ret(&[frame]);
        b.switch_to(full);
        b.terminate(Term::Fail);
        let mut leave = Func::new("leave", Signature::new(&[Ty::Ptr; 2], &[]));
        let args = leave.params().to_vec();
        let mut b = Builder::new(&mut leave);
        b.call(dropped, &args, &[]);
        b.ret(&[]);
        UnitParts::new(enter, leave)
    }
}
