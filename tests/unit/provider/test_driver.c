/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider in the real libibverbs: found, opened, queried, closed; and how opening fails. */
#include "tests/support/provider/fake_daemon.h"
#include "tests/support/provider/fake_tree.h"
#include "tests/support/provider/holdings.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <endian.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fake_daemon daemon_;

static int start(void **state)
{
	(void)state;
	fake_daemon_start(&daemon_);
	return 0;
}

static int finish(void **state)
{
	(void)state;
	fake_daemon_stop(&daemon_);
	return 0;
}

/* The device list is the library's to free; the device stays with its open context. */
static struct ibv_context *open_uhca(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *c;
	int err;

	assert_non_null(list);
	assert_non_null(list[0]);
	assert_string_equal(ibv_get_device_name(list[0]), "uhca0");
	c = ibv_open_device(list[0]);
	err = errno;
	ibv_free_device_list(list);
	errno = err;
	return c;
}

static void test_list(void **state)
{
	int n = -1;
	struct ibv_device **list = ibv_get_device_list(&n);

	(void)state;
	assert_non_null(list);
	assert_int_equal(n, 1);
	assert_string_equal(ibv_get_device_name(list[0]), "uhca0");
	assert_int_equal(be64toh(ibv_get_device_guid(list[0])), 0x0275cafffe000001);
	assert_int_equal(list[0]->node_type, IBV_NODE_CA);
	ibv_free_device_list(list);
}

static void test_hello(void **state)
{
	const struct uhca_cmd_hello *h = (void *)daemon_.last[UHCA_CMD_HELLO];
	struct ibv_context *c = open_uhca();
	char byte = 'x', got = 0;

	(void)state;
	assert_non_null(c);
	assert_int_equal(h->magic, UHCA_ABI_MAGIC);
	assert_int_equal(h->version, UHCA_ABI_VERSION);
	assert_string_equal(h->device, "uhca0");
	assert_string_equal(h->program, program_invocation_short_name);
	assert_int_equal(h->pid, getpid());
	/* The descriptor is our memory, and may be written. */
	assert_int_equal(pwrite(daemon_.mem_fd, &byte, 1, (off_t)(uintptr_t)&got), 1);
	assert_int_equal(got, 'x');
	assert_int_equal(ibv_close_device(c), 0);
}

static void test_query_device(void **state)
{
	struct ibv_context *c = open_uhca();
	struct ibv_device_attr_ex ex;
	struct ibv_device_attr attr;

	(void)state;
	assert_int_equal(ibv_query_device(c, &attr), 0);
	assert_string_equal(attr.fw_ver, "0.0-fake");
	assert_int_equal(attr.vendor_id, 0x75ca);
	assert_int_equal(attr.max_qp_wr, 1024);
	assert_int_equal(be64toh(attr.node_guid), 0x0275cafffe000001);
	assert_int_equal(ibv_query_device_ex(c, NULL, &ex), 0);
	assert_memory_equal(&ex.orig_attr, &attr, sizeof(attr));
	assert_int_equal(ex.device_cap_flags_ex, 1u << 3 | 1ull << 36);
	assert_int_equal(ex.phys_port_cnt_ex, 1);
	assert_int_equal(ex.odp_caps.general_caps, 0);
	ibv_close_device(c);
}

/* The numbers of struct ibv_device_attr that are the device's 32-bit numbers. */
/* clang-format off */
#define NUMBERS(X) \
	X(vendor_id) X(vendor_part_id) X(hw_ver) X(max_qp) X(max_qp_wr) X(max_sge) X(max_sge_rd) \
	X(max_cq) X(max_cqe) X(max_mr) X(max_pd) X(max_qp_rd_atom) X(max_res_rd_atom) \
	X(max_qp_init_rd_atom) X(atomic_cap) X(max_mw) X(max_mcast_grp) X(max_mcast_qp_attach) \
	X(max_total_mcast_qp_attach) X(max_ah) X(max_srq) X(max_srq_wr) X(max_srq_sge) \
	X(max_pkeys) X(local_ca_ack_delay) X(phys_port_cnt)
/* clang-format on */

