// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Describes the effects and results of calls.
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
    /// `delete 0` operates on the file in an argument, and `delete 0..` on the files in that argument and all later
    /// ones. `delete-tree 0` also operates on everything below the path. `delete 0 tree-if recursive` does so if that
    /// option is set.
    File { action: FileAction, argument: usize, each: bool, tree: TreeReach<S> },
    /// `open 0 mode 1`: opens the file in an argument, with the mode in another argument.
    Open { path: usize, mode: usize },
    /// `open-or-pipe 0 mode 1`: like `open`, but text that begins with `|` is a command.
    OpenOrPipe { path: usize, mode: usize },
    /// `open-handle`: opens a file or a command; the second argument contains the mode and possibly the path, as in
    /// `open(F, ">x")` and `open(F, "-|", "ls")`.
    OpenHandle,
    /// `shell 0`: runs a string in a shell.
    Shell(usize),
    /// `program 1`: starts a program. Its words are the arguments from this index on; its path is the argument before
    /// them.
    Program(usize),
    /// `shell-or-words`: a single string runs in a shell; several strings are the words of a program.
    ShellOrWords,
    /// `shell-or-list 0`: a string runs in a shell; a list contains the words of a program.
    ShellOrList(usize),
    /// `subprocess`: runs a list of words or a string, in a shell if the option `shell` is set.
    Subprocess,
    /// `spawn`: runs a program with a list of its words, in a shell if the option `shell` is set.
    Spawn,
    /// `connect 0`: connects to a URL.
    Connect(usize),
    /// `connect-host 0 ftp`: connects to a host, with this scheme.
    ConnectHost(usize, S),
    /// `socket 0`: connects to a host and the port after it, or to a pair of host and port.
    Socket(usize),
    /// `socket-port-host`: connects to the port in the first argument and the host in the second.
    SocketPortHost,
    /// `join-shell`: connects a socket to a program.
    JoinShell,
    /// `feed 0`: writes to the input of a program that was started before.
    Feed(usize),
    /// `eval 0`: runs a string as code of the same language.
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
    /// `object-with-arguments`: like `object`, but the arguments of the call come before the arguments of its
    /// methods.
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
    /// A path object built from the arguments.
    Path,
    /// The first argument with `~` replaced by the home directory, relative to the second argument if there is one.
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
    /// The words of a string.
    SplitWords,
    Dirname,
    Reverse,
    /// Data from standard input.
    StandardInput,
    /// A list of all arguments.
    List,
    /// The two arguments swapped: a host and its port.
    SwapPair,
    /// The arguments, as one text.
    Concatenate,
    /// A list joined with a separator; the arguments come in either order.
    JoinTexts,
    /// A string formatted as by `printf`.
    Format,
    /// The first argument, called with each element of the second.
    Map,
}
