/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hollow: registers memory that is pinned, takes its pages out of the arena behind the library's
 * back, and has the device store there. Who touches a page of a memory file first pays for it: that
 * is not to be the daemon. It ends the connection, and the file has no page more than before.
 */
#include "tests/verbs/rogues/rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE ((size_t)64 << 20)

static struct rig rig;

/* The descriptor of the arena; -1: there is none, because nothing is pinned here. */
static int find_arena(void)
{
	for (int fd = 3; fd < 256; fd++) {
		char path[32], name[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, name, sizeof(name) - 1) > 0 && strstr(name, "uhca-arena"))
			return fd;
	}
	return -1;
}

static long long bytes_of(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		rig_die("fstat: errno %d", errno);
	return (long long)st.st_blocks * 512;
}

static void write_all(struct ibv_qp *qp, const struct ibv_mr *mr)
{
	struct ibv_sge sge = {(uintptr_t)rig.buf, (uint32_t)SIZE, rig.mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = IBV_SEND_SIGNALED,
				 .wr.rdma = {(uintptr_t)mr->addr, mr->rkey}};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	double end = rig_seconds() + 120;

	if (ibv_post_send(qp, &wr, &bad))
		rig_die("ibv_post_send");
	while (ibv_poll_cq(rig.cq, 1, &wc) == 0)
		if (rig_seconds() > end)
			rig_die("the WRITE is not done after 120 s");
}

/* The connection is the provider's; when the daemon ends it, the context is told. */
static void expect_end(void)
{
	struct ibv_async_event event;

	alarm(300);
	do {
		if (ibv_get_async_event(rig.ctx, &event))
			return;
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_DEVICE_FATAL);
}

int main(void)
{
	long long before;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	uint8_t *at;
	int fd;

	rig_open(&rig, 64, SIZE);
	at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		rig_die("mmap");
	mr = ibv_reg_mr(rig.pd, at, SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	qp = rig_qp(&rig, NULL, NULL);
	fd = find_arena();
	if (!mr || !qp || fd < 0)
		rig_die("no region, queue pair or arena");
	rig_connect(&rig, qp, qp->qp_num);
	before = bytes_of(fd);
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, 1ll << 34))
		rig_die("fallocate: errno %d", errno);
	write_all(qp, mr);
	expect_end();
	if (before < (long long)SIZE || bytes_of(fd) > 1 << 20)
		rig_die("the arena had %lld bytes, and has %lld", before, bytes_of(fd));
	return 0;
}
