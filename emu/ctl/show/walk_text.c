/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the walk from a key to memory as text. */
#include "walk_text.h"

#include "emu/abi/ctl.h"

#include <inttypes.h>
#include <string.h>

uint64_t walk_number(const json_t *walk, const char *name)
{
	return (uint64_t)json_integer_value(json_object_get(walk, name));
}

/* The bits of enum ibv_access_flags. */
static const char *const access_name[] = {
	"local write", "remote write", "remote read", "remote atomic",   "bind windows",
	"zero based",  "on demand",    "huge pages",  "flush to global", "flush to persistent",
};

const char *walk_access(uint64_t access, char *out, size_t cap)
{
	size_t n = (size_t)snprintf(out, cap, "local read");

	for (size_t i = 0; i < sizeof(access_name) / sizeof(access_name[0]); i++)
		if (access & 1u << i && n < cap)
			n += (size_t)snprintf(out + n, cap - n, ", %s", access_name[i]);
	return out;
}

/* Those of a list that are shown, the used one marked; "say" prints what one holds. */
static void print_shown(FILE *out, const json_t *of, void (*say)(FILE *out, const json_t *entry))
{
	uint64_t used = walk_number(of, "entry"), last = UINT64_MAX;
	const json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(of, "shown"), i, entry)
	{
		uint64_t index = walk_number(entry, "index");

		if (index != last + 1)
			fputs("    ...\n", out);
		fprintf(out, "  %c [%" PRIu64 "] ", index == used ? '>' : ' ', index);
		say(out, entry);
		last = index;
	}
}

static void say_page(FILE *out, const json_t *entry)
{
	fprintf(out, "0x%" PRIx64 "\n", walk_number(entry, "page"));
}

static void print_range(FILE *out, const json_t *of)
{
	fprintf(out, "  range      %" PRIu64 " bytes from iova 0x%" PRIx64 "\n",
		walk_number(of, "length"), walk_number(of, "iova"));
}

static void print_key(FILE *out, const json_t *walk)
{
	char access[WALK_ACCESS];

	fprintf(out, "key 0x%08" PRIx64 " of %s, client %" PRIu64 " (%s)\n",
		walk_number(walk, UHCA_CTL_KEY),
		json_string_value(json_object_get(walk, UHCA_CTL_DEVICE)),
		walk_number(walk, "client"), json_string_value(json_object_get(walk, "program")));
	fprintf(out, "  index      0x%06" PRIx64 "  key >> 8 names the region\n",
		walk_number(walk, "index"));
	fprintf(out, "  key byte   0x%02" PRIx64 "      key & 0xff must be the region's own\n",
		walk_number(walk, "key_byte"));
	fprintf(out, "  pd         %" PRIu64 ", the QP's must be the same\n",
		walk_number(walk, "pd"));
	fprintf(out, "  access     %s\n",
		json_object_get(walk, "invalid")
			? "none, the key is invalid"
			: walk_access(walk_number(walk, "access"), access, sizeof(access)));
	if (json_object_get(walk, "window_of"))
		fprintf(out,
			"  window     %" PRIu64 " bytes from byte %" PRIu64
			" of the region of key 0x%08" PRIx64 "\n",
			walk_number(walk, "window_length"), walk_number(walk, "window_offset"),
			walk_number(walk, "window_of"));
}

/* ---- indirect memory keys ---- */

static const struct {
	const char *shape, *list, *one;
} shape[] = {
	{"pages", "pages", "page"},
	{"blocks", "blocks, one after another", "block"},
	{"interleaved", "pieces in each round", "piece"},
	{"sg", "pieces, one after another", "piece"},
};

const char *walk_list_name(const json_t *step, bool one)
{
	const char *name = json_string_value(json_object_get(step, "shape"));

	for (size_t i = 0; name && i < sizeof(shape) / sizeof(shape[0]); i++)
		if (strcmp(name, shape[i].shape) == 0)
			return one ? shape[i].one : shape[i].list;
	return "entry";
}

static void say_piece(FILE *out, const json_t *entry)
{
	fprintf(out, "%" PRIu64 " bytes at 0x%" PRIx64 " of key 0x%08" PRIx64 "\n",
		walk_number(entry, "bytes"), walk_number(entry, "addr"),
		walk_number(entry, UHCA_CTL_KEY));
}

/* Which round, which index in each dimension, and how far they move the piece. */
static void print_rounds(FILE *out, const json_t *step)
{
	uint64_t round = walk_number(step, "round");
	const json_t *dim;
	size_t d;

	fprintf(out,
		"  round      %" PRIu64 " / %" PRIu64 " = %" PRIu64 ", byte %" PRIu64 " of it\n",
		walk_number(step, UHCA_CTL_OFFSET), round, walk_number(step, "repeat"),
		walk_number(step, UHCA_CTL_OFFSET) % round);
	json_array_foreach(json_object_get(step, "dims"), d, dim)
		fprintf(out,
			"  index      %" PRIu64 " of %" PRIu64 " in dimension %zu, times %" PRId64
			" bytes\n",
			walk_number(dim, "index"), walk_number(dim, "count"), d,
			(int64_t)walk_number(dim, "stride"));
}

