// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Follows the daemon's event stream, and reconnects when the stream ends.

use std::thread;
use std::time::Duration;

use serde_json::Value;
use tenterhook_command::error::CommandError;
use tenterhook_daemon_control::ask;
use tenterhook_home::Home;
use tenterhook_tui::TuiMessage;

use super::TuiSender;

/// First and maximum delay before a reconnection.
const RECONNECT_DELAYS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(2));

/// Starts the thread that follows the stream.
pub(super) fn spawn_follower(home: Home, sender: TuiSender) -> Result<(), CommandError> {
    thread::Builder::new().name("follow".to_owned()).spawn(move || {
        let (first, longest) = RECONNECT_DELAYS;
        let mut wait = first;
        loop {
            let mut greeted = false;
            let ended = ask::stream(&home, "/v1/stream", &mut |kind, data| {
                greeted |= kind == "hello";
                Ok(sender.send(stream_message(kind, data)))
            });
            // The stream ends without an error only if the view has ended.
            let Err(why) = ended else { return };
            if !sender.send(TuiMessage::Disconnected(why.message)) {
                return;
            }
            wait = if greeted { first } else { (wait * 2).min(longest) };
            thread::sleep(wait);
        }
    })?;
    Ok(())
}

/// Converts a stream event to a message; the first event of a connection is `hello`.
fn stream_message(kind: &str, data: &Value) -> TuiMessage {
    match kind {
        "hello" => TuiMessage::Connected,
        _ => TuiMessage::Event(kind.to_owned(), data.clone()),
    }
}
