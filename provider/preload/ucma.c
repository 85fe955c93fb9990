/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A descriptor is ours when its peer has the name of the daemon's socket, or of what takes its
 * place when the daemon is gone (ucma_gone.h); the only other state is what is remembered of the
 * ids for that day (ucma_book.h). Each command takes a socket pair of its own for the reply, so
 * that threads and forked processes that share an open never see each other's replies.
 */
#include "ucma.h"

#include "emu/abi/ucma_call.h"
#include "real.h"
#include "ucma_book.h"
#include "ucma_gone.h"
#include "ucma_reader.h"
#include "ucma_refused.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_user_cm.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define DEVICE         "/dev/infiniband/rdma_cm"
#define DEVICE_REMOVAL 11 /* enum rdma_cm_event_type */
#define PATIENT_MS     10000

static struct sockaddr_un daemon_address;
static socklen_t daemon_length; /* 0: nothing was opened yet */

static int fail(int error)
{
	errno = error;
	return -1;
}

bool uhca_ucma_is_path(const char *path)
{
	const char *root = uhca_root();
	size_t len = root ? strlen(root) : 0;

	return root && path && strncmp(path, root, len) == 0 && strcmp(path + len, DEVICE) == 0;
}

bool uhca_ucma_is_ours(int fd)
{
	struct sockaddr_un peer;
	socklen_t len = sizeof(peer);
	int saved = errno;
	bool ours;

	if (__atomic_load_n(&daemon_length, __ATOMIC_ACQUIRE) == 0)
		return false;
	ours = getpeername(fd, (struct sockaddr *)&peer, &len) == 0 && len == daemon_length &&
	       memcmp(&peer, &daemon_address, len) == 0;
	errno = saved;
	return ours || uhca_ucma_gone_is(fd);
}

/* ---- one request, one reply ---- */

struct call {
	struct uhca_ucma_request h;
	const void *command;
	const void *option;
	int fd;           /* goes along; -1: none */
	int cancel_state; /* of the thread, before */
	struct {
		struct uhca_ucma_reply h;
		uint8_t response[UHCA_UCMA_MAX];
	} reply;
};

static int send_request(int fd, struct call *c, int reply_to)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = {.space = {0}};
	int fds[2] = {reply_to, c->fd};
	size_t n = c->fd >= 0 ? 2 : 1;
	struct iovec iov[3] = {{&c->h, sizeof(c->h)},
			       {(void *)c->command, c->h.length - c->h.option},
			       {(void *)c->option, c->h.option}};
	struct msghdr msg = {.msg_iov = iov,
			     .msg_iovlen = 3,
			     .msg_control = &control,
			     .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	int moments = PATIENT_MS;

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(&control.header), fds, n * sizeof(int));
	while (sendmsg(fd, &msg, MSG_NOSIGNAL) < 0) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};

		if (errno == EAGAIN)
			poll(&p, 1, -1);
		else if (errno == ETOOMANYREFS && moments-- > 0)
			poll(NULL, 0, 1); /* until others have taken theirs (unix(7)) */
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}

/*
 * The daemon answers and closes its end. Linux looks first whether something waits in the socket,
 * then whether the other end is closed, and tells of the end when both came in between (6.18): what
 * came before it is found by a second look.
 */
static int receive_reply(int fd, struct call *c)
{
	ssize_t n;

	do
		n = recv(fd, &c->reply, sizeof(c->reply), 0);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		n = recv(fd, &c->reply, sizeof(c->reply), MSG_DONTWAIT);
	if (n < (ssize_t)sizeof(c->reply.h) || (size_t)n != sizeof(c->reply.h) + c->reply.h.length)
		return fail(EIO); /* the daemon is gone */
	if (c->reply.h.status < 0) {
		errno = -c->reply.h.status;
		uhca_ucma_refused((char *)c->reply.response, c->reply.h.length, errno);
		return -1;
	}
	return 0;
}

static int call(int fd, struct call *c)
{
	int pair[2];
	int result;

	if (uhca_ucma_gone_is(fd))
		return fail(EIO);
	c->h.magic = UHCA_UCMA_MAGIC;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -1;
	result = send_request(fd, c, pair[1]);
	close(pair[1]);
	if (result == 0)
		result = receive_reply(pair[0], c);
	else if (errno == EPIPE || errno == ECONNRESET)
		errno = EIO;
	int saved = errno;
	close(pair[0]);
	errno = saved;
	return result;
}

