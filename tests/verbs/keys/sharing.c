/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two processes share what one of them has made (ibv_import_device(3)): the command descriptor
 * goes over a socket, the other imports device, domain, region and device memory, and uses them
 * with a queue pair of its own. Runs below uhca-run with two devices; the second is used, so that
 * a device number that all devices have in common does not find it by chance.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SIZE   65536u
#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s: errno %d\n", __FILE__, __LINE__, #condition,   \
				errno);                                                            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

/* What the exporter tells beside its descriptor. */
struct handles {
	uint32_t pd, mr, dm, other_pd;
	uint64_t address;
};

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx = NULL;

	MUST(list);
	for (struct ibv_device **d = list; *d && !ctx; d++)
		if (!strcmp(ibv_get_device_name(*d), name))
			ctx = ibv_open_device(*d);
	ibv_free_device_list(list);
	MUST(ctx);
	return ctx;
}

static void send_fd(int sock, int fd, const struct handles *h)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {.space = {0}};
	struct iovec iov = {(void *)(uintptr_t)h, sizeof(*h)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space};
	struct cmsghdr *c = &control.align;

	msg.msg_controllen = sizeof(control.space);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	MUST(sendmsg(sock, &msg, 0) == (ssize_t)sizeof(*h));
}

static int receive_fd(int sock, struct handles *h)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {.space = {0}};
	struct iovec iov = {h, sizeof(*h)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.space};
	int fd;

	msg.msg_controllen = sizeof(control.space);
	MUST(recvmsg(sock, &msg, 0) == (ssize_t)sizeof(*h));
	MUST(CMSG_FIRSTHDR(&msg));
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
	return fd;
}

static void say(int sock)
{
	MUST(write(sock, "x", 1) == 1);
}

static void hear(int sock)
{
	char c;

	MUST(read(sock, &c, 1) == 1);
}

/* ---- the exporter ---- */

static void export(int sock)
{
	struct ibv_context *ctx = open_device("uhca1"), *alone = open_device("uhca1");
	struct ibv_alloc_dm_attr dm_attr = {.length = 4096};
	struct ibv_pd *pd = ibv_alloc_pd(ctx), *other_pd = ibv_alloc_pd(alone);
	struct ibv_dm *dm = ibv_alloc_dm(ctx, &dm_attr);
	char *memory = aligned_alloc(4096, SIZE), word[8];
	struct ibv_mr *mr;
	struct handles h;

	MUST(pd && other_pd && dm && memory);
	strcpy(memory, "of the exporter");
	mr = ibv_reg_mr(pd, memory, SIZE, ACCESS);
	MUST(mr && ibv_memcpy_to_dm(dm, 8, "device!", 8) == 0);
	h = (struct handles){pd->handle, mr->handle, dm->handle, other_pd->handle,
			     (uintptr_t)memory};
	send_fd(sock, ctx->cmd_fd, &h);
	hear(sock); /* it has written */
	MUST(!strcmp(memory + 100, "of the importer"));
	MUST(ibv_memcpy_from_dm(word, dm, 16, 8) == 0 && !memcmp(word, "import!", 8));
	/* Its QP is in our domain. */
	MUST(ibv_dealloc_pd(pd) == EBUSY);
	say(sock);
	hear(sock); /* now we end, without a word to the device */
	_exit(0);
}

/* ---- the importer ---- */

struct importer {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr, *own;
	struct ibv_dm *dm;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	char memory[4096];
};

static void connect_to_itself(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = ACCESS};

	MUST(!ibv_modify_qp(qp, &a,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				 .path_mtu = IBV_MTU_1024,
				 .dest_qp_num = qp->qp_num,
				 .max_dest_rd_atomic = 1,
				 .min_rnr_timer = 1,
				 .ah_attr = {.is_global = 1, .port_num = 1}};
	MUST(!ibv_query_gid(qp->context, 1, 0, &a.ah_attr.grh.dgid));
	a.ah_attr.grh.hop_limit = 1;
	MUST(!ibv_modify_qp(qp, &a,
			    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				    IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER));
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .timeout = 14,
				 .retry_cnt = 7,
				 .rnr_retry = 7,
				 .max_rd_atomic = 1};
	MUST(!ibv_modify_qp(qp, &a,
			    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static enum ibv_wc_status rdma(struct importer *w, enum ibv_wr_opcode opcode, uint64_t remote,
			       uint32_t length)
{
	struct ibv_sge sge = {(uintptr_t)w->memory, length, w->own->lkey};
	struct ibv_send_wr wr = {.opcode = opcode, .sg_list = &sge, .num_sge = 1}, *bad;
	time_t deadline = time(NULL) + 120;
	struct ibv_wc wc;
	int n;

	wr.wr.rdma.remote_addr = remote;
	wr.wr.rdma.rkey = w->mr->rkey;
	MUST(!ibv_post_send(w->qp, &wr, &bad));
	do {
		n = ibv_poll_cq(w->cq, 1, &wc);
	} while (n == 0 && time(NULL) < deadline);
	MUST(n == 1);
	return wc.status;
}

static void make_queues(struct importer *w)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1, .cap = {8, 8, 1, 1, 0}};

	w->own = ibv_reg_mr(w->pd, w->memory, sizeof(w->memory), ACCESS);
	w->cq = ibv_create_cq(w->ctx, 16, NULL, NULL, 0);
	MUST(w->own && w->cq);
	attr.send_cq = attr.recv_cq = w->cq;
	w->qp = ibv_create_qp(w->pd, &attr);
	MUST(w->qp);
	connect_to_itself(w->qp);
}

