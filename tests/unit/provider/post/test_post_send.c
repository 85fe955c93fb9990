/* SPDX-License-Identifier: BSD-2-Clause */
/* ibv_post_send into a ring: what the device finds there, and what is refused. */
#include "tests/support/provider/provider_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "provider/poll/poll_cq.h"
#include "provider/post/post_send.h"
#include "provider/qp/ah.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define KEY 0x2a00u

static uint8_t memory[1024];

static struct fixture *setup(enum ibv_qp_type type)
{
	struct fixture *f = fixture_create(type);

	for (size_t i = 0; i < sizeof(memory); i++)
		memory[i] = (uint8_t)(i * 7);
	fixture_register(f, memory, sizeof(memory), (uintptr_t)memory, KEY);
	return f;
}

static struct ibv_sge sge(size_t offset, uint32_t length)
{
	return (struct ibv_sge){(uintptr_t)memory + offset, length, KEY};
}

/* Posts one request; on an error checks that bad_wr names it and nothing was published. */
static int post(struct fixture *f, struct ibv_send_wr *wr)
{
	uint32_t before = f->queue.send.producer;
	struct ibv_send_wr *bad = NULL;
	int err = uhcav_post_send(&f->qp.qp, wr, &bad);

	if (err) {
		assert_ptr_equal(bad, wr);
		assert_int_equal(f->queue.send.producer, before);
		assert_false(fixture_rung(f));
	} else {
		assert_null(bad);
		assert_int_equal(f->queue.send.producer, before + 1);
		assert_true(fixture_rung(f));
	}
	return err;
}

static void test_send(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC);
	struct ibv_sge s[2] = {sge(0, 500), sge(600, 20)};
	struct ibv_send_wr wr = {.wr_id = 0x1122334455667788,
				 .opcode = IBV_WR_SEND_WITH_IMM,
				 .send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
				 .sg_list = s,
				 .num_sge = 2,
				 .imm_data = 0xdeadbeef};
	const struct uhca_abi_send_wqe *w = fixture_sent(f, 0);

	(void)state;
	assert_int_equal(post(f, &wr), 0);
	assert_int_equal(w->wr_id, wr.wr_id);
	assert_int_equal(w->opcode, UHCA_ABI_WR_SEND_WITH_IMM);
	assert_int_equal(w->flags, UHCA_ABI_SEND_SIGNALED | UHCA_ABI_SEND_SOLICITED);
	assert_int_equal(w->num_sge, 2);
	assert_int_equal(w->imm, 0xdeadbeef);
	assert_memory_equal(fixture_sge(f, 0), s, sizeof(s));
	fixture_destroy(f);
}

static void test_rdma_and_atomic(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC);
	struct ibv_sge s = sge(0, 8);
	struct ibv_send_wr read = {.opcode = IBV_WR_RDMA_READ,
				   .send_flags = IBV_SEND_FENCE,
				   .sg_list = &s,
				   .num_sge = 1,
				   .wr.rdma = {0x123456789a, 0x77}};
	struct ibv_send_wr cas = {.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
				  .sg_list = &s,
				  .num_sge = 1,
				  .wr.atomic = {0x1000, 5, 6, 0x88}};
	const struct uhca_abi_send_wqe *w;

	(void)state;
	assert_int_equal(post(f, &read), 0);
	w = fixture_sent(f, 0);
	assert_int_equal(w->flags, UHCA_ABI_SEND_FENCE);
	assert_int_equal(w->rdma.remote_addr, 0x123456789a);
	assert_int_equal(w->rdma.rkey, 0x77);
	assert_int_equal(post(f, &cas), 0);
	w = fixture_sent(f, 1);
	assert_int_equal(w->flags, 0); /* what it reads is remote: nothing to gather */
	assert_int_equal(w->atomic.remote_addr, 0x1000);
	assert_int_equal(w->atomic.compare_add, 5);
	assert_int_equal(w->atomic.swap, 6);
	assert_int_equal(w->atomic.rkey, 0x88);
	fixture_destroy(f);
}

