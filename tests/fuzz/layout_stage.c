/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets up fuzz_layout: clients, regions, protection domains, connected QPs. */
#include "layout_stage.h"

#include "fuzz.h"

#include "emu/abi/region.h"
#include "emu/core/keys/mr.h"
#include "emu/core/keys/mw.h"
#include "emu/core/qp/qp.h"

#include <errno.h>

#define MUST(cond) FUZZ_CHECK(cond)

#define SIZE        8192u
#define MARGIN      64u /* guard bytes around each region */
#define NOTHING_YET 0xee

static const struct {
	unsigned pd;
	uint32_t access;
} plan[REGIONS] = {
	[REGION_ALL] = {0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
				   IBV_ACCESS_MW_BIND},
	[1] = {0, IBV_ACCESS_REMOTE_READ},
	[2] = {0, IBV_ACCESS_LOCAL_WRITE},
	[3] = {1, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
			  IBV_ACCESS_REMOTE_ATOMIC},
	[4] = {1, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE},
	[REGION_DEVICE] = {0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ZERO_BASED},
	[REGION_NULL] = {0, 0},
};

/* ---- making ---- */

static struct device *device(struct stage *s)
{
	return s->w->device[0].host.dev;
}

static void register_memory(struct stage *s, struct actor *a, struct region *r)
{
	struct vmr range = {.addr = r->mr.addr, .length = SIZE};

	MUST(vclient_reg_mr_pd(&a->c, s->pd[r->pd], &range, r->access, &r->mr) == 0);
	r->live = true;
}

static void register_device(struct stage *s, struct actor *a, struct region *r)
{
	struct uhca_cmd_alloc_dm in = {.length = SIZE};
	struct uhca_cmd_alloc_dm_reply out;
	struct uhca_cmd_reg_dm_mr reg = {.length = SIZE, .pd = s->pd[r->pd], .access = r->access};
	struct uhca_cmd_reg_mr_reply keys;
	struct core_ring ring;

	MUST(core_alloc_dm(a->c.core, &in, &out, &ring) == 0);
	reg.dm = out.handle;
	MUST(core_reg_dm_mr(a->c.core, &reg, &keys) == 0);
	r->device = ring.base;
	r->mr = (struct vmr){0, SIZE, keys.handle, keys.lkey, keys.rkey};
	memory_grant_device(&a->c.mem, keys.lkey, r->device, SIZE, true);
	r->live = true;
}

static void register_null(struct stage *s, struct actor *a, struct region *r)
{
	struct uhca_cmd_reg_mr_reply keys;

	MUST(core_alloc_null_mr(a->c.core, s->pd[r->pd], &keys) == 0);
	r->mr = (struct vmr){0, 0, keys.handle, keys.lkey, keys.rkey};
	r->live = true;
}

static void register_implicit(struct stage *s, struct actor *a)
{
	struct vmr all = {.addr = 0, .length = UINT64_MAX};

	MUST(vclient_reg_mr_pd(&a->c, s->pd[a->qp_pd[0]], &all,
			       IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_READ, &a->implicit) == 0);
}

static void create_regions(struct stage *s, unsigned i)
{
	struct actor *a = &s->actor[i];
	uint64_t at = memory_map(&a->c.mem, REGIONS * (uint64_t)(SIZE + MARGIN) + MARGIN) + MARGIN;

	for (unsigned k = 0; k < REGIONS; k++) {
		struct region *r = &a->region[k];

		*r = (struct region){.pd = a->qp_pd[plan[k].pd],
				     .access = plan[k].access,
				     .colour = (uint8_t)(0x40 + 16 * i + k),
				     .mr = {.addr = at}};
		if (k == REGION_NULL) {
			register_null(s, a, r);
		} else if (k == REGION_DEVICE) {
			if (!s->shared)
				register_device(s, a, r);
		} else {
			register_memory(s, a, r);
			memory_ignore(&a->c.mem, r->mr.addr, SIZE, true);
		}
		at += SIZE + MARGIN;
	}
	if (s->implicit && i == 1)
		register_implicit(s, a);
}

