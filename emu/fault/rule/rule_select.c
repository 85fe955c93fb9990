/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values of parameters, selectors and limits.
 */
#include "rule_names.h"
#include "rule_opcode.h"
#include "rule_words.h"

#include <errno.h>
#include <string.h>

static void *member(struct fault_rule *r, const struct fault_word *word)
{
	return (char *)r + word->offset;
}

FAULT_WORD_PARSE_(list)
{
	const struct fault_list_form form = {word->bounds, '\0'};

	return fault_value_list(t, token, &form, member(r, word));
}

/* A list of which all parts, or none, have the prefix. */
static int prefixed(const struct fault_text *t, const struct fault_token *token,
		    struct fault_list_form form, struct fault_list *plain,
		    struct fault_list *special)
{
	struct fault_piece rest = token->value;
	const bool with = rest.at[0] == form.prefix;

	while (rest.length) {
		const struct fault_piece part = fault_piece_cut(&rest, ',');

		if (part.length && (part.at[0] == form.prefix) != with)
			return fault_fail(t, part.at,
					  "either all parts must begin with '%c', or none",
					  form.prefix);
	}
	if (!with)
		form.prefix = '\0';
	return fault_value_list(t, token, &form, with ? special : plain);
}

FAULT_WORD_PARSE_(qp)
{
	struct fault_list_form form = {word->bounds, '#'};

	if (token->value.at[0] == '#')
		form.bounds.least = 1;
	return prefixed(t, token, form, &r->select.qp, &r->select.qp_order);
}

FAULT_WORD_PARSE_(psn)
{
	const struct fault_list_form form = {word->bounds, '+'};

	return prefixed(t, token, form, &r->select.psn, &r->select.psn_relative);
}

FAULT_WORD_PARSE_(names)
{
	if (!fault_piece_copy(token->value, member(r, word), FAULT_WORD_MAX))
		return fault_fail(t, token->value.at, "longer than %d characters",
				  FAULT_WORD_MAX - 1);
	return 0;
}

static bool call_exists(struct fault_piece glob)
{
	const char *name;

	for (unsigned i = 0; (name = fault_constant_at(fault_calls.table, i)) != NULL; i++)
		if (fault_glob(glob, name))
			return true;
	return false;
}

FAULT_WORD_PARSE_(call)
{
	struct fault_piece rest = token->value;
	char hint[FAULT_WORD_MAX];

	for (bool more = true; more;) {
		more = rest.length && memchr(rest.at, ',', rest.length);
		const struct fault_piece one = fault_piece_cut(&rest, ',');

		if (call_exists(one))
			continue;
		words_hint(fault_nearest(one, fault_constant_at, fault_calls.table), hint,
			   sizeof(hint));
		return fault_fail(t, one.at, "unknown call '%.*s'%s", (int)one.length, one.at,
				  hint);
	}
	return fault_parse_names(t, token, word, r);
}

FAULT_WORD_PARSE_(direction)
{
	static const char *const names[] = {
		[FAULT_TX] = "tx", [FAULT_RX] = "rx", [FAULT_BOTH] = "both"};

	(void)word;
	for (unsigned i = 0; i <= FAULT_BOTH; i++) {
		if (!fault_piece_is(token->value, names[i]))
			continue;
		r->select.direction = (enum fault_direction)i;
		return 0;
	}
	return fault_is(t, token->value, "not tx, rx or both");
}

FAULT_WORD_PARSE_(opcode)
{
	return fault_opcode_parse(t, token->value, &r->select);
}

/* Which devices there are, the plan knows. */
static bool could_be_device(struct fault_piece p)
{
	return p.length && !memchr(p.at, ':', p.length) && !(p.at[0] >= '0' && p.at[0] <= '9');
}

FAULT_WORD_PARSE_(peer)
{
	struct fault_piece rest = token->value;

	for (bool more = true; more;) {
		more = rest.length && memchr(rest.at, ',', rest.length);
		const struct fault_piece one = fault_piece_cut(&rest, ',');

		if (r->select.n_peers == FAULT_PEERS_MAX)
			return fault_fail(t, one.at, "more than %d addresses", FAULT_PEERS_MAX);
		if (fault_value_address(one, r->select.peer[r->select.n_peers]))
			r->select.n_peers++;
		else if (could_be_device(one))
			r->select.names_peers = true;
		else
			return fault_is(t, one, "neither an IP address nor a device");
	}
	return 0;
}

