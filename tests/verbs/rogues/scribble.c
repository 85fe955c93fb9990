/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * scribble SECONDS SEED: clients that write nonsense into all the memory they share with the
 * daemon (rings, entries, doorbells) while it reads it: noise, plausible indices, work requests
 * that look right but for one or two fields. Those of odd seeds also send commands behind
 * libibverbs' back, with the handles of their real objects in any place. One after the other, each
 * with a seed of its own; that a client breaks itself this way is its own affair. The daemon must
 * survive the last one.
 */
#include "rig.h"

#include "emu/abi/cmd.h"
#include "emu/abi/region.h"
#include "emu/abi/wqe.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define QPS       8u
#define MAX_MAPS  64u
#define PAGE      4096u
#define ONE_LIFE  2.0 /* seconds of one client, if there is time for two */
#define BUF_BYTES 65536u
#define QKEY      0x11111111u

static struct rig rig;
static struct ibv_qp *qp[QPS], *ud[2];
static struct ibv_srq *srq;
static struct ibv_ah *ah;
static struct ibv_mw *mw;
static struct region {
	uint8_t *base;
	size_t size;
} maps[MAX_MAPS];
static unsigned n_maps;
static struct uhca_abi_doorbell *doorbells;
static int event_fd = -1, control_fd = -1;
static uint64_t state;

/* splitmix64 */
static uint64_t rnd(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)(rnd() % n);
}

/* ---- what there is to scribble on ---- */

static void find_maps(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, " rw-s ") || !strstr(line, "memfd:uhca-") ||
		    sscanf(line, "%lx-%lx", &from, &to) != 2 || n_maps == MAX_MAPS)
			continue;
		maps[n_maps++] = (struct region){(uint8_t *)from, to - from};
		if (strstr(line, "uhca-doorbell"))
			doorbells = (struct uhca_abi_doorbell *)from;
	}
	if (f)
		fclose(f);
	if (n_maps < QPS || !doorbells)
		rig_die("%u shared mappings found", n_maps);
}

static bool is_control_socket(int fd)
{
	struct sockaddr_un peer = {0};
	socklen_t length = sizeof(peer);

	return getpeername(fd, (struct sockaddr *)&peer, &length) == 0 &&
	       peer.sun_family == AF_UNIX && strstr(peer.sun_path, "/sock");
}

/* Descriptors of the provider's: its event descriptor and its control socket. */
static void find_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	char path[300], target[64];

	for (struct dirent *e; d && (e = readdir(d));) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		ssize_t n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		if (strcmp(target, "anon_inode:[eventfd]") == 0)
			event_fd = atoi(e->d_name);
		else if (is_control_socket(atoi(e->d_name)))
			control_fd = atoi(e->d_name);
	}
	if (d)
		closedir(d);
	if (event_fd < 0 || control_fd < 0)
		rig_die("no event descriptor or no control socket");
}

/* ---- the ways to scribble ---- */

static void noise(void)
{
	const struct region *m = &maps[below(n_maps)];
	uint32_t n = 1 + below(64), at = below((uint32_t)m->size - n);

	for (uint32_t i = 0; i < n; i++)
		m->base[at + i] = (uint8_t)rnd();
}

/* Ring indices and other words of the first page. */
static void indices(void)
{
	static const uint32_t odd[] = {0, 1, 2, 16, 17, 0x7fffffff, 0x80000000, 0xffffffff};
	uint32_t *word = (uint32_t *)(void *)maps[below(n_maps)].base + below(640 / 4);

	switch (below(4)) {
	case 0:
		*word = odd[below(sizeof(odd) / sizeof(odd[0]))];
		break;
	case 1:
		*word = (uint32_t)rnd();
		break;
	case 2:
	case 3:
		*word += below(3);
		break;
	}
}

static struct uhca_abi_sge some_element(void)
{
	struct uhca_abi_sge e = {(uintptr_t)rig.buf + below(BUF_BYTES), below(8192),
				 below(8) ? rig.mr->lkey : (uint32_t)rnd()};

	if (below(16) == 0)
		e.addr = rnd();
	if (below(16) == 0)
		e.length = (uint32_t)rnd();
	return e;
}

static struct uhca_abi_send_wqe some_request(void)
{
	struct uhca_abi_send_wqe w = {.wr_id = rnd(),
				      .opcode = (uint8_t)below(17),
				      .num_sge = (uint8_t)below(4),
				      .flags = (uint16_t)below(32),
				      .imm = (uint32_t)rnd(),
				      .inline_length = below(4) ? below(256) : (uint32_t)rnd()};

