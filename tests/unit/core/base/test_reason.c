/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a verb is refused: the words and their values, cut to their room, and when they are gone. */
#include "emu/core/base/base.h"
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int setup(void **state)
{
	static struct fixture f;

	fixture_start(&f, NULL);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	fixture_stop(*state);
	return 0;
}

static void test_values(void **state)
{
	struct device *dev = ((struct fixture *)*state)->dev;

	assert_int_equal(device_refuse(dev, -EBUSY, "plain"), -EBUSY);
	assert_string_equal(core_refusal(dev), "plain");
	device_say(dev, "%u %d %d 0x%x %s%%", 0u, -7, 7, 0xbeefu, "text");
	assert_string_equal(core_refusal(dev), "0 -7 7 0xbeef text%");
	device_say(dev, "%" PRIu64 " 0x%" PRIx64 " %llu", UINT64_MAX, UINT64_MAX, 1ull << 40);
	assert_string_equal(core_refusal(dev),
			    "18446744073709551615 0xffffffffffffffff 1099511627776");
	device_say(dev, "0x%06x %02u", 0x11u, 123u);
	assert_string_equal(core_refusal(dev), "0x000011 123");
}

static void test_cut(void **state)
{
	struct device *dev = ((struct fixture *)*state)->dev;
	char longer[2 * UHCA_ABI_REASON] = {0};

	memset(longer, 'x', sizeof(longer) - 1);
	device_say(dev, "%s and %u", longer, 5u);
	assert_int_equal(strlen(core_refusal(dev)), UHCA_ABI_REASON - 1);
	assert_int_equal(strspn(core_refusal(dev), "x"), UHCA_ABI_REASON - 1);
}

/* Each verb says its own; what an earlier one said is gone when the shell has taken it. */
static void test_of_verbs(void **state)
{
	struct fixture *f = *state;
	uint32_t pd;

	assert_int_equal(core_dealloc_pd(f->client, 0xabcd), -ENOENT);
	assert_non_null(
		strstr(core_refusal(f->dev), "0xabcd: this context has no such protection domain"));
	core_forget_refusal(f->dev);
	assert_string_equal(core_refusal(f->dev), "");
	assert_int_equal(core_alloc_pd(f->client, &pd), 0);
	assert_string_equal(core_refusal(f->dev), "");
	assert_int_equal(core_dealloc_pd(f->other, pd), -ENOENT);
	assert_int_equal(core_dealloc_pd(f->client, pd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_values, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_verbs, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
