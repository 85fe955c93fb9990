/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Control messages against the real core: every command in a context's life; everything that can
 * be wrong with a message is answered or ends the connection, and neither the client's objects,
 * nor other clients, nor the daemon's descriptors suffer from it.
 */
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
	struct io_test_daemon t;
	struct io_daemon *d;
	struct io_test_client c;
	unsigned fds; /* open before the client came */
};

static int setup(void **state)
{
	static struct fixture f;

	io_test_daemon_begin(&f.t, 2);
	f.d = &f.t.d;
	f.fds = io_test_open_fds();
	io_test_hello(&f.c, f.d, "uhca0");
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	io_test_disconnect(&f->c);
	assert_int_equal(f->d->clients.n, 0);
	assert_int_equal(io_test_open_fds(), f->fds);
	for (unsigned i = 0; i < CORE_OBJECT_TYPES; i++)
		assert_int_equal(
			core_object_count(f->d->ports[0].dev.core, (enum core_object_type)i), 0);
	io_test_daemon_end(&f->t);
	return 0;
}

static uint32_t count(const struct fixture *f, enum core_object_type type)
{
	return core_object_count(f->d->ports[0].dev.core, type);
}

#define REPLY(type) ((const struct type *)(const void *)&f->c.reply)

/* ---- objects, each by its commands ---- */

static uint32_t alloc_pd(struct fixture *f)
{
	uint32_t pd = 0;

	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_ALLOC_PD, 0, &pd), 0);
	return pd;
}

static uint32_t create_cq(struct fixture *f, uint32_t channel)
{
	struct uhca_cmd_create_cq in = {.cookie = 0xc0, .cqe = 16, .channel = channel};

	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_CQ, &in, sizeof(in)), 0);
	assert_int_equal(f->c.n_fds, 1);
	return REPLY(uhca_cmd_create_cq_reply)->handle;
}

static struct uhca_cmd_create_qp qp_request(uint32_t pd, uint32_t cq)
{
	return (struct uhca_cmd_create_qp){.pd = pd,
					   .qp_type = IBV_QPT_RC,
					   .send_cq = cq,
					   .recv_cq = cq,
					   .max_send_wr = 4,
					   .max_recv_wr = 4,
					   .max_send_sge = 1,
					   .max_recv_sge = 1};
}

static uint32_t create_qp(struct fixture *f, uint32_t pd, uint32_t cq)
{
	struct uhca_cmd_create_qp in = qp_request(pd, cq);

	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_QP, &in, sizeof(in)), 0);
	return REPLY(uhca_cmd_create_qp_reply)->handle;
}

static int add_channel(struct fixture *f, uint32_t *handle, int *reader)
{
	struct uhca_cmd_handle in = {.handle = 0};
	int pair[2];
	int status;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	status = io_test_call_fds(&f->c, UHCA_CMD_CREATE_CHANNEL, &in, sizeof(in), &pair[1], 1);
	*handle = REPLY(uhca_cmd_handle_reply)->handle;
	*reader = pair[0];
	close(pair[1]);
	return status;
}

static void test_hello(void **state)
{
	struct fixture *f = *state;
	const struct uhca_abi_status *status =
		mmap(NULL, 4096, PROT_READ, MAP_SHARED, f->c.fd[0], 0);
	struct uhca_abi_doorbell *bell =
		mmap(NULL, sizeof(*bell), PROT_READ | PROT_WRITE, MAP_SHARED, f->c.fd[1], 0);
	uint64_t one = 1;

	assert_true((const void *)status != MAP_FAILED && (void *)bell != MAP_FAILED);
	assert_int_equal(status->region.magic, UHCA_ABI_MAGIC);
	assert_int_equal(status->region.version, UHCA_ABI_VERSION);
	assert_int_equal(status->region.kind, UHCA_ABI_REGION_STATUS);
	assert_int_equal(bell->region.kind, UHCA_ABI_REGION_DOORBELL);
	assert_int_equal(write(f->c.fd[2], &one, sizeof(one)), sizeof(one));
	io_test_loop_pass(f->d->loop);
	munmap((void *)(uintptr_t)status, 4096);
	munmap(bell, sizeof(*bell));
}

