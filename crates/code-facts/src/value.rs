// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What is known of a value.

use super::Argument;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Kind {
    #[default]
    Unknown,
    Text,
    Number,
    /// A path that is an object of its own: `pathlib.Path`.
    Path,
    /// A module, a function or something made by one, by its full name: `os.system`, `socket.socket()`.
    Name,
    /// All of these.
    List,
    /// One of these.
    Either,
    /// Values with keys.
    Map,
    /// A member of the value in `items`.
    Member,
}

/// Where a value came from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum From {
    #[default]
    Here,
    /// It was in the file in `items`.
    File,
    Input,
    Network,
}

/// As much as is known of a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) kind: Kind,
    /// The text, with `*` for whatever is not known.
    pub(super) shape: String,
    pub(super) known: bool,
    /// It stands for files that match it.
    pub(super) pattern: bool,
    /// And for everything below.
    pub(super) deep: bool,
    pub(super) items: Vec<Value>,
    /// The keys of `items`, for a map.
    pub(super) keys: Vec<String>,
    pub(super) from: From,
}

/// No value is longer than this: what is longer is cut and no longer known.
const LONGEST: usize = 16 * 1024;
/// So many values one may be.
pub(super) const CHOICES: usize = 16;

// === impl Value ===

impl Value {
    pub(super) fn unknown() -> Self {
        Self::default()
    }

    pub(super) fn text(text: impl Into<String>) -> Self {
        Self { kind: Kind::Text, shape: text.into(), known: true, ..Self::default() }
    }

    pub(super) fn name(text: impl Into<String>) -> Self {
        Self { kind: Kind::Name, shape: text.into(), ..Self::default() }
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        let from = items.iter().map(|item| item.from).max().unwrap_or_default();
        Self { kind: Kind::List, items, from, ..Self::default() }
    }

    pub(super) fn from(from: From) -> Self {
        Self { from, ..Self::default() }
    }

    /// One of two.
    pub(super) fn or(self, other: Self) -> Self {
        if self == other {
            return self;
        }
        let from = self.from.max(other.from);
        let mut items = if self.kind == Kind::Either { self.items } else { vec![self] };
        if other.kind == Kind::Either {
            items.extend(other.items);
        } else {
            items.push(other);
        }
        if items.len() > CHOICES {
            return Self::from(from);
        }
        Self { kind: Kind::Either, items, from, ..Self::default() }
    }

    /// One of the values it holds.
    pub(super) fn element(&self) -> Self {
        match (self.kind, self.items.as_slice()) {
            (Kind::List, []) => Self::from(self.from),
            (Kind::List | Kind::Either, [one]) => one.clone(),
            (Kind::List, items) if items.len() <= CHOICES => {
                Self { kind: Kind::Either, items: items.to_vec(), from: self.from, ..Self::default() }
            }
            (Kind::Either, items) => items.iter().map(Self::element).reduce(Self::or).unwrap_or_default(),
            _ => Self::from(self.from),
        }
    }

