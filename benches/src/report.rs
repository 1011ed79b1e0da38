// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Prints and stores the results.

use std::process::Command;

use serde_json::{Value, json};

use crate::measure::BenchResult;
use crate::runs::{replace_older_runs, runs_dir, thin_samples};

pub(crate) fn line(result: &BenchResult) -> String {
    let time = |number: f64| match result.unit {
        Some(unit) => format!("{number:.0} {unit}"),
        None => time(number),
    };
    let limit = result.limit_ns.map_or("–".to_owned(), time);
    let mark = if result.holds() { "" } else { "  over" };
    format!(
        "{:<44} {:>10} {:>10} {:>10} {:>10}{mark}",
        result.name,
        time(result.min_ns),
        time(result.median_ns),
        time(result.p95_ns),
        limit
    )
}

fn time(ns: f64) -> String {
    if ns < 1_000.0 { format!("{ns:.0} ns") } else { format!("{:.2} µs", ns / 1_000.0) }
}

/// Writes the samples with a description of the machine and of the compared builds. The previous run of this kind
/// becomes a line of the summary. Returns the path, and the names of the runs that were replaced.
pub(crate) fn keep(
    results: &[BenchResult],
    kind: &str,
    builds: &[Value],
) -> std::io::Result<(String, Vec<String>)> {
    let dir = runs_dir();
    let now = jiff::Timestamp::now();
    let name = format!("{}-{kind}.json", now.strftime("%Y-%m-%dT%H-%M-%SZ"));
    let results: Vec<Value> = results.iter().map(kept_result).collect();
    let mut run = json!({"at": format!("{now:.0}"), "ran_on": machine(), "results": results});
    if let Some(fields) = run.as_object_mut().filter(|_| !builds.is_empty()) {
        fields.insert("builds".to_owned(), builds.into());
    }
    std::fs::create_dir_all(&dir)?;
    std::fs::write(dir.join(&name), serde_json::to_string(&run)? + "\n")?;
    Ok((format!("benches/runs/{name}"), replace_older_runs(&dir)?))
}

/// Returns a result with at most the maximum number of samples, and the original number of samples.
fn kept_result(result: &BenchResult) -> Value {
    let mut kept = json!(result);
    let samples = thin_samples(&result.samples_ns);
    if let Some(fields) = kept.as_object_mut().filter(|_| samples.len() < result.samples_ns.len()) {
        fields.insert("samples_taken".to_owned(), result.samples_ns.len().into());
        fields.insert("samples_ns".to_owned(), samples.into());
    }
    kept
}

fn machine() -> Value {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let rustc = Command::new("rustc").arg("--version").output();
    json!({
        "cpu": model.map(|(_, model)| model.trim()),
        "cores": std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
        "kernel": kernel.trim(),
        "load": load.split(' ').take(3).collect::<Vec<_>>().join(" "),
        "rustc": rustc.ok().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()),
    })
}
