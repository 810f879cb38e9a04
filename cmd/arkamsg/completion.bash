# bash completion for arkamsg: the program itself knows its verbs and flags.
_arkamsg() {
	local cur="${COMP_WORDS[COMP_CWORD]}" ask=() words
	[[ "$cur" == -* ]] && ask=(-) # one dash asks for all flags
	words=$("${COMP_WORDS[@]:0:COMP_CWORD}" "${ask[@]}" --generate-bash-completion 2>/dev/null) || return
	mapfile -t COMPREPLY < <(compgen -W "${words}" -- "${cur}")
}
complete -o bashdefault -o default -F _arkamsg arkamsg
