// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tool calls as rows: the decision and the result of a call are one row, and other records are counted.

use std::collections::{BTreeMap, HashMap};

use tenterhook_api::{CallPage, CallSelection, FoldedRecords, LedgerLine, ToolCallRow, ToolRunResult};
use tenterhook_event::{EventKind, Timestamp};
use tenterhook_ledger::{Filter, ReadError, Reader, StoredRecord};

use crate::recorded::{self, JsonField as _};
use crate::{ledger_line, sanitize};

/// Number of records that one request reads to fill its page.
const MAX_READ_RECORDS: u64 = 5000;
/// Number of records to read at once.
const CHUNK_RECORDS: u64 = 200;
/// Number of records after a call among which its result is searched, and before a result its call.
const PAIR_DISTANCE: u64 = 4096;
/// Number of records of the same session and tool that are compared to find a pair.
const MAX_PAIR_CANDIDATES: u64 = 200;
const MAX_ERROR_CHARS: usize = 300;

/// Identifies a call: the harness's id for it, or the tool and its arguments.
type CallKey = (Option<String>, String);

/// A record with the fields that the rows need.
struct CallRecord {
    line: LedgerLine,
    event: Option<EventKind>,
    tool_use_id: Option<String>,
    ran_ms: Option<u64>,
    rewritten: bool,
}

impl CallRecord {
    fn new(record: &StoredRecord) -> Self {
        let (leaf, payload) = (recorded::envelope(record), recorded::payload(record));
        let line = ledger_line(record);
        Self {
            event: line.event.as_deref().and_then(|event| event.parse().ok()),
            tool_use_id: leaf.text("tool_use_id"),
            ran_ms: payload.field("detail").field("duration_ms").as_u64(),
            rewritten: !payload.field("tool_input").is_null(),
            line,
        }
    }

    fn key(&self) -> CallKey {
        let name = self.tool_use_id.clone().unwrap_or_else(|| {
            let tool = self.line.tool.as_ref();
            tool.map(|tool| format!("{} {}", tool.name, tool.gist.as_deref().unwrap_or_default()))
                .unwrap_or_default()
        });
        (self.line.session.clone(), name)
    }

    fn is_call(&self) -> bool {
        self.line.tool.is_some()
            && matches!(self.event, Some(EventKind::PreTool | EventKind::PermissionRequest))
    }

    fn is_result(&self) -> bool {
        self.line.tool.is_some() && matches!(self.event, Some(EventKind::PostTool | EventKind::ToolError))
    }

    fn has_failed(&self) -> bool {
        self.event == Some(EventKind::ToolError)
    }

    fn is_stopped(&self) -> bool {
        matches!(self.line.verdict.as_deref(), Some("ask" | "deny"))
    }

    fn is_notable(&self) -> bool {
        self.is_stopped() || self.rewritten || self.has_failed()
    }

    fn result(&self) -> ToolRunResult {
        let error = self.line.said.as_deref().filter(|_| self.has_failed());
        ToolRunResult {
            seq: self.line.seq,
            failed: self.has_failed(),
            ran_ms: self.ran_ms,
            error: error.map(|error| sanitize(error, MAX_ERROR_CHARS)),
        }
    }

    fn into_row(self, result: Option<ToolRunResult>) -> ToolCallRow {
        let Self { line, tool_use_id, rewritten, .. } = self;
        ToolCallRow { line, tool_use_id, rewritten, result, folded: None }
    }
}

/// Returns at most `limit` rows, newest first. `filter.before` continues after an earlier page.
pub fn list_calls(
    reader: &Reader,
    filter: &Filter,
    show: CallSelection,
    limit: usize,
) -> Result<CallPage, ReadError> {
    let mut page = PageBuilder { reader, rows: Vec::new(), results: HashMap::new(), orphans: Vec::new() };
    let (mut next, mut read) = (filter.before, 0);
    loop {
        let filter = Filter { before: next, ..filter.clone() };
        let found = match show {
            CallSelection::All => reader.query(&filter, CHUNK_RECORDS)?,
            CallSelection::Notable => query_notable(reader, &filter)?,
        };
        read += CHUNK_RECORDS;
        next = found.next;
        for record in &found.records {
            page.add(CallRecord::new(record), show)?;
            if page.rows.len() >= limit {
                next = Some(record.seq);
                break;
            }
        }
        if next.is_none() || page.rows.len() >= limit || read >= MAX_READ_RECORDS {
            break;
        }
    }
    Ok(CallPage { rows: page.finish()?, next, size: reader.size()? })
}

/// Reads the newest records that may be notable: one query for each reason, merged by number.
fn query_notable(reader: &Reader, filter: &Filter) -> Result<tenterhook_ledger::RecordPage, ReadError> {
    if filter.text.is_some() || filter.verdict.is_some() {
        return reader.query(filter, CHUNK_RECORDS);
    }
    let verdict = |verdict: &str| Filter { verdict: Some(verdict.to_owned()), ..filter.clone() };
    let text = |text: &str| Filter { text: Some(text.to_owned()), ..filter.clone() };
    let mut merged = BTreeMap::new();
    // A query that has more records ends the page: an older record of another query could come after one of them.
    let mut end = None;
    for part in [verdict("deny"), verdict("ask"), text("tool-error"), text("tool_input")] {
        let found = reader.query(&part, CHUNK_RECORDS)?;
        end = end.max(found.next);
        merged.extend(found.records.into_iter().map(|record| (record.seq, record)));
    }
    let records = merged.into_values().rev().filter(|record| end.is_none_or(|end| record.seq >= end));
    Ok(tenterhook_ledger::RecordPage { records: records.collect(), next: end })
}

