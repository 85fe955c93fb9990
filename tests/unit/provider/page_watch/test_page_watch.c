/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page protection of memory in flight: which pages have which protection while posts come and go;
 * an instruction that uses them is told of and goes on; faults of the program are the program's.
 */
#include "provider/page_watch/page_watch.h"
#include "provider/pin/pin.h"
#include "tests/support/wire/cmocka_all.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 8u
#define FREE  (PROT_READ | PROT_WRITE)

static size_t page;
static uint8_t *memory;
static sigjmp_buf back;
static volatile sig_atomic_t handled;

static uint8_t *new_memory(int shared)
{
	uint8_t *at = mmap(NULL, PAGES * page, FREE, shared | MAP_ANONYMOUS, -1, 0);

	assert_true(at != MAP_FAILED);
	memset(at, 7, PAGES * page);
	return at;
}

static int set_up(void **state)
{
	(void)state;
	page = (size_t)sysconf(_SC_PAGESIZE);
	memory = new_memory(MAP_PRIVATE);
	uhcav_check_enable(1ull << UHCA_CHECK_SEND_WRITTEN | 1ull << UHCA_CHECK_RECV_USED);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	munmap(memory, PAGES * page);
	return 0;
}

static uint32_t begin(const void *at, uint64_t length, bool is_target)
{
	struct uhcav_page_watch_post post = {
		.check = is_target ? UHCA_CHECK_RECV_USED : UHCA_CHECK_SEND_WRITTEN,
		.is_target = is_target,
		.request = {.what = is_target ? "receive" : "SEND", .queue = "RC QP"},
		.at = (uintptr_t)at,
		.length = length};

	return uhcav_page_watch_begin(&post);
}

static int protection_of(const uint8_t *at)
{
	struct uhcav_mapping m;

	assert_int_equal(uhcav_maps_find((uintptr_t)at, &m), 0);
	return m.prot;
}

/* A letter for each page: f(ree), r(ead only), n(one). */
static void expect(const char *pages)
{
	for (size_t i = 0; pages[i]; i++) {
		int want = pages[i] == 'f' ? FREE : pages[i] == 'r' ? PROT_READ : PROT_NONE;
		assert_int_equal(protection_of(memory + i * page), want);
	}
}

static void test_whole_pages(void **state)
{
	uint32_t name;

	(void)state;
	assert_int_equal(begin(memory + 1, page, false), 0);
	assert_int_equal(begin(memory + page, page - 1, false), 0);
	assert_int_equal(begin((void *)UINTPTR_MAX, 1, false), 0);
	name = begin(memory + 1, 3 * page, true);
	assert_true(name);
	expect("fnnfffff");
	assert_true(uhcav_page_watch_covers((uintptr_t)memory, page + 1));
	assert_false(uhcav_page_watch_covers((uintptr_t)memory, page));
	assert_false(uhcav_page_watch_end(name));
	expect("ffffffff");
	assert_false(uhcav_page_watch_end(0));
}

static void test_overlap(void **state)
{
	uint32_t a = begin(memory, 4 * page, false), b = begin(memory + 2 * page, 4 * page, true);
	uint32_t c = begin(memory + 3 * page, page, false), d = begin(memory, page, false);

	(void)state;
	expect("rrnnnnff");
	uhcav_page_watch_end(b);
	expect("rrrrffff");
	uhcav_page_watch_end(a);
	expect("rffrffff");
	uhcav_page_watch_end(d);
	uhcav_page_watch_end(c);
	expect("ffffffff");
}

/* One buffer for several receives: nobody looks at it. */
static void test_same_receives(void **state)
{
	struct uhcav_page_watch_post post = {.check = UHCA_CHECK_RECV_USED,
					     .is_target = true,
					     .is_recv = true,
					     .at = (uintptr_t)memory,
					     .length = 2 * page};
	uint32_t a = uhcav_page_watch_begin(&post), b, c;

	(void)state;
	expect("nnffffff");
	b = uhcav_page_watch_begin(&post);
	expect("ffffffff");
	assert_false(uhcav_page_watch_end(a));
	c = uhcav_page_watch_begin(&post);
	assert_false(uhcav_page_watch_end(b));
	expect("ffffffff");
	assert_false(uhcav_page_watch_end(c));
	a = uhcav_page_watch_begin(&post);
	expect("nnffffff");
	uhcav_page_watch_end(a);
}

static void test_lift(void **state)
{
	uint32_t a = begin(memory, 4 * page, true), lifted;

	(void)state;
	lifted = uhcav_page_watch_lift((uintptr_t)memory + page + 1, page);
	expect("nffnffff");
	uhcav_page_watch_end(lifted);
	expect("nnnnffff");
	uhcav_page_watch_end(a);
}

