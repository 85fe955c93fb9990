/* SPDX-License-Identifier: BSD-2-Clause */
/* The Ethernet segment of a daemon: nothing to send is nothing done, with any number of devices. */
#include "emu/io/port/ether.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

static void test_idle(void **state)
{
	struct io_test_daemon t;
	struct io_settings s;

	(void)state;
	io_test_settings(&s, 3);
	io_test_daemon_start(&t, &s);
	for (unsigned i = 0; i < 3; i++) {
		t.d.ports[i].dev.dirty = false;
		assert_int_equal(io_ether_send(&t.d.devices, &t.d.ports[i].dev, 1, 16), 0);
		assert_false(t.d.ports[i].dev.dirty);
	}
	io_test_daemon_stop(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_idle)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
