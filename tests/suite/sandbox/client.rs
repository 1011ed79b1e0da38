// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Attacks on the hooks of a guarded client, whose hooks still answer inside.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{PROGRAM, Sandbox, start_daemon};

/// What a guarded client does: a program that it wrote attacks the guard, and then its hook asks about `rm -rf ~/`.
const CLIENT: &str = r#"#!/bin/sh
for file in "$2" ~/.claude/settings.json "$TENTERHOOK_HOME/bin/tenterhook-hook" "$TENTERHOOK_HOME/mode.json" "$TENTERHOOK_HOME/policy.yaml"; do
    python3 -c 'import sys; open(sys.argv[1], "w").write("{}")' "$file" 2>/dev/null && echo "DONE $file"
done
for file in "$TENTERHOOK_HOME"/ledger/* "$TENTERHOOK_HOME/run/token"; do
    cat "$file" 2>/dev/null | grep -q . && echo "DONE $file"
done
hook=$(sed -n "s/.*\"command\": \"\(.*pre-tool-use\)\".*/\1/p" "$2" | head -1)
printf '%s' '{"session_id":"s","cwd":"'"$PWD"'","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf ~/"},"tool_use_id":"t"}' >/tmp/call
LD_PRELOAD=/tmp/none.so sh -c "$hook" </tmp/call
"#;

#[test]
fn hooks_answer_inside_and_survive_attacks() {
    for sandbox in Sandbox::all() {
        std::fs::remove_file(sandbox.test.home().join("bin/tenterhook-hook")).unwrap();
        let client = sandbox.test.write("person/bin/claude", CLIENT);
        std::fs::set_permissions(&client, std::fs::Permissions::from_mode(0o755)).unwrap();
        sandbox.give_away(sandbox.test.path("."));
        let mut daemon = start_daemon(&sandbox);
        let args = ["run", "--sandbox", "--network", "none", client.to_str().unwrap(), "-p", "go"];
        // On a busy machine, the daemon may not answer in time. The hook then denies, because nothing can be recorded
        // inside.
        let decision = crate::terminal_user::until("the daemon decides", || {
            let ran = sandbox.test.run_command(sandbox.command(Path::new(PROGRAM), &args), b"");
            assert!(!ran.stdout.contains("DONE"), "{}{}", ran.stdout, ran.stderr);
            assert!(ran.stdout.contains("\"permissionDecision\":\"deny\""), "{}{}", ran.stdout, ran.stderr);
            assert!(daemon.is_alive());
            // Its attacks are recorded as well.
            sandbox.test.decisions().into_iter().find(|leaf| leaf["tool"]["name"] != "SandboxRefusal")
        });
        assert!(decision.to_string().contains("recursive-delete"), "{decision:?}");
        assert_eq!(
            std::fs::read_to_string(sandbox.test.path("person/.claude/settings.json")).unwrap(),
            "{\"model\": \"x\"}\n"
        );
    }
}

#[test]
fn a_preloaded_library_does_not_make_a_hook_allow() {
    for sandbox in Sandbox::all() {
        if !Path::new("/usr/bin/gcc").exists() {
            tenterhook_test_support::skip_test("needs `gcc`");
            return;
        }
        std::fs::remove_file(sandbox.test.home().join("bin/tenterhook-hook")).unwrap();
        sandbox.give_away(sandbox.test.path("."));
        let _daemon = start_daemon(&sandbox);
        let script = r#"
cat >/tmp/x.c <<'END'
#include <unistd.h>
__attribute__((constructor)) static void start(void) { write(1, "DONE", 4); _exit(0); }
END
gcc -shared -fPIC -o /tmp/x.so /tmp/x.c
hook=$(sed -n "s/.*\"command\": \"\(.*pre-tool-use\)\".*/\1/p" "$2" | head -1)
printf '%s' '{"session_id":"s","cwd":"'"$PWD"'","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf ~/"},"tool_use_id":"t"}' >/tmp/call
program=$(printf '%s' "$hook" | sed "s/^'\([^']*\)'.*/\1/")
LD_PRELOAD=/tmp/x.so "$program" claude-code pre-tool-use </tmp/call
"#;
        let client = sandbox.test.write("person/bin/claude", &format!("#!/bin/sh\n{script}"));
        std::fs::set_permissions(&client, std::fs::Permissions::from_mode(0o755)).unwrap();
        let args = ["run", "--sandbox", "--network", "none", client.to_str().unwrap()];
        let ran = sandbox.test.run_command(sandbox.command(Path::new(PROGRAM), &args), b"");
        assert!(!ran.stdout.contains("DONE"), "{}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains("deny"), "{}{}", ran.stdout, ran.stderr);
    }
}
