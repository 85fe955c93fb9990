/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion counters (ibv_create_comp_cntr(3), ibv_qp_attach_comp_cntr(3)): what each operation
 * counts and when, bytes, errors, lost and repeated packets, the rules of attaching.
 */
#include "tests/sim/world/pair.h"

#include "emu/core/base/base.h"

#include <errno.h>

#define BIT(op)   (1u << UHCA_ABI_COMP_##op)
#define ALL       ((1u << UHCA_ABI_COMP_OPS) - 1)
#define INIT_MASK (IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)

struct counter {
	struct client *c;
	uint32_t handle;
	const struct uhca_abi_comp_cntr *page;
};

static int try_create(struct side *s, uint32_t type, struct counter *out)
{
	const struct uhca_cmd_create_comp_cntr in = {.type = type};
	struct uhca_cmd_create_comp_cntr_reply reply;
	struct core_ring ring;
	int err = core_create_comp_cntr(s->c.core, &in, &reply, &ring);

	if (err)
		return err;
	*out = (struct counter){s->c.core, reply.handle, ring.base};
	world_assert(s->pair->w, reply.region_size == ring.size);
	return 0;
}

static int try_attach(const struct counter *k, const struct vqp *qp, uint32_t ops)
{
	const struct uhca_cmd_attach_comp_cntr in = {
		.qp = qp->handle, .comp_cntr = k->handle, .op_mask = ops};

	return core_attach_comp_cntr(k->c, &in);
}

static struct counter attached(struct side *s, uint32_t type, uint32_t ops)
{
	struct counter k;

	world_assert(s->pair->w, try_create(s, type, &k) == 0);
	world_assert(s->pair->w, try_attach(&k, &s->qp, ops) == 0);
	return k;
}

static void expect(struct pair *p, const struct counter *k, uint64_t completions, uint64_t errors)
{
	if (k->page->completions != completions || k->page->errors != errors)
		world_fail(p->w, "%llu completions and %llu errors, not %llu and %llu",
			   (unsigned long long)k->page->completions,
			   (unsigned long long)k->page->errors, (unsigned long long)completions,
			   (unsigned long long)errors);
}

static void finish(struct pair *p, struct counter *k, unsigned n)
{
	world_assert(p->w, core_destroy_comp_cntr(k[0].c, k[0].handle) == -EBUSY);
	world_assert(p->w, vqp_destroy(&p->a.qp) == 0 && vqp_destroy(&p->b.qp) == 0);
	p->a.qp.handle = p->b.qp.handle = 0;
	for (unsigned i = 0; i < n; i++)
		world_assert(p->w, core_destroy_comp_cntr(k[i].c, k[i].handle) == 0);
	pair_finish(p);
}

static void start(struct pair *p)
{
	pair_create(p, &(struct pair_options){.unconnected = true});
}

static void connect_both(struct pair *p)
{
	vqp_connect(&p->a.qp, &p->b.qp, &p->conn);
}

static void post(struct side *s, uint8_t opcode, uint32_t length, uint16_t flags)
{
	side_post(s, &(struct op){.opcode = opcode, .flags = flags, .length = length, .imm = 7});
}

/* Each operation moves its own counters, at either end, whether its completion is asked for. */
static void test_operations(void **state)
{
	struct counter k[2 * UHCA_ABI_COMP_OPS];
	struct pair p;

	(void)state;
	start(&p);
	for (unsigned i = 0; i < UHCA_ABI_COMP_OPS; i++) {
		k[i] = attached(&p.a, UHCA_ABI_COMP_WRS, 1u << i);
		k[UHCA_ABI_COMP_OPS + i] = attached(&p.b, UHCA_ABI_COMP_WRS, 1u << i);
	}
	connect_both(&p);
	side_recv(&p.b, 1, 100000, 64);
	side_recv(&p.b, 2, 100064, 64);
	post(&p.a, UHCA_ABI_WR_SEND, 64, 0);
	post(&p.a, UHCA_ABI_WR_RDMA_WRITE, 0, 0);
	post(&p.a, UHCA_ABI_WR_RDMA_WRITE_WITH_IMM, 0, 0);
	post(&p.a, UHCA_ABI_WR_RDMA_READ, 0, 0);
	side_fetch_add(&p.a, 9, 4096, 8192, 0); /* no operation of these */
	pair_idle(&p);
	expect(&p, &k[UHCA_ABI_COMP_SEND], 1, 0);
	expect(&p, &k[UHCA_ABI_COMP_RDMA_WRITE], 2, 0);
	expect(&p, &k[UHCA_ABI_COMP_RDMA_READ], 1, 0);
	for (unsigned op = 0; op < UHCA_ABI_COMP_OPS; op++)
		if (1u << op & (BIT(RECV) | BIT(REMOTE_RDMA_READ) | BIT(REMOTE_RDMA_WRITE)))
			expect(&p, &k[op], 0, 0);
	expect(&p, &k[UHCA_ABI_COMP_OPS + UHCA_ABI_COMP_RECV], 2, 0);
	expect(&p, &k[UHCA_ABI_COMP_OPS + UHCA_ABI_COMP_REMOTE_RDMA_WRITE], 2, 0);
	expect(&p, &k[UHCA_ABI_COMP_OPS + UHCA_ABI_COMP_REMOTE_RDMA_READ], 1, 0);
	expect(&p, &k[UHCA_ABI_COMP_OPS + UHCA_ABI_COMP_SEND], 0, 0);
	side_wait(&p.a, 1); /* of the atomic alone */
	pair_expect_copy(&p.a, 0, &p.b, 100000, 64);
	side_ignore(&p.a, 4096, 8);
	finish(&p, k, 2 * UHCA_ABI_COMP_OPS);
}

