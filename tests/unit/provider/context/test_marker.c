/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The marker page is where it was asked for, or nowhere; it takes nobody's place, a child does not
 * have it, and errno is as before.
 */
#include "provider/context/marker.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* An address of a page that nobody has. */
static uint64_t free_place(void)
{
	void *at = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	assert_true(at != MAP_FAILED);
	munmap(at, (size_t)sysconf(_SC_PAGESIZE));
	return (uintptr_t)at;
}

static bool is_mapped(uint64_t at)
{
	unsigned char pages;

	return mincore((void *)(uintptr_t)at, 1, &pages) == 0;
}

static bool child_has(uint64_t at)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(is_mapped(at));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) != 0;
}

static void test_map(void **state)
{
	uint64_t where = free_place();
	unsigned char *at = uhcav_marker_map(where);

	(void)state;
	assert_int_equal((uintptr_t)at, where);
	at[0] = 1;
	assert_false(child_has(where));
	uhcav_marker_unmap(at);
	assert_false(is_mapped(where));
}

static void test_no_place(void **state)
{
	static const uint64_t nowhere[] = {0, UINT64_MAX, UINT64_MAX - 65535, 1};
	char *taken = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(taken != MAP_FAILED);
	memcpy(taken, "taken", 6);
	errno = EXDEV;
	assert_null(uhcav_marker_map((uintptr_t)taken));
	assert_string_equal(taken, "taken");
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
		assert_null(uhcav_marker_map(nowhere[i]));
	assert_int_equal(errno, EXDEV);
	uhcav_marker_unmap(NULL);
	munmap(taken, (size_t)sysconf(_SC_PAGESIZE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
