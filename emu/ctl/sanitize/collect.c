/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * uhca-sanitizer: takes what the sanitizer finds in the processes of a command, and tells of it.
 * uhca-run starts it, with a socket that listens and one end of a pair of sockets:
 *
 *   uhca-sanitizer LISTENING PAIR CHECKS [--stock FILE] [--suppress FILE]... [--options LIST]
 *
 * It is a process of its own because looking up names takes memory, files and time that are not the
 * watched program's to give, and because a finding of a process that ends at once is told all the
 * same. When it is ready it writes "ready" to the pair; when the pair's other end is shut down it
 * hears out who is connected still, and writes "STATUS" there: 0, or what uhca-run is to end with.
 */
#include "emu/abi/sanitize.h"
#include "emu/ctl/lib/lib.h"
#include "found.h"
#include "found_print.h"
#include "hang.h"
#include "notes.h"
#include "picture.h"
#include "settings.h"
#include "suppress.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PEERS           960u /* processes: each that has something of verbs stays connected */
#define NOTES           100u /* that are told */
#define EXIT_TIMEOUT_MS 2000 /* at the end, for processes that are just ending */

struct peer {
	int fd;
	char *text;
	size_t n;
	json_t *held; /* by name: findings that wait for the peer's end */
};

static struct settings settings = {.exitcode = 99, .hang_after_ms = 3000};
static struct peer peers[PEERS];
static unsigned n_peers;
static unsigned reported, notes, suppressed;
static char unseen[256];    /* what a check could not see, and why; the first one */
static int64_t last_report; /* ms: more may come when something has */
static FILE *text_file, *json_file;
static json_t *results; /* SARIF's; NULL: not asked for */
static bool
	interrupted; /* by somebody at the terminal, who may want to know by what it was held up */

static bool is_over(void)
{
	return settings.first && reported > settings.first;
}

static void write_down(const struct found *f)
{
	found_print_text(text_file, f);
	if (json_file)
		found_print_json(json_file, f);
	if (results)
		json_array_append_new(results, found_sarif_result(f));
}

/* A sweep compares these with a good run by itself, and wants to know of all that is new. */
static bool is_of_sweep(const struct found *f)
{
	return (f->check == UHCA_CHECK_VERB_CRASHED || f->check == UHCA_CHECK_LEFT_AT_EXIT) &&
	       getenv(UHCA_SANITIZE_SWEEP_ENV);
}

/* True when it counts. Takes the line over. */
static bool report(json_t *line)
{
	static struct found f;
	last_report = (int64_t)ctl_now_ms();
	if (!notes_complete(line))
		return false;
	if (found_parse(line, &f) < 0) {
		fprintf(stderr, "uhca-sanitizer: malformed report from the program; ignored\n");
		return false;
	}
	found_look_up(&f);
	if (found_is_moot(&f))
		return false;
	enum suppressed by = suppress_has(&f);
	if (by == SUPPRESSED_AS_STOCK && is_of_sweep(&f))
		by = SUPPRESSED_NOT;
	suppressed += by == SUPPRESSED_BY_USER;
	if (by != SUPPRESSED_NOT)
		return false;
	if (found_is_note(&f)) {
		if (++notes <= NOTES)
			write_down(&f);
		return false;
	}
	reported++;
	if (!is_over())
		write_down(&f);
	return true;
}

static void answer(const struct peer *p, bool counts)
{
	char line[32] = "go\n";
	if (counts && settings.halt_on_error)
		snprintf(line, sizeof(line), "halt %d\n", settings.exitcode);
	ssize_t n = send(p->fd, line, strlen(line), MSG_NOSIGNAL);
	(void)n; /* who is gone needs no answer */
}

static void answer_word(const struct peer *p, const char *word)
{
	char line[32];
	int n = snprintf(line, sizeof(line), "%s\n", word);
	ssize_t sent = send(p->fd, line, (size_t)n, MSG_NOSIGNAL);
	(void)sent; /* who is gone needs no answer */
}

/* A number of the settings, for who watches. */
static void answer_setting(const struct peer *p, const char *name)
{
	char word[24];
	bool known = name && strcmp(name, "hang_after") == 0;
	snprintf(word, sizeof(word), known ? "%u" : "none", settings.hang_after_ms);
	answer_word(p, word);
}

