// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Watches whether our hooks are still in the settings of the harnesses. Removing them by hand removes the guard
//! without the gate, so it is detected, reported and recorded.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use tenterhook_api::{LiveEvent, LiveWarning, UnwiredHarness};
use tenterhook_event::Timestamp;
use tenterhook_harness::HARNESSES;
use tenterhook_harness_install::HarnessClient;
use tenterhook_harness_install::detect;
use tenterhook_harness_install::receipt::{self, UnreadableReceipt};
use tenterhook_home::{Env, Home, call_meta};
use tenterhook_sessions::SessionProjector;

use crate::daemon::Daemon;
use crate::file_watch::FileWatch;

/// What is missing for so long is lost: an install writes its receipt first.
const LOSS_CONFIRMED_AFTER: Duration = Duration::from_secs(3);
/// Programs of harnesses are searched for at most so often: that takes a few hundred file lookups.
const MIN_SEARCH_INTERVAL: Duration = Duration::from_secs(50);
/// A harness that sent an event within this time is guarded, even if its hooks were not installed by us.
const RECENTLY: Duration = Duration::from_mins(10);

/// The harnesses on this machine, by whether hooks guard them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GuardedHarnesses {
    /// Harnesses with our hooks in their settings, and those that sent events recently.
    pub(crate) guarded: BTreeSet<String>,
    /// Harnesses that were found here and are not among them.
    pub(crate) unguarded: BTreeSet<&'static str>,
}

/// What was lost.
#[derive(Debug, Default)]
pub(crate) struct Wiring {
    lost: Mutex<BTreeSet<UnwiredHarness>>,
    /// Found programs, and harnesses whose settings have our hooks.
    harnesses: Mutex<Option<(HarnessSearch, BTreeSet<String>)>>,
}

impl Wiring {
    /// What is lost now.
    pub(crate) fn lost(&self) -> BTreeSet<UnwiredHarness> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Which harnesses are guarded; nothing before the first look.
    pub(crate) fn harnesses(&self, sessions: &SessionProjector) -> Option<GuardedHarnesses> {
        let known = self.harnesses.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (found, mut guarded) = known?;
        guarded.extend(found.by_machine.iter().map(|id| (*id).to_owned()));
        guarded.extend(sessions.harnesses_since(recently()));
        let unguarded = unguarded(&found.harnesses, &guarded);
        Some(GuardedHarnesses { guarded, unguarded })
    }

    fn set_harnesses(&self, found: HarnessSearch, guarded: BTreeSet<String>) {
        *self.harnesses.lock().unwrap_or_else(PoisonError::into_inner) = Some((found, guarded));
    }

    fn replace(&self, lost: BTreeSet<UnwiredHarness>) {
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = lost;
    }
}

/// Looks when files change, and tells what came and went.
pub(crate) async fn watch(daemon: Arc<Daemon>) {
    let mut files = FileWatch::default();
    let mut seen_before = BTreeSet::new();
    let (mut found, mut searched) = (HarnessSearch::default(), None::<Instant>);
    loop {
        let looking = Arc::clone(&daemon);
        let search = searched.is_none_or(|searched| searched.elapsed() >= MIN_SEARCH_INTERVAL);
        let mut watching = std::mem::take(&mut files);
        let look = tokio::task::spawn_blocking(move || {
            watching.set(&watched(&looking.home));
            let found = search.then(|| find_harnesses(looking.generations.env(), &looking.home));
            (look(&looking.home), found, watching)
        });
        let looked = look.await;
        if let Err(error) = &looked {
            tracing::warn!(%error, "installed hooks could not be checked");
        }
        if let Ok(((seen, guarded), newly_found, watching)) = looked {
            files = watching;
            if let Some(newly_found) = newly_found {
                (found, searched) = (newly_found, Some(Instant::now()));
            }
            daemon.wiring.set_harnesses(found.clone(), guarded);
            // What is missing at one look only may be on its way.
            let lost: BTreeSet<_> = seen.intersection(&seen_before).cloned().collect();
            update_lost(&daemon, &lost).await;
            let is_confirmed = seen == lost;
            seen_before = seen;
            if !is_confirmed {
                tokio::time::sleep(LOSS_CONFIRMED_AFTER).await;
                continue;
            }
        }
        files.changed(Duration::MAX).await;
    }
}

