// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_command::browser::{has_display, open_browser};
use tenterhook_command::terminal::{BOLD, DIM};
use tenterhook_error::Failure;

use crate::api_client::{ApiClient, ServerArgs};
use crate::environment::FleetContext;

const EXAMPLES: &str = "\
The link signs one browser in as the owner of the key, once, within a minute.
Its session ends after 12 hours, when you sign out, or when the key is revoked.
A browser can read, acknowledge alerts and halt rollouts, as far as the role of
the key allows; other changes need the command line.

Examples:
  tenterhook fleet open
  tenterhook fleet open --print --key alice.json";

/// Open the dashboard of the fleet in a browser with a one-time link
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print the link and do not open a browser
    #[arg(long)]
    print: bool,
    #[command(flatten)]
    server: ServerArgs,
}

pub(super) fn run(context: &FleetContext, args: &Args) -> Result<ExitCode, Failure> {
    let client = ApiClient::open(context, &args.server)?;
    let response = client.post("/v1/sign-in/link", &json!({}))?;
    let link = response.get("link").and_then(Value::as_str);
    let link = link.ok_or_else(|| Failure::internal("the fleet server sent no link"))?;
    let url = link_url(client.server(), link);
    let terminal = context.terminal;
    if terminal.json {
        terminal.print_json(&json!({ "url": url, "expires": response.get("expires") }))?;
    } else if !args.print && has_display(&context.env) && open_browser(&url) {
        terminal.print("opening the dashboard in your browser\n")?;
    } else {
        terminal.print(&format!("{BOLD}{url}{BOLD:#}\n"))?;
        terminal.eprint(&format!("{DIM}valid once, within a minute{DIM:#}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the address of a link. Browsers do not send the part after `#`, so the secret appears in no server's log.
pub(super) fn link_url(server: &str, link: &str) -> String {
    format!("{server}/#link={link}")
}
