// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Measures the ledger: appending, verifying, proving and opening. Its files are on the same disk as the
//! build.

use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Instant;

use rusqlite::Connection;
use tenterhook_event::{Attributed, DecidedCall, Decision, EventId, HookCall, Origin, Outcome, Timestamp};
use tenterhook_ledger::tree::{self, Frontier};
use tenterhook_ledger::{
    Durability, Expectations, Filter, Hash, Ledger, LedgerEntry, LedgerOptions, QueuedEntry, Reader,
};

use crate::cases::SetupError;
use crate::measure::BenchResult;

const RECORD_COUNT: u64 = 1_000_000;
const RECORD_COUNT_F64: f64 = 1e6;
/// Number of pending appends when batches are measured.
const PENDING_APPENDS: u64 = 2_000;
/// Number of single appends for warm-up, and number of measured ones.
const WARM_UP_APPENDS: u64 = 1_500;
const SINGLE_APPENDS: u64 = 1_000;
/// Memory is compared at these two numbers of records. It may grow by `MAX_GROWTH_KB`, which is enough for
/// one page cache and one queue.
const GROWTH_RANGE: (u64, u64) = (50_000, 200_000);
const MAX_GROWTH_KB: u32 = 2_048;

fn failed(error: impl std::fmt::Display) -> SetupError {
    SetupError(error.to_string())
}

fn clock() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0)
}

pub(crate) fn run(call: &HookCall, ten_million: bool) -> Result<Vec<BenchResult>, SetupError> {
    // The system's temporary directory is not used, because it may be in memory, where a sync costs nothing.
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR"))?;
    let mut results = single(call, &dir.path().join("single"))?;
    results.extend(million(call, &dir.path().join("million"))?);
    if ten_million {
        results.push(prove_ten_million(&dir.path().join("ten.db"))?);
    }
    Ok(results)
}

/// Decision `number`, about 1 KiB with its payload.
fn entry(call: &HookCall, number: u64) -> LedgerEntry {
    let mut call = call.clone();
    call.event.id = EventId::from_parts(clock(), u128::from(number));
    call.event.harness_session_id = Some(format!("89917c00-1a49-493b-9066-{:012}", number / 500));
    if let Some(args) = call.event.tool.as_mut().and_then(|tool| tool.args.as_object_mut()) {
        args.insert("description".into(), "Run the tests of the whole workspace. ".repeat(8).into());
    }
    let decided = DecidedCall {
        call: &call,
        outcome: &Outcome::default(),
        generation: "g1",
        took_us: 40,
        facts: None,
        file_effects: None,
    };
    LedgerEntry::decision(&decided, &|_| Vec::new())
}

/// Decision `number` of a busy month. The decisions have eight tools, three verdicts, 5,000 sessions and
/// different commands.
fn varied_entry(call: &HookCall, number: u64) -> LedgerEntry {
    const TOOLS: [&str; 8] = ["Bash", "Read", "Edit", "Write", "Grep", "Glob", "WebFetch", "Task"];
    const MONTH_MS: u64 = 30 * 86_400_000;
    let mut call = call.clone();
    // Multiplying by an odd constant gives neighbouring numbers very different values.
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let ts = clock() - MONTH_MS + number * (MONTH_MS / RECORD_COUNT);
    call.event.id = EventId::from_parts(clock(), u128::from(mixed) << 64 | u128::from(number));
    call.event.ts = Timestamp::from_unix_ms(ts);
    call.event.harness_session_id =
        Some(format!("89917c00-1a49-493b-9066-{:012}", number / 800 * 4 + mixed % 4));
    if let Some(tool) = &mut call.event.tool {
        let place = usize::try_from(mixed >> 61).unwrap_or(0);
        TOOLS.get(place).copied().unwrap_or("Bash").clone_into(&mut tool.name);
        if let Some(args) = tool.args.as_object_mut() {
            let command = format!("cargo test -p crate-{} -- case_{mixed:016x}", number % 997);
            args.insert("command".into(), command.into());
            args.insert("description".into(), "Run the tests of the whole workspace. ".repeat(8).into());
        }
    }
    let outcome = match mixed >> 32 & 63 {
        0 => denial(),
        1..4 => Outcome { decision: Decision::Allow, ..Outcome::default() },
        _ => Outcome::default(),
    };
    let decided = DecidedCall {
        call: &call,
        outcome: &outcome,
        generation: "g1",
        took_us: 40,
        facts: None,
        file_effects: None,
    };
    LedgerEntry::decision(&decided, &|_| Vec::new())
}

