// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `doctor --prove`: runs each installed client once against a scripted model on loopback, with a copy of its
//! settings in a temporary directory. Reports whether the hook fired and whether the client obeyed its denial.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::json;
use tenterhook_harness::{HARNESSES, Harness};
use tenterhook_harness_install::HarnessClient as _;
use tenterhook_harness_install::{DetectedClient, SettingsScope, detect};
use tenterhook_hook_proof::{Canary, ProofResult, ProofStage, ProofVerdict};

use crate::commands::agent::run::run_until_cancelled;
use crate::context::Context;
use crate::error::CommandError;
use crate::read_input;
use crate::setup::CliHost;
use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN, tame};
use tenterhook_setup::wiring;

/// The result for one harness.
#[derive(Debug, Serialize)]
struct ClientProof {
    harness: &'static str,
    #[serde(skip)]
    title: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<std::path::PathBuf>,
    result: ProofResult,
    reason: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
    milliseconds: u64,
}

pub(super) fn run(context: &Context, named: &[String], timeout: Duration) -> Result<ExitCode, CommandError> {
    let harnesses = select_harnesses(context, named)?;
    let stage = ProofStage::set(&context.home()?.bin())?;
    let proofs = run_until_interrupted(|is_cancelled| {
        let mut proofs = Vec::new();
        for harness in &harnesses {
            proofs.push(prove_harness(context, &stage, harness, timeout, is_cancelled)?);
            if is_cancelled() {
                return Err(CommandError::internal("interrupted before every client was run"));
            }
        }
        Ok(proofs)
    })?;
    print_report(context, &proofs)?;
    let failed = |proof: &ClientProof| match proof.result {
        ProofResult::Proven => false,
        ProofResult::NotFired | ProofResult::NotObeyed => true,
        ProofResult::NotProvable => !named.is_empty(),
    };
    Ok(if proofs.iter().any(failed) { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs blocking work on a separate thread. The work can check whether a signal asked it to end.
fn run_until_interrupted<T: Send>(
    work: impl FnOnce(&dyn Fn() -> bool) -> Result<T, CommandError> + Send,
) -> Result<T, CommandError> {
    let interrupted = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (sender, finished) = tokio::sync::oneshot::channel();
        scope.spawn(|| drop(sender.send(work(&|| interrupted.load(Ordering::Relaxed)))));
        run_until_cancelled(async |cancel| {
            tokio::pin!(finished);
            let result = tokio::select! {
                result = &mut finished => result,
                () = cancel.cancelled() => {
                    interrupted.store(true, Ordering::Relaxed);
                    finished.await
                }
            };
            result.map_err(|_| CommandError::internal("the proof ended without a result"))?
        })
    })
}

/// Returns the named harnesses, or all that are installed or guarded if none is named.
fn select_harnesses(context: &Context, named: &[String]) -> Result<Vec<&'static Harness>, CommandError> {
    if !named.is_empty() {
        return named.iter().map(|name| read_input::parse_harness(name)).collect();
    }
    let (home, ground) = (context.home()?, context.env.machine());
    let is_guarded = |harness: &Harness| {
        harness.installer().is_some_and(|installer| {
            installer.wired_as == harness.id && !wiring::installed_options(home, installer).is_empty()
        })
    };
    Ok(HARNESSES.iter().filter(|harness| is_guarded(harness) || detect(harness, &ground).is_some()).collect())
}

fn prove_harness(
    context: &Context,
    stage: &ProofStage,
    harness: &'static Harness,
    timeout: Duration,
    is_cancelled: &dyn Fn() -> bool,
) -> Result<ClientProof, CommandError> {
    let started = Instant::now();
    let mut found = detect(harness, &context.env.machine()).unwrap_or_default();
    let verdict = match prepare_run(context, stage, harness, &found) {
        Err(verdict) => verdict,
        Ok(canary) => {
            found.version = found.version.or_else(|| canary.version(is_cancelled));
            let version = found.version.as_deref().unwrap_or_default();
            context.terminal.eprint(&format!("{DIM}running {} {version} …{DIM:#}\n", harness.title))?;
            canary.run(stage, timeout, is_cancelled)?
        }
    };
    let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let ProofVerdict { result, mut reason, fix } = verdict;
    let DetectedClient { version, program, .. } = found;
    for gap in wiring::version_gaps(harness, version.as_deref()) {
        reason += &format!("; but {gap}");
    }
    Ok(ClientProof {
        harness: harness.id,
        title: harness.title,
        version,
        program,
        result,
        reason,
        fix,
        milliseconds,
    })
}

