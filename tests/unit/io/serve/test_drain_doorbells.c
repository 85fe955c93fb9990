/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What was rung before a control message, or before the end of the connection, is served before
 * it, and leaves; messages that only ask do not wait for it. tests/verbs/queues/last_sends.c has
 * what arrives.
 */
#include "emu/io/local/privilege.h"
#include "emu/io/serve/drain_doorbells.h"
#include "tests/support/io/io_user.h"
#include "tests/support/wire/cmocka_all.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct fixture {
	struct io_test_daemon t;
	struct io_user u;
	struct io_user_qp q;
	struct io_client *mine; /* the daemon's side of it */
};

static int setup(void **state)
{
	static struct fixture f;

	io_test_daemon_begin(&f.t, 2);
	io_user_open(&f.u, &f.t.d, "uhca0");
	f.mine = f.t.d.clients.at[0];
	io_user_qp_create(&f.q, &f.u, IBV_QPT_UD);
	io_user_qp_connect(&f.q, NULL, 0);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	io_user_close(&f->u);
	io_test_daemon_end(&f->t);
	return 0;
}

/* Every command; what it names is not there, which is found when it is served. */
static void test_messages(void **state)
{
#define HANDLE sizeof(struct uhca_cmd_handle)
	static const struct {
		uint32_t cmd;
		size_t size;
		bool first; /* is what was rung served before it? */
	} row[] = {
		{UHCA_CMD_QUERY_DEVICE, HANDLE, false},
		{UHCA_CMD_QUERY_PORT, HANDLE, false},
		{UHCA_CMD_QUERY_GID, HANDLE, false},
		{UHCA_CMD_ALLOC_PD, HANDLE, false},
		{UHCA_CMD_DEALLOC_PD, HANDLE, false},
		{UHCA_CMD_REG_MR, sizeof(struct uhca_cmd_reg_mr), false},
		{UHCA_CMD_DEREG_MR, HANDLE, true},
		{UHCA_CMD_DESTROY_CHANNEL, HANDLE, false},
		{UHCA_CMD_CREATE_CQ, sizeof(struct uhca_cmd_create_cq), false},
		{UHCA_CMD_DESTROY_CQ, HANDLE, false},
		{UHCA_CMD_CREATE_QP, sizeof(struct uhca_cmd_create_qp), false},
		{UHCA_CMD_MODIFY_QP, sizeof(struct uhca_cmd_modify_qp), true},
		{UHCA_CMD_QUERY_QP, HANDLE, false},
		{UHCA_CMD_DESTROY_QP, HANDLE, true},
		{UHCA_CMD_CREATE_SRQ, sizeof(struct uhca_cmd_create_srq), false},
		{UHCA_CMD_MODIFY_SRQ, sizeof(struct uhca_cmd_modify_srq), true},
		{UHCA_CMD_QUERY_SRQ, HANDLE, false},
		{UHCA_CMD_DESTROY_SRQ, HANDLE, true},
		{UHCA_CMD_CREATE_AH, sizeof(struct uhca_cmd_create_ah), false},
		{UHCA_CMD_DESTROY_AH, HANDLE, true},
		{UHCA_CMD_ATTACH_MCAST, sizeof(struct uhca_cmd_mcast), true},
		{UHCA_CMD_DETACH_MCAST, sizeof(struct uhca_cmd_mcast), true},
		{UHCA_CMD_ALLOC_MW, sizeof(struct uhca_cmd_alloc_mw), false},
		{UHCA_CMD_DEALLOC_MW, HANDLE, true},
		{UHCA_CMD_REREG_MR, sizeof(struct uhca_cmd_rereg_mr), true},
		{UHCA_CMD_ALLOC_NULL_MR, HANDLE, false},
		{UHCA_CMD_ADVISE_MR, sizeof(struct uhca_cmd_advise_mr), false},
		{UHCA_CMD_ALLOC_DM, sizeof(struct uhca_cmd_alloc_dm), false},
		{UHCA_CMD_FREE_DM, HANDLE, true},
		{UHCA_CMD_REG_DM_MR, sizeof(struct uhca_cmd_reg_dm_mr), false},
		{UHCA_CMD_CLOSE_XRCD, HANDLE, true},
		{UHCA_CMD_OPEN_QP, sizeof(struct uhca_cmd_open_qp), false},
		{UHCA_CMD_RESIZE_CQ, sizeof(struct uhca_cmd_resize_cq), true},
		{UHCA_CMD_EXPORT, HANDLE, false},
		{UHCA_CMD_IMPORT, sizeof(struct uhca_cmd_import), false},
		{UHCA_CMD_MODIFY_CQ, sizeof(struct uhca_cmd_modify_cq), false},
		{UHCA_CMD_NOTIFY_CQ, HANDLE, false},
		{UHCA_CMD_CREATE_WQ, sizeof(struct uhca_cmd_create_wq), false},
		{UHCA_CMD_MODIFY_WQ, sizeof(struct uhca_cmd_modify_wq), true},
		{UHCA_CMD_DESTROY_WQ, HANDLE, true},
		{UHCA_CMD_CREATE_RWQ_IND_TABLE, sizeof(struct uhca_cmd_create_rwq_ind_table),
		 false},
		{UHCA_CMD_DESTROY_RWQ_IND_TABLE, HANDLE, false},
		{UHCA_CMD_CREATE_FLOW, sizeof(struct uhca_cmd_create_flow), true},
		{UHCA_CMD_DESTROY_FLOW, HANDLE, true},
		{UHCA_CMD_ALLOC_KEY, sizeof(struct uhca_cmd_alloc_key), false},
		{UHCA_CMD_DESCRIBE_KEY, sizeof(struct uhca_cmd_describe_key), true},
		{UHCA_CMD_REG_SHARED_MR, sizeof(struct uhca_cmd_reg_shared_mr), false},
		{UHCA_CMD_DESTROY_COMP_CNTR, HANDLE, true},
		{UHCA_CMD_INC_COMP_CNTR, sizeof(struct uhca_cmd_modify_comp_cntr), true},
		{UHCA_CMD_FAULT_CHECK, sizeof(struct uhca_cmd_fault_check), false},
	};
	static uint8_t in[UHCA_ABI_MAX_MESSAGE];
	struct fixture *f = *state;

	for (unsigned i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		memset(in, 0, sizeof(in));
		uhca_doorbell_set(f->u.bell, f->q.doorbell);
		io_test_call(&f->u.c, row[i].cmd, in, row[i].size);
		if (io_client_rang(f->mine) != !row[i].first)
			fail_msg("command %u", row[i].cmd);
	}
}

