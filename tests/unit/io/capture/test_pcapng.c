/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of blocks: what is written is read back, more than fits into the buffer too; blocks that
 * change places; files that cannot be opened or written any more.
 */
#include "emu/io/capture/pcapng.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/io/ng_file.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static char path[96];
static struct io_pcapng w;
static unsigned fds;

/* ld --wrap: how much a write takes at most, and how many are interrupted first. */
static size_t most;
static unsigned interrupted;

ssize_t __real_write(int fd, const void *from, size_t n);
ssize_t __wrap_write(int fd, const void *from, size_t n);
ssize_t __wrap_write(int fd, const void *from, size_t n)
{
	if (interrupted > 0) {
		interrupted--;
		errno = EINTR;
		return -1;
	}
	return __real_write(fd, from, n < most ? n : most);
}

static int setup(void **state)
{
	(void)state;
	most = SIZE_MAX;
	interrupted = 0;
	fds = io_test_open_fds();
	io_test_dir(dir);
	snprintf(path, sizeof(path), "%s/x.pcapng", dir);
	io_pcapng_init(&w);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	io_pcapng_close(&w);
	io_test_remove_dir(dir);
	assert_int_equal(io_test_open_fds(), fds);
	return 0;
}

static void put_packet(uint32_t interface, uint32_t kept, uint32_t length, const char *comment)
{
	uint8_t *frame = io_pcapng_packet(&w, interface, 0x123456789abcdef0);

	if (!frame)
		return;
	memset(frame, (int)kept, kept);
	io_pcapng_packet_end(&w, kept, length, IO_PCAPNG_OUTBOUND, comment);
}

