/* SPDX-License-Identifier: BSD-2-Clause */
/* uhca-sim: from the command line to files. */
#include "run.h"

#include "emu/output/output.h"
#include "emu/words/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_FAILED = 1, EXIT_WRONG = 2 };

static int fail(int status, const char *what)
{
	fprintf(stderr, "uhca-sim: %s\n", what);
	return status;
}

/* A file that a user names, for writing; NULL with "path" NULL, or said on standard error. */
static FILE *open_out(const char *path, unsigned how, bool *failed)
{
	const int fd = path ? output_open(path, how) : -1;
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (path && !out) {
		fprintf(stderr, "uhca-sim: %s: %s\n", path, output_error(fd < 0 ? fd : -errno));
		*failed = true;
	}
	return out;
}

static bool close_out(FILE *out, const char *path)
{
	if (!out || fclose(out) == 0)
		return true;
	fprintf(stderr, "uhca-sim: %s: %s\n", path, strerror(errno));
	return false;
}

static bool write_files(const struct sim_options *o, json_t *report)
{
	bool failed = false;
	FILE *json = open_out(o->json, 0, &failed), *csv = open_out(o->csv, 0, &failed);

	if (json) {
		json_dumpf(report, json, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
		fputc('\n', json);
	}
	if (csv)
		report_csv(report, csv);
	failed |= !close_out(json, o->json);
	failed |= !close_out(csv, o->csv);
	return !failed;
}

static int do_run(const struct sim_options *o)
{
	bool failed = false;
	FILE *flows, *series;
	char error[600];
	json_t *report;

	if (o->n_words > 1)
		return fail(EXIT_WRONG, "run takes no arguments");
	if (!o->topology || !o->n_workloads)
		return fail(EXIT_WRONG, "run needs --topology and --workload");
	flows = open_out(o->flows, OUTPUT_APPEND, &failed);
	series = open_out(o->series, OUTPUT_APPEND, &failed);
	if (failed)
		return EXIT_FAILED;
	report = run_simulation(o, flows, series, error, sizeof(error));
	failed |= !close_out(flows, o->flows);
	failed |= !close_out(series, o->series);
	if (!report)
		return fail(EXIT_WRONG, error);
	report_text(report, stdout);
	failed |= !write_files(o, report);
	json_decref(report);
	return failed ? EXIT_FAILED : 0;
}

static json_t *load_report(const char *path)
{
	json_error_t e;
	json_t *report = json_load_file(path, 0, &e);

	if (!report)
		fprintf(stderr, "uhca-sim: %s:%d:%d: %s\n", path, e.line, e.column, e.text);
	else if (!report_is_one(report))
		fprintf(stderr, "uhca-sim: %s: not a report of uhca-sim\n", path);
	return report;
}

static int do_compare(const struct sim_options *o)
{
	json_t *before, *after;
	int status = EXIT_FAILED;

	if (o->n_words != 3)
		return fail(EXIT_WRONG, "compare takes two files");
	before = load_report(o->words[1]);
	after = load_report(o->words[2]);
	if (report_is_one(before) && report_is_one(after)) {
		report_compare(before, after, stdout);
		status = 0;
	}
	json_decref(before);
	json_decref(after);
	return status;
}

static int do_topology(struct sim_options *o)
{
	struct fabric_topology t;
	char error[600] = "out of memory";
	int status;

	if (o->n_words != 2)
		return fail(EXIT_WRONG, "topology takes one network");
	o->topology = o->words[1];
	status = run_topology(&t, o, error, sizeof(error));
	if (status == 0)
		fabric_topology_print(&t, stdout);
	fabric_topology_fini(&t);
	return status == 0 ? 0 : fail(EXIT_WRONG, error);
}

static int run_command(struct sim_options *o)
{
	static const char *const commands[] = {"run", "compare", "topology", NULL};
	char said[200];

	if (!o->n_words)
		return fail(EXIT_WRONG, "no command: uhca-sim --help lists them");
	if (strcmp(o->words[0], "run") == 0)
		return do_run(o);
	if (strcmp(o->words[0], "compare") == 0)
		return do_compare(o);
	if (strcmp(o->words[0], "topology") == 0)
		return do_topology(o);
	return fail(EXIT_WRONG,
		    words_refuse(said, sizeof(said), "command", o->words[0], words_at, commands));
}

int main(int argc, char **argv)
{
	static struct sim_options o;
	int status = 0;

	if (sim_options_parse(&o, argc, argv) < 0)
		return fail(EXIT_WRONG, o.error);
	if (!options_answer(&sim_page, &o.about) && !o.listed)
		status = run_command(&o);
	if (fflush(stdout) != 0 && status == 0) {
		perror("uhca-sim");
		status = EXIT_FAILED;
	}
	return status;
}
