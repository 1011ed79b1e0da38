// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An agent cannot have the user's own terminal taken for an agent.
