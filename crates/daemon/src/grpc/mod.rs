// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The gRPC services of `proto/tenterhook/v1`, on the same socket and port as the other protocols.
//!
//! This module translates messages; [`crate::sdk`], [`crate::agent`] and the engine act on them.

mod agent_service;
mod fire;
mod hook_service;
mod host_names;
mod program_stream;
mod serve;
mod watch;
mod wire;

use std::sync::Arc;

use axum::Router;
use tenterhook_harness::MAX_PAYLOAD_BYTES;
use tenterhook_proto::MAX_MESSAGE_BYTES;
use tenterhook_proto::v1::agent_service_server::{self, AgentServiceServer};
use tenterhook_proto::v1::hook_service_server::{self, HookServiceServer};

pub(crate) use serve::{begins_with_http2, is_http2, may_be_http2, serve_connection, serve_unix};

use crate::daemon::Daemon;

/// The only gRPC method for accounts that may only call hooks.
pub(crate) const FIRE: &str = "/tenterhook.v1.HookService/Fire";

/// The stream on which a program answers for its hooks.
pub(crate) const HOOK_STREAM: &str = "/tenterhook.v1.HookService/HookStream";

// A message contains a payload and other fields.
const _: () = assert!(MAX_MESSAGE_BYTES == MAX_PAYLOAD_BYTES + 1024 * 1024);

/// Builds the router with every gRPC method.
pub(crate) fn router(daemon: &Arc<Daemon>) -> Router {
    let hooks = HookServiceServer::new(hook_service::Service { daemon: Arc::clone(daemon) })
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES);
    let agent = AgentServiceServer::new(hook_service::Service { daemon: Arc::clone(daemon) })
        .max_decoding_message_size(MAX_MESSAGE_BYTES)
        .max_encoding_message_size(MAX_MESSAGE_BYTES);
    let (health, healthy) = tonic_health::server::health_reporter();
    tokio::spawn(async move {
        health.set_serving::<HookServiceServer<hook_service::Service>>().await;
        health.set_serving::<AgentServiceServer<hook_service::Service>>().await;
    });
    let mut router = Router::new()
        .route_service(&format!("/{}/{{method}}", hook_service_server::SERVICE_NAME), hooks)
        .route_service(&format!("/{}/{{method}}", agent_service_server::SERVICE_NAME), agent)
        .route_service("/grpc.health.v1.Health/{method}", healthy);
    let reflection = tonic_reflection::server::Builder::configure()
        .register_encoded_file_descriptor_set(tenterhook_proto::DESCRIPTORS)
        .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET);
    match reflection.build_v1() {
        Ok(reflection) => {
            router = router.route_service("/grpc.reflection.v1.ServerReflection/{method}", reflection);
        }
        Err(error) => tracing::warn!(%error, "gRPC reflection is not available"),
    }
    router
}
