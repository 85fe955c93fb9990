/* SPDX-License-Identifier: BSD-2-Clause */
/* See model.h. The file's bytes stay in memory: frames and payloads point into them. */
#include "model.h"

#include "causes.h"
#include "emu/model/read/read.h"
#include "judgement.h"
#include "messages.h"
#include "pairs.h"
#include "wire/bytes.h"
#include "wire/frame.h"
#include "wire/mad.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_BYTES   (1u << 20)
#define ETHER_LENGTH 14u
#define ETHER_IPV4   0x0800u
#define ETHER_IPV6   0x86ddu
#define IP_UDP_MOST  48u /* bytes */

/* ---- words ---- */

/* A text of the file that may be printed anywhere. */
static char *keep_text(struct model *s, const char *text, size_t length)
{
	char *copy = arena_text(&s->arena, text, length);

	for (char *p = copy; p && p < copy + length; p++)
		if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
			*p = '?';
	return copy;
}

static const char *const kind_name[] = {
	[MODEL_STATE] = "state",
	[MODEL_COMPLETION] = "completion",
	[MODEL_RETRY] = "retry",
	[MODEL_NAK] = "nak",
	[MODEL_EVENT] = "event",
	[MODEL_CALL] = "call",
	[MODEL_RULE] = "rule",
	[MODEL_HIT] = "hit",
	[MODEL_COUNTERS] = "counters",
	[MODEL_REGION] = "region",
	[MODEL_NOTE] = "note",
	[MODEL_LEAK] = "leak",
	[MODEL_UNREACHABLE] = "unreachable",
	[MODEL_STANDS] = "stands",
	[MODEL_RECORDER] = "recorder",
	[MODEL_REQUEST] = "request",
};

static enum model_kind find_kind(const char *name)
{
	unsigned i = 0;

	while (i < MODEL_OTHER && strcmp(kind_name[i], name) != 0)
		i++;
	return (enum model_kind)i;
}

static uint32_t number_word(const struct model_word *w, unsigned n, const char *name)
{
	const char *text = model_words_find(w, n, name);
	uint64_t value;

	if (!text || !model_words_number(text, &value) || value > UINT32_MAX)
		return 0;
	return (uint32_t)value;
}

/* What the words say of a cause, kept; NULL: nothing. False: no memory. */
static bool keep_cause(struct model *s, const struct model_word *w, unsigned n,
		       const struct uhca_abi_cause **out)
{
	struct uhca_abi_cause cause, *kept;

	*out = NULL;
	if (!model_cause_read(w, n, &cause))
		return true;
	kept = arena_take(&s->arena, sizeof(*kept));
	if (kept)
		*kept = cause;
	*out = kept;
	return kept;
}

static int add_record(struct model *s, const struct pcapng_block *b)
{
	struct model_word word[MODEL_WORDS_MAX];
	struct model_record *grown = array_grow(s->record, s->n_records, sizeof(*grown));
	char *text = keep_text(s, b->text, b->length);
	const struct uhca_abi_cause *cause;
	struct model_word *kept;
	unsigned n;

	if (grown)
		s->record = grown;
	if (!grown || !text)
		return -ENOMEM;
	n = model_words_split(text, word, MODEL_WORDS_MAX);
	if (n == 0)
		return 0;
	kept = arena_take(&s->arena, n * sizeof(*kept));
	if (!kept || !keep_cause(s, word, n, &cause))
		return -ENOMEM;
	memcpy(kept, word, n * sizeof(*kept));
	s->recorder |= find_kind(word[0].name) == MODEL_RECORDER;
	s->record[s->n_records++] = (struct model_record){
		.ns = b->ns,
		.offset = b->offset,
		.kind = find_kind(word[0].name),
		.name = word[0].name,
		.host = MODEL_NONE,
		.qp = MODEL_NONE,
		.message = MODEL_NONE,
		.cause = cause,
		.n = n,
		.word = kept,
	};
	return 0;
}

static void read_part(struct model_packet *p, const char *text)
{
	unsigned long part, parts;
	char *end;

	if (!text)
		return;
	part = strtoul(text, &end, 10);
	if (*end != '/')
		return;
	parts = strtoul(end + 1, &end, 10);
	if (*end == '\0' && part > 0 && part <= parts && parts < UINT32_MAX) {
		p->part = (uint32_t)part;
		p->parts = (uint32_t)parts;
	}
}