static bool is_gone(int fd)
{
	struct pollfd p = {.fd = fd};

	return uhca_ucma_gone_is(fd) || (poll(&p, 1, 0) == 1 && (p.revents & POLLHUP));
}

static void return_token(int fd)
{
	struct call c = {.h.cmd = UHCA_UCMA_TOKEN, .fd = -1};

	call(fd, &c);
}

/* ---- open ---- */

static int connect_daemon(int flags)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	const char *root = uhca_root();
	size_t len = strlen(root);
	socklen_t peer_length = sizeof(un);
	int fd;

	if (len + sizeof("/" UHCA_UCMA_SOCKET) > sizeof(un.sun_path))
		return fail(ENAMETOOLONG);
	memcpy(un.sun_path, root, len);
	memcpy(un.sun_path + len, "/" UHCA_UCMA_SOCKET, sizeof("/" UHCA_UCMA_SOCKET));
	fd = UHCA_REAL(socket)(AF_UNIX, SOCK_SEQPACKET | (flags & O_CLOEXEC ? SOCK_CLOEXEC : 0), 0);
	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&un, sizeof(un)) < 0) {
		close(fd);
		errno = ENODEV;
		return -1;
	}
	memset(&un, 0, sizeof(un));
	if (getpeername(fd, (struct sockaddr *)&un, &peer_length) == 0 &&
	    __atomic_load_n(&daemon_length, __ATOMIC_ACQUIRE) == 0) {
		daemon_address = un;
		__atomic_store_n(&daemon_length, peer_length, __ATOMIC_RELEASE);
	}
	return fd;
}

/* The name of the program; behind a NUL the devices of a directory that shows a part of them. */
static uint32_t introduce(char *text, size_t size)
{
	size_t n = strnlen(program_invocation_short_name, 32), more = 0;
	char path[PATH_MAX];
	FILE *f;

	memcpy(text, program_invocation_short_name, n);
	snprintf(path, sizeof(path), "%s/only", uhca_root());
	f = fopen(path, "re");
	if (!f)
		return (uint32_t)n;
	text[n++] = '\0';
	more = fread(text + n, 1, size - n, f);
	fclose(f);
	return (uint32_t)(n + more);
}

int uhca_ucma_open(int flags)
{
	char text[UHCA_UCMA_MAX - sizeof(struct uhca_ucma_request)];
	struct call c = {.h = {.cmd = UHCA_UCMA_HELLO, .length = introduce(text, sizeof(text))},
			 .command = text};
	int fd = connect_daemon(flags);

	if (fd < 0)
		return -1;
	c.fd = fd;
	if (call(fd, &c) < 0) {
		close(fd);
		errno = ENODEV;
		return -1;
	}
	if (flags & O_NONBLOCK)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	return fd;
}

/* ---- write ---- */

/* Where in the command the address for the response stands; -1: there is none. */
static int response_at(uint32_t cmd)
{
	switch (cmd) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		return offsetof(struct rdma_ucm_create_id, response);
	case RDMA_USER_CM_CMD_DESTROY_ID:
	case RDMA_USER_CM_CMD_LEAVE_MCAST:
	case RDMA_USER_CM_CMD_QUERY_ROUTE:
	case RDMA_USER_CM_CMD_QUERY:
	case RDMA_USER_CM_CMD_INIT_QP_ATTR:
	case RDMA_USER_CM_CMD_GET_EVENT:
	case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
	case RDMA_USER_CM_CMD_JOIN_MCAST:
	case RDMA_USER_CM_CMD_MIGRATE_ID:
		return 0; /* it comes first in all of these */
	default:
		return -1;
	}
}

static void store_response(const struct call *c, const struct rdma_ucm_cmd_hdr *hdr)
{
	int at = response_at(c->h.cmd);
	size_t len = c->reply.h.length < hdr->out ? c->reply.h.length : hdr->out;
	uint64_t address;

	if (at < 0 || hdr->in < (size_t)at + sizeof(address) || len == 0)
		return;
	memcpy(&address, (const char *)(hdr + 1) + at, sizeof(address));
	memcpy((void *)(uintptr_t)address, c->reply.response, len);
}

