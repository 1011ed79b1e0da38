// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::os::unix::fs::PermissionsExt;

use tenterhook_harness::dialect::NATIVE;

use super::*;

fn command(line: CommandLine) -> CommandHook {
    CommandHook {
        line,
        dialect: NATIVE,
        env: vec![("KIT".to_owned(), "/kits/a".to_owned())],
        home: Some("/home/u".to_owned()),
        dir: PathBuf::from("/"),
        max_output_bytes: 1024,
    }
}

fn files(line: CommandLine) -> Vec<String> {
    let show = |file: NeededFile| match file {
        NeededFile::Program(text) => format!("run {text}"),
        NeededFile::Script(text) => format!("read {text}"),
    };
    needed_files(&command(line)).into_iter().map(show).collect()
}

#[test]
fn the_program_and_the_script_of_a_shell_text_are_found() {
    let table: &[(&str, &[&str])] = &[
        ("~/hooks/friday.sh", &["run /home/u/hooks/friday.sh"]),
        ("python3 ~/g.py --strict", &["run python3", "read /home/u/g.py"]),
        ("python3 -u '/a b/g.py'", &["run python3", "read /a b/g.py"]),
        ("bash \"$HOME/g.sh\" && true", &["run bash", "read /home/u/g.sh"]),
        ("X=1 exec sh -eu ${KIT}/g.sh", &["run sh", "read /kits/a/g.sh"]),
        ("/usr/bin/env python3.12 g.py", &["run /usr/bin/env", "run python3.12", "read g.py"]),
        ("python3 -c 'print(1)' x.py", &["run python3"]),
        ("python3 -m guard", &["run python3"]),
        ("node --require ./a.js b.js", &["run node"]),
        ("python3 $WHERE/g.py", &["run python3"]),
        ("cd /x && ./y", &[]),
        ("echo no >&2; exit 2", &[]),
        ("$WHERE/g.sh", &[]),
        ("jq -r .tool", &["run jq"]),
        ("grep -q x", &["run grep"]),
    ];
    for (text, expected) in table {
        assert_eq!(files(CommandLine::Shell((*text).to_owned())), *expected, "{text}");
    }
}

#[test]
fn what_cannot_run_is_reported_before_it_is_started() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name).display().to_string();
    let write = |name: &str, text: &str, mode: u32| {
        std::fs::write(path(name), text).unwrap();
        std::fs::set_permissions(path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    write("plain.sh", "#!/bin/sh\n", 0o644);
    write("good.sh", "#!/bin/sh\n", 0o755);
    write("odd.sh", "#!/no/such/interpreter\n", 0o755);
    let why = |words: &[String]| {
        why_not_runnable(&command(CommandLine::Exec(words.to_vec())), None, Some("/bin:/usr/bin"))
    };
    assert_eq!(why(&[path("good.sh")]), None);
    assert_eq!(why(&["sh".into(), path("plain.sh")]), None);
    let plain = path("plain.sh");
    assert_eq!(
        why(std::slice::from_ref(&plain)).unwrap(),
        format!("program `{plain}` is not executable; run `chmod +x {plain}`")
    );
    assert_eq!(
        why(&["sh".into(), path("gone.sh")]).unwrap(),
        format!("script `{}` does not exist", path("gone.sh"))
    );
    assert_eq!(why(&["no-such-program".into()]).unwrap(), "program `no-such-program` is not in `PATH`");
    assert_eq!(
        why(&[path("odd.sh")]).unwrap(),
        format!("program `{}` needs `/no/such/interpreter`, which does not exist", path("odd.sh"))
    );
    assert!(why(&["sh".into(), dir.path().display().to_string()]).unwrap().ends_with("is a directory"));
}
