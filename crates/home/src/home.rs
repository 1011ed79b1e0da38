// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Paths of Tenterhook's state and settings.

use std::fs::File;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::env::Env;
use crate::read_file;
use tenterhook_error::Failure;

/// File in the state directory that marks an installation.
const MARK_FILE: &str = "home.json";

/// Configuration directory of the machine.
pub(crate) const MACHINE_CONFIG_DIR: &str =
    if cfg!(target_os = "macos") { "/Library/Application Support/Tenterhook" } else { "/etc/tenterhook" };

/// State directory of a machine-wide home.
const MACHINE_STATE_DIR: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/Tenterhook/state"
} else {
    "/var/lib/tenterhook"
};
/// Socket directory of a machine-wide home.
const MACHINE_RUN_DIR: &str =
    if cfg!(target_os = "macos") { "/var/run/tenterhook" } else { "/run/tenterhook" };

/// A home: the state and configuration directories of an account or of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// State directory: programs, ledger, receipts.
    pub state: PathBuf,
    /// Configuration directory: `tenterhook.yaml`, `policy.yaml`, `packs.yaml`.
    pub config: PathBuf,
    /// Rule file of the organisation that runs this machine.
    pub organisation: Option<PathBuf>,
    /// Directory of the daemon's socket. Set only for a machine-wide home, in which every account may call hooks.
    pub machine_run: Option<PathBuf>,
}

/// Directory for the programs of a machine-wide home. Every account must be able to run them.
const MACHINE_PROGRAM_DIR: &str = "/usr/local/lib/tenterhook";

/// Content of the mark file next to the installed programs. It says which home the programs belong to.
#[derive(Debug, Serialize, Deserialize)]
struct HomeMark {
    v: u32,
    config: PathBuf,
    /// Version of the installed hook programs. Version 0.1.0 did not write this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Directories of a machine-wide home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine: Option<MachineDirs>,
}

#[derive(Debug, Serialize, Deserialize)]
struct MachineDirs {
    state: PathBuf,
    run: PathBuf,
}

impl Home {
    /// Finds the home. It is determined by, in this order: the command line, the installation of the running program,
    /// the environment, the platform's default.
    ///
    /// The location of an installed program takes precedence over the environment, because a project's settings can set
    /// environment variables for a harness's hooks. A project must not be able to choose the policy of those hooks.
    pub fn find(given: Option<&Path>, program: Option<&Path>, env: &Env) -> Result<Self, Failure> {
        let installed = program.map_or(Ok(None), Self::find_installed);
        let is_installed = !matches!(installed, Ok(None));
        let system = env.tenterhook_system_dir.as_deref().filter(|_| !is_installed);
        let organisation = Some(system.unwrap_or(Path::new(MACHINE_CONFIG_DIR)).join("policy.yaml"));
        let home = Self::find_account_home(given, installed, env)?;
        // A machine-wide home already contains the path of the organisation's rules.
        Ok(if home.is_machine_wide() { home } else { Self { organisation, ..home } })
    }

    /// The machine-wide home. Its settings belong to the organisation, and only its daemon's account can read its
    /// state. For tests, a program that is not installed may use another directory.
    pub fn machine_wide(program: Option<&Path>, env: &Env) -> Self {
        let installed = program.map_or(Ok(None), Self::find_installed);
        if let Ok(Some(home)) = &installed
            && home.is_machine_wide()
        {
            return home.clone();
        }
        let is_installed = !matches!(installed, Ok(None));
        let override_dir = env.tenterhook_system_dir.as_deref().filter(|_| !is_installed);
        Self::machine_home_at(override_dir.unwrap_or(Path::new(MACHINE_CONFIG_DIR)))
    }

    fn machine_home_at(config: &Path) -> Self {
        let (state, machine_run) = if config == Path::new(MACHINE_CONFIG_DIR) {
            (PathBuf::from(MACHINE_STATE_DIR), PathBuf::from(MACHINE_RUN_DIR))
        } else {
            (config.join("state"), config.join("run"))
        };
        let organisation = Some(config.join("policy.yaml"));
        Self { state, organisation, config: config.to_owned(), machine_run: Some(machine_run) }
    }

    /// The machine-wide home that belongs to this account's home; `None` if this home is itself machine-wide or has no
    /// organisation. Accounts can read the programs of the machine-wide home, but not its state.
    pub fn machine_home(&self) -> Option<Self> {
        if self.is_machine_wide() {
            return None;
        }
        Some(Self::machine_home_at(self.organisation.as_deref()?.parent()?))
    }

