//! Scripts: each line changes a program or makes a query.

use super::super::answer::{Answer, Budget};
use super::super::graph::{Binding, Graph, Node, Variable};
use super::super::program::{Limits, Program};
use super::super::reach::Reachability;
use super::super::search::View;
use super::super::walk::Walker;
use super::cursor::Cursor;
use super::dot;
use super::explain::Speaker;
use super::label::Labels;
use super::lex::{ScriptError, ScriptFault, Token};
use super::print::{print, print_variable};
use std::collections::HashMap;

/// Options for running a script.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ScriptOptions {
    /// Give a reason with each answer.
    pub why: bool,
}

/// The answer to a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// The line's number, from 1.
    pub line: usize,
    /// The question, as it is written.
    pub question: String,
    /// The lines of the answer.
    pub answer: Vec<String>,
}

/// The result of a script.
pub struct Outcome {
    /// The program at the end; the last one if there are several.
    pub program: Program<String>,
    /// The answers, in order.
    pub replies: Vec<Reply>,
}

/// Runs a script.
///
/// # Errors
/// A line that can't be read or run. The results of earlier lines are lost.
pub fn run(text: &str, options: ScriptOptions) -> Result<Outcome, ScriptError> {
    let mut script = Script::new(options.why);
    let mut replies = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let mut cursor = Cursor::of(line, i + 1)?;
        let answer = script.statement(&mut cursor)?;
        if let Some(answer) = answer {
            replies.push(Reply {
                line: i + 1,
                question: without_comment(line),
                answer,
            });
        }
    }
    let program = script.program;
    Ok(Outcome { program, replies })
}

/// Runs a script and compares the answers with the expected ones in it: below each question, in
/// lines that begin with `#=`. A script whose only answer is below a line `#! error` must fail with
/// that error. Returns the script with the right answers, their number, and the questions whose
/// answers differ from the expected ones.
pub fn check(text: &str) -> (String, usize, Vec<(String, String, String)>) {
    let outcome = run(text, ScriptOptions::default());
    let lines: Vec<&str> = text.lines().collect();
    let mut replies: HashMap<usize, Reply> = HashMap::new();
    match outcome {
        Ok(outcome) => replies.extend(outcome.replies.into_iter().map(|r| (r.line, r))),
        Err(error) => {
            let Some(at) = lines.iter().position(|line| line.trim() == "#! error") else {
                let fault = ("the script".to_owned(), String::new(), error.to_string());
                return (text.to_owned(), 0, vec![fault]);
            };
            let reply = Reply {
                line: at + 1,
                question: "error".to_owned(),
                answer: vec![error.to_string()],
            };
            replies.insert(at + 1, reply);
        }
    }
    let (mut new, mut faults) = (String::new(), Vec::new());
    let count = replies.len();
    let mut i = 0;
    while i < lines.len() {
        new += lines[i];
        new.push('\n');
        i += 1;
        let mut expected = Vec::new();
        let reply = replies.get(&i);
        while let Some(answer) = lines.get(i).and_then(|line| line.strip_prefix("#=")) {
            expected.push(answer.strip_prefix(' ').unwrap_or(answer).to_owned());
            i += 1;
        }
        let answer = reply.map_or(&[][..], |reply| &reply.answer);
        if answer != expected {
            let question = reply.map_or("no question", |reply| &reply.question);
            faults.push((question.to_owned(), expected.join("\n"), answer.join("\n")));
        }
        for line in answer {
            new += format!("#= {line}").trim_end();
            new.push('\n');
        }
    }
    (new, count, faults)
}

fn without_comment(line: &str) -> String {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let end = line.find(|c| {
        let is_end = c == '#' && !is_quoted;
        is_quoted ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    });
    line[..end.unwrap_or(line.len())].trim().to_owned()
}

/// A running script.
struct Script {
    program: Program<String>,
    nodes: HashMap<String, Node>,
    variables: HashMap<String, Variable>,
    why: bool,
}

