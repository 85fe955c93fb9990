/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory windows: their life, the rules of binding, and what a window's key opens. Binding is a
 * work request: local_op.c calls it in queue order.
 */
#include "mw.h"

#include "key_reuse.h"

#include <errno.h>
#include <stdlib.h>

enum { TYPE_1 = 1, TYPE_2 = 2 };

#define STORES  (MR_REMOTE_WRITE | MR_REMOTE_ATOMIC)
#define RIGHTS  (STORES | MR_REMOTE_READ | MR_ZERO_BASED | MR_FLUSH)
/* Flags of regions that mean nothing for a window and harm none. */
#define IGNORED (MR_LOCAL_WRITE | MR_MW_BIND | MR_OPTIONAL)

static int check_type(struct device *dev, uint32_t type)
{
	const uint32_t need = type == TYPE_1 ? UHCA_ABI_HAS_MW_TYPE_1
					     : UHCA_ABI_HAS_MW_TYPE_2A | UHCA_ABI_HAS_MW_TYPE_2B;

	if (type != TYPE_1 && type != TYPE_2)
		return device_refuse(dev, -EINVAL, "type %u is not a window type", type);
	if (dev->cfg.features & need)
		return 0;
	return device_refuse(dev, -EOPNOTSUPP,
			     "the device's profile has no memory windows of type %u", type);
}

static int mw_create(struct client *c, struct pd *pd, uint32_t type, struct mw **out)
{
	struct device *dev = c->dev;
	struct mw *mw;
	int err;

	if (dev->n_mw >= dev->cfg.limits.max_mw)
		return device_refuse(dev, -ENOMEM, "the device already has max_mw, %u, windows",
				     dev->cfg.limits.max_mw);
	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return -ENOMEM;
	mw->obj.client = c;
	mw->obj.kind = KEY_MW;
	mw->pd = pd;
	mw->type = (uint8_t)type;
	mw->by_qpn = type == TYPE_2 && (dev->cfg.features & UHCA_ABI_HAS_MW_TYPE_2A);
	err = key_give(dev, &mw->obj, &mw->key);
	if (err) {
		free(mw);
		return err;
	}
	pd->obj.refs++;
	dev->n_mw++;
	*out = mw;
	return 0;
}

int core_alloc_mw(struct client *c, const struct uhca_cmd_alloc_mw *in,
		  struct uhca_cmd_alloc_mw_reply *out)
{
	struct pd *pd;
	struct mw *mw;
	int err = check_type(c->dev, in->type);

	if (!err)
		err = client_find_shared(c, &c->dev->pds, in->pd, &pd);
	if (!err)
		err = mw_create(c, pd, in->type, &mw);
	if (err)
		return err;
	out->handle = mw->obj.handle;
	out->rkey = mw->key;
	return 0;
}

static void mw_destroy(void *object)
{
	struct mw *mw = object;
	struct device *dev = mw->obj.client->dev;

	mw_unbind(mw);
	key_take_back(dev, &mw->obj, mw->key);
	mw->pd->obj.refs--;
	dev->n_mw--;
	free(mw);
}

int core_dealloc_mw(struct client *c, uint32_t handle)
{
	struct mw *mw;
	int err = client_find(c, &c->dev->mrs, handle, &mw);

	if (err)
		return err;
	if (mw->obj.kind != KEY_MW)
		return device_refuse(c->dev, -EINVAL, "handle 0x%x is a region, not a window",
				     handle);
	mw_destroy(mw); /* bound or not: whoever uses the key is refused from now on */
	return 0;
}

/* The QP whose number alone opens the window is used by it, or (-1) not any more. */
static void count_use(const struct mw *mw, int by)
{
	struct object *qp = table_find(&mw->obj.client->dev->qpns, mw->qpn);

	if (mw->by_qpn && qp)
		qp->refs += (uint32_t)by;
}

void mw_unbind(struct mw *mw)
{
	if (!mw->mr)
		return;
	make_visible(mw->mr->obj.client->dev, BEFORE_KEY_CHANGE, NULL);
	mw->mr->obj.refs--;
	mw->mr = NULL;
	count_use(mw, -1);
}

void mw_unbind_all(struct mr *mr)
{
	uint32_t cursor = 0;

	for (struct object *o; (o = table_next(&mr->obj.client->dev->mrs, &cursor));)
		if (o->kind == KEY_MW && ((struct mw *)(void *)o)->mr == mr)
			mw_unbind((struct mw *)(void *)o);
}

bool mw_bound_to(const struct mw *mw, struct key_user user)
{
	return mw->mr && mw->qpn == user.qpn && (mw->by_qpn || mw->pd == user.pd);
}

/* ---- binding ---- */

/*
 * The window's index, which is the device's, and the byte that is the consumer's (10.6.7.2.1): what
 * a request has above it means nothing.
 */
static uint32_t new_key(const struct mw *mw, const struct uhca_abi_send_wqe *wqe)
{
	return mw->obj.handle << 8 | (wqe->bind.new_rkey & 0xff);
}

/* C10-73 to C10-75: what the region must allow, and that the window lies inside it. */
static bool region_allows(const struct pd *pd, const struct uhca_abi_send_wqe *wqe, uint32_t access,
			  struct mr **mr)
{
	/* A right to flush is the region's to give (annex A19). */
	uint32_t need = MR_MW_BIND | (access & STORES ? MR_LOCAL_WRITE : 0) | (access & MR_FLUSH);