    fn find_account_home(
        given: Option<&Path>,
        installed: Result<Option<Self>, Failure>,
        env: &Env,
    ) -> Result<Self, Failure> {
        if let Some(dir) = given {
            return Ok(Self::in_dir(absolute(dir)?));
        }
        if let Some(home) = installed? {
            return Ok(home);
        }
        if let Some(dir) = &env.tenterhook_home {
            return Ok(Self::in_dir(absolute(dir)?));
        }
        let Some(home) = &env.home else {
            return Err(Failure::internal("neither `HOME` nor `TENTERHOOK_HOME` is set")
                .hint("set `TENTERHOOK_HOME` to a directory, or use `--home DIR`"));
        };
        if cfg!(target_os = "macos") {
            return Ok(Self::in_dir(home.join("Library/Application Support/Tenterhook")));
        }
        let below = |given: &Option<PathBuf>, usual: &str| {
            let given = given.as_deref().filter(|dir| dir.is_absolute());
            given.map_or_else(|| home.join(usual), Path::to_owned).join("tenterhook")
        };
        Ok(Self {
            state: below(&env.xdg_state_home, ".local/state"),
            config: below(&env.xdg_config_home, ".config"),
            organisation: None,
            machine_run: None,
        })
    }

    /// A home with state and settings in one directory, and without an organisation.
    pub fn in_dir(dir: PathBuf) -> Self {
        Self { config: dir.clone(), state: dir, organisation: None, machine_run: None }
    }

    /// The home in which a program is installed. Such a program is at `<home>/bin/<program>`, and `<home>` contains a
    /// mark file. An unreadable mark file is an error. If it were ignored, the environment could choose the home.
    fn find_installed(program: &Path) -> Result<Option<Self>, Failure> {
        let state = program.parent().filter(|bin| bin.ends_with("bin")).and_then(Path::parent);
        let Some(state) = state else { return Ok(None) };
        let path = state.join(MARK_FILE);
        let unreadable = |why: String| {
            Failure::internal(format!("`{}` cannot be read: {why}", path.display()))
                .hint("install again: `tenterhook install <harness>`")
        };
        let Some(text) = read_file::state_file(&path).map_err(|error| unreadable(error.to_string()))? else {
            return Ok(None);
        };
        let mark: HomeMark = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        Ok(Some(match mark.machine {
            None => {
                Self { state: state.to_owned(), config: mark.config, organisation: None, machine_run: None }
            }
            Some(MachineDirs { state, run }) => Self {
                state,
                organisation: Some(mark.config.join("policy.yaml")),
                config: mark.config,
                machine_run: Some(run),
            },
        }))
    }

    /// Whether the home belongs to the machine, so that every account may call hooks.
    pub fn is_machine_wide(&self) -> bool {
        self.machine_run.is_some()
    }

    /// Creates the state directory, private to its owner.
    pub fn create(&self) -> Result<(), Failure> {
        make_private_dir(&self.state)
    }

    /// Creates the directories of an installation.
    pub fn make_directories(&self) -> Result<(), Failure> {
        self.create()?;
        let make = if self.is_machine_wide() { make_public_dir } else { make_private_dir };
        make(&self.config)?;
        make(&self.bin())?;
        if let Some(run) = &self.machine_run {
            // The hook programs look for the socket in `run` next to their `bin` directory.
            let link = self.programs().join("run");
            if fs_err::read_link(&link).ok().as_ref() != Some(run) {
                drop(fs_err::remove_file(&link));
                std::os::unix::fs::symlink(run, &link)?;
            }
        }
        Ok(())
    }

    /// Creates the home and marks it as an installation of this version's hook programs.
    pub fn mark_installed(&self) -> Result<(), Failure> {
        self.make_directories()?;
        let machine = self.machine_run.clone().map(|run| MachineDirs { state: self.state.clone(), run });
        let mode = if machine.is_some() { 0o644 } else { 0o600 };
        let (config, version) = (self.config.clone(), Some(env!("CARGO_PKG_VERSION").to_owned()));
        let mark = serde_json::to_vec_pretty(&HomeMark { v: 1, config, version, machine })
            .map_err(|error| Failure::internal(format!("the mark cannot be written: {error}")))?;
        write_atomic(&self.programs().join(MARK_FILE), &mark, mode)
    }

    /// Version of the installed hook programs, from their mark file. `None` if no programs are installed, or if the
    /// mark file has no version because version 0.1.0 wrote it.
    pub fn installed_version(&self) -> Option<String> {
        let text = read_file::state_file(&self.programs().join(MARK_FILE)).ok().flatten()?;
        serde_json::from_str::<HomeMark>(&text).ok()?.version
    }

    /// Whether hook programs are installed in this home.
    pub fn has_hook_programs(&self) -> bool {
        self.bin().join("tenterhook").exists()
    }

    /// Parent of the directory `bin`: the state directory, or for a machine-wide home a directory that every account
    /// can read.
    pub fn programs(&self) -> PathBuf {
        match &self.machine_run {
            None => self.state.clone(),
            Some(_) if self.config == Path::new(MACHINE_CONFIG_DIR) => PathBuf::from(MACHINE_PROGRAM_DIR),
            Some(_) => self.config.join("lib"),
        }
    }

