/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pinned memory on a real daemon (uhca-run --pin): it is the device's as pinned pages are, and
 * to the program it is what it was: after fork, madvise, mremap, munmap, with threads that store
 * while it is registered; and what is not pinned works as ever. "pinned MODE": off, safe or all.
 */
#include "tests/support/verbs/arena_holds.h"
#include "tests/support/verbs/verbs_pair.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALL                                                                                        \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)
#define PAGE ((size_t)4096)
#define SIZE ((size_t)1 << 20)
#define RW   (PROT_READ | PROT_WRITE)

static bool on; /* memory is pinned at all */

/* ---- what the kernel says ---- */

/* Can threads be made to wait here? */
static bool can_stop_threads(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0)
		fd = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* ---- a pair, and memory ---- */

static void *fresh(size_t length, int value)
{
	void *p = mmap(NULL, length, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	memset(p, value, length);
	return p;
}

static struct ibv_mr *reg(struct verbs_pair *p, void *at, size_t length)
{
	struct ibv_mr *mr = ibv_reg_mr(p->pd, at, length, ALL);

	assert_non_null(mr);
	return mr;
}

static struct ibv_mr *reg_pinned(struct verbs_pair *p, void *at, size_t length)
{
	struct ibv_mr *mr = reg(p, at, length);

	assert_int_equal(arena_holds(at, length), on);
	return mr;
}

/* A place in a region. */
struct place {
	const struct ibv_mr *mr;
	const void *at;
};

/* One request between a place here and one there; its status. */
static enum ibv_wc_status rdma(struct verbs_pair *p, enum ibv_wr_opcode opcode, struct place local,
			       struct place remote, uint32_t length)
{
	struct ibv_sge sge = {(uintptr_t)local.at, length, local.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {(uintptr_t)remote.at, remote.mr->rkey}},
			   *bad;

	assert_int_equal(ibv_post_send(p->a.qp, &wr, &bad), 0);
	return verbs_pair_poll(p->a.cq).status;
}

/* From and to the beginning of the pair's memory. */
static enum ibv_wc_status write_to(struct verbs_pair *p, const struct ibv_mr *mr, void *to,
				   uint32_t n)
{
	return rdma(p, IBV_WR_RDMA_WRITE, (struct place){p->a.mr, p->a.memory},
		    (struct place){mr, to}, n);
}

static enum ibv_wc_status read_from(struct verbs_pair *p, const struct ibv_mr *mr, const void *from,
				    uint32_t n)
{
	return rdma(p, IBV_WR_RDMA_READ, (struct place){p->a.mr, p->a.memory},
		    (struct place){mr, from}, n);
}

/* From there to this place of the pair's memory. */
static enum ibv_wc_status write_from(struct verbs_pair *p, const struct ibv_mr *mr, const void *at,
				     uint32_t n, size_t to)
{
	return rdma(p, IBV_WR_RDMA_WRITE, (struct place){mr, at},
		    (struct place){p->a.mr, p->a.memory + to}, n);
}

static void fill(uint8_t *at, size_t length, unsigned seed)
{
	for (size_t i = 0; i < length; i++)
		at[i] = (uint8_t)(i * 7 + (i >> 8) + seed);
}

/* ---- content ---- */

/* All lengths, from the borrowed edge into the pinned pages and out again. */
static void test_content(void **state)
{
	static const uint32_t length[] = {1, 8, 100, 4096, 10001, 65536, 200000};
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	uint8_t *whole = fresh(SIZE + 2 * PAGE, 0), *at = whole + 100;
	struct ibv_mr *mr;

	(void)state;
	fill(at, SIZE, 3);
	mr = reg(p, at, SIZE);
	assert_int_equal(arena_holds(whole + PAGE, SIZE - PAGE), on);
	assert_false(arena_holds(whole, 1));
	for (unsigned i = 0; i < sizeof(length) / sizeof(length[0]); i++) {
		uint32_t n = length[i];
		uint8_t *place[] = {at, whole + PAGE - n / 2 % PAGE, at + SIZE - n};

		for (unsigned k = 0; k < 3; k++) {
			uint8_t *to = place[k] < at ? at : place[k];

			assert_int_equal(read_from(p, mr, to, n), 0);
			assert_memory_equal(p->a.memory, to, n);
			fill(p->a.memory, n, n + k);
			assert_int_equal(write_to(p, mr, to, n), 0);
			assert_memory_equal(to, p->a.memory, n);
			assert_int_equal(write_from(p, mr, to, n, PAIR_MEMORY / 2), 0);
			assert_memory_equal(to, p->a.memory + PAIR_MEMORY / 2, n);
		}
	}
	assert_int_equal(write_to(p, mr, at + SIZE - 4, 8), IBV_WC_REM_ACCESS_ERR);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(whole, SIZE + 2 * PAGE);
	verbs_pair_destroy(p);
}

/* From one place of a region to one that overlaps it: what was there, as of one copy. */
static void test_onto_itself(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	uint8_t *at = fresh(SIZE, 0), *want = malloc(SIZE);
	struct ibv_mr *mr = reg_pinned(p, at, SIZE);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		uint8_t *from = at + (i ? 1000 : 1031), *to = at + (i ? 1031 : 1000);

		fill(at, SIZE, i);
		memcpy(want, from, 50000);
		assert_int_equal(rdma(p, IBV_WR_RDMA_WRITE, (struct place){mr, from},
				      (struct place){mr, to}, 50000),
				 0);
		assert_memory_equal(to, want, 50000);
		fill(at, SIZE, i + 2);
		memcpy(want, from, 50000);
		assert_int_equal(rdma(p, IBV_WR_RDMA_READ, (struct place){mr, to},
				      (struct place){mr, from}, 50000),
				 0);
		assert_memory_equal(to, want, 50000);
	}
	assert_int_equal(ibv_dereg_mr(mr), 0);
	free(want);
	munmap(at, SIZE);
	verbs_pair_destroy(p);
}

