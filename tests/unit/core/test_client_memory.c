/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The memory of the device that a client's regions and keys take: what is charged is refunded, by
 * whatever way it ends; more than the limit is refused; and the largest region takes no more than a
 * page array of 16384 entries and a little.
 */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/client.h"

#include <errno.h>
#include <infiniband/verbs.h>

#define ROOM       (1u << 20)
#define LONGEST    (16385u * 8 + 64 * 8)
#define LOCAL      1u
#define RELOCATION 1u /* IBV_REREG_MR_CHANGE_TRANSLATION */

static void tweak(struct core_config *cfg)
{
	cfg->limits.client_memory = ROOM;
}

static int reg(struct fixture *f, uint32_t pd, uint64_t addr, uint64_t length, uint32_t *handle)
{
	struct uhca_cmd_reg_mr in = {
		.pd = pd, .addr = addr, .iova = addr, .length = length, .access = LOCAL};
	struct uhca_cmd_reg_mr_reply out;
	int err = core_reg_mr(f->client, &in, &out);

	if (!err && handle)
		*handle = out.handle;
	return err;
}

static void test_longest(void **state)
{
	struct fixture f;
	uint32_t pd, handle = 0;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	for (unsigned shift = 12; shift < 47; shift++) {
		uint64_t length = 1ull << shift;

		assert_int_equal(reg(&f, pd, 0x1000 - 7, length, &handle), 0);
		assert_in_range(core_client_memory(f.client), 8, LONGEST);
		assert_int_equal(core_dereg_mr(f.client, handle), 0);
		assert_int_equal(core_client_memory(f.client), 0);
	}
	fixture_stop(&f);
}

/* Refused, and nothing has changed: what there is works, what goes makes room. */
static void test_limit(void **state)
{
	struct uhca_cmd_alloc_key key = {.max_entries = UHCA_ABI_MAX_ENTRIES};
	struct uhca_cmd_rereg_mr rereg = {.flags = RELOCATION, .addr = 0x1000, .length = 1u << 26};
	struct uhca_cmd_reg_mr_reply out;
	uint32_t first = 0, small = 0;
	struct fixture f;
	uint64_t before;
	unsigned n = 0;
	int err;

	(void)state;
	fixture_start(&f, tweak);
	key.pd = fixture_pd(&f);
	assert_int_equal(reg(&f, key.pd, 0, 4096, &small), 0);
	while ((err = reg(&f, key.pd, 0, 1u << 26, n ? NULL : &first)) == 0)
		n++;
	assert_int_equal(err, -ENOMEM);
	assert_int_equal(n, 7); /* 8 arrays of 16384 entries, but for their directories */
	while ((err = core_alloc_key(f.client, &key, &out)) == 0)
		n++;
	assert_int_equal(err, -ENOMEM);
	before = core_client_memory(f.client);
	assert_true(before > ROOM - ROOM / 8 && before <= ROOM);
	rereg.handle = small;
	assert_int_equal(core_rereg_mr(f.client, &rereg, &out), -ENOMEM);
	assert_int_equal(core_client_memory(f.client), before);
	/* Others have their own. */
	f.client = f.other;
	assert_int_equal(reg(&f, fixture_pd(&f), 0, 1u << 26, NULL), 0);
	f.client = list_entry(f.dev->clients.next, struct client, link);
	assert_int_equal(core_dereg_mr(f.client, first), 0);
	assert_int_equal(core_rereg_mr(f.client, &rereg, &out), 0);
	assert_int_equal(core_client_memory(f.client), before - 8);
	fixture_stop(&f);
}

/* What a member leaves to another is that one's; memory that is gone takes no room. */
static void test_heir(void **state)
{
	struct uhca_cmd_alloc_key key = {.max_entries = 4};
	struct uhca_cmd_reg_mr_reply out;
	struct fixture f;
	uint64_t keys;

	(void)state;
	fixture_start(&f, NULL);
	key.pd = fixture_pd(&f);
	assert_int_equal(core_alloc_key(f.client, &key, &out), 0);
	keys = core_client_memory(f.client);
	assert_int_equal(reg(&f, key.pd, 0, 1u << 20, NULL), 0);
	assert_int_equal(core_client_memory(f.client), keys + 256 * 8);
	assert_int_equal(core_client_join(f.other, f.client), 0);
	core_client_destroy(f.client);
	assert_int_equal(core_client_memory(f.other), keys);
	assert_int_equal(core_dereg_mr(f.other, out.handle), 0);
	assert_int_equal(core_client_memory(f.other), 0);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_heir),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
