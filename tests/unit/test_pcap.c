/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures: block by block as the format says, each packet with its interface, direction, headers
 * and a right ICRC; what tshark (where it is installed) makes of them; files that cannot be
 * written.
 */
#include "../support/cmocka_all.h"
#include "../support/io_fixture.h"
#include "../support/train_gen.h"
#include "emu/io/log.h"
#include "emu/io/pcap.h"

#include "icrc.h"
#include "packet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct prng rng;
static uint8_t payload[65536];

struct sink {
	struct netif netif;
	unsigned trains;
};

static void count(struct netif *n, const struct core_train *t, uint64_t now)
{
	(void)t;
	assert_int_equal(now, 77);
	((struct sink *)n)->trains++;
}

static const struct netif_ops sink_ops = {.send = count, .receive = count};

struct fixture {
	char dir[64];
	char path[80];
	struct io_capture capture;
	struct io_recorder recorder;
	struct io_pcap_box box[2];
	struct sink above;
	struct sink below;
	/* Expected, in order. */
	unsigned n;
	struct core_train train[400];
	uint8_t *bytes[400];
	bool outbound[400];
	unsigned interface[400];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	io_test_dir(f->dir);
	snprintf(f->path, sizeof(f->path), "%s/x.pcapng", f->dir);
	f->above.netif.ops = f->below.netif.ops = &sink_ops;
	io_capture_init(&f->capture);
	for (unsigned i = 0; i < 2; i++) {
		char name[16];

		snprintf(name, sizeof(name), "uhca%u", i);
		io_pcap_box_init(&f->box[i], &f->capture, &f->recorder,
				 io_capture_add_interface(&f->capture, name));
		f->box[i].netif.above = &f->above.netif;
		f->box[i].netif.below = &f->below.netif;
	}
	*state = f;
	io_log_echo_errors(false);
	return io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null");
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (io_capture_running(&f->capture))
		io_capture_stop(&f->capture);
	for (unsigned i = 0; i < f->n; i++)
		free(f->bytes[i]);
	io_test_remove_dir(f->dir);
	free(f);
	io_log_close();
	return 0;
}

static int start(struct fixture *f, const char *path)
{
	return io_capture_start(&f->capture, &(struct io_capture_wish){
						     .path = path,
						     .only = -1,
						     .snap = IO_CAPTURE_ALL,
					     });
}

/* Passes a train through a box and remembers it. */
static void pass(struct fixture *f, unsigned interface, bool outbound, struct core_train *t)
{
	f->train[f->n] = *t;
	f->bytes[f->n] = malloc(t->length + 1);
	train_gen_gather(t, f->bytes[f->n]);
	f->outbound[f->n] = outbound;
	f->interface[f->n++] = interface;
	if (outbound)
		netif_send(&f->box[interface].netif, t, 77);
	else
		netif_receive(&f->box[interface].netif, t, 77);
}

static struct roce_flow flow(bool v4)
{
	struct io_address a[2];

	io_address_parse(v4 ? "127.0.0.1" : "2001:db8::1", &a[0]);
	io_address_parse(v4 ? "127.0.0.2" : "2001:db8::2", &a[1]);
	return train_gen_flow(a[0].gid, a[1].gid, 0xc0de);
}

/* tshark guesses protocols in payloads; in these it finds none. */
static bool plain;

static void make_plain(struct core_train *t)
{
	for (unsigned i = 0; plain && i < t->n_iov; i++)
		memset(t->iov[i].iov_base, 0x11, t->iov[i].iov_len);
}

/* Every opcode once and some messages, both families, both directions, both interfaces. */
static void pass_everything(struct fixture *f)
{
	struct core_train t;
	struct roce_flow x;

	for (unsigned op = 0; op < 256; op++) {
		if (!train_gen_exists(op))
			continue;
		x = flow(op % 3 != 0);
		train_gen_single(&rng, (roce_opcode){(uint8_t)op}, &x, &t);
		make_plain(&t);
		pass(f, op & 1, op & 2, &t);
	}
	for (unsigned m = 0; m < train_gen_messages_count; m++) {
		uint32_t mtu = 256u << m % 5;

		train_gen_message(&rng, &train_gen_messages[m], mtu, 6 * mtu + 1, payload, &t);
		t.flow = flow(m & 1);
		make_plain(&t);
		pass(f, 1, m & 2, &t);
	}
}

