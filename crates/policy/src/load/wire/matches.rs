// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a rule looks for, as it is written.

use serde::de::{Deserialize, Deserializer, Error};
use tenterhook_event::EventKind;

use super::many::Many;
use super::texts::{HostList, NameList, PathList, Pattern, WordList};
use crate::facts::{Does, PackageFrom, Place, Side};

/// Conditions on one event. Those that are given must all hold.
///
/// A rule that denies or asks matches when some one thing of the call satisfies a condition, and what
/// is not known counts as what it may be. A rule that allows has to cover the whole call: every
/// command, path, address and package must satisfy its conditions, for certain. What stands in `not`
/// is an exception, and so is read the other way round: in a rule that denies or asks it holds only
/// if it covers the whole call.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Match {
    /// Kinds of events. Default: `pre-tool` and `permission-request`.
    pub(crate) event: Option<Many<EventKind>>,
    /// Tool classes (`shell`, `read`, …) or globs on the harness's own tool names; `!` takes away.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) tool: Option<Many<String>>,
    /// Globs on the harness: `claude-code`, `codex`, …
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) source: Option<NameList>,
    /// Some one command that would run satisfies all of this.
    pub(crate) shell: Option<Shell>,
    /// Some one thing that would be done to a file satisfies all of this, whichever tool, program or
    /// language does it.
    #[serde(deserialize_with = "told")]
    pub(crate) effect: Option<Effect>,
    /// Some path of the call matches: a path argument, or a shell operand or input redirection.
    /// Globs; `~/` stands for any home directory, a relative glob is relative to the project, `!`
    /// takes matches away.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) path: Option<PathList>,
    /// Some one address the call would connect to satisfies all of this.
    #[serde(deserialize_with = "told")]
    pub(crate) url: Option<Url>,
    /// Short for `url: {host: …}`.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) host: Option<HostList>,
    /// The tool is one of an MCP server and satisfies all of this.
    #[serde(deserialize_with = "told")]
    pub(crate) mcp: Option<Mcp>,
    /// Some one package that would be installed or run satisfies all of this.
    #[serde(deserialize_with = "told")]
    pub(crate) package: Option<Package>,
    /// Some secret of one of these kinds is in what would be written, sent, said or run. Globs on
    /// kinds; `"*"` is any.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) secret: Option<NameList>,
    /// Regular expressions on the texts of the call as they stand: for what the other conditions
    /// cannot say. Do not use them in `not`: a comment is part of the text, and would be an exception.
    #[serde(deserialize_with = "told")]
    pub(crate) regex: Option<Regexes>,
    /// Globs on the account that runs the agent.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) user: Option<NameList>,
    /// Globs on the groups of that account.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) group: Option<NameList>,
    /// The session carries one of these labels: some rule before put it there. Globs.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) label: Option<NameList>,
    /// Whether some shell text could not be understood.
    pub(crate) unparsed: Option<bool>,
    /// At least one of these alternatives holds too.
    pub(crate) any: Option<Many<Match>>,
    /// None of these holds.
    pub(crate) not: Option<Many<Match>>,
}

/// Conditions on one command of a shell line.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions on a command")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Shell {
    /// Globs on the program's name without its directory; `!` takes names away. An empty name stands
    /// for a program that is only known when it runs.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) program: Option<NameList>,
    /// The first word behind the program that is no option: the subcommand of `git`, `docker`, … Globs.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) first: Option<NameList>,
    /// Any of these options is given: letters (also in clusters) or long names (also abbreviated). In
    /// `not`, an option whose value turns it off (`--dry-run=false`) does not count.
    pub(crate) option: Option<Many<String>>,
    /// These words stand among the command's words, in this order. Globs.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) words: Option<WordList>,
    /// Some operand satisfies all of this.
    pub(crate) operand: Option<Operand>,
    /// Some path the command names matches: an operand, an option's value, `@file`, `key=file` or
    /// an input redirection. Globs as in `path` above.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) path: Option<PathList>,
    /// As `path`, but not what the command only writes to, leaves out, or uses as a key.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) reads: Option<PathList>,
    /// Some file redirected into the command matches. Globs as in `path` above.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) input: Option<PathList>,
    /// Some file the command's output is redirected into matches. Globs as in `path` above.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) output: Option<PathList>,
    /// The command's output reaches one of these programs (name globs) through a pipe, `<(…)` or
    /// `$(…)`; an interpreter counts only when it would run what it gets as a script. An empty name
    /// stands for a program that is only known when it runs. With `!`, it reaches none of these.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) pipes_into: Option<NameList>,
    /// The last program that the command's output reaches is one of these (name globs).
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) ends_in: Option<NameList>,
    /// The command is started by one of these programs (name globs): `sudo`, `xargs`, `ssh`, …
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) via: Option<NameList>,
    /// What it is known to do beyond what its words say, such as `reverse-shell`. Globs.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) acts: Option<NameList>,
    /// Regular expressions: any of them fits one of its words, or a text that it is known to get on its
    /// standard input (SQL for `psql`, for one). In `not`, they must fit every text that the condition
    /// around it was met by, not just some other word of the command.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) text: Option<Many<Pattern>>,
    /// Regular expressions: any of them fits one SQL statement in its words or in a text that it is known
    /// to get on its standard input. Comments are left out, and so are statements that a `rollback`
    /// undoes. In `not`, they must fit every statement that the condition around it was met by, and
    /// the contents of quoted texts are left out as well.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) sql: Option<Many<Pattern>>,
    /// Globs on `NAME=value`: some variable it is started with, in front of it or by `env`; or an address
    /// that was exported before.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) env: Option<NameList>,
    /// Where it runs: any of these. Default: `here`.
    pub(crate) on: Option<Many<Side>>,
    /// The same command satisfies none of these: `{ option: [n, dry-run] }`.
    pub(crate) not: Option<Many<Shell>>,
}

