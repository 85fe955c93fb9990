/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One run of a sweep: the one fault that it has. Its name says all of it, so that it can be
 * repeated without anything else:
 *
 *	call/create_qp/1/2/ENOMEM       the 2nd ibv_create_qp of client 1 fails
 *	completion/RECV/2/1/WR_FLUSH_ERR
 *	event/modify_qp/1/3/PORT_ERR    at the 3rd ibv_modify_qp of client 1
 *	event/SEND/1/1/QP_FATAL         at the first completion of a SEND
 *	packet/RC_SEND_ONLY/0/3/drop    the 3rd of all
 *	device/create_qp/1/1/fatal
 */
#ifndef SWEEP_ITEM_H
#define SWEEP_ITEM_H

#include <stdbool.h>
#include <stddef.h>

#define SWEEP_NAME_MAX 128 /* of an item, with its NUL */
#define SWEEP_WORD_MAX 40
#define SWEEP_RULE_MAX 256

enum sweep_kind {
	SWEEP_CALLS,
	SWEEP_COMPLETIONS,
	SWEEP_EVENTS,
	SWEEP_PACKETS,
	SWEEP_DEVICE,
	SWEEP_KINDS
};

struct sweep_item {
	enum sweep_kind kind;
	char what[SWEEP_WORD_MAX]; /* a call; in capitals: the opcode of a completion or packet */
	unsigned client;           /* as the daemon counts them; 0 of a packet: any */
	unsigned nth;
	char how[SWEEP_WORD_MAX]; /* an errno, a status, an event, or a word of sweep_hows */
};

/* "calls": what --sweep takes. */
const char *sweep_kind_name(enum sweep_kind kind);

/*
 * A list such as "calls,packets", or "all": a bit for each kind. 0, or -EINVAL with the reason in
 * error.
 */
int sweep_kinds_parse(const char *list, unsigned *kinds, char *error, size_t cap);

/* What packets and the device suffer: the word of a name, and the action of its rule. */
struct sweep_how {
	enum sweep_kind kind;
	const char *word, *rule, *words;
};
extern const struct sweep_how sweep_hows[];
extern const unsigned sweep_n_hows;

void sweep_item_name(const struct sweep_item *item, char out[SWEEP_NAME_MAX]);

/* 0, or -EINVAL with the reason in error: no such name, or no rule comes of it. */
int sweep_item_parse(const char *name, struct sweep_item *out, char *error, size_t cap);

/* The rule that makes it happen (uhca-fault(7)). */
void sweep_item_rule(const struct sweep_item *item, char out[SWEEP_RULE_MAX]);

/* A rule that counts what its fault is one of. */
void sweep_item_count_rule(const struct sweep_item *item, char out[SWEEP_RULE_MAX]);

/* In words: "the 2nd create_qp of client 1 fails with ENOMEM". */
void sweep_item_words(const struct sweep_item *item, char *out, size_t cap);

/* Is that "what" a call? */
bool sweep_is_call(const char *what);

/* The call takes something down: what is left of it is the fault's work. */
bool sweep_call_destroys(const char *call);

#endif
