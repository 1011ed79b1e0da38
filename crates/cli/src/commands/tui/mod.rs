// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The terminal view. What is shown and what keys do is in `tenterhook-tui`; here it meets a terminal and a
//! daemon: keys, signals, the daemon's news and its answers come in over one channel, in threads of their
//! own, and only this one paints.

mod follow;
mod keys;
mod screen;
mod work;

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use tenterhook_home::call_meta;
use tenterhook_tui::{Clock, Command, Message, State, draw, update};

use self::screen::Screen;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::Terminal;

const EXAMPLES: &str = "\
It shows what agents do as it happens, their sessions, each decision with who spoke and its proof, the calls
that wait for you, and how much and how fast is decided. Keys are shown at the bottom, `?` shows them all. It
works from 80 columns and 24 rows on, over ssh too. What loosens protection takes a person here as everywhere:
the name of the action typed, or a code. When the daemon ends, it says so and waits for the next one.

Examples:
  tenterhook tui
  tenterhook tui --mouse                      the wheel scrolls; hold shift to select text
  NO_COLOR=1 tenterhook tui
  ssh -t server tenterhook tui                watch another machine";

/// Watch and decide in the terminal
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Let the mouse's wheel scroll
    #[arg(long)]
    mouse: bool,
}

/// How often news are painted at most.
const PACE: Duration = Duration::from_millis(100);
/// The same for what a key changed.
const AT_ONCE: Duration = Duration::from_millis(30);
/// How many messages are taken in before the screen has its turn.
const MOST: usize = 5_000;

/// What comes over the channel.
enum Heard {
    Message(Message),
    /// The screen has to be painted from the begin: we were stopped, and go on.
    Again,
    /// A signal ended us.
    Ended,
    /// A thread is gone that is needed.
    Broken(&'static str),
}

/// Where threads tell what they hear. Whoever holds the last one of a thread is missed.
struct Teller {
    to: Sender<Heard>,
    who: &'static str,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?.clone();
    is_possible(context)?;
    let (tell, heard) = channel();
    let teller = |who| Teller { to: tell.clone(), who };
    let commands = work::begin(home.clone(), teller("whoever asks the daemon"))?;
    let colors = context.terminal.colors();
    let mut screen = Screen::open(args.mouse, colors)?;
    keys::begin(teller("whoever reads keys"))?;
    keys::signals(teller("whoever hears signals"))?;
    follow::begin(home, teller("whoever follows the daemon"))?;
    let mut state = State::new(clock(), screen.size(), colors);
    let ended = watch(&mut state, &mut screen, &heard, &commands);
    drop(screen);
    ended
}

/// A view needs a screen and a keyboard.
fn is_possible(context: &Context) -> Result<(), CommandError> {
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
fn watch(
    state: &mut State,
    screen: &mut Screen,
    heard: &Receiver<Heard>,
    commands: &Sender<Command>,
) -> Result<ExitCode, CommandError> {
    let (mut painted, mut changed, mut pace) = (None::<Instant>, true, AT_ONCE);
    loop {
        let rest = painted.map_or(Duration::ZERO, |painted| pace.saturating_sub(painted.elapsed()));
        if changed && rest.is_zero() {
            screen.paint(|frame| draw(state, frame))?;
            (painted, changed, pace) = (Some(Instant::now()), false, PACE);
        }
        let sleep = if changed { rest } else { Duration::from_millis(state.sleeps_ms()) };
        let mut next = match heard.recv_timeout(sleep) {
            Ok(first) => Some(first),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return Err(broken("everybody")),
        };
        let mut wanted = update(state, Message::Now(clock()));
        for _ in 0..MOST {
            match next.take() {
                None => break,
                Some(Heard::Message(message)) => {
                    if matches!(message, Message::Key(_) | Message::Size(..)) {
                        pace = AT_ONCE;
                    }
                    wanted.extend(update(state, message));
                }
                Some(Heard::Again) => screen.again()?,
                Some(Heard::Ended) => return Ok(ExitCode::from(1)),
                Some(Heard::Broken(who)) => return Err(broken(who)),
            }
            next = heard.try_recv().ok();
        }
        // Whatever woke us: a message, or a countdown.
        changed = true;
        for command in wanted {
            if command == Command::Quit {
                return Ok(ExitCode::SUCCESS);
            }
            commands.send(command).map_err(|_| broken("whoever asks the daemon"))?;
        }
    }
}

fn clock() -> Clock {
    let now = jiff::Timestamp::now();
    let ahead_s = jiff::tz::TimeZone::system().to_offset(now).seconds().into();
    Clock { now_ms: call_meta::now_ms(), ahead_s }
}

fn broken(who: &str) -> CommandError {
    CommandError::internal(format!("{who} is gone"))
        .hint("this is a mistake of ours; `tenterhook tui` starts anew")
}

// === impl Teller ===

impl Teller {
    /// Whether anybody still listens.
    fn tell(&self, message: Message) -> bool {
        self.to.send(Heard::Message(message)).is_ok()
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        // When all is over nobody listens.
        let _ = self.to.send(Heard::Broken(self.who));
    }
}
