/* SPDX-License-Identifier: BSD-2-Clause */
/* See notes.h. Tables of jansson keep the order of insertion, so the oldest entry goes first. */
#include "notes.h"

#include "emu/model/capture/capture_model.h"

#include <stdint.h>

#define NOTES_MOST 65536u

static json_t *stacks; /* by ID: frames */
static json_t *names;  /* by name: an ID */
static json_t *once;   /* names of findings that were told */

/* Takes the value over. */
static void put_note(json_t **table, const char *key, json_t *value)
{
	if (!*table)
		*table = json_object();
	json_object_del(*table, key); /* a new one is the youngest */
	if (json_object_size(*table) >= NOTES_MOST)
		json_object_del(*table, json_object_iter_key(json_object_iter(*table)));
	json_object_set_new(*table, key, value);
}

bool notes_take(json_t *line)
{
	const char *stack = json_string_value(json_object_get(line, "stack"));
	const char *note = json_string_value(json_object_get(line, "note"));
	json_t *of = json_object_get(line, "of");
	json_t *frames = json_object_get(line, "frames");

	if (stack && json_is_array(frames))
		put_note(&stacks, stack, json_incref(frames));
	else if (note && json_is_string(of))
		put_note(&names, note, json_incref(of));
	return stack || note;
}

static json_t *frames_of(const char *note)
{
	const char *id = json_string_value(json_object_get(names, note));

	return id ? json_object_get(stacks, id) : NULL;
}

static void complete_stacks(json_t *all)
{
	for (size_t i = json_array_size(all); i-- > 0;) {
		json_t *stack = json_array_get(all, i);
		const char *note = json_string_value(json_object_get(stack, "note"));
		json_t *frames = note ? frames_of(note) : NULL;

		if (frames)
			json_object_set(stack, "frames", frames);
		else if (note)
			json_array_remove(all, i);
	}
}

static uint64_t member(const json_t *cause, size_t i)
{
	return (uint64_t)json_integer_value(json_array_get(cause, i));
}

static void say_cause(const json_t *cause, json_t *facts)
{
	const struct uhca_abi_cause c = {
		.kind = (enum uhca_abi_cause_kind)member(cause, 0),
		.key = (uint32_t)member(cause, 1),
		.near = (uint32_t)member(cause, 2),
		.rights = (uint32_t)member(cause, 3),
		.at = member(cause, 4),
		.bytes = member(cause, 5),
		.start = member(cause, 6),
		.size = member(cause, 7),
		.expected = member(cause, 8),
		.got = member(cause, 9),
		.since = member(cause, 10),
		.rest = member(cause, 11),
	};
	char text[512];

	if (member(cause, 0) < UHCA_ABI_CAUSES)
		json_array_append_new(facts, json_string(model_cause_text(&c, text, sizeof(text))));
}

bool notes_complete(json_t *finding)
{
	const char *name = json_string_value(json_object_get(finding, "once"));
	json_t *cause = json_object_get(finding, "cause");

	if (name && json_object_get(once, name))
		return false;
	if (name)
		put_note(&once, name, json_true());
	complete_stacks(json_object_get(finding, "stacks"));
	if (json_is_array(cause))
		say_cause(cause, json_object_get(finding, "facts"));
	return true;
}

void notes_forget(void)
{
	json_decref(stacks);
	json_decref(names);
	json_decref(once);
	stacks = names = once = NULL;
}
