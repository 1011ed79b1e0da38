// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Floods and misuses the daemon's own agent, which must leave resources for other programs and store no secrets.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use tenterhook_client::NewSession;
use tenterhook_client::proto::ErrorCode;

use crate::daemon::RunningDaemon;
use crate::sdk::{code, run};
use crate::sdk_agent::{args, bash, unrestricted_session};
use crate::terminal_user::request;

#[test]
fn sessions_that_begin_at_the_same_time_count_for_the_limit_and_leave_room_for_others() {
    let served = RunningDaemon::new();
    run(async {
        // One process uses three client ids. Each id may have 16 sessions, and the process 32.
        let clients: Vec<_> = (0..3).map(|_| served.program("greedy")).collect();
        let all = clients
            .iter()
            .flat_map(|client| (0..24).map(|_| client.create_session(unrestricted_session(&served))));
        let made = join_all(all).await;
        let refused: Vec<_> = made.iter().filter_map(|made| made.as_ref().err()).collect();
        assert!(refused.iter().all(|error| code(error) == ErrorCode::ErrorLimit), "{refused:?}");
        let of = |n: usize| made.iter().skip(n * 24).take(24).filter(|made| made.is_ok()).count();
        assert!((0..3).all(|n| of(n) <= 16), "{:?}", (0..3).map(of).collect::<Vec<_>>());
        assert_eq!(made.len() - refused.len(), 32);
        let other = served.far_program();
        other.create_session(NewSession::in_dir(served.test.path("work"))).await.unwrap();
    });
}

#[test]
fn a_session_takes_a_bounded_amount_of_work_and_of_text() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("greedy");
        let session = client.create_session(unrestricted_session(&served)).await.unwrap();
        let error = client.generate(&session, &"x".repeat(2_000_000)).await.unwrap_err();
        assert_eq!(code(&error), ErrorCode::ErrorLimit, "{error}");
        let error = client
            .create_session(unrestricted_session(&served).system_prompt("x".repeat(2_000_000)))
            .await
            .unwrap_err();
        assert_eq!(code(&error), ErrorCode::ErrorLimit, "{error}");
        let work = bash("sleep 3");
        let ran = join_all((0..48).map(|_| client.execute_tool(&session, "Bash", &work))).await;
        let refused: Vec<_> = ran.into_iter().filter_map(Result::err).collect();
        assert_eq!(refused.len(), 40, "{refused:?}");
        assert!(refused.iter().all(|error| code(error) == ErrorCode::ErrorBlocked), "{refused:?}");
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert!(client.execute_tool(&session, "Bash", &bash("true")).await.unwrap().success);
    });
}

#[test]
fn events_of_other_senders_for_a_hosted_session_are_unverified() {
    let served = RunningDaemon::new();
    let session = run(async {
        let client = served.program("mine");
        let session = client.create_session(unrestricted_session(&served)).await.unwrap();
        client.execute_tool(&session, "Bash", &bash("true")).await.unwrap();
        session
    });
    let event = json!({
        "source": "tenterhook-agent", "event": "pre-tool", "harness_session_id": session,
        "tool": {"name": "Bash", "args": {"command": "ls"}},
    });
    let (status, answer) = request(&served.socket(), "POST", "/v1/events", &event);
    assert_eq!(status, 200, "{answer}");
    let leaves = served.test.records();
    let of_session: Vec<_> =
        leaves.iter().filter(|leaf| leaf["harness_session_id"] == json!(session)).collect();
    let (last, others) = of_session.split_last().unwrap();
    assert_eq!(last["session_check"], "unverified", "{last}");
    assert!(!others.is_empty() && others.iter().all(|leaf| leaf["session_check"].is_null()), "{others:?}");
}

#[test]
fn secrets_given_to_the_agent_are_not_on_the_disk() {
    let served = RunningDaemon::new();
    let token = |n: u32| format!("glpat-{n:02}aB3dE5gH7jK9mN1pQ3");
    run(async {
        let client = tenterhook_client::Client::builder(tenterhook_client::Address::Unix(served.socket()))
            .name(token(0))
            .build()
            .unwrap();
        let session =
            client.create_session(unrestricted_session(&served).system_prompt(token(1))).await.unwrap();
        drop(client.generate(&session, &token(2)).await);
        drop(client.execute_tool(&session, "Bash", &bash(&format!("echo {}", token(3)))).await);
        drop(client.execute_tool(&session, &token(4), &args(json!({"a": token(5)}))).await);
        drop(client.create_session(NewSession::in_dir(format!("/{}", token(6)))).await);
        drop(client.create_session(unrestricted_session(&served).permission_mode(token(7))).await);
        drop(client.create_session(unrestricted_session(&served).tools(&[&token(8)])).await);
        drop(
            client
                .create_session(
                    unrestricted_session(&served).model(&json!({"provider": token(9), "key": token(10)})),
                )
                .await,
        );
        drop(client.execute_tool(&token(11), "Bash", &bash("true")).await);
        drop(client.end_session(&session, &token(12)).await);
    });
    for n in 0..13 {
        assert_eq!(super::secret_fields::files_with(&served.test.home(), &token(n)), [""; 0], "{n}");
        assert!(!served.log().contains(&token(n)), "{n}: {}", served.log());
    }
}
