/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry finds a channel by the number of its descriptor. Channels whose application end was
 * closed are swept out when somebody makes or uses a channel; until then they cost a descriptor.
 * One with CQs cannot be closed, and of the others each sweep looks at a few in turn, and at more
 * as long as it finds any: what making a channel costs does not depend on how many there are.
 */
#include "channel.h"

#include "refuse.h"

#include "emu/abi/event.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUCKETS 1024u /* numbers of descriptors are dense */
#define FEW     8u    /* that one sweep looks at */

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static int cancel_state; /* of the thread that has the lock, before */
static LIST_HEAD(, uhcav_channel) registry[BUCKETS];
static TAILQ_HEAD(, uhcav_channel) idle = TAILQ_HEAD_INITIALIZER(idle); /* longest unseen first */
static unsigned n_idle;

void uhcav_channels_lock(void)
{
	int before = uhcav_cancel_off();

	pthread_mutex_lock(&registry_lock);
	cancel_state = before;
}

void uhcav_channels_unlock(void)
{
	int before = cancel_state;

	pthread_mutex_unlock(&registry_lock);
	uhcav_cancel_back(before);
}

static void link_idle(struct uhcav_channel *ch)
{
	TAILQ_INSERT_TAIL(&idle, ch, idle);
	n_idle++;
}

static void unlink_idle(struct uhcav_channel *ch)
{
	TAILQ_REMOVE(&idle, ch, idle);
	n_idle--;
}

static void free_channel(struct uhcav_channel *ch)
{
	LIST_REMOVE(ch, same_bucket);
	if (!ch->users)
		unlink_idle(ch);
	close(ch->events.write_fd);
	uhcav_event_queue_destruct(&ch->events);
	free(ch);
}

static void look_at(struct uhcav_channel *ch, const struct pollfd *p, unsigned *closed)
{
	if (!(p->revents & (POLLHUP | POLLERR))) {
		unlink_idle(ch);
		link_idle(ch);
		return;
	}
	++*closed;
	if (ch->ctx)
		uhcav_context_call_handle(ch->ctx, UHCA_CMD_DESTROY_CHANNEL, ch->handle);
	free_channel(ch);
}

/* Looks at the next few idle channels; how many of them were closed. Under the lock. */
static unsigned sweep_few(void)
{
	struct uhcav_channel *few[FEW], *ch;
	struct pollfd p[FEW];
	unsigned n = 0, closed = 0;

	TAILQ_FOREACH(ch, &idle, idle)
	{
		if (n == FEW)
			break;
		p[n] = (struct pollfd){.fd = ch->events.write_fd};
		few[n++] = ch;
	}
	if (n == 0 || poll(p, n, 0) <= 0)
		memset(p, 0, sizeof(p));
	for (unsigned i = 0; i < n; i++)
		look_at(few[i], &p[i], &closed);
	return closed;
}

static void sweep(void)
{
	uhcav_channels_lock();
	while (sweep_few())
		;
	uhcav_channels_unlock();
}

static void sweep_all(void)
{
	uhcav_channels_lock();
	for (unsigned looks = n_idle / FEW + 1; looks > 0; looks--)
		sweep_few();
	uhcav_channels_unlock();
}

/* Descriptors of closed channels may be those that are missing. */
static int open_pair(int pair[2])
{
	int err = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);

	if (!err || (errno != EMFILE && errno != ENFILE))
		return err;
	sweep_all();
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair);
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
	if (open_pair(pair)) {
		free(ch);
		return -1;
	}
	fstat(pair[0], &st);
	uhcav_event_queue_construct(&ch->events, pair[0], pair[1],
				    sizeof(struct uhca_abi_comp_event));
	ch->inode = st.st_ino;
	uhcav_channels_lock();
	LIST_INSERT_HEAD(&registry[(unsigned)pair[0] % BUCKETS], ch, same_bucket);
	link_idle(ch);
	uhcav_channels_unlock();
	return pair[0];
}

/* Tells the daemon; the channel belongs to the context from now on. Under the lock. */
static int register_channel(struct uhcav_channel *ch, struct uhcav_context *ctx)
{
	struct uhca_cmd_handle request = {.handle = 0};
	struct uhca_cmd_handle_reply reply;
	struct uhcav_call call = UHCAV_CALL(UHCA_CMD_CREATE_CHANNEL, &request, &reply,
					    .send_fd = &ch->events.write_fd, .n_send_fd = 1);
	int err = uhcav_context_call(ctx, &call);

	if (err)
		return err;
	ch->ctx = ctx;
	ch->handle = reply.handle;
	return 0;
}

static struct uhcav_channel *channel_find(int read_fd)
{
	struct uhcav_channel *ch;
	struct stat st;

	if (fstat(read_fd, &st))
		return NULL;
	LIST_FOREACH(ch, &registry[(unsigned)read_fd % BUCKETS], same_bucket)
	{
		if (ch->events.read_fd == read_fd && ch->inode == st.st_ino)
			return ch;
	}
	return NULL;
}

int uhcav_channel_get(struct uhcav_context *ctx, int read_fd, struct uhcav_channel **out)
{
	struct uhcav_channel *ch;
	int err = 0;

	sweep();
	uhcav_channels_lock();
	ch = channel_find(read_fd);
	if (!ch || (ch->ctx && ch->ctx != ctx))
		err = uhcav_refuse(ctx, "create_cq", -EINVAL, "channel is not of this context");
	else if (!ch->ctx)
		err = register_channel(ch, ctx);
	if (!err) {
		if (ch->users++ == 0)
			unlink_idle(ch);
		*out = ch;
	}
	uhcav_channels_unlock();
	return err;
}

void uhcav_channel_put(struct uhcav_channel *ch)
{
	uhcav_channels_lock();
	if (--ch->users == 0)
		link_idle(ch);
	uhcav_channels_unlock();
}

void uhcav_channels_forget(struct uhcav_context *ctx)
{
	uhcav_channels_lock();
	for (unsigned i = 0; i < BUCKETS; i++) {
		struct uhcav_channel *ch = LIST_FIRST(&registry[i]), *next;

		for (; ch; ch = next) {
			next = LIST_NEXT(ch, same_bucket);
			if (ch->ctx == ctx)
				free_channel(ch);
		}
	}
	uhcav_channels_unlock();
}
