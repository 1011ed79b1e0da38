// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Looks up described programs.

use std::ops::Deref;
use std::sync::{Arc, LazyLock, OnceLock};

use crate::format::record::{CommandRecord, KEY_WORD, Location, NameTable, OptionRecord, StandardInput};
use crate::format::role::Language;
use crate::parsed_args::{CommandWord, ParsedArgs, Variant};
use crate::parser::parse_words;
use crate::summary::CommandSummary;
use crate::table::FoundKey;
use crate::user_programs::{UserProgram, UserProgramFile, UserProgramTables};

/// The built-in descriptions, compiled by the build script.
static BUILTIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/programs.bin"));

/// The built-in descriptions, decoded once for all values of [`Programs`].
static BUILTIN_PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    // The build script decodes the table and fails if it cannot.
    let builtin: NameTable<'static> = postcard::from_bytes(BUILTIN).unwrap_or_default();
    let decoded = (0..builtin.len()).map(|_| OnceLock::new()).collect();
    Programs { builtin, decoded, user_tables: Arc::default(), files: Arc::default() }
});

/// All described programs, both built-in and user-defined.
#[derive(Debug, Clone)]
pub struct Programs {
    builtin: NameTable<'static>,
    /// Decoded built-in programs, by the index of their name. A program is looked up several times for one command.
    decoded: Arc<[OnceLock<Box<CommandRecord<'static>>>]>,
    /// The user's descriptions.
    user_tables: Arc<UserProgramTables>,
    /// The files that the user's descriptions come from.
    files: Arc<[UserProgramFile]>,
}

/// A described program.
#[derive(Debug, Clone)]
pub struct Program<'a> {
    record: FoundRecord<'a>,
}

/// The record of a program. With `Cow`, a built-in program could not be used where a shorter lifetime is expected.
#[derive(Debug, Clone)]
enum FoundRecord<'a> {
    /// A built-in program, decoded once.
    Shared(&'a CommandRecord<'a>),
    /// A program in a user table.
    Decoded(Box<CommandRecord<'a>>),
}

/// An option of a described program, for reports and tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedOption<'a> {
    /// The sub-commands that the option belongs to; empty for the program itself.
    pub path: Vec<&'a str>,
    /// Description of the option.
    pub option: OptionRecord<'a>,
}

// === impl Programs ===

impl Programs {
    /// Returns the built-in descriptions.
    pub fn builtin() -> Self {
        BUILTIN_PROGRAMS.clone()
    }

    /// Finds a program by name: `cp`, `gcp`, `python3.12`, `mkfs.ext4`. The name must not contain a directory.
    /// Descriptions that only add to another description are not included; see [`Programs::find_addition`].
    pub fn find(&self, name: &str) -> Option<Program<'_>> {
        if !self.user_tables.replacing.is_empty()
            && let Some(program) = Program::in_table(&self.user_tables.replacing, name)
        {
            return Some(program);
        }
        self.find_builtin(name).map(|record| Program { record: FoundRecord::Shared(record) })
    }

    /// Returns the number of layers whose descriptions add to [`Programs::find`].
    pub fn count_additions(&self) -> usize {
        self.user_tables.added.len()
    }

    /// Returns the description of a program in an additional layer. Its results apply in addition to those of
    /// [`Programs::find`].
    pub fn find_addition(&self, layer: usize, name: &str) -> Option<Program<'_>> {
        Program::in_table(self.user_tables.added.get(layer)?, name)
    }

    fn find_builtin(&self, name: &str) -> Option<&CommandRecord<'static>> {
        let key = find_key(&self.builtin, name)?;
        let slot = self.decoded.get(key.position)?;
        if slot.get().is_none() {
            // Another thread may set the slot first, to the same record.
            let _ = slot.set(Box::new(self.builtin.command(key)?));
        }
        slot.get().map(|record| &**record)
    }

    /// Whether a program of this name is built in.
    pub fn is_builtin(&self, name: &str) -> bool {
        find_key(&self.builtin, name).is_some()
    }

    /// Returns all built-in names, in order.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.builtin.names().map(|key| key.name)
    }

    /// Returns the user files with the programs that they describe.
    pub fn user_files(&self) -> &[UserProgramFile] {
        &self.files
    }

    /// Returns the user descriptions of a program, with their files.
    pub fn user_descriptions(&self, name: &str) -> Vec<(&UserProgramFile, &UserProgram, Program<'_>)> {
        let mut all = Vec::new();
        for file in self.files.iter() {
            for program in &file.programs {
                let found = if program.replaces {
                    Program::in_table(&self.user_tables.replacing, name)
                } else {
                    self.find_addition(file.table, name)
                };
                let is_meant = |found: &Program<'_>| program.names.iter().any(|name| name == found.name());
                all.extend(found.filter(is_meant).map(|found| (file, program, found)));
            }
        }
        all
    }

    /// Returns the compiled user descriptions; `None` if there are none.
    pub fn user_tables(&self) -> Option<&UserProgramTables> {
        (!self.user_tables.is_empty()).then_some(&self.user_tables)
    }

    /// Combines the built-in descriptions with compiled user descriptions, without the names of their files. `None`
    /// if a table is damaged.
    pub fn with_user_tables(tables: UserProgramTables) -> Option<Self> {
        let is_readable =
            |bytes: &Vec<u8>| bytes.is_empty() || postcard::from_bytes::<NameTable<'_>>(bytes).is_ok();
        let is_intact = tables.added.iter().chain([&tables.replacing]).all(is_readable);
        is_intact.then(|| Self::with_user_programs(tables, Arc::default()))
    }

    /// Combines the built-in descriptions with those of the user.
    pub(crate) fn with_user_programs(tables: UserProgramTables, files: Arc<[UserProgramFile]>) -> Self {
        Self { user_tables: Arc::new(tables), files, ..Self::builtin() }
    }
}

