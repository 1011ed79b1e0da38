// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::hook_packages::{self, PackageEntry, PackageList};
use tenterhook_package_source::hook_packages::PackageSource;

use super::{package_environment, package_text};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{DIM, GOOD};

const EXAMPLES: &str = "\
The hook package is copied to hooks/ in your settings, and pinned by its commit and by the hash of every file. Its \
hooks do not run until you have read it and run `tenterhook hooks trust NAME`.

Examples:
  tenterhook hooks add ./guard
  tenterhook hooks add https://example.com/hooks.git env-guard
  tenterhook hooks add https://example.com/hooks.git env-guard \\
    --commit 1f0c9c1 --sha256 9b1d…";

/// Add a hook package; its hooks do not run until it is trusted
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Directory, or URL of a git repository
    #[arg(value_name = "DIR|GIT-URL")]
    from: String,
    /// Hook package to add, if the source has several
    package: Option<String>,
    /// Local name [default: the package's own name]
    #[arg(long)]
    name: Option<String>,
    /// Commit to use instead of the newest
    #[arg(long, value_name = "COMMIT")]
    commit: Option<String>,
    /// Refuse the package unless the hash of all its files is this one
    #[arg(long, value_name = "HASH")]
    sha256: Option<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let mut list = PackageList::read_for_update(home)?;
    let source = PackageSource::open(&args.from, args.commit.as_deref())?;
    let offer = source.offer(args.package.as_deref())?;
    let name = args.name.as_deref().or(args.package.as_deref()).unwrap_or(&offer.name);
    hook_packages::check_name(name)?;
    if list.find(name).is_some_and(|package| package.trusted) {
        return Err(CommandError::user(format!("a trusted hook package `{name}` already exists"))
            .hint("choose another name with `--name NAME`, or remove it first: `tenterhook hooks remove`"));
    }
    let files = source.files(offer)?;
    let package = PackageEntry::new(name, &source.from, source.commit().map(ToOwned::to_owned), &files);
    let digest = hook_packages::digest(&package.files);
    if args.sha256.as_ref().is_some_and(|expected| !expected.eq_ignore_ascii_case(&digest)) {
        return Err(CommandError::internal(format!("hash of `{name}` does not match: it is {digest}"))
            .hint("nothing was added"));
    }
    let (manifest, _) =
        hook_packages::check(&home.hook_packages().join(name), &files, &package_environment(context)?)?;
    LedgerHandle::of(home).record_change("hooks add", json!({"kit": package, "sha256": digest}))?;
    let dir = hook_packages::write(home, name, &files)?;
    list.put(package.clone());
    list.write(home)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"kit": package, "sha256": digest, "folder": dir}))?;
    } else {
        let mut text = package_text(&package, &manifest, &files);
        text += &format!("{GOOD}✓{GOOD:#} `{name}` added in {}; its hooks do not run yet\n", dir.display());
        text += &format!("  {DIM}→{DIM:#} read it, then trust it: `tenterhook hooks trust {name}`\n");
        context.terminal.print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}
