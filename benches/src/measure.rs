// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Taking the time of something small, often.

use std::time::{Duration, Instant};

use serde::Serialize;

const SAMPLES: usize = 300;
/// So many are enough of what takes long.
const FEW_SAMPLES: usize = 20;
const LONG: Duration = Duration::from_millis(20);
/// Long enough that reading the clock does not count.
const SAMPLE: Duration = Duration::from_millis(2);

/// Something to measure.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// The most its median may be.
    pub(crate) limit: Limit,
    pub(crate) run: Box<dyn FnMut()>,
}

/// The most a median may be.
pub(crate) enum Limit {
    /// It is only shown.
    None,
    /// Nanoseconds.
    Ns(f64),
    /// So many times the median of another case, measured before.
    Times(f64, &'static str),
}

/// What came out: every sample, in nanoseconds per call.
#[derive(Debug, Serialize)]
pub(crate) struct Measured {
    pub(crate) name: &'static str,
    /// What the numbers are, where they are not nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<&'static str>,
    pub(crate) limit_ns: Option<f64>,
    pub(crate) calls_per_sample: u32,
    pub(crate) min_ns: f64,
    pub(crate) median_ns: f64,
    pub(crate) p95_ns: f64,
    pub(crate) samples_ns: Vec<f64>,
}

pub(crate) fn run(mut case: Case, before: &[Measured]) -> Measured {
    let calls = calibrate(&mut case.run);
    let long = sample(&mut case.run, calls) * f64::from(calls) >= LONG.as_secs_f64() * 1e9;
    let many = if long { FEW_SAMPLES } else { SAMPLES };
    let samples = (0..many).map(|_| sample(&mut case.run, calls)).collect();
    let limit_ns = match case.limit {
        Limit::None => None,
        Limit::Ns(limit) => Some(limit),
        Limit::Times(factor, name) => {
            before.iter().find(|other| other.name == name).map(|other| other.median_ns * factor)
        }
    };
    Measured::of(case.name, limit_ns, calls, samples)
}

/// How many calls fill one sample; warms up on the way.
fn calibrate(run: &mut dyn FnMut()) -> u32 {
    let mut calls = 1;
    loop {
        let took = sample(run, calls) * f64::from(calls);
        if took >= SAMPLE.as_secs_f64() * 1e9 || calls >= 1 << 24 {
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

impl Measured {
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

    /// The same, counted in something else.
    pub(crate) fn in_unit(self, unit: &'static str) -> Self {
        Self { unit: Some(unit), ..self }
    }

    /// Whether the median is within the limit.
    pub(crate) fn holds(&self) -> bool {
        self.limit_ns.is_none_or(|limit| self.median_ns <= limit)
    }
}