/* ---- what was posted leaves ---- */

static struct uhca_abi_send_wqe datagram(uint32_t ah, uint32_t qpn)
{
	return (struct uhca_abi_send_wqe){.opcode = UHCA_ABI_WR_SEND,
					  .ud = {.ah = ah, .remote_qpn = qpn}};
}

static unsigned arrived(struct io_user_qp *q)
{
	struct uhca_abi_cqe e;
	unsigned n = 0;

	while (io_user_poll(q, &e)) {
		assert_int_equal(e.status, UHCA_ABI_WC_SUCCESS);
		n += (e.opcode & UHCA_ABI_WC_RECV) != 0;
	}
	return n;
}

/* All of it, though nobody but the message gets the device to send. */
static void test_datagrams(void **state)
{
	struct fixture *f = *state;
	static struct io_user peer;
	struct io_user_qp to;
	uint32_t ah;

	io_user_open(&peer, &f->t.d, "uhca1");
	io_user_qp_create(&to, &peer, IBV_QPT_UD);
	io_user_qp_connect(&to, NULL, 0);
	for (unsigned i = 0; i < 30; i++)
		io_user_recv(&to, i, 4096, 2048);
	ah = io_user_ah(&f->u, peer.dev->id.addresses.a[0].gid);
	for (unsigned i = 0; i < 30; i++)
		io_user_send(&f->q, datagram(ah, to.qpn), 1000);
	io_user_ring(&f->q);
	assert_int_equal(io_test_handle(&f->u.c, UHCA_CMD_DESTROY_AH, ah, NULL), 0);
	assert_int_equal(arrived(&to), 30);
	io_user_close(&peer);
}

static void test_frames(void **state)
{
	struct fixture *f = *state;
	struct io_user_qp from, to;

	if (!io_user_may_raw()) {
		puts("raw packet queue pairs need CAP_NET_RAW");
		skip();
	}
	io_user_qp_create(&from, &f->u, IBV_QPT_RAW_PACKET);
	io_user_qp_connect(&from, NULL, 0);
	io_user_qp_create(&to, &f->u, IBV_QPT_RAW_PACKET);
	io_user_take_frames(&to);
	for (unsigned i = 0; i < 30; i++) {
		io_user_recv(&to, i, 4096, 2048);
		io_user_send(&from, (struct uhca_abi_send_wqe){.opcode = UHCA_ABI_WR_SEND}, 100);
	}
	io_user_ring(&from);
	io_user_qp_destroy(&from);
	assert_int_equal(arrived(&to), 30);
}

/* A context that is not open yet has rung nothing. */
static void test_before_hello(void **state)
{
	struct fixture *f = *state;
	struct io_test_client c;

	io_test_connect(&c, &f->t.d);
	for (unsigned i = 0; i < 10 && f->t.d.clients.n < 2; i++)
		io_test_loop_pass(f->t.d.loop);
	assert_int_equal(f->t.d.clients.n, 2);
	assert_null(f->t.d.clients.at[1]->core);
	io_drain_doorbells(f->t.d.clients.at[1]);
	io_test_disconnect(&c);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_messages),
		TEST(test_datagrams),
		TEST(test_frames),
		TEST(test_before_hello),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
