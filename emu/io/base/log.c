/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See log.h. A line is put together in one buffer and written with one write(2), so that lines
 * of the daemon and of others who append to the file do not mix. Longer lines are cut.
 */
#include "log.h"

#include "clock.h"
#include "emu/output/output.h"
#include "log_writer.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_LENGTH 1024

/* Where a line goes; lines of syslog have their level behind that. */
enum kind { TO_FILE, TO_STDERR, TO_SYSLOG };

/* While a thread writes, only it looks at fd and size. */
static struct {
	enum io_log_level level;
	enum io_log_target target;
	char path[PATH_MAX];
	int fd;        /* of IO_LOG_FILE */
	bool bounded;  /* it is the regular file of that name, which can be renamed */
	uint64_t size; /* its bytes */
	unsigned held; /* lines that were not told of yet, while there is no thread */
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

/* uhca-run lets a daemon's standard error go to its log. */
static bool same_file(int a, int b)
{
	struct stat x;
	struct stat y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
}

/* A name like /dev/stdout leads to what is somebody else's to bound. */
static bool is_named(int fd, const char *path)
{
	struct stat x;
	struct stat y;

	return fstat(fd, &x) == 0 && S_ISREG(x.st_mode) && lstat(path, &y) == 0 &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void take_file(int fd)
{
	struct stat st;

	if (sink.fd >= 0)
		close(sink.fd);
	sink.fd = fd;
	sink.bounded = fd >= 0 && is_named(fd, sink.path);
	sink.size = sink.bounded && fstat(fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

int io_log_open(enum io_log_level level, enum io_log_target target, const char *path)
{
	int fd = -1;

	if (target == IO_LOG_FILE) {
		if (strlen(path) >= sizeof(sink.path) - 2)
			return -ENAMETOOLONG;
		fd = output_open(path, OUTPUT_APPEND | OUTPUT_PRIVATE);
		if (fd < 0)
			return fd;
		strcpy(sink.path, path);
	}
	take_file(fd);
	if (target == IO_LOG_SYSLOG)
		openlog("uhcad", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	sink.level = level;
	sink.target = target;
	sink.is_stderr = fd >= 0 && same_file(fd, STDERR_FILENO);
	return 0;
}

void io_log_close(void)
{
	take_file(-1);
	if (sink.target == IO_LOG_SYSLOG)
		closelog();
	sink.target = IO_LOG_STDERR;
	sink.level = IO_LOG_WARN;
	sink.held = 0;
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

/* ---- the file ---- */

static void note(enum io_log_level level, const char *format, unsigned n);

/* What is in the place of FILE.1 goes, unless it is a folder. Others may have renamed it before. */
static void begin_anew(void)
{
	char old[PATH_MAX + 2];
	int fd;

	snprintf(old, sizeof(old), "%s.1", sink.path);
	if (is_named(sink.fd, sink.path) && rename(sink.path, old) < 0)
		return;
	fd = output_open(sink.path, OUTPUT_APPEND | OUTPUT_PRIVATE);
	if (fd >= 0)
		take_file(fd);
}

/* A file that is long and cannot be begun anew gets no further lines. */
static void to_file(const char *line, size_t len)
{
	if (sink.bounded && sink.size + len > IO_LOG_FILE_MAX)
		begin_anew();
	if (sink.bounded && sink.size + len > IO_LOG_FILE_MAX)
		return;
	sink.size += len;
	write_line(sink.fd, line, len);
}

static void reopen(void)
{
	int fd;

	if (sink.target != IO_LOG_FILE)
		return;
	fd = output_open(sink.path, OUTPUT_APPEND | OUTPUT_PRIVATE);
	if (fd < 0)
		note(IO_LOG_ERROR, "the log file cannot be reopened: error %u", (unsigned)-fd);
	else
		take_file(fd);
}

/* ---- lines ---- */

static void deliver(unsigned kind, const char *line, size_t len)
{
	if (kind == TO_FILE)
		to_file(line, len);
	else if (kind == TO_STDERR)
		write_line(STDERR_FILENO, line, len);
	else
		syslog((int)(kind - TO_SYSLOG), "%s", line);
}

static void send(unsigned kind, const char *line, size_t len)
{
	if (log_writer_is_there())
		log_writer_put(kind, line, len);
	else
		deliver(kind, line, len);
}

/* A text as lines for those who get it. */
static void spread(enum io_log_level level, const char *text,
		   void (*to)(unsigned kind, const char *line, size_t len))
{
	char line[LINE_MAX_LENGTH + 80];
	size_t n;

	_Static_assert(sizeof(line) <= LOG_WRITER_LINE, "room for a line");
	if (sink.target == IO_LOG_FILE) {
		n = stamp(line, sizeof(line), level);
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s\n", text);
		to(TO_FILE, line, n);
	}
	if (sink.target == IO_LOG_SYSLOG)
		to(TO_SYSLOG + (unsigned)syslog_level[level], text, strlen(text) + 1);
	if (sink.target == IO_LOG_STDERR ||
	    (level == IO_LOG_ERROR && !sink.quiet_errors && !sink.is_stderr)) {
		n = (size_t)snprintf(line, sizeof(line), "uhcad: %s\n", text);
		to(TO_STDERR, line, n);
	}
}

/* A line about lines, by whoever writes them. */
static void note(enum io_log_level level, const char *format, unsigned n)
{
	char text[128];

	snprintf(text, sizeof(text), format, n);
	spread(level, text, deliver);
}

static void say_left_out(unsigned lines)
{
	note(IO_LOG_WARN, "%u log lines were dropped: the log file is too slow", lines);
}

static void say_held(unsigned lines)
{
	note(IO_LOG_WARN, "%u similar lines were left out", lines);
}

static bool may_pass(struct io_log_limit *limit, enum io_log_level level)
{
	uint32_t held;

	if (level == IO_LOG_DEBUG || io_log_limit(limit, IO_LOG_BURST, io_clock_now(), &held))
		return true;
	if (log_writer_is_there())
		log_writer_hold();
	else
		sink.held++;
	return false;
}

void io_log_at(struct io_log_limit *limit, enum io_log_level level, const char *format, ...)
{
	int saved = errno;
	char text[LINE_MAX_LENGTH];
	va_list ap;

	if (!io_log_enabled(level) || !may_pass(limit, level))
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	flatten(text);
	if (sink.held > 0)
		say_held(sink.held);
	sink.held = 0;
	spread(level, text, send);
	errno = saved;
}

/* ---- the thread ---- */

int io_log_begin(void)
{
	static const struct log_writer_ops ops = {
		.write = deliver, .left_out = say_left_out, .held = say_held, .reopen = reopen};

	return log_writer_begin(&ops);
}

bool io_log_flush(unsigned ms)
{
	return log_writer_flush(ms);
}

void io_log_end(unsigned ms)
{
	log_writer_end(ms);
}

void io_log_reopen(void)
{
	if (log_writer_is_there())
		log_writer_reopen();
	else
		reopen();
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
