/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Addresses of different families in one id, as Linux has it (resolve_prepare_src, cma_get_port and
 * cma_select_ib_ps of drivers/infiniband/core/cma.c, ucma_bind and ucma_resolve_addr of ucma.c): a
 * destination is of the family that the id is bound to, or will be; an id that is bound before the
 * error stays so; an address has exactly the length of its family.
 */
#include "tests/support/io/own_net.h"
#include "tests/support/io/ucma_client.h"
#include "tests/support/wire/cmocka_all.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <string.h>

#define PORT 7471

enum { ADDR_RESOLVED = 0 };

enum where {
	NONE,
	V4_ANY,
	V4_HERE,      /* the first device */
	V4_THERE,     /* the second */
	V4_LOCALHOST, /* which no device has */
	V6_ANY,
	V6_LOCALHOST,
	V6_MAPPED, /* the second device, in IPv6's form */
	IB_HERE,
	IB_THERE,
};

struct ib_sockaddr {
	uint16_t family, pkey;
	uint32_t flowinfo;
	uint8_t addr[16];
	uint64_t sid, sid_mask, scope_id;
};

struct place {
	uint16_t size;
	struct sockaddr_storage sa;
};

static struct io_test_daemon t;
static struct ucma_client c;

static int setup(void **state)
{
	(void)state;
	io_test_daemon_begin(&t, 2);
	ucma_client_open(&c, &t.d);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ucma_client_close(&c);
	io_test_daemon_end(&t);
	return 0;
}

#define CALL(cmd, in) ucma_client_call(&c, RDMA_USER_CM_CMD_##cmd, &(in), sizeof(in), -1)

static const uint8_t *gid_of(unsigned device)
{
	return t.d.ports[device].dev.id.addresses.a[0].gid;
}

static struct place v4(const uint8_t ip[4], uint16_t port)
{
	struct sockaddr_in sa = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct place p = {.size = sizeof(sa)};

	memcpy(&sa.sin_addr, ip, 4);
	memcpy(&p.sa, &sa, sizeof(sa));
	return p;
}

static struct place v6(const uint8_t ip[16], uint16_t port)
{
	struct sockaddr_in6 sa = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	struct place p = {.size = sizeof(sa)};

	memcpy(&sa.sin6_addr, ip, 16);
	memcpy(&p.sa, &sa, sizeof(sa));
	return p;
}

static struct place ib(unsigned device, uint64_t sid, uint64_t mask)
{
	struct ib_sockaddr sa = {.family = AF_IB, .sid = htobe64(sid), .sid_mask = htobe64(mask)};
	struct place p = {.size = sizeof(sa)};

	memcpy(sa.addr, gid_of(device), 16);
	memcpy(&p.sa, &sa, sizeof(sa));
	return p;
}

static struct place place(enum where where, uint16_t ps, uint16_t port)
{
	static const uint8_t any[16] = {0}, one[16] = {[15] = 1}, localhost[4] = {127, 0, 0, 1};

	switch (where) {
	case V4_ANY:
		return v4(any, port);
	case V4_HERE:
		return v4(gid_of(0) + 12, port);
	case V4_THERE:
		return v4(gid_of(1) + 12, port);
	case V4_LOCALHOST:
		return v4(localhost, port);
	case V6_ANY:
		return v6(any, port);
	case V6_LOCALHOST:
		return v6(one, port);
	case V6_MAPPED:
		return v6(gid_of(1), port);
	case IB_HERE:
		return ib(0, (uint64_t)ps << 16 | port, UINT64_MAX);
	case IB_THERE:
		return ib(1, (uint64_t)ps << 16 | port, UINT64_MAX);
	case NONE:
		break;
	}
	return (struct place){0};
}

static int bind_to(uint32_t id, const struct place *p)
{
	struct rdma_ucm_bind in = {.id = id, .addr_size = p->size};

	memcpy(&in.addr, &p->sa, sizeof(in.addr));
	return CALL(BIND, in);
}

static int resolve(uint32_t id, const struct place *src, const struct place *dst)
{
	struct rdma_ucm_resolve_addr in = {.id = id, .src_size = src->size, .dst_size = dst->size};

	memcpy(&in.src_addr, &src->sa, sizeof(in.src_addr));
	memcpy(&in.dst_addr, &dst->sa, sizeof(in.dst_addr));
	return CALL(RESOLVE_ADDR, in);
}

