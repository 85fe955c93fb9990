/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All control messages (cmd_header.h has the protocol), and those of contexts, channels, address
 * handles and multicast groups.
 */
#ifndef UHCA_ABI_CMD_H
#define UHCA_ABI_CMD_H

#include "cmd_counter.h"
#include "cmd_fault.h"
#include "cmd_header.h"
#include "cmd_import.h"
#include "cmd_memory.h"
#include "cmd_peer.h"
#include "cmd_query.h"
#include "cmd_queue.h"
#include "cmd_raw.h"
#include "cmd_xrc.h"

/*
 * HELLO, the first message. Descriptors in the request, in this order: the client's own
 * /proc/self/mem (read-write), the daemon's end of the async event channel. Descriptors in the
 * reply: status page, doorbell region, event fd to ring when need_wakeup is set, active doorbells.
 */
struct uhca_cmd_hello {
	struct uhca_cmd_request h;
	uint32_t magic;
	uint32_t version; /* UHCA_ABI_VERSION; another is refused with -EPROTO */
	char device[32];  /* "uhca0" */
	char program[32]; /* for uhcactl show client */
	uint32_t pid;     /* as the client sees it; the daemon uses SO_PEERCRED where it can */
	/* Why there is no descriptor of its memory (errno): any other stands in its place. 0: it
	 * is. */
	uint32_t mem_error;
};
static_assert(sizeof(struct uhca_cmd_hello) == 96, "hello");

struct uhca_cmd_hello_reply {
	struct uhca_cmd_reply h;
	uint32_t client;
	uint32_t gather_limit; /* bytes: gather payloads up to this at post time; 0 = never */
	uint32_t pin;          /* enum uhca_abi_pin: which memory is to be pinned */
	uint32_t reserved;
	/*
	 * Where the client maps a private page of its own before it does anything else: by that
	 * page process_vm_writev(2) knows this address space. 0: it is not asked for. Without it
	 * the daemon uses the descriptor.
	 */
	uint64_t marker;
};
static_assert(sizeof(struct uhca_cmd_hello_reply) == 40, "hello reply");

/* Reply of the destroy commands and of modify: the header alone. */

/* CREATE_CHANNEL carries one descriptor, the daemon's end; the reply names it by a handle. */

struct uhca_cmd_create_ah {
	struct uhca_cmd_request h;
	uint32_t pd;
	uint32_t reserved;
	struct uhca_abi_ah_attr attr;
};
static_assert(sizeof(struct uhca_cmd_create_ah) == 56, "create_ah");

struct uhca_cmd_mcast {
	struct uhca_cmd_request h;
	uint32_t qp;
	uint16_t mlid;
	uint16_t reserved;
	uint8_t gid[16];
};
static_assert(sizeof(struct uhca_cmd_mcast) == 40, "mcast");

#endif
