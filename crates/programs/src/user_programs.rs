// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Loads user-defined descriptions. They add to the known description of a program; only a trusted file may replace
//! that description.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tenterhook_document::{Problem, Spot, parse, repeated_keys};

use crate::examples::check_example_with;
use crate::format::encode::encode_programs;
use crate::format::source::{CommandSource, ExampleSource, read_file};
use crate::programs::{Program, Programs};

/// Maximum file size. Larger files are rejected without parsing.
const MAX_USER_FILE_BYTES: usize = 1 << 20;

const SKIPPED_HINT: &str = "this program is skipped; the other programs in the file still apply";

/// Whether a file may replace known descriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DescriptionTrust {
    /// The file only adds descriptions. `replaces` is rejected.
    AddsOnly,
    /// Descriptions with `replaces: true` replace known descriptions.
    Trusted,
}

/// The text of a user file, read by the caller.
#[derive(Debug, Clone, Copy)]
pub struct UserProgramSource<'a> {
    /// File name for problem reports.
    pub source: &'a str,
    /// Text of the file.
    pub text: &'a str,
    /// Whether the file may replace known descriptions.
    pub trust: DescriptionTrust,
    /// Policy layer of the file. A layer may describe a program only once. If several layers describe it, all their
    /// descriptions apply.
    pub layer: u8,
}

/// Programs with user descriptions, and the problems found.
#[derive(Debug, Clone)]
pub struct LoadedPrograms {
    /// All described programs.
    pub programs: Programs,
    /// Problems in the files. An invalid description is skipped. If an example fails, a description that
    /// replaces a known one is dropped, and one that only adds stays in use.
    pub problems: Vec<Problem>,
}

/// Compiled user descriptions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserProgramTables {
    /// One table for each layer that adds descriptions.
    pub(crate) added: Vec<Vec<u8>>,
    /// Descriptions that replace known ones; empty if there are none.
    pub(crate) replacing: Vec<u8>,
}

/// A user file that was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UserProgramFile {
    /// Name of the file.
    pub source: String,
    /// Index of the table that its programs are in.
    #[serde(skip)]
    pub(crate) table: usize,
    /// Programs described by the file.
    pub programs: Vec<UserProgram>,
}

/// A user-defined program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UserProgram {
    /// Names of the program.
    pub names: Vec<String>,
    /// Line of the description.
    pub line: usize,
    /// Whether the description replaces the known one.
    pub replaces: bool,
    /// Number of examples.
    pub examples: usize,
}

/// A description that passed all checks.
struct AcceptedProgram<'a> {
    file: &'a UserProgramSource<'a>,
    program: CommandSource,
}

// === impl UserProgramTables ===

impl UserProgramTables {
    pub(crate) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.replacing.is_empty()
    }
}