fn denial() -> Outcome {
    let said = |what: &str| Attributed { by: Origin::rule("remote-code"), value: what.to_owned() };
    Outcome {
        decision: Decision::Deny,
        reasons: vec![said("This runs code straight from the network.")],
        ..Outcome::default()
    }
}

/// Statistics and text search over a million records, with a warm page cache.
fn search(reader: &Reader) -> Result<Vec<BenchResult>, SetupError> {
    let week_ago = clock() - 7 * 86_400_000 + 123_456;
    let stats = [
        ("ledger: statistics, 1 M records", Some(100e6), Filter::default()),
        (
            "ledger: statistics of 7 days, 1 M records",
            None,
            Filter { from_ms: Some(week_ago), ..Filter::default() },
        ),
        (
            "ledger: statistics of a tool, 1 M records",
            None,
            Filter { tool: Some("Bash".into()), ..Filter::default() },
        ),
    ];
    let mut results = Vec::new();
    for (name, limit, filter) in stats {
        let samples = (0..5).map(|_| timed(|| reader.stats(&filter).map(drop))).collect::<Result<_, _>>()?;
        results.push(BenchResult::of(name, limit, 1, samples));
    }
    // Search strings: the command of one record, a text that every record contains, and a text that no record
    // contains.
    let command = |number: u64| format!("case_{:016x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let texts = [
        ("ledger: search, in one old record of 1 M", Some(200e6), command(1_234)),
        ("ledger: search, in all of 1 M records", Some(200e6), "whole WORKSPACE".into()),
        ("ledger: search, in none of 1 M records", Some(200e6), "terraform destroy".into()),
        ("ledger: search of 4 bytes, in none of 1 M", None, "zqxj".into()),
        ("ledger: search of 3 bytes, in none of 1 M", None, "~}~".into()),
    ];
    for (name, limit, text) in texts {
        let filter = Filter { text: Some(text), ..Filter::default() };
        let samples =
            (0..5).map(|_| timed(|| reader.query(&filter, 50).map(drop))).collect::<Result<_, _>>()?;
        results.push(BenchResult::of(name, limit, 1, samples));
    }
    Ok(results)
}

/// Measures single appends, each with a sync. They are compared with plain commits of the same number of
/// bytes to pages of the same size. Both are warmed up, so that their journals no longer grow.
fn single(call: &HookCall, dir: &Path) -> Result<Vec<BenchResult>, SetupError> {
    let ledger = Ledger::open(dir, LedgerOptions::new(clock)).map_err(failed)?.ledger;
    let mut options = LedgerOptions::new(clock);
    options.durability = Durability::Relaxed;
    let relaxed = Ledger::open(&dir.join("relaxed"), options).map_err(failed)?.ledger;
    ledger.append(entry(call, 0)).map_err(failed)?;
    let bytes = vec![b'x'; row_bytes(dir)?];
    let bare = Connection::open(dir.join("bare.db")).map_err(failed)?;
    bare.execute_batch(
        "PRAGMA page_size = 8192; PRAGMA journal_mode = wal; PRAGMA synchronous = full; CREATE TABLE t (seq INTEGER PRIMARY KEY, bytes BLOB)",
    )
    .map_err(failed)?;
    let mut insert = bare.prepare("INSERT INTO t (bytes) VALUES (?1)").map_err(failed)?;
    let (mut commits, mut appends, mut loose) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1..=WARM_UP_APPENDS + SINGLE_APPENDS {
        commits.push(timed(|| insert.execute([&bytes]).map(drop))?);
        let next = entry(call, number);
        appends.push(timed(|| ledger.append(next).map(drop))?);
        let next = entry(call, number);
        loose.push(timed(|| relaxed.append(next).map(drop))?);
    }
    let warm = usize::try_from(WARM_UP_APPENDS).unwrap_or(0);
    let [commits, appends, loose] = [commits, appends, loose].map(|mut samples| samples.split_off(warm));
    let commit = BenchResult::of("ledger: a bare SQLite commit of as much", None, 1, commits);
    let limit = Some(commit.median_ns * 1.3);
    let append = BenchResult::of("ledger: one durable append", limit, 1, appends);
    Ok(vec![commit, append, BenchResult::of("ledger: one relaxed append", None, 1, loose)])
}

