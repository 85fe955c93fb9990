/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcactl top: asks the daemon again and again, and draws over what it drew before. */
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "grid.h"
#include "show.h"
#include "top.h"
#include "top_fabric.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define INTERVAL_MIN 0.05
#define INTERVAL_MAX 3600.0

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

/* Queue pairs, or ports of the modelled network. */
struct view {
	/* Makes *next of now, and *at its time; before (NULL: none) is that of *at. */
	int (*look)(const struct ctl_options *o, const json_t *before, uint64_t *at, json_t **next);
	void (*print)(FILE *out, const json_t *list, unsigned lines);
};

static int failed(const char *why)
{
	fprintf(stderr, "uhcactl: %s\n", why);
	return CTL_EXIT_FAILED;
}

static int look_at_qps(const struct ctl_options *o, const json_t *before, uint64_t *at,
		       json_t **next)
{
	json_t *qps = NULL, *clients = NULL;
	int status = ctl_request(o->dir, ctl_command_show("qp"), &qps);
	const uint64_t now = ctl_now();

	if (status == 0)
		status = ctl_request(o->dir, ctl_command_show("client"), &clients);
	if (status == 0 && !(*next = top_make(qps, clients, before, (double)(now - *at) / 1e9)))
		status = failed("the daemon's reply is not a list of QPs");
	*at = now;
	json_decref(qps);
	json_decref(clients);
	return status;
}

/* The network's own time is in its state. */
static int look_at_ports(const struct ctl_options *o, const json_t *before, uint64_t *at,
			 json_t **next)
{
	int status = ctl_fabric_state(o, next);

	(void)at;
	if (status == 0 && top_fabric_rate(*next, before) < 0)
		status = failed("the daemon's reply is not a list of ports");
	return status;
}

static const struct view qps = {look_at_qps, top_print};
static const struct view ports = {look_at_ports, top_fabric_print};

static const struct view *view_of(const struct ctl_options *o)
{
	return o->fabric ? &ports : &qps;
}

/* Replaces *list by one of now; *at is the time of the one before, and then of this. */
static int look(const struct ctl_options *o, json_t **list, uint64_t *at)
{
	json_t *next = NULL;
	int status = view_of(o)->look(o, *list, at, &next);

	json_decref(status == 0 ? *list : next);
	if (status == 0)
		*list = next;
	return status;
}

/* Waits; true when the user has had enough. */
static bool wait_for(double seconds, bool keys)
{
	struct pollfd in = {.fd = keys ? STDIN_FILENO : -1, .events = POLLIN};
	const uint64_t began = ctl_now();
	char key;

	while (!interrupted) {
		double left = seconds - ctl_seconds_since(began);

		if (left <= 0)
			return false;
		if (poll(&in, 1, (int)(left * 1000) + 1) <= 0)
			continue;
		if (read(STDIN_FILENO, &key, 1) != 1)
			in.fd = -1; /* nobody there to press one */
		else if (key == 'q' || key == 'Q')
			return true;
	}
	return true;
}

static unsigned terminal_lines(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 4)
		return size.ws_row - 1;
	return 0;
}

static int follow(const struct ctl_options *o, double interval, json_t **list, uint64_t at)
{
	bool screen = isatty(STDOUT_FILENO), keys = isatty(STDIN_FILENO);
	struct termios was, raw;
	int status = 0;

	if (keys && tcgetattr(STDIN_FILENO, &was) == 0) {
		raw = was;
		raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	} else {
		keys = false;
	}
	while (status == 0) {
		if (screen)
			fputs("\x1b[H\x1b[J", stdout);
		view_of(o)->print(stdout, *list, screen ? terminal_lines() : 0);
		if (!screen)
			putchar('\n');
		if (fflush(stdout) != 0 || wait_for(interval, keys))
			break;
		status = look(o, list, &at);
	}
	if (keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &was);
	return status;
}

static bool parse_interval(const char *text, double *out)
{
	char *end;

	*out = text ? strtod(text, &end) : 1.0;
	return !text || (*text >= '0' && *text <= '9' && !*end && *out >= INTERVAL_MIN &&
			 *out <= INTERVAL_MAX);
}

int ctl_top(const struct ctl_options *o)
{
	const struct sigaction action = {.sa_handler = on_signal};
	json_t *list = NULL;
	double interval;
	uint64_t at = 0;
	int status;

	if (o->n_words != 1)
		return ctl_usage_error("top takes no arguments");
	if (!parse_interval(o->interval, &interval))
		return ctl_usage_error("--interval needs seconds, 0.05 to 3600");
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	status = look(o, &list, &at);
	if (status == 0 && !wait_for(interval, false))
		status = look(o, &list, &at);
	if (status == 0 && o->json)
		status = ctl_print_json(json_incref(list)) ? 0 : CTL_EXIT_FAILED;
	else if (status == 0 && o->once)
		view_of(o)->print(stdout, list, 0);
	else if (status == 0 && !interrupted)
		status = follow(o, interval, &list, at);
	json_decref(list);
	return status;
}
