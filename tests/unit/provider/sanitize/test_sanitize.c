/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sanitizer behind the real libibverbs: programs that err, as seen by a collector in this
 * process, and programs that do not, of which it hears nothing.
 */
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/abi/sanitize.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FINDINGS 16u

/* What was found since it was last asked. */
static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t heard; /* a line is kept */
	int listen_fd;
	unsigned n;
	char line[FINDINGS][UHCA_SANITIZE_LINE];
} collector = {.lock = PTHREAD_MUTEX_INITIALIZER, .heard = PTHREAD_COND_INITIALIZER};
static const char *program;

/* ---- the collector ---- */

static void keep(const char *line)
{
	pthread_mutex_lock(&collector.lock);
	if (collector.n < FINDINGS)
		strcpy(collector.line[collector.n++], line);
	pthread_cond_broadcast(&collector.heard);
	pthread_mutex_unlock(&collector.lock);
}

/* How many there are, of which *line is the first; none any more after that. */
static unsigned take_lines(const char **line)
{
	static char first[UHCA_SANITIZE_LINE];
	unsigned n;

	pthread_mutex_lock(&collector.lock);
	n = collector.n;
	if (n)
		strcpy(first, collector.line[0]);
	collector.n = 0;
	pthread_mutex_unlock(&collector.lock);
	*line = first;
	return n;
}

static bool starts(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

/* Hangs are not looked for (hang_after 0): programs here wait where nobody comes. */
static bool answer(int fd, const char *line)
{
	const char *word = strstr(line, "\"setting\":") ? "0\n" : "go\n";

	if (starts(line, "{\"stack\":") || starts(line, "{\"note\":"))
		return true; /* for findings of other processes */
	if (starts(line, "{\"unseen\":"))
		return true; /* of the machine, not of the program */
	if (strstr(line, "\"setting\":") == NULL)
		keep(line);
	return strstr(line, "\"held\":") || write(fd, word, strlen(word)) == (ssize_t)strlen(word);
}

/* All lines of a connection; who is held back has no answer, nor has what is left for others. */
static void *hear(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char *line = malloc(UHCA_SANITIZE_LINE);
	size_t n = 0;

	while (line && n < UHCA_SANITIZE_LINE && read(fd, line + n, 1) == 1) {
		if (line[n++] != '\n')
			continue;
		line[n - 1] = '\0';
		n = 0;
		if (!answer(fd, line))
			break;
	}
	free(line);
	close(fd);
	return NULL;
}

static void *collect(void *arg)
{
	pthread_t thread;
	int fd;

	(void)arg;
	while ((fd = accept(collector.listen_fd, NULL, NULL)) >= 0)
		if (!pthread_create(&thread, NULL, hear, (void *)(intptr_t)fd))
			pthread_detach(thread);
	return NULL;
}

static int collector_start(void **state)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};

	(void)state;
	snprintf(at.sun_path, sizeof(at.sun_path), "%s/collector", getenv("UHCA_DIR"));
	collector.listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(collector.listen_fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(collector.listen_fd, 8), 0);
	assert_int_equal(setenv(UHCA_SANITIZE_SOCKET_ENV, at.sun_path, 1), 0);
	return pthread_create(&collector.thread, NULL, collect, NULL);
}

static int collector_stop(void **state)
{
	(void)state;
	shutdown(collector.listen_fd, SHUT_RDWR);
	pthread_join(collector.thread, NULL);
	unlink(getenv(UHCA_SANITIZE_SOCKET_ENV));
	return close(collector.listen_fd);
}

static void expect_nothing(void)
{
	const char *line;

	if (take_lines(&line))
		fail_msg("%s", line);
}

/* One finding: of this check, and with these words. */
static void expect(const char *check, const char *words)
{
	const char *line;
	char start[64];

	snprintf(start, sizeof(start), "{\"check\":\"%s\",", check);
	assert_int_equal(take_lines(&line), 1);
	if (strncmp(line, start, strlen(start)) || !strstr(line, words))
		fail_msg("no %s with '%s': %s", check, words, line);
}