/* The value of an option stands elsewhere in the program's memory. */
static int add_option(struct call *c, const struct rdma_ucm_cmd_hdr *hdr)
{
	struct rdma_ucm_set_option o;

	if (hdr->in < sizeof(o))
		return fail(EINVAL);
	memcpy(&o, hdr + 1, sizeof(o));
	if (o.optlen > UHCA_UCMA_MAX - sizeof(c->h) - c->h.length)
		return fail(EINVAL);
	c->option = (const void *)(uintptr_t)o.optval;
	c->h.option = o.optlen;
	c->h.length += o.optlen;
	return 0;
}

static int add_old_file(struct call *c, const struct rdma_ucm_cmd_hdr *hdr)
{
	struct rdma_ucm_migrate_id m;

	if (hdr->in < sizeof(m))
		return fail(EINVAL);
	memcpy(&m, hdr + 1, sizeof(m));
	if (!uhca_ucma_is_ours((int)m.fd))
		return fail(EINVAL);
	c->fd = (int)m.fd;
	return 0;
}

/* ---- what is remembered ---- */

static int listening; /* that many ids were told to listen; atomic */

__attribute__((visibility("default"))) int uhca_preload_listens(void);
int uhca_preload_listens(void)
{
	return __atomic_load_n(&listening, __ATOMIC_RELAXED);
}

/* The last thread that ended an id which had events, or moved it; atomic. */
static int destroying;

__attribute__((visibility("default"))) int uhca_preload_destroying(void);
int uhca_preload_destroying(void)
{
	return __atomic_load_n(&destroying, __ATOMIC_RELAXED);
}

static void note_waiter(void)
{
	__atomic_store_n(&destroying, (int)syscall(SYS_gettid), __ATOMIC_RELAXED);
}

static uint64_t number_of(int fd)
{
	uint64_t cookie = 0;
	socklen_t len = sizeof(cookie);

	getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len);
	return cookie;
}

/* The command's structure, as far as it was written. */
static void load(void *to, size_t size, const struct rdma_ucm_cmd_hdr *hdr)
{
	memcpy(to, hdr + 1, hdr->in < size ? hdr->in : size);
}

/* What there is of the answer; it lies behind a header and has no alignment of its own. */
static void load_answer(void *to, size_t size, const struct call *c)
{
	memcpy(to, c->reply.response, c->reply.h.length < size ? c->reply.h.length : size);
}

static void remember_group(uint64_t file, const struct call *c, const struct rdma_ucm_cmd_hdr *hdr)
{
	struct rdma_ucm_create_id_resp resp = {0};
	struct rdma_ucm_join_ip_mcast ip = {0};
	struct rdma_ucm_join_mcast any = {0};

	load_answer(&resp, sizeof(resp), c);
	load(&ip, sizeof(ip), hdr);
	load(&any, sizeof(any), hdr);
	if (c->h.cmd == RDMA_USER_CM_CMD_JOIN_IP_MCAST)
		uhca_ucma_book_enter_group(file, ip.id, resp.id, ip.uid);
	else
		uhca_ucma_book_enter_group(file, any.id, resp.id, any.uid);
}

/*
 * librdmacm asks what an id has become after it was bound, resolved or asked for; the answers begin
 * with the GUID of its device, but for that about paths.
 */
static void remember_device(const struct call *c, const struct rdma_ucm_cmd_hdr *hdr)
{
	uint64_t guid = 0;
	struct rdma_ucm_query in = {.option = RDMA_USER_CM_QUERY_ADDR};

	load(&in, sizeof(in), hdr);
	if (c->h.cmd == RDMA_USER_CM_CMD_QUERY && in.option == RDMA_USER_CM_QUERY_PATH)
		return;
	load_answer(&guid, sizeof(guid), c);
	if (guid)
		uhca_ucma_book_device(in.id);
}

