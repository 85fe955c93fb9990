/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loop over epoll reads one event for each edge. Two queues of the channel have events before it
 * looks: there is one edge, and it waits for ever beside the second event.
 *
 * Found by: lost-wakeup
 */
#include "tests/verbs/sanitize/pair.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

/* Two queue pairs, each with a queue of the channel, that send to one another. */
struct busy {
	struct ibv_cq *cq[2];
	struct ibv_qp *qp[2];
};

static void open_busy(struct busy *b, struct pair *p)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC, .cap = {2, 2, 1, 1, 0}};

	for (int i = 0; i < 2; i++) {
		b->cq[i] = ibv_create_cq(p->context, 4, NULL, p->channel, 0);
		pair_must(b->cq[i] && !ibv_req_notify_cq(b->cq[i], 0), "a queue, armed");
		attr.send_cq = attr.recv_cq = b->cq[i];
		b->qp[i] = ibv_create_qp(p->pd, &attr);
		pair_must(b->qp[i] != NULL, "a queue pair");
	}
	pair_connect(p, b->qp[0], b->qp[1]);
	pair_connect(p, b->qp[1], b->qp[0]);
}

static void send_one(struct busy *b, struct pair *p)
{
	struct end from = p->a, to = p->a;

	from.qp = b->qp[0];
	to.qp = b->qp[1];
	pair_recv(&to, 1, 0, 64);
	pair_post(&from, IBV_WR_SEND, IBV_SEND_SIGNALED, 64, 64);
}

static bool has_event(struct ibv_comp_channel *channel, int *taken)
{
	struct ibv_wc wc;
	struct ibv_cq *cq;
	void *arg;

	if (ibv_get_cq_event(channel, &cq, &arg))
		return false;
	ibv_ack_cq_events(cq, 1);
	*taken += ibv_poll_cq(cq, 1, &wc);
	return true;
}

/* Both have completed: a request that comes last on the same path is done. */
static void let_both_complete(struct pair *p)
{
	pair_recv(&p->b, 1, 0, 64);
	pair_post(&p->a, IBV_WR_SEND, IBV_SEND_SIGNALED, 0, 64);
	pair_wait(&p->a);
	pair_wait(&p->b);
}

int main(int argc, char **argv)
{
	bool mended = pair_mended(argc, argv);
	struct epoll_event event = {.events = EPOLLIN | EPOLLET};
	int epoll = epoll_create1(EPOLL_CLOEXEC), taken = 0;
	struct busy busy;
	struct pair p;

	pair_open(&p);
	open_busy(&busy, &p);
	pair_must(!fcntl(p.channel->fd, F_SETFL, O_NONBLOCK) &&
			  !epoll_ctl(epoll, EPOLL_CTL_ADD, p.channel->fd, &event),
		  "epoll");
	send_one(&busy, &p);
	let_both_complete(&p);
	while (taken < 2) {
		epoll_wait(epoll, &event, 1, -1); /* <- */
		while (has_event(p.channel, &taken) && mended)
			;
	}
	for (int i = 0; i < 2; i++)
		pair_must(!ibv_destroy_qp(busy.qp[i]) && !ibv_destroy_cq(busy.cq[i]), "the end");
	close(epoll);
	pair_close(&p);
	return 0;
}
