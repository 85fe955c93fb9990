/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEADLINE_S 120

void rig_die(const char *format, ...)
{
	int saved = errno;
	va_list ap;

	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, " (errno: %s)\n", strerror(saved));
	exit(1);
}

/* ---- options ---- */

static const struct option known[] = {
	{"clients", required_argument, NULL, 'c'},     {"device", required_argument, NULL, 'd'},
	{"end", required_argument, NULL, 'e'},         {"help", no_argument, NULL, 'h'},
	{"peer-device", required_argument, NULL, 'p'}, {"peer-dir", required_argument, NULL, 'P'},
	{"rounds", required_argument, NULL, 'r'},      {"seed", required_argument, NULL, 's'},
	{"socket", required_argument, NULL, 'S'},      {0},
};

static void help(const struct rig_options *o, const char *name)
{
	printf("Usage: %s [OPTION]...\n%s\n"
	       "  --device NAME       the device of the first process (default: the first)\n"
	       "  --peer-device NAME  that of the others (default: the same)\n"
	       "  --peer-dir DIR      UHCA_DIR of the others, when they use another daemon\n"
	       "  --rounds N          how often (default %" PRIu64 ")\n"
	       "  --seed N            of what is random (default %" PRIu64 ")\n",
	       name, o->text, o->rounds, o->seed);
	if (o->clients)
		printf("  --clients N         how many, 1 to %u (default %" PRIu64 ")\n",
		       RIG_ENDS - 1, o->clients);
	printf("  --help              this text\n"
	       "Ends with 0 when everything was as it should be, else with 1.\n");
}

static uint64_t number(const char *text, uint64_t min, uint64_t max)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (end == text || *end || *text == '-' || n < min || n > max) {
		fprintf(stderr, "'%s' is not a number from %" PRIu64 " to %" PRIu64 "\n", text, min,
			max);
		exit(2);
	}
	return n;
}

static bool take_option(struct rig_options *o, int c)
{
	switch (c) {
	case 'c':
		if (o->clients)
			o->clients = number(optarg, 1, RIG_ENDS - 1);
		return o->clients > 0;
	case 'd':
		o->device = optarg;
		return true;
	case 'e':
		o->end = number(optarg, 1, RIG_ENDS - 1);
		return true;
	case 'p':
		o->peer_device = optarg;
		return true;
	case 'P':
		o->peer_dir = optarg;
		return true;
	case 'r':
		o->rounds = number(optarg, 1, 100000);
		return true;
	case 's':
		o->seed = number(optarg, 0, UINT64_MAX);
		return true;
	case 'S':
		o->socket = number(optarg, 3, 1023);
		return true;
	default:
		return false;
	}
}

void rig_options(struct rig_options *o, int argc, char **argv)
{
	const struct rig_options defaults = *o;

	o->argv = argv;
	for (int c; (c = getopt_long(argc, argv, "", known, NULL)) != -1;) {
		if (c == 'h') {
			help(&defaults, argv[0]);
			exit(0);
		}
		if (!take_option(o, c)) {
			fprintf(stderr, "Try %s --help.\n", argv[0]);
			exit(2);
		}
	}
	if (optind < argc || !o->end != !o->socket) {
		fprintf(stderr, "%s: no arguments, only options\n", argv[0]);
		exit(2);
	}
	if (!o->end)
		printf("seed %" PRIu64 "\n", o->seed);
	fflush(stdout);
}

/* ---- processes ---- */

static void move(int fd, void *bytes, size_t size, bool out)
{
	for (size_t done = 0; done < size;) {
		char *at = (char *)bytes + done;
		ssize_t n = out ? send(fd, at, size - done, MSG_NOSIGNAL)
				: recv(fd, at, size - done, 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			rig_die("the other process is gone, or says nothing");
		done += (size_t)n;
	}
}

void rig_swap(struct end *e, unsigned who, const void *mine, void *theirs, size_t size)
{
	char copy[4096];

	if (size > sizeof(copy))
		rig_die("too much to say at once");
	memcpy(copy, mine, size);
	move(e->to[who], copy, size, true);
	move(e->to[who], theirs, size, false);
}

void rig_meet(struct end *e, unsigned who)
{
	char mine = 0, theirs;

	rig_swap(e, who, &mine, &theirs, 1);
}

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	for (struct ibv_device **d = list; d && *d && !context; d++)
		if (!name || !strcmp(ibv_get_device_name(*d), name))
			context = ibv_open_device(*d);
	if (!context)
		rig_die("no device %s", name ? name : "at all");
	ibv_free_device_list(list);
	return context;
}

