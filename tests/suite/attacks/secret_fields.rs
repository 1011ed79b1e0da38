// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A known secret is redacted in every recorded field and log line.
