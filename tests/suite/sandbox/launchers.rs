// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `install --sandbox`: the usual command of an agent starts in a sandbox, until `uninstall`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{PROGRAM, Sandbox};

#[test]
fn the_usual_command_starts_in_a_sandbox_until_uninstall() {
    for sandbox in Sandbox::all() {
        for name in ["bin/tenterhook-hook", "totp", "ledger/key"] {
            std::fs::remove_file(sandbox.test.home().join(name)).unwrap();
        }
        let client = sandbox.test.write("person/tools/claude", "#!/bin/sh\necho \"client $TENTERHOOK_SANDBOX $*\"; echo x 2>/dev/null >~/outside || echo refused\n");
        std::fs::set_permissions(&client, std::fs::Permissions::from_mode(0o755)).unwrap();
        sandbox.test.write("person/.bashrc", "export PATH=\"$HOME/tools:$PATH\"\n");
        sandbox.give_away(sandbox.test.path("."));
        let before = std::fs::read(sandbox.test.path("person/.bashrc")).unwrap();
        let tenterhook = |args: &[&str]| {
            let mut command = sandbox.command(Path::new(PROGRAM), args);
            command.env("SHELL", "/bin/bash");
            sandbox.test.run_command(command, b"")
        };
        let claude = || {
            let script = ". ~/.bashrc; claude --network none 'a b'";
            sandbox.test.run_command(sandbox.command(Path::new("/bin/bash"), &["-c", script]), b"")
        };
        assert_eq!(claude().stdout, "client  --network none a b\n", "without an installation");
        std::fs::remove_file(sandbox.test.path("person/outside")).unwrap();

        let installed = tenterhook(&["install", "claude-code", "--sandbox", "--yes"]);
        assert_eq!(installed.exit, 0, "{}{}", installed.stdout, installed.stderr);
        assert!(installed.stdout.contains("`claude` starts in a sandbox"), "{}", installed.stdout);
        let ran = claude();
        assert_eq!(
            ran.stdout,
            "client namespaces-landlock --settings {\"sandbox\": {\"enabled\": false}} --network none a b\nrefused\n",
            "{}",
            ran.stderr
        );
        assert!(!sandbox.test.path("person/outside").exists());
        let again = tenterhook(&["install", "claude-code", "--sandbox", "--yes"]);
        assert_eq!(again.exit, 0, "{}", again.stderr);
        let profile = std::fs::read_to_string(sandbox.test.path("person/.bashrc")).unwrap();
        assert_eq!(profile.matches("sandboxed").count(), 1, "{profile}");

        if sandbox.account.is_some() {
            // The terminal of the tests belongs to their own account.
            continue;
        }
        let removed = sandbox.test.run_on_terminal(&["uninstall", "claude-code", "--yes"]);
        assert_eq!(removed.exit, 0, "{}{}", removed.stdout, removed.stderr);
        assert!(removed.stdout.contains("`claude` starts without a sandbox again"), "{}", removed.stdout);
        assert_eq!(std::fs::read(sandbox.test.path("person/.bashrc")).unwrap(), before);
        assert_eq!(claude().stdout, "client  --network none a b\n");
    }
}
