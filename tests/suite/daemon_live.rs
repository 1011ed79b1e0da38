// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Streams: a reader of the ledger's stream misses no record, even after a broken connection.

use std::io::Write;

use serde_json::json;

use crate::daemon::{RunningDaemon, until};

#[test]
fn a_reader_gets_every_record_and_resumes_after_a_broken_connection() {
    let served = RunningDaemon::new();
    served.bash("echo before");
    let mut tail = served.stream("/v1/ledger/tail?kind=decision", &[]);
    served.bash("echo one");
    served.bash("echo two");
    let one = tail.next_of("leaf");
    assert_eq!(one.data["payload"]["args"]["command"], "echo one", "earlier records are not sent");
    drop(tail);
    served.bash("echo three");
    let seen = format!("Last-Event-ID: {}", one.id.unwrap());
    let mut tail = served.stream("/v1/ledger/tail?kind=decision", &[&seen]);
    assert_eq!(tail.next_of("leaf").data["payload"]["args"]["command"], "echo two");
    assert_eq!(tail.next_of("leaf").data["payload"]["args"]["command"], "echo three");
    served.bash("sudo rm -rf /");
    let denied = tail.next_of("leaf");
    assert_eq!(denied.data["leaf"]["verdict"], "deny");
    let mut whole = served.json(&format!("/v1/ledger/{}", denied.id.unwrap()));
    for only_there in ["raw", "reply"] {
        assert!(whole.as_object_mut().unwrap().remove(only_there).is_some(), "{only_there}");
    }
    assert_eq!(denied.data, whole);
    let mut all = served.stream("/v1/ledger/tail?from=0", &[]);
    assert_eq!(
        (all.next().unwrap().id, all.next().unwrap().id),
        (Some(0), Some(1)),
        "from the first record on"
    );
    let mut denied = served.stream("/v1/ledger/tail?from=0&verdict=deny&text=RM", &[]);
    assert_eq!(denied.next_of("leaf").data["leaf"]["verdict"], "deny");
}

#[test]
fn a_slow_reader_catches_up_and_loses_nothing() {
    let served = RunningDaemon::new();
    let mut slow = served.stream("/v1/ledger/tail?kind=decision", &[]);
    // The calls produce far more data than the queue and the socket buffer hold, and this reader does not
    // read yet.
    let padding = "x".repeat(20_000);
    for number in 0..400 {
        served.bash(&format!("echo {number} {padding}"));
    }
    let mut last = None;
    for number in 0..400 {
        let told = slow.next_of("leaf");
        let command = told.data["payload"]["args"]["command"].as_str().unwrap();
        assert!(command.starts_with(&format!("echo {number} ")), "not {number}");
        assert!(told.id > last, "in order");
        last = told.id;
    }
}

#[test]
fn everything_live_is_one_stream() {
    let served = RunningDaemon::new();
    let mut live = served.stream("/v1/stream", &[]);
    assert_eq!(live.next().unwrap().kind, "hello");
    served.call("UserPromptSubmit", &json!({"prompt": concat!("the key is AKIA", "Q3EGRZ7LWQ2NFKXT")}));
    let decided = live.next_of("decided");
    assert_eq!((&decided.data["event"], &decided.data["session"]), (&json!("prompt"), &json!("s-1")));
    assert!(
        !decided.data["prompt"].as_str().unwrap().contains("AKIA"),
        "secrets are not sent: {}",
        decided.data
    );
    assert_eq!(live.next_of("session").data["prompts"], 1);
    served.test.write("home/policy.yaml", "version: 1\nrules: []\n");
    let generation = live.next_of("generation").data["generation"].clone();
    assert_eq!(generation, served.json("/v1/policy")["generation"]);
    served.test.write("home/policy.yaml", "rules: [\n");
    assert_eq!(live.next_of("warning").data["what"], "a file cannot be read");
    served.hook("nonsense");
    assert_eq!(live.next_of("warning").data["what"], "a call was refused");
}

#[test]
fn decisions_made_by_hooks_themselves_are_streamed_too() {
    let served = RunningDaemon::new();
    let mut live = served.stream("/v1/stream", &[]);
    live.next_of("hello");
    let id = "01M7F3GRZQ0000000000000001";
    let args = ["hook", "--fallback", "a test", "--id", id, "claude-code", "PreToolUse"];
    let ran = served.test.run_with(&args, served.test.bash("echo alone").as_bytes());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let decided = live.next_of("decided");
    assert_eq!((&decided.data["tool"]["gist"], &decided.data["id"]), (&json!("echo alone"), &json!(id)));
    assert!(served.get("/v1/metrics").body.contains("tenterhook_fallbacks_total 1\n"));
    assert_eq!(served.json("/v1/sessions/s-1")["events"], 1);
}

#[test]
fn streams_have_an_end_and_a_limit() {
    let mut served = RunningDaemon::new();
    let mut open: Vec<_> = (0..64).map(|_| served.stream("/v1/stream", &[])).collect();
    let refused = served.get("/v1/stream");
    assert_eq!((refused.status, refused.message().as_str()), (503, "too many open streams"));
    open.pop();
    until("there is room again", || {
        // The daemon notices a closed stream only when it writes to the stream.
        served.bash("ls");
        Some(()).filter(|()| served.get("/v1/metrics").body.contains("tenterhook_streams 63\n"))
    });
    served.signal(rustix::process::Signal::TERM);
    // An open stream would keep the daemon running for as long as the reader wants.
    assert!(served.wait());
    for mut stream in open {
        while stream.next().is_some() {}
    }
}

#[test]
fn a_stream_whose_reader_is_gone_is_closed() {
    let served = RunningDaemon::new();
    let mut gone = served.connect();
    let (address, token) = (served.address, &served.token);
    let head = format!(
        "GET /v1/ledger/tail?from=0 HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    gone.write_all(head.as_bytes()).unwrap();
    until("the stream is open", || {
        Some(()).filter(|()| served.get("/v1/metrics").body.contains("tenterhook_streams 1\n"))
    });
    drop(gone);
    until("the stream is closed", || {
        served.bash("ls");
        Some(()).filter(|()| served.get("/v1/metrics").body.contains("tenterhook_streams 0\n"))
    });
}
