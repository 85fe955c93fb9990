/* SPDX-License-Identifier: BSD-2-Clause */
/* Parent domains and thread domains: who may go when, whose memory it is, which locks are off. */
#include "tests/support/provider/verbs_fixture.h"
#include "tests/support/provider/with_preload.h"
#include "tests/support/wire/cmocka_all.h"

#include "provider/qp/queue_pair.h"
#include "provider/queues/cq.h"

#include <errno.h>
#include <stdlib.h>

static unsigned allocated, freed, refused;
static enum { OWN, DEFAULT, NONE } mood;

static void *give(struct ibv_pd *pd, void *pd_context, size_t size, size_t alignment,
		  uint64_t resource_type)
{
	assert_non_null(pd);
	assert_ptr_equal(pd_context, &allocated);
	assert_true(resource_type == UHCAV_RESOURCE_SEND_NOTES ||
		    resource_type == UHCAV_RESOURCE_RECV_NOTES);
	if (mood == DEFAULT)
		return IBV_ALLOCATOR_USE_DEFAULT;
	if (mood == NONE) {
		refused++;
		return NULL;
	}
	allocated++;
	return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void free_memory(struct ibv_pd *pd, void *pd_context, void *ptr, uint64_t resource_type)
{
	assert_non_null(pd);
	assert_ptr_equal(pd_context, &allocated);
	assert_true(resource_type == UHCAV_RESOURCE_SEND_NOTES ||
		    resource_type == UHCAV_RESOURCE_RECV_NOTES);
	freed++;
	free(ptr);
}

static struct ibv_pd *parent_of(struct verbs_fixture *f, struct ibv_td *td, bool allocators)
{
	struct ibv_parent_domain_init_attr attr = {.pd = f->pd, .td = td};

	if (allocators) {
		attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
				 IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
		attr.alloc = give;
		attr.free = free_memory;
		attr.pd_context = &allocated;
	}
	return ibv_alloc_parent_domain(f->context, &attr);
}

static struct ibv_qp *make_qp(struct verbs_fixture *f, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr init = {
		.send_cq = f->cq, .recv_cq = f->cq, .qp_type = IBV_QPT_RC, .cap = {4, 4, 1, 1, 0}};

	return ibv_create_qp(pd, &init);
}

static void test_life(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_td_init_attr td_attr = {0};
	struct ibv_td *td = ibv_alloc_td(f->context, &td_attr);
	struct ibv_pd *pd;
	struct ibv_qp *qp;

	assert_non_null(td);
	pd = parent_of(f, td, false);
	assert_non_null(pd);
	assert_int_equal(pd->handle, f->pd->handle);
	assert_ptr_equal(pd->context, f->context);
	qp = make_qp(f, pd);
	assert_non_null(qp);
	assert_ptr_equal(qp->pd, pd);
	/* Below it nothing goes before it. */
	assert_int_equal(ibv_dealloc_td(td), EBUSY);
	assert_int_equal(ibv_dealloc_pd(f->pd), EBUSY);
	assert_int_equal(f->daemon.calls[UHCA_CMD_DEALLOC_PD], 0);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(f->daemon.calls[UHCA_CMD_DEALLOC_PD], 0);
	assert_int_equal(ibv_dealloc_td(td), 0);
}

/* Its allocator, and its thread domain, are needed as long as a queue is in it. */
static void test_members(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_pd *pd = parent_of(f, NULL, true);
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 1, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = pd};
	struct ibv_srq_init_attr srq_attr = {.attr = {4, 1, 0}};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(f->context, &attr);
	struct ibv_srq *srq = ibv_create_srq(pd, &srq_attr);

	mood = NONE;
	assert_null(make_qp(f, pd)); /* which is no member then */
	mood = OWN;
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), EBUSY);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_locks(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_td_init_attr td_attr = {0};
	struct ibv_td *td = ibv_alloc_td(f->context, &td_attr);
	struct ibv_pd *with = parent_of(f, td, false), *without = parent_of(f, NULL, false);
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 1, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD, .parent_domain = with};
	struct ibv_srq_init_attr srq_attr = {.attr = {4, 1, 0}};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(f->context, &attr);
	struct ibv_srq *srq = ibv_create_srq(with, &srq_attr);
	struct ibv_qp *a = make_qp(f, with), *b = make_qp(f, without);

	assert_int_equal(uhcav_qp_of(a)->sq.lock.off, 1);
	assert_int_equal(uhcav_qp_of(a)->rq.lock.off, 1);
	assert_int_equal(uhcav_qp_of(b)->sq.lock.off, 0);
	assert_int_equal(uhcav_srq_of(srq)->rq.lock.off, 1);
	assert_int_equal(uhcav_cq_of(ibv_cq_ex_to_cq(cq))->lock.off, 1);
	assert_int_equal(uhcav_cq_of(f->cq)->lock.off, 0);
	assert_int_equal(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
	assert_int_equal(ibv_destroy_srq(srq), 0);
	assert_int_equal(ibv_destroy_qp(a), 0);
	assert_int_equal(ibv_destroy_qp(b), 0);
	assert_int_equal(ibv_dealloc_pd(with), 0);
	assert_int_equal(ibv_dealloc_pd(without), 0);
	assert_int_equal(ibv_dealloc_td(td), 0);
}

static void test_allocators(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_pd *pd = parent_of(f, NULL, true);
	struct ibv_qp *qp;

	assert_non_null(pd);
	allocated = freed = refused = 0;
	mood = OWN;
	qp = make_qp(f, pd);
	assert_non_null(qp);
	assert_int_equal(allocated, 2);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(freed, 2);
	/* What it left to us it does not get to free. */
	mood = DEFAULT;
	qp = make_qp(f, pd);
	assert_non_null(qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
	assert_int_equal(freed, 2);
	mood = NONE;
	errno = 0;
	assert_null(make_qp(f, pd));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(refused, 1);
	assert_int_equal(freed, 2);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
}

static void test_refused(void **state)
{
	struct verbs_fixture *f = *state;
	struct ibv_parent_domain_init_attr attr = {0};
	struct ibv_td_init_attr td = {.comp_mask = 1};

	errno = 0;
	assert_null(ibv_alloc_td(f->context, &td));
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(ibv_alloc_parent_domain(f->context, &attr));
	assert_int_equal(errno, EINVAL);
	attr.pd = f->pd;
	attr.comp_mask = 4;
	errno = 0;
	assert_null(ibv_alloc_parent_domain(f->context, &attr));
	assert_int_equal(errno, EOPNOTSUPP);
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS; /* and none given */
	errno = 0;
	assert_null(ibv_alloc_parent_domain(f->context, &attr));
	assert_int_equal(errno, EINVAL);
}

int main(int argc, char **argv)
{
#define TEST(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, verbs_fixture_setup, verbs_fixture_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_life),       TEST(test_members), TEST(test_locks),
		TEST(test_allocators), TEST(test_refused),
	};

	(void)argc;
	with_preload(argv, 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
