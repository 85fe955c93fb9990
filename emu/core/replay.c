/* SPDX-License-Identifier: BSD-2-Clause */
#include "replay.h"

#include "psn.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int replay_construct(struct replay *r, uint32_t size)
{
	memset(r, 0, sizeof *r);
	if (size == 0)
		return 0;
	if (size > REPLAY_MAX)
		return -EINVAL;
	r->entry = calloc(size, sizeof *r->entry);
	r->answer = calloc(2 * (size_t)size, sizeof *r->answer);
	if (!r->entry || !r->answer) {
		replay_destruct(r);
		return -ENOMEM;
	}
	r->size = size;
	return 0;
}

void replay_destruct(struct replay *r)
{
	free(r->entry);
	free(r->answer);
	memset(r, 0, sizeof *r);
}

void replay_clear(struct replay *r)
{
	if (r->size)
		memset(r->entry, 0, r->size * sizeof *r->entry);
	r->next = 0;
	replay_drop_answers(r);
}

void replay_drop_answers(struct replay *r)
{
	r->head = r->used = r->again = 0;
}

bool replay_has_room(const struct replay *r)
{
	return r->used - r->again < r->size;
}

bool replay_has_room_again(const struct replay *r)
{
	return r->again < r->size;
}

static void queue_answer(struct replay *r, const struct replay_entry *e, bool again)
{
	struct replay_answer *a = &r->answer[(r->head + r->used) % (2 * r->size)];

	*a = (struct replay_answer){.e = *e, .again = again};
	r->used++;
	r->again += again;
}

void replay_answer_again(struct replay *r, const struct replay_entry *e)
{
	queue_answer(r, e, true);
}

void replay_add(struct replay *r, const struct replay_entry *e)
{
	r->entry[r->next] = *e;
	r->next = (r->next + 1) % r->size;
	queue_answer(r, e, false);
}

const struct replay_entry *replay_find(const struct replay *r, uint32_t psn)
{
	for (uint32_t i = 0; i < r->size; i++) {
		const struct replay_entry *e = &r->entry[i];
		if (e->kind != REPLAY_NONE && psn_in_window(psn, e->psn, e->n_psn))
			return e;
	}
	return NULL;
}

struct replay_answer *replay_head(struct replay *r)
{
	return r->used ? &r->answer[r->head] : NULL;
}

void replay_pop(struct replay *r)
{
	r->again -= r->answer[r->head].again;
	r->head = (r->head + 1) % (2 * r->size);
	r->used--;
}
