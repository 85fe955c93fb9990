/* SPDX-License-Identifier: BSD-2-Clause */
/* Address handles: which vectors are addresses, and what packets get from them. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/qp/ah.h"

#include <errno.h>
#include <string.h>

static struct uhca_abi_ah_attr good(void)
{
	return fixture_attr(0).ah;
}

static void test_check(void **state)
{
	struct fixture f;
	struct uhca_abi_ah_attr a = good();

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(ah_attr_check(f.dev, &a), 0);
	a.port_num = 0;
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	a.port_num = 2;
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	a = good();
	a.is_global = 0;
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	a = good();
	a.sgid_index = 3; /* an empty slot */
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	a.sgid_index = CORE_GID_TABLE;
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	a.sgid_index = 255;
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	a = good();
	memset(a.dgid, 0, 16);
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	fixture_stop(&f);
}

static void test_families(void **state)
{
	static const uint8_t v6[16] = {0xfe, 0x80, [15] = 9};
	static const uint8_t group[16] = {0xff, 0x0e, [10] = 0xff, 0xff, 224, 0, 0, 9};
	struct fixture f;
	struct uhca_abi_ah_attr a = good();

	(void)state;
	fixture_start(&f, NULL);
	memcpy(a.dgid, v6, 16);
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	a.sgid_index = FIXTURE_GID_V6;
	assert_int_equal(ah_attr_check(f.dev, &a), 0);
	memcpy(a.dgid, good().dgid, 16);
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	memcpy(a.dgid, group, 16);
	assert_int_equal(ah_attr_check(f.dev, &a), 0);
	a.sgid_index = FIXTURE_GID_V4;
	assert_int_equal(ah_attr_check(f.dev, &a), 0);
	a.sgid_index = 3; /* a group is heard from any address, but not from none */
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	a.sgid_index = FIXTURE_GID_V6;
	memset(a.dgid, 0, 16); /* "::" is nobody's */
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	memcpy(a.dgid, group, 16);
	/* Groups have no family to compare with: nothing but the bound stops these. */
	a.sgid_index = CORE_GID_TABLE;
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	a.sgid_index = 255;
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	fixture_stop(&f);
}

static void test_flow(void **state)
{
	struct fixture f;
	struct uhca_abi_ah_attr a = good();
	struct roce_flow flow = {.sport = 11, .dport = 22};

	(void)state;
	fixture_start(&f, NULL);
	a.traffic_class = 0xb9;
	a.flow_label = 0xfff12345;
	a.hop_limit = 7;
	ah_attr_flow(f.dev, &a, &flow);
	assert_memory_equal(flow.src, f.cfg.gid[FIXTURE_GID_V4], 16);
	assert_memory_equal(flow.dst, a.dgid, 16);
	assert_int_equal(flow.tclass, 0xb9);
	assert_int_equal(flow.flow_label, 0x12345);
	assert_int_equal(flow.hop_limit, 7);
	assert_int_equal(flow.sport, 11);
	assert_int_equal(flow.dport, 22);
	for (uint8_t usual = 0; usual <= 1; usual++) {
		a.hop_limit = usual;
		ah_attr_flow(f.dev, &a, &flow);
		assert_int_equal(flow.hop_limit, 64);
	}
	fixture_stop(&f);
}

static void two(struct core_config *cfg)
{
	cfg->limits.max_ah = 2;
}

static void test_life(void **state)
{
	struct fixture f;
	struct uhca_cmd_create_ah in = {.attr = good()};
	uint32_t first, second, more;

	(void)state;
	fixture_start(&f, two);
	assert_int_equal(core_create_ah(f.client, &in, &first), -ENOENT); /* no PD */
	in.pd = fixture_pd(&f);
	assert_int_equal(core_create_ah(f.other, &in, &first), -ENOENT);
	in.attr.port_num = 9;
	assert_int_equal(core_create_ah(f.client, &in, &first), -EINVAL);
	in.attr = good();
	assert_int_equal(core_create_ah(f.client, &in, &first), 0);
	assert_int_equal(core_create_ah(f.client, &in, &second), 0);
	assert_int_equal(core_create_ah(f.client, &in, &more), -ENOMEM);
	assert_int_equal(core_object_count(f.dev, CORE_OBJECT_AH), 2);
	assert_int_equal(core_destroy_ah(f.other, first), -ENOENT);
	((struct ah *)table_find(&f.dev->ahs, first))->obj.refs = 1;
	assert_int_equal(core_destroy_ah(f.client, first), -EBUSY);
	((struct ah *)table_find(&f.dev->ahs, first))->obj.refs = 0;
	assert_int_equal(core_destroy_ah(f.client, first), 0);
	assert_int_equal(core_destroy_ah(f.client, first), -ENOENT);
	assert_int_equal(core_destroy_ah(f.client, second), 0);
	assert_int_equal(core_dealloc_pd(f.client, in.pd), 0);
	fixture_stop(&f);
}

/* Without a GRH there is no destination on Ethernet, whatever the LID (annex A17.4). */
static void test_no_grh(void **state)
{
	static const uint16_t dlids[] = {0, 1, 2, 0xffff};
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	for (unsigned i = 0; i < sizeof(dlids) / sizeof(dlids[0]); i++) {
		struct uhca_abi_ah_attr attr = good();

		attr.is_global = 0;
		attr.dlid = dlids[i];
		assert_int_equal(ah_attr_check(f.dev, &attr), -EINVAL);
	}
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),  cmocka_unit_test(test_families),
		cmocka_unit_test(test_flow),   cmocka_unit_test(test_life),
		cmocka_unit_test(test_no_grh),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