/* The command succeeded: which ids there are, who has a device, and who was told what. */
static void remember(int fd, const struct call *c, const struct rdma_ucm_cmd_hdr *hdr)
{
	struct rdma_ucm_create_id_resp made = {0};
	struct rdma_ucm_event_resp event = {.uid = 0};
	struct rdma_ucm_create_id create = {0};
	struct rdma_ucm_accept accept = {.uid = 0};
	struct rdma_ucm_migrate_id migrate = {0};
	uint64_t file = number_of(fd);

	switch (c->h.cmd) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		load(&create, sizeof(create), hdr);
		load_answer(&made, sizeof(made), c);
		uhca_ucma_book_enter(file, made.id, create.uid);
		break;
	case RDMA_USER_CM_CMD_ACCEPT:
		load(&accept, sizeof(accept), hdr);
		uhca_ucma_book_enter(file, accept.id, accept.uid);
		uhca_ucma_book_device(accept.id); /* where the request came to */
		break;
	case RDMA_USER_CM_CMD_MIGRATE_ID:
		load(&migrate, sizeof(migrate), hdr);
		uhca_ucma_book_enter(file, migrate.id, 0);
		if (uhca_ucma_book_events(migrate.id))
			note_waiter();
		break;
	case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
	case RDMA_USER_CM_CMD_JOIN_MCAST:
		remember_group(file, c, hdr);
		break;
	case RDMA_USER_CM_CMD_QUERY_ROUTE:
	case RDMA_USER_CM_CMD_QUERY:
		remember_device(c, hdr);
		break;
	case RDMA_USER_CM_CMD_GET_EVENT:
		load_answer(&event, sizeof(event), c);
		uhca_ucma_book_count_event(file, event.uid);
		break;
	default:
		break;
	}
}

/* ---- a daemon that is gone ---- */

static void respond(struct call *c, const void *response, size_t len)
{
	memcpy(c->reply.response, response, len);
	c->reply.h.length = (uint32_t)len;
}

/* All was told: from now on it is silent, and whoever reads from it waits. */
static bool fall_silent(int fd)
{
	uint64_t file = number_of(fd);

	if (!uhca_ucma_gone_put(fd))
		return false;
	uhca_ucma_book_move(file, number_of(fd));
	return true;
}

/*
 * The devices are removed: each id that has one hears of it, as from a kernel, then nothing more
 * comes. 1: such an event, 0: there is none, -1: with EIO, it cannot be made silent.
 */
static int removal_event(int fd, struct call *c)
{
	struct rdma_ucm_event_resp event = {.event = DEVICE_REMOVAL};
	uint64_t uid;

	if (!uhca_ucma_book_removal(number_of(fd), &event.id, &uid)) {
		errno = EIO;
		return uhca_ucma_gone_is(fd) || fall_silent(fd) ? 0 : -1;
	}
	event.uid = uid;
	respond(c, &event, sizeof(event));
	if (!uhca_ucma_book_has_removal(number_of(fd)))
		fall_silent(fd);
	return 1;
}

/* Ids and groups go with the daemon, so that a program can clean up as ever. */
static int end_without_daemon(int fd, struct call *c, const struct rdma_ucm_cmd_hdr *hdr)
{
	struct rdma_ucm_destroy_id in = {0};
	struct rdma_ucm_destroy_id_resp resp;

	load(&in, sizeof(in), hdr);
	if (!uhca_ucma_book_strike(number_of(fd), in.id, &resp.events_reported))
		return fail(ENOENT);
	respond(c, &resp, sizeof(resp));
	return 0;
}

static int end_id(int fd, struct call *c, const struct rdma_ucm_cmd_hdr *hdr)
{
	struct rdma_ucm_destroy_id in = {0};
	uint64_t file = number_of(fd);
	uint32_t events;

	uhca_ucma_reader_first(fd, file);
	if (call(fd, c) < 0)
		return errno == EIO && is_gone(fd) ? end_without_daemon(fd, c, hdr) : -1;
	load(&in, sizeof(in), hdr);
	if (uhca_ucma_book_strike(file, in.id, &events) && events)
		note_waiter();
	return 0;
}

/* Here alone a thread may be cancelled, which takes nothing along: it only looks. */
static ssize_t wait_for_token(int fd, const struct call *c)
{
	char token;
	ssize_t n;

	pthread_setcancelstate(c->cancel_state, NULL);
	n = recv(fd, &token, sizeof(token), MSG_PEEK);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	return n;
}

/* 1: a token, 0: the daemon is gone, -1: errno. As the descriptor's flags say. */
static int take_token(int fd, const struct call *c, bool *waited)
{
	char token;
	ssize_t n;

	while ((n = recv(fd, &token, sizeof(token), MSG_DONTWAIT)) < 0 && errno == EAGAIN) {
		*waited = true;
		n = wait_for_token(fd, c);
		if (n <= 0)
			break;
	}
	if (n < 0 && errno != ECONNRESET)
		return -1;
	return n > 0;
}

