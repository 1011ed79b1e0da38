// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The metrics page in the OpenMetrics text format.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};
use tenterhook_ledger::DiskUse;

use super::histogram::{BOUNDS, Histogram};
use crate::daemon::Daemon;
use crate::telemetry::Exporter;

/// Media type of [`render`]'s text.
pub(crate) const OPEN_METRICS_MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All metrics of a daemon as text.
pub(crate) fn render(daemon: Arc<Daemon>) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("tenterhook");
    registry.register_collector(Box::new(DaemonCollector(daemon)));
    let mut page = String::new();
    text::encode(&mut page, &registry)?;
    Ok(page)
}

/// Reads the counters when a page is asked for, so that counting needs no lock.
struct DaemonCollector(Arc<Daemon>);

impl fmt::Debug for DaemonCollector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("DaemonCollector")
    }
}

impl Collector for DaemonCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let metrics = &self.0.observers.metrics;
        self.encode_decisions(&mut encoder)?;
        encode_seconds(
            &mut encoder,
            "decision",
            "From the arrival of a call to its decision.",
            &metrics.deciding,
        )?;
        encode_seconds(&mut encoder, "record", "From the decision to the disk.", &metrics.recording)?;
        self.encode_counters(&mut encoder)?;
        self.encode_gauges(&mut encoder)?;
        self.encode_sizes(&mut encoder)
    }
}

impl DaemonCollector {
    fn encode_decisions(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Events that were decided and recorded.";
        let mut family = encoder.encode_descriptor("decisions", help, None, MetricType::Counter)?;
        for (harness, kind, decision, count) in self.0.observers.metrics.decisions() {
            let labels = [("harness", harness), ("event", kind.name()), ("verdict", decision.word())];
            ConstCounter::new(count).encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn encode_counters(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let (fallbacks, refused) = self.0.observers.metrics.odd();
        let answered = self.0.answered.load(Ordering::Relaxed);
        let dropped_spans = self.0.observers.telemetry.as_ref().map(Exporter::dropped);
        for (name, help, value) in [
            ("hook_calls", "Hook calls that were answered.", Some(answered)),
            ("fallbacks", "Decisions made in-process without the daemon, and imported.", Some(fallbacks)),
            ("refused", "Payloads that could not be read.", Some(refused)),
            ("spans_dropped", "Spans dropped because the collector is slow or gone.", dropped_spans),
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
        let daemon = &self.0;
        let base = daemon.generations.base();
        let (waiting, unreadable) = daemon.spooled();
        for (name, help, value) in [
            ("in_flight", "Calls under way.", daemon.under_way()),
            ("streams", "Open streams.", daemon.streams()),
            ("pending_approvals", "Calls that wait for an approval.", daemon.approvals.cards().len()),
            ("sessions", "Sessions in memory.", daemon.observers.sessions.count()),
            ("spool_entries", "Decisions that wait in the spool.", waiting),
            ("spool_unreadable", "Unreadable files in the spool.", unreadable),
            ("problems", "Rules, hooks and settings that cannot be used.", base.problems.len()),
            ("stale_files", "Files that changed and cannot be read.", base.stale.len()),
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
        info.encode_info(&[("generation", base.generation.name())])
    }

    fn encode_sizes(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let daemon = &self.0;
        let disk = DiskUse::of(&daemon.home.ledger());
        let records = *daemon.observers.growth().borrow();
        let (bytes, seconds) = (Some(&Unit::Bytes), Some(&Unit::Seconds));
        for (name, help, unit, value) in [
            ("ledger_leaves", "Records in the ledger, as far as is known.", None, records),
            ("ledger", "Size of the ledger's files.", bytes, disk.total),
            ("ledger_journal", "Size of the journal, which is emptied when idle.", bytes, disk.journal),
            ("uptime", "Time since the daemon started.", seconds, daemon.started.elapsed().as_secs()),
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
    let bounds = BOUNDS.iter().map(|bound| seconds(*bound)).chain([f64::INFINITY]);
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
