// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Copying or moving a tree onto a guarded place counts as writing everything in it.
