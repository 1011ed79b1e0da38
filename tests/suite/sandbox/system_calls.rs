// SPDX-License-Identifier: Apache-2.0 OR MIT

//! System calls that the filter refuses.

use super::Sandbox;

/// Prints the error number of each attempt, or `DONE`.
const ATTEMPTS: &str = r"
import ctypes, os, pty, socket, sys
l = ctypes.CDLL(None, use_errno=True)
def call(name, number, *args):
    result = l.syscall(ctypes.c_long(number), *[ctypes.c_ulong(a & (2**64 - 1)) if isinstance(a, int) else a for a in args])
    print(name, 'DONE' if result >= 0 else ctypes.get_errno())
params = ctypes.create_string_buffer(256)
call('io_uring', 425, 4, params)
call('io_uring_enter', 426, 0, 0, 0, 0, 0, 0)
call('keyctl', 250, 0, -3, 0)
call('mount', 165, b'x', b'/tmp', b'tmpfs', 0, 0)
call('bpf', 321, 0, params, 120)
call('open_by_handle_at', 304, -100, params, 0)
call('userfaultfd', 323, 0)
call('perf_event_open', 298, params, 0, -1, -1, 0)
call('x32 getpid', 0x40000000 | 39)
call('x32 io_uring', 0x40000000 | 425, 4, params)
leader, follower = pty.openpty()
def ioctl(name, request):
    result = l.ioctl(follower, ctypes.c_ulong(request), ctypes.c_char_p(b'x'))
    print(name, 'DONE' if result == 0 else ctypes.get_errno())
ioctl('tiocsti', 0x5412)
ioctl('tiocsti with high bits', 0x5412 | 1 << 32)
ioctl('tioclinux', 0x541C)
for family in (40, 17, 38, 31):
    try:
        socket.socket(family, socket.SOCK_STREAM)
        print('family', family, 'DONE')
    except OSError as error:
        print('family', family, error.errno)
";

#[test]
#[cfg(target_arch = "x86_64")]
fn dangerous_system_calls_are_refused() {
    for sandbox in Sandbox::all() {
        let ran = sandbox.python(ATTEMPTS);
        assert_eq!(ran.stdout.lines().count(), 17, "{}{}", ran.stdout, ran.stderr);
        for line in ran.stdout.lines() {
            let wanted = if line.starts_with("x32") { " 38" } else { " 1" };
            assert!(line.ends_with(wanted), "{line}");
        }
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
fn calls_of_32_bit_programs_are_refused() {
    for sandbox in Sandbox::all() {
        // mov eax, 20 (getpid); int 0x80; ret
        let ran = sandbox.python(
            "import ctypes, mmap\nm = mmap.mmap(-1, 4096, prot=7)\nm.write(bytes([0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3]))\n\
             a = ctypes.addressof(ctypes.c_char.from_buffer(m))\nprint('start', flush=True)\nprint('DONE', ctypes.CFUNCTYPE(ctypes.c_int)(a)())",
        );
        assert_eq!(ran.stdout, "start\n", "{}", ran.stderr);
        assert_eq!(ran.exit, 128 + 31, "SIGSYS: {}", ran.stderr);
    }
}

#[test]
fn a_terminal_gets_no_input_from_the_run() {
    for sandbox in Sandbox::all() {
        // The run has the terminal as its standard input, as in a user's shell.
        let script = format!(
            "import fcntl, os, pty, select, subprocess, sys, termios\n\
             leader, follower = pty.openpty()\n\
             program = 'import fcntl, sys\\ntry:\\n  fcntl.ioctl(0, 0x5412, b\"x\")\\n  print(\"DONE\")\\nexcept OSError as e: print(e.errno)'\n\
             def own(): os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n\
             r = subprocess.run(['{}', 'run', '--sandbox', '--', '/usr/bin/python3', '-c', program], stdin=follower, preexec_fn=own, capture_output=True, text=True)\n\
             print(r.stdout, r.stderr)\n\
             print('INPUT' if select.select([follower], [], [], 0)[0] else 'silent')",
            super::PROGRAM
        );
        let ran = sandbox
            .test
            .run_command(sandbox.command(std::path::Path::new("/usr/bin/python3"), &["-c", &script]), b"");
        assert!(
            ran.stdout.starts_with("1\n") && ran.stdout.contains("silent"),
            "{}{}",
            ran.stdout,
            ran.stderr
        );
    }
}

#[test]
fn the_run_has_no_capabilities_and_gains_none() {
    for sandbox in Sandbox::all() {
        let ran = sandbox.run("grep -E 'Cap|NoNewPrivs|Seccomp:' /proc/self/status");
        let value = |name: &str| {
            let line = ran.stdout.lines().find(|line| line.starts_with(name)).unwrap();
            line.rsplit('\t').next().unwrap().trim_start_matches('0').to_owned()
        };
        for name in ["CapPrm", "CapEff", "CapBnd", "CapAmb"] {
            assert_eq!(value(name), "", "{name}");
        }
        assert_eq!(value("NoNewPrivs"), "1");
        assert_eq!(value("Seccomp:"), "2");
    }
}
