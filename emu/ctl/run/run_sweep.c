/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See run_sweep.h. A run is what uhca-run --private --sanitize does with the fault's rule, in a
 * network of its own where that can be had: what each listens at is then nobody else's.
 */
#include "run_sweep.h"

#include "emu/abi/sanitize.h"
#include "emu/ctl/instance/instance.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/scenario/scenarios.h"
#include "emu/ctl/sweep/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LEAST_LIMIT 2 /* seconds of a run beside */
#define USUAL_TIMES 4 /* the time of the good run */

struct sweep {
	const struct run_options *options;
	run_hunt_run *run;
	unsigned kinds;
	bool is_good;                 /* the good run is under way */
	bool networks;                /* each run has one */
	char rules[RUN_DIR_MAX + 16]; /* file, of the good run */
	int status;                   /* of the good run */
	double seconds;
	struct sweep_pool pool;
	struct sweep_good good;
	struct sweep_plan plan;
	struct sweep_folder folder;
	struct sweep_result *result; /* of the plan's runs; those that are not made have no item */
	bool *done;
	unsigned before; /* runs of an earlier sweep */
};

/* ---- a run, in its process ---- */

static void set_streams(const struct sweep_slot *slot)
{
	int in = open("/dev/null", O_RDONLY);
	int out = open(slot->output, O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(RUN_EXIT_FAILED);
}

static void sanitize(struct run_options *o, const struct sweep_slot *slot)
{
	static char words[2 * PATH_MAX + 64];

	snprintf(words, sizeof(words), "json=%s:text=%s:exitcode=0:hang_after=0", slot->findings,
		 slot->report);
	if (!o->sanitize)
		o->sanitize = "sum";
	if (o->n_sanitize_words + 2 > RUN_SANITIZE_WORDS_MAX ||
	    setenv(UHCA_SANITIZE_SWEEP_ENV, "1", 1) < 0)
		_exit(RUN_EXIT_FAILED);
	o->sanitize_words[o->n_sanitize_words++] = "--sanitize-options";
	o->sanitize_words[o->n_sanitize_words++] = words;
}

static void set_rules(const struct sweep *s, struct run_options *o, unsigned index)
{
	static char count[SWEEP_RULE_MAX], rule[SWEEP_RULE_MAX];

	o->fault_seed = "1";
	if (s->is_good) {
		o->faults[o->n_faults++] = (struct run_fault){s->rules, true};
		o->counts = true;
		return;
	}
	sweep_item_count_rule(&s->plan.item[index], count);
	sweep_item_rule(&s->plan.item[index], rule);
	o->faults[o->n_faults++] = (struct run_fault){count, false};
	o->faults[o->n_faults++] = (struct run_fault){rule, false};
}

static void become(void *arg, const struct sweep_slot *slot, unsigned index)
{
	const struct sweep *s = arg;
	static struct run_options o;
	int status;

	o = *s->options;
	set_streams(slot);
	o.private_instance = true;
	o.own_network = s->networks;
	o.time_limit = s->pool.limit;
	o.reap = true;
	o.temp = slot->temp;
	o.record = fopen(slot->record, "we");
	if (!o.record)
		_exit(RUN_EXIT_FAILED);
	sanitize(&o, slot);
	set_rules(s, &o, index);
	status = s->run(&o);
	fflush(NULL);
	_exit(status);
}

/* ---- what it left ---- */

static void ended(void *arg, const struct sweep_slot *slot, int status, double seconds)
{
	struct sweep *s = arg;
	struct sweep_evidence e;
	struct sweep_result *r;

	sweep_evidence_read(slot, &e);
	if (s->is_good) {
		s->status = status;
		s->seconds = seconds;
		sweep_judge_good(&s->good, &e);
		if (status != 0)
			fputs(e.output, stderr);
	} else {
		r = &s->result[slot->index];
		sweep_result_free(r);
		*r = (struct sweep_result){
			.item = s->plan.item[slot->index], .status = status, .seconds = seconds};
		sweep_judge(r, &e, &s->good);
		s->done[slot->index] = true;
		sweep_folder_write(&s->folder, r);
		if (r->n > 0)
			sweep_folder_keep(&s->folder, r, e.output, e.report);
	}
	sweep_evidence_free(&e);
}

static bool is_done(void *arg, unsigned index)
{
	const struct sweep *s = arg;

	return s->done[index];
}

/* ---- the good run ---- */

static int write_rules(struct sweep *s)
{
	FILE *f;

	snprintf(s->rules, sizeof(s->rules), "%s/rules", s->pool.dir);
	f = fopen(s->rules, "we");
	if (f)
		sweep_plan_rules(s->kinds, f);
	if (f && fclose(f) == 0)
		return 0;
	fprintf(stderr, "uhca-run: %s: %s\n", s->rules, strerror(errno));
	return -EIO;
}

static int judge_unfit(const struct sweep *s)
{
	if (s->status != 0)
		fprintf(stderr,
			"uhca-run: --sweep: the command ends with status %d without any fault\n",
			s->status);
	else if (s->good.counts.n == 0)
		fprintf(stderr, "uhca-run: --sweep: the command did nothing that could fail: it "
				"made no use of the device\n");
	else
		return 0;
	return s->status == RUN_EXIT_FAILED ? RUN_EXIT_FAILED : RUN_EXIT_UNFIT;
}

static int run_good(struct sweep *s)
{
	int error = write_rules(s);

	if (error < 0)
		return RUN_EXIT_FAILED;
	s->is_good = true;
	s->pool.limit = s->options->time_limit ? s->options->time_limit : RUN_TIME_LIMIT;
	error = sweep_pool_run(&s->pool, 1);
	s->is_good = false;
	if (error)
		return error < 0 ? RUN_EXIT_FAILED : 128 + error;
	if (s->good.counts.lost)
		fprintf(stderr, "uhca-run: --sweep: the command does so much that the daemon has "
				"forgotten its beginning; that is not swept\n");
	return judge_unfit(s);
}

/* ---- the others ---- */

static bool same(const struct sweep_item *a, const struct sweep_item *b)
{
	return a->kind == b->kind && a->client == b->client && a->nth == b->nth &&
	       strcmp(a->what, b->what) == 0 && strcmp(a->how, b->how) == 0;
}

/* Where it is in the plan; plan.n: nowhere. */
static unsigned index_of(const struct sweep *s, const struct sweep_item *item)
{
	unsigned i = 0;

	while (i < s->plan.n && !same(&s->plan.item[i], item))
		i++;
	return i;
}

/* Of two results of a run the later one is right. */
static void take_before(struct sweep *s, struct sweep_result *before, unsigned n)
{
	for (unsigned k = 0; k < n; k++) {
		const unsigned i = index_of(s, &before[k].item);

		if (i == s->plan.n) {
			sweep_result_free(&before[k]);
			continue;
		}
		sweep_result_free(&s->result[i]);
		s->result[i] = before[k];
		s->before += !s->done[i];
		s->done[i] = true;
	}
	if (n > 0)
		fprintf(stderr, "uhca-run: sweep: %u runs were made before\n", s->before);
	free(before);
}

static int open_folder(struct sweep *s)
{
	json_t *command = json_array();
	struct sweep_result *before;
	unsigned n;

	for (unsigned i = 0; s->options->command[i]; i++)
		json_array_append_new(command, json_string(s->options->command[i]));
	if (sweep_folder_open(&s->folder, s->options->sweep_folder,
			      json_pack("{s:i, s:o, s:i, s:i}", "sweep", 1, "command", command,
					"kinds", (int)s->kinds, "each",
					(int)s->options->sweep_each),
			      &before, &n) < 0) {
		free(before);
		return RUN_EXIT_FAILED;
	}
	take_before(s, before, n);
	return 0;
}

static int make_plan(struct sweep *s)
{
	if (sweep_plan_make(&s->good.counts, s->kinds, s->options->sweep_each, &s->plan) < 0)
		return RUN_EXIT_FAILED;
	if (s->options->sweep_only)
		sweep_plan_only(&s->plan, s->options->sweep_only);
	if (s->plan.n == 0) {
		fprintf(stderr, "uhca-run: --sweep: no run is left: the command does nothing that "
				"WHAT and --sweep-only name\n");
		return RUN_EXIT_UNFIT;
	}
	s->result = calloc(s->plan.n, sizeof(*s->result));
	s->done = calloc(s->plan.n, sizeof(*s->done));
	return s->result && s->done ? open_folder(s) : RUN_EXIT_FAILED;
}

static bool has_hung(const struct sweep_result *r)
{
	for (unsigned i = 0; i < r->n; i++)
		if (r->diagnostic[i].of == SWEEP_HANG)
			return true;
	return false;
}

/* hang: for each run that has hung the first one of its kind, from 1; 0: it has not. */
static int find_hangs(struct sweep *s, struct sweep_known *known, unsigned *hang)
{
	struct sweep_groups groups;

	if (sweep_groups_make(s->result, s->plan.n, known, &groups) < 0)
		return -ENOMEM;
	for (unsigned g = 0; g < groups.n; g++)
		for (unsigned k = 0; k < groups.at[g].n; k++)
			if (groups.at[g].diagnostic->of == SWEEP_HANG)
				hang[index_of(s, groups.at[g].run[k])] =
					index_of(s, groups.at[g].run[0]) + 1;
	sweep_groups_free(&groups);
	return 0;
}

/*
 * A run that was slow because of the others has not hung. One of each kind of hang is made again,
 * with twice the time; when it ends now, so are the others of its kind.
 */
static int run_again(struct sweep *s, const unsigned *hang)
{
	int status;

	s->pool.limit *= 2;
	for (unsigned i = 0; i < s->plan.n; i++)
		if (hang[i] == i + 1)
			s->done[i] = false;
	status = sweep_pool_run(&s->pool, s->plan.n);
	for (unsigned i = 0; i < s->plan.n && status == 0; i++)
		if (hang[i] && hang[i] != i + 1 && !has_hung(&s->result[hang[i] - 1]))
			s->done[i] = false;
	return status ? status : sweep_pool_run(&s->pool, s->plan.n);
}

static int look_again(struct sweep *s, struct sweep_known *known)
{
	unsigned *hang = calloc(s->plan.n, sizeof(*hang));
	int status = hang ? find_hangs(s, known, hang) : -ENOMEM;
	bool any = false;

	for (unsigned i = 0; status == 0 && i < s->plan.n; i++)
		any |= hang[i] != 0;
	if (any && !s->options->time_limit)
		status = run_again(s, hang);
	free(hang);
	return status;
}

static int run_plan(struct sweep *s, struct sweep_known *known)
{
	const double usual = s->seconds;
	int status = make_plan(s);

	if (status)
		return status;
	s->pool.usual = usual;
	s->pool.limit = s->options->time_limit ? s->options->time_limit
					       : LEAST_LIMIT + (unsigned)(USUAL_TIMES * usual);
	s->pool.is_done = is_done;
	s->pool.shows = true;
	fprintf(stderr, "uhca-run: sweep: the good run took %.2f s; %u runs follow, %u s each\n",
		usual, s->plan.n, s->pool.limit);
	status = sweep_pool_run(&s->pool, s->plan.n);
	if (status == 0)
		status = look_again(s, known);
	if (sweep_folder_close(&s->folder) < 0 && status == 0)
		return RUN_EXIT_FAILED;
	return status < 0 ? RUN_EXIT_FAILED : status ? 128 + status : 0;
}

/* ---- the report ---- */

/* Those that were made, in the order of the plan. */
static unsigned put_together(struct sweep *s)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->plan.n; i++)
		if (s->done[i])
			s->result[n++] = s->result[i];
	return n;
}

