/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client that says anything: the input is a script of control messages, sent to a daemon in
 * this process beside a client that behaves. Whatever comes, the daemon answers or disconnects,
 * closes every descriptor it was given and does not keep, frees what the client made, and the
 * other client goes on undisturbed.
 *
 * Input: messages of the form
 *   u8 how     bits 0..2: number of descriptors (above 4: 4); bit 3: the size in the header is
 *              right; bit 4: the length on the wire is that of the command; bits 5..6: kind of
 *              the descriptors
 *   u8 cmd
 *   u16 length of what follows, where bit 4 does not say it
 *   the rest of the message behind its header; a word 0xfacade00 + n in it stands for handle
 *   number n that replies have brought so far
 */
#include "abi_commands.h"
#include "fuzz.h"
#include "input.h"

#include "emu/io/base/log.h"
#include "emu/io/daemon.h"
#include "emu/io/local/message.h"
#include "emu/io/serve/cmd_server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#define HANDLES_MAX 64
#define MESSAGES    200

static struct io_daemon d;
static char dir[64];

/* Our ends of the well-behaved client, and of the one that is tested. */
struct end {
	struct io_client *client;
	int sock;
	int async;
	uint32_t handle[HANDLES_MAX];
	unsigned n_handles;
};

static struct end good;

/* What descriptors a client may have at hand. */
static int some_fd[4];

static unsigned open_fds(void)
{
	DIR *list = opendir("/proc/self/fd");
	unsigned n = 0;

	FUZZ_CHECK(list != NULL);
	while (readdir(list))
		n++;
	closedir(list);
	return n;
}

/* Takes the replies that have come; remembers the handles in them. */
static void take_replies(struct end *e)
{
	_Alignas(8) uint8_t reply[UHCA_ABI_MAX_MESSAGE];
	struct io_fds fds;
	bool whole;
	ssize_t n;

	while ((n = io_message_receive(e->sock, reply, sizeof(reply), &fds, &whole)) > 0) {
		struct uhca_cmd_handle_reply r;

		FUZZ_CHECK(whole && (size_t)n >= sizeof(r.h));
		memcpy(&r, reply, sizeof(r));
		FUZZ_CHECK(r.h.size == (size_t)n && r.h.status <= 0);
		FUZZ_CHECK(r.h.status == 0 || ((size_t)n > sizeof(r.h) && reply[n - 1] == 0));
		if (r.h.status == 0 && (size_t)n > sizeof(r.h) && e->n_handles < HANDLES_MAX)
			e->handle[e->n_handles++] = r.handle;
		io_fds_close(&fds);
	}
}

/* Hands a message to the daemon as if it had come by the socket. */
static int handle(struct end *e, const void *msg, size_t len, struct io_fds *fds)
{
	int error = io_cmd_handle(e->client, msg, len, fds, true);

	io_fds_close(fds);
	take_replies(e);
	return error;
}

static struct io_client *open_client(struct end *e)
{
	struct ucred peer = {.pid = getpid(), .uid = geteuid()};
	int pair[2];

	*e = (struct end){.async = -1};
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	e->sock = pair[0];
	e->client = io_client_create(&d.clients, pair[1], &peer);
	FUZZ_CHECK(e->client != NULL);
	return e->client;
}

static void say_hello(struct end *e)
{
	struct uhca_cmd_hello in = {.h = {UHCA_CMD_HELLO, sizeof(in), 0, 0},
				    .magic = UHCA_ABI_MAGIC,
				    .version = UHCA_ABI_VERSION,
				    .device = "uhca0"};
	struct io_fds fds = {.n = 2};
	int pair[2];

	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	e->async = pair[0];
	fds.fd[0] = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	fds.fd[1] = pair[1];
	FUZZ_CHECK(handle(e, &in, sizeof(in), &fds) == 0);
	e->n_handles = 0;
}

static void close_client(struct end *e)
{
	io_client_destroy(e->client);
	close(e->sock);
	if (e->async >= 0)
		close(e->async);
}

