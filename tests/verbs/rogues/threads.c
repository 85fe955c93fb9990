/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads: 16 threads post and poll, on queues of their own and on shared ones, through the real
 * provider and a real daemon; at the end the daemon is killed while they do. Each work request
 * completes exactly once and each message arrives with its content. What ThreadSanitizer has to
 * say of the provider it says here (scripts/sanitize --thread).
 *
 * No buffer is used twice: that a posted receive and its completion are ordered is known to the
 * device and to nobody who watches this process alone.
 */
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS    16u
#define CHURNERS   4u
#define MESSAGES   200u /* of each thread */
#define SLOT       256u /* bytes more would only be filled and compared */
#define SMALL      64u
#define TOTAL      (THREADS * MESSAGES)
#define DEADLINE_S 240
#define SRQ_DEPTH  64u

/* wr_id: one of these and the message's number */
#define OF_SEND  (1ull << 32)
#define OF_RECV  (2ull << 32)
#define OF_OTHER (4ull << 32)

struct phase {
	const char *name;
	unsigned pairs, cqs; /* shared by the threads in turn */
	bool srq;            /* all receive from one */
	bool events;         /* nobody polls before an event says so */
	bool churn;          /* others make and destroy objects meanwhile */
	bool fatal;          /* the daemon is killed */
	bool builders;       /* ibv_wr_*, not ibv_post_send */
	bool extended;       /* ibv_start_poll, not ibv_poll_cq */
};

static const struct phase phases[] = {
	{.name = "own queues", .pairs = THREADS, .cqs = THREADS},
	{.name = "one CQ", .pairs = THREADS, .cqs = 1},
	{.name = "one QP", .pairs = 1, .cqs = 1},
	{.name = "one QP, ibv_wr_*", .pairs = 1, .cqs = 1, .builders = true},
	{.name = "one QP, one extended CQ",
	 .pairs = 1,
	 .cqs = 1,
	 .builders = true,
	 .extended = true},
	{.name = "four extended CQs", .pairs = THREADS, .cqs = 4, .extended = true, .churn = true},
	{.name = "two QPs, three CQs, one SRQ", .pairs = 2, .cqs = 3, .srq = true},
	{.name = "events of one channel", .pairs = THREADS, .cqs = 4, .events = true},
	{.name = "objects come and go", .pairs = THREADS, .cqs = 2, .srq = true, .churn = true},
	{.name = "the daemon dies", .pairs = 4, .cqs = 2, .churn = true, .fatal = true},
};

static struct rig rig;
static const struct phase *phase;
static struct ibv_cq *cqs[THREADS];
static struct ibv_cq_ex *cqs_ex[THREADS]; /* the same, when they are extended */
static struct ibv_srq *srq;
static struct pair {
	struct ibv_qp *qp[2]; /* the second receives */
} pairs[THREADS];
static _Atomic unsigned char sent[TOTAL], received[TOTAL], arrived[TOTAL];
static atomic_uint posted, completed, successes, posting, async_events;
static atomic_bool over, seen_fatal;

/* ---- what goes over the wire ---- */

static uint8_t *send_slot(unsigned i)
{
	return rig.buf + (size_t)i * SLOT;
}

static uint8_t *recv_slot(unsigned i)
{
	return rig.buf + (size_t)(TOTAL + i) * SLOT;
}

static unsigned length_of(unsigned i)
{
	return i % 3 ? SMALL : SLOT;
}

static void fill(unsigned i)
{
	memset(send_slot(i), (int)(i % 251), length_of(i));
	memcpy(send_slot(i), &i, sizeof(i));
}

/* The message that came with this receive; which one is up to the device. */
static void check_content(unsigned recv, uint32_t length)
{
	const uint8_t *data = recv_slot(recv);
	unsigned i;

	memcpy(&i, data, sizeof(i));
	if (i >= TOTAL || length != length_of(i))
		rig_die("receive %u: message %u of %u bytes", recv, i, length);
	for (unsigned n = sizeof(i); n < length; n++)
		if (data[n] != i % 251)
			rig_die("receive %u: byte %u of message %u is wrong", recv, n, i);
	if (atomic_fetch_add(&arrived[i], 1))
		rig_die("message %u came twice", i);
}

/* ---- completions ---- */

static bool may_fail(enum ibv_wc_status status)
{
	return phase->fatal && status == IBV_WC_WR_FLUSH_ERR;
}

