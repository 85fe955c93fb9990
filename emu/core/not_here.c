/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Verbs of core.h that this device does not have yet: refused, each with -EOPNOTSUPP, as a device
 * without the capability refuses them.
 */
#include "core.h"

#include <errno.h>

int core_alloc_mw(struct client *c, const struct uhca_cmd_alloc_mw *in,
		  struct uhca_cmd_alloc_mw_reply *out)
{
	(void)c, (void)in, (void)out;
	return -EOPNOTSUPP;
}

int core_dealloc_mw(struct client *c, uint32_t handle)
{
	(void)c, (void)handle;
	return -EOPNOTSUPP;
}

int core_attach_mcast(struct client *c, const struct uhca_cmd_mcast *in)
{
	(void)c, (void)in;
	return -EOPNOTSUPP;
}

int core_detach_mcast(struct client *c, const struct uhca_cmd_mcast *in)
{
	(void)c, (void)in;
	return -EOPNOTSUPP;
}
