// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lines from adversarial reviews, each with similar harmless lines. Only the strictest decision is compared.

use super::*;

/// Returns the strictest decision of the baseline on a line, and the rules that made it.
fn strictest_decision(line: &str) -> (Decision, Vec<String>) {
    let event = bash(line);
    let judgement = judge(&event, &facts(&event, &HOME), &SessionState::default(), &BASELINE.rules);
    let strongest = judgement.findings.iter().map(|finding| finding.decision).max().unwrap_or_default();
    let by = judgement.findings.iter().filter(|finding| finding.decision == strongest);
    (strongest, by.map(|finding| finding.by.to_string()).collect())
}

fn all_get(wanted: Decision, lines: &[&str]) {
    let wrong: Vec<_> = lines
        .iter()
        .map(|line| (line, strictest_decision(line)))
        .filter(|(_, (said, _))| *said != wanted)
        .map(|(line, (said, by))| format!("{line:?}: expected {wanted}, got {said} {by:?}"))
        .collect();
    assert_eq!(wrong.join("\n"), "");
}

#[test]
fn what_a_value_holds_is_known_however_it_is_carried() {
    all_get(
        Decision::Deny,
        &[
            "args=(-rf); args+=(/etc); rm \"${args[@]}\"",
            "cmd=(rm -rf /etc); \"${cmd[@]}\"",
            "bash -c 'rm -rf \"$@\"' _ build /etc",
            "f() { shift; rm -rf \"$1\"; }; f build /etc",
            "set -- ~/Documents; rm -rf $1",
            "D=build; printf -v D %s /etc; rm -rf $D",
            "IFS=,; D=a,/etc; rm -rf $D",
            "D=; : ${D:=/etc}; rm -rf $D",
            "D=build; for i in 1 2 3; do rm -rf \"$D\"; D=/etc; done",
            "f() { local D=build; D=/etc; rm -rf $D; }; f",
            "declare \"D=/etc\"; rm -rf $D",
            "python3 -c \"print(open(os.path.join(home, '.ssh', 'id_rsa')).read())\"",
        ],
    );
    all_get(
        Decision::Ask,
        &[
            "D=build; read D; rm -rf $D",
            "D=build; getopts d: D; rm -rf $D",
            "D=build; declare -n r=D; r=/etc; rm -rf $D",
            "mapfile -t dirs < list; rm -rf \"${dirs[@]}\"",
            "D=build; while x; do rm -rf $D; D=$(y); done",
            "rm \"${opts[@]}\" ~/Documents",
            "f() { while [ $# -gt 0 ]; do rm -rf \"$1\"; shift; done; }; f build /etc",
        ],
    );
    all_get(
        Decision::None,
        &[
            "args=(-rf build); rm \"${args[@]}\"",
            "f() { rm -rf \"$@\"; }; f build dist",
            "f() { shift; rm -rf \"$1\"; }; f /etc build",
            "set -- build; rm -rf $1",
            "f() { local D=/etc; }; D=build; f; rm -rf $D",
            "IFS=,; D=a,b; rm -rf $D",
            "D=build; printf -v D %s dist; rm -rf $D",
            "for f in dist build; do rm -rf \"$f\"; done",
            "D=build && mkdir -p $D; rm -rf $D",
            "while read -r l; do echo \"$l\"; done < list",
        ],
    );
}

#[test]
fn where_a_command_runs_is_known_as_far_as_it_can_be() {
    all_get(
        Decision::Deny,
        &[
            "sudo -D / rm -rf home",
            "env --chdir=/ rm -rf etc",
            "rm -rf \"$(git -C / rev-parse --show-toplevel)\"/etc /srv",
            "cd /srv; rm -rf www",
            "cd ~/.s*h && cat id_rsa",
            "cd */ && rm -rf ../../other",
        ],
    );
    all_get(
        Decision::Ask,
        &[
            "CDPATH=/ cd etc && rm -rf *",
            "rm -rf \"$(git -C .. rev-parse --show-toplevel)\"",
            "cd build && make; rm -rf *",
            "cd build || echo no; rm -rf *",
            "cd /tmp/x; rm -rf *",
        ],
    );
    all_get(
        Decision::None,
        &[
            "cd sub; cd ..; rm -rf dist",
            "cd /tmp; rm -rf x",
            "if cd build; then rm -rf *; fi",
            "cd build || { echo no; exit 1; }; rm -rf *",
            "set -euo pipefail; cd build; rm -rf *",
            "[ -d sub ] && cd sub; rm -rf dist",
            "sudo -D /tmp/x rm -rf y",
        ],
    );
}

