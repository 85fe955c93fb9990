/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The oldest event of an id that ends: who has taken the token gets it all the same, and the end
 * counts it as told; nobody else does.
 */
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { WRITE_CM_EVENT = 24, USER = 18 }; /* of later releases' headers */
enum { ID = 7, OTHER = 8 };

static struct io_test_daemon t;
static struct ucma_client c;
static uint32_t id, other;

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 1);
	ucma_client_open(&c, &t.d);
	id = ucma_client_create(&c, RDMA_PS_TCP, ID);
	other = ucma_client_create(&c, RDMA_PS_TCP, OTHER);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ucma_client_close(&c);
	io_test_daemon_end(&t);
	return 0;
}

static void happens(uint32_t to)
{
	const uint32_t in[6] = {to, 0, USER};

	assert_int_equal(ucma_client_call(&c, WRITE_CM_EVENT, in, sizeof(in), -1), 0);
}

static bool take_token(void)
{
	char token;

	return recv(c.sock, &token, sizeof(token), MSG_DONTWAIT) == 1;
}

/* How many events the end counts. */
static uint32_t destroy(uint32_t which)
{
	struct rdma_ucm_destroy_id in = {.id = which};
	struct rdma_ucm_destroy_id_resp resp;

	assert_int_equal(ucma_client_call(&c, RDMA_USER_CM_CMD_DESTROY_ID, &in, sizeof(in), -1), 0);
	memcpy(&resp, c.reply.response, sizeof(resp));
	return resp.events_reported;
}

/* Asks, as who has the token. For whom the event is, or -errno. */
static int fetch(void)
{
	struct rdma_ucm_get_event in = {0};
	struct rdma_ucm_event_resp e;
	int error = ucma_client_call(&c, RDMA_USER_CM_CMD_GET_EVENT, &in, sizeof(in), -1);

	if (error)
		return error;
	memcpy(&e, c.reply.response, sizeof(e));
	assert_int_equal(e.event, USER);
	return (int)e.uid;
}

static void test_taken(void **state)
{
	(void)state;
	happens(id);
	happens(id);
	assert_true(take_token());
	assert_int_equal(destroy(id), 1); /* the second goes with it */
	assert_int_equal(c.reply.h.flags, 0);
	assert_int_equal(fetch(), ID);
	assert_int_equal(fetch(), -EAGAIN);
	happens(other);
	assert_true(take_token()); /* all is as ever */
	assert_int_equal(fetch(), OTHER);
}

static void test_not_taken(void **state)
{
	(void)state;
	happens(id);
	assert_int_equal(destroy(id), 0);
	assert_int_equal(c.reply.h.flags, UHCA_UCMA_TAKE_TOKEN);
	/* Taken now, to be brought back: nobody asks for an event with it. */
	assert_true(take_token());
	happens(other);
	assert_int_equal(destroy(other), 0);
	assert_int_equal(ucma_client_call(&c, UHCA_UCMA_TOKEN, NULL, 0, -1), 0);
	assert_false(take_token());
	assert_int_equal(fetch(), -EAGAIN);
}

/* The oldest one is another id's: that is what is asked for. */
static void test_of_another(void **state)
{
	(void)state;
	happens(other);
	happens(id);
	assert_true(take_token());
	assert_int_equal(destroy(id), 0);
	assert_int_equal(fetch(), OTHER);
	assert_int_equal(fetch(), -EAGAIN);
}

/* Two ends while one holds the token: it can fetch one event. */
static void test_two_ends(void **state)
{
	(void)state;
	happens(id);
	happens(other);
	assert_true(take_token());
	assert_int_equal(destroy(id), 1);
	assert_int_equal(destroy(other), 0);
	assert_int_equal(c.reply.h.flags, 0);
	assert_int_equal(fetch(), ID);
	assert_int_equal(fetch(), -EAGAIN);
}

/* Who took it brings it back instead: another has to fetch what was promised. */
static void test_brought_back(void **state)
{
	(void)state;
	happens(id);
	assert_true(take_token());
	assert_int_equal(destroy(id), 1);
	assert_int_equal(ucma_client_call(&c, UHCA_UCMA_TOKEN, NULL, 0, -1), 0);
	assert_true(take_token());
	assert_int_equal(fetch(), ID);
	assert_false(take_token());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_of_another, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_brought_back, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
