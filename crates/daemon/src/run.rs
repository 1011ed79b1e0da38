// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The life of the daemon: it takes its places, answers, and drains when it is told to end.

use std::net::SocketAddr;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tenterhook_api::{GenerationChange, LiveEvent, LiveWarning};
use tenterhook_error::Failure;
use tenterhook_guard::{Book, StateFormat, snapshot};
use tenterhook_home::{Env, Home, Place, Sources, call_meta, daemon_port, make_private, write_whole};
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
use crate::ending::Signals;
use crate::file_watch::FileWatch;
use crate::generations::Refreshed;
use crate::memory::{MemoryRelease, ReleaseCount};
use crate::observe::Observers;
use crate::{
    agent, catch_up, checkpoint_sinks, grpc, listen, memory, places, retention, session_usage, undelivered,
    wiring,
};

/// How soon files that could not be read, and decisions in the spool that could not be imported, are tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);
/// How long after a reload files are looked at again: one that changes all the time must not keep the daemon busy.
const RELOAD_PAUSE: Duration = Duration::from_millis(200);
/// How long calls that are under way may take when the daemon is told to end.
const DRAIN: Duration = Duration::from_millis(2500);
/// How long their answers may take to be written; whoever only holds a connection is cut off.
const FAREWELL: Duration = Duration::from_millis(500);
/// How long the last telemetry may take.
const FLUSH: Duration = Duration::from_secs(1);
/// How long somebody else may hold the ledger when the daemon begins.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long decisions wait for others that share their commit, while threads of the runtime are at work.
const GATHER_LIMIT: Duration = Duration::from_millis(2);

/// How a daemon is run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen over TCP, if at all.
    pub listen: Option<SocketAddr>,
    /// When a decision counts as recorded, if it is not as the ledger's settings say.
    pub durability: Option<Durability>,
    /// Who is told what happens, if anybody.
    pub otlp: Option<OtlpCollector>,
    /// The programs that harnesses spawn: the dashboard can install hooks.
    pub hook_programs: HookPrograms,
    /// How memory is returned to the system after a burst of calls.
    pub memory_release: MemoryRelease,
}

/// A daemon that answers.
#[derive(Debug, Clone)]
pub struct Running {
    /// Where it listens over TCP, with the port it got.
    pub listen: Option<SocketAddr>,
    /// What had to be done to open the ledger.
    pub recovered: Vec<String>,
}

/// Serves a home until a signal says to end. `ready` is called once calls are answered.
pub fn serve(home: &Home, env: &Env, options: &Options, ready: impl FnOnce(&Running)) -> Result<(), Failure> {
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
    // Work that still waits for a disk is not waited for: what counts is in the ledger.
    runtime.shutdown_timeout(Duration::from_millis(100));
    served
}