static int read_comment(struct model *s, struct model_packet *p, const struct pcapng_block *b)
{
	struct model_word w[MODEL_WORDS_MAX];
	char *text = keep_text(s, b->text, b->length);
	const char *value;
	unsigned n;

	if (!text)
		return -ENOMEM;
	n = model_words_split(text, w, MODEL_WORDS_MAX);
	value = model_words_find(w, n, "wr");
	p->has_wr = value && model_words_number(value, &p->wr);
	p->has_sender = model_words_find(w, n, "qp") != NULL;
	p->sender = number_word(w, n, "qp");
	p->tries = number_word(w, n, "try");
	p->rule = number_word(w, n, "rule");
	p->op = model_words_find(w, n, "op");
	p->fault = model_words_find(w, n, "fault");
	p->made = model_words_find(w, n, "made");
	p->dropped = model_words_find(w, n, "dropped");
	p->judged = model_words_find(w, n, "judged");
	read_part(p, model_words_find(w, n, "part"));
	return keep_cause(s, w, n, &p->cause) ? 0 : -ENOMEM;
}

/* ---- frames ---- */

/* Where the IP header of a frame is; the length of the frame when there is none. */
static size_t find_ip(uint32_t link, const uint8_t *frame, size_t length)
{
	struct roce_frame f;

	switch (link) {
	case PCAPNG_LINK_ETHERNET:
		if (!roce_frame_parse(frame, length, &f))
			return length;
		if (f.ipv4)
			return (size_t)(f.ipv4 - frame);
		return f.ipv6 ? (size_t)(f.ipv6 - frame) : length;
	case PCAPNG_LINK_NULL:
		return length < 4 ? length : 4;
	case PCAPNG_LINK_SLL:
		return length < 16 ? length : 16;
	case PCAPNG_LINK_SLL2:
		return length < 20 ? length : 20;
	case PCAPNG_LINK_RAW:
	case PCAPNG_LINK_IPV4:
	case PCAPNG_LINK_IPV6:
		return 0;
	}
	return length;
}

/*
 * A capture may keep only the start of each packet. So that the headers can be read, zeros take
 * the place of what is missing, here, for the one packet that is looked at.
 */
static const uint8_t *fill_up(uint8_t whole[ROCE_FRAME_MAX], const struct pcapng_block *b,
			      size_t *length)
{
	*length = b->captured;
	if (b->original <= b->captured || b->original > ROCE_FRAME_MAX)
		return b->frame;
	memset(whole, 0, b->original);
	if (b->captured > 0)
		memcpy(whole, b->frame, b->captured);
	*length = b->original;
	return whole;
}

/*
 * Where the payload of a packet that was filled up stays: in the file as far as it was captured,
 * and nobody may read more of it. MADs are read whole: zeros stand for the rest.
 */
static bool keep_payload(struct model *s, struct model_packet *p, const uint8_t *whole)
{
	uint8_t *copy;
	size_t at;

	if (!p->pkt.payload)
		return true;
	at = (size_t)(p->pkt.payload - whole);
	if (p->pkt.bth.dest_qp != ROCE_GSI_QPN) {
		p->pkt.payload = p->frame + (at < p->captured ? at : p->captured);
		return true;
	}
	copy = arena_take(&s->arena, p->original);
	if (!copy)
		return false;
	memcpy(copy, whole, p->original);
	p->pkt.payload = copy + at;
	return true;
}

enum found { FOUND_PACKET, FOUND_OTHER, FOUND_CUT };

/* A packet, something else, or not enough of a packet. */
static enum found parse_frame(struct model_packet *p, uint32_t link, const uint8_t *frame,
			      size_t length)
{
	bool whole = p->captured >= p->original;
	size_t at = find_ip(link, frame, length);
	uint16_t ident;
	size_t payload;
	size_t head;

	if (at >= length)
		return FOUND_OTHER;
	head = roce_udpip_parse(frame + at, length - at, &p->flow, &ident, &payload);
	if (head == 0 || p->flow.dport != ROCE_UDP_PORT || payload < ROCE_ICRC_LENGTH)
		return whole || at + IP_UDP_MOST <= p->captured ? FOUND_OTHER : FOUND_CUT;
	if (roce_packet_parse(frame + at + head, payload - ROCE_ICRC_LENGTH, &p->pkt) !=
	    ROCE_PARSE_OK)
		return whole ? FOUND_OTHER : FOUND_CUT;
	if (at + head + roce_header_length(p->pkt.bth.opcode) > p->captured)
		return FOUND_CUT;
	return FOUND_PACKET;
}

