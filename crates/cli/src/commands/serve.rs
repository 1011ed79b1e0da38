// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::json;
use tenterhook_daemon::{Options, OtlpCollector};
use tenterhook_daemon_control::port_holder;
use tenterhook_guard::{Settled, Telemetry};
use tenterhook_harness::{HARNESSES, Harness};
use tenterhook_harness_install::HarnessClient as _;
use tenterhook_home::Env;
use tenterhook_ledger::Durability;
use tenterhook_records::sanitize;
use tenterhook_setup::wiring;

use crate::allocator::MEMORY_RELEASE;
use crate::context::Context;
use crate::error::CommandError;
use crate::setup::HOOK_PROGRAMS;

/// Where the daemon listens unless somebody says otherwise.
pub(crate) const DEFAULT_LISTEN_ADDRESS: &str = "127.0.0.1:7878";

const EXAMPLES: &str = "\
Examples:
  tenterhook serve                          in the foreground, on the socket and 127.0.0.1:7878, or on a free
                                            port if that one is taken
  tenterhook serve --listen none            only on the socket
  tenterhook serve --listen 127.0.0.1:0     on a free port; `tenterhook status` shows it
  tenterhook start                          in the background";

/// Run the daemon in the foreground
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(super) how: DaemonArgs,
    /// Format of the log on standard error
    #[arg(long, value_name = "FORM", default_value = "text")]
    log: LogFormat,
}

/// How a daemon is run.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct DaemonArgs {
    /// TCP address to listen on, or `none` [default: `TENTERHOOK_LISTEN`, else `daemon.listen` in
    /// tenterhook.yaml, else 127.0.0.1:7878]
    #[arg(long, value_name = "ADDRESS")]
    pub(super) listen: Option<String>,
    /// Reply as soon as a decision would survive `kill -9`; it is on disk within 25 ms
    #[arg(long)]
    pub(super) relaxed: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

impl DaemonArgs {
    /// As arguments of another process.
    pub(super) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.listen.iter().map(|address| format!("--listen={address}")));
        words.extend(self.relaxed.then(|| "--relaxed".to_owned()));
        words
    }

    fn options(&self, context: &Context) -> Result<Options, CommandError> {
        // What cannot be used there is in `check` and `status`; the usual stands in its place.
        let (settled, _) = Settled::of(context.home()?);
        let said = self.listen.as_deref().or(context.env.tenterhook_listen.as_deref());
        let said = said.or(settled.daemon.listen.as_deref());
        let listen = match said {
            Some("none") => None,
            Some(said) => Some(require_free_port(parse_address(said)?)?),
            None => Some(default_or_free_port(context)?),
        };
        let durability = self.relaxed.then_some(Durability::Relaxed).or(settled.daemon.durability);
        let otlp = otlp_settings(&context.env, settled.telemetry);
        let hook_programs = HOOK_PROGRAMS;
        Ok(Options { listen, durability, otlp, hook_programs, memory_release: MEMORY_RELEASE })
    }
}

/// Where telemetry goes: the variables of OpenTelemetry come before the settings.
fn otlp_settings(env: &Env, settled: Telemetry) -> Option<OtlpCollector> {
    let said = |name: &str| env.all.get(name).map(String::as_str).filter(|value| !value.is_empty());
    let url = said("OTEL_EXPORTER_OTLP_ENDPOINT").or(settled.otlp.as_deref())?;
    let mut otlp = OtlpCollector::new(url);
    otlp.headers = settled.headers;
    let pairs = said("OTEL_EXPORTER_OTLP_HEADERS").into_iter().flat_map(|list| list.split(','));
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    otlp.headers.extend(pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())));
    let ms = |name: &str| said(name)?.parse().ok().map(Duration::from_millis);
    otlp.spans_every = ms("OTEL_BSP_SCHEDULE_DELAY").unwrap_or(otlp.spans_every);
    otlp.metrics_every = ms("OTEL_METRIC_EXPORT_INTERVAL").unwrap_or(otlp.metrics_every);
    Some(otlp)
}

