/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Responder resources (IBTA vol. 1, 9.7.4.1.1 and 9.7.5.1.2): the last max_dest_rd_atomic READs
 * and atomics, in the order of their PSNs. Each is answered once, and again for each duplicate
 * of its request: a READ from memory, an atomic with the value kept. A resource has at most one
 * answer under way; a duplicate that arrives meanwhile only sets it back.
 */
#ifndef CORE_REPLAY_H
#define CORE_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#define REPLAY_MAX 128

struct pd;

/*
 * PLACED: FLUSH or ATOMIC WRITE, answered by a READ response of no bytes (annex A19). MASKED: a
 * masked atomic, answered by a READ response with the value kept.
 */
enum replay_kind { REPLAY_NONE, REPLAY_READ, REPLAY_ATOMIC, REPLAY_PLACED, REPLAY_MASKED };

#define REPLAY_MASKED_MAX 32

struct replay_entry {
	enum replay_kind kind;
	uint32_t psn;   /* of the request */
	uint32_t n_psn; /* packets of the response */
	uint32_t msn;   /* of the response */
	struct pd *pd;  /* whose keys it may use; NULL: it has none any more */
	uint64_t va;
	uint32_t rkey;
	uint32_t length;
	union {
		uint64_t original;                 /* atomic: the value before */
		uint8_t masked[REPLAY_MASKED_MAX]; /* the same, length bytes as on the wire */
	};
	/* The answer under way, in bytes of the READ. */
	bool pending;
	bool answered; /* completely, at least once */
	uint32_t start, sent, end;
};

struct replay {
	struct replay_entry *entry; /* ring; resource number s stands at s % size */
	uint32_t size;
	uint64_t next;  /* number of the next resource */
	uint64_t first; /* none before this one is pending */
};

/* Room for size resources (1..REPLAY_MAX; 0 gives none). 0, -EINVAL or -ENOMEM. */
int replay_construct(struct replay *r, uint32_t size);
void replay_destruct(struct replay *r);

/* Forgets all resources; the room stays. */
void replay_clear(struct replay *r);

/*
 * True when one more request may be accepted (9.7.4.1.1): the resource whose place it takes has
 * had its answer.
 */
bool replay_has_room(const struct replay *r);

/* Keeps the resource in place of the oldest, its answer pending. There must be room. */
void replay_add(struct replay *r, const struct replay_entry *e);

/* The resource whose PSNs contain psn, or NULL. */
struct replay_entry *replay_find(struct replay *r, uint32_t psn);

/* Answers bytes [start, end) of the resource again (atomics: 0, 0). */
void replay_again(struct replay *r, struct replay_entry *e, uint32_t start, uint32_t end);

/* The pending answer with the lowest PSN, or NULL. */
struct replay_entry *replay_head(struct replay *r);

/* Its last packet was sent. */
void replay_done(struct replay_entry *e);

/* No answer is pending any more. */
void replay_cancel(struct replay *r);

#endif
