// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The commands of the guide work as written.

use crate::context::repository;
use crate::daemon::RunningDaemon;

/// The code blocks of a page in the given language.
pub(crate) fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let open = format!("```{language}\n");
    page.split(open.as_str()).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn every_example_of_the_guide_works_as_written() {
    let page = std::fs::read_to_string(repository().join("docs/guide/daemon.md")).unwrap();
    let served = RunningDaemon::new();
    served.bash("sudo rm -rf /");
    let home = served.test.home();
    let mut tried = 0;
    for block in blocks(&page, "sh").into_iter().filter(|block| block.contains("curl")) {
        // Only the state directory and the port differ from the guide.
        let block = block.replace("~/.local/state/tenterhook", home.to_str().unwrap());
        let block = block.replace("127.0.0.1:7878", &served.address.to_string());
        let command = served.test.command(std::path::Path::new("/bin/sh"), &["-c", &block]);
        let ran = served.test.run_command(command, b"");
        // Exit code 28: curl ends a stream after its time limit.
        assert!([0, 28].contains(&ran.exit), "{block}: {} {}", ran.exit, ran.stderr);
        assert!(!ran.stdout.contains("\"error\""), "{block}: {}", ran.stdout);
        let expected = if block.contains("explain") {
            "\"verdict\":\"deny\""
        } else if block.contains("validate") {
            "\"ok\":true"
        } else if block.contains("tail") {
            "event: leaf"
        } else if block.contains("sessions") {
            "\"state\":\"active\""
        } else {
            "\"generation\""
        };
        assert!(ran.stdout.contains(expected), "{block}: {}", ran.stdout);
        tried += 1;
    }
    assert_eq!(tried, 6, "a new example needs a row here");
}

#[test]
fn the_settings_of_the_guide_are_valid() {
    let page = std::fs::read_to_string(repository().join("docs/guide/daemon.md")).unwrap();
    let test = crate::context::TestContext::new();
    test.write("home/tenterhook.yaml", blocks(&page, "yaml")[0]);
    let ran = test.run(&["check"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
}
