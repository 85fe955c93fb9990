/* SPDX-License-Identifier: BSD-2-Clause */
/* XRC domains: flags and errno values of opening, sharing, use counts, SRQs by number. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/qp/qp.h"
#include "emu/core/queues/cq.h"
#include "emu/core/queues/xrcd.h"

#include <errno.h>
#include <infiniband/verbs.h>

#define NEW  UHCA_ABI_XRCD_CREATE
#define EXCL UHCA_ABI_XRCD_EXCLUSIVE

static const uint64_t file_a[2] = {1, 100}, file_b[2] = {2, 100};

static int open_as(struct client *c, uint32_t oflags, const uint64_t file[2], uint32_t *handle)
{
	struct uhca_cmd_open_xrcd in = {.oflags = oflags, .unshared = !file};

	return core_open_xrcd(c, &in, file, handle);
}

static struct xrcd *xrcd_of(const struct fixture *f, uint32_t handle)
{
	return table_find(&f->dev->xrcds, handle);
}

static void test_open_flags(void **state)
{
	struct fixture f;
	uint32_t a, b;

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(open_as(f.client, 0, file_a, &a), -EAGAIN);
	assert_int_equal(open_as(f.client, EXCL, file_a, &a), -EAGAIN);
	assert_int_equal(open_as(f.client, 4, file_a, &a), -EINVAL);
	assert_int_equal(open_as(f.client, NEW | EXCL, file_a, &a), 0);
	assert_int_equal(open_as(f.other, NEW | EXCL, file_a, &b), -EINVAL);
	assert_int_equal(open_as(f.other, 0, file_a, &b), 0);
	assert_ptr_equal(xrcd_of(&f, a)->domain, xrcd_of(&f, b)->domain);
	assert_int_equal(core_close_xrcd(f.client, b), -ENOENT); /* not his handle */
	assert_int_equal(core_close_xrcd(f.client, a), 0);
	assert_int_equal(open_as(f.client, 0, file_a, &a), 0); /* the other's keeps it */
	assert_int_equal(core_close_xrcd(f.client, a), 0);
	assert_int_equal(core_close_xrcd(f.other, b), 0);
	assert_int_equal(open_as(f.client, 0, file_a, &a), -EAGAIN);
	fixture_stop(&f);
}

static void test_private_and_other_files(void **state)
{
	struct fixture f;
	uint32_t h[4];

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(open_as(f.client, 0, NULL, &h[0]), -EAGAIN);
	assert_int_equal(open_as(f.client, NEW, NULL, &h[0]), 0);
	assert_int_equal(open_as(f.client, NEW, NULL, &h[1]), 0);
	assert_int_equal(open_as(f.client, NEW, file_a, &h[2]), 0);
	assert_int_equal(open_as(f.client, NEW, file_b, &h[3]), 0);
	for (unsigned i = 0; i < 4; i++)
		for (unsigned k = 0; k < i; k++)
			assert_ptr_not_equal(xrcd_of(&f, h[i])->domain, xrcd_of(&f, h[k])->domain);
	fixture_stop(&f);
}

static void few(struct core_config *cfg)
{
	cfg->limits.max_xrcd = 2;
}

static void off(struct core_config *cfg)
{
	cfg->features &= ~(uint32_t)UHCA_ABI_HAS_XRC;
}

static void test_limit_and_feature(void **state)
{
	struct uhca_cmd_device_attr attr;
	struct uhca_cmd_open_qp in = {.qp_type = IBV_QPT_XRC_RECV};
	struct uhca_cmd_open_qp_reply out;
	struct core_ring ring;
	struct fixture f;
	uint32_t h;

	(void)state;
	fixture_start(&f, few);
	assert_int_equal(open_as(f.client, NEW, NULL, &h), 0);
	assert_int_equal(open_as(f.client, NEW, file_a, &h), 0);
	assert_int_equal(open_as(f.client, NEW, file_a, &h), -ENOMEM);
	assert_int_equal(open_as(f.client, NEW, NULL, &h), -ENOMEM);
	fixture_stop(&f);

	fixture_start(&f, off);
	assert_int_equal(open_as(f.client, NEW, NULL, &h), -EOPNOTSUPP);
	assert_int_equal(core_open_qp(f.client, &in, &out, &ring), -EOPNOTSUPP);
	assert_int_equal(core_query_device(f.client, &attr), 0);
	assert_false(attr.device_cap_flags & IBV_DEVICE_XRC);
	fixture_stop(&f);
}

