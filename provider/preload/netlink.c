/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the kernel's RDMA core is loaded, libibverbs and librdmacm ask it for devices by netlink
 * and look into sysfs only when that fails. The emulated devices are in sysfs only, so the socket
 * is refused with what a kernel without RDMA says.
 */
#include "real.h"

#include <errno.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int socket(int domain, int type, int protocol)
{
	if (domain == AF_NETLINK && protocol == NETLINK_RDMA && uhca_root()) {
		errno = EPROTONOSUPPORT;
		return -1;
	}
	return UHCA_REAL(socket)(domain, type, protocol);
}
