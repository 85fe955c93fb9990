/* SPDX-License-Identifier: BSD-2-Clause */
/* The surroundings of a device under unit test. */
#include "core_fixture.h"
#include "qp_table.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

static struct fixture *of(void *client)
{
	return ((struct fixture_cookie *)client)->f;
}

static int ring_alloc(void *client, size_t size, struct core_ring *out)
{
	struct fixture *f = of(client);
	if (f->fail_ring && --f->fail_ring == 0)
		return -ENOMEM;
	out->base = calloc(1, size);
	out->size = size;
	out->token = client;
	if (!out->base)
		return -ENOMEM;
	f->rings++;
	return 0;
}

static void ring_free(void *client, struct core_ring *ring)
{
	/* What clients share may be freed by another than the one that made it. */
	struct fixture_cookie *maker = ring->token;
	assert_ptr_equal(maker->f, of(client));
	free(ring->base);
	of(client)->rings--;
}

static bool comp_event(void *client, uint32_t channel, uint64_t cookie)
{
	struct fixture *f = of(client);
	assert_true(f->comp < FIXTURE_EVENTS);
	f->comp_event[f->comp++] = (struct fixture_comp_event){client, channel, cookie};
	return true;
}

static uint32_t comp_purge(void *client, uint32_t channel, uint64_t cookie)
{
	of(client)->purges++;
	of(client)->purged = (struct fixture_comp_event){client, channel, cookie};
	return 0;
}

static bool async_event(void *client, const struct uhca_abi_async_event *event)
{
	struct fixture *f = of(client);
	assert_true(f->async < FIXTURE_EVENTS);
	f->async_event[f->async++] = (struct fixture_async_event){client, *event};
	return !f->async_waits;
}

static uint32_t async_purge(void *client, uint64_t cookie)
{
	of(client)->async_purged = cookie;
	return of(client)->purge_finds;
}

static void random_bytes(void *user, void *buf, size_t len)
{
	struct fixture *f = user;
	for (size_t i = 0; i < len; i++) {
		f->random_state = f->random_state * 6364136223846793005u + 1442695040888963407u;
		((uint8_t *)buf)[i] = (uint8_t)(f->random_state >> 56);
	}
}

static int mem_read(void *client, const struct core_span *from, unsigned n, void *to)
{
	uint8_t *at = to;
	(void)client;
	for (unsigned i = 0; i < n; i++) {
		if (from[i].space != CORE_SPACE_DEVICE)
			return -EFAULT; /* no client memory behind this fixture */
		memcpy(at, (const void *)(uintptr_t)from[i].addr, from[i].length);
		at += from[i].length;
	}
	return 0;
}

static int mem_write(void *client, const struct core_span *to, unsigned n, const struct iovec *from,
		     unsigned n_from)
{
	(void)client;
	if (n != 1 || n_from != 1 || to->space != CORE_SPACE_DEVICE)
		return -EFAULT;
	memcpy((void *)(uintptr_t)to->addr, from->iov_base, from->iov_len);
	return 0;
}

static void trace(void *user, const struct core_trace *t)
{
	struct fixture *f = user;
	f->traces++;
	f->trace = (struct fixture_trace){t->point, t->qpn, t->a, t->b};
}

static void set_gids(struct core_config *cfg)
{
	static const uint8_t v4[16] = {[10] = 0xff, 0xff, 10, 0, 0, 1};
	static const uint8_t v4b[16] = {[10] = 0xff, 0xff, 10, 0, 0, 2};
	static const uint8_t v6[16] = {0xfe, 0x80, [15] = 7};
	memcpy(cfg->gid[FIXTURE_GID_V4], v4, 16);
	memcpy(cfg->gid[FIXTURE_GID_V6], v6, 16);
	memcpy(cfg->gid[2], v4b, 16);
}

void fixture_start(struct fixture *f, void (*tweak)(struct core_config *cfg))
{
	memset(f, 0, sizeof(*f));
	f->client_cookie.f = f->other_cookie.f = f;
	f->random_state = 1;
	f->ops = (struct core_ops){
		.mem_read = mem_read,
		.mem_write = mem_write,
		.ring_alloc = ring_alloc,
		.ring_free = ring_free,
		.comp_event = comp_event,
		.comp_purge = comp_purge,
		.async_event = async_event,
		.async_purge = async_purge,
		.random = random_bytes,
		.trace = trace,
	};
	core_config_default(&f->cfg);
	set_gids(&f->cfg);
	f->cfg.node_guid = 0x0102030405060708u;
	if (tweak)
		tweak(&f->cfg);
	f->dev = core_create(&f->ops, f, &f->cfg);
	assert_non_null(f->dev);
	f->client = core_client_create(f->dev, &f->client_cookie);
	f->other = core_client_create(f->dev, &f->other_cookie);
	assert_non_null(f->client);
	assert_non_null(f->other);
}

