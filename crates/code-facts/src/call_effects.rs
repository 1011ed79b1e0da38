// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Describes the effects and results of calls.

use tenterhook_paths::FileOp;

use super::CodeEffect;
use super::args::CallArgs;
use super::language::call::{CallEffect, CallResult, CallRule, FileAction, TreeReach, ValueFunction};
use super::network::address;
use super::process_start::flatten;
use super::reader::{CodeReader, MAX_NAME_BYTES};
use super::value::{CodeValue, ValueKind, ValueOrigin};
use super::value_functions;

impl CodeReader {
    /// Evaluates a call of a value, and reports its effects.
    pub(super) fn call_value(&mut self, callee: CodeValue, args: CallArgs) -> CodeValue {
        match callee.kind {
            ValueKind::Name => {
                // The arguments of the constructor precede those of the method.
                let CallArgs { items, keys, named, commas } = args;
                let items = callee.items.into_iter().chain(items).collect();
                self.call_named(&callee.shape, CallArgs { items, keys, named, commas })
            }
            ValueKind::Member => {
                let from = callee.from;
                let receiver = callee.items.into_iter().next().unwrap_or_else(|| CodeValue::from(from));
                self.call_method(receiver, &callee.shape, args)
            }
            // `$f = 'system'; $f('ls')`
            ValueKind::Text if self.syntax().texts_are_callable && callee.known => {
                self.call_named(&callee.shape, args)
            }
            ValueKind::Either => {
                let names: Vec<_> =
                    callee.items.into_iter().filter(|item| item.kind == ValueKind::Name).collect();
                let mut value = CodeValue::unknown();
                for name in names.iter().take(4) {
                    value = self.call_named(&name.shape, CallArgs::positional(args.items.clone()));
                }
                value
            }
            _ => CodeValue::from(callee.from.max(args.from())),
        }
    }

    fn call_named(&mut self, name: &str, mut args: CallArgs) -> CodeValue {
        let Some((name, call)) = self.description.find_call(name) else {
            let name = self.description.simplify_name(name);
            self.note_call(&name, &args.items);
            return unknown_call(&name, args, false);
        };
        match call.result {
            CallResult::Value(ValueFunction::Map) => {
                let list = args.get(1);
                let element = if list.kind == ValueKind::List { list.element() } else { list };
                let made = self.call_value(args.get(0), CallArgs::positional(vec![element]));
                CodeValue::list(vec![made])
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
                self.perform_call(name, call, &args)
            }
        }
    }

    /// Reports the described effects of a call, and returns its result.
    pub(super) fn perform_call(
        &mut self,
        name: &str,
        call: &'static CallRule<&'static str>,
        args: &CallArgs,
    ) -> CodeValue {
        let mut content = None;
        let before = self.effects.len();
        for effect in &call.effects {
            self.apply_call_effect(effect, args, &mut content);
        }
        self.feed_started_shell(args, before);
        if let Some(content) = content {
            return content;
        }
        match call.result {
            CallResult::Object | CallResult::ObjectWithArguments => CodeValue::name(format!("{name}()")),
            CallResult::Nothing | CallResult::Value(_) => CodeValue::unknown(),
            CallResult::Network => CodeValue::from(ValueOrigin::Network),
            CallResult::FileText(at) => {
                let path = args.at_or(at, &["file", "path", "fd"]);
                if is_input(&path) {
                    CodeValue::from(ValueOrigin::Input)
                } else {
                    CodeValue { items: vec![path], ..CodeValue::from(ValueOrigin::File) }
                }
            }
        }
    }

