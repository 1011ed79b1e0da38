// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs the daemon: binds its listeners, serves calls, and drains them at shutdown.

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tenterhook_api::{GenerationChange, LiveEvent, LiveWarning};
use tenterhook_error::Failure;
use tenterhook_file_watch::FileWatch;
use tenterhook_guard::{LedgerHandle, StateFormat, snapshot};
use tenterhook_home::{
    Env, Home, ModeSetting, Sources, WorkDirs, call_meta, daemon_port, make_private_dir, write_atomic,
};
use tenterhook_ledger::{BusyCallers, Durability, OpenError};
use tenterhook_setup::hook_programs::HookPrograms;
use tenterhook_telemetry::exporter::{Exporter, OtlpCollector};
use tenterhook_telemetry::metrics::Metrics;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::api;
use crate::api::file_problems;
use crate::daemon::Daemon;
use crate::fleet_watch::FleetWatch;
use crate::generations::Refreshed;
use crate::memory::{MemoryRelease, ReleaseCount};
use crate::observers::Observers;
use crate::signals::Signals;
use crate::{
    agent, backfill, checkpoint_sinks, grpc, hook_watch, listen, memory, mode_change, retention_task,
    runtime_dir, session_usage, undelivered,
};

/// Interval between attempts to read unreadable files and to import spooled decisions.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);
/// Pause after a reload, so that a constantly changing file does not keep the daemon busy.
const RELOAD_PAUSE: Duration = Duration::from_millis(200);
/// Maximum time for running calls to complete at shutdown.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(2500);
/// Maximum time for the last replies to be written at shutdown; idle connections are closed.
const LAST_REPLY_TIMEOUT: Duration = Duration::from_millis(500);
/// Maximum time for the last telemetry to be sent.
const TELEMETRY_FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum time to wait at start for another process that has locked the ledger.
const LEDGER_LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time that a decision waits for others to share its commit, while threads of the runtime are busy.
const GATHER_LIMIT: Duration = Duration::from_millis(2);

/// Settings for starting a daemon.
#[derive(Debug, Clone)]
pub struct DaemonOptions {
    /// TCP address to listen on, if any.
    pub listen: Option<SocketAddr>,
    /// When a decision counts as recorded; overrides the ledger's settings.
    pub durability: Option<Durability>,
    /// OpenTelemetry collector to report to.
    pub otlp: Option<OtlpCollector>,
    /// Programs that harnesses start; the dashboard installs them as hooks.
    pub hook_programs: HookPrograms,
    /// How memory is returned to the system after a burst of calls.
    pub memory_release: MemoryRelease,
}

/// A running daemon that serves calls.
#[derive(Debug, Clone)]
pub struct StartedDaemon {
    /// TCP address that the daemon listens on, with the actual port.
    pub listen: Option<SocketAddr>,
    /// Repairs that were made when the ledger was opened.
    pub recovered: Vec<String>,
}

/// Serves a state directory until a signal stops the daemon. `ready` is called as soon as calls are answered.
pub fn serve(
    home: &Home,
    env: &Env,
    options: &DaemonOptions,
    ready: impl FnOnce(&StartedDaemon),
) -> Result<(), Failure> {
    let (releases, release) = (Arc::new(ReleaseCount::default()), options.memory_release);
    let counted = Arc::clone(&releases);
    let workers = std::thread::available_parallelism().map_or(1, NonZero::get);
    let callers = Arc::new(BusyCallers::new(workers));
    let (parked, unparked) = (Arc::clone(&callers), Arc::clone(&callers));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers)
        .enable_all()
        .on_thread_park(move || {
            parked.end_work();
            counted.release_if_due(release);
        })
        .on_thread_unpark(move || unparked.begin_work())
        .build()?;
    let served = runtime.block_on(run(home, env, options, (&releases, callers), ready));
    // The runtime does not wait for threads that are blocked on a disk, because all decisions are already in
    // the ledger.
    runtime.shutdown_timeout(Duration::from_millis(100));
    served
}

