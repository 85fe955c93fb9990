/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared receiving QPs: handles of several clients, events to each, the end with the last one. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/qp/qp_share.h"

#include <errno.h>
#include <infiniband/verbs.h>

static const uint64_t file[2] = {7, 7};

struct world {
	struct fixture f;
	uint32_t mine, theirs; /* handles of one domain */
	uint32_t handle, qpn;  /* the QP as its creator knows it */
};

static int open_domain(struct client *c, const uint64_t name[2], uint32_t *handle)
{
	struct uhca_cmd_open_xrcd in = {.oflags = UHCA_ABI_XRCD_CREATE, .unshared = !name};

	return core_open_xrcd(c, &in, name, handle);
}

static void start(struct world *w)
{
	struct uhca_cmd_create_qp in = {.qp_type = IBV_QPT_XRC_RECV, .cookie = 1};
	struct uhca_cmd_create_qp_reply out;
	struct core_ring ring;

	fixture_start(&w->f, NULL);
	assert_int_equal(open_domain(w->f.client, file, &w->mine), 0);
	assert_int_equal(open_domain(w->f.other, file, &w->theirs), 0);
	in.xrcd = w->mine;
	assert_int_equal(core_create_qp(w->f.client, &in, &out, &ring), 0);
	assert_int_equal(out.send.entries, 0);
	assert_int_equal(out.recv.entries, 0);
	assert_true(out.region_size > 0);
	w->handle = out.handle;
	w->qpn = out.qpn;
}

static int open_qp(struct client *c, uint32_t xrcd, uint32_t qpn, uint32_t *handle)
{
	struct uhca_cmd_open_qp in = {
		.cookie = 2, .xrcd = xrcd, .qpn = qpn, .qp_type = IBV_QPT_XRC_RECV};
	struct uhca_cmd_open_qp_reply out;
	struct core_ring ring;
	int err = core_open_qp(c, &in, &out, &ring);

	*handle = out.handle;
	return err;
}

static void test_life_ends_with_the_last(void **state)
{
	struct world w;
	uint32_t second, third;

	(void)state;
	start(&w);
	assert_int_equal(open_qp(w.f.other, w.theirs, w.qpn, &second), 0);
	assert_int_equal(open_qp(w.f.client, w.mine, w.qpn, &third), 0);
	assert_int_not_equal(w.handle, third);
	assert_int_equal(core_close_xrcd(w.f.other, w.theirs), -EBUSY);
	assert_int_equal(core_destroy_qp(w.f.client, w.handle), 0);
	assert_int_equal(core_destroy_qp(w.f.client, w.handle), -ENOENT);
	assert_non_null(device_find_qp(w.f.dev, w.qpn));
	assert_int_equal(core_destroy_qp(w.f.client, third), 0);
	assert_ptr_equal(device_find_qp(w.f.dev, w.qpn)->obj.client, w.f.other);
	assert_int_equal(core_destroy_qp(w.f.other, second), 0);
	assert_null(device_find_qp(w.f.dev, w.qpn));
	assert_int_equal(core_close_xrcd(w.f.other, w.theirs), 0);
	fixture_stop(&w.f);
}

static void test_creator_dies(void **state)
{
	struct world w;
	uint32_t second;
	struct uhca_cmd_query_qp_reply out;

	(void)state;
	start(&w);
	assert_int_equal(open_qp(w.f.other, w.theirs, w.qpn, &second), 0);
	core_client_destroy(w.f.client);
	assert_non_null(device_find_qp(w.f.dev, w.qpn));
	assert_int_equal(core_query_qp(w.f.other, second, &out), 0);
	assert_int_equal(out.attr.qp_state, IBV_QPS_RESET);
	core_client_destroy(w.f.other);
	assert_null(device_find_qp(w.f.dev, w.qpn));
	fixture_stop(&w.f);
}

