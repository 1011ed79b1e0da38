// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A person approves the call that was shown, never another one under the same short id.
