// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A rule on an MCP server or tool matches however the client spells the name.
