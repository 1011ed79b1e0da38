// SPDX-License-Identifier: Apache-2.0 OR MIT

//! In system mode one account gets nothing of another's, and cannot stop the daemon from answering.
