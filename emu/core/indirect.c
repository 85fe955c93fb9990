/* SPDX-License-Identifier: BSD-2-Clause */
#include "mr.h"

#include <errno.h>

int core_alloc_key(struct client *c, const struct uhca_cmd_alloc_key *in,
		   struct uhca_cmd_reg_mr_reply *out)
{
	(void)c;
	(void)in;
	(void)out;
	return -EOPNOTSUPP;
}

int core_describe_key(struct client *c, const struct uhca_cmd_describe_key *in)
{
	(void)c;
	(void)in;
	return -EOPNOTSUPP;
}
