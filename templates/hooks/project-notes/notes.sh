#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 OR MIT
# Runs in the agent's working directory.
[ -f AGENT-NOTES.md ] || exit 0
python3 -c 'import json, sys; print(json.dumps({"context": sys.stdin.read()[:8000]}))' <AGENT-NOTES.md