struct PageBuilder<'a> {
    reader: &'a Reader,
    rows: Vec<ToolCallRow>,
    /// Results whose calls have not been read yet.
    results: HashMap<CallKey, CallRecord>,
    /// Results that a later one with the same key replaced.
    orphans: Vec<CallRecord>,
}

impl PageBuilder<'_> {
    fn add(&mut self, record: CallRecord, show: CallSelection) -> Result<(), ReadError> {
        match show {
            CallSelection::All => self.add_any(record),
            CallSelection::Notable if record.is_notable() => self.add_notable(record)?,
            CallSelection::Notable => {}
        }
        Ok(())
    }

    fn add_any(&mut self, record: CallRecord) {
        // A result that was denied or asked about is a row of its own.
        if record.is_result() && !record.is_stopped() {
            self.orphans.extend(self.results.insert(record.key(), record));
        } else if record.is_call() || record.is_stopped() || record.event == Some(EventKind::Prompt) {
            let result = self.results.remove(&record.key());
            self.rows.push(record.into_row(result.map(|result| result.result())));
        } else {
            self.fold(record);
        }
    }

    fn add_notable(&mut self, record: CallRecord) -> Result<(), ReadError> {
        if record.is_result() && record.has_failed() && !record.is_stopped() {
            let result = record.result();
            let row = match self.find_call(&record)? {
                Some(call) => call.into_row(Some(result)),
                None => record.into_row(Some(result)),
            };
            if self.rows.iter().all(|known| known.line.seq != row.line.seq) {
                self.rows.push(row);
            }
        } else if self.rows.iter().all(|known| known.line.seq != record.line.seq) {
            self.rows.push(record.into_row(None));
        }
        Ok(())
    }

    fn fold(&mut self, record: CallRecord) {
        let CallRecord { line, .. } = record;
        let name = line.event.clone().or_else(|| line.kind.clone()).unwrap_or_else(|| "pruned".to_owned());
        let open = self.rows.last_mut().and_then(|row| row.folded.as_mut());
        if let Some(folded) = open {
            folded.first = line.seq;
            folded.count += 1;
            *folded.events.entry(name).or_default() += 1;
            return;
        }
        let events = BTreeMap::from([(name, 1)]);
        let folded = Some(FoldedRecords { first: line.seq, count: 1, events });
        self.rows.push(ToolCallRow { line, tool_use_id: None, rewritten: false, result: None, folded });
    }

    /// Returns the record of the call that a result belongs to.
    fn find_call(&self, result: &CallRecord) -> Result<Option<CallRecord>, ReadError> {
        let found =
            self.candidates(&result.line, result.line.seq.saturating_sub(PAIR_DISTANCE), result.line.seq)?;
        Ok(found.into_iter().find(|record| record.is_call() && record.key() == result.key()))
    }

    /// Returns the result of a call.
    fn find_result(&self, row: &ToolCallRow) -> Result<Option<ToolRunResult>, ReadError> {
        let line = row.line.clone();
        let (seq, tool_use_id) = (line.seq, row.tool_use_id.clone());
        let call = CallRecord { event: None, tool_use_id, ran_ms: None, rewritten: false, line };
        let found = self.candidates(&call.line, seq, seq.saturating_add(PAIR_DISTANCE))?;
        // The first result after the call belongs to it: the same call may run again.
        let result = found.into_iter().rev().find(|one| one.is_result() && one.key() == call.key());
        Ok(result.map(|record| record.result()))
    }

    /// Returns the records of the same session and tool after `after` and before `before`, newest first.
    fn candidates(&self, line: &LedgerLine, after: u64, before: u64) -> Result<Vec<CallRecord>, ReadError> {
        let filter = Filter {
            session: line.session.clone(),
            harness: line.harness.clone(),
            tool: line.tool.as_ref().map(|tool| tool.name.clone()),
            before: Some(before),
            ..Filter::default()
        };
        let found = self.reader.query(&filter, MAX_PAIR_CANDIDATES)?;
        let near = found.records.iter().take_while(|record| record.seq > after);
        Ok(near.map(CallRecord::new).collect())
    }

    /// Adds the results that are on an earlier page, and a row for each result without a call.
    fn finish(mut self) -> Result<Vec<ToolCallRow>, ReadError> {
        let mut rows = std::mem::take(&mut self.rows);
        let (orphans, results) = (std::mem::take(&mut self.orphans), std::mem::take(&mut self.results));
        let paired = rows.len();
        for record in orphans.into_iter().chain(results.into_values()) {
            if self.find_call(&record)?.is_none() {
                let result = record.result();
                rows.push(record.into_row(Some(result)));
            }
        }
        if rows.len() > paired {
            rows.sort_by_key(|row| std::cmp::Reverse(row.line.seq));
        }
        for row in &mut rows {
            let may_have_run = row.line.tool.is_some() && row.line.verdict.as_deref() != Some("deny");
            if row.result.is_none() && row.folded.is_none() && may_have_run {
                row.result = self.find_result(row)?;
            }
        }
        Ok(rows)
    }
}

/// Returns the time at which a record was made, in milliseconds since the Unix epoch.
pub(crate) fn record_ms(record: &StoredRecord) -> Option<u64> {
    let ts: Timestamp = recorded::envelope(record).text("ts")?.parse().ok()?;
    Some(ts.unix_ms())
}
