// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tenterhook_error::Failure;
use tenterhook_files::{FileClass, read_text};
use tenterhook_fleet_server::{
    BusOptions, DEFAULT_DATABASE_CONNECTIONS, FleetError, FleetKeys, FleetService, OperatorKey, OperatorRole,
    PostgresOptions, ProxyIdentity, ServiceOptions, StreamLimits, TrialEngines, TrialOptions, WebhookFormat,
    WebhookTarget, read_secret, trial_database,
};
use tenterhook_records::time_spec::parse_duration_spec;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::open::link_url;
use crate::environment::{FleetContext, failure};

const EXAMPLES: &str = "\
Without `--nats` and `--postgres`, this is a trial: `nats-server` and PostgreSQL are started as children on loopback,
with generated credentials, in the state directory. The key of an administrator is written to `admin-default.json`.

Examples:
  tenterhook fleet serve
  tenterhook fleet serve --listen 0.0.0.0:8470 --public-url https://fleet.example
  tenterhook fleet serve --nats tls://nats-1:4222 --nats tls://nats-2:4222 --nats-ca nats-ca.pem --replicas 3 \\
    --postgres postgres://fleet@db.example/fleet --postgres-password-file db-password --postgres-ca db-ca.pem \\
    --keys /etc/tenterhook-fleet/keys --admin-key default=alice=vyqxVqb0…=";

/// Default length of a stream of evidence.
const STREAM_BYTES: i64 = 32 << 30;
const TRIAL_STREAM_BYTES: i64 = 512 << 20;
/// Maximum length of the file with the users of a proxy.
const MAX_PROXY_USERS_BYTES: u64 = 4 << 20;

/// Run the fleet server
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// State directory of this server [default: ~/.local/state/tenterhook-fleet]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Address of the HTTP API
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8470")]
    listen: SocketAddr,
    /// URL at which machines and operators reach the HTTP API, if it differs from `--listen`
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Tenant of a trial; may be repeated. In production, the keys name the tenants
    #[arg(long = "tenant", value_name = "NAME", default_value = "default")]
    tenants: Vec<String>,
    /// Directory with the keys of the fleet, as `nats-config` creates them
    #[arg(long, value_name = "DIR", requires = "nats")]
    keys: Option<PathBuf>,
    /// URL of a NATS server; may be repeated
    #[arg(long, value_name = "URL", requires = "postgres", requires = "keys")]
    nats: Vec<String>,
    /// URL of NATS for machines, if it differs from `--nats`; may be repeated
    #[arg(long, value_name = "URL")]
    machine_nats: Vec<String>,
    /// Certificate authority of NATS
    #[arg(long, value_name = "FILE")]
    nats_ca: Option<PathBuf>,
    /// URL of the PostgreSQL database
    #[arg(long, value_name = "URL", requires = "nats")]
    postgres: Option<String>,
    /// File with the password of the database
    #[arg(long, value_name = "FILE")]
    postgres_password_file: Option<PathBuf>,
    /// Certificate authority of PostgreSQL; with it, TLS is required
    #[arg(long, value_name = "FILE")]
    postgres_ca: Option<PathBuf>,
    /// Maximum number of connections of this server to PostgreSQL
    #[arg(long, value_name = "N", default_value_t = DEFAULT_DATABASE_CONNECTIONS)]
    postgres_connections: usize,
    /// Number of NATS servers that store each message
    #[arg(long, value_name = "N", default_value_t = 1)]
    replicas: usize,
    /// How long evidence stays in NATS
    #[arg(long, value_name = "DURATION", default_value = "14d", value_parser = parse_duration_spec)]
    retention: Duration,
    /// Maximum length in bytes of each of the eight streams of evidence [default: 32 GiB; in a trial 512 MiB]
    #[arg(long, value_name = "BYTES")]
    stream_bytes: Option<i64>,
    /// Maximum number of bytes that a machine may upload in a day; a machine that sends more is suspended until the next day
    #[arg(long, value_name = "BYTES", default_value_t = 512 << 20)]
    machine_bytes: u64,
    /// How long NATS recognises a message that is sent twice
    #[arg(long, value_name = "DURATION", default_value = "10m", value_parser = parse_duration_spec)]
    duplicate_window: Duration,
    /// Life of the credentials of a machine; they are renewed after half of it
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = parse_duration_spec)]
    credential_life: Duration,
    /// Raise an alert about a machine without a message for this long
    #[arg(long, value_name = "DURATION", default_value = "1d", value_parser = parse_duration_spec)]
    silent_after: Duration,
    /// File with the URL of a webhook that receives alerts as JSON; may be repeated
    #[arg(long, value_name = "FILE")]
    alert_webhook_file: Vec<PathBuf>,
    /// File with the URL of an incoming webhook of Slack that receives alerts; may be repeated
    #[arg(long, value_name = "FILE")]
    alert_slack_file: Vec<PathBuf>,
    /// File with the URL of a webhook that receives waiting approvals as JSON; may be repeated
    #[arg(long, value_name = "FILE")]
    approval_webhook_file: Vec<PathBuf>,
    /// File with the URL of an incoming webhook of Slack that receives waiting approvals; may be repeated
    #[arg(long, value_name = "FILE")]
    approval_slack_file: Vec<PathBuf>,
    /// Read the streams of evidence again from their start, once, after the database was restored from a backup
    #[arg(long)]
    replay_streams: bool,
    /// URL of an OpenTelemetry collector that receives decisions as log records, such as http://127.0.0.1:4318
    #[arg(long, value_name = "URL")]
    otlp_endpoint: Option<String>,
    /// Public key of a tenant's first administrator; may be repeated
    #[arg(long = "admin-key", value_name = "TENANT=NAME=KEY")]
    admin_keys: Vec<String>,
    /// Header in which a reverse proxy names a verified user
    #[arg(long, value_name = "HEADER", requires = "trusted_proxy", requires = "proxy_users")]
    trusted_proxy_header: Option<String>,
    /// Address of the reverse proxy; may be repeated
    #[arg(long, value_name = "ADDRESS")]
    trusted_proxy: Vec<IpAddr>,
    /// File with the roles of users that the proxy names, as JSON: {"tenant": "default", "roles": {"alice": "admin"}}
    #[arg(long, value_name = "FILE")]
    proxy_users: Option<PathBuf>,
}

