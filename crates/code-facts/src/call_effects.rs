// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A call with its arguments → what it does, and what it gives back.

use tenterhook_paths::Does;

use super::Act;
use super::args::Args;
use super::language::call::{CallEffect, CallResult, CallRule, FileAction, TreeReach, ValueFunction};
use super::network::address;
use super::process_start::flatten;
use super::reader::{LONGEST_NAME, Reader};
use super::value::{From, Kind, Value};
use super::value_functions;

impl Reader {
    /// Calls a value.
    pub(super) fn call(&mut self, callee: Value, args: Args) -> Value {
        match callee.kind {
            Kind::Name => {
                // What it was made with stands before its arguments.
                let Args { items, keys, named, commas } = args;
                let items = callee.items.into_iter().chain(items).collect();
                self.call_named(&callee.shape, Args { items, keys, named, commas })
            }
            Kind::Member => {
                let from = callee.from;
                let receiver = callee.items.into_iter().next().unwrap_or_else(|| Value::from(from));
                self.method(receiver, &callee.shape, args)
            }
            // `$f = 'system'; $f('ls')`
            Kind::Text if self.syntax().texts_are_callable && callee.known => {
                self.call_named(&callee.shape, args)
            }
            Kind::Either => {
                let names: Vec<_> = callee.items.into_iter().filter(|item| item.kind == Kind::Name).collect();
                let mut value = Value::unknown();
                for name in names.iter().take(4) {
                    value = self.call_named(&name.shape, Args::of(args.items.clone()));
                }
                value
            }
            _ => Value::from(callee.from.max(args.from())),
        }
    }

    fn call_named(&mut self, name: &str, mut args: Args) -> Value {
        let Some((name, call)) = self.description.find_call(name) else {
            let name = self.description.simplify_name(name);
            return unknown_call(&name, args, false);
        };
        match call.result {
            CallResult::Value(ValueFunction::Map) => {
                let list = args.get(1);
                let element = if list.kind == Kind::List { list.element() } else { list };
                let made = self.call(args.get(0), Args::of(vec![element]));
                Value::list(vec![made])
            }
            CallResult::Value(function) => value_functions::evaluate(function, &args),
            CallResult::ObjectWithArguments if call.effects.is_empty() => unknown_call(name, args, true),
            _ => {
                // `unlink for …`
                let connects = call.effects.iter().any(|effect| matches!(effect, CallEffect::Socket(_)));
                if let Some(topic) = self.syntax().topic
                    && args.items.is_empty()
                    && !connects
                {
                    args.items.extend(self.variable(topic));
                }
                self.perform(name, call, &args)
            }
        }
    }

    /// Does what the description of a call says.
    pub(super) fn perform(
        &mut self,
        name: &str,
        call: &'static CallRule<&'static str>,
        args: &Args,
    ) -> Value {
        let mut content = None;
        let before = self.acts.len();
        for effect in &call.effects {
            self.effect(effect, args, &mut content);
        }
        self.feed_started_shell(args, before);
        if let Some(content) = content {
            return content;
        }
        match call.result {
            CallResult::Object | CallResult::ObjectWithArguments => Value::name(format!("{name}()")),
            CallResult::Nothing | CallResult::Value(_) => Value::unknown(),
            CallResult::Network => Value::from(From::Network),
            CallResult::FileText(at) => {
                let path = args.at_or(at, &["file", "path", "fd"]);
                if is_input(&path) {
                    Value::from(From::Input)
                } else {
                    Value { items: vec![path], ..Value::from(From::File) }
                }
            }
        }
    }

