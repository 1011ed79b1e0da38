// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks the ledger, the spool and the clock.

use std::time::Duration;

use tenterhook_fleet_commands::{FleetHealth, fleet_health};
use tenterhook_guard::LedgerHandle;
use tenterhook_home::call_meta;
use tenterhook_ledger::Reader;

use super::{Examination, count_text};

/// Maximum time by which a record may be ahead of the clock, and for which it may lack a checkpoint.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(5);

pub(super) fn check_ledger_state(examination: &mut Examination<'_>) {
    let book = LedgerHandle::of(examination.home);
    let (waiting, refused) = book.spool_counts();
    if waiting > 0 {
        let status = format!("{} to be recorded", count_text(waiting, "decision") + " waiting");
        examination.warning("spool", status).fix("`tenterhook start`, or any `tenterhook ledger` command");
    }
    if refused > 0 {
        let status = format!("{} cannot be read, or not written by Tenterhook", count_text(refused, "file"));
        let fix = format!("inspect the `.refused` files in {}", examination.home.spool().display());
        examination.broken("spool", status).fix(fix);
    }
    if let Err(error) = book.check_spool() {
        let path = examination.home.spool();
        examination
            .broken("spool", format!("cannot read `{}`: {error}", path.display()))
            .fix("check its owner and permissions: decisions in it are not recorded");
    } else if waiting + refused == 0 && examination.home.state.is_dir() {
        examination.good("spool", "empty");
    }
    match fleet_health(examination.home) {
        Some(FleetHealth::Good(status)) => {
            examination.good("fleet", status);
        }
        Some(FleetHealth::Warning(status, fix)) => {
            examination.warning("fleet", status).fix(fix);
        }
        None => {}
    }
    if !examination.home.ledger().join("ledger.db").exists() {
        return;
    }
    match Reader::open(&examination.home.ledger()) {
        Ok(reader) => check_ledger(examination, &reader),
        Err(error) => {
            examination
                .broken("ledger", error.to_string())
                .fix("`tenterhook ledger verify` checks all records");
        }
    }
}

fn check_ledger(examination: &mut Examination<'_>, reader: &Reader) {
    let state = reader.size().and_then(|size| {
        let newest = reader.records_from(size.saturating_sub(1), 1)?.pop();
        Ok((size, newest, reader.checkpoint()?))
    });
    let (size, newest, checkpoint) = match state {
        Ok(state) => state,
        Err(error) => {
            examination
                .broken("ledger", error.to_string())
                .fix("`tenterhook ledger verify` checks all records");
            return;
        }
    };
    let newest = newest.and_then(|record| {
        let envelope = record.envelope()?.ok()?;
        envelope.recorded.parse::<tenterhook_event::Timestamp>().ok()
    });
    let published = checkpoint.map_or(0, |(published, _)| published);
    let age = newest.map_or(0, |newest| call_meta::now_ms().saturating_sub(newest.unix_ms()));
    // A checkpoint covers new records within a second. Until then, only the transaction that wrote them is signed.
    if published == size || Duration::from_millis(age) < CLOCK_TOLERANCE {
        examination.good("ledger", format!("{size} records (`tenterhook ledger verify` checks each)"));
    } else {
        let status = format!("{} of {size} records are not in a checkpoint", size.saturating_sub(published));
        examination.warning("ledger", status).fix("`tenterhook ledger verify` checks them");
    }
    if let Some(newest) = newest {
        let ahead = Duration::from_millis(newest.unix_ms().saturating_sub(call_meta::now_ms()));
        if ahead > CLOCK_TOLERANCE {
            let status = format!("the newest record is {} s ahead: the clock was set back", ahead.as_secs());
            examination.warning("clock", status).fix("synchronize the clock (NTP)");
        } else {
            examination.good("clock", "no record is ahead of the clock");
        }
    }
}
