// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What programs do to files, by the roles of their words.
//!
//! A program without a description does nothing that is known; what is redirected counts all the same.

use std::cmp::Reverse;

use tenterhook_paths::Does::{self, Append, Delete, Move, Permit, Read, Write};
use tenterhook_programs::{Language, ParsedOperand, Role};

use super::super::described_command::DescribedCommand;
use super::super::{Word, description};
use super::Touch;
use super::fetch::add_downloads;
use super::landing::{Landing, land};
use super::transfer::add_transfers;
use super::{here, search, version, within};

/// What a program does to the paths among its words.
pub(crate) fn touches(given: &DescribedCommand<'_>) -> Vec<Touch> {
    match given.parsed.escape {
        "git" => return version::git(given.words),
        "find" => return search::find(given),
        _ => {}
    }
    let mut touches = values(given);
    touches.extend(operands(given));
    add_targets(given, &mut touches);
    // A dry run reads what it is given, but transfers nothing.
    if !given.has(Role::DryRun) {
        add_transfers(given, &mut touches);
    }
    add_downloads(given, &mut touches);
    if given.has(Role::DryRun) {
        touches.retain(|touch| touch.does == Read);
    }
    touches
}

/// The values of options that name paths.
fn values(given: &DescribedCommand<'_>) -> Vec<Touch> {
    let mut touches = Vec::new();
    for option in given.parsed.options.iter().filter(|option| !option.off) {
        let Some(part) = option.value else { continue };
        let does = match option.role {
            Role::Read | Role::Script => Read,
            Role::Write | Role::Edit => Write,
            Role::Append => Append,
            Role::Delete => Delete,
            Role::Move => Move,
            Role::Permit => Permit,
            Role::NamedFile | Role::Form => {
                touches.extend(inner_file(&given.word(part), option.role));
                continue;
            }
            _ => continue,
        };
        touches.push(Touch::new(does, &given.word(part)).inner(part.offset > 0));
    }
    touches
}

/// The file in `NAME=FILE`; in a form only `NAME=@FILE`, `NAME=<FILE`, `@FILE` and `NAME@FILE`.
fn inner_file(value: &Word, role: Role) -> Option<Touch> {
    let text = value.text.as_str();
    let name_end = text.find('=');
    let start = match (role, name_end) {
        (Role::NamedFile, _) => name_end.map_or(0, |at| at + 1),
        (_, Some(at)) if text.get(at + 1..)?.starts_with(['@', '<']) => at + 2,
        (_, None) => text.find('@')? + 1,
        (_, Some(at)) => text.find('@').filter(|mark| *mark < at)? + 1,
    };
    let mut path = value.tail(start);
    // `;type=text/plain` belongs to the form.
    if let Some((name, _)) = path.text.split_once(';').filter(|_| role == Role::Form) {
        path = Word { text: name.to_owned(), shape: name.to_owned(), ..path.clone() };
    }
    Some(Touch::new(Read, &path).inner(start > 0))
}