/* ---- what programs do ---- */

static void receive(struct verbs_fixture *f, uint32_t offset)
{
	struct ibv_sge sge = {(uintptr_t)f->memory + offset, 64, f->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = offset, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(f->qp, &wr, &bad), 0);
}

static void send_at(struct verbs_fixture *f, uint32_t offset)
{
	struct ibv_sge sge = {(uintptr_t)f->memory + offset, 64, f->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	assert_int_equal(ibv_post_send(f->qp, &wr, &bad), 0);
}

static void complete(struct verbs_fixture *f, uint32_t index, uint8_t status)
{
	struct uhca_abi_cqe e = {.qpn = f->qp->qp_num,
				 .opcode = UHCA_ABI_WC_SEND,
				 .status = status,
				 .wqe_index = index};

	fake_complete(fake_newest(&f->daemon, UHCA_ABI_REGION_CQ), &e);
}

static void poll_one(struct verbs_fixture *f)
{
	struct ibv_wc wc;

	assert_int_equal(ibv_poll_cq(f->cq, 1, &wc), 1);
}

static void test_send_changed(void **state)
{
	struct verbs_fixture *f = *state;

	send_at(f, 0);
	send_at(f, 64);
	complete(f, 0, UHCA_ABI_WC_SUCCESS);
	complete(f, 1, UHCA_ABI_WC_SUCCESS);
	poll_one(f);
	f->memory[0]++; /* has completed; the other has, too, but nobody has seen it */
	expect_nothing();
	f->memory[64]++;
	poll_one(f);
	expect("send-changed", "\"what\":\"a send buffer was changed between the post and its");
}

static void send_with(struct verbs_fixture *f, uint32_t lkey)
{
	uint32_t own = f->mr->lkey;

	f->mr->lkey = lkey;
	send_at(f, 0);
	f->mr->lkey = own;
}

/* The device gives regions two keys, and windows one. */
static void test_swapped(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_mw *mw = ibv_alloc_mw(f->pd, IBV_MW_TYPE_2);

	assert_non_null(mw);
	send_with(f, 0);
	send_with(f, 0xdead00); /* nobody's: the device will say so */
	expect_nothing();
	send_with(f, f->mr->rkey);
	expect("key-swapped", "an element has an R_Key instead of an L_Key");
	send_with(f, mw->rkey + 3);
	expect("key-swapped", "has an R_Key, not an L_Key");
	assert_int_equal(ibv_dealloc_mw(mw), 0);
}

/* The same of a request that is built by calls, whose elements are found in the queue. */
static void test_built(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = f->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp *qp = ibv_create_qp_ex(f->context, &attr), *first = f->qp;
	struct ibv_qp_ex *qpx;

	assert_non_null(qp);
	qpx = ibv_qp_to_qp_ex(qp);
	assert_non_null(qpx);
	verbs_fixture_modify(qp, IBV_QPS_RTS);
	for (unsigned i = 0; i < 2; i++) {
		ibv_wr_start(qpx);
		qpx->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(qpx);
		ibv_wr_set_sge(qpx, f->mr->lkey, (uintptr_t)f->memory + 1000 * i, 64);
		assert_int_equal(ibv_wr_complete(qpx), 0);
	}
	f->qp = qp;
	complete(f, 0, UHCA_ABI_WC_SUCCESS);
	poll_one(f);
	expect_nothing();
	f->memory[1063]++;
	complete(f, 1, UHCA_ABI_WC_SUCCESS);
	poll_one(f);
	expect("send-changed", "a send buffer was changed");
	f->qp = first;
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* Two sends may have the same memory, two receives may not. */
static void test_overlap(void **state)
{
	struct verbs_fixture *f = *state;

	send_at(f, 0);
	send_at(f, 0);
	receive(f, 1000);
	receive(f, 1064);
	expect_nothing();
	receive(f, 1063);
	expect("recv-overlap", "a receive names memory of another outstanding receive");
}

static void receive_as(struct verbs_fixture *f, uint64_t wr_id)
{
	static uint32_t offset;
	struct ibv_sge sge = {(uintptr_t)f->memory + offset, 64, f->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	offset = (offset + 64) % FIXTURE_MEMORY;
	assert_int_equal(ibv_post_recv(f->qp, &wr, &bad), 0);
}

/* One pointer for all is the queue's; numbers, and what points nowhere, name nothing. */
static void test_wr_id(void **state)
{
	struct verbs_fixture *f = *state;
	uint64_t nowhere = UINT64_C(1) << 60;

	receive_as(f, (uintptr_t)f);
	receive_as(f, (uintptr_t)f);
	receive_as(f, 7);
	receive_as(f, 7);
	receive_as(f, nowhere);
	receive_as(f, nowhere);
	expect_nothing();
	receive_as(f, (uintptr_t)f);
	expect("wr-id-reused", "a request reuses a wr_id, a pointer, of an outstanding request");
}

static void *poll_once(void *cq)
{
	struct ibv_wc wc;

	return ibv_poll_cq(cq, 1, &wc) < 0 ? cq : NULL;
}

static void poll_elsewhere(struct ibv_cq *cq)
{
	pthread_t thread;
	void *failed;

	assert_int_equal(pthread_create(&thread, NULL, poll_once, cq), 0);
	assert_int_equal(pthread_join(thread, &failed), 0);
	assert_null(failed);
}

/* A queue of one thread may be used by others, but by one at a time. */
static void test_threads(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_cq_init_attr_ex attr = {.cqe = 4,
					   .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
					   .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED};
	struct ibv_cq_ex *ex = ibv_create_cq_ex(f->context, &attr);
	struct ibv_cq *cq;
	struct uhca_abi_cqe e = {.opcode = UHCA_ABI_WC_SEND};

	assert_non_null(ex);
	cq = ibv_cq_ex_to_cq(ex);
	poll_elsewhere(cq);
	poll_elsewhere(cq);
	fake_complete(fake_newest(&f->daemon, UHCA_ABI_REGION_CQ), &e);
	assert_int_equal(ibv_start_poll(ex, &(struct ibv_poll_cq_attr){0}), 0);
	expect_nothing();
	poll_elsewhere(cq);
	expect("threads-clash", "two threads use a single-threaded object at once");
	ibv_end_poll(ex);
	poll_elsewhere(cq);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	expect_nothing();
}

/* What is of one thread domain is used by one thread at a time, all of it. */
static void test_thread_domain(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_td *td = ibv_alloc_td(f->context, &(struct ibv_td_init_attr){0});
	struct ibv_parent_domain_init_attr domain = {.pd = f->pd, .td = td};
	struct ibv_pd *pd = ibv_alloc_parent_domain(f->context, &domain);
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = pd};
	struct ibv_cq_ex *other = ibv_create_cq_ex(f->context, &attr);
	struct ibv_cq_ex *ex = ibv_create_cq_ex(f->context, &attr);
	struct uhca_abi_cqe e = {.opcode = UHCA_ABI_WC_SEND};

	assert_non_null(other);
	fake_complete(fake_newest(&f->daemon, UHCA_ABI_REGION_CQ), &e);
	assert_int_equal(ibv_start_poll(ex, &(struct ibv_poll_cq_attr){0}), 0);
	poll_elsewhere(f->cq); /* of no domain */
	expect_nothing();
	poll_elsewhere(ibv_cq_ex_to_cq(other));
	expect("threads-clash", "two threads use objects of one thread domain at once");
	ibv_end_poll(ex);
	poll_elsewhere(ibv_cq_ex_to_cq(other));
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(ex)), 0);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(other)), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_dealloc_td(td), 0);
	expect_nothing();
}