    fn effect(&mut self, effect: &CallEffect<&'static str>, args: &Args, content: &mut Option<Value>) {
        match *effect {
            CallEffect::File { action, argument: from, each: true, ref tree } => {
                let trees = *tree == TreeReach::Yes;
                for item in args.items.iter().skip(from).filter(|item| item.kind != Kind::Map) {
                    // `rm('-rf', 'x')`
                    if !item.whole().is_some_and(|text| trees && text.starts_with('-')) {
                        self.touch(does(action), item, trees);
                    }
                }
            }
            CallEffect::File { action, argument: at, tree: TreeReach::No, .. } => {
                let does = does(action);
                let path = args.at_or(at, NAMES.get(at).copied().unwrap_or_default());
                if !args.items.is_empty() && at > 0 && args.items.len() <= at && path.kind == Kind::Unknown {
                    return;
                }
                if does == Does::Read
                    && let Some(url) = address(&path)
                {
                    self.connect(&url);
                    *content = Some(Value::from(From::Network));
                    return;
                }
                self.touch(does, &path, false);
            }
            CallEffect::File { action, argument: at, tree: TreeReach::Yes, .. } => {
                self.touch(does(action), &args.at_or(at, &["path", "paths"]), true);
            }
            CallEffect::File { action, argument: at, tree: TreeReach::IfOption(option), .. } => {
                let recursive = args.is_on(option)
                    || args
                        .items
                        .get(1)
                        .is_some_and(|options| !matches!(options.kind, Kind::Map | Kind::Unknown));
                self.touch(does(action), &args.get(at), recursive);
            }
            CallEffect::Open { path, mode } => self.open(args, path, mode, content),
            CallEffect::OpenOrPipe { path, mode } => self.open_or_pipe(args, path, mode, content),
            CallEffect::OpenHandle => self.open_handle(args, content),
            CallEffect::Shell(at) => self.shell_text(&args.at_or(at, &["cmd", "command"])),
            CallEffect::Program(from) => {
                let rest = args.items.get(from..).unwrap_or_default();
                let first = args.items.get(from.saturating_sub(1)).filter(|_| from > 0);
                let words = flatten(rest);
                // The program itself stands before its own list of words.
                let words = match (first, words.split_first()) {
                    (Some(program), Some((_, rest))) if program.is_text() => {
                        std::iter::once(program.clone()).chain(rest.iter().cloned()).collect()
                    }
                    (Some(program), None) if program.is_text() => vec![program.clone()],
                    _ => words,
                };
                self.start(&words);
            }
            CallEffect::ShellOrWords => self.shell_or_words(args),
            CallEffect::ShellOrList(at) => self.shell_or_list(&args.get(at)),
            CallEffect::Subprocess => self.subprocess(args),
            CallEffect::Spawn => self.spawn(args),
            CallEffect::Connect(at) => self.connect_to_argument(args, at),
            CallEffect::ConnectHost(at, scheme) => {
                let host = args.at_or(at, &["host"]);
                let host = Value::text(format!("{scheme}://")).concat(host);
                self.connect(&host);
            }
            CallEffect::Socket(at) => self.open_socket(args, at),
            CallEffect::SocketPortHost => self.open_socket_port_first(args),
            CallEffect::JoinShell => self.shell = true,
            CallEffect::Feed(at) => {
                if self.shell && args.get(at).from == From::Network {
                    self.act(Act::ShellRunsFetched);
                }
            }
            CallEffect::Eval(at) => self.eval(&args.get(at)),
            CallEffect::RunUnknown => self.act(Act::RunsUnknown),
            CallEffect::ChangeDirectory(at) => {
                let to = args.get(at);
                let to = self.absolute(to);
                self.set(CWD, to);
            }
        }
    }

    /// Seen from the directory the code has changed to.
    fn absolute(&mut self, path: Value) -> Value {
        match self.variable(CWD) {
            Some(cwd) if path.is_text() && !path.shape.starts_with(['/', '~']) => cwd.join(path),
            _ => path,
        }
    }

    /// Something is done to a file, or to each of some.
    pub(super) fn touch(&mut self, does: Does, path: &Value, recursive: bool) {
        for one in path.each() {
            if is_input(one) || one.from == From::Network && one.kind != Kind::Unknown {
                continue;
            }
            let recursive = recursive || one.deep && does != Does::Read;
            let place = self.absolute(one.clone());
            self.act(Act::File { does, path: place.argument(), recursive });
        }
    }

    /// A text of this language is run.
    pub(super) fn eval(&mut self, value: &Value) {
        for one in value.each() {
            match (one.from, one.whole()) {
                (From::Network, _) => self.act(Act::RunsFetched),
                (From::Input, _) => self.act(Act::RunsInput),
                (From::File, _) => {
                    let path = one.items.first().cloned().unwrap_or_default();
                    self.touch(Does::Run, &path, false);
                }
                (From::Here, Some(text)) if self.can_go_deeper() => {
                    let text = text.to_owned();
                    self.text(&text);
                }
                _ => self.act(Act::RunsUnknown),
            }
        }
    }
}

/// What is made by a call that is not described: an object by the name of the call, or something that comes from
/// where the arguments come from.
fn unknown_call(name: &str, args: Args, keeps_arguments: bool) -> Value {
    let from = args.from();
    if from != From::Here {
        let file = args.items.into_iter().find(|item| item.from == From::File);
        return Value { items: file.map(|item| item.items).unwrap_or_default(), ..Value::from(from) };
    }
    if name.len() + 2 > LONGEST_NAME {
        return Value::unknown();
    }
    let items = if keeps_arguments { args.items } else { Vec::new() };
    Value { items, ..Value::name(format!("{name}()")) }
}

/// What an action on a file is to the rules.
fn does(action: FileAction) -> Does {
    match action {
        FileAction::Read => Does::Read,
        FileAction::Write => Does::Write,
        FileAction::Append => Does::Append,
        FileAction::Delete => Does::Delete,
        FileAction::Move => Does::Move,
        FileAction::Permit => Does::Permit,
        FileAction::Run => Does::Run,
    }
}

/// The directory the code has changed to.
const CWD: &str = "(cwd)";

/// What arguments may be called, by their place.
const NAMES: &[&[&str]] =
    &[&["path", "src", "file", "filename", "name"], &["dst", "target", "filename", "dest"], &["root_dir"]];

/// Whether a path is what is typed or piped in.
pub(super) fn is_input(value: &Value) -> bool {
    value.from == From::Input
        || value.kind == Kind::Number
        || value.is_text()
            && matches!(value.shape.as_str(), "/dev/stdin" | "php://stdin" | "-" | "php://input")
}