static void create_actor(struct stage *s, unsigned i)
{
	struct actor *a = &s->actor[i];

	vclient_open(&a->c, &s->w->device[0].host, i, i);
	a->open = true;
	if (i && s->shared)
		MUST(core_client_join(a->c.core, s->actor[0].c.core) == 0);
	s->pd[2 * i] = a->c.pd;
	MUST(core_alloc_pd(a->c.core, &s->pd[2 * i + 1]) == 0);
	a->qp_pd[0] = 2 * i;
	a->qp_pd[1] = s->shared ? 1 : 2 * i + 1;
	MUST(vcq_create(&a->c, 1024, 1, &a->cq) == 0);
	create_regions(s, i);
	for (unsigned k = 0; k < KEYS; k++)
		MUST(vclient_alloc_key(&a->c, s->pd[a->qp_pd[k == KEYS - 1]], ENTRIES,
				       &a->key[k]) == 0);
	for (unsigned k = 0; k < WINDOWS; k++)
		MUST(vclient_alloc_mw(&a->c, s->pd[a->qp_pd[0]], k + 1, &a->window[k]) == 0);
}

static void create_qp(struct stage *s, struct actor *a, unsigned pair)
{
	struct vqp_init init = {.send_cq = &a->cq,
				.recv_cq = &a->cq,
				.pd = s->pd[a->qp_pd[pair]],
				.max_send_wr = 16,
				.max_recv_wr = 16,
				.max_inline_data = 1024};

	MUST(vqp_create(&a->c, &init, &a->qp[pair]) == 0);
}

void stage_renew_qps(struct stage *s, unsigned pair)
{
	struct vqp_conn conn = vqp_conn_default();

	for (unsigned i = 0; i < ACTORS; i++) {
		struct actor *a = &s->actor[i];

		if (!a->open)
			continue;
		if (a->qp[pair].c)
			MUST(vqp_destroy(&a->qp[pair]) == 0);
		create_qp(s, a, pair);
	}
	conn.timeout = 8;
	conn.rnr_retry = 3;
	if (s->actor[0].open && s->actor[1].open)
		vqp_connect(&s->actor[0].qp[pair], &s->actor[1].qp[pair], &conn);
}

static bool has_memory(const struct region *r)
{
	return r->live && r->mr.length;
}

static uint8_t *bytes_of(struct actor *a, const struct region *r)
{
	return r->device ? r->device : memory_at(&a->c.mem, r->mr.addr, SIZE);
}

/* The expected image, too: memory that is as it was is compared in one go. */
static void fill(struct actor *a, const struct region *r)
{
	memset(bytes_of(a, r), r->colour, SIZE);
	if (!r->device)
		memset(memory_expected(&a->c.mem, r->mr.addr, SIZE), r->colour, SIZE);
}

static void refill(struct stage *s)
{
	for (unsigned i = 0; i < ACTORS; i++)
		for (unsigned k = 0; s->actor[i].open && k < REGIONS; k++) {
			struct region *r = &s->actor[i].region[k];

			if (has_memory(r))
				fill(&s->actor[i], r);
		}
	memset(s->may, 0, sizeof(s->may));
	s->odd_values = s->implicit; /* it reads what is between the regions, too */
}

void stage_create(struct stage *s, bool shared, bool implicit)
{
	struct core_config cfg = world_config();

	cfg.burst_bytes = 4096;
	cfg.window_bytes = cfg.window_most = 8192;
	memset(s, 0, sizeof(*s));
	s->w = world_create(1, 1, &cfg);
	s->w->abort_on_failure = true;
	s->shared = shared;
	s->implicit = implicit;
	for (unsigned i = 0; i < ACTORS; i++)
		create_actor(s, i);
	stage_renew_qps(s, 0);
	stage_renew_qps(s, 1);
	refill(s);
}

void stage_register(struct stage *s, unsigned actor, unsigned region)
{
	struct actor *a = &s->actor[actor];
	struct region *r = &a->region[region];

	if (r->live || region == REGION_DEVICE || region == REGION_NULL)
		return;
	register_memory(s, a, r);
	fill(a, r);
}

void stage_deregister(struct stage *s, unsigned actor, unsigned region)
{
	struct actor *a = &s->actor[actor];
	struct region *r = &a->region[region];
	struct mr *mr = r->live ? table_find(&device(s)->mrs, r->mr.handle) : NULL;
	bool used = mr && mr->obj.refs;

	if (!r->live)
		return;
	MUST(mr != NULL);
	MUST(vclient_dereg_mr(&a->c, &r->mr) == (used ? -EBUSY : 0));
	r->live = used;
}

void stage_allow(struct stage *s, unsigned actor, unsigned qp, uint32_t here, uint32_t there)
{
	s->may[s->actor[actor].qp_pd[qp]] |= here;
	s->may[s->actor[!actor].qp_pd[qp]] |= there;
}

/* ---- bytes ---- */

/* A window can give away what its region has not, but for the right to change it at all. */
static uint32_t rights(const struct region *r)
{
	uint32_t access = r->access;

	if (access & IBV_ACCESS_MW_BIND)
		access |= IBV_ACCESS_REMOTE_READ;
	return access;
}

