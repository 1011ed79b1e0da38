// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Another account cannot use a dashboard link, whichever address family it connects with.
