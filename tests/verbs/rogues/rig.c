/* SPDX-License-Identifier: BSD-2-Clause */
#include "rig.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

double rig_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool rig_until(bool (*condition)(void *), void *arg, double seconds)
{
	double end = rig_seconds() + seconds;

	while (!condition(arg)) {
		if (rig_seconds() > end)
			return false;
		poll(NULL, 0, 10);
	}
	return true;
}

/* ---- objects ---- */

static struct ibv_context *open_first(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *c;

	if (!list || !list[0])
		rig_die("there is no device");
	c = ibv_open_device(list[0]);
	if (!c)
		rig_die("ibv_open_device");
	ibv_free_device_list(list);
	return c;
}

void rig_open(struct rig *r, int cqe, size_t size)
{
	*r = (struct rig){.ctx = open_first(), .size = size};
	r->pd = ibv_alloc_pd(r->ctx);
	r->cq = ibv_create_cq(r->ctx, cqe, NULL, NULL, 0);
	r->buf = calloc(1, size);
	if (!r->pd || !r->cq || !r->buf)
		rig_die("PD, CQ or memory");
	r->mr = ibv_reg_mr(r->pd, r->buf, size,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
				   IBV_ACCESS_MW_BIND);
	if (!r->mr || ibv_query_gid(r->ctx, 1, 0, &r->gid))
		rig_die("MR or GID");
}

void rig_close(struct rig *r)
{
	if (ibv_dereg_mr(r->mr) || ibv_destroy_cq(r->cq) || ibv_dealloc_pd(r->pd))
		rig_die("an object cannot be destroyed");
	if (r->channel && ibv_destroy_comp_channel(r->channel))
		rig_die("ibv_destroy_comp_channel");
	if (ibv_close_device(r->ctx))
		rig_die("ibv_close_device");
	free(r->buf);
}

struct ibv_cq *rig_cq_with_events(struct rig *r, int cqe)
{
	struct ibv_cq *cq;

	if (!r->channel)
		r->channel = ibv_create_comp_channel(r->ctx);
	if (!r->channel)
		rig_die("ibv_create_comp_channel");
	cq = ibv_create_cq(r->ctx, cqe, NULL, r->channel, 0);
	if (!cq)
		rig_die("ibv_create_cq");
	return cq;
}

struct ibv_qp *rig_qp(struct rig *r, struct ibv_cq *cq, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = {.send_cq = cq ? cq : r->cq,
					.recv_cq = cq ? cq : r->cq,
					.srq = srq,
					.qp_type = IBV_QPT_RC,
					.cap = {.max_send_wr = RIG_DEPTH,
						.max_recv_wr = RIG_DEPTH,
						.max_send_sge = 1,
						.max_recv_sge = 1}};

	return ibv_create_qp(r->pd, &attr);
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	errno = ibv_modify_qp(qp, attr, mask);
	if (errno)
		rig_die("QP 0x%06x cannot go to state %d", qp->qp_num, attr->qp_state);
}

void rig_reset(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	modify(qp, &attr, IBV_QP_STATE);
}

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
				   .port_num = 1,
				   .qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
						      IBV_ACCESS_REMOTE_READ |
						      IBV_ACCESS_REMOTE_ATOMIC};

	modify(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static void to_rtr(struct rig *r, struct ibv_qp *qp, uint32_t dest)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
				   .path_mtu = IBV_MTU_4096,
				   .dest_qp_num = dest,
				   .max_dest_rd_atomic = 1,
				   .min_rnr_timer = 1,
				   .ah_attr = {.is_global = 1,
					       .port_num = 1,
					       .grh = {.dgid = r->gid, .hop_limit = 64}}};

	modify(qp, &attr,
	       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

void rig_connect(struct rig *r, struct ibv_qp *qp, uint32_t dest)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS,
				   .timeout = 14,
				   .retry_cnt = 7,
				   .rnr_retry = 7,
				   .max_rd_atomic = 1};

	rig_reset(qp);
	to_init(qp);
	to_rtr(r, qp, dest);
	modify(qp, &attr,
	       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		       IBV_QP_MAX_QP_RD_ATOMIC);
}

