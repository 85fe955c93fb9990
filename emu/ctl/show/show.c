/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl show: which kinds of objects there are is the daemon's business.
 */
#include "show.h"
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "grid.h"

#include <string.h>

int ctl_show(const struct ctl_options *o)
{
	json_t *table;
	bool ok;
	int status;

	if (o->n_words == 3 && strcmp(o->word[1], "mr") == 0)
		return ctl_walk(o);
	if (o->offset || o->svg)
		return ctl_usage_error("--offset and --svg belong to show mr KEY");
	if (o->n_words != 2)
		return ctl_usage_error("show what? device, client, pd, mr, mw, dm, cq, qp, srq, "
				       "xrcd, ah, wq, rwq_ind_table, flow or cm_id");
	status = ctl_request(
		o->dir, json_pack("{s:s, s:s}", UHCA_CTL_CMD, "show", UHCA_CTL_WHAT, o->word[1]),
		&table);
	if (status != 0)
		return status;
	ok = o->json ? ctl_table_print_json(stdout, table) : ctl_table_print(stdout, table, false);
	json_decref(table);
	return ok ? 0 : CTL_EXIT_FAILED;
}