static void test_datagram(void **state)
{
	struct fixture *f = setup(IBV_QPT_UD);
	struct ibv_sge s = sge(0, 8);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND,
				 .sg_list = &s,
				 .num_sge = 1,
				 .wr.ud = {f->ah, 0xabcdef, 0x80000001}};
	const struct uhca_abi_send_wqe *w = fixture_sent(f, 0);

	(void)state;
	assert_int_equal(post(f, &wr), 0);
	assert_int_equal(w->ud.ah, FIXTURE_AH);
	assert_int_equal(w->ud.remote_qpn, 0xabcdef);
	assert_int_equal(w->ud.remote_qkey, 0x80000001);
	f->ah->context = (void *)f; /* anybody's but ours: the device is to find none */
	assert_int_equal(post(f, &wr), 0);
	assert_int_equal(fixture_sent(f, 1)->ud.ah, 0);
	wr.wr.ud.ah = NULL;
	assert_int_equal(post(f, &wr), EINVAL);
	fixture_destroy(f);
}

static void test_inline(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC);
	/* Neither key nor registration matters. */
	struct ibv_sge s[3] = {{(uintptr_t)memory + 3, 10, 0},
			       {0, 0, 0},
			       {(uintptr_t)memory + 40, FIXTURE_INLINE - 10, 0}};
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_INLINE | IBV_SEND_FENCE,
				 .sg_list = s,
				 .num_sge = 3};
	const struct uhca_abi_send_wqe *w = fixture_sent(f, 0);

	(void)state;
	assert_int_equal(post(f, &wr), 0);
	assert_int_equal(w->flags, UHCA_ABI_SEND_INLINE | UHCA_ABI_SEND_FENCE);
	assert_int_equal(w->num_sge, 0);
	assert_int_equal(w->inline_length, FIXTURE_INLINE);
	assert_memory_equal(fixture_data(f, 0), memory + 3, 10);
	assert_memory_equal(fixture_data(f, 0) + 10, memory + 40, FIXTURE_INLINE - 10);
	s[2].length++;
	assert_int_equal(post(f, &wr), EINVAL);
	wr.num_sge = 1;
	wr.opcode = IBV_WR_RDMA_READ;
	assert_int_equal(post(f, &wr), EINVAL);
	wr.opcode = IBV_WR_SEND;
	wr.num_sge = 0;
	assert_int_equal(post(f, &wr), 0);
	assert_int_equal(fixture_sent(f, 1)->inline_length, 0);
	fixture_destroy(f);
}

static void test_gather(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC);
	struct ibv_sge s[2] = {sge(1, 100), sge(500, FIXTURE_GATHER - 100)};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = s, .num_sge = 2};
	const struct uhca_abi_send_wqe *w = fixture_sent(f, 0);

	(void)state;
	assert_int_equal(post(f, &wr), 0);
	assert_int_equal(w->flags, UHCA_ABI_SEND_GATHERED);
	assert_int_equal(w->inline_length, FIXTURE_GATHER);
	assert_int_equal(w->num_sge, 2); /* the device checks them all the same */
	assert_memory_equal(fixture_sge(f, 0), s, sizeof(s));
	assert_memory_equal(fixture_data(f, 0), memory + 1, 100);
	assert_memory_equal(fixture_data(f, 0) + 100, memory + 500, FIXTURE_GATHER - 100);
	fixture_destroy(f);
}

