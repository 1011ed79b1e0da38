// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Waits for the next recorded call from a harness.

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

/// Interval at which the ledger is polled.
const LEDGER_POLL_INTERVAL: Duration = Duration::from_millis(250);

pub(super) fn wait_for_call(
    examination: &mut Examination<'_>,
    named: Option<&str>,
    within: u64,
) -> Result<(), CommandError> {
    let home = examination.home;
    let is_guarded = |harness: &&Harness| {
        harness.installer().is_some_and(|installer| {
            installer.wired_as == harness.id && !wiring::installed_options(home, installer).is_empty()
        })
    };
    let waited_for: Vec<&'static Harness> = if let Some(id) = named {
        vec![calling_harness(read_input::parse_harness(id)?)]
    } else {
        HARNESSES.iter().filter(is_guarded).collect()
    };
    if waited_for.is_empty() {
        return Err(CommandError::user("no harness is guarded, so no call can arrive").hint(
            "guard one with `tenterhook install`; `--probe HARNESS` waits for one that you configured yourself",
        ));
    }
    let titles: Vec<_> = waited_for.iter().map(|harness| harness.title).collect();
    let titles = titles.join(" or ");
    let before = newest_records(examination, &waited_for);
    let text =
        format!("Start a session in {BOLD}{titles}{BOLD:#} and let it call a tool (waiting {within} s) …\n");
    examination.context.terminal.stderr().write_all(text.as_bytes())?;
    let until = Instant::now() + Duration::from_secs(within);
    loop {
        let now = newest_records(examination, &waited_for);
        let heard = waited_for.iter().find(|harness| now.get(harness.id) > before.get(harness.id));
        if let (Some(harness), seq) = (heard, heard.and_then(|harness| now.get(harness.id))) {
            let record = seq.map(u64::to_string).unwrap_or_default();
            examination.good(harness.title, format!("called just now (record {record})"));
            return Ok(());
        }
        if Instant::now() >= until {
            let status = format!("{titles} did not call within {within} s");
            examination
                .broken("probe", status)
                .fix("start a new session after the installation; see the findings about the harness below");
            return Ok(());
        }
        std::thread::sleep(LEDGER_POLL_INTERVAL);
    }
}

/// Returns the harness whose name the hooks use when they call.
fn calling_harness(harness: &'static Harness) -> &'static Harness {
    let wired_as = harness.installer().map(|installer| installer.wired_as);
    wired_as.and_then(tenterhook_harness::find_harness).unwrap_or(harness)
}

/// Returns the number of each harness's newest record.
fn newest_records(
    examination: &Examination<'_>,
    harnesses: &[&'static Harness],
) -> BTreeMap<&'static str, u64> {
    // Without a daemon, calls are in the spool.
    LedgerHandle::of(examination.home).import_spool();
    let newest =
        |harness: &&'static Harness| Some((harness.id, wiring::last_event(examination.home, harness)?.seq));
    harnesses.iter().filter_map(newest).collect()
}
