/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is looked at: few of those that are quiet, everybody who rings and says so, and whoever rings
 * and is kept from saying so by another client.
 */
#include "emu/io/serve/active_doorbells.h"
#include "emu/io/serve/client.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CLIENTS 80u
#define SECOND  IO_SEC

struct one {
	struct io_test_client c;
	struct io_client *mine; /* the daemon's */
	struct uhca_abi_doorbell *bell;
	uint32_t doorbell;
};

struct fixture {
	struct io_test_daemon t;
	struct io_active_doorbells *all;
	struct uhca_abi_active_doorbells *page; /* as a client maps it */
	struct one one[CLIENTS];
	uint64_t now;
};

static void *map(int fd, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(at != MAP_FAILED);
	return at;
}

static void join(struct fixture *f, unsigned i)
{
	struct one *one = &f->one[i];

	io_test_hello(&one->c, &f->t.d, "uhca0");
	one->bell = map(one->c.fd[1], sizeof(*one->bell));
	if (i == 0)
		f->page = map(one->c.fd[3], sizeof(*f->page));
	one->doorbell = io_test_qp(&one->c).doorbell;
	one->mine = f->t.d.clients.at[i];
}

static int setup(void **state)
{
	static struct fixture f;

	io_test_daemon_begin(&f.t, 1);
	f.all = &f.t.d.clients.active_doorbells;
	for (unsigned i = 0; i < CLIENTS; i++)
		join(&f, i);
	f.now = io_clock_now();
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (unsigned i = 0; i < CLIENTS; i++) {
		munmap(f->one[i].bell, sizeof(*f->one[i].bell));
		io_test_disconnect(&f->one[i].c);
	}
	munmap(f->page, sizeof(*f->page));
	io_test_daemon_end(&f->t);
	return 0;
}

/* Nobody rings for a while. */
static void let_be_quiet(struct fixture *f)
{
	f->now += SECOND;
	assert_int_equal(io_active_doorbells_look(f->all, f->now), 0);
}

static struct one *quiet_one(struct fixture *f)
{
	for (unsigned i = 0; i < CLIENTS; i++)
		if (!f->one[i].mine->watched)
			return &f->one[i];
	fail();
	return NULL;
}

/* As a provider does it. */
static void ring(struct fixture *f, struct one *one)
{
	uhca_doorbell_set(one->bell, one->doorbell);
	uhca_doorbell_set_active(one->bell, f->page);
}

/* However many there are, few are looked at. */
static void test_quiet(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(f->all->n_watched, CLIENTS);
	let_be_quiet(f);
	assert_int_equal(f->all->n_watched, IO_ACTIVE_DOORBELLS_KEPT);
	for (unsigned i = 0; i < CLIENTS; i++)
		assert_int_equal(f->one[i].bell->active_number,
				 f->one[i].mine->watched ? 0 : f->one[i].mine->active_number + 1);
	assert_false(io_active_doorbells_rang(f->all, f->now));
}

/* Who rings is heard by the next look, and watched then. */
static void test_ring_is_heard(void **state)
{
	struct fixture *f = *state;
	struct one *a, *b;

	let_be_quiet(f);
	a = quiet_one(f);
	ring(f, a);
	b = &f->one[CLIENTS - 1];
	ring(f, b);
	assert_int_equal(io_active_doorbells_look(f->all, f->now), 2);
	assert_true(a->mine->watched && b->mine->watched);
	assert_int_equal(a->bell->active_number, 0);
	ring(f, a);
	assert_int_equal(f->page->summary, 0);
	assert_int_equal(io_active_doorbells_look(f->all, f->now), 1);
	let_be_quiet(f);
	assert_int_equal(f->all->n_watched, IO_ACTIVE_DOORBELLS_KEPT);
}

static struct fixture *rings_late;

/* After the look at its page, before it is told to ring its active doorbell (ld --wrap). */
uint32_t __real_io_client_doorbells(struct io_client *c, uint64_t now);
uint32_t __wrap_io_client_doorbells(struct io_client *c, uint64_t now);
uint32_t __wrap_io_client_doorbells(struct io_client *c, uint64_t now)
{
	uint32_t n = __real_io_client_doorbells(c, now);

	for (unsigned i = 0; rings_late && i < CLIENTS; i++)
		if (rings_late->one[i].mine == c)
			ring(rings_late, &rings_late->one[i]);
	return n;
}

