// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Starts a planned run, and cleans up after it.

use std::ffi::OsStr;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, getuid, pidfd_send_signal};
use tenterhook_error::Failure;
use tenterhook_event::SandboxLevel;
use tenterhook_guard::snapshot;
use tenterhook_home::{Env, Home, WorkDirs, call_meta};
use tenterhook_sandbox::after_run::{SettingsBefore, UndoneChange};
use tenterhook_sandbox::bubblewrap::{
    self, EMPTY_FILE, INSIDE_DIRECTORY, INSIDE_PROGRAM, MountMethod, SandboxMounts,
};
use tenterhook_sandbox::call_observer::CallObserver;
use tenterhook_sandbox::inside::{InsideSpec, SPEC_FILE};
use tenterhook_sandbox::listener::{SUPERVISOR_SOCKET, StartedRun, SupervisorSocket};
use tenterhook_sandbox::prepared_mounts::PreparedMounts;
use tenterhook_sandbox::{PathAccess, RefusedAccess, placeholders, probe, typed_signals, unix_sockets};
use tenterhook_setup::run_plan::{RunDirectory, SETTINGS_BEFORE_FILE};

use crate::leftover_processes;
use crate::open_files;
use crate::placeholder_list;
use crate::plan::{SandboxPlan, refusal};
use crate::refusal_watch::{RefusalList, RefusalReport, RefusalWatch};

/// How long the processes of a run may take to end after its command has ended.
const END_TIMEOUT: Timespec = Timespec { tv_sec: 5, tv_nsec: 0 };
/// How long the report of a run's start may take after its command has ended.
const START_REPORT_TIMEOUT: Duration = Duration::from_secs(1);
/// Variable in which a run finds its level. It is information only.
const LEVEL_VARIABLE: &str = "TENTERHOOK_SANDBOX";
/// Files of `/run` that programs need and that contain no sockets.
const RUN_FILES: &[&str] = &["/run/current-system", "/run/opengl-driver", "/run/tenterhook"];

/// A run that is ready to start.
#[derive(Debug)]
pub struct PreparedRun {
    plan: SandboxPlan,
    home: Home,
    before: SettingsBefore,
    files: PathBuf,
    directory: PathBuf,
    supervisor: Option<SupervisorSocket>,
    _lock: RunDirectory,
}

/// Waits for the start of a run in a thread of its own.
#[derive(Debug)]
pub struct StartWait {
    started: Receiver<StartedRun>,
    process: Arc<OnceLock<Pid>>,
    refusals: RefusalList,
    has_started: Arc<AtomicBool>,
    /// Children of this process that do not belong to the run.
    kept: Vec<Pid>,
}

/// What a run needs from its supervisor while it runs. Each function is called in a thread of its own.
pub trait RunServer: Clone + Send + 'static {
    /// Registers the outermost process of the run. The command starts when this has returned.
    fn register(&self, init: Pid);
    /// Serves the run's proxy, with this maximum number of connections.
    fn serve_proxy(&self, listener: TcpListener, connections: usize);
    /// Reports an access that the sandbox refused.
    fn report_refusal(&self, refusal: RefusalReport);
}

/// How a run ended.
#[derive(Debug, Default)]
pub struct SandboxedRunEnd {
    /// Changes that were undone.
    pub undone: Vec<UndoneChange>,
    /// Accesses that the sandbox refused.
    pub refused: Vec<RefusedAccess>,
}

