// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A trial in a temporary directory: the program, and the engines that it starts.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tenterhook_test_support::{skip_test, wait_until};

/// The program.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook-fleet");

/// A directory for one test, and the running servers in it. Dropping it ends them.
pub(crate) struct Trial {
    pub(crate) dir: tempfile::TempDir,
    nats: PathBuf,
    pub(crate) servers: Vec<Server>,
}

/// A running server.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) url: String,
}

/// Returns the nats-server for tests, if it and PostgreSQL are installed.
pub(crate) fn nats_server() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fleet-tools/nats-server-2.15.1");
    let has_postgres = std::fs::read_dir("/usr/lib/postgresql").is_ok();
    let found = std::fs::canonicalize(path).ok().filter(|_| has_postgres);
    if found.is_none() {
        skip_test(
            "nats-server or PostgreSQL is not installed: run `sh tests/install-fleet-tools.sh target/fleet-tools`",
        );
    }
    found
}

/// Starts a command without the environment of the test.
pub(crate) fn program(dir: &Path, nats: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", dir).env("TENTERHOOK_NATS_SERVER", nats);
    command.env("XDG_STATE_HOME", dir);
    command
}

impl Server {
    /// Starts a server and waits until it accepts requests.
    pub(crate) fn start(mut command: Command, log: &Path) -> Self {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let url = lines.find_map(|line| line.ok()?.strip_prefix("fleet server: ").map(ToOwned::to_owned));
        match url {
            Some(url) => Self { child, url },
            None => panic!("the server did not start: {:?}", child.wait()),
        }
    }

    /// Sends a signal and waits for the end.
    pub(crate) fn stop(&mut self, signal: Signal) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        if self.child.try_wait().unwrap().is_none() {
            kill_process(pid, signal).unwrap();
        }
        self.child.wait().unwrap();
    }
}

impl Trial {
    /// Starts a trial with these tenants; `None` if the engines are not installed.
    pub(crate) fn start(tenants: &[&str], options: &[&str]) -> Option<Self> {
        let nats = nats_server()?;
        let dir = tempfile::tempdir().unwrap();
        // PostgreSQL runs as another user if the test runs as root.
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
        let mut trial = Self { dir, nats, servers: Vec::new() };
        trial.serve(tenants, options);
        Some(trial)
    }

    /// Starts the server of the trial, which starts the engines.
    pub(crate) fn serve(&mut self, tenants: &[&str], options: &[&str]) {
        self.serve_with(tenants, options, &[]);
    }

    /// Starts the server of the trial with these variables.
    pub(crate) fn serve_with(&mut self, tenants: &[&str], options: &[&str], env: &[(&str, &str)]) {
        let mut command = program(self.dir.path(), &self.nats);
        command.envs(env.iter().copied()).arg("serve");
        if !options.contains(&"--listen") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        for tenant in tenants {
            command.args(["--tenant", tenant]);
        }
        command.args(options);
        self.servers.insert(0, Server::start(command, &self.dir.path().join("server.log")));
    }

    /// Returns the command of another copy of the server, as in production: it uses the engines of the trial.
    pub(crate) fn copy_command(&self, name: &str, database: &str) -> Command {
        let settings = self.settings();
        let password = self.dir.path().join("db-password");
        std::fs::write(&password, settings["postgres_password"].as_str().unwrap()).unwrap();
        std::fs::set_permissions(&password, std::fs::Permissions::from_mode(0o600)).unwrap();
        let mut command = program(self.dir.path(), &self.nats);
        command.args(["serve", "--listen", "127.0.0.1:0"]).arg("--state").arg(self.dir.path().join(name));
        command.arg("--nats").arg(format!("nats://127.0.0.1:{}", settings["nats_port"]));
        command
            .arg("--postgres")
            .arg(format!("postgres://fleet@127.0.0.1:{}/{database}", settings["postgres_port"]));
        command.arg("--postgres-password-file").arg(password).arg("--keys").arg(self.state().join("keys"));
        // All copies use the same limits.
        command.args(["--stream-bytes", &(512u64 << 20).to_string()]);
        command
    }

    /// Starts another copy of the server. Returns its number.
    pub(crate) fn serve_copy(&mut self, name: &str) -> usize {
        let command = self.copy_command(name, "fleet");
        self.servers.push(Server::start(command, &self.dir.path().join(format!("{name}.log"))));
        self.servers.len() - 1
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.dir.path().join("tenterhook-fleet")
    }