static void test_queries(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_handle gid = {.index = 0};

	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_QUERY_DEVICE, 0, NULL), 0);
	assert_int_equal(f->c.reply_len, sizeof(struct uhca_cmd_device_attr));
	assert_string_equal(REPLY(uhca_cmd_device_attr)->fw_ver, UHCA_VERSION);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_QUERY_PORT, 1, NULL), 0);
	assert_int_equal(REPLY(uhca_cmd_port_attr)->state, IBV_PORT_ACTIVE);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_QUERY_PORT, 2, NULL), -EINVAL);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_QUERY_GID, &gid, sizeof(gid)), 0);
	assert_memory_equal(REPLY(uhca_cmd_gid_reply)->gid, io_test_address(1).gid, 16);
	gid.index = 99;
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_QUERY_GID, &gid, sizeof(gid)), -EINVAL);
}

static void test_life_of_objects(void **state)
{
	struct fixture *f = *state;
	uint32_t pd = alloc_pd(f);
	uint32_t cq = create_cq(f, 0);
	struct uhca_cmd_create_srq srq_in = {.pd = pd, .max_wr = 4, .max_sge = 1};
	struct uhca_cmd_reg_mr mr_in = {.addr = 0x10000, .length = 4096, .iova = 0x10000, .pd = pd};
	struct uhca_cmd_create_ah ah_in = {.pd = pd, .attr = {.is_global = 1, .port_num = 1}};
	uint32_t qp = create_qp(f, pd, cq);
	uint32_t srq;
	uint32_t mr;
	uint32_t ah;

	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_SRQ, &srq_in, sizeof(srq_in)), 0);
	assert_int_equal(f->c.n_fds, 1);
	srq = REPLY(uhca_cmd_create_srq_reply)->handle;
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_REG_MR, &mr_in, sizeof(mr_in)), 0);
	mr = REPLY(uhca_cmd_reg_mr_reply)->handle;
	memcpy(ah_in.attr.dgid, io_test_address(2).gid, 16);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_AH, &ah_in, sizeof(ah_in)), 0);
	ah = REPLY(uhca_cmd_handle_reply)->handle;
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_QUERY_QP, qp, NULL), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_QUERY_SRQ, srq, NULL), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DEALLOC_PD, pd, NULL), -EBUSY);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DESTROY_CQ, cq, NULL), -EBUSY);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DESTROY_AH, ah, NULL), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DEREG_MR, mr, NULL), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DESTROY_SRQ, srq, NULL), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DESTROY_QP, qp, NULL), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DESTROY_CQ, cq, NULL), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DEALLOC_PD, pd, NULL), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DEALLOC_PD, pd, NULL), -ENOENT);
}

static void test_modify(void **state)
{
	struct fixture *f = *state;
	uint32_t pd = alloc_pd(f);
	uint32_t qp = create_qp(f, pd, create_cq(f, 0));
	struct uhca_cmd_modify_qp in = {.handle = qp,
					.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX |
						     IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
					.attr = {.qp_state = IBV_QPS_INIT, .port_num = 1}};
	struct uhca_cmd_create_srq srq_in = {.pd = pd, .max_wr = 4, .max_sge = 1};
	struct uhca_cmd_modify_srq limit = {.attr_mask = IBV_SRQ_LIMIT, .srq_limit = 2};

	assert_int_equal(io_test_call(&f->c, UHCA_CMD_MODIFY_QP, &in, sizeof(in)), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_QUERY_QP, qp, NULL), 0);
	assert_int_equal(REPLY(uhca_cmd_query_qp_reply)->attr.qp_state, IBV_QPS_INIT);
	in.attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_MODIFY_QP, &in, sizeof(in)), -EINVAL);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_SRQ, &srq_in, sizeof(srq_in)), 0);
	limit.handle = REPLY(uhca_cmd_create_srq_reply)->handle;
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_MODIFY_SRQ, &limit, sizeof(limit)), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_QUERY_SRQ, limit.handle, NULL), 0);
	assert_int_equal(REPLY(uhca_cmd_query_srq_reply)->srq_limit, 2);
}

static void test_channels(void **state)
{
	struct fixture *f = *state;
	uint32_t handle;
	uint32_t cq;
	int reader;

	assert_int_equal(add_channel(f, &handle, &reader), 0);
	cq = create_cq(f, handle);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DESTROY_CQ, cq, NULL), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DESTROY_CHANNEL, handle, NULL), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DESTROY_CHANNEL, handle, NULL), -ENOENT);
	close(reader);
}

