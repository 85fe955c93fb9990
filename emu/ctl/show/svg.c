/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes boxes, text and arrows as SVG. */
#include "svg.h"

#include <stdarg.h>
#include <string.h>

void svg_begin(FILE *out, int width, int height)
{
	fprintf(out,
		"<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
		"viewBox='0 0 %d %d'>\n"
		"<style>text{font:13px monospace;fill:#222}.title{font:bold 15px sans-serif}"
		".note{font:12px sans-serif;fill:#555}rect{fill:#f4f4f4;stroke:#888}"
		".hit{fill:#ffe9a8;stroke:#b07000}.byte{fill:#d02020;stroke:none}"
		".gap{fill:#fff;stroke:#ddd}"
		".way{stroke:#d02020;stroke-width:2;fill:none}</style>\n"
		"<defs><marker id='tip' markerWidth='8' markerHeight='8' refX='7' refY='4' "
		"orient='auto'><path d='M0 0 L8 4 L0 8 z' fill='#d02020'/></marker></defs>\n"
		"<rect width='%d' height='%d' style='fill:#fff;stroke:none'/>\n",
		width, height, width, height, width, height);
}

void svg_end(FILE *out)
{
	fputs("</svg>\n", out);
}

static void begin_text(FILE *out, int x, int y, const char *class)
{
	fprintf(out, "<text x='%d' y='%d' class='%s'>", x, y, class);
}

void svg_text(FILE *out, int x, int y, const char *class, const char *format, ...)
{
	va_list ap;

	begin_text(out, x, y, class);
	va_start(ap, format);
	vfprintf(out, format, ap);
	va_end(ap);
	fputs("</text>\n", out);
}

void svg_foreign(FILE *out, int x, int y, const char *class, const char *before, const char *text)
{
	begin_text(out, x, y, class);
	fputs(before, out);
	for (; text && *text; text++) {
		if (*text == '<' || *text == '&')
			fprintf(out, "&#%d;", *text);
		else
			fputc((unsigned char)*text < ' ' ? '?' : *text, out);
	}
	fputs("</text>\n", out);
}

void svg_list(FILE *out, int x, int y, const char *list, int columns)
{
	while (*list) {
		const char *end = list + strlen(list);

		while (end - list > columns) {
			const char *comma = end - 1;

			while (comma > list && *comma != ',')
				comma--;
			if (comma == list)
				break;
			end = comma;
		}
		svg_text(out, x, y, "note", "%.*s", (int)(end - list), list);
		list = end + strspn(end, ", ");
		y += 16;
	}
}

void svg_box(FILE *out, int x, int y, int w, int h, const char *class)
{
	fprintf(out, "<rect x='%d' y='%d' width='%d' height='%d' class='%s'/>\n", x, y, w, h,
		class);
}

void svg_arrow(FILE *out, int x1, int y1, int x2, int y2)
{
	fprintf(out, "<path d='M%d %d L%d %d' class='way' marker-end='url(#tip)'/>\n", x1, y1, x2,
		y2);
}
