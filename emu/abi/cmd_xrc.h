/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control messages of extended reliable connections: domains and shared receiving QPs. See
 * cmd_header.h; XRC SRQs and QPs are made with create_srq and create_qp of cmd_queue.h.
 */
#ifndef UHCA_ABI_CMD_XRC_H
#define UHCA_ABI_CMD_XRC_H

#include "cmd_header.h"

/*
 * OPEN_XRCD. Carries one descriptor: the file that names the domain (the daemon looks at its
 * inode), or, with unshared set, any file. The reply is a handle.
 */
enum {
	UHCA_ABI_XRCD_CREATE = 1u << 0,    /* O_CREAT */
	UHCA_ABI_XRCD_EXCLUSIVE = 1u << 1, /* O_EXCL */
};

struct uhca_cmd_open_xrcd {
	struct uhca_cmd_request h;
	uint32_t oflags;   /* UHCA_ABI_XRCD_* */
	uint32_t unshared; /* 1: fd was -1, a domain of this client alone */
};
static_assert(sizeof(struct uhca_cmd_open_xrcd) == 24, "open_xrcd");

/* OPEN_QP: a further handle for an XRC_RECV QP of the domain. */
struct uhca_cmd_open_qp {
	struct uhca_cmd_request h;
	uint64_t cookie;
	uint32_t xrcd;
	uint32_t qpn;
	uint32_t qp_type;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_open_qp) == 40, "open_qp");

/* Carries one descriptor: a region without queues, as create_qp gives for such a QP. */
struct uhca_cmd_open_qp_reply {
	struct uhca_cmd_reply h;
	uint32_t handle;
	uint32_t qp_state;
	uint64_t region_size;
};
static_assert(sizeof(struct uhca_cmd_open_qp_reply) == 32, "open_qp reply");

#endif