/* Cases in which the payload must be left where it is: the request itself is good. */
static void test_not_gathered(void **state)
{
	const struct {
		struct ibv_sge s[2];
		int opcode, flags;
	} cases[] = {
		{{sge(0, 100), sge(0, FIXTURE_GATHER - 99)}, IBV_WR_SEND, 0}, /* too long */
		{{sge(0, 0), sge(0, 0)}, IBV_WR_SEND, 0},                     /* nothing there */
		{{sge(0, 8), sge(8, 8)}, IBV_WR_SEND, IBV_SEND_FENCE},
		{{sge(0, 8), sge(8, 8)}, IBV_WR_RDMA_READ, 0},
		{{sge(0, 8), sge(sizeof(memory) - 7, 8)}, IBV_WR_SEND, 0}, /* beyond the end */
		{{sge(0, 8), sge((size_t)-1, 8)}, IBV_WR_SEND, 0},         /* before the start */
		{{sge(0, 8), {(uintptr_t)memory, 8, KEY + 1}}, IBV_WR_RDMA_WRITE, 0},
		{{sge(0, 8), {(uintptr_t)memory, 8, 0}}, IBV_WR_SEND, 0},
		{{sge(0, 8), {(uintptr_t)memory, 8, 1}}, IBV_WR_SEND, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *f = setup(IBV_QPT_RC);
		struct ibv_sge s[2] = {cases[i].s[0], cases[i].s[1]};
		struct ibv_send_wr wr = {.opcode = (enum ibv_wr_opcode)cases[i].opcode,
					 .send_flags = (unsigned)cases[i].flags,
					 .sg_list = s,
					 .num_sge = 2};
		assert_int_equal(post(f, &wr), 0);
		assert_false(fixture_sent(f, 0)->flags & UHCA_ABI_SEND_GATHERED);
		assert_int_equal(fixture_sent(f, 0)->inline_length, 0);
		assert_memory_equal(fixture_sge(f, 0), s, sizeof(s));
		fixture_destroy(f);
	}
}

/* What a fenced request waits for may be what those behind it send, until it is done. */
static void test_behind_fence(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC);
	struct ibv_sge s = sge(0, 8);
	struct ibv_send_wr fenced = {.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_FENCE};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &s, .num_sge = 1};

	(void)state;
	assert_int_equal(post(f, &fenced), 0);
	assert_int_equal(post(f, &wr), 0);
	assert_false(fixture_sent(f, 1)->flags & UHCA_ABI_SEND_GATHERED);
	f->queue.send.consumer = 1;
	assert_int_equal(post(f, &wr), 0);
	assert_true(fixture_sent(f, 2)->flags & UHCA_ABI_SEND_GATHERED);
	fixture_destroy(f);
}

/* Elements name addresses of the region, which need not be those of the memory. */
static void test_gather_iova(void **state)
{
	struct fixture *f = setup(IBV_QPT_UC);
	struct ibv_sge s = {0x10000 + 50, 20, KEY + 0x100};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND, .sg_list = &s, .num_sge = 1};

	(void)state;
	fixture_register(f, memory, 100, 0x10000, KEY + 0x100);
	assert_int_equal(post(f, &wr), 0);
	assert_int_equal(fixture_sent(f, 0)->flags, UHCA_ABI_SEND_GATHERED);
	assert_memory_equal(fixture_data(f, 0), memory + 50, 20);
	fixture_destroy(f);
}

/*
 * Of a window's key the consumer chooses the byte, whatever else stands beside it; the window has
 * its new key from the post on, and keeps the old one where the post ended before it.
 */