fn find_key<'a>(table: &NameTable<'a>, name: &str) -> Option<FoundKey<'a>> {
    if table.is_empty() {
        return None;
    }
    let exact = table.find(KEY_WORD, name);
    // `python3.12` is `python`; `mkfs.ext4` is `mkfs.*`.
    let versionless = || {
        let family =
            name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.' || letter == '-');
        (!family.is_empty() && family != name).then(|| table.find(KEY_WORD, family)).flatten()
    };
    let kind = || name.split_once('.').and_then(|(family, _)| table.find_kinds(family));
    exact.or_else(versionless).or_else(kind)
}

// === impl FoundRecord ===

impl<'a> Deref for FoundRecord<'a> {
    type Target = CommandRecord<'a>;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Shared(record) => record,
            Self::Decoded(record) => record,
        }
    }
}

// === impl Program ===

impl<'a> Program<'a> {
    /// Finds a program in a user table.
    pub(crate) fn in_table(bytes: &'a [u8], name: &str) -> Option<Self> {
        let table: NameTable<'a> = postcard::from_bytes(bytes).ok()?;
        let record = table.command(find_key(&table, name)?)?;
        Some(Self { record: FoundRecord::Decoded(Box::new(record)) })
    }

    /// Returns the name under which the program is described.
    pub fn name(&self) -> &'a str {
        self.record.name
    }

    /// Parses the words after the program's name, as the GNU variant does.
    pub fn parse<'w, W: CommandWord>(&self, words: &'w [W]) -> ParsedArgs<'w, 'a> {
        parse_words(&self.record, words, Variant::Gnu)
    }

    /// Parses the words as the given variant does.
    pub fn parse_as<'w, W: CommandWord>(&self, words: &'w [W], variant: Variant) -> ParsedArgs<'w, 'a> {
        parse_words(&self.record, words, variant)
    }

    /// Returns what the program does with standard input if its words contain no instructions.
    pub fn stdin(&self) -> StandardInput {
        self.record.stdin
    }

    /// Returns the language of the texts and files that the program runs.
    pub fn language(&self) -> Option<Language> {
        self.record.language
    }

    /// Whether the program or a sub-command installs or runs packages.
    pub fn installs(&self) -> bool {
        self.record.installs
    }

    /// Whether a word of the program or of a sub-command can name a host.
    pub fn connects(&self) -> bool {
        self.record.connects
    }

    /// Whether the program or a sub-command runs its operands, or a shell on standard input, in its own environment:
    /// not on another machine, in a container or below another root.
    pub fn wraps(&self) -> bool {
        self.record.wraps
    }

    /// Whether the program or a sub-command works on another machine, in a container or below another root.
    pub fn leaves(&self) -> bool {
        self.record.leaves
    }

    /// Whether an option value or operand can be text that is run.
    pub fn runs(&self) -> bool {
        self.record.runs
    }

    /// Whether URLs among the words are plain text.
    pub fn ignores_addresses(&self) -> bool {
        self.record.ignores_addresses
    }

    /// Returns where inner commands run.
    pub fn location(&self) -> Location {
        self.record.location
    }

    /// Returns the whole description, for reports.
    pub fn summary(&self) -> CommandSummary {
        CommandSummary::new(&self.record)
    }

    /// Returns every option, including those of sub-commands.
    pub fn options(&self) -> Vec<DescribedOption<'a>> {
        let mut found = Vec::new();
        collect_options(&self.record, &[], &mut found);
        found
    }
}

fn collect_options<'a>(record: &CommandRecord<'a>, path: &[&'a str], found: &mut Vec<DescribedOption<'a>>) {
    for table in [record.options, record.everywhere] {
        for key in table.names() {
            let Some(option) = table.record::<OptionRecord<'_>>(key) else { continue };
            // An option has a key for each of its names; it is listed under the first.
            let first = option.names.split(' ').next().unwrap_or_default();
            if first.trim_start_matches(['-', '+']) == key.name {
                found.push(DescribedOption { path: path.to_vec(), option });
            }
        }
    }
    for key in record.commands.names() {
        let Some(command) = record.commands.command(key) else { continue };
        if command.name == key.name {
            let path: Vec<_> = path.iter().copied().chain([key.name]).collect();
            collect_options(&command, &path, found);
        }
    }
}
