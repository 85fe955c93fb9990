/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See log.h. A line is put together in one buffer and written with one write(2), so that lines
 * of the daemon and of others who append to the file do not mix. Longer lines are cut.
 */
#include "log.h"

#include "clock.h"
#include "emu/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_LENGTH 1024

static struct {
	enum io_log_level level;
	enum io_log_target target;
	int fd; /* of IO_LOG_FILE */
	bool quiet_errors;
	bool is_stderr; /* the file and standard error are one */
} sink = {.level = IO_LOG_WARN, .target = IO_LOG_STDERR, .fd = -1};

static const char *const level_name[] = {
	[IO_LOG_ERROR] = "error",
	[IO_LOG_WARN] = "warn",
	[IO_LOG_INFO] = "info",
	[IO_LOG_DEBUG] = "debug",
};

static const int syslog_level[] = {
	[IO_LOG_ERROR] = LOG_ERR,
	[IO_LOG_WARN] = LOG_WARNING,
	[IO_LOG_INFO] = LOG_INFO,
	[IO_LOG_DEBUG] = LOG_DEBUG,
};

const char *io_log_level_name(enum io_log_level level)
{
	return level_name[level];
}

/* uhca-run lets a daemon's standard error go to its log. */
static bool same_file(int a, int b)
{
	struct stat x;
	struct stat y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

int io_log_open(enum io_log_level level, enum io_log_target target, const char *path)
{
	int fd = -1;

	if (target == IO_LOG_FILE) {
		fd = output_open(path, OUTPUT_APPEND | OUTPUT_PRIVATE);
		if (fd < 0)
			return fd;
	}
	if (sink.fd >= 0)
		close(sink.fd);
	if (target == IO_LOG_SYSLOG)
		openlog("uhcad", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	sink.level = level;
	sink.target = target;
	sink.fd = fd;
	sink.is_stderr = fd >= 0 && same_file(fd, STDERR_FILENO);
	return 0;
}

void io_log_close(void)
{
	if (sink.fd >= 0)
		close(sink.fd);
	if (sink.target == IO_LOG_SYSLOG)
		closelog();
	sink.fd = -1;
	sink.target = IO_LOG_STDERR;
	sink.level = IO_LOG_WARN;
	sink.is_stderr = false;
}

void io_log_echo_errors(bool on)
{
	sink.quiet_errors = !on;
}

bool io_log_enabled(enum io_log_level level)
{
	return level <= sink.level;
}

/* A log that cannot be written (disk full, closed standard error) stops nothing. */
static void write_line(int fd, const char *line, size_t len)
{
	ssize_t n = write(fd, line, len);

	(void)n;
}

static size_t stamp(char *line, size_t cap, enum io_log_level level)
{
	uint64_t wall = io_clock_wall();
	time_t seconds = (time_t)(wall / IO_SEC);
	struct tm tm;
	char date[32];

	gmtime_r(&seconds, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	return (size_t)snprintf(line, cap, "%s.%06uZ %s: ", date, (unsigned)(wall % IO_SEC / 1000),
				level_name[level]);
}

/* Control characters of a text that came from a client must not forge a line. */
static void flatten(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

static void to_standard_error(const char *text)
{
	char line[LINE_MAX_LENGTH + 16];
	int n = snprintf(line, sizeof(line), "uhcad: %s\n", text);

	write_line(STDERR_FILENO, line, (size_t)n);
}

static void to_file(enum io_log_level level, const char *text)
{
	char line[LINE_MAX_LENGTH + 80];
	size_t n = stamp(line, sizeof(line), level);

	n += (size_t)snprintf(line + n, sizeof(line) - n, "%s\n", text);
	write_line(sink.fd, line, n);
}

void io_log(enum io_log_level level, const char *format, ...)
{
	int saved = errno;
	char text[LINE_MAX_LENGTH];
	va_list ap;

	if (!io_log_enabled(level))
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	flatten(text);
	switch (sink.target) {
	case IO_LOG_FILE:
		to_file(level, text);
		break;
	case IO_LOG_SYSLOG:
		syslog(syslog_level[level], "%s", text);
		break;
	case IO_LOG_STDERR:
		break;
	}
	if (sink.target == IO_LOG_STDERR ||
	    (level == IO_LOG_ERROR && !sink.quiet_errors && !sink.is_stderr))
		to_standard_error(text);
	errno = saved;
}

bool io_log_limit(struct io_log_limit *limit, uint32_t burst, uint64_t now, uint32_t *held)
{
	if (now - limit->second >= IO_SEC) {
		limit->second = now;
		limit->passed = 0;
	}
	if (limit->passed >= burst) {
		limit->held++;
		return false;
	}
	limit->passed++;
	*held = limit->held;
	limit->held = 0;
	return true;
}
