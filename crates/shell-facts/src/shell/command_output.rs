// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates command substitutions `$(…)` whose output can be known without running them.

use std::sync::Arc;

use tenterhook_paths::{PathFact, strip_directory};
use tenterhook_shell as ast;

use super::command::ShellCommand;
use super::decode::decoder;
use super::request_client::prints_only_response;
use super::scope::ShellScope;
use super::walk::SourceText;
use super::word::{ExpandedText, ShellWord, WordAtom, merge_sources};
use super::{ShellReader, find};

/// Placeholder for the name that `mktemp` chooses.
const MKTEMP_RESULT: &str = "/tmp/tmp.XXXXXXXXXX";
/// Programs that print their input.
const PRINTS_ITS_INPUT: &[&str] = &[
    "cat", "tee", "head", "tail", "tr", "sed", "awk", "base64", "gunzip", "zcat", "xz", "zstd", "sort",
    "cut", "jq", "openssl", "xxd", "rev", "tac", "read",
];

impl ShellReader<'_> {
    /// Analyses a command substitution and returns its output, as far as it can be predicted.
    pub(super) fn substitute_command(
        &mut self,
        command: &ast::CommandSubstitution,
        src: &SourceText,
        scope: &ShellScope,
    ) -> ExpandedText {
        let mut from = self.walk_subshell(&command.script, src, scope);
        let value = match from.as_slice() {
            [only] => self.known_output(*only, scope).or_else(|| self.decoded_output(&[*only])),
            several => self
                .decoded_output(several)
                .or_else(|| self.known_output_of_last(&command.script, several, scope)),
        };
        let value = value.unwrap_or_else(|| {
            let hidden = self.name_without_words(&command.script, &from);
            ExpandedText::unknown(hidden.as_deref().unwrap_or_else(|| command.span.text(src)), false)
        });
        // `… | sh -c "$(cat)"` prints standard input.
        let passes = |index: &usize| {
            self.commands.get(*index).is_some_and(|c| PRINTS_ITS_INPUT.contains(&c.program.as_str()))
        };
        if from.first().is_some_and(passes) {
            merge_sources(&mut from, &scope.stdin.from);
        }
        ExpandedText { from, ..value }
    }

    /// Returns a text for a substitution whose output does not contain the variables in it:
    /// `$(curl -H "Bearer $TOKEN" …)`. Otherwise, printing the output would look like printing the variables.
    fn name_without_words(&self, script: &ast::Script, from: &[usize]) -> Option<String> {
        let commands = from.iter().filter_map(|index| self.commands.get(*index));
        let names_variable = |command: &&ShellCommand| command.texts().any(|text| text.contains('$'));
        let mut naming = commands.clone().filter(names_variable).peekable();
        let Some(program) = naming.peek().map(|command| command.program.clone()) else {
            // The values of all variables are in the call itself.
            let mut commands = commands;
            let asks = commands.clone().any(prints_only_response) || only_counts(script);
            return commands.next().filter(|_| asks).map(|first| format!("$({} …)", first.program));
        };
        (only_counts(script) || naming.all(prints_only_response)).then(|| format!("$({program} …)"))
    }

    /// Returns the output of the last command in `$(printf '%s-x' "$(rev <<< a)")`, where earlier commands only
    /// computed its words.
    fn known_output_of_last(
        &self,
        script: &ast::Script,
        from: &[usize],
        scope: &ShellScope,
    ) -> Option<ExpandedText> {
        let [statement] = script.statements.as_slice() else { return None };
        let [only] = statement.first.stages.as_slice() else { return None };
        let ast::Command::Simple(simple) = &only.command else { return None };
        let name = simple.program().filter(|_| statement.rest.is_empty())?;
        let last = from.last()?;
        let is_same = self.commands.get(*last).is_some_and(|last| last.raw == name);
        let prints = matches!(&*name, "echo" | "printf");
        (is_same && prints).then(|| self.known_output(*last, scope)).flatten()
    }

    /// Returns the output of commands that only decode a known text: `$(echo eteled | rev)`, `$(base64 -d <<< …)`.
    fn decoded_output(&self, from: &[usize]) -> Option<ExpandedText> {
        let commands: Vec<_> = from.iter().filter_map(|index| self.commands.get(*index)).collect();
        let (first, rest) = commands.split_first()?;
        let plain = |command: &ShellCommand| command.words.iter().all(|word| !word.dynamic && !word.pattern);
        let turns =
            |command: &ShellCommand| plain(command) && decoder(&command.program, &command.words).is_some();
        let says = matches!(first.program.as_str(), "echo" | "printf" | "cat") && plain(first);
        let known = says && !rest.is_empty() || turns(first) && !first.stdin_texts.is_empty();
        if !known || !rest.iter().all(|command| turns(command)) {
            return None;
        }
        match commands.last()?.printed.as_slice() {
            [only] if !only.is_empty() => Some(ExpandedText::literal(only.trim_end())),
            _ => None,
        }
    }

    fn known_output(&self, index: usize, scope: &ShellScope) -> Option<ExpandedText> {
        let command = self.commands.get(index)?;
        let plain = |words: &[ShellWord]| words.iter().all(|word| !word.dynamic && !word.pattern);
        let words = command.words.as_slice();
        let text = match command.program.as_str() {
            "pwd" => scope.cwd.certain()?.to_owned(),
            "mktemp" if words.iter().any(|word| word.text.starts_with("-p")) => return None,
            "mktemp" => match command.operands.as_slice() {
                [] => MKTEMP_RESULT.to_owned(),
                _ if words.iter().any(|word| word.is("-t") || word.is("-dt") || word.is("-td")) => {
                    MKTEMP_RESULT.to_owned()
                }
                [only] if plain(words) => only.resolved.clone()?,
                _ => return None,
            },
            "git" if find::lists_files(words) => return Some(expand_each(find::listed_files(words))),
            "git" => return Self::repository_root(words, scope).map(|text| ExpandedText::literal(&text)),
            "realpath" | "readlink" => match command.operands.as_slice() {
                [only] if plain(words) => only.resolved.clone()?,
                _ => return None,
            },
            // The output is a word without slashes; its value does not matter.
            "date" | "uname" | "nproc" | "hostname" if command.inputs.is_empty() => {
                let slashes = words.iter().any(|word| word.text.contains('/') || word.dynamic);
                return (!slashes).then(|| ExpandedText::literal("0"));
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
            "echo" | "printf" if plain(words) => match command.printed.as_slice() {
                [only] => only.trim_end().to_owned(),
                _ => return None,
            },
            "find" => return find_output(words),
            "dirname" => match words {
                [only] if only.dynamic && names_current_script(&only.text) => match &scope.script {
                    Some(script) => parent_directory(script),
                    None => scope
                        .site
                        .roots
                        .project
                        .clone()
                        .or_else(|| scope.cwd.expected().map(str::to_owned))?,
                },
                [only] if plain(words) => parent_directory(&only.text),
                _ => return None,
            },
            "basename" => match words {
                [only] if plain(words) => {
                    only.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned()
                }
                _ => return None,
            },
            "ls" => return ls_output(command, scope),
            // `$(cat <<EOF … EOF)`
            "cat" if words.is_empty() && command.inputs.is_empty() => match command.printed.as_slice() {
                [only] if !only.contains(['$', '`']) => only.trim_end().to_owned(),
                _ => return None,
            },
            _ => return None,
        };
        Some(ExpandedText::literal(&text))
    }

    /// Returns the output of `git rev-parse --show-toplevel`: the project, if the working directory is inside it.
    fn repository_root(words: &[ShellWord], scope: &ShellScope) -> Option<String> {
        let project = scope.site.roots.project.clone()?;
        let inside = scope
            .cwd
            .certain()?
            .strip_prefix(project.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let asks = matches!(words, [first, second] if first.is("rev-parse") && second.is("--show-toplevel"));
        (inside && asks).then_some(project)
    }

    /// Returns the texts that these commands are known to print.
    pub(super) fn printed_by(&self, from: &[usize]) -> Vec<Arc<str>> {
        let mut texts: Vec<Arc<str>> = Vec::new();
        for text in
            from.iter().filter_map(|index| self.commands.get(*index)).flat_map(|command| &command.printed)
        {
            if !texts.contains(text) {
                texts.push(Arc::clone(text));
            }
        }
        texts
    }
}

/// Whether a script is one pipeline that ends in `wc`.
fn only_counts(script: &ast::Script) -> bool {
    let [statement] = script.statements.as_slice() else { return false };
    let is_simple = |stage: &ast::PipelineStage| matches!(&stage.command, ast::Command::Simple(_));
    let stages = statement.first.stages.as_slice();
    let last = match stages.last().map(|stage| &stage.command) {
        Some(ast::Command::Simple(simple)) => simple.program(),
        _ => None,
    };
    statement.rest.is_empty() && stages.iter().all(is_simple) && last.is_some_and(|program| &*program == "wc")
}

/// Whether a word names the running script.
fn names_current_script(text: &str) -> bool {
    matches!(
        text,
        "$0" | "${0}" | "${BASH_SOURCE[0]}" | "$BASH_SOURCE" | "${BASH_SOURCE}" | "${0:A}" | "${(%):-%x}"
    ) || text.starts_with("$(readlink") && (text.contains("$0") || text.contains("BASH_SOURCE"))
        || text.starts_with("$(realpath") && (text.contains("$0") || text.contains("BASH_SOURCE"))
}

/// Returns the output of `ls`: the names of its operands, or outside the project `*` for the files in the working
/// directory. The content of other directories is unknown.
fn ls_output(command: &ShellCommand, scope: &ShellScope) -> Option<ExpandedText> {
    let named: Vec<_> = command.words.iter().filter(|word| !word.text.starts_with('-')).collect();
    if named.is_empty() {
        let cwd = scope.cwd.expected()?;
        let project = scope.site.roots.project.as_deref();
        let outside = project.is_none_or(|project| strip_directory(cwd, project).is_none());
        return outside.then(|| ExpandedText::each("*"));
    }
    let outside = |path: &PathFact| path.in_project.is_none() && path.resolved.is_some();
    if named.iter().any(|word| word.dynamic) || !command.operands.iter().all(outside) {
        return None;
    }
    let mut all = ExpandedText::default();
    for word in named {
        all.append(if word.pattern {
            ExpandedText::each(&word.text)
        } else {
            ExpandedText::literal(&word.text)
        });
        all.atoms.push(WordAtom::Plain(' '));
    }
    Some(all)
}

/// Returns the output of `find`, as patterns.
fn find_output(words: &[ShellWord]) -> Option<ExpandedText> {
    let targets = find::find_targets(words);
    if targets.iter().any(|target| target.dynamic) {
        return None;
    }
    Some(expand_each(targets))
}

fn expand_each(targets: Vec<ShellWord>) -> ExpandedText {
    let mut all = ExpandedText::default();
    for target in targets {
        all.append(ExpandedText::each(&target.text));
        all.atoms.push(WordAtom::Plain(' '));
    }
    all
}

/// Returns the part of a path that `dirname` prints.
fn parent_directory(path: &str) -> String {
    match path.trim_end_matches('/').rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((parent, _)) => parent.to_owned(),
        None => ".".to_owned(),
    }
}