/* The older command has room for 28 bytes of each. */
static int resolve_ip(uint32_t id, const struct place *src, const struct place *dst)
{
	struct rdma_ucm_resolve_ip in = {.id = id};

	memcpy(&in.src_addr, &src->sa, sizeof(in.src_addr));
	memcpy(&in.dst_addr, &dst->sa, sizeof(in.dst_addr));
	return CALL(RESOLVE_IP, in);
}

static void destroy(uint32_t id)
{
	struct rdma_ucm_destroy_id in = {.id = id};

	assert_int_equal(CALL(DESTROY_ID, in), 0);
}

struct row {
	enum where bound, src, dst;
	int error;
};

static const struct row rows[] = {
	{NONE, NONE, V4_THERE, 0},
	{NONE, NONE, V6_LOCALHOST, 0},
	{NONE, NONE, IB_THERE, 0},
	{NONE, V4_ANY, V4_THERE, 0},
	{NONE, V4_HERE, V4_THERE, 0},
	{NONE, V4_HERE, V6_LOCALHOST, EINVAL},
	{NONE, V4_HERE, V6_MAPPED, EINVAL},
	{NONE, V4_HERE, IB_THERE, EINVAL},
	{NONE, V4_ANY, V6_LOCALHOST, EINVAL},
	{NONE, V6_ANY, V6_LOCALHOST, 0},
	{NONE, V6_ANY, V4_THERE, EINVAL},
	{NONE, V6_LOCALHOST, V4_THERE, EINVAL},
	{NONE, V6_ANY, IB_THERE, EINVAL},
	{NONE, IB_HERE, IB_THERE, 0},
	{NONE, IB_HERE, V4_THERE, EINVAL},
	{NONE, IB_HERE, V6_LOCALHOST, EINVAL},
	{V4_ANY, NONE, V4_THERE, 0},
	{V4_ANY, V6_LOCALHOST, V4_THERE, 0}, /* who is bound has a source */
	{V4_ANY, NONE, V6_LOCALHOST, EINVAL},
	{V4_ANY, V6_ANY, V6_LOCALHOST, EINVAL},
	{V4_ANY, NONE, V6_MAPPED, EINVAL},
	{V4_ANY, NONE, IB_THERE, EINVAL},
	{V4_HERE, NONE, V4_THERE, 0},
	{V4_HERE, NONE, V4_ANY, 0}, /* the device itself */
	{V4_HERE, NONE, V6_LOCALHOST, EINVAL},
	{V4_HERE, NONE, V6_ANY, EINVAL},
	{V4_HERE, NONE, IB_THERE, EINVAL},
	{V4_LOCALHOST, NONE, V4_THERE, 0},
	{V4_LOCALHOST, NONE, V6_LOCALHOST, EINVAL},
	{V6_ANY, NONE, V6_LOCALHOST, 0},
	{V6_ANY, NONE, V4_THERE, EINVAL}, /* though it would hear of calls from there */
	{V6_ANY, NONE, V4_ANY, EINVAL},
	{V6_ANY, NONE, IB_THERE, EINVAL},
	{V6_LOCALHOST, NONE, V4_LOCALHOST, EINVAL},
	{IB_HERE, NONE, IB_THERE, 0},
	{IB_HERE, NONE, V4_THERE, EINVAL},
	{IB_HERE, NONE, V6_LOCALHOST, EINVAL},
};

static sa_family_t family_of(uint32_t id, bool source)
{
	struct rdma_ucm_query in = {.id = id, .option = RDMA_USER_CM_QUERY_ADDR};
	struct rdma_ucm_query_addr_resp r;

	assert_int_equal(CALL(QUERY, in), 0);
	memcpy(&r, c.reply.response, sizeof(r));
	return source ? r.src_addr.ss_family : r.dst_addr.ss_family;
}

/* Bound it is, to the family that counted; it has no destination, and can have a good one. */
static void check_refused(uint32_t id, const struct row *r, uint16_t ps)
{
	const struct place none = {0}, bound = place(r->bound ? r->bound : r->src, ps, 0);
	const enum where good = bound.sa.ss_family == AF_INET    ? V4_THERE
				: bound.sa.ss_family == AF_INET6 ? V6_LOCALHOST
								 : IB_THERE;
	const struct place dst = place(good, ps, PORT);

	assert_int_equal(family_of(id, true), bound.sa.ss_family);
	assert_int_equal(family_of(id, false), 0);
	assert_int_equal(bind_to(id, &bound), -EINVAL);
	assert_int_equal(resolve(id, &none, &dst), 0);
	ucma_client_expect(&c, ADDR_RESOLVED, 1);
}

