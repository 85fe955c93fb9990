/* SPDX-License-Identifier: BSD-2-Clause */
#include "verbs_fixture.h"

#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdlib.h>

struct ibv_context *verbs_fixture_open(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *c;
	int err;

	assert_non_null(list);
	assert_non_null(list[0]);
	c = ibv_open_device(list[0]);
	err = errno;
	ibv_free_device_list(list);
	errno = err;
	return c;
}

void verbs_fixture_modify(struct ibv_qp *qp, enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = {.qp_state = to};

	assert_int_equal(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(qp->state, to);
}

static struct ibv_qp *create_qp(struct verbs_fixture *f)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};

	return ibv_create_qp(f->pd, &attr);
}

int verbs_fixture_setup(void **state)
{
	struct verbs_fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	fake_daemon_start(&f->daemon);
	f->context = verbs_fixture_open();
	assert_non_null(f->context);
	f->memory = calloc(1, FIXTURE_MEMORY);
	assert_non_null(f->memory);
	f->channel = ibv_create_comp_channel(f->context);
	assert_non_null(f->channel);
	f->pd = ibv_alloc_pd(f->context);
	assert_non_null(f->pd);
	f->mr = ibv_reg_mr(f->pd, f->memory, FIXTURE_MEMORY, IBV_ACCESS_LOCAL_WRITE);
	assert_non_null(f->mr);
	f->cq = ibv_create_cq(f->context, 16, f, f->channel, 0);
	assert_non_null(f->cq);
	f->qp = create_qp(f);
	assert_non_null(f->qp);
	verbs_fixture_modify(f->qp, IBV_QPS_RTS);
	*state = f;
	return 0;
}

int verbs_fixture_teardown(void **state)
{
	struct verbs_fixture *f = *state;

	if (f->qp)
		assert_int_equal(ibv_destroy_qp(f->qp), 0);
	if (f->cq)
		assert_int_equal(ibv_destroy_cq(f->cq), 0);
	if (f->mr)
		assert_int_equal(ibv_dereg_mr(f->mr), 0);
	if (f->pd)
		assert_int_equal(ibv_dealloc_pd(f->pd), 0);
	if (f->channel)
		assert_int_equal(ibv_destroy_comp_channel(f->channel), 0);
	if (f->context)
		assert_int_equal(ibv_close_device(f->context), 0);
	fake_daemon_stop(&f->daemon);
	free(f->memory);
	free(f);
	return 0;
}
