// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Puts a cluster together and ends it in order.

use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::Value;
use tenterhook_fleet_server::{FleetKeys, OperatorKey};

use crate::cluster_machine::ClusterMachine;
use crate::cluster_process::{ClusterProcess, ProcessCommand};
use crate::error::ClusterError;
use crate::loopback_ports::free_ports;
use crate::nats_node::{NatsAddress, NatsCluster, NatsNode, TlsFiles};
use crate::network::ClusterNetwork;
use crate::postgres_node::{PostgresNode, TextRow, socket_address};
use crate::programs::{ClusterPrograms, find_tool};
use crate::server_node::{ServerNode, ServerOptions};
use crate::{is_cancelled, wait_for};

/// Number of NATS servers.
const NATS_SERVERS: usize = 3;
/// How long an engine or a server has to start on a busy computer.
const START_TIMEOUT: Duration = Duration::from_mins(2);
/// Number of machines that enrol at a time.
const PARALLEL_JOINS: usize = 4;

/// What a cluster consists of.
#[derive(Debug)]
pub struct ClusterOptions {
    /// The programs to run.
    pub programs: ClusterPrograms,
    /// Number of fleet servers.
    pub servers: usize,
    /// Number of machines.
    pub machines: usize,
    /// Maximum length of each stream of evidence.
    pub stream_bytes: u64,
    /// More options of the fleet servers.
    pub server_options: Vec<String>,
    /// Network with the members `n1`, `n2`, `n3`, `db`, `s1` … and `m1` …; loopback if it is missing.
    pub network: Option<ClusterNetwork>,
}

/// A running cluster. Dropping it ends all processes.
#[derive(Debug)]
pub struct Cluster {
    /// The enrolled machines.
    pub machines: Vec<ClusterMachine>,
    servers: Vec<ServerNode>,
    nats: Vec<NatsNode>,
    postgres: PostgresNode,
    /// The network of the members.
    pub network: Option<ClusterNetwork>,
    programs: ClusterPrograms,
    tls: Option<TlsFiles>,
    dir: tempfile::TempDir,
}

impl ClusterOptions {
    /// Returns the options of a cluster with two fleet servers.
    pub fn new(programs: ClusterPrograms, machines: usize) -> Self {
        Self {
            programs,
            servers: 2,
            machines,
            stream_bytes: 512 << 20,
            server_options: Vec::new(),
            network: None,
        }
    }
}

impl Cluster {
    /// Starts engines, servers and daemons, and enrols the machines. `progress` is told what is being done.
    pub fn start(options: ClusterOptions, progress: &mut dyn FnMut(&str)) -> Result<Self, ClusterError> {
        let temporary = std::env::temp_dir();
        let dir = tempfile::Builder::new().prefix("tenterhook-cluster-").tempdir_in(&temporary);
        let dir = dir.map_err(|error| ClusterError::file(&temporary, error))?;
        let open = std::fs::Permissions::from_mode(0o711);
        // PostgreSQL runs as another user if this process runs as root.
        std::fs::set_permissions(dir.path(), open).map_err(|error| ClusterError::file(dir.path(), error))?;
        progress("creating the keys of the fleet");
        let keys_dir = dir.path().join("keys");
        let keys = FleetKeys::open_or_create(&keys_dir, &["default".to_owned()])?;
        let mut admin =
            OperatorKey::generate("http://127.0.0.1", &keys.witness().public().to_string(), "admin")?;
        let admin_key = admin.public_text()?;
        let mut ports = free_ports(3 * NATS_SERVERS + 1 + options.servers).into_iter();
        let mut next_port = || ports.next().unwrap_or_default();
        let namespace = |member: &str| options.network.as_ref().map(|network| network.namespace(member));
        let ip = |number: usize| match &options.network {
            Some(_) => ClusterNetwork::address(number),
            None => IpAddr::V4(Ipv4Addr::LOCALHOST),
        };
        let addresses: Vec<NatsAddress> = (0..NATS_SERVERS)
            .map(|number| NatsAddress {
                ip: ip(number),
                client_port: next_port(),
                route_port: next_port(),
                monitor_port: next_port(),
            })
            .collect();
        let accounts = dir.path().join("accounts.conf");
        std::fs::write(&accounts, keys.nats_accounts_config()?)
            .map_err(|error| ClusterError::file(&accounts, error))?;
        let tls =
            options.network.as_ref().map(|_| create_certificates(dir.path(), &addresses)).transpose()?;
        let shared = NatsCluster {
            program: &options.programs.nats_server,
            accounts: &accounts,
            addresses: &addresses,
            tls: tls.as_ref(),
            max_store_bytes: options.stream_bytes.saturating_mul(8).saturating_add(4 << 30),
        };
        let nats = (0..NATS_SERVERS).map(|number| {
            NatsNode::create(dir.path(), number, &shared, namespace(&format!("n{}", number + 1)))
        });
        let mut nats = nats.collect::<Result<Vec<_>, _>>()?;
        progress("starting three NATS servers");
        nats.iter_mut().try_for_each(|node| node.process.start())?;
        progress("creating a PostgreSQL database");
        let database = socket_address(ip(NATS_SERVERS), next_port());
        let mut postgres =
            PostgresNode::create(dir.path(), &options.programs.postgres_bin, database, namespace("db"))?;
        postgres.process.start()?;
        postgres.wait_until_ready(START_TIMEOUT)?;
        let urls: Vec<String> = nats.iter().map(|node| node.url(tls.is_some())).collect();
        let postgres_url = postgres.url();
        let server_options = ServerOptions {
            program: &options.programs.fleet,
            keys: &keys_dir,
            nats_urls: &urls,
            nats_ca: tls.as_ref().map(|tls| tls.ca.as_path()),
            postgres_url: &postgres_url,
            password_file: &postgres.password_file.clone(),
            admin_key: &admin_key,
            replicas: NATS_SERVERS,
            stream_bytes: options.stream_bytes,
            extra: &options.server_options,
        };
        let servers = (0..options.servers).map(|number| {
            // In a network, the API stays on loopback of the server's namespace, because machines require TLS elsewhere.
            let address = socket_address(IpAddr::V4(Ipv4Addr::LOCALHOST), next_port());
            let namespace = namespace(&format!("s{}", number + 1));
            ServerNode::create(dir.path(), number, address, &server_options, namespace)
        });
        let servers = servers.collect::<Result<Vec<_>, _>>()?;
        let mut cluster = Self {
            machines: Vec::new(),
            servers,
            nats,
            postgres,
            network: options.network,
            programs: options.programs,
            tls,
            dir,
        };
        admin.server = cluster.url(0);
        admin.save(&cluster.admin_key_file())?;
        progress("waiting for the leader of JetStream");
        cluster.wait_for_nats()?;
        progress("starting the fleet servers");
        for number in 0..cluster.servers.len() {
            cluster.start_server(number)?;
        }
        cluster.add_machines(options.machines, progress)?;
        Ok(cluster)
    }

