/* SPDX-License-Identifier: BSD-2-Clause */
/* The files and checks of a lab (lab.h). Names are fixed, and no link is followed. */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_FILE    "README.md"
#define PICTURE_FILE "picture.svg"
#define PROGRAM_FILE "exercise.c"
#define FRESH_FILE   "handed-out.c" /* the program as it is handed out */
#define SAID_FILE    "said"
#define NEW_FILE     ".exercise.c.new"

int lab_begin(struct serve_lab *l, const char *texts, const char *work)
{
	const char *slash = strrchr(texts, '/');

	l->name = slash ? slash + 1 : texts;
	l->status = -1;
	l->texts = open(texts, O_PATH | O_DIRECTORY | O_CLOEXEC);
	l->work = open(work, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return l->texts < 0 || l->work < 0 || fchdir(l->work) < 0 ? -errno : 0;
}

/* ---- files ---- */

static size_t read_all(int fd, char *to, size_t max)
{
	size_t have = 0;
	ssize_t n;

	while (have < max && (n = read(fd, to + have, max - have)) > 0)
		have += (size_t)n;
	return have;
}

/* A regular file of at most max bytes, from malloc, with a NUL behind them. */
static char *read_text(int folder, const char *name, size_t max)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	char *text = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= (off_t)max &&
	    (text = malloc(max + 1)) != NULL)
		text[read_all(fd, text, max)] = '\0';
	close(fd);
	return text;
}

static int write_text(int folder, const char *name, const char *text)
{
	size_t left = strlen(text);
	int fd, error = 0;
	ssize_t n;

	unlinkat(folder, name, 0);
	fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	for (; left > 0; text += n, left -= (size_t)n) {
		n = write(fd, text, left);
		if (n < 0)
			error = -errno;
		if (n <= 0)
			break;
	}
	close(fd);
	return error;
}

/* A program may say bytes that are no text. */
static json_t *text_of(int folder, const char *name, size_t max)
{
	char *text = read_text(folder, name, max);
	json_t *value;

	if (!text)
		return json_null();
	value = json_string(text);
	for (char *p = text; !value && *p; p++)
		if ((unsigned char)*p >= 0x80)
			*p = '?';
	if (!value)
		value = json_string(text);
	free(text);
	return value;
}

/* ---- what a page sees ---- */

json_t *lab_state(const struct serve_lab *l)
{
	return json_pack("{s:i, s:b, s:o}", "number", (int)l->number, "running", l->running,
			 "status", l->status < 0 ? json_null() : json_integer(l->status));
}

json_t *lab_describe(const struct serve_lab *l)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "name", l->name, "text",
			 text_of(l->texts, TEXT_FILE, LAB_TEXT_MAX), "program",
			 text_of(l->work, PROGRAM_FILE, LAB_PROGRAM_MAX), "handed_out",
			 text_of(l->work, FRESH_FILE, LAB_PROGRAM_MAX), "said",
			 l->status < 0 || l->running ? json_null()
						     : text_of(l->work, SAID_FILE, LAB_SAID_MAX),
			 "check", lab_state(l));
}

char *lab_picture(const struct serve_lab *l)
{
	return read_text(l->texts, PICTURE_FILE, LAB_TEXT_MAX);
}

/* ---- the program and its check ---- */

int lab_keep(struct serve_lab *l, const char *program)
{
	int error;

	if (l->running)
		return -EBUSY;
	if (strlen(program) > LAB_PROGRAM_MAX)
		return -EFBIG;
	error = write_text(l->work, NEW_FILE, program);
	if (error == 0 && renameat(l->work, NEW_FILE, l->work, PROGRAM_FILE) < 0)
		error = -errno;
	return error;
}

int lab_check(struct serve_lab *l)
{
	static const char order[] = "check\n";

	if (l->running)
		return -EBUSY;
	if (write(l->ask, order, sizeof(order) - 1) != (ssize_t)(sizeof(order) - 1))
		return -EPIPE;
	l->running = true;
	l->number++;
	l->version++;
	return 0;
}

bool lab_hear(struct serve_lab *l, struct serve_source *s)
{
	char line[64];
	ssize_t n = read(l->reply, line, sizeof(line) - 1);

	if (n <= 0)
		return n < 0 && (errno == EINTR || errno == EAGAIN);
	line[n] = '\0';
	if (sscanf(line, "done %d", &l->status) != 1)
		return true;
	l->running = false;
	l->version++;
	source_reread(s);
	return true;
}
