// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Represents the values of expressions in embedded code, as far as they are known without running it.

use super::CallArgument;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum ValueKind {
    #[default]
    Unknown,
    Text,
    Number,
    /// A path object: `pathlib.Path`.
    Path,
    /// A module, function or object by its full name: `os.system`, `socket.socket()`.
    Name,
    /// All values in `items`.
    List,
    /// One of the values in `items`.
    Either,
    /// Values with keys.
    Map,
    /// A member of the value in `items`.
    Member,
}

/// The origin of a value.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueOrigin {
    #[default]
    Here,
    /// Content of the file in `items`.
    File,
    Input,
    Network,
}

/// A value, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct CodeValue {
    pub(super) kind: ValueKind,
    /// Text with `*` for each unknown part.
    pub(super) shape: String,
    pub(super) known: bool,
    /// Whether the text is a pattern for files.
    pub(super) pattern: bool,
    /// Whether the value includes everything below the path.
    pub(super) covers_tree: bool,
    pub(super) items: Vec<CodeValue>,
    /// Keys of `items` in a map.
    pub(super) keys: Vec<String>,
    pub(super) from: ValueOrigin,
}

/// Maximum length of a value. Longer values are cut and become unknown.
const MAX_VALUE_BYTES: usize = 16 * 1024;
/// Maximum number of alternatives of a value.
pub(super) const MAX_CHOICES: usize = 16;

// === impl CodeValue ===

impl CodeValue {
    pub(super) fn unknown() -> Self {
        Self::default()
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { kind: ValueKind::Text, shape: text.into(), known: true, ..Self::default() }
    }

    pub(super) fn name(text: impl Into<String>) -> Self {
        Self { kind: ValueKind::Name, shape: text.into(), ..Self::default() }
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        let from = items.iter().map(|item| item.from).max().unwrap_or_default();
        Self { kind: ValueKind::List, items, from, ..Self::default() }
    }

    pub(super) fn from(from: ValueOrigin) -> Self {
        Self { from, ..Self::default() }
    }

    /// Creates a value that is one of two values.
    pub(super) fn or(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        let from = self.from.max(other.from);
        let mut items = if self.kind == ValueKind::Either { self.items } else { vec![self] };
        if other.kind == ValueKind::Either {
            items.extend(other.items);
        } else {
            items.push(other);
        }
        if items.len() > MAX_CHOICES {
            return Self::from(from);
        }
        Self { kind: ValueKind::Either, items, from, ..Self::default() }
    }

    /// Creates a value that represents any element.
    pub(super) fn element(&self) -> Self {
        match (self.kind, self.items.as_slice()) {
            (ValueKind::List, []) => Self::from(self.from),
            (ValueKind::List | ValueKind::Either, [one]) => one.clone(),
            (ValueKind::List, items) if items.len() <= MAX_CHOICES => {
                Self { kind: ValueKind::Either, items: items.to_vec(), from: self.from, ..Self::default() }
            }
            (ValueKind::Either, items) => {
                items.iter().map(Self::element).reduce(Self::or).unwrap_or_default()
            }
            _ => Self::from(self.from),
        }
    }

