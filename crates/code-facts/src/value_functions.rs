// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Functions without effects: the values they make of their arguments. Names that stand for values.

use std::borrow::Cow;

use super::args::Args;
use super::function::{from_base64, from_hex, letters};
use super::language::call::ValueFunction;
use super::language::description::Constant;
use super::reader::Reader;
use super::text::{format_percent, join_texts, split};
use super::value::{From, Kind, Value};

/// A module's name without what does not matter.
pub(super) fn module_name(name: &str) -> &str {
    let name = name.strip_prefix("node:").unwrap_or(name);
    match name {
        "fs/promises" | "fs-extra" | "graceful-fs" | "original-fs" => "fs",
        "path/posix" => "path",
        "shelljs/global" => "shelljs",
        other => other,
    }
}

impl Reader {
    /// What a name stands for without being called.
    pub(super) fn constant(&self, name: &str) -> Option<Value> {
        Some(match self.description.find_constant(name)? {
            Constant::Home => Value::text("~"),
            Constant::WorkingDirectory => Value::text("."),
            Constant::PathSeparator => Value::text("/"),
            Constant::StandardInput => Value::from(From::Input),
        })
    }
}

/// What a function makes of its arguments.
pub(super) fn evaluate(function: ValueFunction, args: &Args) -> Value {
    let first = || args.get(0);
    let tainted = || Value::from(args.from());
    match function {
        ValueFunction::JoinPaths => join(&args.items),
        ValueFunction::First => first(),
        ValueFunction::Decode => match args.get(1).whole() {
            Some("base64" | "base64url") => from_base64(first()),
            Some("hex") => from_hex(first()),
            Some("rot13" | "rot_13") => first().map(&|text| Some(text.chars().map(rot13).collect())),
            _ if first().kind == Kind::List => letters(&first().items).map_or_else(tainted, Value::text),
            _ => first(),
        },
        ValueFunction::Path if args.items.is_empty() => Value::text(".").with_kind(Kind::Path),
        ValueFunction::Path => join(&args.items).with_kind(Kind::Path),
        ValueFunction::ExpandHome => {
            let base = args.items.get(1).cloned();
            let text = first().map(&|text| Some(expand_home(text).into_owned()));
            base.map_or_else(|| text.clone(), |base| base.join(text.clone()))
        }
        ValueFunction::Home => Value::text("~"),
        ValueFunction::HomePath => Value::text("~").with_kind(Kind::Path),
        ValueFunction::WorkingDirectory => Value::text("."),
        ValueFunction::WorkingDirectoryPath => Value::text(".").with_kind(Kind::Path),
        ValueFunction::TempDirectory => Value::text("/tmp"),
        ValueFunction::TempFile => Value::text("/tmp/tmp.XXXXXXXXXX"),
        ValueFunction::Base64 => from_base64(first()),
        ValueFunction::Hex => from_hex(first()),
        ValueFunction::Characters => {
            let items = if first().kind == Kind::List { first().items } else { args.items.clone() };
            match items.as_slice() {
                [one] if one.kind == Kind::Text => one.clone(),
                items => letters(items).map_or_else(tainted, Value::text),
            }
        }
        ValueFunction::Environment => match first().whole() {
            Some("HOME") => Value::text("~"),
            Some("PWD") => Value::text("."),
            Some("TMPDIR") => Value::text("/tmp"),
            _ => match args.items.get(1) {
                Some(default) => default.clone().or(Value::unknown()),
                None => Value::unknown(),
            },
        },
        ValueFunction::Glob => {
            let root = args.option("root_dir").or_else(|| args.option("cwd")).or_else(|| args.option("base"));
            let pattern = match root {
                Some(root) => root.clone().join(first()),
                None => first(),
            };
            glob(pattern)
        }
        ValueFunction::Tree => Value::list(vec![below(first())]),
        ValueFunction::DirectoryEntries => {
            let root = if args.items.is_empty() { Value::text(".") } else { first() };
            if args.is_on("recursive") {
                Value::list(vec![below(root)])
            } else {
                Value::list(vec![inside(&root)])
            }
        }
        ValueFunction::Module => match first().whole() {
            Some(text) => Value::name(module_name(text)),
            None => Value::unknown(),
        },
        ValueFunction::Member => match (first().kind, args.get(1).whole()) {
            (Kind::Name, Some(member)) if first().shape == "__builtins__" => Value::name(member),
            (Kind::Name, Some(member)) => Value::name(format!("{}.{member}", first().shape)),
            _ => Value::unknown(),
        },
        ValueFunction::SplitWords => split(&first(), None),
        ValueFunction::Dirname => dirname(first()),
        ValueFunction::Reverse => join_texts(&args.items, "").map(&|text| Some(text.chars().rev().collect())),
        ValueFunction::StandardInput => Value::from(From::Input),
        ValueFunction::List => Value::list(args.items.iter().chain(&args.named).cloned().collect()),
        ValueFunction::SwapPair => Value::list(vec![args.get(1), first()]),
        ValueFunction::JoinTexts => match (first(), args.items.get(1)) {
            (list, separator) if list.kind == Kind::List => {
                join_texts(&list.items, separator.and_then(Value::whole).unwrap_or_default())
            }
            (separator, Some(list)) if list.kind == Kind::List && args.items.len() == 2 => {
                join_texts(&list.items, separator.whole().unwrap_or_default())
            }
            (separator, _) => {
                join_texts(args.items.get(1..).unwrap_or_default(), separator.whole().unwrap_or_default())
            }
        },
        ValueFunction::Format => {
            format_percent(&first(), &Value::list(args.items.get(1..).unwrap_or_default().to_vec()))
        }
        ValueFunction::Map => tainted(),
    }
}

