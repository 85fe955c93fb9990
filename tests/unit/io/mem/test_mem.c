/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Client memory, with each way forced in turn: bytes arrive where they should, whatever the lists
 * look like; a place that is not mapped gives EFAULT; what a polling process sees of small and of
 * long writes; a process that has ended or become another program is not touched; a way that is
 * refused is left once and for all.
 *
 * The client is a child process. The region is shared with it, so that this process sees what
 * arrived; the child has the same addresses.
 */
#include "emu/io/base/clock.h"
#include "emu/io/local/local.h"
#include "emu/io/mem/marker.h"
#include "emu/io/mem/mem.h"
#include "tests/support/io/marker_page.h"
#include "tests/support/wire/cmocka_all.h"
#include "tests/support/wire/prng.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE   4096u
#define PAGES  64u
#define REGION (PAGE * PAGES)
#define HOLE   (PAGE * 40) /* a page that the child does not have */

static struct prng rng;
static const enum io_mem_mode modes[] = {IO_MEM_PROCESS_VM, IO_MEM_PROC_MEM, IO_MEM_AUTO};

struct target {
	pid_t pid;
	uint8_t *base;
	int sock; /* its other end is closed when the child ends, or execs and does not keep it */
	struct io_mem mem;
};

/*
 * The child's life: give up a page, map the marker page, then do "job"; its result is the status.
 */
static void live(uint8_t *base, int sock, int (*job)(uint8_t *base, int sock))
{
	uint64_t marker;

	munmap(base + HOLE, PAGE);
	if (write(sock, "", 1) != 1 || read(sock, &marker, sizeof(marker)) != sizeof(marker))
		_exit(99);
	if ((marker && !marker_page_map(marker)) || write(sock, "", 1) != 1)
		_exit(99);
	_exit(job(base, sock));
}

static int wait_for_end(uint8_t *base, int sock)
{
	char byte;

	(void)base;
	return read(sock, &byte, 1) == 0 ? 0 : 1;
}

static void start(struct target *t, enum io_mem_mode mode, int (*job)(uint8_t *base, int sock))
{
	char path[32];
	char byte;
	int pair[2];
	int fd;

	t->base = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(t->base != MAP_FAILED);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	t->pid = fork();
	if (t->pid == 0) {
		close(pair[0]);
		live(t->base, pair[1], job);
	}
	close(pair[1]);
	t->sock = pair[0];
	assert_int_equal(read(t->sock, &byte, 1), 1);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)t->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(io_mem_open(&t->mem, fd, t->pid, mode), 0);
	assert_int_equal(write(t->sock, &t->mem.marker, sizeof(t->mem.marker)),
			 sizeof(t->mem.marker));
	assert_int_equal(read(t->sock, &byte, 1), 1);
}

