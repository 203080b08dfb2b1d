//! One text for all sources that mean the same but for how they are written.

use super::check::{Build, MAX_NODES};
use super::node::{Id, Node, Slot};
use super::text;
use super::value::Value;

/// How many nodes are written, of which those that stand in two places are written twice.
const MAX_WRITTEN: usize = 4 * MAX_NODES;

/// The text, or nothing where it would be too long.
pub(super) fn write(build: &Build<'_>, whole: Id) -> Option<String> {
    let mut writer = Writer {
        build,
        out: String::new(),
        n_written: 0,
    };
    writer.node(whole);
    (writer.n_written <= MAX_WRITTEN).then_some(writer.out)
}

struct Writer<'b> {
    build: &'b Build<'b>,
    out: String,
    n_written: usize,
}

impl Writer<'_> {
    /// Writes a node as a list that begins with what it does.
    fn list(&mut self, head: &str, all: &[Id]) {
        self.out.push('(');
        self.out.push_str(head);
        for id in all {
            self.out.push(' ');
            self.node(*id);
        }
        self.out.push(')');
    }

    fn node(&mut self, id: Id) {
        let Some(node) = self.build.nodes.get(id) else {
            return;
        };
        self.n_written += 1;
        if self.n_written > MAX_WRITTEN {
            return;
        }
        let mut children = Vec::new();
        node.children(&mut |child| children.push(child));
        match node {
            Node::Accumulator => self.out.push_str("#acc"),
            Node::Index => self.out.push_str("#index"),
            Node::Item => self.out.push('#'),
            Node::Environment => self.out.push_str("$env"),
            Node::Root(root) => self.root(*root),
            Node::Column(slot) => self.slot(*slot),
            Node::Constant(value) => self.constant(value),
            Node::Variable(slot) => self.numbered("let", *slot),
            Node::Test(slot, operator, constant) => {
                self.out.push('(');
                self.out.push_str(operator.as_str());
                self.out.push(' ');
                self.slot(*slot);
                self.out.push(' ');
                self.constant(constant);
                self.out.push(')');
            }
            Node::Matches(of, pattern) => {
                self.out.push_str("(matches ");
                self.node(*of);
                self.out.push(' ');
                text::string(pattern.as_str(), &mut self.out);
                self.out.push(')');
            }
            Node::And(_) => self.list("and", &children),
            Node::Array(_) => self.list("array", &children),
            Node::Binary(operator, ..) => self.list(operator.as_str(), &children),
            Node::Call(function, _) => {
                let known = super::function::FUNCTIONS
                    .iter()
                    .find(|(known, ..)| known == function);
                self.list(known.map_or("", |(_, name, ..)| name), &children);
            }
            Node::Chain(_) => self.list("chain", &children),
            Node::Coalesce(..) => self.list("??", &children),
            Node::If(..) => self.list("if", &children),
            Node::Let(slot, ..) => {
                self.numbered("let", *slot);
                self.list("", &children);
            }
            Node::Map(_) => self.list("map", &children),
            Node::Member { is_optional, .. } => {
                self.list(if *is_optional { "?." } else { "." }, &children);
            }
            Node::Method(_, name, _) => self.list(&[".", name].concat(), &children),
            Node::Negate(_) => self.list("negate", &children),
            Node::Not(_) => self.list("not", &children),
            Node::Or(_) => self.list("or", &children),
            Node::Sequence(_) => self.list(";", &children),
            Node::Slice(_, from, _) => {
                self.list(if from.is_some() { "slice" } else { "slice-to" }, &children);
            }
        }
    }

    fn numbered(&mut self, word: &str, number: usize) {
        self.out.push_str(word);
        self.out.push_str(&number.to_string());
    }

    fn root(&mut self, root: usize) {
        let roots = &self.build.schema.roots;
        text::string(roots.get(root).map_or("", |(name, _)| name), &mut self.out);
    }

    fn slot(&mut self, slot: Slot) {
        self.root(slot.root);
        self.out.push_str(if slot.is_optional { "?." } else { "." });
        let relation = self.build.schema.relation(slot.root);
        let column = relation.and_then(|relation| relation.columns.get(slot.column));
        text::string(column.map_or("", |column| &column.name), &mut self.out);
    }

    fn constant(&mut self, value: &Value) {
        match value {
            Value::Text(text) => text::string(text, &mut self.out),
            Value::Array(array) => {
                self.out.push('[');
                for item in &array.items {
                    self.constant(item);
                    self.out.push(' ');
                }
                self.out.push(']');
            }
            Value::Float(number) => {
                self.out.push_str(zmij::Buffer::new().format(*number));
            }
            _ => {
                let mut limits = super::Limits::default();
                // A scalar is printed within any limits.
                if text::print(value, &mut self.out, &mut limits).is_err() {
                    self.out.push('?');
                }
            }
        }
    }
}
