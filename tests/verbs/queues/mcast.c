/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multicast through the real libibverbs: who gets a copy, what stands in front of it, what is
 * refused. Without arguments on two devices of a daemon (below uhca-run, with or without --wire);
 * with "listen" or "speak" as one side of a pair of daemons.
 */
#include "tests/support/wire/cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define QKEY       0x11111111u
#define GRH        40u
#define SLOT       128u
#define SLOTS      8u
#define DEADLINE_S 240
#define MCAST_QPN  0xffffffu

struct end {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq, *send_cq;
	struct ibv_mr *mr;
	struct ibv_qp *qp;
	uint8_t memory[(SLOTS + 1) * SLOT]; /* the last slot is what is sent from */
};

static union ibv_gid v4_group(uint8_t last)
{
	union ibv_gid g = {.raw = {[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 77, [15] = last}};

	return g;
}

static void to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state, .qkey = QKEY, .port_num = 1};
	int mask = IBV_QP_STATE;

	if (state == IBV_QPS_INIT)
		mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	if (state == IBV_QPS_RTS)
		mask |= IBV_QP_SQ_PSN;
	assert_int_equal(ibv_modify_qp(qp, &attr, mask), 0);
}

static void post_recv(struct end *e, uint64_t slot)
{
	struct ibv_sge sge = {(uintptr_t)e->memory + slot * SLOT, SLOT, e->mr->lkey};
	struct ibv_recv_wr wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1}, *bad;

	assert_int_equal(ibv_post_recv(e->qp, &wr, &bad), 0);
}

static struct ibv_qp *make_qp(struct end *e, uint32_t flags)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = e->send_cq,
		.recv_cq = e->cq,
		.cap = {.max_send_wr = 4,
			.max_recv_wr = SLOTS,
			.max_send_sge = 1,
			.max_recv_sge = 1},
		.qp_type = IBV_QPT_UD,
		.sq_sig_all = 1,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = e->pd,
		.create_flags = flags,
	};

	return ibv_create_qp_ex(e->ctx, &attr);
}

static void end_open(struct end *e, unsigned index, uint32_t flags)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	memset(e, 0, sizeof(*e));
	assert_non_null(list);
	for (unsigned i = 0; i <= index; i++)
		assert_non_null(list[i]);
	e->ctx = ibv_open_device(list[index]);
	ibv_free_device_list(list);
	assert_non_null(e->ctx);
	e->pd = ibv_alloc_pd(e->ctx);
	e->cq = ibv_create_cq(e->ctx, 2 * SLOTS, NULL, NULL, 0);
	e->mr = ibv_reg_mr(e->pd, e->memory, sizeof(e->memory), IBV_ACCESS_LOCAL_WRITE);
	e->send_cq = ibv_create_cq(e->ctx, SLOTS, NULL, NULL, 0);
	assert_true(e->pd && e->cq && e->send_cq && e->mr);
	e->qp = make_qp(e, flags);
	assert_non_null(e->qp);
	to_state(e->qp, IBV_QPS_INIT);
	for (uint64_t i = 0; i < SLOTS; i++)
		post_recv(e, i);
	to_state(e->qp, IBV_QPS_RTR);
	to_state(e->qp, IBV_QPS_RTS);
}

static void end_close(struct end *e)
{
	assert_int_equal(ibv_destroy_qp(e->qp), 0);
	assert_int_equal(ibv_dereg_mr(e->mr), 0);
	assert_int_equal(ibv_destroy_cq(e->cq), 0);
	assert_int_equal(ibv_destroy_cq(e->send_cq), 0);
	assert_int_equal(ibv_dealloc_pd(e->pd), 0);
	assert_int_equal(ibv_close_device(e->ctx), 0);
}

static void send_text(struct end *e, const union ibv_gid *to, uint32_t qpn, const char *text)
{
	struct ibv_ah_attr attr = {.is_global = 1, .port_num = 1, .grh = {.hop_limit = 4}};
	struct ibv_sge sge = {(uintptr_t)e->memory + SLOTS * SLOT, (uint32_t)strlen(text) + 1,
			      e->mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND}, *bad;
	time_t end = time(NULL) + DEADLINE_S;
	struct ibv_wc wc;

	attr.grh.dgid = *to;
	strcpy((char *)e->memory + SLOTS * SLOT, text);
	wr.wr.ud.ah = ibv_create_ah(e->pd, &attr);
	assert_non_null(wr.wr.ud.ah);
	wr.wr.ud.remote_qpn = qpn;
	wr.wr.ud.remote_qkey = QKEY;
	assert_int_equal(ibv_post_send(e->qp, &wr, &bad), 0);
	while (ibv_poll_cq(e->send_cq, 1, &wc) == 0)
		assert_true(time(NULL) < end);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(ibv_destroy_ah(wr.wr.ud.ah), 0);
}

