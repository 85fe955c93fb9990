/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of links, switches and hosts of a modelled network in a rule, which only the owner of the
 * plan knows: each glob of link=, switch= and host= must name one.
 */
#ifndef FAULT_PLAN_PARTS_H
#define FAULT_PLAN_PARTS_H

#include "plan.h"

/*
 * Are the parts that the rule of text t names there? 0, or -EINVAL with the error filled in: there
 * is none of a name, or no network.
 */
int fault_plan_check_parts(const struct fault_text *t, const struct fault_plan_ops *ops, void *user,
			   const struct fault_rule *r);

#endif
