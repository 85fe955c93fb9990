/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhcactl minimise FILE [-- COMMAND...]: which of the rules of a failing plan matter? The parts of
 * the search are the rules, one line each, and where a rule names several matches (nth=3,7,9, as a
 * replayed trace does) each of these. FILE is a file of rules, tried with
 *
 *	uhca-run [--devices N] [--wire] [--fault-seed N] --private --fault-file RULES -- COMMAND
 *
 * or, without a command, a scenario, of which only its fault lines are parts. "Fails" means the
 * exit status that all rules together give. What fails by chance is tried several times: a set of
 * rules fails when one of its tries does.
 */
#include "captured.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "emu/ctl/scenario/scenarios.h"
#include "emu/ctl/show/show.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINES_MAX 4096
#define CANNOT    125 /* uhca-run itself could not do it */
#define WORDS_MAX 256 /* of the command */
#define ARGS_MAX  (WORDS_MAX + 11)
#define TIMES_MAX 10000

/* A line of the file, or one match of a rule in it. */
struct part {
	unsigned line;
	char nth[48]; /* "": the line as it is */
};

struct plan {
	char *const *command; /* NULL: a scenario */
	const struct ctl_options *given;
	struct minimise m;
	char *text;
	char *line[LINES_MAX];
	unsigned n_lines;
	struct part part[MINIMISE_MAX];
	char file[256]; /* that is tried */
};

static int complain(const char *file, const char *what)
{
	fprintf(stderr, "uhcactl: %s: %s\n", file, what);
	return CTL_EXIT_FAILED;
}

/* ---- the parts ---- */

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t");
}

/* Does the line hold a rule that may go? In a scenario behind "fault" or "optional fault". */
static bool is_part(const struct plan *p, const char *line)
{
	const char *at = skip_space(line);

	if (!*at || *at == '#')
		return false;
	if (p->command)
		return true;
	if (strncmp(at, "optional", 8) == 0)
		at = skip_space(at + 8);
	return strncmp(at, "fault", 5) == 0 && isspace((unsigned char)at[5]);
}

/* The list behind " nth=", or NULL. */
static const char *list_of(const char *line)
{
	const char *at = strstr(line, " nth=");

	return at ? at + 5 : NULL;
}

static bool add_part(struct plan *p, unsigned line, const char *nth, size_t len)
{
	struct part *part = &p->part[p->m.n];

	if (p->m.n == MINIMISE_MAX || len >= sizeof(part->nth))
		return false;
	part->line = line;
	memcpy(part->nth, nth, len);
	part->nth[len] = '\0';
	p->m.n++;
	return true;
}

static bool add_parts(struct plan *p, unsigned line)
{
	const char *list = list_of(p->line[line]);
	bool fits = true;

	if (!is_part(p, p->line[line]))
		return true;
	if (!list || !memchr(list, ',', strcspn(list, " \t")))
		return add_part(p, line, "", 0);
	while (fits && *list && !isspace((unsigned char)*list)) {
		size_t len = strcspn(list, ", \t");

		fits = add_part(p, line, list, len);
		list += len + (list[len] == ',');
	}
	return fits;
}

static int read_plan(struct plan *p, const char *file)
{
	FILE *f = fopen(file, "re");
	size_t room = 0, used;

	if (!f)
		return complain(file, strerror(errno));
	errno = 0;
	used = getdelim(&p->text, &room, '\0', f) > 0 ? strlen(p->text) : 0;
	fclose(f);
	if (used == 0)
		return complain(file, errno ? strerror(errno) : "the file is empty");
	for (char *at = p->text; at && *at;) {
		char *end = strchr(at, '\n');

		if (end)
			*end = '\0';
		if (p->n_lines == LINES_MAX)
			return complain(file, "too many lines");
		p->line[p->n_lines++] = at;
		if (!add_parts(p, p->n_lines - 1))
			return complain(file, "too many rules");
		at = end ? end + 1 : NULL;
	}
	if (p->m.n > 0)
		return 0;
	return complain(file, p->command ? "the file has no rule"
					 : "the file is not a scenario with rules; for a file of "
					   "rules add the command: minimise FILE -- COMMAND");
}

/* ---- what is left of it, as a file ---- */

static void put_line(FILE *f, const struct plan *p, unsigned line)
{
	const char *text = p->line[line], *list = list_of(text);
	bool first = true;

	for (unsigned i = 0; i < p->m.n; i++) {
		const struct part *part = &p->part[i];

		if (part->line != line || !p->m.keep[i])
			continue;
		if (!part->nth[0]) {
			fprintf(f, "%s\n", text);
			return;
		}
		if (first)
			fprintf(f, "%.*s", (int)(list - text), text);
		fprintf(f, "%s%s", first ? "" : ",", part->nth);
		first = false;
	}
	if (!first)
		fprintf(f, "%s\n", list + strcspn(list, " \t"));
}

static void put_plan(FILE *f, const struct plan *p)
{
	for (unsigned i = 0; i < p->n_lines; i++) {
		if (is_part(p, p->line[i]))
			put_line(f, p, i);
		else
			fprintf(f, "%s\n", p->line[i]);
	}
}

static bool write_trial(const struct plan *p)
{
	FILE *f = ctl_file_open("uhcactl", p->file);

	if (!f)
		return false;
	put_plan(f, p);
	return ctl_file_close("uhcactl", p->file, f);
}

