/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the shell keeps of a client beside its messages (test_cmd_server): its name, its
 * doorbells, and the event descriptor, which it may misuse.
 */
#include "emu/io/local/reaper.h"
#include "emu/io/ops.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct fixture {
	struct io_test_daemon t;
	struct io_test_client c;
	struct io_client *mine; /* the daemon's side of it */
	struct uhca_abi_doorbell *bell;
	int event;
};

static int setup(void **state)
{
	static struct fixture f;

	io_test_daemon_begin(&f.t, 1);
	io_test_hello(&f.c, &f.t.d, "uhca0");
	f.mine = f.t.d.clients.at[0];
	f.bell = mmap(NULL, sizeof(*f.bell), PROT_READ | PROT_WRITE, MAP_SHARED, f.c.fd[1], 0);
	assert_true((void *)f.bell != MAP_FAILED);
	f.event = dup(f.c.fd[2]);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	munmap(f->bell, sizeof(*f->bell));
	close(f->event);
	io_test_disconnect(&f->c);
	io_test_daemon_end(&f->t);
	return 0;
}

static void test_facts(void **state)
{
	struct fixture *f = *state;

	assert_string_equal(f->mine->program, "test");
	assert_int_equal(f->mine->peer.pid, getpid());
	assert_ptr_equal(f->mine->dev, &f->t.d.ports[0].dev);
	assert_int_equal(f->mine->bell.summaries, 0);
	assert_false(io_client_rang(f->mine));
}

static void test_program_name(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_hello in = io_test_hello_request("uhca0");
	struct io_test_client c;
	int pair[2];
	int fd[2] = {f->c.mem, -1};

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	fd[1] = pair[1];
	memset(in.program, 'x', sizeof(in.program));
	memcpy(in.program, "a\nb\x1b\xff ", 6);
	io_test_connect(&c, &f->t.d);
	assert_int_equal(io_test_call_fds(&c, UHCA_CMD_HELLO, &in, sizeof(in), fd, 2), 0);
	assert_string_equal(f->t.d.clients.at[1]->program, "a?b???xxxxxxxxxxxxxxxxxxxxxxxxxx");
	io_test_disconnect(&c);
	close(pair[0]);
	close(pair[1]);
}

static void test_doorbells(void **state)
{
	struct fixture *f = *state;
	uint32_t number = io_test_qp(&f->c).doorbell;

	assert_int_equal(f->mine->bell.summaries, io_doorbell_summaries(number + 1));
	uhca_doorbell_set(f->bell, number);
	uhca_doorbell_set(f->bell, number ^ 1); /* nobody's */
	assert_true(io_client_rang(f->mine));
	f->mine->dev->dirty = false;
	assert_int_equal(io_client_doorbells(f->mine, 1), 2);
	assert_true(f->mine->dev->dirty);
	assert_false(io_client_rang(f->mine));
	assert_int_equal(io_client_doorbells(f->mine, 1), 0);
}

static unsigned told;

static void count(struct io_watch *w, uint32_t events)
{
	(void)w;
	(void)events;
	told++;
}

/* The client may make the shared description blocking, empty it, and write without end. */
static void test_hostile_event(void **state)
{
	struct fixture *f = *state;
	uint64_t value = 1;

	told = 0;
	f->mine->event.event = count;
	assert_int_equal(fcntl(f->event, F_SETFL, 0), 0);
	for (unsigned i = 1; i <= 10; i++) {
		assert_int_equal(write(f->event, &value, sizeof(value)), sizeof(value));
		if (i % 2)
			assert_int_equal(read(f->event, &value, sizeof(value)), sizeof(value));
		value = 1;
		for (unsigned k = 0; k < 3; k++)
			io_test_loop_pass(f->t.d.loop);
		assert_in_range(told, i / 2, i); /* what was emptied need not be told */
	}
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_QUERY_DEVICE, 0, NULL), 0);
}

#define REGIONS 6000u

static void reg_many(struct io_test_client *c)
{
	struct uhca_cmd_reg_mr in = {.length = 2u << 20};

	assert_int_equal(io_test_handle(c, UHCA_CMD_ALLOC_PD, 0, &in.pd), 0);
	for (unsigned i = 0; i < REGIONS; i++) {
		in.addr = in.iova = 1ull << 32;
		assert_int_equal(io_test_call(c, UHCA_CMD_REG_MR, &in, sizeof(in)), 0);
	}
}

static uint32_t regions(const struct fixture *f)
{
	return core_object_count(f->mine->dev->core, CORE_OBJECT_MR);
}

/*
 * The end of a client that had much takes its time, in which others are served; what it had ends
 * bit by bit, and its memory is touched no more though it is still there.
 */
static void test_long_end(void **state)
{
	struct fixture *f = *state;
	struct core_span span = {(uintptr_t)f, 1, CORE_SPACE_CLIENT};
	const struct iovec from = {&span, 1};
	uint32_t before = REGIONS, served = 0;
	struct io_test_client c;
	struct io_client *other;
	uint8_t byte;

	io_test_hello(&c, &f->t.d, "uhca0");
	reg_many(&c);
	other = f->t.d.clients.at[1];
	assert_int_equal(io_core_ops()->mem_read(other, &span, 1, &byte), 0);
	io_test_hang_up(&c);
	while (f->t.d.clients.n > 1)
		io_test_loop_pass(f->t.d.loop);
	while (regions(f) > 0) {
		assert_true(regions(f) <= before);
		before = regions(f);
		assert_int_equal(io_core_ops()->mem_read(other, &span, 1, &byte), -ESRCH);
		assert_int_equal(io_core_ops()->mem_write(other, &span, 1, &from, 1), -ESRCH);
		assert_int_equal(io_test_handle(&f->c, UHCA_CMD_QUERY_DEVICE, 0, NULL), 0);
		assert_true(io_clients_bury(&f->t.d.clients));
		served++;
	}
	assert_true(served > 1);
	while (io_clients_bury(&f->t.d.clients))
		;
	assert_int_equal(f->t.d.idle_timeout.present, 1);
}

