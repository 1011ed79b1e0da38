// SPDX-License-Identifier: Apache-2.0 OR MIT

//! State that all parts of the daemon share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use tenterhook_api::SpoolCounts;
use tenterhook_authority::Authority;
use tenterhook_guard::LedgerHandle;
use tenterhook_guard::usage::UsageReader;
use tenterhook_home::{Env, Home, Mode};
use tenterhook_ledger::{Ledger, SoftwareKey};
use tenterhook_setup::hook_programs::HookPrograms;
use tokio::sync::{Semaphore, watch};

use crate::agent::HostedSessions;
use crate::api::{LedgerReaders, Verification};
use crate::approvals::Approvals;
use crate::generations::Generations;
use crate::hook_versions::HookVersions;
use crate::hook_watch::HookWatch;
use crate::ledger_recorder::LedgerRecorder;
use crate::listen::Peer;
use crate::memory::BurstWatch;
use crate::notifications::Notifications;
use crate::observers::Observers;
use crate::quotas::Quotas;
use crate::retention_task::RetentionRuns;
use crate::sdk::ProgramRegistry;
use crate::session_owner::SessionOwners;
use crate::session_usage::UnsavedUsage;
use crate::undelivered::UndeliveredAnswers;
use tenterhook_dashboard::BrowserAccess;

/// Maximum number of streams open at once.
const MAX_STREAMS: usize = 64;

