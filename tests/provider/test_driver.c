/* SPDX-License-Identifier: BSD-2-Clause */
/* The provider in the real libibverbs: found, opened, queried, closed; and how opening fails. */
#include "../support/cmocka_all.h"
#include "../support/fake_daemon.h"
#include "../support/fake_tree.h"
#include "../support/holdings.h"
#include "../support/with_preload.h"

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

static int stop(void **state)
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
		cmocka_unit_test_setup_teardown(test_list, start, stop),
		cmocka_unit_test_setup_teardown(test_hello, start, stop),
		cmocka_unit_test_setup_teardown(test_query_device, start, stop),
		cmocka_unit_test_setup_teardown(test_query_device_sizes, start, stop),
		cmocka_unit_test_setup_teardown(test_query_port, start, stop),
		cmocka_unit_test_setup_teardown(test_unsupported, start, stop),
		cmocka_unit_test_setup_teardown(test_open_refused, start, stop),
		cmocka_unit_test_setup_teardown(test_open_damaged, start, stop),
		cmocka_unit_test_setup_teardown(test_open_elsewhere, start, stop),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
