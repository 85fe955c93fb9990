/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Descriptions: checked whole before anything is changed, then taken over; walked one step at a
 * time. Sizes and addresses come from a client: sums and products are formed in 128 bits, or of
 * factors that were bounded before.
 */
#include "mr.h"
#include "mw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define INDIRECT_ACCESS                                                                            \
	(MR_LOCAL_WRITE | MR_REMOTE_WRITE | MR_REMOTE_READ | MR_REMOTE_ATOMIC | MR_MW_BIND |       \
	 MR_FLUSH)

typedef __int128 wide;

const char *indirect_shape_name(uint8_t shape)
{
	static const char *const name[] = {
		[0] = "invalid",
		[UHCA_ABI_SHAPE_PAGES] = "pages",
		[UHCA_ABI_SHAPE_BLOCKS] = "blocks",
		[UHCA_ABI_SHAPE_INTERLEAVED] = "interleaved",
		[UHCA_ABI_SHAPE_SG] = "sg",
	};

	return shape < sizeof(name) / sizeof(name[0]) ? name[shape] : "unknown";
}

/* ---- life ---- */

struct indirect *indirect_new(uint32_t max_entries)
{
	struct indirect *ind = calloc(1, sizeof(*ind));

	if (!ind)
		return NULL;
	ind->max_entries = max_entries;
	ind->page = calloc(max_entries, sizeof(*ind->page));
	ind->block = calloc(max_entries, sizeof(*ind->block));
	ind->piece = calloc(UHCA_ABI_MAX_PIECES, sizeof(*ind->piece));
	if (ind->page && ind->block && ind->piece)
		return ind;
	indirect_free(ind);
	return NULL;
}

void indirect_free(struct indirect *ind)
{
	if (!ind)
		return;
	free(ind->page);
	free(ind->block);
	free(ind->piece);
	free(ind);
}

static uint64_t cost_of(uint32_t max_entries)
{
	return sizeof(struct indirect) + UHCA_ABI_MAX_PIECES * sizeof(struct indirect_piece) +
	       max_entries * (sizeof(uint64_t) + sizeof(struct indirect_block));
}

uint64_t indirect_bytes(const struct indirect *ind)
{
	return ind ? cost_of(ind->max_entries) : 0;
}

static bool list_allowed(const struct core_config *cfg, uint32_t max_entries)
{
	return max_entries >= 1 && max_entries <= cfg->limits.max_list_entries;
}

int core_alloc_key(struct client *c, const struct uhca_cmd_alloc_key *in,
		   struct uhca_cmd_reg_mr_reply *out)
{
	struct pd *pd;
	struct mr *mr;
	int err;

	if (!c->dev->cfg.limits.max_list_entries)
		return device_refuse(c->dev, -EOPNOTSUPP,
				     "the device's profile has no indirect memory keys");
	err = client_find_shared(c, &c->dev->pds, in->pd, &pd);
	if (!err && !list_allowed(&c->dev->cfg, in->max_entries))
		err = device_refuse(c->dev, -EINVAL,
				    "max_entries %u is not from 1 to max_list_entries, %u",
				    in->max_entries, c->dev->cfg.limits.max_list_entries);
	if (!err && !client_has_room(c, cost_of(in->max_entries)))
		err = mr_refuse_capacity(c, cost_of(in->max_entries));
	if (err)
		return err;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	mr->kind = MR_KIND_INDIRECT;
	mr->ind = indirect_new(in->max_entries);
	err = mr->ind ? mr_add(c, pd, mr) : -ENOMEM;
	if (err) {
		indirect_free(mr->ind);
		free(mr);
		return err;
	}
	out->handle = mr->obj.handle;
	out->lkey = mr->key;
	out->rkey = mr->key;
	return 0;
}

/* ---- checking a description ---- */

/* What is asked for, and what was found out about it so far. */
struct plan {
	struct mr *mr;
	const struct uhca_abi_layout *layout;
	uint32_t shape;
	uint32_t need; /* rights that each child must have */
	uint64_t length;
	unsigned depth;
};

