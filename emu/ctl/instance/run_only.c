/* SPDX-License-Identifier: BSD-2-Clause */
/* See run_only.h. Links only: what changes in the instance changes here. */
#include "run_only.h"

#include "emu/words/words.h"
#include "run_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX     "p"
#define LINK_MAX_  512
#define NAMES_MOST 64
#define NAME_MAX_  32

/* Directories of processes that ended without removing theirs. */
static void sweep(const char *dir)
{
	char path[RUN_DIR_MAX + 64];
	DIR *d = opendir(dir);
	struct dirent *e;
	while (d && (e = readdir(d))) {
		char *end;
		long pid = strtol(e->d_name + 1, &end, 10);
		if (e->d_name[0] != PREFIX[0] || pid <= 0 || *end)
			continue;
		snprintf(path, sizeof(path), "%s/%.32s", dir, e->d_name);
		if (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
			run_dir_remove(path);
	}
	if (d)
		closedir(d);
}

/* ---- the list ---- */

struct names {
	unsigned n;
	char name[NAMES_MOST][NAME_MAX_];
};

static bool has(const struct names *l, const char *name)
{
	for (unsigned i = 0; i < l->n; i++)
		if (strcmp(l->name[i], name) == 0)
			return true;
	return false;
}

static const char *name_at(const void *table, unsigned i)
{
	const struct names *l = table;
	return i < l->n ? l->name[i] : NULL;
}

/* Once, also if it is named twice. */
static void add(struct names *l, const char *name, size_t length)
{
	char one[NAME_MAX_];
	if (length == 0 || length >= sizeof(one) || l->n == NAMES_MOST)
		return;
	snprintf(one, sizeof(one), "%.*s", (int)length, name);
	if (!has(l, one))
		memcpy(l->name[l->n++], one, sizeof(one));
}

static void list_devices(const char *dir, struct names *l)
{
	char path[RUN_DIR_MAX + 64];
	struct dirent *e;
	DIR *d;
	snprintf(path, sizeof(path), "%s/sys/class/infiniband", dir);
	d = opendir(path);
	*l = (struct names){.n = 0};
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			add(l, e->d_name, strlen(e->d_name));
	if (d)
		closedir(d);
}

static int parse(const char *dir, const char *list, struct names *out)
{
	struct names there;
	char words[512];
	list_devices(dir, &there);
	*out = (struct names){.n = 0};
	for (const char *at = list; *at; at += *at == ',') {
		size_t n = strcspn(at, ",");
		if (n >= NAME_MAX_) {
			fprintf(stderr, "uhca-run: --only: unknown device '%.*s'\n", (int)n, at);
			return -ENODEV;
		}
		add(out, at, n);
		at += n;
	}
	for (unsigned i = 0; i < out->n; i++) {
		if (has(&there, out->name[i]))
			continue;
		fprintf(stderr, "uhca-run: --only: %s\n",
			words_refuse(words, sizeof(words), "device", out->name[i], name_at,
				     &there));
		return -ENODEV;
	}
	if (out->n > 0)
		return 0;
	fprintf(stderr, "uhca-run: --only: '%s' names no device\n", list);
	return -EINVAL;
}

/* ---- the directory ---- */

struct view {
	const char *dir; /* the instance's */
	int root;        /* the new one */
	int error;
};

static void folder(struct view *v, const char *path)
{
	if (v->error == 0 && mkdirat(v->root, path, 0700) < 0)
		v->error = -errno;
}

static void lead(struct view *v, const char *path, const char *to)
{
	if (v->error == 0 && symlinkat(to, v->root, path) < 0)
		v->error = -errno;
}

/* An entry leads to the one of its name in the instance, "up" folders above. */
static void lead_up(struct view *v, const char *path)
{
	char to[LINK_MAX_] = "../";
	for (const char *p = path; *p && strlen(to) < sizeof(to) - 4; p++)
		if (*p == '/')
			strcat(to, "../");
	strncat(to, path, sizeof(to) - strlen(to) - 1);
	lead(v, path, to);
}

/* All entries of a folder of the instance, but those of these names. */
static void lead_all(struct view *v, const char *in, const char *const but[])
{
	char path[LINK_MAX_];
	struct dirent *e;
	DIR *d;
	snprintf(path, sizeof(path), "%s/%s", v->dir, in);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.' || words_has(e->d_name, words_at, but))
			continue;
		snprintf(path, sizeof(path), "%s%s%s", in, *in ? "/" : "", e->d_name);
		lead_up(v, path);
	}
	if (d)
		closedir(d);
}

