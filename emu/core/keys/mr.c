/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory regions: registration with its access rules (IBTA vol. 1, 10.6;
 * ibv_reg_mr(3)) and the check of every access. Whether the range is mapped and
 * writable in the client is probed by the shell, which has the client's memory; the core knows
 * only what was registered.
 */
#include "mr.h"
#include "emu/core/memory/memory.h"
#include "key_cause.h"
#include "key_reuse.h"
#include "mw.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define ACCESS_SUPPORTED                                                                           \
	(MR_LOCAL_WRITE | MR_REMOTE_WRITE | MR_REMOTE_READ | MR_REMOTE_ATOMIC | MR_MW_BIND |       \
	 MR_HUGETLB | MR_OPTIONAL)

static uint32_t access_here(const struct device *dev)
{
	uint32_t access = ACCESS_SUPPORTED;
	if (dev->cfg.features & UHCA_ABI_HAS_ZERO_BASED)
		access |= MR_ZERO_BASED;
	if (dev->cfg.features & UHCA_ABI_HAS_ODP)
		access |= MR_ON_DEMAND;
	if (dev->cfg.features & UHCA_ABI_HAS_FLUSH)
		access |= MR_FLUSH;
	return access;
}

int mr_access_check(struct device *dev, uint32_t access)
{
	uint32_t known = ACCESS_SUPPORTED | MR_ZERO_BASED | MR_ON_DEMAND | MR_FLUSH;
	if (access & ~known)
		return device_refuse(dev, -EINVAL, "access 0x%x has unknown bits: 0x%x", access,
				     access & ~known);
	if (access & ~access_here(dev))
		return device_refuse(dev, -EOPNOTSUPP,
				     "access 0x%x: the device's profile does not support 0x%x",
				     access, access & ~access_here(dev));
	/* Who may change it from afar must be able to change it from here (ibv_reg_mr(3)). */
	if ((access & (MR_REMOTE_WRITE | MR_REMOTE_ATOMIC)) && !(access & MR_LOCAL_WRITE))
		return device_refuse(dev, -EINVAL,
				     "access 0x%x: REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE",
				     access);
	return 0;
}

int mr_refuse_wrap(struct device *dev, uint64_t length, uint64_t from)
{
	return device_refuse(dev, -EINVAL,
			     "length %" PRIu64 " from 0x%" PRIx64 " exceeds the address space",
			     length, from);
}

int mr_refuse_capacity(const struct client *c, uint64_t bytes)
{
	return device_refuse(c->dev, -ENOMEM,
			     "it takes %" PRIu64 " bytes of the daemon, and %" PRIu64
			     " of limit client_memory, %" PRIu64 ", are taken",
			     bytes, c->memory, c->dev->cfg.limits.client_memory);
}

/*
 * Pages of 4 KiB as long as their array stays small, then the next sizes of x86 and arm64: like
 * hardware, which takes the largest page that memory is contiguous in. 16384 entries at most, and
 * one where the range begins in mid-page.
 */
static uint32_t choose_page_shift(uint64_t length)
{
	if (length <= 1ull << 26)
		return 12;
	if (length <= 1ull << 35)
		return 21;
	return length <= 1ull << 44 ? 30 : 39;
}

int mr_make_pages(const struct client *c, uint64_t addr, uint64_t length, struct page_array *out)
{
	uint32_t page_shift = choose_page_shift(length);
	uint64_t cost = page_array_cost(addr, length, page_shift);
	if (device_check_limit(c->dev, "length", length, "max_mr_size",
			       c->dev->cfg.limits.max_mr_size))
		return -EINVAL; /* as was said */
	if (length && length - 1 > UINT64_MAX - addr)
		return mr_refuse_wrap(c->dev, length, addr);
	if (!client_has_room(c, cost))
		return mr_refuse_capacity(c, cost);
	return page_array_construct(out, addr, length, page_shift);
}

static uint64_t memory_of(const struct mr *mr)
{
	return page_array_bytes(&mr->pages) + indirect_bytes(mr->ind) + extents_cost(mr->pinned);
}

void mr_charge(const struct mr *mr)
{
	mr->obj.client->memory += memory_of(mr);
}

void mr_refund(const struct mr *mr)
{
	mr->obj.client->memory -= memory_of(mr);
}

void mr_new_key(struct mr *mr)
{
	struct device *dev = mr->pd->obj.client->dev;
	uint8_t key_byte;
	dev->ops->random(dev->user, &key_byte, sizeof(key_byte));
	if (mr->key == (mr->obj.handle << 8 | key_byte))
		key_byte++;
	mr->key = mr->obj.handle << 8 | key_byte;
	mr->revoked = false;
}

