/* SPDX-License-Identifier: BSD-2-Clause */
/* As refusals.c, of the calls of uhcadv.h. */
#include "tests/support/verbs/verbs_pair.h"
#include "tests/support/wire/cmocka_all.h"
#include "watch_log.h"

#include <errno.h>
#include <infiniband/uhcadv.h>
#include <string.h>

static struct verbs_pair *pair;
static struct ibv_mr *key; /* of uhcadv_alloc_mr */

/* ---- rows ---- */

static int create_qp(enum ibv_qp_type type, struct uhcadv_qp_init_attr dv)
{
	struct ibv_qp_init_attr_ex attr = {.send_cq = pair->a.cq,
					   .recv_cq = pair->a.cq,
					   .cap = {8, 8, 1, 1, 0},
					   .qp_type = type,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = pair->pd};

	return uhcadv_create_qp(pair->context, &attr, &dv) ? 0 : errno;
}

static int create_mask(void)
{
	return create_qp(IBV_QPT_RC, (struct uhcadv_qp_init_attr){.comp_mask = 4});
}

static int create_flags(void)
{
	return create_qp(IBV_QPT_RC, (struct uhcadv_qp_init_attr){.create_flags = 2});
}

static int create_ops(void)
{
	return create_qp(IBV_QPT_RC, (struct uhcadv_qp_init_attr){.send_ops_flags = 1 << 6});
}

static int create_ops_type(void)
{
	return create_qp(IBV_QPT_UC, (struct uhcadv_qp_init_attr){
					     .send_ops_flags = UHCADV_QP_WITH_READ_WITH_INV});
}

static int create_entries(void)
{
	return create_qp(IBV_QPT_RC, (struct uhcadv_qp_init_attr){.max_list_entries = 100000});
}

static int create_no_sends(void)
{
	return create_qp(IBV_QPT_XRC_RECV, (struct uhcadv_qp_init_attr){.max_list_entries = 1});
}

static int query_size(void)
{
	struct uhcadv_device_attr attr;

	return uhcadv_query_device(pair->context, &attr, 3);
}

static int alloc_entries(void)
{
	return uhcadv_alloc_mr(pair->pd, 0) ? 0 : errno;
}

static int rereg(struct ibv_mr *mr, uint64_t mask, unsigned access, uint32_t n)
{
	struct uhcadv_block block[8] = {
		{.addr = (uintptr_t)pair->a.memory, .length = 8, .lkey = pair->a.mr->lkey}};
	struct uhcadv_reg_attr attr = {.comp_mask = mask, .access = access};

	return uhcadv_rereg_mr_sg(mr, &attr, block, n);
}

static int rereg_region(void)
{
	return rereg(pair->a.mr, 0, 0, 1);
}

static int rereg_mask(void)
{
	return rereg(key, 0x10, 0, 1);
}

static int rereg_empty(void)
{
	return rereg(key, 0, 0, 0);
}

static int rereg_access(void)
{
	return rereg(key, 0, 1 << 10, 1);
}

static int rereg_many(void)
{
	return rereg(key, 0, 0, 3);
}

static int rereg_dims(void)
{
	struct uhcadv_reg_attr attr = {.access = 0};
	struct uhcadv_interleaved layout = {.n_dims = 9, .n_pieces = 1};

	return uhcadv_rereg_mr_interleaved(key, &attr, &layout);
}

static int post(struct uhcadv_send_wr wr)
{
	struct uhcadv_send_wr *bad;

	return uhcadv_post_send(pair->a.qp, &wr, &bad);
}

static int post_opcode(void)
{
	return post((struct uhcadv_send_wr){.opcode = (enum uhcadv_wr_opcode)77});
}

static int post_flags(void)
{
	return post((struct uhcadv_send_wr){.send_flags = IBV_SEND_INLINE});
}

static int post_mask(void)
{
	return post((struct uhcadv_send_wr){.comp_mask = 8});
}

static int post_no_mr(void)
{
	return post((struct uhcadv_send_wr){.opcode = UHCADV_WR_REG_SG});
}