void fixture_stop(struct fixture *f)
{
	core_destroy(f->dev);
	assert_int_equal(f->rings, 0);
}

void fixture_sleep(struct fixture *f, uint64_t *now, uint64_t ns)
{
	uint64_t end = *now + ns, next;

	while ((next = core_next_deadline(f->dev)) <= end)
		core_tick(f->dev, next);
	*now = end;
	core_tick(f->dev, end);
}

uint32_t fixture_pd(struct fixture *f)
{
	uint32_t handle;
	assert_int_equal(core_alloc_pd(f->client, &handle), 0);
	return handle;
}

uint32_t fixture_cq(struct fixture *f, uint32_t cqe)
{
	struct uhca_cmd_create_cq in = {.cqe = cqe, .cookie = 0xc0};
	struct uhca_cmd_create_cq_reply out;
	struct core_ring ring;
	assert_int_equal(core_create_cq(f->client, &in, &out, &ring), 0);
	return out.handle;
}

uint32_t fixture_srq(struct fixture *f, uint32_t pd)
{
	struct uhca_cmd_create_srq in = {.pd = pd, .max_wr = 16, .max_sge = 1, .cookie = 0x5a};
	struct uhca_cmd_create_srq_reply out;
	struct core_ring ring;
	assert_int_equal(core_create_srq(f->client, &in, &out, &ring), 0);
	return out.handle;
}

uint32_t fixture_mr(struct fixture *f, uint32_t pd, uint64_t addr, uint64_t length, uint32_t access)
{
	struct uhca_cmd_reg_mr in = {
		.addr = addr, .length = length, .iova = addr, .pd = pd, .access = access};
	struct uhca_cmd_reg_mr_reply out;
	assert_int_equal(core_reg_mr(f->client, &in, &out), 0);
	return out.lkey;
}

struct fixture_qp fixture_qp(struct fixture *f, uint32_t type)
{
	struct fixture_qp qp = {.pd = fixture_pd(f), .cq = fixture_cq(f, 64)};
	struct uhca_cmd_create_qp in = {
		.cookie = 0x9b,
		.pd = qp.pd,
		.qp_type = type,
		.send_cq = qp.cq,
		.recv_cq = qp.cq,
		.max_send_wr = 16,
		.max_recv_wr = 16,
		.max_send_sge = 2,
		.max_recv_sge = 2,
	};
	struct uhca_cmd_create_qp_reply out;
	struct core_ring ring;
	assert_int_equal(core_create_qp(f->client, &in, &out, &ring), 0);
	qp.handle = out.handle;
	qp.qpn = out.qpn;
	return qp;
}

void fixture_qp_destroy(struct fixture *f, const struct fixture_qp *qp)
{
	assert_int_equal(core_destroy_qp(f->client, qp->handle), 0);
	assert_int_equal(core_destroy_cq(f->client, qp->cq), 0);
	assert_int_equal(core_dealloc_pd(f->client, qp->pd), 0);
}

int fixture_modify(struct fixture *f, uint32_t handle, const struct uhca_abi_qp_attr *attr,
		   uint32_t mask)
{
	struct uhca_cmd_modify_qp in = {.handle = handle, .attr_mask = mask, .attr = *attr};
	return core_modify_qp(f->client, &in, 1000);
}

struct uhca_abi_qp_attr fixture_attr(uint32_t state)
{
	return (struct uhca_abi_qp_attr){
		.qp_state = state,
		.path_mtu = IBV_MTU_1024,
		.qkey = 0x11111111,
		.rq_psn = 0x123456,
		.sq_psn = 0x654321,
		.dest_qp_num = 0x1234,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		.ah = {.dgid = {[10] = 0xff, 0xff, 10, 0, 0, 1},
		       .sgid_index = FIXTURE_GID_V4,
		       .hop_limit = 64,
		       .is_global = 1,
		       .port_num = 1},
		.max_rd_atomic = 4,
		.max_dest_rd_atomic = 8,
		.min_rnr_timer = 12,
		.port_num = 1,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 6,
	};
}

void fixture_connect(struct fixture *f, const struct fixture_qp *qp, uint32_t type)
{
	for (uint32_t to = IBV_QPS_INIT; to <= IBV_QPS_RTS; to++) {
		const struct qp_rule *r = qp_rule_find(type, to - 1, to);
		struct uhca_abi_qp_attr attr = fixture_attr(to);
		assert_int_equal(fixture_modify(f, qp->handle, &attr, r->required | IBV_QP_STATE),
				 0);
	}
}
