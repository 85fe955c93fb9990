/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the cause of a refusal from a capture, and says it in a sentence. */
#include "causes.h"

#include "emu/model/read/read.h"
#include "emu/words/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

static const char *const kind_name[] = {
#define NAME_(name) [UHCA_ABI_CAUSE_##name] = #name,
	UHCA_ABI_CAUSE_NAMES(NAME_)
#undef NAME_
};

static uint64_t number(const struct model_word *word, unsigned n, const char *name)
{
	const char *text = model_words_find(word, n, name);
	uint64_t value;

	return text && model_words_number(text, &value) ? value : 0;
}

static enum uhca_abi_cause_kind find_kind(const char *name)
{
	for (unsigned i = 1; name && i < UHCA_ABI_CAUSES; i++)
		if (strcmp(kind_name[i], name) == 0)
			return (enum uhca_abi_cause_kind)i;
	return UHCA_ABI_CAUSE_NONE;
}

bool model_cause_read(const struct model_word *word, unsigned n, struct uhca_abi_cause *out)
{
	*out = (struct uhca_abi_cause){
		.kind = find_kind(model_words_find(word, n, "cause")),
		.key = (uint32_t)number(word, n, "key"),
		.near = (uint32_t)number(word, n, "near"),
		.rights = (uint32_t)number(word, n, "rights"),
		.at = number(word, n, "at"),
		.bytes = number(word, n, "bytes"),
		.start = number(word, n, "start"),
		.size = number(word, n, "size"),
		.expected = number(word, n, "expected"),
		.got = number(word, n, "got"),
		.since = number(word, n, "since"),
		.rest = number(word, n, "rest"),
	};
	return out->kind != UHCA_ABI_CAUSE_NONE;
}

/* ---- saying ---- */

/* "REMOTE_WRITE and REMOTE_READ" of IBV_ACCESS_*. Returns buf. */
static const char *rights_text(uint32_t rights, char *buf, size_t cap)
{
	static const char *const name[] = {
		"LOCAL_WRITE", "REMOTE_WRITE", "REMOTE_READ", "REMOTE_ATOMIC", "MW_BIND",
		"ZERO_BASED",  "ON_DEMAND",    "HUGETLB",     "FLUSH_GLOBAL",  "FLUSH_PERSISTENT"};
	struct text t = {buf, cap, 0};

	buf[0] = '\0';
	for (unsigned i = 0; i < sizeof(name) / sizeof(name[0]); i++)
		if (rights & 1u << i)
			text_add(&t, "%sIBV_ACCESS_%s", t.used ? " and " : "", name[i]);
	if (t.used == 0)
		text_add(&t, "rights 0x%" PRIx32, rights);
	return buf;
}

/* "[0x1000, 0x2000)" */
static void add_range(struct text *t, uint64_t start, uint64_t size)
{
	text_add(t, "0x%" PRIx64 " to 0x%" PRIx64, start, start + size - (size > 0));
}

static void say_unknown(struct text *t, const struct uhca_abi_cause *c)
{
	text_add(t, "key 0x%" PRIx32 " names nothing", c->key);
	if (c->near)
		text_add(t, "; the key most like it that would do is 0x%" PRIx32, c->near);
	else
		text_add(t, ", and no key of the protection domain is like it");
}

static void say_dead(struct text *t, const struct uhca_abi_cause *c)
{
	text_add(t, "key 0x%" PRIx32 " has been dead for %.3f ms: it was that of ", c->key,
		 (double)c->since / 1e6);
	add_range(t, c->start, c->size);
}

static void say_range(struct text *t, const struct uhca_abi_cause *c)
{
	uint64_t end = c->at + c->bytes, region_end = c->start + c->size;

	text_add(t, "%" PRIu64 " byte%s at 0x%" PRIx64 " ", c->bytes, words_plural(c->bytes),
		 c->at);
	if (c->at < c->start)
		text_add(t, "begin%s %" PRIu64 " byte%s before", c->bytes == 1 ? "s" : "",
			 c->start - c->at, words_plural(c->start - c->at));
	else
		text_add(t, "end%s %" PRIu64 " byte%s behind", c->bytes == 1 ? "s" : "",
			 end - region_end, words_plural(end - region_end));
	text_add(t, " the region of key 0x%" PRIx32 ", which has %" PRIu64 " bytes, ", c->key,
		 c->size);
	add_range(t, c->start, c->size);
	if (c->near)
		text_add(t, "; it is inside the region of key 0x%" PRIx32, c->near);
}