static bool may_change(const struct stage *s, const struct region *r)
{
	return s->may[r->pd] & rights(r) &
	       (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
}

static bool may_be_read(const struct stage *s, const struct region *r)
{
	uint32_t access = rights(r) & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);

	return s->may[r->pd] & (access | LOCAL_READ);
}

static bool known_value(const struct stage *s, uint8_t value)
{
	if (s->odd_values || value == 0 || value == NOTHING_YET)
		return true;
	for (unsigned i = 0; i < ACTORS; i++)
		for (unsigned k = 0; k < REGIONS; k++) {
			const struct region *r = &s->actor[i].region[k];

			if (value == r->colour)
				return may_be_read(s, r);
		}
	return false;
}

static void check_bytes(struct stage *s, struct actor *a, const struct region *r)
{
	const uint8_t *p = bytes_of(a, r);

	if (p[0] == r->colour && memcmp(p, p + 1, SIZE - 1) == 0)
		return;
	for (unsigned i = 0; i < SIZE; i++) {
		if (p[i] == r->colour)
			continue;
		if (may_change(s, r) && known_value(s, p[i]))
			continue;
		fprintf(stderr, "byte %u of the region with colour %02x is %02x\n", i, r->colour,
			p[i]);
		MUST(!"a byte is what it may not be");
	}
}

static void check_memory(struct stage *s)
{
	for (unsigned i = 0; i < ACTORS; i++) {
		struct actor *a = &s->actor[i];
		char why[200];

		if (!a->open)
			continue;
		for (unsigned k = 0; k < REGIONS; k++)
			if (has_memory(&a->region[k]))
				check_bytes(s, a, &a->region[k]);
		if (!memory_verify(&a->c.mem, why, sizeof(why))) {
			fprintf(stderr, "actor %u: %s\n", i, why);
			MUST(!"guard bytes and strays");
		}
	}
}

static bool all_retired(const struct stage *s)
{
	for (unsigned i = 0; i < ACTORS; i++)
		for (unsigned k = 0; s->actor[i].open && k < 2; k++)
			if (vqp_send_used(&s->actor[i].qp[k]))
				return false;
	return true;
}

/* Taken unseen, but for the bytes that the program itself would copy. */
static void poll_all(struct stage *s)
{
	struct uhca_abi_cqe e;

	for (unsigned i = 0; i < ACTORS; i++)
		while (s->actor[i].open && vcq_poll(&s->actor[i].cq, &e))
			;
}

void stage_settle(struct stage *s, unsigned steps)
{
	bool idle = false;

	while (steps-- && !idle) {
		idle = !world_step(s->w);
		poll_all(s);
	}
	stage_check(s);
	check_memory(s);
	if (idle && all_retired(s))
		refill(s);
}

/* ---- keys ---- */

static bool is_live(struct stage *s, const struct mr *mr)
{
	uint32_t cursor = 0;

	for (const void *o; (o = table_next(&device(s)->mrs, &cursor));)
		if (o == mr)
			return mr->obj.kind == KEY_MR;
	return false;
}

/* One entry of a key: what it opens of the child, from low to high, and what must hold of that. */
static void check_entry(struct stage *s, const struct mr *mr, const struct mr *child, __int128 low,
			__int128 high)
{
	const uint32_t all = ANYTHING | IBV_ACCESS_MW_BIND;
	unsigned depth;

	MUST(is_live(s, child));
	MUST(child->pd == mr->pd);
	MUST(!(mr->access & all & ~child->access));
	MUST(low >= child->iova && low < high);
	MUST(high <= (__int128)child->iova + child->pages.length);
	depth = child->kind == MR_KIND_INDIRECT ? child->ind->depth : 0;
	MUST(child->kind != MR_KIND_INDIRECT || depth >= 1);
	MUST(mr->ind->depth > depth && mr->ind->depth <= UHCA_ABI_MAX_DEPTH);
}

static uint64_t check_pages(struct stage *s, const struct mr *mr)
{
	const struct indirect *ind = mr->ind;
	uint64_t left = mr->pages.length, size = 1ull << ind->page_shift;

	for (uint32_t i = 0; i < ind->n; i++) {
		uint64_t from = i ? 0 : ind->first_offset;
		uint64_t n = left < size - from ? left : size - from;

		check_entry(s, mr, ind->base, (__int128)ind->page[i] + from,
			    (__int128)ind->page[i] + from + n);
		left -= n;
	}
	return mr->pages.length - left;
}

