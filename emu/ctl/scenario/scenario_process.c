/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts, signals and reaps the programs of a scenario. */
#include "scenario_process.h"

#include "emu/ctl/lib/lib.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHOWN_LINES 30
#define KEPT_BYTES  65536

static void __attribute__((noreturn))
become(const struct scenario_process *p, const char *text, char *const *argv, pid_t parent)
{
	char *const shell[] = {"sh", "-c", (char *)text, NULL};
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(125);
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (setenv("UHCA_DIR", p->dir, 1) < 0)
		_exit(125);
	if (p->output[0]) {
		int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
		int out = open(p->output, O_WRONLY | O_CLOEXEC);

		if (null < 0 || out < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 ||
		    dup2(out, 2) < 0)
			_exit(125);
	}
	execvp(argv ? argv[0] : "sh", argv ? argv : shell);
	fprintf(stderr, "uhca-run: %s: %s\n", argv ? argv[0] : "sh", strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Before it starts, so that whoever looks into it finds it, if empty. */
static int make_output(const struct scenario_process *p)
{
	int fd = open(p->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

int scenario_process_start(struct scenario_process *p, const char *text, char *const *argv)
{
	pid_t parent = getpid();
	int error = p->output[0] ? make_output(p) : 0;

	if (error < 0)
		return error;
	p->ended = false;
	p->started = ctl_now();
	p->pid = fork();
	if (p->pid < 0)
		return -errno;
	if (p->pid == 0)
		become(p, text, argv, parent);
	setpgid(p->pid, p->pid); /* whoever comes first */
	return 0;
}

static void take_status(struct scenario_process *p, int status)
{
	p->ended = true;
	p->seconds = ctl_seconds_since(p->started);
	p->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

bool scenario_process_ended(struct scenario_process *p)
{
	int status;

	if (!p->ended && waitpid(p->pid, &status, WNOHANG) == p->pid)
		take_status(p, status);
	return p->ended;
}

void scenario_process_signal(const struct scenario_process *p, int signal)
{
	if (!p->ended)
		kill(-p->pid, signal);
}

void scenario_process_end(struct scenario_process *p)
{
	int status;

	if (p->ended)
		return;
	kill(-p->pid, SIGKILL);
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	take_status(p, status);
}

int scenario_process_said(const struct scenario_process *p, const char *expression)
{
	FILE *f = fopen(p->output, "re");
	char *line = NULL;
	size_t room = 0;
	regex_t re;
	int found = 0;

	if (!f)
		return -errno;
	if (regcomp(&re, expression, REG_EXTENDED | REG_NOSUB) != 0) {
		fclose(f);
		return -EINVAL;
	}
	while (!found && getline(&line, &room, f) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		found = regexec(&re, line, 0, NULL, 0) == 0;
	}
	free(line);
	regfree(&re);
	fclose(f);
	return found;
}

static unsigned count_lines(FILE *f)
{
	unsigned n = 0;
	int c;

	while ((c = getc(f)) != EOF)
		n += c == '\n';
	rewind(f);
	return n;
}

void scenario_process_show(const struct scenario_process *p)
{
	FILE *f = p->output[0] ? fopen(p->output, "re") : NULL;
	char *line = NULL;
	size_t room = 0;
	unsigned n, i = 0;

	if (!f)
		return;
	n = count_lines(f);
	while (getline(&line, &room, f) >= 0)
		if (i++ + SHOWN_LINES >= n)
			fprintf(stderr, "  %s| %s%s", p->name, line,
				strchr(line, '\n') ? "" : "\n");
	free(line);
	fclose(f);
}

void scenario_process_keep(struct scenario_process *p)
{
	FILE *f = p->output[0] ? fopen(p->output, "re") : NULL;
	char *text = malloc(KEPT_BYTES + 1), *line;
	long size;
	size_t n;

	if (!f || !text) {
		free(text);
		if (f)
			fclose(f);
		return;
	}
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	fseek(f, size > KEPT_BYTES ? size - KEPT_BYTES : 0, SEEK_SET);
	n = fread(text, 1, KEPT_BYTES, f);
	fclose(f);
	for (size_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = ' ';
	text[n] = '\0';
	line = size > KEPT_BYTES ? strchr(text, '\n') : NULL;
	if (line)
		memmove(text, line + 1, strlen(line + 1) + 1);
	p->said = text;
}
