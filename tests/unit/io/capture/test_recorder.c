/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flight recorder: what it remembers when it is full, what it writes out, and what memory it
 * takes meanwhile.
 */
#include "emu/io/base/clock.h"
#include "emu/io/capture/recorder.h"
#include "tests/support/io/burst_gen.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/io/ng_file.h"
#include "tests/support/wire/cmocka_all.h"

#include "wire/packet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct prng rng;
static struct roce_flow flow;
static uint8_t payload[65536];

struct fixture {
	char dir[64];
	char path[96];
	struct io_capture capture;
	struct io_recorder r;
	struct io_recorder_dump done;
};

static const char *rule_text(void *user, uint32_t number)
{
	(void)user;
	return number == 3 ? "drop nth=1" : NULL;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	io_test_dir(f->dir);
	snprintf(f->path, sizeof(f->path), "%s/x.pcapng", f->dir);
	io_capture_init(&f->capture);
	io_capture_add_interface(&f->capture, "uhca0");
	io_capture_add_interface(&f->capture, "uhca1");
	f->capture.rule_text = rule_text;
	io_recorder_init(&f->r, 8192);
	flow = burst_gen_flow(io_test_address(1).gid, io_test_address(2).gid, 0xc0de);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	io_recorder_destroy(&f->r);
	io_test_remove_dir(f->dir);
	free(f);
	return 0;
}

static void one(struct fixture *f, unsigned interface, uint32_t psn)
{
	struct core_burst t;

	burst_gen_single(&rng, (roce_opcode){ROCE_RC_ACKNOWLEDGE}, &flow, &t);
	t.head.bth.psn = psn;
	t.model.qpn = 0x11;
	io_recorder_burst(&f->r, interface, IO_PCAPNG_OUTBOUND, &t, io_clock_now());
	f->r.passing = NULL;
}

static void dump(struct fixture *f, struct ng_file *out)
{
	assert_int_equal(io_recorder_dump(&f->r, &f->capture, f->path, &f->done), 0);
	ng_load(out, f->path);
	assert_int_equal(ng_count(out, NG_PACKET), f->done.packets);
	assert_int_equal(ng_count(out, NG_RECORD), f->done.records);
}

static uint32_t psn_of(const struct ng_block *b)
{
	const uint8_t *psn = b->frame + 14 + 28 + 9;

	return (uint32_t)psn[0] << 16 | (uint32_t)psn[1] << 8 | psn[2];
}

static void test_what_it_records(void **state)
{
	const struct core_trace t = {.point = CORE_TRACE_RETRY, .qpn = 0x11, .a = 5};
	const struct io_capture_fate drop = {.psn = 8, .count = 1, .rule = 3, .dropped = "rule"};
	struct fixture *f = *state;
	uint64_t before = io_clock_wall();
	struct ng_file file;

	one(f, 0, 7);
	one(f, 1, 8);
	one(f, 0, 9);
	io_recorder_fate(&f->r, 1, &drop, io_clock_now());
	io_recorder_trace(&f->r, 1, &t, io_clock_now());
	io_recorder_text(&f->r, "note text=x", io_clock_now());
	dump(f, &file);
	assert_false(f->done.cut);
	assert_int_equal(f->done.packets, 3);
	assert_int_equal(f->done.records, 3); /* and what it is */
	assert_string_equal(ng_get(&file, NG_INTERFACE, 1)->text, "uhca1");
	assert_string_equal(ng_get(&file, NG_PACKET, 0)->text, "qp=0x11");
	assert_string_equal(ng_get(&file, NG_PACKET, 1)->text,
			    "qp=0x11 rule=3 fault=\"drop nth=1\" dropped=rule");
	assert_string_equal(ng_get(&file, NG_PACKET, 2)->text, "qp=0x11");
	assert_int_equal(ng_get(&file, NG_PACKET, 1)->interface, 1);
	assert_int_equal(psn_of(ng_get(&file, NG_PACKET, 1)), 8);
	assert_non_null(ng_find(&file, NG_RECORD, "retry dev=uhca1 qp=0x11 psn=5 why=timeout"));
	assert_non_null(ng_find(&file, NG_RECORD, "note text=x"));
	/* The clocks may be set a little between the two looks. */
	assert_in_range(ng_get(&file, NG_PACKET, 0)->wall, before - IO_SEC,
			io_clock_wall() + IO_SEC);
	ng_free(&file);
}

