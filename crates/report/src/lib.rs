// SPDX-License-Identifier: Apache-2.0 OR MIT

//! HTML reports in one file each: without scripts and network requests, printable.

pub mod html;
mod ledger_report;
mod record_row;

pub use ledger_report::{LedgerReport, describe_filter, write_report};
pub use record_row::RecordRow;
