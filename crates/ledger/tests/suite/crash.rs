// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `kill -9` at random points: what was acknowledged is there, once, and the tree verifies.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tenterhook_ledger::{Durability, Ledger, Options};

use crate::common::{Test, clock, entry, event, key, options};

/// Rounds in `make test`; `make soak` goes more.
const ROUNDS: u64 = 20;
const NUMBERS: u64 = 1_000_000;

/// Not a test: the process that is killed. It is told where to record, from which number on, and how.
#[test]
#[ignore = "the tests below start it"]
fn child() {
    let mut told = String::new();
    std::io::stdin().read_line(&mut told).unwrap();
    let words: Vec<&str> = told.split_whitespace().collect();
    let [dir, start, durability] = words[..] else { return };
    let start: u64 = start.parse().unwrap();
    if durability == "brief" {
        return briefly(dir.as_ref(), start);
    }
    let mut options = options();
    options.checkpoint_every.leaves = 50;
    options.durability = if durability == "relaxed" { Durability::Relaxed } else { Durability::Durable };
    let ledger = match Ledger::open(dir.as_ref(), options) {
        Ok(opened) => opened.ledger,
        Err(error) => return say(&format!("refused {error}")),
    };
    say("open");
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let ledger = ledger.clone();
            scope.spawn(move || {
                for number in (start..start + NUMBERS).skip(thread).step_by(3) {
                    match ledger.append(entry(number)) {
                        Ok(_) => say(&format!("acked {number}")),
                        Err(error) => return say(&format!("refused {error}")),
                    }
                }
            });
        }
    });
}

/// As hooks do without a daemon: open, record, close, again and again.
fn briefly(dir: &Path, start: u64) {
    for number in start..start + NUMBERS {
        let options = Options { key: Some(key(1)), ..Options::brief(clock) };
        let recorded = Ledger::open(dir, options).map_err(|error| error.to_string()).and_then(|opened| {
            if number == start {
                say("open");
            }
            let appended = opened.ledger.append(entry(number));
            opened.ledger.close().and(appended).map_err(|error| error.to_string())
        });
        match recorded {
            Ok(_) => say(&format!("acked {number}")),
            Err(error) => return say(&format!("refused {error}")),
        }
    }
}

/// Past the test harness, which would keep what is printed to itself.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// The child, to be started through `wrapper`, a shell text that ends in `exec "$@"`.
pub(crate) fn command(program: &Path, wrapper: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(wrapper).arg("sh").arg(program);
    command.args(["--exact", "crash::child", "--ignored", "--nocapture"]);
    command
}

/// Starts the child and tells it what to do.
pub(crate) fn start(mut command: Command, told: &str) -> Child {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{told}\n").as_bytes()).unwrap();
    child
}

/// What the child said, whole lines only.
pub(crate) fn heard(child: &mut Child) -> Vec<String> {
    whole_lines(&mut BufReader::new(child.stdout.take().unwrap()), |_| false)
}

/// Reads whole lines up to the one that is enough, or to the end.
fn whole_lines(out: &mut impl BufRead, enough: impl Fn(&str) -> bool) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    while out.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
        lines.push(line.trim_end().to_owned());
        if enough(line.trim_end()) {
            break;
        }
        line.clear();
    }
    lines
}

pub(crate) fn acked(lines: &[String]) -> Vec<u64> {
    lines.iter().filter_map(|line| line.split_once("acked ")?.1.parse().ok()).collect()
}

/// How many rounds to go: few, unless somebody soaks.
pub(crate) fn rounds(usual: u64) -> u64 {
    soak().unwrap_or(usual)
}

/// `make soak` asks for this many rounds.
fn soak() -> Option<u64> {
    std::env::var("TENTERHOOK_SOAK").ok()?.parse().ok()
}

/// Says how far it is to whoever waits.
pub(crate) fn progress(what: &str, round: u64, rounds: u64, more: &str) {
    if soak().is_some() && (round.is_multiple_of(10) || round == rounds) {
        eprintln!("{what}: round {round} of {rounds}{more}");
    }
}

/// Numbers that nobody chose, from a seed that a failure names.
pub(crate) struct Luck(pub(crate) u64);

impl Luck {
    pub(crate) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Self(u64::from(now.subsec_nanos()) << 20 | u64::from(std::process::id()))
    }

    /// Less than `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// What one ledger goes through before the next one is begun: a soak stays as quick as it began.
const LIFE: u64 = 50;

/// Kills within so many milliseconds each time.
fn killed_again_and_again(durability: &str, rounds: u64, within: u64) {
    let (mut luck, mut leaves) = (Luck::new(), 0);
    for first in (0..rounds).step_by(usize::try_from(LIFE).unwrap()) {
        let test = Test::new();
        let mut all = Vec::new();
        for round in first..rounds.min(first + LIFE) {
            let last = round + 1 == rounds.min(first + LIFE);
            let seed = luck.0;
            all.push(killed(&test, durability, round, luck.below(within * 1000)));
            let opened = Ledger::open(&test.dir, options())
                .unwrap_or_else(|error| panic!("round {round}, seed {seed}: {error}"));
            let reader = test.reader();
            // What an earlier round had was looked at then; at the end all of it is once more.
            let looked_at = if last { &all[..] } else { &all[all.len() - 1..] };
            for number in looked_at.iter().flatten() {
                let id = event(*number).id.to_string();
                let seq = reader.find(&id).unwrap();
                let seq = seq.unwrap_or_else(|| panic!("{number} was acknowledged and is gone, seed {seed}"));
                if last {
                    assert_eq!(opened.ledger.append(entry(*number)).unwrap().seq(), seq, "it is there once");
                }
            }
            opened.ledger.close().unwrap();
            let verified =
                test.verify().unwrap_or_else(|problem| panic!("round {round}, seed {seed}: {problem}"));
            let acked = u64::try_from(all.iter().map(Vec::len).sum::<usize>()).unwrap();
            assert!(verified.size > acked);
            if last {
                leaves += acked;
            }
            progress(
                &format!("kill -9, {durability}"),
                round + 1,
                rounds,
                &format!(", {} leaves", verified.size),
            );
        }
    }
    assert!(leaves > 2 * rounds, "only {leaves} leaves in {rounds} rounds");
}

/// One round: what was acknowledged before the process was killed.
fn killed(test: &Test, durability: &str, round: u64, after_us: u64) -> Vec<u64> {
    let told = format!("{} {} {durability}", test.dir.display(), 1 + round * NUMBERS);
    let mut child = start(command(&std::env::current_exe().unwrap(), r#"exec "$@""#), &told);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    // Most rounds die while recording, every fourth perhaps while opening.
    let mut lines = Vec::new();
    if round % 4 != 3 {
        lines = whole_lines(&mut out, |line| line == "open" || line.starts_with("refused"));
    }
    std::thread::sleep(Duration::from_micros(after_us));
    child.kill().unwrap();
    lines.extend(whole_lines(&mut out, |_| false));
    child.wait().unwrap();
    assert!(!lines.iter().any(|line| line.contains("refused")), "{lines:?}");
    acked(&lines)
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    killed_again_and_again("durable", rounds(ROUNDS), 80);
}

#[test]
fn what_was_acknowledged_survives_kill_9_when_durability_is_relaxed() {
    killed_again_and_again("relaxed", rounds(ROUNDS).div_ceil(4), 80);
}

#[test]
fn what_was_acknowledged_survives_kill_9_when_the_ledger_is_opened_for_each() {
    killed_again_and_again("brief", rounds(ROUNDS).div_ceil(4), 800);
}
