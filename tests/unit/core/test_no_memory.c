/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every create command of the device without memory: the first allocation fails, then the second,
 * and so on until the command succeeds. Each failure says ENOMEM, leaves the objects and the uses
 * of their parents as they were, and leaks nothing. In an empty device, whose tables are still to
 * be allocated, and in a populated one, whose tables are to grow.
 */
#include "tests/support/core/core_fixture.h"
#include "tests/support/core/qp_table.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/qp/qp_state.h"

#include <errno.h>
#include <stdlib.h>

/* ---- the allocator (ld --wrap) ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *p);

static unsigned fail_at; /* 1: the next one; 0: none */
static long live;        /* allocations that were not freed */

static bool fails(void)
{
	return fail_at > 0 && --fail_at == 0;
}

static void *counted(void *p)
{
	live += p != NULL;
	return p;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *old, size_t size)
{
	if (fails())
		return NULL;
	return old ? __real_realloc(old, size) : counted(__real_realloc(NULL, size));
}

void __wrap_free(void *p)
{
	live -= p != NULL;
	__real_free(p);
}

/* ---- the commands ---- */

struct world {
	struct fixture f;
	uint32_t pd, cq, srq, mr, dm, shared, xrcd;
	struct fixture_qp qp; /* in INIT */
};

struct verb {
	const char *name;
	int (*make)(struct world *w, uint32_t *handle);
	int (*unmake)(struct client *c, uint32_t handle);
};

static int make_pd(struct world *w, uint32_t *handle)
{
	return core_alloc_pd(w->f.client, handle);
}

static int make_mr(struct world *w, uint32_t *handle)
{
	/* more pages than a leaf of the page array names */
	struct uhca_cmd_reg_mr in = {.addr = 0x10000, .length = 64u << 20, .pd = w->pd};
	struct uhca_cmd_reg_mr_reply out;
	int err = core_reg_mr(w->f.client, &in, &out);

	*handle = out.handle;
	return err;
}

/* A region's key changes with its translation: the handle names what there is now. */
static int remake_mr(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_rereg_mr in = {.addr = 0x10000,
				       .length = 64u << 20,
				       .handle = w->mr,
				       .flags = IBV_REREG_MR_CHANGE_TRANSLATION};
	struct uhca_cmd_reg_mr_reply out;

	*handle = 0;
	return core_rereg_mr(w->f.client, &in, &out);
}

static int keep(struct client *c, uint32_t handle)
{
	(void)c;
	return (int)handle;
}

static int make_null_mr(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_reg_mr_reply out;
	int err = core_alloc_null_mr(w->f.client, w->pd, &out);

	*handle = out.handle;
	return err;
}

static int make_mw(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_alloc_mw in = {.pd = w->pd, .type = IBV_MW_TYPE_2};
	struct uhca_cmd_alloc_mw_reply out;
	int err = core_alloc_mw(w->f.client, &in, &out);

	*handle = out.handle;
	return err;
}

static int make_dm(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_alloc_dm in = {.length = 4096};
	struct uhca_cmd_alloc_dm_reply out;
	struct core_ring ring;
	int err = core_alloc_dm(w->f.client, &in, &out, &ring);

	*handle = out.handle;
	return err;
}

static int make_dm_mr(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_reg_dm_mr in = {
		.length = 64, .pd = w->pd, .dm = w->dm, .access = IBV_ACCESS_ZERO_BASED};
	struct uhca_cmd_reg_mr_reply out;
	int err = core_reg_dm_mr(w->f.client, &in, &out);

	*handle = out.handle;
	return err;
}

static int make_shared(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_alloc_dm in = {.length = 4096, .flags = UHCA_ABI_DM_SHARED};
	struct uhca_cmd_alloc_dm_reply out;
	struct core_ring ring;
	int err = core_alloc_dm(w->f.client, &in, &out, &ring);

	*handle = out.handle;
	return err;
}

