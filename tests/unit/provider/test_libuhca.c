/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Direct verbs through libuhca and the real libibverbs: what the daemon is told, what it is not
 * asked for, and objects that are not ours.
 */
#include "emu/abi/cmd.h"
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <infiniband/uhcadv.h>
#include <string.h>

/* ---- query ---- */

static uint64_t caps_of(struct verbs_fixture *f, uint32_t features)
{
	struct uhcadv_device_attr a;

	f->daemon.features = features;
	assert_int_equal(uhcadv_query_device(f->context, &a, sizeof(a)), 0);
	return a.caps;
}

/* Each feature has its bit; the others are plain verbs' business. */
static void test_caps(void **state)
{
	static const struct {
		uint32_t feature;
		uint64_t cap;
	} pairs[] = {
		{UHCA_ABI_HAS_FAST_REG, UHCADV_CAP_FAST_REG},
		{UHCA_ABI_HAS_BLOCK_LIST, UHCADV_CAP_BLOCK_LIST},
		{UHCA_ABI_HAS_INTERLEAVED, UHCADV_CAP_INTERLEAVED},
		{UHCA_ABI_HAS_SG, UHCADV_CAP_SG},
		{UHCA_ABI_HAS_INVALIDATE, UHCADV_CAP_INVALIDATE},
		{UHCA_ABI_HAS_INV_FENCE, UHCADV_CAP_INVALIDATE_FENCE},
		{UHCA_ABI_HAS_READ_WITH_INV, UHCADV_CAP_READ_WITH_INV},
		{UHCA_ABI_HAS_SINK_RULE, UHCADV_CAP_READ_SINK_WRITE},
		{UHCA_ABI_HAS_KEY_BYTE, UHCADV_CAP_KEY_BYTE},
		{UHCA_ABI_HAS_ZERO_BASED, UHCADV_CAP_ZERO_BASED},
		{UHCA_ABI_HAS_MASKED_ATOMICS, UHCADV_CAP_MASKED_ATOMICS},
		{UHCA_ABI_HAS_BLOCK_LOOPBACK, UHCADV_CAP_BLOCK_LOOPBACK},
		{UHCA_ABI_HAS_LOW_LATENCY, UHCADV_CAP_LOW_LATENCY},
		{UHCA_ABI_HAS_MW_TYPE_1, UHCADV_CAP_MW_TYPE_1},
		{UHCA_ABI_HAS_MW_TYPE_2A, UHCADV_CAP_MW_TYPE_2A},
		{UHCA_ABI_HAS_MW_TYPE_2B, UHCADV_CAP_MW_TYPE_2B},
		{UHCA_ABI_HAS_XRC, UHCADV_CAP_XRC},
	};
	struct verbs_fixture *f = *state;
	uint32_t rest = UINT32_MAX;

	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		assert_int_equal(caps_of(f, pairs[i].feature), pairs[i].cap);
		rest &= ~pairs[i].feature;
	}
	assert_int_equal(caps_of(f, rest), 0);
}

static void test_query(void **state)
{
	struct verbs_fixture *f = *state;
	struct {
		struct uhcadv_device_attr a;
		uint8_t more[8];
	} x;

	f->daemon.features = UINT32_MAX;
	f->daemon.max_list_entries = 77;
	memset(&x, 0xff, sizeof(x));
	assert_int_equal(uhcadv_query_device(f->context, &x.a, sizeof(x)), 0);
	assert_int_equal(x.a.comp_mask, 0);
	assert_int_equal(x.a.page_size_cap, 0x7ffff000); /* 1 << 12 ... 1 << 30 */
	assert_int_equal(x.a.max_list_entries, 77);
	assert_int_equal(x.a.max_pieces, 16);
	assert_int_equal(x.a.max_dims, 8);
	assert_int_equal(x.a.max_depth, UHCA_ABI_MAX_DEPTH);
	assert_int_equal(x.a.max_low_latency_wr, 33);
	assert_string_equal(x.a.profile, "fifteen letters");
	for (unsigned i = 0; i < sizeof(x.more); i++)
		assert_int_equal(x.more[i], 0);
	memset(&x, 0xff, sizeof(x));
	assert_int_equal(uhcadv_query_device(f->context, &x.a, 8), 0);
	assert_int_equal(x.a.comp_mask, 0);
	assert_int_equal(x.a.caps, UINT64_MAX);
	assert_int_equal(uhcadv_query_device(f->context, &x.a, 7), EINVAL);
	assert_int_equal(uhcadv_query_device(f->context, NULL, 8), EINVAL);
	f->daemon.features = 0;
	assert_int_equal(uhcadv_query_device(f->context, &x.a, sizeof(x.a)), 0);
	assert_int_equal(x.a.page_size_cap | x.a.max_list_entries | x.a.max_pieces, 0);
	assert_int_equal(x.a.max_dims | x.a.max_depth | x.a.max_low_latency_wr, 0);
}