    /// Root directory for the harnesses' machine-wide settings, if this home is machine-wide.
    pub fn machine(&self) -> Option<PathBuf> {
        self.machine_run.as_ref()?;
        Some(if self.config == Path::new(MACHINE_CONFIG_DIR) {
            PathBuf::from("/")
        } else {
            self.config.clone()
        })
    }

    /// Directory of the ledger.
    pub fn ledger(&self) -> PathBuf {
        self.state.join("ledger")
    }

    /// Directory of the spool: decisions that are not in the ledger yet.
    pub fn spool(&self) -> PathBuf {
        self.state.join("spool")
    }

    /// Ledger file of early versions. Current versions neither read nor write it.
    pub fn first_ledger(&self) -> PathBuf {
        self.state.join("ledger.jsonl")
    }

    /// Directory of the running daemon: its socket, token and identity.
    pub fn run(&self) -> PathBuf {
        self.state.join("run")
    }

    /// Socket of the daemon.
    pub fn socket(&self) -> PathBuf {
        self.machine_run.clone().unwrap_or_else(|| self.run()).join("tenterhook.sock")
    }

    /// File with the token that callers over TCP need.
    pub fn token(&self) -> PathBuf {
        self.run().join("token")
    }

    /// File that describes the running daemon: process, version and address.
    pub fn daemon(&self) -> PathBuf {
        self.run().join("daemon.json")
    }

    /// File with the daemon's TCP port, if the port is not the default. The file stays when the daemon ends.
    pub fn port(&self) -> PathBuf {
        self.state.join("port")
    }

    /// Log of a daemon that runs in the background.
    pub fn log(&self) -> PathBuf {
        self.state.join("log").join("daemon.log")
    }

    /// Directory of the installed programs.
    pub fn bin(&self) -> PathBuf {
        self.programs().join("bin")
    }

    /// Directory of snapshots: compiled rules that hooks read when no daemon is running.
    pub fn snapshots(&self) -> PathBuf {
        self.state.join("snapshot")
    }

    /// Directory of receipts, which record what was installed where, and the settings before the installation.
    pub fn receipts(&self) -> PathBuf {
        self.state.join("install")
    }

    /// File with the finished steps of `tenterhook init`.
    pub fn init_progress(&self) -> PathBuf {
        self.state.join("init.json")
    }

    /// Directory of the settings of guarded runs (`tenterhook run`), one directory for each run.
    pub fn guarded_runs(&self) -> PathBuf {
        self.state.join("guarded-runs")
    }

    /// Directory of the state that rules keep for each session.
    pub fn sessions(&self) -> PathBuf {
        self.state.join("sessions")
    }

    /// Directory of what destructive calls would have lost, for `tenterhook undo`.
    pub fn undo(&self) -> PathBuf {
        self.state.join("undo")
    }

    /// Directory with the usage of each session, and the position up to which each transcript was read.
    pub fn usage(&self) -> PathBuf {
        self.state.join("usage")
    }

    /// The user's settings file.
    pub fn settings(&self) -> PathBuf {
        self.config.join("tenterhook.yaml")
    }

    /// The user's rule file.
    pub fn policy(&self) -> PathBuf {
        self.config.join("policy.yaml")
    }

    /// The user's price file for models, which overrides the built-in prices.
    pub fn prices(&self) -> PathBuf {
        self.config.join("prices.yaml")
    }

    /// File that lists enabled and disabled packs and rules.
    pub fn pack_list(&self) -> PathBuf {
        self.config.join("packs.yaml")
    }

    /// Directory of the rule packs that the user added.
    pub fn packs(&self) -> PathBuf {
        self.config.join("packs")
    }

    /// File that lists the hook packages, and which of them are trusted.
    pub fn hook_package_list(&self) -> PathBuf {
        self.config.join("hooks.yaml")
    }

    /// Directory of hook packages.
    pub fn hook_packages(&self) -> PathBuf {
        self.config.join("hooks")
    }

    /// File with the mode: enforce or monitor.
    pub fn mode(&self) -> PathBuf {
        self.state.join("mode.json")
    }

    /// File with the retention limits that were authorized last.
    pub fn retention(&self) -> PathBuf {
        self.state.join("retention.json")
    }

    /// File with the secret of the user's authenticator app.
    pub fn totp(&self) -> PathBuf {
        self.state.join("totp")
    }

    /// File with approvals for whole sessions.
    pub fn approvals(&self) -> PathBuf {
        self.state.join("approvals.json")
    }

    /// File with calls that the user allowed after a rule had stopped them.
    pub fn allowances(&self) -> PathBuf {
        self.state.join("allowances.json")
    }

