/* SPDX-License-Identifier: BSD-2-Clause */
#include "invalidate.h"

#include "mw.h"
#include "qp.h"

bool invalidate_key(struct qp *qp, uint32_t key)
{
	struct object *o = table_find(&qp->dev->mrs, key >> 8);
	struct mw *mw = (void *)o;

	/* An ordinary region is taken away by deregistration only. */
	if (!o || o->kind != KEY_MW)
		return false;
	/* A window of type 1 is unbound by a bind of length zero. */
	if (mw->key != key || mw->type == 1 || !mw_bound_to(mw, qp))
		return false;
	mw_unbind(mw);
	return true;
}
