/* SPDX-License-Identifier: BSD-2-Clause */
/* Escapes text for HTML and for JSON inside HTML. */
#include "markup.h"

#include <string.h>

void markup_text(FILE *out, const char *text)
{
	for (; text && *text; text++) {
		if (strchr("<>&\"'", *text))
			fprintf(out, "&#%d;", *text);
		else if ((unsigned char)*text < ' ' && *text != '\n' && *text != '\t')
			fputc('?', out);
		else
			fputc((unsigned char)*text > '~' ? '?' : *text, out);
	}
}

void markup_json(FILE *out, const char *text)
{
	if (!text) {
		fputs("null", out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c < ' ' || c > '~' || strchr("<>&\"'\\", c))
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

void markup_json_hex(FILE *out, const uint8_t *bytes, size_t n)
{
	static const char digit[] = "0123456789abcdef";

	fputc('"', out);
	for (size_t i = 0; i < n; i++) {
		fputc(digit[bytes[i] >> 4], out);
		fputc(digit[bytes[i] & 15], out);
	}
	fputc('"', out);
}
