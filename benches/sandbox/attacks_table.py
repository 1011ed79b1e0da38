# SPDX-License-Identifier: Apache-2.0 OR MIT
"""All attacks, in the order of the table."""

import attacks_files
import attacks_later
import attacks_network
import attacks_processes
from registry import ATTACKS

__all__ = ["ATTACKS", "attacks_files", "attacks_later", "attacks_network", "attacks_processes"]
