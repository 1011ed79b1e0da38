// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where Tenterhook keeps its state and settings.

use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::env::Env;
use crate::read_file;
use tenterhook_error::Failure;

/// A file in the state directory that says: somebody installed Tenterhook here.
const MARK: &str = "home.json";

/// What belongs to the machine and not to a person.
pub(crate) const SYSTEM: &str =
    if cfg!(target_os = "macos") { "/Library/Application Support/Tenterhook" } else { "/etc/tenterhook" };

/// Where a home of the machine keeps its state, and where its socket is.
const SYSTEM_STATE: &str = if cfg!(target_os = "macos") {
    "/Library/Application Support/Tenterhook/state"
} else {
    "/var/lib/tenterhook"
};
const SYSTEM_RUN: &str = if cfg!(target_os = "macos") { "/var/run/tenterhook" } else { "/run/tenterhook" };

/// State and settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// State: programs, ledger, receipts.
    pub state: PathBuf,
    /// Settings: `tenterhook.yaml`, `policy.yaml`, `packs.yaml`.
    pub config: PathBuf,
    /// The rules of the organisation that runs this machine.
    pub organisation: Option<PathBuf>,
    /// Where the daemon's socket is, if the home belongs to the machine and every account may call hooks.
    pub public: Option<PathBuf>,
}

/// Where the programs of a home of the machine lie: everybody has to be able to run them.
const SYSTEM_PROGRAMS: &str = "/usr/local/lib/tenterhook";

/// What says, beside the programs, which home they belong to.
#[derive(Debug, Serialize, Deserialize)]
struct Mark {
    v: u32,
    config: PathBuf,
    /// Version of the hook programs beside it; 0.1.0 did not write one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Of a home of the machine: where its state is, and its socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine: Option<Machine>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Machine {
    state: PathBuf,
    run: PathBuf,
}

impl Home {
    /// Finds the home: said on the command line, else where the running program is installed, else
    /// said in the environment, else where the platform has it.
    ///
    /// An installed program trusts its own place before the environment: a project's settings can
    /// set variables for the hooks of a harness, and must not choose their policy.
    pub fn find(said: Option<&Path>, program: Option<&Path>, env: &Env) -> Result<Self, Failure> {
        let installed = program.map_or(Ok(None), Self::around);
        let is_installed = !matches!(installed, Ok(None));
        let system = env.tenterhook_system_dir.as_deref().filter(|_| !is_installed);
        let organisation = Some(system.unwrap_or(Path::new(SYSTEM)).join("policy.yaml"));
        let home = Self::find_own(said, installed, env)?;
        // A home of the machine has its organisation's rules for its own.
        Ok(if home.public.is_some() { home } else { Self { organisation, ..home } })
    }

    /// The home that belongs to the machine: its settings are the organisation's, and its state is for the
    /// account of its daemon only. A program that is not installed may be told another place to try it in.
    pub fn of_system(program: Option<&Path>, env: &Env) -> Self {
        let installed = program.map_or(Ok(None), Self::around);
        if let Ok(Some(home)) = &installed
            && home.public.is_some()
        {
            return home.clone();
        }
        let is_installed = !matches!(installed, Ok(None));
        let tried = env.tenterhook_system_dir.as_deref().filter(|_| !is_installed);
        Self::of_system_at(tried.unwrap_or(Path::new(SYSTEM)))
    }

    fn of_system_at(config: &Path) -> Self {
        let (state, public) = if config == Path::new(SYSTEM) {
            (PathBuf::from(SYSTEM_STATE), PathBuf::from(SYSTEM_RUN))
        } else {
            (config.join("state"), config.join("run"))
        };
        let organisation = Some(config.join("policy.yaml"));
        Self { state, organisation, config: config.to_owned(), public: Some(public) }
    }

    /// The machine's home, seen from the home of an account; `None` if this is the machine's own. Accounts can read its
    /// programs, not its state.
    pub fn of_machine(&self) -> Option<Self> {
        if self.public.is_some() {
            return None;
        }
        Some(Self::of_system_at(self.organisation.as_deref()?.parent()?))
    }

