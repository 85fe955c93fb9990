/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects as facts: complete, true, and attributed to their owners. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/keys/indirect.h"
#include "emu/core/keys/mr.h"
#include "emu/core/keys/mw.h"
#include "emu/core/qp/qp.h"

#include <infiniband/verbs.h>
#include <string.h>

/* What one visit saw; facts live for the call only, so they are copied. */
struct seen {
	unsigned objects;
	void *client;
	unsigned n;
	struct core_fact fact[CORE_MAX_FACTS];
};

static void on_visit(void *arg, void *client, const struct core_fact *facts, unsigned n)
{
	struct seen *s = arg;

	assert_true(n > 1 && n <= CORE_MAX_FACTS);
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(facts[i].name, facts[k].name);
	s->objects++;
	s->client = client;
	s->n = n;
	memcpy(s->fact, facts, n * sizeof(*facts));
}

static struct seen visit(struct fixture *f, enum core_object_type type)
{
	struct seen s = {0};

	struct core_visit v = {.type = type};

	while (core_visit(f->dev, &v, 3, on_visit, &s))
		;
	assert_int_equal(v.met, s.objects);
	assert_int_equal(s.objects, core_object_count(f->dev, type));
	return s;
}

static const struct core_fact *fact(const struct seen *s, const char *name)
{
	for (unsigned i = 0; i < s->n; i++)
		if (!strcmp(s->fact[i].name, name))
			return &s->fact[i];
	fail_msg("no fact %s", name);
	return NULL;
}

static uint64_t number(const struct seen *s, const char *name)
{
	assert_null(fact(s, name)->text);
	return fact(s, name)->number;
}

static const char *text(const struct seen *s, const char *name)
{
	assert_non_null(fact(s, name)->text);
	return fact(s, name)->text;
}

static void test_empty(void **state)
{
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	for (int type = 0; type < CORE_OBJECT_TYPES; type++)
		assert_int_equal(visit(&f, type).objects, 0);
	fixture_stop(&f);
}

static void test_owners(void **state)
{
	struct fixture f;
	struct seen s;
	uint32_t pd;

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(core_alloc_pd(f.other, &pd), 0);
	s = visit(&f, CORE_OBJECT_PD);
	assert_int_equal(s.objects, 1);
	assert_ptr_equal(s.client, &f.other_cookie);
	assert_int_equal(number(&s, "handle"), pd);
	assert_int_equal(number(&s, "users"), 0);
	fixture_pd(&f);
	assert_int_equal(visit(&f, CORE_OBJECT_PD).objects, 2);
	fixture_stop(&f);
}

static void test_mr(void **state)
{
	struct fixture f;
	struct seen s;
	uint32_t pd, key;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	key = fixture_mr(&f, pd, 0x12345, 5000, MR_LOCAL_WRITE | MR_REMOTE_READ);
	s = visit(&f, CORE_OBJECT_MR);
	assert_int_equal(number(&s, "lkey"), key);
	assert_int_equal(number(&s, "rkey"), key);
	assert_true(fact(&s, "lkey")->hex);
	assert_int_equal(number(&s, "handle"), key >> 8);
	assert_int_equal(number(&s, "key_byte"), key & 0xff);
	assert_int_equal(number(&s, "iova"), 0x12345);
	assert_int_equal(number(&s, "length"), 5000);
	assert_int_equal(number(&s, "access"), MR_LOCAL_WRITE | MR_REMOTE_READ);
	assert_int_equal(number(&s, "pd"), pd);
	assert_int_equal(number(&s, "page_size"), 4096);
	assert_int_equal(number(&s, "first_offset"), 0x345);
	assert_int_equal(number(&s, "pages"), 2);
	assert_int_equal(number(&s, "first_page"), 0x12000);
	assert_int_equal(number(&s, "last_page"), 0x13000);
	assert_string_equal(text(&s, "shape"), "flat");
	assert_int_equal(core_dereg_mr(f.client, key >> 8), 0);
	fixture_mr(&f, pd, 0x10000, 513 * 4096, 0);
	s = visit(&f, CORE_OBJECT_MR);
	assert_string_equal(text(&s, "shape"), "two-level");
	assert_int_equal(number(&s, "last_page"), 0x10000 + 512 * 4096);
	fixture_stop(&f);
}

