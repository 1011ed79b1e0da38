// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `run --sandbox --network proxy`: ordinary programs work through the proxy, refusals are readable, and every connection
//! is in the ledger. Servers are on another loopback address of the machine, which a rule allows.

use std::net::TcpListener;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Background, PROGRAM, Sandbox, start_daemon};
use crate::attacks::find_program;
use crate::terminal_user::until;

/// Address of the servers. It is not in `NO_PROXY`, and only the machine's own loopback has a server on it.
const SERVER_ADDRESS: &str = "127.0.0.2";

/// A web server of the machine, for files of a directory.
struct FileServer {
    port: u16,
    _process: Background,
}

impl FileServer {
    fn start(sandbox: &Sandbox, directory: &Path) -> Self {
        let port = free_port();
        let text = port.to_string();
        let mut command: Command = sandbox.command(
            Path::new("/usr/bin/python3"),
            &[
                "-m",
                "http.server",
                &text,
                "--bind",
                SERVER_ADDRESS,
                "--directory",
                directory.to_str().unwrap(),
            ],
        );
        command.env("PYTHONDONTWRITEBYTECODE", "1");
        let process = Background::start(command);
        until("the file server answers", || std::net::TcpStream::connect((SERVER_ADDRESS, port)).ok());
        Self { port, _process: process }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{SERVER_ADDRESS}:{}/{path}", self.port)
    }
}

fn free_port() -> u16 {
    TcpListener::bind((SERVER_ADDRESS, 0)).unwrap().local_addr().unwrap().port()
}

fn allow_server(sandbox: &Sandbox) {
    sandbox.test.write(
        "home/policy.yaml",
        "version: 1\nrules:\n  - id: local-server\n    verdict: allow\n    match: { tool: NetworkConnect, url: { host: 127.0.0.2 } }\n\
         \x20 - id: no-tracker\n    verdict: deny\n    match: { url: { host: tracker.example } }\n    reason: this host collects data\n    nudge: use the mirror\n",
    );
    sandbox.give_away(sandbox.test.path("."));
}

fn connections(sandbox: &Sandbox, count: usize) -> Vec<Value> {
    until("the connections are recorded", || {
        let records = sandbox.test.records().into_iter();
        let found: Vec<_> = records.filter(|leaf| leaf["tool"]["name"] == "NetworkConnect").collect();
        (found.len() >= count).then_some(found)
    })
}

fn proxied(sandbox: &Sandbox, script: &str) -> crate::context::CommandOutput {
    sandbox.run_with(&["--network", "proxy"], &["/bin/sh", "-c", script])
}

#[test]
fn curl_and_git_work_through_the_proxy_and_refusals_are_readable() {
    if find_program("curl").is_none() {
        return;
    }
    for sandbox in Sandbox::all() {
        allow_server(&sandbox);
        let _daemon = start_daemon(&sandbox);
        let site = sandbox.test.path("site");
        let made = sandbox.plain(&format!(
            "git init -q --bare {0}/r.git && git commit -q --allow-empty -m one && git push -q {0}/r.git HEAD:main && \
             git -C {0}/r.git symbolic-ref HEAD refs/heads/main && git -C {0}/r.git update-server-info && echo hello >{0}/x",
            site.display()
        ));
        assert_eq!(made.exit, 0, "{}", made.stderr);
        let server = FileServer::start(&sandbox, &site);
        let ran = proxied(
            &sandbox,
            &format!(
                "curl -sS {}; git clone -q {} copy 2>&1; git -C copy log --format=%s; curl -sS http://tracker.example/; \
                 curl -sS --max-time 5 --noproxy '*' {} || echo direct $?",
                server.url("x"),
                server.url("r.git"),
                server.url("x"),
            ),
        );
        assert_eq!(
            ran.stdout,
            "hello\none\nTenterhook refused this connection to tracker.example:80.\nreason: this host collects data\n\
             suggestion: use the mirror\ndirect 7\n",
            "{}",
            ran.stderr
        );
        let records = connections(&sandbox, 3);
        let verdicts: Vec<_> = records.iter().filter_map(|leaf| leaf["verdict"].as_str()).collect();
        assert!(verdicts.contains(&"allow") && verdicts.contains(&"deny"), "{records:#?}");
        assert!(
            records.iter().all(|leaf| leaf["agent"]["sandbox"] == "namespaces-landlock"),
            "each record names the level: {records:#?}"
        );
        let denied = records.iter().find(|leaf| leaf["verdict"] == "deny").unwrap();
        assert_eq!(denied["nudge"], "use the mirror");
    }
}

