/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every refused call says why: each row of the lists (*.def) makes one call that fails, through the
 * real libibverbs on a real daemon, and finds its sentence in the daemon's log, with the program's
 * name, its pid and the call. Nothing else may be told as a refusal: a line that gives
 * no reason of its own fails the walk.
 */
#include "tests/support/verbs/verbs_world.h"
#include "tests/support/wire/cmocka_all.h"
#include "watch_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FAILED = -1 }; /* the call did not fail */

#define FAIL(call) return (call)
#define NONE(call) return (errno = 0, (call)) ? FAILED : errno

/* ---- what rows need ---- */

static int dereg_garbled(struct world *w)
{
	struct ibv_mr *mr = ibv_reg_mr(w->pd, w->memory, 64, 0);
	uint32_t handle = mr->handle;
	int err;

	mr->handle ^= 0x5a5a5a;
	err = ibv_dereg_mr(mr) ? errno : 0;
	mr->handle = handle;
	ibv_dereg_mr(mr);
	return err;
}

static int dereg_bound(struct world *w)
{
	struct ibv_mr *mr =
		ibv_reg_mr(w->pd, w->memory, 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(w->pd, IBV_MW_TYPE_1);
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {mr, (uintptr_t)w->memory, 64, IBV_ACCESS_REMOTE_READ}};
	struct ibv_wc wc;
	int err;

	assert_int_equal(ibv_bind_mw(qp, mw, &bind), 0);
	world_poll(w->cq, &wc);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	err = ibv_dereg_mr(mr) ? errno : 0;
	ibv_dealloc_mw(mw);
	ibv_destroy_qp(qp);
	ibv_dereg_mr(mr);
	return err;
}

static int rereg(struct world *w, unsigned flags)
{
	return ibv_rereg_mr(w->mr, (int)flags, NULL, NULL, 0, 0) ? errno : 0;
}

static int advise(struct world *w, unsigned advice, uint32_t flags, uint32_t lkey, uint32_t length)
{
	struct ibv_sge sge = {(uintptr_t)w->memory, length, lkey};

	return ibv_advise_mr(w->pd, (enum ibv_advise_mr_advice)advice, flags, &sge, 1);
}

static struct ibv_dm *new_dm(struct world *w)
{
	struct ibv_alloc_dm_attr a = {.length = 64};
	struct ibv_dm *dm = ibv_alloc_dm(w->ctx, &a);

	assert_non_null(dm);
	return dm;
}

static int dm_copy(struct world *w, uint64_t offset, size_t length)
{
	struct ibv_dm *dm = new_dm(w);
	int err = ibv_memcpy_to_dm(dm, offset, w->memory, length);

	ibv_free_dm(dm);
	return err;
}

static int dm_mr(struct world *w, uint64_t offset, size_t length, unsigned access)
{
	struct ibv_dm *dm = new_dm(w);
	struct ibv_mr *mr = ibv_reg_dm_mr(w->pd, dm, offset, length, access);
	int err = mr ? FAILED : errno;

	ibv_free_dm(dm);
	return err;
}

static int destroy_used_cq(struct world *w)
{
	struct ibv_qp *qp = world_qp(w, NULL);
	int err = ibv_destroy_cq(w->cq);

	ibv_destroy_qp(qp);
	return err;
}

/* libibverbs looks at the flags itself; not all releases do. */
static struct ibv_cq_ex *cq_ex_unchecked(struct world *w, struct ibv_cq_init_attr_ex *a)
{
	return verbs_get_ctx(w->ctx)->create_cq_ex(w->ctx, a);
}

static int shrink_full(struct world *w)
{
	struct ibv_qp *qp = world_qp(w, NULL);
	struct ibv_cq *cq = w->cq;
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;
	struct ibv_wc wc;
	int err;

	for (unsigned i = 0; i < WORLD_WR; i++)
		assert_int_equal(ibv_post_recv(qp, &wr, &bad), 0);
	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	err = ibv_resize_cq(cq, 1);
	for (unsigned i = 0; i < WORLD_WR; i++)
		world_poll(cq, &wc);
	ibv_destroy_qp(qp);
	return err;
}

