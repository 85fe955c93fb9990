/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heat in a box that two processes share. The box is periodic and cut in two along x; each process
 * has its half with a layer of cells around it, the halo, that holds copies of the neighbours'
 * outermost cells. Each step every face is sent to the neighbour's halo, then all cells become a
 * mean of themselves and their six neighbours.
 *
 * The cells of a face are not next to each other in memory. The usual answer is to copy them into
 * a buffer and out of one at the other end. Here each face is one key with a layout of two
 * dimensions, described once before the first step, at both ends: one WRITE with one element moves
 * it. The faces in y and z meet the same process again, through a queue pair that is connected with
 * itself: the program makes no difference between neighbours.
 *
 * Two grids take turns: while a process computes from one into the other, its neighbour may be one
 * step ahead and write to the halo of the other. It cannot be two ahead, as it needs our faces.
 *
 * At the end each process computes the whole box alone, and compares its half.
 */
#include "rig.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>

enum { X, Y, Z, AXES };
enum { FACES = 2 * AXES }; /* face 2 * axis: towards lower coordinates; + 1: towards higher */

/* Cells in each direction without the halo, x running fastest. */
struct box {
	size_t n[AXES];
	double *cell;
};

static size_t stride(const struct box *b, unsigned axis)
{
	size_t s = 1;

	for (unsigned a = 0; a < axis; a++)
		s *= b->n[a] + 2;
	return s;
}

static size_t cells(const struct box *b)
{
	return stride(b, AXES);
}

static size_t at(const struct box *b, size_t x, size_t y, size_t z)
{
	return x + y * stride(b, Y) + z * stride(b, Z);
}

static void box_make(struct box *b, size_t nx, size_t ny, size_t nz)
{
	*b = (struct box){.n = {nx, ny, nz}};
	b->cell = rig_memory(cells(b) * sizeof(double));
}

/* Every cell from 1 to n, not the halo; from x on of the whole box. */
static void box_fill(struct box *b, size_t from_x, uint64_t seed)
{
	for (size_t z = 1; z <= b->n[Z]; z++)
		for (size_t y = 1; y <= b->n[Y]; y++)
			for (size_t x = 1; x <= b->n[X]; x++) {
				uint64_t s = seed + ((from_x + x) * 1000 + y) * 1000 + z;
				b->cell[at(b, x, y, z)] = (double)(rig_random(&s) >> 40);
			}
}

static void box_step(const struct box *from, struct box *to)
{
	const size_t dy = stride(from, Y), dz = stride(from, Z);

	for (size_t z = 1; z <= from->n[Z]; z++)
		for (size_t y = 1; y <= from->n[Y]; y++)
			for (size_t x = 1; x <= from->n[X]; x++) {
				const double *c = &from->cell[at(from, x, y, z)];
				to->cell[at(to, x, y, z)] = 0.25 * *c +
							    0.125 * (*(c - 1) + *(c + 1)) +
							    0.125 * (*(c - dy) + *(c + dy)) +
							    0.125 * (*(c - dz) + *(c + dz));
			}
}

/* ---- faces as keys ---- */

/* The two axes that span the layer. */
static void span(unsigned axis, unsigned *outer, unsigned *inner)
{
	*outer = axis == Z ? Y : Z;
	*inner = axis == X ? Y : X;
}

/* The layer of cells whose coordinate in an axis is "where": 0 and n + 1 are halo. */
struct layer {
	struct uhcadv_piece piece;
	struct uhcadv_interleaved layout;
	uint32_t bytes;
};

static void describe(struct layer *l, const struct box *b, uint32_t lkey, unsigned axis,
		     size_t where)
{
	unsigned outer, inner;
	size_t first = where * stride(b, axis);

	span(axis, &outer, &inner);
	first += stride(b, outer) + stride(b, inner); /* from 1 on, without corners */
	l->piece = (struct uhcadv_piece){.addr = (uintptr_t)&b->cell[first],
					 .bytes = sizeof(double),
					 .lkey = lkey,
					 .stride = {(int64_t)(stride(b, outer) * sizeof(double)),
						    (int64_t)(stride(b, inner) * sizeof(double))}};
	l->layout = (struct uhcadv_interleaved){.n_dims = 2,
						.n_pieces = 1,
						.count = {b->n[outer], b->n[inner]},
						.piece = &l->piece};
	l->bytes = (uint32_t)(b->n[outer] * b->n[inner] * sizeof(double));
}

