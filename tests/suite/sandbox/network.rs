// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Attacks over the network, and the listener that a run passes to its supervisor.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::time::Duration;

use super::Sandbox;

#[test]
fn services_of_the_machine_are_not_reachable() {
    for sandbox in Sandbox::all() {
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        udp.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
        let ran = sandbox.python(&format!(
            "import socket\ntry:\n    socket.create_connection(('127.0.0.1', {tcp_port}), 1); print('DONE')\nexcept OSError as e: print(e)\n\
             socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {udp_port}))\n\
             for target in ('192.0.2.1', '1.1.1.1'):\n    try:\n        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', (target, 53)); print('DONE')\n    except OSError as e: print(e.errno)"
        ));
        assert!(!ran.stdout.contains("DONE"), "{}", ran.stdout);
        assert!(ran.stdout.contains("refused"), "{}{}", ran.stdout, ran.stderr);
        assert!(udp.recv(&mut [0; 8]).is_err(), "a datagram reached the machine");
    }
}

#[test]
fn a_server_inside_is_reachable_inside() {
    for sandbox in Sandbox::all() {
        let ran = sandbox.run(
            "echo hello >index.html; python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & \
             for n in $(seq 100); do python3 -c \"import urllib.request as u; print(u.urlopen('http://127.0.0.1:8123/index.html').read())\" 2>/dev/null && break; sleep 0.05; done",
        );
        assert_eq!(ran.stdout, "b'hello\\n'\n", "{}", ran.stderr);
    }
}

#[test]
fn the_network_of_the_machine_is_available_on_request() {
    for sandbox in Sandbox::all() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = std::thread::spawn(move || listener.accept().unwrap().0.write_all(b"hello").unwrap());
        let program =
            format!("import socket; print(socket.create_connection(('127.0.0.1', {port})).recv(9))");
        let ran = sandbox.run_with(&["--network", "host"], &["/usr/bin/python3", "-c", &program]);
        assert_eq!(ran.stdout, "b'hello'\n", "{}", ran.stderr);
        server.join().unwrap();
    }
}

#[test]
fn abstract_sockets_of_the_machine_are_not_reachable() {
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::net::{SocketAddr, UnixListener};
    for sandbox in Sandbox::all() {
        let name = format!("tenterhook-test-{}", std::process::id());
        let _listener = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
        let program = format!(
            "import socket\ns = socket.socket(socket.AF_UNIX)\ntry:\n    s.connect('\\0{name}'); print('DONE')\nexcept OSError as e: print(e.errno)"
        );
        for network in ["none", "host"] {
            let ran = sandbox.run_with(&["--network", network], &["/usr/bin/python3", "-c", &program]);
            let wanted = if network == "none" { "111\n" } else { "1\n" };
            assert_eq!(ran.stdout, wanted, "{network}: {}", ran.stderr);
        }
    }
}

/// Answers `ping` on the listener of a run.
#[derive(Clone)]
struct PongServer;

impl tenterhook_sandbox_run::RunServer for PongServer {
    fn register(&self, _init: rustix::process::Pid) {}

    fn serve_proxy(&self, listener: TcpListener, _: usize) {
        let (mut client, _) = listener.accept().unwrap();
        let mut text = [0; 4];
        client.read_exact(&mut text).unwrap();
        client.write_all(if &text == b"ping" { b"pong" } else { b"?" }).unwrap();
    }

    fn report_refusal(&self, _refusal: tenterhook_sandbox_run::RefusalReport) {}
}

/// The listener is created in the run's network and served outside. The proxy is not part of this test.
#[test]
fn a_listener_inside_is_served_by_the_supervisor_outside() {
    use tenterhook_home::{Env, Home, call_meta};
    use tenterhook_sandbox::NetworkAccess;
    use tenterhook_sandbox_run::{LevelChoice, PreparedRun, SandboxPlan, SandboxRequest};

    let Some(sandbox) = Sandbox::all().into_iter().next() else { return };
    let home = Home::in_dir(sandbox.test.home());
    let env = Env { home: Some(sandbox.test.path("person")), ..Env::default() };
    let plan = SandboxPlan::new(&SandboxRequest {
        home: &home,
        env: &env,
        working_directory: &sandbox.test.path("work"),
        profile: None,
        program: "sh",
        network: Some(NetworkAccess::Proxy),
        level: LevelChoice::Required,
        observed: tenterhook_sandbox::call_observer::ObservedCalls::Changes,
        now: call_meta::now(),
    });
    let mut run = PreparedRun::new(plan.unwrap(), &home, &env, false).unwrap();
    let method = tenterhook_sandbox::bubblewrap::MountMethod::Prepared;
    let mut command = run.command(super::PROGRAM.as_ref(), "sandbox-inside", &env, false, method).unwrap();
    let program = "import os, socket; a = os.environ['HTTPS_PROXY']; assert os.environ['NO_PROXY'].startswith('localhost'); \
        assert os.environ['NODE_USE_ENV_PROXY'] == '1'; s = socket.create_connection(('127.0.0.1', int(a.rsplit(':')[-1]))); s.sendall(b'ping'); print(s.recv(9))";
    command.args(["--", "/usr/bin/python3", "-c", program]);
    let wait = run.wait_for_start(&env, PongServer).unwrap();
    let output = command.output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "b'pong'\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(run.finish(&wait).unwrap().undone.is_empty());
}
