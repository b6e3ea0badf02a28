//! Statements: each leaves the stack as it was.

use super::writer::{COUNTERS, Kind, Loop, VALUES, Writer};

impl Writer<'_, '_> {
    /// The whole body.
    pub fn everything(&mut self, name: &str) {
        match self.kind {
            Kind::Closure => self.op("copy_free_vars 1"),
            _ => self.op("make_cell c"),
        }
        self.op("resume 0");
        if self.kind != Kind::Closure {
            self.literal();
            self.op("store_deref c");
        }
        // All locals but one are bound from the start.
        self.constant("None");
        self.op("store_fast g");
        let function = self.choices.pick(&["h0", "h1"]);
        self.named("load_global", function, "");
        self.op("store_fast k");
        self.constant("1");
        self.op("store_fast n");
        if self.kind != Kind::Method {
            self.constant("None");
            self.op("store_fast o");
        }
        for k in 0..VALUES {
            self.literal();
            self.op(format!("store_fast v{k}"));
        }
        self.constant("0");
        for k in 1..COUNTERS {
            self.ops(&["copy 1", &format!("store_fast i{k}")]);
        }
        self.op("store_fast i0");
        self.constant("1");
        self.op("load_fast a");
        self.constant("2.5");
        self.ops(&["build_list 3", "store_fast xs"]);
        self.ops(&["build_map 0", "store_fast d"]);
        self.constant("TupleExact[`(1, 'z', 2.5)`]");
        self.op("store_fast t");
        if self.choices.below(3) > 0 {
            self.literal();
            self.op("store_fast u");
        }
        if let Kind::Function(_) = self.kind {
            self.ops(&["load_fast c", "build_tuple 1"]);
            self.constant(&format!("Code[{name}.inner]"));
            self.ops(&["make_function", "set_function_attribute closure"]);
            self.op("store_fast g");
        }
        if !self.is_leaf() {
            self.instance();
            self.op("store_fast o");
        }
        if self.kind == Kind::Recursive {
            self.recursion();
        }
        self.block(if self.is_leaf() { 2 } else { 6 });
        self.result();
    }

    /// `if a > 0: v0 = r(a - 1, ...)`
    fn recursion(&mut self) {
        let end = self.label();
        self.op("load_fast a");
        self.constant("0");
        self.op("compare_op >, 1");
        self.op(format!("pop_jump_if_false {end}"));
        self.callee("r");
        self.op("load_fast a");
        self.constant("1");
        self.op("binary_op -");
        self.value(2);
        self.op("call 2");
        // The result grows with the depth, so only a part of it is kept.
        self.ops(&["store_fast v0", "load_fast b"]);
        self.value(1);
        self.ops(&["build_tuple 2", "return_value"]);
        self.bind(&end);
    }

    fn result(&mut self) {
        match self.kind {
            // One value, so that callers may know its type.
            Kind::Method | Kind::Closure => self.value(2),
            Kind::Function(0) => {
                let local = self.local();
                self.op(format!("load_fast {local}"));
            }
            _ => {
                for k in 0..VALUES {
                    self.op(format!("load_fast v{k}"));
                }
                self.ops(&["load_fast xs", "load_fast d", "load_deref c"]);
                self.op(format!("build_tuple {}", VALUES + 3));
            }
        }
        self.op("return_value");
    }

    pub fn block(&mut self, most: usize) {
        for _ in 0..1 + self.choices.below(most) {
            if self.room == 0 {
                return;
            }
            self.room -= 1;
            // Most random statements raise sooner or later: without a handler, few statements after
            // them would run.
            if self.nesting > 0 || self.is_leaf() {
                self.statement();
                continue;
            }
            match self.choices.below(12) {
                0..=7 => self.try_except(1),
                8 => self.again(),
                _ => self.statement(),
            }
        }
    }

    fn assign(&mut self, size: usize) {
        self.value(size);
        let local = self.local();
        self.op(format!("store_fast {local}"));
    }

