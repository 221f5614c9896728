#compdef snens
# Completion of snens for zsh. Nothing that was typed is evaluated.

_snens() {
	local -a args lines names shown
	local line name before directive
	integer i
	for ((i = 2; i < CURRENT; i++)); do
		args+=("${(Q)words[i]}")
	done
	args+=("${(Q)PREFIX}")
	lines=("${(@f)$("${${(Q)words[1]}/#\~\//$HOME/}" __complete "${args[@]}" 2>/dev/null)}")
	[[ ${lines[-1]} == :<-> ]] || return 1
	directive=${lines[-1]#:}
	lines[-1]=()
	((directive & 1)) && return 1
	if ((directive & 24)); then
		compset -P '*='
		if ((directive & 16)); then
			_files -/
		else
			_files
		fi
		return
	fi
	# The values of an option come without it.
	[[ $PREFIX == -*=* ]] && before=${PREFIX%%=*}=
	for line in "${lines[@]}"; do
		[[ -n $line ]] || continue
		name=$before${line%%$'\t'*}
		names+=("$name")
		if [[ $line == *$'\t'?* ]]; then
			name+="  -- ${line#*$'\t'}"
		fi
		shown+=("$name")
	done
	if ((${#names})); then
		if ((directive & 2)); then
			compadd -l -S '' -d shown -a names
		else
			compadd -l -d shown -a names
		fi
	elif ((!(directive & 4))); then
		compset -P '*='
		_files
	fi
}

if [[ ${funcstack[1]} == _snens ]]; then
	_snens "$@"
elif (($+functions[compdef])); then
	compdef _snens snens
fi