static int make_shared_mr(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_reg_shared_mr in = {
		.length = 64, .iova = 0x10000, .pd = w->pd, .dm = w->shared};
	struct uhca_cmd_reg_mr_reply out;
	int err = core_reg_shared_mr(w->f.client, &in, &out);

	*handle = out.handle;
	return err;
}

static int make_key(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_alloc_key in = {.pd = w->pd, .max_entries = UHCA_ABI_MAX_ENTRIES};
	struct uhca_cmd_reg_mr_reply out;
	int err = core_alloc_key(w->f.client, &in, &out);

	*handle = out.handle;
	return err;
}

static int make_cq(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_create_cq in = {.cqe = 100};
	struct uhca_cmd_create_cq_reply out;
	struct core_ring ring;
	int err = core_create_cq(w->f.client, &in, &out, &ring);

	*handle = out.handle;
	return err;
}

static int make_srq(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_create_srq in = {.pd = w->pd, .max_wr = 16, .max_sge = 1};
	struct uhca_cmd_create_srq_reply out;
	struct core_ring ring;
	int err = core_create_srq(w->f.client, &in, &out, &ring);

	*handle = out.handle;
	return err;
}

static int make_ah(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_create_ah in = {.pd = w->pd, .attr = fixture_attr(IBV_QPS_RTR).ah};

	return core_create_ah(w->f.client, &in, handle);
}

static int make_qp_of(struct world *w, uint32_t *handle, uint32_t type, uint32_t srq)
{
	struct uhca_cmd_create_qp in = {.pd = w->pd,
					.qp_type = type,
					.send_cq = w->cq,
					.recv_cq = w->cq,
					.srq = srq,
					.max_send_wr = 16,
					.max_recv_wr = srq ? 0 : 16,
					.max_send_sge = 2,
					.max_recv_sge = srq ? 0 : 2,
					.max_inline_data = 64};
	struct uhca_cmd_create_qp_reply out;
	struct core_ring ring;
	int err = core_create_qp(w->f.client, &in, &out, &ring);

	*handle = out.handle;
	return err;
}

static int make_rc(struct world *w, uint32_t *handle)
{
	return make_qp_of(w, handle, QPT_RC, 0);
}

static int make_rc_srq(struct world *w, uint32_t *handle)
{
	return make_qp_of(w, handle, QPT_RC, w->srq);
}

static int make_uc(struct world *w, uint32_t *handle)
{
	return make_qp_of(w, handle, QPT_UC, 0);
}

static int make_ud(struct world *w, uint32_t *handle)
{
	return make_qp_of(w, handle, QPT_UD, 0);
}

static int make_xrcd(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_open_xrcd in = {.oflags = UHCA_ABI_XRCD_CREATE, .unshared = 1};

	return core_open_xrcd(w->f.client, &in, NULL, handle);
}

static int make_xrc_srq(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_create_srq in = {.pd = w->pd,
					 .max_wr = 16,
					 .max_sge = 1,
					 .srq_type = IBV_SRQT_XRC,
					 .xrcd = w->xrcd,
					 .cq = w->cq};
	struct uhca_cmd_create_srq_reply out;
	struct core_ring ring;
	int err = core_create_srq(w->f.client, &in, &out, &ring);

	*handle = out.handle;
	return err;
}

static int make_xrc_send(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_create_qp in = {.pd = w->pd,
					.qp_type = QPT_XRC_SEND,
					.send_cq = w->cq,
					.max_send_wr = 16,
					.max_send_sge = 2};
	struct uhca_cmd_create_qp_reply out;
	struct core_ring ring;
	int err = core_create_qp(w->f.client, &in, &out, &ring);

	*handle = out.handle;
	return err;
}

static int make_xrc_recv(struct world *w, uint32_t *handle)
{
	struct uhca_cmd_create_qp in = {.qp_type = QPT_XRC_RECV, .xrcd = w->xrcd};
	struct uhca_cmd_create_qp_reply out;
	struct core_ring ring;
	int err = core_create_qp(w->f.client, &in, &out, &ring);

	*handle = out.handle;
	return err;
}

