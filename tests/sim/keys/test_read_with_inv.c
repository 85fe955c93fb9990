/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * READ with Invalidate: what it may name, when the key goes, what the completion says, losses.
 * The key of an element that takes no bytes may be that of a window; data goes through a described
 * key.
 */
#include "tests/sim/world/window.h"

#include "emu/core/keys/invalidate.h"
#include "emu/core/qp/qp.h"

#define RIGHTS (IBV_ACCESS_LOCAL_WRITE | WINDOW_RIGHTS)

static const struct vsend whole = {.bind = {.length = 16384, .access = WINDOW_RIGHTS}};

/* Side a has a window of type 2 over its buffer. */
static void start(struct pair *p, struct vmw *w)
{
	struct vmr mr;

	window_pair(p, false, PAIR_ACCESS, 0);
	window_region(&p->a, RIGHTS, &mr);
	window_alloc(&p->a, 2, w);
	assert_int_equal(window_bind_wait(&p->a, w, &mr, &whole), UHCA_ABI_WC_SUCCESS);
	p->a.n_wc = 0;
}

static struct vsend request(const struct pair *p, const struct uhca_abi_sge *sge)
{
	return (struct vsend){.wr_id = 1,
			      .opcode = UHCA_ABI_WR_READ_WITH_INV,
			      .flags = UHCA_ABI_SEND_SIGNALED,
			      .sge = sge,
			      .num_sge = 1,
			      .remote_addr = p->b.mr.addr,
			      .rkey = p->b.mr.rkey};
}

/* Reads no bytes "into" the key. */
static void read_key(struct pair *p, uint32_t key)
{
	struct uhca_abi_sge sge = {0, 0, key};
	struct vsend wr = request(p, &sge);

	world_assert(p->w, vqp_post_send(&p->a.qp, &wr) == 0);
}

static bool alive(const struct pair *p, uint32_t key)
{
	return invalidate_allowed(qp_key_user(device_find_qp(p->a.c.host->dev, p->a.qp.qpn)), key);
}

static void expect_gone(struct pair *p, unsigned i, uint32_t key)
{
	side_expect(&p->a, i, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_READ_WITH_INV);
	side_expect_len(&p->a, i, 0);
	world_assert(p->w, p->a.wc[i].imm == key);
	world_assert(p->w, p->a.wc[i].flags & UHCA_ABI_WC_WITH_INV);
	world_assert(p->w, !alive(p, key));
}

/* The key goes when the answer has come, and not before. */
static void test_when(void **state)
{
	struct pair p;
	struct vmw w;

	(void)state;
	start(&p, &w);
	read_key(&p, w.rkey);
	world_pump(p.w);
	world_assert(p.w, rules_count(&p.rules, 0, ROCE_OP_READ_REQ) == 1);
	world_assert(p.w, alive(&p, w.rkey));
	expect_gone(&p, 0, w.rkey);
	/* The queue lives on, and cannot do it twice. */
	side_read(&p.a, 2, 8192, 0, 100);
	pair_expect_copy(&p.b, 0, &p.a, 8192, 100);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_RDMA_READ);
	assert_int_equal(p.a.wc[1].flags & UHCA_ABI_WC_WITH_INV, 0);
	read_key(&p, w.rkey);
	side_expect(&p.a, 2, 1, UHCA_ABI_WC_LOC_PROT_ERR, 0);
	pair_finish(&p);
}

static void test_hurt(void **state)
{
	static const struct rule rules[] = {
		{.from = 0, .op = ROCE_OP_READ_REQ, .verdict = WORLD_DUPLICATE},
		{.from = 0, .op = ROCE_OP_READ_REQ, .count = 2, .verdict = WORLD_DROP},
		{.from = 1, .op = ROCE_OP_READ_RESP, .count = 3, .verdict = WORLD_DROP},
		{.from = 1, .op = ROCE_OP_READ_RESP, .verdict = WORLD_DUPLICATE},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		struct pair p;
		struct vmw w;

		start(&p, &w);
		rules_add(&p.rules, &rules[i]);
		read_key(&p, w.rkey);
		expect_gone(&p, 0, w.rkey);
		pair_finish(&p);
	}
}

/* A LOCAL_INV behind it is done first, since nothing fences it: the READ finds the key gone. */
static void test_overtaken(void **state)
{
	struct pair p;
	struct vmw w;

	(void)state;
	start(&p, &w);
	read_key(&p, w.rkey);
	window_invalidate(&p.a, 2, w.rkey, 0);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_MW_BIND_ERR, 0);
	world_assert(p.w, vqp_state(&p.a.qp) == IBV_QPS_ERR);
	side_wait(&p.a, 2);
	world_assert(p.w, p.a.wc[1].wr_id == 2);
	pair_finish(&p);
}

/* With a fence it comes after, and has nothing left to take away. */
static void test_fenced(void **state)
{
	struct pair p;
	struct vmw w;

	(void)state;
	start(&p, &w);
	read_key(&p, w.rkey);
	window_invalidate(&p.a, 2, w.rkey, UHCA_ABI_SEND_FENCE);
	expect_gone(&p, 0, w.rkey);
	side_expect(&p.a, 1, 2, UHCA_ABI_WC_MW_BIND_ERR, 0);
	pair_finish(&p);
}