static int post_reg_sges(void)
{
	return post((struct uhcadv_send_wr){.opcode = UHCADV_WR_REG_SG, .num_sge = 1});
}

static int post_sges(void)
{
	return post((struct uhcadv_send_wr){.opcode = UHCADV_WR_MASKED_CMP_SWP, .num_sge = 99});
}

static int post_inv_sges(void)
{
	return post((struct uhcadv_send_wr){.opcode = UHCADV_WR_READ_WITH_INV});
}

static int post_shift(void)
{
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_REG_MR_PAGES, .reg = {.mr = key}};

	wr.reg.pages = (struct uhcadv_page_list){.n = 1, .page_shift = 5};
	return post(wr);
}

static int post_pages(void)
{
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_REG_MR_PAGES, .reg = {.mr = key}};

	wr.reg.pages = (struct uhcadv_page_list){.n = 100000, .page_shift = 12};
	return post(wr);
}

static int post_operand(void)
{
	return post((struct uhcadv_send_wr){.opcode = UHCADV_WR_MASKED_CMP_SWP});
}

static int post_size(void)
{
	uint64_t one = 1;
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_MASKED_FETCH_ADD};

	wr.atomic.fetch_add = (struct uhcadv_masked_fetch_add){.size = 3, .add = &one};
	return post(wr);
}

static int no_builders(void)
{
	struct ibv_qp_init_attr_ex attr = {.send_cq = pair->a.cq,
					   .recv_cq = pair->a.cq,
					   .cap = {8, 8, 1, 1, 0},
					   .qp_type = IBV_QPT_RC,
					   .comp_mask = IBV_QP_INIT_ATTR_PD |
							IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					   .send_ops_flags = IBV_QP_EX_WITH_SEND,
					   .pd = pair->pd};
	struct ibv_qp *qp = ibv_create_qp_ex(pair->context, &attr);
	int err;

	assert_non_null(qp);
	err = uhcadv_qp_ex_from_ibv_qp_ex(ibv_qp_to_qp_ex(qp)) ? 0 : errno;
	assert_int_equal(ibv_destroy_qp(qp), 0);
	return err;
}

/* Of a builder, wr_complete tells. */
static int built_size(void)
{
	struct ibv_qp_init_attr_ex attr = {.send_cq = pair->a.cq,
					   .recv_cq = pair->a.cq,
					   .cap = {8, 8, 1, 1, 0},
					   .qp_type = IBV_QPT_RC,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = pair->pd};
	struct uhcadv_qp_init_attr dv = {.send_ops_flags = UHCADV_QP_WITH_MASKED_FETCH_ADD};
	struct uhcadv_masked_fetch_add op = {.size = 5, .add = &op};
	struct ibv_qp *qp = uhcadv_create_qp(pair->context, &attr, &dv);
	struct ibv_qp_ex *qpx;
	int err;

	assert_non_null(qp);
	verbs_pair_connect(pair, qp, qp->qp_num);
	qpx = ibv_qp_to_qp_ex(qp);
	ibv_wr_start(qpx);
	uhcadv_wr_masked_fetch_add(uhcadv_qp_ex_from_ibv_qp_ex(qpx), 0, 0, &op);
	err = ibv_wr_complete(qpx);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	return err;
}