static uint64_t check_blocks(struct stage *s, const struct mr *mr)
{
	const struct indirect *ind = mr->ind;
	uint64_t at = 0;

	for (uint32_t i = 0; i < ind->n; i++) {
		uint64_t end = i + 1 < ind->n ? ind->block[i + 1].start : mr->pages.length;

		MUST(ind->block[i].start == at);
		check_entry(s, mr, ind->block[i].child, ind->block[i].addr,
			    (__int128)ind->block[i].addr + (end - at));
		at = end;
	}
	return at;
}

static uint64_t check_pieces(struct stage *s, const struct mr *mr)
{
	const struct indirect *ind = mr->ind;
	uint64_t round = 0, repeats = 1;

	for (unsigned d = 0; d < ind->n_dims; d++)
		repeats *= ind->count[d];
	for (uint32_t i = 0; i < ind->n; i++) {
		const struct indirect_piece *p = &ind->piece[i];
		__int128 low = p->addr, high = (__int128)p->addr + p->bytes;

		for (unsigned d = 0; d < ind->n_dims; d++)
			if (p->stride[d] < 0)
				low += (__int128)p->stride[d] * (ind->count[d] - 1);
			else
				high += (__int128)p->stride[d] * (ind->count[d] - 1);
		check_entry(s, mr, p->child, low, high);
		MUST(p->start == round);
		round += p->bytes;
	}
	MUST(round == ind->round);
	return round * repeats;
}

static const struct mr *child_of(const struct mr *mr, uint32_t i)
{
	switch (mr->ind->shape) {
	case UHCA_ABI_SHAPE_PAGES:
		return i ? NULL : mr->ind->base;
	case UHCA_ABI_SHAPE_INTERLEAVED:
		return i < mr->ind->n ? mr->ind->piece[i].child : NULL;
	case UHCA_ABI_SHAPE_BLOCKS:
	case UHCA_ABI_SHAPE_SG:
		return i < mr->ind->n ? mr->ind->block[i].child : NULL;
	default:
		return NULL;
	}
}

static uint32_t count_uses(struct stage *s, const struct mr *child)
{
	uint32_t cursor = 0, n = 0;

	for (const struct object *o; (o = table_next(&device(s)->mrs, &cursor));) {
		const struct mr *mr = (const void *)o, *other;

		if (o->kind == KEY_MW) {
			n += ((const struct mw *)(const void *)o)->mr == child;
			continue;
		}
		for (uint32_t i = 0; mr->ind && (other = child_of(mr, i)); i++)
			n += other == child;
	}
	return n;
}

static void check_key(struct stage *s, const struct mr *mr)
{
	uint64_t length = 0;

	switch (mr->ind->shape) {
	case UHCA_ABI_SHAPE_PAGES:
		length = check_pages(s, mr);
		break;
	case UHCA_ABI_SHAPE_INTERLEAVED:
		length = check_pieces(s, mr);
		break;
	case UHCA_ABI_SHAPE_BLOCKS:
	case UHCA_ABI_SHAPE_SG:
		length = check_blocks(s, mr);
		break;
	default:
		MUST(mr->ind->depth == 0);
	}
	MUST(mr->pages.length == length);
	MUST(length == 0 || length - 1 <= UINT64_MAX - mr->iova);
}

void stage_check(struct stage *s)
{
	uint32_t cursor = 0;

	for (const struct mr *mr; (mr = table_next(&device(s)->mrs, &cursor));) {
		if (mr->obj.kind != KEY_MR)
			continue;
		MUST(mr->obj.refs == count_uses(s, mr));
		if (mr->ind)
			check_key(s, mr);
	}
	for (unsigned i = 0; i < ACTORS; i++)
		if (s->actor[i].open && s->actor[i].c.mem.strays) {
			fprintf(stderr, "%s\n", s->actor[i].c.mem.stray);
			MUST(!"stray access");
		}
}

/* ---- the end ---- */

void stage_close(struct stage *s, unsigned actor)
{
	struct actor *a = &s->actor[actor];

	if (!a->open)
		return;
	poll_all(s);
	stage_check(s);
	check_memory(s);
	vclient_close(&a->c);
	a->open = false;
	s->odd_values = true; /* what it sent may still arrive */
	stage_check(s);
}

void stage_finish(struct stage *s, bool last_first)
{
	stage_settle(s, 2000);
	for (unsigned i = 0; i < ACTORS; i++)
		stage_close(s, last_first ? ACTORS - 1 - i : i);
	for (unsigned t = 0; t < CORE_OBJECT_TYPES; t++)
		MUST(core_object_count(device(s), t) == 0);
	world_destroy(s->w);
}
