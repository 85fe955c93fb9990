/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The extended ways to post and to poll, through the real libibverbs to a real daemon: every
 * builder with every way to name data, the data checked at the other end; errors that the device
 * finds; extended polling while another thread resizes the CQ; moderated events; overruns.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define HALF 2048u

static uint64_t now_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Memory that the other end may use, too. */
static struct ibv_mr *open_memory(struct world *w)
{
	struct ibv_mr *mr = ibv_reg_mr(w->pd, w->memory, WORLD_SIZE,
				       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					       IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);

	assert_non_null(mr);
	return mr;
}

static struct ibv_qp *make_deep_qp(struct world *w, enum ibv_qp_type type, uint64_t ops,
				   struct ibv_cq *cq, uint32_t depth)
{
	struct ibv_qp_init_attr_ex init = {.send_cq = cq,
					   .recv_cq = cq,
					   .qp_type = type,
					   .cap = {depth, depth, 2, 2, 64},
					   .pd = w->pd,
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .send_ops_flags = ops};
	struct ibv_qp *qp = ibv_create_qp_ex(w->ctx, &init);

	assert_non_null(qp);
	assert_non_null(ibv_qp_to_qp_ex(qp));
	return qp;
}

static struct ibv_qp *make_qp(struct world *w, enum ibv_qp_type type, uint64_t ops,
			      struct ibv_cq *cq)
{
	return make_deep_qp(w, type, ops, cq, WORLD_WR);
}

/* Connected to itself; UC has fewer attributes than world_connect sets. */
static void connect_uc(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
				.path_mtu = IBV_MTU_1024,
				.dest_qp_num = qp->qp_num,
				.ah_attr = world_own_address(qp->context)};

	assert_int_equal(
		ibv_modify_qp(qp, &a,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		0);
	a.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &a,
				       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN),
			 0);
	a.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

static void connect_ud(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = WORLD_QKEY};

	assert_int_equal(
		ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
		0);
	a.qp_state = IBV_QPS_RTR;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE), 0);
	a.qp_state = IBV_QPS_RTS;
	assert_int_equal(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
}

/* ---- every builder, every way to name data ---- */

enum way { SGE, SGE_LIST, INLINE, INLINE_LIST, NO_DATA, WAYS };

#define LENGTH(way) ((way) == NO_DATA ? 0u : 48u)

static void set_data(struct ibv_qp_ex *q, const struct ibv_mr *mr, uint8_t *from, enum way way)
{
	struct ibv_sge list[2] = {{(uintptr_t)from, 20, mr->lkey},
				  {(uintptr_t)from + 20, 28, mr->lkey}};
	struct ibv_data_buf bufs[2] = {{from, 3}, {from + 3, 45}};

	switch (way) {
	case SGE:
		ibv_wr_set_sge(q, mr->lkey, (uintptr_t)from, LENGTH(way));
		break;
	case SGE_LIST:
		ibv_wr_set_sge_list(q, 2, list);
		break;
	case INLINE:
		ibv_wr_set_inline_data(q, from, LENGTH(way));
		break;
	case INLINE_LIST:
		ibv_wr_set_inline_data_list(q, 2, bufs);
		break;
	case NO_DATA:
	case WAYS:
		break;
	}
}

