// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The mode of a home: whether its rules are enforced or only monitored.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

use crate::home::write_atomic;
use crate::{Home, call_meta, read_file};
use tenterhook_error::Failure;

/// How the rules of a home are applied. Locked rules are always enforced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Verdicts of rules are enforced.
    #[default]
    Enforce,
    /// Verdicts of rules are recorded only.
    Monitor,
}

/// The mode of a home, and when monitor mode ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModeSetting {
    /// Whether verdicts are enforced or only recorded.
    pub mode: Mode,
    /// When monitor mode ends by itself.
    pub until: Option<Timestamp>,
    since: Option<Timestamp>,
    limit: Option<TimeLimit>,
}

/// How long monitor mode lasts. Time since the system started cannot be set back, so it decides until the next restart
/// of the system. After that the wall clock decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct TimeLimit {
    until: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    boot: Option<BootLimit>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct BootLimit {
    /// Identifies the run of the system.
    id: String,
    /// Seconds since the system started at which the mode ends.
    until_s: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct ModeFile {
    v: u32,
    mode: Mode,
    since: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    limit: Option<TimeLimit>,
}

/// How far the clock may be before the start of monitor mode. Beyond that it was moved back, and the mode ends.
const MAX_CLOCK_STEP_MS: u64 = 5_000;
/// Shortest and longest time for which monitor mode may be set.
const MONITOR_TIME_RANGE: std::ops::RangeInclusive<Duration> =
    Duration::from_secs(1)..=Duration::from_hours(7 * 24);

impl ModeSetting {
    /// Reads the mode that applies now. Monitor mode whose time is over counts as `enforce`.
    pub fn read(home: &Home) -> Result<Self, Failure> {
        let stored = Self::read_stored(home)?;
        Ok(if stored.is_over(call_meta::now_ms()) { Self::default() } else { stored })
    }

    /// Fails if monitor mode cannot be set for this time. Called before the user confirms it.
    pub fn check_time(time: Duration) -> Result<(), Failure> {
        if MONITOR_TIME_RANGE.contains(&time) {
            return Ok(());
        }
        Err(Failure::user("monitor mode may last from one second to seven days"))
    }

    /// Sets monitor mode for a limited time.
    pub fn write_monitor_for(home: &Home, time: Duration, now: Timestamp) -> Result<Self, Failure> {
        Self::check_time(time)?;
        let until = Timestamp::from_unix_ms(now.unix_ms().saturating_add(millis(time)));
        let boot =
            uptime().map(|(id, passed)| BootLimit { id, until_s: ceil_s(passed.saturating_add(time)) });
        let limit = TimeLimit { until, boot };
        let (mode, since) = (Mode::Monitor, Some(now));
        write_file(home, &ModeFile { v: 1, mode, since: now, limit: Some(limit.clone()) })?;
        Ok(Self { mode, until: Some(until), since, limit: Some(limit) })
    }

    /// Whether the time of a stored monitor mode is over.
    pub fn is_over(&self, now_ms: u64) -> bool {
        let Some(TimeLimit { until, boot }) = &self.limit else { return false };
        let is_before_start =
            self.since.is_some_and(|since| now_ms.saturating_add(MAX_CLOCK_STEP_MS) < since.unix_ms());
        let is_over_since_boot = boot
            .as_ref()
            .zip(uptime())
            .is_some_and(|(limit, (id, passed))| limit.id == id && passed.as_secs() >= limit.until_s);
        now_ms >= until.unix_ms() || is_before_start || is_over_since_boot
    }

    /// Reads the stored mode, even if its time is over.
    pub fn read_stored(home: &Home) -> Result<Self, Failure> {
        let path = home.mode();
        let broken = |why: String| {
            Failure::internal(format!("`{}` cannot be read: {why}; rules are enforced", path.display()))
                .hint("set it again: `tenterhook mode enforce`")
        };
        let Some(text) = read_file::state_file(&path).map_err(|error| broken(error.to_string()))? else {
            return Ok(Self::default());
        };
        let ModeFile { mode, since, limit, .. } =
            serde_json::from_str(&text).map_err(|error| broken(error.to_string()))?;
        let limit = limit.filter(|_| mode == Mode::Monitor);
        Ok(Self { mode, until: limit.as_ref().map(|limit| limit.until), since: Some(since), limit })
    }
}

impl Mode {
    /// Reads the mode of a home that applies now: `Enforce` if the mode file does not exist or the time of monitor mode
    /// is over, an error if the file is unreadable.
    pub fn read(home: &Home) -> Result<Self, Failure> {
        ModeSetting::read(home).map(|setting| setting.mode)
    }

    /// Stores the mode, without a time limit.
    pub fn write(self, home: &Home, now: Timestamp) -> Result<(), Failure> {
        write_file(home, &ModeFile { v: 1, mode: self, since: now, limit: None })
    }

    /// Name of the mode.
    pub fn word(self) -> &'static str {
        match self {
            Self::Enforce => "enforce",
            Self::Monitor => "monitor",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

fn write_file(home: &Home, file: &ModeFile) -> Result<(), Failure> {
    home.create()?;
    let text = serde_json::to_vec_pretty(file).map_err(std::io::Error::from)?;
    write_atomic(&home.mode(), &text, 0o600)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the seconds of a duration. A part of a second counts as one, so that a time does not end early.
fn ceil_s(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// Returns the id of this run of the system and the time since it started, including the time it slept.
#[cfg(target_os = "linux")]
fn uptime() -> Option<(String, Duration)> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    let seconds = Duration::from_secs(u64::try_from(now.tv_sec).ok()?);
    let nanoseconds = Duration::from_nanos(u64::try_from(now.tv_nsec).ok()?);
    Some((id.trim().to_owned(), seconds + nanoseconds))
}

#[cfg(not(target_os = "linux"))]
fn uptime() -> Option<(String, Duration)> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000_000;

    fn limited(until_ms: u64, boot: Option<BootLimit>) -> ModeSetting {
        let until = Timestamp::from_unix_ms(until_ms);
        let since = Some(Timestamp::from_unix_ms(NOW));
        let limit = Some(TimeLimit { until, boot });
        ModeSetting { mode: Mode::Monitor, until: Some(until), since, limit }
    }

    #[test]
    fn monitor_mode_ends_by_itself() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        let now = call_meta::now();
        let set = ModeSetting::write_monitor_for(&home, Duration::from_mins(15), now).unwrap();
        assert_eq!(ModeSetting::read(&home).unwrap(), set);
        assert_eq!(set.until.unwrap().unix_ms(), now.unix_ms() + 900_000);
        let before = Timestamp::from_unix_ms(now.unix_ms() - 901_000);
        ModeSetting::write_monitor_for(&home, Duration::from_mins(15), before).unwrap();
        assert_eq!(Mode::read(&home), Ok(Mode::Enforce), "the time is over");
        assert_eq!(ModeSetting::read_stored(&home).unwrap().mode, Mode::Monitor);
        for wrong in [Duration::ZERO, Duration::from_hours(24 * 8)] {
            assert!(ModeSetting::write_monitor_for(&home, wrong, now).is_err());
        }
    }

    #[test]
    fn a_clock_that_is_moved_back_does_not_extend_monitor_mode() {
        let limit = limited(NOW + 1_000, None);
        assert!(!limit.is_over(NOW) && limit.is_over(NOW + 1_000));
        assert!(limit.is_over(NOW - MAX_CLOCK_STEP_MS - 1), "before its start");
        assert!(!ModeSetting { limit: None, ..limit.clone() }.is_over(NOW + 1_000), "without a limit");
        if let Some((id, passed)) = uptime() {
            let boot = |id: &str, until_s| Some(BootLimit { id: id.to_owned(), until_s });
            assert!(limited(NOW + 1_000, boot(&id, passed.as_secs())).is_over(NOW), "the time has passed");
            assert!(!limited(NOW + 1_000, boot(&id, passed.as_secs() + 1_000)).is_over(NOW));
            assert!(!limited(NOW + 1_000, boot("another", 0)).is_over(NOW), "the system was restarted");
        }
    }

    #[test]
    fn monitor_mode_does_not_end_early() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        let Some((_, before)) = uptime() else { return };
        let time = Duration::from_mins(1);
        let set = ModeSetting::write_monitor_for(&home, time, Timestamp::from_unix_ms(NOW)).unwrap();
        let until_s = set.limit.and_then(|limit| limit.boot).unwrap().until_s;
        assert!(Duration::from_secs(until_s) >= before + time, "{until_s}");
        assert_eq!([ceil_s(Duration::from_secs(2)), ceil_s(Duration::from_millis(2_001))], [2, 3]);
    }

    #[test]
    fn rules_hold_unless_a_file_that_can_be_read_says_otherwise() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        assert_eq!(Mode::read(&home), Ok(Mode::Enforce));
        Mode::Monitor.write(&home, Timestamp::from_unix_ms(0)).unwrap();
        assert_eq!(Mode::read(&home), Ok(Mode::Monitor));
        std::fs::write(home.mode(), "monitor").unwrap();
        assert!(Mode::read(&home).is_err());
    }
}