/* A region without bytes has no pages to tell of. */
static void test_mr_empty(void **state)
{
	struct fixture f;
	struct seen s;

	(void)state;
	fixture_start(&f, NULL);
	fixture_mr(&f, fixture_pd(&f), 0x12345, 0, 0);
	s = visit(&f, CORE_OBJECT_MR);
	assert_int_equal(number(&s, "pages"), 0);
	fixture_stop(&f);
}

static void test_cq(void **state)
{
	struct fixture f;
	struct uhca_abi_cqe e = {0};
	struct seen s;
	struct cq *cq;

	(void)state;
	fixture_start(&f, NULL);
	cq = table_find(&f.dev->cqs, fixture_cq(&f, 4));
	for (int i = 0; i < 3; i++)
		assert_true(cq_push(cq, &e));
	cq->page->ring.consumer = 1;
	cq->page->arm = UHCA_ABI_ARM_SOLICITED;
	s = visit(&f, CORE_OBJECT_CQ);
	assert_int_equal(number(&s, "cqe"), 4);
	assert_int_equal(number(&s, "entries"), cq->entries);
	assert_int_equal(number(&s, "users"), 0);
	assert_int_equal(number(&s, "producer"), 3);
	assert_int_equal(number(&s, "outstanding"), 2);
	assert_int_equal(number(&s, "held"), 0);
	assert_int_equal(number(&s, "armed"), UHCA_ABI_ARM_SOLICITED);
	assert_string_equal(text(&s, "state"), "ready");
	cq->page->ring.consumer = 77; /* nonsense is not repeated */
	s = visit(&f, CORE_OBJECT_CQ);
	assert_int_equal(number(&s, "outstanding"), 0);
	cq->overrun = true;
	s = visit(&f, CORE_OBJECT_CQ);
	assert_string_equal(text(&s, "state"), "overrun");
	fixture_stop(&f);
}

static void test_qp(void **state)
{
	struct fixture f;
	struct fixture_qp qp;
	struct seen s;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, IBV_QPT_RC);
	s = visit(&f, CORE_OBJECT_QP);
	assert_string_equal(text(&s, "state"), "RESET");
	fixture_connect(&f, &qp, IBV_QPT_RC);
	device_find_qp(f.dev, qp.qpn)->page->send.producer = 2;
	device_find_qp(f.dev, qp.qpn)->page->recv.producer = 3;
	s = visit(&f, CORE_OBJECT_QP);
	assert_int_equal(number(&s, "handle"), qp.handle);
	assert_int_equal(number(&s, "qpn"), qp.qpn);
	assert_string_equal(text(&s, "type"), "RC");
	assert_string_equal(text(&s, "state"), "RTS");
	assert_int_equal(number(&s, "pd"), qp.pd);
	assert_int_equal(number(&s, "send_cq"), qp.cq);
	assert_int_equal(number(&s, "recv_cq"), qp.cq);
	assert_int_equal(number(&s, "dest_qpn"), 0x1234);
	assert_int_equal(number(&s, "rq_psn"), 0x123456);
	assert_int_equal(number(&s, "sq_psn"), 0x654321);
	assert_int_equal(number(&s, "una_psn"), 0x654321);
	assert_int_equal(number(&s, "mtu"), 1024);
	assert_int_equal(number(&s, "timeout"), 14);
	assert_int_equal(number(&s, "retry_cnt"), 7);
	assert_int_equal(number(&s, "rnr_retry"), 6);
	assert_int_equal(number(&s, "max_rd_atomic"), 4);
	assert_int_equal(number(&s, "max_dest_rd_atomic"), 8);
	assert_string_equal(text(&s, "path_mig_state"), "MIGRATED");
	assert_int_equal(number(&s, "max_send_wr"), 16);
	assert_int_equal(number(&s, "max_recv_wr"), 16);
	assert_int_equal(number(&s, "sends"), 2);
	assert_int_equal(number(&s, "recvs"), 3);
	fixture_stop(&f);
}

