/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The null region, dma-bufs (a memory file stands in for one: both are files that can be mapped)
 * and advice: what may be asked for, what the device hears, and what is mapped and given back.
 */
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE  4096u
#define IOVA  0x700000u
#define LOCAL IBV_ACCESS_LOCAL_WRITE

static void test_null(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_handle *in = (void *)f->daemon.last[UHCA_CMD_ALLOC_NULL_MR];
	struct ibv_mr *mr = ibv_alloc_null_mr(f->pd);

	assert_non_null(mr);
	assert_int_equal(in->handle, f->pd->handle);
	assert_ptr_equal(mr->context, f->context);
	assert_ptr_equal(mr->pd, f->pd);
	assert_int_equal(mr->handle, f->daemon.next_handle);
	assert_int_equal(mr->lkey, mr->handle << 8);
	assert_int_equal(mr->rkey, mr->lkey | FAKE_RKEY_BYTE);
	assert_true(mr->length == SIZE_MAX);
	assert_int_not_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0), 0);
	assert_int_equal(f->daemon.calls[UHCA_CMD_REREG_MR], 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* ---- dma-bufs ---- */

static int buffer(void)
{
	int fd = memfd_create("buffer", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 3 * PAGE), 0);
	return fd;
}

static void refuse(struct verbs_fixture *f, int fd, uint64_t offset, size_t length, int access,
		   int err)
{
	unsigned calls = f->daemon.calls[UHCA_CMD_REG_MR];

	errno = 0;
	assert_null(ibv_reg_dmabuf_mr(f->pd, offset, length, IOVA, fd, access));
	assert_int_equal(errno, err);
	assert_int_equal(f->daemon.calls[UHCA_CMD_REG_MR], calls);
}

static void test_buffer(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_reg_mr *in = (void *)f->daemon.last[UHCA_CMD_REG_MR];
	int fd = buffer();
	struct ibv_mr *mr;
	uint8_t byte = 0;

	assert_int_equal(lseek(fd, 5, SEEK_SET), 5);
	mr = ibv_reg_dmabuf_mr(f->pd, PAGE + 8, 2 * PAGE - 8, IOVA + 8, fd,
			       LOCAL | IBV_ACCESS_REMOTE_READ);
	assert_non_null(mr);
	assert_int_equal(in->length, 2 * PAGE - 8);
	assert_int_equal(in->iova, IOVA + 8);
	assert_int_equal(in->access, LOCAL | IBV_ACCESS_REMOTE_READ);
	assert_int_equal(in->pd, f->pd->handle);
	assert_int_equal(mr->length, 2 * PAGE - 8);
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 5); /* where the program had left it */
	/* What the device finds at the address is the file, from the offset on. */
	*(volatile uint8_t *)(uintptr_t)in->addr = 42;
	assert_int_equal(pread(fd, &byte, 1, PAGE + 8), 1);
	assert_int_equal(byte, 42);
	assert_int_not_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0), 0);
	assert_int_equal(f->daemon.calls[UHCA_CMD_REREG_MR], 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	close(fd);
}

static unsigned mapped(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];
	unsigned n = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		n += strstr(line, name) != NULL;
	fclose(maps);
	return n;
}

/* It stays mapped for as long as it is registered. */
static void test_buffer_unmapped(void **state)
{
	struct verbs_fixture *f = *state;
	int fd = buffer();
	struct ibv_mr *mr = ibv_reg_dmabuf_mr(f->pd, 0, 2 * PAGE, IOVA, fd, LOCAL);

	assert_non_null(mr);
	close(fd);
	assert_int_equal(mapped("/memfd:buffer"), 1);
	f->daemon.fail[UHCA_CMD_DEREG_MR] = -EBUSY;
	assert_int_equal(ibv_dereg_mr(mr), EBUSY);
	assert_int_equal(mapped("/memfd:buffer"), 1);
	f->daemon.fail[UHCA_CMD_DEREG_MR] = 0;
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(mapped("/memfd:buffer"), 0);
	fd = buffer();
	f->daemon.fail[UHCA_CMD_REG_MR] = -ENOSPC;
	assert_null(ibv_reg_dmabuf_mr(f->pd, 0, PAGE, IOVA, fd, LOCAL));
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(mapped("/memfd:buffer"), 0);
	close(fd);
}