static void test_bytes(void **state)
{
	struct counter k[2];
	struct pair p;

	(void)state;
	start(&p);
	k[0] = attached(&p.a, UHCA_ABI_COMP_BYTES, ALL);
	k[1] = attached(&p.b, UHCA_ABI_COMP_BYTES, ALL);
	connect_both(&p);
	side_recv(&p.b, 1, 200000, 64);
	post(&p.a, UHCA_ABI_WR_SEND, 48, 0);
	side_write(&p.a, 2, 0, 300000, 10000);
	side_read(&p.a, 3, 100000, 400000, 5000);
	side_wait(&p.a, 2);
	expect(&p, &k[0], 48 + 10000 + 5000, 0);
	expect(&p, &k[1], 48 + 10000 + 5000, 0);
	pair_expect_copy(&p.a, 0, &p.b, 200000, 48);
	pair_expect_copy(&p.a, 0, &p.b, 300000, 10000);
	pair_expect_copy(&p.b, 400000, &p.a, 100000, 5000);
	finish(&p, k, 2);
}

/* Several QPs may count at one place, and what is sent again counts once. */
static void test_loss(void **state)
{
	struct link lossy = link_default();
	struct counter k[2];
	struct pair p;

	(void)state;
	start(&p);
	lossy.loss = lossy.duplicate = lossy.reorder = 100000;
	lossy.reorder_delay = 5000;
	lossy.max_losses = 2;
	world_set_links(p.w, &lossy);
	k[0] = attached(&p.a, UHCA_ABI_COMP_WRS, ALL);
	k[1] = attached(&p.b, UHCA_ABI_COMP_WRS, ALL);
	connect_both(&p);
	for (unsigned i = 0; i < 20; i++) {
		side_write(&p.a, i, 0, 200000, 20000);
		side_read(&p.a, i, 100000, 200000, 20000);
	}
	side_wait(&p.a, 40);
	expect(&p, &k[0], 40, 0);
	expect(&p, &k[1], 40, 0);
	pair_expect_copy(&p.a, 0, &p.b, 200000, 20000);
	pair_expect_copy(&p.a, 0, &p.a, 100000, 20000);
	finish(&p, k, 2);
}

/* What fails counts as an error at either end, and so does each request that is flushed. */
static void test_errors(void **state)
{
	struct counter k[2];
	struct pair p;

	(void)state;
	start(&p);
	k[0] = attached(&p.a, UHCA_ABI_COMP_BYTES, ALL);
	k[1] = attached(&p.b, UHCA_ABI_COMP_BYTES, ALL);
	connect_both(&p);
	side_recv(&p.b, 1, 0, 8);
	side_write(&p.a, 1, 0, PAIR_BUFFER, 100); /* beyond the region */
	side_send(&p.a, 2, 0, 8);
	side_wait(&p.a, 2);
	side_wait(&p.b, 1);
	expect(&p, &k[0], 0, 2);
	expect(&p, &k[1], 0, 2);
	finish(&p, k, 2);
}

static void set(struct pair *p, const struct counter *k, bool errors, bool add, uint64_t value)
{
	const struct uhca_cmd_modify_comp_cntr in = {
		.handle = k->handle, .errors = errors, .value = value};

	world_assert(p->w, core_modify_comp_cntr(k->c, &in, add) == 0);
}