    /// Whether the value is text, a number or a path.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, ValueKind::Text | ValueKind::Number | ValueKind::Path)
    }

    /// Returns the text, if all of it is known.
    pub(super) fn known_text(&self) -> Option<&str> {
        (self.is_text() && self.known && !self.pattern).then_some(self.shape.as_str())
    }

    pub(super) fn is_true(&self) -> bool {
        match self.kind {
            ValueKind::Name => {
                !matches!(self.shape.as_str(), "False" | "false" | "None" | "null" | "nil" | "undefined")
            }
            ValueKind::Number => self.shape != "0",
            _ => true,
        }
    }

    pub(super) fn key(&self, key: &str) -> Option<&Self> {
        self.keys.iter().position(|own| own == key).and_then(|at| self.items.get(at))
    }

    /// Converts the value to another kind of text.
    pub(super) fn with_kind(self, kind: ValueKind) -> Self {
        match self.kind {
            ValueKind::Text | ValueKind::Number | ValueKind::Path => Self { kind, ..self },
            ValueKind::Either => {
                let items = self.items.into_iter().map(|item| item.with_kind(kind)).collect();
                Self { items, ..self }
            }
            _ => Self { kind, shape: "*".into(), known: false, items: Vec::new(), ..self },
        }
    }

    /// Applies a function to the text.
    pub(super) fn map(self, change: &impl Fn(&str) -> Option<String>) -> Self {
        match self.kind {
            ValueKind::Either => {
                let items = self.items.into_iter().map(|item| item.map(change)).collect();
                Self { items, ..self }
            }
            ValueKind::Text | ValueKind::Number | ValueKind::Path => match change(&self.shape) {
                Some(shape) => Self { shape, ..self },
                None => Self::from(self.from),
            },
            _ => Self::from(self.from),
        }
    }

    /// Concatenates two strings.
    pub(super) fn concat(self, other: Self) -> Self {
        self.both(other, |left, right| format!("{left}{right}"))
    }

    /// Joins two paths.
    pub(super) fn join(self, other: Self) -> Self {
        let path = self.kind == ValueKind::Path || other.kind == ValueKind::Path;
        let joined = self.both(other, |left, right| {
            if right.starts_with('/') || right.starts_with("~/") || left.is_empty() {
                right.to_owned()
            } else if right.is_empty() {
                left.to_owned()
            } else {
                format!("{}/{right}", left.trim_end_matches('/'))
            }
        });
        if path { joined.with_kind(ValueKind::Path) } else { joined }
    }

    fn both(self, other: Self, with: impl Fn(&str, &str) -> String + Copy) -> Self {
        let from = self.from.max(other.from);
        if self.kind == ValueKind::Either || other.kind == ValueKind::Either {
            let left = if self.kind == ValueKind::Either { self.items } else { vec![self] };
            let right = if other.kind == ValueKind::Either { other.items } else { vec![other] };
            if left.len() * right.len() > MAX_CHOICES {
                return Self::from(from);
            }
            let pairs = left.iter().flat_map(|left| right.iter().map(move |right| (left, right)));
            return pairs
                .map(|(left, right)| left.clone().both(right.clone(), with))
                .reduce(Self::or)
                .unwrap_or_default();
        }
        // A path below a whole tree is still that tree.
        if self.covers_tree {
            return self;
        }
        let shape_of = |value: &Self| if value.is_text() { value.shape.clone() } else { "*".to_owned() };
        let known = (self.is_text() && self.known) && (other.is_text() && other.known);
        let (pattern, covers_tree) = (self.pattern || other.pattern, other.covers_tree);
        let mut shape = with(&shape_of(&self), &shape_of(&other));
        let cut = shape.len() > MAX_VALUE_BYTES;
        if cut {
            let end = (0..=MAX_VALUE_BYTES).rev().find(|end| shape.is_char_boundary(*end)).unwrap_or(0);
            shape.truncate(end);
            shape.push('*');
        }
        while shape.ends_with("***") {
            shape.pop();
        }
        Self {
            kind: ValueKind::Text,
            shape,
            known: known && !cut,
            pattern,
            covers_tree,
            from,
            ..Self::default()
        }
    }

    /// Converts the value to an argument of an effect.
    pub(super) fn argument(&self) -> CallArgument {
        if self.is_text() {
            CallArgument { shape: self.shape.clone(), known: self.known, pattern: self.pattern }
        } else {
            CallArgument { shape: "*".into(), known: false, pattern: false }
        }
    }

    /// Returns the alternatives and elements of the value, up to a limit.
    pub(super) fn each(&self) -> Vec<&Self> {
        let mut out = Vec::new();
        self.gather(&mut out, 4);
        out
    }

    fn gather<'a>(&'a self, out: &mut Vec<&'a Self>, depth: usize) {
        match self.kind {
            ValueKind::List | ValueKind::Either if depth > 0 => {
                for item in &self.items {
                    item.gather(out, depth - 1);
                }
            }
            _ if out.len() < 64 => out.push(self),
            _ => {}
        }
    }

    /// Returns the nesting depth of the value.
    pub(super) fn depth(&self) -> usize {
        self.items.iter().map(|item| 1 + item.depth()).max().unwrap_or(0)
    }

    /// Returns the cost of copying the value.
    pub(super) fn weight(&self) -> usize {
        8 + self.shape.len() + self.items.iter().map(Self::weight).sum::<usize>()
    }
}
