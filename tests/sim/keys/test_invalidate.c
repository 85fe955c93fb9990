/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LOCAL_INV and SEND with Invalidate: order and fence, what the receiver sees, whose keys may be
 * taken away and whose not, and all that while packets get lost and doubled.
 */
#include "tests/sim/world/window.h"

#include <errno.h>

#define ALL (IBV_ACCESS_LOCAL_WRITE | WINDOW_RIGHTS)

static const struct vsend whole = {.bind = {.length = 16384, .access = WINDOW_RIGHTS}};

/* Side b has a window of type 2 over its whole buffer. */
static void start_seeded(struct pair *p, uint64_t seed, struct vmw *w, struct vmr *mr)
{
	window_pair(p, seed & 1, PAIR_ACCESS, seed);
	window_region(&p->b, ALL, mr);
	window_alloc(&p->b, 2, w);
	assert_int_equal(window_bind_wait(&p->b, w, mr, &whole), UHCA_ABI_WC_SUCCESS);
}

static void start(struct pair *p, bool type_2a, struct vmw *w)
{
	struct vmr mr;

	start_seeded(p, 2 + type_2a, w, &mr);
}

static void send_inv(struct side *s, uint64_t wr_id, uint32_t key, uint32_t length)
{
	window_use(s,
		   &(struct vsend){.wr_id = wr_id, .opcode = UHCA_ABI_WR_SEND_WITH_INV, .imm = key},
		   0, length);
}

static void write_1(struct pair *p, uint64_t wr_id, uint32_t key)
{
	window_use(&p->a,
		   &(struct vsend){.wr_id = wr_id,
				   .opcode = UHCA_ABI_WR_RDMA_WRITE,
				   .remote_addr = p->b.mr.addr,
				   .rkey = key},
		   0, 1);
}

/* The receive tells which key went; the key opens nothing from then on. */
static void test_by_send(void **state)
{
	static const uint32_t lengths[] = {0, 1, 300, 1024, 5000};

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct pair p;
		struct vmw w;

		start(&p, i & 1, &w);
		side_recv(&p.b, 10, 8000, 5000);
		side_recv(&p.b, 11, 8000, 5000);
		send_inv(&p.a, 1, w.rkey, lengths[i]);
		pair_expect_copy(&p.a, 0, &p.b, 8000, lengths[i]);
		side_expect(&p.b, 1, 10, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		assert_true(p.b.wc[1].flags & UHCA_ABI_WC_WITH_INV);
		assert_false(p.b.wc[1].flags & UHCA_ABI_WC_WITH_IMM);
		assert_int_equal(p.b.wc[1].imm, w.rkey);
		assert_int_equal(p.b.wc[1].byte_len, lengths[i]);
		write_1(&p, 2, w.rkey);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		side_expect(&p.a, 1, 2, UHCA_ABI_WC_REM_ACCESS_ERR, 0);
		side_expect(&p.b, 2, 11, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
		pair_finish(&p);
	}
}

/* Executed once, however often the packet comes; a second request for the same key is refused. */
static void test_doubled(void **state)
{
	struct pair p;
	struct vmw w;

	(void)state;
	start(&p, false, &w);
	rules_add(&p.rules,
		  &(struct rule){.from = 0, .op = ROCE_OP_SEND, .verdict = WORLD_DUPLICATE});
	side_recv(&p.b, 10, 8000, 5000);
	side_recv(&p.b, 11, 8000, 5000);
	send_inv(&p.a, 1, w.rkey, 3000);
	pair_expect_copy(&p.a, 0, &p.b, 8000, 3000);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.b, 1, 10, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_quiet(&p.b, 1000000);
	send_inv(&p.a, 2, w.rkey, 3000);
	side_expect(&p.b, 2, 11, UHCA_ABI_WC_REM_INV_REQ_ERR, 0);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_RETRY_EXC_ERR, 0);
	pair_finish(&p);
}

/*
 * Class J (9.9.6.3): a key that may not be invalidated ends the responder's QP and its receive. No
 * NAK goes back, and no event is raised; what came before the request is answered, and nothing is
 * invalidated.
 */