static void test_unknown_channel(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_create_cq in = {.cqe = 16, .channel = 77};

	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_CQ, &in, sizeof(in)), -ENOENT);
	assert_int_equal(count(f, CORE_OBJECT_CQ), 0);
}

/* The region that came is the queue's, as large as was said, and cannot be resized. */
static void test_regions(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_create_cq in = {.cqe = 16};
	const struct uhca_cmd_create_cq_reply *reply = REPLY(uhca_cmd_create_cq_reply);
	const struct uhca_abi_region *region;

	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_CQ, &in, sizeof(in)), 0);
	region = mmap(NULL, reply->region_size, PROT_READ, MAP_SHARED, f->c.fd[0], 0);
	assert_true((const void *)region != MAP_FAILED);
	assert_int_equal(region->magic, UHCA_ABI_MAGIC);
	assert_int_equal(region->kind, UHCA_ABI_REGION_CQ);
	assert_int_equal(ftruncate(f->c.fd[0], 0), -1);
	munmap((void *)(uintptr_t)region, reply->region_size);
}

/* A queue's memory is the client's descriptor and the daemon's mapping; no descriptor stays. */
static void test_queues_cost_no_descriptor(void **state)
{
	struct fixture *f = *state;
	unsigned fds;

	create_cq(f, 0);
	fds = io_test_open_fds(); /* with the reply's */
	for (unsigned i = 0; i < 5; i++)
		create_cq(f, 0);
	assert_int_equal(io_test_open_fds(), fds);
}

/* Queues of their own for receives, and a table of them. */
static void test_work_queues(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_create_wq in = {.cq = create_cq(f, 0), .max_wr = 4, .max_sge = 1};
	struct uhca_cmd_create_rwq_ind_table table = {.log_size = 0};
	struct uhca_cmd_modify_wq ready = {.attr_mask = IBV_WQ_ATTR_STATE, .wq_state = IBV_WQS_RDY};
	uint32_t handle;

	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_ALLOC_PD, 0, &in.pd), 0);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_WQ, &in, sizeof(in)), 0);
	assert_int_equal(f->c.n_fds, 1);
	ready.handle = REPLY(uhca_cmd_create_srq_reply)->handle;
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_MODIFY_WQ, &ready, sizeof(ready)), 0);
	table.wq[0] = ready.handle + 1000;
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_RWQ_IND_TABLE, &table, sizeof(table)),
			 -ENOENT);
	table.wq[0] = ready.handle;
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_RWQ_IND_TABLE, &table, sizeof(table)),
			 0);
	handle = REPLY(uhca_cmd_handle_reply)->handle;
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DESTROY_WQ, ready.handle, NULL), -EBUSY);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DESTROY_RWQ_IND_TABLE, handle, NULL), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DESTROY_WQ, ready.handle, NULL), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DESTROY_WQ, ready.handle, NULL), -ENOENT);
}

static void test_clients_are_apart(void **state)
{
	struct fixture *f = *state;
	uint32_t pd = alloc_pd(f);
	struct io_test_client other;

	io_test_hello(&other, f->d, "uhca0");
	assert_int_equal(io_test_handle(&other, UHCA_CMD_DEALLOC_PD, pd, NULL), -ENOENT);
	io_test_disconnect(&other);
	assert_int_equal(count(f, CORE_OBJECT_PD), 1);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_DEALLOC_PD, pd, NULL), 0);
}

/* A client that goes takes with it all it made, in whatever order it was made. */
static void test_disconnect_frees_all(void **state)
{
	struct fixture *f = *state;
	struct io_test_client kept = f->c;
	uint32_t handle;
	uint32_t pd;
	int reader;

	io_test_hello(&f->c, f->d, "uhca0");
	pd = alloc_pd(f);
	assert_int_equal(add_channel(f, &handle, &reader), 0);
	create_qp(f, pd, create_cq(f, handle));
	create_qp(f, pd, create_cq(f, 0));
	assert_int_equal(count(f, CORE_OBJECT_QP), 2);
	io_test_disconnect(&f->c);
	for (unsigned i = 0; i < CORE_OBJECT_TYPES; i++)
		assert_int_equal(count(f, (enum core_object_type)i), 0);
	close(reader);
	f->c = kept;
}

