# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Denies keys in environment files."""

import json
import os
import re
import sys

SECRET = re.compile(r"^\s*(export\s+)?\w*(API_?KEY|SECRET|TOKEN|PASSWORD|PASSWD|PRIVATE_KEY)\w*\s*=\s*\S", re.I | re.M)

args = json.load(sys.stdin)["tool"].get("args", {})
path = args.get("file_path") or args.get("path") or args.get("absolute_path") or ""
name = os.path.basename(path)
is_env = name == ".env" or name.startswith(".env.") or name.endswith(".env")
written = [args.get("content"), args.get("new_string")]
written += [edit.get("new_string") for edit in args.get("edits") or [] if isinstance(edit, dict)]

if is_env and not name.endswith(".example") and any(SECRET.search(text) for text in written if text):
    print(json.dumps({
        "decision": "deny",
        "reason": f"`{name}` would contain a key or a password",
        "nudge": "write the name without its value into .env.example, and let the user fill it in",
    }))