/* Returns the child's exit status. */
static int finish(struct target *t)
{
	int status;

	shutdown(t->sock, SHUT_WR);
	assert_int_equal(waitpid(t->pid, &status, 0), t->pid);
	io_mem_close(&t->mem);
	close(t->sock);
	munmap(t->base, REGION);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static struct core_span span(const struct target *t, size_t offset, size_t length)
{
	return (struct core_span){(uint64_t)(uintptr_t)(t->base + offset), (uint32_t)length,
				  CORE_SPACE_CLIENT};
}

/* ---- as the device asks ---- */

/*
 * A thread brings pages that nobody has touched. Where it has no processor for 200 ms
 * (page_worker.h), the answer is -ESRCH until it is back, and the device asks again.
 */
static bool must_ask_again(struct io_mem *m, int error)
{
	const uint64_t end = io_clock_now() + 20 * IO_SEC;

	if (error != -ESRCH || !m->page_worker.out)
		return false;
	while (!io_page_worker_is_back(&m->page_worker) && io_clock_now() < end)
		usleep(1000);
	return !m->page_worker.out;
}

static int write_memory(struct io_mem *m, const struct core_span *span, unsigned n,
			const struct iovec *from, unsigned n_from)
{
	int error = io_mem_write(m, span, n, from, n_from);

	for (unsigned i = 0; i < 10 && must_ask_again(m, error); i++)
		error = io_mem_write(m, span, n, from, n_from);
	return error;
}

static int read_memory(struct io_mem *m, const struct core_span *span, unsigned n, void *to)
{
	int error = io_mem_read(m, span, n, to);

	for (unsigned i = 0; i < 10 && must_ask_again(m, error); i++)
		error = io_mem_read(m, span, n, to);
	return error;
}

/* ---- contents ---- */

#define LISTS_MAX 200

struct transfer {
	struct core_span span[LISTS_MAX];
	unsigned n_span;
	struct iovec iov[LISTS_MAX];
	unsigned n_iov;
	size_t total;
	uint8_t data[REGION];
};

/* Cuts total bytes into up to n pieces; zero-length ones among them. */
static unsigned cut(size_t total, unsigned n, size_t *piece)
{
	unsigned i = 0;

	for (; i + 1 < n && total > 0; i++) {
		piece[i] = prng_below(&rng, 5) ? prng_below(&rng, (uint32_t)total + 1) : 0;
		total -= piece[i];
	}
	piece[i++] = total;
	return i;
}

/* Spans in ascending order in the first half of the region, so that they never overlap. */
static void make_transfer(const struct target *t, struct transfer *x, uint8_t *device)
{
	size_t piece[LISTS_MAX];
	size_t at = prng_below(&rng, 64);
	size_t data = 0;

	x->total = prng_below(&rng, 4) ? prng_below(&rng, 20000) : prng_below(&rng, 24);
	x->n_span = cut(x->total, 1 + prng_below(&rng, LISTS_MAX), piece);
	for (unsigned i = 0; i < x->n_span; i++) {
		x->span[i] = span(t, at, piece[i]);
		if (device && prng_below(&rng, 3) == 0)
			x->span[i] = (struct core_span){(uint64_t)(uintptr_t)(device + at),
							(uint32_t)piece[i], CORE_SPACE_DEVICE};
		at += piece[i] + prng_below(&rng, 100);
	}
	x->n_iov = cut(x->total, 1 + prng_below(&rng, LISTS_MAX), piece);
	prng_fill(&rng, x->data, x->total);
	for (unsigned i = 0; i < x->n_iov; i++) {
		x->iov[i] = (struct iovec){x->data + data, piece[i]};
		data += piece[i];
	}
}

/* What the region and the device's memory must hold afterwards. */
static void apply(const struct target *t, const struct transfer *x, uint8_t *region,
		  uint8_t *device, const uint8_t *device_base)
{
	const uint8_t *p = x->data;

	for (unsigned i = 0; i < x->n_span; i++) {
		uint8_t *at = (uint8_t *)(uintptr_t)x->span[i].addr;

		if (x->span[i].length == 0)
			continue;
		if (x->span[i].space == CORE_SPACE_DEVICE)
			memcpy(device + (at - device_base), p, x->span[i].length);
		else
			memcpy(region + (at - t->base), p, x->span[i].length);
		p += x->span[i].length;
	}
}

static void check_contents(enum io_mem_mode mode, bool with_device)
{
	static struct transfer x;
	static uint8_t expected[REGION];
	static uint8_t device[REGION];
	static uint8_t device_expected[REGION];
	static uint8_t back[REGION];
	struct target t;

	start(&t, mode, wait_for_end);
	memset(expected, 0, sizeof(expected));
	memset(device, 0, sizeof(device));
	memset(device_expected, 0, sizeof(device_expected));
	for (unsigned round = 0; round < 200; round++) {
		make_transfer(&t, &x, with_device ? device : NULL);
		assert_int_equal(write_memory(&t.mem, x.span, x.n_span, x.iov, x.n_iov), 0);
		apply(&t, &x, expected, device_expected, device);
		assert_memory_equal(t.base, expected, HOLE);
		assert_memory_equal(device, device_expected, sizeof(device));
		memset(back, 0xee, sizeof(back));
		assert_int_equal(read_memory(&t.mem, x.span, x.n_span, back), 0);
		assert_memory_equal(back, x.data, x.total);
		assert_int_equal(back[x.total], 0xee);
	}
	assert_int_equal(finish(&t), 0);
}

static void test_contents(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		check_contents(modes[i], false);
}

static void test_device_memory(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++)
		check_contents(modes[i], true);
}

/* ---- places that are not there ---- */

static void expect_error(struct target *t, size_t offset, size_t length, int error)
{
	static uint8_t data[2 * PAGE];
	struct core_span s = span(t, offset, length);
	struct iovec iov = {data, length};

	assert_int_equal(read_memory(&t->mem, &s, 1, data), error);
	assert_int_equal(write_memory(&t->mem, &s, 1, &iov, 1), error);
}

static void expect_fault(struct target *t, size_t offset, size_t length)
{
	expect_error(t, offset, length, -EFAULT);
}

