// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Percentiles, what a run ran on, and the file of a raw run.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::error::BenchError;

/// Maximum number of samples that are kept.
const MAX_KEPT_SAMPLES: usize = 1000;

/// Returns percentiles and evenly thinned samples.
pub(crate) fn summarize_samples(samples: &[f64]) -> Value {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |per_mille: usize| {
        let index = (sorted.len() * per_mille / 1000).min(sorted.len().saturating_sub(1));
        sorted.get(index).map(|value| (value * 100.0).round() / 100.0)
    };
    let step = samples.len().div_ceil(MAX_KEPT_SAMPLES).max(1);
    let kept: Vec<f64> = samples.iter().step_by(step).map(|value| (value * 100.0).round() / 100.0).collect();
    json!({
        "count": samples.len(), "p50": at(500), "p95": at(950), "p99": at(990), "p999": at(999),
        "max": sorted.last().map(|value| (value * 100.0).round() / 100.0), "samples": kept,
    })
}

/// Returns the slope of values over time by least squares, in value per minute.
pub(crate) fn slope_per_minute(points: &[(f64, f64)]) -> f64 {
    let count = points.iter().fold(0.0, |count, _| count + 1.0_f64).max(1.0);
    let mean = |of: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (time, value) = (mean(&|point| point.0), mean(&|point| point.1));
    let above: f64 = points.iter().map(|point| (point.0 - time) * (point.1 - value)).sum();
    let below: f64 = points.iter().map(|point| (point.0 - time).powi(2)).sum();
    if below == 0.0 { 0.0 } else { above / below * 60.0 }
}

/// Describes this computer and its load.
pub(crate) fn describe_computer() -> Value {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let cpu = read("/proc/cpuinfo");
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let memory = read("/proc/meminfo");
    let memory = memory.lines().next().and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    json!({
        "cpu": cpu.trim_start_matches([':', ' ', '\t']),
        "cores": std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        "memory_mib": memory.unwrap_or_default() / 1024,
        "kernel": rustix::system::uname().release().to_string_lossy(),
        "load": read("/proc/loadavg").trim(),
        "build": if cfg!(debug_assertions) { "debug" } else { "release" },
    })
}

/// Writes a raw run and returns its path.
pub(crate) fn write_run(kind: &str, run: &Value) -> Result<PathBuf, BenchError> {
    let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runs").join(format!("{now}-{kind}.json"));
    std::fs::write(&path, format!("{run}\n")).map_err(BenchError::new)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_slopes_are_those_of_the_samples() {
        let samples: Vec<f64> = (1..=1000).map(f64::from).collect();
        let summary = summarize_samples(&samples);
        assert_eq!(
            (&summary["p50"], &summary["p99"], &summary["max"]),
            (&json!(501.0), &json!(991.0), &json!(1000.0))
        );
        let points: Vec<(f64, f64)> = (0..10).map(|at| (f64::from(at) * 10.0, 5.0 + f64::from(at))).collect();
        assert!((slope_per_minute(&points) - 6.0).abs() < 1e-9);
        assert!(slope_per_minute(&[]).abs() < f64::EPSILON);
    }
}