/* ---- work ---- */

static struct ibv_sge element(const struct rig *r, uint32_t offset, uint32_t length)
{
	return (struct ibv_sge){(uintptr_t)(r->buf + offset), length, r->mr->lkey};
}

bool rig_post_recv(struct rig *r, struct ibv_qp *qp, uint32_t offset, uint32_t length)
{
	struct ibv_sge sge = element(r, offset, length);
	struct ibv_recv_wr wr = {.wr_id = offset, .sg_list = &sge, .num_sge = 1}, *bad;

	return ibv_post_recv(qp, &wr, &bad) == 0;
}

bool rig_post_send(struct rig *r, struct ibv_qp *qp, uint32_t offset, uint32_t length)
{
	struct ibv_sge sge = element(r, offset, length);
	struct ibv_send_wr wr = {.wr_id = offset,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .opcode = IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED},
			   *bad;

	return ibv_post_send(qp, &wr, &bad) == 0;
}

void rig_expect(struct rig *r, unsigned n, unsigned seconds)
{
	double end = rig_seconds() + seconds;
	struct ibv_wc wc;

	while (n > 0) {
		int got = ibv_poll_cq(r->cq, 1, &wc);

		if (got < 0)
			rig_die("ibv_poll_cq");
		if (got > 0 && wc.status != IBV_WC_SUCCESS)
			rig_die("QP 0x%06x: %s", wc.qp_num, ibv_wc_status_str(wc.status));
		n -= (unsigned)got;
		if (got == 0 && rig_seconds() > end)
			rig_die("%u completions have not come in %u s", n, seconds);
	}
}

/* ---- the daemon ---- */

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	f = fopen(path, "re");
	if (!f)
		rig_die("the daemon is gone: %s", path);
	return f;
}

static pid_t daemon_pid(void)
{
	const char *dir = getenv("UHCA_DIR");
	char path[512];
	int pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/pid", dir ? dir : "");
	f = fopen(path, "re");
	if (!f || fscanf(f, "%d", &pid) != 1)
		rig_die("no daemon's number in %s", path);
	fclose(f);
	return pid;
}

static long ticks_of(pid_t pid)
{
	FILE *f = open_proc(pid, "stat");
	unsigned long user = 0, system = 0;

	if (fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
		   &system) != 2)
		rig_die("/proc/%d/stat", (int)pid);
	fclose(f);
	return (long)(user + system);
}

static unsigned long long run_ns_of(pid_t pid)
{
	unsigned long long ns = 0;
	FILE *f = open_proc(pid, "schedstat");

	if (fscanf(f, "%llu", &ns) != 1)
		ns = 0;
	fclose(f);
	return ns;
}

static long count_entries(pid_t pid)
{
	char path[64];
	long n = -2; /* . and .. */
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	d = opendir(path);
	if (!d)
		rig_die("the daemon is gone: %s", path);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void read_status(struct rig_daemon *out)
{
	FILE *f = open_proc(out->pid, "status");
	char line[256];

	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "RssAnon: %ld", &out->anonymous_kb);
		sscanf(line, "RssShmem: %ld", &out->shared_kb);
	}
	fclose(f);
}

static long count_regions(pid_t pid)
{
	FILE *f = open_proc(pid, "maps");
	char line[512];
	long n = 0;

	while (fgets(line, sizeof(line), f))
		n += strstr(line, "memfd:uhca-") != NULL;
	fclose(f);
	return n;
}

void rig_daemon(struct rig_daemon *out)
{
	*out = (struct rig_daemon){.pid = daemon_pid()};
	read_status(out);
	out->ticks = ticks_of(out->pid);
	out->run_ns = run_ns_of(out->pid);
	out->fds = count_entries(out->pid);
	out->regions = count_regions(out->pid);
}

long rig_slack_kb(long kb)
{
	const char *said = getenv("UHCA_SLACK_KB");

	return said ? atol(said) : kb;
}