static void test_unmapped(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct core_span wild = {UINT64_MAX - 100, 64, CORE_SPACE_CLIENT};
		struct target t;
		uint8_t data[64];

		start(&t, modes[i], wait_for_end);
		expect_fault(&t, HOLE, 8);
		expect_fault(&t, HOLE + 100, 1000);
		expect_fault(&t, HOLE - 4, 8);           /* begins before it */
		expect_fault(&t, HOLE - PAGE, 2 * PAGE); /* a page is there, the next is not */
		expect_fault(&t, HOLE + PAGE - 8, 100);  /* ends behind it */
		assert_int_equal(read_memory(&t.mem, &wild, 1, data), -EFAULT);
		assert_int_equal(finish(&t), 0);
	}
}

/* What a program could store to without a trap. */
static void test_is_there(void **state)
{
	static uint8_t data[64];
	struct core_span s;
	struct target t;

	(void)state;
	start(&t, IO_MEM_AUTO, wait_for_end);
	s = span(&t, 0, sizeof(data));
	assert_int_equal(write_memory(&t.mem, &s, 1, &(struct iovec){data, sizeof(data)}, 1), 0);
	assert_true(io_mem_is_there(&t.mem, &s));
	s = span(&t, HOLE + 8, 8);
	assert_false(io_mem_is_there(&t.mem, &s));
	s = span(&t, HOLE - 4, 8);
	assert_false(io_mem_is_there(&t.mem, &s));
	assert_int_equal(finish(&t), 0);
}

/* Elements of 24 bytes, 88 apart, from this offset on: more than one call takes. */
static unsigned make_column(const struct target *t, size_t offset, struct core_span *out)
{
	for (unsigned i = 0; i < LISTS_MAX; i++)
		out[i] = span(t, offset + i * 88u, 24);
	return LISTS_MAX;
}

static void check_column(enum io_mem_mode mode)
{
	const size_t reach = (LISTS_MAX - 1) * 88u + 24;
	struct core_span s[LISTS_MAX];
	uint8_t got[LISTS_MAX * 24];
	struct target t;

	start(&t, mode, wait_for_end);
	for (size_t i = 0; i < REGION; i++)
		t.base[i] = (uint8_t)prng_below(&rng, 256);
	/* up to the last byte before what is not mapped, and one more */
	assert_int_equal(read_memory(&t.mem, s, make_column(&t, HOLE - reach, s), got), 0);
	for (unsigned i = 0; i < LISTS_MAX; i++)
		assert_memory_equal(got + i * 24, t.base + HOLE - reach + i * 88u, 24);
	assert_int_equal(read_memory(&t.mem, s, make_column(&t, HOLE - reach + 1, s), got),
			 -EFAULT);
	assert_int_equal(finish(&t), 0);
}

/* Pages that the client protected are reached as hardware reaches them: by the descriptor. */
static void test_protected(void **state)
{
	static const uint8_t data[3 * PAGE] = {1, [2 * PAGE] = 2};
	uint8_t got[3 * PAGE];
	uint8_t *own = mmap(NULL, sizeof(got), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct core_span s = {(uintptr_t)own, sizeof(got), CORE_SPACE_CLIENT};
	struct iovec from = {(void *)(uintptr_t)data, sizeof(data)};
	struct target t;

	(void)state;
	assert_true(own != MAP_FAILED);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		int want = modes[i] == IO_MEM_PROCESS_VM ? -EFAULT : 0;
		start(&t, modes[i], wait_for_end); /* the child has the pages, too */
		assert_int_equal(write_memory(&t.mem, &s, 1, &from, 1), want);
		assert_int_equal(read_memory(&t.mem, &s, 1, got), want);
		if (!want)
			assert_memory_equal(got, data, sizeof(got));
		assert_int_equal(finish(&t), 0);
	}
	munmap(own, sizeof(got));
}

static void test_column(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		check_column(modes[i]);
}

/* Two columns of pieces, each of which is nearly as much as is read at once. */
static void test_columns(void **state)
{
	const unsigned column = LISTS_MAX / 3, step = 900;
	struct core_span s[LISTS_MAX];
	uint8_t got[LISTS_MAX * 24];
	unsigned n = 0;
	struct target t;

	(void)state;
	start(&t, IO_MEM_PROCESS_VM, wait_for_end);
	for (size_t i = 0; i < HOLE; i++)
		t.base[i] = (uint8_t)prng_below(&rng, 256);
	for (unsigned c = 0; c < 2; c++)
		for (unsigned i = 0; i < column; i++)
			s[n++] = span(&t, c * (column * step + 2 * PAGE) + i * step, 24);
	assert_int_equal(read_memory(&t.mem, s, n, got), 0);
	for (unsigned i = 0; i < n; i++)
		assert_memory_equal(got + i * 24, (uint8_t *)(uintptr_t)s[i].addr, 24);
	assert_int_equal(finish(&t), 0);
}