/* Each counter of a QP under its own name. */
static void test_qp_counters(void **state)
{
	static const char *const name[] = {"tx_packets", "tx_bytes", "rx_packets", "rx_bytes",
					   "retries",    "rnr",      "errors",     "silent"};
	struct fixture_qp qp;
	struct fixture f;
	struct seen s;
	struct qp *of;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, IBV_QPT_RC);
	of = device_find_qp(f.dev, qp.qpn);
	of->counters = (struct qp_counters){1, 2, 3, 4, 5, 6, 7, 8};
	of->max_inline_data = 60;
	of->doorbell = 5;
	s = visit(&f, CORE_OBJECT_QP);
	for (unsigned i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		assert_int_equal(number(&s, name[i]), i + 1);
	assert_int_equal(number(&s, "max_inline_data"), 60);
	assert_int_equal(number(&s, "doorbell"), 5);
	fixture_stop(&f);
}

static void test_look_at_qp(void **state)
{
	struct core_qp_look look;
	struct fixture_qp qp;
	struct fixture f;

	(void)state;
	fixture_start(&f, NULL);
	qp = fixture_qp(&f, IBV_QPT_RC);
	fixture_connect(&f, &qp, IBV_QPT_RC);
	assert_true(core_look_at_qp(f.dev, qp.qpn, &look));
	assert_int_equal(look.peer_qpn, 0x1234);
	assert_int_equal(look.pd, qp.pd);
	assert_true(look.responds);
	assert_int_equal(look.expected_psn, 0x123456);
	assert_int_equal(look.srq, 0);
	assert_int_equal(look.send_cq, qp.cq);
	assert_int_equal(look.recv_cq, qp.cq);
	assert_ptr_equal(look.client, visit(&f, CORE_OBJECT_QP).client);
	assert_false(core_look_at_qp(f.dev, qp.qpn + 1, &look));
	fixture_stop(&f);
}

static void test_srq(void **state)
{
	struct fixture f;
	struct srq *srq;
	struct seen s;
	uint32_t pd;

	(void)state;
	fixture_start(&f, NULL);
	pd = fixture_pd(&f);
	srq = table_find(&f.dev->srqs, fixture_srq(&f, pd));
	srq->rq.page->recv.producer = 3;
	srq->limit = 2;
	s = visit(&f, CORE_OBJECT_SRQ);
	assert_int_equal(number(&s, "srqn"), srq->srq_num);
	assert_int_equal(number(&s, "pd"), pd);
	assert_int_equal(number(&s, "max_wr"), 16);
	assert_int_equal(number(&s, "max_sge"), 1);
	assert_int_equal(number(&s, "users"), 0);
	assert_string_equal(text(&s, "type"), "BASIC");
	assert_int_equal(number(&s, "limit"), 2);
	assert_int_equal(number(&s, "posted"), 3);
	assert_string_equal(text(&s, "state"), "ready");
	srq->error = true;
	s = visit(&f, CORE_OBJECT_SRQ);
	assert_string_equal(text(&s, "state"), "error");
	fixture_stop(&f);
}

static void test_ah(void **state)
{
	struct fixture f;
	struct uhca_cmd_create_ah in = {.attr = fixture_attr(0).ah};
	struct seen s;
	uint32_t handle;

	(void)state;
	fixture_start(&f, NULL);
	in.pd = fixture_pd(&f);
	in.attr.traffic_class = 0x60;
	in.attr.flow_label = 0x12345;
	assert_int_equal(core_create_ah(f.client, &in, &handle), 0);
	s = visit(&f, CORE_OBJECT_AH);
	assert_int_equal(number(&s, "handle"), handle);
	assert_int_equal(number(&s, "pd"), in.pd);
	assert_int_equal(number(&s, "sgid_index"), FIXTURE_GID_V4);
	assert_int_equal(number(&s, "dgid_prefix"), 0);
	assert_int_equal(number(&s, "dgid_interface"), 0xffff0a000001);
	assert_int_equal(number(&s, "hop_limit"), 64);
	assert_int_equal(number(&s, "traffic_class"), 0x60);
	assert_int_equal(number(&s, "flow_label"), 0x12345);
	fixture_stop(&f);
}

static void test_device_memory(void **state)
{
	struct uhca_cmd_alloc_dm in = {.length = 256};
	struct uhca_cmd_alloc_dm_reply out;
	struct core_ring ring;
	struct fixture f;
	struct seen s;

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(core_alloc_dm(f.client, &in, &out, &ring), 0);
	s = visit(&f, CORE_OBJECT_DM);
	assert_int_equal(number(&s, "length"), 256);
	assert_int_equal(number(&s, "users"), 0);
	fixture_stop(&f);
}