/* ---- what can be wrong with a message ---- */

static void test_every_wrong_size(void **state)
{
	struct fixture *f = *state;
	struct {
		struct uhca_cmd_request h;
		uint8_t rest[400];
	} msg;

	memset(&msg, 0, sizeof(msg));
	for (uint32_t cmd = 0; cmd < UHCA_CMD_COUNT + 5; cmd++) {
		for (uint32_t len = 16; len < sizeof(msg); len += 4) {
			int status;

			msg.h = (struct uhca_cmd_request){cmd, len, len, 0};
			status = io_test_send(&f->c, &msg, len, NULL, 0);
			if (status == -EINVAL || status == -EOPNOTSUPP || status == -ENOENT)
				continue;
			/* the one right size of a command that needs no descriptor */
			assert_in_range(status + 200, 0, 200);
			assert_true(cmd > 0 && cmd < UHCA_CMD_COUNT);
		}
	}
}

/* A command of later times may be longer than any of ours: it is one that there is not. */
static void test_newer_command(void **state)
{
	static struct {
		struct uhca_cmd_request h;
		uint8_t rest[UHCA_ABI_MAX_MESSAGE];
	} msg;
	struct fixture *f = *state;

	msg.h = (struct uhca_cmd_request){UHCA_CMD_COUNT + 5, sizeof(msg), 1, 0};
	assert_int_equal(io_test_send(&f->c, &msg, sizeof(msg), NULL, 0), -EOPNOTSUPP);
	msg.h.cmd = UHCA_CMD_ALLOC_PD;
	assert_int_equal(io_test_send(&f->c, &msg, sizeof(msg), NULL, 0), -EINVAL);
}

static void test_truncated_header(void **state)
{
	struct fixture *f = *state;
	struct io_test_client c;

	for (size_t len = 1; len < 16; len++) {
		io_test_hello(&c, f->d, "uhca0");
		assert_int_equal(io_test_send(&c, "0123456789abcdef", len, NULL, 0), -ECONNRESET);
		io_test_disconnect(&c);
	}
	alloc_pd(f);
}

static void test_size_that_lies(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_handle in = {.h = {UHCA_CMD_ALLOC_PD, 20, 1, 0}};

	assert_int_equal(io_test_send(&f->c, &in, sizeof(in), NULL, 0), -EINVAL);
	in.h.size = UINT32_MAX;
	assert_int_equal(io_test_send(&f->c, &in, sizeof(in), NULL, 0), -EINVAL);
	assert_int_equal(count(f, CORE_OBJECT_PD), 0);
}

static void test_oversized(void **state)
{
	struct fixture *f = *state;
	static uint8_t msg[60000];
	struct uhca_cmd_request h = {UHCA_CMD_ALLOC_PD, sizeof(msg), 9, 0};

	memcpy(msg, &h, sizeof(h));
	assert_int_equal(io_test_send(&f->c, msg, sizeof(msg), NULL, 0), -EINVAL);
	assert_int_equal(f->c.reply.h.sequence, 9);
	alloc_pd(f);
}

