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

int core_open_xrcd(struct client *c, const struct uhca_cmd_open_xrcd *in, const uint64_t file[2],
		   uint32_t *handle)
{
	(void)c, (void)in, (void)file, (void)handle;
	return -EOPNOTSUPP;
}

int core_close_xrcd(struct client *c, uint32_t handle)
{
	(void)c, (void)handle;
	return -EOPNOTSUPP;
}

int core_open_qp(struct client *c, const struct uhca_cmd_open_qp *in,
		 struct uhca_cmd_open_qp_reply *out)
{
	(void)c, (void)in, (void)out;
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