static void print_position(FILE *out, const json_t *step)
{
	uint64_t first = walk_number(step, "first_offset");
	uint64_t offset = walk_number(step, UHCA_CTL_OFFSET);

	fprintf(out, "  position   %" PRIu64 " + 0x%" PRIx64 " = 0x%" PRIx64 "\n", offset, first,
		offset + first);
	fprintf(out, "  page       0x%" PRIx64 " >> %" PRIu64 " = %" PRIu64 "\n", offset + first,
		walk_number(step, "page_shift"), walk_number(step, "entry"));
}

static void print_step(FILE *out, const json_t *step, bool first)
{
	char access[WALK_ACCESS];

	if (!first) {
		fprintf(out, "key 0x%08" PRIx64 "\n", walk_number(step, UHCA_CTL_KEY));
		fprintf(out, "  access     %s\n",
			walk_access(walk_number(step, "access"), access, sizeof(access)));
	}
	print_range(out, step);
	fprintf(out, "  shape      %s; %s: %" PRIu64 "; depth %" PRIu64 "\n",
		json_string_value(json_object_get(step, "shape")), walk_list_name(step, false),
		walk_number(step, "n"), walk_number(step, "depth"));
	print_shown(out, step, say_piece);
	fprintf(out, "offset %" PRIu64 " of the key (iova 0x%" PRIx64 ")\n",
		walk_number(step, UHCA_CTL_OFFSET),
		walk_number(step, "iova") + walk_number(step, UHCA_CTL_OFFSET));
	if (json_object_get(step, "dims"))
		print_rounds(out, step);
	if (json_object_get(step, "page_shift"))
		print_position(out, step);
	fprintf(out, "  %-10s [%" PRIu64 "], byte 0x%" PRIx64 " of it\n",
		walk_list_name(step, true), walk_number(step, "entry"),
		walk_number(step, "in_entry"));
	fprintf(out,
		"  address    0x%" PRIx64 " of key 0x%08" PRIx64 ", where %" PRIu64
		" bytes are contiguous\n",
		walk_number(step, "child_addr"), walk_number(step, "child_key"),
		walk_number(step, "part"));
}

/* ---- the region at the end ---- */

static void print_pages(FILE *out, const json_t *walk)
{
	uint64_t n = walk_number(walk, "n_pages"), leaf = walk_number(walk, "leaf_entries");

	if (n == 0) {
		fprintf(out, "  pages      none: %s\n",
			json_string_value(json_object_get(walk, "kind")));
		return;
	}
	fprintf(out,
		"  pages      %" PRIu64 " of %" PRIu64 " bytes; byte 0 is at 0x%" PRIx64
		" of page 0\n",
		n, walk_number(walk, "page_size"), walk_number(walk, "first_offset"));
	if (leaf)
		fprintf(out, "  entries    two levels: %" PRIu64 " leaves of %" PRIu64 "\n",
			(n + leaf - 1) / leaf, leaf);
	else
		fputs("  entries    one level\n", out);
	print_shown(out, walk, say_page);
}

static void print_way(FILE *out, const json_t *walk)
{
	uint64_t entry = walk_number(walk, "entry"), leaf = walk_number(walk, "leaf_entries");
	uint64_t position = walk_number(walk, "position");
	uint64_t offset = walk_number(walk, "region_offset");

	fprintf(out, "  position   %" PRIu64 " + 0x%" PRIx64 " = 0x%" PRIx64 "\n", offset,
		walk_number(walk, "first_offset"), position);
	fprintf(out, "  entry      0x%" PRIx64 " >> %" PRIu64 " = %" PRIu64, position,
		walk_number(walk, "page_shift"), entry);
	if (leaf)
		fprintf(out, ", entry %" PRIu64 " of leaf %" PRIu64, entry % leaf, entry / leaf);
	fprintf(out, "\n  in page    0x%" PRIx64 "\n", walk_number(walk, "in_page"));
}

static void print_region(FILE *out, const json_t *walk, bool first)
{
	uint64_t offset = walk_number(walk, "region_offset");
	bool pages = walk_number(walk, "n_pages");

	if (!first)
		fprintf(out, "key 0x%08" PRIx64 ", the region\n", walk_number(walk, "region_key"));
	print_range(out, walk);
	print_pages(out, walk);
	if (!pages && first && !json_object_get(walk, "byte"))
		return;
	fprintf(out, "offset %" PRIu64 " of the region (iova 0x%" PRIx64 ")\n", offset,
		walk_number(walk, "iova") + offset);
	if (pages)
		print_way(out, walk);
	if (json_object_get(walk, "byte"))
		fprintf(out, "  byte       0x%" PRIx64 "\n", walk_number(walk, "byte"));
}

void walk_print_text(FILE *out, const json_t *walk)
{
	const json_t *step;
	size_t i = 0;

	print_key(out, walk);
	json_array_foreach(json_object_get(walk, "steps"), i, step) print_step(out, step, i == 0);
	print_region(out, walk, i == 0);
}