static void test_reserved_fields(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_handle in = {.h = {UHCA_CMD_ALLOC_PD, sizeof(in), 1, 7}};
	struct uhca_cmd_create_ah ah = {.pd = alloc_pd(f), .reserved = 1};
	struct uhca_cmd_create_srq srq = {.pd = ah.pd, .max_wr = 1, .max_sge = 1, .reserved = 1};
	struct uhca_cmd_modify_qp modify = {.attr.reserved0 = 1};
	struct uhca_cmd_mcast mcast = {.reserved = 1};
	struct uhca_cmd_open_qp open_qp = {.reserved = 1};
	struct uhca_cmd_reg_dm_mr dm = {.reserved = 1};
	struct uhca_cmd_reg_shared_mr shared = {.reserved = 1};
	struct uhca_cmd_create_qp qp = qp_request(ah.pd, create_cq(f, 0));
	struct uhca_cmd_fault_check check = {.reserved = 1};

	assert_int_equal(io_test_send(&f->c, &in, sizeof(in), NULL, 0), -EINVAL);
	in.index = 1;
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_ALLOC_PD, &in, sizeof(in)), -EINVAL);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_AH, &ah, sizeof(ah)), -EINVAL);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_SRQ, &srq, sizeof(srq)), -EINVAL);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_MODIFY_QP, &modify, sizeof(modify)), -EINVAL);
	modify = (struct uhca_cmd_modify_qp){.attr.reserved0 = 1};
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_MODIFY_QP, &modify, sizeof(modify)), -EINVAL);
	modify = (struct uhca_cmd_modify_qp){.attr.ah.reserved = 1};
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_MODIFY_QP, &modify, sizeof(modify)), -EINVAL);
	modify = (struct uhca_cmd_modify_qp){.attr.alt_ah.reserved = 1};
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_MODIFY_QP, &modify, sizeof(modify)), -EINVAL);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_ATTACH_MCAST, &mcast, sizeof(mcast)),
			 -EINVAL);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_DETACH_MCAST, &mcast, sizeof(mcast)),
			 -EINVAL);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_OPEN_QP, &open_qp, sizeof(open_qp)), -EINVAL);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_REG_DM_MR, &dm, sizeof(dm)), -EINVAL);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_REG_SHARED_MR, &shared, sizeof(shared)),
			 -EINVAL);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_FAULT_CHECK, &check, sizeof(check)), -EINVAL);
	qp.reserved0 = 1;
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_QP, &qp, sizeof(qp)), -EINVAL);
	assert_int_equal(count(f, CORE_OBJECT_QP), 0);
	assert_int_equal(count(f, CORE_OBJECT_PD), 1);
}

/* Commands that name one object, or none, take no index beside it. */
static void test_only_a_handle(void **state)
{
	static const struct {
		uint32_t cmd;
		bool handle; /* it names an object; else that must be 0, too */
		unsigned n_fds;
	} rows[] = {
		{UHCA_CMD_QUERY_DEVICE, false, 0},   {UHCA_CMD_QUERY_PORT, true, 0},
		{UHCA_CMD_ALLOC_PD, false, 0},       {UHCA_CMD_DEALLOC_PD, true, 0},
		{UHCA_CMD_DEREG_MR, true, 0},        {UHCA_CMD_CREATE_CHANNEL, false, 1},
		{UHCA_CMD_DESTROY_CHANNEL, true, 0}, {UHCA_CMD_DESTROY_CQ, true, 0},
		{UHCA_CMD_NOTIFY_CQ, true, 0},       {UHCA_CMD_QUERY_QP, true, 0},
		{UHCA_CMD_DESTROY_QP, true, 0},      {UHCA_CMD_QUERY_SRQ, true, 0},
		{UHCA_CMD_DESTROY_SRQ, true, 0},     {UHCA_CMD_DESTROY_AH, true, 0},
		{UHCA_CMD_DEALLOC_MW, true, 0},      {UHCA_CMD_ALLOC_NULL_MR, true, 0},
		{UHCA_CMD_FREE_DM, true, 0},         {UHCA_CMD_CLOSE_XRCD, true, 0},
		{UHCA_CMD_DESTROY_WQ, true, 0},      {UHCA_CMD_DESTROY_RWQ_IND_TABLE, true, 0},
		{UHCA_CMD_DESTROY_FLOW, true, 0},    {UHCA_CMD_DESTROY_COMP_CNTR, true, 0},
	};
	struct fixture *f = *state;

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct uhca_cmd_handle in = {.handle = rows[i].handle, .index = 1};
		int pair[2], status;

		assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
		status = io_test_call_fds(&f->c, rows[i].cmd, &in, sizeof(in), pair, rows[i].n_fds);
		if (status == -EINVAL && !rows[i].handle) {
			in = (struct uhca_cmd_handle){.handle = 1};
			status = io_test_call_fds(&f->c, rows[i].cmd, &in, sizeof(in), pair,
						  rows[i].n_fds);
		}
		if (status != -EINVAL)
			fail_msg("command %u: %d", rows[i].cmd, status);
		close(pair[0]);
		close(pair[1]);
	}
}

static int open_domain(struct fixture *f, int fd, uint32_t oflags, uint32_t unshared)
{
	struct uhca_cmd_open_xrcd in = {.oflags = oflags, .unshared = unshared};

	return io_test_call_fds(&f->c, UHCA_CMD_OPEN_XRCD, &in, sizeof(in), &fd, 1);
}

