/* SPDX-License-Identifier: BSD-2-Clause */
/* What handlers share. See cmd_handler.h. */
#include "cmd_handler.h"

void cmd_reply_ring(struct cmd_reply *rep, const struct core_ring *ring)
{
	rep->ring = ring->token;
	rep->fd[0] = rep->ring->fd;
	rep->n_fds = 1;
}

void cmd_reply_dm(struct cmd_reply *rep, const struct core_ring *ring)
{
	cmd_reply_ring(rep, ring);
	rep->ring = NULL; /* its descriptor stays */
}
