// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Functions that only make values of values: joins, homes, decoders.

use std::borrow::Cow;

use super::Language;
use super::args::Args;
use super::function::{from_base64, from_hex, letters};
use super::value::{From, Kind, Value};

/// What a function makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Makes {
    /// Its arguments, joined as paths.
    Join,
    /// The first argument.
    Same,
    /// The first argument as a path.
    Path,
    /// The first argument with `~` as the home directory.
    Expand,
    Home,
    Here,
    Temp,
    /// Something in the directory for temporary files.
    InTemp,
    Base64,
    Hex,
    /// Letters of their numbers.
    Letters,
    /// A variable of the environment.
    Environment,
    Glob,
    /// Everything below.
    Walk,
    /// What is in a directory.
    Listing,
    /// A module, by its name.
    Module,
    /// A member, by its name.
    Member,
    Split,
    Dirname,
    Reverse,
    /// Something that was typed or piped in.
    Input,
    /// A list: every argument.
    List,
    /// The second argument and the first: a host and its port.
    Pair,
    /// The first, joined by the second; or the other way round.
    Implode,
    /// `printf` to a text.
    Format,
    /// The second argument: the list of a `map`.
    Mapped,
}

/// One row per function.
type Row = (&'static str, Makes);

const PYTHON: &[Row] = &[
    ("Path", Makes::Path),
    ("PosixPath", Makes::Path),
    ("__import__", Makes::Module),
    ("base64.b64decode", Makes::Base64),
    ("base64.decodebytes", Makes::Base64),
    ("base64.urlsafe_b64decode", Makes::Base64),
    ("binascii.a2b_base64", Makes::Base64),
    ("binascii.unhexlify", Makes::Hex),
    ("builtins.__import__", Makes::Module),
    ("bytearray", Makes::Letters),
    ("bytearray.fromhex", Makes::Hex),
    ("bytes", Makes::Letters),
    ("bytes.fromhex", Makes::Hex),
    ("chr", Makes::Letters),
    ("codecs.decode", Makes::Same),
    ("compile", Makes::Same),
    ("getattr", Makes::Member),
    ("glob.glob", Makes::Glob),
    ("glob.iglob", Makes::Glob),
    ("importlib.import_module", Makes::Module),
    ("input", Makes::Input),
    ("list", Makes::Same),
    ("map", Makes::Mapped),
    ("os.environ.get", Makes::Environment),
    ("os.fspath", Makes::Same),
    ("os.getcwd", Makes::Here),
    ("os.getenv", Makes::Environment),
    ("os.listdir", Makes::Listing),
    ("os.path.abspath", Makes::Same),
    ("os.path.dirname", Makes::Dirname),
    ("os.path.expanduser", Makes::Expand),
    ("os.path.expandvars", Makes::Expand),
    ("os.path.join", Makes::Join),
    ("os.path.normpath", Makes::Same),
    ("os.path.realpath", Makes::Same),
    ("os.scandir", Makes::Listing),
    ("os.walk", Makes::Walk),
    ("pathlib.Path", Makes::Path),
    ("pathlib.Path.cwd", Makes::Here),
    ("pathlib.Path.home", Makes::Home),
    ("pathlib.PosixPath", Makes::Path),
    ("pathlib.PurePath", Makes::Path),
    ("reversed", Makes::Same),
    ("set", Makes::Same),
    ("shlex.quote", Makes::Same),
    ("shlex.split", Makes::Split),
    ("sorted", Makes::Same),
    ("str", Makes::Same),
    ("sys.stdin.read", Makes::Input),
    ("sys.stdin.readline", Makes::Input),
    ("tempfile.NamedTemporaryFile", Makes::InTemp),
    ("tempfile.TemporaryDirectory", Makes::InTemp),
    ("tempfile.gettempdir", Makes::Temp),
    ("tempfile.mkdtemp", Makes::InTemp),
    ("tempfile.mkstemp", Makes::InTemp),
    ("tempfile.mktemp", Makes::InTemp),
    ("tuple", Makes::Same),
];

const JAVASCRIPT: &[Row] = &[
    ("Array.from", Makes::Same),
    ("Buffer.from", Makes::Same),
    ("Deno.cwd", Makes::Here),
    ("Deno.env.get", Makes::Environment),
    ("Deno.readDir", Makes::Listing),
    ("Deno.realPath", Makes::Same),
    ("String", Makes::Same),
    ("String.fromCharCode", Makes::Letters),
    ("atob", Makes::Base64),
    ("decodeURIComponent", Makes::Same),
    ("fs.mkdtemp", Makes::InTemp),
    ("fs.readdir", Makes::Listing),
    ("fs.realpath", Makes::Same),
    ("glob", Makes::Glob),
    ("glob.glob", Makes::Glob),
    ("globby", Makes::Glob),
    ("import", Makes::Module),
    ("module.require", Makes::Module),
    ("os.homedir", Makes::Home),
    ("os.tmpdir", Makes::Temp),
    ("path.dirname", Makes::Dirname),
    ("path.join", Makes::Join),
    ("path.normalize", Makes::Same),
    ("path.resolve", Makes::Join),
    ("process.cwd", Makes::Here),
    ("process.getBuiltinModule", Makes::Module),
    ("process.mainModule.require", Makes::Module),
    ("prompt", Makes::Input),
    ("require", Makes::Module),
];

const PERL: &[Row] = &[
    ("File.Spec.catdir", Makes::Join),
    ("File.Spec.catfile", Makes::Join),
    ("bsd_glob", Makes::Glob),
    ("catdir", Makes::Join),
    ("catfile", Makes::Join),
    ("chr", Makes::Letters),
    ("cwd", Makes::Here),
    ("decode_base64", Makes::Base64),
    ("dirname", Makes::Dirname),
    ("getcwd", Makes::Here),
    ("glob", Makes::Glob),
    ("inet_aton", Makes::Same),
    ("join", Makes::Implode),
    ("pack_sockaddr_in", Makes::Pair),
    ("reverse", Makes::Reverse),
    ("sockaddr_in", Makes::Pair),
    ("sprintf", Makes::Format),
    ("tempdir", Makes::InTemp),
    ("tempfile", Makes::InTemp),
    ("tmpdir", Makes::Temp),
];

const RUBY: &[Row] = &[
    ("Array", Makes::Same),
    ("Base64.decode64", Makes::Base64),
    ("Base64.strict_decode64", Makes::Base64),
    ("Base64.urlsafe_decode64", Makes::Base64),
    ("Dir.children", Makes::Listing),
    ("Dir.each_child", Makes::Listing),
    ("Dir.entries", Makes::Listing),
    ("Dir.glob", Makes::Glob),
    ("Dir.home", Makes::Home),
    ("Dir.mktmpdir", Makes::InTemp),
    ("Dir.pwd", Makes::Here),
    ("Dir.tmpdir", Makes::Temp),
    ("ENV.fetch", Makes::Environment),
    ("File.absolute_path", Makes::Same),
    ("File.dirname", Makes::Dirname),
    ("File.expand_path", Makes::Expand),
    ("File.join", Makes::Join),
    ("File.realpath", Makes::Same),
    ("Find.find", Makes::Walk),
    ("Pathname", Makes::Path),
    ("Pathname.new", Makes::Path),
    ("STDIN.gets", Makes::Input),
    ("STDIN.read", Makes::Input),
    ("Shellwords.split", Makes::Split),
    ("String", Makes::Same),
    ("URI", Makes::Same),
    ("URI.parse", Makes::Same),
    ("gets", Makes::Input),
    ("sprintf", Makes::Format),
];

const PHP: &[Row] = &[
    ("array", Makes::List),
    ("array_map", Makes::Mapped),
    ("array_walk", Makes::Mapped),
    ("base64_decode", Makes::Base64),
    ("chr", Makes::Letters),
    ("dirname", Makes::Dirname),
    ("escapeshellarg", Makes::Same),
    ("escapeshellcmd", Makes::Same),
    ("getcwd", Makes::Here),
    ("getenv", Makes::Environment),
    ("glob", Makes::Glob),
    ("hex2bin", Makes::Hex),
    ("implode", Makes::Implode),
    ("join", Makes::Implode),
    ("readline", Makes::Input),
    ("realpath", Makes::Same),
    ("scandir", Makes::Listing),
    ("sprintf", Makes::Format),
    ("strrev", Makes::Reverse),
    ("strval", Makes::Same),
    ("sys_get_temp_dir", Makes::Temp),
    ("tempnam", Makes::InTemp),
];

const LUA: &[Row] = &[
    ("assert", Makes::Same),
    ("io.read", Makes::Input),
    ("io.stdin.read", Makes::Input),
    ("ipairs", Makes::Same),
    ("os.getenv", Makes::Environment),
    ("os.tmpname", Makes::InTemp),
    ("pairs", Makes::Same),
    ("require", Makes::Module),
    ("string.char", Makes::Letters),
    ("string.format", Makes::Format),
    ("string.reverse", Makes::Reverse),
    ("table.concat", Makes::Implode),
    ("tostring", Makes::Same),
];

fn rows(language: Language) -> &'static [Row] {
    match language {
        Language::Python => PYTHON,
        Language::JavaScript => JAVASCRIPT,
        Language::Perl => PERL,
        Language::Ruby => RUBY,
        Language::Php => PHP,
        Language::Lua => LUA,
        Language::Awk => &[],
    }
}

