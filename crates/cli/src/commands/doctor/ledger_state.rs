// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The ledger, the spool, and the clock they depend on.

use std::time::Duration;

use tenterhook_guard::Book;
use tenterhook_home::call_meta;
use tenterhook_ledger::Reader;

use super::{Examination, count_text};

/// A leaf may be this far ahead of the clock, and this long without a checkpoint.
const CLOCK_TOLERANCE: Duration = Duration::from_secs(5);

pub(super) fn examine(examination: &mut Examination<'_>) {
    let book = Book::of(examination.home);
    let (waiting, refused) = book.spooled();
    if waiting > 0 {
        let says = format!("{} for a daemon to record them", count_text(waiting, "decision") + " wait");
        examination.warning("spool", says).fix("`tenterhook start`, or any `tenterhook ledger` command");
    }
    if refused > 0 {
        let says = format!("{} could not be read, or was not made by us", count_text(refused, "file"));
        let fix = format!("look at the `.refused` files in {}", examination.home.spool().display());
        examination.broken("spool", says).fix(fix);
    }
    if let Err(error) = book.check_spool() {
        let path = examination.home.spool();
        examination
            .broken("spool", format!("`{}` cannot be read: {error}", path.display()))
            .fix("look at who owns it: decisions that wait there are not recorded");
    } else if waiting + refused == 0 && examination.home.state.is_dir() {
        examination.good("spool", "nothing waits");
    }
    if !examination.home.ledger().join("ledger.db").exists() {
        return;
    }
    match Reader::open(&examination.home.ledger()) {
        Ok(reader) => check_ledger(examination, &reader),
        Err(error) => {
            examination
                .broken("ledger", error.to_string())
                .fix("`tenterhook ledger verify` looks at all of it");
        }
    }
}

fn check_ledger(examination: &mut Examination<'_>, reader: &Reader) {
    let looked = reader.size().and_then(|size| {
        let newest = reader.records_from(size.saturating_sub(1), 1)?.pop();
        Ok((size, newest, reader.checkpoint()?))
    });
    let (size, newest, checkpoint) = match looked {
        Ok(looked) => looked,
        Err(error) => {
            examination
                .broken("ledger", error.to_string())
                .fix("`tenterhook ledger verify` looks at all of it");
            return;
        }
    };
    let newest = newest.and_then(|record| {
        let envelope = record.envelope()?.ok()?;
        envelope.recorded.parse::<tenterhook_event::Timestamp>().ok()
    });
    let published = checkpoint.map_or(0, |(published, _)| published);
    let age = newest.map_or(0, |newest| call_meta::now_ms().saturating_sub(newest.unix_ms()));
    // A checkpoint comes within a second of the leaf; until then the commit's own signature is all there is.
    if published == size || Duration::from_millis(age) < CLOCK_TOLERANCE {
        examination.good("ledger", format!("{size} leaves (`tenterhook ledger verify` checks each)"));
    } else {
        let says = format!("{} of {size} leaves are in no checkpoint", size.saturating_sub(published));
        examination
            .warning("ledger", says)
            .fix("`tenterhook ledger verify` says whether they can be trusted");
    }
    if let Some(newest) = newest {
        let ahead = Duration::from_millis(newest.unix_ms().saturating_sub(call_meta::now_ms()));
        if ahead > CLOCK_TOLERANCE {
            let says = format!("the newest leaf is {} s ahead of it: it was set back", ahead.as_secs());
            examination.warning("clock", says).fix("let the machine keep its time (NTP)");
        } else {
            examination.good("clock", "no leaf is ahead of it");
        }
    }
}