#[derive(serde::Deserialize)]
struct ProxyUsers {
    tenant: String,
    roles: BTreeMap<String, OperatorRole>,
}

pub(super) fn run(context: &FleetContext, args: &Args) -> Result<ExitCode, Failure> {
    let filter = tracing_subscriber::fmt().with_writer(std::io::stderr).with_max_level(tracing::Level::INFO);
    // Fails if a subscriber is set already, which a command never does.
    drop(filter.with_ansi(false).try_init());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(context, args))?;
    Ok(ExitCode::SUCCESS)
}

async fn serve(context: &FleetContext, args: &Args) -> Result<(), Failure> {
    let (stop_sender, stop) = watch::channel(false);
    let signals = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];
    for kind in signals {
        let (mut signal, stop_sender) = (signal(kind)?, stop_sender.clone());
        tokio::spawn(async move {
            signal.recv().await;
            stop_sender.send_replace(true);
        });
    }
    let mut stopped = stop.clone();
    tokio::select! {
        _ = stopped.wait_for(|stop| *stop) => Ok(()),
        result = open(context, args) => {
            let (service, trial) = result?;
            let link = if trial.is_some() { trial_link(args, &service).await.map_err(failure)? } else { None };
            announce(context, args, &service, (trial.is_some(), link))?;
            let supervise = async {
                match &trial {
                    Some(trial) => trial.supervise().await,
                    None => std::future::pending().await,
                }
            };
            let result = tokio::select! {
                result = service.run(stop) => result.map_err(failure),
                () = supervise => Ok(()),
            };
            // The engines end after the last request.
            drop(trial);
            result
        }
    }
}

async fn open(context: &FleetContext, args: &Args) -> Result<(FleetService, Option<TrialEngines>), Failure> {
    let state = args.state.clone().map_or_else(|| context.server_state(), Ok)?;
    let limits = StreamLimits {
        replicas: args.replicas,
        retention: args.retention,
        max_bytes: args.stream_bytes.unwrap_or(if args.nats.is_empty() {
            TRIAL_STREAM_BYTES
        } else {
            STREAM_BYTES
        }),
        duplicate_window: args.duplicate_window,
    };
    let mut bus = BusOptions {
        urls: args.nats.clone(),
        machine_urls: args.machine_nats.clone(),
        ca: args.nats_ca.clone(),
        limits,
    };
    let (keys, postgres, trial) = if let (Some(url), Some(keys)) = (&args.postgres, &args.keys) {
        let password =
            args.postgres_password_file.as_deref().map(read_secret).transpose().map_err(failure)?;
        let postgres = PostgresOptions::parse(url, password.as_deref(), args.postgres_ca.clone());
        (FleetKeys::load(keys).map_err(failure)?, postgres.map_err(failure)?, None)
    } else {
        // PostgreSQL runs as another user and has to reach its directory.
        make_state(&state)?;
        let keys = FleetKeys::open_or_create(&state.join("keys"), &args.tenants).map_err(failure)?;
        let search = context.engine_search();
        let options =
            TrialOptions { state: &state, search: &search, keeper: std::env::current_exe()?, keys: &keys };
        let trial = TrialEngines::start(&options).await.map_err(failure)?;
        bus.urls = vec![trial.settings.nats_url()];
        let postgres = trial_database(&trial.settings);
        (keys, postgres, Some(trial))
    };
    let postgres = PostgresOptions { max_connections: args.postgres_connections, ..postgres };
    let options = ServiceOptions {
        state: state.join("server"),
        listen: args.listen,
        keys: Arc::new(keys),
        bus,
        postgres,
        proxy: proxy_identity(args)?,
        has_https: args.public_url.as_deref().is_some_and(|url| url.starts_with("https://")),
        credential_life: args.credential_life,
        silent_after: args.silent_after,
        max_upload_bytes: args.machine_bytes,
        replay_streams: args.replay_streams,
        otlp_endpoint: args.otlp_endpoint.clone(),
        alert_targets: webhook_targets(&args.alert_webhook_file, &args.alert_slack_file)?,
        approval_targets: webhook_targets(&args.approval_webhook_file, &args.approval_slack_file)?,
        public_url: args.public_url.clone(),
    };
    let service = FleetService::open(options).await.map_err(failure)?;
    add_admins(args, &state, &service, trial.is_some()).await.map_err(failure)?;
    Ok((service, trial))
}

