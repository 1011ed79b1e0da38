// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Audits past sessions: evaluates the rules for the calls in transcripts, and reports the results as counts, as a
//! page and as records in the ledger.

mod findings;
mod import;
mod page;
mod scope;
mod terminal_report;

pub use findings::{AuditFindings, AuditedCall, HarnessCounts, Interruptions, RuleCounts, format_day};
pub use import::{ImportCounts, TranscriptImport};
pub use page::write_page;
pub use scope::{AuditScope, read_transcripts};
pub use terminal_report::{TerminalReport, terminal_text};