impl Programs {
    /// Adds the user's descriptions to the built-in ones.
    pub fn with_user_files(files: &[UserProgramSource<'_>]) -> LoadedPrograms {
        let mut problems = Vec::new();
        let (mut added, mut replacing) = (BTreeMap::<u8, Vec<AcceptedProgram<'_>>>::new(), Vec::new());
        for file in files {
            for mut program in read_user_file(file, &mut problems) {
                if let Some(spot) = program.replaces.filter(|_| file.trust == DescriptionTrust::AddsOnly) {
                    problems.push(refused_replacement(file, &program, spot));
                    program.replaces = None;
                }
                let target = match program.replaces {
                    Some(_) => &mut replacing,
                    None => added.entry(file.layer).or_default(),
                };
                match described_before(target, &program) {
                    None => target.push(AcceptedProgram { file, program }),
                    Some(message) => problems.push(problem(file, &program, program.spot, message)),
                }
            }
        }
        for program in added.values().flatten() {
            let table = encode(&[program], &mut problems);
            check_examples(program, &table, &mut problems);
        }
        // A wrong replacement could hide effects, so it is dropped.
        replacing.retain(|program| {
            let table = encode(&[program], &mut problems);
            check_examples(program, &table, &mut problems)
        });
        let all: Vec<&AcceptedProgram<'_>> = added.values().flatten().chain(&replacing).collect();
        let mut encode_all =
            |layer: &[AcceptedProgram<'_>]| encode(&layer.iter().collect::<Vec<_>>(), &mut problems);
        let own = UserProgramTables {
            added: added.values().map(|layer| encode_all(layer)).collect(),
            replacing: encode_all(&replacing),
        };
        let table = |layer: u8| added.keys().position(|other| *other == layer).unwrap_or_default();
        let files = files.iter().map(|file| UserProgramFile::new(file, table(file.layer), &all)).collect();
        LoadedPrograms { programs: Self::with_user_programs(own, files), problems }
    }
}

impl UserProgramFile {
    fn new(file: &UserProgramSource<'_>, table: usize, all: &[&AcceptedProgram<'_>]) -> Self {
        let own = all.iter().filter(|accepted| std::ptr::eq(accepted.file, file));
        let programs = own.map(|AcceptedProgram { program, .. }| UserProgram {
            names: program.names.clone(),
            line: program.spot.line,
            replaces: program.replaces.is_some(),
            examples: program.all_examples().len(),
        });
        Self { source: file.source.to_owned(), table, programs: programs.collect() }
    }
}

fn problem(file: &UserProgramSource<'_>, program: &CommandSource, spot: Spot, message: String) -> Problem {
    let name = program.names.first().map(String::as_str);
    Problem::new(file.source, spot, message).about("program", name).hint(SKIPPED_HINT)
}

fn refused_replacement(file: &UserProgramSource<'_>, program: &CommandSource, spot: Spot) -> Problem {
    let message = "only a file of the machine's policy may replace a known program";
    let hint = "remove `replaces`; until then the description is used in addition to the known one";
    problem(file, program, spot, message.to_owned()).hint(hint)
}

/// Reports where a program of the same name is already described.
fn described_before(target: &[AcceptedProgram<'_>], program: &CommandSource) -> Option<String> {
    let is_same =
        |other: &&AcceptedProgram<'_>| other.program.names.iter().any(|name| program.names.contains(name));
    let AcceptedProgram { file, program } = target.iter().find(is_same)?;
    Some(format!("program is already described at {}:{}", file.source, program.spot.line))
}

/// Encodes programs into one table. Each program was encoded separately before and names are unique, so a failure is
/// a bug. The failure is reported, because the table is then empty and none of its programs is known.
fn encode(programs: &[&AcceptedProgram<'_>], problems: &mut Vec<Problem>) -> Vec<u8> {
    let Some(AcceptedProgram { file, program: first }) = programs.first() else { return Vec::new() };
    let programs: Vec<_> = programs.iter().map(|accepted| accepted.program.clone()).collect();
    let bytes = encode_programs(&programs)
        .and_then(|table| table.to_bytes().map_err(|error| (first.spot, error.to_string())));
    bytes.unwrap_or_else(|(spot, message)| {
        problems.push(problem(file, first, spot, message));
        Vec::new()
    })
}

fn read_user_file(file: &UserProgramSource<'_>, problems: &mut Vec<Problem>) -> Vec<CommandSource> {
    if file.text.len() > MAX_USER_FILE_BYTES {
        let message = format!("file is longer than {MAX_USER_FILE_BYTES} bytes");
        problems.push(Problem::for_file(file.source, message).hint("split it into several files"));
        return Vec::new();
    }
    let root = match parse(file.text) {
        Ok(root) => root,
        Err((spot, message)) => {
            let hint = "no program in this file is described until it is valid YAML";
            problems.push(Problem::new(file.source, spot, message).hint(hint));
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
        if refused.is_empty() {
            accepted.push(program.clone());
        }
        let each = refused.into_iter().map(|(spot, message)| problem(file, program, spot, message));
        problems.extend(each);
    }
    let before = programs.first().map(|program| program.spot);
    let unplaced = mistakes.into_iter().filter(|(spot, _)| before.is_none_or(|before| *spot < before));
    problems.extend(unplaced.map(|(spot, message)| Problem::new(file.source, spot, message)));
    accepted
}

/// Checks the examples of a program against its own description; returns false if one fails.
fn check_examples(accepted: &AcceptedProgram<'_>, table: &[u8], problems: &mut Vec<Problem>) -> bool {
    let AcceptedProgram { file, program } = accepted;
    let before = problems.len();
    for example in program.all_examples() {
        if let Err(error) = check_example_with(|name| Program::in_table(table, name), example) {
            let hint = match program.replaces {
                Some(_) => SKIPPED_HINT,
                None => "fix the description or the example; the description is used as it is",
            };
            problems.push(problem(file, program, example.spot, error.to_string()).hint(hint));
        }
    }
    problems.len() == before
}

/// Reads the examples of a data file; empty if the file is invalid.
pub fn read_examples(text: &str) -> Vec<ExampleSource> {
    if text.len() > MAX_USER_FILE_BYTES {
        return Vec::new();
    }
    let programs = parse(text).map(|root| read_file(&root).0).unwrap_or_default();
    programs.iter().flat_map(CommandSource::all_examples).cloned().collect()
}
