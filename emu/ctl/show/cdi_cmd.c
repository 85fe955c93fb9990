/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl cdi: a specification for podman, docker and others, of an instance that runs.
 */
#include "cdi.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "emu/ctl/run/run_env.h"
#include "grid.h"
#include "show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Containers have the path that the host has, so it is to be one that leads there by itself. */
static int real_path(const char *path, char out[PATH_MAX])
{
	if (realpath(path, out))
		return 0;
	fprintf(stderr, "uhcactl: %s: %s\n", path, strerror(errno));
	return CTL_EXIT_FAILED;
}

int ctl_cdi(const struct ctl_options *o)
{
	char dir[PATH_MAX], preload[PATH_MAX];
	json_t *table;
	int status;

	if (o->n_words != 1)
		return ctl_usage_error("cdi takes no arguments");
	if (ctl_look_beside() < 0) {
		fprintf(stderr, "uhcactl: cannot find its own path in /proc\n");
		return CTL_EXIT_FAILED;
	}
	status = ctl_request(o->dir, ctl_command_show("device"), &table);
	if (status != 0)
		return status;
	status = real_path(o->dir, dir);
	if (status == 0)
		status = real_path(run_env_preload(), preload);
	if (status == 0 && !ctl_print_json(cdi_specification(dir, preload, table)))
		status = CTL_EXIT_FAILED;
	json_decref(table);
	return status;
}
