//! Objects in memory: their layouts, references to them, and their deallocation.
//!
//! Every object begins with a [`Head`]. The layouts are `repr(C)`, because compiled code accesses
//! them through the intrinsics; offsets are taken from here with `offset_of!`. A [`Ref`] owns one
//! reference. An immortal object's count is negative and never changes.
//!
//! # Safety contract
//! All objects of a runtime live on one thread. A class's [`Kind`] determines the layout of its
//! instances; only [`alloc`] allocates objects, and it takes a matching layout and class.

use super::class::{Class, Shape};
use super::code::CodeData;
use super::dict::Dict;
use super::rt;
use cladonia::host::HostBuilder;
use cladonia::ll::{Field, Width};
use num_bigint::BigInt;
use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::rc::Rc;

/// An object as compiled code passes it: owned or borrowed according to the callee's contract; null
/// for no object.
pub type Obj = *mut Head;

/// The count of immortal objects.
pub const IMMORTAL: i64 = i64::MIN / 2;

/// The layout of a class's instances.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// [`Instance`]
    Instance,
    /// [`Int`]
    Int,
    /// [`Float`]
    Float,
    /// [`Bool`]
    Bool,
    /// [`Plain`]: `None` and other objects without content.
    Plain,
    /// [`Str`]
    Str,
    /// [`Tuple`]
    Tuple,
    /// [`List`]
    List,
    /// [`Dict`]
    Dict,
    /// [`Set`]
    Set,
    /// [`Range`]
    Range,
    /// [`RangeIter`]
    RangeIter,
    /// [`SeqIter`] over a list.
    ListIter,
    /// [`SeqIter`] over a tuple.
    TupleIter,
    /// [`CellObject`]
    Cell,
    /// [`Function`]
    Function,
    /// [`Method`]
    Method,
    /// [`Native`]
    Native,
    /// [`CodeObject`]
    Code,
    /// [`Class`]
    Class,
    /// [`Slice`]
    Slice,
}

/// The start of every object.
#[repr(C)]
pub struct Head {
    /// References, or negative for an immortal object.
    pub count: Cell<i64>,
    /// The class, to which the object owns a reference.
    pub class: Cell<*const Class>,
}

/// A layout of objects.
///
/// # Safety
/// `repr(C)` with a [`Head`] first, and every object whose class has one of `KINDS` is a `Self`.
pub unsafe trait Layout {
    /// The kinds with this layout.
    const KINDS: &'static [Kind];
}

