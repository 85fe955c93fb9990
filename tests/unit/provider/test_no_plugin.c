/* SPDX-License-Identifier: BSD-2-Clause */
/* libuhca alone: no plugin is loaded, so nothing is a uhca device, whatever one hands it. */
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <infiniband/uhcadv.h>

static struct ibv_device device;
static struct ibv_context context;
static struct ibv_pd pd = {.context = &context};
static struct ibv_mr mr = {.context = &context};

static void none(const void *pointer)
{
	assert_null(pointer);
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
}

static void test_unsupported(void **state)
{
	struct ibv_qp_init_attr_ex qp_attr = {.qp_type = IBV_QPT_RC};
	struct ibv_qp_ex qp = {.qp_base = {.context = &context}};
	struct uhcadv_send_wr wr = {.wr_id = 1}, *bad = NULL;
	struct uhcadv_device_attr attr;
	struct uhcadv_reg_attr reg = {.access = 0};
	struct uhcadv_interleaved layout = {.n_dims = 0};
	struct uhcadv_block block = {.length = 1};

	(void)state;
	errno = 0;
	assert_false(uhcadv_is_supported(&device));
	assert_int_equal(uhcadv_query_device(&context, &attr, sizeof(attr)), EOPNOTSUPP);
	none(uhcadv_create_qp(&context, &qp_attr, NULL));
	none(uhcadv_alloc_mr(&pd, 1));
	assert_int_equal(uhcadv_rereg_mr_interleaved(&mr, &reg, &layout), EOPNOTSUPP);
	assert_int_equal(uhcadv_rereg_mr_sg(&mr, &reg, &block, 1), EOPNOTSUPP);
	none(uhcadv_alloc_shared(&context, 1));
	assert_int_equal(uhcadv_free_shared(&context, &attr), EOPNOTSUPP);
	assert_int_equal(uhcadv_post_send(&qp.qp_base, &wr, &bad), EOPNOTSUPP);
	assert_ptr_equal(bad, &wr);
	none(uhcadv_qp_ex_from_ibv_qp_ex(&qp));
}

static void test_names(void **state)
{
	static const struct {
		int opcode;
		const char *name;
	} names[] = {
		{IBV_WC_SEND, "SEND"},
		{IBV_WC_RDMA_WRITE, "RDMA_WRITE"},
		{IBV_WC_RDMA_READ, "RDMA_READ"},
		{IBV_WC_COMP_SWAP, "COMP_SWAP"},
		{IBV_WC_FETCH_ADD, "FETCH_ADD"},
		{IBV_WC_BIND_MW, "BIND_MW"},
		{IBV_WC_LOCAL_INV, "LOCAL_INV"},
		{8, "FLUSH"},
		{9, "ATOMIC_WRITE"},
		{UHCADV_WC_REG_MR, "REG_MR"},
		{UHCADV_WC_REG_INTERLEAVED, "REG_INTERLEAVED"},
		{UHCADV_WC_REG_SG, "REG_SG"},
		{UHCADV_WC_READ_WITH_INV, "READ_WITH_INV"},
		{UHCADV_WC_MASKED_CMP_SWP, "MASKED_CMP_SWP"},
		{UHCADV_WC_MASKED_FETCH_ADD, "MASKED_FETCH_ADD"},
		{IBV_WC_RECV, "RECV"},
		{IBV_WC_RECV_RDMA_WITH_IMM, "RECV_RDMA_WITH_IMM"},
		{63, "unknown"},
		{-1, "unknown"},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_string_equal(uhcadv_wc_opcode_str(names[i].opcode), names[i].name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unsupported),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