static void *start_poll(void *cq)
{
	return (void *)(intptr_t)ibv_start_poll(cq, &(struct ibv_poll_cq_attr){0});
}

static void test_destroy(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_cq_init_attr_ex attr = {.cqe = 4};
	struct ibv_cq_ex *ex = ibv_create_cq_ex(f->context, &attr);
	struct uhca_abi_cqe e = {.opcode = UHCA_ABI_WC_SEND};
	pthread_t thread;
	void *err;

	assert_non_null(ex);
	assert_int_equal(ibv_start_poll(ex, &(struct ibv_poll_cq_attr){0}), ENOENT);
	ibv_end_poll(ex); /* a mistake, and none that hides the next one */
	fake_complete(fake_newest(&f->daemon, UHCA_ABI_REGION_CQ), &e);
	assert_int_equal(pthread_create(&thread, NULL, start_poll, ex), 0);
	assert_int_equal(pthread_join(thread, &err), 0);
	assert_null(err);
	f->daemon.fail[UHCA_CMD_DESTROY_CQ] = -EINVAL; /* so that it can end its poll */
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(ex)), EINVAL);
	expect("destroy-posting", "an object is destroyed while another thread is in a call");
	f->daemon.fail[UHCA_CMD_DESTROY_CQ] = 0;
	ibv_end_poll(ex);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(ex)), 0);
	expect_nothing();
}