/// The receipts, and the settings that they are about.
fn watched(home: &Home) -> Vec<PathBuf> {
    let receipts = receipt::every(&home.receipts()).readable;
    let settings = receipts.into_iter().map(|receipt| receipt.settings);
    settings.chain([home.receipts()]).collect()
}

async fn update_lost(daemon: &Daemon, lost: &BTreeSet<UnwiredHarness>) {
    let known = daemon.wiring.lost();
    if *lost == known {
        return;
    }
    daemon.wiring.replace(lost.clone());
    for gone in lost.difference(&known) {
        tell(daemon, "wiring lost", gone).await;
    }
    for back in known.difference(lost) {
        tell(daemon, "wiring back", back).await;
    }
}

/// The settings that lost our hooks, and the harnesses whose settings have them.
fn look(home: &Home) -> (BTreeSet<UnwiredHarness>, BTreeSet<String>) {
    let (mut lost, mut guarded) = (BTreeSet::new(), BTreeSet::new());
    let files = receipt::every(&home.receipts());
    for UnreadableReceipt { path, reason } in files.unreadable {
        let path = path.display();
        tracing::warn!(%path, reason, "unreadable receipt: it is not known whether hooks of its agent are in place");
    }
    for receipt in files.readable {
        if receipt.is_kept() {
            guarded.insert(receipt.harness);
        } else {
            let settings = receipt.settings.display().to_string();
            lost.insert(UnwiredHarness { harness: receipt.harness, settings });
        }
    }
    (lost, guarded)
}

/// The harnesses on this machine that hooks can guard.
#[derive(Debug, Clone, Default)]
struct HarnessSearch {
    harnesses: BTreeSet<&'static str>,
    /// Those whose hooks are in the settings of the machine; the machine's own daemon knows them by its receipts.
    by_machine: BTreeSet<&'static str>,
}

fn find_harnesses(env: &Env, home: &Home) -> HarnessSearch {
    let ground = env.machine();
    let machine = home.machine_home().and_then(|machine| Some((machine.machine()?, machine.programs())));
    let mut found = HarnessSearch::default();
    for harness in HARNESSES {
        let Some(installer) = harness.installer().filter(|_| detect(harness, &ground).is_some()) else {
            continue;
        };
        found.harnesses.insert(harness.id);
        let hooks = machine
            .as_ref()
            .and_then(|(root, programs)| installer.machine_hooks(&ground, root, programs, None));
        if hooks.is_some_and(|hooks| hooks.in_force) {
            found.by_machine.insert(harness.id);
        }
    }
    found
}

/// The harnesses that were found and are not guarded. Some share the settings of another one.
fn unguarded(found: &BTreeSet<&'static str>, guarded: &BTreeSet<String>) -> BTreeSet<&'static str> {
    let is_guarded = |id: &str| {
        let installer = tenterhook_harness::find_harness(id).and_then(HarnessClient::installer);
        guarded.contains(id) || installer.is_some_and(|installer| guarded.contains(installer.wired_as))
    };
    found.iter().copied().filter(|id| !is_guarded(id)).collect()
}

fn recently() -> Timestamp {
    let ms = u64::try_from(RECENTLY.as_millis()).unwrap_or(u64::MAX);
    Timestamp::from_unix_ms(call_meta::now().unix_ms().saturating_sub(ms))
}

async fn tell(daemon: &Daemon, what: &str, about: &UnwiredHarness) {
    tracing::warn!(harness = about.harness, settings = about.settings, "{what}");
    daemon.observers.live.publish(|| {
        let wiring = Some(about.clone());
        LiveEvent::Warning(LiveWarning { what: what.to_owned(), wiring, ..LiveWarning::default() })
    });
    let detail = json!({"harness": about.harness, "settings": about.settings});
    if let Err(why) = daemon.change(what, daemon.uid, detail, Vec::new()).await {
        tracing::warn!(%why, "this could not be recorded");
    }
}