/* Waits for one receive; the text, with what came before it in *wc and the GRH in place. */
static const char *receive(struct end *e, struct ibv_wc *wc)
{
	time_t end = time(NULL) + DEADLINE_S;
	int n = 0;

	while ((n = ibv_poll_cq(e->cq, 1, wc)) == 0)
		assert_true(time(NULL) < end);
	assert_int_equal(n, 1);
	assert_int_equal(wc->status, IBV_WC_SUCCESS);
	assert_int_equal(wc->opcode, IBV_WC_RECV);
	assert_true(wc->wc_flags & IBV_WC_GRH);
	return (const char *)e->memory + wc->wr_id * SLOT + GRH;
}

static void expect(struct end *e, const char *text)
{
	struct ibv_wc wc;

	assert_string_equal(receive(e, &wc), text);
	assert_int_equal(wc.qp_num, e->qp->qp_num);
	post_recv(e, wc.wr_id);
}

/* ---- on two devices of one daemon ---- */

static void test_each_gets_a_copy(void **state)
{
	union ibv_gid group = v4_group(1);
	struct end a, b, c, speaker;
	struct ibv_wc wc;
	const uint8_t *grh;

	(void)state;
	end_open(&a, 0, 0);
	end_open(&b, 1, 0);
	end_open(&c, 1, 0);
	end_open(&speaker, 0, 0);
	assert_int_equal(ibv_attach_mcast(a.qp, &group, 0), 0);
	assert_int_equal(ibv_attach_mcast(b.qp, &group, 0), 0);
	assert_int_equal(ibv_attach_mcast(c.qp, &group, 0), 0);
	send_text(&speaker, &group, MCAST_QPN, "to all of you");
	assert_string_equal(receive(&a, &wc), "to all of you");
	assert_int_equal(wc.src_qp, speaker.qp->qp_num);
	assert_int_equal(wc.byte_len, GRH + sizeof("to all of you"));
	/* An IPv4 header stands in the last 20 bytes; its destination is the group. */
	grh = a.memory + wc.wr_id * SLOT;
	assert_int_equal(grh[20] >> 4, 4);
	assert_memory_equal(grh + 36, group.raw + 12, 4);
	expect(&b, "to all of you");
	expect(&c, "to all of you");
	assert_int_equal(ibv_detach_mcast(b.qp, &group, 0), 0);
	send_text(&speaker, &group, MCAST_QPN, "to two of you");
	expect(&c, "to two of you");
	assert_int_equal(ibv_poll_cq(b.cq, 1, &wc), 0);
	assert_int_equal(ibv_detach_mcast(a.qp, &group, 0), 0);
	assert_int_equal(ibv_detach_mcast(c.qp, &group, 0), 0);
	end_close(&a);
	end_close(&b);
	end_close(&c);
	end_close(&speaker);
}

static union ibv_gid own_gid(const struct end *e)
{
	union ibv_gid gid;

	assert_int_equal(ibv_query_gid(e->ctx, 1, 0, &gid), 0);
	return gid;
}

