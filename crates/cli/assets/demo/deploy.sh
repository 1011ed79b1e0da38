# SPDX-License-Identifier: Apache-2.0 OR MIT
echo "deployed to $1"
