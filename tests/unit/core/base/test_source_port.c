/* SPDX-License-Identifier: BSD-2-Clause */
/* Source ports: in the dynamic range, constant for a flow, as Linux computes them. */
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include "emu/core/base/source_port.h"

static void test_label_decides(void **state)
{
	(void)state;
	/* low 14 bits exclusive-or the six above them */
	assert_int_equal(source_port_connected(17, 18, 0x00001), 0xc001);
	assert_int_equal(source_port_connected(1, 2, 0x00001), 0xc001);
	assert_int_equal(source_port_connected(17, 18, 0x04000), 0xc001);
	assert_int_equal(source_port_connected(17, 18, 0xfc000), 0xc03f);
	assert_int_equal(source_port_connected(17, 18, 0xfffff), 0xffc0);
}

static void test_numbers_decide(void **state)
{
	(void)state;
	/* 17 * 17 = 0x121; 0x1000 * 0x1001 = 0x1001000, folded: 0x01000 ^ 0x10 */
	assert_int_equal(source_port_connected(17, 17, 0), 0xc121);
	assert_int_equal(source_port_connected(0x1000, 0x1001, 0), 0xc000 | 0x1010);
	assert_int_equal(source_port_connected(0, 5, 0), 0xc000);
}

/* Both directions of a connection use the same port. */
static void test_symmetric(void **state)
{
	struct prng r = prng_start("test_source_port");

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint32_t a = prng_u32(&r) & 0xffffff, b = prng_u32(&r) & 0xffffff;
		uint16_t port = source_port_connected(a, b, 0);
		assert_true(port >= 0xc000);
		assert_int_equal(port, source_port_connected(b, a, 0));
	}
}

/* Neighbouring QPs spread. */
static void test_datagram(void **state)
{
	unsigned same = 0;

	(void)state;
	for (uint32_t qpn = 2; qpn < 1000; qpn++) {
		assert_true(source_port_datagram(qpn) >= 0xc000);
		same += source_port_datagram(qpn) == source_port_datagram(qpn + 1);
	}
	assert_true(same < 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_label_decides),
		cmocka_unit_test(test_numbers_decide),
		cmocka_unit_test(test_symmetric),
		cmocka_unit_test(test_datagram),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
