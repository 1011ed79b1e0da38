#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# sandbox-runtime: the project and /tmp writable, credentials and the guard's state not readable, no network.
settings="$HOME/.srt-settings.json"
cat > "$settings" <<EOF
{"filesystem": {"denyRead": ["~/.ssh", "~/.aws", "~/.local/state/tenterhook/ledger"], "allowWrite": [".", "/tmp"], "denyWrite": []},
 "network": {"allowedDomains": [], "deniedDomains": []}}
EOF
exec "${SRT:-srt}" --settings "$settings" "$@"
