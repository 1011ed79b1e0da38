// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `policy backtest`: measures how long the whole program takes to replay a ledger of decisions.

use std::process::Stdio;

use serde_json::Value;
use tenterhook_event::{DecidedCall, EventId, HookCall, Outcome};
use tenterhook_ledger::{Ledger, LedgerEntry, LedgerOptions};

use crate::cases::SetupError;
use crate::daemon::BenchHome;
use crate::measure::BenchResult;

const EVENT_COUNT: u64 = 100_000;
const ROUNDS: usize = 3;
/// Ordinary commands of agents.
const COMMANDS: &[&str] = &[
    "cargo test --workspace 2>&1 | tail -n 40",
    "git status --short && git diff --stat",
    "ls -la src",
    "rg -n 'fn main' crates | head -20",
    "sed -n '1,120p' crates/daemon/src/run.rs",
    "npm run build --silent",
    "python3 -m pytest -q tests/unit",
    "cat package.json | jq .scripts",
    "mkdir -p build/out && cp -r assets build/out/",
    "git add -A && git commit -q -m 'say what was done'",
    "curl -s https://api.example.org/v1/items | head -c 400",
    "for f in $(git ls-files '*.rs'); do wc -l \"$f\"; done | sort -n",
    "docker compose ps",
    "find . -name '*.log' -mtime +7 -print",
    "rm -rf target/tmp",
    "make lint",
];

const POLICY: &str = "version: 1\nrules:\n  - id: no-curl\n    match: {shell: {program: curl}}\n    verdict: deny\n    reason: not here\n";

pub(crate) fn run(call: &HookCall) -> Result<Vec<BenchResult>, SetupError> {
    let home = BenchHome::new(None, "")?;
    fill(call, &home)?;
    let policy = home.user_home().join("new.yaml");
    std::fs::write(&policy, POLICY)?;
    let mut each = Vec::new();
    for _ in 0..ROUNDS {
        let policy = policy.display().to_string();
        let ran =
            home.program(&["policy", "backtest", &policy, "--json"]).stderr(Stdio::inherit()).output()?;
        let answer: Value =
            serde_json::from_slice(&ran.stdout).map_err(|error| SetupError(error.to_string()))?;
        let number = |name: &str| answer.get(name).and_then(Value::as_f64).unwrap_or(f64::NAN);
        if answer.get("replayed").and_then(Value::as_u64) != Some(EVENT_COUNT) {
            return Err(SetupError(format!("{} events were replayed", number("replayed"))));
        }
        each.push(number("took_ms") * 1e6 / number("replayed"));
    }
    Ok(vec![BenchResult::of("backtest: 100,000 events, per event", Some(50_000.0), 1, each)])
}

fn fill(call: &HookCall, home: &BenchHome) -> Result<(), SetupError> {
    let failed = |error: String| SetupError(error);
    let clock = || u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0);
    let opened = Ledger::open(&home.state().join("ledger"), LedgerOptions::new(clock));
    let ledger = opened.map_err(|error| failed(error.to_string()))?.ledger;
    let mut batch = Vec::new();
    for number in 0..EVENT_COUNT {
        let mut call = call.clone();
        call.event.id = EventId::from_parts(clock(), u128::from(number));
        call.event.harness_session_id = Some(format!("89917c00-1a49-493b-9066-{:012}", number / 500));
        let command = usize::try_from(number).ok().and_then(|number| COMMANDS.get(number % COMMANDS.len()));
        if let Some(args) = call.event.tool.as_mut().and_then(|tool| tool.args.as_object_mut()) {
            args.insert("command".into(), command.copied().unwrap_or_default().into());
        }
        let decided = DecidedCall {
            call: &call,
            outcome: &Outcome::default(),
            generation: "g1",
            took_us: 40,
            facts: None,
            file_effects: None,
        };
        let entry = LedgerEntry::decision(&decided, &|_| Vec::new());
        batch.push(entry.seal(ledger.sealing()).map_err(|error| failed(error.to_string()))?);
        if batch.len() == 1_000 {
            ledger.append(std::mem::take(&mut batch)).map_err(|error| failed(error.to_string()))?;
        }
    }
    ledger.close().map_err(|error| failed(error.to_string()))
}
