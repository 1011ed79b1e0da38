// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Files of an agent's own directory that another session, outside the sandbox, would run or read as settings.

use super::Sandbox;

/// Profile, what is there before, what the run tries, and what must hold outside afterwards.
const PLANTS: &[(&str, &str, &str, &str)] = &[
    ("codex", "mkdir ~/.codex", "echo BASH_ENV=x >~/.codex/.env", "test ! -e ~/.codex/.env"),
    (
        "codex",
        "mkdir -p ~/.codex/tmp/arg0/A; echo good >~/.codex/tmp/arg0/A/apply_patch",
        "echo evil >~/.codex/tmp/arg0/A/apply_patch; mkdir -p ~/.codex/tmp/arg0/A; echo evil >~/.codex/tmp/arg0/A/apply_patch",
        "grep -q good ~/.codex/tmp/arg0/A/apply_patch",
    ),
    ("codex", "mkdir ~/.codex", "git init -q ~/.codex/.tmp/plugins", "test ! -e ~/.codex/.tmp/plugins"),
    (
        "codex",
        "mkdir ~/.codex",
        "mkdir -p ~/.codex/packages/standalone",
        "test ! -e ~/.codex/packages/standalone",
    ),
    ("gemini", "mkdir ~/.gemini", "echo BASH_ENV=x >~/.gemini/.env", "test ! -e ~/.gemini/.env"),
    (
        "gemini",
        "mkdir ~/.gemini; echo A=1 >~/.gemini/.env",
        "echo B=1 >>~/.gemini/.env",
        "test \"$(cat ~/.gemini/.env)\" = A=1",
    ),
    ("gemini", "mkdir ~/.gemini", "git init -q ~/.gemini/history/p", "test ! -e ~/.gemini/history/p"),
    (
        "gemini",
        "mkdir ~/.gemini",
        "echo '{\"x\": []}' >~/.gemini/trusted_hooks.json",
        "test ! -s ~/.gemini/trusted_hooks.json",
    ),
    ("llxprt", "mkdir ~/.llxprt", "echo BASH_ENV=x >~/.llxprt/.env", "test ! -e ~/.llxprt/.env"),
    ("qwen", "mkdir ~/.qwen", "git init -q ~/.qwen/history/p", "test ! -e ~/.qwen/history/p"),
    (
        "cline",
        "mkdir ~/.cline",
        "git init -q ~/.cline/data/checkpoints/p",
        "test ! -e ~/.cline/data/checkpoints/p",
    ),
    (
        "cline",
        "mkdir ~/.cline",
        "mkdir -p ~/.cline/data/settings; echo '{\"mcpServers\": 1}' >~/.cline/data/settings/cline_mcp_settings.json",
        "test ! -s ~/.cline/data/settings/cline_mcp_settings.json",
    ),
    (
        "opencode",
        "mkdir -p ~/.local/share/opencode",
        "git init -q ~/.local/share/opencode/snapshot/p",
        "test ! -e ~/.local/share/opencode/snapshot/p",
    ),
    (
        "pip",
        "mkdir -p ~/.cache/uv",
        "mkdir -p ~/.cache/uv/environments-v2/x",
        "test ! -e ~/.cache/uv/environments-v2/x",
    ),
    (
        "claude-code",
        "echo good >~/.claude/status.sh; echo '{\"statusLine\": {\"command\": \"bash ~/.claude/status.sh\"}}' >~/.claude/settings.json",
        "echo evil >~/.claude/status.sh; mv ~/.claude/status.sh ~/.claude/x; echo evil >~/.claude/status.sh",
        "test \"$(cat ~/.claude/status.sh)\" = good",
    ),
    (
        "claude-code",
        "mkdir ~/.claude/mcp; echo good >~/.claude/mcp/s.js; echo \"{\\\"mcpServers\\\": {\\\"a\\\": {\\\"args\\\": [\\\"$HOME/.claude/mcp/s.js\\\"]}}}\" >~/.claude.json",
        "echo evil >~/.claude/mcp/s.js; echo evil >~/.claude/mcp/lib.js; mv ~/.claude/mcp ~/.claude/x",
        "test \"$(cat ~/.claude/mcp/*)\" = good",
    ),
    (
        "claude-code",
        "true",
        "echo '{\"mcpServers\": {}, \"env\": {\"NODE_OPTIONS\": \"x\"}}' >~/.claude.json",
        "! grep -q NODE_OPTIONS ~/.claude.json",
    ),
];

#[test]
fn nothing_is_planted_for_other_sessions_of_an_agent() {
    for (profile, before, inside, held) in PLANTS {
        for sandbox in Sandbox::all() {
            assert_eq!(sandbox.plain(before).exit, 0, "{before}");
            let ran = sandbox.run_with(
                &["--profile", profile, "--network", "none"],
                &["/bin/sh", "-c", &format!("{inside}; true")],
            );
            assert!(ran.stderr.contains("sandbox: namespaces + Landlock"), "{}", ran.stderr);
            assert_eq!(sandbox.plain(held).exit, 0, "{profile}: {inside}\n{}{}", ran.stdout, ran.stderr);
            // The attack is a real one.
            sandbox.plain(inside);
            assert_ne!(sandbox.plain(held).exit, 0, "it has no effect without a sandbox either: {inside}");
        }
    }
}

#[test]
fn standard_input_is_no_way_around_a_read_only_mount() {
    for sandbox in Sandbox::all() {
        let before = sandbox.guard_files();
        let program = super::PROGRAM;
        for file in ["~/.claude/settings.json", ".git/hooks/pre-commit"] {
            let ran = sandbox.plain(&format!(
                "(read -r line; '{program}' run --sandbox --profile claude-code --network none -- sh -c 'echo EVIL >/proc/self/fd/0; \
                 echo EVIL >/dev/stdin; cat; echo END') <{file}"
            ));
            assert_eq!(ran.stdout.matches("END").count(), 1, "{}{}", ran.stdout, ran.stderr);
            assert_eq!(sandbox.guard_files(), before, "{file}: {}{}", ran.stdout, ran.stderr);
        }
        // A directory as standard input.
        let ran = sandbox.plain(&format!(
            "'{program}' run --sandbox --profile claude-code --network none -- sh -c 'echo EVIL >/proc/self/fd/0/settings.json' <~/.claude"
        ));
        assert_eq!(sandbox.guard_files(), before, "{}{}", ran.stdout, ran.stderr);
        // Ordinary input is read to its end, from where it was.
        let ran = sandbox.plain(&format!(
            "printf '1\\n2\\n3\\n' >input; exec 3<input; dd bs=2 count=1 <&3 2>/dev/null >skipped; '{program}' run --sandbox --network none -- cat <&3; rm input skipped"
        ));
        assert_eq!(ran.stdout, "2\n3\n", "{}", ran.stderr);
    }
}

#[test]
fn what_a_command_leaves_of_its_input_is_read_by_the_next_one() {
    for sandbox in Sandbox::all() {
        let program = super::PROGRAM;
        let ran = sandbox.plain(&format!(
            "seq 1 20000 >input; {{ '{program}' run --sandbox --network none -- sh -c 'read -r a; read -r b; echo $b'; head -c 4; }} <input; rm input"
        ));
        assert_eq!(ran.stdout, "2\n3\n4\n", "{}", ran.stderr);
    }
}