#[test]
fn the_proxy_of_the_user_s_network_is_used_after_the_rules() {
    if find_program("curl").is_none() {
        return;
    }
    for sandbox in Sandbox::all() {
        // This server answers requests to a proxy too: it looks for a file of that name.
        let site = sandbox.test.path("site");
        sandbox.test.write("site/http:/mirror.invalid/x", "through the company's proxy\n");
        sandbox.test.write(
            "home/policy.yaml",
            "version: 1\nrules:\n  - id: mirror\n    verdict: allow\n    match: { tool: NetworkConnect, url: { host: mirror.invalid } }\n",
        );
        sandbox.give_away(sandbox.test.path("."));
        let server = FileServer::start(&sandbox, &site);
        let script =
            "curl -sS http://mirror.invalid/x; curl -sS http://other.invalid/x; env | grep -c user:secret";
        let mut command = sandbox.sandboxed(&["--network", "proxy"], &["/bin/sh", "-c", script]);
        command.env("http_proxy", format!("http://user:secret@{SERVER_ADDRESS}:{}", server.port));
        let ran = sandbox.test.run_command(command, b"");
        let lines: Vec<_> = ran.stdout.lines().collect();
        assert_eq!(
            lines[..2],
            ["through the company's proxy", "Tenterhook refused this connection to other.invalid:80."],
            "{}{}",
            ran.stdout,
            ran.stderr
        );
        assert!(ran.stdout.contains("cannot be resolved here"), "{}", ran.stdout);
        assert_eq!(lines.last(), Some(&"0"), "the run does not see the password: {}", ran.stdout);
    }
}

