// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tenterhook_error::Failure;
use tenterhook_records::time_spec::parse_duration_spec;

use super::table::print_rows;
use crate::api_client::{ApiClient, ServerArgs};
use crate::environment::FleetContext;

const EXAMPLES: &str = "\
A token is shown once. The server stores a hash of it.

Examples:
  tenterhook fleet token create
  tenterhook fleet token create --uses 20 --expires 7d --label team=shop --ring early
  tenterhook fleet token create --ci --uses 1000 --expires 90d
  tenterhook fleet token list
  tenterhook fleet token revoke 3f9a1c20b4d7";

/// Create, list and revoke enrolment tokens
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: TokenAction,
}

#[derive(Debug, clap::Subcommand)]
enum TokenAction {
    /// Create a token
    Create {
        /// Number of machines that may enrol with it
        #[arg(long, default_value_t = 1, value_name = "N")]
        uses: i32,
        /// How long it is valid, such as 12h or 7d
        #[arg(long, default_value = "1d", value_name = "DURATION", value_parser = parse_duration_spec)]
        expires: Duration,
        /// Label of machines that enrol with it; may be repeated
        #[arg(long = "label", value_name = "NAME=VALUE", value_parser = parse_label)]
        labels: Vec<(String, String)>,
        /// Ring of machines that enrol with it
        #[arg(long, default_value = "default")]
        ring: String,
        /// For CI runners: credentials live an hour
        #[arg(long)]
        ci: bool,
        #[command(flatten)]
        server: ServerArgs,
    },
    /// List enrolment tokens, without their secrets
    List {
        #[command(flatten)]
        server: ServerArgs,
    },
    /// Revoke a token
    Revoke {
        /// Id of the token
        id: String,
        #[command(flatten)]
        server: ServerArgs,
    },
}

/// The text is not a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("invalid label; use NAME=VALUE")]
struct LabelSpecError;

fn parse_label(text: &str) -> Result<(String, String), LabelSpecError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(LabelSpecError),
    }
}

pub(super) fn run(context: &FleetContext, args: Args) -> Result<ExitCode, Failure> {
    let terminal = context.terminal;
    match args.action {
        TokenAction::Create { uses, expires, labels, ring, ci, server } => {
            let client = ApiClient::open(context, &server)?;
            let labels: Map<String, Value> =
                labels.into_iter().map(|(name, value)| (name, value.into())).collect();
            let body = json!({
                "uses": uses, "life_seconds": expires.as_secs(), "labels": labels, "ci": ci, "ring": ring,
            });
            let response = client.post("/v1/tokens", &body)?;
            if terminal.json {
                terminal.print_json(&response)?;
            } else {
                let token = response.get("token").and_then(Value::as_str).unwrap_or_default();
                terminal.print(&format!("{token}\n"))?;
                let server = &client.key.server;
                terminal.eprint(&format!("enrol a machine with: tenterhook fleet join {server} TOKEN\n"))?;
            }
        }
        TokenAction::List { server } => {
            let response = ApiClient::open(context, &server)?.get("/v1/tokens", &[])?;
            let columns = [
                ("token", "id"),
                ("uses left", "uses_left"),
                ("expires", "expires"),
                ("ring", "ring"),
                ("ci", "ci"),
                ("created by", "created_by"),
                ("revoked", "revoked"),
            ];
            print_rows(terminal, &response, "tokens", &columns, "no tokens")?;
        }
        TokenAction::Revoke { id, server } => {
            let path = format!("/v1/tokens/{}/revoke", path_segment(&id)?);
            let response = ApiClient::open(context, &server)?.post(&path, &json!({}))?;
            if terminal.json {
                terminal.print_json(&response)?;
            } else {
                terminal.print(&format!("revoked token {id}\n"))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks an id that becomes part of a path.
pub(super) fn path_segment(id: &str) -> Result<&str, Failure> {
    if !id.is_empty()
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        && id != "."
        && id != ".."
    {
        Ok(id)
    } else {
        Err(Failure::user(format!("invalid id `{id}`")))
    }
}