static void say_key_right(struct text *t, const struct uhca_abi_cause *c)
{
	char rights[160];

	text_add(t, "the region of key 0x%" PRIx32 " lacks %s", c->key,
		 rights_text(c->rights, rights, sizeof(rights)));
}

static void say_qp_right(struct text *t, const struct uhca_abi_cause *c)
{
	char rights[160];

	text_add(t, "the QP's qp_access_flags lack %s",
		 rights_text(c->rights, rights, sizeof(rights)));
}

/* ---- of numbers that do not fit ---- */

static void say_answer(struct text *t, const struct uhca_abi_cause *c)
{
	if (c->expected == c->near)
		text_add(t, "it is about PSN %" PRIu64 ", and nothing is outstanding", c->got);
	else
		text_add(t,
			 "it is about PSN %" PRIu64 ", and PSNs %" PRIu64 " to %" PRIu32
			 " are outstanding",
			 c->got, c->expected, (c->near - 1) & 0xffffff);
}

static void say_message_length(struct text *t, const struct uhca_abi_cause *c)
{
	text_add(t, "%" PRIu64 " byte%s, where it must be %s%" PRIu64, c->got, words_plural(c->got),
		 c->expected > 32 ? "at most " : "", c->expected);
}

static void say_receive_short(struct text *t, const struct uhca_abi_cause *c)
{
	text_add(t,
		 "the message has %" PRIu64
		 " bytes%s, and the receive request has room for %" PRIu64,
		 c->got, c->rest ? " or more" : "", c->expected);
}

static void say_elements(struct text *t, const struct uhca_abi_cause *c)
{
	text_add(t, "%" PRIu64 " scatter/gather elements, and %" PRIu64 " %s allowed", c->got,
		 c->expected, c->expected == 1 ? "is" : "are");
}

