// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Descriptions that users add. They count beside what is known of a program without them; only a trusted file
//! may replace that.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tenterhook_document::{Problem, Spot, parse, repeated_keys};

use crate::examples::check_example_with;
use crate::format::encode::encode_programs;
use crate::format::source::{CommandSource, ExampleSource, read_file};
use crate::programs::{Program, Programs};

/// A longer file is refused unread.
const MAX_USER_FILE_BYTES: usize = 1 << 20;

const LEFT_OUT: &str = "this program is left out; the others of the file count";

/// Whether a file may replace what is known of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// It only adds: what is known without it still counts. `replaces` is refused.
    AddsOnly,
    /// Its descriptions with `replaces: true` take the place of what is known.
    Trusted,
}

/// A data file of the user. The caller reads it.
#[derive(Debug, Clone, Copy)]
pub struct UserFile<'a> {
    /// Name for problems.
    pub source: &'a str,
    /// Content.
    pub text: &'a str,
    /// Whether it may replace what is known of a program.
    pub trust: Trust,
    /// Whose file it is. Files of one layer describe a program once; descriptions of several layers all count.
    pub layer: u8,
}

/// Programs with the user's descriptions, and what was refused.
#[derive(Debug, Clone)]
pub struct LoadedPrograms {
    /// Every program that is described.
    pub programs: Programs,
    /// What is wrong with the files. A program with a problem is left out; the others count.
    pub problems: Vec<Problem>,
}

/// The user's descriptions in their compiled form.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnTables {
    /// One table for each layer that adds descriptions.
    pub(crate) added: Vec<Vec<u8>>,
    /// Descriptions that take the place of what is known; empty if there are none.
    pub(crate) replacing: Vec<u8>,
}

/// A file of the user that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OwnFile {
    /// Its name.
    pub source: String,
    /// The table that its programs are added to.
    #[serde(skip)]
    pub(crate) table: usize,
    /// The programs that are taken from it.
    pub programs: Vec<OwnProgram>,
}

/// A program that a user describes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OwnProgram {
    /// Its names.
    pub names: Vec<String>,
    /// Line of the description.
    pub line: usize,
    /// Whether the description takes the place of what is known without it.
    pub replaces: bool,
    /// How many examples it has.
    pub examples: usize,
}

/// A description on its way into the tables.
struct Accepted<'a> {
    file: &'a UserFile<'a>,
    program: CommandSource,
}

// === impl OwnTables ===

impl OwnTables {
    pub(crate) fn is_empty(&self) -> bool {
        self.added.is_empty() && self.replacing.is_empty()
    }
}