/// Size of the row of a record, without the overhead of SQLite.
fn row_bytes(dir: &Path) -> Result<usize, SetupError> {
    let database = Connection::open(dir.join("ledger.db")).map_err(failed)?;
    let lengths = ["nodes", "id", "kind", "source", "session", "tool", "verdict", "bytes", "salt", "payload"]
        .map(|column| format!("coalesce(length({column}), 0)"))
        .join(" + ");
    let sql = format!("SELECT {lengths} FROM leaves WHERE seq = 1");
    let bytes: u32 = database.query_row(&sql, [], |row| row.get(0)).map_err(failed)?;
    usize::try_from(bytes).map_err(failed)
}

fn timed<E: std::fmt::Display>(work: impl FnOnce() -> Result<(), E>) -> Result<f64, SetupError> {
    let started = Instant::now();
    work().map_err(failed)?;
    Ok(started.elapsed().as_secs_f64() * 1e9)
}

/// A million records: appended in batches, opened, proved, verified.
fn million(call: &HookCall, dir: &Path) -> Result<Vec<BenchResult>, SetupError> {
    let ledger = Ledger::open(dir, LedgerOptions::new(clock)).map_err(failed)?.ledger;
    let mut memory = Vec::new();
    let mut appends = Vec::new();
    let (tell, told) = channel();
    let mut number = 0;
    while number < RECORD_COUNT {
        let started = Instant::now();
        for _ in 0..PENDING_APPENDS {
            let tell = tell.clone();
            // Fewer appends are pending than the queue holds, so none is rejected.
            ledger
                .append(QueuedEntry::new(varied_entry(call, number), move |result| drop(tell.send(result))))
                .map_err(failed)?;
            number += 1;
        }
        for result in told.iter().take(usize::try_from(PENDING_APPENDS).unwrap_or(0)) {
            result.map_err(failed)?;
        }
        #[expect(clippy::cast_precision_loss, reason = "two thousand is exact")]
        appends.push(started.elapsed().as_secs_f64() * 1e9 / PENDING_APPENDS as f64);
        if [GROWTH_RANGE.0, GROWTH_RANGE.1, RECORD_COUNT].contains(&number) {
            memory.push(resident());
        }
    }
    let [writer, wal] = ["ledger", "ledger-wal"].map(|name| named_thread_cpu_time(name) / RECORD_COUNT_F64);
    ledger.close().map_err(failed)?;
    let mut results =
        vec![BenchResult::of("ledger: durable appends in batches, each", Some(20_000.0), 2000, appends)];
    results.push(BenchResult::of(
        "ledger: of that, the writer on its core",
        Some(8_000.0),
        1_000_000,
        vec![writer],
    ));
    results.push(BenchResult::of("ledger: of that, moving the journal", None, 1_000_000, vec![wal]));
    let names = ["ledger: memory grown, 50 k to 200 k", "ledger: memory grown, to a million"];
    for (name, later) in names.into_iter().zip(memory.iter().skip(1)) {
        let first = memory.first().copied().unwrap_or(0);
        let grown = f64::from(u32::try_from(later.saturating_sub(first)).unwrap_or(u32::MAX));
        results.push(BenchResult::of(name, Some(f64::from(MAX_GROWTH_KB)), 1, vec![grown]).in_unit("kB"));
    }
    results.extend(open_append_close(call, &dir.join("brief"))?);
    let mut opens = Vec::new();
    for _ in 0..20 {
        let started = Instant::now();
        let opened = Ledger::open(dir, LedgerOptions::new(clock)).map_err(failed)?;
        opens.push(started.elapsed().as_secs_f64() * 1e9);
        drop(opened);
    }
    results.push(BenchResult::of("ledger: open, 1 M leaves", Some(200e6), 1, opens));
    let reader = Reader::open(dir).map_err(failed)?;
    let mut proofs = Vec::new();
    for number in 0..300 {
        proofs.push(timed(|| reader.proof(number * 7919 % RECORD_COUNT).map(drop))?);
    }
    results.push(BenchResult::of("ledger: proof of one leaf, 1 M leaves", Some(5e6), 1, proofs));
    results.extend(search(&reader)?);
    let (mut verifies, mut on_core) = (Vec::new(), Vec::new());
    for _ in 0..3 {
        let before = thread_cpu_time(Path::new("/proc/thread-self"));
        let took = timed(|| reader.verify(Expectations::default(), &mut |_, _| ()).map(drop))?;
        verifies.push(took / RECORD_COUNT_F64);
        on_core.push((thread_cpu_time(Path::new("/proc/thread-self")) - before) / RECORD_COUNT_F64);
    }
    results.push(BenchResult::of("ledger: verify, each leaf", None, 1_000_000, verifies));
    // The limit is on the processor time of one core, so other load does not affect it.
    results.push(BenchResult::of(
        "ledger: verify, each leaf, time on its core",
        Some(5_000.0),
        1_000_000,
        on_core,
    ));
    Ok(results)
}