    fn statement(&mut self) {
        let nested = self.loops.len() < 2 && !self.is_leaf();
        match self.choices.below(42) {
            36 | 37 => {
                let target = self.choices.pick(&["n", "n", "u"]);
                self.number(2);
                self.op(format!("store_fast {target}"));
            }
            38 if nested => {
                // One attribute of instances of several classes.
                self.instance();
                self.instance();
                self.instance();
                self.op("build_tuple 3");
                self.for_loop("o", 2);
            }
            39 => self.class(),
            40 if nested => self.numbers_loop(),
            4 | 5 if nested => self.counted_loop(),
            6 | 7 if nested => self.sequence_loop(),
            8 if nested => self.while_loop(),
            9 | 10 => self.branch(),
            11 | 12 if self.nesting < 2 => self.try_except(3),
            13 if self.nesting < 2 => self.try_finally(),
            14 if self.nesting < 2 && !self.is_leaf() => self.with_block(),
            15 | 16 => self.attributes(),
            17 | 18 => self.names(),
            19..=21 => self.lists(),
            22 => self.dicts(),
            23 => self.unpack(),
            24 => self.unbinding(),
            25 => self.raise(),
            26 => self.leave(),
            27 => {
                self.callee("print");
                self.value(2);
                self.ops(&["call 1", "pop_top"]);
            }
            28 => {
                let end = self.label();
                self.condition(1);
                self.op(format!("pop_jump_if_true {end}"));
                self.ops(&["load_assertion_error", "raise_varargs 1"]);
                self.bind(&end);
            }
            29 => {
                self.value(2);
                self.op("store_deref c");
            }
            30 => self.pattern(),
            31 => {
                // An object that is deallocated here.
                if !self.is_leaf() {
                    self.instance();
                    self.op("store_fast o");
                }
            }
            32 => {
                self.value(2);
                self.op("pop_top");
            }
            33 => {
                let (a, b) = (self.local(), self.local());
                self.ops(&[&format!("load_fast {a}"), &format!("load_fast {b}")]);
                self.ops(&["swap 2", &format!("store_fast {b}")]);
                self.op(format!("store_fast {a}"));
            }
            34 => {
                // Numbers that grow.
                let local = self.local();
                self.op(format!("load_fast {local}"));
                self.leaf();
                self.operator();
                self.op(format!("store_fast {local}"));
            }
            _ => self.assign(3),
        }
    }

    /// Emits the start of a loop around its body. Returns the label after the loop.
    fn enter_loop(&mut self, head: &str, has_iterator: bool) -> String {
        let end = self.label();
        self.depth += usize::from(has_iterator);
        self.loops.push(Loop {
            head: head.to_owned(),
            end: end.clone(),
            has_iterator,
            depth: self.depth,
            nesting: self.nesting,
        });
        end
    }

    fn leave_loop(&mut self, head: &str, end: &str) {
        self.op(format!("jump_backward {head}"));
        self.bind(end);
        let this = self.loops.pop().expect("the loop that was entered");
        self.depth -= usize::from(this.has_iterator);
    }

    fn for_loop(&mut self, target: &str, most: usize) {
        self.op("get_iter");
        let head = self.label();
        let out = self.label();
        self.bind(&head);
        self.op(format!("for_iter {out}"));
        self.op(format!("store_fast {target}"));
        let end = self.enter_loop(&head, true);
        self.block(most);
        self.op(format!("jump_backward {head}"));
        self.bind(&out);
        self.bind(&end);
        self.loops.pop();
        self.depth -= 1;
    }

    fn counted_loop(&mut self) {
        let counter = self.loops.len();
        self.callee("range");
        // Nested loops are short: a run takes the product of their iterations.
        let long = counter == 0 && self.choices.below(4) == 0;
        match self.choices.below(4) {
            0 => {
                self.index();
                self.constant(if long { "40" } else { "6" });
                self.op("call 2");
            }
            1 => {
                self.constant(if long { "60" } else { "9" });
                self.index();
                self.constant("-2");
                self.op("call 3");
            }
            _ => {
                self.constant(if long { "30" } else { "7" });
                self.op("call 1");
            }
        }
        self.for_loop(&format!("i{counter}"), if long { 2 } else { 4 });
    }

    fn sequence_loop(&mut self) {
        match self.choices.below(6) {
            0 => self.op("load_fast t"),
            1 => self.op("load_fast d"),
            2 => self.constant("\"abc\""),
            3 => self.op("load_fast o"),
            4 => {
                self.value(1);
                self.value(1);
                self.value(1);
                self.op("build_tuple 3");
            }
            _ => {
                // A copy: the list itself may grow in the loop.
                self.op("load_fast xs");
                self.constant("0");
                self.constant("7");
                self.op("binary_slice");
            }
        }
        let target = self.local();
        self.for_loop(&target, 3);
    }

