// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks that the memory of a daemon does not grow over a million events.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::cases::{PAYLOAD, SetupError};
use crate::daemon::BenchHome;
use crate::load::{exchange, resident};
use crate::measure::BenchResult;

const EVENT_COUNT: u64 = 1_000_000;
/// Number of events after which caches are full and the first sessions have ended.
const WARM_UP_EVENTS: u64 = 100_000;
const CLIENT_COUNT: usize = 16;
/// Maximum growth after the warm-up, in kB.
const MAX_GROWTH_KB: f64 = 8.0 * 1024.0;

pub(crate) fn run() -> Result<Vec<BenchResult>, SetupError> {
    let home = BenchHome::new(Some(&["--relaxed"]), "")?;
    let done = AtomicU64::new(0);
    let sizes = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..CLIENT_COUNT).map(|_| scope.spawn(|| ask(&home.socket(), &done))).collect();
        let mut sizes = Vec::new();
        while !workers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(50));
            let tenths = done.load(Ordering::Relaxed).min(EVENT_COUNT) / WARM_UP_EVENTS;
            while u64::try_from(sizes.len()).unwrap_or(u64::MAX) < tenths {
                sizes.push(resident(&home)?);
            }
        }
        for worker in workers {
            worker.join().map_err(|_| SetupError("a client broke off".into()))??;
        }
        sizes.push(resident(&home)?);
        Ok::<_, SetupError>(sizes)
    })?;
    let (first, last) = (sizes.first().copied(), sizes.last().copied());
    let grown = last.zip(first).map_or(f64::NAN, |(last, first)| last - first);
    Ok(vec![
        BenchResult::of("daemon: memory over a million events", None, 1, sizes).in_unit("kB"),
        BenchResult::of("daemon: memory grown since event 100,000", Some(MAX_GROWTH_KB), 1, vec![grown])
            .in_unit("kB"),
    ])
}

/// Sends a million calls, in sessions of 500.
fn ask(socket: &Path, done: &AtomicU64) -> Result<(), SetupError> {
    let mut stream = UnixStream::connect(socket)?;
    let mut buffer = vec![0; 1 << 16];
    let text = String::from_utf8_lossy(PAYLOAD);
    loop {
        let number = done.fetch_add(1, Ordering::Relaxed);
        if number >= EVENT_COUNT {
            return Ok(());
        }
        let session = format!("89917c00-1a49-493b-9066-{:012}", number / 500);
        let payload = text.replace("89917c00-1a49-493b-9066-28df723315f3", &session);
        let payload = payload.replace("toolu_01", &format!("toolu_{number}"));
        exchange(&mut stream, &payload, &mut buffer)?;
    }
}