static void post_recv(struct world *w, struct ibv_qp *qp, const struct ibv_mr *mr, uint64_t wr_id)
{
	struct ibv_sge sge = {(uintptr_t)w->memory + HALF, HALF, mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
}

static struct ibv_qp_ex *start(struct world *w, struct ibv_qp *qp, uint64_t wr_id)
{
	struct ibv_qp_ex *q = ibv_qp_to_qp_ex(qp);

	for (unsigned i = 0; i < HALF; i++)
		w->memory[i] = (uint8_t)(i * 5 + wr_id);
	memset(w->memory + HALF, 0xee, HALF);
	ibv_wr_start(q);
	q->wr_id = wr_id;
	q->wr_flags = IBV_SEND_SIGNALED;
	return q;
}

/* What arrived at HALF + skip is what stands at 0, and not a byte more. */
static void check_data(struct world *w, uint32_t skip, uint32_t length)
{
	assert_memory_equal(w->memory + HALF + skip, w->memory, length);
	assert_int_equal(w->memory[HALF + skip + length], 0xee);
}

/* Completions of one send, and of one receive when there was one. */
static void expect(struct ibv_cq *cq, uint64_t wr_id, enum ibv_wc_opcode send, int recv,
		   struct ibv_wc *got)
{
	struct ibv_wc wc;

	for (int n = 0; n < (recv >= 0 ? 2 : 1); n++) {
		world_poll(cq, &wc);
		assert_int_equal(wc.status, IBV_WC_SUCCESS);
		assert_int_equal(wc.wr_id, wr_id);
		if (wc.opcode & IBV_WC_RECV) {
			assert_int_equal(wc.opcode, recv);
			*got = wc;
		} else {
			assert_int_equal(wc.opcode, send);
		}
	}
}

static void sends(struct world *w, struct ibv_qp *qp, const struct ibv_mr *mr, struct ibv_ah *ah)
{
	uint32_t grh = ah ? 40 : 0;
	struct ibv_wc wc;

	for (enum way way = SGE; way < WAYS; way++) {
		for (int imm = 0; imm < 2; imm++) {
			uint64_t id = 100u + (unsigned)way * 2u + (unsigned)imm;
			struct ibv_qp_ex *q;

			post_recv(w, qp, mr, id);
			q = start(w, qp, id);
			if (imm)
				ibv_wr_send_imm(q, htobe32(77));
			else
				ibv_wr_send(q);
			if (ah)
				ibv_wr_set_ud_addr(q, ah, qp->qp_num, WORLD_QKEY);
			set_data(q, mr, w->memory, way);
			assert_int_equal(ibv_wr_complete(q), 0);
			expect(qp->send_cq, id, IBV_WC_SEND, IBV_WC_RECV, &wc);
			assert_int_equal(wc.byte_len, grh + LENGTH(way));
			assert_int_equal(!!(wc.wc_flags & IBV_WC_WITH_IMM), imm);
			if (imm)
				assert_int_equal(be32toh(wc.imm_data), 77);
			check_data(w, grh, LENGTH(way));
		}
	}
}

static void writes(struct world *w, struct ibv_qp *qp, const struct ibv_mr *mr)
{
	uint64_t to = (uintptr_t)w->memory + HALF;
	struct ibv_wc wc;

	for (enum way way = SGE; way < WAYS; way++) {
		struct ibv_qp_ex *q;

		post_recv(w, qp, mr, 300u + (unsigned)way);
		q = start(w, qp, 300u + (unsigned)way);
		ibv_wr_rdma_write_imm(q, mr->rkey, to, htobe32(88));
		set_data(q, mr, w->memory, way);
		assert_int_equal(ibv_wr_complete(q), 0);
		expect(qp->send_cq, 300u + (unsigned)way, IBV_WC_RDMA_WRITE,
		       IBV_WC_RECV_RDMA_WITH_IMM, &wc);
		assert_int_equal(be32toh(wc.imm_data), 88);
		check_data(w, 0, LENGTH(way));
		/* The plain WRITE tells nobody: an empty SEND behind it does. */
		post_recv(w, qp, mr, 400);
		q = start(w, qp, 400);
		q->wr_flags = 0;
		ibv_wr_rdma_write(q, mr->rkey, to);
		set_data(q, mr, w->memory, way);
		q->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(q);
		assert_int_equal(ibv_wr_complete(q), 0);
		expect(qp->send_cq, 400, IBV_WC_SEND, IBV_WC_RECV, &wc);
		check_data(w, 0, LENGTH(way));
	}
}

static void fetches(struct world *w, struct ibv_qp *qp, const struct ibv_mr *mr)
{
	uint64_t *target = (uint64_t *)(void *)(w->memory + HALF);
	uint64_t *result = (uint64_t *)(void *)w->memory;
	struct ibv_qp_ex *q = start(w, qp, 500);

	/* A READ brings the second half's 0xee to the first. */
	ibv_wr_rdma_read(q, mr->rkey, (uintptr_t)target);
	ibv_wr_set_sge(q, mr->lkey, (uintptr_t)result, 100);
	assert_int_equal(ibv_wr_complete(q), 0);
	expect(qp->send_cq, 500, IBV_WC_RDMA_READ, -1, NULL);
	assert_memory_equal(result, target, 100);
	q = start(w, qp, 501);
	*target = 40;
	ibv_wr_atomic_fetch_add(q, mr->rkey, (uintptr_t)target, 2);
	ibv_wr_set_sge(q, mr->lkey, (uintptr_t)result, 8);
	assert_int_equal(ibv_wr_complete(q), 0);
	expect(qp->send_cq, 501, IBV_WC_FETCH_ADD, -1, NULL);
	assert_int_equal(*result, 40);
	assert_int_equal(*target, 42);
	q = start(w, qp, 502);
	*target = 42;
	ibv_wr_atomic_cmp_swp(q, mr->rkey, (uintptr_t)target, 42, 7);
	ibv_wr_set_sge(q, mr->lkey, (uintptr_t)result, 8);
	assert_int_equal(ibv_wr_complete(q), 0);
	expect(qp->send_cq, 502, IBV_WC_COMP_SWAP, -1, NULL);
	assert_int_equal(*result, 42);
	assert_int_equal(*target, 7);
}

#define SENDS  (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define WRITES (IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
#define FETCHES                                                                                    \
	(IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |                            \
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

static void test_rc(void **state)
{
	struct world *w = *state;
	struct ibv_mr *mr = open_memory(w);
	struct ibv_qp *qp = make_qp(w, IBV_QPT_RC, SENDS | WRITES | FETCHES, w->cq);

	world_connect(qp, qp->qp_num, IBV_QPS_RTS);
	sends(w, qp, mr, NULL);
	writes(w, qp, mr);
	fetches(w, qp, mr);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void test_uc(void **state)
{
	struct world *w = *state;
	struct ibv_mr *mr = open_memory(w);
	struct ibv_qp *qp = make_qp(w, IBV_QPT_UC, SENDS | WRITES, w->cq);

	connect_uc(qp);
	sends(w, qp, mr, NULL);
	writes(w, qp, mr);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void test_ud(void **state)
{
	struct world *w = *state;
	struct ibv_ah_attr address = world_own_address(w->ctx);
	struct ibv_ah *ah = ibv_create_ah(w->pd, &address);
	struct ibv_mr *mr = open_memory(w);
	struct ibv_qp *qp = make_qp(w, IBV_QPT_UD, SENDS, w->cq);

	assert_non_null(ah);
	connect_ud(qp);
	sends(w, qp, mr, ah);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_ah(ah), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* Each type is refused what it does not have. */
static void test_refused(void **state)
{
	static const struct {
		enum ibv_qp_type type;
		uint64_t op;
	} row[] = {
		{IBV_QPT_UC, IBV_QP_EX_WITH_RDMA_READ},
		{IBV_QPT_UC, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP},
		{IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_WRITE},
		{IBV_QPT_UD, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD},
		{IBV_QPT_RC, IBV_QP_EX_WITH_TSO},
	};
	struct world *w = *state;

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct ibv_qp_init_attr_ex init = {.send_cq = w->cq,
						   .recv_cq = w->cq,
						   .qp_type = row[i].type,
						   .cap = {1, 1, 1, 1, 0},
						   .pd = w->pd,
						   .comp_mask = IBV_QP_INIT_ATTR_PD |
								IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
						   .send_ops_flags = row[i].op};
		errno = 0;
		assert_null(ibv_create_qp_ex(w->ctx, &init));
		assert_int_equal(errno, EOPNOTSUPP);
	}
}

/* What only the device can find comes as a completion: a key that is none, gathered or not. */
static void test_bad_key(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = make_qp(w, IBV_QPT_RC, SENDS, w->cq);
	struct ibv_qp_ex *q;
	struct ibv_wc wc;

	world_connect(qp, qp->qp_num, IBV_QPS_RTS);
	q = start(w, qp, 1);
	ibv_wr_send(q);
	ibv_wr_set_sge(q, w->mr->lkey ^ 0xff00, (uintptr_t)w->memory, 8);
	assert_int_equal(ibv_wr_complete(q), 0);
	world_poll(w->cq, &wc);
	assert_int_equal(wc.status, IBV_WC_LOC_PROT_ERR);
	assert_int_equal(wc.wr_id, 1);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* ---- extended polling ---- */

#define MESSAGES 4000u

static struct ibv_cq_ex *make_cq(struct world *w, uint32_t cqe, uint32_t flags)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = cqe,
		.channel = w->channel,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = flags};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(w->ctx, &init);

	assert_non_null(cq);
	return cq;
}

struct resizer {
	struct ibv_cq *cq;
	atomic_bool stop;
	unsigned done;
	int wrong; /* an errno that it may not have */
};

static void *resize(void *arg)
{
	struct resizer *r = arg;

	for (int cqe = 16; !atomic_load(&r->stop); cqe = cqe < 4096 ? cqe * 2 : 16) {
		int err = ibv_resize_cq(r->cq, cqe);

		if (err && err != EINVAL)
			r->wrong = err;
		r->done += !err;
	}
	return NULL;
}

static void write_one(struct world *w, struct ibv_qp *qp, const struct ibv_mr *mr, uint64_t id)
{
	struct ibv_qp_ex *q = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(q);
	q->wr_id = id;
	q->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(q, mr->rkey, (uintptr_t)w->memory + HALF);
	ibv_wr_set_sge(q, mr->lkey, (uintptr_t)w->memory, 8);
	assert_int_equal(ibv_wr_complete(q), 0);
}

/* Takes all there is; each once and in order, no time stamp before the last. */
static unsigned take_completions(struct ibv_cq_ex *cq, uint64_t *next, uint64_t *last)
{
	struct ibv_poll_cq_attr attr = {0};
	unsigned n = 0;

	if (ibv_start_poll(cq, &attr))
		return 0;
	do {
		uint64_t ts = ibv_wc_read_completion_ts(cq);
		assert_int_equal(cq->status, IBV_WC_SUCCESS);
		assert_int_equal(cq->wr_id, (*next)++);
		assert_int_equal(ibv_wc_read_opcode(cq), IBV_WC_RDMA_WRITE);
		assert_true(ts >= *last);
		*last = ts;
		n++;
	} while (!ibv_next_poll(cq));
	ibv_end_poll(cq);
	return n;
}

static void test_resize_while_polling(void **state)
{
	struct world *w = *state;
	struct ibv_mr *mr = open_memory(w);
	struct ibv_cq_ex *cq = make_cq(w, 16, 0);
	struct ibv_qp *qp = make_qp(w, IBV_QPT_RC, WRITES, ibv_cq_ex_to_cq(cq));
	struct resizer r = {.cq = ibv_cq_ex_to_cq(cq)};
	uint64_t next = 0, last = now_ns(CLOCK_MONOTONIC), posted = 0;
	time_t limit = time(NULL) + WORLD_LIMIT;
	pthread_t thread;

	world_connect(qp, qp->qp_num, IBV_QPS_RTS);
	assert_int_equal(pthread_create(&thread, NULL, resize, &r), 0);
	while (next < MESSAGES && time(NULL) < limit) {
		for (; posted < MESSAGES && posted - next < WORLD_WR; posted++)
			write_one(w, qp, mr, posted);
		take_completions(cq, &next, &last);
	}
	atomic_store(&r.stop, true);
	pthread_join(thread, NULL);
	assert_int_equal(next, MESSAGES);
	assert_int_equal(r.wrong, 0);
	assert_true(r.done > 0);
	assert_true(last <= now_ns(CLOCK_MONOTONIC));
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* The time of the completion, not of the poll; and the two clocks agree about it. */
static void test_time(void **state)
{
	struct world *w = *state;
	struct ibv_mr *mr = open_memory(w);
	struct ibv_cq_ex *cq = make_cq(w, 16, 0);
	struct ibv_qp *qp = make_qp(w, IBV_QPT_RC, WRITES, ibv_cq_ex_to_cq(cq));
	struct ibv_values_ex before = {.comp_mask = IBV_VALUES_MASK_RAW_CLOCK}, after = before;
	struct ibv_poll_cq_attr attr = {0};
	struct pollfd fd = {.fd = w->channel->fd, .events = POLLIN};
	struct ibv_device_attr_ex device;
	struct ibv_cq *event_cq;
	uint64_t wall, ts;
	void *context;

	assert_int_equal(ibv_query_device_ex(w->ctx, NULL, &device), 0);
	assert_int_equal(device.hca_core_clock, 1000000);
	assert_true(device.completion_timestamp_mask == UINT64_MAX);
	world_connect(qp, qp->qp_num, IBV_QPS_RTS);
	assert_int_equal(ibv_req_notify_cq(ibv_cq_ex_to_cq(cq), 0), 0);
	assert_int_equal(ibv_query_rt_values_ex(w->ctx, &before), 0);
	write_one(w, qp, mr, 1);
	assert_int_equal(poll(&fd, 1, WORLD_LIMIT * 1000), 1);
	assert_int_equal(ibv_get_cq_event(w->channel, &event_cq, &context), 0);
	assert_ptr_equal(event_cq, ibv_cq_ex_to_cq(cq));
	ibv_ack_cq_events(event_cq, 1);
	assert_int_equal(ibv_query_rt_values_ex(w->ctx, &after), 0);
	assert_int_equal(ibv_start_poll(cq, &attr), 0);
	ts = ibv_wc_read_completion_ts(cq);
	wall = ibv_wc_read_completion_wallclock_ns(cq);
	ibv_end_poll(cq);
	/* The daemon reads its clock once per look at the world, which may be before the post. */
	assert_true(ts + 100000000u >= (uint64_t)before.raw_clock.tv_nsec);
	assert_true(ts <= (uint64_t)after.raw_clock.tv_nsec);
	assert_true(wall <= now_ns(CLOCK_REALTIME));
	assert_true(wall + 60000000000u > now_ns(CLOCK_REALTIME));
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* Time stamps of a CQ never run backwards, whatever the device was doing when it took them. */
static void test_time_goes_on(void **state)
{
	struct world *w = *state;
	struct ibv_cq_init_attr_ex init = {.cqe = 64,
					   .wc_flags =
						   IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
						   IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(w->ctx, &init);
	struct ibv_mr *mr = open_memory(w);
	struct ibv_poll_cq_attr attr = {0};
	uint64_t ts = 0, wall = 0;
	struct ibv_qp *qp[4];

	assert_non_null(cq);
	for (unsigned i = 0; i < 4; i++) {
		qp[i] = make_qp(w, IBV_QPT_RC, IBV_QP_EX_WITH_RDMA_WRITE, ibv_cq_ex_to_cq(cq));
		world_connect(qp[i], qp[i]->qp_num, IBV_QPS_RTS);
	}
	for (unsigned got = 0, sent = 0; got < 4000;) {
		for (; sent - got < WORLD_WR; sent++)
			write_one(w, qp[sent % 4], mr, sent);
		if (ibv_start_poll(cq, &attr))
			continue;
		do {
			assert_int_equal(cq->status, IBV_WC_SUCCESS);
			assert_true(ibv_wc_read_completion_ts(cq) >= ts);
			assert_true(ibv_wc_read_completion_wallclock_ns(cq) >= wall);
			ts = ibv_wc_read_completion_ts(cq);
			wall = ibv_wc_read_completion_wallclock_ns(cq);
			got++;
		} while (!ibv_next_poll(cq));
		ibv_end_poll(cq);
	}
	/* What is left of the sends behind the last one that was awaited. */
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(ibv_destroy_qp(qp[i]), 0);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* ---- moderation and overrun ---- */

static int events_within(struct world *w, int ms)
{
	struct pollfd fd = {.fd = w->channel->fd, .events = POLLIN};

	return poll(&fd, 1, ms);
}

static void take_event(struct world *w)
{
	struct ibv_cq *cq;
	void *context;

	assert_int_equal(events_within(w, WORLD_LIMIT * 1000), 1);
	assert_int_equal(ibv_get_cq_event(w->channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
}

static void test_moderation(void **state)
{
	struct world *w = *state;
	struct ibv_mr *mr = open_memory(w);
	struct ibv_cq_ex *cq = make_cq(w, 64, 0);
	struct ibv_cq *plain = ibv_cq_ex_to_cq(cq);
	struct ibv_qp *qp = make_qp(w, IBV_QPT_RC, WRITES, plain);
	struct ibv_modify_cq_attr attr = {.attr_mask = IBV_CQ_ATTR_MODERATE,
					  .moderate = {.cq_count = 4, .cq_period = 60000}};
	uint64_t next = 0, last = 0, began;

	world_connect(qp, qp->qp_num, IBV_QPS_RTS);
	assert_int_equal(ibv_modify_cq(plain, &attr), 0);
	assert_int_equal(ibv_req_notify_cq(plain, 0), 0);
	/* The fourth completion raises the event, long before the period is over or after. */
	for (uint64_t i = 0; i < 4; i++)
		write_one(w, qp, mr, i);
	take_event(w);
	while (next < 4)
		take_completions(cq, &next, &last);
	/* One alone: the period does. */
	assert_int_equal(ibv_req_notify_cq(plain, 0), 0);
	began = now_ns(CLOCK_MONOTONIC);
	write_one(w, qp, mr, 4);
	take_event(w);
	assert_true(now_ns(CLOCK_MONOTONIC) - began >= 59000000u);
	while (next < 5)
		take_completions(cq, &next, &last);
	/* And off again. */
	attr.moderate.cq_count = attr.moderate.cq_period = 0;
	assert_int_equal(ibv_modify_cq(plain, &attr), 0);
	assert_int_equal(ibv_req_notify_cq(plain, 0), 0);
	write_one(w, qp, mr, 5);
	take_event(w);
	while (next < 6)
		take_completions(cq, &next, &last);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(plain), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static enum ibv_event_type next_async(struct world *w)
{
	struct pollfd fd = {.fd = w->ctx->async_fd, .events = POLLIN};
	struct ibv_async_event event;

	assert_int_equal(poll(&fd, 1, WORLD_LIMIT * 1000), 1);
	assert_int_equal(ibv_get_async_event(w->ctx, &event), 0);
	ibv_ack_async_event(&event);
	return event.event_type;
}

static void wait_for_tail(struct world *w, struct ibv_qp *qp, const struct ibv_mr *mr, uint64_t n)
{
	uint64_t done = 0;

	/* Where the CQ ignores overruns, a refused post waits for a slot. */
	for (uint64_t i = 0; i < n; i++) {
		struct ibv_qp_ex *q = ibv_qp_to_qp_ex(qp);
		time_t limit = time(NULL) + WORLD_LIMIT;
		int err;

		do {
			ibv_wr_start(q);
			q->wr_id = i;
			q->wr_flags = IBV_SEND_SIGNALED;
			ibv_wr_rdma_write(q, mr->rkey, (uintptr_t)w->memory + HALF);
			err = ibv_wr_complete(q);
		} while (err == ENOMEM && time(NULL) < limit);
		done += !err;
	}
	assert_int_equal(done, n);
}

/* Nobody polls: CQ_ERR, and the QP that completes there fails. What was complete can be polled. */
static void test_overrun(void **state)
{
	struct world *w = *state;
	struct ibv_mr *mr = open_memory(w);
	struct ibv_cq_ex *cq = make_cq(w, 16, 0);
	struct ibv_qp *qp = make_deep_qp(w, IBV_QPT_RC, WRITES, ibv_cq_ex_to_cq(cq), 17);
	uint64_t next = 0, last = 0;

	world_connect(qp, qp->qp_num, IBV_QPS_RTS);
	wait_for_tail(w, qp, mr, 17);
	assert_int_equal(next_async(w), IBV_EVENT_CQ_ERR);
	assert_int_equal(next_async(w), IBV_EVENT_QP_FATAL);
	take_completions(cq, &next, &last);
	assert_int_equal(next, 16);
	assert_int_equal(ibv_resize_cq(ibv_cq_ex_to_cq(cq), 100), EINVAL);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* The same, and nobody minds: the newest are there, whole and in order. */
static void test_ignore_overrun(void **state)
{
	struct world *w = *state;
	struct ibv_mr *mr = open_memory(w);
	struct ibv_cq_ex *cq = make_cq(w, 16, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN);
	struct ibv_qp *qp = make_qp(w, IBV_QPT_RC, WRITES, ibv_cq_ex_to_cq(cq));
	struct ibv_poll_cq_attr attr = {0};
	time_t limit = time(NULL) + WORLD_LIMIT;
	uint64_t last = 0;

	world_connect(qp, qp->qp_num, IBV_QPS_RTS);
	wait_for_tail(w, qp, mr, 100);
	while (last != 99 && time(NULL) < limit) {
		if (ibv_start_poll(cq, &attr))
			continue;
		do {
			assert_true(cq->wr_id > last);
			assert_int_equal(cq->status, IBV_WC_SUCCESS);
			last = cq->wr_id;
		} while (!ibv_next_poll(cq));
		ibv_end_poll(cq);
	}
	assert_int_equal(last, 99);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* The argument is a test's name, or none: all. */
int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_rc),         TEST(test_uc),
		TEST(test_ud),         TEST(test_refused),
		TEST(test_bad_key),    TEST(test_resize_while_polling),
		TEST(test_time),       TEST(test_time_goes_on),
		TEST(test_overrun),    TEST(test_ignore_overrun),
		TEST(test_moderation),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("extended", tests, NULL, NULL);
}
