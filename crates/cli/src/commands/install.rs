// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_home::{Book, Home, Place, make_private, snapshot, write_whole};

use super::change::{ChangeArgs, propose, refused, report, settings_of};
use crate::context::Context;
use crate::error::CommandError;
use crate::intake;
use crate::terminal::{BAD, BOLD, DIM, GOOD};

const EXAMPLES: &str = "\
The exact change is shown first. Comments, order and file mode are kept, the original is backed up,
and `tenterhook uninstall` brings it back byte for byte.

Examples:
  tenterhook install claude-code
  tenterhook install claude-code --dry-run
  tenterhook install claude-code --yes --json";

/// Wire Tenterhook into a harness
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    change: ChangeArgs,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let harness = intake::harness(&args.change.harness)?;
    let home = context.home()?;
    let (installer, settings) = settings_of(context, harness)?;
    let plan = (installer.plan_install)(&settings, &home.state, &home.receipts())
        .map_err(|error| refused(&error))?;
    let done = propose(context, &args.change, harness, &plan, "install")?;
    if done {
        if !plan.is_noop() {
            let detail = json!({"harness": harness.id, "settings": plan.change.path});
            home.make()?;
            Book::of(home).change("install", detail)?;
        }
        // The programs first: settings never name a program that is not there.
        place_programs(home)?;
        chain(home, harness.id, plan.chained.as_deref())?;
        plan.apply().map_err(|error| refused(&error))?;
        // Without one, hooks that find no daemon read the files themselves.
        snapshot::write(home, &context.env, &Place::default())?;
    }
    let json = context.terminal.json;
    let in_force = !done || plan.in_force;
    if json {
        let program = home.bin().join("tenterhook-hook");
        report(
            context,
            harness,
            &plan,
            done,
            json!({"program": program, "home": home.state, "in_force": plan.in_force}),
        )?;
    } else if !in_force {
        let title = harness.title;
        let text =
            format!("{BAD}✗{BAD:#} {BOLD}{title}{BOLD:#} is wired, but not guarded: see the note above.\n");
        context.terminal.say(&text)?;
    } else if done && !plan.is_noop() {
        let text = format!(
            "{GOOD}✓{GOOD:#} {BOLD}{}{BOLD:#} is guarded from its next session on.\n  \
             {DIM}decisions{DIM:#}  {}\n  {DIM}your rules{DIM:#} {}\n  {DIM}undo{DIM:#}       {} uninstall {}\n",
            harness.title,
            home.ledger().display(),
            home.policy().display(),
            home.bin().join("tenterhook").display(),
            harness.id
        );
        context.terminal.say(&text)?;
    }
    Ok(if in_force { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What harnesses spawn: small programs of their own, carried inside this one.
const SMALL_PROGRAMS: [(&str, &[u8]); 2] = [
    ("tenterhook-hook", include_bytes!(concat!(env!("OUT_DIR"), "/tenterhook-hook"))),
    ("tenterhook-status", include_bytes!(concat!(env!("OUT_DIR"), "/tenterhook-status"))),
];

/// Puts our programs where the harness will find them, whatever becomes of the place we run from.
fn place_programs(home: &Home) -> Result<(), CommandError> {
    home.mark()?;
    make_private(&home.bin())?;
    let place = home.bin().join("tenterhook");
    let running = std::env::current_exe()?;
    if !same_file(&running, &place) {
        write_whole(&place, &fs_err::read(&running)?, 0o755)?;
    }
    for (name, bytes) in SMALL_PROGRAMS {
        let place = home.bin().join(name);
        // A link of an earlier version would be followed.
        let is_link = fs_err::symlink_metadata(&place).is_ok_and(|found| found.is_symlink());
        if is_link || fs_err::read(&place).ok().as_deref() != Some(bytes) {
            write_whole(&place, bytes, 0o755)?;
        }
    }
    Ok(())
}

/// Keeps the status line that was there before ours, which ours runs as well.
pub(super) fn chain(home: &Home, harness: &str, command: Option<&str>) -> Result<(), CommandError> {
    // The others have none that we wire.
    if harness != "claude-code" {
        return Ok(());
    }
    let path = home.state.join(tenterhook_shim::status::CHAIN);
    match command {
        Some(command) => write_whole(&path, command.as_bytes(), 0o600),
        None => match fs_err::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        },
    }
}

fn same_file(one: &Path, other: &Path) -> bool {
    matches!((fs_err::canonicalize(one), fs_err::canonicalize(other)), (Ok(one), Ok(other)) if one == other)
}
