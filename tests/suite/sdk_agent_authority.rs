// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which programs may use the daemon's own agent, and what that agent may do. The name of each test begins with its
//! mode.

use serde_json::json;
use tenterhook_client::proto::ErrorCode;
use tenterhook_client::{Address, Client, Hook, HookResponse, NewSession};

use crate::daemon::RunningDaemon;
use crate::sdk::{code, fire, run, until};
use crate::sdk_agent::{args, bash, unrestricted_session};
use crate::system::{SystemHome, is_root};

#[test]
fn same_user_only_the_client_that_created_a_session_gives_it_work() {
    let served = RunningDaemon::new();
    let errors = run(async {
        let (one, other) = (served.program("one"), served.program("other"));
        let session = one.create_session(unrestricted_session(&served)).await.unwrap();
        let ended = one.create_session(unrestricted_session(&served)).await.unwrap();
        one.end_session(&ended, "").await.unwrap();
        fire(&one, "ls").await;
        let work = bash("touch stolen");
        let all = [
            other.execute_tool(&session, "Bash", &work).await.map(drop),
            other.generate(&session, "Go").await.map(drop),
            other.end_session(&session, "").await,
            one.execute_tool(&ended, "Bash", &work).await.map(drop),
            one.generate(&ended, "Go").await.map(drop),
            one.execute_tool("s-1", "Bash", &work).await.map(drop),
            one.execute_tool("nobody's", "Bash", &work).await.map(drop),
        ];
        let all = all.map(|refused| refused.unwrap_err());
        assert!(all.iter().all(|error| code(error) == ErrorCode::ErrorNotFound), "{all:?}");
        all.map(|error| error.to_string().replace(&session, "<session>").replace(&ended, "<ended>"))
    });
    assert!(!served.test.path("work/stolen").exists());
    insta::assert_snapshot!(errors.join("\n"), @"
    the session `<session>` belongs to another program (a session can be used only by the client that created it; create another one)
    the session `<session>` belongs to another program (a session can be used only by the client that created it; create another one)
    the session `<session>` belongs to another program (a session can be used only by the client that created it; create another one)
    the session `<ended>` has ended (create another)
    the session `<ended>` has ended (create another)
    the session `s-1` is run by my-agent, not by this daemon (run the command in your own program, or create a session here with CreateSession)
    unknown session `nobody's` (create one with CreateSession)
    ");
}

#[test]
fn same_user_a_guarded_agent_gets_no_session_not_even_with_the_right_id() {
    let served = RunningDaemon::new();
    run(async {
        let id = "0123456789abcdef0123456789abcdef";
        let address = || Address::Unix(served.socket());
        let client = Client::builder(address()).id(id).build().unwrap();
        let session = client.create_session(unrestricted_session(&served)).await.unwrap();
        // The test calls a hook as a harness does. From here on it is treated as a guarded agent.
        let payload = served.test.bash("ls");
        tokio::task::block_in_place(|| served.hook(&payload));
        let thief = Client::builder(address()).id(id).build().unwrap();
        for refused in [
            client.create_session(unrestricted_session(&served)).await.map(drop),
            thief.create_session(NewSession::in_dir(served.test.path("work"))).await.map(drop),
            thief.execute_tool(&session, "Bash", &bash("touch stolen")).await.map(drop),
            thief.generate(&session, "Go").await.map(drop),
            thief.end_session(&session, "").await,
        ] {
            let error = refused.unwrap_err();
            assert_eq!(code(&error), ErrorCode::ErrorRefused);
            assert!(error.to_string().contains("guarded agents may not"), "{error}");
        }
    });
    assert!(!served.test.path("work/stolen").exists());
    assert_eq!(served.changes("refused").len(), 5);
}

/// A process that a tool starts is treated as an agent: it may not register hooks or change the mode.
#[test]
fn same_user_what_a_tool_of_a_session_starts_is_guarded() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("mine");
        let session = client.create_session(unrestricted_session(&served)).await.unwrap();
        // Rules would deny this command. They would find it in the script too, so padding makes the script
        // too large to be read.
        let program = env!("CARGO_BIN_EXE_tenterhook");
        let padding = "# padding\n".repeat(8_000);
        served.test.write("work/innocent", &format!("{padding}{program} mode monitor\n"));
        let result = client.execute_tool(&session, "Bash", &bash("sh ./innocent")).await.unwrap();
        assert!(!result.success && result.output.contains("a guarded agent"), "{}", result.output);
    });
    assert_eq!(served.json("/v1/mode")["mode"], "enforce");
}