    /// Whether it is a text of some kind.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Number | Kind::Path)
    }

    /// The whole text, if all of it is known.
    pub(super) fn whole(&self) -> Option<&str> {
        (self.is_text() && self.known && !self.pattern).then_some(self.shape.as_str())
    }

    pub(super) fn is_true(&self) -> bool {
        match self.kind {
            Kind::Name => {
                !matches!(self.shape.as_str(), "False" | "false" | "None" | "null" | "nil" | "undefined")
            }
            Kind::Number => self.shape != "0",
            _ => true,
        }
    }

    pub(super) fn key(&self, key: &str) -> Option<&Self> {
        self.keys.iter().position(|own| own == key).and_then(|at| self.items.get(at))
    }

    /// The same value as another kind of text.
    pub(super) fn with_kind(self, kind: Kind) -> Self {
        match self.kind {
            Kind::Text | Kind::Number | Kind::Path => Self { kind, ..self },
            Kind::Either => {
                let items = self.items.into_iter().map(|item| item.with_kind(kind)).collect();
                Self { items, ..self }
            }
            _ => Self { kind, shape: "*".into(), known: false, items: Vec::new(), ..self },
        }
    }

    /// The text changed, where there is one.
    pub(super) fn map(self, change: &impl Fn(&str) -> Option<String>) -> Self {
        match self.kind {
            Kind::Either => {
                let items = self.items.into_iter().map(|item| item.map(change)).collect();
                Self { items, ..self }
            }
            Kind::Text | Kind::Number | Kind::Path => match change(&self.shape) {
                Some(shape) => Self { shape, ..self },
                None => Self::from(self.from),
            },
            _ => Self::from(self.from),
        }
    }

    /// Two texts, one behind the other.
    pub(super) fn concat(self, other: Self) -> Self {
        self.both(other, |left, right| format!("{left}{right}"))
    }

    /// A path below another.
    pub(super) fn join(self, other: Self) -> Self {
        let path = self.kind == Kind::Path || other.kind == Kind::Path;
        let joined = self.both(other, |left, right| {
            if right.starts_with('/') || right.starts_with("~/") || left.is_empty() {
                right.to_owned()
            } else if right.is_empty() {
                left.to_owned()
            } else {
                format!("{}/{right}", left.trim_end_matches('/'))
            }
        });
        if path { joined.with_kind(Kind::Path) } else { joined }
    }

    fn both(self, other: Self, with: impl Fn(&str, &str) -> String + Copy) -> Self {
        let from = self.from.max(other.from);
        if self.kind == Kind::Either || other.kind == Kind::Either {
            let left = if self.kind == Kind::Either { self.items } else { vec![self] };
            let right = if other.kind == Kind::Either { other.items } else { vec![other] };
            if left.len() * right.len() > CHOICES {
                return Self::from(from);
            }
            let pairs = left.iter().flat_map(|left| right.iter().map(move |right| (left, right)));
            return pairs
                .map(|(left, right)| left.clone().both(right.clone(), with))
                .reduce(Self::or)
                .unwrap_or_default();
        }
        // What lies below everything of a place is everything of that place.
        if self.deep {
            return self;
        }
        let shape_of = |value: &Self| if value.is_text() { value.shape.clone() } else { "*".to_owned() };
        let known = (self.is_text() && self.known) && (other.is_text() && other.known);
        let (pattern, deep) = (self.pattern || other.pattern, other.deep);
        let mut shape = with(&shape_of(&self), &shape_of(&other));
        let cut = shape.len() > LONGEST;
        if cut {
            let end = (0..=LONGEST).rev().find(|end| shape.is_char_boundary(*end)).unwrap_or(0);
            shape.truncate(end);
            shape.push('*');
        }
        while shape.ends_with("***") {
            shape.pop();
        }
        Self { kind: Kind::Text, shape, known: known && !cut, pattern, deep, from, ..Self::default() }
    }

    /// As an argument of an act.
    pub(super) fn argument(&self) -> Argument {
        if self.is_text() {
            Argument { shape: self.shape.clone(), known: self.known, pattern: self.pattern }
        } else {
            Argument { shape: "*".into(), known: false, pattern: false }
        }
    }

    /// Each value it may be or holds, a few of them.
    pub(super) fn each(&self) -> Vec<&Self> {
        let mut out = Vec::new();
        self.gather(&mut out, 4);
        out
    }

    fn gather<'a>(&'a self, out: &mut Vec<&'a Self>, depth: usize) {
        match self.kind {
            Kind::List | Kind::Either if depth > 0 => {
                for item in &self.items {
                    item.gather(out, depth - 1);
                }
            }
            _ if out.len() < 64 => out.push(self),
            _ => {}
        }
    }

    /// How many values lie inside each other.
    pub(super) fn depth(&self) -> usize {
        self.items.iter().map(|item| 1 + item.depth()).max().unwrap_or(0)
    }

    /// How much there is to copy.
    pub(super) fn weight(&self) -> usize {
        8 + self.shape.len() + self.items.iter().map(Self::weight).sum::<usize>()
    }
}