fn rot13(letter: char) -> char {
    let turn = |base: u8| char::from((letter as u8 - base + 13) % 26 + base);
    match letter {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        other => other,
    }
}

fn expand_home(text: &str) -> Cow<'_, str> {
    match text.strip_prefix("$HOME").or_else(|| text.strip_prefix("${HOME}")) {
        Some(rest) => Cow::Owned(format!("~{rest}")),
        None => Cow::Borrowed(text),
    }
}

pub(super) fn join(items: &[Value]) -> Value {
    items.iter().filter(|item| item.kind != Kind::Map).cloned().reduce(Value::join).unwrap_or_default()
}

/// The files that match a pattern.
pub(super) fn glob(pattern: Value) -> Value {
    let patterns = if pattern.kind == Kind::List { pattern.items } else { vec![pattern] };
    let one = |pattern: Value| {
        if !pattern.is_text() {
            return pattern.with_kind(Kind::Text);
        }
        let is_pattern = pattern.shape.contains(['*', '?', '[', '{']);
        let deep =
            ["/**", "/**/*", "**/*"].iter().any(|end| pattern.shape.ends_with(end)) || pattern.shape == "**";
        Value { pattern: is_pattern, deep, ..pattern }
    };
    Value::list(patterns.into_iter().map(one).collect())
}

/// Everything below a directory.
pub(super) fn below(root: Value) -> Value {
    if root.kind == Kind::Either || root.kind == Kind::List {
        let items = root.items.into_iter().map(below).collect();
        return Value { kind: Kind::Either, items, ..Value::default() };
    }
    if !root.is_text() {
        return Value { kind: Kind::Text, shape: "*".into(), deep: true, ..Value::default() };
    }
    let shape = format!("{}/**", root.shape.trim_end_matches('/'));
    Value { shape, pattern: true, deep: true, ..root }
}

/// What is in a directory.
fn inside(root: &Value) -> Value {
    // A name alone: it is joined to its directory, or the working directory is that directory.
    Value {
        kind: Kind::Text,
        shape: "*".into(),
        known: root.is_text() && root.known,
        pattern: true,
        ..Value::default()
    }
}

pub(super) fn dirname(value: Value) -> Value {
    value.map(&|text| {
        let text = text.trim_end_matches('/');
        match text.rsplit_once('/') {
            Some(("", _)) => Some("/".to_owned()),
            Some((parent, _)) => Some(parent.to_owned()),
            None if text == "~" || text.contains('*') => None,
            None => Some(".".to_owned()),
        }
    })
}
