/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See ctl_table.h. Rows may have different facts (a datagram QP has no peer): the columns are
 * all names that occurred, in the order in which they did, and a row has null where it lacks one.
 */
#include "ctl_table.h"

#include "ctl_server.h"
#include "emu/abi/ctl.h"
#include "emu/io/base/base.h"
#include "emu/io/net/udp.h"
#include "emu/io/port/port.h"
#include "emu/io/sandbox/sandbox.h"
#include "emu/io/serve/serve.h"
#include "emu/io/ucma/ucma.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS_MAX 96

struct column {
	char name[32];
	bool hex;
};

struct table {
	json_t *rows;
	json_t *row; /* that is being made */
	unsigned n;
	struct column column[COLUMNS_MAX];
	const struct io_device *dev; /* whose objects are visited */
};

static void start_row(struct table *t)
{
	t->row = json_array();
	json_array_append_new(t->rows, t->row);
}

static unsigned column_of(struct table *t, const char *name, bool hex)
{
	unsigned i = 0;

	while (i < t->n && strcmp(t->column[i].name, name) != 0)
		i++;
	if (i == t->n && t->n < COLUMNS_MAX) {
		snprintf(t->column[i].name, sizeof(t->column[i].name), "%s", name);
		t->column[i].hex = hex;
		t->n++;
	}
	return i;
}

/* Takes over value. */
static void put(struct table *t, const char *name, bool hex, json_t *value)
{
	unsigned i = column_of(t, name, hex);

	while (json_array_size(t->row) < i)
		json_array_append_new(t->row, json_null());
	if (i == json_array_size(t->row))
		json_array_append_new(t->row, value);
	else
		json_array_set_new(t->row, i, value);
}

static void put_text(struct table *t, const char *name, const char *text)
{
	put(t, name, false, json_string(text));
}

static void put_number(struct table *t, const char *name, uint64_t number)
{
	put(t, name, false, json_integer((json_int_t)number));
}

static json_t *finish(struct table *t)
{
	json_t *columns = json_array();
	json_t *row;
	size_t i;

	for (i = 0; i < t->n; i++)
		json_array_append_new(columns,
				      json_pack("{s:s, s:b}", UHCA_CTL_NAME, t->column[i].name,
						UHCA_CTL_HEX, t->column[i].hex));
	json_array_foreach(t->rows, i, row) while (json_array_size(row) < t->n)
		json_array_append_new(row, json_null());
	return json_pack("{s:o, s:o}", UHCA_CTL_COLUMNS, columns, UHCA_CTL_ROWS, t->rows);
}

/* ---- objects of the core ---- */

static void visit(void *arg, void *client, const struct core_fact *facts, unsigned n)
{
	struct table *t = arg;
	const struct io_client *c = client;

	start_row(t);
	put_text(t, "device", t->dev->id.name);
	put_number(t, "client", c->id);
	for (unsigned i = 0; i < n; i++) {
		if (facts[i].text)
			put_text(t, facts[i].name, facts[i].text);
		else
			put(t, facts[i].name, facts[i].hex,
			    json_integer((json_int_t)facts[i].number));
	}
}

static void add_objects(struct table *t, const struct io_house *h, enum core_object_type type)
{
	for (unsigned i = 0; i < h->devices->n; i++) {
		t->dev = h->devices->at[i];
		core_visit(t->dev->core, type, visit, t);
	}
}

/* ---- the shell's own ---- */

static void put_addresses(struct table *t, const struct io_identity *id)
{
	char text[IO_MAX_ADDRESSES * (IO_ADDRESS_TEXT + 1)];
	char one[IO_ADDRESS_TEXT];
	size_t n = 0;

	for (unsigned i = 0; i < id->addresses.count; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", i ? "," : "",
				      io_address_format(id->addresses.a[i].gid, one));
	put_text(t, "addresses", text);
}

