/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles and limits: every one makes a device, and what it lacks it neither has nor reports. */
#include "../support/cmocka_all.h"
#include "../support/core_fixture.h"

#include "device.h"
#include "qp.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

static unsigned find(const char *name)
{
	unsigned i = 0;

	while (strcmp(core_profile_name(i), name) != 0)
		i++;
	return i;
}

static void make(struct core_config *cfg, const char *name)
{
	core_config_default(cfg);
	cfg->features = UINT32_MAX & ~(uint32_t)UHCA_ABI_HAS_MW_TYPE_2A;
	assert_int_equal(core_profile_apply(cfg, find(name)), 0);
	assert_true(core_config_valid(cfg));
	core_config_settle(cfg);
}

static void test_names(void **state)
{
	static const char *const names[] = {"default", "ib-strict", "iwarp-like",
					    "minimal", "2a",        "large"};
	struct core_config cfg;

	(void)state;
	for (unsigned i = 0; i < 6; i++)
		assert_string_equal(core_profile_name(i), names[i]);
	assert_null(core_profile_name(6));
	core_config_default(&cfg);
	assert_int_equal(core_profile_apply(&cfg, 6), -EINVAL);
}

static void test_default_changes_nothing(void **state)
{
	struct core_config before, after;

	(void)state;
	core_config_default(&before);
	assert_int_not_equal(before.features & UHCA_ABI_HAS_INV_FENCE, 0);
	core_config_default(&after);
	assert_int_equal(core_profile_apply(&after, 0), 0);
	assert_memory_equal(&before, &after, sizeof(before));
}

static void test_what_each_lacks(void **state)
{
	struct core_config cfg;

	(void)state;
	make(&cfg, "ib-strict");
	assert_int_equal(cfg.features & UHCA_ABI_HAS_SRQ, 0);
	assert_int_equal(cfg.limits.max_srq, 0);
	assert_int_not_equal(cfg.features & UHCA_ABI_HAS_UD, 0);
	assert_int_equal(cfg.features & (UHCA_ABI_HAS_INVALIDATE | UHCA_ABI_HAS_INV_FENCE), 0);
	make(&cfg, "iwarp-like");
	assert_int_not_equal(cfg.features & UHCA_ABI_HAS_INVALIDATE, 0);
	assert_int_not_equal(cfg.features & UHCA_ABI_HAS_INV_FENCE, 0);
	assert_int_equal(cfg.features & (UHCA_ABI_HAS_UC | UHCA_ABI_HAS_UD | UHCA_ABI_HAS_XRC |
					 UHCA_ABI_HAS_ATOMICS | UHCA_ABI_HAS_MCAST),
			 0);
	assert_int_equal(cfg.features & (UHCA_ABI_HAS_LOW_LATENCY | UHCA_ABI_HAS_BLOCK_LOOPBACK),
			 0);
	assert_int_equal(cfg.limits.max_low_latency_wr, 0);
	assert_int_not_equal(cfg.features & UHCA_ABI_HAS_SRQ, 0);
	assert_true(cfg.no_write_imm);
	assert_int_equal(cfg.features & UHCA_ABI_HAS_MASKED_ATOMICS, 0);
	assert_int_not_equal(cfg.features & UHCA_ABI_HAS_READ_WITH_INV, 0);
	assert_int_not_equal(cfg.features & UHCA_ABI_HAS_SINK_RULE, 0);
	make(&cfg, "minimal");
	assert_int_equal(cfg.limits.max_sge, 1);
	assert_int_equal(cfg.limits.max_mw, 0);
	make(&cfg, "2a");
	assert_int_equal(cfg.features & UHCA_ABI_HAS_MW_TYPE_2B, 0);
	assert_int_not_equal(cfg.features & UHCA_ABI_HAS_MW_TYPE_2A, 0);
	make(&cfg, "large");
	assert_int_equal(cfg.limits.max_qp, 65536);
	assert_int_equal(cfg.limits.max_mr, 1 << 20);
}

static void iwarp(struct core_config *cfg)
{
	core_profile_apply(cfg, find("iwarp-like"));
}