struct grid {
	struct box box;
	struct ibv_mr *mr;
	struct ibv_mr *face[FACES]; /* outermost own cells: what is sent */
	struct ibv_mr *halo[FACES]; /* what the neighbour on that side writes to */
	uint32_t bytes[FACES];
	uint32_t to[FACES]; /* R_Key of the halo that the face goes to */
};

struct half {
	struct end *e;
	struct ibv_qp *peer, *self;
	struct grid grid[2];
	unsigned arrived[2]; /* faces of the others in the halo of each grid */
};

static size_t last_or(const struct box *b, unsigned face, size_t low, size_t high_beyond)
{
	return face % 2 ? b->n[face / 2] + high_beyond : low;
}

/* The halo by a call; it must be there before its key is told to the neighbour. */
static void describe_halo(struct half *h, struct grid *g, unsigned face)
{
	struct uhcadv_reg_attr attr = {.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
				       .key_byte = (uint8_t)face};
	struct layer l;

	g->halo[face] = rig_key(h->e, 1);
	describe(&l, &g->box, g->mr->lkey, face / 2, last_or(&g->box, face, 0, 1));
	if (uhcadv_rereg_mr_interleaved(g->halo[face], &attr, &l.layout))
		rig_die("the halo %u cannot be described", face);
}

/* The face by a request: the WRITE that uses it may stand right behind it in the queue. */
static void describe_face(struct half *h, struct grid *g, unsigned face)
{
	struct uhcadv_send_wr wr = {.opcode = UHCADV_WR_REG_INTERLEAVED};
	struct layer l;

	g->face[face] = rig_key(h->e, 1);
	describe(&l, &g->box, g->mr->lkey, face / 2, last_or(&g->box, face, 1, 0));
	wr.reg.mr = g->face[face];
	wr.reg.attr.key_byte = (uint8_t)(0x80 + face);
	wr.reg.interleaved = l.layout;
	rig_post_dv(face / 2 == X ? h->peer : h->self, &wr);
	g->bytes[face] = l.bytes;
}

static void grid_make(struct half *h, struct grid *g, size_t nx, size_t ny, size_t nz)
{
	uint32_t mine[FACES], theirs[FACES];

	box_make(&g->box, nx, ny, nz);
	g->mr = rig_reg(h->e, g->box.cell, cells(&g->box) * sizeof(double),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	for (unsigned f = 0; f < FACES; f++) {
		describe_halo(h, g, f);
		describe_face(h, g, f);
		mine[f] = g->halo[f]->rkey;
	}
	rig_swap(h->e, !h->e->who, mine, theirs, sizeof(mine));
	/* What leaves on one side comes in on the other. */
	for (unsigned f = 0; f < FACES; f++)
		g->to[f] = f / 2 == X ? theirs[f ^ 1] : mine[f ^ 1];
}

static void grid_free(struct grid *g)
{
	for (unsigned f = 0; f < FACES; f++) {
		rig_free_mr(g->face[f]);
		rig_free_mr(g->halo[f]);
	}
	rig_free_mr(g->mr);
	free(g->box.cell);
}

/* ---- the exchange ---- */

static void send_face(struct half *h, unsigned turn, unsigned face)
{
	struct grid *g = &h->grid[turn];
	struct ibv_sge sge = {.addr = 0, .length = g->bytes[face], .lkey = g->face[face]->lkey};
	/* The immediate value makes a receive complete: the neighbour knows what has come. */
	struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
				 .send_flags = IBV_SEND_SIGNALED,
				 .imm_data = htonl(turn),
				 .sg_list = &sge,
				 .num_sge = 1,
				 .wr.rdma = {.remote_addr = 0, .rkey = g->to[face]}};

	rig_post(face / 2 == X ? h->peer : h->self, &wr);
}

static void post_receive(struct half *h, uint32_t qpn)
{
	struct ibv_qp *qp = qpn == h->peer->qp_num ? h->peer : h->self;

	rig_recv(qp, 0, (struct ibv_sge){0});
}

