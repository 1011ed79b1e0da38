// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `tenterhook-model-server SCRIPT.json`: serves a script to an agent that is run by hand or by tests in another
//! language. The first line on stdout is the base URL. The program stops when stdin closes, so it cannot outlive the
//! process that started it.

use std::error::Error;
use std::io::{Write, copy, sink, stdin, stdout};

use tenterhook_model_server::{ConversationScript, ModelServer};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: tenterhook-model-server SCRIPT.json")?;
    let script: ConversationScript = serde_json::from_slice(&std::fs::read(path)?)?;
    let server = ModelServer::start(script)?;
    writeln!(stdout(), "{}", server.url())?;
    copy(&mut stdin().lock(), &mut sink())?;
    Ok(())
}