	if (below(4) == 0)
		w.imm = below(2) ? rig.mr->rkey : mw->rkey + below(3); /* for invalidations */
	switch (below(4)) {
	case 0:
		w.rdma.remote_addr = (uintptr_t)rig.buf + below(BUF_BYTES);
		w.rdma.rkey = below(4) ? rig.mr->rkey : mw->rkey + below(3);
		break;
	case 1:
		w.atomic.remote_addr = (uintptr_t)rig.buf + (below(BUF_BYTES) & ~7u);
		w.atomic.rkey = below(4) ? rig.mr->rkey : (uint32_t)rnd();
		break;
	case 2:
		w.bind.addr = (uintptr_t)rig.buf + below(BUF_BYTES);
		w.bind.length = below(4) ? below(BUF_BYTES) : rnd();
		w.bind.mr_lkey = below(4) ? rig.mr->lkey : (uint32_t)rnd();
		w.bind.mw_rkey = (below(4) ? mw->rkey : rig.mr->rkey) + below(3);
		w.bind.new_rkey = w.bind.mw_rkey + below(3);
		w.bind.access = below(128);
		break;
	case 3:
		w.ud.ah = below(4) ? ah->handle : (uint32_t)rnd();
		w.ud.remote_qpn = below(4) ? ud[below(2)]->qp_num : below(1 << 24);
		w.ud.remote_qkey = below(4) ? QKEY : (uint32_t)rnd();
		break;
	}
	return w;
}

/* Work requests all over a queue, then a step of the producer's index. */
static void requests(void)
{
	const struct region *m = &maps[below(n_maps)];
	struct uhca_abi_queue *page = (void *)m->base;
	struct uhca_abi_send_wqe w;
	struct uhca_abi_sge e;

	if (m->size < 2 * PAGE || m->base == (uint8_t *)doorbells)
		return;
	for (uint32_t at = PAGE; at + sizeof(w) + sizeof(e) <= m->size && at < 3 * PAGE;
	     at += 128) {
		w = some_request();
		e = some_element();
		memcpy(m->base + at, &w, sizeof(w));
		memcpy(m->base + at + sizeof(w), &e, sizeof(e));
	}
	page->send.producer += below(4);
	page->recv.producer += below(4);
}

static void ring(void)
{
	uint64_t one = 1;

	uhca_doorbell_set(doorbells, below(8) ? below(64) : below(UHCA_ABI_DOORBELL_MAX));
	if (write(event_fd, &one, sizeof(one)) < 0 && errno != EAGAIN)
		rig_die("event descriptor");
}

static uint32_t some_word(void)
{
	static const uint32_t odd[] = {0, 1, 2, 3, 4, 6, 7, 16, 0xffff, 0x80000000, 0xffffffff};
	const uint32_t own[] = {rig.pd->handle,
				rig.cq->handle,
				rig.mr->handle,
				srq->handle,
				ah->handle,
				qp[below(QPS)]->handle,
				qp[below(QPS)]->qp_num,
				(uint32_t)(uintptr_t)rig.buf,
				(uint32_t)((uintptr_t)rig.buf >> 32)};

	switch (below(4)) {
	case 0:
		return odd[below(sizeof(odd) / sizeof(odd[0]))];
	case 1:
		return (uint32_t)rnd();
	case 2:
		return below(100);
	}
	return own[below(sizeof(own) / sizeof(own[0]))];
}

/* One request and its reply; the socket is in step again afterwards, or the daemon hung up. */
static void command(void)
{
	/* sizes that there are (emu/abi/cmd.h) more often than others */
	static const uint32_t sizes[] = {24, 24, 24, 24, 32, 40, 48, 56, 64, 136, 168};
	uint32_t words[80] = {below(UHCA_CMD_COUNT + 1)};
	uint32_t n = below(8) ? sizes[below(sizeof(sizes) / sizeof(sizes[0]))] / 4 : 4 + below(60);
	char room[CMSG_SPACE(sizeof(int) * 8)], reply[UHCA_ABI_MAX_MESSAGE];
	struct iovec iov = {reply, sizeof(reply)};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof(room)};

	words[1] = n * 4;
	for (uint32_t i = 4; i < n; i++)
		words[i] = some_word();
	if (send(control_fd, words, (size_t)n * 4, MSG_NOSIGNAL) < 0 ||
	    recvmsg(control_fd, &m, MSG_CMSG_CLOEXEC) <= 0)
		rig_die("the daemon has hung up");
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c))
		for (size_t i = 0; CMSG_LEN((i + 1) * sizeof(int)) <= c->cmsg_len; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			close(fd);
		}
}

