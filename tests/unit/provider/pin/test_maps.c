/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of mappings: each kind as it was made, by the list and by the query of newer kernels. */
#include "tests/support/wire/cmocka_all.h"

#include "provider/pin/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE ((size_t)1 << 20)
#define RW   (PROT_READ | PROT_WRITE)

/* With a mapping of none on each side, so that it stands alone. */
static char *alone(int prot, int flags, int fd)
{
	char *p = mmap(NULL, 3 * SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(p != MAP_FAILED);
	assert_true(mmap(p + SIZE, SIZE, prot, flags | MAP_FIXED, fd, 0) == p + SIZE);
	return p + SIZE;
}

static void drop(char *p)
{
	munmap(p - SIZE, 3 * SIZE);
}

static bool listed(const char *at, struct uhcav_mapping *out)
{
	struct uhcav_maps m;
	bool found = false;

	assert_int_equal(uhcav_maps_open(&m), 0);
	while (!found && uhcav_maps_next(&m, out))
		found = out->from <= (uintptr_t)at && (uintptr_t)at < out->to;
	uhcav_maps_close(&m);
	return found;
}

/* By both ways. */
static struct uhcav_mapping look(const char *at)
{
	struct uhcav_mapping list, found;

	assert_true(listed(at, &list));
	assert_int_equal(uhcav_maps_find((uintptr_t)at, &found), 0);
	assert_int_equal(found.from, list.from);
	assert_int_equal(found.to, list.to);
	assert_int_equal(found.offset, list.offset);
	assert_int_equal(found.inode, list.inode);
	assert_int_equal(found.dev, list.dev);
	assert_int_equal(found.prot, list.prot);
	assert_int_equal(found.shared, list.shared);
	assert_int_equal(found.plain, list.plain);
	return found;
}

/* The whole list, in its order: as much as several reads of the file bring. */
static void test_list(void **state)
{
	static char text[1 << 18];
	char *pages = mmap(NULL, SIZE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	struct uhcav_mapping found;
	char *line = text;
	struct uhcav_maps m;
	size_t n = 0;
	ssize_t got;

	(void)state;
	assert_true(fd >= 0 && pages != MAP_FAILED);
	for (size_t at = 0; at < SIZE; at += 8192) /* a line each, and one between them */
		assert_int_equal(mprotect(pages + at, 4096, PROT_NONE), 0);
	while ((got = read(fd, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	close(fd);
	assert_int_equal(got, 0);
	assert_true(n > sizeof(m.buf));
	assert_int_equal(uhcav_maps_open(&m), 0);
	while (uhcav_maps_next(&m, &found)) {
		unsigned long from, to;

		assert_int_equal(sscanf(line, "%lx-%lx", &from, &to), 2);
		assert_int_equal(found.from, from);
		assert_int_equal(found.to, to);
		line = strchr(line, '\n') + 1;
	}
	assert_int_equal(*line, '\0');
	uhcav_maps_close(&m);
	munmap(pages, SIZE);
}

static void test_kinds(void **state)
{
	struct uhcav_mapping m;
	struct stat st;
	char *p;
	int fd;

	(void)state;
	p = alone(RW, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	m = look(p + 5000);
	assert_int_equal(m.from, (uintptr_t)p);
	assert_int_equal(m.to, (uintptr_t)p + SIZE);
	assert_true(m.plain && !m.shared && m.inode == 0 && m.prot == RW);
	drop(p);
	p = alone(PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1);
	m = look(p);
	assert_true(!m.plain && m.shared && m.prot == PROT_READ);
	drop(p);
	fd = memfd_create("test", MFD_CLOEXEC);
	assert_true(fd >= 0 && !ftruncate(fd, SIZE) && !fstat(fd, &st));
	p = alone(RW, MAP_PRIVATE, fd);
	m = look(p);
	assert_true(!m.plain && !m.shared);
	assert_int_equal(m.inode, st.st_ino);
	drop(p);
	close(fd);
	/* The stack; AddressSanitizer keeps variables elsewhere. */
	assert_false(look(__builtin_frame_address(0)).plain);
}

static void test_gaps(void **state)
{
	char *p = alone(RW, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	struct uhcav_mapping m;

	(void)state;
	munmap(p - SIZE, SIZE);
	assert_int_equal(uhcav_maps_find((uintptr_t)p - SIZE / 2, &m), 0); /* the next one */
	assert_int_equal(m.from, (uintptr_t)p);
	assert_int_equal(uhcav_maps_find(UINTPTR_MAX - 4096, &m), -ENOENT);
	drop(p);
}

/* What the kernel was asked for, of a part of a range, too. */
static void test_flags(void **state)
{
	static const struct {
		int advice, flag;
	} asked[] = {{MADV_DONTFORK, UHCAV_FLAG_NOT_FORKED},
		     {MADV_DONTDUMP, UHCAV_FLAG_OTHER},
		     {MADV_WIPEONFORK, UHCAV_FLAG_OTHER}};
	char *p = alone(RW, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	uintptr_t at = (uintptr_t)p;

	(void)state;
	assert_int_equal(uhcav_maps_flags(at, at + SIZE), 0);
	for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		char *q = alone(RW, MAP_PRIVATE | MAP_ANONYMOUS, -1);

		assert_int_equal(madvise(q + SIZE / 2, 4096, asked[i].advice), 0);
		assert_int_equal(uhcav_maps_flags((uintptr_t)q, (uintptr_t)q + SIZE),
				 asked[i].flag);
		assert_int_equal(uhcav_maps_flags((uintptr_t)q, (uintptr_t)q + 4096), 0);
		drop(q);
	}
	if (!syscall(SYS_mlock, p, 4096)) /* not the sanitizers' */
		assert_int_equal(uhcav_maps_flags(at, at + SIZE), UHCAV_FLAG_LOCKED);
	drop(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_gaps),
		cmocka_unit_test(test_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
