/* SPDX-License-Identifier: BSD-2-Clause */
/* What a device says of itself: the limits it keeps, and no capability it lacks. */
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/device.h"
#include "tests/support/core/core_fixture.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

static void test_device(void **state)
{
	static const uint8_t guid[8] = {1, 2, 3, 4, 5, 6, 7, 8}; /* big-endian */
	struct uhca_cmd_device_attr a;
	struct fixture f;

	(void)state;
	memset(&a, 0xee, sizeof(a));
	a.h.sequence = 17;
	fixture_start(&f, NULL);
	assert_int_equal(core_query_device(f.client, &a), 0);
	assert_int_equal(a.h.sequence, 17); /* the header is the shell's */
	assert_string_equal(a.fw_ver, UHCA_VERSION);
	assert_memory_equal(&a.node_guid, guid, sizeof(guid));
	assert_true(a.sys_image_guid == a.node_guid);
	assert_int_equal(a.vendor_id, 0x75ca);
	assert_int_equal(a.vendor_part_id, 1);
	assert_int_equal(a.max_qp, f.cfg.limits.max_qp);
	assert_int_equal(a.max_qp_wr, f.cfg.limits.max_qp_wr);
	assert_int_equal(a.max_sge, f.cfg.limits.max_sge);
	assert_int_equal(a.max_sge_rd, f.cfg.limits.max_sge);
	assert_int_equal(a.max_cq, f.cfg.limits.max_cq);
	assert_int_equal(a.max_cqe, f.cfg.limits.max_cqe);
	assert_int_equal(a.max_mr, f.cfg.limits.max_mr);
	assert_true(a.max_mr_size == f.cfg.limits.max_mr_size);
	assert_int_equal(a.max_pd, f.cfg.limits.max_pd);
	assert_int_equal(a.max_ah, f.cfg.limits.max_ah);
	assert_int_equal(a.max_srq, f.cfg.limits.max_srq);
	assert_int_equal(a.max_srq_wr, f.cfg.limits.max_srq_wr);
	assert_int_equal(a.max_srq_sge, f.cfg.limits.max_srq_sge);
	assert_int_equal(a.max_qp_rd_atom, f.cfg.limits.max_rd_atomic);
	assert_int_equal(a.max_qp_init_rd_atom, f.cfg.limits.max_rd_atomic);
	assert_int_equal(a.max_inline_data, f.cfg.limits.max_inline_data);
	assert_int_equal(a.max_list_entries, f.cfg.limits.max_list_entries);
	assert_int_equal(a.max_low_latency_wr, f.cfg.limits.max_low_latency_wr);
	assert_int_equal(a.max_pkeys, 1);
	assert_int_equal(a.phys_port_cnt, 1);
	assert_int_equal(a.atomic_cap, IBV_ATOMIC_HCA);
	fixture_stop(&f);
}

/* device_cap_flags_ex of later releases' headers */
#define FLUSH        (3ull << 38) /* to global visibility and to persistence */
#define ATOMIC_WRITE (1ull << 40)

static void test_capabilities(void **state)
{
	struct uhca_cmd_device_attr a;
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(core_query_device(f.client, &a), 0);
	assert_int_equal(a.device_cap_flags,
			 IBV_DEVICE_SRQ_RESIZE | IBV_DEVICE_BAD_PKEY_CNTR |
				 IBV_DEVICE_BAD_QKEY_CNTR | IBV_DEVICE_UD_AV_PORT_ENFORCE |
				 IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_SYS_IMAGE_GUID |
				 IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_MEM_WINDOW |
				 IBV_DEVICE_MEM_MGT_EXTENSIONS | IBV_DEVICE_MEM_WINDOW_TYPE_2B |
				 IBV_DEVICE_MANAGED_FLOW_STEERING | FLUSH | ATOMIC_WRITE |
				 IBV_DEVICE_XRC);
	assert_int_equal(a.max_xrcd, 1024);
	assert_int_equal(a.masked_atomic_sizes, 4 | 8 | 16 | 32);
	f.dev->cfg.features = UHCA_ABI_HAS_MASKED_ATOMICS | UHCA_ABI_HAS_SINK_RULE;
	assert_int_equal(core_query_device(f.client, &a), 0);
	assert_int_equal(a.masked_atomic_sizes, 8);
	assert_int_equal(a.max_sge_rd, 1); /* iWARP */
	f.dev->cfg.features = UHCA_ABI_HAS_DM;
	assert_int_equal(core_query_device(f.client, &a), 0);
	assert_true(a.max_shared_size == 1u << 30);
	f.dev->cfg.features = 0;
	assert_int_equal(core_query_device(f.client, &a), 0);
	assert_true(a.max_shared_size == 0);
	assert_false(a.device_cap_flags & (FLUSH | ATOMIC_WRITE | IBV_DEVICE_XRC));
	assert_int_equal(a.atomic_cap, IBV_ATOMIC_NONE);
	assert_int_equal(a.masked_atomic_sizes, 0);
	assert_int_equal(a.max_sge_rd, a.max_sge);
	assert_false(a.device_cap_flags & IBV_DEVICE_MEM_WINDOW);
	assert_false(a.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS);
	assert_int_equal(a.mw_type, 0);
	assert_int_equal(a.max_mcast_grp, 256);
	assert_int_equal(a.max_mcast_qp_attach, 256);
	assert_int_equal(a.max_total_mcast_qp_attach, 256 * 256);
	/* Time stamps of completions are nanoseconds. */
	assert_int_equal(a.hca_core_clock_khz, 1000000);
	assert_true(a.completion_timestamp_mask == UINT64_MAX);
	assert_int_equal(a.max_cq_count, 65535);
	assert_int_equal(a.max_cq_period, 65535);
	fixture_stop(&f);
}