static void test_blocks(void **state)
{
	const struct ng_block *b;
	struct ng_file f;
	struct stat st;

	(void)state;
	assert_int_equal(io_pcapng_open(&w, path, false), 0);
	assert_int_equal(io_pcapng_open(&w, path, false), -EBUSY);
	io_pcapng_interface(&w, "uhca0", 0);
	io_pcapng_interface(&w, "uhca17", 64);
	put_packet(1, 61, 1000, "wr=0x1");
	io_pcapng_record(&w, 42, "note text=x");
	put_packet(0, 0, 0, "");
	assert_int_equal(io_pcapng_close(&w), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	ng_load(&f, path);
	assert_int_equal(f.n, 6);
	assert_int_equal(f.block[0].type, NG_SECTION);
	assert_string_equal(ng_get(&f, NG_INTERFACE, 1)->text, "uhca17");
	assert_int_equal(ng_get(&f, NG_INTERFACE, 1)->snap, 64);
	b = ng_get(&f, NG_PACKET, 0);
	assert_int_equal(b->interface, 1);
	assert_int_equal(b->kept, 61);
	assert_int_equal(b->length, 1000);
	assert_int_equal(b->flags, 2);
	assert_int_equal(b->wall, 0x123456789abcdef0);
	assert_int_equal(b->frame[60], 61);
	assert_string_equal(b->text, "wr=0x1");
	assert_int_equal(ng_get(&f, NG_RECORD, 0)->wall, 42);
	assert_string_equal(ng_get(&f, NG_RECORD, 0)->text, "note text=x");
	assert_string_equal(ng_get(&f, NG_PACKET, 1)->text, "");
	ng_free(&f);
}

static void test_more_than_the_buffer(void **state)
{
	struct ng_file f;

	(void)state;
	assert_int_equal(io_pcapng_open(&w, path, false), 0);
	for (unsigned i = 0; i < 300; i++)
		put_packet(0, IO_PCAPNG_FRAME_MAX - i, IO_PCAPNG_FRAME_MAX, "part=1/2");
	assert_in_range(w.flushes, 1, 300);
	assert_int_equal(io_pcapng_close(&w), 0);
	ng_load(&f, path);
	assert_int_equal(ng_count(&f, NG_PACKET), 300);
	assert_int_equal(ng_get(&f, NG_PACKET, 299)->kept, IO_PCAPNG_FRAME_MAX - 299);
	ng_free(&f);
}

/* A write that takes a part, or is interrupted, is gone on with; one that takes nothing fails. */
static void test_short_writes(void **state)
{
	struct ng_file f;

	(void)state;
	assert_int_equal(io_pcapng_open(&w, path, false), 0);
	most = 1000;
	interrupted = 2;
	for (unsigned i = 0; i < 3; i++)
		put_packet(0, 2000 + i, 2000 + i, "part=1/2");
	assert_int_equal(io_pcapng_close(&w), 0);
	assert_int_equal(interrupted, 0);
	ng_load(&f, path);
	assert_int_equal(ng_count(&f, NG_PACKET), 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(ng_get(&f, NG_PACKET, i)->kept, 2000 + i);
		assert_int_equal(ng_get(&f, NG_PACKET, i)->frame[1999], (uint8_t)(2000 + i));
	}
	ng_free(&f);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(io_pcapng_open(&w, path, false), 0);
	put_packet(0, 2000, 2000, "");
	most = 0;
	assert_int_equal(io_pcapng_close(&w), -EIO);
	assert_false(io_pcapng_is_open(&w));
}

/* What came in between stands behind; with a flush in between everything stays. */
static void test_order(void **state)
{
	struct io_pcapng_mark m;
	struct ng_file f;

	(void)state;
	assert_int_equal(io_pcapng_open(&w, path, false), 0);
	io_pcapng_record(&w, 1, "first");
	m = io_pcapng_mark(&w);
	io_pcapng_record(&w, 2, "third");
	io_pcapng_cut(&w, &m);
	put_packet(0, 100, 100, "second");
	io_pcapng_paste(&w, &m);
	m = io_pcapng_mark(&w);
	io_pcapng_record(&w, 2, "fourth");
	assert_true(io_pcapng_flush(&w));
	io_pcapng_cut(&w, &m);
	io_pcapng_record(&w, 2, "fifth");
	io_pcapng_paste(&w, &m);
	m = io_pcapng_mark(&w);
	io_pcapng_cut(&w, &m);
	io_pcapng_paste(&w, &m);
	assert_int_equal(io_pcapng_close(&w), 0);
	ng_load(&f, path);
	assert_int_equal(f.n, 6);
	assert_string_equal(f.block[1].text, "first");
	assert_string_equal(f.block[2].text, "second");
	assert_string_equal(f.block[3].text, "third");
	assert_string_equal(f.block[4].text, "fourth");
	assert_string_equal(f.block[5].text, "fifth");
	ng_free(&f);
}

static void test_bad_files(void **state)
{
	(void)state;
	assert_int_equal(io_pcapng_open(&w, "/nonexistent/x", false), -ENOENT);
	assert_int_equal(io_pcapng_open(&w, "/dev/null", false), -EINVAL);
	assert_int_equal(io_pcapng_open(&w, dir, false), -EISDIR);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(io_pcapng_open(&w, path, false), -ENXIO);
	assert_false(io_pcapng_is_open(&w));
}

/* All that can be put into a file that is closed vanishes. */
/* A name that leads to another file, or that is one of two: that file is as before. */
static void test_names_of_others(void **state)
{
	char other[128];
	struct stat st;
	int fd;

	(void)state;
	snprintf(other, sizeof(other), "%s/precious", dir);
	fd = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "precious", 8), 8);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(io_pcapng_open(&w, path, false), -ELOOP);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(link(other, path), 0);
	assert_int_equal(io_pcapng_open(&w, path, false), -EPERM);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 8);
	close(fd);
	assert_int_equal(unlink(other), 0);
	assert_int_equal(io_pcapng_open(&w, path, false), 0); /* it is one's own now: overwritten */
	io_pcapng_close(&w);
	assert_int_equal(stat(path, &st), 0);
	assert_true(st.st_size != 8);
}

static void test_closed(void **state)
{
	struct io_pcapng_mark m = io_pcapng_mark(&w);

	(void)state;
	io_pcapng_interface(&w, "uhca0", 0);
	assert_null(io_pcapng_packet(&w, 0, 0));
	io_pcapng_record(&w, 0, "note");
	io_pcapng_cut(&w, &m);
	io_pcapng_paste(&w, &m);
	assert_true(io_pcapng_flush(&w));
	assert_int_equal(io_pcapng_close(&w), 0);
}

/* The limit of a file's size stands for a disk that is full: what was written before stays. */
static void test_full(void **state)
{
	const struct rlimit small = {100000, RLIM_INFINITY};
	struct rlimit before;
	unsigned n = 0;
	struct stat st;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(io_pcapng_open(&w, path, false), 0);
	while (io_pcapng_is_open(&w) && n++ < 1000)
		put_packet(0, 1000, 1000, "");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_false(io_pcapng_is_open(&w));
	assert_int_equal(w.error, -EFBIG);
	assert_null(io_pcapng_packet(&w, 0, 0));
	assert_int_equal(io_pcapng_close(&w), -EFBIG);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, 100000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_blocks),       TEST(test_more_than_the_buffer),
		TEST(test_short_writes), TEST(test_order),
		TEST(test_bad_files),    TEST(test_names_of_others),
		TEST(test_closed),       TEST(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
