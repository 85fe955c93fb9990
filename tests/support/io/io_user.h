/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that uses a device of a daemon in this process, without the provider: objects by
 * control messages, work requests laid into the shared rings as emu/abi says, doorbells,
 * completions. Making and destroying runs the daemon's loop (io_fixture.h); posting and polling
 * touches shared memory only, so that it works beside a loop in another thread.
 */
#ifndef TESTS_SUPPORT_IO_USER_H
#define TESTS_SUPPORT_IO_USER_H

#include "emu/abi/cqe.h"
#include "emu/abi/wqe.h"
#include "io_fixture.h"

#include <infiniband/verbs.h>

#define IO_USER_WR     64u
#define IO_USER_MEMORY 16384u

struct io_user {
	struct io_test_client c;
	struct io_device *dev;
	struct uhca_abi_status *status;
	struct uhca_abi_doorbell *bell;
	int event;
	uint32_t pd, mr, lkey, rkey;
	uint8_t memory[IO_USER_MEMORY]; /* registered, with all rights */
};

/* A QP with a CQ of its own. */
struct io_user_qp {
	struct io_user *u;
	uint32_t cq, handle, qpn, doorbell, type;
	struct uhca_cmd_create_cq_reply cq_at;
	struct uhca_cmd_create_qp_reply at;
	struct uhca_abi_cq *cq_region;
	struct uhca_abi_queue *region;
	uint32_t send_producer, recv_producer, consumer;
	uint8_t timeout, retry_cnt; /* of connected types: half a second, 7 unless changed */
	uint32_t psn;               /* of both directions: 0 unless changed */
};

void io_user_open(struct io_user *u, struct io_daemon *d, const char *device);
void io_user_close(struct io_user *u);

/* May this process have raw packet QPs? */
bool io_user_may_raw(void);

/* In state INIT. */
void io_user_qp_create(struct io_user_qp *q, struct io_user *u, enum ibv_qp_type type);

/* Gives up user and QP of a daemon that has ended. */
void io_user_forget(struct io_user *u, struct io_user_qp *q);

/* To RTS; connected types towards that QP of a device. */
void io_user_qp_connect(struct io_user_qp *q, const struct io_device *to, uint32_t qpn);

/* With its CQ; must succeed. */
void io_user_qp_destroy(struct io_user_qp *q);

/* Frames that no other rule takes go to this raw packet QP, which goes to RTS. */
void io_user_take_frames(struct io_user_qp *q);

/* One more rule by which the raw packet QP is given every frame. */
void io_user_add_rule(struct io_user_qp *q);

/* A path to the address, of a device or of a multicast group. */
uint32_t io_user_ah(struct io_user *u, const uint8_t dgid[16]);

/* Lays a request into the ring: e's numbers, and the first bytes of the user's memory. No bell. */
void io_user_send(struct io_user_qp *q, struct uhca_abi_send_wqe e, uint32_t length);

/* A receive into the user's memory. */
void io_user_recv(struct io_user_qp *q, uint64_t wr_id, uint32_t offset, uint32_t length);

/* Rings, and wakes a daemon that sleeps. */
void io_user_ring(struct io_user_qp *q);

/* Takes a completion; false when there is none. */
bool io_user_poll(struct io_user_qp *q, struct uhca_abi_cqe *out);

/* What the daemon's loop does in one go, but for its sleep: clients, the wire, devices. */
void io_user_loop_pass(struct io_daemon *d);

/* Waits for one beside a loop in another thread, for IO_TEST_SECONDS at most. */
struct uhca_abi_cqe io_user_await(struct io_user_qp *q);

#endif
