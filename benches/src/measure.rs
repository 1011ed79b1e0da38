// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Measures the time of short operations.

use std::time::{Duration, Instant};

use serde::Serialize;

const SAMPLE_COUNT: usize = 300;
/// Number of samples of slow operations.
const SLOW_SAMPLE_COUNT: usize = 20;
const SLOW_CALL_TIME: Duration = Duration::from_millis(20);
/// Duration of one sample, long enough that reading the clock does not matter.
const SAMPLE_TIME: Duration = Duration::from_millis(2);

/// An operation to measure.
pub(crate) struct BenchCase {
    pub(crate) name: &'static str,
    /// Limit of its median.
    pub(crate) limit: MedianLimit,
    pub(crate) run: Box<dyn FnMut()>,
}

/// Limit of a median.
pub(crate) enum MedianLimit {
    /// No limit.
    None,
    /// A limit in nanoseconds.
    Ns(f64),
    /// A multiple of the median of another case, measured before.
    Times(f64, &'static str),
}

/// All samples of a case, in nanoseconds per call.
#[derive(Debug, Serialize)]
pub(crate) struct BenchResult {
    pub(crate) name: &'static str,
    /// The unit, if it is not nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<&'static str>,
    pub(crate) limit_ns: Option<f64>,
    pub(crate) calls_per_sample: u32,
    pub(crate) min_ns: f64,
    pub(crate) median_ns: f64,
    pub(crate) p95_ns: f64,
    pub(crate) samples_ns: Vec<f64>,
}

pub(crate) fn run(mut case: BenchCase, before: &[BenchResult]) -> BenchResult {
    let calls = calibrate(&mut case.run);
    let long = sample(&mut case.run, calls) * f64::from(calls) >= SLOW_CALL_TIME.as_secs_f64() * 1e9;
    let many = if long { SLOW_SAMPLE_COUNT } else { SAMPLE_COUNT };
    let samples = (0..many).map(|_| sample(&mut case.run, calls)).collect();
    let limit_ns = match case.limit {
        MedianLimit::None => None,
        MedianLimit::Ns(limit) => Some(limit),
        MedianLimit::Times(factor, name) => {
            before.iter().find(|other| other.name == name).map(|other| other.median_ns * factor)
        }
    };
    BenchResult::of(case.name, limit_ns, calls, samples)
}

/// Number of calls per sample; also warms up.
fn calibrate(run: &mut dyn FnMut()) -> u32 {
    let mut calls = 1;
    loop {
        let took = sample(run, calls) * f64::from(calls);
        if took >= SAMPLE_TIME.as_secs_f64() * 1e9 || calls >= 1 << 24 {
            return calls;
        }
        calls *= 2;
    }
}

fn sample(run: &mut dyn FnMut(), calls: u32) -> f64 {
    let started = Instant::now();
    for _ in 0..calls {
        run();
    }
    started.elapsed().as_secs_f64() * 1e9 / f64::from(calls)
}

impl BenchResult {
    pub(crate) fn of(
        name: &'static str,
        limit_ns: Option<f64>,
        calls_per_sample: u32,
        samples_ns: Vec<f64>,
    ) -> Self {
        let mut sorted = samples_ns.clone();
        sorted.sort_by(f64::total_cmp);
        let at = |part: usize| sorted.get(sorted.len() * part / 100).copied().unwrap_or(f64::NAN);
        let (min_ns, median_ns, p95_ns) = (at(0), at(50), at(95));
        Self { name, unit: None, limit_ns, calls_per_sample, min_ns, median_ns, p95_ns, samples_ns }
    }

    /// The same samples in another unit.
    pub(crate) fn in_unit(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }

    /// Whether the median is within the limit.
    pub(crate) fn holds(&self) -> bool {
        self.limit_ns.is_none_or(|limit| self.median_ns <= limit)
    }
}