    fn add_machines(&mut self, count: usize, progress: &mut dyn FnMut(&str)) -> Result<(), ClusterError> {
        for number in 1..=count {
            if is_cancelled() {
                return Err(ClusterError::Cancelled);
            }
            if number == 1 || number % 10 == 0 {
                progress(&format!("starting daemon {number} of {count}"));
            }
            let member = format!("m{number}");
            let namespace = self.network.as_ref().map(|network| network.namespace(&member));
            let mut machine = ClusterMachine::create(self.dir.path(), &member, &self.programs, namespace)?;
            machine.start()?;
            self.machines.push(machine);
        }
        for machine in &mut self.machines {
            machine.wait_until_ready()?;
        }
        if count == 0 {
            return Ok(());
        }
        progress("enrolling the machines");
        let token = self.operator(&["token", "create", "--uses", &count.to_string()])?;
        let token = token.get("token").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (url, namespace) = (self.url(0), self.network.as_ref().map(|network| network.namespace("s1")));
        for_each_machine(&mut self.machines, |machine| machine.join(&url, &token, namespace.clone()))
    }

    /// Returns the directory of the cluster.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Returns the URL of a fleet server.
    pub fn url(&self, server: usize) -> String {
        self.servers.get(server).map(ServerNode::url).unwrap_or_default()
    }

    /// Returns the URLs of the NATS servers.
    pub fn nats_urls(&self) -> Vec<String> {
        self.nats.iter().map(|node| node.url(self.tls.is_some())).collect()
    }

    /// Returns the file with the administrator's key.
    pub fn admin_key_file(&self) -> PathBuf {
        self.dir.path().join("admin.json")
    }

    /// Returns the program `tenterhook-fleet`.
    pub fn fleet_program(&self) -> &Path {
        &self.programs.fleet
    }

    /// Returns the directory of the fleet's keys.
    pub fn keys_dir(&self) -> PathBuf {
        self.dir.path().join("keys")
    }