/// What is done to operands.
fn operands(given: &DescribedCommand<'_>) -> Vec<Touch> {
    let deep = given.has(Role::Recursive);
    let edit = edit_of(given);
    let removes = given.has_flag(Role::Delete);
    let is_awk = has_code(given, Language::Awk);
    let mut touches = Vec::new();
    let mut searched = false;
    for operand in &given.parsed.operands {
        searched |= operand.role == Role::Read;
        let does = match operand.role {
            Role::Read => edit.unwrap_or(Read),
            Role::Edit if given.has(Role::ToStdout) => Read,
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
        let directory = given.directory_at(operand.part.word);
        let path = within(directory.as_ref(), &given.word(operand.part));
        // A file is written as a whole, whatever is put into it.
        let below = deep && !matches!(operand.role, Role::Write | Role::Append);
        touches.push(Touch::new(does, &path).deep(below));
        if removes && matches!(does, Read | Write) && is_source(given, operand) {
            touches.push(Touch::new(Delete, &path).deep(deep));
        }
    }
    // What is searched without a path is the working directory.
    if given.has(Role::Search) && deep && !searched {
        touches.push(Touch::new(Read, &here()).deep(true));
    }
    touches
}

/// Whether an operand is removed by a program that removes what it has processed; the archive is not.
fn is_source(given: &DescribedCommand<'_>, operand: &ParsedOperand<'_>) -> bool {
    operand.role == Role::Read || given.parsed.operands.iter().all(|other| other.role != Role::Read)
}

/// What is done to files that are edited in place: nothing is left of one from which every line is taken.
fn edit_of(given: &DescribedCommand<'_>) -> Option<Does> {
    if !given.has(Role::InPlace) {
        return None;
    }
    let empties_by_sed = || {
        let options = given.values(Role::Code(Language::Sed)).map(|(word, _)| word);
        let mut scripts = options.chain(given.operands(Role::Code(Language::Sed)));
        scripts.any(|word| takes_every_line(&word.text))
    };
    // Perl and Ruby print each line with `-p`; with `-n` only code that prints leaves something.
    let prints = |word: &Word| {
        let text = word.text.as_str();
        ["print", "say", "puts", "write", "$<", "system", "open"].iter().any(|verb| text.contains(verb))
    };
    let empties_by_code = || {
        let is_line_editor = has_code(given, Language::Perl) || has_code(given, Language::Ruby);
        let prints_each = given.parsed.has_any(&["-p"]);
        is_line_editor && !prints_each && !given.words.iter().any(prints)
    };
    Some(if empties_by_sed() || empties_by_code() { Delete } else { Write })
}

fn has_code(given: &DescribedCommand<'_>, language: Language) -> bool {
    given.parsed.parts_with_role(Role::Code(language)).next().is_some()
}

fn takes_every_line(script: &str) -> bool {
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

/// `awk '…' NAME=value file`: an operand that sets a variable.
fn is_assignment(operand: &ParsedOperand<'_>) -> bool {
    let name = operand.part.text.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_'))
}

/// What is written where sources land or archives are unpacked.
fn add_targets(given: &DescribedCommand<'_>, touches: &mut Vec<Touch>) {
    let named = given.values(Role::Target).next_back();
    let target = named.clone().map(|(word, _)| word).or_else(|| given.operands(Role::Target).next_back());
    let inner = named.as_ref().is_some_and(|(_, inner)| *inner);
    if given.has(Role::Unpack) {
        if !given.has(Role::ToStdout) && !given.has(Role::Info) {
            let to = target.or_else(|| given.directory_at(usize::MAX)).unwrap_or_else(here);
            touches.push(Touch::new(Write, &to).deep(true).inner(inner));
        }
        return;
    }
    // Transfers and downloads say themselves what they write there.
    let elsewhere = [Role::Place, Role::Download].iter().any(|role| given.operands(*role).next().is_some());
    let Some(target) = target.filter(|_| !elsewhere) else { return };
    let sources: Vec<Word> = given.operands(Role::Read).chain(given.operands(Role::Move)).collect();
    let moves = given.operands(Role::Move).next().is_some();
    // `mv "$f" "${f%.x}.y"` gives each a new name where it is.
    if moves && sources.len() == 1 && is_new_name(&target) {
        for touch in touches.iter_mut().filter(|touch| touch.does == Move && touch.path.pattern) {
            touch.path.shape = touch.path.shape.trim_end_matches('*').to_owned() + "…";
        }
    }
    let landing = Landing {
        tree: given.has(Role::Recursive) || moves,
        onto: given.has(Role::Onto),
        slash_is_contents: given.has(Role::Contents),
    };
    if sources.is_empty() || named.is_some() {
        touches.push(Touch::new(Write, &target).inner(inner));
    }
    let sources: Vec<&Word> = sources.iter().collect();
    let landed = land(landing, &target, &sources).into_iter();
    // An option that names the target has said so already.
    let said = |touch: &Touch| named.is_some() && !touch.deep && touch.path == target;
    touches.extend(landed.filter(|touch| !said(touch)));
}

/// Whether a target is a name made of something that is only known when it runs, in the same directory.
fn is_new_name(target: &Word) -> bool {
    let text = target.text.as_str();
    let name = text.trim_start_matches("${").trim_start_matches('$').trim_end_matches('}');
    // A variable alone may be another directory, unless a command has made it of something.
    let lone = text.starts_with('$') && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    let made = !lone || !target.from.is_empty();
    (target.dynamic || target.shape.contains('*'))
        && made
        && !target.shape.contains('/')
        && !text.starts_with('~')
}

/// The described program that a glob in a program's place stands for: the one that does the most.
pub(crate) fn programs_like(glob: &str) -> Option<&'static str> {
    let word = [Word::literal("x")];
    let harm = |name: &str| {
        let described = description::describe(name);
        let described = described.map(|program| DescribedCommand::new(program, &word));
        let touches = described.map(|command| touches(&command)).unwrap_or_default();
        let does = touches.into_iter().map(|touch| match touch.does {
            Delete => 5,
            Write | Append => 4,
            Permit | Move => 3,
            Read | Does::Run => 2,
        });
        does.max().unwrap_or(1)
    };
    let names = description::names().filter(|name| fast_glob::glob_match(glob, name));
    // Of several the shortest: `rm` rather than `rimraf`.
    names.max_by_key(|name| (harm(name), Reverse(name.len()), Reverse(*name)))
}