static void account(uint64_t wr_id, enum ibv_wc_status status, uint32_t length)
{
	unsigned i = (uint32_t)wr_id;

	if (wr_id & OF_OTHER)
		return;
	if (status != IBV_WC_SUCCESS && !may_fail(status))
		rig_die("request %llx: %s", (unsigned long long)wr_id, ibv_wc_status_str(status));
	if (i >= TOTAL || atomic_fetch_add(wr_id & OF_SEND ? &sent[i] : &received[i], 1))
		rig_die("request %llx completes twice", (unsigned long long)wr_id);
	if ((wr_id & OF_RECV) && status == IBV_WC_SUCCESS)
		check_content(i, length);
	successes += status == IBV_WC_SUCCESS;
	completed++;
}

static int poll_extended(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = {0};
	int err = ibv_start_poll(cq, &attr), n = 0;

	if (err == ENOENT)
		return 0;
	for (; !err; err = ++n < 4 ? ibv_next_poll(cq) : ENOENT)
		account(cq->wr_id, cq->status,
			cq->status == IBV_WC_SUCCESS ? ibv_wc_read_byte_len(cq) : 0);
	ibv_end_poll(cq);
	if (err != ENOENT)
		rig_die("polling the extended CQ: %s", strerror(err));
	return n;
}

static int poll_one(struct ibv_cq *cq)
{
	struct ibv_wc wc[4];
	int n = ibv_poll_cq(cq, 4, wc);

	if (n < 0)
		rig_die("ibv_poll_cq");
	for (int i = 0; i < n; i++)
		account(wc[i].wr_id, wc[i].status, wc[i].byte_len);
	return n;
}

static void on_event(void)
{
	struct pollfd p = {.fd = rig.channel->fd, .events = POLLIN};
	struct ibv_cq *cq;
	void *context;

	if (poll(&p, 1, 5) <= 0 || ibv_get_cq_event(rig.channel, &cq, &context))
		return;
	ibv_ack_cq_events(cq, 1);
	if (ibv_req_notify_cq(cq, 0))
		rig_die("ibv_req_notify_cq");
	while (poll_one(cq) > 0) {
	}
}

static int poll_nth(unsigned n)
{
	return phase->extended ? poll_extended(cqs_ex[n]) : poll_one(cqs[n]);
}

/* False when this CQ had nothing. */
static bool progress(unsigned thread)
{
	if (!phase->events)
		return poll_nth((thread + completed) % phase->cqs) > 0;
	on_event();
	return true;
}

/* Without the pause 16 threads take the processors from the daemon that they wait for. */
static void wait_for_progress(unsigned thread)
{
	if (!progress(thread))
		usleep(500);
}

/* ---- the threads ---- */

/* 0, or what keeps this request from being posted for ever. */
static int post_recv(struct pair *p, unsigned i)
{
	struct ibv_sge sge = {(uintptr_t)recv_slot(i), SLOT, rig.mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = OF_RECV | i, .sg_list = &sge, .num_sge = 1}, *bad;
	int err;

	posted++;
	while ((err = srq ? ibv_post_srq_recv(srq, &wr, &bad)
			  : ibv_post_recv(p->qp[1], &wr, &bad)) == ENOMEM)
		wait_for_progress(i);
	posted -= err != 0;
	return err;
}

/* The same by builders (ibv_wr_post(3)), each some times after one that is given up. */
static int build_send(struct pair *p, unsigned i)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(p->qp[0]);

	if (i % 7 == 0) {
		ibv_wr_start(qp);
		qp->wr_id = ~0ull;
		ibv_wr_send(qp);
		ibv_wr_set_sge(qp, 0, 0, SLOT);
		ibv_wr_abort(qp);
	}
	ibv_wr_start(qp);
	qp->wr_id = OF_SEND | i;
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qp);
	if (i % 3 == 1)
		ibv_wr_set_inline_data(qp, send_slot(i), length_of(i));
	else
		ibv_wr_set_sge(qp, rig.mr->lkey, (uintptr_t)send_slot(i), length_of(i));
	return ibv_wr_complete(qp);
}

