// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `kill -9` at random points: each acknowledged entry is recorded once, and the ledger verifies.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tenterhook_ledger::{Durability, Ledger, LedgerOptions};

use crate::common::{TestLedger, clock, entry, event, key, options};

/// Number of rounds in `make test`; `make soak` runs more.
const ROUNDS: u64 = 20;
const NUMBERS: u64 = 1_000_000;

/// The code of the process that is killed; it is not a test of its own. Its input is the directory, the first
/// number and the durability.
#[test]
#[ignore = "the tests below start it"]
fn child() {
    let mut input = String::new();
    std::io::stdin().read_line(&mut input).unwrap();
    let words: Vec<&str> = input.split_whitespace().collect();
    let [dir, start, durability] = words[..] else { return };
    let start: u64 = start.parse().unwrap();
    if durability == "brief" {
        return append_briefly(dir.as_ref(), start);
    }
    let mut options = options();
    options.checkpoint_every.leaves = 50;
    options.durability = if durability == "relaxed" { Durability::Relaxed } else { Durability::Durable };
    let ledger = match Ledger::open(dir.as_ref(), options) {
        Ok(opened) => opened.ledger,
        Err(error) => return print_line(&format!("refused {error}")),
    };
    print_line("open");
    std::thread::scope(|scope| {
        for thread in 0..3 {
            let ledger = ledger.clone();
            scope.spawn(move || {
                for number in (start..start + NUMBERS).skip(thread).step_by(3) {
                    match ledger.append(entry(number)) {
                        Ok(_) => print_line(&format!("acked {number}")),
                        Err(error) => return print_line(&format!("refused {error}")),
                    }
                }
            });
        }
    });
}

/// Opens the ledger, records an entry and closes it, repeatedly, as hooks without a daemon do.
fn append_briefly(dir: &Path, start: u64) {
    for number in start..start + NUMBERS {
        let options = LedgerOptions { key: Some(key(1)), ..LedgerOptions::brief(clock) };
        let recorded = Ledger::open(dir, options).map_err(|error| error.to_string()).and_then(|opened| {
            if number == start {
                print_line("open");
            }
            let appended = opened.ledger.append(entry(number));
            opened.ledger.close().and(appended).map_err(|error| error.to_string())
        });
        match recorded {
            Ok(_) => print_line(&format!("acked {number}")),
            Err(error) => return print_line(&format!("refused {error}")),
        }
    }
}

/// Writes to standard output directly, because the test harness captures `println!`.
fn print_line(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Returns the command that starts the child. `wrapper` is a shell script that ends in `exec "$@"`.
pub(crate) fn command(program: &Path, wrapper: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(wrapper).arg("sh").arg(program);
    command.args(["--exact", "crash::child", "--ignored", "--nocapture"]);
    command
}

pub(crate) fn start(mut command: Command, input: &str) -> Child {
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(format!("{input}\n").as_bytes()).unwrap();
    child
}

/// Reads the output of the child, complete lines only.
pub(crate) fn read_output(child: &mut Child) -> Vec<String> {
    read_lines(&mut BufReader::new(child.stdout.take().unwrap()), |_| false)
}

/// Reads complete lines up to one that `is_last` accepts, or to the end.
fn read_lines(out: &mut impl BufRead, is_last: impl Fn(&str) -> bool) -> Vec<String> {
    let (mut lines, mut line) = (Vec::new(), String::new());
    while out.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
        lines.push(line.trim_end().to_owned());
        if is_last(line.trim_end()) {
            break;
        }
        line.clear();
    }
    lines
}

pub(crate) fn acked(lines: &[String]) -> Vec<u64> {
    lines.iter().filter_map(|line| line.split_once("acked ")?.1.parse().ok()).collect()
}

/// Number of rounds: few, unless `make soak` sets it.
pub(crate) fn rounds(usual: u64) -> u64 {
    soak_rounds().unwrap_or(usual)
}

/// Number of rounds that `make soak` sets.
fn soak_rounds() -> Option<u64> {
    std::env::var("TENTERHOOK_SOAK").ok()?.parse().ok()
}

pub(crate) fn progress(what: &str, round: u64, rounds: u64, more: &str) {
    if soak_rounds().is_some() && (round.is_multiple_of(10) || round == rounds) {
        eprintln!("{what}: round {round} of {rounds}{more}");
    }
}

/// Random numbers, from a seed that a failure prints.
pub(crate) struct RandomNumbers(pub(crate) u64);

impl RandomNumbers {
    pub(crate) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Self(u64::from(now.subsec_nanos()) << 20 | u64::from(std::process::id()))
    }

    /// A number less than `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Number of rounds for one ledger. Then a new one is used, so that a soak does not become slower.
const ROUNDS_PER_LEDGER: u64 = 50;

/// Kills the process in each round, within this many milliseconds.
fn kill_repeatedly(durability: &str, rounds: u64, within: u64) {
    let (mut random, mut leaves) = (RandomNumbers::new(), 0);
    for first in (0..rounds).step_by(usize::try_from(ROUNDS_PER_LEDGER).unwrap()) {
        let test = TestLedger::new();
        let mut all = Vec::new();
        for round in first..rounds.min(first + ROUNDS_PER_LEDGER) {
            let last = round + 1 == rounds.min(first + ROUNDS_PER_LEDGER);
            let seed = random.0;
            all.push(kill_once(&test, durability, round, random.below(within * 1000)));
            let opened = Ledger::open(&test.dir, options())
                .unwrap_or_else(|error| panic!("round {round}, seed {seed}: {error}"));
            let reader = test.reader();
            // Entries from earlier rounds have already been checked. The last round checks all of them again.
            let checked = if last { &all[..] } else { &all[all.len() - 1..] };
            for number in checked.iter().flatten() {
                let id = event(*number).id.to_string();
                let seq = reader.find(&id).unwrap();
                let seq =
                    seq.unwrap_or_else(|| panic!("{number} was acknowledged and is missing, seed {seed}"));
                if last {
                    assert_eq!(
                        opened.ledger.append(entry(*number)).unwrap().seq(),
                        seq,
                        "it is recorded once"
                    );
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

/// Runs one round. Returns the entries that were acknowledged before the process was killed.
fn kill_once(test: &TestLedger, durability: &str, round: u64, after_us: u64) -> Vec<u64> {
    let input = format!("{} {} {durability}", test.dir.display(), 1 + round * NUMBERS);
    let mut child = start(command(&std::env::current_exe().unwrap(), r#"exec "$@""#), &input);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    // Most processes are killed while they record. Every fourth is killed early, possibly while it opens the ledger.
    let mut lines = Vec::new();
    if round % 4 != 3 {
        lines = read_lines(&mut out, |line| line == "open" || line.starts_with("refused"));
    }
    std::thread::sleep(Duration::from_micros(after_us));
    child.kill().unwrap();
    lines.extend(read_lines(&mut out, |_| false));
    child.wait().unwrap();
    assert!(!lines.iter().any(|line| line.contains("refused")), "{lines:?}");
    acked(&lines)
}

#[test]
fn what_was_acknowledged_survives_kill_9() {
    kill_repeatedly("durable", rounds(ROUNDS), 80);
}

#[test]
fn what_was_acknowledged_survives_kill_9_when_durability_is_relaxed() {
    kill_repeatedly("relaxed", rounds(ROUNDS).div_ceil(4), 80);
}

#[test]
fn what_was_acknowledged_survives_kill_9_when_the_ledger_is_opened_for_each() {
    kill_repeatedly("brief", rounds(ROUNDS).div_ceil(4), 800);
}