static void exchange(struct half *h, unsigned turn)
{
	unsigned sent = 0;

	for (unsigned f = 0; f < FACES; f++)
		send_face(h, turn, f);
	while (sent < FACES || h->arrived[turn] < FACES) {
		struct ibv_wc wc = rig_success(h->e);

		if (wc.opcode == IBV_WC_RDMA_WRITE) {
			sent++;
		} else if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
			h->arrived[ntohl(wc.imm_data)]++;
			post_receive(h, wc.qp_num);
		} else {
			rig_die("an unexpected completion");
		}
	}
	h->arrived[turn] = 0;
}

/* ---- the same by one process ---- */

static void copy_layer(struct box *b, unsigned axis, size_t from, size_t to)
{
	unsigned outer, inner;

	span(axis, &outer, &inner);
	for (size_t i = 1; i <= b->n[outer]; i++)
		for (size_t k = 1; k <= b->n[inner]; k++) {
			size_t base = i * stride(b, outer) + k * stride(b, inner);
			b->cell[base + to * stride(b, axis)] =
				b->cell[base + from * stride(b, axis)];
		}
}

static void alone(struct box b[2], uint64_t steps)
{
	for (uint64_t step = 0; step < steps; step++) {
		struct box *now = &b[step % 2];

		for (unsigned axis = X; axis < AXES; axis++) {
			copy_layer(now, axis, now->n[axis], 0);
			copy_layer(now, axis, 1, now->n[axis] + 1);
		}
		box_step(now, &b[(step + 1) % 2]);
	}
}

static void compare(const struct box *mine, const struct box *whole, size_t from_x)
{
	for (size_t z = 1; z <= mine->n[Z]; z++)
		for (size_t y = 1; y <= mine->n[Y]; y++)
			for (size_t x = 1; x <= mine->n[X]; x++)
				if (mine->cell[at(mine, x, y, z)] !=
				    whole->cell[at(whole, from_x + x, y, z)])
					rig_die("cell %zu %zu %zu is wrong", from_x + x, y, z);
}

static void verify(const struct half *h)
{
	const struct box *mine = &h->grid[h->e->o->rounds % 2].box;
	struct box whole[2];

	for (unsigned i = 0; i < 2; i++)
		box_make(&whole[i], 2 * mine->n[X], mine->n[Y], mine->n[Z]);
	box_fill(&whole[0], 0, h->e->o->seed);
	alone(whole, h->e->o->rounds);
	compare(mine, &whole[h->e->o->rounds % 2], h->e->who * mine->n[X]);
	for (unsigned i = 0; i < 2; i++)
		free(whole[i].cell);
}

static void part(struct end *e)
{
	struct half h = {.e = e, .peer = rig_qp(e), .self = rig_qp(e)};
	const size_t n[AXES] = {12, 20, 9};

	rig_connect(e, h.peer, !e->who);
	rig_connect_here(e, h.self, h.self->qp_num);
	for (unsigned i = 0; i < RIG_WR; i++)
		post_receive(&h, i % 2 ? h.peer->qp_num : h.self->qp_num);
	for (unsigned i = 0; i < 2; i++)
		grid_make(&h, &h.grid[i], n[X], n[Y], n[Z]);
	box_fill(&h.grid[0].box, e->who * n[X], e->o->seed);
	for (uint64_t step = 0; step < e->o->rounds; step++) {
		exchange(&h, step % 2);
		box_step(&h.grid[step % 2].box, &h.grid[(step + 1) % 2].box);
	}
	verify(&h);
	printf("end %u: %zu x %zu x %zu cells, %llu steps, %u faces each: verified\n", e->who, n[X],
	       n[Y], n[Z], (unsigned long long)e->o->rounds, (unsigned)FACES);
	rig_meet(e, !e->who); /* the other may still write to our halo */
	rig_free_qp(h.peer);
	rig_free_qp(h.self);
	for (unsigned i = 0; i < 2; i++)
		grid_free(&h.grid[i]);
}

int main(int argc, char **argv)
{
	struct rig_options o = {.text = "Two processes exchange the faces of a grid, each by one "
					"WRITE through a key of two dimensions.",
				.rounds = 25,
				.seed = 1};

	rig_options(&o, argc, argv);
	return rig_run(&o, 2, part);
}
