/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The barrier: each thing that is pending (a delayed write, a copy on poll, a deferred completion)
 * against each way by which a program or the device could see that it is.
 */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/keys/keys.h"
#include "emu/core/memory/memory.h"
#include "emu/core/qp/qp.h"
#include "emu/core/queues/cq.h"

#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#define SIZE       4096u
#define LATE       5000000u
#define COPY_AT    64u  /* where the copy on poll goes, */
#define DELAYED_AT 128u /* and the delayed write */
#define REGION     1024u
#define DISCONNECT 0xe0000000u

static uint8_t memory[SIZE];
static bool late_writes;

static int load(void *client, const struct core_span *from, unsigned n, void *to)
{
	uint8_t *at = to;

	(void)client;
	for (unsigned i = 0; i < n; at += from[i++].length)
		memcpy(at, memory + from[i].addr, from[i].length);
	return 0;
}

static int store(void *client, const struct core_span *to, unsigned n, const struct iovec *from,
		 unsigned n_from)
{
	(void)client;
	assert_int_equal(n, 1);
	assert_int_equal(n_from, 1);
	memcpy(memory + to->addr, from->iov_base, to->length);
	return 0;
}

static const void *map(void *client, const struct core_span *at, const uint8_t dst[16])
{
	(void)client;
	(void)at;
	(void)dst;
	return NULL;
}

static void delay(struct core_config *cfg)
{
	cfg->late_bytes_ns = LATE;
	cfg->late_writes = late_writes;
}

/* A QP as rsockets make them, a region, and one of each pending thing. */
struct rig {
	struct fixture f;
	struct uhca_abi_copy_on_poll *slots;
	struct copy_on_poll_ring ring;
	struct fixture_qp handles;
	struct qp *qp;
	struct cq *cq;
	struct mr *mr;
	struct sgl list;
	struct uhca_abi_sge sge;
};

static void defer(struct rig *r)
{
	struct uhca_abi_cqe payload = {
		.qpn = r->qp->qpn, .opcode = UHCA_ABI_WC_RECV_RDMA_WITH_IMM, .byte_len = 8};
	struct uhca_abi_cqe signal = {.qpn = r->qp->qpn,
				      .opcode = UHCA_ABI_WC_RECV_RDMA_WITH_IMM,
				      .imm = htonl(DISCONNECT)};

	r->cq->page->ring.reports_handled = 1;
	assert_true(cq_push(r->cq, &payload));
	assert_true(cq_push(r->cq, &signal));
	assert_int_equal(r->cq->producer, 1);
}

static void begin_copy(struct rig *r)
{
	uint8_t byte = 'c';
	struct iovec iov = {&byte, 1};
	uint32_t slot;

	assert_true(copy_on_poll_put(&r->ring, COPY_AT, &iov, 1, &slot));
}

/* One piece: late as a whole. */
static void begin_write(struct rig *r)
{
	struct core_span to = {.addr = DELAYED_AT, .length = 1};
	uint8_t byte = 'd';
	struct iovec iov = {&byte, 1};

	assert_int_equal(delayed_write_write(r->f.dev, &(struct late_write){r->f.client, &to, 1,
									    &iov, 1, true}),
			 0);
}

static void prepare(struct rig *r, bool delays)
{
	uint32_t pd, key;

	memset(r, 0, sizeof(*r));
	memset(memory, 0, sizeof(memory));
	fixture_start(&r->f, delays ? delay : NULL);
	r->f.ops.mem_read = load;
	r->f.ops.mem_write = store;
	r->f.ops.mem_map = map;
	r->slots = calloc(UHCA_ABI_COPY_ON_POLL_SLOTS, sizeof(*r->slots));
	assert_non_null(r->slots);
	copy_on_poll_ring_construct(&r->ring, r->f.client, r->slots);
	r->handles = fixture_qp(&r->f, IBV_QPT_RC);
	fixture_connect(&r->f, &r->handles, IBV_QPT_RC);
	r->qp = device_find_qp(r->f.dev, r->handles.qpn);
	r->qp->sq_sig_all = true;
	r->cq = table_find(&r->f.dev->cqs, r->handles.cq);
	pd = fixture_pd(&r->f);
	key = fixture_mr(&r->f, pd, REGION, 256, IBV_ACCESS_LOCAL_WRITE);
	r->mr = table_find(&r->f.dev->mrs, key >> 8);
	assert_non_null(r->mr);
	r->sge = (struct uhca_abi_sge){.addr = REGION, .length = 8, .lkey = key};
	r->list = (struct sgl){.dev = r->f.dev, .pd = r->mr->pd, .sge = &r->sge, .n = 1};
}