#[test]
fn same_user_over_tcp_a_session_asks_before_it_changes_anything() {
    let served = RunningDaemon::new();
    run(async {
        let far = served.far_program();
        for mode in ["bypassPermissions", "acceptEdits"] {
            let wanted = NewSession::in_dir(served.test.path("work")).permission_mode(mode);
            let error = far.create_session(wanted).await.unwrap_err();
            assert_eq!(code(&error), ErrorCode::ErrorRefused, "{error}");
        }
        let wanted = NewSession::in_dir(served.test.path("work")).permission_mode("dontAsk");
        let session = far.create_session(wanted).await.unwrap();
        let listed = far.execute_tool(&session, "Glob", &args(json!({"pattern": "*"}))).await.unwrap();
        assert!(listed.success, "{}", listed.output);
        let error = far.execute_tool(&session, "Bash", &bash("touch changed")).await.unwrap_err();
        assert_eq!(code(&error), ErrorCode::ErrorBlocked, "{error}");
    });
    assert!(!served.test.path("work/changed").exists());
}

#[test]
fn same_user_in_the_default_mode_a_user_approves_and_no_hook_of_a_program_can() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("mine");
        client
            .register(Hook::on("PermissionRequest").run(|_| async { HookResponse::proceed() }))
            .await
            .unwrap();
        let session = client.create_session(NewSession::in_dir(served.test.path("work"))).await.unwrap();
        for (answer, fine) in [("approve", true), ("deny", false)] {
            let (asks, at) = (client.clone(), session.clone());
            let asked =
                tokio::spawn(
                    async move { asks.execute_tool(&at, "Bash", &bash("echo asked >> asked")).await },
                );
            let waiting = || tokio::task::block_in_place(|| served.json("/v1/approvals"));
            until("the call waits", async || waiting()["pending"][0]["id"].is_string()).await;
            let card = waiting()["pending"][0].clone();
            assert_eq!(card["tool"], "Bash", "{card}");
            let id = card["id"].as_str().unwrap().to_owned();
            let ran =
                tokio::task::block_in_place(|| served.test.run_on_terminal(&["approvals", answer, &id]));
            assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
            let came = asked.await.unwrap();
            assert_eq!(came.is_ok(), fine, "{came:?}");
        }
    });
    assert_eq!(std::fs::read_to_string(served.test.path("work/asked")).unwrap(), "asked\n");
}

#[test]
fn same_user_refused_sessions_are_reported_with_a_hint() {
    let served = RunningDaemon::new();
    let errors = run(async {
        let client = served.program("mine");
        let here = || NewSession::in_dir(served.test.path("work"));
        let key = json!({"provider": "anthropic", "name": "m", "apiKey": "sk-very-secret"});
        let mut errors = Vec::new();
        for wanted in [
            NewSession::in_dir("work"),
            NewSession::in_dir("/nowhere/at/all"),
            here().permission_mode("yolo"),
            here().tools(&["Bash", "Fly"]),
            here().model(&json!({"provider": "anthropic", "name": "m"})),
            here().model(&key),
            here().model(&json!({"provider": "scripted", "script": "no.yaml"})),
        ] {
            let error = client.create_session(wanted).await.unwrap_err();
            assert_eq!(code(&error), ErrorCode::ErrorInvalid, "{error}");
            errors.push(served.test.normalize(&error.to_string()));
        }
        let session = client.create_session(here()).await.unwrap();
        let error = client.generate(&session, "Go").await.unwrap_err();
        assert_eq!(code(&error), ErrorCode::ErrorModel);
        errors.push(error.to_string());
        for _ in 1..16 {
            client.create_session(here()).await.unwrap();
        }
        let error = client.create_session(here()).await.unwrap_err();
        assert_eq!(code(&error), ErrorCode::ErrorLimit);
        errors.push(error.to_string());
        errors
    });
    assert!(!errors.join("\n").contains("secret") && !served.log().contains("secret"));
    insta::assert_snapshot!(errors.join("\n"), @"
    `work` is not an absolute path of a directory (set `working_directory` to an existing directory)
    `/nowhere/at/all` is not an absolute path of a directory (set `working_directory` to an existing directory)
    unknown permission mode `yolo` (known: default, acceptEdits, plan, bypassPermissions, dontAsk)
    unknown tool `Fly` (known: Bash, Read, Write, Edit, Glob, Grep, TodoWrite, Task)
    the daemon has no key for anthropic (start it with ANTHROPIC_API_KEY in its environment)
    `model` is not a valid ModelConfig (column 9) (its fields are `provider`, `name`, `baseUrl`, `script`, `temperature` and `maxTokens`; API keys come from the daemon's environment)
    the script cannot be read: no such file (name a readable file)
    no reply from the model: this session has no model, only tools (create it with a `model`)
    too many sessions: 16 of this program, 16 in all (end a session; the limits are 16 per program, 32 per process and 64 in all)
    ");
}

#[test]
fn system_a_machine_wide_daemon_runs_no_tools() {
    if !is_root() {
        return;
    }
    let system = SystemHome::new();
    let _guard = system.serve();
    let error = run(async {
        let client = Client::new(Address::Unix(system.socket())).unwrap();
        client.create_session(NewSession::in_dir("/")).await.unwrap_err()
    });
    assert_eq!(code(&error), ErrorCode::ErrorRefused);
    insta::assert_snapshot!(error.to_string(), @"this daemon serves the whole machine; tools would run under its account (start a daemon under your own account, or run `tenterhook agent run`)");
}