static void try_row(const struct row *r, uint16_t ps, bool old)
{
	const struct place bound = place(r->bound, ps, 0), src = place(r->src, ps, 0);
	const struct place dst = place(r->dst, ps, PORT);
	uint32_t id = ucma_client_create(&c, ps, 1);
	int error;

	if (r->bound)
		assert_int_equal(bind_to(id, &bound), 0);
	error = (old ? resolve_ip : resolve)(id, &src, &dst);
	if (error != -r->error)
		fail_msg("row %d, port space %#x: %d, not %d", (int)(r - rows), ps, error,
			 -r->error);
	if (r->error)
		check_refused(id, r, ps);
	else
		ucma_client_expect(&c, ADDR_RESOLVED, 1);
	destroy(id);
}

static void test_families(void **state)
{
	static const uint16_t spaces[] = {RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB};

	(void)state;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (unsigned k = 0; k < 3; k++) {
			try_row(&rows[i], spaces[k], false);
			if (rows[i].src < IB_HERE && rows[i].dst < IB_HERE)
				try_row(&rows[i], spaces[k], true);
		}
}

/* Longer than its family's address is none, and so is a length without an address. */
static void test_lengths(void **state)
{
	static const enum where all[] = {V4_THERE, V6_LOCALHOST, IB_THERE};
	const struct place none = {0}, empty = {.size = sizeof(struct sockaddr_in)};

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		for (int more = -1; more <= 1; more += 2) {
			uint32_t id = ucma_client_create(&c, RDMA_PS_TCP, 1);
			struct place p = place(all[i], RDMA_PS_TCP, PORT), wrong = p;

			wrong.size = (uint16_t)(p.size + more);
			assert_int_equal(bind_to(id, &wrong), -EINVAL);
			assert_int_equal(resolve(id, &none, &wrong), -EINVAL);
			assert_int_equal(resolve(id, &wrong, &p), -EINVAL);
			assert_int_equal(resolve(id, &empty, &p), -EINVAL);
			assert_int_equal(resolve(id, &none, &p), 0);
			ucma_client_expect(&c, ADDR_RESOLVED, 1);
			destroy(id);
		}
}

/* The service id of an AF_IB address says a port space, as far as its mask goes: the id's own. */
static void test_service_ids(void **state)
{
	const uint64_t port_space = ~UINT64_C(0xffff);
	const struct {
		uint16_t ps;
		uint64_t sid, mask;
		int error;
	} ids[] = {
		{RDMA_PS_TCP, (uint64_t)RDMA_PS_TCP << 16, port_space, 0},
		{RDMA_PS_TCP, (uint64_t)RDMA_PS_TCP << 16 | PORT, UINT64_MAX, 0},
		{RDMA_PS_TCP, 0, 0, 0}, /* whatever it is */
		{RDMA_PS_TCP, (uint64_t)RDMA_PS_UDP << 16, port_space, EPROTONOSUPPORT},
		{RDMA_PS_TCP, 0, UINT64_MAX, EPROTONOSUPPORT},
		{RDMA_PS_UDP, (uint64_t)RDMA_PS_TCP << 16, port_space, EPROTONOSUPPORT},
		{RDMA_PS_UDP, (uint64_t)RDMA_PS_UDP << 16, port_space, 0},
		{RDMA_PS_IB, (uint64_t)RDMA_PS_IB << 16, port_space, 0},
		{RDMA_PS_IB, (uint64_t)RDMA_PS_TCP << 16, port_space, 0},
		{RDMA_PS_IB, (uint64_t)RDMA_PS_UDP << 16, port_space, 0},
		{RDMA_PS_IB, UINT64_C(0x1234) << 16, port_space, EPROTONOSUPPORT},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		uint32_t id = ucma_client_create(&c, ids[i].ps, 1);
		struct place p = ib(0, ids[i].sid, ids[i].mask);
		int error = bind_to(id, &p);

		if (error != -ids[i].error)
			fail_msg("row %u: %d", i, error);
		assert_int_equal(family_of(id, true), error ? 0 : AF_IB);
		destroy(id);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_families, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lengths, setup, teardown),
		cmocka_unit_test_setup_teardown(test_service_ids, setup, teardown),
	};

	own_net_enter(); /* no other daemon has ::1 there */
	return cmocka_run_group_tests_name("ucma_resolve", tests, NULL, NULL);
}
