/* SPDX-License-Identifier: BSD-2-Clause */
/* Calls the engines (requester, responder, ...) when a QP begins, changes or ends. */
#include "engine.h"

int engines_construct(struct qp *qp)
{
	for (const struct qp_engine *const *e = qp->dev->engines; *e; e++) {
		int err = (*e)->construct ? (*e)->construct(qp) : 0;

		if (err)
			return err;
	}
	return 0;
}

void engines_destruct(struct qp *qp)
{
	for (const struct qp_engine *const *e = qp->dev->engines; *e; e++)
		if ((*e)->destruct)
			(*e)->destruct(qp);
}

void engines_reset(struct qp *qp)
{
	for (const struct qp_engine *const *e = qp->dev->engines; *e; e++)
		if ((*e)->reset)
			(*e)->reset(qp);
}

void engines_changed(struct qp *qp, enum qp_state old)
{
	for (const struct qp_engine *const *e = qp->dev->engines; *e; e++)
		if ((*e)->changed)
			(*e)->changed(qp, old);
}

void engines_stop(struct qp *qp)
{
	for (const struct qp_engine *const *e = qp->dev->engines; *e; e++)
		if ((*e)->stop)
			(*e)->stop(qp);
}

void engines_flush(struct qp *qp)
{
	for (const struct qp_engine *const *e = qp->dev->engines; *e; e++)
		if ((*e)->flush)
			(*e)->flush(qp);
}

void engines_leave(struct qp *qp)
{
	for (const struct qp_engine *const *e = qp->dev->engines; *e; e++)
		if ((*e)->leave)
			(*e)->leave(qp);
}