static void end_open(struct end *e)
{
	const char *name = e->who && e->o->peer_device ? e->o->peer_device : e->o->device;

	e->context = open_device(name);
	e->pd = ibv_alloc_pd(e->context);
	e->cq = ibv_create_cq(e->context, 8 * RIG_WR, NULL, NULL, 0);
	if (!e->pd || !e->cq || ibv_query_gid(e->context, 1, 0, &e->gid))
		rig_die("no protection domain, completion queue or GID");
	errno = uhcadv_query_device(e->context, &e->attr, sizeof(e->attr));
	if (errno)
		rig_die("%s: no direct verbs", ibv_get_device_name(e->context->device));
}

static void end_close(struct end *e)
{
	if (ibv_destroy_cq(e->cq) || ibv_dealloc_pd(e->pd) || ibv_close_device(e->context))
		rig_die("end %u: something of the device is left", e->who);
}

static void end_run(struct end *e, void (*part)(struct end *))
{
	end_open(e);
	part(e);
	end_close(e);
}

static void close_sockets(const struct end *e)
{
	for (unsigned i = 0; i < RIG_ENDS; i++)
		if (e->to[i] >= 0)
			close(e->to[i]);
}

static void run_other(const struct rig_options *o, unsigned who, int fd, void (*part)(struct end *))
{
	struct end e = {.who = who, .o = o};

	memset(e.to, -1, sizeof(e.to));
	e.to[0] = fd;
	end_run(&e, part);
}

/* A program meets its daemon when it is started: for another daemon it is started anew. */
static void start_anew(const struct rig_options *o, unsigned who, int fd)
{
	char *argv[64], end[32], sock[32];
	int n = 0;

	while (o->argv[n] && n < 60) {
		argv[n] = o->argv[n];
		n++;
	}
	snprintf(end, sizeof(end), "--end=%u", who);
	snprintf(sock, sizeof(sock), "--socket=%d", fd);
	argv[n++] = end;
	argv[n++] = sock;
	argv[n] = NULL;
	if (!setenv("UHCA_DIR", o->peer_dir, 1))
		execv("/proc/self/exe", argv);
	rig_die("the program cannot be started for the other daemon");
}

/* Everything of libibverbs happens behind the fork: a device does not like to be inherited. */
static pid_t start(struct end *first, unsigned who, void (*part)(struct end *))
{
	struct timeval limit = {.tv_sec = 2 * DEADLINE_S};
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		rig_die("socketpair");
	for (unsigned i = 0; i < 2; i++)
		setsockopt(pair[i], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	pid = fork();
	if (pid < 0)
		rig_die("fork");
	if (pid == 0) {
		close(pair[0]);
		close_sockets(first);
		if (first->o->peer_dir)
			start_anew(first->o, who, pair[1]);
		run_other(first->o, who, pair[1], part);
		exit(0);
	}
	close(pair[1]);
	first->to[who] = pair[0];
	return pid;
}

int rig_run(const struct rig_options *o, unsigned ends, void (*part)(struct end *))
{
	struct end first = {.o = o};
	pid_t pid[RIG_ENDS];
	int status, bad = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (o->end) {
		run_other(o, (unsigned)o->end, (int)o->socket, part);
		return 0;
	}
	memset(first.to, -1, sizeof(first.to));
	for (unsigned i = 1; i < ends; i++)
		pid[i] = start(&first, i, part);
	end_run(&first, part);
	close_sockets(&first);
	for (unsigned i = 1; i < ends; i++) {
		if (waitpid(pid[i], &status, 0) != pid[i] || status)
			bad = 1;
	}
	return bad;
}

/* ---- objects ---- */

struct ibv_qp *rig_qp(struct end *e)
{
	struct ibv_qp_init_attr_ex attr = {.send_cq = e->cq,
					   .recv_cq = e->cq,
					   .qp_type = IBV_QPT_RC,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = e->pd,
					   .cap = {.max_send_wr = RIG_WR,
						   .max_recv_wr = RIG_WR,
						   .max_send_sge = RIG_SGE,
						   .max_recv_sge = RIG_SGE}};
	struct uhcadv_qp_init_attr dv = {.max_list_entries = RIG_ENTRIES};
	struct ibv_qp *qp = uhcadv_create_qp(e->context, &attr, &dv);

	if (!qp)
		rig_die("no queue pair");
	return qp;
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	errno = ibv_modify_qp(qp, attr, mask);
	if (errno)
		rig_die("queue pair 0x%06x cannot go to state %d", qp->qp_num, attr->qp_state);
}

struct address {
	union ibv_gid gid;
	uint32_t qpn;
};

/* Keys may allow atomics only where the device has them: iWARP devices have none. */
static unsigned remote_rights(struct ibv_context *context)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(context, &attr))
		rig_die("ibv_query_device");
	return IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
	       (attr.atomic_cap == IBV_ATOMIC_NONE ? 0u : IBV_ACCESS_REMOTE_ATOMIC);
}

