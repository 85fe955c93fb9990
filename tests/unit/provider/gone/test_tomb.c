/* SPDX-License-Identifier: BSD-2-Clause */
/* Destroyed objects lead to a context that stands for theirs, until so many others have come. */
#include "provider/gone/gone.h"

#include "provider/base/base.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdlib.h>

static struct ibv_context context = {.device = (void *)&context}, made[2];
static unsigned n_made;

static struct ibv_context *make(struct ibv_context *like)
{
	assert_ptr_equal(like->device, context.device);
	return n_made < 2 ? &made[n_made++] : NULL;
}

static void bury(void *self, uint32_t number, enum uhcav_shape shape)
{
	const struct uhcav_tomb t = {.self = self, .kind = "thing", .number = number};

	uhcav_tomb_add(&t, shape, &context);
	uhcav_let_go(self);
}

static void test_off(void **state)
{
	struct ibv_pd *pd = calloc(1, sizeof(*pd));
	const struct uhcav_tomb t = {.self = pd, .kind = "thing"};

	(void)state;
	assert_false(uhcav_keeping_is_on());
	uhcav_tomb_add(&t, UHCAV_SHAPE_PLAIN, &context);
	assert_false(uhcav_tomb_has(pd));
	uhcav_let_go(pd);
}

static void test_kept(void **state)
{
	struct ibv_qp_ex *qp = calloc(1, sizeof(*qp));
	struct ibv_cq_ex *cq = calloc(1, sizeof(*cq));
	struct ibv_flow *flow = calloc(1, sizeof(*flow));
	struct uhcav_tomb found;

	(void)state;
	uhcav_tomb_begin(make);
	uhcav_keeping_begin();
	qp->qp_base.context = cq->context = flow->context = &context;
	cq->channel = (void *)&context;
	assert_false(uhcav_tomb_has(qp));
	bury(qp, 0x11, UHCAV_SHAPE_QP);
	bury(cq, 0x12, UHCAV_SHAPE_CQ);
	bury(flow, 0, UHCAV_SHAPE_FLOW);
	assert_true(uhcav_tomb_has(qp));
	assert_true(uhcav_tomb_has(cq));
	assert_ptr_equal(flow->context, &made[0]);
	assert_null(cq->channel);
	assert_true(uhcav_tomb_find(qp, &found));
	assert_int_equal(found.number, 0x11);
	assert_false(uhcav_tomb_find(&context, &found));
	assert_int_equal(qp->wr_complete(qp), EINVAL);
	assert_int_equal(cq->next_poll(cq), EINVAL);
}

/* What the ring has no room for is freed, and not known any more. */
static void test_bound(void **state)
{
	struct ibv_pd *pd, *first = NULL;
	struct uhcav_tomb found;

	(void)state;
	for (unsigned i = 0; i < UHCAV_KEPT; i++) {
		pd = calloc(1, sizeof(*pd));
		first = first ? first : pd;
		bury(pd, i, UHCAV_SHAPE_PLAIN);
	}
	assert_true(uhcav_tomb_find(first, &found));
	bury(calloc(1, sizeof(*pd)), 0, UHCAV_SHAPE_PLAIN);
	assert_true(!uhcav_tomb_find(first, &found) || found.number != 0);
	assert_int_equal(n_made, 1);
}

/* One that is said to be gone twice is forgotten all the same. */
static void test_twice(void **state)
{
	void *object = calloc(1, sizeof(struct ibv_pd));
	const struct uhcav_tomb t = {.self = object, .kind = "thing", .end = "closed"};
	struct uhcav_tomb found;

	(void)state;
	bury(object, 1, UHCAV_SHAPE_PLAIN);
	uhcav_tomb_remember(&t);
	assert_true(uhcav_tomb_find(object, &found));
	assert_string_equal(found.end, "closed");
	uhcav_tomb_forget(object);
	assert_false(uhcav_tomb_find(object, &found));
}

/* What stood for a closed context serves the next one of its device. */
static void test_closed(void **state)
{
	const struct uhcav_tomb t = {.self = &context, .kind = "device context"};
	struct ibv_context next = {.device = context.device};
	struct ibv_pd *pd = calloc(1, sizeof(*pd));
	const struct uhcav_tomb of_next = {.self = pd, .kind = "thing"};

	(void)state;
	uhcav_tomb_closed(&t, &context);
	uhcav_tomb_add(&of_next, UHCAV_SHAPE_PLAIN, &next);
	assert_ptr_equal(pd->context, &made[0]);
	assert_int_equal(n_made, 1);
	uhcav_let_go(pd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_off),    cmocka_unit_test(test_kept),
		cmocka_unit_test(test_bound),  cmocka_unit_test(test_twice),
		cmocka_unit_test(test_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
