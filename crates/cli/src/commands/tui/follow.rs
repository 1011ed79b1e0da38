// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the daemon tells, as it happens; and again, whenever there is one.

use std::thread;
use std::time::Duration;

use serde_json::Value;
use tenterhook_home::Home;
use tenterhook_tui::Message;

use super::Teller;
use crate::ask;
use crate::error::CommandError;

/// How long we wait before we try again, at first and at most.
const WAITS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));

/// Follows, in a thread of its own.
pub(super) fn begin(home: Home, teller: Teller) -> Result<(), CommandError> {
    thread::Builder::new().name("follow".to_owned()).spawn(move || {
        let (first, most) = WAITS;
        let mut wait = first;
        loop {
            let mut greeted = false;
            let ended = ask::stream(&home, "/v1/stream", &mut |kind, data| {
                greeted |= kind == "hello";
                Ok(teller.tell(message(kind, data)))
            });
            // Without an error nobody listens to us any more.
            let Err(why) = ended else { return };
            if !teller.tell(Message::Down(why.message)) {
                return;
            }
            wait = if greeted { first } else { (wait * 2).min(most) };
            thread::sleep(wait);
        }
    })?;
    Ok(())
}

/// Whoever greets is there.
fn message(kind: &str, data: &Value) -> Message {
    match kind {
        "hello" => Message::Up,
        _ => Message::Told(kind.to_owned(), data.clone()),
    }
}
