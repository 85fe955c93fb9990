/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Write combining: what waits for whom, and until when; in what order it arrives; that it is one
 * call of the system; and that a page that is not there any more keeps nothing else back.
 *
 * The client is this process.
 */
#include "emu/io/mem/combine.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define PAGE   4096u
#define PAGES  12u /* more than are remembered */
#define REGION (PAGE * PAGES)

static struct prng rng;

struct fixture {
	uint8_t *base;
	int pair[2];
	struct io_mem mem, other;
};

static void open_own(struct io_mem *m, int sock, enum io_mem_mode mode)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(io_mem_open(m, fd, getpid(), sock, mode), 0);
}

static int setup(void **state)
{
	static struct fixture f;

	f.base = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(f.base != MAP_FAILED);
	memset(f.base, 0, REGION);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, f.pair), 0);
	open_own(&f.mem, f.pair[0], IO_MEM_AUTO);
	open_own(&f.other, f.pair[0], IO_MEM_AUTO);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	io_mem_close(&f->mem);
	io_mem_close(&f->other);
	close(f->pair[0]);
	close(f->pair[1]);
	munmap(f->base, REGION);
	return 0;
}

static struct core_span span(const struct fixture *f, size_t at, size_t length)
{
	return (struct core_span){(uintptr_t)f->base + at, (uint32_t)length, CORE_SPACE_CLIENT};
}

static void put(struct fixture *f, struct io_mem *m, size_t at, const void *bytes, size_t length)
{
	struct core_span s = span(f, at, length);
	struct iovec iov[2] = {{(void *)(uintptr_t)bytes, length / 2},
			       {(uint8_t *)(uintptr_t)bytes + length / 2, length - length / 2}};

	assert_int_equal(io_mem_write(m, &s, 1, iov, 2), 0);
}

/* The byte is stored at once, or waits (and is not to be seen). */
static void expect(struct fixture *f, struct io_mem *m, size_t at, uint8_t byte, bool waits)
{
	f->base[at] = 0;
	put(f, m, at, &byte, 1);
	assert_int_equal(f->base[at], waits ? 0 : byte);
}

/* ld --wrap */
static unsigned calls, pieces;
ssize_t __real_process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
				 const struct iovec *remote, unsigned long n, unsigned long flags);
ssize_t __wrap_process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
				 const struct iovec *remote, unsigned long n, unsigned long flags);

ssize_t __wrap_process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
				 const struct iovec *remote, unsigned long n, unsigned long flags)
{
	calls++;
	pieces = (unsigned)n;
	return __real_process_vm_writev(pid, local, n_local, remote, n, flags);
}

/* ---- */

static void test_first_goes_at_once(void **state)
{
	struct fixture *f = *state;

	expect(f, &f->mem, 10, 1, false);
	expect(f, &f->mem, 20, 2, true);
	expect(f, &f->mem, PAGE, 3, false); /* another page; and what waited has gone before it */
	assert_int_equal(f->base[20], 2);
	expect(f, &f->mem, 30, 4, true); /* both are remembered */
	expect(f, &f->mem, PAGE + 1, 5, true);
	io_mem_settle();
	assert_int_equal(f->base[30], 4);
	assert_int_equal(f->base[PAGE + 1], 5);
	expect(f, &f->mem, 10, 6, false); /* and not any more */
}

/* All that may be seen in its place does not overtake what waits. */
static void test_until_something_else(void **state)
{
	struct fixture *f = *state;
	static uint8_t device[8], data[PAGE];
	struct core_span own = {(uintptr_t)device, sizeof(device), CORE_SPACE_DEVICE};
	struct core_span far = span(f, 5 * PAGE, 8), two[2] = {span(f, 1, 1), span(f, 3, 1)};
	struct iovec iov = {data, sizeof(device)}, byte = {data, 2};

	expect(f, &f->mem, 0, 1, false);
	expect(f, &f->mem, 100, 1, true);
	assert_int_equal(io_mem_read(&f->mem, &far, 1, data), 0);
	assert_int_equal(f->base[100], 1);
	expect(f, &f->mem, 101, 1, true);
	assert_int_equal(io_mem_write(&f->mem, &own, 1, &iov, 1), 0);
	assert_int_equal(f->base[101], 1);
	expect(f, &f->mem, 102, 1, true);
	put(f, &f->mem, 200, data, 57); /* too long to wait */
	assert_int_equal(f->base[102], 1);
	expect(f, &f->mem, 103, 1, true);
	assert_int_equal(io_mem_write(&f->mem, two, 2, &byte, 1), 0);
	assert_int_equal(f->base[103], 1);
	expect(f, &f->mem, 104, 1, true);
	put(f, &f->mem, PAGE - 2, data, 4); /* over the end of the page */
	assert_int_equal(f->base[104], 1);
	expect(f, &f->mem, 105, 1, true);
	expect(f, &f->other, 106, 1, false);
	assert_int_equal(f->base[105], 1);
	expect(f, &f->mem, 107, 1, false); /* whose page the other's is nobody knows */
}