async fn run(
    home: &Home,
    env: &Env,
    options: &Options,
    (releases, callers): (&Arc<ReleaseCount>, Arc<BusyCallers>),
    ready: impl FnOnce(&Running),
) -> Result<(), Failure> {
    // From now on a signal is heard, not died of.
    let mut signals = Signals::listen()?;
    home.make()?;
    make_private(&home.run())?;
    places::check(home)?;
    places::close_log(home);
    places::raise_limits();
    // First of all: of two daemons only one gets the socket.
    let socket = listen::bind(home)?;
    let tcp = bind_tcp(options.listen).await?;
    let listen_address = tcp.as_ref().map(TcpListener::local_addr).transpose()?;
    // Before the rules are read: they guard this port.
    daemon_port::record(home, listen_address.map(|address| address.port()))?;
    let book = Book::of(home);
    let opened = open(home, &book, options, &callers).await?;
    catch_up::warn_of_refused(book.take_in(&opened.ledger));
    let token = places::token(&home.token())?;
    let observers = observers(home, env, options)?;
    observers.sessions.begin_rebuild();
    let daemon =
        Arc::new(Daemon::new(home.clone(), env, opened.ledger, token, observers, options.hook_programs)?);
    daemon.programs.notes.start(&daemon);

    let (end, ends) = watch::channel(false);
    let router = api::router(Arc::clone(&daemon)).merge(grpc::router(&daemon));
    let mut running = Running { listen: None, recovered: opened.recovered };
    let mut listeners = Vec::new();
    if let (Some(tcp), Some(address)) = (tcp, listen_address) {
        running.listen = Some(address);
        let _ = daemon.listen.set(address);
        let door = listen::Door::new(address, &daemon);
        listeners.push(tokio::spawn(listen::tcp(tcp, door, router.clone(), ends.clone())));
    }
    let threads = listen::Threads::start(socket, Arc::clone(&daemon), router, ends)?;
    write_whole(&home.daemon(), &card(&running)?, 0o600)?;
    tracing::info!(listen = ?running.listen, socket = %home.socket().display(), "ready");
    ready(&running);
    let remembering = tokio::spawn(catch_up::remember(Arc::clone(&daemon)));
    let warming = tokio::spawn(catch_up::warm(Arc::clone(&daemon)));
    let wiring = tokio::spawn(wiring::watch(Arc::clone(&daemon)));
    let idling = tokio::spawn(agent::watch_idle(Arc::clone(&daemon)));
    let undelivered = tokio::spawn(undelivered::watch(Arc::clone(&daemon)));
    let usage = tokio::spawn(session_usage::watch(Arc::clone(&daemon)));
    let retention = tokio::spawn(retention::watch(Arc::clone(&daemon)));
    let sinks = tokio::spawn(checkpoint_sinks::watch(Arc::clone(&daemon)));
    let memory =
        tokio::spawn(memory::watch(Arc::clone(&daemon), options.memory_release, Arc::clone(releases)));
    write_snapshot(home, env).await;

    watch_over(&daemon, &book, env, &mut signals).await;
    remembering.abort();
    warming.abort();
    wiring.abort();
    idling.abort();
    undelivered.abort();
    memory.abort();
    usage.abort();
    retention.abort();
    sinks.abort();

    tracing::info!("ending: calls under way are finished");
    agent::end_all(&daemon).await;
    daemon.ends().await;
    daemon.drain();
    let _ = end.send(true);
    for listener in listeners {
        let _ = listener.await;
    }
    let drained = Instant::now();
    threads.end(DRAIN).await;
    while daemon.under_way() > 0 && drained.elapsed() < DRAIN {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    daemon.programs.notes.wait_until_written().await;
    // Every connection holds one end of this, until its last answer is written.
    let _ = tokio::time::timeout(FAREWELL, end.closed()).await;
    session_usage::save(&daemon).await;
    for path in [home.socket(), home.daemon()] {
        match fs_err::remove_file(path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(%error, "a file of the daemon could not be removed");
            }
            _ => {}
        }
    }
    let ledger = daemon.ledger.clone();
    tokio::task::spawn_blocking(move || ledger.close())
        .await
        .map_err(|error| Failure::internal(error.to_string()))?
        .map_err(|error| Failure::internal(format!("the ledger could not be closed: {error}")))?;
    if daemon.observers.telemetry.is_some() {
        let daemon = Arc::clone(&daemon);
        let flushed =
            tokio::task::spawn_blocking(move || daemon.observers.telemetry.as_ref().map(Exporter::close));
        // Telemetry that does not arrive keeps nobody.
        let _ = tokio::time::timeout(FLUSH, flushed).await;
    }
    tracing::info!("ended");
    Ok(())
}

/// Takes the TCP port, if there is to be one. Connections wait until the daemon accepts them.
async fn bind_tcp(address: Option<SocketAddr>) -> Result<Option<TcpListener>, Failure> {
    let Some(address) = address else { return Ok(None) };
    let bound = TcpListener::bind(address).await.map_err(|error| {
        Failure::internal(format!("cannot listen on {address}: {error}"))
            .hint("choose another with `--listen ADDRESS:PORT`, or `--listen none`")
    })?;
    Ok(Some(bound))
}

/// Keeps an eye on files and on the spool, until a signal says to end.
async fn watch_over(daemon: &Arc<Daemon>, book: &Book, env: &Env, signals: &mut Signals) {
    let mut files = FileWatch::default();
    let mut read_anyway = false;
    loop {
        let watched = daemon.generations.files();
        files = watch_files(daemon, files, watched.clone()).await;
        let is_asked_for = std::mem::take(&mut read_anyway);
        // A file that could not be read is read again, even if it looks the same: the cause may be gone.
        let looked = refresh(daemon, is_asked_for || daemon.generations.is_stale()).await;
        let is_new = looked == Some(Refreshed::New);
        if is_new || is_asked_for {
            write_snapshot(&daemon.home, env).await;
        }
        if is_new || daemon.generations.files() != watched {
            tokio::time::sleep(RELOAD_PAUSE).await;
            continue;
        }
        if book.spooled().0 > 0 {
            catch_up::import_spooled(daemon, book).await;
        }
        let is_retried = looked.is_none() || daemon.generations.is_stale() || book.spooled().0 > 0;
        let limit = if is_retried { RETRY_INTERVAL } else { Duration::MAX };
        tokio::select! {
            changed = signals.said.changed() => {
                if changed.is_err() || signals.said.borrow_and_update().end {
                    return;
                }
                read_anyway = true;
            }
            _ = files.changed(limit) => {}
        }
    }
}

