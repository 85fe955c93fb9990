/* SPDX-License-Identifier: BSD-2-Clause */
/* Each reason why a key does not open something, with what the device knows of it. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/keys/keys.h"
#include "emu/core/qp/qp.h"

#include <infiniband/verbs.h>

#define ADDR 0x7f0000001000ull
#define SIZE 4096u

struct ground {
	struct fixture f;
	struct fixture_qp names;
	struct qp *qp;
	uint32_t key;
};

static void start(struct ground *g)
{
	fixture_start(&g->f, NULL);
	g->names = fixture_qp(&g->f, QPT_RC);
	g->qp = device_find_qp(g->f.dev, g->names.qpn);
	g->key = fixture_mr(&g->f, g->names.pd, ADDR, SIZE, IBV_ACCESS_LOCAL_WRITE);
}

static struct uhca_abi_cause cause(struct ground *g, uint32_t key, uint64_t addr, uint64_t length,
				   uint32_t need)
{
	const struct key_access a = {key, addr, length, need, true};

	return key_cause(qp_key_user(g->qp), &a);
}

static void test_unknown(void **state)
{
	struct uhca_abi_cause c;
	struct ground g;

	(void)state;
	start(&g);
	c = cause(&g, g.key ^ 0x100, ADDR, 8, 0);
	assert_int_equal(c.kind, UHCA_ABI_CAUSE_KEY_UNKNOWN);
	assert_int_equal(c.key, g.key ^ 0x100);
	assert_int_equal(c.near, g.key);
	assert_int_equal(cause(&g, __builtin_bswap32(g.key), ADDR, 8, 0).near, g.key);
	assert_int_equal(cause(&g, ~g.key, ADDR, 8, 0).near, 0);
	fixture_stop(&g.f);
}

static void test_dead(void **state)
{
	struct uhca_cmd_reg_mr in = {.addr = ADDR, .iova = ADDR, .length = SIZE};
	struct uhca_cmd_reg_mr_reply out;
	struct uhca_abi_cause c;
	struct ground g;

	(void)state;
	start(&g);
	in.pd = g.names.pd;
	assert_int_equal(core_reg_mr(g.f.client, &in, &out), 0);
	core_tick(g.f.dev, 1000);
	assert_int_equal(core_dereg_mr(g.f.client, out.handle), 0);
	core_tick(g.f.dev, 5000);
	c = cause(&g, out.rkey, ADDR, 8, 0);
	assert_int_equal(c.kind, UHCA_ABI_CAUSE_KEY_DEAD);
	assert_int_equal(c.since, 4000);
	assert_int_equal(c.start, ADDR);
	assert_int_equal(c.size, SIZE);
	/* It is forgotten behind many others. */
	for (unsigned i = 0; i < DEVICE_DEAD_KEYS; i++) {
		struct uhca_cmd_reg_mr_reply other;

		assert_int_equal(core_reg_mr(g.f.client, &in, &other), 0);
		assert_int_equal(core_dereg_mr(g.f.client, other.handle), 0);
	}
	assert_int_equal(cause(&g, out.rkey, ADDR, 8, 0).kind, UHCA_ABI_CAUSE_KEY_UNKNOWN);
	fixture_stop(&g.f);
}

/* The address is another region's: which one that is. */
static void test_mixed_up(void **state)
{
	struct uhca_abi_cause c;
	struct ground g;
	uint32_t other;

	(void)state;
	start(&g);
	other = fixture_mr(&g.f, g.names.pd, ADDR + 2 * SIZE, SIZE, IBV_ACCESS_REMOTE_READ);
	c = cause(&g, g.key, ADDR + 2 * SIZE + 8, SIZE - 8, 0);
	assert_int_equal(c.kind, UHCA_ABI_CAUSE_RANGE);
	assert_int_equal(c.near, other);
	assert_int_equal(cause(&g, g.key, ADDR + 2 * SIZE + 8, SIZE, 0).near, 0);
	assert_int_equal(cause(&g, g.key, ADDR + SIZE, 8, 0).near, 0);
	fixture_stop(&g.f);
}