static uint32_t feature_of(uint32_t shape)
{
	switch (shape) {
	case UHCA_ABI_SHAPE_PAGES:
		return UHCA_ABI_HAS_FAST_REG;
	case UHCA_ABI_SHAPE_BLOCKS:
		return UHCA_ABI_HAS_BLOCK_LIST;
	case UHCA_ABI_SHAPE_INTERLEAVED:
		return UHCA_ABI_HAS_INTERLEAVED;
	case UHCA_ABI_SHAPE_SG:
		return UHCA_ABI_HAS_SG;
	default:
		return 0;
	}
}

static struct device *device_of(const struct plan *p)
{
	return p->mr->obj.client->dev;
}

/* Index and key byte: the byte is the consumer's where the device has that (10.6.3.3). */
static bool key_allowed(const struct plan *p)
{
	uint32_t key = p->layout->key;

	if (key >> 8 != p->mr->obj.handle)
		return false;
	return key == p->mr->key || (device_of(p)->cfg.features & UHCA_ABI_HAS_KEY_BYTE);
}

static int check_access(const struct plan *p)
{
	uint32_t access = p->layout->access;

	if (access & ~(uint32_t)(INDIRECT_ACCESS | MR_ZERO_BASED | MR_OPTIONAL))
		return device_refuse(device_of(p), -EINVAL,
				     "access 0x%x has bits that an indirect key does not support",
				     access);
	if ((access & MR_ZERO_BASED) && p->layout->iova)
		return device_refuse(device_of(p), -EINVAL,
				     "access has ZERO_BASED, but iova is 0x%" PRIx64,
				     p->layout->iova);
	return mr_access_check(device_of(p), access);
}

/*
 * [addr, addr + length) of the child, for the rights of the description. Refuses itself: uses that
 * would make a ring are refused because a key in use is not described anew.
 */
static int check_child(struct plan *p, uint32_t lkey, uint64_t addr, uint64_t length)
{
	struct mr *child;
	unsigned depth;

	if (!length || length > device_of(p)->cfg.limits.max_mr_size ||
	    mr_check(p->mr->pd, lkey, addr, length, p->need, &child) != MR_OK || child == p->mr)
		return device_refuse(device_of(p), -EINVAL,
				     "0x%" PRIx64 " + %" PRIu64
				     " of lkey 0x%x is not memory with access 0x%x",
				     addr, length, lkey, p->need);
	depth = 1 + (child->kind == MR_KIND_INDIRECT ? child->ind->depth : 0u);
	if (depth > UHCA_ABI_MAX_DEPTH)
		return device_refuse(device_of(p), -EINVAL,
				     "%u levels of keys exceed the maximum, %u", depth,
				     UHCA_ABI_MAX_DEPTH);
	if (depth > p->depth)
		p->depth = depth;
	return 0;
}

static int too_long(const struct plan *p)
{
	return device_refuse(device_of(p), -EINVAL, "the layout is longer than max_mr_size");
}

static int add_length(struct plan *p, uint64_t length)
{
	uint64_t max = device_of(p)->cfg.limits.max_mr_size;

	if (length > max || p->length > max - length)
		return too_long(p);
	p->length += length;
	return 0;
}

/* Is the list as long as it says, and does it fit the key? */
static int check_size(const struct plan *p, size_t entry, uint32_t bytes)
{
	uint32_t n = p->layout->n;

	if (!n || bytes != n * entry)
		return device_refuse(device_of(p), -EINVAL,
				     "the list of %u entries has a wrong size, %u bytes", n, bytes);
	if (n > p->mr->ind->max_entries)
		return device_refuse(device_of(p), -E2BIG,
				     "%u entries exceed the key's max_entries, %u", n,
				     p->mr->ind->max_entries);
	return 0;
}

