/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl show: which kinds of objects there are is the daemon's business. Of wide tables a person
 * gets the columns that most look for, in 120 columns of letters, and all with --all.
 */
#include "show.h"
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "grid.h"
#include "machine_text.h"

#include <stdio.h>
#include <string.h>

/* Columns of a table that a person gets, in the daemon's order. */
static const struct {
	const char *what, *columns;
} main_columns[] = {
	{"device", " device node_guid addresses netdev wire clients pd mr cq qp srq "},
	{"qp",
	 " device client qpn type state dest_qpn send_cq recv_cq sends recvs waits retries rnr "
	 "errors "},
	{"mr", " device client lkey rkey kind iova length access pd users pages pinned "},
};

static bool is_main(const char *columns, const json_t *column)
{
	const char *name = json_string_value(json_object_get(column, UHCA_CTL_NAME));
	char word[64];

	snprintf(word, sizeof(word), " %s ", name ? name : "");
	return strstr(columns, word);
}

/* Takes the other columns out of the table. */
static void keep_columns(json_t *table, const char *columns)
{
	json_t *all = json_object_get(table, UHCA_CTL_COLUMNS), *row;
	size_t r;

	for (size_t c = json_array_size(all); c-- > 0;) {
		if (is_main(columns, json_array_get(all, c)))
			continue;
		json_array_remove(all, c);
		json_array_foreach(json_object_get(table, UHCA_CTL_ROWS), r, row)
			json_array_remove(row, c);
	}
}

static void keep_main_columns(json_t *table, const char *what)
{
	for (size_t i = 0; i < sizeof(main_columns) / sizeof(main_columns[0]); i++)
		if (strcmp(what, main_columns[i].what) == 0)
			keep_columns(table, main_columns[i].columns);
}

int ctl_show(const struct ctl_options *o)
{
	char mistake[160];
	json_t *table;
	bool ok, is_tree;
	int status;

	if (o->n_words == 3 && strcmp(o->word[1], "mr") == 0)
		return ctl_walk(o);
	if (o->n_words == 3 && strcmp(o->word[1], "fabric") == 0)
		return ctl_show_path(o);
	if (o->offset || o->svg)
		return ctl_usage_error("--offset and --svg need show mr KEY");
	if (o->n_words > 2) {
		snprintf(mistake, sizeof(mistake), "show %.32s takes no argument '%.64s'",
			 o->word[1], o->word[2]);
		return ctl_usage_error(mistake);
	}
	if (o->n_words != 2)
		return ctl_usage_error(
			"show needs one of device, machine, client, pd, mr, mw, dm, cq, qp, "
			"srq, xrcd, ah, wq, rwq_ind_table, flow, comp_cntr, fabric or cm_id");
	if (strcmp(o->word[1], "fabric") == 0)
		return ctl_show_fabric(o);
	status = ctl_request(o->dir, ctl_command_show(o->word[1]), &table);
	if (status != 0)
		return status;
	is_tree = strcmp(o->word[1], "machine") == 0 && !o->json && !o->all;
	if (!o->json && !o->all)
		keep_main_columns(table, o->word[1]);
	ok = is_tree   ? machine_text_print(stdout, table)
	     : o->json ? ctl_print_json(ctl_table_objects(table))
		       : ctl_table_print(stdout, table, false);
	json_decref(table);
	return ok ? 0 : CTL_EXIT_FAILED;
}