/* ---- a trial ---- */

static void __attribute__((noreturn)) become_trial(const struct plan *p)
{
	const char *argv[ARGS_MAX] = {"uhca-run"};
	unsigned n = 1;
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
		_exit(CANNOT);
	unsetenv("UHCA_DIR");
	if (p->given->devices) {
		argv[n++] = "--devices";
		argv[n++] = p->given->devices;
	}
	if (p->given->fault_seed) {
		argv[n++] = "--fault-seed";
		argv[n++] = p->given->fault_seed;
	}
	if (p->given->wire)
		argv[n++] = "--wire";
	if (p->command) {
		argv[n++] = "--private";
		argv[n++] = "--fault-file";
		argv[n++] = p->file;
		argv[n++] = "--";
		for (unsigned i = 0; p->command[i]; i++)
			argv[n++] = p->command[i];
	} else {
		argv[n++] = "--scenario";
		argv[n++] = p->file;
	}
	argv[n] = NULL;
	execvp(argv[0], (char *const *)(const void *)argv);
	_exit(CANNOT);
}

/* A scenario may speak of a rule that is not in this one: it fails in another way. */
static int run_trial(struct minimise *m)
{
	struct plan *p = m->arg;
	int status = CANNOT;
	pid_t pid;

	if (!write_trial(p))
		return -EIO;
	pid = fork();
	if (pid == 0)
		become_trial(p);
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -EIO;
	status = pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : CANNOT;
	return status == CANNOT && (p->command || !m->status) ? -EIO : status;
}

static void print_tries(const struct minimise *m, unsigned failed, int status)
{
	fprintf(stderr, "%u of %u rules: ", m->left, m->n);
	if (m->times == 1)
		fprintf(stderr, "status %d\n", status);
	else
		fprintf(stderr, "%u of %u runs fail\n", failed, m->times);
}

/* ---- */

static int print_json(const struct plan *p)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool ok = out;

	if (out) {
		put_plan(out, p);
		fclose(out);
		ok = ctl_print_json(json_pack("{s:I, s:I, s:I, s:i, s:I, s:I, s:s}", "matter",
					      (json_int_t)p->m.left, "of", (json_int_t)p->m.n,
					      "runs", (json_int_t)p->m.runs, "status", p->m.status,
					      "times", (json_int_t)p->m.times, "failed",
					      (json_int_t)p->m.failed, "text", text));
	}
	free(text);
	return ok ? 0 : CTL_EXIT_FAILED;
}

static int print_plan(const struct plan *p)
{
	const struct minimise *m = &p->m;

	printf("# %u of %u matter%s, found in %u runs", m->left, m->n, m->left == 1 ? "s" : "",
	       m->runs);
	if (m->times > 1)
		printf("; with %s %u of %u fail", m->left == 1 ? "it" : "them", m->failed,
		       m->times);
	putchar('\n');
	put_plan(stdout, p);
	return 0;
}

static int search(struct plan *p, const char *file)
{
	p->m.count = true;
	p->m.run = run_trial;
	p->m.on_tried = print_tries;
	p->m.arg = p;
	switch (minimise(&p->m)) {
	case MINIMISE_FOUND:
		return p->given->json ? print_json(p) : print_plan(p);
	case MINIMISE_PASSES:
		return complain(file, p->m.times > 1 ? "no run fails with these rules"
						     : "no run fails with these rules; for a "
						       "random failure use --times 20");
	case MINIMISE_WITHOUT:
		return complain(file, "the command also fails without the rules");
	case MINIMISE_CANNOT:
		return complain(file, "uhca-run cannot run it; try uhca-run by hand");
	}
	__builtin_unreachable();
}

static bool parse_times(const char *text, unsigned *out)
{
	uint64_t n = 1;
	bool good = !text || ctl_number(text, 10, TIMES_MAX, &n);

	*out = (unsigned)n;
	return good && n > 0;
}

static unsigned count_words(char *const *word)
{
	unsigned n = 0;

	while (word[n])
		n++;
	return n;
}

int ctl_minimise(const struct ctl_options *o)
{
	static struct plan p;
	const char *tmp = getenv("TMPDIR");
	int status, fd;

	if (o->n_words != 2)
		return ctl_usage_error("minimise needs a file, and a command after --");
	if (o->rest && count_words(o->rest) > WORDS_MAX)
		return ctl_usage_error("the command of minimise is too long");
	if (o->rest && !o->rest[0])
		return ctl_usage_error("minimise: no command after --");
	if (!parse_times(o->times, &p.m.times))
		return ctl_usage_error("--times needs a number from 1 to 10000");
	p.command = o->rest;
	p.given = o;
	status = read_plan(&p, o->word[1]);
	if (status != 0)
		return status;
	if (snprintf(p.file, sizeof(p.file), "%s/uhca-XXXXXX", tmp ? tmp : "/tmp") >=
	    (int)sizeof(p.file))
		memcpy(p.file, "/tmp/uhca-XXXXXX", 17);
	fd = mkstemp(p.file);
	if (fd < 0)
		return complain(p.file, strerror(errno));
	close(fd);
	status = ctl_look_beside() < 0 ? CTL_EXIT_FAILED : search(&p, o->word[1]);
	unlink(p.file);
	free(p.text);
	return status;
}
