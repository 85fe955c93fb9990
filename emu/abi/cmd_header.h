/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control messages between a client (one opened context) and the daemon: a SEQPACKET Unix socket,
 * one request, one reply, in order. Descriptors travel by SCM_RIGHTS beside the message that
 * names them. The daemon checks each request's size against its command, and that reserved fields
 * are zero; a message it does not understand is answered with -EINVAL or -EOPNOTSUPP and nothing
 * else happens.
 *
 * Attribute values, access flags, states and masks are those of <infiniband/verbs.h>. Handles are
 * the device's: index and generation in one number, valid only for the client that made them.
 */
#ifndef UHCA_ABI_CMD_HEADER_H
#define UHCA_ABI_CMD_HEADER_H

#include <assert.h>
#include <stdint.h>

#define UHCA_ABI_MAX_MESSAGE 16384
#define UHCA_ABI_MAX_FDS     4

/* Bytes of the sentence that says why a call is refused, with its end. */
#define UHCA_ABI_REASON  192
/* The same with the name of the call before it. */
#define UHCA_ABI_REFUSAL (UHCA_ABI_REASON + 48)

enum {
	UHCA_CMD_HELLO = 1,
	UHCA_CMD_QUERY_DEVICE = 2,
	UHCA_CMD_QUERY_PORT = 3,
	UHCA_CMD_QUERY_GID = 4,
	UHCA_CMD_ALLOC_PD = 5,
	UHCA_CMD_DEALLOC_PD = 6,
	UHCA_CMD_REG_MR = 7,
	UHCA_CMD_DEREG_MR = 8,
	UHCA_CMD_CREATE_CHANNEL = 9,
	UHCA_CMD_DESTROY_CHANNEL = 10,
	UHCA_CMD_CREATE_CQ = 11,
	UHCA_CMD_DESTROY_CQ = 12,
	UHCA_CMD_CREATE_QP = 13,
	UHCA_CMD_MODIFY_QP = 14,
	UHCA_CMD_QUERY_QP = 15,
	UHCA_CMD_DESTROY_QP = 16,
	UHCA_CMD_CREATE_SRQ = 17,
	UHCA_CMD_MODIFY_SRQ = 18,
	UHCA_CMD_QUERY_SRQ = 19,
	UHCA_CMD_DESTROY_SRQ = 20,
	UHCA_CMD_CREATE_AH = 21,
	UHCA_CMD_DESTROY_AH = 22,
	UHCA_CMD_ATTACH_MCAST = 23,
	UHCA_CMD_DETACH_MCAST = 24,
	/* cmd_memory.h */
	UHCA_CMD_ALLOC_MW = 25,
	UHCA_CMD_DEALLOC_MW = 26,
	UHCA_CMD_REREG_MR = 27,
	UHCA_CMD_ALLOC_NULL_MR = 28,
	UHCA_CMD_ADVISE_MR = 29,
	UHCA_CMD_ALLOC_DM = 30,
	UHCA_CMD_FREE_DM = 31,
	UHCA_CMD_REG_DM_MR = 32,
	/* cmd_xrc.h */
	UHCA_CMD_OPEN_XRCD = 33,
	UHCA_CMD_CLOSE_XRCD = 34,
	UHCA_CMD_OPEN_QP = 35,
	/* here */
	UHCA_CMD_RESIZE_CQ = 36,
	UHCA_CMD_MODIFY_CQ = 37,
	/* cmd_raw.h */
	UHCA_CMD_CREATE_WQ = 38,
	UHCA_CMD_MODIFY_WQ = 39,
	UHCA_CMD_DESTROY_WQ = 40,
	UHCA_CMD_CREATE_RWQ_IND_TABLE = 41,
	UHCA_CMD_DESTROY_RWQ_IND_TABLE = 42,
	UHCA_CMD_CREATE_FLOW = 43,
	UHCA_CMD_DESTROY_FLOW = 44,
	/* cmd_import.h */
	UHCA_CMD_EXPORT = 45,
	UHCA_CMD_IMPORT = 46,
	/* cmd_memory.h */
	UHCA_CMD_ALLOC_KEY = 47,
	UHCA_CMD_DESCRIBE_KEY = 48,
	UHCA_CMD_REG_SHARED_MR = 49,
	/* cmd_fault.h */
	UHCA_CMD_FAULT_CHECK = 50,
	/* here: names a CQ, see region.h */
	UHCA_CMD_NOTIFY_CQ = 51,
	/* cmd_memory.h */
	UHCA_CMD_ATTACH_ARENA = 52,
	UHCA_CMD_REG_PINNED_MR = 53,
	/* cmd_fault.h */
	UHCA_CMD_REFUSED = 54,
	/* cmd_queue.h */
	UHCA_CMD_RESIZE_SRQ = 55,
	/* cmd_peer.h */
	UHCA_CMD_QUERY_PEER = 56,
	/* cmd_counter.h */
	UHCA_CMD_CREATE_COMP_CNTR = 57,
	UHCA_CMD_DESTROY_COMP_CNTR = 58,
	UHCA_CMD_SET_COMP_CNTR = 59,
	UHCA_CMD_INC_COMP_CNTR = 60,
	UHCA_CMD_ATTACH_COMP_CNTR = 61,
	UHCA_CMD_COUNT
};

struct uhca_cmd_request {
	uint32_t cmd;
	uint32_t size; /* of the whole message */
	uint32_t sequence;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_request) == 16, "request header");

struct uhca_cmd_reply {
	uint32_t cmd;
	uint32_t size;
	uint32_t sequence;
	int32_t status; /* 0 or -errno: then the message is struct uhca_cmd_refusal */
};
static_assert(sizeof(struct uhca_cmd_reply) == 16, "reply header");

/* Of a command that failed: "CALL: why", with an end, in as many bytes as the message has. */
struct uhca_cmd_refusal {
	struct uhca_cmd_reply h;
	char why[UHCA_ABI_REFUSAL];
};
static_assert(sizeof(struct uhca_cmd_refusal) == 256, "refusal");

/* A command without arguments, and one that names one object. */
struct uhca_cmd_handle {
	struct uhca_cmd_request h;
	uint32_t handle; /* object; for QUERY_PORT the port number, 0 where nothing is named */
	uint32_t index;  /* QUERY_GID: table index; else 0 */
};
static_assert(sizeof(struct uhca_cmd_handle) == 24, "handle request");

struct uhca_cmd_handle_reply {
	struct uhca_cmd_reply h;
	uint32_t handle;
	uint32_t reserved;
};
static_assert(sizeof(struct uhca_cmd_handle_reply) == 24, "handle reply");

#endif