/* A file has one domain, by whatever descriptor it is named; without one a client has its own. */
static void test_domains(void **state)
{
	const uint32_t create = UHCA_ABI_XRCD_CREATE, only = create | UHCA_ABI_XRCD_EXCLUSIVE;
	struct fixture *f = *state;
	int file = open("/tmp", O_TMPFILE | O_RDWR, 0600),
	    other = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	int same = dup(file);
	uint32_t handle;

	assert_true(file >= 0 && other >= 0 && same >= 0);
	assert_int_equal(open_domain(f, file, 0, 0), -EAGAIN);
	assert_int_equal(open_domain(f, file, create, 0), 0);
	handle = REPLY(uhca_cmd_handle_reply)->handle;
	assert_int_equal(open_domain(f, same, only, 0), -EINVAL);
	assert_int_equal(open_domain(f, same, 0, 0), 0);
	assert_int_equal(open_domain(f, other, only, 0), 0);
	assert_int_equal(open_domain(f, same, create, 1), 0);
	assert_int_equal(open_domain(f, same, create, 2), -EINVAL);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_CLOSE_XRCD, handle, NULL), 0);
	assert_int_equal(io_test_handle(&f->c, UHCA_CMD_CLOSE_XRCD, handle, NULL), -ENOENT);
	close(file);
	close(other);
	close(same);
}

/* A CQ of another size has another region. */
static void test_resize(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_resize_cq in = {.handle = create_cq(f, 0), .cqe = 200};
	struct stat st;

	assert_int_equal(io_test_call(&f->c, UHCA_CMD_RESIZE_CQ, &in, sizeof(in)), 0);
	assert_int_equal(f->c.n_fds, 1);
	assert_int_equal(fstat(f->c.fd[0], &st), 0);
	assert_int_equal(st.st_size, REPLY(uhca_cmd_create_cq_reply)->region_size);
	assert_true(REPLY(uhca_cmd_create_cq_reply)->cqe >= 200);
	in.handle++;
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_RESIZE_CQ, &in, sizeof(in)), -ENOENT);
	assert_int_equal(f->c.n_fds, 0);
}

static void test_uninvited_descriptors(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_handle in = {.handle = 0};
	unsigned before = io_test_open_fds();
	int fd[4] = {0, 0, 0, 0};

	assert_int_equal(io_test_call_fds(&f->c, UHCA_CMD_ALLOC_PD, &in, sizeof(in), fd, 4),
			 -EINVAL);
	assert_int_equal(io_test_call_fds(&f->c, UHCA_CMD_CREATE_CHANNEL, &in, sizeof(in), fd, 2),
			 -EINVAL);
	assert_int_equal(io_test_call(&f->c, UHCA_CMD_CREATE_CHANNEL, &in, sizeof(in)), -EINVAL);
	/* the right number of the wrong kind */
	assert_int_equal(io_test_call_fds(&f->c, UHCA_CMD_CREATE_CHANNEL, &in, sizeof(in), fd, 1),
			 -EINVAL);
	/* (the descriptors of the HELLO reply were dropped with the first call) */
	assert_int_equal(io_test_open_fds(), before - 4);
}

/* A message of no bytes, which recvmsg(2) tells like the end, with descriptors. */
static void test_empty_with_descriptors(void **state)
{
	struct fixture *f = *state;
	struct io_test_client c;
	unsigned before;
	int fd[3] = {0, 0, 0};

	io_test_connect(&c, f->d);
	before = io_test_open_fds();
	assert_int_equal(io_test_send(&c, "", 0, fd, 3), -ECONNRESET);
	assert_int_equal(io_test_open_fds(), before);
	io_test_disconnect(&c);
	alloc_pd(f);
}

/* A client that asks and asks, and never reads a reply. */
static void test_deaf_client(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_handle in = {.h = {UHCA_CMD_QUERY_DEVICE, sizeof(in), 1, 0}};
	struct io_test_client deaf;
	unsigned sent = 0;

	io_test_hello(&deaf, f->d, "uhca0");
	while (f->d->clients.n == 2 && sent++ < 100000) {
		send(deaf.sock, &in, sizeof(in), MSG_DONTWAIT | MSG_NOSIGNAL);
		io_test_loop_pass(f->d->loop);
	}
	assert_int_equal(f->d->clients.n, 1);
	io_test_disconnect(&deaf);
	alloc_pd(f);
}