/* Each has a value of its own. */
static void number_attributes(void *reply)
{
	struct uhca_cmd_device_attr *r = reply;
	uint8_t n = 0;

#define X(name) r->name = ++n;
	NUMBERS(X)
#undef X
	r->sys_image_guid = ++n;
	r->max_mr_size = ++n;
	r->page_size_cap = ++n;
	r->hca_core_clock_khz = ++n;
	r->completion_timestamp_mask = ++n;
	r->odp_general = ++n;
	r->odp_rc = ++n;
	r->odp_uc = ++n;
	r->odp_ud = ++n;
	r->odp_xrc = ++n;
	r->max_dm_size = ++n;
	r->max_cq_count = ++n;
	r->max_cq_period = ++n;
	r->raw_packet_caps = ++n;
	r->max_wq_type_rq = ++n;
	r->rss_qpts = ++n;
	r->max_rwq_ind_tables = ++n;
	r->max_rwq_ind_table_size = ++n;
	r->rx_hash_fields = ++n;
	r->rx_hash_function = ++n;
}

static void test_query_numbers(void **state)
{
	struct ibv_context *c = open_uhca();
	struct ibv_device_attr_ex ex;
	unsigned n = 0;

	(void)state;
	daemon_.spoilt = UHCA_CMD_QUERY_DEVICE;
	daemon_.spoil = number_attributes;
	memset(&ex, 0xaa, sizeof(ex));
	assert_int_equal(ibv_query_device_ex(c, NULL, &ex), 0);
#define X(name) assert_int_equal(ex.orig_attr.name, ++n);
	NUMBERS(X)
#undef X
	assert_int_equal(ex.orig_attr.sys_image_guid, ++n);
	assert_int_equal(ex.orig_attr.max_mr_size, ++n);
	assert_int_equal(ex.orig_attr.page_size_cap, ++n);
	assert_int_equal(ex.hca_core_clock, ++n);
	assert_int_equal(ex.completion_timestamp_mask, ++n);
	assert_int_equal(ex.odp_caps.general_caps, ++n);
	assert_int_equal(ex.odp_caps.per_transport_caps.rc_odp_caps, ++n);
	assert_int_equal(ex.odp_caps.per_transport_caps.uc_odp_caps, ++n);
	assert_int_equal(ex.odp_caps.per_transport_caps.ud_odp_caps, ++n);
	assert_int_equal(ex.xrc_odp_caps, ++n);
	assert_int_equal(ex.max_dm_size, ++n);
	assert_int_equal(ex.cq_mod_caps.max_cq_count, ++n);
	assert_int_equal(ex.cq_mod_caps.max_cq_period, ++n);
	assert_int_equal(ex.raw_packet_caps, ++n);
	assert_int_equal(ex.max_wq_type_rq, ++n);
	assert_int_equal(ex.rss_caps.supported_qpts, ++n);
	assert_int_equal(ex.rss_caps.max_rwq_indirection_tables, ++n);
	assert_int_equal(ex.rss_caps.max_rwq_indirection_table_size, ++n);
	assert_int_equal(ex.rss_caps.rx_hash_fields_mask, ++n);
	assert_int_equal(ex.rss_caps.rx_hash_function, ++n);
	/* What no device of ours has. */
	assert_int_equal(ex.tso_caps.max_tso, 0);
	assert_int_equal(ex.packet_pacing_caps.qp_rate_limit_max, 0);
	assert_int_equal(ex.tm_caps.max_num_tags, 0);
	ibv_close_device(c);
}

static void number_port(void *reply)
{
	struct uhca_cmd_port_attr *r = reply;

	r->port_cap_flags = 1;
	r->max_msg_sz = 2;
	r->bad_pkey_cntr = 3;
	r->qkey_viol_cntr = 4;
	r->pkey_tbl_len = 5;
	r->gid_tbl_len = 6;
	r->active_width = 8;
	r->active_speed = 9;
	r->phys_state = 10;
	r->max_mtu = 3;
	r->active_mtu = 2;
	r->state = 3;
}

