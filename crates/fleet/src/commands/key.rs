// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_error::Failure;
use tenterhook_fleet_server::{OperatorKey, OperatorRole};

use super::table::print_rows;
use super::token::path_segment;
use crate::api_client::{ApiClient, ServerArgs};
use crate::environment::{FleetContext, failure};
use crate::signing_key::PersonalKey;

const EXAMPLES: &str = "\
viewer    reads machines, decisions and alerts
author    also publishes policy and acknowledges alerts
approver  also answers approvals
admin     also manages tokens and keys

Examples:
  tenterhook fleet key new alice --fleet shop --server https://fleet.example --out alice.json   the first administrator
  tenterhook fleet key new bob --role author --out bob.json
  tenterhook fleet key add bob --role viewer --public vyqxVqb0…=   a key that Bob made himself
  tenterhook fleet key sign ann --out ann.key             a key that signs policy or answers approvals
  tenterhook fleet key list
  tenterhook fleet key revoke 5d1f0c3a9be27754";

/// Create, list and revoke keys of operators
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: KeyAction,
}

#[derive(Debug, clap::Subcommand)]
enum KeyAction {
    /// Create a key in a file on this computer; with a role, the server accepts it at once
    New {
        /// Name of the operator
        name: String,
        /// Role of the operator; without it, an administrator has to add the public key
        #[arg(long)]
        role: Option<OperatorRole>,
        /// File for the key
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
        /// Name of the fleet, for the key of its first administrator; asks no server, and needs `--server`
        #[arg(long, value_name = "NAME", requires = "server", conflicts_with_all = ["role", "key"])]
        fleet: Option<String>,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Create a key that signs policy or answers approvals. It never leaves this computer
    Sign {
        /// Name of the signer or approver
        name: String,
        /// File for the key
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Add the public key of an operator
    Add {
        /// Name of the operator
        name: String,
        /// Role of the operator
        #[arg(long)]
        role: OperatorRole,
        /// Public key in base 64
        #[arg(long, value_name = "KEY")]
        public: String,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// List the keys of operators with their roles
    List {
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Revoke a key
    Revoke {
        /// Id of the key
        id: String,
        #[command(flatten)]
        server: ServerArgs,
    },
}

pub(super) fn run(context: &FleetContext, args: Args) -> Result<ExitCode, Failure> {
    let terminal = context.terminal;
    let (response, text) = match args.action {
        KeyAction::New { name, out, fleet: Some(fleet), server, .. } => {
            let (public, text) = create_key(&out, server.url().unwrap_or_default(), &fleet, &name)?;
            let next = format!("start the server with `--admin-key {fleet}={name}={public}`\n");
            (json!({ "public_key": public, "file": out }), text + &next)
        }
        KeyAction::New { name, role, out, server, .. } => {
            let client = ApiClient::open(context, &server)?;
            let (public, text) = create_key(&out, &client.key.server, &client.key.fleet, &name)?;
            let mut response = json!({ "public_key": public, "file": out });
            if let Some(role) = role {
                let added =
                    client.post("/v1/keys", &json!({ "name": name, "role": role, "public_key": public }))?;
                if let (Value::Object(all), Value::Object(more)) = (&mut response, added) {
                    all.extend(more);
                }
            }
            (response, text)
        }
        KeyAction::Sign { name, out } => {
            let public = PersonalKey::create(&out, &name)?.public()?.to_string();
            let text = format!("wrote `{}`\nverifier key: {public}\n", out.display());
            (json!({ "public_key": public, "file": out }), text)
        }
        KeyAction::Add { name, role, public, server } => {
            let client = ApiClient::open(context, &server)?;
            let response =
                client.post("/v1/keys", &json!({ "name": name, "role": role, "public_key": public }))?;
            let id = response.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            (response, format!("added key {id}\n"))
        }
        KeyAction::List { server } => {
            let response = ApiClient::open(context, &server)?.get("/v1/keys", &[])?;
            let columns = [
                ("key", "id"),
                ("name", "name"),
                ("role", "role"),
                ("created by", "created_by"),
                ("created", "created"),
                ("revoked", "revoked"),
            ];
            print_rows(terminal, &response, "keys", &columns, "no keys")?;
            return Ok(ExitCode::SUCCESS);
        }
        KeyAction::Revoke { id, server } => {
            let path = format!("/v1/keys/{}/revoke", path_segment(&id)?);
            let response = ApiClient::open(context, &server)?.post(&path, &json!({}))?;
            (response, format!("revoked key {id}\n"))
        }
    };
    if terminal.json {
        terminal.print_json(&response)?;
    } else {
        terminal.print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Creates the key of an operator in a file. Returns the public key and what is printed about it.
fn create_key(out: &Path, server: &str, fleet: &str, name: &str) -> Result<(String, String), Failure> {
    if out.exists() {
        return Err(Failure::conflict(format!("`{}` exists already", out.display())));
    }
    let key = OperatorKey::generate(server, fleet, name).map_err(failure)?;
    let public = key.public_text().map_err(failure)?;
    key.save(out).map_err(failure)?;
    let text = format!("wrote `{}`\npublic key: {public}\n", out.display());
    Ok((public, text))
}
