// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Commands on other machines, in containers, and started by other programs.

use super::{assert_effects, effects_of_line};

#[test]
fn other_machines() {
    assert_effects(&[
        ("ssh host 'rm -rf /srv/x'", "delete! remote:/srv/x"),
        ("ssh host rm -rf /srv/x", "delete! remote:/srv/x"),
        ("ssh -i ~/.ssh/id_rsa -p 22 ada@host 'cat /etc/shadow'", "read remote:/etc/shadow"),
        ("ssh host 'rm -rf ~/x'", "delete! remote:~/x"),
        ("ssh host 'rm x'", "delete remote:x?"),
        ("ssh host 'cd /srv && rm -rf x'", "delete! remote:/srv/x"),
        ("ssh host <<'EOF'\nrm -rf /srv\nEOF", "delete! remote:/srv"),
        ("echo 'rm -rf /srv' | ssh host", "delete! remote:/srv"),
        ("echo 'rm -rf /srv' | ssh host bash -s", "delete! remote:/srv"),
        ("ssh host bash -s < x.sh", "read x.sh"),
        ("ssh host cat /etc/x > y", "write y, read remote:/etc/x"),
        ("tar c src | ssh host 'tar x -C /srv'", "read! src, write! remote:/srv"),
        ("mosh host -- rm -rf /srv", "delete! remote:/srv"),
        ("sshpass -p x ssh host rm -rf /srv", "delete! remote:/srv"),
        ("pdsh -w a,b rm -rf /srv", "delete! remote:/srv"),
        ("pssh -h hosts 'rm -rf /srv'", "read hosts, delete! remote:/srv"),
        ("clush -w n[1-3] rm -rf /srv", "delete! remote:/srv"),
        ("gcloud compute ssh vm --command 'rm -rf /srv'", "delete! remote:/srv"),
        ("vagrant ssh -c 'rm -rf /srv'", "delete! remote:/srv"),
        ("ansible all -m shell -a 'rm -rf /srv'", "delete! remote:/srv"),
        ("salt '*' cmd.run 'rm -rf /srv'", "delete! remote:/srv"),
        ("aws ssm send-command --parameters commands='rm -rf /srv'", "delete! remote:/srv"),
        ("ssh host docker exec c rm -rf /data", "delete! remote:/data"),
        ("ssh -o ProxyCommand='rm -rf ~/x' host", "delete! ~/x"),
    ]);
}

#[test]
fn containers() {
    assert_effects(&[
        ("docker exec -it c rm -rf /data", "delete! container:/data"),
        ("docker run --rm alpine rm -rf /data", "delete! container:/data"),
        ("docker run --rm -v /:/host alpine rm -rf /host/etc", "delete! /etc"),
        ("docker run -v /:/host alpine chroot /host rm -rf /etc", "delete! /etc"),
        ("docker run -v \"$PWD\":/w -w /w alpine rm -rf build", "delete! build"),
        ("docker run -v ~/.ssh:/k:ro alpine cat /k/id_rsa", "read ~/.ssh/id_rsa"),
        ("docker run --mount type=bind,source=/etc,target=/e alpine rm -rf /e", "delete! /etc"),
        ("docker run -v /srv:/srv alpine rm -rf /", "delete! /srv, delete! container:/"),
        ("docker run -v data:/data alpine rm -rf /data", "delete! container:/data"),
        ("docker run --entrypoint rm alpine -rf /data", "delete! container:/data"),
        ("docker run alpine rm -rf x", "delete! container:x?"),
        ("docker compose exec web rm -rf /data", "delete! container:/data"),
        ("docker-compose run --rm web sh -c 'rm -rf /data'", "delete! container:/data"),
        ("podman exec c sh -c 'rm -rf /data'", "delete! container:/data"),
        ("kubectl exec -n ns pod -c web -- rm -rf /data", "delete! remote:/data"),
        ("kubectl exec pod rm -rf /data", "delete! remote:/data"),
        ("kubectl run x --image=alpine --command -- rm -rf /data", "delete! container:/data"),
        ("oc exec pod -- rm -rf /data", "delete! remote:/data"),
        ("lxc exec c -- rm -rf /data", "delete! container:/data"),
        ("machinectl shell c /bin/rm -rf /data", "run container:/bin/rm, delete! container:/data"),
        ("chroot /mnt rm -rf /etc", "delete! /mnt/etc"),
        ("chroot / rm -rf /etc", "delete! /etc"),
        ("systemd-nspawn -D /mnt rm -rf /etc", "delete! /mnt/etc"),
        ("nsenter -t 1 -m rm -rf /etc", "delete! /etc"),
        ("docker run --pid=host --privileged a nsenter -t 1 -m rm -rf /etc", "delete! /etc"),
        ("nsenter -t 77 -m rm -rf /etc", "delete! container:/etc"),
        ("unshare -r rm -rf /etc", "delete! /etc"),
        ("docker ps && docker images", ""),
    ]);
}

