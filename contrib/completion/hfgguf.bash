# bash completion for hfgguf(1) and mount.hfgguf(8). Commands, options, types and files are asked of the program itself.

_hfgguf_commands() {
	hfgguf help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'
}

_hfgguf_option_names() {
	hfgguf options 2>/dev/null | awk -F'\t' '{ print $1 ($2 == "" ? "" : "=") }'
}

# Names of one kind of types: outtype, quantize or tensor.
_hfgguf_types() {
	hfgguf types 2>/dev/null | awk -F'\t' -v kind="$1" '$1 == kind { gsub(/ /, "\n", $2); print $2 }'
}

# Values of an option, as far as they are known, one a line.
_hfgguf_values() {
	case $1 in
	outtype | quantize) _hfgguf_types "$1" ;;
	output-tensor-type | token-embedding-type) _hfgguf_types tensor ;;
	type) _hfgguf_types quantize; echo all ;;
	arch) hfgguf archs 2>/dev/null | cut -f2 | tr ' ' '\n' ;;
	metadata | imatrix | tensor-type-file) compgen -f -- "$2" ;;
	base | target-model-dir | index) compgen -d -- "$2" ;;
	esac
}

# The last item of a list "a,b=c,d=e:f", with all before it.
_hfgguf_list() {
	local list=$1 item=${1##*,} name value
	if [[ $item != *=* ]]; then
		compgen -P "${list%"$item"}" -W "$(_hfgguf_option_names)" -- "$item"
		return
	fi
	name=${item%%=*} value=${item#*=}
	[[ $name != type ]] || value=${value##*:}
	compgen -P "${list%"$value"}" -W "$(_hfgguf_values "$name" "$value")" -- "$value"
}

# Names of the virtual files of a model, with the options that stand in the line.
_hfgguf_files() {
	compgen -W "$(hfgguf ls "$1" "${opts[@]}" 2>/dev/null | sed 's/^ *[0-9]* *//')" -- "$2"
}

_hfgguf_flags() {
	case $1 in
	plan) echo -o --json ;;
	cp) echo -o --verify ;;
	tokens) echo --pre ;;
	mount) echo -o -f ;;
	*) echo -o ;;
	esac
}

# args: the command and what follows it without options; word: what is being written.
_hfgguf_argument() {
	case ${#args[@]}:${args[0]} in
	0:*) compgen -W "$(_hfgguf_commands)" -- "$word" ;;
	2:cat | 2:check | 2:plan | 2:sum | 3:cp | 3:verify) _hfgguf_files "${args[1]}" "$word" ;;
	1:stats | 1:* | 2:mount) compgen -d -- "$word" ;;
	2:cp | 2:verify) compgen -f -- "$word" ;;
	esac
}

_hfgguf() {
	local line=${COMP_LINE:0:COMP_POINT} word i IFS=$' \t\n'
	local -a words=() args=() opts=()

	# Not COMP_WORDS: bash ends words at '=' and ':', too.
	read -ra words <<<"$line"
	word=${line##*[[:space:]]}
	[[ -z $word ]] || unset "words[${#words[@]}-1]"
	[[ ${words[0]##*/} != mount.hfgguf ]] || args=(mount)
	for ((i = 1; i < ${#words[@]}; i++)); do
		case ${words[i]} in
		-o) opts+=(-o "${words[++i]}") ;;
		-[Nt]) ((++i)) ;;
		-*) ;;
		*) args+=("${words[i]}") ;;
		esac
	done
	IFS=$'\n'
	if [[ $word == -o?* ]]; then
		COMPREPLY=($(_hfgguf_list "${word#-o}"))
		COMPREPLY=("${COMPREPLY[@]/#/-o}")
	elif [[ ${words[${#words[@]} - 1]} == -o ]]; then
		COMPREPLY=($(_hfgguf_list "$word"))
	elif [[ $word == -* ]]; then
		COMPREPLY=($(IFS=' ' compgen -W "$(_hfgguf_flags "${args[0]}")" -- "$word"))
	else
		COMPREPLY=($(_hfgguf_argument))
		compopt -o filenames
	fi
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
	# Bash replaces what stands behind the last of its word breaks.
	i=${word%"${word##*["${COMP_WORDBREAKS//[^=:]/}"]}"}
	COMPREPLY=("${COMPREPLY[@]#"$i"}")
}

complete -F _hfgguf hfgguf mount.hfgguf
