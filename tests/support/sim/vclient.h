/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A verbs client without a daemon: plays the provider's role against core.h in one process. It
 * builds the control messages, lays work requests into the rings exactly as emu/abi says, rings
 * doorbells, polls completion rings and arms them. What a client can do wrong it can do wrong
 * too: nothing here checks what the device should.
 *
 * Objects are plain structs in the caller's memory; vclient_close frees what the device holds,
 * whatever the order.
 */
#ifndef SUPPORT_VCLIENT_H
#define SUPPORT_VCLIENT_H

#include "emu/abi/copy_on_poll.h"
#include "emu/abi/cqe.h"
#include "emu/abi/region.h"
#include "emu/abi/wqe.h"
#include "emu/core/core.h"
#include "memory.h"

#include <infiniband/verbs.h>

/* A device as its clients see it; whoever drives the device owns this. */
struct vhost {
	struct device *dev;
	const uint64_t *now;
	bool dirty;         /* something was done to the device: ask it for bursts */
	uint8_t gid[2][16]; /* IPv4-mapped, IPv6 */
	unsigned index;
};

/* One record of an event channel. */
struct vevent {
	uint64_t element; /* cookie of the object: its address here */
	uint32_t type;    /* async: UHCA_ABI_EVENT_*; completion channel: the channel */
};

struct vevents {
	struct vevent *list;
	unsigned n, room, taken;
};

struct vclient {
	struct vhost *host;
	struct client *core;
	struct memory mem;
	struct vevents comp;
	struct vevents async;
	uint32_t pd;               /* made by vclient_open */
	unsigned rings;            /* allocated and not freed */
	bool takes_copies_on_poll; /* by the CQs that are made from now on (abi/copy_on_poll.h) */
};

struct vmr {
	uint64_t addr, length;
	uint32_t handle, lkey, rkey;
};

struct vmw {
	uint32_t handle, rkey;
};

struct vcq {
	struct vclient *c;
	uint32_t handle;
	uint32_t cqe, entries, stride;
	uint32_t consumer;
	struct core_ring ring;
	struct uhca_abi_cq *page;
	uint8_t *slots;
	struct uhca_abi_copy_on_poll *copies_on_poll; /* NULL: none */
};

/* The client's end of one ring. */
struct vring {
	struct uhca_abi_queue_layout at;
	struct uhca_abi_ring *ring;
	uint8_t *base; /* of the region */
	uint32_t producer;
	uint32_t max_wr, max_sge;
};

struct vsrq {
	struct vclient *c;
	uint32_t handle, srq_num;
	struct core_ring region;
	struct vring recv;
};

struct vqp {
	struct vclient *c;
	enum ibv_qp_type type;
	uint32_t handle, qpn, doorbell;
	uint32_t max_inline;
	struct vcq *send_cq, *recv_cq;
	struct vsrq *srq;
	struct core_ring region;
	struct uhca_abi_queue *page;
	struct vring send, recv;
};

/* What a new QP asks for; zero means a useful default (RC, 64 requests, 4 elements, own PD). */
struct vqp_init {
	enum ibv_qp_type type;
	struct vcq *send_cq, *recv_cq;
	struct vsrq *srq;
	uint32_t pd;
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data;
	bool sq_sig_all;
	uint32_t xrcd; /* XRC_RECV */
	uint32_t create_flags;
};

/* Attributes of a connection; zeros do not mean defaults: start from vqp_conn_default. */
struct vqp_conn {
	enum ibv_mtu mtu;
	uint32_t sq_psn, rq_psn; /* of the QP that is being modified */
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	uint32_t access;
	uint32_t qkey;     /* UD */
	uint8_t gid_index; /* 0: IPv4, 1: IPv6 */
};

enum vpost_mode { VPOST_PLAIN, VPOST_INLINE, VPOST_GATHERED };

/* A send work request. */
struct vsend {
	uint64_t wr_id;
	uint8_t opcode; /* UHCA_ABI_WR_* */
	uint16_t flags; /* UHCA_ABI_SEND_SIGNALED, _SOLICITED, _FENCE */
	uint32_t imm;
	enum vpost_mode mode;
	const struct uhca_abi_sge *sge;
	uint32_t num_sge;
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t compare_add, swap;
	uint32_t ah, remote_qpn, remote_qkey;
	uint32_t xrc_srqn;
	uint64_t flush_length;
	uint8_t flush_type, flush_level;
	struct {
		const void *operands; /* in host order; "bytes" of them go to the data area */
		uint32_t bytes, size;
	} masked;
	struct {
		uint64_t addr, length;
		uint32_t mr_lkey, mw_rkey, new_rkey, access;
	} bind;
	/* REG_*: the description, and its list for the data area */
	struct uhca_abi_layout reg;
	const void *list;
	uint32_t list_bytes;
};

struct vrecv {
	uint64_t wr_id;
	const struct uhca_abi_sge *sge;
	uint32_t num_sge;
};

/* ---- the client ---- */

/* Opens a context with one PD. Allocation failures abort: this is a test. */
void vclient_open(struct vclient *c, struct vhost *host, uint32_t window, uint64_t seed);