/* A READ that nobody answers takes nothing away. */
static void test_never_answered(void **state)
{
	struct uhca_abi_sge sge = {0};
	struct vsend wr;
	struct pair p;
	struct vmw w;

	(void)state;
	start(&p, &w);
	rules_add(&p.rules,
		  &(struct rule){.from = 0, .op = ROCE_OP_READ_REQ, .verdict = WORLD_DROP});
	sge.lkey = w.rkey;
	wr = request(&p, &sge);
	world_assert(p.w, vqp_post_send(&p.a.qp, &wr) == 0);
	side_expect(&p.a, 0, 1, UHCA_ABI_WC_RETRY_EXC_ERR, 0);
	world_assert(p.w, alive(&p, w.rkey));
	pair_finish(&p);
}

/* What is refused before anything is sent. */
static void test_refused(void **state)
{
	enum { REGION, EMPTY_REGION, WINDOW_DATA, STALE, NONE, TWO, INLINE, GATHERED, CASES };

	(void)state;
	for (unsigned i = 0; i < CASES; i++) {
		struct uhca_abi_sge sge[2];
		struct vsend wr;
		struct pair p;
		struct vmw w;

		start(&p, &w);
		sge[0] = (struct uhca_abi_sge){p.a.mr.addr, 64, p.a.mr.lkey};
		if (i == EMPTY_REGION)
			sge[0].length = 0;
		if (i == WINDOW_DATA || i == STALE)
			sge[0].lkey = i == STALE ? w.rkey ^ 1 : w.rkey;
		if (i == STALE || i == TWO)
			sge[0].length = 0;
		sge[1] = (struct uhca_abi_sge){0, 0, w.rkey};
		wr = request(&p, sge);
		wr.num_sge = i == NONE ? 0 : i == TWO ? 2 : 1;
		wr.mode = i == INLINE ? VPOST_INLINE : i == GATHERED ? VPOST_GATHERED : VPOST_PLAIN;
		world_assert(p.w, vqp_post_send(&p.a.qp, &wr) == 0);
		side_expect(&p.a, 0, 1,
			    i < NONE ? UHCA_ABI_WC_LOC_PROT_ERR : UHCA_ABI_WC_LOC_QP_OP_ERR, 0);
		world_assert(p.w, rules_count(&p.rules, 0, ROCE_OP_READ_REQ) == 0);
		world_assert(p.w, alive(&p, w.rkey));
		pair_finish(&p);
	}
}

static void test_feature_off(void **state)
{
	static const uint32_t features[] = {UHCA_ABI_HAS_READ_WITH_INV, UHCA_ABI_HAS_INVALIDATE};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct core_config cfg = world_config();
		struct pair p;

		if (i < 2)
			cfg.features &= ~features[i];
		pair_create(&p, &(struct pair_options){.cfg = &cfg,
						       .type = i < 2 ? IBV_QPT_RC : IBV_QPT_UC});
		read_key(&p, p.a.mr.lkey);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_LOC_QP_OP_ERR, 0);
		pair_finish(&p);
	}
}

/* Four pages of a's buffer as columns: a layout of many pieces, filled by many packets. */
static void describe_columns(struct pair *p, struct vmr *key)
{
	struct {
		uint64_t count;
		struct uhca_abi_piece piece;
	} list = {256, {p->a.mr.addr + 65536, 48, p->a.mr.lkey, 0, {200}}};
	struct uhca_abi_layout l = {.access = IBV_ACCESS_LOCAL_WRITE, .n = 1, .n_dims = 1};
	struct vclient *c = &p->a.c;

	assert_int_equal(vclient_alloc_key(c, c->pd, 1, key), 0);
	l.key = key->lkey;
	assert_int_equal(
		vclient_describe_key(c, UHCA_ABI_SHAPE_INTERLEAVED, &l, &list, sizeof(list)), 0);
}

/* All data is in its place before the key goes, also when packets of the answer are lost. */
static void test_data(void **state)
{
	(void)state;
	for (unsigned lost = 0; lost < 5; lost++) {
		struct uhca_abi_sge sge = {.length = 256 * 48};
		struct vmr key;
		struct vsend wr;
		struct pair p;

		pair_create(&p, &(struct pair_options){0});
		describe_columns(&p, &key);
		sge.lkey = key.lkey;
		wr = request(&p, &sge);
		if (lost)
			rules_add(&p.rules, &(struct rule){.from = lost < 4,
							   .op = lost < 4 ? ROCE_OP_READ_RESP
									  : ROCE_OP_READ_REQ,
							   .skip = lost < 4 ? lost - 1 : 0,
							   .count = 1,
							   .verdict = WORLD_DROP});
		assert_int_equal(vqp_post_send(&p.a.qp, &wr), 0);
		for (unsigned i = 0; i < 256; i++)
			pair_expect_copy(&p.b, 48 * i, &p.a, 65536 + 200 * i, 48);
		side_wait(&p.a, 1);
		side_expect(&p.a, 0, 1, UHCA_ABI_WC_SUCCESS, UHCA_ABI_WC_READ_WITH_INV);
		side_expect_len(&p.a, 0, 256 * 48);
		assert_int_equal(p.a.wc[0].imm, key.lkey);
		assert_false(alive(&p, key.lkey));
		pair_finish(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_when),           cmocka_unit_test(test_hurt),
		cmocka_unit_test(test_overtaken),      cmocka_unit_test(test_fenced),
		cmocka_unit_test(test_never_answered), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_feature_off),    cmocka_unit_test(test_data),
	};

	return cmocka_run_group_tests_name("read_with_inv", tests, NULL, NULL);
}