static void test_iwarp_refuses(void **state)
{
	struct uhca_cmd_create_qp in = {.qp_type = QPT_UD, .max_send_wr = 1, .max_recv_wr = 1};
	struct uhca_cmd_create_qp_reply out;
	struct uhca_cmd_device_attr attr;
	struct core_ring ring;
	struct fixture f;

	(void)state;
	fixture_start(&f, iwarp);
	in.pd = fixture_pd(&f);
	in.send_cq = in.recv_cq = fixture_cq(&f, 4);
	assert_int_equal(core_create_qp(f.client, &in, &out, &ring), -EOPNOTSUPP);
	in.qp_type = QPT_UC;
	assert_int_equal(core_create_qp(f.client, &in, &out, &ring), -EOPNOTSUPP);
	in.qp_type = QPT_RC;
	assert_int_equal(core_create_qp(f.client, &in, &out, &ring), 0);
	assert_int_equal(core_query_device(f.client, &attr), 0);
	assert_int_equal(attr.atomic_cap, 0);
	assert_int_equal(attr.masked_atomic_sizes, 0);
	assert_int_equal(attr.max_sge_rd, 1);
	/* Windows are of type 2B. */
	assert_int_equal(attr.mw_type, 1u << 2);
	assert_int_equal(f.cfg.features & UHCA_ABI_HAS_MW_TYPE_2A, 0);
	assert_true(f.cfg.rnic);
	fixture_stop(&f);
}

/* librdmacm ends a stream of iWARP by SQD, and programs wait for what is flushed then. */
static void test_iwarp_closes(void **state)
{
	struct uhca_cmd_modify_qp in = {.attr_mask = IBV_QP_STATE, .attr.qp_state = IBV_QPS_SQD};
	struct uhca_cmd_query_qp_reply q;
	struct fixture_qp qp;
	struct fixture f;

	(void)state;
	fixture_start(&f, iwarp);
	qp = fixture_qp(&f, QPT_RC);
	in.handle = qp.handle;
	for (unsigned i = 0; i < 2; i++) { /* once more is no error */
		assert_int_equal(core_modify_qp(f.client, &in, 0), 0);
		assert_int_equal(core_query_qp(f.client, qp.handle, &q), 0);
		assert_int_equal(q.attr.qp_state, IBV_QPS_ERR);
	}
	fixture_stop(&f);
}

static void minimal(struct core_config *cfg)
{
	core_profile_apply(cfg, find("minimal"));
}

static void test_minimal_refuses(void **state)
{
	struct uhca_cmd_create_srq in = {.max_wr = 1, .max_sge = 1};
	struct uhca_cmd_create_srq_reply out;
	struct uhca_cmd_device_attr attr;
	struct core_ring ring;
	struct fixture f;
	uint32_t pd;

	(void)state;
	fixture_start(&f, minimal);
	in.pd = fixture_pd(&f);
	assert_int_equal(core_create_srq(f.client, &in, &out, &ring), -EOPNOTSUPP);
	assert_int_equal(core_query_device(f.client, &attr), 0);
	assert_int_equal(attr.max_srq, 0);
	assert_int_equal(attr.max_pd, 4);
	for (unsigned i = 1; i < attr.max_pd; i++)
		fixture_pd(&f);
	assert_int_equal(core_alloc_pd(f.client, &pd), -ENOMEM);
	fixture_stop(&f);
}

static void test_limits(void **state)
{
	struct core_config cfg;
	unsigned n = 0;

	(void)state;
	core_config_default(&cfg);
	for (; core_limit_name(n); n++)
		assert_int_equal(core_limit_set(&cfg, n, core_limit_get(&cfg, n)), 0);
	assert_int_equal(n, 25);
	assert_string_equal(core_limit_name(0), "max_qp");
	assert_int_equal(core_limit_set(&cfg, 0, 3), 0);
	assert_int_equal(cfg.limits.max_qp, 3);
	assert_int_equal(core_limit_get(&cfg, 0), 3);
	assert_int_equal(core_limit_set(&cfg, 0, 0), -ERANGE);
	assert_int_equal(core_limit_set(&cfg, 0, 1ull << 32 | 3), -ERANGE);
	assert_int_equal(core_limit_set(&cfg, 0, UINT32_MAX), -ERANGE);
	assert_int_equal(core_limit_set(&cfg, n, 1), -EINVAL);
	assert_int_equal(cfg.limits.max_qp, 3);
}

/* A small queue limit needs no word about the one that lies below it. */
static void test_low_latency_limit(void **state)
{
	struct core_config cfg;

	(void)state;
	core_config_default(&cfg);
	assert_int_equal(core_limit_set(&cfg, 1, 4), 0); /* max_qp_wr */
	core_config_settle(&cfg);
	assert_int_equal(cfg.limits.max_low_latency_wr, 4);
	cfg.features &= ~(uint32_t)UHCA_ABI_HAS_LOW_LATENCY;
	core_config_settle(&cfg);
	assert_int_equal(cfg.limits.max_low_latency_wr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_default_changes_nothing),
		cmocka_unit_test(test_what_each_lacks),
		cmocka_unit_test(test_iwarp_refuses),
		cmocka_unit_test(test_iwarp_closes),
		cmocka_unit_test(test_minimal_refuses),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_low_latency_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
