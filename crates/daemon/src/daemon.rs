// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What all parts of the daemon share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use tenterhook_api::SpoolCounts;
use tenterhook_authority::Authority;
use tenterhook_guard::{LedgerHandle, usage::UsageReader};
use tenterhook_home::{Env, Home, Mode};
use tenterhook_ledger::{Ledger, SoftwareKey};
use tenterhook_setup::hook_programs::HookPrograms;
use tokio::sync::{Semaphore, watch};

use crate::agent::HostedSessions;
use crate::api::{Readers, Verification};
use crate::approvals::Approvals;
use crate::generations::Generations;
use crate::hook_versions::HookVersions;
use crate::listen::Peer;
use crate::memory::BurstWatch;
use crate::observe::Observers;
use crate::quotas::Quotas;
use crate::record::LedgerRecorder;
use crate::retention::RetentionRuns;
use crate::sdk::ProgramRegistry;
use crate::session_owner::SessionOwners;
use crate::session_usage::UnsavedUsage;
use crate::undelivered::UndeliveredAnswers;
use crate::wiring::Wiring;
use tenterhook_dashboard::BrowserAccess;

/// How many streams may be open at the same time.
const WATCHERS: usize = 64;

/// A daemon at work.
pub struct Daemon {
    pub(crate) home: Home,
    /// The environment that it was started in.
    pub(crate) env: Env,
    /// The programs that harnesses spawn, for installing hooks.
    pub(crate) hook_programs: HookPrograms,
    /// The daemon's account; other accounts may not use its socket.
    pub(crate) uid: u32,
    user: String,
    pub(crate) generations: Generations,
    pub(crate) authority: Authority,
    pub(crate) approvals: Approvals,
    /// ProgramRegistry with hooks of their own.
    pub(crate) programs: ProgramRegistry,
    /// Reads tokens and cost from the transcripts of sessions.
    pub(crate) usage: Arc<UsageReader>,
    pub(crate) unsaved_usage: UnsavedUsage,
    /// Which process each session belongs to.
    pub(crate) session_owners: SessionOwners,
    /// Sessions of our own agent.
    pub(crate) hosted: HostedSessions,
    pub(crate) ledger: Ledger,
    pub(crate) recorder: LedgerRecorder,
    pub(crate) token: String,
    /// Where it listens over TCP.
    pub(crate) listen: std::sync::OnceLock<std::net::SocketAddr>,
    pub(crate) started: Instant,
    /// What callers may use at the same time.
    pub(crate) quotas: Quotas,
    pub(crate) answered: AtomicU64,
    /// Versions of the hook programs that call.
    pub(crate) hook_versions: HookVersions,
    /// Answers that did not reach their hook program.
    pub(crate) undelivered: UndeliveredAnswers,
    /// Notified of decisions and changes.
    pub(crate) observers: Observers,
    /// Readers of the ledger, for the API.
    pub(crate) readers: Arc<Readers>,
    pub(crate) verification: Verification,
    /// Removal of records that exceed the limits of retention.
    pub(crate) retention: RetentionRuns,
    /// Held while the policy or the switches of hooks change.
    pub(crate) changing: Arc<tokio::sync::Mutex<()>>,
    /// Room for streams.
    pub(crate) watchers: Arc<Semaphore>,
    pub(crate) book: LedgerHandle,
    /// Which browsers may look.
    pub(crate) access: BrowserAccess,
    /// Whether the key of the ledger was sealed when we opened it.
    pub(crate) opened_sealed: bool,
    /// Which harnesses lost our hooks.
    pub(crate) wiring: Wiring,
    /// Bursts of calls, after which memory is returned to the system.
    pub(crate) bursts: BurstWatch,
    draining: watch::Sender<bool>,
    /// Whether a caller passed the gate to stop the daemon.
    pub(crate) told_to_end: AtomicBool,
}

