// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates functions without effects, and named constants.

use std::borrow::Cow;

use super::args::CallArgs;
use super::function::{from_base64, from_hex, text_from_codes};
use super::language::call::ValueFunction;
use super::language::description::NamedConstant;
use super::reader::CodeReader;
use super::text::{format_percent, join_texts, split};
use super::value::{CodeValue, ValueKind, ValueOrigin};

/// Returns the canonical name of a module.
pub(super) fn module_name(name: &str) -> &str {
    let name = name.strip_prefix("node:").unwrap_or(name);
    match name {
        "fs/promises" | "fs-extra" | "graceful-fs" | "original-fs" => "fs",
        "path/posix" => "path",
        "shelljs/global" => "shelljs",
        other => other,
    }
}

impl CodeReader {
    /// Returns the value of a named constant.
    pub(super) fn constant_value(&self, name: &str) -> Option<CodeValue> {
        Some(match self.description.find_constant(name)? {
            NamedConstant::Home => CodeValue::text("~"),
            NamedConstant::WorkingDirectory => CodeValue::text("."),
            NamedConstant::PathSeparator => CodeValue::text("/"),
            NamedConstant::StandardInput => CodeValue::from(ValueOrigin::Input),
        })
    }
}

/// Evaluates a function.
pub(super) fn evaluate(function: ValueFunction, args: &CallArgs) -> CodeValue {
    let first = || args.get(0);
    let tainted = || CodeValue::from(args.from());
    match function {
        ValueFunction::JoinPaths => join(&args.items),
        ValueFunction::First => first(),
        ValueFunction::Concatenate => {
            args.items.iter().cloned().reduce(CodeValue::concat).unwrap_or_else(first)
        }
        ValueFunction::Decode => match args.get(1).known_text() {
            Some("base64" | "base64url") => from_base64(first()),
            Some("hex") => from_hex(first()),
            Some("rot13" | "rot_13") => first().map(&|text| Some(text.chars().map(rot13).collect())),
            _ if first().kind == ValueKind::List => {
                text_from_codes(&first().items).map_or_else(tainted, CodeValue::text)
            }
            _ => first(),
        },
        ValueFunction::Path if args.items.is_empty() => CodeValue::text(".").with_kind(ValueKind::Path),
        ValueFunction::Path => join(&args.items).with_kind(ValueKind::Path),
        ValueFunction::ExpandHome => {
            let base = args.items.get(1).cloned();
            let text = first().map(&|text| Some(expand_home(text).into_owned()));
            base.map_or_else(|| text.clone(), |base| base.join(text.clone()))
        }
        ValueFunction::Home => CodeValue::text("~"),
        ValueFunction::HomePath => CodeValue::text("~").with_kind(ValueKind::Path),
        ValueFunction::WorkingDirectory => CodeValue::text("."),
        ValueFunction::WorkingDirectoryPath => CodeValue::text(".").with_kind(ValueKind::Path),
        ValueFunction::TempDirectory => CodeValue::text("/tmp"),
        ValueFunction::TempFile => CodeValue::text("/tmp/tmp.XXXXXXXXXX"),
        ValueFunction::Base64 => from_base64(first()),
        ValueFunction::Hex => from_hex(first()),
        ValueFunction::Characters => {
            let items = if first().kind == ValueKind::List { first().items } else { args.items.clone() };
            match items.as_slice() {
                [one] if one.kind == ValueKind::Text => one.clone(),
                items => text_from_codes(items).map_or_else(tainted, CodeValue::text),
            }
        }
        ValueFunction::Environment => match first().known_text() {
            Some("HOME" | "USERPROFILE" | "user.home") => CodeValue::text("~"),
            Some("PWD") => CodeValue::text("."),
            Some("TMPDIR") => CodeValue::text("/tmp"),
            _ => match args.items.get(1) {
                Some(default) => default.clone().or(CodeValue::unknown()),
                None => CodeValue::unknown(),
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
        ValueFunction::Tree => CodeValue::list(vec![everything_below(first())]),
        ValueFunction::DirectoryEntries => {
            let root = if args.items.is_empty() { CodeValue::text(".") } else { first() };
            if args.is_on("recursive") {
                CodeValue::list(vec![everything_below(root)])
            } else {
                CodeValue::list(vec![inside(&root)])
            }
        }
        ValueFunction::Module => match first().known_text() {
            Some(text) => CodeValue::name(module_name(text)),
            None => CodeValue::unknown(),
        },
        ValueFunction::Member => match (first().kind, args.get(1).known_text()) {
            (ValueKind::Name, Some(member)) if first().shape == "__builtins__" => CodeValue::name(member),
            (ValueKind::Name, Some(member)) => CodeValue::name(format!("{}.{member}", first().shape)),
            _ => CodeValue::unknown(),
        },
        ValueFunction::SplitWords => split(&first(), None),
        ValueFunction::Dirname => dirname(first()),
        ValueFunction::Reverse => join_texts(&args.items, "").map(&|text| Some(text.chars().rev().collect())),
        ValueFunction::StandardInput => CodeValue::from(ValueOrigin::Input),
        ValueFunction::List => CodeValue::list(args.items.iter().chain(&args.named).cloned().collect()),
        ValueFunction::SwapPair => CodeValue::list(vec![args.get(1), first()]),
        ValueFunction::JoinTexts => match (first(), args.items.get(1)) {
            (list, separator) if list.kind == ValueKind::List => {
                join_texts(&list.items, separator.and_then(CodeValue::known_text).unwrap_or_default())
            }
            (separator, Some(list)) if list.kind == ValueKind::List && args.items.len() == 2 => {
                join_texts(&list.items, separator.known_text().unwrap_or_default())
            }
            (separator, _) => join_texts(
                args.items.get(1..).unwrap_or_default(),
                separator.known_text().unwrap_or_default(),
            ),
        },
        ValueFunction::Format => {
            format_percent(&first(), &CodeValue::list(args.items.get(1..).unwrap_or_default().to_vec()))
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

pub(super) fn join(items: &[CodeValue]) -> CodeValue {
    items
        .iter()
        .filter(|item| item.kind != ValueKind::Map)
        .cloned()
        .reduce(CodeValue::join)
        .unwrap_or_default()
}

/// Creates a value for the files that match a pattern.
pub(super) fn glob(pattern: CodeValue) -> CodeValue {
    let patterns = if pattern.kind == ValueKind::List { pattern.items } else { vec![pattern] };
    let one = |pattern: CodeValue| {
        if !pattern.is_text() {
            return pattern.with_kind(ValueKind::Text);
        }
        let is_pattern = pattern.shape.contains(['*', '?', '[', '{']);
        let covers_tree =
            ["/**", "/**/*", "**/*"].iter().any(|end| pattern.shape.ends_with(end)) || pattern.shape == "**";
        CodeValue { pattern: is_pattern, covers_tree, ..pattern }
    };
    CodeValue::list(patterns.into_iter().map(one).collect())
}

/// Creates a value for everything below a directory.
pub(super) fn everything_below(root: CodeValue) -> CodeValue {
    if root.kind == ValueKind::Either || root.kind == ValueKind::List {
        let items = root.items.into_iter().map(everything_below).collect();
        return CodeValue { kind: ValueKind::Either, items, ..CodeValue::default() };
    }
    if !root.is_text() {
        return CodeValue {
            kind: ValueKind::Text,
            shape: "*".into(),
            covers_tree: true,
            ..CodeValue::default()
        };
    }
    let shape = format!("{}/**", root.shape.trim_end_matches('/'));
    CodeValue { shape, pattern: true, covers_tree: true, ..root }
}

/// Creates a value for the entries of a directory.
fn inside(root: &CodeValue) -> CodeValue {
    // The entry is a bare name: the code joins it to the directory, or works in that directory.
    CodeValue {
        kind: ValueKind::Text,
        shape: "*".into(),
        known: root.is_text() && root.known,
        pattern: true,
        ..CodeValue::default()
    }
}

pub(super) fn dirname(value: CodeValue) -> CodeValue {
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
