//! Expressions: each leaves one value on the stack.

use super::writer::{COUNTERS, Kind, VALUES, Writer};
use cladonia::bytecode::{BinaryOp, CompareOp, INPLACE};

const LITERALS: &[&str] = &[
    "3",
    "5",
    "None",
    "0",
    "1",
    "2",
    "-3",
    "7",
    "1.5",
    "-0.5",
    "0.0",
    "-0.0",
    "\"ab\"",
    "True",
    "False",
    "4611686018427387904",
    "9223372036854775807",
    "100",
    "\"\"",
    "1e308",
];

/// Small ints, as indexes and keys.
const SMALL: &[&str] = &["0", "1", "2", "-1", "-3"];

impl Writer<'_, '_> {
    /// The name of a bound local with any value.
    pub fn local(&mut self) -> String {
        match self.choices.below(VALUES + 2) {
            k if k < VALUES => format!("v{k}"),
            k if k == VALUES || self.kind == Kind::Closure => "a".into(),
            _ if self.kind == Kind::Method => "a".into(),
            _ => "b".into(),
        }
    }

    pub fn literal(&mut self) {
        let literal = self.choices.pick(LITERALS);
        self.constant(literal);
    }

    /// A small int, or sometimes another value.
    pub fn index(&mut self) {
        match self.choices.below(8) {
            0 => self.number(1),
            1 => self.op("load_fast i0"),
            _ => {
                let index = self.choices.pick(SMALL);
                self.constant(index);
            }
        }
    }

    /// A simple value.
    pub fn leaf(&mut self) {
        match self.choices.below(8) {
            0 | 1 => self.literal(),
            2 | 3 => {
                let counter = self.choices.below(COUNTERS);
                self.op(format!("load_fast i{counter}"));
            }
            4 => self.op("load_deref c"),
            5 => self.op("load_fast_check u"),
            _ => {
                let local = self.local();
                self.op(format!("load_fast {local}"));
            }
        }
    }

    /// A number: arithmetic on loop counters, numeric literals and small lengths.
    pub fn number(&mut self, size: usize) {
        if size == 0 || self.choices.is_over() {
            return match self.choices.below(6) {
                0..=2 => {
                    let counter = self.choices.below(COUNTERS);
                    self.op(format!("load_fast i{counter}"));
                }
                3 => self.op("load_fast n"),
                _ => {
                    let literal = self.choices.pick(&["1", "2", "3", "0.5", "-7", "True"]);
                    self.constant(literal);
                }
            };
        }
        match self.choices.below(8) {
            0 => {
                let name = self.choices.pick(&["int", "float", "abs"]);
                self.callee(name);
                self.number(size - 1);
                self.op("call 1");
            }
            1 => {
                self.callee("len");
                self.ops(&["load_fast xs", "call 1"]);
            }
            2 => {
                self.ops(&["load_fast k", "push_null"]);
                self.number(size - 1);
                self.number(size - 1);
                self.op("call 2");
            }
            3 => {
                self.number(size - 1);
                self.number(size - 1);
                self.op("compare_op <, 1");
            }
            _ => {
                self.number(size - 1);
                self.number(size - 1);
                let op = self.choices.pick(&["+", "-", "*", "+=", "//", "/"]);
                self.op(format!("binary_op {op}"));
            }
        }
    }

    /// A value.
    pub fn value(&mut self, size: usize) {
        if size == 0 || self.choices.is_over() {
            return self.leaf();
        }
        match self.choices.below(30) {
            0..=2 => self.leaf(),
            26..=29 => self.number(size),
            3..=8 => {
                self.value(size - 1);
                self.value(size - 1);
                self.operator();
            }
            9 => {
                self.value(size - 1);
                let op = self.choices.pick(&["unary_negative", "unary_invert"]);
                self.op(op);
            }
            10 | 11 => self.call(size - 1),
            12 => self.attribute(size - 1),
            13 | 14 => self.item(size - 1),
            15 | 16 => self.builtin(size - 1),
            17 => {
                let name = self.choices.pick(&["G", "G", "NAN", "INF"]);
                self.named("load_global", name, "");
            }
            18 | 19 => self.condition(size - 1),
            20 => self.either(size - 1),
            21 => self.container(size - 1),
            22 => self.text(size - 1),
            23 => self.comprehension(size - 1),
            24 => {
                // A number that is used twice.
                self.value(size - 1);
                self.op("copy 1");
                self.operator();
            }
            _ => {
                self.value(size - 1);
                self.op("call_intrinsic_1 positive");
            }
        }
    }

