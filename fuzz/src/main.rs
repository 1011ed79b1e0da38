// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `tenterhook-fuzz [SECONDS] [TARGET] [SEED]` runs targets on mutated texts until the time is up.
//! `tenterhook-fuzz show TARGET FILE…` prints the results for files.
//!
//! The work is done in a child process, so that stack overflows and endless loops are found as well as panics. Every
//! finding is stored in `fuzz/regressions`.

#![expect(clippy::print_stdout, reason = "this is a command-line tool")]

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::process::{Resource, Rlimit, setrlimit};
use tenterhook_fuzz::check::{FuzzFailure, check};
use tenterhook_fuzz::mutate::mutate;
use tenterhook_fuzz::random_choices::RandomChoices;
use tenterhook_fuzz::seeds::repository;
use tenterhook_fuzz::targets::{self, FuzzTarget, TARGETS};

/// Wall-clock time after which a text counts as an endless loop.
const HANG_TIMEOUT: Duration = Duration::from_mins(2);
/// Maximum time for reducing a finding.
const MAX_REDUCTION_TIME: Duration = Duration::from_secs(10);
/// Maximum number of interesting texts kept for each target, and their maximum total length in bytes.
const MAX_KEPT_TEXTS: usize = 20_000;
const MAX_KEPT_BYTES: usize = 64 << 20;
/// Memory limit of a worker.
const WORKER_MEMORY_BYTES: u64 = 4 << 30;
/// Stack size of a worker, as in a thread of a server.
const WORKER_STACK_BYTES: usize = 2 << 20;
/// Time for one target before the next one is run.
const TARGET_TURN: Duration = Duration::from_secs(10);

fn main() -> Result<ExitCode> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    if let [worker, seconds, target, seed, current] = words.as_slice()
        && worker == "--worker"
    {
        let target = target.clone();
        let (seconds, seed, current) = (seconds.parse()?, seed.parse()?, PathBuf::from(current));
        let limit = Rlimit { current: Some(WORKER_MEMORY_BYTES), maximum: Some(WORKER_MEMORY_BYTES) };
        setrlimit(Resource::As, limit).context("cannot limit memory")?;
        let work = move || run_worker(Duration::from_secs(seconds), &target, seed, &current);
        let thread = thread::Builder::new().stack_size(WORKER_STACK_BYTES).spawn(work)?;
        return thread.join().unwrap_or_else(|_| anyhow::bail!("the fuzzer itself panicked"));
    }
    if let [show, target, files @ ..] = words.as_slice()
        && show == "show"
    {
        return self::show(target, files);
    }
    let seconds: u64 = words.first().map_or(Ok(300), |word| word.parse()).context("SECONDS is a number")?;
    let target = words.get(1).map_or("all", String::as_str);
    let seed: u64 = words.get(2).map_or(Ok(1), |word| word.parse()).context("SEED is a number")?;
    supervise(Duration::from_secs(seconds), target, seed)
}

