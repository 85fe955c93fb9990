/* SPDX-License-Identifier: BSD-2-Clause */
/* Profiles and limits: every one makes a device, and what it lacks it neither has nor reports. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/adapters.h"
#include "emu/core/base/device.h"
#include "emu/core/qp/qp.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

static unsigned find_profile(const char *name)
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
	assert_int_equal(core_profile_apply(cfg, find_profile(name)), 0);
	assert_true(core_config_valid(cfg));
	core_config_settle(cfg);
}

static void test_names(void **state)
{
	static const char *const names[] = {"default", "ib-strict", "iwarp-like", "minimal", "2a",
					    "large",   "cx5",       "cx7",        "e810",    "bnxt",
					    "efa",     "rxe",       "siw",        "mana"};
	const unsigned n = sizeof(names) / sizeof(names[0]);
	struct core_config cfg;

	(void)state;
	for (unsigned i = 0; i < n; i++)
		assert_string_equal(core_profile_name(i), names[i]);
	assert_null(core_profile_name(n));
	core_config_default(&cfg);
	assert_int_equal(core_profile_apply(&cfg, n), -EINVAL);
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
	core_profile_apply(cfg, find_profile("iwarp-like"));
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
	assert_int_equal(f.cfg.node_type, CORE_NODE_RNIC);
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

/* What comes with SQD, to be told when the queue is drained, does not stand in the way. */
static void test_iwarp_closes_with_notice(void **state)
{
	struct uhca_cmd_modify_qp in = {
		.attr_mask = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY,
		.attr = {.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = 1}};
	struct uhca_cmd_query_qp_reply q;
	struct fixture_qp qp;
	struct fixture f;

	(void)state;
	fixture_start(&f, iwarp);
	qp = fixture_qp(&f, QPT_RC);
	fixture_connect(&f, &qp, QPT_RC);
	in.handle = qp.handle;
	assert_int_equal(core_modify_qp(f.client, &in, 0), 0);
	assert_int_equal(core_query_qp(f.client, qp.handle, &q), 0);
	assert_int_equal(q.attr.qp_state, IBV_QPS_ERR);
	fixture_stop(&f);
}

