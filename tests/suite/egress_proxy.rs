// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Network connections of a sandboxed run: real clients connect through the proxy, the daemon judges and records. The
//! test process is the supervisor of the run.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_api::RunRegistration;
use tenterhook_egress::{RunContext, register_run, serve_for_run};
use tenterhook_error::ErrorKind;
use tenterhook_event::SandboxLevel;
use tenterhook_home::{Env, Home, call_meta};

use crate::attacks::find_program;
use crate::context::{CommandOutput, TestContext, repository};
use crate::terminal_user::{SocketDaemon, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");

/// A run whose first process does nothing, and its proxy.
struct ProxiedRun<'a> {
    test: &'a TestContext,
    first: Child,
    run: RunRegistration,
    port: u16,
    runtime: tokio::runtime::Runtime,
}

impl<'a> ProxiedRun<'a> {
    fn start(test: &'a TestContext) -> Self {
        Self::start_with_wait(test, Duration::from_secs(1))
    }

    fn start_with_wait(test: &'a TestContext, ask_wait: Duration) -> Self {
        let first = test.command(Path::new("/bin/sleep"), &["600"]).spawn().unwrap();
        let run = registration(test, first.id(), SandboxLevel::Landlock);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let home = Home::in_dir(test.home());
        register_run(&home, &run).unwrap();
        let env = Env { home: Some(test.path("person")), ..Env::default() };
        let context = RunContext { ask_wait, ..RunContext::new(home, env, run.clone()) };
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        runtime.spawn(serve_for_run(listener, context));
        Self { test, first, run, port, runtime }
    }

    /// Runs curl through the proxy. Standard output is the body, after a line with the status.
    fn curl(&self, words: &[&str]) -> CommandOutput {
        let proxy = format!("http://127.0.0.1:{}", self.port);
        let words =
            [&["-sS", "--noproxy", "", "--max-time", "20", "-w", "\n%{http_code} %{http_connect}"], words]
                .concat();
        let mut command = self.test.command(Path::new("/usr/bin/curl"), &words);
        command.env("http_proxy", &proxy).env("https_proxy", &proxy);
        self.test.run_command(command, b"")
    }

    /// The records about connections, once there are this many.
    fn wait_for_records(&self, count: usize) -> Vec<Value> {
        until("the connections are recorded", || {
            let records = self.test.records().into_iter();
            let found: Vec<_> = records.filter(|leaf| leaf["tool"]["name"] == "NetworkConnect").collect();
            (found.len() >= count).then_some(found)
        })
    }
}

impl Drop for ProxiedRun<'_> {
    fn drop(&mut self) {
        drop(self.first.kill());
        drop(self.first.wait());
        // The blocking threads of the runtime end by themselves.
        let idle = tokio::runtime::Builder::new_current_thread().build().unwrap();
        std::mem::replace(&mut self.runtime, idle).shutdown_background();
    }
}

fn registration(test: &TestContext, pid: u32, level: SandboxLevel) -> RunRegistration {
    RunRegistration {
        id: call_meta::mint().unwrap().id,
        init_pid: i32::try_from(pid).unwrap(),
        level,
        harness: None,
        command: "the agent".to_owned(),
        cwd: Some(test.path("work").to_str().unwrap().to_owned()),
        project: None,
    }
}

/// A server on loopback that answers each request with `hello`. Returns its port.
fn hello_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream: TcpStream = stream.unwrap();
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
            });
        }
    });
    port
}

