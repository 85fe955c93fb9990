/* SPDX-License-Identifier: BSD-2-Clause */
/* See walk_text.h. */
#include "walk_text.h"

#include "ctl.h"

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

static void print_entries(FILE *out, const json_t *walk)
{
	uint64_t used = walk_number(walk, "entry");
	uint64_t last = UINT64_MAX;
	const json_t *entry;
	size_t i;

	json_array_foreach(json_object_get(walk, "shown"), i, entry)
	{
		uint64_t index = walk_number(entry, "index");

		if (index != last + 1)
			fputs("    ...\n", out);
		fprintf(out, "  %c [%" PRIu64 "] 0x%" PRIx64 "\n", index == used ? '>' : ' ', index,
			walk_number(entry, "page"));
		last = index;
	}
}

static void print_region(FILE *out, const json_t *walk)
{
	uint64_t iova = walk_number(walk, "iova"), length = walk_number(walk, "length");
	char access[160];

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
		walk_access(walk_number(walk, "access"), access, sizeof(access)));
	if (json_object_get(walk, "region_key"))
		fprintf(out,
			"  window     %" PRIu64 " bytes from byte %" PRIu64
			" of the region of key 0x%08" PRIx64 "\n",
			walk_number(walk, "window_length"), walk_number(walk, "window_offset"),
			walk_number(walk, "region_key"));
	fprintf(out, "  range      %" PRIu64 " bytes from iova 0x%" PRIx64 "\n", length, iova);
}

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
	print_entries(out, walk);
}

static void print_walk(FILE *out, const json_t *walk)
{
	uint64_t entry = walk_number(walk, "entry"), leaf = walk_number(walk, "leaf_entries");
	uint64_t position = walk_number(walk, "position");
	uint64_t offset = walk_number(walk, UHCA_CTL_OFFSET) + walk_number(walk, "window_offset");

	fprintf(out, "offset %" PRIu64 " of the region (iova 0x%" PRIx64 ")\n", offset,
		walk_number(walk, "iova") + offset);
	fprintf(out, "  position   %" PRIu64 " + 0x%" PRIx64 " = 0x%" PRIx64 "\n", offset,
		walk_number(walk, "first_offset"), position);
	fprintf(out, "  entry      0x%" PRIx64 " >> %" PRIu64 " = %" PRIu64, position,
		walk_number(walk, "page_shift"), entry);
	if (leaf)
		fprintf(out, ", entry %" PRIu64 " of leaf %" PRIu64, entry % leaf, entry / leaf);
	fprintf(out, "\n  in page    0x%" PRIx64 "\n  byte       0x%" PRIx64 "\n",
		walk_number(walk, "in_page"), walk_number(walk, "byte"));
}

void walk_print_text(FILE *out, const json_t *walk)
{
	print_region(out, walk);
	print_pages(out, walk);
	if (walk_number(walk, "n_pages"))
		print_walk(out, walk);
}