    fn find_own(
        said: Option<&Path>,
        installed: Result<Option<Self>, Failure>,
        env: &Env,
    ) -> Result<Self, Failure> {
        if let Some(dir) = said {
            return Ok(Self::whole(absolute(dir)?));
        }
        if let Some(home) = installed? {
            return Ok(home);
        }
        if let Some(dir) = &env.tenterhook_home {
            return Ok(Self::whole(absolute(dir)?));
        }
        let Some(home) = &env.home else {
            return Err(Failure::internal("neither `HOME` nor `TENTERHOOK_HOME` is set")
                .hint("set `TENTERHOOK_HOME` to a directory, or use `--home DIR`"));
        };
        if cfg!(target_os = "macos") {
            return Ok(Self::whole(home.join("Library/Application Support/Tenterhook")));
        }
        let below = |said: &Option<PathBuf>, usual: &str| {
            let said = said.as_deref().filter(|dir| dir.is_absolute());
            said.map_or_else(|| home.join(usual), Path::to_owned).join("tenterhook")
        };
        Ok(Self {
            state: below(&env.xdg_state_home, ".local/state"),
            config: below(&env.xdg_config_home, ".config"),
            organisation: None,
            public: None,
        })
    }

    /// State and settings in one directory, and no organisation.
    pub fn whole(dir: PathBuf) -> Self {
        Self { config: dir.clone(), state: dir, organisation: None, public: None }
    }

    /// The home a program is installed in: `<home>/bin/<program>` beside a mark. A mark that cannot
    /// be read is an error: going on without it would let the environment choose the home.
    fn around(program: &Path) -> Result<Option<Self>, Failure> {
        let state = program.parent().filter(|bin| bin.ends_with("bin")).and_then(Path::parent);
        let Some(state) = state else { return Ok(None) };
        let path = state.join(MARK);
        let unreadable = |why: String| {
            Failure::internal(format!("`{}` cannot be read: {why}", path.display()))
                .hint("install again: `tenterhook install <harness>`")
        };
        let Some(text) = read_file::state_file(&path).map_err(|error| unreadable(error.to_string()))? else {
            return Ok(None);
        };
        let mark: Mark = serde_json::from_str(&text).map_err(|error| unreadable(error.to_string()))?;
        Ok(Some(match mark.machine {
            None => Self { state: state.to_owned(), config: mark.config, organisation: None, public: None },
            Some(Machine { state, run }) => Self {
                state,
                organisation: Some(mark.config.join("policy.yaml")),
                config: mark.config,
                public: Some(run),
            },
        }))
    }

    /// Makes the state directory, for its owner only.
    pub fn make(&self) -> Result<(), Failure> {
        make_private(&self.state)
    }

    /// Makes the directories that an installation needs.
    pub fn make_directories(&self) -> Result<(), Failure> {
        self.make()?;
        let make = if self.public.is_some() { make_public } else { make_private };
        make(&self.config)?;
        make(&self.bin())?;
        if let Some(run) = &self.public {
            // The small programs look for the socket beside themselves.
            let link = self.programs().join("run");
            if fs_err::read_link(&link).ok().as_ref() != Some(run) {
                drop(fs_err::remove_file(&link));
                std::os::unix::fs::symlink(run, &link)?;
            }
        }
        Ok(())
    }

    /// Makes the home and marks it as one that hook programs of this version are installed in.
    pub fn mark(&self) -> Result<(), Failure> {
        self.make_directories()?;
        let machine = self.public.clone().map(|run| Machine { state: self.state.clone(), run });
        let mode = if machine.is_some() { 0o644 } else { 0o600 };
        let (config, version) = (self.config.clone(), Some(env!("CARGO_PKG_VERSION").to_owned()));
        let mark = serde_json::to_vec_pretty(&Mark { v: 1, config, version, machine })
            .map_err(|error| Failure::internal(format!("the mark cannot be written: {error}")))?;
        write_whole(&self.programs().join(MARK), &mark, mode)
    }