impl Daemon {
    pub(crate) fn new(
        home: Home,
        env: &Env,
        ledger: Ledger,
        token: String,
        observers: Observers,
        hook_programs: HookPrograms,
    ) -> Result<Self, tenterhook_error::Failure> {
        let uid = rustix::process::getuid().as_raw();
        let quotas = Quotas::new(home.is_machine_wide());
        Ok(Self {
            authority: Authority::of(&home, uid),
            approvals: Approvals::new(&home),
            generations: Generations::read(&home, env)?,
            programs: ProgramRegistry::default(),
            usage: Arc::new(UsageReader::new(&home, env)),
            unsaved_usage: UnsavedUsage::default(),
            session_owners: SessionOwners::default(),
            hosted: HostedSessions::new(env),
            uid,
            user: tenterhook_home::env::current_user(),
            recorder: LedgerRecorder::new(ledger.clone()),
            readers: Readers::new(home.ledger()),
            opened_sealed: SoftwareKey::is_sealed(&LedgerHandle::of(&home).key_file()),
            wiring: Wiring::default(),
            book: LedgerHandle::of(&home),
            access: BrowserAccess::default(),
            env: env.clone(),
            hook_programs,
            home,
            ledger,
            token,
            listen: std::sync::OnceLock::new(),
            started: Instant::now(),
            quotas,
            answered: AtomicU64::new(0),
            hook_versions: HookVersions::default(),
            undelivered: UndeliveredAnswers::default(),
            observers,
            verification: Verification::default(),
            retention: RetentionRuns::default(),
            changing: Arc::default(),
            watchers: Arc::new(Semaphore::new(WATCHERS)),
            bursts: BurstWatch::default(),
            draining: watch::Sender::new(false),
            told_to_end: AtomicBool::new(false),
        })
    }

    /// No new calls: what is under way is finished, and streams end.
    pub(crate) fn drain(&self) {
        self.draining.send_replace(true);
    }

    /// How many calls are under way.
    pub(crate) fn under_way(&self) -> usize {
        self.quotas.calls_under_way()
    }

    /// How many streams are open.
    pub(crate) fn streams(&self) -> usize {
        WATCHERS.saturating_sub(self.watchers.available_permits())
    }

    /// How many decisions wait in the spool, and how many files there cannot be read.
    pub(crate) fn spooled(&self) -> (usize, usize) {
        self.book.spool_counts()
    }

    /// The same, as the API describes it.
    pub(crate) fn spool_counts(&self) -> SpoolCounts {
        let (waiting, refused) = self.spooled();
        SpoolCounts { waiting, refused }
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Returns when no new calls are accepted.
    pub(crate) async fn drained(&self) {
        // The sender is ours: it is there as long as we are.
        let _ = self.draining.subscribe().wait_for(|draining| *draining).await;
    }

    /// Whether an account is the one the home belongs to, or root.
    pub(crate) fn is_own(&self, uid: u32) -> bool {
        uid == self.uid || uid == 0
    }

    /// The account of a caller with other rights than the daemon's.
    pub(crate) fn other_account(&self, peer: Peer) -> Option<u32> {
        peer.uid().filter(|uid| *uid != self.uid)
    }

    /// The name of an account.
    pub(crate) fn account(&self, uid: u32) -> String {
        if uid == self.uid { self.user.clone() } else { tenterhook_home::env::account_name(uid) }
    }

    /// The caller's account; a token stands for the daemon's own.
    pub(crate) fn user_of(&self, peer: Peer) -> String {
        self.account(peer.uid().unwrap_or(self.uid))
    }

    /// What the status line says.
    pub(crate) fn status(&self) -> String {
        let base = self.generations.base();
        match (self.approvals.count(), base.mode) {
            _ if !base.stale.is_empty() => "stale".to_owned(),
            _ if !self.wiring.lost().is_empty() => "hooks were removed".to_owned(),
            (0, Mode::Enforce) => "ok".to_owned(),
            (0, Mode::Monitor) => "monitor".to_owned(),
            (waiting, _) => format!("pending {waiting}"),
        }
    }
}