impl PreparedRun {
    /// Creates placeholders and the files of a run.
    pub fn new(plan: SandboxPlan, home: &Home, env: &Env, has_hooks: bool) -> Result<Self, Failure> {
        if !plan.has_snapshot {
            home.create()?;
            // Without a snapshot, the next run compiles the rules again.
            let place = WorkDirs::at(Some(plan.working_directory.clone()));
            let _ = snapshot::write(home, env, &place);
        }
        let directory = home.guarded_runs().join(call_meta::mint()?.id.to_string());
        let lock = RunDirectory::create(home, &directory)?;
        // What a killed run left.
        placeholder_list::remove_unused(home, &directory)?;
        placeholder_list::create(home, &placeholders::missing(&plan.sets))?;
        let own = plan.profile.own.iter().map(|path| expand_home(path, &plan.roots.home)).collect::<Vec<_>>();
        let before = SettingsBefore::read(&plan.sets, &plan.roots, &own)?;
        // Without this file, changes stay if the supervisor is killed. Paths that are not UTF-8 cannot be stored.
        let _ = before.store(&directory.join(SETTINGS_BEFORE_FILE));
        let files = directory.join("inside");
        std::fs::DirBuilder::new().mode(0o700).create(&files)?;
        for name in [EMPTY_FILE, INSIDE_PROGRAM] {
            std::fs::write(files.join(name), "")?;
        }
        let spec = serde_json::to_vec(&inside_spec(&plan, has_hooks)).map_err(io::Error::from)?;
        std::fs::write(files.join(SPEC_FILE), spec)?;
        let supervisor = SupervisorSocket::create(&files)?;
        Ok(Self {
            plan,
            home: home.clone(),
            before,
            files,
            directory,
            supervisor: Some(supervisor),
            _lock: lock,
        })
    }

    /// The plan of the run.
    pub fn plan(&self) -> &SandboxPlan {
        &self.plan
    }

    /// Returns the command that starts the sandbox. `program` is this program, `stage` its arguments for the stage that
    /// runs inside; the directory with its files is added to them, and then the command.
    pub fn command(
        &self,
        program: &Path,
        stage: &str,
        env: &Env,
        has_terminal: bool,
        method: MountMethod,
    ) -> Result<Command, Failure> {
        let level = self.plan.level.to_string();
        if self.plan.level != SandboxLevel::NamespacesLandlock {
            let mut command = Command::new(program);
            command.arg(stage).arg(&self.files).envs(&self.plan.profile.variables).env(LEVEL_VARIABLE, level);
            return Ok(command);
        }
        let bubblewrap = probe::find_bubblewrap().ok_or_else(|| refusal(&probe::available_level()))?;
        let kept_variables: Vec<_> = self
            .plan
            .profile
            .sockets
            .iter()
            .filter_map(|name| name.strip_prefix('$'))
            .map(ToOwned::to_owned)
            .collect();
        let sockets = self.plan.allowed_sockets(env);
        let table = std::fs::read_to_string("/proc/net/unix").unwrap_or_default();
        let hidden_sockets = unix_sockets::sockets_to_hide(&table, |path| {
            self.plan.must_hide_socket(path, &sockets, &self.home)
        });
        let mut variables = self.plan.profile.variables.clone();
        variables.insert(LEVEL_VARIABLE.to_owned(), level);
        variables.insert("TMPDIR".to_owned(), "/tmp".to_owned());
        let mounts = SandboxMounts {
            sets: &self.plan.sets,
            network: self.plan.network,
            visible: bubblewrap::paths_in_private_directories(&self.plan.visible_paths(env)),
            sockets,
            hidden_sockets,
            hidden_directories: unix_sockets::socket_directories(&self.plan.roots.home),
            inside_files: &self.files,
            program,
            working_directory: &self.plan.working_directory,
            var_directories: own_var_directories(),
            runtime_directory: Some(runtime_directory()),
            variables,
            kept_variables,
            new_session: !has_terminal,
            is_root: getuid().is_root(),
        };
        let mut command = Command::new(bubblewrap);
        typed_signals::block(&mut command);
        let prepared = Some(&mounts).filter(|_| method == MountMethod::Prepared);
        let method = match prepared.and_then(PreparedMounts::new) {
            Some(prepared) => {
                prepared.make_before(&mut command);
                MountMethod::Prepared
            }
            None => MountMethod::Bubblewrap,
        };
        command.args(bubblewrap::arguments(&mounts, method));
        command.arg(Path::new(INSIDE_DIRECTORY).join(INSIDE_PROGRAM)).arg(stage).arg(INSIDE_DIRECTORY);
        if !kept_variables_contain(&self.plan, "XDG_RUNTIME_DIR") {
            command.env("XDG_RUNTIME_DIR", runtime_directory());
        }
        Ok(command)
    }

