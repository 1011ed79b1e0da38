// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whether the harnesses still have our hooks in their settings. Whoever takes them out takes the guard away
//! without asking anybody: that is seen, said and recorded.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::json;
use tenterhook_harness::install::receipt;
use tenterhook_home::Home;

use crate::daemon::Daemon;

/// How often the settings of the harnesses are looked at.
const LOOKS: Duration = Duration::from_secs(3);

/// Settings that no longer have our hooks in them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct Lost {
    /// The harness.
    pub(crate) harness: String,
    /// Its settings.
    pub(crate) settings: PathBuf,
}

/// What was lost.
#[derive(Debug, Default)]
pub(crate) struct Wiring {
    lost: Mutex<BTreeSet<Lost>>,
}

impl Wiring {
    /// What is lost now.
    pub(crate) fn lost(&self) -> BTreeSet<Lost> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, lost: BTreeSet<Lost>) {
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = lost;
    }
}

/// Looks again and again, and tells what came and went.
pub(crate) async fn watch(daemon: Arc<Daemon>) {
    let mut looks = tokio::time::interval(LOOKS);
    let mut seen_before = BTreeSet::new();
    loop {
        looks.tick().await;
        let home = daemon.home.clone();
        let Ok(seen) = tokio::task::spawn_blocking(move || look(&home)).await else { continue };
        // An install writes its receipt first: what is missing at one look only may be on its way.
        let lost: BTreeSet<_> = seen.intersection(&seen_before).cloned().collect();
        seen_before = seen;
        let known = daemon.wiring.lost();
        if lost == known {
            continue;
        }
        daemon.wiring.replace(lost.clone());
        for gone in lost.difference(&known) {
            tell(&daemon, "wiring lost", gone).await;
        }
        for back in known.difference(&lost) {
            tell(&daemon, "wiring back", back).await;
        }
    }
}

fn look(home: &Home) -> BTreeSet<Lost> {
    let receipts = receipt::every(&home.receipts()).into_iter();
    let lost = receipts.filter(|receipt| !receipt.is_kept());
    lost.map(|receipt| Lost { harness: receipt.harness, settings: receipt.settings }).collect()
}

async fn tell(daemon: &Daemon, what: &str, about: &Lost) {
    tracing::warn!(harness = about.harness, settings = %about.settings.display(), "{what}");
    daemon.observers.live.tell("warning", || json!({"what": what, "wiring": about}));
    let detail = json!({"harness": about.harness, "settings": about.settings});
    if let Err(why) = daemon.change(what, daemon.uid, detail, Vec::new()).await {
        tracing::warn!(why, "this could not be recorded");
    }
}
