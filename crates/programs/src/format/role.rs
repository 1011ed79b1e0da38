// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines the roles of words.

use serde::{Deserialize, Serialize};

/// Language of code that a program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// The Python language.
    Python,
    /// JavaScript or TypeScript.
    JavaScript,
    /// The Perl language.
    Perl,
    /// The Ruby language.
    Ruby,
    /// The PHP language.
    Php,
    /// The Lua language.
    Lua,
    /// Scripts of awk.
    Awk,
    /// Scripts of sed.
    Sed,
    /// SQL in any dialect.
    Sql,
    /// The PowerShell language.
    PowerShell,
    /// The AppleScript language.
    AppleScript,
    /// Any shell language.
    Shell,
    /// The Clojure language.
    Clojure,
    /// The Elixir language.
    Elixir,
    /// The Erlang language.
    Erlang,
    /// The Go language.
    Go,
    /// The Groovy language.
    Groovy,
    /// The Haskell language.
    Haskell,
    /// The Julia language.
    Julia,
    /// The Kotlin language.
    Kotlin,
    /// Emacs Lisp, Scheme or Racket.
    Lisp,
    /// Rules of a makefile.
    Makefile,
    /// The OCaml language.
    OCaml,
    /// The Octave or MATLAB language.
    Octave,
    /// The R language.
    R,
    /// The Raku language.
    Raku,
    /// The Scala language.
    Scala,
    /// The Swift language.
    Swift,
    /// The Tcl language.
    Tcl,
    /// A language that is read only by its literals and well-known calls.
    Plain,
    /// A language without a reader of its own.
    Other,
}

/// The meaning of an operand or option value to the program. Options without a value have a role too, if they change
/// what the program does with its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Text without further meaning.
    Text,
    /// Pattern, expression or filter that is matched but not run.
    Pattern,
    /// File that is read.
    Read,
    /// File or directory that is created or replaced.
    Write,
    /// Target of a copy or move, or directory into which an archive is unpacked.
    Target,
    /// File that is read, with or without `NAME=` before it.
    NamedFile,
    /// Field of a form, read from a file if it is written `NAME=@FILE`, `NAME=<FILE`, `@FILE` or `NAME@FILE`.
    Form,
    /// File to which data is appended.
    Append,
    /// File or directory that is removed.
    Delete,
    /// File that is moved away.
    Move,
    /// File that is changed in place.
    Edit,
    /// File whose mode, owner or attributes are changed.
    Permit,
    /// Directory whose names are listed; contents are not read.
    List,
    /// Directory the program changes to first.
    Directory,
    /// Directory that becomes the root of the file system.
    Root,
    /// Directory of this machine that becomes visible in a container: `outside:inside`.
    Mount,
    /// File or directory on another machine or in a container.
    RemotePath,
    /// Local path or `host:path`.
    Place,
    /// Host name or address, with or without user and port.
    Host,
    /// Number of a port.
    Port,
    /// URL, with or without a scheme.
    Url,
    /// URL whose content is kept in a file of the same name.
    Download,
    /// Proxy through which the program connects.
    Proxy,
    /// Address that replaces a host: `HOST:PORT:ADDRESS`.
    Route,
    /// Socket address such as `TCP:host:port,option`.
    Socket,
    /// Method of a request, in capitals. A position with this role takes nothing else.
    Method,
    /// Whole number. A position with this role takes nothing else.
    Number,
    /// Name to resolve, record type or `@server`.
    Lookup,
    /// Container image, which may begin with a registry host.
    Image,
    /// Version-control repository: URL, `host:path` or a configured name.
    Repository,
    /// Package to install or run.
    Package,
    /// File that lists packages, or a directory that is a package.
    PackageFile,
    /// Directory that the named package is taken from.
    PackageSource,
    /// Package index or source that is used or added.
    Index,
    /// Code in another language.
    Code(Language),
    /// Text that a shell runs.
    Shell,
    /// Command in one word: a program with its arguments, without a shell.
    Command,
    /// Program that is started with other arguments.
    Program,
    /// File that is run.
    Script,
    /// Task, script or target of the project that is run.
    Task,
    /// Module or library that is loaded and run by name.
    Module,
    /// File with settings.
    Setting,
    /// File with a key or another credential.
    Key,
    /// Setting in the form `name=value`.
    Assignment,
    /// Dry run: the program only reports what it would do.
    DryRun,
    /// Directories are processed recursively.
    Recursive,
    /// The program does not ask for confirmation.
    Force,
    /// Operands are changed in place instead of read.
    InPlace,
    /// An archive is unpacked.
    Unpack,
    /// Files at the target that are not among the sources are deleted.
    Prune,
    /// `NAME:PATH` names a path in a store, not on another machine.
    Store,
    /// A source `x/` means the content of `x`.
    Contents,
    /// A source replaces the target itself, even if that is a directory.
    Onto,
    /// A recursive search without a path searches the working directory.
    Search,
    /// Output goes to standard output, not to a file.
    ToStdout,
    /// The program prints information about itself and stops.
    Info,
    /// The program opens no prompt.
    Batch,
    /// The program opens a prompt in any case.
    Interactive,
    /// The program waits for connections instead of opening them.
    Listen,
}

