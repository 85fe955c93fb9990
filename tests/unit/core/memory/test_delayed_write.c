/* SPDX-License-Identifier: BSD-2-Clause */
/* Stores that are late: what is there when, in which order, and that nothing is lost. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/device.h"
#include "emu/core/memory/delayed_write.h"

#include <errno.h>
#include <string.h>

#define LATE  5000u
#define SIZE  (1u << 17)
#define SEEDS 50u

static uint8_t memory[SIZE], bytes[SIZE];
static unsigned stores, shortest;
static uint64_t seed;
static bool late_writes;
static int refuses; /* what a store or a read says */

static int load(void *client, const struct core_span *from, unsigned n, void *to)
{
	uint8_t *at = to;

	(void)client;
	for (unsigned i = 0; i < n && !refuses; at += from[i++].length)
		memcpy(at, memory + from[i].addr, from[i].length);
	return refuses;
}

static int store(void *client, const struct core_span *to, unsigned n, const struct iovec *from,
		 unsigned n_from)
{
	uint8_t whole[SIZE], *at = whole;

	(void)client;
	stores++;
	for (unsigned i = 0; i < n_from; at += from[i++].iov_len)
		memcpy(at, from[i].iov_base, from[i].iov_len);
	at = whole;
	for (unsigned i = 0; i < n; at += to[i++].length) {
		memcpy(memory + to[i].addr, at, to[i].length);
		if (to[i].length < shortest)
			shortest = to[i].length;
	}
	return 0;
}

static void tweak(struct core_config *cfg)
{
	cfg->late_bytes_ns = LATE;
	cfg->late_writes = late_writes;
	cfg->relaxation_seed = seed;
}

static void start(struct fixture *f)
{
	fixture_start(f, tweak);
	f->ops.mem_read = load;
	f->ops.mem_write = store;
	memset(memory, 0, SIZE);
	for (unsigned i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)(1 + i % 251);
	stores = 0;
	shortest = SIZE;
	refuses = 0;
}

static int put_payload(struct fixture *f, uint64_t addr, uint32_t length, bool of_write)
{
	struct core_span to = {.addr = addr, .length = length};
	struct iovec from[] = {{bytes + addr, length / 3},
			       {bytes + addr + length / 3, length - length / 3}};

	return delayed_write_write(f->dev,
				   &(struct late_write){f->client, &to, 1, from, 2, of_write});
}

static unsigned there(uint64_t addr, uint32_t length)
{
	unsigned n = 0;

	for (uint64_t i = addr; i < addr + length; i++)
		n += memory[i] == bytes[i];
	return n;
}

/* Some at once, some late, any of them; words are whole. */
static void test_some(void **state)
{
	unsigned last_first = 0, nothing = 0;
	struct fixture f;

	(void)state;
	late_writes = false;
	for (seed = 0; seed < SEEDS; seed++) {
		start(&f);
		assert_int_equal(put_payload(&f, 64, 4096, true), 0);
		assert_in_range(there(64, 4096), 0, 4095);
		nothing += there(64, 4096) == 0;
		last_first += there(64 + 4095, 1) && !there(64, 1);
		assert_int_equal(delayed_write_due(f.dev), f.dev->now + LATE);
		delayed_write_settle(f.dev);
		assert_int_equal(there(64, 4096), 4096);
		assert_int_equal(there(0, 64) + there(64 + 4096, 64), 0);
		assert_true(shortest >= 8);
		assert_int_equal(delayed_write_due(f.dev), UINT64_MAX);
		stores = 0;
		delayed_write_settle(f.dev);
		assert_int_equal(stores, 0);
		fixture_stop(&f);
	}
	assert_in_range(last_first, 1, SEEDS - 1);
	assert_in_range(nothing, 0, SEEDS / 2);
}

/* What comes next sends it home: the order of messages stays. */
static void test_order(void **state)
{
	struct fixture f;

	(void)state;
	for (seed = 0; seed < SEEDS; seed++) {
		start(&f);
		assert_int_equal(put_payload(&f, 0, 700, true), 0);
		assert_int_equal(put_payload(&f, 1024, 700, true), 0);
		assert_int_equal(there(0, 700), 700);
		fixture_stop(&f);
	}
}