/* ---- HELLO ---- */

/* Says HELLO on a fresh connection with these descriptors; expects it to be refused. */
static void refused_hello(struct fixture *f, struct uhca_cmd_hello in, int mem, int async,
			  int expected)
{
	const int fd[2] = {mem, async};
	unsigned before;
	struct io_test_client c;
	uint32_t handle;

	io_test_connect(&c, f->d);
	io_test_loop_pass(f->d->loop);
	before = io_test_open_fds();
	assert_int_equal(io_test_call_fds(&c, UHCA_CMD_HELLO, &in, sizeof(in), fd, 2), expected);
	assert_int_equal(io_test_open_fds(), before);
	assert_int_equal(io_test_handle(&c, UHCA_CMD_ALLOC_PD, 0, &handle), -EINVAL);
	io_test_disconnect(&c);
}

static void test_refused_hellos(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_hello in = io_test_hello_request("uhca0");
	int null = open("/dev/null", O_RDWR);
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	in.magic++;
	refused_hello(f, in, f->c.mem, pair[0], -EINVAL);
	in = io_test_hello_request("uhca0");
	in.version++;
	refused_hello(f, in, f->c.mem, pair[0], -EPROTO);
	in = io_test_hello_request("uhca0");
	in.mem_error = EACCES; /* it is not dumpable, and has nothing to send */
	refused_hello(f, in, pair[0], pair[0], -EACCES);
	in.mem_error = 4095; /* the last that is an errno value in Linux */
	refused_hello(f, in, f->c.mem, pair[0], -4095);
	in.mem_error++;
	refused_hello(f, in, f->c.mem, pair[0], -EINVAL);
	refused_hello(f, io_test_hello_request("uhca2"), f->c.mem, pair[0], -ENODEV);
	in = io_test_hello_request("");
	memset(in.device, 'u', sizeof(in.device)); /* not terminated */
	refused_hello(f, in, f->c.mem, pair[0], -ENODEV);
	in = io_test_hello_request("uhca0");
	refused_hello(f, in, null, pair[0], -EINVAL);
	refused_hello(f, in, f->c.mem, null, -EINVAL);
	refused_hello(f, in, pair[0], f->c.mem, -EINVAL);
	close(null);
	close(pair[0]);
	close(pair[1]);
}

static void test_hello_again_after_a_refusal(void **state)
{
	struct fixture *f = *state;
	struct uhca_cmd_hello in = io_test_hello_request("uhca0");
	struct io_test_client c;
	int pair[2];
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
	io_test_connect(&c, f->d);
	fd[0] = fd[1] = f->c.mem;
	assert_int_equal(io_test_call_fds(&c, UHCA_CMD_HELLO, &in, sizeof(in), fd, 2), -EINVAL);
	fd[1] = pair[1];
	assert_int_equal(io_test_call_fds(&c, UHCA_CMD_HELLO, &in, sizeof(in), fd, 2), 0);
	assert_int_equal(io_test_call_fds(&c, UHCA_CMD_HELLO, &in, sizeof(in), fd, 2), -EINVAL);
	assert_int_equal(io_test_handle(&c, UHCA_CMD_ALLOC_PD, 0, NULL), 0);
	io_test_disconnect(&c);
	close(pair[0]);
	close(pair[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_hello),
		TEST(test_queries),
		TEST(test_life_of_objects),
		TEST(test_modify),
		TEST(test_channels),
		TEST(test_unknown_channel),
		TEST(test_regions),
		TEST(test_clients_are_apart),
		TEST(test_work_queues),
		TEST(test_queues_cost_no_descriptor),
		TEST(test_disconnect_frees_all),
		TEST(test_every_wrong_size),
		TEST(test_newer_command),
		TEST(test_truncated_header),
		TEST(test_size_that_lies),
		TEST(test_oversized),
		TEST(test_reserved_fields),
		TEST(test_only_a_handle),
		TEST(test_domains),
		TEST(test_resize),
		TEST(test_uninvited_descriptors),
		TEST(test_empty_with_descriptors),
		TEST(test_deaf_client),
		TEST(test_refused_hellos),
		TEST(test_hello_again_after_a_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