macro_rules! layouts {
    ($($ty:ident: $($kind:ident)|*;)*) => {
        // SAFETY: all are `repr(C)` with the head first; `destroy` and `alloc` keep kinds and
        // layouts together.
        $(unsafe impl Layout for $ty { const KINDS: &'static [Kind] = &[$(Kind::$kind),*]; })*

        /// Frees an object's memory and drops its fields.
        ///
        /// # Safety
        /// The object has no references left, and is not used afterwards.
        unsafe fn free(p: Obj, kind: Kind) {
            // SAFETY: the kind determines the layout that was boxed.
            unsafe {
                match kind {
                    $($(Kind::$kind)|* => drop(Box::from_raw(p.cast::<$ty>())),)*
                }
            }
        }
    };
}

layouts! {
    Instance: Instance;
    Int: Int;
    Float: Float;
    Bool: Bool;
    Plain: Plain;
    Str: Str;
    Tuple: Tuple;
    List: List;
    Dict: Dict;
    Set: Set;
    Range: Range;
    RangeIter: RangeIter;
    SeqIter: ListIter | TupleIter;
    CellObject: Cell;
    Function: Function;
    Method: Method;
    Native: Native;
    CodeObject: Code;
    Class: Class;
    Slice: Slice;
}

/// An instance of a user class, or an exception.
#[repr(C)]
pub struct Instance {
    head: Head,
    /// Its attributes, in order.
    pub shape: Cell<*const Shape>,
    /// Their values, as many as the shape has names.
    pub slots: Cell<*mut Ref>,
    capacity: Cell<usize>,
}

/// An int of any size.
#[repr(C)]
pub struct Int {
    head: Head,
    /// The value if it does not fit into 64 bits, otherwise null.
    pub big: Option<Box<BigInt>>,
    /// The value if it fits.
    pub small: i64,
}

/// A float.
#[repr(C)]
pub struct Float {
    head: Head,
    /// The value.
    pub value: f64,
}

/// A truth value.
#[repr(C)]
pub struct Bool {
    head: Head,
    /// 0 or 1.
    pub value: u64,
}

/// An object without content.
#[repr(C)]
pub struct Plain {
    head: Head,
}

/// A string.
#[repr(C)]
pub struct Str {
    head: Head,
    /// The text.
    pub text: Box<str>,
}

/// A tuple.
#[repr(C)]
pub struct Tuple {
    head: Head,
    len: i64,
    items: *mut Ref,
}

/// A list.
#[repr(C)]
pub struct List {
    head: Head,
    len: Cell<i64>,
    capacity: Cell<i64>,
    items: Cell<*mut Ref>,
}

/// A set.
#[repr(C)]
pub struct Set {
    head: Head,
    /// Its items as the keys of a dict.
    pub items: Ref,
}

/// A range of 64-bit ints.
#[repr(C)]
pub struct Range {
    head: Head,
    /// First.
    pub start: i64,
    /// End, not included.
    pub stop: i64,
    /// Step, not 0.
    pub step: i64,
}

/// An iterator over a range.
#[repr(C)]
pub struct RangeIter {
    head: Head,
    /// The next value.
    pub next: Cell<i64>,
    /// The step.
    pub step: i64,
    /// The number of values left.
    pub left: Cell<i64>,
}

/// An iterator over a list or tuple.
#[repr(C)]
pub struct SeqIter {
    head: Head,
    /// The sequence; none when the iterator is exhausted.
    pub seq: Cell<Option<Ref>>,
    /// The next index.
    pub index: Cell<i64>,
}

/// A cell of a closure.
#[repr(C)]
pub struct CellObject {
    head: Head,
    /// The value.
    pub content: Cell<Option<Ref>>,
}

/// A user function.
#[repr(C)]
pub struct Function {
    head: Head,
    /// Its code object.
    pub code: Ref,
    /// Its module's names.
    pub globals: Ref,
    /// Values of the last positional parameters, as a tuple.
    pub defaults: RefCell<Option<Ref>>,
    /// Values of keyword-only parameters, as a dict.
    pub kwdefaults: RefCell<Option<Ref>>,
    /// Cells of the enclosing functions, as a tuple.
    pub closure: RefCell<Option<Ref>>,
}

/// A function bound to its first argument.
#[repr(C)]
pub struct Method {
    head: Head,
    /// The function.
    pub function: Ref,
    /// The argument.
    pub this: Ref,
}

/// A native function's body, with positional arguments (the receiver of a method first).
pub type NativeFn = fn(&[Ref]) -> super::Result<Ref>;

/// A function written in Rust.
#[repr(C)]
pub struct Native {
    head: Head,
    /// Its name.
    pub name: &'static str,
    /// Its body.
    pub run: NativeFn,
    /// True if it binds its receiver when it is found in a class.
    pub is_method: bool,
}

/// A code object.
#[repr(C)]
pub struct CodeObject {
    head: Head,
    /// Its content.
    pub data: Rc<CodeData>,
}

/// A slice.
#[repr(C)]
pub struct Slice {
    head: Head,
    /// First, end and step, each an int or None.
    pub parts: [Ref; 3],
}

/// Offsets that the intrinsics use.
pub mod layout {
    use super::*;
    use std::mem::offset_of;

    macro_rules! offsets {
        ($($name:ident = $ty:ident . $field:ident;)*) => {
            $(#[doc = concat!("`", stringify!($ty), ".", stringify!($field), "`")] pub const $name: i32 = offset_of!($ty, $field) as i32;)*
        };
    }
    offsets! {
        COUNT = Head.count;
        CLASS = Head.class;
        INT_BIG = Int.big;
        INT_SMALL = Int.small;
        FLOAT_VALUE = Float.value;
        TUPLE_LEN = Tuple.len;
        TUPLE_ITEMS = Tuple.items;
        LIST_LEN = List.len;
        LIST_CAPACITY = List.capacity;
        LIST_ITEMS = List.items;
        RANGE_START = Range.start;
        RANGE_STOP = Range.stop;
        RANGE_STEP = Range.step;
        RANGE_ITER_NEXT = RangeIter.next;
        RANGE_ITER_STEP = RangeIter.step;
        RANGE_ITER_LEFT = RangeIter.left;
        SEQ_ITER_SEQ = SeqIter.seq;
        SEQ_ITER_INDEX = SeqIter.index;
        CELL_CONTENT = CellObject.content;
        INSTANCE_SHAPE = Instance.shape;
        INSTANCE_SLOTS = Instance.slots;
    }
}

/// Declares the layouts that the intrinsics use.
pub(super) fn declare(host: &mut HostBuilder) {
    use Width::{F64, I64, Ptr};
    use layout as at;
    let field = |name, offset: i32, width| Field::new(name, offset as usize, width);
    let head = [
        field("count", at::COUNT, I64),
        field("class", at::CLASS, Ptr),
    ];
    let head = host.layout("Head", None, &head);
    let layouts: [(&str, &[Field]); 9] = [
        (
            "Int",
            &[
                field("big", at::INT_BIG, Ptr),
                field("small", at::INT_SMALL, I64),
            ],
        ),
        ("Float", &[field("value", at::FLOAT_VALUE, F64)]),
        (
            "Tuple",
            &[
                field("len", at::TUPLE_LEN, I64),
                field("items", at::TUPLE_ITEMS, Ptr),
            ],
        ),
        (
            "List",
            &[
                field("len", at::LIST_LEN, I64),
                field("capacity", at::LIST_CAPACITY, I64),
                field("items", at::LIST_ITEMS, Ptr),
            ],
        ),
        (
            "Range",
            &[
                field("start", at::RANGE_START, I64),
                field("stop", at::RANGE_STOP, I64),
                field("step", at::RANGE_STEP, I64),
            ],
        ),
        (
            "RangeIter",
            &[
                field("next", at::RANGE_ITER_NEXT, I64),
                field("step", at::RANGE_ITER_STEP, I64),
                field("left", at::RANGE_ITER_LEFT, I64),
            ],
        ),
        (
            "SeqIter",
            &[
                field("seq", at::SEQ_ITER_SEQ, Ptr),
                field("index", at::SEQ_ITER_INDEX, I64),
            ],
        ),
        ("Cell", &[field("content", at::CELL_CONTENT, Ptr)]),
        (
            "Instance",
            &[
                field("shape", at::INSTANCE_SHAPE, Ptr),
                field("slots", at::INSTANCE_SLOTS, Ptr),
            ],
        ),
    ];
    for (name, fields) in layouts {
        host.layout(name, Some(&head), fields);
    }
}

/// A reference to an object.
#[repr(transparent)]
pub struct Ref(NonNull<Head>);

impl Ref {
    /// Takes over a reference.
    ///
    /// # Safety
    /// `p` is a live object, and the caller owns one of its references.
    pub unsafe fn from_owned(p: Obj) -> Ref {
        // SAFETY: live objects are not null.
        Ref(unsafe { NonNull::new_unchecked(p) })
    }

    /// A new reference to a borrowed object.
    ///
    /// # Safety
    /// `p` is a live object.
    pub unsafe fn from_borrowed(p: Obj) -> Ref {
        // SAFETY: the copy is not dropped.
        let borrowed = unsafe { borrow(p) };
        Ref::clone(&borrowed)
    }

    /// Gives up ownership of the reference.
    pub fn into_raw(self) -> Obj {
        ManuallyDrop::new(self).0.as_ptr()
    }

    /// The object's address.
    pub fn as_ptr(&self) -> Obj {
        self.0.as_ptr()
    }

    /// Returns true if two references are to one object.
    pub fn is(&self, other: &Ref) -> bool {
        self.0 == other.0
    }

    /// The start of the object.
    pub(super) fn head(&self) -> &Head {
        // SAFETY: a reference keeps its object alive.
        unsafe { self.0.as_ref() }
    }

    /// The object's class.
    pub fn class(&self) -> &Class {
        // SAFETY: an object owns a reference to its class.
        unsafe { &*self.head().class.get() }
    }

    /// The class as an object.
    pub fn class_ref(&self) -> Ref {
        // SAFETY: as above; a class is an object.
        unsafe { Ref::from_borrowed(self.head().class.get().cast_mut().cast()) }
    }

    /// The layout of the object.
    pub fn kind(&self) -> Kind {
        self.class().kind
    }

    /// The object's content, if it has this layout.
    pub fn get<T: Layout>(&self) -> Option<&T> {
        // SAFETY: the kind guarantees that the object is a `T`.
        T::KINDS
            .contains(&self.kind())
            .then(|| unsafe { &*self.0.as_ptr().cast::<T>() })
    }

    /// Returns true if the object is immortal.
    pub fn is_immortal(&self) -> bool {
        self.head().count.get() < 0
    }

    /// Makes the object immortal.
    pub fn make_immortal(self) -> Ref {
        if !self.is_immortal() {
            self.head().count.set(IMMORTAL);
            super::count_objects(-1);
        }
        self
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        self.get::<Str>().map(|s| &*s.text)
    }

    /// The items of a tuple.
    pub fn as_tuple(&self) -> Option<&[Ref]> {
        self.get::<Tuple>().map(Tuple::items)
    }
}

impl Clone for Ref {
    fn clone(&self) -> Ref {
        let count = &self.head().count;
        if count.get() >= 0 {
            count.set(count.get() + 1);
        }
        Ref(self.0)
    }
}

impl Drop for Ref {
    fn drop(&mut self) {
        let count = &self.head().count;
        let left = count.get() - 1;
        if left < 0 {
            return;
        }
        count.set(left);
        if left == 0 {
            // SAFETY: this was the last reference.
            unsafe { destroy(self.0.as_ptr()) }
        }
    }
}

impl std::fmt::Debug for Ref {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "<{} at {:p}>", self.class().name, self.0)
    }
}

/// Borrows an object.
///
/// # Safety
/// `p` is a live object while the result is used.
pub unsafe fn borrow(p: Obj) -> ManuallyDrop<Ref> {
    // SAFETY: the reference is never dropped.
    ManuallyDrop::new(unsafe { Ref::from_owned(p) })
}

/// Deallocates an object: its finaliser runs, then its fields are dropped.
///
/// # Safety
/// The object's count is 0 and it is not used afterwards.
pub unsafe fn destroy(p: Obj) {
    // SAFETY: the memory is still allocated.
    let (class, kind) = unsafe { ((*p).class.get(), (*(*p).class.get()).kind) };
    if kind == Kind::Instance {
        // SAFETY: the finaliser gets a reference, which it may keep.
        unsafe {
            (*p).count.set(1);
            let this = Ref::from_owned(p);
            super::class::finalise(&this);
            let this = ManuallyDrop::new(this);
            let left = this.head().count.get() - 1;
            this.head().count.set(left);
            if left > 0 {
                return;
            }
        }
    }
    rt().forget(p);
    super::count_objects(-1);
    // SAFETY: see above; the class is alive until its reference is dropped here, last.
    unsafe {
        free(p, kind);
        drop(Ref::from_owned(class.cast_mut().cast()));
    }
}

fn head(class: &Ref) -> Head {
    let class = class.clone();
    Head {
        count: Cell::new(1),
        class: Cell::new(class.into_raw().cast_const().cast()),
    }
}

fn boxed<T: Layout>(object: T) -> Ref {
    super::count_objects(1);
    // SAFETY: a new object with one reference.
    unsafe { Ref::from_owned(Box::into_raw(Box::new(object)).cast()) }
}

/// Creates a class object from its head and its address.
pub(super) fn alloc_class(make: impl FnOnce(Head, u64) -> Class, metaclass: Option<&Ref>) -> Ref {
    let head = match metaclass {
        Some(metaclass) => head(metaclass),
        None => Head {
            count: Cell::new(1),
            class: Cell::new(std::ptr::null()),
        },
    };
    super::count_objects(1);
    // Its handle contains its address, so the memory is allocated first.
    let place = Box::<Class>::new_uninit();
    let address = place.as_ptr() as u64;
    let class = Box::write(place, make(head, address));
    // SAFETY: a new object with one reference.
    unsafe { Ref::from_owned(Box::into_raw(class).cast()) }
}

/// Makes the first class its own class.
pub(super) fn close_metaclass(class: &Ref) {
    class.head().class.set(class.as_ptr().cast_const().cast());
}

/// Sets the metaclass of a class that was created before it.
pub(super) fn set_metaclass(class: &Ref, metaclass: &Ref) {
    class
        .head()
        .class
        .set(metaclass.clone().into_raw().cast_const().cast());
}

/// Allocation of objects, one function for each layout.
pub mod alloc {
    use super::*;

    /// An int.
    pub fn int(value: i64) -> Ref {
        match rt().small_int(value) {
            Some(known) => known,
            None => new_int(value),
        }
    }

    /// An int that is not one of the shared ones.
    pub fn new_int(value: i64) -> Ref {
        boxed(Int {
            head: head(&rt().classes.int),
            big: None,
            small: value,
        })
    }

    /// An int of any size.
    pub fn big(value: BigInt) -> Ref {
        match i64::try_from(&value) {
            Ok(small) => int(small),
            Err(_) => boxed(Int {
                head: head(&rt().classes.int),
                big: Some(Box::new(value)),
                small: 0,
            }),
        }
    }

    /// A float.
    pub fn float(value: f64) -> Ref {
        boxed(Float {
            head: head(&rt().classes.float),
            value,
        })
    }

    /// A truth value; used for the two that exist.
    pub(in crate::runtime) fn new_bool(class: &Ref, value: bool) -> Ref {
        boxed(Bool {
            head: head(class),
            value: value.into(),
        })
    }

    /// An object without content.
    pub fn plain(class: &Ref) -> Ref {
        boxed(Plain { head: head(class) })
    }

    /// A string.
    pub fn str(text: impl Into<Box<str>>) -> Ref {
        boxed(Str {
            head: head(&rt().classes.str),
            text: text.into(),
        })
    }

    /// A tuple.
    pub fn tuple(items: Vec<Ref>) -> Ref {
        let len = items.len() as i64;
        let items = Box::into_raw(items.into_boxed_slice()).cast::<Ref>();
        boxed(Tuple {
            head: head(&rt().classes.tuple),
            len,
            items,
        })
    }

    /// A list.
    pub fn list(items: Vec<Ref>) -> Ref {
        let list = boxed(List {
            head: head(&rt().classes.list),
            len: Cell::new(0),
            capacity: Cell::new(0),
            items: Cell::new(NonNull::dangling().as_ptr()),
        });
        if let Some(content) = list.get::<List>() {
            content.put(items);
        }
        list
    }

    /// A dict.
    pub fn dict() -> Ref {
        boxed(Dict::new(head(&rt().classes.dict)))
    }

    /// An empty set.
    pub fn set() -> Ref {
        boxed(Set {
            head: head(&rt().classes.set),
            items: dict(),
        })
    }

    /// A range.
    pub fn range(start: i64, stop: i64, step: i64) -> Ref {
        boxed(Range {
            head: head(&rt().classes.range),
            start,
            stop,
            step,
        })
    }

    /// An iterator over a range.
    pub fn range_iter(next: i64, step: i64, left: i64) -> Ref {
        boxed(RangeIter {
            head: head(&rt().classes.range_iter),
            next: Cell::new(next),
            step,
            left: Cell::new(left),
        })
    }

    /// An iterator over a list or tuple.
    pub fn seq_iter(seq: Ref) -> Ref {
        let class = match seq.kind() {
            Kind::List => &rt().classes.list_iter,
            _ => &rt().classes.tuple_iter,
        };
        boxed(SeqIter {
            head: head(class),
            seq: Cell::new(Some(seq)),
            index: Cell::new(0),
        })
    }

    /// A cell.
    pub fn cell(content: Option<Ref>) -> Ref {
        boxed(CellObject {
            head: head(&rt().classes.cell),
            content: Cell::new(content),
        })
    }

    /// A function.
    pub fn function(code: Ref, globals: Ref) -> Ref {
        boxed(Function {
            head: head(&rt().classes.function),
            code,
            globals,
            defaults: RefCell::new(None),
            kwdefaults: RefCell::new(None),
            closure: RefCell::new(None),
        })
    }

    /// A bound method.
    pub fn method(function: Ref, this: Ref) -> Ref {
        boxed(Method {
            head: head(&rt().classes.method),
            function,
            this,
        })
    }

    /// A function written in Rust.
    pub fn native(name: &'static str, run: NativeFn, is_method: bool) -> Ref {
        boxed(Native {
            head: head(&rt().classes.native),
            name,
            run,
            is_method,
        })
    }

    /// A code object.
    pub fn code(data: Rc<CodeData>) -> Ref {
        boxed(CodeObject {
            head: head(&rt().classes.code),
            data,
        })
    }

    /// A slice.
    pub fn slice(parts: [Ref; 3]) -> Ref {
        boxed(Slice {
            head: head(&rt().classes.slice),
            parts,
        })
    }

    /// An instance without attributes.
    pub fn instance(class: &Ref, shape: *const Shape) -> Ref {
        boxed(Instance {
            head: head(class),
            shape: Cell::new(shape),
            slots: Cell::new(NonNull::dangling().as_ptr()),
            capacity: Cell::new(0),
        })
    }
}

impl Int {
    /// The value, as an int of any size.
    pub fn to_big(&self) -> BigInt {
        match &self.big {
            Some(big) => (**big).clone(),
            None => BigInt::from(self.small),
        }
    }

    /// The value if it fits 64 bits.
    pub fn to_i64(&self) -> Option<i64> {
        self.big.is_none().then_some(self.small)
    }
}

impl Tuple {
    /// The items.
    pub fn items(&self) -> &[Ref] {
        // SAFETY: created from a boxed slice of this length.
        unsafe { std::slice::from_raw_parts(self.items, self.len as usize) }
    }
}

impl Drop for Tuple {
    fn drop(&mut self) {
        let items = std::ptr::slice_from_raw_parts_mut(self.items, self.len as usize);
        // SAFETY: as above.
        let mut items = Vec::from(unsafe { Box::from_raw(items) });
        // The last item goes first, as in compiled code that drops the items of a virtual tuple.
        while let Some(item) = items.pop() {
            drop(item);
        }
    }
}

impl List {
    /// The number of items.
    pub fn len(&self) -> usize {
        self.len.get() as usize
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A new reference to an item.
    pub fn item(&self, index: usize) -> Option<Ref> {
        // SAFETY: the index is below the length.
        (index < self.len()).then(|| unsafe { (*self.items.get().add(index)).clone() })
    }

    /// New references to all items.
    pub fn to_vec(&self) -> Vec<Ref> {
        (0..self.len()).filter_map(|i| self.item(i)).collect()
    }

    /// Takes all items.
    pub fn take(&self) -> Vec<Ref> {
        let (len, capacity) = (self.len.replace(0), self.capacity.replace(0));
        let items = self.items.replace(NonNull::dangling().as_ptr());
        // SAFETY: the three are parts of a vector, which only this function has now.
        unsafe { Vec::from_raw_parts(items, len as usize, capacity as usize) }
    }

    /// Puts items into the empty list.
    fn put(&self, items: Vec<Ref>) {
        let mut items = ManuallyDrop::new(items);
        self.len.set(items.len() as i64);
        self.capacity.set(items.capacity() as i64);
        self.items.set(items.as_mut_ptr());
    }

    /// Changes the items. The caller drops removed items, when the list is complete again.
    pub fn with<R>(&self, change: impl FnOnce(&mut Vec<Ref>) -> R) -> R {
        let mut items = self.take();
        let result = change(&mut items);
        self.put(items);
        result
    }

    /// Adds an item.
    pub fn push(&self, item: Ref) {
        self.with(|items| items.push(item));
    }
}

impl Drop for List {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl RangeIter {
    /// The next value.
    pub fn advance(&self) -> Option<i64> {
        let left = self.left.get();
        if left <= 0 {
            return None;
        }
        self.left.set(left - 1);
        let value = self.next.get();
        self.next.set(value.wrapping_add(self.step));
        Some(value)
    }
}

impl SeqIter {
    /// The next item. An exhausted iterator drops its sequence.
    pub fn advance(&self) -> Option<Ref> {
        let seq = self.seq.take()?;
        let index = self.index.get() as usize;
        let item = match seq.get::<List>() {
            Some(list) => list.item(index),
            None => seq.as_tuple().and_then(|items| items.get(index)).cloned(),
        };
        if item.is_some() {
            self.index.set(index as i64 + 1);
            self.seq.set(Some(seq));
        }
        item
    }
}

impl CellObject {
    /// A new reference to the content.
    pub fn content(&self) -> Option<Ref> {
        let content = self.content.take();
        let copy = content.clone();
        self.content.set(content);
        copy
    }
}

impl Instance {
    /// The shape.
    pub fn shape(&self) -> &Shape {
        // SAFETY: shapes live as long as their class, which the instance keeps alive.
        unsafe { &*self.shape.get() }
    }

    /// A new reference to the value in a slot.
    pub fn slot(&self, index: usize) -> Ref {
        assert!(index < self.shape().names.len(), "a slot of the shape");
        // SAFETY: there are as many values as the shape has names.
        unsafe { (*self.slots.get().add(index)).clone() }
    }

    /// Replaces the value in a slot. Returns the old one.
    pub fn replace(&self, index: usize, value: Ref) -> Ref {
        assert!(index < self.shape().names.len(), "a slot of the shape");
        // SAFETY: as above.
        unsafe { std::mem::replace(&mut *self.slots.get().add(index), value) }
    }

    /// Changes shape and values together.
    pub fn reshape(
        &self,
        shape: *const Shape,
        change: impl FnOnce(&mut Vec<Ref>) -> Option<Ref>,
    ) -> Option<Ref> {
        let mut values = self.take();
        let out = change(&mut values);
        self.shape.set(shape);
        debug_assert_eq!(values.len(), self.shape().names.len());
        let mut values = ManuallyDrop::new(values);
        self.capacity.set(values.capacity());
        self.slots.set(values.as_mut_ptr());
        out
    }

    fn take(&self) -> Vec<Ref> {
        let len = self.shape().names.len();
        let capacity = self.capacity.replace(0);
        let slots = self.slots.replace(NonNull::dangling().as_ptr());
        // SAFETY: the parts of a vector, which only this function has now.
        unsafe { Vec::from_raw_parts(slots, len, capacity) }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        drop(self.take());
    }
}
