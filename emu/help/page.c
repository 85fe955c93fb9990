/* SPDX-License-Identifier: BSD-2-Clause */
/* See page.h. */
#include "page.h"

#include <string.h>

#define COLUMN 26
#define WIDTH  80

/* Words of the text, broken into lines that begin at COLUMN. */
static void print_wrapped(FILE *out, const char *text)
{
	int column = COLUMN;

	while (*text) {
		int len = (int)strcspn(text, " ");

		if (column > COLUMN && column + 1 + len > WIDTH) {
			fprintf(out, "\n%*s", COLUMN, "");
			column = COLUMN;
		}
		column += fprintf(out, "%s%.*s", column > COLUMN ? " " : "", len, text);
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void help_page_row(FILE *out, const char *name, const char *text)
{
	if (fprintf(out, "  %-*s", COLUMN - 2, name) > COLUMN)
		fprintf(out, "\n%*s", COLUMN, "");
	print_wrapped(out, text);
}

/* A plain hyphen would be typeset as one. */
static void print_roff(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '-')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('\n', out);
}

void help_page_man_row(FILE *out, const char *name, const char *text)
{
	fputs(".TP\n.B ", out);
	print_roff(out, name);
	print_roff(out, text);
}
