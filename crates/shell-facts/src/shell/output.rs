// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `$(…)`: its commands run, and sometimes what they would print is known.

use std::sync::Arc;

use tenterhook_paths::{PathFact, below};
use tenterhook_shell as ast;

use super::command::ShellCommand;
use super::decode::decoder;
use super::scope::Scope;
use super::walk::Source;
use super::word::{Atom, Expansion, Word, merge};
use super::{Reader, find};

/// Stands for the name `mktemp` would choose.
const SOME_TEMP: &str = "/tmp/tmp.XXXXXXXXXX";
/// Programs that print what they read.
const PASSERS: &[&str] = &[
    "cat", "tee", "head", "tail", "tr", "sed", "awk", "base64", "gunzip", "zcat", "xz", "zstd", "sort",
    "cut", "jq", "openssl", "xxd", "rev", "tac", "read",
];

impl Reader<'_> {
    /// What a command substitution prints, as far as it is known.
    pub(super) fn substitute(
        &mut self,
        command: &ast::CommandSubstitution,
        src: &Source,
        scope: &Scope,
    ) -> Expansion {
        let mut from = self.walk_subshell(&command.script, src, scope);
        let value = match from.as_slice() {
            [only] => self.output_of(*only, scope).or_else(|| self.turned(&[*only])),
            several => self.turned(several).or_else(|| self.output_of_last(&command.script, several, scope)),
        };
        let value = value.unwrap_or_else(|| Expansion::unknown(command.span.text(src), false));
        // `… | sh -c "$(cat)"`: what comes in goes out.
        let passes =
            |index: &usize| self.commands.get(*index).is_some_and(|c| PASSERS.contains(&c.program.as_str()));
        if from.first().is_some_and(passes) {
            merge(&mut from, &scope.stdin.from);
        }
        Expansion { from, ..value }
    }

    /// `$(printf '%s-x' "$(rev <<< a)")`: those before the last only made its words.
    fn output_of_last(&self, script: &ast::Script, from: &[usize], scope: &Scope) -> Option<Expansion> {
        let [statement] = script.statements.as_slice() else { return None };
        let [only] = statement.first.stages.as_slice() else { return None };
        let ast::Command::Simple(simple) = &only.command else { return None };
        let name = simple.program().filter(|_| statement.rest.is_empty())?;
        let last = from.last()?;
        let is_same = self.commands.get(*last).is_some_and(|last| last.raw == name);
        let prints = matches!(&*name, "echo" | "printf");
        (is_same && prints).then(|| self.output_of(*last, scope)).flatten()
    }

    /// `$(echo eteled | rev)`, `$(base64 -d <<< …)`: a known text that is only turned into another.
    fn turned(&self, from: &[usize]) -> Option<Expansion> {
        let commands: Vec<_> = from.iter().filter_map(|index| self.commands.get(*index)).collect();
        let (first, rest) = commands.split_first()?;
        let plain = |command: &ShellCommand| command.words.iter().all(|word| !word.dynamic && !word.pattern);
        let turns =
            |command: &ShellCommand| plain(command) && decoder(&command.program, &command.words).is_some();
        let says = matches!(first.program.as_str(), "echo" | "printf" | "cat") && plain(first);
        let known = says && !rest.is_empty() || turns(first) && !first.given.is_empty();
        if !known || !rest.iter().all(|command| turns(command)) {
            return None;
        }
        match commands.last()?.said.as_slice() {
            [only] if !only.is_empty() => Some(Expansion::literal(only.trim_end())),
            _ => None,
        }
    }

    fn output_of(&self, index: usize, scope: &Scope) -> Option<Expansion> {
        let command = self.commands.get(index)?;
        let plain = |words: &[Word]| words.iter().all(|word| !word.dynamic && !word.pattern);
        let words = command.words.as_slice();
        let text = match command.program.as_str() {
            "pwd" => scope.cwd.known()?.to_owned(),
            "mktemp" if words.iter().any(|word| word.text.starts_with("-p")) => return None,
            "mktemp" => match command.operands.as_slice() {
                [] => SOME_TEMP.to_owned(),
                _ if words.iter().any(|word| word.is("-t") || word.is("-dt") || word.is("-td")) => {
                    SOME_TEMP.to_owned()
                }
                [only] if plain(words) => only.resolved.clone()?,
                _ => return None,
            },
            "git" if find::lists_files(words) => return Some(each_of(find::listed_files(words))),
            "git" => return Self::top_level(words, scope).map(|text| Expansion::literal(&text)),
            "realpath" | "readlink" => match command.operands.as_slice() {
                [only] if plain(words) => only.resolved.clone()?,
                _ => return None,
            },
            // Some word without slashes; which one does not matter.
            "date" | "uname" | "nproc" | "hostname" if command.inputs.is_empty() => {
                let slashes = words.iter().any(|word| word.text.contains('/') || word.dynamic);
                return (!slashes).then(|| Expansion::literal("0"));
            }
            "npm" => match words {
                [verb] if verb.is("root") => "node_modules".to_owned(),
                [verb] if verb.is("bin") => "node_modules/.bin".to_owned(),
                _ => return None,
            },
            "which" => match words {
                [only] if !only.dynamic => only.text.clone(),
                _ => return None,
            },
            "command" | "type" => match words {
                [how, only] if how.is("-v") || how.is("-P") => only.text.clone(),
                _ => return None,
            },
            "echo" | "printf" if plain(words) => match command.said.as_slice() {
                [only] => only.trim_end().to_owned(),
                _ => return None,
            },
            "find" => return found(words),
            "dirname" => match words {
                [only] if only.dynamic && of_script(&only.text) => {
                    scope.place.ground.project.clone().or_else(|| scope.cwd.main().map(str::to_owned))?
                }
                [only] if plain(words) => match only.text.trim_end_matches('/').rsplit_once('/') {
                    Some(("", _)) => "/".to_owned(),
                    Some((parent, _)) => parent.to_owned(),
                    None => ".".to_owned(),
                },
                _ => return None,
            },
            "basename" => match words {
                [only] if plain(words) => {
                    only.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
                }
                _ => return None,
            },
            "ls" => return listed(command, scope),
            // `$(cat <<EOF … EOF)`
            "cat" if words.is_empty() && command.inputs.is_empty() => match command.said.as_slice() {
                [only] if !only.contains(['$', '`']) => only.trim_end().to_owned(),
                _ => return None,
            },
            _ => return None,
        };
        Some(Expansion::literal(&text))
    }

    /// The root of the repository is the project only as seen from inside it.
    fn top_level(words: &[Word], scope: &Scope) -> Option<String> {
        let project = scope.place.ground.project.clone()?;
        let inside = scope
            .cwd
            .known()?
            .strip_prefix(project.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let asks = matches!(words, [first, second] if first.is("rev-parse") && second.is("--show-toplevel"));
        (inside && asks).then_some(project)
    }

    /// What these commands are known to print.
    pub(super) fn texts_of(&self, from: &[usize]) -> Vec<Arc<str>> {
        let mut texts: Vec<Arc<str>> = Vec::new();
        for text in
            from.iter().filter_map(|index| self.commands.get(*index)).flat_map(|command| &command.said)
        {
            if !texts.contains(text) {
                texts.push(Arc::clone(text));
            }
        }
        texts
    }
}