/// State of a running daemon.
pub struct Daemon {
    pub(crate) home: Home,
    /// Environment of the daemon process.
    pub(crate) env: Env,
    /// Programs that harnesses start; used to install hooks.
    pub(crate) hook_programs: HookPrograms,
    /// The daemon's account; other accounts may not use its socket.
    pub(crate) uid: u32,
    user: String,
    pub(crate) generations: Generations,
    pub(crate) authority: Authority,
    pub(crate) approvals: Approvals,
    /// Notifies users about approvals and denied calls.
    pub(crate) notifications: Notifications,
    /// Programs that registered hooks.
    pub(crate) programs: ProgramRegistry,
    /// Reads tokens and cost from session transcripts.
    pub(crate) usage: Arc<UsageReader>,
    pub(crate) unsaved_usage: UnsavedUsage,
    /// Maps each session to the process that owns it.
    pub(crate) session_owners: SessionOwners,
    /// Sessions of the daemon's own agent.
    pub(crate) hosted: HostedSessions,
    pub(crate) ledger: Ledger,
    pub(crate) recorder: LedgerRecorder,
    pub(crate) token: String,
    /// TCP address that the daemon listens on.
    pub(crate) listen: std::sync::OnceLock<std::net::SocketAddr>,
    pub(crate) started: Instant,
    /// Limits on what callers use at the same time.
    pub(crate) quotas: Quotas,
    pub(crate) answered: AtomicU64,
    /// Versions of the hook programs that called the daemon.
    pub(crate) hook_versions: HookVersions,
    /// Answers that did not reach their hook program.
    pub(crate) undelivered: UndeliveredAnswers,
    /// Notified of decisions and changes.
    pub(crate) observers: Observers,
    /// Readers of the ledger, for the API.
    pub(crate) readers: Arc<LedgerReaders>,
    pub(crate) verification: Verification,
    /// Removes records that exceed the retention limits.
    pub(crate) retention: RetentionRuns,
    /// Held while the policy or the hook switches are changed.
    pub(crate) change_lock: Arc<tokio::sync::Mutex<()>>,
    /// One permit per open stream.
    pub(crate) stream_slots: Arc<Semaphore>,
    pub(crate) book: LedgerHandle,
    /// Browsers with access to the dashboard.
    pub(crate) access: BrowserAccess,
    /// Whether the ledger's key was sealed when the ledger was opened.
    pub(crate) opened_sealed: bool,
    /// Harnesses whose settings lost our hooks.
    pub(crate) hook_watch: HookWatch,
    /// Detects bursts of calls, after which memory is returned to the system.
    pub(crate) bursts: BurstWatch,
    draining: watch::Sender<bool>,
    /// Whether a caller was permitted to stop the daemon.
    pub(crate) stop_requested: AtomicBool,
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
            notifications: Notifications::new(&home, env),
            generations: Generations::read(&home, env)?,
            programs: ProgramRegistry::default(),
            usage: Arc::new(UsageReader::new(&home, env)),
            unsaved_usage: UnsavedUsage::default(),
            session_owners: SessionOwners::default(),
            hosted: HostedSessions::new(env),
            uid,
            user: tenterhook_home::env::current_user(),
            recorder: LedgerRecorder::new(ledger.clone()),
            readers: LedgerReaders::new(home.ledger()),
            opened_sealed: SoftwareKey::is_sealed(&LedgerHandle::of(&home).key_file()),
            hook_watch: HookWatch::default(),
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
            change_lock: Arc::default(),
            stream_slots: Arc::new(Semaphore::new(MAX_STREAMS)),
            bursts: BurstWatch::default(),
            draining: watch::Sender::new(false),
            stop_requested: AtomicBool::new(false),
        })
    }

    /// Stops accepting new calls. Running calls are completed, and streams end.
    pub(crate) fn drain(&self) {
        self.draining.send_replace(true);
    }

    pub(crate) fn count_calls(&self) -> usize {
        self.quotas.calls_under_way()
    }

    pub(crate) fn count_streams(&self) -> usize {
        MAX_STREAMS.saturating_sub(self.stream_slots.available_permits())
    }

    /// Returns the number of decisions in the spool, and the number of spool files that cannot be read.
    pub(crate) fn spool_counts(&self) -> SpoolCounts {
        let (waiting, refused) = self.book.spool_counts();
        SpoolCounts { waiting, refused }
    }

    pub(crate) fn is_draining(&self) -> bool {
        *self.draining.borrow()
    }

    /// Returns once no new calls are accepted.
    pub(crate) async fn wait_drained(&self) {
        // The sender is a field of `self`, so it cannot have been dropped.
        let _ = self.draining.subscribe().wait_for(|draining| *draining).await;
    }

    /// Whether an account owns the state directory, or is root.
    pub(crate) fn is_own_account(&self, uid: u32) -> bool {
        uid == self.uid || uid == 0
    }

    /// Returns the caller's account, if it is not the daemon's.
    pub(crate) fn other_account(&self, peer: Peer) -> Option<u32> {
        peer.uid().filter(|uid| *uid != self.uid)
    }

    pub(crate) fn account_name(&self, uid: u32) -> String {
        if uid == self.uid { self.user.clone() } else { tenterhook_home::env::account_name(uid) }
    }

    /// Returns the name of the caller's account; callers with a token use the daemon's.
    pub(crate) fn user_name(&self, peer: Peer) -> String {
        self.account_name(peer.uid().unwrap_or(self.uid))
    }

    /// Returns the content of the status line of a caller, with the level of the sandbox that it runs in.
    pub(crate) fn status_line(&self, peer: Peer) -> String {
        let state = self.status();
        let Peer::Local { pid: Some(pid), .. } = peer else { return state };
        match self.authority.agents.runs.find_by_pid(pid) {
            Some(run) => format!("{state} sandbox={}", run.level),
            None => state,
        }
    }

    fn status(&self) -> String {
        let base = self.generations.base();
        match (self.approvals.count(), base.mode) {
            _ if !base.stale.is_empty() => "stale".to_owned(),
            _ if !self.hook_watch.list_lost().is_empty() => "hooks were removed".to_owned(),
            (0, Mode::Enforce) => "ok".to_owned(),
            (0, Mode::Monitor) => "monitor".to_owned(),
            (waiting, _) => format!("pending {waiting}"),
        }
    }
}