/// Opens the ledger, appends and closes it, as a hook without a daemon does.
fn open_append_close(call: &HookCall, dir: &Path) -> Result<Vec<BenchResult>, SetupError> {
    let mut calls = Vec::new();
    for number in 0..200 {
        let next = entry(call, number);
        calls.push(timed(|| -> Result<(), String> {
            let opened = Ledger::open(dir, LedgerOptions::brief(clock)).map_err(|error| error.to_string())?;
            opened.ledger.append(next).and_then(|_| opened.ledger.close()).map_err(|error| error.to_string())
        })?);
    }
    Ok(vec![BenchResult::of("ledger: open, append, close", None, 1, calls)])
}

/// Processor time of a thread, in nanoseconds.
fn thread_cpu_time(thread: &Path) -> f64 {
    let text = std::fs::read_to_string(thread.join("schedstat")).unwrap_or_default();
    text.split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(f64::NAN)
}

/// Processor time of the thread of this name, in nanoseconds.
fn named_thread_cpu_time(name: &str) -> f64 {
    let threads =
        std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten().map(|thread| thread.path());
    let named = |path: &std::path::PathBuf| {
        std::fs::read_to_string(path.join("comm")).is_ok_and(|found| found.trim() == name)
    };
    threads.filter(named).map(|path| thread_cpu_time(&path)).sum()
}

/// Resident memory in kB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// Measures proofs in a tree of ten million records, computed from stored hashes.
fn prove_ten_million(path: &Path) -> Result<BenchResult, SetupError> {
    struct Rows(Connection);
    impl tree::Nodes for Rows {
        type Error = rusqlite::Error;

        fn node(&self, level: u32, index: u64) -> Result<Hash, rusqlite::Error> {
            let mut statement =
                self.0.prepare_cached("SELECT substr(nodes, ?2, 32) FROM leaves WHERE seq = ?1")?;
            let seq = i64::try_from(tree::holding_leaf(level, index)).unwrap_or(0);
            let bytes: Vec<u8> = statement.query_row([seq, i64::from(level) * 32 + 1], |row| row.get(0))?;
            Hash::from_slice(&bytes).ok_or(rusqlite::Error::QueryReturnedNoRows)
        }
    }
    let size = 10 * RECORD_COUNT;
    let rows = Rows(Connection::open(path).map_err(failed)?);
    rows.0
        .execute_batch("PRAGMA journal_mode = off; PRAGMA synchronous = off; CREATE TABLE leaves (seq INTEGER PRIMARY KEY, nodes BLOB, bytes BLOB); BEGIN")
        .map_err(failed)?;
    let mut frontier = Frontier::new();
    {
        let mut insert =
            rows.0.prepare("INSERT INTO leaves VALUES (?1, ?2, zeroblob(128))").map_err(failed)?;
        for seq in 0..size {
            let mut completed = Vec::new();
            frontier.push(Hash::of_leaf(&seq.to_be_bytes()), &mut completed);
            let nodes: Vec<u8> = completed.iter().flat_map(|hash| hash.0).collect();
            insert.execute(rusqlite::params![i64::try_from(seq).unwrap_or(0), nodes]).map_err(failed)?;
        }
    }
    rows.0.execute_batch("COMMIT").map_err(failed)?;
    let mut paths = Vec::new();
    for number in 0..1000 {
        paths.push(timed(|| tree::inclusion_proof(&rows, number * 7_919_003 % size, size).map(drop))?);
    }
    Ok(BenchResult::of("ledger: path of one leaf, 10 M leaves", Some(5e6), 1, paths))
}
