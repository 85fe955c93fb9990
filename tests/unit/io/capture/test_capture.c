/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a capture keeps: packets whole, their first bytes, none; all devices or one; what comes
 * first in the file; keys that are told of once. How whole packets look is test_pcap's.
 */
#include "emu/io/base/log.h"
#include "emu/io/capture/capture.h"
#include "emu/io/capture/packet_frame.h"
#include "tests/support/io/burst_gen.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/io/ng_file.h"
#include "tests/support/wire/cmocka_all.h"

#include "wire/icrc.h"
#include "wire/packet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct prng rng;
static struct roce_flow flow;
static uint8_t payload[8192];
static char dir[64];
static char path[96];
static struct io_capture c;

static int setup(void **state)
{
	(void)state;
	io_test_dir(dir);
	snprintf(path, sizeof(path), "%s/x.pcapng", dir);
	io_capture_init(&c);
	io_capture_add_interface(&c, "uhca0");
	io_capture_add_interface(&c, "uhca1");
	flow = burst_gen_flow(io_test_address(1).gid, io_test_address(2).gid, 0xc0de);
	io_log_echo_errors(false);
	return io_log_open(IO_LOG_ERROR, IO_LOG_FILE, "/dev/null");
}

static int teardown(void **state)
{
	(void)state;
	io_capture_stop(&c);
	io_test_remove_dir(dir);
	io_log_close();
	return 0;
}

static void start(int only, uint32_t snap)
{
	const struct io_capture_wish wish = {.path = path, .only = only, .snap = snap};

	assert_int_equal(io_capture_start(&c, &wish), 0);
	assert_string_equal(c.path, path);
}

static void finish(struct ng_file *out)
{
	assert_int_equal(io_capture_stop(&c), 0);
	ng_load(out, path);
}

/* A message of four packets of 1024 bytes, then a short one. */
static struct io_capture_burst message(struct core_burst *t)
{
	burst_gen_message(&rng, &burst_gen_messages[0], 1024, 4100, payload, t);
	t->flow = flow;
	return (struct io_capture_burst){
		.burst = t, .interface = 1, .flags = IO_PCAPNG_INBOUND, .wall = 5};
}

static void test_snap(void **state)
{
	static const uint32_t snaps[] = {1, 14, 64, 110, 111, 500, 1082, 9000, IO_CAPTURE_ALL};
	struct io_capture_burst seen;
	struct core_burst t;
	struct ng_file f;

	(void)state;
	for (unsigned i = 0; i < sizeof(snaps) / sizeof(snaps[0]); i++) {
		start(-1, snaps[i]);
		seen = message(&t);
		io_capture_put(&c, &seen);
		finish(&f);
		assert_int_equal(ng_count(&f, NG_PACKET), 5);
		for (unsigned k = 0; k < 5; k++) {
			const struct ng_block *b = ng_get(&f, NG_PACKET, k);
			uint32_t whole = 14 + 28 + 12 + (k < 4 ? 1024 : 4) + 4;
			uint32_t headers, least;

			assert_int_equal(b->length, whole);
			/* never less than the headers */
			headers = (uint32_t)io_frame_headers(&t, k);
			least = snaps[i] < headers ? headers : snaps[i];
			assert_int_equal(b->kept, least < whole ? least : whole);
			if (b->kept == whole)
				assert_true(roce_icrc_check(&flow, 0, b->frame + 42, whole - 42));
		}
		assert_int_equal(ng_get(&f, NG_INTERFACE, 0)->snap, snaps[i] >= 8192 ? 0
								    : snaps[i] > IO_CAPTURE_LEAST
									    ? snaps[i]
									    : IO_CAPTURE_LEAST);
		ng_free(&f);
	}
}

/* Without packets there are records, and nothing waits for ever to be written. */
static void test_records_only(void **state)
{
	struct io_capture_burst seen;
	struct core_burst t;
	struct ng_file f;

	(void)state;
	start(-1, 0);
	seen = message(&t);
	io_capture_put(&c, &seen);
	c.pending = &seen;
	io_capture_record(&c, 7, "note text=x");
	assert_null(c.pending);
	io_capture_put_bytes(
		&c, &(struct io_capture_bytes){
			    .flow = &flow, .p = payload, .len = 20, .dropped = "malformed"});
	finish(&f);
	assert_int_equal(c.packets, 0);
	assert_int_equal(c.records, 1);
	assert_int_equal(ng_count(&f, NG_PACKET), 0);
	assert_int_equal(ng_count(&f, NG_RECORD), 1);
	ng_free(&f);
}

static void test_one_device(void **state)
{
	(void)state;
	assert_false(io_capture_wants(&c, 1));
	start(1, 0);
	assert_true(io_capture_wants(&c, 1));
	assert_false(io_capture_wants(&c, 0));
	io_capture_stop(&c);
	start(-1, 0);
	assert_true(io_capture_wants(&c, 0));
}

