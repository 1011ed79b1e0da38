// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The functions that only make values of values, one row for each.

use super::Language;

/// What a function makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Makes {
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

pub(super) fn find(language: Language, name: &str) -> Option<Makes> {
    let rows = rows(language);
    let at = rows.binary_search_by(|row| row.0.cmp(name)).ok()?;
    rows.get(at).map(|row| row.1)
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
