/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder of a sweep: results that are there, and new ones. */
#include "sweep_folder.h"

#include "emu/ctl/lib/lib.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESULTS "results.jsonl"

static int complain(const char *path, const char *why)
{
	fprintf(stderr, "uhca-run: --sweep-folder %s: %s\n", path, why);
	return -EINVAL;
}

static int place(const struct sweep_folder *folder, const char *name, char out[PATH_MAX])
{
	int n = snprintf(out, PATH_MAX, "%s/%s", folder->path, name);

	return n < PATH_MAX ? 0 : complain(folder->path, strerror(ENAMETOOLONG));
}

static int add(struct sweep_result **results, unsigned *n, const json_t *line)
{
	struct sweep_result r, *more = *results;

	if (sweep_result_unpack(line, &r) < 0)
		return 0; /* the last one may be cut off */
	if (*n % 256 == 0)
		more = reallocarray(*results, *n + 256, sizeof(*more));
	if (!more) {
		sweep_result_free(&r);
		return -ENOMEM;
	}
	*results = more;
	(*results)[(*n)++] = r;
	return 0;
}

/* The first line says which sweep it is. */
static int read_lines(const struct sweep_folder *folder, FILE *f, const json_t *sweep,
		      struct sweep_result **results, unsigned *n)
{
	char *text = NULL;
	size_t cap = 0;
	int error = 0;

	for (unsigned number = 1; error == 0 && getline(&text, &cap, f) >= 0; number++) {
		json_t *line = json_loads(text, 0, NULL);

		if (number > 1)
			error = line ? add(results, n, line) : 0;
		else if (!json_equal(line, sweep))
			error = complain(folder->path, "it has the results of another command or "
						       "sweep; name another folder");
		json_decref(line);
	}
	free(text);
	return error;
}

static int read_before(const struct sweep_folder *folder, const char *path, const json_t *sweep,
		       struct sweep_result **results, unsigned *n)
{
	FILE *f = fopen(path, "re");
	int error;

	if (!f)
		return errno == ENOENT ? 0 : complain(path, strerror(errno));
	error = read_lines(folder, f, sweep, results, n);
	fclose(f);
	return error;
}

static void write_line(FILE *f, json_t *line)
{
	if (line && json_dumpf(line, f, JSON_COMPACT) == 0)
		fputc('\n', f);
	fflush(f);
	json_decref(line);
}

/* Anew: a line that was cut off is not there any more. */
static int write_all(struct sweep_folder *folder, const char *path, json_t *sweep,
		     const struct sweep_result *results, unsigned n)
{
	folder->lines = ctl_file_open("uhca-run", path);
	if (!folder->lines)
		return -EIO;
	write_line(folder->lines, json_incref(sweep));
	for (unsigned i = 0; i < n; i++)
		sweep_folder_write(folder, &results[i]);
	return 0;
}

int sweep_folder_open(struct sweep_folder *folder, const char *path, json_t *sweep,
		      struct sweep_result **results, unsigned *n)
{
	char file[PATH_MAX];
	int error = 0;

	*folder = (struct sweep_folder){.path = path};
	*results = NULL;
	*n = 0;
	if (path && mkdir(path, 0777) < 0 && errno != EEXIST)
		error = complain(path, strerror(errno));
	if (path && error == 0)
		error = place(folder, RESULTS, file);
	if (path && error == 0)
		error = read_before(folder, file, sweep, results, n);
	if (path && error == 0)
		error = write_all(folder, file, sweep, *results, *n);
	json_decref(sweep);
	return error;
}

void sweep_folder_write(struct sweep_folder *folder, const struct sweep_result *r)
{
	if (folder->lines)
		write_line(folder->lines, sweep_result_pack(r));
}

void sweep_folder_keep(const struct sweep_folder *folder, const struct sweep_result *r,
		       const char *output, const char *report)
{
	char name[SWEEP_NAME_MAX + 4], file[PATH_MAX];
	FILE *f;

	if (!folder->path)
		return;
	sweep_item_name(&r->item, name);
	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '.';
	strcat(name, ".txt");
	if (place(folder, name, file) < 0 || !(f = ctl_file_open("uhca-run", file)))
		return;
	fprintf(f, "%s%s", output, report);
	ctl_file_close("uhca-run", file, f);
}

int sweep_folder_close(struct sweep_folder *folder)
{
	FILE *f = folder->lines;

	folder->lines = NULL;
	return !f || ctl_file_close("uhca-run", folder->path, f) ? 0 : -EIO;
}
