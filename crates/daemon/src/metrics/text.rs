// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The text format of Prometheus, version 0.0.4.

use std::fmt::Write as _;

use super::histogram::{BOUNDS, Histogram};

/// What is written so far.
#[derive(Default)]
pub(crate) struct Text(String);

impl Text {
    /// Begins a metric: its name, kind and meaning.
    pub(crate) fn begin(&mut self, name: &str, kind: &str, about: &str) {
        let _ = writeln!(self.0, "# HELP {name} {about}\n# TYPE {name} {kind}");
    }

    /// One number of it.
    pub(crate) fn value(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.0.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            let open = if at == 0 { '{' } else { ',' };
            let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{open}{label}=\"{text}\"");
        }
        let close = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{close} {value}");
    }

    /// A metric that is one number.
    pub(crate) fn one(&mut self, name: &str, kind: &str, about: &str, value: impl std::fmt::Display) {
        self.begin(name, kind, about);
        self.value(name, &[], value);
    }

    /// A histogram, in seconds.
    pub(crate) fn histogram(&mut self, name: &str, about: &str, histogram: &Histogram) {
        self.begin(name, "histogram", about);
        let snapshot = histogram.snapshot();
        let bucket = format!("{name}_bucket");
        let mut below = 0;
        for (bound, count) in BOUNDS.iter().zip(&snapshot.buckets) {
            below += count;
            self.value(&bucket, &[("le", &seconds(*bound))], below);
        }
        self.value(&bucket, &[("le", "+Inf")], snapshot.count);
        self.value(&format!("{name}_sum"), &[], seconds(snapshot.sum_us));
        self.value(&format!("{name}_count"), &[], snapshot.count);
    }

    /// All of it.
    pub(crate) fn end(self) -> String {
        self.0
    }
}

/// Microseconds as seconds, exactly.
fn seconds(us: u64) -> String {
    let text = format!("{}.{:06}", us / 1_000_000, us % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prometheus_can_read_it() {
        let mut text = Text::default();
        text.begin("x_total", "counter", "how many");
        text.value("x_total", &[("a", "1\n\"2\""), ("b", "c\\d")], 3);
        assert_eq!(
            text.end(),
            "# HELP x_total how many\n# TYPE x_total counter\nx_total{a=\"1\\n\\\"2\\\"\",b=\"c\\\\d\"} 3\n"
        );
        assert_eq!(
            (seconds(25), seconds(60_000_000), seconds(0)),
            ("0.000025".into(), "60".into(), "0".into())
        );
    }

    #[test]
    fn buckets_of_a_histogram_add_up() {
        let histogram = Histogram::default();
        for us in [10, 30, 1_000_000_000] {
            histogram.observe(std::time::Duration::from_micros(us));
        }
        let mut text = Text::default();
        text.histogram("t_seconds", "how long", &histogram);
        let text = text.end();
        for line in [
            "t_seconds_bucket{le=\"0.000025\"} 1\n",
            "t_seconds_bucket{le=\"0.00005\"} 2\n",
            "t_seconds_bucket{le=\"60\"} 2\n",
            "t_seconds_bucket{le=\"+Inf\"} 3\n",
            "t_seconds_sum 1000.00004\n",
            "t_seconds_count 3\n",
        ] {
            assert!(text.contains(line), "{line} is not in {text}");
        }
    }
}