fn show(target: &str, files: &[String]) -> Result<ExitCode> {
    let target = TARGETS.iter().find(|row| row.name == target).context("unknown target")?;
    let mut wrong = false;
    for file in files {
        let text = fs::read_to_string(file)?;
        let start = Instant::now();
        let checked = check(target, &text);
        println!("{file}: {checked:?} {:?}", start.elapsed());
        if target.name == "shell" {
            let start = Instant::now();
            let facts = targets::shell_facts(&text);
            println!("facts alone: {:?}, {} texts not read", start.elapsed(), facts.unread.len());
            if text.len() < 2000 {
                println!("{}", serde_json::to_string_pretty(&facts)?);
            }
        }
        wrong |= checked.is_err();
    }
    Ok(if wrong { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Starts workers until the time is up. If a worker dies, its last text is a finding.
fn supervise(time: Duration, target: &str, mut seed: u64) -> Result<ExitCode> {
    let start = Instant::now();
    let dir = tempfile::tempdir()?;
    let current = dir.path().join("current");
    let mut found = false;
    while let Some(left) = time.checked_sub(start.elapsed()).filter(|left| left.as_secs() > 0) {
        let seconds = left.as_secs().to_string();
        // Discards the text that an earlier worker left.
        fs::write(&current, "")?;
        let mut child = Command::new(std::env::current_exe()?)
            .args(["--worker", &seconds, target, &seed.to_string()])
            .arg(&current)
            .stderr(Stdio::piped())
            .spawn()?;
        seed = seed.wrapping_add(1);
        let ended = wait_for_worker(&mut child, &current)?;
        let mut stderr_text = String::new();
        if let Some(mut stderr) = child.stderr.take() {
            stderr.read_to_string(&mut stderr_text)?;
        }
        let word = match ended {
            WorkerEnd::Finished(any) => {
                found |= any;
                continue;
            }
            WorkerEnd::Hanging => "hang",
            WorkerEnd::Died if stderr_text.contains("memory allocation") => "memory",
            WorkerEnd::Died => "abort",
        };
        found = true;
        println!("a worker died: {}", stderr_text.trim());
        let whole = fs::read_to_string(&current).unwrap_or_default();
        let (name, text) = whole.split_once('\n').unwrap_or(("shell", &whole));
        store_finding(name, word, text)?;
    }
    Ok(if found { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// How a worker ended.
enum WorkerEnd {
    Finished(bool),
    Died,
    Hanging,
}

fn wait_for_worker(child: &mut Child, current: &Path) -> Result<WorkerEnd> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(match status.code() {
                Some(0) => WorkerEnd::Finished(false),
                Some(1) => WorkerEnd::Finished(true),
                _ => WorkerEnd::Died,
            });
        }
        let since =
            fs::metadata(current).and_then(|file| file.modified()).ok().and_then(|then| then.elapsed().ok());
        if since.is_some_and(|since| since > HANG_TIMEOUT) {
            child.kill()?;
            child.wait()?;
            return Ok(WorkerEnd::Hanging);
        }
        thread::sleep(Duration::from_millis(200));
    }
}

/// One target with its texts and findings.
struct TargetRun {
    target: &'static FuzzTarget,
    texts: Vec<String>,
    /// Total length of the kept texts.
    bytes: usize,
    seen: BTreeSet<u64>,
    read: usize,
    wrong: BTreeSet<String>,
}

fn run_worker(time: Duration, only: &str, seed: u64, current: &Path) -> Result<ExitCode> {
    // A panic is caught and reported once.
    std::panic::set_hook(Box::new(|_| {}));
    let start = Instant::now();
    let mut random = RandomChoices::new(seed);
    let mut runs: Vec<_> = TARGETS
        .iter()
        .filter(|target| only == "all" || only == target.name)
        .map(|target| TargetRun {
            target,
            texts: (target.seeds)(),
            bytes: 0,
            seen: BTreeSet::new(),
            read: 0,
            wrong: BTreeSet::new(),
        })
        .collect();
    anyhow::ensure!(!runs.is_empty(), "unknown target `{only}`");
    for run in &mut runs {
        anyhow::ensure!(!run.texts.is_empty(), "`{}` has no seeds", run.target.name);
        for at in 0..run.texts.len() {
            let text = run.texts.get(at).cloned().unwrap_or_default();
            run.check_text(text, current)?;
        }
    }
    while start.elapsed() < time {
        for run in &mut runs {
            let turn = Instant::now();
            while turn.elapsed() < TARGET_TURN && start.elapsed() < time {
                let (at, other) = (random.below(run.texts.len()), random.below(run.texts.len()));
                let [Some(text), Some(other)] = [at, other].map(|at| run.texts.get(at)) else { break };
                let mutant = mutate(text, other, &mut random);
                run.check_text(mutant, current)?;
            }
        }
    }
    for run in &runs {
        println!(
            "{:8} {:9} texts, {:6} kept, {} found",
            run.target.name,
            run.read,
            run.texts.len(),
            run.wrong.len()
        );
    }
    let found = runs.iter().any(|run| !run.wrong.is_empty());
    Ok(if found { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

impl TargetRun {
    fn check_text(&mut self, text: String, current: &Path) -> Result<()> {
        fs::write(current, format!("{}\n{text}", self.target.name))?;
        self.read += 1;
        match check(self.target, &text) {
            Ok(said) => {
                let mut hasher = DefaultHasher::new();
                said.hash(&mut hasher);
                let room = self.texts.len() < MAX_KEPT_TEXTS && self.bytes + text.len() < MAX_KEPT_BYTES;
                if self.seen.insert(hasher.finish()) && room {
                    self.bytes += text.len();
                    self.texts.push(text);
                }
            }
            Err(wrong) => {
                let (FuzzFailure::Panic(why)
                | FuzzFailure::Property(why)
                | FuzzFailure::Slow(why)
                | FuzzFailure::Large(why)) = &wrong;
                // Two messages that differ only in numbers belong to the same finding.
                let kind: String = why.chars().filter(|c| !c.is_ascii_digit()).take(80).collect();
                if self.wrong.insert(format!("{}{kind}", wrong.file_word())) && self.wrong.len() <= 50 {
                    let small = reduce_text(self.target, &text, &wrong);
                    println!("{} {}: {why}", self.target.name, wrong.file_word());
                    store_finding(self.target.name, wrong.file_word(), &small)?;
                }
            }
        }
        Ok(())
    }
}

/// Removes parts of a text that are not needed for the finding.
fn reduce_text(target: &FuzzTarget, text: &str, wrong: &FuzzFailure) -> String {
    let start = Instant::now();
    let mut letters: Vec<char> = text.chars().collect();
    let mut size = letters.len() / 2;
    while size > 0 && start.elapsed() < MAX_REDUCTION_TIME {
        let mut at = 0;
        while at < letters.len() && start.elapsed() < MAX_REDUCTION_TIME {
            let less: Vec<char> =
                letters.iter().take(at).chain(letters.iter().skip(at + size)).copied().collect();
            let same = check(target, &less.iter().collect::<String>())
                .is_err_and(|now| now.file_word() == wrong.file_word());
            if same {
                letters = less;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    letters.into_iter().collect()
}

/// Stores a finding.
fn store_finding(target: &str, word: &str, text: &str) -> Result<()> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let dir = repository().join("fuzz/regressions").join(target);
    fs::create_dir_all(&dir)?;
    let path = dir.join(format!("{word}-{:08x}.txt", hasher.finish() >> 32));
    fs::write(&path, text)?;
    println!("kept {}", path.display());
    Ok(())
}