/* ---- reading it back ---- */

static uint8_t *file;
static size_t file_len;

static void load(const char *path)
{
	FILE *f = fopen(path, "r");
	struct stat st;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	file_len = (size_t)st.st_size;
	file = malloc(file_len + 1);
	assert_int_equal(fread(file, 1, file_len, f), file_len);
	fclose(f);
}

static uint32_t u32(size_t at)
{
	uint32_t v;

	assert_in_range(at, 0, file_len - 4);
	memcpy(&v, file + at, 4);
	return v;
}

/* Checks the lengths at both ends; returns where the next block starts. */
static size_t next_block(size_t at, uint32_t type)
{
	uint32_t len = u32(at + 4);

	assert_int_equal(u32(at), type);
	assert_int_equal(len % 4, 0);
	assert_in_range(len, 12, file_len - at);
	assert_int_equal(u32(at + len - 4), len);
	return at + len;
}

static void expect_interface(size_t at, const char *name)
{
	assert_int_equal(u32(at + 8), 1); /* Ethernet */
	assert_int_equal(u32(at + 16), 2 | (uint32_t)strlen(name) << 16);
	assert_memory_equal(file + at + 20, name, strlen(name));
}

/* Packet i of the train in the block at "at". */
static void expect_packet(const struct fixture *f, unsigned k, uint32_t i, size_t at)
{
	uint32_t len = u32(at + 20);
	const uint8_t *frame = file + at + 28;
	struct roce_packet expected;
	struct roce_packet got;
	struct roce_flow fl;
	uint32_t offset;
	uint16_t ident;
	size_t udp;
	size_t headers = roce_udpip_parse(frame + 14, len - 14, &fl, &ident, &udp);

	assert_int_equal(u32(at + 8), f->interface[k]);
	assert_int_equal(u32(at + 24), len);
	assert_int_not_equal(headers, 0);
	assert_int_equal(14 + headers + udp, len);
	assert_int_equal(ident, 0);
	assert_memory_equal(fl.src, f->train[k].flow.src, 16);
	assert_memory_equal(fl.dst, f->train[k].flow.dst, 16);
	assert_int_equal(frame[12] << 8 | frame[13], roce_flow_is_v4(&fl) ? 0x0800 : 0x86dd);
	assert_true(roce_icrc_check(&fl, 0, frame + 14 + headers, udp));
	assert_int_equal(roce_packet_parse(frame + 14 + headers, udp - 4, &got), ROCE_PARSE_OK);
	core_train_packet(&f->train[k], i, &expected, &offset);
	train_gen_assert_packet(&got, &expected, f->bytes[k] + offset);
	at += 28 + ((len + 3) & ~3u);
	if ((u32(at) & 0xffff) == 1) /* the comment */
		at += 4 + (((u32(at) >> 16) + 3) & ~3u);
	assert_int_equal(u32(at), 2 | 4 << 16);
	assert_int_equal(u32(at + 4), f->outbound[k] ? 2 : 1);
}

static void expect_file(const struct fixture *f)
{
	size_t at = next_block(0, 0x0a0d0d0a);

	assert_int_equal(u32(8), 0x1a2b3c4d);
	expect_interface(at, "uhca0");
	at = next_block(at, 1);
	expect_interface(at, "uhca1");
	at = next_block(at, 1);
	for (unsigned k = 0; k < f->n; k++) {
		for (uint32_t i = 0; i < f->train[k].count; i++) {
			size_t next = next_block(at, 6);

			expect_packet(f, k, i, at);
			at = next;
		}
	}
	assert_int_equal(at, file_len);
}

static void test_blocks(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	assert_int_equal(start(f, f->path), 0);
	assert_true(io_capture_running(&f->capture));
	pass_everything(f);
	assert_int_equal(io_capture_stop(&f->capture), 0);
	assert_int_equal(f->above.trains + f->below.trains, f->n);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	load(f->path);
	expect_file(f);
	free(file);
}