/* What one end is told of time, alone and in one finding. */
static void test_retries(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_qp_attr attr = {.timeout = 14, .retry_cnt = 7, .rnr_retry = 6};
	const int mask = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY;

	assert_int_equal(ibv_modify_qp(f->qp, &attr, mask), 0);
	expect_nothing();
	attr.timeout = 31;
	attr.rnr_retry = 7;
	assert_int_equal(ibv_modify_qp(f->qp, &attr, mask), 0);
	expect("conn-retries", "each retry waits 2 hours 26 minutes\",\"rnr_retry 7: a SEND that");
	assert_int_equal(ibv_modify_qp(f->qp, &attr, 0), 0); /* the mask names none of it */
	expect_nothing();
}

/* The fixture's end is connected, with whom is no matter. */
static void connect_it(struct verbs_fixture *f)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .ah_attr = {.is_global = 1, .port_num = 1}};

	assert_int_equal(ibv_modify_qp(f->qp, &attr, IBV_QP_STATE | IBV_QP_AV), 0);
}

/* Two ends that fit, as the daemon has them. */
static struct uhca_cmd_query_peer_reply both(const struct verbs_fixture *f)
{
	struct uhca_cmd_query_peer_reply r = {.found = UHCA_ABI_PEER_KNOWN, .names_back = 1};

	r.mine = (struct uhca_abi_end){.guid = 1,
				       .device = "uhca0",
				       .qpn = f->qp->qp_num,
				       .qp_type = IBV_QPT_RC,
				       .attr = {.qp_state = IBV_QPS_RTS, .path_mtu = IBV_MTU_1024}};
	r.peer = r.mine;
	r.peer.guid = 2;
	r.peer.qpn = 0x77;
	r.peer.attr.dest_qp_num = r.mine.qpn;
	r.mine.attr.dest_qp_num = r.peer.qpn;
	return r;
}

/* Both are looked at when one posts, and the daemon is asked with fewer and fewer posts. */
static void test_mismatch(void **state)
{
	struct verbs_fixture *f = *state;
	const unsigned *asked = &f->daemon.calls[UHCA_CMD_QUERY_PEER];

	f->daemon.peer = both(f);
	f->daemon.peer.peer.attr.qp_state = IBV_QPS_INIT;
	f->daemon.peer.mine.attr.sq_psn = 6;
	connect_it(f);
	for (unsigned i = 0; i < 5; i++)
		send_at(f, 0); /* the other has not been told yet */
	expect_nothing();
	assert_int_equal(*asked, 3);
	f->daemon.peer.peer.attr.qp_state = IBV_QPS_RTS;
	connect_it(f);
	send_at(f, 0);
	expect("conn-mismatch", "has sq_psn 0x6, QP");
	send_at(f, 0);
	assert_int_equal(*asked, 4);
	expect_nothing();
}