/* A second message, to itself and no group, says that the first one is not to come any more. */
static void test_own_copy(void **state)
{
	union ibv_gid group = v4_group(2), own;
	struct end open, blocked;

	(void)state;
	end_open(&open, 0, 0);
	end_open(&blocked, 0, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
	own = own_gid(&open);
	assert_int_equal(ibv_attach_mcast(open.qp, &group, 0), 0);
	assert_int_equal(ibv_attach_mcast(blocked.qp, &group, 0), 0);
	send_text(&open, &group, MCAST_QPN, "mine");
	expect(&open, "mine");
	expect(&blocked, "mine"); /* another's */
	send_text(&blocked, &group, MCAST_QPN, "not back to me");
	expect(&open, "not back to me");
	send_text(&blocked, &own, blocked.qp->qp_num, "end");
	expect(&blocked, "end");
	assert_int_equal(ibv_detach_mcast(open.qp, &group, 0), 0);
	assert_int_equal(ibv_detach_mcast(blocked.qp, &group, 0), 0);
	end_close(&open);
	end_close(&blocked);
}

static void test_rules(void **state)
{
	union ibv_gid group = v4_group(3), own;
	struct ibv_qp_init_attr rc = {.qp_type = IBV_QPT_RC};
	struct ibv_qp *qp;
	struct end e;

	(void)state;
	end_open(&e, 0, 0);
	own = own_gid(&e);
	rc.send_cq = rc.recv_cq = e.cq;
	rc.cap = (struct ibv_qp_cap){1, 1, 1, 1, 0};
	qp = ibv_create_qp(e.pd, &rc);
	assert_non_null(qp);
	assert_int_equal(ibv_attach_mcast(qp, &group, 0), EINVAL);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_attach_mcast(e.qp, &own, 0), EINVAL);
	assert_int_equal(ibv_detach_mcast(e.qp, &group, 0), EINVAL);
	assert_int_equal(ibv_attach_mcast(e.qp, &group, 0), 0);
	assert_int_equal(ibv_attach_mcast(e.qp, &group, 0), 0);
	assert_int_equal(ibv_destroy_qp(e.qp), EBUSY);
	send_text(&e, &group, MCAST_QPN, "one copy");
	expect(&e, "one copy");
	send_text(&e, &own, e.qp->qp_num, "end");
	expect(&e, "end");
	assert_int_equal(ibv_detach_mcast(e.qp, &group, 0), 0);
	assert_int_equal(ibv_detach_mcast(e.qp, &group, 0), EINVAL);
	end_close(&e);
}

/* As many groups as the device says, and one more. */
static void test_limit(void **state)
{
	struct ibv_device_attr attr;
	union ibv_gid group = v4_group(0);
	struct end e;
	int n;

	(void)state;
	end_open(&e, 0, 0);
	assert_int_equal(ibv_query_device(e.ctx, &attr), 0);
	assert_in_range(attr.max_mcast_grp, 1, 65535);
	for (n = 0; n < attr.max_mcast_grp; n++) {
		group.raw[14] = (uint8_t)(n >> 8);
		group.raw[15] = (uint8_t)n;
		assert_int_equal(ibv_attach_mcast(e.qp, &group, 0), 0);
	}
	group.raw[13]++;
	assert_int_equal(ibv_attach_mcast(e.qp, &group, 0), ENOMEM);
	group.raw[13]--;
	while (n-- > 0) {
		group.raw[14] = (uint8_t)(n >> 8);
		group.raw[15] = (uint8_t)n;
		assert_int_equal(ibv_detach_mcast(e.qp, &group, 0), 0);
	}
	end_close(&e);
}

/* ---- as one side of a pair of daemons ---- */

static int listen_for(const union ibv_gid *group, const char *text)
{
	struct end e;

	end_open(&e, 0, 0);
	assert_int_equal(ibv_attach_mcast(e.qp, group, 0), 0);
	puts("listening");
	fflush(stdout);
	expect(&e, text);
	puts("heard it");
	assert_int_equal(ibv_detach_mcast(e.qp, group, 0), 0);
	end_close(&e);
	return 0;
}

static int speak_to(const union ibv_gid *group, const char *text)
{
	struct end e;

	end_open(&e, 0, 0);
	assert_int_equal(ibv_attach_mcast(e.qp, group, 0), 0);
	send_text(&e, group, MCAST_QPN, text);
	expect(&e, text); /* one's own copy says that it has gone out */
	assert_int_equal(ibv_detach_mcast(e.qp, group, 0), 0);
	end_close(&e);
	return 0;
}

/* listen|speak GROUP TEXT: the group as an IPv6 address. */
static int one_side(char **argv)
{
	union ibv_gid group;

	if (inet_pton(AF_INET6, argv[2], group.raw) != 1)
		return 2;
	return strcmp(argv[1], "listen") ? speak_to(&group, argv[3]) : listen_for(&group, argv[3]);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_gets_a_copy),
		cmocka_unit_test(test_own_copy),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_limit),
	};

	if (argc == 4)
		return one_side(argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
