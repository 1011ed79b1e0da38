// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the process above a hook that is plausibly the harness.
//!
//! An agent can cause a hook to run below a program that the agent did not start, for example with `tmux run-shell`,
//! `systemd-run --user`, `at` or `ssh localhost`. If that program were marked as an agent, privileged actions would be
//! refused in every terminal below it, including the user's own. So programs that host other processes are never
//! marked.

use std::path::Path;

use tenterhook_harness_install::HarnessClient;

use super::ancestry::MAX_ANCESTORS;
use super::process::Process;

/// Session managers, service managers, multiplexers, terminal emulators, remote logins, schedulers, container
/// supervisors, desktop shells and editors with terminals, by the kernel's process name (15 bytes).
const SESSION_HOSTS: &[&str] = &[
    "(sd-pam)",
    "SCREEN",
    "Terminal",
    "abduco",
    "alacritty",
    "anacron",
    "at-spi-bus-laun",
    "atd",
    "conmon",
    "containerd",
    "containerd-shim",
    "cosmic-term",
    "cron",
    "crond",
    "dbus-broker",
    "dbus-broker-lau",
    "dbus-daemon",
    "docker-init",
    "dockerd",
    "dropbear",
    "dtach",
    "dumb-init",
    "dvtm",
    "emacs",
    "emacs-gtk",
    "emacs-nox",
    "foot",
    "footclient",
    "getty",
    "ghostty",
    "gnome-session-b",
    "gnome-shell",
    "gnome-terminal-",
    "guake",
    "hyprland",
    "Hyprland",
    "i3",
    "iTerm2",
    "init",
    "inetd",
    "kgx",
    "kitty",
    "konsole",
    "kwin_wayland",
    "kwin_x11",
    "launchd",
    "lightdm",
    "login",
    "lxterminal",
    "mate-terminal",
    "mosh-server",
    "niri",
    "nvim",
    "openrc-run",
    "plasmashell",
    "podman",
    "ptyxis",
    "ptyxis-agent",
    "ptyhost",
    "qterminal",
    "rio",
    "rxvt",
    "runsv",
    "runsvdir",
    "s6-supervise",
    "s6-svscan",
    "screen",
    "sddm",
    "sshd",
    "sshd-auth",
    "sshd-session",
    "st",
    "supervisord",
    "sway",
    "systemd",
    "systemd-executo",
    "tabby",
    "terminator",
    "tilda",
    "tilix",
    "tini",
    "tmate",
    "ttyd",
    "urxvt",
    "urxvtd",
    "vim",
    "warp-terminal",
    "wezterm",
    "wezterm-gui",
    "wezterm-mux-ser",
    "xfce4-session",
    "xfce4-terminal",
    "xinetd",
    "xrdp-sesman",
    "xterm",
    "yakuake",
    "zed-editor",
    "zellij",
];
/// Prefixes of session hosts whose names have a variable part, such as `tmux: server`.
const SESSION_HOST_PREFIXES: &[&str] = &["tmux"];
/// Number of words at the start of a command line that are searched for the name of a harness.
const NAMING_WORDS: usize = 3;

/// The nearest process above `hook` that does more than launch other programs.
pub(crate) fn nearest_above(hook: &Process) -> Option<Process> {
    let next = |process: &Process| (process.parent > 0).then(|| Process::read(process.parent)).flatten();
    let mut above = std::iter::successors(Process::read(hook.parent), next).take(MAX_ANCESTORS);
    above.find(|process| !process.is_launcher())
}

/// Whether a process that called a hook directly over the socket, without a hook program, may be marked.
pub(crate) fn can_be_marked(process: &Process) -> bool {
    process.pid > 1 && !is_session_host(&process.name)
}

/// Whether the process above a hook program may be marked. It may not be marked if it is a shell in which the user
/// ran the hook by hand, or if it hosts terminals or services.
pub(crate) fn is_plausible_harness(process: &Process, harness: &str) -> bool {
    if is_session_host(&process.name) || process.is_shell() {
        return false;
    }
    if names_harness(&process.command_line(), harness) {
        return true;
    }
    process.pid > 1 && !is_service(process) && !hosts_terminals(process)
}

