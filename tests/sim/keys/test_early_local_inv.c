/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * config.local_inv_early: LOCAL_INV without fence takes effect before requests that were posted
 * before it; a fenced one never does. It completes in its turn, is executed once, and what comes of
 * it is remembered whatever happens to the queue meanwhile.
 */
#include "tests/sim/world/pair.h"
#include "tests/sim/world/window.h"

#include "emu/core/qp/qp.h"

/* Side a has a key over one page of its own buffer, described by its queue. */
struct stage {
	struct pair p;
	struct vmr key;
	uint32_t page; /* offset in the buffer */
};

/* REG_MR of the key, in the queue, without doorbell. */
static void queue_reg(struct stage *s, uint64_t wr_id)
{
	uint64_t page = s->p.a.mr.addr + s->page;
	struct vsend wr = {.wr_id = wr_id,
			   .opcode = UHCA_ABI_WR_REG_MR,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .reg = {.iova = page,
				   .length = 4096,
				   .key = s->key.lkey,
				   .access = PAIR_ACCESS,
				   .lkey = s->p.a.mr.lkey,
				   .n = 1,
				   .page_shift = 12},
			   .list = &page,
			   .list_bytes = sizeof(page)};

	assert_int_equal(vqp_queue_send(&s->p.a.qp, &wr), 0);
}

static void queue_inv(struct stage *s, uint64_t wr_id, uint16_t flags)
{
	struct vsend wr = {.wr_id = wr_id,
			   .opcode = UHCA_ABI_WR_LOCAL_INV,
			   .flags = flags | UHCA_ABI_SEND_SIGNALED,
			   .imm = s->key.lkey};

	assert_int_equal(vqp_queue_send(&s->p.a.qp, &wr), 0);
}

/* From the key's page, by the key. */
static void queue_from_key(struct stage *s, uint64_t wr_id, uint8_t opcode, uint32_t length)
{
	struct uhca_abi_sge sge = {s->p.a.mr.addr + s->page, length, s->key.lkey};
	struct vsend wr = {.wr_id = wr_id,
			   .opcode = opcode,
			   .flags = UHCA_ABI_SEND_SIGNALED,
			   .sge = &sge,
			   .num_sge = 1,
			   .remote_addr = s->p.b.mr.addr,
			   .rkey = s->p.b.mr.rkey};

	assert_int_equal(vqp_queue_send(&s->p.a.qp, &wr), 0);
}

/* From the buffer, by its region's key. */
static void queue_write(struct stage *s, uint64_t wr_id, uint32_t length)
{
	side_queue(&s->p.a, &(struct op){.opcode = UHCA_ABI_WR_RDMA_WRITE,
					 .wr_id = wr_id,
					 .flags = UHCA_ABI_SEND_SIGNALED,
					 .local = s->page,
					 .length = length});
}

static void ring(struct stage *s)
{
	vqp_doorbell(&s->p.a.qp);
}

static bool key_is_valid(const struct stage *s)
{
	const struct mr *mr = table_find(&s->p.a.c.host->dev->mrs, s->key.lkey >> 8);

	return mr->ind->shape != 0;
}

static void start(struct stage *s, bool early, uint64_t seed)
{
	struct core_config cfg = world_config();

	cfg.local_inv_early = early;
	pair_create(&s->p, &(struct pair_options){.cfg = &cfg, .seed = seed});
	s->page = (uint32_t)(-s->p.a.mr.addr & 4095);
	assert_int_equal(vclient_alloc_key(&s->p.a.c, s->p.a.c.pd, 4, &s->key), 0);
	queue_reg(s, 1);
	ring(s);
	side_expect(&s->p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_REG_MR);
}