/// The answer, for a line that makes a query.
type LineAnswer = Result<Option<Vec<String>>, ScriptError>;

impl Script {
    fn new(why: bool) -> Script {
        Script {
            program: Program::new("any".to_owned()),
            nodes: HashMap::new(),
            variables: HashMap::new(),
            why,
        }
    }

    fn statement(&mut self, c: &mut Cursor) -> LineAnswer {
        let Token::Word(first) = c.peek().clone() else {
            c.end()
                .or_else(|_| c.expected("a statement or a question"))?;
            return Ok(None);
        };
        let said = match (first.as_str(), c.ahead(1)) {
            (_, Token::Punct('=')) => self.binding_line(c)?,
            (_, Token::Punct('?')) => Some(self.question(c, self.why)?),
            (word, _) => {
                let Some(does) = self.keyword(word) else {
                    return c.expected("a statement or a question");
                };
                c.next();
                does(self, c)?
            }
        };
        c.end()?;
        Ok(said)
    }

    fn keyword(&self, word: &str) -> Option<fn(&mut Script, &mut Cursor) -> LineAnswer> {
        Some(match word {
            "program" => Script::program_line,
            "node" => Script::node_line,
            "variable" => Script::variable_line,
            "condition" => Script::condition_line,
            "entry" => Script::entry_line,
            "default" => Script::default_line,
            "limit" => Script::limit_line,
            "budget" => Script::budget_line,
            "paste" => Script::paste_line,
            "assign" => Script::assign_line,
            "why" => |script, c| script.question(c, true).map(Some),
            "can" => Script::can,
            "reach" => Script::reach,
            "source" => Script::source,
            "path" => Script::path,
            "filter" => Script::filter,
            "prune" => Script::prune,
            "views" => Script::views,
            "show" => Script::show,
            "metrics" => Script::metrics,
            "dot" => |script, _| Ok(Some(lines(&dot::dot(&script.program)))),
            _ => return None,
        })
    }

    // Lines that build.

    /// `program`, `program "its name"`: begins a new program.
    fn program_line(&mut self, c: &mut Cursor) -> LineAnswer {
        if *c.peek() != Token::End {
            c.word("a name")?;
        }
        *self = Script::new(self.why);
        Ok(None)
    }

    /// `node n1 -> n2, n3`
    fn node_line(&mut self, c: &mut Cursor) -> LineAnswer {
        let (name, _) = c.word("the name of a node")?;
        let from = self.declare(name);
        if c.take_arrow() {
            loop {
                let (name, _) = c.word("the name of a node")?;
                let to = self.declare(name);
                self.program.connect(from, to);
                if !c.take(',') {
                    break;
                }
            }
        }
        Ok(None)
    }

    fn declare(&mut self, name: String) -> Node {
        let program = &mut self.program;
        let new = |name: &String| program.node(name.clone());
        *self.nodes.entry(name).or_insert_with_key(new)
    }

    /// `x = 1`, `x = 1 @ n1`, `x = 1 @ n1 {y=2} | {z=3}`, `x = 1 @ n1 never`
    fn binding_line(&mut self, c: &mut Cursor) -> LineAnswer {
        let (name, _) = c.word("the name of a variable")?;
        c.expect('=', "`=`")?;
        let (data, _) = c.word("a value")?;
        let place = if c.take('@') {
            let node = self.node(c)?;
            let mut sets = Vec::new();
            let is_never = c.take_word("never");
            while !is_never && *c.peek() == Token::Punct('{') {
                sets.push(self.set(c)?);
                if !c.take('|') {
                    break;
                }
                if *c.peek() != Token::Punct('{') {
                    return c.expected("`{`");
                }
            }
            if !is_never && sets.is_empty() {
                sets.push(Vec::new());
            }
            Some((node, sets))
        } else {
            None
        };
        c.end()?;
        let variable = self.declare_variable(name);
        let binding = self.program.bind(variable, data);
        if let Some((node, sets)) = place {
            self.program.add_empty_origin(binding, node);
            for set in sets {
                self.program.add_origin(binding, node, &set);
            }
        }
        Ok(None)
    }

