// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::io::Write;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::Duration;

use clap::ValueEnum;
use serde_json::json;
use tenterhook_daemon::{DaemonOptions, OtlpCollector};
use tenterhook_daemon_control::port_holder;
use tenterhook_guard::{ServiceSettings, TelemetrySettings};
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

/// Default TCP address of the daemon.
pub(crate) const DEFAULT_LISTEN_ADDRESS: &str = "127.0.0.1:7878";

const EXAMPLES: &str = "\
Listens on the socket and on 127.0.0.1:7878, or on a free port if that one is taken; `tenterhook status` shows \
the address.

Examples:
  tenterhook daemon serve                        on the socket and a TCP port
  tenterhook daemon serve --listen none          only on the socket
  tenterhook daemon serve --listen 127.0.0.1:0   on a free port
  tenterhook start                               in the background";

/// Run the daemon in the foreground
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(in crate::commands) daemon: DaemonArgs,
    /// Format of the log on standard error
    #[arg(long, value_name = "FORM", default_value = "text")]
    log: LogFormat,
}

/// Options of a daemon.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct DaemonArgs {
    /// TCP address to listen on, or `none` [default: `TENTERHOOK_LISTEN`, else `daemon.listen` in
    /// tenterhook.yaml, else 127.0.0.1:7878]
    #[arg(long, value_name = "ADDRESS")]
    pub(in crate::commands) listen: Option<String>,
    /// Reply as soon as a decision would survive `kill -9`; it is on disk within 25 ms
    #[arg(long)]
    pub(in crate::commands) relaxed: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

impl DaemonArgs {
    /// Converts the options to command-line arguments.
    pub(in crate::commands) fn to_arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        arguments.extend(self.listen.iter().map(|address| format!("--listen={address}")));
        arguments.extend(self.relaxed.then(|| "--relaxed".to_owned()));
        arguments
    }

    fn options(&self, context: &Context) -> Result<DaemonOptions, CommandError> {
        // `check` and `status` report invalid settings; here the defaults replace them.
        let (settled, _) = ServiceSettings::of(context.home()?);
        let configured = self.listen.as_deref().or(context.env.tenterhook_listen.as_deref());
        let configured = configured.or(settled.daemon.listen.as_deref());
        let listen = match configured {
            Some("none") => None,
            Some(address) => Some(require_free_port(parse_address(address)?)?),
            None => Some(default_or_free_port(context)?),
        };
        let durability = self.relaxed.then_some(Durability::Relaxed).or(settled.daemon.durability);
        let otlp = otlp_settings(&context.env, settled.telemetry);
        let hook_programs = HOOK_PROGRAMS;
        Ok(DaemonOptions { listen, durability, otlp, hook_programs, memory_release: MEMORY_RELEASE })
    }
}

/// Returns the settings of the telemetry exporter. OpenTelemetry variables take precedence over the settings file.
fn otlp_settings(env: &Env, settled: TelemetrySettings) -> Option<OtlpCollector> {
    let variable = |name: &str| env.all.get(name).map(String::as_str).filter(|value| !value.is_empty());
    let url = variable("OTEL_EXPORTER_OTLP_ENDPOINT").or(settled.otlp.as_deref())?;
    let mut otlp = OtlpCollector::new(url);
    otlp.headers = settled.headers;
    let pairs = variable("OTEL_EXPORTER_OTLP_HEADERS").into_iter().flat_map(|list| list.split(','));
    let pairs = pairs.filter_map(|pair| pair.split_once('='));
    otlp.headers.extend(pairs.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())));
    let ms = |name: &str| variable(name)?.parse().ok().map(Duration::from_millis);
    otlp.spans_every = ms("OTEL_BSP_SCHEDULE_DELAY").unwrap_or(otlp.spans_every);
    otlp.metrics_every = ms("OTEL_METRIC_EXPORT_INTERVAL").unwrap_or(otlp.metrics_every);
    Some(otlp)
}

/// Checks a configured address. If its port is in use, the error names the process.
fn require_free_port(address: SocketAddr) -> Result<SocketAddr, CommandError> {
    if !is_port_taken(address) {
        return Ok(address);
    }
    Err(CommandError::internal(port_taken_text(address))
        .hint("stop that process, or choose another port: `--listen 127.0.0.1:0` uses a free one"))
}

/// Returns the default address, or a free port on the same host if the default port is in use. Harnesses installed
/// with `--transport http` call only the default port; if there are any, the port is not changed.
fn default_or_free_port(context: &Context) -> Result<SocketAddr, CommandError> {
    let mut default = parse_address(DEFAULT_LISTEN_ADDRESS)?;
    if !is_port_taken(default) {
        return Ok(default);
    }
    let home = context.home()?;
    let uses_http = |harness: &&Harness| {
        let installer = harness.installer();
        let options = installer.map(|installer| wiring::installed_options(home, installer));
        options.unwrap_or_default().iter().any(|options| options.http)
    };
    if let Some(harness) = HARNESSES.iter().find(uses_http) {
        return Err(CommandError::internal(port_taken_text(default)).hint(format!(
            "{} was installed with `--transport http` and calls this port: stop that process, or run \
             `tenterhook install {}` to use the hook program instead",
            harness.title, harness.id
        )));
    }
    default.set_port(0);
    Ok(default)
}

fn is_port_taken(address: SocketAddr) -> bool {
    let bound = std::net::TcpListener::bind(address);
    address.port() != 0 && bound.is_err_and(|error| error.kind() == std::io::ErrorKind::AddrInUse)
}

/// Formats the error that a port is in use, and names the process that uses it.
pub(in crate::commands) fn port_taken_text(address: SocketAddr) -> String {
    let by = port_holder::describe(address.port()).unwrap_or_else(|| "another process".to_owned());
    format!("port {} is in use by {by}", address.port())
}

/// Parses a listen address. Only loopback is accepted, because the token gives far-reaching access.
fn parse_address(text: &str) -> Result<SocketAddr, CommandError> {
    let invalid = |why: &str| {
        CommandError::user(format!("invalid listen address `{text}`: {why}"))
            .hint("for example `--listen 127.0.0.1:7878`, or `--listen none`")
    };
    let address: SocketAddr =
        text.replace("localhost", "127.0.0.1").parse().map_err(|_| invalid("expected ADDRESS:PORT"))?;
    if address.ip().is_loopback() { Ok(address) } else { Err(invalid("only loopback addresses are allowed")) }
}

/// Writes the log. Each event is one write, with known secrets redacted.
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

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let options = args.daemon.options(context)?;
    let builder = tracing_subscriber::fmt().with_writer(|| RedactedLog).with_target(false);
    match args.log {
        LogFormat::Text => builder.with_ansi(false).init(),
        LogFormat::Json => builder.json().flatten_event(true).init(),
    }
    tenterhook_daemon::serve(home, &context.env, &options, |running| {
        let printed = if context.terminal.json {
            context.terminal.print_json(&json!({"listen": running.listen, "socket": home.socket()}))
        } else {
            let tcp = running.listen.map(|address| format!(" and on http://{address}")).unwrap_or_default();
            context.terminal.print(&format!("ready on {}{tcp}\n", home.socket().display()))
        };
        // Standard output may be closed; calls are answered anyway.
        drop(printed);
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