static const struct row {
	const char *name;
	int err;
	const char *call, *words;
	int (*make)(void);
} rows[] = {
	{"create_mask", EINVAL, "uhcadv_create_qp", "comp_mask 0x4 is not 0", create_mask},
	{"create_flags", EOPNOTSUPP, "uhcadv_create_qp", "create_flags 0x2 has bits beyond 0x",
	 create_flags},
	{"create_ops", EOPNOTSUPP, "uhcadv_create_qp", "send_ops_flags 0x40 is not in uhcadv.h",
	 create_ops},
	{"create_ops_type", EOPNOTSUPP, "uhcadv_create_qp",
	 "send_ops_flags: QPs of type 3 do not support all flags", create_ops_type},
	{"create_entries", EINVAL, "uhcadv_create_qp",
	 "max_list_entries 100000 exceeds the device's, ", create_entries},
	{"create_no_sends", EOPNOTSUPP, "uhcadv_create_qp",
	 "QPs of type 10, or with RSS, cannot send", create_no_sends},
	{"query_size", EINVAL, "uhcadv_query_device", "attr_size 3 is below 8", query_size},
	{"alloc_entries", EINVAL, "alloc_key", "max_entries 0 ", alloc_entries},
	{"rereg_region", EINVAL, "uhcadv_rereg_mr_sg", "the region is not from uhcadv_alloc_mr",
	 rereg_region},
	{"rereg_mask", EINVAL, "uhcadv_rereg_mr_sg", "comp_mask 0x10 is not 0", rereg_mask},
	{"rereg_empty", EINVAL, "uhcadv_rereg_mr_sg", "the list is empty", rereg_empty},
	{"rereg_access", EOPNOTSUPP, "uhcadv_rereg_mr_sg", "access 0x400 has unknown bits",
	 rereg_access},
	{"rereg_many", E2BIG, "describe_key", "3 ", rereg_many},
	{"rereg_dims", E2BIG, "uhcadv_rereg_mr_interleaved", "n_dims 9 or n_pieces 1 exceeds 8 or",
	 rereg_dims},
	{"post_opcode", EINVAL, "uhcadv_post_send of QP",
	 "opcode 77 is not valid for a QP of type 2", post_opcode},
	{"post_flags", EINVAL, "uhcadv_post_send of QP", "send_flags 0x8 has bits beyond 0x",
	 post_flags},
	{"post_mask", EINVAL, "uhcadv_post_send of QP", "comp_mask 0x8 is not 0", post_mask},
	{"post_no_mr", EINVAL, "uhcadv_post_send of QP", "mr is NULL", post_no_mr},
	{"post_reg_sges", EINVAL, "uhcadv_post_send of QP", "num_sge 1 of a registration must be 0",
	 post_reg_sges},
	{"post_sges", EINVAL, "uhcadv_post_send of QP", "num_sge 99 is not from 0 to", post_sges},
	{"post_inv_sges", EINVAL, "uhcadv_post_send of QP",
	 "num_sge 0 of a READ with invalidate must be 1", post_inv_sges},
	{"post_shift", EINVAL, "uhcadv_post_send of QP", "page_shift 5 is not from 12 to 30",
	 post_shift},
	{"post_pages", E2BIG, "uhcadv_post_send of QP", "100000 entries exceed", post_pages},
	{"post_operand", EINVAL, "uhcadv_post_send of QP", "compare or swap is NULL", post_operand},
	{"post_size", EINVAL, "uhcadv_post_send of QP", "size 3 is not 4, 8, 16 or 32", post_size},
	{"no_builders", EOPNOTSUPP, "uhcadv_qp_ex_from_ibv_qp_ex",
	 "the QP was created without send_ops_flags of uhcadv.h", no_builders},
	{"built_size", EINVAL, "wr_complete of QP", "size 5 is not 4, 8, 16 or 32", built_size},
};

static void test_walk(void **state)
{
	(void)state;
	pair = verbs_pair_create(IBV_QPT_RC, 0);
	key = uhcadv_alloc_mr(pair->pd, 2);
	assert_non_null(key);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		int got;

		/* The log leaves out what comes too often: then the call is made again. */
		do {
			got = r->make();
			if (got != r->err)
				fail_msg("%s: %d (%s), wanted %d (%s)", r->name, got, strerror(got),
					 r->err, strerror(r->err));
		} while (!watch_log_has(r->name, r->call, r->err, r->words));
	}
	watch_log_end();
	assert_int_equal(ibv_dereg_mr(key), 0);
	verbs_pair_destroy(pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_walk)};

	return !watch_log_begin() || cmocka_run_group_tests(tests, NULL, NULL);
}
