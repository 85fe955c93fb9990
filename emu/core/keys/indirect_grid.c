/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See indirect_grid.h. The first element is found by division, those after it by adding strides:
 * columns have many elements, and short ones.
 */
#include "indirect_grid.h"

#define ROW_LEAST 8 /* elements: for fewer a row costs more than their spans */

bool indirect_is_grid(const struct mr *mr)
{
	const struct indirect *ind = mr->ind;
	const struct indirect_piece *piece;

	if (mr->kind != MR_KIND_INDIRECT || ind->shape != UHCA_ABI_SHAPE_INTERLEAVED ||
	    ind->n != 1 || !ind->n_dims)
		return false;
	piece = ind->piece;
	if (piece->stride[ind->n_dims - 1] == (int64_t)piece->bytes)
		return false;
	return piece->child->kind == MR_KIND_MEMORY || piece->child->kind == MR_KIND_DEVICE;
}

/* Where a walk over a grid stands. */
struct grid {
	const struct indirect *ind;
	uint64_t at; /* the element's address in the child; sums are modulo 2^64, as in a step */
	uint64_t index[UHCA_ABI_MAX_DIMS];
};

static void grid_seek(struct grid *g, const struct indirect *ind, uint64_t element)
{
	g->ind = ind;
	g->at = ind->piece->addr;
	for (unsigned d = ind->n_dims; d-- > 0;) {
		g->index[d] = d ? element % ind->count[d] : element;
		g->at += g->index[d] * (uint64_t)ind->piece->stride[d];
		element = d ? element / ind->count[d] : 0;
	}
}

/* n elements on, none of them behind the end of the row. */
static void grid_advance(struct grid *g, uint64_t n)
{
	const struct indirect *ind = g->ind;
	unsigned d = ind->n_dims - 1u;

	g->index[d] += n;
	g->at += n * (uint64_t)ind->piece->stride[d];
	while (g->index[d] == ind->count[d] && d > 0) {
		g->at -= ind->count[d] * (uint64_t)ind->piece->stride[d];
		g->index[d--] = 0;
		g->index[d]++;
		g->at += (uint64_t)ind->piece->stride[d];
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How many elements, the first at this address, such a stride apart, lie in the extent. */
static uint64_t fitting(const struct extent *e, uint64_t addr, uint64_t bytes, int64_t stride)
{
	uint64_t before = addr - e->addr, behind = e->length - before;

	if (behind < bytes)
		return 0;
	if (stride > 0)
		return (behind - bytes) / (uint64_t)stride + 1;
	return stride ? before / -(uint64_t)stride + 1 : UINT64_MAX;
}

/* How many elements of the row, from here on, are in memory of this process; *at: the first. */
static uint64_t mapped_row(const struct grid *g, uint64_t *at)
{
	const struct indirect_piece *piece = g->ind->piece;
	const struct mr *child = piece->child;
	unsigned last = g->ind->n_dims - 1u;
	uint64_t n = g->ind->count[last] - g->index[last];
	uint64_t addr = child->addr - child->iova + g->at;
	const struct extent *e;

	*at = addr;
	if (child->kind == MR_KIND_DEVICE)
		return n;
	e = child->pinned ? extents_of(child->pinned, addr) : NULL;
	if (!e)
		return 0;
	*at = (uintptr_t)e->at + (addr - e->addr);
	return least(n, fitting(e, addr, piece->bytes, piece->stride[last]));
}

/* Whole elements of memory that is ours, up to max and to the end of the row. */
static unsigned grid_row(struct grid *g, uint64_t max, struct core_span *out)
{
	const struct indirect_piece *piece = g->ind->piece;
	uint64_t at, n = least(max, mapped_row(g, &at));
	uint64_t stride = (uint64_t)piece->stride[g->ind->n_dims - 1u];
	uint32_t bytes = (uint32_t)piece->bytes;

	for (uint64_t i = 0; i < n; i++, at += stride)
		out[i] = (struct core_span){at, bytes, CORE_SPACE_DEVICE};
	grid_advance(g, n);
	return (unsigned)n;
}

bool indirect_grid_row(const struct mr *mr, uint64_t addr, uint32_t length, struct core_row *out)
{
	const struct indirect *ind = mr->ind;
	uint64_t bytes = ind->piece->bytes, offset = addr - mr->iova, n, at;
	struct grid g;

	if (length / bytes < ROW_LEAST || offset % bytes)
		return false;
	grid_seek(&g, ind, offset / bytes);
	n = least(length / bytes, mapped_row(&g, &at));
	*out = (struct core_row){at, ind->piece->stride[ind->n_dims - 1u], (uint32_t)bytes,
				 (uint32_t)n};
	return n >= ROW_LEAST;
}

unsigned indirect_grid_spans(const struct mr *mr, uint64_t addr, uint32_t length,
			     struct core_span *out, unsigned max, uint32_t *walked)
{
	const struct mr *child = mr->ind->piece->child;
	uint64_t bytes = mr->ind->piece->bytes, in = (addr - mr->iova) % bytes;
	uint32_t done = 0, got, part;
	unsigned n = 0;
	struct grid g;

	grid_seek(&g, mr->ind, (addr - mr->iova) / bytes);
	while (n < max && done < length) {
		unsigned whole =
			in ? 0 : grid_row(&g, least(max - n, (length - done) / bytes), out + n);

		if (whole) {
			n += whole;
			done += whole * (uint32_t)bytes;
			continue;
		}
		part = (uint32_t)least(bytes - in, length - done);
		n += mr_spans(child, g.at + in, part, out + n, max - n, &got);
		done += got;
		if (got < part)
			break;
		in = 0;
		grid_advance(&g, 1);
	}
	*walked = done;
	return n;
}
