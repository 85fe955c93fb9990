/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A provider's context with one CQ and one QP over ordinary memory: the data path without a
 * daemon and without libibverbs. The test plays the device on the rings.
 */
#ifndef TESTS_SUPPORT_PROVIDER_FIXTURE_H
#define TESTS_SUPPORT_PROVIDER_FIXTURE_H

/* By their rooms: core has headers of the same names. */
#include "emu/abi/wqe.h"
#include "provider/qp/queue_pair.h"
#include "provider/queues/cq.h"

#include <infiniband/verbs.h>

#define FIXTURE_WR          8u
#define FIXTURE_SGE         3u
#define FIXTURE_INLINE      64u
#define FIXTURE_GATHER      128u
#define FIXTURE_DATA_STRIDE 256u
#define FIXTURE_CQE         16u
#define FIXTURE_CQE_STRIDE  192u
#define FIXTURE_QPN         0x1234u
#define FIXTURE_DOORBELL    77u
#define FIXTURE_AH          0x4711u

struct fixture {
	struct uhcav_context ctx;
	struct uhca_abi_status status;
	struct uhca_abi_doorbell doorbell;
	struct uhcav_cq cq;
	struct uhcav_qp qp;
	struct ibv_ah *ah;
	struct uhca_abi_queue queue;
	struct uhca_abi_cq cq_page;
	_Alignas(64) uint8_t send[FIXTURE_WR * UHCA_ABI_SEND_STRIDE(FIXTURE_SGE)];
	_Alignas(64) uint8_t data[FIXTURE_WR * FIXTURE_DATA_STRIDE];
	_Alignas(64) uint8_t recv[FIXTURE_WR * UHCA_ABI_RECV_STRIDE(FIXTURE_SGE)];
	_Alignas(64) uint8_t cqes[FIXTURE_CQE * FIXTURE_CQE_STRIDE];
	uint32_t cq_producer;
};

/* A QP of the type, in RTS, send and receive completions to the one CQ. */
struct fixture *fixture_create(enum ibv_qp_type type);
void fixture_destroy(struct fixture *f);

/* Registers memory under a key, as reg_mr does with the daemon's answer. */
void fixture_register(struct fixture *f, void *addr, size_t length, uint64_t iova, uint32_t lkey);

/* The device's side. */
const struct uhca_abi_send_wqe *fixture_sent(const struct fixture *f, uint32_t index);
const struct uhca_abi_sge *fixture_sge(const struct fixture *f, uint32_t index);
const uint8_t *fixture_data(const struct fixture *f, uint32_t index);
const struct uhca_abi_recv_wqe *fixture_received(const struct fixture *f, uint32_t index);
bool fixture_rung(struct fixture *f); /* and clears it */

/* Completes: the entry with its sequence. Returns the slot. */
struct uhca_abi_cqe *fixture_complete(struct fixture *f, const struct uhca_abi_cqe *e);

#endif
