/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See scenario_run.h. When an expectation is judged: with "within", as soon as it is so, or when
 * the time is over; else as soon as it is so when it can only become more so ("at least"), and
 * otherwise when all programs have ended.
 */
#include "scenario_run.h"

#include "emu/abi/ctl.h"
#include "emu/ctl/instance/instance.h"
#include "emu/ctl/lib/lib.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS      2   /* between two looks at something that is waited for */
#define LOOK_MOST_MS 10  /* and when it has been waited for long */
#define FAILED       125 /* as uhca-run's own failures */

#define RULE_MAX 4096 /* bytes of a rule's text */

/* ---- checks ---- */

static struct scenario_check *new_check(struct scenario_run *r, unsigned line, const char *text)
{
	struct scenario_check *c = &r->check[r->n_checks];

	if (r->n_checks + 1 < SCENARIO_CHECKS_MAX)
		r->n_checks++;
	*c = (struct scenario_check){.line = line};
	snprintf(c->text, sizeof(c->text), "%s", text);
	return c;
}

static void judge(struct scenario_run *r, struct scenario_check *c, bool passed, const char *detail)
{
	c->judged = true;
	c->passed = passed;
	c->seconds = ctl_seconds_since(r->judged);
	r->judged = ctl_now();
	snprintf(c->detail, sizeof(c->detail), "%s", passed ? "" : detail);
}

/* ---- waiting ---- */

static bool all_ended(struct scenario_run *r)
{
	bool ended = true;

	for (unsigned i = 0; i < r->n_processes; i++)
		ended &= scenario_process_ended(&r->process[i]);
	return ended;
}

/* After a sixteenth of the time that it has waited: a long wait does not keep the daemon busy. */
static void look_again_later(uint64_t begin)
{
	uint64_t ms = (ctl_now() - begin) / (CTL_SECOND / 1000 * 16);

	poll(NULL, 0, ms < LOOK_MS ? LOOK_MS : ms > LOOK_MOST_MS ? LOOK_MOST_MS : (int)ms);
}

static uint64_t deadline_of(const struct scenario_run *r, const struct scenario_step *step)
{
	uint64_t end = step->within ? ctl_now() + step->within : r->deadline;

	return end < r->deadline ? end : r->deadline;
}

/* It is about a run that has ended: its status and output stay what they are. */
static bool is_settled(struct scenario_run *r, const struct scenario_step *step)
{
	struct scenario_process *p;

	if (step->what != SCENARIO_EXIT && step->what != SCENARIO_OUTPUT)
		return false;
	p = scenario_find_process(r, step->name);
	return p && scenario_process_ended(p);
}

/*
 * Until it is so: 1. 0 when the step's time is over, or when all programs have ended, or the one it
 * is about, after which nothing more can happen (but what there is to see may come a moment later,
 * so one more look).
 */
static int wait_for(struct scenario_run *r, const struct scenario_step *step, char *detail)
{
	uint64_t begin = ctl_now(), end = deadline_of(r, step);

	for (;;) {
		bool over =
			ctl_now() >= end || (!step->within && all_ended(r)) || is_settled(r, step);
		int so = scenario_condition(r, step, detail);

		if (so != 0 || over)
			return so;
		look_again_later(begin);
	}
}

