/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A storage target and its client, as NVMe over Fabrics and iSER do it. The client asks to write
 * some blocks. The target takes free pages out of its pool, wherever they are, and registers them
 * as one key with a request on its send queue; the answer with the key stands right behind it. The
 * client WRITEs its data, then sends "done" with invalidate: the key is dead before the target
 * sees the message. Nobody calls into the operating system for any of this, and a client that
 * comes late, or twice, does no harm.
 *
 * Each key has a fresh key byte each time, so that one that was given out before does not open
 * what the same key stands for now.
 *
 * After all rounds the client tries the last keys once more, each on a queue pair of its own that
 * is lost by that: REM_ACCESS_ERR. The target sees that nothing was written.
 */
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHIFT    12u
#define PAGE     (1u << SHIFT)
#define POOL     256u /* pages */
#define DEPTH    8u   /* requests under way at once */
#define PAGES    24u  /* of one request, at most */
#define LATE     3u   /* queue pairs that are lost */
#define RECEIVES (2 * DEPTH)

enum { ASK, GRANT, DONE };

struct message {
	uint32_t kind, tag; /* tag: which of the client's DEPTH requests */
	uint32_t length, key;
	uint64_t iova, sum;
};

/* What both ends have: messages that come in and go out. */
struct port {
	struct end *e;
	struct ibv_qp *qp, *late[LATE];
	struct message *in, *out; /* RECEIVES; DEPTH, by tag */
	struct ibv_mr *in_mr, *out_mr;
};

static uint64_t sum(uint64_t s, const uint8_t *bytes, size_t n)
{
	while (n--)
		s = (s ^ *bytes++) * 1099511628211u;
	return s;
}

static void listen_again(struct port *p, unsigned slot)
{
	rig_recv(p->qp, slot,
		 (struct ibv_sge){(uintptr_t)&p->in[slot], sizeof(p->in[0]), p->in_mr->lkey});
}

static void port_open(struct port *p, struct end *e)
{
	*p = (struct port){.e = e, .qp = rig_qp(e)};
	p->in = rig_memory(RECEIVES * sizeof(p->in[0]));
	p->out = rig_memory(DEPTH * sizeof(p->out[0]));
	p->in_mr = rig_reg(e, p->in, RECEIVES * sizeof(p->in[0]), IBV_ACCESS_LOCAL_WRITE);
	p->out_mr = rig_reg(e, p->out, DEPTH * sizeof(p->out[0]), 0);
	for (unsigned i = 0; i < LATE; i++) {
		p->late[i] = rig_qp(e);
		rig_connect(e, p->late[i], !e->who);
	}
	rig_connect(e, p->qp, !e->who);
	for (unsigned i = 0; i < RECEIVES; i++)
		listen_again(p, i);
	rig_meet(e, !e->who);
}

static void port_close(struct port *p)
{
	rig_meet(p->e, !p->e->who);
	rig_free_qp(p->qp);
	for (unsigned i = 0; i < LATE; i++)
		rig_free_qp(p->late[i]);
	rig_free_mr(p->in_mr);
	rig_free_mr(p->out_mr);
	free(p->in);
	free(p->out);
}

static void say(struct port *p, unsigned tag, uint32_t invalidate)
{
	struct ibv_sge sge = {(uintptr_t)&p->out[tag], sizeof(p->out[0]), p->out_mr->lkey};
	struct ibv_send_wr wr = {.wr_id = p->out[tag].kind << 8 | tag,
				 .opcode = invalidate ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND,
				 .send_flags = IBV_SEND_SIGNALED,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .invalidate_rkey = invalidate};

	rig_post(p->qp, &wr);
}

/* ---- the target ---- */

struct grant {
	struct ibv_mr *key;
	uint64_t page[PAGES];      /* addresses in the pool */
	uint32_t n, length, first; /* first: byte of the first page */
	uint8_t byte;
};

struct target {
	struct port port;
	uint8_t *pool;
	struct ibv_mr *mr;
	unsigned free[POOL], n_free; /* pages nobody has, in no order */
	struct grant grant[DEPTH];
	uint64_t random;
};