#[test]
fn programs_that_run_others() {
    let runners = [
        "sudo -u root",
        "env A=1",
        "nix develop -c",
        "nix shell nixpkgs#x -c",
        "poetry run",
        "uv run --with x",
        "pipenv run",
        "npx cross-env A=1",
        "direnv exec .",
        "mise exec --",
        "devbox run --",
        "bundle exec",
        "dotenv -e .env --",
        "op run --",
        "aws-vault exec x --",
        "doppler run --",
        "entr -r",
        "parallel",
        "pkexec",
        "runuser -u bob --",
        "systemd-run --unit x",
        "screen -dm",
        "git bisect run",
        "busybox",
        "watchexec -e rs --",
        "perf stat",
        "valgrind",
        "setpriv --reuid 1",
        "tini --",
        "xvfb-run -a",
        "sshpass -p x",
        "chronic",
        "zellij run --",
        "gnome-terminal --",
        "xterm -e",
    ];
    let wrong: Vec<_> = runners
        .iter()
        .map(|runner| (runner, effects_of_line(&format!("{runner} rm -rf /srv/x"))))
        .filter(|(_, got)| !got.contains("delete! /srv/x"))
        .map(|(runner, got)| format!("{runner}: {got}"))
        .collect();
    assert_eq!(wrong.join("\n"), "");
}

#[test]
fn programs_that_run_texts() {
    let runners = [
        "bash -c",
        "su -c",
        "script -c",
        "nix-shell --run",
        "watch",
        "tmux send-keys",
        "tmux new-session -d",
        "git rebase --exec",
        "git rebase -x",
        "git submodule foreach",
        "git filter-branch --tree-filter",
        "eval",
        "hyperfine",
        "concurrently",
        "nodemon --exec",
        "sg staff -c",
        "flock /tmp/l -c",
        "tar cf x.tar --checkpoint=1 --checkpoint-action=exec=",
        "tar xf x.tar --to-command=",
        "rsync a b -e",
        "zip x.zip y -T -TT",
        "env -S",
        "trap",
        "cargo watch -s",
    ];
    let wrong: Vec<_> = runners
        .iter()
        .map(|runner| {
            let gap = if runner.ends_with('=') { "" } else { " " };
            (runner, effects_of_line(&format!("{runner}{gap}'rm -rf /srv/x'")))
        })
        .filter(|(_, got)| !got.contains("delete! /srv/x"))
        .map(|(runner, got)| format!("{runner}: {got}"))
        .collect();
    assert_eq!(wrong.join("\n"), "");
}