/* A message's packets end with their headers; its packets are all there. */
static void test_headers_only(void **state)
{
	struct fixture *f = *state;
	const struct ng_block *b;
	struct ng_file file;
	struct core_burst t;

	burst_gen_message(&rng, &burst_gen_messages[0], 1024, 10000, payload, &t);
	t.flow = flow;
	io_recorder_burst(&f->r, 0, IO_PCAPNG_INBOUND, &t, io_clock_now());
	dump(f, &file);
	assert_int_equal(f->done.packets, 10);
	b = ng_get(&file, NG_PACKET, 0);
	assert_int_equal(b->kept, 14 + 28 + roce_header_length(t.head.bth.opcode));
	assert_int_equal(b->length, b->kept + 1024 + 4);
	assert_int_equal(b->flags, IO_PCAPNG_INBOUND);
	ng_free(&file);
}

/* When it is full the oldest go, and what is left is whole: at every fill of the ring. */
static void test_full(void **state)
{
	struct fixture *f = *state;
	struct ng_file file;
	char text[64];

	for (uint32_t n = 0; n < 500; n++) {
		one(f, 0, n);
		memset(text, 'x', sizeof(text));
		text[n % sizeof(text)] = '\0';
		io_recorder_text(&f->r, text, io_clock_now());
		assert_in_range(f->r.head - f->r.tail, 1, f->r.size);
		if (n % 17)
			continue;
		dump(f, &file);
		assert_in_range(f->done.packets, 1, 30);
		for (unsigned i = 0; i < f->done.packets; i++)
			assert_int_equal(psn_of(ng_get(&file, NG_PACKET, i)),
					 n + 1 - f->done.packets + i);
		ng_free(&file);
	}
}

/*
 * From a device to others of the daemon it is remembered once, and told each time; what became of
 * it is each one's own.
 */
static void test_echo(void **state)
{
	const struct io_capture_fate drop = {.count = UINT32_MAX, .dropped = "no_qp"};
	struct fixture *f = *state;
	struct ng_file file;
	struct core_burst t;
	uint64_t one_burst;

	burst_gen_single(&rng, (roce_opcode){ROCE_RC_ACKNOWLEDGE}, &flow, &t);
	t.head.bth.psn = 0;
	t.model.qpn = 0x11;
	io_recorder_burst(&f->r, 0, IO_PCAPNG_OUTBOUND, &t, io_clock_now());
	one_burst = f->r.head;
	io_recorder_burst(&f->r, 0, IO_PCAPNG_INBOUND, &t, io_clock_now());
	io_recorder_fate(&f->r, 0, &drop, io_clock_now());
	io_recorder_burst(&f->r, 1, IO_PCAPNG_INBOUND, &t, io_clock_now());
	assert_in_range(f->r.head, one_burst, one_burst + 72 + sizeof(drop));
	f->r.passing = NULL;
	io_recorder_burst(&f->r, 1, IO_PCAPNG_INBOUND, &t, io_clock_now()); /* by the network */
	io_recorder_burst(&f->r, 0, IO_PCAPNG_INBOUND, &t, io_clock_now());
	assert_in_range(f->r.head, 3 * one_burst, 4 * one_burst);
	dump(f, &file);
	assert_int_equal(f->done.packets, 5);
	assert_int_equal(ng_get(&file, NG_PACKET, 0)->flags, IO_PCAPNG_OUTBOUND);
	assert_string_equal(ng_get(&file, NG_PACKET, 0)->text, "qp=0x11");
	assert_int_equal(ng_get(&file, NG_PACKET, 1)->flags, IO_PCAPNG_INBOUND);
	assert_string_equal(ng_get(&file, NG_PACKET, 1)->text, "qp=0x11 dropped=no_qp");
	assert_int_equal(ng_get(&file, NG_PACKET, 2)->interface, 1);
	assert_string_equal(ng_get(&file, NG_PACKET, 2)->text, "qp=0x11");
	ng_free(&file);
	/* The burst itself is gone: its echo alone tells nothing. */
	f->r.tail += one_burst;
	dump(f, &file);
	assert_int_equal(f->done.packets, 2);
	ng_free(&file);
}