/* Waits for the token, then asks; another may have been faster. As take_token() says. */
static int ask_for_event(int fd, struct call *c, bool *waited)
{
	int n;

	for (;;) {
		n = take_token(fd, c, waited);
		if (n <= 0)
			return n;
		if (call(fd, c) == 0)
			return 1;
		if (errno != EAGAIN)
			return errno == EIO && is_gone(fd) ? 0 : -1;
	}
}

static pthread_key_t holds; /* what the thread holds, plus one: closed when it is cancelled */
static pthread_once_t holds_once = PTHREAD_ONCE_INIT;
static bool has_key;

static void let_go(void *held)
{
	close((int)(intptr_t)held - 1);
}

static void make_key(void)
{
	has_key = pthread_key_create(&holds, let_go) == 0;
}

static void note_held(int fd)
{
	pthread_once(&holds_once, make_key);
	if (has_key)
		pthread_setspecific(holds, (void *)(intptr_t)(fd + 1));
}

/*
 * A kernel's call holds on to its file. So does this one: another thread may close the descriptor
 * between the token and the question, as rping does, and its number may be another file's then.
 */
static int ask_holding(int fd, struct call *c, bool *waited)
{
	int held = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	int n, saved;

	if (held < 0)
		return ask_for_event(fd, c, waited); /* there are no more descriptors */
	note_held(held);
	n = ask_for_event(held, c, waited);
	saved = errno;
	note_held(-1);
	if (n == 0 && number_of(held) != number_of(fd)) {
		saved = EBADF;
		n = -1;
	}
	close(held);
	errno = saved;
	return n;
}

/*
 * Who comes because poll(2) said so, when the daemon had gone and left nothing to tell, is told
 * once to come again, and does not wait with a descriptor that blocks.
 */
static int get_event(int fd, struct call *c)
{
	bool waited = false;
	int n;

	uhca_ucma_reader_note(number_of(fd));
	for (;;) {
		n = ask_holding(fd, c, &waited);
		if (n == 0)
			n = removal_event(fd, c);
		if (n != 0)
			return n > 0 ? 0 : -1;
		if (!waited)
			return fail(EAGAIN);
	}
}

static int execute(int fd, struct call *c, const struct rdma_ucm_cmd_hdr *hdr)
{
	bool is_end =
		c->h.cmd == RDMA_USER_CM_CMD_DESTROY_ID || c->h.cmd == RDMA_USER_CM_CMD_LEAVE_MCAST;
	char token;

	if (c->h.cmd == RDMA_USER_CM_CMD_SET_OPTION && add_option(c, hdr) < 0)
		return -1;
	if (c->h.cmd == RDMA_USER_CM_CMD_MIGRATE_ID && add_old_file(c, hdr) < 0)
		return -1;
	if (c->h.cmd == RDMA_USER_CM_CMD_GET_EVENT)
		return get_event(fd, c);
	if (is_end ? end_id(fd, c, hdr) < 0 : call(fd, c) < 0)
		return -1;
	if (c->reply.h.flags & UHCA_UCMA_TAKE_TOKEN) {
		int from = c->fd >= 0 ? c->fd : fd;

		if (recv(from, &token, sizeof(token), MSG_DONTWAIT) == 1)
			return_token(from);
	}
	return 0;
}

ssize_t uhca_ucma_write(int fd, const void *buf, size_t count)
{
	struct rdma_ucm_cmd_hdr hdr;
	struct call c = {.fd = -1};
	int result, saved = errno;

	if (count < sizeof(hdr))
		return fail(EINVAL);
	memcpy(&hdr, buf, sizeof(hdr));
	if (hdr.in > count - sizeof(hdr) || count > UHCA_UCMA_MAX - sizeof(c.h))
		return fail(EINVAL);
	c.h.cmd = hdr.cmd;
	c.h.length = (uint32_t)sizeof(hdr) + hdr.in;
	c.command = buf;
	/* A kernel's call is done or not begun when its thread is cancelled. */
	pthread_testcancel();
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &c.cancel_state);
	result = execute(fd, &c, buf);
	pthread_setcancelstate(c.cancel_state, NULL);
	if (result < 0)
		return -1;
	if (c.h.cmd == RDMA_USER_CM_CMD_LISTEN)
		__atomic_fetch_add(&listening, 1, __ATOMIC_RELAXED);
	if (c.reply.h.length || c.h.cmd == RDMA_USER_CM_CMD_ACCEPT)
		remember(fd, &c, buf);
	store_response(&c, buf);
	errno = saved; /* one that waited has seen EAGAIN on the way */
	return (ssize_t)count;
}
