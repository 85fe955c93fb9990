/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop of the page's server (server.h): its socket, its address, its end. */
#include "server.h"

#include "emu/ctl/lib/lib.h"
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 64

static int complain(const char *what, int error)
{
	fprintf(stderr, "uhcactl: %s: %s\n", what, strerror(error));
	return -1;
}

/* ---- the socket ---- */

static int bind_there(int family, const void *address, socklen_t size, const char *name)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
	int error;

	if (fd < 0)
		return complain(name, errno);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, address, size) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	error = errno;
	close(fd);
	return complain(name, error);
}

static int listen_at_path(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	mode_t before;
	int fd;

	if (strlen(path) >= sizeof(un.sun_path))
		return complain(path, ENAMETOOLONG);
	strcpy(un.sun_path, path);
	before = umask(0177);
	fd = bind_there(AF_UNIX, &un, sizeof(un), path);
	umask(before);
	return fd;
}

static int listen_at_port(struct server *s)
{
	const char *name = s->options.listen ? s->options.listen : "127.0.0.1";
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
				  .sin6_port = htons((uint16_t)s->options.port)};
	struct sockaddr_in v4 = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)s->options.port)};
	struct sockaddr_storage got;
	socklen_t size = sizeof(got);
	int fd;

	if (inet_pton(AF_INET, name, &v4.sin_addr) == 1)
		fd = bind_there(AF_INET, &v4, sizeof(v4), name);
	else if (inet_pton(AF_INET6, name, &v6.sin6_addr) == 1)
		fd = bind_there(AF_INET6, &v6, sizeof(v6), name);
	else
		return complain(name, EADDRNOTAVAIL);
	if (fd >= 0 && getsockname(fd, (struct sockaddr *)&got, &size) == 0)
		s->filter.port =
			ntohs(got.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&got)->sin6_port
							: ((struct sockaddr_in *)&got)->sin_port);
	return fd;
}

static void print_address(const struct server *s)
{
	const struct serve_options *o = &s->options;
	FILE *out = o->quiet ? stderr : stdout;
	const char *host =
		o->listen && strcmp(o->listen, "0.0.0.0") != 0 && strcmp(o->listen, "::") != 0
			? o->listen
			: "127.0.0.1";
	bool v6 = strchr(host, ':');

	if (o->listen)
		fprintf(stderr,
			"uhcactl: warning: other machines reach %s: anyone with the token sees "
			"all packets and changes the device, and the network carries the token "
			"unencrypted\n",
			o->listen);
	if (o->quiet)
		fputs("uhca-run: the page of this device: ", out);
	if (o->socket)
		fprintf(out, "%s token=%s\n", o->socket, s->filter.token);
	else
		fprintf(out, "http://%s%s%s:%u/#token=%s\n", v6 ? "[" : "", host, v6 ? "]" : "",
			s->filter.port, s->filter.token);
	fflush(out);
	if (o->ready_fd >= 0) {
		ssize_t n = write(o->ready_fd, "", 1);

		(void)n;
		close(o->ready_fd);
	}
}

/* ---- the loop ---- */

static int catch_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int at_most(int ms, unsigned long long limit)
{
	return ms < 0 || (unsigned long long)ms > limit ? (int)limit : ms;
}

/* How long poll may wait: for the next look at the daemon while a page looks, and for HTTP. */
static int wait_ms(const struct server *s)
{
	MHD_UNSIGNED_LONG_LONG ms;
	int wait = s->n_streams && s->source.live ? ctl_watch_wait(&s->source.watch) : -1;

	if (s->n_streams)
		wait = at_most(wait, 1000);
	return MHD_get_timeout(s->http, &ms) == MHD_YES ? at_most(wait, ms) : wait;
}

static void go_round(struct server *s)
{
	if (s->n_streams)
		source_refresh(&s->source);
	events_wake(s);
	MHD_run(s->http);
}

/* Until a signal comes, or uhca-run has ended and no page looks any more. */
static void loop(struct server *s, int signals)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(s->http, MHD_DAEMON_INFO_EPOLL_FD);
	struct pollfd p[4] = {{.fd = info->epoll_fd, .events = POLLIN},
			      {.fd = signals, .events = POLLIN},
			      {.fd = s->options.life_fd, .events = POLLIN},
			      {.fd = s->lab.name ? s->lab.reply : -1, .events = POLLIN}};

	while (!s->ending || s->n_streams > 0) {
		if (poll(p, 4, wait_ms(s)) < 0 && errno != EINTR)
			return;
		if (p[1].revents)
			return;
		if (p[2].revents) {
			p[2].fd = -1;
			p[2].revents = 0;
			s->ending = true;
		}
		if (p[3].revents && !lab_hear(&s->lab, &s->source))
			return;
		go_round(s);
	}
}

static void end(struct server *s)
{
	s->ends = true;
	events_wake(s);
	MHD_stop_daemon(s->http);
	if (s->options.socket)
		unlink(s->options.socket);
	acts_end(&s->acts);
}

int server_run(struct server *s)
{
	int signals = catch_signals(), error = request_filter_begin(&s->filter), listening;

	if (signals < 0 || error < 0)
		return complain("the server", error ? -error : errno), CTL_EXIT_FAILED;
	s->filter.beyond = s->options.listen != NULL;
	listening = s->options.socket ? listen_at_path(s->options.socket) : listen_at_port(s);
	if (listening < 0)
		return CTL_EXIT_FAILED;
	s->http = http_begin(s, listening);
	if (!s->http) {
		close(listening);
		return complain("the server", ENOMEM), CTL_EXIT_FAILED;
	}
	confine();
	print_address(s);
	loop(s, signals);
	end(s);
	return 0;
}
