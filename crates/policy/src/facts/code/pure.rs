// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Functions that only make values of values: joins, homes, decoders.

use std::borrow::Cow;

use super::Language;
use super::args::Args;
use super::function::{from_base64, from_hex, letters};
use super::makes::{Makes, find};
use super::text::{format_percent, join_texts, split};
use super::value::{From, Kind, Value};

/// Whether a name is one of these functions.
pub(super) fn is_function(language: Language, name: &str) -> bool {
    find(language, &super::calls::plain(language, name)).is_some()
}

/// A module's name without what does not matter.
pub(super) fn module(name: &str) -> &str {
    let name = name.strip_prefix("node:").unwrap_or(name);
    match name {
        "fs/promises" | "fs-extra" | "graceful-fs" | "original-fs" => "fs",
        "path/posix" => "path",
        "shelljs/global" => "shelljs",
        other => other,
    }
}

/// Values that are there without a call.
pub(super) fn constant(language: Language, name: &str) -> Option<Value> {
    let text = match (language, name) {
        (Language::Python, "os.environ.HOME")
        | (Language::JavaScript, "process.env.HOME" | "Bun.env.HOME" | "process.env.USERPROFILE")
        | (Language::Perl | Language::Ruby, "ENV.HOME")
        | (Language::Php, "$_SERVER.HOME" | "$_ENV.HOME") => "~",
        (Language::Python, "os.sep" | "os.path.sep")
        | (Language::JavaScript, "path.sep")
        | (Language::Php, "DIRECTORY_SEPARATOR") => "/",
        (Language::Python, "os.curdir")
        | (Language::JavaScript, "__dirname" | "import.meta.dirname" | "import.meta.dir")
        | (Language::Php, "__DIR__")
        | (Language::Ruby, "__dir__") => ".",
        (Language::Python, "sys.stdin")
        | (Language::JavaScript, "process.stdin")
        | (Language::Ruby, "$stdin" | "STDIN" | "ARGF")
        | (Language::Php, "STDIN") => {
            return Some(Value::from(From::Input));
        }
        _ => return None,
    };
    Some(Value::text(text))
}

/// What a function makes, if it is one of these.
pub(super) fn call(language: Language, name: &str, args: &Args) -> Option<Value> {
    let first = || args.get(0);
    let tainted = || Value::from(args.from());
    Some(match find(language, name)? {
        Makes::Join => join(&args.items),
        Makes::Same if language == Language::JavaScript && name == "Buffer.from" => match args.get(1).whole()
        {
            Some("base64" | "base64url") => from_base64(first()),
            Some("hex") => from_hex(first()),
            _ if first().kind == Kind::List => letters(&first().items).map_or_else(tainted, Value::text),
            _ => first(),
        },
        Makes::Same if name == "codecs.decode" => match args.get(1).whole() {
            Some("hex") => from_hex(first()),
            Some("base64") => from_base64(first()),
            Some("rot13" | "rot_13") => first().map(&|text| Some(text.chars().map(rot13).collect())),
            _ => first(),
        },
        Makes::Same => first(),
        Makes::Path if args.items.is_empty() => Value::text(".").with_kind(Kind::Path),
        Makes::Path => join(&args.items).with_kind(Kind::Path),
        Makes::Expand => {
            let base = args.items.get(1).cloned();
            let text = first().map(&|text| Some(expand_home(text).into_owned()));
            base.map_or_else(|| text.clone(), |base| base.join(text.clone()))
        }
        Makes::Home => with_path(Value::text("~"), name),
        Makes::Here => with_path(Value::text("."), name),
        Makes::Temp => Value::text("/tmp"),
        Makes::InTemp => Value::text("/tmp/tmp.XXXXXXXXXX"),
        Makes::Base64 => from_base64(first()),
        Makes::Hex => from_hex(first()),
        Makes::Letters => {
            let items = if first().kind == Kind::List { first().items } else { args.items.clone() };
            match items.as_slice() {
                [one] if one.kind == Kind::Text => one.clone(),
                items => letters(items).map_or_else(tainted, Value::text),
            }
        }
        Makes::Environment => match first().whole() {
            Some("HOME") => Value::text("~"),
            Some("PWD") => Value::text("."),
            Some("TMPDIR") => Value::text("/tmp"),
            _ => match args.items.get(1) {
                Some(default) => default.clone().or(Value::unknown()),
                None => Value::unknown(),
            },
        },
        Makes::Glob => {
            let root = args.option("root_dir").or_else(|| args.option("cwd")).or_else(|| args.option("base"));
            let pattern = match root {
                Some(root) => root.clone().join(first()),
                None => first(),
            };
            glob(pattern)
        }
        Makes::Walk => Value::list(vec![below(first())]),
        Makes::Listing => {
            let root = if args.items.is_empty() { Value::text(".") } else { first() };
            if args.is_on("recursive") {
                Value::list(vec![below(root)])
            } else {
                Value::list(vec![inside(&root)])
            }
        }
        Makes::Module => match first().whole() {
            Some(text) => Value::name(module(text)),
            None => Value::unknown(),
        },
        Makes::Member => match (first().kind, args.get(1).whole()) {
            (Kind::Name, Some(member)) if first().shape == "__builtins__" => Value::name(member),
            (Kind::Name, Some(member)) => Value::name(format!("{}.{member}", first().shape)),
            _ => Value::unknown(),
        },
        Makes::Split => split(&first(), None),
        Makes::Dirname => dirname(first()),
        Makes::Reverse => join_texts(&args.items, "").map(&|text| Some(text.chars().rev().collect())),
        Makes::Input => Value::from(From::Input),
        Makes::List => Value::list(args.items.iter().chain(&args.named).cloned().collect()),
        Makes::Pair => Value::list(vec![args.get(1), first()]),
        Makes::Implode => match (first(), args.items.get(1)) {
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
        Makes::Format => {
            format_percent(&first(), &Value::list(args.items.get(1..).unwrap_or_default().to_vec()))
        }
        Makes::Mapped => return None,
    })
}

/// Whether a function calls the first argument with what the second holds.
pub(super) fn maps(language: Language, name: &str) -> bool {
    find(language, name) == Some(Makes::Mapped)
}

fn with_path(value: Value, name: &str) -> Value {
    if name.starts_with("pathlib.") { value.with_kind(Kind::Path) } else { value }
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
