// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Methods of texts, lists, paths and of what nobody knows.

use super::args::Args;
use super::function::{from_base64, from_hex};
use super::language::description::{FormatMethod, ReaderKind};
use super::reader::Reader;
use super::value::{From, Kind, Value};
use super::{Act, text, value_functions};

impl Reader {
    /// `receiver.name(args)`
    pub(super) fn method(&mut self, receiver: Value, name: &str, args: Args) -> Value {
        if !self.spend(receiver.weight()) {
            return Value::unknown();
        }
        if matches!(name, "then" | "forEach" | "each" | "map")
            && args.items.first().is_some_and(|first| first.kind == Kind::Name)
        {
            let held = if matches!(receiver.kind, Kind::List | Kind::Either) && name != "then" {
                receiver.element()
            } else {
                receiver
            };
            let made = self.call(args.get(0), Args::of(vec![held]));
            return if name == "map" { Value::list(vec![made]) } else { made };
        }
        match name {
            "then" if !args.items.is_empty() => return args.get(0),
            "map" | "flatMap" if !args.items.is_empty() => return Value::list(args.items),
            "filter" | "select" | "reject" | "sort" | "to_a" | "values" | "toArray" | "each" | "forEach"
            | "uniq" | "flat"
                if matches!(receiver.kind, Kind::List) =>
            {
                return receiver;
            }
            "instance_eval" | "class_eval" | "module_eval" => {
                self.eval(&args.get(0));
                return Value::unknown();
            }
            _ => {}
        }
        match receiver.kind {
            Kind::Path => self.path_method(receiver, name, args),
            Kind::Either if receiver.items.iter().any(|item| item.kind == Kind::Path) => {
                let made = receiver
                    .items
                    .into_iter()
                    .map(|item| self.method(item, name, Args::of(args.items.clone())));
                let made: Vec<_> = made.collect();
                made.into_iter().reduce(Value::or).unwrap_or_default()
            }
            Kind::Text | Kind::Number => self.text_method(receiver, name, &args),
            Kind::List => list_method(receiver, name, &args),
            _ => self.unknown_method(&receiver, name, &args),
        }
    }

    fn path_method(&mut self, path: Value, name: &str, args: Args) -> Value {
        let first = || args.get(0);
        match name {
            "joinpath" | "join" | "/" => {
                let mut all = vec![path];
                all.extend(args.items);
                value_functions::join(&all).with_kind(Kind::Path)
            }
            "expanduser" | "resolve" | "absolute" | "expand_path" | "realpath" | "as_posix" | "to_s"
            | "cleanpath" | "__str__" => path,
            "glob" => self.glob_below(path, first()),
            "rglob" => self.glob_below(path, Value::text("**").join(first())),
            "iterdir" | "children" | "each_child" => Value::list(vec![path.join(star())]),
            "walk" | "find" => Value::list(vec![value_functions::below(path)]),
            "with_name" => value_functions::dirname(path).join(first()).with_kind(Kind::Path),
            "parent" | "dirname" => value_functions::dirname(path),
            _ => {
                let Some((name, call)) = self.description.find_call(&format!("Path.{name}")) else {
                    return Value { kind: Kind::Unknown, items: Vec::new(), ..Value::from(path.from) };
                };
                let Args { mut items, keys, named, commas } = args;
                items.insert(0, path);
                self.perform(name, call, &Args { items, keys, named, commas })
            }
        }
    }

    fn glob_below(&self, path: Value, pattern: Value) -> Value {
        value_functions::glob(path.join(pattern))
    }

