/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fabric of a daemon's addresses, and the box that decides between it and the wire.
 */
#include "emu/io/base/log.h"
#include "emu/io/port/loopback.h"
#include "tests/support/io/burst_gen.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#define DEVICES 64

/* A box that counts. */
struct counter {
	struct netif netif;
	unsigned sent;
	unsigned received;
	unsigned lost;
};

static void count_send(struct netif *n, const struct core_burst *t, uint64_t now)
{
	(void)t;
	(void)now;
	((struct counter *)n)->sent++;
}

static void count_receive(struct netif *n, const struct core_burst *t, uint64_t now)
{
	(void)t;
	(void)now;
	((struct counter *)n)->received++;
}

static void count_lost(struct netif *n, const struct netif_lost *l)
{
	assert_string_equal(l->why, "no_route");
	((struct counter *)n)->lost += l->burst->count;
}

static const struct netif_ops counter_ops = {
	.send = count_send, .receive = count_receive, .lost = count_lost};

struct node {
	struct io_device dev;
	struct counter above;
	struct io_loopback box;
	struct counter wire;
};

struct fixture {
	struct io_fabric fabric;
	struct node node[DEVICES];
};

static void make_node(struct fixture *f, unsigned i, bool always_wire)
{
	struct node *n = &f->node[i];

	n->dev.id.addresses.count = 2;
	n->dev.id.addresses.a[0] = io_test_address(i);
	n->dev.id.addresses.a[1] = io_test_address(i);
	n->dev.id.addresses.a[1].gid[0] = 0xfd;
	n->above.netif.ops = n->wire.netif.ops = &counter_ops;
	io_loopback_init(&n->box, &f->fabric, &n->dev, always_wire);
	netif_stack(&n->above.netif, &n->box.netif);
	netif_stack(&n->box.netif, &n->wire.netif);
	n->dev.bottom = &n->box.netif;
	assert_int_equal(io_fabric_add(&f->fabric, &n->dev), 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	for (unsigned i = 0; i < DEVICES; i++)
		make_node(f, i, false);
	*state = f;
	return io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null");
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	io_fabric_destroy(&f->fabric);
	free(f);
	io_log_close();
	return 0;
}

static void send_to(struct node *from, const uint8_t gid[16])
{
	struct core_burst t;

	memset(&t, 0, sizeof(t));
	t.count = 3;
	t.flow = burst_gen_flow(from->dev.id.addresses.a[0].gid, gid, 0xc000);
	netif_send(&from->box.netif, &t, 1);
}

static void test_fabric(void **state)
{
	struct fixture *f = *state;
	struct io_address nobody = io_test_address(200);

	for (unsigned i = 0; i < DEVICES; i++)
		for (unsigned k = 0; k < 2; k++)
			assert_ptr_equal(
				io_fabric_find(&f->fabric, f->node[i].dev.id.addresses.a[k].gid),
				&f->node[i].dev);
	assert_null(io_fabric_find(&f->fabric, nobody.gid));
	io_fabric_destroy(&f->fabric);
	assert_null(io_fabric_find(&f->fabric, nobody.gid));
}

static void test_inside(void **state)
{
	struct fixture *f = *state;

	send_to(&f->node[3], f->node[5].dev.id.addresses.a[1].gid);
	assert_int_equal(f->node[5].above.received, 1);
	assert_int_equal(f->node[3].wire.sent, 0);
	assert_int_equal(f->node[3].box.delivered, 3);
	send_to(&f->node[3], f->node[3].dev.id.addresses.a[0].gid); /* to itself */
	assert_int_equal(f->node[3].above.received, 1);
}

static void test_outside(void **state)
{
	struct fixture *f = *state;

	send_to(&f->node[3], io_test_address(200).gid);
	assert_int_equal(f->node[3].wire.sent, 1);
}

static void test_always_wire(void **state)
{
	struct fixture *f = *state;

	f->node[3].box.always_wire = true;
	send_to(&f->node[3], f->node[5].dev.id.addresses.a[0].gid);
	assert_int_equal(f->node[3].wire.sent, 1);
	assert_int_equal(f->node[5].above.received, 0);
}

static void test_no_route(void **state)
{
	struct fixture *f = *state;

	f->node[3].box.netif.below = NULL;
	send_to(&f->node[3], io_test_address(200).gid);
	assert_int_equal(f->node[3].box.no_route, 3);
	assert_int_equal(f->node[3].above.lost, 3);
}

static void test_from_the_wire(void **state)
{
	struct fixture *f = *state;
	struct core_burst t;

	memset(&t, 0, sizeof(t));
	netif_receive(&f->node[3].box.netif, &t, 1);
	assert_int_equal(f->node[3].above.received, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fabric),      TEST(test_inside),   TEST(test_outside),
		TEST(test_always_wire), TEST(test_no_route), TEST(test_from_the_wire),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
