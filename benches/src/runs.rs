// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decides which runs are kept in `benches/runs`. The last run of each kind keeps its samples; every other
//! run becomes one line of `summary.jsonl` without samples. A run is stored in `<time>-<kind>.json`; the kind
//! names what was measured.

use std::collections::BTreeMap;
use std::io::{Error, Write as _};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

const SUMMARY_FILE: &str = "summary.jsonl";
/// Length of `2026-11-16T09-24-46Z`.
const TIME_CHARS: usize = 20;
/// Maximum number of samples that are kept: enough to draw a distribution.
pub(crate) const MAX_KEPT_SAMPLES: usize = 1000;

/// The directory of runs.
pub(crate) fn runs_dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("runs")
}

/// Keeps the last run of each kind. For every other run, adds a line to the summary and removes the file.
/// Returns the names of the removed files.
pub(crate) fn replace_older_runs(dir: &Path) -> std::io::Result<Vec<String>> {
    let mut newest: BTreeMap<String, String> = BTreeMap::new();
    let mut replaced = Vec::new();
    // Names begin with the time, so that a later run of a kind comes later.
    for name in run_names(dir)? {
        if let Some(older) = kind_of(&name).and_then(|kind| newest.insert(kind.to_owned(), name.clone())) {
            replaced.push(older);
        }
    }
    replaced.sort();
    for name in &replaced {
        let run: Value = serde_json::from_slice(&std::fs::read(dir.join(name))?)?;
        let line = summary_line(name, &run).ok_or_else(|| Error::other(format!("{name} is not a run")))?;
        let mut summary = std::fs::File::options().create(true).append(true).open(dir.join(SUMMARY_FILE))?;
        writeln!(summary, "{line}")?;
        summary.sync_all()?;
        std::fs::remove_file(dir.join(name))?;
    }
    Ok(replaced)
}

/// At most [`MAX_KEPT_SAMPLES`] samples, evenly distributed, in the order in which they were taken.
pub(crate) fn thin_samples(samples: &[f64]) -> Vec<f64> {
    let step = samples.len().div_ceil(MAX_KEPT_SAMPLES).max(1);
    samples.iter().copied().step_by(step).collect()
}

fn run_names(dir: &Path) -> std::io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if kind_of(&name).is_some() {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The kind in the name of a run.
fn kind_of(name: &str) -> Option<&str> {
    let (time, kind) = name.strip_suffix(".json")?.split_at_checked(TIME_CHARS)?;
    let kind = kind.strip_prefix('-').filter(|kind| !kind.is_empty())?;
    (time.starts_with("20") && time.ends_with('Z')).then_some(kind)
}

/// A run without its samples.
fn summary_line(name: &str, run: &Value) -> Option<Value> {
    let mut run = run.clone();
    summarize(&mut run);
    let fields = run.as_object_mut()?;
    let at = fields.remove("at").or_else(|| fields.remove("date"))?;
    let mut line = json!({"at": at, "kind": kind_of(name)?});
    line.as_object_mut()?.append(fields);
    Some(line)
}

/// Removes samples if their percentiles are stored too, and replaces other samples with percentiles.
fn summarize(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if fields.contains_key("median_ns") {
                fields.remove("samples_ns");
            }
            fields.values_mut().for_each(summarize);
        }
        Value::Array(items) => match numbers(items) {
            Some(mut numbers) => {
                numbers.sort_by(f64::total_cmp);
                let at = |part: usize| numbers.get(numbers.len() * part / 100).copied();
                *value = json!({"n": numbers.len(), "min": at(0), "median": at(50), "p95": at(95)});
            }
            None => items.iter_mut().for_each(summarize),
        },
        _ => {}
    }
}

/// Returns the numbers of an array of samples. A short array is not a list of samples, but for example the
/// load of the machine.
fn numbers(items: &[Value]) -> Option<Vec<f64>> {
    const SHORTEST_SAMPLES: usize = 4;
    if items.len() < SHORTEST_SAMPLES {
        return None;
    }
    items.iter().map(Value::as_f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_run(dir: &Path, name: &str, run: &Value) {
        std::fs::write(dir.join(name), run.to_string()).unwrap();
    }

    #[test]
    fn the_last_run_of_each_kind_stays_and_the_others_become_lines() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        let run = |at: &str, median: f64| {
            let result = json!({"name": "a", "median_ns": median, "samples_ns": [1.0, 2.0, 3.0, 4.0, 5.0]});
            json!({"at": at, "ran_on": {"cores": 2, "load": [1.0, 2.0, 3.0]}, "results": [result]})
        };
        write_run(dir, "2026-01-01T00-00-00Z-daemon.json", &run("first", 7.0));
        write_run(dir, "2026-01-02T00-00-00Z-daemon.json", &run("second", 8.0));
        write_run(dir, "2026-01-03T00-00-00Z-daemon.json", &run("third", 9.0));
        write_run(dir, "2026-01-01T00-00-00Z-peers.json", &json!({"at": "p", "took": {"x": [4, 1, 3, 2]}}));
        write_run(dir, "notes.json", &json!({}));
        let removed = replace_older_runs(dir).unwrap();
        assert_eq!(removed, ["2026-01-01T00-00-00Z-daemon.json", "2026-01-02T00-00-00Z-daemon.json"]);
        assert_eq!(
            run_names(dir).unwrap(),
            ["2026-01-01T00-00-00Z-peers.json", "2026-01-03T00-00-00Z-daemon.json"]
        );
        let lines = || -> Vec<Value> {
            let text = std::fs::read_to_string(dir.join(SUMMARY_FILE)).unwrap();
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
        };
        let expected = |at: &str, median: f64| {
            let ran_on = json!({"cores": 2, "load": [1.0, 2.0, 3.0]});
            json!({"at": at, "kind": "daemon", "ran_on": ran_on, "results": [{"name": "a", "median_ns": median}]})
        };
        assert_eq!(lines(), [expected("first", 7.0), expected("second", 8.0)]);
        assert_eq!(replace_older_runs(dir).unwrap(), [""; 0], "nothing is left to replace");
        write_run(dir, "2026-01-04T00-00-00Z-peers.json", &json!({"at": "q"}));
        replace_older_runs(dir).unwrap();
        let took = json!({"x": {"n": 4, "min": 1.0, "median": 3.0, "p95": 4.0}});
        assert_eq!(lines()[2], json!({"at": "p", "kind": "peers", "took": took}));
    }

    #[test]
    fn many_samples_are_thinned_evenly() {
        let samples: Vec<f64> = (0..2500_u32).map(f64::from).collect();
        let kept = thin_samples(&samples);
        assert_eq!((kept.len(), kept[1]), (834, 3.0));
        assert_eq!(thin_samples(&samples[..1000]), samples[..1000]);
        assert_eq!(thin_samples(&[]), [0.0; 0]);
    }

    #[test]
    fn the_repository_has_one_run_of_each_kind() {
        let names = run_names(&runs_dir()).unwrap();
        let mut kinds: Vec<_> = names.iter().filter_map(|name| kind_of(name)).collect();
        assert!(kinds.len() >= 5, "{kinds:?}");
        kinds.sort_unstable();
        let all = kinds.len();
        kinds.dedup();
        assert_eq!(
            kinds.len(),
            all,
            "`cargo run -p tenterhook-benches -- tidy` replaces older runs: {names:?}"
        );
        let summary = std::fs::read_to_string(runs_dir().join(SUMMARY_FILE)).unwrap();
        for line in summary.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert!(line["at"].is_string() && line["kind"].is_string(), "{line}");
        }
    }
}