/*
 * Memory on demand, by transport: what each can do at all, and nothing of one that there is not
 * (enum ibv_odp_transport_cap_bits of ibv_query_device_ex(3)).
 */
static void test_on_demand(void **state)
{
	const uint32_t message = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV;
	const uint32_t both = IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ;
	/* FLUSH and ATOMIC WRITE: bits that the headers of older releases lack. */
	const uint32_t shared =
		IBV_ODP_SUPPORT_SRQ_RECV | IBV_ODP_SUPPORT_ATOMIC | 1u << 6 | 1u << 7;
	struct uhca_cmd_device_attr a;
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(core_query_device(f.client, &a), 0);
	assert_int_equal(a.odp_general, IBV_ODP_SUPPORT | IBV_ODP_SUPPORT_IMPLICIT);
	assert_int_equal(a.odp_rc, message | both | shared);
	assert_int_equal(a.odp_uc, message | IBV_ODP_SUPPORT_WRITE);
	assert_int_equal(a.odp_ud, message | IBV_ODP_SUPPORT_SRQ_RECV);
	assert_int_equal(a.odp_xrc, IBV_ODP_SUPPORT_SEND | both | shared);
	f.dev->cfg.features = UHCA_ABI_HAS_ODP;
	memset(&a, 0, sizeof(a));
	assert_int_equal(core_query_device(f.client, &a), 0);
	assert_int_equal(a.odp_rc, message | both);
	assert_int_equal(a.odp_uc | a.odp_ud | a.odp_xrc, 0);
	fixture_stop(&f);
}

static void test_port(void **state)
{
	struct uhca_cmd_port_attr p;
	struct fixture f;

	(void)state;
	memset(&p, 0xee, sizeof(p));
	fixture_start(&f, NULL);
	assert_int_equal(core_query_port(f.client, 0, &p), -EINVAL);
	assert_int_equal(core_query_port(f.client, 2, &p), -EINVAL);
	f.dev->counters.drops[CORE_DROP_PKEY] = 3;
	f.dev->counters.drops[CORE_DROP_QKEY] = 4;
	assert_int_equal(core_query_port(f.client, 1, &p), 0);
	assert_int_equal(p.state, IBV_PORT_ACTIVE);
	assert_int_equal(p.max_mtu, IBV_MTU_4096);
	assert_int_equal(p.active_mtu, IBV_MTU_4096);
	f.dev->cfg.active_mtu = IBV_MTU_1024;
	assert_int_equal(core_query_port(f.client, 1, &p), 0);
	assert_int_equal(p.active_mtu, IBV_MTU_1024);
	assert_int_equal(p.gid_tbl_len, CORE_GID_TABLE);
	assert_int_equal(p.port_cap_flags, IBV_PORT_IP_BASED_GIDS);
	assert_int_equal(p.max_msg_sz, 0x80000000);
	assert_int_equal(p.bad_pkey_cntr, 3);
	assert_int_equal(p.qkey_viol_cntr, 4);
	assert_int_equal(p.pkey_tbl_len, 1);
	assert_int_equal(p.link_layer, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(p.phys_state, 5);
	assert_int_equal(p.active_width, 2);
	assert_int_equal(p.active_speed, 32);
	fixture_stop(&f);
}

static void test_gid(void **state)
{
	static const uint8_t zero[16];
	struct fixture f;
	uint8_t gid[16];

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(core_query_gid(f.client, FIXTURE_GID_V6, gid), 0);
	assert_memory_equal(gid, f.cfg.gid[FIXTURE_GID_V6], 16);
	assert_int_equal(core_query_gid(f.client, CORE_GID_TABLE - 1, gid), 0);
	assert_memory_equal(gid, zero, 16);
	assert_int_equal(core_query_gid(f.client, CORE_GID_TABLE, gid), -EINVAL);
	assert_int_equal(core_query_gid(f.client, UINT32_MAX, gid), -EINVAL);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device),    cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_on_demand), cmocka_unit_test(test_port),
		cmocka_unit_test(test_gid),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
