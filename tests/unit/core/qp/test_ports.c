/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports as a machine's file describes them: two of them, InfiniBand's LIDs, GIDs of both RoCE
 * versions, P_Keys.
 */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/base.h"
#include "emu/core/packets/receive.h"
#include "emu/core/qp/queue_pair.h"

#include <errno.h>
#include <string.h>

#define STATE_INIT 1

static const uint8_t own[16] = {[10] = 0xff, 0xff, 127, 0, 4, 1};
static const uint8_t peer[16] = {[10] = 0xff, 0xff, 127, 0, 4, 7};
static const uint8_t guid_gid[16] = {0xfe, 0x80, [15] = 9};

/* Port 2 is InfiniBand's, with LID 0x0401; its only GID has nothing of its address. */
static void two_ports(struct core_config *cfg)
{
	struct core_port_look *p = &cfg->look.port[1];

	cfg->look.n_ports = 2;
	p->link_layer = CORE_LINK_INFINIBAND;
	p->gid_entries = 1;
	memcpy(p->address, own, 16);
	memcpy(core_config_gid(cfg, 2, 0), guid_gid, 16);
	p->n_pkeys = 3;
	p->pkey[0] = 0x800b;
	p->pkey[1] = 0x000b;
	p->pkey[2] = 0xffff;
	/* RoCE v1 and v2 of one address at port 1 */
	memcpy(core_config_gid(cfg, 1, 4), peer, 16);
	memcpy(core_config_gid(cfg, 1, 5), peer, 16);
	cfg->look.port[0].gid_v1[0] = 1u << 4;
}

static void test_queries(void **state)
{
	struct uhca_cmd_device_attr device;
	struct uhca_cmd_port_attr port;
	struct fixture f;

	(void)state;
	fixture_start(&f, two_ports);
	assert_int_equal(core_query_device(f.client, &device), 0);
	assert_int_equal(device.phys_port_cnt, 2);
	assert_int_equal(device.max_pkeys, 3);
	assert_int_equal(core_query_port(f.client, 1, &port), 0);
	assert_int_equal(port.lid, 0);
	assert_int_equal(port.link_layer, CORE_LINK_ETHERNET);
	assert_int_equal(core_query_port(f.client, 2, &port), 0);
	assert_int_equal(port.lid, 0x0401);
	assert_int_equal(port.link_layer, CORE_LINK_INFINIBAND);
	assert_int_equal(port.gid_tbl_len, 1);
	assert_int_equal(port.pkey_tbl_len, 3);
	assert_int_equal(core_query_port(f.client, 3, &port), -EINVAL);
	assert_int_equal(core_query_port(f.client, 0, &port), -EINVAL);
	fixture_stop(&f);
}

static void test_lids(void **state)
{
	struct uhca_abi_ah_attr a = {.port_num = 2, .dlid = 0x0407};
	struct roce_flow flow;
	struct fixture f;

	(void)state;
	fixture_start(&f, two_ports);
	assert_int_equal(ah_attr_check(f.dev, &a), 0);
	ah_attr_flow(f.dev, &a, &flow);
	assert_memory_equal(flow.src, own, 16);
	assert_memory_equal(flow.dst, peer, 16);
	a.dlid = 0;
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	/* A GRH that is there must be right; the LID leads all the same. */
	a.dlid = 0x0407;
	a.is_global = 1;
	memcpy(a.dgid, guid_gid, 16);
	assert_int_equal(ah_attr_check(f.dev, &a), 0);
	ah_attr_flow(f.dev, &a, &flow);
	assert_memory_equal(flow.dst, peer, 16);
	a.sgid_index = 1;
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	a.port_num = 3;
	assert_int_equal(ah_attr_check(f.dev, &a), -EINVAL);
	fixture_stop(&f);
}

