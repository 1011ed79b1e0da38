// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An agent cannot change the hooks that guard it. The name of each test begins with its mode.

use serde_json::json;
use tenterhook_client::proto::ErrorCode;
use tenterhook_client::{AuditLevel, Error, Hook, HookResponse};

use crate::daemon::RunningDaemon;
use crate::sdk::{code, fire, run};

#[test]
fn same_user_a_guarded_agent_registers_and_removes_no_hook_and_lowers_no_level() {
    let served = RunningDaemon::new();
    run(async {
        let id = "0123456789abcdef0123456789abcdef";
        let address = || tenterhook_client::Address::Unix(served.socket());
        let client = tenterhook_client::Client::builder(address()).id(id).build().unwrap();
        let hook = || Hook::on("PreToolUse").id("guard").run(|_| async { HookResponse::block("guarded") });
        client.register(hook()).await.unwrap();
        // The test calls a hook as a harness does. From here on it is treated as a guarded agent.
        let payload = served.test.bash("ls");
        tokio::task::block_in_place(|| served.hook(&payload));
        let thief = tenterhook_client::Client::builder(address()).id(id).build().unwrap();
        for error in [
            client.register(Hook::on("PreToolUse")).await.unwrap_err(),
            client.unregister_hook("guard").await.unwrap_err(),
            thief.unregister_hook("guard").await.unwrap_err(),
            client.set_audit_level(AuditLevel::Off, None).await.unwrap_err(),
            client.set_audit_level(AuditLevel::Off, Some("123456".into())).await.unwrap_err(),
        ] {
            assert_eq!(code(&error), ErrorCode::ErrorRefused);
            assert!(error.to_string().contains("guarded"), "{error}");
        }
        // The agent cannot answer in place of the program, even if it knows the program's id.
        let error = thief.ready().await.unwrap_err();
        assert!(matches!(error, Error::Status { code: tonic::Code::PermissionDenied, .. }), "{error:?}");
        assert!(tokio::task::block_in_place(|| served.bash("ls")).body.contains("guarded"));
        assert_eq!(client.list_hooks(true).await.unwrap().len(), 1);
    });
    let refused = served.changes("refused");
    let actions: Vec<_> = refused.iter().map(|leaf| leaf["detail"]["action"].clone()).collect();
    let expected = ["hooks add", "hooks remove", "hooks remove", "ledger level", "ledger level", "hooks add"];
    assert_eq!(json!(actions), json!(expected));
    assert_eq!(refused[0]["detail"]["authority"]["agent"]["pid"], std::process::id());
}

/// A program that fires events is an agent. The processes it starts are guarded, but it may manage its own hooks.
#[test]
fn same_user_what_an_agent_with_hooks_of_its_own_starts_is_guarded_and_it_is_not() {
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("my-agent");
        let id = client.register_hook("PreToolUse", |_| async { HookResponse::proceed() }).await.unwrap();
        fire(&client, "ls").await;
        client.register(Hook::on("Stop").id("second")).await.unwrap();
        client.unregister_hook(&id).await.unwrap();
        // The program may not weaken protection that affects others.
        let error = client.set_audit_level(AuditLevel::Off, None).await.unwrap_err();
        assert_eq!(code(&error), ErrorCode::ErrorRefused);
    });
    // The same gate refuses the command-line program if a child of the agent runs it.
    let ran = served.test.run(&["mode", "monitor"]);
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("a guarded agent"), "{}", ran.stderr);
}

#[test]
fn same_user_a_client_id_is_the_key_to_its_hooks_and_is_never_revealed() {
    let served = RunningDaemon::new();
    run(async {
        let (one, other) = (served.program("one"), served.program("other"));
        one.register(Hook::on("PreToolUse").id("of-one")).await.unwrap();
        let seen = other.list_hooks(true).await.unwrap();
        assert_eq!(
            (seen[0].hook_id.as_str(), seen[0].own, seen[0].client_name.as_str()),
            ("of-one", false, "one")
        );
        assert_eq!(code(&other.unregister_hook("of-one").await.unwrap_err()), ErrorCode::ErrorNotFound);
        assert_eq!(
            code(&other.register(Hook::on("Stop").id("of-one")).await.unwrap_err()),
            ErrorCode::ErrorAlreadyExists
        );
    });
}
