// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `hooks`: find, add, trust, test and remove hook packages.

mod add;
pub(super) mod adopt;
mod list;
pub(super) mod new;
mod search;
mod test;
mod trust;

use std::fmt::Write as _;
use std::process::ExitCode;

use tenterhook_engine::load::LoadContext;
use tenterhook_home::hook_packages::{self, Manifest, PackageEntry, PackageFiles, PackageList};

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, WARN, tame};

const EXAMPLES: &str = "\
A hook package is a directory with a `hook.yaml` and the files it runs. It comes from a template (`tenterhook hooks \
new`), a directory or a git repository, and is pinned by the hash of every file. Its hooks run once you trust it, \
and no longer if one of its files changes.

Examples:
  tenterhook hooks list
  tenterhook hooks search secrets --from https://example.com/hooks.git
  tenterhook hooks add https://example.com/hooks.git env-guard
  tenterhook hooks trust env-guard";

/// Find, write, add, trust and test hooks
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Search(search::Args),
    New(new::Args),
    Add(add::Args),
    Trust(trust::TrustPackageArgs),
    Remove(trust::RemovePackageArgs),
    Test(test::Args),
    Adopt(adopt::Args),
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::List(args) => list::run(context, args),
        Command::Search(args) => search::run(context, args),
        Command::New(args) => new::run(context, args),
        Command::Add(args) => add::run(context, args),
        Command::Trust(args) => trust::trust(context, args),
        Command::Remove(args) => trust::remove(context, args),
        Command::Test(args) => test::run(context, args),
        Command::Adopt(args) => adopt::run(context, args),
    }
}

/// Returns the directory, home and variables that a package's files may refer to.
pub(super) fn package_environment(context: &Context) -> Result<LoadContext<'_>, CommandError> {
    let person = context.env.home.as_deref().and_then(std::path::Path::to_str);
    Ok(LoadContext { dir: &context.home()?.config, home: person, env: &context.env.all })
}

/// Finds a package by its name.
fn find_package<'a>(list: &'a PackageList, name: &str) -> Result<&'a PackageEntry, CommandError> {
    list.find(name).ok_or_else(|| {
        CommandError::user(format!("unknown hook package `{name}`"))
            .hint("`tenterhook hooks list` lists all packages")
    })
}

/// Describes what a package would run, so that the user can decide about it.
fn package_text(package: &PackageEntry, manifest: &Manifest, files: &PackageFiles) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#}  {}\n", package.name, tame(&manifest.title));
    let _ = writeln!(text, "  {}", tame(&manifest.about));
    let _ = write!(text, "  {DIM}from{DIM:#} {}", tame(&package.from));
    if let Some(commit) = &package.commit {
        let _ = write!(text, " {DIM}at{DIM:#} {commit}");
    }
    let _ = writeln!(text, "\n  {DIM}sha256{DIM:#} {}", hook_packages::digest(&package.files));
    for hook in manifest.hooks.as_array().into_iter().flatten() {
        let part = |key: &str| hook.get(key).map(|value| tame(&value.to_string())).unwrap_or_default();
        let runs = ["command", "exec", "url"].iter().find_map(|key| hook.get(key).map(|_| part(key)));
        let _ = writeln!(
            text,
            "  {WARN}on {}{WARN:#} {} runs {}",
            part("on"),
            part("match"),
            runs.unwrap_or_default()
        );
    }
    for (name, body) in files {
        let _ = writeln!(text, "  {DIM}{} ({} lines){DIM:#}", tame(name), body.lines().count());
    }
    text
}
