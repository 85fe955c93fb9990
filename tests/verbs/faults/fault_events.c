/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events of every type, by rules and by order, and what a device goes through: its port down and
 * up, its addresses changed, frozen, failed and back. Run by fault_layers.sh.
 */
#include "tests/support/verbs/faulty.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct uhcactl_error error;

static void order(const char *name)
{
	if (uhcactl_event(faulty_ctl(), "uhca0", name, &error) < 0)
		fail_msg("%s: %s", name, error.text);
}

/* ---- of objects ---- */

/* The handle that the daemon knows it by, from "uhcactl show", where one column has its cookie. */
static unsigned only_handle(const char *kind)
{
	char command[512], line[512] = "";
	unsigned handle;
	FILE *f;

	snprintf(command, sizeof(command), "'%s/uhcactl' show %s", getenv("UHCA_BUILDDIR"), kind);
	f = popen(command, "r");
	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	assert_non_null(strstr(line, "handle"));
	assert_non_null(fgets(line, sizeof(line), f));
	/* device, program, handle: the first number of the line. */
	assert_int_equal(sscanf(line, "%*s %*s %u", &handle), 1);
	assert_null(fgets(line, sizeof(line), f));
	assert_int_equal(pclose(f), 0);
	return handle;
}

static void test_of_qp(void **state)
{
	static const struct {
		const char *name;
		enum ibv_event_type type;
	} types[] = {
		{"QP_FATAL", IBV_EVENT_QP_FATAL},
		{"QP_REQ_ERR", IBV_EVENT_QP_REQ_ERR},
		{"QP_ACCESS_ERR", IBV_EVENT_QP_ACCESS_ERR},
		{"COMM_EST", IBV_EVENT_COMM_EST},
		{"SQ_DRAINED", IBV_EVENT_SQ_DRAINED},
		{"PATH_MIG", IBV_EVENT_PATH_MIG},
		{"PATH_MIG_ERR", IBV_EVENT_PATH_MIG_ERR},
		{"QP_LAST_WQE_REACHED", IBV_EVENT_QP_LAST_WQE_REACHED},
	};
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct ibv_async_event e;
		char text[100];

		snprintf(text, sizeof(text), "event=%s at=time qp=%u after=0s", types[i].name,
			 qp->qp_num);
		faulty_end(faulty_add(text), 1);
		e = faulty_event(w->ctx);
		assert_int_equal(e.event_type, types[i].type);
		assert_ptr_equal(e.element.qp, qp);
		snprintf(text, sizeof(text), "IBV_EVENT_%s qp=0x%x", types[i].name, qp->qp_num);
		order(text);
		e = faulty_event(w->ctx);
		assert_int_equal(e.event_type, types[i].type);
		assert_ptr_equal(e.element.qp, qp);
		assert_true(faulty_quiet(w->ctx));
	}
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_of_cq_and_srq(void **state)
{
	struct world *w = *state;
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 4, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(w->pd, &attr);
	struct ibv_async_event e;
	char text[100];
	int rule;

	snprintf(text, sizeof(text), "CQ_ERR cq=%u", only_handle("cq"));
	order(text);
	e = faulty_event(w->ctx);
	assert_int_equal(e.event_type, IBV_EVENT_CQ_ERR);
	assert_ptr_equal(e.element.cq, w->cq);
	snprintf(text, sizeof(text), "event=SRQ_LIMIT_REACHED at=time srq=%u after=0s",
		 only_handle("srq"));
	rule = faulty_add(text);
	e = faulty_event(w->ctx);
	assert_int_equal(e.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	assert_ptr_equal(e.element.srq, srq);
	faulty_end(rule, 1);
	snprintf(text, sizeof(text), "SRQ_ERR srq=%u", only_handle("srq"));
	order(text);
	e = faulty_event(w->ctx);
	assert_int_equal(e.event_type, IBV_EVENT_SRQ_ERR);
	assert_ptr_equal(e.element.srq, srq);
	assert_int_equal(ibv_destroy_srq(srq), 0);
}

/* No rule looks at a work queue, but its handle is known. */
static void test_of_wq(void **state)
{
	struct world *w = *state;
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ, .max_wr = 4, .max_sge = 1, .pd = w->pd, .cq = w->cq};
	struct ibv_wq *wq = ibv_create_wq(w->ctx, &attr);
	struct ibv_async_event e;
	char text[100];

	assert_non_null(wq);
	snprintf(text, sizeof(text), "IBV_EVENT_WQ_FATAL wq=%u", only_handle("wq"));
	order(text);
	e = faulty_event(w->ctx);
	assert_int_equal(e.event_type, IBV_EVENT_WQ_FATAL);
	assert_ptr_equal(e.element.wq, wq);
	assert_true(faulty_quiet(w->ctx));
	assert_int_equal(ibv_destroy_wq(wq), 0);
}

