/* SPDX-License-Identifier: BSD-2-Clause */
/* uhcactl top: asks the daemon again and again, and draws over what it drew before. */
#include "emu/abi/ctl.h"
#include "emu/ctl/lib/lib.h"
#include "emu/ctl/line/line.h"
#include "grid.h"
#include "show.h"
#include "top.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL_MIN 0.05
#define INTERVAL_MAX 3600.0

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

static double now_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int get_table(const struct ctl_options *o, const char *what, json_t **table)
{
	return ctl_request(
		o->dir, json_pack("{s:s, s:s}", UHCA_CTL_CMD, "show", UHCA_CTL_WHAT, what), table);
}

/* Replaces *list by one of now; *at is the time of the one before, and then of this. */
static int look(const struct ctl_options *o, struct top_list *list, double *at)
{
	json_t *qps = NULL, *clients = NULL;
	struct top_list next = {0};
	int status = get_table(o, "qp", &qps);
	double now = now_seconds();

	if (status == 0)
		status = get_table(o, "client", &clients);
	if (status == 0 && !top_make(&next, qps, clients, list, now - *at)) {
		fputs("uhcactl: the daemon's reply is not a list of QPs\n", stderr);
		status = CTL_EXIT_FAILED;
	}
	json_decref(qps);
	json_decref(clients);
	if (status != 0)
		return status;
	top_free(list);
	*list = next;
	*at = now;
	return 0;
}

/* Waits; true when the user has had enough. */
static bool wait_for(double seconds, bool keys)
{
	struct pollfd in = {.fd = keys ? STDIN_FILENO : -1, .events = POLLIN};
	double end = now_seconds() + seconds;
	char key;

	while (!interrupted) {
		double left = end - now_seconds();

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

static int follow(const struct ctl_options *o, double interval, struct top_list *list, double at)
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
		top_print(stdout, list, screen ? terminal_lines() : 0);
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
	struct top_list list = {0};
	double interval, at = 0;
	int status;

	if (o->n_words != 1)
		return ctl_usage_error("top takes no other words");
	if (!parse_interval(o->interval, &interval))
		return ctl_usage_error("--interval needs seconds, 0.05 to 3600");
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	status = look(o, &list, &at);
	if (status == 0 && !wait_for(interval, false))
		status = look(o, &list, &at);
	if (status == 0 && o->json)
		status = ctl_print_json(top_json(&list)) ? 0 : CTL_EXIT_FAILED;
	else if (status == 0 && o->once)
		top_print(stdout, &list, 0);
	else if (status == 0 && !interrupted)
		status = follow(o, interval, &list, at);
	top_free(&list);
	return status;
}
