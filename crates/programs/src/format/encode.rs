// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compiles descriptions into encoded tables.

use std::collections::{BTreeMap, HashMap};
use std::num::TryFromIntError;

use tenterhook_document::Spot;

use super::record::{
    Arity, CommandRecord, KEY_ONE_DASH, KEY_PLUS, KEY_TWO_DASHES, KEY_WORD, Location, NameTable, NamedRecord,
    OperandCase, OptionRecord, OptionSyntax, RoleCase, StandardInput,
};
use super::role::Role;
use super::source::{CommandSource, DescriptionMistake, OptionSource};

/// An error while writing a table.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TableError {
    #[error(transparent)]
    Serialize(#[from] postcard::Error),
    #[error("name `{name}` is too long")]
    NameTooLong { name: String },
    #[error(transparent)]
    TooLarge(#[from] TryFromIntError),
}

/// Owned parts of a [`NameTable`].
#[derive(Debug, Default)]
pub(crate) struct TableBytes {
    index: Vec<u8>,
    keys: Vec<u8>,
    records: Vec<u8>,
}

impl TableBytes {
    fn table(&self) -> NameTable<'_> {
        NameTable { index: &self.index, keys: &self.keys, records: &self.records }
    }

    /// Serializes the table.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>, TableError> {
        Ok(postcard::to_extend(&self.table(), Vec::new())?)
    }
}

/// Builds a table. Equal records are stored once.
#[derive(Default)]
struct TableBuilder<'a> {
    keys: BTreeMap<(u8, &'a str), u32>,
    offsets: HashMap<Vec<u8>, u32>,
    records: Vec<u8>,
}

