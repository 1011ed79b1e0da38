// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Files that others can write (links, pipes, devices, endless files) neither hang nor crash the guard.
