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

/* What each of them does that takes part in it, and cannot fail. */
#define ENGINES_DO(hook)                                                                           \
	void engines_##hook(struct qp *qp)                                                         \
	{                                                                                          \
		for (const struct qp_engine *const *e = qp->dev->engines; *e; e++)                 \
			if ((*e)->hook)                                                            \
				(*e)->hook(qp);                                                    \
	}

ENGINES_DO(destruct)
ENGINES_DO(reset)
ENGINES_DO(stop)
ENGINES_DO(flush)
ENGINES_DO(leave)

void engines_changed(struct qp *qp, enum qp_state old)
{
	for (const struct qp_engine *const *e = qp->dev->engines; *e; e++)
		if ((*e)->changed)
			(*e)->changed(qp, old);
}
