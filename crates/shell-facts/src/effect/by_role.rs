// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Derives the effects of programs on files from the roles of their words.
//!
//! A program without a description has no known effects, but its redirections do.

use std::cmp::Reverse;

use tenterhook_paths::FileOp::{self, Append, Delete, Move, Permit, Read, Write};
use tenterhook_programs::{Language, ParsedOperand, Role};

use super::super::described_command::DescribedCommand;
use super::super::{ShellWord, description};
use super::OperandEffect;
use super::copy_mode::{CopyMode, copy_effects};
use super::downloads::add_downloads;
use super::transfers::add_transfers;
use super::{current_directory, find_effects, git, resolve_in};

/// Returns the effects of a command on the paths among its words.
pub(crate) fn program_effects(command: &DescribedCommand<'_>) -> Vec<OperandEffect> {
    match command.parsed.escape {
        "git" => return git::git_effects(command.words),
        "find" => return find_effects::find_effects(command),
        _ => {}
    }
    let mut effects = effects_on_values(command);
    effects.extend(effects_on_operands(command));
    add_targets(command, &mut effects);
    // A dry run reads its operands but transfers nothing.
    if !command.has(Role::DryRun) {
        add_transfers(command, &mut effects);
    }
    add_downloads(command, &mut effects);
    if command.has(Role::DryRun) {
        effects.retain(|effect| effect.does == Read);
    }
    effects
}

/// Returns the effects on paths in option values.
fn effects_on_values(command: &DescribedCommand<'_>) -> Vec<OperandEffect> {
    let mut effects = Vec::new();
    for option in command.parsed.options.iter().filter(|option| !option.off) {
        let Some(part) = option.value else { continue };
        let does = match option.role {
            Role::Read | Role::Script => Read,
            Role::Write | Role::Edit => Write,
            Role::Append => Append,
            Role::Delete => Delete,
            Role::Move => Move,
            Role::Permit => Permit,
            Role::NamedFile | Role::Form => {
                effects.extend(file_in_value(&command.word(part), option.role));
                continue;
            }
            _ => continue,
        };
        effects.push(OperandEffect::new(does, &command.word(part)).inside_word(part.offset > 0));
    }
    effects
}

/// Returns the file in `NAME=FILE`. In a form field, only `NAME=@FILE`, `NAME=<FILE`, `@FILE` and `NAME@FILE` name a
/// file.
fn file_in_value(value: &ShellWord, role: Role) -> Option<OperandEffect> {
    let text = value.text.as_str();
    let name_end = text.find('=');
    let start = match (role, name_end) {
        (Role::NamedFile, _) => name_end.map_or(0, |at| at + 1),
        (_, Some(at)) if text.get(at + 1..)?.starts_with(['@', '<']) => at + 2,
        (_, None) => text.find('@')? + 1,
        (_, Some(at)) => text.find('@').filter(|mark| *mark < at)? + 1,
    };
    let mut path = value.skip_bytes(start);
    // `;type=text/plain` belongs to the form field, not to the path.
    if let Some((name, _)) = path.text.split_once(';').filter(|_| role == Role::Form) {
        path = ShellWord { text: name.to_owned(), shape: name.to_owned(), ..path.clone() };
    }
    Some(OperandEffect::new(Read, &path).inside_word(start > 0))
}

/// Returns the effects on operands.
fn effects_on_operands(command: &DescribedCommand<'_>) -> Vec<OperandEffect> {
    let recursive = command.has(Role::Recursive);
    let edit = in_place_op(command);
    let removes = command.has_flag(Role::Delete);
    let is_awk = has_code(command, Language::Awk);
    let mut effects = Vec::new();
    let mut searched = false;
    for operand in &command.parsed.operands {
        searched |= operand.role == Role::Read;
        let does = match operand.role {
            Role::Read => edit.unwrap_or(Read),
            Role::Edit if command.has(Role::ToStdout) => Read,
            Role::Edit => edit.unwrap_or(Write),
            Role::Write => Write,
            Role::Append => Append,
            Role::Delete => Delete,
            Role::Move => Move,
            Role::Permit => Permit,
            _ => continue,
        };
        if is_awk && is_assignment(operand) {
            continue;
        }
        let directory = command.directory_at(operand.part.word);
        let path = resolve_in(directory.as_ref(), &command.word(operand.part));
        // Nothing is below a file that is written, even if the program is recursive.
        let below = recursive && !matches!(operand.role, Role::Write | Role::Append);
        effects.push(OperandEffect::new(does, &path).recursive(below));
        if removes && matches!(does, Read | Write) && is_source(command, operand) {
            effects.push(OperandEffect::new(Delete, &path).recursive(recursive));
        }
    }
    // A recursive search without a path searches the working directory.
    if command.has(Role::Search) && recursive && !searched {
        effects.push(OperandEffect::new(Read, &current_directory()).recursive(true));
    }
    effects
}

/// Whether this operand is deleted by a program that deletes its sources after processing. Such a program keeps the
/// archive that it writes.
fn is_source(command: &DescribedCommand<'_>, operand: &ParsedOperand<'_>) -> bool {
    operand.role == Role::Read || command.parsed.operands.iter().all(|other| other.role != Role::Read)
}