    /// `variable x`
    fn variable_line(&mut self, c: &mut Cursor) -> LineAnswer {
        let (name, _) = c.word("the name of a variable")?;
        self.declare_variable(name);
        Ok(None)
    }

    fn declare_variable(&mut self, name: String) -> Variable {
        let program = &mut self.program;
        let new = |name: &String| program.variable(name.clone());
        *self.variables.entry(name).or_insert_with_key(new)
    }

    /// `condition n3: c=True`, `condition n3: none`
    fn condition_line(&mut self, c: &mut Cursor) -> LineAnswer {
        let node = self.node(c)?;
        c.expect(':', "`:`")?;
        let is_binding = *c.ahead(1) == Token::Punct('=');
        let condition = if !is_binding && c.take_word("none") {
            None
        } else {
            Some(self.binding(c)?)
        };
        c.end()?;
        self.program.set_condition(node, condition);
        Ok(None)
    }

    fn entry_line(&mut self, c: &mut Cursor) -> LineAnswer {
        let node = self.node(c)?;
        self.program.set_entry(node);
        Ok(None)
    }

    fn default_line(&mut self, c: &mut Cursor) -> LineAnswer {
        let (data, _) = c.word("a value")?;
        self.program.set_default_data(data);
        Ok(None)
    }

    /// `limit bindings 64`, `limit combinations 1024`
    fn limit_line(&mut self, c: &mut Cursor) -> LineAnswer {
        let mut limits: Limits = self.program.limits();
        let limit = if c.take_word("bindings") {
            &mut limits.bindings
        } else if c.take_word("combinations") {
            &mut limits.combinations
        } else {
            return c.expected("`bindings` or `combinations`");
        };
        *limit = c.number()? as usize;
        self.program.set_limits(limits);
        Ok(None)
    }

    /// `budget states 100`, `budget unlimited`
    fn budget_line(&mut self, c: &mut Cursor) -> LineAnswer {
        let mut budget = self.program.budget();
        if c.take_word("unlimited") {
            budget = Budget::UNLIMITED;
        } else if c.take_word("steps") {
            budget.steps = c.number()?;
        } else {
            let part = if c.take_word("nodes") {
                &mut budget.nodes
            } else if c.take_word("states") {
                &mut budget.states
            } else if c.take_word("results") {
                &mut budget.results
            } else if c.take_word("goals") {
                &mut budget.goals
            } else {
                return c.expected("`nodes`, `states`, `results`, `goals`, `steps` or `unlimited`");
            };
            *part = c.number()? as usize;
        }
        self.program.set_budget(budget);
        Ok(None)
    }

    /// `paste y = x @ n2 {z=1}`, `paste y = x=1 as 2`
    fn paste_line(&mut self, c: &mut Cursor) -> LineAnswer {
        let (name, _) = c.word("the name of a variable")?;
        c.expect('=', "`=`")?;
        let (from, is_whole) = self.values(c)?;
        if !is_whole && c.take_word("as") {
            let (data, _) = c.word("a value")?;
            c.end()?;
            let variable = self.declare_variable(name);
            for binding in from {
                self.program
                    .paste_with_data(variable, binding, data.clone());
            }
            return Ok(None);
        }
        let node = self.place(c)?;
        let extra = match c.peek() {
            Token::Punct('{') => self.set(c)?,
            _ => Vec::new(),
        };
        c.end()?;
        let variable = self.declare_variable(name);
        for binding in from {
            self.program.paste_binding(variable, binding, node, &extra);
        }
        Ok(None)
    }

    /// `assign y = x @ n2`
    fn assign_line(&mut self, c: &mut Cursor) -> LineAnswer {
        let (name, _) = c.word("the name of a variable")?;
        c.expect('=', "`=`")?;
        let (from, _) = self.values(c)?;
        let node = self.place(c)?;
        c.end()?;
        let variable = self.program.assign(name.clone(), &from, node);
        self.variables.insert(name, variable);
        Ok(None)
    }

