// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates methods of strings, lists, paths and unknown values.

use super::args::CallArgs;
use super::function::{from_base64, from_hex};
use super::language::description::{FormatMethod, ReaderKind};
use super::reader::CodeReader;
use super::value::{CodeValue, ValueKind, ValueOrigin};
use super::{CodeEffect, text, value_functions};

impl CodeReader {
    /// Evaluates `receiver.name(args)`.
    pub(super) fn call_method(&mut self, receiver: CodeValue, name: &str, args: CallArgs) -> CodeValue {
        if !self.spend_budget(receiver.weight()) {
            return CodeValue::unknown();
        }
        if matches!(name, "then" | "forEach" | "each" | "map")
            && args.items.first().is_some_and(|first| first.kind == ValueKind::Name)
        {
            let held = if matches!(receiver.kind, ValueKind::List | ValueKind::Either) && name != "then" {
                receiver.element()
            } else {
                receiver
            };
            let made = self.call_value(args.get(0), CallArgs::positional(vec![held]));
            return if name == "map" { CodeValue::list(vec![made]) } else { made };
        }
        match name {
            "then" if !args.items.is_empty() => return args.get(0),
            "map" | "flatMap" if !args.items.is_empty() => return CodeValue::list(args.items),
            "filter" | "select" | "reject" | "sort" | "to_a" | "values" | "toArray" | "each" | "forEach"
            | "uniq" | "flat"
                if matches!(receiver.kind, ValueKind::List) =>
            {
                return receiver;
            }
            "instance_eval" | "class_eval" | "module_eval" => {
                self.eval_code(&args.get(0));
                return CodeValue::unknown();
            }
            _ => {}
        }
        match receiver.kind {
            ValueKind::Path => self.call_path_method(receiver, name, args),
            ValueKind::Either if receiver.items.iter().any(|item| item.kind == ValueKind::Path) => {
                let made = receiver
                    .items
                    .into_iter()
                    .map(|item| self.call_method(item, name, CallArgs::positional(args.items.clone())));
                let made: Vec<_> = made.collect();
                made.into_iter().reduce(CodeValue::or).unwrap_or_default()
            }
            ValueKind::Text | ValueKind::Number => self.call_text_method(receiver, name, &args),
            ValueKind::List => list_method(receiver, name, &args),
            _ => self.call_unknown_method(&receiver, name, &args),
        }
    }

    fn call_path_method(&mut self, path: CodeValue, name: &str, args: CallArgs) -> CodeValue {
        let first = || args.get(0);
        match name {
            "joinpath" | "join" | "/" => {
                let mut all = vec![path];
                all.extend(args.items);
                value_functions::join(&all).with_kind(ValueKind::Path)
            }
            "expanduser" | "resolve" | "absolute" | "expand_path" | "realpath" | "as_posix" | "to_s"
            | "cleanpath" | "__str__" => path,
            "glob" => self.glob_below(path, first()),
            "rglob" => self.glob_below(path, CodeValue::text("**").join(first())),
            "iterdir" | "children" | "each_child" => CodeValue::list(vec![path.join(star())]),
            "walk" | "find" => CodeValue::list(vec![value_functions::everything_below(path)]),
            "with_name" => value_functions::dirname(path).join(first()).with_kind(ValueKind::Path),
            "parent" | "dirname" => value_functions::dirname(path),
            _ => {
                let Some((name, call)) = self.description.find_call(&format!("Path.{name}")) else {
                    return CodeValue {
                        kind: ValueKind::Unknown,
                        items: Vec::new(),
                        ..CodeValue::from(path.from)
                    };
                };
                let CallArgs { mut items, keys, named, commas } = args;
                items.insert(0, path);
                self.perform_call(name, call, &CallArgs { items, keys, named, commas })
            }
        }
    }

    fn glob_below(&self, path: CodeValue, pattern: CodeValue) -> CodeValue {
        value_functions::glob(path.join(pattern))
    }

