/* SPDX-License-Identifier: BSD-2-Clause */
/* Splits comments of a capture into NAME=VALUE words. */
#include "words.h"

#include <string.h>

/*
 * Takes the quotes away from the value at text, which begins behind the first of them. Returns
 * what follows the last: a space, or the end.
 */
static char *unquote(char *text)
{
	char *to = text;

	while (*text && *text != '"') {
		if (*text == '\\' && text[1])
			text++;
		*to++ = *text++;
	}
	if (*text)
		text++;
	/* The rest of the word, if it goes on, belongs to nothing. */
	while (*text && *text != ' ')
		text++;
	if (*text)
		*text++ = '\0';
	*to = '\0';
	return text;
}

/* Ends the word or value at text; returns what follows. */
static char *end_word(char *text)
{
	text += strcspn(text, " ");
	if (*text)
		*text++ = '\0';
	return text;
}

unsigned model_words_split(char *text, struct model_word *word, unsigned max)
{
	unsigned n = 0;

	while (n < max) {
		size_t length;

		text += strspn(text, " ");
		if (!*text)
			break;
		length = strcspn(text, " =");
		word[n] = (struct model_word){.name = text};
		if (text[length] != '=') {
			text = end_word(text);
			n++;
			continue;
		}
		text[length] = '\0';
		text += length + 1;
		word[n].value = *text == '"' ? text + 1 : text;
		text = *text == '"' ? unquote(text + 1) : end_word(text);
		n++;
	}
	return n;
}

const char *model_words_find(const struct model_word *word, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (word[i].value && strcmp(word[i].name, name) == 0)
			return word[i].value;
	return NULL;
}

bool model_words_number(const char *text, uint64_t *out)
{
	bool hex = text[0] == '0' && text[1] == 'x';
	uint64_t n = 0;

	text += hex ? 2 : 0;
	if (!*text)
		return false;
	for (; *text; text++) {
		unsigned digit;

		if (*text >= '0' && *text <= '9')
			digit = (unsigned)(*text - '0');
		else if (hex && *text >= 'a' && *text <= 'f')
			digit = (unsigned)(*text - 'a') + 10;
		else if (hex && *text >= 'A' && *text <= 'F')
			digit = (unsigned)(*text - 'A') + 10;
		else
			return false;
		if (n > (UINT64_MAX - digit) / (hex ? 16 : 10))
			return false;
		n = n * (hex ? 16 : 10) + digit;
	}
	*out = n;
	return true;
}
