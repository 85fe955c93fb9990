/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hoarder KIND: makes as many objects of a kind as the device lets one client have, with unread
 * events and half-done states, says how many, has uhcactl (of $UHCA_BUILDDIR) show everything, and
 * dies of SIGKILL. hoarder --list: the kinds.
 * Whoever runs it looks at what that does to the others (docs/explanation/security.md, What grows).
 */
#include "hoarder.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/uhcadv.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY  20000u
#define DEPTH 4096u /* requests of a full queue */
#define PART  64u   /* bytes of a region or a piece */

struct rig rig;
unsigned made;

static void *object[MANY];
static struct ibv_cq *cq[MANY];
static struct ibv_comp_channel *channel[MANY];

static bool keep(unsigned i, void *o)
{
	object[i] = o;
	return o != NULL;
}

/* ---- objects that only are there ---- */

static bool make_pd(unsigned i)
{
	return keep(i, ibv_alloc_pd(rig.ctx));
}

static bool make_cq(unsigned i)
{
	return keep(i, ibv_create_cq(rig.ctx, 1, NULL, NULL, 0));
}

static bool make_mr(unsigned i)
{
	return keep(i, ibv_reg_mr(rig.pd, rig.buf, PART, IBV_ACCESS_LOCAL_WRITE));
}

static bool make_ah(unsigned i)
{
	struct ibv_ah_attr attr = {.port_num = 1, .is_global = 1, .grh.dgid = rig.gid};

	return keep(i, ibv_create_ah(rig.pd, &attr));
}

static bool make_srq(unsigned i)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 1, .max_sge = 1}};

	return keep(i, ibv_create_srq(rig.pd, &attr));
}

static bool make_dm(unsigned i)
{
	struct ibv_alloc_dm_attr attr = {.length = 64};
	struct ibv_dm *dm = ibv_alloc_dm(rig.ctx, &attr);

	return keep(i, dm) && ibv_reg_dm_mr(rig.pd, dm, 0, 64, IBV_ACCESS_ZERO_BASED);
}

static bool make_channel(unsigned i)
{
	return keep(i, ibv_create_comp_channel(rig.ctx));
}

static bool make_xrcd(unsigned i)
{
	struct ibv_xrcd_init_attr attr = {.comp_mask =
						  IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
					  .fd = -1,
					  .oflags = O_CREAT};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(rig.ctx, &attr);
	struct ibv_srq_init_attr_ex srq = {.attr = {.max_wr = 16, .max_sge = 1},
					   .comp_mask = IBV_SRQ_INIT_ATTR_TYPE |
							IBV_SRQ_INIT_ATTR_XRCD |
							IBV_SRQ_INIT_ATTR_CQ | IBV_SRQ_INIT_ATTR_PD,
					   .srq_type = IBV_SRQT_XRC,
					   .pd = rig.pd,
					   .xrcd = xrcd,
					   .cq = rig.cq};
	struct ibv_qp_init_attr_ex qp = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd};

	return keep(i, xrcd) && ibv_create_srq_ex(rig.ctx, &srq) && ibv_create_qp_ex(rig.ctx, &qp);
}

/* ---- queue pairs ---- */

static struct ibv_qp *qp_of(struct ibv_cq *of, enum ibv_qp_type type, unsigned depth)
{
	struct ibv_qp_init_attr init = {.send_cq = of,
					.recv_cq = of,
					.qp_type = type,
					.cap = {.max_send_wr = depth,
						.max_recv_wr = depth,
						.max_send_sge = 1,
						.max_recv_sge = 1}};

	return ibv_create_qp(rig.pd, &init);
}

static bool to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};

	return !ibv_modify_qp(
		qp, &attr,
		IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			(qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

static void to_error(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE))
		rig_die("to the error state");
}

