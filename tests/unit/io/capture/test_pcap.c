/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The box of captures: block by block as the format says, each packet with its interface,
 * direction, headers and a right ICRC; what became of packets, and in which order things are told;
 * what tshark (where it is installed) makes of them; files that cannot be written.
 */
#include "emu/io/base/log.h"
#include "emu/io/capture/pcap.h"
#include "tests/support/io/burst_gen.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/io/ng_file.h"
#include "tests/support/wire/cmocka_all.h"

#include "wire/icrc.h"
#include "wire/packet.h"

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
	unsigned bursts;
	/* Optional: what the box above or below does with a burst. */
	void (*act)(void *arg, const struct core_burst *t);
	void *arg;
};

static void count(struct netif *n, const struct core_burst *t, uint64_t now)
{
	struct sink *s = (struct sink *)n;

	assert_int_equal(now, 77);
	s->bursts++;
	if (s->act)
		s->act(s->arg, t);
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
	struct core_burst burst[400];
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

/* Passes a burst through a box and remembers it. */
static void pass(struct fixture *f, unsigned interface, bool outbound, struct core_burst *t)
{
	f->burst[f->n] = *t;
	f->bytes[f->n] = malloc(t->length + 1);
	burst_gen_gather(t, f->bytes[f->n]);
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
	return burst_gen_flow(a[0].gid, a[1].gid, 0xc0de);
}

/* tshark guesses protocols in payloads; in these it finds none. */
static bool plain;

static void make_plain(struct core_burst *t)
{
	for (unsigned i = 0; plain && i < t->n_iov; i++)
		memset(t->iov[i].iov_base, 0x11, t->iov[i].iov_len);
}

/* Every opcode once and some messages, both families, both directions, both interfaces. */
static void pass_everything(struct fixture *f)
{
	struct core_burst t;
	struct roce_flow x;

	for (unsigned op = 0; op < 256; op++) {
		if (!burst_gen_exists(op))
			continue;
		x = flow(op % 3 != 0);
		burst_gen_single(&rng, (roce_opcode){(uint8_t)op}, &x, &t);
		make_plain(&t);
		pass(f, op & 1, op & 2, &t);
	}
	for (unsigned m = 0; m < burst_gen_messages_count; m++) {
		uint32_t mtu = 256u << m % 5;

		burst_gen_message(&rng, &burst_gen_messages[m], mtu, 6 * mtu + 1, payload, &t);
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

/* Packet i of the burst in the block at "at". */
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
	assert_memory_equal(fl.src, f->burst[k].flow.src, 16);
	assert_memory_equal(fl.dst, f->burst[k].flow.dst, 16);
	assert_memory_equal(frame, "\x02\0", 2); /* locally administered, then the address */
	assert_memory_equal(frame + 2, fl.dst + 12, 4);
	assert_memory_equal(frame + 6, "\x02\0", 2);
	assert_memory_equal(frame + 8, fl.src + 12, 4);
	assert_int_equal(frame[12] << 8 | frame[13], roce_flow_is_v4(&fl) ? 0x0800 : 0x86dd);
	assert_true(roce_icrc_check(&fl, 0, frame + 14 + headers, udp));
	assert_int_equal(roce_packet_parse(frame + 14 + headers, udp - 4, &got), ROCE_PARSE_OK);
	core_burst_packet(&f->burst[k], i, &expected, &offset);
	burst_gen_assert_packet(&got, &expected, f->bytes[k] + offset);
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
		for (uint32_t i = 0; i < f->burst[k].count; i++) {
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
	assert_int_equal(f->above.bursts + f->below.bursts, f->n);
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
	assert_int_equal(f->above.bursts + f->below.bursts, f->n);
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
		struct core_burst t;

		burst_gen_message(&rng, &burst_gen_messages[0], 4096, 60000, payload, &t);
		t.flow = flow(true);
		netif_send(&f->box[0].netif, &t, 77);
		assert_in_range(f->below.bursts, 0, 100);
	}
	assert_int_equal(io_capture_error(&f->capture), -ENOSPC);
	assert_int_equal(io_capture_stop(&f->capture), -ENOSPC);
}

/* ---- what became of them ---- */

static void simple(struct core_burst *t, uint32_t psn)
{
	struct roce_flow x = flow(true);

	burst_gen_single(&rng, (roce_opcode){ROCE_RC_ACKNOWLEDGE}, &x, t);
	t->head.bth.psn = psn;
	t->model.qpn = 0x11;
}

static void finish(struct fixture *f, struct ng_file *out)
{
	assert_int_equal(io_capture_stop(&f->capture), 0);
	ng_load(out, f->path);
}

/* The core drops it, and does something else as well. */
static void drop_by_core(void *arg, const struct core_burst *t)
{
	struct fixture *f = arg;

	io_pcap_trace(&f->box[0],
		      &(struct core_trace){.point = CORE_TRACE_NAK, .a = t->head.bth.psn});
	io_pcap_trace(&f->box[0], &(struct core_trace){.point = CORE_TRACE_RX_DROP,
						       .a = t->head.bth.psn,
						       .b = CORE_DROP_SEQUENCE,
						       .c = t->count});
}

static void test_dropped_by_core(void **state)
{
	struct fixture *f = *state;
	struct ng_file ng;
	struct core_burst t;

	assert_int_equal(start(f, f->path), 0);
	f->above.act = drop_by_core;
	f->above.arg = f;
	simple(&t, 5);
	netif_receive(&f->box[0].netif, &t, 77);
	f->above.act = NULL;
	simple(&t, 6);
	netif_receive(&f->box[0].netif, &t, 77);
	drop_by_core(f, &t); /* nothing is on its way: a note */
	finish(f, &ng);
	assert_int_equal(ng.n, 7 + 1);
	assert_string_equal(ng.block[3].text, "qp=0x11 dropped=sequence");
	assert_non_null(strstr(ng.block[4].text, "nak dev=uhca0"));
	assert_string_equal(ng.block[5].text, "qp=0x11");
	assert_non_null(strstr(ng.block[7].text, "note dev=uhca0"));
	assert_non_null(strstr(ng.block[7].text, "psn=6 dropped=sequence"));
	ng_free(&ng);
}

/* The box above takes it away, or changes it. */
static void drop_by_rule(void *arg, const struct core_burst *t)
{
	struct core_burst mine = *t;

	mine.model.rule = 3;
	if (t->head.bth.psn == 1)
		io_pcap_dropped(arg, FAULT_RX, &mine, false);
	mine.model.bad_icrc = true;
	if (t->head.bth.psn == 2)
		io_pcap_dropped(arg, FAULT_RX, &mine, false);
	if (t->head.bth.psn == 3)
		io_pcap_touched(arg, &mine);
	mine.model = (struct core_burst_model){.rule = 3, .made = true};
	if (t->head.bth.psn == 4)
		io_pcap_touched(arg, &mine);
}

static void test_box_above(void **state)
{
	static const char *const expected[] = {
		"qp=0x11 rule=3 dropped=rule",
		"qp=0x11 rule=3 dropped=bad_icrc",
		"qp=0x11 rule=3",
		"rule=3 made=rule",
		"qp=0x11",
		"qp=0x11 rule=3 dropped=rule",
		"qp=0x11 dropped=step",
	};
	struct fixture *f = *state;
	struct ng_file ng;
	struct core_burst t;

	assert_int_equal(start(f, f->path), 0);
	f->above.act = drop_by_rule;
	f->above.arg = &f->box[1];
	for (uint32_t psn = 1; psn <= 4; psn++) {
		simple(&t, psn);
		netif_receive(&f->box[1].netif, &t, 77);
	}
	t.model.rule = 3; /* one that never came down to here, and one of step mode */
	io_pcap_dropped(&f->box[1], FAULT_TX, &t, false);
	t.model.rule = 0;
	io_pcap_dropped(&f->box[1], FAULT_TX, &t, false);
	io_pcap_dropped(&f->box[1], FAULT_RX, &t, false); /* it waited, and was written before */
	finish(f, &ng);
	assert_int_equal(ng_count(&ng, NG_PACKET), 7);
	/* What is made while another is looked at stands behind it, like all that comes of it. */
	for (unsigned i = 0; i < 7; i++) {
		unsigned k = i == 3 ? 4 : i == 4 ? 3 : i;

		assert_string_equal(ng_get(&ng, NG_PACKET, i)->text, expected[k]);
	}
	assert_int_equal(ng_get(&ng, NG_PACKET, 5)->flags, IO_PCAPNG_OUTBOUND);
	assert_non_null(strstr(ng_get(&ng, NG_RECORD, 0)->text, "psn=4 dropped=step"));
	ng_free(&ng);
}

static void touch(void *arg, const struct core_burst *t)
{
	io_pcap_touched(arg, t);
}

/* A rule of a device beside has made and sent it: it was written when it came through. */
static void test_made_beside(void **state)
{
	struct fixture *f = *state;
	struct ng_file ng;
	struct core_burst t;

	assert_int_equal(start(f, f->path), 0);
	f->above.act = touch;
	f->above.arg = &f->box[1];
	simple(&t, 5);
	t.model = (struct core_burst_model){.rule = 3, .made = true};
	netif_receive(&f->box[1].netif, &t, 77);
	finish(f, &ng);
	assert_int_equal(ng_count(&ng, NG_PACKET), 1);
	assert_string_equal(ng_get(&ng, NG_PACKET, 0)->text, "rule=3 made=rule");
	ng_free(&ng);
}

/* The box below cannot deliver it, or hands it to another device first. */
static void lose(void *arg, const struct core_burst *t)
{
	struct fixture *f = arg;

	if (t->head.bth.psn == 1)
		netif_report_lost(&f->below.netif,
				  &(struct netif_lost){.burst = t, .why = "no_route"});
	else
		netif_receive(&f->box[1].netif, t, 77);
}

static void test_box_below(void **state)
{
	struct fixture *f = *state;
	struct roce_flow x = flow(true);
	struct ng_file ng;
	struct core_burst t;

	assert_int_equal(start(f, f->path), 0);
	f->below.netif.above = &f->box[0].netif;
	f->below.act = lose;
	f->below.arg = f;
	for (uint32_t psn = 1; psn <= 2; psn++) {
		simple(&t, psn);
		netif_send(&f->box[0].netif, &t, 77);
	}
	netif_report_lost(
		&f->below.netif,
		&(struct netif_lost){.flow = &x, .bytes = payload, .len = 50, .why = "bad_icrc"});
	finish(f, &ng);
	assert_string_equal(ng_get(&ng, NG_PACKET, 0)->text, "qp=0x11 dropped=no_route");
	assert_string_equal(ng_get(&ng, NG_PACKET, 1)->text, "qp=0x11");
	assert_int_equal(ng_get(&ng, NG_PACKET, 1)->interface, 0);
	assert_int_equal(ng_get(&ng, NG_PACKET, 2)->interface, 1);
	assert_string_equal(ng_get(&ng, NG_PACKET, 3)->text, "dropped=bad_icrc");
	assert_int_equal(ng_get(&ng, NG_PACKET, 3)->flags, IO_PCAPNG_INBOUND);
	ng_free(&ng);
}

/* Of a device that is not captured nothing is there, and its packets go on. */
static void test_other_device(void **state)
{
	const struct io_capture_wish wish = {
		.path = ((struct fixture *)*state)->path, .only = 1, .snap = IO_CAPTURE_ALL};
	struct fixture *f = *state;
	struct ng_file ng;
	struct core_burst t;

	assert_int_equal(io_capture_start(&f->capture, &wish), 0);
	simple(&t, 1);
	for (unsigned i = 0; i < 2; i++) {
		netif_send(&f->box[i].netif, &t, 77);
		netif_receive(&f->box[i].netif, &t, 77);
		drop_by_core(f, &t); /* of uhca0 */
	}
	assert_int_equal(f->above.bursts + f->below.bursts, 4);
	finish(f, &ng);
	assert_int_equal(ng_count(&ng, NG_PACKET), 2);
	assert_int_equal(ng_count(&ng, NG_RECORD), 0);
	ng_free(&ng);
}

/* More words than there is room for are forgotten; nothing breaks. */
static void test_many_fates(void **state)
{
	struct fixture *f = *state;
	struct ng_file ng;
	struct core_burst t;

	assert_int_equal(start(f, f->path), 0);
	f->above.act = drop_by_rule;
	f->above.arg = &f->box[0];
	simple(&t, 1);
	for (unsigned i = 0; i < 3 * IO_CAPTURE_FATES; i++)
		netif_receive(&f->box[0].netif, &t, 77);
	finish(f, &ng);
	assert_int_equal(ng_count(&ng, NG_PACKET), 3 * IO_CAPTURE_FATES);
	ng_free(&ng);
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
		packets += f->burst[k].count;
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
		TEST(test_blocks),      TEST(test_not_running),     TEST(test_start_again),
		TEST(test_flush),       TEST(test_cannot_write),    TEST(test_bad_files),
		TEST(test_tshark),      TEST(test_dropped_by_core), TEST(test_box_above),
		TEST(test_made_beside), TEST(test_box_below),       TEST(test_other_device),
		TEST(test_many_fates),
	};

	rng = prng_start("test_pcap");
	prng_fill(&rng, payload, sizeof(payload));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
