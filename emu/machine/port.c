/* SPDX-License-Identifier: BSD-2-Clause */
/* The members of a port. */
#include "read.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of enum ibv_port_state; 0 is none. */
static const char *const states[] = {"none", "down", "init", "armed", "active", NULL};
static const char *const layers[] = {"ethernet", "infiniband", "unknown", NULL};
static const char *const speeds[] = {"SDR", "DDR", "QDR", "FDR10", "FDR",
				     "EDR", "HDR", "NDR", "XDR",   NULL};
/* In the order of enum machine_layout. */
static const char *const layouts[] = {"uhca", "mlx5", "rxe", "infiniband", "efa", "empty", NULL};

static void take_state(struct reading *r, const json_t *value, void *into)
{
	int state = fields_choice(r, value, "state", states);

	if (state == 0)
		fields_fail(r, "a port has a state: down, init, armed or active");
	if (state > 0)
		((struct machine_port *)into)->state = (unsigned)state;
}

static void take_layer(struct reading *r, const json_t *value, void *into)
{
	struct machine_port *p = into;
	int layer = fields_choice(r, value, "link_layer", layers);

	p->infiniband = layer == 1;
	p->unspecified = layer == 2;
}

static void take_speed(struct reading *r, const json_t *value, void *into)
{
	struct machine_port *p = into;
	int speed = fields_choice(r, value, "speed", speeds);

	if (speed < 0)
		return;
	p->speed = (unsigned)speed;
	p->has_speed = true;
}

static void take_width(struct reading *r, const json_t *value, void *into)
{
	long lanes;

	if (!fields_number(r, value, 1, 12, &lanes))
		return;
	if (!machine_width_code((unsigned)lanes))
		fields_fail(r, "a link has 1, 2, 4, 8 or 12 lanes");
	((struct machine_port *)into)->width = (unsigned)lanes;
}

static void take_mtu(struct reading *r, const json_t *value, void *into)
{
	long mtu;

	if (!fields_number(r, value, 256, 4096, &mtu))
		return;
	if (mtu & (mtu - 1))
		fields_fail(r, "an MTU is 256, 512, 1024, 2048 or 4096");
	((struct machine_port *)into)->mtu = (unsigned)mtu;
}

static void take_mac(struct reading *r, const json_t *value, void *into)
{
	struct machine_port *p = into;
	const char *text = json_string_value(value);
	int n = 0;

	if (!text ||
	    sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &p->mac[0], &p->mac[1],
		   &p->mac[2], &p->mac[3], &p->mac[4], &p->mac[5], &n) != 6 ||
	    text[n])
		fields_fail(r, "not an address of the form \"b8:59:9f:03:ab:cd\"");
}

/* An IP address as a GID; returns its bits, or 0. */
static unsigned parse_ip(const char *text, uint8_t gid[16])
{
	memset(gid, 0, 16);
	if (inet_pton(AF_INET, text, gid + 12) == 1) {
		memset(gid + 10, 0xff, 2);
		return 32;
	}
	return inet_pton(AF_INET6, text, gid) == 1 ? 128 : 0;
}

static void add_address(struct reading *r, const json_t *value, void *into)
{
	struct machine_port *p = into;
	struct machine_address *a = &p->address[p->n_addresses];
	const char *text = json_string_value(value), *slash = text ? strchr(text, '/') : NULL;
	char host[INET6_ADDRSTRLEN] = "", *end = NULL;
	size_t len = slash ? (size_t)(slash - text) : text ? strlen(text) : 0;
	unsigned bits;

	if (text && len < sizeof(host))
		memcpy(host, text, len);
	bits = parse_ip(host, a->gid);
	a->prefix = slash ? (unsigned)strtoul(slash + 1, &end, 10) : bits;
	if (!bits || (slash && (slash[1] < '0' || slash[1] > '9' || *end || a->prefix > bits)))
		fields_fail(r, "not an IP address of the form \"10.0.1.1/24\" or \"fd00::1/64\"");
	p->n_addresses++;
}

static void take_addresses(struct reading *r, const json_t *value, void *into)
{
	((struct machine_port *)into)->n_addresses = 0;
	fields_list(r, value, MACHINE_ADDRESSES, add_address, into);
}

struct literal {
	char gid[64];
	unsigned type;
};

static const char *const types[] = {"v2", "v1", NULL};
static const struct field gid_rows[] = {
	{"gid", FIELD_TEXT, FIELD_AT(struct literal, gid)},
	{"type", FIELD_CHOICE, FIELD_AT(struct literal, type), .choices = types},
	{.key = "note", .kind = FIELD_WORDS},
	{0},
};

/* null, "fe80::1", or {"gid": "fe80::1", "type": "v1"} */
static void add_gid(struct reading *r, const json_t *value, void *into)
{
	struct machine_port *p = into;
	struct machine_gid *g = &p->gid[p->n_gids++];
	const char *text = json_string_value(value);
	struct literal l = {.type = 0};

	*g = (struct machine_gid){.v1 = false};
	if (json_is_null(value))
		return;
	if (text)
		snprintf(l.gid, sizeof(l.gid), "%s", text);
	else
		fields_read(r, value, gid_rows, &l);
	g->v1 = l.type == 1;
	if (!r->failed && !parse_ip(l.gid, g->gid))
		fields_fail(r,
			    "'%s' is no GID: an IPv6 or IPv4 address, or null for an empty entry",
			    l.gid);
}

static void take_gids(struct reading *r, const json_t *value, void *into)
{
	struct machine_port *p = into;
	int layout;

	p->has_layout = true;
	if (json_is_array(value)) {
		p->layout = MACHINE_GIDS_LITERAL;
		p->n_gids = 0;
		fields_list(r, value, MACHINE_GIDS, add_gid, into);
		return;
	}
	layout = fields_choice(r, value, "gids", layouts);
	if (layout >= 0)
		p->layout = (enum machine_layout)layout;
}

static void add_pkey(struct reading *r, const json_t *value, void *into)
{
	struct machine_port *p = into;
	long key;

	if (fields_number(r, value, 0, 0xffff, &key))
		p->pkey[p->n_pkeys++] = (uint16_t)key;
}

static void take_pkeys(struct reading *r, const json_t *value, void *into)
{
	struct machine_port *p = into;

	p->n_pkeys = 0;
	fields_list(r, value, MACHINE_PKEYS, add_pkey, into);
	if (p->n_pkeys == 0)
		fields_fail(r, "a P_Key table has one entry or more");
}

const struct field machine_port_rows[] = {
	{"state", FIELD_TAKE, .take = take_state},
	{"link_layer", FIELD_TAKE, .take = take_layer},
	{"speed", FIELD_TAKE, .take = take_speed},
	{"width", FIELD_TAKE, .take = take_width},
	{"rate", FIELD_NUMBER, FIELD_AT(struct machine_port, rate), .min = 1, .max = 2400},
	{"mtu", FIELD_TAKE, .take = take_mtu},
	{"netdev", FIELD_TEXT, FIELD_AT(struct machine_port, netdev), .ok = machine_is_name,
	 .what = "a name of a network interface"},
	{"mac", FIELD_TAKE, .take = take_mac},
	{"addresses", FIELD_TAKE, .take = take_addresses},
	{"gids", FIELD_TAKE, .take = take_gids},
	{"gid_table_length", FIELD_NUMBER, FIELD_AT(struct machine_port, gid_entries), .min = 1,
	 .max = MACHINE_GIDS},
	{"pkeys", FIELD_TAKE, .take = take_pkeys},
	{.key = "note", .kind = FIELD_WORDS},
	{.key = "source", .kind = FIELD_WORDS},
	{0},
};
