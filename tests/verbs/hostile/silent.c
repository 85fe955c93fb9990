/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * silent SECONDS: memory that does not answer. Pages of a region are given up after it was
 * registered, and userfaultfd(2) is told to bring them, which nobody does; then the device is asked
 * to read and to write there, again and again. A device that waits for such a page does nothing
 * else. The region is on demand: otherwise its pages may be the device's, where it pins memory,
 * and answer. Needs userfaultfd for faults of the kernel (root); exit status 77 without it.
 */
#include "tests/verbs/rogues/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE (1u << 20)

static struct rig rig;
static struct ibv_mr *silent;

/* Of SIZE bytes, registered first: what a device has seen once it may take for being there. */
static uint8_t *make_silent(void)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register range = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	uint8_t *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd < 0) {
		fprintf(stderr, "silent: no userfaultfd for faults of the kernel\n");
		exit(77);
	}
	if (at == MAP_FAILED)
		rig_die("mmap");
	silent = ibv_reg_mr(rig.pd, at, SIZE,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
				    IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_ON_DEMAND);
	if (!silent)
		rig_die("ibv_reg_mr");
	range.range.start = (uintptr_t)at;
	range.range.len = SIZE;
	if (madvise(at, SIZE, MADV_DONTNEED) || ioctl((int)fd, UFFDIO_API, &api) ||
	    ioctl((int)fd, UFFDIO_REGISTER, &range))
		rig_die("userfaultfd: errno %d", errno);
	return at;
}

static struct ibv_qp *connected(void)
{
	struct ibv_qp *qp = rig_qp(&rig, NULL, NULL);

	if (!qp)
		rig_die("ibv_create_qp");
	rig_connect(&rig, qp, qp->qp_num);
	return qp;
}

/* Bytes come from there, or go there; each time to another page. */
static void post(struct ibv_qp *qp, const uint8_t *at, unsigned i, bool store)
{
	uint32_t offset = i * 65536 % SIZE;
	struct ibv_sge sge = {(uintptr_t)rig.buf, 32768, rig.mr->lkey};
	struct ibv_send_wr wr = {.opcode = store ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {(uintptr_t)at + offset, silent->rkey}};
	struct ibv_send_wr *bad;

	if (ibv_post_send(qp, &wr, &bad))
		rig_die("ibv_post_send: errno %d", errno);
}

/* Until it has failed, or the time is over. */
static void wait_for_end(double end, unsigned *failed)
{
	struct ibv_wc wc;
	int n = 0;

	while (n == 0 && rig_seconds() < end)
		n = ibv_poll_cq(rig.cq, 1, &wc);
	if (n > 0 && wc.status == IBV_WC_SUCCESS)
		rig_die("it answered");
	*failed += n > 0;
}

int main(int argc, char **argv)
{
	double end = rig_seconds() + (argc == 2 ? atof(argv[1]) : 0);
	unsigned asked = 0, failed = 0;
	uint8_t *at;

	if (argc != 2)
		rig_die("usage: silent SECONDS");
	rig_open(&rig, 64, 65536);
	at = make_silent();
	for (; rig_seconds() < end; asked++) {
		struct ibv_qp *qp = connected();

		post(qp, at, asked, asked % 2);
		wait_for_end(rig_seconds() + 0.5, &failed);
		ibv_destroy_qp(qp);
	}
	printf("%u requests, %u failed\n", asked, failed);
	return 0;
}