static bool receive(struct ibv_qp *qp, unsigned n)
{
	struct ibv_sge sge = {(uintptr_t)rig.buf, PART, rig.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;

	while (n-- > 0)
		if (ibv_post_recv(qp, &wr, &bad))
			return false;
	return true;
}

static bool make_qp(unsigned i)
{
	struct ibv_qp *qp = qp_of(rig.cq, IBV_QPT_RC, 1);

	if (!keep(i, qp))
		return false;
	rig_connect(&rig, qp, qp->qp_num);
	return true;
}

/* All of what was posted is to be flushed when the client has gone, and some while it is there. */
static bool make_full_qp(unsigned i)
{
	struct ibv_cq *own = ibv_create_cq(rig.ctx, 2 * DEPTH, NULL, NULL, 0);
	struct ibv_qp *qp = own ? qp_of(own, IBV_QPT_RC, DEPTH) : NULL;

	if (!keep(i, qp))
		return false;
	rig_connect(&rig, qp, 0xabcdef); /* nobody: it repeats */
	for (unsigned n = 0; n < DEPTH; n++)
		if (!rig_post_send(&rig, qp, 0, PART))
			return false;
	return receive(qp, DEPTH);
}

static void flush_half(void)
{
	for (unsigned i = 0; i < made; i += 2)
		to_error(object[i]);
}

static bool make_full_srq(unsigned i)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = DEPTH, .max_sge = 1}};
	struct ibv_sge sge = {(uintptr_t)rig.buf, PART, rig.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_srq *srq = ibv_create_srq(rig.pd, &attr);

	if (!keep(i, srq))
		return false;
	for (unsigned n = 0; n < DEPTH; n++)
		if (ibv_post_srq_recv(srq, &wr, &bad))
			return false;
	return true;
}

static bool make_group(unsigned i)
{
	union ibv_gid group = {.raw = {[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 1}};
	struct ibv_qp *qp = i % 200 ? object[i / 200] : qp_of(rig.cq, IBV_QPT_UD, 1);

	object[i / 200] = qp;
	group.raw[15] = (uint8_t)(i % 200 + 1);
	return qp && (i % 200 || to_init(qp)) && !ibv_attach_mcast(qp, &group, 0);
}

static bool make_flow(unsigned i)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} f = {.attr = {.type = IBV_FLOW_ATTR_NORMAL,
			.size = sizeof(f),
			.priority = (uint16_t)(MANY - i),
			.num_of_specs = 1,
			.port = 1},
	       .eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof(f.eth)}};

	f.eth.val.dst_mac[0] = 2;
	f.eth.val.dst_mac[5] = (uint8_t)i;
	memset(f.eth.mask.dst_mac, 0xff, 6);
	if (i == 0 && !keep(0, qp_of(rig.cq, IBV_QPT_RAW_PACKET, 1)))
		return false;
	return ibv_create_flow(object[0], &f.attr) != NULL;
}

static bool make_wq(unsigned i)
{
	struct ibv_wq_init_attr wq = {
		.wq_type = IBV_WQT_RQ, .max_wr = 256, .max_sge = 1, .pd = rig.pd, .cq = rig.cq};
	struct ibv_wq_attr ready = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
	struct ibv_sge sge = {(uintptr_t)rig.buf, PART, rig.mr->lkey};
	struct ibv_recv_wr wr = {.sg_list = &sge, .num_sge = 1}, *bad;
	struct ibv_wq *one = ibv_create_wq(rig.ctx, &wq);
	struct ibv_rwq_ind_table_init_attr table = {.ind_tbl = &one};

	if (!keep(i, one) || ibv_modify_wq(one, &ready))
		return false;
	for (unsigned n = 0; n < 256; n++)
		if (ibv_post_wq_recv(one, &wr, &bad))
			return false;
	return ibv_create_rwq_ind_table(rig.ctx, &table) != NULL;
}

/* ---- keys ---- */