/// Whether a word is the name of the script that is being run.
fn of_script(text: &str) -> bool {
    matches!(
        text,
        "$0" | "${0}" | "${BASH_SOURCE[0]}" | "$BASH_SOURCE" | "${BASH_SOURCE}" | "${0:A}" | "${(%):-%x}"
    ) || text.starts_with("$(readlink") && (text.contains("$0") || text.contains("BASH_SOURCE"))
        || text.starts_with("$(realpath") && (text.contains("$0") || text.contains("BASH_SOURCE"))
}

/// What `ls` prints: a file's own name, or everything here. What is in another directory is not known.
fn listed(command: &ShellCommand, scope: &Scope) -> Option<Expansion> {
    let named: Vec<_> = command.words.iter().filter(|word| !word.text.starts_with('-')).collect();
    if named.is_empty() {
        let cwd = scope.cwd.main()?;
        let project = scope.place.ground.project.as_deref();
        let outside = project.is_none_or(|project| below(cwd, project).is_none());
        return outside.then(|| Expansion::each("*"));
    }
    let outside = |path: &PathFact| path.in_project.is_none() && path.resolved.is_some();
    if named.iter().any(|word| word.dynamic) || !command.operands.iter().all(outside) {
        return None;
    }
    let mut all = Expansion::default();
    for word in named {
        all.append(if word.pattern { Expansion::each(&word.text) } else { Expansion::literal(&word.text) });
        all.atoms.push(Atom::Plain(' '));
    }
    Some(all)
}

/// What `find` prints, as patterns.
fn found(words: &[Word]) -> Option<Expansion> {
    let targets = find::targets(words);
    if targets.iter().any(|target| target.dynamic) {
        return None;
    }
    Some(each_of(targets))
}

fn each_of(targets: Vec<Word>) -> Expansion {
    let mut all = Expansion::default();
    for target in targets {
        all.append(Expansion::each(&target.text));
        all.atoms.push(Atom::Plain(' '));
    }
    all
}
