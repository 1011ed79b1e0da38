// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_command::terminal::{BOLD, GOOD, WARN, tame};
use tenterhook_error::Failure;
use tenterhook_event::Timestamp;
use tenterhook_files::{FileClass, read_bytes};
use tenterhook_fleet_bundle::{
    Bundle, BundleChange, BundleDraft, BundleManifest, MAX_BUNDLE_BYTES, SignerSet, Trust, find_changes,
};

use super::table::print_rows;
use super::token::path_segment;
use crate::api_client::{ApiClient, ServerArgs};
use crate::environment::FleetContext;
use crate::policy_source::PolicySource;
use crate::signing_key::PersonalKey;

const EXAMPLES: &str = "\
A policy is a directory with `rules/`, `profiles/`, `programs/` and `fleet.yaml`, usually in a git repository.
Machines accept a bundle for its signatures and its version alone; the server only offers it.

Examples:
  tenterhook fleet key sign ann --out ann.key                 a key that signs policy
  tenterhook fleet policy signers ann+…= bob+…= --threshold 1
  tenterhook fleet policy plan policy/                        what a push would change
  tenterhook fleet policy push policy/ --sign ann.key
  tenterhook fleet policy rollout 7 --ring early              replayed first, then active
  tenterhook fleet policy halt early
  tenterhook fleet policy rollback 6 --ring early --sign ann.key --sign bob.key
  tenterhook fleet policy status";

/// Sign policy and roll it out ring by ring
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: PolicyAction,
}