static bool make_mw(unsigned i)
{
	struct ibv_mw *mw = ibv_alloc_mw(rig.pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {.bind_info = {.mr = rig.mr,
						 .addr = (uintptr_t)rig.buf,
						 .length = PART,
						 .mw_access_flags = IBV_ACCESS_REMOTE_READ}};
	static struct ibv_qp *qp;

	if (!qp) {
		qp = rig_qp(&rig, NULL, NULL);
		rig_connect(&rig, qp, qp->qp_num);
	}
	bind.send_flags = IBV_SEND_SIGNALED;
	if (!keep(i, mw) || ibv_bind_mw(qp, mw, &bind))
		return false;
	rig_expect(&rig, 1, 120);
	return true;
}

/* Descriptions of as many pieces as there may be, all of one region. */
static bool make_indirect(unsigned i)
{
	struct ibv_mr *key = uhcadv_alloc_mr(rig.pd, 128);
	const struct uhcadv_reg_attr attr = {.access = IBV_ACCESS_LOCAL_WRITE,
					     .key_byte = key ? (uint8_t)key->rkey : 0};
	struct uhcadv_block block[128];

	if (!keep(i, key))
		return false;
	for (unsigned b = 0; b < 128; b++)
		block[b] = (struct uhcadv_block){
			.addr = (uintptr_t)rig.buf, .length = PART, .lkey = rig.mr->lkey};
	return !uhcadv_rereg_mr_sg(key, &attr, block, 128);
}

/* ---- events that nobody reads ---- */

/* A CQ that is armed, and a queue pair whose receive is flushed: an event of each. */
static bool make_event(unsigned i, struct ibv_comp_channel *on)
{
	cq[i] = ibv_create_cq(rig.ctx, 4, NULL, on, 0);
	if (!cq[i] || ibv_req_notify_cq(cq[i], 0))
		return false;
	return keep(i, qp_of(cq[i], IBV_QPT_RC, 1)) && to_init(object[i]) && receive(object[i], 1);
}

static bool make_armed(unsigned i)
{
	if (i == 0)
		channel[0] = ibv_create_comp_channel(rig.ctx);
	return channel[0] && make_event(i, channel[0]);
}

static bool make_slow(unsigned i)
{
	if (i < 64)
		channel[i] = ibv_create_comp_channel(rig.ctx);
	return channel[i % 64] && make_event(i, channel[i % 64]);
}

/* Two rounds: what waits already is not queued again, and must be found. */
static void raise_all(void)
{
	for (unsigned round = 0; round < 2; round++)
		for (unsigned i = 0; i < made; i++) {
			rig_reset(object[i]);
			if (!to_init(object[i]) || !receive(object[i], 1) ||
			    ibv_req_notify_cq(cq[i], 0))
				rig_die("event %u", i);
			to_error(object[i]);
		}
}

/* All have events that wait in the daemon; then all read at once. */
static void read_slowly(void)
{
	raise_all();
	for (unsigned i = 0; i < 64; i++) {
		fcntl(channel[i]->fd, F_SETFL, O_NONBLOCK);
		for (struct {
			     struct ibv_cq *cq;
			     void *arg;
		     } e;
		     ibv_get_cq_event(channel[i], &e.cq, &e.arg) == 0;)
			;
	}
}

/* A short message of each CQ that nobody takes: it waits to be copied, or the device stores it. */
static bool make_copy_on_poll(unsigned i)
{
	struct ibv_qp *qp;

	cq[i] = ibv_create_cq(rig.ctx, 4, NULL, NULL, 0);
	qp = cq[i] ? qp_of(cq[i], IBV_QPT_RC, 1) : NULL;
	if (!keep(i, qp))
		return false;
	rig_connect(&rig, qp, qp->qp_num);
	return receive(qp, 1) && rig_post_send(&rig, qp, PART, PART);
}

/* Asynchronous events: the last request of a queue pair with an SRQ. */
static bool make_async(unsigned i)
{
	static struct ibv_srq *srq;
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 16, .max_sge = 1}};

	if (!srq)
		srq = ibv_create_srq(rig.pd, &attr);
	if (!srq || !keep(i, rig_qp(&rig, NULL, srq)) || !to_init(object[i]))
		return false;
	to_error(object[i]);
	return true;
}

/* ---- connections to the daemon ---- */

static bool connect_to(const char *name, int type)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%s/%s", getenv("UHCA_DIR"), name);
	return fd >= 0 && !connect(fd, (struct sockaddr *)&un, sizeof(un));
}

static bool make_client(unsigned i)
{
	(void)i;
	return connect_to("sock", SOCK_SEQPACKET);
}

static bool make_session(unsigned i)
{
	(void)i;
	return connect_to("ctl", SOCK_STREAM);
}

static bool make_context(unsigned i)
{
	return keep(i, ibv_open_device(rig.ctx->device));
}

