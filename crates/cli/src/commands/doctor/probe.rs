// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whether a harness really calls: its next leaf is waited for.

use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

use tenterhook_guard::LedgerHandle;
use tenterhook_harness::{HARNESSES, Harness};
use tenterhook_harness_install::HarnessClient as _;

use super::Examination;
use crate::error::CommandError;
use crate::read_input;
use crate::terminal::BOLD;
use tenterhook_setup::wiring;

/// How often the ledger is looked at.
const LEDGER_POLL_INTERVAL: Duration = Duration::from_millis(250);

pub(super) fn examine(
    examination: &mut Examination<'_>,
    named: Option<&str>,
    within: u64,
) -> Result<(), CommandError> {
    let home = examination.home;
    let is_wired = |harness: &&Harness| {
        harness.installer().is_some_and(|installer| {
            installer.wired_as == harness.id && !wiring::asked(home, installer).is_empty()
        })
    };
    let waited_for: Vec<&'static Harness> = if let Some(id) = named {
        vec![calling_harness(read_input::parse_harness(id)?)]
    } else {
        HARNESSES.iter().filter(is_wired).collect()
    };
    if waited_for.is_empty() {
        return Err(CommandError::user("no harness is wired, so none can be heard").hint(
            "`tenterhook install` wires one; `--probe HARNESS` waits for one that you wired yourself",
        ));
    }
    let titles: Vec<_> = waited_for.iter().map(|harness| harness.title).collect();
    let titles = titles.join(" or ");
    let before = newest_records(examination, &waited_for);
    let text =
        format!("Start a session in {BOLD}{titles}{BOLD:#} and let it do something (waiting {within} s) …\n");
    examination.context.terminal.err().write_all(text.as_bytes())?;
    let until = Instant::now() + Duration::from_secs(within);
    loop {
        let now = newest_records(examination, &waited_for);
        let heard = waited_for.iter().find(|harness| now.get(harness.id) > before.get(harness.id));
        if let (Some(harness), seq) = (heard, heard.and_then(|harness| now.get(harness.id))) {
            let leaf = seq.map(u64::to_string).unwrap_or_default();
            examination.good(harness.title, format!("called just now (leaf {leaf})"));
            return Ok(());
        }
        if Instant::now() >= until {
            let says = format!("{titles} did not call within {within} s");
            examination.broken("probe", says).fix(
                "see that the session was started after the install, and what is said about the harness below",
            );
            return Ok(());
        }
        std::thread::sleep(LEDGER_POLL_INTERVAL);
    }
}

/// The harness under whose name its hooks call.
fn calling_harness(harness: &'static Harness) -> &'static Harness {
    let wired_as = harness.installer().map(|installer| installer.wired_as);
    wired_as.and_then(tenterhook_harness::find_harness).unwrap_or(harness)
}

/// The newest leaf of each.
fn newest_records(
    examination: &Examination<'_>,
    harnesses: &[&'static Harness],
) -> BTreeMap<&'static str, u64> {
    // Without a daemon, calls wait in the spool.
    LedgerHandle::of(examination.home).import_spool();
    let newest =
        |harness: &&'static Harness| Some((harness.id, wiring::last_heard(examination.home, harness)?.seq));
    harnesses.iter().filter_map(newest).collect()
}