/* The largest value runs over to 0. */
static void test_set(void **state)
{
	struct counter k;
	struct pair p;

	(void)state;
	start(&p);
	k = attached(&p.a, UHCA_ABI_COMP_WRS, BIT(RDMA_WRITE));
	connect_both(&p);
	set(&p, &k, false, false, UINT64_MAX - 1);
	set(&p, &k, true, false, 5);
	set(&p, &k, true, true, 2);
	expect(&p, &k, UINT64_MAX - 1, 7);
	set(&p, &k, false, true, 1);
	expect(&p, &k, UINT64_MAX, 7);
	post(&p.a, UHCA_ABI_WR_RDMA_WRITE, 0, 0);
	pair_idle(&p);
	expect(&p, &k, 0, 7);
	finish(&p, &k, 1);
}

/* Who goes by the counter finds the bytes in memory, without a poll. */
static void test_bytes_are_there(void **state)
{
	struct counter k;
	struct pair p;

	(void)state;
	start(&p);
	k = attached(&p.b, UHCA_ABI_COMP_WRS, BIT(RECV));
	p.b.cq.page->ring.takes_copies_on_poll = 1;
	connect_both(&p);
	side_recv(&p.b, 1, 4096, 16);
	side_store(&p.a, 0, 0x1122334455667788);
	post(&p.a, UHCA_ABI_WR_SEND, 16, 0);
	pair_idle(&p);
	expect(&p, &k, 1, 0);
	world_assert(p.w, side_load(&p.b, 4096) == 0x1122334455667788);
	pair_expect_copy(&p.a, 0, &p.b, 4096, 16);
	finish(&p, &k, 1);
}

static void test_rules_of_attaching(void **state)
{
	const struct uhca_abi_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct counter k[3], none = {0};
	struct pair p;

	(void)state;
	start(&p);
	k[0] = attached(&p.a, UHCA_ABI_COMP_WRS, BIT(SEND));
	world_assert(p.w, try_create(&p.a, UHCA_ABI_COMP_WRS, &k[1]) == 0);
	world_assert(p.w, try_create(&p.b, UHCA_ABI_COMP_WRS, &k[2]) == 0);
	world_assert(p.w, try_create(&p.a, 2, &none) == -EINVAL);
	world_assert(p.w, try_attach(&k[1], &p.a.qp, BIT(SEND) | BIT(RECV)) == -EBUSY);
	world_assert(p.w, try_attach(&k[1], &p.a.qp, 0) == -EINVAL);
	world_assert(p.w, try_attach(&k[1], &p.a.qp, ALL + 1) == -EOPNOTSUPP);
	none = (struct counter){.c = p.a.c.core, .handle = 77};
	world_assert(p.w, try_attach(&none, &p.a.qp, BIT(RECV)) == -ENOENT);
	world_assert(p.w, vqp_modify(&p.a.qp, INIT_MASK, &init) == 0);
	world_assert(p.w, try_attach(&k[1], &p.a.qp, BIT(RECV)) == 0);
	world_assert(p.w, vqp_to_state(&p.a.qp, IBV_QPS_RESET) == 0);
	connect_both(&p);
	world_assert(p.w, try_attach(&k[1], &p.a.qp, BIT(RDMA_READ)) == -EINVAL);
	world_assert(p.w, core_destroy_comp_cntr(k[2].c, k[2].handle) == 0);
	finish(&p, k, 2);
}

static void test_profile_without(void **state)
{
	struct core_config cfg = world_config();
	struct counter k;
	struct pair p;

	(void)state;
	cfg.limits.max_comp_cntr = 0;
	pair_create(&p, &(struct pair_options){.cfg = &cfg});
	world_assert(p.w, try_create(&p.a, UHCA_ABI_COMP_WRS, &k) == -EOPNOTSUPP);
	pair_finish(&p);
	cfg.limits.max_comp_cntr = 1;
	pair_create(&p, &(struct pair_options){.cfg = &cfg});
	world_assert(p.w, try_create(&p.a, UHCA_ABI_COMP_WRS, &k) == 0);
	world_assert(p.w, try_create(&p.a, UHCA_ABI_COMP_WRS, &k) == -ENOMEM);
	pair_finish(&p); /* what its client left goes with it */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_operations),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_bytes_are_there),
		cmocka_unit_test(test_rules_of_attaching),
		cmocka_unit_test(test_profile_without),
	};

	return cmocka_run_group_tests_name("comp_cntr", tests, NULL, NULL);
}