    pub fn operator(&mut self) {
        let op = match self.choices.below(12) {
            0..=3 => BinaryOp::Add,
            4 => BinaryOp::Subtract,
            5 | 6 => BinaryOp::Multiply,
            7 => self.choices.pick(BinaryOp::ALL),
            _ => self.choices.pick(&[
                BinaryOp::Subtract,
                BinaryOp::Multiply,
                BinaryOp::TrueDivide,
                BinaryOp::FloorDivide,
                BinaryOp::Remainder,
                BinaryOp::Power,
            ]),
        };
        debug_assert!((op as u32) < INPLACE);
        let in_place = self.choices.below(4) == 0;
        let symbol = op.symbol();
        self.op(format!(
            "binary_op {symbol}{}",
            if in_place { "=" } else { "" }
        ));
    }

    /// A bool on the stack.
    pub fn condition(&mut self, size: usize) {
        match self.choices.below(10) {
            0..=3 => {
                self.value(size);
                self.value(size);
                let op = self.choices.pick(CompareOp::ALL).symbol();
                self.op(format!("compare_op {op}, 1"));
            }
            9 => {
                self.value(size);
                self.value(size);
                let op = self.choices.pick(CompareOp::ALL).symbol();
                self.ops(&[&format!("compare_op {op}"), "to_bool"]);
            }
            4 => {
                self.value(size);
                self.op("to_bool");
            }
            5 => {
                self.value(size);
                self.literal();
                let not = self.choices.below(2);
                self.op(format!("is_op {not}"));
            }
            6 => {
                self.value(size);
                match self.choices.below(3) {
                    0 => self.op("load_fast xs"),
                    1 => self.op("load_fast d"),
                    _ => self.op("load_fast t"),
                }
                let not = self.choices.below(2);
                self.op(format!("contains_op {not}"));
            }
            7 => {
                // `a < b < c`
                let (other, end) = (self.label(), self.label());
                self.value(size);
                self.value(size);
                self.ops(&["swap 2", "copy 2", "compare_op <, 1"]);
                self.op(format!("pop_jump_if_false {other}"));
                self.leaf();
                self.op("compare_op <=, 1");
                self.op(format!("jump {end}"));
                self.bind(&other);
                self.op("pop_top");
                self.constant("False");
                self.bind(&end);
            }
            _ => {
                self.condition(size.saturating_sub(1));
                self.op("unary_not");
            }
        }
    }

    /// `a and b`, `a or b`, `a if c else b`
    fn either(&mut self, size: usize) {
        let (other, end) = (self.label(), self.label());
        if self.choices.below(2) == 0 {
            self.value(size);
            self.ops(&["copy 1", "to_bool"]);
            let jump = self
                .choices
                .pick(&["pop_jump_if_false", "pop_jump_if_true"]);
            self.op(format!("{jump} {end}"));
            self.op("pop_top");
            self.value(size);
        } else {
            self.condition(size);
            self.op(format!("pop_jump_if_false {other}"));
            self.value(size);
            self.op(format!("jump {end}"));
            self.bind(&other);
            self.value(size);
        }
        self.bind(&end);
    }

    /// A new instance.
    pub fn instance(&mut self) {
        let class = self.choices.pick(&["A", "A", "B", "C", "D"]);
        self.callee(class);
        self.value(1);
        self.value(1);
        self.op("call 2");
    }

