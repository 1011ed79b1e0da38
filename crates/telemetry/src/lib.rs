// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the daemon counts and how it is exported. Nothing here delays a decision, and nothing grows without a bound.
//!
//! - [`metrics`]: counters and times of decisions, the last hour minute by minute, and the page for Prometheus.
//! - [`analytics`]: statistics of each hook, from the trace of every outcome.
//! - [`exporter`]: spans and counters for an OpenTelemetry collector, sent by a thread of their own.
//!
//! The caller passes in decisions and the time; this crate opens no listeners.

pub mod analytics;
pub mod exporter;
pub mod metrics;