/* The daemon itself ends in the midst of that, and somebody else is still there. */
static void test_long_end_is_cut(void **state)
{
	struct io_test_client stays, leaves;
	struct io_test_daemon t;

	(void)state;
	io_test_daemon_begin(&t, 1);
	io_test_hello(&stays, &t.d, "uhca0");
	io_test_hello(&leaves, &t.d, "uhca0");
	reg_many(&leaves);
	io_test_hang_up(&leaves);
	while (t.d.clients.n > 1)
		io_test_loop_pass(t.d.loop);
	assert_true(core_object_count(t.d.clients.at[0]->dev->core, CORE_OBJECT_MR) > 0);
	for (unsigned i = 0; i < stays.n_fds; i++)
		close(stays.fd[i]);
	close(stays.sock); /* not heard any more */
	close(stays.async);
	close(stays.mem);
	io_test_daemon_end(&t);
}

static bool is_alone(void *arg);

/* A client's own connection as one of its channels would keep it here for ever. */
static void test_own_socket(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_hello hello = io_test_hello_request("uhca0");
	struct uhca_cmd_handle in = {0};
	struct io_test_client c;

	io_test_connect(&c, &f->t.d);
	assert_int_equal(io_test_call_fds(&c, UHCA_CMD_HELLO, &hello, sizeof(hello),
					  (int[]){f->c.mem, c.sock}, 2),
			 -EINVAL);
	io_test_disconnect(&c);
	io_test_hello(&c, &f->t.d, "uhca0");
	assert_int_equal(io_test_call_fds(&c, UHCA_CMD_CREATE_CHANNEL, &in, sizeof(in), &c.sock, 1),
			 -EINVAL);
	io_test_disconnect(&c);
	assert_true(io_test_run(f->t.d.loop, is_alone, f));
}

/* It is the request that is wrong, not the daemon that lacks something. */
static void test_hello_without_descriptors(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_hello hello = io_test_hello_request("uhca0");
	struct io_test_client c;

	io_test_connect(&c, &f->t.d);
	for (unsigned n = 0; n < 2; n++)
		assert_int_equal(
			io_test_call_fds(&c, UHCA_CMD_HELLO, &hello, sizeof(hello), &f->c.mem, n),
			-EINVAL);
	io_test_disconnect(&c);
	assert_true(io_test_run(f->t.d.loop, is_alone, f));
}

static bool is_alone(void *arg)
{
	return ((struct fixture *)arg)->t.d.clients.n == 1;
}

/* A client that went and still writes to what it shared with us is not heard. */
static void test_event_of_who_is_gone(void **state)
{
	struct fixture *f = *state;
	uint64_t value = 1;
	struct io_test_client c;
	int event, copy;

	io_test_hello(&c, &f->t.d, "uhca0");
	event = f->t.d.clients.at[1]->event_fd;
	copy = dup(c.fd[2]);
	assert_int_equal(io_test_polled(event), 1);
	io_test_disconnect(&c);
	assert_true(io_test_run(f->t.d.loop, is_alone, f));
	assert_int_equal(io_test_polled(event), 0);
	assert_int_equal(write(copy, &value, sizeof(value)), sizeof(value));
	io_test_loop_pass(f->t.d.loop);
	close(copy);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* Resident and its own, in bytes. */
static size_t resident(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	size_t all, pages, shared;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%zu %zu %zu", &all, &pages, &shared), 3);
	fclose(f);
	return (pages - shared) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Memory of packets that waited stays below what was asked for later; at the latest until the end
 * of a client, though it was not his.
 */
static void test_freed_memory(void **state)
{
	enum { PACKETS = 4000, BYTES = 4300 };
	static void *packet[PACKETS];
	struct fixture *f = *state;
	struct io_test_client c;
	size_t before;
	void *last;

#ifdef __SANITIZE_ADDRESS__
	skip(); /* what is freed is kept, so that its use is found */
#endif
	io_test_hello(&c, &f->t.d, "uhca0");
	before = resident();
	for (unsigned i = 0; i < PACKETS; i++) {
		packet[i] = malloc(BYTES);
		assert_non_null(packet[i]);
		memset(packet[i], 1, BYTES);
	}
	last = malloc(BYTES);
	assert_non_null(last);
	for (unsigned i = 0; i < PACKETS; i++)
		free(packet[i]);
	assert_true(resident() > before + (8u << 20));
	io_test_disconnect(&c);
	assert_true(io_reaper_wait(20000));
	assert_true(resident() < before + (4u << 20));
	free(last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_facts),
		TEST(test_program_name),
		TEST(test_doorbells),
		TEST(test_hostile_event),
		TEST(test_event_of_who_is_gone),
		TEST(test_long_end),
		cmocka_unit_test(test_long_end_is_cut),
		TEST(test_own_socket),
		TEST(test_hello_without_descriptors),
		TEST(test_freed_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
