// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a call does with its arguments, and what it returns.
//!
//! In `languages/*.yaml` a call is one line: effects with the number of the argument, counted from 0, separated
//! by commas, then the result. [`parse`] has all forms.
//!
//! ```yaml
//! File.rename: move 0, write 1
//! File.read: read 0 -> file 0
//! File.join: -> join-paths
//! ```

use serde::{Deserialize, Serialize};

/// A call that matters.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallRule<S> {
    pub(crate) effects: Vec<CallEffect<S>>,
    pub(crate) result: CallResult,
}

/// What a call does.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CallEffect<S> {
    /// `delete 0`: does something to the file in an argument. `delete 0..`: to the files in all arguments from
    /// there on. `delete-tree 0`: and to everything below. `delete 0 tree-if recursive`: if that option is set.
    File { action: FileAction, argument: usize, each: bool, tree: TreeReach<S> },
    /// `open 0 mode 1`: opens the file in an argument; another argument says how.
    Open { path: usize, mode: usize },
    /// `open-or-pipe 0 mode 1`: the same, but a text that begins with `|` is a command.
    OpenOrPipe { path: usize, mode: usize },
    /// `open-handle`: opens a file or a command; the second argument holds the mode and perhaps the path, as in
    /// `open(F, ">x")` and `open(F, "-|", "ls")`.
    OpenHandle,
    /// `shell 0`: runs a text in a shell.
    Shell(usize),
    /// `program 1`: starts a program; the arguments from there on are its words, the one before is its path.
    Program(usize),
    /// `shell-or-words`: one text runs in a shell, several are the words of a program.
    ShellOrWords,
    /// `shell-or-list 0`: a text runs in a shell, a list holds the words of a program.
    ShellOrList(usize),
    /// `subprocess`: a list of words or a text, for a shell if the option `shell` is set.
    Subprocess,
    /// `spawn`: a program, then a list of its words; for a shell if the option `shell` is set.
    Spawn,
    /// `connect 0`: connects to a URL.
    Connect(usize),
    /// `connect-host 0 ftp`: connects to a host, with this scheme.
    ConnectHost(usize, S),
    /// `socket 0`: connects to a host and the port behind it, or to a pair of both.
    Socket(usize),
    /// `socket-port-host`: connects to a port, then the host.
    SocketPortHost,
    /// `join-shell`: joins a socket to a program.
    JoinShell,
    /// `feed 0`: writes to the input of a program that was started before.
    Feed(usize),
    /// `eval 0`: runs a text of the same language.
    Eval(usize),
    /// `run-unknown`: runs code that cannot be known.
    RunUnknown,
    /// `chdir 0`: changes the working directory.
    ChangeDirectory(usize),
}

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FileAction {
    Read,
    Write,
    Append,
    Delete,
    Move,
    /// Changes permissions or the owner.
    Permit,
    /// Runs it as code.
    Run,
}

/// Whether everything below a path is meant, too.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TreeReach<S> {
    No,
    Yes,
    IfOption(S),
}

/// What a call returns.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CallResult {
    #[default]
    Nothing,
    /// `object`: something whose methods are looked up by the name of the call: `curl_init()`.
    Object,
    /// `object-with-arguments`: the same; its methods take the arguments of the call first.
    ObjectWithArguments,
    /// `network`: something received from the network.
    Network,
    /// `file 0`: the content of the file in an argument.
    FileText(usize),
    /// A value computed from the arguments.
    Value(ValueFunction),
}

/// A function without effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ValueFunction {
    /// The arguments, joined as paths.
    JoinPaths,
    /// The first argument.
    First,
    /// A path object of the arguments.
    Path,
    /// The first argument with `~` as the home directory; below the second, if there is one.
    ExpandHome,
    Home,
    HomePath,
    WorkingDirectory,
    WorkingDirectoryPath,
    TempDirectory,
    /// Something new in the directory for temporary files.
    TempFile,
    Base64,
    Hex,
    /// The first argument, decoded as the second says.
    Decode,
    /// Characters of their codes.
    Characters,
    /// A variable of the environment.
    Environment,
    /// The files that match a pattern.
    Glob,
    /// Everything below a directory.
    Tree,
    /// What is in a directory.
    DirectoryEntries,
    /// A module, by its name.
    Module,
    /// A member of the first argument, by its name.
    Member,
    /// Words of a text.
    SplitWords,
    Dirname,
    Reverse,
    /// Something typed or piped in.
    StandardInput,
    /// A list of all arguments.
    List,
    /// The second argument and the first: a host and its port.
    SwapPair,
    /// A list joined by a text; the arguments come in either order.
    JoinTexts,
    /// `printf` to a text.
    Format,
    /// The first argument, called with each element of the second.
    Map,
}