/* A window says which memory it opens only while it is bound. */
static void test_window(void **state)
{
	struct uhca_cmd_alloc_mw in = {.type = IBV_MW_TYPE_1};
	struct uhca_cmd_alloc_mw_reply out;
	struct fixture f;
	struct seen s;

	(void)state;
	fixture_start(&f, NULL);
	in.pd = fixture_pd(&f);
	assert_int_equal(core_alloc_mw(f.client, &in, &out), 0);
	s = visit(&f, CORE_OBJECT_MW);
	assert_int_equal(number(&s, "rkey"), out.rkey);
	assert_string_equal(text(&s, "type"), "1");
	assert_string_equal(text(&s, "state"), "unbound");
	assert_int_equal(number(&s, "pd"), in.pd);
	for (unsigned i = 0; i < s.n; i++)
		assert_string_not_equal(s.fact[i].name, "addr");
	fixture_stop(&f);
}

/* A work queue in a table, a QP that spreads over it, and a rule that brings it frames. */
static void test_receive_side(void **state)
{
	struct fixture f;
	struct uhca_cmd_create_wq queue = {.max_wr = 8, .max_sge = 1};
	struct uhca_cmd_create_rwq_ind_table table = {.log_size = 0};
	struct uhca_cmd_create_qp spread = {.qp_type = IBV_QPT_RAW_PACKET,
					    .rx_hash_fields = 3,
					    .rx_hash_function = 1,
					    .rx_hash_key_len = 40};
	struct uhca_cmd_create_flow rule = {.port = 1, .priority = 7};
	struct uhca_cmd_create_srq_reply wq;
	struct uhca_cmd_create_qp_reply qp;
	uint32_t handle[2];
	struct core_ring ring;
	struct seen s;

	(void)state;
	fixture_start(&f, NULL);
	spread.pd = queue.pd = fixture_pd(&f);
	queue.cq = fixture_cq(&f, 16);
	f.fail_ring = 1;
	assert_int_equal(core_create_wq(f.client, &queue, &wq, &ring), -ENOMEM);
	assert_int_equal(core_create_wq(f.client, &queue, &wq, &ring), 0);
	table.wq[0] = wq.handle;
	assert_int_equal(core_create_rwq_ind_table(f.client, &table, &handle[0]), 0);
	spread.rwq_ind_table = handle[0];
	assert_int_equal(core_create_qp(f.client, &spread, &qp, &ring), 0);
	rule.qp = qp.handle;
	assert_int_equal(core_create_flow(f.client, &rule, &handle[1]), 0);
	s = visit(&f, CORE_OBJECT_WQ);
	assert_int_equal(number(&s, "handle"), wq.handle);
	assert_int_equal(number(&s, "wq_num"), wq.srq_num);
	assert_string_equal(text(&s, "state"), "RESET");
	assert_int_equal(number(&s, "cq"), queue.cq);
	assert_int_equal(number(&s, "pd"), queue.pd);
	assert_int_equal(number(&s, "max_wr"), 8);
	assert_int_equal(number(&s, "max_sge"), 1);
	assert_int_equal(number(&s, "posted"), 0);
	assert_int_equal(number(&s, "users"), 1);
	s = visit(&f, CORE_OBJECT_IND_TABLE);
	assert_int_equal(number(&s, "users"), 1);
	assert_int_equal(number(&s, "entries"), 1);
	assert_int_equal(number(&s, "first_wq"), wq.handle);
	s = visit(&f, CORE_OBJECT_FLOW);
	assert_int_equal(number(&s, "qpn"), qp.qpn);
	assert_int_equal(number(&s, "priority"), 7);
	assert_int_equal(number(&s, "specs"), 0);
	assert_int_equal(number(&s, "tag"), 0);
	assert_string_equal(text(&s, "type"), "normal");
	assert_string_equal(text(&s, "action"), "take");
	fixture_stop(&f);
}

