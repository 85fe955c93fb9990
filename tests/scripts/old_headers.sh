#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The tarball is built with the kernel's headers of Debian 11 (Linux 5.10). So provider/nldev uses
# no name of rdma_netlink.h that came later.
set -u
cd "${UHCA_SRCDIR:?}" || exit 1
old=$(mktemp) || exit 1
trap 'rm -f "$old"' EXIT
cat >"$old" <<'EOF'
#include <rdma/rdma_netlink.h>
#pragma GCC poison RDMA_NLDEV_CMD_RES_CTX_GET RDMA_NLDEV_ATTR_RES_CTX RDMA_NLDEV_ATTR_RES_CTX_ENTRY
#pragma GCC poison RDMA_NLDEV_CMD_RES_SRQ_GET RDMA_NLDEV_ATTR_RES_SRQ RDMA_NLDEV_ATTR_RES_SRQ_ENTRY
#pragma GCC poison RDMA_NLDEV_ATTR_RES_SRQN
EOF
status=0
for file in provider/nldev/*.c; do
	gcc -x c -std=gnu11 -D_GNU_SOURCE -I. -I"${UHCA_BUILDDIR:?}" -fsyntax-only \
		-include "$old" "$file" || status=1
done
exit $status