static void test_match(void **state)
{
	struct verbs_fixture *f = *state;
	const unsigned *asked = &f->daemon.calls[UHCA_CMD_QUERY_PEER];

	f->daemon.peer = both(f);
	connect_it(f);
	send_at(f, 0);
	send_at(f, 0);
	assert_int_equal(*asked, 1);
	f->daemon.peer.found = UHCA_ABI_PEER_OTHERS; /* of whom nothing is told */
	f->daemon.peer.peer.attr.path_mtu = IBV_MTU_512;
	connect_it(f);
	send_at(f, 0);
	expect_nothing();
}

static void test_crossed(void **state)
{
	struct verbs_fixture *f = *state;

	f->daemon.peer = both(f);
	f->daemon.peer.names_back = 0;
	f->daemon.peer.peer.attr.dest_qp_num = 0x1234;
	f->daemon.peer.mine.qp_type = IBV_QPT_UC; /* a packet of UC does not say from whom it is */
	connect_it(f);
	send_at(f, 0);
	expect_nothing();
	f->daemon.peer.mine.qp_type = IBV_QPT_RC;
	connect_it(f);
	send_at(f, 0);
	expect("conn-mismatch", "which has 0x1234");
}

/* A request has failed, and this is what the daemon knows of it. */
static void fail_with(struct verbs_fixture *f, enum ibv_wc_status status,
		      struct uhca_abi_cause cause)
{
	f->daemon.peer.cause = cause;
	send_at(f, 0);
	complete(f, 0, (uint8_t)status);
	poll_one(f);
}

static void test_failed(void **state)
{
	struct verbs_fixture *f = *state;

	f->daemon.peer = both(f);
	fail_with(f, IBV_WC_RNR_RETRY_EXC_ERR,
		  (struct uhca_abi_cause){.kind = UHCA_ABI_CAUSE_NO_RECEIVE});
	expect("recv-missing", "\"cause\":[");
}

/* Of one that has answered before it is no mistake that it ends: it is said as a note. */
static void test_unanswered(void **state)
{
	struct verbs_fixture *f = *state;

	f->daemon.peer = both(f);
	f->daemon.peer.found = UHCA_ABI_PEER_ABSENT;
	f->daemon.peer.mine.heard = 1;
	fail_with(f, IBV_WC_RETRY_EXC_ERR, (struct uhca_abi_cause){.kind = UHCA_ABI_CAUSE_NONE});
	expect("completion-failed", "the peer's queue pair is gone");
}

static void test_never_answered(void **state)
{
	struct verbs_fixture *f = *state;

	f->daemon.peer = both(f);
	f->daemon.peer.found = UHCA_ABI_PEER_ABSENT;
	f->daemon.peer.partner = 0x99;
	fail_with(f, IBV_WC_RETRY_EXC_ERR, (struct uhca_abi_cause){.kind = UHCA_ABI_CAUSE_NONE});
	expect("conn-unanswered", "QP 0x99 of  names it as its peer");
}

/* Arms, and waits for the event that the device raises. */
static void arm_and_wait(struct verbs_fixture *f, int solicited_only)
{
	struct ibv_cq *cq;
	void *context;

	assert_int_equal(ibv_req_notify_cq(f->cq, solicited_only), 0);
	fake_comp_event(&f->daemon, fake_newest(&f->daemon, UHCA_ABI_REGION_CQ));
	assert_int_equal(ibv_get_cq_event(f->channel, &cq, &context), 0);
	ibv_ack_cq_events(cq, 1);
}

static void test_lost_wakeup(void **state)
{
	struct verbs_fixture *f = *state;
	struct uhca_abi_cq *page = (void *)fake_newest(&f->daemon, UHCA_ABI_REGION_CQ)->base;

	arm_and_wait(f, 0); /* nothing waits */
	page->comp_events = 1;
	expect_nothing();
	send_at(f, 0);
	send_at(f, 0);
	complete(f, 0, UHCA_ABI_WC_SUCCESS);
	arm_and_wait(f, 1); /* what waits is not what it waits for */
	page->comp_events = 2;
	expect_nothing();
	complete(f, 1, UHCA_ABI_WC_RETRY_EXC_ERR); /* that is */
	arm_and_wait(f, 1);
	expect("lost-wakeup", "the program waited for an event while a completion");
}

