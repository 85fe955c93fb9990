/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See daemon_change.h. This process is every program; so what an exec does to one of them is done
 * by half: its marker page goes (emu/io/mem/marker.h), which is all that process_vm finds, or its
 * memory is that of a child from the beginning, which may then really exec, exit or give memory up.
 */
#include "daemon_change.h"

#include "tests/fuzz/fuzz.h"
#include "tests/support/io/marker_page.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t child; /* whose memory a program handed over; 0: nobody's */

/* ---- descriptors ---- */

static int one_of_pair(int type)
{
	int pair[2];

	FUZZ_CHECK(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair) == 0);
	close(pair[1]);
	return pair[0];
}

static int one_of_pipe(unsigned end)
{
	int ends[2];

	FUZZ_CHECK(pipe2(ends, O_CLOEXEC) == 0);
	close(ends[1 - end]);
	return ends[end];
}

static int sealed(int seals)
{
	int fd = memfd_create("any", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	FUZZ_CHECK(fd >= 0 && ftruncate(fd, DAEMON_USER_ARENA) == 0);
	FUZZ_CHECK(seals == 0 || fcntl(fd, F_ADD_SEALS, seals) == 0);
	return fd;
}

/* A connection to the daemon that says nothing. */
static int connection(const struct io_daemon *d, const char *name)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(un.sun_path, sizeof(un.sun_path), "%.80s/%s", d->instance.dir, name);
	FUZZ_CHECK(connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0);
	return fd;
}

static int new_signalfd(void)
{
	sigset_t none;

	sigemptyset(&none);
	return signalfd(-1, &none, SFD_CLOEXEC);
}

static const struct {
	const char *path;
	int flags;
} files[] = {
	{"/proc/self/mem", O_RDWR},      {"/proc/self/mem", O_RDONLY},
	{"/proc/self/mem", O_PATH},      {"/proc/self/oom_score_adj", O_RDWR},
	{"/proc/self/comm", O_RDWR},     {"/proc/self/pagemap", O_RDONLY},
	{"/proc/self/maps", O_RDONLY},   {"/proc/self", O_RDONLY | O_DIRECTORY},
	{"/proc/self/ns/mnt", O_RDONLY}, {"/dev/null", O_RDWR},
	{"/dev/zero", O_RDWR},           {"/dev/full", O_RDWR},
	{"/dev/urandom", O_RDONLY},      {"/", O_PATH},
	{"/proc/self/exe", O_RDONLY},    {"/proc/self/exe", O_PATH},
};
#define FILES (sizeof(files) / sizeof(files[0]))

/* A descriptor that the caller closes: of a file above, or of one of these kinds. */
static int any_fd(const struct daemon_user *u, const struct daemon_cm *cm,
		  const struct io_daemon *d, uint8_t n)
{
	const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

	switch (n % 40) {
	case 0:
		return eventfd(0, EFD_CLOEXEC);
	case 1:
		return epoll_create1(EPOLL_CLOEXEC);
	case 2:
		return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	case 3:
		return new_signalfd();
	case 4:
		return inotify_init1(IN_CLOEXEC);
	case 5:
		return pidfd_open(getpid(), 0);
	case 6:
	case 7:
		return one_of_pipe(n % 2);
	case 8:
		return one_of_pair(SOCK_SEQPACKET);
	case 9:
		return one_of_pair(SOCK_STREAM);
	case 10:
		return one_of_pair(SOCK_DGRAM);
	case 11:
		return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	case 12:
		return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	case 13:
		return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0);
	case 14:
		return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	case 15:
		return sealed(0);
	case 16:
		return sealed(F_SEAL_SHRINK | F_SEAL_WRITE);
	case 17:
		return sealed(seals);
	case 18:
		return dup(u->c.sock);
	case 19:
		return dup(u->c.async);
	case 20:
		return u->c.n_fds ? dup(u->c.fd[0]) : dup(u->c.sock);
	case 21:
		return connection(d, "sock");
	case 22:
		return connection(d, UHCA_UCMA_SOCKET);
	case 23:
		return cm->open ? dup(cm->end[n & 1].c.sock) : dup(u->c.sock);
	default:
		return open(files[n % 40 % FILES].path, files[n % 40 % FILES].flags | O_CLOEXEC);
	}
}

/* ---- a child whose memory is a program's ---- */

__attribute__((noreturn)) static void be_child(pid_t parent)
{
	char *const argv[] = {"sleep", "1000", NULL}, *const no[] = {NULL};
	sigset_t set;
	int signal;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (getppid() != parent || sigwait(&set, &signal) != 0)
		_exit(1);
	execve("/bin/sleep", argv, no);
	_exit(1);
}

static void end_child(void)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	child = 0;
}

void daemon_change_end(void)
{
	end_child();
}

