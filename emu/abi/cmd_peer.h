/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QUERY_PEER: what the daemon knows of the queue pair at the other end, and why a request failed
 * there. For the sanitizer, which asks when something has failed and once for each connection.
 *
 * The peer is a queue pair of any device of the daemon. Nothing is told of another user's (the user
 * is the kernel's word, SO_PEERCRED). See cmd_header.h.
 */
#ifndef UHCA_ABI_CMD_PEER_H
#define UHCA_ABI_CMD_PEER_H

#include "cause.h"
#include "cmd_queue.h"

struct uhca_cmd_query_peer {
	struct uhca_cmd_request h;
	uint32_t handle; /* of the asking QP */
	/* Of a datagram: where it goes. 0 for a connected QP, whose peer modify_qp has named. */
	uint32_t ah;
	uint32_t qpn;
	uint32_t status; /* UHCA_ABI_WC_* of the completion that is to be explained; 0: none */
};
static_assert(sizeof(struct uhca_cmd_query_peer) == 32, "query_peer");

enum uhca_abi_peer {
	UHCA_ABI_PEER_NONE,    /* the QP was told of none */
	UHCA_ABI_PEER_FOREIGN, /* no device of this daemon has the address */
	UHCA_ABI_PEER_ABSENT,  /* the device has no such QP */
	UHCA_ABI_PEER_OTHERS,  /* it is another user's */
	UHCA_ABI_PEER_KNOWN
};

/* One end. The numbers of attr are those that modify_qp set, its state is that of now. */
struct uhca_abi_end {
	uint64_t guid; /* of its device, as query_device has it */
	char device[32];
	uint32_t qpn;
	uint32_t qp_type; /* enum ibv_qp_type */
	uint32_t pid;     /* as the daemon sees it */
	uint32_t recvs;   /* receive requests that wait */
	uint32_t srq;     /* handle of where they wait; 0: its own queue */
	uint32_t reserved;
	uint64_t heard; /* packets that it has taken */
	struct uhca_abi_qp_attr attr;
};
static_assert(sizeof(struct uhca_abi_end) == 216, "end");

struct uhca_cmd_query_peer_reply {
	struct uhca_cmd_reply h;
	uint32_t found; /* enum uhca_abi_peer */
	/*
	 * Where the peer is not KNOWN, or names another: a QP of the same user that names the
	 * asking one as its peer, and the address it sends from. 0: there is none.
	 */
	uint32_t partner;
	uint32_t names_back; /* 1: the peer names the asking QP and its address as its own peer */
	uint32_t reserved;
	char partner_device[32];
	uint8_t partner_address[16];
	struct uhca_abi_end mine;
	struct uhca_abi_end peer; /* guid and qpn also of one that is ABSENT */
	/*
	 * Why the request failed. Of what the peer refused or dropped it is the peer's reason; with
	 * an address handle and no status, why the peer dropped a datagram the last time.
	 * NONE: not known, or another user's.
	 */
	struct uhca_abi_cause cause;
};
static_assert(sizeof(struct uhca_cmd_query_peer_reply) == 592, "query_peer reply");

#endif
