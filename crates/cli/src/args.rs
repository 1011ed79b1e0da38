// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The command line arguments of `tenterhook`, and the groups in which its commands are listed.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{ColorChoice, CommandFactory as _, FromArgMatches as _, Parser};

use crate::commands::{self, Command};
use crate::completion;
use crate::terminal::BOLD;

const EXIT_CODES: &str = "\
Exit codes:
  0  done; for `hook` and `fire`: the reply is on standard output
  1  the command could not do its work; for `check`: problems were found
  2  wrong usage or unreadable input; for `hook` and `fire`: blocked

Examples:
  tenterhook init                                set up, step by step
  tenterhook run claude                          guard one run
  tenterhook explain --command 'rm -rf ~/work'   what would happen, and why
  tenterhook help --all                          every command";

/// Groups of the visible commands, as `tenterhook --help` lists them. A test checks that every visible command is in
/// exactly one group.
pub(crate) const COMMAND_GROUPS: &[(&str, &[&str])] = &[
    ("Guard", &["init", "install", "uninstall", "run", "allow", "mode", "undo", "doctor", "demo"]),
    ("Observe", &["status", "sessions", "ledger", "approvals", "audit", "tui", "dashboard"]),
    ("Policy", &["rules", "explain", "check", "scan"]),
    ("Hooks", &["hooks"]),
    ("Daemon", &["daemon"]),
    ("Fleet", &["fleet"]),
    ("Advanced", &["agent", "self", "help"]),
];

/// Width of help texts.
pub(crate) const HELP_WIDTH: usize = 80;

/// One hook system for every AI agent: checks, records, rewrites or stops its actions
#[derive(Debug, Parser)]
#[command(name = "tenterhook", version, after_help = EXIT_CODES, propagate_version = true)]
#[command(max_term_width = HELP_WIDTH, disable_help_subcommand = true)]
pub(crate) struct Cli {
    /// Directory for state and settings [default: the platform's directories]
    #[arg(long, global = true, value_name = "DIR", help_heading = "Global options")]
    pub(crate) home: Option<PathBuf>,
    /// Use the machine-wide state directory, for all accounts
    #[arg(long, global = true, conflicts_with = "home", help_heading = "Global options")]
    pub(crate) system: bool,
    /// Print JSON instead of text
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) json: bool,
    /// When to use colors; `NO_COLOR` is respected
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = "Global options")]
    pub(crate) color: ColorChoice,
    #[command(subcommand)]
    pub(crate) command: Command,
}

impl Cli {
    /// Parses the command line. If the program is called `tenterhook-hook`, the verb `hook` is implied.
    pub(crate) fn from_command_line() -> Self {
        let mut words: Vec<OsString> = std::env::args_os().collect();
        let program_name = words.first().map(Path::new).and_then(Path::file_name);
        if program_name.is_some_and(|name| name == "tenterhook-hook") {
            words.insert(1, "hook".into());
        }
        if let Some(args) = commands::HookArgs::parse_fallback_call(&words) {
            let command = Command::Hook(args);
            return Self { home: None, system: false, json: false, color: ColorChoice::Auto, command };
        }
        completion::answer_completion_call(&words);
        let mut tree = command_tree();
        let matches = tree.try_get_matches_from_mut(words).unwrap_or_else(|error| error.exit());
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut tree).exit())
    }
}

/// Returns the tree of all commands, with the list of commands in groups in its help.
pub(crate) fn command_tree() -> clap::Command {
    let tree = Cli::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n{}\n{BOLD}Global options:{BOLD:#}\n{{options}}{{after-help}}",
        grouped_commands_text(&tree)
    );
    tree.help_template(template)
}

/// Formats the visible commands, group by group.
fn grouped_commands_text(tree: &clap::Command) -> String {
    let longest = COMMAND_GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max();
    let width = longest.unwrap_or_default();
    let mut text = String::new();
    for (title, names) in COMMAND_GROUPS {
        let _ = writeln!(text, "\n{BOLD}{title}:{BOLD:#}");
        for name in *names {
            let about = tree.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {BOLD}{name:<width$}{BOLD:#}  {about}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_visible_command_is_in_exactly_one_group() {
        let mut listed = BTreeSet::new();
        for name in COMMAND_GROUPS.iter().flat_map(|(_, names)| *names) {
            assert!(listed.insert(*name), "`{name}` is in two groups");
        }
        let tree = command_tree();
        let visible: BTreeSet<_> = tree
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(clap::Command::get_name)
            .collect();
        assert_eq!(listed, visible);
    }

    #[test]
    fn every_earlier_name_and_its_replacement_are_commands() {
        let find = |words: &str| {
            let tree = command_tree();
            let mut command = &tree;
            for word in words.split(' ').filter(|word| !word.starts_with("--")) {
                command = command.find_subcommand(word).unwrap_or_else(|| panic!("no command `{words}`"));
            }
        };
        for (earlier, replacement) in commands::RENAMED_COMMANDS {
            find(earlier);
            find(replacement);
        }
    }

    #[test]
    fn the_command_tree_is_valid() {
        command_tree().debug_assert();
    }
}
