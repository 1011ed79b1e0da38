// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The compiled form of a description. Tables stay encoded until a name is looked up in them.

use serde::{Deserialize, Serialize};

use super::role::{Language, Role};

/// How many words an option takes as its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arity {
    /// No value.
    None,
    /// Required values: the first in the same word or the next one, more in the words behind.
    Required(u8),
    /// A value only if it is in the same word: `--color[=WHEN]`, `-i[SUFFIX]`.
    Optional,
    /// A number only if it is in the same word; letters behind it are further options: `perl -0777ne`.
    Number,
    /// Every word behind the option is a command.
    Rest,
    /// The words up to `;` or `+` are a command.
    Until,
}

/// How a program tells its options from its operands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Syntax {
    /// Letters in clusters, long names with two dashes that may be abbreviated.
    #[default]
    Gnu,
    /// Letters in clusters, long names with two dashes that must be complete.
    Plain,
    /// One option per word, with one dash or two: `-name value`, `--name=value`.
    Words,
    /// One option per word, without regard to case, as PowerShell reads them: `-NoProfile`, `-nop`.
    PowerShell,
    /// `name=value` without dashes.
    KeyValue,
    /// Every word is an operand.
    None,
}

/// What `--` means if the operands end in a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Dashes {
    /// Options end.
    #[default]
    EndOptions,
    /// The command begins, even if operands before it are missing.
    BeginCommand,
    /// The command begins; without `--` there is none.
    OnlyCommand,
    /// Nothing: options behind it count, because the program hands them to a shell.
    Skipped,
    /// Arguments of the code on standard input begin: `php -- --quiet`.
    BeginArguments,
}

/// Where an inner command runs, and where the paths of the program are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Location {
    /// In place.
    #[default]
    Here,
    /// On another machine.
    Remote,
    /// In a container or another isolated system on this machine.
    Container,
    /// Below another root directory.
    Root,
}

/// What a program does with standard input if no word tells it what to do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StandardInput {
    /// Nothing, or reads data.
    #[default]
    Data,
    /// Runs it as the code of its language.
    Code,
    /// Runs it in a shell.
    Shell,
    /// Shows a prompt and runs what is typed.
    Prompt,
    /// Draws on the terminal and reads keys.
    Screen,
}

/// How a package manager writes a package with its version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpecStyle {
    #[default]
    /// Name only.
    Plain,
    /// `name@version`, `@scope/name`, Git URLs and paths.
    Npm,
    /// `name==version`, `name[extra]`, `name @ URL`.
    Python,
    /// `name@version`.
    At,
    /// `name:version`.
    Colon,
    /// `name=version`.
    Equals,
    /// `module/path@version`.
    Go,
    /// `user/tap/name`.
    Brew,
    /// `flake#attribute`.
    Nix,
    /// `npm:name`, `jsr:name`, URL.
    Deno,
}

/// What a sub-command does with packages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PackageVerb {
    /// Installs its operands.
    Install,
    /// Runs the first operand; the rest are its arguments.
    Run,
    /// Runs a command of the project; only options name packages: `uv run --with SPEC`.
    RunProject,
    /// Runs the package that creates projects of that name.
    Create,
    /// Adds an index or a source.
    AddIndex,
    /// Adds a repository with installable content.
    AddRepository,
}

/// How many operands a slot takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Count {
    /// One.
    One,
    /// One, if there are enough for the slots that need one.
    Optional,
    /// All that other slots leave.
    Many,
}

/// One position in the operand grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Slot {
    /// What the operand means.
    pub role: Role,
    /// How many operands have this meaning.
    pub count: Count,
    /// Whether the operands of this slot are the words of a command.
    pub inner: bool,
}

/// An operand grammar, and the options with which it applies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OperandCase<'a> {
    /// Options of which one must be given, or several joined by `&`; empty: always.
    #[serde(borrow)]
    pub options: Vec<&'a str>,
    /// The positions in order.
    pub slots: Vec<Slot>,
}

/// Another role that an option has beside other options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleCase<'a> {
    /// Options of which one must be given.
    #[serde(borrow)]
    pub options: Vec<&'a str>,
    /// The role in this case.
    pub role: Role,
}