static void test_nothing_to_do(void **state)
{
	struct target t;
	struct core_span empty;
	struct iovec none = {NULL, 0};

	(void)state;
	start(&t, IO_MEM_AUTO, wait_for_end);
	empty = span(&t, HOLE, 0);
	assert_int_equal(read_memory(&t.mem, &empty, 1, NULL), 0);
	assert_int_equal(write_memory(&t.mem, &empty, 1, &none, 1), 0);
	assert_int_equal(write_memory(&t.mem, &empty, 0, &none, 0), 0);
	assert_int_equal(finish(&t), 0);
}

/* ---- what a polling process sees ---- */

#define WRITES 4000

/* Bounded by the deadline of the parent, which kills. */
static uint64_t load(const uint8_t *p)
{
	return __atomic_load_n((const uint64_t *)(const void *)p, __ATOMIC_ACQUIRE);
}

/* Both halves of each value are equal; 1 when one was seen torn. The last value ends it. */
static int watch_word(uint8_t *base, int sock)
{
	uint64_t v;

	(void)sock;
	do {
		v = load(base);
		if ((uint32_t)v != (uint32_t)(v >> 32))
			return 1;
	} while ((uint32_t)v != WRITES);
	return 0;
}

/* When the last word of a write is there, so is the first. */
static int watch_order(uint8_t *base, int sock)
{
	uint64_t last;

	(void)sock;
	do {
		last = load(base + PAGE - 8);
		for (unsigned at = 0; at < PAGE - 8; at += 512)
			if (load(base + at) < last)
				return 1;
	} while (last != WRITES);
	return 0;
}

static void test_small_store_is_whole(void **state)
{
	/* A source that ends at a page's end is the one that the kernel tears. */
	uint8_t *source =
		mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(source != MAP_FAILED);
	for (unsigned i = 0; i < 3; i++) {
		struct iovec iov = {source + PAGE - 8, 8};
		struct core_span s;
		struct target t;

		start(&t, modes[i], watch_word);
		s = span(&t, 0, 8);
		for (uint64_t v = 1; v <= WRITES; v++) {
			v |= v << 32;
			memcpy(source + PAGE - 8, &v, 8);
			v = (uint32_t)v;
			assert_int_equal(write_memory(&t.mem, &s, 1, &iov, 1), 0);
		}
		assert_int_equal(finish(&t), 0);
	}
	munmap(source, 2 * PAGE);
}

static void test_last_bytes_are_last(void **state)
{
	static uint64_t source[PAGE / 8];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct iovec iov = {source, PAGE};
		struct core_span s;
		struct target t;

		start(&t, modes[i], watch_order);
		s = span(&t, 0, PAGE);
		for (uint64_t v = 1; v <= WRITES; v++) {
			for (unsigned k = 0; k < PAGE / 8; k++)
				source[k] = v;
			assert_int_equal(write_memory(&t.mem, &s, 1, &iov, 1), 0);
		}
		assert_int_equal(finish(&t), 0);
	}
}

/* ld --wrap: the last piece of the newest write. */
static struct iovec last_piece;

ssize_t __real_process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
				 const struct iovec *remote, unsigned long n, unsigned long flags);
ssize_t __wrap_process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
				 const struct iovec *remote, unsigned long n, unsigned long flags);
ssize_t __wrap_process_vm_writev(pid_t pid, const struct iovec *local, unsigned long n_local,
				 const struct iovec *remote, unsigned long n, unsigned long flags)
{
	last_piece = remote[n - 1];
	return __real_process_vm_writev(pid, local, n_local, remote, n, flags);
}

/* Wherever a write ends, what is stored last is within one word, and all of it in that word. */
static void test_last_word_is_one(void **state)
{
	uint8_t source[64];
	struct target t;

	(void)state;
	prng_fill(&rng, source, sizeof(source));
	start(&t, IO_MEM_PROCESS_VM, wait_for_end);
	for (uint32_t from = 0; from < 8; from++)
		for (uint32_t n = 9; n <= sizeof(source); n++) {
			struct core_span s = span(&t, from, n);
			struct iovec iov = {source, n};
			size_t end = (from + n) % 8;

			assert_int_equal(write_memory(&t.mem, &s, 1, &iov, 1), 0);
			assert_memory_equal(t.base + from, source, n);
			assert_int_equal(last_piece.iov_len, end ? end : 8);
			assert_int_equal((uintptr_t)last_piece.iov_base % 8, 0);
		}
	assert_int_equal(finish(&t), 0);
}