static int check_pages(struct plan *p, const uint64_t *page, uint32_t bytes)
{
	const struct uhca_abi_layout *l = p->layout;
	int err = check_size(p, sizeof(*page), bytes);
	uint64_t size, first;

	if (err)
		return err;
	if (l->n_dims || l->page_shift < UHCA_ABI_MIN_PAGE_SHIFT ||
	    l->page_shift > UHCA_ABI_MAX_PAGE_SHIFT)
		return device_refuse(device_of(p), -EINVAL, "page_shift %u is not from %u to %u",
				     l->page_shift, UHCA_ABI_MIN_PAGE_SHIFT,
				     UHCA_ABI_MAX_PAGE_SHIFT);
	size = 1ull << l->page_shift;
	first = l->iova & (size - 1);
	/* 11.2.8.4: the pages hold the region, and no page is without a part of it. */
	if (!l->length || l->length > (uint64_t)l->n * size - first ||
	    first + l->length <= (uint64_t)(l->n - 1) * size)
		return device_refuse(device_of(p), -EINVAL,
				     "length %" PRIu64 " does not fill %u pages of %" PRIu64,
				     l->length, l->n, size);
	for (uint32_t i = 0; i < l->n && !err; i++) {
		/* Only the bytes of the region must be there, not all of its last page. */
		uint64_t from = i ? 0 : first, left = first + l->length - i * size;
		if (page[i] & (size - 1))
			return device_refuse(device_of(p), -EINVAL,
					     "page %u, 0x%" PRIx64
					     ", is not a multiple of %" PRIu64,
					     i, page[i], size);
		err = check_child(p, l->lkey, page[i] + from, (left < size ? left : size) - from);
	}
	return err ? err : add_length(p, l->length);
}

static int check_blocks(struct plan *p, const struct uhca_abi_block *b, uint32_t bytes)
{
	const struct uhca_abi_layout *l = p->layout;
	int err = check_size(p, sizeof(*b), bytes);

	if (!err && (l->length || l->lkey || l->page_shift || l->n_dims))
		return -EINVAL; /* no library of ours */
	for (uint32_t i = 0; i < l->n && !err; i++) {
		err = b[i].reserved ? -EINVAL /* nor this */
				    : check_child(p, b[i].lkey, b[i].addr, b[i].length);
		if (!err)
			err = add_length(p, b[i].length);
	}
	return err;
}

/* The bytes that a piece touches, from the first to behind the last, lie in its child. */
static int check_piece(struct plan *p, const struct uhca_abi_piece *piece, const uint64_t *count)
{
	wide low = 0, high = 0;

	if (piece->reserved || piece->bytes > device_of(p)->cfg.limits.max_mr_size)
		return too_long(p);
	for (unsigned d = 0; d < UHCA_ABI_MAX_DIMS; d++) {
		wide reach = d < p->layout->n_dims ? (wide)piece->stride[d] * (count[d] - 1) : 0;
		if (d >= p->layout->n_dims && piece->stride[d])
			return -EINVAL; /* no library of ours */
		low += reach < 0 ? reach : 0;
		high += reach > 0 ? reach : 0;
	}
	low += piece->addr;
	high += (wide)piece->addr + piece->bytes;
	if (low < 0 || high - 1 > (wide)UINT64_MAX || high - low > (wide)INT64_MAX)
		return device_refuse(device_of(p), -EINVAL,
				     "the strides of lkey 0x%x exceed the address space",
				     piece->lkey);
	if (!piece->bytes)
		return device_refuse(device_of(p), -EINVAL, "a piece of lkey 0x%x has 0 bytes",
				     piece->lkey);
	return check_child(p, piece->lkey, (uint64_t)low, (uint64_t)(high - low));
}

/* Repeats of the round of all pieces; 0 when there are too many or none. */
static uint64_t repeats(const struct plan *p, const uint64_t *count)
{
	uint64_t max = device_of(p)->cfg.limits.max_mr_size, n = 1;

	for (unsigned d = 0; d < p->layout->n_dims; d++) {
		if (!count[d] || count[d] > max / n)
			return 0;
		n *= count[d];
	}
	return n;
}