impl<'a> TableBuilder<'a> {
    /// Adds a record under its names; fails with a name that is already used.
    fn add(&mut self, names: impl Iterator<Item = (u8, &'a str)>, record: Vec<u8>) -> Result<(), &'a str> {
        let at = self.store(record);
        for (kind, name) in names {
            if self.keys.insert((kind, name), at).is_some() {
                return Err(name);
            }
        }
        Ok(())
    }

    /// Stores a record and returns its offset.
    fn store(&mut self, record: Vec<u8>) -> u32 {
        if let Some(at) = self.offsets.get(&record) {
            return *at;
        }
        // User files are limited to far less than 4 GiB, so the offset always fits.
        let at = u32::try_from(self.records.len()).unwrap_or(u32::MAX);
        self.records.extend_from_slice(&record);
        self.offsets.insert(record, at);
        at
    }

    fn finish(self) -> Result<TableBytes, TableError> {
        let mut bytes = TableBytes { records: self.records, ..TableBytes::default() };
        for ((kind, name), at) in self.keys {
            let offset = u32::try_from(bytes.keys.len())?;
            let length =
                u8::try_from(name.len()).map_err(|_| TableError::NameTooLong { name: name.to_owned() })?;
            bytes.index.extend_from_slice(&[kind, length]);
            bytes.index.extend_from_slice(&offset.to_le_bytes());
            bytes.index.extend_from_slice(&at.to_le_bytes());
            bytes.keys.extend_from_slice(name.as_bytes());
        }
        Ok(bytes)
    }
}

/// Compiles programs into one table.
pub(crate) fn encode_programs(programs: &[CommandSource]) -> Result<TableBytes, DescriptionMistake> {
    encode_commands(programs, InheritedSettings::default())
}

/// Settings that sub-commands inherit from the program.
#[derive(Debug, Clone, Copy, Default)]
struct InheritedSettings<'a> {
    syntax: OptionSyntax,
    manager: &'a str,
    spec_style: super::record::SpecStyle,
}

fn encode_commands(
    commands: &[CommandSource],
    inherited: InheritedSettings<'_>,
) -> Result<TableBytes, DescriptionMistake> {
    let mut builder = TableBuilder::default();
    for command in commands {
        // Identical programs share one record, so names are stored separately.
        let record_offset = builder.store(encode_command(command, inherited)?);
        let name = command.names.first().map_or("", String::as_str);
        let named =
            postcard::to_extend(&NamedRecord { name, record_offset }, Vec::new()).map_err(internal)?;
        let names = command.names.iter().map(|name| (KEY_WORD, name.as_str()));
        builder.add(names, named).map_err(|name| (command.spot, format!("`{name}` is described twice")))?;
    }
    builder.finish().map_err(internal)
}

fn internal(error: impl Into<TableError>) -> DescriptionMistake {
    (Spot::default(), error.into().to_string())
}

fn encode_command(
    command: &CommandSource,
    inherited: InheritedSettings<'_>,
) -> Result<Vec<u8>, DescriptionMistake> {
    let syntax = command.syntax.unwrap_or(inherited.syntax);
    let manager = if command.manager.is_empty() { inherited.manager } else { &command.manager };
    let spec_style = if command.manager.is_empty() { inherited.spec_style } else { command.spec_style };
    let options = encode_options(&command.options)?;
    let everywhere = encode_options(&command.everywhere)?;
    let bsd = encode_options(&command.bsd)?;
    let commands = encode_commands(&command.commands, InheritedSettings { syntax, manager, spec_style })?;
    let operands = command.operands.iter().map(|case| OperandCase {
        options: case.options.iter().map(String::as_str).collect(),
        slots: case.slots.clone(),
    });
    let record = CommandRecord {
        name: "",
        syntax,
        stops: command.stops,
        bundle: command.bundle,
        dashes: command.dashes,
        location: command.location,
        stdin: command.stdin,
        prompt_operands: command.prompt_operands,
        language: command.language,
        manager,
        spec_style,
        package_verb: command.package_verb,
        runner: command.runner,
        escape: &command.escape,
        ignores_addresses: command.ignores_addresses,
        connects: connects(command),
        wraps: wraps(command),
        leaves: leaves(command),
        runs: runs(command),
        installs: installs(command),
        always: command.always.clone(),
        operands: operands.collect(),
        options: options.table(),
        everywhere: everywhere.table(),
        bsd: bsd.table(),
        commands: commands.table(),
    };
    postcard::to_extend(&record, Vec::new()).map_err(internal)
}

/// Whether a word can name a host.
fn connects(command: &CommandSource) -> bool {
    let options = command.options.iter().chain(&command.everywhere).chain(&command.bsd);
    let operands = command.operands.iter().flat_map(|case| &case.slots);
    options.flat_map(OptionSource::all_roles).any(Role::names_host)
        || operands.map(|slot| slot.role).any(Role::names_host)
        || command.commands.iter().any(connects)
}

/// Whether the command runs its operands, or a shell on standard input, in its own environment.
fn wraps(command: &CommandSource) -> bool {
    let has_inner = command.operands.iter().any(|case| case.slots.iter().any(|slot| slot.inner));
    let has_rest = command.options.iter().any(|option| option.spelling.arity == Arity::Rest);
    let runs = has_inner || has_rest || command.stdin == StandardInput::Shell;
    runs && command.location == Location::Here || command.commands.iter().any(wraps)
}

/// Whether the command works in another location.
fn leaves(command: &CommandSource) -> bool {
    command.location != Location::Here || command.commands.iter().any(leaves)
}

/// Whether an option value or operand can be text that is run.
fn runs(command: &CommandSource) -> bool {
    let is_run = |role: Role| matches!(role, Role::Shell | Role::Command | Role::Program | Role::Code(_));
    let options = command.options.iter().chain(&command.everywhere).chain(&command.bsd);
    let operands = command.operands.iter().flat_map(|case| &case.slots);
    options.flat_map(OptionSource::all_roles).any(is_run)
        || operands.map(|slot| slot.role).any(is_run)
        || command.commands.iter().any(runs)
}

/// Whether packages are installed or run.
fn installs(command: &CommandSource) -> bool {
    command.package_verb.is_some() || command.commands.iter().any(installs)
}

fn encode_options(options: &[OptionSource]) -> Result<TableBytes, DescriptionMistake> {
    let mut builder = TableBuilder::default();
    for option in options {
        let names = option.spelling.names.join(" ");
        let long = option.spelling.names.iter().find(|name| name.len() > 2);
        let canonical = long.or(option.spelling.names.first()).map_or("", String::as_str);
        let prefixes = option.prefixes.iter().map(|(prefix, role)| (prefix.as_str(), *role));
        let words = option.words.iter().map(|(word, role)| (word.as_str(), *role));
        let cases = option.cases.iter().map(|(options, role)| RoleCase {
            options: options.iter().map(String::as_str).collect(),
            role: *role,
        });
        let record = OptionRecord {
            names: &names,
            canonical,
            arity: option.spelling.arity,
            role: option.roles.first().copied().unwrap_or(Role::Text),
            more: option.roles.iter().skip(1).copied().collect(),
            prefixes: prefixes.collect(),
            words: words.collect(),
            cases: cases.collect(),
            ends: option.ends,
            tells: option.tells,
        };
        let record = postcard::to_extend(&record, Vec::new()).map_err(internal)?;
        let keys = option.spelling.names.iter().map(|name| option_key(name));
        builder
            .add(keys, record)
            .map_err(|name| (option.spot, format!("option `{name}` is described twice")))?;
    }
    builder.finish().map_err(internal)
}

/// Returns the kind and name of an option as written.
pub(crate) fn option_key(name: &str) -> (u8, &str) {
    if let Some(name) = name.strip_prefix("--").filter(|name| !name.is_empty()) {
        return (KEY_TWO_DASHES, name);
    }
    if let Some(name) = name.strip_prefix('-') {
        return (KEY_ONE_DASH, name);
    }
    match name.strip_prefix('+') {
        Some(name) => (KEY_PLUS, name),
        None => (KEY_WORD, name),
    }
}
