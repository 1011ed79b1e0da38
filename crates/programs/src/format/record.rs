// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines the compiled form of descriptions. Tables stay encoded until a name is looked up.

use serde::{Deserialize, Serialize};

use super::role::{Language, Role};

/// The number of values of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arity {
    /// The option takes no value.
    None,
    /// Required values: the first one in the same word or the next, further ones in the following words.
    Required(u8),
    /// An optional value in the same word: `--color[=WHEN]`, `-i[SUFFIX]`.
    Optional,
    /// An optional number in the same word, followed by further options: `perl -0777ne`.
    Number,
    /// All following words are a command.
    Rest,
    /// The words up to `;` or `+` are a command.
    Until,
}

/// The option syntax of a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OptionSyntax {
    /// Letters in clusters, long names with two dashes that may be abbreviated.
    #[default]
    Gnu,
    /// Letters in clusters, long names with two dashes that must be complete.
    Plain,
    /// One option per word, with one dash or two: `-name value`, `--name=value`.
    Words,
    /// One option per word, case-insensitive and abbreviated, as in PowerShell: `-NoProfile`, `-nop`.
    PowerShell,
    /// `name=value` without dashes.
    KeyValue,
    /// Every word is an operand.
    None,
}

/// The meaning of `--`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum DoubleDashRule {
    /// `--` ends the options.
    #[default]
    EndOptions,
    /// `--` begins the inner command, even if operands before it are missing.
    BeginCommand,
    /// `--` begins the inner command. Without `--` there is no inner command.
    OnlyCommand,
    /// `--` is ignored: options after it are still options, because the program passes them to a shell.
    Skipped,
    /// The words after `--` are arguments of the code on standard input: `php -- --quiet`.
    BeginArguments,
}

/// Where an inner command runs, and where the paths of the program are located.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Location {
    /// In the same environment.
    #[default]
    Here,
    /// On another machine.
    Remote,
    /// In a container or another isolated system on this machine.
    Container,
    /// Below another root directory.
    Root,
}

/// What a program does with standard input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StandardInput {
    /// Ignores standard input or reads it as data.
    #[default]
    Data,
    /// Runs standard input as code in the program's language.
    Code,
    /// Runs standard input in a shell.
    Shell,
    /// Shows a prompt and runs the typed text.
    Prompt,
    /// Draws on the terminal and reads keys.
    Screen,
}

/// Syntax of package specifications.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum SpecStyle {
    #[default]
    /// The name only.
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
    /// Runs the package that creates projects with this name: `npm create NAME`.
    Create,
    /// Adds an index or a source.
    AddIndex,
    /// Adds a repository with installable content.
    AddRepository,
}

/// How a program finds the files of a project that it runs, and which parts of them run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileRunner {
    /// An interpreter or the kernel runs the whole file. No description names this runner.
    Script,
    /// Recipes of targets in a makefile.
    Make,
    /// Recipes of targets that `make -n` runs although it only prints the others.
    MakeDryRun,
    /// Scripts of a `package.json`.
    PackageScript,
    /// Scripts of a `package.json` that run when its packages are installed.
    PackageInstall,
    /// Recipes of a justfile.
    Just,
    /// A Python module or package, by its name.
    PythonModule,
    /// `conftest.py` files and named tests.
    Pytest,
    /// `setup.py` of a directory.
    PythonSetup,
    /// Build script of a Cargo package.
    Cargo,
    /// Go files, or all files of a package.
    GoRun,
    /// Tasks of a Rakefile.
    Rake,
    /// Tasks of a Gradle build.
    Gradle,
    /// Tasks in `tasks.py`.
    Invoke,
    /// Tasks in `fabfile.py`.
    Fabric,
    /// Sessions in `noxfile.py`.
    Nox,
    /// Environments in `tox.ini`.
    Tox,
    /// Scripts of a `composer.json`.
    Composer,
    /// Tasks of a `deno.json`.
    Deno,
    /// Tasks of a Taskfile.
    Taskfile,
    /// Tasks of a `mise.toml`.
    Mise,
    /// Services of a compose file.
    Compose,
    /// Steps of a Dockerfile.
    Dockerfile,
    /// Tasks of a playbook.
    Playbook,
    /// Local commands of Terraform files.
    Terraform,
    /// Aliases in the configuration of Git.
    GitAlias,
    /// Code cells of a notebook.
    Notebook,
    /// Files that a program runs or loads without being given their names. No description names this runner; the first
    /// task is the program, and the others are its words.
    ProjectFiles,
}

/// The number of operands of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SlotCount {
    /// Exactly one operand.
    One,
    /// One operand, if enough operands remain for the required slots.
    Optional,
    /// All operands that other slots do not take.
    Many,
}

/// A position in the operand grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OperandSlot {
    /// Role of the operands.
    pub role: Role,
    /// Number of operands.
    pub count: SlotCount,
    /// Whether the operands are the words of an inner command.
    pub inner: bool,
}