static int post_one(struct pair *p, unsigned i)
{
	struct ibv_sge sge = {(uintptr_t)send_slot(i), length_of(i), rig.mr->lkey};
	struct ibv_send_wr wr = {.wr_id = OF_SEND | i,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	if (i % 3 == 1)
		wr.send_flags |= IBV_SEND_INLINE;
	return ibv_post_send(p->qp[0], &wr, &bad);
}

static int post_send(struct pair *p, unsigned i)
{
	int err;

	posted++;
	while ((err = phase->builders ? build_send(p, i) : post_one(p, i)) == ENOMEM)
		wait_for_progress(i);
	posted -= err != 0;
	return err;
}

static bool ready(void)
{
	return !posting && completed == posted;
}

static void *work(void *arg)
{
	unsigned thread = (unsigned)(uintptr_t)arg;
	struct pair *p = &pairs[thread % phase->pairs];
	double end = rig_seconds() + DEADLINE_S;

	for (unsigned n = 0; n < MESSAGES; n++) {
		unsigned i = thread * MESSAGES + n;
		int err;

		fill(i);
		err = post_recv(p, i);
		if (!err)
			err = post_send(p, i);
		if (err && !phase->fatal)
			rig_die("thread %u cannot post: %s", thread, strerror(err));
		if (err)
			break;
		progress(thread);
	}
	posting--;
	while (!ready()) {
		wait_for_progress(thread);
		if (rig_seconds() > end)
			rig_die("%s: %u of %u requests complete", phase->name, completed, posted);
	}
	return NULL;
}

/* A life of objects of all kinds beside the traffic: false when the device is gone. */
static bool live(struct ibv_cq *cq, void *memory)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_ah_attr ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = rig.gid}};
	struct ibv_qp_attr to_error = {.qp_state = IBV_QPS_ERR};
	struct ibv_mr *mr = ibv_reg_mr(rig.pd, memory, SMALL, IBV_ACCESS_LOCAL_WRITE);
	struct ibv_ah *ah = ibv_create_ah(rig.pd, &ah_attr);
	struct ibv_srq *own = ibv_create_srq(rig.pd, &srq_attr);
	struct ibv_cq *own_cq = ibv_create_cq(rig.ctx, 8, NULL, NULL, 0);
	struct ibv_qp *qp = own ? rig_qp(&rig, cq, own) : NULL;
	struct ibv_send_wr wr = {.wr_id = OF_OTHER, .opcode = IBV_WR_SEND}, *bad;
	bool whole = mr && ah && own && own_cq && qp;

	if (whole && !phase->fatal) { /* where it is, connecting may fail at any moment */
		rig_connect(&rig, qp, qp->qp_num);
		ibv_post_send(qp, &wr, &bad);
		if (ibv_modify_qp(qp, &to_error, IBV_QP_STATE))
			rig_die("to the error state");
		if (ibv_resize_cq(cq, 4096 + (int)(completed % 4096)))
			rig_die("ibv_resize_cq");
	}
	if (!whole && !phase->fatal)
		rig_die("an object cannot be made");
	if ((qp && ibv_destroy_qp(qp)) || (own && ibv_destroy_srq(own)) ||
	    (ah && ibv_destroy_ah(ah)) || (own_cq && ibv_destroy_cq(own_cq)) ||
	    (mr && ibv_dereg_mr(mr)))
		rig_die("an object cannot be destroyed");
	return whole;
}

static void *churn(void *arg)
{
	unsigned n = (unsigned)(uintptr_t)arg;
	char memory[SMALL];

	/* It polls, too: where the others wait for a processor, its completions fill the CQ. */
	while (!over && live(cqs[n % phase->cqs], memory)) {
		progress(n);
		usleep(500);
	}
	return NULL;
}

static void *watch(void *arg)
{
	struct pollfd p = {.fd = rig.ctx->async_fd, .events = POLLIN};
	struct ibv_async_event event;

	(void)arg;
	while (!over) {
		if (poll(&p, 1, 5) <= 0 || ibv_get_async_event(rig.ctx, &event))
			continue;
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			seen_fatal = true;
		async_events++;
		ibv_ack_async_event(&event);
	}
	return NULL;
}

/* ---- a phase ---- */

static struct ibv_qp *make_qp(unsigned send_cq, unsigned recv_cq, struct ibv_srq *from)
{
	struct ibv_qp_init_attr_ex attr = {.send_cq = cqs[send_cq % phase->cqs],
					   .recv_cq = cqs[recv_cq % phase->cqs],
					   .srq = from,
					   .qp_type = IBV_QPT_RC,
					   .cap = {.max_send_wr = RIG_DEPTH,
						   .max_recv_wr = RIG_DEPTH,
						   .max_send_sge = 1,
						   .max_recv_sge = 1,
						   .max_inline_data = SMALL},
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = rig.pd};
	struct ibv_qp *qp;

	if (phase->builders) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	}
	qp = ibv_create_qp_ex(rig.ctx, &attr);

	if (!qp)
		rig_die("QP");
	return qp;
}

