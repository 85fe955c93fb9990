/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets up two devices with one connected QP each. */
#include "pair.h"

#include "seeds.h"
#include "world_faults.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void side_construct(struct side *s, struct pair *p, unsigned device,
			   const struct pair_options *o)
{
	uint32_t size = o->buffer ? o->buffer : PAIR_BUFFER;
	int rc;

	s->pair = p;
	s->peer = device ? &p->a : &p->b;
	vclient_open(&s->c, &p->w->device[device].host, device, p->w->seed + device);
	rc = vclient_reg_mr(&s->c, memory_alloc(&s->c.mem, size, 64), size, PAIR_ACCESS, &s->mr);
	world_assert(p->w, rc == 0);
	rc = vcq_create(&s->c, o->cqe ? o->cqe : 1024, 1, &s->cq);
	world_assert(p->w, rc == 0);
}

static void side_create_qp(struct side *s, const struct pair_options *o)
{
	struct vqp_init init = o->init;
	int rc;

	init.type = o->type ? o->type : IBV_QPT_RC;
	init.send_cq = init.recv_cq = &s->cq;
	if (s->pair->use_srq && s == &s->pair->b)
		init.srq = &s->pair->srq;
	rc = vqp_create(&s->c, &init, &s->qp);
	world_assert(s->pair->w, rc == 0);
}

void pair_create(struct pair *p, const struct pair_options *o)
{
	memset(p, 0, sizeof *p);
	p->w = world_create(seeds_one(o->seed), 2, o->cfg);
	rules_attach(&p->rules, p->w);
	p->conn = o->conn ? *o->conn : vqp_conn_default();
	side_construct(&p->a, p, 0, o);
	side_construct(&p->b, p, 1, o);
	if (o->srq_wr) {
		int rc = vsrq_create(&p->b.c, o->srq_wr, 4, o->srq_limit, &p->srq);

		world_assert(p->w, rc == 0);
		p->use_srq = true;
	}
	side_create_qp(&p->a, o);
	side_create_qp(&p->b, o);
	if (o->unconnected)
		return;
	if (p->a.qp.type == IBV_QPT_UD) {
		vqp_activate(&p->a.qp, &p->conn);
		vqp_activate(&p->b.qp, &p->conn);
	} else {
		vqp_connect(&p->a.qp, &p->b.qp, &p->conn);
	}
}

static void side_finish(struct side *s)
{
	char why[200];

	side_poll(s);
	if (!memory_verify(&s->c.mem, why, sizeof why))
		world_fail(s->pair->w, "side %c: %s", s == &s->pair->a ? 'a' : 'b', why);
	vclient_close(&s->c);
	free(s->wc);
}

void pair_finish(struct pair *p)
{
	world_run_idle(p->w, PAIR_SECONDS);
	rules_check(&p->rules);
	world_rules_check(p->w);
	side_finish(&p->a);
	side_finish(&p->b);
	for (unsigned i = 0; i < 2; i++)
		for (unsigned t = 0; t < CORE_OBJECT_TYPES; t++)
			world_assert(p->w, core_object_count(p->w->device[i].host.dev, t) == 0);
	rules_detach(&p->rules);
	world_destroy(p->w);
}

void side_queue(struct side *s, const struct op *op)
{
	struct uhca_abi_sge sge = {s->mr.addr + op->local, op->length, s->mr.lkey};
	struct vsend wr = {.wr_id = op->wr_id,
			   .opcode = op->opcode,
			   .flags = op->flags,
			   .imm = op->imm,
			   .mode = op->mode,
			   .sge = &sge,
			   .num_sge = 1,
			   .remote_addr = s->peer->mr.addr + op->remote,
			   .rkey = s->peer->mr.rkey,
			   .compare_add = op->compare_add,
			   .swap = op->swap};
	int rc = vqp_queue_send(&s->qp, &wr);

	world_assert(s->pair->w, rc == 0);
}

void side_post(struct side *s, const struct op *op)
{
	side_queue(s, op);
	vqp_doorbell(&s->qp);
}

static void post_simple(struct side *s, uint8_t opcode, const struct op *where)
{
	struct op op = *where;

	op.opcode = opcode;
	op.flags |= UHCA_ABI_SEND_SIGNALED;
	side_post(s, &op);
}

void side_send(struct side *s, uint64_t wr_id, uint32_t local, uint32_t length)
{
	post_simple(s, UHCA_ABI_WR_SEND,
		    &(struct op){.wr_id = wr_id, .local = local, .length = length});
}

void side_write(struct side *s, uint64_t wr_id, uint32_t local, uint32_t remote, uint32_t length)
{
	post_simple(
		s, UHCA_ABI_WR_RDMA_WRITE,
		&(struct op){.wr_id = wr_id, .local = local, .length = length, .remote = remote});
}

