// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What goes wrong on the way: bounded attempts, clear words, nothing lost and nothing told twice.

use std::time::Instant;

use tenterhook_model_server::Fault;

use super::*;

const TEXT: &str = "an answer that is long enough to be cut in the middle of it";

fn status(status: u16, retry_after: Option<u64>, message: &str) -> Turn {
    Turn::default().failing(Fault::Status { status, retry_after, message: Some(message.to_owned()) })
}

/// The words of a failure, without the port.
fn words(error: &ProviderError, server: &ModelServer) -> String {
    let hint = error.hint.as_deref().map(|hint| format!(" → {hint}")).unwrap_or_default();
    format!("{:?}: {error}{hint}", error.kind).replace(&server.url(), "URL")
}

/// Events before the middle of the text: the heads of one protocol are events of their own.
fn middle(name: &str) -> usize {
    if name == "anthropic" { 4 } else { 2 }
}

#[tokio::test]
async fn a_stream_cut_in_the_middle_keeps_what_came_and_is_not_asked_again() {
    for name in NAMES {
        let after = middle(name);
        for fault in [Fault::Cut { after }, Fault::Short { after }, Fault::Malformed { after }] {
            let script =
                Script::new().turn(Turn::text(TEXT).failing(fault.clone())).turn(Turn::text("again"));
            let server = ModelServer::start(script).unwrap();
            let asked = ask(&*provider(name, &server.url()), &request(vec![Message::user("go")])).await;
            let error = asked.result.as_ref().unwrap_err();
            let partial = error.partial.as_ref().unwrap();
            assert_eq!(partial.text, TEXT.chars().take(32).collect::<String>(), "{name}, {fault:?}");
            assert_eq!(asked.told(), partial.text, "{name}, {fault:?}");
            let kind = if fault == (Fault::Malformed { after }) {
                Failing::Unreadable
            } else {
                Failing::Unavailable
            };
            assert_eq!(error.kind, kind, "{name}, {fault:?}: {error}");
            assert_eq!(server.agent_requests().len(), 1, "{name}, {fault:?}");
        }
    }
}

#[tokio::test]
async fn a_stream_cut_before_its_first_word_is_asked_for_again() {
    let script = Script::new()
        .turn(Turn::text("lost").failing(Fault::Cut { after: 0 }))
        .turn(Turn::text("lost").failing(Fault::Short { after: 0 }))
        .turn(Turn::text(TEXT));
    each(&script, |name, asked, server| {
        assert_eq!(asked.told(), TEXT, "{name}");
        assert_eq!(asked.result.unwrap().text, TEXT, "{name}");
        assert_eq!(server.agent_requests().len(), 3, "{name}");
    })
    .await;
}

#[tokio::test]
async fn a_silent_server_is_left_at_the_idle_limit() {
    for after in [0, 3] {
        let script = Script::new().turn(Turn::text(TEXT).failing(Fault::Stall { after, ms: 5000 }));
        each(&script, |name, asked, server| {
            let error = asked.result.unwrap_err();
            assert!(error.message.contains("was silent for 200ms"), "{name}: {error}");
            assert_eq!(error.kind, Failing::Unavailable, "{name}");
            assert_eq!(error.partial.is_some(), after > 0, "{name}");
            assert_eq!(server.agent_requests().len(), 1, "{name}: nobody pays twice");
        })
        .await;
    }
}

#[tokio::test]
async fn a_slow_answer_is_waited_for() {
    let script = Script::new().turn(Turn::text(TEXT).failing(Fault::Stall { after: 2, ms: 100 }));
    each(&script, |name, asked, _| assert_eq!(asked.result.unwrap().text, TEXT, "{name}")).await;
}

