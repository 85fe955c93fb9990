/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kinds of hoarder.c that cost something with each packet: rules of faults, captures, flow
 * rules that no frame matches, a multicast group of 256 queue pairs. What is made is used before
 * the end.
 */
#include "hoarder.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RULES   1000u
#define REGIONS 16000u
#define MEMBERS 256u /* of the group */
#define DEPTH   256u /* requests of a queue */
#define LONG    65536u
#define FRAME   64u

static struct ibv_qp *qp[MEMBERS];
static struct ibv_mr *memory;
static struct ibv_cq *cq;
static char path[PATH_MAX]; /* of a file that is removed again */

static void name_file(void)
{
	const char *folder = getenv("TMPDIR");

	snprintf(path, sizeof(path), "%s/hoarder-XXXXXX", folder ? folder : "/tmp");
}

static void need_memory(void)
{
	static uint8_t bytes[2 * LONG];

	memory = ibv_reg_mr(rig.pd, bytes, sizeof(bytes),
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	cq = ibv_create_cq(rig.ctx, 32768, NULL, NULL, 0);
	if (!memory || !cq)
		rig_die("memory and a CQ");
}

static struct ibv_qp *make_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {.send_cq = cq,
					.recv_cq = cq,
					.qp_type = type,
					.cap = {.max_send_wr = DEPTH,
						.max_recv_wr = DEPTH / 4,
						.max_send_sge = 1,
						.max_recv_sge = 1}};

	return ibv_create_qp(rig.pd, &init);
}

static void to(struct ibv_qp *q, enum ibv_qp_state state, int mask)
{
	struct ibv_qp_attr attr = {.qp_state = state, .port_num = 1, .qkey = 0x1111};

	if (ibv_modify_qp(q, &attr, IBV_QP_STATE | mask))
		rig_die("ibv_modify_qp to %d: errno %d", state, errno);
}

/* Waits for n completions of whatever status. */
static void await(unsigned n)
{
	double end = rig_seconds() + 120;
	struct ibv_wc wc[64];

	while (n > 0) {
		int got = ibv_poll_cq(cq, 64, wc);

		if (got < 0 || rig_seconds() > end)
			rig_die("%u requests are not done", n);
		n -= (unsigned)got < n ? (unsigned)got : n;
	}
}

static void post(struct ibv_qp *q, struct ibv_send_wr *wr, uint32_t length)
{
	struct ibv_sge sge = {(uintptr_t)memory->addr, length, memory->lkey};
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	if (ibv_post_send(q, wr, &bad))
		rig_die("ibv_post_send");
}

/* A queue's worth of WRITEs to itself. */
static void write_much(uint32_t length)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE};

	if (!qp[0]) {
		qp[0] = make_qp(IBV_QPT_RC);
		rig_connect(&rig, qp[0], qp[0]->qp_num);
	}
	wr.wr.rdma.remote_addr = (uintptr_t)memory->addr + LONG;
	wr.wr.rdma.rkey = memory->rkey;
	for (unsigned n = 0; n < DEPTH; n++)
		post(qp[0], &wr, length);
	await(DEPTH);
}

/* ---- rules ---- */

static bool make_rules(unsigned i)
{
	FILE *f;
	int fd;

	if (i)
		return true;
	need_memory();
	name_file();
	fd = mkstemp(path);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		rig_die("mkstemp");
	for (unsigned n = 0; n < RULES; n++)
		fprintf(f, "drop opcode=rc.write nth=%u psn=0x%x\n", 1000000 + n, n);
	fclose(f);
	hoarder_uhcactl("fault", "load", path, NULL);
	return true;
}

static void use_rules(void)
{
	for (unsigned round = 0; round < 4; round++)
		write_much(LONG);
	hoarder_uhcactl("fault", "list", NULL);
	unlink(path);
}

/* ---- captures ---- */

static bool make_captured(unsigned i)
{
	if (i == 0)
		need_memory();
	return ibv_reg_mr(rig.pd, rig.buf, 64, IBV_ACCESS_LOCAL_WRITE) != NULL;
}

