// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A call with its arguments → what it does, and what it gives back.

use super::super::Does;
use super::args::Args;
use super::calls::{self, Deed, Gives, Row};
use super::reader::{LONGEST_NAME, Reader};
use super::start::flatten;
use super::value::{From, Kind, Value};
use super::{Act, Language, pure};

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
            Kind::Text if self.language == Language::Php && callee.known => {
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
        let name = calls::plain(self.language, name);
        if pure::maps(self.language, &name) {
            let list = args.get(1);
            let element = if list.kind == Kind::List { list.element() } else { list };
            let made = self.call(args.get(0), Args::of(vec![element]));
            return Value::list(vec![made]);
        }
        if let Some(value) = pure::call(self.language, &name, &args) {
            return value;
        }
        if let Some(row) = calls::find(self.language, &name) {
            // `unlink for …`
            if self.language == Language::Perl && args.items.is_empty() && row.name != "connect" {
                args.items.extend(self.variable("$_"));
            }
            return self.perform(row, &args);
        }
        // `Bun.file("x")` is known by its path, too.
        let from = args.from();
        if from != From::Here {
            return Value {
                items: args
                    .items
                    .into_iter()
                    .find(|item| item.from == From::File)
                    .map(|item| item.items)
                    .unwrap_or_default(),
                ..Value::from(from)
            };
        }
        if name.len() + 2 > LONGEST_NAME {
            return Value::unknown();
        }
        let items = if name == "Bun.file" { args.items } else { Vec::new() };
        Value { items, ..Value::name(format!("{name}()")) }
    }

    /// Does what a row says.
    pub(super) fn perform(&mut self, row: &Row, args: &Args) -> Value {
        let mut content = None;
        for deed in row.deeds {
            self.deed(*deed, args, &mut content);
        }
        if let Some(content) = content {
            return content;
        }
        match row.gives {
            Gives::Own => Value::name(format!("{}()", row.name)),
            Gives::Nothing => Value::unknown(),
            Gives::Fetched => Value::from(From::Network),
            Gives::Content(at) => {
                let path = args.at_or(at, &["file", "path", "fd"]);
                if is_input(&path) {
                    Value::from(From::Input)
                } else {
                    Value { items: vec![path], ..Value::from(From::File) }
                }
            }
        }
    }

    fn deed(&mut self, deed: Deed, args: &Args, content: &mut Option<Value>) {
        match deed {
            Deed::Touch(does, at) => {
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
            Deed::Tree(does, at) => self.touch(does, &args.at_or(at, &["path", "paths"]), true),
            Deed::TreeIf(does, at, key) => {
                let recursive = args.is_on(key)
                    || args
                        .items
                        .get(1)
                        .is_some_and(|options| !matches!(options.kind, Kind::Map | Kind::Unknown));
                self.touch(does, &args.get(at), recursive);
            }
            Deed::All(does, from) | Deed::AllTrees(does, from) => {
                let trees = matches!(deed, Deed::AllTrees(..));
                for item in args.items.iter().skip(from).filter(|item| item.kind != Kind::Map) {
                    // `rm('-rf', 'x')`
                    if !item.whole().is_some_and(|text| trees && text.starts_with('-')) {
                        self.touch(does, item, trees);
                    }
                }
            }
            Deed::Open(path, mode) => self.open(args, path, mode, content),
            Deed::PerlOpen => self.perl_open(args, content),
            Deed::Shell(at) => self.shell_text(&args.at_or(at, &["cmd", "command"])),
            Deed::Words(from) => {
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
            Deed::ShellOrWords => self.shell_or_words(args),
            Deed::Program => self.program(args),
            Deed::Spawn => self.spawn(args),
            Deed::Connect(at) => {
                let to = args.at_or(at, &["url", "uri"]);
                let to = if to.is_text() || to.kind == Kind::Either {
                    to
                } else {
                    host_of_options(args).unwrap_or(to)
                };
                self.connect(&to);
            }
            Deed::Host(at, scheme) => {
                let host = args.at_or(at, &["host"]);
                let host = Value::text(format!("{scheme}://")).concat(host);
                self.connect(&host);
            }
            Deed::Socket(at) => self.open_socket(args, at),
            Deed::PortHost => {
                let pair = match args.items.first() {
                    Some(options) if options.kind == Kind::Map => {
                        vec![args.at_or(9, &["host", "hostname"]), args.at_or(9, &["port"])]
                    }
                    Some(port)
                        if port.kind == Kind::Number
                            || port.kind == Kind::Unknown
                            || port.kind == Kind::Name =>
                    {
                        let host = args.items.get(1).filter(|host| host.is_text()).cloned();
                        vec![host.unwrap_or_else(|| Value::text("localhost")), port.clone()]
                    }
                    _ => args.items.clone(),
                };
                self.open_socket(&Args::of(pair), 0);
            }
            Deed::Joins => self.shell = true,
            Deed::Eval(at) => self.eval(&args.get(at)),
            Deed::Unknown => self.act(Act::RunsUnknown),
            Deed::Chdir(at) => {
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

    pub(super) fn connect(&mut self, to: &Value) {
        for one in to.each() {
            // What was made of an address is connected to once.
            if one.from != From::Network {
                self.act(Act::Connect(one.argument()));
            }
        }
    }

    fn open_socket(&mut self, args: &Args, at: usize) {
        self.socket = true;
        let options = args.option("PeerAddr").or_else(|| args.option("PeerHost"));
        let first = options.cloned().unwrap_or_else(|| args.get(at));
        let (host, port) = match (first.kind, first.items.as_slice()) {
            (Kind::List, [host, port, ..]) => (host.clone(), port.clone()),
            _ => (first, args.option("PeerPort").cloned().unwrap_or_else(|| args.get(at + 1))),
        };
        // A socket of this machine's own has no port.
        let has_port = !(port.kind == Kind::Unknown && host.shape.contains([':', '/']));
        let host = host.map(&|host| Some(host.split_once("://").map_or(host, |(_, host)| host).to_owned()));
        let mut to = Value::text("tcp://").concat(host);
        if has_port {
            to = to.concat(Value::text(":")).concat(port);
        }
        self.connect(&to);
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

/// The directory the code has changed to.
const CWD: &str = "(cwd)";

/// What arguments may be called, by their place.
const NAMES: &[&[&str]] =
    &[&["path", "src", "file", "filename", "name"], &["dst", "target", "filename", "dest"], &["root_dir"]];

/// The address in a value, if it is one.
pub(super) fn address(value: &Value) -> Option<Value> {
    let has_scheme = |value: &Value| {
        value.is_text()
            && ["http://", "https://", "ftp://"].iter().any(|scheme| value.shape.starts_with(scheme))
    };
    has_scheme(value).then(|| value.clone())
}

/// Whether a path is what is typed or piped in.
pub(super) fn is_input(value: &Value) -> bool {
    value.from == From::Input
        || value.kind == Kind::Number
        || value.is_text()
            && matches!(value.shape.as_str(), "/dev/stdin" | "php://stdin" | "-" | "php://input")
}

fn host_of_options(args: &Args) -> Option<Value> {
    args.option("hostname").or_else(|| args.option("host")).or_else(|| args.option("url")).cloned()
}