fn is_session_host(name: &str) -> bool {
    SESSION_HOSTS.contains(&name) || SESSION_HOST_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a command line names the harness: `claude`, or `node …/@google/gemini-cli/dist/index.js`.
fn names_harness(words: &[u8], harness: &str) -> bool {
    let programs = tenterhook_harness::find_harness(harness).map(HarnessClient::programs).unwrap_or_default();
    let named = |part: &str| {
        programs.iter().chain([&harness]).any(|name| match name.len() {
            0..4 => part == *name,
            _ => part.contains(name),
        })
    };
    // A word that contains blanks is a script or a prompt, not the name of a program.
    let is_name = |word: &&[u8]| {
        !word.is_empty() && !word.starts_with(b"-") && !word.iter().any(u8::is_ascii_whitespace)
    };
    let words = words.split(|byte| *byte == 0).filter(is_name);
    words
        .take(NAMING_WORDS)
        .filter_map(|word| std::str::from_utf8(word).ok())
        .any(|word| Path::new(word).components().any(|part| part.as_os_str().to_str().is_some_and(named)))
}

/// Whether a process is a service: it leads a session without a terminal, and its parent is the first process or a
/// service manager.
fn is_service(process: &Process) -> bool {
    let leads = process.session == process.pid && !process.terminal;
    leads
        && (process.parent <= 1
            || Process::read(process.parent).is_some_and(|parent| is_session_host(&parent.name)))
}

/// Whether a child of the process is an interactive shell on a terminal of its own.
fn hosts_terminals(process: &Process) -> bool {
    children(process.pid).into_iter().filter_map(Process::read).any(|child| {
        child.is_shell() && child.terminal && child.session == child.pid && child.is_interactive()
    })
}

fn children(pid: i32) -> Vec<i32> {
    let threads = fs_err::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for thread in threads {
        let text = fs_err::read_to_string(thread.path().join("children")).unwrap_or_default();
        found.extend(text.split_whitespace().filter_map(|word| word.parse::<i32>().ok()));
    }
    found
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn a_harness_is_known_by_its_command_line() {
        for (words, harness, expected) in [
            ("claude\0", "claude-code", true),
            (
                "/usr/bin/node\0--max-old-space-size=8192\0/usr/lib/node_modules/@google/gemini-cli/dist/index.js\0",
                "gemini",
                true,
            ),
            ("node\0/home/x/.npm/bin/cn\0", "continue", true),
            ("node\0/opt/icns/bundle.js\0", "continue", false),
            ("python3\0server.py\0", "claude-code", false),
            ("python3\0-c\0run( 'claude' )\0sh -c 'tenterhook-hook claude-code'\0", "claude-code", false),
            ("tmux\0new\0-s\0work\0", "codex", false),
            ("", "codex", false),
        ] {
            assert_eq!(names_harness(words.as_bytes(), harness), expected, "{words:?}");
        }
    }

    #[test]
    fn programs_that_host_sessions_are_no_harness() {
        for name in ["tmux: server", "systemd", "sshd", "gnome-terminal-", "screen", "cron"] {
            assert!(is_session_host(name), "{name}");
        }
        for name in ["node", "claude", "codex", "python3", "code", "MainThread"] {
            assert!(!is_session_host(name), "{name}");
        }
    }

    #[test]
    fn a_service_of_unknown_name_is_no_harness_unless_it_names_itself() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut process = Process::read(i32::try_from(child.id()).unwrap()).unwrap();
        // The parent may continue before the kernel has set the command line of the new process.
        while process.command_line().is_empty() {
            std::thread::yield_now();
        }
        process.terminal = false;
        assert!(is_plausible_harness(&process, "codex"), "an ordinary child is");
        (process.parent, process.session) = (1, process.pid);
        assert!(!is_plausible_harness(&process, "codex"));
        assert!(is_plausible_harness(&process, "sleep"), "its command line names it");
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