/* The entry of a device is a link into the tree of PCI, or a folder. */
static void lead_device(struct view *v, const char *name)
{
	char path[LINK_MAX_], to[LINK_MAX_];
	ssize_t n;
	snprintf(path, sizeof(path), "%s/sys/class/infiniband/%s", v->dir, name);
	n = readlink(path, to, sizeof(to) - 1);
	if (n <= 0)
		memcpy(to, path, sizeof(path)); /* from here no way through /sys leads there */
	else
		to[n] = '\0';
	snprintf(path, sizeof(path), "sys/class/infiniband/%s", name);
	lead(v, path, to);
}

static bool read_word(const char *path, char word[NAME_MAX_])
{
	FILE *f = fopen(path, "re");
	bool found = f && fscanf(f, "%31s", word) == 1;
	if (f)
		fclose(f);
	return found;
}

/* Those whose device is one of the list, and their nodes. */
static void lead_uverbs(struct view *v, const struct names *l)
{
	char path[LINK_MAX_], word[NAME_MAX_];
	struct dirent *e;
	DIR *d;
	snprintf(path, sizeof(path), "%s/sys/class/infiniband_verbs", v->dir);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/sys/class/infiniband_verbs/%.32s/ibdev", v->dir,
			 e->d_name);
		if (e->d_name[0] == '.' || !read_word(path, word) || !has(l, word))
			continue;
		snprintf(path, sizeof(path), "sys/class/infiniband_verbs/%.32s", e->d_name);
		lead_up(v, path);
		snprintf(path, sizeof(path), "dev/infiniband/%.32s", e->d_name);
		lead_up(v, path);
	}
	if (d)
		closedir(d);
}

static void write_list(struct view *v, const struct names *l)
{
	int fd = v->error ? -1
			  : openat(v->root, "only", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (v->error == 0 && fd < 0)
		v->error = -errno;
	for (unsigned i = 0; i < l->n && fd >= 0; i++)
		dprintf(fd, "%s%s", i ? "," : "", l->name[i]);
	if (fd >= 0)
		close(fd);
}

static void lead_base(struct view *v)
{
	char path[LINK_MAX_];
	char *real;
	snprintf(path, sizeof(path), "%s/base", v->dir);
	real = realpath(path, NULL);
	if (!real)
		real = realpath(v->dir, NULL);
	lead(v, "base", real ? real : v->dir);
	free(real);
}

static int fill(struct view *v, const struct names *l)
{
	static const char *const folders[] = {
		"sys", "sys/class",     "sys/class/infiniband", "sys/class/infiniband_verbs",
		"dev", "dev/infiniband"};
	static const char *const top[] = {"sys", "dev", "base", "only", NULL};
	static const char *const sys[] = {"class", NULL};
	static const char *const class[] = {"infiniband", "infiniband_verbs", NULL};
	for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		folder(v, folders[i]);
	lead_all(v, "", top);
	lead_all(v, "sys", sys);
	lead_all(v, "sys/class", class);
	lead_up(v, "sys/class/infiniband_verbs/abi_version");
	lead_up(v, "dev/infiniband/rdma_cm");
	for (unsigned i = 0; i < l->n; i++)
		lead_device(v, l->name[i]);
	lead_uverbs(v, l);
	lead_base(v);
	write_list(v, l);
	return v->error;
}

int run_only_make(const char *dir, const char *list, struct run_only *out)
{
	struct view v = {.dir = dir, .root = -1};
	struct names names;
	int ret = parse(dir, list, &names);
	*out = (struct run_only){""};
	if (ret < 0)
		return ret;
	sweep(dir);
	snprintf(out->path, sizeof(out->path), "%.96s/" PREFIX "%d", dir, (int)getpid());
	if (mkdir(out->path, 0700) == 0)
		v.root = open(out->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	ret = v.root < 0 ? -errno : fill(&v, &names);
	if (v.root >= 0)
		close(v.root);
	if (ret == 0)
		return 0;
	fprintf(stderr, "uhca-run: %s: %s\n", out->path, strerror(-ret));
	run_only_remove(out);
	return ret;
}

void run_only_remove(const struct run_only *only)
{
	if (only->path[0])
		run_dir_remove(only->path);
}