#define NEW_QP(change)                                                                             \
	struct ibv_qp_init_attr a = world_init_attr(w, IBV_QPT_RC);                                \
	change;                                                                                    \
	NONE(ibv_create_qp(w->pd, &a))

static struct ibv_qp_init_attr_ex init_ex(struct world *w, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr a = world_init_attr(w, type);

	return (struct ibv_qp_init_attr_ex){.send_cq = a.send_cq,
					    .recv_cq = a.recv_cq,
					    .cap = a.cap,
					    .qp_type = type,
					    .comp_mask = IBV_QP_INIT_ATTR_PD,
					    .pd = w->pd};
}

#define NEW_QP_EX(type, one, other)                                                                \
	struct ibv_qp_init_attr_ex a = init_ex(w, type);                                           \
	one;                                                                                       \
	other;                                                                                     \
	NONE(ibv_create_qp_ex(w->ctx, &a))

#define NEW_XRCD(mask, file, flags)                                                                \
	struct ibv_xrcd_init_attr a = {.comp_mask = (mask), .fd = (file), .oflags = (flags)};      \
	NONE(ibv_open_xrcd(w->ctx, &a))

static struct ibv_xrcd *new_xrcd(struct world *w)
{
	struct ibv_xrcd_init_attr a = {.comp_mask = 3, .fd = -1, .oflags = O_CREAT};
	struct ibv_xrcd *x = ibv_open_xrcd(w->ctx, &a);

	assert_non_null(x);
	return x;
}

static int open_nothing(struct world *w, enum ibv_qp_type type)
{
	struct ibv_qp_open_attr a = {.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
						  IBV_QP_OPEN_ATTR_TYPE,
				     .qp_num = 0xabcdef,
				     .xrcd = new_xrcd(w),
				     .qp_type = type};
	struct ibv_qp *qp = ibv_open_qp(w->ctx, &a);
	int err = qp ? FAILED : errno;

	ibv_close_xrcd(a.xrcd);
	return err;
}

static int close_used_xrcd(struct world *w)
{
	struct ibv_xrcd *x = new_xrcd(w);
	struct ibv_qp_init_attr_ex a = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = x};
	struct ibv_qp *qp = ibv_create_qp_ex(w->ctx, &a);
	int err = ibv_close_xrcd(x);

	ibv_destroy_qp(qp);
	ibv_close_xrcd(x);
	return err;
}

static struct ibv_qp *plain_qp(struct world *w, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr a = world_init_attr(w, type);
	struct ibv_qp *qp = ibv_create_qp(w->pd, &a);

	assert_non_null(qp);
	return qp;
}

static int rate_limit_rc(struct world *w)
{
	struct ibv_qp_rate_limit_attr a = {.rate_limit = 1000};
	struct ibv_qp *qp = plain_qp(w, IBV_QPT_RC);
	int err = ibv_modify_qp_rate_limit(qp, &a);

	ibv_destroy_qp(qp);
	return err;
}

#define NEW_SRQ(wr, sge)                                                                           \
	struct ibv_srq_init_attr a = {.attr = {.max_wr = (wr), .max_sge = (sge)}};                 \
	NONE(ibv_create_srq(w->pd, &a))

#define NEW_SRQ_EX(mask, type, domain)                                                             \
	struct ibv_srq_init_attr_ex a = {.attr = {.max_wr = 4, .max_sge = 1},                      \
					 .comp_mask = (mask),                                      \
					 .srq_type = (type),                                       \
					 .pd = (domain)};                                          \
	NONE(ibv_create_srq_ex(w->ctx, &a))

enum srq_row { SRQ_NUMBER, SRQ_LIMIT, SRQ_RESIZE, SRQ_MASK, SRQ_BUSY, SRQ_POST, SRQ_OPS };

