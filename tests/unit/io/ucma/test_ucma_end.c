/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The end of many: of joins with events that nobody read, of ids, of requests at a listener. It
 * comes in parts, each of them short in processor time, and leaves nothing on the account. What a
 * program may have is limited.
 */
#include "emu/io/ucma/ucma_file.h"
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#define PORT 7471
#define IDS  12u

enum { MULTICAST_JOIN = 12 };            /* rdma_cma.h cannot be included beside rdma_user_cm.h */
enum { WRITE_CM_EVENT = 24, USER = 18 }; /* of later releases' headers */

static struct io_test_daemon t;
static struct ucma_client c;

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 1);
	ucma_client_open(&c, &t.d);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (c.sock >= 0)
		ucma_client_close(&c);
	io_test_daemon_end(&t);
	return 0;
}

#define CALL(cmd, in) ucma_client_call(&c, RDMA_USER_CM_CMD_##cmd, &(in), sizeof(in), -1)

static int bind_id(uint32_t id, uint16_t port)
{
	struct rdma_ucm_bind_ip in = {.addr = ucma_client_address(&t.d, 0, port), .id = id};

	return CALL(BIND_IP, in);
}

static int join(uint32_t id, unsigned number)
{
	struct sockaddr_in group = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(0xe0010000)};
	struct rdma_ucm_join_ip_mcast in = {.uid = number, .id = id};

	group.sin_addr.s_addr += htonl(number);
	memcpy(&in.addr, &group, sizeof(group));
	return CALL(JOIN_IP_MCAST, in);
}

static uint32_t id_with_joins(unsigned n)
{
	uint32_t id = ucma_client_create(&c, RDMA_PS_UDP, 1);

	assert_int_equal(bind_id(id, 0), 0);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(join(id, i), 0);
	return id;
}

static bool is_over(void)
{
	return TAILQ_EMPTY(&t.d.ucma.files) && TAILQ_EMPTY(&t.d.ucma.ending) &&
	       LIST_EMPTY(&t.d.ucma.grave->ids);
}

/* Turns of the loop: how many there were, and ns of processor time. */
struct passes {
	unsigned n;
	uint64_t longest, all;
};

/* Turns the loop until all has ended. */
static struct passes close_all(void)
{
	uint64_t limit = io_clock_now() + IO_TEST_SECONDS * IO_SEC;
	struct passes passes = {0};

	close(c.sock);
	c.sock = -1;
	for (; !is_over(); passes.n++) {
		uint64_t before = io_clock_thread(), used;

		ev_run(t.d.loop, EVRUN_NOWAIT);
		used = io_clock_thread() - before;
		passes.longest = used > passes.longest ? used : passes.longest;
		passes.all += used;
		assert_true(io_clock_now() < limit);
	}
	return passes;
}

static void assert_nothing_left(void)
{
	for (uint32_t i = 0; i < t.d.ucma.numbers.used_once; i++)
		assert_null(t.d.ucma.numbers.slot[i]);
	for (unsigned i = 0; i < UCMA_SPACES; i++)
		assert_int_equal(t.d.ucma.range[i].n, 0);
}

static void test_joins(void **state)
{
	struct passes passes;

	(void)state;
	for (unsigned i = 0; i < IDS; i++)
		id_with_joins(UCMA_JOINS);
	passes = close_all();
	assert_true(passes.n > 1);
	assert_true(passes.longest < passes.all / 2);
	assert_nothing_left();
}

/* One id ends while the program is there: quicker than it was made, and others' events stay. */
static void test_id_among_many(void **state)
{
	uint32_t first = id_with_joins(100), id;
	struct rdma_ucm_destroy_id in;
	uint64_t before, making;

	(void)state;
	before = io_clock_thread();
	id = id_with_joins(UCMA_JOINS);
	making = io_clock_thread() - before;
	assert_int_equal(join(id, UCMA_JOINS), -ENOMEM);
	in = (struct rdma_ucm_destroy_id){.id = id};
	before = io_clock_thread();
	assert_int_equal(CALL(DESTROY_ID, in), 0);
	assert_true(io_clock_thread() - before < making);
	for (unsigned i = 0; i < 100; i++)
		ucma_client_expect(&c, MULTICAST_JOIN, i);
	in = (struct rdma_ucm_destroy_id){.id = first};
	assert_int_equal(CALL(DESTROY_ID, in), 0);
	assert_int_equal(
		LIST_FIRST(&t.d.ucma.owners[(unsigned)getpid() % UCMA_OWNER_BUCKETS])->memory, 0);
	assert_nothing_left();
}

/* The account is empty before, full at its limit, and then nothing more is made. */
static void test_account(void **state)
{
	uint64_t *most = &t.d.ports[0].dev.config.limits.client_memory, before = *most;
	uint32_t id = id_with_joins(10);
	struct rdma_ucm_create_id in = {.ps = RDMA_PS_TCP};

	(void)state;
	*most = TAILQ_FIRST(&t.d.ucma.files)->owner->memory;
	assert_int_equal(join(id, 10), -ENOMEM);
	assert_int_equal(CALL(CREATE_ID, in), -ENOMEM);
	*most = before;
	assert_int_equal(join(id, 10), 0);
}

static void test_own_events(void **state)
{
	uint32_t id = ucma_client_create(&c, RDMA_PS_TCP, 1);
	const uint32_t in[6] = {id, 0, USER};

	(void)state;
	for (unsigned i = 0; i < UCMA_WAITING; i++)
		assert_int_equal(ucma_client_call(&c, WRITE_CM_EVENT, in, sizeof(in), -1), 0);
	assert_int_equal(ucma_client_call(&c, WRITE_CM_EVENT, in, sizeof(in), -1), -ENOMEM);
}

/* A port of who has closed is free at once, however much is to be ended before. */
static void test_port_of_closed(void **state)
{
	struct ucma_client other;

	(void)state;
	assert_int_equal(bind_id(ucma_client_create(&c, RDMA_PS_TCP, 1), PORT), 0);
	for (unsigned i = 0; i < 2; i++)
		id_with_joins(UCMA_JOINS);
	ucma_client_open(&other, &t.d);
	TAILQ_FIRST(&t.d.ucma.files)->ending = true; /* as it is until its turn comes */
	assert_null(ucma_port_find_listener(&t.d.ucma, (uint64_t)RDMA_PS_TCP << 16 | PORT,
					    t.d.ports[0].dev.id.addresses.a[0].gid,
					    &t.d.ports[0].dev));
	close(c.sock);
	c = other;
	assert_int_equal(bind_id(ucma_client_create(&c, RDMA_PS_TCP, 1), PORT), 0);
	close_all();
	assert_nothing_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_joins, setup, teardown),
		cmocka_unit_test_setup_teardown(test_id_among_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_account, setup, teardown),
		cmocka_unit_test_setup_teardown(test_own_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_port_of_closed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
