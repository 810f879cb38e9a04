package lea

import "arkamsg/competences/refusal"

// MissingStatuses lists the codes that the table does not know.
func MissingStatuses() (out []refusal.Code) {
	for _, c := range refusal.Codes {
		if statuses[c] == 0 {
			out = append(out, c)
		}
	}
	return out
}

// Statuses is the door's table.
var Statuses = statuses
