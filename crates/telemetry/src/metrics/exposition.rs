// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The metrics page in the OpenMetrics text format.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use super::Metrics;
use super::histogram::{BUCKET_BOUNDS_US, Histogram};

/// Media type of [`render`]'s text.
pub const OPEN_METRICS_MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Values that the daemon determines when the metrics page is requested, in addition to its [`Metrics`].
#[derive(Debug, Clone, Default)]
pub struct DaemonReadings {
    /// Hook calls that were answered.
    pub answered: u64,
    /// Spans that were dropped, if spans are exported.
    pub dropped_spans: Option<u64>,
    /// Notifications that were dropped because a target was too slow.
    pub dropped_notices: u64,
    /// Notifications that could not be delivered.
    pub failed_notices: u64,
    /// Calls in progress.
    pub calls_in_progress: usize,
    /// Number of open streams.
    pub streams: usize,
    /// Calls that wait for an approval.
    pub pending_approvals: usize,
    /// Sessions in memory.
    pub sessions: usize,
    /// Decisions that wait in the spool.
    pub spool_entries: usize,
    /// Unreadable files in the spool.
    pub spool_unreadable: usize,
    /// Rules, hooks and settings that cannot be used.
    pub problems: usize,
    /// Files that changed and cannot be read, so that their old content stays in force.
    pub stale_files: usize,
    /// Name of the generation of rules and hooks in force.
    pub generation: String,
    /// Number of records in the ledger, as last known to the daemon.
    pub ledger_records: u64,
    /// Size of the ledger's files.
    pub ledger_bytes: u64,
    /// Size of the ledger's journal.
    pub journal_bytes: u64,
    /// Time since the daemon started, in seconds.
    pub uptime_seconds: u64,
}

/// Formats all metrics of a daemon as text.
pub fn render(metrics: Arc<Metrics>, readings: DaemonReadings) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("tenterhook");
    registry.register_collector(Box::new(DaemonCollector { metrics, readings }));
    let mut page = String::new();
    text::encode(&mut page, &registry)?;
    Ok(page)
}

/// Reads the counters when a page is requested, so that counting needs no lock.
struct DaemonCollector {
    metrics: Arc<Metrics>,
    readings: DaemonReadings,
}

impl fmt::Debug for DaemonCollector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DaemonCollector")
    }
}

impl Collector for DaemonCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let metrics = &self.metrics;
        self.encode_decisions(&mut encoder)?;
        encode_seconds(
            &mut encoder,
            "decision",
            "Time from the arrival of a call to its decision.",
            &metrics.deciding,
        )?;
        encode_seconds(
            &mut encoder,
            "record",
            "Time from the decision to its record on the disk.",
            &metrics.recording,
        )?;
        self.encode_counters(&mut encoder)?;
        self.encode_gauges(&mut encoder)?;
        self.encode_sizes(&mut encoder)
    }
}