#[derive(Debug, clap::Subcommand)]
enum PolicyAction {
    /// Set the keys that machines trust from their enrolment on
    Signers {
        /// Verifier keys of the signers
        #[arg(required = true, value_name = "KEY")]
        keys: Vec<String>,
        /// Number of signers that must sign a bundle; one more is needed if it weakens protection
        #[arg(long, default_value_t = 1, value_name = "N")]
        threshold: u32,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Show what a push would change, and how many signatures it needs
    Plan {
        /// Directory with the policy
        dir: PathBuf,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Sign a directory as the next version and store it on the server
    Push {
        /// Directory with the policy, or a bundle that `--out` wrote
        source: PathBuf,
        /// Key of a signer; may be repeated
        #[arg(long = "sign", value_name = "FILE")]
        keys: Vec<PathBuf>,
        /// Write the bundle to a file instead, so that others can sign it
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Add signatures to a bundle in a file
    Sign {
        /// File with the bundle, as `--out` wrote it
        bundle: PathBuf,
        /// Key of a signer; may be repeated
        #[arg(long = "sign", required = true, value_name = "FILE")]
        keys: Vec<PathBuf>,
    },
    /// Offer a version to a ring. Its machines replay it first and report counts
    Rollout {
        /// Version of the policy
        version: u64,
        /// Name of the ring
        #[arg(long, default_value = "default")]
        ring: String,
        /// Percentage of calls that it may deny in addition
        #[arg(long, value_name = "PERCENT")]
        max_newly_denied: Option<f64>,
        /// Use it at once, without a replay
        #[arg(long)]
        skip_replay: bool,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Sign the content of an older version as a new one
    Rollback {
        /// The older version
        version: u64,
        /// Ring to which it is rolled out at once
        #[arg(long)]
        ring: Option<String>,
        /// Key of a signer; may be repeated
        #[arg(long = "sign", required = true, value_name = "FILE")]
        keys: Vec<PathBuf>,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Stop offering the version of a ring. Machines that use it keep it
    Halt {
        /// Name of the ring
        ring: String,
        /// Reason to record for halting the rollout
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Move machines to a ring, by label or by percentage
    Ring {
        /// Name of the ring
        ring: String,
        /// Machines with this label
        #[arg(long, value_name = "NAME=VALUE", conflicts_with = "percent")]
        label: Option<String>,
        /// A percentage of all machines
        #[arg(long, value_name = "PERCENT")]
        percent: Option<u32>,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Show signers, versions and rollouts
    Status {
        #[command(flatten)]
        server: ServerArgs,
    },
}

/// What the server knows about the policy of the fleet.
struct FleetPolicyState {
    tenant: String,
    /// The signers of the enrolment.
    root: Trust,
    newest: Option<(BundleDraft, Bundle)>,
}

#[derive(Deserialize)]
struct Signers {
    keys: Vec<String>,
    threshold: u32,
}

pub(super) fn run(context: &FleetContext, args: Args) -> Result<ExitCode, Failure> {
    match args.action {
        PolicyAction::Signers { keys, threshold, server } => {
            let client = ApiClient::open(context, &server)?;
            let response =
                client.post("/v1/policy/signers", &json!({ "keys": keys, "threshold": threshold }))?;
            report(
                context,
                &response,
                &format!("machines that join from now on trust {} signers\n", keys.len()),
            )
        }
        PolicyAction::Plan { dir, server } => plan(context, &dir, &server),
        PolicyAction::Push { source, keys, out, server } => {
            push(context, &source, &keys, out.as_deref(), &server)
        }
        PolicyAction::Sign { bundle, keys } => sign(context, &bundle, &keys),
        PolicyAction::Rollout { version, ring, max_newly_denied, skip_replay, server } => {
            let client = ApiClient::open(context, &server)?;
            let request = (version, ring.as_str(), max_newly_denied, skip_replay);
            let response = start_rollout(&client, request)?;
            let what = if skip_replay { "is offered to" } else { "is replayed by" };
            report(context, &response, &format!("version {version} {what} the machines of ring `{ring}`\n"))
        }
        PolicyAction::Rollback { version, ring, keys, server } => {
            rollback(context, version, ring.as_deref(), &keys, &server)
        }
        PolicyAction::Halt { ring, reason, server } => {
            let client = ApiClient::open(context, &server)?;
            let path = format!("/v1/policy/rollouts/{}/halt", ring_segment(&ring)?);
            let response = client.post(&path, &json!({ "reason": reason }))?;
            report(context, &response, &format!("ring `{ring}` is not offered this version any more\n"))
        }
        PolicyAction::Ring { ring, label, percent, server } => {
            let client = ApiClient::open(context, &server)?;
            let body = json!({ "ring": ring, "label": label, "percent": percent });
            let response = client.post("/v1/policy/rings", &body)?;
            let machines = response.get("machines").and_then(Value::as_u64).unwrap_or_default();
            let text = format!(
                "ring `{ring}` has {machines} machines; they change when they renew their credentials\n"
            );
            report(context, &response, &text)
        }
        PolicyAction::Status { server } => status(context, &server),
    }
}

fn report(context: &FleetContext, response: &Value, text: &str) -> Result<ExitCode, Failure> {
    if context.terminal.json {
        context.terminal.print_json(response)?;
    } else {
        context.terminal.print(text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn ring_segment(ring: &str) -> Result<&str, Failure> {
    path_segment(ring)
}

fn start_rollout(
    client: &ApiClient,
    (version, ring, max_newly_denied, skip_replay): (u64, &str, Option<f64>, bool),
) -> Result<Value, Failure> {
    let body = json!({
        "version": version, "ring": ring, "max_newly_denied": max_newly_denied, "skip_replay": skip_replay,
    });
    client.post("/v1/policy/rollouts", &body)
}

fn now() -> Timestamp {
    tenterhook_home::call_meta::now()
}

#[expect(clippy::needless_pass_by_value, reason = "the form of function that `map_err` takes")]
fn refused(error: tenterhook_fleet_bundle::BundleError) -> Failure {
    Failure::user(error.to_string())
}

impl FleetPolicyState {
    /// Asks the server, and verifies the newest bundle with the signers of the enrolment.
    fn fetch(client: &ApiClient) -> Result<Self, Failure> {
        let status = client.get("/v1/policy", &[])?;
        let tenant = status.get("tenant").and_then(Value::as_str).unwrap_or_default().to_owned();
        let signers = status.get("signers").cloned().unwrap_or_default();
        let Signers { keys, threshold } = serde_json::from_value(signers)
            .map_err(|error| Failure::internal(format!("invalid response: {error}")))?;
        if keys.is_empty() {
            return Err(Failure::conflict("no signers are set")
                .hint("set them with `tenterhook fleet policy signers` before machines join"));
        }
        let root =
            Trust { fleet: tenant.clone(), signers: SignerSet::of_enrolment(keys, threshold), since: 0 };
        let has_bundles = status.get("bundles").and_then(Value::as_array).is_some_and(|all| !all.is_empty());
        let newest = if has_bundles { Some(fetch_bundle(client, "newest", &root)?) } else { None };
        Ok(Self { tenant, root, newest })
    }

    fn next_version(&self) -> u64 {
        self.newest.as_ref().map_or(1, |(_, bundle)| bundle.manifest.version + 1)
    }

    /// Returns the signers that must sign the next bundle.
    fn signers(&self) -> SignerSet {
        self.newest.as_ref().map_or_else(|| self.root.signers.clone(), |(_, bundle)| bundle.trust().signers)
    }
}

fn fetch_bundle(client: &ApiClient, version: &str, root: &Trust) -> Result<(BundleDraft, Bundle), Failure> {
    let response = client.get(&format!("/v1/policy/bundles/{}", path_segment(version)?), &[])?;
    let bytes = response.get("bytes").and_then(Value::as_str).unwrap_or_default();
    let bytes = STANDARD.decode(bytes).map_err(|error| Failure::internal(error.to_string()))?;
    let bundle = Bundle::open(&bytes, root).map_err(|error| {
        Failure::denied(format!("the bundle on the server is refused: {error}"))
            .hint("the server's database may have been changed; nothing was signed")
    })?;
    Ok((BundleDraft::decode(&bytes).map_err(refused)?, bundle))
}

/// Returns what a draft changes. The draft needs no signatures.
fn changes_of(state: &FleetPolicyState, draft: &BundleDraft) -> Result<Vec<BundleChange>, Failure> {
    let manifest = draft.manifest().map_err(refused)?;
    let files = draft.files().map_err(refused)?;
    let bundle = Bundle::unverified(manifest, files, state.signers());
    find_changes(state.newest.as_ref().map(|(_, bundle)| bundle), &bundle, now()).map_err(refused)
}

fn describe(state: &FleetPolicyState, manifest: &BundleManifest, changes: &[BundleChange]) -> String {
    let signers = state.signers();
    let needed = if changes.is_empty() { signers.threshold } else { signers.weakening_threshold };
    let mut text = format!("{BOLD}version {}{BOLD:#} of fleet `{}`", manifest.version, tame(&manifest.fleet));
    if let Some(commit) = &manifest.commit {
        let _ = write!(text, ", commit {}", tame(commit));
    }
    let _ = writeln!(text, ", valid until {}", manifest.not_after);
    for file in &manifest.files {
        let _ = writeln!(text, "  {} ({} bytes)", tame(&file.path), file.bytes);
    }
    if changes.is_empty() {
        let _ = writeln!(text, "{GOOD}no change weakens protection{GOOD:#}");
    }
    for change in changes {
        let _ = writeln!(text, "{WARN}weakens protection{WARN:#}: {}", tame(&change.to_string()));
    }
    let _ = writeln!(text, "needs {needed} of {} signatures", signers.keys.len());
    text
}

fn draft_of(state: &FleetPolicyState, source: &PolicySource) -> Result<BundleDraft, Failure> {
    let manifest = source.manifest(&state.tenant, state.next_version(), &state.signers(), now());
    let previous = state.newest.as_ref().map(|(draft, _)| draft);
    BundleDraft::new(manifest, &source.files, previous).map_err(refused)
}

fn plan(context: &FleetContext, dir: &Path, server: &ServerArgs) -> Result<ExitCode, Failure> {
    let client = ApiClient::open(context, server)?;
    let state = FleetPolicyState::fetch(&client)?;
    let draft = draft_of(&state, &PolicySource::read(dir)?)?;
    let (manifest, changes) = (draft.manifest().map_err(refused)?, changes_of(&state, &draft)?);
    let weakening: Vec<_> = changes.iter().map(ToString::to_string).collect();
    let response = json!({ "manifest": manifest, "weakening": weakening });
    report(context, &response, &describe(&state, &manifest, &changes))
}

fn add_signatures(draft: &mut BundleDraft, keys: &[PathBuf]) -> Result<(), Failure> {
    for path in keys {
        let key = PersonalKey::load(path)?;
        draft.sign(&key.name, &key.signing_key()).map_err(refused)?;
    }
    Ok(())
}

fn push(
    context: &FleetContext,
    source: &Path,
    keys: &[PathBuf],
    out: Option<&Path>,
    server: &ServerArgs,
) -> Result<ExitCode, Failure> {
    let client = ApiClient::open(context, server)?;
    let state = FleetPolicyState::fetch(&client)?;
    let mut draft = if source.is_dir() {
        draft_of(&state, &PolicySource::read(source)?)?
    } else {
        BundleDraft::decode(&read_file(source)?).map_err(refused)?
    };
    let (manifest, changes) = (draft.manifest().map_err(refused)?, changes_of(&state, &draft)?);
    add_signatures(&mut draft, keys)?;
    if !context.terminal.json {
        context.terminal.print(&describe(&state, &manifest, &changes))?;
    }
    let bytes = draft.encode().map_err(refused)?;
    if let Some(out) = out {
        std::fs::write(out, &bytes)
            .map_err(|error| Failure::user(format!("`{}`: {error}", out.display())))?;
        let text = format!("wrote `{}`: add signatures with `tenterhook fleet policy sign`\n", out.display());
        return report(context, &json!({ "file": out, "version": manifest.version }), &text);
    }
    check_signatures(&state, &bytes, &changes)?;
    let response = upload(&client, &bytes)?;
    let text = format!("stored; roll it out with `tenterhook fleet policy rollout {}`\n", manifest.version);
    report(context, &response, &text)
}

/// Checks that machines would accept the signatures.
fn check_signatures(state: &FleetPolicyState, bytes: &[u8], changes: &[BundleChange]) -> Result<(), Failure> {
    let opened = Bundle::open(bytes, &state.root).map_err(|error| {
        refused(error).hint(
            "name the keys of signers with `--sign`, or write the bundle with `--out` for others to sign",
        )
    })?;
    let needed = state.signers().weakening_threshold;
    if changes.is_empty() || opened.signed_by.len() >= needed {
        return Ok(());
    }
    let message =
        format!("signed by {} of {needed} signers, because it weakens protection", opened.signed_by.len());
    Err(Failure::user(message).hint("write the bundle with `--out` for another signer"))
}

fn upload(client: &ApiClient, bytes: &[u8]) -> Result<Value, Failure> {
    client.post("/v1/policy/bundles", &json!({ "bundle": STANDARD.encode(bytes) }))
}

fn read_file(path: &Path) -> Result<Vec<u8>, Failure> {
    let max = u64::try_from(MAX_BUNDLE_BYTES).unwrap_or(u64::MAX);
    let read = read_bytes(path, FileClass::Named, max);
    let read = read.map_err(|error| Failure::user(format!("`{}`: {error}", path.display())))?;
    read.ok_or_else(|| Failure::user(format!("no file `{}`", path.display())))
}

fn sign(context: &FleetContext, path: &Path, keys: &[PathBuf]) -> Result<ExitCode, Failure> {
    let mut draft = BundleDraft::decode(&read_file(path)?).map_err(refused)?;
    // The files must be those that the manifest names, or the signature would be for something else.
    draft.files().map_err(refused)?;
    add_signatures(&mut draft, keys)?;
    let manifest = draft.manifest().map_err(refused)?;
    std::fs::write(path, draft.encode().map_err(refused)?)
        .map_err(|error| Failure::user(format!("`{}`: {error}", path.display())))?;
    let names = draft.signer_names();
    let text = format!("version {} is signed by {}\n", manifest.version, tame(&names.join(", ")));
    report(context, &json!({ "version": manifest.version, "signed_by": names }), &text)
}

fn rollback(
    context: &FleetContext,
    version: u64,
    ring: Option<&str>,
    keys: &[PathBuf],
    server: &ServerArgs,
) -> Result<ExitCode, Failure> {
    let client = ApiClient::open(context, server)?;
    let state = FleetPolicyState::fetch(&client)?;
    let (_, old) = fetch_bundle(&client, &version.to_string(), &state.root)?;
    let next = state.next_version();
    let lifetime =
        state.newest.as_ref().map_or(old.manifest.not_after, |(_, newest)| newest.manifest.not_after);
    // The content is old; the keys and the minimum are those in force, so that a rollback brings no key back.
    let newest = state.newest.as_ref().map_or(&old, |(_, newest)| newest);
    let manifest = BundleManifest {
        version: next,
        not_after: lifetime.max(old.manifest.not_after),
        min_version: newest.manifest.min_version,
        signers: newest.manifest.signers.clone(),
        approvals: newest.manifest.approvals.clone(),
        ..old.manifest.clone()
    };
    let previous = state.newest.as_ref().map(|(draft, _)| draft);
    let mut draft = BundleDraft::new(manifest, &old.files, previous).map_err(refused)?;
    let (manifest, changes) = (draft.manifest().map_err(refused)?, changes_of(&state, &draft)?);
    add_signatures(&mut draft, keys)?;
    if !context.terminal.json {
        context.terminal.print(&describe(&state, &manifest, &changes))?;
    }
    let bytes = draft.encode().map_err(refused)?;
    check_signatures(&state, &bytes, &changes)?;
    let mut response = upload(&client, &bytes)?;
    let mut text = format!("the content of version {version} is version {next}\n");
    if let Some(ring) = ring {
        response = start_rollout(&client, (next, ring, None, true))?;
        let _ = writeln!(text, "version {next} is offered to the machines of ring `{}`", tame(ring));
    }
    report(context, &response, &text)
}

fn status(context: &FleetContext, server: &ServerArgs) -> Result<ExitCode, Failure> {
    let terminal = context.terminal;
    let response = ApiClient::open(context, server)?.get("/v1/policy", &[])?;
    if terminal.json {
        terminal.print_json(&response)?;
        return Ok(ExitCode::SUCCESS);
    }
    let bundles = [
        ("version", "version"),
        ("commit", "commit"),
        ("signed by", "signed_by"),
        ("valid until", "not_after"),
        ("pushed by", "pushed_by"),
    ];
    print_rows(terminal, &response, "bundles", &bundles, "no policy was pushed")?;
    let mut text = String::new();
    for row in response.get("rollouts").and_then(Value::as_array).into_iter().flatten() {
        let part = |key: &str| match row.get("rollout").and_then(|rollout| rollout.get(key)) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => tame(text).clone(),
            Some(other) => other.to_string(),
        };
        let count =
            |key: &str| row.get("replay").and_then(|replay| replay.get(key)?.as_u64()).unwrap_or_default();
        let _ = writeln!(
            text,
            "{BOLD}ring {}{BOLD:#}: version {} {}; replayed on {} of {} machines, {} of {} calls newly denied{}",
            part("ring"),
            part("version"),
            part("stage"),
            count("reported"),
            count("machines"),
            count("newly_denied"),
            count("calls"),
            Some(part("reason"))
                .filter(|why| !why.is_empty())
                .map(|why| format!("\n  {why}"))
                .unwrap_or_default(),
        );
    }
    terminal.print(&text)?;
    let rings = [("ring", "ring"), ("version", "version"), ("machines", "machines"), ("refused", "refused")];
    print_rows(terminal, &response, "rings", &rings, "no machines")?;
    Ok(ExitCode::SUCCESS)
}