/// Prepares the run, or returns the reason why the harness cannot be proved.
fn prepare_run<'a>(
    context: &'a Context,
    stage: &'a ProofStage,
    harness: &'static Harness,
    found: &DetectedClient,
) -> Result<Canary<'a>, ProofVerdict> {
    let not_provable = |error: CommandError| ProofVerdict::not_provable(error.message);
    let launch = harness.launch().map_err(ProofVerdict::not_provable)?;
    let installer = wiring::installer(harness).map_err(not_provable)?;
    let home = context.home().map_err(not_provable)?;
    let host = CliHost { context, home };
    let asked = wiring::installed_options(home, installer);
    let install = format!("`tenterhook install {}`", harness.id);
    // These hooks would record the run in the machine's ledger.
    if let Some(hooks) = wiring::machine_hooks(&host.setup(), harness) {
        let reason = format!(
            "its hooks are in machine-wide settings (`{}`), which cannot be copied",
            hooks.settings.display()
        );
        return Err(ProofVerdict::not_provable(reason));
    }
    let Some(asked) = asked.into_iter().find(|asked| asked.scope == SettingsScope::User) else {
        let reason = "Tenterhook is not installed in your settings of this harness";
        return Err(ProofVerdict::not_provable(reason).fix(install));
    };
    if asked.http {
        return Err(ProofVerdict::not_provable("its hooks call the daemon over HTTP; the test has none"));
    }
    let Some(program) = found.program.clone() else {
        let names = harness.programs().join("` or `");
        return Err(ProofVerdict::not_provable(format!("`{names}` is not on the PATH")));
    };
    let real = wiring::install_request(&host.setup(), harness, &asked).map_err(not_provable)?;
    let path = context.env.all.get("PATH").map_or("", String::as_str).as_ref();
    stage.canary(harness, launch, installer, &real, program, path)
}

fn print_report(context: &Context, proofs: &[ClientProof]) -> Result<(), CommandError> {
    let number = |result| proofs.iter().filter(|proof| proof.result == result).count();
    let failed = number(ProofResult::NotFired) + number(ProofResult::NotObeyed);
    if context.terminal.json {
        return context.terminal.print_json(&json!({"proven": failed == 0, "harnesses": proofs}));
    }
    let mut text: String = proofs.iter().map(proof_line).collect();
    text += &match (failed, number(ProofResult::Proven)) {
        (0, 0) => format!("{WARN}! no hook was proven{WARN:#}\n"),
        (0, proven) => format!("{GOOD}✓ {proven} proven{GOOD:#}, {} not provable\n", proofs.len() - proven),
        (failed, proven) => format!("{BAD}✗ {failed} failed{BAD:#}, {proven} proven\n"),
    };
    context.terminal.print(&text)
}

fn proof_line(proof: &ClientProof) -> String {
    let (mark, style, word) = match proof.result {
        ProofResult::Proven => ("✓", GOOD, "proven"),
        ProofResult::NotFired => ("✗", BAD, "not fired"),
        ProofResult::NotObeyed => ("✗", BAD, "fired but not obeyed"),
        ProofResult::NotProvable => ("!", WARN, "not provable"),
    };
    let version = proof.version.as_deref().map(|version| format!(" {}", tame(version))).unwrap_or_default();
    let seconds = Duration::from_millis(proof.milliseconds).as_secs_f32();
    let time = if proof.result == ProofResult::NotProvable && proof.milliseconds < 1000 {
        String::new()
    } else {
        format!(" {DIM}({seconds:.1} s){DIM:#}")
    };
    let ClientProof { title, reason, .. } = proof;
    let mut line =
        format!("{style}{mark}{style:#} {BOLD}{title}{BOLD:#}{version}: {word}: {}{time}\n", tame(reason));
    if let Some(fix) = &proof.fix {
        line += &format!("  {DIM}→ {fix}{DIM:#}\n");
    }
    line
}
