// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Connects the full-screen view to a terminal and a daemon. `tenterhook-tui` defines what the view shows and what
//! keys do. Threads send keys, signals, and the daemon's events and answers over one channel; only this thread draws.

mod clipboard;
mod follow;
mod terminal_input;
mod terminal_screen;
mod worker;

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use tenterhook_command::context::Context;
use tenterhook_command::error::CommandError;
use tenterhook_command::terminal::Terminal;
use tenterhook_home::call_meta;
use tenterhook_tui::{TuiCommand, TuiMessage, TuiState, WallClock, draw, update};

use self::terminal_screen::TuiScreen;

const EXAMPLES: &str = "\
Shows live decisions, sessions, each decision with its findings and proof, calls that wait for you, and the rate \
and latency of decisions. The last row shows the keys, `?` shows all of them. It needs 80 columns and 24 rows, and \
works over ssh. Actions that weaken protection need the name of the action typed, or a code, as everywhere. When \
the daemon ends, the view shows that and waits for the next one.

Examples:
  tenterhook tui
  tenterhook tui --no-mouse                   leave the mouse to the terminal
  NO_COLOR=1 tenterhook tui
  ssh -t server tenterhook tui                watch another machine";

/// Watch decisions and answer approvals in the terminal
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Do not use the mouse, so that the terminal can select text without Shift
    #[arg(long)]
    no_mouse: bool,
}

/// Minimum interval between two frames.
const MIN_FRAME_INTERVAL: Duration = Duration::from_millis(100);
/// Minimum interval between two frames after a key was pressed.
const MIN_KEY_FRAME_INTERVAL: Duration = Duration::from_millis(30);
/// Maximum number of messages processed before the next frame.
const MAX_EVENTS_PER_FRAME: usize = 5_000;

/// Name of the worker thread in errors.
const WORKER_THREAD: &str = "the thread that asks the daemon";

/// Message from a thread to the view.
enum TuiEvent {
    Message(TuiMessage),
    /// The process was stopped and resumed; the screen has to be drawn again.
    Resumed,
    /// A signal asked the process to end.
    Terminated,
    /// A thread that the view needs has ended.
    ThreadEnded(&'static str),
}

/// Channel from a thread to the view. Dropping it tells the view that the thread has ended.
struct TuiSender {
    to: Sender<TuiEvent>,
    thread: &'static str,
}

/// Runs `tui`.
pub fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?.clone();
    require_terminal(context)?;
    let (to_view, events) = channel();
    let sender = |thread| TuiSender { to: to_view.clone(), thread };
    let commands = worker::spawn_worker(home.clone(), context.env.clone(), sender(WORKER_THREAD))?;
    let colors = context.terminal.has_colors();
    let mut screen = TuiScreen::open(!args.no_mouse, colors)?;
    terminal_input::spawn_key_reader(sender("the thread that reads keys"))?;
    terminal_input::spawn_signal_reader(sender("the thread that waits for signals"))?;
    follow::spawn_follower(home, sender("the thread that follows the daemon"))?;
    let mut state = TuiState::new(read_clock(), screen.size(), colors);
    let ended = run_view(&mut state, &mut screen, &events, &commands);
    drop(screen);
    ended
}

/// Fails unless input and output are terminals.
fn require_terminal(context: &Context) -> Result<(), CommandError> {
    let hint = "`tenterhook ledger tail -f` and `tenterhook approvals list` work in a pipe";
    if context.terminal.json {
        return Err(CommandError::user("`tui` has no JSON output").hint(hint));
    }
    if !(Terminal::is_screen() && std::io::stdin().is_terminal()) {
        return Err(CommandError::user("`tui` needs a terminal for input and output").hint(hint));
    }
    match context.env.all.get("TERM").map(String::as_str) {
        None | Some("" | "dumb") => Err(CommandError::user(
            "the terminal does not support full-screen programs: `TERM` is not set, or is `dumb`",
        )
        .hint("over ssh, use `ssh -t`")),
        Some(_) => Ok(()),
    }
}

/// Draws frames and processes messages until the user quits or a signal arrives.
fn run_view(
    state: &mut TuiState,
    screen: &mut TuiScreen,
    events: &Receiver<TuiEvent>,
    commands: &Sender<TuiCommand>,
) -> Result<ExitCode, CommandError> {
    let (mut drawn_at, mut changed, mut pace) = (None::<Instant>, true, MIN_KEY_FRAME_INTERVAL);
    loop {
        let rest = drawn_at.map_or(Duration::ZERO, |drawn_at| pace.saturating_sub(drawn_at.elapsed()));
        if changed && rest.is_zero() {
            screen.draw_frame(|frame| draw(state, frame))?;
            (drawn_at, changed, pace) = (Some(Instant::now()), false, MIN_FRAME_INTERVAL);
        }
        let sleep = if changed { rest } else { Duration::from_millis(state.next_wake_ms()) };
        let mut next = match events.recv_timeout(sleep) {
            Ok(first) => Some(first),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return Err(thread_error("every thread")),
        };
        let mut to_run = update(state, TuiMessage::Tick(read_clock()));
        for _ in 0..MAX_EVENTS_PER_FRAME {
            match next.take() {
                None => break,
                Some(TuiEvent::Message(message)) => {
                    if matches!(message, TuiMessage::Key(_) | TuiMessage::Mouse(_) | TuiMessage::Resized(..))
                    {
                        pace = MIN_KEY_FRAME_INTERVAL;
                    }
                    to_run.extend(update(state, message));
                }
                Some(TuiEvent::Resumed) => screen.reset()?,
                Some(TuiEvent::Terminated) => return Ok(ExitCode::from(1)),
                Some(TuiEvent::ThreadEnded(thread)) => return Err(thread_error(thread)),
            }
            next = events.try_recv().ok();
        }
        // A message or a countdown may have changed the view.
        changed = true;
        for command in to_run {
            match command {
                TuiCommand::Quit => return Ok(ExitCode::SUCCESS),
                TuiCommand::RingBell => screen.write_control(clipboard::BELL)?,
                TuiCommand::Copy(text) => screen.write_control(&clipboard::copy_sequence(&text))?,
                command => commands.send(command).map_err(|_| thread_error(WORKER_THREAD))?,
            }
        }
    }
}

fn read_clock() -> WallClock {
    let now = jiff::Timestamp::now();
    let ahead_s = jiff::tz::TimeZone::system().to_offset(now).seconds().into();
    WallClock { now_ms: call_meta::now_ms(), ahead_s }
}

fn thread_error(thread: &str) -> CommandError {
    CommandError::internal(format!("{thread} ended unexpectedly"))
        .hint("this is a bug in Tenterhook; run `tenterhook tui` again")
}

impl TuiSender {
    /// Sends a message. Returns false if the view has ended.
    fn send(&self, message: TuiMessage) -> bool {
        self.to.send(TuiEvent::Message(message)).is_ok()
    }
}

impl Drop for TuiSender {
    fn drop(&mut self) {
        // The view may have ended already.
        let _ = self.to.send(TuiEvent::ThreadEnded(self.thread));
    }
}
