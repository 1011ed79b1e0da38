// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Comments, strings and unrelated options do not switch a rule off.
