// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The temporary directory of a proof. It contains a state directory with copies of the hook programs and a rule that
//! denies the canary command. For each client it contains a home directory with a copy of the client's settings. The
//! directory is deleted at the end.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;
use tenterhook_error::Failure;
use tenterhook_guard::{LedgerHandle, snapshot};
use tenterhook_harness::Harness;
use tenterhook_harness_install::launch::{ClientLaunch, copy_settings, hook_program_in};
use tenterhook_harness_install::{InstallRequest, Installer, MachineEnvironment, SettingsScope};
use tenterhook_home::{Env, Home, WorkDirs};
use tenterhook_ledger::Reader;

use crate::ProofVerdict;
use crate::canary::{ALLOWED, Canary, DENIED};

/// Id of the rule that denies the canary command.
const RULE_ID: &str = "doctor-canary";
/// Programs that hooks need.
const PROGRAMS: &[&str] = &["tenterhook", "tenterhook-hook", "tenterhook-status"];
/// More records than one run of a client creates.
const MAX_RECORDS: u64 = 100_000;

/// The temporary directory of a proof.
pub struct ProofStage {
    root: PathBuf,
    /// State directory of the copied hook programs.
    home: Home,
    _directory: tempfile::TempDir,
}

/// What the hooks recorded during a run.
#[derive(Debug, Default)]
pub(crate) struct RecordedHooks {
    /// Names of the events, each once.
    pub(crate) events: Vec<String>,
    /// Whether the rule denied the canary command.
    pub(crate) denied: bool,
}

impl ProofStage {
    /// Creates the directory. `bin` contains the installed hook programs.
    pub fn set(bin: &Path) -> Result<Self, Failure> {
        // The prefix must not contain Tenterhook's name: the rules that protect its own files would match the path.
        let directory = tempfile::Builder::new().prefix("hook-proof-").tempdir()?;
        // Clients resolve symbolic links, so the path must be canonical.
        let root = fs_err::canonicalize(directory.path())?;
        let home = Home::in_dir(root.join("state"));
        home.mark_installed()?;
        for name in PROGRAMS {
            let (real, copy) = (bin.join(name), home.bin().join(name));
            // A missing program is not an error here: the proof has to show its effect.
            if real.is_file() && fs_err::hard_link(&real, &copy).is_err() {
                fs_err::copy(&real, &copy)?;
            }
        }
        let rule = json!({
            "id": RULE_ID,
            "description": "denies the canary of `doctor --prove`",
            "match": {"effect": {"does": ["write"], "path": [format!("**/{DENIED}")]}},
            "verdict": "deny",
            "reason": "This command tests whether the hook is called.",
        });
        // The policy is written as JSON, which is valid YAML.
        fs_err::write(home.policy(), json!({"version": 1, "rules": [rule]}).to_string())?;
        let env = Env { home: Some(root.clone()), ..Env::default() };
        snapshot::write(&home, &env, &WorkDirs::default())?;
        Ok(Self { root, home, _directory: directory })
    }

    /// Copies the settings of a client, or returns why that is impossible. `path` becomes the client's `PATH`.
    pub fn canary<'a>(
        &'a self,
        harness: &'static Harness,
        launch: &'static ClientLaunch,
        installer: &Installer,
        real: &InstallRequest,
        program: PathBuf,
        path: &'a OsStr,
    ) -> Result<Canary<'a>, ProofVerdict> {
        let hook = hook_program_in(real);
        if hook.to_str().is_none_or(|path| path.contains(['\'', '"', '\\'])) {
            let reason = format!("`{}` has quotes in its path, which cannot be copied", hook.display());
            return Err(ProofVerdict::not_provable(reason));
        }
        let root = self.root.join(harness.id);
        let site = Canary {
            harness,
            launch,
            program,
            home: root.join("home"),
            project: root.join("home/project"),
            logs: root.join("logs"),
            path,
        };
        self.copy(installer, launch, real, &site)
            .map_err(|error| ProofVerdict::not_provable(format!("its settings cannot be copied: {error}")))?;
        Ok(site)
    }

    fn copy(
        &self,
        installer: &Installer,
        launch: &ClientLaunch,
        real: &InstallRequest,
        site: &Canary<'_>,
    ) -> Result<(), Failure> {
        // Creates a Git repository, so that the client's search for the project root ends here.
        for directory in
            [site.project.join(".git/objects"), site.project.join(".git/refs"), site.logs.clone()]
        {
            fs_err::create_dir_all(directory)?;
        }
        fs_err::write(site.project.join(".git/HEAD"), "ref: refs/heads/main\n")?;
        let variables = BTreeMap::new();
        let machine =
            MachineEnvironment { home: Some(&site.home), variables: &variables, path: OsStr::new("") };
        let copy = installer
            .order(&machine, SettingsScope::User, &self.home.programs())
            .ok_or_else(|| Failure::internal("no settings"))?;
        Ok(copy_settings(launch, installer, real, &copy)?)
    }

    /// Number of records so far.
    pub(crate) fn record_count(&self) -> u64 {
        LedgerHandle::of(&self.home).import_spool();
        Reader::open(&self.home.ledger()).and_then(|reader| reader.size()).unwrap_or_default()
    }

    /// Records of a harness's hooks, beginning after the first `before` records.
    pub(crate) fn recorded(&self, harness: &Harness, before: u64) -> Result<RecordedHooks, Failure> {
        LedgerHandle::of(&self.home).import_spool();
        let mut recorded = RecordedHooks::default();
        if !self.home.ledger().join("ledger.db").exists() {
            return Ok(recorded);
        }
        let failed = |error: tenterhook_ledger::ReadError| Failure::internal(error.to_string());
        let reader = Reader::open(&self.home.ledger()).map_err(failed)?;
        for record in reader.records_from(before, MAX_RECORDS).map_err(failed)? {
            let record_json = tenterhook_records::recorded::envelope(&record);
            let text =
                |key: &str| record_json.get(key).and_then(serde_json::Value::as_str).unwrap_or_default();
            if text("kind") != "decision" || text("source") != harness.id {
                continue;
            }
            let event = text("native_event").to_owned();
            if !recorded.events.contains(&event) {
                recorded.events.push(event);
            }
            recorded.denied |= text("verdict") == "deny" && text("policy_rule_id") == RULE_ID;
        }
        Ok(recorded)
    }

    /// Checks that the copied hook program denies the canary command when it is called directly.
    pub(crate) fn check_program(&self, project: &Path) -> Result<(), Failure> {
        let payload = json!({
            "session_id": "doctor", "cwd": project, "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": format!("touch {DENIED}")}, "tool_use_id": ALLOWED,
        });
        let mut command = std::process::Command::new(self.home.bin().join("tenterhook-hook"));
        command.args(["claude-code", "pre-tool-use"]).env_clear().current_dir(project);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let ran = command.spawn().and_then(|mut child| {
            if let Some(mut input) = child.stdin.take() {
                // A program that does not read its input is detected by its reply, so a write error is ignored.
                drop(input.write_all(payload.to_string().as_bytes()));
            }
            child.wait_with_output()
        });
        let output = ran?;
        let output_text = String::from_utf8_lossy(&output.stdout);
        if output_text.contains("deny") {
            Ok(())
        } else {
            Err(Failure::internal(format!("{}: {output_text}", output.status)))
        }
    }
}