#[test]
fn texts_in_other_places() {
    assert_effects(&[
        ("echo '0 5 * * * rm -rf /srv/x' | crontab -", "delete! /srv/x"),
        ("echo '@daily rm -rf /srv/x' | crontab -", "delete! /srv/x"),
        ("echo 'rm -rf /srv/x' | at now", "delete! /srv/x"),
        ("git -c alias.x='!rm -rf /srv/x' x", "delete! /srv/x"),
        ("git -c core.pager='rm -rf /srv/x' log", "delete! /srv/x"),
        ("vim -c '!rm -rf /srv/x' f", "write f, delete! /srv/x"),
        ("gdb -ex 'shell rm -rf /srv/x' a", "delete! /srv/x"),
        ("sed '1e rm -rf /srv/x' f", "read f, delete! /srv/x"),
        ("expect -c 'spawn rm -rf /srv/x'", "delete! /srv/x"),
        ("osascript -e 'do shell script \"rm -rf /srv/x\"'", "delete! /srv/x"),
        ("PROMPT_COMMAND='rm -rf /srv/x' bash -i", "delete! /srv/x"),
        ("BASH_ENV=/tmp/x bash -c ls", "run /tmp/x, run /tmp/x"),
        ("GIT_SSH_COMMAND='rm -rf /srv/x' git fetch", "delete! /srv/x"),
        ("alias x='rm -rf'; x /srv/x", "delete! /srv/x"),
        ("coproc rm -rf /srv/x", "delete! /srv/x"),
        ("read x <<< '/srv/x'; rm -rf $x", "delete! /srv/x"),
        ("mapfile -t x <<< '/srv/x'; rm -rf \"${x[@]}\"", "delete! /srv/x"),
        ("printf -v x '/srv/%s' x; rm -rf $x", "delete! /srv/x"),
        ("a=/srv/x; b=a; rm -rf ${!b}", "delete! /srv/x"),
        ("a=/srv/y; rm -rf ${a/y/x}", "delete! /srv/x"),
        ("a=/srv/x.bak; rm -rf ${a%.bak}", "delete! /srv/x"),
        ("a=--/srv/x; rm -rf ${a#--}", "delete! /srv/x"),
        ("a=/srv/xyz; rm -rf ${a:0:6}", "delete! /srv/x"),
        ("a=/SRV/X; rm -rf ${a,,}", "delete! /srv/x"),
        ("rm -rf $'/srv\\x2fx'", "delete! /srv/x"),
        ("rev <<< 'x/vrs/ fr- mr' | sh", "delete! /srv/x"),
        ("echo 'ez -es /fei/k' | tr 'a-z' 'n-za-m' | sh", "delete! /srv/x"),
        ("echo 726d202d7266202f7372762f78 | xxd -r -p | sh", "delete! /srv/x"),
        ("echo cm0gLXJmIC9zcnYveA== | base64 -d | sh", "delete! /srv/x"),
        ("echo OJWSALLSMYQC643SOYXXQ=== | base32 -d | sh", "delete! /srv/x"),
        ("cat $(ls ~/.ssh/id_rsa)", "read ~/.ssh/id_rsa"),
        ("rm -rf \"$(dirname \"$0\")/build\"", "delete! build"),
        ("rm -rf \"$(dirname \"${BASH_SOURCE[0]}\")/build\"", "delete! build"),
        ("rm -rf $CLAUDE_PROJECT_DIR/build $RUNNER_TEMP/x", "delete! build, delete! /tmp/x"),
        ("pushd /srv && popd && rm -rf x", "delete! x"),
        ("pushd /srv && rm -rf x", "delete! /srv/x"),
        ("cd /srv && cd - && rm -rf x", "delete! x"),
        ("cd /srv && rm -rf $OLDPWD/x", "delete! x"),
        ("rm -rf $(basename /srv/x)", "delete! x"),
    ]);
}

#[test]
fn a_packed_script_that_is_run_counts_as_unread() {
    let unread = |line: &str| {
        let call = tenterhook_event::ToolCall::new("Bash", serde_json::json!({ "command": line }));
        crate::facts(&super::event(call), &crate::EvalEnvironment::default()).unparsed
    };
    assert!(unread("echo H4sIAAAA | base64 -d | gunzip | sh"));
    assert!(unread("zcat install.sh.gz | bash"));
    assert!(unread("gpg -d x.gpg | sh"));
    assert!(!unread("zcat dump.sql.gz | psql"));
    assert!(!unread("gunzip -c x.gz | grep sh"));
}
