// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Forged or swapped ledger files are refused and reported.