    /// Version of the installed hook programs, by the mark beside them. `None`: none are installed, or by 0.1.0, which
    /// wrote no version.
    pub fn installed_version(&self) -> Option<String> {
        let text = read_file::state_file(&self.programs().join(MARK)).ok().flatten()?;
        serde_json::from_str::<Mark>(&text).ok()?.version
    }

    /// Whether hook programs are installed in this home.
    pub fn has_hook_programs(&self) -> bool {
        self.bin().join("tenterhook").exists()
    }

    /// What our programs lie in: the state, but in a home of the machine a place that everybody can read.
    pub fn programs(&self) -> PathBuf {
        match &self.public {
            None => self.state.clone(),
            Some(_) if self.config == Path::new(SYSTEM) => PathBuf::from(SYSTEM_PROGRAMS),
            Some(_) => self.config.join("lib"),
        }
    }

    /// The root below which settings lie that hold for the whole machine, if the home is the machine's.
    pub fn machine(&self) -> Option<PathBuf> {
        self.public.as_ref()?;
        Some(if self.config == Path::new(SYSTEM) { PathBuf::from("/") } else { self.config.clone() })
    }

    /// The record.
    pub fn ledger(&self) -> PathBuf {
        self.state.join("ledger")
    }

    /// Decisions that could not be recorded yet.
    pub fn spool(&self) -> PathBuf {
        self.state.join("spool")
    }

    /// The record of the program's first days: no longer written, and left alone.
    pub fn first_ledger(&self) -> PathBuf {
        self.state.join("ledger.jsonl")
    }

    /// What belongs to the daemon that runs now: its socket, its token, who it is.
    pub fn run(&self) -> PathBuf {
        self.state.join("run")
    }

    /// Where the daemon listens.
    pub fn socket(&self) -> PathBuf {
        self.public.clone().unwrap_or_else(|| self.run()).join("tenterhook.sock")
    }

    /// What whoever comes over TCP has to know.
    pub fn token(&self) -> PathBuf {
        self.run().join("token")
    }

    /// Which daemon runs here: its process, version and address.
    pub fn daemon(&self) -> PathBuf {
        self.run().join("daemon.json")
    }

    /// The daemon's TCP port, if it is not the default. It stays when the daemon ends.
    pub fn port(&self) -> PathBuf {
        self.state.join("port")
    }

    /// What a daemon in the background says.
    pub fn log(&self) -> PathBuf {
        self.state.join("log").join("daemon.log")
    }

    /// Our own programs.
    pub fn bin(&self) -> PathBuf {
        self.programs().join("bin")
    }

    /// The rules in a form that a hook without a daemon can judge by at once.
    pub fn snapshots(&self) -> PathBuf {
        self.state.join("snapshot")
    }

    /// What was installed where, and how it was before.
    pub fn receipts(&self) -> PathBuf {
        self.state.join("install")
    }

    /// What rules remember of sessions.
    pub fn sessions(&self) -> PathBuf {
        self.state.join("sessions")
    }

    /// How far the transcripts of sessions were read, and what was found in them.
    pub fn usage(&self) -> PathBuf {
        self.state.join("usage")
    }

    /// The person's settings.
    pub fn settings(&self) -> PathBuf {
        self.config.join("tenterhook.yaml")
    }

    /// The person's rules.
    pub fn policy(&self) -> PathBuf {
        self.config.join("policy.yaml")
    }

    /// What models cost, where the person knows better.
    pub fn prices(&self) -> PathBuf {
        self.config.join("prices.yaml")
    }

    /// Which packs and rules are on.
    pub fn pack_list(&self) -> PathBuf {
        self.config.join("packs.yaml")
    }

    /// The packs of others.
    pub fn packs(&self) -> PathBuf {
        self.config.join("packs")
    }

    /// Which kits of hooks there are, and which of them may run.
    pub fn kit_list(&self) -> PathBuf {
        self.config.join("hooks.yaml")
    }