static void no_waiting(int fd)
{
	if (fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK))
		rig_die("fcntl");
}

static struct ibv_cq *extended_cq(unsigned i)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 4096, .wc_flags = IBV_WC_STANDARD_FLAGS};

	cqs_ex[i] = ibv_create_cq_ex(rig.ctx, &attr);
	if (!cqs_ex[i])
		rig_die("ibv_create_cq_ex");
	return ibv_cq_ex_to_cq(cqs_ex[i]);
}

static void make_queues(void)
{
	struct ibv_srq_init_attr srq_attr = {.attr = {.max_wr = SRQ_DEPTH, .max_sge = 1}};

	for (unsigned i = 0; i < phase->cqs; i++) {
		/* room for all that can be outstanding, the churners' included */
		cqs[i] = phase->extended ? extended_cq(i) : rig_cq_with_events(&rig, 4096);
		if (phase->events && ibv_req_notify_cq(cqs[i], 0))
			rig_die("ibv_req_notify_cq");
	}
	srq = phase->srq ? ibv_create_srq(rig.pd, &srq_attr) : NULL;
	if (phase->srq && !srq)
		rig_die("SRQ");
	if (rig.channel)
		no_waiting(rig.channel->fd);
	no_waiting(rig.ctx->async_fd);
	for (unsigned i = 0; i < phase->pairs; i++) {
		struct pair *p = &pairs[i];

		p->qp[0] = make_qp(i, i + 1, NULL);
		p->qp[1] = make_qp(i + 1, i + 2, srq);
		rig_connect(&rig, p->qp[0], p->qp[1]->qp_num);
		rig_connect(&rig, p->qp[1], p->qp[0]->qp_num);
	}
}

static void destroy_queues(void)
{
	for (unsigned i = 0; i < phase->pairs; i++)
		if (ibv_destroy_qp(pairs[i].qp[0]) || ibv_destroy_qp(pairs[i].qp[1]))
			rig_die("ibv_destroy_qp");
	if (srq && ibv_destroy_srq(srq))
		rig_die("ibv_destroy_srq");
	for (unsigned i = 0; i < phase->cqs; i++)
		if (ibv_destroy_cq(cqs[i]))
			rig_die("ibv_destroy_cq");
}

static pthread_t begin(void *(*f)(void *), unsigned n)
{
	pthread_t t;

	if (pthread_create(&t, NULL, f, (void *)(uintptr_t)n))
		rig_die("pthread_create");
	return t;
}

static bool half_done(void *arg)
{
	(void)arg;
	return completed > TOTAL / 2;
}

static bool heard_of_it(void *arg)
{
	(void)arg;
	return seen_fatal;
}

static void kill_daemon(void)
{
	struct rig_daemon d;

	rig_daemon(&d);
	if (!rig_until(half_done, NULL, DEADLINE_S) || kill(d.pid, SIGKILL))
		rig_die("kill");
	if (!rig_until(heard_of_it, NULL, 120))
		rig_die("no DEVICE_FATAL");
}

static void run_threads(void)
{
	pthread_t workers[THREADS], churners[CHURNERS], watcher = begin(watch, 0);

	for (unsigned i = 0; i < THREADS; i++)
		workers[i] = begin(work, i);
	for (unsigned i = 0; phase->churn && i < CHURNERS; i++)
		churners[i] = begin(churn, i);
	if (phase->fatal)
		kill_daemon();
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(workers[i], NULL);
	over = true;
	for (unsigned i = 0; phase->churn && i < CHURNERS; i++)
		pthread_join(churners[i], NULL);
	pthread_join(watcher, NULL);
}

static void run(const struct phase *p)
{
	double start = rig_seconds();

	phase = p;
	posted = completed = successes = async_events = 0;
	posting = THREADS;
	over = seen_fatal = false;
	memset((void *)sent, 0, sizeof(sent));
	memset((void *)received, 0, sizeof(received));
	memset((void *)arrived, 0, sizeof(arrived));
	rig_open(&rig, 16, (size_t)2 * TOTAL * SLOT);
	make_queues();
	run_threads();
	if (!phase->fatal && successes != 2 * TOTAL)
		rig_die("%u of %u requests", successes, 2 * TOTAL);
	destroy_queues();
	rig_close(&rig);
	printf("%s: %u requests, %u successes, %u async events, %.1f s\n", p->name, posted,
	       successes, async_events, rig_seconds() - start);
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++)
		run(&phases[i]);
	return 0;
}