static void take_pages(struct target *t, struct grant *g, uint32_t length)
{
	g->length = length;
	g->first = (uint32_t)(rig_random(&t->random) % PAGE);
	g->n = (g->first + length + PAGE - 1) / PAGE;
	for (uint32_t i = 0; i < g->n; i++) {
		unsigned which = (unsigned)(rig_random(&t->random) % t->n_free);
		g->page[i] = (uintptr_t)t->pool + (uint64_t)t->free[which] * PAGE;
		t->free[which] = t->free[--t->n_free];
	}
}

static void give_back(struct target *t, struct grant *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		t->free[t->n_free++] = (unsigned)((g->page[i] - (uintptr_t)t->pool) / PAGE);
	g->n = 0;
}

/* The registration, and behind it the message that tells of it. */
static void on_ask(struct target *t, const struct message *m)
{
	struct grant *g = &t->grant[m->tag];
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_REG_MR_PAGES};

	if (g->n)
		rig_die("request %u is under way already", m->tag);
	take_pages(t, g, m->length);
	wr.reg.mr = g->key;
	wr.reg.attr.iova = 0x10000000u + g->first; /* any number that ends like this */
	wr.reg.attr.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	wr.reg.attr.key_byte = ++g->byte;
	wr.reg.pages = (struct uhcadv_page_list){.lkey = t->mr->lkey,
						 .n = g->n,
						 .page_shift = SHIFT,
						 .page = g->page,
						 .length = m->length};
	rig_post_dv(t->port.qp, &wr);
	t->port.out[m->tag] = (struct message){.kind = GRANT,
					       .tag = m->tag,
					       .length = m->length,
					       .key = g->key->rkey,
					       .iova = wr.reg.attr.iova};
	say(&t->port, m->tag, 0);
}

/* By the addresses of the pages: the key is gone. */
static uint64_t sum_of(const struct grant *g)
{
	uint64_t s = 0;
	uint32_t left = g->length;

	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t from = i ? 0 : g->first, part = PAGE - from < left ? PAGE - from : left;
		s = sum(s, (const uint8_t *)(uintptr_t)g->page[i] + from, part);
		left -= part;
	}
	return s;
}

static void on_done(struct target *t, const struct message *m, const struct ibv_wc *wc)
{
	struct grant *g = &t->grant[m->tag];

	if (!(wc->wc_flags & IBV_WC_WITH_INV) || wc->invalidated_rkey != g->key->rkey)
		rig_die("request %u: the key was not taken away", m->tag);
	if (sum_of(g) != m->sum)
		rig_die("request %u: the data is not what the client says it is", m->tag);
	give_back(t, g);
}

static void serve(struct target *t, uint64_t requests)
{
	for (uint64_t done = 0; done < requests;) {
		struct ibv_wc wc = rig_success(t->port.e);
		struct message m;

		if (wc.opcode != IBV_WC_RECV)
			continue; /* an answer is out */
		m = t->port.in[wc.wr_id];
		listen_again(&t->port, (unsigned)wc.wr_id);
		if (m.tag >= DEPTH)
			rig_die("a message that makes no sense");
		if (m.kind == ASK) {
			on_ask(t, &m);
		} else {
			on_done(t, &m, &wc);
			done++;
		}
	}
}

static void target(struct end *e)
{
	struct target t = {.random = e->o->seed};
	uint64_t before;

	t.pool = rig_memory(POOL * PAGE);
	t.mr = rig_reg(e, t.pool, POOL * PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	for (unsigned i = 0; i < POOL; i++)
		t.free[t.n_free++] = i;
	for (unsigned i = 0; i < DEPTH; i++) {
		t.grant[i].key = rig_key(e, PAGES);
		t.grant[i].byte = (uint8_t)(t.grant[i].key->rkey);
	}
	port_open(&t.port, e);
	serve(&t, e->o->rounds);
	before = sum(0, t.pool, POOL * PAGE);
	rig_meet(e, 1); /* the client tries the dead keys */
	rig_meet(e, 1);
	if (sum(0, t.pool, POOL * PAGE) != before || t.n_free != POOL)
		rig_die("a dead key was written through");
	printf("target: %llu requests, each with a key of its own: verified\n",
	       (unsigned long long)e->o->rounds);
	port_close(&t.port);
	for (unsigned i = 0; i < DEPTH; i++)
		rig_free_mr(t.grant[i].key);
	rig_free_mr(t.mr);
	free(t.pool);
}

/* ---- the client ---- */

struct client {
	struct port port;
	uint8_t *data; /* DEPTH parts of PAGES - 1 pages */
	struct ibv_mr *mr;
	struct message old[DEPTH]; /* the last grant of each tag */
	uint64_t random;
};

static uint8_t *data_of(const struct client *c, unsigned tag)
{
	return c->data + (size_t)tag * (PAGES - 1) * PAGE;
}

static void ask(struct client *c, unsigned tag)
{
	uint32_t length = 1 + (uint32_t)(rig_random(&c->random) % ((PAGES - 1) * PAGE));

	for (uint32_t i = 0; i < length; i++)
		data_of(c, tag)[i] = (uint8_t)rig_random(&c->random);
	c->port.out[tag] = (struct message){
		.kind = ASK, .tag = tag, .length = length, .sum = sum(0, data_of(c, tag), length)};
	say(&c->port, tag, 0);
}

static void write_to(struct client *c, struct ibv_qp *qp, const struct message *grant)
{
	struct ibv_sge sge = {(uintptr_t)data_of(c, grant->tag), grant->length, c->mr->lkey};
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE,
				 .send_flags = qp == c->port.qp ? 0 : IBV_SEND_SIGNALED,
				 .sg_list = &sge,
				 .num_sge = 1,
				 .wr.rdma = {grant->iova, grant->key}};

	rig_post(qp, &wr);
}

