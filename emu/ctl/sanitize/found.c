/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses a diagnostic of the provider from JSON and resolves its stack frames. */
#include "found.h"

#include "symbol.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const struct found_check checks[UHCA_CHECK_COUNT] = {
#define ROW(id, name, group, rule, where, mend) {name, group, rule, where, mend},
	UHCA_CHECKS(ROW)
#undef ROW
};

const struct found_check *found_check(enum uhca_check check)
{
	return &checks[check];
}

bool found_is_note(const struct found *f)
{
	return strcmp(found_check(f->check)->group, UHCA_CHECK_NOTES) == 0;
}

static bool find_check(const char *name, enum uhca_check *out)
{
	for (unsigned i = 0; name && i < UHCA_CHECK_COUNT; i++) {
		if (strcmp(checks[i].name, name) == 0) {
			*out = (enum uhca_check)i;
			return true;
		}
	}
	return false;
}

static void take_frame(json_t *from, struct found_stack *to)
{
	const char *module = json_string_value(json_array_get(from, 0));
	if (!module || to->n_frames == FOUND_FRAMES)
		return;
	to->frames[to->n_frames++] = (struct found_frame){
		.module = module,
		.address = (uint64_t)json_integer_value(json_array_get(from, 1)),
		.pc = (uint64_t)json_integer_value(json_array_get(from, 2)),
	};
}

static void take_stack(json_t *from, struct found *to)
{
	const char *title = json_string_value(json_object_get(from, "title"));
	json_t *frame;
	size_t i;
	if (!title || to->n_stacks == FOUND_STACKS)
		return;
	struct found_stack *s = &to->stacks[to->n_stacks++];
	*s = (struct found_stack){.title = title};
	json_array_foreach(json_object_get(from, "frames"), i, frame)
	{
		take_frame(frame, s);
	}
}

int found_parse(json_t *line, struct found *out)
{
	json_t *item;
	size_t i;
	memset(out, 0, sizeof(*out));
	out->what = json_string_value(json_object_get(line, "what"));
	out->program = json_string_value(json_object_get(line, "program"));
	out->pid = json_integer_value(json_object_get(line, "pid"));
	out->thread = json_integer_value(json_object_get(line, "thread"));
	if (!out->what || !out->program ||
	    !find_check(json_string_value(json_object_get(line, "check")), &out->check))
		return -EINVAL;
	json_array_foreach(json_object_get(line, "facts"), i, item)
	{
		if (json_is_string(item) && out->n_facts < FOUND_FACTS)
			out->facts[out->n_facts++] = json_string_value(item);
	}
	json_array_foreach(json_object_get(line, "stacks"), i, item)
	{
		take_stack(item, out);
	}
	out->line = line;
	return 0;
}

static bool is_main(const struct found_frame *f)
{
	return f->symbol && strcmp(f->symbol, "main") == 0;
}

/*
 * It ends with main, as valgrind(1) ends it: what calls main is the C library's, whose debug
 * information takes longer to read than all the rest.
 */
static void look_up_stack(struct found_stack *s)
{
	struct found_frame from[FOUND_FRAMES];
	unsigned n = s->n_frames;
	bool ends = false;
	memcpy(from, s->frames, sizeof(from));
	s->n_frames = 0;
	for (unsigned i = 0; i < n && s->n_frames < FOUND_FRAMES && !ends; i++) {
		struct found_frame *to = &s->frames[s->n_frames];
		*to = from[i];
		s->n_frames += symbol_look_up(to, FOUND_FRAMES - s->n_frames);
		ends = is_main(&s->frames[s->n_frames - 1]);
	}
}

void found_look_up(struct found *f)
{
	for (unsigned s = 0; s < f->n_stacks; s++)
		look_up_stack(&f->stacks[s]);
}

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* What stands between a program and a verb, or where it waits: libraries, and functions of headers.
 */
static bool is_between(const struct found_frame *f)
{
	static const char *const libraries[] = {"libibverbs.", "librdmacm.", "libuhca", "libc.so."};
	static const char *const headers[] = {"verbs.h", "uhcadv.h", "rdma_verbs.h"};
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		if (strncmp(base_of(f->module), libraries[i], strlen(libraries[i])) == 0)
			return true;
	for (size_t i = 0; f->file && i < sizeof(headers) / sizeof(headers[0]); i++)
		if (strcmp(base_of(f->file), headers[i]) == 0)
			return true;
	return false;
}

bool found_is_moot(const struct found *f)
{
	const struct found_frame *first = &f->stacks[0].frames[0];
	if (!json_is_true(json_object_get(f->line, "if_verb")))
		return false;
	return f->n_stacks == 0 || f->stacks[0].n_frames == 0 || !is_between(first);
}

const struct found_frame *found_place(const struct found *f)
{
	const struct found_stack *s = &f->stacks[0];
	unsigned i = 0;
	if (f->n_stacks == 0)
		return NULL;
	/* A crash may be in what a verb has called. */
	while (f->check == UHCA_CHECK_VERB_CRASHED && i < s->n_frames && !is_between(&s->frames[i]))
		i++;
	while (i < s->n_frames && is_between(&s->frames[i]))
		i++;
	return i < s->n_frames ? &s->frames[i] : NULL;
}