static void test_query_port_numbers(void **state)
{
	struct ibv_context *c = open_uhca();
	struct ibv_port_attr a;

	(void)state;
	daemon_.spoilt = UHCA_CMD_QUERY_PORT;
	daemon_.spoil = number_port;
	memset(&a, 0xaa, sizeof(a));
	assert_int_equal(ibv_query_port(c, 1, &a), 0);
	assert_int_equal(a.port_cap_flags, 1);
	assert_int_equal(a.max_msg_sz, 2);
	assert_int_equal(a.bad_pkey_cntr, 3);
	assert_int_equal(a.qkey_viol_cntr, 4);
	assert_int_equal(a.pkey_tbl_len, 5);
	assert_int_equal(a.gid_tbl_len, 6);
	assert_int_equal(a.lid, 0);
	assert_int_equal(a.active_width, 8);
	assert_int_equal(a.active_speed, 9);
	assert_int_equal(a.phys_state, 10);
	assert_int_equal(a.max_mtu, IBV_MTU_1024);
	assert_int_equal(a.active_mtu, IBV_MTU_512);
	assert_int_equal(a.state, IBV_PORT_ARMED);
	/* RoCE has no subnet manager and one virtual lane. */
	assert_int_equal(a.sm_lid, 0);
	assert_int_equal(a.lmc, 0);
	assert_int_equal(a.max_vl_num, 1);
	assert_int_equal(a.sm_sl, 0);
	assert_int_equal(a.subnet_timeout, 0);
	assert_int_equal(a.init_type_reply, 0);
	assert_int_equal(a.port_cap_flags2, 0);
	ibv_close_device(c);
}

/* A caller with another struct than ours gets what fits, and zeros for what we do not know. */
static void test_query_device_sizes(void **state)
{
	struct ibv_context *c = open_uhca();
	struct verbs_context *vctx = verbs_get_ctx(c);
	struct {
		struct ibv_device_attr_ex ex;
		uint64_t newer;
		uint64_t guard;
	} big = {.newer = 1, .guard = 7};
	struct ibv_query_device_ex_input input = {.comp_mask = 1};
	size_t small = sizeof(struct ibv_device_attr);

	(void)state;
	memset(&big.ex, 0xaa, sizeof(big.ex));
	assert_int_equal(vctx->query_device_ex(c, NULL, &big.ex, small), 0);
	assert_int_equal(((uint8_t *)&big.ex)[small], 0xaa);
	assert_int_equal(vctx->query_device_ex(c, NULL, &big.ex, sizeof(big.ex) + 8), 0);
	assert_int_equal(big.newer, 0);
	assert_int_equal(big.guard, 7);
	assert_int_equal(vctx->query_device_ex(c, &input, &big.ex, sizeof(big.ex)), EINVAL);
	ibv_close_device(c);
}

