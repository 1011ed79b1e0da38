// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_command::confirm::{self, ProofArgs};
use tenterhook_command::terminal::{DIM, GOOD};
use tenterhook_error::Failure;
use tenterhook_files::{FileClass, read_text};
use tenterhook_fleet_machine::{JoinOptions, ServerClient};
use tenterhook_fleet_state::FleetDir;
use tenterhook_home::FleetPolicy;

use super::machine_home::{MachineHomeArgs, enrol_failure, state_failure};
use crate::environment::FleetContext;

const EXAMPLES: &str = "\
The machine makes its own key, which never leaves it. From then on the daemon runs the connector, which uploads the \
redacted records of the ledger (never payloads) and receives policy. `tenterhook fleet status` shows what the \
organisation collects.

The command asks for a confirmation on the terminal, or takes a code. Without either, as in a script, the machine joins too, \
but of the fleet's policy only rules that deny or ask apply. Root needs no confirmation with `--system`.

Examples:
  tenterhook fleet join https://fleet.example:8470 TOKEN
  tenterhook fleet join https://fleet.example:8470 --token-file token.txt --ca ca.pem
  tenterhook fleet join --ephemeral https://fleet.example:8470 --token-file -     a CI runner
  tenterhook fleet join --system https://fleet.example:8470 --token-file -";

/// Enrol this machine with a token
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// URL of the fleet server
    #[arg(value_name = "URL")]
    server: String,
    /// Enrolment token; other users can see it in the list of processes, unlike one in a file
    #[arg(value_name = "TOKEN", required_unless_present = "token_file")]
    token: Option<String>,
    /// File with the token; `-` is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// This is a CI runner, whose job ends with `fleet finish`
    #[arg(long)]
    ephemeral: bool,
    /// Certificate authority of the fleet server, in PEM
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    #[command(flatten)]
    home: MachineHomeArgs,
    #[command(flatten)]
    proof: ProofArgs,
}

/// Maximum length of a certificate authority.
const MAX_CA_BYTES: u64 = 256 << 10;
/// Maximum length of a token.
const MAX_TOKEN_BYTES: u64 = 4 << 10;

fn read_named(path: &Path, max_bytes: u64) -> Result<String, Failure> {
    let text = read_text(path, FileClass::Named, max_bytes);
    let text = text.map_err(|error| Failure::user(format!("`{}`: {error}", path.display())))?;
    text.ok_or_else(|| Failure::user(format!("no file `{}`", path.display())))
}

/// Reads the token from a file, or from standard input if the file is `-`.
fn read_token(path: &Path) -> Result<String, Failure> {
    if path != Path::new("-") {
        return read_named(path, MAX_TOKEN_BYTES);
    }
    let mut token = String::new();
    std::io::stdin().lock().take(MAX_TOKEN_BYTES).read_to_string(&mut token)?;
    Ok(token)
}

pub(super) fn run(fleet: &FleetContext, args: &Args) -> Result<ExitCode, Failure> {
    let context = args.home.context(fleet);
    let home = context.home()?;
    let dir = FleetDir::of_state(&home.state);
    if let Some(enrolment) = dir.enrolment().map_err(|error| state_failure(&error))? {
        let error = tenterhook_fleet_state::FleetStateError::Enrolled(enrolment.server);
        return Err(state_failure(&error));
    }
    // A wrong URL is refused before anything is recorded.
    let server_ca = args.ca.as_deref().map(|path| read_named(path, MAX_CA_BYTES)).transpose()?;
    let server = ServerClient::new(&args.server, server_ca.as_deref());
    let server = server.map_err(|error| Failure::user(error.to_string()))?.url().to_owned();
    let token = match (&args.token, &args.token_file) {
        (Some(token), _) => token.clone(),
        (None, Some(path)) => read_token(path)?,
        (None, None) => return Err(Failure::user("a token is needed")),
    };
    let is_proven = confirm::can_confirm(&context, Action::FleetJoin, &args.proof)?;
    let action = if is_proven { Action::FleetJoin } else { Action::FleetJoinUnconfirmed };
    // The record also creates the ledger, whose key is registered.
    confirm::require_confirmation(&context, action, json!({ "server": server }), &args.proof)?;
    let options = JoinOptions {
        state: home.state.clone(),
        server,
        server_ca,
        token: token.trim().to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        program: std::env::current_exe()?.canonicalize()?,
        ephemeral: args.ephemeral,
    };
    let enrolment = tenterhook_fleet_machine::join(&options).map_err(|error| enrol_failure(&error))?;
    FleetPolicy::confirm_enrolment(home, &enrolment, is_proven)?;
    let credentials = dir.credentials().map_err(|error| state_failure(&error))?;
    let collects = credentials.map(|stored| stored.credentials.collects).unwrap_or_default();
    if context.terminal.json {
        context.terminal.print_json(&json!({
            "machine": enrolment.machine, "tenant": enrolment.tenant, "server": enrolment.server,
            "collects": collects, "confirmed": is_proven,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!(
        "{GOOD}✓{GOOD:#} this machine is {} of `{}` at {}\n",
        enrolment.machine, enrolment.tenant, enrolment.server
    );
    for extra in &collects {
        text += &format!("  the organisation also collects: {extra}\n");
    }
    if !is_proven {
        text += "  joined without a confirmation: of the fleet's policy, only rules that deny or ask apply\n";
    }
    text += &format!("{DIM}the daemon uploads from now on; `tenterhook fleet status` shows how far{DIM:#}\n");
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}