    pub(crate) fn settings(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.state().join("trial.json")).unwrap()).unwrap()
    }

    pub(crate) fn url(&self) -> String {
        self.servers[0].url.clone()
    }

    /// Runs a command of an operator of a tenant.
    pub(crate) fn run_as(&self, tenant: &str, arguments: &[&str]) -> Output {
        let mut command = program(self.dir.path(), &self.nats);
        command.args(arguments).arg("--key").arg(self.state().join(format!("admin-{tenant}.json")));
        command.output().unwrap()
    }

    /// Runs a command of an operator and returns its JSON.
    pub(crate) fn json_as(&self, tenant: &str, arguments: &[&str]) -> Value {
        let output = self.run_as(tenant, &[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Runs a command that needs no operator's key and returns its JSON.
    pub(crate) fn json_unsigned(&self, arguments: &[&str]) -> Value {
        let output = program(self.dir.path(), &self.nats).args(arguments).arg("--json").output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        self.json_as("default", arguments)
    }

    /// Creates an enrolment token.
    pub(crate) fn token(&self, tenant: &str, uses: u32) -> String {
        let created = self.json_as(tenant, &["token", "create", "--uses", &uses.to_string()]);
        created["token"].as_str().unwrap().to_owned()
    }

    /// Waits until the server has stored this many records of a machine, and returns its row.
    pub(crate) fn wait_for_records(&self, tenant: &str, machine: &str, records: u64) -> Value {
        wait_until(&format!("{records} records of {machine}"), || {
            std::thread::sleep(Duration::from_millis(100));
            // While an engine is down, the command fails.
            let output = self.run_as(tenant, &["machines", machine, "--json"]);
            let listed: Value =
                serde_json::from_slice(&output.stdout).ok().filter(|_| output.status.success())?;
            let row = listed["machines"].as_array().unwrap().first().cloned()?;
            (row["records"].as_u64() == Some(records)).then_some(row)
        })
    }

    /// Waits until an alert of this kind is open for a machine.
    pub(crate) fn wait_for_alert(&self, machine: &str, kind: &str) -> Value {
        wait_until(&format!("an alert {kind} about {machine}"), || {
            std::thread::sleep(Duration::from_millis(100));
            let listed = self.json(&["alerts"]);
            listed["alerts"]
                .as_array()
                .unwrap()
                .iter()
                .find(|alert| alert["machine"] == machine && alert["kind"] == kind)
                .cloned()
        })
    }

    /// Returns the pids of the trial's engines whose command line contains a text.
    pub(crate) fn engine_pids(&self, text: &str) -> Vec<i32> {
        let keepers = children_of(i32::try_from(self.servers[0].child.id()).unwrap());
        let engines = keepers.into_iter().flat_map(children_of);
        let matches = |pid: &i32| {
            std::fs::read(format!("/proc/{pid}/cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(text))
        };
        engines.filter(matches).collect()
    }

    /// Queries the database.
    pub(crate) fn query(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        // On a thread of its own, because the caller may be in a runtime.
        std::thread::scope(|scope| scope.spawn(|| self.query_blocking(sql)).join().unwrap())
    }

    /// Connects to the database.
    pub(crate) async fn database(&self) -> tokio_postgres::Client {
        let settings = self.settings();
        let mut config = tokio_postgres::Config::new();
        config.host("127.0.0.1").port(settings["postgres_port"].as_u64().unwrap().try_into().unwrap());
        config.user("fleet").dbname("fleet").password(settings["postgres_password"].as_str().unwrap());
        let (client, connection) = config.connect(tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Connects to the message bus with the keys of the server.
    pub(crate) async fn server_bus(&self) -> async_nats::Client {
        let keys = tenterhook_fleet_server::FleetKeys::load(&self.state().join("keys")).unwrap();
        let account = &keys.accounts("default").unwrap().streams;
        let port = self.settings()["nats_port"].as_u64().unwrap();
        let user = tenterhook_fleet_protocol::NkeyPair::from_seed(
            tenterhook_fleet_protocol::NkeyKind::User,
            &[5; 32],
        );
        let life = (crate::machine::now(), crate::machine::now() + 600);
        let jwt = tenterhook_fleet_protocol::user_jwt(account, &user.public(), "test", None, life).unwrap();
        let user = std::sync::Arc::new(user);
        let options = async_nats::ConnectOptions::with_auth_callback(move |nonce| {
            let (jwt, user) = (jwt.clone(), std::sync::Arc::clone(&user));
            async move {
                let mut auth = async_nats::Auth::new();
                auth.jwt = Some(jwt);
                auth.signature = Some(user.sign(&nonce).to_vec());
                Ok::<_, async_nats::AuthError>(auth)
            }
        });
        options.connect(format!("nats://127.0.0.1:{port}")).await.unwrap()
    }

    fn query_blocking(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let client = self.database().await;
            let rows = client.simple_query(sql).await.unwrap();
            let row = |message| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => {
                    Some((0..row.len()).map(|at| row.get(at).map(ToOwned::to_owned)).collect())
                }
                _ => None,
            };
            rows.into_iter().filter_map(row).collect()
        })
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        // The first server ends the engines, so it ends last.
        for server in self.servers.iter_mut().rev() {
            server.stop(Signal::TERM);
        }
        if std::thread::panicking() {
            for entry in std::fs::read_dir(self.dir.path()).unwrap().flatten() {
                if entry.path().extension().is_some_and(|extension| extension == "log") {
                    eprintln!(
                        "{}:\n{}",
                        entry.path().display(),
                        std::fs::read_to_string(entry.path()).unwrap()
                    );
                }
            }
        }
    }
}

fn children_of(pid: i32) -> Vec<i32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let children = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    children
        .flat_map(|text| text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<i32>>())
        .collect()
}

/// Kills a process at once.
pub(crate) fn kill_now(pid: i32) {
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
}