/* The kernel's word for who is at the other end. */
static pid_t pid_of(const struct peer *p)
{
	struct ucred c = {0};
	socklen_t length = sizeof(c);
	return getsockopt(p->fd, SOL_SOCKET, SO_PEERCRED, &c, &length) == 0 ? c.pid : 0;
}

static void take_hang(const struct peer *p, json_t *line)
{
	json_t *finding;
	switch (hang_hear(pid_of(p), line, settings.hang_after_ms, &finding)) {
	case HANG_WAIT:
		answer_word(p, UHCA_SANITIZE_WAIT);
		break;
	case HANG_CLOSED:
		answer_word(p, UHCA_SANITIZE_CLOSED);
		break;
	case HANG_REPORT:
		answer(p, report(finding));
		json_decref(finding);
		break;
	case HANG_REPORTED:
		answer(p, true);
		break;
	case HANG_NOTE:
		report(finding);
		json_decref(finding);
		answer_word(p, UHCA_SANITIZE_WAIT);
		break;
	}
}

static bool take_unseen(const json_t *line)
{
	const char *text = json_string_value(json_object_get(line, "unseen"));
	if (text && !*unseen)
		snprintf(unseen, sizeof(unseen), "%s", text);
	return text;
}

static void take_line(struct peer *p, const char *text, size_t n)
{
	char name[32];
	json_t *line = json_loadb(text, n, 0, NULL);
	const json_t *held = json_object_get(line, "held");
	const json_t *retract = json_object_get(line, "retract");
	const json_t *setting = json_object_get(line, "setting");
	if (notes_take(line) || picture_take(pid_of(p), line) || take_unseen(line)) {
		json_decref(line);
		return;
	}
	if (setting) {
		answer_setting(p, json_string_value(setting));
	} else if (json_object_get(line, "hang")) {
		take_hang(p, line);
	} else if (held || retract) {
		snprintf(name, sizeof(name), "%" JSON_INTEGER_FORMAT,
			 json_integer_value(held ? held : retract));
		if (held)
			json_object_set(p->held, name, line);
		else
			json_object_del(p->held, name);
	} else {
		answer(p, report(line));
	}
	json_decref(line);
}

static void take_lines(struct peer *p)
{
	char *end;
	while ((end = memchr(p->text, '\n', p->n))) {
		size_t n = (size_t)(end - p->text);
		take_line(p, p->text, n);
		p->n -= n + 1;
		memmove(p->text, end + 1, p->n);
	}
}

static void drop(struct peer *p, bool ended)
{
	const char *name;
	json_t *line;
	picture_end(pid_of(p));
	if (ended) {
		json_object_foreach(p->held, name, line)
		{
			report(line);
		}
	}
	json_decref(p->held);
	free(p->text);
	close(p->fd);
	memmove(p, p + 1, (size_t)(&peers[--n_peers] - p) * sizeof(*p));
}

/* All that has come of it. False when it is gone. */
static bool hear(struct peer *p)
{
	ssize_t got;
	do {
		got = recv(p->fd, p->text + p->n, UHCA_SANITIZE_LINE - p->n, MSG_DONTWAIT);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			return true;
		if (got > 0)
			p->n += (size_t)got;
		take_lines(p);
	} while (got > 0 && p->n < UHCA_SANITIZE_LINE);
	drop(p, got <= 0);
	return false;
}

/*
 * In the order in which they have connected: what a process has left is there before the finding of
 * another that has heard of it.
 */
static void hear_all(void)
{
	for (unsigned i = 0; i < n_peers;)
		if (hear(&peers[i]))
			i++;
}

static void take_peer(int listening)
{
	int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0)
		return;
	struct peer p = {.fd = fd, .text = malloc(UHCA_SANITIZE_LINE), .held = json_object()};
	if (!p.text || !p.held || n_peers == PEERS) {
		json_decref(p.held);
		free(p.text);
		close(fd);
		return;
	}
	peers[n_peers++] = p;
}

/* uhca-run: a byte says that the command was interrupted. False: that is all. */
static bool hear_run(int pair)
{
	char byte;
	if (read(pair, &byte, 1) != 1)
		return false;
	interrupted = true;
	return true;
}