#[test]
fn npm_and_pip_install_through_the_proxy() {
    if find_program("npm").is_none() {
        return;
    }
    for sandbox in Sandbox::all() {
        allow_server(&sandbox);
        sandbox.forget_keys();
        let site = sandbox.test.path("site");
        let made = sandbox.plain(&format!(
            "mkdir -p {0}/dep && cd {0}/dep && printf '{{\"name\": \"dep\", \"version\": \"1.0.0\"}}' >package.json && \
             npm pack --silent >/dev/null && mv dep-1.0.0.tgz .. && cd .. && python3 -c \"
import zipfile
z = zipfile.ZipFile('dep-1.0-py3-none-any.whl', 'w')
z.writestr('dep.py', 'answer = 42')
z.writestr('dep-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\\nName: dep\\nVersion: 1.0\\n')
z.writestr('dep-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
z.writestr('dep-1.0.dist-info/RECORD', 'dep.py,,\\ndep-1.0.dist-info/METADATA,,\\ndep-1.0.dist-info/WHEEL,,\\ndep-1.0.dist-info/RECORD,,\\n')
z.close()\"",
            site.display()
        ));
        assert_eq!(made.exit, 0, "{}", made.stderr);
        let server = FileServer::start(&sandbox, &site);
        let npm = proxied(
            &sandbox,
            &format!(
                "echo '{{}}' >package.json; npm install --silent --no-audit --no-fund {} && ls node_modules",
                server.url("dep-1.0.0.tgz")
            ),
        );
        assert_eq!((npm.exit, npm.stdout.as_str()), (0, "dep\n"), "{}", npm.stderr);
        connections(&sandbox, 1);
        if sandbox.plain("python3 -m pip --version").exit != 0 {
            tenterhook_test_support::skip_test("needs `pip`");
            continue;
        }
        let before = sandbox.test.records().len();
        let pip = proxied(
            &sandbox,
            &format!(
                "python3 -m pip install -q --disable-pip-version-check --no-deps --target lib {} 2>&1 && PYTHONPATH=lib python3 -c 'import dep; print(dep.answer)'",
                server.url("dep-1.0-py3-none-any.whl")
            ),
        );
        assert!(pip.exit == 0 && pip.stdout.ends_with("42\n"), "{}{}", pip.stdout, pip.stderr);
        assert!(sandbox.test.records().len() > before, "pip used the proxy");
    }
}

#[test]
fn status_lists_the_run_and_its_level() {
    for sandbox in Sandbox::all() {
        let _daemon = start_daemon(&sandbox);
        let command = sandbox.sandboxed(&[], &["/bin/sh", "-c", "touch started; sleep 60"]);
        let run = Background::start(command);
        until("the run has started", || sandbox.test.path("work/started").exists().then_some(()));
        let status = sandbox.test.run_command(sandbox.command(Path::new(PROGRAM), &["status"]), b"");
        assert!(status.stdout.contains("`/bin/sh` (namespaces-landlock"), "{}", status.stdout);
        drop(run);
        until("the run is gone", || {
            let status = sandbox.test.run_command(sandbox.command(Path::new(PROGRAM), &["status"]), b"");
            (!status.stdout.contains("/bin/sh")).then_some(())
        });
        let changes: Vec<_> = sandbox
            .test
            .records()
            .into_iter()
            .filter(|leaf| leaf["kind"] == "change")
            .map(|leaf| leaf["what"].clone())
            .collect();
        assert!(changes.contains(&Value::from("sandbox")), "{changes:?}");
    }
}

#[test]
fn the_status_line_names_the_level_inside() {
    for sandbox in Sandbox::all() {
        for name in ["bin/tenterhook-hook", "totp", "ledger/key"] {
            std::fs::remove_file(sandbox.test.home().join(name)).unwrap();
        }
        let installed = sandbox
            .test
            .run_command(sandbox.command(Path::new(PROGRAM), &["install", "claude-code", "--yes"]), b"");
        assert_eq!(installed.exit, 0, "{}", installed.stderr);
        let line = |ran: crate::context::CommandOutput| ran.stdout;
        let script = "\"$TENTERHOOK_HOME/bin/tenterhook-status\" claude-code </dev/null";
        assert_eq!(line(sandbox.run(script)), "Tenterhook ⚠ daemon offline\n");
        sandbox.test.write("home/totp", "");
        let _daemon = start_daemon(&sandbox);
        // The status line waits only a fifth of a second for the daemon.
        until("the line is good outside", || (line(sandbox.plain(script)) == "Tenterhook ✓\n").then_some(()));
        let inside = "Tenterhook ✓ · sandbox namespaces-landlock\n";
        until("the line names the level", || (line(sandbox.run(script)) == inside).then_some(()));
    }
}

/// A public address that only an interface of the test's own network namespace has.
const PUBLIC_ADDRESS: &str = "9.9.9.9";

#[test]
fn a_public_address_of_the_machine_is_refused_unless_a_rule_allows_it() {
    if !rustix::process::getuid().is_root() || find_program("ip").is_none() || find_program("curl").is_none()
    {
        tenterhook_test_support::skip_test(
            "needs root, ip and curl: a network namespace with a public address",
        );
        return;
    }
    let Some(sandbox) = Sandbox::all().into_iter().next() else { return };
    let run = |rules: &str| {
        sandbox.test.write("home/policy.yaml", &format!("version: 1\nrules: {rules}\n"));
        let script = format!(
            "ip link set lo up && ip addr add {PUBLIC_ADDRESS}/32 dev lo && echo hello >index.html && \
             {{ python3 -m http.server 8124 --bind {PUBLIC_ADDRESS} >server.log 2>&1 & }} ; \
             for n in $(seq 100); do curl -s -o /dev/null http://{PUBLIC_ADDRESS}:8124/ && break; sleep 0.05; done; \
             '{PROGRAM}' run --sandbox --network proxy -- curl -sS http://{PUBLIC_ADDRESS}:8124/index.html; kill $!"
        );
        let args = ["--net", "/bin/sh", "-c", &script];
        sandbox.test.run_command(sandbox.command(Path::new("/usr/bin/unshare"), &args), b"")
    };
    let refused = run("[]");
    assert!(
        refused.stdout.contains("`9.9.9.9` is not a public address (this-machine)"),
        "{}{}",
        refused.stdout,
        refused.stderr
    );
    let rule =
        "[{ id: own-server, verdict: allow, match: { tool: NetworkConnect, url: { host: 9.9.9.9 } } }]";
    let allowed = run(rule);
    assert_eq!(allowed.stdout, "hello\n", "{}", allowed.stderr);
}