static int misuse_srq(struct world *w, struct ibv_srq *srq, enum srq_row row)
{
	struct ibv_recv_wr wr = {.num_sge = 5}, *bad;
	struct ibv_srq_attr attr = {.srq_limit = 9999};
	struct ibv_ops_wr op = {.wr_id = 1}, *bad_op;
	struct ibv_qp *qp;
	uint32_t number;
	int err;

	switch (row) {
	case SRQ_NUMBER:
		return ibv_get_srq_num(srq, &number);
	case SRQ_LIMIT:
		return ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT);
	case SRQ_RESIZE:
		attr.max_wr = 10000000;
		return ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
	case SRQ_MASK:
		return ibv_modify_srq(srq, &attr, 0x80);
	case SRQ_BUSY:
		qp = world_qp(w, srq);
		err = ibv_destroy_srq(srq);
		ibv_destroy_qp(qp);
		return err;
	case SRQ_POST:
		return ibv_post_srq_recv(srq, &wr, &bad);
	case SRQ_OPS:
		return ibv_post_srq_ops(srq, &op, &bad_op);
	}
	return FAILED;
}

static int with_srq(struct world *w, enum srq_row row)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w->pd, &a);
	int err;

	assert_non_null(srq);
	err = misuse_srq(w, srq, row);
	ibv_destroy_srq(srq);
	return err;
}

#define NEW_AH(change)                                                                             \
	struct ibv_ah_attr a = world_own_address(w->ctx);                                          \
	change;                                                                                    \
	NONE(ibv_create_ah(w->pd, &a))

static int attach(struct world *w, enum ibv_qp_type type, uint8_t first)
{
	union ibv_gid gid = {.raw = {first, 0x0e, [15] = 1}};
	struct ibv_qp *qp = plain_qp(w, type);
	int err = ibv_attach_mcast(qp, &gid, 0);

	ibv_destroy_qp(qp);
	return err;
}

static int detach(struct world *w)
{
	union ibv_gid gid = {.raw = {0xff, 0x0e, [15] = 1}};
	struct ibv_qp *qp = plain_qp(w, IBV_QPT_UD);
	int err = ibv_detach_mcast(qp, &gid, 0);

	ibv_destroy_qp(qp);
	return err;
}

#define NEW_WQ(change)                                                                             \
	struct ibv_wq_init_attr a = {                                                              \
		.wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = 1, .pd = w->pd, .cq = w->cq};       \
	change;                                                                                    \
	NONE(ibv_create_wq(w->ctx, &a))

static struct ibv_wq *new_wq(struct world *w)
{
	struct ibv_wq_init_attr a = {
		.wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = 1, .pd = w->pd, .cq = w->cq};
	struct ibv_wq *wq = ibv_create_wq(w->ctx, &a);

	assert_non_null(wq);
	return wq;
}

static int modify_wq(struct world *w, uint32_t mask, unsigned belief, unsigned state)
{
	struct ibv_wq_attr a = {.attr_mask = mask,
				.curr_wq_state = (enum ibv_wq_state)belief,
				.wq_state = (enum ibv_wq_state)state};
	struct ibv_wq *wq = new_wq(w);
	int err = ibv_modify_wq(wq, &a);

	ibv_destroy_wq(wq);
	return err;
}

static int post_wq(struct world *w)
{
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad;
	struct ibv_wq *wq = new_wq(w);
	int err = ibv_post_wq_recv(wq, &wr, &bad);

	ibv_destroy_wq(wq);
	return err;
}

static int flow(struct world *w, enum ibv_qp_type type, uint8_t port, uint32_t flags)
{
	struct ibv_flow_attr a = {.type = IBV_FLOW_ATTR_NORMAL, .port = port, .flags = flags};
	struct ibv_qp *qp = plain_qp(w, type);
	struct ibv_flow *rule = ibv_create_flow(qp, &a);
	int err = rule ? FAILED : errno;

	ibv_destroy_qp(qp);
	return err;
}

