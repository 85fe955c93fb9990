/* SPDX-License-Identifier: BSD-2-Clause */
/* views CAPTURE...: holds the views of each against each other. Exit status 1: they differ. */
#include "tests/support/model/model_views.h"

int main(int argc, char **argv)
{
	int wrong = 0;

	for (int i = 1; i < argc; i++) {
		struct model s;

		if (model_read(&s, argv[i]) < 0) {
			printf("%s: %s\n", argv[i], s.error);
			wrong++;
		} else {
			wrong += model_views_check(&s, argv[i], stdout) != 0;
		}
		model_free(&s);
	}
	return wrong ? 1 : 0;
}