    fn call_text_method(&mut self, text: CodeValue, name: &str, args: &CallArgs) -> CodeValue {
        let first = args.get(0);
        match name {
            "join" => match first.kind {
                ValueKind::List => text::join_texts(&first.items, text.known_text().unwrap_or_default()),
                _ => CodeValue::from(first.from),
            },
            "decode" | "encode" | "strip" | "trim" | "to_s" | "toString" | "chomp" | "rstrip" | "lstrip"
            | "to_path" | "path" | "to_str" | "valueOf" | "freeze" | "dup" | "resolve" | "expanduser" => {
                match first.known_text() {
                    Some("base64") if name == "toString" => CodeValue::from(text.from),
                    Some("hex") if name == "decode" => from_hex(text),
                    Some("base64") if name == "decode" => from_base64(text),
                    _ => text,
                }
            }
            "format" => match self.syntax().format_method {
                FormatMethod::Braces => text::format_braces(&text, args),
                FormatMethod::Percent => text::format_percent(&text, &CodeValue::list(args.items.clone())),
                FormatMethod::None => CodeValue::from(text.from),
            },
            "concat" | "append" | "__add__" => args.items.iter().cloned().fold(text, CodeValue::concat),
            "split" | "lines" | "shellsplit" | "shlex" => {
                text::split(&text, first.known_text().filter(|separator| *separator != " "))
            }
            "reverse" => text.map(&|text| Some(text.chars().rev().collect())),
            "lower" | "toLowerCase" | "downcase" => text.map(&|text| Some(text.to_lowercase())),
            "upper" | "toUpperCase" | "upcase" => text.map(&|text| Some(text.to_uppercase())),
            "unpack1" | "unpack" if first.known_text().is_some_and(|kind| kind.starts_with('m')) => {
                from_base64(text)
            }
            "replace" | "replaceAll" | "gsub" | "sub" => {
                match (first.known_text(), args.get(1).known_text(), text.known_text()) {
                    (Some(old), Some(new), Some(whole))
                        if !old.is_empty() && whole.matches(old).count() * new.len() < 16 * 1024 =>
                    {
                        CodeValue::text(whole.replace(old, new))
                    }
                    _ => CodeValue::from(text.from),
                }
            }
            _ => match self.description.find_call(&format!("Text.{name}")) {
                Some((name, call)) => {
                    let items = std::iter::once(text).chain(args.items.iter().cloned()).collect();
                    self.perform_call(name, call, &CallArgs::positional(items))
                }
                None => CodeValue::from(text.from),
            },
        }
    }

    /// Evaluates a method of an unknown value.
    fn call_unknown_method(&mut self, receiver: &CodeValue, name: &str, args: &CallArgs) -> CodeValue {
        // In code that uses path objects, the unknown receiver may be a path.
        if self.paths
            && receiver.kind == ValueKind::Unknown
            && receiver.from == ValueOrigin::Here
            && matches!(name, "unlink" | "rmdir" | "write_text" | "write_bytes" | "rmtree" | "delete")
            && let Some((name, call)) = self.description.find_call(&format!("Path.{name}"))
        {
            return self.perform_call(name, call, &CallArgs::positional(vec![CodeValue::unknown()]));
        }
        // `code.constructor.constructor("…")()`
        if name == "constructor" && self.has_reader(ReaderKind::JavaScript) && !args.items.is_empty() {
            self.eval_code(&args.get(0));
        }
        if receiver.from == ValueOrigin::Network && name == "pipe" && self.socket {
            self.shell |= self.effects.iter().any(|act| matches!(act, CodeEffect::Start(_)));
        }
        let from = receiver.from.max(args.from());
        let items = if from == ValueOrigin::File { origin_file(receiver) } else { Vec::new() };
        CodeValue { items, ..CodeValue::from(from) }
    }
}

fn star() -> CodeValue {
    CodeValue { kind: ValueKind::Text, shape: "*".into(), known: true, pattern: true, ..CodeValue::default() }
}

/// Returns the file that a value was read from.
fn origin_file(value: &CodeValue) -> Vec<CodeValue> {
    let own = if value.kind == ValueKind::Member {
        value.items.first().map(|inner| inner.items.clone())
    } else {
        None
    };
    own.unwrap_or_else(|| value.items.clone())
}

fn list_method(list: CodeValue, name: &str, args: &CallArgs) -> CodeValue {
    match name {
        "join" => text::join_texts(&list.items, args.get(0).known_text().unwrap_or(",")),
        "concat" | "push" | "append" => {
            CodeValue::list(list.items.into_iter().chain(args.items.iter().cloned()).take(256).collect())
        }
        "reverse" => CodeValue::list(list.items.into_iter().rev().collect()),
        "slice" | "first" | "last" | "pop" | "shift" | "at" | "get" => list.element(),
        "pack" => {
            super::function::text_from_codes(&list.items).map_or_else(CodeValue::unknown, CodeValue::text)
        }
        _ => CodeValue::from(list.from),
    }
}
