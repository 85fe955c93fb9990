/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Responder resources (IBTA vol. 1, 9.7.4.1.1 and 9.7.5.1.2): the last max_dest_rd_atomic READs
 * and atomics, kept so that a duplicate is answered again, and the queue of those that are being
 * answered now. A READ is executed again from memory, an atomic is answered with the value kept.
 */
#ifndef CORE_REPLAY_H
#define CORE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#define REPLAY_MAX 128

enum replay_kind { REPLAY_NONE, REPLAY_READ, REPLAY_ATOMIC };

struct replay_entry {
	enum replay_kind kind;
	uint32_t psn;   /* of the request */
	uint32_t n_psn; /* packets of the response */
	uint32_t msn;   /* of the response */
	uint64_t va;
	uint32_t rkey;
	uint32_t length;
	uint64_t original; /* atomic: the value before */
};

/* One answer to be sent: (part of) a resource. */
struct replay_answer {
	struct replay_entry e;
	uint32_t sent; /* bytes of a READ already sent */
	bool again;    /* of a duplicate */
};

struct replay {
	struct replay_entry *entry;   /* ring of "size" resources, newest at (next - 1) % size */
	struct replay_answer *answer; /* ring of 2 * "size" answers */
	uint32_t size;
	uint32_t next;
	uint32_t head, used; /* answers */
	uint32_t again;      /* those of them that are to duplicates */
};

/* Room for size resources (1..REPLAY_MAX; 0 gives none). 0 or -ENOMEM. */
int replay_construct(struct replay *r, uint32_t size);
void replay_destruct(struct replay *r);

/* Forgets all resources and answers; the room stays. */
void replay_clear(struct replay *r);

/*
 * True when one more new request may be answered now (9.7.4.1.1: max_dest_rd_atomic). Answers to
 * duplicates do not count: the requester does not know that the network made them.
 */
bool replay_has_room(const struct replay *r);

/* True when one more duplicate may be answered now: "size" of them at a time. */
bool replay_has_room_again(const struct replay *r);

/* Keeps the resource in place of the oldest, and queues its answer. There must be room. */
void replay_add(struct replay *r, const struct replay_entry *e);

/* Queues an answer without keeping a resource (a duplicate). There must be room. */
void replay_answer_again(struct replay *r, const struct replay_entry *e);

/* The resource whose PSNs contain psn, or NULL. */
const struct replay_entry *replay_find(const struct replay *r, uint32_t psn);

/* The oldest answer not sent, or NULL; and its end. */
struct replay_answer *replay_head(struct replay *r);
void replay_pop(struct replay *r);

/* Drops all answers; the resources stay. */
void replay_drop_answers(struct replay *r);

#endif
