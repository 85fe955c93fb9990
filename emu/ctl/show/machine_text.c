/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See machine_text.h. Rows stand in the order of devices; a part of the tree is drawn where the
 * first of them needs it, with all that lies below.
 */
#include "machine_text.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"

#include <string.h>

#define ROWS_MOST 1024
#define PATH      256

struct row {
	const char *device, *pci, *link, *node, *part, *fw, *board, *state, *rate, *layer, *netdev;
	const char *gids, *pkeys, *parent;
	long port, lid;
	char path[PATH]; /* "0000:15:01.0/0000:16:00.0/0000:18:00.0"; "": on no bus */
	bool drawn;
};

struct drawing {
	FILE *out;
	unsigned n;
	struct row row[ROWS_MOST];
};

static void take_row(struct row *r, const json_t *table, size_t row)
{
	const char *bridges = ctl_cell_text(table, row, "bridges");

	*r = (struct row){
		.device = ctl_cell_text(table, row, "device"),
		.pci = ctl_cell_text(table, row, "pci"),
		.link = ctl_cell_text(table, row, "pci_link"),
		.node = ctl_cell_text(table, row, "numa_node"),
		.part = ctl_cell_text(table, row, "part"),
		.fw = ctl_cell_text(table, row, "fw_version"),
		.board = ctl_cell_text(table, row, "board_id"),
		.state = ctl_cell_text(table, row, "state"),
		.rate = ctl_cell_text(table, row, "rate"),
		.layer = ctl_cell_text(table, row, "link_layer"),
		.netdev = ctl_cell_text(table, row, "netdev"),
		.gids = ctl_cell_text(table, row, "gids"),
		.pkeys = ctl_cell_text(table, row, "pkeys"),
		.parent = ctl_cell_text(table, row, "parent"),
		.port = (long)ctl_cell_number(table, row, "port"),
		.lid = (long)ctl_cell_number(table, row, "lid"),
	};
	snprintf(r->path, sizeof(r->path), "%s%s%s", bridges, *bridges ? "/" : "", r->pci);
}

/* ---- lines ---- */

static void line_begin(const struct drawing *d, const char *margin, bool last)
{
	fprintf(d->out, "%s%s", margin, last ? "└─ " : "├─ ");
}

static void margin_below(const char *margin, bool last, char out[PATH])
{
	snprintf(out, PATH, "%s%s", margin, last ? "   " : "│  ");
}

static void draw_port(const struct drawing *d, const struct row *r, const char *margin, bool last)
{
	line_begin(d, margin, last);
	fprintf(d->out, "port %ld: %s, %s, %s", r->port, r->state, r->rate, r->layer);
	if (r->lid)
		fprintf(d->out, " LID %ld", r->lid);
	if (*r->netdev)
		fprintf(d->out, ", %s", r->netdev);
	if (strcmp(r->pkeys, "0xffff") != 0)
		fprintf(d->out, ", P_Keys %s", r->pkeys);
	if (*r->gids)
		fprintf(d->out, ", GIDs %s", r->gids);
	fputc('\n', d->out);
}

/* The ports of one device follow each other. */
static unsigned ports_of(const struct drawing *d, unsigned first)
{
	unsigned n = 1;

	while (first + n < d->n && strcmp(d->row[first + n].device, d->row[first].device) == 0)
		n++;
	return n;
}

static void draw_device(struct drawing *d, unsigned i, const char *margin, bool last)
{
	const struct row *r = &d->row[i];
	unsigned ports = ports_of(d, i);
	char below[PATH];

	line_begin(d, margin, last);
	if (*r->pci)
		fprintf(d->out, "%s ", r->pci);
	fprintf(d->out, "%s: %s, firmware %s", r->device, r->part, r->fw);
	if (*r->board)
		fprintf(d->out, ", board %s", r->board);
	if (*r->link)
		fprintf(d->out, ", %s", r->link);
	if (strcmp(r->node, "-1") != 0)
		fprintf(d->out, ", NUMA node %s", r->node);
	if (*r->parent)
		fprintf(d->out, ", virtual function of %s", r->parent);
	fputc('\n', d->out);
	margin_below(margin, last, below);
	for (unsigned p = 0; p < ports; p++) {
		d->row[i + p].drawn = true;
		draw_port(d, &d->row[i + p], below, p + 1 == ports);
	}
}

/* ---- the tree ---- */

/* How long the first component of the path behind "at" is. */
static size_t component(const char *path, size_t at)
{
	return strcspn(path + at, "/");
}

static bool is_below(const struct row *r, const char *path, size_t len)
{
	return !r->drawn && strncmp(r->path, path, len) == 0 && (len == 0 || r->path[len]);
}

/* Is there something else below the first "at" bytes than what has the first "len"? */
static bool has_more(const struct drawing *d, unsigned from, size_t at, size_t len)
{
	const char *path = d->row[from].path;

	for (unsigned i = from + 1; i < d->n; i++)
		if (is_below(&d->row[i], path, at) && strncmp(d->row[i].path, path, len) != 0)
			return true;
	return false;
}

/* Is there another device below the first "at" bytes of the path of this one? */
static bool another_follows(const struct drawing *d, unsigned of, size_t at)
{
	for (unsigned i = of + ports_of(d, of); i < d->n; i++)
		if (!d->row[i].drawn && strncmp(d->row[i].path, d->row[of].path, at) == 0)
			return true;
	return false;
}

/* Bridges with nothing else below them stand in one line. */
static size_t whole_chain(const struct drawing *d, unsigned from, size_t at)
{
	const char *path = d->row[from].path;
	size_t end = at + component(path, at);

	while (path[end] && path[end + 1 + component(path, end + 1)] &&
	       !has_more(d, from, end + 1, end + 1 + component(path, end + 1) + 1))
		end += 1 + component(path, end + 1);
	return end;
}

static void draw_below(struct drawing *d, unsigned from, size_t at, const char *margin);

static void draw_bridges(struct drawing *d, unsigned from, size_t at, const char *margin)
{
	const char *path = d->row[from].path;
	size_t end = whole_chain(d, from, at);
	bool last = !has_more(d, from, at, end + 1);
	char below[PATH];

	line_begin(d, margin, last);
	for (size_t i = at; i < end; i++)
		if (path[i] == '/')
			fputs(" > ", d->out);
		else
			fputc(path[i], d->out);
	fputc('\n', d->out);
	margin_below(margin, last, below);
	draw_below(d, from, end + 1, below);
}

/* All that is below the first "at" bytes of the path of this row. */
static void draw_below(struct drawing *d, unsigned from, size_t at, const char *margin)
{
	for (unsigned i = from; i < d->n; i++) {
		struct row *r = &d->row[i];

		if (r->drawn || strncmp(r->path, d->row[from].path, at) != 0)
			continue;
		if (r->path[at + component(r->path, at)])
			draw_bridges(d, i, at, margin);
		else
			draw_device(d, i, margin, !another_follows(d, i, at));
	}
}

bool machine_text_print(FILE *out, const json_t *table)
{
	static struct drawing d;

	d = (struct drawing){.out = out};
	for (size_t i = 0; i < ctl_rows(table) && d.n < ROWS_MOST; i++)
		take_row(&d.row[d.n++], table, i);
	draw_below(&d, 0, 0, "");
	return json_is_array(json_object_get(table, UHCA_CTL_ROWS)) && fflush(out) == 0 &&
	       !ferror(out);
}
