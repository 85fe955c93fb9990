/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See run_hunt.h. A run is a process group of its own: one that hangs is ended with all that the
 * command has started. What it writes is shown only when it fails.
 */
#include "run_hunt.h"

#include "emu/ctl/instance/instance.h"
#include "emu/ctl/scenario/scenarios.h"
#include "run_chaos.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE    5  /* seconds for the end of a run that was told to end */
#define LATE     30 /* seconds that a run gets to tell what its command waited for, and to end */
#define ATTEMPTS 3  /* a relaxation is not taken for harmless before */

struct hunt {
	const struct run_options *options;
	run_hunt_run *run;
	FILE *output; /* of the last run */
	uint64_t seed;
	unsigned part[RELAXATIONS_MAX]; /* minimise: which relaxation it is */
};

/* ---- one run ---- */

static unsigned limit_of(const struct hunt *h)
{
	return h->options->time_limit ? h->options->time_limit : RUN_TIME_LIMIT;
}

static void __attribute__((noreturn))
become_run(const struct hunt *h, chaos_set taken, pid_t parent)
{
	struct run_options options = *h->options;
	int null = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(RUN_EXIT_FAILED);
	setpgid(0, 0);
	if (null < 0 || dup2(null, 0) < 0 || dup2(fileno(h->output), 1) < 0 ||
	    dup2(fileno(h->output), 2) < 0)
		_exit(RUN_EXIT_FAILED);
	options.time_limit = limit_of(h);
	options.chaos =
		(struct chaos){.has_seed = true, .seed = h->seed, .only = true, .named = taken};
	int status = h->run(&options);
	fflush(NULL);
	_exit(status);
}

/* What the command left behind goes with it; until it is collected the number is the group's. */
static int collect(pid_t pid)
{
	int status;

	kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return RUN_EXIT_FAILED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int wait_for(pid_t pid, unsigned limit)
{
	if (run_hang_ends_within(pid, (int)limit * 1000))
		return collect(pid);
	kill(-pid, SIGTERM);
	run_hang_ends_within(pid, GRACE * 1000);
	collect(pid);
	return RUN_EXIT_TOO_LONG;
}

static int run_once(struct hunt *h, chaos_set taken)
{
	pid_t parent = getpid(), pid;

	rewind(h->output);
	if (ftruncate(fileno(h->output), 0) < 0)
		return RUN_EXIT_FAILED;
	pid = fork();
	if (pid == 0)
		become_run(h, taken, parent);
	if (pid < 0) {
		fprintf(stderr, "uhca-run: fork: %s\n", strerror(errno));
		return RUN_EXIT_FAILED;
	}
	setpgid(pid, pid); /* whoever of us comes first */
	return wait_for(pid, limit_of(h) + LATE);
}

/* ---- what it said ---- */

static void show_output(struct hunt *h)
{
	char piece[4096];
	size_t n;

	rewind(h->output);
	while ((n = fread(piece, 1, sizeof(piece), h->output)) > 0)
		fwrite(piece, 1, n, stderr);
}

static void print_failure(const struct hunt *h, int status, uint64_t passed)
{
	fprintf(stderr,
		"uhca-run: chaos seed %" PRIu64 " fails, after %" PRIu64 " that passed: ", h->seed,
		passed);
	if (status == RUN_EXIT_TOO_LONG)
		fprintf(stderr,
			"the command did not end within %u seconds, or ended with "
			"status %d\n",
			limit_of(h), status);
	else
		fprintf(stderr, "status %d\n", status);
}

/* ---- which relaxation it is ---- */

static chaos_set kept(const struct hunt *h, const struct minimise *m)
{
	chaos_set taken = 0;

	for (unsigned i = 0; i < m->n; i++)
		if (m->keep[i])
			taken |= UINT32_C(1) << h->part[i];
	return taken;
}

static int run_less(struct minimise *m)
{
	const int status = run_once(m->arg, kept(m->arg, m));

	return status == RUN_EXIT_FAILED ? -EIO : status;
}

static void print_least(const struct hunt *h, const struct minimise *m)
{
	fprintf(stderr, "uhca-run: %u of %u relaxations matter%s, found in %u runs:\n", m->left,
		m->n, m->left == 1 ? "s" : "", m->runs);
	for (unsigned i = 0; i < m->n; i++)
		if (m->keep[i])
			fprintf(stderr, "uhca-run:   %s: %s (%s)\n", relaxations[h->part[i]].name,
				relaxations[h->part[i]].what, relaxations[h->part[i]].clause);
	run_chaos_again(h->options, h->seed, kept(h, m), true);
}

static void reduce(struct hunt *h, chaos_set taken)
{
	struct minimise m = {.times = ATTEMPTS, .known = true, .run = run_less, .arg = h};

	for (unsigned i = 0; i < n_relaxations; i++)
		if (taken >> i & 1)
			h->part[m.n++] = i;
	switch (minimise(&m)) {
	case MINIMISE_FOUND:
	case MINIMISE_PASSES:
		print_least(h, &m);
		break;
	case MINIMISE_WITHOUT:
		fprintf(stderr, "uhca-run: the command also fails without any relaxation\n");
		break;
	case MINIMISE_CANNOT:
		fprintf(stderr, "uhca-run: a run of the reduction failed to start\n");
		break;
	}
}

/* ---- the hunt ---- */

static int found(struct hunt *h, chaos_set taken, int status, uint64_t passed)
{
	show_output(h);
	if (status == RUN_EXIT_FAILED)
		return status;
	print_failure(h, status, passed);
	run_chaos_again(h->options, h->seed, taken, false);
	if (h->options->minimise)
		reduce(h, taken);
	return status;
}

static int hunt(struct hunt *h, const struct chaos *first)
{
	const uint64_t times = h->options->times ? h->options->times : 1;
	struct chaos c = *first;

	for (uint64_t i = 0; i < times; i++) {
		c.seed = h->seed = first->seed + i;
		const int status = run_once(h, chaos_taken(&c));

		if (status != 0)
			return found(h, chaos_taken(&c), status, i);
	}
	fprintf(stderr, "uhca-run: chaos: %" PRIu64 " seed%s passed, from %" PRIu64 "\n", times,
		times == 1 ? "" : "s", first->seed);
	return 0;
}

int run_hunt(const struct run_options *options, run_hunt_run *run)
{
	struct hunt h = {.options = options, .run = run, .output = tmpfile()};
	struct chaos first = options->chaos;
	int status;

	if (!h.output) {
		fprintf(stderr, "uhca-run: a temporary file: %s\n", strerror(errno));
		return RUN_EXIT_FAILED;
	}
	run_chaos_settle(&first);
	signal(SIGCHLD, SIG_DFL); /* it may come ignored, and wait would find nobody */
	status = hunt(&h, &first);
	fclose(h.output);
	return status;
}
