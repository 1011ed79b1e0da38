// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds a recorded decision.

use tenterhook_guard::LedgerHandle;
use tenterhook_records::id_reference::find_record;
use tenterhook_records::recorded::RecordedDecision;

use crate::context::Context;
use crate::error::CommandError;

pub(super) fn find_recorded_decision(
    context: &Context,
    reference: &str,
) -> Result<RecordedDecision, CommandError> {
    let reader = LedgerHandle::of(context.home()?).reader()?;
    let unknown = || {
        CommandError::user(format!("no decision `{reference}` in the ledger"))
            .hint("`tenterhook ledger query` lists decisions with their numbers; `last` is the latest")
    };
    let record = find_record(&reader, reference)?.ok_or_else(unknown)?;
    RecordedDecision::from_record(&record)
}
