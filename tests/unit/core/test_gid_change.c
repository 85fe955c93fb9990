/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses that leave the GID table and come back: places, holders, one event for each change. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/device.h"
#include "emu/core/qp/qp.h"

#include <errno.h>
#include <string.h>

#define LOWEST CORE_GID_LOWEST

static const uint8_t other[16] = {[10] = 0xff, 0xff, 10, 1, 2, 3};

/* The fixture has two clients: each is told once. */
static void expect_events(struct fixture *f, unsigned changes)
{
	assert_int_equal(f->async, 2 * changes);
	for (unsigned i = 0; i < f->async; i++)
		assert_int_equal(f->async_event[i].event.type, UHCA_ABI_EVENT_GID_CHANGE);
	f->async = 0;
}

static void test_places(void **state)
{
	static const uint8_t none[16];
	struct fixture f;
	uint8_t own[16];

	(void)state;
	fixture_start(&f, NULL);
	memcpy(own, core_gid_at(f.dev, 0), 16);
	assert_int_equal(core_gid_add(f.dev, own, false, LOWEST), -EEXIST);
	assert_int_equal(core_gid_add(f.dev, none, false, LOWEST), -ERANGE);
	assert_int_equal(core_gid_add(f.dev, other, false, CORE_GID_TABLE), -ERANGE);
	assert_int_equal(core_gid_add(f.dev, other, false, 0), -ENOSPC);
	assert_int_equal(core_gid_remove(f.dev, CORE_GID_TABLE), -ERANGE);
	assert_int_equal(core_gid_remove(f.dev, CORE_GID_TABLE - 1), -ENOENT);
	expect_events(&f, 0);
	assert_int_equal(core_gid_add(f.dev, other, false, 7), 7);
	assert_int_equal(core_gid_index(f.dev, other), 7);
	assert_int_equal(core_gid_remove(f.dev, 0), 0);
	assert_null(core_gid_at(f.dev, 0));
	assert_int_equal(core_gid_index(f.dev, own), -1);
	assert_int_equal(core_gid_add(f.dev, own, false, LOWEST), 0);
	expect_events(&f, 3);
	fixture_stop(&f);
}

static void test_full(void **state)
{
	struct fixture f;
	uint8_t gid[16];

	(void)state;
	fixture_start(&f, NULL);
	memcpy(gid, other, sizeof(gid));
	while (core_gid_add(f.dev, gid, false, LOWEST) >= 0)
		gid[15]++;
	f.async = 0;
	assert_int_equal(core_gid_add(f.dev, gid, false, LOWEST), -ENOSPC);
	expect_events(&f, 0);
	fixture_stop(&f);
}

/* A connected QP holds its place, sends from nowhere, and is not helped by the return. */
static void test_held(void **state)
{
	static const uint8_t none[16];
	struct fixture_qp own;
	struct fixture f;
	uint8_t gid[16];
	struct qp *qp;

	(void)state;
	fixture_start(&f, NULL);
	own = fixture_qp(&f, QPT_RC);
	fixture_connect(&f, &own, QPT_RC);
	qp = device_find_qp(f.dev, own.qpn);
	f.async = 0;
	memcpy(gid, core_gid_at(f.dev, 0), 16);
	assert_memory_equal(qp->flow.src, gid, 16);
	assert_int_equal(core_gid_remove(f.dev, 0), 0);
	assert_memory_equal(qp->flow.src, none, 16);
	assert_int_equal(core_gid_add(f.dev, gid, false, 0), -ENOSPC);
	assert_int_not_equal(core_gid_place(f.dev, gid, false, LOWEST), 0);
	fixture_qp_destroy(&f, &own);
	assert_int_equal(core_gid_place(f.dev, gid, false, LOWEST), 0);
	expect_events(&f, 1);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_held),
	};

	return cmocka_run_group_tests_name("gid_change", tests, NULL, NULL);
}