static int check_interleaved(struct plan *p, const uint64_t *count, uint32_t bytes)
{
	const struct uhca_abi_layout *l = p->layout;
	const struct uhca_abi_piece *piece = (const void *)(count + l->n_dims);
	uint64_t round, n;
	int err = 0;

	if (l->length || l->lkey || l->page_shift)
		return -EINVAL; /* no library of ours */
	if (l->n_dims > UHCA_ABI_MAX_DIMS || !l->n)
		return device_refuse(device_of(p), -EINVAL,
				     "%u pieces in %u dimensions are not a valid layout", l->n,
				     l->n_dims);
	if (l->n > UHCA_ABI_MAX_PIECES)
		return device_refuse(device_of(p), -E2BIG, "%u pieces exceed the maximum, %u", l->n,
				     UHCA_ABI_MAX_PIECES);
	if (bytes != l->n_dims * sizeof(*count) + l->n * sizeof(*piece))
		return -EINVAL; /* no library of ours */
	n = repeats(p, count);
	if (!n)
		return device_refuse(device_of(p), -EINVAL,
				     "a count is 0, or the layout is longer than max_mr_size");
	for (uint32_t i = 0; i < l->n && !err; i++) {
		err = check_piece(p, &piece[i], count);
		if (!err)
			err = add_length(p, piece[i].bytes);
	}
	round = p->length;
	if (err || round > device_of(p)->cfg.limits.max_mr_size / n)
		return err ? err : too_long(p);
	p->length = round * n;
	return 0;
}

static int check_list(struct plan *p, const void *list, uint32_t bytes)
{
	switch (p->shape) {
	case UHCA_ABI_SHAPE_PAGES:
		return check_pages(p, list, bytes);
	case UHCA_ABI_SHAPE_BLOCKS:
	case UHCA_ABI_SHAPE_SG:
		return check_blocks(p, list, bytes);
	case UHCA_ABI_SHAPE_INTERLEAVED:
		return check_interleaved(p, list, bytes);
	default:
		return -EINVAL; /* no library of ours */
	}
}

static int check(struct plan *p, const void *list, uint32_t bytes)
{
	int err;

	if (!(device_of(p)->cfg.features & feature_of(p->shape)))
		return device_refuse(device_of(p), -EOPNOTSUPP,
				     "the device's profile has no indirect keys of this layout");
	if (p->mr->obj.refs)
		return device_refuse(device_of(p), -EBUSY,
				     "the key is in use by %u windows or indirect keys",
				     p->mr->obj.refs);
	err = key_allowed(p) ? check_access(p)
			     : device_refuse(device_of(p), -EINVAL,
					     "key 0x%x is not the region's key, 0x%x",
					     p->layout->key, p->mr->key);
	if (!err)
		err = check_list(p, list, bytes);
	if (!err && p->length - 1 > UINT64_MAX - p->layout->iova)
		err = mr_refuse_wrap(device_of(p), p->length, p->layout->iova);
	return err;
}

/* ---- taking it over ---- */

static struct mr *use_child(const struct mr *mr, uint32_t lkey)
{
	struct mr *child = table_find(&mr->obj.client->dev->mrs, lkey >> 8);

	child->obj.refs++;
	return child;
}

static void fill_pages(struct mr *mr, const struct uhca_abi_layout *l, const uint64_t *page)
{
	struct indirect *ind = mr->ind;

	ind->page_shift = l->page_shift;
	ind->first_offset = (uint32_t)(l->iova & ((1ull << l->page_shift) - 1));
	ind->base = use_child(mr, l->lkey);
	for (uint32_t i = 0; i < l->n; i++)
		ind->page[i] = page[i];
}

static void fill_blocks(struct mr *mr, const struct uhca_abi_layout *l,
			const struct uhca_abi_block *b)
{
	uint64_t start = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		mr->ind->block[i] = (struct indirect_block){
			.start = start, .addr = b[i].addr, .child = use_child(mr, b[i].lkey)};
		start += b[i].length;
	}
}

static void fill_interleaved(struct mr *mr, const struct uhca_abi_layout *l, const uint64_t *count)
{
	const struct uhca_abi_piece *piece = (const void *)(count + l->n_dims);
	struct indirect *ind = mr->ind;
	uint64_t start = 0;

	ind->n_dims = l->n_dims;
	for (unsigned d = 0; d < l->n_dims; d++)
		ind->count[d] = count[d];
	for (uint32_t i = 0; i < l->n; i++) {
		struct indirect_piece *to = &ind->piece[i];
		to->start = start;
		to->bytes = piece[i].bytes;
		to->addr = piece[i].addr;
		to->child = use_child(mr, piece[i].lkey);
		for (unsigned d = 0; d < UHCA_ABI_MAX_DIMS; d++)
			to->stride[d] = piece[i].stride[d];
		start += piece[i].bytes;
	}
	ind->round = start;
}

