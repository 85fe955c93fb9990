/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Completion channels. libibverbs makes them by an ioctl on the device file, which the preload
 * library (or got.c) answers with one end of a socket pair made here; the daemon gets the other
 * end when the first CQ is created on the channel. libibverbs closes a channel without telling
 * the provider: a registry of all channels of the process notices it by the hang-up of our end.
 */
#ifndef UHCAV_CHANNEL_H
#define UHCAV_CHANNEL_H

#include "device.h"
#include "provider/base/base.h"

#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct uhcav_channel {
	struct uhcav_event_queue events; /* read_fd is the application's ibv_comp_channel.fd */
	ino_t inode;                     /* of read_fd: tells a reused number from the channel */
	struct uhcav_context *ctx;       /* NULL until the first CQ */
	uint32_t handle;
	unsigned users; /* CQs */
	LIST_ENTRY(uhcav_channel) same_bucket;
	TAILQ_ENTRY(uhcav_channel) idle; /* while it has no users */
};

/* Makes a channel; returns the application's descriptor, or -1 with errno. */
int uhcav_channel_create(int cmd_fd);

/*
 * The channel of an application's descriptor, with one more user; the daemon knows it afterwards.
 * 0, -EINVAL (not one of ours), or what the command says.
 */
int uhcav_channel_get(struct uhcav_context *ctx, int read_fd, struct uhcav_channel **out);

/* Gives a user back. */
void uhcav_channel_put(struct uhcav_channel *ch);

/* The context closes: forgets its channels. */
void uhcav_channels_forget(struct uhcav_context *ctx);

/* For fork.c: the registry's lock around a fork. */
void uhcav_channels_lock(void);
void uhcav_channels_unlock(void);

#endif