	if (mr_check(pd, wqe->bind.mr_lkey, wqe->bind.addr, wqe->bind.length, need, mr) != MR_OK)
		return false;
	/* Windows are for registered memory (10.6.7); a layout has packed addresses of its own. */
	return (*mr)->kind != MR_KIND_INDIRECT || (*mr)->ind->shape == UHCA_ABI_SHAPE_PAGES ||
	       (*mr)->ind->shape == UHCA_ABI_SHAPE_BLOCKS;
}

static bool may_bind(const struct pd *pd, const struct mw *mw, const struct uhca_abi_send_wqe *wqe)
{
	/* C10-72: window and queue belong to one protection domain. */
	if (mw->pd != pd || (wqe->bind.access & ~(uint32_t)(RIGHTS | IGNORED)))
		return false;
	/* Each bind of type 1 has another key; zero based windows are of type 2 (10.6.7.2). */
	if (mw->type == TYPE_1)
		return new_key(mw, wqe) != mw->key && !(wqe->bind.access & MR_ZERO_BASED);
	/* Bound once, and never to nothing. */
	return !mw->mr && wqe->bind.length > 0;
}

static void attach(uint32_t qpn, struct mw *mw, struct mr *mr, const struct uhca_abi_send_wqe *wqe)
{
	mw->mr = mr;
	mr->obj.refs++;
	mw->addr = wqe->bind.addr;
	mw->length = wqe->bind.length;
	mw->access = wqe->bind.access & RIGHTS;
	mw->qpn = qpn;
	count_use(mw, 1);
}

bool mw_bind(struct key_user user, const struct uhca_abi_send_wqe *wqe)
{
	/* The key byte of the present key is not asked for: the consumer keeps it. */
	struct mw *mw = table_find(&user.dev->mrs, wqe->bind.mw_rkey >> 8);
	struct mr *mr = NULL;

	if (!mw || mw->obj.kind != KEY_MW || !may_bind(user.pd, mw, wqe))
		return false;
	if (wqe->bind.length && !region_allows(user.pd, wqe, wqe->bind.access, &mr))
		return false;
	if ((wqe->bind.access & MR_ZERO_BASED) &&
	    !(user.dev->cfg.features & UHCA_ABI_HAS_ZERO_BASED))
		return false;
	mw_unbind(mw);
	mw->key = new_key(mw, wqe);
	if (mr)
		attach(user.qpn, mw, mr, wqe);
	return true;
}

/* ---- use ---- */

static enum mr_verdict window_check(const struct key_user *u, const struct mw *mw, uint64_t *addr,
				    uint64_t length, uint32_t need)
{
	uint64_t base = mw->access & MR_ZERO_BASED ? 0 : mw->addr;

	if (!mw->mr || (mw->type == TYPE_2 && mw->qpn != u->qpn))
		return MR_BAD_KEY;
	if (mw->pd != u->pd && !mw->by_qpn)
		return MR_BAD_PD;
	if ((mw->access & need) != need)
		return MR_BAD_ACCESS;
	if (length && (*addr < base || length > mw->length || *addr - base > mw->length - length))
		return MR_BAD_RANGE;
	*addr = *addr - base + mw->addr;
	return MR_OK;
}

enum mr_verdict remote_check(struct key_user user, uint32_t key, uint64_t *addr, uint64_t length,
			     uint32_t need, struct mr **mr)
{
	const struct object *o = table_find(&user.dev->mrs, key >> 8);
	const struct mw *mw = (const void *)o;
	enum mr_verdict v;

	if (!o)
		return MR_BAD_KEY;
	if (o->kind != KEY_MW)
		return mr_check(user.pd, key ^ ((const struct mr *)(const void *)o)->split, *addr,
				length, need, mr);
	if (mw->key != key)
		return MR_BAD_KEY;
	v = window_check(&user, mw, addr, length, need);
	if (v == MR_OK)
		*mr = mw->mr;
	return v;
}

static void describe_mw(const void *object, struct facts *f)
{
	const struct mw *mw = object;
	facts_hex(f, "rkey", mw->key);
	facts_text(f, "type", mw->type == 1 ? "1" : mw->by_qpn ? "2A" : "2B");
	facts_text(f, "state", mw->mr ? "bound" : "unbound");
	facts_number(f, "pd", mw->pd->obj.handle);
	if (!mw->mr)
		return;
	facts_hex(f, "region", mw->mr->key);
	facts_hex(f, "addr", mw->addr);
	facts_number(f, "length", mw->length);
	facts_hex(f, "access", mw->access);
	facts_hex(f, "qpn", mw->qpn);
}

static uint32_t count_windows(const struct device *dev)
{
	return dev->n_mw;
}

const struct object_type object_mw = {
	.type = CORE_OBJECT_MW,
	.name = "mw",
	.table = offsetof(struct device, mrs),
	.kind = KEY_MW,
	.count = count_windows,
	.destroy = mw_destroy,
	.describe = describe_mw,
};

uint32_t core_key_of(const struct client *c, uint32_t handle)
{
	const struct object *o = table_find(&c->dev->mrs, handle);

	if (!o || o->client != c)
		return 0;
	return o->kind == KEY_MW ? ((const struct mw *)(const void *)o)->key
				 : ((const struct mr *)(const void *)o)->key;
}
