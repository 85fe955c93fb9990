/* SPDX-License-Identifier: BSD-2-Clause */
/* A device opened through the real libibverbs on the fake daemon, with one object of each kind. */
#ifndef TESTS_SUPPORT_VERBS_FIXTURE_H
#define TESTS_SUPPORT_VERBS_FIXTURE_H

#include "fake_daemon.h"

#include <infiniband/verbs.h>

#define FIXTURE_MEMORY 4096u

struct verbs_fixture {
	struct fake_daemon daemon;
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq; /* on the channel */
	struct ibv_qp *qp; /* RC, in RTS, both queues on cq */
	uint8_t *memory;
};

/* For cmocka: *state becomes the fixture. */
int verbs_fixture_setup(void **state);

/* Destroys what is not NULL; every destroy must succeed. */
int verbs_fixture_teardown(void **state);

/* uhca0, opened; NULL with errno. */
struct ibv_context *verbs_fixture_open(void);

/* The QP with the device's help: any state. */
void verbs_fixture_modify(struct ibv_qp *qp, enum ibv_qp_state to);

#endif
