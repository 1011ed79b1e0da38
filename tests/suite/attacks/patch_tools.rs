// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Patch tools are judged by every path and line they write.