    /// Starts to wait for the run. The command starts when `server` has registered it.
    pub fn wait_for_start(&mut self, env: &Env, server: impl RunServer) -> Option<StartWait> {
        let supervisor = self.supervisor.take()?;
        let (sender, started) = channel();
        let process = Arc::new(OnceLock::new());
        let known = Arc::clone(&process);
        let has_namespaces = self.plan.level.has_namespaces();
        let is_landlock = self.plan.level == SandboxLevel::Landlock;
        let kept = if is_landlock { leftover_processes::adopt_orphans() } else { Vec::new() };
        let refusals = RefusalList::default();
        let has_started = Arc::new(AtomicBool::new(false));
        let reported = Arc::clone(&has_started);
        let watch = RefusalWatch {
            sets: self.plan.sets.clone(),
            visible: self.plan.visible_paths(env),
            texts: self.plan.rule_texts.clone(),
            found: refusals.clone(),
        };
        std::thread::spawn(move || {
            let prepare = |started: &StartedRun| {
                reported.store(true, Ordering::SeqCst);
                server.register(if has_namespaces { started.init_pid } else { started.process });
            };
            let Ok(mut started) = supervisor.wait_for_start(prepare) else { return };
            let listener = started.listener.take();
            known.get_or_init(|| started.process);
            let mut watch = Some(watch);
            started.receive_descriptors(|observer| {
                let Some(watch) = watch.take() else { return };
                let (observer, ended) = (CallObserver::new(observer), watch.found.expect_calls());
                let server = server.clone();
                std::thread::spawn(move || {
                    watch.watch(&observer, ended, move |refusal| server.report_refusal(refusal));
                });
            });
            drop(sender.send(started));
            if let Some(listener) = listener {
                server.serve_proxy(listener, open_files::proxy_connections());
            }
        });
        Some(StartWait { started, process, refusals, has_started, kept })
    }

    /// Ends what the command left running, undoes changes to settings and removes what was created for the run. Fails if
    /// the run had not started.
    pub fn finish(self, wait: &StartWait) -> Result<SandboxedRunEnd, Failure> {
        // A run that has started has reported it before its command ended.
        let started = wait.started.recv_timeout(START_REPORT_TIMEOUT);
        if let Ok(started) = &started
            && self.plan.level == SandboxLevel::NamespacesLandlock
        {
            end_processes(started);
        } else if self.plan.level == SandboxLevel::Landlock {
            leftover_processes::end_children(&wait.kept);
        }
        if let Ok(started) = &started {
            started.pass_back_input();
        }
        let refused = wait.refusals.take();
        let undone = self.before.restore();
        placeholder_list::remove_unused(&self.home, &self.directory)?;
        match started {
            Ok(_) => Ok(SandboxedRunEnd { undone, refused }),
            Err(_) => Err(refusal(&probe::available_level())),
        }
    }
}

impl PreparedRun {
    /// Like [`Self::finish`], for a run without a boundary.
    pub fn finish_without_boundary(self) -> Result<SandboxedRunEnd, Failure> {
        let undone = self.before.restore();
        placeholder_list::remove_unused(&self.home, &self.directory)?;
        Ok(SandboxedRunEnd { undone, refused: Vec::new() })
    }
}

impl StartWait {
    /// Whether the first program of the run has started inside. If not, the command has not started either.
    pub fn has_started(&self) -> bool {
        self.has_started.load(Ordering::SeqCst)
    }

    /// Returns the process of the command, once it has started.
    pub fn process(&self) -> Option<Pid> {
        self.process.get().copied()
    }
}

/// Ends all processes of a process namespace and waits for their end.
fn end_processes(started: &StartedRun) {
    let _ = pidfd_send_signal(&started.init, Signal::KILL);
    // The first process of the namespace ends after all others.
    let _ = poll(&mut [PollFd::new(&started.init, PollFlags::IN)], Some(&END_TIMEOUT));
}

