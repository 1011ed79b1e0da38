// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::hook_packages::{self, PackageEntry, PackageList};

use super::{find_package, package_environment, package_text};
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::GOOD;

const EXAMPLES: &str = "\
The contents of the package are shown first. Then its hooks run, as long as its files do not change. Trust your own \
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
    let mut list = PackageList::read_for_update(home)?;
    let package = find_package(&list, &args.name)?.clone();
    let dir = home.hook_packages().join(&package.name);
    let files =
        if package.commit.is_some() { package.files(home)? } else { hook_packages::read_files(&dir)? };
    let new = PackageEntry { trusted: true, files: hook_packages::hash_files(&files), ..package.clone() };
    let (manifest, _) = hook_packages::check(&dir, &files, &package_environment(context)?)?;
    let digest = hook_packages::digest(&new.files);
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
    let mut list = PackageList::read_for_update(home)?;
    let package = find_package(&list, &args.name)?.clone();
    let detail = json!({"kit": package.name, "sha256": hook_packages::digest(&package.files)});
    // A package that was never trusted never ran, so removing it does not weaken protection.
    if package.trusted {
        confirm::require_confirmation(context, Action::HooksRemove, detail, &args.proof)?;
    } else {
        LedgerHandle::of(home).record_change("hooks remove", detail)?;
    }
    list.packages.retain(|other| other.name != package.name);
    list.write(home)?;
    let dir = home.hook_packages().join(&package.name);
    if dir.exists() {
        fs_err::remove_dir_all(dir)?;
    }
    let removed = format!("`{}` was removed", package.name);
    report_change(context, &PackageEntry { trusted: false, ..package }, &removed)
}

fn report_change(context: &Context, package: &PackageEntry, what: &str) -> Result<ExitCode, CommandError> {
    if context.terminal.json {
        let sha256 = hook_packages::digest(&package.files);
        context.terminal.print_json(&json!({"kit": package, "sha256": sha256}))?;
    } else {
        context.terminal.print(&format!("{GOOD}✓{GOOD:#} {what}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
