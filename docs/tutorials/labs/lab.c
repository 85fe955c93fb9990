/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* dladdr */
#include "lab.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_S 2
#define QUIET_S    0.02 /* so long after a completion another one would have come */
#define ENDS_S     10   /* all of the program; UHCA_LAB_SECONDS is another number */
#define FRAMES     64

const struct lab_knobs lab_patient = {
	.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 1};

static bool all_ok = true;
static uint32_t first_psn; /* of the next connection: packets of an earlier one do not fit */

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	printf("not yet: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- a program that crashes, or does not end ---- */

static bool is_ours(const void *at, uintptr_t *offset)
{
	Dl_info here, there;

	if (!dladdr((void *)is_ours, &here) || !dladdr(at, &there))
		return false;
	*offset = (uintptr_t)at - (uintptr_t)there.dli_fbase;
	return here.dli_fbase == there.dli_fbase;
}

/*
 * The signal, and where the program was: places in its file, innermost first. Those of the handler
 * are left out; behind them stands the C library's return from it, and then where it was.
 */
static void print_places(int fd, int number)
{
	void *frame[FRAMES];
	int n = backtrace(frame, FRAMES), i = 0;
	uintptr_t offset;

	dprintf(fd, "signal %d\n", number);
	while (i < n && is_ours(frame[i], &offset))
		i++;
	for (int first = ++i; i < n; i++)
		if (is_ours(frame[i], &offset))
			dprintf(fd, "at 0x%lx\n",
				(unsigned long)(i == first ? offset : offset - 1));
}

static void on_end(int number)
{
	int fd = open(getenv("UHCA_LAB_END"), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd >= 0)
		print_places(fd, number);
	if (number == SIGALRM)
		_exit(2);
	signal(number, SIG_DFL);
	raise(number);
}

/* scripts/lab says the source line, for which it names a file in UHCA_LAB_END. */
__attribute__((constructor)) static void watch_end(void)
{
	static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGALRM};
	static char room[65536]; /* where the program's own stack is used up */
	struct sigaction act = {.sa_handler = on_end, .sa_flags = SA_ONSTACK | SA_NODEFER};
	stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
	const char *seconds = getenv("UHCA_LAB_SECONDS");
	void *frame[1];

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!getenv("UHCA_LAB_END"))
		return;
	backtrace(frame, 1); /* loads what it needs */
	sigaltstack(&stack, NULL);
	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &act, NULL);
	alarm(seconds ? (unsigned)atoi(seconds) : ENDS_S);
}

/* ---- objects ---- */

void lab_open_device(struct lab *l, unsigned n)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);

	must(list && (unsigned)count > n,
	     "there is no RDMA device; run it with scripts/lab or uhca-run");
	l->ctx = ibv_open_device(list[n]);
	must(l->ctx != NULL, "ibv_open_device");
	ibv_free_device_list(list);
	l->pd = ibv_alloc_pd(l->ctx);
	must(l->pd != NULL, "ibv_alloc_pd");
	must(ibv_query_gid(l->ctx, 1, 0, &l->gid) == 0, "ibv_query_gid");
}

void lab_open(struct lab *l)
{
	lab_open_device(l, 0);
}

/* A destroy says its error as its result. */
static void must_end(int error, const char *what)
{
	errno = error;
	must(error == 0, what);
}

void lab_close(struct lab *l)
{
	must_end(ibv_dealloc_pd(l->pd),
		 "the protection domain cannot go: is something of yours left in it");
	must_end(ibv_close_device(l->ctx), "ibv_close_device");
}

void lab_end_open(struct lab *l, struct lab_end *e, int access)
{
	struct ibv_qp_init_attr attr = {.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = LAB_DEPTH,
						.max_recv_wr = LAB_DEPTH,
						.max_send_sge = 1,
						.max_recv_sge = 1}};

	e->memory = aligned_alloc(4096, LAB_MEMORY);
	must(e->memory != NULL, "memory");
	memset(e->memory, 0, LAB_MEMORY);
	e->mr = ibv_reg_mr(l->pd, e->memory, LAB_MEMORY, access);
	must(e->mr != NULL, "ibv_reg_mr");
	e->cq = ibv_create_cq(l->ctx, 2 * LAB_DEPTH, NULL, NULL, 0);
	must(e->cq != NULL, "ibv_create_cq");
	attr.send_cq = attr.recv_cq = e->cq;
	e->qp = ibv_create_qp(l->pd, &attr);
	must(e->qp != NULL, "ibv_create_qp");
}

