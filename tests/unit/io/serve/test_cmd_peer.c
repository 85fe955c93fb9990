/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QUERY_PEER: what is told of the other end, and that nothing is told of another user's.
 */
#include "emu/abi/cmd_peer.h"
#include "emu/abi/cqe.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

static struct io_test_daemon t;
static struct io_test_client a, b; /* of two devices */

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 2);
	io_test_hello(&a, &t.d, "uhca0");
	io_test_hello(&b, &t.d, "uhca1");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_test_disconnect(&a);
	io_test_disconnect(&b);
	io_test_daemon_end(&t);
	return 0;
}

static struct uhca_cmd_create_qp_reply rc_qp(struct io_test_client *c)
{
	struct uhca_cmd_create_cq cq = {.cqe = 4};
	struct uhca_cmd_create_qp qp = {.qp_type = IBV_QPT_RC, .max_send_wr = 1, .max_recv_wr = 1};
	struct uhca_cmd_create_cq_reply cq_reply;
	struct uhca_cmd_create_qp_reply reply;

	assert_int_equal(io_test_handle(c, UHCA_CMD_ALLOC_PD, 0, &qp.pd), 0);
	assert_int_equal(io_test_call(c, UHCA_CMD_CREATE_CQ, &cq, sizeof(cq)), 0);
	memcpy(&cq_reply, &c->reply, sizeof(cq_reply));
	qp.send_cq = qp.recv_cq = cq_reply.handle;
	assert_int_equal(io_test_call(c, UHCA_CMD_CREATE_QP, &qp, sizeof(qp)), 0);
	memcpy(&reply, &c->reply, sizeof(reply));
	return reply;
}

static struct io_device *device(unsigned i)
{
	return &t.d.ports[i].dev;
}

static void modify(struct io_test_client *c, uint32_t handle, uint32_t mask,
		   struct uhca_abi_qp_attr attr)
{
	struct uhca_cmd_modify_qp in = {.handle = handle, .attr_mask = mask, .attr = attr};

	assert_int_equal(io_test_call(c, UHCA_CMD_MODIFY_QP, &in, sizeof(in)), 0);
}

/* To RTR, with the QP of that number and that device as its peer. */
static void connect_to(struct io_test_client *c, uint32_t handle, uint32_t qpn, unsigned dev)
{
	struct uhca_abi_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
				       .path_mtu = IBV_MTU_1024,
				       .dest_qp_num = qpn,
				       .rq_psn = 7,
				       .ah = {.is_global = 1, .port_num = 1, .hop_limit = 1}};

	modify(c, handle, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
	       (struct uhca_abi_qp_attr){.qp_state = IBV_QPS_INIT, .port_num = 1});
	memcpy(rtr.ah.dgid, device(dev)->config.gid[0], sizeof(rtr.ah.dgid));
	modify(c, handle,
	       IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
		       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	       rtr);
}

static struct uhca_cmd_query_peer_reply ask(struct io_test_client *c, uint32_t handle,
					    uint32_t status)
{
	struct uhca_cmd_query_peer in = {.handle = handle, .status = status};
	struct uhca_cmd_query_peer_reply reply;

	assert_int_equal(io_test_call(c, UHCA_CMD_QUERY_PEER, &in, sizeof(in)), 0);
	memcpy(&reply, &c->reply, sizeof(reply));
	return reply;
}

static void test_both_ends(void **state)
{
	struct uhca_cmd_create_qp_reply x = rc_qp(&a), y = rc_qp(&b);
	struct uhca_cmd_query_peer_reply r = ask(&a, x.handle, 0);

	(void)state;
	assert_int_equal(r.found, UHCA_ABI_PEER_NONE);
	connect_to(&a, x.handle, y.qpn, 1);
	r = ask(&a, x.handle, 0);
	assert_int_equal(r.found, UHCA_ABI_PEER_KNOWN);
	assert_int_equal(r.names_back, 0);
	assert_int_equal(r.peer.attr.qp_state, IBV_QPS_RESET);
	connect_to(&b, y.handle, x.qpn, 0);
	r = ask(&a, x.handle, 0);
	assert_int_equal(r.names_back, 1);
	assert_int_equal(r.partner, 0);
	assert_int_equal(r.peer.qpn, y.qpn);
	assert_string_equal(r.peer.device, "uhca1");
	assert_int_equal(r.peer.attr.rq_psn, 7);
	assert_int_equal(r.peer.attr.qp_state, IBV_QPS_RTR);
	assert_int_equal(r.mine.qpn, x.qpn);
	assert_true(r.mine.guid != r.peer.guid);
}