static void test_buffer_refused(void **state)
{
	struct verbs_fixture *f = *state;
	int fd = buffer(), read_only, pipe_fd[2];
	char path[64];

	assert_int_equal(pipe(pipe_fd), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_only = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(read_only >= 0);
	refuse(f, fd, 0, PAGE, LOCAL | IBV_ACCESS_ON_DEMAND, EOPNOTSUPP);
	refuse(f, fd, 0, PAGE, LOCAL | IBV_ACCESS_ZERO_BASED, EOPNOTSUPP);
	refuse(f, fd, 0, 0, LOCAL, EINVAL);
	refuse(f, fd, UINT64_MAX - 4095, 2 * PAGE, LOCAL, EINVAL);
	refuse(f, fd, 8, 8, LOCAL, EINVAL); /* elsewhere in its page than the address */
	refuse(f, fd, 2 * PAGE, PAGE + 1, LOCAL, EINVAL);
	refuse(f, -1, 0, PAGE, LOCAL, EBADF);
	refuse(f, pipe_fd[0], 0, PAGE, LOCAL, EINVAL);
	refuse(f, read_only, 0, PAGE, LOCAL, EINVAL);
	assert_int_equal(mapped("/memfd:buffer"), 0);
	/* To be read only it will do. */
	assert_int_equal(ibv_dereg_mr(ibv_reg_dmabuf_mr(f->pd, 0, PAGE, IOVA, read_only, 0)), 0);
	close(read_only);
	close(fd);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

/* ---- advice ---- */

static void test_advice(void **state)
{
	enum { SGES = UHCA_ABI_ADVISE_SGES + 2 };
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_advise_mr *in = (void *)f->daemon.last[UHCA_CMD_ADVISE_MR];
	struct ibv_sge sge[SGES];

	for (unsigned i = 0; i < SGES; i++)
		sge[i] = (struct ibv_sge){(uintptr_t)f->memory + i, i + 1, f->mr->lkey};
	assert_int_equal(
		ibv_advise_mr(f->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 5, sge, SGES - 2), 0);
	assert_int_equal(f->daemon.calls[UHCA_CMD_ADVISE_MR], 1);
	assert_int_equal(in->pd, f->pd->handle);
	assert_int_equal(in->advice, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE);
	assert_int_equal(in->flags, 5);
	assert_int_equal(in->num_sge, SGES - 2);
	assert_int_equal(in->sge[SGES - 3].addr, (uintptr_t)f->memory + SGES - 3);
	assert_int_equal(in->sge[SGES - 3].length, SGES - 2);
	assert_int_equal(in->sge[SGES - 3].lkey, f->mr->lkey);
	/* A longer list goes in two messages. */
	assert_int_equal(ibv_advise_mr(f->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, sge, SGES), 0);
	assert_int_equal(f->daemon.calls[UHCA_CMD_ADVISE_MR], 3);
	assert_int_equal(in->num_sge, 2);
	assert_int_equal(in->sge[1].addr, (uintptr_t)f->memory + SGES - 1);
	assert_int_equal(in->sge[1].length, SGES);
	f->daemon.fail[UHCA_CMD_ADVISE_MR] = -EPERM;
	assert_int_equal(ibv_advise_mr(f->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, sge, SGES), EPERM);
	assert_int_equal(f->daemon.calls[UHCA_CMD_ADVISE_MR], 4);
	f->daemon.fail[UHCA_CMD_ADVISE_MR] = 0;
	assert_int_equal(ibv_advise_mr(f->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, NULL, 0), 0);
	assert_int_equal(f->daemon.calls[UHCA_CMD_ADVISE_MR], 5);
}

static int advise(struct verbs_fixture *f, enum ibv_advise_mr_advice advice, void *at,
		  uint32_t length, uint32_t lkey)
{
	struct ibv_sge sge = {(uintptr_t)at, length, lkey};

	return ibv_advise_mr(f->pd, advice, 0, &sge, 1);
}

static bool resident(void *page)
{
	unsigned char there = 0;

	assert_int_equal(mincore(page, PAGE, &there), 0);
	return there & 1;
}

/* What the device finds right is brought in; pages that may not be touched so are told of. */
static void test_advice_followed(void **state)
{
	struct verbs_fixture *f = *state;
	const enum ibv_advise_mr_advice load = IBV_ADVISE_MR_ADVICE_PREFETCH,
					store = IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
					no_fault = IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;
	uint8_t *p =
		mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;

	assert_ptr_not_equal(p, MAP_FAILED);
	mr = ibv_reg_mr(f->pd, p, 3 * PAGE, LOCAL | IBV_ACCESS_ON_DEMAND);
	assert_non_null(mr);
	assert_int_equal(advise(f, no_fault, p, 8, mr->lkey), 0);
	assert_false(resident(p));
	assert_int_equal(advise(f, store, p, 0, mr->lkey), 0);
	assert_false(resident(p));
	assert_int_equal(advise(f, store, p, 8, mr->lkey ^ 0x10000), 0); /* somebody else's */
	assert_false(resident(p));
	assert_int_equal(advise(f, store, p, 8, mr->lkey), 0);
	assert_true(resident(p));
	assert_false(resident(p + PAGE));
	assert_int_equal(mprotect(p + PAGE, PAGE, PROT_READ), 0);
	assert_int_equal(advise(f, load, p + PAGE, 8, mr->lkey), 0);
	assert_int_equal(advise(f, store, p + PAGE, 8, mr->lkey), EFAULT);
	assert_int_equal(munmap(p + 2 * PAGE, PAGE), 0);
	assert_int_equal(advise(f, load, p + PAGE, PAGE + 1, mr->lkey), EFAULT);
	assert_int_equal(advise(f, no_fault, p + PAGE, PAGE + 1, mr->lkey), 0);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	munmap(p, 2 * PAGE);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_null),           TEST(test_buffer), TEST(test_buffer_unmapped),
		TEST(test_buffer_refused), TEST(test_advice), TEST(test_advice_followed),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