void side_read(struct side *s, uint64_t wr_id, uint32_t local, uint32_t remote, uint32_t length)
{
	post_simple(
		s, UHCA_ABI_WR_RDMA_READ,
		&(struct op){.wr_id = wr_id, .local = local, .length = length, .remote = remote});
}

void side_fetch_add(struct side *s, uint64_t wr_id, uint32_t local, uint32_t remote, uint64_t add)
{
	post_simple(s, UHCA_ABI_WR_ATOMIC_FETCH_AND_ADD,
		    &(struct op){.wr_id = wr_id,
				 .local = local,
				 .length = 8,
				 .remote = remote,
				 .compare_add = add});
}

void side_cmp_swap(struct side *s, const struct op *op)
{
	struct op with_length = *op;

	with_length.length = 8;
	post_simple(s, UHCA_ABI_WR_ATOMIC_CMP_AND_SWP, &with_length);
}

void side_recv(struct side *s, uint64_t wr_id, uint32_t offset, uint32_t length)
{
	struct uhca_abi_sge sge = {s->mr.addr + offset, length, s->mr.lkey};
	struct vrecv wr = {wr_id, &sge, 1};
	int rc = s->qp.srq ? vsrq_post_recv(s->qp.srq, &wr) : vqp_post_recv(&s->qp, &wr);

	world_assert(s->pair->w, rc == 0);
}

void side_poll(struct side *s)
{
	struct uhca_abi_cqe e;

	while (vcq_poll(&s->cq, &e)) {
		if (s->n_wc == s->wc_room) {
			s->wc_room = s->wc_room ? s->wc_room * 2 : 64;
			s->wc = realloc(s->wc, s->wc_room * sizeof *s->wc);
			assert(s->wc);
		}
		s->wc[s->n_wc++] = e;
	}
}

struct wait {
	struct side *side;
	unsigned n;
};

static bool enough(void *arg)
{
	struct wait *wait = arg;

	side_poll(wait->side);
	return wait->side->n_wc >= wait->n;
}

void side_wait(struct side *s, unsigned n)
{
	struct wait wait = {s, n};

	if (!world_run_until(s->pair->w, enough, &wait, 10 * PAIR_SECONDS))
		world_fail(s->pair->w, "side %c: %u of %u completions came",
			   s == &s->pair->a ? 'a' : 'b', s->n_wc, n);
}

void side_quiet(struct side *s, uint64_t ns)
{
	unsigned before;

	side_poll(s);
	before = s->n_wc;
	world_run(s->pair->w, s->pair->w->now + ns);
	side_poll(s);
	world_assert(s->pair->w, s->n_wc == before);
}

void side_expect(struct side *s, unsigned i, uint64_t wr_id, uint8_t status, uint8_t opcode)
{
	const struct uhca_abi_cqe *e;

	if (i >= s->n_wc)
		side_wait(s, i + 1);
	e = &s->wc[i];
	if (e->wr_id != wr_id || e->status != status || e->qpn != s->qp.qpn ||
	    (status == UHCA_ABI_WC_SUCCESS && e->opcode != opcode))
		world_fail(s->pair->w,
			   "side %c completion %u: wr_id %llu status %u opcode %u qpn 0x%x, "
			   "expected wr_id %llu status %u opcode %u",
			   s == &s->pair->a ? 'a' : 'b', i, (unsigned long long)e->wr_id, e->status,
			   e->opcode, e->qpn, (unsigned long long)wr_id, status, opcode);
}

void side_expect_len(struct side *s, unsigned i, uint32_t byte_len)
{
	world_assert(s->pair->w, i < s->n_wc);
	world_assert(s->pair->w, s->wc[i].byte_len == byte_len);
}

unsigned side_events(const struct side *s, uint32_t type)
{
	return vevents_count(&s->c.async, type, &s->qp);
}

void pair_expect_copy(struct side *from, uint32_t from_offset, struct side *to, uint32_t to_offset,
		      uint32_t length)
{
	memory_expect(&to->c.mem, to->mr.addr + to_offset,
		      memory_expected(&from->c.mem, from->mr.addr + from_offset, length), length);
}

void side_ignore(struct side *s, uint32_t offset, uint32_t length)
{
	memory_ignore(&s->c.mem, s->mr.addr + offset, length, true);
}

uint64_t side_load(struct side *s, uint32_t offset)
{
	uint64_t v;

	memcpy(&v, memory_at(&s->c.mem, s->mr.addr + offset, 8), 8);
	return v;
}

void side_store(struct side *s, uint32_t offset, uint64_t value)
{
	memory_store(&s->c.mem, s->mr.addr + offset, &value, 8);
}

void side_expect_u64(struct side *s, uint32_t offset, uint64_t value)
{
	memory_expect(&s->c.mem, s->mr.addr + offset, &value, 8);
}

void pair_idle(struct pair *p)
{
	world_run_idle(p->w, 10 * PAIR_SECONDS);
}
