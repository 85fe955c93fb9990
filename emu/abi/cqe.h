/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion queue entries of 64 bytes. The entry in slot i is valid for consumer index c (c & mask
 * == i) when its sequence equals c + 1; the device stores the sequence last. A region starts
 * zeroed, so nothing is valid at the start.
 *
 * A send's slot is given back before its completion is published; the client counts it as occupied
 * until it has polled that completion. wqe_index tells it which requests leave the queue then, and
 * whether one is missing when the daemon died between the two.
 * SKIP: set by the client on entries of a QP that it destroyed; polling steps over them.
 */
#ifndef UHCA_ABI_CQE_H
#define UHCA_ABI_CQE_H

#include <assert.h>
#include <stdint.h>

/* Completion status: the values of enum ibv_wc_status. */
enum {
	UHCA_ABI_WC_SUCCESS = 0,
	UHCA_ABI_WC_LOC_LEN_ERR = 1,
	UHCA_ABI_WC_LOC_QP_OP_ERR = 2,
	UHCA_ABI_WC_LOC_EEC_OP_ERR = 3,
	UHCA_ABI_WC_LOC_PROT_ERR = 4,
	UHCA_ABI_WC_WR_FLUSH_ERR = 5,
	UHCA_ABI_WC_MW_BIND_ERR = 6,
	UHCA_ABI_WC_BAD_RESP_ERR = 7,
	UHCA_ABI_WC_LOC_ACCESS_ERR = 8,
	UHCA_ABI_WC_REM_INV_REQ_ERR = 9,
	UHCA_ABI_WC_REM_ACCESS_ERR = 10,
	UHCA_ABI_WC_REM_OP_ERR = 11,
	UHCA_ABI_WC_RETRY_EXC_ERR = 12,
	UHCA_ABI_WC_RNR_RETRY_EXC_ERR = 13,
	UHCA_ABI_WC_LOC_RDD_VIOL_ERR = 14,
	UHCA_ABI_WC_REM_INV_RD_REQ_ERR = 15,
	UHCA_ABI_WC_REM_ABORT_ERR = 16,
	UHCA_ABI_WC_INV_EECN_ERR = 17,
	UHCA_ABI_WC_INV_EEC_STATE_ERR = 18,
	UHCA_ABI_WC_FATAL_ERR = 19,
	UHCA_ABI_WC_RESP_TIMEOUT_ERR = 20,
	UHCA_ABI_WC_GENERAL_ERR = 21,
};

/*
 * Vendor error of a completion that is not a success: where it was found. With BY_PEER the second
 * byte is the syndrome of the NAK (9.7.5.1.1).
 */
enum {
	UHCA_ABI_FOUND_IN_REQUEST = 1,  /* the request itself, before it was sent whole */
	UHCA_ABI_FOUND_BY_PEER = 2,     /* a NAK */
	UHCA_ABI_FOUND_BY_TIMER = 3,    /* no answer, however often it was sent */
	UHCA_ABI_FOUND_BY_RNR = 4,      /* the peer was never ready */
	UHCA_ABI_FOUND_IN_RESPONSE = 5, /* the answer makes no sense, or has no place here */
	UHCA_ABI_FOUND_IN_RECEIVE = 6,  /* what arrived does not fit the receive request */
	UHCA_ABI_FOUND_IN_FLUSH = 7,    /* not begun: the QP had gone to an error state */
	UHCA_ABI_FOUND_DEVICE_GONE = 8, /* flushed by the library: the daemon or device is gone */
};

/* Completion opcode: the values of enum ibv_wc_opcode. */
enum {
	UHCA_ABI_WC_SEND = 0,
	UHCA_ABI_WC_RDMA_WRITE = 1,
	UHCA_ABI_WC_RDMA_READ = 2,
	UHCA_ABI_WC_COMP_SWAP = 3,
	UHCA_ABI_WC_FETCH_ADD = 4,
	UHCA_ABI_WC_BIND_MW = 5,
	UHCA_ABI_WC_LOCAL_INV = 6,
	UHCA_ABI_WC_FLUSH = 8,
	UHCA_ABI_WC_ATOMIC_WRITE = 9,
	/* Ours (uhcadv.h): no bit of RECV, beyond what verbs has. */
	UHCA_ABI_WC_REG_MR = 64,
	UHCA_ABI_WC_REG_INTERLEAVED = 65,
	UHCA_ABI_WC_REG_SG = 66,
	UHCA_ABI_WC_READ_WITH_INV = 67,
	UHCA_ABI_WC_MASKED_CMP_SWP = 68,
	UHCA_ABI_WC_MASKED_FETCH_ADD = 69,
	UHCA_ABI_WC_RECV = 128,
	UHCA_ABI_WC_RECV_RDMA_WITH_IMM = 129,
};

/* Completion flags: the values of enum ibv_wc_flags, then our own from bit 8. */
enum {
	UHCA_ABI_WC_GRH = 1u << 0,
	UHCA_ABI_WC_WITH_IMM = 1u << 1,
	UHCA_ABI_WC_IP_CSUM_OK = 1u << 2,
	UHCA_ABI_WC_WITH_INV = 1u << 3,
	UHCA_ABI_WC_SKIP = 1u << 9,
	UHCA_ABI_WC_SOLICITED = 1u << 10,
	UHCA_ABI_WC_COPY_ON_POLL = 1u << 12, /* the client copies the payload, see copy_on_poll.h */
	UHCA_ABI_WC_RECV_INVERTED =
		1u << 11, /* the opcode is garbage, and of the other queue's kind */
};

struct uhca_abi_cqe {
	uint64_t wr_id;
	uint32_t qpn;
	uint32_t src_qp;
	uint32_t byte_len;
	uint32_t imm; /* immediate data (big-endian) or the invalidated R_Key */
	uint8_t status;
	uint8_t opcode;
	uint16_t flags;
	uint32_t vendor_err;
	uint32_t copy_on_poll; /* with its flag: the slot that has the payload */
	uint32_t srqn;         /* of a receive from an XRC SRQ: its number, else 0 */
	uint64_t timestamp;    /* nanoseconds of the device clock */
	uint16_t pkey_index;
	uint16_t slid;
	uint8_t sl; /* of a datagram: the kind of packet, see responder_ud.c */
	uint8_t dlid_path_bits;
	uint16_t reserved1;
	/* Of a send: the producer index at which it was posted. Of a raw packet: its flow tag. */
	uint32_t wqe_index;
	uint32_t sequence; /* stored last, with release */
};
static_assert(sizeof(struct uhca_abi_cqe) == 64, "one cache line");

#define UHCA_ABI_CQE_SIZE 64u

/* Of a receive queue? RECV_INVERTED stands four bits above what it inverts. */
static inline int uhca_cqe_is_receive(const struct uhca_abi_cqe *e)
{
	return (e->opcode ^ e->flags >> 4) & UHCA_ABI_WC_RECV;
}

/* A receive that brought bytes: what both sides count (region.h, "handled"). */
static inline int uhca_cqe_has_payload(const struct uhca_abi_cqe *e)
{
	return (e->opcode & UHCA_ABI_WC_RECV) && e->byte_len != 0 &&
	       e->status == UHCA_ABI_WC_SUCCESS;
}

#endif