static void start(struct rig *r)
{
	prepare(r, true);
	defer(r);
	begin_copy(r);
	begin_write(r);
	assert_int_equal(memory[COPY_AT] + memory[DELAYED_AT], 0);
}

static void finish(struct rig *r)
{
	copy_on_poll_ring_end(&r->ring);
	fixture_stop(&r->f);
	free(r->slots);
}

/* ---- ways of becoming visible ---- */

static void reads(struct rig *r)
{
	uint8_t to[8];

	assert_int_equal(sgl_read(&r->list, 0, sizeof(to), to), 0);
}

static void writes(struct rig *r)
{
	uint8_t bytes[8] = {1};
	struct iovec from = {bytes, sizeof(bytes)};

	assert_int_equal(sgl_write(&r->list, 0, &from, 1), 0);
}

static void maps(struct rig *r)
{
	static const uint8_t dst[16];

	assert_null(sgl_map(&r->list, 0, 8, dst));
}

static void completes(struct rig *r, uint32_t opcode)
{
	struct uhca_abi_cqe e = {.qpn = r->qp->qpn + 1, .opcode = opcode};

	assert_true(cq_push(r->cq, &e));
}

static void request_completes(struct rig *r)
{
	completes(r, UHCA_ABI_WC_RDMA_WRITE);
}

static void receive_completes(struct rig *r)
{
	completes(r, UHCA_ABI_WC_RECV);
}

static void window_unbound(struct rig *r)
{
	struct mw mw = {.obj.client = r->f.client, .mr = r->mr};

	r->mr->obj.refs++;
	mw_unbind(&mw);
}

static void key_invalidated(struct rig *r)
{
	struct indirect *ind = indirect_new(1);

	assert_non_null(ind);
	r->mr->ind = ind;
	indirect_invalidate(r->mr);
	r->mr->ind = NULL;
	indirect_free(ind);
}

static void deregistered(struct rig *r)
{
	assert_int_equal(core_dereg_mr(r->f.client, r->mr->obj.handle), 0);
}

static void registered_anew(struct rig *r)
{
	struct uhca_cmd_rereg_mr in = {.handle = r->mr->obj.handle,
				       .flags = IBV_REREG_MR_CHANGE_ACCESS,
				       .access = IBV_ACCESS_LOCAL_WRITE};
	struct uhca_cmd_reg_mr_reply out;

	assert_int_equal(core_rereg_mr(r->f.client, &in, &out), 0);
}

static void loses_memory(struct rig *r)
{
	mr_lose(r->mr);
}

static void qp_changes(struct rig *r, uint32_t state)
{
	const struct uhca_abi_qp_attr attr = {.qp_state = state};

	assert_int_equal(fixture_modify(&r->f, r->handles.handle, &attr, IBV_QP_STATE), 0);
}

static void qp_fails(struct rig *r)
{
	qp_changes(r, IBV_QPS_ERR);
}

static void qp_is_reset(struct rig *r)
{
	qp_changes(r, IBV_QPS_RESET);
}

static void qp_ends(struct rig *r)
{
	assert_int_equal(core_destroy_qp(r->f.client, r->handles.handle), 0);
}

static void other_client_ends(struct rig *r)
{
	core_client_destroy(r->f.other);
	r->f.other = core_client_create(r->f.dev, &r->f.other_cookie);
}

static void cq_overruns(struct rig *r)
{
	cq_overrun(r->cq);
}

static void cq_resized(struct rig *r)
{
	struct uhca_cmd_resize_cq in = {.handle = r->handles.cq, .cqe = 128};
	struct uhca_cmd_create_cq_reply out;
	struct core_ring ring;

	assert_int_equal(core_resize_cq(r->f.client, &in, &out, &ring), 0);
}

static void daemon_sleeps(struct rig *r)
{
	core_hurry(r->f.dev);
}

static void time_of_copies(struct rig *r)
{
	core_tick(r->f.dev, r->f.dev->now + 1000000);
}