    /// File with hooks that were switched on or off.
    pub fn switches(&self) -> PathBuf {
        self.state.join("hooks.json")
    }

    /// File with the trusted project files.
    pub fn trust(&self) -> PathBuf {
        self.state.join("trust.json")
    }
}

/// Writes a temporary file next to the path and renames it, so that readers never see a partial file.
pub fn write_atomic(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    replace_file(path, bytes, mode, File::sync_all)
}

/// Like [`write_atomic`], for a file that means nothing after the next start of the machine. Does not wait for the disk.
pub fn write_atomic_until_reboot(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    replace_file(path, bytes, mode, |_| Ok(()))
}

fn replace_file(
    path: &Path,
    bytes: &[u8],
    mode: u32,
    sync: impl Fn(&File) -> std::io::Result<()>,
) -> Result<(), Failure> {
    use std::io::Write;
    let write = || -> std::io::Result<()> {
        let dir = path.parent().unwrap_or(Path::new("/"));
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(bytes)?;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(mode))?;
        sync(file.as_file())?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| Failure::internal(format!("`{}` cannot be written: {error}", path.display())))
}

/// Creates a directory that every account can read and only its owner can write.
pub fn make_public_dir(dir: &Path) -> Result<(), Failure> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o755).create(dir);
    made.map_err(|error| Failure::internal(format!("cannot create `{}`: {error}", dir.display())))
}

/// Creates a directory that is private to its owner.
pub fn make_private_dir(dir: &Path) -> Result<(), Failure> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| Failure::internal(format!("cannot create `{}`: {error}", dir.display())))
}

fn absolute(dir: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(dir)
        .map_err(|error| Failure::internal(format!("invalid path `{}`: {error}", dir.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env() -> Env {
        Env { home: Some("/h".into()), ..Env::default() }
    }

    #[test]
    fn without_a_word_the_platform_decides() {
        let home = Home::find(None, None, &env()).unwrap();
        assert_eq!(home.state, Path::new("/h/.local/state/tenterhook"));
        assert_eq!(home.config, Path::new("/h/.config/tenterhook"));
        let xdg =
            Env { xdg_state_home: Some("/s".into()), xdg_config_home: Some("relative".into()), ..env() };
        let home = Home::find(None, None, &xdg).unwrap();
        assert_eq!(home.state, Path::new("/s/tenterhook"));
        assert_eq!(home.config, Path::new("/h/.config/tenterhook"), "a relative XDG path is no path");
    }

    #[test]
    fn an_installed_program_trusts_its_own_place_before_the_environment() {
        let dir = tempfile::tempdir().unwrap();
        let installed = Home::in_dir(dir.path().to_owned());
        installed.mark_installed().unwrap();
        let program = installed.bin().join("tenterhook-hook");
        let misled = Env {
            tenterhook_home: Some("/evil".into()),
            tenterhook_system_dir: Some("/evil".into()),
            ..env()
        };
        let found = Home::find(None, Some(&program), &misled).unwrap();
        let organisation = Some(Path::new(MACHINE_CONFIG_DIR).join("policy.yaml"));
        assert_eq!(found, Home { organisation, ..installed });
        let given = Home::find(Some(Path::new("/given")), Some(&program), &misled).unwrap();
        assert_eq!(given.organisation, found.organisation);
        std::fs::write(dir.path().join(MARK_FILE), "{").unwrap();
        assert!(Home::find(None, Some(&program), &misled).is_err(), "a damaged mark opens nothing");
        let elsewhere = Path::new("/usr/bin/tenterhook");
        let found = Home::find(None, Some(elsewhere), &misled).unwrap();
        assert_eq!(found.state, Path::new("/evil"));
        assert_eq!(found.organisation.as_deref(), Some(Path::new("/evil/policy.yaml")));
    }

    #[test]
    fn an_account_finds_the_home_of_its_machine() {
        let machine = Home::find(None, None, &env()).unwrap().machine_home().unwrap();
        assert_eq!(machine, Home::machine_wide(None, &env()));
        assert_eq!(machine.machine_home(), None);
        let override_dir = Env { tenterhook_system_dir: Some("/override_dir".into()), ..env() };
        let machine =
            Home::find(Some(Path::new("/given")), None, &override_dir).unwrap().machine_home().unwrap();
        assert_eq!(machine, Home::machine_wide(None, &override_dir));
        assert_eq!(machine.programs(), Path::new("/override_dir/lib"));
        assert_eq!(Home::in_dir("/h".into()).machine_home(), None, "it has no organisation");
    }

    #[test]
    fn with_nothing_to_go_by_it_says_what_to_do() {
        let error = Home::find(None, None, &Env::default()).unwrap_err();
        assert!(error.hints.iter().any(|hint| hint.contains("TENTERHOOK_HOME")));
    }
}