/* ---- other processes ---- */

static void test_dead_process(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct target t;
		int status;

		start(&t, modes[i], wait_for_end);
		kill(t.pid, SIGKILL);
		assert_int_equal(waitpid(t.pid, &status, 0), t.pid);
		expect_error(&t, 0, 8, -ESRCH);
		expect_error(&t, 0, 2 * PAGE, -ESRCH);
		io_mem_close(&t.mem);
		close(t.sock);
		munmap(t.base, REGION);
	}
}

static int become_another(uint8_t *base, int sock)
{
	char fd[16];

	(void)base;
	(void)sock;
	snprintf(fd, sizeof(fd), "%d", IO_MEM_AUTO + 100);
	execlp("sleep", "sleep", fd, (char *)NULL);
	return 98;
}

/* An exec keeps the process id, closes the control socket, and has other memory. */
/* The kernel may keep the old memory for a while, but the data has nowhere to go. */
static void expect_any_error(struct target *t, size_t offset, size_t length)
{
	static uint8_t data[2 * PAGE];
	struct core_span s = span(t, offset, length);
	struct iovec iov = {data, length};

	assert_true(io_mem_read(&t->mem, &s, 1, data) < 0);
	assert_true(io_mem_write(&t->mem, &s, 1, &iov, 1) < 0);
}

static void test_exec(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct pollfd p = {.events = POLLIN};
		struct target t;
		int status;

		start(&t, modes[i], become_another);
		p.fd = t.sock;
		assert_int_equal(poll(&p, 1, 120000), 1);
		expect_any_error(&t, 0, 8);
		expect_any_error(&t, 0, 2 * PAGE);
		kill(t.pid, SIGKILL);
		assert_int_equal(waitpid(t.pid, &status, 0), t.pid);
		io_mem_close(&t.mem);
		close(t.sock);
		munmap(t.base, REGION);
	}
}

/* ---- an exec that keeps the control socket ---- */

/* The other program: it has memory of its own at the same address. 0: nobody wrote to it. */
static int be_another(char *const *argv)
{
	uintptr_t base = strtoull(argv[2], NULL, 16);
	int sock = atoi(argv[3]);
	uint8_t *own =
		mmap((void *)base, REGION, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0);
	char byte;

	if (own != (uint8_t *)base || write(sock, "", 1) != 1 || read(sock, &byte, 1) != 0)
		return 97;
	for (size_t i = 0; i < REGION; i++)
		if (own[i])
			return 1;
	return 0;
}

static int become_another_quietly(uint8_t *base, int sock)
{
	char at[24], fd[16];

	snprintf(at, sizeof(at), "%llx", (unsigned long long)(uintptr_t)base);
	snprintf(fd, sizeof(fd), "%d", sock);
	fcntl(sock, F_SETFD, 0);
	execl("/proc/self/exe", "test_mem", "--another", at, fd, (char *)NULL);
	return 98;
}

/* The process id is the same, the control socket is open, the memory is another program's. */
static void test_exec_with_socket(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct target t;
		char byte;

		start(&t, modes[i], become_another_quietly);
		memset(t.base, 7, REGION);
		assert_int_equal(read(t.sock, &byte, 1), 1);
		expect_any_error(&t, 0, 8);
		expect_any_error(&t, 0, 2 * PAGE);
		assert_int_equal(finish(&t), 0);
	}
}

/* Runs in a child without rights over its parent: 0 when all is as it should be. */
static int without_rights(int fd, uint8_t *base, uint64_t marker)
{
	uint8_t data[2 * PAGE];
	struct core_span s = {(uint64_t)(uintptr_t)base, sizeof(data), CORE_SPACE_CLIENT};
	struct iovec iov = {data, sizeof(data)};
	struct io_mem m;

	if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
		return 2;
	prctl(PR_SET_DUMPABLE, 1);
	if (io_mem_open(&m, dup(fd), getppid(), IO_MEM_PROCESS_VM) < 0 || !m.vm_usable)
		return 3;
	m.marker = marker;
	for (unsigned i = 0; i < 3; i++) /* this way or none */
		if (read_memory(&m, &s, 1, data) != -EFAULT ||
		    strcmp(io_mem_how(&m), "process_vm") != 0)
			return 4;
	io_mem_close(&m);
	if (io_mem_open(&m, dup(fd), getppid(), IO_MEM_AUTO) < 0 || !m.vm_usable)
		return 5;
	m.marker = marker;
	memset(data, 7, sizeof(data));
	if (write_memory(&m, &s, 1, &iov, 1) != 0 || m.vm_usable ||
	    strcmp(io_mem_how(&m), "proc_mem") != 0)
		return 6;
	return read_memory(&m, &s, 1, data) == 0 ? 0 : 7;
}

