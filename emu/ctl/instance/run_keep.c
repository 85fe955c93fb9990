/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See run_keep.h. Nothing here may keep the instance from ending: an error is said, and that is
 * all.
 */
#include "run_keep.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "emu/model/ladder/ladders.h"
#include "emu/model/page/page.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX 100000 /* of tests with one name */

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

/* "tests/lost-ack.scn" is "lost-ack"; what would be awkward in a name is a dash. */
static void name_of(const char *test, char out[64])
{
	const char *slash = strrchr(test, '/');
	const char *base = slash && slash[1] ? slash + 1 : test;
	const char *end = strrchr(base, '.');
	size_t n = end && strcmp(end, ".scn") == 0 ? (size_t)(end - base) : strlen(base);

	snprintf(out, 64, "%.*s", (int)n, base);
	for (char *c = out; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("._-", *c))
			*c = '-';
	if (!*out || *out == '.')
		memcpy(out, "test", sizeof("test"));
}

bool run_keep_make(const char *folder, const char *test, char *out)
{
	char name[64];

	name_of(test, name);
	for (unsigned i = 1; i < NAMES_MAX; i++) {
		int n = i == 1 ? snprintf(out, PATH_MAX, "%s/%s", folder, name)
			       : snprintf(out, PATH_MAX, "%s/%s-%u", folder, name, i);

		if (n >= PATH_MAX - NAME_MAX - 1) {
			errno = ENAMETOOLONG;
			break;
		}
		if (mkdir(out, 0777) == 0)
			return true;
		if (errno != EEXIST)
			break;
	}
	complain(out);
	return false;
}

static void place(const char *folder, const char *name, char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/%s", folder, name);
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

/* What people read of it. */
static void keep_model(const char *folder, const char *recorder)
{
	const struct explain_options all = {.has_qp = false};
	char path[PATH_MAX];
	struct model s = {0};
	FILE *f;

	if (model_read(&s, recorder) == 0) {
		place(folder, "explain.txt", path);
		f = ctl_file_open("uhca-run", path);
		if (f) {
			model_explain(f, &s, &all);
			ctl_file_close("uhca-run", path, f);
		}
		place(folder, "report.html", path);
		f = ctl_file_open("uhca-run", path);
		if (f) {
			model_page(f, &s, "recorder.pcapng");
			ctl_file_close("uhca-run", path, f);
		}
	}
	model_free(&s);
}

static bool keep_recorder(const struct run_dir *dir, const char *folder, bool raw)
{
	char path[PATH_MAX];
	json_t *result = NULL;
	bool answers;

	place(folder, "recorder.pcapng", path);
	answers = ask(dir,
		      json_pack("{s:s, s:s, s:s}", UHCA_CTL_CMD, "capture", UHCA_CTL_ACTION, "dump",
				UHCA_CTL_FILE, path),
		      &result);
	if (result && !raw)
		keep_model(folder, path);
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
					    "comp_cntr",
					    "cm_id"};
	json_t *all = json_object(), *table = NULL;
	bool answers = ask(dir, json_pack("{s:s}", UHCA_CTL_CMD, "counters"), &table);

	json_object_set_new(all, "counters", table);
	for (size_t i = 0; answers && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		table = NULL;
		answers = ask(dir, ctl_command_show(kinds[i]), &table);
		if (ctl_rows(table) > 0)
			json_object_set(all, kinds[i], table);
		json_decref(table);
	}
	return all;
}

void run_keep_state(const struct run_dir *dir, const char *folder, bool raw)
{
	char path[PATH_MAX];
	json_t *all;
	FILE *f;

	if (!keep_recorder(dir, folder, raw))
		return;
	place(folder, "state.json", path);
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
	place(folder, "log", path);
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
