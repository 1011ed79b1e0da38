// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the daemon tells, as it happens; and again, whenever there is one.

use std::thread;
use std::time::Duration;

use serde_json::Value;
use tenterhook_home::Home;
use tenterhook_tui::TuiMessage;

use super::TuiSender;
use crate::ask;
use crate::error::CommandError;

/// How long we wait before we try again, at first and at most.
const RECONNECT_DELAYS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));

/// Follows, in a thread of its own.
pub(super) fn spawn_follower(home: Home, sender: TuiSender) -> Result<(), CommandError> {
    thread::Builder::new().name("follow".to_owned()).spawn(move || {
        let (first, most) = RECONNECT_DELAYS;
        let mut wait = first;
        loop {
            let mut greeted = false;
            let ended = ask::stream(&home, "/v1/stream", &mut |kind, data| {
                greeted |= kind == "hello";
                Ok(sender.tell(stream_message(kind, data)))
            });
            // Without an error nobody listens to us any more.
            let Err(why) = ended else { return };
            if !sender.tell(TuiMessage::Disconnected(why.message)) {
                return;
            }
            wait = if greeted { first } else { (wait * 2).min(most) };
            thread::sleep(wait);
        }
    })?;
    Ok(())
}

/// Whoever greets is there.
fn stream_message(kind: &str, data: &Value) -> TuiMessage {
    match kind {
        "hello" => TuiMessage::Connected,
        _ => TuiMessage::Event(kind.to_owned(), data.clone()),
    }
}