static void renew_ud(struct ibv_qp *q)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY};

	rig_reset(q);
	if (ibv_modify_qp(q, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
		rig_die("UD to INIT");
	attr.qp_state = IBV_QPS_RTR;
	if (ibv_modify_qp(q, &attr, IBV_QP_STATE))
		rig_die("UD to RTR");
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(q, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN))
		rig_die("UD to RTS");
	for (unsigned n = below(RIG_DEPTH); n > 0; n--)
		rig_post_recv(&rig, q, 0, BUF_BYTES / 2);
}

/* Life on the control socket goes on: a pair begins anew, with some honest requests. */
static void begin_anew(void)
{
	unsigned i = below(QPS);

	rig_connect(&rig, qp[i], qp[i ^ 1]->qp_num);
	rig_connect(&rig, qp[i ^ 1], qp[i]->qp_num);
	for (unsigned n = below(RIG_DEPTH); n > 0; n--)
		rig_post_recv(&rig, qp[i], 0, BUF_BYTES / 2);
	for (unsigned n = below(3); n > 0; n--)
		rig_post_send(&rig, qp[i ^ 1], BUF_BYTES / 2, below(BUF_BYTES / 2));
	renew_ud(ud[below(2)]);
}

/* ---- */

static void make_objects(void)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 64, .max_sge = 2}};
	struct ibv_ah_attr ah_attr = {.is_global = 1, .port_num = 1};
	struct ibv_qp_init_attr ud_attr = {.qp_type = IBV_QPT_UD,
					   .cap = {.max_send_wr = RIG_DEPTH,
						   .max_recv_wr = RIG_DEPTH,
						   .max_send_sge = 2,
						   .max_recv_sge = 2}};

	rig_open(&rig, 64, BUF_BYTES);
	ah_attr.grh.dgid = rig.gid;
	ah = ibv_create_ah(rig.pd, &ah_attr);
	srq = ibv_create_srq(rig.pd, &srq_attr);
	mw = ibv_alloc_mw(rig.pd, IBV_MW_TYPE_2);
	if (!ah || !srq || !mw)
		rig_die("AH, SRQ or MW");
	for (unsigned i = 0; i < QPS; i++) {
		qp[i] = rig_qp(&rig, i == 1 ? rig_cq_with_events(&rig, 64) : NULL,
			       i < 2 ? srq : NULL);
		if (!qp[i])
			rig_die("QP");
	}
	for (unsigned i = 0; i < QPS; i++)
		rig_connect(&rig, qp[i], qp[i ^ 1]->qp_num);
	for (unsigned i = 0; i < 2; i++) {
		ud_attr.send_cq = ud_attr.recv_cq = rig.cq;
		ud[i] = ibv_create_qp(rig.pd, &ud_attr);
		if (!ud[i])
			rig_die("UD QP");
		renew_ud(ud[i]);
	}
}

static void __attribute__((noreturn)) live(uint64_t seed, double end)
{
	static void (*const ways[])(void) = {noise, indices, indices, requests, ring, ring};

	alarm(300);
	state = seed;
	make_objects();
	find_maps();
	find_fds();
	while (rig_seconds() < end) {
		for (unsigned n = seed % 2 ? below(32) : 0; n > 0; n--)
			command();
		/* few strokes leave a queue alive for long, many try what comes after */
		for (unsigned n = 2u << below(7); n > 0; n--)
			ways[below(sizeof(ways) / sizeof(ways[0]))]();
		sched_yield();
		begin_anew();
	}
	_exit(0);
}

/* Prints how it ended when that was not at the end of its time. */
static void report(uint64_t seed, int status)
{
	if (WIFSIGNALED(status))
		printf("seed %llu: signal %d\n", (unsigned long long)seed, WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		printf("seed %llu: status %d\n", (unsigned long long)seed, WEXITSTATUS(status));
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		rig_die("the client of seed %llu hung", (unsigned long long)seed);
}

int main(int argc, char **argv)
{
	double end, life, seconds = argc > 1 ? atof(argv[1]) : 0;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	struct rig_daemon d;
	int status;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (seconds <= 0) {
		fprintf(stderr, "usage: scribble SECONDS SEED\n");
		return 2;
	}
	life = seconds < 2 * ONE_LIFE ? seconds / 2 : ONE_LIFE;
	for (end = rig_seconds() + seconds; rig_seconds() < end; seed++) {
		double until = rig_seconds() + life;
		pid_t pid = fork();

		if (pid == 0)
			live(seed, until < end ? until : end);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			rig_die("fork");
		report(seed, status);
	}
	rig_daemon(&d);
	printf("the daemon has %ld KiB of its own\n", d.anonymous_kb);
	return 0;
}
