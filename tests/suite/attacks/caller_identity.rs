// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Callers whose process ancestry is unknown, cut or in another namespace are refused by the gate.