    // Lines that query.

    /// `n5? {x=1, y=2}`
    fn question(&mut self, c: &mut Cursor, why: bool) -> Result<Vec<String>, ScriptError> {
        let node = self.node(c)?;
        c.expect('?', "`?`")?;
        let goals = self.set(c)?;
        let answer = self.program.ask(node, &goals);
        let mut said = vec![answer.to_string()];
        let reasons = match answer {
            _ if !why => Vec::new(),
            Answer::Feasible => {
                let witness = self.program.witness(node, &goals).1.unwrap_or_default();
                Speaker::of(&self.program).witness(&witness)
            }
            Answer::Infeasible => match self.program.refutation(node, &goals).1 {
                Some(refutation) => Speaker::of(&self.program).refutation(&refutation),
                None => Vec::new(),
            },
            Answer::Unknown(_) => Vec::new(),
        };
        said.extend(reasons.iter().map(|line| format!("  {line}")));
        Ok(said)
    }

    /// `can n5? {x=1}`
    fn can(&mut self, c: &mut Cursor) -> LineAnswer {
        let node = self.node(c)?;
        c.expect('?', "`?`")?;
        let goals = self.set(c)?;
        Ok(yes_no(self.program.can_have_combination(node, &goals)))
    }

    /// `reach n1 -> n5`
    fn reach(&mut self, c: &mut Cursor) -> LineAnswer {
        let (from, to) = self.ends(c)?;
        Ok(yes_no(self.program.is_reachable(from, to)))
    }

    /// `source x=1 of y=2`
    fn source(&mut self, c: &mut Cursor) -> LineAnswer {
        let source = self.binding(c)?;
        if !c.take_word("of") {
            return c.expected("`of`");
        }
        let binding = self.binding(c)?;
        Ok(yes_no(self.program.has_source(binding, source)))
    }

    /// `path n1 -> n8`, `path n1 -> n8 avoiding n4`
    fn path(&mut self, c: &mut Cursor) -> LineAnswer {
        let (to, from) = self.ends(c)?;
        let mut blocked = Vec::new();
        if c.take_word("avoiding") {
            blocked.push(self.node(c)?);
            while c.take(',') {
                blocked.push(self.node(c)?);
            }
        }
        self.program.is_reachable(to, from);
        let labels = Labels::of(&self.program);
        let graph: &Graph = &self.program;
        // A path without goals does not use reachability.
        let reach = &Reachability::new();
        let way = Walker::default().way(View { graph, reach }, from, to, &blocked);
        let list = |nodes: &[Node]| {
            let names: Vec<&str> = nodes.iter().map(|&node| labels.node(node)).collect();
            names.join(", ")
        };
        Ok(Some(match way {
            None => vec!["none".to_owned()],
            Some((way, conditioned)) => {
                let mut said = vec![list(&way)];
                if !conditioned.is_empty() {
                    said.push(format!("conditions on every path: {}", list(&conditioned)));
                }
                said
            }
        }))
    }

    /// `filter x @ n5`, `filter x @ n5 loosely`
    fn filter(&mut self, c: &mut Cursor) -> LineAnswer {
        let variable = self.variable(c)?;
        c.expect('@', "`@`")?;
        let node = self.node(c)?;
        let is_strict = !c.take_word("loosely");
        let found = self.program.filter(variable, node, is_strict);
        Ok(Some(vec![self.list(&found)]))
    }

    /// `prune x`, `prune x @ n5`
    fn prune(&mut self, c: &mut Cursor) -> LineAnswer {
        let variable = self.variable(c)?;
        let node = self.place(c)?;
        let found = self.program.prune(variable, node);
        Ok(Some(vec![self.list(&found)]))
    }