fn inside_spec(plan: &SandboxPlan, has_hooks: bool) -> InsideSpec {
    let paths = |accesses: &[PathAccess]| -> Vec<PathBuf> {
        let entries = plan.sets.entries.iter().filter(|entry| accesses.contains(&entry.access));
        entries.map(|entry| entry.path.clone()).collect()
    };
    let readable = plan.sets.entries.iter().filter(|entry| entry.reason.starts_with("exception of"));
    let mut unreadable = paths(&[PathAccess::Hidden]);
    // The daemon may create a secret after the mounts of the run were made.
    unreadable.extend(plan.roots.secret_state.iter().cloned());
    let is_namespaced = plan.level == SandboxLevel::NamespacesLandlock;
    let mut private = own_var_directories();
    private.push(runtime_directory());
    private.extend(paths(&[PathAccess::Private]));
    InsideSpec {
        observed: plan.observed,
        level: plan.level,
        network: plan.network,
        has_hooks,
        writable: paths(&[PathAccess::Write]),
        private: if is_namespaced { private } else { vec![PathBuf::from("/tmp")] },
        // Other files belong to root, and rarely anything replaces them.
        unreadable: unreadable
            .into_iter()
            .filter(|path| {
                !is_namespaced || path.starts_with(&plan.roots.home) || path.starts_with(&plan.roots.state)
            })
            .collect(),
        readable: readable.map(|entry| entry.path.clone()).collect(),
        // Without mounts, nothing in the project can be left out: Landlock would then refuse new files beside it.
        protected: paths(&[PathAccess::Private, PathAccess::ReadOnly, PathAccess::Hidden])
            .into_iter()
            .filter(|path| !plan.roots.contains_in_project(path))
            .collect(),
    }
}

impl SandboxPlan {
    /// Paths that have to be visible wherever they are.
    fn visible_paths(&self, env: &Env) -> Vec<PathBuf> {
        let roots = &self.roots;
        let mut paths: Vec<PathBuf> =
            [&roots.home, &roots.project, &roots.state, &roots.config].into_iter().cloned().collect();
        paths.extend(RUN_FILES.iter().map(PathBuf::from));
        paths.extend(Path::new("/etc/resolv.conf").canonicalize());
        let search_path =
            env.all.get("PATH").map(|path| std::env::split_paths(OsStr::new(path)).collect::<Vec<_>>());
        paths.extend(search_path.into_iter().flatten().filter_map(|path| path.canonicalize().ok()));
        paths.retain(|path| path.exists());
        paths
    }

    /// Sockets that the profile leaves reachable.
    fn allowed_sockets(&self, env: &Env) -> Vec<PathBuf> {
        let path = |text: &String| match text.strip_prefix('$') {
            Some(name) => env.all.get(name).map(PathBuf::from),
            None => Some(expand_home(text, &self.roots.home)),
        };
        let paths = self.profile.sockets.iter().filter_map(path).filter_map(|path| path.canonicalize().ok());
        paths.collect()
    }

    /// Whether a socket is visible in the sandbox and belongs to another program.
    fn must_hide_socket(&self, path: &Path, allowed: &[PathBuf], home: &Home) -> bool {
        let is_hidden = |directory: &str| {
            path.starts_with(directory)
                && !path.starts_with(&self.roots.home)
                && !path.starts_with(&self.roots.project)
                && !path.starts_with(&self.roots.state)
        };
        // While the daemon starts, its socket may not exist yet.
        let socket = home.socket();
        let is_daemon = path.file_name() == socket.file_name()
            && socket.parent().is_some_and(|parent| parent.canonicalize().ok().as_deref() == path.parent());
        let in_hidden = self.sets.is_hidden(path);
        let is_own = path.starts_with(&self.roots.state)
            && path.file_name().is_some_and(|name| name == SUPERVISOR_SOCKET);
        !is_daemon
            && !in_hidden
            && !is_own
            && !allowed.iter().any(|allowed| allowed == path)
            && !["/run", "/tmp", "/var/tmp", "/dev", "/proc"].into_iter().any(is_hidden)
    }
}

fn kept_variables_contain(plan: &SandboxPlan, name: &str) -> bool {
    plan.profile.sockets.iter().any(|socket| socket.strip_prefix('$') == Some(name))
}

/// Directories below `/var` that are not links into a directory that is private anyway.
fn own_var_directories() -> Vec<PathBuf> {
    let directories = ["/var/run", "/var/tmp"].map(PathBuf::from);
    directories.into_iter().filter(|path| path.symlink_metadata().is_ok_and(|found| found.is_dir())).collect()
}

fn runtime_directory() -> PathBuf {
    PathBuf::from(format!("/run/user/{}", getuid().as_raw()))
}

fn expand_home(path: &str, home: &Path) -> PathBuf {
    path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |rest| home.join(rest))
}
