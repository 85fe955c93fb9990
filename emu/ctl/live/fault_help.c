/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See fault_help.h. The page is the one text about the words; of man(7) only what it uses is
 * understood here: sections, ".TP" with a tag in the next line, fonts.
 */
#include "fault_help.h"

#include <string.h>
#include <strings.h>

#define LINE_MAX  256
#define WORDS_MAX 256
#define TAG_WIDTH 22
#define WIDTH     80

/* The sections in which words are explained. */
static bool is_of_words(const char *section)
{
	static const char *const names[] = {"ACTIONS", "PARAMETERS", "SELECTORS", "LIMITS",
					    "FIELDS"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], section) == 0)
			return true;
	return false;
}

/* A line without escapes: "\-" is "-", fonts and "\c" are nothing. */
static void unescape(const char *from, char to[LINE_MAX])
{
	size_t n = 0;

	while (*from && n + 1 < LINE_MAX) {
		if (*from != '\\') {
			to[n++] = *from++;
			continue;
		}
		from++;
		if (*from == 'f' && from[1])
			from += 2;
		else if (*from == 'c')
			from++;
		else if (*from)
			to[n++] = *from++;
	}
	to[n] = '\0';
}

/* The arguments of a font macro: with alternating fonts (.BI) they stand without a space. */
static void join(const char *arguments, bool alternating, char to[LINE_MAX])
{
	size_t n = 0;
	bool quoted = false;

	for (; *arguments && n + 1 < LINE_MAX; arguments++) {
		if (*arguments == '"')
			quoted = !quoted;
		else if (*arguments != ' ' || quoted || !alternating)
			to[n++] = *arguments;
	}
	to[n] = '\0';
}

/* A line as text. */
static void plain(const char *line, char to[LINE_MAX])
{
	char clean[LINE_MAX];
	size_t name;

	unescape(line, clean);
	if (clean[0] != '.') {
		memcpy(to, clean, strlen(clean) + 1);
		return;
	}
	name = strcspn(clean, " ");
	join(clean + name + strspn(clean + name, " "), name == 3, to);
}

static bool is_macro(const char *line, const char *macro)
{
	size_t n = strlen(macro);

	return strncmp(line, macro, n) == 0 && (line[n] == ' ' || !line[n]);
}

/* Ends what was said of a word. */
static bool ends_entry(const char *line)
{
	return !line || is_macro(line, ".TP") || is_macro(line, ".SH") || is_macro(line, ".SS");
}

static bool is_tag_of(const char *tag, const char *word)
{
	size_t n = strcspn(tag, "= [:");

	return strlen(word) == n && strncasecmp(tag, word, n) == 0;
}

/* ---- printing ---- */

/* Words of a line behind those that stand there, in lines from "left" on. */
static void flow(FILE *out, const char *text, int left, int *column)
{
	while (*text) {
		int n = (int)strcspn(text, " ");

		if (*column > left && *column + 1 + n > WIDTH) {
			fprintf(out, "\n%*s", left, "");
			*column = left;
		}
		if (n > 0)
			*column += fprintf(out, "%s%.*s", *column > left ? " " : "", n, text);
		text += n;
		text += strspn(text, " ");
	}
}

static void explain(FILE *out, const char *const *at)
{
	char text[LINE_MAX];
	int column = 4;

	plain(*at, text);
	fprintf(out, "%s\n    ", text);
	for (at++; !ends_entry(*at); at++) {
		if (is_macro(*at, ".PP") || is_macro(*at, ".IP")) {
			fputs("\n    ", out);
			column = 4;
			continue;
		}
		plain(*at, text);
		flow(out, text, 4, &column);
	}
	fputc('\n', out);
}

/* The tag, and the first sentence. */
static void list(FILE *out, const char *const *at)
{
	char tag[LINE_MAX], text[LINE_MAX] = "";
	int column = TAG_WIDTH;

	plain(*at, tag);
	fprintf(out, "  %-*s ", TAG_WIDTH - 3, tag);
	if (strlen(tag) > TAG_WIDTH - 3)
		fprintf(out, "\n%*s", TAG_WIDTH, "");
	for (at++; !ends_entry(*at) && (!*text || text[strlen(text) - 1] != '.'); at++) {
		plain(*at, text);
		flow(out, text, TAG_WIDTH, &column);
	}
	fputc('\n', out);
}

/* ---- the page ---- */

void ctl_fault_help(FILE *out)
{
	bool words = false;

	for (const char *const *at = fault_page; *at; at++) {
		if (is_macro(*at, ".SH")) {
			words = is_of_words(*at + 4);
			if (words)
				fprintf(out, "%s\n", *at + 4);
		} else if (words && is_macro(*at, ".TP") && at[1]) {
			list(out, at + 1);
		}
	}
	fputs("\nfault help WORD says more; see uhca-fault(7) for all details.\n", out);
}

/* Page order; each call looks for the i-th from the beginning, for one message. */
const char *ctl_fault_word_at(const void *table, unsigned i)
{
	static char word[WORDS_MAX][LINE_MAX];
	bool words = false;
	unsigned n = 0;

	(void)table;
	for (const char *const *at = fault_page; *at; at++) {
		if (is_macro(*at, ".SH"))
			words = is_of_words(*at + 4);
		if (!words || !is_macro(*at, ".TP") || !at[1] || n++ < i)
			continue;
		if (i >= WORDS_MAX)
			break;
		plain(at[1], word[i]);
		word[i][strcspn(word[i], "= [:")] = '\0';
		return word[i];
	}
	return NULL;
}

bool ctl_fault_help_word(FILE *out, const char *word)
{
	bool words = false, found = false;
	char tag[LINE_MAX];

	for (const char *const *at = fault_page; *at; at++) {
		if (is_macro(*at, ".SH"))
			words = is_of_words(*at + 4);
		if (!words || !is_macro(*at, ".TP") || !at[1])
			continue;
		plain(at[1], tag);
		if (!is_tag_of(tag, word))
			continue;
		explain(out, at + 1);
		found = true;
	}
	return found;
}
