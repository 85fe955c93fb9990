/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was rung before a control message, or before the end of the connection, is served before
 * it; messages that only ask do not wait for it. tests/verbs/queues/last_sends.c has what arrives.
 */
#include "emu/io/base/log.h"
#include "emu/io/serve/catch_up.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <string.h>
#include <sys/mman.h>

struct fixture {
	struct io_test_daemon t;
	struct io_test_client c;
	struct io_client *mine; /* the daemon's side of it */
	struct uhca_abi_doorbell *bell;
	uint32_t qp, doorbell;
};

static void create_qp(struct fixture *f)
{
	struct uhca_cmd_create_qp_reply qp = io_test_qp(&f->c);

	f->qp = qp.handle;
	f->doorbell = qp.doorbell;
}

static int setup(void **state)
{
	static struct fixture f;
	struct io_settings s;

	assert_int_equal(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null"), 0);
	io_test_settings(&s, 1);
	io_test_daemon_start(&f.t, &s);
	io_test_hello(&f.c, &f.t.d, "uhca0");
	f.mine = f.t.d.clients.at[0];
	f.bell = mmap(NULL, sizeof(*f.bell), PROT_READ | PROT_WRITE, MAP_SHARED, f.c.fd[1], 0);
	assert_true((void *)f.bell != MAP_FAILED);
	create_qp(&f);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	munmap(f->bell, sizeof(*f->bell));
	io_test_disconnect(&f->c);
	io_test_daemon_stop(&f->t);
	io_log_close();
	return 0;
}

static void test_messages(void **state)
{
	static const struct {
		uint32_t cmd;
		bool first;
	} row[] = {
		{UHCA_CMD_QUERY_DEVICE, false}, {UHCA_CMD_QUERY_QP, false},
		{UHCA_CMD_DEREG_MR, true},      {UHCA_CMD_DEALLOC_MW, true},
		{UHCA_CMD_DESTROY_AH, true},    {UHCA_CMD_DESTROY_SRQ, true},
		{UHCA_CMD_DESTROY_QP, true},
	};
	struct fixture *f = *state;

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		uint32_t handle = row[i].cmd == UHCA_CMD_DESTROY_QP ? f->qp : 0;

		uhca_doorbell_set(f->bell, f->doorbell);
		io_test_handle(&f->c, row[i].cmd, handle, NULL);
		assert_int_equal(io_client_rang(f->mine), !row[i].first);
	}
}

/* A context that is not open yet has rung nothing. */
static void test_before_hello(void **state)
{
	struct fixture *f = *state;
	struct io_test_client c;

	io_test_connect(&c, &f->t.d);
	for (unsigned i = 0; i < 10 && f->t.d.clients.n < 2; i++)
		io_test_turn(f->t.d.loop);
	assert_int_equal(f->t.d.clients.n, 2);
	assert_null(f->t.d.clients.at[1]->core);
	io_catch_up(f->t.d.clients.at[1]);
	io_test_disconnect(&c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_messages),
		TEST(test_before_hello),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
