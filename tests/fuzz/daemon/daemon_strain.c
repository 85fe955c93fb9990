/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See daemon_strain.h. Limits are those of this process, which is programs and daemon at once: they
 * are low while the daemon serves what was sent before. A limit of its address space also ends
 * sanitizers, which are spared that. SIGALRM and SIGPROF are the harness's.
 */
#include "daemon_strain.h"

#include "emu/abi/ctl.h"
#include "emu/io/signals.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#define AT_ONCE 3u /* connections of each kind */

static struct rlimit lower(int what, rlim_t to)
{
	struct rlimit before, now;

	FUZZ_CHECK(getrlimit((__rlimit_resource_t)what, &before) == 0);
	now = (struct rlimit){to < before.rlim_max ? to : before.rlim_max, before.rlim_max};
	FUZZ_CHECK(setrlimit((__rlimit_resource_t)what, &now) == 0);
	return before;
}

static void restore(int what, const struct rlimit *before)
{
	FUZZ_CHECK(setrlimit((__rlimit_resource_t)what, before) == 0);
}

/* ---- descriptors ---- */

static int connected(const struct io_daemon *d, const char *name, int type)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%.80s/%s", d->instance.dir, name);
	FUZZ_CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0);
	return fd;
}

/* What a program sends without a look at the answer. */
static void say_hello(const struct daemon_user *u, int sock)
{
	struct uhca_cmd_hello hello = io_test_hello_request(u->dev->id.name);
	int pair[2], fd[2] = {open("/proc/self/mem", O_RDWR | O_CLOEXEC)};

	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	fd[1] = pair[1];
	hello.h = (struct uhca_cmd_request){UHCA_CMD_HELLO, sizeof(hello), 1, 0};
	FUZZ_CHECK(io_message_send(sock, &hello, sizeof(hello), fd, 2) == 0);
	close(fd[0]);
	close(pair[0]);
	close(pair[1]);
}

/* Some come, of each kind, while there are only few numbers left for the daemon. */
static void few_descriptors(const struct daemon_user *u, const struct daemon_means *m, uint8_t n)
{
	static const char request[] = "{\"cmd\":\"show\",\"what\":\"client\"}\n";
	int client[AT_ONCE], session[AT_ONCE], lowest;
	struct rlimit before;

	for (unsigned i = 0; i < AT_ONCE; i++) {
		client[i] = connected(m->d, "sock", SOCK_SEQPACKET);
		session[i] = connected(m->d, UHCA_CTL_SOCKET, SOCK_STREAM);
		say_hello(u, client[i]);
		FUZZ_CHECK(send(session[i], request, strlen(request), MSG_NOSIGNAL) > 0);
	}
	/* The first free one is the loop's, which begins anew with each pass here. */
	lowest = dup(0);
	close(lowest);
	before = lower(RLIMIT_NOFILE, (rlim_t)lowest + 1 + n % 16);
	for (unsigned i = 0; i < 2 * AT_ONCE; i++)
		m->loop_pass();
	restore(RLIMIT_NOFILE, &before);
	for (unsigned i = 0; i < AT_ONCE; i++) {
		m->loop_pass();
		close(client[i]);
		close(session[i]);
	}
	m->loop_pass();
}

/* ---- other limits ---- */

/* Any commands, while no file, and no memory file, may be longer than this. */
static void short_files(struct daemon_user *u, const struct daemon_means *m, struct fuzz_input *in)
{
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN); /* as the daemon does */
	struct rlimit before = lower(RLIMIT_FSIZE, (rlim_t)input_u8(in) << 8);

	for (unsigned i = 0; i < 4 && u->dev; i++)
		daemon_user_command(u, in);
	m->ask("{\"cmd\":\"capture\",\"action\":\"dump\",\"file\":\"%s/%s\"}", m->dir, "short", 0);
	restore(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, handler);
}

