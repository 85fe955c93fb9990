/* SPDX-License-Identifier: BSD-2-Clause */
/* See raw_right.h; raw(7). Nothing is sent or received by the socket. */
#include "raw_right.h"

#include "provider/base/base.h"

#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

static int raw_socket(void)
{
	int saved = errno, fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);

	errno = saved;
	return fd;
}

int uhcav_raw_right_call(struct uhcav_context *ctx, struct uhcav_call *call, enum ibv_qp_type type)
{
	int raw = type == IBV_QPT_RAW_PACKET ? raw_socket() : -1, err;

	if (raw < 0)
		return uhcav_context_call(ctx, call);
	call->send_fd = &raw;
	call->n_send_fd = 1;
	err = uhcav_context_call(ctx, call);
	call->n_send_fd = 0;
	uhcav_close(raw);
	return err;
}
