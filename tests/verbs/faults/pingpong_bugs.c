/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ping-pong over RC with one mistake in it, for who tells what went wrong:
 *
 *   pingpong_bugs BUG PORT          the server
 *   pingpong_bugs BUG PORT HOST     the client
 *
 * BUG: psn, gid, rkey, bounds, noaccess, lkey, small, norecv, norts, forgotten, reuse, unsignaled,
 * mtu, reads, alignment, length,
 * or none. A side that gets nothing waits for ever: its caller ends it. Exit status 2: a completion
 * with an error; 1: a call failed; 3: a completion came that is not the message's.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SPINS  100000u /* empty polls before it naps */
#define SIZE   4096
#define LARGE  (1u << 20) /* a READ that lasts until the next one comes */
#define BYTES  2048
#define ROUNDS 20

#define ALL                                                                                        \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
	 IBV_ACCESS_REMOTE_ATOMIC)

static const char *bug;
static int serves;

static int has(const char *name)
{
	return strcmp(bug, name) == 0;
}

/* What both sides tell each other. */
struct info {
	uint32_t qpn, psn, rkey;
	uint64_t addr;
	union ibv_gid gid;
};

struct side {
	struct ibv_context *ctx;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr, *in;
	char *buf, *inbuf;
	struct info me, peer;
	int socket;
};

static void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- the other side ---- */

static int try_connect(const struct sockaddr_in *a)
{
	int s = socket(AF_INET, SOCK_STREAM, 0);

	if (connect(s, (const void *)a, sizeof(*a)) == 0)
		return s;
	close(s);
	return -1;
}

static int meet(const char *host, int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	int s, one = 1;

	if (host) {
		inet_pton(AF_INET, host, &a.sin_addr);
		for (int i = 0; i < 500; i++) {
			s = try_connect(&a);
			if (s >= 0)
				return s;
			usleep(20000);
		}
		need(0, "connect");
	}
	s = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	need(bind(s, (void *)&a, sizeof(a)) == 0 && listen(s, 1) == 0, "listen");
	return accept(s, NULL, NULL);
}

/* ---- the queue pair ---- */

static void open_side(struct side *c)
{
	const size_t size = has("reads") ? LARGE : SIZE;
	const int access = ALL;
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = 16,
						.max_recv_wr = 16,
						.max_send_sge = 1,
						.max_recv_sge = 1}};
	struct ibv_pd *pd;

	need(list && list[0] && (c->ctx = ibv_open_device(list[0])), "open");
	need((pd = ibv_alloc_pd(c->ctx)) != NULL, "pd");
	c->buf = aligned_alloc(4096, size);
	c->inbuf = aligned_alloc(4096, size);
	need(c->buf && c->inbuf, "memory");
	memset(c->buf, 0, size);
	memset(c->inbuf, 0, size);
	need((c->mr = ibv_reg_mr(pd, c->buf, size, access)) != NULL, "reg_mr");
	need((c->in = ibv_reg_mr(pd, c->inbuf, size, access)) != NULL, "reg_mr");
	need((c->cq = ibv_create_cq(c->ctx, 64, NULL, NULL, 0)) != NULL, "cq");
	init.send_cq = init.recv_cq = c->cq;
	need((c->qp = ibv_create_qp(pd, &init)) != NULL, "qp");
	c->me = (struct info){
		.qpn = c->qp->qp_num, .psn = 100, .addr = (uintptr_t)c->buf, .rkey = c->mr->rkey};
	need(ibv_query_gid(c->ctx, 1, 0, &c->me.gid) == 0, "gid");
}

static void to_rtr(struct side *c)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
				.path_mtu = has("mtu") && serves ? IBV_MTU_512 : IBV_MTU_1024,
				.dest_qp_num = c->peer.qpn,
				.rq_psn = c->peer.psn + (has("psn") ? 7 : 0),
				.max_dest_rd_atomic = 1,
				.min_rnr_timer = 12,
				.ah_attr = {.is_global = 1,
					    .port_num = 1,
					    .grh = {.dgid = c->peer.gid, .hop_limit = 1}}};

	if (has("gid"))
		a.ah_attr.grh.dgid.raw[15] ^= 0x40;
	need(ibv_modify_qp(c->qp, &a,
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER) == 0,
	     "RTR");
}

static void connect_side(struct side *c)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = has("noaccess") ? 0 : ALL};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
				  .timeout = 12,
				  .retry_cnt = 3,
				  .rnr_retry = has("norecv") ? 3 : 7,
				  .sq_psn = c->me.psn,
				  .max_rd_atomic = has("reads") ? 8 : 1};

	need(ibv_modify_qp(c->qp, &init,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) ==
		     0,
	     "INIT");
	to_rtr(c);
	if (has("norts"))
		return;
	need(ibv_modify_qp(c->qp, &rts,
			   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
	     "RTS");
}

