/* SPDX-License-Identifier: BSD-2-Clause */
/* Invalidates keys: LOCAL_INV, SEND with Invalidate, READ with Invalidate. */
#include "invalidate.h"

#include "mw.h"

/* A region of core_alloc_key, described, and not in use by windows or descriptions (10.6.7.2.6). */
static bool region_allowed(struct key_user user, const struct mr *mr, uint32_t key)
{
	return mr->kind == MR_KIND_INDIRECT && mr->ind->shape && mr->key == key &&
	       mr->pd == user.pd && !mr->obj.refs;
}

/* A window of type 1 is unbound by a bind of length zero. */
static bool window_allowed(struct key_user user, const struct mw *mw, uint32_t key)
{
	return mw->key == key && mw->type != 1 && mw_bound_to(mw, user);
}

bool invalidate_allowed(struct key_user user, uint32_t key)
{
	const struct object *o = table_find(&user.dev->mrs, key >> 8);

	if (!o)
		return false;
	return o->kind == KEY_MW ? window_allowed(user, (const void *)o, key)
				 : region_allowed(user, (const void *)o, key);
}

bool invalidate_key(struct key_user user, uint32_t key)
{
	struct object *o = table_find(&user.dev->mrs, key >> 8);

	if (!invalidate_allowed(user, key))
		return false;
	if (o->kind == KEY_MW)
		mw_unbind((void *)o);
	else
		indirect_invalidate((void *)o);
	return true;
}