impl DaemonCollector {
    fn encode_decisions(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Events that were decided and recorded.";
        let mut family = encoder.encode_descriptor("decisions", help, None, MetricType::Counter)?;
        for (harness, kind, decision, count) in self.metrics.decisions() {
            let labels = [("harness", harness), ("event", kind.name()), ("verdict", decision.as_str())];
            ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn encode_counters(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let (fallbacks, refused) = (self.metrics.fallbacks(), self.metrics.refusals());
        let DaemonReadings { answered, dropped_spans, dropped_notices, failed_notices, .. } = self.readings;
        for (name, help, value) in [
            ("hook_calls", "Hook calls that were answered.", Some(answered)),
            ("fallbacks", "Decisions made in-process without the daemon, and imported.", Some(fallbacks)),
            ("refused", "Payloads that could not be read.", Some(refused)),
            ("spans_dropped", "Spans dropped because the collector is slow or gone.", dropped_spans),
            ("notices_dropped", "Notifications dropped because a target is slow.", Some(dropped_notices)),
            ("notices_failed", "Notifications that could not be delivered.", Some(failed_notices)),
        ] {
            let Some(value) = value else { continue };
            ConstCounter::new(value).encode(encoder.encode_descriptor(
                name,
                help,
                None,
                MetricType::Counter,
            )?)?;
        }
        Ok(())
    }

    fn encode_gauges(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let readings = &self.readings;
        for (name, help, value) in [
            ("in_flight", "Calls in progress.", readings.calls_in_progress),
            ("streams", "Open streams.", readings.streams),
            ("pending_approvals", "Calls that wait for an approval.", readings.pending_approvals),
            ("sessions", "Sessions in memory.", readings.sessions),
            ("spool_entries", "Decisions that wait in the spool.", readings.spool_entries),
            ("spool_unreadable", "Unreadable files in the spool.", readings.spool_unreadable),
            ("problems", "Rules, hooks and settings that cannot be used.", readings.problems),
            ("stale_files", "Files that changed and cannot be read.", readings.stale_files),
        ] {
            ConstGauge::new(value).encode(encoder.encode_descriptor(
                name,
                help,
                None,
                MetricType::Gauge,
            )?)?;
        }
        let help = "The rules and hooks in force.";
        let mut info = encoder.encode_descriptor("generation", help, None, MetricType::Info)?;
        info.encode_info(&[("generation", readings.generation.as_str())])
    }

    fn encode_sizes(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let readings = &self.readings;
        let (bytes, seconds) = (Some(&Unit::Bytes), Some(&Unit::Seconds));
        for (name, help, unit, value) in [
            ("ledger_leaves", "Records in the ledger, as far as is known.", None, readings.ledger_records),
            ("ledger", "Size of the ledger's files.", bytes, readings.ledger_bytes),
            (
                "ledger_journal",
                "Size of the journal, which is emptied when idle.",
                bytes,
                readings.journal_bytes,
            ),
            ("uptime", "Time since the daemon started.", seconds, readings.uptime_seconds),
        ] {
            ConstGauge::new(value).encode(encoder.encode_descriptor(
                name,
                help,
                unit,
                MetricType::Gauge,
            )?)?;
        }
        Ok(())
    }
}

fn encode_seconds(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    histogram: &Histogram,
) -> fmt::Result {
    let snapshot = histogram.snapshot();
    let bounds = BUCKET_BOUNDS_US.iter().map(|bound| seconds(*bound)).chain([f64::INFINITY]);
    let buckets: Vec<_> = bounds.zip(snapshot.buckets).collect();
    let mut metric = encoder.encode_descriptor(name, help, Some(&Unit::Seconds), MetricType::Histogram)?;
    metric.encode_histogram::<NoLabelSet>(seconds(snapshot.sum_us), snapshot.count, &buckets, None)
}

fn seconds(us: u64) -> f64 {
    std::time::Duration::from_micros(us).as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct OneHistogram;

    impl Collector for OneHistogram {
        fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
            let histogram = Histogram::default();
            for us in [10, 30, 1_000_000_000] {
                histogram.observe(std::time::Duration::from_micros(us));
            }
            encode_seconds(&mut encoder, "t", "How long.", &histogram)
        }
    }

    #[test]
    fn buckets_of_a_histogram_add_up() {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(OneHistogram));
        let mut page = String::new();
        text::encode(&mut page, &registry).unwrap();
        for line in [
            "# UNIT t_seconds seconds\n",
            "t_seconds_bucket{le=\"0.000025\"} 1\n",
            "t_seconds_bucket{le=\"0.00005\"} 2\n",
            "t_seconds_bucket{le=\"60.0\"} 2\n",
            "t_seconds_bucket{le=\"+Inf\"} 3\n",
            "t_seconds_sum 1000.00004\n",
            "t_seconds_count 3\n",
            "# EOF\n",
        ] {
            assert!(page.contains(line), "{line} is not in {page}");
        }
    }
}