/* What the program has protected, or unmapped, is not ours to open. */
static void test_not_ours(void **state)
{
	uint32_t a;

	(void)state;
	mprotect(memory, page, PROT_READ);
	a = begin(memory, 3 * page, true);
	expect("rnnfffff");
	mprotect(memory + page, page, PROT_READ);
	uhcav_page_watch_end(a);
	expect("rrffffff");
	a = begin(memory + 4 * page, 2 * page, false);
	munmap(memory + 4 * page, page);
	uhcav_page_watch_end(a);
	expect("rrff");
	assert_int_equal(protection_of(memory + 5 * page), FREE);
}

/* The device writes there by a way that does not get past their protection. */
static void test_shared(void **state)
{
	uint8_t *shared = new_memory(MAP_SHARED);
	uint32_t a = begin(shared, page, true), b = begin(shared + page, page, false);

	(void)state;
	assert_int_equal(protection_of(shared), FREE);
	assert_int_equal(protection_of(shared + page), PROT_READ);
	uhcav_page_watch_end(a);
	uhcav_page_watch_end(b);
	assert_int_equal(protection_of(shared + page), FREE);
	munmap(shared, PAGES * page);
}

static void test_reported(void **state)
{
	volatile uint8_t *at = memory;
	uint32_t a = begin(memory, 2 * page, true), b = begin(memory + page, 2 * page, false);
	uint32_t c = begin(memory + 4 * page, page, false);

	(void)state;
	assert_int_equal(at[1], 7); /* a finding, and the program goes on */
	expect("frrfrfff");
	at[page] = 1;
	expect("ffffrfff");
	assert_true(uhcav_page_watch_end(a));
	assert_true(uhcav_page_watch_end(b));
	assert_int_equal(at[4 * page], 7); /* reading what is sent is none */
	assert_false(uhcav_page_watch_end(c));
}

static void test_fork(void **state)
{
	uint32_t a = begin(memory, 2 * page, true);
	int status;
	pid_t child;

	(void)state;
	uhcav_page_watch_lock();
	child = fork();
	if (child == 0)
		uhcav_page_watch_forget();
	uhcav_page_watch_unlock();
	if (child == 0) {
		memory[0] = 1;
		_exit(uhcav_page_watch_end(a) ? 1 : 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	expect("nnffffff");
	uhcav_page_watch_end(a);
}

/* ---- the program's own faults ---- */

static void on_fault(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	handled += info->si_addr == memory + 5 * page ? 1 : 100;
	siglongjmp(back, 1);
}

/* In a child, because our handler stays: first theirs, then ours; 0: all was as it should be. */
static int live_with_handler(void)
{
	struct sigaction theirs = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	volatile uint8_t *at = memory;
	uint32_t a;

	sigaction(SIGSEGV, &theirs, NULL);
	a = begin(memory, page, true);
	mprotect(memory + 5 * page, page, PROT_READ);
	if (!sigsetjmp(back, 1))
		at[5 * page] = 1;
	if (!sigsetjmp(back, 1)) /* and again: its mask is as it was */
		at[5 * page] = 1;
	if (handled != 2)
		return 1;
	at[0] = 1;
	if (handled != 2 || !uhcav_page_watch_end(a))
		return 2;
	return 0;
}

/* One that came later, and gives on what is not its own. */
static struct sigaction before_it;

static void on_fault_later(int sig, siginfo_t *info, void *context)
{
	handled += 10;
	before_it.sa_sigaction(sig, info, context);
}

static int live_with_later_handler(void)
{
	struct sigaction later = {.sa_sigaction = on_fault_later, .sa_flags = SA_SIGINFO};
	volatile uint8_t *at = memory;
	uint32_t a;

	if (live_with_handler())
		return 1;
	sigaction(SIGSEGV, &later, &before_it);
	a = begin(memory, page, true); /* we stand before it again */
	at[0] = 1;
	if (handled != 2 || !uhcav_page_watch_end(a))
		return 2;
	for (volatile int i = 1; i <= 3; i++)
		if (!sigsetjmp(back, 1))
			at[5 * page] = 1;
	return handled == 2 + 3 * 11 ? 0 : 3;
}

static int live_without(void)
{
	volatile uint8_t *at = memory;

	signal(SIGSEGV, SIG_DFL); /* CMocka has one */
	begin(memory, page, true);
	mprotect(memory + 5 * page, page, PROT_READ);
	at[5 * page] = 1;
	return 0;
}

static int status_of(int (*life)(void))
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(life());
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void test_foreign(void **state)
{
	(void)state;
	assert_int_equal(status_of(live_with_handler), 0);
	assert_int_equal(status_of(live_with_later_handler), 0);
	assert_int_equal(status_of(live_without), 128 + SIGSEGV);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_foreign, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_whole_pages, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_overlap, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_same_receives, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lift, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_not_ours, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_shared, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reported, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fork, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