fn write_rules(test: &TestContext, port: u16) {
    let rules = format!(
        "version: 1
rules:
  - id: no-tracker
    verdict: deny
    match: {{ url: {{ host: [tracker.example, \"*.tracker.example\"] }} }}
    reason: this host collects data
    nudge: use the mirror at mirror.example
  - id: ask-first
    verdict: ask
    match: {{ host: asked.example }}
    reason: the user wants to know about this host
  - id: local-server
    verdict: allow
    match: {{ tool: NetworkConnect, url: {{ host: [\"127.0.0.1\", localhost], port: {port} }} }}
"
    );
    test.write("home/policy.yaml", &rules);
}

/// The verdict, the rule and the address of a record about a connection.
fn describe(leaf: &Value) -> (String, String, String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (
        text(&leaf["event"]),
        text(&leaf["verdict"]),
        text(&leaf["policy_rule_id"]),
        text(&leaf["stored"]["args"]["url"]),
    )
}

#[test]
fn connections_are_judged_by_the_rules_and_recorded() {
    if find_program("curl").is_none() {
        return;
    }
    for with_daemon in [true, false] {
        let test = TestContext::new();
        let port = hello_server();
        write_rules(&test, port);
        let _daemon = with_daemon.then(|| SocketDaemon::of(&test));
        let run = ProxiedRun::start(&test);

        let denied = run.curl(&["http://tracker.example/pixel"]);
        assert!(denied.stdout.ends_with("\n403 000"), "{}{}", denied.stdout, denied.stderr);
        assert!(denied.stdout.contains("reason: this host collects data\n"), "{}", denied.stdout);
        assert!(
            denied.stdout.contains("suggestion: use the mirror at mirror.example\n"),
            "{}",
            denied.stdout
        );
        let tunnel = run.curl(&["https://A.Tracker.Example./"]);
        assert!(tunnel.exit != 0 && tunnel.stdout.ends_with(" 403"), "{}{}", tunnel.stdout, tunnel.stderr);
        let allowed = run.curl(&[&format!("http://127.0.0.1:{port}/x")]);
        assert_eq!(allowed.stdout, "hello\n200 000", "{}", allowed.stderr);
        let socks = format!("127.0.0.1:{}", run.port);
        let by_socks = run.curl(&["--socks5-hostname", &socks, &format!("http://localhost:{port}/y")]);
        assert_eq!(by_socks.stdout, "hello\n200 000", "{}", by_socks.stderr);
        let refused = run.curl(&["--socks5-hostname", &socks, "http://tracker.example/"]);
        assert_eq!(refused.exit, 97, "curl reports a SOCKS error: {}", refused.stderr);

        let mut found: Vec<_> = run.wait_for_records(7).iter().map(describe).collect();
        found.sort();
        let row = |event: &str, verdict: &str, rule: &str, url: &str| {
            (event.to_owned(), verdict.to_owned(), rule.to_owned(), url.to_owned())
        };
        let mut expected = vec![
            row("pre-tool", "deny", "no-tracker", "http://tracker.example:80/pixel"),
            row("pre-tool", "deny", "no-tracker", "https://a.tracker.example:443/"),
            row("pre-tool", "deny", "no-tracker", "http://tracker.example:80/"),
            row("pre-tool", "allow", "local-server", &format!("http://127.0.0.1:{port}/x")),
            row("pre-tool", "allow", "local-server", &format!("tcp://localhost:{port}/")),
        ];
        expected.sort();
        let begun: Vec<_> = found.iter().filter(|row| row.0 == "pre-tool").cloned().collect();
        assert_eq!(begun, expected, "with a daemon: {with_daemon}");
        let ended = run.wait_for_records(7).into_iter().filter(|leaf| leaf["event"] == "post-tool");
        for leaf in ended {
            let output = &leaf["stored"]["detail"]["tool_output"];
            assert_eq!(output["end"], "finished", "{leaf}");
            assert!(
                output["received"].as_u64().unwrap() > 5 && output["sent"].as_u64().unwrap() > 20,
                "{leaf}"
            );
        }
        let one = &run.wait_for_records(7)[0];
        assert_eq!(one["nudge"], "use the mirror at mirror.example", "{one}");
        assert_eq!(one["harness_session_id"], json!(run.run.id.to_string()));
        assert_eq!(one["agent"]["sandbox"], "landlock", "{one}");
    }
}

#[test]
fn inner_addresses_need_a_rule_and_questions_end_in_time() {
    if find_program("curl").is_none() {
        return;
    }
    let test = TestContext::new();
    write_rules(&test, 1);
    let _daemon = SocketDaemon::of(&test);
    let run = ProxiedRun::start(&test);
    let port = hello_server();
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://localhost:{port}/"),
    ] {
        // curl would write the usual form of the address itself.
        let mut stream = TcpStream::connect(("127.0.0.1", run.port)).unwrap();
        let host = url.trim_start_matches("http://").trim_end_matches('/');
        write!(stream, "GET {url} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        assert!(reply.starts_with("HTTP/1.1 403 "), "{url}: {reply}");
        assert!(
            reply.contains("is not a public address (loopback)") && reply.contains("suggestion: "),
            "{reply}"
        );
    }
    let metadata = run.curl(&["http://169.254.169.254/latest/meta-data/"]);
    assert!(metadata.stdout.ends_with("403 000"), "{}", metadata.stdout);
    let asked = run.curl(&["http://asked.example/"]);
    assert!(asked.stdout.contains("the user wants to know about this host"), "{}", asked.stdout);
    assert!(asked.stdout.contains("approve"), "{}", asked.stdout);
    let invalid = run.curl(&["--request-target", "http://other.example/", "http://127.0.0.1:1/"]);
    assert!(invalid.stdout.contains("400"), "{}", invalid.stdout);

    let found = run.wait_for_records(6);
    let denied = found.iter().filter(|leaf| leaf["verdict"] == "deny").count();
    assert_eq!(denied, 4, "{found:#?}");
    let failed: Vec<_> = found.iter().filter(|leaf| leaf["event"] == "tool-error").collect();
    assert_eq!(failed.len(), 1, "{found:#?}");
}

#[test]
fn git_clones_through_the_proxy() {
    let (Some(git), Some(python)) = (find_program("git"), find_program("python3")) else { return };
    let test = TestContext::new();
    let script = "git init -q src && cd src && echo hi >f && git add f && git -c user.name=a -c user.email=a@b \
                  commit -qm x && cd .. && git clone -q --bare src served.git && git -C served.git update-server-info";
    let ran = test.run_command(test.command(Path::new("/bin/sh"), &["-ec", script]), b"");
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let mut server = test.command(&python, &["-u", "-m", "http.server", "0", "--bind", "127.0.0.1"]);
    let mut server = server.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port: u16 =
        line.split("port ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap().parse().unwrap();
    write_rules(&test, port);
    let run = ProxiedRun::start(&test);
    let mut clone =
        test.command(&git, &["clone", "-q", &format!("http://127.0.0.1:{port}/served.git"), "copy"]);
    clone.env("http_proxy", format!("http://127.0.0.1:{}", run.port)).env("no_proxy", "");
    let cloned = test.run_command(clone, b"");
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(cloned.exit, 0, "{}", cloned.stderr);
    assert_eq!(std::fs::read_to_string(test.path("work/copy/f")).unwrap(), "hi\n");
    let found = run.wait_for_records(2);
    assert!(found.iter().all(|leaf| leaf["verdict"] != "deny"), "{found:#?}");
}

/// Starts the attack program in namespaces of its own if `unshare` is given. Returns it with the pid of the first process.
fn start_attack(test: &TestContext, python: &Path, unshare: Option<&PathBuf>) -> (Child, u32) {
    let payload = test.write("payload.json", &test.bash("ls"));
    let script = repository().join("tests/suite/attacks/sandbox_attack.py");
    let nested = unshare.map_or("", |path| path.to_str().unwrap());
    let mut command: Command = match unshare {
        Some(unshare) => {
            let mut command = test.command(unshare, &["-Urpf", "--kill-child", "--mount-proc"]);
            command.arg(python);
            command
        }
        None => test.command(python, &[]),
    };
    command.arg(script).args([&test.home(), Path::new(PROGRAM), &payload]).arg(nested);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    if unshare.is_none() {
        let pid = child.id();
        return (child, pid);
    }
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let first = until("the first process runs", || {
        std::fs::read_to_string(&children).unwrap().split_whitespace().next()?.parse().ok()
    });
    (child, first)
}

#[test]
fn every_process_of_a_registered_run_is_the_agent() {
    let (Some(python), Some(unshare)) = (find_program("python3"), find_program("unshare")) else { return };
    let tried = Command::new(&unshare).args(["-Urpf", "--mount-proc", "true"]).output().unwrap();
    if !tried.status.success() {
        return tenterhook_test_support::skip_test("needs user namespaces");
    }
    for level in [SandboxLevel::NamespacesLandlock, SandboxLevel::Landlock] {
        let test = TestContext::new();
        let guard = SocketDaemon::of(&test);
        let (mut attack, pid) = start_attack(&test, &python, level.has_namespaces().then_some(&unshare));
        let home = Home::in_dir(test.home());
        let run = registration(&test, pid, level);
        register_run(&home, &run).unwrap();
        register_run(&home, &run).unwrap();
        let status = test.run(&["status"]);
        assert!(
            status.stdout.contains(&format!("sandboxed   `the agent` ({level}, process {pid})")),
            "{}",
            status.stdout
        );
        let runs = test.run(&["status", "--json"]).json()["runs"].clone();
        assert_eq!((&runs[0]["level"], &runs[0]["init_pid"]), (&json!(level), &json!(pid)));

        let mut stdin = attack.stdin.take().unwrap();
        let mut lines = BufReader::new(attack.stdout.take().unwrap()).lines();
        stdin.write_all(b"go\n").unwrap();
        let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
        let nested: &[&str] = if level.has_namespaces() { &["nested namespace"] } else { &[] };
        let orphan: &[&str] = if level.has_namespaces() { &["orphan"] } else { &[] };
        for how in [&["direct", "child"], orphan].concat() {
            let tried = next();
            assert_eq!((&tried["how"], &tried["status"]), (&json!(how), &json!(403)), "{tried}");
            assert!(tried["body"].as_str().unwrap().contains("inside a sandboxed run"), "{tried}");
        }
        if orphan.is_empty() {
            // Without a pid namespace, an orphan is adopted by a process outside the run, unless the supervisor adopts it.
            assert_eq!(next()["how"], "orphan");
        }
        for how in nested {
            let tried = next();
            assert_eq!((&tried["how"], &tried["status"]), (&json!(how), &json!(403)), "{tried}");
        }
        let registered = next();
        assert_eq!(
            (&registered["how"], &registered["status"]),
            (&json!("registration"), &json!(403)),
            "{registered}"
        );
        assert_eq!(next()["status"], 0, "a hook of the run is answered");
        let records = test.records();
        let hook = records.iter().find(|leaf| leaf["native_event"] == "PreToolUse").unwrap();
        assert_eq!(hook["agent"]["sandbox"], json!(level), "{hook}");
        let session = test.run(&["status", "--json"]).json()["runs"][0]["session"].clone();
        assert_eq!(session, "s-1", "the run's connections belong to this session");

        drop(guard);
        let _guard = SocketDaemon::of(&test);
        stdin.write_all(b"go\n").unwrap();
        let tried = next();
        assert_eq!((&tried["how"], &tried["status"]), (&json!("after a restart"), &json!(403)), "{tried}");
        drop(stdin);
        attack.wait().unwrap();
        until("the end of the run is recorded", || {
            test.records().into_iter().find(|leaf| leaf["what"] == "sandbox ended")
        });
        assert_eq!(test.run(&["status", "--json"]).json()["runs"], json!([]));
        let what: Vec<_> = test.records().into_iter().filter(|leaf| leaf["what"] == "sandbox").collect();
        assert_eq!(what.len(), 1, "{what:#?}");
    }
}

#[test]
fn a_guarded_agent_registers_no_run() {
    let test = TestContext::new();
    let daemon = SocketDaemon::of(&test);
    let mut child = test.command(Path::new("/bin/sleep"), &["60"]).spawn().unwrap();
    let run = registration(&test, child.id(), SandboxLevel::Hooks);
    // From here on the test process is an agent.
    daemon.hook("claude-code", "pre-tool-use", &serde_json::from_str(&test.bash("ls")).unwrap());
    let home = Home::in_dir(test.home());
    assert_eq!(register_run(&home, &run).unwrap_err().kind, ErrorKind::Denied);
    drop(daemon);
    assert_eq!(register_run(&home, &run).unwrap_err().kind, ErrorKind::Denied, "without a daemon");
    child.kill().unwrap();
    child.wait().unwrap();
}
