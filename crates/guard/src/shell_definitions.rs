// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the statements of a call whose effect may last in the shell of the session or in the settings of a repository.

use tenterhook_event::Event;
use tenterhook_facts::{DECLARING_BUILTINS, ExecLocation, Facts, ShellCommand, ShellWord};
use tenterhook_policy::{SessionFileChange, ShellStatement};
use tenterhook_shell::{
    Command, Compound, Dialect, SimpleCommand, Statement, TreeVisitor, Word, parse, walk_command,
};

use crate::known_hosts::{is_known_code_host, remote_host};
use crate::session_shell::{quote, shell_command, statement_texts, variable_statement};

/// Maximum length of a statement that is remembered.
const MAX_STATEMENT_BYTES: usize = 4096;
/// Maximum number of statements of each kind that are remembered of one call.
const MAX_CALL_STATEMENTS: usize = 32;
/// Word that replaces a secret in a statement.
const REDACTED_VALUE: &str = "redacted";
/// Words without which a command defines nothing that lasts. Most commands contain none of them and are not parsed again.
const DEFINING_WORDS: &[&str] = &["=", "(", "function"];
/// Settings of git that change where a push goes, without the name of the remote or the address.
const PUSH_SETTINGS: &[&str] = &[".url", ".pushurl", ".insteadof", ".pushinsteadof"];
/// Options of git, before the subcommand, that have a separate value.
const GIT_VALUE_OPTIONS: &[&str] = &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env"];

/// Returns the statements of a call whose effect may last. They may also depend on a condition.
pub(crate) fn find_definitions(event: &Event, facts: &Facts) -> Vec<SessionFileChange> {
    let command = shell_command(event).filter(|_| event.harness_session_id.is_some());
    let Some(command) = command else { return Vec::new() };
    let mut finder = DefinitionFinder { source: &command, is_in_function: false, found: Vec::new() };
    if DEFINING_WORDS.iter().any(|word| command.contains(word)) {
        finder.script(&parse(&command, Dialect::Bash).script);
    }
    let mut found = finder.found;
    found.retain(|statement| is_self_contained(&statement.text));
    let here = facts.commands.iter().filter(|command| command.on == ExecLocation::Here);
    found.extend(here.filter_map(redirected_push));
    select_remembered(found)
}

/// Returns the statements that are remembered. Everything but plain variables is needed by later verdicts.
fn select_remembered(found: Vec<ShellStatement>) -> Vec<SessionFileChange> {
    let is_short = |statement: &ShellStatement| statement.text.len() <= MAX_STATEMENT_BYTES;
    let is_plain = |statement: &ShellStatement| statement.name.starts_with('$');
    let (mut plain, mut lasting) = (0, 0);
    let is_kept = |statement: &ShellStatement| {
        let count = if is_plain(statement) { &mut plain } else { &mut lasting };
        *count += usize::from(is_short(statement));
        is_short(statement) && *count <= MAX_CALL_STATEMENTS
    };
    let (kept, left_out): (Vec<_>, Vec<_>) = found.into_iter().partition(is_kept);
    let is_lost = left_out.iter().any(|statement| !is_plain(statement));
    let changes = kept.into_iter().map(|mut statement| {
        remove_secrets(&mut statement.text);
        SessionFileChange::Shell(statement)
    });
    changes.chain(is_lost.then_some(SessionFileChange::Lost)).collect()
}

/// Whether a text is one complete statement, which does not continue on the next line.
fn is_self_contained(text: &str) -> bool {
    let with_next = format!("{text}\n:");
    let parsed = parse(&with_next, Dialect::Bash);
    parsed.is_complete() && statement_texts(&parsed, &with_next) == [text, ":"]
}

/// Replaces the secrets in a statement, because statements are stored on disk.
fn remove_secrets(text: &mut String) {
    let mut spans: Vec<_> = tenterhook_records::secrets(text).into_iter().map(|(span, _)| span).collect();
    spans.sort_unstable_by_key(|span| std::cmp::Reverse(span.start));
    for span in spans {
        if text.get(span.clone()).is_some() {
            text.replace_range(span, REDACTED_VALUE);
        }
    }
}

