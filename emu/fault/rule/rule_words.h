/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All words of the grammar: one table of actions, one of what may stand behind them, one of fields.
 * uhca-fault(7) explains each of them, which scripts/rules/check-docs verifies.
 */
#ifndef FAULT_RULE_WORDS_H
#define FAULT_RULE_WORDS_H

#include "rule_text.h"
#include "rule_value.h"

/* Bits for enum fault_layer. */
#define FAULT_ON_(layer) (1u << FAULT_LAYER_##layer)
#define FAULT_ON_ANY     ((1u << FAULT_LAYERS) - 1)

enum fault_need { FAULT_VALUE_NONE, FAULT_VALUE_OPTIONAL, FAULT_VALUE_NEEDED };

enum {
	FAULT_SWALLOWS = 1u << 0,      /* takes the packet (call, completion) away */
	FAULT_DEVICE_ACTION = 1u << 1, /* not to a packet, but to the device */
	FAULT_ANSWERS = 1u << 2,       /* in the name of a responder: requests of RC and XRC only */
	FAULT_OF_CM = 1u << 3,         /* messages of connection management only */
	FAULT_OF_CALLS = 1u << 4,      /* call= must be there */
	FAULT_OF_OBJECT = 1u << 5,     /* of the time alone: some object must be named */
	FAULT_OF_LINK = 1u << 6,       /* to a part of the modelled network, which must be named */
	FAULT_OF_SWITCH = 1u << 7,
	FAULT_OF_HOST = 1u << 8,
};

/* value: what stands behind "="; its length is 0 where that is optional and missing. */
typedef int (*fault_action_parse)(const struct fault_text *t, struct fault_piece value,
				  struct fault_rule *r);

struct fault_action_word {
	const char *name;
	uint32_t layers;
	enum fault_direction direction; /* unless dir= says another */
	uint32_t flags;
	enum fault_need need;
	fault_action_parse parse; /* NULL: there is no value */
	const char *syntax;       /* of the value, for messages: "a time" */
};

extern const struct fault_action_word fault_action_words[FAULT_ACTIONS];

enum fault_word_kind { FAULT_PARAMETER, FAULT_SELECTOR, FAULT_LIMIT };

struct fault_word;
typedef int (*fault_word_parse)(const struct fault_text *t, const struct fault_token *token,
				const struct fault_word *word, struct fault_rule *r);

struct fault_word {
	const char *name;
	const char *alias; /* NULL: none */
	enum fault_word_kind kind;
	uint32_t layers;
	uint32_t actions[2]; /* parameters: bits 1 << enum fault_action that have it */
	bool bare;           /* stands alone, without "=" */
	bool compares;       /* also <, <=, >, >=, != */
	fault_word_parse parse;
	size_t offset; /* in struct fault_rule, of what parse fills in */
	struct fault_bounds bounds;
};

extern const struct fault_word fault_words[];
extern const unsigned fault_n_words;

/* Index in fault_words, or -1. */
int fault_word_find(struct fault_piece name);
int fault_word_index(const char *name); /* of a name that is there */
/* FAULT_ACTIONS: there is none. */
enum fault_action fault_action_find(struct fault_piece name);

struct fault_field_word {
	const char *name;
	uint32_t headers;  /* ROCE_HDR_* that a packet must have for it */
	uint64_t most;     /* all bits that it has on the wire */
	uint16_t at, size; /* its member of struct roce_packet; size 0: bytes of the payload */
	bool indexed;
};

extern const struct fault_field_word fault_field_words[FAULT_FIELDS];

/* For fault_nearest. */
const char *fault_action_at(const void *table, unsigned i);
const char *fault_word_at(const void *table, unsigned i);
const char *fault_field_at(const void *table, unsigned i);

/* ---- how values are read ---- */

#define FAULT_ACTION_PARSE_(name)                                                                  \
	int fault_parse_##name(const struct fault_text *t, struct fault_piece value,               \
			       struct fault_rule *r)
#define FAULT_WORD_PARSE_(name)                                                                    \
	int fault_parse_##name(__attribute__((unused)) const struct fault_text *t,                 \
			       __attribute__((unused)) const struct fault_token *token,            \
			       __attribute__((unused)) const struct fault_word *word,              \
			       struct fault_rule *r)

/* rule_action.c */
FAULT_ACTION_PARSE_(count);
FAULT_ACTION_PARSE_(duration);
FAULT_ACTION_PARSE_(rate);
FAULT_ACTION_PARSE_(burst);
FAULT_ACTION_PARSE_(corrupt);
FAULT_ACTION_PARSE_(set);
FAULT_ACTION_PARSE_(truncate);
FAULT_ACTION_PARSE_(rnr);
FAULT_ACTION_PARSE_(nak);
FAULT_ACTION_PARSE_(forge);
FAULT_ACTION_PARSE_(reason);
FAULT_ACTION_PARSE_(errno);
FAULT_ACTION_PARSE_(cqe);
FAULT_ACTION_PARSE_(event);
FAULT_ACTION_PARSE_(key);

/* rule_port.c */
FAULT_ACTION_PARSE_(flap);
FAULT_ACTION_PARSE_(speed);
FAULT_ACTION_PARSE_(mtu);
FAULT_ACTION_PARSE_(pkey);
FAULT_ACTION_PARSE_(gid_index);
FAULT_ACTION_PARSE_(gid_address);
FAULT_ACTION_PARSE_(gid_move);

/* rule_network.c */
FAULT_ACTION_PARSE_(link_rate);
FAULT_ACTION_PARSE_(link_delay);
FAULT_ACTION_PARSE_(link_loss);
FAULT_WORD_PARSE_(parts);

/* Of a number, with what is wrong said: 0, or -EINVAL. */
int fault_parse_up_to(const struct fault_text *t, struct fault_piece p, uint64_t most,
		      uint64_t *out);

/* rule_select.c */
FAULT_WORD_PARSE_(list);
FAULT_WORD_PARSE_(qp);
FAULT_WORD_PARSE_(psn);
FAULT_WORD_PARSE_(names);
FAULT_WORD_PARSE_(call);
FAULT_WORD_PARSE_(direction);
FAULT_WORD_PARSE_(opcode);
FAULT_WORD_PARSE_(peer);
FAULT_WORD_PARSE_(to);
FAULT_WORD_PARSE_(cm);
FAULT_WORD_PARSE_(status);
FAULT_WORD_PARSE_(wc_opcode);
FAULT_WORD_PARSE_(retry);
FAULT_WORD_PARSE_(at);
FAULT_WORD_PARSE_(time);
FAULT_WORD_PARSE_(queue);
FAULT_WORD_PARSE_(order);
FAULT_WORD_PARSE_(number);
FAULT_WORD_PARSE_(every);
FAULT_WORD_PARSE_(probability);
FAULT_WORD_PARSE_(after);
FAULT_WORD_PARSE_(file);
FAULT_WORD_PARSE_(stream);

#endif