static void time_of_writes(struct rig *r)
{
	core_tick(r->f.dev, r->f.dev->now + LATE);
}

/* A deferred completion that enters its CQ is a completion: delayed writes come before it. */
static const struct way {
	const char *name;
	void (*happen)(struct rig *r);
	bool delayed, copy, deferred; /* are there */
} ways[] = {
	{"read", reads, true, true, false},
	{"write", writes, true, true, false},
	{"map", maps, true, true, false},
	{"completion of a request", request_completes, true, false, false},
	{"completion of a receive", receive_completes, true, false, false},
	{"unbind", window_unbound, true, false, false},
	{"invalidate", key_invalidated, true, false, false},
	{"dereg_mr", deregistered, true, true, false},
	{"rereg_mr", registered_anew, true, true, false},
	{"loss of memory", loses_memory, true, true, false},
	{"QP in error", qp_fails, true, false, true},
	{"QP in RESET", qp_is_reset, true, false, true},
	{"destroy_qp", qp_ends, true, false, true},
	{"end of a client", other_client_ends, true, false, false},
	{"overrun", cq_overruns, true, false, true},
	{"resize_cq", cq_resized, true, true, true},
	{"sleep", daemon_sleeps, false, true, false},
	{"1 ms", time_of_copies, false, true, false},
	{"late_bytes_ns", time_of_writes, true, true, false},
};

static void expect(const struct way *w, const char *what, bool is, bool should)
{
	if (is != should)
		fail_msg("%s: the %s is %s", w->name, what, is ? "visible" : "pending");
}

static void test_each_way(void **state)
{
	struct rig r;

	(void)state;
	late_writes = false;
	for (unsigned i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		uint32_t entered;

		start(&r);
		ways[i].happen(&r);
		entered = r.cq->deferred.n == 0;
		expect(&ways[i], "delayed write", memory[DELAYED_AT] == 'd', ways[i].delayed);
		expect(&ways[i], "copy on poll", memory[COPY_AT] == 'c', ways[i].copy);
		expect(&ways[i], "deferred completion", entered, ways[i].deferred);
		finish(&r);
	}
}

/* What a WRITE brought is not what the completion of a request at its target stands for (9.5). */
static void test_late_writes(void **state)
{
	struct rig r;

	(void)state;
	late_writes = true;
	start(&r);
	request_completes(&r);
	assert_int_equal(memory[DELAYED_AT], 0);
	receive_completes(&r);
	assert_int_equal(memory[DELAYED_AT], 'd');
	finish(&r);
	late_writes = false;
}

/* Each thing alone is enough: none of them hides behind another. */
static void test_each_alone(void **state)
{
	struct rig r;

	(void)state;
	prepare(&r, true);
	begin_write(&r);
	reads(&r);
	assert_int_equal(memory[DELAYED_AT], 'd');
	finish(&r);
	prepare(&r, false);
	begin_copy(&r);
	reads(&r);
	assert_int_equal(memory[COPY_AT], 'c');
	finish(&r);
	prepare(&r, false);
	defer(&r);
	qp_fails(&r);
	assert_int_equal(r.cq->deferred.n, 0);
	finish(&r);
}

/* Programs of three devices share memory; the first and the last know each other by the second. */
static void test_devices(void **state)
{
	struct rig a, b, c;

	(void)state;
	prepare(&a, false);
	prepare(&b, false);
	prepare(&c, false);
	begin_copy(&a);
	reads(&c); /* they share nothing yet */
	assert_int_equal(memory[COPY_AT], 0);
	core_share_memory(b.f.dev, a.f.dev);
	core_share_memory(c.f.dev, b.f.dev);
	reads(&c);
	assert_int_equal(memory[COPY_AT], 'c');
	memory[COPY_AT] = 0;
	begin_copy(&c);
	deregistered(&a);
	assert_int_equal(memory[COPY_AT], 'c');
	finish(&b); /* a device may end before the others */
	memory[COPY_AT] = 0;
	begin_copy(&a);
	reads(&c);
	assert_int_equal(memory[COPY_AT], 'c');
	finish(&a);
	finish(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_way),
		cmocka_unit_test(test_late_writes),
		cmocka_unit_test(test_each_alone),
		cmocka_unit_test(test_devices),
	};

	return cmocka_run_group_tests_name("barrier", tests, NULL, NULL);
}