static rlim_t address_space(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	FUZZ_CHECK(f && fscanf(f, "%lu", &pages) == 1);
	fclose(f);
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* The same while there is no address for another mapping of some size. */
static void few_addresses(struct daemon_user *u, struct fuzz_input *in)
{
	const uint8_t more = input_u8(in);
	struct rlimit before;

	if (SANITIZED)
		return;
	before = lower(RLIMIT_AS, address_space() + ((rlim_t)more << 12));
	for (unsigned i = 0; i < 4 && u->dev; i++)
		daemon_user_command(u, in);
	restore(RLIMIT_AS, &before);
}

/* ---- signals ---- */

/* Those that the daemon hears or ignores, but for those of the harness. */
static const int harmless[] = {SIGTERM, SIGINT,    SIGQUIT, SIGXCPU,   SIGHUP,  SIGPIPE,
			       SIGUSR1, SIGUSR2,   SIGIO,   SIGVTALRM, SIGPWR,  SIGXFSZ,
			       SIGTTIN, SIGSTKFLT, SIGTTOU, SIGURG,    SIGCONT, SIGWINCH};
#define HARMLESS (sizeof(harmless) / sizeof(harmless[0]))

static void ignore_as_daemon(void)
{
	static bool done;
	struct sigaction alarm, prof;

	if (done)
		return;
	done = true;
	FUZZ_CHECK(sigaction(SIGALRM, NULL, &alarm) == 0 && sigaction(SIGPROF, NULL, &prof) == 0);
	io_signals_ignore();
	FUZZ_CHECK(sigaction(SIGALRM, &alarm, NULL) == 0 && sigaction(SIGPROF, &prof, NULL) == 0);
}

/* Between a request and its execution; one that ends the daemon ends this pass. */
static void raise_some(struct daemon_user *u, struct daemon_user *peer,
		       const struct daemon_means *m, struct fuzz_input *in)
{
	const uint8_t n = input_u8(in);

	ignore_as_daemon();
	m->use(u, peer, n >> 6);
	raise(harmless[n % HARMLESS]);
	raise(SIGRTMIN + n % 8);
	m->loop_pass();
}

/* ---- files ---- */

/* A FIFO that nobody reads, or writes to, where a file is named. */
static void deaf_file(const struct daemon_means *m, uint8_t n)
{
	static const char *const requests[] = {
		"{\"cmd\":\"capture\",\"action\":\"start\",\"file\":\"%s/%s\"}",
		"{\"cmd\":\"capture\",\"action\":\"dump\",\"file\":\"%s/%s\"}",
		"{\"cmd\":\"fault\",\"action\":\"load\",\"file\":\"%s/%s\"}",
		"{\"cmd\":\"fault\",\"action\":\"replay\",\"file\":\"%s/%s\"}",
	};
	char path[128];

	snprintf(path, sizeof(path), "%.80s/fifo", m->dir);
	FUZZ_CHECK(mkfifo(path, 0600) == 0 || errno == EEXIST);
	m->ask(requests[n % 4], m->dir, "fifo", 0);
	unlink(path);
}

/* ---- arenas ---- */

/* Who has registered pages that are gone is disconnected when the device comes to them. */
static void punch(struct daemon_user *u, struct daemon_user *peer, const struct daemon_means *m,
		  uint8_t n)
{
	daemon_memory_punch();
	m->use(u, peer, n);
	m->loop_pass();
	daemon_memory_bring();
}

void daemon_strain(struct daemon_user *u, struct daemon_user *peer, const struct daemon_means *m,
		   struct fuzz_input *in)
{
	const uint8_t what = input_u8(in);

	switch (what % 6) {
	case 0:
		few_descriptors(u, m, what >> 3);
		break;
	case 1:
		short_files(u, m, in);
		break;
	case 2:
		few_addresses(u, in);
		break;
	case 3:
		raise_some(u, peer, m, in);
		break;
	case 4:
		deaf_file(m, what >> 3);
		break;
	default:
		punch(u, peer, m, what >> 6);
		break;
	}
}
