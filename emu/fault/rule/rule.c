/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the text of a rule into its action, selectors and limits. */
#include "rule.h"

#include "rule_names.h"
#include "rule_settle.h"
#include "rule_words.h"

#include <errno.h>
#include <string.h>

static bool name_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '-' || c == '.';
}

/* A byte of a longer character alone is none, and no text may end up with it. */
static int not_in_a_name(const struct fault_text *t, const char *at)
{
	unsigned char c = (unsigned char)*at;

	return c > ' ' && c < 0x7f ? fault_fail(t, at, "a name cannot contain '%c'", c)
				   : fault_fail(t, at, "a name cannot contain byte 0x%02x", c);
}

/* "NAME:", which is not a number, since rules have numbers too. */
static int parse_name(const struct fault_text *t, struct fault_piece p, struct fault_rule *r)
{
	p.length--;
	for (size_t i = 0; i < p.length; i++)
		if (!name_char(p.at[i]))
			return not_in_a_name(t, p.at + i);
	if (p.length == 0 || (p.at[0] >= '0' && p.at[0] <= '9'))
		return fault_fail(t, p.at, "a name must begin with a letter");
	if (!fault_piece_copy(p, r->name, sizeof(r->name)))
		return fault_fail(t, p.at, "a name has at most %d characters", FAULT_NAME_MAX - 1);
	return 0;
}

/* What people call things that have another name here. */
struct synonym {
	const char *said, *meant;
};

static const struct synonym action_synonyms[] = {
	{"loss", "drop p=0.01"},
	{"lose", "drop"},
	{"latency", "delay"},
	{"lag", "delay"},
	{"slow", "delay"},
	{"bandwidth", "rate"},
	{"bw", "rate"},
	{"duplicate", "dup"},
	{"copy", "dup"},
	{"mark", "ecn"},
	{"congestion", "ecn"},
	{"modify", "set"},
	{"change", "set"},
	{"fail", "call.fail"},
	{"errno", "call.fail"},
	{"reject", "cm.reject"},
	{"error", "qp.error"},
	{"revoke", "key.revoke"},
	{"linkdown", "port.down"},
	{"crash", "dev.exit"},
	{"freeze", "dev.freeze"},
	{"fatal", "dev.fatal"},
	{"overrun", "cqe.overrun"},
	{NULL, NULL},
};

static const struct synonym word_synonyms[] = {
	{"probability", "p"}, {"prob", "p"},      {"chance", "p"},     {"rate", "p"},
	{"count", "times"},   {"limit", "times"}, {"max", "times"},    {"op", "opcode"},
	{"direction", "dir"}, {"size", "length"}, {"bytes", "length"}, {"prog", "program"},
	{"qpn", "qp"},        {"start", "after"}, {"end", "until"},    {"verb", "call"},
	{"dest", "peer"},     {"dst", "peer"},    {NULL, NULL},
};

static const char *meant_by(const struct synonym *s, struct fault_piece said)
{
	while (s->said && !fault_piece_is(said, s->said))
		s++;
	return s->meant;
}

static int unknown_action(const struct fault_text *t, struct fault_piece name)
{
	const char *meant = meant_by(action_synonyms, name);
	const char *nearest = meant ? meant : fault_nearest(name, fault_action_at, NULL);
	char hint[FAULT_WORD_MAX];

	if (fault_word_find(name) >= 0)
		return fault_fail(t, name.at, "a rule begins with an action, not '%.*s'",
				  (int)name.length, name.at);
	return fault_fail(t, name.at, "unknown action '%.*s'%s", (int)name.length, name.at,
			  words_hint(nearest, hint, sizeof(hint)));
}

/* "drop=0.01" means how often, as a rule. */
static int needless_value(const struct fault_text *t, const struct fault_token *token,
			  const struct fault_action_word *word)
{
	uint32_t probability;

	if (fault_value_probability(token->value, &probability) && probability)
		return fault_fail(t, token->value.at,
				  "'%s' takes no value: did you mean '%s p=%.*s'?", word->name,
				  word->name, (int)token->value.length, token->value.at);
	return fault_fail(t, token->value.at, "'%s' takes no value", word->name);
}

static int parse_action(const struct fault_text *t, const struct fault_token *token,
			struct fault_rule *r)
{
	const struct fault_action_word *word;
	const bool has_value = token->compare[0] != '\0';