int mr_add(struct client *c, struct pd *pd, struct mr *mr)
{
	struct device *dev = c->dev;
	int err;
	if (dev->mrs.used - dev->n_mw >= dev->cfg.limits.max_mr)
		return device_refuse(dev, -ENOMEM, "the device already has max_mr, %u, regions",
				     dev->cfg.limits.max_mr);
	err = key_give(dev, &mr->obj, &mr->key);
	if (err)
		return err;
	mr->obj.client = c;
	mr->pd = pd;
	pd->obj.refs++;
	if (dev->key_split && mr->kind != MR_KIND_INDIRECT)
		mr->split = (uint8_t)(~mr->key | 1);
	mr_charge(mr);
	return 0;
}

/*
 * An implicit region is asked for by its range: all of the address space, on demand
 * (ibv_reg_mr(3)); what is mapped there may change as the program likes.
 */
static bool is_implicit(const struct uhca_cmd_reg_mr *in)
{
	return (in->access & MR_ON_DEMAND) && in->addr == 0 && in->length == UINT64_MAX;
}

static int set_range(const struct client *c, struct mr *mr, const struct uhca_cmd_reg_mr *in)
{
	mr->iova = in->access & MR_ZERO_BASED ? 0 : in->iova;
	mr->addr = in->addr;
	if (is_implicit(in)) {
		mr->kind = MR_KIND_IMPLICIT;
		mr->pages.length = UINT64_MAX;
		if (mr->iova)
			return device_refuse(
				c->dev, -EINVAL,
				"an implicit ODP region begins at iova 0, not 0x%" PRIx64,
				mr->iova);
		return 0;
	}
	if (in->length && in->length - 1 > UINT64_MAX - mr->iova)
		return mr_refuse_wrap(c->dev, in->length, mr->iova);
	return mr_make_pages(c, in->addr, in->length, &mr->pages);
}

static int mr_create(struct client *c, struct pd *pd, const struct uhca_cmd_reg_mr *in,
		     struct mr **out)
{
	struct mr *mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	mr->kind = MR_KIND_MEMORY;
	mr->access = in->access;
	mr->borrowed = in->borrowed;
	mr->hint = in->hint;
	int err = set_range(c, mr, in);
	if (err)
		goto free_mr;
	err = mr_add(c, pd, mr);
	if (err)
		goto free_pages;
	*out = mr;
	return 0;

free_pages:
	page_array_destruct(&mr->pages);
free_mr:
	free(mr);
	return err;
}

int mr_register(struct client *c, const struct uhca_cmd_reg_mr *in,
		struct uhca_cmd_reg_mr_reply *out, struct mr **made)
{
	struct pd *pd;
	struct mr *mr;
	int err = client_find_shared(c, &c->dev->pds, in->pd, &pd);
	if (!err)
		err = mr_access_check(c->dev, in->access);
	if (!err)
		err = mr_create(c, pd, in, &mr);
	if (err)
		return err;
	mr_reply(mr, out);
	*made = mr;
	return 0;
}

int core_reg_mr(struct client *c, const struct uhca_cmd_reg_mr *in,
		struct uhca_cmd_reg_mr_reply *out)
{
	struct mr *mr;
	return mr_register(c, in, out, &mr);
}

void mr_destroy(struct mr *mr)
{
	if (mr->obj.refs) {
		mw_unbind_all(mr);
		indirect_orphan(mr);
	}
	make_visible(mr->obj.client->dev, BEFORE_REGION_END, NULL);
	mr_refund(mr);
	if (mr->ind)
		indirect_invalidate(mr);
	indirect_free(mr->ind);
	key_remember(mr);
	key_take_back(mr->obj.client->dev, &mr->obj, mr->key);
	mr->pd->obj.refs--;
	if (mr->dm)
		dm_put(mr->dm);
	mr_forget_extents(mr);
	page_array_destruct(&mr->pages);
	free(mr);
}

void mr_lose(struct mr *mr)
{
	uint64_t length = mr->pages.length;
	make_visible(mr->obj.client->dev, BEFORE_REGION_END, NULL);
	mr_refund(mr);
	mr_forget_extents(mr);
	page_array_destruct(&mr->pages);
	mr->pages.length = length;
	mr->kind = MR_KIND_LOST;
	mr_charge(mr);
}

int mr_find(struct client *c, uint32_t handle, struct mr **out)
{
	struct mr *mr;
	int err = client_find_shared(c, &c->dev->mrs, handle, &mr);
	if (err)
		return err;
	if (mr->obj.kind != KEY_MR)
		return device_refuse(c->dev, -EINVAL, "handle 0x%x is a window, not a region",
				     handle);
	*out = mr;
	return 0;
}

int core_dereg_mr(struct client *c, uint32_t handle)
{
	struct mr *mr;
	int err = mr_find(c, handle, &mr);
	if (err)
		return err;
	if (mr->obj.refs)
		return device_refuse(c->dev, -EBUSY,
				     "the region is in use by %u windows or indirect keys",
				     mr->obj.refs);
	mr_destroy(mr);
	return 0;
}

static bool in_range(const struct mr *mr, uint64_t addr, uint64_t length)
{
	if (length == 0)
		return true;
	if (addr < mr->iova || length > mr->pages.length)
		return false;
	return addr - mr->iova <= mr->pages.length - length;
}

