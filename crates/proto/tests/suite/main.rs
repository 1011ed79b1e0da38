// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The generated code matches the `.proto` files, and these keep everything of earlier versions.
//! `TENTERHOOK_GENERATE=1` writes it again; a breaking change is refused even then.

#![expect(clippy::disallowed_methods, reason = "a test may read its own environment")]

mod breaking;

use std::path::{Path, PathBuf};

use prost::Message;
use prost_types::FileDescriptorSet;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../proto")
}

fn compiled() -> FileDescriptorSet {
    let files = ["hooks.proto", "agent.proto"].map(|name| root().join("tenterhook/v1").join(name));
    let compiled = protox::Compiler::new([root()])
        .unwrap()
        .include_imports(true)
        .include_source_info(true)
        .open_files(files)
        .map(|compiler| compiler.file_descriptor_set());
    compiled.unwrap_or_else(|error| panic!("{error:?}"))
}

/// Comments change more often than messages, and reflection does not need them.
fn without_comments(mut set: FileDescriptorSet) -> FileDescriptorSet {
    for file in &mut set.file {
        file.source_code_info = None;
    }
    set
}

fn rust(set: FileDescriptorSet) -> String {
    let dir = tempfile::tempdir().unwrap();
    tonic_prost_build::configure()
        .out_dir(dir.path())
        .build_transport(false)
        .server_mod_attribute(".", "#[cfg(feature = \"server\")]")
        .client_mod_attribute(".", "#[cfg(feature = \"client\")]")
        .compile_fds(set)
        .unwrap();
    let code = std::fs::read_to_string(dir.path().join("tenterhook.v1.rs")).unwrap();
    format!("// SPDX-License-Identifier: Apache-2.0 OR MIT\n\n{code}")
}

#[test]
fn no_change_breaks_older_versions() {
    let old = FileDescriptorSet::decode(tenterhook_proto::DESCRIPTORS).unwrap();
    assert_eq!(breaking::changes(&old, &compiled()), Vec::<String>::new());
}

#[test]
fn generated_code_is_what_the_files_say() {
    let set = compiled();
    let old = FileDescriptorSet::decode(tenterhook_proto::DESCRIPTORS).unwrap();
    let broken = breaking::changes(&old, &set);
    assert_eq!(broken, Vec::<String>::new(), "this would break whoever speaks the version before");
    let (code, descriptors) = (rust(set.clone()), without_comments(set).encode_to_vec());
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/generated");
    let places = [("tenterhook.v1.rs", code.into_bytes()), ("tenterhook.v1.binpb", descriptors)];
    for (name, wanted) in places {
        let path = dir.join(name);
        if std::env::var_os("TENTERHOOK_GENERATE").is_some() {
            std::fs::write(&path, wanted).unwrap();
            continue;
        }
        let there = std::fs::read(&path).unwrap_or_default();
        assert!(there == wanted, "`{name}` is stale: `make generate` writes it anew");
    }
}

#[test]
fn the_sdks_accept_messages_of_the_documented_size() {
    let read = |path: &str| std::fs::read_to_string(root().join("..").join(path)).unwrap();
    let mebibytes = tenterhook_proto::MAX_MESSAGE_BYTES / 1024 / 1024;
    let proto = read("proto/tenterhook/v1/hooks.proto").replace("\n// ", " ");
    assert!(proto.contains(&format!("a message is larger than {mebibytes} MiB")), "{mebibytes}");
    for path in ["sdk/python/src/tenterhook/channel.py", "sdk/typescript/src/connection/channel.ts"] {
        let constant = format!("MAX_MESSAGE_BYTES = {mebibytes} * 1024 * 1024");
        assert!(read(path).contains(&constant), "{path}: `{constant}` is missing");
    }
}
