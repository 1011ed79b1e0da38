// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tests of what tools do.

use serde_json::{Value, json};

use super::*;

#[track_caller]
fn check(act: Option<&str>, calls: &[(&str, Value)]) {
    for (name, args) in calls {
        let acts = tool_actions(&ToolCall::new(&format!("mcp__{name}"), args.clone()));
        let acts: Vec<_> = acts.into_iter().filter(|act| *act != "publish").collect();
        assert_eq!(acts.first().copied(), act, "{name} {args}: {acts:?}");
    }
}

#[test]
fn destroying_verbs_are_found_in_names_and_operations() {
    check(
        Some("destroy"),
        &[
            ("github__delete_repository", json!({"owner": "acme", "repo": "app"})),
            ("cloudflare__zones_delete", json!({"zone_id": "0"})),
            ("k8s__deleteResource", json!({"kind": "Namespace", "name": "production"})),
            ("k8s__delete_resource", json!({"kind": "Pod", "name": "api-0", "namespace": "prod"})),
            ("aws__call_api", json!({"service": "ec2", "operation": "TerminateInstances"})),
            ("terraform__run", json!({"action": "destroy", "workspace": "production"})),
            ("docker__remove_volume", json!({"volume_name": "pgdata"})),
            ("docker__remove", json!({"volume": "pgdata"})),
            ("mongodb__delete_many", json!({"database": "prod", "collection": "orders", "filter": {}})),
            ("es__delete_by_query", json!({"index": "users", "query": {"match_all": {}}})),
            ("mongodb__runCommand", json!({"command": {"dropDatabase": 1}})),
            ("stripe__cancel_subscription", json!({"subscription": "sub_1", "livemode": true})),
            ("drive__delete_file", json!({"fileId": "x1"})),
            ("git__push", json!({"branch": "main", "force": true})),
            ("api__request", json!({"method": "DELETE", "url": "https://api.acme.io/v1/users/7"})),
            ("kms__schedule_key_deletion", json!({"key_id": "k"})),
            ("s3__emptyBucket", json!({"bucket": "b"})),
            ("k8s__scale_deployment", json!({"name": "api", "replicas": 0})),
            ("vault__revoke_token", json!({"accessor": "a"})),
        ],
    );
}

#[test]
fn everyday_deletions_and_words_about_deletion_are_not_destructive() {
    check(
        None,
        &[
            ("github__delete_comment", json!({"id": 1})),
            ("github__remove_label_from_issue", json!({"label": "bug", "issue": 3})),
            ("linear__delete_issue_relation", json!({"id": 1})),
            ("gmail__delete_draft", json!({"id": "d"})),
            ("slack__remove_reaction", json!({"name": "eyes"})),
            ("cache__clear_cache", json!({})),
            ("ui__clear_filters", json!({})),
            ("browser__close_tab", json!({"index": 2})),
            ("playwright__browser_drop", json!({"ref": "e1"})),
            ("playwright__browser_drag", json!({"startRef": "e1", "endRef": "e2"})),
            ("memory__delete_entities", json!({"entityNames": ["x"]})),
            ("fs__delete", json!({"path": "/home/user/project/dist"})),
            ("fs__delete_file", json!({"path": "a.txt"})),
            ("editor__undo_delete", json!({})),
            ("docs__search", json!({"query": "delete repository"})),
            ("trash__list_deleted_items", json!({})),
            ("github__delete_branch", json!({"branch": "fix/login"})),
            ("mongodb__delete_many", json!({"collection": "t", "filter": {"status": "old"}})),
            ("mongodb__drop_collection", json!({"database": "app_test", "collection": "orders"})),
            ("aws__call_api", json!({"operation": "DescribeInstances"})),
            ("terraform__run", json!({"action": "plan"})),
            ("docker__stop_container", json!({"name": "web"})),
            ("git__push", json!({"branch": "x", "force": false})),
            ("api__request", json!({"method": "GET", "url": "https://api.acme.io/v1/users/7"})),
            ("api__request", json!({"method": "DELETE", "url": "http://localhost:3000/users/7"})),
            ("k8s__scale_deployment", json!({"name": "api", "replicas": 3})),
            ("ci__cancel_workflow_run", json!({"run_id": 1})),
        ],
    );
}

