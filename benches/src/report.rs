// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Saying what came out, and keeping it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::measure::Measured;

pub(crate) fn line(result: &Measured) -> String {
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

/// Writes every sample with what it ran on, and which builds were compared.
pub(crate) fn keep(results: &[Measured], builds: &[Value]) -> std::io::Result<String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("runs");
    let now = jiff::Timestamp::now();
    let path: PathBuf = dir.join(format!("{}.json", now.strftime("%Y-%m-%dT%H-%M-%SZ")));
    let mut run = json!({"at": format!("{now:.0}"), "ran_on": machine(), "results": results});
    if let Some(fields) = run.as_object_mut().filter(|_| !builds.is_empty()) {
        fields.insert("builds".to_owned(), builds.into());
    }
    std::fs::create_dir_all(&dir)?;
    std::fs::write(&path, serde_json::to_string(&run)? + "\n")?;
    Ok(format!("benches/runs/{}", path.file_name().unwrap_or_default().to_string_lossy()))
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