    /// `views x, y @ n5`
    fn views(&mut self, c: &mut Cursor) -> LineAnswer {
        let mut variables = vec![self.variable(c)?];
        while c.take(',') {
            variables.push(self.variable(c)?);
        }
        c.expect('@', "`@`")?;
        let node = self.node(c)?;
        c.end()?;
        let views = self.program.views(&variables, node);
        Ok(Some(views.iter().map(|view| self.list(view)).collect()))
    }

    /// `show`, `show x`
    fn show(&mut self, c: &mut Cursor) -> LineAnswer {
        Ok(Some(lines(&match c.peek() {
            Token::End => print(&self.program),
            _ => print_variable(&self.program, self.variable(c)?),
        })))
    }

    /// `metrics`, `metrics last`
    fn metrics(&mut self, c: &mut Cursor) -> LineAnswer {
        let metrics = self.program.metrics();
        if !c.take_word("last") {
            return Ok(Some(lines(&metrics.to_string())));
        }
        let cache = metrics.solvers.last().map(|solver| {
            let cache = solver.cache;
            let figures = [cache.size, cache.hits, cache.misses];
            let [size, hits, misses] = figures;
            format!("cache size {size}, hits {hits}, misses {misses}")
        });
        let queries = metrics.solvers.iter().flat_map(|solver| &solver.queries);
        let last = queries.last().map(ToString::to_string);
        Ok(Some(last.into_iter().chain(cache).collect()))
    }

    // Parts of lines.

    fn node(&self, c: &mut Cursor) -> Result<Node, ScriptError> {
        let (name, column) = c.word("the name of a node")?;
        let found = self.nodes.get(&name).copied();
        found.ok_or_else(|| c.error(column, ScriptFault::UnknownNode(name)))
    }

    fn variable(&self, c: &mut Cursor) -> Result<Variable, ScriptError> {
        let (name, column) = c.word("the name of a variable")?;
        let found = self.variables.get(&name).copied();
        found.ok_or_else(|| c.error(column, ScriptFault::UnknownVariable(name)))
    }

    fn binding(&self, c: &mut Cursor) -> Result<Binding, ScriptError> {
        let column = c.column();
        let variable = self.variable(c)?;
        c.expect('=', "`=`")?;
        let (data, _) = c.word("a value")?;
        self.program.find(variable, &data).ok_or_else(|| {
            let name = self.program.variable_name(variable);
            c.error(
                column,
                ScriptFault::UnknownBinding(format!("{name}={data}")),
            )
        })
    }

    /// A variable's bindings, or one binding; true for a whole variable.
    fn values(&self, c: &mut Cursor) -> Result<(Vec<Binding>, bool), ScriptError> {
        if *c.ahead(1) == Token::Punct('=') {
            return Ok((vec![self.binding(c)?], false));
        }
        let variable = self.variable(c)?;
        Ok((self.program.bindings_of(variable).to_vec(), true))
    }

    /// `{x=1, y=2}`
    fn set(&self, c: &mut Cursor) -> Result<Vec<Binding>, ScriptError> {
        c.expect('{', "`{`")?;
        let mut bindings = Vec::new();
        while *c.peek() != Token::Punct('}') {
            bindings.push(self.binding(c)?);
            if !c.take(',') {
                break;
            }
        }
        c.expect('}', "`,` or `}`")?;
        Ok(bindings)
    }

    /// `@ n2`, or nothing.
    fn place(&self, c: &mut Cursor) -> Result<Option<Node>, ScriptError> {
        c.take('@').then(|| self.node(c)).transpose()
    }

    /// `n1 -> n2`
    fn ends(&self, c: &mut Cursor) -> Result<(Node, Node), ScriptError> {
        let from = self.node(c)?;
        if !c.take_arrow() {
            return c.expected("`->`");
        }
        Ok((from, self.node(c)?))
    }

    fn list(&self, bindings: &[Binding]) -> String {
        Labels::of(&self.program).set(&self.program, bindings)
    }
}

fn yes_no(is_so: bool) -> Option<Vec<String>> {
    Some(vec![if is_so { "yes" } else { "no" }.to_owned()])
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}
