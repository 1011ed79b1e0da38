// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A call with its arguments → what it does, and what it gives back.

use super::super::Does;
use super::args::Args;
use super::calls::{self, Deed, Gives, Row};
use super::reader::{LONGEST_NAME, Reader};
use super::value::{From, Kind, Value};
use super::{Act, Argument, Language, pure};

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

    fn connect(&mut self, to: &Value) {
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

    /// A file, opened as its mode says.
    fn open(&mut self, args: &Args, path: usize, mode: usize, content: &mut Option<Value>) {
        let place = args.at_or(path, &["file", "path", "name"]);
        if let Some(url) = address(&place) {
            self.connect(&url);
            *content = Some(Value::from(From::Network));
            return;
        }
        // Ruby's `open("|ls")`
        if self.language == Language::Ruby
            && let Some(command) = place.shape.strip_prefix('|')
        {
            return self.shell_text(&Value { shape: command.to_owned(), ..place.clone() });
        }
        if is_input(&place) {
            *content = Some(Value::from(From::Input));
            return;
        }
        let mode = args
            .items
            .get(mode)
            .filter(|mode| mode.kind != Kind::Map)
            .cloned()
            .or_else(|| args.option("mode").or_else(|| args.option("flags")).cloned());
        for does in modes(mode.as_ref(), args) {
            self.touch(*does, &place, false);
        }
    }

    /// `open(F, ">x")`, `open(F, ">", "x")`, `open(F, "-|", "ls")`, `open(F, "ls|")`
    fn perl_open(&mut self, args: &Args, content: &mut Option<Value>) {
        let mode = args.get(1);
        let Some(place) = args.items.get(2) else {
            let text = mode.shape.trim();
            let rest = |text: &str| Value { shape: text.trim().to_owned(), ..mode.clone() };
            if !mode.is_text() {
                return self.touch(Does::Read, &mode, false);
            }
            if text.contains(">&") || text.contains("<&") {
                self.shell = true;
                return;
            }
            return if let Some(command) = text.strip_prefix('|').or_else(|| text.strip_suffix('|')) {
                self.shell_text(&rest(command));
            } else if let Some(path) = text.strip_prefix(">>") {
                self.touch(Does::Append, &rest(path), false);
            } else if let Some(path) =
                text.strip_prefix('>').or_else(|| text.strip_prefix("+<")).or_else(|| text.strip_prefix("+>"))
            {
                self.touch(Does::Write, &rest(path), false);
            } else {
                let path = rest(text.trim_start_matches('<'));
                self.touch(Does::Read, &path, false);
                *content = Some(Value { items: vec![path], ..Value::from(From::File) });
            };
        };
        let how = mode.shape.split(':').next().unwrap_or_default().trim();
        match how {
            "|-" | "-|" if args.items.len() > 3 => {
                let words = flatten(args.items.get(2..).unwrap_or_default());
                self.start(&words);
            }
            "|-" | "-|" => self.shell_text(place),
            ">>" | "+>>" => self.touch(Does::Append, place, false),
            ">" | "+<" | "+>" => self.touch(Does::Write, place, false),
            how if how.contains('&') => self.shell = true,
            _ => {
                self.touch(Does::Read, place, false);
                *content = Some(Value { items: vec![place.clone()], ..Value::from(From::File) });
            }
        }
        // What is read through the handle came from the file.
        if let (Some(name), Some(value)) =
            (args.items.first().filter(|handle| handle.kind == Kind::Name), content.as_ref())
        {
            self.set(&name.shape.clone(), value.clone());
        }
    }

    fn shell_or_words(&mut self, args: &Args) {
        let mut items: Vec<Value> = args.items.clone();
        // The environment may stand first, options last.
        items.retain(|item| item.kind != Kind::Map);
        let has_list = items.iter().any(|item| item.kind == Kind::List);
        let words = flatten(&items);
        match words.as_slice() {
            [one] if !has_list => self.shell_text(one),
            // Ruby: what follows a single text may be a mode.
            [one, mode] if mode.whole().is_some_and(|mode| matches!(mode, "r" | "w" | "r+" | "w+")) => {
                self.shell_text(one);
            }
            [] => self.act(Act::Shell(Value::unknown().argument())),
            words => self.start(words),
        }
    }

    fn program(&mut self, args: &Args) {
        let command = args.at_or(0, &["args"]);
        let shell = args.is_on("shell") || self.language == Language::Php;
        for one in if command.kind == Kind::Either { command.items.iter().collect() } else { vec![&command] }
        {
            match (one.kind, shell) {
                (Kind::List, false) => self.start(&flatten(&one.items)),
                (Kind::List, true) if self.language == Language::Php => self.start(&flatten(&one.items)),
                (Kind::List, true) => self.shell_text(&one.items.first().cloned().unwrap_or_default()),
                (_, true) => self.shell_text(one),
                (Kind::Unknown | Kind::Member | Kind::Name, false) => {
                    self.start(&[Value::from(one.from), Value::from(one.from)]);
                }
                (_, false) => self.start(std::slice::from_ref(one)),
            }
        }
        if args.option("stdin").is_some_and(|stdin| stdin.from == From::Network) {
            self.shell = true;
        }
    }

    fn spawn(&mut self, args: &Args) {
        let mut items: Vec<Value> =
            args.items.iter().filter(|item| item.kind != Kind::Map).take(2).cloned().collect();
        items.extend(args.option("args").cloned());
        if items.is_empty() {
            items.extend(args.option("cmd").cloned());
        }
        let words = flatten(items.get(..items.len().min(2)).unwrap_or_default());
        match args.option("shell") {
            Some(shell) if shell.is_true() => {
                let text = pure::join_texts(&words, " ");
                self.shell_text(&text);
            }
            _ => self.start(&words),
        }
    }

    /// A program is started with these words.
    fn start(&mut self, words: &[Value]) {
        let Some(first) = words.first() else { return };
        let rest = words.get(1..).unwrap_or_default();
        if first.is_text()
            && calls::is_shell(&first.shape)
            && rest.iter().all(|word| {
                word.whole()
                    .is_some_and(|text| text.starts_with('-') && text != "-c" || calls::is_shell(text))
            })
        {
            self.shell = true;
        }
        if words.iter().any(|word| word.from == From::Network) {
            self.shell = true;
        }
        let arguments: Vec<Argument> = words.iter().map(Value::argument).collect();
        self.act(Act::Start(arguments));
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
fn address(value: &Value) -> Option<Value> {
    let has_scheme = |value: &Value| {
        value.is_text()
            && ["http://", "https://", "ftp://"].iter().any(|scheme| value.shape.starts_with(scheme))
    };
    has_scheme(value).then(|| value.clone())
}

/// Whether a path is what is typed or piped in.
fn is_input(value: &Value) -> bool {
    value.from == From::Input
        || value.kind == Kind::Number
        || value.is_text()
            && matches!(value.shape.as_str(), "/dev/stdin" | "php://stdin" | "-" | "php://input")
}

fn host_of_options(args: &Args) -> Option<Value> {
    args.option("hostname").or_else(|| args.option("host")).or_else(|| args.option("url")).cloned()
}

/// Lists among the words are opened.
fn flatten(items: &[Value]) -> Vec<Value> {
    let mut out = Vec::new();
    for item in items {
        match item.kind {
            Kind::List => out.extend(item.items.iter().take(256).cloned()),
            Kind::Map => {}
            _ => out.push(item.clone()),
        }
    }
    out.truncate(256);
    out
}

/// What a mode lets be done.
fn modes(mode: Option<&Value>, args: &Args) -> &'static [Does] {
    if args.is_on("write") || args.is_on("create") {
        return &[Does::Write];
    }
    if args.is_on("append") {
        return &[Does::Append];
    }
    let Some(mode) = mode else { return &[Does::Read] };
    let text = mode.shape.as_str();
    match mode.kind {
        Kind::Text if mode.known => {
            if text.contains('a') {
                &[Does::Append]
            } else if text.contains("r+") {
                &[Does::Read, Does::Write]
            } else if text.contains(['w', 'x', '+', 'c']) {
                &[Does::Write]
            } else {
                &[Does::Read]
            }
        }
        Kind::Name if text.ends_with("RDONLY") => &[Does::Read],
        Kind::Number if text == "0" => &[Does::Read],
        _ => &[Does::Read, Does::Write],
    }
}
