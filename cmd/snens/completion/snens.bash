# Completion of snens for bash. Nothing that was typed is evaluated, and no
# other package is needed.

# The words up to the cursor, put together where COMP_WORDBREAKS split them.
__snens_words() {
	local rest=$COMP_LINE i gap piece at
	words=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		piece=${COMP_WORDS[i]}
		gap=${rest%%[![:blank:]]*}
		rest=${rest#"$gap"}
		at=$((${#COMP_LINE} - ${#rest}))
		rest=${rest#"$piece"}
		if ((i == COMP_CWORD)); then
			piece=${piece:0:COMP_POINT > at ? COMP_POINT - at : 0}
		fi
		if ((i > 0)) && [[ -z $gap ]]; then
			words[${#words[@]} - 1]+=$piece
		else
			words+=("$piece")
		fi
	done
	# Quotes go; what they hold stays as it is.
	words=("${words[@]//[\"\'\\]/}")
	for i in "${!words[@]}"; do
		if [[ ${words[i]} == "~/"* ]]; then
			words[i]=$HOME/${words[i]:2}
		fi
	done
}

_snens() {
	local -a words lines
	local current before line name directive
	COMPREPLY=()
	__snens_words
	current=${words[${#words[@]} - 1]}
	mapfile -t lines < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
	((${#lines[@]} > 0)) || return
	directive=${lines[${#lines[@]} - 1]#:}
	unset 'lines[${#lines[@]}-1]'
	[[ $directive =~ ^[0-9]+$ ]] || return
	((directive & 1)) && return
	if ((directive & 16)); then
		compopt -o dirnames +o default
		return
	fi
	((directive & 8)) && return # files, whatever their names end in
	((directive & 4)) && compopt +o default
	((directive & 2)) && compopt -o nospace

	# Readline replaces only what stands behind the last break.
	before=
	if [[ $COMP_WORDBREAKS == *=* && $current == *=* ]]; then
		before=${current%"${current##*=}"}
	fi
	if [[ $COMP_WORDBREAKS == *:* && ${current#"$before"} == *:* ]]; then
		before=${current%"${current##*:}"}
	fi
	for line in "${lines[@]}"; do
		name=${line%%$'\t'*}
		printf -v name %q "${name#"$before"}"
		if ((${#lines[@]} > 1)) && [[ $line == *$'\t'?* && $COMP_TYPE == @(9|33|63|64) ]]; then
			name+="  (${line#*$'\t'})"
		fi
		COMPREPLY+=("$name")
	done
}

complete -o default -F _snens snens