void lab_end_close(struct lab_end *e)
{
	must_end(ibv_destroy_qp(e->qp), "ibv_destroy_qp");
	must_end(ibv_destroy_cq(e->cq), "ibv_destroy_cq");
	must_end(ibv_dereg_mr(e->mr), "the region cannot go: is a window of yours bound to it");
	free(e->memory);
}

/* ---- connection: the states of a queue pair (IBTA vol. 1, 10.3.1) ---- */

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
						      IBV_ACCESS_REMOTE_READ |
						      IBV_ACCESS_REMOTE_ATOMIC};

	errno = ibv_modify_qp(qp, &reset, IBV_QP_STATE);
	must(errno == 0, "a queue pair cannot go to RESET");
	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	must(errno == 0, "a queue pair cannot go to INIT");
}

/* It may receive from now on: it knows who is at the other end. */
static void to_rtr(const struct ibv_global_route *route, struct ibv_qp *qp, uint32_t peer,
		   const struct lab_knobs *k)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_1024,
				   .dest_qp_num = peer,
				   .rq_psn = first_psn,
				   .max_dest_rd_atomic = 4,
				   .min_rnr_timer = k->min_rnr_timer,
				   .ah_attr = {.is_global = 1, .port_num = 1, .grh = *route}};

	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				      IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				      IBV_QP_MIN_RNR_TIMER);
	must(errno == 0, "a queue pair cannot go to RTR");
}

static void to_rts(struct ibv_qp *qp, const struct lab_knobs *k)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .timeout = k->timeout,
				   .retry_cnt = k->retry_cnt,
				   .rnr_retry = k->rnr_retry,
				   .max_rd_atomic = 4,
				   .sq_psn = first_psn};

	errno = ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				      IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	must(errno == 0, "a queue pair cannot go to RTS");
}

/* What is left of an earlier connection. */
static void empty(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc) > 0)
		;
}

void lab_connect(struct lab *l, struct lab_end *a, struct lab_end *b, const struct lab_knobs *k)
{
	const struct ibv_global_route route = {.dgid = l->gid, .hop_limit = 64};

	to_init(a->qp);
	if (b != a)
		to_init(b->qp);
	empty(a->cq);
	empty(b->cq);
	to_rtr(&route, a->qp, b->qp->qp_num, k);
	if (b != a)
		to_rtr(&route, b->qp, a->qp->qp_num, k);
	to_rts(a->qp, k);
	if (b != a)
		to_rts(b->qp, k);
	first_psn += 0x1000;
}

void lab_connect_apart(struct lab *la, struct lab_end *a, struct lab *lb, struct lab_end *b,
		       uint32_t flow_label, uint8_t traffic_class)
{
	struct ibv_global_route there = {.dgid = lb->gid,
					 .flow_label = flow_label,
					 .hop_limit = 64,
					 .traffic_class = traffic_class};
	struct ibv_global_route back = there;

	back.dgid = la->gid;
	to_init(a->qp);
	to_init(b->qp);
	to_rtr(&there, a->qp, b->qp->qp_num, &lab_patient);
	to_rtr(&back, b->qp, a->qp->qp_num, &lab_patient);
	to_rts(a->qp, &lab_patient);
	to_rts(b->qp, &lab_patient);
	first_psn += 0x1000;
}

/* ---- work ---- */

struct ibv_sge lab_part(const struct lab_end *e, uint32_t offset, uint32_t length)
{
	return (struct ibv_sge){(uintptr_t)e->memory + offset, length, e->mr->lkey};
}

void lab_recv(struct lab_end *e, uint64_t wr_id, uint32_t offset, uint32_t length)
{
	struct ibv_sge sge = lab_part(e, offset, length);
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = 1}, *bad;

	errno = ibv_post_recv(e->qp, &wr, &bad);
	must(errno == 0, "ibv_post_recv");
}

