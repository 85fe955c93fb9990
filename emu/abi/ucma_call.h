/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rdma_cm device between the preload library and the daemon. An open of the device is a
 * connection to the SEQPACKET socket UHCA_UCMA_SOCKET of the instance; it is the descriptor that
 * the program has, so it lives as long as the program keeps it, through dup, fork and exec.
 *
 * From program to daemon: a request (the kernel's command as it was written, struct
 * rdma_ucm_cmd_hdr and what follows, behind struct uhca_ucma_request) with a descriptor of a
 * socket on which the reply is wanted: one end of a pair (socketpair(2), SEQPACKET). Thus nothing
 * but the token is ever read from the connection.
 *
 * From daemon to program: the token, one byte, of which there is at most one: it is there while
 * events wait, so the descriptor is readable exactly then. Who has received it must ask for an
 * event, or bring it back; then the daemon sends it again if there are more.
 */
#ifndef UHCA_ABI_UCMA_CALL_H
#define UHCA_ABI_UCMA_CALL_H

#include <assert.h>
#include <stdint.h>

#define UHCA_UCMA_SOCKET "cm"
#define UHCA_UCMA_MAGIC  0x616d6375u

/* Longest request with its header, and longest reply. */
#define UHCA_UCMA_MAX 1024

enum {
	/*
	 * The second descriptor is the connection itself; what follows is the program's name, and
	 * behind a NUL the devices that it may use, "mlx5_0,mlx5_1", unless it may use all.
	 */
	UHCA_UCMA_HELLO = 0x10000,
	UHCA_UCMA_TOKEN = 0x10001, /* the token comes back unused */
};

struct uhca_ucma_request {
	uint32_t magic;
	uint32_t cmd;    /* RDMA_USER_CM_CMD_*, or one of the above */
	uint32_t length; /* of what follows */
	uint32_t option; /* SET_OPTION: bytes of it that are the option's value, at its end */
};
static_assert(sizeof(struct uhca_ucma_request) == 16, "request header");

/* Bits of uhca_ucma_reply.flags. */
enum {
	UHCA_UCMA_TAKE_TOKEN = 1u << 0, /* the last event (MIGRATE_ID: of the old file) is gone:
					   take the token and bring it back */
};

struct uhca_ucma_reply {
	int32_t status;  /* 0 or -errno */
	uint32_t length; /* of the response that follows; of a failed command's reason, with NUL */
	uint32_t flags;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_ucma_reply) == 16, "reply header");

#endif
