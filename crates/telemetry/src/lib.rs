// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Counts and times the daemon's decisions, and exports the numbers. Nothing in this crate delays a decision, and its
//! memory use is bounded.
//!
//! - [`metrics`]: counters and times of decisions, the last hour minute by minute, and the page for Prometheus.
//! - [`analytics`]: statistics about each hook, from the trace of every outcome.
//! - [`exporter`]: spans and counters for an OpenTelemetry collector, sent by a separate thread.
//!
//! The caller passes in decisions and the time; this crate opens no listeners.

pub mod analytics;
pub mod exporter;
pub mod metrics;
