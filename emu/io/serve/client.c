/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See client.h. Readiness of the control socket leads to cmd.c; the event descriptor only wakes
 * the loop, which looks at the doorbells whenever it is awake (active_doorbells.h).
 */
#include "client.h"

#include "clients.h"

#include "cmd_server.h"
#include "drain_doorbells.h"
#include "emu/io/base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* Messages of one client that are served before others get their turn; less when they take long. */
#define BURST 8

static void on_readable(struct io_watch *w, uint32_t events)
{
	struct io_client *c = w->arg;
	uint64_t end = io_clock_now() + IO_MSEC;

	(void)events;
	for (unsigned i = 0; i < BURST && (i == 0 || io_clock_now() < end); i++) {
		int error = io_cmd_receive(c);

		if (error == -EAGAIN)
			return;
		if (error < 0) {
			io_drain_doorbells(c);
			io_clients_remove(c->all, c);
			return;
		}
	}
}

/*
 * The loop is awake, which is all. Each write is told once (EPOLLET): nothing needs to be read of a
 * description that the client shares and may have made blocking or emptied itself.
 */
static void on_event(struct io_watch *w, uint32_t events)
{
	(void)w;
	(void)events;
}

void io_client_listen(struct io_client *c)
{
	int error = c->readable.set ? 0 : io_watch_start(c->all->watches, &c->readable, EPOLLIN);

	if (error < 0)
		io_log(IO_LOG_ERROR, "client %u: cannot watch its socket: %s", c->id,
		       strerror(-error));
}

struct io_client *io_client_create(struct io_clients *all, int sock, const struct ucred *peer)
{
	struct io_client *c = calloc(1, sizeof(*c));

	if (!c) {
		io_reaper_close(sock);
		return NULL;
	}
	c->all = all;
	c->sock = sock;
	c->peer = *peer;
	c->event_fd = c->doorbell.fd = c->mem.fd = c->async.fd = -1;
	io_channel_table_init(&c->channels, all->watches);
	LIST_INIT(&c->slow);
	c->readable = (struct io_watch){.fd = sock, .event = on_readable, .arg = c};
	io_client_listen(c);
	if (c->readable.set)
		return c;
	io_reaper_close(sock);
	free(c);
	return NULL;
}

/* Undoes HELLO, done or half done, but for the core's part. */
static void close_context(struct io_client *c)
{
	c->bell = (struct io_doorbell){0};
	if (c->event_fd >= 0) {
		io_watch_stop(&c->event);
		close(c->event_fd);
		c->event_fd = -1;
	}
	io_channel_table_destroy(&c->channels);
	io_xrcd_files_close(&c->xrcd_files, UINT32_MAX);
	io_channel_close(&c->async);
	io_shm_destroy(&c->doorbell);
	io_arena_close(&c->arena);
	io_mem_close(&c->mem);
}

void io_client_leave(struct io_client *c)
{
	io_slow_calls_drop(&c->slow);
	if (c->dev)
		io_active_doorbells_remove(&c->all->active_doorbells, c);
	io_watch_stop(&c->readable);
	/* Who is still at the other end is to hear of it, whenever it is closed. */
	shutdown(c->sock, SHUT_RDWR);
	io_reaper_hang_up(c->sock);
	c->sock = -1;
	c->gone = true;
}

bool io_client_end(struct io_client *c, uint32_t steps)
{
	if (c->dev)
		c->dev->dirty = true;
	if (c->core && !core_client_leave(c->core, steps))
		return false;
	c->core = NULL;
	if (!io_channel_table_close(&c->channels, steps / CORE_STEPS_PER_OBJECT) ||
	    !io_xrcd_files_close(&c->xrcd_files, steps / CORE_STEPS_PER_OBJECT))
		return false;
	close_context(c);
	return true;
}

void io_client_destroy(struct io_client *c)
{
	io_client_leave(c);
	while (!io_client_end(c, UINT32_MAX))
		;
	free(c);
}

static int open_doorbell(struct io_client *c)
{
	struct uhca_abi_doorbell *d;
	int error = io_shm_create(&c->doorbell, "uhca-doorbell", sizeof(*d), false);

	if (error < 0)
		return error;
	d = c->doorbell.base;
	d->region.magic = UHCA_ABI_MAGIC;
	d->region.version = UHCA_ABI_VERSION;
	d->region.kind = UHCA_ABI_REGION_DOORBELL;
	d->region.size = c->doorbell.size;
	c->bell.page = d;
	return 0;
}

static int open_event(struct io_client *c)
{
	c->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->event_fd < 0)
		return -errno;
	c->event = (struct io_watch){.fd = c->event_fd, .event = on_event};
	return io_watch_start(c->all->watches, &c->event, EPOLLIN | EPOLLET);
}

static int open_async(struct io_client *c, int fd)
{
	int error = io_channel_open(&c->async, c->all->watches, fd,
				    sizeof(struct uhca_abi_async_event));

	if (error < 0)
		io_reaper_close(fd);
	return error;
}

/* Program names are shown to people. */
static void set_program(struct io_client *c, const char *name)
{
	memcpy(c->program, name, sizeof(c->program) - 1);
	for (char *p = c->program; *p; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
			*p = '?';
}

int io_client_hello(struct io_client *c, const struct io_client_hello *hello)
{
	int error = io_mem_open(&c->mem, hello->mem_fd, c->peer.pid, c->all->mem);

	if (error < 0) {
		io_reaper_close(hello->async_fd);
		return error;
	}
	error = open_async(c, hello->async_fd);
	if (error == 0)
		error = open_doorbell(c);
	if (error == 0)
		error = open_event(c);
	if (error == 0) {
		c->core = core_client_create(hello->dev->core, c);
		error = c->core ? 0 : -ENOMEM;
	}
	if (error < 0) {
		close_context(c);
		return error;
	}
	c->dev = hello->dev;
	io_active_doorbells_add(&c->all->active_doorbells, c);
	set_program(c, hello->program);
	return 0;
}

void io_client_pause(struct io_client *c, bool on)
{
	if (on && !c->paused) {
		c->paused = c->bell.summaries;
		c->bell.summaries = 0;
	} else if (!on && c->paused) {
		c->bell.summaries = c->paused;
		c->paused = 0;
	}
}

struct ring {
	struct io_client *client;
	uint64_t now;
};

static void ring_one(void *arg, uint32_t number)
{
	struct ring *r = arg;

	core_doorbell(r->client->core, number, r->now);
}

uint32_t io_client_doorbells(struct io_client *c, uint64_t now)
{
	struct ring r = {c, now};
	uint32_t n = io_doorbell_take(&c->bell, ring_one, &r);

	if (n > 0)
		c->dev->dirty = true;
	return n;
}
