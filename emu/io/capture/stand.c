/* SPDX-License-Identifier: BSD-2-Clause */
/* See stand.h. What is told are facts of core_visit, by the same names. */
#include "stand.h"

#include "emu/core/core.h"
#include "emu/io/device/devices.h"

#include <string.h>

#define PLACES 16 /* that are looked at between two looks at how many there are */

struct visit {
	const struct io_device *dev;
	const void *client; /* NULL: all */
	const struct io_stand_sink *sink;
	unsigned n;
};

static const struct core_fact *fact(const struct core_fact *f, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (strcmp(f[i].name, name) == 0)
			return &f[i];
	return NULL;
}

static uint64_t number(const struct core_fact *f, unsigned n, const char *name)
{
	const struct core_fact *found = fact(f, n, name);

	return found ? found->number : 0;
}

static const char *text(const struct core_fact *f, unsigned n, const char *name)
{
	const struct core_fact *found = fact(f, n, name);

	return found && found->text ? found->text : "";
}

static void begin(struct io_words *w, const struct visit *v, const char *what)
{
	io_words_begin(w, what);
	io_words_text(w, "dev", v->dev->id.name);
}

static void record_send(struct visit *v, const struct io_words *w)
{
	v->sink->put(v->sink->arg, w);
	v->n++;
}

/* As long as there are too few, and not too many were looked at. */
static void visit(struct visit *v, enum core_object_type type,
		  void (*stand)(void *arg, void *client, const struct core_fact *f, unsigned n))
{
	struct core_visit all = {.type = type, .client = v->client};

	v->n = 0;
	while (v->n < IO_STAND_MOST && all.met < IO_STAND_LOOKS &&
	       core_visit(v->dev->core, &all, PLACES, stand, v))
		;
}

static void put_numbers(struct io_words *w, const struct core_fact *f, unsigned n,
			const char *const *name)
{
	for (; *name; name++)
		if (fact(f, n, *name))
			io_words_number(w, *name, number(f, n, *name));
}

static void stand_qp(void *arg, void *client, const struct core_fact *f, unsigned n)
{
	static const char *const names[] = {"sends",   "silent",  "recvs",   "una_psn",
					    "sq_psn",  "rq_psn",  "timeout", "srq",
					    "send_cq", "recv_cq", NULL};
	struct visit *v = arg;
	struct io_words w;

	(void)client;
	begin(&w, v, "stands");
	io_words_hex(&w, "qp", number(f, n, "qpn"));
	io_words_text(&w, "type", text(f, n, "type"));
	io_words_text(&w, "state", text(f, n, "state"));
	if (text(f, n, "waits")[0])
		io_words_text(&w, "waits", text(f, n, "waits"));
	put_numbers(&w, f, n, names);
	record_send(v, &w);
}

static void stand_cq(void *arg, void *client, const struct core_fact *f, unsigned n)
{
	struct visit *v = arg;
	struct io_words w;

	(void)client;
	if (number(f, n, "outstanding") + number(f, n, "held") == 0)
		return;
	begin(&w, v, "stands");
	io_words_number(&w, "cq", number(f, n, "handle"));
	io_words_number(&w, "unread", number(f, n, "outstanding"));
	io_words_number(&w, "held", number(f, n, "held"));
	io_words_number(&w, "channel", number(f, n, "channel"));
	io_words_number(&w, "armed", number(f, n, "armed"));
	io_words_text(&w, "state", text(f, n, "state"));
	record_send(v, &w);
}

void io_stand_queues(const struct io_device *dev, const void *client,
		     const struct io_stand_sink *sink)
{
	struct visit v = {.dev = dev, .client = client, .sink = sink};

	visit(&v, CORE_OBJECT_QP, stand_qp);
	visit(&v, CORE_OBJECT_CQ, stand_cq);
}

static void stand_region(void *arg, void *client, const struct core_fact *f, unsigned n)
{
	struct visit *v = arg;
	struct io_words w;

	(void)client;
	begin(&w, v, "region");
	io_words_hex(&w, "key", number(f, n, "lkey"));
	if (number(f, n, "rkey") != number(f, n, "lkey"))
		io_words_hex(&w, "rkey", number(f, n, "rkey"));
	io_words_hex(&w, "address", number(f, n, "iova"));
	io_words_number(&w, "length", number(f, n, "length"));
	io_words_hex(&w, "access", number(f, n, "access"));
	io_words_number(&w, "pd", number(f, n, "pd"));
	record_send(v, &w);
}

void io_stand_regions(const struct io_device *dev, const struct io_stand_sink *sink)
{
	struct visit v = {.dev = dev, .sink = sink};

	visit(&v, CORE_OBJECT_MR, stand_region);
}