static void say_state(struct text *t, const struct uhca_abi_cause *c)
{
	static const char *const name[] = {"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

	text_add(t, "the QP is in %s, in which it does not take this",
		 c->got < sizeof(name) / sizeof(name[0]) ? name[c->got] : "an unknown state");
}

static void say_port(struct text *t, const struct uhca_abi_cause *c)
{
	if (c->got == UHCA_ABI_PORT_NO_GID)
		text_add(t, "the device's own address has left its GID table");
	else if (c->got == UHCA_ABI_PORT_MTU)
		text_add(t, "the packet is longer than the port's active_mtu");
	else
		text_add(t, "the port is down");
}

/* How each is said: in words with numbers of the cause in braces, or by a function. */
static const struct {
	const char *words;
	void (*say)(struct text *t, const struct uhca_abi_cause *c);
} saying[UHCA_ABI_CAUSES] = {
	[UHCA_ABI_CAUSE_NONE] = {"", NULL},
	[UHCA_ABI_CAUSE_KEY_UNKNOWN] = {NULL, say_unknown},
	[UHCA_ABI_CAUSE_KEY_DEAD] = {NULL, say_dead},
	[UHCA_ABI_CAUSE_KEY_SWAPPED] =
		{"key {key} is the other one of its region's two keys: here {near} belongs", NULL},
	[UHCA_ABI_CAUSE_KEY_REVOKED] = {"key {key} was revoked by a fault rule or by uhcactl",
					NULL},
	[UHCA_ABI_CAUSE_KEY_UNBOUND] =
		{"key {key} opens nothing now: its window is not bound, or not to this "
		 "QP, or its region has no description",
		 NULL},
	[UHCA_ABI_CAUSE_KEY_DOMAIN] =
		{"key {key} is of another protection domain ({got}) than the QP ({expected})",
		 NULL},
	[UHCA_ABI_CAUSE_KEY_RIGHT] = {NULL, say_key_right},
	[UHCA_ABI_CAUSE_RANGE] = {NULL, say_range},
	[UHCA_ABI_CAUSE_MEMORY] =
		{"the memory of key {key} at {at} ({bytes} bytes) is not there any more", NULL},
	[UHCA_ABI_CAUSE_INVALIDATE] = {"key {key} may not be invalidated by this request", NULL},
	[UHCA_ABI_CAUSE_QP_RIGHT] = {NULL, say_qp_right},
	[UHCA_ABI_CAUSE_PSN_AHEAD] = {"PSN {got} came, and PSN {expected} is expected first", NULL},
	[UHCA_ABI_CAUSE_PSN_BEHIND] =
		{"PSN {got} came, and PSN {expected} is expected next: taken for a "
		 "duplicate, and not executed",
		 NULL},
	[UHCA_ABI_CAUSE_FORGOTTEN] =
		{"PSN {got} came, PSN {expected} is expected next, and no answer is "
		 "kept for such a duplicate",
		 NULL},
	[UHCA_ABI_CAUSE_ANSWER] = {NULL, say_answer},
	[UHCA_ABI_CAUSE_ORDER] = {"a packet of another place in a message was due", NULL},
	[UHCA_ABI_CAUSE_OPERATION] = {"the device, or the QP's transport, does not have the "
				      "operation",
				      NULL},
	[UHCA_ABI_CAUSE_PACKET_LENGTH] =
		{"a packet has {got} bytes of payload, which does not fit its place in "
		 "the message: the path MTU here is {expected}",
		 NULL},
	[UHCA_ABI_CAUSE_MESSAGE_LENGTH] = {NULL, say_message_length},
	[UHCA_ABI_CAUSE_RECEIVE_SHORT] = {NULL, say_receive_short},
	[UHCA_ABI_CAUSE_NO_RECEIVE] = {"no receive request is posted", NULL},
	[UHCA_ABI_CAUSE_ALIGNMENT] = {"address {at} is not aligned to {expected} bytes", NULL},
	[UHCA_ABI_CAUSE_READS] =
		{"more READs and atomics at a time than the QP's max_dest_rd_atomic, "
		 "which is {expected}",
		 NULL},
	[UHCA_ABI_CAUSE_SRQ] = {"number {got:x} is not an SRQ of the XRC domain", NULL},
	[UHCA_ABI_CAUSE_ELEMENTS] = {NULL, say_elements},
	[UHCA_ABI_CAUSE_INLINE] = {"a low-latency QP takes payload inline only", NULL},
	[UHCA_ABI_CAUSE_ADDRESS_HANDLE] =
		{"handle {got} is not an address handle of the QP's protection domain", NULL},
	[UHCA_ABI_CAUSE_QKEY] = {"Q_Key {got:x} came, and the QP has {expected:x}", NULL},
	[UHCA_ABI_CAUSE_PKEY] = {"P_Key {got:x} came, and the port has {expected:x}", NULL},
	[UHCA_ABI_CAUSE_STATE] = {NULL, say_state},
	[UHCA_ABI_CAUSE_SERVICE] = {"the QP has another transport, or does not accept such packets",
				    NULL},
	[UHCA_ABI_CAUSE_ADDRESS] = {"the packet is not from the QP's peer", NULL},
	[UHCA_ABI_CAUSE_NO_QP] = {"no QP there has number {got:x}", NULL},
	[UHCA_ABI_CAUSE_PORT] = {NULL, say_port},
};

/* What stands in braces at "at": a member of the cause, addresses and keys in hexadecimal. */
static void say_number(struct text *t, const struct uhca_abi_cause *c, const char *at)
{
	const struct {
		const char *name;
		bool hex;
		uint64_t value;
	} numbers[] = {{"{key}", true, c->key},
		       {"{near}", true, c->near},
		       {"{at}", true, c->at},
		       {"{bytes}", false, c->bytes},
		       {"{got}", false, c->got},
		       {"{got:x}", true, c->got},
		       {"{expected}", false, c->expected},
		       {"{expected:x}", true, c->expected}};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (strncmp(at, numbers[i].name, strlen(numbers[i].name)) == 0)
			text_add(t, numbers[i].hex ? "0x%" PRIx64 : "%" PRIu64, numbers[i].value);
}

static void say_words(struct text *t, const struct uhca_abi_cause *c, const char *words)
{
	while (*words) {
		size_t plain = strcspn(words, "{");

		text_add(t, "%.*s", (int)plain, words);
		words += plain;
		say_number(t, c, words);
		words += strcspn(words, "}");
		words += *words == '}';
	}
}

const char *model_cause_text(const struct uhca_abi_cause *c, char *buf, size_t cap)
{
	struct text t = {buf, cap, 0};

	buf[0] = '\0';
	if (saying[c->kind].say)
		saying[c->kind].say(&t, c);
	else
		say_words(&t, c, saying[c->kind].words);
	return buf;
}
