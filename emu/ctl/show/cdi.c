/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcactl cdi: writes a specification of the Container Device Interface. */
#include "cdi.h"

#include "emu/abi/ctl.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Where a host's folder is in the container: under the same name. NULL: memory. */
static json_t *mount_of(const char *folder, size_t len, const char *access)
{
	return json_pack("{s:s%, s:s%, s:[s, s, s, s]}", "hostPath", folder, len, "containerPath",
			 folder, len, "options", access, "nosuid", "nodev", "bind");
}

static json_t *variable(const char *name, const char *value)
{
	return json_pack("s++", name, "=", value);
}

/* Sockets of the instance are written to, and its folder read; the libraries are executed. */
static json_t *edits_of(const char *dir, const char *preload)
{
	size_t folder = (size_t)(strrchr(preload, '/') - preload);

	return json_pack("{s:[o, o], s:[o, o]}", "env", variable("UHCA_DIR", dir),
			 variable("LD_PRELOAD", preload), "mounts",
			 mount_of(dir, strlen(dir), "rw"), mount_of(preload, folder, "ro"));
}

/* A letter, then letters, digits and "_-.:", of which the last is none. */
static bool is_name(const char *name)
{
	size_t len = strlen(name);

	return len > 0 && isalpha((unsigned char)name[0]) &&
	       isalnum((unsigned char)name[len - 1]) &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz"
			    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:") == len;
}

static int add_device(json_t *devices, const char *name, json_t *edits)
{
	if (!name || !is_name(name))
		return -1;
	return json_array_append_new(
		devices, json_pack("{s:s, s:O}", "name", name, "containerEdits", edits));
}

json_t *cdi_specification(const char *dir, const char *preload, const json_t *table)
{
	json_t *devices = json_array(), *edits = edits_of(dir, preload), *spec = NULL;
	const json_t *row;
	size_t i;
	int failed = !devices || !edits || add_device(devices, CDI_ALL, edits) < 0;

	json_array_foreach(json_object_get(table, UHCA_CTL_ROWS), i, row) failed =
		failed || add_device(devices, json_string_value(json_array_get(row, 0)), edits) < 0;
	if (!failed)
		spec = json_pack("{s:s, s:s, s:O}", "cdiVersion", "0.3.0", "kind", CDI_KIND,
				 "devices", devices);
	json_decref(devices);
	json_decref(edits);
	return spec;
}