/// An address that was asked for: if its port is taken, the process that holds it is named.
fn require_free_port(address: SocketAddr) -> Result<SocketAddr, CommandError> {
    if !is_port_taken(address) {
        return Ok(address);
    }
    Err(CommandError::internal(port_taken_text(address))
        .hint("end that process, or choose another port: `--listen 127.0.0.1:0` takes a free one"))
}

/// The usual address, or a free port of the same address if it is taken. A harness that was installed with
/// `--transport http` asks at the usual port only, so there the port is not changed.
fn default_or_free_port(context: &Context) -> Result<SocketAddr, CommandError> {
    let mut usual = parse_address(DEFAULT_LISTEN_ADDRESS)?;
    if !is_port_taken(usual) {
        return Ok(usual);
    }
    let home = context.home()?;
    let asks_here = |harness: &&Harness| {
        let installer = harness.installer();
        installer.is_some_and(|installer| wiring::asked(home, installer).iter().any(|asked| asked.http))
    };
    if let Some(harness) = HARNESSES.iter().find(asks_here) {
        return Err(CommandError::internal(port_taken_text(usual)).hint(format!(
            "{} was installed with `--transport http` and asks at this port: end that process, or run \
             `tenterhook install {}` to use the hook program instead",
            harness.title, harness.id
        )));
    }
    usual.set_port(0);
    Ok(usual)
}

fn is_port_taken(address: SocketAddr) -> bool {
    let bound = std::net::TcpListener::bind(address);
    address.port() != 0 && bound.is_err_and(|error| error.kind() == std::io::ErrorKind::AddrInUse)
}

/// That a port is taken, and by whom.
pub(super) fn port_taken_text(address: SocketAddr) -> String {
    let by = port_holder::describe(address.port()).unwrap_or_else(|| "another process".to_owned());
    format!("port {} is taken by {by}", address.port())
}

/// Only this machine may come in: whoever holds the token may do a great deal.
fn parse_address(text: &str) -> Result<SocketAddr, CommandError> {
    let unusable = |why: &str| {
        CommandError::user(format!("`{text}` is no address to listen on: {why}"))
            .hint("for example `--listen 127.0.0.1:7878`, or `--listen none`")
    };
    let address: SocketAddr =
        text.replace("localhost", "127.0.0.1").parse().map_err(|_| unusable("expected ADDRESS:PORT"))?;
    if address.ip().is_loopback() { Ok(address) } else { Err(unusable("only loopback addresses are served")) }
}

/// The log: each event is one write, and known secrets are replaced in it.
struct RedactedLog;

impl Write for RedactedLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        std::io::stderr().write_all(sanitize(&text, usize::MAX).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let options = args.how.options(context)?;
    let builder = tracing_subscriber::fmt().with_writer(|| RedactedLog).with_target(false);
    match args.log {
        LogFormat::Text => builder.with_ansi(false).init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
    tenterhook_daemon::serve(home, &context.env, &options, |running| {
        let said = if context.terminal.json {
            context.terminal.print_json(&json!({"listen": running.listen, "socket": home.socket()}))
        } else {
            let tcp = running.listen.map(|address| format!(" and on http://{address}")).unwrap_or_default();
            context.terminal.say(&format!("ready on {}{tcp}\n", home.socket().display()))
        };
        // Nobody may be listening on standard output; calls are answered all the same.
        drop(said);
    })?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_served() {
        assert_eq!(parse_address("localhost:0").unwrap(), "127.0.0.1:0".parse().unwrap());
        assert!(parse_address("[::1]:7878").is_ok());
        for bad in ["0.0.0.0:7878", "192.0.2.1:80", "7878", "here:1", ""] {
            assert!(parse_address(bad).is_err(), "{bad}");
        }
    }
}
