// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The terminal view. What is shown and what keys do is in `tenterhook-tui`; here it meets a terminal and a
//! daemon: keys, signals, the daemon's news and its answers come in over one channel, in threads of their
//! own, and only this one paints.

mod follow;
mod keys;
mod screen;
mod worker;

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use tenterhook_home::call_meta;
use tenterhook_tui::{TuiCommand, TuiMessage, TuiState, WallClock, draw, update};

use self::screen::TuiScreen;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
Shows live decisions, sessions, each decision with its findings and proof, calls that wait for you, and the rate
and latency of decisions. The last row shows the keys, `?` shows all of them. It needs 80 columns and 24 rows, and
works over ssh. Actions that weaken protection need the name of the action typed, or a code, as everywhere. When
the daemon ends, the view shows that and waits for the next one.

Examples:
  tenterhook tui
  tenterhook tui --mouse                      the wheel scrolls; hold shift to select text
  NO_COLOR=1 tenterhook tui
  ssh -t server tenterhook tui                watch another machine";

/// Watch decisions and answer approvals in the terminal
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Scroll with the mouse wheel
    #[arg(long)]
    mouse: bool,
}

/// How often news are painted at most.
const MIN_FRAME_INTERVAL: Duration = Duration::from_millis(100);
/// The same for what a key changed.
const MIN_KEY_FRAME_INTERVAL: Duration = Duration::from_millis(30);
/// How many messages are taken in before the screen has its turn.
const MAX_EVENTS_PER_FRAME: usize = 5_000;

/// What comes over the channel.
enum TuiEvent {
    Message(TuiMessage),
    /// The screen has to be painted from the begin: we were stopped, and go on.
    Again,
    /// A signal ended us.
    Ended,
    /// A thread is gone that is needed.
    Broken(&'static str),
}

/// Where threads tell what they hear. Whoever holds the last one of a thread is missed.
struct TuiSender {
    to: Sender<TuiEvent>,
    who: &'static str,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?.clone();
    require_terminal(context)?;
    let (tell, events) = channel();
    let sender = |who| TuiSender { to: tell.clone(), who };
    let commands = worker::spawn_worker(home.clone(), sender("whoever asks the daemon"))?;
    let colors = context.terminal.colors();
    let mut screen = TuiScreen::open(args.mouse, colors)?;
    keys::spawn_key_reader(sender("whoever reads keys"))?;
    keys::spawn_signal_reader(sender("whoever hears signals"))?;
    follow::spawn_follower(home, sender("whoever follows the daemon"))?;
    let mut state = TuiState::new(read_clock(), screen.size(), colors);
    let ended = run_view(&mut state, &mut screen, &events, &commands);
    drop(screen);
    ended
}

/// A view needs a screen and a keyboard.
fn require_terminal(context: &Context) -> Result<(), CommandError> {
    let hint = "`tenterhook ledger tail -f` and `tenterhook approvals list` work in a pipe";
    if context.terminal.json {
        return Err(CommandError::user("`tui` has no JSON: it is for people").hint(hint));
    }
    if !(Terminal::is_screen() && std::io::stdin().is_terminal()) {
        return Err(CommandError::user("`tui` needs a terminal: this is none").hint(hint));
    }
    match context.env.all.get("TERM").map(String::as_str) {
        None | Some("" | "dumb") => {
            Err(CommandError::user("this terminal cannot be painted on: `TERM` says nothing, or `dumb`")
                .hint("over ssh, `ssh -t` makes a terminal and carries `TERM`"))
        }
        Some(_) => Ok(()),
    }
}

/// Paints and listens until somebody ends it.
fn run_view(
    state: &mut TuiState,
    screen: &mut TuiScreen,
    events: &Receiver<TuiEvent>,
    commands: &Sender<TuiCommand>,
) -> Result<ExitCode, CommandError> {
    let (mut painted, mut changed, mut pace) = (None::<Instant>, true, MIN_KEY_FRAME_INTERVAL);
    loop {
        let rest = painted.map_or(Duration::ZERO, |painted| pace.saturating_sub(painted.elapsed()));
        if changed && rest.is_zero() {
            screen.paint(|frame| draw(state, frame))?;
            (painted, changed, pace) = (Some(Instant::now()), false, MIN_FRAME_INTERVAL);
        }
        let sleep = if changed { rest } else { Duration::from_millis(state.next_wake_ms()) };
        let mut next = match events.recv_timeout(sleep) {
            Ok(first) => Some(first),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return Err(thread_error("everybody")),
        };
        let mut wanted = update(state, TuiMessage::Tick(read_clock()));
        for _ in 0..MAX_EVENTS_PER_FRAME {
            match next.take() {
                None => break,
                Some(TuiEvent::Message(message)) => {
                    if matches!(message, TuiMessage::Key(_) | TuiMessage::Resized(..)) {
                        pace = MIN_KEY_FRAME_INTERVAL;
                    }
                    wanted.extend(update(state, message));
                }
                Some(TuiEvent::Again) => screen.again()?,
                Some(TuiEvent::Ended) => return Ok(ExitCode::from(1)),
                Some(TuiEvent::Broken(who)) => return Err(thread_error(who)),
            }
            next = events.try_recv().ok();
        }
        // Whatever woke us: a message, or a countdown.
        changed = true;
        for command in wanted {
            if command == TuiCommand::Quit {
                return Ok(ExitCode::SUCCESS);
            }
            commands.send(command).map_err(|_| thread_error("whoever asks the daemon"))?;
        }
    }
}

fn read_clock() -> WallClock {
    let now = jiff::Timestamp::now();
    let ahead_s = jiff::tz::TimeZone::system().to_offset(now).seconds().into();
    WallClock { now_ms: call_meta::now_ms(), ahead_s }
}

fn thread_error(who: &str) -> CommandError {
    CommandError::internal(format!("{who} is gone"))
        .hint("this is a mistake of ours; `tenterhook tui` starts anew")
}

// === impl TuiSender ===

impl TuiSender {
    /// Whether anybody still listens.
    fn tell(&self, message: TuiMessage) -> bool {
        self.to.send(TuiEvent::Message(message)).is_ok()
    }
}

impl Drop for TuiSender {
    fn drop(&mut self) {
        // When all is over nobody listens.
        let _ = self.to.send(TuiEvent::Broken(self.who));
    }
}