/* The data, and behind it "done", which takes the key away: no need to wait in between. */
static void on_grant(struct client *c, const struct message *m)
{
	/* A key is never the one that the tag had before. */
	if (m->key == c->old[m->tag].key)
		rig_die("request %u: the same key again", m->tag);
	c->old[m->tag] = *m;
	write_to(c, c->port.qp, m);
	c->port.out[m->tag].kind = DONE;
	say(&c->port, m->tag, m->key);
}

static void transfer(struct client *c, uint64_t requests)
{
	uint64_t asked = 0, done = 0;

	for (; asked < DEPTH && asked < requests; asked++)
		ask(c, (unsigned)asked);
	while (done < requests) {
		struct ibv_wc wc = rig_success(c->port.e);

		if (wc.opcode == IBV_WC_RECV) {
			struct message m = c->port.in[wc.wr_id];

			listen_again(&c->port, (unsigned)wc.wr_id);
			on_grant(c, &m);
		} else if (wc.wr_id >> 8 == DONE) {
			done++;
			if (asked++ < requests)
				ask(c, wc.wr_id & 0xff);
		}
	}
}

/*
 * Each costs a queue pair. A refusal that gets lost is not said again, since the target's queue
 * pair is in error then and drops what comes; not all get lost.
 */
static void come_late(struct client *c)
{
	unsigned late = 0, heard = 0;

	for (unsigned i = 0; i < LATE; i++) {
		struct ibv_wc wc;

		if (!c->old[i].key)
			continue;
		write_to(c, c->port.late[i], &c->old[i]);
		wc = rig_poll(c->port.e);
		if (wc.status != IBV_WC_REM_ACCESS_ERR && wc.status != IBV_WC_RETRY_EXC_ERR)
			rig_die("a WRITE with a dead key: %s", ibv_wc_status_str(wc.status));
		late++;
		heard += wc.status == IBV_WC_REM_ACCESS_ERR;
	}
	if (late > 0 && heard == 0)
		rig_die("none of %u late WRITEs was told why it failed", late);
}

static void client(struct end *e)
{
	struct client c = {.random = e->o->seed + 1};

	c.data = rig_memory((size_t)DEPTH * (PAGES - 1) * PAGE);
	c.mr = rig_reg(e, c.data, (size_t)DEPTH * (PAGES - 1) * PAGE, 0);
	port_open(&c.port, e);
	transfer(&c, e->o->rounds);
	rig_meet(e, 0);
	come_late(&c);
	rig_meet(e, 0);
	printf("client: %llu requests, dead keys are refused: verified\n",
	       (unsigned long long)e->o->rounds);
	port_close(&c.port);
	rig_free_mr(c.mr);
	free(c.data);
}

static void part(struct end *e)
{
	if (e->who)
		client(e);
	else
		target(e);
}

int main(int argc, char **argv)
{
	struct rig_options o = {.text = "A target registers pages for each request of its client "
					"through its send queue; the client takes them away again.",
				.rounds = 500,
				.seed = 1};

	rig_options(&o, argc, argv);
	return rig_run(&o, 2, part);
}