/* ADDRESS or ADDRESS/BITS. False: it is neither. */
static bool network(struct fault_piece p, uint8_t address[16], uint8_t *bits)
{
	struct fault_piece length = p;
	const struct fault_piece at = fault_piece_cut(&length, '/');
	const bool is_v4 = !memchr(at.at, ':', at.length);
	uint64_t n = is_v4 ? 32 : 128;

	if (!fault_value_address(at, address))
		return false;
	if (at.length < p.length && (!fault_value_number(length, &n) || n > (is_v4 ? 32 : 128)))
		return false;
	*bits = (uint8_t)(is_v4 ? 96 + n : n);
	return true;
}

FAULT_WORD_PARSE_(to)
{
	struct fault_select *s = &r->select;
	struct fault_piece rest = token->value;

	for (bool more = true; more; s->n_to++) {
		more = rest.length && memchr(rest.at, ',', rest.length);
		const struct fault_piece one = fault_piece_cut(&rest, ',');

		if (s->n_to == FAULT_NETS_MAX)
			return fault_fail(t, one.at, "more than %d networks", FAULT_NETS_MAX);
		if (one.length == 0 || !network(one, s->to[s->n_to], &s->to_bits[s->n_to]))
			return fault_is(t, one, "not a network such as 10.1.0.0/16");
	}
	return 0;
}

/* Names of a list, each made a bit. */
static int bits(const struct fault_text *t, struct fault_piece p, const struct fault_constants *c,
		unsigned (*bit)(uint32_t), uint64_t *out)
{
	for (bool more = true; more;) {
		uint64_t v;

		more = p.length && memchr(p.at, ',', p.length);
		if (fault_constant_parse(t, c, fault_piece_cut(&p, ','), 0, &v))
			return -EINVAL;
		*out |= UINT64_C(1) << bit((uint32_t)v);
	}
	return 0;
}

static unsigned cm_bit(uint32_t attr)
{
	return attr & 31;
}

static unsigned status_bit(uint32_t status)
{
	return status & 63;
}

unsigned fault_wc_opcode_bit(uint32_t opcode)
{
	/* Those of uhcadv.h from 64 on, and the two of receives, share one word with the rest. */
	if (opcode >= 128)
		return opcode == 128 ? 63 : 62;
	return opcode >= 64 ? 32 + (opcode & 15) : opcode & 31;
}

FAULT_WORD_PARSE_(cm)
{
	uint64_t set = 0;

	if (bits(t, token->value, &fault_cm_messages, cm_bit, &set))
		return -EINVAL;
	r->select.cm = (uint32_t)set;
	return 0;
}

FAULT_WORD_PARSE_(status)
{
	/* Whatever is not a success. */
	if (fault_piece_is(token->value, "ERROR")) {
		r->select.wc_status = ~UINT64_C(1);
		return 0;
	}
	return bits(t, token->value, &fault_wc_statuses, status_bit, &r->select.wc_status);
}

FAULT_WORD_PARSE_(wc_opcode)
{
	return bits(t, token->value, &fault_wc_opcodes, fault_wc_opcode_bit, &r->select.wc_opcode);
}

FAULT_WORD_PARSE_(retry)
{
	r->select.retry = true;
	return 0;
}

/* Only understood here; which moment it is, fault_rule_settle finds out. */
FAULT_WORD_PARSE_(at)
{
	uint64_t layer = 0;

	/* A name such as leaf0/port3, which the plan knows. */
	if (token->value.length && memchr(token->value.at, '/', token->value.length)) {
		r->layer = FAULT_LAYER_HOP;
		if (!fault_piece_copy(token->value, r->select.port, sizeof(r->select.port)))
			return fault_fail(t, token->value.at, "longer than %d characters",
					  FAULT_WORD_MAX - 1);
		return 0;
	}
	if (fault_constant_parse(t, &fault_layers, token->value, 0, &layer))
		return -EINVAL;
	r->layer = (enum fault_layer)layer;
	return 0;
}

