// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Questions that a level does not want.

use tenterhook_event::Decision;

use super::run_file_tests::Project;
use super::*;

#[test]
fn questions_that_the_level_does_not_want_are_not_asked_about_scripts_either() {
    let script = &[("clean.sh", "git clean -fd\n"), (".git/x", "")][..];
    let run = |level: ProtectionLevel| {
        let project = Project::with_level(script, level);
        project.write("own.sh", "git clean -fd\n");
        [project.run("git clean -fd"), project.run("sh own.sh")]
    };
    assert_eq!(run(ProtectionLevel::Standard), [Decision::Ask; 2]);
    assert_eq!(run(ProtectionLevel::Relaxed), [Decision::None; 2]);
}
