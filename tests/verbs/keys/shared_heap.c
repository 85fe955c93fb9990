/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that is the device's from its birth (uhca-run --share-heap), in a program with a second
 * thread and a daemon that pins nothing. The argument "off" says that it was not asked for.
 */
#include "tests/support/verbs/arena_holds.h"
#include "tests/support/verbs/verbs_pair.h"
#include "tests/support/wire/cmocka_all.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE   (256u << 10)
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE)
#define RW     (PROT_READ | PROT_WRITE)

static bool on;
static struct verbs_pair *p;

/* All whole pages. */
static bool is_shared(const void *at, size_t length)
{
	uintptr_t from = ((uintptr_t)at + 4095) & ~(uintptr_t)4095;
	uintptr_t to = ((uintptr_t)at + length) & ~(uintptr_t)4095;

	return arena_holds((const void *)from, to - from);
}

static void *by_posix_memalign(size_t size)
{
	void *at = NULL;

	assert_int_equal(posix_memalign(&at, 64, size), 0);
	return at;
}

static void *by_aligned_alloc(size_t size)
{
	return aligned_alloc(4096, size);
}

static void *by_memalign(size_t size)
{
	return memalign(4096, size);
}

static void *by_mmap(size_t size)
{
	void *at = mmap(NULL, size, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

static void give_back(unsigned way, void *at, size_t size)
{
	if (way == 3)
		assert_int_equal(munmap(at, size), 0);
	else
		free(at);
}

static void *(*const ways[])(size_t size) = {by_posix_memalign, by_aligned_alloc, by_memalign,
					     by_mmap};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

static enum ibv_wc_status rdma(enum ibv_wr_opcode opcode, const struct ibv_mr *mr, const void *at)
{
	struct ibv_send_wr wr = {.opcode = opcode,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {(uintptr_t)at, mr->rkey}};

	verbs_pair_send(&p->a, &wr, 0, 8192);
	return verbs_pair_poll(p->a.cq).status;
}

static void check_data(void *at)
{
	uint8_t *bytes = at;
	struct ibv_mr *mr = ibv_reg_mr(p->pd, at, SIZE, ACCESS);

	assert_non_null(mr);
	assert_int_equal(is_shared(at, SIZE), on);
	memset(bytes, 3, SIZE);
	memset(p->a.memory, 9, 8192);
	assert_int_equal(rdma(IBV_WR_RDMA_READ, mr, bytes + 100), IBV_WC_SUCCESS);
	assert_int_equal(p->a.memory[0] | p->a.memory[8191], 3);
	memset(p->a.memory, 5, 8192);
	assert_int_equal(rdma(IBV_WR_RDMA_WRITE, mr, bytes + SIZE - 8192), IBV_WC_SUCCESS);
	assert_int_equal(bytes[SIZE - 8193], 3);
	assert_int_equal(bytes[SIZE - 8192] | bytes[SIZE - 1], 5);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void test_ways(void **state)
{
	(void)state;
	for (unsigned way = 0; way < WAYS; way++) {
		for (unsigned again = 0; again < 50; again++) {
			void *at = ways[way](SIZE);

			assert_non_null(at);
			check_data(at);
			give_back(way, at, SIZE);
		}
	}
}

/* As pinned pages: the device has those that were registered, whatever is mapped there now. */
static void test_unmapped(void **state)
{
	uint8_t *at = by_mmap(SIZE);
	struct ibv_mr *mr = ibv_reg_mr(p->pd, at, SIZE, ACCESS);

	(void)state;
	assert_non_null(mr);
	memset(at, 7, SIZE);
	if (on) {
		assert_int_equal(munmap(at, SIZE), 0);
		assert_int_equal(rdma(IBV_WR_RDMA_READ, mr, at), IBV_WC_SUCCESS);
		assert_int_equal(p->a.memory[0] | p->a.memory[8191], 7);
	}
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* (Of the allocator: what it gives out may have been somebody's before.) */
static void test_others(void **state)
{
	void *shared = mmap(NULL, SIZE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	void *kept = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(shared != MAP_FAILED && kept != MAP_FAILED);
	assert_false(is_shared(shared, SIZE) || is_shared(kept, SIZE));
	assert_int_equal(munmap(shared, SIZE) | munmap(kept, SIZE), 0);
}

/* A child has its own; and from then on nothing more is shared. */
static void test_fork(void **state)
{
	uint8_t *at = by_mmap(SIZE), *later;
	int status;
	pid_t child;

	(void)state;
	memset(at, 1, SIZE);
	child = fork();
	if (child == 0) {
		memset(at, 2, SIZE);
		_exit(at[SIZE - 1] == 2 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(at[0] | at[SIZE - 1], 1);
	assert_int_equal(is_shared(at, SIZE), on);
	later = by_mmap(SIZE);
	assert_false(is_shared(later, SIZE));
	assert_int_equal(munmap(at, SIZE) | munmap(later, SIZE), 0);
}

/* It allocates all the time, too. */
static atomic_bool ended;

static void *other(void *arg)
{
	(void)arg;
	while (!atomic_load(&ended)) {
		uint8_t *at = by_posix_memalign(SIZE);

		memset(at, 4, SIZE);
		assert_int_equal(at[SIZE - 1], 4);
		free(at);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_unmapped),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_fork),
	};
	pthread_t thread;
	int status;

	on = argc < 2 || strcmp(argv[1], "off") != 0;
	p = verbs_pair_create(IBV_QPT_RC, 0);
	if (pthread_create(&thread, NULL, other, NULL))
		return 1;
	status = cmocka_run_group_tests_name("shared_heap", tests, NULL, NULL);
	atomic_store(&ended, true);
	pthread_join(thread, NULL);
	verbs_pair_destroy(p);
	return status;
}