    fn text_method(&mut self, text: Value, name: &str, args: &Args) -> Value {
        let first = args.get(0);
        match name {
            "join" => match first.kind {
                Kind::List => text::join_texts(&first.items, text.whole().unwrap_or_default()),
                _ => Value::from(first.from),
            },
            "decode" | "encode" | "strip" | "trim" | "to_s" | "toString" | "chomp" | "rstrip" | "lstrip"
            | "to_path" | "path" | "to_str" | "valueOf" | "freeze" | "dup" | "resolve" | "expanduser" => {
                match first.whole() {
                    Some("base64") if name == "toString" => Value::from(text.from),
                    Some("hex") if name == "decode" => from_hex(text),
                    Some("base64") if name == "decode" => from_base64(text),
                    _ => text,
                }
            }
            "format" => match self.syntax().format_method {
                FormatMethod::Braces => text::format_braces(&text, args),
                FormatMethod::Percent => text::format_percent(&text, &Value::list(args.items.clone())),
                FormatMethod::None => Value::from(text.from),
            },
            "concat" | "append" | "__add__" => args.items.iter().cloned().fold(text, Value::concat),
            "split" | "lines" | "shellsplit" | "shlex" => {
                text::split(&text, first.whole().filter(|separator| *separator != " "))
            }
            "reverse" => text.map(&|text| Some(text.chars().rev().collect())),
            "lower" | "toLowerCase" | "downcase" => text.map(&|text| Some(text.to_lowercase())),
            "upper" | "toUpperCase" | "upcase" => text.map(&|text| Some(text.to_uppercase())),
            "unpack1" | "unpack" if first.whole().is_some_and(|kind| kind.starts_with('m')) => {
                from_base64(text)
            }
            "replace" | "replaceAll" | "gsub" | "sub" => {
                match (first.whole(), args.get(1).whole(), text.whole()) {
                    (Some(old), Some(new), Some(whole))
                        if !old.is_empty() && whole.matches(old).count() * new.len() < 16 * 1024 =>
                    {
                        Value::text(whole.replace(old, new))
                    }
                    _ => Value::from(text.from),
                }
            }
            _ => Value::from(text.from),
        }
    }

    /// A method of something that is not known.
    fn unknown_method(&mut self, receiver: &Value, name: &str, args: &Args) -> Value {
        // A `Path` nobody knows, where such things are used.
        if self.paths
            && receiver.kind == Kind::Unknown
            && receiver.from == From::Here
            && matches!(name, "unlink" | "rmdir" | "write_text" | "write_bytes" | "rmtree" | "delete")
            && let Some((name, call)) = self.description.find_call(&format!("Path.{name}"))
        {
            return self.perform(name, call, &Args::of(vec![Value::unknown()]));
        }
        // `code.constructor.constructor("…")()`
        if name == "constructor" && self.has_reader(ReaderKind::JavaScript) && !args.items.is_empty() {
            self.eval(&args.get(0));
        }
        if receiver.from == From::Network && name == "pipe" && self.socket {
            self.shell |= self.acts.iter().any(|act| matches!(act, Act::Start(_)));
        }
        let from = receiver.from.max(args.from());
        let items = if from == From::File { held(receiver) } else { Vec::new() };
        Value { items, ..Value::from(from) }
    }
}

fn star() -> Value {
    Value { kind: Kind::Text, shape: "*".into(), known: true, pattern: true, ..Value::default() }
}

/// The file that a value was in.
fn held(value: &Value) -> Vec<Value> {
    let own =
        if value.kind == Kind::Member { value.items.first().map(|inner| inner.items.clone()) } else { None };
    own.unwrap_or_else(|| value.items.clone())
}

fn list_method(list: Value, name: &str, args: &Args) -> Value {
    match name {
        "join" => text::join_texts(&list.items, args.get(0).whole().unwrap_or(",")),
        "concat" | "push" | "append" => {
            Value::list(list.items.into_iter().chain(args.items.iter().cloned()).take(256).collect())
        }
        "reverse" => Value::list(list.items.into_iter().rev().collect()),
        "slice" | "first" | "last" | "pop" | "shift" | "at" | "get" => list.element(),
        "pack" => super::function::letters(&list.items).map_or_else(Value::unknown, Value::text),
        _ => Value::from(list.from),
    }
}