static void test_class_j(void **state)
{
	struct pair p;

	(void)state;
	pair_create(&p, &(struct pair_options){0});
	for (unsigned i = 0; i < 3; i++)
		side_recv(&p.b, 10 + i, 8000, 5000);
	side_send(&p.a, 1, 0, 100);
	side_read(&p.a, 2, 16384, 0, 6000);
	send_inv(&p.a, 3, p.b.mr.rkey, 100);
	side_send(&p.a, 4, 0, 100);
	pair_expect_copy(&p.a, 0, &p.b, 8000, 100);
	pair_expect_copy(&p.b, 0, &p.a, 16384, 6000);
	side_expect(&p.b, 0, 10, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	side_expect(&p.b, 1, 11, UHCA_ABI_WC_REM_INV_REQ_ERR, 0);
	side_expect(&p.b, 2, 12, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	side_expect(&p.a, 2, 3, UHCA_ABI_WC_RETRY_EXC_ERR, 0);
	side_expect(&p.a, 3, 4, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
	assert_int_equal(core_counters(p.w->device[1].host.dev)->naks_sent, 0);
	assert_true(rules_count(&p.rules, 0, ROCE_OP_SEND) > 3);
	assert_int_equal(vqp_state(&p.b.qp), IBV_QPS_ERR);
	assert_int_equal(p.b.c.async.n, 0);
	pair_finish(&p);
}

/* A SEND with Invalidate that finds no receive has invalidated nothing yet. */
static void test_not_ready(void **state)
{
	struct pair p;
	struct vmr mr;
	struct vmw w;

	(void)state;
	start_seeded(&p, 0, &w, &mr);
	send_inv(&p.a, 1, w.rkey, 100);
	world_run(p.w, p.w->now + 5000);
	assert_int_equal(rules_count(&p.rules, 1, ROCE_OP_ACK), 1); /* RNR NAK */
	assert_int_equal(vclient_dereg_mr(&p.b.c, &mr), -EBUSY);    /* still bound */
	side_recv(&p.b, 10, 8000, 100);
	pair_expect_copy(&p.a, 0, &p.b, 8000, 100);
	side_expect(&p.b, 1, 10, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
	assert_int_equal(p.b.wc[1].imm, w.rkey);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
	assert_int_equal(vclient_dereg_mr(&p.b.c, &mr), 0);
	pair_finish(&p);
}

/* When a LOCAL_INV of side a's own window took effect: before or after the READ's answer. */
static bool overtakes(uint16_t flags)
{
	struct pair p;
	struct vmr mr;
	struct vmw w;
	bool early;

	window_pair(&p, false, PAIR_ACCESS, 0);
	window_region(&p.a, ALL, &mr);
	window_alloc(&p.a, 2, &w);
	assert_int_equal(window_bind_wait(&p.a, &w, &mr, &whole), UHCA_ABI_WC_SUCCESS);
	side_write(&p.a, 1, 0, 0, 5000);
	window_invalidate(&p.a, 2, w.rkey, flags);
	pair_expect_copy(&p.a, 0, &p.b, 0, 5000);
	world_pump(p.w); /* all is sent, nothing answered */
	early = vclient_dereg_mr(&p.a.c, &mr) == 0;
	side_expect(&p.a, 1, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
	side_expect(&p.a, 2, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_LOCAL_INV);
	pair_finish(&p);
	return early;
}

/* Loosely ordered: it may be done before an earlier WRITE is complete, unless it is fenced. */
static void test_fence(void **state)
{
	(void)state;
	assert_true(overtakes(0));
	assert_false(overtakes(UHCA_ABI_SEND_FENCE));
}

/* A fenced bind waits for READs, and its window is not there before. */
static void test_fenced_bind(void **state)
{
	struct pair p;
	struct vmr mr;
	struct vmw w;

	(void)state;
	for (unsigned fenced = 0; fenced < 2; fenced++) {
		struct vsend range = whole;

		range.flags = fenced ? UHCA_ABI_SEND_FENCE : 0;
		window_pair(&p, false, PAIR_ACCESS, 0);
		window_region(&p.a, ALL, &mr);
		window_alloc(&p.a, 2, &w);
		side_read(&p.a, 1, 0, 0, 5000);
		window_bind(&p.a, 2, &w, &mr, &range);
		pair_expect_copy(&p.b, 0, &p.a, 0, 5000);
		world_pump(p.w);
		assert_int_equal(vclient_dereg_mr(&p.a.c, &mr) == 0, fenced);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
		/* The region was taken from under the fenced one: it fails in its turn. */
		side_expect(&p.a, 1, 2, fenced ? UHCA_ABI_WC_MW_BIND_ERR : UHCA_ABI_WC_SUCCESS,
			    UHCA_ABI_WC_BIND_MW);
		pair_finish(&p);
	}
}

/* What LOCAL_INV may not name; the queue ends with it, what is behind is flushed. */
static void test_refused(void **state)
{
	enum { REGION, TYPE_1, STALE, UNBOUND, NOTHING, CASES };

	(void)state;
	for (unsigned i = 0; i < CASES; i++) {
		struct pair p;
		struct vmw w, other;
		uint32_t key[CASES];
		struct vmr mr;

		start(&p, false, &w);
		window_region(&p.b, ALL, &mr);
		window_alloc(&p.b, 1, &other);
		assert_int_equal(window_bind_wait(&p.b, &other, &mr, &whole), 0);
		key[REGION] = mr.rkey;
		key[TYPE_1] = other.rkey;
		key[STALE] = w.rkey ^ 1;
		window_alloc(&p.b, 2, &other);
		key[UNBOUND] = other.rkey;
		key[NOTHING] = 0;
		window_invalidate(&p.b, 1, key[i], 0);
		window_invalidate(&p.b, 2, w.rkey, 0);
		side_expect(&p.b, 2, 1, UHCA_ABI_WC_MW_BIND_ERR, 0);
		side_expect(&p.b, 3, 2, UHCA_ABI_WC_WR_FLUSH_ERR, 0);
		pair_finish(&p);
	}
}

/*
 * Rounds under loss: b binds and tells the key, a writes and gives the window back with its SEND.
 * Each round's key must be dead and each next bind allowed: the window is unbound then.
 */
static void rounds(uint64_t seed)
{
	static const struct link hurt = {.delay = 1000,
					 .reorder_delay = 5000,
					 .loss = 80000,
					 .duplicate = 80000,
					 .reorder = 80000,
					 .split = 500000,
					 .max_losses = 4};
	struct pair p;
	struct vmw w;
	struct vmr mr;

	start_seeded(&p, seed, &w, &mr);
	world_set_links(p.w, &hurt);
	for (uint32_t i = 0; i < 12; i++) {
		unsigned a = p.a.n_wc, b = p.b.n_wc;

		side_recv(&p.b, 100 + i, 8000, 2500);
		window_use(&p.a,
			   &(struct vsend){.wr_id = 200 + i,
					   .opcode = UHCA_ABI_WR_RDMA_WRITE,
					   .remote_addr = p.b.mr.addr + 300 * i,
					   .rkey = w.rkey},
			   0, 3000);
		send_inv(&p.a, 300 + i, w.rkey, 2500);
		pair_expect_copy(&p.a, 0, &p.b, 300 * i, 3000);
		pair_expect_copy(&p.a, 0, &p.b, 8000, 2500);
		side_expect(&p.b, b, 100 + i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RECV);
		assert_int_equal(p.b.wc[b].imm, w.rkey);
		side_expect(&p.a, a, 200 + i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_WRITE);
		side_expect(&p.a, a + 1, 300 + i, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_SEND);
		assert_int_equal(window_bind_wait(&p.b, &w, &mr, &whole), UHCA_ABI_WC_SUCCESS);
	}
	pair_finish(&p);
}

static void test_hurt(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++)
		rounds(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_send), cmocka_unit_test(test_doubled),
		cmocka_unit_test(test_class_j), cmocka_unit_test(test_not_ready),
		cmocka_unit_test(test_fence),   cmocka_unit_test(test_fenced_bind),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_hurt),
	};

	return cmocka_run_group_tests_name("invalidate", tests, NULL, NULL);
}
