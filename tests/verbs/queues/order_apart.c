/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What one request did is there for the next, where requester and responder are two processes: a
 * message whose completion nobody has polled is read back, added to and written over, and the poll
 * that comes last changes nothing. Runs below uhca-run; the responder is a process of its own, on
 * the daemon of UHCA_PEER_DIR when there is one.
 */
#include "tests/verbs/rogues/rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS  40u    /* of each kind */
#define MEMORY  32768u /* each side's */
#define FROM    0u     /* in the requester's: what is sent */
#define BACK    16384u /* and where what it fetched or stores next stands */
#define LANDS   4096u  /* in the responder's */
#define LONGEST 8192u
#define PATIENT 120u /* seconds */
#define SUM     5u

static const uint32_t lengths[] = {8, 63, 64, 65, 447, 448, 449, 4096, LONGEST};
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

struct end { /* what one side tells the other */
	union ibv_gid gid;
	uint64_t lands;
	uint32_t qpn, rkey;
};

struct side {
	struct rig rig;
	struct ibv_qp *qp;
	struct end peer;
	int fd; /* to the other process */
};

static void send_bytes(const struct side *s, const void *p, size_t n)
{
	if (write(s->fd, p, n) != (ssize_t)n)
		rig_die("the other process does not listen");
}

static void hear(const struct side *s, void *p, size_t n)
{
	if (recv(s->fd, p, n, MSG_WAITALL) != (ssize_t)n)
		rig_die("the other process is gone");
}

static void side_open(struct side *s, int fd)
{
	struct end mine;

	rig_open(&s->rig, RIG_DEPTH, MEMORY);
	s->fd = fd;
	s->qp = rig_qp(&s->rig, NULL, NULL);
	if (!s->qp)
		rig_die("ibv_create_qp");
	mine = (struct end){s->rig.gid, (uintptr_t)s->rig.buf + LANDS, s->qp->qp_num,
			    s->rig.mr->rkey};
	send_bytes(s, &mine, sizeof(mine));
	hear(s, &s->peer, sizeof(s->peer));
	if (getenv("UHCA_PEER_DIR") && !memcmp(&mine.gid, &s->peer.gid, sizeof(mine.gid)))
		rig_die("both processes are on one daemon");
	s->rig.gid = s->peer.gid;
	rig_connect(&s->rig, s->qp, s->peer.qpn);
}

static void side_close(struct side *s)
{
	if (ibv_destroy_qp(s->qp))
		rig_die("ibv_destroy_qp");
	rig_close(&s->rig);
}

/* ---- the responder: posts, and polls only when it is told to ---- */

static void respond(int fd)
{
	uint32_t n;
	struct side s;

	side_open(&s, fd);
	for (hear(&s, &n, sizeof(n)); n > 0; hear(&s, &n, sizeof(n))) {
		memset(s.rig.buf + LANDS, 0, LONGEST);
		if (!rig_post_recv(&s.rig, s.qp, LANDS, n))
			rig_die("ibv_post_recv");
		send_bytes(&s, "", 1);
		hear(&s, &(char){0}, 1);
		rig_expect(&s.rig, 1, PATIENT);
		send_bytes(&s, s.rig.buf + LANDS, n);
	}
	side_close(&s);
	exit(0);
}

/* ---- the requester ---- */

static void deliver(struct side *s, uint32_t n, unsigned round)
{
	for (uint32_t i = 0; i < n; i++)
		s->rig.buf[FROM + i] = (uint8_t)(i * 7 + round + 1);
	send_bytes(s, &n, sizeof(n));
	hear(s, &(char){0}, 1);
	if (!rig_post_send(&s->rig, s->qp, FROM, n))
		rig_die("ibv_post_send");
	rig_expect(&s->rig, 1, PATIENT);
}

