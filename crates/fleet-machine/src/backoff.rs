// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Pauses between attempts. They double and are random, so that machines do not come back at the same moment.

use std::time::Duration;

/// Pauses between attempts, from a minimum to a maximum.
#[derive(Debug, Clone)]
pub(crate) struct Backoff {
    min: Duration,
    max: Duration,
    next: Duration,
}

impl Backoff {
    pub(crate) fn new(min: Duration, max: Duration) -> Self {
        Self { min, max, next: min }
    }

    /// Starts again with the shortest pause, after an attempt that succeeded.
    pub(crate) fn reset(&mut self) {
        self.next = self.min;
    }

    /// Returns the next pause: a random time between half and all of the doubled one before.
    pub(crate) fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.max);
        pause / 2 + random_below(pause / 2)
    }
}

/// Returns a random time below a limit; half of it if no random numbers are available.
pub(crate) fn random_below(limit: Duration) -> Duration {
    let mut bytes = [0; 4];
    match getrandom::fill(&mut bytes) {
        Ok(()) => limit.mul_f64(f64::from(u32::from_be_bytes(bytes)) / f64::from(u32::MAX)),
        Err(_) => limit / 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_the_maximum_and_are_random() {
        let (min, max) = (Duration::from_secs(1), Duration::from_mins(5));
        let mut backoff = Backoff::new(min, max);
        let mut limit = min;
        for _ in 0..20 {
            let pause = backoff.pause();
            assert!(limit / 2 <= pause && pause <= limit, "{pause:?}");
            limit = (limit * 2).min(max);
        }
        assert_eq!(limit, max);
        backoff.reset();
        assert!(backoff.pause() <= min);
        let pauses: std::collections::BTreeSet<_> = (0..20).map(|_| random_below(max)).collect();
        assert!(pauses.len() > 15);
    }
}
