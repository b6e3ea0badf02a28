//! Statements that change objects, names and locals.

use super::writer::{Kind, Writer};

impl Writer<'_, '_> {
    pub fn attributes(&mut self) {
        let name = self.choices.pick(&["x", "y", "x", "z"]);
        match self.choices.below(6) {
            0 => {
                self.op("load_fast o");
                self.named("delete_attr", name, "");
            }
            1 | 2 => {
                // `o.x += value`
                self.ops(&["load_fast o", "copy 1"]);
                self.named("load_attr", name, "");
                self.value(1);
                self.operator();
                self.op("swap 2");
                self.named("store_attr", name, "");
            }
            3 if !self.is_leaf() => {
                self.value(2);
                self.instance();
                self.named("store_attr", name, "");
            }
            _ => {
                self.value(2);
                self.op("load_fast o");
                self.named("store_attr", name, "");
            }
        }
    }

    /// Changes of assumptions of compiled code: globals and classes.
    pub fn names(&mut self) {
        match self.choices.below(8) {
            0 | 1 => {
                self.value(1);
                self.named("store_global", "G", "");
            }
            2 => {
                self.value(1);
                let class = self.choices.pick(&["A", "B"]);
                self.named("load_global", class, "");
                self.named("store_attr", "limit", "");
            }
            3 => {
                // Another function of the same name.
                let function = self.choices.pick(&["h0", "h1", "h2"]);
                self.named("load_global", function, "");
                self.named("store_global", "h", "");
            }
            4 => {
                let function = self.choices.pick(&["h0", "h1", "h2"]);
                self.named("load_global", function, "");
                let class = self.choices.pick(&["A", "C"]);
                self.named("load_global", class, "");
                self.named("store_attr", "m", "");
            }
            5 => {
                // A method that hides an inherited one, or its removal.
                let class = self.choices.pick(&["B", "D"]);
                self.named("load_global", class, "");
                self.named("delete_attr", "m", "");
            }
            6 => {
                self.value(1);
                self.named("store_global", "T", "");
                self.named("delete_global", "T", "");
            }
            _ => {
                self.callee("change");
                self.value(1);
                self.value(1);
                self.ops(&["call 2", "pop_top"]);
            }
        }
    }

    /// Memory that is read, changed, and read again, with nothing between: the compiler must forget
    /// facts about it. Within a `try`, each step would be a block of its own.
    pub fn again(&mut self) {
        let is_list = self.choices.below(4) > 0;
        let what = if is_list {
            self.choices.pick(&["len", "-1", "0"])
        } else {
            self.choices.pick(&["x", "y"])
        };
        self.read(is_list, what);
        if is_list {
            self.change_list()
        } else {
            self.change_instance()
        }
        self.read(is_list, what);
        let local = self.local();
        self.ops(&["build_tuple 2", &format!("store_fast {local}")]);
    }

    fn read(&mut self, is_list: bool, what: &'static str) {
        if !is_list {
            self.op("load_fast o");
            return self.named("load_attr", what, "");
        }
        if what == "len" {
            self.callee("len");
            return self.ops(&["load_fast xs", "call 1"]);
        }
        self.op("load_fast xs");
        self.constant(what);
        self.op("binary_subscr");
    }

    fn change_list(&mut self) {
        self.op("load_fast xs");
        match self.choices.below(5) {
            0..=2 => {
                self.method("append");
                self.leaf();
                self.ops(&["call 1", "pop_top"]);
            }
            3 => {
                self.method("pop");
                self.ops(&["call 0", "pop_top"]);
            }
            _ => {
                self.constant("0");
                self.op("delete_subscr");
            }
        }
    }

    /// Changes the order of attributes, and with it their places.
    fn change_instance(&mut self) {
        let name = self.choices.pick(&["x", "y"]);
        self.op("load_fast o");
        self.named("delete_attr", name, "");
        if self.choices.below(8) > 0 {
            self.leaf();
            self.op("load_fast o");
            self.named("store_attr", name, "");
        }
    }

    pub fn lists(&mut self) {
        match self.choices.below(10) {
            0 | 1 => {
                self.op("load_fast xs");
                self.method("append");
                self.value(2);
                self.ops(&["call 1", "pop_top"]);
            }
            2 | 3 => {
                self.value(2);
                self.op("load_fast xs");
                self.index();
                self.op("store_subscr");
            }
            4 => {
                // `xs[i] += value`
                self.op("load_fast xs");
                self.index();
                self.ops(&["copy 2", "copy 2", "binary_subscr"]);
                self.value(1);
                self.operator();
                self.ops(&["swap 3", "swap 2", "store_subscr"]);
            }
            5 => {
                self.op("load_fast xs");
                self.index();
                self.op("delete_subscr");
            }
            6 => {
                self.op("load_fast xs");
                self.method("pop");
                self.ops(&["call 0", "pop_top"]);
            }
            7 => {
                self.op("load_fast t");
                self.op("load_fast xs");
                self.index();
                self.index();
                self.op("store_slice");
            }
            _ => {
                self.value(1);
                self.value(1);
                self.value(1);
                self.ops(&["build_list 3", "store_fast xs"]);
            }
        }
    }

    pub fn dicts(&mut self) {
        match self.choices.below(5) {
            0 => {
                self.op("load_fast d");
                self.value(1);
                self.op("delete_subscr");
            }
            1 => {
                self.op("load_fast d");
                self.method("get");
                self.value(1);
                self.ops(&["call 1", "pop_top"]);
            }
            2 => {
                self.ops(&["build_map 0", "load_fast d", "dict_update 1"]);
                self.op("store_fast d");
            }
            _ => {
                self.value(2);
                self.op("load_fast d");
                self.leaf();
                self.op("store_subscr");
            }
        }
    }

    pub fn unpack(&mut self) {
        match self.choices.below(5) {
            0 => self.op("load_fast xs"),
            1 => self.op("load_fast t"),
            2 => self.value(1),
            3 => {
                for _ in 0..3 {
                    self.value(1);
                }
                self.op("build_list 3");
            }
            _ => {
                for _ in 0..3 {
                    self.value(1);
                }
                self.op("build_tuple 3");
            }
        }
        if self.choices.below(3) == 0 {
            // One before the starred one, one after it.
            self.op("unpack_ex 257");
        } else {
            self.op("unpack_sequence 3");
        }
        for _ in 0..3 {
            let local = self.local();
            self.op(format!("store_fast {local}"));
        }
    }

    pub fn unbinding(&mut self) {
        match self.choices.below(4) {
            0 => self.op("delete_fast u"),
            1 if self.kind != Kind::Closure => {
                self.op("delete_deref c");
                self.value(1);
                self.op("store_deref c");
            }
            2 => {
                self.ops(&["load_fast_and_clear u", "store_fast u"]);
            }
            _ => {
                self.value(1);
                self.op("store_fast u");
            }
        }
    }
}
