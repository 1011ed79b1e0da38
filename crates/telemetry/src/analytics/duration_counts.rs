// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Counts durations in logarithmic steps. There are eight steps for each doubling, so a percentile is at most an eighth
//! too high. Only steps with a count take memory.

use std::collections::BTreeMap;

/// Binary logarithm of the number of steps for each doubling.
const STEPS_LOG2: u32 = 3;

/// Number of durations in each step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DurationCounts {
    steps: BTreeMap<u16, u32>,
}

impl DurationCounts {
    pub(crate) fn observe(&mut self, us: u64) {
        let count = self.steps.entry(step_of(us)).or_default();
        *count = count.saturating_add(1);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        for (step, more) in &other.steps {
            let count = self.steps.entry(*step).or_default();
            *count = count.saturating_add(*more);
        }
    }

    /// The duration that `percent` of all calls did not exceed, in microseconds.
    pub(crate) fn percentile(&self, percent: u64) -> Option<u64> {
        let all: u64 = self.steps.values().map(|count| u64::from(*count)).sum();
        let wanted = (all * percent).div_ceil(100);
        let mut below = 0;
        self.steps.iter().find_map(|(step, count)| {
            below += u64::from(*count);
            (below >= wanted && all > 0).then(|| upper_bound(*step))
        })
    }
}

/// The step of a duration. Small durations have a step each; larger ones have eight steps for each doubling.
fn step_of(us: u64) -> u16 {
    let doubling = us.max(1).ilog2();
    let step = if doubling <= STEPS_LOG2 {
        us
    } else {
        let shift = doubling - STEPS_LOG2;
        (u64::from(shift) << STEPS_LOG2) + (us >> shift)
    };
    u16::try_from(step).unwrap_or(u16::MAX)
}

/// The longest duration that belongs to a step.
fn upper_bound(step: u16) -> u64 {
    let step = u64::from(step);
    let fine = 1_u64 << STEPS_LOG2;
    if step < 2 * fine {
        return step;
    }
    let shift = step / fine - 1;
    let top = fine + step % fine;
    ((top + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_holds_its_number_and_is_an_eighth_wide_at_most() {
        for us in (0..5000).chain([65_536, 999_999, 60_000_000, u64::from(u32::MAX)]) {
            let bound = upper_bound(step_of(us));
            assert!(bound >= us && bound - us <= us / 8, "{us}: {bound}");
        }
    }

    #[test]
    fn percentiles_are_of_what_was_seen() {
        let mut times = DurationCounts::default();
        assert_eq!(times.percentile(50), None);
        (1..=100).for_each(|us| times.observe(us));
        let near = |of, us: u64| {
            let found = times.percentile(of).unwrap();
            assert!(found >= us && found <= us + us / 8, "p{of}: {found}");
        };
        near(50, 50);
        near(95, 95);
        near(99, 99);
    }
}
