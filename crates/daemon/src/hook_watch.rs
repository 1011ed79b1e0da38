// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Watches whether our hooks are still in the harnesses' settings. Removing them by hand weakens protection without
//! confirmation, so it is detected, reported and recorded.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;
use tenterhook_api::{LiveEvent, LiveWarning, UnwiredHarness};
use tenterhook_event::Timestamp;
use tenterhook_file_watch::FileWatch;
use tenterhook_harness::HARNESSES;
use tenterhook_harness_install::HarnessClient;
use tenterhook_harness_install::detect;
use tenterhook_harness_install::receipt::{self, UnreadableReceipt};
use tenterhook_home::{Env, Home, call_meta};
use tenterhook_sessions::SessionProjector;

use crate::daemon::Daemon;

/// Hooks count as lost when they have been missing for this long. The delay is needed because an installation
/// writes its receipt before the settings.
const LOSS_CONFIRMED_AFTER: Duration = Duration::from_secs(3);
/// Minimum interval between searches for harness programs: a search takes a few hundred file lookups.
const MIN_SEARCH_INTERVAL: Duration = Duration::from_secs(50);
/// A harness that sent an event within this time is guarded, even if its hooks were not installed by us.
const RECENT_EVENT_WINDOW: Duration = Duration::from_mins(10);

/// The harnesses on this machine, divided into guarded and unguarded ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GuardedHarnesses {
    /// Harnesses with our hooks in their settings, and those that sent events recently.
    pub(crate) guarded: BTreeSet<String>,
    /// Harnesses that are present on this machine but not guarded.
    pub(crate) unguarded: BTreeSet<&'static str>,
}

/// Keeps track of lost hooks and of guarded harnesses.
#[derive(Debug, Default)]
pub(crate) struct HookWatch {
    lost: Mutex<BTreeSet<UnwiredHarness>>,
    /// Found programs, and harnesses whose settings have our hooks.
    harnesses: Mutex<Option<(HarnessSearch, BTreeSet<String>)>>,
}

impl HookWatch {
    /// Returns the harnesses whose settings lost our hooks.
    pub(crate) fn list_lost(&self) -> BTreeSet<UnwiredHarness> {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns guarded and unguarded harnesses; `None` before the first check.
    pub(crate) fn guarded_harnesses(&self, sessions: &SessionProjector) -> Option<GuardedHarnesses> {
        let known = self.harnesses.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (found, mut guarded) = known?;
        guarded.extend(found.by_machine.iter().map(|id| (*id).to_owned()));
        guarded.extend(sessions.harnesses_since(recent_since()));
        let unguarded = find_unguarded(&found.harnesses, &guarded);
        Some(GuardedHarnesses { guarded, unguarded })
    }

    fn set_harnesses(&self, found: HarnessSearch, guarded: BTreeSet<String>) {
        *self.harnesses.lock().unwrap_or_else(PoisonError::into_inner) = Some((found, guarded));
    }

    fn set_lost(&self, lost: BTreeSet<UnwiredHarness>) {
        *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = lost;
    }
}

/// Checks installed hooks when files change, and reports lost and restored hooks.
pub(crate) async fn watch(daemon: Arc<Daemon>) {
    let mut files = FileWatch::default();
    let mut seen_before = BTreeSet::new();
    let (mut found, mut searched) = (HarnessSearch::default(), None::<Instant>);
    loop {
        let checker = Arc::clone(&daemon);
        let search = searched.is_none_or(|searched| searched.elapsed() >= MIN_SEARCH_INTERVAL);
        let mut watching = std::mem::take(&mut files);
        let check = tokio::task::spawn_blocking(move || {
            watching.set(&watched_files(&checker.home));
            let found = search.then(|| find_harnesses(checker.generations.env(), &checker.home));
            (check_receipts(&checker.home), found, watching)
        });
        let checked = check.await;
        if let Err(error) = &checked {
            tracing::warn!(%error, "installed hooks could not be checked");
        }
        if let Ok(((seen, guarded), newly_found, watching)) = checked {
            files = watching;
            if let Some(newly_found) = newly_found {
                (found, searched) = (newly_found, Some(Instant::now()));
            }
            daemon.hook_watch.set_harnesses(found.clone(), guarded);
            // Hooks that are missing in only one check may be in the middle of an installation.
            let lost: BTreeSet<_> = seen.intersection(&seen_before).cloned().collect();
            update_lost(&daemon, &lost).await;
            let is_confirmed = seen == lost;
            seen_before = seen;
            if !is_confirmed {
                tokio::time::sleep(LOSS_CONFIRMED_AFTER).await;
                continue;
            }
        }
        files.wait_for_change(Duration::MAX).await;
    }
}

/// Returns the receipts and the settings files that they describe.
fn watched_files(home: &Home) -> Vec<PathBuf> {
    let receipts = receipt::every(&home.receipts()).readable;
    let settings = receipts.into_iter().map(|receipt| receipt.settings);
    settings.chain([home.receipts()]).collect()
}

async fn update_lost(daemon: &Daemon, lost: &BTreeSet<UnwiredHarness>) {
    let known = daemon.hook_watch.list_lost();
    if *lost == known {
        return;
    }
    daemon.hook_watch.set_lost(lost.clone());
    for gone in lost.difference(&known) {
        report_change(daemon, "wiring lost", gone).await;
    }
    for back in known.difference(lost) {
        report_change(daemon, "wiring back", back).await;
    }
}

/// Finds settings that lost our hooks, and harnesses whose settings still have them.
fn check_receipts(home: &Home) -> (BTreeSet<UnwiredHarness>, BTreeSet<String>) {
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
    /// Harnesses with hooks in the machine-wide settings; the machine-wide daemon has their receipts.
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

/// Returns the harnesses that are present but not guarded. A harness that shares its settings with a guarded
/// one is guarded too.
fn find_unguarded(found: &BTreeSet<&'static str>, guarded: &BTreeSet<String>) -> BTreeSet<&'static str> {
    let is_guarded = |id: &str| {
        let installer = tenterhook_harness::find_harness(id).and_then(HarnessClient::installer);
        guarded.contains(id) || installer.is_some_and(|installer| guarded.contains(installer.wired_as))
    };
    found.iter().copied().filter(|id| !is_guarded(id)).collect()
}

fn recent_since() -> Timestamp {
    let ms = u64::try_from(RECENT_EVENT_WINDOW.as_millis()).unwrap_or(u64::MAX);
    Timestamp::from_unix_ms(call_meta::now().unix_ms().saturating_sub(ms))
}

async fn report_change(daemon: &Daemon, what: &str, about: &UnwiredHarness) {
    tracing::warn!(harness = about.harness, settings = about.settings, "{what}");
    daemon.observers.live.publish(|| {
        let wiring = Some(about.clone());
        LiveEvent::Warning(LiveWarning { what: what.to_owned(), wiring, ..LiveWarning::default() })
    });
    let detail = json!({"harness": about.harness, "settings": about.settings});
    if let Err(why) = daemon.record_change(what, daemon.uid, detail, Vec::new()).await {
        tracing::warn!(%why, "a change of installed hooks could not be recorded");
    }
}