/* They ring while they are taken from those who are watched. */
static void test_race(void **state)
{
	struct fixture *f = *state;

	rings_late = f;
	let_be_quiet(f);
	rings_late = NULL;
	assert_int_equal(f->all->n_watched, CLIENTS);
	assert_int_equal(f->one[0].bell->active_number, 0);
	assert_int_equal(io_active_doorbells_look(f->all, f->now), CLIENTS);
}

/* Another client takes all bits away: a daemon that is awake finds the doorbell in turns, ... */
static void test_sweep(void **state)
{
	struct fixture *f = *state;
	unsigned turns = 0;
	struct one *a;

	let_be_quiet(f);
	a = quiet_one(f);
	ring(f, a);
	memset(f->page, 0, sizeof(*f->page));
	while (io_active_doorbells_look(f->all, f->now) == 0) {
		assert_true(turns++ < CLIENTS / IO_ACTIVE_DOORBELLS_SWEPT + 1);
		io_active_doorbells_sweep(f->all, f->now);
	}
	assert_true(a->mine->watched);
}

/* ... and one that is about to sleep finds it at once. */
static void test_before_sleep(void **state)
{
	struct fixture *f = *state;
	struct one *a;

	let_be_quiet(f);
	a = quiet_one(f);
	ring(f, a);
	memset(f->page, 0, sizeof(*f->page));
	assert_true(io_active_doorbells_rang(f->all, f->now));
	assert_int_equal(io_active_doorbells_look(f->all, f->now), 1);
	assert_false(io_active_doorbells_rang(f->all, f->now));
}

/* Numbers of others, and of nobody. */
static void test_noise(void **state)
{
	struct fixture *f = *state;
	struct one *a;

	let_be_quiet(f);
	memset(f->page, 0xff, sizeof(*f->page));
	assert_int_equal(io_active_doorbells_look(f->all, f->now), 0);
	assert_int_equal(f->all->n_watched, CLIENTS - IO_ACTIVE_DOORBELLS_KEPT);
	let_be_quiet(f);
	a = quiet_one(f);
	for (unsigned i = 0; i < 2; i++) { /* its own page: it harms itself */
		a->bell->active_number = i == 0 ? UHCA_ABI_ACTIVE_DOORBELLS + 1 : UINT32_MAX;
		ring(f, a);
	}
	assert_int_equal(io_active_doorbells_look(f->all, f->now), 0);
	assert_true(io_active_doorbells_rang(f->all, f->now));
	assert_int_equal(io_active_doorbells_look(f->all, f->now), 1);
}

/* Numbers come back, the watched and the others alike. */
static void test_leave(void **state)
{
	struct fixture *f = *state;
	struct one *a = &f->one[CLIENTS - 1];
	uint32_t number = a->mine->active_number;

	let_be_quiet(f);
	for (unsigned round = 0; round < 2; round++) {
		munmap(a->bell, sizeof(*a->bell));
		io_test_disconnect(&a->c);
		while (f->t.d.clients.n == CLIENTS)
			io_test_loop_pass(f->t.d.loop);
		assert_int_equal(f->all->limit, CLIENTS - 1);
		join(f, CLIENTS - 1);
		assert_int_equal(a->mine->active_number, number);
		assert_true(a->mine->watched);
	}
	ring(f, a);
	assert_int_equal(io_active_doorbells_look(f->all, f->now), 1);
}

/* More clients than there are numbers: the last ones are looked at always. */
static void test_no_number(void **state)
{
	struct fixture *f = *state;
	struct io_client *c = f->one[0].mine;

	io_active_doorbells_remove(f->all, c);
	for (unsigned i = 0; i < UHCA_ABI_ACTIVE_DOORBELLS; i++)
		f->all->at[i] = f->all->at[i] ? f->all->at[i] : f->one[1].mine;
	f->all->limit = UHCA_ABI_ACTIVE_DOORBELLS;
	io_active_doorbells_add(f->all, c);
	assert_int_equal(c->active_number, UHCA_ABI_ACTIVE_DOORBELLS);
	let_be_quiet(f);
	assert_true(c->watched);
	ring(f, &f->one[0]);
	assert_true(io_active_doorbells_rang(f->all, f->now));
	assert_int_equal(io_active_doorbells_look(f->all, f->now), 1);
	f->all->limit = CLIENTS;
	memset(&f->all->at[CLIENTS], 0, sizeof(f->all->at) - CLIENTS * sizeof(f->all->at[0]));
	f->all->at[0] = NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_quiet), TEST(test_ring_is_heard), TEST(test_race),
		TEST(test_sweep), TEST(test_before_sleep),  TEST(test_noise),
		TEST(test_leave), TEST(test_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
