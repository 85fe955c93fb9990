/* SPDX-License-Identifier: BSD-2-Clause */
/* A device: which configurations make one, its look-ups, its clock. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/device.h"
#include "emu/core/base/gid.h"
#include "emu/core/qp/qp.h"
#include "emu/core/qp/replay.h"
#include "emu/core/queues/recv_queue.h"

#include <string.h>

static void test_defaults(void **state)
{
	struct core_config cfg;

	(void)state;
	memset(&cfg, 0xee, sizeof(cfg));
	core_config_default(&cfg);
	assert_true(core_config_valid(&cfg));
	assert_int_equal(cfg.limits.max_qp, 4096);
	assert_int_equal(cfg.limits.max_cq, 4096);
	assert_int_equal(cfg.limits.max_mr, 16384);
	assert_int_equal(cfg.limits.max_rd_atomic, 128);
	assert_int_equal(cfg.node_guid, 0);
	for (int i = 0; i < CORE_GID_TABLE; i++)
		for (int k = 0; k < 16; k++)
			assert_int_equal(cfg.gid[i][k], 0);
}

/* One value out of bounds at a time. */
#define BAD(field, value)                                                                          \
	do {                                                                                       \
		struct core_config cfg;                                                            \
		core_config_default(&cfg);                                                         \
		cfg.field = (value);                                                               \
		assert_false(core_config_valid(&cfg));                                             \
		assert_null(core_create(&f.ops, &f, &cfg));                                        \
	} while (0)

static void test_invalid(void **state)
{
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	BAD(limits.max_qp, 0);
	BAD(limits.max_qp, UINT32_MAX);
	BAD(limits.max_qp_wr, 0);
	BAD(limits.max_qp_wr, UINT32_MAX);
	BAD(limits.max_sge, CORE_MAX_SGE + 1);
	BAD(limits.max_cq, 0);
	BAD(limits.max_cqe, 0);
	BAD(limits.max_cqe, UINT32_MAX);
	BAD(limits.max_mr, 0);
	BAD(limits.max_mr, 1u << 24);
	BAD(limits.max_pd, 0);
	BAD(limits.max_ah, UINT32_MAX);
	BAD(limits.max_srq, 0);
	BAD(limits.max_srq_wr, UINT32_MAX);
	BAD(limits.max_srq_sge, CORE_MAX_SGE + 1);
	BAD(limits.max_rd_atomic, REPLAY_MAX + 1);
	BAD(limits.max_inline_data, 65537);
	BAD(limits.max_mr_size, 0);
	BAD(limits.max_mr_size, UINT64_MAX);
	BAD(gather_limit, 65537);
	BAD(burst_bytes, 4095);
	BAD(window_bytes, 0);
	fixture_stop(&f);
}

static void large(struct core_config *cfg)
{
	cfg->limits.max_mr = 1u << 20;
	cfg->limits.max_qp = 1u << 16;
	cfg->limits.max_qp_wr = 1u << 16;
}

/* The large profile works, and its numbers still have room for generations. */
static void test_large(void **state)
{
	struct fixture f;
	struct fixture_qp qp;
	uint32_t key;

	(void)state;
	fixture_start(&f, large);
	qp = fixture_qp(&f, QPT_RC);
	assert_true(qp.qpn > 1 && qp.qpn < 0xffffff);
	key = fixture_mr(&f, qp.pd, 4096, 4096, 0);
	assert_int_equal(core_dereg_mr(f.client, key >> 8), 0);
	assert_int_not_equal(fixture_mr(&f, qp.pd, 4096, 4096, 0) >> 8, key >> 8);
	fixture_stop(&f);
}

/* Numbers that strangers may guess differ from device to device. */
static void test_unpredictable(void **state)
{
	struct fixture f;
	struct fixture_qp a, b;
	struct device *first;

	(void)state;
	fixture_start(&f, NULL);
	a = fixture_qp(&f, QPT_RC);
	first = f.dev;
	f.dev = core_create(&f.ops, &f, &f.cfg); /* goes on with the random numbers */
	assert_non_null(f.dev);
	f.client = core_client_create(f.dev, &f.client_cookie);
	b = fixture_qp(&f, QPT_RC);
	assert_int_not_equal(a.qpn, b.qpn);
	core_destroy(first);
	fixture_stop(&f);
}

static void test_find_gid(void **state)
{
	static const uint8_t zero[16], unknown[16] = {1};
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(device_find_gid(f.dev, f.cfg.gid[FIXTURE_GID_V4]), FIXTURE_GID_V4);
	assert_int_equal(device_find_gid(f.dev, f.cfg.gid[FIXTURE_GID_V6]), FIXTURE_GID_V6);
	assert_int_equal(device_find_gid(f.dev, f.cfg.gid[2]), 2);
	assert_int_equal(device_find_gid(f.dev, unknown), -1);
	assert_int_equal(device_find_gid(f.dev, zero), -1);
	fixture_stop(&f);
}

static void test_find_qp(void **state)
{
	struct fixture f;
	struct fixture_qp qp;

	(void)state;
	fixture_start(&f, NULL);
	assert_null(device_find_qp(f.dev, 0));
	assert_null(device_find_qp(f.dev, 1));
	qp = fixture_qp(&f, QPT_RC);
	assert_int_equal(device_find_qp(f.dev, qp.qpn)->qpn, qp.qpn);
	assert_null(device_find_qp(f.dev, qp.qpn ^ 1));
	assert_null(device_find_qp(f.dev, qp.qpn | 0xff000000));
	fixture_stop(&f);
}

static unsigned fired;

static void on_fire(struct timer *t, uint64_t now)
{
	(void)t;
	assert_int_equal(now, 200);
	fired++;
}

static void test_clock(void **state)
{
	struct timer t = {.fire = on_fire};
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	assert_true(core_next_deadline(f.dev) == UINT64_MAX);
	assert_int_equal(timer_heap_reserve(&f.dev->timers, 1), 0);
	timer_set(&f.dev->timers, &t, 150);
	assert_int_equal(core_next_deadline(f.dev), 150);
	core_tick(f.dev, 149);
	assert_int_equal(fired, 0);
	assert_int_equal(f.dev->now, 149);
	core_tick(f.dev, 200);
	assert_int_equal(fired, 1);
	assert_true(core_next_deadline(f.dev) == UINT64_MAX);
	fixture_stop(&f);
}

static void test_counters_and_names(void **state)
{
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	device_drop_one(f.dev, 5, 6, CORE_DROP_PKEY);
	assert_int_equal(core_counters(f.dev)->drops[CORE_DROP_PKEY], 1);
	assert_int_equal(f.trace.point, CORE_TRACE_RX_DROP);
	assert_int_equal(f.trace.b, CORE_DROP_PKEY);
	for (int i = 0; i < CORE_DROP_COUNT; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(core_drop_name(i), core_drop_name(k));
	assert_string_equal(core_drop_name(CORE_DROP_NO_QP), "no_qp");
	assert_string_equal(core_drop_name(CORE_DROP_COUNT), "unknown");
	fixture_stop(&f);
	core_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_large),    cmocka_unit_test(test_unpredictable),
		cmocka_unit_test(test_find_gid), cmocka_unit_test(test_find_qp),
		cmocka_unit_test(test_clock),    cmocka_unit_test(test_counters_and_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