static void minimal(struct core_config *cfg)
{
	core_profile_apply(cfg, find_profile("minimal"));
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
	assert_int_equal(n, 27);
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

/* ---- numbers ---- */

static const struct limit {
	const char *name;
	uint64_t usual, least, most;
} table[] = {
	{"max_qp", 4096, 1, 1u << 20},
	{"max_qp_wr", 16384, 1, 1u << 20},
	{"max_sge", 32, 1, 32},
	{"max_cq", 4096, 1, 1u << 20},
	{"max_cqe", 1048575, 1, 1u << 22},
	{"max_mr", 16384, 1, 1u << 20},
	{"max_pd", 4096, 1, 1u << 20},
	{"max_ah", 16384, 1, 1u << 20},
	{"max_srq", 4096, 1, 1u << 20},
	{"max_srq_wr", 16384, 1, 1u << 20},
	{"max_srq_sge", 32, 1, 32},
	{"max_rd_atomic", 128, 0, 128},
	{"max_inline_data", 1024, 0, 1u << 16},
	{"max_mr_size", 1ull << 47, 1, 1ull << 47},
	{"max_mw", 16384, 0, 1u << 20},
	{"max_xrcd", 1024, 0, 1u << 20},
	{"max_comp_cntr", 4096, 0, 1u << 20},
	{"max_dm_size", 1u << 24, 0, 1u << 30},
	{"max_mcast_grp", 256, 0, 1u << 15},
	{"max_mcast_qp_attach", 256, 0, 1u << 15},
	{"max_flow", 4096, 0, 1u << 20},
	{"max_wq", 4096, 0, 1u << 20},
	{"max_rwq_ind_table", 1024, 0, 1u << 20},
	{"max_list_entries", 512, 0, 512},
	{"max_low_latency_wr", 16, 0, 1u << 20},
	{"max_shared_size", 1u << 30, 0, 1ull << 40},
	{"client_memory", 1u << 28, 0, 1ull << 40},
};

#define LIMITS (sizeof(table) / sizeof(table[0]))

static unsigned limit(const char *name)
{
	unsigned i = 0;

	while (i < LIMITS && strcmp(table[i].name, name) != 0)
		i++;
	assert_true(i < LIMITS);
	return i;
}

static void test_ranges(void **state)
{
	(void)state;
	for (unsigned i = 0; i < LIMITS; i++) {
		const struct limit *l = &table[i];
		struct core_config cfg;

		core_config_default(&cfg);
		assert_string_equal(core_limit_name(i), l->name);
		assert_int_equal(core_limit_get(&cfg, i), l->usual);
		assert_int_equal(core_limit_set(&cfg, i, l->least), 0);
		assert_int_equal(core_limit_get(&cfg, i), l->least);
		if (l->least > 0)
			assert_int_equal(core_limit_set(&cfg, i, l->least - 1), -ERANGE);
		assert_int_equal(core_limit_set(&cfg, i, l->most), 0);
		assert_int_equal(core_limit_get(&cfg, i), l->most);
		assert_int_equal(core_limit_set(&cfg, i, l->most + 1), -ERANGE);
		assert_int_equal(core_limit_get(&cfg, i), l->most);
		for (unsigned k = 0; k < LIMITS; k++)
			if (k != i)
				assert_int_equal(core_limit_get(&cfg, k), table[k].usual);
	}
}

/* What a profile sets, and that it sets nothing else. */
struct setting {
	const char *name;
	uint64_t value;
};

static void assert_settings(const char *profile, const struct setting *set, unsigned n)
{
	struct core_config cfg;

	core_config_default(&cfg);
	assert_int_equal(core_profile_apply(&cfg, find_profile(profile)), 0);
	for (unsigned i = 0; i < LIMITS; i++) {
		uint64_t want = table[i].usual;

		for (unsigned k = 0; k < n; k++)
			want = strcmp(set[k].name, table[i].name) ? want : set[k].value;
		assert_int_equal(core_limit_get(&cfg, i), want);
	}
}

static void test_settings(void **state)
{
	static const struct setting minimal_set[] = {
		{"max_qp", 8},        {"max_qp_wr", 16},      {"max_sge", 1}, {"max_cq", 8},
		{"max_cqe", 64},      {"max_mr", 16},         {"max_pd", 4},  {"max_ah", 8},
		{"max_rd_atomic", 1}, {"max_inline_data", 0}, {"max_mw", 0},  {"max_comp_cntr", 0},
	};
	static const struct setting none_set[] = {{"max_comp_cntr", 0}};
	static const struct setting large_set[] = {
		{"max_qp", 65536}, {"max_cq", 65536},   {"max_mr", 1048576},
		{"max_pd", 65536}, {"max_ah", 1048576}, {"max_srq", 65536},
	};

	(void)state;
	assert_settings("default", NULL, 0);
	assert_settings("ib-strict", none_set, 1);
	assert_settings("iwarp-like", none_set, 1);
	assert_settings("2a", NULL, 0);
	assert_settings("minimal", minimal_set, sizeof(minimal_set) / sizeof(minimal_set[0]));
	assert_settings("large", large_set, sizeof(large_set) / sizeof(large_set[0]));
}

/* Of features: what is not named in "keeps" is gone, what is named has stayed. */
static void test_features(void **state)
{
	static const struct {
		const char *name;
		uint32_t has;
		bool strict, no_write_imm, rnic;
	} profile[] = {
		{"default", UINT32_MAX & ~(uint32_t)UHCA_ABI_HAS_MW_TYPE_2A, false, false, false},
		{"ib-strict",
		 UHCA_ABI_HAS_UC | UHCA_ABI_HAS_UD | UHCA_ABI_HAS_MW_TYPE_1 | UHCA_ABI_HAS_REREG |
			 UHCA_ABI_HAS_RESIZE_CQ,
		 true, false, false},
		{"iwarp-like",
		 UHCA_ABI_HAS_MW_TYPE_2B | UHCA_ABI_HAS_INVALIDATE | UHCA_ABI_HAS_ZERO_BASED |
			 UHCA_ABI_HAS_ODP | UHCA_ABI_HAS_DM | UHCA_ABI_HAS_REREG |
			 UHCA_ABI_HAS_SRQ | UHCA_ABI_HAS_RESIZE_CQ | UHCA_ABI_HAS_FAST_REG |
			 UHCA_ABI_HAS_BLOCK_LIST | UHCA_ABI_HAS_READ_WITH_INV |
			 UHCA_ABI_HAS_INV_FENCE | UHCA_ABI_HAS_SINK_RULE,
		 false, true, true},
		{"minimal", UHCA_ABI_HAS_UC | UHCA_ABI_HAS_UD, false, false, false},
		{"2a", UINT32_MAX & ~(uint32_t)UHCA_ABI_HAS_MW_TYPE_2B, false, false, false},
	};
	struct core_config cfg;

	(void)state;
	for (unsigned i = 0; i < sizeof(profile) / sizeof(profile[0]); i++) {
		make(&cfg, profile[i].name);
		assert_int_equal(cfg.features, profile[i].has);
		assert_int_equal(cfg.profile, find_profile(profile[i].name));
		assert_int_equal(cfg.strict_arming, profile[i].strict);
		assert_int_equal(cfg.strict_order, profile[i].strict);
		assert_int_equal(cfg.gather_limit, profile[i].strict ? 0 : 4096);
		assert_int_equal(cfg.no_write_imm, profile[i].no_write_imm);
		assert_int_equal(cfg.node_type, profile[i].rnic ? CORE_NODE_RNIC : CORE_NODE_CA);
		assert_false(cfg.no_rc || cfg.no_send_imm);
	}
}

/* ---- adapters ---- */

static const struct adapter {
	const char *name;
	uint32_t lacks;
	unsigned is;
	unsigned n;
	struct setting set[24];
} adapters[] = {
#define ONE_SETTING(field, value_) {#field, value_},
#define ONE_MORE(field, value_)    +1
#define ADAPTER(id, name_)                                                                         \
	{name_,                                                                                    \
	 UHCA_ADAPTER_##id##_LACKS,                                                                \
	 UHCA_ADAPTER_##id##_IS,                                                                   \
	 0 UHCA_ADAPTER_##id##_LIMITS(ONE_MORE),                                                   \
	 {UHCA_ADAPTER_##id##_LIMITS(ONE_SETTING)}},
	UHCA_ADAPTERS(ADAPTER)};

#define ADAPTERS (sizeof(adapters) / sizeof(adapters[0]))

/* Their numbers, where the device can keep them, else the most that it can; the rest is usual. */
static void test_adapter_limits(void **state)
{
	(void)state;
	for (unsigned a = 0; a < ADAPTERS; a++) {
		const struct adapter *adapter = &adapters[a];
		struct core_config cfg;

		core_config_default(&cfg);
		assert_int_equal(core_profile_apply(&cfg, find_profile(adapter->name)), 0);
		assert_true(core_config_valid(&cfg));
		for (unsigned i = 0; i < LIMITS; i++) {
			uint64_t want = table[i].usual;

			if (!(adapter->is & UHCA_ADAPTER_COMP_CNTR) &&
			    strcmp(table[i].name, "max_comp_cntr") == 0)
				want = 0;
			for (unsigned k = 0; k < adapter->n; k++)
				if (strcmp(adapter->set[k].name, table[i].name) == 0)
					want = adapter->set[k].value;
			assert_int_equal(core_limit_get(&cfg, i),
					 want < table[i].most ? want : table[i].most);
		}
	}
}

static void test_adapter_behaviour(void **state)
{
	(void)state;
	for (unsigned a = 0; a < ADAPTERS; a++) {
		const unsigned is = adapters[a].is;
		struct core_config plain, cfg;

		core_config_default(&plain);
		cfg = plain;
		assert_int_equal(core_profile_apply(&cfg, find_profile(adapters[a].name)), 0);
		assert_int_equal(cfg.features & ~(uint32_t)UHCA_ABI_HAS_SINK_RULE,
				 plain.features & ~adapters[a].lacks);
		assert_int_equal(!(cfg.features & UHCA_ABI_HAS_SINK_RULE),
				 !(is & UHCA_ADAPTER_RNIC));
		assert_int_equal(cfg.no_rc, !!(is & UHCA_ADAPTER_NO_RC));
		assert_int_equal(cfg.no_send_imm, !!(is & UHCA_ADAPTER_NO_SEND_IMM));
		assert_int_equal(cfg.no_write_imm, !!(is & UHCA_ADAPTER_NO_WRITE_IMM));
		assert_int_equal(cfg.strict_arming, !!(is & UHCA_ADAPTER_STRICT_ARMING));
		assert_true(cfg.strict_order);
		assert_int_equal(cfg.gather_limit, 0);
	}
}

static void efa(struct core_config *cfg)
{
	core_profile_apply(cfg, find_profile("efa"));
}

/* What is left of EFA: no RC, small requests, and a node type that is no other's. */
static void test_efa_refuses(void **state)
{
	struct uhca_cmd_create_qp in = {.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 2};
	struct uhca_cmd_create_qp_reply out;
	struct core_ring ring;
	struct fixture f;

	(void)state;
	fixture_start(&f, efa);
	in.pd = fixture_pd(&f);
	in.send_cq = in.recv_cq = fixture_cq(&f, 4);
	in.qp_type = QPT_RC;
	assert_int_equal(core_create_qp(f.client, &in, &out, &ring), -EOPNOTSUPP);
	in.qp_type = QPT_UD;
	assert_int_equal(core_create_qp(f.client, &in, &out, &ring), 0);
	in.max_send_sge = 3;
	assert_int_equal(core_create_qp(f.client, &in, &out, &ring), -EINVAL);
	in.max_send_sge = 1;
	in.max_inline_data = 33;
	assert_int_equal(core_create_qp(f.client, &in, &out, &ring), -EINVAL);
	assert_int_equal(f.cfg.node_type, CORE_NODE_UNSPECIFIED);
	fixture_stop(&f);
}

/* Without any of the features, the limit is zero; one of them is enough to keep it. */
static void test_settled(void **state)
{
	static const struct {
		const char *limit;
		uint32_t any;
	} needs[] = {
		{"max_srq", UHCA_ABI_HAS_SRQ},
		{"max_srq_wr", UHCA_ABI_HAS_SRQ},
		{"max_srq_sge", UHCA_ABI_HAS_SRQ},
		{"max_mw",
		 UHCA_ABI_HAS_MW_TYPE_1 | UHCA_ABI_HAS_MW_TYPE_2A | UHCA_ABI_HAS_MW_TYPE_2B},
		{"max_xrcd", UHCA_ABI_HAS_XRC},
		{"max_dm_size", UHCA_ABI_HAS_DM},
		{"max_shared_size", UHCA_ABI_HAS_DM},
		{"max_mcast_grp", UHCA_ABI_HAS_MCAST},
		{"max_mcast_qp_attach", UHCA_ABI_HAS_MCAST},
		{"max_flow", UHCA_ABI_HAS_RAW_PACKET},
		{"max_wq", UHCA_ABI_HAS_RSS},
		{"max_rwq_ind_table", UHCA_ABI_HAS_RSS},
		{"max_list_entries", UHCA_ABI_HAS_FAST_REG | UHCA_ABI_HAS_BLOCK_LIST |
					     UHCA_ABI_HAS_INTERLEAVED | UHCA_ABI_HAS_SG},
		{"max_low_latency_wr", UHCA_ABI_HAS_LOW_LATENCY},
	};
	struct core_config cfg;

	(void)state;
	for (unsigned i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		unsigned at = limit(needs[i].limit);

		core_config_default(&cfg);
		cfg.features = ~needs[i].any;
		core_config_settle(&cfg);
		assert_int_equal(core_limit_get(&cfg, at), 0);
		for (uint32_t bits = needs[i].any; bits; bits &= bits - 1) {
			core_config_default(&cfg);
			cfg.features = bits & -bits;
			core_config_settle(&cfg);
			assert_int_equal(core_limit_get(&cfg, at), table[at].usual);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_default_changes_nothing),
		cmocka_unit_test(test_what_each_lacks),
		cmocka_unit_test(test_iwarp_refuses),
		cmocka_unit_test(test_iwarp_closes),
		cmocka_unit_test(test_iwarp_closes_with_notice),
		cmocka_unit_test(test_minimal_refuses),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_low_latency_limit),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_features),
		cmocka_unit_test(test_adapter_limits),
		cmocka_unit_test(test_adapter_behaviour),
		cmocka_unit_test(test_efa_refuses),
		cmocka_unit_test(test_settled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