/* Pages that were never touched, and some that were: nothing else appears. */
static void test_holes(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	uint8_t *at = mmap(NULL, 4 * SIZE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;

	(void)state;
	assert_true(at != MAP_FAILED);
	for (size_t i = 0; i < 4 * SIZE; i += 37 * PAGE)
		at[i + 5] = (uint8_t)(i / PAGE | 1);
	mr = reg_pinned(p, at, 4 * SIZE);
	for (size_t i = 0; i < 4 * SIZE; i++) {
		uint8_t want = i % (37 * PAGE) == 5 ? (uint8_t)((i - 5) / PAGE | 1) : 0;

		if (at[i] != want)
			fail_msg("byte %zu is %u, not %u", i, at[i], want);
	}
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(at, 4 * SIZE);
	verbs_pair_destroy(p);
}

/* ---- the pages are the device's ---- */

static void test_unmapped(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	uint8_t *at = fresh(SIZE, 33), *later;
	struct ibv_mr *mr = reg_pinned(p, at, SIZE);

	(void)state;
	if (on) {
		munmap(at, SIZE);
		later = mmap(at, SIZE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		assert_ptr_equal(later, at);
		memset(later, 2, SIZE);
		memset(p->a.memory, 9, SIZE);
		assert_int_equal(read_from(p, mr, at + 4096, 64), 0);
		assert_int_equal(p->a.memory[63], 33); /* the page that was registered */
		memset(p->a.memory, 9, SIZE);
		assert_int_equal(write_to(p, mr, at, 64), 0);
		assert_int_equal(later[0], 2); /* the new mapping is nobody's business */
		assert_int_equal(read_from(p, mr, at, 8), 0);
		assert_int_equal(p->a.memory[7], 9);
		munmap(at, SIZE); /* and as the source of a request */
		assert_int_equal(write_from(p, mr, at + 8192, 8192, 0), 0);
		assert_int_equal(p->a.memory[8191], 33);
		assert_int_equal(write_from(p, mr, at + 8192, 8, 10000), 0);
		assert_int_equal(p->a.memory[10007], 33);
	}
	assert_int_equal(ibv_dereg_mr(mr), 0);
	verbs_pair_destroy(p);
}

static void test_dontneed(void **state)
{
	static const int advice[] = {MADV_DONTNEED, MADV_FREE};
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		uint8_t *at = fresh(SIZE, 33);
		struct ibv_mr *mr = reg_pinned(p, at, SIZE);

		assert_int_equal(madvise(at + 4 * PAGE, SIZE / 2, advice[i]), 0);
		if (advice[i] == MADV_DONTNEED)
			assert_int_equal(at[5 * PAGE], 0);
		assert_int_equal(at[0], 33);
		assert_int_equal(at[SIZE - 1], 33);
		if (on) {
			assert_int_equal(read_from(p, mr, at + 5 * PAGE, 8), 0);
			assert_int_equal(p->a.memory[0], 33);
			assert_int_equal(write_to(p, mr, at + 5 * PAGE, 8), 0);
			assert_int_equal(at[5 * PAGE], 0);
		}
		assert_int_equal(ibv_dereg_mr(mr), 0);
		mr = reg_pinned(p, at, SIZE); /* anew: the pages that are there now */
		memset(p->a.memory, 77, 8);
		assert_int_equal(write_to(p, mr, at + 5 * PAGE, 8), 0);
		assert_int_equal(at[5 * PAGE + 7], 77);
		assert_int_equal(ibv_dereg_mr(mr), 0);
		munmap(at, SIZE);
	}
	verbs_pair_destroy(p);
}

static void test_mremap(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	uint8_t *at = fresh(SIZE, 33), *moved, *heap;
	struct ibv_mr *mr = reg_pinned(p, at, SIZE);

	(void)state;
	moved = mremap(at, SIZE, 2 * SIZE, MREMAP_MAYMOVE);
	assert_true(moved != MAP_FAILED);
	assert_int_equal(moved[SIZE - 1], 33);
	memset(moved + SIZE, 44, SIZE);
	assert_int_equal(moved[SIZE - 1], 33);
	assert_false(arena_holds(moved, 1));
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(moved, 2 * SIZE);

	heap = malloc(SIZE);
	memset(heap, 11, SIZE);
	mr = reg(p, heap, SIZE);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	heap = realloc(heap, 4 * SIZE);
	assert_int_equal(heap[SIZE - 1], 11);
	memset(heap, 12, 4 * SIZE);
	free(heap);
	verbs_pair_destroy(p);
}

/* ---- other processes ---- */

/* Ends the child with the number of what it found wrong. */
static void look_as_child(const uint8_t *at, uint8_t *mine, int from_parent, int to_parent)
{
	char byte = 0;

	mine[6000] = 77;
	if (write(to_parent, "x", 1) != 1 || read(from_parent, &byte, 1) != 1)
		_exit(1);
	_exit(at[5000] != 1 ? 2 : at[6000] != 77 ? 3 : arena_holds(at, SIZE) ? 4 : 0);
}

static void test_fork(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	uint8_t *at = fresh(SIZE, 1);
	struct ibv_mr *mr = reg_pinned(p, at, SIZE);
	int down[2], up[2], status;
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(down) | pipe(up), 0);
	pid = fork();
	if (pid == 0)
		look_as_child(at, at, down[0], up[1]);
	assert_int_equal(read(up[0], &byte, 1), 1);
	assert_int_equal(at[6000], 1); /* the child's store is its own */
	memset(p->a.memory, 9, SIZE);
	assert_int_equal(write_to(p, mr, at + 4096, 8192), 0);
	assert_int_equal(at[5000], 9); /* the device's is the parent's */
	assert_int_equal(write(down[1], "x", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(close(down[i]) | close(up[i]), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(at, SIZE);
	verbs_pair_destroy(p);
}

static uint8_t *handled;

static void store_before_fork(void)
{
	if (handled)
		handled[1]++;
}

static void store_as_child(void)
{
	if (handled)
		handled[0] = 77;
}

/*
 * A program's handlers of pthread_atfork(3), which it installed before it looked for devices, store
 * into pinned memory: the one before the fork does not wait for itself, and the parent does not see
 * what the child's stores. The library has such handlers, too: its contexts may lie in pages that
 * were pinned, and the child closed a connection of its parent.
 */
static void test_fork_handler(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	uint8_t *at = fresh(SIZE, 1);
	struct ibv_mr *mr = reg_pinned(p, at, SIZE);
	int status;
	pid_t pid;

	(void)state;
	handled = at + 6000;
	pid = fork();
	if (pid == 0)
		_exit(at[6000] == 77 ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(at[6000] == 1 && at[6001] == 2);
	handled = NULL;
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(at, SIZE);
	verbs_pair_destroy(p);
}

/* What a child is not to have it has not; ibv_fork_init(3) asks for that. */
static void test_not_forked(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	uint8_t *at = fresh(SIZE, 1);
	unsigned char there;
	struct ibv_mr *mr;
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(madvise(at, SIZE, MADV_DONTFORK), 0);
	mr = reg_pinned(p, at, SIZE);
	pid = fork();
	if (pid == 0)
		_exit(mincore(at, PAGE, &there) == -1 && errno == ENOMEM ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(madvise(at, SIZE, MADV_DOFORK), 0);
	pid = fork();
	if (pid == 0)
		_exit(at[5000] == 1 && !arena_holds(at, SIZE) ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(at, SIZE);
	verbs_pair_destroy(p);
}

static void test_spawn(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	char name[] = "true", *argv[] = {name, NULL};
	uint8_t *at = fresh(SIZE, 1);
	struct ibv_mr *mr = reg_pinned(p, at, SIZE);
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(posix_spawnp(&pid, name, NULL, NULL, argv, environ), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(arena_holds(at, SIZE), on);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(at, SIZE);
	verbs_pair_destroy(p);
}

/* ---- threads ---- */

struct storing {
	uint64_t *at;  /* changes; NULL: wait */
	int pipe;      /* the same by read(2); -1: by stores */
	uint64_t done; /* stores so far */
	bool stop, failed;
};

static void *store(void *arg)
{
	struct storing *s = arg;

	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE)) {
		uint64_t *at = __atomic_load_n(&s->at, __ATOMIC_ACQUIRE), next = s->done + 1;

		if (!at)
			continue;
		if (s->pipe < 0)
			__atomic_store_n(at, next, __ATOMIC_RELEASE);
		else if (read(s->pipe, at, sizeof(*at)) != sizeof(*at))
			s->failed = true;
		if (__atomic_load_n(at, __ATOMIC_ACQUIRE) != next && s->pipe < 0)
			s->failed = true; /* lost: the page was replaced by an older copy */
		__atomic_store_n(&s->done, next, __ATOMIC_RELEASE);
	}
	return NULL;
}

#define ROUNDS 100u

static void test_threads_store(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct storing s = {.pipe = -1};
	uint8_t *used[ROUNDS];
	unsigned rounds = 0;
	bool pins = on && can_stop_threads();
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, store, &s), 0);
	for (; rounds < ROUNDS && !s.failed; rounds++) {
		uint8_t *at = used[rounds] = fresh(SIZE, 0);
		struct ibv_mr *mr;
		uint64_t before;

		__atomic_store_n(&s.at, (uint64_t *)(void *)(at + SIZE / 2), __ATOMIC_RELEASE);
		before = __atomic_load_n(&s.done, __ATOMIC_ACQUIRE);
		while (__atomic_load_n(&s.done, __ATOMIC_ACQUIRE) == before)
			;
		mr = reg(p, at, SIZE);
		assert_int_equal(arena_holds(at, SIZE), pins);
		before = __atomic_load_n(&s.done, __ATOMIC_ACQUIRE);
		while (__atomic_load_n(&s.done, __ATOMIC_ACQUIRE) < before + 2)
			;
		__atomic_store_n(&s.at, NULL, __ATOMIC_RELEASE);
		assert_int_equal(ibv_dereg_mr(mr), 0);
	}
	__atomic_store_n(&s.stop, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	assert_false(s.failed);
	/* Not before: the thread may be about to store there once more. */
	while (rounds)
		munmap(used[--rounds], SIZE);
	verbs_pair_destroy(p);
}

/* The child of a process with threads has what was there when it came to be. */
static void *count(void *arg)
{
	struct storing *s = arg;

	while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE))
		for (size_t i = 0; i < SIZE / sizeof(uint64_t); i += PAGE / sizeof(uint64_t))
			__atomic_store_n(&s->at[i], s->at[i] + 1, __ATOMIC_RELEASE);
	return NULL;
}

/* The counts of the pages ascend by one in turn: at any time one is ahead of the next at most. */
static int look_at_counts(const uint64_t *at)
{
	uint64_t first = at[0];

	for (size_t i = 0; i < SIZE / sizeof(uint64_t); i += PAGE / sizeof(uint64_t))
		if (at[i] != first && at[i] + 1 != first)
			return 1;
	return 0;
}

static void test_threads_fork(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct storing s = {.at = fresh(SIZE, 0)};
	bool pins = on && can_stop_threads();
	struct ibv_mr *mr = reg(p, s.at, SIZE);
	pthread_t thread;
	int status;

	(void)state;
	assert_int_equal(arena_holds(s.at, SIZE), on);
	if (on == pins) {
		assert_int_equal(pthread_create(&thread, NULL, count, &s), 0);
		for (unsigned i = 0; i < 50; i++) {
			pid_t pid = fork();

			if (pid == 0)
				_exit(look_at_counts(s.at));
			assert_int_equal(waitpid(pid, &status, 0), pid);
			assert_int_equal(status, 0);
		}
		__atomic_store_n(&s.stop, true, __ATOMIC_RELEASE);
		pthread_join(thread, NULL);
	}
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(s.at, SIZE);
	verbs_pair_destroy(p);
}

/* ---- several regions ---- */

static void test_overlap(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct verbs_pair *other = verbs_pair_create(IBV_QPT_RC, 0);
	uint8_t *at = fresh(SIZE, 1);
	struct ibv_mr *mr[4];

	(void)state;
	mr[0] = reg_pinned(p, at, SIZE / 2);
	mr[1] = reg_pinned(p, at + SIZE / 4, SIZE / 2);
	mr[2] = reg_pinned(p, at, SIZE);
	mr[3] = reg_pinned(other, at, SIZE);
	for (unsigned i = 0; i < 3; i++) {
		memset(p->a.memory, 50 + (int)i, 64);
		assert_int_equal(write_to(p, mr[i], at + SIZE / 2 - 64, 64), 0);
		assert_int_equal(at[SIZE / 2 - 1], 50 + i);
	}
	assert_int_equal(ibv_dereg_mr(mr[0]), 0);
	memset(other->a.memory, 60, 64);
	assert_int_equal(write_to(other, mr[3], at + 100, 64), 0);
	assert_int_equal(at[100], 60);
	assert_int_equal(read_from(p, mr[2], at + 100, 64), 0);
	assert_int_equal(p->a.memory[63], 60);
	assert_int_equal(ibv_dereg_mr(mr[3]) | ibv_dereg_mr(mr[2]) | ibv_dereg_mr(mr[1]), 0);
	verbs_pair_destroy(other);
	verbs_pair_destroy(p);
	munmap(at, SIZE);
}

/* What the device stores by an older region would be lost while its pages are copied. */
static void test_borrowed_overlaps(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	uint8_t *at = fresh(SIZE, 1);
	struct ibv_mr *small = reg(p, at + SIZE / 2, 100), *mr = reg(p, at, SIZE);

	(void)state;
	assert_false(arena_holds(at, PAGE));
	assert_int_equal(write_to(p, small, at + SIZE / 2, 100), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(ibv_dereg_mr(small), 0);
	mr = reg_pinned(p, at, SIZE);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(at, SIZE);
	verbs_pair_destroy(p);
}

static void test_rereg(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	uint8_t *at = fresh(SIZE, 1), *next = fresh(SIZE, 2);
	struct ibv_mr *mr = reg_pinned(p, at, SIZE);

	(void)state;
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL, next, SIZE, 0), 0);
	assert_int_equal(read_from(p, mr, next + 5000, 64), 0);
	assert_int_equal(p->a.memory[0], 2);
	memset(p->a.memory, 3, 64);
	assert_int_equal(write_to(p, mr, next + 5000, 64), 0);
	assert_int_equal(next[5000], 3);
	assert_int_equal(at[5000], 1);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(at, SIZE);
	munmap(next, SIZE);
	verbs_pair_destroy(p);
}

/* ---- what is not pinned ---- */

static void assert_borrowed(struct verbs_pair *p, uint8_t *at, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(p->pd, at, SIZE, access);

	assert_non_null(mr);
	assert_false(arena_holds(at + SIZE / 2, 1));
	assert_int_equal(read_from(p, mr, at, 64), 0);
	assert_memory_equal(p->a.memory, at, 64);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void test_refused(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct io_uring_params params = {0};
	uint8_t on_stack[SIZE], *at;
	int fd;

	(void)state;
	memset(on_stack, 5, SIZE);
	assert_borrowed(p, on_stack, ALL);
	at = fresh(SIZE, 6);
	assert_borrowed(p, at, ALL | IBV_ACCESS_ON_DEMAND);
	assert_int_equal(madvise(at, SIZE, MADV_DONTDUMP), 0);
	assert_borrowed(p, at, ALL);
	munmap(at, SIZE);
	at = fresh(SIZE, 7);
	if (!syscall(SYS_mlock, at, SIZE)) /* not the sanitizers' */
		assert_borrowed(p, at, ALL);
	munmap(at, SIZE);
	at = fresh(SIZE, 8);
	assert_int_equal(mprotect(at, SIZE, PROT_READ), 0);
	assert_borrowed(p, at, IBV_ACCESS_REMOTE_READ);
	munmap(at, SIZE);
	at = mmap(NULL, SIZE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_borrowed(p, at, ALL);
	munmap(at, SIZE);
	at = fresh(SIZE, 9);
	fd = (int)syscall(SYS_io_uring_setup, 4, &params);
	if (fd >= 0) {
		assert_borrowed(p, at, ALL);
		close(fd);
		assert_int_equal(ibv_dereg_mr(reg_pinned(p, at, SIZE)), 0);
	}
	munmap(at, SIZE);
	verbs_pair_destroy(p);
}

static void assert_protected(struct verbs_pair *p, void *at, size_t length)
{
	errno = 0;
	assert_null(ibv_reg_mr(p->pd, at, length, ALL));
	assert_int_equal(errno, EFAULT);
}

/* What is pinned is as it should be; what stands beside it, and what was pinned once, may not. */
static void test_protected(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	uint8_t *at = mmap(NULL, 3 * SIZE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(at != MAP_FAILED);
	assert_int_equal(mprotect(at, SIZE, PROT_READ), 0);
	assert_protected(p, at, 3 * SIZE); /* the first third, before what is pinned meanwhile */
	assert_int_equal(mprotect(at, SIZE, RW), 0);
	assert_int_equal(mprotect(at + 2 * SIZE, SIZE, PROT_READ), 0);
	assert_protected(p, at, 3 * SIZE); /* the last third, behind it */
	assert_int_equal(mprotect(at + 2 * SIZE, SIZE, RW), 0);
	assert_int_equal(ibv_dereg_mr(reg_pinned(p, at, 3 * SIZE)), 0);
	assert_int_equal(mprotect(at + SIZE, SIZE, PROT_READ), 0);
	assert_protected(p, at, 3 * SIZE);
	munmap(at, 3 * SIZE);
	verbs_pair_destroy(p);
}

/* Memory files count as files for ulimit -f: who is beyond it gets SIGXFSZ. */
static void test_file_limit(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct rlimit few, was;
	uint8_t *at = fresh(SIZE, 10);

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	few = (struct rlimit){PAGE, was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	assert_borrowed(p, at, ALL);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(ibv_dereg_mr(reg_pinned(p, at, SIZE)), 0);
	munmap(at, SIZE);
	verbs_pair_destroy(p);
}

/* ---- small ranges: the first of a process only ---- */

#define MANY 80u

static void test_small(void **state)
{
	struct verbs_pair *p = verbs_pair_create(IBV_QPT_RC, 0);
	struct ibv_mr *mr[MANY], *large;
	uint8_t *at = fresh(2 * MANY * PAGE, 11), *next = fresh(16 * PAGE, 12);
	unsigned pinned = 0;

	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		uint8_t *page = at + 2 * i * PAGE;

		mr[i] = reg(p, page, PAGE);
		pinned += arena_holds(page, PAGE);
		assert_false(arena_holds(page + PAGE, PAGE));
		assert_int_equal(read_from(p, mr[i], page + 4, 64), 0);
		assert_memory_equal(p->a.memory, page + 4, 64);
	}
	assert_int_equal(pinned > 0, on);
	assert_true(pinned <= 64);
	large = reg_pinned(p, next, 16 * PAGE);
	assert_int_equal(ibv_dereg_mr(large), 0);
	for (unsigned i = 0; i < MANY; i++)
		assert_int_equal(ibv_dereg_mr(mr[i]), 0);
	munmap(at, 2 * MANY * PAGE);
	munmap(next, 16 * PAGE);
	verbs_pair_destroy(p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_onto_itself),   cmocka_unit_test(test_content),
		cmocka_unit_test(test_holes),         cmocka_unit_test(test_unmapped),
		cmocka_unit_test(test_dontneed),      cmocka_unit_test(test_mremap),
		cmocka_unit_test(test_fork),          cmocka_unit_test(test_fork_handler),
		cmocka_unit_test(test_not_forked),    cmocka_unit_test(test_spawn),
		cmocka_unit_test(test_threads_store), cmocka_unit_test(test_threads_fork),
		cmocka_unit_test(test_overlap),       cmocka_unit_test(test_borrowed_overlaps),
		cmocka_unit_test(test_rereg),         cmocka_unit_test(test_refused),
		cmocka_unit_test(test_protected),     cmocka_unit_test(test_file_limit),
		cmocka_unit_test(test_small),
	};

	on = argc > 1 && strcmp(argv[1], "off") != 0;
	pthread_atfork(store_before_fork, NULL, store_as_child);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