/// Names of roles in the data files, except `code:LANGUAGE`.
const ROLE_NAMES: &[(&str, Role)] = &[
    ("text", Role::Text),
    ("pattern", Role::Pattern),
    ("read", Role::Read),
    ("write", Role::Write),
    ("target", Role::Target),
    ("named-file", Role::NamedFile),
    ("form", Role::Form),
    ("append", Role::Append),
    ("delete", Role::Delete),
    ("move", Role::Move),
    ("edit", Role::Edit),
    ("permit", Role::Permit),
    ("list", Role::List),
    ("directory", Role::Directory),
    ("root", Role::Root),
    ("mount", Role::Mount),
    ("remote-path", Role::RemotePath),
    ("place", Role::Place),
    ("host", Role::Host),
    ("port", Role::Port),
    ("url", Role::Url),
    ("download", Role::Download),
    ("proxy", Role::Proxy),
    ("route", Role::Route),
    ("socket", Role::Socket),
    ("method", Role::Method),
    ("number", Role::Number),
    ("lookup", Role::Lookup),
    ("image", Role::Image),
    ("repository", Role::Repository),
    ("package", Role::Package),
    ("package-file", Role::PackageFile),
    ("package-source", Role::PackageSource),
    ("index", Role::Index),
    ("shell", Role::Shell),
    ("command", Role::Command),
    ("program", Role::Program),
    ("script", Role::Script),
    ("task", Role::Task),
    ("module", Role::Module),
    ("setting", Role::Setting),
    ("key", Role::Key),
    ("assignment", Role::Assignment),
    ("dry-run", Role::DryRun),
    ("recursive", Role::Recursive),
    ("force", Role::Force),
    ("in-place", Role::InPlace),
    ("unpack", Role::Unpack),
    ("prune", Role::Prune),
    ("store", Role::Store),
    ("contents", Role::Contents),
    ("onto", Role::Onto),
    ("search", Role::Search),
    ("to-stdout", Role::ToStdout),
    ("info", Role::Info),
    ("batch", Role::Batch),
    ("interactive", Role::Interactive),
    ("listen", Role::Listen),
];

const LANGUAGE_NAMES: &[(&str, Language)] = &[
    ("python", Language::Python),
    ("javascript", Language::JavaScript),
    ("perl", Language::Perl),
    ("ruby", Language::Ruby),
    ("php", Language::Php),
    ("lua", Language::Lua),
    ("awk", Language::Awk),
    ("sed", Language::Sed),
    ("sql", Language::Sql),
    ("powershell", Language::PowerShell),
    ("applescript", Language::AppleScript),
    ("shell", Language::Shell),
    ("clojure", Language::Clojure),
    ("elixir", Language::Elixir),
    ("erlang", Language::Erlang),
    ("go", Language::Go),
    ("groovy", Language::Groovy),
    ("haskell", Language::Haskell),
    ("julia", Language::Julia),
    ("kotlin", Language::Kotlin),
    ("lisp", Language::Lisp),
    ("makefile", Language::Makefile),
    ("ocaml", Language::OCaml),
    ("octave", Language::Octave),
    ("r", Language::R),
    ("raku", Language::Raku),
    ("scala", Language::Scala),
    ("swift", Language::Swift),
    ("tcl", Language::Tcl),
    ("plain", Language::Plain),
    ("other", Language::Other),
];

// === impl Language ===

impl Language {
    /// Finds a language by its name in a data file: `python`.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        LANGUAGE_NAMES.iter().find(|(known, _)| *known == name).map(|(_, language)| *language)
    }

    /// Returns the name of the language in a data file.
    pub fn name(self) -> &'static str {
        LANGUAGE_NAMES.iter().find(|(_, language)| *language == self).map_or("other", |(name, _)| name)
    }
}

// === impl Role ===

impl Role {
    /// Finds a role by its name in a data file: `read`, `code:python`.
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some(language) = name.strip_prefix("code:") {
            // Shell text has its own role.
            return Language::from_name(language).filter(|found| *found != Language::Shell).map(Self::Code);
        }
        ROLE_NAMES.iter().find(|(known, _)| *known == name).map(|(_, role)| *role)
    }

    /// Returns the name of the role in a data file.
    pub fn name(self) -> &'static str {
        if matches!(self, Self::Code(_)) {
            return "code";
        }
        ROLE_NAMES.iter().find(|(_, role)| *role == self).map_or("text", |(name, _)| name)
    }

    /// Returns all names that [`Role::from_name`] accepts, except those of code.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ROLE_NAMES.iter().map(|(name, _)| *name)
    }

    /// Whether a word with this role can name a host.
    pub fn names_host(self) -> bool {
        matches!(
            self,
            Self::Host
                | Self::Url
                | Self::Download
                | Self::Proxy
                | Self::Route
                | Self::Socket
                | Self::Lookup
                | Self::Image
                | Self::Repository
                | Self::Place
        )
    }
}