static void take_over(const struct plan *p, const void *list)
{
	const struct uhca_abi_layout *l = p->layout;
	struct mr *mr = p->mr;

	indirect_invalidate(mr);
	switch (p->shape) {
	case UHCA_ABI_SHAPE_PAGES:
		fill_pages(mr, l, list);
		break;
	case UHCA_ABI_SHAPE_INTERLEAVED:
		fill_interleaved(mr, l, list);
		break;
	default:
		fill_blocks(mr, l, list);
		break;
	}
	mr->ind->shape = (uint8_t)p->shape;
	mr->ind->depth = (uint8_t)p->depth;
	mr->ind->n = l->n;
	mr->key = l->key;
	mr->access = l->access;
	mr->iova = l->iova;
	mr->pages.length = p->length;
}

int indirect_describe(struct mr *mr, uint32_t shape, const struct uhca_abi_layout *layout,
		      const void *list, uint32_t bytes)
{
	struct plan p = {.mr = mr,
			 .layout = layout,
			 .shape = shape,
			 .need = layout->access & INDIRECT_ACCESS};
	int err = check(&p, list, bytes);

	if (!err)
		take_over(&p, list);
	return err;
}

int core_describe_key(struct client *c, const struct uhca_cmd_describe_key *in)
{
	struct mr *mr;

	if (mr_find(c, in->layout.key >> 8, &mr))
		return device_refuse(c->dev, -EINVAL, "key 0x%x is not a region", in->layout.key);
	/* Fast registrations belong to the queue. */
	if (mr->kind != MR_KIND_INDIRECT || in->bytes > sizeof(in->list) ||
	    (in->shape != UHCA_ABI_SHAPE_INTERLEAVED && in->shape != UHCA_ABI_SHAPE_SG))
		return device_refuse(c->dev, -EINVAL,
				     "key 0x%x is not an indirect key, or not of this layout",
				     in->layout.key);
	return indirect_describe(mr, in->shape, &in->layout, in->list, in->bytes);
}

/* ---- taking it away ---- */

/* Entry i's child, NULL behind the last. */
static struct mr *child_of(const struct indirect *ind, uint32_t i)
{
	switch (ind->shape) {
	case UHCA_ABI_SHAPE_PAGES:
		return i ? NULL : ind->base;
	case UHCA_ABI_SHAPE_BLOCKS:
	case UHCA_ABI_SHAPE_SG:
		return i < ind->n ? ind->block[i].child : NULL;
	case UHCA_ABI_SHAPE_INTERLEAVED:
		return i < ind->n ? ind->piece[i].child : NULL;
	default:
		return NULL;
	}
}

void indirect_invalidate(struct mr *mr)
{
	struct mr *child;

	make_visible(mr->obj.client->dev, BEFORE_KEY_CHANGE, NULL);
	for (uint32_t i = 0; (child = child_of(mr->ind, i)); i++)
		child->obj.refs--;
	mr->ind->shape = 0;
	mr->ind->depth = 0;
	mr->ind->n = 0;
	mr->pages.length = 0;
}

static uint32_t close_key(struct object *o, const struct client *c)
{
	struct mr *mr = (struct mr *)(void *)o;

	if (!o || o->client != c || o->kind != KEY_MR || mr->kind != MR_KIND_INDIRECT)
		return 1;
	indirect_invalidate(mr);
	return CORE_STEPS_PER_OBJECT;
}

bool keys_close(struct client *c, uint32_t *steps)
{
	const struct table *mrs = &c->dev->mrs;

	for (; c->end.slot < mrs->size; c->end.slot++) {
		if (*steps == 0)
			return false;
		steps_take(steps, close_key(table_at(mrs, c->end.slot), c));
	}
	return true;
}

static bool names(const struct mr *mr, const struct mr *child)
{
	struct mr *other;

	for (uint32_t i = 0; (other = child_of(mr->ind, i)); i++)
		if (other == child)
			return true;
	return false;
}