async fn run(
    home: &Home,
    env: &Env,
    options: &DaemonOptions,
    (releases, callers): (&Arc<ReleaseCount>, Arc<BusyCallers>),
    ready: impl FnOnce(&StartedDaemon),
) -> Result<(), Failure> {
    // From now on signals are handled instead of killing the process.
    let mut signals = Signals::listen()?;
    home.create()?;
    make_private_dir(&home.run())?;
    runtime_dir::check_directories(home)?;
    runtime_dir::restrict_log(home);
    runtime_dir::raise_limits();
    // The socket is bound before any other work, so that only one of two daemons gets it.
    let socket = listen::bind_socket(home)?;
    let tcp = bind_tcp(options.listen).await?;
    let listen_address = tcp.as_ref().map(TcpListener::local_addr).transpose()?;
    // The port is stored before the rules are read, because rules guard this port.
    daemon_port::store_port(home, listen_address.map(|address| address.port()))?;
    let book = LedgerHandle::of(home);
    let opened = open_ledger(home, &book, options, &callers).await?;
    backfill::warn_about_spool(book.import_spool_into(&opened.ledger));
    let token = runtime_dir::read_or_create_token(&home.token())?;
    let observers = build_observers(home, env, options)?;
    observers.sessions.begin_rebuild();
    let daemon =
        Arc::new(Daemon::new(home.clone(), env, opened.ledger, token, observers, options.hook_programs)?);
    daemon.programs.notes.start(&daemon);
    daemon.watch_known_runs();

    let (end, ends) = watch::channel(false);
    let router = api::router(Arc::clone(&daemon)).merge(grpc::router(&daemon));
    let mut started = StartedDaemon { listen: None, recovered: opened.recovered };
    let mut listeners = Vec::new();
    if let (Some(tcp), Some(address)) = (tcp, listen_address) {
        started.listen = Some(address);
        let _ = daemon.listen.set(address);
        let access = listen::TcpAccess::new(address, &daemon);
        listeners.push(tokio::spawn(listen::serve_tcp(tcp, access, router.clone(), ends.clone())));
    }
    let threads = listen::HookThreads::start(socket, Arc::clone(&daemon), router, ends)?;
    write_atomic(&home.daemon(), &daemon_file(&started)?, 0o600)?;
    tracing::info!(listen = ?started.listen, socket = %home.socket().display(), "ready");
    ready(&started);
    let tasks = [
        tokio::spawn(backfill::load_sessions(Arc::clone(&daemon))),
        tokio::spawn(backfill::reload_stale_sessions(Arc::clone(&daemon))),
        tokio::spawn(hook_watch::watch(Arc::clone(&daemon))),
        tokio::spawn(agent::watch_idle(Arc::clone(&daemon))),
        tokio::spawn(undelivered::watch(Arc::clone(&daemon))),
        tokio::spawn(session_usage::watch(Arc::clone(&daemon))),
        tokio::spawn(retention_task::watch(Arc::clone(&daemon))),
        tokio::spawn(checkpoint_sinks::watch(Arc::clone(&daemon))),
        tokio::spawn(memory::watch(Arc::clone(&daemon), options.memory_release, Arc::clone(releases))),
    ];
    let mut fleet = FleetWatch::start(&daemon);
    write_snapshot(home, env).await;
    // An unreadable mode is already reported as a problem.
    mode_change::watch_time_limit(&daemon, ModeSetting::read_stored(home).unwrap_or_default());

    run_until_signal(&daemon, &book, env, &mut signals, &mut fleet).await;
    tasks.iter().for_each(tokio::task::JoinHandle::abort);

    tracing::info!("shutting down: completing running calls");
    let connector = tokio::task::spawn_blocking(move || fleet.end());
    agent::end_all(&daemon).await;
    daemon.record_signal_stop().await;
    daemon.drain();
    let _ = end.send(true);
    for listener in listeners {
        let _ = listener.await;
    }
    let drained = Instant::now();
    threads.end(DRAIN_TIMEOUT).await;
    while daemon.count_calls() > 0 && drained.elapsed() < DRAIN_TIMEOUT {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    daemon.programs.notes.wait_until_written().await;
    // Every connection keeps a receiver until its last reply is written.
    let _ = tokio::time::timeout(LAST_REPLY_TIMEOUT, end.closed()).await;
    session_usage::save(&daemon).await;
    for path in [home.socket(), home.daemon()] {
        match fs_err::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(%error, "a file of the daemon could not be removed");
            }
            _ => {}
        }
    }
    // A connector that does not end by itself was killed by now.
    let _ = connector.await;
    let ledger = daemon.ledger.clone();
    tokio::task::spawn_blocking(move || ledger.close())
        .await
        .map_err(|error| Failure::internal(error.to_string()))?
        .map_err(|error| Failure::internal(format!("the ledger could not be closed: {error}")))?;
    if daemon.observers.telemetry.is_some() {
        let daemon = Arc::clone(&daemon);
        let flushed =
            tokio::task::spawn_blocking(move || daemon.observers.telemetry.as_ref().map(Exporter::close));
        // Shutdown does not wait for telemetry that cannot be delivered.
        let _ = tokio::time::timeout(TELEMETRY_FLUSH_TIMEOUT, flushed).await;
    }
    tracing::info!("stopped");
    Ok(())
}

