/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcactl show fabric: asks for the modelled network, its ports, the way of a queue pair. */
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "fabric_text.h"
#include "show.h"

#include <stdlib.h>

/* ---- the network ---- */

static int get(const struct ctl_options *o, json_t **state, json_t **ports)
{
	int status = ctl_request(o->dir, json_pack("{s:s}", UHCA_CTL_CMD, "fabric"), state);

	if (status != 0)
		return status;
	return ctl_request(o->dir, ctl_command_show("fabric"), ports);
}

int ctl_fabric_state(const struct ctl_options *o, json_t **state)
{
	json_t *ports = NULL;
	int status = get(o, state, &ports);

	if (status == 0)
		json_object_set_new(*state, "ports", ctl_table_objects(ports));
	json_decref(ports);
	return status;
}

int ctl_show_fabric(const struct ctl_options *o)
{
	json_t *state = NULL, *ports = NULL;
	int status = o->json ? ctl_fabric_state(o, &state) : get(o, &state, &ports);
	bool ok = true;

	if (status == 0 && o->json) {
		ok = ctl_print_json(json_incref(state));
	} else if (status == 0) {
		fabric_text_state(stdout, state);
		ok = ctl_table_print(stdout, ports, false);
	}
	json_decref(state);
	json_decref(ports);
	return ok ? status : CTL_EXIT_FAILED;
}

/* ---- the way of a queue pair ---- */

int ctl_show_path(const struct ctl_options *o)
{
	char *end;
	const unsigned long qpn = strtoul(o->word[2], &end, 0);
	json_t *all = NULL, *one;
	size_t i;
	int status;

	if (end == o->word[2] || *end)
		return ctl_usage_error("show fabric QP needs the number of a queue pair");
	status = ctl_request(o->dir,
			     json_pack("{s:s, s:s, s:I}", UHCA_CTL_CMD, "fabric", UHCA_CTL_ACTION,
				       "path", UHCA_CTL_NUMBER, (json_int_t)qpn),
			     &all);
	if (status != 0)
		return status;
	if (o->json)
		return ctl_print_json(all) ? 0 : CTL_EXIT_FAILED;
	json_array_foreach(all, i, one) fabric_text_path(stdout, one);
	json_decref(all);
	return 0;
}
