// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Measures how long a call waits for its snapshot.

use std::path::Path;
use std::time::Instant;

use tenterhook_undo::{
    CallReference, FileTarget, SnapshotRequest, TargetChange, TargetExtent, UndoLimits, UndoStore,
};

use crate::cases::SetupError;
use crate::measure::BenchResult;

/// Number of files that the call affects.
const FILE_COUNT: usize = 1_000;
/// Size of each file, about that of a source file.
const FILE_BYTES: usize = 4_096;
const SAMPLE_COUNT: u64 = 40;
/// Limit for a snapshot of all files.
const SNAPSHOT_LIMIT_NS: f64 = 20e6;

fn failed(error: impl std::fmt::Display) -> SetupError {
    SetupError(error.to_string())
}

pub(crate) fn run() -> Result<Vec<BenchResult>, SetupError> {
    let directory = tempfile::tempdir().map_err(failed)?;
    let project = directory.path().join("project");
    for number in 0..FILE_COUNT {
        let path = project.join(format!("src/{}/{number}.rs", number % 20));
        std::fs::create_dir_all(path.parent().unwrap_or(&project)).map_err(failed)?;
        std::fs::write(path, format!("{number:>8}").repeat(FILE_BYTES / 8)).map_err(failed)?;
    }
    let store = UndoStore::open(&directory.path().join("undo"), UndoLimits::default()).map_err(failed)?;
    let mut results = Vec::new();
    for (name, change) in [
        ("undo: snapshot, 1,000 files overwritten", TargetChange::Overwrite),
        ("undo: snapshot, 1,000 files deleted", TargetChange::Delete),
    ] {
        let mut samples = Vec::new();
        for number in 0..SAMPLE_COUNT {
            let request = request(&project, change, number);
            let began = Instant::now();
            let manifest = store.take_snapshot(&request).map_err(failed)?;
            samples.push(began.elapsed().as_secs_f64() * 1e9);
            store.remove(&manifest.id).map_err(failed)?;
        }
        results.push(BenchResult::of(name, Some(SNAPSHOT_LIMIT_NS), 1, samples));
    }
    Ok(results)
}

fn request(project: &Path, change: TargetChange, now_ms: u64) -> SnapshotRequest {
    SnapshotRequest {
        call: CallReference::default(),
        project: project.to_owned(),
        files: vec![FileTarget { path: project.join("src"), change, extent: TargetExtent::Tree }],
        git: Vec::new(),
        now_ms,
    }
}