    /// A loop of arithmetic.
    fn numbers_loop(&mut self) {
        let counter = self.loops.len();
        self.callee("range");
        self.constant("25");
        self.ops(&["call 1", "get_iter"]);
        let (head, out) = (self.label(), self.label());
        self.bind(&head);
        self.op(format!("for_iter {out}"));
        self.op(format!("store_fast i{counter}"));
        for _ in 0..1 + self.choices.below(2) {
            let target = self.choices.pick(&["n", "n", "u", "v0"]);
            if self.choices.below(3) == 0 {
                let over = self.label();
                self.number(0);
                self.number(0);
                self.op("compare_op <, 1");
                self.op(format!("pop_jump_if_false {over}"));
                self.number(1);
                self.op(format!("store_fast {target}"));
                self.bind(&over);
            } else {
                self.number(2);
                self.op(format!("store_fast {target}"));
            }
        }
        self.op(format!("jump_backward {head}"));
        self.bind(&out);
    }

    /// A class whose body has a loop.
    fn class(&mut self) {
        self.op("load_build_class");
        self.op("push_null");
        self.ops(&["load_fast c", "build_tuple 1"]);
        self.constant("Code[K]");
        self.ops(&["make_function", "set_function_attribute closure"]);
        self.constant("\"K\"");
        self.named("load_global", "A", "");
        self.op("call 3");
        let local = self.local();
        self.op(format!("store_fast {local}"));
    }

    fn while_loop(&mut self) {
        let counter = format!("i{}", self.loops.len());
        let (head, out) = (self.label(), self.label());
        self.constant("0");
        self.op(format!("store_fast {counter}"));
        self.bind(&head);
        self.op(format!("load_fast {counter}"));
        self.constant("11");
        self.op("compare_op <, 1");
        self.op(format!("pop_jump_if_false {out}"));
        if self.choices.below(2) == 0 {
            self.condition(1);
            self.op(format!("pop_jump_if_false {out}"));
        }
        self.op(format!("load_fast {counter}"));
        self.constant("1");
        self.op("binary_op +=");
        self.op(format!("store_fast {counter}"));
        let end = self.enter_loop(&head, false);
        self.block(3);
        self.leave_loop(&head, &end);
        self.bind(&out);
    }

    fn branch(&mut self) {
        let (other, end) = (self.label(), self.label());
        match self.choices.below(4) {
            0 => {
                self.value(1);
                let jump = self
                    .choices
                    .pick(&["pop_jump_if_none", "pop_jump_if_not_none"]);
                self.op(format!("{jump} {other}"));
            }
            1 => {
                self.condition(1);
                self.op(format!("pop_jump_if_true {other}"));
            }
            _ => {
                self.condition(1);
                self.op(format!("pop_jump_if_false {other}"));
            }
        }
        self.block(2);
        self.op(format!("jump {end}"));
        self.bind(&other);
        if self.choices.below(2) == 0 {
            self.block(2);
        }
        self.bind(&end);
    }

    /// `try: ... except X as v: ...`
    fn try_except(&mut self, most: usize) {
        let (end, other) = (self.label(), self.label());
        let depth = self.depth;
        let start = self.here();
        self.nesting += 1;
        match most {
            1 => self.statement(),
            most => self.block(most),
        }
        self.nesting -= 1;
        self.op("nop");
        let stop = self.here();
        self.op(format!("jump {end}"));
        let target = self.here();
        self.op("push_exc_info");
        let class = self
            .choices
            .pick(&["Exception", "Exception", "E", "TypeError", "LookupError"]);
        self.named("load_global", class, "");
        self.op("check_exc_match");
        self.op(format!("pop_jump_if_false {other}"));
        let local = self.local();
        if self.choices.below(2) == 0 {
            // The arguments identify the exception.
            self.named("load_attr", "args", "");
            self.op(format!("store_fast {local}"));
        } else {
            self.op("pop_top");
        }
        let caught = self.here();
        let again = !self.is_handling && self.choices.below(3) == 0;
        if again {
            // The handler has a body, which may raise again.
            self.depth += 1;
            self.nesting += 1;
            let was = std::mem::replace(&mut self.is_handling, true);
            let body = self.here();
            self.block(2);
            self.op("nop");
            let body_end = self.here();
            self.is_handling = was;
            self.nesting -= 1;
            self.depth -= 1;
            let over = self.label();
            self.op("pop_except");
            self.op(format!("jump {over}"));
            let clean = self.here();
            self.ops(&["copy 3", "pop_except", "reraise 1"]);
            self.bind(&over);
            self.handler(body, body_end, clean, depth + 1, true);
        } else {
            self.op("pop_except");
        }
        self.op(format!("jump {end}"));
        self.bind(&other);
        let rest = self.here();
        self.op("reraise 0");
        let clean = self.here();
        self.ops(&["copy 3", "pop_except", "reraise 1"]);
        self.handler(rest, clean, clean, depth + 1, true);
        self.handler(target, caught, clean, depth + 1, true);
        self.handler(start, stop, target, depth, false);
        self.bind(&end);
    }