/* What is on its way stands before what came of it. */
static void test_pending(void **state)
{
	struct io_capture_burst seen;
	struct core_burst t;
	struct ng_file f;

	(void)state;
	start(-1, IO_CAPTURE_ALL);
	seen = message(&t);
	c.pending = &seen;
	io_capture_record(&c, 7, "note text=x");
	io_capture_settle(&c);
	finish(&f);
	assert_int_equal(f.n, 3 + 5 + 1);
	assert_int_equal(f.block[8].type, NG_RECORD);
	ng_free(&f);
}

/* Of a burst some packets go on; the last word about a packet counts. */
static void test_fates(void **state)
{
	struct io_capture_burst seen;
	struct core_burst t;
	struct ng_file f;
	uint32_t psn;

	(void)state;
	start(-1, IO_CAPTURE_ALL);
	seen = message(&t);
	psn = t.head.bth.psn = 0xfffffe; /* it wraps around */
	seen.n_fates = 3;
	seen.fate[0] = (struct io_capture_fate){.psn = psn, .count = 1, .rule = 4};
	seen.fate[1] = (struct io_capture_fate){.psn = 0, .count = 1, .dropped = "rule"};
	seen.fate[2] =
		(struct io_capture_fate){.psn = 1, .count = UINT32_MAX, .dropped = "sequence"};
	io_capture_put(&c, &seen);
	finish(&f);
	assert_non_null(strstr(ng_get(&f, NG_PACKET, 0)->text, "rule=4"));
	assert_null(strstr(ng_get(&f, NG_PACKET, 0)->text, "dropped"));
	assert_null(strstr(ng_get(&f, NG_PACKET, 1)->text, "dropped"));
	assert_non_null(strstr(ng_get(&f, NG_PACKET, 2)->text, "dropped=rule"));
	assert_non_null(strstr(ng_get(&f, NG_PACKET, 3)->text, "dropped=sequence"));
	assert_non_null(strstr(ng_get(&f, NG_PACKET, 4)->text, "dropped=sequence"));
	ng_free(&f);
}

/* A wrong ICRC is as wrong in the file as it was on its way. */
static void test_bad_icrc(void **state)
{
	struct io_capture_burst seen;
	const struct ng_block *b;
	struct core_burst t;
	struct ng_file f;

	(void)state;
	start(-1, IO_CAPTURE_ALL);
	seen = message(&t);
	t.model.bad_icrc = true;
	io_capture_put(&c, &seen);
	finish(&f);
	b = ng_get(&f, NG_PACKET, 4);
	assert_false(roce_icrc_check(&flow, 0, b->frame + 42, b->kept - 42));
	ng_free(&f);
}

/* Datagrams that are none of ours, of any length that can come. */
static void test_bytes(void **state)
{
	static uint8_t big[65507];
	struct io_capture_bytes bytes = {
		.interface = 1, .wall = 9, .flow = &flow, .p = big, .dropped = "malformed"};
	static const size_t lengths[] = {0, 1, 15, 100, 8150, 8151, 65507};
	struct ng_file f;

	(void)state;
	start(-1, IO_CAPTURE_ALL);
	for (unsigned i = 0; i < 7; i++) {
		bytes.len = lengths[i];
		io_capture_put_bytes(&c, &bytes);
	}
	finish(&f);
	for (unsigned i = 0; i < 7; i++) {
		const struct ng_block *b = ng_get(&f, NG_PACKET, i);

		assert_int_equal(b->length, lengths[i] + 42);
		assert_int_equal(b->kept, b->length < 8192 ? b->length : 8192);
		assert_int_equal(b->interface, 1);
		assert_string_equal(b->text, "dropped=malformed");
	}
	ng_free(&f);
}

static void test_keys(void **state)
{
	(void)state;
	start(-1, 0);
	assert_true(io_capture_new_key(&c, 0x1234));
	assert_false(io_capture_new_key(&c, 0x1234));
	assert_true(io_capture_new_key(&c, 0x1235)); /* the same region, described anew */
	assert_true(io_capture_new_key(&c, 0x5600));
	assert_false(io_capture_new_key(&c, 0x1235));
	io_capture_stop(&c);
	start(-1, 0);
	assert_true(io_capture_new_key(&c, 0x1235));
}

static void test_names(void **state)
{
	char long_name[PATH_MAX + 1];
	struct io_capture_wish wish = {.path = long_name, .only = -1};

	(void)state;
	memset(long_name, 'x', PATH_MAX);
	long_name[0] = '/';
	long_name[PATH_MAX] = '\0';
	assert_int_equal(io_capture_start(&c, &wish), -ENAMETOOLONG);
	assert_false(io_capture_running(&c));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_snap),    TEST(test_records_only), TEST(test_one_device),
		TEST(test_pending), TEST(test_fates),        TEST(test_bad_icrc),
		TEST(test_bytes),   TEST(test_keys),         TEST(test_names),
	};

	rng = prng_start("test_capture");
	prng_fill(&rng, payload, sizeof(payload));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
