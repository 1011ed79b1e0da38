// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Writes printable HTML reports. Each report is one file without scripts or network requests.

pub mod html;
mod ledger_report;
mod record_row;

pub use ledger_report::{LedgerReport, describe_filter, write_report};
pub use record_row::RecordRow;