static void capture(void)
{
	int fd;

	name_file();
	fd = mkstemp(path);
	if (fd < 0)
		rig_die("mkstemp");
	close(fd);
	hoarder_uhcactl("capture", "start", path, NULL);
	write_much(LONG);
	hoarder_uhcactl("capture", "stop", NULL);
	hoarder_uhcactl("capture", "dump", path, NULL);
	unlink(path);
	hoarder_uhcactl("capture", "start", path, NULL); /* which sees the end */
	write_much(LONG);
	unlink(path);
}

/* ---- frames that no rule wants ---- */

static bool make_flow(unsigned i)
{
	struct {
		struct ibv_flow_attr attr;
		struct ibv_flow_spec_eth eth;
	} f = {.attr = {.type = IBV_FLOW_ATTR_NORMAL,
			.size = sizeof(f),
			.num_of_specs = 1,
			.port = 1},
	       .eth = {.type = IBV_FLOW_SPEC_ETH, .size = sizeof(f.eth)}};

	if (i == 0) {
		need_memory();
		qp[0] = make_qp(IBV_QPT_RAW_PACKET);
		if (!qp[0])
			return false;
	}
	f.eth.val.dst_mac[0] = 2;
	memcpy(f.eth.val.dst_mac + 2, &i, 4);
	memset(f.eth.mask.dst_mac, 0xff, 6);
	return ibv_create_flow(qp[0], &f.attr) != NULL;
}

static void send_frames(void)
{
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	to(qp[0], IBV_QPS_INIT, IBV_QP_PORT);
	to(qp[0], IBV_QPS_RTR, 0);
	to(qp[0], IBV_QPS_RTS, 0);
	memset(memory->addr, 4, FRAME);
	for (unsigned round = 0; round < 8; round++) {
		for (unsigned n = 0; n < DEPTH; n++)
			post(qp[0], &wr, FRAME);
		await(DEPTH);
	}
}

/* ---- a large group ---- */

static bool make_member(unsigned i)
{
	union ibv_gid group = {.raw = {[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 7}};
	struct ibv_recv_wr wr = {.num_sge = 1}, *bad;
	struct ibv_sge sge;

	if (i == 0)
		need_memory();
	qp[i] = make_qp(IBV_QPT_UD);
	if (!qp[i])
		return false;
	to(qp[i], IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
	to(qp[i], IBV_QPS_RTR, 0);
	sge = (struct ibv_sge){(uintptr_t)memory->addr + LONG, LONG, memory->lkey};
	wr.sg_list = &sge;
	for (unsigned n = 0; n < DEPTH / 4; n++)
		if (ibv_post_recv(qp[i], &wr, &bad))
			return false;
	return !ibv_attach_mcast(qp[i], &group, 0);
}

static void send_to_all(void)
{
	struct ibv_ah_attr to_group = {
		.is_global = 1,
		.port_num = 1,
		.grh.dgid.raw = {[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 7}};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};

	to(qp[0], IBV_QPS_RTS, IBV_QP_SQ_PSN);
	wr.wr.ud.ah = ibv_create_ah(rig.pd, &to_group);
	wr.wr.ud.remote_qpn = 0xffffff;
	wr.wr.ud.remote_qkey = 0x1111;
	if (!wr.wr.ud.ah)
		rig_die("ibv_create_ah");
	for (unsigned n = 0; n < DEPTH / 4; n++)
		post(qp[0], &wr, 4096);
	await(DEPTH / 4 + DEPTH / 4 * (MEMBERS - 1));
}

const struct hoard hoard_traffic[] = {
	{"rules", RULES, RULES, make_rules, use_rules},
	{"capture", REGIONS, REGIONS, make_captured, capture},
	{"frames", 4096, 4096, make_flow, send_frames},
	{"mcast_full", MEMBERS, MEMBERS, make_member, send_to_all},
	{NULL, 0, 0, NULL, NULL},
};