    /// Runs a command of an operator and returns its JSON. While a server is down, the next one is asked.
    pub fn operator(&self, arguments: &[&str]) -> Result<Value, ClusterError> {
        let mut last = ClusterError::process("operator", "no server");
        for (number, server) in self.servers.iter().enumerate() {
            let key = self.admin_key_file();
            let command = ProcessCommand::new(&self.programs.fleet, self.dir.path())
                .args(arguments)
                .args(["--json".as_ref(), "--key".as_ref(), key.as_os_str()])
                .args(["--server", &server.url()]);
            let namespace =
                self.network.as_ref().map(|network| network.namespace(&format!("s{}", number + 1)));
            match command.namespace(namespace).run(&arguments.join(" ")) {
                Ok(text) => {
                    return serde_json::from_str(&text)
                        .map_err(|error| ClusterError::Reply(error.to_string()));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// Queries the database.
    pub fn query(&self, sql: &str) -> Result<Vec<TextRow>, ClusterError> {
        self.postgres.query(sql)
    }

    /// Returns the number of NATS servers and of fleet servers.
    pub fn counts(&self) -> (usize, usize) {
        (self.nats.len(), self.servers.len())
    }

    /// Returns the process of a NATS server.
    pub fn nats_process(&mut self, number: usize) -> Option<&mut ClusterProcess> {
        self.nats.get_mut(number).map(|node| &mut node.process)
    }

    /// Returns the process of a fleet server.
    pub fn server_process(&mut self, number: usize) -> Option<&mut ClusterProcess> {
        self.servers.get_mut(number).map(|server| &mut server.process)
    }

    /// Returns the process of PostgreSQL.
    pub fn postgres_process(&mut self) -> &mut ClusterProcess {
        &mut self.postgres.process
    }

    /// Waits until PostgreSQL accepts connections.
    pub fn wait_for_postgres(&mut self) -> Result<(), ClusterError> {
        self.postgres.wait_until_ready(START_TIMEOUT)
    }

    /// Waits until every NATS server has its part of JetStream.
    pub fn wait_for_nats(&mut self) -> Result<(), ClusterError> {
        for node in &mut self.nats {
            let what = format!("{} is ready", node.process.name());
            wait_for(&what, START_TIMEOUT, || {
                node.process.check_running()?;
                Ok(node.is_healthy().then_some(()))
            })?;
        }
        Ok(())
    }

    /// Starts a fleet server and waits until it reaches its engines. A server that ends because an engine is not ready
    /// is started again, as systemd does it.
    pub fn start_server(&mut self, number: usize) -> Result<(), ClusterError> {
        let Some(server) = self.servers.get_mut(number) else {
            return Err(ClusterError::process("server", "no such server"));
        };
        server.process.start()?;
        let began = std::time::Instant::now();
        wait_for(&format!("{} is ready", server.process.name()), START_TIMEOUT, || {
            if let Err(error) = server.process.check_running() {
                if began.elapsed() > START_TIMEOUT / 2 {
                    return Err(error);
                }
                std::thread::sleep(Duration::from_secs(1));
                server.process.start()?;
            }
            Ok(server.is_healthy().then_some(()))
        })
    }

    /// Ends the cluster in order: machines, servers, engines.
    pub fn stop(&mut self) {
        for machine in &mut self.machines {
            machine.daemon.signal(rustix::process::Signal::TERM);
        }
        for machine in &mut self.machines {
            machine.daemon.stop();
        }
        self.servers.iter_mut().for_each(|server| server.process.stop());
        self.nats.iter_mut().for_each(|node| node.process.stop());
        self.postgres.process.stop();
    }

    /// Returns the ends of the logs of all servers, for an error report.
    pub fn logs(&self) -> String {
        let servers = self.servers.iter().map(|server| &server.process);
        let processes = servers.chain(self.nats.iter().map(|node| &node.process));
        let line = |process: &ClusterProcess| format!("{}: {}\n", process.name(), process.log_end());
        processes.chain([&self.postgres.process]).map(line).collect()
    }
}

/// Runs `work` for all machines, a few at a time. Returns the first error.
pub fn for_each_machine(
    machines: &mut [ClusterMachine],
    work: impl Fn(&mut ClusterMachine) -> Result<(), ClusterError> + Sync,
) -> Result<(), ClusterError> {
    let next = AtomicUsize::new(0);
    let slots: Vec<Mutex<Option<&mut ClusterMachine>>> =
        machines.iter_mut().map(|machine| Mutex::new(Some(machine))).collect();
    let run = || -> Result<(), ClusterError> {
        while !is_cancelled()
            && let Some(slot) = slots.get(next.fetch_add(1, Ordering::Relaxed))
        {
            let machine = slot.lock().ok().and_then(|mut slot| slot.take());
            machine.map_or(Ok(()), &work)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..PARALLEL_JOINS).map(|_| scope.spawn(run)).collect();
        let ended = workers.into_iter().map(|worker| {
            worker.join().unwrap_or_else(|_| Err(ClusterError::process("worker", "it panicked")))
        });
        // All workers are joined before the first error is returned.
        ended.collect::<Vec<_>>().into_iter().collect()
    })
}

/// Creates an authority and a certificate for all NATS servers.
fn create_certificates(dir: &Path, addresses: &[NatsAddress]) -> Result<TlsFiles, ClusterError> {
    let openssl = find_tool("openssl").ok_or_else(|| {
        ClusterError::Missing(vec!["`openssl` is not installed: apt-get install openssl".to_owned()])
    })?;
    let names: Vec<String> = addresses.iter().map(|address| format!("IP:{}", address.ip)).collect();
    let tls =
        TlsFiles { ca: dir.join("ca.pem"), certificate: dir.join("nats.pem"), key: dir.join("nats.key") };
    let extensions = dir.join("nats.ext");
    std::fs::write(&extensions, format!("subjectAltName={}\nextendedKeyUsage=serverAuth\n", names.join(",")))
        .map_err(|error| ClusterError::file(&extensions, error))?;
    let run = |words: &str| {
        ProcessCommand::new(&openssl, dir).args(words.split_whitespace()).run("openssl").map(drop)
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    run(&format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=cluster"))?;
    run(&format!("req {key} -keyout nats.key -out nats.csr -subj /CN=nats"))?;
    run(
        "x509 -req -in nats.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out nats.pem -extfile nats.ext",
    )?;
    Ok(tls)
}