    /// The kits of hooks.
    pub fn kits(&self) -> PathBuf {
        self.config.join("hooks")
    }

    /// Whether all rules only watch.
    pub fn mode(&self) -> PathBuf {
        self.state.join("mode.json")
    }

    /// The limits of retention that were authorized last.
    pub fn retention(&self) -> PathBuf {
        self.state.join("retention.json")
    }

    /// The secret of the person's authenticator app.
    pub fn totp(&self) -> PathBuf {
        self.state.join("totp")
    }

    /// What was approved for whole sessions.
    pub fn approvals(&self) -> PathBuf {
        self.state.join("approvals.json")
    }

    /// Which hooks somebody switched.
    pub fn switches(&self) -> PathBuf {
        self.state.join("hooks.json")
    }

    /// Which project files are trusted.
    pub fn trust(&self) -> PathBuf {
        self.state.join("trust.json")
    }
}

/// Writes a file beside its place and moves it there, so that nobody ever sees half of it.
pub fn write_whole(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    use std::io::Write;
    let write = || -> std::io::Result<()> {
        let dir = path.parent().unwrap_or(Path::new("/"));
        let mut file = tempfile::NamedTempFile::new_in(dir)?;
        file.write_all(bytes)?;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(mode))?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| Failure::internal(format!("`{}` cannot be written: {error}", path.display())))
}

/// Makes a directory that everybody can read and only its owner can write.
pub fn make_public(dir: &Path) -> Result<(), Failure> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o755).create(dir);
    made.map_err(|error| Failure::internal(format!("`{}` cannot be made: {error}", dir.display())))
}

/// Makes a directory for its owner only.
pub fn make_private(dir: &Path) -> Result<(), Failure> {
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| Failure::internal(format!("`{}` cannot be made: {error}", dir.display())))
}

fn absolute(dir: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(dir)
        .map_err(|error| Failure::internal(format!("`{}` is no usable path: {error}", dir.display())))
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
        let installed = Home::whole(dir.path().to_owned());
        installed.mark().unwrap();
        let program = installed.bin().join("tenterhook-hook");
        let misled = Env {
            tenterhook_home: Some("/evil".into()),
            tenterhook_system_dir: Some("/evil".into()),
            ..env()
        };
        let found = Home::find(None, Some(&program), &misled).unwrap();
        let organisation = Some(Path::new(SYSTEM).join("policy.yaml"));
        assert_eq!(found, Home { organisation, ..installed });
        let said = Home::find(Some(Path::new("/said")), Some(&program), &misled).unwrap();
        assert_eq!(said.organisation, found.organisation);
        std::fs::write(dir.path().join(MARK), "{").unwrap();
        assert!(Home::find(None, Some(&program), &misled).is_err(), "a damaged mark opens nothing");
        let elsewhere = Path::new("/usr/bin/tenterhook");
        let found = Home::find(None, Some(elsewhere), &misled).unwrap();
        assert_eq!(found.state, Path::new("/evil"));
        assert_eq!(found.organisation.as_deref(), Some(Path::new("/evil/policy.yaml")));
    }

    #[test]
    fn an_account_finds_the_home_of_its_machine() {
        let machine = Home::find(None, None, &env()).unwrap().of_machine().unwrap();
        assert_eq!(machine, Home::of_system(None, &env()));
        assert_eq!(machine.of_machine(), None);
        let tried = Env { tenterhook_system_dir: Some("/tried".into()), ..env() };
        let machine = Home::find(Some(Path::new("/said")), None, &tried).unwrap().of_machine().unwrap();
        assert_eq!(machine, Home::of_system(None, &tried));
        assert_eq!(machine.programs(), Path::new("/tried/lib"));
        assert_eq!(Home::whole("/h".into()).of_machine(), None, "it has no organisation");
    }

    #[test]
    fn with_nothing_to_go_by_it_says_what_to_do() {
        let error = Home::find(None, None, &Env::default()).unwrap_err();
        assert!(error.hints.iter().any(|hint| hint.contains("TENTERHOOK_HOME")));
    }
}