static void test_indirect_key(void **state)
{
	struct uhca_cmd_alloc_key in = {.max_entries = 7};
	struct uhca_cmd_reg_mr_reply out;
	struct fixture f;
	struct seen s;
	struct mr *mr;

	(void)state;
	fixture_start(&f, NULL);
	in.pd = fixture_pd(&f);
	assert_int_equal(core_alloc_key(f.client, &in, &out), 0);
	s = visit(&f, CORE_OBJECT_MR);
	assert_string_equal(text(&s, "kind"), "indirect");
	assert_string_equal(text(&s, "shape"), "invalid"); /* not described yet */
	assert_int_equal(number(&s, "entries"), 0);
	assert_int_equal(number(&s, "max_entries"), 7);
	mr = table_find(&f.dev->mrs, out.handle);
	mr->ind->shape = UHCA_ABI_SHAPE_BLOCKS;
	mr->ind->n = 5;
	mr->ind->depth = 2;
	s = visit(&f, CORE_OBJECT_MR);
	assert_string_equal(text(&s, "shape"), "blocks");
	assert_int_equal(number(&s, "entries"), 5);
	assert_int_equal(number(&s, "depth"), 2);
	mr->ind->shape = 0;
	mr->ind->n = 0;
	fixture_stop(&f);
}

static void test_bound_window(void **state)
{
	struct uhca_cmd_alloc_mw in = {.type = 2};
	struct uhca_cmd_alloc_mw_reply out;
	struct fixture f;
	struct seen s;
	struct mw *mw;
	uint32_t key;

	(void)state;
	fixture_start(&f, NULL);
	in.pd = fixture_pd(&f);
	key = fixture_mr(&f, in.pd, 0x10000, 4096, MR_LOCAL_WRITE | MR_MW_BIND);
	assert_int_equal(core_alloc_mw(f.client, &in, &out), 0);
	s = visit(&f, CORE_OBJECT_MW);
	assert_int_equal(number(&s, "handle"), out.handle);
	assert_int_equal(number(&s, "rkey"), out.rkey);
	assert_string_equal(text(&s, "type"), "2B");
	assert_string_equal(text(&s, "state"), "unbound");
	assert_int_equal(number(&s, "pd"), in.pd);
	mw = table_find(&f.dev->mrs, out.handle);
	mw->mr = table_find(&f.dev->mrs, key >> 8);
	mw->addr = 0x10010;
	mw->length = 99;
	mw->access = MR_REMOTE_READ;
	mw->qpn = 0x77;
	mw->by_qpn = true;
	s = visit(&f, CORE_OBJECT_MW);
	assert_string_equal(text(&s, "type"), "2A");
	assert_string_equal(text(&s, "state"), "bound");
	assert_int_equal(number(&s, "region"), key);
	assert_int_equal(number(&s, "addr"), 0x10010);
	assert_int_equal(number(&s, "length"), 99);
	assert_int_equal(number(&s, "access"), MR_REMOTE_READ);
	assert_int_equal(number(&s, "qpn"), 0x77);
	mw->mr = NULL;
	fixture_stop(&f);
}

static void test_domains(void **state)
{
	const uint64_t file[2] = {0x1234, 0x5678};
	struct uhca_cmd_open_xrcd in = {.oflags = UHCA_ABI_XRCD_CREATE};
	struct fixture f;
	struct seen s;
	uint32_t handle;

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(core_open_xrcd(f.client, &in, file, &handle), 0);
	s = visit(&f, CORE_OBJECT_XRCD);
	assert_int_equal(number(&s, "handle"), handle);
	assert_string_equal(text(&s, "domain"), "shared");
	assert_int_equal(number(&s, "file_device"), 0x1234);
	assert_true(fact(&s, "file_device")->hex);
	assert_int_equal(number(&s, "file_inode"), 0x5678);
	assert_int_equal(number(&s, "users"), 0);
	assert_int_equal(core_close_xrcd(f.client, handle), 0);
	in.unshared = 1;
	assert_int_equal(core_open_xrcd(f.client, &in, NULL, &handle), 0);
	s = visit(&f, CORE_OBJECT_XRCD);
	assert_string_equal(text(&s, "domain"), "private");
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),        cmocka_unit_test(test_owners),
		cmocka_unit_test(test_mr),           cmocka_unit_test(test_mr_empty),
		cmocka_unit_test(test_cq),           cmocka_unit_test(test_qp),
		cmocka_unit_test(test_srq),          cmocka_unit_test(test_ah),
		cmocka_unit_test(test_look_at_qp),   cmocka_unit_test(test_receive_side),
		cmocka_unit_test(test_qp_counters),  cmocka_unit_test(test_device_memory),
		cmocka_unit_test(test_window),       cmocka_unit_test(test_indirect_key),
		cmocka_unit_test(test_bound_window), cmocka_unit_test(test_domains),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
