// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Scripts that cannot be used are refused with what to do about them.

use tenterhook_agent::Ended;
use tenterhook_agent::provider::Scripted;

use crate::common::test;

fn refusal(text: &str) -> String {
    Scripted::parse("s.yaml", text).unwrap_err().to_string()
}

#[test]
fn what_does_not_fit_is_said_with_its_line() {
    let said = [
        refusal("turns: [}"),
        refusal("turns:\n  - sya: hello"),
        refusal("turns: []"),
        refusal("turns:\n  - pause_ms: 3"),
        refusal("turns:\n  - say: hi\n    if: denied"),
        refusal("turns:\n  - say: hi\nsubagents:\n  general: []"),
        refusal("{\"turns\": 7}"),
    ];
    insta::assert_snapshot!(said.join("\n"));
}

#[tokio::test]
async fn a_turn_may_depend_on_what_came_of_the_last_call() {
    let script = r"
turns:
  - call: { Read: { file_path: nowhere } }
  - { if: worked, say: never said }
  - { if: nudged, say: never said }
  - { if: failed, call: { TodoWrite: { todos: [] } } }
  - { if: failed, say: never said }
  - { if: worked, say: noted }
";
    let test = test().start(script).await.unwrap();
    assert_eq!(test.prompt("go").await.unwrap(), "noted");
}

#[tokio::test]
async fn a_script_that_is_too_short_says_so() {
    let test = test().start("turns:\n  - call: { TodoWrite: { todos: [] } }").await.unwrap();
    let Err(Ended::Model(error)) = test.prompt("go").await else { panic!() };
    assert_eq!(error.to_string(), "script.yaml: `turns` has only 1 turns, and the agent wants another");
    assert!(error.hint.is_some());
}

#[test]
fn the_script_in_the_guide_can_be_read() {
    let guide =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/agent.md")).unwrap();
    let script = guide.split_once("```yaml script\n").unwrap().1.split_once("```").unwrap().0;
    assert_eq!(Scripted::parse("agent.md", script).unwrap().model(), "scripted-1");
}
