/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcactl show mr KEY: asks for the walk and hands it to who tells or draws it. */
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "show.h"
#include "walk_svg.h"
#include "walk_text.h"

static int draw(const char *file, const json_t *walk)
{
	FILE *f = ctl_file_open("uhcactl", file);

	if (!f)
		return CTL_EXIT_FAILED;
	walk_print_svg(f, walk);
	return ctl_file_close("uhcactl", file, f) ? 0 : CTL_EXIT_FAILED;
}

int ctl_walk(const struct ctl_options *o)
{
	uint64_t key, offset = 0;
	char mistake[128];
	json_t *walk;
	int status;

	if (!ctl_number(o->word[2], 0, UINT32_MAX, &key)) {
		snprintf(mistake, sizeof(mistake),
			 "'%.64s' is not a key, a 32-bit number such as 0x1a2b3c4d", o->word[2]);
		return ctl_usage_error(mistake);
	}
	if (o->offset && !ctl_number(o->offset, 0, INT64_MAX, &offset))
		return ctl_usage_error("--offset needs a number of bytes");
	status = ctl_request(o->dir,
			     json_pack("{s:s, s:I, s:I}", UHCA_CTL_CMD, "walk", UHCA_CTL_KEY,
				       (json_int_t)key, UHCA_CTL_OFFSET, (json_int_t)offset),
			     &walk);
	if (status == 0 && o->svg)
		status = draw(o->svg, walk);
	else if (status == 0 && o->json)
		json_dumpf(walk, stdout, JSON_INDENT(2)), putchar('\n');
	else if (status == 0)
		walk_print_text(stdout, walk);
	json_decref(walk);
	return status;
}