fn find(language: Language, name: &str) -> Option<Makes> {
    let rows = rows(language);
    let at = rows.binary_search_by(|row| row.0.cmp(name)).ok()?;
    rows.get(at).map(|row| row.1)
}

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
        Makes::InTemp => Value { known: false, ..Value::text("/tmp/*") },
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

/// Texts with something between them.
pub(super) fn join_texts(items: &[Value], between: &str) -> Value {
    let mut out = Value::text("");
    for (at, item) in items.iter().enumerate() {
        if at > 0 && !between.is_empty() {
            out.shape.push_str(between);
        }
        // In place: a list of many letters is common.
        if item.is_text() && out.shape.len() < 64 * 1024 {
            out.shape.push_str(&item.shape);
            out.known &= item.known;
        } else {
            out.shape.push('*');
            out.known = false;
        }
        out.from = out.from.max(item.from);
    }
    out
}

pub(super) fn split(text: &Value, separator: Option<&str>) -> Value {
    let Some(whole) = text.whole() else {
        // Only the first word is sure.
        return match text.shape.split_once(' ') {
            Some((first, _)) if text.is_text() && !first.contains('*') => {
                Value::list(vec![Value::text(first), Value::from(text.from)])
            }
            _ => Value::list(vec![Value::from(text.from)]),
        };
    };
    let words: Vec<Value> = match separator {
        Some("") => whole.chars().take(256).map(Value::text).collect(),
        Some(separator) => whole.split(separator).take(256).map(Value::text).collect(),
        None => whole
            .split_whitespace()
            .take(256)
            .map(|word| Value::text(word.trim_matches(['"', '\''])))
            .collect(),
    };
    Value::list(words)
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

/// `"rm %s" % x`, `sprintf("%s/x", y)`
pub(super) fn format_percent(template: &Value, values: &Value) -> Value {
    if !template.is_text() {
        return Value::from(template.from.max(values.from));
    }
    let list: &[Value] = if values.kind == Kind::List { &values.items } else { std::slice::from_ref(values) };
    let mut list = list.iter();
    let mut out = Value { shape: String::new(), ..template.clone() };
    let mut rest = template.shape.as_str();
    while let Some((before, after)) = rest.split_once('%') {
        out.shape.push_str(before);
        let end =
            after.find(|c: char| c.is_ascii_alphabetic() || c == '%').map_or(after.len(), |end| end + 1);
        let Some((spec, tail)) = after.split_at_checked(end) else { break };
        rest = tail;
        if spec.starts_with('%') {
            out.shape.push('%');
            continue;
        }
        match list.next() {
            Some(value) if value.is_text() && out.shape.len() < 16 * 1024 => {
                out.shape.push_str(&value.shape);
                out.known &= value.known;
                out.from = out.from.max(value.from);
            }
            _ => {
                out.shape.push('*');
                out.known = false;
            }
        }
    }
    out.shape.push_str(rest);
    out
}

/// `"rm {}".format(x)`
pub(super) fn format_braces(template: &Value, args: &Args) -> Value {
    if !template.is_text() {
        return Value::from(template.from);
    }
    let mut out = Value { shape: String::new(), ..template.clone() };
    let mut next = 0;
    let mut rest = template.shape.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        out.shape.push_str(before);
        let Some((inside, tail)) = after.split_once('}') else {
            rest = after;
            break;
        };
        rest = tail;
        let key = inside.split([':', '!']).next().unwrap_or_default();
        let value = if key.is_empty() {
            next += 1;
            args.items.get(next - 1)
        } else {
            key.parse::<usize>().ok().and_then(|at| args.items.get(at)).or_else(|| args.option(key))
        };
        match value {
            Some(value) if value.is_text() && out.shape.len() < 16 * 1024 => {
                out.shape.push_str(&value.shape);
                out.known &= value.known;
                out.from = out.from.max(value.from);
            }
            _ => {
                out.shape.push('*');
                out.known = false;
            }
        }
    }
    out.shape.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_are_in_order() {
        for rows in [PYTHON, JAVASCRIPT, PERL, RUBY, PHP, LUA] {
            assert!(rows.is_sorted_by(|a, b| a.0 < b.0));
        }
    }
}