/* A descriptor that is none of ours, and handles that are not shared. */
static void refused(struct importer *w, const struct handles *h)
{
	int fd = open("/dev/null", O_RDWR);

	MUST(fd >= 0 && !ibv_import_device(fd));
	close(fd);
	fd = memfd_create("x", 0);
	MUST(fd >= 0 && !ibv_import_device(fd) && errno == EINVAL);
	close(fd);
	MUST(!ibv_import_pd(w->ctx, h->other_pd) && errno == ENOENT);
	MUST(!ibv_import_mr(w->pd, h->mr ^ 0x500) && errno == ENOENT);
	MUST(!ibv_import_dm(w->ctx, h->dm + 1) && errno == ENOENT);
}

static void import(int sock, struct importer *w, struct handles *h)
{
	char word[8];

	w->ctx = ibv_import_device(receive_fd(sock, h));
	MUST(w->ctx && !strcmp(ibv_get_device_name(w->ctx->device), "uhca1"));
	w->pd = ibv_import_pd(w->ctx, h->pd);
	MUST(w->pd);
	w->mr = ibv_import_mr(w->pd, h->mr);
	w->dm = ibv_import_dm(w->ctx, h->dm);
	MUST(w->mr && w->dm && w->mr->length == SIZE && !w->mr->addr);
	MUST(ibv_memcpy_from_dm(word, w->dm, 8, 8) == 0 && !strcmp(word, "device!"));
	MUST(ibv_memcpy_to_dm(w->dm, 16, "import!", 8) == 0);
}

/* The exporter has ended: what it shared is there, its memory is not. */
static void survive(struct importer *w)
{
	struct ibv_mr *dm_mr = ibv_reg_dm_mr(w->pd, w->dm, 0, 64, ACCESS | IBV_ACCESS_ZERO_BASED);
	char word[8];

	MUST(dm_mr);
	MUST(ibv_memcpy_from_dm(word, w->dm, 8, 8) == 0 && !strcmp(word, "device!"));
	MUST(ibv_dereg_mr(dm_mr) == 0);
	MUST(ibv_dereg_mr(w->mr) == 0 && ibv_free_dm(w->dm) == 0);
	MUST(ibv_destroy_qp(w->qp) == 0 && ibv_destroy_cq(w->cq) == 0);
	MUST(ibv_dereg_mr(w->own) == 0 && ibv_dealloc_pd(w->pd) == 0);
	MUST(ibv_close_device(w->ctx) == 0);
}

int main(void)
{
	static struct importer w;
	struct handles h;
	int pair[2], status;
	enum ibv_wc_status end;
	pid_t pid;

	alarm(300);
	MUST(!socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair));
	pid = fork(); /* before either has anything to do with verbs */
	MUST(pid >= 0);
	if (pid == 0) {
		alarm(300);
		close(pair[0]); /* or it would never hear that the other is gone */
		export(pair[1]);
	}
	close(pair[1]);
	import(pair[0], &w, &h);
	refused(&w, &h);
	make_queues(&w);
	MUST(rdma(&w, IBV_WR_RDMA_READ, h.address, 16) == IBV_WC_SUCCESS);
	MUST(!strcmp(w.memory, "of the exporter"));
	strcpy(w.memory, "of the importer");
	MUST(rdma(&w, IBV_WR_RDMA_WRITE, h.address + 100, 16) == IBV_WC_SUCCESS);
	say(pair[0]);
	hear(pair[0]);
	say(pair[0]);
	MUST(waitpid(pid, &status, 0) == pid && status == 0);
	/* Memory that was pinned is there until the device has heard of the end (--pin). */
	do
		end = rdma(&w, IBV_WR_RDMA_WRITE, h.address, 16);
	while (end == IBV_WC_SUCCESS);
	/* The queue pair is its own peer: refusing the request, it fails, and its own with it. */
	MUST(end == IBV_WC_REM_ACCESS_ERR || end == IBV_WC_REM_OP_ERR ||
	     end == IBV_WC_WR_FLUSH_ERR);
	survive(&w);
	printf("sharing: ok\n");
	return 0;
}