    fn apply_call_effect(
        &mut self,
        effect: &CallEffect<&'static str>,
        args: &CallArgs,
        content: &mut Option<CodeValue>,
    ) {
        match *effect {
            CallEffect::File { action, argument: from, each: true, ref tree } => {
                let trees = *tree == TreeReach::Yes;
                for item in args.items.iter().skip(from).filter(|item| item.kind != ValueKind::Map) {
                    // `rm('-rf', 'x')`
                    if !item.known_text().is_some_and(|text| trees && text.starts_with('-')) {
                        self.add_file_effect(file_op(action), item, trees);
                    }
                }
            }
            CallEffect::File { action, argument: at, tree: TreeReach::No, .. } => {
                let does = file_op(action);
                let path = args.at_or(at, ARGUMENT_NAMES.get(at).copied().unwrap_or_default());
                if !args.items.is_empty()
                    && at > 0
                    && args.items.len() <= at
                    && path.kind == ValueKind::Unknown
                {
                    return;
                }
                if does == FileOp::Read
                    && let Some(url) = address(&path)
                {
                    self.add_connection(&url);
                    *content = Some(CodeValue::from(ValueOrigin::Network));
                    return;
                }
                self.add_file_effect(does, &path, false);
            }
            CallEffect::File { action, argument: at, tree: TreeReach::Yes, .. } => {
                self.add_file_effect(file_op(action), &args.at_or(at, &["path", "paths"]), true);
            }
            CallEffect::File { action, argument: at, tree: TreeReach::IfOption(option), .. } => {
                let recursive = args.is_on(option)
                    || args
                        .items
                        .get(1)
                        .is_some_and(|options| !matches!(options.kind, ValueKind::Map | ValueKind::Unknown));
                self.add_file_effect(file_op(action), &args.get(at), recursive);
            }
            CallEffect::Open { path, mode } => self.open_file(args, path, mode, content),
            CallEffect::OpenOrPipe { path, mode } => self.open_or_pipe(args, path, mode, content),
            CallEffect::OpenHandle => self.open_handle(args, content),
            CallEffect::Shell(at) => self.run_shell_text(&args.at_or(at, &["cmd", "command"])),
            CallEffect::Program(from) => {
                let rest = args.items.get(from..).unwrap_or_default();
                let first = args.items.get(from.saturating_sub(1)).filter(|_| from > 0);
                let words = flatten(rest);
                // The program precedes its list of words.
                let words = match (first, words.split_first()) {
                    (Some(program), Some((_, rest))) if program.is_text() => {
                        std::iter::once(program.clone()).chain(rest.iter().cloned()).collect()
                    }
                    (Some(program), None) if program.is_text() => vec![program.clone()],
                    _ => words,
                };
                self.start_program(&words);
            }
            CallEffect::ShellOrWords => self.run_shell_or_words(args),
            CallEffect::ShellOrList(at) => self.run_shell_or_list(&args.get(at)),
            CallEffect::Subprocess => self.run_subprocess(args),
            CallEffect::Spawn => self.spawn_program(args),
            CallEffect::Connect(at) => self.connect_to_argument(args, at),
            CallEffect::ConnectHost(at, scheme) => {
                let host = args.at_or(at, &["host"]);
                let host = CodeValue::text(format!("{scheme}://")).concat(host);
                self.add_connection(&host);
            }
            CallEffect::Socket(at) => self.open_socket(args, at),
            CallEffect::SocketPortHost => self.open_socket_port_first(args),
            CallEffect::JoinShell => self.shell = true,
            CallEffect::Feed(at) => {
                if self.shell && args.get(at).from == ValueOrigin::Network {
                    self.push_effect(CodeEffect::ShellRunsFetched);
                }
            }
            CallEffect::Eval(at) => self.eval_code(&args.get(at)),
            CallEffect::RunUnknown => self.push_effect(CodeEffect::RunsUnknown),
            CallEffect::ChangeDirectory(at) => {
                let to = args.get(at);
                let to = self.resolve_in_cwd(to);
                self.set_variable(CWD_VARIABLE, to);
            }
        }
    }

    /// Joins a relative path to the directory that the code has changed to.
    fn resolve_in_cwd(&mut self, path: CodeValue) -> CodeValue {
        match self.variable(CWD_VARIABLE) {
            Some(cwd) if path.is_text() && !path.shape.starts_with(['/', '~']) => cwd.join(path),
            _ => path,
        }
    }

    /// Adds a file effect for each path that a value may be.
    pub(super) fn add_file_effect(&mut self, does: FileOp, path: &CodeValue, recursive: bool) {
        for one in path.each() {
            if is_input(one) || one.from == ValueOrigin::Network && one.kind != ValueKind::Unknown {
                continue;
            }
            let recursive = recursive || one.covers_tree && does != FileOp::Read;
            let place = self.resolve_in_cwd(one.clone());
            self.push_effect(CodeEffect::File { does, path: place.argument(), recursive });
        }
    }

    /// Reads code of this language that is run by `eval`.
    pub(super) fn eval_code(&mut self, value: &CodeValue) {
        for one in value.each() {
            match (one.from, one.known_text()) {
                (ValueOrigin::Network, _) => self.push_effect(CodeEffect::RunsFetched),
                (ValueOrigin::Input, _) => self.push_effect(CodeEffect::RunsInput),
                (ValueOrigin::File, _) => {
                    let path = one.items.first().cloned().unwrap_or_default();
                    self.add_file_effect(FileOp::Run, &path, false);
                }
                (ValueOrigin::Here, Some(text)) if self.can_go_deeper() => {
                    let text = text.to_owned();
                    self.read_text(&text);
                }
                _ => self.push_effect(CodeEffect::RunsUnknown),
            }
        }
    }
}

/// Returns the result of an undescribed call: an object named after the call, or a value with the origin of the
/// arguments.
fn unknown_call(name: &str, args: CallArgs, keeps_arguments: bool) -> CodeValue {
    let from = args.from();
    if from != ValueOrigin::Here {
        let file = args.items.into_iter().find(|item| item.from == ValueOrigin::File);
        return CodeValue { items: file.map(|item| item.items).unwrap_or_default(), ..CodeValue::from(from) };
    }
    if name.len() + 2 > MAX_NAME_BYTES {
        return CodeValue::unknown();
    }
    let items = if keeps_arguments { args.items } else { Vec::new() };
    CodeValue { items, ..CodeValue::name(format!("{name}()")) }
}

/// Returns the file operation of an action.
fn file_op(action: FileAction) -> FileOp {
    match action {
        FileAction::Read => FileOp::Read,
        FileAction::Write => FileOp::Write,
        FileAction::Append => FileOp::Append,
        FileAction::Delete => FileOp::Delete,
        FileAction::Move => FileOp::Move,
        FileAction::Permit => FileOp::Permit,
        FileAction::Run => FileOp::Run,
    }
}

/// Name of the variable for the directory that the code has changed to.
const CWD_VARIABLE: &str = "(cwd)";

/// Names of arguments, by position.
const ARGUMENT_NAMES: &[&[&str]] =
    &[&["path", "src", "file", "filename", "name"], &["dst", "target", "filename", "dest"], &["root_dir"]];

/// Whether a path is standard input.
pub(super) fn is_input(value: &CodeValue) -> bool {
    value.from == ValueOrigin::Input
        || value.kind == ValueKind::Number
        || value.is_text()
            && matches!(value.shape.as_str(), "/dev/stdin" | "php://stdin" | "-" | "php://input")
}
