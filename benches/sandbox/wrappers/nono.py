# SPDX-License-Identifier: Apache-2.0 OR MIT
"""nono through its Python binding: reads system directories, writes the project and `/tmp`, no network.

    PYTHON_WITH_NONO_PY nono.py COMMAND…
"""

import os
import sys

import nono_py
from nono_py import AccessMode, CapabilitySet

capabilities = CapabilitySet()
for path in ("/usr", "/bin", "/lib", "/lib64", "/etc", "/proc", "/sys", "/opt", "/var", "/run"):
    if os.path.isdir(path):
        capabilities.allow_path(path, AccessMode.READ)
for path in (os.environ["PROJECT"], "/tmp", "/dev"):
    capabilities.allow_path(path, AccessMode.READ_WRITE)
if os.path.exists(git_config := os.path.join(os.environ["HOME"], ".gitconfig")):
    capabilities.allow_file(git_config, AccessMode.READ)
capabilities.block_network()
nono_py.apply(capabilities)
os.execvp(sys.argv[1], sys.argv[1:])