#[test]
fn access_for_everyone_and_removed_protection_are_found() {
    check(
        Some("expose"),
        &[
            ("github__update_repository", json!({"owner": "a", "repo": "b", "visibility": "public"})),
            ("github__edit_repo", json!({"repo": "b", "private": false})),
            ("drive__share_file", json!({"fileId": "x", "role": "reader", "type": "anyone"})),
            ("s3__put_bucket_acl", json!({"bucket": "b", "acl": "public-read"})),
            ("storage__makePublic", json!({"bucket": "b"})),
            (
                "gcp__add_iam_policy_binding",
                json!({"member": "allUsers", "role": "roles/storage.objectViewer"}),
            ),
            (
                "ec2__authorize_security_group_ingress",
                json!({"group": "sg", "cidr": "0.0.0.0/0", "port": 22}),
            ),
            ("github__add_collaborator", json!({"username": "x", "permission": "admin"})),
            (
                "iam__attach_user_policy",
                json!({"user": "x", "policy_arn": "arn:aws:iam::aws:policy/AdministratorAccess"}),
            ),
            (
                "s3__put_bucket_policy",
                json!({"policy": "{\"Statement\":[{\"Effect\":\"Allow\",\"Principal\":\"*\"}]}"}),
            ),
        ],
    );
    check(
        Some("unprotect"),
        &[
            ("github__update_branch_protection", json!({"branch": "main", "enforce_admins": null})),
            ("rds__modify_db_instance", json!({"id": "db", "deletion_protection": false})),
            ("okta__disable_mfa", json!({"login": "x"})),
            ("aws__call", json!({"operation": "StopLogging", "name": "trail"})),
        ],
    );
    check(
        None,
        &[
            ("github__list_repositories", json!({"visibility": "public"})),
            ("github__create_repository", json!({"name": "x", "private": true})),
            ("drive__share_file", json!({"fileId": "x", "role": "reader", "email": "a@acme.io"})),
            ("github__get_branch_protection", json!({"branch": "main"})),
            ("rds__modify_db_instance", json!({"id": "db", "deletion_protection": true})),
            ("github__update_pull_request", json!({"draft": false, "state": "open"})),
            ("sentry__update_issue", json!({"status": "resolved"})),
        ],
    );
}

#[test]
fn access_for_others_is_found_in_numbers_keys_and_forwarding() {
    check(
        Some("expose"),
        &[
            ("gitlab__add_project_member", json!({"project_id": 1, "user_id": 2, "access_level": 50})),
            ("gmail__create_filter", json!({"action": {"forward": "x@x.io"}})),
            ("gmail__create_forwarding_address", json!({"email": "x@x.io"})),
            ("github__create_webhook", json!({"config": {"url": "https://x.io"}})),
            ("github__add_deploy_key", json!({"key": "ssh-ed25519 A"})),
            ("aws__iam_create_access_key", json!({"user_name": "x"})),
            ("wordpress__update_user", json!({"id": 1, "role": "administrator"})),
            ("slack__invite_external", json!({"channel": "c"})),
        ],
    );
    check(
        Some("unprotect"),
        &[
            ("gitlab__unprotect_branch", json!({"branch": "main"})),
            ("github__merge_pull_request", json!({"pull_number": 1, "bypass_rules": true})),
            ("homeassistant__call_service", json!({"domain": "lock", "service": "unlock"})),
            ("okta__reset_factors", json!({"id": "x"})),
        ],
    );
    check(
        None,
        &[
            ("gitlab__add_project_member", json!({"project_id": 1, "user_id": 2, "access_level": 20})),
            ("github__merge_pull_request", json!({"pull_number": 1})),
            ("homeassistant__call_service", json!({"domain": "light", "service": "turn_off"})),
            ("github__list_webhooks", json!({"owner": "a"})),
            ("gmail__create_filter", json!({"action": {"label": "x"}})),
        ],
    );
}