static int add_packet(struct model *s, const struct pcapng *f, const struct pcapng_block *b)
{
	struct model_packet *grown = array_grow(s->packet, s->n_packets, sizeof(*grown));
	struct model_packet *p;
	uint8_t whole[ROCE_FRAME_MAX];
	const uint8_t *frame;
	enum found found;
	size_t length;

	if (!grown)
		return -ENOMEM;
	s->packet = grown;
	p = &s->packet[s->n_packets];
	*p = (struct model_packet){
		.ns = b->ns,
		.offset = b->offset,
		.frame = b->frame,
		.captured = b->captured,
		.original = b->original,
		.interface = b->interface,
		.direction = b->direction,
		.arrow = MODEL_NONE,
	};
	frame = fill_up(whole, b, &length);
	found = parse_frame(p, f->interface[b->interface].link, frame, length);
	s->others += found == FOUND_OTHER;
	s->cut += found == FOUND_CUT;
	if (found != FOUND_PACKET)
		return 0;
	if (frame == whole && !keep_payload(s, p, whole))
		return -ENOMEM;
	s->n_packets++;
	return b->length > 0 ? read_comment(s, p, b) : 0;
}

/* ---- in the order of time ---- */

static int add_moment(struct model *s, uint64_t ns, bool is_record, uint32_t index)
{
	struct model_moment *grown = array_grow(s->moment, s->n_moments, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	s->moment = grown;
	s->moment[s->n_moments++] =
		(struct model_moment){.ns = ns, .is_record = is_record, .index = index};
	return 0;
}

/* Merges two sorted halves; equal times stay in the order of the file. */
static void merge(struct model_moment *a, uint32_t half, uint32_t n, struct model_moment *spare)
{
	uint32_t i = 0, k = half, at = 0;

	memcpy(spare, a, half * sizeof(*a));
	while (i < half)
		a[at++] = k < n && a[k].ns < spare[i].ns ? a[k++] : spare[i++];
}

static void sort(struct model_moment *a, uint32_t n, struct model_moment *spare)
{
	uint32_t half = n / 2;

	if (n < 2)
		return;
	sort(a, half, spare);
	sort(a + half, n - half, spare);
	if (a[half].ns < a[half - 1].ns)
		merge(a, half, n, spare);
}

static int sort_moments(struct model *s)
{
	struct model_moment *spare = calloc(s->n_moments / 2 + 1, sizeof(*spare));

	if (!spare)
		return -ENOMEM;
	sort(s->moment, s->n_moments, spare);
	free(spare);
	if (s->n_moments > 0) {
		s->began = s->moment[0].ns;
		s->ended = s->moment[s->n_moments - 1].ns;
	}
	return 0;
}

/* ---- reading ---- */

static int take_block(struct model *s, const struct pcapng *f, const struct pcapng_block *b)
{
	uint32_t packets = s->n_packets, records = s->n_records;
	int rc = b->kind == PCAPNG_PACKET ? add_packet(s, f, b) : add_record(s, b);

	if (rc == 0 && s->n_packets > packets)
		rc = add_moment(s, b->ns, false, packets);
	if (rc == 0 && s->n_records > records)
		rc = add_moment(s, b->ns, true, records);
	return rc;
}

static int keep_interfaces(struct model *s, const struct pcapng *f)
{
	s->n_interfaces = f->n_interfaces;
	s->interface_name = calloc(f->n_interfaces + 1, sizeof(*s->interface_name));
	s->interface_host = calloc(f->n_interfaces + 1, sizeof(*s->interface_host));
	s->interface_receives = calloc(f->n_interfaces + 1, sizeof(*s->interface_receives));
	if (!s->interface_name || !s->interface_host || !s->interface_receives)
		return -ENOMEM;
	for (unsigned i = 0; i < f->n_interfaces; i++) {
		char *name = keep_text(s, f->interface[i].name, strlen(f->interface[i].name));

		if (!name)
			return -ENOMEM;
		snprintf(s->interface_name[i], sizeof(s->interface_name[0]), "%s", name);
	}
	return 0;
}

static int read_blocks(struct model *s, struct pcapng *f)
{
	struct pcapng_block b;
	int rc;

	while ((rc = pcapng_next(f, &b)) > 0) {
		rc = take_block(s, f, &b);
		if (rc < 0)
			return rc;
	}
	if (rc == -EINVAL) {
		memcpy(s->error, f->error, sizeof(f->error));
		rc = 0;
	}
	return rc < 0 ? rc : keep_interfaces(s, f);
}

static int put_together(struct model *s)
{
	int rc = sort_moments(s);

	if (rc == 0)
		rc = model_pair(s);
	if (rc == 0)
		rc = model_find_messages(s);
	if (rc == 0)
		model_find_failures(s);
	return rc;
}

int model_parse(struct model *s, void *bytes, size_t size)
{
	struct pcapng f;
	int rc;

	*s = (struct model){.bytes = bytes, .n_bytes = size};
	rc = pcapng_open(&f, bytes, size);
	if (rc == 0)
		rc = read_blocks(s, &f);
	else
		memcpy(s->error, f.error, sizeof(f.error));
	pcapng_close(&f);
	if (rc == 0)
		rc = put_together(s);
	if (rc == -ENOMEM)
		snprintf(s->error, sizeof(s->error), "not enough memory");
	return rc;
}

/* All of a file or pipe; 0 or -errno. */
static int read_all(FILE *f, uint8_t **out, size_t *size)
{
	uint8_t *bytes = NULL;
	size_t used = 0, room = 0;

	errno = 0;
	for (;;) {
		size_t n;

		if (used == room) {
			uint8_t *grown = realloc(bytes, room ? 2 * room : READ_BYTES);

			if (!grown) {
				free(bytes);
				return -ENOMEM;
			}
			bytes = grown;
			room = room ? 2 * room : READ_BYTES;
		}
		n = fread(bytes + used, 1, room - used, f);
		used += n;
		if (n == 0)
			break;
	}
	if (ferror(f)) {
		int rc = errno ? -errno : -EIO;

		free(bytes);
		return rc;
	}
	*out = bytes;
	*size = used;
	return 0;
}

int model_read(struct model *s, const char *path)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *f = is_stdin ? stdin : fopen(path, "rb");
	uint8_t *bytes = NULL;
	size_t size = 0;
	int rc;

	*s = (struct model){0};
	rc = f ? read_all(f, &bytes, &size) : -errno;
	if (f && !is_stdin)
		fclose(f);
	if (rc == 0)
		return model_parse(s, bytes, size);
	snprintf(s->error, sizeof(s->error), "%s", strerror(-rc));
	return rc;
}

