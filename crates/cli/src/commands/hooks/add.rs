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
The hook package is copied to hooks/ in your settings, and pinned by its commit and by the hash of every file. Its
hooks do not run until you have read it and run `tenterhook hooks trust NAME`.

Examples:
  tenterhook hooks add ./guard
  tenterhook hooks add https://example.com/hooks.git env-guard
  tenterhook hooks add https://example.com/hooks.git env-guard --commit 1f0c9c1 --sha256 9b1d…";

/// Add a hook package; its hooks do not run until it is trusted
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Directory, or URL of a git repository
    #[arg(value_name = "DIR|GIT-URL")]
    from: String,
    /// Hook package to add, if the source has several
    kit: Option<String>,
    /// Local name [default: its own name]
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
    let place = PackageSource::open(&args.from, args.commit.as_deref())?;
    let offer = place.offer(args.kit.as_deref())?;
    let name = args.name.as_deref().or(args.kit.as_deref()).unwrap_or(&offer.name);
    hook_packages::check_name(name)?;
    if list.find(name).is_some_and(|kit| kit.trusted) {
        return Err(CommandError::user(format!("there is a kit `{name}` already, and it is trusted")).hint(
            "give this one another name (`--name NAME`), or remove that one first: `tenterhook hooks remove`",
        ));
    }
    let files = place.files(offer)?;
    let kit = PackageEntry::new(name, &place.from, place.commit().map(ToOwned::to_owned), &files);
    let digest = hook_packages::digest(&kit.files);
    if args.sha256.as_ref().is_some_and(|said| !said.eq_ignore_ascii_case(&digest)) {
        return Err(CommandError::internal(format!("`{name}` is not what you expect: its hash is {digest}"))
            .hint("nothing was added"));
    }
    let (manifest, _) =
        hook_packages::check(&home.hook_packages().join(name), &files, &package_environment(context)?)?;
    LedgerHandle::of(home).record_change("hooks add", json!({"kit": kit, "sha256": digest}))?;
    let dir = hook_packages::write(home, name, &files)?;
    list.put(kit.clone());
    list.write(home)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"kit": kit, "sha256": digest, "folder": dir}))?;
    } else {
        let mut text = package_text(&kit, &manifest, &files);
        text += &format!("{GOOD}✓{GOOD:#} `{name}` is in {}, and runs nothing yet\n", dir.display());
        text += &format!("  {DIM}→{DIM:#} read it, then let it run: `tenterhook hooks trust {name}`\n");
        context.terminal.say(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}
