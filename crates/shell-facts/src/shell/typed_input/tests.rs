// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::json;
use tenterhook_event::ToolCall;
use tenterhook_paths::PathRoots;

use super::super::read_commands;
use crate::description::builtin_programs;

/// Whether a command reads its code from a terminal that is not visible to hooks.
fn is_typed(text: &str, terminal: bool) -> bool {
    let tool = ToolCall::new("Bash", json!({ "command": text }));
    let ground = PathRoots::new(Some("/home/user"), Some("/home/user/project"));
    let read = read_commands(&tool, &ground, Some("/home/user/project"), terminal, builtin_programs(), None);
    read.commands.iter().any(|command| command.acts.contains(&super::TYPED_PROGRAM))
}

const TYPED: &[&str] = &[
    "python3",
    "python3 -q",
    "python3 -i script.py",
    "python3 -m pdb script.py",
    "cd web && node",
    "irb",
    "perl",
    "lua",
    "ghci",
    "iex -S mix",
    "sqlite3 app.db",
    "psql app",
    "psql -U -c app",
    "psql -f - app",
    "mysql -u root app",
    "cat | sh",
    "cat - | tr a b | bash",
    "head -n 1 | bash",
    "read x; eval \"$x\"",
    "read -r x; $x",
    "while read l; do $l; done",
    "while read l; do sh -c \"$l\"; done",
    "read x; echo \"$x\" | sh",
    "read x; bash <<< \"$x\"",
    "make -f -",
    "make -f /dev/stdin",
    "cat > Makefile; make",
    "sh",
    "bash -s",
    "sudo -s",
    "ssh host",
    "ssh -lNick host",
    "ssh host python3",
    "cat > script.sh; sh script.sh",
    "tee script.sh; bash ./script.sh",
    "cat > x.py && python3 x.py",
    "dd of=x.sh; sh x.sh",
    "source /dev/stdin",
    ". /dev/tty",
    "bash < /dev/tty",
    "python3 /dev/tty",
    "echo hi | sh /dev/tty",
    "xargs sh -c",
    "xargs -I{} sh -c '{}'",
    "sh -c \"$(cat)\"",
    "eval \"$(cat)\"",
    "sh <(cat)",
    "vim notes.md",
    "ed notes.md",
    "emacs notes.md",
    "gdb ./a.out",
    "docker run -it alpine sh",
    "docker run -it alpine",
    "docker compose exec db psql",
    "kubectl exec -it pod -- bash",
    "screen",
    "screen -r x",
    "tmux",
    "tmux -L x attach",
    "python3 -c 'exec(input())'",
    "ruby -e 'eval gets'",
    "awk '{system($0)}'",
    "mkfifo f; cat > f & sh < f",
    "(python3)",
    "python3 | tee log",
    "git commit",
    "rails console",
    "python manage.py shell",
];

const READ: &[&str] = &[
    "python3 - <<'EOF'\nprint(1)\nEOF",
    "python3 <<< 'print(1)'",
    "python3 script.py",
    "python3 -c 'print(1)'",
    "python3 -m pytest",
    "python3 < script.py",
    "(python3) < script.py",
    "echo 'ls' | sh",
    "cat script.sh | sh",
    "curl -s localhost:3000 | python3 -m json.tool",
    "git diff | cat",
    "while read l; do echo \"$l\"; done",
    "while read l; do $l; done < list",
    "read -p 'name? ' x; echo \"$x\"",
    "find . -name '*.py' | xargs python3 -m py_compile",
    "ls | xargs -I{} sh -c 'echo {}'",
    "psql -c 'select 1'",
    "psql -f x.sql app",
    "psql app < x.sql",
    "sqlite3 app.db '.tables'",
    "mysql -e 'show tables'",
    "echo 'select 1' | psql app",
    "redis-cli get x",
    "node -e 'console.log(1)'",
    "node server.js &",
    "ssh host uptime",
    "ssh -T git@github.com",
    "ssh -N -L 5432:localhost:5432 host",
    "ssh host < script.sh",
    "make",
    "make -f build.mk",
    "cat > notes.md; sh build.sh",
    "cat > script.sh <<'EOF'\nls\nEOF\nsh script.sh",
    "docker run --rm alpine ls",
    "docker run -d nginx",
    "docker compose up -d",
    "vim -es -c 'g/x/d' -c wq notes.md < /dev/null",
    "emacs --batch -l x.el",
    "gdb -batch -x cmds ./a.out",
    "tmux new -d -s x 'npm start'",
    "tmux ls",
    "screen -ls",
    "git commit -am x",
    "git -c core.editor=true rebase -i HEAD~2",
    "rsync -avz -e ssh build/ host:/srv/app/",
    "mc ls local/uploads",
    "fab -H staging deploy",
    "cypher-shell 'MATCH (n) RETURN n'",
    "git commit --amend --no-edit",
    "sudo -v",
    "sudo apt-get install -y jq",
    "jq . package.json",
    "sort | uniq",
    "cargo test 2>&1 | tail -n 40",
];

#[test]
fn a_program_that_is_typed_is_found() {
    let missed: Vec<_> = TYPED.iter().filter(|text| !is_typed(text, true)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn what_was_read_is_not_typed() {
    let found: Vec<_> = READ.iter().filter(|text| is_typed(text, true)).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn where_typed_text_reaches_a_hook_nothing_is_marked() {
    assert!(!TYPED.iter().any(|text| is_typed(text, false)));
}
