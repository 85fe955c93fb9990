/* SPDX-License-Identifier: BSD-2-Clause */
#include "invalidate.h"

#include "mw.h"
#include "qp.h"

bool invalidate_allowed(const struct qp *qp, uint32_t key)
{
	const struct object *o = table_find(&qp->dev->mrs, key >> 8);
	const struct mw *mw = (const void *)o;

	/* An ordinary region is taken away by deregistration only. */
	if (!o || o->kind != KEY_MW)
		return false;
	/* A window of type 1 is unbound by a bind of length zero. */
	return mw->key == key && mw->type != 1 && mw_bound_to(mw, qp);
}

bool invalidate_key(struct qp *qp, uint32_t key)
{
	if (!invalidate_allowed(qp, key))
		return false;
	mw_unbind(table_find(&qp->dev->mrs, key >> 8));
	return true;
}