/* A dump has an end even where bursts have many packets. */
static void test_too_many(void **state)
{
	struct fixture *f = *state;
	struct ng_file file;
	struct core_burst t;

	io_recorder_destroy(&f->r);
	io_recorder_init(&f->r, IO_RECORDER_BYTES);
	burst_gen_message(&rng, &burst_gen_messages[0], 256, 60000, payload, &t);
	t.flow = flow;
	for (unsigned i = 0; i < 200; i++)
		io_recorder_burst(&f->r, 0, IO_PCAPNG_INBOUND, &t, io_clock_now());
	dump(f, &file);
	assert_true(f->done.cut);
	assert_in_range(f->done.packets, IO_RECORDER_PACKETS / 2, IO_RECORDER_PACKETS);
	ng_free(&file);
}

static unsigned resident(const struct io_recorder *r)
{
	static unsigned char page[IO_RECORDER_BYTES / 4096 + 2];
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = (uintptr_t)r->ring & ~(size - 1);
	size_t n = ((uintptr_t)r->ring + r->size - from + size - 1) / size;
	unsigned there = 0;

	assert_int_equal(mincore((void *)from, n * size, page), 0);
	for (size_t i = 0; i < n; i++)
		there += page[i] & 1;
	return there;
}

/* Its memory is taken as it fills, not before. */
static void test_memory(void **state)
{
	struct fixture *f = *state;
	unsigned before;

	io_recorder_destroy(&f->r);
	io_recorder_init(&f->r, IO_RECORDER_BYTES);
	before = resident(&f->r);
	assert_in_range(before, 0, 4);
	for (uint32_t n = 0; n < 100; n++)
		one(f, 0, n);
	assert_in_range(resident(&f->r), before + 1, before + 20);
	for (uint32_t n = 0; n < 100000; n++)
		one(f, 0, n);
	assert_true(resident(&f->r) >= IO_RECORDER_BYTES / 4096 - 1);
}

static void test_bad_files(void **state)
{
	struct fixture *f = *state;

	one(f, 0, 1);
	assert_int_equal(io_recorder_dump(&f->r, &f->capture, "/nonexistent/x", &f->done), -ENOENT);
	assert_int_equal(io_recorder_dump(&f->r, &f->capture, "/dev/full", &f->done), -EINVAL);
	assert_int_equal(f->done.packets, 0);
}

/* One that is off takes everything and remembers nothing. */
static void test_off(void **state)
{
	struct fixture *f = *state;
	void *ring = f->r.ring;
	struct ng_file file;

	assert_int_equal(msync(ring, 1, MS_ASYNC), 0);
	io_recorder_destroy(&f->r);
	assert_int_equal(msync(ring, 1, MS_ASYNC), -1); /* nothing is there any more */
	assert_int_equal(errno, ENOMEM);
	one(f, 0, 1);
	io_recorder_text(&f->r, "note", 0);
	dump(f, &file);
	assert_int_equal(f->done.packets, 0);
	assert_int_equal(f->done.records, 1); /* what it is */
	ng_free(&file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_what_it_records),
		TEST(test_headers_only),
		TEST(test_full),
		TEST(test_too_many),
		TEST(test_memory),
		TEST(test_bad_files),
		TEST(test_off),
		TEST(test_echo),
	};

	rng = prng_start("test_recorder");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