/* The depth of descriptions bounds the recursion. */
void indirect_orphan(struct mr *child) /* NOLINT(misc-no-recursion) */
{
	uint32_t cursor = 0;

	for (struct mr *mr; (mr = table_next(&child->obj.client->dev->mrs, &cursor));) {
		if (mr->obj.kind != KEY_MR || mr->kind != MR_KIND_INDIRECT || !names(mr, child))
			continue;
		if (mr->obj.refs) {
			mw_unbind_all(mr);
			indirect_orphan(mr);
		}
		indirect_invalidate(mr);
	}
}

/* ---- walking ---- */

static struct mr *step_pages(const struct mr *mr, uint64_t offset, uint64_t *at, uint64_t *part)
{
	const struct indirect *ind = mr->ind;
	uint64_t size = 1ull << ind->page_shift, position = ind->first_offset + offset;

	*at = ind->page[position >> ind->page_shift] + (position & (size - 1));
	*part = size - (position & (size - 1));
	return ind->base;
}

/* The last block that begins at or before the offset. */
static struct mr *step_blocks(const struct mr *mr, uint64_t offset, uint64_t *at, uint64_t *part)
{
	const struct indirect *ind = mr->ind;
	uint32_t low = 0, high = ind->n;
	uint64_t end;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (ind->block[middle].start <= offset)
			low = middle;
		else
			high = middle;
	}
	end = low + 1 < ind->n ? ind->block[low + 1].start : mr->pages.length;
	*at = ind->block[low].addr + (offset - ind->block[low].start);
	*part = end - offset;
	return ind->block[low].child;
}

/* A dimension whose stride is the piece itself, with no other piece between, is one long piece. */
static uint64_t elements_joined(const struct indirect *ind, uint64_t index)
{
	unsigned last = ind->n_dims - 1u;

	if (ind->n != 1 || !ind->n_dims || ind->piece->stride[last] != (int64_t)ind->piece->bytes)
		return 1;
	return ind->count[last] - index;
}

static struct mr *step_interleaved(const struct mr *mr, uint64_t offset, uint64_t *at,
				   uint64_t *part)
{
	const struct indirect *ind = mr->ind;
	const struct indirect_piece *piece = &ind->piece[ind->n - 1];
	uint64_t repeat = offset / ind->round, in = offset % ind->round, last = 0;

	while (piece->start > in)
		piece--;
	in -= piece->start;
	*at = piece->addr + in;
	for (unsigned d = ind->n_dims; d-- > 0;) {
		uint64_t index = d ? repeat % ind->count[d] : repeat;
		if (d == ind->n_dims - 1u)
			last = index;
		*at += index *
		       (uint64_t)piece->stride[d]; /* modulo 2^64: the sum is in the child */
		repeat = d ? repeat / ind->count[d] : 0;
	}
	*part = elements_joined(ind, last) * piece->bytes - in;
	return piece->child;
}

struct mr *indirect_step(const struct mr *mr, uint64_t addr, uint64_t length, uint64_t *child_addr,
			 uint64_t *part)
{
	uint64_t offset = addr - mr->iova;
	struct mr *child;

	switch (mr->ind->shape) {
	case UHCA_ABI_SHAPE_PAGES:
		child = step_pages(mr, offset, child_addr, part);
		break;
	case UHCA_ABI_SHAPE_INTERLEAVED:
		child = step_interleaved(mr, offset, child_addr, part);
		break;
	default:
		child = step_blocks(mr, offset, child_addr, part);
		break;
	}
	if (*part > length)
		*part = length;
	return child;
}

struct mr *indirect_leaf(struct mr *mr, uint64_t *addr, uint64_t *length)
{
	while (mr->kind == MR_KIND_INDIRECT)
		mr = indirect_step(mr, *addr, *length, addr, length);
	return mr;
}

bool indirect_is_atomic(struct mr *mr, uint64_t addr, uint32_t bytes)
{
	uint64_t length = bytes, at = addr;
	const struct mr *leaf;

	if (mr->kind != MR_KIND_INDIRECT)
		return true; /* its own addresses were looked at (9.4.5) */
	leaf = indirect_leaf(mr, &at, &length);
	return length == bytes && (leaf->addr + (at - leaf->iova)) % bytes == 0;
}
