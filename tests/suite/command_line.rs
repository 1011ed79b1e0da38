// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The command line as a whole: help texts, earlier names of commands, ids, completions and manual pages.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::termios::{Winsize, tcsetwinsize};
use unicode_width::UnicodeWidthStr as _;

use crate::context::TestContext;
use crate::terminal_user::terminal;

/// Headings below which the help of a command lists commands.
const COMMAND_HEADINGS: &[&str] =
    &["Commands:", "Guard:", "Observe:", "Policy:", "Hooks:", "Daemon:", "Advanced:"];

/// Commands that programs call, and earlier names; they are not in any list.
const HIDDEN_COMMANDS: &[&str] = &[
    "hook",
    "bus",
    "fire",
    "policy",
    "new",
    "programs",
    "adopt",
    "serve",
    "restart",
    "service",
    "completions",
    "detect",
    "start",
    "stop",
    "totp",
    "judge",
];

/// Width of a terminal that every help text and table fits.
const NARROW_TERMINAL: usize = 80;

/// Lists all visible commands with their words, parents first: `tenterhook`, `tenterhook rules`, …
pub(crate) fn visible_commands(test: &TestContext) -> Vec<String> {
    commands_below(test, "tenterhook")
}

fn commands_below(test: &TestContext, words: &str) -> Vec<String> {
    let mut found = vec![words.to_owned()];
    let mut is_list = false;
    for line in help_of(test, words).lines() {
        if !line.starts_with(' ') {
            is_list = COMMAND_HEADINGS.contains(&line);
        } else if let Some(name) = line.strip_prefix("  ").and_then(|line| line.split(' ').next())
            && is_list
            && !name.is_empty()
            && (name != "help" || words == "tenterhook")
        {
            found.extend(commands_below(test, &format!("{words} {name}")));
        }
    }
    found
}

fn help_of(test: &TestContext, words: &str) -> String {
    let mut args: Vec<_> = words.split(' ').skip(1).collect();
    args.push("--help");
    let mut command = test.command(Path::new(env!("CARGO_BIN_EXE_tenterhook")), &args);
    command.env("COLUMNS", NARROW_TERMINAL.to_string());
    let ran = test.run_command(command, b"");
    assert_eq!(ran.exit, 0, "{words}: {}", ran.stderr);
    ran.stdout
}

/// Whether a line of a paragraph ends before it is full although the paragraph continues.
fn is_broken_early(line: &str, next: &str) -> bool {
    let is_text = |line: &str| !line.is_empty() && !line.starts_with(' ');
    let next_word = next.split(' ').next().unwrap_or_default();
    let is_sentence_end = line.ends_with(['.', ':', ';', '`']);
    is_text(line)
        && is_text(next)
        && !is_sentence_end
        && line.width() + 1 + next_word.width() <= NARROW_TERMINAL
}