/// Finds definitions in the commands that run in the shell itself, not in a subshell, a pipeline or the background.
struct DefinitionFinder<'t> {
    source: &'t str,
    /// Whether the command is in the body of a function. Most variables of functions are local.
    is_in_function: bool,
    found: Vec<ShellStatement>,
}

impl TreeVisitor for DefinitionFinder<'_> {
    fn statement(&mut self, statement: &Statement) {
        if statement.is_background() {
            return;
        }
        for pipeline in statement.pipelines() {
            if let [stage] = pipeline.stages.as_slice() {
                self.command(&stage.command);
            }
        }
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Function(function) => {
                let names: Vec<_> = function.names.iter().filter_map(Word::literal).collect();
                for name in names {
                    self.add(name.into_owned(), command.span().text(self.source));
                }
                let outer = std::mem::replace(&mut self.is_in_function, true);
                self.command(&function.body);
                self.is_in_function = outer;
            }
            Command::Compound(compound) if matches!(compound.kind, Compound::Subshell(_)) => {}
            Command::Compound(_) => walk_command(self, command),
            Command::Simple(simple) if simple.words.is_empty() => {
                for assignment in &simple.assignments {
                    self.add(variable_statement(&assignment.name), assignment.span.text(self.source));
                }
            }
            Command::Simple(simple) => {
                for name in defined_names(simple) {
                    self.add(name, command.span().text(self.source));
                }
            }
            Command::Coprocess(_) | Command::Unparsed(_) => {}
        }
    }

    /// Substitutions in words run in a subshell.
    fn word(&mut self, _word: &Word) {}
}

impl DefinitionFinder<'_> {
    fn add(&mut self, name: String, text: &str) {
        if !(self.is_in_function && name.starts_with('$')) {
            self.found.push(ShellStatement { name, text: text.to_owned(), is_certain: false });
        }
    }
}

/// Returns the names that a command defines.
fn defined_names(command: &SimpleCommand) -> Vec<String> {
    let words: Vec<_> = command.words.iter().map(|word| word.literal_prefix().0).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        // Variables of `local` end with their function.
        [builtin, rest @ ..] if DECLARING_BUILTINS.contains(builtin) && *builtin != "local" => {
            let names = rest.iter().filter_map(|word| word.split_once('=').map(|(name, _)| name));
            let written = command.assignments.iter().map(|assignment| &*assignment.name);
            names.chain(written).map(variable_statement).collect()
        }
        ["alias", ..] => command.alias_definitions().map(|(name, _)| name.to_owned()).collect(),
        _ => Vec::new(),
    }
}

/// Returns the statement that changes where a later push goes, if a command does that and the address is not on a
/// well-known host.
fn redirected_push(command: &ShellCommand) -> Option<ShellStatement> {
    let words = git_words(command)?;
    let address = match words.as_slice() {
        ["remote", "add" | "set-url", rest @ ..] => rest
            .iter()
            .copied()
            .filter(|word| !word.starts_with('-'))
            .find(|word| is_unknown_address(word))?,
        ["config", rest @ ..] => {
            let mut pairs = rest.windows(2).filter_map(|pair| <[&str; 2]>::try_from(pair).ok());
            let is_push = |key: &str| {
                let key = key.to_ascii_lowercase();
                PUSH_SETTINGS.iter().any(|end| key.ends_with(end))
            };
            let [key, value] = pairs.find(|[key, _]| is_push(key))?;
            key.strip_prefix("url.").unwrap_or(value)
        }
        _ => return None,
    };
    let text: Vec<_> = words.iter().map(|word| quote(word)).collect();
    let text = format!("git {}", text.join(" "));
    is_unknown_address(address).then(|| ShellStatement { name: "push".to_owned(), text, is_certain: false })
}

/// Returns the words of a git command from its subcommand on.
pub(crate) fn git_words(command: &ShellCommand) -> Option<Vec<&str>> {
    let words = command.words.iter().map(|word: &ShellWord| word.text.as_str());
    let mut words = (command.program == "git").then(|| words.peekable())?;
    while let Some(option) = words.next_if(|word| word.starts_with('-')) {
        if GIT_VALUE_OPTIONS.contains(&option) {
            words.next();
        }
    }
    Some(words.collect())
}

fn is_unknown_address(address: &str) -> bool {
    remote_host(address).is_some_and(|host| !is_known_code_host(host))
}