    fn try_finally(&mut self) {
        let end = self.label();
        let depth = self.depth;
        let start = self.here();
        self.nesting += 1;
        self.block(2);
        self.op("nop");
        let stop = self.here();
        self.assign(1);
        self.op(format!("jump {end}"));
        let target = self.here();
        self.op("push_exc_info");
        self.depth += 2;
        self.assign(1);
        self.depth -= 2;
        self.op("reraise 0");
        let clean = self.here();
        self.ops(&["copy 3", "pop_except", "reraise 1"]);
        self.nesting -= 1;
        self.handler(target, clean, clean, depth + 1, true);
        self.handler(start, stop, target, depth, false);
        self.bind(&end);
    }

    fn with_block(&mut self) {
        let (suppress, end) = (self.label(), self.label());
        let depth = self.depth;
        self.callee("W");
        self.ops(&["call 0", "before_with", "pop_top"]);
        self.depth += 1;
        self.nesting += 1;
        let start = self.here();
        self.block(2);
        self.op("nop");
        let stop = self.here();
        self.nesting -= 1;
        self.depth -= 1;
        for _ in 0..3 {
            self.constant("None");
        }
        self.ops(&["call 2", "pop_top"]);
        self.op(format!("jump {end}"));
        let target = self.here();
        self.ops(&["push_exc_info", "with_except_start", "to_bool"]);
        self.op(format!("pop_jump_if_true {suppress}"));
        self.op("reraise 2");
        self.bind(&suppress);
        self.op("pop_top");
        let clean_from = self.here();
        self.ops(&["pop_except", "pop_top", "pop_top"]);
        self.op(format!("jump {end}"));
        let clean = self.here();
        self.ops(&["copy 3", "pop_except", "reraise 1"]);
        self.handler(target, clean_from, clean, depth + 3, true);
        self.handler(start, stop, target, depth + 1, true);
        self.bind(&end);
    }

    /// Raises, if a condition is true.
    fn raise(&mut self) {
        let end = self.label();
        self.condition(1);
        self.op(format!("pop_jump_if_false {end}"));
        match self.choices.below(4) {
            0 if self.is_handling => self.op("raise_varargs 0"),
            1 => {
                let class = self.choices.pick(&["KeyError", "ValueError"]);
                self.named("load_global", class, "");
                self.op("raise_varargs 1");
            }
            _ => {
                self.callee("E");
                self.value(1);
                self.ops(&["call 1", "raise_varargs 1"]);
            }
        }
        self.bind(&end);
    }

    /// `break`, `continue` or `return`, if a condition is true.
    fn leave(&mut self) {
        let end = self.label();
        self.condition(1);
        self.op(format!("pop_jump_if_false {end}"));
        let inner = self.loops.last().cloned();
        match inner {
            // Out of a handler or a `with` block, more would have to be undone.
            Some(inner) if inner.nesting == self.nesting && inner.depth == self.depth => {
                if self.choices.below(2) == 0 {
                    self.op(format!("jump_backward {}", inner.head));
                } else {
                    if inner.has_iterator {
                        self.op("pop_top");
                    }
                    self.op(format!("jump {}", inner.end));
                }
            }
            None if self.nesting == 0 && !self.is_handling => {
                self.value(1);
                self.op("return_value");
            }
            _ => self.assign(1),
        }
        self.bind(&end);
    }

    /// Parts of `match` statements.
    fn pattern(&mut self) {
        let end = self.label();
        match self.choices.below(4) {
            0 => {
                self.value(1);
                let op = self.choices.pick(&["match_sequence", "match_mapping"]);
                self.op(op);
                self.op(format!("pop_jump_if_false {end}"));
                self.op("get_len");
                self.op("store_fast v1");
                self.bind(&end);
                self.op("pop_top");
            }
            1 => {
                self.op("load_fast o");
                self.named("load_global", "A", "");
                self.constant("TupleExact[`('x', 'y')`]");
                self.ops(&["match_class 0", "store_fast v2"]);
            }
            2 => {
                self.op("load_fast d");
                self.constant("TupleExact[`('x', 'y')`]");
                self.ops(&["match_keys", "store_fast v2", "pop_top", "pop_top"]);
            }
            _ => {
                self.value(1);
                self.constant("TupleExact[`(1, 'z', 2.5)`]");
                let not = self.choices.below(2);
                self.op(format!("contains_op {not}"));
                self.op("store_fast v1");
            }
        }
    }
}