static int make_srq(struct client *c, const struct uhca_cmd_create_srq *in,
		    struct uhca_cmd_create_srq_reply *out)
{
	struct core_ring ring;

	return core_create_srq(c, in, out, &ring);
}

static void test_srq_in_domain(void **state)
{
	struct uhca_cmd_create_srq in = {.max_wr = 4, .max_sge = 1, .srq_type = IBV_SRQT_XRC};
	struct uhca_cmd_create_srq_reply srq;
	struct xrc_domain *domain, *foreign;
	struct fixture f;
	uint32_t x, y;

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(open_as(f.client, NEW, NULL, &x), 0);
	assert_int_equal(open_as(f.client, NEW, NULL, &y), 0);
	in.pd = fixture_pd(&f);
	in.cq = fixture_cq(&f, 8);
	assert_int_equal(make_srq(f.client, &in, &srq), -ENOENT); /* no domain */
	in.xrcd = x;
	in.cq++;
	assert_int_equal(make_srq(f.client, &in, &srq), -ENOENT);
	in.cq--;
	assert_int_equal(make_srq(f.client, &in, &srq), 0);
	assert_in_range(srq.srq_num, 2, 0xfffffe);
	domain = xrcd_of(&f, x)->domain;
	foreign = xrcd_of(&f, y)->domain;
	assert_ptr_equal(xrcd_find_srq(f.dev, domain, srq.srq_num),
			 table_find(&f.dev->srqs, srq.handle));
	assert_null(xrcd_find_srq(f.dev, foreign, srq.srq_num));
	assert_null(xrcd_find_srq(f.dev, domain, srq.srq_num ^ 1));
	assert_int_equal(core_close_xrcd(f.client, x), -EBUSY);
	assert_int_equal(core_destroy_cq(f.client, in.cq), -EBUSY);
	assert_int_equal(core_destroy_srq(f.client, srq.handle), 0);
	assert_null(xrcd_find_srq(f.dev, domain, srq.srq_num));
	assert_int_equal(core_destroy_cq(f.client, in.cq), 0);
	assert_int_equal(core_close_xrcd(f.client, x), 0);
	fixture_stop(&f);
}

/* Whatever a dying client leaves open, nothing of it stays. */
static void test_client_dies(void **state)
{
	struct uhca_cmd_create_srq in = {.max_wr = 4, .max_sge = 1, .srq_type = IBV_SRQT_XRC};
	struct uhca_cmd_create_srq_reply srq;
	struct fixture f;
	uint32_t x, y;

	(void)state;
	fixture_start(&f, NULL);
	assert_int_equal(open_as(f.client, NEW, file_a, &x), 0);
	assert_int_equal(open_as(f.other, NEW, file_a, &y), 0);
	in.pd = fixture_pd(&f);
	in.cq = fixture_cq(&f, 8);
	in.xrcd = x;
	assert_int_equal(make_srq(f.client, &in, &srq), 0);
	core_client_destroy(f.client);
	assert_null(xrcd_find_srq(f.dev, xrcd_of(&f, y)->domain, srq.srq_num));
	assert_int_equal(xrcd_of(&f, y)->domain->handles, 1);
	assert_int_equal(f.dev->srqns.used, 0);
	assert_int_equal(f.dev->xrcds.used, 1);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_open_flags),
		cmocka_unit_test(test_private_and_other_files),
		cmocka_unit_test(test_limit_and_feature),
		cmocka_unit_test(test_srq_in_domain),
		cmocka_unit_test(test_client_dies),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