static void to_rts(struct ibv_qp *qp, const struct address *peer)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
				.port_num = 1,
				.qp_access_flags = remote_rights(qp->context)};

	modify(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTR,
				 .path_mtu = IBV_MTU_1024,
				 .dest_qp_num = peer->qpn,
				 .max_dest_rd_atomic = 4,
				 .min_rnr_timer = 1,
				 .ah_attr = {.is_global = 1,
					     .port_num = 1,
					     .grh = {.dgid = peer->gid, .hop_limit = 64}}};
	modify(qp, &a,
	       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	a = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
				 .timeout = 14,
				 .retry_cnt = 7,
				 .rnr_retry = 7,
				 .max_rd_atomic = 4};
	modify(qp, &a,
	       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		       IBV_QP_MAX_QP_RD_ATOMIC);
}

void rig_connect(struct end *e, struct ibv_qp *qp, unsigned who)
{
	struct address mine = {.gid = e->gid, .qpn = qp->qp_num}, theirs;

	rig_swap(e, who, &mine, &theirs, sizeof(mine));
	to_rts(qp, &theirs);
	rig_meet(e, who); /* nobody sends before both can receive */
}

void rig_connect_here(struct end *e, struct ibv_qp *qp, uint32_t other)
{
	struct address there = {.gid = e->gid, .qpn = other};

	to_rts(qp, &there);
}

struct ibv_mr *rig_reg(struct end *e, void *addr, size_t length, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(e->pd, addr, length, access);

	if (!mr)
		rig_die("end %u: ibv_reg_mr", e->who);
	return mr;
}

struct ibv_mr *rig_key(struct end *e, uint32_t max_entries)
{
	struct ibv_mr *mr = uhcadv_alloc_mr(e->pd, max_entries);

	if (!mr)
		rig_die("end %u: uhcadv_alloc_mr", e->who);
	return mr;
}

void rig_free_mr(struct ibv_mr *mr)
{
	errno = ibv_dereg_mr(mr);
	if (errno)
		rig_die("ibv_dereg_mr");
}

void rig_free_qp(struct ibv_qp *qp)
{
	errno = ibv_destroy_qp(qp);
	if (errno)
		rig_die("ibv_destroy_qp");
}

void *rig_memory(size_t length)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (length + page - 1) / page * page;
	void *p = aligned_alloc(page, whole);

	if (!p)
		rig_die("no memory");
	return memset(p, 0, whole);
}

/* ---- work ---- */

void rig_post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	errno = ibv_post_send(qp, wr, &bad);
	if (errno)
		rig_die("ibv_post_send: request %" PRIu64, bad->wr_id);
}

void rig_post_dv(struct ibv_qp *qp, struct uhcadv_send_wr *wr)
{
	struct uhcadv_send_wr *bad;

	errno = uhcadv_post_send(qp, wr, &bad);
	if (errno)
		rig_die("uhcadv_post_send: request %" PRIu64, bad->wr_id);
}

void rig_recv(struct ibv_qp *qp, uint64_t wr_id, struct ibv_sge sge)
{
	struct ibv_recv_wr wr = {.wr_id = wr_id, .sg_list = &sge, .num_sge = sge.length > 0}, *bad;

	errno = ibv_post_recv(qp, &wr, &bad);
	if (errno)
		rig_die("ibv_post_recv");
}

struct ibv_wc rig_poll(struct end *e)
{
	time_t last = time(NULL) + DEADLINE_S;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(e->cq, 1, &wc)))
		if (time(NULL) > last)
			rig_die("end %u: no completion in %d s", e->who, DEADLINE_S);
	if (n < 0)
		rig_die("ibv_poll_cq");
	return wc;
}

struct ibv_wc rig_success(struct end *e)
{
	struct ibv_wc wc = rig_poll(e);

	if (wc.status != IBV_WC_SUCCESS)
		rig_die("end %u: request %" PRIu64 ": %s", e->who, wc.wr_id,
			ibv_wc_status_str(wc.status));
	return wc;
}

void rig_successes(struct end *e, unsigned n)
{
	while (n--)
		rig_success(e);
}

/* SplitMix64. */
uint64_t rig_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}
