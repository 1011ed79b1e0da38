// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A daemon that answers a million events has to stay as large as it was.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::cases::{PAYLOAD, SetupError};
use crate::daemon::Home;
use crate::load::{exchange, resident};
use crate::measure::Measured;

const MILLION: u64 = 1_000_000;
/// Caches are full and sessions have come and gone by then.
const WARM: u64 = 100_000;
const CLIENTS: usize = 16;
/// What it may have grown by afterwards, in kB.
const FLAT: f64 = 8.0 * 1024.0;

pub(crate) fn run() -> Result<Vec<Measured>, SetupError> {
    let home = Home::new(Some(&["--relaxed"]), "")?;
    let done = AtomicU64::new(0);
    let sizes = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| ask(&home.socket(), &done))).collect();
        let mut sizes = Vec::new();
        while !workers.iter().all(std::thread::ScopedJoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(50));
            let tenths = done.load(Ordering::Relaxed).min(MILLION) / WARM;
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
        Measured::of("daemon: memory over a million events", None, 1, sizes).in_unit("kB"),
        Measured::of("daemon: memory grown since event 100,000", Some(FLAT), 1, vec![grown]).in_unit("kB"),
    ])
}

/// Asks until there were a million, in sessions of 500 calls.
fn ask(socket: &Path, done: &AtomicU64) -> Result<(), SetupError> {
    let mut stream = UnixStream::connect(socket)?;
    let mut buffer = vec![0; 1 << 16];
    let text = String::from_utf8_lossy(PAYLOAD);
    loop {
        let number = done.fetch_add(1, Ordering::Relaxed);
        if number >= MILLION {
            return Ok(());
        }
        let session = format!("89917c00-1a49-493b-9066-{:012}", number / 500);
        let payload = text.replace("89917c00-1a49-493b-9066-28df723315f3", &session);
        let payload = payload.replace("toolu_01", &format!("toolu_{number}"));
        exchange(&mut stream, &payload, &mut buffer)?;
    }
}
