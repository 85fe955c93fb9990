/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the file of a machine: one that is named, or a preset. */
#include "machine.h"

#include "emu/words/words.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX     ".json"
#define FILE_MAX   (1u << 20)
#define PRESET_MAX 64

/* Where presets are: UHCA_MACHINES, or where they were installed. */
static const char *presets(void)
{
	const char *given = secure_getenv("UHCA_MACHINES");

	return given && *given ? given : UHCA_PKGDATADIR "/machines";
}

static bool ends_with_suffix(const char *word)
{
	size_t n = strlen(word), s = sizeof(SUFFIX) - 1;

	return n > s && strcmp(word + n - s, SUFFIX) == 0;
}

static bool is_file(const char *word)
{
	return strchr(word, '/') || ends_with_suffix(word);
}

/* The whole file, with a NUL behind it; NULL with errno. */
static char *read_all(FILE *f)
{
	char *text = malloc(FILE_MAX + 1);
	size_t n = text ? fread(text, 1, FILE_MAX + 1, f) : 0;

	if (text && !ferror(f) && n <= FILE_MAX && !memchr(text, 0, n)) {
		text[n] = '\0';
		return text;
	}
	if (text && !ferror(f))
		errno = EINVAL;
	free(text);
	return NULL;
}

static struct machine *load_file(const char *path, const char *name, char *error, size_t cap)
{
	FILE *f = fopen(path, "re");
	char *text = f ? read_all(f) : NULL;
	struct machine *m = NULL;

	if (text)
		m = machine_read(text, path, error, cap);
	else
		snprintf(error, cap, "%s: %s", path,
			 f && errno == EINVAL ? "is no text of up to 1 MiB" : strerror(errno));
	if (m)
		snprintf(m->name, sizeof(m->name), "%.*s", (int)sizeof(m->name) - 1, name);
	free(text);
	if (f)
		fclose(f);
	return m;
}

struct preset_list {
	char *name[PRESET_MAX + 1];
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_presets(struct preset_list *l)
{
	DIR *d = opendir(presets());
	unsigned n = 0;

	*l = (struct preset_list){{NULL}};
	for (struct dirent *e; d && n < PRESET_MAX && (e = readdir(d));)
		if (ends_with_suffix(e->d_name) && (l->name[n] = strdup(e->d_name)))
			l->name[n][strlen(e->d_name) - sizeof(SUFFIX) + 1] = '\0', n++;
	if (d)
		closedir(d);
	qsort(l->name, n, sizeof(l->name[0]), compare_names);
}

static void refuse(const char *word, char *error, size_t cap)
{
	struct preset_list l;

	list_presets(&l);
	if (l.name[0])
		words_refuse(error, cap, "machine", word, words_at, l.name);
	else
		snprintf(error, cap,
			 "there are no machines in %s; a file has a slash in its name, "
			 "or ends with .json",
			 presets());
	for (unsigned i = 0; l.name[i]; i++)
		free(l.name[i]);
}

struct machine *machine_load(const char *word, char *error, size_t cap)
{
	char path[PATH_MAX];
	FILE *f;

	if (is_file(word))
		return load_file(word, word, error, cap);
	if ((size_t)snprintf(path, sizeof(path), "%s/%s" SUFFIX, presets(), word) >= sizeof(path))
		path[0] = '\0';
	f = fopen(path, "re");
	if (!f) {
		refuse(word, error, cap);
		return NULL;
	}
	fclose(f);
	return load_file(path, word, error, cap);
}
