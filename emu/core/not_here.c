/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs of core.h that this device does not have yet: refused, each with -EOPNOTSUPP, as a device
 * without the capability refuses them.
 */
#include "core.h"

#include <errno.h>

int core_resize_cq(struct client *c, const struct uhca_cmd_resize_cq *in,
		   struct uhca_cmd_create_cq_reply *out, struct core_ring *ring)
{
	(void)c, (void)in, (void)out, (void)ring;
	return -EOPNOTSUPP;
}

int core_modify_cq(struct client *c, const struct uhca_cmd_modify_cq *in)
{
	(void)c, (void)in;
	return -EOPNOTSUPP;
}