/// An operand grammar and the options that select it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OperandCase<'a> {
    /// Options that select the grammar; `&` joins options that are needed together. If empty, the grammar always
    /// applies.
    #[serde(borrow)]
    pub options: Vec<&'a str>,
    /// Slots in order.
    pub slots: Vec<OperandSlot>,
}

/// A role that an option has together with other options.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleCase<'a> {
    /// Options, one of which must be present.
    #[serde(borrow)]
    pub options: Vec<&'a str>,
    /// The role in this case.
    pub role: Role,
}

/// A described option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OptionRecord<'a> {
    /// Every name as written, separated by spaces.
    pub names: &'a str,
    /// The name used in reports: the first long one.
    pub canonical: &'a str,
    /// Number of values.
    pub arity: Arity,
    /// The role of the first value, or of the option itself.
    pub role: Role,
    /// The roles of further values.
    pub more: Vec<Role>,
    /// Roles of values that begin with a prefix: `@FILE`.
    #[serde(borrow)]
    pub prefixes: Vec<(&'a str, Role)>,
    /// Roles of specific values: `python -m pdb`.
    #[serde(borrow)]
    pub words: Vec<(&'a str, Role)>,
    /// Roles that apply together with other options. The first case that applies is used.
    #[serde(borrow)]
    pub cases: Vec<RoleCase<'a>>,
    /// Whether the option ends all options: `python -c CODE`.
    pub ends: bool,
    /// Whether the option gives the program instructions, so that it opens no prompt. If `None`, the role
    /// decides.
    pub tells: Option<bool>,
}

/// Value of [`CommandRecord::prompt_operands`]: the program opens a prompt with any number of operands.
pub(crate) const ANY_OPERANDS: u8 = u8::MAX;

/// A sorted table of names with the offsets of their records. Records are decoded on lookup.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NameTable<'a> {
    /// Entries of [`INDEX_ENTRY_BYTES`], sorted by kind and name: kind, length of the name, its offset in `keys`,
    /// offset of the record in `records`.
    pub index: &'a [u8],
    /// Bytes of the names.
    pub keys: &'a [u8],
    /// Bytes of the records.
    pub records: &'a [u8],
}

/// Size of an entry in the index of a [`NameTable`].
pub(crate) const INDEX_ENTRY_BYTES: usize = 10;

/// Key kind of sub-commands, programs and `name=value` words.
pub(crate) const KEY_WORD: u8 = 0;
/// Key kind of options with one dash.
pub(crate) const KEY_ONE_DASH: u8 = 1;
/// Key kind of options with two dashes.
pub(crate) const KEY_TWO_DASHES: u8 = 2;
/// Key kind of options with a plus sign.
pub(crate) const KEY_PLUS: u8 = 3;

/// The first name of a command and the offset of its record in the same table.
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
    /// First name, which is stored in the table of commands.
    #[serde(skip)]
    pub name: &'a str,
    /// Syntax of options.
    pub syntax: OptionSyntax,
    /// Whether the first operand ends the options.
    pub stops: bool,
    /// Whether the first word may be a cluster of letters without a dash: `tar xf`.
    pub bundle: bool,
    /// The meaning of `--`.
    pub dashes: DoubleDashRule,
    /// Where inner commands run.
    pub location: Location,
    /// What the program does with standard input.
    pub stdin: StandardInput,
    /// Maximum number of operands with which the program opens a prompt.
    pub prompt_operands: Option<u8>,
    /// Language of the texts and files that the program runs.
    pub language: Option<Language>,
    /// Name of the package manager.
    pub manager: &'a str,
    /// Syntax of package specifications.
    pub spec_style: SpecStyle,
    /// What the command does with packages.
    pub package_verb: Option<PackageVerb>,
    /// Which files of the project the command runs.
    pub runner: Option<FileRunner>,
    /// The Rust function that completes the description, where data is not enough.
    pub escape: &'a str,
    /// Whether URLs among the words are plain text.
    pub ignores_addresses: bool,
    /// Whether a word of the program or of a sub-command can name a host.
    pub connects: bool,
    /// Whether the program or a sub-command runs its operands, or a shell on standard input, in its own environment:
    /// not on another machine, in a container or below another root.
    pub wraps: bool,
    /// Whether the program or a sub-command works on another machine, in a container or below another root.
    pub leaves: bool,
    /// Whether a word of the program or of a sub-command can be run.
    pub runs: bool,
    /// Whether the program or a sub-command installs or runs packages.
    pub installs: bool,
    /// Roles that are in effect without an option.
    pub always: Vec<Role>,
    /// Operand grammars; the first one whose options are present applies.
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
    /// Table of sub-commands.
    #[serde(borrow)]
    pub commands: NameTable<'a>,
}