static void test_not_running(void **state)
{
	struct fixture *f = *state;

	pass_everything(f);
	assert_int_equal(f->above.trains + f->below.trains, f->n);
	assert_int_equal(f->capture.packets, 0);
	assert_false(io_capture_running(&f->capture));
	io_capture_flush(&f->capture);
}

/* A second capture has only what came after its start. */
static void test_start_again(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(start(f, f->path), 0);
	assert_int_equal(start(f, f->path), -EBUSY);
	pass_everything(f);
	assert_int_equal(io_capture_stop(&f->capture), 0);
	for (unsigned i = 0; i < f->n; i++)
		free(f->bytes[i]);
	f->n = 0;
	assert_int_equal(start(f, f->path), 0);
	pass_everything(f);
	assert_int_equal(io_capture_stop(&f->capture), 0);
	load(f->path);
	expect_file(f);
	free(file);
}

static void test_flush(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(start(f, f->path), 0);
	pass_everything(f);
	io_capture_flush(&f->capture);
	load(f->path);
	expect_file(f);
	free(file);
}

static void test_bad_files(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(start(f, "/nonexistent/x"), -ENOENT);
	assert_int_equal(start(f, "/dev/null"), -EINVAL);
	assert_int_equal(start(f, f->dir), -EISDIR);
	assert_int_equal(mkfifo(f->path, 0600), 0);
	assert_int_equal(start(f, f->path), -ENXIO);
	assert_false(io_capture_running(&f->capture));
}

/* A disk that is full ends the capture and nothing else. */
static void test_cannot_write(void **state)
{
	struct fixture *f = *state;
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_true(full >= 0);
	assert_int_equal(start(f, f->path), 0);
	assert_true(dup2(full, f->capture.file.fd) >= 0);
	close(full);
	while (io_capture_running(&f->capture)) {
		struct core_train t;

		train_gen_message(&rng, &train_gen_messages[0], 4096, 60000, payload, &t);
		t.flow = flow(true);
		netif_send(&f->box[0].netif, &t, 77);
		assert_in_range(f->below.trains, 0, 100);
	}
	assert_int_equal(io_capture_error(&f->capture), -ENOSPC);
	assert_int_equal(io_capture_stop(&f->capture), -ENOSPC);
}

/* Number of lines a shell command prints. */
static unsigned lines_of(const char *command)
{
	FILE *p = popen(command, "r");
	unsigned n = 0;
	int c;

	assert_non_null(p);
	while ((c = fgetc(p)) != EOF)
		n += c == '\n';
	assert_int_equal(pclose(p), 0);
	return n;
}

/* What it guesses of payloads, empty ones too, tells nothing of the capture. */
#define NO_GUESSES                                                                                 \
	"$(tshark -G heuristic-decodes 2>/dev/null | awk '$1 ~ /^infiniband\\./ && "               \
	"$2 != \"ethertype\" { print \"--disable-protocol\", $2 }')"

static unsigned tshark(const struct fixture *f, const char *filter)
{
	char command[512];

	snprintf(command, sizeof(command), "tshark -n " NO_GUESSES " -r %s -Y '%s' 2>/dev/null",
		 f->path, filter);
	return lines_of(command);
}

static void test_tshark(void **state)
{
	struct fixture *f = *state;
	unsigned packets = 0;

	if (system("tshark --version >/dev/null 2>&1") != 0)
		skip(); /* not installed here */
	plain = true;
	assert_int_equal(start(f, f->path), 0);
	pass_everything(f);
	assert_int_equal(io_capture_stop(&f->capture), 0);
	plain = false;
	for (unsigned k = 0; k < f->n; k++)
		packets += f->train[k].count;
	assert_int_equal(tshark(f, "frame"), packets);
	assert_int_equal(tshark(f, "infiniband"), packets);
	assert_int_equal(tshark(f, "_ws.malformed"), 0);
	assert_int_equal(tshark(f, "ip.checksum.status == 0"), 0);
	assert_in_range(tshark(f, "frame.interface_name == \"uhca0\""), 1, packets - 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_blocks), TEST(test_not_running),  TEST(test_start_again),
		TEST(test_flush),  TEST(test_cannot_write), TEST(test_bad_files),
		TEST(test_tshark),
	};

	rng = prng_start("test_pcap");
	prng_fill(&rng, payload, sizeof(payload));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