/// Binds the TCP port, if there is one. Connections wait until the daemon accepts them.
async fn bind_tcp(address: Option<SocketAddr>) -> Result<Option<TcpListener>, Failure> {
    let Some(address) = address else { return Ok(None) };
    let bound = TcpListener::bind(address).await.map_err(|error| {
        Failure::internal(format!("cannot listen on {address}: {error}"))
            .hint("choose another address with `--listen ADDRESS:PORT`, or use `--listen none`")
    })?;
    Ok(Some(bound))
}

/// Watches files and the spool until a signal stops the daemon.
async fn run_until_signal(
    daemon: &Arc<Daemon>,
    book: &LedgerHandle,
    env: &Env,
    signals: &mut Signals,
    fleet: &mut FleetWatch,
) {
    let mut files = FileWatch::default();
    let mut read_anyway = false;
    loop {
        let watched = daemon.generations.files();
        files = watch_files(daemon, files, watched.clone()).await;
        let is_asked_for = std::mem::take(&mut read_anyway);
        // A file that could not be read is read again even if it has not changed, because the cause may be gone.
        let refreshed = refresh(daemon, is_asked_for || daemon.generations.is_stale()).await;
        fleet.follow_changes(daemon).await;
        let is_new = refreshed == Some(Refreshed::New);
        if is_new || is_asked_for {
            daemon.notifications.reload(&daemon.home);
            write_snapshot(&daemon.home, env).await;
        }
        if is_new || daemon.generations.files() != watched {
            tokio::time::sleep(RELOAD_PAUSE).await;
            continue;
        }
        if book.spool_counts().0 > 0 {
            backfill::import_spooled(daemon, book).await;
        }
        let is_retried = refreshed.is_none() || daemon.generations.is_stale() || book.spool_counts().0 > 0;
        let limit = if is_retried { RETRY_INTERVAL } else { Duration::MAX };
        tokio::select! {
            changed = signals.state.changed() => {
                if changed.is_err() || signals.state.borrow_and_update().end {
                    return;
                }
                read_anyway = true;
            }
            _ = files.wait_for_change(limit) => {}
        }
    }
}

/// Watches these files and the spool from now on, instead of the files that were watched before.
async fn watch_files(daemon: &Arc<Daemon>, mut files: FileWatch, mut paths: Vec<PathBuf>) -> FileWatch {
    paths.push(daemon.home.spool());
    let watching = tokio::task::spawn_blocking(move || {
        files.set(&paths);
        files
    });
    watching.await.unwrap_or_default()
}

