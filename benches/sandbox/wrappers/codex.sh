#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Codex's sandbox with its mode for work in a project, without network.
exec "${CODEX:-codex}" sandbox -c 'sandbox_mode="workspace-write"' -- "$@"