/* Process death: everything goes; asserts that all rings came back. */
void vclient_close(struct vclient *c);

/* Registers and tells the memory double what the region grants. 0 or -errno. */
int vclient_reg_mr(struct vclient *c, uint64_t addr, uint64_t length, uint32_t access,
		   struct vmr *out);
int vclient_reg_mr_pd(struct vclient *c, uint32_t pd, const struct vmr *range, uint32_t access,
		      struct vmr *out);
int vclient_dereg_mr(struct vclient *c, const struct vmr *mr);

/* type: 1 or 2. 0 or -errno. */
int vclient_alloc_mw(struct vclient *c, uint32_t pd, uint32_t type, struct vmw *out);
int vclient_dealloc_mw(struct vclient *c, const struct vmw *mw);

/* A key without memory. 0 or -errno; freed by vclient_dereg_mr. */
int vclient_alloc_key(struct vclient *c, uint32_t pd, uint32_t max_entries, struct vmr *out);
/* 0 or -errno. */
int vclient_describe_key(struct vclient *c, uint32_t shape, const struct uhca_abi_layout *layout,
			 const void *list, uint32_t bytes);

/* Towards the host, from and to its IPv4 (0) or IPv6 (1) address. */
int vclient_create_ah(struct vclient *c, const struct vhost *to, uint8_t gid_index,
		      uint32_t *handle);

/* Takes the oldest record that was not taken yet; false when there is none. */
bool vevents_take(struct vevents *e, struct vevent *out);
unsigned vevents_left(const struct vevents *e);

/* Number of async events of the type for this object so far, taken or not. */
unsigned vevents_count(const struct vevents *e, uint32_t type, const void *object);

/* The part of core_ops that concerns clients; random and trace are the host's. */
void vclient_fill_ops(struct core_ops *ops);

/* ---- completion queues ---- */

/* channel: any number but 0, or 0 for none. */
int vcq_create(struct vclient *c, uint32_t cqe, uint32_t channel, struct vcq *out);
int vcq_destroy(struct vcq *cq);

/* Takes one entry; false when there is none. */
bool vcq_poll(struct vcq *cq, struct uhca_abi_cqe *out);

/* Asks for one event, as ibv_req_notify_cq. */
void vcq_arm(struct vcq *cq, bool solicited_only);

/* ---- queue pairs and shared receive queues (vqp.c) ---- */

int vqp_create(struct vclient *c, const struct vqp_init *init, struct vqp *out);
int vqp_destroy(struct vqp *qp);
int vqp_modify(struct vqp *qp, uint32_t mask, const struct uhca_abi_qp_attr *attr);
int vqp_to_state(struct vqp *qp, enum ibv_qp_state state);
enum ibv_qp_state vqp_state(struct vqp *qp);

struct vqp_conn vqp_conn_default(void);

/* RESET to RTS towards the QP number at the host; the exact masks that verbs requires. */
int vqp_init(struct vqp *qp, const struct vqp_conn *conn);
int vqp_rtr(struct vqp *qp, const struct vqp_conn *conn, const struct vhost *to, uint32_t qpn);
int vqp_rts(struct vqp *qp, const struct vqp_conn *conn);

/* Both directions: b gets the mirrored PSNs. Asserts success. */
void vqp_connect(struct vqp *a, struct vqp *b, const struct vqp_conn *conn);

/* A datagram QP, up to RTS. Asserts success. */
void vqp_activate(struct vqp *qp, const struct vqp_conn *conn);

int vsrq_create(struct vclient *c, uint32_t max_wr, uint32_t max_sge, uint32_t limit,
		struct vsrq *out);
/* Completes to the CQ. */
int vsrq_create_xrc(struct vclient *c, uint32_t xrcd, struct vcq *cq, uint32_t max_wr,
		    struct vsrq *out);
int vsrq_destroy(struct vsrq *srq);
int vsrq_arm(struct vsrq *srq, uint32_t limit);

/* The domain of a file, made when there is none; file NULL: a private one. */
int vxrcd_open(struct vclient *c, const uint64_t file[2], uint32_t *handle);

/* ibv_open_qp: *out is a further handle of the receiving QP. */
int vqp_open(struct vclient *c, uint32_t xrcd, uint32_t qpn, struct vqp *out);

/* ---- posting (vpost.c): 0, -ENOMEM (ring full) or -EINVAL ---- */

int vqp_post_send(struct vqp *qp, const struct vsend *wr);
int vqp_post_recv(struct vqp *qp, const struct vrecv *wr);
int vsrq_post_recv(struct vsrq *srq, const struct vrecv *wr);

/* Lays the request into the ring but rings no doorbell; vqp_doorbell does. */
int vqp_queue_send(struct vqp *qp, const struct vsend *wr);
void vqp_doorbell(struct vqp *qp);

/* Send requests the device has not retired. */
uint32_t vqp_send_used(const struct vqp *qp);

/* Receives of the SRQ that no QP has taken. */
uint32_t vsrq_recv_used(const struct vsrq *srq);

#endif
