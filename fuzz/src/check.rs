// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whether a text was read well.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use crate::targets::Target;

/// What a text of up to a megabyte may take of the processor, built with optimisation.
const LIMIT: Duration = Duration::from_millis(200);
/// What a text of up to a megabyte may take of memory.
const LARGEST: u64 = 256 << 20;
/// What takes less cannot have filled so much.
const FILLING: Duration = Duration::from_millis(40);
/// What takes less is not compared: it is mostly what every text takes.
const FLOOR: Duration = Duration::from_millis(100);
/// How much longer a text twice as long may take.
const RATIO: u32 = 3;
/// Without optimisation everything takes longer, and by how much is no measure of anything.
const SLOW_BUILD: bool = cfg!(debug_assertions);
const SLOWER: u32 = if SLOW_BUILD { 100 } else { 1 };

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// It panicked.
    Panic(String),
    /// A property does not hold.
    Property(String),
    /// It takes too long, or much longer when the text is doubled.
    Slow(String),
    /// It takes too much memory.
    Large(String),
}

impl Wrong {
    /// One word for the name of a file.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Panic(_) => "panic",
            Self::Property(_) => "property",
            Self::Slow(_) => "slow",
            Self::Large(_) => "large",
        }
    }
}

/// Reads a text and looks at how that went. `Ok` has the words of the target.
pub fn check(target: &Target, text: &str) -> Result<String, Wrong> {
    let (said, took) = measured(target, text)?;
    let limit = LIMIT * SLOWER * target.times * u32::try_from(1 + text.len() / (1 << 20)).unwrap_or(u32::MAX);
    if took > limit {
        let again = fastest(target, text, took)?;
        if again > limit {
            return Err(Wrong::Slow(format!("{} bytes take {again:?}", text.len())));
        }
    }
    if !SLOW_BUILD
        && took > FILLING
        && let Some(bytes) = memory(target, text)?
        && bytes > LARGEST
    {
        return Err(Wrong::Large(format!("{} bytes take {} MB", text.len(), bytes >> 20)));
    }
    if !SLOW_BUILD && took > FLOOR / 3 && text.len() <= 1 << 19 {
        let double = format!("{text}\n{text}");
        let (_, longer) = measured(target, &double)?;
        if longer > FLOOR && longer > took * RATIO {
            let (took, longer) = (fastest(target, text, took)?, fastest(target, &double, longer)?);
            if longer > FLOOR && longer > took * RATIO {
                return Err(Wrong::Slow(format!(
                    "{} bytes take {took:?}, twice that {longer:?}",
                    text.len()
                )));
            }
        }
    }
    let Some(holds) = target.holds else { return Ok(said) };
    match catch_unwind(AssertUnwindSafe(|| holds(text))) {
        Ok(Ok(())) => Ok(said),
        Ok(Err(property)) => Err(Wrong::Property(property)),
        Err(panic) => Err(told(panic.as_ref())),
    }
}

/// The least of a few runs: what else the machine does is not the reader's fault.
fn fastest(target: &Target, text: &str, first: Duration) -> Result<Duration, Wrong> {
    let mut least = first;
    for _ in 0..3 {
        least = least.min(measured(target, text)?.1);
    }
    Ok(least)
}

fn measured(target: &Target, text: &str) -> Result<(String, Duration), Wrong> {
    let before = spent();
    let read = catch_unwind(AssertUnwindSafe(|| (target.read)(text)));
    let took = spent().saturating_sub(before);
    match read {
        Ok(said) => Ok((said, took)),
        Err(panic) => Err(told(panic.as_ref())),
    }
}

/// How much memory reading the text takes at its most; `None` where the system does not say.
fn memory(target: &Target, text: &str) -> Result<Option<u64>, Wrong> {
    // From here on the system notes the most anew.
    if std::fs::write("/proc/self/clear_refs", "5").is_err() {
        return Ok(None);
    }
    let before = status("VmRSS:");
    measured(target, text)?;
    Ok(status("VmHWM:").zip(before).map(|(most, before)| most.saturating_sub(before)))
}

/// A line of what the system says about this process, in bytes.
fn status(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

fn told(panic: &(dyn Any + Send)) -> Wrong {
    let told = panic.downcast_ref::<String>().map(String::as_str);
    Wrong::Panic(told.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned())
}

/// What this thread has had of the processor: other work on the machine does not count.
fn spent() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
}
