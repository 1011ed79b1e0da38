// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A working directory in a tool's arguments is where its command is judged.
