// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks that invalid scripts are refused with a hint.

use tenterhook_agent::TurnError;
use tenterhook_agent::provider::ScriptedProvider;

use crate::fixture::test;

fn parse_error(text: &str) -> String {
    ScriptedProvider::parse("s.yaml", text).unwrap_err().to_string()
}

#[test]
fn invalid_scripts_are_refused_with_their_line() {
    let errors = [
        parse_error("turns: [}"),
        parse_error("turns:\n  - sya: hello"),
        parse_error("turns: []"),
        parse_error("turns:\n  - pause_ms: 3"),
        parse_error("turns:\n  - say: hi\n    if: denied"),
        parse_error("turns:\n  - say: hi\nsubagents:\n  general: []"),
        parse_error("{\"turns\": 7}"),
    ];
    insta::assert_snapshot!(errors.join("\n"));
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
async fn a_script_that_is_too_short_is_an_error() {
    let test = test().start("turns:\n  - call: { TodoWrite: { todos: [] } }").await.unwrap();
    let Err(TurnError::Model(error)) = test.prompt("go").await else { panic!() };
    assert_eq!(error.to_string(), "script.yaml: `turns` has 1 turns, but the agent needs another");
    assert!(error.hint.is_some());
}

#[test]
fn the_script_in_the_guide_can_be_read() {
    let guide =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/guide/agent.md")).unwrap();
    let script = guide.split_once("```yaml script\n").unwrap().1.split_once("```").unwrap().0;
    assert_eq!(ScriptedProvider::parse("agent.md", script).unwrap().model(), "scripted-1");
}