/// Has changes of the files and of the spool reported from now on.
async fn watch_files(daemon: &Arc<Daemon>, mut files: FileWatch, mut paths: Vec<PathBuf>) -> FileWatch {
    paths.push(daemon.home.spool());
    let watching = tokio::task::spawn_blocking(move || {
        files.set(&paths);
        files
    });
    watching.await.unwrap_or_default()
}

fn observers(home: &Home, env: &Env, options: &Options) -> Result<Observers, Failure> {
    let metrics = Arc::new(Metrics::default());
    let telemetry = match &options.otlp {
        Some(otlp) => Some(Exporter::start(otlp.clone(), Arc::clone(&metrics), call_meta::now)?),
        None => None,
    };
    let person = env.home.as_deref().and_then(Path::to_str).map(ToOwned::to_owned);
    Ok(Observers::new(person, Sources::prices_of(home), metrics, telemetry))
}

/// Looks at the files again, and says what came of it; nothing if they could not be read.
async fn refresh(daemon: &Arc<Daemon>, anyway: bool) -> Option<Refreshed> {
    let looking = Arc::clone(daemon);
    let refreshed = tokio::task::spawn_blocking(move || {
        let refreshed = looking.generations.refresh(anyway);
        (looking.generations.base(), refreshed)
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
            tracing::info!(
                generation = name,
                problems = base.problems.len(),
                "another generation is in force"
            );
            return Some(Refreshed::New);
        }
        Ok((base, Ok(Refreshed::Stale))) => {
            daemon.observers.live.publish(|| {
                let (what, stale) = ("a file cannot be read".to_owned(), Some(file_problems(&base.stale)));
                LiveEvent::Warning(LiveWarning { what, stale, ..LiveWarning::default() })
            });
            for problem in &base.stale {
                tracing::error!(%problem, "a file cannot be read; what it said before is still in force");
            }
            return Some(Refreshed::Stale);
        }
        Ok((_, Err(error))) => tracing::error!(error = error.message, "the files could not be read again"),
        Err(error) => tracing::error!(%error, "the files could not be read again"),
    }
    None
}

/// Keeps what is in force where hooks find it when nobody answers them.
async fn write_snapshot(home: &Home, env: &Env) {
    let (home, env) = (home.clone(), env.clone());
    let written = tokio::task::spawn_blocking(move || snapshot::write(&home, &env, &Place::default()));
    match written.await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::warn!(error = error.message, "no snapshot for hooks without a daemon"),
        Err(error) => tracing::warn!(%error, "no snapshot for hooks without a daemon"),
    }
}

/// Whoever writes a leaf without a daemon holds the ledger for a moment.
async fn open(
    home: &Home,
    book: &Book,
    options: &Options,
    callers: &Arc<BusyCallers>,
) -> Result<tenterhook_ledger::OpenedLedger, Failure> {
    let began = Instant::now();
    loop {
        let mut how = book.options()?;
        how.durability = options.durability.unwrap_or(how.durability);
        (how.callers, how.batch.gather) = (Some(Arc::clone(callers)), GATHER_LIMIT);
        match StateFormat::open_ledger(&home.state, &home.ledger(), how) {
            Ok(opened) => {
                for what in &opened.recovered {
                    tracing::warn!(what, "the ledger was recovered");
                }
                return Ok(opened);
            }
            Err(OpenError::Locked { .. }) if began.elapsed() < PATIENCE => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Err(error) => {
                return Err(Failure::internal(format!("the ledger cannot be opened: {error}"))
                    .hint("`tenterhook ledger verify` says what is wrong with it"));
            }
        }
    }
}

/// Who answers here, for `status` and for people.
fn card(running: &Running) -> Result<Vec<u8>, Failure> {
    let card = json!({
        "v": 1,
        "pid": std::process::id(),
        "version": env!("CARGO_PKG_VERSION"),
        "listen": running.listen,
        "started": call_meta::now(),
    });
    serde_json::to_vec_pretty(&card).map_err(|error| Failure::internal(error.to_string()))
}