/* A SEND from the key and LOCAL_INV right behind it: what comes of the SEND? */
static void send_and_invalidate(bool early, uint16_t flags, uint8_t expected)
{
	struct stage s;
	struct side *a = &s.p.a;

	start(&s, early, 0);
	side_recv(&s.p.b, 9, 0, 1000);
	queue_from_key(&s, 2, UHCA_ABI_WR_SEND, 1000);
	queue_inv(&s, 3, flags);
	ring(&s);
	if (expected) {
		side_expect(a, 1, 2, expected, 0);
		side_expect(a, 2, 3, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
		side_quiet(a, 1000000);
	} else {
		pair_expect_copy(a, s.page, &s.p.b, 0, 1000);
		side_expect(&s.p.b, 0, 9, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		side_expect(a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		side_expect(a, 2, 3, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_LOCAL_INV);
	}
	assert_false(key_is_valid(&s));
	pair_finish(&s.p);
}

static void test_overtakes(void **state)
{
	(void)state;
	send_and_invalidate(true, 0, UHCA_ABI_WC_LOC_PROT_ERR);
	send_and_invalidate(true, UHCA_ABI_SEND_FENCE, UHCA_ABI_WC_SUCCESS);
	send_and_invalidate(false, 0, UHCA_ABI_WC_SUCCESS);
	send_and_invalidate(false, UHCA_ABI_SEND_FENCE, UHCA_ABI_WC_SUCCESS);
}

/* Executed at once while the queue waits for a receive; completes behind what it overtook. */
static void test_completes_in_order(void **state)
{
	struct stage s;
	struct side *a = &s.p.a;

	(void)state;
	start(&s, true, 0);
	side_send(a, 2, s.page, 500);
	world_run(s.p.w, s.p.w->now + 3000); /* RNR NAK */
	queue_write(&s, 3, 100);
	queue_inv(&s, 4, 0);
	queue_write(&s, 5, 100);
	ring(&s);
	assert_true(key_is_valid(&s));
	world_pump(s.p.w);
	assert_false(key_is_valid(&s));
	side_recv(&s.p.b, 9, 8000, 500);
	pair_expect_copy(a, s.page, &s.p.b, 8000, 500);
	pair_expect_copy(a, s.page, &s.p.b, 0, 100);
	side_expect(a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(a, 2, 3, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(a, 3, 4, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_LOCAL_INV);
	side_expect(a, 4, 5, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	pair_finish(&s.p);
}

/* One that fails does so in its turn: what is before it succeeds, what is behind is flushed. */
static void test_failure(void **state)
{
	struct stage s;
	struct side *a = &s.p.a;

	(void)state;
	start(&s, true, 0);
	queue_write(&s, 2, 3000);
	queue_inv(&s, 3, 0);
	queue_inv(&s, 4, 0);
	queue_inv(&s, 5, 0);
	ring(&s);
	pair_expect_copy(a, s.page, &s.p.b, 0, 3000);
	side_expect(a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(a, 2, 3, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_LOCAL_INV);
	side_expect(a, 3, 4, UHCA_ABI_WC_MW_BIND_ERR, 0);
	side_expect(a, 4, 5, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	side_quiet(a, 1000000);
	pair_finish(&s.p);
}

/* The queue goes back over it: the key, registered again meanwhile, stays. */
static void test_once(void **state)
{
	struct stage s;
	struct side *a = &s.p.a;

	(void)state;
	start(&s, true, 0);
	rules_add(
		&s.p.rules,
		&(struct rule){.from = 0, .op = ROCE_OP_WRITE, .count = 1, .verdict = WORLD_DROP});
	queue_write(&s, 2, 100);
	queue_inv(&s, 3, 0);
	queue_reg(&s, 4);
	queue_from_key(&s, 5, UHCA_ABI_WR_RDMA_WRITE, 4096);
	ring(&s);
	pair_expect_copy(a, s.page, &s.p.b, 0, 4096);
	side_expect(a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(a, 2, 3, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_LOCAL_INV);
	side_expect(a, 3, 4, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_REG_MR);
	side_expect(a, 4, 5, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	assert_true(key_is_valid(&s));
	pair_finish(&s.p);
}

/* A client that rewrites a slot that was looked at harms nobody but itself. */
static void test_slot_rewritten(void **state)
{
	struct stage s;
	struct side *a = &s.p.a;
	struct vring *r = &a->qp.send;
	struct uhca_abi_send_wqe *e;

	(void)state;
	start(&s, true, 0);
	side_send(a, 2, s.page, 500);
	world_run(s.p.w, s.p.w->now + 3000);
	queue_inv(&s, 3, 0);
	ring(&s);
	world_pump(s.p.w);
	assert_false(key_is_valid(&s));
	e = (void *)(r->base + r->at.offset +
		     (size_t)((r->producer - 1) & (r->at.entries - 1)) * r->at.stride);
	e->opcode = UHCA_ABI_WR_SEND;
	side_recv(&s.p.b, 8, 8000, 500);
	side_recv(&s.p.b, 9, 9000, 0);
	pair_expect_copy(a, s.page, &s.p.b, 8000, 500);
	side_expect(a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(a, 2, 3, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&s.p.b, 1, 9, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	pair_finish(&s.p);
}

/* Programs that fence as they should notice nothing, whatever is lost. */
static void test_fenced_rounds(void **state)
{
	static const struct link hurt = {.delay = 1000,
					 .reorder_delay = 5000,
					 .loss = 80000,
					 .duplicate = 80000,
					 .reorder = 80000,
					 .split = 500000,
					 .max_losses = 4};

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct stage s;
		struct side *a = &s.p.a;

		start(&s, true, seed);
		queue_inv(&s, 2, 0);
		ring(&s);
		side_expect(a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_LOCAL_INV);
		world_set_links(s.p.w, &hurt);
		pair_expect_copy(a, s.page, &s.p.b, 0, 4096);
		for (unsigned i = 0; i < 60; i += 3) {
			queue_reg(&s, i);
			queue_from_key(&s, i + 1, UHCA_ABI_WR_RDMA_WRITE, 4096);
			queue_inv(&s, i + 2, UHCA_ABI_SEND_FENCE);
			ring(&s);
		}
		side_wait(a, 62);
		for (unsigned i = 0; i < 60; i++)
			world_assert(s.p.w, a->wc[2 + i].wr_id == i && !a->wc[2 + i].status);
		pair_finish(&s.p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overtakes),      cmocka_unit_test(test_completes_in_order),
		cmocka_unit_test(test_failure),        cmocka_unit_test(test_once),
		cmocka_unit_test(test_slot_rewritten), cmocka_unit_test(test_fenced_rounds),
	};

	return cmocka_run_group_tests_name("early_local_inv", tests, NULL, NULL);
}