enum mr_verdict mr_check(const struct pd *pd, uint32_t key, uint64_t addr, uint64_t length,
			 uint32_t need, struct mr **out)
{
	struct mr *mr = table_find(&pd->obj.client->dev->mrs, key >> 8);
	if (!mr || mr->obj.kind != KEY_MR || mr->key != key || mr->revoked ||
	    (mr->ind && !mr->ind->shape))
		return MR_BAD_KEY;
	if (mr->pd != pd)
		return MR_BAD_PD;
	if ((mr->access & need) != need)
		return MR_BAD_ACCESS;
	if (!in_range(mr, addr, length) || (mr->kind == MR_KIND_LOST && length))
		return MR_BAD_RANGE;
	*out = mr;
	return MR_OK;
}

unsigned mr_spans(const struct mr *mr, uint64_t addr, uint32_t length, struct core_span *out,
		  unsigned max, uint32_t *walked)
{
	if (mr->pinned)
		return extents_walk(mr->pinned, addr - mr->iova, length, out, max, walked);
	if (mr->kind == MR_KIND_MEMORY)
		return page_array_walk(&mr->pages, addr - mr->iova, length, out, max, walked);
	out->addr = mr->addr + (addr - mr->iova);
	out->length = length;
	out->space = mr->kind == MR_KIND_DEVICE ? CORE_SPACE_DEVICE : CORE_SPACE_CLIENT;
	*walked = length;
	return 1;
}

/* What an indirect memory key is made of; its way to memory is in walk.h. */
static void describe_description(const struct indirect *ind, struct facts *f)
{
	facts_text(f, "shape", indirect_shape_name(ind->shape));
	facts_number(f, "entries", ind->n);
	facts_number(f, "max_entries", ind->max_entries);
	facts_number(f, "depth", ind->depth);
}

static void describe_pages(const struct page_array *pa, struct facts *f)
{
	facts_text(f, "shape", pa->leaf ? "two-level" : "flat");
	facts_number(f, "page_size", 1ull << pa->page_shift);
	facts_number(f, "first_offset", pa->first_offset);
	facts_number(f, "pages", pa->n_pages);
	if (pa->n_pages == 0)
		return;
	facts_hex(f, "first_page", page_array_entry(pa, 0));
	facts_hex(f, "last_page", page_array_entry(pa, pa->n_pages - 1));
}

/* What the program has said of how the memory is used: nothing here does anything with it. */
static void describe_hint(uint32_t hint, struct facts *f)
{
	if (hint & UHCA_ABI_HINT_CPU)
		facts_number(f, "dmah_cpu", hint & UHCA_ABI_HINT_CPU_MASK);
	if (hint & UHCA_ABI_HINT_PH)
		facts_number(f, "dmah_ph", hint >> UHCA_ABI_HINT_PH_SHIFT & 3);
	if (hint & (UHCA_ABI_HINT_VOLATILE | UHCA_ABI_HINT_PERSISTENT))
		facts_text(f, "dmah_memory",
			   hint & UHCA_ABI_HINT_PERSISTENT ? "persistent" : "volatile");
}

/* The walk from key to memory: index and key byte, page size, first offset, entries. */
static void describe_mr(const void *object, struct facts *f)
{
	const struct mr *mr = object;
	static const char *const behind[] = {
		[MR_KIND_MEMORY] = "memory", [MR_KIND_IMPLICIT] = "implicit",
		[MR_KIND_DEVICE] = "device", [MR_KIND_NULL] = "null",
		[MR_KIND_LOST] = "lost",     [MR_KIND_INDIRECT] = "indirect",
	};
	facts_hex(f, "lkey", mr->key);
	facts_hex(f, "rkey", mr->kind == MR_KIND_NULL ? 0 : mr_rkey(mr));
	facts_text(f, "kind", behind[mr->kind]);
	facts_hex(f, "key_byte", mr->key & 0xff);
	facts_hex(f, "iova", mr->iova);
	facts_number(f, "length", mr->pages.length);
	facts_hex(f, "access", mr->access);
	facts_number(f, "pd", mr->pd->obj.handle);
	facts_number(f, "users", mr->obj.refs);
	if (mr->kind == MR_KIND_INDIRECT)
		describe_description(mr->ind, f);
	else
		describe_pages(&mr->pages, f);
	if (mr->kind == MR_KIND_MEMORY)
		mr_describe_pinning(mr, f);
	describe_hint(mr->hint, f);
}

static void destroy_mr(void *object)
{
	mr_destroy(object);
}

static uint32_t count_regions(const struct device *dev)
{
	return dev->mrs.used - dev->n_mw;
}

const struct object_type object_mr = {
	.type = CORE_OBJECT_MR,
	.name = "mr",
	.table = offsetof(struct device, mrs),
	.count = count_regions,
	.shared = true,
	.destroy = destroy_mr,
	.describe = describe_mr,
};
