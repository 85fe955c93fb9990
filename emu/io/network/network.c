/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The clock of the model. Its time is base_time at base_wall and goes on with the clock, divided by
 * the scale. When more than LAG of the clock has passed over something that is due, the daemon was
 * away or has too much to do: base_time moves back, so that the model goes on from where it was.
 */
#include "inside.h"

#include "emu/io/base/base.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LAG    (1 * IO_MSEC)
#define SECOND IO_SEC

static const struct fabric_ops fabric_ops = {
	.deliver = network_deliver,
	.ready = network_ready,
	.timer = network_timer,
	.lost = network_lost,
	.judge = network_judge,
	.sent = network_sent,
};

/* ---- life ---- */

int io_network_create(struct io_network **out, const struct io_settings *settings,
		      const struct io_fabric *addresses, struct io_devices *devices, uint64_t now)
{
	struct io_network *n = calloc(1, sizeof(*n));
	const struct fabric_start start = {.topology = settings->fabric,
					   .seed = settings->fault_seed,
					   .timers = IO_NETWORK_LATER,
					   .ops = &fabric_ops,
					   .user = n};
	struct fabric_error e;
	int status;

	if (!n)
		return -ENOMEM;
	status = fabric_create(&n->fabric, &start, &e);
	if (status == -EINVAL)
		io_log(IO_LOG_ERROR, "--fabric %s: %s", settings->fabric_name, e.text);
	if (status == 0 && network_number_ports(n, settings->fabric) < 0)
		status = -ENOMEM;
	if (status < 0) {
		io_network_destroy(n);
		return status;
	}
	n->topology = settings->fabric;
	n->name = settings->fabric_name;
	n->scale = settings->fabric_scale;
	n->addresses = addresses;
	n->devices = devices;
	n->base_wall = n->clock = now;
	network_start_changes(n);
	io_flights_init(&n->flights, IO_NETWORK_BURST);
	*out = n;
	return 0;
}

void io_network_destroy(struct io_network *n)
{
	if (!n)
		return;
	fabric_destroy(n->fabric);
	free(n->number);
	free(n->name_of_link);
	io_flights_fini(&n->flights);
	free(n);
}

uint64_t io_network_rate(const struct io_network *n, const struct io_device *dev)
{
	return fabric_host_rate(n->fabric, dev->id.index);
}

/* ---- time ---- */

void network_keep_time(const struct io_network *n, struct io_network_box *b)
{
	core_network_passed(b->dev->core, n->clock, n->at / 1000 - b->told);
	b->told = n->at / 1000;
}

/* The first thing that a device does by the model's clock. */
static uint64_t devices_due(const struct io_network *n)
{
	uint64_t first = FABRIC_NEVER;

	for (unsigned i = 0; i < n->devices->n; i++) {
		const struct io_network_box *b = n->box[i];
		const uint64_t due = b ? core_network_due(b->dev->core) : UINT64_MAX;

		if (due < (FABRIC_NEVER - 1) / 1000 - b->told && (b->told + due) * 1000 < first)
			first = (b->told + due) * 1000;
	}
	return first > n->time ? first : n->time;
}

static uint64_t time_of(const struct io_network *n, uint64_t now)
{
	return n->base_time + (now - n->base_wall) * 1000 / n->scale;
}

uint64_t io_network_next(const struct io_network *n)
{
	const uint64_t at = fabric_next(n->fabric);
	unsigned __int128 wall;

	if (at == FABRIC_NEVER)
		return UINT64_MAX;
	if (at <= n->base_time)
		return n->base_wall;
	wall = n->base_wall + ((unsigned __int128)(at - n->base_time) * n->scale + 999) / 1000;
	return wall < UINT64_MAX ? (uint64_t)wall : UINT64_MAX;
}

static void say_behind(struct io_network *n, uint64_t now)
{
	static struct io_log_limit limit;
	uint32_t held;

	if (n->behind - n->said < SECOND / 10 || !io_log_limit(&limit, 1, now, &held))
		return;
	n->said = n->behind;
	io_log(IO_LOG_WARN,
	       "--fabric: this machine is behind; the network's time stood still for %llu ms so "
	       "far. A larger --fabric-scale slows it down evenly",
	       (unsigned long long)(n->behind / IO_MSEC));
}

/* Up to when things may happen: what is due for longer than LAG moves the rest. */
static uint64_t hold_back(struct io_network *n, uint64_t due, uint64_t now)
{
	const uint64_t lag = LAG * 1000 / n->scale, until = time_of(n, now);
	uint64_t from = due > n->time ? due : n->time, late;

	if (due == FABRIC_NEVER || until <= from || until - from <= lag)
		return until;
	late = until - from - lag;
	n->base_time -= late;
	n->behind += late * n->scale / 1000;
	say_behind(n, now);
	return until - late;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

bool io_network_run(struct io_network *n, uint64_t now)
{
	const uint64_t timer = devices_due(n);
	const uint64_t most = hold_back(n, earlier(timer, fabric_next(n->fabric)), now);
	const uint64_t until = earlier(timer, most);
	uint64_t at;

	n->news = false;
	n->clock = now;
	n->inside = true;
	while (!n->news && (at = fabric_next(n->fabric)) <= until && at != FABRIC_NEVER) {
		fabric_run(n->fabric, at);
		n->time = at;
	}
	n->inside = false;
	if (!n->news && n->time < until)
		n->time = until;
	n->news |= timer <= n->time;
	n->at = n->time;
	for (unsigned i = 0; i < n->devices->n; i++)
		if (n->box[i])
			network_keep_time(n, n->box[i]);
	return n->news;
}

void network_advance(struct io_network *n, uint64_t now)
{
	const uint64_t until = time_of(n, now);

	if (n->inside || n->time >= until ||
	    earlier(devices_due(n), fabric_next(n->fabric)) <= until)
		return;
	n->clock = now;
	n->time = n->at = until;
}
