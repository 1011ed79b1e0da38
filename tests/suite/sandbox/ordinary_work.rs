// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Ordinary work in a sandbox with the default profile.

use std::path::Path;

use super::Sandbox;

fn work(script: &str, wanted: &str) {
    for sandbox in Sandbox::all() {
        let ran = sandbox.run_with(&[], &["/bin/sh", "-ec", script]);
        assert_eq!((ran.exit, ran.stdout.as_str()), (0, wanted), "{}", ran.stderr);
        assert!(!ran.stderr.contains("undone after the run"), "{}", ran.stderr);
        let status = sandbox.plain("git status --porcelain --untracked-files=all").stdout;
        assert!(!status.contains(".codex") && !status.contains(".gemini"), "{status}");
    }
}

#[test]
fn git_commits_branches_and_pushes() {
    work(
        "git init -q --bare remote.git; git remote add origin \"$PWD/remote.git\"; echo a >a; git add a; git commit -q -m a; \
         git checkout -q -b feature; git push -q -u origin feature 2>/dev/null; git config branch.feature.remote; \
         git stash list; git rebase -q HEAD; git gc -q; git log --oneline | wc -l",
        "origin\n1\n",
    );
}

#[test]
fn cargo_builds_and_tests_a_crate() {
    let cargo = std::env::var("CARGO").unwrap_or_default();
    let Some(directory) = Path::new(&cargo).parent().filter(|directory| directory.join("rustc").exists())
    else {
        tenterhook_test_support::skip_test("needs `cargo`");
        return;
    };
    for sandbox in Sandbox::all() {
        let script = "mkdir -p c/src; printf '[package]\\nname = \"c\"\\nedition = \"2021\"\\n[workspace]\\n' >c/Cargo.toml; echo 'fn main() { println!(\"built\"); } #[test] fn adds() { assert_eq!(1 + 1, 2); }' >c/src/main.rs; \
            cd c; cargo run -q --offline; cargo test --offline 2>/dev/null | grep -c '1 passed'";
        let mut command = sandbox.sandboxed(&[], &["/bin/sh", "-ec", script]);
        command.env("PATH", format!("{}:/usr/bin:/bin", directory.display()));
        if sandbox.plain(&format!("test -x {}", directory.join("rustc").display())).exit != 0 {
            tenterhook_test_support::skip_test("needs a `rustc` that every account can run");
            continue;
        }
        let ran = sandbox.test.run_command(command, b"");
        assert_eq!((ran.exit, ran.stdout.as_str()), (0, "built\n1\n"), "{}", ran.stderr);
    }
}

#[test]
fn node_and_npm_scripts_run() {
    if !Path::new("/usr/bin/npm").exists() {
        tenterhook_test_support::skip_test("needs `npm`");
        return;
    }
    work(
        "printf '{\"name\": \"p\", \"version\": \"1.0.0\", \"scripts\": {\"test\": \"node -e \\\\\"console.log(6*7)\\\\\"\"}}' >package.json; \
         npm test --silent; mkdir dep; printf '{\"name\": \"dep\", \"version\": \"1.0.0\"}' >dep/package.json; npm install --silent --offline ./dep; ls node_modules; rm -r node_modules; npm ci --silent --offline; ls node_modules",
        "42\ndep\ndep\n",
    );
}

#[test]
fn python_creates_an_environment() {
    work(
        "python3 -m venv --without-pip env; env/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)'; \
         printf 'import unittest\nclass T(unittest.TestCase):\n def test_a(self): pass\n' >test_a.py; env/bin/python -m unittest -q 2>&1 | grep -c OK; \
         python3 -c 'import multiprocessing, tempfile; print(multiprocessing.Pool(2).map(abs, [-1, 2])); tempfile.mkdtemp()'",
        "True\n1\n[1, 2]\n",
    );
}

#[test]
fn compilers_and_temporary_files_work() {
    if !Path::new("/usr/bin/gcc").exists() {
        tenterhook_test_support::skip_test("needs `gcc`");
        return;
    }
    work(
        "echo 'int main(void) { return 0; }' >a.c; gcc -o a a.c; ./a; mktemp >/dev/null; echo x >/dev/null; echo x >/dev/shm/x; cat /dev/shm/x; \
         head -c 1 /dev/urandom | wc -c; ls ~ >/dev/null; cat /etc/hostname >/dev/null",
        "x\n1\n",
    );
}
