/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of devices in a rule, which only the owner of the plan knows: dev= must let one through,
 * and peer= gets the addresses of those that it names.
 */
#ifndef FAULT_PLAN_DEVICES_H
#define FAULT_PLAN_DEVICES_H

#include "plan.h"

/*
 * Finds the devices that the rule of text t names. 0, or -EINVAL with the error filled in: there is
 * none of a name, or they have more addresses than a rule holds.
 */
int fault_plan_find_devices(const struct fault_text *t, const struct fault_plan_ops *ops,
			    void *user, struct fault_select *select);

#endif