static void fork_once(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_fork(void **state)
{
	struct verbs_fixture *f = *state;

	if (ibv_is_fork_initialized() != IBV_FORK_DISABLED)
		skip(); /* nothing need be done here: RDMAV_FORK_SAFE, or memory that is copied */
	fork_once();
	expect("fork-unsafe", "1 regions are registered");
	assert_int_equal(ibv_dereg_mr(f->mr), 0);
	f->mr = NULL;
	fork_once();
	expect_nothing();
}

/* Who cannot be destroyed is told with what stands on it, and stays as it is. */
static void test_busy(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh.dgid.raw = {[15] = 1}};
	struct ibv_pd *pd = ibv_alloc_pd(f->context);
	struct ibv_ah *ah;

	assert_non_null(pd);
	f->daemon.fail[UHCA_CMD_CREATE_AH] = -ENOMEM;
	assert_null(ibv_create_ah(pd, &attr));
	f->daemon.fail[UHCA_CMD_CREATE_AH] = 0;
	ah = ibv_create_ah(pd, &attr);
	assert_non_null(ah);
	f->daemon.fail[UHCA_CMD_DEALLOC_PD] = -EBUSY;
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	expect("object-busy", ": 1 objects of this process use it");
	f->daemon.fail[UHCA_CMD_DEALLOC_PD] = 0;
	assert_int_equal(ibv_destroy_ah(ah), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	expect_nothing();
}

static void test_extended_cq(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_cq_init_attr_ex attr = {.cqe = 4};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(f->context, &attr);

	assert_non_null(cq);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	f->daemon.fail[UHCA_CMD_CREATE_CQ] = -ENOMEM;
	assert_null(ibv_create_cq_ex(f->context, &attr));
	f->daemon.fail[UHCA_CMD_CREATE_CQ] = 0;
	expect_nothing();
}

/* Another process, which ends with objects of two kinds. */
static int leave_behind(void)
{
	struct ibv_context *c = verbs_fixture_open();
	struct ibv_pd *pd = ibv_alloc_pd(c);
	struct ibv_cq *cq = ibv_create_cq(c, 4, NULL, NULL, 0);

	return !pd || !cq;
}

/* With the lock. */
static bool is_left(const char *kind)
{
	for (unsigned i = 0; i < collector.n; i++)
		if (strstr(collector.line[i], "{\"check\":\"left-at-exit\",") &&
		    strstr(collector.line[i], kind))
			return true;
	return false;
}

/* The lines of a process that has ended may still be on their way. */
static bool hear_of_left(void)
{
	struct timespec until;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 30;
	pthread_mutex_lock(&collector.lock);
	while (!err && !(is_left("protection domain") && is_left("completion queue")))
		err = pthread_cond_timedwait(&collector.heard, &collector.lock, &until);
	collector.n = 0;
	pthread_mutex_unlock(&collector.lock);
	return !err;
}

static void test_left_at_exit(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		setenv(UHCA_SANITIZE_ENV, "left-at-exit", 1);
		setenv("ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0",
		       1); /* it leaves */
		execl(program, program, "leaves", (char *)NULL);
		_exit(99);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_true(hear_of_left());
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_send_changed),  TEST(test_swapped),        TEST(test_built),
		TEST(test_overlap),       TEST(test_wr_id),          TEST(test_threads),
		TEST(test_thread_domain), TEST(test_retries),        TEST(test_mismatch),
		TEST(test_match),         TEST(test_crossed),        TEST(test_failed),
		TEST(test_unanswered),    TEST(test_never_answered), TEST(test_destroy),
		TEST(test_lost_wakeup),   TEST(test_fork),           TEST(test_busy),
		TEST(test_extended_cq),   TEST(test_left_at_exit),
	};

	program = argv[0];
	if (argc > 1)
		return leave_behind();
	with_preload(argv, 1);
	setenv(UHCA_SANITIZE_ENV, "all,-left-at-exit", 1);
	return cmocka_run_group_tests(tests, collector_start, collector_stop);
}