static int memory_of_child(void)
{
	sigset_t set;
	char path[40];
	pid_t parent = getpid();

	end_child();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	child = fork();
	FUZZ_CHECK(child >= 0);
	if (child == 0)
		be_child(parent);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)child);
	return open(path, O_RDWR | O_CLOEXEC);
}

/* It has other memory, or none, at some moment that is not far. */
static void change_child(uint8_t how)
{
	if (child <= 0)
		return;
	if (how & 1)
		kill(child, SIGUSR1);
	else
		end_child();
}

/* ---- what a program does ---- */

/* HELLO; what it hands over as its memory and its events are any two descriptors. */
static void strange_hello(const struct daemon_user *u, const struct daemon_cm *cm,
			  struct io_daemon *d, struct fuzz_input *in)
{
	struct uhca_cmd_hello hello = io_test_hello_request(u->dev->id.name);
	const uint8_t first = input_u8(in), second = input_u8(in);
	struct io_test_client c;
	int fd[2] = {any_fd(u, cm, d, first), any_fd(u, cm, d, second)};

	FUZZ_CHECK(fd[0] >= 0 && fd[1] >= 0);
	io_test_connect(&c, d);
	io_test_call_fds(&c, UHCA_CMD_HELLO, &hello, sizeof(hello), fd, 2);
	close(fd[0]);
	close(fd[1]);
	io_test_hang_up(&c);
}

/* A command that takes a descriptor. */
static void strange_command(struct daemon_user *u, const struct daemon_cm *cm,
			    const struct io_daemon *d, struct fuzz_input *in)
{
	static const uint32_t takes[] = {UHCA_CMD_CREATE_CHANNEL, UHCA_CMD_OPEN_XRCD,
					 UHCA_CMD_ATTACH_ARENA, UHCA_CMD_CREATE_QP};
	_Alignas(8) uint8_t msg[UHCA_ABI_MAX_MESSAGE] = {0};
	const uint32_t cmd = takes[input_u8(in) % 4];
	int fd = any_fd(u, cm, d, input_u8(in));

	FUZZ_CHECK(fd >= 0);
	daemon_user_fill(u, cmd, msg, in);
	daemon_user_call(u, cmd, msg, fd);
	close(fd);
}

static void strange_migration(const struct daemon_user *u, struct daemon_cm *cm,
			      struct io_daemon *d, struct fuzz_input *in)
{
	struct rdma_ucm_migrate_id move = {.id = input_u8(in) & 7};
	struct daemon_cm_end *e;
	int fd;

	daemon_cm_open(cm, d);
	e = &cm->end[input_u8(in) & 1];
	fd = any_fd(u, cm, d, input_u8(in));
	FUZZ_CHECK(fd >= 0);
	if (ucma_client_call(&e->c, RDMA_USER_CM_CMD_MIGRATE_ID, &move, sizeof(move), fd) ==
	    -ECONNRESET)
		daemon_cm_again(e);
	close(fd);
}

/* For process_vm it has been replaced by another program, or is itself again. */
static void change_marker(struct daemon_user *u)
{
	if (u->c.marker) {
		u->was_marked = u->c.marker;
		marker_page_unmap(u->c.marker);
		u->c.marker = 0;
	} else if (u->was_marked && marker_page_map(u->was_marked)) {
		u->c.marker = u->was_marked;
	}
}

/* 1000 bytes from 0x1000 to 0x2000 of what may be registered, by the nth QP and first keys. */
void daemon_change_use(struct daemon_user *u, struct daemon_user *peer, uint8_t n)
{
	const uint8_t bytes[] = {n,          IBV_WR_RDMA_WRITE, 0, 2,    0x00, 0x10,
				 1000 & 255, 1000 >> 8,         0, 0x00, 0x20};
	struct fuzz_input post = {bytes, sizeof(bytes)}, ring = {bytes, 0};

	daemon_user_post_send(u, peer, &post);
	daemon_user_ring(u, &ring);
}

void daemon_change(struct daemon_user *u, struct daemon_user *peer, struct daemon_cm *cm,
		   struct io_daemon *d, struct fuzz_input *in)
{
	const uint8_t what = input_u8(in);
	int memory;

	switch (what & 7) {
	case 0:
		change_marker(u);
		break;
	case 1:
		strange_hello(u, cm, d, in);
		break;
	case 2:
		strange_command(u, cm, d, in);
		break;
	case 3:
		strange_migration(u, cm, d, in);
		break;
	case 4:
		memory = memory_of_child();
		FUZZ_CHECK(memory >= 0);
		daemon_user_close(u);
		daemon_user_open_elsewhere(u, d, what >> 4, memory);
		break;
	case 5:
		change_child(what >> 4);
		break;
	default:
		daemon_change_use(u, peer, what >> 4);
		break;
	}
}
