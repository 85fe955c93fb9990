#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What the shells complete: words of the programs' own --help.
set -u
PATH=${UHCA_BUILDDIR:?}:$PATH
completion=$(cd "${UHCA_SRCDIR:?}" && pwd)/packaging/completion
failed=0

complain() {
	echo "completion.sh: $*"
	failed=1
}

# shellcheck source=packaging/completion/uhca.bash
. "$completion/uhca.bash"
# offers WORD... --- OTHER...: for a line that ends with the last WORD all of OTHER, and for "!NAME"
# not that.
offers() {
	COMP_WORDS=()
	while [ "$1" != --- ]; do
		COMP_WORDS+=("$1")
		shift
	done
	shift
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_uhca "${COMP_WORDS[0]}" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	for word in "$@"; do
		if [[ " ${COMPREPLY[*]} " = *" ${word#!} "* ]]; then
			[[ $word != !* ]] || complain "bash: '${COMP_WORDS[*]}' offers ${word#!}"
		else
			[[ $word = !* ]] || complain "bash: '${COMP_WORDS[*]}' lacks $word"
		fi
	done
}

offers uhca-run --p --- --private --profile '!--devices'
offers uhca-run --private --dev --- --devices
offers uhca-run "do" --- doctor
offers uhca-run --profile "do" --- '!doctor'
offers uhca-run -- cat --p --- '!--private'
offers uhcactl s --- show step '!port'
offers uhcactl show q --- qp '!cq'
offers uhcactl port d --- down
offers uhcactl fault --- fault
offers uhcactl fault a --- add
offers uhcactl ladder FILE --f --- --from
offers uhcactl report x --o --- --output
offers uhcad --pi --- --pin

for shell in fish zsh; do
	command -v $shell >/dev/null 2>&1 && continue
	echo "completion.sh: $shell is missing (scripts/deps --install tests)"
	[ "${CI:-}" = true ] && exit 1
	[ $failed = 0 ] && exit 77
	exit 1
done

# A shell is asked once for each line: what it offers has all WORDs.
asked() { # SHELL LINE WORD...
	local said word
	if [ "$1" = fish ]; then
		said=$(fish -c "source $completion/uhca.fish; complete -C '$2'" | cut -f1)
	else
		said=$("$UHCA_SRCDIR/tests/support/zsh-complete" "$completion/uhca.zsh" "$2")
	fi
	for word in "${@:3}"; do
		grep -qFx -e "$word" <<<"$said" || complain "$1: '$2' lacks $word: $said"
	done
}

asked fish 'uhca-run --pr' --private --profile
asked fish 'uhca-run do' doctor
asked fish 'uhcactl s' show step
asked fish 'uhcactl show q' qp
asked fish 'uhcad --pi' --pin
asked zsh 'uhca-run --pr' --private --profile
asked zsh 'uhcactl show q' qp
exit $failed