    fn call(&mut self, size: usize) {
        if self.is_leaf() {
            return self.leaf();
        }
        match self.choices.below(10) {
            0..=2 => match self.kind {
                // Calls go to functions before this one only, so that programs terminate.
                Kind::Function(index) if index > 0 => {
                    let callee = self.choices.below(index);
                    self.callee(&format!("f{callee}"));
                    self.value(size);
                    self.value(size);
                    self.op("call 2");
                }
                _ => self.helper(size),
            },
            3 | 4 => self.helper(size),
            5 => {
                // The nested function, which shares a cell.
                self.ops(&["load_fast g", "push_null"]);
                self.value(size);
                self.op("call 1");
            }
            6 => {
                self.callee("rest");
                self.value(size);
                self.value(size);
                self.value(size);
                self.op("call 3");
            }
            7 => {
                let names = self.choices.pick(&["('b',)", "('a', 'b')"]);
                let callee = self.choices.pick(&["rest", "h1"]);
                self.callee(callee);
                self.value(size);
                self.value(size);
                self.constant(&format!("TupleExact[`{names}`]"));
                self.op("call_kw 2");
            }
            8 => {
                let callee = self.choices.pick(&["rest", "h"]);
                self.callee(callee);
                match self.choices.below(3) {
                    0 => {
                        self.op("load_fast t");
                        self.op("call_function_ex 0");
                    }
                    1 => {
                        self.value(size);
                        self.ops(&["build_list 1", "load_fast xs", "list_extend 1"]);
                        self.op("call_intrinsic_1 list_to_tuple");
                        self.op("call_function_ex 0");
                    }
                    _ => {
                        self.value(size);
                        self.op("build_tuple 1");
                        self.constant("\"b\"");
                        self.value(size);
                        self.op("build_map 1");
                        self.ops(&["build_map 0", "copy 2", "dict_merge 1"]);
                        self.ops(&["swap 2", "pop_top", "call_function_ex 1"]);
                    }
                }
            }
            _ => {
                self.ops(&["load_fast o", "push_null"]);
                self.value(size);
                self.value(size);
                self.op("call 2");
            }
        }
    }

    /// A call of one of the interchangeable functions, or of a small one.
    fn helper(&mut self, size: usize) {
        let callee = self
            .choices
            .pick(&["h", "h0", "h1", "h2", "k0", "k1", "k2", "k3"]);
        self.callee(callee);
        self.value(size);
        if callee == "h1" && self.choices.below(4) == 0 {
            self.op("call 1");
        } else {
            self.value(size);
            self.op("call 2");
        }
    }

    fn attribute(&mut self, size: usize) {
        if self.is_leaf() {
            self.op("load_fast o");
            let name = self.choices.pick(&["x", "y", "limit"]);
            return self.named("load_attr", name, "");
        }
        match self.choices.below(5) {
            0 => self.instance(),
            1 => {
                let local = self.local();
                self.op(format!("load_fast {local}"));
            }
            _ => self.op("load_fast o"),
        }
        match self.choices.below(8) {
            0..=2 => {
                let name = self.choices.pick(&["x", "y"]);
                self.named("load_attr", name, "");
            }
            3 => {
                let name = self.choices.pick(&["limit", "z"]);
                self.named("load_attr", name, "");
            }
            4 => {
                self.method("get");
                self.op("call 0");
            }
            5 => {
                // A bound method that is called later.
                self.named("load_attr", "get", "");
                self.ops(&["push_null", "call 0"]);
            }
            _ => {
                self.method("m");
                self.value(size);
                self.op("call 1");
            }
        }
    }

    fn item(&mut self, size: usize) {
        match self.choices.below(8) {
            0..=2 => {
                self.op("load_fast xs");
                self.index();
                self.op("binary_subscr");
            }
            3 => {
                self.op("load_fast t");
                self.index();
                self.op("binary_subscr");
            }
            4 => {
                self.op("load_fast d");
                self.value(size);
                self.op("binary_subscr");
            }
            5 => {
                let container = self.choices.pick(&["load_fast xs", "load_fast t"]);
                self.op(container);
                self.index();
                self.index();
                self.op("binary_slice");
            }
            6 => {
                let container = self.choices.pick(&["load_fast xs", "load_fast t"]);
                self.op(container);
                self.index();
                self.index();
                self.index();
                self.ops(&["build_slice 3", "binary_subscr"]);
            }
            _ => {
                self.value(size);
                self.index();
                self.op("binary_subscr");
            }
        }
    }