/* ---- keys ---- */

static void test_alloc(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_alloc_key *in = (void *)f->daemon.last[UHCA_CMD_ALLOC_KEY];
	struct ibv_mr *mr = uhcadv_alloc_mr(f->pd, 31);

	assert_non_null(mr);
	assert_int_equal(in->pd, f->pd->handle);
	assert_int_equal(in->max_entries, 31);
	assert_ptr_equal(mr->context, f->context);
	assert_ptr_equal(mr->pd, f->pd);
	assert_null(mr->addr);
	assert_int_equal(mr->length, 0);
	assert_int_equal(mr->lkey, mr->handle << 8);
	assert_int_equal(mr->rkey, mr->lkey);
	assert_int_equal(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, 0),
			 IBV_REREG_MR_ERR_INPUT);
	assert_int_equal(ibv_dereg_mr(mr), 0);
	assert_int_equal(f->daemon.calls[UHCA_CMD_DEREG_MR], 1);
	f->daemon.fail[UHCA_CMD_ALLOC_KEY] = -ENOMEM;
	errno = 0;
	assert_null(uhcadv_alloc_mr(f->pd, 31));
	assert_int_equal(errno, ENOMEM);
}

static void test_rereg_sg(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_describe_key *in = (void *)f->daemon.last[UHCA_CMD_DESCRIBE_KEY];
	struct ibv_mr *mr = uhcadv_alloc_mr(f->pd, 2);
	struct uhcadv_reg_attr attr = {.iova = 9, .access = IBV_ACCESS_LOCAL_WRITE, .key_byte = 5};
	const struct uhcadv_block block[2] = {{1, 2, 3}, {4, 5, 6}};
	const struct uhca_abi_block list[2] = {{1, 2, 3, 0}, {4, 5, 6, 0}};
	uint32_t key;

	assert_non_null(mr);
	key = mr->lkey;
	f->daemon.fail[UHCA_CMD_DESCRIBE_KEY] = -EBUSY;
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, block, 2), EBUSY);
	assert_int_equal(mr->lkey, key);
	f->daemon.fail[UHCA_CMD_DESCRIBE_KEY] = 0;
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, block, 2), 0);
	assert_int_equal(mr->lkey, key | 5);
	assert_int_equal(mr->rkey, key | 5);
	assert_int_equal(in->shape, UHCA_ABI_SHAPE_SG);
	assert_int_equal(in->bytes, sizeof(list));
	assert_memory_equal(in->list, list, sizeof(list));
	assert_int_equal(in->list[6], 0);
	assert_memory_equal(
		&in->layout,
		(&(struct uhca_abi_layout){
			.iova = 9, .key = key | 5, .access = IBV_ACCESS_LOCAL_WRITE, .n = 2}),
		sizeof(in->layout));
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, block, 0), EINVAL);
	assert_int_equal(uhcadv_rereg_mr_sg(mr, &attr, block, 513), E2BIG);
	assert_int_equal(uhcadv_rereg_mr_sg(f->mr, &attr, block, 1), EINVAL); /* has memory */
	assert_int_equal(f->daemon.calls[UHCA_CMD_DESCRIBE_KEY], 2);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

