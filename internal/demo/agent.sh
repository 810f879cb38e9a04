#!/bin/sh
# What the stand-in agent does with a line that was typed into its pane: read
# the message that it points at, and answer work that is meant for PMO.
PATH="$ARKA_BIN:$PATH"
id=$(sed -n 's/.*ptr:msg:\([A-Za-z0-9][A-Za-z0-9._-]*\).*/\1/p' | head -n 1)
[ -n "$id" ] || exit 0
echo "\$ arkamsg pull $id"
arkamsg pull "$id"
if [ "$ARKA_ROLE" = PMO ] && [ "$id" = plan-1 ]; then
	echo "\$ arkamsg push --from PMO --to LD --type RESULT --relates-to $id …"
	arkamsg push --from PMO --to LD --type RESULT --relates-to "$id" \
		--subject "release plan" --message "Reviewed. Two remarks in the margin." --id plan-2
fi