static void next(struct side *s, enum ibv_wr_opcode opcode, uint32_t n)
{
	struct ibv_sge sge = {(uintptr_t)s->rig.buf + BACK, n, s->rig.mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
				       .num_sge = 1,
				       .opcode = opcode,
				       .send_flags = IBV_SEND_SIGNALED};

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = s->peer.lands;
		wr.wr.atomic.rkey = s->peer.rkey;
		wr.wr.atomic.compare_add = SUM;
	} else {
		wr.wr.rdma.remote_addr = s->peer.lands;
		wr.wr.rdma.rkey = s->peer.rkey;
	}
	if (ibv_post_send(s->qp, &wr, &bad))
		rig_die("ibv_post_send of opcode %d", opcode);
	rig_expect(&s->rig, 1, PATIENT);
}

static void same(const char *what, unsigned round, const void *a, const void *b, size_t n)
{
	if (memcmp(a, b, n) != 0)
		rig_die("round %u, %zu bytes: %s", round, n, what);
}

/* The responder polls, and says what its memory holds then. */
static const uint8_t *polled(struct side *s, uint32_t n)
{
	static uint8_t said[LONGEST];

	send_bytes(s, "", 1);
	hear(s, said, n);
	return said;
}

static void read_behind_send(struct side *s, unsigned round)
{
	uint32_t n = lengths[round % LENGTHS];

	deliver(s, n, round);
	next(s, IBV_WR_RDMA_READ, n);
	same("a READ got what was there before", round, s->rig.buf + BACK, s->rig.buf + FROM, n);
	same("not what was sent", round, polled(s, n), s->rig.buf + FROM, n);
}

static void add_behind_send(struct side *s, unsigned round)
{
	uint64_t sum;

	deliver(s, sizeof(sum), round);
	next(s, IBV_WR_ATOMIC_FETCH_AND_ADD, sizeof(sum));
	same("an atomic saw what was there before", round, s->rig.buf + BACK, s->rig.buf + FROM,
	     sizeof(sum));
	memcpy(&sum, s->rig.buf + FROM, sizeof(sum));
	sum += SUM;
	same("an atomic is lost", round, polled(s, sizeof(sum)), &sum, sizeof(sum));
}

static void write_behind_send(struct side *s, unsigned round)
{
	uint32_t n = lengths[round % LENGTHS];

	memset(s->rig.buf + BACK, (int)~round, n);
	deliver(s, n, round);
	next(s, IBV_WR_RDMA_WRITE, n);
	same("a WRITE is undone", round, polled(s, n), s->rig.buf + BACK, n);
}

static void request(int fd)
{
	static void (*const kind[])(struct side *, unsigned) = {read_behind_send, add_behind_send,
								write_behind_send};
	uint32_t end = 0;
	struct side s;

	side_open(&s, fd);
	for (unsigned k = 0; k < sizeof(kind) / sizeof(kind[0]); k++)
		for (unsigned round = 0; round < ROUNDS; round++)
			kind[k](&s, round);
	send_bytes(&s, &end, sizeof(end));
	side_close(&s);
}

static pid_t start_responder(int fd[2])
{
	const char *dir = getenv("UHCA_PEER_DIR");
	pid_t pid = fork();

	if (pid == 0) {
		dup2(fd[1], STDIN_FILENO);
		close(fd[0]);
		close(fd[1]);
		if (dir)
			setenv("UHCA_DIR", dir, 1);
		execl("/proc/self/exe", "order_apart", "responder", (char *)NULL);
		_exit(127);
	}
	close(fd[1]);
	return pid;
}

int main(int argc, char **argv)
{
	int fd[2], status;
	pid_t pid;

	if (argc > 1 && strcmp(argv[1], "responder") == 0)
		respond(STDIN_FILENO);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
		rig_die("socketpair");
	pid = start_responder(fd);
	request(fd[0]);
	if (waitpid(pid, &status, 0) != pid || status)
		rig_die("the responder failed");
	printf("READ, FETCH_ADD and WRITE behind a SEND: %u of %u each\n", ROUNDS, ROUNDS);
	return 0;
}
