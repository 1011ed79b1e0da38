// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_guard::Book;
use tenterhook_home::kits::{self, Kit, KitList};

use super::{find_package, package_environment, package_text};
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::GOOD;

const EXAMPLES: &str = "\
The contents of the package are shown first. Then its hooks run, as long as its files do not change. Trust your own
package again after you change it; a package from a repository is pinned to its commit.

Examples:
  tenterhook hooks trust env-guard";

/// Trust a hook package, so that its hooks run
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct TrustPackageArgs {
    /// Name of the hook package
    name: String,
    #[command(flatten)]
    proof: ProofArgs,
}

/// Remove a hook package
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tenterhook hooks remove env-guard")]
pub(super) struct RemovePackageArgs {
    /// Name of the hook package
    name: String,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn trust(context: &Context, args: &TrustPackageArgs) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let mut list = KitList::read_to_change(home)?;
    let package = find_package(&list, &args.name)?.clone();
    let dir = home.kits().join(&package.name);
    let files = if package.commit.is_some() { package.files(home)? } else { kits::gather(&dir)? };
    let new = Kit { trusted: true, files: kits::hashes(&files), ..package.clone() };
    let (manifest, _) = kits::check(&dir, &files, &package_environment(context)?)?;
    let digest = kits::digest(&new.files);
    if new == package {
        return report_change(context, &new, &format!("`{}` is already trusted", package.name));
    }
    if !context.terminal.json {
        context.terminal.print(&package_text(&new, &manifest, &files))?;
    }
    confirm::require_confirmation(
        context,
        Action::HooksTrust,
        json!({"kit": new, "sha256": digest}),
        &args.proof,
    )?;
    list.put(new.clone());
    list.write(home)?;
    report_change(context, &new, &format!("`{}` is trusted; its hooks run from now on", package.name))
}

pub(super) fn remove(context: &Context, args: &RemovePackageArgs) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let mut list = KitList::read_to_change(home)?;
    let package = find_package(&list, &args.name)?.clone();
    let detail = json!({"kit": package.name, "sha256": kits::digest(&package.files)});
    // A package that was never trusted never ran, so removing it does not weaken protection.
    if package.trusted {
        confirm::require_confirmation(context, Action::HooksRemove, detail, &args.proof)?;
    } else {
        Book::of(home).change("hooks remove", detail)?;
    }
    list.kits.retain(|other| other.name != package.name);
    list.write(home)?;
    let dir = home.kits().join(&package.name);
    if dir.exists() {
        fs_err::remove_dir_all(dir)?;
    }
    let removed = format!("`{}` was removed", package.name);
    report_change(context, &Kit { trusted: false, ..package }, &removed)
}

fn report_change(context: &Context, package: &Kit, what: &str) -> Result<ExitCode, CommandError> {
    if context.terminal.json {
        let sha256 = kits::digest(&package.files);
        context.terminal.print_json(&json!({"kit": package, "sha256": sha256}))?;
    } else {
        context.terminal.print(&format!("{GOOD}✓{GOOD:#} {what}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