static void start(void)
{
	struct io_settings s = {
		.devices = 2, .ready_fd = -1, .wire = IO_WIRE_NEVER, .pin = UHCA_ABI_PIN_ALL};
	struct io_instance instance;
	int pair[2];

	FUZZ_CHECK(abi_commands_are_all());
	strcpy(dir, "/tmp/uhca-fuzz-XXXXXX");
	FUZZ_CHECK(mkdtemp(dir) != NULL);
	FUZZ_CHECK(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null") == 0);
	FUZZ_CHECK(io_instance_open(&instance, dir, false) == 0);
	FUZZ_CHECK(io_daemon_create(&d, &s, &instance) == 0);
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	some_fd[0] = pair[0];
	some_fd[1] = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	some_fd[3] = open("/dev/null", O_RDWR | O_CLOEXEC);
	some_fd[2] = pair[1];
	open_client(&good);
	say_hello(&good);
}

static void stop(void)
{
	close_client(&good);
	io_daemon_destroy(&d);
	rmdir(dir);
}

/* One message of the script. False when the daemon disconnects. */
static bool send_message(struct end *e, struct fuzz_input *in)
{
	_Alignas(8) uint8_t msg[UHCA_ABI_MAX_MESSAGE];
	struct uhca_cmd_request h = {.sequence = 1};
	uint8_t how = input_u8(in);
	struct io_fds fds = {.n = (how & 7) > UHCA_ABI_MAX_FDS ? UHCA_ABI_MAX_FDS : how & 7};
	size_t len;

	h.cmd = input_u8(in);
	if (how & 0x10)
		len = h.cmd < UHCA_CMD_COUNT && abi_commands[h.cmd].size
			      ? abi_commands[h.cmd].size
			      : sizeof(struct uhca_cmd_handle);
	else
		len = input_u16(in) % (sizeof(msg) + 1);
	h.size = how & 8 ? (uint32_t)len : input_u32(in);
	memset(msg, 0, sizeof(h));
	input_bytes(in, msg + sizeof(h), len > sizeof(h) ? len - sizeof(h) : 0);
	memcpy(msg, &h, sizeof(h));
	for (size_t at = sizeof(h); at + 4 <= len; at += 4) {
		uint32_t word;

		memcpy(&word, msg + at, 4);
		if ((word & ~0xffu) == 0xfacade00 && (word & 0xff) < e->n_handles)
			memcpy(msg + at, &e->handle[word & 0xff], 4);
	}
	for (unsigned i = 0; i < fds.n; i++)
		fds.fd[i] = dup(some_fd[(i + (how >> 5)) % 4]);
	return handle(e, msg, len, &fds) == 0;
}

static void drain(void)
{
	static uint8_t buf[65536];

	for (unsigned i = 0; i < d.devices.n; i++)
		io_device_send(&d.ports[i].dev, 1, buf, sizeof(buf), 1000);
}

/* What is done bit by bit, and by others, is done. */
static void settle(void)
{
	while (io_clients_bury(&d.clients))
		;
	FUZZ_CHECK(io_reaper_wait(20000)); /* ms */
}

static void check_others(unsigned fds)
{
	struct uhca_cmd_handle in = {.h = {UHCA_CMD_QUERY_PORT, sizeof(in), 5, 0}, .handle = 1};
	struct io_fds none = {.n = 0};

	settle();
	FUZZ_CHECK(open_fds() == fds);
	for (unsigned i = 0; i < d.devices.n; i++)
		for (unsigned t = 0; t < CORE_OBJECT_TYPES; t++)
			FUZZ_CHECK(core_object_count(d.ports[i].dev.core,
						     (enum core_object_type)t) == 0);
	good.n_handles = 0;
	FUZZ_CHECK(handle(&good, &in, sizeof(in), &none) == 0);
	FUZZ_CHECK(good.n_handles == 1); /* a whole reply came */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct end e;
	unsigned fds;
	bool hello;

	if (!d.loop) {
		start();
		atexit(stop);
	}
	settle();
	fds = open_fds();
	hello = input_u8(&in) & 1;
	open_client(&e);
	if (hello)
		say_hello(&e);
	for (unsigned i = 0; i < MESSAGES && in.left > 0 && send_message(&e, &in); i++)
		drain();
	close_client(&e);
	drain();
	check_others(fds);
	return 0;
}