/* With a packet, with a completion: the object is the one at hand. */
static void test_on_occasion(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	int packet = faulty_add("event=PATH_MIG opcode=send nth=1");
	int completion = faulty_add("event=SQ_DRAINED at=completion wc.opcode=SEND nth=1");
	int call = faulty_add("event=PATH_MIG_ERR at=call call=query_qp nth=1");
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	unsigned seen = 0;

	world_assert_works(w, qp);
	assert_int_equal(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	for (unsigned i = 0; i < 3; i++) {
		struct ibv_async_event e = faulty_event(w->ctx);

		assert_ptr_equal(e.element.qp, qp);
		seen |= 1u << e.event_type;
	}
	assert_int_equal(seen, 1u << IBV_EVENT_PATH_MIG | 1u << IBV_EVENT_SQ_DRAINED |
				       1u << IBV_EVENT_PATH_MIG_ERR);
	faulty_end(packet, 1);
	faulty_end(completion, 1);
	faulty_end(call, 1);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void refuse(const char *name)
{
	assert_int_equal(uhcactl_event(faulty_ctl(), "uhca0", name, &error), -EINVAL);
	assert_true(error.text[0]);
}

static void test_refused(void **state)
{
	struct world *w = *state;

	refuse("QP_FATAL");
	refuse("QP_FATAL qp=0");
	refuse("QP_FATAL qp=77");
	refuse("QP_FATAL cq=1");
	refuse("QP_FATAL qp=1x");
	refuse("CQ_ERR cq=99999999999");
	refuse("SRQ_ERR frog=1");
	refuse("NONSENSE");
	refuse("");
	assert_true(faulty_quiet(w->ctx));
}

/* ---- of port and device ---- */

static void test_of_port(void **state)
{
	static const struct {
		const char *name;
		enum ibv_event_type type;
	} types[] = {
		{"PORT_ACTIVE", IBV_EVENT_PORT_ACTIVE},
		{"PORT_ERR", IBV_EVENT_PORT_ERR},
		{"LID_CHANGE", IBV_EVENT_LID_CHANGE},
		{"PKEY_CHANGE", IBV_EVENT_PKEY_CHANGE},
		{"SM_CHANGE", IBV_EVENT_SM_CHANGE},
		{"CLIENT_REREGISTER", IBV_EVENT_CLIENT_REREGISTER},
		{"GID_CHANGE", IBV_EVENT_GID_CHANGE},
		{"DEVICE_FATAL", IBV_EVENT_DEVICE_FATAL},
	};
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		char text[100];

		snprintf(text, sizeof(text), "event=%s at=time dev=uhca0 after=0s", types[i].name);
		faulty_end(faulty_add(text), 1);
		assert_int_equal(faulty_event(w->ctx).event_type, types[i].type);
		assert_int_equal(faulty_event(w->same).event_type, types[i].type);
		order(types[i].name);
		assert_int_equal(faulty_event(w->ctx).event_type, types[i].type);
		assert_int_equal(faulty_event(w->same).event_type, types[i].type);
		assert_true(faulty_quiet(w->ctx) && faulty_quiet(w->other));
	}
	world_assert_works(w, qp); /* events they are, and nothing else */
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static enum ibv_port_state port_state(struct world *w)
{
	struct ibv_port_attr attr;

	assert_int_equal(ibv_query_port(w->ctx, 1, &attr), 0);
	return attr.state;
}

/* The link goes and comes back by itself; the message is repeated until it does. */
static void test_port_flap(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	int rule = faulty_add("port.down=100ms opcode=send nth=1");

	world_assert_works(w, qp);
	assert_int_equal(faulty_event(w->ctx).event_type, IBV_EVENT_PORT_ERR);
	assert_int_equal(faulty_event(w->ctx).event_type, IBV_EVENT_PORT_ACTIVE);
	assert_int_equal(port_state(w), IBV_PORT_ACTIVE);
	faulty_end(rule, 1);
	rule = faulty_add("port.down at=time dev=uhca0 after=0s");
	assert_int_equal(faulty_event(w->ctx).event_type, IBV_EVENT_PORT_ERR);
	assert_int_equal(port_state(w), IBV_PORT_DOWN);
	assert_int_equal(uhcactl_port(faulty_ctl(), "uhca0", 1, &error), 0);
	assert_int_equal(faulty_event(w->ctx).event_type, IBV_EVENT_PORT_ACTIVE);
	faulty_end(rule, 1);
	world_assert_works(w, qp);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

static void test_gid_change(void **state)
{
	struct world *w = *state;
	int rule = faulty_add("gid.change at=time dev=uhca0 after=0s");

	assert_int_equal(faulty_event(w->ctx).event_type, IBV_EVENT_GID_CHANGE);
	faulty_end(rule, 1);
	assert_true(faulty_quiet(w->other));
}

/* For so long nothing happens, to nobody; then everything goes on. */
static void test_freeze(void **state)
{
	struct world *w = *state;
	struct ibv_qp *qp = world_qp(w, NULL);
	uint64_t begin = faulty_now();
	int rule = faulty_add("dev.freeze=300ms opcode=send nth=1");

	world_assert_works(w, qp); /* what was under way may still be completed */
	world_assert_works(w, qp);
	assert_true(faulty_now() - begin >= 290);
	faulty_end(rule, 1);
	assert_int_equal(ibv_destroy_qp(qp), 0);
}

/* Who has it open loses it and can clean up; who opens it afterwards finds it working. */
static void test_fatal_and_return(void **state)
{
	struct world *w = *state;
	struct ibv_context *ctx = world_open("uhca1");
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	struct ibv_context *again;
	int rule = faulty_add("dev.fatal at=time dev=uhca1 after=0s");

	assert_int_equal(faulty_event(ctx).event_type, IBV_EVENT_DEVICE_FATAL);
	assert_int_equal(faulty_event(w->other).event_type, IBV_EVENT_DEVICE_FATAL);
	assert_true(faulty_quiet(w->ctx));
	faulty_end(rule, 1);
	assert_null(ibv_alloc_pd(ctx));
	assert_int_equal(errno, EIO);
	again = world_open("uhca1");
	assert_int_equal(ibv_dealloc_pd(ibv_alloc_pd(again)), 0);
	assert_int_equal(ibv_close_device(again), 0);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	assert_int_equal(ibv_dealloc_pd(pd), 0);
	assert_int_equal(ibv_close_device(ctx), 0);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, faulty_setup, faulty_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_of_qp),     CASE(test_of_cq_and_srq),
		CASE(test_of_wq),     CASE(test_on_occasion),
		CASE(test_refused),   CASE(test_of_port),
		CASE(test_port_flap), CASE(test_gid_change),
		CASE(test_freeze),    CASE(test_fatal_and_return),
	};

	return cmocka_run_group_tests_name("fault_events", tests, NULL, NULL);
}
