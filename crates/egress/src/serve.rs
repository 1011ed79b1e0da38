// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Serves the proxy of one run.

use std::time::Duration;

use tenterhook_api::RunRegistration;
use tenterhook_error::ErrorKind;
use tenterhook_event::HookCall;
use tenterhook_home::{Env, Home};
use tenterhook_proxy::{Proxy, ProxyLimits, UpstreamProxies, UpstreamProxyError};
use tokio::sync::mpsc;

use crate::connection_event;
use crate::pipeline_judge::PipelineJudge;
use crate::registration::register_run;

/// Default time that a connection waits for a user's approval.
const ASK_WAIT: Duration = Duration::from_mins(1);
/// Maximum number of ended connections that wait to be recorded. Further ends are not recorded.
const MAX_QUEUED_ENDS: usize = 1024;
/// Interval between registrations. A daemon that starts during the run learns of it within this time, unless it read the
/// run's mark at its start.
const REGISTRATION_INTERVAL: Duration = Duration::from_secs(5);

/// A run whose connections are served.
pub struct RunContext {
    /// The state directory.
    pub home: Home,
    /// Environment, for decisions without a daemon.
    pub env: Env,
    /// The run whose connections are served.
    pub run: RunRegistration,
    /// Limits of the proxy.
    pub limits: ProxyLimits,
    /// Maximum time that a connection waits for a user's approval.
    pub ask_wait: Duration,
    /// The proxies through which connections are made.
    pub upstream: UpstreamProxies,
}

// === impl RunContext ===

impl RunContext {
    /// A run with the default limits, without upstream proxies.
    pub fn new(home: Home, env: Env, run: RunRegistration) -> Self {
        let (limits, upstream) = (ProxyLimits::default(), UpstreamProxies::default());
        Self { home, env, run, limits, ask_wait: ASK_WAIT, upstream }
    }

    /// Makes connections through the proxies that the environment names. If it names one that is not supported, connections
    /// are made without a proxy.
    pub fn use_upstream_proxies(&mut self) -> Result<(), UpstreamProxyError> {
        let variable = |name: &str| self.env.all.get(name).map(String::as_str);
        self.upstream = UpstreamProxies::from_variables(variable)?;
        Ok(())
    }
}

/// Serves the proxy of a run on a listener, until the future is dropped. The listener may be in another network
/// namespace; connections to targets are made from this process's own.
///
/// Works on every tokio runtime with I/O and time enabled. Blocking work runs on its blocking threads.
pub async fn serve_for_run(listener: std::net::TcpListener, context: RunContext) -> std::io::Result<()> {
    let RunContext { home, env, run, limits, ask_wait, upstream } = context;
    let judge = PipelineJudge::new(home.clone(), env, run.clone(), ask_wait);
    let (ends, queued) = mpsc::channel(MAX_QUEUED_ENDS);
    let observed = run.clone();
    let proxy = Proxy::new(judge.clone()).with_limits(limits).with_upstream(upstream);
    let proxy = proxy.with_observer(move |event| {
        if let Some(Ok(call)) = connection_event::ending(&observed, &event) {
            // A full queue loses the end of a connection, never its beginning.
            let _ = ends.try_send(call);
        }
    });
    tokio::select! {
        served = proxy.serve(listener) => served,
        () = record_ends(judge, queued) => Ok(()),
        () = keep_registered(home, run) => Ok(()),
    }
}

/// Records what became of connections.
async fn record_ends(judge: PipelineJudge, mut queued: mpsc::Receiver<HookCall>) {
    while let Some(call) = queued.recv().await {
        // The connection has ended. Its beginning is recorded, and no caller waits for this result.
        let _ = judge.evaluate(call, Duration::ZERO).await;
    }
    // The proxy ends before the queue does.
    std::future::pending::<()>().await;
}

/// Registers the run again from time to time, for a daemon that was started meanwhile.
async fn keep_registered(home: Home, run: RunRegistration) {
    loop {
        let (home, again) = (home.clone(), run.clone());
        let registered = tokio::task::spawn_blocking(move || register_run(&home, &again)).await;
        // A guarded agent cannot register a run, now or later.
        if let Ok(Err(failure)) = &registered
            && failure.kind == ErrorKind::Denied
        {
            return std::future::pending().await;
        }
        tokio::time::sleep(REGISTRATION_INTERVAL).await;
    }
}
