# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The wire contract, written by tools/generate.py from proto/tenterhook/v1."""