static void test_bind(void **state)
{
	static const uint32_t asked[] = {0x601, 0x02, 1024 + 3, 0xdeadbe04, 0x705};
	struct fixture *f = setup(IBV_QPT_RC);
	struct ibv_mw mw = {.handle = 6, .rkey = 0x600, .type = IBV_MW_TYPE_2};
	struct ibv_mr mr = {.lkey = KEY};
	struct ibv_send_wr bad_one = {.opcode = IBV_WR_SEND, .num_sge = -1}, *bad;
	struct ibv_context theirs;
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW,
				 .bind_mw = {&mw, 0, {&mr, 0x1000, 0x200, 0}}};

	(void)state;
	f->qp.send_mask = UINT32_MAX;
	mw.context = mr.context = f->qp.qp.context;
	for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		wr.bind_mw.rkey = asked[i];
		assert_int_equal(post(f, &wr), 0);
		assert_int_equal(fixture_sent(f, i)->bind.mw_rkey >> 8, 6);
		assert_int_equal(fixture_sent(f, i)->bind.new_rkey, 0x600 | (i + 1));
		assert_int_equal(fixture_sent(f, i)->bind.mr_lkey, KEY);
		assert_int_equal(mw.rkey, 0x600 | (i + 1));
	}
	bad_one.next = &wr;
	wr.bind_mw.rkey = 9;
	assert_int_equal(uhcav_post_send(&f->qp.qp, &bad_one, &bad), EINVAL);
	assert_int_equal(mw.rkey, 0x605);
	mw.context = &theirs; /* anybody's but ours: the device will say so */
	assert_int_equal(post(f, &wr), 0);
	assert_int_equal(fixture_sent(f, 5)->bind.mw_rkey, 0);
	assert_int_equal(mw.rkey, 0x605);
	fixture_destroy(f);
}