/* By itself, when the time is over; an odd address is cut where words begin. */
static void test_time(void **state)
{
	struct fixture f;

	(void)state;
	seed = 3;
	start(&f);
	assert_int_equal(put_payload(&f, 61, 3, true), 0); /* one piece: late as a whole */
	assert_int_equal(there(61, 3), 0);
	assert_int_equal(core_next_deadline(f.dev), LATE);
	core_tick(f.dev, LATE - 1);
	assert_int_equal(there(61, 3), 0);
	core_tick(f.dev, LATE);
	assert_int_equal(there(61, 3), 3);
	fixture_stop(&f);
}

/* Which completions stand for what. */
static void test_complete(void **state)
{
	struct fixture f;

	(void)state;
	for (late_writes = false;; late_writes = true) {
		start(&f);
		assert_int_equal(put_payload(&f, 0, 8, true), 0);
		delayed_write_settle_requests(f.dev);
		assert_int_equal(there(0, 8), late_writes ? 0 : 8);
		delayed_write_settle(f.dev);
		assert_int_equal(there(0, 8), 8);
		assert_int_equal(put_payload(&f, 64, 8, false), 0); /* what a READ brought */
		delayed_write_settle_requests(f.dev);
		assert_int_equal(there(64, 8), 8);
		fixture_stop(&f);
		if (late_writes)
			break;
	}
	late_writes = false;
}

/* Memory that is not there is found at once; nothing is kept. */
static void test_refused(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	refuses = -EFAULT;
	assert_int_equal(put_payload(&f, 0, 4096, true), -EFAULT);
	assert_int_equal(stores, 0);
	assert_int_equal(delayed_write_due(f.dev), UINT64_MAX);
	refuses = -ESRCH;
	assert_int_equal(put_payload(&f, 0, 4096, true), -ESRCH);
	fixture_stop(&f);
}

/* More than is kept, in bytes or pieces, and nothing at all. */
static void test_too_much(void **state)
{
	struct core_span to[600];
	struct iovec from = {bytes, sizeof(to) / sizeof(to[0])};
	struct fixture f;

	(void)state;
	start(&f);
	assert_int_equal(put_payload(&f, 0, 65536, true), 0);
	delayed_write_settle(f.dev);
	assert_int_equal(there(0, 65536), 65536);
	stores = 0;
	assert_int_equal(put_payload(&f, 0, 65537, true), 0);
	assert_int_equal(stores, 1);
	assert_int_equal(there(0, 65537), 65537);
	memset(memory, 0, SIZE);
	for (unsigned i = 0; i < 600; i++)
		to[i] = (struct core_span){.addr = i, .length = 1};
	assert_int_equal(
		delayed_write_write(f.dev, &(struct late_write){f.client, to, 600, &from, 1, true}),
		0);
	assert_int_equal(there(0, 600), 600);
	assert_int_equal(put_payload(&f, 0, 0, true), 0);
	assert_int_equal(delayed_write_due(f.dev), UINT64_MAX);
	fixture_stop(&f);
}

/* Its client goes: what was to come is there before. */
static void test_client(void **state)
{
	struct fixture f;

	(void)state;
	start(&f);
	assert_int_equal(put_payload(&f, 0, 4096, true), 0);
	core_client_destroy(f.client);
	assert_int_equal(there(0, 4096), 4096);
	f.client = core_client_create(f.dev, &f.client_cookie);
	fixture_stop(&f);
}

/* Off: one store, and no more than before. */
static void test_off(void **state)
{
	struct core_span to = {.addr = 0, .length = 4096};
	struct iovec from = {bytes, 4096};
	struct fixture f;

	(void)state;
	start(&f);
	fixture_stop(&f);
	fixture_start(&f, NULL);
	f.ops.mem_write = store;
	assert_null(f.dev->late);
	assert_int_equal(
		delayed_write_write(f.dev, &(struct late_write){f.client, &to, 1, &from, 1, true}),
		0);
	assert_int_equal(stores, 1);
	assert_int_equal(delayed_write_due(f.dev), UINT64_MAX);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_some),    cmocka_unit_test(test_order),
		cmocka_unit_test(test_time),    cmocka_unit_test(test_complete),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_client),  cmocka_unit_test(test_off),
	};

	return cmocka_run_group_tests_name("delayed_write", tests, NULL, NULL);
}