	r->action = fault_action_find(token->name);
	if (r->action == FAULT_ACTIONS)
		return unknown_action(t, token->name);
	word = &fault_action_words[r->action];
	if (has_value && strcmp(token->compare, "=") != 0)
		return fault_fail(t, token->whole.at, "'%s' has a value: '='", word->name);
	if (has_value && word->need == FAULT_VALUE_NONE)
		return needless_value(t, token, word);
	if (!has_value && word->need == FAULT_VALUE_NEEDED)
		return fault_fail(t, token->whole.at, "'%s' needs a value: %s", word->name,
				  word->syntax);
	return word->parse ? word->parse(t, token->value, r) : 0;
}

static int unknown_word(const struct fault_text *t, struct fault_piece name)
{
	const char *meant = meant_by(word_synonyms, name);
	const char *nearest = meant ? meant : fault_nearest(name, fault_word_at, NULL);
	char hint[FAULT_WORD_MAX];

	if (!meant && fault_action_find(name) != FAULT_ACTIONS)
		return fault_fail(t, name.at, "a rule has one action; '%.*s' is a second one",
				  (int)name.length, name.at);
	return fault_fail(t, name.at, "unknown word '%.*s'%s", (int)name.length, name.at,
			  words_hint(nearest, hint, sizeof(hint)));
}

static int check_form(const struct fault_text *t, const struct fault_token *token,
		      const struct fault_word *word, const struct fault_rule *r)
{
	const bool has_value = token->compare[0] != '\0';

	if (word->kind == FAULT_PARAMETER && !(word->actions[r->action / 32] >> r->action % 32 & 1))
		return fault_fail(t, token->whole.at, "action '%s' takes no parameter '%s'",
				  fault_action_name(r->action), word->name);
	if (word->bare && has_value)
		return fault_fail(t, token->value.at, "'%s' takes no value", word->name);
	if (!word->bare && !has_value)
		return fault_fail(t, token->whole.at, "'%s' needs a value", word->name);
	if (has_value && !word->compares && strcmp(token->compare, "=") != 0)
		return fault_fail(t, token->whole.at, "'%s' cannot be compared: use '='",
				  word->name);
	return 0;
}

static int parse_word(const struct fault_text *t, const struct fault_token *token,
		      struct fault_given *g, struct fault_rule *r)
{
	const int index = fault_word_find(token->name);
	const struct fault_word *word;

	if (index < 0)
		return unknown_word(t, token->name);
	word = &fault_words[index];
	for (unsigned i = 0; i < g->n; i++)
		if (g->item[i].word == word)
			return fault_fail(t, token->whole.at, "'%s' is given twice", word->name);
	if (check_form(t, token, word, r))
		return -EINVAL;
	g->item[g->n].word = word;
	g->item[g->n].token = *token;
	g->n++;
	return word->parse(t, token, word, r);
}

static int parse_words(const struct fault_text *t, struct fault_rule *r)
{
	struct fault_given given = {.n = 0};
	const char *at = t->line;
	struct fault_token token;
	int more = fault_token_next(t, &at, &token);

	if (more > 0 && token.whole.at[token.whole.length - 1] == ':') {
		if (parse_name(t, token.whole, r))
			return -EINVAL;
		more = fault_token_next(t, &at, &token);
	}
	if (more == 0)
		return fault_fail(t, at, "an action is missing");
	if (more < 0 || parse_action(t, &token, r))
		return -EINVAL;
	given.action = token;
	while ((more = fault_token_next(t, &at, &token)) > 0)
		if (parse_word(t, &token, &given, r))
			return -EINVAL;
	return more < 0 ? -EINVAL : fault_rule_settle(t, &given, r);
}

int fault_rule_parse(const char *text, struct fault_rule *out, struct fault_error *error)
{
	const struct fault_text t = {text, strcspn(text, "\n"), error};

	memset(out, 0, sizeof(*out));
	out->limit.probability = UINT32_MAX;
	if (t.length >= FAULT_TEXT_MAX)
		return fault_fail(&t, text + FAULT_TEXT_MAX - 1, "a rule has at most %d characters",
				  FAULT_TEXT_MAX - 1);
	for (size_t i = 0; i < t.length; i++)
		if ((unsigned char)text[i] < ' ' && text[i] != '\t')
			return fault_fail(&t, text + i, "a control character is not allowed");
	memcpy(out->text, text, t.length);
	return parse_words(&t, out);
}

const char *fault_layer_name(enum fault_layer l)
{
	return fault_constant_name(&fault_layers, l);
}