#[test]
fn changes_of_everything_and_paused_services_destroy() {
    check(
        Some("destroy"),
        &[
            ("mongodb__update-many", json!({"collection": "u", "filter": {}, "update": {"$set": {"a": 1}}})),
            ("mongodb__rename-collection", json!({"collection": "u", "newName": "x", "dropTarget": true})),
            ("github__update_ref", json!({"ref": "heads/main", "force": true})),
            ("github__delete_tag", json!({"owner": "a", "repo": "b", "tag": "v1"})),
            ("prisma__migrate_reset", json!({})),
            ("supabase__pause_project", json!({"project_id": "x"})),
            ("slack__archive_channel", json!({"channel": "C1"})),
            ("gmail__delete_all", json!({"query": "in:inbox"})),
            ("vmware__power_off_vm", json!({"vm": "x"})),
            ("terraform__create_run", json!({"is_destroy": true})),
            ("github__graphql", json!({"query": "mutation { deleteRef(input: {refId: \"x\"}) { id } }"})),
            ("shop__graphql", json!({"query": "mutation A($i: ID!) { a: productDelete(id: $i) { id } }"})),
            (
                "es__rest",
                json!({"method": "POST", "path": "/u/_delete_by_query", "body": {"query": {"match_all": {}}}}),
            ),
        ],
    );
    check(
        None,
        &[
            (
                "github__graphql",
                json!({"query": "mutation { addComment(input: {body: \"delete\"}) { id } }"}),
            ),
            ("github__graphql", json!({"query": "query { deletedItems { id } }"})),
            ("github__api", json!({"method": "DELETE", "path": "/repos/a/b/issues/comments/1"})),
            ("mongodb__update-many", json!({"collection": "u", "filter": {"a": 2}, "update": {}})),
            ("trello__archive_card", json!({"id": "x"})),
            ("vmware__power_on_vm", json!({"vm": "x"})),
            ("gitlab__update_ref", json!({"ref": "heads/x"})),
        ],
    );
}

#[test]
fn payments_and_stored_secrets_are_found() {
    check(
        Some("pay"),
        &[
            ("stripe__create_refund", json!({"payment_intent": "pi_1"})),
            ("paypal__send_payment", json!({"amount": 5})),
            ("bank__transfer_funds", json!({"amount": 5})),
            ("shop__purchase_domain", json!({"domain": "a.io"})),
            ("alpaca__place_order", json!({"symbol": "X", "qty": 1})),
            ("ethereum__send_transaction", json!({"to": "0x", "value": "1"})),
        ],
    );
    check(
        Some("reveal-secret"),
        &[
            ("kubernetes__get", json!({"kind": "Secret", "name": "db", "output": "yaml"})),
            ("aws__get_secret_value", json!({"secret_id": "x"})),
            ("vault__read_secret", json!({"path": "kv/db"})),
            ("gcp__accessSecretVersion", json!({"name": "x"})),
            ("onepassword__get_password", json!({"item": "x"})),
            ("vault__read", json!({"path": "secret/x"})),
            ("bitwarden__get_item", json!({"id": "x"})),
            ("vercel__get_env", json!({"project": "x", "decrypt": true})),
        ],
    );
    check(
        None,
        &[
            ("stripe__list_refunds", json!({})),
            ("stripe__create_payment_link", json!({"price": "p"})),
            ("stripe__create_refund", json!({"payment_intent": "pi_1", "livemode": false})),
            ("kubernetes__get", json!({"kind": "Deployment", "name": "api"})),
            ("kubernetes__list", json!({"kind": "Secret"})),
            ("github__get_secret_scanning_alert", json!({"id": 1})),
            ("aws__list_secrets", json!({})),
        ],
    );
}

#[test]
fn tools_that_others_read_publish() {
    let publishes = |name: &str, args: Value| {
        tool_actions(&ToolCall::new(&format!("mcp__{name}"), args)).contains(&"publish")
    };
    for name in [
        "slack__post_message",
        "github__create_gist",
        "gmail__send_email",
        "notion__update_page",
        "github__add_issue_comment",
    ] {
        assert!(publishes(name, json!({})), "{name}");
    }
    for name in
        ["slack__list_messages", "fs__write_file", "github__create_secret", "vercel__add_env_variable"]
    {
        assert!(!publishes(name, json!({})), "{name}");
    }
    assert!(publishes("github__create_or_update_file", json!({"owner": "a", "repo": "b", "path": "x"})));
}
