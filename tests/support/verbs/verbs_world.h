/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For tests that go through the real libibverbs to a real daemon with two devices (run below
 * uhca-run --private --devices 2): contexts, one object of each kind, QPs that talk to themselves.
 */
#ifndef TESTS_SUPPORT_VERBS_WORLD_H
#define TESTS_SUPPORT_VERBS_WORLD_H

#include <infiniband/verbs.h>
#include <stdint.h>

#define WORLD_SIZE    4096u /* of the memory */
#define WORLD_CQE     64
#define WORLD_WR      8u
#define WORLD_QKEY    0x11u
#define WORLD_TIMEOUT 12  /* short: some tests are about peers that do not answer */
#define WORLD_LIMIT   120 /* seconds until a completion or an event counts as lost */

/* One of each, and a second context on the same device and one on another. */
struct world {
	struct ibv_context *ctx, *same, *other;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	uint8_t *memory;
};

/* For cmocka: *state becomes a world; uhca0 is ctx and same, uhca1 is other. */
int world_setup(void **state);

/* Every destroy must succeed: nothing of what a test did is left. */
int world_teardown(void **state);

struct ibv_context *world_open(const char *name);

/* WORLD_WR requests of up to 2 elements and 64 bytes inline, all signalled, both queues on cq. */
struct ibv_qp_init_attr world_init_attr(struct world *w, enum ibv_qp_type type);

/* GID 0 of the device as somebody to send to. */
struct ibv_ah_attr world_own_address(struct ibv_context *ctx);

/* An RC QP from RESET to a state up to RTS; peer is a QP number of the same device. */
void world_connect(struct ibv_qp *qp, uint32_t peer, enum ibv_qp_state to);

/* An RC QP in RTS that talks to itself; srq may be NULL. */
struct ibv_qp *world_qp(struct world *w, struct ibv_srq *srq);

/* Two of them that talk to each other, in RTS and in a state of choice. */
void world_qp_pair(struct world *w, struct ibv_qp *qp[2], enum ibv_qp_state second);

/* A UD QP in RTS with WORLD_QKEY. */
struct ibv_qp *world_datagram_qp(struct world *w);

/* The next completion; fails the test when none comes in time. */
void world_poll(struct ibv_cq *cq, struct ibv_wc *wc);

/* A message from the first half of the memory arrives in the second. */
void world_assert_works(struct world *w, struct ibv_qp *qp);

#endif
