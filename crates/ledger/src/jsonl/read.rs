// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reading leaves back.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::Leaf;

/// The log could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ReadError(#[from] std::io::Error);

/// A line that is no leaf: the remains of a crash, or somebody's edit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` line {line} is no leaf: {why}", path.display())]
pub struct Torn {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub why: String,
}

/// Every line of the log, oldest first, as a leaf or as what is wrong with it.
pub fn leaves(path: &Path) -> Result<impl Iterator<Item = Result<Leaf, Torn>> + use<>, ReadError> {
    let lines = BufReader::new(fs_err::File::open(path)?).split(b'\n');
    let path = path.to_owned();
    Ok(lines.enumerate().map(move |(at, line)| {
        let torn = |why: String| Torn { path: path.clone(), line: at + 1, why };
        let line = line.map_err(|error| torn(error.to_string()))?;
        serde_json::from_slice(&line).map_err(|error| torn(error.to_string()))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonl::Log;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use tenterhook_event::{Call, Decided, Event, EventId, EventKind, Outcome, Timestamp};

    fn leaf(number: u64) -> Leaf {
        let (id, ts) = (EventId::from_parts(number, 0), Timestamp::from_unix_ms(number));
        let event = Event::new(id, ts, "test", EventKind::Stop, "Stop");
        let call = Call { event, native: None };
        Decided { call: &call, outcome: &Outcome::default(), generation: "g", took_us: 1 }.into()
    }

    #[test]
    fn leaves_come_back_as_they_were_and_the_file_is_private() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::new(dir.path().join("ledger.jsonl"));
        for number in 0..3 {
            log.append(&leaf(number)).unwrap();
        }
        let read: Vec<_> = leaves(log.path()).unwrap().map(Result::unwrap).collect();
        assert_eq!(read, [leaf(0), leaf(1), leaf(2)]);
        let mode = std::fs::metadata(log.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn half_a_line_left_by_a_crash_costs_only_itself() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::new(dir.path().join("ledger.jsonl"));
        log.append(&leaf(0)).unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).open(log.path()).unwrap();
        file.write_all(b"{\"half\":").unwrap();
        log.append(&leaf(1)).unwrap();
        let read: Vec<_> = leaves(log.path()).unwrap().collect();
        assert_eq!(read.len(), 3);
        assert_eq!(read[0], Ok(leaf(0)));
        assert_eq!(read[1].as_ref().unwrap_err().line, 2);
        assert_eq!(read[2], Ok(leaf(1)));
    }

    #[test]
    fn a_link_in_the_log_s_place_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, dir.path().join("ledger.jsonl")).unwrap();
        let log = Log::new(dir.path().join("ledger.jsonl"));
        assert!(log.append(&leaf(0)).unwrap_err().to_string().contains("cannot be written"));
        assert!(!elsewhere.exists());
    }

    #[test]
    fn a_lock_that_somebody_keeps_is_an_error_not_a_wait_without_end() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::new(dir.path().join("ledger.jsonl"));
        log.append(&leaf(0)).unwrap();
        let keeper = std::fs::File::open(log.path()).unwrap();
        keeper.lock().unwrap();
        let error = log.append(&leaf(1)).unwrap_err().to_string();
        assert!(error.contains("another program keeps it locked"), "{error}");
    }

    #[test]
    fn appends_from_many_threads_do_not_mix() {
        let dir = tempfile::tempdir().unwrap();
        let log = Log::new(dir.path().join("ledger.jsonl"));
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let log = &log;
                scope.spawn(move || {
                    (0..10).for_each(|number| log.append(&leaf(thread * 10 + number)).unwrap());
                });
            }
        });
        let mut ids: Vec<_> = leaves(log.path()).unwrap().map(|leaf| leaf.unwrap().event.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 80);
    }
}
