// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks how a target handles one text.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::targets::FuzzTarget;

/// Maximum processor time for a text of up to a megabyte, in an optimised build.
const MAX_CPU_TIME_PER_MEGABYTE: Duration = Duration::from_millis(200);
/// Maximum memory for a text of up to a megabyte.
const MAX_MEMORY_BYTES: u64 = 256 << 20;
/// Below this time, a text cannot use much memory, so memory is not measured.
const MIN_TIME_FOR_MEMORY_CHECK: Duration = Duration::from_millis(40);
/// Below this time, a text is not compared with a text of twice the length, because most of the time is a
/// constant cost.
const MIN_TIME_FOR_COMPARISON: Duration = Duration::from_millis(100);
/// Maximum factor by which a text of twice the length may take longer.
const MAX_TIME_RATIO: u32 = 3;
/// Whether this is a build without optimisation. Times then say little.
const SLOW_BUILD: bool = cfg!(debug_assertions);
const SLOW_BUILD_FACTOR: u32 = if SLOW_BUILD { 100 } else { 1 };

/// What is wrong with a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FuzzFailure {
    /// The target panicked.
    Panic(String),
    /// A property does not hold.
    Property(String),
    /// The text takes too long, or more than linear time.
    Slow(String),
    /// The text takes too much memory.
    Large(String),
}

impl FuzzFailure {
    /// A word for the file name of a regression.
    pub fn file_word(&self) -> &'static str {
        match self {
            Self::Panic(_) => "panic",
            Self::Property(_) => "property",
            Self::Slow(_) => "slow",
            Self::Large(_) => "large",
        }
    }
}

/// Runs a target on a text and checks the result. `Ok` is the summary that the target returns.
pub fn check(target: &FuzzTarget, text: &str) -> Result<String, FuzzFailure> {
    let (summary, took) = run_measured(target, text)?;
    let limit = MAX_CPU_TIME_PER_MEGABYTE
        * SLOW_BUILD_FACTOR
        * target.parse_count
        * u32::try_from(1 + text.len() / (1 << 20)).unwrap_or(u32::MAX);
    if took > limit {
        let again = fastest_time(target, text, took)?;
        if again > limit {
            return Err(FuzzFailure::Slow(format!("{} bytes take {again:?}", text.len())));
        }
    }
    if !SLOW_BUILD
        && took > MIN_TIME_FOR_MEMORY_CHECK
        && let Some(bytes) = peak_memory(target, text)?
        && bytes > MAX_MEMORY_BYTES
    {
        return Err(FuzzFailure::Large(format!("{} bytes take {} MB", text.len(), bytes >> 20)));
    }
    if !SLOW_BUILD && took > MIN_TIME_FOR_COMPARISON / 3 && text.len() <= 1 << 19 {
        let double = format!("{text}\n{text}");
        let (_, longer) = run_measured(target, &double)?;
        if longer > MIN_TIME_FOR_COMPARISON && longer > took * MAX_TIME_RATIO {
            let (took, longer) = (fastest_time(target, text, took)?, fastest_time(target, &double, longer)?);
            if longer > MIN_TIME_FOR_COMPARISON && longer > took * MAX_TIME_RATIO {
                return Err(FuzzFailure::Slow(format!(
                    "{} bytes take {took:?}, twice that {longer:?}",
                    text.len()
                )));
            }
        }
    }
    let Some(holds) = target.holds else { return Ok(summary) };
    match catch_unwind(AssertUnwindSafe(|| holds(text))) {
        Ok(Ok(())) => Ok(summary),
        Ok(Err(property)) => Err(FuzzFailure::Property(property)),
        Err(panic) => Err(panic_failure(panic.as_ref())),
    }
}

/// Returns the shortest time of a few runs, so that other load on the machine does not matter.
fn fastest_time(target: &FuzzTarget, text: &str, first: Duration) -> Result<Duration, FuzzFailure> {
    let mut least = first;
    for _ in 0..3 {
        least = least.min(run_measured(target, text)?.1);
    }
    Ok(least)
}

fn run_measured(target: &FuzzTarget, text: &str) -> Result<(String, Duration), FuzzFailure> {
    let before = thread_cpu_time();
    let read = catch_unwind(AssertUnwindSafe(|| (target.read)(text)));
    let took = thread_cpu_time().saturating_sub(before);
    match read {
        Ok(summary) => Ok((summary, took)),
        Err(panic) => Err(panic_failure(panic.as_ref())),
    }
}

/// Peak memory of reading the text; `None` if the system does not report it.
fn peak_memory(target: &FuzzTarget, text: &str) -> Result<Option<u64>, FuzzFailure> {
    // Resets the peak that the system reports.
    if std::fs::write("/proc/self/clear_refs", "5").is_err() {
        return Ok(None);
    }
    let before = proc_status("VmRSS:");
    run_measured(target, text)?;
    Ok(proc_status("VmHWM:").zip(before).map(|(most, before)| most.saturating_sub(before)))
}

/// A line of `/proc/self/status`, in bytes.
fn proc_status(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

fn panic_failure(panic: &(dyn Any + Send)) -> FuzzFailure {
    let message = panic.downcast_ref::<String>().map(String::as_str);
    FuzzFailure::Panic(
        message.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned(),
    )
}

/// Processor time of this thread.
fn thread_cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
}
