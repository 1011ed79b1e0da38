// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Descriptions that users add. They add caution; only a trusted file may replace a built-in description.

use std::sync::Arc;

use tenterhook_document::{Problem, Spot, parse, repeated_keys};

use crate::examples::check_example;
use crate::format::encode::encode_programs;
use crate::format::record::Location;
use crate::format::role::Role;
use crate::format::source::{CommandSource, ExampleSource, read_file};
use crate::programs::Programs;

/// A longer file is refused unread.
const MAX_USER_FILE_BYTES: usize = 1 << 20;

/// Whether a file may replace built-in descriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It only adds: what the built-in description finds still counts.
    AddsOnly,
    /// It replaces the built-in description of a program.
    Trusted,
}

/// A data file of the user. The caller reads it.
#[derive(Debug, Clone, Copy)]
pub struct UserFile<'a> {
    /// Name for problems.
    pub source: &'a str,
    /// Content.
    pub text: &'a str,
    /// Whether it may replace built-in descriptions.
    pub trust: Trust,
}

/// Programs with the user's descriptions, and what was refused.
#[derive(Debug, Clone)]
pub struct LoadedPrograms {
    /// Every program that is described.
    pub programs: Programs,
    /// What is wrong with the files. A program with a problem is left out; the others count.
    pub problems: Vec<Problem>,
}

impl Programs {
    /// Adds the user's descriptions to the built-in ones.
    pub fn with_user_files(files: &[UserFile<'_>]) -> LoadedPrograms {
        let mut programs = Self::builtin();
        let mut problems = Vec::new();
        let (mut added, mut replacing) = (Vec::new(), Vec::new());
        for file in files {
            for program in read_user_file(file, &programs, &mut problems) {
                let target = if file.trust == Trust::Trusted { &mut replacing } else { &mut added };
                if accept(target, program.clone()).is_err() {
                    let name = program.names.first().map(String::as_str);
                    let problem = Problem::new(file.source, program.spot, "program is described twice");
                    problems.push(problem.about("program", name));
                }
            }
        }
        programs.added = encode(&added);
        programs.replacing = encode(&replacing);
        for file in files {
            check_examples(file, &programs, &mut problems);
        }
        LoadedPrograms { programs, problems }
    }
}

/// Adds a program unless one of its names is taken.
fn accept(target: &mut Vec<CommandSource>, program: CommandSource) -> Result<(), ()> {
    let taken = target.iter().any(|other| other.names.iter().any(|name| program.names.contains(name)));
    if taken {
        return Err(());
    }
    target.push(program);
    Ok(())
}

fn encode(programs: &[CommandSource]) -> Arc<[u8]> {
    if programs.is_empty() {
        return Arc::default();
    }
    // Each program was encoded alone before, and no two share a name.
    let bytes = encode_programs(programs).ok().and_then(|table| table.to_bytes().ok());
    bytes.map(Arc::from).unwrap_or_default()
}

fn read_user_file(
    file: &UserFile<'_>,
    builtin: &Programs,
    problems: &mut Vec<Problem>,
) -> Vec<CommandSource> {
    if file.text.len() > MAX_USER_FILE_BYTES {
        let message = format!("file is longer than {MAX_USER_FILE_BYTES} bytes");
        problems.push(Problem::whole(file.source, message));
        return Vec::new();
    }
    let root = match parse(file.text) {
        Ok(root) => root,
        Err((spot, message)) => {
            problems.push(Problem::new(file.source, spot, message));
            return Vec::new();
        }
    };
    let (programs, mistakes) = read_file(&root);
    let repeated = repeated_keys(&root).into_iter().map(|misfit| (misfit.spot, misfit.message));
    let mistakes: Vec<_> = mistakes.into_iter().chain(repeated).collect();
    let mut accepted = Vec::new();
    for (at, program) in programs.iter().enumerate() {
        let next = programs.get(at.saturating_add(1)).map(|next| next.spot);
        let within = |spot: Spot| spot >= program.spot && next.is_none_or(|next| spot < next);
        let mut refused = Vec::new();
        refused.extend(mistakes.iter().filter(|(spot, _)| within(*spot)).cloned());
        refused.extend(encode_programs(std::slice::from_ref(program)).err());
        if file.trust == Trust::AddsOnly && program.names.iter().any(|name| builtin.is_builtin(name)) {
            find_weakening(program, &mut refused);
        }
        if refused.is_empty() {
            accepted.push(program.clone());
        }
        let name = program.names.first().map(String::as_str);
        let each = refused
            .into_iter()
            .map(|(spot, message)| Problem::new(file.source, spot, message).about("program", name));
        problems.extend(each);
    }
    let before = programs.first().map(|program| program.spot);
    let unplaced = mistakes.into_iter().filter(|(spot, _)| before.is_none_or(|before| *spot < before));
    problems.extend(unplaced.map(|(spot, message)| Problem::new(file.source, spot, message)));
    accepted
}

/// Finds roles that would make fewer rules apply to a built-in program.
fn find_weakening(command: &CommandSource, found: &mut Vec<(Spot, String)>) {
    let mut refuse = |spot: Spot, role: Role| {
        found.push((spot, format!("role `{}` weakens the description of a built-in program", role.name())));
    };
    let options = command.options.iter().chain(&command.everywhere).chain(&command.bsd);
    for option in options {
        for role in option.all_roles().filter(|role| role.weakens()) {
            refuse(option.spot, role);
        }
    }
    for case in &command.operands {
        for slot in case.slots.iter().filter(|slot| slot.role.weakens()) {
            refuse(case.spot, slot.role);
        }
    }
    for role in command.always.iter().filter(|role| role.weakens()) {
        refuse(command.spot, *role);
    }
    if command.location != Location::Here {
        found.push((command.spot, "`location` weakens the description of a built-in program".to_owned()));
    }
    for command in &command.commands {
        find_weakening(command, found);
    }
}

fn check_examples(file: &UserFile<'_>, programs: &Programs, problems: &mut Vec<Problem>) {
    for example in read_examples(file.text) {
        if let Err(message) = check_example(programs, &example, file.trust) {
            problems.push(Problem::new(file.source, example.spot, message));
        }
    }
}

/// The examples in a data file; none if the file is invalid.
pub fn read_examples(text: &str) -> Vec<ExampleSource> {
    if text.len() > MAX_USER_FILE_BYTES {
        return Vec::new();
    }
    let programs = parse(text).map(|root| read_file(&root).0).unwrap_or_default();
    programs.into_iter().flat_map(|program| program.examples).collect()
}