/* Modified by one, seen by the other; each handle is its client's only. */
static void test_modify_and_names(void **state)
{
	struct uhca_abi_qp_attr attr = fixture_attr(IBV_QPS_INIT);
	struct uhca_cmd_open_qp in = {.qp_type = IBV_QPT_XRC_RECV};
	struct uhca_cmd_query_qp_reply out;
	struct uhca_cmd_open_qp_reply opened;
	struct core_ring ring;
	struct world w;
	uint32_t second;

	(void)state;
	start(&w);
	in.xrcd = w.theirs;
	in.qpn = w.qpn;
	assert_int_equal(open_qp(w.f.other, w.theirs, w.qpn, &second), 0);
	assert_int_equal(fixture_modify(&w.f, w.handle, &attr,
					IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
						IBV_QP_ACCESS_FLAGS),
			 0);
	assert_int_equal(core_query_qp(w.f.other, second, &out), 0);
	assert_int_equal(out.attr.qp_state, IBV_QPS_INIT);
	/* Who opens it now is told how far it is. */
	assert_int_equal(core_open_qp(w.f.other, &in, &opened, &ring), 0);
	assert_int_equal(opened.qp_state, IBV_QPS_INIT);
	assert_int_equal(core_query_qp(w.f.client, second, &out), -ENOENT);
	assert_int_equal(core_query_qp(w.f.other, w.handle, &out), -ENOENT);
	/* The QP's own name in the table is nobody's. */
	assert_int_equal(core_destroy_qp(w.f.client, device_find_qp(w.f.dev, w.qpn)->obj.handle),
			 -ENOENT);
	fixture_stop(&w.f);
}

static void test_open_refusals(void **state)
{
	struct uhca_cmd_open_qp in = {.qp_type = IBV_QPT_RC};
	struct uhca_cmd_open_qp_reply out;
	struct core_ring ring;
	struct world w;
	uint32_t h, alone;

	(void)state;
	start(&w);
	assert_int_equal(open_qp(w.f.other, w.theirs, w.qpn ^ 1, &h), -EINVAL);
	assert_int_equal(open_qp(w.f.other, w.mine, w.qpn, &h), -ENOENT);
	assert_int_equal(open_domain(w.f.other, NULL, &alone), 0);
	assert_int_equal(open_qp(w.f.other, alone, w.qpn, &h), -EINVAL);
	in.xrcd = w.theirs;
	in.qpn = w.qpn;
	assert_int_equal(core_open_qp(w.f.other, &in, &out, &ring), -EINVAL); /* of another type */
	fixture_stop(&w.f);
}

static void test_events_to_all(void **state)
{
	struct world w;
	uint32_t second;

	(void)state;
	start(&w);
	assert_int_equal(open_qp(w.f.other, w.theirs, w.qpn, &second), 0);
	qp_event(device_find_qp(w.f.dev, w.qpn), UHCA_ABI_EVENT_COMM_EST);
	assert_int_equal(w.f.async, 2);
	assert_ptr_equal(w.f.async_event[0].client, &w.f.client_cookie);
	assert_int_equal(w.f.async_event[0].event.element, 1);
	assert_ptr_equal(w.f.async_event[1].client, &w.f.other_cookie);
	assert_int_equal(w.f.async_event[1].event.element, 2);
	assert_int_equal(w.f.async_event[1].event.type, UHCA_ABI_EVENT_COMM_EST);
	fixture_stop(&w.f);
}

static void test_no_memory(void **state)
{
	struct uhca_cmd_create_qp in = {.qp_type = IBV_QPT_XRC_RECV};
	struct uhca_cmd_create_qp_reply out;
	struct core_ring ring;
	struct world w;
	uint32_t before;

	(void)state;
	start(&w);
	before = core_object_count(w.f.dev, CORE_OBJECT_QP);
	in.xrcd = w.mine;
	w.f.fail_ring = 1;
	assert_int_equal(core_create_qp(w.f.client, &in, &out, &ring), -ENOMEM);
	assert_int_equal(core_object_count(w.f.dev, CORE_OBJECT_QP), before);
	in.xrcd = w.theirs; /* another client's */
	assert_int_equal(core_create_qp(w.f.client, &in, &out, &ring), -ENOENT);
	fixture_stop(&w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life_ends_with_the_last),
		cmocka_unit_test(test_creator_dies),
		cmocka_unit_test(test_modify_and_names),
		cmocka_unit_test(test_open_refusals),
		cmocka_unit_test(test_events_to_all),
		cmocka_unit_test(test_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