static void test_order_and_bytes(void **state)
{
	struct fixture *f = *state;
	static uint8_t expected[REGION];
	uint8_t data[56];

	memset(expected, 0, sizeof(expected));
	for (unsigned i = 0; i < 20000; i++) {
		size_t n = 1 + prng_below(&rng, sizeof(data));
		size_t at = prng_below(&rng, 2) ? prng_below(&rng, 200)
						: prng_below(&rng, (uint32_t)(REGION - n));

		prng_fill(&rng, data, n);
		put(f, prng_below(&rng, 50) ? &f->mem : &f->other, at, data, n);
		memcpy(expected + at, data, n);
		if (prng_below(&rng, 20))
			continue;
		io_mem_settle();
		assert_memory_equal(f->base, expected, REGION);
	}
	io_mem_settle();
	assert_memory_equal(f->base, expected, REGION);
}

static void test_one_call(void **state)
{
	struct fixture *f = *state;
	uint64_t word = 1;

	calls = 0;
	for (unsigned i = 0; i < 33; i++, word++)
		put(f, &f->mem, 64 * (size_t)i, &word, sizeof(word));
	io_mem_settle();
	assert_int_equal(calls, 1);
	for (unsigned i = 0; i < 33; i++)
		assert_int_equal(f->base[64 * i], i + 1);
}

static void test_as_many_as_there_is_room_for(void **state)
{
	struct fixture *f = *state;

	calls = 0;
	for (unsigned i = 0; i < 1 + 3 * 32 + 2; i++)
		put(f, &f->mem, 8 * (size_t)i + 3, "x", 1);
	assert_int_equal(calls, 3);
	io_mem_settle();
	assert_int_equal(calls, 4);
	assert_int_equal(pieces, 2);
}

/* What is stored whole is one piece wherever it lies; of what is longer the end is another. */
static void test_pieces(void **state)
{
	struct fixture *f = *state;

	put(f, &f->mem, 0, "first", 5);
	put(f, &f->mem, 65, "8 bytes.", 8);
	put(f, &f->mem, 129, "nine more", 9);
	io_mem_settle();
	assert_int_equal(pieces, 1 + 2);
	assert_memory_equal(f->base + 65, "8 bytes.", 8);
	assert_memory_equal(f->base + 129, "nine more", 9);
}

/* The program takes a page away behind the first write: hardware would have written to it. */
static void test_page_that_goes(void **state)
{
	struct fixture *f = *state;

	expect(f, &f->mem, 0, 1, false);
	expect(f, &f->mem, PAGE, 1, false);
	expect(f, &f->mem, 2 * PAGE, 1, false);
	expect(f, &f->mem, 1, 2, true);
	expect(f, &f->mem, PAGE + 1, 2, true);
	expect(f, &f->mem, 2 * PAGE + 1, 2, true);
	munmap(f->base + PAGE, PAGE);
	io_mem_settle();
	assert_int_equal(f->base[1], 2);
	assert_int_equal(f->base[2 * PAGE + 1], 2);
}

/* Memory that goes takes along what waits; and what is opened in its place waits for nothing. */
static void test_close(void **state)
{
	struct fixture *f = *state;

	expect(f, &f->mem, 0, 1, false);
	expect(f, &f->mem, 1, 1, true);
	io_mem_close(&f->mem);
	io_mem_settle();
	assert_int_equal(f->base[1], 0);
	open_own(&f->mem, f->pair[0], IO_MEM_PROC_MEM);
	expect(f, &f->mem, 0, 2, false);
	expect(f, &f->mem, 1, 2, false); /* by this way no call takes more than one */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_first_goes_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_until_something_else, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order_and_bytes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_one_call, setup, teardown),
		cmocka_unit_test_setup_teardown(test_as_many_as_there_is_room_for, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(test_page_that_goes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_close, setup, teardown),
	};

	rng = prng_start("test_combine");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