/* To RTR, where the responder's resources are allocated; back by way of RESET. */
static int make_ready(struct world *w, uint32_t *handle)
{
	const struct qp_rule *r = qp_rule_find(IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR);
	struct uhca_abi_qp_attr attr = fixture_attr(IBV_QPS_RTR);

	*handle = w->qp.handle;
	return fixture_modify(&w->f, w->qp.handle, &attr, r->required | IBV_QP_STATE);
}

static int unmake_ready(struct client *c, uint32_t handle)
{
	struct uhca_cmd_modify_qp in = {
		.handle = handle, .attr_mask = IBV_QP_STATE, .attr = fixture_attr(IBV_QPS_RESET)};
	const struct qp_rule *r = qp_rule_find(IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT);
	int err = core_modify_qp(c, &in, 1000);

	in.attr = fixture_attr(IBV_QPS_INIT);
	in.attr_mask = r->required | IBV_QP_STATE;
	return err ? err : core_modify_qp(c, &in, 1000);
}

static const struct verb verbs[] = {
	{"alloc_pd", make_pd, core_dealloc_pd},
	{"reg_mr", make_mr, core_dereg_mr},
	{"rereg_mr", remake_mr, keep},
	{"alloc_null_mr", make_null_mr, core_dereg_mr},
	{"alloc_mw", make_mw, core_dealloc_mw},
	{"alloc_dm", make_dm, core_free_dm},
	{"reg_dm_mr", make_dm_mr, core_dereg_mr},
	{"alloc_dm shared", make_shared, core_free_dm},
	{"reg_shared_mr", make_shared_mr, core_dereg_mr},
	{"alloc_key", make_key, core_dereg_mr},
	{"create_cq", make_cq, core_destroy_cq},
	{"create_srq", make_srq, core_destroy_srq},
	{"create_ah", make_ah, core_destroy_ah},
	{"create_qp RC", make_rc, core_destroy_qp},
	{"create_qp RC with SRQ", make_rc_srq, core_destroy_qp},
	{"create_qp UC", make_uc, core_destroy_qp},
	{"create_qp UD", make_ud, core_destroy_qp},
	{"open_xrcd", make_xrcd, core_close_xrcd},
	{"create_srq XRC", make_xrc_srq, core_destroy_srq},
	{"create_qp XRC_SEND", make_xrc_send, core_destroy_qp},
	{"create_qp XRC_RECV", make_xrc_recv, core_destroy_qp},
	{"modify_qp to RTR", make_ready, unmake_ready},
};

/* ---- one command, one failure ---- */

static void begin(struct world *w)
{
	struct uhca_cmd_reg_mr mr = {.addr = 0x10000, .length = 4096};
	struct uhca_cmd_reg_mr_reply out;

	fixture_start(&w->f, NULL);
	w->pd = fixture_pd(&w->f);
	w->cq = fixture_cq(&w->f, 64);
	w->srq = fixture_srq(&w->f, w->pd);
	w->qp = fixture_qp(&w->f, QPT_RC);
	assert_int_equal(unmake_ready(w->f.client, w->qp.handle), 0);
	mr.pd = w->pd;
	assert_int_equal(core_reg_mr(w->f.client, &mr, &out), 0);
	w->mr = out.handle;
	assert_int_equal(make_dm(w, &w->dm), 0);
	assert_int_equal(make_shared(w, &w->shared), 0);
	assert_int_equal(make_xrcd(w, &w->xrcd), 0);
}

/* Whatever counted a use of its parents would keep them from being destroyed. */
static void end(struct world *w)
{
	fixture_qp_destroy(&w->f, &w->qp);
	assert_int_equal(core_dereg_mr(w->f.client, w->mr), 0);
	assert_int_equal(core_free_dm(w->f.client, w->dm), 0);
	assert_int_equal(core_free_dm(w->f.client, w->shared), 0);
	assert_int_equal(core_close_xrcd(w->f.client, w->xrcd), 0);
	assert_int_equal(core_destroy_srq(w->f.client, w->srq), 0);
	assert_int_equal(core_destroy_cq(w->f.client, w->cq), 0);
	assert_int_equal(core_dealloc_pd(w->f.client, w->pd), 0);
	for (int t = 0; t < CORE_OBJECT_TYPES; t++)
		assert_int_equal(core_object_count(w->f.dev, t), 0);
	fixture_stop(&w->f);
}

