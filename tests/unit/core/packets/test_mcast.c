/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups: attaching, limits, what the shell is told, who gets a datagram. */
#include "tests/support/core/core_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include "emu/core/base/gid.h"
#include "emu/core/packets/mcast.h"
#include "emu/core/qp/qp.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <string.h>

static const uint8_t v4[16] = {[10] = 0xff, [11] = 0xff, [12] = 239, [15] = 1};
static const uint8_t v4_as_v6[16] = {0xff, 0x0e, [10] = 0xff, [11] = 0xff, [12] = 239, [15] = 1};
static const uint8_t v6[16] = {0xff, 0x0e, [15] = 1};

/* What the shell was told. */
static struct {
	unsigned joins, leaves;
	uint8_t gid[16];
	int answer;
} shell;

static int notify(void *user, const uint8_t gid[16], bool join)
{
	(void)user;
	memcpy(shell.gid, gid, 16);
	if (shell.answer)
		return shell.answer;
	shell.joins += join;
	shell.leaves += !join;
	return 0;
}

static void few(struct core_config *cfg)
{
	cfg->limits.max_mcast_grp = 2;
	cfg->limits.max_mcast_qp_attach = 2;
}

static void off(struct core_config *cfg)
{
	cfg->features &= ~(uint32_t)UHCA_ABI_HAS_MCAST;
}

static void start(struct fixture *f, void (*tweak)(struct core_config *cfg))
{
	memset(&shell, 0, sizeof(shell));
	fixture_start(f, tweak);
	f->ops.mcast = notify;
}

static int call(struct fixture *f, int (*verb)(struct client *, const struct uhca_cmd_mcast *),
		uint32_t qp, const uint8_t gid[16])
{
	struct uhca_cmd_mcast in = {.qp = qp};

	memcpy(in.gid, gid, 16);
	return verb(f->client, &in);
}

static int attach(struct fixture *f, const struct fixture_qp *qp, const uint8_t gid[16])
{
	return call(f, core_attach_mcast, qp->handle, gid);
}

static int detach(struct fixture *f, const struct fixture_qp *qp, const uint8_t gid[16])
{
	return call(f, core_detach_mcast, qp->handle, gid);
}

static void test_gids(void **state)
{
	static const uint8_t unicast_v4[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 1};
	static const uint8_t strange[16] = {0xff, 0x0e, [10] = 0xff, [11] = 0xff, [12] = 10};
	uint8_t out[16];

	(void)state;
	assert_true(roce_addr_is_group(v4));
	assert_true(roce_addr_is_group(v4_as_v6));
	assert_true(roce_addr_is_group(v6));
	assert_false(roce_addr_is_group(unicast_v4));
	mcast_canonical(v4_as_v6, out);
	assert_memory_equal(out, v4, 16);
	mcast_canonical(v4, out);
	assert_memory_equal(out, v4, 16);
	mcast_canonical(v6, out);
	assert_memory_equal(out, v6, 16);
	mcast_canonical(strange, out); /* no IPv4 group: stays what it is */
	assert_memory_equal(out, strange, 16);
}

static void test_attach_and_detach(void **state)
{
	struct fixture f;
	struct fixture_qp qp;

	(void)state;
	start(&f, NULL);
	qp = fixture_qp(&f, IBV_QPT_UD);
	assert_int_equal(detach(&f, &qp, v4), -EINVAL);
	assert_int_equal(attach(&f, &qp, v4), 0);
	assert_int_equal(attach(&f, &qp, v4), 0);
	assert_int_equal(attach(&f, &qp, v4_as_v6), 0); /* the same group */
	assert_int_equal(shell.joins, 1);
	assert_memory_equal(shell.gid, v4, 16);
	assert_int_equal(core_destroy_qp(f.client, qp.handle), -EBUSY);
	assert_int_equal(detach(&f, &qp, v6), -EINVAL);
	assert_int_equal(detach(&f, &qp, v4), 0);
	assert_int_equal(shell.leaves, 1);
	assert_int_equal(detach(&f, &qp, v4), -EINVAL);
	assert_int_equal(f.dev->n_groups, 0);
	fixture_qp_destroy(&f, &qp);
	fixture_stop(&f);
}

static void test_refusals(void **state)
{
	static const uint8_t unicast[16] = {[0] = 0xfd, [15] = 1};
	struct fixture f;
	struct fixture_qp rc, ud;

	(void)state;
	start(&f, NULL);
	rc = fixture_qp(&f, IBV_QPT_RC);
	ud = fixture_qp(&f, IBV_QPT_UD);
	assert_int_equal(attach(&f, &rc, v4), -EINVAL);
	assert_int_equal(attach(&f, &ud, unicast), -EINVAL);
	assert_int_equal(call(&f, core_attach_mcast, ud.handle + 1, v4), -ENOENT);
	shell.answer = -ENOBUFS;
	assert_int_equal(attach(&f, &ud, v4), -ENOBUFS);
	assert_int_equal(f.dev->n_groups, 0);
	fixture_stop(&f);

	start(&f, off);
	ud = fixture_qp(&f, IBV_QPT_UD);
	assert_int_equal(attach(&f, &ud, v4), -EOPNOTSUPP);
	fixture_stop(&f);
}

