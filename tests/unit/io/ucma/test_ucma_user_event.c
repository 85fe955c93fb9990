/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that a program writes into its own channel: what comes back, in which order, which are
 * refused, and how many may wait.
 */
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>

/* Of later releases' headers, as their users have them. */
enum { WRITE_CM_EVENT = 24, RESOLVE_IB_SERVICE = 23 };
enum { ADDR_RESOLVED = 0, ADDRINFO_RESOLVED = 16, ADDRINFO_ERROR, USER, INTERNAL };

struct write_event {
	uint32_t id, reserved;
	uint32_t event, status;
	union {
		uint64_t arg;
		struct rdma_ucm_conn_param conn;
	};
};

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
	ucma_client_close(&c);
	io_test_daemon_end(&t);
	return 0;
}

static int write_event(uint32_t id, uint32_t event, int status, uint64_t arg)
{
	struct write_event in = {.id = id, .event = event, .status = (uint32_t)status, .arg = arg};

	return ucma_client_call(&c, WRITE_CM_EVENT, &in, sizeof(in), -1);
}

static void expect(uint32_t event, uint64_t uid, int status, uint64_t arg)
{
	struct rdma_ucm_event_resp e = ucma_client_expect(&c, event, uid);
	uint64_t came;

	memcpy(&came, &e.param, sizeof(came));
	assert_true(came == arg);
	assert_int_equal((int32_t)e.status, status);
}

static int destroy(uint32_t id)
{
	struct rdma_ucm_destroy_id in = {.id = id};

	return ucma_client_call(&c, RDMA_USER_CM_CMD_DESTROY_ID, &in, sizeof(in), -1);
}

static void test_written(void **state)
{
	uint32_t id = ucma_client_create(&c, RDMA_PS_TCP, 7);
	uint32_t other = ucma_client_create(&c, RDMA_PS_UDP, 8);
	struct rdma_ucm_destroy_id_resp resp;

	(void)state;
	assert_int_equal(write_event(id, USER, -5, 0x1122334455667788), 0);
	assert_int_equal(write_event(other, INTERNAL, 0, 3), 0);
	assert_int_equal(write_event(id, USER, 1, 0), 0);
	expect(USER, 7, -5, 0x1122334455667788);
	expect(INTERNAL, 8, 0, 3);
	expect(USER, 7, 1, 0);
	assert_int_equal(destroy(id), 0); /* librdmacm waits for so many acknowledgements */
	memcpy(&resp, c.reply.response, sizeof(resp));
	assert_int_equal(resp.events_reported, 2);
	assert_int_equal(write_event(other, USER, 0, 0), 0);
	assert_int_equal(destroy(other), 0); /* its event goes with it */
	assert_int_equal(ucma_client_event(&c, &(struct rdma_ucm_event_resp){0}), -EAGAIN);
}

static void test_refused(void **state)
{
	uint32_t id = ucma_client_create(&c, RDMA_PS_TCP, 7);

	(void)state;
	assert_int_equal(write_event(id, ADDR_RESOLVED, 0, 0), -EINVAL);
	assert_int_equal(write_event(id, ADDRINFO_RESOLVED, 0, 0), -EINVAL);
	assert_int_equal(write_event(id, INTERNAL + 1, 0, 0), -EINVAL);
	assert_int_equal(write_event(id + 1, USER, 0, 0), -ENOENT);
	assert_int_equal(ucma_client_event(&c, &(struct rdma_ucm_event_resp){0}), -EAGAIN);
}

static void test_many(void **state)
{
	uint32_t id = ucma_client_create(&c, RDMA_PS_TCP, 7);
	unsigned n = 0;
	int error;

	(void)state;
	while (!(error = write_event(id, USER, 0, n)) && n < 100000)
		n++;
	assert_int_equal(error, -ENOMEM);
	assert_int_equal(n, 4096);
	expect(USER, 7, 0, 0);
	assert_int_equal(write_event(id, USER, 0, n), 0);
	for (unsigned i = 1; i <= n; i++)
		expect(USER, 7, 0, i);
}

/* No administrator of a subnet is there to ask. */
static void test_ib_service(void **state)
{
	uint32_t in[20] = {ucma_client_create(&c, RDMA_PS_TCP, 7)};
	struct rdma_ucm_bind_ip bind = {.addr = ucma_client_address(&t.d, 0, 0), .id = in[0]};

	(void)state;
	assert_int_equal(ucma_client_call(&c, RESOLVE_IB_SERVICE, in, sizeof(in), -1), -EINVAL);
	assert_int_equal(ucma_client_call(&c, RDMA_USER_CM_CMD_BIND_IP, &bind, sizeof(bind), -1),
			 0);
	assert_int_equal(ucma_client_call(&c, RESOLVE_IB_SERVICE, in, sizeof(in), -1), -EOPNOTSUPP);
	in[0]++;
	assert_int_equal(ucma_client_call(&c, RESOLVE_IB_SERVICE, in, sizeof(in), -1), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_written, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ib_service, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