FAULT_WORD_PARSE_(order)
{
	bool *by_queue = member(r, word);

	*by_queue = fault_piece_is(token->value, "queue");
	if (!*by_queue && !fault_piece_is(token->value, "cq"))
		return fault_is(t, token->value, "not cq or queue");
	return 0;
}

FAULT_WORD_PARSE_(time)
{
	uint64_t *out = member(r, word);

	if (!fault_value_time(token->value, out))
		return fault_is(t, token->value, "not a time such as 10us, 5ms or 2s");
	if (*out == 0)
		return fault_fail(t, token->value.at, "0 has no effect");
	return 0;
}

/* limit=100 packets, or limit=64k, limit=1500b: bytes. */
FAULT_WORD_PARSE_(queue)
{
	struct fault_value *v = &r->value;
	struct fault_piece p = token->value;

	if (fault_value_number(p, &v->limit_packets)) {
		if (v->limit_packets)
			return 0;
		return fault_fail(t, p.at, "0 gives the queue no room");
	}
	v->limit_packets = 0;
	if (p.length && (p.at[p.length - 1] | 0x20) == 'b')
		p.length--;
	if (!fault_value_size(p, &v->limit_bytes))
		return fault_is(t, token->value,
				"neither packets, such as 100, nor bytes, such as 64k or 1500b");
	return v->limit_bytes ? 0 : fault_fail(t, p.at, "0 gives the queue no room");
}

FAULT_WORD_PARSE_(number)
{
	uint64_t *out = member(r, word);

	if (!fault_value_number(token->value, out))
		return fault_is(t, token->value, "not a number");
	/* bad_wr=0: not even the first is taken; the others count from 1 */
	if (*out == 0 && word->kind == FAULT_LIMIT)
		return fault_fail(t, token->value.at, "counting begins at 1");
	return 0;
}

/* every=3 of what matches, or every=10ms of the clock. */
FAULT_WORD_PARSE_(every)
{
	if (fault_value_number(token->value, &r->limit.every))
		return fault_parse_number(t, token, word, r);
	if (!fault_value_time(token->value, &r->limit.period))
		return fault_is(t, token->value, "neither a number nor a time");
	if (r->limit.period < 1000)
		return fault_fail(t, token->value.at, "less than 1us");
	return 0;
}

FAULT_WORD_PARSE_(probability)
{
	if (!fault_value_probability(token->value, &r->limit.probability))
		return fault_is(t, token->value, "not a probability such as 0.01 or 1%");
	if (r->limit.probability == 0)
		return fault_fail(t, token->value.at, "p=0 never fires");
	return 0;
}

/* after=TIME, or after=NAME[:N][+TIME] */
FAULT_WORD_PARSE_(after)
{
	struct fault_piece time = token->value;
	const struct fault_piece who = fault_piece_cut(&time, '+');
	struct fault_piece hits = who;
	const struct fault_piece name = fault_piece_cut(&hits, ':');

	if (fault_value_time(token->value, &r->limit.after))
		return 0;
	if (!fault_piece_copy(name, r->limit.after_rule, FAULT_NAME_MAX) || name.length == 0)
		return fault_is(t, name, "not the name of a rule");
	if (name.at[0] >= '0' && name.at[0] <= '9')
		return fault_is(t, name, "neither a time, such as 5ms, nor the name of a rule");
	r->limit.after_hits = 1;
	if (name.length < who.length &&
	    (!fault_value_number(hits, &r->limit.after_hits) || r->limit.after_hits == 0))
		return fault_is(t, hits, "not a number of hits");
	if (who.length < token->value.length && !fault_value_time(time, &r->limit.after))
		return fault_is(t, time, "not a time such as 10us, 5ms or 2s");
	return 0;
}

FAULT_WORD_PARSE_(file)
{
	if (!fault_piece_copy(token->value, member(r, word), sizeof(r->limit.while_file)))
		return fault_fail(t, token->value.at, "the path is too long");
	return 0;
}

FAULT_WORD_PARSE_(stream)
{
	if (!fault_value_number(token->value, &r->limit.stream) || r->limit.stream == 0)
		return fault_is(t, token->value, "not a stream number");
	return 0;
}