/* One round: who has something to say? Returns what poll does. */
static int round_of(int listening, int pair, int timeout, bool *at_end)
{
	struct pollfd fds[PEERS + 2] = {{.fd = listening, .events = POLLIN},
					{.fd = *at_end ? -1 : pair, .events = POLLIN}};
	for (unsigned i = 0; i < n_peers; i++)
		fds[i + 2] = (struct pollfd){.fd = peers[i].fd, .events = POLLIN};
	unsigned n = n_peers;
	int ready = poll(fds, n + 2, timeout);
	if (ready <= 0)
		return ready;
	hear_all();
	if (fds[0].revents)
		take_peer(listening);
	if (fds[1].revents)
		*at_end = !hear_run(pair);
	return ready;
}

/* A process that lives on asks again and again whether it hangs: that holds nobody up. */
static int exit_time_left(void)
{
	int64_t left = last_report + EXIT_TIMEOUT_MS - (int64_t)ctl_now_ms();
	return left > 0 ? (int)left : 0;
}

static void serve(int listening, int pair)
{
	bool at_end = false;
	while (!at_end)
		round_of(listening, pair, -1, &at_end);
	/* who has connected is heard first; then those that are about to end */
	last_report = (int64_t)ctl_now_ms();
	while (round_of(listening, pair, n_peers ? exit_time_left() : 0, &at_end) > 0)
		;
	while (n_peers)
		drop(&peers[n_peers - 1], false);
	if (interrupted)
		picture_print(text_file, settings.hang_after_ms);
}

static bool open_files(void)
{
	text_file = settings.text ? ctl_file_open("uhca-run", settings.text) : stderr;
	if (settings.json)
		json_file = ctl_file_open("uhca-run", settings.json);
	if (settings.sarif)
		results = json_array();
	return text_file && (json_file || !settings.json);
}

static bool close_files(void)
{
	if (!results)
		return true;
	FILE *f = ctl_file_open("uhca-run", settings.sarif);
	if (!f)
		return false;
	found_print_sarif(f, results);
	return ctl_file_close("uhca-run", settings.sarif, f);
}

static bool read_settings(int argc, char **argv)
{
	char *from_environment = getenv(SETTINGS_ENV);
	from_environment = from_environment ? strdup(from_environment) : NULL;
	if (from_environment && settings_read(&settings, from_environment) < 0)
		return false;
	for (int i = 0; i + 1 < argc; i += 2) {
		bool stock = strcmp(argv[i], "--stock") == 0;
		int ret = stock || strcmp(argv[i], "--suppress") == 0
				  ? suppress_read(argv[i + 1], stock)
				  : settings_read(&settings, argv[i + 1]);
		if (ret < 0)
			return false;
	}
	return open_files();
}

static void summarise(void)
{
	if (is_over())
		fprintf(text_file, "uhca-sanitizer: %u more reports were left out\n",
			reported - settings.first);
	if (notes > NOTES)
		fprintf(text_file, "uhca-sanitizer: %u more notes were left out\n", notes - NOTES);
	if (suppressed)
		fprintf(text_file, "uhca-sanitizer: %u suppressed\n", suppressed);
	if (*unseen) /* says nothing of the program, so it is not in the report */
		fprintf(stderr, "uhca-run: --sanitize: %s\n", unseen);
	fflush(text_file);
}

/* And the folder that it is in, which nobody else may be left to remove. */
static void remove_socket(int listening)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(at);
	char *slash;
	if (getsockname(listening, (struct sockaddr *)&at, &len) < 0)
		return;
	unlink(at.sun_path);
	slash = strrchr(at.sun_path, '/');
	if (!slash)
		return;
	/* what says that uhca-run lives (RUN_DIR_LIFE): it does not, or removes it itself */
	strcpy(slash, "/life");
	unlink(at.sun_path);
	*slash = '\0';
	rmdir(at.sun_path);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "help") == 0) {
		settings_print_checks();
		return 0;
	}
	if (argc < 4) {
		fprintf(stderr, "uhca-sanitizer: started by uhca-run --sanitize only\n");
		return 125;
	}
	int listening = atoi(argv[1]), pair = atoi(argv[2]);
	for (int s = SIGHUP; s <= SIGTERM; s++)
		signal(s, s == SIGPIPE || s == SIGCHLD ? SIG_DFL : SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (!settings_checks_known(argv[3]) || !read_settings(argc - 4, argv + 4))
		return 125;
	if (send(pair, "ready\n", 6, MSG_NOSIGNAL) != 6)
		return 125;
	serve(listening, pair);
	summarise();
	notes_forget();
	remove_socket(listening);
	int status = close_files() ? (reported ? settings.exitcode : 0) : 125;
	dprintf(pair, "%d\n", status);
	return 0;
}