static void pass_time(struct scenario_run *r, uint64_t ns)
{
	uint64_t end = ctl_now() + ns < r->deadline ? ctl_now() + ns : r->deadline;
	const struct timespec t = {(time_t)(end / CTL_SECOND), (long)(end % CTL_SECOND)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

/* ---- steps ---- */

/* Whose daemon a statement is for. */
static unsigned side_of(const struct scenario_run *r, const struct scenario_step *step)
{
	return step->peer ? r->n_sides - 1 : 0;
}

static int request(struct scenario_run *r, const struct scenario_step *step, unsigned side,
		   json_t *what, json_t **result)
{
	struct ctl_failure f;

	if (ctl_exchange(r->side[side].dir, what, result, &f) == 0)
		return 0;
	scenario_stop(r, step, "%s", f.text);
	return -EIO;
}

/* The name in front of a rule's colon, or its number. */
static void name_rule(struct scenario_rule *rule, const char *text)
{
	size_t len = strcspn(text, ": \t");

	if (text[len] == ':' && len < sizeof(rule->name))
		memcpy(rule->name, text, len);
	else
		snprintf(rule->name, sizeof(rule->name), "%llu", (unsigned long long)rule->number);
}

/*
 * A rule with the addresses in place of $UHCA_ADDR_0 and so on, as the shell has it in a run. 0, or
 * the column of what is no device's.
 */
static unsigned put_addresses(const char *text, char out[RULE_MAX])
{
	static const char prefix[] = "$UHCA_ADDR_";
	size_t n = 0;

	for (const char *p = text; *p && n + 1 < RULE_MAX;) {
		char name[sizeof(prefix) + 8];
		size_t digits;
		const char *value;

		if (strncmp(p, prefix, sizeof(prefix) - 1) != 0) {
			out[n++] = *p++;
			continue;
		}
		digits = strspn(p + sizeof(prefix) - 1, "0123456789");
		snprintf(name, sizeof(name), "%.*s", (int)(sizeof(prefix) - 2 + digits), p + 1);
		value = digits ? getenv(name) : NULL;
		if (!value)
			return (unsigned)(p - text) + 1;
		n += (size_t)snprintf(out + n, RULE_MAX - n, "%s", value);
		p += sizeof(prefix) - 1 + digits;
	}
	out[n < RULE_MAX ? n : RULE_MAX - 1] = '\0';
	return 0;
}

static int add_rule(struct scenario_run *r, const struct scenario_step *step)
{
	struct scenario_rule *rule = &r->rule[r->n_rules];
	struct scenario_step wrong = *step;
	struct ctl_failure f;
	json_t *result;
	char text[RULE_MAX];
	unsigned column = put_addresses(step->text, text), side = side_of(r, step);

	if (r->n_rules == SCENARIO_RULES_MAX)
		return scenario_stop(r, step, "too many rules");
	if (column) {
		wrong.column += column - 1;
		return scenario_stop(r, &wrong, "no device has this number");
	}
	if (ctl_exchange(r->side[side].dir,
			 json_pack("{s:s, s:s, s:s}", UHCA_CTL_CMD, "fault", UHCA_CTL_ACTION, "add",
				   "text", text),
			 &result, &f) != 0) {
		wrong.column += f.column ? f.column - 1 : 0;
		return scenario_stop(r, &wrong, "%s", f.text);
	}
	*rule = (struct scenario_rule){.side = side, .optional = step->optional, .step = step};
	rule->number = (uint64_t)json_integer_value(json_object_get(result, "rule"));
	name_rule(rule, step->text);
	r->n_rules++;
	json_decref(result);
	return 0;
}

/* The rules that uhca-run's own line gave, which are there before anything is done. */
static int note_given_rules(struct scenario_run *r)
{
	const json_t *given;
	json_t *result;
	size_t i;

	if (!r->must_fire)
		return 0;
	if (request(r, NULL, 0, ctl_command("fault", "list"), &result) < 0)
		return -EIO;
	json_array_foreach(json_object_get(result, UHCA_CTL_RULES), i, given)
	{
		struct scenario_rule *rule = &r->rule[r->n_rules++];

		*rule = (struct scenario_rule){.optional = false};
		rule->number = (uint64_t)json_integer_value(json_object_get(given, UHCA_CTL_RULE));
		name_rule(rule, json_string_value(json_object_get(given, UHCA_CTL_TEXT)));
	}
	json_decref(result);
	return 0;
}

/* What it did stays known: a rule that was taken out must have fired as well. */
static int remove_rule(struct scenario_run *r, const struct scenario_step *step)
{
	unsigned side = 0;
	json_t *result;

	if (scenario_look_at_rules(r) < 0)
		return -EIO;
	for (unsigned i = 0; i < r->n_rules; i++) {
		if (strcmp(r->rule[i].name, step->name) != 0)
			continue;
		r->rule[i].removed = true;
		side = r->rule[i].side;
	}
	if (request(r, step, side,
		    json_pack("{s:s, s:s, s:s}", UHCA_CTL_CMD, "fault", UHCA_CTL_ACTION, "remove",
			      "rule", step->name),
		    &result) < 0)
		return -EIO;
	json_decref(result);
	return 0;
}

static void name_output(char out[PATH_MAX], const char *dir, const char *name)
{
	snprintf(out, PATH_MAX, "%s/out-%s", dir, name);
}

static int start(struct scenario_run *r, const struct scenario_step *step, char *const *argv)
{
	struct scenario_process *p = &r->process[r->n_processes];
	int error;

	if (r->n_processes == SCENARIO_RUNS_MAX)
		return scenario_stop(r, step, "too many runs");
	*p = (struct scenario_process){.dir = r->side[side_of(r, step)].dir};
	memcpy(p->name, step->name, sizeof(p->name));
	if (!argv)
		name_output(p->output, r->side[0].dir, step->name);
	error = scenario_process_start(p, step->text, argv);
	if (error < 0)
		return scenario_stop(r, step, "%s", strerror(-error));
	r->n_processes++;
	return 0;
}

static int run_uhcactl(struct scenario_run *r, const struct scenario_step *step)
{
	struct scenario_process p = {.name = "uhcactl", .dir = r->side[side_of(r, step)].dir};
	const uint64_t begin = ctl_now();
	char *text;
	int error;

	if (asprintf(&text, "exec uhcactl %s", step->text) < 0)
		return scenario_stop(r, step, "%s", strerror(ENOMEM));
	error = scenario_process_start(&p, text, NULL);
	free(text);
	if (error < 0)
		return scenario_stop(r, step, "%s", strerror(-error));
	while (!scenario_process_ended(&p) && ctl_now() < r->deadline)
		look_again_later(begin);
	scenario_process_end(&p);
	return p.status ? scenario_stop(r, step, "uhcactl ended with %d", p.status) : 0;
}

static int send_signal(struct scenario_run *r, const struct scenario_step *step)
{
	const struct scenario_process *p = scenario_find_process(r, step->name);

	if (!p)
		return scenario_stop(r, step, "%s was not started", step->name);
	scenario_process_signal(p, (int)step->number);
	return 0;
}

static int do_wait(struct scenario_run *r, const struct scenario_step *step)
{
	char detail[256];
	int so = 1;

	if (step->what == SCENARIO_TIME)
		pass_time(r, step->number);
	else
		so = wait_for(r, step, detail);
	if (so == 0)
		judge(r, new_check(r, step->line, step->source), false,
		      "the condition did not become true");
	return so < 0 ? so : 0;
}

/* "At least" can be judged once it is so; what may change again waits for the end. */
static bool is_late(const struct scenario_step *step)
{
	if (step->no)
		return true;
	if (step->within)
		return false;
	return (step->what == SCENARIO_RULE || step->what == SCENARIO_COUNTER ||
		step->what == SCENARIO_RECORD) &&
	       step->relation != SCENARIO_AT_LEAST && step->relation != SCENARIO_MORE;
}

static int do_expect(struct scenario_run *r, const struct scenario_step *step)
{
	struct scenario_check *c = new_check(r, step->line, step->source);
	char detail[256];
	int so;

	if (is_late(step)) {
		r->late[step - r->s->step] = c;
		return 0;
	}
	so = wait_for(r, step, detail);
	if (so >= 0)
		judge(r, c, so, detail);
	return so < 0 ? so : 0;
}

static int do_step(struct scenario_run *r, const struct scenario_step *step)
{
	switch (step->verb) {
	case SCENARIO_FAULT:
		return add_rule(r, step);
	case SCENARIO_REMOVE:
		return remove_rule(r, step);
	case SCENARIO_RUN:
		return start(r, step, NULL);
	case SCENARIO_COMMAND:
		return start(r, step, r->command);
	case SCENARIO_UHCACTL:
		return run_uhcactl(r, step);
	case SCENARIO_KILL:
		return send_signal(r, step);
	case SCENARIO_WAIT:
		return do_wait(r, step);
	case SCENARIO_EXPECT:
		return do_expect(r, step);
	}
	return -EINVAL;
}

/* A command on uhca-run's line that the file does not mention starts before anything is awaited. */
static int do_steps(struct scenario_run *r)
{
	static const struct scenario_step command = {.verb = SCENARIO_COMMAND,
						     .name = SCENARIO_OF_COMMAND};
	bool to_start = r->command && !r->s->has_command;
	int error = 0;

	for (unsigned i = 0; i < r->s->n_steps && error == 0; i++) {
		const struct scenario_step *step = &r->s->step[i];

		if (to_start && (step->verb == SCENARIO_WAIT || step->verb == SCENARIO_EXPECT)) {
			error = do_step(r, &command);
			to_start = false;
		}
		if (error == 0)
			error = do_step(r, step);
	}
	return error == 0 && to_start ? do_step(r, &command) : error;
}

/* ---- the end ---- */

static void await_programs(struct scenario_run *r)
{
	const uint64_t begin = ctl_now();

	while (!all_ended(r) && ctl_now() < r->deadline)
		look_again_later(begin);
	for (unsigned i = 0; i < r->n_processes; i++) {
		char text[64];

		if (r->process[i].ended)
			continue;
		fprintf(stderr, "uhca-run: %s did not end within the limit; it waits for:\n",
			r->process[i].name);
		run_hang_print(r->process[i].pid, false, r->process[i].dir);
		snprintf(text, sizeof(text), "%s ends within the limit", r->process[i].name);
		judge(r, new_check(r, 0, text), false, "it was killed");
		scenario_process_end(&r->process[i]);
	}
}

static bool is_killed(const struct scenario_run *r, const char *name)
{
	for (unsigned i = 0; i < r->s->n_steps; i++)
		if (r->s->step[i].verb == SCENARIO_KILL && strcmp(r->s->step[i].name, name) == 0)
			return true;
	return false;
}

/*
 * Of runs about whose end the file says nothing: the shell must have found what it was to run, and
 * the command of uhca-run's own line, for which all of this is done, must not fail.
 */
static void judge_ends(struct scenario_run *r)
{
	for (unsigned i = 0; i < r->n_processes; i++) {
		const struct scenario_process *p = &r->process[i];
		bool is_command = strcmp(p->name, SCENARIO_OF_COMMAND) == 0;
		bool not_run = p->status == 126 || p->status == 127;
		char text[64], detail[64];

		if (scenario_judges_exit(r, p->name) || (is_command && is_killed(r, p->name)) ||
		    (!is_command && !not_run))
			continue;
		snprintf(text, sizeof(text), is_command ? "%s ends with 0" : "%s can be run",
			 p->name);
		snprintf(detail, sizeof(detail), "it ended with status %d", p->status);
		judge(r, new_check(r, 0, text), p->status == 0, detail);
	}
}

static int judge_late(struct scenario_run *r)
{
	char detail[256];

	for (unsigned i = 0; i < r->s->n_steps; i++) {
		const struct scenario_step *step = &r->s->step[i];
		int so;

		if (!r->late[i])
			continue;
		so = scenario_condition(r, step, detail);
		if (so < 0)
			return so;
		judge(r, r->late[i], so != step->no, detail);
	}
	return 0;
}

static int judge_rules(struct scenario_run *r)
{
	if (r->n_rules > 0 && scenario_look_at_rules(r) < 0)
		return -EIO;
	for (unsigned i = 0; i < r->n_rules; i++) {
		const struct scenario_rule *rule = &r->rule[i];
		char text[256];

		if (rule->optional)
			continue;
		snprintf(text, sizeof(text), "rule %s fires", rule->name);
		judge(r, new_check(r, rule->step ? rule->step->line : 0, text), rule->hits > 0,
		      rule->why[0] ? rule->why : "it never fired");
	}
	return 0;
}

static int verdict(struct scenario_run *r)
{
	if (r->n_checks == 0)
		judge(r, new_check(r, 0, "the scenario has an expectation"), false,
		      "it has neither a rule nor an expect");
	for (unsigned i = 0; i < r->n_checks; i++)
		if (!r->check[i].passed)
			return 1;
	return 0;
}

/* A TCP port that is free now, for programs that talk to each other beside RDMA. */
static int find_port(struct scenario_run *r)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int error = 0;
	char text[8];

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		error = -errno;
	if (fd >= 0)
		close(fd);
	if (error < 0)
		return scenario_stop(r, NULL, "no free port: %s", strerror(-error));
	r->port = ntohs(a.sin_port);
	snprintf(text, sizeof(text), "%u", r->port);
	return setenv("UHCA_PORT", text, 1) < 0 ? -errno : 0;
}

/* The second daemon's capture has ".peer" behind its name. */
static void name_capture(const struct scenario_run *r, unsigned side, char file[PATH_MAX])
{
	const char *suffix = side ? ".peer" : "", *capture = r->s->capture;
	char cwd[PATH_MAX / 2] = "";

	if (!capture)
		snprintf(file, PATH_MAX, "%s/model.pcapng", r->side[side].dir);
	else if (capture[0] == '/' || !getcwd(cwd, sizeof(cwd)))
		snprintf(file, PATH_MAX, "%s%s", capture, suffix);
	else
		snprintf(file, PATH_MAX, "%s/%s%s", cwd, capture, suffix);
}

static int start_model(struct scenario_run *r, unsigned side)
{
	char file[PATH_MAX];
	json_t *result, *what;
	int error;

	name_capture(r, side, file);
	what = json_pack("{s:s, s:s, s:s}", UHCA_CTL_CMD, "capture", UHCA_CTL_ACTION, "start",
			 UHCA_CTL_FILE, file);
	if (what && !r->s->capture)
		json_object_set_new(what, "snap", json_integer(0));
	if (request(r, NULL, side, what, &result) < 0)
		return -EIO;
	json_decref(result);
	error = scenario_model_open(&r->side[side].model, file);
	return error < 0 ? scenario_stop(r, NULL, "%s: %s", file, strerror(-error)) : 0;
}

static int begin(struct scenario_run *r)
{
	int error = find_port(r);

	for (unsigned i = 0; i < r->n_sides && error == 0; i++)
		error = start_model(r, i);
	if (error == 0)
		error = scenario_know_names(r);
	return error < 0 ? error : note_given_rules(r);
}

int scenario_run(struct scenario_run *r, const char *dir, const char *peer, char *const *command)
{
	int error;

	r->side[0] = (struct scenario_side){.dir = dir, .model.fd = -1};
	r->side[1] = (struct scenario_side){.dir = peer, .model.fd = -1};
	r->n_sides = peer ? 2 : 1;
	r->command = command;
	r->start = r->judged = ctl_now();
	r->deadline = r->start + (r->s->limit ? r->s->limit : SCENARIO_LIMIT);
	if ((r->s->has_command || r->s->wants_command) && !command) {
		scenario_stop(r, NULL, "the scenario needs a command after --");
		return FAILED;
	}
	error = begin(r);
	if (error == 0)
		error = do_steps(r);
	if (error == 0) {
		await_programs(r);
		judge_ends(r);
		error = judge_late(r);
	}
	if (error == 0)
		error = judge_rules(r);
	return error < 0 ? FAILED : verdict(r);
}

void scenario_run_close(struct scenario_run *r)
{
	for (unsigned i = 0; i < r->n_processes; i++) {
		scenario_process_end(&r->process[i]);
		scenario_process_keep(&r->process[i]);
	}
	for (unsigned i = 0; i < r->n_sides; i++)
		scenario_model_close(&r->side[i].model);
	r->seconds = ctl_seconds_since(r->start);
}

void scenario_run_free(struct scenario_run *r)
{
	for (unsigned i = 0; i < r->n_processes; i++)
		free(r->process[i].said);
	r->n_processes = 0;
}