static void count(const struct world *w, uint32_t out[CORE_OBJECT_TYPES])
{
	for (int t = 0; t < CORE_OBJECT_TYPES; t++)
		out[t] = core_object_count(w->f.dev, t);
}

/* True when it failed as it should, false when the nth allocation was not reached. */
static bool attempt(struct world *w, const struct verb *v, unsigned n)
{
	uint32_t before[CORE_OBJECT_TYPES], after[CORE_OBJECT_TYPES], handle = 0;
	unsigned rings = w->f.rings;
	bool reached;
	int err;

	count(w, before);
	fail_at = n;
	err = v->make(w, &handle);
	reached = fail_at == 0;
	fail_at = 0;
	assert_int_equal(err, reached ? -ENOMEM : 0);
	if (!reached) {
		assert_int_equal(v->unmake(w->f.client, handle), 0);
		return false;
	}
	count(w, after);
	assert_memory_equal(before, after, sizeof(before));
	assert_int_equal(w->f.rings, rings);
	assert_int_equal(v->make(w, &handle), 0); /* and nothing stands in the way of the next */
	assert_int_equal(v->unmake(w->f.client, handle), 0);
	return true;
}

#define CROWD_MAX 64u

static unsigned test_verb(const struct verb *v, unsigned crowd)
{
	uint32_t handles[CROWD_MAX];
	unsigned n = 1;
	bool failed;

	do {
		long before = live;
		struct world w;

		begin(&w);
		for (unsigned i = 0; i < crowd; i++)
			assert_int_equal(v->make(&w, &handles[i]), 0);
		failed = attempt(&w, v, n);
		for (unsigned i = 0; i < crowd; i++)
			assert_int_equal(v->unmake(w.f.client, handles[i]), 0);
		end(&w);
		assert_int_equal(live, before);
		assert_true(n++ < 1000);
	} while (failed);
	return n - 2;
}

static void test_verbs(void **state)
{
	(void)state;
	for (unsigned i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		const struct verb *v = &verbs[i];
		unsigned fresh = test_verb(v, 0);
		unsigned crowded = 0;

		if (v->make != make_ready)
			for (unsigned crowd = 1; crowd <= CROWD_MAX; crowd++)
				crowded += test_verb(v, crowd);
		print_message("%s: %u failures, %u among others\n", v->name, fresh, crowded);
		assert_true(fresh >= 1);
	}
}

static void test_client(void **state)
{
	unsigned n = 1;
	bool reached;

	(void)state;
	do {
		long before = live;
		struct fixture f;
		struct client *c;

		fixture_start(&f, NULL);
		fail_at = n++;
		c = core_client_create(f.dev, &f.other_cookie);
		reached = fail_at == 0;
		fail_at = 0;
		assert_int_equal(c == NULL, reached);
		if (c)
			core_client_destroy(c);
		fixture_stop(&f);
		assert_int_equal(live, before);
	} while (reached);
	assert_true(n > 2);
}

static void test_device(void **state)
{
	unsigned n = 1;
	bool reached;

	(void)state;
	do {
		long before = live;
		struct fixture f;
		struct device *dev;

		fixture_start(&f, NULL);
		fail_at = n++;
		dev = core_create(&f.ops, &f, &f.cfg);
		reached = fail_at == 0;
		fail_at = 0;
		assert_int_equal(dev == NULL, reached);
		if (dev)
			core_destroy(dev);
		fixture_stop(&f);
		assert_int_equal(live, before);
	} while (reached);
	assert_true(n > 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_device),
		cmocka_unit_test(test_client),
		cmocka_unit_test(test_verbs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
