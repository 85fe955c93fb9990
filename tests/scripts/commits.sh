#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# scripts/rules/check-commits judges the commits behind the one that added it: in a repository, in a
# shallow clone of it, and in a folder without a history.
set -u
root=$(cd "${UHCA_SRCDIR:?}" && pwd) && tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
command -v git >/dev/null || { echo "commits.sh: git is missing"; exit 77; }
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_CEILING_DIRECTORIES=$tmp
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a \
	GIT_COMMITTER_EMAIL=a@example.org
repository=$tmp/repository
failed=0

commit() { git -C "$repository" commit -q --allow-empty --cleanup=verbatim -m "$1"; }
words() { printf 'word%.0s ' $(seq "$1"); }

# ends STATUS LINE [TREE]: the check ends so, and a line of it contains LINE.
ends() {
	local said status
	said=$(UHCA_SRCDIR=${3:-$repository} "$root/scripts/rules/check-commits" 2>&1)
	status=$?
	[ "$status" = "$1" ] && grep -qF -e "$2" <<<"$said" && return
	echo "commits.sh, line ${BASH_LINENO[0]}: status $status, not $1 with '$2': $said"
	failed=1
}

# bad SUBJECT BODY FAULT: a commit with that message is the only finding.
bad() {
	commit "$1"$'\n\n'"$2"
	ends 1 "$3"
	ends 1 'check-commits: 1 findings'
	git -C "$repository" reset -q --hard HEAD~
}

mkdir -p "$tmp/export/scripts/rules"
ends 0 'no history here' "$tmp/export"
git init -q "$repository" && cd "$repository" || exit 99
commit "the old ones are as they are"
ends 0 'no commit contains this script'
mkdir -p scripts/rules && : >scripts/rules/check-commits
git add scripts && commit "this one, too"
ends 0 'check-commits: 0 commits'

commit $'Add a rule\n\nSo that subjects say what a commit does.'
ends 0 'check-commits: 1 commits'
url=https://example.org/$(printf 'x%.0s' {1..80})
commit $'Process each packet\n\n'"$url"$'\n\nSigned-off-by: a'
commit $'Focus on "what is sent"\n\nIt is "the" answer.'
commit "Wrap $(printf 'ü%.0s' {1..67})"$'\n\nCharacters count, not bytes.'
ends 0 'check-commits: 4 commits'
bad "Add $(words 20)" "Why." 'the subject has'
bad "Add a rule." "Why." 'full stop'
bad "rules: add one" "Why." 'does not begin with a verb'
bad "IPv4 checksums leave" "Why." 'does not begin with a verb'
for subject in "Added a rule" "Adding a rule" "Adds a rule" "The rule is new" \
	"Memory is reached"; do
	bad "$subject" "Why." 'is not imperative'
done
bad "Add a rule" "$(words 20)" 'line 3 has'
bad "Add a rule" "Signed-off-by: A <a@example.org>" 'no body'
bad "Add a rule" "This reverts commit 0123456789." 'no body'
commit $'Add a rule\nWithout an empty line.\n\nWhy.'
ends 1 'the second line is not empty'
git reset -q --hard HEAD~

# A branch that forked before the script, and its merge, are not judged; one behind it is.
git checkout -q -b old HEAD~5 && commit "old work"
git checkout -q - && git merge -q --no-ff -m "old work comes in" old
ends 0 'check-commits: 4 commits'
commit "bad"
ends 1 'bad: no body says why'
git clone -q --depth 2 "file://$repository" "$tmp/shallow"
ends 1 'bad: no body says why' "$tmp/shallow"
git reset -q --hard HEAD~
git clone -q --depth 1 "file://$repository" "$tmp/one"
ends 0 'check-commits: 0 commits' "$tmp/one"
exit $failed
