// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Describes each page: the setup before its first command, the files that its reader writes, and the commands that
//! need special treatment.

use serde_json::json;

use self::Replacement::{Exit, Keys, NotRun, Test};
use super::reader::Reader;
use crate::context::repository;
use crate::terminal_user::until;

/// Computes the reader's own value for a placeholder.
type ReadersValue = fn(&Reader) -> String;
/// Runs before a command.
type BeforeCommand = fn(&mut Reader);

pub(super) struct Page {
    pub(super) path: &'static str,
    /// Creates the state that the page assumes.
    pub(super) setup: fn(&mut Reader),
    /// Blocks that the reader writes to a file: the beginning of the block, and the file.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// Placeholders in commands that stand for one of the reader's own values.
    pub(super) values: &'static [(&'static str, ReadersValue)],
    /// Actions between commands, such as agent calls, before the first command that begins with the text.
    pub(super) before: &'static [(&'static str, BeforeCommand)],
    /// Commands that do not end successfully or are not run, identified by their beginning.
    pub(super) instead: &'static [(&'static str, Replacement)],
}

/// How the tests treat a command that does not end successfully or is not run.
pub(super) enum Replacement {
    /// Another test runs it: `path::name`.
    Test(&'static str),
    /// The command cannot run in the tests; contains the reason.
    NotRun(&'static str),
    /// It runs until these keys are pressed.
    Keys(&'static str),
    /// It ends with this exit code.
    Exit(i32),
}

const CTRL_C: &str = "\u{3}";
const BUILDS: &str = "builds the program with all optimisations, which takes minutes";
const PACKAGES: &str = "needs the packages of `make dist`; `make dist-test` runs it on a bare root";

/// Commands that the tests run on no page.
pub(super) const NOT_RUN_ON_ANY_PAGE: &[(&str, Replacement)] = &[
    ("make ", NotRun(BUILDS)),
    ("docker ", NotRun("needs a container engine and the packages of `make dist`")),
    ("brew ", NotRun("needs Homebrew and a published release")),
    ("sudo apt ", NotRun(PACKAGES)),
    ("sh release/install.sh", NotRun(PACKAGES)),
    ("sh target/packages/install.sh", NotRun(PACKAGES)),
    (
        "curl -fsSL https://",
        NotRun("needs a published release; `make dist-test` runs install.sh from local files"),
    ),
    ("pip install ", NotRun("needs the network and a checkout; `make sdk-python` installs it in a venv")),
    (
        "npm install ",
        NotRun("needs the network; sdk/typescript/scripts/check-pack.mjs installs the packed package"),
    ),
    ("minisign ", NotRun("needs a signed release; packaging/test verifies one")),
    ("ssh ", NotRun("needs another machine")),
    ("git clone ", NotRun("needs the network")),
    ("cd tenterhook", NotRun("the directory that `git clone` makes")),
    ("claude", NotRun("needs a model; `make e2e` runs the real client with a scripted one")),
    ("tenterhook demo", Test("tests/suite/demo.rs::#[test]")),
    ("tenterhook run --sandbox", Test("tests/suite/sandbox/ordinary_work.rs::#[test]")),
    ("tenterhook run claude", Test("tests/suite/guarded_run.rs::#[test]")),
    ("tenterhook ledger tail -f", Keys(CTRL_C)),
    ("tenterhook tui", Keys("q")),
];

const NOTHING: fn(&mut Reader) = |_| {};

const DEFAULT: Page = Page { path: "", setup: NOTHING, files: &[], values: &[], before: &[], instead: &[] };

pub(super) const PAGES: &[Page] = &[
    Page { path: "README.md", setup: has_worked, ..DEFAULT },
    Page { path: "docs/RELEASING.md", ..DEFAULT },
    Page { path: "sdk/python/README.md", ..DEFAULT },
    Page { path: "docs/guide/agent.md", files: &[("model: scripted-1", "session.yaml")], ..DEFAULT },
    Page {
        path: "docs/guide/allow.md",
        setup: |reader| {
            reader.write("~/.config/tenterhook/policy.yaml", ASK_TERRAFORM);
            guarded(reader);
            reader.agent_runs("terraform apply");
        },
        ..DEFAULT
    },
    Page {
        path: "docs/guide/approvals.md",
        setup: |reader| {
            reader.write("~/.config/tenterhook/policy.yaml", ASK_TERRAFORM);
            guarded(reader);
            reader.agent_runs("ls");
            started(reader);
            let payload = json!({"tool_name": "Bash", "tool_input": {"command": "terraform apply"}});
            reader.agent_calls("codex", "PreToolUse", &payload, true);
            until("the call waits", || waiting_call(reader));
        },
        values: &[("7P9D", |reader| waiting_call(reader).unwrap()), ("123456", Reader::code), MARKED_PROCESS],
        before: &[("tenterhook uninstall", |reader| reader.write("code.txt", &reader.code()))],
        instead: &[(
            "tenterhook approvals notify",
            Test("tests/suite/notifications.rs::fn targets_are_tested_and_settings_are_checked"),
        )],
        ..DEFAULT
    },
    Page {
        path: "docs/guide/audit.md",
        setup: |reader| {
            has_worked(reader);
            reader.write("stricter.yaml", "version: 1\nrules: []\n");
        },
        ..DEFAULT
    },
    Page {
        path: "docs/guide/daemon.md",
        instead: &[
            ("tenterhook daemon serve", Keys(CTRL_C)),
            ("tenterhook daemon service install", NotRun("changes the service manager of the machine")),
            ("tenterhook daemon service uninstall", NotRun("changes the service manager of the machine")),
            ("curl", Test("tests/suite/daemon_guide.rs::fn every_example_of_the_guide_works_as_written")),
            ("printf", Test("tests/suite/daemon_guide.rs::fn every_example_of_the_guide_works_as_written")),
        ],
        ..DEFAULT
    },
    Page { path: "docs/guide/dashboard.md", ..DEFAULT },
    Page { path: "docs/guide/faq.md", instead: &[("tenterhook status", Exit(1))], ..DEFAULT },
    Page {
        path: "docs/guide/getting-started.md",
        setup: has_just_used_claude_code,
        before: &[("tenterhook ledger query", |reader| reader.agent_runs("rm -rf ~/photos"))],
        ..DEFAULT
    },
    Page {
        path: "docs/guide/install.md",
        setup: has_used_claude_code,
        before: &[("tenterhook status", started)],
        instead: &[("tenterhook self verify", Test("tests/suite/self_manage.rs::#[test]"))],
        ..DEFAULT
    },
    Page {
        path: "docs/guide/ledger.md",
        setup: |reader| {
            guarded(reader);
            reader.agent_runs("git push --force origin main");
            for _ in 0..45 {
                reader.agent_runs("ls");
            }
        },
        values: &[("/mnt/elsewhere", |reader| reader.root().to_str().unwrap().to_owned())],
        ..DEFAULT
    },
    Page {
        path: "docs/guide/migrating.md",
        setup: |reader| {
            reader.write("policy.yaml", OPENAGENTLOCK);
            reader.write("~/.claude/settings.json", r#"{"permissions": {"deny": ["Bash(git push:*)"]}}"#);
        },
        ..DEFAULT
    },
    Page { path: "docs/guide/platforms.md", ..DEFAULT },
    Page {
        path: "docs/guide/policy.md",
        setup: |reader| reader.write("commands.jsonl", "{\"command\": \"ls\"}\n"),
        files: &[
            ("version: 1\nrules:\n  - id: no-docker", "~/.config/tenterhook/policy.yaml"),
            ("version: 1\nrules:\n  - id: no-containers", "wrong.yaml"),
            ("# cases.yaml", "cases.yaml"),
        ],
        instead: &[("tenterhook check wrong.yaml", Exit(1))],
        ..DEFAULT
    },
    Page {
        path: "docs/guide/programs.md",
        files: &[("acme:\n  about", "~/.config/tenterhook/programs/acme.yaml"), ("sweep:\n", "typo.yaml")],
        instead: &[("tenterhook rules programs check typo.yaml", Exit(1))],
        ..DEFAULT
    },
    Page { path: "docs/guide/sdk-python.md", ..DEFAULT },
    Page { path: "docs/guide/sdk-typescript.md", ..DEFAULT },
    Page { path: "docs/guide/sandbox.md", ..DEFAULT },
    Page { path: "docs/guide/run.md", instead: &[("tenterhook run claude --bare", Exit(2))], ..DEFAULT },
    Page {
        path: "docs/guide/sessions.md",
        setup: |reader| {
            guarded(reader);
            reader.agent_works();
        },
        instead: &[("tenterhook sessions follow", Keys(CTRL_C))],
        ..DEFAULT
    },
    Page {
        path: "docs/guide/sandbox-network.md",
        files: &[("version: 1\nrules:\n  - id: no-paste-sites", "~/.config/tenterhook/policy.yaml")],
        ..DEFAULT
    },
    Page {
        path: "docs/guide/undo.md",
        instead: &[(
            "tenterhook undo last",
            Test("tests/suite/undo.rs::fn discarded_work_is_saved_without_a_question_and_restored"),
        )],
        ..DEFAULT
    },
    Page {
        path: "docs/guide/templates.md",
        setup: publishes_hooks,
        values: &[("1f0c9c1", published_commit), ("9b1d…", published_hash)],
        ..DEFAULT
    },
    Page {
        path: "docs/guide/troubleshooting.md",
        setup: |reader| {
            guarded(reader);
            reader.write("payload.json", DELETES_PHOTOS);
        },
        values: &[MARKED_PROCESS, ("python3", |reader| marked(reader, "name"))],
        before: &[
            ("tenterhook ledger query", |reader| {
                reader.write("~/.config/tenterhook/tenterhook.yaml", HOOK_WITHOUT_SCRIPT);
                reader.agent_runs("ls");
            }),
            ("tenterhook explain", |reader| reader.write("~/.config/tenterhook/tenterhook.yaml", "")),
        ],
        instead: &[
            ("tenterhook check", Exit(1)),
            ("tenterhook doctor --prove", Test("tests/e2e/tests/prove.rs::fn is_proven")),
            (
                "tenterhook doctor --posture",
                Test("tests/suite/posture.rs::fn credential_files_are_found_by_name_and_never_opened"),
            ),
        ],
        ..DEFAULT
    },
    Page { path: "docs/guide/tui.md", setup: started, ..DEFAULT },
    Page {
        path: "docs/guide/writing-hooks.md",
        setup: |reader| {
            reader.write("~/.gemini/settings.json", "{}");
            reader.write(
                "input.json",
                r#"{"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}"#,
            );
        },
        files: &[
            ("hooks:\n  - id: no-friday-deploys", "~/.config/tenterhook/tenterhook.yaml"),
            ("#!/bin/sh\nevent=", "~/hooks/friday.sh"),
            ("import datetime", "~/hooks/friday.py"),
        ],
        ..DEFAULT
    },
    Page {
        path: "docs/guide/your-agent.md",
        instead: &[
            ("curl", Test("tests/suite/your_agent.rs::fn plain_http_works_as_written")),
            ("tenterhook ledger query", Test("tests/suite/your_agent.rs::fn plain_http_works_as_written")),
        ],
        ..DEFAULT
    },
];

/// The process id that pages use for a process that is marked as an agent.
const MARKED_PROCESS: (&str, fn(&Reader) -> String) = ("4711", |reader| marked(reader, "pid"));

const ASK_TERRAFORM: &str = "version: 1\nrules:\n  - id: ask-terraform\n    match: { shell: { program: terraform } }\n    \
    verdict: ask\n    reason: people apply infrastructure\n";

const OPENAGENTLOCK: &str = "version: 1\ngates:\n  - id: sc.push\n    match: { tool: Bash, command_regex: git push }\n    \
    evaluate: [{ kind: always, action: deny }]\n";

const HOOK_WITHOUT_SCRIPT: &str =
    "hooks:\n  - id: guard\n    on: pre-tool\n    exec: [python3, ~/hooks/guard.py]\n    fail: closed\n";

const DELETES_PHOTOS: &str = r#"{"session_id": "s", "cwd": "/tmp", "hook_event_name": "PreToolUse", "tool_name": "Bash",
    "tool_input": {"command": "rm -rf ~/photos"}, "tool_use_id": "t"}"#;

/// The reader has worked with five agents, which left transcripts and settings.
fn has_worked(reader: &mut Reader) {
    let from = repository().join("tests/fixtures/transcripts/.");
    let copied =
        reader.command("cp", &["-r", from.to_str().unwrap()]).arg(reader.path("~/")).status().unwrap();
    assert!(copied.success());
    let sql = reader.path("~/.local/share/opencode/opencode.sql");
    let database = rusqlite::Connection::open(sql.with_extension("db")).unwrap();
    database.execute_batch(&std::fs::read_to_string(&sql).unwrap()).unwrap();
}

/// The reader has worked with Claude Code.
fn has_used_claude_code(reader: &mut Reader) {
    let from = repository().join("tests/fixtures/transcripts/.claude");
    let copied =
        reader.command("cp", &["-r", from.to_str().unwrap()]).arg(reader.path("~/")).status().unwrap();
    assert!(copied.success());
}

/// The user has used Claude Code today. The audit of `init` reads only the last weeks.
fn has_just_used_claude_code(reader: &mut Reader) {
    has_used_claude_code(reader);
    let now = tenterhook_home::call_meta::now().to_string();
    let time = regex::Regex::new(r#""timestamp":\s*"[^"]+""#).unwrap();
    let transcripts = reader.path("~/.claude/projects");
    let files = std::fs::read_dir(transcripts)
        .unwrap()
        .flat_map(|dir| std::fs::read_dir(dir.unwrap().path()).unwrap());
    for file in files.map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, time.replace_all(&text, format!("\"timestamp\":\"{now}\"")).as_bytes())
            .unwrap();
    }
}

/// Claude Code is guarded.
fn guarded(reader: &mut Reader) {
    let ran = reader.run("tenterhook install claude-code --yes", None);
    assert_eq!(ran.exit, 0, "{}", ran.output);
}

/// A daemon runs.
fn started(reader: &mut Reader) {
    let ran = reader.run("tenterhook start", None);
    assert_eq!(ran.exit, 0, "{}", ran.output);
}

/// A field of the first process that is marked as an agent.
fn marked(reader: &Reader, field: &str) -> String {
    let agent = &reader.json(&["agent", "list"])["agents"][0][field];
    agent.as_str().map_or_else(|| agent.to_string(), ToOwned::to_owned)
}

fn waiting_call(reader: &Reader) -> Option<String> {
    let id = reader.json(&["approvals", "list"])["pending"][0]["id"].as_str()?.to_owned();
    id.get(id.len() - 4..).map(ToOwned::to_owned)
}

/// `https://example.com/hooks.git` resolves to a repository with one hook.
fn publishes_hooks(reader: &mut Reader) {
    let there = reader.root().join("published");
    let script = format!(
        "git config --global url.{there}.insteadOf https://example.com/hooks.git && git init --quiet {there} && cd {there} \
         && mkdir hooks && cp -r {}/secret-in-prompt hooks/secret-scan && printf '%s\\n' 'version: 1' 'hooks:' '  - name: secret-scan' \
         '    path: hooks/secret-scan' '    title: No keys' '    about: Denies keys' '    tags: [secrets]' \
         > tenterhook-hooks.yaml && git add . && git commit --quiet -m hooks",
        repository().join("templates/hooks").display(),
        there = there.display(),
    );
    assert!(reader.command("sh", &["-c", &script]).status().unwrap().success());
}

fn published_commit(reader: &Reader) -> String {
    let there = reader.root().join("published");
    let ran = reader.command("git", &["-C", there.to_str().unwrap(), "rev-parse", "HEAD"]).output().unwrap();
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

fn published_hash(reader: &Reader) -> String {
    let there = reader.root().join("published");
    let sums = format!("cd {}/hooks/secret-scan && sha256sum * | sha256sum | cut -d' ' -f1", there.display());
    let ran = reader.command("sh", &["-c", &sums]).output().unwrap();
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}
