// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Effects and results of calls.
//!
//! In `languages/*.yaml` a call is one line: effects separated by commas, each with the index of its argument, then
//! the result.
//!
//! ```yaml
//! File.rename: move 0, write 1
//! File.read: read 0 -> file 0
//! File.join: -> join-paths
//! ```

use serde::{Deserialize, Serialize};

/// A call with known effects or result.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CallRule<S> {
    pub(crate) effects: Vec<CallEffect<S>>,
    pub(crate) result: CallResult,
}

/// An effect of a call.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CallEffect<S> {
    /// `delete 0`: operates on the file in an argument. `delete 0..`: on the files in all arguments from there on.
    /// `delete-tree 0`: on everything below as well. `delete 0 tree-if recursive`: on everything below if that option
    /// is set.
    File { action: FileAction, argument: usize, each: bool, tree: TreeReach<S> },
    /// `open 0 mode 1`: opens the file in an argument, with the mode in another argument.
    Open { path: usize, mode: usize },
    /// `open-or-pipe 0 mode 1`: like `open`, but text that begins with `|` is a command.
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
    /// `join-shell`: connects a socket to a program.
    JoinShell,
    /// `feed 0`: writes to the input of a program that was started before.
    Feed(usize),
    /// `eval 0`: runs a text of the same language.
    Eval(usize),
    /// `run-unknown`: runs code that is unknown.
    RunUnknown,
    /// `chdir 0`: changes the working directory.
    ChangeDirectory(usize),
}

/// An operation on a file.
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

/// Whether an effect includes everything below a path.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum TreeReach<S> {
    No,
    Yes,
    IfOption(S),
}

/// The result of a call.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CallResult {
    #[default]
    Nothing,
    /// `object`: an object whose methods are looked up by the name of the call: `curl_init()`.
    Object,
    /// `object-with-arguments`: like `object`, and its methods take the arguments of the call first.
    ObjectWithArguments,
    /// `network`: data received from the network.
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
    /// A new file in the temporary directory.
    TempFile,
    Base64,
    Hex,
    /// The first argument, decoded with the encoding in the second.
    Decode,
    /// Characters from their codes.
    Characters,
    /// A variable of the environment.
    Environment,
    /// The files that match a pattern.
    Glob,
    /// Everything below a directory.
    Tree,
    /// The entries of a directory.
    DirectoryEntries,
    /// A module, by its name.
    Module,
    /// A member of the first argument, by its name.
    Member,
    /// Words of a text.
    SplitWords,
    Dirname,
    Reverse,
    /// Data from standard input.
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