/// Conditions on one operand of a command.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map with `place` or `path`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Operand {
    /// Where the operand points: any of these.
    pub(crate) place: Option<Many<Place>>,
    /// Globs on the operand as a path, as in `path` above.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) path: Option<PathList>,
}

/// Conditions on one thing that would be done to one path.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions on an effect")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Effect {
    /// What is done: any of these.
    pub(crate) does: Option<Many<Does>>,
    /// Globs on the path it is done to, as in `path` above. What is done to a directory with all that
    /// is below it is done to the paths below it, too.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) path: Option<PathList>,
    /// Where that path points: any of these. A path that is only known when it runs is at `unknown`.
    pub(crate) place: Option<Many<Place>>,
    /// Whether it is done to everything below the path, too.
    pub(crate) recursive: Option<bool>,
    /// Whether the path has to be one of `path` for certain: a pattern that may stand for it is not enough.
    pub(crate) certain: Option<bool>,
    /// Globs on the program or tool that does it; `!` takes names away.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) by: Option<NameList>,
    /// Where it is done: any of these. Default: `here`.
    pub(crate) on: Option<Many<Side>>,
    /// The same effect satisfies none of these.
    pub(crate) not: Option<Many<Effect>>,
}

/// Conditions on one address.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions on an address")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Url {
    /// Globs on the host, without scheme and port; `*.x.org` is any host below `x.org`, `!` takes
    /// hosts away.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) host: Option<HostList>,
    /// The scheme: any of these, such as `http`. An empty text stands for none (`host:port`).
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) scheme: Option<NameList>,
    /// The port: any of these. One that is not written is the scheme's own.
    pub(crate) port: Option<Many<u16>>,
    /// Whether something stands before an `@`.
    pub(crate) user: Option<bool>,
    /// Whether the host is a number.
    pub(crate) numeric: Option<bool>,
    /// Whether it can only be this machine.
    pub(crate) loopback: Option<bool>,
}

/// Conditions on an MCP tool.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map with `server` or `tool`")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Mcp {
    /// Globs on the server, as it is called in the harness.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) server: Option<NameList>,
    /// Globs on the tool, as the server calls it.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) tool: Option<NameList>,
}

/// Conditions on one package.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map of conditions on a package")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Package {
    /// Globs on the package manager: `npm`, `pip`, `cargo`, …
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) manager: Option<NameList>,
    /// Globs on the package's name, without its version; `!` takes names away.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) name: Option<NameList>,
    /// Where it comes from: any of these.
    pub(crate) from: Option<Many<PackageFrom>>,
    /// Whether it would be run at once, not only installed.
    pub(crate) runs: Option<bool>,
    /// The name is one letter away from one of these and is none of them: a slip, or a trap.
    pub(crate) near: Option<Many<String>>,
}

/// Regular expressions (Rust's `regex`: linear time, no look-around). Of each key that is given, any
/// must match somewhere in the text; anchors are `^` and `$`.
#[derive(Debug, Default, serde::Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a map from `command`, `path`, … to patterns")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(default))]
pub(crate) struct Regexes {
    /// On a command as it was given.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) command: Option<Many<Pattern>>,
    /// On a path argument, as it was given and as it resolves.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) path: Option<Many<Pattern>>,
    /// On an address, in an argument or in a command.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) url: Option<Many<Pattern>>,
    /// On a text that would be written, patches included.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) content: Option<Many<Pattern>>,
    /// On what the person asked (`event: prompt`).
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) prompt: Option<Many<Pattern>>,
    /// On the tool's arguments as JSON.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Many<String>>"))]
    pub(crate) args: Option<Many<Pattern>>,
}

/// Something that may say nothing, and then is a mistake.
trait Told {
    fn says_nothing(&self) -> bool;
}

impl Told for Effect {
    fn says_nothing(&self) -> bool {
        let Self { does, path, place, recursive, certain: _, by, on, not: _ } = self;
        does.is_none()
            && path.is_none()
            && place.is_none()
            && recursive.is_none()
            && by.is_none()
            && on.is_none()
    }
}

impl Told for Url {
    fn says_nothing(&self) -> bool {
        let Self { host, scheme, port, user, numeric, loopback } = self;
        let flags = [user, numeric, loopback];
        host.is_none() && scheme.is_none() && port.is_none() && flags.iter().all(|flag| flag.is_none())
    }
}

impl Told for Mcp {
    fn says_nothing(&self) -> bool {
        self.server.is_none() && self.tool.is_none()
    }
}

impl Told for Package {
    fn says_nothing(&self) -> bool {
        let Self { manager, name, from, runs, near } = self;
        manager.is_none() && name.is_none() && from.is_none() && runs.is_none() && near.is_none()
    }
}

impl Told for Regexes {
    fn says_nothing(&self) -> bool {
        let Self { command, path, url, content, prompt, args } = self;
        [command, path, url, content, prompt, args].iter().all(|list| list.is_none())
    }
}

/// A value that says something.
fn told<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Told,
{
    match Option::<T>::deserialize(deserializer)? {
        Some(value) if value.says_nothing() => Err(Error::custom("it has no condition")),
        value => Ok(value),
    }
}