/* The region's other key, where it has two. */
static void test_swapped(void **state)
{
	struct uhca_cmd_reg_mr in = {.addr = ADDR, .iova = ADDR, .length = SIZE};
	struct uhca_cmd_reg_mr_reply out;
	struct uhca_abi_cause c;
	struct ground g;

	(void)state;
	start(&g);
	in.pd = g.names.pd;
	g.f.dev->key_split = true;
	assert_int_equal(core_reg_mr(g.f.client, &in, &out), 0);
	assert_int_not_equal(out.lkey, out.rkey);
	c = cause(&g, out.lkey, ADDR, 8, 0);
	assert_int_equal(c.kind, UHCA_ABI_CAUSE_KEY_SWAPPED);
	assert_int_equal(c.near, out.rkey);
	assert_int_equal(cause(&g, out.rkey, ADDR, 8, 0).kind, UHCA_ABI_CAUSE_MEMORY);
	fixture_stop(&g.f);
}

static void test_grants(void **state)
{
	struct uhca_abi_cause c;
	uint32_t pd, other;
	struct ground g;

	(void)state;
	start(&g);
	c = cause(&g, g.key, ADDR, 8, MR_REMOTE_WRITE | MR_LOCAL_WRITE);
	assert_int_equal(c.kind, UHCA_ABI_CAUSE_KEY_RIGHT);
	assert_int_equal(c.rights, MR_REMOTE_WRITE);
	c = cause(&g, g.key, ADDR + 1, SIZE, 0);
	assert_int_equal(c.kind, UHCA_ABI_CAUSE_RANGE);
	assert_int_equal(c.at, ADDR + 1);
	assert_int_equal(c.bytes, SIZE);
	assert_int_equal(c.start, ADDR);
	assert_int_equal(c.size, SIZE);
	pd = fixture_pd(&g.f);
	other = fixture_mr(&g.f, pd, ADDR, SIZE, 0);
	c = cause(&g, other, ADDR, 8, 0);
	assert_int_equal(c.kind, UHCA_ABI_CAUSE_KEY_DOMAIN);
	assert_int_equal(c.expected, g.names.pd);
	assert_int_equal(c.got, pd);
	assert_int_equal(cause(&g, g.key, ADDR, 8, 0).kind, UHCA_ABI_CAUSE_MEMORY);
	assert_int_equal(core_inject_revoke(g.f.dev, g.key), 0);
	assert_int_equal(cause(&g, g.key, ADDR, 8, 0).kind, UHCA_ABI_CAUSE_KEY_REVOKED);
	fixture_stop(&g.f);
}

static void test_list(void **state)
{
	struct uhca_abi_sge sge[2];
	struct uhca_abi_cause c;
	struct ground g;
	struct sgl l;

	(void)state;
	start(&g);
	sge[0] = (struct uhca_abi_sge){.addr = ADDR, .length = 8, .lkey = g.key};
	sge[1] = (struct uhca_abi_sge){.addr = ADDR, .length = SIZE + 1, .lkey = g.key};
	l = (struct sgl){g.f.dev, g.qp->pd, sge, 2};
	c = sgl_cause(&l, 0);
	assert_int_equal(c.kind, UHCA_ABI_CAUSE_RANGE);
	assert_int_equal(c.bytes, SIZE + 1);
	l.n = 1;
	assert_int_equal(sgl_cause(&l, 0).kind, UHCA_ABI_CAUSE_MEMORY);
	l.n = 0;
	assert_int_equal(sgl_cause(&l, 0).kind, UHCA_ABI_CAUSE_NONE);
	fixture_stop(&g.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown),  cmocka_unit_test(test_dead),
		cmocka_unit_test(test_mixed_up), cmocka_unit_test(test_swapped),
		cmocka_unit_test(test_grants),   cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