static const char *opcode_name(enum ibv_wr_opcode opcode)
{
	static const char *const name[] = {[IBV_WR_RDMA_WRITE] = "RDMA_WRITE",
					   [IBV_WR_RDMA_WRITE_WITH_IMM] = "RDMA_WRITE_WITH_IMM",
					   [IBV_WR_SEND] = "SEND",
					   [IBV_WR_SEND_WITH_IMM] = "SEND_WITH_IMM",
					   [IBV_WR_RDMA_READ] = "RDMA_READ",
					   [IBV_WR_ATOMIC_CMP_AND_SWP] = "ATOMIC_CMP_AND_SWP",
					   [IBV_WR_ATOMIC_FETCH_AND_ADD] = "ATOMIC_FETCH_AND_ADD",
					   [IBV_WR_LOCAL_INV] = "LOCAL_INV",
					   [IBV_WR_BIND_MW] = "BIND_MW",
					   [IBV_WR_SEND_WITH_INV] = "SEND_WITH_INV"};
	unsigned i = opcode;

	return i < sizeof(name) / sizeof(name[0]) && name[i] ? name[i] : "unknown opcode";
}

void lab_post(struct lab_end *e, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	errno = ibv_post_send(e->qp, wr, &bad);
	if (errno == 0)
		return;
	printf("not yet: ibv_post_send refuses a request (%s, num_sge %d, send_flags 0x%x): %s\n",
	       opcode_name(wr->opcode), wr->num_sge, wr->send_flags, strerror(errno));
	exit(2);
}

void lab_send(struct lab_end *e, uint64_t wr_id, uint32_t offset, uint32_t length)
{
	struct ibv_sge sge = lab_part(e, offset, length);
	struct ibv_send_wr wr = {.wr_id = wr_id,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED};

	lab_post(e, &wr);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Whether a completion came in so many seconds. */
static bool wait_for(struct lab_end *e, struct ibv_wc *wc, double seconds)
{
	double end = now() + seconds;
	int n;

	wc->status = IBV_WC_GENERAL_ERR;
	do {
		n = ibv_poll_cq(e->cq, 1, wc);
		must(n >= 0, "ibv_poll_cq");
	} while (n == 0 && now() < end);
	return n == 1;
}

bool lab_wait(struct lab_end *e, struct ibv_wc *wc)
{
	return wait_for(e, wc, DEADLINE_S);
}

bool lab_is_quiet(struct lab_end *e)
{
	struct ibv_wc wc;

	return !wait_for(e, &wc, QUIET_S);
}

const char *lab_status(struct lab_end *e, struct ibv_wc *wc)
{
	return lab_wait(e, wc) ? ibv_wc_status_str(wc->status) : "nothing";
}

void lab_counters(const char *name, uint64_t *each, unsigned devices)
{
	FILE *f = popen("uhcactl counters", "r");
	char line[512], word[64];
	bool found = false;

	must(f != NULL, "uhcactl counters");
	memset(each, 0, devices * sizeof(*each));
	while (fgets(line, sizeof(line), f)) {
		int at = 0, next = 0;
		unsigned long long n;

		if (sscanf(line, "%63s%n", word, &at) != 1 || strcmp(word, name) != 0)
			continue;
		found = true;
		for (unsigned i = 0; i < devices && sscanf(line + at, "%llu%n", &n, &next) == 1;
		     i++, at += next)
			each[i] += n;
	}
	pclose(f);
	if (!found) {
		printf("not yet: uhcactl counters has no such counter: %s\n", name);
		exit(2);
	}
}

uint64_t lab_counter(const char *name)
{
	uint64_t each[64], sum = 0;

	lab_counters(name, each, 64);
	for (unsigned i = 0; i < 64; i++)
		sum += each[i];
	return sum;
}

/* ---- judgement ---- */

bool lab_check(bool ok, const char *format, ...)
{
	va_list ap;

	printf("%s: ", ok ? "ok" : "not yet");
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	putchar('\n');
	all_ok &= ok;
	return ok;
}

int lab_result(void)
{
	return all_ok ? 0 : 1;
}