/* ---- changes of queue pairs ---- */

/* What the next state needs: attributes and mask. */
static int right(struct world *w, enum ibv_qp_type type, enum ibv_qp_state from,
		 struct ibv_qp_attr *a)
{
	bool rc = type == IBV_QPT_RC;

	*a = (struct ibv_qp_attr){.qp_state = from + 1,
				  .port_num = 1,
				  .qkey = WORLD_QKEY,
				  .path_mtu = IBV_MTU_1024,
				  .dest_qp_num = 1,
				  .ah_attr = world_own_address(w->ctx)};
	if (from == IBV_QPS_RESET)
		return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
		       (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	if (from == IBV_QPS_INIT && type == IBV_QPT_UD)
		return IBV_QP_STATE;
	if (from == IBV_QPS_INIT)
		return IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		       IBV_QP_RQ_PSN | (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0);
	return IBV_QP_STATE | IBV_QP_SQ_PSN |
	       (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
		   : 0);
}

static struct ibv_qp *qp_in(struct world *w, enum ibv_qp_type type, enum ibv_qp_state to)
{
	struct ibv_qp *qp = plain_qp(w, type);
	struct ibv_qp_attr a;

	for (enum ibv_qp_state from = IBV_QPS_RESET; from < to; from++) {
		int mask = right(w, type, from, &a);

		assert_int_equal(ibv_modify_qp(qp, &a, mask), 0);
	}
	return qp;
}

#define MODIFY(name, err, words, type, from, change)                                               \
	static int modify_##name(struct world *w)                                                  \
	{                                                                                          \
		struct ibv_qp *qp = qp_in(w, IBV_QPT_##type, IBV_QPS_##from);                      \
		struct ibv_qp_attr a;                                                              \
		int mask = right(w, IBV_QPT_##type, IBV_QPS_##from, &a), got;                      \
                                                                                                   \
		change;                                                                            \
		got = ibv_modify_qp(qp, &a, mask);                                                 \
		ibv_destroy_qp(qp);                                                                \
		return got;                                                                        \
	}
#include "modify.def"
#undef MODIFY

/* ---- posts ---- */

static struct ibv_ah *own_ah(struct world *w, enum ibv_qp_type type)
{
	struct ibv_ah_attr a = world_own_address(w->ctx);

	return type == IBV_QPT_UD ? ibv_create_ah(w->pd, &a) : NULL;
}

#define POST(name, call, words, type, state, change)                                               \
	static int post_##name(struct world *w)                                                    \
	{                                                                                          \
		struct ibv_qp *qp = qp_in(w, IBV_QPT_##type, IBV_QPS_##state);                     \
		struct ibv_ah *ah = own_ah(w, IBV_QPT_##type);                                     \
		struct ibv_sge sge = {(uintptr_t)w->memory, 8, w->mr->lkey};                       \
		struct ibv_send_wr wr = {.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND};    \
		struct ibv_send_wr *bad;                                                           \
		int got;                                                                           \
                                                                                                   \
		if (ah)                                                                            \
			wr.wr.ud.ah = ah;                                                          \
		change;                                                                            \
		got = ibv_post_send(qp, &wr, &bad);                                                \
		ibv_destroy_qp(qp);                                                                \
		if (ah)                                                                            \
			ibv_destroy_ah(ah);                                                        \
		return got;                                                                        \
	}
#include "post.def"
#undef POST

/* The ibv_wr_* calls of a QP; what is done between start and complete is the row's. */
#define BUILD(name, words, type, ops, ...)                                                         \
	static int build_##name(struct world *w)                                                   \
	{                                                                                          \
		struct ibv_qp_init_attr_ex a = init_ex(w, IBV_QPT_##type);                         \
		struct ibv_qp_attr attr;                                                           \
		struct ibv_qp_ex *q;                                                               \
		struct ibv_qp *qp;                                                                 \
		int got;                                                                           \
                                                                                                   \
		a.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;                                    \
		a.send_ops_flags = (ops);                                                          \
		qp = ibv_create_qp_ex(w->ctx, &a);                                                 \
		assert_non_null(qp);                                                               \
		for (enum ibv_qp_state s = IBV_QPS_RESET; s < IBV_QPS_RTS; s++) {                  \
			int mask = right(w, IBV_QPT_##type, s, &attr);                             \
			assert_int_equal(ibv_modify_qp(qp, &attr, mask), 0);                       \
		}                                                                                  \
		q = ibv_qp_to_qp_ex(qp);                                                           \
		ibv_wr_start(q);                                                                   \
		__VA_ARGS__;                                                                       \
		got = ibv_wr_complete(q);                                                          \
		ibv_destroy_qp(qp);                                                                \
		return got;                                                                        \
	}
#include "build.def"
#undef BUILD

/* ---- receives ---- */

static int recv_in(struct world *w, enum ibv_qp_state state, struct ibv_srq *srq, int num_sge)
{
	struct ibv_qp *qp = srq ? world_qp(w, srq) : qp_in(w, IBV_QPT_RC, state);
	struct ibv_recv_wr wr = {.num_sge = num_sge}, *bad;
	int err = ibv_post_recv(qp, &wr, &bad);

	ibv_destroy_qp(qp);
	return err;
}

static int recv_srq(struct world *w)
{
	struct ibv_srq_init_attr a = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w->pd, &a);
	int err = recv_in(w, IBV_QPS_RTS, srq, 0);

	ibv_destroy_srq(srq);
	return err;
}

#define REFUSAL(name, err, call, words, ...)                                                       \
	static int name##_row(struct world *w)                                                     \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
	}
#include "refusals.def"
REFUSAL(recv_reset, EINVAL, "post_recv of QP", "the QP is in RESET: receives need at least INIT",
	FAIL(recv_in(w, IBV_QPS_RESET, NULL, 0)))
REFUSAL(recv_sges, EINVAL, "post_recv of QP", "num_sge 9 is not from 0 to the queue's max_sge, 2",
	FAIL(recv_in(w, IBV_QPS_INIT, NULL, 9)))
REFUSAL(recv_with_srq, EINVAL, "post_recv of QP", "the QP has an SRQ", FAIL(recv_srq(w)))
#undef REFUSAL

static const struct row {
	const char *name;
	int err;
	const char *call, *words;
	int (*make)(struct world *w);
} rows[] = {
#define REFUSAL(name, err, call, words, ...) {#name, err, call, words, name##_row},
#define MODIFY(name, err, words, type, from, change)                                               \
	{"modify " #name, err, "modify_qp of QP", words, modify_##name},
#define POST(name, call, words, type, state, change)                                               \
	{"post " #name, EINVAL, call, words, post_##name},
#define BUILD(name, words, type, ops, ...)                                                         \
	{"build " #name, EINVAL, "wr_complete of QP", words, build_##name},
#include "build.def"
#include "modify.def"
#include "post.def"
#include "refusals.def"
	{"recv_reset", EINVAL, "post_recv of QP", "the QP is in RESET: receives", recv_reset_row},
	{"recv_sges", EINVAL, "post_recv of QP", "num_sge 9 is not from 0", recv_sges_row},
	{"recv_with_srq", EINVAL, "post_recv of QP", "the QP has an SRQ", recv_with_srq_row},
};

static void test_walk(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		int got;

		/* The log leaves out what comes too often: then the call is made again. */
		do {
			errno = 0;
			got = r->make(*state);
			if (got != r->err)
				fail_msg("%s: %d (%s), wanted %d (%s)", r->name, got,
					 strerror(got < 0 ? 0 : got), r->err, strerror(r->err));
		} while (!watch_log_has(r->name, r->call, r->err, r->words));
	}
	watch_log_end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_walk, world_setup, world_teardown),
	};

	return !watch_log_begin() || cmocka_run_group_tests(tests, NULL, NULL);
}
