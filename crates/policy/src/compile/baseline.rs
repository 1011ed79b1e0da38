// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The packs in `/rules`, compiled in: what is in force where nobody has written a policy.

use crate::source::{Layer, Source};

macro_rules! packs {
    ($($file:literal)*) => {
        pub(super) const PACKS: &[Source<'static>] = &[$(Source {
            name: concat!("rules/", $file),
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../rules/", $file)),
            layer: Layer::Baseline,
        },)*];
    };
}

packs! {
    "destructive.yaml"
    "remote-code.yaml"
    "credentials.yaml"
}