/* What the QP's transport does not have: the device gets the opcode, and nothing beside it. */
static void test_not_of_the_type(void **state)
{
	static const struct {
		enum ibv_qp_type type;
		int opcode;
	} cases[] = {
		{IBV_QPT_UC, IBV_WR_RDMA_READ},  {IBV_QPT_UC, IBV_WR_ATOMIC_FETCH_AND_ADD},
		{IBV_QPT_UD, IBV_WR_RDMA_WRITE}, {IBV_QPT_UD, IBV_WR_RDMA_READ},
		{IBV_QPT_UD, IBV_WR_BIND_MW},    {IBV_QPT_RC, IBV_WR_TSO},
		{IBV_QPT_RC, IBV_WR_DRIVER1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *f = setup(cases[i].type);
		struct ibv_sge s = sge(0, 8);
		struct ibv_send_wr wr = {.wr_id = 77,
					 .opcode = (enum ibv_wr_opcode)cases[i].opcode,
					 .send_flags = IBV_SEND_SIGNALED,
					 .sg_list = &s,
					 .num_sge = 1,
					 .wr.rdma = {.remote_addr = 8}}; /* no address handle */
		const struct uhca_abi_send_wqe *w = fixture_sent(f, 0);

		assert_int_equal(post(f, &wr), 0);
		assert_int_equal(w->opcode, cases[i].opcode);
		assert_int_equal(w->wr_id, 77);
		assert_int_equal(w->flags, UHCA_ABI_SEND_SIGNALED);
		assert_int_equal(w->num_sge, 0);
		fixture_destroy(f);
	}
}

static void test_refused(void **state)
{
	const struct {
		enum ibv_qp_type type;
		int opcode;
		unsigned flags;
		int num_sge;
	} cases[] = {
		{IBV_QPT_RC, 12, 0, 1},
		{IBV_QPT_RC, UHCA_ABI_WR_FLUSH, 0, 1},
		{IBV_QPT_RC, UHCA_ABI_WR_REG_MR, 0, 1},
		{IBV_QPT_RC, IBV_WR_TSO, 1u << 31, 1},
		{IBV_QPT_UD, IBV_WR_RDMA_READ, 0, FIXTURE_SGE + 1},
		{IBV_QPT_RC, 31, 0, 1},
		{IBV_QPT_RC, 32, 0, 1},
		{IBV_QPT_RC, -1, 0, 1},
		{IBV_QPT_RC, IBV_WR_SEND, IBV_SEND_IP_CSUM, 1},
		{IBV_QPT_RC, IBV_WR_SEND, 1u << 31, 1},
		{IBV_QPT_RC, IBV_WR_SEND, 0, FIXTURE_SGE + 1},
		{IBV_QPT_RC, IBV_WR_SEND, 0, -1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture *f = setup(cases[i].type);
		struct ibv_sge s[FIXTURE_SGE + 1] = {sge(0, 8)};
		struct ibv_send_wr wr = {.opcode = (enum ibv_wr_opcode)cases[i].opcode,
					 .send_flags = cases[i].flags,
					 .sg_list = s,
					 .num_sge = cases[i].num_sge};
		wr.wr.ud.ah = f->ah;
		assert_int_equal(post(f, &wr), EINVAL);
		fixture_destroy(f);
	}
}

static void test_states(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	(void)state;
	for (uint32_t s = IBV_QPS_RESET; s <= IBV_QPS_ERR; s++) {
		f->qp.state = s;
		assert_int_equal(post(f, &wr), s < IBV_QPS_RTS ? EINVAL : 0);
	}
	f->ctx.life = UHCAV_FATAL;
	assert_int_equal(post(f, &wr), EIO);
	f->ctx.life = UHCAV_FORKED;
	assert_int_equal(post(f, &wr), EIO);
	fixture_destroy(f);
}

static void chain(struct ibv_send_wr *wr, unsigned n)
{
	memset(wr, 0, n * sizeof(*wr));
	for (unsigned i = 0; i < n; i++) {
		wr[i].opcode = IBV_WR_SEND;
		wr[i].wr_id = i;
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	}
}

/*
 * A full queue takes what fits. Room comes back when a completion is polled, for all requests up to
 * the one that completes, and not when the device is done with them (10.8.6).
 */
static void test_full(void **state)
{
	const struct uhca_abi_cqe third = {.qpn = FIXTURE_QPN, .wqe_index = 2};
	struct fixture *f = setup(IBV_QPT_RC);
	struct ibv_send_wr wr[FIXTURE_WR + 2], *bad = NULL;
	struct ibv_wc wc;

	(void)state;
	chain(wr, FIXTURE_WR + 2);
	assert_int_equal(uhcav_post_send(&f->qp.qp, wr, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[FIXTURE_WR]);
	assert_int_equal(f->queue.send.producer, FIXTURE_WR);
	assert_true(fixture_rung(f));
	assert_int_equal(uhcav_post_send(&f->qp.qp, bad, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[FIXTURE_WR]);
	assert_false(fixture_rung(f));
	f->queue.send.consumer = 3;
	fixture_complete(f, &third);
	assert_int_equal(uhcav_post_send(&f->qp.qp, bad, &bad), ENOMEM);
	assert_int_equal(uhcav_poll_cq(&f->cq.cq, 1, &wc), 1);
	assert_int_equal(uhcav_post_send(&f->qp.qp, bad, &bad), 0);
	assert_int_equal(f->queue.send.producer, FIXTURE_WR + 2);
	assert_int_equal(fixture_sent(f, FIXTURE_WR + 1)->wr_id, FIXTURE_WR + 1);
	fixture_destroy(f);
}

/* The requests before a bad one are posted, those behind it are not. */
static void test_bad_in_the_middle(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC);
	struct ibv_send_wr wr[5], *bad = NULL;

	(void)state;
	chain(wr, 5);
	wr[2].send_flags = 1u << 20;
	assert_int_equal(uhcav_post_send(&f->qp.qp, wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr[2]);
	assert_int_equal(f->queue.send.producer, 2);
	assert_true(fixture_rung(f));
	fixture_destroy(f);
}

/* Behind a CQ that ignores overruns a request leaves when the device has taken it. */
static void test_full_behind_overruns(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC);
	struct ibv_send_wr wr[FIXTURE_WR + 2], *bad = NULL;

	(void)state;
	f->qp.sq.leaves_when_taken = true;
	chain(wr, FIXTURE_WR + 2);
	assert_int_equal(uhcav_post_send(&f->qp.qp, wr, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[FIXTURE_WR]);
	f->queue.send.consumer = 2;
	assert_int_equal(uhcav_post_send(&f->qp.qp, bad, &bad), 0);
	fixture_destroy(f);
}

/* A QP that has no send queue: XRC_RECV, or raw packets with an indirection table. */
static void test_no_send_queue(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND}, *bad = NULL;

	(void)state;
	f->qp.sq.ring = NULL;
	f->qp.sq.entries = NULL;
	for (uint32_t state_ = IBV_QPS_RESET; state_ <= IBV_QPS_ERR; state_++) {
		f->qp.state = state_;
		assert_int_equal(uhcav_post_send(&f->qp.qp, &wr, &bad), EINVAL);
		assert_ptr_equal(bad, &wr);
	}
	assert_false(fixture_rung(f));
	fixture_destroy(f);
}

/* Indices run over 32 bits. */
static void test_wrap(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC);
	struct ibv_send_wr wr[FIXTURE_WR], *bad = NULL;

	(void)state;
	f->qp.sq.producer = f->qp.sq.polled = UINT32_MAX - 2;
	f->queue.send.producer = f->queue.send.consumer = UINT32_MAX - 2;
	chain(wr, FIXTURE_WR);
	assert_int_equal(uhcav_post_send(&f->qp.qp, wr, &bad), 0);
	assert_int_equal(f->queue.send.producer, FIXTURE_WR - 3);
	for (uint32_t i = 0; i < FIXTURE_WR; i++)
		assert_int_equal(fixture_sent(f, UINT32_MAX - 2 + i)->wr_id, i);
	assert_int_equal(uhcav_post_send(&f->qp.qp, wr, &bad), ENOMEM);
	fixture_destroy(f);
}

static void test_wakes_sleeper(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	uint64_t count = 0;

	(void)state;
	assert_int_equal(post(f, &wr), 0);
	assert_int_equal(read(f->ctx.event_fd, &count, sizeof(count)), -1);
	f->status.need_wakeup = 1;
	assert_int_equal(post(f, &wr), 0);
	assert_int_equal(read(f->ctx.event_fd, &count, sizeof(count)), sizeof(count));
	assert_int_equal(count, 1);
	fixture_destroy(f);
}

static void *post_cancelled(void *fixture)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	pthread_cancel(pthread_self());
	assert_int_equal(post(fixture, &wr), 0);
	pthread_testcancel();
	return NULL;
}

/* A thread that is cancelled comes to the end of its call, and the queue's lock does not stay. */
static void test_cancelled(void **state)
{
	struct fixture *f = setup(IBV_QPT_RC);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	uint64_t count = 0;
	pthread_t thread;
	void *result;

	(void)state;
	f->status.need_wakeup = 1;
	assert_int_equal(pthread_create(&thread, NULL, post_cancelled, f), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, PTHREAD_CANCELED);
	assert_int_equal(read(f->ctx.event_fd, &count, sizeof(count)), sizeof(count));
	assert_int_equal(f->qp.sq.lock.held, 0);
	assert_int_equal(post(f, &wr), 0);
	fixture_destroy(f);
}

/* An XRC request names the SRQ of the other side. */
static void test_xrc(void **state)
{
	struct fixture *f = setup(IBV_QPT_XRC_SEND);
	struct ibv_sge s = sge(0, 10);
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND,
				 .sg_list = &s,
				 .num_sge = 1,
				 .qp_type.xrc.remote_srqn = 0x123};

	(void)state;
	assert_int_equal(post(f, &wr), 0);
	assert_int_equal(fixture_sent(f, 0)->xrc_srqn, 0x123);
	fixture_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_xrc),
		cmocka_unit_test(test_cancelled),
		cmocka_unit_test(test_send),
		cmocka_unit_test(test_rdma_and_atomic),
		cmocka_unit_test(test_datagram),
		cmocka_unit_test(test_inline),
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_not_gathered),
		cmocka_unit_test(test_gather_iova),
		cmocka_unit_test(test_bind),
		cmocka_unit_test(test_not_of_the_type),
		cmocka_unit_test(test_behind_fence),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_states),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_full_behind_overruns),
		cmocka_unit_test(test_no_send_queue),
		cmocka_unit_test(test_bad_in_the_middle),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_wakes_sleeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