static unsigned count_clients(const struct io_house *h, const struct io_device *dev)
{
	unsigned n = 0;

	for (unsigned i = 0; i < h->clients->n; i++)
		n += h->clients->at[i]->dev == dev;
	return n;
}

static void add_devices(struct table *t, const struct io_house *h)
{
	for (unsigned i = 0; i < h->devices->n; i++) {
		const struct io_device *dev = h->devices->at[i];
		const struct io_udp *udp = io_counts_udp(dev);
		char guid[24];

		start_row(t);
		snprintf(guid, sizeof(guid), "%016llx", (unsigned long long)dev->id.guid);
		put_text(t, "device", dev->id.name);
		put_text(t, "node_guid", guid);
		put_addresses(t, &dev->id);
		put_text(t, "netdev", dev->id.netdev);
		put_text(t, "wire", udp->n_sockets ? "udp" : "none");
		put_text(t, "sandbox", io_sandbox_state());
		put_number(t, "rcvbuf", udp->rcvbuf);
		put_number(t, "window", dev->config.window_bytes);
		put_number(t, "clients", count_clients(h, dev));
		for (unsigned k = 0; k < CORE_OBJECT_TYPES; k++)
			put_number(t, core_object_name((enum core_object_type)k),
				   core_object_count(dev->core, (enum core_object_type)k));
	}
}

static void add_clients(struct table *t, const struct io_house *h)
{
	for (unsigned i = 0; i < h->clients->n; i++) {
		const struct io_client *c = h->clients->at[i];

		if (!c->core)
			continue;
		start_row(t);
		put_number(t, "client", c->id);
		put_text(t, "device", c->dev->id.name);
		put_number(t, "pid", (uint64_t)c->peer.pid);
		put_number(t, "uid", c->peer.uid);
		put_text(t, "program", c->program);
		put_text(t, "memory", io_mem_how(&c->mem));
		put_number(t, "channels", c->channels.count);
		put_number(t, "held_bytes", core_client_memory(c->core));
	}
}

static void visit_id(void *arg, const struct io_ucma_view *v)
{
	struct table *t = arg;

	start_row(t);
	put_number(t, "id", v->id);
	if (v->device)
		put_text(t, "device", v->device);
	put_text(t, "space", v->space);
	put_text(t, "state", v->state);
	put_number(t, "port", v->port);
	put_text(t, "source", v->src);
	put_text(t, "destination", v->dst);
}

json_t *io_ctl_table(const struct io_house *h, const char *what)
{
	struct table t = {.rows = json_array()};

	for (unsigned i = 0; i < CORE_OBJECT_TYPES; i++) {
		if (strcmp(what, core_object_name((enum core_object_type)i)) == 0) {
			add_objects(&t, h, (enum core_object_type)i);
			return finish(&t);
		}
	}
	if (strcmp(what, "device") == 0) {
		add_devices(&t, h);
	} else if (strcmp(what, "client") == 0) {
		add_clients(&t, h);
	} else if (strcmp(what, "cm_id") == 0) {
		io_ucma_visit(h->ucma, visit_id, &t);
	} else {
		json_decref(t.rows);
		return NULL;
	}
	return finish(&t);
}

/* ---- counters ---- */

json_t *io_ctl_counters(const struct io_house *h)
{
	struct table t = {.rows = json_array()};
	struct io_count count[IO_COUNTS];
	char name[64];

	for (unsigned i = 0; i < h->devices->n; i++) {
		unsigned n = io_counts(h->devices->at[i], count);

		start_row(&t);
		put_text(&t, "device", h->devices->at[i]->id.name);
		for (unsigned k = 0; k < n; k++) {
			snprintf(name, sizeof(name), "%s%s", count[k].prefix, count[k].name);
			put_number(&t, name, count[k].value);
		}
		put_number(&t, "longest_turn_us", h->devices->longest_turn / IO_USEC);
	}
	return finish(&t);
}