/// One option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionRecord<'a> {
    /// Every name as written, separated by spaces.
    pub names: &'a str,
    /// The name used in reports: the first long one.
    pub canonical: &'a str,
    /// Its values.
    pub arity: Arity,
    /// The role of the first value, or of the option itself.
    pub role: Role,
    /// The roles of further values.
    pub more: Vec<Role>,
    /// Roles of values that begin with a prefix: `@FILE`.
    #[serde(borrow)]
    pub prefixes: Vec<(&'a str, Role)>,
    /// Roles of values of exactly this text: `python -m pdb`.
    #[serde(borrow)]
    pub words: Vec<(&'a str, Role)>,
    /// Roles beside other options; the first that applies counts.
    #[serde(borrow)]
    pub cases: Vec<RoleCase<'a>>,
    /// Whether no options follow: `python -c CODE`.
    pub ends: bool,
    /// Whether the option tells the program what to do, so that it opens no prompt; by default its role says so.
    pub tells: Option<bool>,
}

/// Value of [`CommandRecord::prompt_operands`]: operands do not tell the program what to do.
pub(crate) const ANY_OPERANDS: u8 = u8::MAX;

/// Names in order, each with the place of its record. Nothing is decoded before it is looked up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NameTable<'a> {
    /// Entries of [`INDEX_ENTRY_BYTES`], sorted by kind and name: kind, length of the name, its offset in `keys`,
    /// offset of the record in `records`.
    pub index: &'a [u8],
    /// The names.
    pub keys: &'a [u8],
    /// The records.
    pub records: &'a [u8],
}

/// Size of an entry in the index of a [`NameTable`].
pub(crate) const INDEX_ENTRY_BYTES: usize = 10;

/// Kind of a key for sub-commands, programs and `name=value` words.
pub(crate) const KEY_WORD: u8 = 0;
/// Kind of a key for options with one dash.
pub(crate) const KEY_ONE_DASH: u8 = 1;
/// Kind of a key for options with two dashes.
pub(crate) const KEY_TWO_DASHES: u8 = 2;
/// Kind of a key for options with a plus sign.
pub(crate) const KEY_PLUS: u8 = 3;

/// The first name of a command and the place of its record in the same table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamedRecord<'a> {
    /// The first name.
    pub name: &'a str,
    /// Offset into `records`.
    pub record_offset: u32,
}

/// A program or one of its sub-commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommandRecord<'a> {
    /// Its first name, which the table of commands holds.
    #[serde(skip)]
    pub name: &'a str,
    /// How options are written.
    pub syntax: Syntax,
    /// Whether the first operand ends the options.
    pub stops: bool,
    /// Whether the first word may be a cluster of letters without a dash: `tar xf`.
    pub bundle: bool,
    /// The meaning of `--`.
    pub dashes: Dashes,
    /// Where inner commands run.
    pub location: Location,
    /// What happens with standard input.
    pub stdin: StandardInput,
    /// With more operands than this the program opens no prompt.
    pub prompt_operands: Option<u8>,
    /// The language of the texts and files that it runs.
    pub language: Option<Language>,
    /// Name of the package manager.
    pub manager: &'a str,
    /// How it writes packages.
    pub spec_style: SpecStyle,
    /// What it does with packages.
    pub package_verb: Option<PackageVerb>,
    /// The Rust function that completes the description, where data is not enough.
    pub escape: &'a str,
    /// Whether an address among the words is just a text.
    pub ignores_addresses: bool,
    /// Whether a word of the program or of a sub-command can name a host.
    pub connects: bool,
    /// Whether the program or a sub-command runs its operands, or a shell on standard input, in place.
    pub wraps: bool,
    /// Whether the program or a sub-command works on another machine, in a container or below another root.
    pub leaves: bool,
    /// Whether a word of the program or of a sub-command can be something that is run.
    pub runs: bool,
    /// Whether the program or a sub-command installs or runs packages.
    pub installs: bool,
    /// Roles that are in effect without an option.
    pub always: Vec<Role>,
    /// Operand grammars; the first whose options are given applies.
    #[serde(borrow)]
    pub operands: Vec<OperandCase<'a>>,
    /// Options at this level.
    #[serde(borrow)]
    pub options: NameTable<'a>,
    /// Options at this level and in all sub-commands.
    #[serde(borrow)]
    pub everywhere: NameTable<'a>,
    /// Options that differ on BSD and macOS.
    #[serde(borrow)]
    pub bsd: NameTable<'a>,
    /// Sub-commands.
    #[serde(borrow)]
    pub commands: NameTable<'a>,
}