void model_free(struct model *s)
{
	free(s->host);
	free(s->qp);
	free(s->packet);
	free(s->arrow);
	free(s->message);
	free(s->record);
	free(s->moment);
	free(s->interface_host);
	free(s->interface_name);
	free(s->interface_receives);
	free(s->qp_hash);
	free(s->bytes);
	arena_free(&s->arena);
	*s = (struct model){0};
}

/* ---- for who looks at it ---- */

const char *model_word(const struct model_record *r, const char *name)
{
	return model_words_find(r->word, r->n, name);
}

const char *model_word_or(const struct model_record *r, const char *name, const char *otherwise)
{
	const char *value = model_word(r, name);

	return value ? value : otherwise;
}

bool model_word_is(const struct model_record *r, const char *name, const char *value)
{
	const char *is = model_word(r, name);

	return is && strcmp(is, value) == 0;
}

bool model_is_failure(const struct model_record *r)
{
	return r->kind == MODEL_COMPLETION && model_word(r, "status") &&
	       !model_word_is(r, "status", "SUCCESS");
}

bool model_is_error_state(const struct model_record *r)
{
	return r->kind == MODEL_STATE &&
	       (model_word_is(r, "to", "ERR") || model_word_is(r, "to", "SQE"));
}

uint64_t model_number(const struct model_record *r, const char *name)
{
	const char *text = model_word(r, name);
	uint64_t n;

	return text && model_words_number(text, &n) ? n : 0;
}

bool model_has_forgotten(const struct model *s)
{
	const struct model_record *r = s->n_records > 0 ? &s->record[0] : NULL;

	return r && r->kind == MODEL_RECORDER &&
	       (model_number(r, "lost") > 0 || model_number(r, "packets") > s->n_packets);
}

const struct model_packet *model_arrow_packet(const struct model *s, const struct model_arrow *a)
{
	return &s->packet[a->out != MODEL_NONE ? a->out : a->in];
}

static bool is_marked(const struct model *s, uint32_t packet)
{
	return packet != MODEL_NONE && roce_flow_ecn(&s->packet[packet].flow) == ROCE_CE;
}

bool model_arrow_marked(const struct model *s, const struct model_arrow *a)
{
	return is_marked(s, a->out) || is_marked(s, a->in);
}

const char *model_arrow_dropped(const struct model *s, const struct model_arrow *a)
{
	const char *why = a->out != MODEL_NONE ? s->packet[a->out].dropped : NULL;

	return !why && a->in != MODEL_NONE ? s->packet[a->in].dropped : why;
}

uint32_t model_arrow_rule(const struct model *s, const struct model_arrow *a, const char **text)
{
	const struct model_packet *p = model_arrow_packet(s, a);

	if (p->rule == 0 && a->in != MODEL_NONE)
		p = &s->packet[a->in];
	*text = p->fault;
	return p->rule;
}

const char *model_qp_name(const struct model *s, uint32_t qp, char *buf, size_t cap)
{
	const struct model_qp *q = &s->qp[qp];

	if (q->number == MODEL_NONE)
		snprintf(buf, cap, "%s QP ?", s->host[q->host].name);
	else
		snprintf(buf, cap, "%s QP 0x%" PRIx32, s->host[q->host].name, q->number);
	return buf;
}
