/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two connected QPs of one context on the real daemon, with a CQ each, a completion channel on
 * the second, and a registered buffer each. Everything is done through libibverbs.
 */
#ifndef TESTS_SUPPORT_VERBS_PAIR_H
#define TESTS_SUPPORT_VERBS_PAIR_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAIR_MEMORY     (1u << 20)
#define PAIR_WR         32u
#define PAIR_DEADLINE_S 120u
#define PAIR_GRH        40u

struct verbs_side {
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	uint8_t *memory; /* PAIR_MEMORY bytes */
};

struct verbs_pair {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel; /* of b's CQ */
	struct ibv_srq *srq;              /* b's receives, when asked for */
	union ibv_gid gid;
	struct verbs_side a, b;
};

/* Opens uhca0 and makes a pair. */
struct verbs_pair *verbs_pair_create(enum ibv_qp_type type, int with_srq);

/* Destroys what is not NULL; each must succeed. */
void verbs_pair_destroy(struct verbs_pair *p);

/* Moves a QP from RESET to RTS towards a QP number of the same device. */
void verbs_pair_connect(struct verbs_pair *p, struct ibv_qp *qp, uint32_t peer);

/* One completion, waited for; ends the test after the deadline. */
struct ibv_wc verbs_pair_poll(struct ibv_cq *cq);

void verbs_pair_recv(struct verbs_side *s, uint64_t wr_id, size_t offset, uint32_t length);

/* Posts a request whose local part is [offset, offset + length) of s's memory. */
void verbs_pair_send(struct verbs_side *s, struct ibv_send_wr *wr, size_t offset, uint32_t length);

#endif
