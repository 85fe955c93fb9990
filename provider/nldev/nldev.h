/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel's RDMA core answers to those who ask for devices and ports by netlink (rdma(8) of
 * iproute2; rdma/rdma_netlink.h, RDMA_NL_NLDEV), for the devices below root.
 */
#ifndef UHCA_NLDEV_H
#define UHCA_NLDEV_H

#include <stddef.h>
#include <stdint.h>

struct uhca_nldev {
	const char *root;
	uint32_t port; /* the asker's port id (netlink(7)) */
	/* Takes each datagram of the answer. */
	void (*send)(void *arg, const void *datagram, size_t len);
	void *arg;
};

/*
 * Answers the requests in the bytes: RDMA_NLDEV_CMD_GET, of one device or of all (NLM_F_DUMP),
 * RDMA_NLDEV_CMD_PORT_GET, of one port or of all of a device, and what resources.h has. An error
 * (nlmsgerr) is -EOPNOTSUPP for anything else, -EINVAL without an index that is needed, -ENODEV for
 * one of nothing. Bytes that are no request are left out.
 */
void uhca_nldev_answer(const struct uhca_nldev *n, const void *bytes, size_t len);

#endif
