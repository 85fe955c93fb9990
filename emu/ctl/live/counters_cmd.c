/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl counters: a line for each counter, a column for each device.
 */
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "emu/ctl/show/show.h"
#include "live.h"

int ctl_counters(const struct ctl_options *o)
{
	json_t *table;
	bool ok;
	int status;

	if (o->n_words != 1)
		return ctl_usage_error("counters takes no arguments");
	status = ctl_request(o->dir, json_pack("{s:s}", UHCA_CTL_CMD, "counters"), &table);
	if (status != 0)
		return status;
	ok = o->json ? ctl_print_json(ctl_table_objects(table))
		     : ctl_table_print(stdout, table, true);
	json_decref(table);
	return ok ? 0 : CTL_EXIT_FAILED;
}