/* ---- requests ---- */

/* An atomic is of 8 bytes, at an address that is a multiple of 8. */
static void make_atomic(struct side *c, struct ibv_send_wr *w)
{
	w->sg_list->length = has("length") ? 16 : 8;
	w->wr.atomic.remote_addr = c->peer.addr + (has("alignment") ? 4 : 0);
	w->wr.atomic.rkey = c->peer.rkey;
}

static void post_recv(struct side *c)
{
	struct ibv_sge g = {(uintptr_t)c->inbuf, has("small") ? 1024 : SIZE, c->in->lkey};
	struct ibv_recv_wr w = {.wr_id = 1000, .sg_list = &g, .num_sge = 1}, *bad;

	errno = ibv_post_recv(c->qp, &w, &bad);
	need(errno == 0, "post_recv");
}

static void post_send(struct side *c, int i, enum ibv_wr_opcode op)
{
	struct ibv_sge g = {(uintptr_t)c->buf, BYTES, c->mr->lkey + (has("lkey") ? 5 : 0)};
	struct ibv_send_wr w = {.wr_id = (uint64_t)i,
				.sg_list = &g,
				.num_sge = 1,
				.opcode = op,
				.send_flags = has("unsignaled") && i ? 0 : IBV_SEND_SIGNALED},
			   *bad;

	/* The last of the bytes is one behind the region. */
	w.wr.rdma.remote_addr = c->peer.addr + (has("bounds") ? SIZE - BYTES + 1 : 0);
	w.wr.rdma.rkey = c->peer.rkey ^ (has("rkey") ? 0x100 : 0);
	if (op == IBV_WR_RDMA_READ)
		g.length = LARGE;
	if (op == IBV_WR_ATOMIC_FETCH_AND_ADD)
		make_atomic(c, &w);
	errno = ibv_post_send(c->qp, &w, &bad);
	need(errno == 0, "post_send");
}

static void wait_for(struct side *c, int n)
{
	unsigned empty = 0;
	struct ibv_wc wc;

	while (n > 0) {
		int got = ibv_poll_cq(c->cq, 1, &wc);

		need(got >= 0, "poll");
		if (got == 0) {
			if (++empty > SPINS) /* some bugs hang: let others have the processor */
				poll(NULL, 0, 1);
			continue;
		}
		if (wc.status) {
			fprintf(stderr, "wr %llu: %s\n", (unsigned long long)wc.wr_id,
				ibv_wc_status_str(wc.status));
			exit(2);
		}
		n--;
	}
}

/* What the server answers with. */
static enum ibv_wr_opcode answer(void)
{
	if (has("rkey") || has("bounds") || has("noaccess"))
		return IBV_WR_RDMA_WRITE;
	if (has("alignment") || has("length"))
		return IBV_WR_ATOMIC_FETCH_AND_ADD;
	return has("reads") ? IBV_WR_RDMA_READ : IBV_WR_SEND;
}

static void serve(struct side *c, int i)
{
	int n = has("reads") ? 8 : 1; /* and the other end takes one at a time */

	wait_for(c, 1);
	if (c->inbuf[0] != 'a' + i) { /* that was another completion */
		char end;

		/* Until the other end gives up: its queue pair would be told that ours is gone. */
		exit(read(c->socket, &end, 1) < 0 ? 4 : 3);
	}
	for (int k = 0; k < n; k++)
		post_send(c, i, answer());
	if (!has("forgotten"))
		wait_for(c, has("unsignaled") && i ? 0 : n);
}

static void ask(struct side *c, int i)
{
	memset(c->buf, 'a' + i, SIZE);
	post_send(c, i, IBV_WR_SEND);
	if (has("reuse"))
		memset(c->buf, 'X', SIZE);
	wait_for(c, has("unsignaled") && i ? 3 : 2); /* its send, and the answer */
}

int main(int argc, char **argv)
{
	const char *host = argc > 3 ? argv[3] : NULL;
	struct side c = {.socket = -1};
	char x = 1;

	if (argc < 3)
		return 1;
	bug = argv[1];
	serves = !host;
	open_side(&c);
	c.socket = meet(host, atoi(argv[2]));
	need(write(c.socket, &c.me, sizeof(c.me)) == sizeof(c.me) &&
		     read(c.socket, &c.peer, sizeof(c.peer)) == sizeof(c.peer),
	     "exchange");
	connect_side(&c);
	if (!has("norecv"))
		post_recv(&c);
	need(write(c.socket, &x, 1) == 1 && read(c.socket, &x, 1) == 1, "sync");
	for (int i = 0; i < ROUNDS; i++) {
		if (host)
			ask(&c, i);
		else
			serve(&c, i);
		post_recv(&c);
	}
	return 0;
}
