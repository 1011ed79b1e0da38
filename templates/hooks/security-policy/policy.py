# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Denies commands that match a pattern. The event is on standard input, the answer goes to standard output."""

import json
import re
import sys

DANGEROUS = [
    r"\brm\s+-[a-z]*r[a-z]*f?[a-z]*\s+/(\s|$)",
    r"\bmkfs(\.\w+)?\b",
    r"\bdd\b.*\bof=/dev/",
    r">\s*/dev/(sd|nvme|disk)",
]

event = json.load(sys.stdin)
args = event["tool"].get("args", {})
command = args.get("command", "")
if isinstance(command, list):
    command = " ".join(command)

for pattern in DANGEROUS:
    if re.search(pattern, command):
        reason = f"this command matches `{pattern}`, which the security policy does not allow"
        print(json.dumps({"decision": "deny", "reason": reason, "nudge": "ask the user to run it"}))
        break
