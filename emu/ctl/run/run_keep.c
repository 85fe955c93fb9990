/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See run_keep.h. Nothing here may keep the instance from ending: an error is said, and that is
 * all.
 */
#include "run_keep.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static int complain(const char *path)
{
	int e = errno;

	fprintf(stderr, "uhca-run: --keep: %s: %s\n", path, strerror(e));
	return -e;
}

int run_keep_open(const char *named, char *out)
{
	if (mkdir(named, 0777) < 0 && errno != EEXIST)
		return complain(named);
	if (!realpath(named, out) || access(out, W_OK | X_OK) < 0)
		return complain(named);
	return 0;
}

/* The folder of this instance with a file in it: FOLDER/uhca-XXXXXX/NAME. False: said why. */
static bool place(const struct run_dir *dir, const char *folder, const char *name,
		  char out[PATH_MAX])
{
	const char *slash = strrchr(dir->path, '/');
	const char *instance = slash ? slash + 1 : dir->path;

	if (snprintf(out, PATH_MAX, "%s/%s", folder, instance) >= PATH_MAX - NAME_MAX - 1) {
		errno = ENAMETOOLONG;
		complain(folder);
		return false;
	}
	if (mkdir(out, 0777) < 0 && errno != EEXIST) {
		complain(out);
		return false;
	}
	strcat(out, "/");
	strcat(out, name);
	return true;
}

/* False when the daemon does not answer: then it need not be asked again. */
static bool ask(const struct run_dir *dir, json_t *request, json_t **result)
{
	struct ctl_failure f;

	if (ctl_exchange(dir->path, request, result, &f) == 0)
		return true;
	fprintf(stderr, "uhca-run: --keep: %s\n", f.text);
	return f.status != CTL_EXIT_NO_PEER;
}

static bool keep_recorder(const struct run_dir *dir, const char *folder)
{
	char path[PATH_MAX];
	json_t *result = NULL;
	bool answers;

	if (!place(dir, folder, "recorder.pcapng", path))
		return false;
	answers = ask(dir,
		      json_pack("{s:s, s:s, s:s}", UHCA_CTL_CMD, "capture", UHCA_CTL_ACTION, "dump",
				UHCA_CTL_FILE, path),
		      &result);
	json_decref(result);
	return answers;
}

/* All tables, by name, in one object. */
static json_t *all_tables(const struct run_dir *dir)
{
	static const char *const kinds[] = {"device",
					    "client",
					    "pd",
					    "mr",
					    "mw",
					    "dm",
					    "cq",
					    "qp",
					    "srq",
					    "xrcd",
					    "ah",
					    "wq",
					    "rwq_ind_table",
					    "flow",
					    "cm_id"};
	json_t *all = json_object(), *table = NULL;
	bool answers = ask(dir, json_pack("{s:s}", UHCA_CTL_CMD, "counters"), &table);

	json_object_set_new(all, "counters", table);
	for (size_t i = 0; answers && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		table = NULL;
		answers = ask(
			dir, json_pack("{s:s, s:s}", UHCA_CTL_CMD, "show", UHCA_CTL_WHAT, kinds[i]),
			&table);
		if (json_array_size(json_object_get(table, UHCA_CTL_ROWS)) > 0)
			json_object_set(all, kinds[i], table);
		json_decref(table);
	}
	return all;
}

void run_keep_state(const struct run_dir *dir, const char *folder)
{
	char path[PATH_MAX];
	json_t *all;
	FILE *f;

	if (!keep_recorder(dir, folder) || !place(dir, folder, "state.json", path))
		return;
	f = ctl_file_open("uhca-run", path);
	if (!f)
		return;
	all = all_tables(dir);
	json_dumpf(all, f, JSON_INDENT(1));
	ctl_file_close("uhca-run", path, f);
	json_decref(all);
}

void run_keep_log(const struct run_dir *dir, const char *folder)
{
	char from[RUN_DIR_MAX + 8], path[PATH_MAX];
	struct stat st;
	int in;
	FILE *out;

	snprintf(from, sizeof(from), "%s/log", dir->path);
	if (!place(dir, folder, "log", path))
		return;
	in = open(from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (in < 0) {
		complain(from);
		return;
	}
	out = ctl_file_open("uhca-run", path);
	if (out && (fstat(in, &st) < 0 || sendfile(fileno(out), in, NULL, (size_t)st.st_size) < 0))
		complain(path);
	if (out)
		ctl_file_close("uhca-run", path, out);
	close(in);
}
