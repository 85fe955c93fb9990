/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of uhcactl and uhca-run: standard output, names that are refused, disks that are full. */
#include "emu/ctl/lib/ctl_file.h"
#include "tests/support/io/io_fixture.h"
#include "tests/support/wire/cmocka_all.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What goes to a standard stream while it is caught is in this file. */
struct caught {
	FILE *stream, *file;
	int before;
};

static struct caught catch_stream(FILE *stream)
{
	struct caught c = {.stream = stream, .file = tmpfile()};

	assert_non_null(c.file);
	fflush(stream);
	c.before = fcntl(fileno(stream), F_DUPFD_CLOEXEC, 3);
	assert_true(c.before >= 0);
	assert_true(dup2(fileno(c.file), fileno(stream)) >= 0);
	return c;
}

/* Ends that, and says whether the text was in it. */
static bool said(struct caught *c, const char *text)
{
	char got[512];
	size_t n;

	fflush(c->stream);
	dup2(c->before, fileno(c->stream));
	close(c->before);
	rewind(c->file);
	n = fread(got, 1, sizeof(got) - 1, c->file);
	got[n] = '\0';
	fclose(c->file);
	return strstr(got, text) != NULL;
}

static void test_file(void **state)
{
	char dir[64], path[96], link[96], line[16] = "";
	struct caught c;
	FILE *f;

	(void)state;
	io_test_dir(dir);
	snprintf(path, sizeof(path), "%s/x", dir);
	snprintf(link, sizeof(link), "%s/y", dir);
	f = ctl_file_open("uhcactl", path);
	assert_non_null(f);
	fputs("text", f);
	assert_true(ctl_file_close("uhcactl", path, f));
	assert_int_equal(symlink(path, link), 0);
	c = catch_stream(stderr);
	f = ctl_file_open("uhcactl", link);
	assert_true(said(&c, "/y: is a symbolic link"));
	assert_null(f);
	f = fopen(path, "re");
	assert_string_equal(fgets(line, sizeof(line), f), "text");
	fclose(f);
	unlink(link);
	unlink(path);
	assert_int_equal(rmdir(dir), 0);
}

static void test_standard_output(void **state)
{
	struct caught c = catch_stream(stdout);
	FILE *f = ctl_file_open("uhcactl", "-");
	bool is_stdout = f == stdout;

	(void)state;
	fputs("a report", f);
	is_stdout = is_stdout && ctl_file_close("uhcactl", "-", f) && fileno(stdout) >= 0;
	assert_true(said(&c, "a report"));
	assert_true(is_stdout);
}

static void test_full(void **state)
{
	struct caught c;
	FILE *f = ctl_file_open("uhca-run", "/dev/full");
	bool written;

	(void)state;
	assert_non_null(f);
	fputs("text", f);
	c = catch_stream(stderr);
	written = ctl_file_close("uhca-run", "/dev/full", f);
	assert_true(said(&c, strerror(ENOSPC)));
	assert_false(written);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_standard_output),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