static void test_limits(void **state)
{
	static const uint8_t third[16] = {0xff, 0x0e, [15] = 3};
	struct uhca_cmd_device_attr attr;
	struct fixture f;
	struct fixture_qp qp[3];

	(void)state;
	start(&f, few);
	assert_int_equal(core_query_device(f.client, &attr), 0);
	assert_int_equal(attr.max_mcast_grp, 2);
	assert_int_equal(attr.max_mcast_qp_attach, 2);
	assert_int_equal(attr.max_total_mcast_qp_attach, 4);
	for (unsigned i = 0; i < 3; i++)
		qp[i] = fixture_qp(&f, IBV_QPT_UD);
	assert_int_equal(attach(&f, &qp[0], v4), 0);
	assert_int_equal(attach(&f, &qp[1], v4), 0);
	assert_int_equal(attach(&f, &qp[2], v4), -ENOMEM);
	assert_int_equal(attach(&f, &qp[2], v6), 0);
	assert_int_equal(attach(&f, &qp[2], third), -ENOMEM);
	assert_int_equal(detach(&f, &qp[0], v4), 0);
	assert_int_equal(attach(&f, &qp[2], v4), 0);
	fixture_stop(&f);
}

/* A client that dies while attached leaves no group behind. */
static void test_client_dies(void **state)
{
	struct fixture f;
	struct fixture_qp a, b;

	(void)state;
	start(&f, NULL);
	a = fixture_qp(&f, IBV_QPT_UD);
	b = fixture_qp(&f, IBV_QPT_UD);
	assert_int_equal(attach(&f, &a, v4), 0);
	assert_int_equal(attach(&f, &b, v4), 0);
	assert_int_equal(attach(&f, &b, v6), 0);
	core_client_destroy(f.client);
	assert_int_equal(f.dev->n_groups, 0);
	assert_int_equal(shell.joins, 2);
	assert_int_equal(shell.leaves, 2);
	fixture_stop(&f);
}

/* ---- delivery: counted as drops for want of a receive, which comes last of all checks ---- */

static uint64_t offered(const struct fixture *f)
{
	return core_counters(f->dev)->drops[CORE_DROP_NO_RECV];
}

static void datagram(struct fixture *f, const uint8_t group[16], uint32_t src_qp, uint32_t qkey)
{
	struct core_burst t;

	memset(&t, 0, sizeof(t));
	t.head.bth.opcode.v = ROCE_UD_SEND_ONLY;
	t.head.bth.pkey = 0xffff;
	t.head.bth.dest_qp = MCAST_QPN;
	t.head.deth.qkey = qkey;
	t.head.deth.src_qp = src_qp;
	t.last_opcode = t.head.bth.opcode;
	t.count = 1;
	memcpy(t.flow.src, f->cfg.gid[FIXTURE_GID_V4], 16);
	memcpy(t.flow.dst, group, 16);
	core_rx(f->dev, 1, &t);
}

static void test_delivery(void **state)
{
	struct fixture f;
	struct fixture_qp a, b;
	uint32_t qkey;
	struct qp *first;

	(void)state;
	start(&f, NULL);
	a = fixture_qp(&f, IBV_QPT_UD);
	b = fixture_qp(&f, IBV_QPT_UD);
	fixture_connect(&f, &a, IBV_QPT_UD);
	fixture_connect(&f, &b, IBV_QPT_UD);
	first = device_find_qp(f.dev, a.qpn);
	qkey = first->attr.qkey;
	datagram(&f, v4, 77, qkey); /* nobody is attached: silence */
	assert_int_equal(offered(&f), 0);
	assert_int_equal(core_counters(f.dev)->drops[CORE_DROP_NO_QP], 0);
	assert_int_equal(attach(&f, &a, v4), 0);
	assert_int_equal(attach(&f, &b, v4), 0);
	datagram(&f, v4, 77, qkey);
	assert_int_equal(offered(&f), 2);
	datagram(&f, v6, 77, qkey); /* another group */
	assert_int_equal(offered(&f), 2);
	datagram(&f, v4, 77, qkey + 1);
	assert_int_equal(offered(&f), 2);
	assert_int_equal(core_counters(f.dev)->drops[CORE_DROP_QKEY], 2);
	datagram(&f, v4, a.qpn, qkey); /* its own, too */
	assert_int_equal(offered(&f), 4);
	first->create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	datagram(&f, v4, a.qpn, qkey);
	assert_int_equal(offered(&f), 5);
	datagram(&f, v4, b.qpn, qkey);
	assert_int_equal(offered(&f), 7);
	fixture_stop(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gids),        cmocka_unit_test(test_attach_and_detach),
		cmocka_unit_test(test_refusals),    cmocka_unit_test(test_limits),
		cmocka_unit_test(test_client_dies), cmocka_unit_test(test_delivery),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
