# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Adds up the cost of a session in a small file under ~/.cache/tenterhook-cost."""

import fcntl
import json
import os
import re
import sys

event = json.load(sys.stdin)
response = event.get("detail", {}).get("model_response") or {}
usage = response.get("usage") or response.get("usageMetadata") or {}
input_tokens = usage.get("input_tokens") or usage.get("prompt_tokens") or usage.get("promptTokenCount") or 0
output_tokens = usage.get("output_tokens") or usage.get("completion_tokens") or usage.get("candidatesTokenCount") or 0
price = input_tokens * float(os.environ["COST_INPUT"]) / 1e6 + output_tokens * float(os.environ["COST_OUTPUT"]) / 1e6

folder = os.path.join(os.path.expanduser("~"), ".cache", "tenterhook-cost")
os.makedirs(folder, mode=0o700, exist_ok=True)
session = re.sub(r"[^A-Za-z0-9_-]", "_", event.get("harness_session_id") or "unknown")[:100]
with open(os.path.join(folder, f"{session}.json"), "a+", encoding="utf-8") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    file.seek(0)
    before = json.loads(file.read() or '{"tokens": 0, "cost": 0}')
    after = {"tokens": before["tokens"] + input_tokens + output_tokens, "cost": before["cost"] + price}
    file.seek(0)
    file.truncate()
    file.write(json.dumps(after))

limit = float(os.environ["COST_LIMIT"])
if before["cost"] <= limit < after["cost"]:
    print(json.dumps({"message": f"this session has cost more than ${limit:.2f}: ${after['cost']:.2f}"}))