static void test_astray(void **state)
{
	struct uhca_cmd_create_qp_reply x = rc_qp(&a), y = rc_qp(&b);
	struct uhca_cmd_query_peer_reply r;

	(void)state;
	connect_to(&b, y.handle, x.qpn, 0);
	connect_to(&a, x.handle, y.qpn ^ 0x400000, 1);
	r = ask(&a, x.handle, UHCA_ABI_WC_RETRY_EXC_ERR);
	assert_int_equal(r.found, UHCA_ABI_PEER_ABSENT);
	assert_int_equal(r.partner, y.qpn);
	assert_string_equal(r.partner_device, "uhca1");
	assert_memory_equal(r.partner_address, device(1)->config.gid[0], 16);
}

/* The users are the kernel's word: here another is put in its place. */
static void test_another_user(void **state)
{
	struct uhca_cmd_create_qp_reply x = rc_qp(&a), y = rc_qp(&b);
	static const struct uhca_abi_end nothing;
	static const struct uhca_abi_cause no_cause;
	struct core_trace t_refused = {
		.point = CORE_TRACE_JUDGED,
		.qpn = y.qpn,
		.b = CORE_JUDGED_REFUSED,
		.cause = &(struct uhca_abi_cause){.kind = UHCA_ABI_CAUSE_RANGE, .key = 0x1234}};
	struct uhca_cmd_query_peer_reply r;
	uid_t user;

	(void)state;
	connect_to(&a, x.handle, y.qpn, 1);
	connect_to(&b, y.handle, x.qpn, 0);
	user = t.d.clients.at[1]->peer.uid;
	io_failures_add(&device(1)->failures, &t_refused, user);
	r = ask(&a, x.handle, UHCA_ABI_WC_REM_ACCESS_ERR);
	assert_int_equal(r.found, UHCA_ABI_PEER_KNOWN);
	assert_int_equal(r.cause.key, 0x1234);

	t.d.clients.at[0]->peer.uid = user + 1;
	r = ask(&a, x.handle, UHCA_ABI_WC_REM_ACCESS_ERR);
	assert_int_equal(r.found, UHCA_ABI_PEER_OTHERS);
	assert_memory_equal(&r.peer, &nothing, sizeof(nothing));
	assert_memory_equal(&r.cause, &no_cause, sizeof(no_cause));
	assert_int_equal(r.partner, 0);
	t.d.clients.at[0]->peer.uid = user;
}

static void test_bad_questions(void **state)
{
	struct uhca_cmd_create_qp_reply x = rc_qp(&a);
	struct uhca_cmd_query_peer in = {.handle = x.handle + 1};

	(void)state;
	assert_int_equal(io_test_call(&a, UHCA_CMD_QUERY_PEER, &in, sizeof(in)), -ENOENT);
	in = (struct uhca_cmd_query_peer){.handle = x.handle, .ah = 77, .qpn = 5};
	assert_int_equal(io_test_call(&a, UHCA_CMD_QUERY_PEER, &in, sizeof(in)), -ENOENT);
	in = (struct uhca_cmd_query_peer){.handle = x.handle, .qpn = 5};
	assert_int_equal(io_test_call(&a, UHCA_CMD_QUERY_PEER, &in, sizeof(in)), -EINVAL);
	in = (struct uhca_cmd_query_peer){.handle = x.handle, .status = 300};
	assert_int_equal(io_test_call(&a, UHCA_CMD_QUERY_PEER, &in, sizeof(in)), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_both_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_astray, setup, teardown),
		cmocka_unit_test_setup_teardown(test_another_user, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_questions, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