#[test]
fn text_that_a_shell_would_run_is_read_wherever_it_comes_from() {
    all_get(
        Decision::Deny,
        &[
            ". <(echo 'rm -rf ~/x')",
            "source /dev/stdin <<< 'rm -rf ~/x'",
            "bash <(cat <<EOF\nrm -rf ~/x\nEOF\n)",
            "bash < <(echo 'rm -rf ~/x')",
            "sudo -s <<EOF\nrm -rf /opt/x\nEOF",
            "echo 'rm -rf ~/x' | su -",
            "echo 'rm -rf ~/x' | at now",
            "echo '* * * * * rm -rf ~/x' | crontab -",
            "bash -c -e 'rm -rf ~/x'",
            "echo cm0gLXJmIC8= | base64 -d | sh",
            "base64 -d <<< cm0gLXJmIC8= | sh",
            "echo 726d202d7266202f | xxd -r -p | bash",
            "bash -c -- 'rm -rf ~/x'",
            "eval -- 'rm -rf ~/x'",
            "script -qc 'rm -rf ~/x' /dev/null",
            "su -c'rm -rf ~/x'",
            "su root --command='rm -rf ~/x'",
            "nix-shell --run 'rm -rf ~/x'",
            "npx -c 'rm -rf ~/x'",
            "tmux new-session -d 'rm -rf ~/x'",
            "git submodule foreach 'rm -rf ~/x'",
            "printf 'all:\\n\\trm -rf ~/x\\n' | make -f -",
            "perl -MFile::Path -e 'system \"rm -rf ~/x\"'",
        ],
    );
    all_get(
        Decision::None,
        &[
            "source .venv/bin/activate",
            "echo cm0gLXJmIC8= | base64 -d",
            "source <(kubectl completion bash)",
            "echo 'rm -rf build' | sudo -s",
            "su -c 'ls'",
            "crontab -l",
            "perl -MJSON -e 'print 1'",
            "awk '{print $1 | \"sort\"}' x",
            "awk 'NR > 1 && $4 == \"delete\" {print $1}' x",
            "make -f build.mk",
        ],
    );
    // The hidden command is known to be `ls`, so only the hiding is asked about.
    assert_eq!(findings_of(&bash("echo bHM= | base64 -d | sh"), &BASELINE.rules), ["rule:hidden-code ask"]);
}

#[test]
fn programs_that_run_others_are_unwrapped() {
    let runners = [
        "env - PATH=/bin",
        "runuser -u bob --",
        "systemd-run",
        "pkexec",
        "taskset 1",
        "unshare -r",
        "fakeroot",
        "gosu root",
        "uv run",
        "poetry run",
        "pnpm exec",
        "direnv exec .",
        "never-heard-of-it --",
    ];
    let with = |end: &str| runners.iter().map(|runner| format!("{runner} {end}")).collect::<Vec<_>>();
    let (bad, good) = (with("rm -rf /opt"), with("rm -rf build"));
    all_get(Decision::Deny, &bad.iter().map(String::as_str).collect::<Vec<_>>());
    all_get(Decision::None, &good.iter().map(String::as_str).collect::<Vec<_>>());
    all_get(Decision::None, &["npm run rm -rf", "parallel gzip ::: a b"]);
    // A deletion on another machine or in a container is not a deletion here.
    assert_eq!(findings_of(&bash("ssh host rm -rf /srv/x"), &BASELINE.rules), ["rule:remote-destroy deny"]);
    assert_eq!(
        findings_of(&bash("docker exec c rm -rf /data"), &BASELINE.rules),
        ["rule:container-destroy ask"]
    );
}

#[test]
fn find_hands_on_what_it_finds() {
    all_get(
        Decision::Deny,
        &[
            "find . -name '*' -delete",
            "find . -type f -o -name x -delete -o -delete",
            "fd . ~ -x rm -rf",
            "fd -H . / --exec-batch rm -rf",
        ],
    );
    all_get(
        Decision::None,
        &[
            "find . -name '*.pyc' -not -path './.git/*' -delete",
            "find . \\( -name a -o -name b \\) -delete",
            "find . -path ./keep -prune -o -name '*.o' -print | xargs rm -rf",
            "find . -type f -mtime +7 -delete",
            "fd -t d node_modules -x rm -rf",
            "fd -t d node_modules | xargs rm -rf",
        ],
    );
}

#[test]
fn ordinary_work_is_left_alone() {
    all_get(
        Decision::None,
        &[
            "cargo test --workspace && git diff --stat",
            "cd web && npm ci && npm run build; cd ..",
            "for f in src/*.rs; do wc -l \"$f\"; done",
            "docker run --rm -v \"$PWD\":/w -w /w node:22 npm test",
            "git -C /home/user/other log --oneline",
            "python3 - <<'EOF'\nimport json\nprint(json.dumps({}))\nEOF",
            "export PATH=\"$HOME/.local/bin:$PATH\"",
            "kubectl get pods -o json | jq '.items[].metadata.name'",
            "curl -fsSL https://x.io/a.tgz | tar xz -C build",
            "ls -la ~/.ssh ~/.aws; stat ~/.ssh/id_rsa",
            "tar czf backup.tgz src docs",
            "find . -name Cargo.toml -exec grep -l tokio {} +",
            "rg -n 'fn main' -g '*.rs'",
            "rm -f /tmp/x.log && touch /tmp/y",
            "rm \"$FILE\"",
            "python3 -c \"import os, config; print(os.environ, credentials)\"",
            "for d in packages/*/; do (cd \"$d\" && rm -rf dist); done",
            "curl -LO https://x.io/t.tgz && tar xzf t.tgz && ./t/bin/t --version",
            "VERSION=$(git describe); tar czf \"dist-$VERSION.tgz\" dist",
            "make -C sub clean",
            "ssh-keygen -t ed25519 -f ~/.ssh/id_new -N ''",
        ],
    );
    // git would run another program from now on, but no key is read.
    let config = bash("git config --global core.sshCommand 'ssh -i ~/.ssh/id_rsa'");
    assert_eq!(findings_of(&config, &BASELINE.rules), ["rule:git-config-program ask"]);
}
