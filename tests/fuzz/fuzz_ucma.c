/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any commands to the rdma_cm device of a daemon, from two opens of it. The daemon must go on
 * answering, and when the opens are closed no id, no file and no descriptor is left.
 *
 * The input is a list of records: command, length of its structure (short ones included), the id
 * in its place or whatever the bytes say, then the bytes. A command above the kernel's is a raw
 * message.
 */
#include "tests/support/io/ucma_client.h"

#include "fuzz.h"

#include "emu/io/base/log.h"
#include "input.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMANDS 200u
#define CLIENTS  2u
#define LONGEST  600u

static struct io_test_daemon t;
static unsigned fds;

static void stop(void)
{
	io_test_daemon_stop(&t);
	io_log_close();
}

static void once(void)
{
	struct io_settings s;

	if (t.d.loop)
		return;
	FUZZ_CHECK(io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null") == 0);
	io_test_settings(&s, 2);
	io_test_daemon_start(&t, &s);
	atexit(stop);
	fds = io_test_open_fds();
}

/* Where the id stands differs from command to command: it is written to where it may be. */
static void aim(uint8_t *body, size_t len, uint16_t at, uint32_t id)
{
	if (at > 0 && at + sizeof(id) <= len)
		memcpy(body + at, &id, sizeof(id));
}

/* An address of a device, where one is wanted, in the form of the old commands. */
static void put_address(uint8_t *body, size_t len, uint16_t at, const struct fuzz_input *in)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(7000)};
	const struct io_address_list *own = &t.d.ports[in->left & 1].dev.id.addresses;

	memcpy(&v4.sin_addr, own->a[0].gid + 12, 4);
	if (at + sizeof(v4) <= len)
		memcpy(body + at, &v4, sizeof(v4));
}

static int command(struct ucma_client *c, const struct ucma_client *other, struct fuzz_input *in)
{
	uint8_t body[LONGEST];
	uint32_t cmd = input_u8(in);
	size_t len = input_u16(in) % sizeof(body);
	uint8_t flags = input_u8(in);
	uint16_t at = input_u16(in);
	uint32_t id = input_u8(in) % 8;

	input_bytes(in, body, len < 64 ? len : 64);
	if (len > 64)
		memset(body + 64, flags & 8 ? 1 : 0, len - 64);
	if (cmd >= 0xf0)
		return ucma_client_send(c, body, len, cmd & 1);
	if (flags & 1)
		aim(body, len, at, id);
	if (flags & 2)
		put_address(body, len, flags >> 4 == 0 ? 0 : at, in);
	return ucma_client_call(c, cmd % 26, body, len, flags & 4 ? other->sock : -1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ucma_client c[CLIENTS];
	struct fuzz_input in = {data, size};

	once();
	for (unsigned i = 0; i < CLIENTS; i++)
		ucma_client_open(&c[i], &t.d);
	for (unsigned n = 0; n < COMMANDS && in.left > 0; n++) {
		unsigned i = input_u8(&in) % CLIENTS;

		if (command(&c[i], &c[1 - i], &in) != -ECONNRESET)
			continue;
		close(c[i].sock); /* hung up on: another open */
		ucma_client_open(&c[i], &t.d);
	}
	for (unsigned i = 0; i < CLIENTS; i++)
		close(c[i].sock);
	ucma_client_settle(&t.d);
	FUZZ_CHECK(t.d.ucma.n_files == 0);
	for (uint32_t i = 0; i < t.d.ucma.numbers.used_once; i++)
		FUZZ_CHECK(!t.d.ucma.numbers.slot[i]);
	FUZZ_CHECK(io_test_fds_come_to(io_test_open_fds, fds));
	return 0;
}