/// Reads the files with the URLs of webhooks.
fn webhook_targets(json: &[PathBuf], slack: &[PathBuf]) -> Result<Vec<WebhookTarget>, Failure> {
    let json = json.iter().map(|file| (file, WebhookFormat::Json));
    let files = json.chain(slack.iter().map(|file| (file, WebhookFormat::Slack)));
    files
        .map(|(file, format)| Ok(WebhookTarget { format, url: read_secret(file).map_err(failure)? }))
        .collect()
}

fn make_state(state: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::DirBuilderExt as _;
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o711).create(state);
    created.map_err(|error| Failure::user(format!("`{}`: {error}", state.display())))
}

fn proxy_identity(args: &Args) -> Result<Option<ProxyIdentity>, Failure> {
    let (Some(header), Some(file)) = (&args.trusted_proxy_header, &args.proxy_users) else { return Ok(None) };
    let fail = |error: &dyn std::fmt::Display| Failure::user(format!("`{}`: {error}", file.display()));
    let text = read_text(file, FileClass::Named, MAX_PROXY_USERS_BYTES)
        .map_err(|error| failure(FleetError::file(file, &error)))?;
    let text = text.ok_or_else(|| fail(&"the file does not exist"))?;
    let users: ProxyUsers = serde_json::from_str(&text).map_err(|error| fail(&error))?;
    let (header, addresses) = (header.to_ascii_lowercase(), args.trusted_proxy.clone());
    Ok(Some(ProxyIdentity { header, addresses, tenant: users.tenant, roles: users.roles }))
}

/// Adds the first administrators: from the command line, or of a trial.
async fn add_admins(
    args: &Args,
    state: &Path,
    service: &FleetService,
    is_trial: bool,
) -> Result<(), FleetError> {
    for text in &args.admin_keys {
        let invalid =
            || FleetError::invalid(format!("invalid `--admin-key {text}`")).with_hint("use TENANT=NAME=KEY");
        let (tenant, rest) = text.split_once('=').ok_or_else(invalid)?;
        let (name, key) = rest.split_once('=').ok_or_else(invalid)?;
        if !service.has_admin(tenant).await? {
            service
                .add_first_admin(tenant, name, &OperatorKey::parse_public(key).ok_or_else(invalid)?)
                .await?;
        }
    }
    if !is_trial {
        return Ok(());
    }
    let url = public_url(args, service)?;
    for tenant in &args.tenants {
        let file = state.join(format!("admin-{tenant}.json"));
        if !service.has_admin(tenant).await? {
            let key = OperatorKey::generate(&url, &service.fleet(), "trial")?;
            key.save(&file)?;
            service.add_first_admin(tenant, "trial", &key.public()?).await?;
        } else if let Ok(mut key) = OperatorKey::load(&file) {
            key.server.clone_from(&url);
            key.save(&file)?;
        }
    }
    Ok(())
}

fn public_url(args: &Args, service: &FleetService) -> Result<String, FleetError> {
    match &args.public_url {
        Some(url) => Ok(url.clone()),
        None => Ok(format!("http://{}", service.local_address()?)),
    }
}

/// Creates a link that signs a browser in as the administrator of a trial.
async fn trial_link(args: &Args, service: &FleetService) -> Result<Option<String>, FleetError> {
    let (Some(tenant), Some(state)) = (args.tenants.first(), service.state().parent()) else {
        return Ok(None);
    };
    // The key may have been revoked, or moved to another computer.
    let Ok(key) = OperatorKey::load(&state.join(format!("admin-{tenant}.json"))) else { return Ok(None) };
    let Ok(secret) = service.create_sign_in_link(tenant, &key.public()?).await else { return Ok(None) };
    Ok(Some(link_url(&public_url(args, service)?, &secret)))
}

/// Says where the server is, on standard output, when it accepts requests.
fn announce(
    context: &FleetContext,
    args: &Args,
    service: &FleetService,
    (is_trial, link): (bool, Option<String>),
) -> Result<(), Failure> {
    let url = public_url(args, service).map_err(failure)?;
    if context.terminal.json {
        return context.terminal.print_json(
            &json!({ "url": url, "trial": is_trial, "fleet": service.fleet(), "dashboard": link }),
        );
    }
    let mut text = format!("fleet server: {url}\n");
    if is_trial {
        text.push_str("trial: NATS and PostgreSQL run as children and end with this server\n");
        if let Some(link) = link {
            text.push_str(&format!("dashboard: {link}\n"));
            text.push_str("       valid once, within a minute; for another link: tenterhook fleet open\n");
        }
        text.push_str("next:  tenterhook fleet token create\n");
    }
    context.terminal.print(&text)
}