/// Returns the operation on files that are edited in place: an edit that removes every line is a deletion.
fn in_place_op(command: &DescribedCommand<'_>) -> Option<FileOp> {
    if !command.has(Role::InPlace) {
        return None;
    }
    let empties_by_sed = || {
        let options = command.values(Role::Code(Language::Sed)).map(|(word, _)| word);
        let mut scripts = options.chain(command.operands(Role::Code(Language::Sed)));
        scripts.any(|word| deletes_every_line(&word.text))
    };
    // Perl and Ruby print each line with `-p`. With `-n`, only code that prints leaves any content.
    let prints = |word: &ShellWord| {
        let text = word.text.as_str();
        ["print", "say", "puts", "write", "$<", "system", "open"].iter().any(|verb| text.contains(verb))
    };
    let empties_by_code = || {
        let is_line_editor = has_code(command, Language::Perl) || has_code(command, Language::Ruby);
        let prints_each = command.parsed.has_any(&["-p"]);
        is_line_editor && !prints_each && !command.words.iter().any(prints)
    };
    Some(if empties_by_sed() || empties_by_code() { Delete } else { Write })
}

fn has_code(command: &DescribedCommand<'_>, language: Language) -> bool {
    command.parsed.parts_with_role(Role::Code(language)).next().is_some()
}

fn deletes_every_line(script: &str) -> bool {
    let script: String = script.chars().filter(|c| !c.is_whitespace() && *c != ';').collect();
    matches!(
        script.as_str(),
        "d" | "1,$d"
            | "0,$d"
            | "/./d"
            | "/.*/d"
            | "/^/d"
            | "/$/d"
            | "Q"
            | "1Q"
            | "s/.*//"
            | "s/.*//g"
            | "s/.//g"
            | "1,$!p"
    )
}

/// Whether an operand of awk sets a variable: `awk '…' NAME=value file`.
fn is_assignment(operand: &ParsedOperand<'_>) -> bool {
    let name = operand.part.text.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

/// Adds the effects on the target of a copy, a move or an unpacked archive.
fn add_targets(command: &DescribedCommand<'_>, effects: &mut Vec<OperandEffect>) {
    let named = command.values(Role::Target).next_back();
    let target = named.clone().map(|(word, _)| word).or_else(|| command.operands(Role::Target).next_back());
    let inner = named.as_ref().is_some_and(|(_, inner)| *inner);
    if command.has(Role::Unpack) {
        if !command.has(Role::ToStdout) && !command.has(Role::Info) {
            let to = target.or_else(|| command.directory_at(usize::MAX)).unwrap_or_else(current_directory);
            effects.push(OperandEffect::new(Write, &to).recursive(true).inside_word(inner));
        }
        return;
    }
    // Transfers and downloads add their own effects on the target.
    let elsewhere = [Role::Place, Role::Download].iter().any(|role| command.operands(*role).next().is_some());
    let Some(target) = target.filter(|_| !elsewhere) else { return };
    let sources: Vec<ShellWord> = command.operands(Role::Read).chain(command.operands(Role::Move)).collect();
    let moves = command.operands(Role::Move).next().is_some();
    // `mv "$f" "${f%.x}.y"` renames each file in its directory.
    if moves && sources.len() == 1 && is_new_name(&target) {
        for effect in effects.iter_mut().filter(|effect| effect.does == Move && effect.path.pattern) {
            effect.path.shape = effect.path.shape.trim_end_matches('*').to_owned() + "…";
        }
    }
    let mode = CopyMode {
        tree: command.has(Role::Recursive) || moves,
        onto: command.has(Role::Onto),
        slash_is_contents: command.has(Role::Contents),
    };
    if sources.is_empty() || named.is_some() {
        effects.push(OperandEffect::new(Write, &target).inside_word(inner));
    }
    let sources: Vec<&ShellWord> = sources.iter().collect();
    let landed = copy_effects(mode, &target, &sources).into_iter();
    // The effect on a target that an option names was added with the option.
    let is_added = |effect: &OperandEffect| named.is_some() && !effect.recursive && effect.path == target;
    effects.extend(landed.filter(|effect| !is_added(effect)));
}

/// Whether a target is a new file name in the same directory that is only known at run time.
fn is_new_name(target: &ShellWord) -> bool {
    let text = target.text.as_str();
    let name = text.trim_start_matches("${").trim_start_matches('$').trim_end_matches('}');
    // A variable alone may name another directory, unless its value is the output of a command.
    let lone = text.starts_with('$') && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let made = !lone || !target.from.is_empty();
    (target.dynamic || target.shape.contains('*'))
        && made
        && !target.shape.contains('/')
        && !text.starts_with('~')
}

/// Returns the described program that a glob such as `/bin/r?` may run. If several match, the most harmful one is
/// returned.
pub(crate) fn most_harmful_match(glob: &str) -> Option<&'static str> {
    let word = [ShellWord::literal("x")];
    let harm = |name: &str| {
        let described = description::describe(name);
        let described = described.map(|program| DescribedCommand::new(program, &word));
        let effects = described.map(|command| program_effects(&command)).unwrap_or_default();
        let does = effects.into_iter().map(|effect| match effect.does {
            Delete => 5,
            Write | Append => 4,
            Permit | Move => 3,
            Read | FileOp::Run => 2,
        });
        does.max().unwrap_or(1)
    };
    let names = description::names().filter(|name| fast_glob::glob_match(glob, name));
    // Among equally harmful programs, prefer the shortest name: `rm` rather than `rimraf`.
    names.max_by_key(|name| (harm(name), Reverse(name.len()), Reverse(*name)))
}
