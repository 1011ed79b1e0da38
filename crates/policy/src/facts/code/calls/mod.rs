// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The calls that do something, one row for each, by language.

mod javascript;
mod lua;
mod perl;
mod php;
mod python;
mod ruby;

use std::borrow::Cow;

use super::super::Does;
use super::Language;

/// What a call does with its arguments, which are counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// Does this to the file in an argument.
    Touch(Does, usize),
    /// And to everything below it.
    Tree(Does, usize),
    /// Everything below it when this option is set.
    TreeIf(Does, usize, &'static str),
    /// Does this to the files in all arguments from one on.
    All(Does, usize),
    AllTrees(Does, usize),
    /// Opens a file; how stands in an argument.
    Open(usize, usize),
    /// Perl's `open`, which has three spellings.
    PerlOpen,
    /// Runs the text in an argument in a shell.
    Shell(usize),
    /// Starts a program: all arguments from one on are its words.
    Words(usize),
    /// One text goes to a shell, several are words.
    ShellOrWords,
    /// Python's `subprocess`: a list, or a text, perhaps for a shell.
    Program,
    /// Node's `spawn`: a program, a list of words, perhaps for a shell.
    Spawn,
    /// Connects to the URL in an argument.
    Connect(usize),
    /// Connects to the host in an argument, over this scheme.
    Host(usize, &'static str),
    /// Opens a socket to a host and a port in two arguments, or in a pair.
    Socket(usize),
    /// Node's: port, then host.
    PortHost,
    /// Joins a socket to something else.
    Joins,
    /// Reads an argument as code of this language.
    Eval(usize),
    /// What it runs cannot be known.
    Unknown,
    /// Changes the working directory.
    Chdir(usize),
}

/// What a call gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gives {
    /// Something of its own, known by the name of the call.
    Own,
    Nothing,
    /// Something from the network.
    Fetched,
    /// What was in the file in an argument.
    Content(usize),
}

/// One call.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) deeds: &'static [Deed],
    pub(super) gives: Gives,
}

/// A row that gives nothing.
const fn row(name: &'static str, deeds: &'static [Deed]) -> Row {
    Row { name, deeds, gives: Gives::Nothing }
}

const fn gives(name: &'static str, deeds: &'static [Deed], gives: Gives) -> Row {
    Row { name, deeds, gives }
}

fn rows(language: Language) -> &'static [Row] {
    match language {
        Language::Python => python::ROWS,
        Language::JavaScript => javascript::ROWS,
        Language::Perl => perl::ROWS,
        Language::Ruby => ruby::ROWS,
        Language::Php => php::ROWS,
        Language::Lua => lua::ROWS,
        Language::Awk => &[],
    }
}

/// The row of a call, by its full name.
pub(super) fn find(language: Language, name: &str) -> Option<&'static Row> {
    let name = plain(language, name);
    let rows = rows(language);
    let at = rows.binary_search_by(|row| row.name.cmp(&name)).ok()?;
    rows.get(at)
}

/// The names a module has here: for `from os import *`.
pub(super) fn members(language: Language, module: &str) -> impl Iterator<Item = &'static str> {
    rows(language)
        .iter()
        .filter_map(move |row| row.name.strip_prefix(module)?.strip_prefix('.'))
        .filter(|name| !name.contains('.'))
}

/// A name without what does not matter: `fs.promises.rm` and `fs.rmSync` are `fs.rm`.
pub(super) fn plain(language: Language, name: &str) -> Cow<'_, str> {
    match language {
        Language::JavaScript => {
            let name =
                name.strip_prefix("globalThis.").or_else(|| name.strip_prefix("global.")).unwrap_or(name);
            let name = name.strip_prefix("window.").unwrap_or(name);
            let short = name.strip_suffix("Sync").unwrap_or(name);
            if short.contains(".promises") || short.contains(".default") {
                Cow::Owned(short.replace(".promises", "").replace(".default", ""))
            } else {
                Cow::Borrowed(short)
            }
        }
        Language::Python => {
            let name =
                name.strip_prefix("builtins.").or_else(|| name.strip_prefix("__builtins__.")).unwrap_or(name);
            if let Some(rest) = name.strip_prefix("posix.") {
                return Cow::Owned(format!("os.{rest}"));
            }
            Cow::Borrowed(name)
        }
        Language::Perl => {
            // `File::Path::rmtree` is `rmtree`; `IO::Socket::INET->new` keeps its class.
            let is_class = name.rsplit_once('.').is_some_and(|(_, last)| {
                matches!(last, "new" | "get" | "request" | "mirror" | "post" | "catfile" | "catdir")
            });
            let own =
                if is_class || name.contains("()") { name } else { name.rsplit('.').next().unwrap_or(name) };
            Cow::Borrowed(own.strip_prefix('&').unwrap_or(own))
        }
        Language::Ruby => {
            let name = name.strip_prefix("Kernel.").or_else(|| name.strip_prefix("Process.")).unwrap_or(name);
            Cow::Borrowed(name)
        }
        Language::Php => {
            if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
                Cow::Owned(name.to_ascii_lowercase())
            } else {
                Cow::Borrowed(name)
            }
        }
        Language::Lua => Cow::Borrowed(name.strip_prefix("_G.").unwrap_or(name)),
        Language::Awk => Cow::Borrowed(name),
    }
}

/// Methods that hand what the receiver holds to a function.
pub(super) fn hands_on(method: &str) -> bool {
    matches!(
        method,
        "each"
            | "forEach"
            | "map"
            | "filter"
            | "select"
            | "reject"
            | "then"
            | "each_child"
            | "flatMap"
            | "each_entry"
            | "flat_map"
            | "collect"
            | "for_each"
            | "reverse_each"
    )
}

/// Whether a text starts a shell that waits for what it is told.
pub(super) fn is_bare_shell(text: &str) -> bool {
    let mut words =
        text.split_whitespace().skip_while(|word| matches!(*word, "exec" | "env" | "/usr/bin/env"));
    let Some(first) = words.next() else { return false };
    is_shell(first)
        && words.all(|word| {
            word.starts_with('-') && !word.starts_with("-c")
                || word.contains(['<', '>', '&'])
                || matches!(word, "0" | "1" | "2")
        })
}

pub(super) fn is_shell(program: &str) -> bool {
    let name = program.rsplit(['/', '\\']).next().unwrap_or_default();
    matches!(
        name,
        "sh" | "bash"
            | "dash"
            | "zsh"
            | "ksh"
            | "ash"
            | "csh"
            | "tcsh"
            | "fish"
            | "cmd"
            | "cmd.exe"
            | "powershell"
            | "powershell.exe"
            | "pwsh"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_are_in_order_and_can_be_found() {
        for language in [
            Language::Python,
            Language::JavaScript,
            Language::Perl,
            Language::Ruby,
            Language::Php,
            Language::Lua,
        ] {
            for pair in rows(language).windows(2) {
                assert!(pair[0].name < pair[1].name, "{} {}", pair[0].name, pair[1].name);
            }
            for row in rows(language) {
                assert!(find(language, row.name).is_some(), "{}", row.name);
            }
        }
    }
}