static int write_files(const struct run_options *o, const struct sweep_report *report)
{
	int error = 0;

	if (o->junit)
		error |= sweep_report_junit(report, o->junit);
	if (o->html)
		error |= sweep_report_html(report, o->html);
	return error;
}

static int report(struct sweep *s, struct sweep_known *known, int status, double seconds)
{
	struct sweep_groups groups;
	struct sweep_report r = {.plan = &s->plan,
				 .result = s->result,
				 .groups = &groups,
				 .command = s->options->command,
				 .seconds = seconds,
				 .interrupted = status > 128};

	r.n = put_together(s);
	if (sweep_groups_make(s->result, r.n, known, &groups) < 0)
		return RUN_EXIT_FAILED;
	sweep_report_text(stdout, &r);
	fflush(stdout);
	if (!r.interrupted)
		sweep_known_print_unused(known);
	if (write_files(s->options, &r) < 0)
		status = RUN_EXIT_FAILED;
	else if (status == 0 && groups.unknown > 0)
		status = RUN_EXIT_FOUND;
	sweep_groups_free(&groups);
	return status;
}

/* ---- all of it ---- */

/* Each run gets one where that can be had. What another uhca-run would say of it is not said. */
static bool can_have_networks(const struct run_options *o)
{
	pid_t child = o->addressed ? -1 : fork();
	int status = -1, null;

	if (child == 0) {
		null = open("/dev/null", O_WRONLY);
		if (null >= 0)
			dup2(null, STDERR_FILENO);
		_exit(run_network_own() == 0 ? 0 : 1);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return child > 0 && status == 0;
}

/* In one network runs would meet at their ports: one after the other then. */
static void choose_jobs(struct sweep *s)
{
	const long processors = sysconf(_SC_NPROCESSORS_ONLN);

	s->networks = can_have_networks(s->options);
	s->pool.jobs = s->options->sweep_jobs          ? s->options->sweep_jobs
		       : s->networks && processors > 0 ? (unsigned)processors
						       : 1;
}

static int sweep(struct sweep *s, struct sweep_known *known)
{
	const uint64_t began = ctl_now();
	int status;

	sweep_pool_hold_signals(&s->pool);
	choose_jobs(s);
	status = run_good(s);
	if (status == 0)
		status = run_plan(s, known);
	if (s->done && (status == 0 || status > 128))
		status = report(s, known, status, ctl_seconds_since(began));
	sweep_plan_free(&s->plan);
	sweep_counts_free(&s->good.counts);
	sweep_result_free(&s->good.result);
	return status;
}

/* Before the runs: after them it would be too late to hear that a file cannot be written. */
static int begin_files(const struct run_options *o)
{
	if (o->junit && scenario_begin_report(o->junit) < 0)
		return -EIO;
	return o->html ? scenario_begin_report(o->html) : 0;
}

int run_sweep(const struct run_options *options, run_hunt_run *run)
{
	static struct sweep s;
	struct sweep_known *known = NULL;
	struct run_dir dir;
	char error[512];
	int status = RUN_EXIT_FAILED;

	s.options = options;
	s.run = run;
	if (sweep_kinds_parse(options->sweep, &s.kinds, error, sizeof(error)) < 0)
		fprintf(stderr, "uhca-run: --sweep: %s\n", error);
	else if (begin_files(options) == 0 && sweep_known_read(options->known, &known) == 0 &&
		 run_dir_private(&dir) == 0) {
		s.pool.dir = dir.path;
		s.pool.become = become;
		s.pool.ended = ended;
		s.pool.arg = &s;
		status = sweep(&s, known);
		run_dir_remove(dir.path);
	}
	sweep_known_free(known);
	return status;
}

/* ---- one of them again ---- */

/* What uhcactl makes of the last packets, on standard output. */
static void show(const char *command, const char *kept)
{
	char capture[PATH_MAX];
	pid_t pid;

	if (snprintf(capture, sizeof(capture), "%s/recorder.pcapng", kept) >=
		    (int)sizeof(capture) ||
	    access(capture, R_OK) < 0)
		return;
	printf("\n---- uhcactl %s %s ----\n", command, capture);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execlp("uhcactl", "uhcactl", command, capture, (char *)NULL);
		fprintf(stderr, "uhca-run: uhcactl: %s\n", strerror(errno));
		_exit(RUN_EXIT_NOT_FOUND);
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* A folder of the run's name for all that is kept of it. */
static int make_folder(const struct run_options *options, char name[SWEEP_NAME_MAX],
		       char folder[PATH_MAX])
{
	char named[PATH_MAX];

	for (char *c = name; *c; c++)
		if (*c == '/')
			*c = '.';
	if (run_keep_open(options->keep ? options->keep : ".", named) < 0 ||
	    !run_keep_make(named, name, folder))
		return -EIO;
	return 0;
}

int run_sweep_repeat(const struct run_options *options, run_hunt_run *run)
{
	static char rule[SWEEP_RULE_MAX], name[SWEEP_NAME_MAX], folder[PATH_MAX], kept[PATH_MAX];
	static struct run_options o;
	struct sweep_item item;
	char words[512];
	int status;

	if (sweep_item_parse(options->sweep_repeat, &item, words, sizeof(words)) < 0) {
		fprintf(stderr, "uhca-run: --sweep-repeat: %s\n", words);
		return RUN_EXIT_FAILED;
	}
	o = *options;
	sweep_item_name(&item, name);
	sweep_item_rule(&item, rule);
	if (make_folder(options, name, folder) < 0 || setenv(UHCA_SANITIZE_SWEEP_ENV, "1", 1) < 0)
		return RUN_EXIT_FAILED;
	o.private_instance = o.reap = true;
	o.own_network |= can_have_networks(options);
	o.fault_seed = "1";
	o.faults[o.n_faults++] = (struct run_fault){rule, false};
	o.keep = folder;
	o.test = "run";
	o.sanitize = o.sanitize ? o.sanitize : "sum";
	o.time_limit = o.time_limit ? o.time_limit : RUN_TIME_LIMIT;
	sweep_item_words(&item, words, sizeof(words));
	fprintf(stderr, "uhca-run: %s: %s\n", words, rule);
	status = run(&o);
	if (snprintf(kept, sizeof(kept), "%s/run", folder) < (int)sizeof(kept)) {
		show("ladder", kept);
		show("explain", kept);
		printf("\nkept in %s: log, packets, report.html, counters and objects\n", kept);
	}
	return status;
}