static void test_path(void **state)
{
	struct uhca_abi_ah_attr a = {0};
	uint8_t local[16], remote[16];
	struct fixture f;

	(void)state;
	fixture_start(&f, two_ports);
	core_path_address(f.dev, own, peer, &a); /* by IP, as rdma_cm names it */
	assert_int_equal(a.port_num, 2);
	assert_int_equal(a.is_global, 0);
	assert_int_equal(a.dlid, 0x0407);
	core_path_ends(f.dev, &a, local, remote);
	assert_memory_equal(local, own, 16);
	assert_memory_equal(remote, peer, 16);
	a = (struct uhca_abi_ah_attr){0};
	core_path_address(f.dev, peer, own, &a);
	assert_int_equal(a.port_num, 1);
	assert_int_equal(a.sgid_index, 5); /* not the entry of RoCE v1 */
	assert_int_equal(a.is_global, 1);
	fixture_stop(&f);
}

/* ---- P_Keys ---- */

static int to_init(struct fixture *f, uint32_t handle, uint8_t port, uint16_t index)
{
	struct uhca_abi_qp_attr a = fixture_attr(STATE_INIT);

	a.port_num = port;
	a.pkey_index = index;
	return fixture_modify(f, handle, &a,
			      QP_ATTR_STATE | QP_ATTR_PKEY_INDEX | QP_ATTR_PORT |
				      QP_ATTR_ACCESS_FLAGS);
}

static void test_pkeys(void **state)
{
	static const struct {
		uint16_t index, its;
		bool same;
	} table[] = {
		{0, 0x800b, true},  {0, 0x000b, true}, {0, 0xffff, false}, {1, 0x800b, true},
		{1, 0x000b, false}, {2, 0x7fff, true}, {2, 0x800b, false},
	};
	struct fixture f;

	(void)state;
	fixture_start(&f, two_ports);
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct fixture_qp qp = fixture_qp(&f, QPT_RC);
		struct core_burst t = {.count = 1};
		uint64_t before = core_counters(f.dev)->drops[CORE_DROP_PKEY];
		struct qp *q;

		assert_int_equal(to_init(&f, qp.handle, 2, table[i].index), 0);
		q = device_find_qp(f.dev, qp.qpn);
		q->state = QPS_RTR; /* may receive, as far as it is asked */
		t.head.bth.opcode.v = ROCE_RC_SEND_ONLY;
		t.head.bth.pkey = table[i].its;
		receive_admit(q, &t);
		assert_int_equal(core_counters(f.dev)->drops[CORE_DROP_PKEY] - before,
				 !table[i].same);
		q->state = QPS_INIT;
		fixture_qp_destroy(&f, &qp);
	}
	fixture_stop(&f);
}

static void test_pkey_index(void **state)
{
	struct fixture_qp qp;
	struct fixture f;

	(void)state;
	fixture_start(&f, two_ports);
	qp = fixture_qp(&f, QPT_RC);
	assert_int_equal(to_init(&f, qp.handle, 1, 1), -EINVAL); /* port 1 has one key */
	assert_int_equal(to_init(&f, qp.handle, 2, 3), -EINVAL);
	assert_int_equal(to_init(&f, qp.handle, 3, 0), -EINVAL);
	assert_int_equal(to_init(&f, qp.handle, 2, 2), 0);
	fixture_qp_destroy(&f, &qp);
	fixture_stop(&f);
}

/* A port that is described as down stays so until somebody takes it up. */
static void down(struct core_config *cfg)
{
	cfg->look.port[0].state = 2; /* INIT */
}

static void test_not_up(void **state)
{
	struct uhca_cmd_port_attr port;
	struct fixture f;

	(void)state;
	fixture_start(&f, down);
	assert_true(core_port_is_down(f.dev));
	assert_int_equal(core_query_port(f.client, 1, &port), 0);
	assert_int_equal(port.state, 2);
	core_port_set(f.dev, true);
	assert_int_equal(core_query_port(f.client, 1, &port), 0);
	assert_int_equal(port.state, 4);
	assert_int_equal(port.phys_state, 5);
	core_port_set(f.dev, false);
	assert_int_equal(core_query_port(f.client, 1, &port), 0);
	assert_int_equal(port.state, 1);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queries),    cmocka_unit_test(test_lids),
		cmocka_unit_test(test_path),       cmocka_unit_test(test_pkeys),
		cmocka_unit_test(test_pkey_index), cmocka_unit_test(test_not_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