    fn builtin(&mut self, size: usize) {
        match self.choices.below(8) {
            0..=2 => {
                let name = self
                    .choices
                    .pick(&["abs", "int", "float", "bool", "sqrt", "len"]);
                self.callee(name);
                self.value(size);
                self.op("call 1");
            }
            3 => {
                let name = self.choices.pick(&["min", "max"]);
                self.callee(name);
                self.value(size);
                self.value(size);
                self.op("call 2");
            }
            4 => {
                self.callee("len");
                let what = self
                    .choices
                    .pick(&["load_fast xs", "load_fast t", "load_fast d"]);
                self.ops(&[what, "call 1"]);
            }
            5 => {
                self.callee("isinstance");
                self.value(size);
                let class = self.choices.pick(&["int", "float", "A", "str", "bool"]);
                self.named("load_global", class, "");
                self.op("call 2");
            }
            6 => {
                let name = self.choices.pick(&["sum", "min", "max", "list", "tuple"]);
                self.callee(name);
                self.ops(&["load_fast xs", "call 1"]);
            }
            _ => {
                let name = self
                    .choices
                    .pick(&["str", "repr", "chr", "ord", "type", "range"]);
                self.callee(name);
                self.value(size);
                self.op("call 1");
            }
        }
    }

    fn container(&mut self, size: usize) {
        match self.choices.below(6) {
            0 | 1 => {
                self.value(size);
                self.value(size);
                let op = self
                    .choices
                    .pick(&["build_list 2", "build_tuple 2", "build_set 2"]);
                self.op(op);
            }
            2 => {
                self.leaf();
                self.value(size);
                self.op("build_map 1");
            }
            3 => {
                self.value(size);
                self.value(size);
                self.constant("TupleExact[`('x', 'y')`]");
                self.op("build_const_key_map 2");
            }
            4 => {
                self.op("build_list 0");
                self.value(size);
                self.ops(&["list_append 1", "load_fast t", "list_extend 1"]);
            }
            _ => {
                self.ops(&["build_set 0"]);
                self.leaf();
                self.ops(&["set_add 1", "load_fast t", "set_update 1"]);
            }
        }
    }

    fn text(&mut self, size: usize) {
        match self.choices.below(3) {
            0 => {
                self.value(size);
                let which = ["str", "repr"][self.choices.below(2)];
                self.op(format!("convert_value {which}"));
            }
            1 => {
                self.value(size);
                self.constant("\"5\"");
                self.op("format_with_spec");
            }
            _ => {
                self.constant("\"<\"");
                self.value(size);
                self.ops(&["format_simple", "build_string 2"]);
            }
        }
    }

    /// `[value for v3 in xs]`; if it raises, the local gets its value back.
    fn comprehension(&mut self, size: usize) {
        // As a part of a larger expression the stack depth is not known to a handler, so only
        // separate ones have one.
        let (head, skip, end) = (self.label(), self.label(), self.label());
        let kind = self.choices.below(3);
        let what = self.choices.pick(&["load_fast xs", "load_fast t"]);
        self.ops(&[what, "get_iter", "load_fast_and_clear v3", "swap 2"]);
        self.op(["build_list 0", "build_set 0", "build_map 0"][kind]);
        self.op("swap 2");
        self.bind(&head);
        self.op(format!("for_iter {end}"));
        self.op("store_fast v3");
        if self.choices.below(3) == 0 {
            self.condition(0);
            self.op(format!("pop_jump_if_true {skip}"));
            self.op(format!("jump_backward {head}"));
            self.bind(&skip);
        }
        self.value(size.min(1));
        if kind == 2 {
            self.op("load_fast v3");
        }
        self.op(["list_append 2", "set_add 2", "map_add 2"][kind]);
        self.op(format!("jump_backward {head}"));
        self.bind(&end);
        self.ops(&["swap 2", "store_fast v3"]);
    }
}