fn build_observers(home: &Home, env: &Env, options: &DaemonOptions) -> Result<Observers, Failure> {
    let metrics = Arc::new(Metrics::default());
    let telemetry = match &options.otlp {
        Some(otlp) => Some(Exporter::start(otlp.clone(), Arc::clone(&metrics), call_meta::now)?),
        None => None,
    };
    let user_home = env.home.as_deref().and_then(Path::to_str).map(ToOwned::to_owned);
    Ok(Observers::new(user_home, Sources::load_prices(home), metrics, telemetry))
}

/// Checks the files for changes and reports the result; returns `None` if the files could not be read.
async fn refresh(daemon: &Arc<Daemon>, force: bool) -> Option<Refreshed> {
    let reader = Arc::clone(daemon);
    let refreshed = tokio::task::spawn_blocking(move || {
        let refreshed = reader.generations.refresh(force);
        (reader.generations.base(), refreshed)
    });
    match refreshed.await {
        Ok((_, Ok(Refreshed::Same))) => return Some(Refreshed::Same),
        Ok((base, Ok(Refreshed::New))) => {
            let name = base.generation.name();
            daemon.observers.live.publish(|| {
                LiveEvent::Generation(GenerationChange {
                    generation: name.to_owned(),
                    problems: file_problems(&base.problems),
                    stale: file_problems(&base.stale),
                })
            });
            tracing::info!(generation = name, problems = base.problems.len(), "a new generation is in force");
            return Some(Refreshed::New);
        }
        Ok((base, Ok(Refreshed::Stale))) => {
            daemon.observers.live.publish(|| {
                let (what, stale) = ("a file cannot be read".to_owned(), Some(file_problems(&base.stale)));
                LiveEvent::Warning(LiveWarning { what, stale, ..LiveWarning::default() })
            });
            for problem in &base.stale {
                tracing::error!(%problem, "a file cannot be read; its previous content is still in force");
            }
            return Some(Refreshed::Stale);
        }
        Ok((_, Err(error))) => tracing::error!(error = error.message, "the files could not be reloaded"),
        Err(error) => tracing::error!(%error, "the files could not be reloaded"),
    }
    None
}

/// Writes the snapshot that hooks use while no daemon is running.
async fn write_snapshot(home: &Home, env: &Env) {
    let (home, env) = (home.clone(), env.clone());
    let written = tokio::task::spawn_blocking(move || snapshot::write(&home, &env, &WorkDirs::default()));
    match written.await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => {
            tracing::warn!(error = error.message, "the snapshot for hooks could not be written");
        }
        Err(error) => tracing::warn!(%error, "the snapshot for hooks could not be written"),
    }
}

/// Opens the ledger. If a hook without a daemon has the ledger locked to write a record, waits briefly.
async fn open_ledger(
    home: &Home,
    book: &LedgerHandle,
    options: &DaemonOptions,
    callers: &Arc<BusyCallers>,
) -> Result<tenterhook_ledger::OpenedLedger, Failure> {
    let began = Instant::now();
    loop {
        let mut ledger_options = book.options()?;
        ledger_options.durability = options.durability.unwrap_or(ledger_options.durability);
        (ledger_options.callers, ledger_options.batch.gather) = (Some(Arc::clone(callers)), GATHER_LIMIT);
        match StateFormat::open_ledger(&home.state, &home.ledger(), ledger_options) {
            Ok(opened) => {
                for what in &opened.recovered {
                    tracing::warn!(what, "the ledger was recovered");
                }
                return Ok(opened);
            }
            Err(OpenError::Locked { .. }) if began.elapsed() < LEDGER_LOCK_TIMEOUT => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Err(error) => {
                return Err(Failure::internal(format!("cannot open the ledger: {error}"))
                    .hint("run `tenterhook ledger verify` to check it"));
            }
        }
    }
}

/// Returns the content of the file that describes the running daemon, for `status` and for users.
fn daemon_file(started: &StartedDaemon) -> Result<Vec<u8>, Failure> {
    let file = json!({
        "v": 1,
        "pid": std::process::id(),
        "version": env!("CARGO_PKG_VERSION"),
        "listen": started.listen,
        "started": call_meta::now(),
    });
    serde_json::to_vec_pretty(&file).map_err(|error| Failure::internal(error.to_string()))
}
