/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry is a list: programs have few channels, and nobody looks here on the data path.
 * Channels whose application end was closed are swept out whenever somebody looks; until then
 * they cost a descriptor.
 */
#include "channel.h"

#include "event.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct uhcav_channel *registry;

static bool hung_up(const struct uhcav_channel *ch)
{
	struct pollfd p = {.fd = ch->events.write_fd};

	return poll(&p, 1, 0) == 1 && (p.revents & (POLLHUP | POLLERR));
}

static void free_channel(struct uhcav_channel *ch)
{
	close(ch->events.write_fd);
	uhcav_event_queue_destruct(&ch->events);
	free(ch);
}

/* Unlinks closed channels and returns them as a list. Under the lock. */
static struct uhcav_channel *take_closed(void)
{
	struct uhcav_channel *closed = NULL, **at = &registry;

	while (*at) {
		struct uhcav_channel *ch = *at;
		if (ch->users || !hung_up(ch)) {
			at = &ch->next;
			continue;
		}
		*at = ch->next;
		ch->next = closed;
		closed = ch;
	}
	return closed;
}

static void sweep(void)
{
	struct uhcav_channel *closed, *next;

	pthread_mutex_lock(&registry_lock);
	closed = take_closed();
	for (; closed; closed = next) {
		next = closed->next;
		if (closed->ctx)
			uhcav_context_call_handle(closed->ctx, UHCA_CMD_DESTROY_CHANNEL,
						  closed->handle);
		free_channel(closed);
	}
	pthread_mutex_unlock(&registry_lock);
}

int uhcav_channel_create(int cmd_fd)
{
	struct uhcav_channel *ch;
	struct stat st;
	int pair[2];

	(void)cmd_fd; /* which context it is for shows when a CQ uses it */
	sweep();
	ch = calloc(1, sizeof(*ch));
	if (!ch)
		return -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
		free(ch);
		return -1;
	}
	fstat(pair[0], &st);
	uhcav_event_queue_construct(&ch->events, pair[0], pair[1],
				    sizeof(struct uhca_abi_comp_event));
	ch->inode = st.st_ino;
	pthread_mutex_lock(&registry_lock);
	ch->next = registry;
	registry = ch;
	pthread_mutex_unlock(&registry_lock);
	return pair[0];
}

/* Tells the daemon; the channel belongs to the context from now on. Under the lock. */
static int announce(struct uhcav_channel *ch, struct uhcav_context *ctx)
{
	struct uhca_cmd_handle request = {.handle = 0};
	struct uhca_cmd_handle_reply reply;
	struct uhcav_call call = {.request = &request.h,
				  .request_size = sizeof(request),
				  .cmd = UHCA_CMD_CREATE_CHANNEL,
				  .reply = &reply.h,
				  .reply_size = sizeof(reply),
				  .send_fd = &ch->events.write_fd,
				  .n_send_fd = 1};
	int err = uhcav_context_call(ctx, &call);

	if (err)
		return err;
	ch->ctx = ctx;
	ch->handle = reply.handle;
	return 0;
}

static struct uhcav_channel *find(int read_fd)
{
	struct uhcav_channel *ch;
	struct stat st;

	if (fstat(read_fd, &st))
		return NULL;
	for (ch = registry; ch; ch = ch->next)
		if (ch->events.read_fd == read_fd && ch->inode == st.st_ino)
			break;
	return ch;
}

int uhcav_channel_get(struct uhcav_context *ctx, int read_fd, struct uhcav_channel **out)
{
	struct uhcav_channel *ch;
	int err = 0;

	sweep();
	pthread_mutex_lock(&registry_lock);
	ch = find(read_fd);
	if (!ch || (ch->ctx && ch->ctx != ctx))
		err = -EINVAL;
	else if (!ch->ctx)
		err = announce(ch, ctx);
	if (!err) {
		ch->users++;
		*out = ch;
	}
	pthread_mutex_unlock(&registry_lock);
	return err;
}

void uhcav_channel_put(struct uhcav_channel *ch)
{
	pthread_mutex_lock(&registry_lock);
	ch->users--;
	pthread_mutex_unlock(&registry_lock);
}

void uhcav_channels_forget(struct uhcav_context *ctx)
{
	struct uhcav_channel **at = &registry;

	pthread_mutex_lock(&registry_lock);
	while (*at) {
		struct uhcav_channel *ch = *at;
		if (ch->ctx != ctx) {
			at = &ch->next;
			continue;
		}
		*at = ch->next;
		free_channel(ch);
	}
	pthread_mutex_unlock(&registry_lock);
}

void uhcav_channels_lock(void)
{
	pthread_mutex_lock(&registry_lock);
}

void uhcav_channels_unlock(void)
{
	pthread_mutex_unlock(&registry_lock);
}