const struct hoard hoard_verbs[] = {
	{"pd", MANY, 1000, make_pd, NULL},
	{"cq", MANY, 1000, make_cq, NULL},
	{"mr", MANY, 10000, make_mr, NULL},
	{"ah", MANY, 10000, make_ah, NULL},
	{"srq", MANY, 500, make_srq, NULL},
	{"srq_full", 256, 256, make_full_srq, NULL},
	{"dm", MANY, 500, make_dm, NULL},
	{"channel", MANY, 900, make_channel, NULL},
	{"xrcd", MANY, 500, make_xrcd, NULL},
	{"qp", MANY, 1000, make_qp, NULL},
	{"qp_full", 128, 128, make_full_qp, flush_half},
	{"mcast", MANY, 1000, make_group, NULL},
	{"flow", MANY, 1000, make_flow, NULL},
	{"wq", MANY, 500, make_wq, NULL},
	{"mw", MANY, 4000, make_mw, NULL},
	{"indirect", 4000, 4000, make_indirect, NULL},
	{"copy_on_poll", 2000, 2000, make_copy_on_poll, NULL},
	{"cq_event", 2000, 2000, make_armed, raise_all},
	{"slow_reader", 2000, 2000, make_slow, read_slowly},
	{"async_event", MANY, 1000, make_async, NULL},
	{"client", 2000, 500, make_client, NULL},
	{"session", 2000, 64, make_session, NULL},
	{"context", 500, 100, make_context, NULL},
	{NULL, 0, 0, NULL, NULL},
};

/* ---- */

static const struct hoard *const all[] = {hoard_verbs, hoard_cm, hoard_traffic};
#define ALL (sizeof(all) / sizeof(all[0]))

static const struct hoard *find_hoard(const char *name)
{
	for (size_t i = 0; i < ALL; i++)
		for (const struct hoard *h = all[i]; h->name; h++)
			if (!strcmp(h->name, name))
				return h;
	return NULL;
}

static int list(void)
{
	for (size_t i = 0; i < ALL; i++)
		for (const struct hoard *h = all[i]; h->name; h++)
			printf("%s\n", h->name);
	return 0;
}

void hoarder_uhcactl(const char *first, ...)
{
	char program[PATH_MAX], *argv[8] = {program, (char *)(uintptr_t)first};
	posix_spawn_file_actions_t silent;
	int status, n = 2;
	va_list ap;
	pid_t pid;

	va_start(ap, first);
	while (n < 7 && (argv[n] = va_arg(ap, char *)))
		n++;
	va_end(ap);
	snprintf(program, sizeof(program), "%s/uhcactl", getenv("UHCA_BUILDDIR"));
	posix_spawn_file_actions_init(&silent);
	posix_spawn_file_actions_addopen(&silent, 1, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, program, &silent, NULL, argv, environ) ||
	    waitpid(pid, &status, 0) != pid || status)
		rig_die("%s %s %s", program, first, argv[2] ? argv[2] : "");
	posix_spawn_file_actions_destroy(&silent);
}

/* All tables of uhcactl, with all that there is now. */
static void show(void)
{
	static const char *const kinds[] = {"device", "client",        "cm_id", "pd", "mr",   "cq",
					    "qp",     "srq",           "ah",    "mw", "xrcd", "dm",
					    "wq",     "rwq_ind_table", "flow"};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		hoarder_uhcactl("show", kinds[i], NULL);
}

static void want_descriptors(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

/* Where the daemon runs under a sanitizer some are enough to show an error of memory. */
static unsigned at_most(unsigned n)
{
	const char *most = getenv("UHCA_HOARD_MOST");

	return most && (unsigned)atoi(most) < n ? (unsigned)atoi(most) : n;
}

int main(int argc, char **argv)
{
	unsigned most;
	const struct hoard *h = argc == 2 ? find_hoard(argv[1]) : NULL;

	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list();
	if (!h)
		rig_die("usage: hoarder KIND, or --list");
	want_descriptors();
	rig_open(&rig, 4096, 4096);
	most = at_most(h->most);
	while (made < most && h->make(made))
		made++;
	printf("%u %s: %s\n", made, h->name, made < most ? strerror(errno) : "all");
	fflush(stdout);
	if (made < at_most(h->least))
		rig_die("fewer than %u", at_most(h->least));
	if (h->finish)
		h->finish();
	show();
	return raise(SIGKILL);
}