static void test_rereg_interleaved(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_describe_key *in = (void *)f->daemon.last[UHCA_CMD_DESCRIBE_KEY];
	struct ibv_mr *mr = uhcadv_alloc_mr(f->pd, 1);
	const struct uhcadv_reg_attr attr = {.key_byte = 0xff};
	const struct uhcadv_piece piece = {.addr = 1, .bytes = 2, .lkey = 3, .stride = {-4}};
	struct uhcadv_interleaved layout = {
		.n_dims = 1, .n_pieces = 1, .count = {7}, .piece = &piece};
	const struct uhca_abi_piece as = {.addr = 1, .bytes = 2, .lkey = 3, .stride = {-4}};

	assert_non_null(mr);
	assert_int_equal(uhcadv_rereg_mr_interleaved(mr, &attr, &layout), 0);
	assert_int_equal(in->shape, UHCA_ABI_SHAPE_INTERLEAVED);
	assert_int_equal(in->bytes, 96);
	assert_int_equal(in->list[0], 7);
	assert_memory_equal(&in->list[1], &as, sizeof(as));
	assert_int_equal(in->layout.n, 1);
	assert_int_equal(in->layout.n_dims, 1);
	assert_int_equal(in->layout.key & 0xff, 0xff);
	layout.n_dims = 9;
	assert_int_equal(uhcadv_rereg_mr_interleaved(mr, &attr, &layout), E2BIG);
	layout.n_dims = 1;
	layout.n_pieces = 17;
	assert_int_equal(uhcadv_rereg_mr_interleaved(mr, &attr, &layout), E2BIG);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* ---- queue pairs ---- */

static struct ibv_qp *create(struct verbs_fixture *f, enum ibv_qp_type type,
			     struct uhcadv_qp_init_attr *dv)
{
	struct ibv_qp_init_attr_ex attr = {.send_cq = f->cq,
					   .recv_cq = f->cq,
					   .cap = {8, 8, 1, 1, 0},
					   .qp_type = type,
					   .comp_mask = IBV_QP_INIT_ATTR_PD,
					   .pd = f->pd};

	errno = 0;
	return uhcadv_create_qp(f->context, &attr, dv);
}

static void refused(struct verbs_fixture *f, struct uhcadv_qp_init_attr dv, int err)
{
	unsigned calls = f->daemon.calls[UHCA_CMD_CREATE_QP];

	assert_null(create(f, IBV_QPT_RC, &dv));
	assert_int_equal(errno, err);
	assert_int_equal(f->daemon.calls[UHCA_CMD_CREATE_QP], calls);
}

/* Room in the data area for the longest of what the QP may carry there. */
static void asks_for(struct verbs_fixture *f, uint64_t ops, uint32_t entries, uint32_t bytes)
{
	const struct uhca_cmd_create_qp *in = (void *)f->daemon.last[UHCA_CMD_CREATE_QP];
	struct uhcadv_qp_init_attr dv = {.send_ops_flags = ops, .max_list_entries = entries};
	struct ibv_qp *qp = create(f, IBV_QPT_RC, &dv);

	assert_non_null(qp);
	assert_int_equal(in->max_list_bytes, bytes);
	assert_int_equal(in->create_flags, 0);
	assert_int_equal(!!ibv_qp_to_qp_ex(qp), !!ops);
	if (ops)
		assert_non_null(uhcadv_qp_ex_from_ibv_qp_ex(ibv_qp_to_qp_ex(qp)));
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_create_qp(void **state)
{
	struct verbs_fixture *f = *state;
	const struct uhca_cmd_create_qp *in = (void *)f->daemon.last[UHCA_CMD_CREATE_QP];
	struct uhcadv_qp_init_attr low = {.create_flags = UHCADV_QP_LOW_LATENCY};
	struct ibv_qp *qp;

	f->daemon.features = UINT32_MAX;
	f->daemon.max_list_entries = 512;
	asks_for(f, 0, 0, 0);
	asks_for(f, 0, 512, 512 * 24);
	asks_for(f, UHCADV_QP_WITH_REG_MR | UHCADV_QP_WITH_REG_SG, 0, 0);
	asks_for(f, UHCADV_QP_WITH_REG_INTERLEAVED, 10, 8 * 8 + 16 * 88);
	asks_for(f, UHCADV_QP_WITH_REG_INTERLEAVED, 100, 100 * 24);
	asks_for(f, UHCADV_QP_WITH_MASKED_FETCH_ADD, 0, 4 * 32);
	qp = create(f, IBV_QPT_RC, &low);
	assert_non_null(qp);
	assert_int_equal(in->create_flags, UHCA_ABI_QP_LOW_LATENCY);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	qp = create(f, IBV_QPT_RC, NULL);
	assert_non_null(qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_create_refused(void **state)
{
	struct verbs_fixture *f = *state;
	struct uhcadv_qp_init_attr sg = {.send_ops_flags = UHCADV_QP_WITH_REG_SG};

	f->daemon.features = UINT32_MAX;
	f->daemon.max_list_entries = 100;
	refused(f, (struct uhcadv_qp_init_attr){.comp_mask = 1}, EINVAL);
	refused(f, (struct uhcadv_qp_init_attr){.create_flags = 2}, EOPNOTSUPP);
	refused(f, (struct uhcadv_qp_init_attr){.send_ops_flags = 64}, EOPNOTSUPP);
	refused(f, (struct uhcadv_qp_init_attr){.max_list_entries = 101}, EINVAL);
	assert_null(create(f, IBV_QPT_UD, &sg));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_null(create(f, IBV_QPT_XRC_RECV, &sg));
	assert_int_equal(errno, EOPNOTSUPP);
	f->daemon.features = UINT32_MAX & ~(UHCA_ABI_HAS_SG | UHCA_ABI_HAS_LOW_LATENCY);
	refused(f, sg, EOPNOTSUPP);
	refused(f, (struct uhcadv_qp_init_attr){.create_flags = UHCADV_QP_LOW_LATENCY}, EOPNOTSUPP);
}

/* A QP that ibv_create_qp made: lists that fit the data area its inline data needs. */
static void test_post(void **state)
{
	struct verbs_fixture *f = *state;
	struct fake_queue *q = fake_newest(&f->daemon, UHCA_ABI_REGION_QP);
	struct ibv_mr *mr = uhcadv_alloc_mr(f->pd, 100);
	struct uhcadv_block block[FAKE_DATA_STRIDE / 24 + 1] = {{1, 2, 3}};
	struct uhcadv_send_wr *bad, wr = {.wr_id = 3, .opcode = UHCADV_WR_REG_SG};

	f->daemon.features = UHCA_ABI_HAS_SG;
	wr.reg.mr = mr;
	wr.reg.block = block;
	wr.reg.n_blocks = FAKE_DATA_STRIDE / 24 + 1;
	assert_int_equal(uhcadv_post_send(f->qp, &wr, &bad), E2BIG);
	wr.reg.n_blocks--;
	assert_int_equal(uhcadv_post_send(f->qp, &wr, &bad), 0);
	assert_int_equal(fake_send_slot(q, 0)->opcode, UHCA_ABI_WR_REG_SG);
	assert_int_equal(fake_send_data(q, 0)[0], 1);
	assert_int_equal(f->daemon.calls[UHCA_CMD_QUERY_DEVICE], 1); /* once for all posts */
	wr.opcode = UHCADV_WR_REG_INTERLEAVED;
	assert_int_equal(uhcadv_post_send(f->qp, &wr, &bad), EOPNOTSUPP);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

/* ---- whose objects ---- */

static void test_ours(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_context other = *f->context;
	struct ibv_device device = *f->context->device;
	struct ibv_pd pd = {.context = &other};
	struct ibv_mr mr = {.context = &other};
	struct ibv_qp_ex qp = {.qp_base = {.context = &other}};
	struct uhcadv_send_wr wr, *bad = NULL;
	struct uhcadv_reg_attr reg;
	struct uhcadv_device_attr attr;

	other.ops.poll_cq = NULL; /* some other provider's */
	assert_true(uhcadv_is_supported(f->context->device));
	assert_false(uhcadv_is_supported(&device));
	assert_int_equal(uhcadv_query_device(&other, &attr, sizeof(attr)), EOPNOTSUPP);
	assert_null(uhcadv_create_qp(&other, NULL, NULL));
	assert_null(uhcadv_alloc_mr(&pd, 1));
	assert_int_equal(uhcadv_rereg_mr_interleaved(&mr, &reg, NULL), EOPNOTSUPP);
	assert_int_equal(uhcadv_rereg_mr_sg(&mr, &reg, NULL, 1), EOPNOTSUPP);
	assert_null(uhcadv_alloc_shared(&other, 1));
	assert_int_equal(uhcadv_free_shared(&other, &attr), EOPNOTSUPP);
	assert_int_equal(uhcadv_post_send(&qp.qp_base, &wr, &bad), EOPNOTSUPP);
	assert_ptr_equal(bad, &wr);
	errno = 0;
	assert_null(uhcadv_qp_ex_from_ibv_qp_ex(&qp));
	assert_int_equal(errno, EOPNOTSUPP);
}

static void test_daemon_gone(void **state)
{
	struct verbs_fixture *f = *state;
	struct uhcadv_send_wr *bad, wr = {.opcode = UHCADV_WR_REG_SG};
	struct ibv_mr *mr = uhcadv_alloc_mr(f->pd, 1);
	struct uhcadv_block block = {1, 2, 3};
	struct uhcadv_device_attr attr;

	fake_daemon_die(&f->daemon);
	assert_int_equal(uhcadv_query_device(f->context, &attr, sizeof(attr)), EIO);
	errno = 0;
	assert_null(uhcadv_alloc_mr(f->pd, 1));
	assert_int_equal(errno, EIO);
	assert_int_equal(
		uhcadv_rereg_mr_sg(mr, &(struct uhcadv_reg_attr){.key_byte = 1}, &block, 1), EIO);
	wr.reg.mr = mr;
	assert_int_equal(uhcadv_post_send(f->qp, &wr, &bad), EIO);
	assert_int_equal(ibv_dereg_mr(mr), 0);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_caps),
		TEST(test_query),
		TEST(test_alloc),
		TEST(test_rereg_sg),
		TEST(test_rereg_interleaved),
		TEST(test_create_qp),
		TEST(test_create_refused),
		TEST(test_post),
		TEST(test_ours),
		TEST(test_daemon_gone),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
