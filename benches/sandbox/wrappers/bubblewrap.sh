#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# The plain bubblewrap recipe: writable home, guard files bound again read-only, ledger hidden.
state="$HOME/.local/state/tenterhook"
exec bwrap --unshare-user --unshare-pid --unshare-ipc --cap-drop ALL --die-with-parent \
    --ro-bind / / --dev /dev --proc /proc \
    --bind "$HOME" "$HOME" --ro-bind "$state" "$state" --ro-bind "$HOME/.claude/settings.json" "$HOME/.claude/settings.json" \
    --tmpfs "$state/ledger" --chdir "$PROJECT" "$@"