impl Programs {
    /// Adds the user's descriptions to the built-in ones.
    pub fn with_user_files(files: &[UserFile<'_>]) -> LoadedPrograms {
        let mut problems = Vec::new();
        let (mut added, mut replacing) = (BTreeMap::<u8, Vec<Accepted<'_>>>::new(), Vec::new());
        for file in files {
            for mut program in read_user_file(file, &mut problems) {
                if let Some(spot) = program.replaces.filter(|_| file.trust == Trust::AddsOnly) {
                    problems.push(refused_replacement(file, &program, spot));
                    program.replaces = None;
                }
                let target = match program.replaces {
                    Some(_) => &mut replacing,
                    None => added.entry(file.layer).or_default(),
                };
                match described_before(target, &program) {
                    None => target.push(Accepted { file, program }),
                    Some(message) => problems.push(problem(file, &program, program.spot, message)),
                }
            }
        }
        for program in added.values().flatten() {
            let table = encode(&[program], &mut problems);
            check_examples(program, &table, &mut problems);
        }
        // With a wrong description in its place, less might be known than before.
        replacing.retain(|program| {
            let table = encode(&[program], &mut problems);
            check_examples(program, &table, &mut problems)
        });
        let all: Vec<&Accepted<'_>> = added.values().flatten().chain(&replacing).collect();
        let mut encode_all =
            |layer: &[Accepted<'_>]| encode(&layer.iter().collect::<Vec<_>>(), &mut problems);
        let own = OwnTables {
            added: added.values().map(|layer| encode_all(layer)).collect(),
            replacing: encode_all(&replacing),
        };
        let table = |layer: u8| added.keys().position(|other| *other == layer).unwrap_or_default();
        let files = files.iter().map(|file| OwnFile::new(file, table(file.layer), &all)).collect();
        LoadedPrograms { programs: Self::with_own(own, files), problems }
    }
}

impl OwnFile {
    fn new(file: &UserFile<'_>, table: usize, all: &[&Accepted<'_>]) -> Self {
        let own = all.iter().filter(|accepted| std::ptr::eq(accepted.file, file));
        let programs = own.map(|Accepted { program, .. }| OwnProgram {
            names: program.names.clone(),
            line: program.spot.line,
            replaces: program.replaces.is_some(),
            examples: program.all_examples().len(),
        });
        Self { source: file.source.to_owned(), table, programs: programs.collect() }
    }
}

fn problem(file: &UserFile<'_>, program: &CommandSource, spot: Spot, message: String) -> Problem {
    let name = program.names.first().map(String::as_str);
    Problem::new(file.source, spot, message).about("program", name).hint(LEFT_OUT)
}

fn refused_replacement(file: &UserFile<'_>, program: &CommandSource, spot: Spot) -> Problem {
    let message = "only a file of the machine's policy may replace what is known of a program";
    let hint = "remove `replaces`: until then the description counts in addition";
    problem(file, program, spot, message.to_owned()).hint(hint)
}

/// Where one of the names is taken.
fn described_before(target: &[Accepted<'_>], program: &CommandSource) -> Option<String> {
    let is_same = |other: &&Accepted<'_>| other.program.names.iter().any(|name| program.names.contains(name));
    let Accepted { file, program } = target.iter().find(is_same)?;
    Some(format!("program is already described at {}:{}", file.source, program.spot.line))
}

/// Encodes programs into one table. Each was encoded alone before and no two share a name, so a failure is a bug. It is
/// reported, because the table is empty then and none of the programs is known.
fn encode(programs: &[&Accepted<'_>], problems: &mut Vec<Problem>) -> Vec<u8> {
    let Some(Accepted { file, program: first }) = programs.first() else { return Vec::new() };
    let programs: Vec<_> = programs.iter().map(|accepted| accepted.program.clone()).collect();
    let bytes = encode_programs(&programs)
        .and_then(|table| table.to_bytes().map_err(|error| (first.spot, error.to_string())));
    bytes.unwrap_or_else(|(spot, message)| {
        problems.push(problem(file, first, spot, message));
        Vec::new()
    })
}

fn read_user_file(file: &UserFile<'_>, problems: &mut Vec<Problem>) -> Vec<CommandSource> {
    if file.text.len() > MAX_USER_FILE_BYTES {
        let message = format!("file is longer than {MAX_USER_FILE_BYTES} bytes");
        problems.push(Problem::whole(file.source, message).hint("split it into several files"));
        return Vec::new();
    }
    let root = match parse(file.text) {
        Ok(root) => root,
        Err((spot, message)) => {
            let hint = "no program of this file is described until it is valid YAML";
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

/// Reads the examples of a program by its own description; whether all of them are read as they say.
fn check_examples(accepted: &Accepted<'_>, table: &[u8], problems: &mut Vec<Problem>) -> bool {
    let Accepted { file, program } = accepted;
    let before = problems.len();
    for example in program.all_examples() {
        if let Err(error) = check_example_with(|name| Program::in_table(table, name), example) {
            let hint = match program.replaces {
                Some(_) => LEFT_OUT,
                None => "fix the description or the example; the description counts as it is",
            };
            problems.push(problem(file, program, example.spot, error.to_string()).hint(hint));
        }
    }
    problems.len() == before
}

/// The examples in a data file; none if the file is invalid.
pub fn read_examples(text: &str) -> Vec<ExampleSource> {
    if text.len() > MAX_USER_FILE_BYTES {
        return Vec::new();
    }
    let programs = parse(text).map(|root| read_file(&root).0).unwrap_or_default();
    programs.iter().flat_map(CommandSource::all_examples).cloned().collect()
}