static void test_query_port(void **state)
{
	struct ibv_context *c = open_uhca();
	struct ibv_port_attr attr;
	union ibv_gid gid;
	__be16 pkey;

	(void)state;
	assert_int_equal(ibv_query_port(c, 1, &attr), 0);
	assert_int_equal(attr.state, IBV_PORT_ACTIVE);
	assert_int_equal(attr.link_layer, IBV_LINK_LAYER_ETHERNET);
	assert_int_equal(attr.active_mtu, IBV_MTU_4096);
	assert_int_equal(attr.flags, IBV_QPF_GRH_REQUIRED);
	assert_int_equal(ibv_query_port(c, 2, &attr), EINVAL);
	assert_int_equal(ibv_query_gid(c, 1, 0, &gid), 0);
	assert_memory_equal(gid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1", 16);
	assert_int_equal(ibv_query_pkey(c, 1, 0, &pkey), 0);
	assert_int_equal(be16toh(pkey), 0xffff);
	ibv_close_device(c);
}

/* What no device of ours has. */
static void test_unsupported(void **state)
{
	struct ibv_context *c = open_uhca();
	struct ibv_counters_init_attr counters = {0};
	struct ibv_flow_action_esp_attr esp = {0};

	(void)state;
	errno = 0;
	assert_null(ibv_create_counters(c, &counters));
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_null(ibv_create_flow_action_esp(c, &esp));
	assert_int_equal(errno, EOPNOTSUPP);
	ibv_close_device(c);
}

static void test_open_refused(void **state)
{
	(void)state;
	daemon_.fail[UHCA_CMD_HELLO] = -EPROTO;
	assert_null(open_uhca());
	assert_int_equal(errno, EPROTO);
	daemon_.fail[UHCA_CMD_HELLO] = 0;
	daemon_.mood = FAKE_NO_FD;
	assert_null(open_uhca());
	assert_int_equal(errno, EIO);
	daemon_.mood = FAKE_WRONG_SIZE;
	assert_null(open_uhca());
	assert_int_equal(errno, EIO);
	daemon_.mood = FAKE_ANSWERS;
}

/* Shared pages that are not what they should be. */
static void wrong_magic(struct uhca_abi_region *r)
{
	r->magic ^= 1;
}

static void wrong_version(struct uhca_abi_region *r)
{
	r->version++;
}

static void wrong_kind(struct uhca_abi_region *r)
{
	r->kind += 100;
}

static void wrong_size(struct uhca_abi_region *r)
{
	r->size--;
}

static void refuse_page(unsigned good, struct holdings before)
{
	daemon_.good_regions = good;
	errno = 0;
	assert_null(open_uhca());
	assert_int_equal(errno, EPROTO);
	holdings_assert(before);
}

static void test_open_damaged(void **state)
{
	static void (*const damages[])(struct uhca_abi_region *) = {wrong_magic, wrong_version,
								    wrong_kind, wrong_size};
	struct holdings before;

	(void)state;
	assert_int_equal(ibv_close_device(open_uhca()), 0);
	fake_await_clients(&daemon_, 0);
	before = holdings_now();
	for (unsigned good = 0; good < 2; good++) { /* the status page, or the doorbells */
		for (unsigned i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
			daemon_.damage = damages[i];
			refuse_page(good, before);
		}
		daemon_.damage = NULL;
		daemon_.mood = FAKE_SHORT_FILE;
		refuse_page(good, before);
		daemon_.mood = FAKE_ANSWERS;
	}
	daemon_.good_regions = 0;
	daemon_.fail[UHCA_CMD_EXPORT] = -ENOSPC;
	assert_null(open_uhca());
	assert_int_equal(errno, ENOSPC);
	holdings_assert(before);
	daemon_.fail[UHCA_CMD_EXPORT] = 0;
	assert_int_equal(ibv_close_device(open_uhca()), 0);
	holdings_assert(before);
}

/* UHCA_DIR is asked again at each open. */
static void test_open_elsewhere(void **state)
{
	char dir[600], *here = strdup(getenv("UHCA_DIR"));
	struct holdings before = holdings_now();

	(void)state;
	assert_int_equal(setenv("UHCA_DIR", "", 1), 0);
	assert_null(open_uhca());
	assert_int_equal(errno, ENODEV);
	memset(dir, 'd', sizeof(dir));
	for (unsigned i = 0; i < 2;
	     i++) { /* longer than an address, longer than any path of ours */
		dir[i ? sizeof(dir) - 1 : 200] = '\0';
		assert_int_equal(setenv("UHCA_DIR", dir, 1), 0);
		assert_null(open_uhca());
		assert_int_equal(errno, ENAMETOOLONG);
		dir[200] = 'd';
	}
	assert_int_equal(setenv("UHCA_DIR", "/nowhere", 1), 0);
	assert_null(open_uhca());
	assert_int_equal(errno, ENOENT);
	assert_int_equal(setenv("UHCA_DIR", here, 1), 0);
	holdings_assert(before);
	free(here);
}

static void test_no_daemon(void **state)
{
	(void)state;
	fake_tree_make(getenv("UHCA_DIR"));
	assert_null(open_uhca());
	assert_true(errno == ENOENT || errno == ECONNREFUSED);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_daemon),
		cmocka_unit_test_setup_teardown(test_list, start, finish),
		cmocka_unit_test_setup_teardown(test_hello, start, finish),
		cmocka_unit_test_setup_teardown(test_query_device, start, finish),
		cmocka_unit_test_setup_teardown(test_query_device_sizes, start, finish),
		cmocka_unit_test_setup_teardown(test_query_port, start, finish),
		cmocka_unit_test_setup_teardown(test_query_numbers, start, finish),
		cmocka_unit_test_setup_teardown(test_query_port_numbers, start, finish),
		cmocka_unit_test_setup_teardown(test_unsupported, start, finish),
		cmocka_unit_test_setup_teardown(test_open_refused, start, finish),
		cmocka_unit_test_setup_teardown(test_open_damaged, start, finish),
		cmocka_unit_test_setup_teardown(test_open_elsewhere, start, finish),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
