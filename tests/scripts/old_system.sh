#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The tarball is built on Debian 11. So nothing uses what its headers of the kernel (Linux 5.10) or
# its glibc (2.31) lack.
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
newer='sig(abbrev|descr)_np|strerror(name|desc)_np|closefrom|close_range|pidfd_[a-z_]*|arc4random.*'
newer="$newer|_Fork|strl(cpy|cat)"
nm -uA "$UHCA_BUILDDIR"/*.a 2>/dev/null | grep -E " U ($newer)\$" && {
	echo 'FAIL glibc 2.31 lacks these functions'
	status=1
}
exit $status