static void test_refused_once(void **state)
{
	static uint8_t target[2 * PAGE];
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	uint64_t marker = io_marker_draw();
	int status;
	pid_t pid;

	(void)state;
	assert_true(mem >= 0);
	assert_true(marker_page_map(marker));
	prctl(PR_SET_DUMPABLE, 0);
	pid = fork();
	if (pid == 0)
		_exit(without_rights(mem, target, marker));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	prctl(PR_SET_DUMPABLE, 1);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(target[0], 7);
	assert_int_equal(target[sizeof(target) - 1], 7);
	marker_page_unmap(marker);
	close(mem);
}

/* ---- descriptors that are no process's memory ---- */

static void test_wrong_descriptors(void **state)
{
	static const char *const path[] = {"/dev/null", "/proc/self/maps", "/proc/self/status"};
	struct io_mem m;
	int pipes[2];
	int fd;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		fd = open(path[i], O_RDONLY);
		assert_true(fd >= 0);
		assert_int_equal(io_mem_open(&m, fd, getpid(), IO_MEM_AUTO), -EINVAL);
		assert_true(io_reaper_wait(20000));
		assert_int_equal(fcntl(fd, F_GETFD), -1);
	}
	fd = open("/proc/self/mem", O_RDONLY);
	assert_int_equal(io_mem_open(&m, fd, getpid(), IO_MEM_AUTO), -EINVAL);
	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(io_mem_open(&m, pipes[1], getpid(), IO_MEM_AUTO), -EINVAL);
	close(pipes[0]);
	assert_int_equal(io_mem_open(&m, -1, getpid(), IO_MEM_AUTO), -EINVAL);
}

/* A descriptor of one process with the id of another: only the descriptor is used. */
static void test_foreign_pid(void **state)
{
	struct io_mem m;
	int fd = open("/proc/self/mem", O_RDWR);

	(void)state;
	assert_int_equal(io_mem_open(&m, fd, getppid(), IO_MEM_PROCESS_VM), -EPERM);
	fd = open("/proc/self/mem", O_RDWR);
	assert_int_equal(io_mem_open(&m, fd, getppid(), IO_MEM_AUTO), 0);
	assert_string_equal(io_mem_how(&m), "proc_mem");
	io_mem_close(&m);
	fd = open("/proc/self/mem", O_RDWR);
	assert_int_equal(io_mem_open(&m, fd, 0, IO_MEM_AUTO), 0);
	assert_string_equal(io_mem_how(&m), "proc_mem");
	io_mem_close(&m);
}

static void test_names(void **state)
{
	struct target t;

	(void)state;
	start(&t, IO_MEM_PROC_MEM, wait_for_end);
	assert_string_equal(io_mem_how(&t.mem), "proc_mem");
	finish(&t);
	start(&t, IO_MEM_PROCESS_VM, wait_for_end);
	assert_string_equal(io_mem_how(&t.mem), "process_vm");
	finish(&t);
	start(&t, IO_MEM_AUTO, wait_for_end);
	assert_string_equal(io_mem_how(&t.mem), "process_vm+proc_mem");
	finish(&t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contents),
		cmocka_unit_test(test_device_memory),
		cmocka_unit_test(test_unmapped),
		cmocka_unit_test(test_is_there),
		cmocka_unit_test(test_protected),
		cmocka_unit_test(test_column),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_nothing_to_do),
		cmocka_unit_test(test_small_store_is_whole),
		cmocka_unit_test(test_last_bytes_are_last),
		cmocka_unit_test(test_last_word_is_one),
		cmocka_unit_test(test_dead_process),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exec_with_socket),
		cmocka_unit_test(test_refused_once),
		cmocka_unit_test(test_wrong_descriptors),
		cmocka_unit_test(test_foreign_pid),
		cmocka_unit_test(test_names),
	};

	if (argc == 4 && strcmp(argv[1], "--another") == 0)
		return be_another(argv);
	rng = prng_start("test_mem");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