#[test]
fn every_help_text_fits_80_columns_and_is_wrapped_once() {
    let test = TestContext::new();
    let mut commands = visible_commands(&test);
    for hidden in HIDDEN_COMMANDS {
        commands.extend(commands_below(&test, &format!("tenterhook {hidden}")));
    }
    assert!(commands.len() > 90, "{commands:?}");
    let mut wrong = Vec::new();
    for words in &commands {
        let help = help_of(&test, words);
        let lines: Vec<_> = help.lines().collect();
        wrong.extend(
            lines.iter().filter(|line| line.width() > NARROW_TERMINAL).map(|line| format!("{words}: {line}")),
        );
        let pairs = lines.iter().zip(lines.iter().skip(1));
        let early = pairs.filter(|(line, next)| is_broken_early(line, next));
        wrong.extend(early.map(|(line, _)| format!("{words} is wrapped twice: {line}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn global_options_have_their_own_section() {
    let test = TestContext::new();
    for words in ["tenterhook", "tenterhook rules", "tenterhook agent run", "tenterhook ledger query"] {
        let help = help_of(&test, words);
        let (own, global) = help.split_once("Global options:").unwrap();
        assert!(!own.contains("--home") && !own.contains("--json"), "{words}: {help}");
        assert!(global.contains("--home <DIR>") && global.contains("--color <WHEN>"), "{words}: {help}");
    }
}

#[test]
fn help_lists_every_command_and_the_earlier_names() {
    let test = TestContext::new();
    let all = test.run(&["help", "--all"]).stdout;
    for words in ["rules backtest", "hooks adopt", "daemon service install", "hook", "bus", "fire"] {
        assert!(
            all.lines().any(|line| line.trim_start().starts_with(&format!("{words} "))),
            "{words}: {all}"
        );
    }
    assert!(all.contains("now explain --rules-only"), "{all}");
    assert!(all.lines().all(|line| line.width() <= NARROW_TERMINAL), "{all}");
    assert_eq!(test.run(&["help", "rules", "test"]).stdout, help_of(&test, "tenterhook rules test"));
    assert_eq!(test.run(&["help", "nonsense"]).exit, 2);
}

#[test]
fn earlier_names_give_the_same_output() {
    let test = TestContext::new();
    for (earlier, now) in [
        (&["policy", "show"][..], &["rules", "list", "--active"][..]),
        (
            &["policy", "explain", "--shell", "rm -rf ~/"],
            &["explain", "--rules-only", "--command", "rm -rf ~/"],
        ),
        (&["new", "rule", "--list"], &["rules", "new", "--list"]),
        (&["new", "hook", "--list"], &["hooks", "new", "--list"]),
        (&["programs", "show", "rsync"], &["rules", "programs", "show", "rsync"]),
        (&["service", "print"], &["daemon", "service", "print"]),
        (&["completions", "bash"], &["self", "completions", "bash"]),
        (&["detect"], &["install", "--list"]),
        (&["judge", "--shell", "rm -rf ~/"], &["rules", "judge", "--shell", "rm -rf ~/"]),
        (&["totp", "status"], &["approvals", "totp", "status"]),
    ] {
        let (earlier, now) = (test.run(earlier), test.run(now));
        assert_eq!((earlier.exit, &earlier.stderr), (0, &String::new()));
        assert_eq!(earlier.stdout, now.stdout);
        assert!(!now.stdout.is_empty());
    }
}

#[test]
fn records_and_sessions_are_found_by_number_part_and_last() {
    let test = TestContext::new();
    for command in ["ls", "rm -rf ~/"] {
        test.run_with(&["fire", "--record", "--event", "PreToolUse"], test.bash(command).as_bytes());
    }
    let last = test.run(&["ledger", "show", "last", "--json"]).json();
    let (seq, id) = (last["seq"].to_string(), last["leaf"]["id"].as_str().unwrap().to_owned());
    let end = id.get(id.len() - 8..).unwrap();
    for reference in [seq.as_str(), &id, &id.to_lowercase(), end, &format!("#{seq}"), "latest"] {
        assert_eq!(test.run(&["ledger", "show", reference, "--json"]).json(), last, "{reference}");
        assert_eq!(test.run(&["explain", reference, "--json"]).json()["event"]["id"], id.as_str());
    }
    let ambiguous = test.run(&["ledger", "show", id.get(..5).unwrap()]);
    assert_eq!(ambiguous.exit, 2);
    assert!(ambiguous.stderr.contains("more than one record matches"), "{}", ambiguous.stderr);
    assert!(ambiguous.stderr.contains(&id), "the candidates are listed: {}", ambiguous.stderr);
    let session = last["leaf"]["session"].as_str().map(ToOwned::to_owned);
    let shown = test.run(&["sessions", "show", "last", "--json"]).json();
    if let Some(session) = session {
        assert_eq!(shown["id"], session.as_str());
    }
    assert_eq!(test.run(&["sessions", "show", &seq, "--json"]).json()["id"], shown["id"]);
}

/// Runs a command on a terminal of 80 columns and returns what it shows.
fn run_on_narrow_terminal(test: &TestContext, args: &[&str]) -> String {
    let (mut master, slave) = terminal();
    let (ws_row, ws_col) = (24, u16::try_from(NARROW_TERMINAL).unwrap());
    let size = Winsize { ws_row, ws_col, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&slave, size).unwrap();
    let mut command = test.command(Path::new(env!("CARGO_BIN_EXE_tenterhook")), args);
    command.env("NO_COLOR", "1").stdin(Stdio::null()).stdout(slave).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // The command holds the other end of the terminal open.
    drop(command);
    let mut shown = Vec::new();
    // Reading fails once the other end is closed.
    let _ = master.read_to_end(&mut shown);
    child.wait().unwrap();
    String::from_utf8(shown).unwrap()
}

#[test]
fn tables_fit_a_terminal_of_80_columns() {
    let test = TestContext::new();
    let long = format!("rm -rf ~/{}", "a-long-directory/".repeat(12));
    for command in ["ls", &long] {
        test.run_with(&["fire", "--record", "--event", "PreToolUse"], test.bash(command).as_bytes());
    }
    let policy = test.write(
        "stricter.yaml",
        "version: 1\nrules:\n  - id: a-rule-with-a-name-that-is-longer-than-its-column\n    description: x\n    \
         match: {shell: {program: [ls]}}\n    verdict: deny\n    reason: r\n",
    );
    let policy = policy.to_str().unwrap();
    for args in [
        &["sessions", "list"][..],
        &["ledger", "query"],
        &["ledger", "tail"],
        &["rules", "list"],
        &["rules", "search", "git"],
        &["rules", "backtest", policy],
    ] {
        let shown = run_on_narrow_terminal(&test, args);
        assert!(!shown.trim().is_empty(), "{args:?}");
        for line in shown.lines() {
            assert!(line.width() <= NARROW_TERMINAL, "{args:?}: {line}");
        }
    }
    for args in [
        &["rules", "search", "git"][..],
        &["ledger", "query"],
        &["ledger", "tail"],
        &["rules", "backtest", policy],
    ] {
        let piped = test.run(args).stdout;
        assert!(!piped.contains('…'), "piped output is not shortened: {piped}");
    }
    assert!(test.run(&["ledger", "query"]).stdout.contains(&long), "the whole command");
}

#[test]
fn bash_completes_commands_rules_and_records() {
    let test = TestContext::new();
    test.run_with(&["fire", "--record", "--event", "PreToolUse"], test.bash("ls").as_bytes());
    let complete = |words: &[&str]| {
        let script = format!(
            "source <(tenterhook self completions bash)\nCOMP_WORDS=({})\nCOMP_CWORD={}\nCOMP_TYPE=9\n\
             $(complete -p tenterhook | sed 's/.*-F \\([^ ]*\\).*/\\1/') tenterhook \"${{COMP_WORDS[-1]}}\"\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "),
            words.len() - 1
        );
        let shown = run_in_shell(&test, "bash", &["-c", &script]).unwrap_or_default();
        shown.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["tenterhook", "unin"]), ["uninstall"]);
    assert_eq!(complete(&["tenterhook", "install", "claude"]), ["claude-code"]);
    assert_eq!(
        complete(&["tenterhook", "rules", "show", "recursive-delete-u"]),
        ["recursive-delete-unknown"]
    );
    assert!(complete(&["tenterhook", "rules", "enable", ""]).contains(&"cloud".to_owned()));
    let records = complete(&["tenterhook", "ledger", "show", ""]);
    assert!(records.contains(&"last".to_owned()), "{records:?}");
    assert!(records.iter().any(|word| word.parse::<u64>().is_ok()), "{records:?}");
}

/// Runs a script in a shell that finds the program; `None`, with a note, if the shell is not installed.
fn run_in_shell(test: &TestContext, shell: &str, args: &[&str]) -> Option<String> {
    let path = Path::new("/usr/bin").join(shell);
    if !path.exists() {
        tenterhook_test_support::skip_test(&format!("needs {shell}"));
        return None;
    }
    let program = Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let mut command = test.command(&path, args);
    command.env("PATH", format!("{}:/usr/bin:/bin", program.parent().unwrap().display()));
    let ran = test.run_command(command, b"");
    assert_eq!(ran.stderr, "");
    Some(ran.stdout)
}

#[test]
fn fish_completes_rules() {
    let test = TestContext::new();
    let script =
        "tenterhook self completions fish | source; complete -C 'tenterhook rules show recursive-delete-u'";
    let Some(shown) = run_in_shell(&test, "fish", &["--no-config", "-c", script]) else { return };
    assert!(shown.starts_with("recursive-delete-unknown\tDeletes"), "{shown}");
}

#[test]
fn zsh_completes_rules() {
    let test = TestContext::new();
    // Outside the line editor, candidates are printed instead of offered.
    let script = "autoload -Uz compinit; compinit -u -d $HOME/.zcompdump\n\
                  source <(tenterhook self completions zsh)\n\
                  _describe() { print -l -- \"${(@P)3}\" }\n\
                  words=(tenterhook rules show recursive-delete-u); CURRENT=4; ${_comps[tenterhook]}";
    let Some(shown) = run_in_shell(&test, "zsh", &["-f", "-c", script]) else { return };
    assert!(shown.starts_with("recursive-delete-unknown:Deletes"), "{shown}");
}

#[test]
fn a_variable_of_completions_does_not_change_a_hook_call() {
    let test = TestContext::new();
    let program = Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let mut command = test.command(program, &["hook", "claude-code", "PreToolUse"]);
    command.env("TENTERHOOK_COMPLETE", "bash").env("COMPLETE", "bash");
    let ran = test.run_command(command, test.bash("rm -rf ~/").as_bytes());
    assert!(ran.stdout.contains("\"deny\""), "{}", ran.stdout);
}

#[test]
fn a_manual_page_is_written_for_every_visible_command() {
    let test = TestContext::new();
    let dir = test.path("man");
    let ran = test.run(&["self", "man", "--output", dir.to_str().unwrap()]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    for words in visible_commands(&test).iter().filter(|words| *words != "tenterhook help") {
        let page = std::fs::read_to_string(dir.join(format!("{}.1", words.replace(' ', "-")))).unwrap();
        assert!(page.contains(".TH"), "{words}");
    }
    if Path::new("/usr/bin/man").exists() {
        let mut command = Command::new("/usr/bin/man");
        command.args(["--warnings", "-E", "UTF-8", "-l"]).arg(dir.join("tenterhook-rules-test.1"));
        let shown = command.env("MANPAGER", "cat").output().unwrap();
        assert!(String::from_utf8_lossy(&shown.stdout).contains("expect: deny"));
    }
}
