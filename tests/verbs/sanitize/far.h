/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs of two processes share: each has a device (the server the last one there is, the
 * client the first), a queue pair and memory, and they tell each other of them by a socket. What
 * cannot be done ends the program with status 2.
 */
#ifndef FAR_H
#define FAR_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define FAR_MEMORY 65536
#define FAR_DEPTH  16
#define FAR_QKEY   0x01234567u /* that of rdma_cm */
#define FAR_ALL                                                                                    \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)

struct rdma_cm_id;

/* What one end tells the other. */
struct far_word {
	union ibv_gid gid;
	uint64_t addr;
	uint32_t qpn, rkey;
};

struct far {
	bool server;
	int sock; /* to the other process */
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr; /* of all its memory */
	char *memory;
	struct far_word here, there;
	unsigned received; /* receives that were posted: each has memory of its own */
	struct rdma_cm_id *id, *listener; /* NULL: not connected by rdma_cm */
};

/* The queue pair's values; those of far_usual fit on both ends. */
struct far_link {
	enum ibv_mtu mtu;
	int access;
	uint32_t sq_psn, rq_psn, qkey;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
};
struct far_link far_usual(void);

/* Where FAR_BY_CM is in the environment far_connect does so, in programs that have far_cm.c. */
void far_cm_connect(struct far *f, struct far_link how) __attribute__((weak));
void far_cm_end(struct far *f) __attribute__((weak));

/* Forks, before anything of verbs is done: the child is the server. Opens both, told of each other.
 */
void far_open(struct far *f, enum ibv_qp_type type);

/* The same in steps, for those who want something else in between. */
void far_fork(struct far *f);
void far_open_device(struct far *f);
struct ibv_qp *far_qp(struct far *f, enum ibv_qp_type type, struct ibv_pd *pd, struct ibv_srq *srq);
void far_exchange(struct far *f);

/* To INIT, RTR, RTS; far_connect does all, and comes back when the other end has, too. */
void far_init(struct far *f, struct far_link how);
void far_rtr(struct far *f, struct far_link how);
void far_rts(struct far *f, struct far_link how);
void far_connect(struct far *f, struct far_link how);

/* Waits until the other end is there. */
void far_meet(struct far *f);

/* Posts: to the begin of the other's memory, and from the begin of its own. */
void far_post(struct far *f, enum ibv_wr_opcode opcode, uint32_t length);
void far_post_to(struct far *f, enum ibv_wr_opcode opcode, uint32_t length, uint64_t addr,
		 uint32_t rkey);
/* At most 8, of at most 4096 bytes each, in the other half. */
void far_recv(struct far *f, uint32_t length);

/* The status of the next completion. */
enum ibv_wc_status far_wait(struct far *f);

/* Waits until the other end has closed. */
void far_hear_end(struct far *f);

/* Destroys all. The client comes back when the server has ended well, the server does not. */
void far_close(struct far *f);

#endif
