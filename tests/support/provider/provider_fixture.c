/* SPDX-License-Identifier: BSD-2-Clause */
#include "provider_fixture.h"

#include "tests/support/wire/cmocka_all.h"

#include "provider/qp/ah.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static uint32_t opcodes_of(enum ibv_qp_type type)
{
	uint32_t send = 1u << IBV_WR_SEND | 1u << IBV_WR_SEND_WITH_IMM;
	uint32_t write = 1u << IBV_WR_RDMA_WRITE | 1u << IBV_WR_RDMA_WRITE_WITH_IMM;
	uint32_t fetch = 1u << IBV_WR_RDMA_READ | 1u << IBV_WR_ATOMIC_CMP_AND_SWP |
			 1u << IBV_WR_ATOMIC_FETCH_AND_ADD;

	return type == IBV_QPT_RC ? send | write | fetch : type == IBV_QPT_UC ? send | write : send;
}

static void make_cq(struct fixture *f)
{
	f->cq.ctx = &f->ctx;
	f->cq.page = &f->cq_page;
	f->cq.entries = f->cqes;
	f->cq.mask = FIXTURE_CQE - 1;
	f->cq.stride = FIXTURE_CQE_STRIDE;
}

static void make_qp(struct fixture *f, enum ibv_qp_type type)
{
	struct uhcav_qp *qp = &f->qp;

	qp->ctx = &f->ctx;
	qp->page = &f->queue;
	qp->qp.qp_num = FIXTURE_QPN;
	qp->qp.qp_type = type;
	qp->qp.send_cq = qp->qp.recv_cq = &f->cq.cq;
	qp->state = IBV_QPS_RTS;
	qp->send_mask = opcodes_of(type);
	qp->doorbell = FIXTURE_DOORBELL;
	qp->max_inline_data = FIXTURE_INLINE;
	qp->gather_limit = FIXTURE_GATHER;
	qp->send_data = f->data;
	qp->data_stride = FIXTURE_DATA_STRIDE;
	qp->sq = (struct uhcav_work_queue){.max_wr = FIXTURE_WR,
					   .max_sge = FIXTURE_SGE,
					   .mask = FIXTURE_WR - 1,
					   .stride = UHCA_ABI_SEND_STRIDE(FIXTURE_SGE),
					   .entries = f->send,
					   .ring = &f->queue.send};
	qp->rq = (struct uhcav_work_queue){.max_wr = FIXTURE_WR,
					   .max_sge = FIXTURE_SGE,
					   .mask = FIXTURE_WR - 1,
					   .stride = UHCA_ABI_RECV_STRIDE(FIXTURE_SGE),
					   .entries = f->recv,
					   .ring = &f->queue.recv};
	assert_int_equal(uhcav_work_queue_keep_notes(&qp->sq, NULL, 0), 0);
	assert_int_equal(uhcav_work_queue_keep_notes(&qp->rq, NULL, 0), 0);
	assert_int_equal(uhcav_cq_attach(&f->cq, FIXTURE_QPN, qp), 0);
}

struct fixture *fixture_create(enum ibv_qp_type type)
{
	struct fixture *f = aligned_alloc(64, (sizeof(*f) + 63) & ~(size_t)63);

	assert_non_null(f);
	memset(f, 0, sizeof(*f));
	f->ctx.status = &f->status;
	f->ctx.doorbell = &f->doorbell;
	f->ctx.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_true(f->ctx.event_fd >= 0);
	pthread_mutex_init(&f->ctx.listeners_lock, NULL);
	uhcav_mr_table_construct(&f->ctx.regions);
	f->ah = calloc(1, sizeof(*f->ah));
	assert_non_null(f->ah);
	f->ah->handle = FIXTURE_AH;
	make_cq(f);
	make_qp(f, type);
	return f;
}

void fixture_destroy(struct fixture *f)
{
	uhcav_number_map_destruct(&f->cq.qps);
	free(f->qp.sq.posted);
	free(f->qp.rq.posted);
	uhcav_mr_table_destruct(&f->ctx.regions);
	pthread_mutex_destroy(&f->ctx.listeners_lock);
	close(f->ctx.event_fd);
	free(f->ah);
	free(f);
}

void fixture_register(struct fixture *f, void *addr, size_t length, uint64_t iova, uint32_t lkey)
{
	struct uhcav_region r = {
		.lkey = lkey, .iova = iova, .length = length, .addr = (uintptr_t)addr};

	assert_int_equal(uhcav_mr_table_reserve(&f->ctx.regions), 0);
	uhcav_mr_table_add(&f->ctx.regions, &r);
}

const struct uhca_abi_send_wqe *fixture_sent(const struct fixture *f, uint32_t index)
{
	return (const void *)uhcav_work_queue_slot(&f->qp.sq, index);
}

const struct uhca_abi_sge *fixture_sge(const struct fixture *f, uint32_t index)
{
	return (const void *)(fixture_sent(f, index) + 1);
}

const uint8_t *fixture_data(const struct fixture *f, uint32_t index)
{
	return f->data + (index % FIXTURE_WR) * FIXTURE_DATA_STRIDE;
}

const struct uhca_abi_recv_wqe *fixture_received(const struct fixture *f, uint32_t index)
{
	return (const void *)uhcav_work_queue_slot(&f->qp.rq, index);
}

bool fixture_rung(struct fixture *f)
{
	uint64_t *word = &f->doorbell.word[FIXTURE_DOORBELL / 64];
	bool rung = *word == 1ull << (FIXTURE_DOORBELL % 64) &&
		    f->doorbell.summary[0] == 1ull << (FIXTURE_DOORBELL / 64);

	if (!rung) /* and then nothing at all */
		assert_true(*word == 0 && f->doorbell.summary[0] == 0);
	*word = 0;
	f->doorbell.summary[0] = 0;
	return rung;
}

struct uhca_abi_cqe *fixture_complete(struct fixture *f, const struct uhca_abi_cqe *e)
{
	uint32_t i = f->cq_producer++;
	struct uhca_abi_cqe *slot = uhcav_cq_slot(&f->cq, i);

	memcpy(slot, e, offsetof(struct uhca_abi_cqe, sequence));
	__atomic_store_n(&slot->sequence, i + 1, __ATOMIC_RELEASE);
	return slot;
}