#[tokio::test]
async fn who_asks_to_wait_is_asked_again_when_it_said() {
    let script = Script::new().turn(status(429, Some(1), "slow down")).turn(Turn::text(TEXT));
    for name in NAMES {
        let server = ModelServer::start(script.clone()).unwrap();
        let began = Instant::now();
        let asked = ask(&*provider(name, &server.url()), &request(vec![Message::user("go")])).await;
        assert_eq!(asked.result.unwrap().text, TEXT, "{name}");
        assert!(began.elapsed() >= Duration::from_secs(1), "{name}: {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn a_longer_wait_than_anybody_waits_is_an_error_at_once() {
    let script = Script::new().turn(status(429, Some(3600), "quota used up"));
    each(&script, |name, asked, server| {
        let error = words(&asked.result.unwrap_err(), server);
        assert!(
            error.contains("asks to wait for 3600s (HTTP 429): quota used up → try again later"),
            "{name}: {error}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_server_in_trouble_is_asked_a_few_times_and_no_more() {
    let twice = Script::new().turn(Turn::status(500)).turn(Turn::status(529)).turn(Turn::text(TEXT));
    each(&twice, |name, asked, _| assert_eq!(asked.result.unwrap().text, TEXT, "{name}")).await;

    let always = (0..9).fold(Script::new(), |script, _| script.turn(status(503, None, "overloaded")));
    each(&always, |name, asked, server| {
        let error = words(&asked.result.unwrap_err(), server);
        assert!(error.contains("is in trouble (HTTP 503): overloaded (asked 3 times)"), "{name}: {error}");
        assert_eq!(server.agent_requests().len(), 3, "{name}");
    })
    .await;
}

#[tokio::test]
async fn a_refusal_says_what_to_do_and_never_shows_the_key() {
    let mut said = Vec::new();
    for (code, message) in [
        (400, "messages: too many"),
        (401, "Incorrect API key provided: sk-not-to-be-seen."),
        (404, "model: some-model"),
        (413, "too large\nfor us"),
    ] {
        for name in NAMES {
            let script = Script::new().turn(status(code, None, message));
            let server = ModelServer::start(script).unwrap();
            let asked = ask(&*provider(name, &server.url()), &request(vec![Message::user("go")])).await;
            said.push(words(&asked.result.unwrap_err(), &server));
            assert_eq!(server.agent_requests().len(), 1, "{name}");
        }
    }
    let said = said.join("\n");
    assert!(!said.contains(SECRET));
    insta::assert_snapshot!(said);
}

#[tokio::test]
async fn nobody_there_is_said_after_a_few_attempts() {
    let url = ModelServer::start(Script::new()).unwrap().url();
    for name in NAMES {
        let error = ask(&*provider(name, &url), &request(Vec::new())).await.result.unwrap_err();
        assert_eq!(error.kind, Failing::Unavailable);
        assert!(error.message.contains("(asked 3 times)"), "{error}");
        assert!(!format!("{error:?}").contains(SECRET));
    }
}

/// Waits until no thread of a model is left. Only Linux tells the names of threads.
async fn gone() {
    let began = Instant::now();
    let is_ours = |task: std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name == "model\n")
    };
    let left = || std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.flatten().any(is_ours));
    while left() {
        assert!(began.elapsed() < Duration::from_secs(20), "a thread is left behind");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn whoever_says_stop_is_heard_at_once() {
    for after in [0, 3] {
        for name in NAMES {
            let script = Script::new().turn(Turn::text(TEXT).failing(Fault::Stall { after, ms: 10_000 }));
            let server = ModelServer::start(script).unwrap();
            let settings = Settings {
                key: Key::new(SECRET),
                base_url: Some(server.url()),
                limits: Limits { idle: Duration::from_mins(1), ..limits() },
            };
            let provider = named(name, settings).unwrap();
            let cancel = Cancel::new();
            let stop = cancel.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(100)).await;
                stop.cancel();
            });
            let began = Instant::now();
            let request = request(vec![Message::user("go")]);
            let error = provider.generate(&request, &mut |_| {}, &cancel).await.unwrap_err();
            assert_eq!((error.kind, error.partial.is_some()), (Failing::Cancelled, after > 0), "{name}");
            assert!(began.elapsed() < Duration::from_secs(5), "{name}: half of the server's silence");
            gone().await;
        }
    }
}
