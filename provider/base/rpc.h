/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands to the daemon (emu/abi/cmd.h): one request, one reply, one at a time per context.
 *
 * A daemon that is gone, that does not answer in time or that answers something else than what
 * was asked makes the channel "broken": this call and every later one returns -EIO, and the owner
 * (device.c) tells the application once.
 */
#ifndef UHCAV_RPC_H
#define UHCAV_RPC_H

#include "emu/abi/cmd.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define UHCAV_RPC_TIMEOUT_MS 30000

struct uhcav_rpc {
	pthread_mutex_t lock;
	int sock; /* -1 when closed */
	uint32_t sequence;
	int timeout_ms;
	bool broken;
};

/*
 * What threads did before their calls is seen after this by one that has heard of it from the
 * daemon (an event). The kernel orders that anyway; race detectors and compilers do not know it.
 */
static inline void uhcav_rpc_order(const struct uhcav_rpc *c)
{
	(void)__atomic_load_n(&c->sequence, __ATOMIC_ACQUIRE);
}

/* One exchange. The caller fills in everything but the fields marked "out". */
struct uhcav_call {
	struct uhca_cmd_request *request; /* the header is filled in by uhcav_rpc_call */
	uint32_t request_size;
	uint32_t cmd;
	struct uhca_cmd_reply *reply; /* out */
	uint32_t reply_size;
	const int *send_fd;
	unsigned n_send_fd;
	int *recv_fd; /* out: owned by the caller on success, -1 otherwise */
	unsigned n_recv_fd;
	bool lost;  /* out: the daemon is gone or makes no sense */
	bool tried; /* the caller goes another way when it fails: nobody is told why */
	char why[UHCA_ABI_REFUSAL]; /* out: of a call that the daemon refused; "" */
};

/*
 * Initialises a call. "in" and "out" point to request and reply of the command (UHCA_CMD_*):
 * structs whose first member is the header h. Further members of the call may follow (.recv_fd =
 * ...).
 */
/* clang-format off */
#define UHCAV_CALL(command, in, out, ...) { \
	.request = &(in)->h, \
	.request_size = sizeof(*(in)), \
	.cmd = (command), \
	.reply = &(out)->h, \
	.reply_size = sizeof(*(out)), \
	__VA_ARGS__ }

/* The same of a command whose reply is the header alone. */
#define UHCAV_CALL_PLAIN(command, in, ...) { \
	.request = &(in)->h, \
	.request_size = sizeof(*(in)), \
	.cmd = (command), \
	.reply = &(struct uhca_cmd_reply){0}, \
	.reply_size = sizeof(struct uhca_cmd_reply), \
	__VA_ARGS__ }
/* clang-format on */

/*
 * Connects to the daemon's socket at path. 0 or -errno of socket(2) and connect(2),
 * -ENAMETOOLONG.
 */
int uhcav_rpc_connect(struct uhcav_rpc *c, const char *path);

/* Closes the socket; later calls return -EIO. */
void uhcav_rpc_close(struct uhcav_rpc *c);

/*
 * Sends the request, waits for the reply. Returns 0, the daemon's -errno, or -EIO for a channel
 * that is broken (then call->lost is set). Leaves errno as it is.
 */
int uhcav_rpc_call(struct uhcav_rpc *c, struct uhcav_call *call);

#endif
